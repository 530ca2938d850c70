"""Rates, means and win shares of systems, as published and with intervals that respect clustering.

`published` treats every score as independent (Wilson for rates and shares, Student's t for means), as Finch et al. 2023
do in Figures 4 to 8. `clustered` resamples whole dialogues, sessions or interactors, and says by how much the variance
of the mean grows (the design effect). Turns of a dialogue resemble each other, so the first kind is too narrow.

References: Wilson 1927, JASA 22, 209-212; Korn and Graubard 1998, Survey Methodology 24, 193-201 (intervals of rare
marks in clustered samples).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pandas as pd

from helpers.distributions import beta_ppf, norm_ppf, t_ppf
from helpers.resampling import MIN_MINORITY, Interval, bootstrap_sums, bootstrap_two_way, generator
from helpers.schema import condition, read_condition
from helpers.scores import CELL, cluster_sums, identities, identity, numbered, outcomes, require_unit

#: from so many clusters on, those that are alike are counted together in resampling
MANY_CLUSTERS = 2_000
#: with fewer clusters than this there is no bootstrap
FEW_CLUSTERS = 10


def wilson(successes: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a proportion of `n` independent trials.

    Raises ValueError unless 0 <= successes <= n and n > 0. Checked as `wilson_of` is.
    """
    if not 0 <= successes <= n or n < 1:
        raise ValueError(f"expected 0 <= successes <= n, n at least 1; found {successes} of {n}")
    low, high = wilson_of(successes / n, n, confidence)
    return float(low), float(high)


