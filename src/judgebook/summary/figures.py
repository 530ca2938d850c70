"""The small figures of a study's first page, one per answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from judgebook.display.names import DisplayNames
from judgebook.display.style import INK, handle, legend_of, subplots, tips
from judgebook.display.text import interval, number
from judgebook.display.views import Plot
from judgebook.questions.performance import leaderboard
from judgebook.summary.analysis import DOUBTFUL, RELIABLE, TOO_FEW

WIDTH = 4.0  # inches
_ENDS = ("estimate", "ci_low", "ci_high")
#: letters of a line of a row's name
LETTERS = 38
#: rows of a figure; of more systems the first are shown, of more labels the most and the least agreed on
MOST = 10
#: verdict on a label -> colour and marker
TRUST = {RELIABLE: ("#1B7837", "o"), DOUBTFUL: ("#B35806", "s"), TOO_FEW: ("#777777", "D")}
#: part of the variance due to annotators -> title, colour and marker
SHARES = {"annotator": ("strictness", "#1F78B4", "o"), "taste": ("preferences for systems", "#B35806", "s")}
#: outcome of a comparison -> shade
DECIDED = {"differ": "#2B2B2B", "equivalent": "#8C8C8C", "undecided": "#DDDDDD"}


def order(rows: pd.DataFrame, names: DisplayNames, who: str) -> Plot | None:
    """How far one evaluation's systems are behind the leader, the best on top."""
    shown = rows.head(MOST)
    if shown.empty or shown["lead"].isna().all():
        return None
    scale, _, unit = leaderboard.UNITS[shown["unit"].iloc[0]]
    titles = [names.name("system", s) for s in shown["system"]]
    fig, ax = _rows(titles)
    ax.set_xlim(*leaderboard.limits(shown, scale))
    leaderboard.panel(ax, shown, titles, who, scale)
    ax.set_ylim(len(shown) - 0.5, -1.1)
    ax.set_xlabel(f"Difference from the leader ({unit})")
    legend_of(fig, leaderboard.keys(shown))
    ends = [f"{t} {number(scale * e)}" for t, e in zip(titles, shown["estimate"], strict=True)]
    alt = f"Systems from best to worst, {who}: {'; '.join(ends)}."
    cut = f" The first {len(shown)} of {len(rows)} systems." if len(rows) > len(shown) else ""
    caption = (
        f"How far each system is behind the leader ({who}). Lines: {names.ci} over {_over(shown['over'])}, for all"
    )
    caption += " pairs of systems at once; a line that reaches the dashed line: not distinguishable from the leader."
    caption += f" Shaded: may be best. Beside: the score and the {names.ci} of the rank.{cut}"
    return Plot(fig, "order", alt, caption)


def _over(units: pd.Series) -> str:
    return " or ".join(dict.fromkeys(_plural(str(u)) for u in units.dropna()))


def _plural(unit: str) -> str:
    """`sessions and annotators` of `session and annotator`."""
    return " and ".join(word if word.endswith("s") else f"{word}s" for word in unit.split(" and "))


