"""Agreement on rare marks by three raters or more: intervals from the likelihood of a beta-binomial model.

The number of marks of an item with m raters is taken to be beta-binomial with mean m pi and correlation rho, which in
large samples is alpha at the nominal level. An interval of any measure is its range over the pairs (pi, rho) whose
likelihood, maximised over everything else, is not too low: a profile likelihood interval. With two raters the model is
saturated and the exact bound of `bounds` is kept, which covers as well.

The model has raters agree on rare marks for one reason. Where they mark clear items and slip on 1% to 3% of the others,
the interval is too short: with five raters it covers alpha in 60% to 87% of 1,000 simulated studies, with three in 88%
to 96%. `bounds` therefore extends it to the ends of a jackknife interval.

References
----------
Williams 1975, The analysis of binary responses from toxicological experiments, Biometrics 31, 949-952 (the model).
Venzon and Moolgavkar 1988, A method for computing profile-likelihood-based confidence intervals, Applied Statistics 37,
87-94. Donner and Eliasziw 1992, A goodness-of-fit approach to inference procedures for the kappa statistic, Statistics
in Medicine 11, 1511-1519 (the same model for kappa).
"""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.special import betaln, gammaln, stdtrit

#: values of rho and of pi that are tried
_RHO = np.concatenate([[1e-4], np.linspace(0.01, 0.99, 99), [0.9999]])
_PI = np.geomspace(2e-4, 0.7, 150)


@cache
def _log_p(m: int) -> np.ndarray:
    """(rho, pi, m + 1) log probability of 0 to m marks."""
    k = np.arange(m + 1)
    rho, pi = _RHO[:, None, None], _PI[None, :, None]
    a, b = pi * (1 - rho) / rho, (1 - pi) * (1 - rho) / rho
    choose = gammaln(m + 1) - gammaln(k + 1) - gammaln(m - k + 1)
    return choose + betaln(k + a, m - k + b) - betaln(a, b)


def region(marks: np.ndarray, raters: np.ndarray, weights: np.ndarray, trials: float, confidence: float) -> np.ndarray:
    """(rho, pi) of the pairs of the grid whose likelihood is not too low.

    Parameters
    ----------
    marks, raters, weights : (p,)
        Marks and raters of each pattern of an item, and how many items have it.
    trials : float
        How many independent items those with a mark count for: their number, or that of the clusters that hold them.
    confidence : float

    Returns
    -------
    (q, 2) array. Twice the fall of the log-likelihood is compared with the squared quantile of Student's t with
    trials - 1 degrees of freedom, as few items with a mark estimate rho.
    """
    log_l = np.zeros((len(_RHO), len(_PI)))
    for m in np.unique(raters):
        here = raters == m
        log_l += _log_p(int(m))[:, :, marks[here].astype(int)] @ weights[here]
    at_risk = weights[marks > 0].sum()
    fall = 2 * (log_l.max() - log_l) * min(1.0, trials / at_risk)
    i, j = np.nonzero(fall <= stdtrit(max(trials - 1, 1), (1 + confidence) / 2) ** 2)
    return np.stack([_RHO[i], _PI[j]], axis=1)


def ends(found: np.ndarray, prevalence: float) -> dict[str, tuple[float, float]]:
    """Smallest and largest alpha, raw agreement and specific agreement (`rare`, `common`) in a `region`.

    Where independent raters are not excluded, alpha may be as low as raters who never agree on a mark make it.
    """
    rho, pi = found.T
    independent = rho.min() <= _RHO[0]
    values = {
        "alpha": rho,
        "raw_agreement": 1 - 2 * pi * (1 - pi) * (1 - rho),
        "rare": pi + rho * (1 - pi),
        "common": 1 - pi * (1 - rho),
    }
    out = {name: (float(v.min()), float(v.max())) for name, v in values.items()}
    if independent:
        out["alpha"] = (-prevalence / (1 - prevalence), out["alpha"][1])
        out["rare"] = (0.0, out["rare"][1])
    if rho.max() >= _RHO[-1]:
        out = {name: (low, 1.0) for name, (low, _) in out.items()}
    return out
