"""What notebook 14 says: facts from its results, put into words by `text.md.j2`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose
from judgebook.model.designs import MOST
from judgebook.questions.planning.analysis import cheapest
from judgebook.questions.planning.budget_views import teams, unpriced
from judgebook.questions.planning.pilot_study import PlanningInput
from judgebook.questions.planning.question import Planning
from judgebook.study.results import Results, where

_PHRASES = Phrases(__package__)


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
    within the budget; then designs by label, what they rest on, costs, the budget and early looks.

    paid : what a work unit of this study was paid, and the currency; None where that is not known. n_next : dialogues
    in the list of those to be judged next.
    """
    all_facts = facts(results, data, names, options, confidence) | {"currency": currency, "n_systems": data.n_systems}
    every = len(data.pilots)
    common = {"power": options.power, "currency": currency, "n_systems": data.n_systems, "every": every}
    of_headline = {key: all_facts[key] for key in ("methods", "lost", "too_wide", "assumed", "others")}
    with_model = teams(results, names)
    said = [_PHRASES.say("team", t=t, currency=currency, least=options.least_gain) for t in with_model[:1]]
    beside = any(t["helps"] for t in with_model)
    stated = {"budget": options.budget, "effect": options.effect, "most": MOST}
    headline = _PHRASES.say("headline", **of_headline, **common, **stated, beside=beside)
    first, _, more = headline.partition("\n")
    paragraphs = [*said, first, more.strip()] if beside else [first, *said, more.strip()]
    yield Prose("\n\n".join(paragraph for paragraph in paragraphs if paragraph) if said else headline)
    yield Prose(_PHRASES.say("unpriced", judges=[names.name("metric", j) for j in unpriced(data)]))
    if with_model:
        yield Prose(_PHRASES.say("next_items", n=n_next, judge=with_model[0]["judge"]))
    yield Prose(_PHRASES.say("labels", found=all_facts["found"], **common))
    yield Prose(_PHRASES.say("separate", apart=all_facts["apart"], power=options.power))
    used = ("found", "lost", "too_wide", "paired", "assumed", "left_out", "once", "others", "annotators")
    settings = {"effect": options.effect, "most": MOST, "unit": data.blocks, "met": data.met}
    kinds = (("corpus", data.corpus, data.several[0]), ("group", data.group, data.several[1]))
    settings["basis"] = [names.name(kind, value) for kind, value, several in kinds if several > 1]
    yield Prose(_PHRASES.say("basis", **{k: all_facts[k] for k in used}, **settings, every=every))
    yield Prose(
        _PHRASES.say("costs", times=all_facts["times"], currency=currency, rate=all_facts["hourly_rate"], paid=paid)
    )
    if options.budget is not None:
        of_budget = ("bought", "too_dear", "untimed", "currency", "n_systems")
        yield Prose(_PHRASES.say("budget", budget=options.budget, **{k: all_facts[k] for k in of_budget}))
    yield Prose(_PHRASES.say("looks", **_looks(results), looks=options.looks))


def facts(
    results: Results, data: PlanningInput, names: DisplayNames, options: Planning, confidence: float = 0.95
) -> dict[str, Any]:
    """What is said about designs and costs.

    Returns `found` (the labels whose difference some design finds: label, wanted, pairwise, n, each, people, smallest,
    and hours and money where times are known), `apart` (as `found`, designs that tell the first system from the
    second), `lost` (names of labels without a design), `too_wide` (of those whose difference is as wide as the scale),
    `untimed` (methods without times), `assumed` (labels whose difference was not stated, and is therefore `effect`
    standard deviations), `bought` (as `found`, the best designs within the budget), `too_dear` (labels for which the
    budget pays for no study), `times` (of each method: minutes of a judgement and of a conversation, None where they
    are not known), `hourly_rate`, `paired`, `left_out` (labels that were judged and cannot be planned from), `once`
    (planned labels of which no dialogue was judged twice), `others` (whether plans hold for other annotators: True,
    False, or None where some do), `annotators` (as stated), `methods` (`_by_method`).
    """
    cases = {
        aim: [
            _case(results, row, names)
            for row in names.sort(results.select("plan_dialogues", aim=aim)).to_dict("records")
        ]
        for aim in ("cheapest", "separate", "budget")
    }
    planned, apart, bought = ([case for case in case_list if case["n"]] for case_list in cases.values())
    lost, _, too_dear = ([case["label"] for case in case_list if not case["n"]] for case_list in cases.values())
    wide = {names.distinct_label(p.label, p.method) for p in data.pilots if data.wanted(p) >= p.widest}
    priced = [prices for prices in data.prices.values() if prices]
    times = [
        {"method": names.name("method", method), "judged": prices.minutes_per_judgement if prices else None,
         "talked": prices.minutes_per_dialogue if prices else None}
        for method, prices in data.prices.items() if any(p.method == method for p in data.pilots)
    ]  # fmt: skip
    whom = {p.fit.others for p in data.pilots}
    return {
        "methods": _by_method(planned, bought, data, names, options, confidence), "apart": apart,
        "found": planned, "lost": [x for x in lost if x not in wide], "too_wide": [x for x in lost if x in wide],
        "untimed": [t["method"] for t in times if t["judged"] is None], "bought": bought, "too_dear": too_dear,
        "times": times, "paired": data.paired, "annotators": data.annotators,
        "others": whom.pop() if len(whom) == 1 else None,
        "assumed": [names.distinct_label(x, m) for m, x in data.assumed],
        "left_out": [names.distinct_label(x, m) for m, x in data.left_out],
        "once": [names.distinct_label(p.label, p.method) for p in data.pilots if not p.judged_twice],
        "hourly_rate": priced[0].hourly_rate if priced else None,
    }  # fmt: skip


