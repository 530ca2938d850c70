"""Coverage of intervals of alpha: as published, with the items of a dialogue as independent, and over dialogues.

The dialogues of the study are the population: as many as there are (at most MOST) are drawn from them with replacement,
and the true alpha is that of all of them. Rates, dependence between turns and the number of dialogues are therefore
those of the study. Whether its annotators are representative is another question. Intervals are from fewer resamples
than those of notebook 03.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from judgebook.questions.agreement.alpha import alpha_intervals, alpha_of
from judgebook.questions.agreement.coincidences import Patterns, patterns, terms
from judgebook.questions.agreement.items import first_annotations, matrix
from judgebook.questions.operating_characteristics.monte_carlo import Row, SimulationPlan, mean, share
from judgebook.statistics.resampling import replicate_sums
from judgebook.study.labels import METHODS, Label

#: dialogues per sample, at most: larger samples take long and add little
MOST = 200
#: samples for each simulated study of a fit, which takes longer
TIMES = 3


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


def coverage(one: Repeated, plan: SimulationPlan) -> Iterator[Row]:
    """`interval_coverage` and `interval_width` of alpha, over turns and over dialogues."""
    method, label = one.label.method, one.label
    rng, n_dialogues = plan.rng("alpha", method, label.id), int(one.dialogue.max()) + 1
    truth = alpha_of(one.judged, label.level).estimate
    members = np.split(np.argsort(one.dialogue, kind="stable"), np.cumsum(np.bincount(one.dialogue))[:-1])
    n, n_runs = min(n_dialogues, MOST), TIMES * plan.n_runs
    ends = np.full((2, n_runs, 2), np.nan)
    for run in range(n_runs):
        drawn = rng.integers(0, n_dialogues, n)
        items = sample(one.judged, np.concatenate([members[d] for d in drawn]))
        dialogue = np.repeat(np.arange(n), [len(members[d]) for d in drawn])
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
