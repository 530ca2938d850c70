"""One linear mixed model of the judgements of single items on a label: systems fixed, what is a sample random.

Contexts, items (contexts within systems), annotators, and annotators within systems are samples, as far as the design
tells them apart; what it does not is left out with the reason. Variances are estimated by restricted maximum likelihood
(`statistics.reml`); differences of systems have Satterthwaite's degrees of freedom.

Satterthwaite's degrees of freedom of a variance v are 2 v^2 / (g' W g): g its derivatives by the variances of the parts
and of the residual, W their covariance, here the inverse of the expected information, with elements tr(P Vi P Vj) / 2.
A variance whose estimate is 0 counts as estimated, too, unlike in `lmerTest`, which takes it as known: with two
annotators, four equal systems and no taste to be seen (a third of studies), 15% of studies then said something wrong.
Elsewhere the two agree.

References
----------
Baayen, Davidson and Bates 2008, Journal of Memory and Language 59, 390-412 (subjects and items as samples). Giesbrecht
and Burns 1985, Biometrics 41, 477-486, and Fai and Cornelius 1996, Journal of Statistical Computation and Simulation
54, 363-378 (with restricted likelihood). Kenward and Roger 1997, Biometrics 53, 983-997 (expected information;
covariance). Kuznetsova, Brockhoff and Christensen 2017, Journal of Statistical Software 82(13) (`lmerTest`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import exp, log, nan

import numpy as np
from scipy import sparse
from scipy.optimize import brentq
from scipy.special import chdtri

from judgebook.model.contrasts import Levels, of_pairs
from judgebook.model.fit import (
    ANNOTATOR,
    CONTEXT,
    ITEM,
    PEOPLE,
    RESIDUAL,
    RUN,
    TASTE,
    Fit,
    Judgements,
    confounded,
    crossed,
)
from judgebook.statistics.reml import LIMITS, RestrictedDeviance, best_ratios

#: why a part is left out: it cannot be told from the systems; its effects are 0
ONE_EACH, NO_EFFECT = "each system has only one", "all judgements of an item are the same"
#: residual variance of scores that range over 1, below which there is none
_NO_RESIDUAL = 1e-12
#: ratio of variances that only a residual of 0 has
_MOST = 0.99 * exp(LIMITS[1])
#: of the range of scores: judgements that differ by less are the same
_SAME = 1e-3


def fit(judgements: Judgements, *, others: bool = True, intervals: bool = False) -> Fit:
    """The model of one label's judgements.

    others : whether statements are to hold for other annotators; else what annotators think of single systems is
    theirs, and the dialogues are all that is a sample. intervals : whether shares of annotators in the variance have
    them, which takes a third of the time.

    Where there is nothing to estimate variances from, levels are plain means without covariance, and `note` says why.
    Raises ValueError where there are not two systems.
    """
    every, left_out = judgements, dict[str, str]()
    if len(every.systems) < 2:
        raise ValueError(f"expected two systems, found {len(every.systems)}")
    j = _one_an_item(every) if _repeats(every) else every
    if len(j) <= len(j.systems):
        return _without(every, "no system has two judgements")
    parts = dict(_parts(j, left_out, others=others))
    named, nothing = [*parts, RESIDUAL], dict[str, float]()
    if j is not every:  # what is left is that of items
        left_out.pop(ITEM)
        named, nothing = [*parts, ITEM], {RESIDUAL: 0.0}
        left_out |= dict.fromkeys({ANNOTATOR, TASTE} & left_out.keys(), NO_EFFECT)
    s = len(j.systems)
    x = np.column_stack([_columns(j.system), *_above_mean(j.run)])
    # sums of squares of scores far from 0 would be lost in rounding
    centre, scale = float(j.score.mean()), float(np.ptp(j.score)) or 1.0
    codes = list(parts.values())
    none = [np.zeros(len(j), dtype=np.intp)]  # a part that all scores share stands for none
    model = RestrictedDeviance((j.score - centre) / scale, x, codes or none)
    try:
        ratios = best_ratios(model) if parts else np.zeros(1)
    except ValueError as error:
        return _without(j, str(error))
    at = model.solve(ratios)
    if at.residual < _NO_RESIDUAL or ratios.max() > _MOST:
        return _without(every, "judgements of a system do not vary, or other parts of the design explain all of them")
    variances = at.residual * ratios[: len(parts)]
    covariance, df = (of[:s, :s] for of in uncertainty(x, codes, variances, at.residual))
    if j.weight is not None:
        means, covariance = _weighted(j, parts, variances, at.residual, (j.score - centre) / scale)
    else:
        means = at.values[model.m : model.m + s]
    kept = np.where([name in PEOPLE for name in (parts or [RESIDUAL])], 0.0, ratios)
    exact, without = (model.with_coefficients(one)[:s, model.m : model.m + s] for one in (at, model.solve(kept)))
    of_people = at.residual * (exact - without)
    if j.marks:
        rates = by_rate(j)
        covariance, of_people = covariance * rates, of_people * rates
    n = 0 if every.annotator is None else int(every.annotator.max()) + 1
    return Fit(
        j.systems,
        Levels(centre + scale * means, scale**2 * covariance, df),
        dict(zip(named, (scale**2 * np.append(variances, at.residual)).tolist(), strict=True)) | nothing,
        left_out,
        others=others and n > 1 and left_out.get(ANNOTATOR) != ONE_EACH,
        people=np.maximum(of_pairs(scale**2 * of_people), 0.0),
        n=len(every),
        n_annotators=n,
        sizes=_sizes(every),
        confounded=confounded(every.annotator, ("prompt or session", every.context), ("dialogue", every.item)),
        intervals={name: _interval(model, ratios, i) for i, name in enumerate(parts) if intervals and name in PEOPLE},
    )


def _repeats(j: Judgements) -> bool:
    """Whether items have several judgements, and all judgements of an item are the same: their variance within items is
    0, where no model ends, as its likelihood has no maximum."""
    low, high = np.full(int(j.item.max()) + 1, np.inf), np.full(int(j.item.max()) + 1, -np.inf)
    np.minimum.at(low, j.item, j.score)
    np.maximum.at(high, j.item, j.score)
    return len(low) < len(j) and float(np.max(high - low)) <= _SAME * float(np.ptp(j.score))


def _one_an_item(j: Judgements) -> Judgements:
    """The first judgement of each item: others that are the same say no more of the systems."""
    at = np.unique(j.item, return_index=True)[1]
    weight, run = (None if of is None else of[at] for of in (j.weight, j.run))
    item, context = np.arange(len(at)), np.unique(j.context[at], return_inverse=True)[1]
    annotator = None if j.annotator is None else np.unique(j.annotator[at], return_inverse=True)[1]
    return replace(
        j,
        system=j.system[at],
        item=item,
        context=context,
        annotator=annotator,
        score=j.score[at],
        weight=weight,
        run=run,
    )


def _columns(codes: np.ndarray) -> np.ndarray:
    """(n, levels) indicators of codes."""
    return np.asarray(codes[:, None] == np.arange(int(codes.max()) + 1), dtype=float)


def _above_mean(run: np.ndarray | None) -> list[np.ndarray]:
    """Columns of how far runs lie above their mean, so that levels of systems are for the mean run."""
    return [] if run is None else list((_columns(run)[:, :-1] - (run == run.max())[:, None]).T)


def _sizes(j: Judgements) -> np.ndarray:
    return np.bincount(j.system[np.unique(j.item, return_index=True)[1]], minlength=len(j.systems))


def _without(j: Judgements, reason: str) -> Fit:
    """Plain means, without anything to say of their uncertainty."""
    s, people = len(j.systems), 0 if j.annotator is None else int(j.annotator.max()) + 1
    weight = np.ones(len(j)) if j.weight is None else j.weight
    means, none = np.bincount(j.system, weight * j.score) / np.bincount(j.system, weight), np.full((s, s), nan)
    pairs = np.full(s * (s - 1) // 2, nan)
    left_out = dict.fromkeys(PEOPLE, reason)
    return Fit(j.systems, Levels(means, none, none), {}, left_out, False, pairs, len(j), people, _sizes(j), note=reason)


def by_rate(j: Judgements) -> np.ndarray:
    """(s, s) what covariances of shares of marks are multiplied by: variances are p (1 - p) times a constant, which the
    linear model takes as equal for all systems. Rates are drawn towards 1/2 by one mark of each kind."""
    n = np.bincount(j.system)
    rate = (np.bincount(j.system, j.score).clip(0, n) + 1) / (n + 2)
    spread = rate * (1 - rate)
    root = np.sqrt(spread / np.average(spread, weights=n))
    return np.outer(root, root)


def _interval(model: RestrictedDeviance, ratios: np.ndarray, i: int, confidence: float = 0.95) -> tuple[float, float]:
    """Ends of the share of a part in the variance, where the deviance has risen by the quantile of chi-square with one
    degree of freedom; the other ratios are held."""
    rest, least, allowed = 1 + ratios.sum() - ratios[i], model.solve(ratios).deviance, float(chdtri(1, 1 - confidence))

    def rise(log_ratio: float) -> float:
        trial = ratios.copy()
        trial[i] = exp(log_ratio)
        return model.solve(trial).deviance - least - allowed

    ends, middle = [0.0, 1.0], log(max(ratios[i], exp(LIMITS[0])))
    if rise(LIMITS[0]) > 0:
        ends[0] = exp(brentq(rise, LIMITS[0], middle, xtol=1e-3))
        ends[0] /= ends[0] + rest
    if rise(LIMITS[1]) > 0:
        ends[1] = exp(brentq(rise, middle, LIMITS[1], xtol=1e-3))
        ends[1] /= ends[1] + rest
    return ends[0], ends[1]


def _weighted(
    j: Judgements, parts: Mapping[str, np.ndarray], variances: np.ndarray, residual: float, y: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Means of systems in which an item counts as often as its weight says, and their covariance by the variances of
    the model (as these have no weights, only what is said of the population of items changes)."""
    assert j.weight is not None
    share = j.weight / np.bincount(j.system, j.weight)[j.system]
    covariance = np.diag(np.bincount(j.system, share**2) * residual)
    for codes, variance in zip(parts.values(), variances, strict=True):
        sums = np.zeros((int(codes.max()) + 1, len(j.systems)))
        np.add.at(sums, (codes, j.system), share)
        covariance += variance * sums.T @ sums
    return np.bincount(j.system, share * y), covariance


