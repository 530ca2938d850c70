"""Figures of notebook 12."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from helpers.display.names import DisplayNames
from helpers.display.plots import stacked
from helpers.display.style import PAGE, handle, legend_of, subplots
from helpers.display.text import span
from helpers.display.views import Plot
from helpers.moderation.preferences import OUTCOMES
from helpers.moderation.tables import by_corpus, category_titles, ordered, pair_titles
from helpers.study.results import Results

#: outcomes from good to bad for the system: colour of bars, and a shade that shows as a thin line
SHADES = {"wins": "#0072B2", "tied": "#9CC3E0", "unrelated": "#D9D9D9", "loses": "#D55E00"}
DARK = SHADES | {"tied": "#56B4E9", "unrelated": "#7F7F7F"}
#: categories from bad to good
CATEGORIES = ("#D55E00", "#D9D9D9", "#0072B2")
#: intervals: name -> (legend, line width, opacity)
INTERVALS = {
    "n": ("all judgements independent", 2.6, 0.45),
    "context": ("prompts resampled", 1.8, 1.0),
    "items": ("judgements of an item copies", 0.9, 1.0),
}


def categories(results: Results) -> Iterator[Plot]:
    """Shares of the categories among the judgements of every annotator (Figure 2)."""
    for suffix, rows in by_corpus(results["annotator_score_share"]):
        titles = category_titles(rows["score"])
        wide = rows.pivot_table(index="annotator", columns="score", values="estimate", sort=False)
        wide = wide[list(titles)].sort_index()
        fig, ax = subplots(width=4.8, height=0.9 + 0.24 * len(wide))
        colors = CATEGORIES if len(titles) == 3 else sns.color_palette("vlag_r", len(titles))
        stacked(wide.set_axis([f"Annotator {i + 1}" for i in range(len(wide))]), ax, colors=colors)
        legend_of(fig, [handle(t, c, "s", linewidth=0) for t, c in zip(titles.values(), colors, strict=True)])
        worst = next(iter(titles))
        alt = f"Stacked shares of {len(titles)} categories by annotator ({len(wide)}): {titles[worst].lower()} from"
        yield Plot(fig, f"categories{suffix}", f"{alt} {span(100 * wide[worst], 0)}%.")


def outcomes(results: Results, names: DisplayNames) -> Iterator[Plot]:
    """Shares of the outcomes by system, and by pair of systems from the side of the first."""
    shares = ordered(results.select("moderation_share", data=None), names)
    for suffix, rows in by_corpus(shares):
        own = rows[rows["system_b"].isna()]
        titles = {s: names.name("system", s) for s in own["system"].unique()}
        best = own[own["outcome"] == "wins"].sort_values("estimate").iloc[-1]
        alt = f"Shares of wins, ties, unrelated and losses of {len(titles)} systems with intervals;"
        alt += f" {titles[best['system']]} wins most often ({100 * best['estimate']:.0f}%)."
        yield Plot(_outcomes(own.assign(line=own["system"]), titles), f"outcomes{suffix}", alt)
        pairs, titles = pair_titles(rows, names)
        alt = f"The same for {len(titles)} pairs of systems, from the perspective of the first: it wins"
        won = 100 * pairs.loc[pairs["outcome"] == "wins", "estimate"]
        yield Plot(_outcomes(pairs, titles), f"pairs{suffix}", f"{alt} {span(won, 0)}%.")


def printed(results: Results, names: DisplayNames) -> Plot:
    """Printed shares of outcomes (Table 6) with the two extreme intervals."""
    rows = results.select("moderation_share", data="printed")
    titles = {s: names.name("system", s) for s in rows["system"].unique()}
    won = 100 * rows.loc[rows["outcome"] == "wins", "estimate"]
    alt = f"Printed shares of outcomes of {len(titles)} systems, with intervals for independent and for copied"
    return Plot(
        _outcomes(rows.assign(line=rows["system"]), titles), "printed", f"{alt} judgements: wins {span(won, 0)}%."
    )


def _outcomes(rows: pd.DataFrame, titles: Mapping[str, str]) -> Figure:
    """Shares as stacked bars, and each with its intervals on a common axis. titles : value of `line` -> name."""
    once = rows.drop_duplicates(["line", "outcome"])
    wide = once.pivot_table(index="line", columns="outcome", values="estimate").reindex(list(titles))[list(OUTCOMES)]
    size = {"width": PAGE, "height": 1.2 + 0.34 * len(titles), "width_ratios": [2.4, 1, 1, 1, 1]}
    fig, axes = subplots(1, 5, **size)
    stacked(wide.set_axis(list(titles.values())), axes[0], colors=list(SHADES.values()), xlabel="Share of judgements")
    kinds = [k for k in INTERVALS if (rows["interval"] == k).any()]
    for ax, outcome in zip(axes[1:], OUTCOMES, strict=True):
        for i, kind in enumerate(kinds):
            part = (
                rows[(rows["outcome"] == outcome) & (rows["interval"] == kind)].set_index("line").reindex(list(titles))
            )
            y = np.arange(len(titles)) + 0.2 * (i - (len(kinds) - 1) / 2)
            _, width, alpha = INTERVALS[kind]
            ax.hlines(y, 100 * part["ci_low"], 100 * part["ci_high"], DARK[outcome], linewidth=width, alpha=alpha)
            ax.plot(100 * part["estimate"], y, "o", color=DARK[outcome], markersize=2.5)
        limits = (0, 5 + 100 * rows["ci_high"].max())
        ax.set(title=outcome.capitalize(), xlim=limits, ylim=(len(titles) - 0.4, -0.6), yticks=[], xlabel="%")
        ax.grid(axis="x")
        ax.spines["left"].set_visible(False)
    keys = [handle(outcome.capitalize(), color, "s", linewidth=0) for outcome, color in SHADES.items()]
    keys += [handle(INTERVALS[k][0], "#555555", "", linewidth=INTERVALS[k][1], alpha=INTERVALS[k][2]) for k in kinds]
    fig.legend(handles=keys, loc="outside upper left", ncols=4)
    return fig
