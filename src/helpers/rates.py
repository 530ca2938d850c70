"""Rates, means and win shares of systems, as published and with intervals that respect clustering.

`published` treats every score as independent (Wilson for rates and shares, Student's t for means), as Finch et al. 2023
do in Figures 4 to 8. `clustered` resamples whole dialogues, sessions or interactors, and says by how much the variance
of the mean grows (the design effect). Turns of a dialogue resemble each other, so the first kind is too narrow.

References: Wilson 1927, JASA 22, 209-212; Korn and Graubard 1998, Survey Methodology 24, 193-201 (intervals of rare
marks in clustered samples).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from scipy import stats

from helpers.labels import METHODS
from helpers.resampling import MIN_MINORITY, Interval, bootstrap_sums, bootstrap_two_way, generator
from helpers.schema import condition

#: one estimate for each combination of these
CELL = ["corpus", "method", "label", "group", "system"]
#: result of a comparison for one side -> name of the share
OUTCOMES = {"win": 1, "tie": 0, "loss": -1}


def sides(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Comparisons seen from each of the two dialogues: two rows a comparison, the score with opposite signs.

    comparisons : one row a comparison (`dialogue, system, dialogue_b, system_b, score` with +1 the first wins). Other
    columns are repeated. Adds `item`, the same for both sides. Raises ValueError where a score is not -1, 0 or 1 or the
    other side is missing. Checked by hand.
    """
    if comparisons[["dialogue_b", "system_b"]].isna().any(axis=None):
        raise ValueError("a comparison lacks its other side: dialogue_b and system_b must be given in every row")
    if not comparisons["score"].isin([-1, 0, 1]).all():
        raise ValueError(f"a comparison scores -1, 0 or 1; found {sorted(comparisons['score'].unique().tolist())}")
    left = comparisons.assign(item=comparisons["dialogue"].astype(str) + "\x1f" + comparisons["dialogue_b"].astype(str))
    swap = {"dialogue": "dialogue_b", "dialogue_b": "dialogue", "system": "system_b", "system_b": "system"}
    right = left.rename(columns=swap)[left.columns].assign(score=-left["score"])
    return pd.concat([left, right], ignore_index=True)


def require_unit(annotations: pd.DataFrame, unit: str) -> None:
    """Raise ValueError unless the column `unit` names the cluster of every annotation."""
    if unit not in annotations or annotations[unit].isna().any():
        raise ValueError(f"unit: the column {unit!r} must be known for every annotation; name another unit")


