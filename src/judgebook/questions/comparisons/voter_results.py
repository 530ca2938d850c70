"""Rows of notebook 19 about who voted: doubtful voters, the board without them, what would change the first place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judgebook.annotations.cells import in_turn
from judgebook.model.comparisons import Comparisons
from judgebook.model.fit import SIDE, coded
from judgebook.questions.comparisons.adjusted import in_order_shown
from judgebook.questions.comparisons.first_place import first_place
from judgebook.questions.comparisons.voters import CAREFUL, ONE, places, voters, without
from judgebook.questions.performance.fitted import CELL, votes
from judgebook.study.labels import METHODS
from judgebook.study.schema import Annotations

#: kinds of voters besides those of `voters`; boards; what changes the first place
COPY, BURST = "copy", "burst"
EVERYBODY, REST = "all voters", "without doubtful voters"
ADDED, TURNED, LEFT_OUT = "votes added", "votes turned", "voters left out"
#: votes in a row whose time counts, and the share of that of quick votes below which it is far too short
ROW, QUICK = 10, 0.2
#: voters, at least, of whom any is called doubtful: of 8 or fewer careful ones, whose tastes differ much, 3 to 6% were
LEAST = 12


def rows(judged: Annotations) -> Iterator[dict[str, Any]]:
    """`voter_doubt`, `voters_doubtful`, `votes_doubtful`, `voter_place`, `voter_burst`, `votes_needed` and
    `decisive_voter` of each label. judged : of `analysis.votes`; voters count where all are people who are known, for
    doubts where they are LEAST or more."""
    for key, part in in_turn(judged, CELL):
        part, sided = in_order_shown(part), bool(part["first_shown"].notna().all())
        names = coded(part["annotator"])[1]
        known = len(names) > 1 and bool((part["annotator_known"] & (part["annotator_kind"] == "human")).all())
        c = votes(part, people=known)
        if len(c.systems) < 2:
            continue
        c = replace(c, covariates={SIDE: np.ones(len(c))} if sided else {})
        head = dict(zip(CELL, key, strict=True)) | {"level": METHODS[key[1]].unit}
        yield from (head | row for row in _needed(c, names))
        if known and len(names) >= LEAST:
            yield from (head | row for row in _doubtful(c, names))
        if known:
            yield from (head | row for row in bursts(part))


def _doubtful(c: Comparisons, names: np.ndarray) -> Iterator[dict[str, Any]]:
    found, cast = voters(c), np.bincount(np.asarray(c.annotator))
    kinds = np.where(found.copies >= 0, COPY, found.kind)
    for v in np.flatnonzero(found.flagged):
        row = {"statistic": "voter_doubt", "annotator": names[v], "kind": kinds[v], "estimate": found.doubtful[v]}
        row |= {"n": int(cast[v]), "annotator_b": names[found.copies[v]] if kinds[v] == COPY else None}
        if kinds[v] == ONE:
            row |= {"system": c.systems[found.system[v]], "favour": "for" if found.in_favour[v] else "against"}
        yield row
    for kind in sorted({*kinds} - {CAREFUL}):
        yield {"statistic": "voters_doubtful", "kind": kind, "estimate": float(sum(kinds == kind)), "n": len(names)}
    share = float(cast[found.flagged].sum() / cast.sum())
    yield {"statistic": "votes_doubtful", "estimate": share, "n": len(c), "n_annotators": len(names)}
    if 0 < share < 1:
        boards = {EVERYBODY: places(c), REST: places(without(c, found.flagged))}
        for board, of in boards.items():
            for system, place in zip(c.systems, of, strict=True):
                yield {"statistic": "voter_place", "board": board, "system": system, "estimate": float(place)}


def _needed(c: Comparisons, names: np.ndarray) -> Iterator[dict[str, Any]]:
    found = first_place(c)
    numbers = {ADDED: (found.added, found.by_added), TURNED: (found.turned, found.by_turned)}
    if found.voters is not None:
        numbers[LEFT_OUT] = found.left_out, None
        for v in found.voters:
            yield {"statistic": "decisive_voter", "annotator": names[v], "estimate": 1.0}
    for what, (n, by) in numbers.items():
        row: dict[str, Any] = {"statistic": "votes_needed", "what": what, "system": c.systems[found.first]}
        row |= {
            "estimate": np.nan if n is None else float(n),
            "n": len(c),
            "note": "no number is enough" if n is None else None,
        }
        yield row | {"system_b": None if by is None else c.systems[by]}


def bursts(part: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Voters who once cast ROW votes in a row in less than QUICK of the time that quick ones take: those that are
    quicker than three in four of all votes. part : votes by one label.

    In simulations, in which voters pause for days and one votes much, 0 to 2% of studies without bursts had any, and
    rows of a vote every two seconds, where others take forty, were always found; an outlier test finds few of these.
    """
    timed = part[part["completed_at"].notna()].sort_values("completed_at", kind="stable")
    times = timed.groupby("annotator")["completed_at"]
    seconds = (
        (times.shift(1 - ROW) - timed["completed_at"]).dt.total_seconds().groupby(timed["annotator"]).min().dropna()
    )
    if len(seconds) < ROW or (seconds == 0).mean() > 0.5:  # times of days, or of batches
        return
    usual = times.diff().dt.total_seconds().quantile(0.25)
    for who, value in seconds[seconds < QUICK * (ROW - 1) * usual].items():
        yield {"statistic": "voter_burst", "annotator": who, "estimate": value, "n": len(seconds)}
