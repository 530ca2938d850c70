"""Votes on pairs and ratings of the same systems: do they tell one story, and what do both together decide?

Strengths x by votes and levels y by ratings each come from a fit, with a covariance. If both measure one quality, y is
that quality with an error, and x is the slope g times it with another: g is the log odds of a win by one point more.
Both having errors, g is where the Mahalanobis distance of g y - x from 0 is least. With s systems that distance is
chi-square with s - 2 degrees of freedom if there is one quality; F allows for estimated variances. Intervals of g are
those of the likelihood ratio: without ends where systems hardly differ, and nothing is said of agreement then.

An answer that is good is rated well and wins, and people have tastes in both. Errors of x and y thus go together where
dialogues or people are the same; their correlation, one for all contrasts of systems, is estimated from what each
dialogue, and each annotator where these are a sample, adds to both. In simulated studies with one quality, 1 to 4% are
said to have two (fewest where answers vary much and have few votes each, of which the model of votes is cautious), and
94 to 96% of intervals of what both together say of two systems hold (`tests/questions/comparisons`). With three people
these were 93%, and hardly 90% of all at once: below `population.LEAST` people in common, nothing is combined.

References
----------
Fuller 1987, Measurement error models, sections 1.3 and 2.2. Fieller 1954, Journal of the Royal Statistical Society B
16, 175-185. Cameron, Gelbach and Miller 2011, Journal of Business and Economic Statistics 29, 238-249 (clusters of two
kinds). Dunn 1961, Journal of the American Statistical Association 56, 52-64 (all systems at once).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan, pi
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.linalg import helmert
from scipy.optimize import brentq, minimize_scalar
from scipy.special import expit, fdtrc, fdtri, stdtr, stdtrit

from judgebook.annotations import population
from judgebook.annotations.cells import adjust_rows, in_turn
from judgebook.codes import distinct
from judgebook.model import comparisons, ratings
from judgebook.model.comparisons import Comparisons, outcomes
from judgebook.model.contrasts import Levels, of_pairs
from judgebook.model.fit import Fit
from judgebook.questions.comparisons.adjusted import ends_of
from judgebook.questions.performance.fitted import LARGE, judgements, votes
from judgebook.study.results import Results, collect
from judgebook.study.schema import Annotations

#: fewer systems have no order that could differ by more than the slope
LEAST = 3
#: why nothing is said
FEW, APART = "fewer than three systems have both", "votes or ratings alone do not tell how uncertain they are"
#: angles that are tried at first
_ANGLES = 180
PLACE, KIND = ["corpus", "group"], ["method", "label"]
#: what identifies a comparison of votes and ratings: `label_b` and `rated` are label and method of the latter
KEYS = [*PLACE, *KIND, "label_b", "rated"]
#: evidence, as rows name it
VOTES, RATINGS, BOTH = "votes", "ratings", "both"


@dataclass(frozen=True)
class OneQuality:
    """Votes and ratings of s systems as measurements of one quality.

    slope : log odds of a win by a point more; low, high : its interval, NaN without ends. statistic, p_value : of the
    distance from one quality over its degrees of freedom. beyond, half : (s,) points by which systems are rated higher
    than their votes say, against systems of which both agree, and half-widths of simultaneous intervals; p_adjusted :
    (s,) of these. quality : of the systems by both, in points at the estimated slope, or None where that may be 0 or
    below.
    """

    slope: float
    low: float
    high: float
    statistic: float
    p_value: float
    beyond: np.ndarray
    half: np.ndarray
    p_adjusted: np.ndarray
    quality: Levels | None


#: x, y and their covariances with themselves and each other
_Both = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


class _Line:
    """The line of largest likelihood through x and y, of which `b` (k, s) takes contrasts. Angles are those of slopes,
    in units in which both have errors of one size: pi / 2 stands for ratings that are all the same."""

    def __init__(self, both: _Both, b: np.ndarray):
        x, y, cx, cy, cxy = both
        self.x, self.y, self.cx, self.cy, self.cxy = b @ x, b @ y, b @ cx @ b.T, b @ cy @ b.T, b @ cxy @ b.T
        self.unit = float(np.sqrt(np.trace(self.cx) / np.trace(self.cy)))
        tried = (np.arange(_ANGLES) + 0.5) * pi / _ANGLES - pi / 2
        near = tried[np.argmin(self.distance(tried))]
        bounds = near - pi / _ANGLES, near + pi / _ANGLES
        self.angle = float(minimize_scalar(self._at, bounds=bounds, method="bounded", options={"xatol": 1e-9}).x)
        self.least, self.slope = self._at(self.angle), float(np.tan(self.angle)) * self.unit
        rest = self.slope * self.y - self.x
        theta = self.x - (self.slope * self.cxy - self.cx) @ np.linalg.solve(self.spread(self.slope, 1.0), rest)
        self.quality = theta / self.slope  # (k,) contrasts, in points

    def spread(self, of_y: np.ndarray | float, of_x: np.ndarray | float) -> np.ndarray:
        """(…, k, k) covariance of what is left of y and x by these factors (…, 1, 1)."""
        return np.asarray(of_y**2 * self.cy + of_x**2 * self.cx - of_y * of_x * (self.cxy + self.cxy.T))

    def distance(self, angle: np.ndarray) -> np.ndarray:
        """(angles,) squared distances from 0 of what is left."""
        of_y, of_x = (np.sin(angle) * self.unit)[:, None], np.cos(angle)[:, None]
        rest = of_y * self.y - of_x * self.x
        solved = np.linalg.solve(self.spread(of_y[..., None], of_x[..., None]), rest[..., None])
        return np.asarray((rest * solved[..., 0]).sum(axis=1))

    def _at(self, angle: float) -> float:
        return float(self.distance(np.array([angle]))[0])

    def interval(self, df: float, confidence: float) -> tuple[float, float]:
        """Of the slope; NaN where one of its ends is beyond any number."""
        allowed, ends = self.least + fdtri(1, df, confidence), []
        for sign in (-1, 1):
            steps = self.angle + sign * np.linspace(0, pi / 2, _ANGLES)
            first = int(np.argmax(self.distance(steps) > allowed))
            if not first:
                return nan, nan
            ends.append(brentq(lambda angle: self._at(angle) - allowed, steps[first - 1], steps[first]))
        low, high = np.tan(ends) * self.unit
        return (float(low), float(high)) if max(-ends[0], ends[1]) < pi / 2 else (nan, nan)

    def covariance(self) -> np.ndarray:
        """(k, k) of `quality`, the angle being estimated: along the line, where that changes least."""
        sin, cos, one = np.sin(self.angle), np.cos(self.angle), np.eye(len(self.x))
        whole = np.block([[self.cx, self.cxy], [self.cxy.T, self.cy]])
        turned = (self.quality / cos)[:, None] * [[cos * self.unit, -sin]]
        slopes = np.block([[sin * self.unit * one, turned[:, :1]], [cos * one, turned[:, 1:]]])
        return np.asarray(cos**2 * np.linalg.inv(slopes.T @ np.linalg.solve(whole, slopes))[:-1, :-1])


def together(by_votes: Levels, by_ratings: Levels, shared: float, confidence: float = 0.95) -> OneQuality:
    """What follows from levels of the same systems, LEAST or more. shared : correlation of their errors (`in_common`).

    Systems that are not where votes say are left out of the line one at a time, as long as most of them are on it.
    """
    s, pairs = len(by_votes), by_votes.pairs
    centre = np.eye(s) - 1 / s
    cx, cy = (centre @ of.covariance @ centre for of in (by_votes, by_ratings))
    both = (by_votes.estimates, by_ratings.estimates, cx, cy, shared * _root(cx) @ _root(cy))
    line = _Line(both, helmert(s))
    vx, vy = of_pairs(cx), line.slope**2 * of_pairs(cy)
    one, two = (1 / np.minimum(of.df[pairs], LARGE) for of in (by_votes, by_ratings))
    # Satterthwaite: of a sum of variances each counts by its share, of a weighted mean by its weight; the variances
    # themselves correlate by the square of the errors' correlation
    df, combined = (
        1 / (w**2 * one + (1 - w) ** 2 * two + 2 * w * (1 - w) * shared**2 * np.sqrt(one * two))
        for w in (vx / (vx + vy), vy / (vx + vy))
    )
    median = float(np.median(df))
    low, high = line.interval(median, confidence)
    statistic, quality = line.least / (s - 2), None
    if low > 0:
        whole = np.full((s, s), LARGE)
        whole[pairs] = whole[pairs[::-1]] = combined
        b = helmert(s)
        quality = replace(by_ratings, estimates=b.T @ line.quality, covariance=b.T @ line.covariance() @ b, df=whole)
    same = np.ones(s, bool)
    while True:
        beyond, half, p = _beyond(both, same, median, confidence)
        first = int(np.argmin(np.where(same, p, np.inf)))
        if not p[first] < 1 - confidence or same.sum() <= max(LEAST, s // 2 + 1):
            break
        same[first] = False
    p_value = float(fdtrc(s - 2, median, statistic))
    return OneQuality(line.slope, low, high, statistic, p_value, beyond, half, p, quality)


def _beyond(both: _Both, same: np.ndarray, df: float, confidence: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(s,) points above what votes say, half-widths and p-values; the line is that of systems which are the `same`."""
    x, y, cx, cy, cxy = both
    s, b = len(x), np.zeros((same.sum() - 1, len(x)))
    b[:, same] = helmert(int(same.sum()))
    line, others = _Line(both, b), same & ~np.eye(s, dtype=bool)
    g, against = line.slope, np.eye(s) - others / others.sum(axis=1, keepdims=True)
    spread = g**2 * cy + cx - g * (cxy + cxy.T)
    at = np.where(same, line.quality @ b + y[same].mean(), y)
    weight = np.linalg.solve(b @ spread @ b.T, line.quality)
    moved = against - np.outer(against @ at, weight @ b) / (line.quality @ weight)  # by the slope's own error
    gap, se = against @ (g * y - x) / g, np.sqrt(np.diag(moved @ spread @ moved.T)) / abs(g)
    p = np.minimum(2 * s * stdtr(df, -np.abs(gap) / se), 1.0)
    return gap, se * stdtrit(df, 1 - (1 - confidence) / 2 / s), p


