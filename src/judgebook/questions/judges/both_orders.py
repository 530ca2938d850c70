"""Does a judge say the same of two responses whichever is shown first?

A judge that saw a pair in both orders is its own control: whatever the responses are worth, they are the same twice.
How often does the choice change, and to which side? How much more often does a response win when it is shown first?

That a change is not significant does not show that there is none. There is none worth speaking of if the interval lies
within a margin that the study sets (two one-sided tests); otherwise the smallest effect that so many pairs would have
shown says what could have been seen.

References
----------
Zheng et al. 2023, Judging LLM-as-a-judge with MT-bench and Chatbot Arena, NeurIPS, section 3.3 (consistency under
swapped positions). Schuirmann 1987, Journal of Pharmacokinetics and Biopharmaceutics 15, 657-680 (two one-sided tests).
Bloom 1995, Evaluation Review 19, 547-556 (smallest detectable effect as a multiple of the standard error).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from judgebook.questions.judges.choices import choices
from judgebook.questions.judges.items import LABEL
from judgebook.questions.performance.rate_intervals import clustered_wilson, design_effect, rare_bound
from judgebook.statistics.intervals import MIN_CLUSTERS
from judgebook.study.schema import Annotations

#: what a judge does with the two orders of a pair: another choice, of these both times what was shown first or second,
#: or a tie once
CHANGES = ("any", "first", "second", "tie")
#: clusters with a changed choice, for Student's t of the effect: with fewer the share of changed choices bounds it
LEAST_CHANGED = 6
#: power of the smallest effect that could have been seen
POWER = 0.8


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
    shown first less that when it is shown second, ties being half wins; `order_detectable`: the smallest effect that
    as many pairs, as variable as these, would show with a power of POWER; and with a margin `order_harmless`: 1 where
    the interval of the effect lies within it, 0 where it lies beyond, else missing.
    """
    for key, pairs in pairs_in_both_orders(annotations):
        unit, cluster = pairs["unit"].iloc[0], pairs["cluster"].to_numpy()
        left, right = pairs["left"].to_numpy(), pairs["right"].to_numpy()
        head = key | {"level": "pair", "n": len(pairs), "resample_unit": unit}
        same = left == -right
        kinds = (~same, (left > 0) & (right > 0), (left < 0) & (right < 0), ~same & (left * right == 0))
        size = np.bincount(cluster)
        for change, hits in zip(CHANGES, kinds, strict=True):
            row = clustered_wilson(size, np.bincount(cluster, hits), unit, confidence)
            yield head | {"statistic": "order_change", "change": change} | row
        effect, detectable = _effect((left + right) / 2, cluster, unit, confidence)
        yield head | {"statistic": "order_effect"} | effect
        yield head | {"statistic": "order_detectable", "estimate": detectable, "n_clusters": len(size)}
        if margin is not None:
            yield head | {"statistic": "order_harmless", "margin": margin} | _within(effect, margin)


def _effect(values: np.ndarray, cluster: np.ndarray, unit: str, confidence: float) -> tuple[dict[str, Any], float]:
    """The mean of values from -1 to 1 as columns of a result row, and the smallest that could have been seen.

    Student's t on the linearised variance of a ratio. Where hardly any value differs from 0, such a variance says
    nothing: the mean is then at most the share of such values, and bounded by the upper end of its exact interval.
    """
    n, s, changed = np.bincount(cluster), np.bincount(cluster, values), np.bincount(cluster, values != 0)
    c, mean = len(n), float(values.mean())
    row: dict[str, Any] = {"estimate": mean, "n_clusters": c}
    if c < MIN_CLUSTERS:
        note = f"{c} clusters ({unit}) are too few for an interval; {MIN_CLUSTERS} are needed"
        return row | {"ci_kind": "not_estimable", "note": note}, np.nan
    if np.sum(changed > 0) < LEAST_CHANGED:
        most = rare_bound(changed.sum(), len(values), c, design_effect(n, changed, changed), confidence)[1]
        note = f"the order changed {int(changed.sum())} of {len(values)} choices: bounded by their share"
        return row | {"ci_low": -most, "ci_high": most, "ci_kind": "exact_bound", "note": note}, most
    se = float(np.sqrt(c / (c - 1) * np.sum((s - n * mean) ** 2))) / n.sum()
    t = stdtrit(c - 1, (1 + confidence) / 2)
    ends = {"ci_low": mean - t * se, "ci_high": mean + t * se, "ci_kind": "t"}
    return row | ends, (t + float(stdtrit(c - 1, POWER))) * se


def _within(effect: dict[str, Any], margin: float) -> dict[str, Any]:
    low, high = effect.get("ci_low", np.nan), effect.get("ci_high", np.nan)
    if -margin <= low and high <= margin:
        return {"estimate": 1.0}
    if low > margin or high < -margin:
        return {"estimate": 0.0}
    return {"estimate": np.nan, "note": "the interval of the effect contains an end of the margin, or there is none"}
