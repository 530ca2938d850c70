"""Three claims of Finch, Finch and Choi 2024, section 5, on groups of annotators.

They compare methods by eye (Figure 1: "Likert evaluations are more robust to group changes"), and find the smallest
differences for Con and Inf between two external groups ("objectivity favors external point-of-view"). In `robustness`
each comparison has an interval that resamples sessions jointly over methods, labels and groups, and a second one that
resamples annotators as well. Cohen's d of ratings and h of win shares are different scales, so besides the difference
of effects there is a measure without a scale, how effects correlate between groups. A method with fewer judgements
differs more between groups by noise alone, so both are corrected for noise.

They also suppose that the ratings of developers "in the cases of disagreement were more extreme": `extremes`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pandas as pd

from judgebook.questions.groups.effects import (
    KEY,
    MANY_PAIRS,
    MOST_RESAMPLES,
    LabelScores,
    all_pairs,
    label_scores,
    pair_effects,
    unit_sums,
)
from judgebook.statistics.intervals import Replicates, Sampling, generator
from judgebook.statistics.resampling import replicate_sums, replicate_two_way
from judgebook.study.labels import METHODS, Label
from judgebook.study.schema import ITEM, Annotations

#: what is said of the effects of two groups
MEASURES = ("difference", "correlation")
#: pairs of systems of each label that are compared where there are very many
MOST_KEPT = 190
#: labels of a method: those that the other method has as well, or those that the study calls objective, and the others
SHARED, OBJECTIVE, OTHER = "shared", "objective", "other"
Rows = Iterator[dict[str, Any]]


def robustness(
    annotations: Annotations,
    *,
    sampling: Sampling,
    objective: Collection[str] = (),
    people_resamples: int = 1_000,
) -> Rows:
    """How much two groups differ under each of two methods, on objective labels and the others, and the contrasts.

    Parameters
    ----------
    annotations : DataFrame
        One annotation per item and group (or a mean), with the session of each. Where sessions are unknown, a dialogue
        and a pair that holds it are resampled as if independent.
    objective : collection of str
        Labels whose scores leave less to taste, for the second comparison: the paper names Con and Inf after seeing
        the results, so it is post hoc.
    sampling : Sampling
        Of sessions.
    people_resamples : int
        Resamples of sessions and annotators, for labels whose annotators are all known people.

    Returns
    -------
    Rows of `robustness` by pair of groups (where there are several, also over all of them, without groups), method and
    `labels`, and of `robustness_contrast`: the method minus the one it is held `against`, or objective labels minus the
    others.
    `of` is difference (root mean squared difference of effects between the groups, without the noise) or correlation
    (of effects, about 0 and without the noise).

    Notes
    -----
    For effects e and f of two groups with sampling variances v, w and covariance c (jackknife over sessions; for the
    second interval the variance of the resamples), sums over labels and pairs of systems:
    difference = sqrt(mean((e - f)² - v - w + 2c)), 0 where that is negative; correlation =
    sum(ef - c) / sqrt(sum(e² - v) sum(f² - w)), undefined where a sum is not positive. An effect and its reverse are
    the same fact, so neither is centred. A resample adds as much noise again, so there the correction is twice as
    large. The percentile intervals of the difference cover 94% to 100% (`tests/questions/groups`): they are too wide
    where groups hardly differ.
    """
    for corpus, part in annotations.groupby("corpus", sort=False):
        all_known = part["annotator_known"] & (part["annotator_kind"] == "human")
        all_known = all_known.groupby([part[c] for c in KEY]).transform("all")
        ways = ((part, "over_sessions", sampling.n_resamples), (part[all_known], "over_people", people_resamples))
        for rows, way, n in ways:
            joint = _Joint(list(label_scores(rows)), sampling.seed)
            comparisons = [*_methods(joint), *_objective(joint, objective)]
            if comparisons:
                n = min(n, MOST_RESAMPLES) if joint.many else n
                replicates = getattr(joint, way)(sampling.stream("robustness", way, corpus), n)
                note = f"of {MOST_KEPT} random pairs of systems of each label" if joint.many else ""
                for row in _rows(comparisons, replicates, sampling.confidence):
                    yield row | {"note": "; ".join(filter(None, [note, row["note"]])) or None}


class _Joint:
    """The effects of all labels of a corpus as one vector, groups after each other: (groups * effects,).

    With more than MANY_PAIRS pairs of systems and labels (`many`), those of MOST_KEPT random pairs of each label.
    """

    def __init__(self, ones: Sequence[LabelScores], seed: int):
        self.ones = ones
        self.groups = sorted({g for one in ones for g in one.groups})
        self.many = sum(comb(len(one.systems), 2) for one in ones) > MANY_PAIRS
        self.pairs = [all_pairs(len(one.systems)) for one in ones]
        if self.many:
            # the same of all labels with as many systems
            rngs = [generator(seed, "robustness", "pairs", str(len(i))) for i, _ in self.pairs]
            chosen = [
                np.sort(rng.permutation(len(i))[:MOST_KEPT]) for rng, (i, _) in zip(rngs, self.pairs, strict=True)
            ]
            self.pairs = [(i[at], j[at]) for at, (i, j) in zip(chosen, self.pairs, strict=True)]
        pairs = [(one, len(i)) for one, (i, _) in zip(ones, self.pairs, strict=True)]
        self.of = pd.DataFrame(
            [(one.key[0], one.key[1], one.key[2], frozenset(one.groups)) for one, n in pairs for _ in range(n)],
            columns=["corpus", "method", "label", "groups"],
        )

    def columns(self, group: str, chosen: np.ndarray) -> np.ndarray:
        """Where the chosen effects (indices) of a group stand in the vector."""
        return self.groups.index(group) * len(self.of) + chosen

    def sums(self, units: Callable[[pd.DataFrame], pd.Series]) -> tuple[np.ndarray, np.ndarray]:
        """The units of all labels (u,), and their sums (u, q), zero where a unit has no score of a label."""
        parts = []
        for one in self.ones:
            scores = one.scores.dropna(subset="score")
            names, sums = unit_sums(scores, units(scores), self.groups, one.systems)
            parts.append(pd.DataFrame(sums.reshape(len(names), -1), index=names))
        wide = pd.concat(parts, axis=1).fillna(0.0)
        return wide.index.to_numpy(str), wide.to_numpy(float)

    def effects(self, sums: np.ndarray) -> np.ndarray:
        """(k, q) sums give (k, groups * effects)."""
        out, start = [], 0
        for one, pairs in zip(self.ones, self.pairs, strict=True):
            shape = (len(self.groups), len(one.systems), 3)
            end = start + int(np.prod(shape))
            out.append(pair_effects(sums[:, start:end].reshape(-1, *shape), one.effect, pairs))
            start = end
        return np.concatenate(out, axis=2).reshape(len(sums), -1)

    def over_sessions(self, rng: np.random.Generator, n_resamples: int) -> Replicates:
        _, rows = self.sums(lambda scores: scores["session"])
        return replicate_sums(rows, self.effects, unit="session", rng=rng, n_resamples=n_resamples)

    def over_people(self, rng: np.random.Generator, n_resamples: int) -> Replicates:
        cells, rows = self.sums(lambda scores: scores["session"].astype(str) + "\x1f" + scores["annotator"].astype(str))
        # a session may be a pair of dialogues, joined the same way
        ends = np.array([cell.rsplit("\x1f", 1) for cell in cells])
        (sessions, u), (people, a) = (np.unique(column, return_inverse=True) for column in ends.T)
        homes = pd.concat([one.scores for one in self.ones]).drop_duplicates("annotator")
        return replicate_two_way(
            len(sessions),
            len(people),
            lambda w, v: self.effects((w[:, u] * v[:, a]) @ rows),
            rng=rng,
            unit="session and annotator",
            strata=homes.set_index("annotator")["group"].loc[people].to_numpy(str),
            n_resamples=n_resamples,
            width=3 * len(cells) + rows.shape[1],
        )


@dataclass(frozen=True)
class _Side:
    """What two groups (or several pairs of groups, one after the other) think of the same effects.

    keys : columns of its rows. first, second : (m,) where the effects of either group stand in the vector of `_Joint`.
    """

    keys: dict[str, Any]
    first: np.ndarray
    second: np.ndarray

    def measures(self, effects: np.ndarray, noise: _Noise, times: int) -> np.ndarray:
        """(k, all) effects give (k, 2): MEASURES, corrected for `times` the noise."""
        e, f = effects[:, self.first], effects[:, self.second]
        v, w, c = (times * noise(*at) for at in self._at)
        square = ((e - f) ** 2 - v - w + 2 * c).mean(axis=1)
        scale = np.stack([(e**2 - v).sum(axis=1), (f**2 - w).sum(axis=1)])
        with np.errstate(invalid="ignore", divide="ignore"):
            correlation = (e * f - c).sum(axis=1) / np.sqrt(np.prod(np.where(scale > 0, scale, np.nan), axis=0))
        return np.stack([np.sqrt(np.maximum(square, 0)), correlation], axis=1)

    @cached_property
    def _at(self) -> list[tuple[np.ndarray, np.ndarray]]:
        return [(self.first, self.first), (self.second, self.second), (self.first, self.second)]


@dataclass(frozen=True)
class _Noise:
    """Sampling covariances of effects: products of `centred` (k, all) added up, times `factor`."""

    centred: np.ndarray
    factor: float

    @classmethod
    def of(cls, replicates: Replicates) -> _Noise:
        if replicates.jackknife is None:
            # where few people judged, some lack a system
            centred = np.nan_to_num(replicates.values - np.nanmean(replicates.values, axis=0))
            return cls(centred, 1 / (len(centred) - 1))
        n = len(replicates.jackknife)
        return cls(replicates.jackknife - replicates.jackknife.mean(axis=0), (n - 1) / n)

    def __call__(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        return self.factor * np.einsum("km,km->m", self.centred[:, i], self.centred[:, j])


def _methods(joint: _Joint) -> Iterator[tuple[_Side, _Side]]:
    """Each two methods on the labels that both have, for each two groups that judged them under both."""
    of = joint.of
    methods = [m for m in METHODS if (of["method"] == m).any()]
    for first, second in combinations(methods, 2):
        shared = set(of.loc[of["method"] == first, "label"]) & set(of.loc[of["method"] == second, "label"])
        chosen = [((of["method"] == m) & of["label"].isin(shared)).to_numpy() for m in (second, first)]
        keys = [{"method": m, "against": n, "labels": SHARED} for m, n in ((second, first), (first, second))]
        yield from _pairs(joint, chosen, keys)


def _objective(joint: _Joint, objective: Collection[str]) -> Iterator[tuple[_Side, _Side]]:
    """The objective labels of each method against its others."""
    inside = joint.of["label"].isin(list(objective)).to_numpy()
    for method in dict.fromkeys(joint.of["method"]):
        of_method = (joint.of["method"] == method).to_numpy()
        ends = ((OBJECTIVE, OTHER), (OTHER, OBJECTIVE))
        keys = [{"method": method, "against": other, "labels": name} for name, other in ends]
        yield from _pairs(joint, [of_method & inside, of_method & ~inside], keys)


def _pairs(
    joint: _Joint, chosen: Sequence[np.ndarray], keys: Sequence[dict[str, Any]]
) -> Iterator[tuple[_Side, _Side]]:
    """Both sides for each two groups, and over all pairs of groups where there are several."""
    comparisons: list[tuple[dict[str, str], list[np.ndarray]]] = []
    for a, b in combinations(joint.groups, 2):
        shared = np.array([{a, b} <= groups for groups in joint.of["groups"]], dtype=bool)
        # only labels that these two groups judged on both sides, where the sides are two methods
        common = [np.flatnonzero(side & shared) for side in chosen]
        if keys[0]["labels"] == SHARED:
            labels = set.intersection(*(set(joint.of["label"].iloc[at]) for at in common))
            common = [at[joint.of["label"].iloc[at].isin(labels)] for at in common]
        if all(map(len, common)):
            sides = [np.stack([joint.columns(a, at), joint.columns(b, at)]) for at in common]
            comparisons.append(({"group": a, "group_b": b}, sides))
    if len(comparisons) > 1:
        pooled = [np.concatenate([sides[k] for _, sides in comparisons], axis=1) for k in (0, 1)]
        comparisons.append(({}, pooled))
    head = {"corpus": joint.of["corpus"].iloc[0]} if len(joint.of) else {}
    for who, sides in comparisons:
        one, two = (_Side(head | who | key, ends[0], ends[1]) for key, ends in zip(keys, sides, strict=True))
        yield one, two


def _rows(comparisons: Sequence[tuple[_Side, _Side]], replicates: Replicates, confidence: float) -> Rows:
    noise = _Noise.of(replicates)
    for one, two in comparisons:
        estimate = [side.measures(replicates.estimate[None], noise, 1) for side in (one, two)]
        values = [side.measures(replicates.values, noise, 2) for side in (one, two)]
        parts = [("robustness", side, estimate[k], values[k], len(side.first)) for k, side in enumerate((one, two))]
        differences = estimate[0] - estimate[1], values[0] - values[1]
        for statistic, side, at, resampled, n in [
            *parts, ("robustness_contrast", one, *differences, len(one.first) + len(two.first))
        ]:  # fmt: skip
            combined = replace(replicates, estimate=at[0], values=resampled, jackknife=None, scalar=False)
            head = {"statistic": statistic, "resample": replicates.unit, "n": n} | side.keys
            for of, interval in zip(MEASURES, combined.intervals(confidence, "percentile"), strict=True):
                yield head | {"of": of} | interval.row()


def extremes(annotations: Annotations, labels: Sequence[Label], *, sampling: Sampling) -> Rows:
    """Share of the lowest and highest scores of a scale by group, and its difference between two groups.

    Only items that both groups rated, and to which they gave different mean scores, are used, so the dialogues are no
    reason for a difference. Every annotation counts, none is picked: a mean of several is less extreme than each.

    Parameters
    ----------
    annotations : DataFrame
        All of them, with the session of each.
    labels : sequence of Label
        Their scales. Comparisons and labels with fewer than three scores are left out: each score is an end.
    sampling : Sampling
        Of sessions.

    Returns
    -------
    Rows of `extreme_share` by group and `extreme_share_difference` by pair of groups, for each method over its labels.
    An item weighs the same however many annotators of a group rated it, and the same in both groups. n is the number of
    items.
    """
    scales = {(x.method, x.id): x.scale for x in labels if x.integer and x.scale[1] - x.scale[0] >= 2}
    scales = {key: scale for key, scale in scales.items() if METHODS[key[0]].unit != "pair"}
    place = pd.MultiIndex.from_frame(annotations[["method", "label"]])
    rated = annotations[place.isin(list(scales))]
    ends = np.array([scales[key] for key in zip(rated["method"], rated["label"], strict=True)]).reshape(-1, 2)
    rated = rated.assign(extreme=(rated["score"].to_numpy()[:, None] == ends).any(axis=1).astype(float))
    for (corpus, method), part in rated.groupby(["corpus", "method"], sort=False):
        for pair in combinations(sorted(part["group"].unique()), 2):
            shared = _shared(part[part["group"].isin(pair)], pair)
            if len(shared):
                head = {"corpus": corpus, "method": method, "level": METHODS[method].unit}
                yield from _extremes(shared, pair, head, sampling)


def _shared(part: Annotations, pair: tuple[str, str]) -> pd.DataFrame:
    """Annotations of items that both groups rated, with `second` (group), and the weight of each within its item and
    group: 0 where the groups agree on the item."""
    part = part.assign(item=part.groupby(ITEM, dropna=False).ngroup(), second=part["group"] == pair[1])
    part = part[part.groupby("item")["second"].transform("nunique") == 2]
    means = part.groupby(["item", "second"])["score"].mean().unstack("second")  # noqa: PD010 (a repeat must raise)
    differ = (means[False] - means[True]).abs() > 1e-9 if len(means) else pd.Series(dtype=bool)
    weight = 1 / part.groupby(["item", "second"])["score"].transform("size")
    return part.assign(weight=weight * part["item"].map(differ).astype(float))


def _extremes(shared: pd.DataFrame, pair: tuple[str, str], head: dict[str, str], sampling: Sampling) -> Rows:
    session, label = (pd.factorize(shared[c].astype(str), sort=c == "session")[0] for c in ("session", "label"))
    shape = (session.max() + 1, label.max() + 1, 2)
    cell = np.ravel_multi_index((session, label, shared["second"].to_numpy(int)), shape)
    values = (shared["weight"], shared["weight"] * shared["extreme"])
    sums = np.stack([np.bincount(cell, v, int(np.prod(shape))) for v in values], axis=-1)

    def statistic(sums: np.ndarray) -> np.ndarray:
        by = sums.reshape(len(sums), *shape[1:], 2).sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = by[..., 1] / by[..., 0]
        return np.concatenate([shares, shares[:, :1] - shares[:, 1:]], axis=1)

    rng, n = sampling.stream("extremes", *head.values(), *pair), sampling.n_resamples
    rows = sums.reshape(shape[0], -1)
    replicates = replicate_sums(rows, statistic, unit="session", rng=rng, n_resamples=n)
    *shares, difference = replicates.intervals(sampling.confidence)
    people = shared.groupby("second")["annotator"].nunique()
    size = {**head, "n": int(np.rint(sums.reshape(*shape, 2)[:, :, 0, 0].sum())), "resample": "session"}
    for k, share in enumerate(shares):
        who = {"group": pair[k], "group_b": pair[1 - k], "n_annotators": int(people[bool(k)])}
        yield {"statistic": "extreme_share"} | size | who | share.row()
    who = {"group": pair[0], "group_b": pair[1], "n_annotators": int(people.sum())}
    yield {"statistic": "extreme_share_difference"} | size | who | difference.row()
