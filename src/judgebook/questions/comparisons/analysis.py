"""What decides votes on pairs? The results of notebook 19.

Each part of the question has a module that makes its rows, and a view of its own: `adjusted` the boards at equal
covariates.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from judgebook.annotations import population
from judgebook.questions.comparisons import adjusted
from judgebook.questions.comparisons.adjusted import Measured
from judgebook.questions.performance.analysis import chosen
from judgebook.study.labels import Label
from judgebook.study.results import Results, collect
from judgebook.study.schema import Annotations


def votes(annotations: Annotations, labels: Iterable[Label], unranked: Collection[str] = ()) -> Annotations:
    """The comparisons of two ranked systems; of groups with people theirs alone. unranked : systems that are not."""
    rows = chosen(annotations, unranked, labels)
    return rows[rows["dialogue_b"].notna()]


def analyse(
    judged: Annotations,
    labels: Iterable[Label],
    of: Measured,
    *,
    inference: str = "auto",
    confidence: float = 0.95,
) -> Results:
    """All results of notebook 19. judged : of `votes`. of : covariates. inference : of `population.modelled`."""
    labels = list(labels)
    people: Mapping[tuple[str, str], population.Population] = population.modelled(judged, inference)
    return collect(
        adjusted.boards(judged, labels, of, people, confidence=confidence),
        # rows of further modules: voters, kinds of prompts, next votes
    )
