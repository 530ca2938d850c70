"""The only permutation engine: within blocks, over pairs, exact where there are few arrangements.

A Monte Carlo p-value is (b + 1) / (m + 1), where b of the m random arrangements are at least as extreme as the data
(Phipson and Smyth 2010, Permutation p-values should never be zero, Stat. Appl. Genet. Mol. Biol. 9, article 39). An
exact p-value is the share among all arrangements. Ties up to rounding count as extreme, as do arrangements in which the
statistic is undefined, which can only raise the p-value. In the mid-p-value ties count half (Lancaster 1961,
Significance tests in discrete distributions, JASA 56, 223-234): where many arrangements tie it is less conservative,
and it keeps its level on average, not in every case.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

#: all arrangements are gone through when there are no more than this
EXACT_LIMIT = 10_000
#: numbers that one chunk of arrangements may hold at once (memory peaks at about 20 bytes for each)
CHUNK = 1_000_000
ALTERNATIVES = ("two-sided", "greater")


@dataclass(frozen=True)
class Permutation:
    """A permutation test of one statistic, or of m at once (then `observed`, `p_value`, `mid_p`, `n_undefined` are (m,)
    arrays).

    mid_p : with ties counted half. null : (k,) or (k, m), the statistic under the k arrangements gone through; exact :
    whether these are all there are.
    """

    observed: float | np.ndarray
    p_value: float | np.ndarray
    null: np.ndarray
    exact: bool
    n_undefined: int | np.ndarray
    mid_p: float | np.ndarray


def permutation_test(
    observed: float | np.ndarray,
    permute: Callable[[np.random.Generator, int], np.ndarray],
    *,
    rng: np.random.Generator,
    n_permutations: int = 10_000,
    alternative: str = "two-sided",
    exact: np.ndarray | None = None,
) -> Permutation:
    """P-value of a statistic under rearrangements of the data.

    Parameters
    ----------
    observed : float or (m,) array
        The statistic of the data, 0 on average under the null when the alternative is two-sided: that compares
        absolute values.
    permute : callable
        `permute(rng, k)` gives the statistic, (k,) or (k, m), under k random arrangements.
    exact : (k,) or (k, m) array, optional
        The statistic under all arrangements, the data's own among them. Nothing is then drawn.

    Returns
    -------
    Permutation; `p_value` is missing where `observed` is.

    """
    null = permute(rng, n_permutations) if exact is None else exact
    return from_null(observed, null, exact=exact is not None, alternative=alternative)


def from_null(
    observed: float | np.ndarray, null: np.ndarray, *, exact: bool, alternative: str = "two-sided"
) -> Permutation:
    """The test from the statistic under arrangements already gone through, e.g. a mean of several tests' statistics.

    Everything as in `permutation_test`, through which it was checked; exact : whether these are all arrangements.
    """
    if alternative not in ALTERNATIVES:
        raise ValueError(f"alternative: expected one of {', '.join(ALTERNATIVES)}, found {alternative!r}")
    null, value = np.asarray(null, dtype=float), np.asarray(observed, dtype=float)
    if null.ndim != value.ndim + 1 or null.shape[1:] != value.shape or not len(null):
        raise ValueError(f"expected one row like the observed {value.shape} an arrangement, found {null.shape}")
    known = np.isfinite(null)
    p, mid = _p_values(value, null, known, alternative, exact)
    undefined = np.zeros(value.shape, int) if known.all() else np.sum(~known, axis=0)
    if value.ndim == 0:
        return Permutation(float(value), float(p), null, exact, int(undefined), float(mid))
    return Permutation(value, p, null, exact, undefined, mid)


def _p_values(
    observed: np.ndarray, null: np.ndarray, known: np.ndarray, alternative: str, exact: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The p-value and the mid-p-value. known : where the null is defined."""
    size, n = np.abs(null), len(null)
    a, b = (np.abs(observed), size) if alternative == "two-sided" else (observed, null)
    largest = np.max(size if known.all() else np.where(known, size, 0.0), axis=0)
    margin = 1e-9 * np.maximum(largest, np.abs(observed))
    # an undefined arrangement is not less extreme
    hits, above = n - np.sum(b < a - margin, axis=0), np.sum(b > a + margin, axis=0)
    tied = hits - above
    if not exact:  # the data's own arrangement is one more
        hits, tied, n = hits + 1, tied + 1, n + 1
    return tuple(np.where(np.isfinite(observed), x / n, np.nan) for x in (hits, hits - tied / 2))


