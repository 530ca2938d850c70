"""The work for the first page of a report while most of it is still being computed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from judgebook.pipeline import dag, page_jobs, rendering, worker
from judgebook.pipeline.nodes import ANALYSIS, Node, StudyNodes
from judgebook.pipeline.page_jobs import TO_COME, WAITED, IndexJob, PageJob, Row
from judgebook.pipeline.worker import timed
from judgebook.study import store

#: why a notebook is not in the report of a run that ended early
STOPPED = "The run was stopped before it was done."
#: the answer that could be another when the rest is there: what to do next
LAST = "next"


def ahead(study: StudyNodes, notebooks: Iterable[str]) -> list[str]:
    """The notebooks of a run that the first page waits for and that will run."""
    with study.cache.moment():
        return [
            name
            for name in notebooks
            if study.entries[name].early
            and dag.helper(name).is_file()
            and not study.missing(name)
            and study.manifest.why(name, study.parts(name), study.cache)
        ]


def analyses(study: StudyNodes, notebooks: Iterable[str]) -> list[Node]:
    """What these compute for the first page, without kernels and figures: a node each, nothing of which is recorded."""

    def node(name: str) -> Node:
        def job() -> worker.NotebookJob:
            made = study.job(name)
            return replace(made, parameters=study.parameters(name) | made.parameters)

        options: dict[str, Any] = {"quiet": True, "recorded": False}
        return Node(study.key, ANALYSIS.format(name), ("annotations",), dict, list, worker.analyse, job, **options)

    return [node(name) for name in notebooks]


@dataclass(frozen=True)
class FirstPageJob:
    """pages : of the notebooks that are done. stopped : beginning of the path of the first page as it is where the run
    is stopped; the digest of the page as it is now follows."""

    pages: tuple[PageJob, ...]
    index: IndexJob
    stopped: Path


@timed
def write(job: FirstPageJob) -> str:
    """Write the pages of notebooks, then the first, which leads to them; and its form for a run that is stopped."""
    from judgebook.summary.findings import USED

    for page in job.pages:
        rendering.render(page)
    index = job.index
    awaited = {row.name for row in index.rows if row.state == WAITED}
    first = rendering.first_page(index)
    answers = [one for one in first.answers if one.key != LAST or awaited.isdisjoint(USED[LAST])]
    drawn, _ = rendering.drawn(index, replace(first, answers=answers))
    with store.atomic(index.target) as temporary:
        temporary.write_text(drawn(index), encoding="utf-8")
        stopped = replace(index, rows=tuple(map(_stopped, index.rows)))
        digest = sha256(temporary.read_bytes()).hexdigest()
        page_jobs.write(job.stopped.with_name(f"{job.stopped.name}{digest}"), drawn(stopped))
    return ""


def _stopped(row: Row) -> Row:
    return replace(row, state="not run", reason=STOPPED) if row.state in TO_COME else row
