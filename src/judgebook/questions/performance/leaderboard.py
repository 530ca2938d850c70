"""Systems in the order of their scores: how far each is behind the leader, and what that says of it."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from judgebook.display import style
from judgebook.display.cells import intervals, of_interval
from judgebook.display.grid_plots import DRAWN, MOST
from judgebook.display.names import BAD, OPEN, DisplayNames
from judgebook.display.style import INK, PAGE, handle, legend_of, subplots, tips
from judgebook.display.text import Phrases, number
from judgebook.display.views import Plot
from judgebook.questions.performance import leading
from judgebook.questions.performance.arrangement import part_names
from judgebook.questions.performance.leading import LEADS, RIVAL, TIED, WORSE

_PHRASES = Phrases(__package__)
#: inches: a row, title and axis of a line of panels, legend and label of the axis, letters of a name, a panel with the
#: numbers beside it
ROW, LINE, AROUND, LETTER, PANEL = 0.155, 0.5, 0.45, 0.062, 2.95
#: panels beside each other, letters of a line of a system's name
ACROSS, NAME = 3, 30
#: verdict -> colour and marker
STYLES = {
    LEADS: (INK, "D"), RIVAL: (INK, "o"), TIED: ("#777777", "s"), WORSE: (BAD, "v"), leading.OPEN: (OPEN, "x"),
}  # fmt: skip
#: times the largest difference that the axis goes on at both ends, at most
BEYOND = 1.0
#: the label of an overall mean
OVERALL = "Overall mean"
#: behind systems that lead or may be best
BAND = "#E8EFF5"
#: unit of an order -> factor, what scores and differences from the leader are called
UNITS = {
    "SD": (1, "mean, SD", "SD"),
    "share": (100, "%", "percentage points"),
    "score": (1, "mean", "points of the scale"),
    "strength": (1, "log odds", "log odds"),
}
#: unit of an order -> how far apart two systems can be; in log odds, where one wins 1% and 99% of the comparisons
WIDEST = {"share": 1.0, "strength": np.log(99)}

#: why a cell of `behind` is empty
NOT_BEHIND = (
    "The leader; or the difference cannot be determined from so few units (n): no interval, or wider than the scale."
)


@dataclass(frozen=True)
class Order:
    """One order of the systems with the runs and groups it was found in: rows of `leading.rankings` of one method and
    label, with `part`, the name of run and group. label : its title; empty for the overall mean."""

    rows: pd.DataFrame
    method: str
    label: str

    @property
    def parts(self) -> list[str]:
        return list(dict.fromkeys(self.rows["part"]))

    @property
    def main(self) -> pd.DataFrame:
        """The rows of the first run and group, the best system first."""
        return self.rows[self.rows["part"] == self.parts[0]]

    @property
    def systems(self) -> list[str]:
        """The best first; those that the first run or group has not got come last."""
        return list(dict.fromkeys([*self.main["system"], *self.rows["system"]]))

    @property
    def unit(self) -> tuple[float, str, str]:
        return UNITS[self.rows["unit"].iloc[0]]

    def of(self, part: str) -> pd.DataFrame:
        """The rows of a run and group by system, in the order of `systems`; missing where a system was not judged."""
        return self.rows[self.rows["part"] == part].set_index("system").reindex(self.systems)

    def about(self) -> str:
        """`overall mean of 7 labels`, or the label, in lower case."""
        return _PHRASES.say("ordered_by", label=Markup(self.label), n=int(self.rows["n_labels"].iloc[0]))


def orders(rankings: pd.DataFrame, names: DisplayNames) -> list[Order]:
    """All orders, those of the main evaluation's method first, and overall means before labels."""
    rows = rankings.assign(part=part_names(rankings, names), method_=rankings["method"], label_=rankings["label"])
    labels = list(names.labels)
    out = []
    for (method, label), part in rows.fillna({"label_": ""}).groupby(["method_", "label_"], sort=False):
        place = labels.index((method, label)) if (method, label) in labels else -1
        title = names.name("label", label, method) if label else ""
        out.append((rows["method"].drop_duplicates().tolist().index(method), place, Order(part, method, title)))
    return [order for *_, order in sorted(out, key=lambda entry: entry[:2])]


