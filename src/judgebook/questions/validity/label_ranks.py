"""Which labels are most closely related to quality, how certain is their order, and what do labels of a method share?

Labels are ordered by |r|. For an unrelated label |r| is about 1/sqrt(n), not 0, so the lowest ranks are due to chance.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
import pandas as pd

from judgebook.annotations.dialogue_values import Design
from judgebook.questions.performance.ranking import rank_intervals
from judgebook.statistics.clusters import Covariance, jackknife_covariance
from judgebook.statistics.correlation import moments, pearson_of_sums

Row = dict[str, object]


def importance_ranks(design: Design, *, confidence: float = 0.95) -> list[Row]:
    """Rank of each label by |r| with the target, 1 for the largest, with a simultaneous interval.

    People are a sample, as in `importance`; the covariance over labels is that of the jackknife. Returns rows of
    importance_rank; `n` is the number of rows with the label. Labels without variation are left out; with fewer than
    two there are no ranks.
    """
    x = design.x.to_numpy(float)
    live = [i for i in range(x.shape[1]) if np.isfinite(x[:, i]).sum() > 3 and np.ptp(x[np.isfinite(x[:, i]), i]) > 0]
    if len(live) < 2 or np.ptp(design.y) == 0:
        return []
    people, code = np.unique(design.clusters.astype(str), return_inverse=True)
    sums = np.zeros((len(people), 6 * len(live)))
    np.add.at(sums, code, moments(x[:, live], design.y))
    whole = sums.sum(axis=0, keepdims=True)
    errors = Covariance(jackknife_covariance(_strength(whole - sums))).pair_errors()
    rank, low, high, reason = rank_intervals(_strength(whole)[0], errors, len(people) - 1, confidence)
    fixed = {"statistic": "importance_rank", "level": design.level, "target": design.target}
    fixed |= {"resample_unit": design.unit, "n_clusters": len(people), "note": reason or None}
    fixed |= {"ci_kind": "not_estimable" if reason else "simultaneous"}
    return [
        {**fixed, "method": method, "label": label, "n": int(n), "estimate": a, "ci_low": b, "ci_high": c}
        for (method, label), n, a, b, c in zip(
            design.x.columns[live], np.isfinite(x[:, live]).sum(axis=0), rank, low, high, strict=True
        )
    ]


def _strength(sums: np.ndarray) -> np.ndarray:
    return np.abs(pearson_of_sums(sums))


def shared_source(values: pd.DataFrame, known: Collection[str]) -> Iterator[Row]:
    """What the labels of each method have in common: who gave them, and how strongly they correlate.

    values : `dialogue_values` of one corpus and group. known : methods whose annotators are known people, not positions
    in a list; the others have no single_source_share. Yields rows of single_source_share (share of the dialogues or
    pairs judged on all labels of the method whose labels all come from one person) and label_intercorrelation (mean |r|
    over pairs of labels), for methods with two labels or more. Both high can mean a halo: one impression behind all.
    """
    for method, part in values.groupby("method", sort=False):
        pair = part["dialogue_b"].notna().any()
        unit = ["dialogue", "dialogue_b"] if pair else ["dialogue"]
        x = part.set_index([*unit, "label"])["value"].unstack("label").dropna()  # noqa: PD010 (a repeat must raise)
        if x.shape[1] < 2 or len(x) < 3:
            continue
        who = part.set_index([*unit, "label"])["annotator"].unstack("label").reindex(x.index)  # noqa: PD010
        one = who.nunique(axis=1).eq(1) & who.notna().all(axis=1)
        r = x.loc[:, x.max() > x.min()].corr().to_numpy()
        r = r[np.triu_indices(len(r), 1)]
        base = {"level": "pair" if pair else "dialogue", "method": method, "n": len(x)}
        if method in known:
            yield base | {"statistic": "single_source_share", "estimate": float(one.mean())}
        if len(r):
            yield base | {"statistic": "label_intercorrelation", "estimate": float(np.abs(r).mean())}
