"""The only permutation engine: within blocks, over pairs, exact where the arrangements are few.

A Monte Carlo p-value is (b + 1) / (m + 1), b being how many of the m random arrangements are at least as extreme as the
data (Phipson and Smyth 2010, Permutation p-values should never be zero, Stat. Appl. Genet. Mol. Biol. 9, article 39).
An exact one is the share of all arrangements. Ties up to rounding count as extreme. So does an arrangement in which the
statistic is undefined, which can only raise the p-value.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

#: all arrangements are gone through when there are no more than this
EXACT_LIMIT = 10_000
#: numbers that one chunk of arrangements may hold at once (memory peaks at about 20 bytes for each)
CHUNK = 1_000_000
ALTERNATIVES = ("two-sided", "greater", "less")


@dataclass(frozen=True)
class Permutation:
    """A permutation test of one statistic, or of m at once (then `observed`, `p_value`, `n_undefined` are (m,) arrays).

    null : (k,) or (k, m), the statistic under the k arrangements gone through; exact : whether these are all there are.
    """

    observed: float | np.ndarray
    p_value: float | np.ndarray
    null: np.ndarray
    exact: bool
    n_undefined: int | np.ndarray


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

    Notes
    -----
    Checked against `scipy.stats.permutation_test` and cases counted by hand.
    """
    if alternative not in ALTERNATIVES:
        raise ValueError(f"alternative: expected one of {', '.join(ALTERNATIVES)}, found {alternative!r}")
    null = permute(rng, n_permutations) if exact is None else exact
    return from_null(observed, null, exact=exact is not None, alternative=alternative)


def from_null(
    observed: float | np.ndarray, null: np.ndarray, *, exact: bool, alternative: str = "two-sided"
) -> Permutation:
    """The test from the statistic under arrangements already gone through, e.g. a mean of several tests' statistics.

    Everything as in `permutation_test`, through which it was checked; exact : whether these are all arrangements.
    """
    null, value = np.asarray(null, dtype=float), np.asarray(observed, dtype=float)
    if null.ndim != value.ndim + 1 or null.shape[1:] != value.shape or not len(null):
        raise ValueError(f"expected one row like the observed {value.shape} an arrangement, found {null.shape}")
    p = _p_value(value, null, alternative, exact)
    undefined = np.sum(~np.isfinite(null), axis=0)
    if value.ndim == 0:
        return Permutation(float(value), float(p), null, exact, int(undefined))
    return Permutation(value, p, null, exact, undefined)


def _p_value(observed: np.ndarray, null: np.ndarray, alternative: str, exact: bool) -> np.ndarray:
    sign = -1.0 if alternative == "less" else 1.0
    a, b = (np.abs(observed), np.abs(null)) if alternative == "two-sided" else (sign * observed, sign * null)
    scale = np.maximum(np.max(np.abs(np.where(np.isfinite(null), null, 0)), axis=0), np.abs(observed))
    as_extreme = ~(b < a - 1e-9 * scale)  # an undefined arrangement is not less extreme
    hits = np.sum(as_extreme, axis=0)
    p = hits / len(null) if exact else (hits + 1) / (len(null) + 1)
    return np.where(np.isfinite(observed), p, np.nan)


def sign_flip_test(
    differences: np.ndarray,
    *,
    rng: np.random.Generator,
    n_permutations: int = 10_000,
    alternative: str = "two-sided",
    exact_limit: int = EXACT_LIMIT,
) -> Permutation:
    """Permutation test of a mean difference of pairs: under the null either sign is as likely.

    differences : (n,), or (n, m) for m variables of the same pairs, whose signs flip together. Missing values are
    refused: leave incomplete pairs out. The statistic is the mean. Pairs without a difference are no evidence either
    way; all 2^n sign patterns of the others are gone through where they are at most `exact_limit`.

    Checked against `scipy.stats.permutation_test(permutation_type="samples")`.
    """
    differences = np.asarray(differences, dtype=float)
    if differences.ndim not in (1, 2) or not len(differences) or not np.all(np.isfinite(differences)):
        raise ValueError(f"differences: expected finite numbers, one row a pair, found shape {differences.shape}")
    n = len(differences)
    moving = differences[np.any(differences.reshape(n, -1) != 0, axis=1)]

    def permute(rng: np.random.Generator, k: int) -> np.ndarray:
        parts = [rng.integers(0, 2, (size, len(moving)), dtype=np.int8) for size in _sizes(k, len(moving))]
        return np.concatenate([(1.0 - 2.0 * flips) @ moving for flips in parts]) / n

    exact = None
    if len(moving) < 63 and 2 ** len(moving) <= exact_limit:
        bits = np.arange(2 ** len(moving))[:, None] >> np.arange(len(moving)) & 1
        exact = (1.0 - 2.0 * bits) @ moving / n
    return permutation_test(
        differences.mean(axis=0), permute, rng=rng, n_permutations=n_permutations, alternative=alternative, exact=exact
    )


