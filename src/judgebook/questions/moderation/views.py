"""What notebook 12 shows and says: figures, tables, and sentences, which `text.md.j2` puts into words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from judgebook.display import captions, tables
from judgebook.display.grid_plots import DRAWN
from judgebook.display.names import BAD, GOOD, NONE, OPEN, DisplayNames
from judgebook.display.plots import stacked
from judgebook.display.style import PAGE, handle, legend_of, subplots, tips
from judgebook.display.text import Phrases, number, told
from judgebook.display.views import Plot, Prose, Table
from judgebook.questions.moderation.analysis import OUTCOMES, preferred
from judgebook.study.results import Results

#: outcomes from good to bad for the system: colour of bars, and a shade that shows as a thin line
SHADES = {"wins": GOOD, "tied": "#8FC4BD", "unrelated": NONE, "loses": BAD}
DARK = SHADES | {"tied": "#4B9C93", "unrelated": OPEN}
#: intervals: name -> (legend, line width, opacity)
INTERVALS = {
    "n": ("CI, all judgements independent", 2.6, 0.45),
    "context": ("CI, prompts resampled", 1.8, 1.0),
    "items": ("CI, judgements of an item identical", 0.9, 1.0),
}
_PHRASES = Phrases(__package__)


def outcomes(results: Results, names: DisplayNames) -> Iterator[Plot]:
    """Shares of the outcomes by system."""
    shares = results.select("moderation_share", data=None)
    shares = shares.iloc[shares["system"].map(lambda s: names.position("system", s)).argsort(kind="stable")]
    for i, (corpus, rows) in enumerate(shares.groupby("corpus", sort=False)):
        titles = {s: names.name("system", s) for s in rows["system"].unique()}
        wins = rows[rows["outcome"] == "wins"].sort_values("estimate").set_index("system")["estimate"]
        alt = f"Shares of wins, ties, unrelated and losses of {len(titles)} systems with intervals;"
        alt += f" {titles[wins.index[-1]]} wins most often ({100 * wins.iloc[-1]:.0f}%)."
        most = set(wins.nlargest(DRAWN).index) if len(titles) > DRAWN else set(titles)
        few = {system: title for system, title in titles.items() if system in most}
        note = captions.chosen(len(few), len(titles), "systems that win most often")
        caption = f"Bars: how often each system's answer wins, ties, is unrelated to the prompt or loses. {ENDS}"
        tests = results["moderation_lead"].loc[lambda f, of=corpus: f["corpus"] == of]
        unit = "Share of judgements, by system and outcome"
        fig, caption = bars(rows.assign(line=rows["system"]), few), captions.joined(caption, note, count(rows))
        yield Plot(fig, f"outcomes_{i}" if i else "outcomes", alt, caption, leads_title(tests, names), unit)


def leads_title(rows: pd.DataFrame, names: DisplayNames) -> str:
    """Who is preferred to most others. rows : `moderation_lead`."""
    won = pd.Series([better for better, _ in preferred(rows)]).value_counts()
    best = sorted(won.index[won == won.max()], key=lambda s: names.position("system", s))
    systems = {*rows["system"], *rows["system_b"]}
    facts = {
        "best": [names.name("system", s) for s in best],
        "others": len(systems) - 1,
        "beaten": int(won.max()) if len(won) else 0,
    }
    return _PHRASES.say("leads_title", n=len(rows), **facts)


#: what the dots and lines beside bars are
ENDS = (
    "Dots: the same shares, on one scale, in a panel for each Lines: CIs, one for each assumption on"
    " what is independent."
)


def count(rows: pd.DataFrame) -> str:
    """How many judgements a bar is of."""
    sizes = rows.loc[rows["interval"] == "n", "n"]
    return f"{captions.sample(sizes, 'judgements per row')}." if len(sizes) else ""


def bars(rows: pd.DataFrame, titles: Mapping[str, str]) -> Figure:
    """Shares as stacked bars, and each with its intervals on a common axis. titles : value of `line` -> name."""
    once = rows.drop_duplicates(["line", "outcome"])
    wide = once.pivot_table(index="line", columns="outcome", values="estimate").reindex(list(titles))[list(OUTCOMES)]
    wide = wide.rename(columns=str.capitalize)
    fig, axes = subplots(1, 5, width=PAGE, height=1.2 + 0.34 * len(titles), width_ratios=[1.7, 1, 1, 1, 1])
    stacked(wide.set_axis(list(titles.values())), axes[0], colors=list(SHADES.values()), xlabel="Share of judgements")
    axes[0].set_xticks([0, 0.5, 1])
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


CATEGORIES = {"-1": "Not acceptable (−1)", "0": "In between (0)", "1": "Acceptable (1)"}


def findings(results: Results, names: DisplayNames, *, simulated: bool, alpha: float = 0.05) -> Iterator[Prose]:
    """Which systems' replies are preferred; agreement of annotators; flagged replies."""
    rows = results["moderation_lead"]
    better = [[names.name("system", s) for s in pair] for pair in preferred(rows, alpha)]
    alphas = results["alpha"].to_dict("records")
    yield Prose(_PHRASES.say("headline", n=len(rows), better=better, simulated=simulated, alpha=(alphas or [None])[0]))
    rates = [
        (names.name("system", r["system"]), r) for _, r in results["flagged_rate"].sort_values("estimate").iterrows()
    ]
    yield Prose(_PHRASES.say("flagged", rates=rates))


def leads(results: Results, names: DisplayNames) -> Table:
    """Wins minus losses of pairs of systems, in percent of their comparisons, with Holm-adjusted p-values."""
    rows = names.pairs(results["moderation_lead"])
    scaled = rows.assign(**{k: 100 * rows[k] for k in ("estimate", "ci_low", "ci_high")})
    out = names.named(rows[["corpus", "system"]].assign(Against=[names.name("system", s) for s in rows["system_b"]]))
    out["Wins minus losses (%)"] = tables.intervals(scaled, 1)
    out = out.assign(**{"p (Holm)": rows["p_adjusted"], "Judgements": rows["n"]})
    caption = "Wins minus losses of pairs of systems. The test reverses the outcomes of whole prompts at random."
    return Table(out, "leads", caption, 3)


def category_titles(scores: Iterable[str], names: DisplayNames) -> dict[str, str]:
    """Scores of the category label in order, with display names."""
    titles = CATEGORIES | names.titles.get("score", {})
    return {s: titles.get(s, f"Category {number(float(s), 0)}") for s in sorted(set(scores), key=float)}


def asked(names: DisplayNames) -> str:
    """What the categories answer, for captions, where answers are words."""
    return "".join(f" (asked: {title})" for title in names.titles.get("asked", {}).values())
