"""Plot functions: result rows or values in, marks on an `Axes` out. Style and saving are those of `figure`.

Order, names and colours of labels, methods, groups and systems come from a `Look`, which a study's YAML fills.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import fill

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from helpers.figure import COLUMN, INK, PAGE, handle, legend, legend_of, save, set_style, subplots
from helpers.labels import METHODS
from helpers.look import Look
from helpers.tables import number

__all__ = [
    "COLUMN",
    "PAGE",
    "bars_ci",
    "forest",
    "forest_figure",
    "heatmap",
    "legend",
    "lines",
    "save",
    "set_style",
    "share_figure",
    "stacked",
    "strip",
    "subplots",
]

#: interval kinds that are not an interval around a free estimate
HOLLOW = ("exact_bound", "not_estimable")


def _bars(results: pd.DataFrame) -> np.ndarray:
    """(2, n) distances from estimate to interval ends; 0 where there is no interval."""
    ends = results[["ci_low", "ci_high"]].to_numpy(float).T
    value = results["estimate"].to_numpy(float)
    return np.nan_to_num(np.clip([value - ends[0], ends[1] - value], 0, None))


def forest(
    results: pd.DataFrame,
    ax: Axes,
    look: Look,
    *,
    light: pd.DataFrame | None = None,
    xlabel: str = "",
    xlim: tuple[float, float] | None = None,
    reference: Iterable[float] = (0.0,),
    decimals: int = 2,
) -> None:
    """Estimates with intervals, one row a label (and group), under a heading for each method; values beside.

    results : method, label, estimate, ci_low, ci_high, ci_kind, and group where several are compared.
    light : the same for a second interval, drawn thinner below the first, e.g. over turns.
    A hollow marker says that the interval is a bound (dashed) or could not be estimated (no line).
    """
    rows = look.sort(results)
    groups = list(rows["group"].dropna().unique()) if "group" in rows else []
    xlim = xlim or _limits([rows] if light is None else [rows, light])
    y, ticks, names, method, label = 0.0, [], [], None, None
    for _, row in rows.iterrows():
        if row["method"] != method:
            method, label, y = row["method"], None, y + (0.6 if method else 0.0)
            ax.text(
                0, y, look.name("method", method), transform=ax.get_yaxis_transform(), fontweight="bold", va="center"
            )
            y += 1.0
        first, label = row["label"] != label, row["label"]
        y += 0.25 if first and len(groups) > 1 and names else 0.0
        ticks.append(y)
        names.append(look.name("label", label, method) if first else "")
        kind, key = ("group", row["group"]) if len(groups) > 1 else ("method", method)
        _interval(ax, row, y, look.color(kind, key), look.marker(kind, key) if kind == "group" else "o", xlim)
        if light is not None:
            _light(ax, _same(light, row), y + 0.3, look.color(kind, key), xlim)
        ax.text(1.02, y, _beside(row, decimals), transform=ax.get_yaxis_transform(), va="center", fontsize=7)
        y += 1.0
    for x in reference:
        ax.axvline(x, color="#BBBBBB", linewidth=0.8, zorder=0)
    ax.set(xlim=xlim, ylim=(y - 0.3, -0.7), xlabel=xlabel, yticks=ticks, yticklabels=names)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x")
    ax.spines["left"].set_visible(False)


def _same(light: pd.DataFrame, row: pd.Series) -> pd.DataFrame:
    keys = [k for k in ("method", "label", "group") if k in light and pd.notna(row.get(k))]
    return light[(light[keys] == row[keys]).all(axis=1)]


def _limits(frames: Sequence[pd.DataFrame]) -> tuple[float, float]:
    values = pd.concat([f[["estimate", "ci_low", "ci_high"]] for f in frames]).to_numpy(float)
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


def _light(ax: Axes, rows: pd.DataFrame, y: float, color: str, xlim: tuple[float, float]) -> None:
    for _, row in rows.dropna(subset=["ci_low"]).iterrows():
        ends = np.clip([row["ci_low"], row["ci_high"]], *xlim)
        ax.plot(ends, [y, y], color=color, linewidth=1.0, alpha=0.5, solid_capstyle="butt")


def _beside(row: pd.Series, decimals: int) -> str:
    value = number(row["estimate"], decimals)
    if pd.isna(row["ci_low"]):
        return f"{value} (no interval)" if pd.notna(row["estimate"]) else "–"
    return f"{value} [{number(row['ci_low'], decimals)}, {number(row['ci_high'], decimals)}]"


def forest_figure(
    results: pd.DataFrame,
    look: Look,
    *,
    light: pd.DataFrame | None = None,
    key: tuple[str, str] = ("interval", "second interval"),
    xlabel: str = "",
    **kwargs,
) -> Figure:
    """A figure of `forest` panels: one column on a common axis, or two where one would be longer than a page.

    key : what the interval and the light interval are, for the legend. Other arguments as in `forest`.
    """
    groups = list(look.sort(results)["group"].dropna().unique()) if "group" in results else []
    methods = sorted(results["method"].unique(), key=lambda m: look.position("method", m))
    size = {m: _rows(results[results["method"] == m], len(groups)) for m in methods}
    columns = _split(methods, size)
    longest = max(sum(size[m] for m in column) for column in columns)
    if light is not None:
        light = light[light["method"].isin(methods)]
    fig, axes = subplots(1, len(columns), width=PAGE if len(columns) > 1 else 6.0, height=longest * 0.165 + 0.8)
    kwargs.setdefault("xlim", _limits([results] if light is None else [results, light]))
    for ax, column in zip(np.atleast_1d(axes), columns, strict=True):
        here = None if light is None else light[light["method"].isin(column)]
        forest(results[results["method"].isin(column)], ax, look, light=here, xlabel=xlabel, **kwargs)
        ax.set_ylim(longest - 0.7, -0.7)  # the same height for a row in both columns
        ax.xaxis.set_major_locator(mpl.ticker.MaxNLocator(8 // len(columns), steps=[1, 2, 5, 10]))
    names = [[label.get_text() for label in ax.get_yticklabels()] for ax in np.atleast_1d(axes)]
    if len(names) > 1 and names[0] == names[1]:  # the same rows: more room without the second list of names
        axes[1].set_yticklabels([])
    handles = [handle(look.name("group", g), look.color("group", g), look.marker("group", g)) for g in groups]
    legend_of(fig, (handles if len(groups) > 1 else []) + _keys(results, light, key))
    return fig


def _rows(results: pd.DataFrame, n_groups: int) -> float:
    """Height of one method's part of a forest plot, in rows."""
    return len(results) + 1.6 + (0.25 * results["label"].nunique() if n_groups > 1 else 0)


