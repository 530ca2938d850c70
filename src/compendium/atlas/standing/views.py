"""What the page shows: strips, in words, as figures and as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from compendium.atlas.standing.strips import COMPARED, Strip
from judgebook.display.names import COLORS, NEUTRAL
from judgebook.display.style import INK, PAGE, handle, legend_of, subplots, tips
from judgebook.display.text import Phrases, interval, number
from judgebook.display.views import Plot, Prose, Table

_PHRASES = Phrases(__package__)
#: labels of a figure; the table has all
_MOST = 20


def named(statistic: str) -> str:
    return _PHRASES.say("what", statistic=statistic)


def answer(strips: Sequence[Strip], n_labels: int) -> Prose:
    """A line for each statistic, with its first label, and what the comparison does not say."""
    lines = []
    for statistic, rows in _by_statistic(strips):
        first = rows[0]
        facts = {"first": first.label.title, "value": _value(first), "below": first.below, "of": len(first.others)}
        words = dict(zip(("kind", "form"), first.words, strict=True))
        lines.append(_PHRASES.say("seen", **_counted(statistic, rows), **facts, **words))
    compared = {(strip.label.method, strip.label.id) for strip in strips}
    return Prose("\n".join(lines) + "\n\n" + _PHRASES.say("caveat", n_left=n_labels - len(compared)))


def figures(strips: Sequence[Strip], titles: Mapping[str, str]) -> Iterator[Plot]:
    """A figure for each statistic. titles : study -> title."""
    for statistic, rows in _by_statistic(strips):
        yield _figure(statistic, rows[:_MOST], titles)


def table(strips: Sequence[Strip]) -> Table:
    """A row for each strip."""
    rows = [
        {
            "Label": strip.label.title,
            "Statistic": named(strip.statistic),
            "Value": _value(strip),
            "Median of studies": float(np.median([*strip.others.values()])),
            "Higher than": f"{strip.below} of {len(strip.others)}",
            "Compared by": ", ".join(strip.words),
        }
        for strip in strips
    ]
    caption = (
        "Values in brackets are 95% intervals. Each public study counts once, by its median over comparable labels."
    )
    return Table(pd.DataFrame(rows), "standing", caption)


def _by_statistic(strips: Sequence[Strip]) -> Iterator[tuple[str, list[Strip]]]:
    for statistic in COMPARED:
        if rows := [strip for strip in strips if strip.statistic == statistic]:
            yield statistic, rows


def _counted(statistic: str, rows: Sequence[Strip]) -> dict[str, object]:
    above = sum(strip.value > np.median([*strip.others.values()]) for strip in rows)
    return {"name": named(statistic), "n": len(rows), "above": int(above)}


def _value(strip: Strip) -> str:
    return interval(strip.value, strip.low, strip.high)


def _figure(statistic: str, rows: Sequence[Strip], titles: Mapping[str, str]) -> Plot:
    fig, ax = subplots(width=PAGE, height=0.42 * len(rows) + 1.2)
    for y, strip in enumerate(rows):
        _strip(ax, -y, strip, titles)
    ax.set_yticks([-y for y in range(len(rows))], [strip.label.title for strip in rows])
    ax.set_ylim(-len(rows) + 0.4, 0.6)
    name = named(statistic)
    ax.set_xlabel(name[:1].upper() + name[1:])
    ax.grid(axis="x")
    keys = [handle("this study", COLORS[0], "D"), handle("a public study", NEUTRAL[2], "o", linewidth=0)]
    legend_of(fig, [*keys, handle("their median", INK, "|", linewidth=0)])
    lines = [f"{s.label.title} {_value(s)}, higher than in {s.below} of {len(s.others)}" for s in rows]
    alt = f"Strips of {name}: {'; '.join(lines)}."
    caption = _PHRASES.say("caption", name=name, most=max(len(strip.others) for strip in rows))
    title = _PHRASES.say("title", **_counted(statistic, rows))
    return Plot(fig, statistic, alt, caption, title, name)


def _strip(ax: Axes, y: float, strip: Strip, titles: Mapping[str, str]) -> None:
    values = np.array([*strip.others.values()])
    ax.plot(values, np.full(len(values), y), "o", color=NEUTRAL[2], markersize=4.5, alpha=0.8)
    ax.plot([np.median(values)] * 2, [y - 0.28, y + 0.28], color=INK, linewidth=1.2)
    tips(ax, [f"{titles.get(n, n)}: {number(v)}" for n, v in strip.others.items()], values, np.full(len(values), y))
    if np.isfinite([strip.low, strip.high]).all():
        ax.plot([strip.low, strip.high], [y, y], color=COLORS[0], linewidth=1.6)
    ax.plot(strip.value, y, "D", color=COLORS[0], markersize=6)
    tips(ax, [f"{strip.label.title}: {_value(strip)}"], [strip.value], [y])
