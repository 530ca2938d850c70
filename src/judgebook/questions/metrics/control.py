"""Who notices that a control system is degraded: people, and metrics?

The control of Ji et al. 2022 answers with random responses of its training set whose meaning is distorted: a run of 1
to 5 words (a fifth of the words from 30 on; not the first or last of three or more) is replaced by words of another
dialogue (section 3.2, appendix A.1). Workers pass if they rate it lower than the other systems. The same is asked of
metrics here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from judgebook.annotations.cells import parts
from judgebook.questions.metrics.items import ITEM
from judgebook.statistics.intervals import Sampling
from judgebook.statistics.resampling import ratio_interval
from judgebook.study.labels import METHODS, Label
from judgebook.study.schema import Annotations

_WHO = ["corpus", "method", "annotator"]


def above_control(
    annotations: Annotations,
    scores: pd.DataFrame,
    labels: Iterable[Label],
    control: str,
    *,
    sampling: Sampling,
) -> Iterator[dict[str, Any]]:
    """How often an item of another system scores higher than an item of the control.

    Parameters
    ----------
    annotations : DataFrame
        People's ratings, with annotators known.
    scores : DataFrame
        Of metrics, high for good items: corpus, dialogue, turn, metric, score.
    labels : iterable of Label
        Those of direction -1 are reversed.
    control : str
        The degraded system.

    Yields
    ------
    `above_control` for each corpus, method and label (by people's ratings) or metric: the share of pairs of an ordinary
    item and one of the control, both rated by the same annotator, in which the former scores higher; equal ones count
    half, so 0.5 is chance. It is the mean over annotators, who are resampled (BCa). `n`: pairs.
    """
    bad = {(label.method, label.id) for label in labels if label.direction == -1}
    sign = np.array([-1 if key in bad else 1 for key in zip(annotations["method"], annotations["label"], strict=True)])
    people = annotations.assign(value=annotations["score"] * sign, metric=None)
    items = annotations.drop_duplicates([*_WHO, "dialogue", "turn"])[[*_WHO, "system", "dialogue", "turn"]]
    metrics = items.merge(scores.rename(columns={"score": "value"}), on=ITEM).assign(label=None)
    for of in (people, metrics):
        by = ["corpus", "method", "label" if of is people else "metric"]
        for key, rows in parts(of.dropna(subset="value"), by, sort=False):
            each = np.array(
                [_pairs(of_annotator, control) for _, of_annotator in rows.groupby("annotator", sort=False)]
            )
            each = each[each[:, 1] > 0]
            if len(each) > 1:
                sums = np.column_stack([each[:, 0] / each[:, 1], np.ones(len(each))])
                rng = sampling.stream("above_control", *key.values())
                interval = ratio_interval(sums, "annotator", rng, sampling)
                head = {"statistic": "above_control", "level": METHODS[key["method"]].unit}
                yield {**head, "n": int(each[:, 1].sum()), **key, **interval.row()}


def _pairs(rows: Annotations, control: str) -> tuple[float, int]:
    """Pairs of one annotator in which the ordinary item scores higher, and all pairs."""
    of_control = (rows["system"] == control).to_numpy()
    value = rows["value"].to_numpy(dtype=float)
    low, other = np.sort(value[of_control]), value[~of_control]
    below, upto = (np.searchsorted(low, other, side) for side in ("left", "right"))
    return float((below.sum() + upto.sum()) / 2), len(low) * len(other)
