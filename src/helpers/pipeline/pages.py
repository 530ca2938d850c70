"""Nodes that make the report: one page per notebook, and the index."""

from __future__ import annotations

import json
import platform
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helpers import __version__
from helpers.pipeline.cache import digest
from helpers.pipeline.manifest import installed
from helpers.pipeline.nodes import Node, Parts, StudyNodes
from helpers.pipeline.worker import timed
from helpers.report.blocks import GLOSSARY
from helpers.study import store

INDEX = "index"
#: the notebook whose numbers have their own page; the names of that page and its node
SCOREBOARD, CELLS, SCOREBOARD_NODE = "90_scoreboard", "90_cells", "scoreboard"
#: the page for authors, and its node
PAPER = "paper"
#: notebooks whose results answer the questions of the first page (`summary.analysis.NOTEBOOKS`, not imported: slow)
ANSWERING = ("02_collection_stats", "03_iaa", "05_sensitivity", "07_bot_performance", "08_group_effects",
             "10_quality_control")  # fmt: skip
#: files of a notebook that its page offers
DOWNLOADS = (".pdf", ".png", ".svg", ".csv", ".tex", ".docx")
#: counts in profile.json, as named on the index
SIZES = {
    "n_annotations": "annotations",
    "n_items": "items judged",
    "n_dialogues": "dialogues",
    "n_annotators": "annotators",
}


@dataclass(frozen=True)
class Shared:
    """What all pages of a study have in common."""

    title: str
    simulated: bool
    nav: tuple[tuple[str, str], ...]
    note: str = ""


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


@dataclass(frozen=True)
class IndexJob:
    shared: Shared
    study: str
    description: str
    profile: dict[str, Any]
    rows: tuple[Row, ...]
    made: tuple[tuple[str, str], ...]
    target: Path


@timed
def page(job: PageJob) -> str:
    """Render an executed notebook and copy its files to the report."""
    from helpers.report import html as report

    folder = job.target.parent / "files"
    for path in job.files:
        with store.atomic(folder / path.name) as temporary:
            shutil.copyfile(path, temporary)
    nb = json.loads(job.executed.read_text(encoding="utf-8"))
    about = report.Page(job.shared.title, job.shared.simulated, job.name, job.shared.nav, job.shared.note)
    files = [f"files/{p.name}" for p in job.files]
    drawings = {p.stem: p.read_text(encoding="utf-8") for p in job.files if p.suffix == ".svg"}
    _write(job.target, report.notebook_page(nb, about, job.heading, files, drawings))
    return ""


@dataclass(frozen=True)
class ScoreboardJob:
    """cells : the scoreboard. target : its page. csv : the same as a table. pages : folder of all studies' pages."""

    shared: Shared
    cells: Path
    target: Path
    csv: Path
    pages: Path


@timed
def scoreboard(job: ScoreboardJob) -> str:
    """Render the page of every printed number, and write the same as CSV."""
    import pandas as pd

    from helpers.published import page as scoreboard_page
    from helpers.published.consistency import checks
    from helpers.report import html as report

    def link(study: str, notebook: str, shows: str) -> str:
        there = (job.pages / study / f"{notebook}.html").is_file()
        return f"../{study}/{notebook}.html" + (f"#{notebook}_{shows}" if shows else "") if there else ""

    cells = pd.read_parquet(job.cells)
    with store.atomic(job.csv) as temporary:
        cells.to_csv(temporary, index=False, lineterminator="\n")
    about = report.Page(job.shared.title, job.shared.simulated, CELLS, job.shared.nav)
    titles = {paper.paper: paper.title for paper in checks.load()[1]}
    titles = dict(sorted(titles.items(), key=lambda item: item[1]))
    _write(job.target, scoreboard_page.page(cells, about, titles, link, f"../{job.csv.name}"))
    return ""


@dataclass(frozen=True)
class PaperJob:
    """executed : notebooks in order. files : figures and tables. headlines : stems of figures shown first. date : of
    the newest notebook. data : digest of the raw files. target : the page; its files lie in a folder of that name."""

    shared: Shared
    study: str
    executed: tuple[Path, ...]
    files: tuple[Path, ...]
    headlines: tuple[str, ...]
    date: str
    data: str
    target: Path


