"""What another design would tell, predicted from the variances of a fit.

In a design, each of s systems has n dialogues, each judged by m of P annotators, who judge all systems equally often.
With the variances of a fit, the mean of a system has the variance

    v_item / n + v_taste / P + v_residual / (n m),

where v_item includes v_context unless all systems answer the same contexts. How strict annotators are cancels where
each judges as many judgements as there are systems or more; with fewer it cancels in part, as in blocks that are
balanced and incomplete. Degrees of freedom are Satterthwaite's of the mean squares of such a design. Of comparisons, n
is of each pair of systems: their variance falls as 1 / n, that due to annotators as 1 / P.

Two systems are distinguished by the criterion of the fit: simultaneous intervals of all pairs, in a balanced design by
Tukey's range. A difference is found with power p where it exceeds the critical value by the p-quantile of the normal
distribution, in standard errors.

References
----------
Brennan 2001, Generalizability Theory, chapters 2 to 4. Cochran and Cox 1957, Experimental Designs, sections 11.4 to
11.6 (incomplete blocks). Satterthwaite 1946, Biometrics Bulletin 2, 110-114. Shrout and Fleiss 1979, Psychological
Bulletin 86, 420-428 (reliability of means, and its interval by F).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf, nan, sqrt

import numpy as np
from scipy.special import chdtri, fdtri, ndtr, ndtri

from judgebook.model.comparisons import shown
from judgebook.model.contrasts import Levels, of_pairs
from judgebook.model.fit import ANNOTATOR, CONTEXT, ITEM, RESIDUAL, TASTE, Fit

#: dialogues per system that are considered, at most
MOST = 100_000
POWER = 0.8


@dataclass(frozen=True)
class Design:
    """A design of a study.

    dialogues : of each system; of comparisons, pairs of dialogues of each pair of systems. per_dialogue : annotators
    who judge each. annotators : in all; inf where each judges one dialogue, or nobody knows who they are. systems :
    that are compared. shared : whether all systems answer the same contexts.
    """

    dialogues: float
    per_dialogue: float
    annotators: float
    systems: int
    shared: bool = True


def own(fit: Fit, per_dialogue: float | None = None, *, shared: bool = True) -> Design:
    """The design of the fit's own judgements, as if it were balanced. per_dialogue : of comparisons, votes on each pair
    of dialogues; of ratings it follows from the fit."""
    s, people = len(fit.systems), float(fit.n_annotators or inf)
    if fit.log_nu is not None:
        each = per_dialogue or 1.0
        return Design(fit.n / (each * s * (s - 1) / 2), each, people, s, shared)
    return Design(float(s / np.sum(1 / fit.sizes)), fit.n / float(fit.sizes.sum()), people, s, shared)


def error(fit: Fit, design: Design) -> tuple[float, float]:
    """Standard error of the difference of two systems in a design, and its degrees of freedom."""
    return _of_votes(fit, design) if fit.log_nu is not None else _of_ratings(fit, design)


def _of_votes(fit: Fit, design: Design) -> tuple[float, float]:
    now = own(fit, design.per_dialogue)
    more = design.dialogues * design.systems / (now.dialogues * now.systems)
    people = design.annotators / now.annotators if np.isfinite(now.annotators) else more
    all_, of_people = np.nanmedian(of_pairs(fit.levels.covariance)), np.nanmedian(fit.people)
    df = float(np.nanmedian(fit.levels.df[fit.levels.pairs]))
    return sqrt((all_ - of_people) / more + of_people / people), df * min(more, people)


def _of_ratings(fit: Fit, design: Design) -> tuple[float, float]:
    n, m, p, s = design.dialogues, design.per_dialogue, design.annotators, design.systems
    v = {part: fit.variances.get(part, 0.0) for part in (CONTEXT, ITEM, ANNOTATOR, TASTE, RESIDUAL)}
    of_item = v[ITEM] + (0.0 if design.shared else v[CONTEXT])
    strict, taste = v[ANNOTATOR], v[TASTE]
    people = fit.others and np.isfinite(p)
    if nested := fit.left_out.get(TASTE) == f"the same as {ANNOTATOR}":  # each annotator judged one system
        strict, taste = 0.0, strict * s
    within = (of_item + v[RESIDUAL] / m) / n
    of_mean = within + (taste / p if people else 0.0)
    load = n * m * s / p if np.isfinite(p) else 1.0
    if strict > 0 and load < s:  # what is left of strictness: between blocks of `load` judgements
        inside = s * (load - 1) / (load * (s - 1)) if load > 1 else 0.0
        one = of_mean * n * m
        of_mean = 1 / (n * m * (inside / one + (1 - inside) / (one + max(load, 1.0) * strict)))
    of_items = (s - 1 if design.shared and CONTEXT in fit.variances else s) * (n - 1)
    if not people or not (nested or TASTE in fit.variances):
        return sqrt(2 * of_mean), max(of_items, 1.0)
    # mean squares of annotators in systems, and of items beyond what these have of them
    kept = (m - 1) * p / (m * (p - 1)) if p > 1 else 1.0
    df = p - s if nested else (p - 1) * (s - 1)
    first = taste / p + v[RESIDUAL] / (n * m) + of_item * (1 - kept) / n
    squares = first**2 / max(df, 1.0) + (kept * within) ** 2 / of_items
    return sqrt(2 * of_mean), max((first + kept * of_item / n) ** 2 / squares, 1.0)


@lru_cache(maxsize=64)
def _equal(systems: int) -> Levels:
    return Levels(np.zeros(systems), np.eye(systems), np.full((systems, systems), inf))


@lru_cache(maxsize=4096)
def _critical(systems: int, df: float, confidence: float) -> float:
    return float(_equal(systems).critical(np.array([df]), confidence)[0])


def critical(systems: int, df: float, confidence: float = 0.95) -> float:
    """Standard errors that a difference must exceed to be decided, in a balanced design."""
    return _critical(systems, float(f"{df:.3g}"), confidence)


def found(fit: Fit, design: Design, power: float = POWER, confidence: float = 0.95) -> float:
    """The smallest true difference of two systems that is decided with this power; of comparisons by how much more are
    won than lost."""
    se, df = error(fit, design)
    return float(shown(fit, np.array([(critical(design.systems, df, confidence) + ndtri(power)) * se]))[0])


def chance(difference: float, se: float | np.ndarray, df: float, systems: int, confidence: float = 0.95) -> np.ndarray:
    """Power: the chance that two systems with this true difference are distinguished."""
    with np.errstate(divide="ignore"):
        return np.asarray(ndtr(difference / np.asarray(se) - critical(systems, df, confidence)))


def fewest(enough: Callable[[int], bool]) -> int | None:
    """The fewest dialogues that are enough, as more are; None where not even MOST are."""
    if not enough(MOST):
        return None
    low, high = 1, MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def precision(fit: Fit, confidence: float = 0.95) -> tuple[float, float]:
    """Factors of a standard error that the fit predicts: between them lies the true one, as variances are known from
    few degrees of freedom."""
    df = float(np.nanmedian(fit.levels.df[fit.levels.pairs]))
    if not np.isfinite(df):
        return (nan, nan)
    tail = (1 - confidence) / 2
    return sqrt(df / chdtri(df, tail)), sqrt(df / chdtri(df, 1 - tail))


def cheapest(
    enough: Callable[[Design], bool],
    made: Callable[[int, int], Design],
    per_dialogue: Sequence[int],
    cost: Callable[[Design], float],
) -> Design | None:
    """The design of least cost that is enough; None where not even MOST dialogues are. made : of dialogues, and
    annotators of each."""

    def least(m: int) -> Design | None:
        n = fewest(lambda n: enough(made(n, m)))
        return made(n, m) if n else None

    return min((design for m in per_dialogue if (design := least(m))), key=cost, default=None)


def reliability(fit: Fit, design: Design | None = None, confidence: float = 0.95) -> tuple[float, float, float]:
    """Share of the variance of means of systems that is due to systems, 0 to 1, with its interval: of the fit's own
    judgements, or in a design. Systems are taken as a sample of others.

    The ratio of the variance of means to that of their errors is an F statistic, with as many degrees of freedom as
    differences have; what lies above its quantiles is due to systems. NaN without a covariance.
    """
    s, df = len(fit.systems), float(np.nanmedian(fit.levels.df[fit.levels.pairs])) if fit.levels.comparable else nan
    of_error = float(np.nanmean(of_pairs(fit.levels.covariance))) / 2 if np.isfinite(df) or df == inf else nan
    if not of_error > 0:
        return nan, nan, nan
    ratio, tail = float(fit.levels.estimates.var(ddof=1)) / of_error, (1 - confidence) / 2
    then = of_error if design is None else error(fit, design)[0] ** 2 / 2
    quantiles = (1.0, *(fdtri(s - 1, min(df, 1e6), q) for q in (1 - tail, tail)))
    estimate, low, high = (max(ratio / float(q) - 1, 0.0) * of_error for q in quantiles)
    return estimate / (estimate + then), low / (low + then), high / (high + then)
