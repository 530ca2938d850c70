"""What one fit of each label says: which system leads, by how much, how certainly, and how much depends on who judged.

Judgements of single items are means by annotator and dialogue, in a linear mixed model (`model.ratings`); comparisons
are votes in Davidson's model with random effects (`model.comparisons`). Order, differences, chances and shares of
variance all follow from the same estimates and covariance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import isfinite, nan, sqrt
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri, stdtrit

from judgebook.annotations.cells import in_turn
from judgebook.annotations.population import Population
from judgebook.annotations.scores import sampled
from judgebook.codes import distinct
from judgebook.model import comparisons, ratings
from judgebook.model.comparisons import Comparisons
from judgebook.model.contrasts import Differences, Levels
from judgebook.model.fit import Fit
from judgebook.model.judgements import Judgements, coded, crossed
from judgebook.questions.performance.overall import standardised, system_scores
from judgebook.study.labels import METHODS, Label
from judgebook.study.results import Results, collect
from judgebook.study.schema import SYSTEM_CELL

CELL = SYSTEM_CELL[:-1]
BLOCK = ["corpus", "method", "group"]
#: chance of telling two systems apart whose difference counts as detectable
POWER = 0.8
#: what several systems may share, the widest first
SHARED = ("session", "context")
FAMILY = "all pairs of systems, multivariate t"
#: times the data beyond which no number is given
MOST = 100
UNKNOWN, FAR = "the systems cannot be compared", f"more than {MOST} times the data"


def fitted(
    annotations: pd.DataFrame,
    labels: Iterable[Label],
    populations: Mapping[tuple[str, str], Population],
    wanted: str | Iterable[str] = (),
    *,
    confidence: float = 0.95,
) -> Results:
    """Rows of every label's fit, and of the overall one.

    Parameters
    ----------
    annotations : DataFrame
        Of ranked systems, from `analysis.chosen`.
    labels : iterable of Label
        Give directions; labels without one have no order, but differences.
    populations : mapping
        By corpus and group: whether annotators are a sample of others.
    wanted : "all" or iterable of str
        Labels whose standardised mean makes the overall order.
    """
    labels = list(labels)
    direction = {(x.method, x.id): x.direction for x in labels}
    entering = {x.id for x in labels if x.direction and (wanted == "all" or x.id in set(wanted))}
    rows: list[dict[str, Any]] = []
    for block, part in in_turn(annotations, BLOCK):
        others = populations[block[0], block[2]].others
        scores = []
        for key, of_label in in_turn(part, CELL):
            if len(distinct(of_label["system"], of_label["system_b"])) < 2:
                continue
            sign, head = direction.get((key[1], key[2]), 0), dict(zip(CELL, key, strict=True))
            rows += of_fit(fit(of_label, others=others), head, sign, confidence)
            if sign and key[2] in entering:
                scores.append((sign, of_label))
        if len(scores) > 1 and (one := overall(scores)) is not None:
            judgements, k = one
            head = dict(zip(BLOCK, block, strict=True)) | {"n": k}
            rows += of_fit(ratings.fit(judgements, others=others), head, 1, confidence)
    return collect(rows)


def fit(rows: pd.DataFrame, *, others: bool) -> Fit:
    """The model of one label's judgements. others : whether annotators are a sample."""
    if METHODS[rows["method"].iloc[0]].unit == "pair":
        return comparisons.fit(votes(rows, people=others))
    return ratings.fit(judgements(rows), others=others)


def judgements(rows: pd.DataFrame) -> Judgements:
    """Scores of single items: the mean over turns of each annotator and dialogue."""
    shared = next((c for c in SHARED if c in rows and rows[c].notna().all()), None)
    system, systems = coded(rows["system"])
    item, annotator = crossed(coded(rows["dialogue"])[0], system), coded(rows["annotator"])[0]
    place = crossed(item, annotator)
    first = np.unique(place, return_index=True)[1]
    score = np.bincount(place, rows["score"].to_numpy(float)) / np.bincount(place)
    weight = rows["sampling_weight"].fillna(1.0).to_numpy(float)[first] if sampled(rows) else None
    context = item if shared is None else coded(rows[shared])[0]
    people = annotator[first] if rows["annotator_known"].all() else None
    names = tuple(map(str, systems))
    return Judgements(names, system[first], item[first], context[first], people, score, weight)


