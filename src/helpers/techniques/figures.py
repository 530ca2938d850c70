"""Figures of notebook 11."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from helpers.display.grid_plots import ROW, grid_figure, interval_keys, intervals
from helpers.display.names import COLORS, MARKERS, DisplayNames
from helpers.display.style import INK, PAGE, handle, legend_of, subplots
from helpers.display.text import percent, span
from helpers.display.views import Plot
from helpers.study.results import Results
from helpers.study.sections import Techniques
from helpers.techniques.sittings import TechniqueData
from helpers.techniques.tables import described, matching, shown, win_rates

#: with more pairs than this, power is averaged over them
MANY_PAIRS = 3
#: with more techniques than this, those that compare systems and those that do not have separate panels
MANY_LINES = 5
KINDS = {True: "Two systems at once", False: "One system at a time"}
LEVEL = {"color": INK, "linewidth": 0.8, "linestyle": (0, (2, 1.5))}


def turns(results: Results, data: TechniqueData, names: DisplayNames) -> Iterator[Plot]:
    """Win rate by turn where systems are compared, and share marked where they are not: a line per dimension."""
    rows = results.select("turn_rate", label=shown(data))
    for name, part in {"turns": rows.dropna(subset="system_b"), "marks": rows[rows["system_b"].isna()]}.items():
        if len(part):
            part = described(part, data, names)
            panel, ylabel = ("Pair", "Wins of the first system") if name == "turns" else ("System", "Share marked")
            hue = part["label"].map(names.titles["dimension"])
            fig = _lines(part.assign(panel=part[panel], hue=hue, x=part["turn"]), "Turn", ylabel, reference=0.5)
            alt = f"{ylabel} by turn with intervals, for {', '.join(part[panel].unique())}, a line per dimension:"
            yield Plot(fig, name, f"{alt} {span(part['estimate'])}.")


def coefficients(results: Results, data: TechniqueData, names: DisplayNames) -> Plot | None:
    """What a mark at each turn adds to the final rating, by system, and over all systems."""
    rows = results["turn_coefficient"].dropna(subset="estimate")
    if rows.empty:
        return None
    hue = rows["system"].map(names.titles["system"]).fillna("all systems")
    fig = _lines(rows.assign(panel="", hue=hue, x=rows["turn"]), "Turn", "Coefficient", reference=0)
    alt = f"Coefficient of each turn for the final rating with intervals, by system: {span(rows['estimate'])}."
    return Plot(fig, "coefficients", alt)


def _lines(rows: pd.DataFrame, xlabel: str, ylabel: str, reference: float) -> Figure:
    """Estimates over `x`, with intervals where there are any: a column of panels for each `panel`, a line of panels for
    each `kind` (where given), a line for each `hue`."""
    rows = rows if "kind" in rows else rows.assign(kind="")
    panels, kinds, hues = (list(rows[c].unique()) for c in ("panel", "kind", "hue"))
    size = {"width": min(PAGE, 4.4 + 2.1 * (len(panels) - 1)), "height": 2.0 * len(kinds) + 0.5}
    fig, axes = subplots(len(kinds), len(panels), squeeze=False, sharex=True, sharey="row", **size)
    ends = np.clip([rows["estimate"] - rows["ci_low"], rows["ci_high"] - rows["estimate"]], 0, None)
    rows = rows.assign(below=ends[0], above=ends[1], x=rows["x"].astype(float)).sort_values("x", kind="stable")
    for (kind, panel, hue), part in rows.groupby(["kind", "panel", "hue"], sort=False):
        ax, i = axes[kinds.index(kind), panels.index(panel)], hues.index(hue)
        style = {"color": COLORS[i % 8], "marker": MARKERS[i % 8], "markersize": 3.5, "linewidth": 1.3}
        shift = 0.09 * (i - (len(hues) - 1) / 2) if part["below"].notna().any() else 0
        ax.errorbar(part["x"] + shift, part["estimate"], part[["below", "above"]].T, elinewidth=0.9, **style)
        ax.set(ylabel=fill(f"{ylabel}: {kind}", 18) if kind and panel == panels[0] else "", xlabel=xlabel)
    for ax, panel in zip(axes[0], panels, strict=True):
        ax.set_title(panel)
    for ax in axes.flat:
        ax.axhline(reference, **LEVEL)
        ax.grid(axis="y")
    if kinds == [""]:
        axes[0, 0].set_ylabel(ylabel)
    legend_of(fig, [handle(hue, COLORS[i % 8], MARKERS[i % 8]) for i, hue in enumerate(hues)])
    return fig


def rates(results: Results, data: TechniqueData, names: DisplayNames) -> Iterator[Plot]:
    """Win rates with intervals, one figure per corpus: a panel per pair of systems, a row per technique."""
    rows = win_rates(results, data, names)
    for suffix, part in _by_corpus(rows):
        keys = interval_keys("CI over conversations", None, part)
        options = {"xlabel": "Win rate of the first system", "percent": True, "reference": 0.5, "keys": keys}
        fig = grid_figure(_grid(part), intervals, columns=3, sharex=True, **options)
        alt = f"Win rates with intervals for {_sizes(part)}: {span(part['estimate'].dropna())}."
        yield Plot(fig, f"rates{suffix}", alt)


def _by_corpus(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The rows of each corpus, where there are several, with the end of its figure's name."""
    parts = [p for _, p in rows.groupby("Corpus", sort=False)] if "Corpus" in rows else [rows] * (len(rows) > 0)
    yield from ((f"_{i}" if i else "", part) for i, part in enumerate(parts))


