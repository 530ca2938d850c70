"""What the nodes of a report do: render the pages of notebooks, the first page, and the one that searches all."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name

from judgebook.pipeline.page_jobs import (
    INDEX,
    SEARCH,
    IndexJob,
    PageJob,
    Shared,
    write,
)
from judgebook.pipeline.worker import Outcome, timed
from judgebook.study import store


@timed
def page(job: PageJob) -> str:
    """Render an executed notebook and copy its files to the report."""
    render(job)
    return ""


def render(job: PageJob) -> None:
    """The same for a job that is part of another."""
    from judgebook.report import html as report

    folder = job.target.parent / "files"
    for path in job.files:
        _put(path, folder / path.name)
    nb = json.loads(job.executed.read_text(encoding="utf-8"))
    about = job.shared.page(job.name)
    files = [f"files/{p.name}" for p in job.files]
    drawings = {p.stem: p.read_text(encoding="utf-8") for p in job.files if p.suffix == ".svg"}
    write(job.target, report.notebook_page(nb, about, job.heading, files, drawings))


def _put(source: Path, target: Path) -> None:
    """A file at a second place: pictures as a link to the same content where the file system has such links, anything
    else as a copy, since a spreadsheet that saves a table in place would change the results."""
    if target.is_file() and target.samefile(source):
        return
    with store.atomic(target) as temporary:
        if source.suffix in (".pdf", ".png", ".svg"):
            with suppress(OSError):
                os.link(source, temporary)
                return
        shutil.copyfile(source, temporary)


def index(job: IndexJob) -> Outcome:
    """Render the first page: by name, as the pages of notebooks do not depend on what it follows from."""
    outcome: Outcome = resolve_name("judgebook.pipeline.first_page:index")(job)
    return outcome


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
