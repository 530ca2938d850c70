"""How well does one label predict a target? The signed correlation; and which labels are most closely related to it.

As published, in notebook 04: R² and pseudo-R² (Finch et al. 2023, section 7.2). Primary: the signed correlation with a
jackknife interval over people on Fisher's z scale, because dialogues of one person are not independent and an interval
for R² cannot contain 0.

Ranks: labels are ordered by |r|. For an unrelated label |r| is about 1/sqrt(n), not 0, so the lowest ranks are due to
chance.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from math import nan

import numpy as np
import pandas as pd

from judgebook.annotations.dialogue_values import Design
from judgebook.questions.validity.coverage import Row
from judgebook.statistics.clusters import Covariance, jackknife_covariance
from judgebook.statistics.correlation import moments, pearson_of_sums
from judgebook.statistics.intervals import MIN_MINORITY, Interval, Replicates, Sampling
from judgebook.statistics.multiplicity import simultaneous_ranks, simultaneous_t
from judgebook.statistics.resampling import replicate_sums
from judgebook.study.results import Results, collect

#: a corrected correlation with a wider interval than half of its scale is not estimated
MAX_WIDTH = 1.0


def importance(
    design: Design,
    *,
    sampling: Sampling,
    repeats: tuple[Design, Design] | None = None,
    n_annotators: Mapping[tuple[str, str], int] | None = None,
) -> Results:
    """How well each label alone predicts the target.

    Parameters
    ----------
    design : Design
        From `dialogue_values`. A predictor is used on the rows that have it.
    sampling : Sampling
        Each label has a stream of its own.
    repeats : two designs with the target and rows of `design`, optional
        From the two frames of `repeated_values`; they give reliabilities and corrected correlations.
    n_annotators : (method, label) -> number of people who judged it, optional

    Returns
    -------
    Results with key `target`:
        r : signed Pearson correlation (point-biserial for a 0/1 target), and again with its BCa interval (`kind` bca);
        repeat_reliability, corrected_r : with `repeats`. Error of the target is not corrected: it was rated once.
    A predictor that cannot be used has only r, missing, with the reason.

    References
    ----------
    Spearman 1904, American Journal of Psychology 15, 72-101 (r over the root of the reliability).
    """
    rows: list[Row] = []
    for other in repeats or ():
        if other.target != design.target or len(other.y) != len(design.y):
            raise ValueError("repeats: expected two designs with the same target and rows as `design`")
    twice = [d.x.reindex(columns=design.x.columns).to_numpy(float) for d in repeats or ()]
    for i, column in enumerate(design.x.columns):
        rated = design.x.iloc[:, i].notna().to_numpy()
        rng, n, level = sampling.stream("importance", design.target, *column), sampling.n_resamples, sampling.confidence
        one = _Label(design.rows(rated), i, [x[rated, i] for x in twice], rng, n, level)
        people = (n_annotators or {}).get(tuple(column))
        rows += [row | {"n_annotators": people} for row in one.rows()]
    return collect(rows)


def _estimable(corrected: Interval, reliability: Interval) -> Interval:
    """A corrected r, or none: where the reliability may be 0, and where the interval is wider than MAX_WIDTH, dividing
    by the root of the reliability says more about the reliability than about r."""
    if reliability.low > 0 and not corrected.high - corrected.low > MAX_WIDTH:
        return corrected
    note = "not estimable: the CI of the reliability contains 0 or is missing"
    if reliability.low > 0:
        note = f"not estimable: its CI would be wider than {MAX_WIDTH:g}"
    return replace(corrected, estimate=nan, low=nan, high=nan, kind="not_estimable", note=note)


class _Label:
    """One predictor of one target, and its result rows."""

    def __init__(
        self,
        design: Design,
        i: int,
        repeats: list[np.ndarray],
        rng: np.random.Generator,
        n_resamples: int,
        confidence: float,
    ) -> None:
        self.x, self.y, self.column = design.x.iloc[:, i].to_numpy(float), design.y, design.x.columns[i]
        self.design, self.repeats, self.rng = design, repeats, rng
        self.n_resamples, self.confidence = n_resamples, confidence
        self.clusters = np.unique(design.clusters.astype(str), return_inverse=True)[1]
        self.n_clusters = int(self.clusters.max(initial=-1)) + 1

    def rows(self) -> Iterator[Row]:
        method, label = self.column
        fixed = {"level": self.design.level, "method": method, "label": label, "target": self.design.target}
        for statistic, values in self._values():
            yield {"statistic": statistic, **fixed, "n": len(self.x), "n_clusters": self.n_clusters} | values

    def _values(self) -> Iterator[tuple[str, Row]]:
        reason = self._unusable()
        if reason:
            yield "r", {"estimate": nan, "ci_kind": "not_estimable", "note": reason}
            return
        correlations = self._correlations()
        yield "r", self._jackknife(correlations, 0).row()
        yield (
            "r",
            self._guard(correlations.intervals(self.confidence, expanded=False)[0]).row() | {"kind": "bca"},
        )
        if len(correlations.estimate) > 1:
            reliability = self._jackknife(correlations, 1)
            yield "repeat_reliability", reliability.row()
            yield "corrected_r", _estimable(self._jackknife(correlations, 2, bounded=False), reliability).row()

    def _unusable(self) -> str:
        if len(self.x) < 4:
            return f"{len(self.x)} rows have both the label and the target; at least 4 are needed"
        if np.ptp(self.x) == 0:
            return f"the label has the same value, {self.x[0]:g}, throughout"
        if np.ptp(self.y) == 0:
            return f"the target has the same value, {self.y[0]:g}, throughout"
        return ""

    def _correlations(self) -> Replicates:
        """r and, where some dialogues were judged twice, reliability and corrected r, from the same resamples."""
        sums = moments(self.x[:, None], self.y)
        if self.repeats:
            first, second = (v - self.x.mean() for v in self.repeats)
            defined = np.isfinite(first) & np.isfinite(second)
            if defined.sum() >= 2:
                pair = [np.ones_like(first), first + second, first**2 + second**2, first * second]
                sums = np.column_stack([sums, np.where(defined[:, None], np.column_stack(pair), 0.0)])
        total = np.zeros((self.n_clusters, sums.shape[1]))
        np.add.at(total, self.clusters, sums)
        return replicate_sums(total, _statistics, unit=self.design.unit, rng=self.rng, n_resamples=self.n_resamples)

    def _jackknife(self, replicates: Replicates, i: int, bounded: bool = True) -> Interval:
        return self._guard(replicates.jackknife_interval(i, self.confidence, bounded=bounded))

    def _guard(self, interval: Interval) -> Interval:
        """No interval for a label that hardly varies."""
        values, counts = np.unique(self.x, return_counts=True)
        moving = len(self.x) - counts.max()
        if moving >= MIN_MINORITY:
            return interval
        common = values[np.argmax(counts)]
        note = f"only {moving} of {len(self.x)} rows differ from {common:g}; an interval needs {MIN_MINORITY}"
        return replace(interval, low=nan, high=nan, kind="not_estimable", note=note)


def _statistics(sums: np.ndarray) -> np.ndarray:
    """(k, 1) or (k, 3): r, reliability (intraclass correlation, both orders of a pair counted), r over its root."""
    r = pearson_of_sums(sums[:, :6])
    if sums.shape[1] == 6:
        return r
    m, total, squares, product = sums[:, 6:].T
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total / (2 * m)
        variance, covariance = squares / (2 * m) - mean**2, product / m - mean**2
        reliable = np.where(variance > 1e-12 * squares / m, covariance / variance, nan)
        return np.column_stack([r, reliable, np.where(reliable > 0, r[:, 0] / np.sqrt(reliable), nan)])


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
    people, code = np.unique(design.clusters.astype(str), return_inverse=True)
    sums = np.zeros((len(people), 6 * len(live)))
    np.add.at(sums, code, moments(x[:, live], design.y))
    whole = sums.sum(axis=0, keepdims=True)
    errors = Covariance(jackknife_covariance(_strength(whole - sums))).pair_errors()
    strength, (i, j) = _strength(whole)[0], np.triu_indices(len(live), 1)
    critical = simultaneous_t(len(people) - 1, len(i), confidence)
    apart = (errors > 0) & (np.abs(strength[i] - strength[j]) > critical * errors)
    rank, low, high = simultaneous_ranks(strength, apart)
    reason = "" if (errors > 0).any() else "no difference between labels varies"
    low, high = (np.full(len(live), nan) if reason else ends for ends in (low, high))
    fixed = {
        "statistic": "importance_rank",
        "level": design.level,
        "target": design.target,
        "resample_unit": design.unit,
        "n_clusters": len(people),
        "note": reason or None,
        "ci_kind": "not_estimable" if reason else "simultaneous",
    }
    return [
        {**fixed, "method": method, "label": label, "n": int(n), "estimate": a, "ci_low": b, "ci_high": c}
        for (method, label), n, a, b, c in zip(
            design.x.columns[live], np.isfinite(x[:, live]).sum(axis=0), rank, low, high, strict=True
        )
    ]


def _strength(sums: np.ndarray) -> np.ndarray:
    return np.abs(pearson_of_sums(sums))


def shared_source(values: pd.DataFrame, by_known: Collection[str]) -> Iterator[Row]:
    """What the labels of each method have in common: who gave them, and how strongly they correlate.

    values : `dialogue_values` of one corpus and group. by_known : methods whose annotators are known people, not
    positions in a list; the others have no single_source_share. Yields rows of single_source_share (share of the
    dialogues or pairs judged on all labels of the method whose labels all come from one person) and
    label_intercorrelation (mean |r| over pairs of labels), for methods with two labels or more. Both high can mean a
    halo: one impression behind all.
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
        if method in by_known:
            yield base | {"statistic": "single_source_share", "estimate": float(one.mean())}
        if len(r):
            yield base | {"statistic": "label_intercorrelation", "estimate": float(np.abs(r).mean())}
