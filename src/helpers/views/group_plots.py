"""Figures of notebook 08: result rows in, a figure out."""

from __future__ import annotations

from textwrap import fill

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from helpers.figure import INK, PAGE, handle, legend_of, subplots
from helpers.look import Look
from helpers.plotting import HOLLOW, stacked
from helpers.views.group_report import both, ordered

GREY = "#C9C9C9"


def differences_figure(found: pd.DataFrame, look: Look, margin: float) -> Figure:
    """Differences between groups as published, over what chance gives; a row of panels for each two groups.

    found : `group_report.differences` of one corpus, primary (with what is left beyond noise) or not. Methods stand
    side by side; with one method, pairs of groups do.
    """
    rows = ordered(found, look)
    pairs = list(dict.fromkeys(zip(rows["group"], rows["group_b"], strict=True)))
    pairs.sort(key=lambda p: sorted(look.position("group", g) for g in p))
    methods = list(dict.fromkeys(rows["method"]))
    panels = [(p, m) for p in pairs for m in methods]
    columns = len(methods) if len(methods) > 1 else min(len(panels), 2)
    lines = -(-len(panels) // columns)
    most = rows.groupby(["group", "group_b", "method"]).size().max()
    height = lines * (0.165 * most + 0.35) + 1.1
    fig, axes = subplots(lines, columns, width=PAGE, height=height, sharex=True, squeeze=False)
    for k, (ax, (pair, method)) in enumerate(zip(axes.flat, panels, strict=False)):
        here = rows[(rows["group"] == pair[0]) & (rows["group_b"] == pair[1]) & (rows["method"] == method)]
        _differences(here, ax, look, margin)
        _titles(ax, k, columns, both(*pair, look), look.name("method", method), several=len(methods) > 1)
    for line in axes:
        names = [[t.get_text() for t in ax.get_yticklabels()] for ax in line]
        for ax, name in zip(line[1:], names[1:], strict=True):
            if name == names[0]:
                ax.set_yticklabels([])
    for ax in axes.flat[len(panels) :]:
        ax.axis("off")
    ends = [
        c
        for c in ("estimate", "null_q95", "ci_high", "debiased_high")
        if c in rows and (c != "ci_high" or "debiased" not in rows)
    ]
    axes[0, 0].set_xlim(0, 1.04 * np.nanmax(rows[ends].to_numpy(float), initial=margin))
    fig.supxlabel("Mean absolute difference of effect sizes", fontsize=8)
    fig.legend(handles=_difference_keys("debiased" in rows, margin), loc="outside upper left", ncols=3)
    return fig


def _titles(ax: Axes, k: int, columns: int, groups: str, method: str, *, several: bool) -> None:
    """The pair of groups over its first panel; the method over its first panel where there are several."""
    if not several:
        ax.set_title(fill(groups, 44), fontsize=7.5)
        return
    first = groups if k % columns == 0 else ""
    ax.set_title(f"{method}\n{first}" if k < columns else first, fontsize=7.5)


def _differences(rows: pd.DataFrame, ax: Axes, look: Look, margin: float) -> None:
    y = np.arange(len(rows))
    ax.barh(y, rows["null_q95"].fillna(0), 0.74, color=GREY, alpha=0.55)
    ax.plot(rows["null_mean"], y, "|", color="#6B6B6B", markersize=7, markeredgewidth=1.3)
    beyond = rows["exceeds"].map(lambda e: e is True or e is np.True_).to_numpy(bool)
    for face, chosen in (("#0072B2", beyond), ("white", ~beyond)):
        ax.plot(rows["estimate"][chosen], y[chosen], "o", color="#0072B2", markerfacecolor=face, markersize=4.5)
    if "debiased" in rows:
        ax.hlines(y + 0.22, rows["debiased_low"], rows["debiased_high"], color="#D55E00", linewidth=1.1)
        ax.plot(rows["debiased"], y + 0.22, "D", color="#D55E00", markersize=3)
    else:
        ax.hlines(y, rows["ci_low"], rows["ci_high"], color="#0072B2", linewidth=1.0)
    ax.axvline(margin, color=INK, linewidth=0.7, linestyle=(0, (3, 2)))
    names = [look.name("label", x, m) for x, m in zip(rows["label"], rows["method"], strict=True)]
    ax.set(yticks=y, yticklabels=names, ylim=(len(rows) - 0.45, -0.55))
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x")


def _difference_keys(primary: bool, margin: float) -> list:
    keys = [
        mpl.patches.Patch(color=GREY, alpha=0.55, label="chance gives up to (95 %)"),
        handle("chance gives on average", "#6B6B6B", "|", linewidth=0),
        handle("difference, beyond the 95 % point", "#0072B2", "o", linewidth=0),
        handle("difference, not beyond", "#0072B2", "o", linewidth=0, markerfacecolor="white"),
    ]
    if primary:
        keys.append(handle("what is left without noise", "#D55E00", "D", linewidth=1.1))
    else:
        keys.append(handle("interval as published", "#0072B2", "", linewidth=1.0))
    return [*keys, handle(f"margin {margin:g}", INK, "", linewidth=0.7, linestyle=(0, (3, 2)))]


def effects_figure(rows: pd.DataFrame, look: Look, xlabel: str) -> Figure:
    """Effect sizes of pairs of systems by group, a panel a label. rows : `effect_size` of one method."""
    rows = look.sort(rows)
    pair = [
        f"{look.name('system', a)} –\n{look.name('system', b)}"
        for a, b in zip(rows["system"], rows["system_b"], strict=True)
    ]
    groups = sorted(rows["group"].unique(), key=lambda g: look.position("group", g))
    style = {g: (look.color("group", g), look.marker("group", g), look.name("group", g)) for g in groups}
    return small_multiples(rows.assign(row=pair, hue=rows["group"]), look, style, xlabel, reference=0.0)


def alpha_figure(rows: pd.DataFrame, look: Look) -> Figure:
    """Alpha within and between groups, a panel a label. rows : `alpha` of one method."""
    names = [both(a, b, look) for a, b in zip(rows["group"], rows["group_b"], strict=True)]
    within = rows["group_b"].isna()
    place = [
        (isinstance(b, str), sorted(look.position("group", g) for g in (a, b) if isinstance(g, str)))
        for a, b in zip(rows["group"], rows["group_b"], strict=True)
    ]
    rows = rows.assign(row=[n.replace(" / ", " /\n") for n in names], hue=np.where(within, "within", "between"))
    rows = rows.iloc[sorted(range(len(rows)), key=lambda i: place[i])]
    style = {"within": ("#0072B2", "o", "within a group"), "between": ("#D55E00", "s", "between two groups")}
    style = {k: v for k, v in style.items() if (rows["hue"] == k).any()}
    return small_multiples(rows, look, style, "Alpha", reference=0.0)


def small_multiples(rows: pd.DataFrame, look: Look, style: dict[str, tuple], xlabel: str, reference: float) -> Figure:
    """A panel for each label of one method: rows of values with intervals, coloured by `hue`.

    rows : label, method, row (name, in order of first occurrence), hue, estimate, ci_low, ci_high, ci_kind.
    style : hue -> colour, marker, name. Several hues of a row stand below each other.
    """
    order = list(dict.fromkeys(rows["row"]))
    labels = list(dict.fromkeys(look.sort(rows)["label"]))
    hues = [h for h in style if (rows["hue"] == h).any()]
    per_row = rows.groupby(["label", "row"])["hue"].nunique().max()
    columns = min(4, len(labels))
    lines = -(-len(labels) // columns)
    height = lines * (len(order) * max(0.30 if any("\n" in o for o in order) else 0.18, 0.11 * per_row) + 0.3) + 0.7
    fig, axes = subplots(lines, columns, width=PAGE, height=height, sharex=True, sharey=True, squeeze=False)
    for ax, label in zip(axes.flat, labels, strict=False):
        ax.axvline(reference, color="#9A9A9A", linewidth=0.8, zorder=0)
        here = rows[rows["label"] == label]
        for i, hue in enumerate(hues):
            part = here[here["hue"] == hue]
            shift = 0.0 if per_row == 1 else (i - (len(hues) - 1) / 2) * 0.8 / len(hues)
            _points(part, np.array([order.index(r) for r in part["row"]]) + shift, ax, *style[hue][:2])
        ax.set_title(fill(look.name("label", label, here["method"].iloc[0]), 19), fontsize=8)
        ax.grid(axis="x")
    axes[0, 0].set(yticks=range(len(order)), yticklabels=order, ylim=(len(order) - 0.45, -0.55))
    for ax in axes.flat:
        ax.tick_params(axis="y", length=0)
    for ax in axes.flat[len(labels) :]:
        ax.axis("off")
    fig.supxlabel(xlabel, fontsize=8)
    keys = [handle(name, colour, marker) for colour, marker, name in (style[h] for h in hues)]
    if rows["ci_kind"].isin(HOLLOW).any():
        keys.append(handle("bound, or no interval", "#555555", "o", linestyle=(0, (2, 1.2)), markerfacecolor="white"))
    legend_of(fig, keys)
    return fig


def _points(rows: pd.DataFrame, y: np.ndarray, ax: Axes, colour: str, marker: str) -> None:
    hollow = rows["ci_kind"].isin(HOLLOW).to_numpy()
    for which, line, face in ((~hollow, "-", colour), (hollow, (0, (2, 1.2)), "white")):
        part = rows[which]
        ax.hlines(y[which], part["ci_low"], part["ci_high"], color=colour, linewidth=1.1, linestyle=line)
        ax.plot(part["estimate"], y[which], marker, color=colour, markerfacecolor=face, markersize=3.2)


def agreement_figure(parts: dict[str, pd.DataFrame], look: Look) -> Figure:
    """Shares of pairs of systems by what two groups conclude, a panel a question, a bar for each method and two groups.

    parts : title -> `group_report.totals`.
    """
    parts = {title: rows for title, rows in parts.items() if len(rows)}
    n = max(len(rows) for rows in parts.values())
    several = len({m for rows in parts.values() for m in rows["method"]}) > 1
    height = (0.3 if several else 0.24) * n + 1.1
    fig, axes = subplots(1, len(parts), width=PAGE, height=height, sharey=True, squeeze=False)
    colours = {"same": "#0072B2", "undecided": "#E3E3E3", "opposite": "#D55E00", "different": "#D55E00"}
    for ax, (title, rows) in zip(axes[0], parts.items(), strict=True):
        rows = ordered(rows, look)
        kinds = [k for k in colours if k in rows]
        names = [both(a, b, look) for a, b in zip(rows["group"], rows["group_b"], strict=True)]
        if several:
            names = [f"{look.name('method', m)}:\n{x}" for m, x in zip(rows["method"], names, strict=True)]
        shares = rows[kinds].div(rows[kinds].sum(axis=1), axis=0)
        shares.index = names
        stacked(shares, ax, colors=[colours[k] for k in kinds], xlabel="")
        ax.set_title(fill(title, 22), fontsize=8)
    keys = {"same": "#0072B2", "one cannot tell": "#E3E3E3", "opposite, or different": "#D55E00"}
    legend_of(fig, [mpl.patches.Patch(color=c, label=k) for k, c in keys.items()])
    fig.supxlabel("Share of the pairs of systems of all labels", fontsize=8)
    return fig
