"""Of whom agreement can speak: of other annotators or of these only, by who judged the items that were judged twice.

The rows of results that follow from it: of each label, alpha with the one interval that is shown wherever alpha is.
"""

from __future__ import annotations

import numpy as np

from judgebook.annotations.population import FIXED, UNKNOWN
from judgebook.annotations.population import LEAST as LEAST_EFFECTIVE
from judgebook.study.labels import METHODS
from judgebook.study.results import ResultRows, Results
from judgebook.study.schema import CELL, Annotations

#: the population of a result: other annotators too; these; unknown people, and so these (FIXED, UNKNOWN)
SAMPLE = "sample"
#: what `resample` says of an interval for other annotators
TWO_WAY = " and annotator"
#: interval kinds that are not an interval around a free estimate
BOUNDS = ("exact_bound", "not_estimable")
#: why nothing is said of other annotators where the YAML does not ask for it
_DECLARED = "`inference.annotators` is fixed"
_RANK = {"turn": 0, "dialogue": 1, "pair": 1, "session": 2, "context": 2}


def effective_annotators(annotations: Annotations) -> float:
    """One over the sum of squared shares of judgements: how many annotators with equal shares would say as much.

    annotations : one row per judgement, with `annotator`. Kish 1965, Survey Sampling, section 8.2.
    """
    n = annotations["annotator"].value_counts().to_numpy(dtype=float)
    return float(n.sum() ** 2 / np.sum(n**2)) if n.sum() else 0.0


def population(annotations: Annotations) -> str:
    """SAMPLE from LEAST_EFFECTIVE effective annotators who are known (to one decimal, as loads that were meant to be
    equal rarely are), FIXED below, UNKNOWN where not all are known."""
    if not annotations["annotator_known"].all():
        return UNKNOWN
    return SAMPLE if round(effective_annotators(annotations), 1) >= LEAST_EFFECTIVE else FIXED


def without_others(results: Results) -> Results:
    """`results` without intervals for other annotators, as the study declares; why there are none stands in `note`."""
    rows = results["alpha"]
    if len(rows):
        others = rows["resample"].fillna("").str.endswith(TWO_WAY).astype(bool)
        ends = rows[["ci_low", "ci_high"]].mask(others)
        kind, note = rows["ci_kind"].mask(others, "not_estimable"), rows["note"].mask(others, _DECLARED)
        results["alpha"] = rows.assign(ci_low=ends["ci_low"], ci_high=ends["ci_high"], ci_kind=kind, note=note)
    return results


def primary(results: Results) -> ResultRows:
    """Alpha of every label judged twice with its one primary interval: the one to show wherever alpha is shown.

    Returns one row per corpus, group, method and label, with the columns of `alpha` and: `population`, of whom the
    interval speaks (sample: other annotators, too; fixed: these annotators; unknown: these, who are not known
    individually); `unit`, what it resamples besides annotators (dialogue, pair, session, context, turn); `others`, why
    it says nothing of other annotators, missing where it does.
    """
    return judged(results).query("n > 0")


def judged(results: Results) -> ResultRows:
    """As `primary`, with labels of which no item was judged twice.

    The interval for other annotators is primary where there is one; else that over contexts or sessions, if items share
    them; else over dialogues or pairs; over turns only where the study says so.
    """
    rows = results.select("alpha", scope=None, pick=None, over=None)
    rows = rows[rows["resample"].isin([*_RANK, *(unit + TWO_WAY for unit in _RANK)])]
    people = rows["resample"].str.endswith(TWO_WAY).astype(bool)
    unit = rows["resample"].str.removesuffix(TWO_WAY)
    keys = [rows[c] for c in CELL]
    all_known = people.groupby(keys, dropna=False).transform("any").astype(bool)
    others = rows["note"].where(people).groupby(keys, dropna=False).transform("first")
    speaks = people & rows["ci_low"].notna()
    rank = unit.map(_RANK).where(~people, len(_RANK)).where(speaks | ~people, -1)
    rows = rows.assign(
        population=np.select([speaks, all_known], [SAMPLE, FIXED], UNKNOWN),
        unit=unit,
        others=others.where(~speaks, None),
    )
    return rows[rank == rank.groupby(keys, dropna=False).transform("max")]


def misleading(annotations: Annotations, unit: str | None) -> list[str]:
    """Methods whose judgements are resampled by turn though a dialogue has several (`bootstrap.unit`)."""
    if unit != "turn":
        return []
    turns = annotations[annotations["turn"].notna()].drop_duplicates(["corpus", "method", "dialogue", "turn"])
    several = turns.duplicated(["corpus", "method", "dialogue"])
    return [method for method in METHODS if method in set(turns.loc[several, "method"])]
