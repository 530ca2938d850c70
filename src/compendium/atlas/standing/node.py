"""The node that makes the page, and the figures beside it; the process that plans a run imports nothing heavy here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from compendium.atlas import declared
from compendium.atlas.standing import NAME
from judgebook.pipeline import page_jobs
from judgebook.pipeline.cache import digest
from judgebook.pipeline.nodes import Node, Parts
from judgebook.pipeline.pages import Pages
from judgebook.pipeline.worker import timed

#: notebooks whose results are compared
_NOTEBOOKS = ("03_iaa", "07_bot_performance", "16_fragility")


def node(pages: Pages, after: tuple[str, ...]) -> Node:
    """The page of a study; it needs results of some notebook."""
    of, target = pages.of, pages.folder / f"{NAME}.html"
    return Node(
        of.key,
        NAME,
        after,
        lambda: parts(pages),
        lambda: [target, *(p for p in target.with_suffix("").glob("*") if p.is_file())],
        write,
        lambda: StandingJob(pages.shared(), of.key, tuple(_results(pages)), target),
        lambda: None if _results(pages) else "no result",
        soft=True,
        quiet=True,
    )


def _results(pages: Pages) -> list[Path]:
    paths = (pages.of.home / "results" / f"{name}.parquet" for name in _NOTEBOOKS)
    return [path for path in paths if path.is_file()]


def parts(pages: Pages) -> Parts:
    """What the page depends on."""
    of, shared = pages.of, pages.shared()
    about = [shared.title, shared.nav, shared.labels, [spec.about for spec in of.study.labels.values()]]
    files = [of.home / "annotations.parquet", of.home / "params.yaml", *_results(pages)]
    atlas = [declared.FOLDER / f"{name}.csv" for name in ("studies", "labels", "values")]
    return {
        "results": digest({p.name: of.cache.file(p) for p in files}),
        "atlas": digest({p.name: of.cache.file(p) for p in [*atlas, declared.FOLDER / declared.LABELS]}),
        "study": digest(about),
    } | of.code(__name__)


@dataclass(frozen=True)
class StandingJob:
    """stored : files of results. target : the page; its files lie in a folder of that name."""

    shared: page_jobs.Shared
    study: str
    stored: tuple[Path, ...]
    target: Path


@timed
def write(job: StandingJob) -> str:
    """Write the page with its figures and table."""
    from compendium.atlas.standing.page import written

    written(job.target, job.shared, job.study, {path.stem: path for path in job.stored})
    return ""
