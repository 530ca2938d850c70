"""What notebook 14 says: facts from its results, put into words by `text.md.j2`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose
from judgebook.questions.planning.designs import MOST, SAME
from judgebook.questions.planning.pilot_study import PlanningInput
from judgebook.questions.planning.question import Planning
from judgebook.study.results import Results, where

_PHRASES = Phrases(__package__)


def findings(
    results: Results, data: PlanningInput, names: DisplayNames, options: Planning, *, currency: str
) -> Iterator[Prose]:
    """The headline: dialogues that find the difference worth finding, by label; the budget; early looks."""
    all_facts = facts(results, data, names, options) | {"currency": currency, "n_systems": data.n_systems}
    used = (
        "found", "lost", "too_wide", "n_systems", "paired", "tests", "currency", "assumed", "chosen", "left_out",
        "once",
        "raised",
    )  # fmt: skip
    settings = {"power": options.power, "effect": options.effect, "most": MOST, "unit": data.blocks, "met": data.met}
    kinds = (("corpus", data.corpus, data.several[0]), ("group", data.group, data.several[1]))
    settings["basis"] = [names.name(kind, value) for kind, value, several in kinds if several > 1]
    yield Prose(_PHRASES.say("headline", **{k: all_facts[k] for k in used}, **settings))
    yield Prose(_PHRASES.say("costs", times=all_facts["times"], currency=currency, rate=all_facts["hourly_rate"]))
    if options.budget is not None:
        of_budget = ("bought", "too_dear", "untimed", "currency", "n_systems")
        yield Prose(_PHRASES.say("budget", budget=options.budget, **{k: all_facts[k] for k in of_budget}))
    yield Prose(_PHRASES.say("looks", **_looks(results), looks=options.looks))


def facts(results: Results, data: PlanningInput, names: DisplayNames, options: Planning) -> dict[str, Any]:
    """What is said about designs and costs.

    Returns `found` (the labels whose difference some design finds: label, wanted, pairwise, n, each, smallest, and
    hours and money where times are known), `lost` (names of the others), `too_wide` (of those whose difference is
    larger than any between scores in the pilot), `untimed` (methods without times), `assumed` (labels whose difference
    was not stated, and is therefore `effect` standard deviations), `bought` (as `found`, the best designs within the
    budget), `too_dear` (labels for which the budget pays for no study), `times` (of each method: minutes of a judgement
    and of a conversation, None where they are not known), `hourly_rate`, `tests`, `paired`, `left_out` (labels that
    were judged and cannot be planned from), `chosen` (labels that were rated and compared: how far apart ratings of
    chosen dialogues were), `once` (planned labels of which no item was judged twice), `raised` (labels whose
    simulated power asked for more dialogues than the formula).
    """
    cases = {
        aim: [
            _case(results, row, names)
            for row in names.sort(results.select("plan_dialogues", aim=aim)).to_dict("records")
        ]
        for aim in ("cheapest", "budget")
    }
    planned, bought = ([case for case in case_list if case["n"]] for case_list in cases.values())
    lost, too_dear = ([case["label"] for case in case_list if not case["n"]] for case_list in cases.values())
    wide = {
        names.distinct_label(p.label, p.method) for p in data.pilots if data.differences[p.method, p.label] >= p.widest
    }
    priced = [prices for prices in data.prices.values() if prices]
    times = [
        {"method": names.name("method", method), "judged": prices.minutes_per_judgement if prices else None,
         "talked": prices.minutes_per_dialogue if prices else None}
        for method, prices in data.prices.items() if any(p.method == method for p in data.pilots)
    ]  # fmt: skip
    return {
        "found": planned, "lost": [x for x in lost if x not in wide], "too_wide": [x for x in lost if x in wide],
        "untimed": [t["method"] for t in times if t["judged"] is None], "bought": bought, "too_dear": too_dear,
        "times": times, "tests": data.tests, "paired": data.paired,
        "assumed": [names.distinct_label(x, m) for m, x in data.assumed],
        "left_out": [names.distinct_label(x, m) for m, x in data.left_out],
        "once": [names.distinct_label(p.label, p.method) for p in data.pilots if not p.judged_twice],
        "raised": _raised(results, names), "chosen": len(results["called_different"]),
        "hourly_rate": priced[0].hourly_rate if priced else None,
    }  # fmt: skip


def _raised(results: Results, names: DisplayNames) -> list[str]:
    keys, n = ["method", "label"], "n_dialogues"
    formula, chosen = (where(results["plan_power"], source=x).set_index(keys)[n] for x in ("planned", "simulated"))
    more = names.sort((chosen > formula.reindex(chosen.index)).rename("more").reset_index())
    return [names.distinct_label(r.label, r.method) for r in more.itertuples() if r.more]


def _case(results: Results, row: dict, names: DisplayNames) -> dict[str, Any]:
    """One label: the difference, the design that finds it, and its cost."""
    key = {"method": row["method"], "label": row["label"]}
    out = {"label": names.distinct_label(row["label"], row["method"]), "pairwise": row["level"] == "pair", "n": 0}
    out["wanted"] = where(results["planned_difference"], **key)["estimate"].item()
    if pd.isna(row["estimate"]):
        return out
    cost = results.select("plan_cost", **key, aim=row["aim"]) if len(results["plan_cost"]) else results["plan_cost"]
    amounts = cost.set_index("resource")["estimate"].to_dict() if len(cost) else {}
    smallest = results.select("plan_detectable", **key, aim=row["aim"], people=SAME)["estimate"].item()
    design = {"n": int(row["estimate"]), "each": int(row["annotators_per_dialogue"])}
    return out | design | {"smallest": None if pd.isna(smallest) else smallest} | amounts


def _looks(results: Results) -> dict[str, Any]:
    crossing = results["sequential_crossing"]
    theory = where(crossing, truth="theory").set_index("looks")["estimate"].to_dict()
    rows = where(crossing, truth="equal")
    tried = {
        look: (of_looks["estimate"] * of_looks["n"]).sum() / of_looks["n"].sum()
        for look, of_looks in rows.groupby("looks")
    }
    used = (
        where(results["sequential_sample"], truth="wanted") if len(results["sequential_sample"]) else crossing.iloc[:0]
    )
    share = {look: of_looks["estimate"].mean() for look, of_looks in used.groupby("looks")} if len(used) else {}
    factor = results["sequential_inflation"].set_index("looks")["estimate"].to_dict()
    return {"theory": theory, "tried": tried, "share": share, "factor": factor}
