"""What decides votes on pairs? The results of notebook 19.

Each part of the question has a module that makes its rows, and a view of its own: `adjusted` the boards at equal
covariates, `kinds` those by kind of prompt, `ties` what kinds of ties there are, `voter_results` who voted and what
would change the first place, `next_votes` who may be the best and what to compare next, `changed` what is new since a
day, `ratings_and_votes` whether ratings of the same systems say the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd

from judgebook.annotations import population
from judgebook.questions.comparisons import (
    adjusted,
    changed,
    kinds,
    next_votes,
    ratings_and_votes,
    ties,
    voter_results,
)
from judgebook.questions.comparisons.adjusted import Measured
from judgebook.questions.performance.analysis import chosen
from judgebook.study.labels import Label
from judgebook.study.results import Results, collect
from judgebook.study.schema import Annotations


def votes(annotations: Annotations, labels: Iterable[Label], unranked: Collection[str] = ()) -> Annotations:
    """Votes on two ranked systems on labels with a direction, of groups with people theirs alone; the score is 1 where
    the first is better, whichever way the label counts. unranked : systems that are not ranked."""
    rows = _turned(annotations, list(labels), unranked)
    return rows[rows["dialogue_b"].notna()]


def rated(annotations: Annotations, labels: Iterable[Label], unranked: Collection[str] = ()) -> Annotations:
    """As `votes`, ratings of single systems on scales of more than a point; a high score is good."""
    rows = _turned(annotations, [x for x in labels if x.scale[1] - x.scale[0] > 1], unranked)
    return rows[rows["dialogue_b"].isna() & ~rows["system"].isin(list(unranked))]


def _turned(annotations: Annotations, labels: list[Label], unranked: Collection[str]) -> Annotations:
    rows = chosen(annotations, unranked, labels)
    direction = {(x.method, x.id): x.direction for x in labels}
    sign = np.array([direction.get(key, 0) for key in zip(rows["method"], rows["label"], strict=True)])
    return rows.assign(score=sign * rows["score"])[sign != 0]


def analyse(
    judged: Annotations,
    of: Measured,
    kind: pd.Series | None = None,
    mix: Mapping[str, float] = MappingProxyType({}),
    *,
    rated: Annotations | None = None,
    since: str | None = None,
    inference: str = "auto",
    confidence: float = 0.95,
) -> Results:
    """All results of notebook 19. judged : of `votes`. of : covariates. kind, mix : of `kinds.boards`. rated : of
    `rated`; None: not asked. since : of `changed.rows`. inference : of `population.modelled`."""
    people: Mapping[tuple[str, str], population.Population] = population.modelled(judged, inference)
    return collect(
        adjusted.boards(judged, of, people, confidence=confidence),
        () if kind is None else kinds.boards(judged, kind, people, mix, confidence=confidence),
        ties.rows(judged, kind, confidence=confidence),
        voter_results.rows(judged),
        next_votes.rows(judged, people, confidence=confidence),
        changed.rows(judged, people, since, confidence=confidence),
        () if rated is None else ratings_and_votes.rows(judged, rated, inference, confidence=confidence),
    )
