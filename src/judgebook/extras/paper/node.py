"""The node that makes the page for authors, and the files beside it."""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass
from pathlib import Path

from judgebook import __version__
from judgebook.extras.paper import NAME, TITLE
from judgebook.pipeline import page_jobs
from judgebook.pipeline.cache import digest
from judgebook.pipeline.manifest import installed
from judgebook.pipeline.nodes import Node, Parts
from judgebook.pipeline.pages import Pages
from judgebook.pipeline.worker import timed
from judgebook.report.blocks import GLOSSARY
from judgebook.summary.answers import document


def node(pages: Pages, after: tuple[str, ...]) -> Node:
    """The page of a study; it needs a page of some notebook, and the answers of the first page."""
    of, target = pages.of, pages.folder / f"{NAME}.html"
    return Node(
        of.key,
        NAME,
        (*after, page_jobs.INDEX),
        lambda: parts(pages),
        lambda: [target, *(p for p in target.with_suffix("").glob("*") if p.is_file())],
        write,
        lambda: PaperJob(
            pages.shared(),
            of.key,
            tuple(of.executed(n) for n in of.entries if pages.has_page(n)),
            tuple(p for n in of.entries if pages.has_page(n) for p in pages.files(n)),
            tuple(f"{n}_{e.headline}" for n, e in of.entries.items() if e.headline),
            of.manifest.date(),
            digest(of.raw()),
            target,
        ),
        lambda: None if any(pages.has_page(n) for n in of.entries) else "no result",
        soft=True,
        quiet=True,
    )


def parts(pages: Pages) -> Parts:
    """What the page and its files depend on."""
    of, shared, names = pages.of, pages.shared(), [n for n in pages.of.entries if pages.has_page(n)]
    paths = [of.executed(n) for n in names]  # captions, tables, and what is private
    paths += [path for path in [document.path(of.key)] if path.is_file()]
    paths += [p for n in names for p in (*pages.files(n), *(of.home / "results").glob(f"{n}.parquet"))]
    about = [shared.title, shared.nav, shared.labels, of.manifest.date()]
    return {
        "results": digest({p.name: of.cache.file(p) for p in paths}),
        "study": digest([about, of.raw()]),
        "params.yaml": of.cache.file(of.home / "params.yaml"),
        "glossary": of.cache.file(GLOSSARY),
    } | of.code("judgebook.extras.paper.files", "judgebook.extras.paper.node", "judgebook.report.html")


@dataclass(frozen=True)
class PaperJob:
    """executed : notebooks in order. files : figures and tables. headlines : stems of figures shown first. date : of
    the newest notebook. data : digest of the raw files. target : the page; its files lie in a folder of that name."""

    shared: page_jobs.Shared
    study: str
    executed: tuple[Path, ...]
    files: tuple[Path, ...]
    headlines: tuple[str, ...]
    date: str
    data: str
    target: Path


@timed
def write(job: PaperJob) -> str:
    """Write the page for authors and its files: methods, results, references, datasheet, tables, a document."""
    from judgebook.extras.paper import files, findings
    from judgebook.report import html as report
    from judgebook.report.blocks import blocks
    from judgebook.study.stored import open_study

    made = findings.Made(job.date, __version__, job.data, platform.python_version(), installed())
    every = [b for path in job.executed for b in blocks(json.loads(path.read_text(encoding="utf-8")))]
    # a paper is for others
    visible, hidden = [b for b in every if not b.private], {b.name for b in every if b.private and b.name}
    files_ = tuple(p for p in job.files if p.stem not in hidden)
    material = findings.gather(open_study(job.study), made)
    captions = {b.name: b.caption for b in visible if b.kind == "figure"}
    answers = document.read_answers(job.study).answers if document.path(job.study).is_file() else []
    text = files.write(material, job.target.with_suffix(""), files_, job.headlines, captions, answers)
    page_jobs.write(job.target, report.text_page(job.shared.page(NAME), TITLE, text))
    return ""
