"""How few dialogues, or people, must be left out for a difference to change its sign, or to lose its significance?

For means the answer for the sign is exact: of the better system the dialogues with the highest values go first, of the
other those with the lowest, and all ways to share the number between the two are tried. Of comparisons the largest
values go first. For significance, and for people, units are left out by their influence (greedy): the number found
suffices, a smaller one may exist.

References
----------
Broderick, Giordano and Meager 2020, An automatic finite-sample robustness metric: when can dropping a little data make
a big difference? arXiv:2011.14999.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

SIGN, SIGNIFICANCE = "sign", "significance"
#: of dialogues or people, at most so large a share is left out
MOST = 0.5


@dataclass(frozen=True)
class Dropped:
    """How many of n units suffice, None where half of them do not; which : their places.

    emptied : whether a system has nothing left without fewer units than would turn the difference; needed is then None.
    """

    n: int
    needed: int | None
    which: np.ndarray
    emptied: bool = False

    @property
    def share(self) -> float:
        return np.nan if self.needed is None else self.needed / self.n


def sign_of_two(a: np.ndarray, b: np.ndarray) -> Dropped:
    """The least number of values whose removal makes mean(a) - mean(b), which is not 0, zero or turns its sign.

    At least one value of either stays. Exact. `which` counts a first, then b.
    """
    n, turned = len(a) + len(b), a.mean() < b.mean()
    first, second = (b, a) if turned else (a, b)
    high, low = np.argsort(-first, kind="stable"), np.argsort(second, kind="stable")
    # how many of the second go after 0, 1, … of the first: the mean of the rest rises with each
    after = np.searchsorted(_means_without(second[low]), _means_without(first[high]) - 1e-12)
    removed = np.where(after < len(second), np.arange(len(first)) + after, n + 1)
    i = int(removed.argmin())
    if removed[i] > MOST * n:
        return Dropped(n, None, np.array([], dtype=int))
    of_first, of_second = high[:i], low[: after[i]]
    places = (of_second, len(a) + of_first) if turned else (of_first, len(a) + of_second)
    return Dropped(n, int(removed[i]), np.sort(np.concatenate(places)))


def _means_without(ordered: np.ndarray) -> np.ndarray:
    """(n,) means of what is left without the first 0, 1, … n - 1 values."""
    return np.cumsum(ordered[::-1])[::-1] / np.arange(len(ordered), 0, -1)


def sign_of_one(x: np.ndarray) -> Dropped:
    """As `sign_of_two`, for a mean of comparisons or of differences within sessions."""
    order = np.argsort(-x if x.mean() > 0 else x, kind="stable")
    left = _means_without(x[order]) * np.sign(x.mean())
    enough = np.flatnonzero(left <= 1e-12)
    if not len(enough) or enough[0] > MOST * len(x):
        return Dropped(len(x), None, np.array([], dtype=int))
    return Dropped(len(x), int(enough[0]), np.sort(order[: enough[0]]))


def significance(a: np.ndarray, b: np.ndarray | None = None, alpha: float = 0.05) -> Dropped:
    """A number of values whose removal makes a t test (Welch's of a and b, Student's of a) not significant.

    The value whose removal lowers |t| most goes first, again and again.

    Raises ValueError where the test is not significant to begin with.
    """
    samples = [_Sample(a, 0)] if b is None else [_Sample(a, 0), _Sample(b, len(a))]
    n = sum(s.n for s in samples)
    gone: list[int] = []
    parts = [s.moments() for s in samples]
    if _p(parts) >= alpha:
        raise ValueError("the difference is not significant")
    while len(gone) < MOST * n:
        dropped = []
        for i, sample in enumerate(samples):
            left = np.flatnonzero(sample.counts)
            t = np.abs(_t([*parts[:i], _without_each(parts[i], sample.values[left]), *parts[i + 1 :]])[0])
            k = min(left[t == t.min()].tolist(), key=sample.next.__getitem__)
            dropped.append((float(t.min()), sample.next[k], i, k))
        smallest, place, i, k = min(dropped)
        if not np.isfinite(smallest):  # no spread is left, whichever value goes
            break
        gone.append(place)
        samples[i].remove(k)
        parts[i] = samples[i].moments()
        if _p(parts) >= alpha:
            return Dropped(n, len(gone), np.sort(np.array(gone)))
    return Dropped(n, None, np.array([], dtype=int))


def holm_level(others: np.ndarray, alpha: float = 0.05) -> float:
    """The p-value from which Holm's adjustment no longer rejects a hypothesis, given the p-values of the `others`.

    Holm goes through m p-values in ascending order and stops at the first that reaches alpha / (m - k + 1), k its
    place: the hypothesis is rejected as long as its p-value is below that of the step at which the others stop.
    """
    p = np.sort(np.asarray(others, dtype=float))
    steps = alpha / np.arange(len(p) + 1, 0, -1)
    stopped = np.flatnonzero(p >= steps[:-1])
    return float(steps[stopped[0] if len(stopped) else -1])


class _Sample:
    """Values of which some are left out. Equal ones count together, so that time grows with the number of different
    values: dialogues have few, as scores do.

    values : (k,) different values, ascending. counts : (k,) how many are left. next : (k,) the first place of each
    among those left, from `first` on.
    """

    def __init__(self, x: np.ndarray, first: int):
        self.values, code, self.counts = np.unique(x, return_inverse=True, return_counts=True)
        order = np.argsort(code, kind="stable") + first
        self.places = [iter(part.tolist()) for part in np.split(order, np.cumsum(self.counts)[:-1])]
        self.next: list[int | None] = [next(part) for part in self.places]

    @property
    def n(self) -> int:
        return int(self.counts.sum())

    def remove(self, k: int) -> None:
        self.counts[k] -= 1
        self.next[k] = next(self.places[k], None)

    def moments(self) -> tuple[int, float, float]:
        """Size, mean and variance of what is left."""
        n = self.n
        mean = np.sum(self.counts * self.values) / n
        return n, mean, np.sum(self.counts * (self.values - mean) ** 2) / (n - 1) if n > 1 else 0.0


def _without_each(part: tuple, x: np.ndarray) -> tuple:
    """Size, mean and variance of a sample without each of its values x (k,) in turn."""
    n, mean, variance = part
    if n < 2:
        return 0, np.zeros(len(x)), np.zeros(len(x))
    d = x - mean
    squares = (n - 1) * variance - d**2 * n / (n - 1)
    squares = np.where(squares > 1e-12 * (n - 1) * variance, squares, 0.0)  # rounding
    return n - 1, mean - d / (n - 1), squares / max(n - 2, 1)


def _t(parts: list[tuple]) -> tuple[np.ndarray, np.ndarray]:
    """t and degrees of freedom of one sample, or Welch's of two; 0 and 1 where a sample has fewer than two values."""
    gap, few = parts[0][1] - (parts[1][1] if len(parts) == 2 else 0.0), min(n for n, *_ in parts) < 2
    if few:
        return np.zeros(np.shape(gap)), np.ones(np.shape(gap))
    errors = [(variance / n, n) for n, _, variance in parts]
    total = sum(error for error, _ in errors)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(gap == 0, 0.0, gap / np.sqrt(total))
        df = total**2 / sum(error**2 / (n - 1) for error, n in errors)
    return t, np.where(total <= 0, 1.0, df)


