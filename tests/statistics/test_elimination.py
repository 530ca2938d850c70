"""Sparse symmetric equations against dense ones."""

import numpy as np
import pytest
from scipy import sparse

from judgebook.statistics import elimination
from judgebook.statistics.elimination import Elimination


def equations(k, n_entries, n_last, seed):
    """A positive definite (k + 1, k + 1) matrix with few entries, dense in its last rows, the right-hand side as last
    row; and its pattern, without those rows."""
    rng = np.random.default_rng(seed)
    at = rng.integers(0, k, (2, n_entries))
    matrix = sparse.coo_array((rng.normal(size=n_entries), at), shape=(k + 1, k + 1)).toarray()
    matrix += matrix.T
    pattern = sparse.csr_array(matrix != 0)
    matrix[k + 1 - n_last :] = rng.normal(size=(n_last, k + 1))
    matrix = np.tril(matrix) + np.tril(matrix, -1).T
    np.fill_diagonal(matrix, np.abs(matrix).sum(axis=1) + 1)
    return matrix, pattern


@pytest.mark.parametrize(
    ("k", "n_entries", "n_last"), [(60, 90, 2), (200, 250, 4), (40, 0, 1), (90, 2000, 3), (2, 1, 1)]
)
@pytest.mark.parametrize("costs", [(100, 30_000), (0, 0)], ids=["as it pays", "to the end"])
def test_solution_determinant_and_inverse_are_those_of_dense_matrices(k, n_entries, n_last, costs, monkeypatch):
    monkeypatch.setattr(elimination, "_PRODUCT", costs[0])
    monkeypatch.setattr(elimination, "_ROUND", costs[1])
    matrix, pattern = equations(k, n_entries, n_last, seed=k)
    for where in (pattern, np.ones((k + 1, k + 1))):
        found = Elimination(where, n_last)
        if costs == (0, 0):
            assert len(found.core) == (n_last if where is pattern else k + 1)
        log_det, solution, inverse = found.solve(found.entries(matrix))
        left = matrix[:-1, :-1]
        assert log_det == pytest.approx(np.linalg.slogdet(left)[1], rel=1e-12)
        assert solution == pytest.approx(np.linalg.solve(left, matrix[-1, :-1]), abs=1e-12)
        expected = np.pad(np.linalg.inv(left), (0, 1))
        assert inverse == pytest.approx(expected[found.rows, found.columns], abs=1e-12)
        full = found.matrix(found.entries(matrix))
        assert (full if isinstance(full, np.ndarray) else full.toarray()) == pytest.approx(matrix)


def test_unknowns_that_meet_few_are_eliminated_where_it_pays():
    """Of a sparse matrix most are; of one with entries nearly everywhere none, whatever its size."""
    sparse_one, crowded = (equations(300, n, 2, seed=1)[1] for n in (350, 90_000))
    assert len(Elimination(sparse_one, 2).core) < 60
    assert len(Elimination(crowded, 2).core) == 301


def test_a_matrix_that_is_not_positive_within_rounding_is_inverted_all_the_same():
    matrix = np.array([[1.0, 2.0, 1.0], [2.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    log_det, solution, _ = (found := Elimination(matrix, 1)).solve(found.entries(matrix))
    assert log_det == pytest.approx(np.log(3))
    assert solution == pytest.approx([-1 / 3, 2 / 3])
