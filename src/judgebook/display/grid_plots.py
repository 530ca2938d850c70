"""Small multiples: panels of blocks of coloured rows (notebooks 01 and 07) or of lines, in a grid that stays readable.

A frame says where each estimate goes: `panel`, `block` and `hue` hold display names, in the order of first appearance.
With few systems a panel is a group of evaluators, a block a label, a hue a system; with many a panel is a label and a
block a system (`performance.arrangement.arrange`). What a caption says of those left out: `captions.chosen`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from textwrap import fill
from types import MappingProxyType

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from judgebook.display import style
from judgebook.display.names import MARKERS, NEUTRAL, DisplayNames
from judgebook.display.plots import HOLLOW
from judgebook.display.style import INK, PAGE, handle, legend_columns, legend_of, subplots, tips
from judgebook.display.text import told

#: height of one row and of the gap between blocks, in inches
ROW, GAP = 0.105, 0.055
#: columns along x: the estimate, and ends of intervals
ENDS = ("estimate", "ci_low", "ci_high", "light_low", "light_high")
#: with more systems than this, each has a row of its own and labels are panels or columns, instead of the reverse
MANY = 6
#: with more of a kind (systems, labels) than the first, as many as the second are drawn: those that say most
MOST, DRAWN = 24, 20
#: the tallest figure of `pages`, and what of it is legend, title and axis, in inches
TALLEST, AROUND = 9.45, 1.3
REFERENCE = "#8A8A8A"
DASHED = (0, (2, 1.5))
Paint = Callable[[Axes, pd.DataFrame, str, str], None]


def grid_figure(
    rows: pd.DataFrame,
    paint: Paint,
    *,
    names: DisplayNames | None = None,
    xlabel: str = "",
    columns: int = 4,
    reference: float | None = None,
    named: str = "",
    percent: bool = False,
    sharex: bool = False,
    cut: bool = False,
    keys: Sequence[mpl.lines.Line2D] = (),
    styles: Mapping[str, tuple[str, str]] = MappingProxyType({}),
) -> Figure:
    """Panels side by side, each with its blocks from top to bottom and in them a row for each hue.

    rows : panel, block, hue, and what `paint` needs. paint : draws the rows of one hue, which have a column `y`, in a
    colour with a marker. names : whose colours the systems, groups and methods have that are a hue; other hues, and
    all without it, are grey. columns : panels beside each other. reference : where a line is drawn, and `named` what
    the legend calls it. percent : whether x is a share. sharex : one axis for all panels. cut : whether intervals that
    are much longer than the others end in an arrow, for the others to be seen. keys : further entries of the legend.
    styles : colour and marker of hues that have a meaning of their own, such as passed and failed.
    Panels with the same blocks share their names, and may stand closer.
    """
    blocks = [list(dict.fromkeys(part["block"])) for _, part in rows.groupby("panel", sort=False)]
    shared = all(b == blocks[0] for b in blocks)
    placed = place(rows, aligned=shared).reset_index(drop=True)
    if cut:
        lower, upper = _limits(placed, reference, sharex)
        placed, keys = _cut(placed, lower, upper), [*keys, *_cut_key(placed, lower, upper)]
    if named:
        keys = [*keys, handle(named, REFERENCE, "", linewidth=0.9)]
    panels = dict(list(placed.groupby("panel", sort=False)))
    n = min(columns if shared else 2, len(panels))
    heights = _heights([part["bottom"].max() + ROW / 2 for part in panels.values()], n)
    each = 1.6 if n > 2 else 2.9
    width = min(PAGE, max(5.4, 0.07 * max(len(b) for part in blocks for b in part) + each * n + 0.3))
    hues = list(dict.fromkeys(rows["hue"]))
    styles = hue_styles(hues, names) | dict(styles)
    legend = [*([handle(hue, *styles[hue]) for hue in hues] if len(hues) > 1 else []), *keys]
    lines = -(-len(legend) // legend_columns(legend, width))
    room = (width - 0.07 * max(len(b) for part in blocks for b in part)) / n if shared else width / n - 1
    headings = [fill(panel, max(int(room / 0.085), 12), break_long_words=False) for panel in panels]
    inner = 0.16 * (len(heights) - 1) if sharex else 0  # numbers below panels that have others below them
    inner += 0.14 * sum(_heights([heading.count("\n") for heading in headings], n))
    size = {"width": width, "height": sum(heights) + 0.36 * len(heights) + 0.75 + 0.17 * max(lines - 2, 0) + inner}
    fig, axes = subplots(len(heights), n, squeeze=False, sharex=sharex, gridspec_kw={"height_ratios": heights}, **size)
    for k, (ax, part) in enumerate(zip(axes.flat, panels.values(), strict=False)):
        for hue, of_hue in part.groupby("hue", sort=False):
            paint(ax, of_hue, *styles[hue])
        _tell(ax, part, names, percent=percent)
        if cut:
            _arrows(ax, part, lower[part.index[0]], upper[part.index[0]])
        _blocks(ax, part, heights[k // n], named=not shared or k % n == 0)
        _axis(ax, reference, percent, n)
        ax.set_title(headings[k])
        if names:
            style.panel(ax, part, names)
        ax.tick_params(labelbottom=True)
    for ax in axes.flat[len(panels) :]:
        ax.axis("off")
    fig.supxlabel(xlabel, fontsize=8)
    legend_of(fig, legend)
    return fig


def hue_styles(hues: Sequence[str], names: DisplayNames | None) -> dict[str, tuple[str, str]]:
    """Colour and marker of each hue: those of the system, group or method of this name, else one of the greys."""
    known = names.styles() if names else {}
    others = [hue for hue in hues if hue not in known]
    greys = {hue: (NEUTRAL[i % len(NEUTRAL)], MARKERS[i % len(MARKERS)]) for i, hue in enumerate(others)}
    return {hue: known.get(hue) or greys[hue] for hue in hues}


def _tell(ax: Axes, part: pd.DataFrame, names: DisplayNames | None, *, percent: bool) -> None:
    ends = part[[c for c in ENDS[:3] if c in part]].astype(float)
    said = [
        told(", ".join(str(row[c]) for c in ("hue", "block", "panel") if row[c]), row, percents=percent)
        for row in _uncut(part)[[c for c in ("hue", "block", "panel", *ENDS[:3], "n") if c in part]].to_dict("records")
    ]
    span = {"x_to": ends.max(axis=1), "y_to": part["y"] + 0.4 * ROW}
    tips(ax, said, ends.min(axis=1), part["y"] - 0.4 * ROW, **span, of=_whose(part, names))


def _whose(part: pd.DataFrame, names: DisplayNames | None) -> pd.Series:
    """Whose each row is: that of the system among its names, else that of its hue, else of its block."""
    systems = set(names.titles.get("system", {}).values()) if names else set()
    rows = part[["hue", "block", "panel"]].astype(str)
    first = rows.where(rows.isin(systems)).bfill(axis=1)["hue"]
    return first.fillna(rows["hue"].where(rows["hue"] != "", rows["block"]))


def _uncut(part: pd.DataFrame) -> pd.DataFrame:
    """Rows with the intervals they had before any were cut."""
    return part.assign(ci_low=part["told_low"], ci_high=part["told_high"]) if "told_low" in part else part


def _limits(placed: pd.DataFrame, reference: float | None, sharex: bool) -> tuple[pd.Series, pd.Series]:
    """Ends of the x axis for each row: all estimates, and the interval ends of nine rows of ten; all ends where that
    would not save half of the axis."""
    lower, upper = (pd.Series(np.nan, placed.index) for _ in range(2))
    for _, part in placed.groupby(np.zeros(len(placed)) if sharex else placed["panel"].to_numpy(), sort=False):
        ends = part[[c for c in ENDS if c in part]].to_numpy(float)
        known = ends[np.isfinite(ends)]
        must = [*part["estimate"].dropna(), *([] if reference is None else [reference])]
        low, high = (min(known), max(known)) if known.size else (0.0, 1.0)
        if np.isfinite(ends).any():
            most = pd.DataFrame(ends).agg(["min", "max"], axis=1).dropna()
            usual = min(*must, most["min"].quantile(0.1)), max(*must, most["max"].quantile(0.9))
            low, high = usual if (high - low) > 2 * (usual[1] - usual[0]) else (min(*must, low), max(*must, high))
        room = 0.03 * (high - low) or 0.5
        lower[part.index], upper[part.index] = low - room, high + room
    return lower, upper


def _cut(placed: pd.DataFrame, lower: pd.Series, upper: pd.Series) -> pd.DataFrame:
    """Interval ends within the limits, and `beyond`: −1, 1 or 2 where the lower, the upper or both are cut."""
    ends = [c for c in ENDS[1:] if c in placed]
    below, above = (placed[ends].lt(lower, axis=0)).any(axis=1), (placed[ends].gt(upper, axis=0)).any(axis=1)
    inside = placed[ends].clip(lower, upper, axis=0)
    told_ends = placed[["ci_low", "ci_high"]].set_axis(["told_low", "told_high"], axis=1)
    return placed.assign(**inside, below=below, above=above).join(told_ends)


def _cut_key(placed: pd.DataFrame, lower: pd.Series, upper: pd.Series) -> list[mpl.lines.Line2D]:
    ends = placed[[c for c in ENDS[1:] if c in placed]]
    cut = ends.lt(lower, axis=0).any(axis=None) or ends.gt(upper, axis=0).any(axis=None)
    return [handle("continues beyond the axis", "#555555", ">", linewidth=1.2)] if cut else []


def _arrows(ax: Axes, part: pd.DataFrame, low: float, high: float) -> None:
    ax.set_xlim(low, high)
    for side, x, marker in (("below", low, "<"), ("above", high, ">")):
        rows = part[part[side]]
        ax.plot(
            [x] * len(rows),
            rows["y"],
            marker,
            color="#555555",
            markersize=3.5,
            clip_on=False,
            zorder=3,
            linestyle="",
            in_layout=False,
        )


def _heights(sizes: Sequence[float], n: int) -> list[float]:
    """Of panels in lines of n, the height of each line."""
    return [max(sizes[i : i + n]) for i in range(0, len(sizes), n)]


def place(rows: pd.DataFrame, *, aligned: bool = False) -> pd.DataFrame:
    """`rows` with `y`, inches from the top of the panel: hues in one order in every block, none left empty; or, where
    panels are `aligned`, only those that no panel has."""
    order = {hue: i for i, hue in enumerate(dict.fromkeys(rows["hue"]))}
    keys = list(zip(*(rows[c].tolist() for c in ("panel", "block", "hue")), strict=True))
    hues: dict[object, set[str]] = {}
    panels: dict[str, dict[str, None]] = {}
    for panel, block, hue in keys:
        hues.setdefault(block if aligned else (panel, block), set()).add(hue)
        panels.setdefault(panel, {})[block] = None
    at: dict[tuple[str, str, str], tuple[float, float, float]] = {}
    places: dict[tuple[str, str], int] = {}
    for panel, blocks in panels.items():
        top = 0.0
        for block in blocks:
            present = sorted(hues[block if aligned else (panel, block)], key=order.__getitem__)
            bottom = top + ROW * len(present)
            at |= {(panel, block, hue): (top + ROW * (i + 0.5), top, bottom) for i, hue in enumerate(present)}
            places[panel, block] = len(places)
            top = bottom + GAP
    y, top, bottom = np.array([at[key] for key in keys]).T
    return rows.assign(y=y, top=top, bottom=bottom).iloc[np.argsort([places[key[:2]] for key in keys], kind="stable")]


def filled(rows: pd.DataFrame, blocks: Sequence[str] = ()) -> pd.DataFrame:
    """`rows` with an empty one for every block and hue that a panel lacks, by panel and block: all panels then share
    the names of their blocks. blocks : their order; that of first appearance where left out."""
    keys = ["panel", "block", "hue"]
    order = list(blocks) or list(dict.fromkeys(rows["block"]))
    pairs = rows[keys[1:]].drop_duplicates().sort_values("block", key=lambda b: b.map(order.index), kind="stable")
    return rows[["panel"]].drop_duplicates().merge(pairs, how="cross").merge(rows, how="left", on=keys)


def _blocks(ax: Axes, part: pd.DataFrame, height: float, *, named: bool) -> None:
    """Names of blocks on the y axis, and a light band behind every other one."""
    ends = part.groupby("block", sort=False)[["top", "bottom"]].first()
    for top, bottom in ends.to_numpy()[1::2]:
        ax.axhspan(top - GAP / 2, bottom + GAP / 2, color="#F4F4F4", zorder=-2, linewidth=0)
    ax.set_yticks(ends.mean(axis=1), list(ends.index) if named else [])
    ax.set_ylim(height, -GAP)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)


def _axis(ax: Axes, reference: float | None, percent: bool, panels: int) -> None:
    if reference is not None:
        ax.axvline(reference, color=REFERENCE, linewidth=0.9, zorder=1)
    ax.xaxis.set_major_locator(mpl.ticker.MaxNLocator(4 if panels > 2 else 6, steps=[1, 2, 2.5, 5, 10]))
    if percent:
        ax.xaxis.set_major_formatter(lambda x, _: f"{round(100 * x, 6):g}%")
    ax.grid(axis="x")


def intervals(ax: Axes, rows: pd.DataFrame, color: str, marker: str) -> None:
    """Estimates with a thick interval and, just below, a thin one.

    rows : y, estimate, ci_low, ci_high, ci_kind, and light_low, light_high where there is a second interval. A hollow
    marker: the interval is a bound (dashed), or there is none.
    """
    hollow = rows["ci_kind"].isin(HOLLOW) | rows["ci_low"].isna()
    for odd, part in rows.groupby(hollow):
        style = (0, (2, 1.2)) if odd else "-"
        ax.hlines(part["y"], part["ci_low"], part["ci_high"], color=color, linewidth=1.7, linestyle=style)
        face = "white" if odd else color
        ax.plot(part["estimate"], part["y"], marker, color=color, markersize=3.2, markerfacecolor=face, linestyle="")
    if "light_low" in rows:
        y = rows["y"] + 0.36 * ROW
        ax.hlines(y, rows["light_low"], rows["light_high"], color=color, linewidth=0.8, alpha=0.6)


def interval_keys(thick: str, thin: str | None, rows: pd.DataFrame) -> list[mpl.lines.Line2D]:
    """Entries of a legend that say what the intervals of `intervals` are, and what a hollow marker is."""
    keys = [handle(thick, "#555555", "", linewidth=1.7)]
    if thin:
        keys.append(handle(thin, "#555555", "", linewidth=0.8, alpha=0.7))
    if rows["ci_kind"].isin(HOLLOW).any():
        keys.append(handle("a bound, or none", "#555555", "o", linestyle=(0, (2, 1.2)), markerfacecolor="white"))
    return keys


def pages(rows: pd.DataFrame, columns: int = 4, around: float = AROUND) -> Iterator[tuple[str, pd.DataFrame]]:
    """The rows of each figure that `grid_figure` can draw without being taller than `TALLEST`, and the end of its name.

    around : what of its height is legend, title and axis, in inches. Panels are kept together where that is possible;
    where one is too tall, its blocks are divided, in all panels alike.
    """
    names = [list(dict.fromkeys(part["block"])) for _, part in rows.groupby("panel", sort=False)]
    columns = columns if all(n == names[0] for n in names) else 2
    hues = rows.groupby("block", sort=False)["hue"].nunique()
    parts: list[list[str]] = [[]]
    height = 0.0
    for block, n in hues.items():
        height += ROW * n + GAP
        if parts[-1] and height > TALLEST - around:
            parts, height = [*parts, []], ROW * n + GAP
        parts[-1].append(block)
    figures = []
    for part in parts:
        shown = rows[rows["block"].isin(part)]
        panels = list(dict.fromkeys(shown["panel"]))
        heading = 0.14 * (max(map(len, panels)) // 22 if columns > 2 else 0)
        line = max((ROW * hues[list(set(p["block"]))] + GAP).sum() for _, p in shown.groupby("panel")) + 0.52 + heading
        per_page = columns * max(1, int((TALLEST - around + 0.52) / line))
        even = -(-len(panels) // (-(-len(panels) // per_page)))  # pages of about as many panels each
        even = -(-even // columns) * columns
        figures += [shown[shown["panel"].isin(panels[k : k + even])] for k in range(0, len(panels), even)]
    yield from ((f"_{i}" if i else "", page) for i, page in enumerate(figures))


def line_panels(
    rows: pd.DataFrame,
    names: DisplayNames,
    xlabel: str,
    ylabel: str,
    reference: tuple[float, str] | None,
    *,
    sharey: bool = True,
) -> Figure:
    """Estimates over `x`, with intervals where there are any: a panel for each `panel`, a line for each `hue`.

    rows : also `x`, and display names as panel and hue. reference : where a dashed line is drawn, and what it is.
    """
    panels, hues = (list(rows[c].unique()) for c in ("panel", "hue"))
    n = min(len(panels), 4 if len(panels) > 6 or len(panels) == 4 else 3)
    lines = -(-len(panels) // n)
    size = {"width": min(PAGE, 4.4 + 2.1 * (n - 1)), "height": 1.9 * lines + 0.5}
    fig, axes = subplots(lines, n, squeeze=False, sharex=True, sharey=sharey, **size)
    ends = np.clip([rows["estimate"] - rows["ci_low"], rows["ci_high"] - rows["estimate"]], 0, None)
    rows = rows.assign(below=ends[0], above=ends[1], x=rows["x"].astype(float)).sort_values("x", kind="stable")
    styles = hue_styles(hues, names)
    for (panel, hue), part in rows.groupby(["panel", "hue"], sort=False):
        ax, (color, marker) = axes.flat[panels.index(panel)], styles[hue]
        style = {"color": color, "marker": marker, "markersize": 3.5, "linewidth": 1.3}
        shift = 0.09 * (hues.index(hue) - (len(hues) - 1) / 2) if part["below"].notna().any() else 0
        ax.errorbar(part["x"] + shift, part["estimate"], part[["below", "above"]].T, elinewidth=0.9, **style)
        who = ", ".join(str(p) for p in (panel, hue) if p)
        tooltips = [told(f"{who}, {xlabel.lower()} {row['x']:g}", row) for row in part.to_dict("records")]
        tips(ax, tooltips, part["x"] + shift, part["estimate"])
    for ax, panel in zip(axes.flat, panels, strict=False):
        ax.set_title(fill(panel, int(size["width"] / n / 0.1)))
        ax.set_xlabel(xlabel)
        ax.tick_params(labelbottom=True)
        ax.grid(axis="y")
        if reference:
            ax.axhline(reference[0], color=INK, linewidth=0.8, linestyle=DASHED)
    for ax in axes.flat[len(panels) :]:
        ax.axis("off")
    for ax in axes[:, 0] if sharey else axes.flat[: len(panels)]:
        ax.set_ylabel(ylabel)
    keys = [handle(hue, *styles[hue]) for hue in hues] if len(hues) > 1 else []
    keys += [handle(reference[1], INK, "", linewidth=0.8, linestyle=DASHED)] if reference else []
    legend_of(fig, keys)
    return fig
