"""Coverage of intervals of alpha, by simulation.

The data are taken as the population: items or dialogues are drawn from them with replacement, and the true alpha is
that of all of them. Rates, dependence between turns and sample sizes are therefore those of the study. Whether the
annotators or dialogues of the study are representative is another question. Intervals in the simulation use fewer
bootstrap resamples than those of the other notebooks.

Kinds of interval: bca; percentile; bound, the exact bound of `bounds.degenerate` in every sample; policy, what the
other notebooks report: the bound where `bounds.are_degenerate`, else bca.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from judgebook.questions.agreement import bounds
from judgebook.questions.agreement.coincidences import Patterns, Terms, patterns, terms
from judgebook.questions.agreement.items import first_annotations, matrix
from judgebook.questions.operating_characteristics.many_data_sets import Ends, cluster_ends, pattern_ends
from judgebook.questions.operating_characteristics.monte_carlo import Row, SimulationPlan, coverage_rows
from judgebook.study.labels import METHODS, Label

#: up to this many items, with more than this many patterns, resampling items one by one is faster
FEW_ITEMS, FEW_PATTERNS = 200, 4


@dataclass(frozen=True)
class Repeated:
    """The items of one label that were judged twice: their patterns, and the dialogue (pair) code of each item."""

    label: Label
    judged: Patterns
    clusters: np.ndarray

    @property
    def level(self) -> str:
        """What an item is: turn, dialogue or pair."""
        return METHODS[self.label.method].unit

    @property
    def mirrored(self) -> bool:
        """Whether both orientations count, as for comparisons."""
        return self.level == "pair"

    @property
    def marks(self) -> bool:
        """Whether the label has two values, one of which can be rare."""
        return len(self.judged.values) == 2 and not self.mirrored

    @property
    def n_dialogues(self) -> int:
        return int(self.clusters.max()) + 1

    def terms(self) -> Terms:
        """What alpha is made of: `coincidences.terms` of its patterns."""
        return terms(self.judged.counts, self.judged.values, self.label.level, mirrored=self.mirrored)

    def base(self, **keys: object) -> Row:
        return {"level": self.level, "method": self.label.method, "label": self.label.id, "of": "alpha"} | keys


def repeated(annotations: pd.DataFrame, labels: Sequence[Label], first: int | None = 2) -> list[Repeated]:
    """The labels of one corpus and group with items that were judged twice, and some disagreement."""
    chosen = first_annotations(annotations, first=first)
    out = []
    for label in labels:
        rows = chosen[(chosen["method"] == label.method) & (chosen["label"] == label.id)]
        if rows.empty:
            continue
        wide = matrix(rows)
        judged = patterns(wide.to_numpy())
        if judged.n_items < 2 or not judged.n_disagreeing or len(judged.values) < 2:
            continue
        dialogue = rows.drop_duplicates("item").set_index("item")["dialogue"].reindex(wide.index)
        twice = judged.index >= 0
        codes = np.unique(dialogue.to_numpy(dtype=str)[twice], return_inverse=True)[1]
        out.append(Repeated(label, Patterns(judged.values, judged.counts, judged.weights, judged.index[twice]), codes))
    return out


def evenly(n: int, most: int) -> np.ndarray:
    """At most `most` of the positions 0 to n - 1: both ends, and evenly spaced ones between."""
    return np.unique(np.linspace(0, n - 1, min(most, n)).round().astype(int))


def by_prevalence(items: Sequence[Repeated], most: int) -> list[Repeated]:
    """At most `most` labels of each method, from the rarest to the most common by judgements other than the mode."""
    out = []
    for method in dict.fromkeys(i.label.method for i in items):
        of_method = sorted((i for i in items if i.label.method == method), key=lambda i: i.judged.n_minority)
        out += [of_method[i] for i in evenly(len(of_method), most)]
    return out


def alpha_over_items(one: Repeated, plan: SimulationPlan, *, sizes: Sequence[int], marks: Sequence[int]) -> list[Row]:
    """Coverage for samples of independent items.

    Parameters
    ----------
    sizes : items per sample
    marks : for a label of two values, expected numbers of the rarer one per sample, in place of `sizes`

    Returns
    -------
    Rows of `coverage_rows` for bca, percentile, policy and, for a label of two values, bound.
    """
    item_patterns, t = one.judged, one.terms()
    truth = float(_alpha(t)((item_patterns.weights @ t.rows)[None])[0])
    n_of = (
        {m: round(m * item_patterns.n_items / item_patterns.n_minority) for m in marks}
        if one.marks
        else {n: n for n in sizes}
    )
    out = []
    for size, n in n_of.items():
        rng = plan.rng("alpha_items", one.label.method, one.label.id, str(size))
        counts = rng.multinomial(n, item_patterns.weights / item_patterns.n_items, size=plan.n_runs)
        ends = _item_ends(counts, t, plan, rng)
        bound, degenerate = _bounds(one, counts, plan, every=one.marks)
        intervals = {"bca": ends.bca, "percentile": ends.percentile}
        intervals["policy"] = np.where(degenerate[:, None], bound, ends.bca)
        if one.marks:
            intervals["bound"] = bound
        base = one.base(over="item", sample="item", sample_size=n, marks=size if one.marks else None)
        out += coverage_rows(intervals, truth, base, power=True)
    return out


def alpha_near_perfect(one: Repeated, plan: SimulationPlan, *, n: int, disagreement: float) -> list[Row]:
    """Coverage of the exact bound and of BCa for samples of n items of which nearly all have equal annotations.

    The population is that of the label, with the share of items that annotators disagree on reduced to `disagreement`.
    Every sample has the bound, including those with some disagreement.
    """
    item_patterns, t = one.judged, one.terms()
    differ = (item_patterns.counts > 0).sum(axis=1) > 1
    p = np.where(differ, disagreement, 1 - disagreement) * item_patterns.weights
    p = p / np.where(differ, item_patterns.weights[differ].sum(), max(item_patterns.weights[~differ].sum(), 1))
    p = p / p.sum()
    truth = float(_alpha(t)((p @ t.rows)[None] * 1e9)[0])  # many items: without the correction for small samples
    rng = plan.rng("alpha_near_perfect", one.label.method, one.label.id)
    counts = rng.multinomial(n, p, size=plan.n_runs)
    intervals = {"bca": _item_ends(counts, t, plan, rng).bca, "bound": _bounds(one, counts, plan, every=True)[0]}
    return coverage_rows(intervals, truth, one.base(over="item", sample="item", sample_size=n, scenario="near_perfect"))


def alpha_over_dialogues(
    one: Repeated, plan: SimulationPlan, *, sizes: Sequence[int], turns: Sequence[int]
) -> list[Row]:
    """Coverage for samples of whole dialogues: intervals over dialogues, and over turns as if turns were independent.

    sizes : dialogues per sample. turns : those sizes for which intervals over turns are simulated as well.
    """
    t = one.terms()
    table = np.zeros((one.n_dialogues, len(one.judged.weights)))
    np.add.at(table, (one.clusters, one.judged.index), 1.0)
    truth = float(_alpha(t)((one.judged.weights @ t.rows)[None])[0])
    out = []
    for n in sizes:
        rng = plan.rng("alpha_dialogues", one.label.method, one.label.id, str(n))
        drawn = rng.integers(0, len(table), (plan.n_runs, n))
        ends = cluster_ends(table @ t.rows, drawn, _alpha(t), plan, rng)
        counts = np.stack([table[d].sum(axis=0) for d in drawn]).astype(int)
        bound, degenerate = _bounds(one, counts, plan, every=False, drawn=[table[d] for d in drawn])
        intervals = {"bca": ends.bca, "percentile": ends.percentile}
        intervals["policy"] = np.where(degenerate[:, None], bound, ends.bca)
        base = one.base(over="dialogue", sample="dialogue", sample_size=n)
        out += coverage_rows(intervals, truth, base, power=True)
        if n in turns:
            ends = pattern_ends(counts, t.rows, _alpha(t), plan, rng, expanded=False)
            intervals = {"bca": ends.bca, "percentile": ends.percentile}
            out += coverage_rows(intervals, truth, base | {"over": "turn"}, power=True)
    return out


def _alpha(t: Terms) -> Callable[[np.ndarray], np.ndarray]:
    return lambda sums: t.measures(sums)["alpha"]


def _item_ends(counts: np.ndarray, t: Terms, plan: SimulationPlan, rng: np.random.Generator) -> Ends:
    n = int(counts[0].sum())
    if n > FEW_ITEMS or counts.shape[1] <= FEW_PATTERNS:
        return pattern_ends(counts, t.rows, _alpha(t), plan, rng)
    drawn = np.sum(np.arange(n)[None, :, None] >= np.cumsum(counts, axis=1)[:, None, :], axis=2)
    return cluster_ends(t.rows, rng.permuted(drawn, axis=1), _alpha(t), plan, rng)


def _bounds(
    one: Repeated,
    counts: np.ndarray,
    plan: SimulationPlan,
    *,
    every: bool,
    drawn: Sequence[np.ndarray] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds (r, 2) of the samples, missing where none is made, and (r,) whether the policy takes it.

    drawn : tables (n, patterns) of the dialogues in each sample, where they are the unit. Equal samples are done once.
    """
    ends = np.full((len(counts), 2), np.nan)
    cached: dict[bytes, tuple[float, float]] = {}
    taken = bounds.are_degenerate(one.judged, counts, mirrored=one.mirrored)
    for i in range(len(counts)) if every else np.flatnonzero(taken).tolist():
        key = counts[i].tobytes()
        if drawn is not None or key not in cached:
            cached[key] = _bound(one, counts[i], plan, None if drawn is None else drawn[i])
        ends[i] = cached[key]
    return ends, taken


def _bound(one: Repeated, counts: np.ndarray, plan: SimulationPlan, table: np.ndarray | None) -> tuple[float, float]:
    occurring = counts > 0
    index = np.repeat(np.arange(occurring.sum()), counts[occurring])
    items = Patterns(one.judged.values, one.judged.counts[occurring], counts[occurring], index)
    clusters = None
    if table is not None:
        # which dialogue each item is in, patterns one after the other as in `index`
        clusters = np.repeat(np.tile(np.arange(len(table)), table.shape[1]), table.T.astype(int).ravel())
    interval = bounds.degenerate(
        items,
        one.label.level,
        ["alpha"],
        unit=one.level,
        clusters=clusters,
        mirrored=one.mirrored,
        confidence=plan.confidence,
    )["alpha"]
    return interval.low, interval.high
