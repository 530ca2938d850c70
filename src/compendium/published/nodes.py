"""The nodes that make these pages; the process that plans a run imports nothing heavy here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from compendium.published import CELLS, ELEMENTS, mapping
from compendium.published.question import SCOREBOARD
from judgebook.pipeline import page_jobs
from judgebook.pipeline.cache import digest
from judgebook.pipeline.nodes import Node, Parts
from judgebook.pipeline.pages import Pages
from judgebook.pipeline.worker import timed
from judgebook.report.blocks import GLOSSARY
from judgebook.study import store


def cells(pages: Pages, after: tuple[str, ...]) -> Node:
    """The page of every printed number, and `reports/replication.csv`."""
    found = pages.of.home / "results" / f"{SCOREBOARD.notebook}.cells.parquet"
    target, csv = pages.folder / f"{CELLS}.html", pages.folder.parent / "replication.csv"

    def parts() -> Parts:
        return {"scoreboard": pages.of.cache.file(found), "navigation": _others(pages)} | pages.of.code(__name__)

    return Node(
        pages.of.key,
        CELLS,
        after,
        parts,
        lambda: [target, csv],
        write_cells,
        lambda: CellsJob(pages.shared(), found, target, csv, pages.folder.parent),
        lambda: None if found.is_file() else "no result",
        soft=True,
        quiet=True,
    )


def elements(pages: Pages, after: tuple[str, ...]) -> Node:
    """The page of the papers' tables, figures and procedures."""
    target, files = pages.folder / f"{ELEMENTS}.html", (mapping.FOLDER / "elements.yaml", GLOSSARY)

    def parts() -> Parts:
        registry = {path.name: pages.of.cache.file(path) for path in files}
        return registry | {"navigation": _others(pages)} | pages.of.code(__name__)

    return Node(
        pages.of.key,
        ELEMENTS,
        after,
        parts,
        lambda: [target],
        write_elements,
        lambda: ElementsJob(pages.shared(), target, pages.folder.parent),
        soft=True,
        quiet=True,
    )


def _others(pages: Pages) -> str:
    """A digest of what a page that links to other studies shows around itself, and of their pages."""
    shared, reports = pages.shared(), pages.folder.parent
    every = [p.relative_to(reports).as_posix() for p in sorted(reports.glob("*/*.html"))]
    return digest([shared.title, shared.nav, [p for p in every if not p.startswith(f"{pages.of.key}/")]])


@dataclass(frozen=True)
class CellsJob:
    """cells : the scoreboard. target : its page. csv : the same as a table. pages : folder of all studies' pages."""

    shared: page_jobs.Shared
    cells: Path
    target: Path
    csv: Path
    pages: Path


def _address(pages: Path, study: str, notebook: str, place: str) -> str:
    """Of a place on the page of a notebook, from that of another study; empty where there is no such page."""
    exists = (pages / study / f"{notebook}.html").is_file()
    return f"../{study}/{notebook}.html" + (f"#{place}" if place else "") if exists else ""


@timed
def write_cells(job: CellsJob) -> str:
    """Render the page of every printed number, and write the same as CSV."""
    import pandas as pd

    from compendium.published import views
    from compendium.published.consistency import checks
    from judgebook.report import html as report

    def link(study: str, notebook: str, shows: str) -> str:
        return _address(job.pages, study, notebook, f"{notebook}_{shows}" if shows else "")

    cells = pd.read_parquet(job.cells)
    store.write_frame(cells, job.csv)
    about = report.Page(job.shared.title, job.shared.simulated, CELLS, job.shared.nav)
    titles = {paper.paper: paper.title for paper in checks.load()[1]}
    page_jobs.write(job.target, views.every_number(cells, about, titles, link, f"../{job.csv.name}"))
    return ""


@dataclass(frozen=True)
class ElementsJob:
    """target : the page. pages : folder of all studies' pages."""

    shared: page_jobs.Shared
    target: Path
    pages: Path


@timed
def write_elements(job: ElementsJob) -> str:
    """Render the page that says where each table, figure and procedure of the papers is answered."""
    from compendium.published import elements as registry
    from compendium.published.consistency import checks
    from judgebook.report import html as report

    def link(study: str, notebook: str, section: str) -> str:
        return _address(job.pages, study, notebook, section)

    titles = {paper.paper: paper.title for paper in checks.load()[1]}
    about = report.Page(job.shared.title, job.shared.simulated, ELEMENTS, job.shared.nav)
    page_jobs.write(job.target, report.text_page(about, registry.TITLE, registry.page(registry.load(), titles, link)))
    return ""
