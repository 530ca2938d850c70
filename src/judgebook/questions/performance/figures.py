"""Figures of notebook 07."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import pandas as pd
from matplotlib.lines import Line2D

from judgebook.display import grid_plots
from judgebook.display.many import even_pages
from judgebook.display.names import DisplayNames
from judgebook.display.plots import HOLLOW
from judgebook.display.text import MISSING, counted, listing, span
from judgebook.display.views import Plot
from judgebook.questions.performance.analysis import two_intervals, with_plain, won
from judgebook.questions.performance.arrangement import (
    CROWDED,
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
    rank_texts,
    weights,
    what,
)
from judgebook.study.labels import METHODS
from judgebook.study.results import Results

#: title -> colours and texts of the cells of a matrix
Matrices = dict[str, tuple[pd.DataFrame, pd.DataFrame]]


def scores(results: Results, names: DisplayNames, method: str) -> Iterator[Plot]:
    """Rates, means or shares won by one method, with both intervals."""
    rates = two_intervals(results)
    rates = rates[rates["method"] == method]
    over = f"{names.ci} over {clusters(rates)}"
    keys = over, f"{names.ci}, scores independent"
    for statistic, rows in rates.groupby("statistic", sort=False):
        name = method if len(set(rates["statistic"])) == 1 else f"{method}_{statistic}"
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
    for i, page in enumerate(even_pages(arranged)):
        titles = [p for p in dict.fromkeys(page["panel"]) if p]
        alt = f"{xlabel}, by system with CIs, from {span(page['estimate'].dropna())}"
        alt += f", in panels: {listing(titles)}." if titles else "."
        fig = grid_plots.grid_figure(
            page,
            paint,
            names=names,
            xlabel=xlabel,
            reference=reference,
            named=named,
            percent=percent,
            sharex=sharex,
            cut=cut,
            keys=keys,
        )
        yield Plot(fig, f"{name}_{i}" if i else name, alt, caption + note)


def ranks(results: Results, names: DisplayNames) -> Iterator[Plot]:
    """Heatmaps of the share of first place with ranks as text, by corpus."""
    if results["rank"]["system"].nunique() > CROWDED:
        return
    made, corpora = 0, list(dict.fromkeys(results["rank"]["corpus"]))
    for corpus in corpora:
        run = f"{names.name('corpus', corpus)}. " if len(corpora) > 1 else ""
        rank = results.select("rank", corpus=corpus)
        parts = rank_matrices(rank, results.select("first_place_share", corpus=corpus), names)
        for page in matrix_pages(parts, rank["method"].nunique()):
            fig = grid_plots.matrices(page, colour="Share of resamples in first place")
            alt = f"{run}Heatmaps of labels by systems: rank with CI, coloured by share of resamples in first place."
            over = listing(dict.fromkeys(f"{u}s".replace(" and ", "s and ") for u in rank["resample_unit"].dropna()))
            caption = (
                f"{run}Rank of each system on each label, 1 being best, with its simultaneous {names.ci} over {over} in"
            )
            caption += " brackets; colour: share of resamples in which the system is first; ↓: less is better."
            caption += weights(results)
            yield Plot(fig, f"ranks_{made}" if made else "ranks", f"{alt} {'; '.join(page)}.", caption)
            made += 1


def rank_matrices(rank: pd.DataFrame, first: pd.DataFrame, names: DisplayNames) -> Matrices:
    """For each part and method the shares of first place and, as text, rank with interval: labels by systems.

    The part with most labels comes first.
    """
    keys = ["corpus", "group", "method", "label", "system"]
    rows = names.sort(rank).merge(first[[*keys, "estimate"]], on=keys, suffixes=("", "_first"))
    rows = rows.assign(part=part_names(rows, names), cell=rank_texts(rows).fillna(MISSING))
    sizes = rows["part"].value_counts(sort=False).sort_values(ascending=False, kind="stable")
    rows = rows.iloc[rows["part"].map({part: i for i, part in enumerate(sizes.index)}).argsort(kind="stable")]
    out = {}
    for (part, method), of_method in rows.groupby(["part", "method"], sort=False):
        of_method = of_method.assign(
            row=[names.name("label", x, method) + SIGNS[names.labels[method, x].direction] for x in of_method["label"]],
            column=[names.name("system", s) for s in of_method["system"]],
        )
        systems = sorted(of_method["system"].unique(), key=lambda s: names.position("system", s))
        order = {"index": dict.fromkeys(of_method["row"]), "columns": [names.name("system", s) for s in systems]}
        share, text = (of_method.set_index(["row", "column"])[c].unstack().reindex(**order)  # noqa: PD010 (twice must raise)
                       for c in ("estimate_first", "cell"))  # fmt: skip
        out[names.name("method", method) + (f", {part}" if len(sizes) > 1 else "")] = share, text.fillna(MISSING)
    return out


def matrix_pages(parts: Matrices, first: int, most: int = 6, tall: int = 34) -> list[Matrices]:
    """The matrices of `rank_matrices` as pages: the `first` ones, those of one part, then at most `most` per page, and
    on none more than `tall` rows of cells in two columns."""
    titles = list(parts)
    cuts = [0, *range(first, len(titles), most), len(titles)] if len(titles) > 4 else [0, len(titles)]
    pages: list[list[str]] = []
    for i, j in pairwise(cuts):
        pages.append([])
        for title in titles[i:j]:
            page = [*pages[-1], title]
            wide = 1 if max(parts[t][0].shape[1] for t in page) > 4 else 2
            rows = [max(len(parts[t][0]) + 2 for t in page[k : k + wide]) for k in range(0, len(page), wide)]
            if pages[-1] and sum(rows) > tall * (1 if max(parts[t][0].shape[1] for t in page) <= 8 else 0.62):
                pages.append([])
            pages[-1].append(title)
    return [{t: parts[t] for t in page} for page in pages if page]


def strengths(results: Results, names: DisplayNames) -> Iterator[Plot]:
    """Strengths by Davidson's model."""
    rows = results["strength"]
    if rows["estimate"].notna().any():
        over = " and ".join(f"{unit}s" for unit in str(rows["resample_unit"].dropna().iloc[0]).split(" and "))
        caption = (
            "Strength of each system in Davidson's model of comparisons with ties, on a logarithmic scale, 0 being the"
        )
        caption += f" mean of all systems. Lines: {names.ci} over {over}; {counted(rows['n'], 'comparisons')}."
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


def pooled(results: Results, names: DisplayNames) -> Iterator[Plot]:
    """Partially pooled means, and the plain ones' intervals over clusters, by method."""
    rows = with_plain(results)
    for method, of_method in rows.groupby("method", sort=False):
        arranged = arrange(of_method.assign(statistic=of_method["plain_statistic"]), names)
        rate = set(of_method["plain_statistic"].dropna()) == {"rate"}
        keys = grid_plots.interval_keys(f"partially pooled, {names.ci}", f"plain, {names.ci}", of_method)
        xlabel = what(names, method, "rate" if rate else "mean")
        caption = f"{xlabel}. Thick lines: partially pooled means of a mixed model with {names.ci}; thin lines:"
        caption += (
            f" {names.ci} of the plain means; {counted(of_method['n'], 'scores')}."
            + _hollow(of_method)
            + _directions(arranged)
        )
        yield from _pages(
            arranged,
            f"pooled_{method}",
            grid_plots.intervals,
            caption,
            names=names,
            xlabel=xlabel,
            keys=keys,
            sharex=one_axis(arranged),
            percent=rate,
        )
