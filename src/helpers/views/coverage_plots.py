"""Figures of notebook 06. Rows come with the keys of their condition as columns (`coverage_report.unfold`)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from helpers.figure import INK, PAGE, legend_of, subplots
from helpers.look import Look
from helpers.tables import number
from helpers.views.coverage_report import CRITERIA, FITS, TITLES, path

MET, MISSED, UNKNOWN = "#CFE5F5", "#F6DCCB", "#EEEEEE"


def path_figure(rows: pd.DataFrame, look: Look) -> Figure:
    """The published paths, as Figure 3 of Finch et al. 2023: a panel and an axis of its own for each target.

    Read from above: each row adds a label to those above it; the mark is the unadjusted fit of all so far. Filled:
    every label of the model adds to its adjusted fit. A tick marks where another subset of the same size fits better.
    """
    targets = [t for t in TITLES if len(path(rows, t))]
    found = {t: look.sort(path(rows, t).assign(order=lambda f: f["k"])) for t in targets}
    found = {t: f.sort_values(["k"], kind="stable") for t, f in found.items()}
    longest = max(len(f) + 1.6 * f["method"].nunique() for f in found.values())
    width = PAGE if len(targets) > 1 else 4.2
    fig, axes = subplots(1, len(targets), width=width, height=0.85 + 0.165 * longest, squeeze=False)
    for ax, (target, part) in zip(axes[0], found.items(), strict=True):
        _paths(ax, part, look)
        ax.set(xlabel=FITS[target][1], ylim=(longest - 0.7, -0.7), xlim=(0, None))
        ax.xaxis.set_major_locator(MaxNLocator(4))
    style = {"color": "#444444", "linewidth": 0, "markersize": 4.5}
    legend_of(
        fig,
        [
            Line2D([], [], marker="o", label="all labels add to the adjusted fit", **style),
            Line2D([], [], marker="o", markerfacecolor="white", label="not all do", **style),
            Line2D([], [], marker="|", markeredgewidth=1.2, label="a better subset of the same size", **style),
        ],
    )
    return fig


def _paths(ax: Axes, part: pd.DataFrame, look: Look) -> None:
    y, ticks, names = 0.0, [], []
    for method in sorted(part["method"].unique(), key=lambda m: look.position("method", m)):
        here, color = part[part["method"] == method], look.color("method", method)
        y += 0.6 if names else 0.0
        ax.text(0, y, look.name("method", method), transform=ax.get_yaxis_transform(), fontweight="bold", va="center")
        at = y + 1 + np.arange(len(here))
        ax.plot(here["fit"], at, color=color, linewidth=1.0, zorder=1)
        better = (here["best"] > here["fit"] + 1e-9).to_numpy()
        ax.plot(here["best"][better], at[better], "|", color=INK, markersize=7, markeredgewidth=1.2, zorder=2)
        for fit, gain, place in zip(here["fit"], here["gain"], at, strict=True):
            ax.plot(fit, place, "o", color=color, markerfacecolor=color if gain > 0 else "white", markersize=4.5)
        ticks += at.tolist()
        names += [look.name("label", label, method) for label in here["label"]]
        y = at[-1] + 1
    ax.set(yticks=ticks, yticklabels=names)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x")
    ax.spines["left"].set_visible(False)


def compare_figure(rows: pd.DataFrame, look: Look) -> Figure:
    """The best subset of each size on the same rows: fit, cross-validated fit, and what the search finds in noise.

    A row of panels a target, with an axis of its own; a column a method.
    """
    here = rows[rows["kind"].isin(["common", "cross_validated", "permuted_mean", "permuted_p95"])]
    targets = [t for t in TITLES if (here["target"] == t).any()]
    methods = sorted(here["method"].unique(), key=lambda m: look.position("method", m))
    size = {"width": PAGE if len(methods) > 2 else 4.6, "height": 0.7 + 1.7 * len(targets)}
    fig, axes = subplots(len(targets), len(methods), squeeze=False, sharey="row", sharex=True, **size)
    for i, target in enumerate(targets):
        for ax, method in zip(axes[i], methods, strict=True):
            part = here[(here["target"] == target) & (here["method"] == method)]
            wide = part.pivot_table(index="k", columns="kind", values="estimate")
            if wide.empty:
                ax.axis("off")
                continue
            color = look.color("method", method)
            ax.fill_between(wide.index, wide["permuted_mean"], wide["permuted_p95"], color="#BBBBBB", linewidth=0)
            ax.plot(wide.index, wide["common"], color=color, linewidth=1.0, linestyle=(0, (4, 2)))
            ax.plot(wide.index, wide["cross_validated"], "o-", color=color, linewidth=1.4, markersize=3.5)
            ax.axhline(0, color="#888888", linewidth=0.7)
            ax.grid(axis="y")
            if i == len(targets) - 1:
                ax.set_xlabel("Labels in the model")
            ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=7))
            if i == 0 or (here[here["target"] == targets[0]]["method"] != method).all():
                ax.set_title(look.name("method", method), fontsize=7.5)
        axes[i, 0].set_ylabel(FITS[target][1])
    style = {"color": "#444444"}
    legend_of(
        fig,
        [
            Line2D([], [], linestyle=(0, (4, 2)), linewidth=1.0, label="on the same data", **style),
            Line2D([], [], marker="o", markersize=3.5, linewidth=1.4, label="cross-validated by person", **style),
            Line2D([], [], color="#BBBBBB", linewidth=5, label="shuffled target: mean to 95 %"),
        ],
    )
    return fig


def selection_figure(selected: pd.DataFrame, look: Look) -> Figure:
    """Which thresholds each label reaches: a row a label, a column a criterion with its value; kept ones in bold."""
    selected = look.sort(selected)
    names = [c for c in CRITERIA if f"{c}_met" in selected or selected[c].notna().any()]
    y, places, heads = 0.0, [], {}
    for method in selected["method"]:
        if method not in heads:
            heads[method] = y = y + (0.4 if heads else 0.0)
            y += 1
        places.append(y)
        y += 1
    fig, ax = subplots(width=6.2, height=0.75 + 0.165 * y)
    for place, row in zip(places, selected.to_dict("records"), strict=True):
        for j, name in enumerate(names):
            _cell(ax, j, place, row[name], row.get(f"{name}_met"), CRITERIA[name][1])
        _cell(ax, len(names), place, "kept" if row["kept"] else "", row["kept"], 0)
    for method, place in heads.items():
        ax.text(-0.5, place, look.name("method", method), fontweight="bold", va="center")
    labels = [look.name("label", r["label"], r["method"]) for r in selected.to_dict("records")]
    ax.set_yticks(places, labels)
    for tick, kept in zip(ax.get_yticklabels(), selected["kept"], strict=True):
        tick.set_fontweight("bold" if kept else "normal")
    ax.set_xticks(range(len(names) + 1), [*(CRITERIA[n][0] for n in names), "All"])
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.set(xlim=(-0.5, len(names) + 0.5), ylim=(y - 0.4, -0.6))
    ax.spines[:].set_visible(False)
    blocks = [("reaches the threshold", MET), ("does not", MISSED), ("no threshold", UNKNOWN)]
    legend_of(fig, [Line2D([], [], color=c, linewidth=6, label=n) for n, c in blocks])
    return fig


def _cell(ax: Axes, x: float, y: float, value: object, met: bool | None, decimals: int) -> None:
    """A box coloured by `met` (None: no threshold is applied) with the value written in it."""
    text = value if isinstance(value, str) else number(value, decimals)
    color = ListedColormap([UNKNOWN, MISSED, MET])(0 if met is None else 1 + int(met))
    ax.fill_between([x - 0.47, x + 0.47], y - 0.44, y + 0.44, color=color, linewidth=0)
    ax.text(x, y, text, ha="center", va="center", fontsize=7, color=INK)
