"""Which systems and procedures pass a pilot?

System pilots: the mean rating of each system by the people who talked to it (Finch et al. 2023, section 2, Table 1).
Annotation pilots: Krippendorff's alpha over all labels combined, by kind of annotator, and for those who passed the
training (appendix D, Table 8).

Pilots are small. Their jackknife intervals leave out one dialogue, or one person, at a time and use Student's t. With
six dialogues that differ in difficulty, coverage is 94% in simulation, but only half when single marks are resampled
(`tests/questions/collection/test_pilot.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from judgebook.questions.agreement.alpha import alpha_intervals, alpha_of
from judgebook.questions.agreement.coincidences import Patterns, patterns_long
from judgebook.questions.agreement.items import first_annotations
from judgebook.questions.performance import rate_intervals
from judgebook.statistics.intervals import generator, jackknife_t
from judgebook.study.labels import METHODS, Label
from judgebook.study.schema import ITEM

BOT_PILOT, ANNOTATION_PILOT = r"bot_pilot_\d+", r"annotation_pilot_\d+"
#: name of the corpus in which all pilots of systems are combined
BOTS = "bot_pilots"


def bots(annotations: pd.DataFrame, label: str, *, least: float, confidence: float = 0.95) -> Iterator[dict]:
    """Mean rating of each system over all pilots of systems, and whether it passes.

    Parameters
    ----------
    annotations : DataFrame
        Ratings of whole dialogues in corpora `bot_pilot_1`, …; others are ignored.
    label : str
        The rating that counts.
    least : float
        The smallest mean that passes.

    Returns
    -------
    Rows of corpus `bot_pilots`: `mean` with Student's t over dialogues (`interval` of `independent`, as published) and
    with one person left out at a time (`interval` of `annotator`), `count` of dialogues and annotators, and
    `pilot_passed` (1 or 0).
    """
    rows = annotations[annotations["corpus"].str.fullmatch(BOT_PILOT) & annotations["turn"].isna()]
    rows = rows[(rows["label"] == label) & rows["dialogue_b"].isna()]
    for (method, group, system), of_system in rows.groupby(["method", "group", "system"], sort=False):
        x, level = of_system["score"].to_numpy(float), METHODS[method].unit
        mean, people = x.mean(), of_system.groupby("annotator")["score"].agg(["sum", "size"])
        head = {"corpus": BOTS, "method": method, "label": label, "group": group, "system": system, "level": level}
        head["n"] = len(of_system)
        low, high, reason = rate_intervals.student_t(x, confidence)
        ends = {"ci_low": low, "ci_high": high, "ci_kind": "not_estimable" if reason else "t", "note": reason or None}
        row = head | {"statistic": "mean", "interval": "independent", "estimate": mean, "n_annotators": len(people)}
        yield row | ends | {"resample_unit": level}
        without = (x.sum() - people["sum"]) / (len(of_system) - people["size"]).replace(0, np.nan)
        left_out = jackknife_t(mean, without.to_numpy(), "annotator", confidence, bounded=False).row()
        if np.ptp(x) == 0:  # no spread is no certainty
            left_out |= ends
        yield head | {"statistic": "mean", "interval": "annotator"} | left_out
        for what, n in {"dialogues": of_system["dialogue"].nunique(), "annotators": len(people)}.items():
            yield head | {"statistic": "count", "what": what, "estimate": n}
        yield head | {"statistic": "pilot_passed", "least": least, "estimate": float(mean >= least)}


def agreements(
    annotations: pd.DataFrame,
    labels: Iterable[Label],
    passed: pd.DataFrame | None = None,
    *,
    seed: int,
    n_resamples: int = 10_000,
    confidence: float = 0.95,
) -> Iterator[dict]:
    """Alpha over all labels together in each pilot: of everybody, of each kind of annotator, of those who passed.

    Parameters
    ----------
    annotations : DataFrame
        Judgements of people in corpora `annotation_pilot_1`, …; others are ignored. The group is the kind of annotator.
    labels : iterable of Label
        Give level of measurement and task. The labels of a method must share a scale, or they cannot be combined.
    passed : DataFrame, optional
        Who passed the training: columns corpus, annotator, task. Where a pilot has any, alpha is given again for the
        annotations made in tasks that their annotator had passed (`scope` of `screened`).

    Returns
    -------
    Rows without a label: `alpha` by what is taken as independent (`resample` of `dialogue` or `annotator`: one left
    out at a time; `item`: BCa bootstrap of turns and labels), `count` of dialogues, annotators and labels, and
    `alpha_gain`. The group `all` combines kinds; kinds with one annotator have no row.

    Raises
    ------
    ValueError
        Labels of one method have different scales, or a label is not declared and its scale cannot be inferred.

    References
    ----------
    Finch, Finch and Choi 2023, Table 8.
    """
    pilots = annotations[annotations["corpus"].str.fullmatch(ANNOTATION_PILOT)]
    pilots = pilots[(pilots["annotator_kind"] == "human") & pilots["annotator_known"]]
    pilot_labels = _with_pilot_labels(pilots, labels)
    options = {"seed": seed, "n_resamples": n_resamples, "confidence": confidence}
    for cell, rows in _parts(pilots):
        whole = _pooled(cell, rows, pilot_labels)
        yield from whole.rows(None, **options)
        screened = _screened(rows, pilot_labels, passed)
        if len(set(screened["annotator"])) > 1:
            some = _pooled(cell, screened, pilot_labels)
            yield from some.rows("screened", **options)
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


def _parts(pilots: pd.DataFrame) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """Each pilot and method: all annotators, where they are of several kinds, then each kind with two people."""
    for (corpus, method), rows in pilots.groupby(["corpus", "method"], sort=True):
        if len(set(rows["group"])) > 1:
            yield {"corpus": corpus, "group": "all", "method": method}, rows.assign(group="all")
        for group, part in rows.groupby("group", sort=False):
            if len(set(part["annotator"])) > 1:
                yield {"corpus": corpus, "group": group, "method": method}, part


def _screened(rows: pd.DataFrame, labels: Mapping, passed: pd.DataFrame | None) -> pd.DataFrame:
    """The annotations made in tasks that their annotator had passed; none where the pilot had no training."""
    if passed is None:
        return rows.iloc[:0]
    of_corpus = passed[passed["corpus"] == rows["corpus"].iloc[0]]
    able = set(zip(of_corpus["annotator"], of_corpus["task"], strict=True))
    task = [labels[key].task for key in zip(rows["method"], rows["label"], strict=True)]
    return rows[[pair in able for pair in zip(rows["annotator"], task, strict=True)]]


@dataclass(frozen=True)
class _Pooled:
    """The judgements of one part of a pilot as items, whatever their label. judged : those of items judged twice."""

    cell: dict[str, str]
    level: str
    chosen: pd.DataFrame
    judged: pd.DataFrame

    @property
    def mirrored(self) -> bool:
        return METHODS[self.cell["method"]].unit == "pair"

    def _patterns(self, items: np.ndarray, scores: np.ndarray) -> Patterns:
        items = pd.factorize(items)[0]
        values = np.unique(np.r_[scores, -scores]) if self.mirrored else None
        return patterns_long(items, scores, items.max() + 1, values)

    def _alpha(self, items: np.ndarray, scores: np.ndarray) -> float:
        if not len(items):
            return np.nan
        return alpha_of(self._patterns(items, scores), self.level, mirrored=self.mirrored).estimate

    def alpha(self, frame: pd.DataFrame) -> float:
        return self._alpha(*_arrays(frame))

    def left_out(self, frame: pd.DataFrame, unit: str) -> np.ndarray:
        """Alpha without each dialogue or annotator."""
        (items, scores), (codes, values) = _arrays(frame), pd.factorize(frame[unit], sort=True)
        kept = (codes != i for i in range(len(values)))
        return np.array([self._alpha(items[rows], scores[rows]) for rows in kept])

    def rows(self, scope: str | None, *, seed: int, n_resamples: int, confidence: float) -> Iterator[dict]:
        people = {"n": self.judged["item"].nunique(), "n_annotators": self.judged["annotator"].nunique()}
        head = {**self.cell, "level": METHODS[self.cell["method"]].unit, "kind": "human", "scope": scope}
        alpha = {**head, "statistic": "alpha", "measurement": self.level, "raters": "all"}
        estimate = self.alpha(self.judged)
        for unit in ("dialogue", "annotator"):
            interval = jackknife_t(estimate, self.left_out(self.judged, unit), unit, confidence, bounded=False)
            yield {**alpha, "resample": unit, **interval.row(), **people}
        if len(self.judged):
            rng = generator(seed, "pilot", *self.cell.values(), str(scope))
            size = {"n_resamples": n_resamples, "confidence": confidence, "mirrored": self.mirrored}
            options = {"unit": "item", "rng": rng, "only": ["alpha"], **size}
            intervals = alpha_intervals(self._patterns(*_arrays(self.judged)), self.level, **options)
            yield {**alpha, "resample": "item", **intervals["alpha"].row(), **people}
        for what, column in {"dialogues": "dialogue", "annotators": "annotator", "labels": "label"}.items():
            yield {**head, "statistic": "count", "what": what, "estimate": self.chosen[column].nunique(), **people}


def _arrays(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Items and scores: alpha is computed as often as there are people and dialogues, and arrays are cut faster."""
    return frame["item"].to_numpy(), frame["score"].to_numpy(float)