def wilson_of(share, n, confidence: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Ends of Wilson's score interval of a share of n trials, neither of which need be whole. Arrays broadcast.

    Wilson 1927, JASA 22, 209-212. Checked against `scipy.stats.binomtest` and R's `prop.test(correct = FALSE)`.
    """
    z = norm_ppf((1 + confidence) / 2)
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return np.where(share == 0, 0.0, centre - half), np.where(share == 1, 1.0, centre + half)  # exact at the ends


def student_t(x: np.ndarray, confidence: float = 0.95) -> tuple[float, float, str]:
    """Student's t interval of the mean of independent scores, and '' or why there is none (fewer than 2, or all equal).

    Checked against R's `t.test`.
    """
    n = len(x)
    if n < 2 or np.ptp(x) == 0:
        return np.nan, np.nan, "fewer than two scores" if n < 2 else "all scores are equal"
    half = t_ppf((1 + confidence) / 2, n - 1) * np.std(x, ddof=1) / np.sqrt(n)
    return float(np.mean(x) - half), float(np.mean(x) + half), ""


def design_effect(n: np.ndarray, s: np.ndarray, q: np.ndarray) -> float:
    """Variance of the mean of clustered scores over what it were if the scores were independent.

    n, s, q : (clusters,) number of scores, their sum, and their sum of squares. Linearised variance of a ratio, with
    the correction c / (c - 1) for c clusters. Missing (NaN) with fewer than two clusters or without any spread.

    Cochran 1977, Sampling Techniques, eq. 9.15 with 2.46. Checked against the cluster-robust covariance of
    `statsmodels.OLS`.
    """
    c, total = len(n), n.sum()
    spread = q.sum() - s.sum() ** 2 / total
    if c < 2 or total < 2 or spread <= 1e-12 * max(q.sum(), 1):
        return np.nan
    residual = s - n * s.sum() / total
    clustered = c / (c - 1) * np.sum(residual**2) / total**2
    return float(clustered / (spread / (total - 1) / total))


def few_interval(n: np.ndarray, s: np.ndarray, q: np.ndarray, unit: str, confidence: float = 0.95) -> dict | None:
    """Interval of a mean from fewer than FEW_CLUSTERS clusters as columns of a result row, else None.

    n, s, q : (clusters,) number of scores, their sum, and their sum of squares. A bootstrap of few clusters is too
    narrow: this is Student's t with clusters less 1 degrees of freedom on the linearised variance of `design_effect`.
    Checked against Student's t of single scores and the cluster-robust covariance of `statsmodels.OLS`.
    """
    c, total = len(n), n.sum()
    if c >= FEW_CLUSTERS:
        return None
    mean, deff = s.sum() / total, design_effect(n, s, q)
    found = {"estimate": mean, "ci_low": np.nan, "ci_high": np.nan, "ci_kind": "not_estimable"}
    found |= {"resample_unit": unit, "n_clusters": c, "n_undefined": 0, "note": f"one {unit}, or no spread"}
    if not np.isfinite(deff) or deff == 0:
        return found
    variance = deff * (q.sum() - s.sum() ** 2 / total) / (total - 1) / total
    half = t_ppf((1 + confidence) / 2, c - 1) * np.sqrt(variance)
    return found | {"ci_low": mean - half, "ci_high": mean + half, "ci_kind": "t", "note": "few clusters: Student's t"}


def rare_bound(marks: int, n: int, n_clusters: int, deff: float, confidence: float = 0.95) -> tuple[float, float]:
    """Interval of a rate with few marks of one kind in a clustered sample: exact binomial with the effective number.

    marks of `n` scores in `n_clusters` clusters; `deff` the design effect (below 1 counts as 1). Without any mark, or
    with nothing but marks, the design effect is unknown: the clusters then count as one trial each, which is safe, as a
    rate cannot exceed the share of clusters that show the mark.

    Korn and Graubard 1998, section 2. With deff 1 and as many clusters as scores it is Clopper and Pearson's interval,
    against which it is checked (`scipy.stats.binomtest`); coverage checked by simulation.
    """
    p, tail = marks / n, (1 - confidence) / 2
    if marks in (0, n) or n_clusters < 2 or not np.isfinite(deff):
        effective = float(n_clusters)
    else:
        ratio = t_ppf(tail, n - 1) / t_ppf(tail, n_clusters - 1)
        effective = min(n, n / max(deff, 1.0) * ratio**2)
    x = p * effective
    low = beta_ppf(tail, x, effective - x + 1) if marks > 0 else 0.0
    high = beta_ppf(1 - tail, x + 1, effective - x) if marks < n else 1.0
    return float(low), float(high)


def rare_interval(n: np.ndarray, s: np.ndarray, q: np.ndarray, unit: str, confidence: float = 0.95) -> dict | None:
    """`rare_bound` as columns of a result row where fewer than MIN_MINORITY marks are of the rarer kind, else None.

    n, s, q : (clusters,) number of 0/1 scores, their sum and sum of squares. Checked through `rare_bound`.
    """
    marks, total = int(s.sum()), int(n.sum())
    if min(marks, total - marks) >= MIN_MINORITY:
        return None
    low, high = rare_bound(marks, total, len(n), design_effect(n, s, q), confidence)
    note = f"{marks} of {total}: too few of one kind for the bootstrap; exact binomial with the effective number"
    found = {"estimate": marks / total, "ci_low": low, "ci_high": high, "ci_kind": "exact_bound"}
    return found | {"resample_unit": unit, "n_clusters": len(n), "n_undefined": 0, "note": note}


def published(annotations: pd.DataFrame, *, confidence: float = 0.95) -> pd.DataFrame:
    """Rates and win, tie and loss shares with Wilson's interval, means with Student's t, as if scores were independent.

    annotations : one annotation an item. One result row a corpus, method, label, group, system and outcome (`rate`,
    `mean`, `share`). Finch et al. 2023, Figures 4 to 8. Checked on counts against R's `prop.test` and `t.test`.
    """
    scores, codes = numbered(annotations)
    order, binary = np.argsort(codes, kind="stable"), scores["binary"].to_numpy()
    ends = np.cumsum(np.bincount(codes))[:-1] if len(codes) else []
    out = []
    for head, at in zip(identities(scores, codes, "independent"), np.split(order, ends), strict=True):
        x = scores["score"].to_numpy(dtype=float)[at]
        if binary[at[0]]:
            (low, high), kind, reason = wilson(int(x.sum()), len(x), confidence), "wilson", ""
        else:
            low, high, reason = student_t(x, confidence)
            kind = "not_estimable" if reason else "t"
        row = {"estimate": x.mean(), "ci_low": low, "ci_high": high, "ci_kind": kind, "note": reason or None}
        out.append({**head, **row, "resample_unit": head["level"]})
    return pd.DataFrame(out)


def clustered(
    annotations: pd.DataFrame,
    *,
    seed: int,
    unit: str = "dialogue",
    n_resamples: int = 10_000,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """The same rates, means and shares with intervals that resample whole clusters, and their design effects.

    Parameters
    ----------
    annotations : frame
        One annotation an item, with the column `unit`.
    unit : str
        The column that names the cluster: dialogue, session, interactor, annotator, …

    Returns
    -------
    Result rows `rate`, `mean`, `share` (BCa; with fewer than MIN_MINORITY marks of the rarer kind `rare_bound`, with
    fewer than FEW_CLUSTERS clusters `few_interval`) and `design_effect`.

    Raises
    ------
    ValueError
        The column is absent or has gaps.

    Notes
    -----
    Where every score is a cluster of its own the design effect is 1. Checked against `scipy.stats.bootstrap` on
    dialogue sums, `statsmodels` cluster-robust variance, and by simulated coverage.
    """
    require_unit(annotations, unit)
    scores, codes = numbered(annotations)
    heads, clusters = identities(scores, codes, unit), cluster_sums(scores, codes, scores[unit])
    found = _intervals(heads, clusters, scores["binary"].groupby(codes).first(), unit, seed, n_resamples, confidence)
    out = []
    for head, interval, (_, sums) in zip(heads, found, clusters, strict=True):
        out += [{**head, **interval}, {**head, **_design_effect_row(head, sums, unit)}]
    return pd.DataFrame(out)


def design_effects(annotations: pd.DataFrame, units: Iterable[str | tuple[str, str]]) -> pd.DataFrame:
    """Design effects of the same rates, means and shares by other clusters, without intervals.

    units : columns that name clusters; a pair of columns is two-way: its variance is that of either less that of their
    intersections (Cameron, Gelbach and Miller 2011, Journal of Business & Economic Statistics 29, 238-249, eq. 2.9),
    missing where this is negative. With few clusters, say annotators, read the value as a warning.

    Result rows `design_effect`. Raises ValueError where a column is absent or has gaps. Checked against the one-way and
    two-way cluster-robust covariance of `statsmodels.OLS`.
    """
    scores, codes = numbered(annotations)
    out = []
    for unit in units:
        columns = [unit] if isinstance(unit, str) else list(unit)
        for column in columns:
            require_unit(annotations, column)
        name = " and ".join(columns)
        heads, parts = identities(scores, codes, name), [cluster_sums(scores, codes, scores[c]) for c in columns]
        if len(columns) > 1:
            parts.append(cluster_sums(scores, codes, scores.groupby(columns, sort=False).ngroup()))
        for head, *sums in zip(heads, *parts, strict=True):
            out.append({**head, **_design_effect_row(head, sums[0][1], name, [s for _, s in sums[1:]])})
    return pd.DataFrame(out)


def two_way(
    annotations: pd.DataFrame,
    *,
    seed: int,
    unit: str = "dialogue",
    n_resamples: int = 10_000,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """The same rates, means and shares with intervals that resample annotators too, as other people might have judged.

    annotations : one annotation an item, with the column `unit`. Result rows `rate`, `mean`, `share`; percentile
    intervals, somewhat wide (see `resampling.bootstrap_two_way`). The reason stands instead where annotators are
    positions or fewer than two. With a handful of annotators read it as a warning: three people are no sample.

    Raises ValueError where the column is absent or has gaps. Checked by simulated coverage of a mean with annotators
    and dialogues as random effects.
    """
    require_unit(annotations, unit)
    out = []
    for key, rows in outcomes(annotations).groupby([*CELL, "statistic", "outcome"], sort=False, dropna=False):
        what = f"{unit} and annotator"
        head = {**identity(key, what), **_counts(rows)}
        (clusters, names), (people, annotators) = (pd.factorize(rows[c]) for c in (unit, "annotator"))
        x, reason = rows["score"].to_numpy(dtype=float), ""
        if "annotator_known" in rows and not rows["annotator_known"].all():
            reason = "annotators are positions, not people"
        elif len(annotators) < 2:
            reason = "one annotator only"
        if reason:
            found = Interval(float(x.mean()), np.nan, np.nan, "not_estimable", what, len(names), note=reason)
        else:
            tables = np.zeros((2, len(names), len(annotators)))
            np.add.at(tables, (0, clusters, people), 1.0)
            np.add.at(tables, (1, clusters, people), x)
            rng = generator(seed, "two_way_rates", *map(str, key))
            size = {"n_resamples": n_resamples, "confidence": confidence}
            found = bootstrap_two_way(len(names), len(annotators), _two_way_mean(tables), rng=rng, unit=what, **size)
        out.append({**head, **found.row(), "n_clusters": len(names)})
    return pd.DataFrame(out)


def _two_way_mean(tables: np.ndarray) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Mean score when clusters and annotators are weighted; tables : counts and sums by cluster and annotator."""

    def statistic(clusters: np.ndarray, annotators: np.ndarray) -> np.ndarray:
        n, total = (np.einsum("ka,ka->k", clusters @ table, annotators) for table in tables)
        return total / n

    return statistic


def _design_effect_row(head: dict, sums: np.ndarray, unit: str, others: Sequence[np.ndarray] = ()) -> dict:
    """others : the sums by the second cluster and by the intersections, for a two-way design effect."""
    deff = design_effect(*sums.T)
    if others:
        deff += design_effect(*others[0].T) - design_effect(*others[1].T)
    keys = read_condition(head["condition"])
    named = condition(of=head["statistic"], outcome=keys.get("outcome"), unit=unit)
    known = np.isfinite(deff) and (deff > 0 or not others)
    return {
        "statistic": "design_effect",
        "condition": named,
        "estimate": deff if known else np.nan,
        "note": None if known else "the variance comes out negative" if others else "one cluster, or no spread",
        "n_clusters": min(len(s) for s in (sums, *others)),
    }


def _intervals(heads, clusters, binary, unit, seed, n_resamples, confidence) -> list[dict]:
    """An interval for each estimate.

    Estimates of one system on the same clusters share their resamples, because drawing is what costs. Where clusters
    are many, an estimate has its own, with clusters that are alike counted together.
    """
    out: list[dict | None] = [None] * len(heads)
    together: dict[tuple, list[int]] = {}
    for i, (head, (names, sums)) in enumerate(zip(heads, clusters, strict=True)):
        out[i] = rare_interval(*sums.T, unit, confidence) if binary[i] else None
        if out[i] is None and (few := few_interval(*sums.T, unit, confidence)):
            ends = np.clip([few["ci_low"], few["ci_high"]], *((0, 1) if binary[i] else (-np.inf, np.inf)))
            out[i] = few | {"ci_low": ends[0], "ci_high": ends[1]}
        if out[i] is None:
            alone = (head["label"], head["condition"]) if len(names) > MANY_CLUSTERS else ()
            block = *(head[c] for c in ("corpus", "method", "group", "system")), *alone
            together.setdefault((block, names.tobytes()), []).append(i)
    size = {"n_resamples": n_resamples, "confidence": confidence}
    for (block, _), members in together.items():
        rng = generator(seed, "clustered_rates", unit, *map(str, block))
        sums = [clusters[i][1][:, column] for column in (0, 1) for i in members]
        for i, interval in zip(members, _bca(np.column_stack(sums), unit=unit, rng=rng, **size), strict=True):
            out[i] = interval.row()
    return out


def _bca(rows: np.ndarray, **options) -> list[Interval]:
    """BCa of m ratios of sums. rows : (clusters, 2 m), the numbers of scores before the sums."""
    m, counts = rows.shape[1] // 2, None
    if len(rows) > MANY_CLUSTERS:
        rows, counts = np.unique(rows, axis=0, return_counts=True)
    return bootstrap_sums(rows, lambda sums: sums[:, m:] / sums[:, :m], counts=counts, **options)


def _counts(rows: pd.DataFrame) -> dict:
    return {"n": len(rows), "n_annotators": rows["annotator"].nunique() if "annotator" in rows else None}
