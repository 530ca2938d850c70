"""How close a simulated study is to the printed numbers it was simulated from.

No verdict follows: that they are near shows what the simulation does, and nothing about people.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from compendium.published import mapping, verdicts
from judgebook.display.views import Prose, Table
from judgebook.study.results import Results
from judgebook.study.store import Run


def views(results: Results, run: Run) -> Iterator[Table | Prose]:
    """Printed numbers compared with those of the study, if any correspond; the numbers are stored as `cells`."""
    cells = beside(results, run.key, run.notebook)
    if cells.empty:
        return
    run.frame(cells, "cells")
    caption = (
        "Printed numbers and those of this study: mean distance, in the printed unit. Inside: share of printed numbers"
        " in the CI of their own counterpart and, as a control, in those of the other numbers in the column."
    )
    why = dict.fromkeys(("Inside (%)", "Others inside (%)"), "No CIs, or only one number.")
    yield Table(table(cells), "beside", caption, 1, why)
    if run.study.simulated:
        yield Prose("The study is simulated from these numbers, so their closeness says nothing about people.")


def beside(results: Results, study: str, notebook: str) -> pd.DataFrame:
    """`verdicts.beside` without verdicts. low, high : interval of the result. title : display name of the column."""
    cells = verdicts.beside(results, study, notebook)
    titles = mapping.column_titles()
    named = [titles.get(key) or mapping.title(*key) for key in zip(cells["paper"], cells["column"], strict=True)]
    ends = {"low": cells["ci_low"], "high": cells["ci_high"], "title": named}
    return cells.drop(columns=["verdict", "tolerance", "low", "high", "ci_low", "ci_high"]).assign(**ends)


def table(cells: pd.DataFrame) -> pd.DataFrame:
    """How near printed numbers are to those of the study, by element and column.

    Parameters
    ----------
    cells : DataFrame
        From `beside`.

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