def _parts(j: Judgements, left_out: dict[str, str], *, others: bool) -> Iterator[tuple[str, np.ndarray]]:
    """What is random: name and (n,) codes of its levels. What the design does not tell apart is noted in `left_out`."""
    n, seen = len(j), dict[str, np.ndarray]()
    taste = None if j.annotator is None else crossed(j.annotator, j.system)
    parts = [] if j.run is None else [(RUN, crossed(j.run, j.system))]
    for name, codes in (*parts, (ITEM, j.item), (CONTEXT, j.context), (ANNOTATOR, j.annotator), (TASTE, taste)):
        if codes is None or (name == TASTE and not others):
            left_out[name] = "who judged is not known" if codes is None else "statements are about these annotators"
            continue
        levels = int(codes.max()) + 1
        within = _finer(j.system, codes)  # each system has one level
        same = next((other for other, of in seen.items() if _same(of, codes)), None)
        if levels < 2:
            left_out[name] = "there is only one"
        elif levels == n:
            left_out[name] = "each has a single judgement"
        elif within:
            left_out[name] = ONE_EACH
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


#: eigenvalues of the information, over the largest, below which the data do not separate variances
_NULL = 1e-10


@dataclass(frozen=True)
class _Information:
    """What data say of variances, those of the r parts and, in `of_residual`, of the residual too.

    covariance : (p, p) of the coefficients, as if variances were known. single : (r,) tr(P Va). traces : (r, r)
    tr(P Va P Vb). slopes : (r, p, p) L Va L', and bends : (r, r, p, p) L Va P Vb L', where L = (X' V^-1 X)^-1 X' V^-1.
    """

    covariance: np.ndarray
    single: np.ndarray
    traces: np.ndarray
    slopes: np.ndarray
    bends: np.ndarray

    def of_residual(self, variances: np.ndarray, residual: float, df: int) -> _Information:
        """With the residual as a last part, which follows from P V P = P and tr(P V) = df."""
        r = len(variances)
        single, slopes = np.append(self.single, 0.0), np.pad(self.slopes, [(0, 1), (0, 0), (0, 0)])
        traces, bends = np.pad(self.traces, (0, 1)), np.pad(self.bends, [(0, 1), (0, 1), (0, 0), (0, 0)])
        traces[:r, -1] = traces[-1, :r] = (single[:r] - traces[:r, :r] @ variances) / residual
        single[-1] = (df - single[:r] @ variances) / residual
        traces[-1, -1] = (single[-1] - traces[-1, :r] @ variances) / residual
        slopes[-1] = (self.covariance - np.tensordot(variances, slopes[:r], 1)) / residual
        bends[:r, -1] = -np.tensordot(bends[:r, :r], variances, (1, 0)) / residual
        bends[-1, :r] = bends[:r, -1].transpose(0, 2, 1)
        bends[-1, -1] = -np.tensordot(variances, bends[:r, -1], 1) / residual
        return _Information(self.covariance, single, traces, slopes, bends)


