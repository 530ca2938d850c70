"""Time and cost of annotation (Finch et al. 2023, appendix F, Tables 9 and 10).

The time of a method is the sum over its tasks of the median minutes per dialogue, or per pair where dialogues are
compared. Throughput, estimated cost and own cost follow by arithmetic, see `money`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from judgebook import codes
from judgebook.statistics.saddlepoint import coin_ppf
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
    task = [tasks[pair] for pair in zip(annotations["method"], annotations["label"], strict=True)]
    about = annotations["dialogue"].astype(str) + " " + annotations["dialogue_b"].astype(str)
    unit = annotations["work_unit"].astype(object).where(annotations["work_unit"].notna(), about)
    done = annotations[["corpus", "group", "method", "annotator"]].assign(task=task, unit=unit).drop_duplicates()
    out = {}
    for (corpus, group, method), part in done.groupby(["corpus", "group", "method"], sort=False, observed=True):
        amounts = [_payment(payments.get(group, {}).get(method), pd.Series([t])) for t in part["task"]]
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
    rank = int(coin_ppf((1 - confidence) / 2, n))
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


def costs(
    medians: pd.DataFrame,
    labels: Iterable[Label],
    *,
    hourly_rate: float,
    planned_dialogues: int,
    payments: Mapping[str, Mapping[str, float | Mapping[str, float]]],
    final_labels: Mapping[str, list[str]] | None = None,
) -> Iterator[dict[str, Any]]:
    """Time and money of each method, by corpus and group.

    Parameters
    ----------
    medians : DataFrame
        `median_minutes` rows, one per task.
    labels : iterable of Label
        Give the tasks of labels, and how many labels a task has.
    hourly_rate : float
        Payment per hour of annotation in the estimate.
    planned_dialogues : int
        Dialogues the cost is for; pairs are half as many.
    payments : dict
        group -> method -> what one work unit of each of its tasks was paid, or task -> payment.
    final_labels : dict, optional
        method -> labels kept in the end; the cost of their tasks alone is added (`tasks` of `final`).

    Returns
    -------
    Rows of `unit_minutes` (with interval), `throughput`, `estimated_cost`, `own_cost` and `cost_per_label`, the
    estimated cost of one label of one unit. `level` says what a unit is: a dialogue or a pair.

    References
    ----------
    Finch, Finch and Choi 2023, appendix F, Table 10.
    """
    task_of = {(label.method, label.id): label.task or label.method for label in labels}
    final = final_labels or {}
    for (corpus, group, method), part in medians.groupby(_KEYS[:3], sort=False):
        subsets = {"all": set(part["task"])}
        if method in final:
            subsets["final"] = {task_of[method, label] for label in final[method]}
        for name, tasks in subsets.items():
            keys = {"corpus": corpus, "group": group, "method": method, "level": _unit(method), "tasks": name}
            timed, untimed = part[part["task"].isin(tasks)], sorted(tasks - set(part["task"]))
            if untimed:
                note = f"no durations of {', '.join(untimed)}"
                yield keys | {"statistic": "unit_minutes", "estimate": np.nan, "note": note}
                continue
            n_labels = sum(m == method and task in tasks for (m, _), task in task_of.items())
            paid = _payment(payments.get(group, {}).get(method), timed["task"])
            yield from (keys | row for row in _cost_rows(timed, n_labels, hourly_rate, planned_dialogues, paid))


def _cost_rows(
    tasks: pd.DataFrame, n_labels: int, rate: float, planned: int, paid: float | None
) -> Iterator[dict[str, Any]]:
    total, low, high = mover(*(tasks[c].to_numpy(float) for c in ("estimate", "ci_low", "ci_high")))
    kind = "not_estimable" if np.isnan(low) else "mover"
    row = {"statistic": "unit_minutes", "estimate": total, "ci_low": low, "ci_high": high, "ci_kind": kind}
    yield row | {"n": int(tasks["n"].sum())}
    units = planned / 2 if tasks["level"].iloc[0] == "pair" else planned
    amounts = money(total, units, rate, paid)
    amounts["cost_per_label"] = amounts["estimated_cost"] / units / n_labels if n_labels else np.nan
    one = "no label is judged in it" if tasks["method"].iloc[0] != TOGETHER else "its labels are of several methods"
    why = {"own_cost": "costs.payments has no payment for it", "cost_per_label": one}
    for name, value in amounts.items():
        yield {"statistic": name, "estimate": value, "note": why[name] if np.isnan(value) else None}


def _payment(payment: float | Mapping[str, float] | None, tasks: pd.Series) -> float | None:
    """Payment of all tasks of one unit; None where one of them has none."""
    if isinstance(payment, Mapping):
        return sum(payment[t] for t in tasks) if set(tasks) <= set(payment) else None
    return None if payment is None else payment * len(tasks)


def money(
    minutes_per_unit: float, n_units: float, hourly_rate: float, payment: float | None = None
) -> dict[str, float]:
    """Throughput (units per hour), estimated cost and own cost (missing without a payment), as in Table 10.

    TP = 60 / TI, EC = TI / 60 x rate x units, OC = payment of all tasks of one unit x units.
    """
    return {
        "throughput": 60 / minutes_per_unit,
        "estimated_cost": minutes_per_unit / 60 * hourly_rate * n_units,
        "own_cost": np.nan if payment is None else payment * n_units,
    }
