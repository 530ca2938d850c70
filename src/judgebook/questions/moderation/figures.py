"""Figures of notebook 12."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from judgebook.display import captions
from judgebook.display.many import DRAWN
from judgebook.display.names import BAD, GOOD, NONE, OPEN, DisplayNames
from judgebook.display.plots import stacked
from judgebook.display.style import PAGE, handle, legend_of, subplots, tips
from judgebook.display.text import Phrases, span, told
from judgebook.display.views import Plot
from judgebook.questions.moderation import tables
from judgebook.questions.moderation.preferences import OUTCOMES
from judgebook.questions.moderation.tables import by_corpus, ordered, pair_titles
from judgebook.study.results import Results

#: outcomes from good to bad for the system: colour of bars, and a shade that shows as a thin line
SHADES = {"wins": GOOD, "tied": "#8FC4BD", "unrelated": NONE, "loses": BAD}
DARK = SHADES | {"tied": "#4B9C93", "unrelated": OPEN}
#: categories from bad to good
CATEGORIES = (BAD, NONE, GOOD)
#: intervals: name -> (legend, line width, opacity)
INTERVALS = {
    "n": ("CI, all judgements independent", 2.6, 0.45),
    "context": ("CI, prompts resampled", 1.8, 1.0),
    "items": ("CI, judgements of an item identical", 0.9, 1.0),
}
_PHRASES = Phrases(__package__)


def outcomes(results: Results, names: DisplayNames) -> Iterator[Plot]:
    """Shares of the outcomes by system, and by pair of systems from the side of the first."""
    shares = ordered(results.select("moderation_share", data=None), names)
    for suffix, rows in by_corpus(shares):
        alone = rows[rows["system_b"].isna()]
        titles = {s: names.name("system", s) for s in alone["system"].unique()}
        best = alone[alone["outcome"] == "wins"].sort_values("estimate").iloc[-1]
        alt = f"Shares of wins, ties, unrelated and losses of {len(titles)} systems with intervals;"
        alt += f" {titles[best['system']]} wins most often ({100 * best['estimate']:.0f}%)."
        alone = alone.assign(line=alone["system"])
        few = _first(titles, alone[alone["outcome"] == "wins"].set_index("line")["estimate"])
        note = captions.chosen(len(few), len(titles), "systems that win most often")
        caption = f"Bars: how often each system's answer wins, ties, is unrelated to the prompt or loses. {ENDS}"
        tests = results["moderation_lead"].loc[lambda f, of=rows["corpus"].iloc[0]: f["corpus"] == of]
        caption = captions.joined(caption, note, count(alone))
        of_systems, of_pairs = leads_title(tests, names), pairs_title(tests)
        unit = "Share of judgements, by system and outcome"
        yield Plot(bars(alone, few), f"outcomes{suffix}", alt, caption, of_systems, unit)
        pairs, titles = pair_titles(rows, names)
        alt = f"Shares of wins, ties, unrelated and losses of {len(titles)} pairs of systems; the first of a pair wins"
        shares = pairs.drop_duplicates(["line", "outcome"]).pivot_table(
            index="line", columns="outcome", values="estimate"
        )
        few = _first(titles, (shares["wins"] - shares["loses"]).abs())
        note = captions.chosen(len(few), len(titles), "pairs whose wins and losses differ most")
        caption = f"Bars: how often the first system of a pair wins or loses, both tie or both are unrelated. {ENDS}"
        alt = f"{alt} {span(100 * pairs.loc[pairs['outcome'] == 'wins', 'estimate'], 0)}%."
        caption = captions.joined(caption, note, count(pairs))
        unit = "Share of judgements, by pair of systems and outcome"
        yield Plot(bars(pairs, few), f"pairs{suffix}", alt, caption, of_pairs, unit)


def leads_title(rows: pd.DataFrame, names: DisplayNames) -> str:
    """Who is preferred to most others. rows : `moderation_lead`."""
    won = pd.Series([better for better, _ in tables.preferred(rows)]).value_counts()
    best = sorted(won.index[won == won.max()], key=lambda s: names.position("system", s))
    systems = {*rows["system"], *rows["system_b"]}
    facts = {
        "best": [names.name("system", s) for s in best],
        "others": len(systems) - 1,
        "beaten": int(won.max()) if len(won) else 0,
    }
    return _PHRASES.say("leads_title", n=len(rows), **facts)


def pairs_title(rows: pd.DataFrame) -> str:
    """How many pairs differ significantly. rows : `moderation_lead`."""
    return _PHRASES.say("pairs_title", n=len(rows), found=len(tables.preferred(rows)))


#: what the dots and lines beside bars are
ENDS = (
    "Dots: the same shares, on one scale, in a panel for each Lines: CIs, one for each assumption on"
    " what is independent."
)


def count(rows: pd.DataFrame) -> str:
    """How many judgements a bar is of."""
    sizes = rows.loc[rows["interval"] == "n", "n"]
    return f"{captions.sample(sizes, 'judgements per row')}." if len(sizes) else ""


def _first(titles: Mapping[str, str], by: pd.Series) -> dict[str, str]:
    """Of many lines the DRAWN with the largest values, in their order."""
    most = set(by.nlargest(DRAWN).index) if len(titles) > DRAWN else set(titles)
    return {line: title for line, title in titles.items() if line in most}


def bars(rows: pd.DataFrame, titles: Mapping[str, str]) -> Figure:
    """Shares as stacked bars, and each with its intervals on a common axis. titles : value of `line` -> name."""
    once = rows.drop_duplicates(["line", "outcome"])
    wide = once.pivot_table(index="line", columns="outcome", values="estimate").reindex(list(titles))[list(OUTCOMES)]
    wide = wide.rename(columns=str.capitalize)
    fig, axes = subplots(1, 5, width=PAGE, height=1.2 + 0.34 * len(titles), width_ratios=[1.7, 1, 1, 1, 1])
    stacked(wide.set_axis(list(titles.values())), axes[0], colors=list(SHADES.values()), xlabel="Share of judgements")
    axes[0].set_xticks([0, 0.5, 1])
    if max(map(len, titles.values())) > 26:  # narrow bars: only what has room
        for text in axes[0].texts:
            text.set_visible(float(text.get_text()) >= 18)
    right = min(100, 4 + 100 * rows.loc[rows["line"].isin(list(titles)), "ci_high"].max())
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
            tooltips = [
                told(f"{titles[line]}, {outcome}, {INTERVALS[kind][0]}", row, 1, percents=True)
                for line, row in zip(part.index, part.to_dict("records"), strict=True)
            ]
            tips(ax, tooltips, 100 * part["ci_low"], y, x_to=100 * part["ci_high"])
        ax.set(title=outcome.capitalize(), xlim=(0, right), xlabel="Share")
        ax.set(ylim=(len(titles) - 0.4, -0.6), yticks=[])
        ax.xaxis.set_major_locator(MaxNLocator(3, steps=[1, 2, 2.5, 5, 10]))
        ax.xaxis.set_major_formatter(PercentFormatter(decimals=0))
        ax.grid(axis="x")
        ax.spines["left"].set_visible(False)
    keys = [handle(outcome.capitalize(), color, "s", linewidth=0) for outcome, color in SHADES.items()]
    keys += [handle(INTERVALS[k][0], "#555555", "", linewidth=INTERVALS[k][1], alpha=INTERVALS[k][2]) for k in kinds]
    legend_of(fig, keys)
    return fig