def uncertainty(
    x: np.ndarray, parts: Sequence[np.ndarray], variances: np.ndarray, residual: float
) -> tuple[np.ndarray, np.ndarray]:
    """Covariance of the coefficients, and degrees of freedom of their differences (off the diagonal) and of each.

    That of known variances is too small where these are estimated: it is corrected as by Kenward and Roger.

    Parameters
    ----------
    x : (n, p) design
    parts : (n,) codes from 0 without gaps, one array per part
    variances : of parts, 0 or more; residual : above 0
    """
    n, p = x.shape
    known = np.asarray(variances, dtype=float)
    told = _information(x, parts, known, residual).of_residual(known, residual, n - p)
    # each variance in units of its own standard error: those of parts may differ by many powers of ten
    unit = np.sqrt(np.maximum(np.diag(told.traces) / 2, 1e-300))
    values, vectors = np.linalg.eigh(told.traces / 2 / np.outer(unit, unit))
    real = values > _NULL * values.max()

    def degrees(of: np.ndarray, g: np.ndarray) -> np.ndarray:
        along = vectors[:, real].T @ (g / unit[:, None])
        return np.asarray(2 * of**2 / ((along**2 / values[real, None]).sum(axis=0)))

    (i, j), own, v = np.triu_indices(p, 1), np.einsum("kii->ki", told.slopes), np.diag(told.covariance)
    df = np.diag(degrees(v, own))
    between = own[:, i] + own[:, j] - 2 * told.slopes[:, i, j]
    df[i, j] = df[j, i] = degrees(v[i] + v[j] - 2 * told.covariance[i, j], between)
    of_variances = (vectors[:, real] / values[real]) @ vectors[:, real].T / np.outer(unit, unit)
    return told.covariance + 2 * np.tensordot(of_variances, told.bends, ((0, 1), (0, 1))), df


