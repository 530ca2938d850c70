"""How much of quality do the labels of a method explain jointly, and which of them? (Finch et al. 2023, section 7.4)

As published, in notebook 06: backward elimination. Primary: how often each label is selected in random halves of the
people (`stability`), and methods compared on the same dialogues with the same number of labels, on people left out and
against a shuffled target (`compare`). The fit of the best of many subsets is too high: part of it is noise. A gain in
adjusted R² only means |t| > 1, which a useless label reaches 32% of the time, and there are no p-values after
selection.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from math import nan
from typing import Any, TypeAlias

import numpy as np

from judgebook.annotations.dialogue_values import COMPARATIVE_QUALITY, DIALOGUE_QUALITY, Design
from judgebook.statistics.intervals import generator
from judgebook.statistics.subsets import (
    MAX_EXACT,
    Fitness,
    best_fits,
    best_subset_losses,
    chosen,
    fit_difference,
    fit_intervals,
    permuted_fits,
)

#: target -> statistic of the fit: different quantities, never compared
FITS = {DIALOGUE_QUALITY: "r2", COMPARATIVE_QUALITY: "mcfadden_r2"}
Row: TypeAlias = dict[str, Any]


def stability(
    design: Design, method: str, *, seed: int, exclude: Sequence[str] = ("quality",), n_halves: int = 100
) -> list[Row]:
    """How often each label is in the subset with the highest adjusted fit, over random halves of the people.

    Halves are drawn without replacement because a bootstrap sample repeats rows, which makes noise look useful (a
    useless label is chosen 47% rather than 32% of the time). Linear models: exact; logits: `subsets.shortlist`. Returns
    rows of selection_frequency; n is the number of halves, n_undefined those whose target has one value.

    References
    ----------
    Meinshausen and Bühlmann 2010, Stability selection, JRSS B 72, 417-473.
    """
    one = Predictors(design, method, exclude)
    if one.reason:
        return one.numbered([])
    rng = generator(seed, "stability", design.target, method)
    people = np.unique(one.clusters)
    times, done = np.zeros(one.fitness.p), 0
    for _ in range(n_halves):
        half = np.isin(one.clusters, rng.choice(people, len(people) // 2, replace=False))
        y = one.fitness.y[half]
        if len(y) and np.ptp(y) > 0:
            times, done = times + chosen(Fitness(one.fitness.x[half], y, one.fitness.family)), done + 1
    extra = {"n": done, "n_undefined": n_halves - done, "seed": seed, "resample_unit": design.unit}
    share = times / done if done else np.full(len(times), nan)
    rows = [
        one.row("selection_frequency", value, kind="half_samples", label=label, **extra)
        for label, value in zip(one.labels, share, strict=True)
    ]
    return one.numbered(rows)


def compare(
    design: Design,
    methods: Sequence[str],
    *,
    seed: int,
    exclude: Sequence[str] = ("quality",),
    n_folds: int = 10,
    n_repeats: int = 5,
    n_permutations: int = 100,
    confidence: float = 0.95,
) -> Iterator[Row]:
    """Methods on the same rows with the same number of labels k, the best subset of that size each time.

    Rows are those on which all methods' labels are known. The largest k is that of the method with the fewest labels.

    Yields rows of the fit by k, `kind` being
        common : the best subset on these rows (here and below by `subsets.shortlist` for a logit);
        cross_validated : chosen and fitted without the people it is evaluated on: 1 minus the squared error (or the
            log-likelihood) over that of the mean of the others. Negative where it predicts worse than that mean. Logits
            predict by Firth's estimate, so that separation in a fold gives no infinite loss. With `fit_intervals`;
        permuted_mean, permuted_p95 : mean and 95% point of the best subset's fit when the target is shuffled between
            people: what the search finds in noise.
    And fit_difference, at the largest k, of each method and each `other` after it; with m such pairs at the level
    1 - (1 - confidence) / m (Bonferroni).
    """
    every = [Predictors(design, m, exclude) for m in methods]
    for one in every:
        yield from one.numbered([])
    usable = [one for one in every if not one.reason]
    common = design.common([(one.method, label) for one in usable for label in one.labels])
    largest = min((one.fitness.p for one in usable), default=0)
    last: list[tuple[Predictors, np.ndarray]] = []
    for one in (Predictors(common, one.method, exclude) for one in usable):
        if one.reason:
            yield from one.numbered([])
            continue
        rng, top = generator(seed, "compare", design.target, one.method), min(largest, one.fitness.p)
        same = best_fits(one.fitness)[:top]
        losses = best_subset_losses(one.fitness, one.clusters, rng, range(1, top + 1), n_folds, n_repeats)
        shuffled = permuted_fits(one.fitness, one.clusters, rng, n_permutations)[:, :top]
        by_chance = {"permuted_mean": shuffled.mean(axis=0), "permuted_p95": np.quantile(shuffled, 0.95, axis=0)}
        extra = {"resample_unit": design.unit, "seed": seed}
        rows = [{"kind": "common", "k": k, "estimate": fit} for k, fit in enumerate(same, start=1)]
        for k, interval in enumerate(fit_intervals(losses, one.clusters, design.unit, confidence), start=1):
            rows.append({"kind": "cross_validated", "k": k, "seed": seed} | interval.row())
        for kind, fits in by_chance.items():
            rows += [{"kind": kind, "k": k, "estimate": fit} | extra for k, fit in enumerate(fits, start=1)]
        yield from one.numbered(one.row(one.statistic, **row) for row in rows)
        if top == largest:
            last.append((one, losses[:, [top - 1, top]]))
    level = 1 - (1 - confidence) / max(1, len(last) * (len(last) - 1) // 2)
    for (one, a), (other, b) in combinations(last, 2):
        interval = fit_difference(a, b, one.clusters, design.unit, level)
        row: Row = {"kind": "cross_validated", "k": largest, "other": other.method, "seed": seed} | interval.row()
        yield from one.numbered([one.row("fit_difference", **row)])


class Predictors:
    """The labels of one method as predictors, on the rows that have all of them."""

    def __init__(self, design: Design, method: str, exclude: Sequence[str]):
        self.design, self.method, self.statistic = design, method, FITS[design.target]
        columns = [c for c in design.x.columns if c[0] == method and c[1] not in exclude]
        part = design.common(columns)
        values = part.x.to_numpy(float)
        live = [i for i in range(len(columns)) if len(values) and np.ptp(values[:, i]) > 0]
        self.labels = [columns[i][1] for i in live]
        self.constant = [label for _, label in columns if label not in self.labels]
        self.clusters = part.clusters.astype(str)
        self.fitness = Fitness(values[:, live], part.y, "ols" if self.statistic == "r2" else "logit")
        self.reason = self._reason()

    def _reason(self) -> str:
        n, p = self.fitness.x.shape
        if p == 0:
            return "the method has no label that varies, other than those excluded"
        if n < p + 3:
            return f"{n} rows are too few for {p} labels"
        if np.ptp(self.fitness.y) == 0:
            return "the target has the same value throughout"
        rarer = min(np.sum(self.fitness.y == 0), np.sum(self.fitness.y == 1))
        if self.fitness.family == "logit" and rarer < p:  # most larger models would be separated
            return f"the rarer answer occurs {rarer} times, too few for {p} labels"
        if p > MAX_EXACT:
            return f"{p} labels have too many subsets to go through; at most {MAX_EXACT}"
        return ""

    def row(self, statistic: str, estimate: float, **columns: object) -> Row:
        fixed = {"statistic": statistic, "level": self.design.level, "method": self.method}
        return fixed | {"target": self.design.target, "estimate": float(estimate)} | columns

    def numbered(self, rows: Iterable[Row]) -> list[Row]:
        """`rows` with their sample sizes, or the reason for none, and labels left out."""
        size = {"n": len(self.fitness.y), "n_clusters": len(np.unique(self.clusters))}
        if self.reason:
            rows = [self.row(self.statistic, nan, kind="excluded", ci_kind="not_estimable", note=self.reason)]
        why = "the label has the same value throughout the rows used; left out"
        dropped = [self.row("selection_frequency", nan, kind="excluded", label=x, note=why) for x in self.constant]
        return [size | row for row in [*rows, *dropped]]
