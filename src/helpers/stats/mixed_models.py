"""How much of the variance of scores lies between annotators, how much between dialogues, and what is left of systems.

A mixed model has an effect for each system (fixed) and for each annotator and dialogue (random). It needs annotators
who are people, several of them, and dialogues judged more than once; where one of these fails the table says so.

The linear model treats scores as numbers, 0/1 marks included; its variances are on the scale of the scores. For 0/1
marks a logistic model is fitted, too (statsmodels' variational Bayes), on the logit scale. It draws variances towards
its prior and its intervals are too narrow, as variational approximations are; read it for the order of parts, not for
their size. statsmodels has no ordinal mixed model.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import combinations
from math import nan, pi

import numpy as np
import pandas as pd
from scipy import stats

from helpers.stats import reml
from helpers.study.labels import METHODS

CELL = ["corpus", "method", "label", "group"]
#: variance of the logistic distribution, what is left on the logit scale
LOGISTIC_VARIANCE = pi**2 / 3
#: share of the variance below which the residual of a linear model is none, as where annotators always agree
NO_RESIDUAL = 1e-7


def variance_table(
    annotations: pd.DataFrame,
    *,
    factors: Sequence[str] = ("annotator", "dialogue"),
    logistic: bool = True,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Variance components, their shares of the variance, and effects of systems adjusted for annotators and dialogues.

    Parameters
    ----------
    annotations : frame
        **All** annotations, not one an item.
    factors : columns
        Random effects, crossed.
    logistic : bool
        Fit the logistic model too where the label is 0/1.

    Returns
    -------
    Result rows for each corpus, method, label and group, with `model=linear` or `logistic`: `variance_component` and
    `variance_share` for each factor and the residual (`part=`), `system_effect` for each system against the mean of the
    systems. Linear shares have profile intervals (those of components would need the residual profiled too), effects
    have Wald intervals, which take the variances as known. What cannot be estimated carries the reason.

    Notes
    -----
    Linear: `reml`, checked against `statsmodels.MixedLM` and R's nlme. Logistic: statsmodels'
    `BinomialBayesMixedGLM`, checked by simulation with known variances.
    """
    out = []
    for key, rows in annotations.groupby(CELL, sort=False):
        head = {**dict(zip(CELL, key, strict=True)), "level": METHODS[key[1]].unit}
        head |= {"n": len(rows), "n_annotators": rows["annotator"].nunique()}
        reasons = _reasons(rows, factors)
        used = [f for f in factors if not reasons[f]]
        binary = bool(rows["score"].isin([0, 1]).all())
        for model in ("linear", "logistic") if binary and logistic else ("linear",):
            for factor in factors:
                out += _unknown(head, model, factor, reasons[factor]) if reasons[factor] else []
            if not used:
                continue
            fitted = _linear(rows, used, confidence) if model == "linear" else _logistic(rows, used, confidence)
            out += [{**head, **row} for row in fitted]
    return pd.DataFrame(out)


def _reasons(rows: pd.DataFrame, factors: Sequence[str]) -> dict[str, str]:
    """For each factor '' or why its variance cannot be estimated."""
    out = {f: _why_not(rows, f) for f in factors}
    for f, g in combinations([f for f in factors if not out[f]], 2):
        if rows[[f, g]].drop_duplicates().shape[0] == rows[f].nunique() == rows[g].nunique():
            out[g] = f"every {g} belongs to one {f} and the reverse: they cannot be separated"
    return out


def _why_not(rows: pd.DataFrame, factor: str) -> str:
    """'' or why the variance of a factor cannot be estimated."""
    if METHODS[rows["method"].iloc[0]].unit == "pair":
        return "a comparison belongs to two systems and two dialogues"
    if factor == "annotator" and "annotator_known" in rows and not rows["annotator_known"].all():
        return "annotators are positions, not people"
    values = rows[factor]
    if values.isna().any():
        return f"{factor} is not known for every score"
    if values.nunique() < 2:
        return f"one {factor} only"
    if values.nunique() == len(rows):
        return f"every {factor} has one score: its variance cannot be separated from the residual"
    if rows["score"].nunique() < 2:
        return "all scores are equal"
    return ""


def _unknown(head: dict, model: str, part: str, reason: str) -> list[dict]:
    row = {**head, "estimate": nan, "ci_kind": "not_estimable", "note": reason}
    row |= {"model": model, "part": part, "scale": _scale(model)}
    return [{**row, "statistic": s} for s in ("variance_component", "variance_share")]


