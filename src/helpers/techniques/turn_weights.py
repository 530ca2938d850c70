"""Which turns of a conversation count for the rating of the whole? (Smith et al. 2022, section 4.3.1, Figure 6)"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.special import stdtrit

#: least number of conversations per coefficient
LEAST = 3


def conversations(marks: pd.DataFrame, ratings: pd.DataFrame) -> pd.DataFrame:
    """One row per conversation and annotator with both: the mean mark at each turn (columns 1, 2, …) and `rating`.

    marks : annotations by turn; ratings : annotations of whole dialogues, by the same annotators. Both are averaged
    over labels, as the paper does to reduce noise. Conversations that lack a turn are left out.
    """
    key = ["corpus", "group", "system", "dialogue", "annotator"]
    turns = marks.groupby([*key, "turn"])["score"].mean().unstack("turn")  # noqa: PD010 (one value a place)
    turns.columns = [int(t) + 1 for t in turns.columns]
    out = turns.join(ratings.groupby(key)["score"].mean().rename("rating"), how="inner").dropna()
    return out.reset_index()


def coefficients(x: np.ndarray, y: np.ndarray, confidence: float = 0.95) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coefficients of the columns of x in a least-squares fit of y with an intercept, and the ends of their intervals.

    Parameters
    ----------
    x, y : (n, k) and (n,) arrays

    Returns
    -------
    tuple of three (k,) arrays
        Intervals use the covariance HC3, which allows for heteroscedasticity, and Student's t. NaN where the columns do
        not determine the coefficients or there are too few rows.

    References
    ----------
    MacKinnon and White 1985, Journal of Econometrics 29, 305-325.
    """
    design = np.column_stack([np.ones(len(x)), x])
    none = np.full(x.shape[1], np.nan)
    if len(x) < LEAST * design.shape[1] or np.linalg.matrix_rank(design) < design.shape[1]:
        return none, none, none
    inverse = np.linalg.inv(design.T @ design)
    beta = inverse @ design.T @ y
    leverage = np.einsum("ij,ij->i", design @ inverse, design)
    if np.any(leverage > 1 - 1e-9):
        return beta[1:], none, none
    residual = (y - design @ beta) / (1 - leverage)
    covariance = inverse @ (design.T * residual**2) @ design @ inverse
    half = stdtrit(len(x) - design.shape[1], (1 + confidence) / 2) * np.sqrt(np.diag(covariance))
    return beta[1:], (beta - half)[1:], (beta + half)[1:]


def by_turn(rows: pd.DataFrame, confidence: float = 0.95) -> Iterator[dict]:
    """Coefficients of each turn for every system, and for all together (`system` missing): rows of `turn_coefficient`.

    rows : from `conversations`. Smith et al. 2022, Figure 6.
    """
    turns = [c for c in rows if isinstance(c, int)]
    for (corpus, group), part in rows.groupby(["corpus", "group"], sort=False):
        for system, own in [*part.groupby("system", sort=False), (None, part)]:
            found = coefficients(own[turns].to_numpy(float), own["rating"].to_numpy(float), confidence)
            note = None if np.isfinite(found[0]).all() else "too few conversations, or a turn that never varies"
            head = {"statistic": "turn_coefficient", "corpus": corpus, "group": group, "system": system, "n": len(own)}
            head |= {"level": "dialogue", "ci_kind": "t", "resample_unit": "dialogue", "note": note}
            for turn, estimate, low, high in zip(turns, *found, strict=True):
                yield head | {"turn": turn, "estimate": estimate, "ci_low": low, "ci_high": high}
