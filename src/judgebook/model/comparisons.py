"""A model of votes between two answers on a label: systems fixed, answers and tastes of annotators random.

Davidson's model with ties: a vote is won with weight e^a, lost with e^b, tied with nu e^((a + b) / 2), where a and b are
what the two sides have: strength of the system + effect of this answer (context x system) + taste of this annotator for
the system. Both random parts are normal; what a design does not tell apart is left out with the reason. Strengths and
nu are integrated over together with the random parts (`statistics.paired_laplace`), so that variances are those of
restricted likelihood. Differences have Satterthwaite's degrees of freedom, as in `ratings`.

References
----------
Davidson 1970, Journal of the American Statistical Association 65(329), 317-328. Böckenholt 2001, Psychological Methods
6, 49-66 (random effects of judges in models of pairs). Ford 1957, American Mathematical Monthly 64(8), 28-33 (when
strengths exist). Fai and Cornelius 1996, Journal of Statistical Computation and Simulation 54, 363-378.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, log

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from judgebook.model.contrasts import Levels, of_pairs
from judgebook.model.fit import ANSWER, PEOPLE, TASTE, Fit
from judgebook.model.judgements import crossed
from judgebook.statistics.paired_laplace import Integrated, PairedLaplace

#: least and largest variance that is tried; the least stands for 0
_VARIANCES = (1e-6, 50.0)
#: SD of centred strengths beforehand where the votes alone do not say how large they are
_WEAK = 5.0
#: variances below are 0 where the likelihood does not rise from 0; relative precision of the search
_SMALL, _PRECISION = 1e-3, 1e-8
#: of variances, for derivatives
_STEP = 0.05


@dataclass(frozen=True)
class Comparisons:
    """Votes on one label.

    systems : names, by code. first, second : (n,) codes of the systems of the two sides. score : (n,) 1 where the first
    wins, 0 of a tie, -1. context : (n,) codes from 0 without gaps of what both answered, each vote its own where there
    is none. annotator : (n,) such codes, None where nobody knows who judged. weight : (n,) how often a vote counts.
    """

    systems: tuple[str, ...]
    first: np.ndarray
    second: np.ndarray
    score: np.ndarray
    context: np.ndarray
    annotator: np.ndarray | None = None
    weight: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.score)


def fit(comparisons: Comparisons) -> Fit:
    """The model of one label's votes: log strengths with mean 0.

    Votes with weights enter a pseudo-likelihood, as many as are effective: (sum of w)^2 / sum of w^2.

    Raises ValueError where there are not two systems, or no votes.
    """
    c, left_out, s = comparisons, dict[str, str](), len(comparisons.systems)
    if s < 2 or not len(c):
        raise ValueError(f"expected votes on two systems or more, found {len(c)} on {s}")
    weight = np.ones(len(c)) if c.weight is None else c.weight * (c.weight.sum() / (c.weight @ c.weight))
    parts = dict(_parts(c, left_out))
    apart, note = _apart(c, weight)
    group, codes = 0 * c.first, [c.context if name == ANSWER else c.annotator for name in parts]
    for code in codes:
        group = crossed(group, np.asarray(code))
    # votes alike in everything are one row with a count, whichever side is named first
    turned = c.first > c.second
    low, high = np.where(turned, c.second, c.first), np.where(turned, c.first, c.second)
    score = np.sign(np.where(turned, -c.score, c.score)).astype(int)
    cell = ((group * s + low) * s + high) * 3 + score + 1
    _, row, of = np.unique(cell, return_index=True, return_inverse=True)
    counts = np.bincount(of, weight)
    levels = [(a[row], b[row], np.asarray(g)[row]) for (a, b), g in zip(parts.values(), codes, strict=True)]
    levels = [(np.where(turned[row], b, a), np.where(turned[row], a, b), g) for a, b, g in levels]
    model = PairedLaplace(low[row], high[row], score[row], counts, s, levels, _WEAK**-2 if note else 0.0)
    variances = _best(model)
    found, covariance, df = _levels(model, variances)
    df[apart] = np.nan
    centred = found.strengths - found.strengths.mean()
    of_parts = {name: float(v) if v > _SMALL else 0.0 for name, v in zip(parts, variances, strict=True)}
    kept = np.array([_VARIANCES[0] if name in PEOPLE else v for name, v in zip(parts, variances, strict=True)])
    without = model.evaluate(kept).covariance[:s, :s] if TASTE in parts else covariance
    sides = np.concatenate([c.first, c.second])
    return Fit(
        c.systems,
        Levels(centred, covariance, df),
        of_parts,
        left_out,
        others=TASTE in parts,
        people=np.maximum(of_pairs(covariance - without), 0.0),
        n=len(c),
        n_annotators=0 if c.annotator is None else int(c.annotator.max()) + 1,
        sizes=np.bincount(sides, minlength=s),
        log_nu=found.eta,
        note=note,
    )


def _parts(c: Comparisons, left_out: dict[str, str]) -> Iterator[tuple[str, tuple[np.ndarray, np.ndarray]]]:
    """Random parts: name and the level of each side. What the design does not tell apart is noted in `left_out`."""
    seen, n = dict[str, np.ndarray](), len(c)
    for name, code, one in ((ANSWER, c.context, "context"), (TASTE, c.annotator, "annotator")):
        if code is None:
            left_out[name] = "who judged is not known"
            continue
        both = crossed(np.tile(code, 2), np.concatenate([c.first, c.second]))
        a, b = both[:n], both[n:]
        same = next((other for other, of in seen.items() if _same(of, code)), None)
        if int(code.max()) == 0:
            left_out[name] = f"there is only one {one}"
        elif int(code.max()) + 1 == n:
            left_out[name] = f"each {one} has a single vote"
        elif int(both.max()) + 1 == 2 * n:
            left_out[name] = "each answer was judged once" if name == ANSWER else "each annotator saw a system once"
        elif int(both.max()) + 1 == len(c.systems):
            left_out[name] = f"each system has only one {one}"
        elif same:
            left_out[name] = f"the same as {same}"
        else:
            seen[name] = code
            yield name, (a, b)


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return int(crossed(a, b).max()) == int(a.max()) == int(b.max())


def _apart(c: Comparisons, weight: np.ndarray) -> tuple[np.ndarray, str]:
    """(s, s) which systems no chain of votes joins; and the note on what is assumed where strengths do not exist."""
    s = len(c.systems)
    won, lost = (c.score >= 0) & (weight > 0), (c.score <= 0) & (weight > 0)
    rows, columns = np.r_[c.first[won], c.second[lost]], np.r_[c.second[won], c.first[lost]]
    graph = coo_array((np.ones(len(rows)), (rows, columns)), shape=(s, s)).tocsr()
    pieces, piece = connected_components(graph, directed=False)
    above, _ = connected_components(graph, directed=True, connection="strong")
    what = ""
    if pieces > 1:
        what = "no votes join some systems with others"
    elif above > 1:
        what = "some systems never win against the others"
    elif not np.any(c.score):
        what = "every vote is a tie"
    note = f"{what}: strengths are taken as normal beforehand, with SD {_WEAK:g}" if what else ""
    return piece[:, None] != piece, note


def _best(model: PairedLaplace) -> np.ndarray:
    """(parts,) variances of largest integrated likelihood."""
    if not model.parts:
        return np.zeros(0)

    def evaluate(logs: np.ndarray) -> tuple[float, np.ndarray]:
        at = model.evaluate(np.exp(logs))
        return -at.log_likelihood, -at.gradient * np.exp(logs)

    logs, bounds = np.full(model.parts, log(0.3)), [(log(_VARIANCES[0]), log(_VARIANCES[1]))] * model.parts
    for _ in range(model.parts + 1):
        found = minimize(
            evaluate, logs, jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": _PRECISION, "gtol": 1e-2}
        )
        logs = found.x
        # by logarithms all slopes vanish towards 0, where a first step that is too long ends
        small = logs < log(_SMALL)
        rises = (
            small & (model.evaluate(np.where(small, _VARIANCES[0], np.exp(logs))).gradient > 0)
            if small.any()
            else small
        )
        logs = np.where(rises, log(10 * _SMALL), np.where(small, log(_VARIANCES[0]), logs))
        if not rises.any():
            break
    return np.exp(logs)


def _levels(model: PairedLaplace, variances: np.ndarray) -> tuple[Integrated, np.ndarray, np.ndarray]:
    """The model at its variances, the covariance of strengths, and degrees of freedom of their differences.

    The relative variance of a difference's variance is g' V g, g its logarithmic gradient by the variances of parts and
    V the covariance of these, the inverse of minus the Hessian of the integrated likelihood. Both are taken to one side,
    as a variance may be 0.
    """
    s = model.systems
    first, second = np.triu_indices(s, 1)

    def of_pairs(at: Integrated) -> np.ndarray:
        c = at.covariance
        return np.log(np.diag(c)[first] + np.diag(c)[second] - 2 * c[first, second])

    k = len(variances)
    slopes, hessian = np.zeros((k, len(first))), np.zeros((k, k))
    moved = [model.evaluate(variances + step) for step in np.diag(_STEP * (variances + _STEP))]
    at = model.evaluate(variances)
    for i, up in enumerate(moved):
        step = _STEP * (variances[i] + _STEP)
        slopes[i] = (of_pairs(up) - of_pairs(at)) / step
        hessian[i] = (at.gradient - up.gradient) / step
    values, vectors = np.linalg.eigh((hessian + hessian.T) / 2)
    known = values > 1e-8 * max(1.0, np.abs(values).max(initial=0.0))
    along = vectors[:, known].T @ slopes
    relative = (along**2 / values[known, None]).sum(axis=0)
    df = np.full((s, s), inf)
    with np.errstate(divide="ignore"):
        df[first, second] = df[second, first] = 2 / relative
    return at, at.covariance[:s, :s], df
