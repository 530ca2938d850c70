"""Boards of votes as collected and at equal covariates: what decides votes besides the systems, and what that moves.

Covariates are columns in the model of the votes (`model.comparisons`), whose strengths are then those of systems that
are equal in them. All moves from one board to the other follow from the slopes of the covariates; so their intervals
are those of all moves at once that slopes within their joint confidence region lead to (Scheffé 1953, Biometrika
40, 87-104), of several boards at a level that is divided by their number (Bonferroni). If no covariate has an effect,
an interval excludes "no move" in at most 5% of studies. Effects have intervals of their own, and p-values that are
adjusted for all of a study.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import nan
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, stdtr, stdtrit

from judgebook.annotations.cells import adjust_rows, in_turn
from judgebook.annotations.population import Population
from judgebook.codes import distinct
from judgebook.model import comparisons
from judgebook.model.fit import SIDE, Fit, Slopes
from judgebook.questions.comparisons.measures import DIFFERENCES, OF_TEXTS, given, of_texts, ratio, sides
from judgebook.questions.performance.fitted import CELL, LARGE, votes
from judgebook.statistics.multiplicity import simultaneous_ranks
from judgebook.study.labels import METHODS
from judgebook.study.results import Results, collect
from judgebook.study.schema import Annotations, Dialogues

#: boards, as rows name them
COLLECTED, EQUAL = "as collected", "at equal covariates"
#: what effects hold for where errors have nothing of how they vary
THESE = "these prompts"
#: share of the votes for which a covariate has to be known; the others are left out then
KNOWN = 0.5
#: points of the confidence region of slopes that are tried, and the seed of their directions
_POINTS, _SEED = 4_000, 20261130


@dataclass(frozen=True)
class Measured:
    """What may be equal: name -> its values by corpus, dialogue and turn (`measures.of_texts`), `ratios` being those
    that count by how many times larger one is, and `side` whether that is asked for."""

    values: Mapping[str, pd.Series]
    ratios: Collection[str]
    side: bool


def measured(
    wanted: Sequence[str],
    ratios: Sequence[str],
    dialogues: Dialogues,
    metric_scores: pd.DataFrame,
    dialogue_facts: pd.DataFrame,
) -> Measured:
    """The covariates that a study asks for (`comparisons.covariates` and `comparisons.ratios`)."""
    values = {
        name: of_texts(dialogues, name) if name in OF_TEXTS else given(name, metric_scores, dialogue_facts)
        for name in wanted
        if name != SIDE
    }
    return Measured(values, {*OF_TEXTS, *ratios} - {*DIFFERENCES}, SIDE in wanted)


def in_order_shown(rows: Annotations) -> Annotations:
    """Votes with the answer that was shown first as their first, where that is known."""
    turned = (rows["first_shown"] == "right").fillna(False).to_numpy(bool)
    ends: dict[str, pd.Series] = {}
    for one, other in (("system", "system_b"), ("dialogue", "dialogue_b")):
        ends |= {one: rows[other].where(turned, rows[one]), other: rows[one].where(turned, rows[other])}
    return rows.assign(**ends, score=rows["score"].where(~turned, -rows["score"]))


def covariates(rows: Annotations, of: Measured) -> tuple[Annotations, dict[str, np.ndarray], dict[str, str]]:
    """Votes in the order shown, of which all covariates are known; these, of the first answer less the second; and why
    others are left out, by name."""
    rows, every = in_order_shown(rows), dict[str, np.ndarray]()
    if of.side:
        every[SIDE] = np.where(rows["first_shown"].notna(), 1.0, np.nan)
    for name, values in of.values.items():
        first, second = sides(rows, values)
        every[name] = ratio(first, second) if name in of.ratios else first - second
    known = {name: np.isfinite(x) for name, x in every.items()}
    found = {name: x for name, x in every.items() if known[name].mean() >= KNOWN}
    left_out = {
        name: f"it is known of {known[name].sum():,} of {len(rows):,} votes" for name in every if name not in found
    }
    whole = np.logical_and.reduce([known[name] for name in found]) if found else np.ones(len(rows), bool)
    return rows[whole], {name: x[whole] for name, x in found.items()}, left_out


def boards(
    judged: Annotations,
    of: Measured,
    people: Mapping[tuple[str, str], Population],
    *,
    confidence: float = 0.95,
) -> Results:
    """Rows of both boards, of what moved and of the effect of each covariate, for every label.

    judged : of `analysis.votes`. people : by corpus and group, whether annotators are a sample of others.
    """
    rows: list[dict[str, Any]] = []
    alone = 1 - (1 - confidence) / max(judged.groupby(CELL).ngroups, 1)
    effects = dict[tuple[str, ...], list[tuple[str, Slopes]]]()
    for key, part in in_turn(judged, CELL):
        head = dict(zip(CELL, key, strict=True)) | {"level": METHODS[key[1]].unit}
        kept, found, left_out = covariates(part, of)
        rows += [head | {"statistic": "covariate_effect", "covariate": c, "note": why} for c, why in left_out.items()]
        if len(kept) < len(part):
            rows.append(head | {"statistic": "votes_left_out", "estimate": len(part) - len(kept)})
        if not found or len(distinct(kept["system"], kept["system_b"])) < 2:
            continue
        plain = votes(kept, people=people[head["corpus"], head["group"]].others)
        both = comparisons.fit(plain), comparisons.fit(replace(plain, covariates=found))
        head |= {"n": len(kept), "n_annotators": both[1].n_annotators or None, "resample_unit": both[1].over}
        rows += of_boards(*both, head, confidence, alone)
        rows += of_effects(both[1], head, list(found), confidence)
        if both[1].slopes is not None:
            of_label = effects.setdefault((head["corpus"], head["method"], head["label"]), [])
            of_label.append((head["group"], both[1].slopes))
    results = collect(rows, between_groups(effects, confidence))
    for statistic in ("covariate_effect", "covariate_difference"):
        if len(results[statistic]):
            results[statistic] = adjust_rows(results[statistic], ["level"], "all covariates of all boards")
    return results


def of_boards(
    collected: Fit, equal: Fit, head: Mapping[str, Any], confidence: float, of_moves: float
) -> Iterator[dict[str, Any]]:
    """`board_strength` and `board_place` on either board; where there are slopes, `strength_moved` and `places_moved`
    with intervals at the level `of_moves`."""
    places = {}
    for name, fit in ((COLLECTED, collected), (EQUAL, equal)):
        d, levels = fit.levels.differences(confidence), fit.levels
        places[name], least, most = simultaneous_ranks(levels.estimates, d.decided)
        df = np.minimum(np.diag(levels.df), LARGE)
        half = stdtrit(df, (1 + confidence) / 2) * np.sqrt(np.diag(levels.covariance))
        for i, system in enumerate(fit.systems):
            row = {**head, "system": system, "board": name, "n_clusters": int(fit.sizes[i]), "note": fit.note or None}
            x, place = levels.estimates[i], places[name][i]
            yield row | {"statistic": "board_strength", "estimate": x, **ends_of(x - half[i], x + half[i], "t")}
            low, high = (least[i], most[i]) if levels.comparable else (nan, nan)
            yield row | {"statistic": "board_place", "estimate": place, **ends_of(low, high, "simultaneous")}
    if equal.slopes is None:
        return
    moved, moves = equal.slopes.moved, region(equal, of_moves)
    half = equal.slopes.radius(of_moves) * np.sqrt(np.diag(equal.slopes.moved_covariance))
    before = collected.levels.estimates
    reached = _places(before + moves) - _places(before)
    shown = places[EQUAL] - places[COLLECTED]
    least, most = np.minimum(reached.min(axis=0), shown), np.maximum(reached.max(axis=0), shown)
    for i, system in enumerate(equal.systems):
        row = {**head, "system": system}
        ends = ends_of(moved[i] - half[i], moved[i] + half[i], "scheffe")
        yield row | {"statistic": "strength_moved", "estimate": moved[i], **ends}
        # a place nearer to the first is a smaller number
        yield row | {
            "statistic": "places_moved",
            "estimate": 0.0 - shown[i],
            **ends_of(0.0 - most[i], 0.0 - least[i], "scheffe"),
        }


def region(fit: Fit, confidence: float) -> np.ndarray:
    """(points, s) moves of strengths to which slopes within their joint confidence region lead, "none" among them where
    slopes of 0 are within it."""
    slopes = fit.slopes
    if slopes is None:
        return np.zeros((1, len(fit.systems)))
    k, radius, rng = len(slopes.names), slopes.radius(confidence), np.random.default_rng(_SEED)
    values, vectors = np.linalg.eigh(slopes.moved_covariance)
    real = values[-k:] > 1e-12 * max(values[-1], 1e-12)
    spread, along = np.sqrt(values[-k:][real]), vectors[:, -k:][:, real]
    points = rng.normal(size=(_POINTS, len(spread)))
    points *= (radius * np.linspace(0, 1, _POINTS) / np.linalg.norm(points, axis=1))[:, None]
    none = np.linalg.norm(along.T @ slopes.moved / spread) <= radius
    moves: np.ndarray = slopes.moved + points * spread @ along.T
    return np.vstack([moves, 0 * moves[:1]]) if none else moves


def _places(strengths: np.ndarray) -> np.ndarray:
    """(…, s) places of systems, 1 the strongest."""
    order = np.argsort(-strengths, axis=-1, kind="stable")
    return np.argsort(order, axis=-1, kind="stable") + 1


def of_effects(fit: Fit, head: Mapping[str, Any], asked: Sequence[str], confidence: float) -> Iterator[dict[str, Any]]:
    """`covariate_effect` and `covariate_wins` of each covariate; a note where it is left out of the model."""
    slopes = fit.slopes
    names = () if slopes is None else slopes.names
    for c in (c for c in asked if c not in names):
        yield {**head, "statistic": "covariate_effect", "covariate": c, "note": fit.left_out.get(c, "not in the model")}
    if slopes is None:
        return
    row = {**head, "resample_unit": slopes.over or THESE}
    for c, x, half, p in zip(names, slopes.estimates, slopes.half_widths(confidence), slopes.p_values, strict=True):
        ends = np.array([x, x - half, x + half])
        yield {**row, "statistic": "covariate_effect", "covariate": c, "p_value": p, **_estimate(ends)}
        yield {**row, "statistic": "covariate_wins", "covariate": c, **_estimate(expit(ends))}


def between_groups(
    effects: Mapping[tuple[str, ...], list[tuple[str, Slopes]]], confidence: float
) -> Iterator[dict[str, Any]]:
    """`covariate_difference` of each covariate between the first group and each other one of a label.

    Errors are added as if groups had nothing in common. They judged the same answers, so that intervals are too wide
    rather than too narrow.
    """
    for (corpus, method, label), groups in effects.items():
        first, reference = groups[0]
        for (group, slopes), name in product(groups[1:], reference.names):
            if name not in slopes.names:
                continue
            (x, se, df), (y, other, fewer) = (
                (of.estimates[i], of.errors[i], of.df[i]) for of in (slopes, reference) for i in [of.names.index(name)]
            )
            gap, error, df = x - y, float(np.hypot(se, other)), min(df, fewer, LARGE)
            half, p = error * float(stdtrit(df, (1 + confidence) / 2)), 2 * float(stdtr(df, -abs(gap) / error))
            row = {"corpus": corpus, "method": method, "label": label, "group": group, "group_b": first}
            row |= {"statistic": "covariate_difference", "covariate": name, "level": METHODS[method].unit}
            yield row | {"p_value": p} | _estimate(np.array([gap, gap - half, gap + half]))


def _estimate(ends: np.ndarray) -> dict[str, Any]:
    return {"estimate": ends[0], **ends_of(ends[1], ends[2], "normal")}


def ends_of(low: float, high: float, kind: str) -> dict[str, Any]:
    known = bool(np.isfinite(low) and np.isfinite(high))
    return {"ci_low": low if known else nan, "ci_high": high if known else nan} | {
        "ci_kind": kind if known else "not_estimable"
    }
