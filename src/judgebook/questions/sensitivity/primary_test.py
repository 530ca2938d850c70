"""The primary test of two systems: which p-value is reported, and why. The only place that decides this.

Comparisons: the sign-flip test with ties counted half. Under sign flips the sum of squares stays the same, so t is a
monotone function of the mean, and the test of t is that of the mean.

Dialogues, exchanged within blocks (`contrasts.blocks`):

- where every block has as many dialogues of either system, and for variables with two values: the permutation test of
  the difference. In balanced blocks permuted values vary as much as those of two systems that differ in spread (in one
  block, and in blocks of the same size, t is again a monotone function of the difference); and of two values the mean
  determines the distribution, so that systems with the same mean are exchangeable;
- elsewhere: the larger p-value of two tests, the permutation test of t (`permutation.blocked_permutation`, with PRIOR)
  and the t test with variance HC2 (`unequal_t`; Welch's in one block). Permuting the difference would reject a true
  null 15% to 40% of the time where the smaller sample varies more. Each of the two fails where the other
  holds: the first with five dialogues that vary more (10% to 20%), the second with few skewed values (10% to 50%).
  Both must reject, so the level is kept where either keeps it. `benchmarks/levels/tests.csv` has the rates;
- where a system has up to 20 dialogues and hardly any of them lie away from one end of the scale
  (`bounded_means.at_one_end`): by bounds that hold for any distribution on the scale. Shares that are mostly 0 with a
  few high ones are found to differ from even ones by all of the above in 5% to 60% of studies without a difference.
  Variables with two values have no need of them.

Where permutations are too many to draw, the saddlepoint p-value of the difference takes the place of the permutation
test. Its pairing with the t test keeps the level just as well, but has less power where the smaller sample varies less.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from judgebook.statistics import bounded_means, saddlepoint
from judgebook.statistics.permutation import EXACT_LIMIT, Exchange, blocked_permutation, n_arrangements, sign_flip_test

#: of how many more units the variance of t is the common one: without any, t of values that are mostly 0 is huge in the
#: arrangements in which a small sample has none but 0, and real differences are not found (power 11% for 39%)
PRIOR = 2.0


@dataclass(frozen=True)
class Tested:
    """What the test found, for m variables. difference, p_value : (m,), or numbers if the values were (n,).

    n_blocks : within which values were exchanged; pairs, for comparisons. approximate : by saddlepoint. bounded : (m,)
    where bounds of means are compared instead.
    """

    difference: np.ndarray
    p_value: np.ndarray
    n_blocks: int
    approximate: bool = False
    bounded: np.ndarray | bool = False


def two_systems(
    values: np.ndarray,
    second: np.ndarray,
    blocks: np.ndarray,
    *,
    ends: np.ndarray | None = None,
    rng: np.random.Generator | None = None,
    n_permutations: int | None = 10_000,
) -> Tested:
    """Whether two systems differ in their mean, within blocks.

    Parameters
    ----------
    values : (n,), or (n, m) for m variables of the same dialogues
        One number per dialogue, finite.
    second : (n,)
        0 for the first system, 1 for the second.
    blocks : (n,)
        Within what dialogues are exchanged, see `contrasts.blocks`; all the same where there are no sessions.
    ends : (2,) or (2, m), optional
        Ends of the scale of each variable; without them no bounds take the place of tests.
    rng : Generator, optional
        Not needed where all arrangements are gone through, nor by saddlepoint; by default one of seed 0.
    n_permutations : int or None
        None: by saddlepoint, unless all arrangements can be gone through.

    Raises
    ------
    ValueError
        No block holds both systems.
    """
    y, rng = np.asarray(values, dtype=float), np.random.default_rng(0) if rng is None else rng
    wide, n_blocks = y.reshape(len(y), -1), len(np.unique(blocks))
    exchanged = exchange(wide, second, blocks)
    several = np.array([_several(x) for x in wide.T], dtype=bool)
    unequal = several & (not exchanged.balanced)
    approximate = n_permutations is None and n_arrangements(second, blocks) > EXACT_LIMIT
    difference = exchanged.difference(exchanged.first[None])[0]
    if approximate:
        p = saddlepoint.blocked_saddlepoint(wide, second, blocks)[1]
    else:
        n = n_permutations or EXACT_LIMIT
        permuted = blocked_permutation(
            wide, second, blocks, rng=rng, n_permutations=n, studentised=unequal, prior=PRIOR
        )
        p = np.asarray(permuted.p_value)
    p[unequal] = np.fmax(p[unequal], unequal_t(exchanged, unequal))
    bounded = np.zeros(len(p), dtype=bool)
    if ends is not None:
        low, high = np.asarray(ends, dtype=float).reshape(2, -1)
        one, two = wide[np.asarray(second) == 0], wide[np.asarray(second) == 1]
        at_end = [bounded_means.at_one_end(x, low, high) for x in (one, two)]
        bounded = several & (at_end[0] | at_end[1])
        if bounded.any():
            only = [x[..., bounded] for x in (one, two, low, high)]
            p[bounded] = bounded_means.compare_bounded_means(*only, rng=rng, draws=n_permutations or 0)[0]
    shape = y.shape[1:]
    return Tested(difference.reshape(shape), p.reshape(shape), n_blocks, approximate, bounded.reshape(shape))


def pairs(
    differences: np.ndarray, *, rng: np.random.Generator | None = None, n_permutations: int | None = 10_000
) -> Tested:
    """Whether the mean of differences of pairs, or scores of comparisons, is not 0; everything else as `two_systems`.

    The mid-p-value, because signs tie: of wins and losses it is the mid-p McNemar test, which keeps its level
    (Fagerland, Lydersen and Laake 2013, BMC Medical Research Methodology 13, article 91).
    """
    d = np.asarray(differences, dtype=float)
    if n_permutations is None and 2.0 ** len(d) > EXACT_LIMIT:
        difference, p = saddlepoint.sign_flip_saddlepoint(d.reshape(len(d), -1))
        return Tested(difference.reshape(d.shape[1:]), p.reshape(d.shape[1:]), len(d), approximate=True)
    rng = np.random.default_rng(0) if rng is None else rng
    tested = sign_flip_test(d, rng=rng, n_permutations=n_permutations or EXACT_LIMIT)
    return Tested(np.asarray(tested.observed), np.asarray(tested.mid_p), len(d))


def exchange(y: np.ndarray, second: np.ndarray, blocks: np.ndarray) -> Exchange:
    """The dialogues of two systems in their blocks; arguments as for `two_systems`, values (n, m)."""
    block = np.unique(blocks, return_inverse=True)[1]
    order = np.argsort(block, kind="stable")
    return Exchange(y[order], np.asarray(second)[order] == 0, block[order])


def _several(x: np.ndarray) -> bool:
    """Whether there are more than two different values."""
    return bool(np.any((x != x[0]) & (x != x[np.argmax(x != x[0])])))


def unequal_t(exchanged: Exchange, columns: np.ndarray) -> np.ndarray:
    """Two-sided p-values of the t test with variance HC2 and Satterthwaite's degrees of freedom, (columns,).

    Blocks of one unit of either system vary together, with as many degrees of freedom as there are of them, less one;
    each side of another block has its number of units less one, or 1. In one block it is Welch's test, in pairs the
    paired t test. 0 where nothing varies but the systems differ.
    """
    r, side = exchanged.residual[:, columns], exchanged.first == 1
    d = exchanged.difference(exchanged.first[None])[0][columns]
    pair = (exchanged.mixed & (exchanged.size == 2))[exchanged.block]
    code = np.where(pair, 0, 1 + 2 * exchanged.block + side)
    one, two = exchanged.of_side()
    centred = (exchanged.first - exchanged.share[exchanged.block])[:, None]
    terms = np.where(side, one[exchanged.block], two[exchanged.block])[:, None] * (r - centred * d) ** 2
    place, units = np.unique(code, return_inverse=True, return_counts=True)[1:]
    df = np.maximum(np.where(np.isin(np.unique(code), [0]), units / 2, units) - 1, 1)[:, None]
    parts = np.zeros((len(units), len(d)))
    np.add.at(parts, place, terms)
    variance = parts.sum(axis=0)
    varies = variance > 1e-12 * np.sum(r**2, axis=0) / exchanged.total
    safe = np.where(varies, variance, 1.0)
    welch = safe**2 / np.maximum(np.sum(parts**2 / df, axis=0), 1e-12 * safe**2)
    p = 2 * stdtr(welch, -np.abs(d) / np.sqrt(safe))
    return np.where(varies, p, np.where(np.abs(d) > 1e-12 * np.sqrt(np.sum(r**2, axis=0)), 0.0, 1.0))
