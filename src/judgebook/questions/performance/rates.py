"""Rates, means and shares of comparisons, with intervals that account for clustering.

`clustered` resamples whole dialogues, sessions or contexts, and gives the design effect. Turns of a dialogue are not
independent, so intervals as published, which notebook 07 computes, are too narrow. `with_annotators` treats annotators
as a sample too, where they are known: only then does an interval tell what other people would say.

Intervals of one rate or mean come first: of independent scores, and of scores in few clusters or with rare marks.

References
----------
Cameron, Gelbach and Miller 2011, Journal of Business and Economic Statistics 29, 238-249 (two-way clusters). Wilson
1927, JASA 22, 209-212. Korn and Graubard 1998, Survey Methodology 24, 193-201 (rare marks in clustered samples).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import betaincinv, expit, logit, ndtri, stdtrit

from judgebook.annotations.scores import cluster_sums, identities, item_means, kish, numbered, require_unit, sampled
from judgebook.statistics.clusters import LEAST_DF, clustered_variances, effective_number
from judgebook.statistics.intervals import MIN_MINORITY, Interval, Sampling
from judgebook.statistics.resampling import bootstrap_sums
from judgebook.study.results import ResultRows
from judgebook.study.schema import Annotations

#: with more clusters than this, equal ones are counted together in resampling
MANY_CLUSTERS = 2_000


def clustered(annotations: Annotations, *, sampling: Sampling, unit: str = "dialogue") -> ResultRows:
    """Rates, means and shares with intervals that resample whole clusters, and their design effects.

    Parameters
    ----------
    annotations : DataFrame
        With the column `unit`. Of an item with several annotations their mean counts, as much as any other item.
    unit : str
        The column that names the cluster: dialogue, session, context, annotator, …

    Returns
    -------
    DataFrame of rows `rate`, `mean`, `share` (BCa; with fewer than MIN_MINORITY marks of the rarer kind `rare_bound`,
    with fewer than FEW_CLUSTERS clusters `few_interval`) and `design_effect`, which is 1 where every score is a cluster
    of its own.

    Raises
    ------
    ValueError
        The column is absent or has gaps.
    """
    require_unit(annotations, unit)
    scores, codes = numbered(annotations)
    heads, (items, item_codes) = identities(scores, codes, unit), item_means(scores, codes)
    clusters = cluster_sums(items, item_codes, items[unit])
    intervals = _intervals(heads, clusters, scores["binary"].groupby(codes).first(), unit, sampling)
    out = []
    for head, interval, (_, sums) in zip(heads, intervals, clusters, strict=True):
        out += [head | interval, _design_effect(head, sums, unit)]
    return pd.DataFrame(out).assign(seed=sampling.seed)


def with_annotators(annotations: Annotations, *, unit: str = "dialogue", confidence: float = 0.95) -> ResultRows:
    """The estimates of `clustered` with intervals for other annotators as well as other clusters.

    The variance is that of scores clustered by `unit` and by annotator (`clusters.clustered_variances`). Means have
    Student's t interval, with one degree of freedom fewer than the effective number of annotators or clusters,
    whichever are fewer (`statistics.clusters.effective_number`); rates and shares have that of their logit; with fewer
    than MIN_MINORITY marks of the rarer kind `rare_bound`.

    Parameters
    ----------
    annotations : DataFrame
        With the column `unit`. Estimates whose annotators are not all known people, or are one person, have no row.

    Returns
    -------
    DataFrame of rows `rate`, `mean` and `share` with `interval` of, for example, `dialogue and annotator`; `n_clusters`
    counts the fewer of the two.

    Raises
    ------
    ValueError
        The column is absent or has gaps.
    """
    require_unit(annotations, unit)
    known_people = annotations["annotator_known"] & (annotations["annotator_kind"] == "human")
    cell = [annotations[c] for c in ("corpus", "method", "label", "group")]
    people = annotations["annotator"].groupby(cell).transform("nunique")
    annotations = annotations[known_people.groupby(cell).transform("all") & (people > 1)]
    if annotations.empty:
        return pd.DataFrame()
    scores, codes = numbered(annotations)
    heads, weight = identities(scores, codes, with_people(unit)), scores["weight"].to_numpy()
    x, groups = scores["score"].to_numpy(float), [pd.factorize(scores[c])[0] for c in (unit, "annotator")]
    mean, variance, fewest = clustered_variances(codes, x, weight, groups)
    df = effective_number(codes, weight, groups) - 1
    n, squares = np.bincount(codes, weight), np.bincount(codes, weight * x**2)
    spread = squares / n - mean**2
    simple = spread / np.maximum(n - 1, 1)
    deff = np.where(spread > 1e-12, variance / np.where(spread > 1e-12, simple, 1), np.nan)
    binary = scores["binary"].groupby(codes).first().to_numpy()
    units = pd.Series(groups[0]).groupby(codes).nunique().to_numpy()
    out = []
    for i, head in enumerate(heads):
        sizes = {"n_clusters": int(fewest[i]), "resample_unit": with_people(unit)}
        marks = min(mean[i], 1 - mean[i]) * n[i] if binary[i] else np.inf
        if marks < MIN_MINORITY:
            interval = _rare(mean[i] * n[i], round(n[i]), int(fewest[i]), int(units[i]), deff[i], confidence)
        else:
            interval = _student(mean[i], variance[i], df[i], bool(binary[i]), confidence)
        out.append({**head, "estimate": mean[i], **sizes, **interval})
    return pd.DataFrame(out)


def with_people(unit: str) -> str:
    """How the clusters of `with_annotators` are named."""
    return f"{unit} and annotator"


def _student(mean: float, variance: float, df: float, binary: bool, confidence: float) -> dict[str, Any]:
    if not df >= LEAST_DF or not variance > 0:
        return {
            "ci_low": np.nan,
            "ci_high": np.nan,
            "ci_kind": "not_estimable",
            "note": "too few effective clusters, or no spread",
        }
    half = stdtrit(df, (1 + confidence) / 2) * np.sqrt(variance)
    if not binary:
        return {"ci_low": mean - half, "ci_high": mean + half, "ci_kind": "t"}
    low, high = expit(logit(mean) + np.array([-1, 1]) * half / (mean * (1 - mean)))
    return {"ci_low": low, "ci_high": high, "ci_kind": "t", "note": "t interval of the logit"}


def _rare(marks: float, n: int, n_clusters: int, n_units: int, deff: float, confidence: float) -> dict[str, Any]:
    """`rare_bound` with two kinds of clusters. Without marks of one kind the share of annotators in the variance is
    unknown, and the bound is over dialogues only."""
    marks = float(np.round(marks, 9))
    none = marks in (0, n)
    low, high = rare_bound(marks, n, n_units if none else n_clusters, deff, confidence)
    note = f"{marks:g} of {n}: too few of one kind for a t interval; exact binomial with the effective number"
    if none:
        note = f"{marks:g} of {n}: exact binomial, for these annotators only"
    return {"ci_low": low, "ci_high": high, "ci_kind": "exact_bound", "note": note}


def design_effects(annotations: Annotations, unit: str) -> ResultRows:
    """`design_effect` of the same rates, means and shares by other clusters, without intervals.

    unit : column that names the cluster; `annotator` counts single annotations, others items. With few clusters, such
    as annotators, read the value as a warning. Raises ValueError where the column is absent or has gaps.
    """
    require_unit(annotations, unit)
    scores, codes = numbered(annotations)
    heads = identities(scores, codes, unit)
    if unit != "annotator":
        scores, codes = item_means(scores, codes)
    clusters = cluster_sums(scores, codes, scores[unit])
    return pd.DataFrame(_design_effect(head, sums, unit) for head, (_, sums) in zip(heads, clusters, strict=True))


def _design_effect(head: dict[str, Any], sums: np.ndarray, unit: str) -> dict[str, Any]:
    deff = design_effect(*sums.T)
    row = {k: v for k, v in head.items() if k != "interval"} | {"statistic": "design_effect", "of": head["statistic"]}
    note = None if np.isfinite(deff) else "one cluster, or no spread"
    return row | {"unit": unit, "estimate": deff, "n_clusters": len(sums), "note": note}


def _intervals(
    heads: list[dict[str, Any]],
    clusters: list[tuple[np.ndarray, np.ndarray]],
    binary: pd.Series,
    unit: str,
    sampling: Sampling,
) -> list[dict[str, Any]]:
    """An interval for each estimate.

    Estimates of one system on the same clusters share their resamples, because drawing dominates the cost. With many
    clusters an estimate has its own, with equal clusters counted together.
    """
    out: dict[int, dict[str, Any]] = {}
    together: dict[tuple[tuple[str, ...], bytes], list[int]] = {}
    for i, (head, (names, sums)) in enumerate(zip(heads, clusters, strict=True)):
        n, s, q = sums.T
        if binary[i] and (rare := rare_interval(n, s, q, unit, sampling.confidence)):
            out[i] = rare
        elif few := few_interval(n, s, q, unit, sampling.confidence):
            ends = np.clip([few["ci_low"], few["ci_high"]], *((0, 1) if binary[i] else (-np.inf, np.inf)))
            out[i] = few | {"ci_low": ends[0], "ci_high": ends[1]}
        else:
            alone = (head["label"], _stream(head)) if len(names) > MANY_CLUSTERS else ()
            block = *(str(head[c]) for c in ("corpus", "method", "group", "system")), *alone
            together.setdefault((block, names.tobytes()), []).append(i)
    for (block, _), members in together.items():
        columns = [clusters[i][1][:, column] for column in (0, 1) for i in members]
        rng = sampling.stream("clustered_rates", unit, *block)
        for i, interval in zip(members, _bca(np.column_stack(columns), unit, rng, sampling), strict=True):
            out[i] = interval.row()
    return [out[i] for i in range(len(heads))]


def _stream(head: dict[str, Any]) -> str:
    """Names an estimate's random numbers, which must not change."""
    outcome = head["outcome"]
    return f"interval={head['interval']}" + (f";outcome={outcome}" if isinstance(outcome, str) else "")


