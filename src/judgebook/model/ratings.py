"""One linear mixed model of the judgements of single items on a label: systems fixed, what is a sample random.

Contexts, items (contexts within systems), annotators, and annotators within systems are samples, as far as the design
tells them apart; what it does not is left out with the reason. Variances are estimated by restricted maximum likelihood
(`statistics.reml`). Differences of systems have Satterthwaite's degrees of freedom: 2 over the relative variance of
their estimated variance, by the delta method.

References
----------
Baayen, Davidson and Bates 2008, Journal of Memory and Language 59, 390-412 (subjects and items as samples). Giesbrecht
and Burns 1985, Biometrics 41, 477-486, and Fai and Cornelius 1996, Journal of Statistical Computation and Simulation 54,
363-378 (Satterthwaite's degrees of freedom with REML). Kuznetsova, Brockhoff and Christensen 2017, Journal of
Statistical Software 82(13) (the same in `lmerTest`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, log

import numpy as np

from judgebook.model.contrasts import Levels
from judgebook.model.judgements import Judgements, crossed
from judgebook.statistics.reml import RestrictedDeviance, best_ratios

CONTEXT, ITEM, ANNOTATOR, TASTE, RESIDUAL = "context", "item", "annotator", "annotator_system", "residual"
#: step of logarithms of ratios for derivatives
_STEP = 1e-2


@dataclass(frozen=True)
class RatingsFit:
    """The model of one label.

    judgements : what it was fitted to. levels : means of systems on the scale of the scores. variances : of each part
    that is in the model, the residual last. left_out : part -> why it is not.
    """

    judgements: Judgements
    levels: Levels
    variances: dict[str, float]
    left_out: dict[str, str]

    @property
    def others(self) -> bool:
        """Whether statements hold for other annotators like these."""
        return TASTE in self.variances or ANNOTATOR in self.variances


def fit(judgements: Judgements) -> RatingsFit:
    """Raises ValueError where there are not two systems, or no more judgements than systems."""
    left_out: dict[str, str] = {}
    parts = dict(_parts(judgements, left_out))
    y = judgements.score.astype(float)
    x = np.zeros((len(y), len(judgements.systems)))
    x[np.arange(len(y)), judgements.system] = 1.0
    scale = float(np.abs(y - y.mean()).max()) or 1.0
    centre = y.mean()
    model = RestrictedDeviance((y - centre) / scale, x, list(parts.values()))
    ratios = best_ratios(model)
    covariance, df, residual, means = _levels(model, ratios)
    variances = dict(zip(parts, (ratios * residual * scale**2).tolist(), strict=True)) | {RESIDUAL: residual * scale**2}
    return RatingsFit(judgements, Levels(means * scale + centre, covariance * scale**2, df), variances, left_out)


def _parts(j: Judgements, left_out: dict[str, str]) -> Iterator[tuple[str, np.ndarray]]:
    """What is random: name and (n,) codes of its levels. What the design does not tell apart is noted in `left_out`."""
    n, seen = len(j), dict[str, np.ndarray]()
    taste = None if j.annotator is None else crossed(j.annotator, j.system)
    for name, codes in ((ITEM, j.item), (CONTEXT, j.context), (ANNOTATOR, j.annotator), (TASTE, taste)):
        if codes is None:
            left_out[name] = "who judged is not known"
            continue
        levels = int(codes.max()) + 1
        within = _finer(j.system, codes)  # each system has one level
        same = next((other for other, of in seen.items() if _same(of, codes)), None)
        if levels < 2:
            left_out[name] = "there is only one"
        elif levels == n:
            left_out[name] = "each has a single judgement"
        elif within:
            left_out[name] = "each system has only one"
        elif same:
            left_out[name] = f"the same as {same}"
        else:
            seen[name] = codes
            yield name, codes


def _finer(fine: np.ndarray, coarse: np.ndarray) -> bool:
    """Whether all judgements with the same code in `fine` have the same in `coarse`."""
    return int(crossed(fine, coarse).max()) == int(fine.max())


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return _finer(a, b) and _finer(b, a)


def _levels(model: RestrictedDeviance, ratios: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, np.ndarray]:
    """Covariance of the coefficients, degrees of freedom of their differences, residual variance, coefficients.

    The residual variance given the ratios is independent of these (asymptotically), and chi-square with n - p degrees
    of freedom: the relative variance of a contrast's variance is 2 / (n - p) + g' V g, g its logarithmic gradient by the
    log ratios and V their covariance, 2 over the Hessian of the deviance. A ratio of 0 is taken as known.
    """
    at, free = model.solve(ratios), np.flatnonzero(ratios > 0)
    first, second = np.triu_indices(model.p, 1)

    def of_pairs(c: np.ndarray) -> np.ndarray:
        return np.diag(c)[first] + np.diag(c)[second] - 2 * c[first, second]

    covariance = at.residual * model.with_coefficients(at)[:, model.m :]
    slopes, hessian = np.zeros((len(free), len(first))), np.zeros((len(free), len(free)))
    for k, i in enumerate(free):
        ends = []
        for sign in (1, -1):
            trial = ratios.copy()
            trial[i] *= np.exp(sign * _STEP)
            moved = model.solve(trial)
            c = of_pairs(moved.residual * model.with_coefficients(moved)[:, model.m :])
            ends.append((np.log(np.maximum(c, 1e-300)), moved.gradient[free]))
        slopes[k] = (ends[0][0] - ends[1][0]) / (2 * _STEP)
        hessian[k] = (ends[0][1] - ends[1][1]) / (2 * _STEP)
    values, vectors = np.linalg.eigh((hessian + hessian.T) / 2)
    known = values > 1e-8 * max(1.0, np.abs(values).max(initial=0.0))
    along = vectors[:, known].T @ slopes
    relative = 2 / (model.n - model.p) + 2 * (along**2 / values[known, None]).sum(axis=0)
    df = np.full((model.p, model.p), inf)
    df[first, second] = df[second, first] = 2 / relative
    return covariance, df, at.residual, at.values[model.m :]
