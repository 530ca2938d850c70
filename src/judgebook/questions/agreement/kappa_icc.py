"""Kappas and intraclass correlations, and the reason where they are undefined.

Every function takes an (items, annotators) matrix, NaN where an annotator did not judge an item, and returns the
coefficient with a note that is empty unless it is undefined.
"""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np
from scipy.special import fdtri


def cohen_kappa(values: np.ndarray, weights: str = "none") -> tuple[float, str]:
    """Cohen's kappa of two annotators (Cohen 1960; weighted: Cohen 1968) over the items that both judged.

    weights : none, linear or quadratic. Weights go by rank of the values that occur.

    Computed by `statsmodels.stats.inter_rater.cohens_kappa`. Raises ValueError for other weights.
    """
    if weights not in ("none", "linear", "quadratic"):
        raise ValueError(f"weights: expected none, linear or quadratic, found {weights!r}")
    from statsmodels.stats.inter_rater import cohens_kappa

    if values.ndim != 2 or values.shape[1] != 2:
        return nan, "Cohen's kappa compares two annotators"
    both = values[~np.isnan(values).any(axis=1)]
    kinds, codes = np.unique(both, return_inverse=True)
    if len(kinds) < 2:
        return nan, "undefined: fewer than two values occur"
    codes = codes.reshape(both.shape)
    table = np.bincount(codes[:, 0] * len(kinds) + codes[:, 1], minlength=len(kinds) ** 2)
    table = table.reshape(len(kinds), len(kinds))
    return float(cohens_kappa(table, wt=None if weights == "none" else weights, return_results=False)), ""


def fleiss_kappa(values: np.ndarray) -> tuple[float, str]:
    """Fleiss' kappa (Fleiss 1971), where every item with an annotation has equally many.

    Computed by `statsmodels.stats.inter_rater.fleiss_kappa`.
    """
    from statsmodels.stats.inter_rater import fleiss_kappa as of_table

    m = (~np.isnan(values)).sum(axis=1)
    if len(set(m[m > 0].tolist())) != 1 or m.max(initial=0) < 2:
        return nan, "Fleiss' kappa needs equally many annotations of every item, at least two"
    kinds = np.unique(values[~np.isnan(values)])
    if len(kinds) < 2:
        return nan, "undefined: only one value occurs"
    table = np.stack([(values[m > 0] == kind).sum(axis=1) for kind in kinds], axis=1)
    return float(of_table(table)), ""


def icc(values: np.ndarray, forms: tuple[str, ...] = ("ICC(1,1)",), confidence: float = 0.95) -> list[dict[str, Any]]:
    """Intraclass correlations of a matrix without gaps, with F intervals.

    Parameters
    ----------
    values : (items, annotators) array
    forms : tuple of str
        ICC(1,1), ICC(A,1), ICC(C,1) for one annotation; ICC(1,k), ICC(A,k), ICC(C,k) for the mean of all columns.
        Only the first kind has a meaning when columns are positions rather than people.

    Returns
    -------
    One dict per form: form, estimate, ci_low, ci_high, ci_kind, note.

    References
    ----------
    McGraw and Wong 1996, Forming inferences about some intraclass correlation coefficients, Psychological Methods 1,
    Tables 4, 7 and 8.
    """
    reason = _no_icc(values)
    found = _icc(values, confidence) if not reason else {}
    out = []
    for form in forms:
        numbers = np.array(found.get(form, (nan,) * 3))
        # 0/0: items do not differ in their means, or nothing is left once people's means are taken out
        note = reason or (
            "" if np.isfinite(numbers).all() else "undefined: items have equal means, or people differ by a constant"
        )
        estimate, low, high = (nan,) * 3 if note else map(float, numbers)
        kind = "not_estimable" if note else "f"
        out.append(
            {"form": form, "estimate": estimate, "ci_low": low, "ci_high": high, "ci_kind": kind, "note": note or None}
        )
    return out


def _no_icc(values: np.ndarray) -> str:
    n, k = values.shape
    if np.isnan(values).any():
        return "an intraclass correlation needs every annotation of every item"
    if n < 3 or k < 2:
        return f"an intraclass correlation needs 3 items and 2 annotations each; there are {n} and {k}"
    if np.ptp(values) == 0:
        return "undefined: only one value occurs"
    if not (values - values.mean(axis=1, keepdims=True)).any():
        return "all annotators agree on every item: there is no error variance"
    return ""


def _icc(x: np.ndarray, confidence: float) -> dict[str, tuple[float, float, float]]:
    """Estimate and interval of every form; symbols as in McGraw and Wong."""
    n, k = x.shape
    rows, columns, upper = x.mean(axis=1), x.mean(axis=0), (1 + confidence) / 2
    ms_r = k * np.sum((rows - x.mean()) ** 2) / (n - 1)
    ms_c = n * np.sum((columns - x.mean()) ** 2) / (k - 1)
    ms_w = np.sum((x - rows[:, None]) ** 2) / (n * (k - 1))
    ms_e = np.sum((x - rows[:, None] - columns + x.mean()) ** 2) / ((n - 1) * (k - 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        within, df = n * (k - 1), (n - 1) * (k - 1)
        one_way = ms_r / ms_w / np.array([1, fdtri(n - 1, within, upper), 1 / fdtri(within, n - 1, upper)])
        two_way = ms_r / ms_e / np.array([1, fdtri(n - 1, df, upper), 1 / fdtri(df, n - 1, upper)])
        absolute = (ms_r - ms_e) / (ms_r + (k - 1) * ms_e + k / n * (ms_c - ms_e))
        a, b = k * absolute / (n * (1 - absolute)), 1 + k * absolute * (n - 1) / (n * (1 - absolute))
        v = (a * ms_c + b * ms_e) ** 2 / ((a * ms_c) ** 2 / (k - 1) + (b * ms_e) ** 2 / df)
        f_low, f_high = fdtri(n - 1, v, upper), fdtri(v, n - 1, upper)
        error = k * ms_c + (k * n - k - n) * ms_e
        low = n * (ms_r - f_low * ms_e) / (f_low * error + n * ms_r)
        high = n * (f_high * ms_r - ms_e) / (error + n * f_high * ms_r)
        single = np.array([absolute, low, high])
        return {
            "ICC(1,1)": tuple((one_way - 1) / (one_way + k - 1)),
            "ICC(1,k)": tuple(1 - 1 / one_way),
            "ICC(C,1)": tuple((two_way - 1) / (two_way + k - 1)),
            "ICC(C,k)": tuple(1 - 1 / two_way),
            "ICC(A,1)": tuple(single),
            "ICC(A,k)": tuple(k * single / (1 + (k - 1) * single)),
        }
