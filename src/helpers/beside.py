"""Printed values beside those of a study: what is compared with what, and in which words the outcome is told.

`printed` is a frame of `published.load`. Each function returns a Series aligned with it, missing where the study has
nothing to compare. `panels` maps a panel of the printed table to a method.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd

from helpers import published, tables
from helpers.costs import COLLECTION
from helpers.schema import read_condition

#: columns of Table 2 of Finch et al. 2024, which leaves out what was judged more than twice -> counts that add up
COUNTS = {"evaluators": ["annotators"], "evaluated": ["once", "twice"], "doubly_annotated": ["twice"]}
#: rows of Table 10 of Finch et al. 2023 -> group, method, tasks; columns -> statistic
COST_ROWS = {
    "dialogue_collection": ("stu_i", COLLECTION, "all"),
    "dialogue_likert": ("sur_x", "dialogue_likert", "all"),
    "comparative": ("sur_x", "comparative", "all"),
    "turn_likert": ("sur_x", "turn_likert", "all"),
    "abc_eval_all": ("sur_x", "behavior", "all"),
    "abc_eval_final": ("sur_x", "behavior", "final"),
}
COST_COLUMNS = {"ti": "unit_minutes", "tp": "throughput", "ec": "estimated_cost", "oc": "own_cost"}


def counts(results: pd.DataFrame, printed: pd.DataFrame, panels: Mapping[str, str]) -> pd.Series:
    """`collection.counts` beside a table whose rows are groups (Table 2 of Finch et al. 2024).

    A panel that `panels` does not name counts over all methods.
    """
    human = results[results["condition"].str.contains("kind=human")]
    what = human["condition"].map(lambda c: read_condition(c)["what"])
    rows = zip(human["group"], human["method"], what, human["estimate"], strict=True)
    known = {(group, method if isinstance(method, str) else None, w): n for group, method, w, n in rows}

    def one(cell: pd.Series) -> float:
        parts = COUNTS.get(cell["column"], ["no such count"])
        return sum(known.get((cell["row"], panels.get(cell["panel"]), part), np.nan) for part in parts)

    return printed.apply(one, axis=1)


def costs(results: pd.DataFrame, printed: pd.DataFrame) -> pd.Series:
    """`costs.costs` beside Table 10 of Finch et al. 2023."""
    tasks = results["condition"].str.removeprefix("tasks=")
    keys = zip(results["group"], results["method"], tasks, results["statistic"], strict=True)
    known = dict(zip(keys, results["estimate"], strict=True))
    cells = zip(printed["row"].map(COST_ROWS), printed["column"].map(COST_COLUMNS), strict=True)
    return pd.Series([known.get((*row, column), np.nan) for row, column in cells], index=printed.index)


def agreement(results: pd.DataFrame, printed: pd.DataFrame, panels: Mapping[str, str]) -> pd.Series:
    """Alpha within groups beside a table whose rows are groups and whose columns are labels."""
    alpha = results[results["statistic"] == "alpha"]
    keys = zip(alpha["group"], alpha["method"], alpha["label"], strict=True)
    known = dict(zip(keys, alpha["estimate"], strict=True))
    cells = zip(printed["row"], printed["panel"].map(panels), printed["column"], strict=True)
    return pd.Series([known.get(cell, np.nan) for cell in cells], index=printed.index)


def verdicts(
    printed: pd.DataFrame,
    here: pd.Series,
    in_scope: pd.Series | None = None,
    *,
    panels: Mapping[str, str],
    fitted_groups: Mapping[str, Collection[str]],
    fitted_scope: Collection[str] = (),
) -> pd.Series:
    """In words, whether each printed value is equal to ours at its printed decimals.

    `equal` on all data; `equal in scope` only on what the paper used; `, fitted` is added where the group's members
    (`fitted_groups`: group -> methods) or the scope (`fitted_scope`: methods) were found by searching for these very
    values, so that being equal confirms nothing; `differs`; missing where there is nothing to compare.
    """
    method = printed["panel"].map(panels)
    members = [m in fitted_groups.get(g, ()) for g, m in zip(printed["row"], method, strict=True)]
    out = pd.Series("differs", index=printed.index, dtype=object)
    if in_scope is not None:
        ending = np.where(np.array(members) | method.isin(list(fitted_scope)), ", fitted", "")
        same = published.agrees(printed["value"], printed["decimals"], in_scope)
        out[same] = pd.Series("equal in scope", index=out.index)[same] + pd.Series(ending, index=out.index)[same]
    same = published.agrees(printed["value"], printed["decimals"], here)
    out[same] = pd.Series(np.where(members, "equal, fitted", "equal"), index=out.index)[same]
    return out.where(here.notna(), None)


def table(printed: pd.DataFrame, verdict: pd.Series | None, **ours: pd.Series | None) -> pd.DataFrame:
    """The cells that have something to compare, ready to be shown, ours at one decimal more than printed.

    ours : heading (underscores become spaces) -> values; None is left out.
    """
    given = {name.replace("_", " "): values for name, values in ours.items() if values is not None}
    out = printed.rename(
        columns={"element": "Table", "panel": "Panel", "row": "Row", "column": "Column", "printed": "Printed"}
    )
    out = out[["Table", "Panel", "Row", "Column", "Printed"]].copy()
    for name, values in given.items():
        pairs = zip(values, printed["decimals"], strict=True)
        out[name] = [tables.number(v, d + 1 if d else 0) for v, d in pairs]
    if verdict is not None:
        out["Verdict"] = verdict
    return out[next(iter(given.values())).notna()].reset_index(drop=True)
