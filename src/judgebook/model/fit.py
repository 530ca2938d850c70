"""What models of ratings and of comparisons have in common: the fit of one label."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from judgebook.model.contrasts import Levels

#: parts of the variance: how a system does in one run of a study; what several systems answered; an answer of one
#: system (a dialogue, or in comparisons what a system says to a context); how high an annotator scores all systems;
#: what an annotator thinks of one; the rest
RUN = "run"
CONTEXT, ITEM, ANSWER, ANNOTATOR, TASTE, RESIDUAL = "context", "item", "answer", "annotator", "taste", "residual"
#: parts that other annotators would change
PEOPLE = (ANNOTATOR, TASTE)


@dataclass(frozen=True)
class Fit:
    """The model of one label.

    systems : names, in the order of `levels`. levels : of systems, on the scale of the scores or as log strengths.
    variances : of each part that is in the model. left_out : part -> why it is not. others : whether statements hold
    for other annotators like these. people : (pairs,) the variance of each difference that is due to annotators. n :
    judgements; n_annotators : 0 where they are not known. sizes : (s,) items or votes of each system. intervals : of
    parts due to annotators, ends of their share in the variance. log_nu : of ties in comparisons, and ties : its
    variance between annotators. note : what is assumed where levels do not follow from the data alone. confounded :
    why nothing is said of annotators, whose effects are in the model, or ''.
    """

    systems: tuple[str, ...]
    levels: Levels
    variances: dict[str, float]
    left_out: dict[str, str]
    others: bool
    people: np.ndarray
    n: int
    n_annotators: int
    sizes: np.ndarray
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)
    log_nu: float | None = None
    ties: float = 0.0
    note: str = ""
    confounded: str = ""

    @property
    def shares(self) -> dict[str, float]:
        """Of each part in the variance of judgements of one system; of votes on the scale of log strengths."""
        total = sum(self.variances.values())
        return {part: variance / total if total else 0.0 for part, variance in self.variances.items()}

    @property
    def over(self) -> str:
        """What differences treat as samples."""
        named = {
            RUN: "run",
            CONTEXT: "context",
            ITEM: "dialogue",
            ANSWER: "answer",
            ANNOTATOR: "annotator",
            TASTE: "annotator",
        }
        kinds = dict.fromkeys(kind for part, kind in named.items() if part in self.variances)
        return " and ".join(kind for kind in kinds if kind != "annotator" or self.others) or "judgement"
