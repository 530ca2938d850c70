"""Does a label predict quality, and what do labels explain jointly? The results of notebooks 04 and 06, and the parts
used by several views.

Which labels to keep (Finch et al. 2023, section 7.5): the paper selects labels "given the results" of four analyses
without saying how they were weighed. Here each analysis has a threshold in the YAML, and a label is kept if it reaches
all of them. The thresholds are choices, not findings. Labels selected and reported on the same data look better than
they are.

How well does one label predict a target? As published, in notebook 04: R² and pseudo-R² (Finch et al. 2023, section
7.2). Primary: the signed correlation with a jackknife interval over people on Fisher's z scale, because dialogues of
one person are not independent and an interval for R² cannot contain 0.

Ranks: labels are ordered by |r|. For an unrelated label |r| is about 1/sqrt(n), not 0, so the lowest ranks are due to
chance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import nan

import numpy as np
import pandas as pd

from judgebook.annotations.dialogue_values import Design
from judgebook.questions.agreement.items import judged
from judgebook.questions.performance.leading import decided
from judgebook.questions.validity import coverage
from judgebook.questions.validity.coverage import FITS, Row
from judgebook.questions.validity.question import Coverage, LabelSelection
from judgebook.questions.validity.targets import POOLED, Targets
from judgebook.statistics.clusters import Covariance, jackknife_covariance
from judgebook.statistics.correlation import moments, pearson_of_sums
from judgebook.statistics.intervals import MIN_MINORITY, Interval, jackknife_t
from judgebook.statistics.multiplicity import simultaneous_ranks, simultaneous_t
from judgebook.study.result_schema import statistics
from judgebook.study.results import Results, collect, where

KEY = ["method", "label"]


def analyse_importance(study_targets: Targets, confidence: float) -> Results:
    """All results of notebook 04: the correlation of each label, and ranks."""
    rows: list[Row] = []
    for target, design in study_targets.designs.items():
        rows += importance(design, confidence=confidence, n_annotators=study_targets.n_annotators)
        rows += importance_ranks(design, confidence=confidence)
        rows.append({"statistic": "count", "what": target, "level": design.level, "estimate": len(design.y)})
    return _of_group(collect(rows), study_targets)


def analyse_coverage(
    study_targets: Targets,
    earlier: Sequence[Results],
    *,
    options: Coverage,
    thresholds: LabelSelection,
    seed: int,
    confidence: float,
) -> tuple[Results, pd.DataFrame]:
    """All results of notebook 06, and the criteria of each label that could be kept (`select`).

    Parameters
    ----------
    study_targets : Targets
    earlier : sequence of Results
        Of notebooks 02 (cost), 03 (agreement), 04 (importance) and 07 (sensitivity).
    seed : int
        Of folds, halves and shuffled targets.
    """
    rows: list[Row] = []
    exclude = options.exclude
    for design in study_targets.designs.values():
        methods = list(dict.fromkeys(design.x.columns.get_level_values(0)))
        for method in methods:
            rows += coverage.stability(design, method, n_halves=options.n_halves, seed=seed, exclude=exclude)
        rows += coverage.compare(
            design,
            methods,
            seed=seed,
            exclude=exclude,
            n_folds=options.n_folds,
            n_repeats=options.n_repeats,
            n_permutations=options.n_permutations,
            confidence=confidence,
        )
    searched = _once(collect(rows))
    earlier_rows = {s: _by_predictors(f, study_targets) for s, f in collect(*earlier).items()}
    evidence = Results(earlier_rows | searched)
    candidates = study_targets.values.loc[~study_targets.values["label"].isin(exclude), KEY].drop_duplicates()
    selected = select(criteria(evidence, candidates), thresholds)
    return _of_group(searched, study_targets), selected


def criteria(results: Results, labels: pd.DataFrame) -> pd.DataFrame:
    """The value of each criterion for each label: columns method, label and those below, missing where unknown.

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
    r = results["r"].dropna(subset="ci_low")
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


def _once(results: Results) -> Results:
    """A label or method that is left out is so in every search, and has one row."""
    each = {s: [c for c in (*KEY, "system", "system_b", *statistics()[s].keys) if c in f] for s, f in results.items()}
    return Results({s: f.drop_duplicates(each[s]) for s, f in results.items()})


def _by_predictors(rows: pd.DataFrame, study_targets: Targets) -> pd.DataFrame:
    """Rows of the corpus, of each method those of the group whose judgements predict."""
    rows = where(rows, corpus=study_targets.corpus)
    if "method" not in rows or rows.empty:
        return rows
    return rows[rows["group"] == rows["method"].map(study_targets.groups)]


def _of_group(results: Results, study_targets: Targets) -> Results:
    """Results with the corpus and, of each method, the group whose judgements predict."""
    only = set(study_targets.groups.values())
    other = only.pop() if len(only) == 1 else POOLED
    out = {}
    for statistic, frame in results.items():
        method = frame["method"] if "method" in frame else pd.Series(None, frame.index, dtype=object)
        out[statistic] = frame.assign(corpus=study_targets.corpus, group=method.map(study_targets.groups).fillna(other))
    return Results(out)


def correlations(results: Results, target: str) -> pd.DataFrame:
    """Signed r of each label; labels without r left out."""
    return results.select("r", target=target).dropna(subset="estimate")


def excludes_zero(rows: pd.DataFrame) -> pd.Series:
    """Whether each interval lies on one side of 0; not so where there is none."""
    return (rows["ci_low"] > 0) | (rows["ci_high"] < 0)


