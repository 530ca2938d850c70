"""What annotation takes in time and money (Finch et al. 2023, appendix F, Tables 9 and 10).

The time of a method is the sum, over the tasks it is split into, of the median minutes a dialogue, or a pair where
dialogues are compared. Throughput, estimated cost and own cost follow from it by
arithmetic, see `money`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from helpers.distributions import coin_ppf
from helpers.labels import METHODS, Label
from helpers.schema import condition

#: the conversation itself, which is no evaluation method
COLLECTION = "collection"
#: timed parts of an interactor's work unit -> what they were spent on
PARTS = {
    "first_bot": COLLECTION,
    "second_bot": COLLECTION,
    "first_likert": "dialogue_likert",
    "second_likert": "dialogue_likert",
    "comparative": "comparative",
}
_KEYS = ["corpus", "group", "method", "task"]


def minutes(work_units: pd.DataFrame, annotations: pd.DataFrame) -> pd.DataFrame:
    """How long a dialogue (a pair, where dialogues are compared) took, by work unit.

    Returns corpus, group, method, task, annotator, work_unit and minutes, one row a timed unit or part of one. A unit
    whose parts were timed counts by its parts (`PARTS`), each about one dialogue or pair; any other as a whole, with
    the method of its judgements and divided by the dialogues or pairs judged in it. Units without a duration, and whole
    units that mix methods, are left out. Where a study has no work-unit frame, the seconds of its annotations are
    taken, one value a unit.

    Checked by hand.
    """
    judged = annotations.dropna(subset=["work_unit"])
    judged = judged.drop_duplicates(["work_unit", "method", "dialogue", "dialogue_b"]).groupby("work_unit")["method"]
    judged = judged.agg(["first", "nunique", "size"]).query("nunique == 1")
    if work_units.empty:
        work_units = annotations.drop_duplicates("work_unit").assign(part="whole", task=pd.NA)
    timed = work_units[work_units["seconds"].notna() & work_units["work_unit"].notna()]
    parts = timed[timed["part"].isin(list(PARTS))]
    whole = timed[(timed["part"] == "whole") & ~timed["work_unit"].isin(parts["work_unit"])]
    parts = parts.assign(method=parts["part"].map(PARTS), task=parts["part"].map(PARTS), size=1)
    whole = whole[whole["work_unit"].isin(judged.index)].drop(columns="method", errors="ignore")
    whole = whole.join(judged, on="work_unit").rename(columns={"first": "method"})
    whole = whole.assign(task=whole["task"].astype(object).fillna(whole["method"].astype(object)))
    out = pd.concat([part for part in (parts, whole) if len(part)] or [parts])
    out = out.assign(minutes=out["seconds"] / 60 / out["size"])
    return out[[*_KEYS, "annotator", "work_unit", "minutes"]].reset_index(drop=True)


def medians(times: pd.DataFrame, confidence: float = 0.95) -> pd.DataFrame:
    """Median minutes a dialogue or pair, by corpus, group, method and task: `median_minutes` rows.

    The interval is the exact one for a median from order statistics (binomial, at least `confidence`), which takes the
    units as independent although people do several: n_annotators says how many did them.

    The interval is checked against the ranks tabled by Conover 1999, section 3.2.
    """
    rows = []
    for (corpus, group, method, task), part in times.groupby(_KEYS, sort=False):
        low, high = _median_interval(part["minutes"].to_numpy(float), confidence)
        row = {"corpus": corpus, "group": group, "method": method, "level": _unit(method)}
        row |= {"condition": condition(task=task), "estimate": part["minutes"].median(), "n": len(part)}
        row |= {"ci_low": low, "ci_high": high, "n_annotators": part["annotator"].nunique()}
        kind = "not_estimable" if np.isnan(low) else "order_statistics"
        rows.append(row | {"ci_kind": kind, "resample_unit": "work unit"})
    return pd.DataFrame(rows).assign(statistic="median_minutes")


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

    Zou and Donner 2008, Statistics in Medicine 27, 1693-1702, equations 4 and 5. Checked by simulation: it covers the
    sum of medians of skewed times at the nominal rate. The interval is missing where one of the intervals is.
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
) -> pd.DataFrame:
    """Time and money of each method, by corpus and group, from `medians` of its tasks.

    payments : group -> method -> what one work unit of each of its tasks was paid, or task -> payment.
    final_labels : method -> labels that were kept in the end; their tasks alone are given once more (`tasks=final`).

    Returns `unit_minutes` (with interval), `throughput`, `estimated_cost`, `own_cost` and `cost_per_label` rows; the
    level says what a unit is: a dialogue or a pair. `cost_per_label` is the estimated cost of one label of one unit.

    Checked by hand, and through `money` against the printed Table 10.
    """
    task_of = {(label.method, label.id): label.task or label.method for label in labels}
    rows = []
    for (corpus, group, method), part in medians.groupby(["corpus", "group", "method"], sort=False):
        part = part.assign(task=part["condition"].str.removeprefix("task="))
        subsets = {"all": set(part["task"])}
        if method in (final_labels or {}):
            subsets["final"] = {task_of[method, label] for label in final_labels[method]}
        for name, tasks in subsets.items():
            keys = {"corpus": corpus, "group": group, "method": method, "level": _unit(method)}
            keys["condition"] = condition(tasks=name)
            here, untimed = part[part["task"].isin(tasks)], sorted(tasks - set(part["task"]))
            if untimed:
                note = f"no durations of {', '.join(untimed)}"
                rows.append(keys | {"statistic": "unit_minutes", "estimate": np.nan, "note": note})
                continue
            n_labels = sum(m == method and task in tasks for (m, _), task in task_of.items())
            paid = _payment(payments.get(group, {}).get(method), here["task"])
            rows += [keys | row for row in _cost_rows(here, n_labels, hourly_rate, planned_dialogues, paid)]
    return pd.DataFrame(rows)


def _cost_rows(tasks: pd.DataFrame, n_labels: int, rate: float, planned: int, paid: float | None) -> list[dict]:
    columns = (tasks[c].to_numpy(float) for c in ("estimate", "ci_low", "ci_high"))
    total, low, high = mover(*columns)
    units = planned / 2 if tasks["level"].iloc[0] == "pair" else planned
    interval = {"ci_low": low, "ci_high": high, "ci_kind": "not_estimable" if np.isnan(low) else "mover"}
    out = [{"statistic": "unit_minutes", "estimate": total, "n": int(tasks["n"].sum())} | interval]
    amounts = money(total, units, rate, paid)
    amounts["cost_per_label"] = amounts["estimated_cost"] / units / n_labels if n_labels else np.nan
    why = {"own_cost": "costs.payments has no payment for it", "cost_per_label": "no label is judged in it"}
    return out + [
        {"statistic": name, "estimate": value, "note": why[name] if np.isnan(value) else None}
        for name, value in amounts.items()
    ]


def _payment(given: float | Mapping[str, float] | None, tasks: pd.Series) -> float | None:
    """Payment of all tasks of one unit; None where one of them has none."""
    if given is None or not isinstance(given, Mapping):
        return None if given is None else given * len(tasks)
    return sum(given[t] for t in tasks) if set(tasks) <= set(given) else None


def money(
    minutes_per_unit: float, n_units: float, hourly_rate: float, payment: float | None = None
) -> dict[str, float]:
    """Throughput (units an hour), estimated cost and own cost (missing without a payment), as Table 10 has them.

    TP = 60 / TI, EC = TI / 60 x rate x units, OC = payment of all tasks of one unit x units. Checked against the
    printed TP, EC and OC of Table 10.
    """
    return {
        "throughput": 60 / minutes_per_unit,
        "estimated_cost": minutes_per_unit / 60 * hourly_rate * n_units,
        "own_cost": np.nan if payment is None else payment * n_units,
    }
