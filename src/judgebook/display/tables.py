"""Tables and prose of notebooks: stored as CSV at full precision and as LaTeX, shown rounded and escaped.

A cell that shows several numbers (`display.cells`) has a column for each of them in the CSV, and on pages, where tables
are sorted, unless that makes too many.

Cells can carry text from data files. It is escaped for the format it goes to; in CSV, text that a spreadsheet would
run as a formula is led by an apostrophe.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from judgebook.display import by_hand, latex
from judgebook.display.cells import Cell, apart, in_columns, intervals
from judgebook.display.text import MISSING, listing, number, plain
from judgebook.study import escape, store
from judgebook.study.results import Results, where

#: rows of a table that are shown, at most; the longest table in the gallery has 270
MOST_ROWS = 300
#: headings of things that a study may have very many of, and how many of each are shown of a longer table
MANY = {
    "System": "systems", "Strongest system": "systems", "Other system": "other systems", "Systems": "pairs of systems",
    "Label": "labels", "Annotator": "annotators", "Worker": "workers", "Metric": "metrics",
}  # fmt: skip
FIRST = (20, 10, 5)
#: columns of a page's table in which each number has its own, at most
MOST_COLUMNS = 18


def show(
    frame: pd.DataFrame,
    caption: str,
    name: str,
    *,
    run: store.Run,
    decimals: int | Mapping[str, int] = 2,
    why: pd.Series | Mapping[str, str] | None = None,
    folded: bool = False,
    of: Mapping[str, str] | None = None,
) -> None:
    """Write a table to `run.tables/<notebook>_<name>.csv` and `.tex`, and show it.

    frame : columns are headings; the index is left out. The CSV keeps all rows (`most_rows` are shown), full precision,
    a column for each number of a cell, and columns that say the same in every row, which are shown as a note.
    decimals : for all columns of fractions, or by column (2 where a column is not named).
    why : reasons for missing cells, shown as footnotes: by column, or a Series aligned with `frame` for its rows.
    folded, of : as of `views.Table`.

    Raises ValueError for a name that is not made of lower-case letters, digits and `_`, or an empty caption.
    """
    if not re.fullmatch(r"[a-z0-9_]+", name):
        raise ValueError(f"table name: expected lower-case letters, digits and _, found {name!r}")
    if not caption.strip():
        raise ValueError(f"table {name!r}: expected a caption")
    stem = f"{run.notebook}_{name}"
    kept, said = most_rows(frame)
    caption, shown = " ".join(filter(None, [caption, said])), frame[kept]
    why = why[kept] if isinstance(why, pd.Series) else why
    shown, same = _without_constants(shown)
    cells, notes = _cells(shown, decimals, why)
    more = [*(["Simulated data."] if run.simulated else []), *same]
    on_page, right, reasons = _one_number_a_column(shown, decimals, why)
    notes = [*more, *notes]
    with store.atomic(run.tables / f"{stem}.csv") as path:
        path.write_text(escape.csv(in_columns(frame)), encoding="utf-8", newline="")
    with store.atomic(run.tables / f"{stem}.tex") as path:
        aligned = [r or any(isinstance(v, Cell) for v in shown[c]) for c, r in zip(shown, _numeric(shown), strict=True)]
        path.write_text(latex.table(cells, caption, stem, notes, aligned), encoding="utf-8")
    from IPython.display import display

    below = [*more, *reasons]
    html = to_html(on_page, caption, below, right)
    if not run.run_id:
        title = f"Table {by_hand.numbered('table', stem)}. {caption}"
        html = by_hand.folded(lambda some: to_html(some, title, below, right), on_page)
    data = {
        "text/html": html,
        "text/markdown": to_markdown(cells, caption, notes),
    }
    about = {"name": stem, "caption": caption} | ({"folded": True} if folded else {}) | ({"of": dict(of)} if of else {})
    display(data, metadata={"table": about}, raw=True)


def texts(
    frame: pd.DataFrame,
    caption: str,
    label: str,
    *,
    decimals: int | Mapping[str, int] = 2,
    why: pd.Series | Mapping[str, str] | None = None,
) -> tuple[str, str, str]:
    """A table as HTML, Markdown and LaTeX, for texts that contain it; arguments as of `show`, label as of LaTeX."""
    cells, notes = _cells(frame, decimals, why)
    right = _numeric(frame)
    aligned = [r or any(isinstance(v, Cell) for v in frame[c]) for c, r in zip(frame, right, strict=True)]
    html, markdown = to_html(cells, caption, notes, right), to_markdown(cells, caption, notes)
    return html, markdown, latex.table(cells, caption, label, notes, aligned)


def most_rows(frame: pd.DataFrame) -> tuple[np.ndarray, str]:
    """Which rows of a long table are shown, as (rows,) booleans, and what its caption says of that.

    Of more than MOST_ROWS rows those of the first FIRST systems, labels, annotators, …, which tables give in the order
    of figures (many systems: the best first), or of fewer if these still have more rows.
    """
    kept = np.ones(len(frame), dtype=bool)
    if len(frame) <= MOST_ROWS:
        return kept, ""
    for k in FIRST:
        kept, said = np.ones(len(frame), dtype=bool), []
        for heading in (c for c in MANY if c in frame):
            values = list(dict.fromkeys(frame[heading]))
            if len(values) > k:
                kept &= frame[heading].isin(values[:k]).to_numpy()
                said.append(f"the first {k} of {number(len(values))} {MANY[heading]}")
        if kept.any() and kept.sum() <= MOST_ROWS:
            break
    else:
        kept, said = np.arange(len(frame)) < MOST_ROWS, []
    which = f": {listing(said)}" if said else ""
    return kept, f"Shown are {number(kept.sum())} of {number(len(frame))} rows{which}; the file has all."


def pivot(frame: pd.DataFrame, index: list[str], key: str, columns: Mapping[str, str]) -> pd.DataFrame:
    """A row for each value of `index`, a column of estimates for each value of `key`.

    columns : value of the key -> heading, in order; values that no row has are left out. Columns of whole numbers
    become integers, so that tables show them without decimals. Raises ValueError where two rows share a place.
    """
    # unstack, because pivot_table would average rows that share a place instead of failing
    wide = frame.set_index([*index, key])["estimate"].unstack(key)  # noqa: PD010
    wide = wide.reindex(frame.drop_duplicates(index).set_index(index).index)
    wide = wide[[c for c in columns if c in wide]].rename(columns=columns)
    whole = {c: wide[c].astype("Int64") for c in wide if (wide[c].dropna() % 1 == 0).all()}
    return wide.assign(**whole).rename_axis(columns=None).reset_index()


def side_by_side(
    results: Results,
    index: list[str],
    columns: Mapping[str, tuple[str, Mapping[str, object]]],
    with_interval: Iterable[str] = (),
) -> pd.DataFrame:
    """Estimates of several statistics side by side: a row for each value of `index`, a column for each heading.

    columns : heading -> (statistic, values of its keys); headings without a row are left out. Headings in
    `with_interval` become text with the interval. Raises ValueError where two rows share a place.
    """
    out: pd.DataFrame | None = None
    for heading, (statistic, keys) in columns.items():
        rows = where(results[statistic], **keys).set_index(index)
        if rows.index.has_duplicates:
            raise ValueError(f"{heading}: several rows of {statistic} with {dict(keys)} for one of {index}")
        if len(rows):
            values = (intervals(rows) if heading in with_interval else rows["estimate"]).rename(heading)
            out = values.to_frame() if out is None else out.join(values, how="outer")
    return pd.DataFrame(columns=index) if out is None else out.reset_index()


def say(markdown: str) -> None:
    """Show prose. Text that comes from data files goes through `plain` first."""
    from IPython.display import Markdown, display

    display(Markdown(markdown))


def _without_constants(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The frame without columns of words that are the same in all of three rows or more, and a note that says them."""
    if len(frame) < 3:
        return frame, []
    texts = [c for c in frame if all(isinstance(v, str) for v in frame[c]) and len(set(frame[c])) == 1]
    constant = {c: frame[c].iloc[0] for c in texts if any(map(str.isalpha, frame[c].iloc[0]))}
    if not constant or len(constant) > len(frame.columns) - 2:
        return frame, []
    values = "; ".join(f"{column}: {value}" for column, value in constant.items())
    return frame.drop(columns=list(constant)), [f"In all rows – {values}."]


