"""The model of `paired_laplace` where no dense matrix holds its effects: hundreds of thousands of answers and tastes.

The mode is found by Newton's method, each step by conjugate gradients. The gradient of the integrated likelihood has
traces of the inverse Hessian, which are products with random signs (Hutchinson 1990): with few unknowns with each of
them, which is exact. The same products give the expected information of the variances, by which the maximum is found
(Fisher scoring), and the next order of Laplace's approximation. Strengths, slopes and log nu, few as they are, have
their covariance from a dense matrix, the Hessian less what the effects take away.

References
----------
Hutchinson 1990, Communications in Statistics - Simulation and Computation 19, 433-450 (traces). Gilmour, Thompson and
Cullis 1995, Biometrics 51, 1440-1450 (scoring for restricted likelihood). Saad 2003, Iterative Methods for Sparse
Linear Systems, section 9.2 (preconditioned conjugate gradients).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve

from judgebook.statistics.paired_laplace import SLOPES, Cumulants, Integrated, Part, log_sum

#: Newton steps at most, and what one may gain that is not taken any more
_STEPS, _SMALL_GAIN = 50, 1e-6
#: of residuals over the right-hand sides, and iterations at most
_PRECISION, _ITERATIONS = 1e-2, 1000
#: unknowns of which each has its own product; products with random signs times unknowns, at least
_EXACT, _SIGNS, _SEED = 512, 100_000, 20261129
#: numbers in an array of several columns; levels of a part that stand for all in derivatives of the covariance
_AT_ONCE, _LEVELS = 2**23, 10_000
_TINY = 1e-30


class LargeLaplace:
    """The arguments of `PairedLaplace`. Unknowns are effects in units of their SDs, slopes, strengths, log nu."""

    def __init__(
        self,
        first: np.ndarray,
        second: np.ndarray,
        score: np.ndarray,
        counts: np.ndarray,
        systems: int,
        parts: Sequence[Part],
        ridge: float = 0.0,
        covariates: np.ndarray | None = None,
    ) -> None:
        n, s, self.systems, self.ridge, self.parts = len(first), systems, systems, ridge, parts
        self.score, self.counts, self.tied = score, counts.astype(float), score == 0
        self.first, self.second = first, second
        self.covariates = np.zeros((n, 0)) if covariates is None else covariates
        self.begins = np.cumsum([0, *(part.size for part in parts)])
        self.m, self.c = int(self.begins[-1]), self.covariates.shape[1]
        self.part_of = np.repeat(np.arange(len(parts)), np.diff(self.begins))
        every, unit = range(len(parts)), np.ones(len(parts))
        self.of_d, self.of_eta = (self._design(kind, every, unit) for kind in ("by_d", "by_eta"))
        self.sides = _rows([first, second], [1.0, -1.0], n, s)
        self.eta_from = 0.0 if self.tied.any() else -np.inf
        self.prior = np.zeros((self.c + s + 1,) * 2)  # as that of `PairedLaplace`
        self.prior[self.c : -1, self.c : -1] = 1.0 - ridge / s
        self.prior.flat[:: len(self.prior) + 1] += np.repeat([SLOPES, ridge, ridge], [self.c, s, 1])
        self.prior[-1, -1] += not self.tied.any()
        self.x = np.zeros((self.m + len(self.prior), 1))

    def _design(self, kind: str, some: Sequence[int], sd: np.ndarray) -> sparse.csr_array:
        """(n, m) what each effect of some parts adds to d or to eta."""
        columns, values = list[np.ndarray](), list[float | np.ndarray]()
        for i in some:
            times = self.parts[i].times
            for levels, by in zip(self.parts[i].levels.T, getattr(self.parts[i], kind), strict=True):
                if by:
                    columns.append(levels + self.begins[i])
                    values.append(by * sd[i] if times is None else by * sd[i] * times)
        return _rows(columns, values, len(self.score), self.m)

    def _along(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n, k) d and eta of (unknowns, k)."""
        effects, slopes, strengths = np.split(x[:-1], [self.m, self.m + self.c])
        effects = self.scale[:, None] * effects
        d = self.of_d @ effects + self.covariates @ slopes + self.sides @ strengths
        return d, self.of_eta @ effects + x[-1]

    def _collect(self, of_d: np.ndarray, of_eta: np.ndarray) -> np.ndarray:
        """(unknowns, k) sums over votes of what belongs to d and to eta, both (n, k)."""
        effects = self.scale[:, None] * (self.of_d.T @ of_d + self.of_eta.T @ of_eta)
        return np.concatenate([effects, self.covariates.T @ of_d, self.sides.T @ of_d, of_eta.sum(axis=0)[None]])

    def _weighted(self, d: np.ndarray, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        dd, de, ee = (w[:, None] for w in self.second_derivatives)
        return dd * d + de * eta, de * d + ee * eta

    def _information(self, x: np.ndarray) -> np.ndarray:
        """Products with the negative Hessian of the votes' likelihood."""
        return self._collect(*self._weighted(*self._along(x)))

    def _prior(self, x: np.ndarray) -> np.ndarray:
        return np.concatenate([x[: self.m], self.prior @ x[self.m :]])

    def _of_fixed(self) -> np.ndarray:
        """The negative Hessian by slopes, strengths and log nu."""
        dd, de, ee = self.second_derivatives
        x, s = self.covariates, self.systems
        met, of_pairs = self.sides.T @ (dd[:, None] * x), np.bincount(self.first * s + self.second, dd, s * s)
        own = np.bincount(self.first, dd, s) + np.bincount(self.second, dd, s)
        strengths = np.diag(own) - of_pairs.reshape(s, s) - of_pairs.reshape(s, s).T
        edge = np.concatenate([x.T @ de, self.sides.T @ de])[:, None]
        inner = np.block([[x.T @ (dd[:, None] * x), met.T], [met, strengths]])
        return np.block([[inner, edge], [edge.T, ee.sum()]]) + self.prior

    def _own(self) -> np.ndarray:
        """(m,) the diagonal of the negative Hessian by effects."""
        dd, de, ee = self.second_derivatives
        out = np.ones(self.m)
        for part, begin, sd in zip(self.parts, self.begins, self.sd, strict=False):
            for levels, a, b in zip(part.levels.T, part.by_d, part.by_eta, strict=True):
                curved = sd**2 * (a**2 * dd + 2 * a * b * de + b**2 * ee)
                curved *= 1.0 if part.times is None else part.times**2
                out[begin : begin + part.size] += np.bincount(levels, curved, part.size)
        return out

    def _solve(self, sides: np.ndarray) -> np.ndarray:
        """Of the negative Hessian of the posterior."""

        def nearly(y: np.ndarray) -> np.ndarray:
            return np.concatenate([y[: self.m] / self.own[:, None], cho_solve(self.fixed, y[self.m :])])

        return _conjugate(lambda y: self._information(y) + self._prior(y), nearly, sides, _PRECISION)

    def _to_mode(self) -> Cumulants:
        d, eta = self._along(self.x)
        current, fresh = self._value(d, eta, self.x), True
        for _ in range(_STEPS):
            at = Cumulants.of(d[:, 0], eta[:, 0] + self.eta_from, self.counts)
            self.second_derivatives = at.second
            if fresh:
                self.own, self.fixed, fresh = self._own(), cho_factor(self._of_fixed()), False
            scores = self.counts * (self.score / 2 - at.mean), self.counts * (self.tied - at.tie)
            gradient = self._collect(*(each[:, None] for each in scores)) - self._prior(self.x)
            step = self._solve(gradient)
            if (gradient * step).sum() < _SMALL_GAIN:
                break
            by_d, by_eta = self._along(step)
            while (new := self._value(d + by_d, eta + by_eta, self.x + step)) < current - 1e-12 * abs(current):
                step, by_d, by_eta = step / 2, by_d / 2, by_eta / 2
                if np.abs(step).max() < 1e-12:
                    break
            self.x, d, eta, current = self.x + step, d + by_d, eta + by_eta, new
        return at

    def _value(self, d: np.ndarray, eta: np.ndarray, x: np.ndarray) -> float:
        d, eta = d[:, 0], eta[:, 0] + self.eta_from
        log_p = self.score * d / 2 - log_sum(d, eta)
        log_p[self.tied] += eta[self.tied]
        return float(self.counts @ log_p - (x * self._prior(x)).sum() / 2)

    def evaluate(self, variances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(parts,) derivatives of the integrated log likelihood by variances, and (parts,) sums of the rows of their
        expected information. `gain` is what the next order of Laplace's
        approximation adds to the likelihood, as `PairedLaplace.corrected` has it.

        variances : (parts,) above 0.
        """
        self.sd = np.sqrt(variances)
        self.scale = self.sd[self.part_of]
        self.at, p = self._to_mode(), len(self.parts)
        traces, squares = np.zeros(p), np.zeros(p)
        # of comparisons, by either half of the products, so that what has both has no bias; first by the diagonal
        diagonal = np.concatenate([1 / self.own, np.zeros(len(self.prior))])[:, None]
        scale = self.scale**2 * diagonal[: self.m, 0]
        q = np.stack([a @ scale for a in (self.of_d.power(2), self.of_d * self.of_eta, self.of_eta.power(2))])
        self.q = np.stack([q, q])
        for weight, signs in self._probes():
            # products with the inverse less the identity: small ones are exact
            less = self._solve(self._information(signs) + self._prior(signs) - signs)
            squares += weight * np.bincount(self.part_of, (less[: self.m] ** 2).sum(axis=1), p)
            traces += weight * np.bincount(self.part_of, (signs * less)[: self.m].sum(axis=1), p)
            (d, eta), (by_d, by_eta) = self._along(signs), self._along(signs - less - diagonal * signs)
            products = np.stack([d * by_d, (d * by_eta + eta * by_d) / 2, eta * by_eta])
            if weight == 1.0:
                self.q += products.sum(axis=2)
            else:
                self.q += 2 * weight * np.stack([products[:, :, half::2].sum(axis=2) for half in (0, 1)])
        pulls = self._collect(*(np.stack(each, axis=1) for each in zip(*map(self.at.of_third, self.q), strict=True)))
        moved = self._solve(pulls)
        self.gain = (float(pulls[:, 0] @ moved[:, 1]) - self.at.of_fourth(*self.q)) / 8
        self.shift = -moved.mean(axis=1, keepdims=True) / 2
        x = self.x[: self.m, 0]
        gradient = (np.bincount(self.part_of, x * (x + 2 * self.shift[: self.m, 0]), p) - traces) / (2 * variances)
        return gradient, squares / (2 * variances**2)

    def _probes(self) -> Iterator[tuple[float, np.ndarray]]:
        """Weight, and (unknowns, k) with squares whose sums are 1."""
        size, rng = len(self.x), np.random.default_rng(_SEED)
        k = size if size <= _EXACT else 2 * -(-_SIGNS // (2 * size))
        step = max(2, _AT_ONCE // (4 * size) * 2)
        for columns in np.split(np.arange(k), range(step, k, step)):
            if size <= _EXACT:
                yield 1.0, np.eye(size)[:, columns]
            else:
                yield 1.0 / k, rng.choice([-1.0, 1.0], size=(size, len(columns)))

    def _bends(self, some: np.ndarray) -> Iterator[tuple[np.ndarray, ...]]:
        """By part derivatives of the second derivatives of some votes by its variance: as the mode moves with it."""
        third = [each[some] for each in self.at.third]
        for low, high, sd in zip(self.begins, self.begins[1:], self.sd, strict=False):
            side = np.zeros_like(self.x)
            side[low:high] = self.x[low:high] / sd**2
            d, eta = (of[some, 0] for of in self._along(self._solve(side)))
            yield third[0] * d + third[1] * eta, third[1] * d + third[2] * eta, third[2] * d + third[3] * eta

    def covariance(self) -> tuple[Integrated, np.ndarray, np.ndarray]:
        """At the last variances, to the next order: the likelihood is NaN. And, (parts, s, s) each, of the covariance
        of strengths what each part adds to it, and its derivative by the variance of each; by _LEVELS levels and votes
        at most.

        With W = L L' the second derivatives by d and eta of each vote, and these with effects Z and the rest X, the
        Hessian by the rest, without effects, is X'L (1 + L'Z Z'L)^-1 L'X.
        """
        d, eta = self._along(self.shift)
        dd, de, ee = self.at.expected(self.q.mean(axis=0), d[:, 0], eta[:, 0])
        root = np.sqrt(dd)
        w, c = (root, de / root, np.sqrt(np.maximum(ee - de**2 / dd, 0.0))), self.c
        rng = np.random.default_rng(_SEED)
        levels = [low + rng.permutation(high - low)[:_LEVELS] for low, high in pairwise(self.begins)]
        votes = rng.permutation(len(self.score))[:_LEVELS]
        hessian, by_level, by_vote = self._of_rest(w, levels, votes)
        inverse, x = np.linalg.inv((hessian + hessian.T) / 2), (self.x + self.shift)[self.m :, 0]
        nothing, log_nu = np.zeros(len(self.parts)), float(x[-1]) + self.eta_from
        strengths, slopes, of_slopes = x[c:-1].copy(), x[:c].copy(), inverse[:c, :-1]
        found = Integrated(np.nan, nothing, strengths, log_nu, inverse[c:, c:], slopes, of_slopes)
        a, z = (each[votes, None] for each in (w[0], w[2]))
        by_eta = np.divide(by_vote[1], z, out=np.zeros_like(by_vote[1]), where=z > 0) @ inverse[:, c:-1]
        by_d = by_vote[0] / a @ inverse[:, c:-1] - w[1][votes, None] / a * by_eta
        added = np.zeros((len(self.parts), self.systems, self.systems))
        moved = np.zeros_like(added)
        for i, (held, part, bends) in enumerate(zip(by_level, self.parts, self._bends(votes), strict=True)):
            at = (held @ inverse)[:, c:-1]
            added[i] = at.T @ at * (part.size / len(held))
            dd, de, ee = (each[:, None] for each in bends)
            weighed = by_d.T @ (dd * by_d + de * by_eta) + by_eta.T @ (de * by_d + ee * by_eta)
            moved[i] = added[i] / self.sd[i] ** 2 - weighed * (len(self.score) / len(votes))
        return found, added, moved

    def _of_rest(
        self, w: tuple[np.ndarray, ...], levels: list[np.ndarray], votes: np.ndarray
    ) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
        """The Hessian by the rest, without effects; and (1 + L'Z Z'L)^-1 L'X, some columns at a time: what it is by
        some levels of each part, and by d and eta by some votes. w : of L."""
        n, b, step = len(self.score), len(self.prior), max(1, _AT_ONCE // (2 * len(self.score)))

        def weighted(of_d: Any, of_eta: Any) -> Any:
            """L' times what belongs to d and to eta."""
            by_d = sparse.diags_array(w[0]) @ of_d + sparse.diags_array(w[1]) @ of_eta
            return sparse.vstack([by_d, sparse.diags_array(w[2]) @ of_eta]).tocsr()

        near, others = self._shared(w[0])
        far = weighted(*others).astype(np.float32)

        def times(y: np.ndarray) -> np.ndarray:
            out: np.ndarray = far @ (far.T @ y)
            out[:n] += near @ y[:n]
            out += y
            return out

        of_d, of_eta = self.of_d.tocsc(), self.of_eta.tocsc()
        seen = [weighted(of_d[:, some], of_eta[:, some]).T.tocsr() for some in levels]
        slopes = (w[0][:, None] * self.covariates).astype(np.float32)
        strengths = (sparse.diags_array(w[0]) @ self.sides).astype(np.float32)
        by_column = strengths.tocsc()
        by_level, by_vote = [np.zeros((len(some), b)) for some in levels], np.zeros((2, len(votes), b), np.float32)
        hessian = self.prior.copy()
        for columns in np.split(np.arange(b), range(step, b, step)):
            sides = np.zeros((2 * n, len(columns)), np.float32)
            for side, column in zip(sides.T, columns, strict=True):
                if column < self.c:
                    side[:n] = slopes[:, column]
                elif column < b - 1:
                    side[:n] = by_column[:, [column - self.c]].toarray()[:, 0]
                else:
                    side[:] = np.concatenate([w[1], w[2]])
            found = _conjugate(times, lambda y: y, sides, 1e-3)
            for held, of, sd in zip(by_level, seen, self.sd, strict=True):
                held[:, columns] = sd * (of @ found)
            by_vote[:, :, columns] = found.reshape(2, n, -1)[:, votes]
            log_nu = w[1] @ found[:n] + w[2] @ found[n:]
            hessian[:, columns] += np.concatenate([slopes.T @ found[:n], strengths.T @ found[:n], log_nu[None]])
        return hessian, by_level, by_vote

    def _shared(self, root: np.ndarray) -> tuple[Any, list[sparse.csr_array]]:
        """What votes share: (n, n) by effects on d that few votes have, times roots of weights; by d and by eta those
        of the others, times SDs."""
        near: Any = sparse.csr_array((len(self.score),) * 2, dtype=np.float32)
        far = list[int]()
        for i, part in enumerate(self.parts):
            votes = np.bincount(part.levels.ravel())
            if any(part.by_eta) or votes @ votes > 2 * votes.sum():
                far.append(i)
                continue
            of_part = (sparse.diags_array(root) @ self._design("by_d", [i], self.sd)).astype(np.float32)
            near = near + of_part @ of_part.T
        return near, [self._design(kind, far, self.sd) for kind in ("by_d", "by_eta")]


def _rows(columns: Sequence[np.ndarray], values: Sequence[float | np.ndarray], n: int, width: int) -> sparse.csr_array:
    """(n, width), with these values in these columns of each row."""
    k = len(columns)
    indices, data = np.empty((n, k), np.int32), np.empty((n, k))
    for i, (column, value) in enumerate(zip(columns, values, strict=True)):
        indices[:, i], data[:, i] = column, value
    return sparse.csr_array((data.ravel(), indices.ravel(), np.arange(n + 1, dtype=np.int64) * k), shape=(n, width))


def _conjugate(
    times: Callable[[np.ndarray], np.ndarray],
    nearly: Callable[[np.ndarray], np.ndarray],
    sides: np.ndarray,
    precision: float,
) -> np.ndarray:
    """(k, c) solutions of positive definite equations for several right-hand sides at once; nearly : the inverse of a
    matrix near to that of the equations."""
    residual, x = sides.copy(), np.zeros_like(sides)
    z = nearly(residual)
    direction, inner = z.copy(), np.einsum("kc,kc->c", residual, z)
    target = precision**2 * inner
    for _ in range(_ITERATIONS):
        if np.all(inner <= target):
            break
        product = times(direction)
        length = inner / np.maximum(np.einsum("kc,kc->c", direction, product), _TINY)
        x += length * direction
        product *= length
        residual -= product
        z = nearly(residual)
        before, inner = inner, np.einsum("kc,kc->c", residual, z)
        direction *= inner / np.maximum(before, _TINY)
        direction += z
    return x
