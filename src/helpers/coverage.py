"""Coverage and distinctness: how much of quality do a method's labels explain together, and does each add something?
(incremental validity, Finch et al. 2023, section 7.4)

As published (`stepwise`): backward elimination with a beam, chosen by adjusted fit; the figure plots the unadjusted
fit, and fills a marker where every predictor of the model adds to the adjusted fit.

Primary: exact best subsets (`best_subsets`), how stable their choice is over half-samples of people (`stability`),
and a comparison of methods on the same dialogues, at the same number of labels, cross-validated by person, beside
what the same search finds when the target is shuffled (`compare`).

When it misleads: the best of many subsets fits the noise too, so the fit of the chosen subset is too high, and a method
with more labels has more to choose from. Compare at equal k, and with the cross-validated and the shuffled values. A
gain in adjusted R² means |t| > 1, which a useless label reaches 32 % of the time. There are no p-values after
selection. R² (linear, dialogue quality) and McFadden's pseudo-R² (logit, comparative quality) are different
statistics with different names, and are never set side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import nan

import numpy as np
import pandas as pd

from helpers.logit import subset_log_likelihoods
from helpers.resampling import generator
from helpers.schema import condition
from helpers.selection import best_fits, chosen, cross_validate, permuted_fits
from helpers.subsets import MAX_EXACT, Fitness, backward, best_of_each_size, masks_of, sizes
from helpers.values import DIALOGUE_QUALITY, Design

#: subsets this close to the best adjusted fit are counted as nearly as good
WITHIN = 0.01
Row = dict[str, object]


def stepwise(design: Design, method: str, *, exclude: Sequence[str] = ("quality",), width: int = 100) -> pd.DataFrame:
    """The published path of one method: `subsets.backward`, one model a number of predictors.

    design : of `values.dialogue_design` (linear model) or `values.comparative_design` (logit). method : its labels are
    the predictors, but those of `exclude`. width : models kept at each step.

    Returns result rows, condition kind=stepwise;k=…, with `label` the predictor that k adds to k - 1: r2 or
    mcfadden_r2; the same adjusted; smallest_gain, positive where the paper's marker is filled; separated (logit).
    Labels that cannot be used have a row with the reason.

    Checked against statsmodels.
    """
    one = _Method(design, method, exclude)
    if one.reason:
        return one.frame([])
    path = backward(one.fitness, width)
    rows = []
    for k in range(1, one.fitness.p + 1):
        add = one.rows(k, path.fit[k - 1], path.masks[k - 1], kind="stepwise")
        add.append(one.row("smallest_gain", path.gain[k - 1], kind="stepwise", k=k))
        rows += [row | {"label": one.labels[path.order[k - 1]]} for row in add]
    return one.frame(rows)


def best_subsets(design: Design, method: str, *, exclude: Sequence[str] = ("quality",)) -> pd.DataFrame:
    """The best model of each size out of all 2^p, p at most 20.

    Returns result rows, condition kind=best_subset;k=…: r2 or mcfadden_r2, the same adjusted, separated (logit);
    selected, one row a label of the best subset; and close_subsets, how many of all subsets have an adjusted fit
    within 0.01 of the highest: when they are many, which labels were chosen says little.

    Checked against statsmodels on every subset.
    """
    one = _Method(design, method, exclude)
    if one.reason or one.too_many():
        return one.frame([])
    fit = one.fitness.all()
    rows = []
    for k, code in enumerate(best_of_each_size(fit, one.fitness.p)[:, 0], start=1):
        mask = masks_of([code], one.fitness.p)[0]
        rows += one.rows(k, fit[code], mask, kind="best_subset")
        for i in np.flatnonzero(mask):
            rows.append(one.row("selected", 1.0, kind="best_subset", k=k) | {"label": one.labels[i]})
    adjusted = one.fitness.adjusted(fit, sizes(one.fitness.p))
    close = np.sum(adjusted >= np.nanmax(adjusted) - WITHIN)
    return one.frame([*rows, one.row("close_subsets", float(close), kind="best_subset", within=WITHIN)])


def stability(
    design: Design, method: str, *, seed: int, exclude: Sequence[str] = ("quality",), n_halves: int = 100
) -> pd.DataFrame:
    """How often each label is in the subset with the highest adjusted fit, over random halves of the people.

    Halves are drawn without replacement (Meinshausen and Bühlmann 2010, Stability selection, JRSS B 72, 417-473): a
    bootstrap sample repeats rows, which makes noise look useful (a useless label enters 47 % rather than 32 % of the
    time). Linear models: exact; logits: `subsets.shortlist`.

    Returns result rows selection_frequency; n is the number of halves, n_undefined those whose target has one value.
    Checked by simulation: a strong label is always chosen, a useless one about a third of the time.
    """
    one = _Method(design, method, exclude)
    if one.reason or one.too_many():
        return one.frame([])
    rng = generator(seed, "stability", design.target, method)
    people = np.unique(one.clusters)
    times, undefined = np.zeros(one.fitness.p), 0
    for _ in range(n_halves):
        half = np.isin(one.clusters, rng.choice(people, len(people) // 2, replace=False))
        x, y = one.fitness.x[half], one.fitness.y[half]
        if len(y) == 0 or np.ptp(y) == 0:
            undefined += 1
            continue
        times += chosen(Fitness(x, y, one.fitness.family))
    done = n_halves - undefined
    extra = {"n": done, "n_undefined": undefined, "seed": seed, "resample_unit": design.unit}
    rows = [
        one.row("selection_frequency", times[i] / done if done else nan, kind="half_samples") | {"label": label} | extra
        for i, label in enumerate(one.labels)
    ]
    return one.frame(rows)


def compare(
    design: Design,
    methods: Sequence[str],
    *,
    seed: int,
    exclude: Sequence[str] = ("quality",),
    n_folds: int = 10,
    n_repeats: int = 5,
    n_permutations: int = 100,
    unit: str = "interactor",
) -> pd.DataFrame:
    """Methods beside each other: same rows, same number of labels k, the best subset of that size each time.

    Rows are those where all methods' labels are known. The largest k is that of the method with the fewest labels.

    Returns result rows r2 or mcfadden_r2, condition k=…;kind=
        common : the best subset on these rows (here and below by `subsets.shortlist` for a logit);
        cross_validated : chosen and fitted without the people it is judged on: 1 less the squared error (less the
            log-likelihood, for a logit) over that of the mean of the others. Negative when worse than that mean. Logits
            predict by Firth's estimate, so that separation in a fold gives no infinite loss;
        permuted_mean, permuted_p95 : mean and 95 % point of the best subset's fit when the target is shuffled
            (`selection.permuted_targets`): what the search finds in noise.

    Checked by simulation: with useless labels the cross-validated fit is at most about 0 and `common` near
    permuted_mean.
    """
    every = {m: _Method(design, m, exclude) for m in methods}
    usable = {m: one for m, one in every.items() if not one.reason and not one.too_many()}
    rows = [one.frame([]) for one in every.values()]
    if not usable:
        return pd.concat(rows, ignore_index=True)
    columns = [(m, label) for m, one in usable.items() for label in one.labels]
    common = design.common(columns)
    largest = min(one.fitness.p for one in usable.values())
    for m in usable:
        one = _Method(common, m, exclude)
        if one.reason:
            rows.append(one.frame([]))
            continue
        rng = generator(seed, "compare", design.target, m)
        top = min(largest, one.fitness.p)
        found = {"common": best_fits(one.fitness)}
        found["cross_validated"] = cross_validate(one.fitness, one.clusters, rng, top, n_folds, n_repeats)
        shuffled = permuted_fits(one.fitness, one.clusters, rng, n_permutations, unit)
        found |= {"permuted_mean": shuffled.mean(axis=0), "permuted_p95": np.quantile(shuffled, 0.95, axis=0)}
        extra = {"resample_unit": design.unit, "seed": seed}
        out = [
            one.row(one.statistic, fits[k - 1], kind=kind, k=k) | (extra if kind != "common" else {})
            for kind, fits in found.items()
            for k in range(1, top + 1)
        ]
        rows.append(one.frame(out))
    return pd.concat(rows, ignore_index=True).drop_duplicates(["statistic", "method", "label", "condition"])


class _Method:
    """The labels of one method as predictors, on the rows that have all of them."""

    def __init__(self, design: Design, method: str, exclude: Sequence[str]):
        self.design, self.method, self.dropped = design, method, []
        columns = [c for c in design.x.columns if c[0] == method and c[1] not in exclude]
        part = design.common(columns)
        self.statistic = "r2" if design.target == DIALOGUE_QUALITY else "mcfadden_r2"
        values = part.x.to_numpy(float)
        live = [i for i in range(len(columns)) if len(values) and np.ptp(values[:, i]) > 0]
        for i in sorted(set(range(len(columns))) - set(live)):
            why = "the label has the same value throughout the rows used; left out"
            self.dropped.append(self.row("selected", nan, kind="excluded") | {"label": columns[i][1], "note": why})
        self.labels = [columns[i][1] for i in live]
        self.clusters = part.clusters.astype(str)
        family = "ols" if self.statistic == "r2" else "logit"
        self.fitness = Fitness(values[:, live], part.y, family)
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
        if self.fitness.family == "logit" and rarer < p:  # most larger models would be separated, and mean nothing
            return f"the rarer answer occurs {rarer} times, too few for {p} labels"
        return ""

    def too_many(self) -> bool:
        if self.fitness.p <= MAX_EXACT:
            return False
        self.reason = f"{self.fitness.p} labels have too many subsets to go through; at most {MAX_EXACT}"
        return True

    def row(self, statistic: str, estimate: float, **keys: object) -> Row:
        level, target = self.design.level, self.design.target
        fixed = {"statistic": statistic, "level": level, "method": self.method, "label": None}
        return fixed | {"condition": condition(target=target, **keys), "estimate": float(estimate)}

    def rows(self, k: int, fit: float, mask: np.ndarray, kind: str) -> list[Row]:
        adjusted = self.fitness.adjusted(fit, k)
        out = [self.row(self.statistic, fit, kind=kind, k=k)]
        out.append(self.row(f"adjusted_{self.statistic}", adjusted, kind=kind, k=k))
        if self.fitness.family == "logit":
            flag = subset_log_likelihoods(self.fitness.x, self.fitness.y, mask[None])[1][0]
            out.append(self.row("separated", float(flag), kind=kind, k=k))
        return out

    def frame(self, rows: list[Row]) -> pd.DataFrame:
        n, people = len(self.fitness.y), len(np.unique(self.clusters))
        if self.reason:
            rows = [self.row(self.statistic, nan, kind="excluded") | {"ci_kind": "not_estimable", "note": self.reason}]
        return pd.DataFrame([{"n": n, "n_clusters": people} | row for row in [*rows, *self.dropped]])
