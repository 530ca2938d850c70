"""How do two systems compare? Every pair of systems on every label, by the fits that notebook 07 stored.

Nothing is estimated here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from judgebook.annotations.population import Population
from judgebook.questions.performance import leading
from judgebook.questions.performance.leading import PART
from judgebook.study.results import ResultRows, where
from judgebook.summary.evidence import PERFORMANCE, Evidence, parts

KEYS = ["label", "system", "system_b"]


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
        rows = leading.by_margin(rows.reset_index(drop=True), evidence.study.margins, part[2])
        yield Comparisons(part, rows, evidence.population(*part[:2]), places.index(part[:2]), where(order, **key))
