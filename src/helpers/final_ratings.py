"""Which turns of a conversation count for the rating of the whole? (Smith et al. 2022, section 4.3.1, Figure 6)"""

from __future__ import annotations

import numpy as np
import pandas as pd

from helpers.distributions import t_ppf

#: fewer conversations than this for each coefficient give none
LEAST = 3


def conversations(marks: pd.DataFrame, ratings: pd.DataFrame) -> pd.DataFrame:
    """One row a conversation and annotator that has both: its mean mark at each turn (columns 1, 2, …) and `rating`.

    marks : annotations by turn; ratings : annotations of whole dialogues, by the same annotators. Both are averaged
    over labels, as the paper does to reduce noise. Conversations that lack a turn are left out.

    Checked by hand.
    """
    key = ["corpus", "group", "system", "dialogue", "annotator"]
    turns = marks.groupby([*key, "turn"])["score"].mean().unstack("turn")  # noqa: PD010 (one value a place)
    turns.columns = [int(t) + 1 for t in turns.columns]
    out = turns.join(ratings.groupby(key)["score"].mean().rename("rating"), how="inner").dropna()
    return out.reset_index()


def coefficients(x: np.ndarray, y: np.ndarray, confidence: float = 0.95) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coefficients of the columns of x in a least squares fit of y with an intercept, and the ends of their intervals.

    Intervals with the covariance HC3, which allows for unequal spread, and Student's t. Missing (NaN) where the columns
    do not determine the coefficients or there are too few rows. MacKinnon and White 1985, Journal of Econometrics 29,
    305-325. Checked against `statsmodels.OLS(…).fit(cov_type="HC3", use_t=True)`.
    """
    design = np.column_stack([np.ones(len(x)), x])
    none = np.full(x.shape[1], np.nan)
    if len(x) < LEAST * design.shape[1] or np.linalg.matrix_rank(design) < design.shape[1]:
        return none, none, none
    inverse = np.linalg.inv(design.T @ design)
    beta = inverse @ design.T @ y
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    if np.any(leverage > 1 - 1e-9):
        return beta[1:], none, none
    residual = (y - design @ beta) / (1 - leverage)
    covariance = inverse @ (design.T * residual**2) @ design @ inverse
    half = t_ppf((1 + confidence) / 2, len(x) - design.shape[1]) * np.sqrt(np.diag(covariance))
    return beta[1:], (beta - half)[1:], (beta + half)[1:]


def by_turn(rows: pd.DataFrame, confidence: float = 0.95) -> pd.DataFrame:
    """Coefficients of each turn for every system, and for all together (`system` missing).

    rows : `conversations`. Returns corpus, group, system, turn, estimate, ci_low, ci_high, n, note. Checked through
    `coefficients`.
    """
    turns, out = [c for c in rows if isinstance(c, int)], []
    for (corpus, group), part in rows.groupby(["corpus", "group"], sort=False):
        for system, here in [*part.groupby("system", sort=False), (None, part)]:
            found = coefficients(here[turns].to_numpy(float), here["rating"].to_numpy(float), confidence)
            note = None if np.isfinite(found[0]).all() else "too few conversations, or a turn that never varies"
            out += [
                {"corpus": corpus, "group": group, "system": system, "turn": t, "estimate": b, "ci_low": low}
                | {"ci_high": high, "n": len(here), "note": note}
                for t, b, low, high in zip(turns, *found, strict=True)
            ]
    return pd.DataFrame(out)
