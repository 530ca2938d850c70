"""Can a model choose between two responses in place of people?

A pair has any number of votes, and the judge's choice. Does the judge choose as a person does, as often as another
person (`agreement`)? Does it favour the response that is shown first (`position_bias`)? Do its choices put the systems
in the order that people's votes do (`orders`)? Prompts are resampled where several pairs share one, otherwise pairs.

References
----------
Zheng et al. 2023, Judging LLM-as-a-judge with MT-bench and Chatbot Arena, NeurIPS, sections 3.3 and 4.2 (position bias,
agreement with people).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
import pandas as pd

from judgebook.questions.agreement.coincidences import patterns, terms
from judgebook.questions.judges.items import LABEL, over_clusters
from judgebook.questions.performance import davidson
from judgebook.questions.performance.davidson import bradley_terry
from judgebook.statistics.intervals import Interval, Sampling
from judgebook.study.labels import Label
from judgebook.study.schema import Annotations, unordered

#: who is compared with the people of an item
PAIRS = ("judge", "people", "difference")
SCORES = (-1.0, 0.0, 1.0)


def choices(annotations: Annotations) -> pd.DataFrame:
    """Comparisons in one orientation each, whichever way round their sources had them.

    Returns them with `dialogue` and `turn` naming the pair, `cluster` what is resampled (and its kind in `unit`), and
    `first` +1 where the side that `score` favours when positive was shown first, -1 where the other was, else missing.
    """
    out = annotations[annotations["dialogue_b"].notna()].copy()
    if out.empty:
        return out.assign(cluster=None, unit=None, first=np.nan)
    ends = unordered(out)
    turned = (out["dialogue"] != ends["low"]).to_numpy()
    sign = np.where(turned, -1.0, 1.0)
    out["score"] = out["score"] * sign + 0.0
    out["first"] = out["first_shown"].map({"left": 1.0, "right": -1.0}).astype(float) * sign
    out["system"], out["system_b"] = (
        out["system"].where(~turned, out["system_b"]),
        out["system_b"].where(~turned, out["system"]),
    )
    out["dialogue"] = ends["low"].astype(str) + " and " + ends["high"].astype(str)
    out["turn"] = out["turn"].fillna(-1)
    has_context = out["context"].notna().groupby([out[c] for c in LABEL]).transform("all")
    out["cluster"] = out["context"].where(has_context, out["corpus"] + " " + out["dialogue"])
    out["unit"] = np.where(has_context, "context", "pair")
    return out


@dataclass(frozen=True)
class JudgedPairs:
    """One label as chosen by people and one judge, on the pairs that both judged.

    votes : (n, most votes) -1, 0, 1, NaN beyond an item's votes; judge : (n,). first, judge_first : the same shape, the
    side shown first. cluster : (n,) codes. people, theirs : what people and the judge chose, a row each.
    """

    key: dict[str, str]
    label: Label
    votes: np.ndarray
    first: np.ndarray
    judge: np.ndarray
    judge_first: np.ndarray
    cluster: np.ndarray
    unit: str
    people: Annotations
    theirs: Annotations

    @property
    def head(self) -> dict[str, Any]:
        return self.key | {
            "level": "pair",
            "n": len(self.judge),
            "n_annotators": int(self.people["annotator"].nunique()),
        }

    def resample(
        self, rows: np.ndarray, statistic: Callable[[np.ndarray], np.ndarray], name: str, sampling: Sampling
    ) -> list[Interval]:
        """Intervals of a statistic of sums over (n, q) `rows`, clusters being resampled."""
        rng = sampling.stream(name, *self.key.values())
        return over_clusters(rows, statistic, self.cluster, self.unit, rng, sampling)


def judged_pairs(annotations: Annotations, labels: Iterable[Label]) -> Iterator[JudgedPairs]:
    """Every label and judge with pairs that the judge and a person judged."""
    by_key = {(label.method, label.id): label for label in labels}
    for case, rows in choices(annotations).groupby(LABEL, sort=False):
        human = rows["annotator_kind"] == "human"
        item = ["dialogue", "turn"]
        for judge, of_judge in rows[~human].groupby("annotator", sort=False):
            of_judge = of_judge.drop_duplicates(item).set_index(item)
            people = rows[human].join(of_judge[[]], on=item, how="inner").sort_values("source_row", kind="stable")
            if people.empty:
                continue
            place = people.groupby(item, sort=False).cumcount()
            wide = people.assign(place=place).set_index([*item, "place"])[["score", "first"]].unstack()  # noqa: PD010
            of_judge = of_judge.loc[wide.index]
            key = dict(zip(LABEL, case, strict=True)) | {"metric": judge}
            yield JudgedPairs(
                key=key,
                label=by_key[case[1:]],
                votes=wide["score"].to_numpy(float),
                first=wide["first"].to_numpy(float),
                judge=of_judge["score"].to_numpy(float),
                judge_first=of_judge["first"].to_numpy(float),
                cluster=pd.factorize(of_judge["cluster"])[0],
                unit=of_judge["unit"].iloc[0],
                people=people,
                theirs=of_judge.reset_index(),
            )


def agreement(pairs: JudgedPairs, *, sampling: Sampling) -> Iterator[dict[str, Any]]:
    """How often the judge chooses as a person, and a person as another; Krippendorff's alpha of both.

    Yields `choice_agreement` and `judge_alpha` (`pair` of PAIRS; in the latter mean, people and difference, as for
    ratings) on the pairs with two votes or more, of which each counts once, and `majority_agreement`: the share of
    pairs with a majority among three votes or more on which the judge chooses as the majority.
    """
    n = np.isfinite(pairs.votes).sum(axis=1)
    several = n >= 2
    if several.any():
        votes, judge = np.where(several[:, None], pairs.votes, nan), pairs.judge
        counts = np.stack([(votes == s).sum(axis=1) for s in SCORES], axis=1)
        with_judge = (votes == judge[:, None]).sum(axis=1) / np.maximum(n, 1)
        each_other = (counts * (counts - 1)).sum(axis=1) / np.maximum(n * (n - 1), 1)
        rows = np.column_stack([several, with_judge * several, each_other * several]).astype(float)
        intervals = pairs.resample(rows, _shares, "choice_agreement", sampling)
        size = {"n": int(several.sum())}
        for who, interval in zip(PAIRS, intervals, strict=True):
            yield pairs.head | size | {"statistic": "choice_agreement", "pair": who} | interval.row()
        intervals = pairs.resample(*_alphas(votes, judge, n, pairs.label.level), "judge_alpha", sampling)
        row = {"statistic": "judge_alpha", "measurement": pairs.label.level}
        for who, interval in zip(("mean", "people", "difference"), intervals, strict=True):
            yield pairs.head | size | row | {"pair": who} | interval.row()
    top, most = _majority(pairs.votes, n)
    if most.any():
        rows = np.column_stack([most, most & (top == pairs.judge)]).astype(float)
        (interval,) = pairs.resample(rows, lambda s: s[:, 1:] / s[:, :1], "majority_agreement", sampling)
        yield pairs.head | {"statistic": "majority_agreement"} | interval.row() | {"n": int(most.sum())}


def _shares(sums: np.ndarray) -> np.ndarray:
    judge, people = sums[:, 1] / sums[:, 0], sums[:, 2] / sums[:, 0]
    return np.column_stack([judge, people, judge - people])


def _alphas(
    votes: np.ndarray, judge: np.ndarray, n: np.ndarray, level: str
) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """Rows per item and the function of their sums that gives alpha of judge and person, of people, and the difference.

    The judge is paired with each vote of an item, which together count as one item. Both orientations of a pair count,
    as which side comes first is arbitrary.
    """
    at, place = np.nonzero(np.isfinite(votes))
    single = patterns(np.column_stack([judge[at], votes[at, place]]), SCORES)
    together = patterns(votes, SCORES)
    with_judge, people = (terms(p.counts, p.values, level, mirrored=True) for p in (single, together))
    left = np.zeros((len(judge), with_judge.rows.shape[1]))
    np.add.at(left, at, with_judge.rows[single.index] / n[at, None])
    right = np.where((together.index >= 0)[:, None], people.rows[together.index], 0.0)
    cut = left.shape[1]

    def values(sums: np.ndarray) -> np.ndarray:
        model, person = with_judge.measures(sums[:, :cut])["alpha"], people.measures(sums[:, cut:])["alpha"]
        return np.column_stack([model, person, model - person])

    return np.column_stack([left, right]), values


def _majority(votes: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What more votes favour than any other choice, and where there is such a choice of three votes or more."""
    counts = np.stack([(votes == s).sum(axis=1) for s in SCORES], axis=1)
    most = counts.max(axis=1)
    return np.array(SCORES)[counts.argmax(axis=1)], (n >= 3) & ((counts == most[:, None]).sum(axis=1) == 1)


