"""Are two systems alike? Two one-sided tests, and the smallest margin within which they are shown to be.

That no difference was found does not show that there is none. Two systems are shown to be alike within a margin when
both one-sided tests reject: the difference is above minus the margin, and below it (Schuirmann 1987, Journal of
Pharmacokinetics and Biopharmaceutics 15, 657-680), or equivalently when its 90% interval lies within the margin. The
smallest such margin is the end of that interval farther from 0.

The differences are those of `differences`: for other sessions, and for other annotators where they are known. The
margin is that of the YAML's `margin`, in units of the label; of labels without one, it is in standard deviations of the
values of dialogues of one system (of comparisons), which count as known.

Either one-sided test by itself shows non-inferiority: that a system is worse than another one by less than the margin,
if at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from judgebook.questions.sensitivity.panels import Panel
from judgebook.statistics.multiplicity import adjust_directions

#: level of each of the two tests
ALPHA = 0.05
NO_MARGINS: Mapping[str, float] = MappingProxyType({})


def equivalence_tests(
    differences: pd.DataFrame, data: Panel, margin: float, own: Mapping[str, float] = NO_MARGINS
) -> pd.DataFrame:
    """Both one-sided tests for each pair of systems and label, on all dialogues.

    Parameters
    ----------
    differences : DataFrame
        From `differences.differences`, with `se` and `df`.
    data : Panel
        The values of the same dialogues.
    margin : float
        In standard deviations, for labels without one of their own.
    own : mapping
        Label -> margin in units of the label; `scale` of rows is then `label`, else missing.

    Returns
    -------
    DataFrame of rows `equivalence`: the difference in standard deviations, its 90% interval, the larger p-value of the
    two tests; and `smallest_margin` in standard deviations and (`scale` of label) in units of the label. A pair without
    variation, or with too few sessions or annotators, carries the reason in `note`.
    """
    sd = spreads(differences, data.per_dialogue())
    keys = ["level", "method", "label", "system", "system_b", "n", "n_clusters", "resample_unit"]
    head, stated = differences[keys].assign(margin=margin), differences["label"].map(own).to_numpy(float)
    se, df = differences["se"].to_numpy(float), differences["df"].to_numpy(float)
    usable = np.isfinite(se) & (sd > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        difference, half = differences["estimate"].to_numpy(float) / sd, stdtrit(df, 1 - ALPHA) * se / sd
        p = 1 - stdtr(df, (np.where(np.isnan(stated), margin, stated / sd) - np.abs(difference)) * sd / se)
        low, high = difference - half, difference + half
    smallest = np.maximum(-low, high)
    columns = {"estimate": difference, "ci_low": low, "ci_high": high, "p_value": p}
    tests = head.assign(
        statistic="equivalence",
        margin=np.where(np.isnan(stated), margin, stated),
        scale=[None if np.isnan(size) else "label" for size in stated],
        **{name: np.where(usable, values, np.nan) for name, values in columns.items()},
        ci_kind=np.where(usable, "t90", "not_estimable"),
        note=np.where(usable, None, differences["note"].where(differences["note"].notna(), "no variation")),
    )
    margins = [
        head.assign(statistic="smallest_margin", scale=scale, estimate=value)[usable]
        for scale, value in (("d", smallest), ("label", smallest * sd))
    ]
    return pd.concat([tests, pd.concat(margins).sort_index(kind="stable")], ignore_index=True)


def not_worse(differences: pd.DataFrame, own: Mapping[str, float], directions: Mapping[str, int]) -> pd.DataFrame:
    """Both one-sided tests for each pair of systems on labels with a margin of their own and a direction.

    Returns rows `not_worse`, two for each pair: by how much `system` is better than `system_b`, in units of the label,
    its 90% interval, and the p-value of the test that it is worse by the margin or more, adjusted over the pairs of the
    label (`multiplicity.adjust_directions`).

    differences : from `differences.differences`, with `se` and `df`.
    """
    rows = differences[differences["label"].isin([x for x in own if directions.get(x)])]
    keys = ["level", "method", "label", "system", "system_b", "n", "n_clusters", "resample_unit", "se", "df", "note"]
    sign, turned = rows["label"].map(directions).astype(float), {"system": "system_b", "system_b": "system"}
    both = [rows[keys].assign(estimate=sign * rows["estimate"])]
    both += [rows[keys].rename(columns=turned).assign(estimate=-sign * rows["estimate"])]
    out = pd.concat(both).sort_index(kind="stable").reset_index(drop=True)
    half, margin = stdtrit(out["df"], 1 - ALPHA) * out["se"], out["label"].map(own).astype(float)
    p = 1 - stdtr(out["df"], (out["estimate"] + margin) / out["se"])
    out = out.assign(statistic="not_worse", margin=margin, p_value=p, ci_low=out["estimate"] - half)
    out = out.assign(ci_high=out["estimate"] + half, ci_kind=np.where(p.notna(), "t90", "not_estimable"))
    out["p_adjusted"], out["family"] = np.nan, "systems of one label, holm (Shaffer)"
    for at in out.groupby("label", sort=False).indices.values():
        out.loc[at, "p_adjusted"] = adjust_directions(out["p_value"].to_numpy(float)[at].reshape(-1, 2)).ravel()
    return out.drop(columns=["se", "df"])


def as_directions(tests: pd.DataFrame, directions: pd.DataFrame) -> pd.DataFrame:
    """`tests` (rows `equivalence`), adjusted as `directions` (rows `not_worse`) are where there are any: two systems
    are equivalent where neither is worse."""
    keys = ["method", "label", "system", "system_b"]
    both = directions.iloc[::2].assign(p_adjusted=directions["p_adjusted"].to_numpy().reshape(-1, 2).max(axis=1))
    own = tests[keys].merge(both[[*keys, "p_adjusted", "family"]], how="left", on=keys).set_index(tests.index)
    return tests.assign(**{c: own[c].where(own["family"].notna(), tests[c]) for c in ("p_adjusted", "family")})


def within(tests: pd.DataFrame) -> str:
    """What rows `equivalence` show of systems that are equivalent: within which margin they are, in words."""
    own = tests["scale"].eq("label")
    sd = "" if own.all() else f"±{float(tests.loc[~own, 'margin'].iloc[0]):g} SD"
    return sd if not own.any() else "the margin stated for the label" + (f" (else {sd})" if sd else "")


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
