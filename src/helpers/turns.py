"""Judgements of single turns: rates at each, and what they add to the rating of the whole (Smith et al. 2022)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import statsmodels.api as sm
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

KEY = ["method", "corpus", "group", "label", "system", "system_b", "turn"]


def by_turn(marks: pd.DataFrame) -> pd.DataFrame:
    """Share of comparisons won (ties as half a win), or of conversations marked, at each turn, with Wilson's interval;
    of marks that are not 0 or 1 the mean, with Student's t interval: Tables 4 and 5, Figure 5.

    marks : of one method. Several marks of a turn are averaged first, so that values are as independent as
    conversations are. Half wins do not add up to a whole number: Wilson's interval is then that of the nearest one.
    """
    two = bool(marks["system_b"].notna().all())
    share = two or bool(marks["score"].isin([0, 1]).all())
    marks = marks.assign(score=(marks["score"] + 1) / 2 if two else marks["score"])
    alike = {"dropna": False, "sort": False, "observed": True}
    once = marks.groupby([*KEY, "dialogue", "dialogue_b"], **alike)["score"].mean()
    out = once.groupby(KEY, **alike).agg(["mean", "sum", "size", "std"]).reset_index()
    if share:
        low, high = proportion_confint(out["sum"].round() if two else out["sum"], out["size"], method="wilson")
    else:
        half = stats.t.ppf(0.975, np.maximum(out["size"] - 1, 1)) * out["std"] / np.sqrt(out["size"])
        low, high = ((out["mean"] + sign * half).where(out["std"] > 0) for sign in (-1, 1))
    kind = {"statistic": "turn_rate", "ci_kind": "wilson"} if share else {"statistic": "turn_mean", "ci_kind": "t"}
    found = {"estimate": out["mean"], "ci_low": low, "ci_high": high, "n": out["size"], "level": "turn"}
    return out[KEY].assign(**found, **kind, turn=out["turn"].astype(int) + 1, resample_unit="conversation")


def coefficients(rows: pd.DataFrame, turns: Sequence[int]) -> pd.DataFrame:
    """Coefficients of the mark at each turn in a least-squares fit of the rating of the whole, with 95% intervals that
    allow for unequal variances (HC3): Figure 6.

    rows : a conversation each, `rating` and a column for each turn. Missing with fewer than three rows a coefficient,
    or where a turn never varies.
    """
    x = sm.add_constant(rows[list(turns)].to_numpy(float), has_constant="add")
    out = pd.DataFrame({"turn": list(turns), "n": len(rows), "ci_kind": "t"})
    if len(rows) < 3 * x.shape[1] or np.linalg.matrix_rank(x) < x.shape[1]:
        return out.assign(estimate=np.nan, note="too few conversations, or a turn that never varies")
    with np.errstate(divide="ignore", invalid="ignore"):
        fit = sm.OLS(rows["rating"].to_numpy(float), x).fit(cov_type="HC3", use_t=True)
        ends = np.where(np.isfinite(fit.bse[1:, None]), fit.conf_int()[1:], np.nan)
    return out.assign(estimate=fit.params[1:], ci_low=ends[:, 0], ci_high=ends[:, 1], note=None)
