"""What a metric could reach at best, and whether it could stand in for an annotator.

The mean human rating is itself noisy: a metric that knew the true value of every item would correlate with it by the
square root of its reliability. `annotator against the rest` is no such ceiling: it compares one noisy rating with a
mean of fewer. It answers another question, which `replaceability` asks of the metric against the same reduced mean.

References: Spearman 1910, British Journal of Psychology 3, 271-295, and Brown 1910, 296-322 (reliability of a mean,
attenuation); Shrout and Fleiss 1979, Psychological Bulletin 86, 420-428 (ICC(1,k), ICC(3,k)); Searle, Casella and
McCulloch 1992, Variance Components, section 3.6 (unequal numbers of ratings).
"""

from __future__ import annotations

from collections.abc import Callable
from math import nan

import numpy as np
import pandas as pd
from scipy import stats

from helpers.correlation import clustered_se, fisher_interval, influence
from helpers.labels import METHODS
from helpers.metric_items import clusters_of, item_key
from helpers.resampling import Interval, bootstrap_sums, generator
from helpers.schema import condition

#: an annotator with fewer items than this is not compared with the rest
MIN_ITEMS = 20


def one_way_reliability(sums: np.ndarray) -> np.ndarray:
    """Reliability of the mean rating of an item when raters differ from item to item, any number of ratings an item.

    sums : (k, 7) totals over items of 1, m, m squared, 1/m, T, T squared / m and Q, where m is the number of ratings of
    the item, T their sum and Q the sum of their squares. Returns (k,): between-item variance over itself plus the mean
    error variance of a mean. Negative where items differ less than chance makes them.

    Analysis of variance estimates (Searle et al. 1992, section 3.6); with m the same everywhere it is ICC(1,k) of
    Shrout and Fleiss, the Spearman-Brown step applied to ICC(1,1). Checked against `pingouin.intraclass_corr`.
    """
    items, n, n2, inverse, t, t2, q = sums.T
    within = (q - t2) / (n - items)
    between = (t2 - t**2 / n) / (items - 1)
    variance = (between - within) * (items - 1) / (n - n2 / n)
    return variance / (variance + within * inverse / items)


def crossed_reliability(sums: np.ndarray) -> np.ndarray:
    """Reliability of the mean rating when the same m annotators rated every item: their leniency does not matter.

    sums : (k, 3 + m) totals over items of 1, T squared / m and Q (as in `one_way_reliability`), and of the rating of
    each annotator. Returns (k,): ICC(3,k) of Shrout and Fleiss 1979. Checked against `pingouin.intraclass_corr`.
    """
    items, t2, q, columns = sums[:, 0], sums[:, 1], sums[:, 2], sums[:, 3:]
    m = columns.shape[1]
    level = columns.sum(axis=1) ** 2 / (items * m)
    between = (t2 - level) / (items - 1)
    raters = np.sum(columns**2, axis=1) / items - level
    error = (q - t2 - raters) / ((items - 1) * (m - 1))
    return (between - error) / between


