"""Which turns of a conversation count for the rating of the whole? (Smith et al. 2022, section 4.3.1, Figure 6)"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from judgebook.questions.techniques.turn_ratings import Paired

#: least number of conversations per coefficient
LEAST = 3


def coefficients(
    x: np.ndarray,
    y: np.ndarray,
    confidence: float = 0.95,
    *,
    clusters: np.ndarray | None = None,
    contrasts: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coefficients of the columns of x in a least-squares fit of y with an intercept, and the ends of their intervals.

    Parameters
    ----------
    x, y : (n, k) and (n,) arrays
    clusters : (n,) array, optional
        Which rows are not independent; by default all are.
    contrasts : (q, k) array, optional
        Linear combinations of coefficients to give instead of the coefficients.

    Returns
    -------
    tuple of three (k,) or (q,) arrays
        Intervals use what the fit changes without each cluster in turn (CR3), which for independent rows is HC3 and
        allows for heteroscedasticity, and Student's t with n - k - 1 degrees of freedom, or with one less than there
        are clusters. NaN where the columns do not determine the coefficients or there are too few clusters.

    References
    ----------
    MacKinnon and White 1985, Journal of Econometrics 29, 305-325. MacKinnon, Nielsen and Webb 2023, Journal of Applied
    Econometrics 38, 671-694 (without their factor (G - 1) / G, which HC3 has not).
    """
    design = np.column_stack([np.ones(len(x)), x])
    codes = np.arange(len(x)) if clusters is None else pd.factorize(clusters)[0]
    n_clusters = int(codes.max()) + 1 if len(codes) else 0
    weights = np.eye(x.shape[1]) if contrasts is None else np.atleast_2d(contrasts)
    none = np.full(len(weights), np.nan)
    if n_clusters < LEAST * design.shape[1] or np.linalg.matrix_rank(design) < design.shape[1]:
        return none, none, none
    inverse = np.linalg.inv(design.T @ design)
    beta = inverse @ design.T @ y
    changes = _without_each(design, y - design @ beta, inverse, codes)
    estimate = weights @ beta[1:]
    if changes is None:
        return estimate, none, none
    df = n_clusters - 1 if n_clusters < len(x) else len(x) - design.shape[1]
    half = stdtrit(df, (1 + confidence) / 2) * np.linalg.norm(changes[:, 1:] @ weights.T, axis=0)
    return estimate, estimate - half, estimate + half


def _without_each(design: np.ndarray, residual: np.ndarray, inverse: np.ndarray, codes: np.ndarray):
    """(clusters, k + 1) what leaving out each cluster changes in the fit; None where the fit depends on one cluster."""
    out = []
    for rows in np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1]):
        own = design[rows]
        left = np.eye(len(rows)) - own @ inverse @ own.T
        if np.linalg.eigvalsh(left)[0] < 1e-9:
            return None
        out.append(inverse @ own.T @ np.linalg.solve(left, residual[rows]))
    return np.array(out)


def by_turn(both: Paired, confidence: float = 0.95) -> Iterator[dict]:
    """Coefficients of each turn for every system, and for all together (`system` missing): rows of `turn_coefficient`.

    For all together also `turn_recency`: the mean coefficient of the `first` half of turns and of the `second` (the
    middle one of an odd number belongs to neither), and their `difference`; and `turn_conversations`, how many
    conversations, and whose. Conversations are independent unless one person rated several; then people are. Smith et
    al. 2022, Figure 6.
    """
    rows, turns = both.rows, both.turns
    head = both.head | {"level": "dialogue", "n": len(rows)}
    keys = {"statistic": "turn_conversations", "people": both.people, "counted": both.counted}
    yield head | keys | {"estimate": rows["dialogue"].nunique()}
    for system, own in [*rows.groupby("system", sort=False), (None, rows)]:
        data = own[turns].to_numpy(float), own["rating"].to_numpy(float), confidence
        clusters, unit = _clusters(own)
        head |= {"system": system, "n": len(own), "ci_kind": "t", "resample_unit": unit}
        found = coefficients(*data, clusters=clusters)
        note = None if np.isfinite(found[0]).all() else "too few conversations, or a turn that never varies"
        for turn, values in zip(turns, _values(found), strict=True):
            yield head | {"statistic": "turn_coefficient", "turn": turn, "note": note} | values
        if system is None and len(turns) > 1 and note is None:
            found = coefficients(*data, clusters=clusters, contrasts=_halves(len(turns)))
            for half, values in zip(("first", "second", "difference"), _values(found), strict=True):
                yield head | {"statistic": "turn_recency", "half": half} | values


def _halves(k: int) -> np.ndarray:
    """(3, k) weights of coefficients: their mean in the first half, in the second, and the difference."""
    h = k // 2
    first, second = (np.array(w) / h for w in ([1.0] * h + [0.0] * (k - h), [0.0] * (k - h) + [1.0] * h))
    return np.stack([first, second, second - first])


def _values(found: tuple[np.ndarray, ...]) -> Iterator[dict[str, float]]:
    yield from (dict(zip(("estimate", "ci_low", "ci_high"), v, strict=True)) for v in zip(*found, strict=True))


def _clusters(rows: pd.DataFrame) -> tuple[np.ndarray | None, str]:
    """Which rows belong together, and what that unit is: a person's conversations, or a conversation's people."""
    if rows["annotator"].isna().all() or not (rows["annotator"].duplicated() | rows["dialogue"].duplicated()).any():
        return None, "dialogue"
    unit = "dialogue" if rows["dialogue"].duplicated().any() else "annotator"
    return rows[unit].to_numpy(), unit
