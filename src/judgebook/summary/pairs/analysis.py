"""How do two systems compare? Every pair of systems on every label, by the fits that notebook 07 stored.

Nothing is estimated here. Two systems are equivalent if the interval of their difference lies within the margin of the
YAML, and one is not worse if it lies above minus the margin.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from judgebook.annotations.population import Population
from judgebook.questions.performance import leading
from judgebook.questions.performance.leading import PART
from judgebook.study.results import ResultRows, where
from judgebook.summary.evidence import PERFORMANCE, Evidence, parts

KEYS = ["label", "system", "system_b"]
#: what is shown of a pair: a difference; one smaller than the margin; equivalence; that one is not worse than the other
#: by the margin; none of these; or too few data for a test
DIFFER, SLIGHTLY, ALIKE, NOT_WORSE, OPEN, FEW = "differ", "slightly", "alike", "not_worse", "open", "few"


@dataclass(frozen=True)
class Comparisons:
    """All pairs of systems in one evaluation (run, group and method).

    rows : KEYS, estimate (the first system minus the second, on the scale of the label; of comparisons, share won minus
    share lost), ci_low, ci_high (of all pairs at once; missing where systems cannot be compared), p (adjusted
    likewise), n (judgements or votes), verdict, margin of the YAML (missing where it has none for the label), not_worse
    (where the verdict is NOT_WORSE, the system that is not in the direction of scores, else empty). people : whose
    judgements the verdicts are about. place : of the run and group among those of notebook 07. order : rows of
    `leading.order`, the best system first; may be empty.
    """

    part: tuple[str, str, str]
    rows: pd.DataFrame
    people: Population
    place: int
    order: ResultRows


def comparisons(evidence: Evidence) -> Iterator[Comparisons]:
    """Of every evaluation, the main one first; none where no two systems were compared."""
    contrasts, every = evidence.results[PERFORMANCE]["contrast"], parts(evidence)
    order = leading.order(evidence.results[PERFORMANCE], every)
    places = list(contrasts[["corpus", "group"]].drop_duplicates().itertuples(index=False, name=None))
    for part in every:
        key = dict(zip(PART, part, strict=True))
        rows = where(contrasts, **key)
        if rows.empty:
            continue
        rows = rows[[*KEYS, "estimate", "ci_low", "ci_high", "n"]].assign(p=rows["p_adjusted"])
        rows = judged(rows.reset_index(drop=True), evidence.study.margins, part[2])
        yield Comparisons(part, rows, evidence.population(*part[:2]), places.index(part[:2]), where(order, **key))


def judged(rows: pd.DataFrame, margins: Mapping[tuple[str, str], float], method: str) -> pd.DataFrame:
    """`rows` of contrasts by one method with `verdict`, `margin` and `not_worse`, all by the simultaneous interval.

    margins : of the study.
    """
    margin = np.array([margins.get((method, label), np.nan) for label in rows["label"]])
    low, high = rows["ci_low"].to_numpy(float), rows["ci_high"].to_numpy(float)
    few, differ = np.isnan(low), (low > 0) | (high < 0)
    alike, first, second = (low > -margin) & (high < margin), low > -margin, high < margin
    kinds = [few, differ & alike, differ, alike, first | second]
    verdict = np.select(kinds, [FEW, SLIGHTLY, DIFFER, ALIKE, NOT_WORSE], OPEN)
    side = np.where(first, rows["system"], rows["system_b"])
    return rows.assign(verdict=verdict, margin=margin, not_worse=np.where(verdict == NOT_WORSE, side, ""))