def in_common(rated: Annotations, by_ratings: Fit, voted: Annotations, made: Comparisons, by_votes: Fit) -> float:
    """Correlation of the errors of levels by ratings and by votes, the mean over all contrasts of systems.

    What a vote adds to strengths is its score in a model of the votes alone times the covariance there, and what a
    rating adds its residual over their number. Summed by dialogue and by annotator, their products estimate a
    covariance (Cameron, Gelbach and Miller 2011).
    """
    plain = comparisons.fit(replace(made, context=np.arange(len(made)), annotator=None))
    x, n, s = plain.levels.estimates, len(made), len(made.systems)
    won, _, lost = outcomes(x[made.first] - x[made.second], plain.log_nu or 0.0)
    score, rows = (made.score - (won - lost)) / 2, np.arange(n)
    entries = np.r_[score, -score], (np.r_[rows, rows], np.r_[made.first, made.second])
    of_votes = sparse.csr_array(entries, shape=(n, s))
    scale = (x @ by_votes.levels.estimates) / max(x @ x, 1e-12)
    means = rated.groupby(["system", "dialogue", "annotator"], observed=True)["score"].mean().reset_index()
    code = means["system"].astype(str).map({name: i for i, name in enumerate(by_ratings.systems)}).to_numpy()
    rest, size = means["score"] - means.groupby("system", observed=True)["score"].transform("mean"), np.bincount(code)
    if rated["annotator_known"].all():
        rest -= rest.groupby(means["annotator"], observed=True).transform("mean")
    of_ratings = sparse.csr_array((rest / size[code], (np.arange(len(rest)), code)), shape=(len(rest), len(size)))
    dialogue, who, judge = (means["dialogue"], means["annotator"], voted["annotator"])
    dialogue, who, judge = (of.astype(str).to_numpy(object) for of in (dialogue, who, judge))
    twice, sides = sparse.vstack([of_votes, of_votes]), np.r_[voted["dialogue"], voted["dialogue_b"]].astype(str)
    sides = sides.astype(object)
    met, units = _met(twice, sides, of_ratings, dialogue), len(set(dialogue))
    if by_votes.others and by_ratings.others:
        met += _met(of_votes, judge, of_ratings, who)
        met -= _met(twice, sides + "\0" + np.r_[judge, judge], of_ratings, dialogue + "\0" + who)
        units = len({*who})
    names = [name for name in by_votes.systems if name in by_ratings.systems]
    at, to = ([fit.systems.index(name) for name in names] for fit in (by_votes, by_ratings))
    covariance = scale * units / (units - 1) * (plain.levels.covariance @ met)[np.ix_(at, to)]
    b = helmert(len(names))
    x_root, y_root = (_root(b @ f.levels.covariance[np.ix_(i, i)] @ b.T) for f, i in ((by_votes, at), (by_ratings, to)))
    between = np.linalg.solve(x_root, b @ covariance @ b.T) @ np.linalg.inv(y_root)
    return float(np.clip(np.trace(between) / len(b), -0.9, 0.9))


