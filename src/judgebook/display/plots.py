"""Plot functions: result rows or values in, marks on an `Axes` out. Style and saving are those of `figure`.

Order, names and colours of labels, methods, groups and systems come from `DisplayNames`, which a study's YAML fills.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import fill
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from judgebook.display.names import BAD, GOOD, DisplayNames
from judgebook.display.style import INK, PAGE, handle, legend_of, set_style, subplots, tips
from judgebook.display.text import number, percent, told
from judgebook.study.labels import METHODS
from judgebook.study.results import ResultRows

#: interval kinds that are not an interval around a free estimate
HOLLOW = ("exact_bound", "not_estimable")


def forest(
    results: ResultRows,
    ax: Axes,
    names: DisplayNames,
    *,
    xlabel: str = "",
    xlim: tuple[float, float] | None = None,
    reference: Iterable[float] = (0.0,),
    decimals: int | None = 2,
) -> None:
    """Estimates with intervals, one row per label (and group), under a heading for each method; values beside.

    results : method, label, estimate, ci_low, ci_high, ci_kind, and group where several are compared.
    decimals : of the values beside; None: none are written.
    A hollow marker says that the interval is a bound (dashed) or could not be estimated (no line).
    """
    rows = names.sort(results)
    groups = list(rows["group"].dropna().unique()) if "group" in rows else []
    xlim = xlim or _limits(rows)
    y, method, label = 0.0, "", ""
    ticks: list[float] = []
    tick_labels: list[str] = []
    for _, row in rows.iterrows():
        if row["method"] != method:
            method, label, y = row["method"], "", y + (0.6 if method else 0.0)
            ax.text(
                0, y, names.name("method", method), transform=ax.get_yaxis_transform(), fontweight="bold", va="center"
            )
            y += 1.0
        first, label = row["label"] != label, row["label"]
        y += 0.25 if first and len(groups) > 1 and tick_labels else 0.0
        ticks.append(y)
        tick_labels.append(names.name("label", label, method) if first else "")
        kind, key = ("group", row["group"]) if len(groups) > 1 else ("method", method)
        _interval(ax, row, y, names.color(kind, key), names.marker(kind, key) if kind == "group" else "o", xlim)
        if decimals is not None:
            ax.text(1.02, y, _beside(row, decimals), transform=ax.get_yaxis_transform(), va="center", fontsize=7)
        y += 1.0
    for x in reference:
        ax.axvline(x, color="#BBBBBB", linewidth=0.8, zorder=0)
    ends = rows[["estimate", "ci_low", "ci_high"]].agg(["min", "max"], axis=1)
    said = [told(names.full({"group": "all"} | row), row, decimals or 2) for row in rows.to_dict("records")]
    tips(ax, said, ends["min"], ticks, x_to=ends["max"])
    ax.set(xlim=xlim, ylim=(y - 0.3, -0.7), xlabel=xlabel, yticks=ticks, yticklabels=tick_labels)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x")
    ax.spines["left"].set_visible(False)


def _limits(rows: pd.DataFrame) -> tuple[float, float]:
    values = rows[["estimate", "ci_low", "ci_high"]].to_numpy(float)
    values = values[np.isfinite(values)]
    low, high = (min(0.0, values.min()), max(1.0, values.max())) if values.size else (0.0, 1.0)
    return low - 0.03 * (high - low), high + 0.03 * (high - low)


def _interval(ax: Axes, row: pd.Series, y: float, color: str, marker: str, xlim: tuple[float, float]) -> None:
    hollow = row["ci_kind"] in HOLLOW
    if pd.notna(row["ci_low"]):
        ends = np.clip([row["ci_low"], row["ci_high"]], *xlim)
        ax.plot(ends, [y, y], color=color, linewidth=1.6, linestyle=(0, (2, 1.2)) if hollow else "-")
    if pd.notna(row["estimate"]):
        ax.plot(row["estimate"], y, marker, markersize=4.5, color=color, markerfacecolor="white" if hollow else color)


def _beside(row: pd.Series, decimals: int) -> str:
    value = number(row["estimate"], decimals)
    if pd.isna(row["ci_low"]):
        return f"{value} (no interval)" if pd.notna(row["estimate"]) else "–"
    return f"{value} [{number(row['ci_low'], decimals)}, {number(row['ci_high'], decimals)}]"


def forest_figure(
    results: ResultRows,
    names: DisplayNames,
    *,
    xlabel: str = "",
    **kwargs: Any,
) -> Figure:
    """A figure of `forest` panels: one column on a common axis, or two where one would be longer than a page.

    Other arguments as in `forest`.
    """
    groups = list(names.sort(results)["group"].dropna().unique()) if "group" in results else []
    methods = sorted(results["method"].unique(), key=lambda m: names.position("method", m))
    size = {m: _rows(results[results["method"] == m], len(groups)) for m in methods}
    columns = _split(methods, size)
    longest = max(sum(size[m] for m in column) for column in columns)
    fig, axes = subplots(1, len(columns), width=PAGE if len(columns) > 1 else 6.0, height=longest * 0.165 + 0.8)
    kwargs.setdefault("xlim", _limits(results))
    for ax, column in zip(np.atleast_1d(axes), columns, strict=True):
        forest(results[results["method"].isin(column)], ax, names, xlabel=xlabel, **kwargs)
        ax.set_ylim(longest - 0.7, -0.7)  # the same height for a row in both columns
        ax.xaxis.set_major_locator(mpl.ticker.MaxNLocator(8 // len(columns), steps=[1, 2, 5, 10]))
    listed = [[label.get_text() for label in ax.get_yticklabels()] for ax in np.atleast_1d(axes)]
    if len(listed) > 1 and listed[0] == listed[1]:  # the same rows: more room without the second list of names
        axes[1].set_yticklabels([])
    handles = [handle(names.name("group", g), names.color("group", g), names.marker("group", g)) for g in groups]
    bound = handle("bound, or none", "#555555", "o", linestyle=(0, (2, 1.2)), markerfacecolor="white")
    hollow = [bound] if results["ci_kind"].isin(HOLLOW).any() else []
    legend_of(fig, (handles if len(groups) > 1 else []) + hollow)
    return fig


def _rows(results: ResultRows, n_groups: int) -> float:
    """Height of one method's part of a forest plot, in rows."""
    return len(results) + 1.6 + (0.25 * results["label"].nunique() if n_groups > 1 else 0)