def blocked_permutation(
    values: np.ndarray,
    systems: np.ndarray,
    blocks: np.ndarray,
    *,
    rng: np.random.Generator,
    n_permutations: int = 10_000,
    alternative: str = "two-sided",
    exact_limit: int = EXACT_LIMIT,
) -> Permutation:
    """Permutation test of a difference between systems: values are exchanged within blocks only.

    Parameters
    ----------
    values : (n,), or (n, m) for m variables of the same units, rearranged together
        Say, one number a dialogue. Missing values are refused.
    systems : (n,)
        Who produced the unit. For a test of two systems pass their units only.
    blocks : (n,)
        Within what the null makes units exchangeable: the session. A block of one unit carries no information.

    Returns
    -------
    Permutation. With two systems a < b the statistic is the difference a - b within blocks (least squares with an
    effect for each block; with one unit of each in a block, the mean difference). With more it is the sum of squares
    between systems within blocks, of which only large values count.

    Notes
    -----
    With one unit of either system in every block this is the sign-flip test. Checked against it, against full
    enumeration and, with a single block, against `scipy.stats.permutation_test`.
    """
    y = np.asarray(values, dtype=float)
    names, system = np.unique(np.asarray(systems), return_inverse=True)
    block = np.unique(np.asarray(blocks), return_inverse=True)[1]
    if not (len(y) == len(system) == len(block)) or not np.all(np.isfinite(y)):
        raise ValueError("values, systems, blocks: expected the same length, and finite values")
    if len(names) < 2:
        raise ValueError(f"systems: expected two or more, found {names.tolist()}")
    if len(names) > 2 and alternative == "less":
        raise ValueError("alternative: 'less' has no meaning with more than two systems")
    order = np.argsort(block, kind="stable")
    y, system, block = y[order], system[order], block[order]
    x = _within(np.eye(len(names))[system], block)
    if not np.any(x):
        raise ValueError("blocks: expected one that holds two systems, found none: there is nothing to exchange")
    statistic = _contrast(x, y)

    def permute(rng: np.random.Generator, k: int) -> np.ndarray:
        # sorting block number plus a fraction leaves blocks in place and shuffles within them
        parts = [np.argsort(block + rng.random((size, len(block))), axis=1) for size in _sizes(k, 4 * x.size)]
        return np.concatenate([statistic(index) for index in parts])

    units = np.split(np.arange(len(block)), np.flatnonzero(np.diff(block)) + 1)
    few = math.prod(_n_distinct(system[u]) for u in units) <= exact_limit
    exact = statistic(_all_arrangements(units, system)) if few else None
    observed = statistic(np.arange(len(block))[None])[0]
    return permutation_test(
        observed, permute, rng=rng, n_permutations=n_permutations, alternative=alternative, exact=exact
    )


def _within(values: np.ndarray, block: np.ndarray) -> np.ndarray:
    """Values less the mean of their block."""
    totals = np.zeros((block.max() + 1, values.shape[1]))
    np.add.at(totals, block, values)
    return values - (totals / np.bincount(block)[:, None])[block]


def _contrast(x: np.ndarray, y: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """The statistic under rearrangements of the systems, x (n, systems) being centred within blocks."""
    if x.shape[1] == 2:
        weight = x[:, 0] / np.sum(x[:, 0] ** 2)
        return lambda index: weight[index] @ y
    values, vectors = np.linalg.eigh(x.T @ x)
    kept = values > 1e-9 * values.max()
    root = x @ (vectors[:, kept] / np.sqrt(values[kept]))  # orthonormal contrasts between systems
    return lambda index: np.sum(np.einsum("kns,n...->ks...", root[index], y) ** 2, axis=1)


def _n_distinct(labels: np.ndarray) -> int:
    sizes = np.unique(labels, return_counts=True)[1].tolist()
    return math.factorial(sum(sizes)) // math.prod(math.factorial(n) for n in sizes)


def _all_arrangements(units: list[np.ndarray], system: np.ndarray) -> np.ndarray:
    """(k, n) indices: every way to hand the systems of each block round within it, once."""
    options = [_distinct(u.tolist(), system) for u in units]
    return np.array([list(itertools.chain(*choice)) for choice in itertools.product(*options)])


def _distinct(units: list[int], system: np.ndarray) -> list[tuple[int, ...]]:
    if not units:
        return [()]
    first = {system[u]: u for u in reversed(units)}
    return [(u, *rest) for u in first.values() for rest in _distinct([v for v in units if v != u], system)]


def _sizes(k: int, width: int) -> list[int]:
    """Sizes that add up to k, a run of `width` numbers each staying within CHUNK."""
    size = max(1, CHUNK // max(width, 1))
    return [min(size, k - start) for start in range(0, k, size)]