def _split(methods: list[str], size: dict[str, float], longest: float = 54) -> list[list[str]]:
    """Methods in one column, or in two about equally long ones where one would be longer than a page."""
    if sum(size.values()) <= longest or len(methods) < 2:
        return [methods]
    cuts = range(1, len(methods))
    best = min(cuts, key=lambda i: max(sum(size[m] for m in part) for part in (methods[:i], methods[i:])))
    return [methods[:best], methods[best:]]


def _keys(results: pd.DataFrame, light: pd.DataFrame | None, key: tuple[str, str]) -> list:
    handles = []
    if light is not None and len(light):
        handles += [handle(key[0], "#555555", "o"), handle(key[1], "#555555", "", linewidth=1.0, alpha=0.6)]
    if results["ci_kind"].isin(HOLLOW).any():
        handles.append(handle("bound, or none", "#555555", "o", linestyle=(0, (2, 1.2)), markerfacecolor="white"))
    return handles


def bars_ci(
    results: pd.DataFrame, ax: Axes, look: Look, *, x: str = "label", hue: str = "system", ylabel: str = ""
) -> None:
    """Grouped bars with intervals: a cluster for each value of `x`, a bar for each value of `hue`.

    results : columns `x`, `hue`, method (where x is label), estimate, ci_low, ci_high.
    """
    rows = look.sort(results)
    places = list(dict.fromkeys(rows[x]))
    at, width = _beside_each_other(rows, x, hue, look)
    for key in sorted(rows[hue].unique(), key=lambda v: look.position(hue, v)):
        part = rows[rows[hue] == key]
        here = [at[place, key] for place in part[x]]
        ax.bar(here, part["estimate"], width * 0.92, color=look.color(hue, key), alpha=0.85, label=look.name(hue, key))
        ax.errorbar(here, part["estimate"], _bars(part), fmt="none", ecolor=INK, elinewidth=0.9, capsize=1.5)
    method = dict(zip(rows[x], rows["method"], strict=True)) if "method" in rows else {}
    _names_below(ax, [look.name(x, p, method.get(p)) for p in places])
    ax.set(xlim=(-0.6, len(places) - 0.4), ylabel=ylabel)
    ax.grid(axis="y")


