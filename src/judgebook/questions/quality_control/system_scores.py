"""Conclusions about pairs of systems that two runs share.

Ji et al. 2022 call a conclusion identical when both runs agree on it, in both directions (section 4.2). Such a share
mixes two kinds of disagreement, which are distinguished here: one run contradicts the other, or one run finds what the
other lacks the power to find.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr

from judgebook.questions.agreement.coefficients import cohen_kappa


def wald(gaps: pd.DataFrame) -> pd.Series:
    """Two-sided p-values of differences (estimate) from their jackknife standard errors (jackknife_error) over workers,
    by Student's t with one degree of freedom fewer than there are workers with equal loads (effective).

    Normal quantiles would reject 7% to 13% of true nulls with 6 to 20 workers, and 8% to 9% with 200 of whom one did a
    sixth of the work; this test rejects 5% to 6% (`benchmarks/levels/other_tests.csv`).
    """
    t = gaps["estimate"] / gaps["jackknife_error"].where(gaps["jackknife_error"] > 0)
    return 2 * stdtr(gaps["effective"] - 1, -np.abs(t))


def conclusions(gaps: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """What is concluded of each pair, by corpus (columns): 1 the first system is better, -1 worse, 0 open.

    gaps : `system_gap` with a two-sided `p_value`. The result has both orientations of a pair.
    """
    columns = ["corpus", "system", "system_b"]
    forth = gaps[columns].assign(sign=np.sign(gaps["estimate"]).where(gaps["p_value"] < alpha, 0).astype(int))
    back = forth.rename(columns={"system": "system_b", "system_b": "system"}).assign(sign=-forth["sign"])
    signs = pd.concat([forth, back]).set_index(columns)["sign"].unstack("corpus")  # noqa: PD010
    return signs[list(dict.fromkeys(gaps["corpus"]))]


def concordance(gaps: pd.DataFrame, alpha: float) -> Iterator[dict[str, Any]]:
    """How far the conclusions of each corpus are those of the first one: `concordance`.

    `of` is identical (share of pairs), contradiction (number of pairs found different with the opposite sign),
    power_mismatch (number found different in one corpus only), chance (share identical if conclusions were permuted in
    each corpus) or kappa (Cohen's, of both orientations, so that the order within a pair does not matter); and, for
    each corpus by itself, significant (number of pairs). n counts pairs.
    """
    concluded = conclusions(gaps, alpha)
    base = concluded.columns[0]
    for corpus in concluded:
        x, y = concluded[base].to_numpy(), concluded[corpus].to_numpy()
        values = {"significant": np.sum(y != 0) / 2}
        if corpus != base:
            share = [[np.mean(v == s) for s in (-1, 0, 1)] for v in (x, y)]
            values |= {"identical": np.mean(x == y), "chance": float(np.dot(share[0], share[1]))}
            values |= {"contradiction": np.sum(x * y < 0) / 2, "power_mismatch": np.sum((x == 0) != (y == 0)) / 2}
            values["kappa"] = cohen_kappa(np.column_stack([x, y]).astype(float))[0]
        row = {
            "statistic": "concordance",
            "corpus": corpus,
            "level": "system",
            "n": len(concluded) // 2,
            "alpha": alpha,
        }
        for of, value in values.items():
            yield row | {"of": of, "against": None if of == "significant" else base, "estimate": value}