def sign_flip_test(differences: np.ndarray, *, rng: np.random.Generator, n_permutations: int = 10_000) -> Permutation:
    """Two-sided permutation test of a mean difference of pairs: under the null either sign is as likely.

    Parameters
    ----------
    differences : (n,) array, or (n, m) for m variables of the same pairs
        Finite; the signs of one pair flip together.

    Returns
    -------
    Permutation of the mean. Pairs without a difference are no evidence either way; all 2^n sign patterns of the others
    are gone through where they are at most EXACT_LIMIT.
    """
    differences = np.asarray(differences, dtype=float)
    if differences.ndim not in (1, 2) or not len(differences) or not np.all(np.isfinite(differences)):
        raise ValueError(f"differences: expected finite numbers, one row per pair, found shape {differences.shape}")
    n = len(differences)
    moving = differences[np.any(differences.reshape(n, -1) != 0, axis=1)]

    def permute(rng: np.random.Generator, k: int) -> np.ndarray:
        parts = [rng.integers(0, 2, (size, len(moving)), dtype=np.int8) for size in _sizes(k, len(moving))]
        return np.concatenate([(1.0 - 2.0 * flips) @ moving for flips in parts]) / n

    exact = None
    if len(moving) < 63 and 2 ** len(moving) <= EXACT_LIMIT:
        bits = np.arange(2 ** len(moving))[:, None] >> np.arange(len(moving)) & 1
        exact = (1.0 - 2.0 * bits) @ moving / n
    return permutation_test(differences.mean(axis=0), permute, rng=rng, n_permutations=n_permutations, exact=exact)


def blocked_permutation(
    values: np.ndarray,
    systems: np.ndarray,
    blocks: np.ndarray,
    *,
    rng: np.random.Generator,
    n_permutations: int = 10_000,
    studentised: bool = False,
) -> Permutation:
    """Two-sided permutation test of the difference between two systems: values are exchanged within blocks only.

    Parameters
    ----------
    values : (n,) array, or (n, m) for m variables of the same units, which are rearranged together
        Say, one number per dialogue; finite.
    systems : (n,) array
        Which of two systems produced the unit.
    blocks : (n,) array
        Within what the null makes units exchangeable: the session. A block of one unit carries no information.
    studentised : bool
        Divide the difference by its standard error, estimated anew in each arrangement, which allows systems to differ
        in variance (asymptotically; Janssen 1997).

    Returns
    -------
    Permutation of the difference a - b (systems a < b) within blocks: least squares with an effect for each block; with
    one unit of each in a block, the mean difference, and then the test equals `sign_flip_test`. Studentised, of its t
    with the variance HC2 (MacKinnon and White 1985): Welch's t in one block, the t of paired differences in pairs.

    References
    ----------
    Janssen 1997, Studentized permutation tests for non-i.i.d. hypotheses, Statistics and Probability Letters 36, 9-21.
    MacKinnon and White 1985, Some heteroskedasticity-consistent covariance matrix estimators, Journal of Econometrics
    29, 305-325.
    """
    y = np.asarray(values, dtype=float)
    names, system = np.unique(np.asarray(systems), return_inverse=True)
    block = np.unique(np.asarray(blocks), return_inverse=True)[1]
    if not (len(y) == len(system) == len(block)) or not np.all(np.isfinite(y)):
        raise ValueError("values, systems, blocks: expected the same length, and finite values")
    if len(names) != 2:
        raise ValueError(f"systems: expected two, found {names.tolist()}")
    order = np.argsort(block, kind="stable")
    y, block, first = y[order], block[order], (system[order] == 0).astype(float)
    y = _above_first(y, block)
    centred = first - (np.bincount(block, first) / np.bincount(block))[block]
    if not np.any(centred):
        raise ValueError("blocks: expected one that holds two systems, found none: there is nothing to exchange")
    weight = centred / np.sum(centred**2)
    means = np.apply_along_axis(lambda v: np.bincount(block, v), 0, y)[block] if studentised else 0.0
    size = np.bincount(block)[block]
    residual = y - means / size.reshape(-1, *[1] * (y.ndim - 1)) if studentised else y

    def statistic(weights: np.ndarray) -> np.ndarray:
        return _studentised(weights, residual, size) if studentised else weights @ y

    def permute(rng: np.random.Generator, k: int) -> np.ndarray:
        # sorting block number plus a fraction leaves blocks in place and shuffles within them
        parts = [np.argsort(block + rng.random((size, len(block))), axis=1) for size in _sizes(k, 8 * len(block))]
        return np.concatenate([statistic(weight[index]) for index in parts])

    cuts = np.flatnonzero(np.diff(block)) + 1
    sides = [(len(part), int(part.sum())) for part in np.split(first, cuts)]
    few = _number(sides) <= EXACT_LIMIT
    exact = statistic(_all_arrangements(np.split(weight, cuts), tuple(sides))) if few else None
    return permutation_test(statistic(weight[None])[0], permute, rng=rng, n_permutations=n_permutations, exact=exact)


