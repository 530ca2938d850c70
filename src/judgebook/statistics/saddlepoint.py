"""P-values of permutation tests without permutations, where there are too many arrangements to go through or to draw.

The distribution of a sum over a random subset of fixed size is that of independent draws, given their number. Its tail
follows from the cumulant generating function of both by Skovgaard's (1987) formula, here in Barndorff-Nielsen's form.
The relative error is of order 1 / n even far out in the tail (Robinson 1982, for two samples of eight and more), where
a million draws would see nothing, and a normal approximation is too small or too large by a factor. Sign tests need
neither: theirs is the distribution of fair coins, here several times as fast as by `scipy.stats.binom`.

References
----------
Robinson 1982, Saddlepoint approximations for permutation tests and confidence intervals, JRSS B 44, 91-101. Skovgaard
1987, Saddlepoint expansions for conditional distributions, Journal of Applied Probability 24, 875-887.
Barndorff-Nielsen 1986, Inference on full or partial parameters based on the standardized signed log likelihood ratio,
Biometrika 73, 307-322. Booth and Butler 1990, Randomization distributions and saddlepoint approximations in generalized
linear models, Biometrika 77, 787-796.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import bdtrik, betainc, expit, gammaln, ndtr

_STEPS = 60  # Newton steps, halved ones included
#: scores are integers, items means of few of them: their differences are multiples of one over this, or of nothing
_LATTICE = 2520
_NEAR = 0.02  # a root of the likelihood ratio below this is that of a statistic in the middle


@dataclass(frozen=True)
class _Tail:
    """Sum of c values over a random subset of each block plus signs of `half`, for m variables at once.

    values, counts : (n, m), how often a value occurs in a block. start : (blocks,) first row of each. share, chosen,
    size : (blocks,), of the subset, as a share and in numbers, and of the block. half, many : (q, m) halves of
    differences of pairs, whose sign is random, and how often each occurs.
    """

    values: np.ndarray
    counts: np.ndarray
    start: np.ndarray
    share: np.ndarray
    chosen: np.ndarray
    half: np.ndarray
    many: np.ndarray

    def probability(self, x: np.ndarray, sign: float, step: np.ndarray) -> np.ndarray:
        """P(sign * sum >= x), (m,), for x > 0; of sums on a lattice x lies half a step below one of them."""
        v = sign * self.values
        block = np.repeat(np.arange(len(self.start)), np.diff(np.r_[self.start, len(v)]))
        offset = np.log(self.share / (1 - self.share))[block][:, None]
        s, t = np.zeros(len(x)), np.zeros((len(self.start), len(x)))
        target = self.chosen[:, None]
        with np.errstate(all="ignore"):
            value = self._objective(v, block, offset, s, t, x)
            for _ in range(_STEPS):
                p = expit(s * v + t[block] + offset)
                spread = self.counts * p * (1 - p)
                g_t = target - self._sum(self.counts * p)
                angle = np.tanh(s * self.half)
                g_s = x - np.sum(self.counts * p * v, axis=0) - np.sum(self.many * self.half * angle, axis=0)
                h_t, h_st = np.maximum(self._sum(spread), 1e-300), self._sum(spread * v)
                h_s = np.sum(spread * v**2, axis=0) + np.sum(self.many * self.half**2 * (1 - angle**2), axis=0)
                left = np.maximum(h_s - np.sum(h_st**2 / h_t, axis=0), 1e-300)
                step_s = (g_s - np.sum(h_st / h_t * g_t, axis=0)) / left
                step_t = (g_t - h_st * step_s) / h_t
                if not np.any(np.abs(step_s * g_s) + np.sum(np.abs(step_t * g_t), axis=0) > 1e-11):
                    break
                length = np.ones(len(x))
                for _ in range(30):  # halved until the convex objective falls, variable by variable
                    new = self._objective(v, block, offset, s + length * step_s, t + length * step_t, x)
                    worse = ~(new <= value + 1e-12 * (1 + np.abs(value)))
                    if not worse.any():
                        break
                    length[worse] /= 2
                s, t, value = s + length * step_s, t + length * step_t, new
            base = np.maximum(self._sum(self.counts * (self.share * (1 - self.share))[block][:, None]), 1e-300)
            root = np.sqrt(2 * np.maximum(-value, 0))
            slope = np.where(step > 0, 2 * np.sinh(s * step / 2) / np.where(step > 0, step, 1.0), s)
            scaled = slope * np.sqrt(left * np.exp(np.sum(np.log(h_t / base), axis=0)))
            corrected = root + np.log(scaled / root) / root
            # in the middle both roots vanish: the normal distribution, whose variance is known
            upper: np.ndarray = np.where(root > _NEAR, ndtr(-corrected), ndtr(-root))
        return upper

    def of(self, columns: np.ndarray) -> _Tail:
        """Some of the variables."""
        values, counts, half, many = (x[:, columns] for x in (self.values, self.counts, self.half, self.many))
        return _Tail(values, counts, self.start, self.share, self.chosen, half, many)

    def _objective(
        self, v: np.ndarray, block: np.ndarray, offset: np.ndarray, s: np.ndarray, t: np.ndarray, x: np.ndarray
    ) -> np.ndarray:
        """Joint cumulants at (s, t) less s x and t times the number chosen: convex, and smallest at the saddlepoint."""
        rest = np.log1p(-self.share)[block][:, None]
        of_blocks = np.sum(self.counts * (np.logaddexp(0, s * v + t[block] + offset) + rest), axis=0)
        argument = np.abs(s * self.half)
        of_pairs = np.sum(self.many * (argument + np.log1p(np.exp(-2 * argument)) - np.log(2)), axis=0)
        value: np.ndarray = of_blocks + of_pairs - s * x - np.sum(t * self.chosen[:, None], axis=0)
        return value

    def _sum(self, x: np.ndarray) -> np.ndarray:
        """(blocks, m) sums over the rows of each block."""
        return np.add.reduceat(x, self.start, axis=0) if len(self.start) else np.zeros((0, x.shape[1]))

    def largest(self, sign: float) -> tuple[np.ndarray, np.ndarray]:
        """(m,) the largest value of sign * sum, and its probability."""
        top, logs = np.sum(self.many * self.half, axis=0), -np.log(2) * np.sum(self.many * (self.half > 0), axis=0)
        bounds = pairwise([*self.start, len(self.values)])
        for (start, end), k in zip(bounds, self.chosen, strict=True):
            v, counts = sign * self.values[start:end], self.counts[start:end]
            order = np.argsort(-v, axis=0)
            v, counts = np.take_along_axis(v, order, axis=0), np.take_along_axis(counts, order, axis=0)
            taken = np.clip(k - (np.cumsum(counts, axis=0) - counts), 0, counts)
            top = top + np.sum(taken * v, axis=0)
            # values that tie with the last one taken could stand for it
            ties = v == np.min(np.where(taken > 0, v, np.inf), axis=0)
            logs += _log_choose(np.sum(counts * ties, axis=0), np.sum(taken * ties, axis=0))
            logs -= _log_choose(np.sum(counts, axis=0), k)
        return top, np.exp(logs)


def blocked_saddlepoint(values: np.ndarray, systems: np.ndarray, blocks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Difference of two systems within blocks and its two-sided p-value: `permutation.blocked_permutation`, not
    studentised, without drawing.

    Scores on a lattice, as nearly all are, are corrected for it: half a step is taken off the statistic, so that ties
    count as extreme. Adequate where there are too many arrangements to go through.

    Parameters
    ----------
    values : (n, m)
        m variables of the same units, finite.
    systems : (n,)
        0 or 1.
    blocks : (n,)
        Within what units are exchanged. Raises ValueError where no block holds both systems.

    Returns
    -------
    (m,) differences and p-values.
    """
    block = np.unique(blocks, return_inverse=True)[1]
    first = (np.asarray(systems) == 0).astype(float)
    size, chosen = np.bincount(block), np.bincount(block, first)
    mixed = (chosen > 0) & (chosen < size)
    if not mixed.any():
        raise ValueError("blocks: expected one that holds two systems, found none: there is nothing to exchange")
    total = np.sum((chosen * (1 - chosen / size))[mixed])  # sum of squared centred indicators
    order = np.argsort(block, kind="stable")
    y, block, first = np.asarray(values, dtype=float)[order], block[order], first[order]
    starts = np.searchsorted(block, np.arange(len(size)))
    a = (y - (np.add.reduceat(y, starts, axis=0) / size[:, None])[block]) / total
    observed = first @ a
    pairs = mixed & (size == 2)
    half = np.abs(a[starts[pairs]])
    large = mixed & (size > 2)
    rest = large[block]
    step = _steps(y[mixed[block]]) / total
    v, counts = a[rest], np.ones(a[rest].shape)
    if large.sum() == 1 and np.all(step > 0):
        v, counts = _listed(v, step)
    sizes = size[large].astype(float)
    begin = np.r_[0, np.cumsum(size[large])[:-1]] if large.sum() > 1 else np.zeros(int(large.sum()), dtype=int)
    tail = _Tail(v, counts, begin, chosen[large] / sizes, chosen[large], *_listed(half, step / 2))
    return observed, _two_sided(tail, observed, step, np.ptp(a, axis=0), mid=False)


