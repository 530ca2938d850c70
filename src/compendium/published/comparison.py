"""The last section of a notebook: printed numbers next to those of the study, with verdicts."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from compendium.published import mapping, verdicts
from compendium.published.mapping import MappingEntry
from compendium.published.verdicts import DIFFERS, DOWNLOAD, FITTED, MATCH, NOISE, WORDS
from judgebook.display.names import DisplayNames, display_names
from judgebook.display.text import Phrases, number
from judgebook.display.views import Prose, Table
from judgebook.study.results import Results
from judgebook.study.store import Run

_PHRASES = Phrases(__package__)


def is_source(run: Run) -> bool:
    """Whether the scoreboard compares printed numbers with the results of this notebook and study."""
    return (run.key, run.notebook) in mapping.sources()


def views(
    results: Results, run: Run, caption: str = "Printed numbers and those of this study."
) -> Iterator[Table | Prose]:
    """The printed numbers this notebook reproduces for this study, and their verdicts; nothing where there are none."""
    cells = verdicts.compared(results, run.key, run.notebook)
    compared = cells[cells["verdict"] != DOWNLOAD]
    if len(compared):
        yield Table(table(cells, display_names(run.study)), "beside", caption)
        yield Prose(_PHRASES.say("verdicts", n=len(compared), counts=_counts(compared), reasons=_reasons(compared)))


def table(cells: pd.DataFrame, names: DisplayNames) -> pd.DataFrame:
    """The numbers that have a result (cells of `verdicts.compared`): printed, ours at one decimal more, the verdict."""
    with_result = cells[cells["verdict"] != DOWNLOAD]
    out = places(with_result, names)
    out.insert(0, "Element", with_result["element"].to_list())
    ours = [number(v, d + 1 if d else 0) for v, d in zip(with_result["here"], with_result["decimals"], strict=True)]
    return out.assign(
        Printed=with_result["printed"].to_list(), Here=ours, Verdict=with_result["verdict"].map(WORDS).to_list()
    )


def places(cells: pd.DataFrame, names: DisplayNames) -> pd.DataFrame:
    """Display names of the Panel, Row and Column of each of `cells` (of `verdicts.compared`)."""
    columns = mapping.column_titles()
    titles = [_place(cell, names, columns) for cell in cells.to_dict("records")]
    return pd.DataFrame(titles, columns=["Panel", "Row", "Column"])


def _place(cell: dict, names: DisplayNames, columns: dict[tuple[str, str], str]) -> list[str]:
    """Display names of a printed number's panel, row and column."""
    entry: MappingEntry = cell["entry"]
    kinds = {side: getattr(entry, side) for side in ("panel", "row", "column")}
    ids = {side: entry.names.get(cell[side], cell[side]) for side in kinds}
    method = entry.where.get("method") or next((ids[s] for s, kind in kinds.items() if kind == "method"), None)
    out = []
    for side, kind in kinds.items():
        kind, key = (kind or "").removesuffix("_b"), ids[side]
        if (cell["paper"], cell[side]) in columns:
            out.append(columns[cell["paper"], cell[side]])
        elif kind == "label":
            titles = {label: spec.title for (m, label), spec in names.labels.items() if method in (m, None)}
            out.append(titles.get(key, mapping.title(cell["paper"], cell[side])))
        elif kind == "groups":
            out.append(" and ".join(names.name("group", group) for group in key.split("__")))
        else:
            out.append(names.titles.get(kind, {}).get(key) or mapping.title(cell["paper"], cell[side]))
    return out


def _counts(cells: pd.DataFrame) -> list[tuple[int, str]]:
    n = cells["verdict"].value_counts()
    plural = {MATCH: "match", FITTED: "match, fitted", DIFFERS: "differ"}
    counts = {verdict: int(n[verdict]) for verdict in WORDS if verdict in n}
    return [(k, WORDS[v] if k == 1 else plural.get(v, WORDS[v])) for v, k in counts.items()]


def _reasons(cells: pd.DataFrame) -> list[tuple[str, str, str]]:
    qualified = cells[cells["verdict"].isin([FITTED, DIFFERS, NOISE]) & (cells["note"] != "")]
    rows = qualified[["element", "verdict", "note"]].drop_duplicates().itertuples(index=False)
    return [(element, WORDS[verdict], note) for element, verdict, note in rows]


def nearness(results: Results, run: Run) -> Iterator[Table | Prose]:
    """How close a simulated study is to the printed numbers it was simulated from, which are stored as `cells`.

    No verdict follows: that they are near shows what the simulation does, and nothing about people.
    """
    cells = _with_intervals(results, run)
    if cells.empty:
        return
    run.frame(cells, "cells")
    caption = (
        "Printed numbers and those of this study: mean distance, in the printed unit. Inside: share of printed numbers"
        " in the CI of their own counterpart and, as a control, in those of the other numbers in the column."
    )
    why = dict.fromkeys(("Inside (%)", "Others inside (%)"), "No CIs, or only one number.")
    yield Table(nearness_table(cells), "beside", caption, 1, why)
    if run.study.simulated:
        yield Prose("The study is simulated from these numbers, so their closeness says nothing about people.")


def _with_intervals(results: Results, run: Run) -> pd.DataFrame:
    """`verdicts.beside` without verdicts. low, high : interval of the result. title : display name of the column."""
    cells = verdicts.beside(results, run.key, run.notebook)
    titles = mapping.column_titles()
    named = [titles.get(key) or mapping.title(*key) for key in zip(cells["paper"], cells["column"], strict=True)]
    ends = {"low": cells["ci_low"], "high": cells["ci_high"], "title": named}
    return cells.drop(columns=["verdict", "tolerance", "low", "high", "ci_low", "ci_high"]).assign(**ends)


def nearness_table(cells: pd.DataFrame) -> pd.DataFrame:
    """How near printed numbers are to those of the study, by element and column.

    Parameters
    ----------
    cells : DataFrame
        From `_with_intervals`.

    Returns
    -------
    DataFrame: the mean distance in the printed unit, the percentage of printed values inside their interval, and as a
    control the percentage of the *other* printed values of the column inside it.
    """
    out = []
    for (element, title), of_column in cells[cells["here"].notna()].groupby(["element", "title"], sort=False):
        row = {"Table": element, "Column": title, "Cells": len(of_column)}
        row["Mean distance"] = (of_column["here"] - of_column["value"]).abs().mean()
        with_ends = of_column.dropna(subset=["low", "high"])
        half, value = 0.5 * 10.0 ** -with_ends["decimals"].to_numpy(float), with_ends["value"].to_numpy()
        low, high = (with_ends["low"].to_numpy() - half)[:, None], (with_ends["high"].to_numpy() + half)[:, None]
        inside, n = (low <= value) & (value <= high), len(with_ends)
        row["Inside (%)"] = 100 * inside.trace() / n if n else None
        row["Others inside (%)"] = 100 * (inside.sum() - inside.trace()) / (n * (n - 1)) if n > 1 else None
        out.append(row)
    return pd.DataFrame(out)
