"""How certain is what a pilot says?

Notebook 01 computes in its cells what Finch et al. 2023 published: mean ratings of systems (Table 1), and alpha over
all labels combined (Table 8). Pilots are small: here, jackknife intervals of both leave out one dialogue, or one
person, at a time and use Student's t. With six dialogues that differ in difficulty, coverage is 94% in simulation, but
only half when single marks are resampled (`tests/questions/collection/test_pilot.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from judgebook.questions.agreement.alpha import alpha_of
from judgebook.questions.agreement.coincidences import patterns_long
from judgebook.questions.agreement.items import first_annotations
from judgebook.statistics.intervals import jackknife_t
from judgebook.study.labels import METHODS, Label
from judgebook.study.schema import ITEM, Annotations

BOT_PILOT, ANNOTATION_PILOT = r"bot_pilot_\d+", r"annotation_pilot_\d+"
#: name of the corpus in which all pilots of systems are combined
BOTS = "bot_pilots"


def rated(annotations: Annotations, label: str) -> Annotations:
    """Ratings of whole dialogues on a label in corpora `bot_pilot_1`, …"""
    rows = annotations[annotations["corpus"].str.fullmatch(BOT_PILOT) & annotations["turn"].isna()]
    return rows[(rows["label"] == label) & rows["dialogue_b"].isna()]


def means(ratings: Annotations, *, confidence: float = 0.95) -> Iterator[dict[str, Any]]:
    """Mean rating of each system over all pilots of systems, leaving out one person at a time.

    ratings : from `rated`. Gives `mean` rows of corpus `bot_pilots`, `interval` of `annotator`.
    """
    for (method, group, system), of_system in ratings.groupby(["method", "group", "system"], sort=False):
        x, level = of_system["score"].to_numpy(float), METHODS[method].unit
        people = of_system.groupby("annotator")["score"].agg(["sum", "size"])
        row = {"corpus": BOTS, "method": method, "label": of_system["label"].iloc[0], "group": group, "system": system}
        row |= {"level": level, "n": len(x), "statistic": "mean", "interval": "annotator"}
        without = (x.sum() - people["sum"]) / (len(x) - people["size"]).replace(0, np.nan)
        row |= jackknife_t(x.mean(), without.to_numpy(), "annotator", confidence, bounded=False).row()
        if np.ptp(x) == 0:  # no spread is no certainty
            few = "fewer than two scores" if len(x) < 2 else "all scores are equal"
            row |= {"ci_low": np.nan, "ci_high": np.nan, "ci_kind": "not_estimable", "note": few}
        yield row


def marks(annotations: Annotations, labels: Iterable[Label], passed: pd.DataFrame | None = None) -> Annotations:
    """Judgements of known people in corpora `annotation_pilot_1`, …, the group being the kind of annotator.

    labels : give scale, level of measurement and task. passed : who passed the training, with columns corpus,
    annotator, task. Three more columns: `scale`, `measurement`, and `passed`, whether the annotator had passed the
    training for the task of the label. Raises ValueError for a label that is not declared and has no others like it.
    """
    rows = annotations[annotations["corpus"].str.fullmatch(ANNOTATION_PILOT)]
    rows = rows[(rows["annotator_kind"] == "human") & rows["annotator_known"]]
    by_key = _with_pilot_labels(rows, labels)
    of = [by_key[key] for key in zip(rows["method"], rows["label"], strict=True)]
    able = set() if passed is None else set(passed[["corpus", "annotator", "task"]].itertuples(index=False, name=None))
    who = zip(rows["corpus"], rows["annotator"], (label.task for label in of), strict=True)
    kinds = {"scale": [label.scale for label in of], "measurement": [label.level for label in of]}
    return rows.assign(**kinds, passed=np.array([key in able for key in who], dtype=bool))


def agreements(marks: Annotations, *, confidence: float = 0.95) -> Iterator[dict[str, Any]]:
    """Alpha over all labels together in each pilot: of everybody, of each kind of annotator, of those who passed.

    marks : from `marks`; the labels of a method must share a scale, or they cannot be combined. Where a pilot has any,
    alpha is given again for the annotations made in tasks that their annotator had passed (`scope` of `screened`).

    Returns
    -------
    Rows without a label: `alpha` by what is left out, one at a time (`resample` of `dialogue` or `annotator`), and
    `alpha_gain`. The group `all` combines kinds; kinds with one annotator have no row.

    Raises
    ------
    ValueError
        Labels of one method have different scales.
    """
    for cell, rows in _parts(marks):
        whole = _pooled(cell, rows)
        yield from whole.rows(None, confidence)
        screened = rows[rows["passed"]]
        if len(set(screened["annotator"])) > 1:
            some = _pooled(cell, screened)
            yield from some.rows("screened", confidence)
            yield _gain(whole, some, confidence)


def _with_pilot_labels(pilots: pd.DataFrame, labels: Iterable[Label]) -> dict[tuple[str, str], Label]:
    """Labels by method and id. One that only a pilot had is like the others of its method, and belongs to no task."""
    by_key = {(label.method, label.id): label for label in labels}
    for method, label in pilots[["method", "label"]].drop_duplicates().itertuples(index=False, name=None):
        alike = {(x.scale, x.level): x for x in by_key.values() if x.method == method}
        if (method, label) not in by_key:
            if len(alike) != 1:
                raise ValueError(f"labels: declare {label!r} of method {method!r}, which only a pilot has")
            by_key[method, label] = replace(next(iter(alike.values())), id=label, title=label, task="")
    return by_key


def _parts(pilots: Annotations) -> Iterator[tuple[dict[str, str], Annotations]]:
    """Each pilot and method: all annotators, where they are of several kinds, then each kind with two people."""
    for (corpus, method), rows in pilots.groupby(["corpus", "method"], sort=True):
        if len(set(rows["group"])) > 1:
            yield {"corpus": corpus, "group": "all", "method": method}, rows.assign(group="all")
        for group, part in rows.groupby("group", sort=False):
            if len(set(part["annotator"])) > 1:
                yield {"corpus": corpus, "group": group, "method": method}, part


@dataclass(frozen=True)
class _Pooled:
    """The judgements of one part of a pilot as items, whatever their label. judged : those of items judged twice."""

    cell: dict[str, str]
    level: str
    judged: pd.DataFrame

    @property
    def mirrored(self) -> bool:
        return METHODS[self.cell["method"]].unit == "pair"

    def _alpha(self, items: np.ndarray, scores: np.ndarray) -> float:
        if not len(items):
            return np.nan
        items = pd.factorize(items)[0]
        values = np.unique(np.r_[scores, -scores]) if self.mirrored else None
        patterns = patterns_long(items, scores, items.max() + 1, values)
        return alpha_of(patterns, self.level, mirrored=self.mirrored).estimate

    def alpha(self, frame: pd.DataFrame) -> float:
        return self._alpha(*_arrays(frame))

    def left_out(self, frame: pd.DataFrame, unit: str) -> np.ndarray:
        """Alpha without each dialogue or annotator."""
        (items, scores), (codes, values) = _arrays(frame), pd.factorize(frame[unit], sort=True)
        others = (codes != i for i in range(len(values)))
        return np.array([self._alpha(items[rows], scores[rows]) for rows in others])

    def rows(self, scope: str | None, confidence: float) -> Iterator[dict[str, Any]]:
        people = {"n": self.judged["item"].nunique(), "n_annotators": self.judged["annotator"].nunique()}
        head = {**self.cell, "level": METHODS[self.cell["method"]].unit, "kind": "human", "scope": scope}
        alpha = {**head, "statistic": "alpha", "measurement": self.level, "raters": "all"}
        estimate = self.alpha(self.judged)
        for unit in ("dialogue", "annotator"):
            interval = jackknife_t(estimate, self.left_out(self.judged, unit), unit, confidence, bounded=False)
            yield {**alpha, "resample": unit, **interval.row(), **people}


def _arrays(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Items and scores: alpha is computed as often as there are people and dialogues, and arrays are cut faster."""
    return frame["item"].to_numpy(), frame["score"].to_numpy(float)