def _cells(
    frame: pd.DataFrame, decimals: int | Mapping[str, int], why: pd.Series | Mapping[str, str] | None
) -> tuple[pd.DataFrame, list[str]]:
    """The cells as text, and footnotes that say why cells are missing, one letter a distinct reason."""
    reasons: dict[str, str] = {}

    def text(value: object, column: str, row: int) -> str:
        if not isinstance(value, str | Cell) and pd.isna(value):
            reason = why.iloc[row] if isinstance(why, pd.Series) else (why or {}).get(column)
            if not isinstance(reason, str) or not reason:
                return MISSING
            return f"{MISSING} ({reasons.setdefault(reason, _mark(len(reasons)))})"
        if isinstance(value, str | Cell):
            return str(value)
        places = decimals if isinstance(decimals, int) else decimals.get(column, 2)
        return number(value, places) if isinstance(value, float | int | np.number | np.bool_) else str(value)

    columns = {str(c): [text(v, c, i) for i, v in enumerate(frame[c])] for c in frame.columns}
    return pd.DataFrame(columns), [f"({mark}) {reason}" for reason, mark in reasons.items()]


def _one_number_a_column(
    frame: pd.DataFrame, decimals: int | Mapping[str, int], why: pd.Series | Mapping[str, str] | None
) -> tuple[pd.DataFrame, list[bool], list[str]]:
    """The cells as a page shows them, which columns are aligned to the right, and the footnotes."""
    split = apart(frame, MOST_COLUMNS)
    cells, notes = _cells(split, decimals, why)
    number = [split is not frame and any(isinstance(v, Cell) for v in split[c]) for c in split]
    return cells, [a or b for a, b in zip(number, _numeric(split), strict=True)], notes


