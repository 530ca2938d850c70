"""Means of systems and severity of annotators from a mixed model with crossed annotators and dialogues.

Means are partially pooled: drawn towards the mean of all systems, the more so the less is known of a system. Their
intervals treat dialogues and annotators as samples, and account for annotators who judge systems differently. Labels of
marks have a logistic model, whose probabilities are those of an average over annotators and dialogues; all others a
linear one. Marks given fewer than five times per dialogue are modelled without dialogues and with their design effect
(`mixed_models`): with two or three judgements per dialogue, 8 annotators and 4 systems of 80 dialogues, rates of 5% and
10% are covered by 95% to 100% of intervals. With fewer than 25 marked dialogues there are no rates: the studies that
had a few more would be those with more marks than expected, whose rates are too high (at 1.5%, twice the true one). A
modelled rate far from the raw one is refused.

References
----------
Robinson 1991, Statistical Science 6, 15-32 (best linear unbiased prediction).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from judgebook.annotations import mixed_models
from judgebook.annotations.cells import in_turn
from judgebook.annotations.mixed_models import Fitted
from judgebook.annotations.scores import sampled
from judgebook.execution.tasks import run
from judgebook.study.labels import METHODS
from judgebook.study.results import Results, collect
from judgebook.study.schema import SYSTEM_CELL

#: what a model is made from
_COLUMNS = ["system", "annotator", "annotator_known", "dialogue", "score"]
#: why there is no model where dialogues have sampling weights
WEIGHTED = "dialogues were drawn with unequal probability, which the model does not allow for"


def pooled(annotations: pd.DataFrame, *, confidence: float = 0.95, only: Collection[str] | None = None) -> Results:
    """`pooled_mean` of each system and `severity` of annotators, by corpus, method, label and group.

    Parameters
    ----------
    annotations : DataFrame
        All annotations by people; comparisons are left out.
    only : collection of str, optional
        Labels that are modelled; None: all.

    Returns
    -------
    Results: `pooled_mean` (a mean, or for marks a rate) with an interval by Student's t with one degree of freedom
    fewer than annotators; `severity`, by `summary`: `sd` of annotators' effects, `lowest` and `highest` effect, and how
    many lie `below` and `above` zero by their intervals, on the scale of the scores or, for marks, of log odds. Effects
    are shrunken towards 0; positive ones are lenient. A label without a model has one row, whose note says why.
    Severity is left out where marks are given fewer than five times per dialogue: its standard deviation would come out
    up to two fifths too small.
    """
    annotations = annotations if only is None else annotations[annotations["label"].isin(list(only))]
    frames = in_turn(annotations[annotations["dialogue_b"].isna()], SYSTEM_CELL[:-1])
    pieces = [(key, frame[_COLUMNS], confidence, sampled(frame)) for key, frame in frames]
    return collect(*run(_of_label, pieces, doing="mixed models, label"))


def _of_label(key: tuple, frame: pd.DataFrame, confidence: float, weighted: bool) -> list[dict[str, Any]]:
    """The rows of one label and group. weighted : dialogues have sampling weights."""
    head: dict[str, Any] = {
        **dict(zip(SYSTEM_CELL[:-1], key, strict=True)),
        "level": METHODS[key[1]].unit,
        "n": len(frame),
        "n_annotators": frame["annotator"].nunique(),
        "n_clusters": frame["dialogue"].nunique(),
    }
    fitted = WEIGHTED if weighted else mixed_models.first_fit(frame, means=True)
    if isinstance(fitted, str):
        return [{**head, "statistic": "pooled_mean", "model": "none", "ci_kind": "not_estimable", "note": fitted}]
    head |= {"model": fitted.model}
    if fitted.means is None or fitted.mean_errors is None:
        raise ValueError("the model was fitted without means")
    means = _means(fitted, fitted.means, fitted.mean_errors, head["n_annotators"] - 1, confidence)
    return [head | row for row in (*means, *_severity(fitted, confidence))]


def _means(fitted: Fitted, means: np.ndarray, errors: np.ndarray, df: int, confidence: float) -> list[dict[str, Any]]:
    """A row for each system."""
    half = stdtrit(df, (1 + confidence) / 2) * errors
    ends = np.array([means, means - half, means + half])
    if fitted.model == "logistic":
        ends = mixed_models.marginal(ends, fitted.mean_sd)
    same = {"statistic": "pooled_mean", "ci_kind": "t", "resample_unit": "dialogue and annotator"}
    return [
        {**same, "system": system, "estimate": mean, "ci_low": low, "ci_high": high}
        for system, mean, low, high in zip(fitted.levels["system"], *ends, strict=True)
    ]


def _severity(fitted: Fitted, confidence: float) -> list[dict[str, Any]]:
    """Summaries of annotators' effects; none where the design does not separate annotators (marks: from dialogues)."""
    if "annotator" not in fitted.parts or (fitted.model == "logistic" and "dialogue" not in fitted.parts):
        return []
    effect = fitted.effects["annotator"]
    half = stdtrit(max(len(effect) - 1, 1), (1 + confidence) / 2) * fitted.errors["annotator"]
    summaries = {"sd": fitted.sd["annotator"], "lowest": effect.min(), "highest": effect.max()}
    summaries |= {"below": np.sum(effect + half < 0), "above": np.sum(effect - half > 0)}
    return [{"statistic": "severity", "summary": name, "estimate": float(v)} for name, v in summaries.items()]
