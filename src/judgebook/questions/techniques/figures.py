"""Figures of notebook 11."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from judgebook.display import captions
from judgebook.display.grid_plots import DRAWN, ROW, filled, grid_figure, interval_keys, intervals, pages
from judgebook.display.names import DisplayNames
from judgebook.display.style import handle, log_axis
from judgebook.display.text import Phrases, percent, span
from judgebook.display.views import Plot
from judgebook.questions.techniques.question import Techniques
from judgebook.questions.techniques.sittings import TechniqueData
from judgebook.questions.techniques.tables import described, matching, shown
from judgebook.study.results import Results

_PHRASES = Phrases(__package__)


def rates(every: pd.DataFrame, names: DisplayNames, ties: str) -> Iterator[Plot]:
    """Win rates with intervals, figures of each corpus: a panel per pair of systems, a row per technique.

    every : `described`. ties : how they count, in words.
    """
    for suffix, part in _by_corpus(every):
        from_half = (0.5 - (part["estimate"] - 0.5).abs()).groupby(part["Pair"].astype(str), sort=False).mean()
        few, note = _drawn(part, from_half, "furthest from equality")
        keys = interval_keys(f"{names.ci} over conversations", None, few)
        caption = f"Marks: share of judgements that prefer the first system of a pair to the second, {ties},"
        caption += f" by technique (rows). {captions.intervals(names.ci, 'conversations', few['n_clusters'])}"
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


def _drawn(rows: pd.DataFrame, by_pair: pd.Series, which: str) -> tuple[pd.DataFrame, str]:
    """The rows of the DRAWN pairs of systems with the smallest values, and what is left out."""
    first = by_pair.sort_values(kind="stable").index[:DRAWN]
    note = captions.chosen(len(first), len(by_pair), f"pairs of systems {which}")
    return rows[rows["Pair"].astype(str).isin(first)], note


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
        needed = part["estimate"].fillna(np.inf).groupby(part["Pair"].astype(str), sort=False).median()
        part, note = _drawn(part, needed, "that take the least work to distinguish")
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


def _hours(ax: Axes, rows: pd.DataFrame, color: str, marker: str) -> None:
    bounded = rows[rows["ci_low"].notna()]
    opened = bounded[bounded["ci_high"].isna()]
    low = bounded["ci_low"].clip(lower=bounded["start"])  # no 0 on a logarithmic axis
    ax.hlines(bounded["y"], low, bounded["ci_high"].fillna(bounded["end"]), color=color, linewidth=1.3)
    ax.plot(opened["end"], opened["y"], ">", color=color, markersize=3)
    ax.plot(rows["estimate"], rows["y"], marker, color=color, markersize=3.2)
    ax.plot(rows["first"], rows["y"] + 0.3 * ROW, "D", color=color, markersize=2.2, mfc="white", mew=0.7)
