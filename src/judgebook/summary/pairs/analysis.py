"""How do two systems compare? Every pair of systems on every label, from the stored results of notebooks 05 and 07.

Nothing is estimated here: differences are those of the fits in notebook 07, whether two systems are equivalent is told by
notebook 05.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from judgebook.annotations.population import Population
from judgebook.questions.performance import leading
from judgebook.questions.performance.leading import PART
from judgebook.study.results import ResultRows, Results, where
from judgebook.summary.analysis import decided
from judgebook.summary.evidence import PERFORMANCE, SENSITIVITY, Evidence, parts

KEYS = ["label", "system", "system_b"]
#: what is shown of a pair: a difference; one smaller than the margin; equivalence; that one is not worse than the other
#: by the margin; none of these; or too few data for a test
DIFFER, SLIGHTLY, ALIKE, NOT_WORSE, OPEN, FEW = "differ", "slightly", "alike", "not_worse", "open", "few"


@dataclass(frozen=True)
class Comparisons:
    """All pairs of systems in one evaluation (run, group and method).

    rows : KEYS, estimate (the first system minus the second, on the scale of the label; of comparisons, share won minus
    share lost), ci_low, ci_high (of all pairs at once; missing where systems cannot be compared), p (adjusted likewise),
    n (judgements or votes), verdict, margin of equivalence (missing where nothing was tested), own (whether it is the
    YAML's, in units of the label, and not in standard deviations), not_worse (where the verdict is NOT_WORSE, the
    system that is not, else empty). people : whose judgements the verdicts are about. place : of the run and group among those of notebook 05. order : rows of `leading.order`, the best
    system first; may be empty.
    """

    part: tuple[str, str, str]
    rows: pd.DataFrame
    people: Population
    place: int
    order: ResultRows


def comparisons(evidence: Evidence) -> Iterator[Comparisons]:
    """Of every evaluation, the main one first; none where no two systems were compared."""
    contrasts, every = evidence.results[PERFORMANCE]["contrast"], parts(evidence)
    stored, order = evidence.results[SENSITIVITY], leading.order(evidence.results[PERFORMANCE], every)
    places = list(contrasts[["corpus", "group"]].drop_duplicates().itertuples(index=False, name=None))
    for part in every:
        key = dict(zip(PART, part, strict=True))
        rows = where(contrasts, **key)
        if rows.empty:
            continue
        rows = rows[[*KEYS, "estimate", "ci_low", "ci_high", "n"]].assign(p=rows["p_adjusted"])
        rows = _judged(rows.reset_index(drop=True), stored.part(**key), 1 - evidence.confidence)
        yield Comparisons(part, rows, evidence.population(*part[:2]), places.index(part[:2]), where(order, **key))


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
    differ, few = decided(rows).to_numpy(), rows["ci_low"].isna().to_numpy()
    kinds = [few, differ & alike, differ, alike, (rows["not_worse"] != "").to_numpy()]
    rows = rows.assign(verdict=np.select(kinds, [FEW, SLIGHTLY, DIFFER, ALIKE, NOT_WORSE], OPEN))
    return rows.assign(not_worse=rows["not_worse"].where(rows["verdict"] == NOT_WORSE, ""))
