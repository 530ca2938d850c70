"""The node's work for the search of a report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from judgebook.pipeline.page_jobs import INDEX, SEARCH, Shared, write
from judgebook.pipeline.worker import timed


@dataclass(frozen=True)
class SearchJob:
    """pages : of the report, in order. target : the page that searches them."""

    shared: Shared
    study: str
    pages: tuple[Path, ...]
    target: Path


@timed
def search(job: SearchJob) -> str:
    """Render the page that searches a report."""
    from judgebook.display.names import display_names
    from judgebook.report import html as report
    from judgebook.report.search import entries
    from judgebook.study.stored import open_study

    study = open_study(job.study)
    frames = [] if study.params.across else [study.frame("annotations")]
    names = display_names(study.params, *frames)
    known = {title for kind in ("group", "system", "corpus") for title in names.titles[kind].values()}
    known |= {label.title for label in names.labels.values()}
    texts = {path.stem: path.read_text(encoding="utf-8") for path in job.pages}
    titles = {INDEX: "First page"} | dict(job.shared.nav)
    about = report.Page(job.shared.title, job.shared.simulated, SEARCH, job.shared.nav)
    found = entries(texts, known)
    write(job.target, report.search_page(about, "Search this report", found, {n: titles[n] for n in texts}))
    return ""
