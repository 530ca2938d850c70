"""Which rows of notebook 05 are its own answer, where it stores several for the same thing."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from judgebook.annotations.population import PLACE, Population
from judgebook.questions.sensitivity import analysis, power
from judgebook.study.results import Results, mark_primary
from judgebook.study.schema import CELL


def with_primary(results: Results, populations: Mapping[tuple[str, str], Population]) -> Results:
    """`results`, with the differences of systems and the detectable differences marked that speak of the population.

    Where annotators stand for others, a label has the tests with annotators as a sample, if there are any; else the
    primary tests, which are about these annotators. populations : (corpus, group) -> whose judgements there are.
    """
    tests, people = analysis.primary(results), analysis.with_people(results)
    sampled = _of(people, PLACE).isin([place for place, one in populations.items() if one.others])
    people = people[sampled]
    tested = people["p_value"].notna().groupby([people[c] for c in CELL], dropna=False).transform("any").astype(bool)
    people = people[tested]
    instead = _of(tests, CELL).isin(_of(people, CELL))
    same, sample = (analysis.detectable(results, people=whom) for whom in (power.SAME, power.SAMPLE))
    others = [_of(rows, PLACE).isin(_of(people, PLACE)) for rows in (same, sample)]
    return mark_primary(
        results,
        system_difference=pd.concat([tests[~instead], people]),
        detectable_difference=pd.concat([same[~others[0]], sample[others[1]]]),
    )


def _of(rows: pd.DataFrame, columns: list[str]) -> pd.MultiIndex:
    return pd.MultiIndex.from_frame(rows[columns])
