"""The node that makes the page, and the figures beside it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from judgebook.extras.atlas import declared, facts, values
from judgebook.extras.atlas.standing import strips, views, words
from judgebook.extras.atlas.standing.declaration import NAME, TITLE
from judgebook.pipeline import rendering
from judgebook.pipeline.cache import digest
from judgebook.pipeline.nodes import Node, Parts
from judgebook.pipeline.pages import Pages
from judgebook.pipeline.reading.composed import PageRun, Sections, composed
from judgebook.pipeline.worker import timed
from judgebook.study import results
from judgebook.study.results import Results
from judgebook.study.stored import open_study
from judgebook.summary import evidence

#: notebooks whose results are compared
_NOTEBOOKS = ("03_iaa", "05_sensitivity", "07_bot_performance", "16_fragility")


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
    } | of.code(__name__, "judgebook.report.html")


@dataclass(frozen=True)
class StandingJob:
    """stored : files of results. target : the page; its files lie in a folder of that name."""

    shared: rendering.Shared
    study: str
    stored: tuple[Path, ...]
    target: Path


@timed
def write(job: StandingJob) -> str:
    """Write the page with its figures and table."""
    study = open_study(job.study).params
    found = of_study(job.study, {path.stem: path for path in job.stored})
    titles = strips.atlas("studies").set_index("study")["title"].to_dict()
    shown: Sections = [
        ("What we see", [views.answer(found, len(study.label_list()))]),
        ("Beside public studies", views.figures(found, titles)),
        ("All numbers", [views.table(found)]),
    ]
    run = PageRun(study, NAME, NAME, folder=job.target.with_suffix(""))
    question = f"# {TITLE}\n\nHow do these results compare with those of public studies?"
    rendering.write(job.target, composed(run, question, shown, job.shared.page(NAME), TITLE))
    return ""


def of_study(name: str, stored: dict[str, Path]) -> list[strips.Strip]:
    """The strips of a study that was run. stored : notebook -> its results."""
    read = evidence.read(name, {}, computed=False)
    kinds = words.kinds(read.study)
    by_notebook = defaultdict(Results, {name: results.read(path) for name, path in stored.items()})
    rows = values.rows(by_notebook, evidence.parts(read))
    about = {label: kind for (_, label), kind in kinds.items()}
    about = {label.id: about.get(label.id, "") for label in read.study.label_list()}
    labels = facts.label_rows(read, declared.About(genre="", judges="", labels=about))
    keys = zip(labels["method"], labels["label"], strict=True)
    labels = labels.assign(kind=[kinds.get(key) for key in keys])
    own = (labels, rows.assign(study=name))
    return strips.strips(own, (strips.atlas("labels"), strips.atlas("values")), read.study.label_list())