@timed
def paper(job: PaperJob) -> str:
    """Write the page for authors and its files: methods, results, references, datasheet, tables, a document."""
    from helpers import __version__
    from helpers.paper import analysis, files
    from helpers.report import html as report
    from helpers.report.blocks import blocks
    from helpers.study.stored import open_study

    made = analysis.Made(job.date, __version__, job.data, platform.python_version(), installed())
    found = [b for path in job.executed for b in blocks(json.loads(path.read_text(encoding="utf-8")))]
    tables = [b.html for b in found if b.kind == "table"]
    material = analysis.gather(open_study(job.study), made)
    text = files.write(material, job.target.with_suffix(""), job.files, job.headlines, tables)
    about = report.Page(job.shared.title, job.shared.simulated, PAPER, job.shared.nav)
    _write(job.target, report.text_page(about, "For your paper", text))
    return ""


@timed
def index(job: IndexJob) -> str:
    """Render the index of a study."""
    from helpers.report import html as report

    cards = [_card(row) for row in job.rows if row.executed]
    absent = [report.Absent(r.name, r.title, r.state, r.reason) for r in job.rows if not r.executed]
    about = report.Page(job.shared.title, job.shared.simulated, "", job.shared.nav)
    parts = {"description": job.description, "answers": _answers(job), "made": job.made}
    parts |= {"facts": _sizes(job.profile), "cards": cards, "absent": absent}
    _write(job.target, report.index_page(about, **parts))
    return ""


def _answers(job: IndexJob) -> Iterator[Any]:
    from helpers.display import style
    from helpers.report import html as report
    from helpers.summary import analysis, findings

    paged = {row.name for row in job.rows if row.executed}
    reasons = {row.name: row.reason for row in job.rows if not row.executed}
    for found in findings.answers(analysis.read(job.study, reasons)):
        there = found.notebook in paged
        evidence = (found.notebook.split("_")[0], f"{found.notebook}.html") if there else ("", "")
        figure = {}
        if found.plot:
            figure = {"alt": found.plot.alt, "caption": found.plot.caption}
            told = {"name": found.key, "alt": found.plot.alt, "simulated": job.shared.simulated}
            figure["svg"] = style.drawing(found.plot.fig, "svg", **told).decode()
        yield report.Answered(found.key, found.question, found.text, evidence=evidence, **figure)


def _sizes(profile: dict[str, Any]) -> list[tuple[str, str]]:
    """What the index counts: of all corpora, which a description of the evaluation need not cover."""
    everywhere = " in all corpora" if len(profile.get("corpora", ())) > 1 else ""
    titles = SIZES | {key: SIZES[key] + everywhere for key in ("n_annotations", "n_dialogues")}
    if profile.get("features", {}).get("known_annotators"):
        titles["n_annotators"] = "annotators (positions in a list, not identified)"
    facts = [(title, f"{profile[key]:,}") for key, title in titles.items() if key in profile]
    lists = {"systems": f"systems{everywhere}", "labels": "labels"}
    return facts + [(title, f"{len(profile[key]):,}") for key, title in lists.items() if key in profile]


def _card(row: Row) -> Any:
    from helpers.report import html as report
    from helpers.report.blocks import blocks, first_sentences, section

    found = blocks(json.loads(row.executed.read_text(encoding="utf-8")))
    finding = first_sentences(section(found, "What we see"))
    return report.Card(row.name, row.title, row.question, finding, row.note)


def _write(path: Path, text: str) -> None:
    with store.atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


