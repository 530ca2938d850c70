"""Bradley-Terry strengths: how strong systems are that were compared in pairs.

References: Bradley and Terry 1952, Biometrika 39, 324-345; Ford 1957, American Mathematical Monthly 64(8), 28-33 (when
strengths exist).
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from helpers.labels import METHODS
from helpers.resampling import bootstrap_sums, generator
from helpers.schema import condition
from helpers.scores import require_unit

#: an iteration that has not settled by then gives no strengths
MAX_ITERATIONS = 10_000
CELL = ["corpus", "method", "label", "group"]


def bradley_terry(
    comparisons: pd.DataFrame,
    *,
    seed: int,
    unit: str = "session",
    n_resamples: int = 10_000,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Bradley-Terry strengths on the log scale, mean 0 over systems, a tie counting as half a win for either.

    comparisons : one annotation an item, with the column `unit`, which is resampled (BCa). Result rows `bradley_terry`
    a system. Strengths exist only if no split of the systems has one part never winning against the other (Ford 1957):
    else the reason stands instead, and resamples without strengths are counted as undefined.

    `evalica` computes the strengths. Checked against the minorisation-maximisation iteration written out and a
    `statsmodels` logit.
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
        head |= {"condition": condition(resample=unit), "n": len(rows)}
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
    """Log Bradley-Terry strengths with mean 0 from an (m, m) matrix of wins of row over column; NaN where none exist.

    `evalica` does the work. Checked against the minorisation-maximisation iteration and a `statsmodels` logit.
    """
    import evalica  # here, because most notebooks do without

    m = len(wins)
    if not _connected(wins[None])[0]:
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

    evalica's own iteration (Newman 2023, JMLR 24(238), eq. 5) on all matrices together, as calling it for each resample
    takes sixty times as long. Checked against `strengths`.
    """
    out, usable = np.full(wins.shape[:2], np.nan), _connected(wins)
    w, p = wins[usable], np.ones((usable.sum(), wins.shape[1]))
    settled = np.zeros(len(w), dtype=bool)
    for _ in range(MAX_ITERATIONS):
        before = p.copy()
        for i in range(p.shape[1]):
            total = p[:, i, None] + p
            p[:, i] = np.sum(w[:, i] * p / total, axis=1) / np.sum(w[:, :, i] / total, axis=1)
        p /= np.exp(np.log(p).mean(axis=1, keepdims=True))
        settled = np.isclose(p, before, rtol=1e-10, atol=0).all(axis=1)
        if settled.all():
            break
    out[usable] = np.where(settled[:, None], np.log(p), np.nan)
    return out


def _connected(wins: np.ndarray) -> np.ndarray:
    """(k,): whether each of the systems can be reached from each other one along wins (Ford 1957)."""
    reached = (wins > 0) | np.eye(wins.shape[-1], dtype=bool)
    for _ in range(wins.shape[-1].bit_length()):
        reached = reached @ reached
    return reached.all(axis=(1, 2))
