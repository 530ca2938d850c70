"""Figures of notebook 90."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes

from compendium.published.scoreboard import ATTEMPTED, FIVE, MATCH, VERDICTS, apart, badge, counts
from judgebook.display import style
from judgebook.display.names import COLORS
from judgebook.display.text import Phrases
from judgebook.display.views import Plot

#: dark: decided by raw data; light: not
VERDICT_COLORS = (
    COLORS[0],
    COLORS[5],
    COLORS[2],
    COLORS[4],
    COLORS[1],
    "#A9D3EE",
    COLORS[3],
    "#9A9A9A",
    "#C4C4C4",
    "#E2E2E2",
    "#F4F4F4",
)


def papers(cells: pd.DataFrame, titles: Mapping[str, str]) -> Iterator[Plot]:
    """One bar per paper, divided by verdict: the five papers, then other sources."""
    for name, part in apart(cells).items():
        yield _papers(name, part, titles)


def _papers(name: str, cells: pd.DataFrame, titles: Mapping[str, str]) -> Plot:
    counted = counts(cells, ["paper"]).set_index("paper").reindex([p for p in titles if p in set(cells["paper"])])
    fig, ax = style.subplots(width=6.0, height=min(0.27, 7.5 / len(counted)) * len(counted) + 1.5)
    _bars(ax, counted, list(range(len(counted))), [titles[p] for p in counted.index])
    ax.set(ylim=(len(counted) - 0.5, -0.5))
    fig.legend(loc="outside upper left", ncols=3)
    alt = f"Bars: shares of verdicts among printed numbers. {badge(cells)}"
    title, unit = f"{name}: {matches_title(cells['verdict'])}", f"{_SHARES}, by paper or data set"
    key = "verdicts" if name == FIVE else "others"
    return Plot(fig, key, alt.replace("*", ""), f"{_BARS} Each bar is a paper or data set.", title, unit)


def matches_title(verdicts: pd.Series) -> str:
    """How many of the numbers that raw data decide match by rule. verdicts : of printed numbers."""
    n = int(verdicts.isin(ATTEMPTED).sum())
    return _PHRASES.say("matches_title", n=n, match=int((verdicts == MATCH).sum()))


_PHRASES = Phrases(__package__)
_SHARES = "Shares of printed numbers by verdict"
_BARS = (
    f"{_SHARES}; the end of each bar gives how many numbers are printed. Dark colours are "
    "verdicts based on raw data, light ones those without: numbers that follow from others or contradict them, numbers "
    "whose data have to be downloaded or were never published, that state a design, or that were not attempted."
)


def _bars(ax: Axes, counted: pd.DataFrame, position: list, names: list[str]) -> None:
    """Bars divided by verdict, with the number of printed numbers at the end; verdicts that occur are in the legend."""
    total, left = counted[list(VERDICTS)].sum(axis=1), pd.Series(0.0, counted.index)
    for (verdict, name), color in zip(VERDICTS.items(), VERDICT_COLORS, strict=True):
        if counted[verdict].sum() == 0:
            continue
        share = 100 * counted[verdict] / total
        ax.barh(position, share, 0.8, left=left, color=color, label=name, linewidth=0)
        tooltips = [f"{who}: {n:,} of {of:,} {name}" for who, n, of in zip(names, counted[verdict], total, strict=True)]
        y = pd.Series(position, counted.index)
        style.tips(ax, tooltips, left.where(share > 0), y - 0.4, x_to=left + share, y_to=y + 0.4)
        left += share
    for at, n in zip(position, total, strict=True):
        ax.text(101, at, f"{n:,}", va="center", fontsize=7)
    ax.set_yticks(position, names)
    ax.set(xlim=(0, 100), xlabel="Share of printed numbers; count at the end of each bar")
    ax.xaxis.set_major_formatter(mpl.ticker.PercentFormatter(decimals=0))
    ax.tick_params(axis="y", length=0)
