"""Runs a comparison, prints it and writes its page: `python run_all.py compare A B`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd

from judgebook.display.names import DisplayNames
from judgebook.display.text import plain
from judgebook.display.views import View
from judgebook.extras.compare import calling, sides, views
from judgebook.extras.compare.analysis import Comparison
from judgebook.pipeline.composed import PageRun, composed
from judgebook.report import html as report
from judgebook.study import store

NAME = "compare"


def command(a: str, b: str, renamed: Iterable[str] = (), titles: tuple[str, str] | None = None) -> int:
    """Compare two sides given as on the command line; returns the exit code."""
    names = {}
    for item in renamed:
        old, equals, new = item.partition("=")
        if not (old and equals and new):
            raise sides.ComparisonError(f"--map: expected old=new, found {item!r}")
        names[old] = new
    compared = calling.compare(a, b, renamed=names, titles=titles)
    print(compared)
    print(f"page: {store.relative(write(compared.runs, compared._names))}")
    return 0


def write(runs: Comparison, names: DisplayNames) -> Path:
    """Write the page with its figures, tables and CSV files; returns its path."""
    target = store.out_root() / "reports" / "compare" / f"{runs.a.slug}_{runs.b.slug}" / "index.html"
    run = PageRun(runs.a.study, NAME, NAME, folder=target.parent / "files")
    title = f"{runs.a.title} and {runs.b.title}"
    page = report.Page(title, run.simulated, NAME, ())
    text = composed(run, f"# Did the repetition reproduce?\n\n{_about(runs)}", _parts(runs, names, run), page, title)
    with store.atomic(target) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return target


def _parts(runs: Comparison, names: DisplayNames, run: PageRun) -> Iterator[tuple[str, Iterable[View | None]]]:
    """Heading and views; its frames, as CSV files, are written before the last."""
    yield "What we see", [views.answer(runs, names), *views.findings(runs, names)]
    if not runs.identical:
        yield "How far was each label reproduced?", [views.grades(runs, names), views.rule(runs)]
        yield "System means in both runs", [*views.against(runs, names)]
        yield "How far do scores vary?", [views.variation(runs, names)]
    for name in views.FRAMES:
        frame: pd.DataFrame = getattr(runs, name)
        store.write_frame(frame, run.folder / f"comparison_{name}.csv")
    yield "What differs", [views.settings(runs), views.missing(runs, names)]


def _about(runs: Comparison) -> str:
    a, b = (plain(side.title) for side in (runs.a, runs.b))
    studies = [plain(side.study.title) for side in (runs.a, runs.b)]
    of = f" of *{studies[0]}*" if studies[0] == studies[1] else ""
    return f"{a} and {b}{of}: system means of {len(runs.systems)} systems, label by label."
