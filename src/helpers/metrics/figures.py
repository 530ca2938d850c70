"""Figures of notebook 09."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from helpers.display.grid_plots import ROW, grid_figure, intervals
from helpers.display.names import COLORS, DisplayNames
from helpers.display.plots import heatmap
from helpers.display.style import PAGE, handle, subplots
from helpers.display.text import span
from helpers.display.views import Plot
from helpers.metrics.analysis import data_sets, overall, restrict
from helpers.study.results import Results

CEILING, PERSON = COLORS[2], "#555555"


def correlations(results: Results, names: DisplayNames, computed: Collection[str]) -> Iterator[Plot]:
    """Each metric's correlation with people by data set, and by label where a data set has several. computed : metrics
    computed from the texts."""
    sets = data_sets(results, names.titles)
    yield _plot(sets, "metrics", names, computed)
    for i, part in enumerate(sets.values()):
        labels = part.select("correlation", scope="pooled").drop_duplicates("label")[["label", "method"]]
        if len(labels) > 1:
            panels = {names.name("label", *key): restrict(part, label=key[0]) for key in labels.itertuples(index=False)}
            yield _plot(panels, f"labels_{i}", names, computed)


def _plot(panels: dict[str, Results], name: str, names: DisplayNames, computed: Collection[str]) -> Plot:
    rows = pd.concat([panel(part, names, computed).assign(panel=title) for title, part in panels.items()])
    keys = [
        handle("ceiling", CEILING, "", linestyle=(0, (4, 2))),
        handle("annotator left out", PERSON, "", linestyle=":"),
        handle("metric, same mean", PERSON, "D", linewidth=0, markerfacecolor="white"),
    ]
    fig = grid_figure(rows, _metrics, xlabel="Spearman's ρ", columns=3, reference=0, sharex=True, keys=keys)
    alt = f"Spearman's correlation of {rows['block'].nunique()} metrics with mean ratings, with intervals, ceiling and"
    estimated = rows["estimate"].dropna()
    found = f"ρ from {span(estimated)}" if len(estimated) else "no ρ could be computed"
    alt += f" annotator left out, for {', '.join(panels)}: {found}."
    return Plot(fig, name, alt)


def panel(results: Results, names: DisplayNames, computed: Collection[str]) -> pd.DataFrame:
    """Rows of one panel, one per metric of `names`, from the results of one label or data set.

    `reduced` is the metric's correlation with the mean of all annotators but one, averaged over who is left out, and
    `annotator` that of the one left out. The mean over labels has the mean ceiling, and no interval of the ceiling.
    """
    rows = overall(results).set_index("metric").reindex(list(names.titles["metric"]))
    left_out = results.select("replaceability", of="annotator").groupby("label")["estimate"].mean()
    top = results["reliability_ceiling"]
    one = top.iloc[0] if len(top) == 1 else {"ci_low": np.nan, "ci_high": np.nan}
    return rows.assign(
        block=list(names.titles["metric"].values()),
        hue=["computed from the texts" if m in computed else "score in the data" for m in rows.index],
        reduced=results.select("replaceability", of="metric").groupby("metric")["estimate"].mean(),
        annotator=left_out.mean(),
        ceiling=top["estimate"].mean(skipna=False),
        ceiling_low=one["ci_low"],
        ceiling_high=one["ci_high"],
    )


def above_control(results: Results, names: DisplayNames) -> Plot | None:
    """By people's ratings and by each metric, the share of pairs in which an ordinary system's item scores higher than
    the control's, by data set; nothing without a control."""
    found = results["above_control"]
    if found.empty:
        return None
    rows = []
    for title, part in data_sets(results, names.titles).items():
        own = part["above_control"]
        people = names.sort(own[own["label"].notna()])
        block = [names.name("label", *key) for key in people[["label", "method"]].itertuples(index=False)]
        rows.append(people.assign(block=block, hue="ratings", panel=title))
        metrics = own[own["metric"].notna()].set_index("metric", drop=False)
        metrics = metrics.loc[[m for m in names.titles["metric"] if m in metrics.index]]
        block = [names.name("metric", m) for m in metrics["metric"]]
        rows.append(metrics.assign(block=block, hue="metrics", panel=title))
    rows = pd.concat(rows, ignore_index=True)
    fig = grid_figure(rows, intervals, xlabel="Share of pairs", columns=2, reference=0.5, percent=True, sharex=True)
    alt = "Share of pairs in which the chat with an ordinary system scores higher than that with the degraded control,"
    for hue, part in rows.groupby("hue", sort=False):
        alt += f" by {hue}: {span(100 * part['estimate'], 0)}%{';' if hue == 'ratings' else '.'}"
    return Plot(fig, "above_control", alt)


def _metrics(ax: Axes, rows: pd.DataFrame, color: str, marker: str) -> None:
    intervals(ax, rows, color, marker)
    ax.plot(rows["reduced"], rows["y"] + 0.4 * ROW, "D", color=PERSON, markersize=2, mfc="white", mew=0.6)
    same = rows.iloc[0]
    ax.axvspan(same["ceiling_low"], same["ceiling_high"], color=CEILING, alpha=0.07, linewidth=0)
    ax.axvline(same["ceiling"], color=CEILING, linewidth=1.2, linestyle=(0, (4, 2)))
    ax.axvline(same["annotator"], color=PERSON, linewidth=1.2, linestyle=":")


def among(results: Results, names: DisplayNames) -> Iterator[Plot]:
    """Correlations of the metrics of each data set with each other (Zhang et al. 2022, Figure 1)."""
    for i, (name, part) in enumerate(data_sets(results, names.titles).items()):
        values = matrix(part["metric_correlation"], names)
        if len(values) > 1:
            alt = f"Heatmap of Spearman's correlations between {len(values)} metrics in {name}."
            yield Plot(_heatmap(values, name), f"among_{i}", alt)


def matrix(rows: pd.DataFrame, names: DisplayNames) -> pd.DataFrame:
    """The symmetric matrix of the `metric_correlation` of one data set, in the order of `names`."""
    both = pd.concat([rows, rows.rename(columns={"metric": "against", "against": "metric"})])
    wide = both.pivot_table(index="metric", columns="against", values="estimate")
    titles = {m: title for m, title in names.titles["metric"].items() if m in {*both["metric"]}}
    wide = wide.reindex(index=titles, columns=titles)
    return wide.where(~np.eye(len(wide), dtype=bool), 1.0).rename(index=titles, columns=titles)


def _heatmap(values: pd.DataFrame, title: str) -> Figure:
    """In percent where there are many metrics."""
    size, many = min(PAGE, 2.2 + 0.36 * len(values)), len(values) > 12
    fig, ax = subplots(width=size, height=size * 0.86)
    scale, label = (100, "Spearman's ρ (%)") if many else (1, "Spearman's ρ")
    heatmap(scale * values, ax, cmap="RdBu_r", vmin=-scale, vmax=scale, decimals=0 if many else 2, label=label)
    ax.set_title(title)
    return fig
