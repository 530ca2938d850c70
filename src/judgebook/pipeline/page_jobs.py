"""What the pages of a report are made from: jobs of nodes, and the states of notebooks that pages tell."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgebook.study import store

if TYPE_CHECKING:
    from judgebook.report.first_page import Cite
    from judgebook.report.html import Page

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


def write(path: Path, text: str) -> None:
    """Put a page in its place."""
    with store.atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
