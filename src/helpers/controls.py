"""Negative controls of the scoreboard: how often printed numbers match what they should not match.

A match means something only where wrong values seldom match. Wrong values come from the same results: those of another
column or row of the table, and those under definitions that the mapping calls wrong.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from helpers import published, verdicts
from helpers.mapping import Entry, Mapping
from helpers.verdicts import Results

COLUMNS = ["paper", "element", "control", "numbers", "matches", "comparisons", "wrong_matches"]
OTHER_COLUMN, OTHER_ROW = "another column's value", "another row's value"


def controls(results: Results, printed: pd.DataFrame, papers: Iterable[Mapping]) -> pd.DataFrame:
    """How many printed numbers match their result by rule, and how many match a wrong one, by element and control.

    numbers, matches : numbers that have a result by rule, and how many equal it. comparisons, wrong_matches : of the
    same numbers with wrong values, every other column (row) of the same table, panel and row (column) once.
    """
    papers = list(papers)
    tried = verdicts.attempts(results, printed, papers)
    owner = {id(entry): (paper.paper, entry) for paper in papers for entry in paper.entries}
    groups: dict[int, dict[object, float]] = {}
    for i, attempts in tried.items():
        for a in attempts:
            if not a.entry.fitted and not a.entry.ranged and not np.isnan(a.value):
                groups.setdefault(id(a.entry), {})[i] = a.value
                break
    rows = []
    for key, values in groups.items():
        paper, entry = owner[key]
        cells = printed.loc[list(values)].assign(here=list(values.values()))
        rows += [{"paper": paper, **row} for row in _of_entry(results, cells, entry)]
    found = pd.DataFrame(rows, columns=COLUMNS)
    return found.groupby(["paper", "element", "control"], sort=False, as_index=False).sum()


def _of_entry(results: Results, cells: pd.DataFrame, entry: Entry) -> list[dict[str, object]]:
    cells = cells.assign(match=published.agrees(cells["value"], cells["decimals"], cells["here"]))
    rows = []
    for name, same, across in ((OTHER_COLUMN, "row", "column"), (OTHER_ROW, "column", "row")):
        wrong = _swapped(cells, same, across)
        rows += _rows(name, cells, wrong)
    for name, change in entry.wrong.items():
        found = verdicts.reproduced(results.get((entry.study, entry.notebook)), cells, entry.changed(change))
        rows += _rows(name, cells, pd.DataFrame({"cell": cells.index, "wrong": found["value"].to_numpy()}))
    return rows


def _swapped(cells: pd.DataFrame, same: str, across: str) -> pd.DataFrame:
    """Every cell with the results of the others in its panel that have its unit and `same`, and another `across`."""
    keys = ["element", "panel", "unit", same]
    left = cells[[*keys, across]].rename_axis("cell").reset_index()
    pairs = left.merge(cells[[*keys, across, "here"]], on=keys, suffixes=("", "_other"))
    return pairs[pairs[across] != pairs[f"{across}_other"]].rename(columns={"here": "wrong"})[["cell", "wrong"]]


def _rows(name: str, cells: pd.DataFrame, wrong: pd.DataFrame) -> list[dict[str, object]]:
    """Counts by element, over the cells that have a wrong value to be compared with."""
    wrong = wrong.dropna().merge(cells, left_on="cell", right_index=True)
    fits = published.agrees(wrong["value"], wrong["decimals"], wrong["wrong"])
    out = []
    for element, part in wrong.groupby("element", sort=False):
        own = part.drop_duplicates("cell")
        count = {"numbers": len(own), "matches": int(own["match"].sum())}
        count |= {"comparisons": len(part), "wrong_matches": int(fits[part.index].sum())}
        out.append({"element": element, "control": name, **count})
    return out


def overall(found: pd.DataFrame) -> pd.DataFrame:
    """The same over all papers, by kind of control: a row each for other columns, other rows and wrong definitions."""
    kind = found["control"].where(found["control"].isin([OTHER_COLUMN, OTHER_ROW]), "a wrong definition")
    return found.groupby(kind, sort=False)[COLUMNS[3:]].sum().rename_axis("control").reset_index()
