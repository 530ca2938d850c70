"""Are two systems alike? Two one-sided tests, and the smallest margin within which they are shown to be.

That no difference was found does not show that there is none. Two systems are shown to be alike within a margin when
both one-sided tests reject: the difference is above minus the margin, and below it (Schuirmann 1987, Journal of
Pharmacokinetics and Biopharmaceutics 15, 657-680), or equivalently when its 90% interval lies within the margin. The
smallest such margin is the end of that interval farther from 0.

The differences are those of `differences`: for other sessions, and for other annotators where they are known. The
margin is in standard deviations of the values of dialogues of one system (of comparisons), which count as known.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from judgebook.questions.sensitivity.panels import Panel

#: level of each of the two tests
ALPHA = 0.05


def equivalence_tests(differences: pd.DataFrame, data: Panel, margin: float) -> pd.DataFrame:
    """Both one-sided tests for each pair of systems and label, on all dialogues.

    Parameters
    ----------
    differences : DataFrame
        From `differences.differences`, with `se` and `df`.
    data : Panel
        The values of the same dialogues.
    margin : float
        In standard deviations.

    Returns
    -------
    DataFrame of rows `equivalence`: the difference in standard deviations, its 90% interval, the larger p-value of the
    two tests; and `smallest_margin` in standard deviations and (`scale` of label) in units of the label. A pair without
    variation, or with too few sessions or annotators, carries the reason in `note`.
    """
    sd = spreads(differences, data.per_dialogue())
    keys = ["level", "method", "label", "system", "system_b", "n", "n_clusters", "resample_unit"]
    head = differences[keys].assign(margin=margin)
    se, df = differences["se"].to_numpy(float), differences["df"].to_numpy(float)
    usable = np.isfinite(se) & (sd > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        difference, half = differences["estimate"].to_numpy(float) / sd, stdtrit(df, 1 - ALPHA) * se / sd
        p = 1 - stdtr(df, (margin - np.abs(difference)) * sd / se)
        low, high = difference - half, difference + half
    smallest = np.maximum(-low, high)
    columns = {"estimate": difference, "ci_low": low, "ci_high": high, "p_value": p}
    tests = head.assign(
        statistic="equivalence",
        **{name: np.where(usable, values, np.nan) for name, values in columns.items()},
        ci_kind=np.where(usable, "t90", "not_estimable"),
        note=np.where(usable, None, differences["note"].where(differences["note"].notna(), "no variation")),
    )
    margins = [
        head.assign(statistic="smallest_margin", scale=scale, estimate=value)[usable]
        for scale, value in (("d", smallest), ("label", smallest * sd))
    ]
    return pd.concat([tests, pd.concat(margins).sort_index(kind="stable")], ignore_index=True)


def spreads(differences: pd.DataFrame, data: Panel) -> np.ndarray:
    """Standard deviation of one label's values within two systems, or of their comparisons; NaN of too few.

    data : one row per dialogue. differences : a row for each pair, with `label`, `system`, `system_b`. Returns (rows,).
    """
    m = len(data.systems)
    place, label = pd.Index(data.systems), pd.Index(data.labels).get_indexer(differences["label"])
    a, b = (place.get_indexer(differences[c]) for c in ("system", "system_b"))
    paired = data.unit == "pair"
    kinds, kind = np.unique(data.system * m + data.system_b if paired else data.system, return_inverse=True)
    shape = len(kinds), len(data.labels)
    n, total, square = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    judged = (data.n > 0).astype(float)
    np.add.at(n, kind, judged)
    np.add.at(total, kind, data.total * judged)
    mean = total / np.maximum(n, 1)
    np.add.at(square, kind, judged * (data.total - mean[kind]) ** 2)
    counted, squares, groups = np.zeros(len(differences)), np.zeros(len(differences)), np.zeros(len(differences))
    for side in [np.minimum(a, b) * m + np.maximum(a, b)] if paired else [a, b]:
        at = np.searchsorted(kinds, side).clip(max=len(kinds) - 1)
        of_side = kinds[at] == side
        counted += np.where(of_side, n[at, label], 0)
        squares += np.where(of_side, square[at, label], 0)
        groups += of_side & (n[at, label] > 0)
    groups = np.maximum(groups, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(counted > groups, np.sqrt(squares / (counted - groups)), np.nan)
