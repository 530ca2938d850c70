"""How well does one label predict a target? The signed correlation; and which labels are most closely related to it.

As published, in notebook 04: R² and pseudo-R² (Finch et al. 2023, section 7.2). Primary: the signed correlation with a
jackknife interval over people on Fisher's z scale, because dialogues of one person are not independent and an interval
for R² cannot contain 0.

Ranks: labels are ordered by |r|. For an unrelated label |r| is about 1/sqrt(n), not 0, so the lowest ranks are due to
chance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import nan

import numpy as np

from judgebook.annotations.dialogue_values import Design
from judgebook.questions.validity.coverage import Row
from judgebook.statistics.clusters import Covariance, jackknife_covariance
from judgebook.statistics.correlation import moments, pearson_of_sums
from judgebook.statistics.intervals import MIN_MINORITY, Interval, jackknife_t
from judgebook.statistics.multiplicity import simultaneous_ranks, simultaneous_t


def importance(
    design: Design, *, confidence: float = 0.95, n_annotators: Mapping[tuple[str, str], int] | None = None
) -> list[Row]:
    """How well each label alone predicts the target: rows of r, the signed Pearson correlation (point-biserial for a
    0/1 target).

    design : from `dialogue_values`; a predictor is used on the rows that have it. n_annotators : (method, label) ->
    number of people who judged it. The r of a predictor that cannot be used is missing, with the reason.
    """
    rows = []
    for i, (method, label) in enumerate(design.x.columns):
        rated = design.rows(design.x.iloc[:, i].notna().to_numpy())
        x, y = rated.x.iloc[:, i].to_numpy(float), rated.y
        fixed = {"statistic": "r", "level": design.level, "method": method, "label": label, "target": design.target}
        fixed |= {"n": len(x), "n_annotators": (n_annotators or {}).get((method, label))}
        if reason := _unusable(x, y):
            missing = {"estimate": nan, "ci_kind": "not_estimable", "note": reason}
            rows.append(fixed | {"n_clusters": len(np.unique(rated.clusters.astype(str)))} | missing)
            continue
        sums = _by_person(moments(x[:, None], y), rated.clusters)
        whole = sums.sum(axis=0, keepdims=True)
        r, without = pearson_of_sums(whole)[0, 0], pearson_of_sums(whole - sums)[:, 0]
        rows.append(fixed | _guarded(jackknife_t(float(r), without, design.unit, confidence), x).row())
    return rows


def _unusable(x: np.ndarray, y: np.ndarray) -> str:
    if len(x) < 4:
        return f"{len(x)} rows have both the label and the target; at least 4 are needed"
    if np.ptp(x) == 0:
        return f"the label has the same value, {x[0]:g}, throughout"
    if np.ptp(y) == 0:
        return f"the target has the same value, {y[0]:g}, throughout"
    return ""


def _by_person(sums: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    """(people, m) sums over the rows of each person."""
    people, code = np.unique(clusters.astype(str), return_inverse=True)
    out = np.zeros((len(people), sums.shape[1]))
    np.add.at(out, code, sums)
    return out


def _guarded(interval: Interval, x: np.ndarray) -> Interval:
    """No interval for a label that hardly varies."""
    values, counts = np.unique(x, return_counts=True)
    moving = len(x) - counts.max()
    if moving >= MIN_MINORITY:
        return interval
    common = values[np.argmax(counts)]
    note = f"only {moving} of {len(x)} rows differ from {common:g}; an interval needs {MIN_MINORITY}"
    return replace(interval, low=nan, high=nan, kind="not_estimable", note=note)


def importance_ranks(design: Design, *, confidence: float = 0.95) -> list[Row]:
    """Rank of each label by |r| with the target, 1 for the largest, with a simultaneous interval.

    People are a sample, as in `importance`; the covariance over labels is that of the jackknife. Returns rows of
    importance_rank; `n` is the number of rows with the label. Labels without variation are left out; with fewer than
    two there are no ranks.
    """
    x = design.x.to_numpy(float)
    known, y = np.isfinite(x), design.y
    live = [i for i, k in enumerate(known.T) if k.sum() > 3 and np.ptp(x[k, i]) > 0 and np.ptp(y[k]) > 0]
    if len(live) < 2:
        return []
    sums = _by_person(moments(x[:, live], design.y), design.clusters)
    whole = sums.sum(axis=0, keepdims=True)
    errors = Covariance(jackknife_covariance(np.abs(pearson_of_sums(whole - sums)))).pair_errors()
    strength, (i, j) = np.abs(pearson_of_sums(whole))[0], np.triu_indices(len(live), 1)
    critical = simultaneous_t(len(sums) - 1, len(i), confidence)
    apart = (errors > 0) & (np.abs(strength[i] - strength[j]) > critical * errors)
    rank, low, high = simultaneous_ranks(strength, apart)
    reason = "" if (errors > 0).any() else "no difference between labels varies"
    low, high = (np.full(len(live), nan) if reason else ends for ends in (low, high))
    fixed = {
        "statistic": "importance_rank",
        "level": design.level,
        "target": design.target,
        "resample_unit": design.unit,
        "n_clusters": len(sums),
        "note": reason or None,
        "ci_kind": "not_estimable" if reason else "simultaneous",
    }
    return [
        {**fixed, "method": method, "label": label, "n": int(n), "estimate": a, "ci_low": b, "ci_high": c}
        for (method, label), n, a, b, c in zip(
            design.x.columns[live], np.isfinite(x[:, live]).sum(axis=0), rank, low, high, strict=True
        )
    ]