def labels(rows: pd.DataFrame, names: DisplayNames, threshold: float) -> Plot | None:
    """Alpha of each label with its interval, coloured by what the interval says of a threshold."""
    estimated = rows.dropna(subset="estimate").sort_values("estimate", ascending=False)
    if estimated.empty:
        return None
    half, n = MOST // 2, len(estimated)
    shown = estimated if n <= MOST else pd.concat([estimated.head(half), estimated.tail(MOST - half)])
    several = len(set(shown["method"])) > 1
    titles = [names.name("label", x, m) for x, m in zip(shown["label"], shown["method"], strict=True)]
    if several:
        methods = [names.name("method", m) for m in shown["method"]]
        titles = [f"{label} ({m})" for label, m in zip(titles, methods, strict=True)]
    estimate, low, high = (shown[c] for c in _ENDS)
    fig, ax = _rows(titles)
    for i, row in enumerate(shown.itertuples()):
        color, marker = TRUST[row.verdict]
        ax.hlines(i, row.ci_low, row.ci_high, color=color, linewidth=1.4)
        ax.plot(row.estimate, i, marker, color=color, markersize=4.5)
    tips(ax, _tooltips(titles, estimate, low, high, shown["n"]), low.fillna(estimate), range(len(shown)),
         x_to=high.fillna(estimate))  # fmt: skip
    ax.axvline(threshold, color="#444444", linewidth=0.9)
    ax.set_xlabel(f"Krippendorff's alpha (line: {threshold:g})")
    legend_of(fig, [handle(v, *TRUST[v]) for v in TRUST if (shown["verdict"] == v).any()])
    values = "; ".join(f"{t} {number(e)}" for t, e in zip(titles, shown["estimate"], strict=True))
    cut = "" if len(shown) == n else f" The {half} highest and lowest of {n} labels."
    caption = f"Points: Krippendorff's alpha by label; lines: {names.ci} over {_over(shown['resample'])}; "
    caption += f"vertical line: {threshold:g}.{cut}"
    return Plot(fig, "labels", f"Agreement by label: {values}.", caption)


def repeats(rows: pd.DataFrame, names: DisplayNames) -> Plot | None:
    """r of system means between two runs, by label."""
    shown = rows.sort_values("estimate", ascending=False).head(MOST)
    if shown.empty:
        return None
    method = {label: method for method, label in names.labels}
    titles = [names.name("label", x, method.get(x)) for x in shown["label"]]
    estimate, low, high = (shown[c] for c in _ENDS)
    y = np.arange(len(shown))
    fig, ax = _rows(titles)
    ax.hlines(y, low, high, color=INK, linewidth=1.4)
    ax.plot(estimate, y, "o", color=INK, markersize=4.5)
    tips(ax, _tooltips(titles, estimate, low, high, shown["n"]), low, y, x_to=high)
    ax.set(xlim=(min(0, shown["ci_low"].min()) - 0.04, 1.04), xlabel="Correlation of system means between runs")
    values = "; ".join(f"{t} {number(e)}" for t, e in zip(titles, shown["estimate"], strict=True))
    caption = (
        f"Points: r between the means of {int(shown['n'].iloc[0])} systems in two runs; lines: {names.ci} over workers."
    )
    return Plot(fig, "labels", f"Correlation between runs: {values}.", caption)


def judges(facts: Mapping[str, Any], names: DisplayNames) -> Plot | None:
    """Shares of the variance that are due to annotators, by label; where unknown, differences between groups."""
    if facts["kind"] == "shares":
        return _shares(facts["rows"], names)
    return _between_groups(facts["groups"]["rows"], names) if facts["groups"] else None


def _shares(rows: pd.DataFrame, names: DisplayNames) -> Plot | None:
    """Strictness and preferences, the labels with most of either on top."""
    keys = ["method", "label"]
    most = rows.groupby(keys, sort=False)["estimate"].sum().sort_values(ascending=False, kind="stable")
    shown = list(most.head(MOST).index)
    several = len(set(rows["method"])) > 1
    titles = [
        names.name("label", label, method) + (f" ({names.name('method', method)})" if several else "")
        for method, label in shown
    ]
    fig, ax = _rows(titles)
    for shift, (part, (title, color, marker)) in zip((-0.16, 0.16), SHARES.items(), strict=True):
        of_part = rows[rows["part"] == part].set_index(keys).reindex(pd.MultiIndex.from_tuples(shown, names=keys))
        at = np.flatnonzero(of_part["estimate"].notna())
        y = at + shift
        estimate, low, high = (100 * of_part[c].to_numpy(float)[at] for c in _ENDS)
        ax.hlines(y, low, high, color=color, linewidth=1.4)
        ax.plot(estimate, y, marker, color=color, markersize=4.5)
        tooltips = _tooltips([f"{titles[i]}, {title}" for i in at], *map(pd.Series, (estimate, low, high)))
        tips(ax, tooltips, low, y, x_to=high)
    ax.set(xlim=(-2, None), xlabel="Share of the variance of judgements of one system (%)")
    legend_of(fig, [handle(*style) for part, style in SHARES.items() if (rows["part"] == part).any()])
    values = "; ".join(f"{t} {number(100 * v)}%" for t, v in zip(titles, most, strict=False))
    alt = f"Share of variance due to annotators, both parts: {values}."
    cut = f" The {len(shown)} of {len(most)} labels with most." if len(most) > len(shown) else ""
    caption = f"Points: shares of variance due to annotators, by label; lines: {names.ci} (profile likelihood).{cut}"
    return Plot(fig, "judges", alt, caption)