def _beside_each_other(rows: pd.DataFrame, x: str, hue: str, look: Look) -> tuple[dict[tuple, float], float]:
    """Where each (x, hue) stands: those of one x side by side around its place 0, 1, …; and the room of one."""
    keys = {
        place: sorted(part[hue].unique(), key=lambda v: look.position(hue, v))
        for place, part in rows.groupby(x, sort=False)
    }
    width = 0.84 / max(2, *map(len, keys.values()))
    at = {
        (p, k): i + (j - (len(ks) - 1) / 2) * width for i, (p, ks) in enumerate(keys.items()) for j, k in enumerate(ks)
    }
    return at, width


def _names_below(ax: Axes, names: Sequence[str]) -> None:
    """Names of categories 0, 1, … on the x axis, on several lines or slanted where they would touch."""
    letters = ax.get_position().width * ax.figure.get_figwidth() / max(len(names), 1) / 0.075
    if max(map(len, names), default=0) > letters:
        wrapped = [fill(name, max(int(letters), 1), break_long_words=False) for name in names]
        if max(len(line) for name in wrapped for line in name.splitlines()) <= letters:
            names = wrapped
    ax.set_xticks(range(len(names)), names)
    if max((len(line) for name in names for line in name.splitlines()), default=0) > letters:
        plt.setp(ax.get_xticklabels(), rotation=40, ha="right", rotation_mode="anchor")


def strip(frame: pd.DataFrame, ax: Axes, look: Look, *, x: str, y: str, hue: str | None = None) -> None:
    """Every value of `y` as a point over its category `x` (and `hue` beside), with the quartiles of five or more.

    x, hue : columns that hold ids of a kind the look names. Points are spread sideways by the golden ratio in the order
    of their values: no chance, few collisions.
    """
    frame = frame.iloc[np.argsort([look.position(x, v) for v in frame[x]], kind="stable")]
    at, width = _beside_each_other(frame, x, hue or x, look)
    for (place, key), middle_x in at.items():
        here = (frame[x] == place) & (frame[hue or x] == key)
        values = np.sort(frame.loc[here, y].dropna().to_numpy(float))
        side = (np.arange(len(values)) * 0.6180339887498949) % 1 - 0.5
        style = {"markersize": 2.2, "alpha": 0.4} if len(values) > 60 else {"markersize": 3.2, "alpha": 0.7}
        color = look.color(hue or x, key)
        ax.plot(middle_x + 0.8 * width * side, values, "o", color=color, markeredgewidth=0, **style)
        if len(values) >= 5:
            low, middle, high = np.percentile(values, [25, 50, 75])
            ax.plot([middle_x, middle_x], [low, high], color=INK, linewidth=1.6, solid_capstyle="butt")
            ax.plot(middle_x + 0.4 * width * np.array([-1, 1]), [middle, middle], color=INK, linewidth=1.6)
    places = list(dict.fromkeys(frame[x]))
    _names_below(ax, [look.name(x, place) for place in places])
    ax.set_xlim(-0.6, len(places) - 0.4)
    ax.grid(axis="y")


def heatmap(
    matrix: pd.DataFrame,
    ax: Axes,
    *,
    cmap: str = "Blues",
    vmin: float | None = None,
    vmax: float | None = None,
    decimals: int = 2,
    label: str = "",
) -> None:
    """A matrix as colours with each value written in its cell; missing cells are hatched and marked –.

    matrix : rows and columns carry the display names.
    """
    values = matrix.to_numpy(float)
    image = ax.imshow(values, cmap=cmap, vmin=vmin, vmax=vmax, aspect="auto")
    _names_below(ax, list(map(str, matrix.columns)))
    ax.set_yticks(range(matrix.shape[0]), matrix.index)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    size = 7 if values.shape[1] <= 16 else 5.5
    for (i, j), value in np.ndenumerate(values):
        red, green, blue, _ = image.cmap(image.norm(value)) if np.isfinite(value) else (1, 1, 1, 1)
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
        ax.text(j, i, number(value, decimals), ha="center", va="center", fontsize=size, color="white" if dark else INK)
        if not np.isfinite(value):
            ax.add_patch(
                mpl.patches.Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, hatch="////", edgecolor="#DDDDDD", lw=0)
            )
    if label:
        ax.figure.colorbar(image, ax=ax, label=label, shrink=0.8)


