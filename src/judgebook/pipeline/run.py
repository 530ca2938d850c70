"""A run: studies named on the command line, their data first, then notebooks and report."""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from judgebook import plugins, project
from judgebook.pipeline import dag
from judgebook.pipeline.cache import Cache
from judgebook.pipeline.closure import closure
from judgebook.pipeline.dag import facts
from judgebook.pipeline.execute import DATA, Runner, Status, process_pool
from judgebook.pipeline.manifest import lock
from judgebook.pipeline.nodes import Node, StudyNodes, data_missing
from judgebook.pipeline.page_jobs import FIRST_PAGE
from judgebook.pipeline.pages import Pages
from judgebook.pipeline.worker import Spec
from judgebook.sources.instead import embedded
from judgebook.study import params, store

#: the executor that is no extra: processes of this machine
HOME = "processes"
#: notebooks at a time on this machine
DEFAULT_JOBS = min(os.cpu_count() or 1, 4)


@dataclass(frozen=True)
class Options:
    """only : notebooks, empty for all. values : KEY=VALUE as given. jobs : notebooks at a time. rest : said of
    notebooks that were not asked for; {study} is the study. executor : where they run, as `checked_executor` has it."""

    only: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    jobs: int | None = 1
    force: bool = False
    dry: bool = False
    rest: str = "It was not asked for."
    executor: str = HOME


def cache() -> Cache:
    """Digests of files from earlier runs."""
    return Cache(store.out_root() / "data" / "processed" / ".cache.json")


def specs(named: list[str], values: list[str], absent_ok: bool = False) -> list[Spec]:
    """The studies named; `all` means every study whose data are present, and the others are reported and skipped.

    absent_ok : so are those named whose data are absent, or here without texts.
    """
    overrides = params.parse_set(values)
    every = "all" in named
    out: list[Spec] = []
    for name in dict.fromkeys([*(params.names() if every else []), *(n for n in named if n != "all")]):
        study = params.load(name, overrides)
        assert study.path is not None
        other = next((spec for spec in out if spec.key == study.key), None)
        if other is not None:
            if Path(other.source).resolve() == study.path.resolve():
                continue
            two = f"{store.relative(Path(other.source))} and {store.relative(study.path)}"
            hint = "results are stored under this name: rename one of the files, or run them separately with --out"
            raise params.ParamsError(f"two studies are called {study.key!r}: {two}: {hint}")
        missing = data_missing(study, texts=absent_ok) if every or absent_ok else []
        if missing:
            print(f"{study.key}: skipped, its data are missing: {', '.join(missing[:3])}{' …' if missing[3:] else ''}")
        else:
            out.append(Spec(str(study.path), study.key, overrides))
    return out


#: what a call without --study runs, in this order: judgements of people that come with the project, in the notebooks
#: that answer a reader's first questions, then what only a known truth can show
FIRST = (
    (("ji2022", "llmfao"), ("00", "02", "03", "05", "07", "10", "13")),
    (("demo",), ()),
)


def first(options: Options) -> int:
    """Run the studies of a project of one's own; where there are none, those that come with the project, the real ones
    first. Returns the exit code.

    `options.only`, where given, takes the place of the notebooks chosen here.
    """
    if own := params.own():
        return run(own, options)
    codes = []
    for studies, notebooks in FIRST:
        rest = options.rest
        if notebooks and not options.only:
            rest = f"Left out of the first run: `{project.command()} --study {{study}}` runs it."
        codes.append(run(list(studies), replace(options, only=options.only or list(notebooks), rest=rest)))
        if codes[-1] == 2:
            break
    return max(codes)