def _sizes(rows: pd.DataFrame) -> str:
    corpus = f" ({rows['Corpus'].iloc[0]})" if "Corpus" in rows else ""
    return f"{rows['Pair'].nunique()} pairs of systems under {rows['Technique'].nunique()} techniques{corpus}"


def _grid(rows: pd.DataFrame) -> pd.DataFrame:
    """`described` rows for `grid_figure`: a panel per pair, a row per technique, a hue per group and dimension; all
    panels have the same rows, so that names on the left hold for all of them."""
    hue = [", ".join(row) for row in rows[[c for c in ("Group", "Dimension") if c in rows]].to_numpy()]
    placed = rows.assign(panel=rows["Pair"].astype(str), block=rows["Technique"].astype(str), hue=hue)
    keys = ["panel", "block", "hue"]
    blocks = [str(t) for t in rows["Technique"].cat.categories if t in set(placed["block"])]
    places = pd.MultiIndex.from_product([placed["panel"].unique(), blocks, placed["hue"].unique()], names=keys)
    return placed.set_index(keys).reindex(places).reset_index()


def hours(results: Results, data: TechniqueData, names: DisplayNames, options: Techniques) -> Iterator[Plot]:
    """Hours to the stated power with intervals, and hours until first significant: panels as in `rates`."""
    rows = described(results.select("hours_to_power", label=shown(data)), data, names)
    rows = rows.assign(first=matching(rows, results["hours_to_significance"]))
    keys = [handle(f"to {percent(options.power)} power, with CI", "#555555", "o")]
    keys.append(handle("until first significant, as published", "#555555", "D", linewidth=0, markerfacecolor="white"))
    keys.append(handle("CI without upper limit", "#555555", ">", linewidth=0))
    for suffix, part in _by_corpus(rows):
        part = part.assign(end=1.5 * part[["estimate", "ci_high", "first"]].max().max())
        fig = grid_figure(_grid(part), _hours, xlabel="Hours of work", columns=3, sharex=True, keys=keys)
        for ax in fig.axes[: part["Pair"].nunique()]:
            ax.set_xscale("log")
            ax.xaxis.set_major_formatter("{x:g}")
        alt = f"Hours of work for {_sizes(part)}, to {percent(options.power)} power and until first significant:"
        known = part[["estimate", "first"]].melt()["value"].dropna()
        yield Plot(fig, f"hours{suffix}", f"{alt} {span(known, 1)}.")


