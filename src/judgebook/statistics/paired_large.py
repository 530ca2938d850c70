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
    n, m, tied = len(first), sum(part.size for part in parts), score == 0
    size, eta_from = m + systems + 1, 0.0 if tied.any() else -np.inf
    begins = np.cumsum([0, *(part.size for part in parts)])
    pieces = list(zip(parts, begins, np.sqrt(variances), strict=False))
    at = [*(part.levels + b for part, b, _ in pieces), np.column_stack([first, second]) + m, np.full((n, 1), size - 1)]
    columns = np.column_stack(at)

    def design(kind: str, last: list[float]) -> sparse.csr_array:
        values = np.concatenate([*(sd * np.array(getattr(part, kind)) for part, _, sd in pieces), last])
        entries = np.tile(values, n), columns.ravel(), np.arange(n + 1) * columns.shape[1]
        return sparse.csr_array(entries, shape=(n, size))

    of_d, of_eta = design("by_d", [1.0, -1.0, 0.0]), design("by_eta", [0.0, 0.0, 1.0])
    back_d, back_eta = of_d.T.tocsr(), of_eta.T.tocsr()
    diagonal = np.repeat([1.0, ridge, ridge + (not tied.any())], [m, systems, 1])

    def prior(x: np.ndarray) -> np.ndarray:
        """As that of `PairedLaplace`: strengths add up to 0."""
        out: np.ndarray = (diagonal * x.T).T
        out[m:-1] += (1 - ridge / systems) * x[m:-1].sum(axis=0)
        return out

    def value(x: np.ndarray) -> float:
        d, eta = of_d @ x, of_eta @ x + eta_from
        log_p = score * d / 2 - log_sum(d, eta)
        log_p[tied] += eta[tied]
        return float(counts @ log_p - x @ prior(x) / 2)

    def equations(w: tuple[np.ndarray, ...]) -> tuple[Callable[[np.ndarray], np.ndarray], np.ndarray]:
        """The product with the Hessian, and its diagonal."""
        dd, de, ee = (each[:, None] for each in w)

        def times(x: np.ndarray) -> np.ndarray:
            d, eta = of_d @ x, of_eta @ x
            product: np.ndarray = back_d @ (dd * d + de * eta) + back_eta @ (de * d + ee * eta) + prior(x)
            return product

        own = back_d.power(2) @ w[0] + 2 * (back_d * back_eta) @ w[1] + back_eta.power(2) @ w[2]
        return times, own + diagonal + np.repeat([0.0, 1.0, 0.0], [m, systems, 1])

    x = np.zeros(size)
    current = value(x)
    for _ in range(_STEPS):
        cumulants = Cumulants.of(of_d @ x, of_eta @ x + eta_from, counts)
        gradient = back_d @ (counts * (score / 2 - cumulants.mean)) + back_eta @ (counts * (tied - cumulants.tie))
        gradient -= prior(x)
        times, own = equations(cumulants.second)
        step = _conjugate(times, own, gradient[:, None])[:, 0]
        if gradient @ step < _NEGLIGIBLE:
            break
        while (new := value(x + step)) < current - 1e-12 * abs(current) and np.abs(step).max() > 1e-12:
            step /= 2
        x, current = x + step, new
    sides = np.zeros((size, systems + 1))
    sides[np.arange(m, size), np.arange(systems + 1)] = 1.0
    covariance = _conjugate(times, own, sides)[m:]
    unknown = np.full(len(parts), np.nan)
    return Integrated(np.nan, unknown, x[m:-1].copy(), float(x[-1]) + eta_from, (covariance + covariance.T) / 2)


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
