"""Figures of the scoreboard: counts by verdict, and what negative controls make of matches."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes

from helpers.controls import OTHER_COLUMN, OTHER_ROW
from helpers.look import COLORS
from helpers.scoreboard import (
    ARITHMETIC,
    DIFFERS,
    FITTED,
    INCONSISTENT,
    MATCH,
    NEEDS,
    NOISE,
    NOT_ATTEMPTED,
    VERDICTS,
    counts,
)

#: dark: raw data speak; light: they do not
VERDICT_COLORS = {
    MATCH: COLORS[0],
    NOISE: COLORS[2],
    FITTED: COLORS[4],
    DIFFERS: COLORS[1],
    ARITHMETIC: "#A9D3EE",
    INCONSISTENT: COLORS[3],
    NEEDS: "#C9C9C9",
    NOT_ATTEMPTED: "#EDEDED",
}
TEXT = "Text, captions"
_CONTROLS = {OTHER_COLUMN: ("v", COLORS[1]), OTHER_ROW: ("^", COLORS[2]), "wrong": ("x", COLORS[3])}


def _parts(elements: pd.Series) -> pd.Series:
    """Tables by their name; everything else is text or a caption."""
    return elements.where(elements.str.startswith("Table"), TEXT)


def _ordered(frame: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    """By paper in the order of `titles`; tables by number, then text."""
    paper = frame["paper"].map({p: i for i, p in enumerate(titles)})
    table = frame["element"].map(lambda e: int(e.split()[1]) if e != TEXT else 1_000)
    return frame.iloc[pd.DataFrame({"p": paper, "t": table}).reset_index(drop=True).sort_values(["p", "t"]).index]


def by_table(cells: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    """Counts by verdict of every table, and of all that stands in text and captions, by paper; tables come first."""
    found = counts(cells.assign(element=_parts(cells["element"])), ["paper", "element"])
    return _ordered(found, titles).reset_index(drop=True)


def verdict_bars(table: pd.DataFrame, ax: Axes, titles: Mapping[str, str]) -> None:
    """A bar a row of `by_table`, divided by verdict; how many numbers it stands for is written beside."""
    position, ticks, heads, y = [], [], [], 0.0
    for paper, part in table.groupby("paper", sort=False):
        heads.append((y, titles[paper]))
        for element in part["element"]:
            y += 1
            position.append(y)
            ticks.append(element)
        y += 1.6
    total, left = table[list(VERDICTS)].sum(axis=1), pd.Series(0.0, table.index)
    for verdict, name in VERDICTS.items():
        share = 100 * table[verdict] / total
        ax.barh(position, share, 0.8, left=left, color=VERDICT_COLORS[verdict], label=name, linewidth=0)
        left += share
    for at, n in zip(position, total, strict=True):
        ax.text(101, at, f"{n:,}", va="center", fontsize=7)
    for at, title in heads:
        ax.text(0, at, title, va="center", fontsize=8, fontweight="bold")
    ax.set_yticks(position, ticks)
    ax.set(ylim=(y - 0.9, -0.8), xlim=(0, 100), xlabel="Share of the printed numbers (%); how many there are")
    ax.tick_params(axis="y", length=0)


def control_rows(found: pd.DataFrame) -> int:
    """How many rows `control_dots` draws."""
    return len(found.assign(element=_parts(found["element"])).drop_duplicates(["paper", "element"]))


def control_dots(found: pd.DataFrame, ax: Axes, titles: Mapping[str, str]) -> None:
    """A row a table: the share of numbers that match their result, and the shares that match wrong ones."""
    kinds = found["control"].where(found["control"].isin([OTHER_COLUMN, OTHER_ROW]), "wrong")
    numbers = ["numbers", "matches", "comparisons", "wrong_matches"]
    parts = found.assign(element=_parts(found["element"]), kind=kinds)
    sums = _ordered(
        parts.groupby(["paper", "element", "kind", "control"], sort=False, as_index=False)[numbers].sum(), titles
    )
    names = (
        sums["paper"].map(titles) + ", " + sums["element"].str.lower().where(sums["element"] == TEXT, sums["element"])
    )
    order = {name: i for i, name in enumerate(dict.fromkeys(names))}
    y = names.map(order)
    own = sums.assign(y=y, share=100 * sums["matches"] / sums["numbers"]).sort_values("numbers")
    own = own.drop_duplicates("y", keep="last")
    ax.scatter(own["share"], own["y"], s=26, color=COLORS[0], zorder=3, label="its own result", clip_on=False)
    labels = {OTHER_COLUMN: OTHER_COLUMN, OTHER_ROW: OTHER_ROW, "wrong": "a wrong definition's value"}
    for kind, (marker, color) in _CONTROLS.items():
        here = sums["kind"] == kind
        share = 100 * sums.loc[here, "wrong_matches"] / sums.loc[here, "comparisons"]
        ax.scatter(share, y[here], s=22, marker=marker, color=color, linewidth=1, label=labels[kind], clip_on=False)
    ax.set_yticks(range(len(order)), list(order))
    ax.set(ylim=(len(order) - 0.5, -0.5), xlim=(0, 100), xlabel="Printed numbers that match (%)")
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="both")
