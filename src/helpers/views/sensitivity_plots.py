"""Figures of notebook 05. Rows come with the keys of their condition as columns (`sensitivity_report.unfold`)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

from helpers.figure import PAGE, handle, legend_of, subplots
from helpers.look import Look
from helpers.plotting import lines, strip
from helpers.views.sensitivity_report import ALPHAS, PUBLISHED, TESTS, as_published, power_rows, primary

#: p-values below this are drawn there
FLOOR = 1e-4


def p_value_figure(rows: pd.DataFrame, look: Look, drawn: int | None) -> Figure:
    """Every p-value as a mark, a row a label: the published tests on the left, the permutation test on the right."""
    left, right = as_published(rows), primary(rows)
    places, heads = _places(look.sort(right))
    height = 0.75 + 0.155 * (max(places.values()) + 1)
    fig, axes = subplots(1, 2, width=PAGE, height=height, sharey=True)
    title = f"Published tests, one draw of {drawn}" if drawn else "Published tests, all dialogues"
    _p_strip(axes[0], left, left["p_value"] < 0.05, places, heads, look)
    _p_strip(axes[1], right, right["p_adjusted"] < 0.05, places, heads, look)
    axes[0].set_title(title)
    axes[1].set_title("Permutation test, all dialogues")
    names = [look.name("label", label, method) for method, label in places]
    axes[0].set(yticks=list(places.values()), yticklabels=names, ylim=(max(places.values()) + 0.8, -0.9))
    marks = {"markersize": 4, "linewidth": 0}
    filled = Line2D([], [], color="#444444", marker="o", label="p < .05 (left); Holm < .05 (right)", **marks)
    hollow = Line2D([], [], color="#444444", marker="o", markerfacecolor="white", label="not so", **marks)
    legend_of(fig, [filled, hollow])
    return fig


def _places(rows: pd.DataFrame) -> tuple[dict[tuple[str, str], float], dict[str, float]]:
    """Where each (method, label) stands, and the heading of each method."""
    places, heads, y = {}, {}, 0.0
    for method, label in dict.fromkeys(zip(rows["method"], rows["label"], strict=True)):
        if method not in heads:
            heads[method] = y = y + (0.5 if heads else 0.0)
            y += 1
        places[method, label] = y
        y += 1
    return places, heads


def _p_strip(ax: Axes, rows: pd.DataFrame, sure: pd.Series, places: dict, heads: dict, look: Look) -> None:
    for method, y in heads.items():
        ax.text(0, y, look.name("method", method), transform=ax.get_yaxis_transform(), fontweight="bold", va="center")
    for (method, label), part in rows.groupby(["method", "label"], sort=False):
        p, y = part["p_value"].clip(lower=FLOOR).to_numpy(float), places[method, label]
        color = look.color("method", method)
        for yes, face in ((False, "white"), (True, color)):
            here = (sure[part.index] == yes).to_numpy()
            ax.plot(p[here], np.full(here.sum(), y), "o", color=color, markerfacecolor=face, markersize=3.6, alpha=0.9)
        if (hidden := int(np.sum(p == FLOOR))) > 1:
            ax.text(FLOOR * 0.8, y, f"{hidden}×", ha="right", va="center", fontsize=6.5, color=color)
    for alpha, style in zip(ALPHAS, ((0, (1, 1.5)), "-", (0, (4, 2))), strict=True):
        ax.axvline(alpha, color="#999999", linewidth=0.8, linestyle=style, zorder=0)
    ax.set(xscale="log", xlim=(FLOOR * 0.45, 1.4), xlabel="p-value")
    ax.set_xticks([FLOOR, 0.01, 0.05, 0.1, 1], ["≤ .0001", ".01", ".05", ".1", "1"], fontsize=6.5)
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.tick_params(axis="y", length=0)
    ax.tick_params(axis="x", which="minor", length=0)
    ax.grid(axis="y", linewidth=0.3)
    ax.spines["left"].set_visible(False)


def error_figure(rows: pd.DataFrame, look: Look) -> Figure:
    """How often each test rejects a true null at .05: a mark a label, by method and test."""
    here = rows[(rows["statistic"] == "null_rejection") & (rows["alpha"] == "0.05")].dropna(subset=["estimate"])
    methods = sorted(here["method"].unique(), key=lambda m: look.position("method", m))
    names = {"published": "published test", "dialogue_welch": TESTS["dialogue_welch"], "session": TESTS["session"]}
    look = Look(look.labels, look.names | {"kind": names})
    here = here.assign(kind=here["test"].where(~here["test"].isin(PUBLISHED), "published"))
    fig, ax = subplots(width=min(PAGE, 3.4 + 1.2 * len(methods)), height=2.5)
    strip(here, ax, look, x="method", y="estimate", hue="kind")
    ax.axhline(0.05, color="#444444", linewidth=0.9)
    ax.set(ylabel="Share of true nulls rejected at .05", ylim=(0, None))
    shown = [k for k in names if (here["kind"] == k).any()]
    legend_of(fig, [handle(names[k], look.color("kind", k), "o", linewidth=0) for k in shown])
    return fig


def power_figure(rows: pd.DataFrame, look: Look) -> Figure:
    """Mean power of the permutation test by number of dialogues, a line a method."""
    fig, ax = subplots(width=5.4, height=2.8)
    names = {"xlabel": "Dialogues a system", "ylabel": "Share of pairs told apart"}
    lines(power_rows(rows), ax, look, x="n_dialogues", hue="method", **names)
    ax.axhline(0.05, color="#999999", linewidth=0.8)
    ax.set_ylim(0, None)
    return fig
