"""Figures of notebook 08."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from helpers.display.grid_plots import ROW, grid_figure, interval_keys, intervals
from helpers.display.names import DisplayNames
from helpers.display.plots import stacked
from helpers.display.style import INK, PAGE, handle, legend_of, subplots
from helpers.display.text import span
from helpers.display.views import Plot
from helpers.groups import analysis
from helpers.groups.conclusions import VERDICTS, counted
from helpers.groups.tables import agreement, ordered
from helpers.study.results import Results

GREY = "#C9C9C9"
#: of VERDICTS
_COLORS = ("#0072B2", "#E3E3E3", "#D55E00")


def differences(results: Results, names: DisplayNames, confidence: float, margin: float) -> Iterator[Plot]:
    """Differences between groups and those expected by chance, one figure per corpus."""
    rows = analysis.differences(results, confidence)
    for name, part in _by(rows, ["corpus"], "differences"):
        yield _differences(part, names, name, 1 - confidence, margin)


def figure_one(results: Results, names: DisplayNames, confidence: float, margin: float) -> Plot:
    """Figure 1 of the paper for the groups in these data, with differences expected by chance."""
    rows = analysis.differences(results, confidence, scope="paper", pick="paper")
    return _differences(rows, names, "figure1", 1 - confidence, margin)


def _differences(rows: pd.DataFrame, names: DisplayNames, name: str, level: float, margin: float) -> Plot:
    rows = ordered(rows, names)
    rows = rows.assign(significant=rows["p_adjusted"] < level, hue=rows["groups"])
    rows["block"] = [names.name("label", x, m) for x, m in zip(rows["label"], rows["method"], strict=True)]
    rows["panel"] = [names.name("method", m) for m in rows["method"]]
    if len(set(rows["groups"])) == 1:
        rows["panel"] += ": " + rows["groups"]

    def paint(ax: Axes, part: pd.DataFrame, color: str, marker: str) -> None:
        y = part["y"].to_numpy()
        ax.barh(y, part["null_q95"].fillna(0), 0.85 * ROW, color=GREY, alpha=0.55)
        ax.plot(part["null_mean"], y, "|", color="#6B6B6B", markersize=5, markeredgewidth=1.2)
        if "debiased" in part:
            ax.hlines(y + 0.35 * ROW, part["debiased_low"], part["debiased_high"], color=color, linewidth=0.8)
            ax.plot(part["debiased"], y + 0.35 * ROW, "d", color=color, markersize=2.4)
        else:
            ax.hlines(y, part["ci_low"], part["ci_high"], color=color, linewidth=1.0)
        for face, chosen in ((color, part["significant"]), ("white", ~part["significant"])):
            ax.plot(part["estimate"][chosen], y[chosen], marker, color=color, markerfacecolor=face, markersize=3.6)
        ax.axvline(margin, color=INK, linewidth=0.6, linestyle=(0, (3, 2)))

    light = "noise-corrected, 95% CI" if "debiased" in rows else "95% CI as published"
    keys = [
        mpl.patches.Patch(color=GREY, alpha=0.55, label="95% chance limit"),
        handle("expected by chance", "#6B6B6B", "|", linewidth=0),
        handle("difference, significant (Holm)", "#555555", "o", linewidth=0),
        handle("not significant", "#555555", "o", linewidth=0, markerfacecolor="white"),
        handle(light, "#555555", "d" if "debiased" in rows else "", linewidth=0.8),
        handle(f"margin {margin:g}", INK, "", linewidth=0.6, linestyle=(0, (3, 2))),
    ]
    xlabel = "Mean absolute difference of effect sizes"
    fig = grid_figure(rows, paint, xlabel=xlabel, columns=3, sharex=True, keys=keys)
    alt = f"{len(rows)} differences between groups by label{_spanned(rows)};"
    return Plot(fig, name, f"{alt} {int(rows['significant'].sum())} are significant after Holm's adjustment.")


def effects(results: Results, names: DisplayNames) -> Iterator[Plot]:
    """Effect sizes of pairs of systems by label and group, one figure per corpus and method."""
    sizes = turned(results.select("effect_size", resample="session"), names)
    pairs = list(zip(sizes["system"], sizes["system_b"], strict=True))
    sizes["block"] = [" − ".join(names.name("system", s) for s in pair) for pair in pairs]
    sizes["pair"] = [tuple(names.position("system", s) for s in pair) for pair in pairs]
    sizes["hue"] = [names.name("group", g) for g in sizes["group"]]
    sizes = names.sort(sizes.drop(columns="system").sort_values("pair", kind="stable"))
    for name, part in _by(sizes, ["corpus", "method"], "effects"):
        xlabel = " and ".join(f"Cohen's {effect}" for effect in sorted(set(part["effect"])))
        yield _by_label(part, names, name, xlabel, interval_keys("95% CI over sessions", None, part))


def turned(sizes: pd.DataFrame, names: DisplayNames) -> pd.DataFrame:
    """Effect sizes whose first system is the one that figures show first, as in the other notebooks."""
    back = np.greater(*([names.position("system", s) for s in sizes[c]] for c in ("system", "system_b")))
    ends = {"estimate": -sizes["estimate"], "ci_low": -sizes["ci_high"], "ci_high": -sizes["ci_low"]}
    other = sizes.assign(system=sizes["system_b"], system_b=sizes["system"], **ends)
    return pd.concat([sizes[~back], other[back]], ignore_index=True)


def alphas(results: Results, names: DisplayNames) -> Iterator[Plot]:
    """Alpha within and between groups by label, one figure per corpus and method."""
    rows = ordered(agreement(results), names)
    rows = rows.sort_values("place", kind="stable").assign(block=lambda f: f["groups"])
    rows["hue"] = np.where(rows["group_b"].isna(), "within a group", "between two groups")
    rows = names.sort(rows.drop(columns="group"))
    for name, part in _by(rows, ["corpus", "method"], "alpha"):
        key = interval_keys("95% CI over dialogues or pairs", None, part)
        yield _by_label(part, names, name, "Krippendorff's alpha", key)


def _by_label(rows: pd.DataFrame, names: DisplayNames, name: str, xlabel: str, keys: list) -> Plot:
    method = rows["method"].iloc[0]
    rows = rows.assign(panel=[names.name("label", x, method) for x in rows["label"]])
    fig = grid_figure(rows, intervals, xlabel=xlabel, reference=0, sharex=True, keys=keys)
    alt = f"{xlabel} by label, {names.name('method', method)}: {len(rows)} values with intervals{_spanned(rows)}."
    return Plot(fig, name, alt)


def _by(rows: pd.DataFrame, columns: list[str], stem: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """The part of each figure, and the figure's name: with the method, and the corpus where there are several."""
    several = len(set(rows["corpus"])) > 1
    for key, part in rows.groupby(columns, sort=False):
        yield "_".join([stem, *(key if several else key[1:])]).lower(), part


