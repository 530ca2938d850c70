"""What the nodes of a report do, and what they are given: the pages of notebooks, the first page and the one that
searches all are rendered; the states of notebooks that pages tell, and how a report is cited."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from judgebook import __version__, project
from judgebook.pipeline.worker import Outcome, timed
from judgebook.report.blocks import Block, blocks, first_sentences, section
from judgebook.report.html import Cite
from judgebook.study import store
from judgebook.study.params import Study
from judgebook.study.yaml_file import parse

if TYPE_CHECKING:
    from judgebook.report.html import Cite, Page

#: the first page, and the page that searches a report
INDEX, SEARCH = "index", "search"
#: the node that writes the first page before all notebooks are there
FIRST_PAGE = "first page"
#: state of a notebook that this run has still to settle
WAITED = "waited for"
#: the notebook whose findings stand before the answers
DESIGN = "17_design_check"
#: why a notebook that nobody asked for has no results
NOT_RUN = "`{command} --study {study} --only {name}` answers this"
#: state of a notebook that was not run and has no page, but whose analysis was carried out (`pipeline.audit`)
COMPUTED = "computed"


@dataclass(frozen=True)
class Shared:
    """What all pages of a study have in common. whole : as of `report.html.Page`."""

    title: str
    simulated: bool
    nav: tuple[tuple[str, str], ...]
    note: str = ""
    sampling: Mapping[str, Any] | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    whole: bool = True

    def page(self, name: str = "") -> Page:
        """The page of a notebook or an extra; without a name, the first page."""
        from judgebook.report.html import Page

        return Page(self.title, self.simulated, name, self.nav, self.note, self.sampling, self.labels, self.whole)


@dataclass(frozen=True)
class PageJob:
    """files : figures, tables and results, copied to the report."""

    shared: Shared
    name: str
    heading: str
    executed: Path
    files: tuple[Path, ...]
    target: Path


@dataclass(frozen=True)
class Row:
    """A notebook as listed on the index. executed is None where it has no page; state and reason say why. note : on a
    page of an earlier run."""

    name: str
    title: str
    question: str
    executed: Path | None
    state: str
    reason: str
    note: str = ""

    @property
    def has_results(self) -> bool:
        return self.executed is not None or self.state == COMPUTED


@dataclass(frozen=True)
class IndexJob:
    """pages : of notebooks, which are rendered with it: where it is written before the rest is there."""

    shared: Shared
    study: str
    description: str
    unconfirmed: tuple[tuple[str, str], ...]
    profile: dict[str, Any]
    rows: tuple[Row, ...]
    made: tuple[tuple[str, str], ...]
    cite: Cite
    target: Path
    pages: tuple[PageJob, ...] = ()


def earlier(job: IndexJob, names: Collection[str]) -> tuple[str, ...]:
    """The notebooks among `names` whose results are from an earlier run."""
    return tuple(sorted(row.name for row in job.rows if row.note and row.name in names))


def shown_on(executed: Path) -> list[Block]:
    """What the page of a notebook shows, without what is private."""
    return [b for b in blocks(json.loads(executed.read_text(encoding="utf-8"))) if not b.private]


def finding(shown: list[Block]) -> str:
    """What the first page says of a notebook."""
    return first_sentences(section(shown, "What we see"))


def taken(executed: Path) -> list[Any]:
    """All that the first page takes from the page of a notebook."""
    shown = shown_on(executed)
    return [finding(shown), *([b.kind, b.number, b.name] for b in shown if b.name)]


def write(path: Path, text: str) -> None:
    """Put a page in its place."""
    with store.atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


#: of the text and figures of reports, and of the code that notebooks show
TEXT, CODE = "CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/)", "GPL-3.0-or-later"


def cite(study: Study, date: str) -> Cite:
    """Of the report of a study. date : of its newest notebook, ISO 8601."""
    authors, url = list(study.authors), study.report_url or address()
    what = f"Human evaluation report, made with judgebook {__version__}"
    who = f"{'; '.join(authors)}. " if authors else ""
    dated = f"{what}, {date}" if date else what
    text = f"{who}{study.title}{f' ({date[:4]})' if date else ''}. {dated}.{f' {url}' if url else ''}"
    fields = {
        "title": "{" + _tex(study.title) + "}",
        "author": " and ".join(_tex(name) for name in authors),
        "year": date[:4],
        "note": _tex(dated),
        "url": url,
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    key = re.sub(r"\W", "", study.key) + date[:4]
    bibtex = "\n".join([f"@misc{{{key},", *lines, "}"])
    licences = (("Text and figures", TEXT), ("Code", CODE), ("Data", study.licence or "not stated"))
    return Cite(text, bibtex, study.citation, licences)


def address() -> str:
    """Where the project is published; empty where that is not known."""
    path = project.ROOT / "CITATION.cff"
    return str(parse(path.read_text(encoding="utf-8"))[0].get("repository-code", "")) if path.is_file() else ""


def _tex(text: str) -> str:
    """Plain text as the value of a field of BibTeX."""
    return re.sub(r"([&%$#_])", r"\\\1", re.sub(r"[{}\\]", "", text))


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