def _information(x: np.ndarray, parts: Sequence[np.ndarray], variances: np.ndarray, residual: float) -> _Information:
    """Of the parts; arguments of `uncertainty`.

    The part with most levels, whose block of the covariance is diagonal, is taken out first: V0 is it and the residual,
    S = Z0' W its meetings with all other columns W, and P = V0^-1 - V0^-1 W K W' V0^-1. All else are products of
    matrices as large as there are other levels.
    """
    p, r = x.shape[1], len(parts)
    single, traces, slopes, bends = np.zeros(r), np.zeros((r, r)), np.zeros((r, p, p)), np.zeros((r, r, p, p))
    sizes = [int(codes.max()) + 1 for codes in parts]
    main = int(np.argmax(sizes)) if parts else -1
    rest = [i for i in range(r) if i != main]
    ends = np.cumsum([0, *(sizes[i] for i in rest)])
    blocks = [slice(*pair) for pair in pairwise(ends.tolist())]
    w = sparse.csr_array(sparse.hstack([*(_indicators(parts[i]) for i in rest), sparse.csr_array(x)]))
    met = _indicators(parts[main]).T @ w if parts else sparse.csr_array((1, w.shape[1]))
    count = np.bincount(parts[main]).astype(float) if parts else np.zeros(1)
    inner = residual + (variances[main] * count if parts else np.zeros(1))
    of_main = variances[main] if parts else 0.0
    m = ((w.T @ w).toarray() - (met.T @ (met * (of_main / inner)[:, None])).toarray()) / residual
    k = _inverse(m, np.repeat([*variances[rest], np.inf], [*(sizes[i] for i in rest), p]))
    left = np.eye(len(m)) - k @ m  # V0^-1 W (I - K M) is P W
    p_w = m @ left  # W' P W
    if parts:
        u = (met.T @ (met * (inner**-2)[:, None])).toarray()
        u_d = (met.T @ (met * (count * inner**-3)[:, None])).toarray()
        k_u = k @ u
        traces[main, main] = np.sum((count / inner) ** 2) - 2 * np.sum(k * u_d) + np.sum(k_u * k_u.T)
        single[main] = np.sum(count / inner) - np.sum(k * u)
        slopes[main] = k[-p:] @ u @ k[:, -p:]
        bends[main, main] = k[-p:] @ (u_d - u @ k @ u) @ k[:, -p:]
    for a, block in zip(rest, blocks, strict=True):
        single[a] = np.trace(p_w[block, block])
        slopes[a] = k[-p:] @ m[:, block] @ m[block] @ k[:, -p:]
        bends[main, a] = k[-p:] @ u @ left[:, block] @ m[block] @ k[:, -p:]
        bends[a, main] = bends[main, a].T
        traces[main, a] = traces[a, main] = np.sum(left[:, block] * (u @ left[:, block]))
        for b, other in zip(rest, blocks, strict=True):
            traces[a, b] = np.sum(p_w[block, other] ** 2)
            bends[a, b] = k[-p:] @ m[:, block] @ p_w[block, other] @ m[other] @ k[:, -p:]
    return _Information(k[-p:, -p:], single, traces, slopes, bends)


def _inverse(m: np.ndarray, variances: np.ndarray) -> np.ndarray:
    """Of `m` plus the inverse of these variances on the diagonal; 0 where a variance is 0."""
    out, free = np.zeros_like(m), variances > 0
    out[np.ix_(free, free)] = np.linalg.inv((m + np.diag(1 / np.maximum(variances, 1e-300)))[np.ix_(free, free)])
    return out


def _indicators(codes: np.ndarray) -> sparse.csr_array:
    n = len(codes)
    return sparse.csr_array((np.ones(n), codes, np.arange(n + 1)), shape=(n, int(codes.max()) + 1))
