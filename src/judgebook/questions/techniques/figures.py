"""Figures of notebook 11."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from judgebook.display import captions
from judgebook.display.grid_plots import ROW, filled, grid_figure, hue_styles, interval_keys, intervals
from judgebook.display.line_plots import DASHED, dashed, line_panels
from judgebook.display.many import DRAWN, pages
from judgebook.display.names import BAD, NEUTRAL, DisplayNames
from judgebook.display.style import INK, handle, legend_of, log_axis, subplots
from judgebook.display.text import Phrases, percent, span
from judgebook.display.views import Plot
from judgebook.questions.techniques.question import Techniques
from judgebook.questions.techniques.sittings import TechniqueData
from judgebook.questions.techniques.tables import described, matching, shown
from judgebook.study.results import Results

#: with more pairs than this, power is averaged over them
MANY_PAIRS = 3
_PHRASES = Phrases(__package__)


def rates(every: pd.DataFrame, names: DisplayNames) -> Iterator[Plot]:
    """Win rates with intervals, figures of each corpus: a panel per pair of systems, a row per technique.

    every : `described`, ties as half a win.
    """
    for suffix, part in _by_corpus(every):
        few, note = _most_different(part, "Pair", DRAWN, "pairs of systems")
        keys = interval_keys(f"{names.ci} over conversations", None, few)
        caption = "Marks: share of judgements that prefer the first system of a pair to the second, ties as half, by"
        caption += f" technique (rows). {captions.intervals(names.ci, 'conversations', few['n_clusters'])}"
        exact = " Dashed, hollow: exact binomial interval, where too few judgements differ for the bootstrap."
        caption = captions.joined(caption + exact * bool((few["ci_kind"] == "exact_bound").any()), note)
        for page, rows in pages(_grid(few), columns=3):
            fig = grid_figure(
                rows, intervals, names=names, xlabel="Win rate of the first system", columns=3, sharex=True, keys=keys,
                reference=0.5, named="both equal", percent=True,
            )  # fmt: skip
            alt = f"Win rates with intervals for {_sizes(few)}: {span(rows['estimate'].dropna())}."
            name = f"rates{suffix}{'_page' if page else ''}{page}"
            yield Plot(fig, name, alt, caption, rates_title(part), "Share of judgements that prefer the first system")


def rates_title(rows: pd.DataFrame) -> str:
    """How many win rates have an interval without one half."""
    known = rows.dropna(subset="ci_low")
    apart = (known["ci_low"] > 0.5) | (known["ci_high"] < 0.5)
    return _PHRASES.say("rates_title", n=len(known), apart=int(apart.sum()))


def _most_different(rows: pd.DataFrame, by: str, most: int, what: str) -> tuple[pd.DataFrame, str]:
    """The rows of the `most` pairs (or systems) whose estimates are furthest from one half, and what is left out."""
    distance = (rows["estimate"] - 0.5).abs().groupby(rows[by].astype(str), sort=False).mean()
    shown_ones = distance.nlargest(most).index if len(distance) > most else distance.index
    note = captions.chosen(len(shown_ones), len(distance), f"{what} furthest from equality")
    return rows[rows[by].astype(str).isin(shown_ones)], note


def _by_corpus(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The rows of each corpus, where there are several, with the end of its figure's name."""
    parts = [p for _, p in rows.groupby("Corpus", sort=False)] if "Corpus" in rows else [rows] * (len(rows) > 0)
    yield from ((f"_{i}" if i else "", part) for i, part in enumerate(parts))


def _sizes(rows: pd.DataFrame) -> str:
    corpus = f" ({rows['Corpus'].iloc[0]})" if "Corpus" in rows else ""
    return f"{rows['Pair'].nunique()} pairs of systems under {rows['Technique'].nunique()} techniques{corpus}"


def _grid(rows: pd.DataFrame) -> pd.DataFrame:
    """`described` rows for `grid_figure`: a panel per pair, a row per technique, a hue per group and dimension; all
    panels have the same rows, so that names on the left hold for all of them."""
    hue = [", ".join(row) for row in rows[[c for c in ("Group", "Dimension") if c in rows]].to_numpy()]
    placed = rows.assign(panel=rows["Pair"].astype(str), block=rows["Technique"].astype(str), hue=hue)
    return filled(placed, [str(t) for t in rows["Technique"].cat.categories if str(t) in set(placed["block"])])


