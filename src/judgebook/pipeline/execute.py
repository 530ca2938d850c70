"""Runs the nodes of one or several studies in order: those that must run, with the reason.

The work goes to a `concurrent.futures.Executor`; any other executor with that interface will do.
"""

from __future__ import annotations

import multiprocessing
import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgebook.errors import JudgebookError
from judgebook.pipeline import worker
from judgebook.pipeline.cache import Cache
from judgebook.pipeline.nodes import LONG, Node, Parts, StudyNodes, shown
from judgebook.pipeline.surroundings import allow_files
from judgebook.study import store

PATIENCE = 10.0  # seconds without an event after which progress of running nodes is shown
GRACE = 60.0  # seconds in which workers end their kernels and remove unfinished files; it takes them about one
DATA = ("simulate", "annotations")
#: states after which a node that needs this one can run; the last two occur in a dry run
GOOD = ("up to date", "done", "would run", "may run")
#: seconds, more than any chain of nodes takes
_NEVER = 1e9
_WAS = {"failed": "failed", "invalid": "found errors in the data", "skipped": "is skipped", "not run": "did not run"}


@dataclass(frozen=True)
class Status:
    """state : up to date, done, failed, invalid, skipped, not run; in a dry run also would run, may run."""

    state: str
    reason: str = ""
    seconds: float | None = None


@dataclass(frozen=True)
class _Job:
    """A running node. why : why it runs. before : its earlier files, to find those it did not write again."""

    node: Node
    parts: Parts
    why: str
    argument: Any
    before: dict[Path, tuple[int, int]]
    started: float


def process_pool(jobs: int | None) -> Executor:
    """Worker processes, each with its own Python and one BLAS thread."""
    from concurrent.futures import ProcessPoolExecutor

    allow_files()
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(jobs, mp_context=context, initializer=worker.initialize)


