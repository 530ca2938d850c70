"""Can a model choose between two responses in place of people?

A pair has any number of votes, and the judge's choice. Does the judge choose as a person does, as often as another
person (`agreement`)? Does it favour the response that is shown first (`position_bias`)? Prompts are resampled where
several pairs share one, otherwise pairs.

A judge that saw a pair in both orders is its own control (`both_orders`): whatever the responses are worth, they are
the same twice. That the effect of the order is not significant does not show that there is none: there is none worth
speaking of if the interval lies within a margin that the study sets (two one-sided tests).

References
----------
Zheng et al. 2023, Judging LLM-as-a-judge with MT-bench and Chatbot Arena, NeurIPS, sections 3.3 and 4.2 (position bias,
consistency under swapped positions, agreement with people). Schuirmann 1987, Journal of Pharmacokinetics and
Biopharmaceutics 15, 657-680 (two one-sided tests).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from judgebook.questions.agreement.coincidences import patterns, terms
from judgebook.questions.judges.items import LABEL, over_clusters
from judgebook.questions.performance.rates import clustered_wilson, design_effect, rare_bound
from judgebook.statistics.intervals import MIN_CLUSTERS, Interval, Sampling
from judgebook.study.labels import Label
from judgebook.study.schema import Annotations, unordered

#: who is compared with the people of an item
PAIRS = ("judge", "people", "difference")
SCORES = (-1.0, 0.0, 1.0)
#: what a judge does with the two orders of a pair: another choice, of these both times what was shown first or second
CHANGES = ("any", "first", "second")
#: clusters with a changed choice, for Student's t of the effect: with fewer the share of changed choices bounds it
LEAST_CHANGED = 6


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
    ratings) on the pairs with two votes or more, of which each counts once.
    """
    n = np.isfinite(pairs.votes).sum(axis=1)
    several = n >= 2
    if not several.any():
        return
    votes, judge = np.where(several[:, None], pairs.votes, nan), pairs.judge
    counts = np.stack([(votes == s).sum(axis=1) for s in SCORES], axis=1)
    with_judge = (votes == judge[:, None]).sum(axis=1) / np.maximum(n, 1)
    each_other = (counts * (counts - 1)).sum(axis=1) / np.maximum(n * (n - 1), 1)
    rows = np.column_stack([several, with_judge * several, each_other * several]).astype(float)
    size = {"n": int(several.sum())}
    for who, interval in zip(PAIRS, pairs.resample(rows, _shares, "choice_agreement", sampling), strict=True):
        yield pairs.head | size | {"statistic": "choice_agreement", "pair": who} | interval.row()
    intervals = pairs.resample(*_alphas(votes, judge, n, pairs.label.level), "judge_alpha", sampling)
    row = {"statistic": "judge_alpha", "measurement": pairs.label.level}
    for who, interval in zip(("mean", "people", "difference"), intervals, strict=True):
        yield pairs.head | size | row | {"pair": who} | interval.row()


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


def pairs_in_both_orders(annotations: Annotations) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """Every label and judge, and the pairs that the judge saw in both orders.

    A judge's second judgement of a pair is in a corpus of its own (`repeats: number`); of several in one order the
    first counts. Columns: cluster, unit, `left` and `right`: the choice with either side shown first, +1 where it went
    to what was shown first, -1 to the other, 0 a tie.
    """
    corpus = annotations["corpus"].str.replace(r"(?:^|_)occasion_\d+$", "", regex=True).replace("", "main")
    judged = annotations.assign(corpus=corpus)[annotations["annotator_kind"] != "human"]
    rows = choices(judged).dropna(subset=["first", "score"])
    rows = rows.assign(chosen=rows["score"] * rows["first"], side=rows["first"].map({1.0: "left", -1.0: "right"}))
    pair = ["dialogue", "turn"]
    for case, part in rows.groupby([*LABEL, "annotator"], sort=False):
        once = part.drop_duplicates([*pair, "side"]).set_index([*pair, "side"])["chosen"].unstack()  # noqa: PD010
        once = once.reindex(columns=["left", "right"]).dropna()
        if len(once):
            about = part.drop_duplicates(pair).set_index(pair).loc[once.index]
            once = once.assign(cluster=pd.factorize(about["cluster"])[0], unit=about["unit"])
            yield dict(zip([*LABEL, "metric"], case, strict=True)), once.reset_index(drop=True)


