"""How near a simulated study lies to the printed numbers it was simulated after: what its notebooks show beside them.

No verdict follows: that they are near shows what the simulation does, and nothing about people.
"""

from __future__ import annotations

import pandas as pd

from helpers import mapping, verdicts

ENDS = {"low": "ci_low", "high": "ci_high"}


def beside(results: pd.DataFrame, study: str, notebook: str) -> pd.DataFrame:
    """`verdicts.beside` without its verdicts, with the ends of the intervals in the printed unit (`low`, `high`).

    title : the column as readers know it (`columns` of the mapping), else its id. Checked by hand.
    """
    cells = verdicts.beside(results, study, notebook).drop(columns=["verdict", "low", "high", "tolerance"])
    found = {
        end: verdicts.beside(results.assign(estimate=results[column]), study, notebook)["here"]
        for end, column in ENDS.items()
    }
    titles = mapping.column_titles()
    named = [titles.get(key, key[1]) for key in zip(cells["paper"], cells["column"], strict=True)]
    return cells.assign(**found, title=named)


def table(cells: pd.DataFrame) -> pd.DataFrame:
    """How near printed cells are to the study's, by element and column.

    cells : of `beside`. Returns the mean distance, the share of printed values inside their interval, and, as a
    control, the share of the *other* printed values of the column that would be inside: without it a share says
    nothing.

    Checked by hand.
    """
    out = []
    for (element, title), here in cells[cells["here"].notna()].groupby(["element", "title"], sort=False):
        row = {"Table": element, "Column": title, "Cells": len(here)}
        row["Mean distance"] = (here["here"] - here["value"]).abs().mean()
        known = here.dropna(subset=["low", "high"])
        half = 0.5 * 10.0 ** -known["decimals"].to_numpy(float)
        low, high = known["low"].to_numpy() - half, known["high"].to_numpy() + half
        inside = (known["value"].to_numpy()[None] >= low[:, None]) & (known["value"].to_numpy()[None] <= high[:, None])
        n = len(known)
        row["Inside (%)"] = 100 * inside.trace() / n if n else None
        row["Others inside (%)"] = 100 * (inside.sum() - inside.trace()) / (n * (n - 1)) if n > 1 else None
        out.append(row)
    return pd.DataFrame(out)
