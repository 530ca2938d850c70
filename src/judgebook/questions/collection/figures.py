"""Figures of notebooks 00, 01 and 02."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullLocator

from judgebook.codes import distinct
from judgebook.display.grid_plots import grid_figure, interval_keys, intervals
from judgebook.display.names import DisplayNames
from judgebook.display.plots import HOLLOW, heatmap, share_figure
from judgebook.display.style import PAGE, handle, legend_of, subplots, tips
from judgebook.display.text import Phrases, counted, listing, number, span, told
from judgebook.display.views import Plot
from judgebook.questions.collection.tables import annotators, pilot_number, row_titles
from judgebook.study.results import Results, where

#: with fewer values than this all are drawn, and no box
FEW = 20
_PHRASES = Phrases(__package__)
KEYS = ["corpus", "method", "group"]
SPREAD = (
    "Points: medians; thick lines: interquartile range; thin lines: 5th to 95th percentile. Small samples are shown as"
    " single values."
)


# 00


def coverage(results: Results, names: DisplayNames) -> Iterator[Plot]:
    """Percent of what could be judged that was judged once, and twice: a figure per corpus."""
    corpora = list(dict.fromkeys(results["coverage"]["corpus"]))
    for i, corpus in enumerate(corpora):
        rows = results.select("coverage", corpus=corpus)
        matrices = {
            title: coverage_matrix(where(rows, times=times), names)
            for times, title in ((1, "Judged at least once (%)"), (2, "Judged at least twice (%)"))
        }
        n_rows, n_groups = next(iter(matrices.values())).shape
        grid = (2, 1) if n_groups > 2 else (1, 2)
        width = 2.2 + grid[1] * max(2.0, 0.95 * n_groups)
        row = 0.22 if grid[0] * n_rows < 36 else max(0.12, 7.6 / (grid[0] * n_rows))
        height = max(1.6, 0.5 + grid[0] * (0.3 + row * n_rows))  # with less there is no room for axes
        fig, axes = subplots(*grid, sharex=True, sharey=True, width=width, height=height)
        for ax, (title, matrix) in zip(axes, matrices.items(), strict=True):
            heatmap(matrix, ax, vmin=0, vmax=100, decimals=0)
            ax.set_title(title)
        caption = "Share of all possible items (label and turn, dialogue or pair) of each method or label that"
        caption += " annotators of a group judged at least once (first panel) and at least twice (second), in"
        caption += " percent. Labels of a method with equal shares have one row; hatched: not judged by this group."
        once, twice = (percent_span(where(rows, times=times)["estimate"]) for times in (1, 2))
        alt = f"Two heatmaps by label and group: {once} of all possible items were judged at least once, {twice} at"
        shares = {name: list(where(rows, times=k)["estimate"]) for name, k in (("once", 1), ("twice", 2))}
        title, unit = _PHRASES.say("coverage_title", **shares), "Percent of all possible items, by label and group"
        title += f" ({names.name('corpus', corpus)})" if len(corpora) > 1 else ""
        yield Plot(fig, f"coverage_{i}" if i else "coverage", alt + " least twice.", caption, title, unit)


def percent_span(shares: pd.Series) -> str:
    """`36 to 100%`."""
    return span(100 * shares, 0) + "%"


def coverage_matrix(rows: pd.DataFrame, names: DisplayNames) -> pd.DataFrame:
    """Percent judged: rows labels, columns groups, display names. Labels of a method that are alike share a row."""
    lines = {}
    for method, part in names.sort(rows).groupby("method", sort=False):
        wide = part.pivot_table(index="label", columns="group", values="estimate", sort=False)
        if len(wide.drop_duplicates()) == 1:
            n, name = len(wide), names.name("method", method)
            lines[f"{name} ({n} labels)" if n > 1 else name] = wide.iloc[0]
        else:
            lines |= {names.name("label", label, method): line for label, line in wide.iterrows()}
    matrix = 100 * pd.DataFrame(lines).T
    groups = sorted(matrix.columns, key=lambda g: names.position("group", g))
    return matrix[groups].rename(columns=lambda g: names.name("group", g))


def scores(results: Results, names: DisplayNames, kinds: Mapping[str, str]) -> Plot:
    """The share of each score: a panel per method, and per kind of annotator and corpus where there are several.

    kinds : display names of kinds of annotators.
    """
    named = replace(names, titles=names.titles | {"kind": dict(kinds)})
    rows = names.sort(results["score_share"])
    rows = rows.assign(panel=row_titles(rows, named, ["method", "kind", "corpus"]))
    titles = list(dict.fromkeys(rows["panel"]))
    alt = f"Bars: the share of each score, by label, for {listing(titles)}."
    caption = "Share of each score among all annotations, in percent; of labels that are marked or not, the share"
    caption += " marked."
    if (rows["level"] == "pair").any():
        caption += " Comparisons are shown as the annotators saw them: left and right dialogue."
    return Plot(share_figure(rows, names, dict(zip(titles, titles, strict=True))), "scores", alt, caption)


# 01


def systems(results: Results, names: DisplayNames, least: float, most: int = 40) -> Plot:
    """Mean ratings in the pilots of systems, best first, and the least that passes. Intervals end with the scale."""
    rows = results.select("mean", interval="annotator").sort_values("estimate", ascending=False, kind="stable")
    label, title = rows["label"].iloc[0], systems_title(rows, least)
    what, rows = names.name("label", label, rows["method"].iloc[0]).lower(), rows.head(most)
    if declared := names.labels.get((rows["method"].iloc[0], label)):
        rows = rows.assign(**rows[["ci_low", "ci_high"]].clip(*declared.scale))
    rows = rows.assign(panel="", block=[names.name("system", s) for s in rows["system"]])
    rows["hue"] = [names.name("group", g) for g in rows["group"]]
    keys, named = interval_keys(f"{names.ci}, people left out", None, rows), f"minimum mean to pass ({least:g})"
    axis = f"Mean rating of {what}"
    fig = grid_figure(rows, intervals, names=names, xlabel=axis, keys=keys, reference=least, named=named)
    alt = f"Mean rating of {what} of {len(rows)} systems, {span(rows['estimate'])}, with CIs; {least:g} to pass."
    caption = f"Mean ratings of {what} in the pilots, by the people who talked to the systems, best first. Points:"
    caption += f" means; lines: {names.ci} leaving out one person at a time, truncated at the ends of the scale;"
    caption += f" {counted(rows['n'], 'conversations per system')}.{_hollow(rows)}"
    return Plot(fig, "systems", alt, caption, title, f"Mean rating of {what}, by system")


def systems_title(rows: pd.DataFrame, least: float) -> str:
    """How many systems pass, and for how many the interval includes `least`. rows : means by system and group."""
    passed, unsure = rows["estimate"] >= least, (rows["ci_low"] < least) & (rows["ci_high"] > least)
    facts = {"n": len(rows), "n_systems": rows["system"].nunique()}
    return _PHRASES.say("systems_title", passed=int(passed.sum()), unsure=int(unsure.sum()), **facts)


def _hollow(rows: pd.DataFrame) -> str:
    return " Hollow: exact bound, or no CI available." if rows["ci_kind"].isin(HOLLOW).any() else ""


def agreement(results: Results, names: DisplayNames) -> Plot:
    """Alpha of each pilot of annotation, by who judged."""
    rows = results.select("alpha", resample="dialogue")
    several = len(set(rows["method"])) > 1
    rows = rows.assign(
        panel=[names.name("method", m) if several else "" for m in rows["method"]],
        block="Pilot " + pilot_number(rows["corpus"]),
        hue=[annotators(g, s, names) for g, s in zip(rows["group"], rows["scope"], strict=True)],
    )
    keys = interval_keys(f"{names.ci}, dialogues left out", None, rows)
    name, line = "Krippendorff's alpha", "agreement by chance"
    fig = grid_figure(rows, intervals, names=names, xlabel=name, keys=keys, reference=0.0, named=line)
    alt = f"Alpha over all labels in {rows['block'].nunique()} pilots, by kind of annotator, with CIs:"
    caption = f"Krippendorff's alpha over all labels in each pilot, by who judged. Lines: {names.ci} leaving"
    caption += f" out one dialogue at a time; {counted(rows['n'], 'items')}."
    alt = f"{alt} {span(rows['estimate'].dropna())}."
    title = gains_title(results["alpha_gain"])
    return Plot(fig, "agreement", alt, caption + _hollow(rows), title, "Krippendorff's alpha, by pilot and who judged")


def gains_title(rows: pd.DataFrame) -> str:
    """How many differences in alpha are significant. rows : `alpha_gain`."""
    clear = (rows["ci_low"] > 0) | (rows["ci_high"] < 0)
    return _PHRASES.say("gains_title", n=len(rows), clear=int(clear.sum()))


# 02


def workload(work: pd.DataFrame, names: DisplayNames) -> Plot | None:
    """How many dialogues or pairs each annotator judged. work : from `summary.workload`."""
    if work.empty:
        return None
    rows = names.sort(work)
    rows = rows.assign(row=row_titles(rows, names, KEYS))
    n = rows["row"].nunique()
    fig, ax = subplots(width=5.5, height=0.9 + 0.27 * n)
    _distributions(rows, "units", ax, names)
    ax.set(xlabel="Dialogues or pairs per annotator", xlim=(0, None))
    middle = rows.groupby("row")["units"].median()
    alt = f"Dialogues or pairs judged per annotator, in {n} rows by method and group: medians {span(middle, 0)}."
    per = f"{counted(rows.groupby('row')['units'].size(), 'annotators')} per row."
    each = rows.groupby(["group", "annotator"])["units"].sum()
    title = _PHRASES.say("workload_title", n=len(each), low=each.min(), median=each.median(), high=each.max())
    unit = "Dialogues or pairs per annotator, by method and group"
    return Plot(fig, "workload", alt, f"Dialogues or pairs that each annotator judged. {SPREAD} {per}", title, unit)


def minutes(times: pd.DataFrame, results: Results, names: DisplayNames) -> Plot | None:
    """Minutes of each work unit, and of all tasks together. times : from `costs.minutes`."""
    if times.empty:
        return None
    rows = names.sort(times)
    rows = rows.assign(row=row_titles(rows, names, KEYS))
    places = {key: i for i, key in enumerate(rows.drop_duplicates("row")[KEYS].itertuples(index=False, name=None))}
    height = 0.8 + 0.27 * len(places)
    fig, (left, right) = subplots(1, 2, sharey=True, width_ratios=[1.3, 1], width=PAGE, height=height)
    left.set_xscale("log")
    _distributions(rows, "minutes", left, names)
    left.xaxis.set_major_formatter("{x:g}")
    left.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    left.xaxis.set_minor_locator(NullLocator())
    left.set(xlabel="Minutes per dialogue or pair, one task (log scale)")
    total = results.select("unit_minutes", tasks="all").dropna(subset="estimate")
    for row in total.to_dict("records"):
        y, color = places[tuple(row[k] for k in KEYS)], _color(row, rows, names)
        right.plot([row["ci_low"], row["ci_high"]], [y, y], color=color, linewidth=1.7)
        right.plot(row["estimate"], y, "o", color=color, markersize=3.5)
        tooltip = told(f"{names.name('method', row['method'])}, {names.name('group', row['group'])}, minutes", row, 1)
        tips(right, [tooltip], [row["ci_low"]], [y], x_to=[row["ci_high"]])
    right.set(xlabel=f"Minutes for all tasks, {names.ci}", xlim=(0, None))
    right.tick_params(axis="y", length=0)
    right.grid(axis="x")
    alt = f"Minutes of {len(rows):,} work units, one task at a time, by method and group; and minutes for all tasks,"
    n = counted(rows.groupby("row")["minutes"].size(), "work units per row")
    caption = f"Minutes per dialogue or pair: of each work unit. {SPREAD} Minutes for all tasks: of those of a"
    caption += f" method together, the sum of their medians; lines: {names.ci}; {n}."
    return Plot(fig, "minutes", f"{alt} {span(total['estimate'], 1)}.", caption)


def _color(row: Mapping, rows: pd.DataFrame, names: DisplayNames) -> str:
    kind = "group" if len(distinct(rows["group"])) > 1 else "method"
    return names.color(kind, row[kind])


def _distributions(rows: pd.DataFrame, value: str, ax: Axes, names: DisplayNames) -> None:
    """Each `row` as its median, quartiles (thick) and 5th to 95th percentile (thin), or as points where values are
    few."""
    first = rows.drop_duplicates("row").to_dict("records")
    for y, one in enumerate(first):
        values, color = rows.loc[rows["row"] == one["row"], value].dropna().sort_values(), _color(one, rows, names)
        if len(values) < FEW:
            at = y + 0.14 * (np.arange(len(values)) % 3 - 1)  # equal ones stay visible
            ax.plot(values, at, "o", color=color, markersize=3.2, alpha=0.75, linestyle="")
            tips(ax, [f"{one['row']}: {number(v, 1)}" for v in values], values, at)
            continue
        low, quarter, middle, three, high = values.quantile([0.05, 0.25, 0.5, 0.75, 0.95])
        ax.plot([low, high], [y, y], color=color, linewidth=1.0, solid_capstyle="butt")
        ax.plot([quarter, three], [y, y], color=color, linewidth=5.0, alpha=0.45, solid_capstyle="butt")
        ax.plot(middle, y, "o", color=color, markersize=4)
        tooltip = f"{one['row']}: median {number(middle, 1)}, quartiles {number(quarter, 1)} and {number(three, 1)}"
        tips(ax, [f"{tooltip}, n = {len(values):,}"], [low], [y - 0.2], x_to=[high], y_to=[y + 0.2])
    ax.set_yticks(range(len(first)), [one["row"] for one in first])
    ax.set(ylim=(len(first) - 0.4, -0.6), ylabel="")
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x")
    sizes = rows.groupby("row")[value].size()
    keys = [handle("median", "#555555", "o", linewidth=0)] if (sizes >= FEW).any() else []
    if keys:
        keys += [handle("interquartile range", "#555555", "", linewidth=5.0, alpha=0.45)]
        keys += [handle("5th to 95th percentile", "#555555", "", linewidth=1.0)]
    if (sizes < FEW).any():
        keys += [handle("single values", "#555555", "o", linewidth=0, alpha=0.75)]
    legend_of(ax.figure, keys)
