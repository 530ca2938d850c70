"""What notebook 19 shows and says of votes and ratings of the same systems; `text.md.j2` puts it into words."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from scipy.special import logit

from judgebook.display.names import BAD, GOOD, OPEN, DisplayNames
from judgebook.display.style import INK, PAGE, handle, legend_of, panel, subplots, tips
from judgebook.display.text import Phrases, told
from judgebook.display.views import Plot, Prose
from judgebook.questions.comparisons.ratings_and_votes import BOTH, KEYS, RATINGS, VOTES
from judgebook.questions.comparisons.views import surely
from judgebook.questions.performance.arrangement import part_names
from judgebook.study.results import Results, where

_PHRASES = Phrases(__package__)
#: boards that are drawn and told of, panels beside each other, and systems of a panel that are named
SHOWN, _ACROSS, _NAMED = 6, 3, 12
_ENDS = ["estimate", "ci_low", "ci_high"]


def together(results: Results, names: DisplayNames) -> Iterator[Prose | Plot]:
    """Whether votes and ratings go together, what both decide, and systems by either."""
    boards = [*_boards(results, names)]
    if boards:
        differ, one = ([b for b in boards if b["differ"] == yes and (yes or b["known"])] for yes in (True, False))
        yield Prose(_PHRASES.say("together", boards=boards, differ=differ, one=one, shown=SHOWN))
        if shown := [board for board in differ + one if board["known"]]:
            yield _plot(results, shown[:SHOWN], names)


def _boards(results: Results, names: DisplayNames) -> Iterator[dict[str, Any]]:
    """Of each label and group: `row` of the test and `wins`, whether the slope is `known` to be above 0 (`turned`:
    below), and whether votes and ratings `differ`, in that or by the test; the systems `beyond`, and the most that any
    may be (`most`); how many of `pairs` each evidence has `decided`, and pairs, the better first, that `only` both
    together decide."""
    tests = results["one_quality"]
    label_of = names.distinct_label if len(set(tests["method"])) > 1 else partial(names.name, "label")
    parts = part_names(tests, names)
    for row, part in zip(tests.to_dict("records"), parts, strict=True):
        key = {k: row[k] for k in KEYS}
        wins, gaps, pairs = (
            where(results[s], **key) for s in ("wins_by_rating", "rated_beyond_votes", "evidence_contrast")
        )
        who = [label_of(row["label"], row["method"])] * (len(tests) > 1) + [part] * (len(set(parts)) > 1)
        who += [names.name("method", row["rated"])] * (len(set(tests["rated"])) > 1)
        one: dict[str, Any] = {"key": key, "row": row, "who": ", ".join(who), "why": "", "known": False}
        one |= {"rated": names.name("label", row["label_b"], row["rated"]), "turned": False, "beyond": []}
        one["differ"] = bool(row["p_adjusted"] < 1 - names.confidence)
        if wins.empty:
            yield one | {"why": row["note"]}
            continue
        one["wins"], one["most"] = wins.iloc[0].to_dict(), float(np.abs(gaps[_ENDS]).max(axis=None))
        one["known"], one["turned"] = one["wins"]["ci_low"] > 0.5, one["wins"]["ci_high"] < 0.5
        one["differ"] |= one["turned"]
        beyond = gaps[surely(gaps)] if one["differ"] and len(gaps) > 3 else gaps[:0]
        one["beyond"] = [{"system": names.name("system", r["system"]), "row": r} for r in beyond.to_dict("records")]
        sure = {e: pairs[(pairs["evidence"] == e) & surely(pairs)] for e in (VOTES, RATINGS, BOTH)}
        told_of = {e: {*zip(of["system"], of["system_b"], strict=True)} for e, of in sure.items()}
        one["decided"] = {e: len(of) if e in set(pairs["evidence"]) else None for e, of in told_of.items()}
        one["pairs"], only = (pairs["evidence"] == VOTES).sum(), told_of[BOTH] - told_of[VOTES] - told_of[RATINGS]
        both = [r for r in sure[BOTH].to_dict("records") if (r["system"], r["system_b"]) in only]
        better = [("system", "system_b") if r["estimate"] > 0 else ("system_b", "system") for r in both]
        one["only"] = [[names.name("system", r[c]) for c in of] for r, of in zip(both, better, strict=True)]
        yield one


def _plot(results: Results, boards: list[dict[str, Any]], names: DisplayNames) -> Plot:
    """Systems by ratings and by votes, a panel for each board."""
    across = min(len(boards), _ACROSS)
    down = -(-len(boards) // across)
    width = PAGE if across > 1 else 3.9
    fig, axes = subplots(down, across, squeeze=False, width=width, height=2.6 * down + 0.5)
    said = [_panel(ax, results, board, names) for ax, board in zip(axes.flat, boards, strict=False)]
    for ax in axes.flat[len(boards) :]:
        ax.set_visible(False)
    fig.supxlabel("Level by ratings (points from the mean)", fontsize=8)
    fig.supylabel("Strength by votes (log odds from the mean)", fontsize=8)
    if any(board["beyond"] for board in boards):
        marks = ("as votes say", INK, "o"), ("rated higher", GOOD, "D"), ("rated lower", BAD, "v")
        legend_of(fig, [handle(*mark, 0) for mark in marks])
    caption = f"Crosses: {names.ci} of each system. Grey line and band: where systems are if both measure one quality,"
    caption += f" within the {names.ci} of its slope."
    title = _PHRASES.say("together_title", boards=boards)
    return Plot(fig, "together", f"{'. '.join(said)}.", caption, title, "Systems by ratings and by votes")


def _panel(ax: Axes, results: Results, board: dict[str, Any], names: DisplayNames) -> str:
    """Draws a board; what it shows, in words."""
    levels = where(results["evidence_level"], **board["key"])
    x, y = (where(levels, evidence=e).set_index("system")[_ENDS] for e in (RATINGS, VOTES))
    slope, *ends = logit([min(board["wins"][c], 1 - 1e-9) for c in _ENDS])
    grid = np.linspace(x["ci_low"].min(), x["ci_high"].max(), 50)
    reach = 1.1 * np.abs(y).max(axis=None)
    band = np.clip(np.sort(np.outer(ends, grid), axis=0), -reach, reach)
    ax.fill_between(grid, *band, color="#E6EAEF", linewidth=0)
    ax.plot(grid, np.where(np.abs(slope * grid) < reach, slope * grid, np.nan), color=OPEN, linewidth=1)
    far = {of["row"]["system"]: of["row"]["estimate"] for of in board["beyond"]}
    said = []
    for system in x.index:
        a, b, gap, name = x.loc[system], y.loc[system], far.get(system, 0.0), names.name("system", system)
        color, marker = (INK, "o") if gap == 0 else (GOOD, "D") if gap > 0 else (BAD, "v")
        ax.hlines(b["estimate"], a["ci_low"], a["ci_high"], color=color, linewidth=0.8)
        ax.vlines(a["estimate"], b["ci_low"], b["ci_high"], color=color, linewidth=0.8)
        ax.plot(a["estimate"], b["estimate"], marker, color=color, markersize=4)
        if len(x) <= _NAMED or gap:
            up = bool(b["estimate"] > slope * a["estimate"])
            off, place = ((-3, 3) if up else (3, -8)), {"ha": "right" if up else "left", "fontsize": 6.5}
            ax.annotate(name, (a["estimate"], b["estimate"]), off, textcoords="offset points", **place)
        said.append(f"{told(name, a.to_dict())} by ratings, {told('', b.to_dict())[2:]} by votes")
    ax.set_ylim(-reach, reach)
    ax.margins(x=0.45)  # for names
    tips(ax, said, x["estimate"], y["estimate"])
    panel(ax, levels, names)
    ax.set_title(fill(board["who"] or board["rated"], 25))
    return f"{board['who'] or board['rated']}: {'; '.join(said)}"
