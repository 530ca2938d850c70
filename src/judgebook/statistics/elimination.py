"""Sparse symmetric equations, solved by eliminating unknowns: the determinant, the solution, and the inverse where the
matrix has entries.

Unknowns that do not meet are eliminated together, those that meet fewest others first, for as long as that costs less
than to leave them in the dense matrix of the rest. Which ones and in what order depends on where entries are and not on
their values, and is found once.

References: George and Liu 1989, SIAM Review 31, 1-19 (minimum degree, multiple elimination); Erisman and Tinney 1975,
Communications of the ACM 18, 177-179 (the inverse where the matrix has entries).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

#: unknowns are eliminated together that meet up to this many times as many others as the one that meets fewest
_AS_FEW = 3
#: what one product of two entries, and what one round, cost in multiplications of dense matrices
_PRODUCT, _ROUND = 100, 30_000


@dataclass(frozen=True)
class _Round:
    """Unknowns eliminated together: places of their diagonal entries, and of the other entries in their rows (arms).

    owner : (arms,) which of the unknowns. first, second : (pairs,) arms of the same unknown, each pair once; target :
    (pairs,) where the product is taken off, as an index of `touched`; half : 1/2 where both arms are the same. sides :
    places of the entries on the right-hand side. column : (arms,) the unknowns met; rows : those eliminated.
    """

    rows: np.ndarray
    diagonal: np.ndarray
    sides: np.ndarray
    arms: np.ndarray
    owner: np.ndarray
    column: np.ndarray
    first: np.ndarray
    second: np.ndarray
    target: np.ndarray
    touched: np.ndarray
    half: np.ndarray


class Elimination:
    """Equations whose matrix has entries in the same places each time.

    Parameters
    ----------
    pattern : (k + 1, k + 1)
        Where entries are: symmetric, the right-hand side as last row and column. A dense matrix has them everywhere.
    n_last : int
        How many of the last rows are never eliminated, among them the right-hand side. All unknowns meet these.

    Attributes
    ----------
    rows, columns : (entries,) of the lower triangle with its diagonal, row by row: the order of values.
    rounds : what is eliminated. core : (left,) the unknowns that are left, and the right-hand side.
    """

    def __init__(self, pattern: sparse.csr_array | np.ndarray, n_last: int):
        self.size = size = pattern.shape[0]
        self.rows, self.columns = np.tril_indices(size)
        self.dense = isinstance(pattern, np.ndarray)
        rounds = list[tuple[np.ndarray, sparse.coo_array]]()
        if not isinstance(pattern, np.ndarray):
            at, last = pattern.tocoo(), np.arange(size * (size - n_last), size**2)
            keys = np.r_[at.row.astype(np.intp) * size + at.col, np.arange(size) * (size + 1), last]
            self.rows, self.columns = divmod(np.unique(keys[keys // size >= keys % size]), size)
            rounds = _rounds(sparse.csr_array(self.matrix(np.ones(len(self.rows)))), n_last)
        order = np.concatenate([np.zeros(0, np.intp), *(chosen for chosen, _ in rounds)])
        self.core = np.setdiff1d(np.arange(size), order)
        rank = np.empty(size, dtype=np.intp)
        rank[np.r_[order, self.core]] = np.arange(size)
        # entries of what is eliminated, in order, then the dense matrix of the rest
        keys = [rank[chosen] * (size + 1) for chosen, _ in rounds]
        keys += [rank[chosen[arms.row]] * size + rank[arms.col] for chosen, arms in rounds]
        sought = np.sort(np.concatenate([np.zeros(0, np.intp), *keys]))
        self.n_sparse, n_core = len(sought), len(self.core)

        def place(a: np.ndarray, b: np.ndarray) -> np.ndarray:
            """Where the entries of unknowns a and b are."""
            early, late = np.minimum(rank[a], rank[b]), np.maximum(rank[a], rank[b])
            inside = early - len(order)
            dense = len(sought) + (late - len(order)) * n_core + inside
            places: np.ndarray = np.where(inside >= 0, dense, np.searchsorted(sought, early * size + late))
            return places

        self.place = place(self.rows, self.columns)
        self.rounds = [_round(chosen, arms, size - 1, place) for chosen, arms in rounds]

    def entries(self, matrix: sparse.csr_array | np.ndarray) -> np.ndarray:
        """(entries,) values of a matrix."""
        values: np.ndarray = matrix[self.rows, self.columns]
        return values

    def matrix(self, values: np.ndarray) -> sparse.csr_array | np.ndarray:
        """The symmetric matrix of (entries,) values, dense or sparse as the pattern was."""
        at, across = (self.rows, self.columns), (self.columns, self.rows)
        if self.dense:
            full = np.empty((self.size, self.size))
            full[at] = full[across] = values
            return full
        values = np.where(self.rows == self.columns, values / 2, values)
        return sparse.csr_array((np.tile(values, 2), np.concatenate([at, across], axis=1)))

    def solve(self, values: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Log determinant, (k,) solution, and (entries,) of the inverse, 0 for the right-hand side.

        values : (entries,) of a matrix that is positive definite but for the right-hand side."""
        n_core, log_det = len(self.core), 0.0
        a = np.zeros(self.n_sparse + n_core**2)
        a[self.place] = values
        pivots = []
        for r in self.rounds:
            d, b = a[r.diagonal], a[r.arms]
            shrunk = b / d[r.owner]
            a[r.touched] -= np.bincount(r.target, shrunk[r.first] * b[r.second], len(r.touched))
            log_det += float(np.log(d).sum())
            pivots.append((d, shrunk, a[r.sides]))
        core = a[self.n_sparse :].reshape(n_core, n_core)
        inverse, log_det_core = cholesky_inverse(core[:-1, :-1], cholesky(core[:-1, :-1]))
        x = np.zeros(self.size)
        x[self.core[:-1]] = inverse @ core[-1, :-1]
        core[:-1, :-1], core[-1] = inverse, 0.0
        for r, (d, shrunk, side) in zip(self.rounds[::-1], pivots[::-1], strict=True):
            n = len(d)
            x[r.rows] = side / d - np.bincount(r.owner, shrunk * x[r.column], n)
            met = a[r.touched][r.target] * r.half
            sums = np.bincount(r.first, shrunk[r.second] * met, len(shrunk))
            sums += np.bincount(r.second, shrunk[r.first] * met, len(shrunk))
            a[r.arms], a[r.sides] = -sums, 0.0
            a[r.diagonal] = 1 / d + np.bincount(r.owner, sums * shrunk, n)
        return log_det + log_det_core, x[:-1], a[self.place]


