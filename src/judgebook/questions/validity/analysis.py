"""Does a label predict quality, and what do labels explain jointly? The results of notebooks 04 and 06, and the parts
used by several views."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from judgebook.questions.validity import coverage, label_selection
from judgebook.questions.validity.coverage import FITS, Row
from judgebook.questions.validity.importance import importance, importance_ranks, shared_source
from judgebook.questions.validity.label_selection import KEPT, Sets, compare_sets
from judgebook.questions.validity.question import Coverage, LabelSelection
from judgebook.questions.validity.targets import POOLED, Targets
from judgebook.statistics.intervals import Sampling
from judgebook.study.labels import Label
from judgebook.study.result_schema import statistics
from judgebook.study.results import Results, collect, where

KEY = ["method", "label"]


def analyse_importance(study_targets: Targets, sampling: Sampling) -> Results:
    """All results of notebook 04: correlations, models of one label, ranks, and what labels of a method share."""
    people = study_targets.n_annotators
    parts: list[Results | Iterable[Row]] = [shared_source(study_targets.values, {method for method, _ in people})]
    for target, design in study_targets.designs.items():
        repeats = study_targets.repeats[target]
        parts.append(importance(design, sampling=sampling, repeats=repeats, n_annotators=people))
        parts.append(importance_ranks(design, confidence=sampling.confidence))
        parts.append([{"statistic": "count", "what": target, "level": design.level, "estimate": len(design.y)}])
    return _of_group(collect(*parts), study_targets)


def analyse_coverage(
    study_targets: Targets,
    earlier: Sequence[Results],
    labels: Iterable[Label],
    *,
    options: Coverage,
    thresholds: LabelSelection,
    sampling: Sampling,
    sets: Sets | None = None,
) -> tuple[Results, pd.DataFrame]:
    """All results of notebook 06, and the criteria of each label that could be kept (`label_selection.select`).

    Parameters
    ----------
    study_targets : Targets
    earlier : sequence of Results
        Of notebooks 02 (cost), 03 (agreement), 04 (importance) and 07 (sensitivity).
    labels : iterable of Label
        Of the study: which task gives a label.
    sampling : Sampling
        Of intervals; its seed is also that of folds, halves and shuffled targets.
    sets : mapping, optional
        Sets of labels to hold against all (`label_selection.compare_sets`), besides those that reach every threshold.
    """
    rows: list[Row] = []
    exclude, seed = options.exclude, sampling.seed
    for design in study_targets.designs.values():
        methods = list(dict.fromkeys(design.x.columns.get_level_values(0)))
        for method in methods:
            rows += coverage.best_subsets(design, method, exclude=exclude)
            rows += coverage.stability(design, method, n_halves=options.n_halves, seed=seed, exclude=exclude)
        rows += coverage.compare(
            design,
            methods,
            seed=seed,
            exclude=exclude,
            n_folds=options.n_folds,
            n_repeats=options.n_repeats,
            n_permutations=options.n_permutations,
            confidence=sampling.confidence,
        )
    searched = _once(collect(rows))
    earlier_rows = {s: _by_predictors(f, study_targets) for s, f in collect(*earlier).items()}
    evidence = Results(earlier_rows | searched)
    candidates = study_targets.values.loc[~study_targets.values["label"].isin(exclude), KEY].drop_duplicates()
    selected = label_selection.select(label_selection.criteria(evidence, candidates), thresholds)
    met = label_selection.rows(selected, label_selection.limits(thresholds))
    minutes = label_selection.minutes(selected, evidence, labels)
    reached = {m: list(part["label"]) for m, part in selected[selected["kept"]].groupby("method", sort=False)}
    every_set, n_folds, n_repeats = dict(sets or {}) | {KEPT: reached}, options.n_folds, options.n_repeats
    compared = [
        row
        for design in study_targets.designs.values()
        for row in compare_sets(
            design, every_set, sampling=sampling, exclude=exclude, n_folds=n_folds, n_repeats=n_repeats
        )
    ]
    return _of_group(_once(collect(searched, met, minutes, compared)), study_targets), selected


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
    """Signed r of each label with its primary interval; labels without r left out."""
    return results.select("r", target=target, kind=None).dropna(subset="estimate")


def excludes_zero(rows: pd.DataFrame) -> pd.Series:
    """Whether each interval lies on one side of 0; not so where there is none."""
    return (rows["ci_low"] > 0) | (rows["ci_high"] < 0)


def corrected(results: Results, target: str) -> pd.DataFrame:
    """Corrected correlations that can be estimated (`importance.importance` has the rule)."""
    return results.select("corrected_r", target=target).dropna(subset="estimate")


def chosen(results: Results, target: str) -> pd.DataFrame:
    """The subset with the highest adjusted fit of each method: method, k, fit, adjusted, labels, close, n."""
    rows, out = results.select(FITS[target], target=target, kind="best_subset").set_index(["method", "k"]), []
    adjusted = results.select(f"adjusted_{FITS[target]}", target=target, kind="best_subset").set_index(["method", "k"])
    inside, close = (where(results[s], target=target) for s in ("selected", "close_subsets"))
    for method, values in adjusted["estimate"].groupby("method", sort=False):
        at = values.astype(float).idxmax()
        labels = list(where(inside, method=method, kind="best_subset", k=at[1])["label"])
        best = {"method": method, "k": int(at[1]), "fit": rows.loc[at, "estimate"], "adjusted": values[at]}
        n_close = int(where(close, method=method)["estimate"].iloc[0])
        out.append(best | {"labels": labels, "close": n_close, "n": int(rows.loc[at, "n"])})
    return pd.DataFrame(out, columns=["method", "k", "fit", "adjusted", "labels", "close", "n"])


def comparison(results: Results, target: str) -> pd.DataFrame:
    """Methods on the same rows, by number of labels: method, k, n, common, cross_validated (with ci_low, ci_high),
    permuted_mean, permuted_p95."""
    kinds = ["common", "cross_validated", "permuted_mean", "permuted_p95"]
    rows = results.select(FITS[target], target=target, kind=kinds)
    wide = rows.set_index(["method", "k", "n", "kind"])["estimate"].unstack("kind")  # noqa: PD010 (a repeat must raise)
    wide = wide.reindex(columns=kinds).rename_axis(columns=None).reset_index().astype({"k": int, "n": int})
    ends = rows.loc[rows["kind"] == "cross_validated", ["method", "k", "ci_low", "ci_high"]].astype({"k": int})
    return wide.merge(ends, how="left", on=["method", "k"])