def _pooled(cell: dict[str, str], rows: Annotations) -> _Pooled:
    used = set(zip(rows["scale"], rows["measurement"], strict=True))
    if len(used) > 1:
        raise ValueError(f"{cell['corpus']}, {cell['method']}: only labels of one scale can be combined, found {used}")
    chosen = first_annotations(rows, first=None)
    several = chosen.groupby("item")["annotator"].transform("nunique") > 1
    return _Pooled(cell, used.pop()[1], chosen[several])


def _gain(whole: _Pooled, some: _Pooled, confidence: float) -> dict[str, Any]:
    """Alpha of the screened minus that of everybody on the same items, leaving out one dialogue of both at a time."""
    items = pd.MultiIndex.from_frame(some.judged[ITEM])
    same = whole.judged[pd.MultiIndex.from_frame(whole.judged[ITEM]).isin(items)]
    gain = some.alpha(some.judged) - whole.alpha(same)
    without = some.left_out(some.judged, "dialogue") - whole.left_out(same, "dialogue")
    row = jackknife_t(gain, without, "dialogue", confidence, bounded=False).row()
    keys = {"against": "everybody on the same items", "resample": "dialogue", "scope": "screened"}
    return {**whole.cell, "statistic": "alpha_gain", **keys, "n": items.nunique(), **row}


