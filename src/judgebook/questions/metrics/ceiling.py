"""What a metric could reach at best, and whether it could replace an annotator.

The mean human rating is itself noisy: the correlation of an error-free metric with it would be the square root of its
reliability. The correlation of an annotator with the others is no such ceiling: it relates one noisy
rating to a mean of fewer. It answers another question, which `replaceability` asks of the metric with the same reduced
mean. All functions of annotations yield result rows.

References: Spearman 1910, British Journal of Psychology 3, 271-295, and Brown 1910, 296-322 (reliability of a mean,
attenuation); Shrout and Fleiss 1979, Psychological Bulletin 86, 420-428 (ICC(1,k), ICC(3,k)); Searle, Casella and
McCulloch 1992, Variance Components, section 3.6 (unequal numbers of ratings).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import nan
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from judgebook.annotations.cells import parts
from judgebook.questions.metrics.items import ITEM, LABEL, clusters_of, item_key
from judgebook.statistics.correlation import clustered_se, fisher_interval, influence
from judgebook.statistics.intervals import Interval, Sampling
from judgebook.statistics.resampling import replicate_sums
from judgebook.study.labels import METHODS
from judgebook.study.schema import Annotations

#: an annotator with fewer items than this is not compared with the rest
MIN_COMMON = 20


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


def replaceability(
    annotations: Annotations, metric_scores: pd.DataFrame, *, min_items: int = MIN_COMMON, confidence: float = 0.95
) -> Iterator[dict[str, Any]]:
    """Does a metric agree with the other annotators as well as the annotator who is left out?

    Parameters
    ----------
    annotations : DataFrame
        Ratings of people. Positions count as annotators, as their mean over positions does not depend on who is where.
    metric_scores : DataFrame
        One score per item and metric.
    min_items : int
        Annotators with fewer items (that somebody else rated too, and the metric scored) are left out and counted.

    Yields
    ------
    `replaceability`: Spearman's correlation with the mean of the other annotators, of the annotator (`of` annotator),
    of the metric on the same items and mean (`of` metric), their difference (`of` difference, metric minus annotator),
    each a plain mean over annotators; and the share of annotators whom the metric equals or exceeds (`of` share, no
    interval).

    Notes
    -----
    Intervals are cluster-robust: each rating's influence on the mean correlation is added up by context
    (`statistics.correlation.influence`), Student's t on top. The bootstrap would rank every annotator's items anew in
    every resample, which takes minutes with hundreds of annotators.
    """
    for head, joined in with_rest(annotations, metric_scores):
        compared = left_out_in_turn(joined, min_items, confidence)
        head |= {"statistic": "replaceability", "coefficient": "spearman"}
        yield from (head | {"of": of} | row for of, row in compared.items())


def with_rest(annotations: Annotations, metric_scores: pd.DataFrame) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """For each corpus, method, label and metric what identifies it, and the ratings with `rest`, the mean of the other
    annotators of the item, and `value`, the metric's score; those that lack either are left out."""
    used = [*ITEM, "context", "annotator", "score"]
    for key, rows in parts(annotations[list(dict.fromkeys([*LABEL, *used]))], LABEL, sort=False):
        by_item = rows.groupby(ITEM, dropna=False)["score"]
        n, total = by_item.transform("size"), by_item.transform("sum")
        rest = rows[used].assign(rest=(total - rows["score"]) / (n - 1).where(n > 1)).dropna(subset="rest")
        head = key | {"level": METHODS[key["method"]].unit}
        scores = metric_scores.loc[metric_scores["corpus"] == key["corpus"], [*ITEM, "metric", "score"]]
        joined = rest.merge(scores.rename(columns={"score": "value"}).dropna(subset="value"), on=ITEM)
        of_metric = dict(iter(joined.groupby("metric")))
        for metric in scores["metric"].unique():
            yield head | {"metric": metric}, of_metric.get(metric, joined[:0])


def left_out_in_turn(
    joined: pd.DataFrame, min_items: int = MIN_COMMON, confidence: float = 0.95
) -> dict[str, dict[str, Any]]:
    """Rows of `replaceability` by `of`, for ratings from `with_rest`."""
    clusters, unit = clusters_of(joined)
    score, value, rest = (joined[c].to_numpy(dtype=float) for c in ("score", "value", "rest"))
    each = joined.groupby("annotator", sort=False).indices.values()
    compared = [at for at in each if len(at) >= min_items and min(np.ptp(v[at]) for v in (score, value, rest)) > 0]
    left_out = len(each) - len(compared)
    note = f"{left_out} of {len(each)} annotators have fewer than {min_items} items or constant ratings"
    note = note if left_out else ""
    if not compared:
        row = Interval(nan, nan, nan, "not_estimable", unit, 0, note=note or "the metric scores no item").row()
        return dict.fromkeys(("annotator", "metric", "difference", "share"), row)
    r, effect = np.zeros((2, len(compared))), np.zeros((2, len(joined)))
    for j, at in enumerate(compared):
        for i, side in enumerate((score, value)):
            r[i, j], one = influence(side[at], rest[at])
            effect[i, at] += one / (len(at) * len(compared))
    (of_rest, metric), df = r.mean(axis=1), int(clusters.max())
    half = stdtrit(max(df, 1), (1 + confidence) / 2) * clustered_se(effect[1] - effect[0], clusters)
    ends = {
        "annotator": (of_rest, *fisher_interval(of_rest, clustered_se(effect[0], clusters), df, confidence)),
        "metric": (metric, *fisher_interval(metric, clustered_se(effect[1], clusters), df, confidence)),
        "difference": (metric - of_rest, metric - of_rest - half, metric - of_rest + half),
    }
    counts, out = {"n": len(joined), "n_annotators": len(compared)}, {}
    for of, (estimate, low, high) in ends.items():
        finite = np.isfinite(low)
        why = note if finite else note or "one cluster, or |r| is 1"
        kind = "cluster_robust" if finite else "not_estimable"
        out[of] = Interval(float(estimate), float(low), float(high), kind, unit, df + 1, note=why).row() | counts
    return out | {"share": {"estimate": float(np.mean(r[1] >= r[0] - 1e-12)), **counts, "note": note or None}}