def run(named: list[str], options: Options, *, absent_ok: bool = False, folder: Path = dag.NOTEBOOKS) -> int:
    """Run studies; returns the exit code. Raises ParamsError, NotebookError or BusyError before anything runs."""
    sys.audit("judgebook.run", named)  # tests count runs
    chosen, entries, digests = specs(named, options.values, absent_ok), dag.load(folder), cache()
    loaded = [(s, s.load()) for s in chosen]
    studies = {s.key: StudyNodes(s, study, dag.of(entries, study), digests, folder) for s, study in loaded}
    wanted = [name for name in options.only if name not in DATA]
    for problem in dag.left_out(entries, folder):
        print(problem)
    selected = dag.select(list(entries), wanted or ([] if options.only else list(entries)), entries)
    for _, read in loaded:
        plugins.checked(read)
    for problem in filter(None, (nodes.namesake() for nodes in studies.values())):
        raise params.ParamsError(problem)
    reporter = _Reporter(studies, selected)
    runner = Runner(
        studies,
        digests,
        partial(_executor, options.executor),
        options.jobs,
        say=reporter.say,
        news=reporter.news,
        force=options.force,
        dry=options.dry,
    )
    with ExitStack() as stack:
        if not options.dry:
            for study in studies.values():
                stack.enter_context(lock(study.key))
                study.clear_scratch()
            store.sweep(store.processed(""), deep=False)
        try:
            code = _phases(runner, studies, selected, options)
        except BaseException:
            runner.stop()
            raise
        finally:
            for study in studies.values() if not options.dry else ():
                study.clear_scratch()
        runner.close()
    if not options.dry:
        digests.save()
        for study in studies.values():
            index = store.out_root() / "reports" / study.key / "index.html"
            if index.is_file():
                print(f"report: {store.relative(index)}")
                old = [name for name in study.entries if name not in selected and study.outdated(name)]
                if old:
                    print(f"  from an earlier run with other settings or data, and marked as such: {', '.join(old)}")
    return code


def checked_executor(text: str) -> str:
    """`text` if `--executor` may have it. Raises UsageError."""
    if text != HOME and not _workers(text):
        forms = ", ".join([HOME, *(workers.forms for workers in plugins.workers())])
        hint = f"; removed extras: {', '.join(plugins.removed())}" if plugins.removed() else ""
        raise plugins.UsageError(f"--executor: expected {forms}, found {text!r}{hint}")
    return text


def _workers(text: str) -> plugins.Workers | None:
    """What an extra adds that runs notebooks where `text` says."""
    return next((workers for workers in plugins.workers() if workers.accepts(text)), None)


def _executor(where: str, jobs: int | None) -> Executor:
    workers = None if where == HOME else _workers(where)
    if workers is None:
        return process_pool(jobs)
    return workers.connect(where, partial(process_pool, min(os.cpu_count() or 1, jobs or DEFAULT_JOBS)))


def _phases(runner: Runner, studies: dict[str, StudyNodes], selected: list[str], options: Options) -> int:
    """Data of all studies come first: a run with invalid data ends before any notebook starts."""
    missing = {key: data_missing(study.study) for key, study in studies.items()} if options.dry else {}
    for key in [k for k, files in missing.items() if files]:
        print(f"{key}: its data are missing: {', '.join(missing[key])}; the run would stop", file=sys.stderr)
    if any(missing.values()):
        return 2
    data = [node for study in studies.values() for node in study.data()]
    runner.run(data, meanwhile=partial(_read_imports, studies, selected))
    wrong = [(key, s) for key, s in runner.states.items() if s.state == "invalid"]
    for (key, _), status in wrong:
        print(f"{key}: {status.reason}", file=sys.stderr)
    if wrong:
        return 2
    for study in studies.values():
        for name in study.entries:
            study.missing(name)
        state = runner.states.get((study.key, "annotations"))
        if not options.dry and (state is None or state.state != "failed"):
            study.write_params()
            study.retire_strangers()
    units = {key: study.unknown_unit() for key, study in studies.items()}
    for key in [key for key, problem in units.items() if problem]:
        print(f"{key}: {units[key]}", file=sys.stderr)
    if any(units.values()):
        return 2
    _warn_of_few(studies)
    for across in (False, True):  # studies that read results of others come last
        nodes: list[Node] = []
        for study in (s for s in studies.values() if s.study.across == across):
            pages = Pages(study, partial(_state, runner, study, rest=options.rest), partial(_awaited, runner, study))
            chosen = [name for name in selected if name in study.entries]
            nodes += study.notebooks(chosen)
            nodes += pages.nodes(chosen) if not options.dry else []
        runner.run(nodes)
    return 1 if any(s.state == "failed" for s in runner.states.values()) else 0


