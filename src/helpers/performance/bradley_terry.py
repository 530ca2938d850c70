"""Bradley-Terry strengths of systems that were compared in pairs.

References
----------
Bradley and Terry 1952, Biometrika 39, 324-345. Ford 1957, American Mathematical Monthly 64(8), 28-33 (existence).
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from helpers.annotations.scores import require_unit
from helpers.stats.intervals import generator
from helpers.stats.resampling import bootstrap_sums
from helpers.study.labels import METHODS
from helpers.study.schema import SYSTEM_CELL

#: an iteration that has not converged by then gives no strengths
MAX_ITERATIONS = 10_000
#: strengths are of the systems of one label in one corpus and group
CELL = SYSTEM_CELL[:-1]


def bradley_terry(
    comparisons: pd.DataFrame,
    *,
    seed: int,
    unit: str = "session",
    n_resamples: int = 10_000,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Bradley-Terry strengths on the log scale, mean 0 over systems, a tie counting as half a win for either.

    Strengths exist only if no split of the systems has one part never winning against the other (Ford 1957); otherwise
    the note says so, and resamples without strengths are counted as undefined.

    Parameters
    ----------
    comparisons : DataFrame
        One annotation per item, with the column `unit`, which is resampled (BCa).

    Returns
    -------
    DataFrame of rows `bradley_terry`, one per label and system.
    """
    require_unit(comparisons, unit)
    out = []
    for key, rows in comparisons.groupby(CELL, sort=False):
        systems = sorted({*rows["system"], *rows["system_b"]})
        m, names = len(systems), pd.Index(systems)
        left, right = names.get_indexer(rows["system"]), names.get_indexer(rows["system_b"])
        codes, won = rows[unit].factorize()[0], (rows["score"].to_numpy(dtype=float) + 1) / 2
        sums = np.zeros((codes.max() + 1, m, m))
        np.add.at(sums, (codes, left, right), won)
        np.add.at(sums, (codes, right, left), 1 - won)
        head = {**dict(zip(CELL, key, strict=True)), "level": METHODS[key[1]].unit, "statistic": "bradley_terry"}
        head |= {"resample": unit, "n": len(rows), "seed": seed}
        estimate = strengths(sums.sum(axis=0))
        if not np.isfinite(estimate).all():
            reason = "one group of systems never wins against the others: strengths do not exist"
            none = {"estimate": np.nan, "ci_kind": "not_estimable", "resample_unit": unit, "note": reason}
            out += [{**head, "system": s, **none} for s in systems]
            continue
        found = bootstrap_sums(
            sums.reshape(len(sums), -1),
            lambda t, m=m: resampled_strengths(t.reshape(-1, m, m)),
            unit=unit,
            rng=generator(seed, "bradley_terry", unit, *key),
            n_resamples=n_resamples,
            confidence=confidence,
        )
        out += [
            {**head, "system": s, **f.row(), "estimate": e} for s, f, e in zip(systems, found, estimate, strict=True)
        ]
    return pd.DataFrame(out)


def strengths(wins: np.ndarray) -> np.ndarray:
    """(m,) log strengths with mean 0 from an (m, m) matrix of wins of row over column; NaN where none exist."""
    import evalica  # here, because few notebooks need it

    m = len(wins)
    if not connected(wins[None])[0]:
        return np.full(m, np.nan)
    i, j = np.nonzero(wins)
    found = evalica.bradley_terry(
        i.tolist(),
        j.tolist(),
        [evalica.Winner.X] * len(i),
        index=pd.Index(range(m)),
        weights=wins[i, j].tolist(),
        tolerance=1e-10,
        limit=MAX_ITERATIONS,
    )
    log = np.log(found.scores.sort_index().to_numpy())
    return log - log.mean() if found.iterations < found.limit else np.full(m, np.nan)


def resampled_strengths(wins: np.ndarray) -> np.ndarray:
    """`strengths` of many (k, m, m) matrices at once: (k, m), NaN where none exist.

    evalica's own iteration (Newman 2023, JMLR 24(238), eq. 5) on all matrices together; calling it for each resample
    takes sixty times as long.
    """
    out, usable = np.full(wins.shape[:2], np.nan), connected(wins)
    w, p = wins[usable], np.ones((usable.sum(), wins.shape[1]))
    converged = np.zeros(len(w), dtype=bool)
    for _ in range(MAX_ITERATIONS):
        before = p.copy()
        for i in range(p.shape[1]):
            total = p[:, i, None] + p
            p[:, i] = np.sum(w[:, i] * p / total, axis=1) / np.sum(w[:, :, i] / total, axis=1)
        p /= np.exp(np.log(p).mean(axis=1, keepdims=True))
        converged = np.isclose(p, before, rtol=1e-10, atol=0).all(axis=1)
        if converged.all():
            break
    out[usable] = np.where(converged[:, None], np.log(p), np.nan)
    return out


def connected(wins: np.ndarray) -> np.ndarray:
    """(k,) whether every system can be reached from every other along wins (Ford 1957)."""
    reached = (wins > 0) | np.eye(wins.shape[-1], dtype=bool)
    for _ in range(wins.shape[-1].bit_length()):
        reached = reached @ reached
    return reached.all(axis=(1, 2))
