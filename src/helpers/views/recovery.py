"""What the results of a simulated study say of the truth behind it: what is found, missed and wrongly found.

The truth is that of `simulation.truth`. One study shows single cases only, and labels of one study depend on each
other; how often analyses are right over many studies is tested in `tests/test_recovery.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from helpers.schema import read_condition
from helpers.tables import number

Truth = Mapping[str, Any]
#: a true |r|, and a true |d| between two systems, that an analysis is expected to find
STRONG, LARGE = 0.2, 0.25
LEAD = "**Held against the truth**, which is known because the study is simulated:"
_PAIR = ["group", "method", "label", "system", "system_b"]
#: kind of interval in the results of notebook 07 -> what it resamples
_INTERVALS = {"dialogue": "over dialogues", "independent": "as if independent"}


def conditions(results: pd.DataFrame, *keys: str) -> pd.DataFrame:
    """`results` with keys of their conditions as columns; missing where a row lacks them."""
    known = {text: read_condition(text) for text in results["condition"].dropna().unique()}
    return results.assign(**{k: [known.get(text, {}).get(k) for text in results["condition"]] for k in keys})


def correlations(results: pd.DataFrame, truth: Truth) -> pd.DataFrame:
    """Labels whose interval of r with dialogue quality and true r are known: `true`, and result rows of notebook 04."""
    rows = conditions(results, "target")
    rows = rows[
        (rows["statistic"] == "r") & (rows["target"] == "dialogue_quality") & (rows["ci_kind"] == "jackknife_t")
    ]
    true = pd.DataFrame(truth["quality"]).dropna(subset="r")[["method", "label", "r"]]
    return rows.merge(true.rename(columns={"r": "true"}), on=["method", "label"])


def of_importance(results: pd.DataFrame, truth: Truth) -> str:
    """How many intervals of notebook 04 hold the true correlation; related and unrelated labels found. Checked by
    counting."""
    rows = correlations(results, truth)
    if rows.empty:
        return ""
    held = rows["true"].between(rows["ci_low"], rows["ci_high"])
    clear = (rows["ci_low"] > 0) | (rows["ci_high"] < 0)
    null, strong = rows["true"] == 0, rows["true"].abs() >= STRONG
    right = clear & (np.sign(rows["estimate"]) == np.sign(rows["true"]))
    text = f"{LEAD} {held.sum()} of {len(rows)} intervals of r with dialogue quality hold the true correlation"
    text += f" ({number(0.95 * len(rows), 1)} would at 95 %). Of {null.sum()} labels that are not related to quality,"
    text += f" {clear[null].sum()} have an interval that excludes 0; of {strong.sum()} with a true |r| of {STRONG:g} or"
    return f"{text} more, {right[strong].sum()} do, with the right sign."


def differences(results: pd.DataFrame, truth: Truth) -> pd.DataFrame:
    """Comparisons of two systems on all dialogues, result rows of notebook 05, with their true effect: `true`, `test`,
    `primary` (the permutation test, or one as published)."""
    rows = conditions(results, "test", "sample")
    rows = rows[(rows["statistic"] == "system_difference") & rows["sample"].isna() & rows["test"].ne("welch")]
    true = pd.DataFrame(truth["effects"]).rename(columns={"effect": "true"})
    turned = true.rename(columns={"system": "system_b", "system_b": "system"}).assign(true=-true["true"])
    rows = rows.merge(pd.concat([true, turned]), on=_PAIR)
    return rows.assign(primary=rows["test"].str.startswith("session"))


def of_sensitivity(results: pd.DataFrame, truth: Truth) -> str:
    """Of systems that are equal, and of those that differ, how many pairs notebook 05 tells apart. Checked by
    counting."""
    rows = differences(results, truth).dropna(subset="p_value")
    if rows.empty:
        return ""
    equal, large = rows["true"].abs() < 1e-12, (rows["true"].abs() >= LARGE) & rows["method"].ne("comparative")
    found, ours = rows["p_value"] < 0.05, rows["primary"]
    right = np.sign(rows["estimate"]) == np.sign(rows["true"])
    n = int((equal & ours).sum())
    text = f"{LEAD} of {n} comparisons of equal systems the permutation test calls {(equal & ours & found).sum()}"
    text += f" different at .05 ({number(0.05 * n, 1)} would by chance),"
    text += f" {(equal & ours & (rows['p_adjusted'] < 0.05)).sum()} after Holm's adjustment within the label;"
    text += f" the published tests, on all dialogues, {(equal & ~ours & found).sum()} of {(equal & ~ours).sum()}. Of"
    text += (
        f" {(large & ours).sum()} ratings or marks of systems that truly differ by a d of {LARGE:g} or more, it finds"
    )
    text += (
        f" {(large & ours & found).sum()}, {(large & ours & (rows['p_adjusted'] < 0.05)).sum()} after the adjustment"
    )
    wrong = int((large & ours & found & ~right).sum())
    return f"{text}; {wrong or 'none'} of them with the wrong sign."


def scores(results: pd.DataFrame, truth: Truth) -> pd.DataFrame:
    """Rates, means and shares won, result rows of notebook 07, with the true value: `true`, `interval`."""
    rows = conditions(results, "interval", "outcome")
    rows = rows[rows["statistic"].isin(["rate", "mean", "share"]) & rows["outcome"].isin([None, "win"])]
    true = pd.DataFrame(truth["means"])
    share = true["win_share"] * (1 - true["ties"])
    true = true[["group", "method", "label", "system"]].assign(true=true["mean"].where(true["mean"].notna(), share))
    rows = rows.merge(true, on=["group", "method", "label", "system"])
    return rows[rows["interval"].isin(list(_INTERVALS))].dropna(subset="ci_low")


def of_performance(results: pd.DataFrame, truth: Truth, names: Mapping[str, str]) -> str:
    """How many intervals of notebook 07 hold the true value, by method and kind of interval. names : of methods.
    Checked by counting."""
    rows = scores(results, truth)
    if rows.empty:
        return ""
    held = rows.assign(held=rows["true"].between(rows["ci_low"], rows["ci_high"]))
    lines = []
    for method, part in held.groupby("method", sort=False):
        told = [
            f"{number(100 * own['held'].mean(), 0)} % {_INTERVALS[kind]}"
            for kind, own in sorted(part.groupby("interval"), key=lambda pair: list(_INTERVALS).index(pair[0]))
        ]
        n = part.groupby("interval").size().max()
        lines.append(f"- {names.get(method, method)}: {', '.join(told)} (of {n} values)")
    return "\n".join([f"{LEAD} 95 % intervals hold the true value in", "", *lines])


def of_groups(results: pd.DataFrame, truth: Truth) -> str:
    """Which differences between groups notebook 08 calls more than chance, where there is one and where there is none.
    Checked by counting."""
    rows = conditions(results, "exchange", "scope")
    rows = rows[(rows["statistic"] == "group_difference_test") & (rows["exchange"] == "judgement")]
    rows = rows[rows["scope"].isna()].dropna(subset="p_value")
    true = pd.DataFrame(truth["group_differences"])
    keys = ["method", "label", "groups"]
    true, rows = (f.assign(groups=["/".join(sorted(p)) for p in zip(f["group"], f["group_b"], strict=True)])
                  for f in (true, rows))  # fmt: skip
    rows = rows.merge(true[[*keys, "difference", "null"]], on=keys)
    if rows.empty:
        return ""
    null, found, held = rows["null"], rows["p_value"] < 0.05, rows["p_adjusted"] < 0.05
    text = (
        f"{LEAD} of {null.sum()} differences between groups that are none, {(null & found).sum()} exceed the 95 % point"
    )
    text += f" of chance ({number(0.05 * null.sum(), 1)} would by chance) and {(null & held).sum()} hold after Holm's"
    text += f" adjustment; of {(~null).sum()} that are real (median {number(rows.loc[~null, 'difference'].median())}),"
    return f"{text} {(~null & found).sum()} exceed it and {(~null & held).sum()} hold."
