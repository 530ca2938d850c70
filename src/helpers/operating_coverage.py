"""How often intervals hold the truth, by simulation.

The data themselves are the population: dialogues (items, interactors) are drawn from them with replacement, and the
truth is the value that all of them have. That is an honest sample from a known population, with real rates, real
dependence between turns, and the study's own sizes. It says nothing about whether the people or dialogues of the study
were well chosen.

Each function gives result rows `interval_coverage` (share of the intervals that hold the truth, with the exact
binomial interval of a simulation of that length), `interval_width` (mean) and, where 0 is a value to be told from,
`interval_power` (share that excludes 0; where 0 is true, of false alarms). `n` counts the runs that gave an interval,
`n_undefined` the others. Intervals inside the simulation rest on fewer resamples than those of the notebooks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from helpers import bounds
from helpers.agreement import first_annotations, matrix
from helpers.coincidences import Patterns, patterns, terms
from helpers.labels import METHODS, Label
from helpers.operating_intervals import Ends, cluster_ends, draws, pattern_ends
from helpers.resampling import exact_binomial, generator
from helpers.schema import condition

Row = dict[str, object]
#: items are resampled one by one up to so many of them, where they have more patterns than the second: it is faster
FEW_ITEMS, FEW_PATTERNS = 200, 4


@dataclass(frozen=True)
class Plan:
    """How much is simulated: runs, resamples in each, the seed, and the confidence level."""

    n_runs: int = 2000
    n_resamples: int = 1000
    seed: int = 1
    confidence: float = 0.95

    def rng(self, *names: str) -> np.random.Generator:
        """The stream of numbers of one part. Checked by hand: it is `intervals.generator` with the part's names."""
        return generator(self.seed, "operating", *names)


def rows_of(ends: np.ndarray, truth: float | np.ndarray, base: Row, *, zero: bool = False, **keys: object) -> list[Row]:
    """Result rows of (r, 2) interval ends held against the truth; `base` identifies them, `keys` the condition.

    zero : also count intervals that exclude 0. Checked by hand.
    """
    low, high = ends.T
    given = np.isfinite(low) & np.isfinite(high)
    slack = 1e-9 * np.maximum(1.0, np.abs(truth))
    hits = given & (low <= truth + slack) & (truth - slack <= high)
    base = base | {"condition": condition(**keys), "n_undefined": int(np.sum(~given))}
    out = [base | share("interval_coverage", int(hits.sum()), int(given.sum()))]
    width = (high - low)[given]
    out.append(base | mean("interval_width", width))
    if zero:
        out.append(base | share("interval_power", int(np.sum(given & ((low > 0) | (high < 0)))), int(given.sum())))
    return out


def share(statistic: str, hits: int, n: int) -> Row:
    """A share of n runs with its exact binomial interval. Checked against `intervals.exact_binomial`."""
    if not n:
        return {"statistic": statistic, "estimate": np.nan, "n": 0, "note": "no run gave an interval"}
    low, high = exact_binomial(hits, n)
    found = {"estimate": hits / n, "ci_low": low, "ci_high": high, "ci_kind": "exact", "resample_unit": "run"}
    return {"statistic": statistic, "n": n} | found


def mean(statistic: str, values: np.ndarray) -> Row:
    """The mean of one value a run with its Monte Carlo interval (normal, 95 %). Checked by hand."""
    if len(values) < 2:
        return {"statistic": statistic, "estimate": np.nan, "n": len(values), "note": "no run gave an interval"}
    estimate, half = float(np.mean(values)), 1.96 * float(np.std(values, ddof=1)) / np.sqrt(len(values))
    found = {"ci_low": estimate - half, "ci_high": estimate + half, "ci_kind": "monte_carlo", "resample_unit": "run"}
    return {"statistic": statistic, "n": len(values), "estimate": estimate} | found


@dataclass(frozen=True)
class Repeated:
    """The items of one label that were judged twice: their patterns, and the dialogue (pair) code of each item."""

    label: Label
    found: Patterns
    clusters: np.ndarray

    @property
    def mirrored(self) -> bool:
        """Whether both orientations count, as for comparisons. Checked by hand."""
        return METHODS[self.label.method].unit == "pair"

    @property
    def level(self) -> str:
        """What an item is: turn, dialogue or pair. Checked by hand."""
        return METHODS[self.label.method].unit

    @property
    def marks(self) -> bool:
        """A label of two values, one of which can be rare. Checked by hand."""
        return len(self.found.values) == 2 and not self.mirrored

    @property
    def base(self) -> Row:
        """What identifies its result rows. Checked by hand."""
        return {"level": self.level, "method": self.label.method, "label": self.label.id}

    def terms(self):
        """What alpha is made of. Checked by hand: they are `coincidences.terms` of its patterns."""
        return terms(self.found.counts, self.found.values, self.label.level, mirrored=self.mirrored)