def _hours(ax: Axes, rows: pd.DataFrame, color: str, marker: str) -> None:
    known = rows[rows["ci_low"].notna()]
    opened = known[known["ci_high"].isna()]
    ax.hlines(known["y"], known["ci_low"], known["ci_high"].fillna(known["end"]), color=color, linewidth=1.3)
    ax.plot(opened["end"], opened["y"], ">", color=color, markersize=3)
    ax.plot(rows["estimate"], rows["y"], marker, color=color, markersize=3.2)
    ax.plot(rows["first"], rows["y"] + 0.3 * ROW, "D", color=color, markersize=2.2, mfc="white", mew=0.7)


def power(results: Results, data: TechniqueData, names: DisplayNames, options: Techniques) -> Plot | None:
    """Power against hours: means over the shown dimensions, and over all pairs where there are many."""
    timed = [t for t, spec in data.techniques.items() if spec.timed]
    rows = described(results.select("technique_power", label=shown(data), technique=timed), data, names)
    if rows.empty:
        return None
    parts = [c for c in ("Corpus", "Group") if c in rows] + ["Pair"] * (rows["Pair"].nunique() <= MANY_PAIRS)
    rows["panel"] = [", ".join(r) for r in rows[parts].to_numpy()] if parts else "Mean over all pairs"
    rows["kind"] = rows["technique"].map(data.compares).map(KINDS) if len(timed) > MANY_LINES else ""
    rows = rows.assign(hue=rows["Technique"].astype(str), x=rows["hours"].astype(float))
    key = ["kind", "panel", "hue", "conversations"]
    mean = rows.groupby(key, sort=False)[["x", "estimate"]].mean().reset_index().assign(ci_low=np.nan, ci_high=np.nan)
    fig = _lines(mean, "Hours of work", f"Power (line: {percent(options.power)})", reference=options.power)
    for ax in fig.axes:
        ax.set(xscale="log", ylim=(0, 1.02))
        ax.xaxis.set_major_formatter("{x:g}")
    alt = f"Power against hours of work for {', '.join(mean['hue'].unique())}, in panels for"
    return Plot(fig, "power", f"{alt} {', '.join(mean['panel'].unique())}: {span(mean['estimate'])}.")


def errors(results: Results, data: TechniqueData, names: DisplayNames, options: Techniques) -> Plot | None:
    """Type I error rates by technique, of one planned test and of testing after every rating."""
    tests = {"one planned test": "technique_false_positive", "a test after every rating": "technique_false_crossing"}
    parts = [results[statistic].assign(test=test) for test, statistic in tests.items() if len(results[statistic])]
    if not parts:
        return None
    rows = described(pd.concat(parts, ignore_index=True), data, names)
    rows["Technique"] = rows["Technique"].cat.remove_unused_categories()
    height = 0.9 + 0.26 * rows["Technique"].nunique()
    fig, ax = subplots(width=5.6, height=height)
    style = {"palette": COLORS[:2], "markers": ["o", "D"], "linestyle": "none", "dodge": 0.3, "markersize": 4}
    style |= {"errorbar": ("pi", 100), "err_kws": {"linewidth": 1.2}, "hue": "test", "hue_order": list(tests)}
    sns.pointplot(rows, x="estimate", y="Technique", ax=ax, legend=False, **style)
    ax.axvline(options.alpha, **LEVEL)
    ax.set(xlabel="Type I error rate: mean and range over pairs and dimensions", ylabel="")
    ax.xaxis.set_major_formatter(lambda x, _: f"{round(100 * x, 6):g}%")
    ax.set_xlim(left=0)
    ax.grid(axis="x")
    keys = [handle(t, COLORS[i], "oD"[i]) for i, t in enumerate(tests)]
    legend_of(fig, [*keys, handle(f"nominal {percent(options.alpha)}", marker="", **LEVEL)])
    alt = "Type I error rates by technique of one planned test and of a test after every rating:"
    return Plot(fig, "errors", f"{alt} {span(parts[0]['estimate'])} and {span(parts[-1]['estimate'])}.")
