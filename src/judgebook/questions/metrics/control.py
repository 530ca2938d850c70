"""Who notices that a control system is degraded: people, and metrics?

The control of Ji et al. 2022 answers with random responses of its training set whose meaning is distorted: a run of 1
to 5 words (a fifth of the words from 30 on; not the first or last of three or more) is replaced by words of another
dialogue (section 3.2, appendix A.1). Workers pass if they rate it lower than the other systems. The same is asked of
metrics here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from judgebook.questions.metrics.items import ITEM
from judgebook.statistics.intervals import generator
from judgebook.statistics.resampling import bootstrap_sums
from judgebook.study.labels import METHODS, Label

_WHO = ["corpus", "method", "annotator"]


def above_control(
    annotations: pd.DataFrame,
    scores: pd.DataFrame,
    labels: Iterable[Label],
    control: str,
    *,
    seed: int,
    n_resamples: int = 10_000,
    confidence: float = 0.95,
) -> Iterator[dict]:
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
    options = {"n_resamples": n_resamples, "confidence": confidence, "unit": "annotator"}
    for of in (people, metrics):
        by = ["corpus", "method", "label" if of is people else "metric"]
        for key, rows in of.dropna(subset="value").groupby(by, sort=False):
            each = np.array(
                [_pairs(of_annotator, control) for _, of_annotator in rows.groupby("annotator", sort=False)]
            )
            each = each[each[:, 1] > 0]
            if len(each) > 1:
                sums = np.column_stack([each[:, 0] / each[:, 1], np.ones(len(each))])
                rng = generator(seed, "above_control", *key)
                interval = bootstrap_sums(sums, lambda s: s[:, 0] / s[:, 1], rng=rng, **options)
                head = {"statistic": "above_control", "level": METHODS[key[1]].unit, "n": int(each[:, 1].sum())}
                yield head | dict(zip(by, key, strict=True)) | interval.row()


def _pairs(rows: pd.DataFrame, control: str) -> tuple[float, int]:
    """Pairs of one annotator in which the ordinary item scores higher, and all pairs."""
    of_control = (rows["system"] == control).to_numpy()
    value = rows["value"].to_numpy(dtype=float)
    low, other = np.sort(value[of_control]), value[~of_control]
    below, upto = (np.searchsorted(low, other, side) for side in ("left", "right"))
    return float((below.sum() + upto.sum()) / 2), len(low) * len(other)