def position_bias(pairs: JudgedPairs, *, sampling: Sampling) -> Iterator[dict[str, Any]]:
    """Of the choices that are no ties, how many go to what was shown first: `first_choice_share` by judge and people.

    Where sides are assigned at random a half is expected, whatever the systems. Nothing where the order is not known.
    """
    sides = ((pairs.judge[:, None], pairs.judge_first[:, None]), (pairs.votes, pairs.first))
    counts = []
    for score, first in sides:
        decided = np.isfinite(first) & np.isfinite(score) & (score != 0)
        counts += [decided.sum(axis=1), (decided & (score == first)).sum(axis=1)]
    rows = np.stack(counts, axis=1).astype(float)
    if not rows[:, 0].any() or not rows[:, 2].any():
        return

    def shares(s: np.ndarray) -> np.ndarray:
        judge, people = s[:, 1] / s[:, 0], s[:, 3] / s[:, 2]
        return np.column_stack([judge, people, judge - people])

    intervals = pairs.resample(rows, shares, "position_bias", sampling)
    sizes = (rows[:, 0].sum(), rows[:, 2].sum(), rows[:, 0].sum())
    for who, interval, n in zip(PAIRS, intervals, sizes, strict=True):
        row = {"statistic": "first_choice_share", "pair": who, "n": int(n)}
        yield pairs.head | row | interval.row() | {"n": int(n)}


