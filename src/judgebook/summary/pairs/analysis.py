"""How do two systems compare? Every pair of systems on every label, from the stored results of notebooks 05 and 07.

Nothing is estimated here. Difference and interval are those of notebook 05; the p-value is the one that answers for the
population of the evaluation (`annotations.population`): with annotators as a sample where they stand for others, else
that of the primary test, which is about these annotators.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from judgebook.annotations.population import Population
from judgebook.questions.performance import leading
from judgebook.questions.performance.leading import PART
from judgebook.questions.sensitivity import analysis as sensitivity
from judgebook.questions.sensitivity.differences import TEST
from judgebook.study.results import ResultRows, Results, where
from judgebook.summary.evidence import PERFORMANCE, SENSITIVITY, Evidence, parts

KEYS = ["label", "system", "system_b"]
#: what is shown of a pair: a difference; one smaller than the margin; equivalence; neither; or too few data for a test
DIFFER, SLIGHTLY, ALIKE, OPEN, FEW = "differ", "slightly", "alike", "open", "few"


@dataclass(frozen=True)
class Comparisons:
    """All pairs of systems in one evaluation (run, group and method).

    rows : KEYS, estimate (the first system minus the second, on the scale of the label), ci_low, ci_high, p (after
    Holm's adjustment within the label; missing where the data are too few for a test), n (dialogues or pairs), verdict.
    people : whose judgements the verdicts are about. wider : whether intervals allow for other annotators although the
    verdicts do not. margin : of equivalence, in standard deviations; missing where nothing was tested. place : of the
    run and group among those of notebook 05. order : rows of `leading.order`, the best system first; may be empty.
    """

    part: tuple[str, str, str]
    rows: pd.DataFrame
    people: Population
    wider: bool
    margin: float
    place: int
    order: ResultRows


def comparisons(evidence: Evidence) -> Iterator[Comparisons]:
    """Of every evaluation, the main one first; none where notebook 05 was not run.

    Labels of one evaluation that speak of other annotators, and labels that do not, are kept apart.
    """
    stored, every = evidence.results[SENSITIVITY], parts(evidence)
    if "system_difference" not in stored or stored["system_difference"].empty:
        return
    primary = sensitivity.primary(stored)
    places = list(primary[["corpus", "group"]].drop_duplicates().itertuples(index=False, name=None))
    order = leading.order(evidence.results[PERFORMANCE], every)
    for part in every:
        key = dict(zip(PART, part, strict=True))
        if where(primary, **key).empty:
            continue
        people = evidence.population(*part[:2])
        rows = _rows(stored, key, others=people.others)
        rows, margin = _judged(rows, where(stored["equivalence"], **key), 1 - evidence.confidence)
        for others, some in rows.groupby("others", sort=False):
            whose = people if others or not people.others else replace(people, others=False)
            wider = bool(some["over_people"].any()) and not others
            yield Comparisons(part, some, whose, wider, margin, places.index(part[:2]), where(order, **key))


def _rows(stored: Results, key: dict[str, str], *, others: bool) -> pd.DataFrame:
    """Estimate, interval and p-value of each pair and label; `others`: whether p is about other annotators."""
    tests = where(sensitivity.primary(stored), **key).set_index(KEYS)
    wide = where(stored.select("system_difference", test=TEST), **key).set_index(KEYS).reindex(tests.index)
    over_people = wide["resample_unit"].astype(str).str.endswith(" and annotator")
    by_label = (over_people & wide["p_value"].notna()).groupby(level="label").transform("any")
    sample = by_label if others else by_label & False
    # an interval stands with the estimate that it is about: tests within sessions have another one, and no interval
    alone = tests["ci_low"].isna() & wide["ci_low"].notna()
    columns = {c: tests[c].where(~alone, wide[c]) for c in ("estimate", "ci_low", "ci_high")}
    columns["n"] = tests["n"].fillna(wide["n"])
    p = tests["p_adjusted"].where(~sample, wide["p_adjusted"])
    return pd.DataFrame({**columns, "p": p, "others": sample, "over_people": over_people}).reset_index()


def _judged(rows: pd.DataFrame, equivalence: ResultRows, level: float) -> tuple[pd.DataFrame, float]:
    """`rows` with `verdict`, and the margin of equivalence."""
    alike = equivalence.set_index(KEYS)["p_adjusted"].reindex(pd.MultiIndex.from_frame(rows[KEYS])).to_numpy() < level
    differ, few = (rows["p"] < level).to_numpy(), rows["p"].isna().to_numpy()
    kinds = [few, differ & alike, differ, alike]
    margins = equivalence["margin"].astype(float)
    verdict = np.select(kinds, [FEW, SLIGHTLY, DIFFER, ALIKE], OPEN)
    return rows.assign(verdict=verdict), float(margins.iloc[0]) if len(margins) else float("nan")
