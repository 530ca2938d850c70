"""Runs a comparison, prints it and writes its page: `python run_all.py compare A B`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import nan
from pathlib import Path

import nbformat.v4 as nbf
import pandas as pd
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from judgebook.display.names import DisplayNames, display_names
from judgebook.display.text import interval, number, plain
from judgebook.display.views import Prose, View, show
from judgebook.extras.compare import figures, findings, sides, tables
from judgebook.extras.compare.analysis import RAW, Comparison, compare
from judgebook.questions.performance.arrangement import in_order
from judgebook.report import html as report
from judgebook.study import escape, store

NAME = "compare"
#: frames of a comparison that are stored as CSV
FRAMES = ("labels", "means", "variation", "pairs", "settings", "missing")


@dataclass(frozen=True)
class ComparisonRun(store.Run):
    """What `show` writes to: the folder of the comparison's page."""

    folder: Path = Path()

    @property
    def simulated(self) -> bool:
        return self.study.simulated

    @property
    def figures(self) -> Path:
        return self.folder / "files"

    tables = figures


def command(a: str, b: str, renamed: Iterable[str] = ()) -> int:
    """Compare two sides given as on the command line; returns the exit code."""
    one, two = sides.open_side(a), sides.open_side(b)
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
    folder = store.out_root() / "reports" / "compare" / f"{runs.a.slug}_{runs.b.slug}"
    for path in (folder / "files").glob("*"):  # of an earlier comparison of the same two
        path.unlink()
    run = ComparisonRun(runs.a.study, NAME, NAME, folder=folder)
    title = f"{runs.a.title} and {runs.b.title}"
    question = f"# Did the repetition reproduce?\n\n{_about(runs)}"
    cells = [nbf.new_markdown_cell(question), nbf.new_markdown_cell("## What we see")]
    cells.append(_cell(run, [findings.answer(runs, names), *findings.findings(runs, names)]))
    parts: list[tuple[str, list[View | None]]] = []
    if not runs.identical:
        parts.append(("How far was each label reproduced?", [tables.grades(runs, names), findings.rule(runs)]))
        parts.append(("System means in both runs", [*figures.against(runs, names), *figures.means(runs, names)]))
        agree: list[View | None] = [tables.scores(runs, names), tables.conclusions(runs, names)]
        parts.append(("Do scores and conclusions agree?", agree))
        parts.append(("How far do scores vary?", [*tables.variation(runs, names)]))
    parts.append(("What differs", [tables.settings(runs), tables.missing(runs, names)]))
    for heading, views in parts:
        cells += [nbf.new_markdown_cell(f"## {heading}"), _cell(run, views)]
    for name in FRAMES:
        frame: pd.DataFrame = getattr(runs, name)
        store.write_frame(frame, folder / "files" / f"comparison_{name}.csv")
    written = sorted(p for p in (folder / "files").iterdir() if p.is_file())
    files = [f"files/{p.name}" for p in written]
    drawings = {p.stem: p.read_text(encoding="utf-8") for p in written if p.suffix == ".svg"}
    page = report.Page(title, run.simulated, NAME, ())
    notebook = nbf.new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    target = folder / "index.html"
    with store.atomic(target) as temporary:
        temporary.write_text(report.notebook_page(notebook, page, title, files, drawings), encoding="utf-8")
    return target


def _about(runs: Comparison) -> str:
    a, b = (plain(side.title) for side in (runs.a, runs.b))
    studies = [plain(side.study.title) for side in (runs.a, runs.b)]
    of = f" of *{studies[0]}*" if studies[0] == studies[1] else ""
    return f"{a} and {b}{of}: system means of {len(runs.systems)} systems, label by label."


def _cell(run: store.Run, views: list[View | None]) -> nbf.NotebookNode:
    """A code cell without code whose outputs are what a notebook would show."""
    InteractiveShell.instance()  # captures what is displayed; without one it would be printed
    with capture_output(stdout=False, stderr=False) as captured:
        show(run, (view for view in views))
    outputs = [nbf.new_output("display_data", data=o.data, metadata=o.metadata or {}) for o in captured.outputs]
    return nbf.new_code_cell("", outputs=outputs, execution_count=1)