def gains(alphas: pd.DataFrame, confidence: float = 0.95) -> Iterator[dict[str, Any]]:
    """Alpha of each pilot minus that of the one before, of the same group: `alpha_gain` rows.

    alphas : `alpha` rows of `agreements`. Two pilots have different dialogues: the variances from leaving out dialogues
    add up, with the degrees of freedom of Welch 1947, Biometrika 34, 28-35.
    """
    rows = alphas[(alphas["resample"] == "dialogue") & alphas["scope"].isna()]
    for (group, method), part in rows.groupby(["group", "method"], sort=False):
        part = part.sort_values("corpus", key=lambda c: c.str.extract(r"(\d+)$")[0].astype(int)).to_dict("records")
        for before, after in pairwise(part):
            head = {"corpus": after["corpus"], "group": group, "method": method, "level": after["level"]}
            head |= {"statistic": "alpha_gain", "against": before["corpus"], "resample": "dialogue"}
            yield head | _difference(before, after, confidence)


def _difference(before: Mapping[str, Any], after: Mapping[str, Any], confidence: float) -> dict[str, Any]:
    value = after["estimate"] - before["estimate"]
    result = {"estimate": value, "resample_unit": "dialogue"}
    clusters = np.array([before["n_clusters"], after["n_clusters"]], dtype=float)
    half = np.array([row["ci_high"] - row["estimate"] for row in (before, after)], dtype=float)
    if not np.isfinite(half).all() or not half.any():
        return result | {"ci_kind": "not_estimable", "note": "too few dialogues in one of the pilots"}
    variance = (half / stdtrit(clusters - 1, (1 + confidence) / 2)) ** 2
    df = variance.sum() ** 2 / np.sum(variance**2 / (clusters - 1))
    wide = stdtrit(df, (1 + confidence) / 2) * np.sqrt(variance.sum())
    ends = {"ci_low": value - wide, "ci_high": value + wide}
    return result | ends | {"ci_kind": "welch", "n_clusters": int(clusters.sum())}


def least_mean(stated: float | None, label: str, labels: Iterable[Label]) -> float:
    """The smallest mean with which a system passes: as given, else the middle of the label's scale.

    Finch et al. 2023 print no number: all systems above the middle of the scale passed, and none below (Table 1).
    Raises ValueError where neither is known.
    """
    scales = [x.scale for x in labels if x.id == label and METHODS[x.method].unit == "dialogue"]
    if stated is None and not scales:
        raise ValueError(f"pilot.least: expected a number, as no label {label!r} rates whole dialogues")
    return float(np.mean(scales[0])) if stated is None else stated