def wilson(successes: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a proportion of `n` independent trials.

    Raises ValueError unless 0 <= successes <= n and n > 0. statsmodels' `proportion_confint` does the work; checked
    against R's `prop.test(correct = FALSE)`.
    """
    from statsmodels.stats.proportion import proportion_confint  # here, because importing it takes a second

    if not 0 <= successes <= n or n < 1:
        raise ValueError(f"expected 0 <= successes <= n, n at least 1; found {successes} of {n}")
    low, high = proportion_confint(successes, n, alpha=1 - confidence, method="wilson")
    return float(low), float(high)


def student_t(x: np.ndarray, confidence: float = 0.95) -> tuple[float, float, str]:
    """Student's t interval of the mean of independent scores, and '' or why there is none (fewer than 2, or all equal).

    Checked against R's `t.test`.
    """
    n = len(x)
    if n < 2 or np.ptp(x) == 0:
        return np.nan, np.nan, "fewer than two scores" if n < 2 else "all scores are equal"
    half = stats.t.ppf((1 + confidence) / 2, n - 1) * np.std(x, ddof=1) / np.sqrt(n)
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
        ratio = stats.t.ppf(tail, n - 1) / stats.t.ppf(tail, n_clusters - 1)
        effective = min(n, n / max(deff, 1.0) * ratio**2)
    x = p * effective
    low = stats.beta.ppf(tail, x, effective - x + 1) if marks > 0 else 0.0
    high = stats.beta.ppf(1 - tail, x + 1, effective - x) if marks < n else 1.0
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


def outcomes(annotations: pd.DataFrame) -> pd.DataFrame:
    """The scores to be averaged, with the statistic each belongs to.

    Adds `statistic`, `outcome` and `binary`: a comparison gives a 0/1 row for each side and each of win, tie and loss
    (`share`); labels marked 0/1 give `rate`; all others `mean`. Checked by hand.
    """
    pairwise = annotations["method"].map(lambda m: METHODS[m].unit == "pair").astype(bool)
    plain = annotations[~pairwise]
    values = plain["score"].isin([0, 1]).groupby([plain["method"], plain["label"]]).transform("all").astype(bool)
    out = [plain.assign(statistic=np.where(values, "rate", "mean"), outcome=None, binary=values)]
    if pairwise.any():
        both = sides(annotations[pairwise])
        out += [
            both.assign(statistic="share", outcome=name, binary=True, score=(both["score"] == value).astype(float))
            for name, value in OUTCOMES.items()
        ]
    return pd.concat(out, ignore_index=True)


def published(annotations: pd.DataFrame, *, confidence: float = 0.95) -> pd.DataFrame:
    """Rates and win, tie and loss shares with Wilson's interval, means with Student's t, as if scores were independent.

    annotations : one annotation an item. One result row a corpus, method, label, group, system and outcome (`rate`,
    `mean`, `share`). Finch et al. 2023, Figures 4 to 8. Checked on counts against R's `prop.test` and `t.test`.
    """
    out = []
    for key, rows in outcomes(annotations).groupby([*CELL, "statistic", "outcome"], sort=False, dropna=False):
        x = rows["score"].to_numpy(dtype=float)
        if rows["binary"].iloc[0]:
            (low, high), kind, reason = wilson(int(x.sum()), len(x), confidence), "wilson", ""
        else:
            low, high, reason = student_t(x, confidence)
            kind = "not_estimable" if reason else "t"
        row = {"estimate": x.mean(), "ci_low": low, "ci_high": high, "ci_kind": kind, "note": reason or None}
        out.append({**_identity(key, "independent"), **row, "resample_unit": _level(key[1]), **_counts(rows)})
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
    Result rows `rate`, `mean`, `share` (BCa; with fewer than MIN_MINORITY marks of the rarer kind `rare_bound`) and
    `design_effect`.

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
    out = []
    for key, rows in outcomes(annotations).groupby([*CELL, "statistic", "outcome"], sort=False, dropna=False):
        x = rows["score"].to_numpy(dtype=float)
        codes = rows[unit].factorize()[0]
        n, s, q = (np.bincount(codes, w) for w in (np.ones(len(x)), x, x**2))
        deff = design_effect(n, s, q)
        found = rare_interval(n, s, q, unit, confidence) if rows["binary"].iloc[0] else None
        if found is None:
            rng = generator(seed, "clustered_rates", *map(str, key))
            found = _bca(n, s, unit, rng, n_resamples, confidence)
        out.append({**_identity(key, unit), **found, **_counts(rows)})
        reason = None if np.isfinite(deff) else "one cluster, or no spread"
        deff_row = {"statistic": "design_effect", "estimate": deff, "note": reason, "n_clusters": len(n)}
        deff_row["condition"] = condition(of=key[-2], outcome=_text(key[-1]), unit=unit)
        out.append({**_identity(key, unit), **deff_row, **_counts(rows)})
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
        head = {**_identity(key, what), **_counts(rows)}
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


def _bca(n, s, unit, rng, n_resamples, confidence) -> dict:
    """BCa of the ratio of sums; clusters alike are counted together, so that the cost does not grow with them."""
    rows, counts = np.unique(np.stack([n, s], axis=1), axis=0, return_counts=True)
    interval = bootstrap_sums(
        rows,
        lambda sums: sums[:, 1] / sums[:, 0],
        unit=unit,
        rng=rng,
        counts=counts,
        n_resamples=n_resamples,
        confidence=confidence,
    )
    return interval.row()


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _level(method: str) -> str:
    return METHODS[method].unit


def _identity(key: Sequence, independent_of: str) -> dict:
    *cell, statistic, outcome = key
    return {
        **dict(zip(CELL, cell, strict=True)),
        "statistic": statistic,
        "level": _level(cell[1]),
        "condition": condition(outcome=_text(outcome), interval=independent_of),
    }


def _counts(rows: pd.DataFrame) -> dict:
    return {"n": len(rows), "n_annotators": rows["annotator"].nunique() if "annotator" in rows else None}
