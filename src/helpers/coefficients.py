"""Kappas and intraclass correlations, from the libraries that have them; where they are undefined, the reason.

Every function takes an (items, annotators) matrix, NaN where an annotator did not judge an item, and returns the
coefficient with a note that is empty unless it is undefined.
"""

from __future__ import annotations

import warnings
from math import nan

import numpy as np
import pandas as pd


def cohen_kappa(values: np.ndarray, weights: str = "none") -> tuple[float, str]:
    """Cohen's kappa of two annotators (Cohen 1960; weighted: Cohen 1968) over the items that both judged.

    weights : none, linear or quadratic. Weights go by rank of the values that occur.

    Computed by `statsmodels.stats.inter_rater.cohens_kappa`. Checked by hand and against R's psych.
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

    Computed by `statsmodels.stats.inter_rater.fleiss_kappa`. Checked against the example of Fleiss 1971.
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


def icc(values: np.ndarray, forms: tuple[str, ...] = ("ICC(1,1)",)) -> list[dict[str, object]]:
    """Intraclass correlations of a matrix without gaps (McGraw and Wong 1996), with their 95 % F intervals.

    forms : ICC(1,1), ICC(A,1), ICC(C,1) for one annotation; ICC(1,k), ICC(A,k), ICC(C,k) for the mean of all columns.
    Only the first kind has a meaning when columns are positions rather than people.

    Returns one dict a form: form, estimate, ci_low, ci_high, note. Computed by `pingouin.intraclass_corr`; checked
    against R's psych.
    """
    n, m = values.shape

    def refuse(note: str) -> list[dict[str, object]]:
        return [{"form": f, "estimate": nan, "ci_low": nan, "ci_high": nan, "note": note} for f in forms]

    if np.isnan(values).any():
        return refuse("an intraclass correlation needs every annotation of every item")
    if n < 3 or m < 2:
        return refuse(f"an intraclass correlation needs 3 items and 2 annotations each; there are {n} and {m}")
    if np.ptp(values) == 0:
        return refuse("undefined: only one value occurs")
    if not (values - values.mean(axis=1, keepdims=True)).any():
        return refuse("all annotators agree on every item: there is no error variance")
    import pingouin

    long = pd.DataFrame(
        {"item": np.repeat(np.arange(n), m), "annotator": np.tile(np.arange(m), n), "score": values.ravel()}
    )
    rounding = pingouin.options["round.column.CI95"]
    pingouin.options["round.column.CI95"] = None  # full precision: rounding is for presentation
    try:
        # 0/0: items do not differ in their means, or nothing is left once people's means are taken out; told below
        with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
            warnings.filterwarnings("ignore", "The inplace keyword", DeprecationWarning)  # pingouin 0.7 on pandas 3.1
            table = pingouin.intraclass_corr(long, "item", "annotator", "score").set_index("Type")
    finally:
        pingouin.options["round.column.CI95"] = rounding
    out = []
    for form in forms:
        numbers = dict(
            zip(("estimate", "ci_low", "ci_high"), (table.at[form, "ICC"], *table.at[form, "CI95"]), strict=True)
        )
        if np.isfinite(list(map(float, numbers.values()))).all():
            out.append({"form": form, **{k: float(v) for k, v in numbers.items()}, "note": ""})
        else:
            out.append(refuse("undefined: items have equal means, or people differ by a constant")[0] | {"form": form})
    return out