def plot(order: Order, names: DisplayNames, name: str) -> Plot | None:
    """How far each system is behind the leader, a panel for each run and group."""
    if order.rows["lead"].isna().all():
        return None
    shown, left_out = _drawn(order.systems)
    fig = _figure(order, shown, names)
    facts = _facts(order, names) | {"n": len(order.systems), "drawn": len(shown) if left_out else 0}
    (left, right), ends = limits(order.rows, order.unit[0]), -order.unit[0] * order.rows[["lead_low", "lead_high"]]
    facts["cut"] = bool(((ends < left) | (ends > right)).any(axis=None))
    scores = order.of(order.parts[0])["estimate"].reindex(shown) * order.unit[0]
    listed = [f"{names.name('system', s)} {number(score)}" for s, score in scores.items()]
    alt = _PHRASES.say("board_alt", **facts, listed=Markup("; ".join(listed)))
    of = {"Method": names.name("method", order.method), "Label": order.label or OVERALL}
    unit = f"Difference from the leader in {order.unit[2]}: {order.about()} ({facts['method']})"
    return Plot(fig, name, alt, _PHRASES.say("board_caption", **facts), title(order, names), unit, of)


def title(order: Order, names: DisplayNames) -> str:
    """Who leads by the first run and group, and how many others may be best; empty of a single system."""
    if len(order.main) < 2:
        return ""
    facts = leading.leaders(order.main)
    about = {key: facts[key] for key in ("n", "known", "sure", "any")} | {"rivals": len(facts["rivals"])}
    about |= {"label": order.label, "main": order.parts[0] if len(order.parts) > 1 else ""}
    return _PHRASES.say("board_title", name=names.name("system", facts["top"]["system"]), **about)


def _facts(order: Order, names: DisplayNames) -> dict[str, Any]:
    """What captions say; they are plain text."""
    facts = {"what": order.about(), "method": names.name("method", order.method)}
    facts |= {"over": _over(order.rows), "ci": names.ci, "main": order.parts[0] if len(order.parts) > 1 else ""}
    return {key: Markup(text) for key, text in facts.items()}