def _between_groups(rows: pd.DataFrame, names: DisplayNames) -> Plot | None:
    shown = rows.dropna(subset="debiased").sort_values("debiased", ascending=False).head(MOST)
    if shown.empty:
        return None
    several = len(set(shown["method"])) > 1
    titles = [
        names.name("label", r.label, r.method) + (f" ({names.name('method', r.method)})" if several else "")
        for r in shown.itertuples()
    ]
    if len(shown[["group", "group_b"]].drop_duplicates()) > 1:
        pairs = [f"{names.name('group', a)} – {names.name('group', b)}" for a, b in shown[["group", "group_b"]].values]
        titles = [f"{t}: {p}" for t, p in zip(titles, pairs, strict=True)]
    y, sure = np.arange(len(shown)), (shown["p_adjusted"] < 0.05).to_numpy()
    fig, ax = _rows(titles)
    ax.hlines(y, shown["debiased_low"], shown["debiased_high"], color=INK, linewidth=1.4)
    ax.plot(shown["debiased"], y, "o", color=INK, markersize=4.5, markerfacecolor="white")
    ax.plot(shown["debiased"][sure], y[sure], "o", color=INK, markersize=4.5)
    debiased, low, high = (shown[c] for c in ("debiased", "debiased_low", "debiased_high"))
    tips(ax, _tooltips(titles, debiased, low, high, shown["n"]), low, y, x_to=high)
    ax.set(xlim=(-0.01, None), xlabel="Difference (effect size)")
    keys = [handle("significant", INK, "o", 0), handle("not significant", INK, "o", 0, markerfacecolor="white")]
    legend_of(fig, [key for key, any_ in zip(keys, (sure.any(), not sure.all()), strict=True) if any_])
    alt = f"Differences between groups by label; {int(sure.sum())} of {len(shown)} are significant."
    caption = "Points: mean difference between groups over pairs of systems, corrected for noise (d or h); lines: "
    caption += f"{names.ci}. "
    cut = f" The {len(shown)} largest of {len(rows)}." if len(rows) > len(shown) else ""
    return Plot(fig, "judges", alt, f"{caption}Filled: significant after Holm's adjustment.{cut}")


def sample(facts: Mapping[str, Any]) -> Plot | None:
    """How many comparisons were decided."""
    if not facts["n"]:
        return None
    counts = {"differ": facts["n_differ"], "equivalent": facts.get("n_alike", 0), "undecided": facts["open"]}
    fig, ax = subplots(width=WIDTH, height=0.95)
    left = 0
    starts = np.cumsum([0, *counts.values()])
    tips(ax, [f"{name}: {n}" for name, n in counts.items()], starts[:-1], [-0.4] * 3, x_to=starts[1:], y_to=[0.4] * 3)
    for name, n in counts.items():
        ax.barh(0, n, left=left, color=DECIDED[name], edgecolor="white")
        if n > 0.06 * facts["n"]:
            ax.text(left + n / 2, 0, str(n), ha="center", va="center", color="white" if name == "differ" else INK)
        left += n
    ax.set(yticks=[], xlim=(0, facts["n"]), xlabel="Comparisons (pairs of systems × labels)")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.spines["left"].set_visible(False)
    legend_of(fig, [handle(name, DECIDED[name], "s", linewidth=0) for name, n in counts.items() if n])
    alt = f"Of {facts['n']} comparisons, {', '.join(f'{n} {name}' for name, n in counts.items())}."
    alike = ", are equivalent within your margin" if facts["margins"] else ""
    whom = "other annotators like these" if facts["people"].others else "these annotators only"
    caption = f"Comparisons that differ (all pairs of a label at once){alike}, or remain undecided; for {whom}."
    return Plot(fig, "sample", alt, caption)


