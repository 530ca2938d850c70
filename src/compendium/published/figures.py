"""Figures of notebook 90."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes

from compendium.published.controls import OTHER_COLUMN, OTHER_ROW, overall
from compendium.published.scoreboard import ATTEMPTED, FIVE, MATCH, VERDICTS, apart, badge, counts
from judgebook.display import style
from judgebook.display.names import BAD, COLORS, GOOD, OPEN
from judgebook.display.text import Phrases, percent
from judgebook.display.views import Plot

#: dark: decided by raw data; light: not
VERDICT_COLORS = (
    COLORS[0],
    COLORS[5],
    COLORS[2],
    COLORS[4],
    COLORS[1],
    "#A9D3EE",
    COLORS[3],
    "#9A9A9A",
    "#C4C4C4",
    "#E2E2E2",
    "#F4F4F4",
)
TEXT = "Text, captions"
WRONG_DEFINITION = "a wrong definition's value"
#: a row of bars, and the tallest figure, in inches
ROW, TALLEST = 0.19, 9.0


def by_table(cells: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    """Counts by verdict of every table, and of all numbers in text and captions, by paper; tables come first."""
    return _ordered(counts(_merged(cells), ["paper", "element"]), titles)


def _merged(frame: pd.DataFrame) -> pd.DataFrame:
    """Tables by their name; everything else is text or a caption."""
    return frame.assign(element=frame["element"].where(frame["element"].str.startswith("Table"), TEXT))


def _ordered(frame: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    """By paper in the order of `titles`; tables by number, then text."""
    place = {"paper": list(titles).index, "element": lambda e: 1_000 if e == TEXT else int(e.split()[1])}
    return frame.sort_values(["paper", "element"], key=lambda c: c.map(place[c.name]), ignore_index=True, kind="stable")


def papers(cells: pd.DataFrame, titles: Mapping[str, str]) -> Iterator[Plot]:
    """One bar per paper, divided by verdict: the five papers, then other sources."""
    for name, part in apart(cells).items():
        yield _papers(name, part, titles)


def _papers(name: str, cells: pd.DataFrame, titles: Mapping[str, str]) -> Plot:
    counted = counts(cells, ["paper"]).set_index("paper").reindex([p for p in titles if p in set(cells["paper"])])
    fig, ax = style.subplots(width=6.0, height=min(0.27, 7.5 / len(counted)) * len(counted) + 1.5)
    _bars(ax, counted, list(range(len(counted))), [titles[p] for p in counted.index])
    ax.set(ylim=(len(counted) - 0.5, -0.5))
    fig.legend(loc="outside upper left", ncols=3)
    alt = f"Bars: shares of verdicts among printed numbers. {badge(cells)}"
    title, unit = f"{name}: {matches_title(cells['verdict'])}", f"{_SHARES}, by paper or data set"
    key = "verdicts" if name == FIVE else "others"
    return Plot(fig, key, alt.replace("*", ""), f"{_BARS} Each bar is a paper or data set.", title, unit)


def matches_title(verdicts: pd.Series) -> str:
    """How many of the numbers that raw data decide match by rule. verdicts : of printed numbers."""
    n = int(verdicts.isin(ATTEMPTED).sum())
    return _PHRASES.say("matches_title", n=n, match=int((verdicts == MATCH).sum()))


_PHRASES = Phrases(__package__)
_SHARES = "Shares of printed numbers by verdict"
_BARS = (
    f"{_SHARES}; the end of each bar gives how many numbers are printed. Dark colours are "
    "verdicts based on raw data, light ones those without: numbers that follow from others or contradict them, numbers "
    "whose data have to be downloaded or were never published, that state a design, or that were not attempted."
)


def tables(counted: pd.DataFrame, titles: Mapping[str, str]) -> Iterator[Plot]:
    """One bar per table, and one per paper for all numbers in text and captions, on as many pages as needed. counted :
    of `by_table`."""
    for i, part in enumerate(_pages(counted)):
        single = part.groupby("paper")["element"].transform("size") == 1
        position, names, y = list[float](), list[str](), 0.0
        headings: list[tuple[float, str]] = []
        for paper, of_paper in part.groupby("paper", sort=False):
            if single[of_paper.index[0]]:
                names += [f"{titles[paper]}, {_within(of_paper['element'].iloc[0])}"]
                position, y = [*position, y], y + 1.3
                continue
            headings.append((y, titles[paper]))
            position += [y + 1 + k for k in range(len(of_paper))]
            names, y = names + list(of_paper["element"]), y + len(of_paper) + 1.3
        fig, ax = style.subplots(height=ROW * y + 1.2)
        for at, title in headings:
            ax.text(0, at, title, va="center", fontsize=8, fontweight="bold")
        _bars(ax, part, position, names)
        ax.set(ylim=(y - 0.6, -0.8))
        fig.legend(loc="outside upper left", ncols=3)
        most = part.loc[part[MATCH].idxmax()]
        alt = f"Bars: shares of verdicts among the printed numbers of {len(part)} tables and texts. Most matches by"
        alt += f" rule: {most[MATCH]} in {titles[most['paper']]}, {_within(most['element'])}."
        caption = f"{_BARS} Each bar is a table, or all numbers in the text and captions of a paper or data set."
        title, unit = whole_title(part), f"{_SHARES}, by table"
        yield Plot(fig, f"tables_{i}" if i else "tables", alt, caption, title, unit)


def whole_title(counted: pd.DataFrame) -> str:
    """In how many tables and texts every number that raw data decide matches by rule. counted : of `by_table`."""
    decided = counted[[v for v in ATTEMPTED if v in counted]].sum(axis=1)
    facts = {"n": int((decided > 0).sum()), "whole": int(((decided > 0) & (decided == counted[MATCH])).sum())}
    return _PHRASES.say("whole_title", **facts)


def _within(element: str) -> str:
    return element.lower() if element == TEXT else element


def _pages(counted: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Papers that fit on a page together; a paper is not divided."""
    page, height = list[pd.DataFrame](), 0.0
    for _, part in counted.groupby("paper", sort=False):
        needed = ROW * (len(part) + 1.3 * (len(part) > 1) + 0.3)
        if page and height + needed > TALLEST - 1.2:
            yield pd.concat(page)
            page, height = [], 0.0
        page, height = [*page, part], height + needed
    if page:
        yield pd.concat(page)


