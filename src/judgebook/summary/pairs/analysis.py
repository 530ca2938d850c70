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
#: what is shown of a pair: a difference; one smaller than the margin; equivalence; that one is not worse than the other
#: by the margin; none of these; or too few data for a test
DIFFER, SLIGHTLY, ALIKE, NOT_WORSE, OPEN, FEW = "differ", "slightly", "alike", "not_worse", "open", "few"


@dataclass(frozen=True)
class Comparisons:
    """All pairs of systems in one evaluation (run, group and method).

    rows : KEYS, estimate (the first system minus the second, on the scale of the label), ci_low, ci_high, p (after
    Holm's adjustment within the label; missing where the data are too few for a test), n (dialogues or pairs), verdict,
    margin of equivalence (missing where nothing was tested), own (whether it is the YAML's, in units of the label, and
    not in standard deviations), not_worse (where the verdict is NOT_WORSE, the system that is not, else empty).
    people : whose judgements the verdicts are about. wider : whether intervals allow for other annotators although the
    verdicts do not. place : of the run and group among those of notebook 05. order : rows of `leading.order`, the best
    system first; may be empty.
    """

    part: tuple[str, str, str]
    rows: pd.DataFrame
    people: Population
    wider: bool
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
        rows = _judged(rows, stored.part(**key), 1 - evidence.confidence)
        for others, some in rows.groupby("others", sort=False):
            whose = people if others or not people.others else replace(people, others=False)
            wider = bool(some["over_people"].any()) and not others
            yield Comparisons(part, some, whose, wider, places.index(part[:2]), where(order, **key))


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


def _judged(rows: pd.DataFrame, stored: Results, level: float) -> pd.DataFrame:
    """`rows` with `verdict`, `margin`, `own` and `not_worse`; stored : of the same evaluation."""
    pairs, turned = (pd.MultiIndex.from_frame(rows[keys]) for keys in (KEYS, [KEYS[0], *KEYS[:0:-1]]))
    tests, sides = stored["equivalence"].set_index(KEYS), stored["not_worse"]
    held = set(sides.loc[sides["p_adjusted"] < level, KEYS].itertuples(index=False, name=None)) if len(sides) else set()
    first, second = (rows[side].to_numpy(object) for side in KEYS[1:])
    rows = rows.assign(
        margin=tests["margin"].astype(float).reindex(pairs).to_numpy(),
        own=(tests["scale"] == "label").reindex(pairs, fill_value=False).to_numpy() if "scale" in tests else False,
        not_worse=np.select([[pair in held for pair in pairs], [pair in held for pair in turned]], [first, second], ""),
    )
    alike = tests["p_adjusted"].reindex(pairs).to_numpy() < level
    differ, few = (rows["p"] < level).to_numpy(), rows["p"].isna().to_numpy()
    kinds = [few, differ & alike, differ, alike, (rows["not_worse"] != "").to_numpy()]
    rows = rows.assign(verdict=np.select(kinds, [FEW, SLIGHTLY, DIFFER, ALIKE, NOT_WORSE], OPEN))
    return rows.assign(not_worse=rows["not_worse"].where(rows["verdict"] == NOT_WORSE, ""))
