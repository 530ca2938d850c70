"""How precisely a design measures the difference between two systems, what it finds, and what it costs.

A design has n dialogues per system (n comparisons per pair of systems), each judged by m of P annotators. With the
variances v of `components`, a value of a dialogue has around the mean of its system the variance

    v_session + v_side + v_dialogue + v_item / items + w (v_annotator + v_annotator_of_system) + v_residual / (m items),

w = (1 - m / P) / m being what is left of an annotator's severity if m of P annotators are drawn for each dialogue
without replacement; where all P judge all dialogues, it cancels. Where two systems meet in each session (are talked
to by the same person), v_session cancels, too. If annotators are a sample, each system's mean has v_annotator_of_system
/ P in addition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Protocol

import numpy as np
from scipy.optimize import brentq
from scipy.special import bdtr, bdtrc, chdtri, ndtr, stdtrit
from scipy.stats import binom

from judgebook.questions.operating_characteristics.worlds import tilted
from judgebook.questions.planning.components import PilotVariances
from judgebook.statistics.clusters import LEAST_DF

#: where the distribution of the standard error is looked at
_TAILS = (np.arange(200) + 0.5) / 200
#: comparisons, at most, whose sign test is gone through exactly
MOST_EXACT = 200
#: dialogues per system that are considered, at most
MOST = 100_000
#: annotators as the study has them, or as a sample from many
SAME, SAMPLE = "the same", "a sample"


class Variances(Protocol):
    """How scores vary: `components.PilotVariances` has it from a pilot, `assumed.stated` from what somebody says."""

    @property
    def label(self) -> str: ...
    @property
    def pairwise(self) -> bool: ...
    @property
    def items(self) -> float: ...
    @property
    def values(self) -> np.ndarray: ...
    @property
    def shape(self) -> np.ndarray: ...
    @property
    def step(self) -> float: ...
    @property
    def widest(self) -> float: ...
    def means(self, difference: float) -> tuple[float, ...]: ...
    def at(self, mean: float) -> dict[str, float]: ...


@dataclass(frozen=True)
class Plan:
    """A design of a future study.

    n_dialogues : per system; of comparisons, per pair of systems. annotators : per dialogue. people : annotators in
    total. paired : whether each session holds both systems. tests : significance tests in one family, over which alpha
    is divided (Bonferroni; Holm's procedure is at least as powerful).
    """

    n_dialogues: int
    annotators: int
    people: int
    paired: bool = False
    tests: int = 1

    def __post_init__(self) -> None:
        if self.n_dialogues < 2 or self.annotators < 1 or self.people < self.annotators:
            raise ValueError(
                f"expected at least 2 dialogues and no more annotators per dialogue than there are, found {self}"
            )


def dialogue_variance(pilot: Variances, plan: Plan, v: Mapping[str, float | np.ndarray]) -> float | np.ndarray:
    """Variance of the value of a dialogue around the mean of its system (of a comparison, of its pair)."""
    m, p = plan.annotators, plan.people
    severity = (1 - m / p) / m
    session = 0.0 if plan.paired and not pilot.pairwise else v.get("session", 0.0)
    return (
        session + v.get("side", 0.0) + v.get("dialogue", 0.0) + v.get("item", 0.0) / pilot.items
        + severity * (v.get("annotator", 0.0) + v.get("annotator_of_system", 0.0))
        + v["residual"] / (m * pilot.items)
    )  # fmt: skip


def standard_error(
    pilot: Variances,
    plan: Plan,
    difference: float = 0.0,
    annotators: str = SAME,
    ratios: Mapping[str, np.ndarray] | None = None,
) -> tuple[np.ndarray, float]:
    """Standard error of the difference between two systems that truly differ by `difference`, and the degrees of
    freedom of its test.

    Of the permutation test, which takes annotators as they are, these are those of the t test that it resembles; of the
    t test over sessions and annotators they are one less than the effective number of the fewer
    (`statistics.clusters.effective_number`), as each annotator judges a random share of the dialogues.

    ratios : factors of the variances, (b,) arrays; there are then b standard errors.
    """
    sides = _sides(pilot, difference)
    if ratios is not None:
        sides = [{name: value * ratios.get(name, 1.0) for name, value in v.items()} for v in sides]
    return _error_of_sides(pilot, plan, sides, annotators)


def _sides(pilot: Variances, difference: float) -> list[Mapping[str, float | np.ndarray]]:
    """The variances of either of two systems that differ by this."""
    return [pilot.at(mean) for mean in pilot.means(difference)]


def _error_of_sides(
    pilot: Variances, plan: Plan, sides: Sequence[Mapping[str, float | np.ndarray]], annotators: str
) -> tuple[np.ndarray, float]:
    """`standard_error` from what `_sides` gives."""
    n = plan.n_dialogues
    within: float | np.ndarray = 0.0
    between: float | np.ndarray = 0.0
    for v in sides:
        within += dialogue_variance(pilot, plan, v) / n
        between += v.get("annotator_of_system", 0.0) / plan.people
    if annotators == SAME:
        return np.sqrt(within), float(n - 1 if plan.paired or pilot.pairwise else 2 * (n - 1))
    judged = n * plan.annotators
    people = 1 / (1 / plan.people + (1 - 1 / plan.people) / judged)
    return np.sqrt(within + between), min(people, n) - 1


def power(
    pilot: Variances,
    plan: Plan,
    difference: float,
    annotators: str = SAME,
    alpha: float = 0.05,
) -> float:
    """Probability that a two-sided test finds a true `difference` between two systems.

    By the noncentral t distribution, which the permutation test nearly follows; of comparisons with one annotator each,
    whose test is that of signs, exactly. Where annotators are a sample, the standard error is estimated as `_estimated`
    says. 0 for a difference that the scale does not allow.
    """
    if abs(difference) >= pilot.widest:
        return 0.0
    if annotators == SAME and pilot.pairwise and plan.annotators == 1 and plan.n_dialogues <= MOST_EXACT:
        p = tilted(pilot.shape, pilot.values, difference)
        return sign_power(p[pilot.values > 0].sum(), p[pilot.values < 0].sum(), plan.n_dialogues, alpha / plan.tests)
    sides = _sides(pilot, difference)
    se, df = _error_of_sides(pilot, plan, sides, annotators)
    if se == 0:
        return float(difference != 0)  # equal values are never significant
    if df < LEAST_DF:
        return 0.0
    critical, size = _quantiles(df, alpha / plan.tests)
    # arrangements that tie with the data count against them: half a step of the mean, of dialogues
    tie = 0.0
    if annotators == SAME and not pilot.pairwise:
        tie = pilot.step / (plan.n_dialogues * plan.annotators * max(round(pilot.items), 1))
    shift = max(abs(difference) - tie, 0.0) / se
    if annotators != SAME:
        size = _estimated(pilot, plan, sides, se**2, size)
    size = np.sqrt(size)
    return float(np.mean(ndtr(shift - critical * size) + ndtr(-shift - critical * size)))


@lru_cache(maxsize=256)
def _quantiles(df: float, alpha: float) -> tuple[float, np.ndarray]:
    """The critical t, and quantiles of the squared standard error: `nctdtr` is not defined for some shifts."""
    return float(stdtrit(df, 1 - alpha / 2)), chdtri(df, _TAILS) / df


def _estimated(
    pilot: Variances, plan: Plan, sides: Sequence[Mapping[str, float | np.ndarray]], true: np.ndarray, size: np.ndarray
) -> np.ndarray:
    """What the t test over sessions and annotators takes for the squared standard error, relative to the `true` one.

    To the covariance by session it adds what that by annotator exceeds that by single judgements, if it does
    (`clusters.clustered_covariance`): where annotators do not differ by system, the estimate is too large on average.
    The covariance by annotator varies, as `size` says, the others hardly do.
    """
    within = _error_of_sides(pilot, plan, sides, SAME)[0] ** 2
    # the judgements of a dialogue as if each were of another dialogue, in a session of its own
    alone = replace(plan, annotators=1, paired=False)
    single = _error_of_sides(pilot, alone, sides, SAME)[0] ** 2 / plan.annotators
    between = true - within
    return (within + np.maximum((single + between) * size - single, 0.0)) / true


def sign_power(wins: float, losses: float, n: int, alpha: float = 0.05) -> float:
    """Probability that the sign test by mid-p, ties left out, is significant after n comparisons of which these shares
    are won and lost."""
    decided, fewest = _significant(n, alpha)
    share = wins / (wins + losses) if wins + losses > 0 else 0.5
    either = bdtr(fewest, decided, share) + bdtrc(decided - fewest - 1, decided, share)
    return float(binom.pmf(decided, n, min(wins + losses, 1.0)) @ either)


@lru_cache(maxsize=256)
def _significant(n: int, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of decided comparisons with which the sign test of n can be significant, and of each the most that the
    system with fewer may have won."""
    decided, won = np.arange(n + 1)[:, None], np.arange(n + 1)[None, :]
    larger = np.maximum(won, decided - won)
    mid_p = 2 * (binom.sf(larger, decided, 0.5) + binom.pmf(larger, decided, 0.5) / 2)
    either = np.sum((won <= decided) & (mid_p < alpha), axis=1)
    possible = np.flatnonzero(either)
    return possible, either[possible] // 2 - 1


def detectable(
    pilot: PilotVariances,
    plan: Plan,
    annotators: str = SAME,
    *,
    wanted: float = 0.8,
    alpha: float = 0.05,
    confidence: float | None = None,
) -> tuple[float, float, float]:
    """The smallest true difference found with power `wanted`, and its interval from the draws of the pilot.

    Infinite where no difference that the scale allows is found so often. The interval is missing without draws or
    `confidence`.
    """
    most = 0.995 * pilot.widest

    def lacking(difference: float) -> float:
        return power(pilot, plan, difference, annotators, alpha) - wanted

    estimate = brentq(lacking, 0.0, most, xtol=1e-4 * most) if lacking(most) > 0 else np.inf
    if not confidence or not pilot.drawn or not np.isfinite(estimate):
        return estimate, np.nan, np.nan
    # the difference found is, nearly, a number of standard errors that depends on degrees of freedom only
    drawn = standard_error(pilot, plan, estimate, annotators, pilot.ratios)[0]
    fitted = standard_error(pilot, plan, estimate, annotators)[0]
    relative = fitted / np.maximum(drawn, 1e-9 * fitted)  # a pilot whose estimate is half the truth: the truth is twice
    low, high = estimate * np.quantile(relative, [(1 - confidence) / 2, (1 + confidence) / 2])
    return estimate, float(low), float(high)


@dataclass(frozen=True)
class Prices:
    """What a dialogue and a judgement take. minutes_per_dialogue : None, not counted, where they are not known.
    hourly_rate : in the study's currency."""

    minutes_per_dialogue: float | None
    minutes_per_judgement: float
    hourly_rate: float

    def hours(self, plan: Plan, n_systems: int, pairwise: bool = False) -> float:
        """Hours of people's work in a study of `n_systems` systems: talking and judging."""
        pairs = n_systems * (n_systems - 1) / 2
        units = plan.n_dialogues * (pairs if pairwise else n_systems)
        talked = units * (2 if pairwise else 1)
        return (talked * (self.minutes_per_dialogue or 0.0) + units * plan.annotators * self.minutes_per_judgement) / 60

    def cost(self, plan: Plan, n_systems: int, pairwise: bool = False) -> float:
        """Money for these hours."""
        return self.hours(plan, n_systems, pairwise) * self.hourly_rate


def cheapest(
    pilot: Variances,
    prices: Prices,
    difference: float,
    *,
    annotators_per_dialogue: Sequence[int],
    people: int,
    paired: bool,
    tests: int,
    n_systems: int,
    annotators: str = SAME,
    wanted: float = 0.8,
    alpha: float = 0.05,
    most: int = MOST,
) -> Plan | None:
    """The plan of least cost that finds `difference` with power `wanted`; None where no number of dialogues does.

    The power of an exact test goes up and down from one number of dialogues to the next: that of the plan and all
    larger numbers is at least `wanted`.
    """
    plans = []
    for m in annotators_per_dialogue:
        if m > people:
            continue

        def enough(n: int, m: int = m) -> bool:
            return power(pilot, Plan(n, m, people, paired, tests), difference, annotators, alpha) >= wanted

        if enough(most):
            exact = annotators == SAME and pilot.pairwise and m == 1
            fewest = next((n + 1 for n in range(min(MOST_EXACT, most), 1, -1) if not enough(n)), 2) if exact else 2
            if not exact or fewest > MOST_EXACT:
                low, high = fewest - 1, most
                while high - low > 1:
                    middle = (low + high) // 2
                    low, high = (low, middle) if enough(middle) else (middle, high)
                fewest = high
            plans.append(Plan(fewest, m, people, paired, tests))
    return min(plans, key=lambda p: prices.cost(p, n_systems, pilot.pairwise), default=None)


def affordable(
    pilot: PilotVariances,
    prices: Prices,
    budget: float,
    *,
    annotators_per_dialogue: Sequence[int],
    people: int,
    paired: bool,
    tests: int,
    n_systems: int,
    annotators: str = SAME,
    wanted: float = 0.8,
) -> Plan | None:
    """The plan within `budget` that finds the smallest difference with power `wanted`; None where it pays for fewer
    than two dialogues."""
    plans = []
    for m in annotators_per_dialogue:
        one = prices.cost(Plan(2, min(m, people), people, paired, tests), n_systems, pilot.pairwise) / 2
        n = int(budget / one * (1 + 1e-9)) if one > 0 else 0  # a budget that pays for n exactly, in spite of rounding
        if m <= people and n >= 2:
            plans.append(Plan(n, m, people, paired, tests))
    return min(plans, key=lambda p: detectable(pilot, p, annotators, wanted=wanted)[0], default=None)
