"""The model of a judgement, and the population values that follow from it.

A judgement of annotator j on item i of dialogue d is the category that a normal variable falls into:

    y = m(system) + sqrt(g) x + sqrt(1 - g) (sqrt(a) t_j + sqrt(l) u_jd + sqrt(1 - a - l) e)

x is the item's true value, t_j a lasting leaning of the annotator, u_jd a leaning of the annotator on this dialogue
(one for all labels of a Likert or comparative work unit: halo), e error; all standard normal. g is the share of the
signal. x of a turn is sqrt(b) T_d + sqrt(1 - b) e'; of a dialogue T_d; of a comparison the standardised difference of
T_d between its two dialogues. A dialogue's trait T_d has correlation `relation` with its quality. All traits share one
split into interactor and dialogue effects (`Simulate.interactor_share`).

Two annotators of an item have correlation g within a system, and agreement, means and effect sizes follow by
`gaussian.joint` without simulation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from compendium.simulation import design, gaussian
from judgebook.study.labels import LABEL_SETS
from judgebook.study.sections.data import Simulate

#: columns of the array of traits: the behaviours, then the dimensions
TRAITS = (*design.BEHAVIORS, *design.DIMENSIONS)
TASKS = {(label.method, label.id): label.task for label in LABEL_SETS["abc_eval"]}
#: signal shares a calibration may end at
_G_RANGE = (0.01, 0.95)


@dataclass(frozen=True)
class Measure:
    """One label as one group of evaluators sees it.

    scores : ascending scores of the categories. cuts : where the categories part. means : by system, in standard
    deviations within a system. signal : g above. between : b above, 1 where a dialogue or pair is judged as a whole.
    relation : correlation of T_d with quality. annotator_share, lean_share : a and l above.
    """

    method: str
    label: str
    scores: tuple[int, ...]
    cuts: tuple[float, ...]
    means: tuple[float, ...]
    signal: float
    between: float
    relation: float
    annotator_share: float
    lean_share: float

    @property
    def task(self) -> str:
        return TASKS[self.method, self.label]

    @property
    def trait(self) -> int:
        return TRAITS.index(self.label)

    @property
    def comparative(self) -> bool:
        return self.method == "comparative"

    @property
    def same_annotator(self) -> float:
        """Correlation of two turns of a dialogue under one annotator, within a system."""
        return self.signal * self.between + (1 - self.signal) * (self.annotator_share + self.lean_share)

    def system_cuts(self) -> np.ndarray:
        """Cuts of the standardised variable: one row per system, or for comparisons per pair (left, right)."""
        m = np.asarray(self.means)
        if self.comparative:
            m = np.array([m[left] - m[right] for left, right in pairs()])
        return np.asarray(self.cuts) - m[:, None]


def pairs() -> list[tuple[int, int]]:
    """Ordered pairs of different systems."""
    n = len(design.SYSTEMS)
    return [(i, j) for i in range(n) for j in range(n) if i != j]


def alpha(measure: Measure) -> float:
    """Population alpha (ordinal) of two different annotators of the group; comparisons in both orientations."""
    cuts = measure.system_cuts()
    return gaussian.ordinal_alpha(gaussian.joint(cuts, cuts, measure.signal).mean(0))


def moments(measure: Measure) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of one score, by system (or ordered pair)."""
    p, s = gaussian.marginal(measure.system_cuts()), np.asarray(measure.scores)
    mean = p @ s
    return mean, p @ s**2 - mean**2


def covariance(a: Measure, b: Measure, r: float) -> np.ndarray:
    """Covariance of two scores whose normal variables have correlation r, by system."""
    table = gaussian.joint(a.system_cuts(), b.system_cuts(), r)
    both = np.einsum("sij,i,j->s", table, np.asarray(a.scores), np.asarray(b.scores))
    return both - moments(a)[0] * moments(b)[0]


@cache
def measures(spec: Simulate, group: str) -> dict[tuple[str, str], Measure]:
    """Every label that `group` judges, calibrated: (method, label) -> Measure.

    The share of the signal is solved for sur_x so that population alpha at the documented effects equals the value
    aimed at; then its odds are multiplied by `spec.agreement` and by the odds of the group.
    """
    return {
        key: _as_seen_by(base, group, spec)
        for key, base in _reference(spec).items()
        if group == "sur_x" or key[0] in ("dialogue_likert", "comparative")
    }


@cache
def _reference(spec: Simulate) -> dict[tuple[str, str], Measure]:
    """Labels as sur_x sees them, before the factors of `spec` and of the group, calibrated to the alpha aimed at."""
    low = {"annotator_share": spec.annotator_share, "lean_share": spec.lean_share}
    calibrated = {}
    for label, b in design.BEHAVIORS.items():
        measure = Measure(
            "behavior", label, (0, 1), (0.0,), tuple(ndtri(b.rates)), 0.5, b.between,
            b.relation * spec.quality_relations, **low,
        )  # fmt: skip
        calibrated["behavior", label] = _calibrated(measure, b.alpha)
    for label, d in design.DIMENSIONS.items():
        relation = 1.0 if label == "quality" else d.relation * spec.quality_relations
        effects = np.array(d.effects)
        likert = (1, 2, 3, 4, 5), tuple(ndtri(np.cumsum(d.shares)[:-1]))
        tie = float(ndtri((1 + d.ties) / 2))
        halo = {"annotator_share": spec.annotator_share, "lean_share": spec.halo_share}
        for method, (scores, cuts), factor, between, shares, aim in (
            ("turn_likert", likert, design.TURN_EFFECT, design.TURN_BETWEEN, low, d.turn_alpha),
            ("dialogue_likert", likert, 1.0, 1.0, halo, d.dialogue_alpha),
            ("comparative", ((-1, 0, 1), (-tie, tie)), design.PAIR_EFFECT, 1.0, halo, d.comparative_alpha),
        ):
            measure = Measure(
                method, label, scores, cuts, tuple(factor * effects), 0.5, between, relation, **shares
            )  # fmt: skip
            calibrated[method, label] = _calibrated(measure, aim)
    return calibrated


def _calibrated(measure: Measure, aim: float) -> Measure:
    """`measure` with the signal share at which alpha is `aim`, or the nearest end of the allowed range."""

    def excess(g: float) -> float:
        return alpha(replace(measure, signal=g)) - aim

    low, high = _G_RANGE
    if excess(low) >= 0:
        return replace(measure, signal=low)
    if excess(high) <= 0:
        return replace(measure, signal=high)
    return replace(measure, signal=float(brentq(excess, low, high, xtol=1e-6)))


def with_odds(measure: Measure, factor: float) -> Measure:
    """`measure` with its odds of signal to noise multiplied by `factor`."""
    odds = factor * measure.signal / (1 - measure.signal)
    return replace(measure, signal=odds / (1 + odds))


def _as_seen_by(measure: Measure, group: str, spec: Simulate) -> Measure:
    g = design.GROUPS[group]
    gains = g.gain.get(measure.method, {})
    gain = gains.get(measure.label, gains.get("*", 1.0))
    m = np.array(measure.means)
    centre = m.mean()
    m = centre + spec.system_differences * gain * (m - centre)
    cuts = measure.cuts
    if measure.method == "dialogue_likert":
        m = m + g.severity
    if group == "stu_i" and measure.comparative:
        tie = float(ndtri((1 + design.INTERACTOR_TIES) / 2))
        cuts = (-tie, tie)
    return with_odds(replace(measure, means=tuple(m), cuts=cuts), spec.agreement * g.odds)