def repeated(annotations: pd.DataFrame, labels: Sequence[Label], first: int | None = 2) -> list[Repeated]:
    """The labels of one corpus and group of which some items were judged twice and disagreed on. Checked by hand."""
    chosen = first_annotations(annotations, first=first)
    out = []
    for label in labels:
        rows = chosen[(chosen["method"] == label.method) & (chosen["label"] == label.id)]
        if rows.empty:
            continue
        wide = matrix(rows)
        found = patterns(wide.to_numpy())
        if found.n_items < 2 or not found.n_disagreeing or len(found.values) < 2:
            continue
        dialogue = rows.drop_duplicates("item").set_index("item")["dialogue"].reindex(wide.index)
        kept = found.index >= 0
        codes = np.unique(dialogue.to_numpy(dtype=str)[kept], return_inverse=True)[1]
        out.append(Repeated(label, Patterns(found.values, found.counts, found.weights, found.index[kept]), codes))
    return out


def by_prevalence(items: Sequence[Repeated], most: int) -> list[Repeated]:
    """At most so many labels of each method: the rarest, the commonest, and some between, by marks off the commonest
    value.

    Checked by hand.
    """
    out = []
    for method in dict.fromkeys(i.label.method for i in items):
        here = sorted((i for i in items if i.label.method == method), key=lambda i: i.found.n_minority)
        places = np.unique(np.linspace(0, len(here) - 1, min(most, len(here))).round().astype(int))
        out += [here[i] for i in places]
    return out


# --- alpha -----------------------------------------------------------------------------------------------------------


def alpha_over_items(one: Repeated, plan: Plan, *, sizes: Sequence[int], marks: Sequence[int]) -> list[Row]:
    """Coverage when items are independent: does the interval itself work, apart from dialogues?

    sizes : items a sample; for a label of two values the sizes follow from `marks`, the number of the rarer value to
    expect. Intervals: bca, percentile; bound, the exact bound of `bounds.degenerate` in every run; policy, what
    notebooks give: the bound where `bounds.is_degenerate`, else bca.

    No second source exists; checked by simulation: BCa of many marks covers as promised, of few it does not, the policy
    does.
    """
    found, t = one.found, one.terms()
    p = found.weights / found.n_items
    truth = float(_alpha(t)((found.weights @ t.rows)[None])[0])
    n_of = {m: round(m * found.n_items / found.n_minority) for m in marks} if one.marks else {n: n for n in sizes}
    out = []
    for size, n in n_of.items():
        rng = plan.rng("alpha_items", one.label.method, one.label.id, str(size))
        counts = rng.multinomial(n, p, size=plan.n_runs)
        ends = _item_ends(counts, t, plan, rng)
        keys = {"of": "alpha", "over": "item", "sample": "item", "n": n, "marks": size if one.marks else None}
        bound, degenerate = _bounds(one, counts, plan, every=one.marks)
        kinds = {"bca": ends.bca, "percentile": ends.percentile}
        kinds["policy"] = np.where(degenerate[:, None], bound, ends.bca)
        if one.marks:
            kinds["bound"] = bound
        for name, both in kinds.items():
            out += rows_of(both, truth, one.base, zero=True, interval=name, **keys)
    return out


def alpha_near_perfect(one: Repeated, plan: Plan, *, n: int, disagreement: float) -> list[Row]:
    """Coverage of the exact bound where nearly all items agree, and of BCa beside it.

    The population is the label's, with the share of items that annotators disagree on brought down to `disagreement`.
    Every run has the bound, also those in which some items disagree: a bound is a promise over all samples.

    No second source exists; checked by simulation: the bound covers at least as promised.
    """
    found, t = one.found, one.terms()
    differ = (found.counts > 0).sum(axis=1) > 1
    p = np.where(differ, disagreement, 1 - disagreement) * found.weights
    p = p / np.where(differ, found.weights[differ].sum(), max(found.weights[~differ].sum(), 1))
    p = p / p.sum()
    truth = float(_alpha(t)((p @ t.rows)[None] * 1e9)[0])  # many items: without the correction for small samples
    rng = plan.rng("alpha_near_perfect", one.label.method, one.label.id)
    counts = rng.multinomial(n, p, size=plan.n_runs)
    ends, (bound, _) = _item_ends(counts, t, plan, rng), _bounds(one, counts, plan, every=True)
    keys = {"of": "alpha", "over": "item", "sample": "item", "n": n, "scenario": "near_perfect"}
    out = rows_of(bound, truth, one.base, interval="bound", **keys)
    return out + rows_of(ends.bca, truth, one.base, interval="bca", **keys)


