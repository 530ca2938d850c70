"""Cells of printed tables beside the result rows they correspond to, as a YAML says (`params.PrintedCells`).

The verdicts are those of the scoreboard: `match` by the rule stated for the analysis; `match_fitted` only with a list
found by searching for the very cells, which confirms nothing; `differs`; `needs_data` where the study has no such
result, such as a run that is not public.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import pandas as pd

from helpers import published
from helpers.schema import read_condition


class Cells(Protocol):
    """What is used of `params.PrintedCells`."""

    element: str
    panel: str | None
    where: dict[str, str]
    keys: dict[str, Any]
    row: str | None
    column: str | None
    names: dict[str, str]
    only: list[str]
    scale: float
    fitted: bool
    note: str


def reproduced(results: pd.DataFrame, printed: pd.DataFrame, spec: Cells) -> pd.Series:
    """The result, in the unit of the table, for each cell of `printed` that `spec` speaks of; missing where there is
    none.

    results : result rows. A row counts when its columns are as `spec.where` says and its condition has the keys of
    `spec.keys`, those that `spec.row` and `spec.column` name, and no others.
    """
    rows = results
    for column, value in spec.where.items():
        rows = rows[rows[column] == value]
    dimensions = [d for d in (spec.row, spec.column) if d]
    inside = [d for d in dimensions if d not in results]
    keys = {k: str(v) for k, v in spec.keys.items()}
    parsed = {text: read_condition(text) for text in rows["condition"].unique()}
    fitting = {t: c for t, c in parsed.items() if set(c) == {*keys, *inside} and keys.items() <= c.items()}
    rows = rows[rows["condition"].isin(list(fitting))]
    sides = [rows["condition"].map(lambda t, d=d: fitting[t][d]) if d in inside else rows[d] for d in dimensions]
    places = zip(*sides, strict=True) if dimensions else [()] * len(rows)
    known = dict(zip(places, rows["estimate"], strict=True))
    cells = printed[(printed["element"] == spec.element) & _is(printed["panel"], spec.panel)]
    if spec.only:
        cells = cells[cells["row"].isin(spec.only) | cells["column"].isin(spec.only)]
    named = [[spec.names.get(v, v) for v in cells[side]] for side in ("row", "column") if getattr(spec, side)]
    found = [known.get(place) for place in (zip(*named, strict=True) if named else [()] * len(cells))]
    return pd.Series(found, index=cells.index, dtype=float) * spec.scale


def _is(values: pd.Series, wanted: str | None) -> pd.Series:
    return values == wanted if wanted is not None else pd.Series(True, values.index)


def beside(results: pd.DataFrame, printed: pd.DataFrame, specs: Iterable[Cells]) -> pd.DataFrame:
    """Every cell of `printed` that a spec speaks of, in its order, with `here`, `fitted` and `verdict`, `note`.

    here : the result by rule; fitted : the result with a fitted list, where a spec gives one. A cell that several specs
    of one kind speak of takes the first that has a result.
    """
    here, fitted = (pd.Series(float("nan"), index=printed.index) for _ in range(2))
    told, notes = pd.Series(False, index=printed.index), pd.Series("", index=printed.index)
    for spec in specs:
        found = reproduced(results, printed, spec)
        told[found.index] = True
        target = fitted if spec.fitted else here
        target.update(found[target[found.index].isna()])
        notes[found.index] = notes[found.index].where(notes[found.index] != "", spec.note)
    out = printed[told].assign(here=here[told], fitted=fitted[told], note=notes[told])
    verdict = pd.Series("differs", index=out.index)
    verdict[out["here"].isna() & out["fitted"].isna()] = "needs_data"
    verdict[published.agrees(out["value"], out["decimals"], out["fitted"])] = "match_fitted"
    verdict[published.agrees(out["value"], out["decimals"], out["here"])] = "match"
    return out.assign(verdict=verdict)


def tally(cells: pd.DataFrame) -> pd.DataFrame:
    """How many cells of each element and panel have each verdict: one row each, in the order of `cells`."""
    counts = cells.groupby(["element", "panel"], sort=False)["verdict"].value_counts().unstack(fill_value=0)  # noqa: PD010
    order = [v for v in ("match", "match_fitted", "differs", "needs_data") if v in counts]
    return counts[order].assign(cells=counts.sum(axis=1)).reset_index().rename_axis(columns=None)