def hours(results: Results, data: TechniqueData, names: DisplayNames, options: Techniques) -> Iterator[Plot]:
    """Hours to the stated power with intervals, and hours until first significant: panels as in `rates`."""
    rows = described(results.select("hours_to_power", label=shown(data)), data, names)
    rows = rows.assign(first=matching(rows, results["hours_to_significance"]))
    power = f"{percent(options.power)} power"
    for suffix, part in _by_corpus(rows):
        part, note = _least_hours(part)
        keys = [handle(f"to {power}, with {names.ci}", "#555555", "o")]
        if part["estimate"].isna().any():
            keys.append(handle(f"CI alone: {power} not reached", "#555555", ""))
        keys.append(handle("until first significant, as published", "#555555", "D", linewidth=0, mfc="white"))
        if (part["ci_low"].notna() & part["ci_high"].isna()).any():
            keys.append(handle("no upper end below 1,000 hours", "#555555", ">", linewidth=0))
        ends = part[["estimate", "ci_low", "ci_high", "first"]]
        part = part.assign(end=1.5 * ends.max().max(), start=ends[ends > 0].min().min() / 1.5)
        caption = f"Large marks: hours of work until a test finds the difference between two systems with {power}, by"
        caption += (
            f" technique (rows). {captions.intervals(names.ci, 'conversations', part['n'])} A line without a mark: the"
        )
        caption += (
            " power is not reached with as many conversations as were simulated. Small hollow marks: hours until the"
        )
        caption += (
            " difference is first significant if it is tested after every rating, as published. Logarithmic axis."
        )
        least = part[["estimate", "first"]].melt()["value"].dropna()
        for page, on_page in pages(_grid(part), columns=3, around=2.0):
            fig = grid_figure(on_page, _hours, names=names, xlabel="Hours of work", columns=3, sharex=True, keys=keys)
            for ax in fig.axes[: on_page["panel"].nunique()]:
                log_axis(ax)
            alt = f"Hours of work for {_sizes(part)}, to {power} and until first significant: {span(least, 1)}."
            name = f"hours{suffix}{'_page' if page else ''}{page}"
            yield Plot(fig, name, alt, captions.joined(caption, note))


