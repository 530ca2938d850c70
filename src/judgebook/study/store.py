"""Where a study's files are read and written.

Everything made goes below one folder, the project's own or, where the package is installed, the one somebody works in,
unless `$COMPENDIUM_OUT` names another:
`data/processed/<study>`, `figures/<study>`, `tables/<study>`, `reports/<study>`. Files appear whole or not at all.
"""

from __future__ import annotations

import errno
import os
import platform
import re
import shutil
import tempfile
import time
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgebook import project
from judgebook.errors import JudgebookError
from judgebook.study import escape, limits, params, questions

if TYPE_CHECKING:
    import pandas as pd

    from judgebook.study.results import Results

#: unfinished files and folders: hidden, with no suffix that a glob for results, notebooks or YAMLs finds. They name the
#: machine and the process that write them, by which `sweep` knows what nobody is writing any more
_MACHINE = f"{zlib.crc32(platform.node().encode()):08x}"
_UNFINISHED = re.compile(r"\..*\.([0-9a-f]{8})-([0-9]+)(?:-[a-z0-9_]+)?\.tmp")
#: older ones (in seconds) are left over whatever process has this number now: writing takes seconds, fetching minutes
_FORGOTTEN = 24 * 3600
#: rows of a group in a parquet file, by default
_GROUP = 1 << 20
#: in the folder of a study that was read from a bundle
OF_BUNDLE = "of_bundle"


def out_root() -> Path:
    """The folder below which everything is written."""
    return Path(os.environ.get("COMPENDIUM_OUT") or project.folder())


def processed(study: str) -> Path:
    return out_root() / "data" / "processed" / study


def folders(study: str) -> list[Path]:
    """The folders that hold what is made of a study, and nothing else."""
    return [processed(study), *(out_root() / kind / study for kind in ("figures", "tables", "reports"))]


def kept(study: str, notebook: str) -> Path:
    """The folder of what the analyses of a notebook gave (`execution`)."""
    return processed(study) / ".kept" / notebook


def raw(study: str) -> Path:
    """The folder of raw files that are fetched or simulated."""
    return out_root() / "data" / "raw" / study


_ELSEWHERE = "or write elsewhere with --out DIR"
#: what to do where the machine says no
_REMEDIES = {
    errno.EACCES: f"access is denied: change its permissions, {_ELSEWHERE}",
    errno.EPERM: f"access is denied: change its permissions, {_ELSEWHERE}",
    errno.EROFS: f"the disk is read-only: make it writable, {_ELSEWHERE}",
    errno.ENOSPC: f"no space is left on the disk: free some, {_ELSEWHERE}",
    errno.EDQUOT: f"your quota of disk space is used up: free some, {_ELSEWHERE}",
    errno.EFBIG: f"the file would be larger than the system allows: raise the limit (`ulimit -f`), {_ELSEWHERE}",
    errno.EEXIST: f"it is a file, where a folder is needed: move it, {_ELSEWHERE}",
    errno.ENOTDIR: f"part of this path is a file, where a folder is needed: move it, {_ELSEWHERE}",
    errno.ENAMETOOLONG: f"the path is too long: use shorter names, {_ELSEWHERE}",
    errno.EMFILE: "too many files are open: raise the limit (`ulimit -n 1024`), or use --jobs 1",
    errno.ENFILE: "too many files are open on this machine: close programs, or use --jobs 1",
}
_NUMBER = re.compile(r"\[?errno:? (\d+)\]?", re.IGNORECASE)
_NAMED = re.compile(r"(?<=: ')[^']+(?='$)")


class DeniedError(JudgebookError, RuntimeError):
    """The machine does not let us write (or read) a file; the message names it and says what to do."""