def votes(rows: pd.DataFrame, *, people: bool) -> Comparisons:
    """Comparisons of two systems. people : whether annotators are a sample."""
    shared = next((c for c in ("context", "session") if c in rows and rows[c].notna().all()), None)
    both, systems = coded(pd.concat([rows["system"], rows["system_b"]], ignore_index=True))
    context = coded(rows[shared] if shared else rows["pair"])[0]
    annotator = coded(rows["annotator"])[0] if people else None
    weight = rows["sampling_weight"].fillna(1.0).to_numpy(float) if sampled(rows) else None
    names, n = tuple(map(str, systems)), len(rows)
    return Comparisons(names, both[:n], both[n:], rows["score"].to_numpy(float), context, annotator, weight)


def overall(scores: list[tuple[int, pd.DataFrame]]) -> tuple[Judgements, int] | None:
    """The mean of several labels for each annotator and dialogue, each in standard deviations of its items and turned
    so that more is better, and of how many labels; None where fewer than two vary and have all systems.

    scores : sign and judgements of each label. Comparisons count as what the two sides won.
    """
    systems = distinct(*(rows[side] for _, rows in scores for side in ("system", "system_b")))
    out = []
    for sign, rows in scores:
        one = standardised(system_scores(rows), sign)
        if one is not None and set(one["system"]) == systems:
            out.append(one)
    if len(out) < 2:
        return None
    return judgements(pd.concat(out, ignore_index=True)), len(out)


def of_fit(fit: Fit, head: Mapping[str, Any], sign: int, confidence: float) -> Iterator[dict[str, Any]]:
    """Rows of one fit: `contrast` for each pair of systems; with a direction `level`, `rank`, `lead`, `best_chance` and
    `data_to_separate`; `variance_share` of each part, and `order_reversal`. Those of an overall order begin with
    `overall_`.

    head : what identifies them; sign : 1 where more is better, -1 where less is, 0 where that is not said.
    """
    levels = fit.levels.reversed() if sign < 0 else fit.levels
    d, systems, name = levels.differences(confidence), fit.systems, "" if "label" in head else "overall_"
    head = {"level": METHODS[head["method"]].unit, **head, "resample_unit": fit.over}
    head |= {"n_annotators": fit.n_annotators}
    turn = -1 if sign < 0 else 1
    values = (turn * d.estimate, turn * d.low, turn * d.high, d.p_value, d.p_adjusted)
    for i, j, *each in zip(d.first, d.second, *values, strict=True):
        estimate, one, other, p, adjusted = map(float, each)
        row = {"system": systems[i], "system_b": systems[j], "estimate": estimate, "p_value": p, "p_adjusted": adjusted}
        ends = _interval(min(one, other), max(one, other), "simultaneous", fit.note)
        yield {**head, "statistic": f"{name}contrast", "family": FAMILY, **row, **ends}
    if sign:
        yield from _order(fit, levels, d, head, name, confidence)
        yield from _others(fit, levels, d, head, name)
    head |= {"n": fit.n}
    for part, share in fit.shares.items():
        low, high = fit.intervals.get(part, (nan, nan))
        row = {"part": part, "estimate": share, "ci_low": low, "ci_high": high}
        yield {**head, "statistic": f"{name}variance_share", **row, "ci_kind": "profile" if isfinite(low) else None}
    for part, reason in fit.left_out.items():
        yield {**head, "statistic": f"{name}variance_share", "part": part, "note": reason}


