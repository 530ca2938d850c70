"""Components of variance of judgements, estimated from a pilot: sessions, dialogues, turns, annotators, residual.

The model and its estimates are those of the simulated worlds of notebook 80 (`operating_characteristics.worlds`): a
judgement is the mean of its system plus effects of session, of system in session, of dialogue, of item (turn), of
annotator, and of annotator and system.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import chdtri, expit, ndtr, ndtri

from judgebook.annotations.summary import with_means
from judgebook.questions.operating_characteristics.worlds import (
    NESTED,
    AnnotationDesign,
    correlations,
    design,
    expectations,
    latent,
    tilted,
    variances,
    visible,
    world,
)
from judgebook.statistics.intervals import generator
from judgebook.study.labels import Label

#: means at which the variance of scores is found, to interpolate between
N_MEANS = 65
#: of the variance of the normal variables, at most so much may be shared
MOST_SHARED = 0.98
FACTORS = ("session", "side", "dialogue", "item", "annotator", "annotator_of_system", "residual")


@dataclass(frozen=True)
class PilotVariances:
    """Variances of the judgements of one label in a pilot.

    variance : of each of FACTORS that the pilot can distinguish; those of the others are in the ones that remain.
    drawn : the same, as estimated from `b` worlds drawn from the estimates, each (b,); empty without an interval.
    df : degrees of freedom from which each could be estimated if nothing else varied.
    items : judged items (turns) per dialogue. judgements : per item. people : annotators, None where they are not
    known. sd : standard deviation of the values of dialogues within systems.
    """

    method: str
    label: str
    variance: dict[str, float]
    drawn: dict[str, np.ndarray]
    df: dict[str, float]
    items: float
    judgements: float
    people: int | None
    n_dialogues: int
    pairwise: bool
    sd: float
    values: np.ndarray
    shape: np.ndarray
    factors: tuple[str, ...]

    @property
    def judged_twice(self) -> bool:
        """Whether some item has two judgements. If none has, what people disagree about cannot be distinguished from
        what dialogues differ by: both are in the residual, of which further annotators would average out the first
        only."""
        return self.judgements > 1 + 1e-9

    @property
    def ratios(self) -> dict[str, np.ndarray]:
        """(b,) draws of each variance relative to its estimate: a parametric bootstrap."""
        return {name: drawn / self.variance[name] for name, drawn in self.drawn.items() if self.variance[name] > 0}

    @property
    def largest_variance(self) -> float:
        """The largest that scores with this mean can have on this scale (Bhatia and Davis 2000)."""
        return float((self.values[-1] - self.mean) * (self.mean - self.values[0]))

    @cached_property
    def widest(self) -> float:
        """The difference of two systems of which one has the highest, the other the lowest score that was given."""
        return float(self.values[-1] if self.pairwise else np.ptp(self.values))

    @property
    def step(self) -> float:
        """The smallest between two scores that were given."""
        return float(np.diff(self.values).min())

    def interval(self, name: str, confidence: float) -> tuple[float, float]:
        """CI of one variance, from the draws; missing without any.

        The estimate plus a constant is taken as a mean square with the degrees of freedom of the factor; the constant,
        what everything else adds to that mean square, makes it vary as the draws do. Of few annotators the interval
        is that of chi-squared, skewed upwards; of many dialogues among noise it is nearly symmetrical.

        References
        ----------
        Graybill and Wang 1980, Journal of the American Statistical Association 75, 869-873 (differences of mean
        squares). Satterthwaite 1946, Biometrics Bulletin 2, 110-114.
        """
        if name not in self.drawn:
            return np.nan, np.nan
        value, drawn, df = self.variance[name], self.drawn[name], self.df[name]
        if drawn.min() > 0:  # the worlds themselves vary a little less or more
            spread = value * drawn.std() / drawn.mean()
        else:  # cut at 0: those above the value vary as all would
            above = np.maximum(drawn - value, 0)
            spread = np.sqrt(max(np.mean((drawn - value) ** 2), 2 * np.mean(above**2)))
        spread = max(spread, 1e-3 * value)
        others = spread * np.sqrt(df / 2) - value
        if others < 0:
            df, others = 2 * (value / spread) ** 2, 0.0
        tail = (1 - confidence) / 2
        low, high = (value + others) * df / chdtri(df, np.array([tail, 1 - tail])) - others
        return max(float(low), 0.0), float(min(high, self.largest_variance))

    @cached_property
    def mean(self) -> float:
        """Mean score; 0 of comparisons."""
        return float(self.shape @ self.values)

    @cached_property
    def latent(self) -> dict[str, float]:
        """Variances of the normal effects behind the scores; with the residual they add up to 1."""
        total = sum(self.variance.values())
        shares = {name: self.variance[name] / total for name in self.factors}
        latent_shares = latent(shares, correlations(self.values, cuts(self.shape)))
        too_much = max(sum(latent_shares.values()) / MOST_SHARED, 1.0)
        return {name: v / too_much for name, v in latent_shares.items()}

    @cached_property
    def _means(self) -> list[float]:
        """From one end of the scale to the other."""
        means: list[float] = (self.values[0] + np.ptp(self.values) * expit(np.linspace(-8, 8, N_MEANS))).tolist()
        return means

    @cached_property
    def _by_mean(self) -> dict[int, dict[str, float]]:
        """Variances of scores at those of `_means` that were needed: most are too close to an end."""
        return {}

    def _variances(self, p: np.ndarray) -> dict[str, float]:
        total = float(p @ self.values**2 - (p @ self.values) ** 2)
        shares = visible(self.latent, correlations(self.values, cuts(p)))
        shares["residual"] = 1 - sum(shares.values())
        return {name: share * total for name, share in shares.items()}

    def at(self, mean: float) -> dict[str, float]:
        """Variances of the scores of a system with this mean: near an end of the scale they vary less."""
        means, by_mean = self._means, self._by_mean
        first = min(max(bisect_right(means, mean) - 1, 0), N_MEANS - 2)
        for i in {first, first + 1} - by_mean.keys():
            by_mean[i] = self._variances(tilted(self.shape, self.values, means[i]))
        low, high = by_mean[first], by_mean[first + 1]
        share = float(min(max((mean - means[first]) / (means[first + 1] - means[first]), 0.0), 1.0))
        # a variance of 0 is one of 1e-16, of either sign, at other means
        return {name: max(low[name] + share * (high[name] - low[name]), 0.0) for name in self.variance}

    def means(self, difference: float) -> tuple[float, ...]:
        """Means of two systems that differ by this, as far from that of the pilot as each other on the logit scale; of
        comparisons the mean of their score.

        Raises ValueError where the scale is too short.
        """
        low, wide = float(self.values[0]), self.widest
        d = abs(difference) / wide
        if d >= 1:
            raise ValueError(f"{self.label}: no systems differ by {difference:g} on a scale that is {wide:g} wide")
        if self.pairwise:
            return (float(difference),)
        odds = (self.mean - low) / (low + wide - self.mean)
        c = (odds + 1 / odds) / 2
        step = (d * c + math.sqrt((d * c) ** 2 + 1 - d**2)) / (1 - d)  # exp of the distance: sinh x / (cosh x + c) = d
        ends = low + wide * odds * step / (1 + odds * step), low + wide * odds / (step + odds)
        return ends if difference >= 0 else ends[::-1]


def within_systems(score: np.ndarray, system: np.ndarray) -> float:
    """Variance of (n,) scores around the means of their systems, of which (n,) are the codes."""
    means = np.bincount(system, score) / np.maximum(np.bincount(system), 1)
    return float(np.mean((score - means[system]) ** 2))


def of_one_system(p: np.ndarray, values: np.ndarray, score: np.ndarray, system: np.ndarray) -> np.ndarray:
    """(v,) the distribution of scores of a system between those of the pilot: with the mean of p, and with the variance
    that scores have within a system, however far apart the systems are.

    p : (v,) of the scores of all systems together. score, system : (n,) scores, and codes of their systems. Of all
    distributions with these two moments it is the one closest to p (by Kullback and Leibler): times exp(a value + b
    value squared).
    """
    within = within_systems(score, system)
    mean, x = float(p @ values), (values - values[0]) / np.ptp(values)

    def narrowed(b: float) -> np.ndarray:
        logs = np.log(np.maximum(p, 1e-300)) + b * (x - x @ p) ** 2
        return tilted(np.exp(logs - logs.max()), values, mean)

    def excess(b: float) -> float:
        return float(narrowed(b) @ values**2 - mean**2) - within

    if len(values) < 3 or excess(0.0) <= 1e-9 * within:
        return p
    least = next((b for b in -np.logspace(0, 4, 13) if excess(b) < 0), None)
    return narrowed(-1e4 if least is None else float(brentq(excess, least, 0.0)))


def cuts(p: np.ndarray) -> np.ndarray:
    """(v - 1,) where a standard normal variable is cut so that the parts have probabilities p."""
    return ndtri(np.clip(np.cumsum(p)[:-1], 1e-12, 1 - 1e-12))


def pilots(
    annotations: pd.DataFrame,
    labels: Sequence[Label],
    systems: Sequence[str],
    *,
    seed: int,
    n_worlds: int = 200,
) -> Iterator[PilotVariances]:
    """The pilot of each method and label that people judged, and whose dialogues of one system differ.

    Parameters
    ----------
    annotations : DataFrame
        By people, of one corpus and group; columns of `schema.ANNOTATIONS`.
    systems : sequence of str
        Those that are compared.
    n_worlds : int
        Worlds drawn for the intervals; 0 for none.
    """
    scored = with_means(annotations, labels)
    for (method, label), rows in scored.groupby(["method", "label"], sort=False):
        pilot_design = design(rows, list(systems))
        if pilot_design is not None and _spread(pilot_design) > 1e-9 * np.ptp(pilot_design.score):
            yield of_design(pilot_design, n_worlds=n_worlds, rng=generator(seed, "pilot", method, label))


def _degrees(pilot_design: AnnotationDesign) -> dict[str, float]:
    """Effective number of levels of each factor (Kish 1965) less that of what it is nested in, at least 1."""

    def levels(code: np.ndarray) -> float:
        share = np.bincount(code) / len(code)
        return float(1 / np.sum(share**2))

    size = {name: levels(code) for name, code in pilot_design.factors.items()}
    out, coarser = {}, float(len(pilot_design.kinds))
    for name in NESTED:
        if name in size:
            out[name] = size[name] - (1.0 if name == "session" else coarser)
            coarser = size[name]
    if "annotator" in size:
        out["annotator"] = size["annotator"] - 1
    if "annotator_of_system" in size:
        out["annotator_of_system"] = (
            size["annotator_of_system"] - size.get("annotator", 1.0) - len(pilot_design.kinds) + 1
        )
    out["residual"] = len(pilot_design.score) - coarser
    return {name: max(df, 1.0) for name, df in out.items()}


def _spread(pilot_design: AnnotationDesign) -> float:
    """Standard deviation of the values of dialogues (of comparisons) within systems (pairs of them)."""
    of_rows = pilot_design.row_values(pilot_design.score[None])[0]
    of_kind = pd.Series(of_rows).groupby(pilot_design.row_kind)
    return float(np.sqrt(((of_rows - of_kind.transform("mean")) ** 2).sum() / max(len(of_rows) - of_kind.ngroups, 1)))


def of_design(pilot_design: AnnotationDesign, *, n_worlds: int, rng: np.random.Generator) -> PilotVariances:
    """The pilot of one design."""
    drawn_from = world(pilot_design)
    matrix = expectations(pilot_design.system, pilot_design.factors)
    variance = variances(pilot_design.score, pilot_design.system, pilot_design.factors, matrix)
    draws = [
        variances(scores, pilot_design.system, pilot_design.factors, matrix)
        for chunk in (drawn_from.draw(n_worlds, rng) if n_worlds else ())
        for scores in chunk
    ]
    n_rows, n_items = len(pilot_design.row_kind), float(pilot_design.weight.sum())
    p = np.diff(np.pad(ndtr(drawn_from.cuts), ((0, 0), (1, 1)), constant_values=(0, 1)), axis=1)
    values, share = drawn_from.values, np.bincount(pilot_design.system, minlength=len(p)) / len(pilot_design.system)
    shape, scale = share @ p, 1.0
    if not pilot_design.pairwise:
        # in the world, all systems may have the scores of all together: what is drawn then varies more than the pilot
        scale = within_systems(pilot_design.score, pilot_design.system) / float(
            share @ (p @ values**2 - (p @ values) ** 2)
        )
        shape = of_one_system(shape, values, pilot_design.score, pilot_design.system)
    return PilotVariances(
        pilot_design.method, pilot_design.label, variance,
        {name: scale * np.array([d[name] for d in draws]) for name in variance} if draws else {},
        _degrees(pilot_design),
        n_items / n_rows, len(pilot_design.score) / n_items, pilot_design.n_annotators, n_rows, pilot_design.pairwise,
        _spread(pilot_design), values, shape, tuple(pilot_design.factors),
    )  # fmt: skip
