"""What `paired_laplace` finds at given variances, where the parts are so many and so crossed that no dense matrix holds
them: the mode and the covariance of strengths, by conjugate gradients. There is no determinant, and so no likelihood.

Reference: Saad 2003, Iterative Methods for Sparse Linear Systems, section 9.2 (preconditioned conjugate gradients).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy import sparse

from judgebook.statistics.paired_laplace import Cumulants, Integrated, Part, log_sum

#: Newton steps at most, and what one may gain that is not taken any more
_STEPS, _NEGLIGIBLE = 50, 1e-8
#: of residuals over the right-hand sides, and iterations at most
_PRECISION, _ITERATIONS = 1e-6, 1000


def solve_large(
    first: np.ndarray,
    second: np.ndarray,
    score: np.ndarray,
    counts: np.ndarray,
    systems: int,
    parts: Sequence[Part],
    ridge: float = 0.0,
    *,
    variances: np.ndarray,
) -> Integrated:
    """The arguments of `PairedLaplace`, and the variances. The likelihood and its gradient are NaN."""
    votes = _Votes(first, second, score, counts, systems, parts, ridge, variances)
    x = np.zeros(votes.size)
    current = votes.log_posterior(x)
    for _ in range(_STEPS):
        gradient, times, own = votes.derivatives(x)
        step = _conjugate(times, own, gradient[:, None])[:, 0]
        if gradient @ step < _NEGLIGIBLE:
            break
        while (new := votes.log_posterior(x + step)) < current - 1e-12 * abs(current) and np.abs(step).max() > 1e-12:
            step /= 2
        x, current = x + step, new
    m, size = votes.m, votes.size
    sides = np.zeros((size, systems + 1))
    sides[np.arange(m, size), np.arange(systems + 1)] = 1.0
    covariance = _conjugate(times, own, sides)[m:]
    unknown = np.full(len(parts), np.nan)
    strengths, log_nu = x[m:-1].copy(), float(x[-1]) + votes.eta_from
    return Integrated(np.nan, unknown, strengths, log_nu, (covariance + covariance.T) / 2)


class _Votes:
    """The posterior of (size,) unknowns: m effects of parts in units of their SDs, strengths, and log nu."""

    def __init__(
        self,
        first: np.ndarray,
        second: np.ndarray,
        score: np.ndarray,
        counts: np.ndarray,
        systems: int,
        parts: Sequence[Part],
        ridge: float,
        variances: np.ndarray,
    ) -> None:
        n, m, self.score, self.counts, self.tied = (
            len(first),
            sum(part.size for part in parts),
            score,
            counts,
            score == 0,
        )
        self.m, self.size, self.systems, self.ridge = m, m + systems + 1, systems, ridge
        self.eta_from = 0.0 if self.tied.any() else -np.inf
        begins = np.cumsum([0, *(part.size for part in parts)])
        pieces = list(zip(parts, begins, np.sqrt(variances), strict=False))
        at = [part.levels + b for part, b, _ in pieces]
        columns = np.column_stack([*at, np.column_stack([first, second]) + m, np.full((n, 1), self.size - 1)])

        def design(kind: str, last: list[float]) -> sparse.csr_array:
            values = np.concatenate([*(sd * np.array(getattr(part, kind)) for part, _, sd in pieces), last])
            entries = np.tile(values, n), columns.ravel(), np.arange(n + 1) * columns.shape[1]
            return sparse.csr_array(entries, shape=(n, self.size))

        self.of_d, self.of_eta = design("by_d", [1.0, -1.0, 0.0]), design("by_eta", [0.0, 0.0, 1.0])
        self.back_d, self.back_eta = self.of_d.T.tocsr(), self.of_eta.T.tocsr()
        self.diagonal = np.repeat([1.0, ridge, ridge + (not self.tied.any())], [m, systems, 1])

    def prior(self, x: np.ndarray) -> np.ndarray:
        """As that of `PairedLaplace`: strengths add up to 0."""
        out: np.ndarray = (self.diagonal * x.T).T
        out[self.m : -1] += (1 - self.ridge / self.systems) * x[self.m : -1].sum(axis=0)
        return out

    def log_posterior(self, x: np.ndarray) -> float:
        d, eta = self.of_d @ x, self.of_eta @ x + self.eta_from
        log_p = self.score * d / 2 - log_sum(d, eta)
        log_p[self.tied] += eta[self.tied]
        return float(self.counts @ log_p - x @ self.prior(x) / 2)

    def derivatives(self, x: np.ndarray) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray], np.ndarray]:
        """The gradient, the product with the negative Hessian, and its diagonal."""
        cumulants = Cumulants.of(self.of_d @ x, self.of_eta @ x + self.eta_from, self.counts)
        gradient = self.back_d @ (self.counts * (self.score / 2 - cumulants.mean))
        gradient += self.back_eta @ (self.counts * (self.tied - cumulants.tie))
        dd, de, ee = (each[:, None] for each in cumulants.second)

        def times(y: np.ndarray) -> np.ndarray:
            d, eta = self.of_d @ y, self.of_eta @ y
            of_votes = self.back_d @ (dd * d + de * eta) + self.back_eta @ (de * d + ee * eta)
            product: np.ndarray = of_votes + self.prior(y)
            return product

        w, both = cumulants.second, self.back_d * self.back_eta
        own = self.back_d.power(2) @ w[0] + 2 * both @ w[1] + self.back_eta.power(2) @ w[2]
        own += self.diagonal + np.repeat([0.0, 1.0, 0.0], [self.m, self.systems, 1])
        return gradient - self.prior(x), times, own


def _conjugate(times: Callable[[np.ndarray], np.ndarray], diagonal: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """(k, c) solutions of positive definite equations for several right-hand sides at once."""
    x, residual = np.zeros_like(sides), sides.copy()
    z = residual / diagonal[:, None]
    direction, inner = z.copy(), (residual * z).sum(axis=0)
    target = _PRECISION**2 * np.maximum(inner, 1e-300)
    for _ in range(_ITERATIONS):
        if np.all(inner <= target):
            break
        product = times(direction)
        length = inner / np.maximum((direction * product).sum(axis=0), 1e-300)
        x += length * direction
        residual -= length * product
        z = residual / diagonal[:, None]
        before, inner = inner, (residual * z).sum(axis=0)
        direction = z + inner / np.maximum(before, 1e-300) * direction
    return x
