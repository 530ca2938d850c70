"""What notebook 14 says: facts from its results, put into words by `text.md.j2`."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import Any

import numpy as np
import pandas as pd

from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose
from judgebook.model.designs import MOST
from judgebook.questions.judges.prediction_powered import ASSISTED, HUMAN
from judgebook.questions.planning.analysis import LOOKS, cheapest
from judgebook.questions.planning.pilot_study import PlanningInput
from judgebook.questions.planning.question import Planning
from judgebook.study.results import Results, where

_PHRASES = Phrases(__package__)
_TEAM = ["method", "metric"]


def findings(
    results: Results,
    data: PlanningInput,
    names: DisplayNames,
    options: Planning,
    *,
    currency: str,
    confidence: float = 0.95,
    paid: tuple[float, str] | None = None,
    n_next: int = 0,
) -> Iterator[Prose]:
    """The decision: people and a model where it is recommended, and the recommended design of people, by method, and
    within the budget; then what the plan rests on, costs and early looks.

    paid : what a work unit of this study was paid, and the currency; None where that is not known. n_next : dialogues
    in the list of those to be judged next.
    """
    known = facts(results, data, names, options, confidence)
    with_model = teams(results, names)
    said = [_PHRASES.say("team", t=t, currency=currency, least=options.least_gain) for t in with_model[:1]]
    beside = any(t["helps"] for t in with_model)
    shared = {key: known[key] for key in ("methods", "lost", "too_wide", "assumed", "others")}
    shared |= {"most": MOST, "every": len(data.pilots)}
    headline = _PHRASES.say(
        "headline", **shared, power=options.power, currency=currency, n_systems=data.n_systems, budget=options.budget,
        effect=options.effect, beside=beside,
    )  # fmt: skip
    first, _, rest = headline.partition("\n")
    paragraphs = [*said, first, rest.strip()] if beside else [first, *said, rest.strip()]
    yield Prose("\n\n".join(paragraph for paragraph in paragraphs if paragraph) if said else headline)
    judges = dict.fromkeys(j.judge for j in data.judged)
    unpriced = [j for j in judges if j not in data.judge_costs and "*" not in data.judge_costs]
    yield Prose(_PHRASES.say("unpriced", judges=[names.name("metric", j) for j in unpriced]))
    if with_model:
        yield Prose(_PHRASES.say("next_items", n=n_next, judge=with_model[0]["judge"]))
    kinds = (("corpus", data.corpus, data.several[0]), ("group", data.group, data.several[1]))
    basis = [names.name(kind, value) for kind, value, several in kinds if several > 1]
    more = {"unit": data.blocks, "met": data.met, "paired": data.paired, "annotators": data.annotators}
    more |= {"left_out": known["left_out"], "once": known["once"], "basis": basis}
    yield Prose(_PHRASES.say("basis", **shared, **more))
    rate = next((prices.hourly_rate for prices in data.prices.values() if prices), None)
    yield Prose(_PHRASES.say("costs", times=_times(data, names), currency=currency, rate=rate, paid=paid))
    yield Prose(_PHRASES.say("looks", looks=LOOKS))


def facts(
    results: Results, data: PlanningInput, names: DisplayNames, options: Planning, confidence: float = 0.95
) -> dict[str, Any]:
    """What is said about designs.

    Returns `methods` (`_by_method`), `lost` (names of labels without a design), `too_wide` (of those whose difference
    is as wide as the scale), `assumed` (labels whose difference was not stated, and is therefore `effect` standard
    deviations), `left_out` (labels that were judged and cannot be planned from), `once` (planned labels of which no
    dialogue was judged twice), `others` (whether plans hold for other annotators: True, False, or None where some do).
    """
    rows = names.sort(results.select("plan_dialogues", aim="cheapest"))
    rows = rows[rows["estimate"].isna()]
    lost = [names.distinct_label(x, m) for m, x in zip(rows["method"], rows["label"], strict=True)]
    wide = {names.distinct_label(p.label, p.method) for p in data.pilots if data.wanted(p) >= p.widest}
    whom = {p.fit.others for p in data.pilots}
    return {
        "methods": _by_method(results, data, names, options, confidence),
        "lost": [x for x in lost if x not in wide], "too_wide": [x for x in lost if x in wide],
        "assumed": [names.distinct_label(x, m) for m, x in data.assumed],
        "left_out": [names.distinct_label(x, m) for m, x in data.left_out],
        "once": [names.distinct_label(p.label, p.method) for p in data.pilots if not p.judged_twice],
        "others": whom.pop() if len(whom) == 1 else None,
    }  # fmt: skip


def _times(data: PlanningInput, names: DisplayNames) -> list[dict[str, Any]]:
    """Of each method that is planned, minutes of a judgement and of a conversation; None where they are not known."""
    planned = {p.method for p in data.pilots}
    return [
        {"method": names.name("method", method), "judged": prices.minutes_per_judgement if prices else None,
         "talked": prices.minutes_per_dialogue if prices else None}
        for method, prices in data.prices.items() if method in planned
    ]  # fmt: skip


def _by_method(
    results: Results, data: PlanningInput, names: DisplayNames, options: Planning, confidence: float
) -> list[dict[str, Any]]:
    """Of each method the one design that finds the difference worth finding on all labels for which there is one: each
    judgement gives them all, so the neediest decides. The method to be recommended comes first: the one that finds it
    on the largest share of its labels, within the budget if there is one; of several, the one of least cost.

    n : dialogues per system or comparisons per pair; each : annotators of one; people : in all, None where they are not
    known. had : the number of the pilot, as a median. labels : planned; found : with a design; within : of the budget;
    every : whether that is all. hours, money : missing where times are not known.
    """
    chosen = results["plan_detectable"].dropna(subset="aim").set_index(["aim", "method", "label"])["estimate"]
    out = []
    for method in dict.fromkeys(p.method for p in data.pilots):
        of_method = [p for p in data.pilots if p.method == method]
        needed = [p for p in of_method if ("cheapest", method, p.label) in chosen.index]
        within = sum(chosen.get(("budget", method, p.label), np.nan) <= data.wanted(p) for p in needed)
        design = cheapest(needed, [data.wanted(p) for p in needed], data, options, confidence) if needed else None
        row = {"name": names.name("method", method), "labels": len(of_method), "found": len(needed) if design else 0}
        row |= {"within": within, "every": within == len(of_method), "had": _per_system(data, method), "timed": False}
        if design:
            people = int(design.annotators) if np.isfinite(design.annotators) else None
            row |= {"pairwise": needed[0].pairwise, "n": int(design.dialogues), "each": int(design.per_dialogue)}
            row["people"] = people
            if prices := data.prices.get(method):
                hours, money = (amount(design, needed[0].pairwise) for amount in (prices.hours, prices.cost))
                row |= {"hours": hours, "money": money, "timed": True}
        out.append(row)
    priced = all(row["timed"] for row in out if row["found"])
    return sorted(
        out,
        key=lambda m: (
            -m["within"] / m["labels"],
            -m["found"] / m["labels"],
            m["money"] if priced and m["found"] else 0,
        ),
    )


def _per_system(data: PlanningInput, method: str) -> int:
    """Dialogues per system of the pilot, or comparisons per pair of systems: the median."""
    judged = data.annotations[data.annotations["method"] == method].drop_duplicates(["dialogue", "dialogue_b"])
    sides = judged[["system", "system_b"]].astype("string").fillna("")
    sizes = pd.DataFrame(np.sort(sides.to_numpy(dtype=str), axis=1)).value_counts()
    return round(float(sizes.median()))


def teams(results: Results, names: DisplayNames) -> list[dict[str, Any]]:
    """Of each method the model that gains most, those that are recommended first.

    helps : True, False, or None where the pilot cannot tell. n, pool, each : dialogues of a system that people and the
    model judge, and annotators; alone, alone_each : of people alone. gain,
    narrower : estimate and ends (missing unless `bounded`), None without a design. of : models that were compared.
    """
    rows = results["split_helps"]
    out: list[dict[str, Any]] = []
    if rows.empty:
        return out
    for (method, judge), one in rows.groupby(_TEAM, sort=False):
        key = {"method": method, "metric": judge, "label": None}
        decided, gains = one["estimate"].iloc[0], where(results["split_gain"], **key)
        team = {
            "method": method, "judge": names.name("metric", judge), "id": judge, "budget": float(one["budget"].iloc[0]),
            "helps": None if pd.isna(decided) else bool(decided), "pairwise": one["level"].iloc[0] == "pair",
            "name": names.name("method", method), "gain": None, "of": int((rows["method"] == method).sum()),
        }  # fmt: skip
        for raters, n, each in ((HUMAN, "alone", "alone_each"), (ASSISTED, "n", "each")):
            team |= _design(where(results["split_dialogues"], **key, raters=raters), n, each)
        if len(gains):
            team["gain"] = gains.iloc[0][["estimate", "ci_low", "ci_high"]].to_dict()
            team["bounded"] = bool(np.isfinite(team["gain"]["ci_low"]))
            team["narrower"] = {end: 1 - 1 / sqrt(value) for end, value in team["gain"].items()}
        out.append(team)
    out.sort(key=lambda t: ({True: 0, None: 1, False: 2}[t["helps"]], -(t["gain"] or {"estimate": 0})["estimate"]))
    first: dict[str, dict[str, Any]] = {}
    for team in out:
        first.setdefault(team["method"], team)
    return list(first.values())


def _design(rows: pd.DataFrame, n: str, each: str) -> dict[str, int]:
    """Dialogues that people judge and, where it does, that the model judges, and annotators; {} without a design."""
    by = rows.dropna(subset="estimate").set_index("judged_by")
    if by.empty:
        return {}
    design = {n: int(by.at["people", "estimate"]), each: int(by.at["people", "annotators_per_dialogue"])}
    return design | ({"pool": int(by.at["model", "estimate"])} if "model" in by.index else {})