def lines(results: pd.DataFrame, ax: Axes, look: Look, *, x: str, hue: str, xlabel: str = "", ylabel: str = "") -> None:
    """One line for each value of `hue` with its interval as a band, named at its right end.

    results : columns `x`, `hue`, estimate and, where there are intervals, ci_low, ci_high.
    """
    for key in sorted(results[hue].unique(), key=lambda k: look.position(hue, k)):
        part = results[results[hue] == key].sort_values(x)
        color = look.color(hue, key)
        ax.plot(part[x], part["estimate"], color=color, linewidth=1.4, marker=look.marker(hue, key), markersize=3.5)
        if "ci_low" in part and part["ci_low"].notna().any():
            ax.fill_between(part[x], part["ci_low"], part["ci_high"], color=color, alpha=0.15, linewidth=0)
        end = part.iloc[-1]
        ax.annotate(
            look.name(hue, key), (end[x], end["estimate"]), (5, 0), textcoords="offset points", color=color, va="center"
        )
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.grid(axis="both")


def stacked(shares: pd.DataFrame, ax: Axes, *, colors: Sequence | None = None, xlabel: str = "Share") -> None:
    """Horizontal bars whose parts add up to one; shares of 8 % and more are written into their part.

    shares : one row a bar (index: display name), one column a part (column: its name); a row sums to 1, or less.
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
        left = left + np.nan_to_num(share)
    ax.set_yticks(range(len(shares)), shares.index)
    ax.set(xlim=(0, 1), ylim=(len(shares) - 0.4, -0.6), xlabel=xlabel)
    ax.xaxis.set_major_formatter(mpl.ticker.PercentFormatter(1.0, decimals=0))
    ax.tick_params(axis="y", length=0)


def share_figure(results: pd.DataFrame, look: Look, titles: dict[str, str]) -> Figure:
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
    for part, column in zip(np.atleast_1d(fig.subfigures(1, len(columns))), columns, strict=True):
        ratios = [size[p] for p in column]
        ratios += [longest - sum(ratios)] if sum(ratios) < longest else []  # the same height for a row everywhere
        axes = part.subplots(len(ratios), 1, squeeze=False, gridspec_kw={"height_ratios": ratios})[:, 0]
        for ax, panel in zip(axes, column, strict=False):
            rows = results[results["panel"] == panel]
            same = results[(results["method"] == rows["method"].iloc[0]) & (results["score"] == rows["score"].iloc[-1])]
            _shares(look.sort(rows), ax, look, longest_bar=same["estimate"].max())
            ax.set_title(titles[panel])
        for ax in axes[len(column) :]:
            ax.axis("off")
    return fig


def _shares(rows: pd.DataFrame, ax: Axes, look: Look, longest_bar: float) -> None:
    method, scores = rows["method"].iloc[0], list(dict.fromkeys(rows["score"]))
    wide = rows.pivot_table(index="label", columns="score", values="estimate", sort=False)[scores]
    wide.index = [look.name("label", label, method) for label in wide.index]
    if len(scores) > 2:
        pair = METHODS[method].unit == "pair" and len(scores) == 3
        stacked(wide, ax, xlabel="", colors=("#D55E00", "#D9D9D9", "#0072B2") if pair else None)
        names = ["left loses", "tie", "left wins"] if pair else scores
        ax.xaxis.set_visible(False)  # the shares are written into the bars
        ax.spines["bottom"].set_visible(False)
        spacing = {
            "columnspacing": 0.9,
            "handletextpad": 0.3,
            "handlelength": 0.8,
            "borderpad": 0,
            "borderaxespad": 0.2,
        }
        ax.legend(names, ncols=len(names), loc="upper right", bbox_to_anchor=(1.0, 0.0), **spacing)
        return
    shares = wide[scores[-1]]
    ax.barh(range(len(shares)), shares, 0.7, color=look.color("method", method))
    for i, share in enumerate(shares):
        ax.text(share + 0.008, i, f"{100 * share:.1f}", va="center", fontsize=7)
    ax.set_yticks(range(len(shares)), shares.index)
    ax.set(xlim=(0, max(0.1, 1.12 * longest_bar)), ylim=(len(shares) - 0.4, -0.6))
    ax.xaxis.set_major_formatter(mpl.ticker.PercentFormatter(1.0, decimals=0))
    ax.tick_params(axis="y", length=0)