def _read_imports(studies: dict[str, StudyNodes], selected: list[str]) -> None:
    """Have at hand what all code that notebooks can load imports: in a first run this process reads it for a second or
    two, which the first page would wait for when the data are there."""
    every = [study.facts(name).imports for study in studies.values() for name in selected if name in study.entries]
    for study in list(studies.values())[:1]:  # they have one cache
        closure({name for imports in every for name in imports}, study.cache)


def _state(runner: Runner, study: StudyNodes, name: str, rest: str) -> tuple[str, str]:
    """State of a notebook and the reason; one that was not asked for may be one that the study cannot have."""
    reason = study.missing(name)
    otherwise = Status("skipped", reason) if reason else Status("not run", rest.format(study=study.key))
    status = runner.states.get((study.key, name), otherwise)
    return status.state, status.reason


def _awaited(runner: Runner, study: StudyNodes, name: str) -> bool:
    return runner.awaits((study.key, name))


def _warn_of_few(studies: dict[str, StudyNodes]) -> None:
    for study in studies.values():
        profile, enough = study.profile(), study.study.iaa.min_items
        n = profile.get("n_items_by_label", enough) / max(1, len(profile.get("labels", [])))
        if n < enough and "n_items_by_label" in profile:
            few = f"{n:.0f} items per label on average, fewer than {enough}: intervals are wide and imprecise"
            print(f"{study.key}: warning: {few}")


def outdated(study: str) -> dict[str, str]:
    """Notebooks of a finished study that an earlier run left: name -> what has changed since."""
    spec = Spec(str(store.processed(study) / "params.yaml"), study)
    loaded = spec.load()
    nodes = StudyNodes(spec, loaded, dag.of(dag.load(), loaded), cache(), dag.NOTEBOOKS)
    return {name: why for name in nodes.entries if (why := nodes.outdated(name))}


class _Reporter:
    """Prints one line per node as it is settled; pages only where they fail."""

    def __init__(self, studies: dict[str, StudyNodes], selected: list[str]):
        self.several, self.begun = len(studies) > 1, time.monotonic()
        longest = max((len(n) for n in (*DATA, *selected)), default=0)
        self.width = longest + (1 + max(map(len, studies)) if self.several else 0)

    def say(self, node: Node, status: Status) -> None:
        if node.name == FIRST_PAGE and status.state == "done":
            page = store.relative(store.out_root() / "reports" / node.study / "index.html")
            print(f"  first page: {page} after {time.monotonic() - self.begun:.1f} s; the rest fills in", flush=True)
        if node.quiet and status.state != "failed":
            return
        name = f"{node.study}/{node.name}" if self.several else node.name
        seconds = f"{status.seconds:6.1f} s" if status.seconds is not None else " " * 8
        reason = status.reason if status.state != "invalid" else "see below"
        print(f"  {name:<{self.width}}  {status.state:<10}  {seconds}  {reason}".rstrip(), flush=True)

    def news(self, line: str) -> None:
        print(f"  … {line}", flush=True)


def list_all(folder: Path = dag.NOTEBOOKS) -> int:
    """Print studies and notebooks."""
    digests = cache()
    print("studies (params/<name>.yaml):")
    for name in params.names():
        try:
            study = params.load(name)
        except params.ParamsError as error:  # such as a format that only the compendium reads, where that is not here
            print(f"  {name:<16} cannot be read: {error}")
            continue
        where = "  [embedded, without texts]" if embedded.files(study) else ""
        where = f"  [data missing: {project.command()} fetch {name}]" if data_missing(study) else where
        print(f"  {name:<16} {study.title}{where}")
    print("\nnotebooks:")
    for name, entry in dag.load(folder).items():
        about = facts(dag.file(name, folder), digests)
        needs = f"  [needs {', '.join(entry.requires)}]" if entry.requires else ""
        print(f"  {name:<28}  {about.title}{needs}")
    return 0