def alpha_over_dialogues(one: Repeated, plan: Plan, *, sizes: Sequence[int], turns: Sequence[int]) -> list[Row]:
    """Coverage when whole dialogues are drawn, as studies do: intervals over turns against intervals over dialogues.

    sizes : dialogues a sample; turns : those of them for which the interval over turns is simulated, too.

    No second source exists; checked by simulation of studies whose alpha is known.
    """
    found, t = one.found, one.terms()
    table = np.zeros((one.clusters.max() + 1, len(found.weights)))
    np.add.at(table, (one.clusters, found.index), 1.0)
    truth = float(_alpha(t)((found.weights @ t.rows)[None])[0])
    out = []
    for n in sizes:
        rng = plan.rng("alpha_dialogues", one.label.method, one.label.id, str(n))
        drawn = draws(len(table), n, plan.n_runs, rng)
        options = {"n_resamples": plan.n_resamples, "rng": rng, "confidence": plan.confidence}
        ends = cluster_ends(table @ t.rows, drawn, _alpha(t), **options)
        counts = np.stack([table[d].sum(axis=0) for d in drawn]).astype(int)
        bound, degenerate = _bounds(one, counts, plan, every=False, drawn=[table[d] for d in drawn])
        keys = {"of": "alpha", "over": "dialogue", "sample": "dialogue", "n": n}
        kinds = {"bca": ends.bca, "percentile": ends.percentile}
        kinds["policy"] = np.where(degenerate[:, None], bound, ends.bca)
        for name, both in kinds.items():
            out += rows_of(both, truth, one.base, zero=True, interval=name, **keys)
        if n in turns:
            over = pattern_ends(counts, t.rows, _alpha(t), **options)
            for name, both in {"bca": over.bca, "percentile": over.percentile}.items():
                out += rows_of(both, truth, one.base, zero=True, interval=name, **(keys | {"over": "turn"}))
    return out


def _alpha(t):
    return lambda sums: t.measures(sums)["alpha"]


def _item_ends(counts: np.ndarray, t, plan: Plan, rng: np.random.Generator) -> Ends:
    options = {"n_resamples": plan.n_resamples, "rng": rng, "confidence": plan.confidence}
    n = int(counts[0].sum())
    if n > FEW_ITEMS or counts.shape[1] <= FEW_PATTERNS:
        return pattern_ends(counts, t.rows, _alpha(t), **options)
    drawn = np.sum(np.arange(n)[None, :, None] >= np.cumsum(counts, axis=1)[:, None, :], axis=2)
    return cluster_ends(t.rows, rng.permuted(drawn, axis=1), _alpha(t), **options)


def _bounds(one: Repeated, counts: np.ndarray, plan: Plan, *, every: bool, drawn=None) -> tuple[np.ndarray, np.ndarray]:
    """Bounds (r, 2) of the runs, NaN where none is made, and (r,) whether the policy takes it.

    drawn : tables (n, patterns) of the dialogues in each run, where they are the unit. Runs alike are done once.
    """
    ends, known = np.full((len(counts), 2), np.nan), {}
    taken = bounds.are_degenerate(one.found, counts, mirrored=one.mirrored)
    for i in range(len(counts)) if every else np.flatnonzero(taken):
        key = counts[i].tobytes()
        if drawn is not None or key not in known:
            known[key] = _bound(one, counts[i], plan, None if drawn is None else drawn[i])
        ends[i] = known[key]
    return ends, taken


def _bound(one: Repeated, counts: np.ndarray, plan: Plan, table: np.ndarray | None) -> np.ndarray:
    here = counts > 0
    index = np.repeat(np.arange(here.sum()), counts[here])
    found = Patterns(one.found.values, one.found.counts[here], counts[here], index)
    clusters = None
    if table is not None:
        # which dialogue each item is in, patterns one after the other as in `index`
        clusters = np.repeat(np.tile(np.arange(len(table)), table.shape[1]), table.T.astype(int).ravel())
    names = ["alpha"]
    options = {"unit": one.level, "clusters": clusters, "mirrored": one.mirrored, "confidence": plan.confidence}
    interval = bounds.degenerate(found, one.label.level, names, **options)["alpha"]
    return np.array([interval.low, interval.high])
