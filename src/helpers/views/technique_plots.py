"""Figures of notebook 11. Rows carry the keys of their condition as columns (`technique_tables.with_parts`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from textwrap import fill

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from helpers.figure import INK, PAGE, handle, legend_of, subplots
from helpers.look import COLORS, MARKERS, Look

#: lines are told apart by colour and marker, and beyond so many by their style too
_STYLES = ("-", (0, (3, 1.5)))


def _style(i: int) -> dict[str, object]:
    return {"color": COLORS[i % len(COLORS)], "marker": MARKERS[i % len(MARKERS)]}


def _panels(n: int, height: float, width: float = PAGE, **kwargs) -> tuple[Figure, np.ndarray]:
    """n panels, four in a row at most, three where that fills the rows."""
    columns = min(n, 3 if n % 3 == 0 or n in (5, 6) else 4)
    rows = -(-n // columns)
    size = min(width, 0.6 + 2.1 * columns) if n < 3 else width
    fig, axes = subplots(rows, columns, width=size, height=height * rows + 0.4, squeeze=False, sharey=True, **kwargs)
    flat = axes.ravel()
    for ax in flat[n:]:
        ax.axis("off")
    return fig, flat[:n]


def turn_figure(rows: pd.DataFrame, panels: Mapping[tuple, str], labels: Mapping[str, str], ylabel: str) -> Figure:
    """Rates by turn: a panel for each key of `panels`, a line a label, with intervals.

    rows : `turn_rate` rows with `turn`. panels : (system, system_b or None) -> title; labels : label -> title.
    """
    fig, axes = _panels(len(panels), 2.0)
    for ax, ((a, b), title) in zip(axes, panels.items(), strict=True):
        here = rows[(rows["system"] == a) & (rows["system_b"] == b if b else rows["system_b"].isna())]
        for i, label in enumerate(labels):
            part = here[here["label"] == label].sort_values("turn")
            if len(part):
                x = part["turn"].astype(int) + 0.09 * (i - (len(labels) - 1) / 2)
                ax.vlines(x, part["ci_low"], part["ci_high"], color=COLORS[i % len(COLORS)], linewidth=0.9, alpha=0.6)
                ax.plot(x, part["estimate"], **_style(i), linewidth=1.3, markersize=3.5)
        ax.axhline(0.5, color="#BBBBBB", linewidth=0.8, zorder=0)
        ax.set(xlabel="Turn", title=title, ylim=(0, 1))
        ax.set_xticks(sorted(rows["turn"].astype(int).unique()))
        ax.grid(axis="y")
    axes[0].set_ylabel(ylabel)
    legend_of(fig, _handles(labels.values()))
    return fig


def rate_figure(
    rows: pd.DataFrame, kinds: Mapping[str, Mapping[str, str]], lines: Mapping[tuple, str], where: str = ""
) -> Figure:
    """Win rates with intervals: a panel a kind of technique, a line a pair and label, a mark a technique.

    rows : win-rate rows with technique, system, system_b, label. kinds : heading -> technique -> title. lines :
    (system, system_b, label) -> name of the line. where : heading, where there are figures of several parts.
    """
    kinds = {k: v for k, v in kinds.items() if rows["technique"].isin(list(v)).any()}
    most = max(len(v) for v in kinds.values())
    step, shape = 0.7 + 0.34 * most, {"squeeze": False, "sharex": True, "sharey": True}
    height = 0.9 + 0.17 * most + 0.2 * step * len(lines)
    fig, axes = subplots(1, len(kinds), width=PAGE if len(kinds) > 1 else 5.0, height=height, **shape)
    for ax, (title, techniques) in zip(axes[0], kinds.items(), strict=True):
        for i, name in enumerate(techniques):
            here = rows[rows["technique"] == name].set_index(["system", "system_b", "label"])
            for j, key in enumerate(lines):
                if key in here.index:
                    _mark(ax, here.loc[key], j * step + (i - (len(techniques) - 1) / 2) * 0.34, _style(i))
        ax.axvline(0.5, color="#BBBBBB", linewidth=0.8, zorder=0)
        ax.set(xlim=(0, 1), ylim=((len(lines) - 0.5) * step, -0.5 * step), xlabel="Win rate of the first")
        ax.set_yticks([j * step for j in range(len(lines))], list(lines.values()))
        for j in range(1, len(lines)):
            ax.axhline((j - 0.5) * step, color="#EEEEEE", linewidth=0.6, zorder=0)
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="x")
        place = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "alignment": "left"}
        ax.legend(handles=_handles(techniques.values()), title=title, **place).get_title().set_fontweight("bold")
    return _headed(fig, where)


def _headed(fig: Figure, where: str) -> Figure:
    """The figure with a heading, where there is one: that of the legend above it, so that they do not collide."""
    if where:
        fig.set_figheight(fig.get_figheight() + 0.2)
        for legend in fig.legends:
            legend.set_title(where, {"weight": "bold", "size": 9})
            legend.set_alignment("left")
        if not fig.legends:
            fig.suptitle(where, x=0.01, ha="left", fontsize=9, fontweight="bold")
    return fig


def _handles(names: Iterable[str]) -> list:
    return [handle(name, COLORS[i % len(COLORS)], MARKERS[i % len(MARKERS)]) for i, name in enumerate(names)]


def _mark(ax: Axes, row: pd.Series, y: float, style: dict) -> None:
    if pd.notna(row["ci_low"]):
        hollow = row["ci_kind"] == "exact_bound"
        line = (0, (2, 1.2)) if hollow else "-"
        ax.plot([row["ci_low"], row["ci_high"]], [y, y], color=style["color"], linewidth=1.3, linestyle=line)
    if pd.notna(row["estimate"]):
        ax.plot(row["estimate"], y, markersize=3.8, linewidth=0, **style)


def power_figure(
    rows: pd.DataFrame,
    techniques: Mapping[str, str],
    columns: Mapping[object, str],
    alpha: float,
    power: float,
    where: str = "",
) -> Figure:
    """Power against hours of work, and below how often equal systems are told apart at the same hours.

    rows : `technique_power` and `technique_false_positive` rows with technique, hours, column. columns : value of
    `column` -> heading. where : as in `rate_figure`.
    """
    shape = {"squeeze": False, "sharex": True, "sharey": "row", "gridspec_kw": {"height_ratios": [2, 1]}}
    fig, axes = subplots(2, len(columns), width=min(PAGE, 1.6 + 2.2 * len(columns)), height=4.0, **shape)
    bottom = rows.loc[rows["statistic"] == "technique_false_positive", "estimate"].max()
    for j, (key, title) in enumerate(columns.items()):
        here = rows[rows["column"] == key]
        for i, name in enumerate(techniques):
            for ax, statistic in zip(axes[:, j], ("technique_power", "technique_false_positive"), strict=True):
                part = here[(here["technique"] == name) & (here["statistic"] == statistic)].sort_values("hours")
                ax.plot(
                    part["hours"],
                    part["estimate"],
                    **_style(i),
                    linewidth=1.2,
                    markersize=3,
                    linestyle=_STYLES[i // 8 % 2],
                )
        axes[0, j].axhline(power, color=INK, linewidth=0.8, linestyle=(0, (2, 1.5)))
        axes[1, j].axhline(alpha, color=INK, linewidth=0.8, linestyle=(0, (2, 1.5)))
        axes[0, j].set(title=title, ylim=(0, 1.02))
        axes[1, j].set(xlabel="Hours of work", xscale="log", ylim=(0, max(2 * alpha, 1.1 * bottom)))
        axes[1, j].xaxis.set_major_formatter("{x:g}")
        for ax in axes[:, j]:
            ax.grid(axis="both")
    axes[0, 0].set_ylabel("Power")
    axes[1, 0].set_ylabel("Told apart\nthough equal")
    _legend(fig, _handles(techniques.values()))
    return _headed(fig, where)


def _legend(fig: Figure, handles: list) -> None:
    """A legend above the figure in as many columns as its width has room for."""
    longest = max(len(h.get_label()) for h in handles)
    columns = max(1, int(fig.get_figwidth() / (0.45 + 0.062 * longest)))
    fig.legend(handles=handles, loc="outside upper left", ncols=min(columns, len(handles)))


def hours_figure(
    rows: pd.DataFrame, techniques: Mapping[str, str], lines: Mapping[tuple, str], where: str = ""
) -> Figure:
    """Hours to power (filled, with interval) and hours until first significant (hollow), a line a technique.

    rows : `hours_to_power` and `hours_to_significance` rows. lines : (system, system_b, label) -> heading of a panel.
    where : as in `rate_figure`.
    """
    fig, axes = _panels(len(lines), 0.75 + 0.15 * len(techniques), sharex=True)
    names, highest = list(techniques), rows[["estimate", "ci_high"]].max().max()
    for ax, ((a, b, label), title) in zip(axes, lines.items(), strict=True):
        here = rows[(rows["system"] == a) & (rows["system_b"] == b) & (rows["label"] == label)]
        wide = {k: part.set_index("technique").reindex(names) for k, part in here.groupby("statistic")}
        y = np.arange(len(names))
        if "hours_to_power" in wide:
            part = wide["hours_to_power"]
            known, opened = part["ci_low"].notna(), part["ci_low"].notna() & part["ci_high"].isna()
            high = part["ci_high"].fillna(highest * 1.5)
            ax.hlines(y[known], part["ci_low"][known], high[known], color=COLORS[0], linewidth=1.3, alpha=0.8)
            ax.plot(high[opened], y[opened], ">", color=COLORS[0], markersize=3.5)
            ax.plot(part["estimate"], y, "o", color=COLORS[0], markersize=4)
        if "hours_to_significance" in wide:
            style = {"color": COLORS[1], "markersize": 3.5, "markerfacecolor": "white"}
            ax.plot(wide["hours_to_significance"]["estimate"], y, "D", **style)
        ax.set(xscale="log", title=fill(title, 22), ylim=(len(names) - 0.4, -0.6))
        ax.set_yticks(range(len(names)), list(techniques.values()))
        ax.xaxis.set_major_formatter("{x:g}")
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="x")
    for i, ax in enumerate(axes):
        below = i + (3 if len(axes) % 3 == 0 or len(axes) in (5, 6) else 4) >= len(axes)
        ax.tick_params(axis="x", labelbottom=below)
        ax.set_xlabel("Hours of work" if below else "")
    keys = [handle("to the stated power", COLORS[0], "o")]
    keys.append(handle("until first significant, as published", COLORS[1], "D", linewidth=0, markerfacecolor="white"))
    keys.append(handle("no upper end", COLORS[0], ">", linewidth=0))
    legend_of(fig, keys)
    return _headed(fig, where)


def coefficient_figure(rows: pd.DataFrame, look: Look) -> Figure:
    """What a mark at each turn adds to the final rating, by system and (black) over all. rows : with `turn`."""
    fig, ax = subplots(width=4.6, height=2.6)
    systems = [s for s in dict.fromkeys(rows["system"].dropna())]
    for i, system in enumerate([*systems, None]):
        part = rows[rows["system"] == system] if system is not None else rows[rows["system"].isna()]
        part = part.sort_values("turn")
        x = part["turn"].astype(int) + 0.08 * (i - len(systems) / 2)
        color = INK if system is None else COLORS[i % len(COLORS)]
        ax.vlines(x, part["ci_low"], part["ci_high"], color=color, linewidth=0.9, alpha=0.7)
        width = 2.0 if system is None else 1.0
        ax.plot(x, part["estimate"], color=color, marker=MARKERS[i % len(MARKERS)], markersize=3.5, linewidth=width)
    ax.axhline(0, color="#BBBBBB", linewidth=0.8, zorder=0)
    ax.set(xlabel="Turn", ylabel="Coefficient")
    ax.set_xticks(sorted(rows["turn"].astype(int).unique()))
    ax.grid(axis="y")
    handles = [
        handle(look.name("system", s), COLORS[i % len(COLORS)], MARKERS[i % len(MARKERS)])
        for i, s in enumerate(systems)
    ]
    _legend(fig, [*handles, handle("all together", INK, MARKERS[len(systems) % len(MARKERS)], linewidth=2.0)])
    return fig


def labelled(
    keys: Sequence[tuple[str, str, str]], look: Look, pairs: Mapping[tuple[str, str], str], labels: Mapping[str, str]
) -> dict:
    """Names of the lines of a figure: the pair where it is new, and the label where there are several."""
    several = len({label for *_, label in keys}) > 1
    out = {}
    for a, b, label in keys:
        pair = pairs.get((a, b)) or f"{look.name('system', a)} – {look.name('system', b)}"
        out[a, b, label] = f"{pair}: {labels.get(label, label)}" if several else pair
    return out
