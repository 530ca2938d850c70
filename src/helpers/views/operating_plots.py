"""Figures of operating characteristics: result rows in, marks on axes out.

Colour says who does it so: orange as published, blue ours, grey beside; markers repeat it.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from helpers.figure import INK, PAGE, handle, legend_of, subplots
from helpers.look import COLORS, Look

OURS, PUBLISHED, BESIDE = COLORS[0], COLORS[1], COLORS[7]
STYLE = {"ours": (OURS, "o"), "published": (PUBLISHED, "s"), "beside": (BESIDE, "D")}
ROLE = {"ours": "ours", "published": "as published", "beside": "beside"}
#: tests and intervals that a paper uses, and those the notebooks speak from
TEST_ROLE = {"z": "published", "student": "published", "sign": "published", "session": "ours"}
NOMINAL = {"color": "#666666", "linewidth": 0.9, "linestyle": (0, (4, 2)), "zorder": 0}


def role(test: str) -> str:
    """Whose test it is: published, ours or beside."""
    return TEST_ROLE.get(test, "beside")


def _roles(fig: Figure, found: set[str]) -> None:
    handles = [handle(ROLE[r], *STYLE[r], linewidth=1.4) for r in STYLE if r in found]
    legend_of(fig, [*handles, handle("nominal", "#666666", "", linewidth=0.9, linestyle=(0, (4, 2)))])


def _dot(ax: Axes, row: pd.Series, y: float, who: str, size: float = 5) -> None:
    color, marker = STYLE[who]
    if pd.notna(row["ci_low"]):
        ax.plot([row["ci_low"], row["ci_high"]], [y, y], color=color, linewidth=1.6, solid_capstyle="butt")
    ax.plot(row["estimate"], y, marker, color=color, markersize=size)


def rejection_figure(sizes: pd.DataFrame, look: Look, nominal: float) -> Figure:
    """How often each test rejects a true null: the mean over labels with its noise, and every label as a faint dot.

    sizes : null_rejection rows at one level with columns test, name and (missing for the mean) label.
    """
    means = sizes[sizes["label"].isna()]
    methods = list(dict.fromkeys(look.sort(means)["method"]))
    height = [int((means["method"] == m).sum()) + 1 for m in methods]
    fig, axes = subplots(
        len(methods), 1, width=5.6, height=0.22 * sum(height) + 0.9, sharex=True, squeeze=False,
        gridspec_kw={"height_ratios": height},
    )  # fmt: skip
    for ax, method in zip(axes[:, 0], methods, strict=True):
        rows = means[means["method"] == method].reset_index(drop=True)
        for y, row in rows.iterrows():
            each = sizes[(sizes["method"] == method) & (sizes["test"] == row["test"]) & sizes["label"].notna()]
            who = role(row["test"])
            ax.plot(each["estimate"], np.full(len(each), y), "|", color=STYLE[who][0], alpha=0.45, markersize=6)
            _dot(ax, row, y, who)
            value = f"{100 * row['estimate']:.1f} %"
            ax.text(1.01, y, value, transform=ax.get_yaxis_transform(), va="center", fontsize=7)
        ax.axvline(nominal, **NOMINAL)
        n = int(rows["n_dialogues"].iloc[0])
        unit = "comparisons" if (rows["level"] == "pair").all() else "dialogues a half"
        ax.set_title(f"{look.name('method', method)} ({n} {unit})")
        ax.set(yticks=range(len(rows)), yticklabels=rows["name"], ylim=(len(rows) - 0.4, -0.6))
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="x")
    last = axes[-1, 0]
    last.set_xlabel("Share of placebo comparisons called significant")
    last.set_xlim(0, max(0.1, 1.08 * sizes["estimate"].max()))
    last.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    _roles(fig, {role(t) for t in means["test"]})
    return fig


def power_figure(power: pd.DataFrame, look: Look) -> Figure:
    """Power by conversations, one panel a method: solid lines size-corrected, dotted where the nominal level is a claim
    that the test does not keep.

    power : power rows without a label, with columns test, size, n_dialogues, valid.
    """
    methods = list(dict.fromkeys(look.sort(power)["method"]))
    fig, axes = subplots(1, len(methods), width=max(5.4, min(PAGE, 2.4 * len(methods) + 0.8)), height=2.6, sharey=True,
                         squeeze=False)  # fmt: skip
    for ax, method in zip(axes[0], methods, strict=True):
        rows = power[power["method"] == method]
        for (test, size), part in rows.groupby(["test", "size"], sort=False):
            part = part.sort_values("n_dialogues")
            who = role(test)
            if who == "beside" or (size == "nominal" and part["valid"].all()):
                continue
            color, marker = STYLE[who]
            line = {"linestyle": "-" if size == "corrected" else ":", "linewidth": 1.4}
            ax.plot(part["n_dialogues"], part["estimate"], marker, color=color, markersize=3.5, **line)
            ax.fill_between(part["n_dialogues"], part["ci_low"], part["ci_high"], color=color, alpha=0.2, linewidth=0)
        ax.set_title(look.name("method", method))
        unit = "Comparisons a pair" if (rows["level"] == "pair").all() else "Dialogues a system"
        ax.set(xlabel=unit, ylim=(0, 1))
        ax.set_xscale("log", base=2)
        ticks = sorted(rows["n_dialogues"].unique())
        ax.set_xticks(ticks, [str(int(t)) for t in ticks])
        ax.minorticks_off()
        ax.grid(axis="both")
        if (rows["level"] == "pair").all():
            ax.text(0.04, 0.95, "ours is the same test", transform=ax.transAxes, va="top", fontsize=7)
    axes[0, 0].set_ylabel("Share of pairs told apart")
    axes[0, 0].yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    found = [r for r in STYLE if r in {role(t) for t in power["test"]} - {"beside"}]
    handles = [handle(f"{ROLE[r]}, size-corrected", *STYLE[r], linewidth=1.4) for r in found]
    if not power.loc[power["test"].map(role) == "published", "valid"].all():
        handles.append(handle("as published, not valid", *STYLE["published"], linewidth=1.4, linestyle=":"))
    legend_of(fig, handles)
    return fig


def coverage_figure(panels: dict[str, pd.DataFrame], confidence: float) -> Figure:
    """Coverage by sample size, one panel a question, a line an interval; bands are the simulation's own noise.

    panels : title -> rows with columns x, series, who (ours, published, beside), estimate, ci_low, ci_high, xlabel.
    """
    columns = min(len(panels), 3)
    lines = -(-len(panels) // columns)
    fig, axes = subplots(lines, columns, width=max(3.4, PAGE * columns / 3), height=2.3 * lines + 0.4, squeeze=False)
    for ax, (title, rows) in zip(axes.ravel(), panels.items(), strict=False):
        for (_, who), part in rows.groupby(["series", "who"], sort=False):
            part = part.sort_values("x")
            color, marker = STYLE[who]
            ax.plot(part["x"], part["estimate"], color=color, marker=marker, markersize=3.2, linewidth=1.1, alpha=0.85)
            ax.vlines(part["x"], part["ci_low"], part["ci_high"], color=color, linewidth=0.9, alpha=0.7)
        ax.axhline(confidence, **NOMINAL)
        ax.set_title(title)
        ticks = sorted(rows["x"].unique())
        ax.set_xscale("log", base=2)
        ax.set_xticks(ticks, [f"{t:g}" for t in ticks])
        ax.minorticks_off()
        ax.set(xlabel=rows["xlabel"].iloc[0], ylim=(min(0.75, rows["ci_low"].min() - 0.02), 1.005))
        ax.set_xlim(ticks[0] / 1.25, ticks[-1] * 1.25)
        ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        ax.grid(axis="y")
    for ax in axes.ravel()[len(panels) :]:
        ax.axis("off")
    axes[0, 0].set_ylabel("Intervals that hold the truth")
    _roles(fig, {w for rows in panels.values() for w in rows["who"]})
    return fig


def pairs_figure(rows: pd.DataFrame, confidence: float) -> Figure:
    """Coverage of the published interval and of ours, question by question.

    rows : columns question, name, who, estimate, ci_low, ci_high, in the order to be shown.
    """
    questions = list(dict.fromkeys(rows["question"]))
    fig, ax = subplots(1, 1, width=6.2, height=0.2 * (len(rows) + len(questions)) + 0.9)
    y, ticks, names = 0.0, [], []
    for question in questions:
        ax.text(0, y, question, transform=ax.get_yaxis_transform(), fontweight="bold", va="center", fontsize=7.5,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6})  # fmt: skip
        y += 1.0
        for _, row in rows[rows["question"] == question].iterrows():
            _dot(ax, row, y, row["who"], size=4.5)
            lost = row["n_undefined"] / (row["n"] + row["n_undefined"])
            value = f"{100 * row['estimate']:.1f} %" + (f" (none in {100 * lost:.0f} %)" if lost > 0.01 else "")
            ax.text(1.01, y, value, transform=ax.get_yaxis_transform(), va="center", fontsize=7, color=INK)
            ticks.append(y)
            names.append(row["name"])
            y += 1.0
    ax.axvline(confidence, **NOMINAL)
    least = rows["ci_low"].min()
    left = -0.02 if least < 0.5 else np.floor(10 * least) / 10 - 0.02
    ax.set(
        yticks=ticks,
        yticklabels=names,
        ylim=(y - 0.3, -0.7),
        xlim=(left, 1.02),
        xlabel="Intervals that hold the truth",
    )
    ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x")
    _roles(fig, set(rows["who"]))
    return fig