def _mark(i: int) -> str:
    """a, b, …, z, aa, bb, …"""
    return chr(ord("a") + i % 26) * (i // 26 + 1)


def _numeric(frame: pd.DataFrame) -> list[bool]:
    return [pd.api.types.is_numeric_dtype(frame[c]) and not pd.api.types.is_bool_dtype(frame[c]) for c in frame.columns]


def to_html(cells: pd.DataFrame, caption: str, notes: list[str], right: list[bool]) -> str:
    """An HTML table, everything escaped; columns that are `right` are aligned so."""

    def cell(value: str, tag: str, align: str) -> str:
        # intervals and short names stay on one line, and text that breaks has room to
        whole = len(value) <= 28 or not any(map(str.isalpha, value))
        wrap = ";white-space:nowrap" if tag == "td" and whole else ""
        room = " class='text'" if tag == "td" and not whole else ""
        return f'<{tag}{room} style="text-align:{align}{wrap}">{escape.html(value)}</{tag}>'

    def row(values: Iterable[str], tag: str) -> str:
        pairs = zip(values, right, strict=True)
        return "<tr>" + "".join(cell(v, tag, "right" if r else "left") for v, r in pairs) + "</tr>"

    body = "\n".join(row(values, "td") for values in cells.itertuples(index=False))
    foot = "".join(f"<p class='table-note'>{escape.html_with_code(note)}</p>" for note in notes)
    head = f"<caption>{escape.html_with_code(caption)}</caption>\n<thead>{row(cells.columns, 'th')}</thead>"
    return f"<table class='table'>\n{head}\n<tbody>\n{body}\n</tbody>\n</table>{foot}"


def to_markdown(cells: pd.DataFrame, caption: str, notes: list[str]) -> str:
    """A table in GitHub's Markdown, everything escaped."""
    lines = [f"**{escape.markdown_with_code(caption)}**", ""]
    lines += ["| " + " | ".join(map(plain, cells.columns)) + " |", "|" + " --- |" * len(cells.columns)]
    lines += ["| " + " | ".join(map(plain, values)) + " |" for values in cells.itertuples(index=False)]
    return "\n".join([*lines, "", *(f"{escape.markdown_with_code(note)}\n" for note in notes)]).rstrip() + "\n"
