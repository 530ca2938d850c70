"""The items that annotators judged: which annotations are used, and in what matrix."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from judgebook.annotations.scores import sampled
from judgebook.codes import rows
from judgebook.questions.agreement.coincidences import Domain
from judgebook.study.labels import METHODS, Label
from judgebook.study.schema import Annotations

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