def comparison(results: Results, target: str) -> pd.DataFrame:
    """Methods on the same rows, by number of labels: method, k, n, common, cross_validated (with ci_low, ci_high),
    permuted_mean, permuted_p95."""
    kinds = ["common", "cross_validated", "permuted_mean", "permuted_p95"]
    rows = results.select(FITS[target], target=target, kind=kinds)
    wide = rows.set_index(["method", "k", "n", "kind"])["estimate"].unstack("kind")  # noqa: PD010 (a repeat must raise)
    wide = wide.reindex(columns=kinds).rename_axis(columns=None).reset_index().astype({"k": int, "n": int})
    ends = rows.loc[rows["kind"] == "cross_validated", ["method", "k", "ci_low", "ci_high"]].astype({"k": int})
    return wide.merge(ends, how="left", on=["method", "k"])


def importance(
    design: Design, *, confidence: float = 0.95, n_annotators: Mapping[tuple[str, str], int] | None = None
) -> list[Row]:
    """How well each label alone predicts the target: rows of r, the signed Pearson correlation (point-biserial for a
    0/1 target).

    design : from `dialogue_values`; a predictor is used on the rows that have it. n_annotators : (method, label) ->
    number of people who judged it. The r of a predictor that cannot be used is missing, with the reason.
    """
    rows = []
    for i, (method, label) in enumerate(design.x.columns):
        rated = design.rows(design.x.iloc[:, i].notna().to_numpy())
        x, y = rated.x.iloc[:, i].to_numpy(float), rated.y
        fixed = {"statistic": "r", "level": design.level, "method": method, "label": label, "target": design.target}
        fixed |= {"n": len(x), "n_annotators": (n_annotators or {}).get((method, label))}
        if reason := _unusable(x, y):
            missing = {"estimate": nan, "ci_kind": "not_estimable", "note": reason}
            rows.append(fixed | {"n_clusters": len(np.unique(rated.clusters.astype(str)))} | missing)
            continue
        sums = _by_person(moments(x[:, None], y), rated.clusters)
        whole = sums.sum(axis=0, keepdims=True)
        r, without = pearson_of_sums(whole)[0, 0], pearson_of_sums(whole - sums)[:, 0]
        rows.append(fixed | _guarded(jackknife_t(float(r), without, design.unit, confidence), x).row())
    return rows


def _unusable(x: np.ndarray, y: np.ndarray) -> str:
    if len(x) < 4:
        return f"{len(x)} rows have both the label and the target; at least 4 are needed"
    if np.ptp(x) == 0:
        return f"the label has the same value, {x[0]:g}, throughout"
    if np.ptp(y) == 0:
        return f"the target has the same value, {y[0]:g}, throughout"
    return ""


def _by_person(sums: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    """(people, m) sums over the rows of each person."""
    people, code = np.unique(clusters.astype(str), return_inverse=True)
    out = np.zeros((len(people), sums.shape[1]))
    np.add.at(out, code, sums)
    return out


def _guarded(interval: Interval, x: np.ndarray) -> Interval:
    """No interval for a label that hardly varies."""
    values, counts = np.unique(x, return_counts=True)
    moving = len(x) - counts.max()
    if moving >= MIN_MINORITY:
        return interval
    common = values[np.argmax(counts)]
    note = f"only {moving} of {len(x)} rows differ from {common:g}; an interval needs {MIN_MINORITY}"
    return replace(interval, low=nan, high=nan, kind="not_estimable", note=note)


def importance_ranks(design: Design, *, confidence: float = 0.95) -> list[Row]:
    """Rank of each label by |r| with the target, 1 for the largest, with a simultaneous interval.

    People are a sample, as in `importance`; the covariance over labels is that of the jackknife. Returns rows of
    importance_rank; `n` is the number of rows with the label. Labels without variation are left out; with fewer than
    two there are no ranks.
    """
    x = design.x.to_numpy(float)
    known, y = np.isfinite(x), design.y
    live = [i for i, k in enumerate(known.T) if k.sum() > 3 and np.ptp(x[k, i]) > 0 and np.ptp(y[k]) > 0]
    if len(live) < 2:
        return []
    sums = _by_person(moments(x[:, live], design.y), design.clusters)
    whole = sums.sum(axis=0, keepdims=True)
    errors = Covariance(jackknife_covariance(np.abs(pearson_of_sums(whole - sums)))).pair_errors()
    strength, (i, j) = np.abs(pearson_of_sums(whole))[0], np.triu_indices(len(live), 1)
    critical = simultaneous_t(len(sums) - 1, len(i), confidence)
    apart = (errors > 0) & (np.abs(strength[i] - strength[j]) > critical * errors)
    rank, low, high = simultaneous_ranks(strength, apart)
    reason = "" if (errors > 0).any() else "no difference between labels varies"
    low, high = (np.full(len(live), nan) if reason else ends for ends in (low, high))
    fixed = {
        "statistic": "importance_rank",
        "level": design.level,
        "target": design.target,
        "resample_unit": design.unit,
        "n_clusters": len(sums),
        "note": reason or None,
        "ci_kind": "not_estimable" if reason else "simultaneous",
    }
    return [
        {**fixed, "method": method, "label": label, "n": int(n), "estimate": a, "ci_low": b, "ci_high": c}
        for (method, label), n, a, b, c in zip(
            design.x.columns[live], np.isfinite(x[:, live]).sum(axis=0), rank, low, high, strict=True
        )
    ]