def _rounds(meets: sparse.csr_array, n_last: int) -> list[tuple[np.ndarray, sparse.coo_array]]:
    """Of each round the unknowns eliminated, and whom they meet of those that are left: (chosen, all)."""
    size = meets.shape[0]
    left, rounds = np.arange(size), list[tuple[np.ndarray, sparse.coo_array]]()
    while True:
        meets = (meets - sparse.diags_array(meets.diagonal())).tocsr()
        meets.eliminate_zeros()
        degree = np.diff(meets.indptr)
        chosen = _apart(meets, degree, len(left) - n_last)
        if len(chosen) * len(left) ** 2 <= _PRODUCT * float(degree[chosen] @ degree[chosen]) + _ROUND:
            return rounds
        rest = np.setdiff1d(np.arange(len(left)), chosen)
        arms = meets[chosen][:, rest]
        at = arms.tocoo()
        rounds.append((left[chosen], sparse.coo_array((at.data, (at.row, left[rest][at.col])), (len(chosen), size))))
        meets, left = meets[rest][:, rest] + arms.T @ arms, left[rest]
        meets.data[:] = 1


def _apart(meets: sparse.csr_array, degree: np.ndarray, n: int) -> np.ndarray:
    """Of the first n unknowns, some that meet about as few as any and not each other."""
    blocked = np.zeros(len(degree), dtype=bool)
    few = np.flatnonzero(degree[:n] <= _AS_FEW * degree[:n].min(initial=len(degree)))
    chosen = []
    for i in few[np.argsort(degree[few], kind="stable")].tolist():
        if not blocked[i]:
            chosen.append(i)
            blocked[meets.indices[meets.indptr[i] : meets.indptr[i + 1]]] = True
    return np.sort(np.array(chosen, dtype=np.intp))


def _round(
    chosen: np.ndarray, arms: sparse.coo_array, side: int, place: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> _Round:
    owner, column = arms.coords
    by_owner = np.argsort(owner, kind="stable")
    owner, column = owner[by_owner].astype(np.intp), column[by_owner].astype(np.intp)
    # each arm with itself and those after it in its row
    ends = np.cumsum(np.bincount(owner, minlength=len(chosen)))[owner]
    times = ends - np.arange(len(owner))
    first = np.repeat(np.arange(len(owner)), times)
    second = np.arange(len(first)) - np.repeat(np.cumsum(times) - times, times) + first
    touched, target = np.unique(place(column[first], column[second]), return_inverse=True)
    return _Round(
        rows=chosen,
        diagonal=place(chosen, chosen),
        sides=place(chosen, np.full(len(chosen), side)),
        arms=place(chosen[owner], column),
        owner=owner,
        column=column,
        first=first,
        second=second,
        target=target,
        touched=touched,
        half=np.where(first == second, 0.5, 1.0),
    )


def cholesky(matrix: np.ndarray) -> np.ndarray | None:
    """The lower factor of a symmetric matrix whose lower triangle alone is read; None where it is not positive within
    rounding."""
    if not matrix.size:  # of which LAPACK says that it is wrong
        return matrix
    factor, wrong = lapack.dpotrf(matrix, lower=True)
    return None if wrong else factor


def cholesky_inverse(matrix: np.ndarray, factor: np.ndarray | None) -> tuple[np.ndarray, float]:
    """Inverse and log determinant of a symmetric matrix whose lower triangle alone is read, from its factor by
    `cholesky`; in less than half the time of `inv`."""
    if not matrix.size:
        return matrix, 0.0
    if factor is None:
        matrix = np.tril(matrix) + np.tril(matrix, -1).T
        return np.linalg.inv(matrix), float(np.linalg.slogdet(matrix)[1])
    lower, _ = lapack.dpotri(factor, lower=True)
    inverse = lower + lower.T  # above the diagonal LAPACK leaves the zeros of the factor
    inverse.flat[:: len(inverse) + 1] /= 2
    return inverse, 2 * float(np.log(factor.diagonal()).sum())
