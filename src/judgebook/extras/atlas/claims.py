"""Which differences of systems found by tests as studies often make them stand when judgements go together."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from judgebook.questions.sensitivity import analysis as sensitivity
from judgebook.study.results import Results
from judgebook.study.schema import CELL

_PAIR = [*CELL, "system", "system_b"]
#: statistic -> the p-values by which it counts
_COUNTS = {"claims": "p_value", "adjusted_claims": "p_adjusted"}


def rows(results: Results) -> Iterator[tuple[str, pd.DataFrame]]:
    """`claims` and `adjusted_claims` by label, and of these claims how many stand over dialogues (`…_dialogues`) and
    over annotators (`…_annotators`), with `n` pairs, or claims for which there is a test.

    results : of notebook 05. A claim is a pair with p < 0.05 by the test as published, every item independent and with
    one judgement; it stands where the other test has p < 0.05 and the same sign.
    """
    plain = results.select("system_difference", test=sensitivity.PUBLISHED, sample=None).dropna(subset="p_value")
    others = {"dialogues": _over_dialogues(results), "annotators": sensitivity.with_people(results)}
    for statistic, p in _COUNTS.items():
        claimed = plain[p] < 0.05
        yield statistic, _counted(plain.assign(estimate=claimed))
        for over, tests in others.items():
            both = plain[claimed].merge(tests.dropna(subset="p_value"), on=_PAIR, suffixes=("", "_other"))
            same = (both["estimate"] > 0) == (both["estimate_other"] > 0)
            yield f"{statistic}_{over}", _counted(both.assign(estimate=same & (both[f"{p}_other"] < 0.05)))


def _over_dialogues(results: Results) -> pd.DataFrame:
    """The permutation tests on the judgements that the published tests had; of labels without one, those on all."""
    picked, every = sensitivity.of_one_pick(results), sensitivity.primary(results)
    again = pd.MultiIndex.from_frame(every[CELL]).isin(pd.MultiIndex.from_frame(picked[CELL]))
    return pd.concat([picked, every[~again]], ignore_index=True)


def _counted(tests: pd.DataFrame) -> pd.DataFrame:
    """By label, of how many tests `estimate` is true, and `n` tests."""
    by_label = tests.groupby(CELL, sort=False)["estimate"]
    return pd.DataFrame({"estimate": by_label.sum().astype(float), "n": by_label.size()}).reset_index()
