"""R² and McFadden's pseudo-R² recomputed by `statsmodels`, on the data of the report itself."""

from __future__ import annotations

import numpy as np
import pandas as pd

from judgebook.questions.validity.coverage import FITS
from judgebook.questions.validity.targets import Targets
from judgebook.study.results import Results, where

COLUMNS = ["library", "ours", "theirs"]


def single_labels(study_targets: Targets, results: Results) -> pd.DataFrame:
    """Fits of the models of notebook 04, one label each: a row per model with library, ours, theirs.

    Logits without a maximum have no counterpart: `statsmodels` iterates to its limit.
    """
    rows = []
    for target, design in study_targets.designs.items():
        ours = _apart(results, target, results.select(FITS[target], target=target, kind=None))
        for row in ours.to_dict("records"):
            part = design.common([(row["method"], row["label"])])
            rows.append(_row(row["estimate"], part.x.to_numpy(float), part.y, target))
    return pd.DataFrame(rows, columns=COLUMNS)


def _apart(results: Results, target: str, rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of fits without those whose logit is separated."""
    key = ["method", "label", "kind", "k"]
    bad = where(results["separated"], target=target).query("estimate == 1")[key]
    marked = rows.merge(bad, how="left", on=key, indicator="side")
    return marked[(marked["side"] == "left_only") & marked["estimate"].notna()]


def _row(ours: float, x: np.ndarray, y: np.ndarray, target: str) -> tuple[str, float, float]:
    # not `statsmodels.api`: it loads 400 modules more, which takes half a second
    from statsmodels.discrete.discrete_model import Logit
    from statsmodels.regression.linear_model import OLS
    from statsmodels.tools.tools import add_constant

    z = add_constant((x - x.mean(axis=0)) / x.std(axis=0))
    linear = FITS[target] == "r2"
    fit = OLS(y, z).fit() if linear else Logit(y, z).fit(disp=0, maxiter=200, tol=1e-10)
    return "statsmodels", ours, float(fit.rsquared if linear else fit.prsquared)
