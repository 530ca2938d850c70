"""How closely automatic metrics agree with people: correlations with intervals that respect shared contexts.

Published results correlate a metric with the mean human rating of each item, one label at a time, and average over
labels (Zhang et al. 2022, section 2: Spearman) or correlate means of systems (Ji et al. 2022, section 7: Pearson).
Responses to the same context are not independent, nor are turns of one dialogue: intervals resample contexts, and
dialogues where responses share none. Two metrics are compared in `differences`; what a perfect metric could reach is in
`ceiling`. All functions yield result rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import nan
from typing import Any

import numpy as np
import pandas as pd

from judgebook.annotations.cells import parts
from judgebook.questions.metrics.items import LABEL, ScoredItems, scored_items
from judgebook.statistics.correlation import (
    clustered_se,
    correlate,
    fisher_interval,
    fisher_mean,
    influence,
    kendall,
    weighted_correlations,
)
from judgebook.statistics.intervals import Interval, Sampling
from judgebook.statistics.resampling import ratio_interval, replicate_weights
from judgebook.study.labels import METHODS, Label
from judgebook.study.results import ResultRows

#: fewer systems than this give no interval
MIN_SYSTEMS = 8
#: with more clusters, items are not ranked anew in each resample: leaving out each cluster would take time that grows
#: with the square of their number
MANY_CLUSTERS = 5_000


def correlations(joined: pd.DataFrame, coefficient: str, *, sampling: Sampling) -> Iterator[dict[str, Any]]:
    """Correlation of each metric with the human mean of each label, and its plain mean over labels.

    Parameters
    ----------
    joined : DataFrame
        From `items.join`.
    coefficient : pearson, spearman or kendall

    Yields
    ------
    `correlation` (`scope` pooled) for each corpus, method, label and metric and, where a method has several labels,
    `mean_correlation`. Labels and metrics share their resamples. Pearson and Spearman have BCa intervals, with new
    ranks in each resample; with more than MANY_CLUSTERS clusters they are cluster-robust. So is Kendall's, whose mean
    has none. What is undefined carries the reason.
    """
    for items in scored_items(joined):
        rng = sampling.stream("correlation", coefficient, "context", items.corpus, items.method)
        intervals = intervals_of(
            items, coefficient, rng, n_resamples=sampling.n_resamples, confidence=sampling.confidence
        )
        n = np.isfinite(items.x).T.astype(int) @ np.isfinite(items.y)
        for j, metric in enumerate(items.metrics):
            head = items.head | {"metric": metric, "coefficient": coefficient, "resample": items.unit}
            for i, label in enumerate(items.labels):
                row = {"statistic": "correlation", "scope": "pooled", "label": label, "n": n[j, i]}
                yield head | row | intervals[j][i].row()
            if len(items.labels) > 1:
                row = {"statistic": "mean_correlation", "over": "label", "average": "plain", "n": len(items.labels)}
                yield head | row | intervals[j][-1].row()


def intervals_of(
    items: ScoredItems, coefficient: str, rng: np.random.Generator, *, n_resamples: int, confidence: float
) -> list[list[Interval]]:
    """For each metric an interval per label, and a last one for their mean; of the kind that `correlations` says."""
    if coefficient == "kendall":
        return _kendall_intervals(items, confidence)
    if items.n_clusters > MANY_CLUSTERS:
        return robust_intervals(items, coefficient, confidence)
    return bootstrap_intervals(items, coefficient, rng, n_resamples=n_resamples, confidence=confidence)


def bootstrap_intervals(
    items: ScoredItems, coefficient: str, rng: np.random.Generator, *, n_resamples: int, confidence: float
) -> list[list[Interval]]:
    """As `intervals_of`: BCa over clusters, with new ranks in each resample."""

    def statistic(drawn: np.ndarray) -> np.ndarray:
        r = weighted_correlations(items.x, items.y, drawn[:, items.clusters], coefficient)
        return np.concatenate([r, r.mean(axis=2, keepdims=True)], axis=2).reshape(len(r), -1)

    width = len(items.clusters) * (len(items.metrics) + len(items.labels) if coefficient == "spearman" else 1)
    replicates = replicate_weights(
        items.n_clusters, statistic, unit=items.unit, rng=rng, n_resamples=n_resamples, width=width
    )
    flat = iter(replicates.intervals(confidence))
    intervals = []
    for x in items.x.T:
        reasons = [correlate(x, y, coefficient)[1] for y in items.y.T]
        reasons.append(_undefined(reasons))
        intervals.append([replace(one, note=why or one.note) for why, one in zip(reasons, flat, strict=False)])
    return intervals


def robust_intervals(items: ScoredItems, coefficient: str, confidence: float) -> list[list[Interval]]:
    """As `bootstrap_intervals`, from what each item contributes to a correlation (`statistics.correlation.influence`),
    added up by cluster; Student's t on Fisher's scale."""
    out = []
    for x in items.x.T:
        row, total, reasons = [], np.zeros(len(x)), []
        for y in items.y.T:
            r, why = correlate(x, y, coefficient)
            finite, effect = np.isfinite(x) & np.isfinite(y), np.zeros(len(x))
            if not why:
                effect[finite] = influence(x[finite], y[finite], coefficient)[1] / finite.sum()
            row.append(_robust(r, effect, np.unique(items.clusters[finite]), items, confidence, why))
            reasons.append(why)
            total += effect / items.y.shape[1]
        mean = float(np.mean([one.estimate for one in row]))
        out.append([*row, _robust(mean, total, np.arange(items.n_clusters), items, confidence, _undefined(reasons))])
    return out


def _robust(
    r: float, effect: np.ndarray, present: np.ndarray, items: ScoredItems, confidence: float, why: str
) -> Interval:
    """The interval of a correlation from contributions of items, of which clusters `present` have some."""
    codes = np.searchsorted(present, items.clusters)
    inside = np.isin(items.clusters, present)
    se = clustered_se(effect[inside], codes[inside]) if len(present) else nan
    low, high = fisher_interval(r, se, len(present) - 1, confidence)
    kind = "cluster_robust" if np.isfinite(low) else "not_estimable"
    note = why or ("" if np.isfinite(low) else "the association is perfect")
    return Interval(r, low, high, kind, items.unit, len(present), note=note)


def _kendall_intervals(items: ScoredItems, confidence: float) -> list[list[Interval]]:
    intervals = []
    for x in items.x.T:
        row = [_kendall(x, y, items, confidence) for y in items.y.T]
        taus = np.array([one.estimate for one in row])
        reason = _undefined(np.isnan(taus)) or "no interval for a mean of tau-b"
        mean = Interval(float(taus.mean()), nan, nan, "not_estimable", items.unit, items.n_clusters, note=reason)
        intervals.append([*row, mean])
    return intervals


def _kendall(x: np.ndarray, y: np.ndarray, items: ScoredItems, confidence: float) -> Interval:
    finite = np.isfinite(x) & np.isfinite(y)
    clusters = np.unique(items.clusters[finite], return_inverse=True)[1]
    tau, low, high, reason = kendall(x[finite], y[finite], clusters, confidence)
    kind = "not_estimable" if reason else "cluster_robust"
    return Interval(tau, low, high, kind, items.unit, len(np.unique(clusters)), note=reason)


def _undefined(reasons: Sequence[str] | np.ndarray) -> str:
    n = sum(map(bool, reasons))
    return f"undefined for {n} of {len(reasons)} labels" if n else ""


def within_context(joined: pd.DataFrame, *, sampling: Sampling) -> Iterator[dict[str, Any]]:
    """Spearman's correlation within each context, averaged over contexts: does a metric rank the responses to one?

    Contexts with fewer than three scored items, or in which a side is constant, have none and are counted in the note.
    Yields `correlation` with `scope` within_context (plain mean, contexts resampled, BCa) and within_context_fisher
    (mean on Fisher's scale without |r| = 1, which is counted in the note; no interval). Items without a context are
    left out.
    """
    for head, r in by_context(joined):
        defined = r[np.isfinite(r)]
        note = f"{len(r) - len(defined)} of {len(r)} contexts have no correlation"
        interval = Interval(nan, nan, nan, "not_estimable", "context", len(r))
        if len(defined) > 1:
            sums = np.column_stack([defined, np.ones(len(defined))])
            rng = sampling.stream("within_context", "spearman", *map(str, head.values()))
            interval = ratio_interval(sums, "context", rng, sampling)
        row = head | {"statistic": "correlation", "coefficient": "spearman"}
        plain = interval.row() | {"n": len(defined), "note": "; ".join(filter(None, [note, interval.note]))}
        yield row | {"scope": "within_context", "resample": "context"} | plain
        mean, n, excluded = fisher_mean(r)
        note = f"{note}; {excluded} with |r| = 1 left out"
        yield row | {"scope": "within_context_fisher", "estimate": mean, "n": n, "note": note}


def by_context(joined: pd.DataFrame) -> Iterator[tuple[dict[str, Any], np.ndarray]]:
    """What identifies each corpus, method, label and metric, and Spearman's correlation within each context."""
    for key, rows in parts(joined.dropna(subset=["context"]), [*LABEL, "metric"], sort=False):
        contexts = rows.groupby("context", sort=False)[["value", "human"]]
        head = key | {"level": METHODS[key["method"]].unit}
        yield head, np.array([correlate(*part.to_numpy(float).T)[0] for _, part in contexts])


def system_level(joined: pd.DataFrame, coefficient: str, *, sampling: Sampling) -> Iterator[dict[str, Any]]:
    """Pearson's or Spearman's correlation of the means of systems: `correlation` with `level` system, and
    `mean_correlation` where a method has several labels.

    With fewer than MIN_SYSTEMS systems there is an estimate and no interval; else systems are resampled (BCa), which
    treats each system's mean as known.

    joined : from `items.join`, without systems that are not ranked.
    """
    keys = {"level": "system", "coefficient": coefficient, "resample": "system"}
    names, sides = [*LABEL, "metric"], ["value", "human"]
    complete = joined[[*names, "system", *sides]].dropna(subset=sides)
    means = complete.groupby([*names, "system"])[sides].mean().groupby(names)
    of_systems = {key: part.to_numpy() for key, part in means}
    for key in joined[names].drop_duplicates().itertuples(index=False, name=None):
        head = {**dict(zip(names, key, strict=True)), "level": METHODS[key[1]].unit}
        x, y = np.split(of_systems.get(key, np.empty((0, 2))), 2, axis=1)
        reason = correlate(x[:, 0], y[:, 0], coefficient)[1]
        rng = sampling.stream("system_level", coefficient, *map(str, head.values()))
        interval = _over_systems(x, y, coefficient, rng, reason, sampling)
        yield head | keys | {"statistic": "correlation", "scope": "system", "n": len(x)} | interval.row()
    for of, rows in parts(complete, ["corpus", "method", "metric"], sort=False):
        # labels lack different items, so that the mean score of a system differs a little between labels
        wide = rows.groupby(["system", "label"])[sides].mean().unstack("label")  # noqa: PD010
        n_labels = rows["label"].nunique()
        if n_labels > 1:
            x, y = wide["value"].to_numpy(), wide["human"].to_numpy()
            rng = sampling.stream("system_level", "mean", coefficient, *of.values())
            interval = _over_systems(x, y, coefficient, rng, "", sampling)
            row = {"statistic": "mean_correlation", "over": "label", "average": "plain", "n": n_labels}
            yield of | keys | row | interval.row()


def overall_system_level(
    joined: pd.DataFrame,
    labels: Iterable[Label],
    coefficient: str,
    *,
    sampling: Sampling,
) -> Iterator[dict[str, Any]]:
    """`overall_correlation`: a metric's system means against the overall score of systems, the mean of the means of all
    labels (Ji et al. 2022, section 3.3 and Tables 5 and 6). Intervals as in `system_level`.

    Only of methods with several labels, all on one scale: the mean of other labels says nothing.
    """
    scales = {(label.method, label.id): label.scale for label in labels}
    for key, rows in parts(joined.dropna(subset=["value", "human"]), ["corpus", "method", "metric"], sort=False):
        rated = [(key["method"], label) for label in rows["label"].unique()]
        if len(rated) < 2 or not set(rated) <= set(scales) or len({scales[label] for label in rated}) > 1:
            continue
        means = rows.groupby(["system", "label"])[["value", "human"]].mean()
        wide = means.groupby("system").mean()[means["human"].unstack().notna().all(axis=1)]  # noqa: PD010
        x, y = wide[["value"]].to_numpy(), wide[["human"]].to_numpy()
        rng = sampling.stream("overall", coefficient, *key.values())
        interval = _over_systems(x, y, coefficient, rng, correlate(x[:, 0], y[:, 0], coefficient)[1], sampling)
        head = key | {"level": "system", "resample": "system"}
        row = {"statistic": "overall_correlation", "coefficient": coefficient, "n": len(wide)}
        yield head | row | interval.row()


def _over_systems(
    x: np.ndarray, y: np.ndarray, coefficient: str, rng: np.random.Generator, reason: str, sampling: Sampling
) -> Interval:
    """Mean over labels of the correlations of x with y, (systems, labels) each, over the same resamples of systems."""
    n, n_labels = y.shape

    def statistic(counts: np.ndarray) -> np.ndarray:
        return np.einsum("kll->kl", weighted_correlations(x, y, counts, coefficient)).mean(axis=1)[:, None]

    if n < MIN_SYSTEMS:
        few = f"{n} systems, fewer than {MIN_SYSTEMS}: no interval and no p-value"
        estimate = float(statistic(np.ones((1, n)))[0, 0])
        return Interval(estimate, nan, nan, "not_estimable", "system", n, note=reason or few)
    width = 2 * n * n_labels
    replicates = replicate_weights(n, statistic, unit="system", rng=rng, n_resamples=sampling.n_resamples, width=width)
    interval = replicates.interval(sampling.confidence)
    return replace(interval, note=reason or interval.note)


def averages(rows: ResultRows, over: str, within: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """Mean correlation of each metric and coefficient on Fisher's scale, without |r| = 1.

    rows : one per label or data set, which `over` names; every row weighs the same. within : columns, an average for
    each of their values. Undefined correlations are left out and counted in the note, as is |r| = 1. Yields
    `mean_correlation`, without intervals: data sets are no sample.
    """
    for key, part in parts(rows, [*within, "coefficient", "metric"], sort=False):
        fisher, n, excluded = fisher_mean(part["estimate"].to_numpy(dtype=float))
        note = f"{part['estimate'].isna().sum()} of {len(part)} are undefined; {excluded} with |r| = 1 left out"
        head = key | {"statistic": "mean_correlation", "over": over, "average": "fisher"}
        yield head | {"estimate": fisher, "n": n, "note": note}
