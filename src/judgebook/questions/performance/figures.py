"""Figures of notebook 07."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pandas as pd
from matplotlib.lines import Line2D

from judgebook.display import grid_plots
from judgebook.display.many import MANY, even_pages
from judgebook.display.names import DisplayNames
from judgebook.display.plots import HOLLOW
from judgebook.display.text import counted, listing, span
from judgebook.display.views import Plot
from judgebook.questions.performance import leaderboard
from judgebook.questions.performance.analysis import two_intervals, won
from judgebook.questions.performance.arrangement import (
    DIRECTIONS,
    SIGNS,
    any_clustering,
    arrange,
    clusters,
    median_effects,
    of_many,
    of_many_labels,
    one_axis,
    part_names,
    weights,
    what,
)
from judgebook.questions.performance.leaderboard import Order
from judgebook.questions.performance.leading import WORSE
from judgebook.study.labels import METHODS
from judgebook.study.results import Results

#: labels of a method, of many systems, that have a figure each
LABELS = 12


def scores(results: Results, names: DisplayNames, method: str) -> Iterator[Plot]:
    """Rates, means or shares won by one method, with both intervals."""
    rates = two_intervals(results)
    rates = rates[rates["method"] == method]
    over = f"{names.ci} over {clusters(rates)}"
    keys = over, f"{names.ci}, scores independent"
    for statistic, rows in rates.groupby("statistic", sort=False):
        name = names.stem(method) + ("" if len(set(rates["statistic"])) == 1 else f"_{statistic}")
        xlabel = what(names, method, statistic)
        caption = f"{xlabel}, by label and system. "
        n = counted(rows["n"], f"{METHODS[method].unit}s per label and system")
        lines = (
            f"Points: estimates; thick lines: {over}; thin lines: {names.ci} as if all scores were independent; {n}."
        )
        if weights(results):  # intervals as published are unweighted, and not drawn
            lines = f"Points: estimates; lines: {over}; {n}.{weights(results)}"
        if statistic == "share":
            yield from _pages(
                arrange(won(rows), names),
                name,
                grid_plots.shares,
                f"{caption}Bars: shares of comparisons; the remainder was lost. {lines}",
                names=names,
                xlabel=xlabel,
                keys=grid_plots.share_keys(*keys),
                sharex=True,
                percent=True,
                reference=0.5,
                named="half of the comparisons",
                cut=False,
            )
        else:
            arranged = arrange(rows, names)
            yield from _pages(
                arranged,
                name,
                grid_plots.intervals,
                caption + lines + _hollow(rows) + _directions(arranged),
                names=names,
                xlabel=xlabel,
                keys=grid_plots.interval_keys(*keys, rows),
                sharex=one_axis(arranged),
                percent=statistic != "mean",
            )


def _hollow(rows: pd.DataFrame) -> str:
    return " Hollow: exact bound, or no CI available." if rows["ci_kind"].isin(HOLLOW).any() else ""


def _directions(arranged: pd.DataFrame) -> str:
    """What the marks of labels mean that are there."""
    drawn = " ".join([*arranged["panel"].astype(str).unique(), *arranged["block"].astype(str).unique()])
    legend = [f"{mark.strip()}: {DIRECTIONS[d].lower()}" for d, mark in SIGNS.items() if mark and mark.strip() in drawn]
    return f" {'; '.join(legend)}." if legend else ""


def _pages(
    arranged: pd.DataFrame,
    name: str,
    paint: grid_plots.Paint,
    caption: str,
    *,
    names: DisplayNames,
    xlabel: str,
    keys: Sequence[Line2D],
    sharex: bool,
    percent: bool = False,
    reference: float | None = None,
    named: str = "",
    cut: bool = True,
) -> Iterator[Plot]:
    """Figures that are no taller than a page; of very many systems the highest and lowest, of labels the clearest.

    Arguments after the caption are those of `grid_plots.grid_figure`.
    """
    arranged, labels = of_many_labels(arranged)
    arranged, note = of_many(arranged)
    note += labels
    parts = arranged["panel"].nunique() // max(arranged["label"].nunique(), 1)
    columns = parts if arranged["system"].nunique() > MANY and 1 < parts < 4 else 4
    for i, page in enumerate(even_pages(arranged, columns)):
        titles = [p for p in dict.fromkeys(page["panel"]) if p]
        alt = f"{xlabel}, by system with CIs, from {span(page['estimate'].dropna())}"
        alt += f", in panels: {listing(titles)}." if titles else "."
        fig = grid_plots.grid_figure(
            page,
            paint,
            names=names,
            xlabel=xlabel,
            columns=columns,
            reference=reference,
            named=named,
            percent=percent,
            sharex=sharex,
            cut=cut,
            keys=keys,
        )
        yield Plot(fig, f"{name}_{i}" if i else name, alt, caption + note)


def ranks(results: Results, names: DisplayNames, orders: Sequence[Order]) -> Iterator[Plot]:
    """Every order of the systems but the first, which stands at the head of the page; of few systems those by single
    labels together, as intervals of ranks."""
    few = results["rank"]["system"].nunique() <= MANY
    drawn = [order for order in orders[1:] if not (few and order.label)]
    plots = (leaderboard.plot(order, names, "order", weights(results)) for order in _clearest(drawn))
    yield from (replace(plot, name=f"order_{i}") for i, plot in enumerate(filter(None, plots), 1))
    if few:
        yield from _rank_intervals(results["rank"], names, weights(results))


def _clearest(orders: Sequence[Order]) -> Iterator[Order]:
    """Of the orders by labels of a method at most LABELS, those in which most systems are clearly worse."""
    for method in dict.fromkeys(order.method for order in orders):
        of_method = [order for order in orders if order.method == method]
        worse = sorted((-(o.rows["verdict"] == WORSE).mean(), i) for i, o in enumerate(of_method) if o.label)
        kept = {i for _, i in worse[:LABELS]}
        yield from (order for i, order in enumerate(of_method) if i in kept or not order.label)


def _rank_intervals(rows: pd.DataFrame, names: DisplayNames, note: str) -> Iterator[Plot]:
    """Ranks of few systems by method: dots and lines, labels below each other."""
    for method, of_method in rows.groupby("method", sort=False):
        title = names.name("method", method)
        over = clusters(of_method.assign(interval=of_method["resample_unit"]))
        arranged = arrange(of_method, names)
        caption = f"{title}: rank of each system by label, 1 being best. Lines: {names.ci} of the fitted model, with"
        caption += f" {over} as samples, for all systems of a label at once; a line that reaches 1: it may be best."
        yield from _pages(
            arranged,
            f"ranks_{names.stem(method)}",
            grid_plots.intervals,
            caption + note + _hollow(of_method) + _directions(arranged),
            names=names,
            xlabel=f"{title}: rank (1: best)",
            keys=grid_plots.interval_keys(f"simultaneous {names.ci}", None, of_method),
            sharex=True,
            cut=False,
        )


def strengths(results: Results, names: DisplayNames) -> Iterator[Plot]:
    """Strengths by Davidson's model."""
    rows = results["strength"]
    if rows["estimate"].notna().any():
        over = " and ".join(f"{unit}s" for unit in str(rows["resample_unit"].dropna().iloc[0]).split(" and "))
        caption = (
            "Strength of each system in Davidson's model of comparisons with ties, on a logarithmic scale, 0 being"
        )
        caption += f" the mean of all systems. Lines: {names.ci} of the fitted model, with {over} as samples;"
        caption += f" {counted(rows['n'], 'comparisons')}."
        caption += weights(results)
        arranged = arrange(rows, names)
        caption += _hollow(rows) + _directions(arranged)
        yield from _pages(
            arranged,
            "strengths",
            grid_plots.intervals,
            caption,
            names=names,
            xlabel="Strength (log, with ties)",
            keys=grid_plots.interval_keys(f"{names.ci} over {over}", None, rows),
            sharex=True,
            reference=0.0,
            named="mean of all systems",
        )


def design_effects(results: Results, names: DisplayNames) -> Plot | None:
    """Design effects by method and part, for each kind of cluster; None where none differs from 1."""
    if not any_clustering(results):
        return None
    rows = median_effects(results, names)
    part, method = part_names(rows, names), [names.name("method", m) for m in rows["method"]]
    block = [f"{m}, {p}" if len(set(part)) > 1 else m for m, p in zip(method, part, strict=True)]
    rows = rows.assign(panel="", block=block, hue="by " + rows["unit"].astype(str), ci_kind="range")
    label = "Design effect: median and range over labels and systems"
    fig = grid_plots.grid_figure(
        rows, grid_plots.intervals, names=names, xlabel=label, reference=1.0, named="1: no clustering", cut=True
    )
    alt = f"{label}, by method and kind of cluster, from {span(rows['estimate'])}."
    caption = "Design effect: variance of an estimate when scores of a cluster are correlated, relative to independent"
    caption += (
        " scores. Points: medians; lines: ranges over labels and systems (not CIs). At 1, clustering has no effect."
    )
    return Plot(fig, "design_effects", alt, caption)
