"""The analyses behind a study's first page, one after the other in this process; no notebook runs."""

from __future__ import annotations

import importlib.util
import os
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import scipy.linalg  # noqa: F401  # only libraries that are loaded are limited to one thread
from threadpoolctl import threadpool_limits

from judgebook.display.by_hand import DoesNotApplyError
from judgebook.display.page import NotebookPage
from judgebook.pipeline import dag, run, worker
from judgebook.pipeline.manifest import lock
from judgebook.pipeline.nodes import StudyNodes
from judgebook.pipeline.page_jobs import COMPUTED, Row
from judgebook.sources import build

#: what notebooks are told where the pipeline gives the digest of all they depend on; by hand it would be None
RUN_ID = "audit"


def analysed(
    path: Path,
    values: list[str],
    say: Callable[[str], None],
    check: Callable[[StudyNodes], None] = lambda nodes: None,
    notebooks: Collection[str] | None = None,
) -> tuple[StudyNodes, list[Row]]:
    """Read the data of a study, and carry out the analyses that its first page follows from, or those of `notebooks`.

    Frames and results are stored where a run stores them. values : KEY=VALUE, changes of the YAML. say : called with a
    line for each step. check : called once the data are stored, before any analysis; may raise. notebooks : of these,
    those that the study has. Returns the study and these notebooks, each `COMPUTED`, skipped with the reason why it
    does not fit, or failed.

    Raises ParamsError for a wrong YAML, DataError for wrong data, BusyError where the study is being run.
    """
    nodes = _of_study(path, values)
    first = [
        name
        for name, question in nodes.entries.items()
        if (question.answers or question.first_page if notebooks is None else name in notebooks)
    ]
    needed = dag.in_turn(first, nodes.entries)
    with _begun(nodes):
        check(nodes)
        states: dict[str, tuple[str, str]] = {}
        for name in needed:
            states[name] = _state(nodes, name, states)
            if states[name][0] == COMPUTED:
                say(nodes.facts(name).title)
                states[name] = _carried_out(nodes, name)
    about = {name: nodes.facts(name) for name in states}
    return nodes, [Row(name, about[name].title, about[name].question, None, *states[name]) for name in states]


def one(path: Path, notebook: str, values: list[str]) -> NotebookPage:
    """Read the data of a study, and carry out the analysis of one notebook, with those it needs.

    values : KEY=VALUE, changes of the YAML.

    Raises DoesNotApplyError with the reason where the study does not have what it needs; else what `analysed` raises,
    and errors of the analysis as they are.
    """
    nodes = _of_study(path, values)
    with _begun(nodes):
        for name in dag.in_turn([notebook], nodes.entries):
            if reason := nodes.missing(name):
                raise DoesNotApplyError(reason)
            page = _page(nodes, name)
    return page


def _of_study(path: Path, values: list[str]) -> StudyNodes:
    spec = run.specs([str(path)], values)[0]
    study = spec.load()
    return StudyNodes(spec, study, dag.of(dag.load(own=False), study), run.cache(), dag.NOTEBOOKS)


@contextmanager
def _begun(nodes: StudyNodes) -> Iterator[None]:
    """The data are read and checked, and nobody else runs the study while the block does."""
    with lock(nodes.study.key), threadpool_limits(1):  # with more threads, the last digits of matrix products vary
        build.build(nodes.study, out=nodes.home)
        nodes.write_params()
        yield


def _state(nodes: StudyNodes, name: str, states: Mapping[str, tuple[str, str]]) -> tuple[str, str]:
    """What becomes of a notebook that is needed, and why, before it is carried out."""
    if reason := nodes.missing(name):
        return "skipped", reason
    lacking = next((need for need in nodes.entries[name].needs if states[need][0] != COMPUTED), "")
    return ("skipped", f"It needs notebook {lacking[:2]}: {states[lacking][1]}") if lacking else (COMPUTED, "")


def _carried_out(nodes: StudyNodes, name: str) -> tuple[str, str]:
    """Make the page of a notebook; what became of it, and why."""
    try:
        _page(nodes, name)
    except Exception as error:  # the other answers stand without it, as in a run
        return "failed", worker.described(error)
    return COMPUTED, ""


def _page(nodes: StudyNodes, name: str) -> NotebookPage:
    """What a notebook makes, with the parameters of a run: it reads, computes and stores."""
    path = dag.helper(name)
    # under a name of ours: a user may have a package `helpers`, too
    found = importlib.util.spec_from_file_location(f"judgebook.carried_helpers.{path.stem}", path)
    assert found is not None
    assert found.loader is not None
    helper = importlib.util.module_from_spec(found)
    found.loader.exec_module(helper)
    page: NotebookPage = helper.Page(**nodes.parameters(name) | {"run_id": RUN_ID})
    return page


@contextmanager
def output_below(folder: Path | None) -> Iterator[None]:
    """Write to `folder` while the block runs; None: to one that is removed then."""
    before = os.environ.get("COMPENDIUM_OUT")
    with ExitStack() as stack:
        where = folder or stack.enter_context(tempfile.TemporaryDirectory(prefix="judgebook-"))
        os.environ["COMPENDIUM_OUT"] = str(Path(where).resolve())
        try:
            yield
        finally:
            os.environ.pop("COMPENDIUM_OUT")
            if before is not None:
                os.environ["COMPENDIUM_OUT"] = before
