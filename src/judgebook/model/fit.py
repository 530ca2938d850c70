"""What models of ratings and of comparisons share: the judgements of one label as coded arrays, and its fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy.special import fdtri, stdtr, stdtrit

from judgebook.model.contrasts import Levels

#: parts of the variance: how a system does in one run of a study; what several systems answered; an answer of one
#: system (a dialogue, or in comparisons what a system says to a context); how high an annotator scores all systems;
#: what an annotator thinks of one; the rest
RUN = "run"
CONTEXT, ITEM, ANSWER, ANNOTATOR, TASTE, RESIDUAL = "context", "item", "answer", "annotator", "taste", "residual"
#: what comparisons have besides: how much an annotator favours the side that is shown first
SIDE = "side"
#: parts that other annotators would change
PEOPLE = (ANNOTATOR, TASTE)


#: degrees of freedom that stand for infinitely many
_MANY = 1e9


@dataclass(frozen=True)
class Slopes:
    """Covariates of comparisons, by name.

    estimates, errors, df : (c,) log odds of a win by one unit more. varies : (c,) SD of these between contexts and
    between annotators, where most have several votes; what is NaN is not among the errors. moved : (s,) by how much
    strengths are higher at equal covariates than as collected; moved_covariance : (s, s) of these. spread : (c,) root
    mean square in the votes.
    """

    names: tuple[str, ...]
    estimates: np.ndarray
    errors: np.ndarray
    df: np.ndarray
    varies: dict[str, np.ndarray]
    moved: np.ndarray
    moved_covariance: np.ndarray
    spread: np.ndarray

    @property
    def over(self) -> str:
        """What errors treat as samples; '' where they are for these contexts and annotators only."""
        if any(np.isnan(sds).any() for sds in self.varies.values()):
            return ""
        return " and ".join(self.varies) or "judgement"

    def half_widths(self, confidence: float) -> np.ndarray:
        """(c,) of intervals of each alone."""
        return np.asarray(self.errors * stdtrit(np.minimum(self.df, _MANY), (1 + confidence) / 2))

    @property
    def p_values(self) -> np.ndarray:
        return np.asarray(2 * stdtr(np.minimum(self.df, _MANY), -np.abs(self.estimates / self.errors)))

    def radius(self, confidence: float) -> float:
        """Of their joint confidence region, in standard errors (Scheffé)."""
        k = len(self.names)
        return float(np.sqrt(k * fdtri(k, min(self.df.min(), _MANY), confidence)))


@dataclass(frozen=True)
class Fit:
    """The model of one label.

    systems : names, in the order of `levels`. levels : of systems, on the scale of the scores or as log strengths.
    variances : of each part that is in the model. left_out : part -> why it is not. others : whether statements hold
    for other annotators like these. people : (pairs,) the variance of each difference that is due to annotators. n :
    judgements; n_annotators : 0 where they are not known. sizes : (s,) items or votes of each system. intervals : of
    parts due to annotators, ends of their share in the variance. log_nu : of ties in comparisons, and ties : its
    variance between annotators. note : what is assumed where levels do not follow from the data alone. confounded :
    why nothing is said of annotators, whose effects are in the model, or ''. slopes : of covariates, which `levels`
    are at equal values of; None where there are none.
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
    slopes: Slopes | None = None

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


#: share of judgements by annotators with one level of something, alone in it, from which the two are one thing
COINCIDE = 0.5


@dataclass(frozen=True)
class Judgements:
    """Judgements of single items on one label.

    systems : names, by code. system, item, context, annotator : (n,) codes from 0 without gaps. item : what was judged,
    a dialogue of one system; context : what several systems answered (a prompt), each item its own where there is none.
    annotator : None where nobody knows who judged. score : (n,), one of each annotator and item. weight : (n,) of how
    many items of the population each stands for; None where all count alike. marks : whether scores are marks, 0 or 1,
    or shares of turns with one. run : (n,) codes of the runs of a study where these are a sample, three at least.
    """

    systems: tuple[str, ...]
    system: np.ndarray
    item: np.ndarray
    context: np.ndarray
    annotator: np.ndarray | None
    score: np.ndarray
    weight: np.ndarray | None = None
    marks: bool = False
    run: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.score)


def coded(values: Sequence[object] | pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """(n,) codes from 0 in the order of sorted values, and the (k,) values."""
    codes, levels = pd.factorize(pd.Series(values), sort=True)
    return codes.astype(np.intp), np.asarray(levels)


def confounded(annotator: np.ndarray | None, *others: tuple[str, np.ndarray]) -> str:
    """Why effects of annotators cannot be told from those of what they judged: most judgements are by annotators with a
    single level of it, alone in that; '' where they can. others : names of levels and their (n,) codes."""
    if annotator is None:
        return ""
    for name, codes in others:
        pairs = np.unique(np.column_stack([annotator, codes]), axis=0)
        single = np.bincount(pairs[:, 0])[annotator] == 1
        if np.mean(single & (np.bincount(pairs[:, 1])[codes] == 1)) >= COINCIDE:
            return f"most annotators judged one {name} each, alone"
    return ""


def crossed(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(n,) codes without gaps of the pairs of two codes that occur."""
    return np.unique(a * (int(b.max()) + 1) + b, return_inverse=True)[1]
