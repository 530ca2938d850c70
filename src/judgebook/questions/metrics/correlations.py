"""How closely automatic metrics agree with people: correlations with intervals that respect shared contexts.

Published results correlate a metric with the mean human rating of each item, one label at a time, and average over
labels (Zhang et al. 2022, section 2: Spearman) or correlate means of systems (Ji et al. 2022, section 7: Pearson).
Responses to the same context are not independent, nor are turns of one dialogue: intervals resample contexts, and
dialogues where responses share none. Two metrics are compared in `differences`.

What a metric could reach at best: the mean human rating is itself noisy, so that the correlation of an error-free
metric with it would be the square root of its reliability (`ceilings`). All functions yield result rows.

References: Spearman 1910, British Journal of Psychology 3, 271-295, and Brown 1910, 296-322 (reliability of a mean,
attenuation); Shrout and Fleiss 1979, Psychological Bulletin 86, 420-428 (ICC(1,k), ICC(3,k)); Searle, Casella and
McCulloch 1992, Variance Components, section 3.6 (unequal numbers of ratings).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import nan
from typing import Any

import numpy as np
import pandas as pd

from judgebook.annotations.cells import parts
from judgebook.questions.metrics.items import LABEL, ScoredItems, clusters_of, item_key, scored_items
from judgebook.statistics.correlation import (
    clustered_se,
    correlate,
    fisher_interval,
    influence,
    weighted_correlations,
)
from judgebook.statistics.intervals import Interval, Sampling
from judgebook.statistics.resampling import replicate_sums, replicate_weights
from judgebook.study.labels import METHODS
from judgebook.study.schema import Annotations

#: fewer systems than this give no interval
MIN_SYSTEMS = 8
#: with more clusters, items are not ranked anew in each resample: leaving out each cluster would take time that grows
#: with the square of their number
MANY_CLUSTERS = 5_000


def correlations(joined: pd.DataFrame, *, sampling: Sampling) -> Iterator[dict[str, Any]]:
    """Spearman's correlation of each metric with the human mean of each label, and its plain mean over labels.

    Parameters
    ----------
    joined : DataFrame
        From `items.join`.

    Yields
    ------
    `correlation` (`scope` pooled) for each corpus, method, label and metric and, where a method has several labels,
    `mean_correlation`. Labels and metrics share their resamples. Intervals are BCa, with new ranks in each
    resample; with more than MANY_CLUSTERS clusters they are cluster-robust. What is undefined carries the reason.
    """
    for items in scored_items(joined):
        rng = sampling.stream("correlation", "spearman", "context", items.corpus, items.method)
        intervals = intervals_of(
            items, "spearman", rng, n_resamples=sampling.n_resamples, confidence=sampling.confidence
        )
        n = np.isfinite(items.x).T.astype(int) @ np.isfinite(items.y)
        for j, metric in enumerate(items.metrics):
            head = items.head | {"metric": metric, "coefficient": "spearman", "resample": items.unit}
            for i, label in enumerate(items.labels):
                row = {"statistic": "correlation", "scope": "pooled", "label": label, "n": n[j, i]}
                yield head | row | intervals[j][i].row()
            if len(items.labels) > 1:
                row = {"statistic": "mean_correlation", "over": "label", "n": len(items.labels)}
                yield head | row | intervals[j][-1].row()


def intervals_of(
    items: ScoredItems, coefficient: str, rng: np.random.Generator, *, n_resamples: int, confidence: float
) -> list[list[Interval]]:
    """For each metric an interval per label, and a last one for their mean; of the kind that `correlations` says."""
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


def _undefined(reasons: Sequence[str] | np.ndarray) -> str:
    n = sum(map(bool, reasons))
    return f"undefined for {n} of {len(reasons)} labels" if n else ""


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
            row = {"statistic": "mean_correlation", "over": "label", "n": n_labels}
            yield of | keys | row | interval.row()


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


def one_way_reliability(sums: np.ndarray) -> np.ndarray:
    """Reliability of the mean rating of an item when raters differ from item to item, any number of ratings per item.

    sums : (k, 7) totals over items of 1, m, m squared, 1/m, T, T squared / m and Q, where m is the number of ratings of
    the item, T their sum and Q the sum of their squares. Returns (k,): between-item variance over itself plus the mean
    error variance of a mean. Negative where items differ less than expected by chance.

    Analysis of variance estimates (Searle et al. 1992, section 3.6); with m the same everywhere it is ICC(1,k) of
    Shrout and Fleiss, the Spearman-Brown step applied to ICC(1,1).
    """
    items, n, n2, inverse, t, t2, q = sums.T
    within = (q - t2) / (n - items)
    between = (t2 - t**2 / n) / (items - 1)
    variance = (between - within) * (items - 1) / (n - n2 / n)
    return variance / (variance + within * inverse / items)


def crossed_reliability(sums: np.ndarray) -> np.ndarray:
    """Reliability of the mean rating when the same m annotators rated every item: their leniency does not matter.

    sums : (k, 3 + m) totals over items of 1, T squared / m and Q (as in `one_way_reliability`), and of the rating of
    each annotator. Returns (k,): ICC(3,k) of Shrout and Fleiss 1979.
    """
    items, t2, q, columns = sums[:, 0], sums[:, 1], sums[:, 2], sums[:, 3:]
    m = columns.shape[1]
    level = columns.sum(axis=1) ** 2 / (items * m)
    between = (t2 - level) / (items - 1)
    raters = np.sum(columns**2, axis=1) / items - level
    error = (q - t2 - raters) / ((items - 1) * (m - 1))
    return (between - error) / between


def ceilings(
    annotations: Annotations, *, sampling: Sampling, coefficient: str = "spearman"
) -> Iterator[dict[str, Any]]:
    """Reliability of the mean human rating, and its square root, the most a metric can be expected to correlate.

    Parameters
    ----------
    annotations : DataFrame
        Ratings of people.
    coefficient : pearson or spearman
        For Spearman, ratings are replaced by their midranks over all ratings of the label first: an approximation.

    Yields
    ------
    `reliability` and `reliability_ceiling` with `form` one_way, or crossed where the same known people rated every
    item; contexts are resampled. With one rating per item, or without differences between items, the reason is given
    instead.
    """
    for key, rows in parts(annotations, LABEL, sort=False):
        sums, clusters, form = _item_sums(rows, coefficient)
        unit = clusters_of(rows)[1]
        rng = sampling.stream("ceiling", coefficient, "context", *key.values())
        formula = crossed_reliability if form == "crossed" else one_way_reliability
        intervals = _reliability(sums, clusters, formula, unit, rng, sampling)
        head = key | {"level": METHODS[key["method"]].unit, "form": form}
        head |= {"coefficient": coefficient, "n": len(sums), "n_annotators": rows["annotator"].nunique()}
        for statistic, interval in zip(("reliability", "reliability_ceiling"), intervals, strict=True):
            yield head | {"statistic": statistic} | interval.row()


def _item_sums(rows: Annotations, coefficient: str) -> tuple[np.ndarray, np.ndarray, str]:
    """Sums of each item, the cluster it is in, and the form of the reliability."""
    from scipy.stats import rankdata  # takes a second to import, which the page for authors would wait for

    score = rankdata(rows["score"]) if coefficient == "spearman" else rows["score"].to_numpy(dtype=float)
    score = score - score.mean()  # a shift changes nothing and keeps the sums of squares small
    item, names = pd.factorize(item_key(rows))
    clusters = clusters_of(rows.iloc[np.unique(item, return_index=True)[1]])[0]
    m, t, q = (np.bincount(item, w) for w in (np.ones(len(score)), score, score**2))
    annotator, people = pd.factorize(rows["annotator"])
    cells = np.bincount(item * len(people) + annotator, minlength=len(names) * len(people))
    if rows["annotator_known"].all() and len(people) > 1 and (cells == 1).all():
        wide = score[np.lexsort([annotator, item])].reshape(len(names), len(people))
        return np.column_stack([np.ones(len(m)), t**2 / m, q, wide]), clusters, "crossed"
    return np.column_stack([np.ones(len(m)), m, m**2, 1 / m, t, t**2 / m, q]), clusters, "one_way"


def _reliability(
    sums: np.ndarray,
    clusters: np.ndarray,
    formula: Callable[[np.ndarray], np.ndarray],
    unit: str,
    rng: np.random.Generator,
    sampling: Sampling,
) -> list[Interval]:
    rows = np.zeros((int(clusters.max()) + 1, sums.shape[1]))
    np.add.at(rows, clusters, sums)

    def statistic(totals: np.ndarray) -> np.ndarray:
        reliability = formula(totals)
        return np.stack([reliability, np.sqrt(np.where(reliability > 0, reliability, nan))], axis=1)

    def none(note: str) -> Interval:
        return Interval(nan, nan, nan, "not_estimable", unit, len(rows), note=note)

    if len(sums) < 2:
        return [none("one item")] * 2
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = formula(rows.sum(axis=0, keepdims=True))[0]
    if not np.isfinite(estimate):
        return [none("no item has two ratings, or the means of items are all equal")] * 2
    replicates = replicate_sums(rows, statistic, unit=unit, rng=rng, n_resamples=sampling.n_resamples)
    reliability, ceiling = replicates.intervals(sampling.confidence)
    no_ceiling = none("items differ no more than chance makes them: the reliability is not above zero")
    return [reliability, ceiling if estimate > 0 else no_ceiling]
