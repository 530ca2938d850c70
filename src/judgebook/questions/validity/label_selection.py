"""Which labels to keep, and what is lost by keeping only these? (Finch et al. 2023, section 7.5)

The paper selects labels "given the results" of four analyses without saying how they were weighed. Here each analysis
has a threshold in the YAML, and a label is kept if it reaches all of them. The thresholds are choices, not findings.
Labels selected and reported on the same data look better than they are.

Finch et al. 2023 recommend a final set of behaviours (section 7.5) and show coverage of all of them only (Figure 3).
Which labels are in that set is printed in bold type, which the text of the paper does not preserve; so the sets here
are those that a study states (`costs.final_labels`), those that reach every threshold, and those named in section 7.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgebook.annotations.dialogue_values import Design
from judgebook.questions.agreement.population import judged
from judgebook.questions.performance.leading import decided
from judgebook.questions.validity.coverage import Predictors
from judgebook.questions.validity.question import LabelSelection
from judgebook.statistics.intervals import Interval, Sampling
from judgebook.statistics.resampling import replicate_sums
from judgebook.statistics.subset_stability import held_out_losses
from judgebook.study.labels import Label
from judgebook.study.results import Results

#: criterion -> what its value is
VALUES = {
    "agreement": "alpha",
    "importance": "largest |r| with an interval that excludes 0",
    "sensitivity": "pairs of systems that are decided",
    "distinctness": "share of half-samples that select it",
    "cost": "estimated cost of one label",
}
KEY = ["method", "label"]


def criteria(results: Results, labels: pd.DataFrame) -> pd.DataFrame:
    """The value of each criterion for each label: columns method, label and those of `VALUES`, missing where unknown.

    Parameters
    ----------
    results : Results
        Of one corpus and group: alpha, r, contrast, cost_per_label and selection_frequency.
    labels : DataFrame
        Columns method, label.

    Returns
    -------
    DataFrame. agreement: alpha over dialogues or pairs. importance: the larger |r| over the two targets among those
    whose jackknife interval excludes 0; 0 where neither does. sensitivity: pairs of systems that the fit decides.
    distinctness: the larger selection frequency over the two targets. cost: the same for all
    labels of a method.

    Raises
    ------
    ValueError
        Where a label has several values of a criterion.
    """
    r = results.select("r", kind=None).dropna(subset="ci_low")
    clear = (r["ci_low"] > 0) | (r["ci_high"] < 0)
    cost = results.select("cost_per_label", tasks="all").set_index("method")["estimate"]
    out = labels[KEY].drop_duplicates().set_index(KEY)
    out["agreement"] = _one(judged(results))
    out["importance"] = r["estimate"].abs().where(clear, 0.0).groupby([r["method"], r["label"]]).max()
    pairs = results["contrast"].dropna(subset="ci_low")
    if pairs.duplicated([*KEY, "system", "system_b"]).any():
        raise ValueError("pairs of systems have several rows of the same label; select one group")
    out["sensitivity"] = decided(pairs).groupby([pairs["method"], pairs["label"]]).sum().astype(float)
    out["distinctness"] = results["selection_frequency"].groupby(KEY)["estimate"].max()
    out["cost"] = out.index.get_level_values("method").map(cost).astype(float)
    return out.reset_index()


def _one(rows: pd.DataFrame) -> pd.Series:
    """One value per label."""
    if rows.duplicated(KEY).any():
        raise ValueError(f"{int(rows.duplicated(KEY).sum())} rows are a second one of the same label; select one group")
    return rows.set_index(KEY)["estimate"]


def select(values: pd.DataFrame, thresholds: LabelSelection) -> pd.DataFrame:
    """Which thresholds each label reaches: the frame of `criteria` with a column `<criterion>_met` for each that is
    applied, and `kept`, whether all are. A missing value reaches nothing."""
    out, applied = values.copy(), limits(thresholds)
    for name, limit in applied.items():
        column = values[name]
        met = column <= limit if name == "cost" else column > 0 if name == "importance" else column >= limit
        out[f"{name}_met"] = met.fillna(False).astype(bool)
    out["kept"] = out[[f"{name}_met" for name in applied]].all(axis=1)
    return out


def limits(thresholds: LabelSelection) -> dict[str, float]:
    """The criteria that are applied, and their thresholds; 0 for importance, which asks for an interval without 0."""
    stated = {
        "agreement": thresholds.min_alpha,
        "importance": 0.0 if thresholds.excludes_zero else None,
        "sensitivity": thresholds.min_pairs,
        "distinctness": thresholds.min_selected,
        "cost": thresholds.max_cost,
    }
    return {name: float(limit) for name, limit in stated.items() if limit is not None}


def rows(selected: pd.DataFrame, applied: dict[str, float]) -> Iterator[dict[str, Any]]:
    """Rows of criterion_met, per label and criterion (and `all`), and of n_kept: how many labels of a method reach each
    criterion, all of them, and all but that one. applied : `limits`."""
    for row in selected.to_dict("records"):
        base = {"statistic": "criterion_met", "method": row["method"], "label": row["label"], "level": "dialogue"}
        for name, limit in applied.items():
            note = None if pd.notna(row[name]) else f"not known: {VALUES[name]}"
            met = {"criterion": name, "threshold": limit, "estimate": float(row[f"{name}_met"]), "note": note}
            yield base | met
        yield base | {"criterion": "all", "estimate": float(row["kept"])}
    sets = {"all": list(applied)} | {name: [name] for name in applied}
    sets |= {f"all but {name}": [other for other in applied if other != name] for name in applied}
    for method, part in selected.groupby("method", sort=False):
        base = {"statistic": "n_kept", "method": method, "level": "dialogue", "n": len(part)}
        for name, wanted in sets.items():
            n = part[[f"{w}_met" for w in wanted]].all(axis=1).sum()
            yield base | {"criterion": name, "estimate": float(n)}


def minutes(selected: pd.DataFrame, results: Results, labels: Iterable[Label]) -> Iterator[dict[str, Any]]:
    """Minutes per dialogue or pair for the tasks of the labels kept: rows of unit_minutes (`tasks` kept), by method.

    results : median_minutes of one corpus and group. A task counts in full where it gives any kept label. Methods
    without durations of such a task are left out.
    """
    task_of, medians = {(x.method, x.id): x.task or x.method for x in labels}, results["median_minutes"]
    for method, part in selected[selected["kept"]].groupby("method", sort=False):
        tasks = {task_of.get((method, label), method) for label in part["label"]}
        of_tasks = medians[(medians["method"] == method) & medians["task"].isin(tasks)]
        if set(of_tasks["task"]) == tasks:
            row = {"statistic": "unit_minutes", "method": method, "level": of_tasks["level"].iloc[0], "tasks": "kept"}
            yield row | {"n": len(tasks), "estimate": float(of_tasks["estimate"].sum())}


#: names of sets: all labels of a method; stated by the study; reach every threshold; named distinct in section 7.4
ALL, FINAL, KEPT, NAMED = "all", "final", "kept", "named"
#: sets -> method -> labels
Sets = Mapping[str, Mapping[str, Sequence[str]]]


def compare_sets(
    design: Design,
    sets: Sets,
    *,
    sampling: Sampling,
    exclude: Sequence[str] = ("quality",),
    n_folds: int = 10,
    n_repeats: int = 5,
) -> Iterator[dict[str, Any]]:
    """Fit of each set of labels and of all labels of its method, on the dialogues or pairs that have all of them.

    Parameters
    ----------
    design : Design
        Linear model for dialogue quality, logit for comparative quality.
    sets : mapping
        Name -> method -> labels. Labels that are unknown, constant or in `exclude` are left out; a set without any
        label of a method, or with all of them, has no row.

    Returns
    -------
    Rows of `set_fit` (R² or McFadden's pseudo-R², by `target`) of each `set` and of all, and of `set_fit_difference`,
    a set minus all. `kind` is same_data (fitted and evaluated on the same rows, where more labels cannot fit worse) or
    cross_validated (on people left out, folds as in `coverage.compare`), for which people are resampled (BCa) with the
    fitted models held fixed. The interval does not say that other people would give other models, nor that a set chosen
    on the same data looks better than it is.
    """
    for method in dict.fromkeys(m for named in sets.values() for m in named):
        one = Predictors(design, method, exclude)
        masks = {ALL: np.ones(one.fitness.p, dtype=bool)}
        masks |= {name: np.isin(one.labels, list(named.get(method, ()))) for name, named in sets.items()}
        masks = {name: mask for name, mask in masks.items() if name == ALL or (mask.any() and not mask.all())}
        if one.reason or len(masks) < 2:
            continue
        rng = sampling.stream("label_sets", design.target, method)
        every = np.array(list(masks.values()))
        losses = held_out_losses(one.fitness, one.clusters, rng, every, n_folds, n_repeats)
        same = one.fitness.fit(every)
        intervals = _intervals(losses, one.clusters, design.unit, rng, sampling)
        parts = []
        for i, (name, mask) in enumerate(masks.items()):
            row = {"set": name, "kind": "same_data", "k": int(mask.sum())}
            parts.append(one.row("set_fit", same[i], **row))
            parts.append(one.row("set_fit", np.nan, **row | {"kind": "cross_validated"}) | intervals[i].row())
            if name != ALL:
                parts.append(one.row("set_fit_difference", same[i] - same[0], **row))
                interval = intervals[len(masks) + i].row()
                parts.append(one.row("set_fit_difference", np.nan, **row | {"kind": "cross_validated"}) | interval)
        yield from one.numbered(parts)


def _intervals(
    losses: np.ndarray, clusters: np.ndarray, unit: str, rng: np.random.Generator, sampling: Sampling
) -> list[Interval]:
    """Of the cross-validated fit of each set, and of each minus the first."""
    finite = np.isfinite(losses).all(axis=1)
    people, code = np.unique(clusters[finite], return_inverse=True)
    rows = np.zeros((len(people), losses.shape[1]))
    np.add.at(rows, code, losses[finite])

    def statistic(sums: np.ndarray) -> np.ndarray:
        fits = 1 - sums[:, :-1] / sums[:, -1:]
        return np.concatenate([fits, fits - fits[:, :1]], axis=1)

    replicates = replicate_sums(rows, statistic, unit=unit, rng=rng, n_resamples=sampling.n_resamples)
    return replicates.intervals(sampling.confidence)