#: what iterations find of strengths: systems that differ in later digits are tied, on any processor
_DIGITS = 9


def orders(pairs: JudgedPairs) -> Iterator[dict[str, Any]]:
    """Does the judge put the systems in people's order, and the same one first?

    Yields `judge_rank_correlation` of strengths in Davidson's model (`kendall`, `spearman`) and of the scores that
    leaderboards print (`spearman_bradley_terry`: model of Bradley and Terry, ties as half wins), and
    `judge_first_system`: 1 where both have the same system first, of Bradley and Terry's scores; missing where one of
    them has no first system.
    """
    head = pairs.key | {"level": "system"}
    strengths, scores = [], []
    for rows in (pairs.people, pairs.theirs):
        strengths.append(davidson.point(rows).round(_DIGITS))
        scores.append(bradley_terry(rows).round(_DIGITS))
    wide = pd.DataFrame(dict(zip(("people", "judge"), strengths, strict=True)))
    n, exist = len(wide), bool(np.isfinite(wide.to_numpy()).all())
    for name in ("kendall", "spearman"):
        row = {"statistic": "judge_rank_correlation", "coefficient": name, "n": n}
        note = None if exist else f"by {'the judge' if wide['people'].notna().all() else 'people'}, {davidson.NONE}"
        yield head | row | {"estimate": wide.corr(name).iloc[0, 1] if exist and n > 1 else nan, "note": note}
    wide = pd.DataFrame(dict(zip(("people", "judge"), scores, strict=True)))
    # where scores do not exist, the library gives all systems the same one
    first = {side: values.idxmax() if values.max() > values.min() else None for side, values in wide.items()}
    complete = None not in first.values()
    note = None if complete else "scores do not exist, or all are equal"
    rho = wide["people"].corr(wide["judge"], method="spearman") if complete else nan
    shared = {"n": n, "note": note}
    row = {"statistic": "judge_rank_correlation", "coefficient": "spearman_bradley_terry"}
    yield {**head, **row, **shared, "estimate": float(rho)}
    same = float(first["people"] == first["judge"]) if complete else nan
    of = {"system": first["people"], "system_b": first["judge"]}
    yield {**head, "statistic": "judge_first_system", "estimate": same, **shared, **of}