def _met(x: sparse.csr_array, of_x: np.ndarray, y: sparse.csr_array, of_y: np.ndarray) -> np.ndarray:
    """Sum over units, such as dialogues, of products of what the votes and the ratings of a unit add."""
    code, units = pd.factorize(np.r_[of_x, of_y])
    sums = []
    for each, at in ((x, code[: len(of_x)]), (y, code[len(of_x) :])):
        entries = np.ones(len(at)), (at, np.arange(len(at)))
        sums.append(sparse.csr_array(entries, shape=(len(units), len(at))) @ each)
    return np.asarray((sums[0].T @ sums[1]).toarray())


def _root(m: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(m)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


def rows(judged: Annotations, rated: Annotations, inference: str = "auto", *, confidence: float = 0.95) -> Results:
    """Results for each label of votes and the ratings of that name by the same group; where no names are the same, of
    the only labels of both kinds. judged, rated : of `analysis.votes` and
    `analysis.rated`. inference : of `population.modelled`."""
    out = list[dict[str, Any]]()
    if rated.empty:
        return Results()
    voters, raters = (population.modelled(each, inference) for each in (judged, rated))
    for place, every in in_turn(judged, PLACE):
        of_votes = list(in_turn(every, KIND))
        of_ratings = list(in_turn(rated[(rated[PLACE] == [*place]).all(axis=1)], KIND))
        only = len(of_votes) == len(of_ratings) == 1
        for (method, label), part in of_votes:
            head = dict(zip(PLACE, place, strict=True)) | {"method": method, "label": label, "level": "pair"}
            for (by, other), of in of_ratings:
                if (label == other or only) and min(len(distinct(r["system"], r["system_b"])) for r in (part, of)) > 1:
                    people = voters[place].others, raters[place].others
                    out += _of_board(part, of, people, head | {"label_b": other, "rated": by}, confidence)
    results = collect(out)
    if len(results["one_quality"]):
        results["one_quality"] = adjust_rows(results["one_quality"], ["level"], "all votes and ratings")
    return results


def _of_board(
    voted: Annotations, rated: Annotations, people: tuple[bool, bool], head: Mapping[str, Any], confidence: float
) -> Iterator[dict[str, Any]]:
    made = votes(voted, people=people[0])
    fits = by_votes, by_ratings = comparisons.fit(made), ratings.fit(judgements(rated), others=people[1])
    systems = [name for name in by_votes.systems if name in by_ratings.systems]
    known = all(not fit.note and np.isfinite(fit.levels.covariance).all() for fit in fits)
    row = {**head, "statistic": "one_quality", "n": len(systems)}
    if not known or len(systems) < LEAST:
        yield row | {"note": FEW if known else APART}
        return
    shared = in_common(rated, by_ratings, voted, made, by_votes)
    levels = {}
    for name, fit in zip((VOTES, RATINGS), fits, strict=True):
        at = [fit.systems.index(system) for system in systems]
        of, ix = fit.levels, np.ix_(at, at)
        levels[name] = replace(of, estimates=of.estimates[at], covariance=of.covariance[ix], df=of.df[ix])
    found = together(levels[VOTES], levels[RATINGS], shared, confidence)
    yield row | {"estimate": found.statistic, "p_value": found.p_value}
    yield {**head, "statistic": "errors_in_common", "estimate": shared}
    wins = {"estimate": expit(found.slope), **ends_of(expit(found.low), expit(found.high), "profile")}
    yield {**head, "statistic": "wins_by_rating", **wins}
    for i, system in enumerate(systems):
        gap, half = found.beyond[i], found.half[i]
        one = {"system": system, "estimate": gap, "p_adjusted": found.p_adjusted[i]}
        yield {**head, "statistic": "rated_beyond_votes", **one, **ends_of(gap - half, gap + half, "simultaneous")}
    same = {*voted["annotator"]} & {*rated["annotator"]}
    if found.quality and not (all(people) and 0 < len(same) < population.LEAST):
        levels[BOTH] = found.quality
    for evidence, of in levels.items():
        yield from _told(of, systems, {**head, "evidence": evidence}, confidence)


def _told(of: Levels, systems: Sequence[str], head: Mapping[str, Any], confidence: float) -> Iterator[dict[str, Any]]:
    """`evidence_level` of each system less their mean, and `evidence_contrast` of each pair."""
    d, centre = of.differences(confidence), np.eye(len(of)) - 1 / len(of)
    x, error = centre @ of.estimates, np.sqrt(np.diag(centre @ of.covariance @ centre))
    half = error * stdtrit(np.minimum(np.median(d.df), LARGE), (1 + confidence) / 2)
    for system, one, width in zip(systems, x, half, strict=True):
        ends = ends_of(one - width, one + width, "t")
        yield {**head, "statistic": "evidence_level", "system": system, "estimate": one, **ends}
    for i, j, gap, low, high, p in zip(d.first, d.second, d.estimate, d.low, d.high, d.p_adjusted, strict=True):
        pair = {"system": systems[i], "system_b": systems[j], "estimate": gap, "p_adjusted": p}
        yield {**head, "statistic": "evidence_contrast", **pair, **ends_of(low, high, "simultaneous")}