def _by_method(
    planned: list[dict[str, Any]], bought: list[dict[str, Any]], data: PlanningInput, names: DisplayNames,
    options: Planning, confidence: float,
) -> list[dict[str, Any]]:  # fmt: skip
    """Of each method the one design that finds the difference worth finding on all labels for which there is one: each
    judgement gives them all, so the neediest decides. The method to be recommended comes first: the one that finds it
    on the largest share of its labels, within the budget if there is one; of several, the one of least cost.

    n : dialogues per system or comparisons per pair; each : annotators of one; people : in all, None where they are not
    known. had : the number of the pilot, as a median. labels : planned; found : with a design; within : of the budget;
    every : whether that is all. hours, money : missing where times are not known.
    """
    out = []
    for method in dict.fromkeys(p.method for p in data.pilots):
        of_method = [p for p in data.pilots if p.method == method]
        cases = {case["id"] for case in planned if case["method"] == method}
        affordable = [case for case in bought if case["method"] == method and _finds(case)]
        row = {"name": names.name("method", method), "labels": len(of_method)}
        row |= {
            "found": len(cases),
            "within": len(affordable),
            "every": len(affordable) == row["labels"],
            "had": _per_system(data, method),
            "timed": False,
        }
        needed = [p for p in of_method if p.label in cases]
        design = cheapest(needed, [data.wanted(p) for p in needed], data, options, confidence) if needed else None
        if design:
            people = int(design.annotators) if np.isfinite(design.annotators) else None
            row |= {"pairwise": needed[0].pairwise, "n": int(design.dialogues), "each": int(design.per_dialogue)}
            row["people"] = people
            if prices := data.prices.get(method):
                hours, money = (amount(design, needed[0].pairwise) for amount in (prices.hours, prices.cost))
                row |= {"hours": hours, "money": money, "timed": True}
        else:
            row["found"] = 0
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


def _finds(case: dict[str, Any]) -> bool:
    """Whether a design finds a difference as small as the one worth finding."""
    return case["smallest"] is not None and case["smallest"] <= case["wanted"]


def _per_system(data: PlanningInput, method: str) -> int:
    """Dialogues per system of the pilot, or comparisons per pair of systems: the median."""
    judged = data.annotations[data.annotations["method"] == method].drop_duplicates(["dialogue", "dialogue_b"])
    sides = judged[["system", "system_b"]].astype("string").fillna("")
    sizes = pd.DataFrame(np.sort(sides.to_numpy(dtype=str), axis=1)).value_counts()
    return round(float(sizes.median()))


def _case(results: Results, row: dict, names: DisplayNames) -> dict[str, Any]:
    """One label: the difference, the design that finds it, and its cost."""
    key = {"method": row["method"], "label": row["label"]}
    out: dict[str, Any] = {
        "id": row["label"],
        "label": names.distinct_label(row["label"], row["method"]),
        "method": row["method"],
        "n": 0,
    }
    out["pairwise"] = row["level"] == "pair"
    out["wanted"] = where(results["planned_difference"], **key)["estimate"].item()
    if pd.isna(row["estimate"]):
        return out
    cost = results.select("plan_cost", **key, aim=row["aim"]) if len(results["plan_cost"]) else results["plan_cost"]
    amounts = cost.set_index("resource")["estimate"].to_dict() if len(cost) else {}
    smallest = results.select("plan_detectable", **key, aim=row["aim"])["estimate"].item()
    design = {"n": int(row["estimate"]), "each": int(row["annotators_per_dialogue"])}
    known = pd.notna(row.get("annotators"))
    out |= {"people": int(row["annotators"]) if known else None}
    return out | design | {"smallest": None if pd.isna(smallest) else smallest} | amounts


def _looks(results: Results) -> dict[str, Any]:
    theory = results["sequential_crossing"].set_index("looks")["estimate"].to_dict()
    return {"theory": theory, "factor": results["sequential_inflation"].set_index("looks")["estimate"].to_dict()}
