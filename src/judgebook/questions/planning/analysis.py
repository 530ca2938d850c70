"""How many dialogues, annotators and labels does the next study need? The results of notebook 14.

A study serves as the pilot: the fit of each label determines how precisely another design measures the difference
between two systems, which true difference it finds with the wanted power, and at what cost (`model.designs`). The
difference worth finding is an input, never the one observed; what would tell the first system from the second is given
beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from judgebook.model import designs
from judgebook.model.designs import MOST, Design
from judgebook.questions.performance.fitted import MOST as FAR
from judgebook.questions.planning import sequential
from judgebook.questions.planning.budget import budget_rows
from judgebook.questions.planning.pilot_study import UNPRICED, Pilot, PlanningInput
from judgebook.questions.planning.question import Planning
from judgebook.study.labels import METHODS
from judgebook.study.results import Results, collect

ALPHA = 0.05
NOT_FOUND = "no difference that the scale allows is found with this power"


def analyse(data: PlanningInput, options: Planning, *, confidence: float, seed: int) -> Results:
    """All results of notebook 14.

    `pilot_variance`, `planned_difference` (the one worth finding), `plan_detectable`, `plan_cost`
    and `plan_reliability` (of system means) by design, `plan_dialogues` (the cheapest design that finds the difference;
    the cheapest that tells the first system from the second; within the budget, the best), `sequential_boundary`,
    `sequential_crossing`, `sequential_inflation`. Where models judged, too, those of `budget.budget_rows`; without a
    budget, what the cheapest design costs that finds the difference on the neediest label.
    """
    rows: list[dict] = []
    budgets: dict[str, float] = {}
    for pilot in data.pilots:
        head = {"method": pilot.method, "label": pilot.label, "level": METHODS[pilot.method].unit}
        best = cheapest([pilot], [data.wanted(pilot)], data, options, confidence)
        considered = [*pilot_variances(pilot), *_designs(pilot, data, options, confidence)]
        rows += [head | row for row in (*considered, *_chosen(pilot, best, data, options, confidence))]
        prices = data.prices.get(pilot.method)
        cost = prices.cost(best, pilot.pairwise) if prices and best else 0.0
        if budget := options.budget or cost:
            budgets[pilot.method] = max(budgets.get(pilot.method, 0.0), budget)
    rows += _boundaries(options)
    rows += budget_rows(data, options, budgets)
    common = {"corpus": data.corpus, "group": data.group, "seed": seed}
    return collect(common | row for row in rows)


def pilot_variances(pilot: Pilot) -> Iterator[dict[str, Any]]:
    """Variances of the parts of the fit."""
    for part, value in pilot.variance.items():
        row = {"statistic": "pilot_variance", "part": part, "estimate": value, "n": pilot.n_dialogues}
        yield row | {"n_annotators": pilot.fit.n_annotators or None}


def per_dialogue(pilot: Pilot, options: Planning) -> Sequence[int]:
    """Numbers of annotators per dialogue that are considered: where no dialogue was judged twice, one, because what a
    second annotator adds is unknown; of comparisons as many as in the pilot."""
    if pilot.pairwise:
        return (max(1, round(pilot.each)),)
    most = options.annotators or max(options.per_dialogue)
    return [m for m in options.per_dialogue if m <= most] if pilot.judged_twice else (1,)


def cheapest(
    pilots: Sequence[Pilot], wanted: Sequence[float], data: PlanningInput, options: Planning, confidence: float
) -> Design | None:
    """The cheapest design that finds the wanted difference on every one of these labels of a method."""
    prices, one = data.prices.get(pilots[0].method) or UNPRICED, pilots[0]
    if any(difference >= pilot.widest for pilot, difference in zip(pilots, wanted, strict=True)):
        return None

    def enough(design: Design) -> bool:
        return all(
            designs.found(pilot.fit, design, options.power, confidence) <= difference
            for pilot, difference in zip(pilots, wanted, strict=True)
        )

    each = [m for m in per_dialogue(one, options) if all(m in per_dialogue(p, options) for p in pilots)]
    return designs.cheapest(enough, lambda n, m: data.design(one, n, m), each, lambda d: prices.cost(d, one.pairwise))


def _affordable(pilot: Pilot, budget: float, data: PlanningInput, options: Planning) -> Design | None:
    """The design within the budget that finds the smallest difference; None where it pays for fewer than two dialogues
    per system."""
    prices, affordable = data.prices[pilot.method], []
    assert prices is not None
    for m in per_dialogue(pilot, options):
        one = prices.cost(data.design(pilot, 1, m), pilot.pairwise)
        n = int(budget / one * (1 + 1e-9)) if one > 0 else 0  # a budget that pays for n exactly, in spite of rounding
        affordable += [data.design(pilot, n, m)] if n >= 2 else []
    return min(affordable, key=lambda design: designs.error(pilot.fit, design)[0], default=None)


def _keys(design: Design) -> dict[str, Any]:
    people = int(design.annotators) if np.isfinite(design.annotators) else None
    each = int(design.per_dialogue)
    return {"n_dialogues": int(design.dialogues), "annotators_per_dialogue": each, "annotators": people}


def _found(pilot: Pilot, design: Design, options: Planning, confidence: float) -> dict[str, Any]:
    """`plan_detectable`, with the interval that the pilot leaves (`designs.precision`)."""
    row = {"statistic": "plan_detectable", **_keys(design), "power": options.power}
    value = designs.found(pilot.fit, design, options.power, confidence)
    if value >= pilot.widest:
        return row | {"estimate": np.nan, "ci_kind": "not_estimable", "note": NOT_FOUND}
    low, high = (value * factor for factor in designs.precision(pilot.fit, confidence))
    known = {"ci_low": low, "ci_high": high, "ci_kind": "chi2"} if np.isfinite(low) else {"ci_kind": "not_estimable"}
    return row | {"estimate": value, **known}


def _cost(pilot: Pilot, design: Design, data: PlanningInput) -> Iterator[dict[str, Any]]:
    if prices := data.prices.get(pilot.method):
        for resource, amount in {"hours": prices.hours, "money": prices.cost}.items():
            row = {"statistic": "plan_cost", **_keys(design), "resource": resource}
            yield row | {"estimate": amount(design, pilot.pairwise)}


def _designs(pilot: Pilot, data: PlanningInput, options: Planning, confidence: float) -> Iterator[dict[str, Any]]:
    """The designs of the map."""
    yield {"statistic": "planned_difference", "estimate": data.wanted(pilot)}
    for m in per_dialogue(pilot, options):
        for n in options.dialogues:
            design = data.design(pilot, n, m)
            yield _found(pilot, design, options, confidence)
            yield from _cost(pilot, design, data)
            if not pilot.pairwise:
                estimate, low, high = designs.reliability(pilot.fit, design, confidence)
                row = {"statistic": "plan_reliability", **_keys(design), "n": len(pilot.fit.systems)}
                yield row | {"estimate": estimate, "ci_low": low, "ci_high": high, "ci_kind": "f"}


def _chosen(
    pilot: Pilot, best: Design | None, data: PlanningInput, options: Planning, confidence: float
) -> Iterator[dict[str, Any]]:
    """The cheapest design, the one that tells the first from the second, and the best one within the budget."""
    wanted, none = data.wanted(pilot), f"not even {MOST:,} dialogues suffice"
    too_large = f"the difference is too large for the scale (limit: {pilot.widest:g})"
    chosen = {"cheapest": (best, too_large if wanted >= pilot.widest else none)}
    if pilot.lead > 0:
        apart, most = cheapest([pilot], [pilot.lead], data, options, confidence), FAR * pilot.n_dialogues
        groups = data.n_systems * (data.n_systems - 1) / 2 if pilot.pairwise else data.n_systems
        near = apart is not None and apart.dialogues * groups <= most
        chosen["separate"] = apart if near else None, f"more than {FAR} times the dialogues of this study"
    if options.budget is not None and data.prices.get(pilot.method):
        chosen["budget"] = _affordable(pilot, options.budget, data, options), "the budget is too small"
    for aim, (design, why) in chosen.items():
        row = {"statistic": "plan_dialogues", "aim": aim}
        if design is None:
            yield row | {"estimate": np.nan, "note": why}
            continue
        keys = {k: v for k, v in _keys(design).items() if k != "n_dialogues"}
        yield row | keys | {"estimate": design.dialogues}
        yield _found(pilot, design, options, confidence) | {"aim": aim}
        yield from (one | {"aim": aim} for one in _cost(pilot, design, data))


def limits(looks: int) -> dict[str, np.ndarray]:
    """z boundaries that end a study early at equally spaced looks: `unadjusted` tests at ALPHA at every look."""
    unadjusted = np.full(looks, -ndtri(ALPHA / 2))
    return {"unadjusted": unadjusted, "obrien_fleming": sequential.boundaries(information(looks), ALPHA)}


def information(looks: int) -> list[float]:
    """Shares of the final sample at equally spaced looks."""
    return [(i + 1) / looks for i in range(looks)]


def _boundaries(options: Planning) -> Iterator[dict[str, Any]]:
    t = information(options.looks)
    for name, z in limits(options.looks).items():
        yield {"statistic": "sequential_crossing", "looks": name, "estimate": float(sequential.crossing(t, z).sum())}
    for at, value in zip(t, z, strict=True):
        row = {"statistic": "sequential_boundary", "looks": name, "share": f"{at:g}", "estimate": value}
        yield row | {"p_value": float(2 * ndtr(-value))}
    factor = sequential.inflation(options.power, t, z, ALPHA)
    yield {"statistic": "sequential_inflation", "looks": name, "power": options.power, "estimate": factor}
