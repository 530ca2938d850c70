"""What notebook 19 shows and says of votes and ratings of the same systems; `text.md.j2` puts it into words."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy.special import logit

from judgebook.display import cells
from judgebook.display.grid_plots import MOST
from judgebook.display.names import BAD, GOOD, OPEN, DisplayNames
from judgebook.display.style import INK, PAGE, handle, legend_of, panel, subplots, tips
from judgebook.display.text import Phrases, interval
from judgebook.display.views import Plot, Prose, Table
from judgebook.questions.comparisons.ratings_and_votes import BOTH, RATINGS, VOTES
from judgebook.questions.comparisons.views import BOARD, surely
from judgebook.questions.performance.arrangement import part_names
from judgebook.study.results import ResultRows, Results, where

_PHRASES = Phrases(__package__)
_KEYS = [*BOARD, "label_b", "rated"]
#: panels of the figure, of these beside each other
_PANELS, _ACROSS = 6, 3


def together(results: Results, names: DisplayNames) -> Iterator[Prose | Plot | Table]:
    """Whether votes and ratings tell one story, and what both together decide."""
    boards = [*_boards(results, names)]
    if not boards:
        return
    yield Prose(_PHRASES.say("together", boards=boards))
    if shown := [board for board in boards if board["known"]]:
        yield _plot(results, shown[:_PANELS], names)
    if len(boards) > 1:
        yield _table(results, boards, names)


def _boards(results: Results, names: DisplayNames) -> Iterator[dict[str, Any]]:
    """Of each label and group: `row` of the test and `wins`, whether the slope is `known` to be above 0 (`turned`:
    below), and whether votes and ratings `differ`; the systems `beyond`, and the most that any may be (`most`); of
    `decided` pairs how many by each evidence, and the pairs that `only` both together decide."""
    tests = results["one_quality"]
    labels = names.distinct_label if tests["method"].nunique() > 1 else partial(names.name, "label")
    parts = part_names(tests, names)
    several = len(tests) > 1, parts.nunique() > 1
    for row, part in zip(tests.to_dict("records"), parts, strict=True):
        key = {k: row[k] for k in _KEYS}
        wins, gaps = (where(results[s], **key) for s in ("wins_by_rating", "rated_beyond_votes"))
        told = [labels(row["label"], row["method"]), part]
        who = ", ".join(word for word, wanted in zip(told, several, strict=True) if wanted)
        one: dict[str, Any] = {"key": key, "row": row, "who": who, "label": told[0], "why": "" if row["p_value"] >= 0 else row["note"]}
        one["rated"] = names.name("label", row["label_b"], row["rated"])
        one |= {"known": False, "turned": False, "differ": row["p_adjusted"] < 1 - names.confidence, "beyond": []}
        if len(wins):
            one["wins"] = wins.iloc[0].to_dict()
            one["known"], one["turned"] = one["wins"]["ci_low"] > 0.5, one["wins"]["ci_high"] < 0.5
            one["most"] = float(gaps[["ci_low", "ci_high"]].abs().to_numpy().max())
            beyond = gaps[surely(gaps)] if one["differ"] and len(gaps) > 3 else gaps[:0]
            one["beyond"] = [{"system": names.name("system", r["system"]), "row": r} for r in beyond.to_dict("records")]
            one |= _decided(where(results["evidence_contrast"], **key), names)
        yield one


def _decided(pairs: ResultRows, names: DisplayNames) -> dict[str, Any]:
    sure = {name: of[surely(of)] for name, of in pairs.groupby("evidence")}
    told = {name: set(zip(of["system"], of["system_b"], strict=True)) for name, of in sure.items()}
    higher = {
        (a, b): (a, b) if x > 0 else (b, a)
        for a, b, x in zip(*(sure.get(BOTH, pairs[:0])[c] for c in ("system", "system_b", "estimate")), strict=True)
    }
    only = [higher[pair] for pair in higher if not any(pair in told[name] for name in (VOTES, RATINGS))]
    called = [[names.name("system", system) for system in pair] for pair in only]
    n = len(pairs[pairs["evidence"] == VOTES])
    return {"decided": {name: len(told[name]) for name in told}, "pairs": n, "only": called}


def _table(results: Results, boards: list[dict[str, Any]], names: DisplayNames) -> Table:
    rows = results["one_quality"]
    out = names.named(rows[BOARD]).reset_index(drop=True)
    wins = results["wins_by_rating"].set_index(_KEYS).reindex(pd.MultiIndex.from_frame(rows[_KEYS]))
    share = wins[["estimate", "ci_low", "ci_high"]] * 100
    out["Votes won by one point more, %"] = cells.intervals(share, 0).to_numpy()
    out["p of one quality"] = rows["p_adjusted"].to_numpy()
    for name in (VOTES, RATINGS, BOTH):
        of = [board.get("decided", {}).get(name) for board in boards]
        out[f"Pairs decided by {name}"] = pd.array(of, dtype="Int64")
    caption = "How many of 100 votes, ties left out, go to a system that is rated one point higher; whether votes and"
    caption += " ratings measure one quality (p of all rows together, Holm); of all pairs of systems, those that are"
    caption += " told apart by each evidence and, where one point more is sure to win votes, by both."
    why = dict.fromkeys(out.columns, "Systems differ too little, or cannot be compared.")
    return Table(out, "together", caption, {"p of one quality": 3}, why, folded=len(out) > MOST)


def _plot(results: Results, boards: list[dict[str, Any]], names: DisplayNames) -> Plot:
    across = min(len(boards), _ACROSS)
    down = -(-len(boards) // across)
    width = PAGE if across > 1 else 3.9
    fig, axes = subplots(down, across, squeeze=False, width=width, height=2.6 * down + 0.5)
    told = []
    for ax, board in zip(axes.flat, boards, strict=False):
        told.append(_panel(ax, results, board, names))
    for ax in axes.flat[len(boards) :]:
        ax.set_visible(False)
    fig.supxlabel("Level by ratings (points from the mean)", fontsize=8)
    fig.supylabel("Strength by votes (log odds from the mean)", fontsize=8)
    if any(board["beyond"] for board in boards):
        legend_of(fig, [handle("rated higher than its votes say", GOOD, "D", 0),
                        handle("rated lower", BAD, "v", 0), handle("as they say", INK, "o", 0)])  # fmt: skip
    caption = f"Lines of systems: {names.ci} of each. Line and band: what votes would be if both measured one quality,"
    caption += " within the interval of its slope."
    title = _PHRASES.say("together_title", boards=boards)
    return Plot(fig, "together", f"{'; '.join(told)}.", caption, title, "Systems by ratings and by votes")


def _panel(ax: Axes, results: Results, board: dict[str, Any], names: DisplayNames) -> str:
    """Draws a board; what it shows, in words."""
    levels = where(results["evidence_level"], **board["key"])
    x, y = (levels[levels["evidence"] == e].set_index("system") for e in (RATINGS, VOTES))
    slopes = logit([min(board["wins"][c], 1 - 1e-9) for c in ("estimate", "ci_low", "ci_high")])
    ends = np.array([x["ci_low"].min(), x["ci_high"].max()])
    grid = np.linspace(*ends, 50)
    bounds = np.outer(slopes[1:], grid)
    reach = 1.1 * y[["ci_low", "ci_high"]].abs().to_numpy().max()
    ax.fill_between(grid, bounds.min(axis=0), bounds.max(axis=0), color="#E6EAEF", linewidth=0)
    ax.plot(grid, slopes[0] * grid, color=OPEN, linewidth=1)
    above = y["estimate"].rank(method="first") % 2
    far = {of["row"]["system"]: of["row"]["estimate"] for of in board["beyond"]}
    said = []
    for system in x.index:
        a, b, gap = x.loc[system], y.loc[system], far.get(system, 0.0)
        color, marker = (INK, "o") if gap == 0 else (GOOD, "D") if gap > 0 else (BAD, "v")
        ax.hlines(b["estimate"], a["ci_low"], a["ci_high"], color=color, linewidth=0.8)
        ax.vlines(a["estimate"], b["ci_low"], b["ci_high"], color=color, linewidth=0.8)
        ax.plot(a["estimate"], b["estimate"], marker, color=color, markersize=4)
        if len(x) <= 12 or gap:
            at = (a["estimate"], b["estimate"])
            ax.annotate(names.name("system", system), at, (4, 4 if above[system] else -9), textcoords="offset points", fontsize=6.5)
        said.append(f"{names.name('system', system)}: ratings {interval(*a[['estimate', 'ci_low', 'ci_high']])},"
                    f" votes {interval(*b[['estimate', 'ci_low', 'ci_high']])}")  # fmt: skip
    ax.set_ylim(-reach, reach)
    tips(ax, said, x["estimate"], y["estimate"])
    panel(ax, levels, names)
    title = board["who"] or board["label"]
    ax.set_title(fill(title, 25))
    return f"{title}: " + "; ".join(said)
