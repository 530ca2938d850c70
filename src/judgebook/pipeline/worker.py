"""What runs in worker processes: one function per kind of node, picklable in and out, so any executor can run
them.
"""

from __future__ import annotations

import gc
import json
import logging
import multiprocessing
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import wraps
from multiprocessing.process import BaseProcess
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from judgebook import project
from judgebook.errors import JudgebookError
from judgebook.execution import CODE, PROGRESS
from judgebook.pipeline import warm
from judgebook.pipeline.surroundings import THREADS, without_iri_grammar
from judgebook.study import params, store
from judgebook.study.params import ParamsError, Study

CHECK = "pipeline-check"
#: file in a notebook's scratch folder in which its analyses say how far they are
_PROGRESS = "progress"
_CHECK_SOURCE = f"""\
import json as _json
import sys as _sys

print(_json.dumps(sorted(m for m in _sys.modules if m.split(".")[0] in {("helpers", *project.packages())})))
"""


@dataclass(frozen=True)
class Spec:
    """A study as the command line named it: enough to load it anywhere."""

    source: str
    key: str
    overrides: dict = field(default_factory=dict)

    def load(self) -> Study:
        return params.load(self.source, self.overrides, key=self.key)


@dataclass(frozen=True)
class Outcome:
    """state : done, failed, invalid (the data or the YAML are at fault, not the code), or denied (the machine is)."""

    state: str
    seconds: float = 0.0
    message: str = ""


@dataclass(frozen=True)
class NotebookJob:
    """parameters : names and values, checked before. allowed : modules covered by the hash of the notebook.
    code : modules whose values may be kept (`execution`), with the digest of all code behind each."""

    name: str
    source: Path
    parameters: dict[str, Any]
    allowed: tuple[str, ...]
    done: Path
    failed: Path
    work: Path
    code: dict[str, str] = field(default_factory=dict)


def initialize() -> None:
    """Set up a worker process: one BLAS thread, ends with its parent, is stopped by the parent only."""
    os.environ.update(dict.fromkeys(THREADS, "1"))
    gc.set_threshold(warm.SEARCH)
    without_iri_grammar()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, _stop)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


#: exit code of a process that was told to stop: it begins no further work, even where the exception was lost in an
#: import or a callback, or where the pool hands it what waited for another
_stopping = 0
#: whether there is something to clean up
_working = False


def _stop(number: int, frame: object) -> None:
    global _stopping
    if not _working:  # an exception would be printed where the process is ending already
        os._exit(128 + number)
    if not _stopping:  # a second signal must not end the first one's cleaning up
        _stopping = 128 + number
        # an exception, so `finally` blocks end the kernel and remove unfinished files
        raise SystemExit(_stopping)


def stop() -> None:
    """End the notebook at work in another thread of this process; it cleans up, and SystemExit is raised there."""
    global _stopping
    from judgebook.pipeline.kernel import kill

    if _working:
        _stopping = 128 + signal.SIGTERM
        kill()


def resume() -> None:
    """Take further work after `stop`."""
    global _stopping
    _stopping = 0


def at_work() -> bool:
    """Whether there is work under way in this process."""
    return _working


def timed(work: Callable[..., str]) -> Callable[..., Outcome]:
    """Turn `work`, which returns a message or raises, into a function that always returns an Outcome."""

    @wraps(work)
    def run(*args: Any) -> Outcome:
        global _working
        if _stopping:
            raise SystemExit(_stopping)
        start = time.perf_counter()
        _working = True
        try:
            state, message = "done", work(*args) or ""
        except Exception as error:
            from judgebook.study.schema import DataError

            state = "invalid" if isinstance(error, DataError | ParamsError) else "failed"
            message = str(error) if state == "invalid" or isinstance(error, NotebookFailedError) else described(error)
            denied = _denied(error)
            state, message = ("denied", denied) if denied else (state, message)
        finally:
            _working = False
        return Outcome(state, time.perf_counter() - start, message)

    return run


def _denied(error: BaseException | None) -> str:
    """What the machine refused, where that is behind an error."""
    while error is not None:
        if isinstance(error, store.DeniedError):
            return str(error)
        if isinstance(error, OSError) and (remedy := store.remedy(error)):
            return remedy
        error = error.__cause__
    return ""


#: seconds in which a kernel must start, and its output arrive: on a busy machine the defaults, 60 and 4, are not enough
PATIENT = 600


class NotebookFailedError(JudgebookError, RuntimeError):
    """A notebook did not end well; the message says where."""


def described(error: BaseException) -> str:
    """An unexpected error in one line, with the place in the project it comes from."""
    place, trace = "", error.__traceback__
    while trace:
        path = Path(trace.tb_frame.f_code.co_filename)
        for name, folder in project.packages().items():
            if path.is_relative_to(folder):
                place = f" (src/{name}/{path.relative_to(folder).as_posix()}, line {trace.tb_lineno})"
        trace = trace.tb_next
    return f"{type(error).__name__}: {error}{place}"


@timed
def frames(spec: Spec) -> str:
    """Read, check and write the tidy frames of a study."""
    # by its name: what `timed` is used for elsewhere, such as pages, does not depend on how data are read
    resolve_name("judgebook.sources.build:build")(spec.load(), out=store.processed(spec.key))
    return ""