def _bca(rows: np.ndarray, unit: str, rng: np.random.Generator, sampling: Sampling) -> list[Interval]:
    """BCa of m ratios of sums. rows : (clusters, 2 m), numbers of scores first, then sums."""
    m, counts = rows.shape[1] // 2, None
    if len(rows) > MANY_CLUSTERS:
        rows, counts = np.unique(rows, axis=0, return_counts=True)
    intervals = bootstrap_sums(
        rows,
        lambda sums: sums[:, m:] / sums[:, :m],
        unit=unit,
        rng=rng,
        counts=counts,
        n_resamples=sampling.n_resamples,
        confidence=sampling.confidence,
    )
    return intervals if isinstance(intervals, list) else [intervals]


def composition(annotations: Annotations) -> Iterator[dict[str, Any]]:
    """Of each rate, mean and share of a system rows of `unweighted` (the estimate in which every item counts once),
    `composition_effect` (the weighted estimate minus that: the sample holds more dialogues of some kinds than the
    population does) and `weight_effect` (design effect of the weights, 1 + CV²).

    None without sampling weights. `n` counts items. The first has no interval: it estimates nothing in the population.
    """
    if not sampled(annotations):
        return
    scores, codes = numbered(annotations)
    heads, (items, of) = identities(scores, codes, "weights"), item_means(scores, codes)
    x, weight = items["score"].to_numpy(float), items["sampling"].to_numpy()
    n = np.bincount(of)
    plain, hajek = np.bincount(of, x) / n, np.bincount(of, weight * x) / np.bincount(of, weight)
    for i, head in enumerate(heads):
        key = {k: v for k, v in head.items() if k not in ("interval", "statistic")} | {"of": head["statistic"]}
        yield key | {"statistic": "unweighted", "estimate": plain[i]}
        yield key | {"statistic": "composition_effect", "estimate": hajek[i] - plain[i]}
        yield key | {"statistic": "weight_effect", "estimate": kish(weight[of == i])}


