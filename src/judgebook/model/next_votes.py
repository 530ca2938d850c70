"""Which pairs of systems to send to voters next, so that the best is known with the fewest votes.

What is to be known are the differences of systems that may be the best (`every_look.contenders`), each in proportion to
how likely one of the two is the best and, as small ones take more votes, to the inverse of its expected square. Votes
go where they lower the sum of these variances most, a few at a time: an A-optimal design, weighted and built up
sequentially (Pukelsheim 2006, Optimal Design of Experiments, chapter 9). A vote is taken to be by a new voter on a new
prompt, and tells as much as it does on average over what voters and prompts add: the more these vary, the less a vote
between equals tells more than others do. As for the best of several arms, systems that are out get no more votes
(Kalyanakrishnan et al. 2012, ICML).
"""

from __future__ import annotations

import numpy as np

from judgebook.model.comparisons import outcomes
from judgebook.model.contrasts import of_pairs
from judgebook.model.every_look import contenders
from judgebook.model.fit import ANSWER, SIDE, TASTE, Fit

#: points of the normal distribution, and steps in which votes are given to pairs
_POINTS, _STEPS = 15, 200


def information(fit: Fit) -> np.ndarray:
    """(pairs,) Fisher information on the difference of two strengths in one vote by a new voter on a new prompt."""
    gap = np.subtract(*fit.levels.estimates[np.stack(fit.levels.pairs)])
    of_two = 2 * sum(fit.variances.get(part, 0.0) for part in (ANSWER, TASTE)) + fit.variances.get(SIDE, 0.0)
    at, weight = np.polynomial.hermite_e.hermegauss(_POINTS)
    p = outcomes(gap[:, None] + np.sqrt(of_two) * at, -np.inf if fit.log_nu is None else fit.log_nu)
    slope = p * (np.array([0.5, 0.0, -0.5])[:, None, None] - (p[0] - p[2]) / 2)
    chance = np.maximum(p @ weight, 1e-300) / weight.sum()
    return np.asarray(((slope @ weight / weight.sum()) ** 2 / chance).sum(axis=0))


def allocate(fit: Fit, n: int, confidence: float = 0.95, *, direction: int = 1) -> np.ndarray:
    """(pairs,) how many of the next n votes each pair should get, in the order of `Levels.pairs`; none where the best
    is known. direction : 1 where a high strength is good, -1 where it is bad."""
    levels = fit.levels.reversed() if direction < 0 else fit.levels
    (i, j), c, s = levels.pairs, levels.covariance.copy(), len(levels)
    may, votes, tells = contenders(levels, confidence), np.zeros(len(i), int), information(fit)
    if may.sum() == 1:
        return votes
    squares = (levels.estimates[i] - levels.estimates[j]) ** 2 + of_pairs(c)
    matters = np.zeros((s, s))
    matters[i, j] = matters[j, i] = -(levels.p_best[i] + levels.p_best[j]) * (may[i] & may[j]) / squares
    matters.flat[:: s + 1] = -matters.sum(axis=1)
    for some in np.diff(np.linspace(0, n, min(n, _STEPS) + 1).round().astype(int)):
        variance = of_pairs(c)
        pair = int(np.argmax(tells * of_pairs(c @ matters @ c) / (1 + some * tells * variance)))
        along = c[i[pair]] - c[j[pair]]
        c -= np.outer(along, along) * (some * tells[pair] / (1 + some * tells[pair] * variance[pair]))
        votes[pair] += some
    return votes