def _spanned(rows: pd.DataFrame) -> str:
    found = rows["estimate"].dropna()
    return f" from {span(found)}" if len(found) else ", none of them defined"


def conclusions(results: Results, names: DisplayNames, margin: float) -> Plot:
    """Shares of pairs of systems by what two groups conclude, a panel per question."""
    titles = {"sign": "Direction", "people": "Direction, annotators resampled", "size": f"Size within ±{margin:g}"}
    parts = {question: ordered(counted(results, question), names) for question in titles}
    parts = {question: part for question, part in parts.items() if len(part)}
    height = 0.3 * max(map(len, parts.values())) + 1.1
    fig, axes = subplots(1, len(parts), width=PAGE, height=height, sharey=True, squeeze=False)
    for ax, (question, part) in zip(axes[0], parts.items(), strict=True):
        shares = part[VERDICTS].div(part[VERDICTS].sum(axis=1), axis=0)
        methods = [names.name("method", m) for m in part["method"]]
        shares.index = [f"{m}:\n{g}" for m, g in zip(methods, part["groups"], strict=True)]
        stacked(shares, ax, colors=list(_COLORS), xlabel="")
        ax.set_title(fill(titles[question], 22))
    words = ("same", "inconclusive", "opposite, or different in size")
    legend_of(fig, [mpl.patches.Patch(color=c, label=w) for c, w in zip(_COLORS, words, strict=True)])
    fig.supxlabel("Share of pairs of systems, all labels", fontsize=8)
    return Plot(fig, "conclusions", "Shares of pairs of systems for which two groups reach the same conclusion or not.")
