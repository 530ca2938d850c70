"""The only permutation engine: within blocks, over pairs, exact where there are few arrangements.

A Monte Carlo p-value is (b + 1) / (m + 1), where b of the m random arrangements are at least as extreme as the data
(Phipson and Smyth 2010, Permutation p-values should never be zero, Stat. Appl. Genet. Mol. Biol. 9, article 39). An
exact p-value is the share among all arrangements. Ties up to rounding count as extreme, as do arrangements in which the
statistic is undefined, which can only raise the p-value. In the mid-p-value ties count half (Lancaster 1961,
Significance tests in discrete distributions, JASA 56, 223-234): where many arrangements tie it is less conservative,
and it keeps its level on average, not in every case.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
    defined = np.isfinite(null)
    p, mid = _p_values(value, null, defined, alternative, exact)
    undefined = np.zeros(value.shape, int) if defined.all() else np.sum(~defined, axis=0)
    if value.ndim == 0:
        return Permutation(float(value), float(p), null, exact, int(undefined), float(mid))
    return Permutation(value, p, null, exact, undefined, mid)


def _p_values(
    observed: np.ndarray, null: np.ndarray, defined: np.ndarray, alternative: str, exact: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The p-value and the mid-p-value. known : where the null is defined."""
    size, n = np.abs(null), len(null)
    a, b = (np.abs(observed), size) if alternative == "two-sided" else (observed, null)
    largest = np.max(size if defined.all() else np.where(defined, size, 0.0), axis=0)
    margin = 1e-9 * np.maximum(largest, np.abs(observed))
    # an undefined arrangement is not less extreme
    hits, above = n - np.sum(b < a - margin, axis=0), np.sum(b > a + margin, axis=0)
    tied = hits - above
    if not exact:  # the data's own arrangement is one more
        hits, tied, n = hits + 1, tied + 1, n + 1
    p, mid = (np.where(np.isfinite(observed), x / n, np.nan) for x in (hits, hits - tied / 2))
    return p, mid


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

    Examples
    --------
    >>> test = sign_flip_test(np.array([1.0, 2.0, 3.0, -1.0, 2.0, 1.0]), rng=np.random.default_rng(0))
    >>> round(float(test.observed), 3), float(test.p_value), test.exact
    (1.333, 0.125, True)
    """
    differences = np.asarray(differences, dtype=float)
    if differences.ndim not in (1, 2) or not len(differences) or not np.all(np.isfinite(differences)):
        raise ValueError(f"differences: expected finite numbers, one row per pair, found shape {differences.shape}")
    n = len(differences)
    moving = differences[np.any(differences.reshape(n, -1) != 0, axis=1)]

    def permute(rng: np.random.Generator, k: int) -> np.ndarray:
        parts = (np.frombuffer(rng.bytes(size * len(moving)), np.uint8) for size in _sizes(k, len(moving)))
        signs = [np.packbits(part.reshape(-1, len(moving)) > 127, axis=1) for part in parts]
        return _signed_sums(np.concatenate(signs), moving) / n

    exact = None
    if len(moving) < 63 and 2 ** len(moving) <= EXACT_LIMIT:
        bits = np.arange(2 ** len(moving))[:, None] >> np.arange(len(moving)) & 1
        exact = (1.0 - 2.0 * bits) @ moving / n
    return permutation_test(differences.mean(axis=0), permute, rng=rng, n_permutations=n_permutations, exact=exact)


def _signed_sums(signs: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(k, …) sums of (n, …) values under k assignments of signs, each a bit of (k, bytes).

    Of eight values at a time all 256 sums are made once and looked up, which costs less than products.
    """
    padded = np.zeros((8 * signs.shape[1], *values.shape[1:]))
    padded[: len(values)] = values
    table = 1.0 - 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
    total = np.zeros((len(signs), *values.shape[1:]))
    for eight, code in zip(padded.reshape(-1, 8, *values.shape[1:]), signs.T, strict=True):
        total += (table @ eight)[code]
    return total


def _sizes(k: int, width: int) -> list[int]:
    """Sizes that add up to k, a run of `width` numbers each staying within CHUNK."""
    size = max(1, CHUNK // max(width, 1))
    return [min(size, k - start) for start in range(0, k, size)]