def _above_first(y: np.ndarray, block: np.ndarray) -> np.ndarray:
    """Values (n, ...), sorted by block, less the first of their block, which changes no difference within blocks.

    What is the same in a block is then exactly 0, not the rounding error of a weighted sum, which would be compared
    with rounding errors.
    """
    start = y[np.flatnonzero(np.diff(block, prepend=-1))][block]
    return np.where(np.abs(y - start) <= 1e-12 * np.abs(start), 0.0, y - start)


def n_arrangements(systems: np.ndarray, blocks: np.ndarray) -> float:
    """How many exchanges of two systems (0 and 1) within blocks there are; infinite where counting them is no use."""
    block = np.unique(blocks, return_inverse=True)[1]
    size = np.bincount(block)
    return _number(list(zip(size.tolist(), np.bincount(block, systems).astype(int).tolist(), strict=True)))


def _number(sides: list[tuple[int, int]]) -> float:
    number = 1.0
    for n, k in sides:
        number *= math.comb(n, k) if n < 1000 or min(k, n - k) < 3 else math.inf
        if number > 1e300:
            return math.inf
    return number


def _studentised(weights: np.ndarray, residual: np.ndarray, size: np.ndarray) -> np.ndarray:
    """t of each arrangement, (k, ...), from weights (k, n), values less their block's mean (n, ...), block sizes (n,).

    With w the weights and c = w / sum w² the centred indicator of the first system, the leverage of a unit is
    1 / size + c w, and its residual e = y - c d; the variance of d is the sum of w² e² / (1 - leverage).
    """
    total = np.sum(weights**2, axis=1, keepdims=True)
    c = weights / total
    rest = 1 - 1 / size - c * weights
    q = np.where(rest > 1e-9, weights**2 / np.where(rest > 1e-9, rest, 1.0), 0.0)
    difference = weights @ residual
    across = [1] * (residual.ndim - 1)
    squares = np.sum(q * c**2, axis=1).reshape(-1, *across)
    variance = q @ residual**2 - 2 * difference * ((q * c) @ residual) + difference**2 * squares
    smallest = 1e-12 * (q @ residual**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = difference / np.sqrt(np.where(variance > smallest, variance, np.nan))
    return np.where(np.abs(difference) <= 1e-12 * np.sqrt(np.maximum(np.sum(residual**2, axis=0), 1e-300)), 0.0, t)


def _all_arrangements(weights: list[np.ndarray], sides: tuple[tuple[int, int], ...]) -> np.ndarray:
    """(arrangements, n): the weights of the units after every exchange of the two systems within blocks, each once.

    sides : of each block, how many units it has, and how many of the first system (whose weight is the larger one).
    """
    low, high = (np.concatenate([np.full(len(w), end(w)) for w in weights]) for end in (np.min, np.max))
    return np.where(_all_choices(sides), high, low)


@lru_cache(maxsize=64)
def _all_choices(sides: tuple[tuple[int, int], ...]) -> np.ndarray:
    """(arrangements, n) which units are of the first system; kept, because many pairs of systems have the same."""
    options = []
    for n, k in sides:
        chosen = np.zeros((math.comb(n, k), n), dtype=bool)
        np.put_along_axis(chosen, np.array(list(itertools.combinations(range(n), k)), dtype=int), True, axis=1)
        options.append(chosen)
    out = options[0]
    for chosen in options[1:]:
        out = np.hstack([np.repeat(out, len(chosen), axis=0), np.tile(chosen, (len(out), 1))])
    return out


def _sizes(k: int, width: int) -> list[int]:
    """Sizes that add up to k, a run of `width` numbers each staying within CHUNK."""
    size = max(1, CHUNK // max(width, 1))
    return [min(size, k - start) for start in range(0, k, size)]
