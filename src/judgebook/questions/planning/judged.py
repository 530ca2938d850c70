"""What models judged in the pilot, and how much of what people's values of dialogues vary by their scores explain.

The share is that of `judges.prediction_powered.explained`, the squared correlation within systems, with an interval
over dialogues or sessions. Where the systems of the next study meet in each session, it is the share of differences
within sessions: what sessions have in common cancels, and a model that explains only that explains nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from judgebook.questions.judges.choices import choices
from judgebook.questions.judges.items import ITEM, LABEL
from judgebook.questions.judges.prediction_powered import Sums, by_people, explained, sums, sums_of
from judgebook.statistics.intervals import Interval, Sampling
from judgebook.statistics.resampling import replicate_sums
from judgebook.study.labels import Label

#: dialogues that people and the model judged, at least, from which a study is planned
LEAST_JUDGED = 20


@dataclass(frozen=True)
class Judged:
    """One label as people and one model judged it.

    data : rows of dialogues by system; of comparisons by pair of systems. annotators : judgements by people of an item
    that they judged, on average. share : of the variance that the model explains.
    """

    method: str
    label: str
    judge: str
    data: Sums
    annotators: float
    share: Interval


def judged_by_models(
    annotations: pd.DataFrame, labels: Sequence[Label], *, paired: bool, sampling: Sampling
) -> Iterator[Judged]:
    """Every label and model with LEAST_JUDGED dialogues (comparisons) that both judged.

    annotations : by people and models, of one corpus and one group of people. paired : whether the systems of the next
    study meet in each session.
    """
    human = annotations["annotator_kind"] == "human"
    if human.all():
        return
    each = annotations[human].fillna({"turn": -1}).groupby(["method", "label"])
    each = each.apply(lambda rows: len(rows) / rows.groupby([*ITEM, "dialogue_b"], dropna=False).ngroups)
    rated = annotations[annotations["dialogue_b"].isna()]
    of_pairs = _pairs(annotations[annotations["dialogue_b"].notna()])
    for key, data in [*sums(rated, labels), *of_pairs]:
        if data.labelled.sum() < LEAST_JUDGED:
            continue
        rng = sampling.stream("budget", *key.values())
        both = paired and data.unit == "dialogue" and len(data.systems) > 1
        share = (of_differences if both else explained)(data, rng, sampling)
        if np.isfinite(share.estimate):
            case = key["method"], key["label"]
            yield Judged(*case, key["metric"], data, float(each[case]), share)


def _pairs(annotations: pd.DataFrame) -> Iterator[tuple[dict[str, Any], Sums]]:
    """Comparisons: a row for each pair, `systems` being pairs of systems, scores those of the one that is first in
    alphabetical order."""
    for case, rows in choices(annotations).groupby(LABEL, sort=False):
        human, low = rows["annotator_kind"] == "human", rows["system"] <= rows["system_b"]
        first, second = (rows[["system", "system_b"]].agg(how, axis=1) for how in ("min", "max"))
        rows = rows.assign(score=rows["score"].where(low, -rows["score"]), system=first + "\x1f" + second)
        mean = by_people(rows[human])
        for judge, of_judge in rows[~human].groupby("annotator", sort=False):
            frame = of_judge.drop_duplicates(ITEM).join(mean, on=ITEM)
            key = dict(zip(LABEL, case, strict=True)) | {"metric": judge}
            unit = str(rows["unit"].iloc[0])
            yield from sums_of(key, frame.assign(row=frame["dialogue"]), unit, (-1.0, 1.0))


def of_differences(data: Sums, rng: np.random.Generator, sampling: Sampling) -> Interval:
    """Share of the variance of differences between systems within sessions that the model explains with the weight
    that `prediction_powered.estimate` gives it, which is the best one for means of systems; with a BCa interval over
    sessions. From sessions with one labelled dialogue of each system."""
    m, labelled = len(data.systems), data.labelled
    size = np.bincount(data.cluster, labelled)
    held = np.zeros((len(size), m), dtype=bool)
    held[data.cluster[labelled], data.system[labelled]] = True
    rows = labelled & (held.all(axis=1) & (size == m))[data.cluster]
    if not rows.any():
        return explained(data, rng, sampling)
    order = np.lexsort((data.system[rows], data.cluster[rows]))
    values = [(scores[rows] / data.items[rows])[order].reshape(-1, m) for scores in (data.people, data.model)]
    within = [x - x.mean(axis=1, keepdims=True) for x in values]
    terms = [_moments(*pair) for pair in (values, within)]

    def statistic(sums_: np.ndarray) -> np.ndarray:
        (_, xy, yy), (xx_in, xy_in, yy_in) = (_centred(part, m) for part in np.split(sums_, 2, axis=1))
        varies = (yy > 1e-9) & (xx_in > 1e-9)
        weight = np.maximum(xy, 0.0) / np.where(varies, yy, 1.0)
        share = (2 * weight * xy_in - weight**2 * yy_in) / np.where(varies, xx_in, 1.0)
        return np.where(varies, np.maximum(share, 0.0), np.nan)

    rows_of = np.concatenate([t.reshape(len(t), -1) for t in terms], axis=1)
    replicates = replicate_sums(rows_of, statistic, unit="session", rng=rng, n_resamples=sampling.n_resamples)
    interval = replicates.interval(sampling.confidence)
    if interval.estimate == 0:
        note = "the judge explains nothing of what differences vary by"
        return replace(interval, low=np.nan, high=np.nan, kind="not_estimable", note=note)
    return interval


def _moments(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(sessions, m, 6) from two (sessions, m) arrays."""
    return np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=2)


def _centred(sums_: np.ndarray, m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(k,) sums of squares and products around the means of m systems."""
    n, sx, sy, sxx, sxy, syy = np.moveaxis(sums_.reshape(len(sums_), m, 6), 2, 0)
    return tuple((a - b * c / n).sum(axis=1) for a, b, c in ((sxx, sx, sx), (sxy, sx, sy), (syy, sy, sy)))
