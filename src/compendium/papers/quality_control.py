"""Notebook 10: printed numbers (Ji et al. 2022) with ours and a verdict."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from compendium.published import verdicts
from compendium.published.comparison import places
from judgebook.display.names import DisplayNames
from judgebook.display.text import number
from judgebook.display.views import Table
from judgebook.study.results import where


def tables(cells: pd.DataFrame, names: DisplayNames) -> Iterator[Table]:
    """Printed numbers by verdict, and those that differ. cells : from `verdicts.compared`."""
    if cells.empty:
        return
    words = verdicts.WORDS | {verdicts.DOWNLOAD: "needs a download"}
    printed_cells = places(cells, names).set_axis(["panel", "row", "column"], axis=1)
    cells = cells.assign(**printed_cells.set_axis(cells.index))
    counts = verdicts.tally(cells).rename(columns=words).rename(columns=str.capitalize)
    caption = "Printed numbers by verdict. Fitted: equal only with a list found by searching for these numbers."
    yield Table(counts.rename(columns={"Cells": "All"}), "cells", caption)
    rows = where(cells, verdict=verdicts.DIFFERS)
    digits = [int(d) + 1 if d or v % 1 else 0 for d, v in zip(rows["decimals"], rows["here"], strict=True)]
    printed_cells = [
        f"{cell.row}, {cell.column}: {cell.printed} ({number(cell.here, decimals)})"
        for cell, decimals in zip(rows.itertuples(), digits, strict=True)
    ]
    rows = rows.assign(told=printed_cells, place=rows["element"] + ", " + rows["panel"])
    out = rows.groupby(["place", "note"], sort=False)["told"].agg("; ".join).reset_index()[["place", "told", "note"]]
    yield Table(out.set_axis(["Place", "Printed (here)", "Why"], axis=1), "differ", "Printed numbers that differ.")