def _split(methods: list[str], size: dict[str, float], longest: float = 54) -> list[list[str]]:
    """Methods in one column, or in two about equally long ones where one would be longer than a page."""
    if sum(size.values()) <= longest or len(methods) < 2:
        return [methods]
    cuts = range(1, len(methods))
    best = min(cuts, key=lambda i: max(sum(size[m] for m in part) for part in (methods[:i], methods[i:])))
    return [methods[:best], methods[best:]]


def _names_below(ax: Axes, categories: Sequence[str], places: Sequence[float] | np.ndarray | None = None) -> None:
    """Names of categories (at 0, 1, … unless told) on the x axis, wrapped or slanted where they would touch."""
    letters = ax.get_position().width * ax.figure.get_figwidth() / max(len(categories), 1) / 0.075
    if max(map(len, categories), default=0) > letters:
        wrapped = [fill(name, max(int(letters), 1), break_long_words=False) for name in categories]
        if max(len(line) for name in wrapped for line in name.splitlines()) <= letters:
            categories = wrapped
    ax.set_xticks(range(len(categories)) if places is None else places, categories, rotation=0)
    if max((len(line) for name in categories for line in name.splitlines()), default=0) > letters:
        upright = letters < 3  # slanted ones would touch
        turned = {"rotation": 90, "va": "center"} if upright else {"rotation": 40}
        plt.setp(ax.get_xticklabels(), ha="right", rotation_mode="anchor", **turned)