def cost(facts: Mapping[str, Any]) -> Plot | None:
    """The smallest detectable difference as the sample grows, by label of the main method."""
    rows = facts.get("detectable")
    if rows is None or rows.empty or not rows["per_system"].iloc[0]:
        return None
    size = round(rows[["per_system", "most_per_system"]].iloc[0].mean())
    n = np.geomspace(max(4, size / 3), 4 * size, 60)
    fig, ax = subplots(width=WIDTH, height=1.9)
    for row in rows.itertuples() if len(rows) > 1 else ():
        ax.plot(n, row.estimate * np.sqrt(size / n), color="#BBBBBB", linewidth=0.9)
    middle = rows["estimate"].median()
    ax.plot(n, middle * np.sqrt(size / n), color=INK, linewidth=1.8)
    ax.plot(size, middle, "o", color=INK, markersize=5)
    ax.annotate(f"now: {size}", (size, middle), xytext=(6, 6), textcoords="offset points", fontsize=7.5)
    ax.set(xscale="log", ylim=(0, None), xlabel="Dialogues or pairs per system", ylabel="Detectable difference")
    ticks = sorted({max(1, round(size / 2)), size, 2 * size, 4 * size})
    ax.set_xticks(ticks, [str(t) for t in ticks])
    found = [middle * np.sqrt(size / t) for t in ticks]
    tips(ax, [f"{t:,} per system: {number(float(d))}" for t, d in zip(ticks, found, strict=True)], ticks, found)
    ax.minorticks_off()
    keys = [handle("median label", INK, "", 1.8), handle("each label", "#BBBBBB", "", 0.9)]
    if len(rows) > 1:
        legend_of(fig, keys)
    of = f" (median of {len(rows)} labels)" if len(rows) > 1 else ""
    alt = f"Detectable difference by dialogues per system: {number(middle)} with {size}{of}."
    adjusted = ", all pairs of systems at once" if rows["n"].max() > 1 else ""
    whom = "other annotators, whose number grows in proportion" if facts["people"].others else "these annotators"
    caption = f"Difference found with 80% power{adjusted} (for {whom}), in units of the label; it is"
    caption += " proportional to 1/√n."
    return Plot(fig, "cost", alt, caption)


def _tooltips(
    titles: list[str], estimate: pd.Series, low: pd.Series, high: pd.Series, n: pd.Series | None = None
) -> list[str]:
    """What is shown under the pointer on a mark."""
    sizes = [""] * len(titles) if n is None else [f", n = {int(size)}" for size in n]
    rows = zip(titles, estimate, low, high, sizes, strict=True)
    return [f"{title}: {interval(*ends)}{size}" for title, *ends, size in rows]


def _rows(names: Sequence[str]) -> tuple[Figure, Axes]:
    """A figure with a row for each name, the first on top; long names take several lines."""
    lines = [fill(name, LETTERS) for name in names]
    most = max((line.count("\n") + 1 for line in lines), default=1)
    fig, ax = subplots(width=WIDTH, height=(0.15 if most == 1 else 0.13 * most) * len(lines) + 0.75)
    ax.set_yticks(range(len(lines)), lines)
    ax.set_ylim(len(lines) - 0.5, -0.5)
    ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.grid(axis="x")
    return fig, ax