def _pooled(cell: dict[str, str], rows: pd.DataFrame, labels: Mapping) -> _Pooled:
    used = {(label.scale, label.level) for label in (labels[cell["method"], name] for name in rows["label"].unique())}
    if len(used) > 1:
        raise ValueError(f"{cell['corpus']}, {cell['method']}: only labels of one scale can be combined, found {used}")
    chosen = first_annotations(rows, first=None)
    several = chosen.groupby("item")["annotator"].transform("nunique") > 1
    return _Pooled(cell, used.pop()[1], chosen, chosen[several])


def _gain(whole: _Pooled, some: _Pooled, confidence: float) -> dict:
    """Alpha of the screened minus that of everybody on the same items, leaving out one dialogue of both at a time."""
    items = pd.MultiIndex.from_frame(some.judged[ITEM])
    same = whole.judged[pd.MultiIndex.from_frame(whole.judged[ITEM]).isin(items)]
    gain = some.alpha(some.judged) - whole.alpha(same)
    without = some.left_out(some.judged, "dialogue") - whole.left_out(same, "dialogue")
    row = jackknife_t(gain, without, "dialogue", confidence, bounded=False).row()
    keys = {"against": "everybody on the same items", "resample": "dialogue", "scope": "screened"}
    return {**whole.cell, "statistic": "alpha_gain", **keys, "n": items.nunique(), **row}


def gains(alphas: pd.DataFrame, confidence: float = 0.95) -> Iterator[dict]:
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


def _difference(before: Mapping, after: Mapping, confidence: float) -> dict:
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