def _drawn(systems: list[str]) -> tuple[list[str], bool]:
    """Of more than MOST systems the DRAWN highest and lowest."""
    if len(systems) <= MOST:
        return systems, False
    return [*systems[: DRAWN // 2], *systems[-(DRAWN // 2) :]], True


def _over(rows: pd.DataFrame) -> str:
    kinds = ([f"{u}s" for u in unit.split(" and ")] for unit in rows["over"].dropna().unique())
    return " or ".join(" and ".join(filter(None, [", ".join(units[:-1]), units[-1]])) for units in kinds)


def _figure(order: Order, shown: list[str], names: DisplayNames) -> Figure:
    parts, titles = order.parts, [fill(names.name("system", s), NAME) for s in shown]
    across = min(len(parts), 2 if len(parts) == 4 else ACROSS)
    lines = -(-len(parts) // across)
    named = LETTER * max(len(line) for title in titles for line in title.splitlines())
    width = min(PAGE, max(4.6, named + across * PANEL))
    row = ROW * max(1, *(0.85 * (title.count("\n") + 1) for title in titles))
    size = {"width": width, "height": lines * (row * (len(shown) + 1) + LINE) + AROUND}
    fig, axes = subplots(lines, across, squeeze=False, sharey=True, sharex=True, **size)
    axes[0, 0].set_xlim(*limits(order.rows, order.unit[0]))
    for ax, part in zip(axes.flat, parts, strict=False):
        panel(ax, order.of(part).reindex(shown), titles, part, order.unit[0])
        style.panel(ax, order.of(part), names)
        ax.set_title(fill(part, 26) if len(parts) > 1 else "")
        ax.tick_params(labelbottom=True)
    for ax in axes.flat[len(parts) :]:
        ax.axis("off")
    axes[0, 0].set_yticks(range(len(titles)), titles)
    axes[0, 0].set_ylim(len(titles) - 0.5, -0.9)
    fig.supxlabel(f"Difference from the leader ({order.unit[2]})", fontsize=8)
    legend_of(fig, keys(order.rows))
    return fig


def keys(rows: pd.DataFrame) -> list[Line2D]:
    """Entries of a legend: the verdicts in `rows`."""
    return [handle(v, *STYLES[v], 0 if v == LEADS else 1.4) for v in STYLES if (rows["verdict"] == v).any()]


def limits(rows: pd.DataFrame, scale: float) -> tuple[float, float]:
    """Ends of the axis: all differences, and of intervals what lies within BEYOND times their span."""
    x, low, high = (-scale * rows[c].to_numpy(float) for c in ("lead", "lead_high", "lead_low"))
    span = -np.nanmin(x) or 1.0
    left = np.nanmin([*x, max(np.nanmin([*low, 0.0]), np.nanmin(x) - BEYOND * span)])
    right = min(np.nanmax([*high, 0.0]), BEYOND * span)
    room = 0.04 * (right - left)
    return left - room, right + room


def _arrows(ax: Axes, y: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    """Where lines continue beyond the axis."""
    left, right = ax.get_xlim()
    for at, marker, cut in ((left, "<", low < left), (right, ">", high > right)):
        if cut.any():  # an empty line that is not clipped would take part in the layout
            ax.plot(np.full(cut.sum(), at), y[cut], marker, color="#555555", markersize=3, clip_on=False, linestyle="")


def panel(ax: Axes, rows: pd.DataFrame, titles: list[str], part: str, scale: float) -> None:
    """Differences from the leader with their lines, and beside them scores and ranks.

    rows : of `leading.rankings`, a row for each title, from the top. scale : of the scores.
    """
    y = np.arange(len(rows))
    x, low, high = (-scale * rows[c].to_numpy(float) for c in ("lead", "lead_high", "lead_low"))
    for verdict, (color, marker) in STYLES.items():
        of = (rows["verdict"] == verdict).to_numpy()
        ax.hlines(y[of], low[of], high[of], color=color, linewidth=1.4)
        ax.plot(x[of], y[of], marker, color=color, markersize=4.2, linestyle="")
    _arrows(ax, y, low, high)
    for at in y[rows["verdict"].isin([LEADS, RIVAL])]:
        ax.axhspan(at - 0.5, at + 0.5, color=BAND, zorder=-2, linewidth=0)
    ax.axvline(0, color="#444444", linewidth=0.8, linestyle=(0, (3, 2)), zorder=1)
    beside = {
        "xycoords": ("axes fraction", "data"),
        "textcoords": "offset points",
        "va": "center",
        "fontsize": 7.3,
    }  # 9 px on a phone
    for column, shift in (("score", 6), ("rank", 36)):
        texts = (
            ["–" if pd.isna(v) else number(scale * v) for v in rows["estimate"]] if column == "score" else _ranges(rows)
        )
        for at, text in zip([-0.85, *y], [column, *texts], strict=True):
            color = "#666666" if text == column else INK
            ax.annotate(text, (1, at), xytext=(shift, 0), color=color, annotation_clip=False, **beside)
    ax.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.grid(axis="x")
    said = [
        f"{title.replace(chr(10), ' ')}, {part}: {number(scale * e)}; {of_interval(*ends)} from the leader; rank {r}"
        for title, e, ends, r in zip(titles, rows["estimate"], np.stack([x, low, high], 1), _ranges(rows), strict=True)
    ]
    left, right = np.where(np.isnan(low), x, low), np.where(np.isnan(high), x, high)
    tips(ax, said, left, y - 0.3, x_to=right, y_to=y + 0.3)


def _ranges(rows: pd.DataFrame) -> list[str]:
    """`1–4` for each row: the interval of its rank, or the rank alone."""
    ends = rows[["rank_low", "rank_high", "rank"]].to_numpy(float)
    return [
        "–" if np.isnan(rank) else f"{rank:g}" if np.isnan(low) else f"{low:g}" if low == high else f"{low:g}–{high:g}"
        for low, high, rank in ends
    ]


def behind(rows: pd.DataFrame, scale: float) -> pd.Series:
    """Cells with the difference from the leader; missing for the leader, and where an interval reaches in both
    directions beyond what is possible (WIDEST), as such data cannot tell the difference."""
    most = rows["unit"].map(WIDEST)
    untold = (rows["lead_low"] < -most) & (rows["lead_high"] > most)
    ends = scale * rows[["lead", "lead_low", "lead_high"]].set_axis(["estimate", "ci_low", "ci_high"], axis=1)
    return intervals(ends).where((rows["verdict"] != LEADS) & rows["lead"].notna() & ~untold, None)
