"""Figures of notebook 07."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from judgebook.display import grid_plots
from judgebook.display.names import DisplayNames
from judgebook.display.plots import HOLLOW
from judgebook.display.text import MISSING, counted, listing, span
from judgebook.display.views import Plot
from judgebook.questions.performance.analysis import of_wins, two_intervals, with_plain, won
from judgebook.study.labels import METHODS
from judgebook.study.results import Results
from judgebook.study.schema import CELL

#: with more systems than this a panel is a label, not a group of evaluators
MANY = 6
#: with more systems than this they come in the order of their ranks, and a cell for each has no room for its rank
CROWDED = 15
#: with more systems than this the highest and lowest are drawn
MOST = 24
DRAWN = 20
#: panels in one figure, and inches its panels may be tall together
PANELS = 12
TALL = 7.8
#: title -> colours and texts of the cells of a matrix
Matrices = dict[str, tuple[pd.DataFrame, pd.DataFrame]]
#: marks of labels of which less is better, or that have no direction
SIGNS = {-1: " ↓", 0: " ○", 1: ""}
DIRECTIONS = {-1: "Less is better", 0: "Neither good nor bad, or not declared", 1: "More is better"}


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


def weights(results: Results) -> str:
    """What a caption says of sampling weights; empty without."""
    return " Estimates are weighted by sampling weights." if len(results["unweighted"]) else ""


def clusters(rates: pd.DataFrame) -> str:
    """What the primary intervals of `two_intervals` treat as samples, in words."""
    kinds = sorted(rates["interval"].unique(), key=len)
    return " or ".join(" and ".join(f"{unit}s" for unit in kind.split(" and ")) for kind in kinds)


def what(names: DisplayNames, method: str, statistic: str) -> str:
    """What an axis or a caption says of a statistic by one method."""
    titles = {
        "rate": f"share of {METHODS[method].unit}s",
        "mean": "mean rating",
        "share": "share won, and tied (light)",
    }
    return f"{names.name('method', method)}: {titles[statistic]}"


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
    """Figures of at most PANELS panels that are no taller than a page; of very many systems the highest and lowest.

    Arguments after the caption are those of `grid_plots.grid_figure`.
    """
    arranged, labels = of_many_labels(arranged)
    arranged, note = of_many(arranged)
    note += labels
    row = grid_plots.ROW * arranged["hue"].nunique() + grid_plots.GAP
    blocks = list(dict.fromkeys(arranged["block"]))
    size = -(-len(blocks) // max(1, -(-len(blocks) // max(1, int(TALL / row)))))  # pages of about one length
    pages = []
    for i in range(0, len(blocks), size):
        part = arranged[arranged["block"].isin(blocks[i : i + size])]
        panels = list(dict.fromkeys(part["panel"]))
        lines = max(1, int(TALL / (row * part.groupby("panel")["block"].nunique().max() + 0.36)))
        columns = 4 if all(set(p["block"]) == set(part["block"]) for _, p in part.groupby("panel")) else 2
        step = min(PANELS, lines * columns)
        pages += [part[part["panel"].isin(panels[j : j + step])] for j in range(0, len(panels), step)]
    for i, page in enumerate(pages):
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


def of_many(arranged: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Of more than MOST systems the DRAWN highest and lowest, best first, and what a caption says of that.

    One set for all panels: by the mean of a system's places over labels, of which less is better turned round.
    """
    n = arranged["system"].nunique()
    if n <= MOST:
        return arranged, ""
    good = np.where(arranged["panel"].astype(str).str.endswith(SIGNS[-1]), -1, 1)
    places = (arranged["estimate"] * good).groupby(arranged["panel"]).rank(ascending=False)
    order = places.groupby(arranged["system"]).mean().sort_values(kind="stable").index
    ends = [*order[: DRAWN // 2], *order[-(DRAWN // 2) :]]
    drawn = arranged[arranged["system"].isin(ends)]
    drawn = drawn.iloc[np.argsort([ends.index(s) for s in drawn["system"]], kind="stable")]
    drawn = drawn.iloc[
        drawn["panel"].map({p: i for i, p in enumerate(dict.fromkeys(arranged["panel"]))}).argsort(kind="stable")
    ]
    half = DRAWN // 2
    return drawn, f" Of {n} systems the {half} highest and {half} lowest are drawn; all are in the table and its file."


def of_many_labels(arranged: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Of more than MOST labels the DRAWN on which systems differ most, and what a caption says of that.

    Differences of a label are the standard deviation of its estimates over the median width of their intervals.
    """
    if arranged["label"].nunique() <= MOST:
        return arranged, ""
    widths = (arranged["ci_high"] - arranged["ci_low"]).groupby(arranged["label"]).median()
    size = arranged.groupby("label")["estimate"].std() / widths.where(widths > 0)
    clearest = size.nlargest(DRAWN).index
    note = f" Of {len(size)} labels the {len(clearest)} are drawn on which systems differ most,"
    note += " relative to the width of CIs."
    return arranged[arranged["label"].isin(clearest) | arranged["label"].isna()], note


def part_names(rows: pd.DataFrame, names: DisplayNames) -> pd.Series:
    """What distinguishes the parts of one figure: the corpus and the group, whichever differ."""
    group = pd.Series([names.name("group", g) for g in rows["group"]], index=rows.index, dtype=object)
    if len(set(rows["corpus"])) == 1:
        return group
    corpus = pd.Series([names.name("corpus", c) for c in rows["corpus"]], index=rows.index, dtype=object)
    return corpus + ", " + group if len(set(rows["group"])) > 1 else corpus


def arrange(rows: pd.DataFrame, names: DisplayNames) -> pd.DataFrame:
    """Rows of one method with `panel`, `block` and `hue`, as `grid_plots.grid_figure` needs them.

    With up to MANY systems: parts (groups, corpora), labels, systems; one part with many labels is split by direction.
    With more systems: labels, systems, parts.
    """
    rows = within_scale(names.sort(rows), names).assign(part=lambda f: part_names(f, names))
    keys = list(zip(rows["method"], rows["label"], strict=True))
    direction, label = ([getattr(names.labels[key], c) for key in keys] for c in ("direction", "title"))
    system = [names.name("system", s) for s in rows["system"]]
    marked = [title + SIGNS[d] for title, d in zip(label, direction, strict=True)]
    if rows["system"].nunique() > MANY:
        return rows.assign(panel=marked, block=system, hue=rows["part"])
    several = len(set(rows["part"])) > 1
    if not several and len(set(direction)) > 1 and len(set(label)) > 8:
        other = DIRECTIONS[1] + (", or neither (○)" if 0 in direction else "")
        panel = [DIRECTIONS[-1] if d < 0 else other for d in direction]
        block = [title if d else title + SIGNS[0] for title, d in zip(label, direction, strict=True)]
        return rows.assign(panel=panel, block=block, hue=system).sort_values("panel", kind="stable")
    return _padded(rows.assign(panel=rows["part"] if several else "", block=marked, hue=system))


def within_scale(rows: pd.DataFrame, names: DisplayNames) -> pd.DataFrame:
    """Intervals of means cut at the ends of the scale: Student's t of two ratings would fill the axis."""
    if "statistic" not in rows or not (means := (rows["statistic"] == "mean").to_numpy()[:, None]).any():
        return rows
    scales = np.array([names.labels[key].scale for key in zip(rows["method"], rows["label"], strict=True)])
    low, high = np.where(means, scales, [-np.inf, np.inf]).T
    return rows.assign(**{c: rows[c].clip(low, high) for c in ("ci_low", "ci_high", "light_low", "light_high")})


def _padded(rows: pd.DataFrame) -> pd.DataFrame:
    """`rows` with empty ones, so that all panels have the same blocks and hues."""
    pairs = [(block, hue) for block, part in rows.groupby("block", sort=False) for hue in part["hue"].unique()]
    every = [(panel, *pair) for panel in rows["panel"].unique() for pair in pairs]
    places = pd.MultiIndex.from_tuples(every, names=["panel", "block", "hue"])
    return rows.set_index(places.names).reindex(places).reset_index().fillna({"ci_kind": ""})


def one_axis(rows: pd.DataFrame) -> bool:
    """Whether the panels of `arrange`d rows can share an axis: those of parts can, those of labels differ in scale."""
    return rows["system"].nunique() <= MANY and not set(rows["panel"]) & set(DIRECTIONS.values())


def by_rank(names: DisplayNames, results: Results) -> DisplayNames:
    """`names` with more than CROWDED systems in the order of their ranks on the first label of the first group."""
    if len(names.titles["system"]) <= CROWDED or results["rank"].empty:
        return names
    rows = names.sort(results["rank"])
    rows = rows[(rows[CELL] == rows[CELL].iloc[0]).all(axis=1)].sort_values("estimate", kind="stable")
    return names.in_order("system", rows["system"])


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


def rank_texts(rows: pd.DataFrame) -> pd.Series:
    """Ranks with intervals: `2 [1, 3]`; missing without a rank."""
    whole = rows[["estimate", "ci_low", "ci_high"]].map(lambda v: f"{v:g}" if pd.notna(v) else "")
    texts = [f"{rank} [{low}, {high}]" if low else rank or None for rank, low, high in whole.to_numpy()]
    return pd.Series(texts, rows.index, dtype=object)


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


def median_effects(results: Results, names: DisplayNames) -> pd.DataFrame:
    """Median, smallest and largest design effect over labels and systems, by method, part and kind of cluster."""
    rows = names.sort(of_wins(results["design_effect"]))
    keys = ["corpus", "method", "group", "unit"]
    value = rows.groupby(keys, sort=False)["estimate"].agg(estimate="median", ci_low="min", ci_high="max")
    return value.join(rows.groupby(keys)["n_clusters"].median().round().astype(int)).reset_index()


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


def any_clustering(results: Results) -> bool:
    """Whether any design effect is not 1."""
    return bool((results["design_effect"]["estimate"].dropna() - 1).abs().gt(0.02).any())


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
