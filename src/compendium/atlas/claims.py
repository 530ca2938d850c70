"""Which differences of systems found by tests as studies often make them stand when judgements go together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import permutations

import pandas as pd

from judgebook.study.results import Results
from judgebook.study.schema import CELL

_PAIR = [*CELL, "system", "system_b"]
#: statistic -> the p-values by which it counts
_COUNTS = {"claims": "p_value", "adjusted_claims": "p_adjusted"}


def rows(
    results: Results, tests: Mapping[str, pd.DataFrame], runs: Collection[str] = ()
) -> Iterator[tuple[str, pd.DataFrame]]:
    """`claims` and `adjusted_claims` by label, and of these claims how many stand over dialogues (`…_dialogues`), over
    annotators (`…_annotators`) and in another run (`…_rerun`), with `n` pairs, or claims for which there is a test.

    results : of notebook 05. tests : over what -> differences of systems (`direct.tests`). runs : corpora or groups
    that are runs of one study; the test is the same in all of them. A claim is a pair with p < 0.05 by the test as
    published, every item independent and with one judgement; it stands where the other test has p < 0.05 and the same
    sign.
    """
    plain = results.select("system_difference", sample=None).dropna(subset="p_value")
    for statistic, p in _COUNTS.items():
        claims = plain[plain[p] < 0.05]
        yield statistic, _counted(plain.assign(estimate=plain[p] < 0.05))
        for over, of_pairs in tests.items():
            yield f"{statistic}_{over}", _standing(claims, of_pairs.dropna(subset="p_value"), _PAIR, p)
        yield f"{statistic}_rerun", _rerun(claims, plain, p, runs)


def _standing(claims: pd.DataFrame, tests: pd.DataFrame, on: list[str], p: str) -> pd.DataFrame:
    both = claims.merge(tests, on=on, suffixes=("", "_other"))
    same = (both["estimate"] > 0) == (both["estimate_other"] > 0)
    return _counted(both.assign(estimate=same & (both[f"{p}_other"] < 0.05)))


def _rerun(claims: pd.DataFrame, tests: pd.DataFrame, p: str, runs: Collection[str]) -> pd.DataFrame:
    """Claims of a run that stand in each other run."""
    place = "corpus" if claims["corpus"].isin(list(runs)).any() else "group"
    same = [column for column in _PAIR if column != place]
    parts = [
        _standing(claims[claims[place] == run], tests[tests[place] == other], same, p)
        for run, other in permutations(runs, 2)
    ]
    return pd.concat([part for part in parts if len(part)] or [_counted(claims.iloc[:0])]).reset_index(drop=True)


def _counted(tests: pd.DataFrame) -> pd.DataFrame:
    """By label, of how many tests `estimate` is true, and `n` tests."""
    by_label = tests.groupby(CELL, sort=False)["estimate"]
    return pd.DataFrame({"estimate": by_label.sum().astype(float), "n": by_label.size()}).reset_index()