#: with fewer clusters than this there is no bootstrap
FEW_CLUSTERS = 10


def wilson(successes: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a proportion of `n` independent trials; ValueError unless 0 <= successes <= n > 0."""
    if not 0 <= successes <= n or n < 1:
        raise ValueError(f"expected 0 <= successes <= n, n at least 1; found {successes} of {n}")
    low, high = wilson_of(successes / n, n, confidence)
    return float(low), float(high)


def wilson_of(
    share: np.ndarray | float, n: np.ndarray | float, confidence: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    """Ends of Wilson's score interval of a share of n trials, which need not be whole numbers. Arrays broadcast."""
    z = ndtri((1 + confidence) / 2)
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return np.where(share == 0, 0.0, centre - half), np.where(share == 1, 1.0, centre + half)  # exact at the ends


def design_effect(n: np.ndarray, s: np.ndarray, q: np.ndarray) -> float:
    """Variance of the mean of clustered scores relative to that of independent scores.

    Linearised variance of a ratio, with the correction c / (c - 1) for c clusters; NaN with fewer than two clusters or
    without spread.

    Parameters
    ----------
    n, s, q : (clusters,)
        Number of scores, their sum, and their sum of squares; with sampling weights weighted ones, so that the ratio is
        Hájek's estimate and the effect that of clusters and of weights (Särndal et al. 1992, section 5.7).

    References
    ----------
    Cochran 1977, Sampling Techniques, eq. 9.15 with 2.46.
    """
    c, total = len(n), n.sum()
    spread = q.sum() - s.sum() ** 2 / total
    if c < 2 or total < 2 or spread <= 1e-12 * max(q.sum(), 1):
        return np.nan
    residual = s - n * s.sum() / total
    clustered = c / (c - 1) * np.sum(residual**2) / total**2
    return float(clustered / (spread / (total - 1) / total))


def few_interval(
    n: np.ndarray, s: np.ndarray, q: np.ndarray, unit: str, confidence: float = 0.95
) -> dict[str, Any] | None:
    """Interval of a mean from fewer than FEW_CLUSTERS clusters as columns of a result row, else None.

    n, s, q : as in `design_effect`. A bootstrap of few clusters is too narrow: this is Student's t with one degree of
    freedom fewer than clusters, on the linearised variance of `design_effect`.
    """
    c, total = len(n), n.sum()
    if c >= FEW_CLUSTERS:
        return None
    mean, deff = s.sum() / total, design_effect(n, s, q)
    row = {"estimate": mean, "ci_low": np.nan, "ci_high": np.nan, "ci_kind": "not_estimable"}
    row |= {"resample_unit": unit, "n_clusters": c, "n_undefined": 0, "note": f"one {unit}, or no spread"}
    if not np.isfinite(deff) or deff == 0:
        return row
    variance = deff * (q.sum() - s.sum() ** 2 / total) / (total - 1) / total
    half = stdtrit(c - 1, (1 + confidence) / 2) * np.sqrt(variance)
    return row | {"ci_low": mean - half, "ci_high": mean + half, "ci_kind": "t", "note": "few clusters: Student's t"}


def rare_bound(marks: float, n: int, n_clusters: int, deff: float, confidence: float = 0.95) -> tuple[float, float]:
    """Interval of a rate with few marks of one kind in a clustered sample: exact binomial with the effective number.

    With no mark, or with nothing but marks, the design effect is unknown; each cluster then counts as one trial, which
    is conservative, as a rate cannot exceed the share of clusters with the mark. With deff 1 and as many clusters as
    scores it is Clopper and Pearson's interval.

    Parameters
    ----------
    marks, n, n_clusters : number
        Marks among `n` scores in `n_clusters` clusters; no whole number where several annotations of an item differ.
    deff : float
        The design effect; below 1 counts as 1.

    References
    ----------
    Korn and Graubard 1998, section 2.
    """
    tail, effective = (1 - confidence) / 2, effective_trials(marks, n, n_clusters, deff, confidence)
    x = marks / n * effective
    low = betaincinv(x, effective - x + 1, tail) if marks > 0 else 0.0
    high = betaincinv(x + 1, effective - x, 1 - tail) if marks < n else 1.0
    return float(low), float(high)


def effective_trials(marks: float, n: int, n_clusters: int, deff: float, confidence: float = 0.95) -> float:
    """How many independent trials say as much as n clustered ones: arguments as for `rare_bound`."""
    if marks in (0, n) or n_clusters < 2 or not np.isfinite(deff):
        return float(n_clusters)
    tail = (1 - confidence) / 2
    ratio = stdtrit(n - 1, tail) / stdtrit(n_clusters - 1, tail)
    return float(min(n, n / max(deff, 1.0) * ratio**2))


def clustered_wilson(n: np.ndarray, s: np.ndarray, unit: str, confidence: float = 0.95) -> dict[str, Any]:
    """A share of clustered trials with Wilson's interval at their effective number, as columns of a result row.

    Holds for few trials and shares near 0 and 1, where a bootstrap says too little. Of independent trials it is
    Wilson's interval; where all trials have the same outcome, each cluster counts as one.

    Parameters
    ----------
    n, s : (clusters,)
        Trials and successes of each cluster, whole numbers; clusters without trials do not count.
    unit : str
        What a cluster is.

    Returns
    -------
    estimate, ci_low, ci_high, ci_kind, resample_unit, n_clusters, n (trials) and note. No interval, and the reason,
    without trials (the estimate is then missing), or with one cluster of several.

    References
    ----------
    Korn and Graubard 1998, section 2 (the effective number); Franco, Little, Louis and Slud 2019, Journal of Survey
    Statistics and Methodology 7, 334-364 (Wilson's interval with it).
    """
    n, s = n[n > 0], s[n > 0]
    trials, hits, c = int(n.sum()), float(s.sum()), len(n)
    row = {"resample_unit": unit, "n_clusters": c, "n": trials}
    if not trials or (c == 1 and trials > 1):
        note = f"all in one {unit}" if trials else "nothing to take a share of"
        return row | {"estimate": hits / trials if trials else np.nan, "ci_kind": "not_estimable", "note": note}
    effective = effective_trials(hits, trials, c, design_effect(n, s, s), confidence)
    low, high = wilson_of(hits / trials, effective, confidence)
    return row | {"estimate": hits / trials, "ci_low": float(low), "ci_high": float(high), "ci_kind": "wilson"}


def rare_interval(
    n: np.ndarray, s: np.ndarray, q: np.ndarray, unit: str, confidence: float = 0.95
) -> dict[str, Any] | None:
    """`rare_bound` as columns of a result row where fewer than MIN_MINORITY marks are of the rarer kind, else None.

    n, s, q : as in `design_effect`, of scores from 0 to 1.
    """
    marks, total = float(np.round(s.sum(), 9)), round(n.sum())
    if min(marks, total - marks) >= MIN_MINORITY:
        return None
    low, high = rare_bound(marks, total, len(n), design_effect(n, s, q), confidence)
    note = f"{marks:g} of {total}: too few of one kind for the bootstrap; exact binomial with the effective number"
    row = {"estimate": marks / total, "ci_low": low, "ci_high": high, "ci_kind": "exact_bound"}
    return row | {"resample_unit": unit, "n_clusters": len(n), "n_undefined": 0, "note": note}