def _bars(ax: Axes, counted: pd.DataFrame, position: list, names: list[str]) -> None:
    """Bars divided by verdict, with the number of printed numbers at the end; verdicts that occur are in the legend."""
    total, left = counted[list(VERDICTS)].sum(axis=1), pd.Series(0.0, counted.index)
    for (verdict, name), color in zip(VERDICTS.items(), VERDICT_COLORS, strict=True):
        if counted[verdict].sum() == 0:
            continue
        share = 100 * counted[verdict] / total
        ax.barh(position, share, 0.8, left=left, color=color, label=name, linewidth=0)
        tooltips = [f"{who}: {n:,} of {of:,} {name}" for who, n, of in zip(names, counted[verdict], total, strict=True)]
        y = pd.Series(position, counted.index)
        style.tips(ax, tooltips, left.where(share > 0), y - 0.4, x_to=left + share, y_to=y + 0.4)
        left += share
    for at, n in zip(position, total, strict=True):
        ax.text(101, at, f"{n:,}", va="center", fontsize=7)
    ax.set_yticks(position, names)
    ax.set(xlim=(0, 100), xlabel="Share of printed numbers; count at the end of each bar")
    ax.xaxis.set_major_formatter(mpl.ticker.PercentFormatter(decimals=0))
    ax.tick_params(axis="y", length=0)


def controls(wrong: pd.DataFrame, titles: Mapping[str, str]) -> Iterator[Plot]:
    """The share of numbers that match their own result, and that of the same numbers that match wrong values: by table
    for values of other columns and rows, and by definition for those of wrong definitions."""
    frame = _ordered(_merged(wrong), titles)
    frame["where"] = frame["paper"].map(titles) + ", " + frame["element"].map(_within)
    swapped = frame["control"].isin([OTHER_COLUMN, OTHER_ROW])
    if swapped.any():
        yield _controls(frame[swapped], "controls", {"where": "row", "control": "panel"})
    if not swapped.all():
        one = frame[~swapped].assign(panel=WRONG_DEFINITION)
        one["row"] = one["where"] + ": " + one["control"]
        yield _controls(one, "definitions", {})