def _scale(model: str) -> str:
    return "score" if model == "linear" else "logit"


def _design(rows: pd.DataFrame, factors: Sequence[str]) -> tuple[list[str], np.ndarray, list[np.ndarray]]:
    """Systems, an indicator column for each, and the codes of each factor."""
    codes, systems = pd.factorize(rows["system"], sort=True)
    return list(systems), np.eye(len(systems))[codes], [pd.factorize(rows[f])[0] for f in factors]


def _linear(rows: pd.DataFrame, factors: Sequence[str], confidence: float) -> list[dict]:
    systems, x, codes = _design(rows, factors)
    y = rows["score"].to_numpy(dtype=float)
    fit = reml.fit(y, x, codes, confidence)
    note = None if fit.converged else "the restricted likelihood did not converge"
    parts = [*factors, "residual"]
    total = fit.variances.sum() + fit.residual
    if fit.residual < NO_RESIDUAL * total:
        reason = f"{' and '.join(factors)} explain every score: there is no residual to hold their variance against"
        out = [row for part in parts for row in _unknown({}, "linear", part, reason)]
        return out + _effects(systems, fit.coefficients, fit.covariance, "linear", confidence, None)
    values = [*fit.variances, fit.residual]
    low, high = [*fit.share_low, nan], [*fit.share_high, nan]
    out = []
    for part, value, a, b in zip(parts, values, low, high, strict=True):
        row = {"model": "linear", "part": part, "scale": "score", "note": note}
        out.append({**row, "statistic": "variance_component", "estimate": value})
        kind = "profile" if np.isfinite(a) else None
        share = {"statistic": "variance_share", "estimate": value / total, "ci_low": a, "ci_high": b, "ci_kind": kind}
        out.append({**row, **share})
    return out + _effects(systems, fit.coefficients, fit.covariance, "linear", confidence, note)


def _effects(systems, means, covariance, model, confidence, note) -> list[dict]:
    """Each system against the mean of the systems, with Wald intervals."""
    if len(systems) < 2:
        return []
    contrast = np.eye(len(systems)) - 1 / len(systems)
    effect, se = contrast @ means, np.sqrt(np.diag(contrast @ covariance @ contrast.T))
    half = stats.norm.ppf((1 + confidence) / 2) * se
    row = {"statistic": "system_effect", "ci_kind": "not_estimable" if note else "wald", "note": note}
    row |= {"model": model, "reference": "mean", "scale": _scale(model)}
    return [
        {**row, "system": s, "estimate": e, "ci_low": e - h, "ci_high": e + h}
        for s, e, h in zip(systems, effect, half, strict=True)
    ]


def _logistic(rows: pd.DataFrame, factors: Sequence[str], confidence: float) -> list[dict]:
    # here, because importing them takes a second
    from scipy.sparse import csr_array, hstack
    from statsmodels.genmod.bayes_mixed_glm import BinomialBayesMixedGLM
    from statsmodels.tools.sm_exceptions import ConvergenceWarning

    systems, x, codes = _design(rows, factors)
    one = np.ones(len(rows))
    z = hstack([csr_array((one, (np.arange(len(rows)), c))) for c in codes]).tocsr()
    ident = np.concatenate([np.full(c.max() + 1, i) for i, c in enumerate(codes)])
    model = BinomialBayesMixedGLM(rows["score"].to_numpy(dtype=float), x, z, ident, vcp_p=1, fe_p=10)
    n = x.shape[1] + len(factors) + z.shape[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # said in the note
        fit = model.fit_vb(mean=np.zeros(n), sd=np.full(n, np.exp(-0.5)))  # fixed start: the same result every time
    note = None if fit.optim_retvals.success else "the variational fit did not converge"
    variances = np.exp(2 * fit.vcp_mean) if note is None else np.full(len(factors), nan)
    total, out = variances.sum() + LOGISTIC_VARIANCE, []
    residual = LOGISTIC_VARIANCE if note is None else nan
    for part, value in zip([*factors, "residual"], [*variances, residual], strict=True):
        row = {"model": "logistic", "part": part, "scale": "logit", "note": note}
        out.append({**row, "statistic": "variance_component", "estimate": value})
        out.append({**row, "statistic": "variance_share", "estimate": value / total})
    means, sd = (fit.fe_mean, fit.fe_sd) if note is None else (np.full(len(systems), nan),) * 2
    return out + _effects(systems, means, np.diag(sd**2), "logistic", confidence, note)
