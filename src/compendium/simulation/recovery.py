"""What notebooks 05 and 07 find of the truth behind a simulated study.

The truth is that of `simulation.truth`. One study shows single cases only, and its labels are not independent; how
often the analyses are right over many studies is tested in `tests/compendium/simulation/test_recovery.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from judgebook.display.text import Phrases
from judgebook.study.results import Results

Truth = Mapping[str, Any]
#: a true |d| between two systems that a test is expected to find
LARGE = 0.25
_PAIR = ["group", "method", "label", "system", "system_b"]
_PHRASES = Phrases(__package__)


def of_sensitivity(results: Results, truth: Truth) -> str:
    """How many pairs of equal systems, and of systems that differ, the fits of notebook 07 and the published tests of
    notebook 05, on all dialogues, find to differ.

    results : of notebook 05, with `contrast` of notebook 07. truth : `effects`, records of a pair and its effect.
    """
    true = pd.DataFrame(truth["effects"]).rename(columns={"effect": "true"})
    turned = true.rename(columns={"system": "system_b", "system_b": "system"}).assign(true=-true["true"])
    parts = [results.select("system_difference", sample=None).dropna(subset="p_value"), results["contrast"]]
    rows = pd.concat([part.assign(fit=i == 1) for i, part in enumerate(parts)])
    rows = rows[~rows["fit"] | rows["ci_low"].notna()].merge(pd.concat([true, turned]), on=_PAIR)
    fits, decided = rows["fit"], (rows["ci_low"] > 0) | (rows["ci_high"] < 0)
    decided = decided.where(fits, rows["p_value"] < 0.05)
    equal, large = rows["true"].abs() < 1e-12, (rows["true"].abs() >= LARGE) & rows["method"].ne("comparative")
    wrong = large & fits & decided & (np.sign(rows["estimate"]) != np.sign(rows["true"]))

    def counts(which: pd.Series) -> dict[str, int]:
        return {"n": which.sum(), "found": (which & decided).sum()}

    facts = {"equal": counts(equal & fits), "published": counts(equal & ~fits), "large": counts(large & fits)}
    return _PHRASES.say("sensitivity", n=len(rows), least=LARGE, wrong=wrong.sum(), **facts)


def of_performance(results: Results, truth: Truth, names: Mapping[str, str]) -> str:
    """How many 95% intervals of rates, means and shares won contain the true value, by method and kind of interval:
    those that notebook 07 draws (over annotators, too, where it has these), over dialogues, and for independent items.

    truth : `means`, records of a group, method, label and system with its mean, or its share of wins and of ties.
    names : of methods.
    """
    true = pd.DataFrame(truth["means"])
    share = true["win_share"] * (1 - true["ties"])
    true = true.assign(true=true["mean"].where(true["mean"].notna(), share))[[*_PAIR[:-1], "true"]]
    rows = pd.concat([results["rate"], results["mean"], results.select("share", outcome="win")])
    rows = rows[rows["outcome"].isin([None, "win"]) & (rows["interval"] != "picks")]
    rows = rows.dropna(subset="ci_low").merge(true, on=_PAIR[:-1])
    rows["held"] = rows["true"].between(rows["ci_low"], rows["ci_high"])
    people = rows["interval"].str.endswith(" and annotator").astype(bool)
    drawn = people | ~people.groupby([rows[k] for k in _PAIR[:-1]], dropna=False).transform("any")
    rows["drawn"] = drawn & (rows["interval"] != "independent")
    methods = []
    for method, part in rows.groupby("method", sort=False):
        shown = part[part["drawn"]]
        kinds = part.groupby("interval")["held"].mean().to_dict()
        over = [f"{unit.replace(' and ', 's and ')}s" for unit in shown["interval"].unique()]
        methods.append((names.get(method, method), len(shown), shown["held"].mean(), over, kinds))
    return _PHRASES.say("performance", methods=methods)
