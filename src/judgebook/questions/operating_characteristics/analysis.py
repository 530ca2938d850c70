"""How often are the fit of notebook 07, and intervals of alpha, right in studies like this one? Notebook 80.

Everything concerns one corpus and evaluator group, the one with most items judged twice.

**The fit** of one label of each method, the one with the lowest mean of those whose systems can be compared. Data sets
have the study's systems, items, contexts and annotators. Whatever is random in the model of a label (`model.ratings`,
`model.comparisons`) is drawn anew, with the variances estimated: once with equal systems, where any pair that is
decided is decided falsely; once with levels as estimated, where all intervals of differences are to hold at once; and
once with every other system ahead of the rest by the difference that the first page calls found with 80% power. Of
ratings these are the same draws, as errors do not depend on levels. Scores are not rounded to the scale: what is
checked is whether variances, degrees of freedom and critical values are right, not whether scores are normal.

**Intervals of alpha**, as published, with the items of a dialogue as independent, and over dialogues. The dialogues of
the study are the population: as many as there are (at most MOST_DIALOGUES) are drawn from them with replacement, and
the true alpha is that of all of them. Rates, dependence between turns and the number of dialogues are therefore those
of the study. Whether its annotators are representative is another question. Intervals are from fewer resamples than
those of notebook 03.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from judgebook import execution
from judgebook.annotations import population
from judgebook.annotations.summary import in_sessions
from judgebook.model import comparisons, ratings
from judgebook.model.comparisons import Comparisons, outcomes
from judgebook.model.contrasts import Differences
from judgebook.model.designs import POWER
from judgebook.model.fit import ANNOTATOR, ANSWER, CONTEXT, ITEM, RESIDUAL, TASTE, Fit, Judgements, crossed
from judgebook.questions.agreement.alpha import alpha_intervals, alpha_of
from judgebook.questions.agreement.coincidences import Patterns, patterns, terms
from judgebook.questions.agreement.items import first_annotations, matrix
from judgebook.questions.operating_characteristics.question import Operating
from judgebook.questions.performance.analysis import chosen
from judgebook.questions.performance.fitted import judgements, votes
from judgebook.statistics.intervals import exact_binomial, generator
from judgebook.statistics.resampling import replicate_sums
from judgebook.study import schema
from judgebook.study.labels import METHODS, Label
from judgebook.study.results import Results, collect
from judgebook.study.schema import Annotations

#: a result row
Row = dict[str, Any]
#: level at which a pair of equal systems is decided falsely
ALPHA = 0.05
#: judgements that are fitted for one rate, about, and runs at least
MOST, LEAST_RUNS = 100_000, 50
#: dialogues per sample, at most: larger samples take long and add little
MOST_DIALOGUES = 200
#: samples for each simulated study of a fit, which takes longer
TIMES = 3


@dataclass(frozen=True)
class SimulationPlan:
    """Runs (simulated samples), bootstrap resamples of each, the seed, and the confidence level."""

    n_runs: int = 200
    n_resamples: int = 1000
    seed: int = 1
    confidence: float = 0.95

    def rng(self, *names: str) -> np.random.Generator:
        """The random numbers of one part of the simulation, which do not depend on the other parts."""
        return generator(self.seed, "operating", *names)


def share(statistic: str, hits: np.ndarray) -> Row:
    """The share of runs with a hit, with its exact binomial interval; runs that are missing do not count."""
    n, lost = int(np.isfinite(hits).sum()), {"n_undefined": int(np.isnan(hits).sum())}
    if not n:
        return {"statistic": statistic, "estimate": np.nan, "n": 0, "note": "no run gave an interval"} | lost
    low, high = exact_binomial(found := int(np.nansum(hits)), n)
    result = {"estimate": found / n, "ci_low": low, "ci_high": high, "ci_kind": "exact", "resample_unit": "run"}
    return {"statistic": statistic, "n": n} | result | lost


def mean(statistic: str, values: np.ndarray) -> Row:
    """The mean of one value per run with its normal 95% interval; runs that are missing do not count."""
    known, lost = values[np.isfinite(values)], {"n_undefined": int(np.isnan(values).sum())}
    if len(known) < 2:
        return {"statistic": statistic, "estimate": np.nan, "n": len(known), "note": "no run gave an interval"} | lost
    estimate, half = float(np.mean(known)), 1.96 * float(np.std(known, ddof=1)) / np.sqrt(len(known))
    result = {"ci_low": estimate - half, "ci_high": estimate + half, "ci_kind": "monte_carlo", "resample_unit": "run"}
    return {"statistic": statistic, "n": len(known), "estimate": estimate} | result | lost


def analyse(
    annotations: Annotations,
    labels: list[Label],
    sizes: Operating,
    *,
    first: int | None,
    confidence: float,
    seed: int,
    unranked: Collection[str] = (),
    declared: str = "auto",
) -> Results:
    """`null_rejection`, `interval_coverage`, `interval_power`, `interval_width`, as the data allow (`contrasts`,
    `alpha_coverage`).

    Parameters
    ----------
    annotations : DataFrame
        Those of the evaluation itself.
    sizes : Operating
        Numbers of runs, resamples and labels.
    first : int or None
        Annotations per item that agreement uses, as in notebook 03.
    unranked : collection of str
        Systems that are not compared with others.
    declared : str
        `inference.annotators`.

    Raises
    ------
    ValueError
        If no item was judged twice.
    """
    every = annotations[annotations["annotator_kind"] == "human"]
    size = every.groupby([*schema.ITEM, "group"], dropna=False, sort=False)["score"].transform("size")
    often = every[size >= 2].groupby(["corpus", "group"])["score"].size()
    if often.empty:
        raise ValueError("no item was judged twice by people of one group")
    corpus, group = often.idxmax()
    every = in_sessions(every[(every["corpus"] == corpus) & (every["group"] == group)])[0]
    plan = SimulationPlan(sizes.n_runs, sizes.n_resamples, seed, confidence)
    pieces: list[Callable[[], list[Row]]] = []
    for one in by_prevalence(list(repeated(every, labels, first)), sizes.labels):
        pieces.append(partial(_rows, alpha_coverage, one, plan))
    ranked = chosen(every, unranked, labels)
    ranked = ranked[~ranked[["system", "system_b"]].isin(list(unranked)).any(axis=1)]
    for _, of_method in ranked.groupby("method", sort=False):
        pieces.append(partial(_fitted, of_method, declared, plan))
    rows = [row for made in execution.run(_call, [(piece,) for piece in pieces], doing="simulations") for row in made]
    return collect({"corpus": corpus, "group": group, "seed": seed} | row for row in rows)


def _call(piece: Callable[[], list[Row]]) -> list[Row]:
    return piece()


def _rows(simulate: Callable[..., Iterator[Row]], *given: object) -> list[Row]:
    return list(simulate(*given))


def _fitted(rows: pd.DataFrame, declared: str, plan: SimulationPlan) -> list[Row]:
    """`contrasts` of the first label for which there are rows, by mean."""
    for label in rows.groupby("label", sort=False)["score"].mean().sort_values(kind="stable").index:
        of_label = rows[rows["label"] == label]
        ((_, people),) = population.modelled(of_label, declared).items()
        if made := list(contrasts(of_label, plan, others=people.others)):
            return made
    return []


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


@dataclass(frozen=True)
class Repeated:
    """The items of one label that were judged twice: their patterns, and of each its dialogue, by number."""

    label: Label
    judged: Patterns
    dialogue: np.ndarray


def repeated(annotations: pd.DataFrame, labels: Sequence[Label], first: int | None = 2) -> Iterator[Repeated]:
    """The labels of one corpus and group of which several items lie within a dialogue, with items that were judged
    twice, and some disagreement."""
    chosen = first_annotations(annotations, first=first)
    for label in labels:
        rows = chosen[(chosen["method"] == label.method) & (chosen["label"] == label.id)]
        if rows.empty or METHODS[label.method].unit != "turn":
            continue
        wide = matrix(rows)
        judged = patterns(wide.to_numpy())
        twice = judged.index >= 0
        dialogue = rows.drop_duplicates("item").set_index("item")["dialogue"].reindex(wide.index)[twice]
        if judged.n_disagreeing and dialogue.nunique() < len(dialogue):
            yield Repeated(label, replace(judged, index=judged.index[twice]), pd.factorize(dialogue)[0])


def by_prevalence(items: Sequence[Repeated], most: int) -> list[Repeated]:
    """At most `most` labels of each method, evenly from the rarest to the most common judgements other than the
    mode."""
    out = []
    for method in dict.fromkeys(i.label.method for i in items):
        of_method = sorted((i for i in items if i.label.method == method), key=lambda i: i.judged.n_minority)
        at = np.linspace(0, len(of_method) - 1, min(most, len(of_method))).round().astype(int)
        out += [of_method[i] for i in np.unique(at)]
    return out


def alpha_coverage(one: Repeated, plan: SimulationPlan) -> Iterator[Row]:
    """`interval_coverage` and `interval_width` of alpha, over turns and over dialogues."""
    method, label = one.label.method, one.label
    rng, n_dialogues = plan.rng("alpha", method, label.id), int(one.dialogue.max()) + 1
    truth = alpha_of(one.judged, label.level).estimate
    members = np.split(np.argsort(one.dialogue, kind="stable"), np.cumsum(np.bincount(one.dialogue))[:-1])
    n, n_runs = min(n_dialogues, MOST_DIALOGUES), TIMES * plan.n_runs
    ends = np.full((2, n_runs, 2), np.nan)
    for run in range(n_runs):
        taken = [members[d] for d in rng.integers(0, n_dialogues, n)]
        items = sample(one.judged, np.concatenate(taken))
        dialogue = np.repeat(np.arange(n), [len(of_dialogue) for of_dialogue in taken])
        t = terms(items.counts, items.values, label.level)
        statistic = lambda sums, t=t: t.measures(sums)["alpha"]  # noqa: E731
        resampled = replicate_sums(
            t.rows, statistic, unit="turn", rng=rng, counts=items.weights, n_resamples=plan.n_resamples
        )
        published = resampled.interval(plan.confidence, expanded=False)
        ours = alpha_intervals(
            items, label.level, unit="dialogue", rng=rng, clusters=dialogue, n_resamples=plan.n_resamples,
            confidence=plan.confidence, only=["alpha"],
        )["alpha"]  # fmt: skip
        ends[:, run] = [(found.low, found.high) for found in (published, ours)]
    for unit, (low, high) in zip(("turn", "dialogue"), ends.transpose(0, 2, 1), strict=True):
        key: Row = {"level": "turn", "method": method, "label": label.id, "of": "alpha", "over": unit, "sample_size": n}
        held = np.where(np.isnan(low), np.nan, (low <= truth + 1e-9) & (truth - 1e-9 <= high))
        yield key | share("interval_coverage", held)
        yield key | mean("interval_width", high - low)


def sample(judged: Patterns, items: np.ndarray) -> Patterns:
    """Of these items, some of them more than once."""
    used, index, weights = np.unique(judged.index[items], return_inverse=True, return_counts=True)
    return Patterns(judged.values, judged.counts[used], weights, index)
