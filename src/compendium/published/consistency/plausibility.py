"""Printed numbers that no arithmetic excludes but chance does, and statements of power worked out again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from compendium.published.consistency.ranges import Range


def homogeneity(shares: Sequence[Range], n: Sequence[int]) -> tuple[float, int]:
    """Largest p-value of the hypothesis that parts of one random split have the same share, and the odd part.

    shares : of parts of a split, from 0 to 1; or means of scores from 0 to 1, whose variance is at most
    m (1 - m) (Bhatia and Davis 2000), so that the p-value is too large rather than too small.
    n : sizes of the parts.

    Pearson's chi-squared with every deviation made smaller by as much as rounding allows, and with the largest variance
    that rounding allows. Checked against `scipy.stats.chi2_contingency`, and by simulation: never too small on average.
    """
    from scipy.stats import chi2

    sizes = np.asarray(n, float)
    low, high = (np.array([float(getattr(s, end)) for s in shares]) for end in ("low", "high"))
    middle, half = (low + high) / 2, (high - low) / 2
    pooled, slack = sizes @ middle / sizes.sum(), sizes @ half / sizes.sum()
    deviation = np.clip(np.abs(middle - pooled) - half - slack, 0, None)
    near_half = float(np.clip(0.5, pooled - slack, pooled + slack))  # where m (1 - m) is largest
    terms = sizes * deviation**2 / max(near_half * (1 - near_half), 1e-300)
    return float(chi2.sf(terms.sum(), len(sizes) - 1)), int(np.argmax(terms))


def power(test: str, effect: Range, n: int, alpha: float) -> Range:
    """Power of a two-sided test for effects in the range; it rises with the effect.

    test : `t`, of two independent groups of n each and Cohen's d; or `f`, of a regression of n cases on one predictor
    and Cohen's f. Checked against the noncentral distributions of scipy and R's `power.t.test`.

    Raises ValueError for another test.
    """
    from statsmodels.stats.power import FTestPower, TTestIndPower

    def at(size: float) -> float:
        if test == "t":
            return float(TTestIndPower().power(size, n, alpha))
        if test == "f":
            # statsmodels names the degrees of freedom the other way round; ncc=1: noncentrality is f² n
            return float(FTestPower().power(size, df_num=n - 2, df_denom=1, alpha=alpha, ncc=1))
        raise ValueError(f"test: expected t or f, found {test!r}")

    return Range(at(float(effect.low)), at(float(effect.high)))
