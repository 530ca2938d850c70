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


def contrasts(x: np.ndarray, y: np.ndarray, clusters: np.ndarray, wanted: np.ndarray) -> Contrasts:
    """Contrasts (q, p) of the coefficients of (n,) y on (n, p) x, which need not have full rank.

    clusters : (n,) names. Effects are identified up to what `wanted` leaves open; a contrast that the data do not
    identify is missing, as is one that fewer than three clusters are worth.
    """
    inverse = np.linalg.pinv(x.T @ x, hermitian=True)
    estimable = np.isclose(wanted @ inverse @ (x.T @ x), wanted, atol=1e-6).all(axis=1)
    reach = wanted @ inverse @ x.T  # (q, n): what each score counts for
    rest = y - x @ (inverse @ (x.T @ y))
    influence, weight = [], []
    for rows in _alike(clusters):  # (k, size): all clusters of one size at once
        part, of_cluster = x[rows], reach[:, rows].transpose(1, 0, 2)
        hat = part @ inverse @ part.transpose(0, 2, 1)
        without = np.linalg.pinv(np.eye(rows.shape[1]) - hat, hermitian=True, rcond=1e-8) @ rest[rows][..., None]
        influence.append((of_cluster @ without)[..., 0])
        weight.append(np.sum(of_cluster**2, axis=2))
    variance, weight = np.sum(np.concatenate(influence) ** 2, axis=0), np.concatenate(weight)
    count, share = len(weight), weight / np.maximum(weight.sum(axis=0), 1e-300)
    df = 1 / np.maximum(np.sum(share**2, axis=0), 1e-300) - 2
    usable = estimable & (df >= 1) & (variance > 1e-12)
    error = np.sqrt(variance * (count - 1) / count)
    values = (wanted @ (inverse @ (x.T @ y)), error, df)
    return Contrasts(*(np.where(usable, value, np.nan) for value in values))


def _alike(clusters: np.ndarray) -> Iterator[np.ndarray]:
    """(k, size) places of the members of all clusters of one size, for each size."""
    code = numbered(clusters)
    size, order = np.bincount(code), np.argsort(code, kind="stable")
    first = np.cumsum(size) - size
    for one in np.unique(size):
        yield order[first[size == one][:, None] + np.arange(one)]
