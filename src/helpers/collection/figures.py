"""Figures of notebooks 00, 01 and 02."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from helpers.collection.tables import ROUND, annotators, pilot_number, row_titles, shown_rates, task_name
from helpers.display.grid_plots import grid_figure, interval_keys, intervals
from helpers.display.names import DisplayNames
from helpers.display.plots import heatmap, share_figure
from helpers.display.style import INK, PAGE, handle, subplots
from helpers.display.text import listing, span
from helpers.display.views import Plot
from helpers.study.results import Results, where

#: with fewer values than this all are drawn, and no box
FEW = 20
KEYS = ["corpus", "method", "group"]


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
        height = max(1.6, 0.5 + grid[0] * (0.3 + 0.22 * n_rows))  # with less there is no room for axes
        fig, axes = subplots(*grid, sharex=True, sharey=True, width=width, height=height)
        for ax, (title, matrix) in zip(axes, matrices.items(), strict=True):
            heatmap(matrix, ax, vmin=0, vmax=100, decimals=0)
            ax.set_title(title)
        once, twice = (percent_span(where(rows, times=times)["estimate"]) for times in (1, 2))
        alt = f"Two heatmaps by label and group: {once} of all possible items were judged at least once, {twice} at"
        yield Plot(fig, "coverage" if len(corpora) == 1 else f"coverage_{i}", alt + " least twice.")


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
    named = DisplayNames(names.labels, names.titles | {"kind": dict(kinds)})
    rows = names.sort(results["score_share"])
    rows = rows.assign(panel=row_titles(rows, named, ["method", "kind", "corpus"]))
    titles = list(dict.fromkeys(rows["panel"]))
    alt = f"Bars: the share of each score, by label, for {listing(titles)}."
    return Plot(share_figure(rows, names, dict(zip(titles, titles, strict=True))), "scores", alt)


# 01


def systems(results: Results, names: DisplayNames) -> Plot:
    """Mean ratings in the pilots of systems, best first, and the least that passes. Intervals end with the scale."""
    keys = ["group", "system"]
    rows = results.select("mean", interval="annotator").sort_values("estimate", ascending=False, kind="stable")
    rows = rows.join(_light(results.select("mean", interval="independent"), keys), on=keys)
    label, least = rows["label"].iloc[0], results["pilot_passed"]["least"].iloc[0]
    declared = names.labels.get((rows["method"].iloc[0], label))
    ends = ["ci_low", "ci_high", "light_low", "light_high"]
    if declared:
        rows[ends] = rows[ends].clip(*declared.scale)
    rows = rows.assign(
        panel=[names.name("group", g) for g in rows["group"]] if len(set(rows["group"])) > 1 else "",
        block=[names.name("system", s) for s in rows["system"]],
        hue="",
    )
    line = handle(f"minimum mean to pass ({least:g})", INK, "", linewidth=0.9, linestyle="--")
    keys = [*interval_keys("CI, one person left out", "CI, conversations independent", rows), line]
    fig = grid_figure(rows, intervals, names=names, xlabel=f"Mean rating of {label}", keys=keys)
    for ax in fig.axes[: rows["panel"].nunique()]:
        ax.axvline(least, color=INK, linewidth=0.9, linestyle="--", zorder=-1)
        if declared:
            low, high = declared.scale
            ax.set_xlim(low - 0.03 * (high - low), high + 0.03 * (high - low))
    alt = f"Mean rating of {label} of {len(rows)} systems, {span(rows['estimate'])}, with CIs; {least:g} to pass."
    return Plot(fig, "systems", alt)


def _light(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """The ends of the thin interval of `intervals`, by keys."""
    return rows.set_index(keys)[["ci_low", "ci_high"]].set_axis(["light_low", "light_high"], axis=1)


def agreement(results: Results, names: DisplayNames) -> Plot:
    """Alpha of each pilot of annotation, by who judged."""
    rows = results.select("alpha", resample="dialogue")
    rows = rows.merge(_light(results.select("alpha", resample="item"), ROUND).reset_index(), on=ROUND, how="left")
    several = len(set(rows["method"])) > 1
    rows = rows.assign(
        panel=[names.name("method", m) if several else "" for m in rows["method"]],
        block="Pilot " + pilot_number(rows["corpus"]),
        hue=[annotators(g, s, names) for g, s in zip(rows["group"], rows["scope"], strict=True)],
    )
    keys = interval_keys("CI, one dialogue left out", "CI, turns and labels resampled", rows)
    fig = grid_figure(rows, intervals, names=names, xlabel="Krippendorff's alpha", reference=0.0, keys=keys)
    alt = f"Alpha over all labels in {rows['block'].nunique()} pilots, by kind of annotator, with CIs:"
    return Plot(fig, "agreement", f"{alt} {span(rows['estimate'].dropna())}.")


def screening(results: Results, names: DisplayNames) -> Plot:
    """Pass rates by task and workforce."""
    rows = shown_rates(results, names)
    hue = [names.name("group", g) for g in rows["group"]]
    rows = rows.assign(panel="", block=rows["task"].map(task_name), hue=hue)
    keys = interval_keys("CI", None, rows)
    fig = grid_figure(
        rows, intervals, names=names, xlabel="Share of those who tried that passed", percent=True, keys=keys
    )
    alt = "Share of people who passed the training for each task, with CIs, by workforce:"
    return Plot(fig, "screening", f"{alt} {listing(dict.fromkeys(hue))}, {percent_span(rows['estimate'])}.")


# 02


def workload(work: pd.DataFrame, names: DisplayNames) -> Plot | None:
    """How many dialogues or pairs each annotator judged. work : from `summary.workload`."""
    if work.empty:
        return None
    rows = names.sort(work)
    rows = rows.assign(row=row_titles(rows, names, KEYS))
    n = rows["row"].nunique()
    fig, ax = subplots(width=5.5, height=0.6 + 0.27 * n)
    _distributions(rows, "units", ax, names)
    ax.set(xlabel="Dialogues or pairs per annotator", xlim=(0, None))
    middle = rows.groupby("row")["units"].median()
    alt = f"Dialogues or pairs judged per annotator, in {n} rows by method and group: medians {span(middle, 0)}."
    return Plot(fig, "workload", alt)


def minutes(times: pd.DataFrame, results: Results, names: DisplayNames) -> Plot | None:
    """Minutes of each work unit, and of all tasks together. times : from `costs.minutes`."""
    if times.empty:
        return None
    rows = names.sort(times)
    rows = rows.assign(row=row_titles(rows, names, KEYS))
    places = {key: i for i, key in enumerate(rows.drop_duplicates("row")[KEYS].itertuples(index=False, name=None))}
    size = {"width": PAGE, "height": 0.8 + 0.27 * len(places)}
    fig, (left, right) = subplots(1, 2, sharey=True, width_ratios=[1.3, 1], **size)
    left.set_xscale("log")
    _distributions(rows, "minutes", left, names)
    left.xaxis.set_major_formatter("{x:g}")
    left.set(xlabel="Minutes per dialogue or pair, one task (log scale)")
    total = results.select("unit_minutes", tasks="all").dropna(subset="estimate")
    for row in total.to_dict("records"):
        y, color = places[tuple(row[k] for k in KEYS)], _color(row, rows, names)
        right.plot([row["ci_low"], row["ci_high"]], [y, y], color=color, linewidth=1.7)
        right.plot(row["estimate"], y, "o", color=color, markersize=3.5)
    right.set(xlabel="Minutes for all tasks, with CI", xlim=(0, None))
    right.tick_params(axis="y", length=0)
    right.grid(axis="x")
    alt = f"Left: minutes of {len(rows):,} work units by method and group. Right: minutes for all tasks,"
    return Plot(fig, "minutes", f"{alt} {span(total['estimate'], 1)}.")


def _color(row: Mapping, rows: pd.DataFrame, names: DisplayNames) -> str:
    kind = "group" if len(set(rows["group"])) > 1 else "method"
    return names.color(kind, row[kind])


def _distributions(rows: pd.DataFrame, value: str, ax: Axes, names: DisplayNames) -> None:
    """Each `row` as its median, quartiles (thick) and 5th to 95th percentile (thin), or as points where values are
    few."""
    first = rows.drop_duplicates("row").to_dict("records")
    style = {"x": value, "y": "row", "hue": "row", "ax": ax, "legend": False}
    style |= {"order": [r["row"] for r in first], "palette": {r["row"]: _color(r, rows, names) for r in first}}
    size = rows.groupby("row")["row"].transform("size")
    sns.stripplot(rows[size < FEW], size=3.5, jitter=False, alpha=0.7, **style)
    for percentiles, width in ((90, 1.0), (50, 4.0)):
        spread = {"errorbar": ("pi", percentiles), "err_kws": {"linewidth": width, "alpha": 0.6}}
        sns.pointplot(rows[size >= FEW], estimator="median", linestyle="none", markersize=4, **spread, **style)
    ax.set(ylabel="")
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x")
