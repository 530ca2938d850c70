"""What notebook 08 shows and says beside a paper about evaluator groups: cell by cell, with what a pick could do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from helpers import tables
from helpers.look import Look
from helpers.pick_ranges import inside
from helpers.schema import condition
from helpers.views.group_report import names, none, ordered, select, span

if TYPE_CHECKING:
    from helpers.params import Study

#: panels of the printed tables of Finch et al. 2024 -> methods
PANELS = {"likert": "dialogue_likert", "pairwise": "comparative"}


def beside(cells: pd.DataFrame, ranges: pd.DataFrame) -> pd.DataFrame:
    """Printed cells with a result: ours at one decimal more, the verdict, and what the pick could have done.

    cells : of `verdicts.beside`; ranges : of `over_picks`.
    """
    out = cells[cells["verdict"] != "needs_data"]
    table = out[["element", "panel", "row", "column", "printed"]].rename(columns=str.capitalize)
    table["Here"] = [tables.number(v, d + 1 if d else 0) for v, d in zip(out["here"], out["decimals"], strict=True)]
    table["Verdict"] = out["verdict"]
    ends = ranges.reindex(out.index)
    table["Over picks"] = span(ends.assign(low=ends["low"].astype(float)), "low", "high")
    table["Other labels inside"] = [f"{100 * w:.0f} %" if pd.notna(w) else None for w in ends["wrong_inside"]]
    return table.reset_index(drop=True)


def over_picks(cells: pd.DataFrame, results: pd.DataFrame) -> pd.DataFrame:
    """`pick_ranges.inside` of the printed cells that rest on a pick: agreement between groups and effect sizes.

    results : with the column `groups` (`group_effects.paired`).
    """
    effect = select(results, "mean_absolute_effect", over="picks", scope="paper")
    between = select(results, "alpha", over="picks", scope="paper")
    three, four = (cells[cells["element"] == f"Table {i}"] for i in (3, 4))
    parts = [inside(three, between, "groups", "label", PANELS), inside(four, effect, "label", "groups", PANELS)]
    return pd.concat([p for p in parts if len(p)]) if any(map(len, parts)) else parts[0]


def wrong_rows(ranges: pd.DataFrame) -> pd.DataFrame:
    """Result rows `wrong_inside` of `over_picks`."""
    four = ranges["element"] == "Table 4"
    groups = ranges["column"].where(four, ranges["row"]).str.split("__")
    return pd.DataFrame(
        {
            "corpus": "main",
            "statistic": "wrong_inside",
            "method": ranges["panel"].map(PANELS),
            "label": ranges["row"].where(four, ranges["column"]),
            "group": groups.str[0],
            "group_b": groups.str[1],
            "condition": [condition(of="effect" if f else "alpha", scope="paper") for f in four],
            "estimate": ranges["wrong_inside"],
        }
    )


def about_cells(cells: pd.DataFrame, ranges: pd.DataFrame, study: Study) -> str:
    """What the verdicts mean: what was fitted, what differs, and what lying inside a range over picks is worth."""
    n = cells["verdict"].value_counts()
    had = {"match": "by a rule", "match_fitted": "only with a list that was fitted", "differs": "not at all"}
    said = tables.listing([f"{n[k]} {v}" for k, v in had.items() if k in n])
    total = int(n.drop("needs_data", errors="ignore").sum())
    text = f"Of {total} printed values that the data speak to, these come out: {said}."
    free = ranges[ranges["high"] > ranges["low"]]
    if len(free):
        text += (
            f" {len(free)} change with the random pick of one annotation an item; they are computed by the pick of the"
        )
        text += f" authors' code. Without knowing it one could only say that {int(free['inside'].sum())} lie inside the"
        text += f" range over picks. So do {100 * free['wrong_inside'].mean():.0f} % of the values of *other* labels."
    differ = cells[(cells["verdict"] == "differs") & (cells["note"] != "")]
    notes = [f"{c.element}, {c.panel}, {c.row}, {c.column}: {c.note}" for c in differ.itertuples()]
    notes += [f"{g.title or k}: {g.note}" for k, g in study.groups.items() if g.fitted]
    notes += [f"The paper's scope: {study.scope.note}"] if study.scope else []
    return text + "\n\n" + "\n".join(f"- {tables.plain(note)}" for note in notes)


def about_figure(found: pd.DataFrame, look: Look, level: float) -> str:
    """What Figure 1 shows against chance: which differences exceed it, and which hold after adjustment.

    found : `group_report.differences` of the values as published. level : of the adjusted tests.
    """
    beyond = ordered(found[found["exceeds"].fillna(False).astype(bool)], look)
    several = len(found[["group", "group_b"]].drop_duplicates()) > 1
    text = (
        f"Of {len(found)} differences of Figure 1 that can be computed here, {none(len(beyond))} exceed the 95 % point"
    )
    text += " of chance" + (f": {tables.listing(names(beyond, look, several=several))}." if len(beyond) else ".")
    held = int((found["p_adjusted"] < level).sum())
    text += f" {held} of them {'holds' if held == 1 else 'hold'} after Holm's adjustment."
    above = {x: int((found["estimate"] > x).sum()) for x in (0.4, 0.2)}
    points = found["null_q95"].dropna()
    if len(points):
        text += (
            f" {above[0.4]} surpass 0.4 and {above[0.2]} surpass 0.2, the marks the paper speaks of; what chance alone"
        )
        text += (
            f" gives up to (95 %) is {tables.number(points.min())} to {tables.number(points.max())}, so that neither"
        )
        text += " mark can be read without it."
    return text