def _controls(frame: pd.DataFrame, name: str, columns: dict[str, str]) -> Plot:
    sums = frame.rename(columns=columns).groupby(["panel", "row"], sort=False, as_index=False)
    rows = sums[["numbers", "matches", "comparisons", "wrong_matches"]].sum()
    rows["own"], rows["other"] = rows["matches"] / rows["numbers"], rows["wrong_matches"] / rows["comparisons"]
    places, panels = list(dict.fromkeys(rows["row"])), list(dict.fromkeys(rows["panel"]))
    size = {"height": 0.2 * len(places) + 1.1, "sharey": True, "squeeze": False}
    fig, axes = style.subplots(1, len(panels), **size)
    for ax, panel in zip(axes[0], panels, strict=True):
        of_panel = rows[rows["panel"] == panel].assign(y=lambda f: f["row"].map(places.index))
        weak = of_panel["other"] >= of_panel["own"]
        for part, color in ((of_panel[~weak], OPEN), (of_panel[weak], BAD)):
            ax.hlines(part["y"], 100 * part["other"], 100 * part["own"], color=color, linewidth=1.0)
            ax.plot(100 * part["other"], part["y"], "x", color=color if color == BAD else "#555555", markersize=4.5)
        ax.plot(100 * of_panel["own"], of_panel["y"], "o", color=GOOD, markersize=4, fillstyle="none")
        ax.plot(100 * of_panel["own"][~weak], of_panel["y"][~weak], "o", color=GOOD, markersize=4)
        tooltips = [
            f"{r.row}: {r.matches} of {r.numbers} match their result, {r.wrong_matches} of {r.comparisons} {panel}"
            for r in of_panel.itertuples()
        ]
        ends = 100 * of_panel[["own", "other"]]
        style.tips(ax, tooltips, ends.min(axis=1), of_panel["y"], x_to=ends.max(axis=1))
        for y, row in zip(of_panel["y"], of_panel.itertuples(), strict=True):
            text = f"{row.matches}/{row.numbers}, {row.wrong_matches}/{row.comparisons}"
            ax.text(1.03, y, text, transform=ax.get_yaxis_transform(), va="center", fontsize=6.5)
        ax.set_yticks(range(len(places)), places)
        ax.set(ylim=(len(places) - 0.5, -0.7), xlim=(-3, 103), xlabel="Numbers that match")
        ax.set_title(f"Against {panel}")
        ax.xaxis.set_major_formatter(mpl.ticker.PercentFormatter(decimals=0))
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="both")
    keys = [style.handle("its own result", GOOD, "o", linewidth=0)]
    keys.append(style.handle("wrong values", "#555555", "x", linewidth=0))
    weak = rows[rows["other"] >= rows["own"]]
    if len(weak):
        keys.append(style.handle("as many wrong values match, or more", BAD, "x"))
    style.legend_of(fig, keys)
    kinds = "; ".join(
        f"{r.control}: {percent(r.wrong_matches / r.comparisons, 1)}" for r in overall(frame).itertuples()
    )
    alt = f"Shares of printed numbers that match their own result, {percent(rows['own'].min())} to"
    alt += f" {percent(rows['own'].max())}, and of wrong values that match: {kinds}."
    title = _PHRASES.say("controls_title", n=len(rows), weak=len(weak))
    result = "No wrong values match as often as the result." if weak.empty else ""
    if len(weak):
        result = f"Wrong values match as often as the result, or more often, in {'; '.join(_cases(weak))}."
    caption = "Dots: share of printed numbers that match the result computed for them; crosses: share of wrong values"
    caption += " that match the same numbers. Counts on the right: matches of numbers, then of wrong values. "
    unit = "Share of printed numbers that match the result, and that match wrong values"
    return Plot(fig, name, f"{alt} {result}", caption + result, title, unit)


def _cases(weak: pd.DataFrame) -> list[str]:
    return [
        f"{r.row} ({r.matches} of {r.numbers} against {r.wrong_matches} of {r.comparisons})" for r in weak.itertuples()
    ]
