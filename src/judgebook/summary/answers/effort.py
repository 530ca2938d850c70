"""What it cost, and what to do next: facts of `summary.cost` and `summary.analysis` as data."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from typing import Any

from judgebook.display.names import DisplayNames
from judgebook.summary import wording
from judgebook.summary.analysis import NextStep
from judgebook.summary.answers import facts, verdicts
from judgebook.summary.answers.sources import estimate
from judgebook.summary.cost import MORE
from judgebook.summary.evidence import COST, Evidence

#: doubtful labels that are named
LISTED = 3
_MONEY = ("hours", "money", "currency", "next", "paid", "paid_currency", "all_paid", "wage")


def cost_verdict(spent: Mapping[str, Any]) -> verdicts.Cost:
    """spent : `summary.cost.cost`."""
    if spent.get("paid"):
        return verdicts.Cost.PAID
    if "rows" in spent:
        return verdicts.Cost.TIMED
    reason = spent.get("reason", "")
    return verdicts.Cost.NOT_RUN if reason and verdicts.not_run(reason) else verdicts.Cost.UNKNOWN


def cost(
    evidence: Evidence,
    spent: Mapping[str, Any],
    detectable: facts.Detectable | None,
    gain: str | None,
    names: DisplayNames,
) -> facts.CostFacts:
    """spent : `summary.cost.cost`. gain : why it is not known what more would buy."""
    main, failed = spent.get("main"), wording.failed(evidence)
    part = None if main is None else (main["corpus"], main["group"], main["method"])
    return facts.CostFacts(
        **{key: spent.get(key) for key in _MONEY},
        known=main is not None,
        minutes=None if main is None else estimate(evidence, COST, "unit_minutes", main, unit="minutes"),
        unit="" if main is None else main["level"],
        method=wording.evaluation(part, evidence, names) if part else "",
        hourly_rate=spent.get("rate"),
        more=MORE,
        detectable=detectable,
        gain=gain,
        dropped=facts.Dropped(**failed) if failed else None,
        together=[names.name("method", m) for m in spent.get("together", ())],
    )


def step(step: NextStep, evidence: Evidence, names: DisplayNames, detectable: facts.Detectable | None) -> facts.Step:
    """With what the passages of a step are filled with."""
    filled = dict(step.facts)
    if step.kind == "record":
        filled["methods"] = [names.name("method", m) for m in filled["methods"]]
    elif step.kind == "recruit":
        several = len({corpus for corpus, _ in evidence.populations}) > 1
        run = {key: f" ({names.name('corpus', key[0])})" if several else "" for key, _ in filled["groups"]}
        filled["groups"] = [
            {"name": names.name("group", key[1]) + run[key], "people": one} for key, one in filled["groups"]
        ]
    elif step.kind == "collect":
        filled = {k: filled[k] for k in ("open", "n")} | {"detectable": detectable}
    elif step.kind == "separate":
        filled |= {k: names.name("system", filled[k]) for k in ("first", "second")}
        filled["times"] = None if isnan(filled["times"]) else float(filled["times"])
    elif step.kind == "define":
        rows = filled.pop("rows")
        several = len(set(rows["method"])) > 1
        named = [wording.titled(r, names, several) for _, r in rows.head(LISTED).iterrows()]
        ends = {"low": rows["estimate"].min(), "high": rows["estimate"].max()}
        filled = {"names": named, "n_named": len(named), "n": len(rows), **ends}
    return facts.Step(kind=verdicts.Next(step.kind), facts=filled)