def ceilings(
    annotations: pd.DataFrame,
    *,
    seed: int,
    coefficient: str = "spearman",
    unit: str = "context",
    n_resamples: int = 10_000,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Reliability of the mean human rating, and its square root, the most a metric can be expected to correlate.

    Parameters
    ----------
    annotations : frame
        All ratings of people.
    coefficient : 'pearson' or 'spearman'
        For Spearman, ratings are replaced by their midranks over all ratings of the label first: an approximation.
    unit : 'context' or 'item'
        What is resampled, see `metric_items.clusters_of`.

    Returns
    -------
    Result rows `reliability` and `reliability_ceiling`, `form=one_way`, or `form=crossed` where the same known people
    rated every item. With one rating an item, or without differences between items, the reason stands instead.

    Notes
    -----
    Checked through the two formulas, and by simulation: the true values correlate with the means as the ceiling says.
    """
    out = []
    for key, rows in annotations.groupby(["corpus", "method", "label"], sort=False):
        people = rows[rows["annotator_kind"] == "human"] if "annotator_kind" in rows else rows
        sums, clusters, form, n_items = _item_sums(people, coefficient, unit)
        what = clusters_of(people, unit)[1]
        formula = crossed_reliability if form == "crossed" else one_way_reliability
        rng = generator(seed, "ceiling", coefficient, unit, *key)
        found = _reliability(sums, clusters, formula, what, rng, n_resamples, confidence)
        head = dict(zip(["corpus", "method", "label"], key, strict=True)) | {"level": METHODS[key[1]].unit}
        head |= {"condition": condition(form=form, coefficient=coefficient)}
        for statistic, interval in zip(("reliability", "reliability_ceiling"), found, strict=True):
            counts = {"n": n_items, "n_annotators": people["annotator"].nunique()}
            out.append({**head, "statistic": statistic, **interval.row(), **counts})
    return pd.DataFrame(out)


def _item_sums(rows: pd.DataFrame, coefficient: str, unit: str) -> tuple[np.ndarray, np.ndarray, str, int]:
    """Sums of each item, the cluster it is in, the form of the reliability, and the number of items."""
    score = stats.rankdata(rows["score"]) if coefficient == "spearman" else rows["score"].to_numpy(dtype=float)
    score = score - score.mean()  # a shift changes nothing and keeps the sums of squares small
    item, names = pd.factorize(item_key(rows))
    clusters = clusters_of(rows.iloc[np.unique(item, return_index=True)[1]], unit)[0]
    m, t, q = (np.bincount(item, w) for w in (np.ones(len(score)), score, score**2))
    annotator, people = pd.factorize(rows["annotator"])
    cells = np.bincount(item * len(people) + annotator, minlength=len(names) * len(people))
    known = "annotator_known" not in rows or rows["annotator_known"].all()
    if known and len(people) > 1 and (cells == 1).all():
        wide = score[np.lexsort([annotator, item])].reshape(len(names), len(people))
        return np.column_stack([np.ones(len(m)), t**2 / m, q, wide]), clusters, "crossed", len(m)
    return np.column_stack([np.ones(len(m)), m, m**2, 1 / m, t, t**2 / m, q]), clusters, "one_way", len(m)


def _reliability(sums, clusters, formula: Callable, unit, rng, n_resamples, confidence) -> list[Interval]:
    rows = np.zeros((int(clusters.max()) + 1, sums.shape[1]))
    np.add.at(rows, clusters, sums)

    def statistic(totals: np.ndarray) -> np.ndarray:
        reliability = formula(totals)
        return np.stack([reliability, np.sqrt(np.where(reliability > 0, reliability, nan))], axis=1)

    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = statistic(rows.sum(axis=0, keepdims=True))[0]
    reason = ""
    if len(sums) < 2:
        reason = "one item"
    elif not np.isfinite(estimate[0]):
        reason = "no item has two ratings, or the means of items are all equal"
    if reason:
        none = Interval(nan, nan, nan, "not_estimable", unit, len(rows), note=reason)
        return [none, none]
    found = bootstrap_sums(rows, statistic, unit=unit, rng=rng, n_resamples=n_resamples, confidence=confidence)
    if estimate[0] <= 0:
        note = "items differ no more than chance makes them: the reliability is not above zero"
        found[1] = Interval(nan, nan, nan, "not_estimable", unit, len(rows), note=note)
    return found


def replaceability(
    annotations: pd.DataFrame,
    metric_scores: pd.DataFrame,
    *,
    coefficient: str = "spearman",
    unit: str = "context",
    min_items: int = MIN_ITEMS,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Does a metric agree with the other annotators as well as the annotator who is left out?

    Parameters
    ----------
    annotations : frame
        All ratings of people. Positions count as annotators, as their mean over positions does not depend on who
        stands where.
    metric_scores : frame
        One score an item and metric.
    min_items : int
        Annotators with fewer items (that somebody else rated too, and the metric scored) are left out and counted.
    unit : 'context' or 'item'
        What is taken as independent, see `metric_items.clusters_of`.

    Returns
    -------
    Result rows `replaceability`: the correlation with the mean of the other annotators, of the annotator
    (`of=annotator`), of the metric on the same items and mean (`of=metric`), their difference (`of=difference`, metric
    less annotator), each a plain mean over annotators; and the share of annotators whom the metric equals or beats
    (`of=share`, no interval).

    Notes
    -----
    Intervals are cluster-robust: each rating's influence on the mean correlation is added up by context
    (`correlation.influence`), Student's t on top. The bootstrap would rank every annotator's items anew in every
    resample, which takes minutes with hundreds of annotators. Checked against plain loops with scipy, the bootstrap,
    and by simulation of a metric that is one more annotator.
    """
    out = []
    keys = ["corpus", "dialogue", "turn"]
    for (corpus, method, label), rows in annotations.groupby(["corpus", "method", "label"], sort=False):
        people = rows[rows["annotator_kind"] == "human"] if "annotator_kind" in rows else rows
        by_item = people.groupby(keys, dropna=False)["score"]
        n, total = by_item.transform("size"), by_item.transform("sum")
        rest = people.assign(rest=(total - people["score"]) / (n - 1).where(n > 1))
        for metric, scores in metric_scores[metric_scores["corpus"] == corpus].groupby("metric", sort=False):
            both = rest.merge(scores[[*keys, "score"]].rename(columns={"score": "value"}), on=keys)
            found = _replace(both.dropna(subset=["rest", "value"]), coefficient, unit, min_items, confidence)
            head = {"corpus": corpus, "method": method, "label": label, "metric": metric}
            head |= {"level": METHODS[method].unit, "statistic": "replaceability"}
            out += [{**head, "condition": condition(of=of, coefficient=coefficient), **r} for of, r in found.items()]
    return pd.DataFrame(out)


def _replace(both: pd.DataFrame, coefficient: str, unit: str, min_items: int, confidence: float) -> dict[str, dict]:
    codes, what = clusters_of(both, unit)
    score, value, rest = (both[c].to_numpy(dtype=float) for c in ("score", "value", "rest"))
    found = both.groupby("annotator", sort=False).indices.values()
    parts = [at for at in found if len(at) >= min_items and min(np.ptp(v[at]) for v in (score, value, rest)) > 0]
    left_out, of = len(found) - len(parts), len(found)
    note = f"{left_out} of {of} annotators have fewer than {min_items} items or constant ratings" if left_out else ""
    if not parts:
        row = Interval(nan, nan, nan, "not_estimable", what, 0, note=note or "the metric scores no item").row()
        return {of: row for of in ("annotator", "metric", "difference", "share")}
    r, effect = np.zeros((2, len(parts))), np.zeros((2, len(both)))
    for j, at in enumerate(parts):
        for i, side in enumerate((score, value)):
            r[i, j], one = influence(side[at], rest[at], coefficient)
            effect[i, at] += one / (len(at) * len(parts))
    (own, metric), df = r.mean(axis=1), int(codes.max())
    half = stats.t.ppf((1 + confidence) / 2, max(df, 1)) * clustered_se(effect[1] - effect[0], codes)
    ends = {
        "annotator": (own, *fisher_interval(own, clustered_se(effect[0], codes), df, confidence)),
        "metric": (metric, *fisher_interval(metric, clustered_se(effect[1], codes), df, confidence)),
        "difference": (metric - own, metric - own - half, metric - own + half),
    }
    counts, out = {"n": len(both), "n_annotators": len(parts)}, {}
    for name, values in ends.items():
        kind = "cluster_robust" if np.isfinite(values[1]) else "not_estimable"
        why = note if kind == "cluster_robust" else note or "one cluster, or |r| is 1"
        out[name] = Interval(*map(float, values), kind, what, df + 1, note=why).row() | counts
    return out | {"share": {"estimate": float(np.mean(r[1] >= r[0] - 1e-12)), **counts, "note": note or None}}