@timed
def notebook(job: NotebookJob) -> str:
    """Execute a notebook; put it at `job.done`, or at `job.failed` when a cell raised."""
    import nbformat

    job.work.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=job.work, prefix=f"{job.name}-") as folder:
        before = os.getcwd()
        os.chdir(folder)
        try:
            problem = _execute(job, folder)
        finally:
            os.chdir(before)
        executed = Path(folder) / "executed.ipynb"
        if problem and not executed.exists():
            raise NotebookFailedError(problem)
        nb = nbformat.read(executed, 4)
    problem = problem or _check(nb, job.allowed)
    target = job.failed if problem else job.done
    _tidy(nb)
    with store.atomic(target) as temporary:
        nbformat.write(nb, temporary)
    if problem:
        raise NotebookFailedError(f"{problem}; see {shown(target)}")
    job.failed.unlink(missing_ok=True)
    return ""


def _execute(job: NotebookJob, folder: str) -> str:
    """Run the notebook in `folder`; what went wrong in one line, or an empty string."""
    import nbformat
    import papermill
    from nbclient.exceptions import DeadKernelError
    from papermill.exceptions import PapermillExecutionError

    from judgebook.pipeline.kernel import Kernel, last_words, prepare

    prepare(folder, draws=any(name.startswith("judgebook.display.") for name in job.allowed))
    os.environ[PROGRESS] = os.path.join(folder, _PROGRESS)
    os.environ[CODE] = os.path.join(folder, "code.json")
    Path(os.environ[CODE]).write_text(json.dumps(job.code), encoding="utf-8")
    # it warns about annotations it cannot read, such as `str | None`; ours were checked before
    logging.getLogger("papermill").setLevel(logging.ERROR)
    nb = nbformat.read(job.source, 4)
    nb.cells.append(nbformat.v4.new_code_cell(_CHECK_SOURCE, metadata={"tags": [CHECK]}))
    nb.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    if _stopping:
        raise SystemExit(_stopping)
    options = {"kernel_manager_class": Kernel, "shutdown_kernel": "immediate", "coalesce_streams": True}
    options |= {"start_timeout": PATIENT, "iopub_timeout": PATIENT}
    try:
        papermill.execute_notebook(
            nb, "executed.ipynb", parameters=job.parameters, kernel_name="python3", progress_bar=False, **options
        )
    except PapermillExecutionError as error:
        reason = _first_line(error.evalue)
        if error.ename == store.DeniedError.__name__ or (reason := store.remedy(reason)):
            raise store.DeniedError(reason) from None
        return f"cell {error.exec_count}: {error.ename}: {_first_line(error.evalue)}"
    except DeadKernelError:
        if _stopping:
            raise SystemExit(_stopping) from None
        reason = last_words(folder)
        if remedy := store.remedy(reason):
            raise store.DeniedError(remedy) from None
        return f"the kernel died: {reason}" if reason else "the kernel died (out of memory?)"
    return ""


def _first_line(text: str) -> str:
    return next((line for line in str(text).splitlines() if line.strip()), "")


def _check(nb: Any, allowed: tuple[str, ...]) -> str:
    """Why an executed notebook cannot be trusted; empty where nothing is wrong."""
    last = nb.cells[-1]
    text = "".join(o.get("text", "") for o in last.get("outputs", []))
    if CHECK not in last.metadata.get("tags", []) or not text:
        return "the last cell did not run"
    beyond = sorted(set(json.loads(text)) - set(allowed))
    if beyond:
        return f"it loaded {', '.join(beyond)}, which its imports do not show: changes there would be missed"
    return ""


def _tidy(nb: Any) -> None:
    """Remove what differs between runs: times, random ids, papermill's notes, the check."""
    nb.cells = [c for c in nb.cells if CHECK not in c.metadata.get("tags", [])]
    for cell in nb.cells:
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
        if "injected-parameters" in cell.metadata.get("tags", []):
            cell["id"] = "injected-parameters"
    nb.metadata.pop("papermill", None)


def progress(job: NotebookJob) -> tuple[str, float]:
    """How far a running notebook is, `cell 3 of 9, permutation tests 12 of 60`, and seconds that its step has left.

    Read from the files that papermill and `execution` keep; the newest, where a worker was lost and it began
    again.
    """
    with suppress(OSError, ValueError):
        path = max(job.work.glob(f"{job.name}-*/executed.ipynb"), key=lambda p: p.stat().st_mtime)
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        n = sum(CHECK not in c["metadata"].get("tags", []) for c in cells)
        done = sum(c["metadata"].get("papermill", {}).get("status") == "completed" for c in cells)
        cell = f"cell {min(done + 1, n)} of {n}"
        note = path.with_name(_PROGRESS)
        # what an earlier cell said is of no interest
        if note.is_file() and note.stat().st_mtime > path.stat().st_mtime:
            step, left = note.read_text(encoding="utf-8").splitlines()
            return f"{cell}, {step}", float(left)
        return cell, 0.0
    return "starting", 0.0


def shown(path: Path) -> str:
    """A path as messages show it: relative to the output folder."""
    return path.relative_to(store.out_root()).as_posix()
