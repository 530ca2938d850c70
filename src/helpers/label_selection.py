"""Which labels to keep? (Finch et al. 2023, section 7.5)

The paper keeps labels "given the results" of four analyses, without saying how they were weighed. Here each analysis
has a threshold that is stated in the YAML, a label is kept when it reaches all of them, and what each threshold alone
would keep stands beside. The thresholds are choices, not findings; move them and look again.

When it misleads: labels chosen on the data they are then reported on look better than they are. A label that misses a
threshold may be unreliable here, with these annotators and systems, rather than useless.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pandas as pd

from helpers.labels import Label
from helpers.schema import condition, read_condition

#: criterion -> what its value is
VALUES = {
    "agreement": "alpha",
    "importance": "strongest |r| with an interval that excludes 0",
    "sensitivity": "pairs of systems told apart",
    "distinctness": "share of half-samples that select it",
    "cost": "estimated cost of one label",
}
KEY = ["method", "label"]


class Thresholds(Protocol):
    """What is used of `sections.LabelSelection`; None: the criterion is not applied."""

    min_alpha: float | None
    excludes_zero: bool
    min_pairs: int | None
    min_selected: float | None
    max_cost: float | None


@dataclass(frozen=True)
class Evidence:
    """Result rows of one corpus and group that the criteria read. `importance` and `distinctness` come from the same
    predictors; `sensitivity` are n_significant rows of all dialogues by the permutation test."""

    agreement: pd.DataFrame
    importance: pd.DataFrame
    sensitivity: pd.DataFrame
    distinctness: pd.DataFrame
    cost: pd.DataFrame


def criteria(evidence: Evidence, labels: pd.DataFrame) -> pd.DataFrame:
    """The value of each criterion for each label: columns method, label and those of `VALUES`, missing where unknown.

    labels : columns method, label. agreement : alpha over dialogues or pairs. importance : the larger |r| over the two
    targets among those whose jackknife interval excludes 0; 0 where neither does. sensitivity : pairs of systems with
    p < .05 by Holm within the label. distinctness : the larger selection frequency over the two targets. cost : the
    same for all labels of a method.

    Checked by hand.
    """
    out = labels[KEY].drop_duplicates().set_index(KEY)
    out["agreement"] = _one(_alphas(evidence.agreement))
    out["importance"] = _strongest(evidence.importance)
    out["sensitivity"] = _one(_pairs(evidence.sensitivity))
    chosen = evidence.distinctness
    chosen = chosen[chosen["statistic"] == "selection_frequency"] if len(chosen) else chosen
    out["distinctness"] = chosen.groupby(KEY)["estimate"].max() if len(chosen) else np.nan
    cost = evidence.cost
    per_label = cost[(cost["statistic"] == "cost_per_label") & (cost["condition"] == "tasks=all")]
    by_method = per_label.set_index("method")["estimate"]
    out["cost"] = out.index.get_level_values("method").map(by_method).astype(float)
    return out.reset_index()


def _alphas(rows: pd.DataFrame) -> pd.DataFrame:
    """The primary rows of alpha: intervals over dialogues or pairs, on all data."""
    rows = rows[rows["statistic"] == "alpha"]
    keys = rows["condition"].map(read_condition)
    fits = keys.map(lambda k: k.get("resample") in ("dialogue", "pair") and "scope" not in k).astype(bool)
    return rows[fits]


def _strongest(rows: pd.DataFrame) -> pd.Series:
    keys = rows["condition"].map(read_condition)
    r = rows[(rows["statistic"] == "r") & keys.map(lambda k: "kind" not in k).astype(bool)]
    sure = (r["ci_low"] > 0) | (r["ci_high"] < 0)
    known = r["ci_low"].notna()
    value = r["estimate"].abs().where(sure, 0.0).where(known)
    return value.groupby([r["method"], r["label"]]).max()


def _pairs(rows: pd.DataFrame) -> pd.DataFrame:
    wanted = {"test": "session", "alpha": "0.05", "family": "label", "adjust": "holm"}
    keys = rows["condition"].map(read_condition)
    fits = keys.map(lambda k: wanted.items() <= k.items() and "n_dialogues" not in k).astype(bool)
    return rows[(rows["statistic"] == "n_significant") & fits]


def _one(rows: pd.DataFrame) -> pd.Series:
    """One value a label. Raises ValueError where a label has several."""
    if rows.duplicated(KEY).any():
        raise ValueError(f"{int(rows.duplicated(KEY).sum())} rows are a second one of the same label; select one group")
    return rows.set_index(KEY)["estimate"]


def select(values: pd.DataFrame, thresholds: Thresholds) -> pd.DataFrame:
    """Which thresholds each label reaches: the frame of `criteria` with a column `<criterion>_met` for each that is
    applied, and `kept`, whether all are. A value that is missing reaches nothing.

    Checked by hand.
    """
    out, applied = values.copy(), limits(thresholds)
    for name, limit in applied.items():
        column = values[name]
        met = column <= limit if name == "cost" else column > 0 if name == "importance" else column >= limit
        out[f"{name}_met"] = met.fillna(False).astype(bool)
    out["kept"] = out[[f"{name}_met" for name in applied]].all(axis=1)
    return out


def limits(thresholds: Thresholds) -> dict[str, float]:
    """The criteria that are applied, and their thresholds; 0 for importance, which asks for an interval without 0.

    Checked by hand.
    """
    given = {
        "agreement": thresholds.min_alpha,
        "importance": 0.0 if thresholds.excludes_zero else None,
        "sensitivity": thresholds.min_pairs,
        "distinctness": thresholds.min_selected,
        "cost": thresholds.max_cost,
    }
    return {name: float(limit) for name, limit in given.items() if limit is not None}


def rows(selected: pd.DataFrame, thresholds: Thresholds) -> pd.DataFrame:
    """Result rows: criterion_met a label and criterion (and criterion=all), and n_kept: how many labels of a method
    reach each criterion, all of them, and all but that one.

    Checked by hand.
    """
    applied, out = limits(thresholds), []
    for row in selected.to_dict("records"):
        base = {"statistic": "criterion_met", "method": row["method"], "label": row["label"], "level": "dialogue"}
        for name, limit in applied.items():
            keys = condition(criterion=name, threshold=f"{limit:g}")
            note = None if pd.notna(row[name]) else f"not known: {VALUES[name]}"
            out.append(base | {"condition": keys, "estimate": float(row[f"{name}_met"]), "note": note})
        out.append(base | {"condition": condition(criterion="all"), "estimate": float(row["kept"])})
    for method, part in selected.groupby("method", sort=False):
        base = {"statistic": "n_kept", "method": method, "level": "dialogue", "n": len(part)}
        sets = {"all": list(applied)} | {name: [name] for name in applied}
        sets |= {f"all but {name}": [other for other in applied if other != name] for name in applied}
        for name, wanted in sets.items():
            kept = part[[f"{w}_met" for w in wanted]].all(axis=1).sum()
            out.append(base | {"condition": condition(criterion=name), "estimate": float(kept)})
    return pd.DataFrame(out)


def minutes(selected: pd.DataFrame, cost: pd.DataFrame, labels: Iterable[Label]) -> pd.DataFrame:
    """Minutes a dialogue or pair for the tasks of the labels kept: unit_minutes rows, tasks=kept, one a method.

    cost : median_minutes rows of one corpus and group. A task is paid in full where it gives any kept label. Methods
    without durations of such a task are left out. Checked by hand.
    """
    task_of = {(x.method, x.id): x.task or x.method for x in labels}
    known = cost[cost["statistic"] == "median_minutes"]
    known = known.assign(task=known["condition"].map(lambda c: read_condition(c)["task"]))
    out = []
    for method, part in selected[selected["kept"]].groupby("method", sort=False):
        tasks = {task_of.get((method, label), method) for label in part["label"]}
        here = known[(known["method"] == method) & known["task"].isin(tasks)]
        if set(here["task"]) == tasks:
            row = {"statistic": "unit_minutes", "method": method, "level": here["level"].iloc[0], "n": len(tasks)}
            out.append(row | {"condition": condition(tasks="kept"), "estimate": float(here["estimate"].sum())})
    return pd.DataFrame(out, columns=["statistic", "method", "level", "n", "condition", "estimate"])