def sign_flip_saddlepoint(differences: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean difference of pairs and its two-sided mid-p-value: `permutation.sign_flip_test` without drawing.

    differences : (n, m), finite. Returns (m,) each. Without a correction for ties the approximation is one of the
    mid-p-value.
    """
    d = np.asarray(differences, dtype=float)
    none = np.zeros((0, d.shape[1]))
    half = np.abs(d) / len(d)
    step = 2 * _steps(np.vstack([0 * d[:1], d])) / len(d)  # a sign that changes moves the sum by twice the difference
    tail = _Tail(none, none, np.zeros(0, int), np.zeros(0), np.zeros(0), *_listed(half, step / 2))
    observed, spread = d.mean(axis=0), half.max(axis=0)
    return observed, np.where(spread > 0, _two_sided(tail, observed, step, spread, mid=True), 0.5)


def _two_sided(tail: _Tail, observed: np.ndarray, step: np.ndarray, spread: np.ndarray, mid: bool) -> np.ndarray:
    """P(|sum| >= |observed|), with ties counted half if `mid`; step : (m,) of the lattice of sums, 0 where there is
    none."""
    x, tied = np.abs(observed), 1e-9 * spread
    reached, passed = np.zeros((2, len(x)))
    safe = np.where(step > 0, step, 1.0)
    # sums lie a whole number of steps from the observed one: on the other side, the first that is as extreme
    mirrored = np.where(step > 0, np.ceil(2 * x / safe - 1e-6) * safe - x, x)
    for side, at in ((1.0, x), (-1.0, mirrored)):
        for sign in (1.0, -1.0):
            columns = np.flatnonzero(np.where(observed < 0, -side, side) == sign)
            if len(columns):
                tails = _one_side(tail.of(columns), at[columns], step[columns], tied[columns], sign)
                reached[columns] += tails[0]
                passed[columns] += tails[1]
    # half a step from 0, or nearer, no sum is less extreme; at 0 both sides are the same sum
    reached = np.where(x <= step / 2 + tied, 1.0, np.minimum(reached, 1.0))
    p = (reached + np.minimum(passed, 1.0)) / 2 if mid else reached
    return np.where(spread > 0, p, 1.0)


def _one_side(
    tail: _Tail, x: np.ndarray, step: np.ndarray, tied: np.ndarray, sign: float
) -> tuple[np.ndarray, np.ndarray]:
    """P(sign * sum >= x) and P(sign * sum > x), (m,) each, for x >= 0; where there is no lattice both are those of a
    continuous distribution, but at its end."""
    top, most = tail.largest(sign)

    def from_(x: np.ndarray) -> np.ndarray:
        low = x - step / 2
        inside = (low > tied) & (x < top - tied)
        tail_area = tail.probability(np.where(inside, low, 0.0), sign, step)
        at_end = np.where(x <= top + tied, most, 0.0)
        return np.where(inside, tail_area, np.where(x < top - tied, 0.5, at_end))

    reached = from_(x)
    return reached, np.where(step > 0, from_(x + step), np.where(x >= top - tied, 0.0, reached))


def _steps(y: np.ndarray) -> np.ndarray:
    """(m,) largest number of which all differences of a column are multiples; 0 where they are of none."""
    whole = (y - y[:1]) * _LATTICE
    near = np.rint(whole)
    fits = np.all(np.abs(whole - near) < 1e-4, axis=0)
    return np.where(fits, np.gcd.reduce(np.where(fits, near, 0).astype(np.int64), axis=0), 0) / _LATTICE


def _listed(v: np.ndarray, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(q, m) different values of each column and how often each occurs, where that is fewer; padded with none."""
    if len(v) < 64 or not np.all(step > 0):
        return v, np.ones(v.shape)
    place = np.rint((v - v.min(axis=0)) / step).astype(np.int64)
    most = int(place.max()) + 1
    if most > len(v) // 2:
        return v, np.ones(v.shape)
    m = v.shape[1]
    counts = np.bincount((place * m + np.arange(m)).ravel(), minlength=most * m).reshape(most, m)
    return v.min(axis=0) + step * np.arange(most)[:, None], counts.astype(float)


def _log_choose(n: np.ndarray | float, k: np.ndarray | float) -> np.ndarray | float:
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def coin_cdf(k: np.ndarray | float, n: np.ndarray | float) -> np.ndarray:
    """Probability of at most k heads in n throws of a fair coin.

    Examples
    --------
    >>> float(coin_cdf(2, 10).round(4))
    0.0547
    """
    k, n = np.asarray(k, dtype=float), np.asarray(n, dtype=float)
    return np.where(k < n, betainc(np.maximum(n - k, 1), k + 1, 0.5), 1.0)


def coin_ppf(p: np.ndarray | float, n: np.ndarray | float) -> np.ndarray:
    """Smallest k with a probability of at least `p` of at most k heads in n throws of a fair coin.

    Examples
    --------
    >>> float(coin_ppf(0.975, 10))
    8.0
    """
    k = np.maximum(np.ceil(bdtrik(p, np.maximum(n, 1), 0.5)), 0)
    fewer = np.maximum(k - 1, 0)  # the inverse may lie a rounding error above a whole number
    return np.where(coin_cdf(fewer, n) >= p, fewer, k)
