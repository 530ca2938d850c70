"""Figures of notebook 10. Rows come with the keys of their condition as columns (`quality_report.unfold`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from helpers.figure import INK, PAGE, handle, legend_of, subplots
from helpers.look import COLORS, MARKERS, Look
from helpers.tables import interval

#: sets of workers: name, colour, marker
SETS = {
    "all": ("No quality control", COLORS[7], "o"),
    "passed": ("Passed", COLORS[0], "s"),
    "failed": ("Failed", COLORS[1], "D"),
    "once": ("Passed, in one run", COLORS[2], "^"),
}
SCORES = {"z": "Standardised scores", "raw": "Raw scores"}


def repeat_figure(rows: pd.DataFrame, titles: Mapping[str, str]) -> Figure:
    """r between two runs for each set of workers, with both intervals; a panel for z and one for raw scores.

    rows : `replication_r` of overall means, with among, interval, scores, workers. titles : among -> heading, in order.
    """
    scores = [s for s in SCORES if (rows["scores"] == s).any()]
    groups = [a for a in titles if (rows["among"] == a).any()]
    height = 0.75 + 0.19 * len(groups) * (len(SETS) + 1.6)
    fig, axes = subplots(1, len(scores), width=PAGE, height=height, sharey=True, squeeze=False)
    for ax, kind in zip(axes[0], scores, strict=True):
        y, ticks = 0.0, {}
        for among in groups:
            transform = {"transform": ax.get_yaxis_transform()}
            ax.text(0.01, y, titles[among], fontweight="bold", va="center", fontsize=7.5, **transform)
            for name in SETS:
                y += 1
                here = rows[(rows["scores"] == kind) & (rows["among"] == among) & (rows["workers"] == name)]
                ticks[y] = SETS[name][0]
                _both(ax, here.set_index("interval"), y, name)
            y += 1.6
        ax.axvline(0, color="#BBBBBB", linewidth=0.8, zorder=0)
        ax.set(xlim=(-1.03, 1.03), ylim=(y - 0.6, -0.9), xlabel="r between the runs", title=SCORES[kind])
        ax.set_yticks(list(ticks), list(ticks.values()))
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="x")
        ax.spines["left"].set_visible(False)
    keys = [("other workers, same systems", 1.8, 1.0), ("other systems (Fisher, optimistic)", 0.9, 0.6)]
    legend_of(fig, [handle(n, "#555555", "o" if a == 1 else "", linewidth=w, alpha=a) for n, w, a in keys])
    return fig


def _both(ax: Axes, rows: pd.DataFrame, y: float, name: str) -> None:
    _, color, marker = SETS[name]
    if rows.empty or pd.isna(rows["estimate"].iloc[0]):
        ax.text(1.02, y, "not defined", transform=ax.get_yaxis_transform(), va="center", fontsize=6.5)
        return
    for kind, width, alpha, shift in (("workers", 1.8, 1.0, 0.0), ("fisher", 0.9, 0.6, 0.32)):
        if kind in rows.index and pd.notna(rows.at[kind, "ci_low"]):
            ends = [rows.at[kind, "ci_low"], rows.at[kind, "ci_high"]]
            ax.plot(ends, [y + shift] * 2, color=color, linewidth=width, alpha=alpha, solid_capstyle="butt")
    r = rows["estimate"].iloc[0]
    ax.plot(r, y, marker, color=color, markersize=4.5)
    low, high = (rows.at["workers", c] if "workers" in rows.index else np.nan for c in ("ci_low", "ci_high"))
    ax.text(1.02, y, interval(r, low, high, 3), transform=ax.get_yaxis_transform(), va="center", fontsize=6.5)


def run_scatter(
    means: pd.DataFrame,
    ax: Axes,
    corpora: Sequence[str],
    families: Mapping[str, Sequence[str]],
    name: str,
    systems: Sequence[str],
) -> None:
    """Overall means of systems in one run against another; arrows go from the plain system to the variant.

    means : corpus, system, estimate; corpora : the two, first and other; systems : to be shown. name : the set of
    workers, for the colour.
    """
    wide = means[means["system"].isin(systems)].pivot_table(index="system", columns="corpus", values="estimate")
    wide = wide.reindex(columns=list(corpora)).dropna()
    x, y = wide[corpora[0]], wide[corpora[1]]
    color = SETS[name][1]
    for members in families.values():
        a, b = (m for m in members[:2]) if len(members) > 1 else (None, None)
        if a in wide.index and b in wide.index:
            arrow = {"arrowstyle": "->", "color": "#999999", "lw": 0.8, "shrinkA": 3, "shrinkB": 3}
            ax.annotate("", (x[b], y[b]), (x[a], y[a]), arrowprops=arrow)
    ax.plot(x, y, SETS[name][2], color=color, markersize=4.5)
    for system in wide.index:
        ax.annotate(system, (x[system], y[system]), (4, 3), textcoords="offset points", fontsize=6.5)
    ends = [min(x.min(), y.min()), max(x.max(), y.max())] if len(wide) else [0, 1]
    ax.plot(ends, ends, color="#CCCCCC", linewidth=0.8, zorder=0)
    ax.set(xlabel=corpora[0], ylabel=corpora[1])
    ax.grid(axis="both")


def p_values(workers: pd.DataFrame, ax: Axes, alpha: float) -> None:
    """How p-values of workers are spread; those who pass have another colour. workers : p, passed; one corpus."""
    bins = np.linspace(0, 1, 21)
    names, parts = ("passed", "failed"), [workers.loc[workers["passed"] == ok, "p"].dropna() for ok in (True, False)]
    ax.hist(parts, bins, stacked=True, color=[SETS["passed"][1], SETS["failed"][1]], edgecolor="white", linewidth=0.4)
    ax.axvline(alpha, color=INK, linewidth=0.8, linestyle=(0, (2, 1.5)))
    ax.set(xlabel="p-value: control rated below the others", ylabel="Workers", xlim=(0, 1))
    ax.legend(
        handles=[
            handle(f"{SETS[n][0]} ({len(p)})", SETS[n][1], "s", linewidth=0) for n, p in zip(names, parts, strict=True)
        ]
    )


def significance(tests: pd.DataFrame, ax: Axes, order: Sequence[str], levels: Sequence[float]) -> None:
    """Which system (row) is rated above which (column), by one-sided tests: darker for smaller levels.

    tests : `system_test` rows of one corpus, both directions.
    """
    wide = tests.pivot_table(index="system", columns="system_b", values="p_value").reindex(index=order, columns=order)
    p, steps = wide.to_numpy(), sorted(levels, reverse=True)
    depth = np.where(np.isnan(p), -1, sum((p < level).astype(int) for level in steps))
    shades = ["#E9E9E9", "#FFFFFF", *["#9CC3E0", "#3B7FB5", "#0A4A80", "#06305A"][: len(steps)]]
    ax.imshow(depth, cmap=ListedColormap(shades), vmin=-1, vmax=len(steps), aspect="equal")
    ax.set_xticks(range(len(order)), order, rotation=90)
    ax.set_yticks(range(len(order)), order)
    ax.set_xticks(np.arange(-0.5, len(order)), minor=True)
    ax.set_yticks(np.arange(-0.5, len(order)), minor=True)
    ax.grid(which="minor", color="#D5D5D5", linewidth=0.5)
    ax.tick_params(which="both", length=0)
    ax.set_axisbelow(False)


def significance_legend(fig: Figure, levels: Sequence[float]) -> None:
    """What the shades of `significance` mean."""
    steps = sorted(levels, reverse=True)
    shades = ["#9CC3E0", "#3B7FB5", "#0A4A80", "#06305A"][: len(steps)]
    square = {"linewidth": 0, "markeredgecolor": "#999999"}
    handles = [handle(f"row above column, p < {v:g}", c, "s", **square) for v, c in zip(steps, shades, strict=True)]
    legend_of(fig, [*handles, handle("open", "#FFFFFF", "s", **square)])


def pair_histogram(pairs: pd.DataFrame, ax: Axes) -> None:
    """How correlations of two workers are spread, both passed and both failed. pairs : workers, r."""
    bins = np.arange(-10, 11) / 10
    for name in ("passed", "failed"):
        r = pairs.loc[pairs["workers"] == name, "r"]
        if len(r):
            label = f"{SETS[name][0]} ({len(r):,} pairs)"
            ax.hist(r, bins, density=True, histtype="step", color=SETS[name][1], linewidth=1.4, label=label)
            ax.axvline(r.median(), color=SETS[name][1], linewidth=0.9, linestyle=(0, (2, 1.5)))
    ax.set(xlabel="r of two workers", ylabel="Density", xlim=(-1, 1))
    ax.legend(loc="upper left", fontsize=6.5)


def length_figure(sizes: pd.DataFrame) -> Figure:
    """Characters and words of conversations and inputs by workers who passed and failed (Ji et al. 2022, Figs 7-10).

    sizes : `crowd.lengths` rows with `passed`. The axis ends at the 99th percentile.
    """
    panels = [(of, unit) for of in ("conversation", "input") for unit in ("characters", "words")]
    fig, axes = subplots(1, 4, width=PAGE, height=1.9)
    for ax, (of, unit) in zip(axes, panels, strict=True):
        part = sizes[sizes["of"] == of]
        longest = max(part[unit].quantile(0.99), 1)
        bins = np.arange(-0.5, longest + 1, max(1, round(longest / 25)))  # whole numbers: bins of equally many
        for name, ok in (("passed", True), ("failed", False)):
            values = part.loc[part["passed"] == ok, unit]
            if len(values):
                ax.hist(values, bins, density=True, histtype="step", color=SETS[name][1], linewidth=1.3)
                ax.axvline(values.median(), color=SETS[name][1], linewidth=0.9, linestyle=(0, (2, 1.5)))
        ax.set(xlabel=f"{unit.capitalize()} of a{'n' if of == 'input' else ''} {of}", yticks=[])
        ax.spines["left"].set_visible(False)
    legend_of(fig, [handle(SETS[n][0], SETS[n][1], "") for n in ("passed", "failed")])
    return fig


def threshold_figure(rows: pd.DataFrame, corpora: Sequence[str], alpha: float) -> Figure:
    """Ranks of systems as the p-value that passes moves, a panel a run; and r between the runs above.

    rows : `threshold_rank`, `qc_count` and `replication_r` rows with `threshold`.
    """
    values = sorted({float(v) for v in rows["threshold"]})
    at = {v: i for i, v in enumerate(values)}
    rows = rows.assign(x=rows["threshold"].astype(float).map(at))
    fig, axes = subplots(1, len(corpora), width=min(PAGE, 3.5 * len(corpora)), height=3.2, squeeze=False, sharey=True)
    for ax, corpus in zip(axes[0], corpora, strict=True):
        here = rows[rows["corpus"] == corpus]
        ranks = here[here["statistic"] == "threshold_rank"]
        for i, (system, part) in enumerate(ranks.groupby("system", sort=True)):
            style = {"color": COLORS[i % len(COLORS)], "marker": MARKERS[i % len(MARKERS)]}
            ax.plot(part["x"], part["estimate"], linewidth=1.2, markersize=3.5, **style)
            ax.annotate(
                system,
                (part["x"].iloc[-1], part["estimate"].iloc[-1]),
                (5, -2),
                textcoords="offset points",
                fontsize=6.5,
            )
        n = here[here["statistic"] == "qc_count"].set_index("x")["estimate"]
        ax.set_xticks(list(at.values()), [f"{v:g}\n{int(n.get(i, 0))}" for v, i in at.items()])
        ax.set(xlabel="Threshold of p, and workers who pass", title=corpus)
        ax.grid(axis="both")
        if alpha in at:
            ax.axvline(at[alpha], color=INK, linewidth=0.8, linestyle=(0, (2, 1.5)), zorder=0)
    axes[0, 0].set_ylabel("Rank by overall mean")
    axes[0, 0].invert_yaxis()
    return fig


def contrast_figure(rows: pd.DataFrame, look: Look, variant: str) -> Figure:
    """The variant less the plain system of each family, a mark a run. rows : `variant_contrast` of overall means."""
    pairs = list(dict.fromkeys(zip(rows["system"], rows["system_b"], strict=True)))
    corpora = list(dict.fromkeys(rows["corpus"]))
    fig, ax = subplots(width=5.2, height=0.8 + 0.24 * len(pairs) * max(len(corpora), 1))
    for i, (system, plain) in enumerate(pairs):
        for j, corpus in enumerate(corpora):
            row = rows[(rows["system"] == system) & (rows["system_b"] == plain) & (rows["corpus"] == corpus)].iloc[0]
            y = i + (j - (len(corpora) - 1) / 2) * 0.3
            if pd.notna(row["ci_low"]):
                ax.plot([row["ci_low"], row["ci_high"]], [y, y], color=COLORS[j], linewidth=1.6)
            ax.plot(row["estimate"], y, MARKERS[j], color=COLORS[j], markersize=4.5)
    ax.axvline(0, color="#BBBBBB", linewidth=0.8, zorder=0)
    ax.set_yticks(range(len(pairs)), [look.name("system", plain) for _, plain in pairs])
    ax.set(xlabel=f"Mean z with {variant} less without", ylim=(len(pairs) - 0.5, -0.5))
    ax.grid(axis="x")
    ax.tick_params(axis="y", length=0)
    legend_of(fig, [handle(c, COLORS[j], MARKERS[j]) for j, c in enumerate(corpora)])
    return fig