class Pages:
    """Makes the page nodes of a study; `state(name)` gives the state of a notebook and the reason."""

    def __init__(self, study: StudyNodes, state: Callable[[str], tuple[str, str]]):
        self.of, self.state = study, state
        self.folder = store.out_root() / "reports" / study.key
        self._now: set[str] = set()

    @property
    def index_path(self) -> Path:
        return self.folder / "index.html"

    def nodes(self, notebooks: list[str]) -> list[Node]:
        """A node for each notebook of the study, and the index; `notebooks` are those of this run."""
        every, self._now = list(self.of.entries), set(notebooks)
        pages = [self._page(name, tuple(notebooks)) for name in every]
        pages += [self._scoreboard(tuple(notebooks))] if SCOREBOARD in every else []
        pages += [] if self.of.study.across else [self._paper(tuple(notebooks))]
        last = Node(
            self.of.key,
            INDEX,
            (*notebooks, *(n.name for n in pages)),
            self._index_parts,
            lambda: [self.index_path],
            index,
            self._index_job,
            soft=True,
            quiet=True,
        )
        return [*pages, last]

    def _page(self, name: str, after: tuple[str, ...]) -> Node:
        target = self.folder / f"{name}.html"
        return Node(
            self.of.key,
            f"page {name}",
            after,
            lambda: self._page_parts(name),
            lambda: [target, *(target.parent / "files" / p.name for p in self._files(name))],
            page,
            lambda: PageJob(
                self._shared(name), name, self.of.facts(name).title, self.of.executed(name), self._files(name), target
            ),
            lambda: None if self._has_page(name) else "no result",
            soft=True,
            quiet=True,
        )

    def _scoreboard(self, after: tuple[str, ...]) -> Node:
        """The page of every printed number, and `reports/replication.csv`."""
        cells = self.of.home / "results" / f"{SCOREBOARD}.cells.parquet"
        target, csv = self.folder / f"{CELLS}.html", self.folder.parent / "replication.csv"
        return Node(
            self.of.key,
            SCOREBOARD_NODE,
            after,
            lambda: self._scoreboard_parts(cells),
            lambda: [target, csv],
            scoreboard,
            lambda: ScoreboardJob(self._shared(), cells, target, csv, self.folder.parent),
            lambda: None if cells.is_file() else "no result",
            soft=True,
            quiet=True,
        )

    def _paper(self, after: tuple[str, ...]) -> Node:
        """The page for authors and the files beside it."""
        target = self.folder / f"{PAPER}.html"
        return Node(
            self.of.key,
            PAPER,
            after,
            self._paper_parts,
            lambda: [target, *(p for p in target.with_suffix("").glob("*") if p.is_file())],
            paper,
            lambda: PaperJob(
                self._shared(),
                self.of.key,
                tuple(self.of.executed(n) for n in self.of.entries if self._has_page(n)),
                tuple(p for n in self.of.entries if self._has_page(n) for p in self._files(n)),
                tuple(f"{n}_{e.headline}" for n, e in self.of.entries.items() if e.headline),
                self.of.manifest.date(),
                digest(self.of.raw()),
                target,
            ),
            lambda: None if any(self._has_page(n) for n in self.of.entries) else "no result",
            soft=True,
            quiet=True,
        )

    def _paper_parts(self) -> Parts:
        shared, names = self._shared(), [n for n in self.of.entries if self._has_page(n)]
        paths = [p for n in names for p in (*self._files(n), *(self.of.home / "results").glob(f"{n}.parquet"))]
        about = [shared.title, shared.nav, self.of.manifest.date(), shutil.which("pandoc") is not None]
        return {
            "results": digest({p.name: self.of.cache.file(p) for p in paths}),
            "study": digest([about, self.of.raw()]),
            "params.yaml": self.of.cache.file(self.of.home / "params.yaml"),
        } | self.of.code("helpers.paper.files", "helpers.report.html", "helpers.pipeline.pages")

    def _scoreboard_parts(self, cells: Path) -> Parts:
        shared = self._shared()
        pages = [p.relative_to(self.folder.parent).as_posix() for p in sorted(self.folder.parent.glob("*/*.html"))]
        about = digest([shared.title, shared.nav, [p for p in pages if not p.startswith(f"{self.of.key}/")]])
        return {"scoreboard": self.of.cache.file(cells), "navigation": about} | (
            self.of.code("helpers.published.page", "helpers.published.consistency.checks", "helpers.pipeline.pages")
        )

    def _has_page(self, name: str) -> bool:
        return name in self.of.manifest.nodes and self.of.executed(name).is_file()

    def _files(self, name: str) -> tuple[Path, ...]:
        return tuple(p for p in sorted(self.of.manifest.outputs(name)) if p.suffix in DOWNLOADS)

    def _shared(self, name: str | None = None) -> Shared:
        """What the page of a notebook, or the index, shares with the others."""
        nav = tuple((n, self.of.facts(n).title) for n in self.of.entries if self._has_page(n))
        nav += ((CELLS, "Every printed number"),) if SCOREBOARD in dict(nav) else ()
        nav += ((PAPER, "For your paper"),) if nav and not self.of.study.across else ()
        simulated = self.of.study.simulated and (name is None or self.of.entries[name].of_study)
        return Shared(self.of.study.title, simulated, nav, self._note(name) if name else "")

    def _note(self, name: str) -> str:
        """On a page of an earlier run: what has changed since; empty where nothing has."""
        if name in self._now or not self._has_page(name):
            return ""
        why = self.of.outdated(name)
        redo = f"python run_all.py --study {self.of.key} --only {name}"
        return (
            f"This page is of an earlier run, with other settings or data ({why}). To update it: {redo}" if why else ""
        )

    def _page_parts(self, name: str) -> Parts:
        shared = self._shared(name)
        contents = {p.name: self.of.cache.file(p) for p in [self.of.executed(name), *self._files(name)]}
        around = [shared.title, shared.simulated, shared.nav, shared.note]
        parts = {"notebook": digest(contents), "navigation": digest(around), "glossary": self.of.cache.file(GLOSSARY)}
        return parts | self.of.code("helpers.report.html", "helpers.pipeline.pages")

    def _rows(self) -> tuple[Row, ...]:
        rows = []
        for name in self.of.entries:
            found, executed = self.of.facts(name), self.of.executed(name) if self._has_page(name) else None
            state, reason = ("", "") if executed else self.state(name)
            note = self._note(name) if executed else ""
            rows.append(Row(name, found.title, found.question, executed, state, reason, note))
        return tuple(rows)

    def _index_parts(self) -> Parts:
        rows, shared = self._rows(), self._shared()
        contents = [self.of.cache.file(r.executed) if r.executed else [r.state, r.reason] for r in rows]
        about = [shared.title, shared.simulated, self.of.study.description, self._made()]
        listed = [[r.name, r.title, r.question, r.note] for r in rows]
        return {
            "notebooks": digest([contents, listed]),
            "study": digest(about),
            "profile.json": self.of.cache.file(self.of.home / "profile.json"),
            **{p.name: self.of.cache.file(p) for p in self._evidence()},
        } | self.of.code("helpers.report.html", "helpers.summary.findings", "helpers.pipeline.pages")

    def _evidence(self) -> list[Path]:
        """What the answers of the first page follow from."""
        results = (self.of.home / "results" / f"{name}.parquet" for name in ANSWERING)
        return [p for p in (self.of.home / "annotations.parquet", *results) if p.is_file()]

    def _index_job(self) -> IndexJob:
        study = self.of.study
        return IndexJob(
            self._shared(),
            self.of.key,
            study.description,
            self.of.profile(),
            self._rows(),
            self._made(),
            self.index_path,
        )

    def _made(self) -> tuple[tuple[str, str], ...]:
        study = self.of.study
        seeds = ", ".join(f"{name} {seed}" for name, seed in study.seeds.model_dump().items())
        bootstrap = f"{study.bootstrap.n_resamples:,} resamples, {study.bootstrap.confidence:.0%} intervals"
        changed = ", ".join(_flat(self.of.spec.overrides)) or "nothing"
        rows = [
            ("Command", f"python run_all.py --study {study.key}"),
            ("Changed with --set", changed),
            ("Seeds", seeds),
            ("Bootstrap", bootstrap),
            ("Date and version", f"{self.of.manifest.date()}, version {__version__} of the project"),
            ("Data (SHA-256)", "" if study.across else digest(self.of.raw())),
            ("Citation", study.citation),
            ("Licence of the data", study.licence),
        ]
        return tuple((name, value) for name, value in rows if value)


def _flat(tree: dict, prefix: str = "") -> list[str]:
    out = []
    for key, value in tree.items():
        path = f"{prefix}.{key}" if prefix else key
        out += _flat(value, path) if isinstance(value, dict) else [f"{path}={value}"]
    return out
