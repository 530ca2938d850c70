"""Nodes that make the report: a page per notebook, the first page, and pages of extras."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from judgebook import __version__, plugins, project
from judgebook.pipeline import page_jobs
from judgebook.pipeline.cache import digest
from judgebook.pipeline.nodes import Node, Parts, StudyNodes
from judgebook.pipeline.page_jobs import FIRST_PAGE, INDEX, SEARCH, WAITED, cite
from judgebook.report.blocks import GLOSSARY
from judgebook.sources.ids import recorded
from judgebook.study import store
from judgebook.study.definitions import meanings
from judgebook.study.questions import declared, on_first_page

#: what a report uses sampling weights for, and what not
WEIGHTED = (
    "rates, means, shares of comparisons, strengths and ranks of systems, differences between them, estimates assisted"
    " by a judge, Krippendorff's alpha and Gwet's AC"
)
UNWEIGHTED = "other measures of agreement, effects of who judged, correlations, times and costs, plans, and counts"
#: beside the first page: the answers as data, and a summary, where there are answers
BESIDE = ("answers.json", "summary.html", "summary.png")
#: files of a notebook that its page offers
DOWNLOADS = (".pdf", ".png", ".svg", ".csv", ".tex")


class Pages:
    """Makes the page nodes of a study; `state(name)` gives the state of a notebook and the reason, `awaited(name)`
    whether this run has still to settle it."""

    def __init__(
        self,
        study: StudyNodes,
        state: Callable[[str], tuple[str, str]],
        awaited: Callable[[str], bool] = lambda name: False,
    ):
        self.of, self.state, self.awaited = study, state, awaited
        self.folder = store.out_root() / "reports" / study.key
        self._now: set[str] = set()

    @property
    def index_path(self) -> Path:
        return self.folder / "index.html"

    def nodes(self, notebooks: list[str]) -> list[Node]:
        """The index and a node for each notebook of the study; `notebooks` are those of this run.

        The first is that of the first page before the rest is there. None of the others needs another, but the search
        all others. Those that may take long come first, so that they run at the same time.
        """
        every, self._now = list(self.of.entries), set(notebooks)
        after = (*notebooks, FIRST_PAGE)
        nodes = [page.node(self, tuple(notebooks)) for page in plugins.pages(self.of.study)]
        nodes += [self._index(after), *(self._page(name, after) for name in every)]
        return [self._early(notebooks), *nodes, self._search(tuple(node.name for node in nodes))]

    def _early(self, notebooks: list[str]) -> Node:
        """The first page, and those of the notebooks it waits for that are done, while others are computed.

        The final page takes its place, whatever is recorded of it: its digest is another.
        """
        first = [name for name in notebooks if self.of.entries[name].early]

        def unneeded() -> str | None:
            done = any(self.state(name)[0] == "done" for name in first)
            current = not done and not self.of.manifest.why(INDEX, self._index_parts(), self.of.cache)
            return "the whole is there, or nothing is" if self.whole or current or not pages() else None

        def pages() -> tuple[page_jobs.PageJob, ...]:
            return tuple(self._page_job(name) for name in first if self.has_page(name))

        return Node(
            self.of.key,
            FIRST_PAGE,
            tuple(first),
            dict,
            list,
            page_jobs.index,
            lambda: replace(self._index_job(), pages=pages()),
            unneeded,
            soft=True,
            quiet=True,
            recorded=False,
            first=True,
        )

    def _index(self, after: tuple[str, ...]) -> Node:
        """The first page of the study's report."""
        return Node(
            self.of.key,
            INDEX,
            after,
            self._index_parts,
            lambda: [self.index_path, *(p for n in BESIDE if (p := self.folder / n).is_file())],
            page_jobs.index,
            self._index_job,
            soft=True,
            quiet=True,
        )

    def _page(self, name: str, after: tuple[str, ...]) -> Node:
        target = self.folder / f"{name}.html"
        return Node(
            self.of.key,
            f"page {name}",
            after,
            lambda: self._page_parts(name),
            lambda: [target, *(target.parent / "files" / p.name for p in self.files(name))],
            page_jobs.page,
            lambda: self._page_job(name),
            lambda: None if self.has_page(name) else "no result",
            soft=True,
            quiet=True,
            listed=True,
        )

    def _page_job(self, name: str) -> page_jobs.PageJob:
        title, executed, target = self.of.facts(name).title, self.of.executed(name), self.folder / f"{name}.html"
        return page_jobs.PageJob(self.shared(name), name, title, executed, self.files(name), target)

    def _search(self, after: tuple[str, ...]) -> Node:
        """The page that searches all others."""
        target = self.folder / f"{SEARCH}.html"

        def pages() -> tuple[Path, ...]:
            every = (self.folder / f"{name}.html" for name in (INDEX, *dict(self.shared().nav)))
            return tuple(path for path in every if path.is_file())

        return Node(
            self.of.key,
            SEARCH,
            after,
            lambda: (
                {"pages": digest({p.name: self.of.cache.file(p) for p in pages()})}
                | self.of.code("judgebook.report.html", "judgebook.pipeline.page_jobs")
            ),
            lambda: [target],
            page_jobs.search,
            lambda: page_jobs.SearchJob(self.shared(), self.of.key, pages(), target),
            lambda: None if self.shared().nav else "no result",
            soft=True,
            quiet=True,
        )

    def has_page(self, name: str) -> bool:
        """Whether a notebook has been run and can be shown."""
        return name in self.of.manifest.nodes and self.of.executed(name).is_file() and not self.awaited(name)

    @property
    def whole(self) -> bool:
        """Whether this run has settled every notebook."""
        return not any(self.awaited(name) for name in self.of.entries)

    def files(self, name: str) -> tuple[Path, ...]:
        """Figures, tables and results of a notebook, which its page offers."""
        outputs = sorted(self.of.manifest.outputs(name))
        offered = [p for p in outputs if p.suffix in DOWNLOADS]
        if self.of.home / "results" / f"{name}.csv" not in offered:  # too many rows for a spreadsheet
            offered += [p for p in outputs if p == self.of.home / "results" / f"{name}.parquet"]
        return tuple(offered)

    def shared(self, name: str | None = None) -> page_jobs.Shared:
        """What the page of a notebook, or the index, shares with the others."""
        nav = tuple((n, self.of.facts(n).title) for n in self.of.entries if self.has_page(n))
        nav += tuple((page.name, page.title) for page in plugins.pages(self.of.study)) if nav and self.whole else ()
        of_study = name is None or self.of.entries[name].of_study
        simulated, sampling = self.of.study.simulated and of_study, self._sampling(name) if of_study else None
        labels = meanings(self.of.study) if of_study else {}
        note = self._note(name) if name else ""
        return page_jobs.Shared(self.of.study.title, simulated, nav, note, sampling, labels, self.whole)

    def _sampling(self, name: str | None) -> dict | None:
        """What a page says of sampling weights, where they differ: of what is on the page of a notebook, or (None) of
        what the whole report uses them for."""
        sampling = self.of.profile().get("sampling")
        if not sampling:
            return None
        if name is None:
            return sampling | {"weighted": WEIGHTED, "unweighted": UNWEIGHTED}
        entry = self.of.entries[name]
        rest = "anything else" if entry.weighted else "all results of this page"
        return sampling | {"weighted": entry.weighted, "unweighted": entry.unweighted or rest}

    def _note(self, name: str) -> str:
        """On a page of an earlier run: what has changed since; empty where nothing has."""
        if name in self._now or not self.has_page(name):
            return ""
        why = self.of.outdated(name)
        redo = f"{project.command()} --study {self.of.key} --only {name}"
        return (
            f"This page is from an earlier run, with other settings or data ({why}). To update it: {redo}"
            if why
            else ""
        )

    def _page_parts(self, name: str) -> Parts:
        shared = self.shared(name)
        contents = {p.name: self.of.cache.file(p) for p in [self.of.executed(name), *self.files(name)]}
        around = [shared.title, shared.simulated, shared.nav, shared.note, shared.sampling, shared.labels]
        parts = {"notebook": digest(contents), "navigation": digest(around), "glossary": self.of.cache.file(GLOSSARY)}
        return parts | self.of.code("judgebook.report.html", "judgebook.pipeline.page_jobs")

    def _rows(self) -> tuple[page_jobs.Row, ...]:
        rows = []
        for name in self.of.entries:
            about, executed = self.of.facts(name), self.of.executed(name) if self.has_page(name) else None
            state, reason = ("", "") if executed else (WAITED, "") if self.awaited(name) else self.state(name)
            note = self._note(name) if executed else ""
            rows.append(page_jobs.Row(name, about.title, about.question, executed, state, reason, note))
        return tuple(rows)

    def _index_parts(self) -> Parts:
        rows, shared = self._rows(), self.shared()
        contents = [
            self.of.cache.derived("first page", r.executed, page_jobs.taken) if r.executed else [r.state, r.reason]
            for r in rows
        ]
        about = [shared.title, shared.simulated, shared.nav, shared.sampling, shared.labels, self.of.study.description]
        about += [self._made(), self.of.study.authors, self.of.study.report_url, self.of.study.citation]
        about += [self.of.study.unconfirmed] if self.of.study.unconfirmed else []
        about += [part.model_dump() for part in (self.of.study.inference, self.of.study.iaa, self.of.study.costs)]
        listed = [[r.name, r.title, r.question, r.note] for r in rows]
        return {
            "notebooks": digest([contents, listed]),
            "study": digest(about),
            "glossary": self.of.cache.file(GLOSSARY),
            "profile.json": self.of.cache.file(self.of.home / "profile.json"),
            **{p.name: self.of.cache.file(p) for p in self._evidence()},
        } | self.of.code("judgebook.pipeline.first_page", *on_first_page().values())

    def _evidence(self) -> list[Path]:
        """What the answers of the first page follow from."""
        names = [name for name, question in declared().items() if question.answers or question.first_page]
        results = (self.of.home / "results" / f"{name}.parquet" for name in names)
        return [p for p in (self.of.home / "annotations.parquet", *results) if p.is_file()]

    def _index_job(self) -> page_jobs.IndexJob:
        study = self.of.study
        return page_jobs.IndexJob(
            self.shared(),
            self.of.key,
            study.description,
            tuple(study.unconfirmed.items()),
            self.of.profile(),
            self._rows(),
            self._made(),
            cite(study, self.of.manifest.date()),
            self.index_path,
        )

    def _made(self) -> tuple[tuple[str, str], ...]:
        study = self.of.study
        seeds = ", ".join(f"{name} {seed}" for name, seed in study.seeds.model_dump().items())
        bootstrap = f"{study.bootstrap.n_resamples:,} resamples, {study.bootstrap.confidence:.0%} intervals"
        changed = ", ".join(_flat(recorded.changes(self.of.spec.overrides, self.of.home))) or "nothing"
        rows = [
            ("Command", self._command()),
            ("Changed with --set", changed),
            ("Seeds", seeds),
            ("Bootstrap", bootstrap),
            ("Date and version", f"{self.of.manifest.date()}, version {__version__} of the project"),
            ("Data (SHA-256)", "" if study.across else digest(self.of.raw())),
        ]
        return tuple((name, value) for name, value in rows if value)

    def _command(self) -> str:
        """That of the last run, for this study; what --set changed has a line of its own."""
        only = ",".join(name.split("_")[0] for name in self.of.entries if name in self._now)
        some = only and set(self.of.entries) - self._now
        return f"{project.command()} --study {self.of.study.key}" + (f" --only {only}" if some else "")


def _flat(tree: dict, prefix: str = "") -> list[str]:
    out = []
    for key, value in tree.items():
        path = f"{prefix}.{key}" if prefix else key
        out += _flat(value, path) if isinstance(value, dict) else [f"{path}={value}"]
    return out