def both_orders(
    annotations: Annotations, *, confidence: float = 0.95, margin: float | None = None
) -> Iterator[dict[str, Any]]:
    """What a judge says of pairs that it saw in both orders, by label and judge.

    margin : largest effect of the order on a win rate that is harmless. Without one, nothing is decided.

    Yields `order_change` (`change` one of CHANGES): share of pairs; `order_effect`: win rate of a response when it is
    shown first less that when it is shown second, ties being half wins; and with a margin `order_harmless`: 1 where the
    interval of the effect lies within it, 0 where it lies beyond, else missing.
    """
    for key, pairs in pairs_in_both_orders(annotations):
        unit, cluster = pairs["unit"].iloc[0], pairs["cluster"].to_numpy()
        left, right = pairs["left"].to_numpy(), pairs["right"].to_numpy()
        head = key | {"level": "pair", "n": len(pairs), "resample_unit": unit}
        kinds = (left != -right, (left > 0) & (right > 0), (left < 0) & (right < 0))
        size = np.bincount(cluster)
        for change, hits in zip(CHANGES, kinds, strict=True):
            row = clustered_wilson(size, np.bincount(cluster, hits), unit, confidence)
            yield head | {"statistic": "order_change", "change": change} | row
        effect = _effect((left + right) / 2, cluster, unit, confidence)
        yield head | {"statistic": "order_effect"} | effect
        if margin is not None:
            yield head | {"statistic": "order_harmless", "margin": margin} | _within(effect, margin)


def _effect(values: np.ndarray, cluster: np.ndarray, unit: str, confidence: float) -> dict[str, Any]:
    """The mean of values from -1 to 1 as columns of a result row.

    Student's t on the linearised variance of a ratio. Where hardly any value differs from 0, such a variance says
    nothing: the mean is then at most the share of such values, and bounded by the upper end of its exact interval.
    """
    n, s, changed = np.bincount(cluster), np.bincount(cluster, values), np.bincount(cluster, values != 0)
    c, mean = len(n), float(values.mean())
    row: dict[str, Any] = {"estimate": mean, "n_clusters": c}
    if c < MIN_CLUSTERS:
        note = f"{c} clusters ({unit}) are too few for an interval; {MIN_CLUSTERS} are needed"
        return row | {"ci_kind": "not_estimable", "note": note}
    if np.sum(changed > 0) < LEAST_CHANGED:
        most = rare_bound(changed.sum(), len(values), c, design_effect(n, changed, changed), confidence)[1]
        note = f"the order changed {int(changed.sum())} of {len(values)} choices: bounded by their share"
        return row | {"ci_low": -most, "ci_high": most, "ci_kind": "exact_bound", "note": note}
    se = float(np.sqrt(c / (c - 1) * np.sum((s - n * mean) ** 2))) / n.sum()
    t = stdtrit(c - 1, (1 + confidence) / 2)
    return row | {"ci_low": mean - t * se, "ci_high": mean + t * se, "ci_kind": "t"}


def _within(effect: dict[str, Any], margin: float) -> dict[str, Any]:
    low, high = effect.get("ci_low", np.nan), effect.get("ci_high", np.nan)
    if -margin <= low and high <= margin:
        return {"estimate": 1.0}
    if low > margin or high < -margin:
        return {"estimate": 0.0}
    return {"estimate": np.nan, "note": "the interval of the effect contains an end of the margin, or there is none"}