def _interval(low: float, high: float, kind: str, note: str) -> dict[str, Any]:
    known = isfinite(low) and isfinite(high)
    ends = {"ci_low": low, "ci_high": high} if known else {"ci_low": nan, "ci_high": nan}
    return ends | {"ci_kind": kind if known else "not_estimable", "note": note or (None if known else UNKNOWN)}


def _order(
    fit: Fit, levels: Levels, d: Differences, head: dict[str, Any], name: str, confidence: float
) -> Iterator[dict[str, Any]]:
    """`level`, `rank`, `lead` and `best_chance` of each system. levels : more being better."""
    m, x = len(levels), levels.estimates
    # a rank is at least one plus the systems that are better, at most those that are not worse (Mogstad et al. 2024,
    # Review of Economic Studies 91, 476-518, section 3.2)
    better, worse = np.zeros(m), np.zeros(m)
    np.add.at(better, np.where(d.estimate > 0, d.second, d.first), d.decided)
    np.add.at(worse, np.where(d.estimate > 0, d.first, d.second), d.decided)
    known, first = bool(np.isfinite(d.low).any()), int(np.argmax(x))
    rank = 1.0 + np.sum(x > x[:, None] + 1e-12, axis=1)
    low, high = np.full((m, m), nan), np.full((m, m), nan)
    low[d.first, d.second], high[d.first, d.second] = d.low, d.high
    low[d.second, d.first], high[d.second, d.first] = -d.high, -d.low
    half = stdtrit(np.minimum(np.diag(levels.df), 1e9), (1 + confidence) / 2) * np.sqrt(np.diag(levels.covariance))
    raw = fit.levels.estimates
    for i, system in enumerate(fit.systems):
        size = int(fit.sizes[i])
        row = {"n": size, **head, "system": system, "n_clusters": size}
        single = _interval(raw[i] - half[i], raw[i] + half[i], "t", fit.note)
        yield {**row, "statistic": f"{name}level", "estimate": raw[i], **single}
        ends = (
            _interval(1 + better[i], m - worse[i], "simultaneous", fit.note) if known else _interval(nan, nan, "", "")
        )
        yield {**row, "statistic": f"{name}rank", "estimate": rank[i], **ends}
        ends = _interval(low[first, i], high[first, i], "simultaneous", fit.note) if i != first else {}
        yield {**row, "statistic": f"{name}lead", "estimate": x[first] - x[i], **ends}
        yield {**row, "statistic": f"{name}best_chance", "estimate": levels.p_best[i]}


def _others(fit: Fit, levels: Levels, d: Differences, head: dict[str, Any], name: str) -> Iterator[dict[str, Any]]:
    """How much data would tell the first from the second, and how often others would turn them round.

    Two panels of annotators, or two studies, differ from the truth, of which nothing is known beforehand, by as much
    each: the difference of the other is normal around the observed one with twice the variance (Goodman 1992,
    Statistics in Medicine 11, 875-879).
    """
    one, two = np.argsort(-levels.estimates, kind="stable")[:2]
    k = int(np.flatnonzero((d.first == min(one, two)) & (d.second == max(one, two)))[0])
    pair = {**head, "system": fit.systems[one], "system_b": fit.systems[two]}
    gap, se = abs(float(d.estimate[k])), float(d.se[k])
    times = 1.0
    if not d.decided[k]:
        needed = (d.high[k] - d.low[k]) / 2 + ndtri(POWER) * se
        times = float((needed / gap) ** 2) if gap > 0 else nan
    far = not times <= MOST
    yield {
        **pair,
        "statistic": f"{name}data_to_separate",
        "estimate": nan if far else times,
        "note": FAR if far else None,
    }
    for who, variance in (("annotators", float(fit.people[k])), ("study", se**2)):
        if fit.others and variance > 0:
            chance = float(ndtr(-gap / sqrt(2 * variance)))
            yield {**pair, "statistic": f"{name}order_reversal", "part": who, "estimate": chance}
