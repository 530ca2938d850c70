"""The items that annotators judged: which annotations are used, and in what matrix; and of whom agreement can speak.

That is of other annotators, or of these only, by who judged the items that were judged twice. The rows of results that
follow from it: of each label, alpha with the one interval that is shown wherever alpha is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from judgebook.annotations.population import FIXED, UNKNOWN
from judgebook.annotations.population import LEAST as LEAST_EFFECTIVE
from judgebook.annotations.scores import sampled
from judgebook.codes import rows
from judgebook.questions.agreement.coincidences import Domain
from judgebook.study.labels import METHODS, Label
from judgebook.study.results import ResultRows, Results
from judgebook.study.schema import CELL, Annotations

#: what intervals resample where the study says so
SHARED = ("session", "context")
#: values up to which a scale counts as one of single values
MOST_VALUES = 101


def first_annotations(
    annotations: Annotations, *, first: int | None = 2, kinds: Sequence[str] = ("human",)
) -> Annotations:
    """The first annotations of every item within a group, in source order.

    Of several judgements of an item by one known person only the first counts: agreement is between people.

    Parameters
    ----------
    annotations : DataFrame
        Columns of `schema.ANNOTATIONS`.
    first : int or None
        Annotations kept per item and group; None: all.
    kinds : sequence of str
        Kinds of annotators kept: human, llm, classifier.

    Returns
    -------
    DataFrame with three more columns: `item`, the same code for one item whoever judged it (a comparison is the same
    item from either side; its score is turned to one orientation), `turned`, whether it was, and `position`, the
    annotation's place from 0.
    """
    out = rows(annotations, annotations["annotator_kind"].isin(list(kinds)))
    if not out["source_row"].is_monotonic_increasing:
        out = out.sort_values("source_row", kind="stable")
    turned = (out["dialogue_b"].notna() & (out["dialogue_b"] < out["dialogue"]).fillna(False)).to_numpy(dtype=bool)
    out = out.assign(turned=turned)
    if turned.any():
        out = out.assign(
            dialogue=out["dialogue"].where(~turned, out["dialogue_b"]),
            dialogue_b=out["dialogue_b"].where(~turned, out["dialogue"]),
            score=out["score"].where(~turned, -out["score"]),
        )
    about = ["corpus", "method", "label", "dialogue", "turn", "dialogue_b"]
    out["item"] = out.groupby(about, dropna=False, sort=False).ngroup()
    out = rows(out, ~(out["annotator_known"] & out.duplicated(["item", "group", "annotator"])))
    out = out.assign(position=out.groupby(["item", "group"], sort=False).cumcount())
    return (out if first is None else rows(out, out["position"] < first)).reset_index(drop=True)


def matrix(frame: Annotations, columns: str = "position") -> pd.DataFrame:
    """(items, positions) matrix of one label's scores; (items, annotators) with `columns='annotator'`."""
    return frame.pivot(index="item", columns=columns, values="score")  # noqa: PD010 (two values of a cell must raise)


def item_weights(frame: Annotations) -> np.ndarray | None:
    """(items,) sampling weights of the items of one label, in the order in which they occur; None if all are equal."""
    if not sampled(frame):
        return None
    return frame.groupby("item", sort=False)["sampling_weight"].first().fillna(1.0).to_numpy()


def without_weights(annotations: Annotations) -> Annotations:
    """The annotations as if all had been drawn with equal probability, for values as published."""
    return annotations.drop(columns="sampling_weight", errors="ignore")


def cluster_unit(frame: Annotations, label: Label, unit: str | None = None) -> str:
    """What intervals of a label's agreement resample, items of one such unit not being independent.

    frame : the label's annotations; without a column `context`, no contexts are known. unit : what the study says
    (`bootstrap.unit`). Otherwise the context, where each dialogue (pair) has one and several share one, as answers to
    the same prompt do; else the dialogue or the pair.
    """
    level = METHODS[label.method].unit
    if unit in SHARED:
        return unit
    if unit == "turn":
        return level
    whole = ["dialogue", "dialogue_b"]
    held = frame.drop_duplicates([*whole, "context"]) if "context" in frame else frame.iloc[:0]
    all_known = held["context"].notna().all() if len(held) else False
    if all_known and len(held) == len(frame.drop_duplicates(whole)) and 1 < held["context"].nunique() < len(held):
        return "context"
    return "pair" if level == "pair" else "dialogue"


def domain(scores: pd.Series, label: Label) -> Domain | None:
    """Values alpha has to know of: those that occur, both for a binary label; others change nothing and cost time."""
    if METHODS[label.method].unit == "pair":
        return np.unique(np.r_[scores, -scores])
    return (0, 1) if label.binary else None


def scale_values(scores: pd.Series, label: Label) -> np.ndarray:
    """The values that the scale of a label has: coefficients whose chance agreement depends on them need all.

    Those given, where scores are no whole numbers, there are more than MOST_VALUES, or answers are sets; of comparisons
    those given in either orientation: whether a tie was possible is not known.
    """
    if METHODS[label.method].unit == "pair":
        return np.unique(np.r_[scores, -scores])
    low, high = label.scale
    if not label.integer or label.level == "sets" or high - low >= MOST_VALUES:
        return np.unique(scores.to_numpy(dtype=float))
    return np.arange(low, high + 1, dtype=float)


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