def heatmap(
    matrix: pd.DataFrame,
    ax: Axes,
    *,
    texts: pd.DataFrame | None = None,
    cmap: str = "Blues",
    vmin: float | None = None,
    vmax: float | None = None,
    decimals: int = 2,
    label: str = "",
    titles: pd.DataFrame | None = None,
    of: str = "",
    **kwargs: Any,
) -> None:
    """A matrix as colours with a text in each cell, its value where `texts` is left out; missing cells are hatched.

    matrix : rows and columns carry display names. label : what the colour bar says; none is drawn without it.
    titles : what a pointer is told of each cell; its row, column and value where left out. of : whose a cell is, the
    row's or the column's (`row`, `column`); nobody's without it. Other arguments go to `seaborn.heatmap`.
    """
    import seaborn as sns  # takes a second, and few figures need it

    values = matrix.astype(float)
    texts = values.map(lambda v: number(v, decimals)) if texts is None else texts
    size = {"size": 7 if matrix.shape[1] <= 16 else 5.5}
    bar = {"cbar_kws": {"label": label, "shrink": 0.8}} if label else {}
    options = {"linewidths": 0.5, "linecolor": "white", "cbar": bool(label), "annot_kws": size} | bar | kwargs
    figure = ax.get_figure(root=True)
    figure.set_visible(False)  # or seaborn draws all of it, to see whether tick labels overlap, which are set below
    sns.heatmap(values, ax=ax, annot=texts, fmt="", cmap=cmap, vmin=vmin, vmax=vmax, **options)
    figure.set_visible(True)
    n_rows, n_columns = matrix.shape
    ax.add_patch(
        mpl.patches.Rectangle(
            (0, 0), n_columns, n_rows, hatch="////", facecolor="white", edgecolor="#DDDDDD", zorder=-1
        )
    )
    ax.set(xlabel="", ylabel="", xticks=np.arange(n_columns) + 0.5)
    ax.set_yticks(np.arange(n_rows) + 0.5, matrix.index, rotation=0)
    _names_below(ax, list(map(str, matrix.columns)), np.arange(n_columns) + 0.5)
    ax.tick_params(length=0)
    said = [
        f"{row}, {column}: {number(value, max(decimals, 2))}".replace("\n", " ")
        for row, line in values.iterrows()
        for column, value in line.items()
    ]
    down, across = np.divmod(np.arange(values.size, dtype=float), max(n_columns, 1))
    across[values.isna().to_numpy().ravel()] = np.nan  # an empty cell says nothing
    names = {"row": matrix.index.repeat(n_columns), "column": list(matrix.columns) * n_rows}
    told_ = said if titles is None else titles.to_numpy().ravel()
    tips(ax, told_, across, down, x_to=across + 1, y_to=down + 1, of=map(str, names.get(of, ())))


def stacked(shares: pd.DataFrame, ax: Axes, *, colors: Sequence | None = None, xlabel: str = "Share") -> None:
    """Horizontal bars whose parts add up to one; shares of 8% and more are written into their part.

    shares : one row per bar (index: display name), one column per part (column: its name); a row sums to 1, or less.
    """
    colors = colors or [mpl.colormaps["Blues"](v) for v in np.linspace(0.18, 0.95, shares.shape[1])]
    left = np.zeros(len(shares))
    for color, (name, share) in zip(colors, shares.items(), strict=True):
        share = share.to_numpy(float)
        ax.barh(range(len(shares)), share, 0.78, left=left, color=color, label=str(name), edgecolor="white", lw=0.4)
        red, green, blue = mpl.colors.to_rgb(color)
        ink = "white" if 0.299 * red + 0.587 * green + 0.114 * blue < 0.5 else INK
        for i, value in enumerate(share):
            if value >= 0.08:
                ax.text(left[i] + value / 2, i, f"{100 * value:.0f}", ha="center", va="center", fontsize=7, color=ink)
        right = left + np.nan_to_num(share)
        said = [f"{row}, {name}: {percent(value, 1)}" for row, value in zip(shares.index, share, strict=True)]
        at = np.arange(len(shares))
        tips(ax, said, left, at - 0.39, x_to=np.where(share > 0, right, np.nan), y_to=at + 0.39)
        left = right
    ax.set_yticks(range(len(shares)), shares.index)
    ax.set(xlim=(0, 1), ylim=(len(shares) - 0.4, -0.6), xlabel=xlabel)
    ax.xaxis.set_major_formatter(mpl.ticker.PercentFormatter(1.0, decimals=0))
    ax.tick_params(axis="y", length=0)


