"""What has changed since a day or period that is not noise: strengths of systems in votes from then on, and before.

Each part of the votes has a fit of its own. Strengths are relative: what is compared is each system's distance from the
mean of the others that were in both parts, less those that are found to have changed, one at a time and at most half.
If most change alike, the rest seem to. Errors are added as if the parts had nothing in common; where voters or prompts
come again, intervals are too wide rather than too narrow. They hold for all systems of a board at once (Dunn 1961,
Journal of the American Statistical Association 56, 52-64).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from scipy.special import stdtr, stdtrit

from judgebook.annotations.cells import in_turn
from judgebook.annotations.periods import in_order, periods, why_unordered
from judgebook.annotations.population import Population
from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose
from judgebook.model import comparisons
from judgebook.model.fit import Fit
from judgebook.questions.comparisons.views import BOARD, surely, who_votes
from judgebook.questions.performance.fitted import CELL, LARGE, votes
from judgebook.study.labels import METHODS
from judgebook.study.results import Results
from judgebook.study.schema import Annotations

_PHRASES = Phrases(__package__)
#: why nothing is said of changes
UNTIMED, ONE_SIDED = "it is not known when all votes were given", "fewer than two systems have votes before and after"


def late(rows: Annotations, since: str) -> tuple[np.ndarray, str]:
    """(n,) which votes were given since then, and why that is not known, '' where it is."""
    when = periods(rows, "day")
    if when.isna().any():
        return np.zeros(len(rows), bool), UNTIMED
    names = [*when.unique()]
    if why := why_unordered({*names, since}):
        return np.zeros(len(rows), bool), why.rstrip(".")
    order = {name: i for i, name in enumerate(in_order([*names, since]))}
    return (when.map(order) >= order[since]).to_numpy(), ""


def rows(
    judged: Annotations, people: Mapping[tuple[str, str], Population], since: str | None, *, confidence: float = 0.95
) -> Iterator[dict[str, Any]]:
    """`strength_changed` of each system that has votes before and since; a note where nothing can be said.

    judged, people : as of `adjusted.boards`. since : a day such as 2026-11-01, or the first period; None: no rows.
    """
    for key, part in in_turn(judged, CELL) if since else ():
        head = dict(zip(CELL, key, strict=True)) | {"level": METHODS[key[1]].unit, "statistic": "strength_changed"}
        after, why = late(part, str(since))
        sides = [{*half["system"], *half["system_b"]} for half in (part[~after], part[after])]
        both = part["system"].isin(sides[0] & sides[1]) & part["system_b"].isin(sides[0] & sides[1])
        if why or not (both & after).any() or not (both & ~after).any():
            yield head | {"note": why or ONE_SIDED}
            continue
        others = people[head["corpus"], head["group"]].others
        before, now = (comparisons.fit(votes(part[both & half], people=others)) for half in (~after, after))
        yield from of_fits(before, now, head | {"n": int(both.sum()), "resample_unit": now.over}, confidence)


def of_fits(before: Fit, now: Fit, head: Mapping[str, Any], confidence: float) -> Iterator[dict[str, Any]]:
    """`strength_changed` of the systems of both."""
    systems = [s for s in before.systems if s in now.systems]
    m = len(systems)
    change, covariance, df = np.zeros(m), np.zeros((m, m)), LARGE
    for sign, fit in ((-1, before), (1, now)):
        at = np.array([fit.systems.index(s) for s in systems])
        change = change + sign * fit.levels.estimates[at]
        covariance += fit.levels.covariance[np.ix_(at, at)]
        df = min(df, float(np.min(fit.levels.df[fit.levels.pairs])))
    same = np.ones(m, bool)
    while True:
        others = same & ~np.eye(m, dtype=bool)
        against = np.eye(m) - others / others.sum(axis=1, keepdims=True)
        gap, se = against @ change, np.sqrt(np.diag(against @ covariance @ against.T))
        p = np.minimum(2 * m * stdtr(df, -np.abs(gap) / se), 1.0)
        first = int(np.argmin(np.where(same, p, np.inf)))
        if not p[first] < 1 - confidence or same.sum() <= max(2, m // 2):
            break
        same[first] = False
    half = se * stdtrit(df, 1 - (1 - confidence) / 2 / m)
    note = before.note or now.note or None
    for system, x, width, adjusted in zip(systems, gap, half, p, strict=True):
        row = {**head, "statistic": "strength_changed", "system": system, "note": note, "estimate": float(x)}
        known = bool(np.isfinite(width))
        ends = {"ci_low": x - width, "ci_high": x + width, "p_adjusted": adjusted} if known else {}
        yield row | ends | {"ci_kind": "simultaneous" if known else "not_estimable"}


def views(results: Results, names: DisplayNames, since: str | None) -> Iterator[Prose]:
    """Which systems changed by more than chance explains, by board."""
    changed, boards = results["strength_changed"], []
    for (_, part), who in zip(changed.groupby(BOARD, sort=False), who_votes(changed, names), strict=True):
        sure = part[surely(part)]
        told = [{"system": names.name("system", r["system"]), "row": r} for r in sure.to_dict("records")]
        why = part["note"].iloc[0] if part["estimate"].isna().all() else ""
        boards.append({"who": who, "changed": told, "why": why, "n": len(part)})
    if boards:
        yield Prose(_PHRASES.say("changed", boards=boards, since=since))
