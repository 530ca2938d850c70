"""Kappas and intraclass correlations, and the reason where they are undefined.

`cohen_kappa`, `fleiss_kappa` and `icc` take an (items, annotators) matrix, NaN where an annotator did not judge an
item, and return the coefficient with a note that is empty unless it is undefined. `kappas` is Cohen's kappa of every
two people who are known, for few people who judged the same items.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from math import nan
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import fdtri

from judgebook.statistics.intervals import generator
from judgebook.statistics.resampling import bootstrap_sums
from judgebook.study.labels import METHODS, Label
from judgebook.study.schema import CELL, unordered


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
    judged_twice = values[~np.isnan(values).any(axis=1)]
    kinds, codes = np.unique(judged_twice, return_inverse=True)
    if len(kinds) < 2:
        return nan, "undefined: fewer than two values occur"
    codes = codes.reshape(judged_twice.shape)
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
    coefficients = _icc(values, confidence) if not reason else {}
    out = []
    for form in forms:
        numbers = np.array(coefficients.get(form, (nan,) * 3))
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


#: people of a label up to which each two are compared, and common items needed
MOST_PEOPLE, MIN_COMMON, MOST_VALUES = 10, 30, 11


def kappas(annotations: pd.DataFrame, labels: Iterable[Label], *, seed: int, **size) -> Iterator[dict]:
    """Unweighted kappa of each two known people of a group over the items that both judged.

    Resampled are dialogues, of comparisons pairs. Comparisons are taken as they are stored, in one orientation each.
    size : n_resamples, confidence.

    Yields `pair_kappa`; `pair` names the two people.
    """
    whole = {(x.method, x.id) for x in labels if x.integer and x.scale[1] - x.scale[0] < MOST_VALUES}
    people = annotations[annotations["annotator_known"].astype(bool) & (annotations["annotator_kind"] == "human")]
    for key, rows in people.groupby(CELL, sort=False):
        names = sorted(rows["annotator"].unique())
        if key[2:] not in whole or not 2 <= len(names) <= MOST_PEOPLE:
            continue
        ends = unordered(rows)
        unit = ends["low"].astype(str) + " and " + ends["high"].astype(str)
        wide = rows.assign(
            unit=unit.where(rows["dialogue_b"].notna(), rows["dialogue"].astype(str)), turn=rows["turn"].fillna(-1)
        )
        wide = wide.drop_duplicates(["unit", "turn", "annotator"])
        wide = wide.set_index(["unit", "turn", "annotator"])["score"].unstack()  # noqa: PD010 (twice must raise)
        kinds, units = np.unique(rows["score"]), pd.factorize(wide.index.get_level_values("unit"))[0]
        level = METHODS[key[2]].unit
        for a, b in combinations(names, 2):
            values = wide[[a, b]].to_numpy(float)
            common = np.isfinite(values).all(axis=1)
            if common.sum() < MIN_COMMON:
                continue
            codes = np.searchsorted(kinds, values[common])
            sums = np.zeros((units.max() + 1, len(kinds) ** 2))
            np.add.at(sums, (units[common], codes[:, 0] * len(kinds) + codes[:, 1]), 1.0)
            sums = sums[np.unique(units[common])]
            rng, name = generator(seed, "pair kappa", *key, a, b), "pair" if level == "pair" else "dialogue"
            interval = bootstrap_sums(sums, _kappa, unit=name, rng=rng, **size)
            head = dict(zip(CELL, key, strict=True)) | {"level": level, "statistic": "pair_kappa", "seed": seed}
            yield head | {"pair": f"{a} and {b}", "n": int(common.sum()), "n_annotators": 2} | interval.row()


def _kappa(sums: np.ndarray) -> np.ndarray:
    """(k,) of (k, v v) counts, rows by one person and columns by the other."""
    v = round(np.sqrt(sums.shape[1]))
    table = sums.reshape(-1, v, v)
    n = table.sum(axis=(1, 2))
    observed = np.trace(table, axis1=1, axis2=2) / n
    expected = (table.sum(axis=2) * table.sum(axis=1)).sum(axis=1) / n**2
    with np.errstate(invalid="ignore"):
        return np.where(expected < 1, (observed - expected) / (1 - expected), np.nan)