def share_figure(results: ResultRows, names: DisplayNames, titles: dict[str, str]) -> Figure:
    """Distribution of the scores of every label: a panel for each method (and kind of annotator), in two columns.

    results : panel, method, label, score (as text, in the order of the scale), estimate. titles : panel -> title, in
    order. Labels of two values show the share of the larger one; the others the share of every value.
    """
    size = {p: results.loc[results["panel"] == p, "label"].nunique() + 2.2 for p in titles}
    columns = _split(list(titles), size, longest=0) if len(titles) > 1 else [list(titles)]
    height = max(sum(size[p] for p in column) for column in columns) * 0.19 + 0.3
    set_style()
    fig = plt.figure(figsize=(PAGE if len(columns) > 1 else 5.0, height), layout="constrained")
    longest = max(sum(size[p] for p in column) for column in columns)
    for part, column in zip(fig.add_gridspec(1, len(columns)), columns, strict=True):
        ratios = [size[p] for p in column]
        ratios += [longest - sum(ratios)] if sum(ratios) < longest else []  # the same height for a row everywhere
        axes = [fig.add_subplot(cell) for cell in part.subgridspec(len(ratios), 1, height_ratios=ratios)]
        for ax, panel in zip(axes, column, strict=False):
            rows = results[results["panel"] == panel]
            same = results[(results["method"] == rows["method"].iloc[0]) & (results["score"] == rows["score"].iloc[-1])]
            _shares(names.sort(rows), ax, names, longest_bar=same["estimate"].max())
            ax.set_title(titles[panel])
        for ax in axes[len(column) :]:
            ax.axis("off")
    return fig


def _shares(rows: pd.DataFrame, ax: Axes, names: DisplayNames, longest_bar: float) -> None:
    method, scores = rows["method"].iloc[0], list(dict.fromkeys(rows["score"]))
    wide = rows.pivot_table(index="label", columns="score", values="estimate", sort=False)[scores]
    wide.index = [names.name("label", label, method) for label in wide.index]
    if len(scores) > 2:
        pair = METHODS[method].unit == "pair" and len(scores) == 3
        stacked(wide, ax, xlabel="", colors=(BAD, "#D9D9D9", GOOD) if pair else None)
        outcomes = ["left loses", "tie", "left wins"] if pair else scores
        ax.xaxis.set_visible(False)  # the shares are written into the bars
        ax.spines["bottom"].set_visible(False)
        spacing = {
            "columnspacing": 0.9,
            "handletextpad": 0.3,
            "handlelength": 0.8,
            "borderpad": 0,
            "borderaxespad": 0.2,
        }
        ax.legend(outcomes, ncols=len(outcomes), loc="upper right", bbox_to_anchor=(1.0, 0.0), **spacing)
        return
    shares = wide[scores[-1]]
    ax.barh(range(len(shares)), shares, 0.7, color=names.color("method", method))
    for i, share in enumerate(shares):
        ax.text(share + 0.008, i, f"{100 * share:.1f}", va="center", fontsize=7)
    at = np.arange(len(shares))
    said = [f"{row}: {percent(share, 1)}" for row, share in shares.items()]
    tips(ax, said, np.zeros(len(shares)), at - 0.35, x_to=shares, y_to=at + 0.35)
    ax.set_yticks(range(len(shares)), shares.index)
    ax.set(xlim=(0, max(0.1, 1.12 * longest_bar)), ylim=(len(shares) - 0.4, -0.6), xlabel="Share marked")
    ax.xaxis.set_major_formatter(mpl.ticker.PercentFormatter(1.0, decimals=0))
    ax.tick_params(axis="y", length=0)