def _least_hours(rows: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The rows of the DRAWN pairs that need least work, and what is left out."""
    needed = rows["estimate"].fillna(np.inf).groupby(rows["Pair"].astype(str), sort=False).median()
    cheapest = needed.sort_values(kind="stable").index[:DRAWN]
    note = captions.chosen(len(cheapest), len(needed), "pairs of systems that take the least work to distinguish")
    return rows[rows["Pair"].astype(str).isin(cheapest)], note


def _hours(ax: Axes, rows: pd.DataFrame, color: str, marker: str) -> None:
    bounded = rows[rows["ci_low"].notna()]
    opened = bounded[bounded["ci_high"].isna()]
    low = bounded["ci_low"].clip(lower=bounded["start"])  # no 0 on a logarithmic axis
    ax.hlines(bounded["y"], low, bounded["ci_high"].fillna(bounded["end"]), color=color, linewidth=1.3)
    ax.plot(opened["end"], opened["y"], ">", color=color, markersize=3)
    ax.plot(rows["estimate"], rows["y"], marker, color=color, markersize=3.2)
    ax.plot(rows["first"], rows["y"] + 0.3 * ROW, "D", color=color, markersize=2.2, mfc="white", mew=0.7)


def power(results: Results, data: TechniqueData, names: DisplayNames, options: Techniques) -> Plot | None:
    """Power against hours, a panel for each technique: means over the shown dimensions, and over all pairs where there
    are many."""
    timed = [t for t, spec in data.techniques.items() if spec.timed]
    rows = described(results.select("technique_power", label=shown(data), technique=timed), data, names)
    if rows.empty:
        return None
    parts = [c for c in ("Corpus", "Group") if c in rows] + ["Pair"] * (rows["Pair"].nunique() <= MANY_PAIRS)
    rows["hue"] = [", ".join(r) for r in rows[parts].to_numpy()] if parts else "Mean over all pairs"
    rows = rows.assign(panel=rows["Technique"].astype(str), x=rows["hours"].astype(float))
    grouped = rows.groupby(["panel", "hue", "conversations"], sort=False)
    mean = grouped[["x", "estimate"]].mean().reset_index().assign(ci_low=np.nan, ci_high=np.nan)
    quartiles = grouped["estimate"].quantile([0.25, 0.75]).unstack().reset_index()  # noqa: PD010
    fig = line_panels(mean, names, "Hours of work", "Power", (options.power, f"{percent(options.power)} power"))
    panels, styles = list(mean["panel"].unique()), hue_styles(list(mean["hue"].unique()), names)
    band = quartiles.merge(mean, on=["panel", "hue", "conversations"]).sort_values("x")
    for (panel, hue), part in band.groupby(["panel", "hue"], sort=False):
        area = {"color": styles[hue][0], "alpha": 0.18, "linewidth": 0}
        fig.axes[panels.index(panel)].fill_between(part["x"], part[0.25], part[0.75], **area)
    for ax in fig.axes[: len(panels)]:
        log_axis(ax)
        ax.set_ylim(0, 1.02)
        ax.yaxis.set_major_formatter(lambda y, _: f"{round(100 * y)}%")
    alt = f"Power against hours of work, in panels for {', '.join(panels)}, a line for"
    over = "dimensions" if "Pair" in parts else "pairs of systems and dimensions"
    caption = "Marks: share of simulated studies in which a test finds the difference between two systems, by hours of"
    caption += (
        f" work, mean over {over}. Bands: interquartile range. {captions.sample(rows['n'], 'simulated studies')} each;"
    )
    caption += f" their Monte Carlo error is at most {percent(0.98 / np.sqrt(rows['n'].min()))}. Logarithmic axis."
    return Plot(fig, "power", f"{alt} {', '.join(mean['hue'].unique())}: {span(mean['estimate'])}.", caption)


def errors(results: Results, data: TechniqueData, names: DisplayNames, options: Techniques) -> Plot | None:
    """Type I error rates by technique, of one planned test and of testing after every rating."""
    import seaborn as sns  # takes a second, and few figures need it

    tests = {"one planned test": "technique_false_positive", "a test after every rating": "technique_false_crossing"}
    parts = [results[statistic].assign(test=test) for test, statistic in tests.items() if len(results[statistic])]
    if not parts:
        return None
    rows = described(pd.concat(parts, ignore_index=True), data, names)
    rows["Technique"] = rows["Technique"].cat.remove_unused_categories()
    height = 0.9 + 0.26 * rows["Technique"].nunique()
    fig, ax = subplots(width=5.6, height=height)
    colors = (NEUTRAL[1], BAD)
    style = {"palette": list(colors), "markers": ["o", "D"], "linestyle": "none", "dodge": 0.3, "markersize": 4}
    style |= {"errorbar": ("pi", 100), "err_kws": {"linewidth": 1.2}, "hue": "test", "hue_order": list(tests)}
    sns.pointplot(rows, x="estimate", y="Technique", ax=ax, legend=False, **style)
    ax.axvline(options.alpha, color=INK, linewidth=0.8, linestyle=DASHED)
    ax.set(xlabel="Type I error rate: mean and range over pairs and dimensions", ylabel="")
    ax.xaxis.set_major_formatter(lambda x, _: f"{round(100 * x, 6):g}%")
    ax.set_xlim(left=0)
    ax.grid(axis="x")
    keys = [handle(t, colors[i], "oD"[i]) for i, t in enumerate(tests)]
    legend_of(fig, [*keys, dashed(f"nominal {percent(options.alpha)}")])
    alt = "Type I error rates by technique of one planned test and of a test after every rating:"
    caption = (
        "Marks: share of simulated studies of two equal systems in which a test finds a difference, mean over pairs of"
    )
    caption += (
        f" systems and dimensions; lines: smallest to largest. {captions.sample(rows['n'])} simulated studies each."
    )
    alt += f" {span(parts[0]['estimate'])} and {span(parts[-1]['estimate'])}."
    return Plot(fig, "errors", alt, caption)
