"""One linear mixed model of the judgements of single items on a label: systems fixed, what is a sample random.

Contexts, items (contexts within systems), annotators, and annotators within systems are samples, as far as the design
tells them apart; what it does not is left out with the reason. Variances are estimated by restricted maximum likelihood
(`statistics.reml`); differences of systems have Satterthwaite's degrees of freedom (`satterthwaite`).

References
----------
Baayen, Davidson and Bates 2008, Journal of Memory and Language 59, 390-412 (subjects and items as samples).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import exp, log, nan

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtri

from judgebook.model.contrasts import Levels, of_pairs
from judgebook.model.fit import ANNOTATOR, CONTEXT, ITEM, PEOPLE, RESIDUAL, RUN, TASTE, Fit
from judgebook.model.judgements import Judgements, confounded, crossed
from judgebook.model.satterthwaite import uncertainty
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