def _p(parts: list[tuple]) -> float:
    t, df = _t(parts)
    return float(2 * stdtr(df, -np.abs(t)))


def people(totals: np.ndarray, counts: np.ndarray) -> Dropped:
    """The number of people whose removal makes a difference zero or turns it, by influence (greedy).

    totals, counts : (people, 2) sums and weights of what each judged of the first and the second system; of comparisons
    (people, 1). A person without whom nothing is left of a system stays; if there is one at the outset, a single other
    person must turn the difference, else it is `emptied`.
    """
    n = len(totals)
    left_in = np.ones(n, bool)
    gone: list[int] = []
    sign = np.sign(gap(totals.sum(axis=0), counts.sum(axis=0)))
    alone = not (counts.sum(axis=0) - counts > 1e-9).all()
    while len(gone) < MOST * n:
        total, count = totals[left_in].sum(axis=0), counts[left_in].sum(axis=0)
        places = np.flatnonzero(left_in)
        left = count - counts[places]
        usable = (left > 1e-9).all(axis=1)
        if not usable.any():
            break
        gaps = np.full(len(places), np.inf)
        gaps[usable] = sign * gap((total - totals[places])[usable].T, left[usable].T)
        best = places[int(np.argmin(gaps))]
        left_in[best] = False
        gone.append(best)
        if gaps.min() <= 1e-12:
            return Dropped(n, len(gone), np.sort(np.array(gone)))
        if alone:
            break
    return Dropped(n, None, np.array([], dtype=int), emptied=alone)


def gap(total: np.ndarray, count: np.ndarray) -> np.ndarray:
    """(2, …) or (1, …) sums and numbers: the difference of the two means, or the mean."""
    means = total / count
    return means[0] - means[1] if len(means) == 2 else means[0]
