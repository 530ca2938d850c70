"""What judgements took and cost, and what more of them would."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from judgebook.codes import distinct
from judgebook.questions.collection import costs
from judgebook.questions.performance.leading import PART
from judgebook.study.results import where
from judgebook.study.schema import Annotations
from judgebook.summary.evidence import COST, Evidence, parts

#: dialogues or pairs per system by which a sample grows in "what would more buy?"
MORE = 10


def cost(evidence: Evidence) -> dict[str, Any]:
    """What people's judgements took, by evaluation, and what a further MORE dialogues or pairs per system would.

    Returns `rows`: PART, minutes per dialogue or pair with interval, hours, money, level; `hours` and `money` of all;
    `main`, the row of the main evaluation that was timed, and `next`, the money for MORE per system by it, judged as
    often as those of the study; `together`, methods whose time is known of whole tasks only, which are one row
    (`costs.TOGETHER`); or `reason`, empty where no times are in the data. `paid`, `paid_currency` and
    `all_paid` (whether the payment of all work is known), where any is; `wage`, what was paid per hour where all of it
    is timed.
    """
    section, money = evidence.study.costs, _paid(evidence)
    rows = evidence.results[COST].select("unit_minutes", tasks="all").dropna(subset="estimate")
    hours, dialogues = _hours(evidence)
    rows = rows.join(hours, on=PART).join(dialogues, on=PART).dropna(subset="hours")
    if rows.empty:
        timed = evidence.people["seconds"].notna().any()
        why = evidence.reasons.get(COST) or "Notebook 02 found no time of a whole task in the data." * bool(timed)
        return {"reason": why} | money
    rows["money"] = rows["hours"] * section.hourly_rate
    place = {part: i for i, part in enumerate(parts(evidence))}
    rows["part"] = [place.get(tuple(key), len(place)) for key in rows[PART].to_numpy()]
    first = rows.sort_values("part").iloc[0]
    judged = _timed_as_whole(evidence)
    n = where(judged, **{k: first[k] for k in PART})[["system", "system_b"]]
    systems = len(distinct(n["system"], n["system_b"]))
    more = MORE * systems / (2 if first["level"] == "pair" else 1)
    facts = {"rows": rows.drop(columns="part"), "hours": rows["hours"].sum(), "money": rows["money"].sum()}
    facts |= {"currency": section.currency, "rate": section.hourly_rate, "main": first}
    mixed = judged.index[(judged["method"] == costs.TOGETHER).to_numpy()]
    facts["together"] = list(dict.fromkeys(evidence.people.loc[mixed.unique(), "method"]))
    if money and money["all_paid"] and len(rows) == len(judged[PART].drop_duplicates()):
        money["wage"] = money["paid"] / facts["hours"]
    return facts | money | {"next": more * first["money"] / first["dialogues"], "next_units": more}


def _paid(evidence: Evidence) -> dict[str, Any]:
    """What people were paid for judging, by `quality_control.payment` (every work unit, also of those who failed) or by
    `costs.payments`; empty where neither is known."""
    control, section = evidence.study.quality_control, evidence.study.costs
    if control.payment:
        judged = evidence.people[["corpus", "work_unit"]].dropna().drop_duplicates()
        total = control.payment * (evidence.work_units or len(judged))
        return {"paid": total, "paid_currency": control.currency, "all_paid": True} if total else {}
    amounts = costs.paid(evidence.people, evidence.study.label_list(), section.payments)
    if not amounts.notna().any():
        return {}
    return {"paid": float(amounts.sum()), "paid_currency": section.currency, "all_paid": bool(amounts.notna().all())}


def _timed_as_whole(evidence: Evidence) -> Annotations:
    """People's annotations, by `costs.as_whole` where tasks of several methods were timed as a whole."""
    people, rows = evidence.people, evidence.results[COST]["unit_minutes"]
    places = set(zip(*(rows.loc[rows["method"] == costs.TOGETHER, k] for k in PART[:2]), strict=True))
    whole = pd.MultiIndex.from_frame(people[PART[:2]]).isin(list(places)) if places else np.zeros(len(people), bool)
    return pd.concat([people[~whole], costs.as_whole(costs.in_units(people[whole]))]) if whole.any() else people


def _hours(evidence: Evidence) -> tuple[pd.Series, pd.Series]:
    """Hours of annotation by people, and dialogues or pairs judged, by PART.

    The sum of all durations where each judgement has one. Else a task takes its median minutes each time one of its
    labels is judged; a task that the YAML does not name takes as long as the method's tasks on average.
    """
    task = {(label.method, label.id): label.task or label.method for label in evidence.study.label_list()}
    people, about = _timed_as_whole(evidence), ["dialogue", "dialogue_b"]
    pair, keys = people.groupby(["method", "label"], sort=False).ngroup(), people[["method", "label"]].drop_duplicates()
    tasks = np.array([task.get(key, key[0]) for key in keys.itertuples(index=False, name=None)], dtype=object)
    judged = people[[*PART, "annotator", "work_unit", *about]].assign(task=tasks[pair.to_numpy()]).drop_duplicates()
    units = judged.groupby([*PART, "task"], observed=True).size().rename("units").reset_index()
    times = evidence.results[COST].select("median_minutes").dropna(subset="estimate")
    minutes = times.set_index([*PART, "task"])["estimate"]
    of_task = minutes.reindex(pd.MultiIndex.from_frame(units[[*PART, "task"]])).to_numpy()
    mean = times.groupby(PART)["estimate"].mean().rename("mean")
    units["hours"] = units["units"] * units.join(mean, on=PART)["mean"].where(np.isnan(of_task), of_task) / 60
    dialogues = judged.drop_duplicates([*PART, *about]).groupby(PART).size().rename("dialogues")
    by_median = units.groupby(PART)["hours"].sum(min_count=1)
    return _recorded(evidence, people).reindex(by_median.index).fillna(by_median).rename("hours"), dialogues


def _recorded(evidence: Evidence, people: Annotations) -> pd.Series:
    """Hours by PART where every judgement has its own duration. Durations of work units are left out: they may be those
    of parts, or hold more than judging.

    people : `_timed_as_whole`.
    """
    if evidence.people["work_unit"].notna().any():
        return pd.Series(dtype=float)
    timed = costs.in_units(people)
    complete = timed["seconds"].notna().groupby([timed[k] for k in PART]).all()
    spent = timed.drop_duplicates([*PART, "work_unit"]).groupby(PART)["seconds"].sum() / 3600
    return spent[complete]
