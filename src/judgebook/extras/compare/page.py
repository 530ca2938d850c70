"""Runs a comparison, prints it and writes its page: `python run_all.py compare A B`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import nan
from pathlib import Path

import pandas as pd

from judgebook.display.names import DisplayNames, display_names
from judgebook.display.text import interval, number, plain
from judgebook.display.views import Prose, View
from judgebook.extras.compare import figures, findings, sides, tables
from judgebook.extras.compare.analysis import RAW, Comparison, compare
from judgebook.pipeline.composed import PageRun, composed
from judgebook.questions.performance.arrangement import in_order
from judgebook.report import html as report
from judgebook.study import escape, store

NAME = "compare"
#: frames of a comparison that are stored as CSV
FRAMES = ("labels", "means", "variation", "pairs", "settings", "missing")


def command(a: str, b: str, renamed: Iterable[str] = (), titles: Sequence[str] | None = None) -> int:
    """Compare two sides given as on the command line; returns the exit code."""
    one, two = sides.titled(sides.open_side(a), sides.open_side(b), titles)
    names = {}
    for item in renamed:
        old, equals, new = item.partition("=")
        if not (old and equals and new):
            raise sides.ComparisonError(f"--map: expected old=new, found {item!r}")
        names[old] = new
    one, two = sides.named_apart(one, sides.renamed(two, names))
    runs = compare(one, two)
    shown = in_order(display_names(one.study, one.scores, two.scores), one.study, one.scores)
    print(terminal(runs, shown))
    print(f"page: {store.relative(write(runs, shown))}")
    return 0


def terminal(runs: Comparison, names: DisplayNames) -> str:
    """The comparison as text: the answer, labels, the rule, what only one side has, which settings differ."""
    lines = [_plain(findings.answer(runs, names)), ""]
    lines += ["Simulated data.", ""] if runs.a.study.simulated or runs.b.study.simulated else []
    if not runs.identical:
        cells = list(_lines(runs, names))
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines += ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in cells]
        over = tables.over(runs.labels[runs.labels["scores"] == runs.primary])
        lines += [
            f"A: {runs.a.title}; B: {runs.b.title}; CIs over {over}; CV* in percent, of raw scores",
            "",
            _plain(findings.rule(runs)),
            "",
        ]
    only = tables.missing(runs, names).frame
    for (what, side), rows in only.groupby(["What", "In"], sort=False):
        lines.append(f"not compared: {what.lower()} in {side}: {', '.join(rows['Name'])}")
    if len(runs.settings):
        lines.append(f"differ: {', '.join(runs.settings['what'].head(8))}" + (" …" if len(runs.settings) > 8 else ""))
    return "\n".join(lines)


def _lines(runs: Comparison, names: DisplayNames) -> Iterator[list[str]]:
    """Cells of the table on the terminal."""
    yield ["label", "reproduced", "r", "same order", "both/opposite", "only A/B", "CV*"]
    spread = runs.labels[runs.labels["scores"] == RAW].set_index(["method", "label"])["cv"]
    rows = tables.ordered(runs)
    for row in rows[rows["scores"] == runs.primary].to_dict("records"):
        cells = [tables.label_name(row, names), tables.VERDICTS[row["verdict"]].lower()]
        cells += [interval(row["r"], row["r_low"], row["r_high"])]
        cells += [f"{row['same']} of {row['pairs']}", f"{row['same_sign']}/{row['opposite']}"]
        cells += [f"{row['only_a']}/{row['only_b']}", number(float(spread.get((row["method"], row["label"]), nan)), 1)]
        yield cells


def _plain(prose: Prose) -> str:
    return escape.unmarked(prose.text)


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
    yield "What we see", [findings.answer(runs, names), *findings.findings(runs, names)]
    if not runs.identical:
        yield "How far was each label reproduced?", [tables.grades(runs, names), findings.rule(runs)]
        yield "System means in both runs", [*figures.against(runs, names), *figures.means(runs, names)]
        yield "Do scores and conclusions agree?", [tables.scores(runs, names), tables.conclusions(runs, names)]
        yield "How far do scores vary?", [*tables.variation(runs, names)]
    for name in FRAMES:
        frame: pd.DataFrame = getattr(runs, name)
        store.write_frame(frame, run.folder / f"comparison_{name}.csv")
    yield "What differs", [tables.settings(runs), tables.missing(runs, names)]


def _about(runs: Comparison) -> str:
    a, b = (plain(side.title) for side in (runs.a, runs.b))
    studies = [plain(side.study.title) for side in (runs.a, runs.b)]
    of = f" of *{studies[0]}*" if studies[0] == studies[1] else ""
    return f"{a} and {b}{of}: system means of {len(runs.systems)} systems, label by label."
