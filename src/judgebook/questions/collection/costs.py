"""Time and cost of annotation (Finch et al. 2023, appendix F, Tables 9 and 10).

The time of a method is the sum over its tasks of the median minutes per dialogue, or per pair where dialogues are
compared. Throughput, estimated cost and own cost follow by arithmetic, in notebook 02.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from judgebook import codes
from judgebook.study.labels import METHODS, Label
from judgebook.study.schema import Annotations

#: the conversation itself, which is no evaluation method
COLLECTION = "collection"
#: in place of a method: whole tasks that hold judgements by several methods, and have one duration
TOGETHER = "together"
#: timed parts of an interactor's work unit -> what they were spent on
PARTS = {
    "first_bot": COLLECTION,
    "second_bot": COLLECTION,
    "first_likert": "dialogue_likert",
    "second_likert": "dialogue_likert",
    "comparative": "comparative",
}
_KEYS = ["corpus", "group", "method", "task"]
_UNIT = ["corpus", "group", "annotator", "dialogue", "dialogue_b", "method"]


def minutes(work_units: pd.DataFrame, annotations: Annotations) -> pd.DataFrame:
    """Minutes per dialogue (per pair, where dialogues are compared) of each work unit.

    A unit whose parts were timed counts by its parts (`PARTS`), each about one dialogue or pair; any other as a whole,
    with the method of its judgements and divided by the dialogues or pairs judged in it. The duration of a whole unit
    with judgements by several methods cannot be divided among these: it counts once, as TOGETHER, by the dialogues
    judged in it, unless others of its corpus and group were timed in parts: then it is left out, as are units without
    a duration.

    Parameters
    ----------
    work_units : DataFrame
        Columns of `schema.WORK_UNITS`; if empty, the seconds of the annotations are used, one value per unit. Where
        they name no unit, it is what one annotator judged of one dialogue or pair (`in_units`).
    annotations : DataFrame
        Columns of `schema.ANNOTATIONS`.

    Returns
    -------
    DataFrame, one row per timed unit or part of one: corpus, group, method, task, annotator, work_unit, minutes.
    """
    if work_units.empty:
        annotations = in_units(annotations[[*_UNIT, "system", "system_b", "turn", "work_unit", "seconds"]])
    judged = as_whole(annotations.dropna(subset=["work_unit"]))
    judged = judged.drop_duplicates(["work_unit", "method", "dialogue", "dialogue_b"]).groupby("work_unit")["method"]
    judged = judged.agg(["first", "size"])
    if work_units.empty:
        work_units = annotations.drop_duplicates("work_unit").assign(part="whole", task=pd.NA)
    timed = work_units[work_units["seconds"].notna() & work_units["work_unit"].notna()]
    parts = timed[timed["part"].isin(list(PARTS))]
    whole = timed[(timed["part"] == "whole") & ~timed["work_unit"].isin(parts["work_unit"])]
    parts = parts.assign(method=parts["part"].map(PARTS), task=parts["part"].map(PARTS), size=1)
    whole = whole[whole["work_unit"].isin(judged.index)].drop(columns="method", errors="ignore")
    whole = whole.join(judged, on="work_unit").rename(columns={"first": "method"})
    in_parts = pd.MultiIndex.from_frame(whole[_KEYS[:2]]).isin(list(zip(parts["corpus"], parts["group"], strict=True)))
    whole = whole[~in_parts | (whole["method"] != TOGETHER).to_numpy()]
    whole = whole.assign(task=whole["task"].astype(object).fillna(whole["method"].astype(object)))
    out = pd.concat([part for part in (parts, whole) if len(part)] or [parts])
    out = out.assign(minutes=out["seconds"] / 60 / out["size"])
    return out[[*_KEYS, "annotator", "work_unit", "minutes"]].reset_index(drop=True)


def as_whole(annotations: Annotations) -> Annotations:
    """`annotations` with those in work units of several methods as of one method, TOGETHER, which judges dialogues: a
    comparison is replaced by its two dialogues."""
    mixed = annotations.groupby("work_unit")["method"].transform("nunique") > 1
    if not mixed.any():
        return annotations
    mixed_rows = annotations[mixed].assign(method=TOGETHER)
    second = mixed_rows.dropna(subset=["dialogue_b"])
    second = second.assign(dialogue=second["dialogue_b"], system=second["system_b"])
    sides = pd.concat([mixed_rows, second]).assign(dialogue_b=None, system_b=None)
    return pd.concat([annotations[~mixed], sides])


def in_units(annotations: Annotations) -> Annotations:
    """`annotations` with a work unit for each that was timed: where none is named, what one annotator judged of one
    dialogue or pair by one method, with the seconds of all of it.

    Labels of one turn (dialogue, pair) that have the same seconds were judged together and count once; different ones
    add up, and so do turns. Methods of a corpus and group were judged together if their seconds are the same wherever
    one annotator judged a dialogue by both, as where a file has one duration in a row: they share a unit.
    """
    missing = annotations["work_unit"].isna() & annotations["seconds"].notna()
    if not missing.any():
        return annotations
    ours = codes.rows(annotations, missing)
    about = ["corpus", "group", "annotator", "dialogue", "dialogue_b"]
    items = ours.groupby(about, sort=False, dropna=False, observed=True).ngroup()
    unit = ours.groupby([items, _timed_with(ours, items)], sort=False).ngroup().rename("unit")
    once = pd.concat([unit, ours[["turn", "seconds"]]], axis=1).drop_duplicates()
    seconds = once.groupby("unit")["seconds"].sum().reindex(unit).to_numpy()
    names = ("unnamed " + unit.astype(str)).astype(annotations["work_unit"].dtype)
    ours = ours.assign(work_unit=names, seconds=seconds)
    return ours if missing.all() else pd.concat([annotations[~missing], ours]).sort_index()


def _timed_with(annotations: pd.DataFrame, items: pd.Series) -> pd.Series:
    """The method of each annotation, or the first of those of its corpus and group that were judged together with it.

    items : what one annotator judged, of one dialogue or pair.
    """
    keys = ["corpus", "group", "method", "turn", "seconds"]
    once = annotations[keys].assign(item=items).drop_duplicates()
    first: dict[tuple[str, ...], str] = {}
    for place, part in once.groupby(["corpus", "group"], sort=False, observed=True):
        spent = part.groupby(["item", "method"], observed=True)["seconds"].sum().unstack("method")  # noqa: PD010
        methods = [m for m in part["method"].unique() if m in spent]
        for i, method in enumerate(methods):
            both = (spent[[other, method]].dropna() for other in methods[:i])
            alike = [x.columns[0] for x in both if len(x) and (x.iloc[:, 0] == x.iloc[:, 1]).all()]
            first[*place, method] = first[*place, alike[0]] if alike else method
    groups = annotations[["corpus", "group", "method"]]
    code = groups.groupby(list(groups), sort=False, observed=True).ngroup()
    methods = [first[key] for key in groups.drop_duplicates().itertuples(index=False, name=None)]
    return pd.Series(np.array(methods, dtype=object)[code], index=annotations.index, dtype=object)


def paid(
    annotations: Annotations,
    labels: Iterable[Label],
    payments: Mapping[str, Mapping[str, float | Mapping[str, float]]],
) -> pd.Series:
    """What judgements by people were paid by `costs.payments`, by corpus, group and method; missing where unknown.

    Each task of a work unit counts once (of a dialogue or pair, where no unit is named).
    """
    task_of = {(label.method, label.id): label.task or label.method for label in labels}
    pairs = annotations[["method", "label"]].drop_duplicates()
    tasks = {pair: task_of.get(pair, pair[0]) for pair in pairs.itertuples(index=False, name=None)}
    task = [tasks[pair] for pair in zip(*(annotations[c].tolist() for c in ("method", "label")), strict=True)]
    about = annotations["dialogue"].astype(str) + " " + annotations["dialogue_b"].astype(str)
    unit = annotations["work_unit"].astype(object).where(annotations["work_unit"].notna(), about)
    done = annotations[["corpus", "group", "method", "annotator"]].assign(task=task, unit=unit).drop_duplicates()
    out = {}
    for (corpus, group, method), part in done.groupby(["corpus", "group", "method"], sort=False, observed=True):
        each = {t: payment(payments.get(group, {}).get(method), pd.Series([t])) for t in part["task"].unique()}
        amounts = [each[t] for t in part["task"]]
        stated = [amount for amount in amounts if amount is not None]
        out[corpus, group, method] = sum(stated) if len(stated) == len(amounts) else np.nan
    return pd.Series(out, dtype=float)


def medians(times: pd.DataFrame, confidence: float = 0.95) -> Iterator[dict[str, Any]]:
    """Median minutes per dialogue or pair: a `median_minutes` row per corpus, group, method and task of `minutes`.

    The interval is the exact one for a median from order statistics (binomial, at least `confidence`). It takes work
    units as independent although people do several: n_annotators says how many people did them.

    References
    ----------
    Conover 1999, Practical Nonparametric Statistics, section 3.2.
    """
    for key, part in times.groupby(_KEYS, sort=False):
        low, high = _median_interval(part["minutes"].to_numpy(float), confidence)
        row = dict(zip(_KEYS, key, strict=True)) | {"statistic": "median_minutes", "level": _unit(key[2])}
        row |= {"estimate": part["minutes"].median(), "ci_low": low, "ci_high": high, "n": len(part)}
        kind = "not_estimable" if np.isnan(low) else "order_statistics"
        yield row | {"ci_kind": kind, "resample_unit": "work unit", "n_annotators": part["annotator"].nunique()}


def _unit(method: str) -> str:
    return METHODS[method].unit.replace("turn", "dialogue") if method in METHODS else "dialogue"


def _median_interval(values: np.ndarray, confidence: float) -> tuple[float, float]:
    """The narrowest symmetric pair of order statistics that covers the median with at least this confidence."""
    n = len(values)
    rank = int(stats.binom.ppf((1 - confidence) / 2, n, 0.5))
    if rank < 1:
        return np.nan, np.nan
    ordered = np.sort(values)
    return float(ordered[rank - 1]), float(ordered[n - rank])


def mover(estimates: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[float, float, float]:
    """A sum of independent estimates and its interval, from the interval of each (MOVER).

    Parameters
    ----------
    estimates, low, high : (k,) arrays
        The terms and the ends of their intervals.

    Returns
    -------
    The sum and the ends of its interval, which are missing where an end of one of the intervals is.

    References
    ----------
    Zou and Donner 2008, Statistics in Medicine 27, 1693-1702, equations 4 and 5.
    """
    total = float(np.sum(estimates))
    below, above = np.sum((estimates - low) ** 2), np.sum((high - estimates) ** 2)
    return total, float(total - np.sqrt(below)), float(total + np.sqrt(above))


def unit_minutes(
    medians: pd.DataFrame, labels: Iterable[Label], final_labels: Mapping[str, list[str]]
) -> Iterator[dict[str, Any]]:
    """Minutes of a method, the sum over its tasks, with an interval, by corpus and group: rows of `unit_minutes`.

    Parameters
    ----------
    medians : DataFrame
        `median_minutes` rows, one per task.
    labels : iterable of Label
        Give the tasks of labels.
    final_labels : dict
        method -> labels kept in the end; the minutes of their tasks alone are added (`tasks` of `final`).
    """
    task_of = {(label.method, label.id): label.task or label.method for label in labels}
    for (corpus, group, method), part in medians.groupby(_KEYS[:3], sort=False):
        subsets = {"all": set(part["task"])}
        if method in final_labels:
            subsets["final"] = {task_of[method, label] for label in final_labels[method]}
        for name, tasks in subsets.items():
            keys = {"corpus": corpus, "group": group, "method": method, "level": _unit(method), "tasks": name}
            row = {"statistic": "unit_minutes", "estimate": np.nan} | keys
            if untimed := sorted(tasks - set(part["task"])):
                yield row | {"note": f"no durations of {', '.join(untimed)}"}
                continue
            timed = part[part["task"].isin(tasks)]
            total, low, high = mover(*(timed[c].to_numpy(float) for c in ("estimate", "ci_low", "ci_high")))
            kind = "not_estimable" if np.isnan(low) else "mover"
            ends = {"ci_low": low, "ci_high": high, "ci_kind": kind}
            yield row | {"estimate": total, "n": int(timed["n"].sum())} | ends


def payment(stated: float | Mapping[str, float] | None, tasks: pd.Series) -> float | None:
    """Payment of all tasks of one unit; None where one of them has none."""
    if isinstance(stated, Mapping):
        return sum(stated[t] for t in tasks) if set(tasks) <= set(stated) else None
    return None if stated is None else stated * len(tasks)
