"""For whom statements hold: for the annotators who judged, or for other annotators like them.

Annotators are a sample of others where enough of them judged several systems. Otherwise results are about these
annotators only: the variance between two or three people is hardly known, and one that is declared away (annotators
unknown) must not make results look more certain than one that is admitted.

References
----------
Kish 1965, Survey Sampling, section 8.2 (effective number). Cameron and Miller 2015, Journal of Human Resources 50,
317-372, section VI (few clusters).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from judgebook.annotations.cells import in_turn
from judgebook.study.schema import Annotations

#: effective annotators from which they are a sample, unless a study says otherwise
LEAST = 5
#: share of the judgements above which results are mostly those of one annotator. With fewer effective annotators than
#: an interval for others needs (1.75), one is above it: below it, squared shares sum to 5/9 at most
MOSTLY = 2 / 3
#: why results are for these annotators only: as declared, too few, or not identified
FIXED, FEW, UNKNOWN = "fixed", "few", "unknown"
PLACE, SIDES = ["corpus", "group"], ("system", "system_b")


@dataclass(frozen=True)
class Population:
    """Whose judgements results of one corpus and group are about.

    others : whether about other annotators like these. n : annotators; None where they are not identified. several :
    those who judged two systems or more. effective : as many with equal loads say as much as the latter. why : '' where
    `others`, else FIXED, FEW or UNKNOWN. largest : share of the judgements by the annotator with most of them; 0 where
    annotators are not identified.
    """

    others: bool
    n: int | None
    several: int
    effective: float
    why: str
    largest: float = 0.0

    @property
    def dominated(self) -> bool:
        """Whether one annotator judged more than twice as much as all others together: what these annotators say is
        then little more than what that one says."""
        return self.n != 1 and self.largest > MOSTLY


def populations(annotations: Annotations, wanted: str = "auto") -> dict[tuple[str, str], Population]:
    """The population of each (corpus, group).

    Parameters
    ----------
    annotations : DataFrame
        corpus, group, annotator, annotator_known, annotator_kind, system, system_b: of the evaluation. Where a group
        has people, its models do not count; groups of models only are fixed.
    wanted : {"auto", "sample", "fixed"}
        `inference.annotators`. sample: two known annotators are enough. auto: LEAST effective annotators, to the
        nearest tenth, who judged several systems.
    """
    annotations = annotations[[*PLACE, "annotator", "annotator_known", "annotator_kind", "system", "system_b"]]
    return {key: _population(part, wanted) for key, part in in_turn(annotations, PLACE)}


def modelled(annotations: Annotations, wanted: str = "auto") -> dict[tuple[str, str], Population]:
    """The population of each (corpus, group) in fitted models, which need no least number of annotators: what two of
    them have in common is little, and intervals are as wide as that makes them. Where each system was judged by one of
    them, they cannot be told from the systems. wanted : as of `populations`; with `method` and `label` in annotations.
    """
    out = populations(annotations, "fixed" if wanted == "fixed" else "sample")
    people = annotations[annotations["annotator_kind"] == "human"]
    keys = [*PLACE, "method", "label", "system"]
    sides = [people[[*keys[:-1], side, "annotator"]].set_axis([*keys, "annotator"], axis=1) for side in SIDES]
    of_system = pd.concat(sides).dropna(subset="system").drop_duplicates().groupby(keys, observed=True).size()
    several = (of_system > 1).groupby(PLACE, observed=True).any()
    alone = {key for key, one in out.items() if one.others and not several.get(key, False)}
    return {key: replace(one, others=False, why=FEW) if key in alone else one for key, one in out.items()}


def _population(part: pd.DataFrame, wanted: str) -> Population:
    people = part[part["annotator_kind"] == "human"]
    if people.empty:
        loads = part["annotator"].value_counts(normalize=True)
        return Population(False, len(loads), 0, 0.0, FIXED, loads.max())
    if not people["annotator_known"].all():
        return Population(False, None, 0, 0.0, UNKNOWN)
    shares, loads = people["annotator"].value_counts(normalize=True), _loads(people)
    effective = float(loads.sum() ** 2 / np.sum(loads**2)) if len(loads) else 0.0
    enough = len(shares) > 1 if wanted == "sample" else round(effective, 1) >= LEAST
    why = FIXED if wanted == "fixed" else "" if enough else FEW
    return Population(not why, len(shares), len(loads), effective, why, float(shares.max()))


def _loads(people: pd.DataFrame) -> np.ndarray:
    """Judgements by each annotator who judged two systems or more, on either side of a comparison."""
    sides = [people[["annotator", side]].set_axis(["annotator", "system"], axis=1) for side in SIDES]
    systems = pd.concat(sides).dropna().drop_duplicates().groupby("annotator", observed=True).size()
    loads = people.groupby("annotator", observed=True).size()
    return loads[systems.reindex(loads.index).to_numpy() > 1].to_numpy(float)


def declared(annotations: Annotations, populations: Mapping[tuple[str, str], Population]) -> pd.DataFrame:
    """`annotations` whose annotators are known only where they are a sample.

    Elsewhere intervals then are for these annotators, exactly as if nobody knew who they are.
    """
    corpora = pd.MultiIndex.from_frame(annotations[PLACE])
    fixed = corpora.isin([key for key, one in populations.items() if not one.others])
    return annotations.assign(annotator_known=annotations["annotator_known"] & ~fixed) if fixed.any() else annotations
