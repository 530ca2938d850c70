"""Importance: does a label predict how good a dialogue is? (predictive validity, Finch et al. 2023, section 7.2)

As published: R² of a linear model of the interactors' rating of quality, and McFadden's pseudo-R² of a logit of the
dialogue they preferred, one predictor at a time. The two are different quantities and are never put on one axis.

Primary: the signed correlation, with an interval that takes the people who had the dialogues as the sample (all
dialogues of a person together); R² has the interval of r, squared. An interval of R² itself cannot hold 0 and fails
near it. The interval leaves out one person at a time (jackknife), on Fisher's z scale, with Student's t for the
number of people. BCa over people stands beside it: it is too narrow with so few of them. In simulations with people's
effects (two of them in tests/test_validity.py) the jackknife covers 94 to 96 % with 46, 20 or 10 people, BCa 92, 89
and 87 %.

What measurement error hides is shown beside: r divided by the root of the label's reliability (Spearman 1904).

When it misleads: a label judged together with quality by the same person (a halo) predicts it without being about the
dialogue; here the two come from different people, but labels that one annotator gave together still share that
annotator's impression. A low value can be a noisy label, hence the corrected one; a rare label can matter and explain
little. p-values of the F and likelihood ratio tests take dialogues as independent, as the paper does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import nan

import numpy as np
import pandas as pd

from helpers import logit
from helpers.distributions import f_sf, t_ppf
from helpers.resampling import MIN_MINORITY, Interval, Replicates, generator, replicate_sums
from helpers.schema import condition
from helpers.values import COMPARATIVE_QUALITY, Design

Row = dict[str, object]
#: an interval over clusters is not given with fewer
MIN_CLUSTERS = 5


def importance(
    design: Design,
    *,
    seed: int,
    repeats: tuple[Design, Design] | None = None,
    n_annotators: Mapping[tuple[str, str], int] | None = None,
    n_resamples: int = 10_000,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """How well each label alone predicts the target.

    Parameters
    ----------
    design : `values.dialogue_design` or `values.comparative_design`
        A predictor is used on the rows that have it.
    seed : int
        Each label has a stream of its own.
    repeats : two designs of the same target
        Made from the two frames of `values.repeated_values`; gives reliabilities and corrected correlations.
    n_annotators : (method, label) -> how many people judged it, for the result rows

    Returns
    -------
    Result rows, condition target=…:
        r : signed Pearson correlation (with a 0/1 target: point-biserial), once more with its BCa interval as kind=bca;
        r2, f_test : linear model, for dialogue_quality; the interval is that of r, squared;
        mcfadden_r2, llr : logit, for comparative_quality; the interval is that of the signed root, squared;
        coefficient, firth_coefficient : change in log-odds for one standard deviation of the predictor. Under
        separation the first is missing;
        separated : 1 where the logit's likelihood has no maximum; mcfadden_r2 is then from its supremum;
        repeat_reliability, corrected_r : with `repeats`. The target's own error is not corrected: it was rated once.
    A predictor that cannot be used has one row, r, missing, with the reason.

    Notes
    -----
    r: checked against `scipy.stats.pearsonr`; intervals: by simulation with effects of people. R², F and LLR: against
    `statsmodels` and R (tests/reference/regression.R).
    """
    rows: list[Row] = []
    twice = () if repeats is None else _matching(design, repeats)
    for i, column in enumerate(design.x.columns):
        known = design.x.iloc[:, i].notna().to_numpy()
        rng = generator(seed, "importance", design.target, *column)
        again = [x[known, i] for x in twice]
        one = _Label(design.rows(known), i, again, rng, n_resamples, confidence)
        people = {} if n_annotators is None else {"n_annotators": n_annotators.get(tuple(column))}
        rows += [row | people for row in one.rows()]
    return pd.DataFrame(rows)


def linear_test(r: float, n: int, k: int = 1) -> tuple[float, float]:
    """F statistic and p-value of a linear model with k predictors, multiple correlation r and n rows.

    Infinite and 0 for a perfect fit. Checked against `statsmodels.OLS` and R.
    """
    if 1 - r**2 < 1e-15:
        return np.inf, 0.0
    f = r**2 / k / ((1 - r**2) / (n - k - 1))
    return float(f), float(f_sf(f, k, n - k - 1))


def squared(interval: Interval) -> Interval:
    """The interval of a squared quantity from that of the signed one: its values squared, so 0 when it spans 0.

    Checked by hand.
    """
    ends = sorted((interval.low**2, interval.high**2))
    low = 0.0 if interval.low <= 0 <= interval.high else ends[0]
    return replace(interval, estimate=interval.estimate**2, low=low, high=ends[1])


def jackknife_t(
    estimate: float, jackknife: np.ndarray, unit: str, confidence: float = 0.95, *, bounded: bool = True
) -> Interval:
    """Student's t interval from leave-one-out values, one a cluster: for few clusters.

    estimate : the statistic; jackknife : (c,) the statistic without each cluster; unit : what a cluster is.
    bounded : the statistic lies between -1 and 1 and is taken to Fisher's z first.

    Standard error: root of (c - 1)/c times the sum of squares of the leave-one-out values about their mean (Tukey 1958;
    Efron and Tibshirani 1993, eq. 11.5); c - 1 degrees of freedom. Not estimable with fewer than MIN_CLUSTERS clusters,
    where a leave-one-out value is undefined, or where a bounded statistic is at its bound. Checked by hand for a mean,
    where it is the t interval of the cluster means, and by simulation for correlations.
    """
    z, values, c = float(estimate), np.asarray(jackknife, dtype=float), len(jackknife)

    def refuse(reason: str) -> Interval:
        return Interval(z, nan, nan, "not_estimable", unit, c, int(np.sum(~np.isfinite(values))), 0, reason)

    if not np.isfinite(z):
        return refuse("the statistic is undefined on these data")
    if c < MIN_CLUSTERS:
        return refuse(f"{c} clusters ({unit}) are too few for an interval; {MIN_CLUSTERS} are needed")
    if not np.all(np.isfinite(values)):
        return refuse(f"undefined without one {unit}")
    if bounded and max(abs(z), np.abs(values).max()) >= 1 - 1e-12:
        return refuse("the statistic is at its bound")
    there, back = (np.arctanh, np.tanh) if bounded else (np.asarray, float)
    moved = there(values)
    error = np.sqrt((c - 1) / c * np.sum((moved - moved.mean()) ** 2))
    half = t_ppf((1 + confidence) / 2, c - 1) * error
    low, high = (float(back(there(z) + side)) for side in (-half, half))
    return Interval(z, low, high, "jackknife_t", unit, c, standard_error=float(error))


def _matching(design: Design, repeats: tuple[Design, Design]) -> list[np.ndarray]:
    for other in repeats:
        if other.target != design.target or len(other.y) != len(design.y):
            raise ValueError("repeats: expected two designs with the same target and rows as `design`")
    return [d.x.reindex(columns=design.x.columns).to_numpy(float) for d in repeats]


class _Label:
    """One predictor of one target, and its result rows."""

    def __init__(self, design: Design, i: int, repeats: list[np.ndarray], rng, n_resamples: int, confidence: float):
        self.x, self.y, self.column = design.x.iloc[:, i].to_numpy(float), design.y, design.x.columns[i]
        self.design, self.repeats, self.rng = design, repeats, rng
        self.n_resamples, self.confidence = n_resamples, confidence
        self.clusters = np.unique(design.clusters.astype(str), return_inverse=True)[1]
        self.n_clusters = int(self.clusters.max(initial=-1)) + 1

    def row(self, statistic: str, values: Row, **keys: str) -> Row:
        method, label = self.column
        fixed = {"statistic": statistic, "level": self.design.level, "method": method, "label": label}
        where = {"condition": condition(target=self.design.target, **keys)}
        return fixed | where | {"n": len(self.x), "n_clusters": self.n_clusters} | values

    def rows(self) -> list[Row]:
        reason = self._unusable()
        if reason:
            return [self.row("r", {"estimate": nan, "ci_kind": "not_estimable", "note": reason})]
        found = self._correlations()
        r = self._jackknife(found, 0)
        out = [
            self.row("r", r.row()),
            self.row("r", self._guard(found.intervals(self.confidence)[0]).row(), kind="bca"),
        ]
        if len(found.estimate) > 1:
            out.append(self.row("repeat_reliability", self._jackknife(found, 1).row()))
            out.append(self.row("corrected_r", self._jackknife(found, 2, bounded=False).row()))
        if self.design.target == COMPARATIVE_QUALITY:
            return out + self._logit()
        f, p = linear_test(r.estimate, len(self.x))
        out.append(self.row("r2", squared(r).row()))
        return [*out, self.row("f_test", {"estimate": f, "p_value": p, "resample_unit": self.design.level})]

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
        x, y = self.x - self.x.mean(), self.y - self.y.mean()
        sums = np.column_stack([np.ones_like(x), x, y, x * x, y * y, x * y])
        if self.repeats:
            first, second = (v - self.x.mean() for v in self.repeats)
            both = np.isfinite(first) & np.isfinite(second)
            if both.sum() >= 2:
                sums = np.column_stack([sums, _repeat_sums(np.where(both, first, nan), second)])
        total = np.zeros((self.n_clusters, sums.shape[1]))
        np.add.at(total, self.clusters, sums)
        return replicate_sums(
            total, _correlation_statistics, unit=self.design.unit, rng=self.rng, n_resamples=self.n_resamples
        )

    def _jackknife(self, found: Replicates, i: int, bounded: bool = True) -> Interval:
        interval = jackknife_t(found.estimate[i], found.jackknife[:, i], found.unit, self.confidence, bounded=bounded)
        return self._guard(interval)

    def _guard(self, interval: Interval) -> Interval:
        """No interval for a label that hardly varies."""
        values, counts = np.unique(self.x, return_counts=True)
        moving = len(self.x) - counts.max()
        if moving >= MIN_MINORITY:
            return interval
        common = values[np.argmax(counts)]
        note = f"only {moving} of {len(self.x)} rows differ from {common:g}; an interval needs {MIN_MINORITY}"
        return replace(interval, low=nan, high=nan, kind="not_estimable", note=note)

    def _logit(self) -> list[Row]:
        fit = logit.fit(self.x[:, None], self.y)
        apart = self.clusters[None] != np.arange(self.n_clusters)[:, None]
        roots = logit.signed_root(self.x, self.y, np.vstack([np.ones(len(self.x)), apart]))
        root = self._guard(jackknife_t(roots[0], roots[1:], self.design.unit, self.confidence))
        scale = np.std(self.x, ddof=1)
        firth = logit.firth(self.x[:, None], self.y)
        independent = {"resample_unit": self.design.level}
        why = f"{fit.separation} separation: the likelihood has no maximum, its supremum is used"
        note = {} if fit.separation == "none" else {"note": why}
        return [
            self.row("mcfadden_r2", squared(root).row() | {"estimate": fit.mcfadden} | note),
            self.row("llr", {"estimate": fit.llr, "p_value": fit.p_value} | independent | note),
            self.row("coefficient", {"estimate": fit.coefficients[1] * scale} | independent | note),
            self.row(
                "firth_coefficient",
                {"estimate": firth.coefficients[1] * scale, "p_value": firth.p_values[1]} | independent,
            ),
            self.row("separated", {"estimate": float(fit.separation != "none")}),
        ]


def _repeat_sums(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(n, 4): is there a pair, its sum, sum of squares, product; zeros where `first` is missing."""
    pair = np.column_stack([np.ones_like(first), first + second, first**2 + second**2, first * second])
    return np.where(np.isfinite(first)[:, None], pair, 0.0)


def _reliability(sums: np.ndarray) -> np.ndarray:
    """Intraclass correlation from column sums (k, 4) of `_repeat_sums`: covariance over variance, both orders
    counted."""
    m, total, squares, product = sums.T
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total / (2 * m)
        variance, covariance = squares / (2 * m) - mean**2, product / m - mean**2
        return np.where(variance > 1e-12 * squares / m, covariance / variance, nan)


def _correlation_statistics(sums: np.ndarray) -> np.ndarray:
    """(k, 1) or (k, 3): r, reliability, r / sqrt(reliability) (Spearman 1904), from column sums."""
    n, x, y, xx, yy, xy = sums[:, :6].T
    with np.errstate(invalid="ignore", divide="ignore"):
        vx, vy = xx - x * x / n, yy - y * y / n
        defined = (vx > 1e-12 * xx) & (vy > 1e-12 * yy)
        r = np.where(defined, (xy - x * y / n) / np.sqrt(vx * vy), nan)
        if sums.shape[1] == 6:
            return r[:, None]
        reliable = _reliability(sums[:, 6:])
        return np.column_stack([r, reliable, np.where(reliable > 0, r / np.sqrt(reliable), nan)])