class Runner:
    """Runs nodes; `states` holds the status of each, by (study, node).

    jobs : nodes at a time; None for as many as the executor has places. say : called with node and status when a node
    is settled. news : called with a line while nodes run.
    """

    def __init__(
        self,
        studies: Mapping[str, StudyNodes],
        cache: Cache,
        make_executor: Callable[[int | None], Executor],
        jobs: int | None,
        *,
        say: Callable[[Node, Status], None],
        news: Callable[[str], None],
        force: bool = False,
        dry: bool = False,
    ):
        self.studies, self.cache, self.make_executor, self.jobs = studies, cache, make_executor, jobs
        self.say, self.news, self.force, self.dry = say, news, force, dry
        self.states: dict[tuple[str, str], Status] = {}
        self._executor: Executor | None = None
        self._running: dict[Future, _Job] = {}
        self._ready: dict[Node, tuple[Parts, str]] = {}
        self._awaited: set[tuple[str, str]] = set()

    def run(self, nodes: Iterable[Node], meanwhile: Callable[[], object] | None = None) -> None:
        """Settle every node. Finished work is kept when this is interrupted. meanwhile : done once, while nodes run.

        What a node that is `first` needs goes before all others. Of the rest that can run, the one with the longest
        remaining chain starts first: started last, it would keep one worker busy when all others are done.
        """
        pending = {n.key: n for n in nodes}
        self._awaited, ahead = set(pending), _seconds_ahead(list(pending.values()))
        while pending or self._ready or self._running:
            while any([self._step(node, pending) for node in list(pending.values())]):
                pass
            for node in sorted(self._ready, key=lambda n: -ahead[n.key])[: self._places() - len(self._running)]:
                self._submit(node, *self._ready.pop(node))
            if self._running and meanwhile:
                meanwhile()
                meanwhile = None
            done, _ = wait(self._running, timeout=PATIENCE, return_when=FIRST_COMPLETED)
            for future in done:
                job = self._running.pop(future)
                self._settle(job.node, self._outcome(job, future))
            if self._running and not done:
                self._report_progress()

    def awaits(self, key: tuple[str, str]) -> bool:
        """Whether a node of this run is not settled yet."""
        return key in self._awaited

    def _step(self, node: Node, pending: dict[tuple[str, str], Node]) -> bool:
        """Settle a node whose predecessors are settled, or note that it can run. True where it was settled."""
        if any((node.study, name) in self._awaited for name in node.after):
            return False
        del pending[node.key]
        status = self._without_running(node)
        if status is not None:
            self._settle(node, status)
            return True
        with self.cache.moment():
            parts = node.parts()
        study = self.studies[node.study]
        always = "forced" * self.force or "not recorded" * (not node.recorded)
        why = always or study.manifest.why(node.name, parts, self.cache)
        if self.dry or not why:
            self._settle(node, self._foreseen(node, why))
            return True
        self._ready[node] = parts, why
        return False

    def _without_running(self, node: Node) -> Status | None:
        """Why a node cannot run, or None."""
        for name in () if node.soft else node.after:
            status = self.states.get((node.study, name))
            if status is not None and status.state not in GOOD:
                skipped = status.state == "skipped"
                lacks = node.skip() if skipped else None  # what the data lack for it tells more than a chain
                return Status("skipped" if skipped else "not run", lacks or f"needs {name}, which {_WAS[status.state]}")
        reason = node.skip()
        return Status("skipped", reason) if reason else None

    def _foreseen(self, node: Node, why: str) -> Status:
        """The status of a node that does not run now: nothing to do, or a dry run."""
        if why:
            return Status("would run", why)
        states = {name: self.states[node.study, name].state for name in node.after if (node.study, name) in self.states}
        changing = [name for name, state in states.items() if state in ("would run", "may run")]
        return Status("may run", f"if {changing[0]} changes") if changing else Status("up to date")

    def _places(self) -> int:
        """How many nodes may run at a time; starts the executor where it is needed."""
        if self._ready and self._executor is None:
            self._executor = self.make_executor(self.jobs)
        return self.jobs or int(getattr(self._executor, "places", 1))

    def _submit(self, node: Node, parts: Parts, why: str) -> None:
        assert self._executor is not None
        if self.force:
            shutil.rmtree(store.kept(*node.key), ignore_errors=True)
        argument = node.argument()
        if node.seconds >= LONG:
            self.news(f"{self._name(node)}: about {shown(node.seconds)}")
        job = _Job(node, parts, why, argument, _stamps(self._files(node)), time.monotonic())
        try:
            future = self._executor.submit(node.work, argument)
        except BrokenExecutor:  # a process died, and with it all that were given work
            self._executor.shutdown(wait=False)
            self._executor = self.make_executor(self.jobs)
            future = self._executor.submit(node.work, argument)
        self._running[future] = job

    def _files(self, node: Node) -> set[Path]:
        """What a node has written, by its outputs and by what was recorded of its last run."""
        return {*node.outputs(), *self.studies[node.study].manifest.outputs(node.name)}

    def _outcome(self, job: _Job, future: Future) -> Status:
        """Status of a node that ran; if it succeeded its outputs are recorded and outdated ones removed."""
        try:
            outcome = future.result()
        except Exception as error:  # the process died, or its answer could not be sent
            message = str(error) if isinstance(error, JudgebookError) else f"a worker process died: {error}"
            outcome = worker.Outcome("failed", time.monotonic() - job.started, message)
        if outcome.state == "denied":  # nothing else could be written, either
            raise store.DeniedError(outcome.message)
        if outcome.state != "done":
            return Status(outcome.state, outcome.message, outcome.seconds)
        study = self.studies[job.node.study]
        written = {*job.node.outputs()} if job.node.listed else set()
        for path, stamp in _stamps(job.before).items():
            if stamp == job.before[path] and path not in written:
                path.unlink()
        if job.node.recorded:
            outputs = _stamps(job.node.outputs())
            study.manifest.record(job.node.name, job.parts, outputs, outcome.seconds, self.cache)
            study.manifest.save(study.study)
        return Status("done", job.why, outcome.seconds)

    def _settle(self, node: Node, status: Status) -> None:
        """Record and report a node's status. One that failed or cannot run leaves no outputs behind."""
        self.states[node.key] = status
        self._awaited.discard(node.key)
        study = self.studies[node.study]
        data = [self.states[node.study, name] for name in DATA if (node.study, name) in self.states]
        sound = node.name not in DATA and all(s.state in GOOD for s in data)
        if not self.dry and sound and status.state in ("failed", "skipped", "not run"):
            recorded = node.name in study.manifest.nodes
            study.retire(node.name)
            if recorded:
                study.manifest.save(study.study)
        self.say(node, status)

    def _report_progress(self) -> None:
        for job in self._running.values():
            since, progress = time.monotonic() - job.started, ""
            if isinstance(job.argument, worker.NotebookJob):
                done, step_left = worker.progress(job.argument)
                left = max(job.node.seconds - since if job.node.seconds >= LONG else 0.0, step_left)
                progress = f", {done}" + (f", about {shown(left)} left" if left >= 15 else "")
            self.news(f"{self._name(job.node)}: running for {since:.0f} s{progress}")

    def _name(self, node: Node) -> str:
        return f"{node.study}/{node.name}" if len(self.studies) > 1 else node.name

    def stop(self) -> None:
        """Cancel what waits, stop the workers, and wait until they have cleaned up, or for `GRACE` seconds."""
        if self._executor is None:
            return
        self._executor.shutdown(wait=False, cancel_futures=True)
        workers = multiprocessing.active_children()
        for process in workers:
            process.terminate()
        end = time.monotonic() + GRACE
        for process in workers:
            process.join(max(0.0, end - time.monotonic()))
        for process in workers:
            process.kill()  # nothing to those that have ended
            process.join()

    def close(self) -> None:
        """Release the workers."""
        if self._executor is not None:
            self._executor.shutdown()


def _seconds_ahead(nodes: list[Node]) -> dict[tuple[str, str], float]:
    """By node: its own seconds plus those of the longest chain of nodes after it, which never ends where one of them is
    to be first. `nodes` are in topological order."""
    alone = {n.key: n.seconds + _NEVER * n.first for n in nodes}
    ahead = dict(alone)
    for node in reversed(nodes):
        for name in node.after:
            before = node.study, name
            if before in ahead:
                ahead[before] = max(ahead[before], ahead[node.key] + alone[before])
    return ahead


def _stamps(paths: Iterable[Path]) -> dict[Path, tuple[int, int]]:
    """Existing paths with inode and modification time, which change when a file is rewritten."""
    return {p: (p.stat().st_ino, p.stat().st_mtime_ns) for p in paths if p.is_file()}
