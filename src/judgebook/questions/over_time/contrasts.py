"""Linear contrasts of effects of systems and annotators, with an error that allows for clusters of judgements.

Least squares on indicators; the error of a contrast is that of the jackknife, which leaves out a cluster at a time
(CR3), with degrees of freedom by the effective number of clusters that the contrast rests on.

References
----------
Bell and McCaffrey 2002, Survey Methodology 28, 169-181 (CR3). Carter, Schnepel and Steigerwald 2017, Review of
Economics and Statistics 99, 698-709 (effective number).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtr, stdtrit

from judgebook.statistics.clusters import numbered


@dataclass(frozen=True)
class Contrasts:
    """estimate, error, df : (q,); NaN where the data do not identify a contrast, or hardly any cluster does."""

    estimate: np.ndarray
    error: np.ndarray
    df: np.ndarray

    @property
    def p_values(self) -> np.ndarray:
        """(q,) two-sided."""
        with np.errstate(invalid="ignore", divide="ignore"):
            p: np.ndarray = 2 * stdtr(self.df, -np.abs(self.estimate / self.error))
        return p

    def rows(self, confidence: float) -> list[dict[str, Any]]:
        """Columns of result rows: estimate, interval and p-value."""
        half = stdtrit(self.df, (1 + confidence) / 2) * self.error
        ends = zip(self.estimate, self.estimate - half, self.estimate + half, self.p_values, strict=True)
        return [{"estimate": e, "ci_low": a, "ci_high": b, "ci_kind": "t", "p_value": p} for e, a, b, p in ends]


def indicators(*codes: np.ndarray) -> np.ndarray:
    """(n, p) indicator columns of each of (n,) codes, side by side; p is the sum of their largest values and ones."""
    return np.hstack([np.eye(int(c.max(initial=-1)) + 1)[c] for c in codes])


def contrasts(
    x: np.ndarray, y: np.ndarray, clusters: np.ndarray, wanted: np.ndarray, samples: np.ndarray | None = None
) -> Contrasts:
    """Contrasts (q, p) of the coefficients of (n,) y on (n, p) x, which need not have full rank.

    clusters : (n,) names. samples : (n,) numbers of the samples that are compared, from 0; None: there is one. Degrees
    of freedom are one less than the effective number of clusters in the sample that has fewest. Missing are contrasts
    that the data do not identify, and those for which a sample has fewer than two effective clusters.
    """
    inverse = np.linalg.pinv(x.T @ x, hermitian=True)
    estimable = np.isclose(wanted @ inverse @ (x.T @ x), wanted, atol=1e-6).all(axis=1)
    reach = wanted @ inverse @ x.T  # (q, n): what each score counts for
    code = numbered(clusters)
    rest = y - x @ (inverse @ (x.T @ y))
    influence = []
    for rows in _alike(code):  # (k, size): all clusters of one size at once
        part, of_cluster = x[rows], reach[:, rows].transpose(1, 0, 2)
        hat = part @ inverse @ part.transpose(0, 2, 1)
        without = np.linalg.pinv(np.eye(rows.shape[1]) - hat, hermitian=True, rcond=1e-8) @ rest[rows][..., None]
        influence.append((of_cluster @ without)[..., 0])
    variance, count = np.sum(np.concatenate(influence) ** 2, axis=0), int(code.max()) + 1
    each = np.zeros(len(y), dtype=int) if samples is None else samples
    df = np.min([_effective(reach[:, each == s], code[each == s]) for s in np.unique(each)], axis=0) - 1
    usable = estimable & (df >= 1) & (variance > 1e-12)
    error = np.sqrt(variance * (count - 1) / count)
    values = (wanted @ (inverse @ (x.T @ y)), error, df)
    return Contrasts(*(np.where(usable, value, np.nan) for value in values))


def _effective(reach: np.ndarray, code: np.ndarray) -> np.ndarray:
    """(q,) effective number of clusters, from what each of (q, n) scores counts for in a contrast."""
    weight = np.array([np.bincount(code, row**2) for row in reach])
    return weight.sum(axis=1) ** 2 / np.maximum(np.sum(weight**2, axis=1), 1e-300)


def _alike(code: np.ndarray) -> Iterator[np.ndarray]:
    """(k, size) places of the members of all clusters of one size, for each size."""
    size, order = np.bincount(code), np.argsort(code, kind="stable")
    first = np.cumsum(size) - size
    for one in np.unique(size):
        yield order[first[size == one][:, None] + np.arange(one)]
