"""Does the fit that notebook 07 rests on keep its word in the study's own design?

Data sets have the study's systems, items, contexts and annotators. Whatever is random in the model of a label
(`model.ratings`, `model.comparisons`) is drawn anew, with the variances estimated: once with equal systems, where any
pair that is decided is decided falsely; once with levels as estimated, where all intervals of differences are to hold
at once; and once with every other system ahead of the rest by the difference that the first page calls found with 80%
power. Of ratings these are the same draws, as errors do not depend on levels. Scores are not rounded to the scale: what
is checked is whether variances, degrees of freedom and critical values are right, not whether scores are normal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.special import ndtri

from judgebook.model import comparisons, ratings
from judgebook.model.comparisons import Comparisons, outcomes
from judgebook.model.contrasts import Differences
from judgebook.model.designs import POWER
from judgebook.model.fit import ANNOTATOR, ANSWER, CONTEXT, ITEM, RESIDUAL, TASTE, Fit
from judgebook.model.judgements import Judgements, crossed
from judgebook.questions.operating_characteristics.monte_carlo import Row, SimulationPlan, mean, share
from judgebook.questions.performance.fitted import judgements, votes
from judgebook.study.labels import METHODS

#: level at which a pair of equal systems is decided falsely
ALPHA = 0.05
#: judgements that are fitted for one rate, about, and runs at least
MOST, LEAST_RUNS = 100_000, 50


def contrasts(rows: pd.DataFrame, plan: SimulationPlan, *, others: bool) -> Iterator[Row]:
    """`null_rejection` of `contrast`, and of the differences of one label's systems `interval_coverage`, of all at
    once, and `interval_power`, the share of pairs decided that differ by what is found with POWER.

    rows : of ranked systems, one label of one corpus and group, from `performance.analysis.chosen`. others : whether
    annotators are a sample. Without a fit, or where its levels do not follow from the data alone, there are no rows.
    """
    method, label = rows["method"].iloc[0], rows["label"].iloc[0]
    paired = METHODS[method].unit == "pair"
    data = votes(rows, people=others) if paired else judgements(rows)
    if len(data.systems) < 2 or len(data) <= len(data.systems):
        return
    fit = refit(data, others=others)
    if fit.note or not fit.levels.comparable:
        return
    n_runs, size = max(LEAST_RUNS, min(plan.n_runs, MOST // len(data))), int(np.median(fit.sizes))
    key: Row = {"level": "pair" if paired else "dialogue", "method": method, "label": label}
    key |= {"n_annotators": fit.n_annotators or None}
    key["people"] = "sampled" if fit.others else "fixed" if fit.n_annotators else "unknown"
    equal, gap = np.full(len(fit.systems), fit.levels.estimates.mean()), found(fit.levels.differences(plan.confidence))
    ahead = equal + gap * (np.arange(len(equal)) % 2 - 0.5)
    if isinstance(data, Judgements) and data.marks:  # rates
        ahead += np.clip(0.0, -ahead.min(), 1 - ahead.max())
    of_levels = isinstance(data, Comparisons) or data.marks  # whether errors depend on levels
    false, kept, decided = np.full((3, n_runs), np.nan)
    for i, levels in enumerate((equal, fit.levels.estimates, ahead) if of_levels else (equal,)):
        rng, truth = plan.rng("contrasts", method, label, str(i)), np.subtract.outer(levels, levels)
        for run in range(n_runs):
            d = refit(drawn(data, fit, levels, rng), others=others).levels.differences(plan.confidence)
            off, known = truth[d.first, d.second], np.isfinite(d.low)
            holds = float(np.all((d.low <= off) & (off <= d.high) | ~known)) if known.any() else np.nan
            if i == 0:
                false[run] = 1 - holds
            if i == 1 or not of_levels:
                kept[run] = holds
            if i == 2 or not of_levels:
                decided[run] = _decided(d, np.subtract.outer(ahead, ahead)[d.first, d.second] - off, known)
    yield key | {"test": "contrast", "alpha": ALPHA, "n_dialogues": size} | share("null_rejection", false)
    key |= {"of": "contrast", "over": fit.over, "sample_size": size}
    yield key | share("interval_coverage", kept)
    yield key | mean("interval_power", decided)


def found(d: Differences) -> float:
    """The difference that is found with POWER, the median over pairs, as notebook 07 has it."""
    return float(np.nanmedian((d.high - d.low) / 2 + ndtri(POWER) * d.se))


def _decided(d: Differences, further: np.ndarray, known: np.ndarray) -> float:
    """Share decided of the pairs of which one system is ahead, if the systems of each were `further` apart."""
    apart = known & ((d.first - d.second) % 2 == 1)
    out = (d.low + further > 0) | (d.high + further < 0)
    return float(out[apart].mean()) if apart.any() else np.nan


def refit(data: Judgements | Comparisons, *, others: bool) -> Fit:
    """The model of a label's judgements, or votes."""
    return comparisons.fit(data) if isinstance(data, Comparisons) else ratings.fit(data, others=others)


def drawn(
    data: Judgements | Comparisons, fit: Fit, levels: np.ndarray, rng: np.random.Generator
) -> Judgements | Comparisons:
    """The same design with scores of the fitted model, at these levels of systems."""
    if isinstance(data, Comparisons):
        return replace(data, score=_votes(data, fit, levels, rng))
    return replace(data, score=_ratings(data, fit, levels, rng))


def _ratings(j: Judgements, fit: Fit, levels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    codes = {ITEM: j.item, CONTEXT: j.context, RESIDUAL: np.arange(len(j))}
    if j.annotator is not None:
        codes |= {ANNOTATOR: j.annotator, TASTE: crossed(j.annotator, j.system)}
    effect = np.sum([_effects(codes[part], variance, rng) for part, variance in fit.variances.items()], axis=0)
    if j.marks:  # variances are those of an average system
        effect = effect * np.sqrt(np.diag(ratings.by_rate(replace(j, score=levels[j.system]))))[j.system]
    return np.asarray(levels[j.system] + effect)


def _votes(c: Comparisons, fit: Fit, strengths: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    gap = strengths[c.first] - strengths[c.second]
    for part, codes in ((ANSWER, c.context), (TASTE, c.annotator)):
        if codes is not None and part in fit.variances:
            both = crossed(np.tile(codes, 2), np.concatenate([c.first, c.second]))
            effect = _effects(both, fit.variances[part], rng)
            gap = gap + effect[: len(c)] - effect[len(c) :]
    log_nu = np.full(len(c), -np.inf if fit.log_nu is None else fit.log_nu)
    if c.annotator is not None:
        log_nu += _effects(c.annotator, fit.ties, rng)
    chance = outcomes(gap, log_nu).cumsum(axis=0)
    return np.array([1.0, 0.0, -1.0])[(rng.random(len(c)) > chance[:2]).sum(axis=0)]


def _effects(codes: np.ndarray, variance: float, rng: np.random.Generator) -> np.ndarray:
    """(n,) normal effects of the levels of a part."""
    return np.asarray(np.sqrt(variance) * rng.standard_normal(int(codes.max()) + 1)[codes])