def remedy(error: BaseException | str, path: Path | None = None) -> str:
    """What is wrong and what to do where an error is the machine's refusal, in one line; else empty.

    error : an OSError, or the text of one, as libraries and notebooks pass it on. path : the file that was written.
    """
    number, name = getattr(error, "errno", None), getattr(error, "filename", None)
    if number is None and (number_in := _NUMBER.search(str(error))):
        number = int(number_in[1])
        name = named[0] if (named := _NAMED.search(str(error).strip())) else None
    if number not in _REMEDIES:
        return ""
    return f"{path or name or out_root()}: {_REMEDIES[number]}"


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """A temporary path next to `path` that replaces it if the block succeeds and is removed if it fails.

    Raises DeniedError where the machine does not let it be written.
    """
    temporary = path.with_name(f".{path.name}.{_MACHINE}-{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        name = getattr(error, "filename", None)
        # a block may read other files: these are named as they are
        said = remedy(error, None if name and not str(name).startswith(str(path.parent)) else path)
        if said:
            raise DeniedError(said) from error
        raise
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextmanager
def scratch(folder: Path) -> Iterator[Path]:
    """A temporary folder in `folder`, removed with all it holds when the block ends."""
    folder.mkdir(parents=True, exist_ok=True)
    made = tempfile.TemporaryDirectory(dir=folder, prefix=f".scratch.{_MACHINE}-{os.getpid()}-", suffix=".tmp")
    with made as path:
        yield Path(path)


def sweep(*folders: Path, deep: bool = True) -> None:
    """Remove what processes that were killed have left unfinished; what a live process may be writing stays.

    deep : also in folders of these folders.
    """
    for folder in folders:
        for path in list(folder.rglob(".*.tmp") if deep else folder.glob(".*.tmp")):
            with suppress(OSError):  # another run sweeps, too
                if _left_over(path):
                    shutil.rmtree(path) if path.is_dir() else path.unlink()


def _left_over(path: Path) -> bool:
    import psutil

    unfinished = _UNFINISHED.fullmatch(path.name)
    if not unfinished:
        return False
    abandoned = unfinished[1] == _MACHINE and not psutil.pid_exists(int(unfinished[2]))
    return abandoned or time.time() - path.stat().st_mtime > _FORGOTTEN


def relative(path: Path) -> str:
    """A path relative to the working directory, also where it lies outside."""
    try:
        return Path(os.path.relpath(path)).as_posix()
    except ValueError:  # another drive
        return str(path)


def write_frame(frame: pd.DataFrame, path: Path, *, raw: bool = False) -> None:
    """Write a frame as parquet (or csv, by suffix); the same content gives the same bytes.

    raw : a csv that our readers of raw files take in, text as it is; in others a spreadsheet runs no formula.
    """
    with atomic(path) as temporary:
        if path.suffix == ".csv":
            text = frame.to_csv(index=False, lineterminator="\n") if raw else escape.csv(frame)
            temporary.write_text(text, encoding="utf-8", newline="")
        else:
            frame.to_parquet(temporary, index=False)


def write_coded(frame: pd.DataFrame, path: Path) -> None:
    """Write a frame that may have coded columns (`codes`) as `write_frame` writes one with their texts: as many rows
    at a time as are a group in the file, so that no more are texts at once."""
    from judgebook import codes

    if codes.columns(frame):
        firsts = range(0, len(frame) or 1, _GROUP)
        write_parts((codes.texts(frame.iloc[first : first + _GROUP]) for first in firsts), path)
    else:
        write_frame(frame, path)


def write_parts(frames: Iterable[pd.DataFrame], path: Path) -> None:
    """Write frames with the same columns as one parquet file, holding one at a time."""
    import pyarrow as pa
    from pyarrow import parquet

    with atomic(path) as temporary, ExitStack() as stack:
        writer = None
        for frame in frames:
            table = pa.Table.from_pandas(frame, preserve_index=False)
            writer = writer or stack.enter_context(parquet.ParquetWriter(temporary, table.schema))
            writer.write_table(table.cast(writer.schema))


class AbsentError(JudgebookError, FileNotFoundError):
    """What a notebook reads has not been made; the message names the commands that make it, in order."""


class UndeclaredError(JudgebookError, RuntimeError):
    """A notebook reads what it does not declare; the message says what to write, and where."""


class Extra(dict[str, Any]):
    """The section `extra` of a study's YAML as a notebook has it: the keys that it declares.

    Raises UndeclaredError for another key, AbsentError for one that the YAML does not have.
    """

    def __init__(self, study: str, question: questions.Question, values: Mapping[str, Any]) -> None:
        super().__init__({key: values[key] for key in question.extra if key in values})
        self._study, self._question = study, question

    def __missing__(self, key: str) -> Any:
        _declared(self._question, "extra", key)
        raise AbsentError(f"{self._question.notebook}: the YAML of {self._study} has no `extra: {{{key}: …}}`")

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key that is declared, or the default where the YAML has none."""
        _declared(self._question, "extra", key)
        return super().get(key, default)


def _declared(question: questions.Question | None, kind: str, name: str) -> None:
    """Raise UndeclaredError where a notebook's declaration does not name what it reads."""
    listed = [] if question is None else getattr(question, kind)
    if question is None or name in listed:
        return
    if question.own:
        written = ", ".join(f'"{one}"' for one in [*listed, name])
        where = f"write `{kind}=[{written}]` in its call of `own_notebook`"
    else:
        where = f"add it to `{kind}` in `{questions.home(question.notebook).replace('.', '/')}/question.py`"
    raise UndeclaredError(
        f"{question.notebook} reads {name!r}, which it does not declare: {where}. Otherwise a change of it would leave"
        " the old results"
    )


@dataclass(frozen=True)
class Run:
    """One notebook at work on one study. `run_id` is None when somebody runs it by hand: then all goes to scratch.

    of_study : whether what it shows is about the study. A notebook about something else (the papers' printed numbers)
    reads no frames, and is not called simulated where the study is. question : what the notebook declares, where it
    does; it reads nothing else.
    """

    study: params.Study
    notebook: str
    run_id: str | None
    of_study: bool = True
    question: questions.Question | None = None
    #: what it has stored: results of the project's statistics, and of its own
    _stored: dict[str, Results] = field(default_factory=dict, repr=False, compare=False)

    def of(self, question: questions.Question | None) -> Run:
        """The same, for a notebook that declares what it reads: it has nothing else."""
        if question is None:
            return self
        extra = Extra(self.key, question, self.study.extra)
        return replace(self, question=question, study=self.study.model_copy(update={"extra": extra}))

    @property
    def extra(self) -> Mapping[str, Any]:
        """The section `extra` of the YAML: the keys that the notebook declares."""
        return self.study.extra

    @property
    def headline(self) -> str | None:
        """The figure that stands for the notebook: papers get it as PDF."""
        return self.question.headline if self.question else None

    @property
    def simulated(self) -> bool:
        """Whether figures and tables say that their data are simulated."""
        return self.study.simulated and self.of_study

    @property
    def key(self) -> str:
        return self.study.key

    @property
    def _base(self) -> Path:
        return processed(self.key) if self.run_id else processed(self.key) / "scratch"

    @property
    def figures(self) -> Path:
        return out_root() / "figures" / self.key if self.run_id else self._base / "figures"

    @property
    def tables(self) -> Path:
        return out_root() / "tables" / self.key if self.run_id else self._base / "tables"

    def read(self, name: str, without: Collection[str] = ()) -> pd.DataFrame:
        """A frame of the study: annotations, dialogues, metric_scores, screening, work_units or counts.

        without : columns that are not read: of millions of judgements each takes its time and memory.

        Raises AbsentError, which names the commands that make it, and UndeclaredError.
        """
        import pandas as pd

        from judgebook.study import schema

        if not self.of_study:
            raise ValueError(f"{self.notebook} was started with of_study=False: it must not read {name!r}")
        _declared(self.question, "reads", name)
        path = processed(self.key) / f"{name}.parquet"
        if not path.is_file():
            given = self.study.path
            named = given is None or given.parent in project.yaml_folders()
            made_by = project.made_by(self.key if named else str(given), "--only annotations")
            raise AbsentError(f"The data of {self.key} have not been read yet: run {made_by}.")
        content = self.question is None or self.question.own or "texts" in self.question.private
        stood_in = None if content else self.of_bundle(name)
        if stood_in is not None:
            return stood_in.drop(columns=[*without])
        return pd.read_parquet(path, columns=[c for c in schema.FRAMES[name] if c not in without] if without else None)

    def of_bundle(self, name: str) -> pd.DataFrame | None:
        """What only a study that is read from a bundle has: `text_metrics`, `spellings`, and frames with stand-ins
        for their texts (`sources.instead.shared`); None elsewhere."""
        import pandas as pd

        path = processed(self.key) / OF_BUNDLE / f"{name}.parquet"
        return pd.read_parquet(path) if path.is_file() else None

    def file(self, name: str) -> Path:
        """A file below the project's folder that the notebook declares, such as `data/other.csv`.

        Raises UndeclaredError, or AbsentError where there is no such file.
        """
        _declared(self.question, "reads", name)
        path = project.folder() / name
        if not path.is_file():
            raise AbsentError(f"{self.notebook}: no file {name!r} in the folder of the project")
        return path

    def own_ids(self) -> pd.DataFrame:
        """Ids of the source that pseudonyms replaced: for comparisons of their spelling only, never to be shown. A
        bundle has pseudonyms in their place, the same for ids that are spelt alike."""
        import pandas as pd

        if (like := self.of_bundle("spellings")) is not None:
            return like.set_axis(["pseudonym", "own_id"], axis=1).assign(kind="person")
        path = processed(self.key) / "own_ids.csv"
        return escape.read_csv(path) if path.is_file() else pd.DataFrame()

    def save_results(self, results: Results) -> None:
        """Check results and store them as parquet and, where a spreadsheet can open it, csv."""
        self._stored["project"] = results
        self._store()

    def save_statistic(
        self,
        name: str,
        frame: pd.DataFrame,
        *,
        title: str,
        keys: Sequence[str] = (),
        range: tuple[float, float] = (-inf, inf),
    ) -> None:
        """Check and store a statistic that the project does not have; `open_study(…).results(name)` reads it.

        frame : a row per estimate. `estimate` is the value; all other columns are those of results (docs/results.md:
        system, label, ci_low, ci_high, n, note, …) or named in `keys`, which tell rows apart and are texts or numbers.
        An estimate is missing only where `note` says why. title : what it is, for readers. range : the smallest and
        largest value that it can have.

        Raises StatisticError, which names all that is wrong and says what to write.
        """
        from judgebook.study.results import Results, checked

        rows = checked(name, frame, title=title, keys=keys, range=range)
        self._stored["own"] = Results(self._stored.get("own", {}) | {name: rows})
        self._store()

    def _store(self) -> None:
        from judgebook.study.result_schema import described
        from judgebook.study.results import Results, fold, folded

        path, of = self._base / "results" / self.notebook, {"study": self.key, "notebook": self.notebook}
        results = Results({name: rows for part in self._stored.values() for name, rows in part.items()})
        own = described(self._stored.get("own", ()))
        if sum(map(len, results.values())) >= limits.SHEET_ROWS:
            write_parts(folded(results, own=own, **of), path.with_suffix(".parquet"))
            path.with_suffix(".csv").unlink(missing_ok=True)  # of fewer rows, in the folder for trying things out
            return
        rows = fold(results, own=own, **of)
        for suffix in (".parquet", ".csv"):
            write_frame(rows, path.with_suffix(suffix))

    def read_results(self, notebook: str) -> Results:
        """Results that another notebook of the same run stored. Raises AbsentError, which names the command that makes
        them, and UndeclaredError."""
        from judgebook.study import results

        _declared(self.question, "needs", notebook)
        path = processed(self.key) / "results" / f"{notebook}.parquet"
        if not path.is_file():
            made_by = f"`{project.command()} --study {self.key} --only {notebook.partition('_')[0]}`"
            raise AbsentError(f"{self.notebook} needs the results of {notebook}, which are not there: run {made_by}.")
        return results.read(path)

    def results_elsewhere(self, study: str, notebook: str) -> Results | None:
        """Results that a notebook stored for another study; None where it was not run.

        Raises ValueError in a study that has data of its own, and for a simulated study.
        """
        if not self.study.across:
            raise ValueError(f"study {self.key!r} has data of its own: it must not read results of {study!r}")
        from judgebook.study import results

        path = processed(study) / "results" / f"{notebook}.parquet"
        if not path.is_file():
            return None
        if params.load(processed(study) / "params.yaml", key=study).simulated:
            raise ValueError(f"results of {study!r} are simulated: printed numbers cannot be compared with them")
        return results.read(path)

    def cached(self, name: str) -> pd.DataFrame | None:
        """What `cache` stored under this name in an earlier run; None where there is nothing."""
        import pandas as pd

        path = processed(self.key) / "cache" / f"{name}.parquet"
        return pd.read_parquet(path) if path.is_file() else None

    def cache(self, frame: pd.DataFrame, name: str) -> None:
        """Keep a frame for later runs, whatever becomes of this one; it must say itself for what it is valid."""
        write_frame(frame, processed(self.key) / "cache" / f"{name}.parquet")

    def frame(self, frame: pd.DataFrame, name: str) -> pd.DataFrame:
        """Store a frame that is not one number per row as `<notebook>.<name>.parquet`, and return it."""
        write_frame(frame, self._base / "results" / f"{self.notebook}.{name}.parquet")
        return frame


def start(study: str, notebook: str, run_id: str | None = None, *, of_study: bool = True, **knobs: object) -> Run:
    """What a notebook calls first.

    knobs : values of the parameters cell that replace those of the YAML, by the paths that its question gives; None
    leaves the YAML's. In a pipeline run the YAML is the one the run recorded.
    """
    overrides = _overrides(notebook, {k: v for k, v in knobs.items() if v is not None})
    called = {path: name for name, path in knob_paths(notebook).items()}
    question = questions.declared().get(notebook)
    if run_id:
        source, key = processed(study) / "params.yaml", study
        return Run(params.load(source, overrides, key=key, called=called), notebook, run_id, of_study).of(question)
    return Run(params.load(study, overrides, called=called), notebook, None, of_study).of(question)


def _overrides(notebook: str, knobs: dict[str, object]) -> dict:
    paths = knob_paths(notebook)
    if unknown := sorted(set(knobs) - set(paths)):
        raise ValueError(f"{notebook}: its question gives no path of the YAML for {', '.join(unknown)}")
    return params.merged(*(params.nested(paths[name], value) for name, value in knobs.items()))


def knob_paths(notebook: str) -> dict[str, str]:
    """The YAML path of each of a notebook's parameters, as its question gives it."""
    question = questions.declared().get(notebook)
    return question.knobs if question else {}
