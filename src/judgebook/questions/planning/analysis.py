"""How many dialogues, annotators and labels does the next study need? The results of notebook 14.

A study serves as the pilot: its components of variance (`components`) determine how precisely a design measures the
difference between two systems, which true difference it finds with the wanted power, and at what cost (`designs`).
The difference worth finding is an input, never the one observed. Studies of the planned size are simulated and analysed
(`simulated`), with and without looks before the end (`sequential`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.special import ndtr

from judgebook.questions.agreement import generalizability
from judgebook.questions.planning import sequential, simulated
from judgebook.questions.planning.budget import budget_rows
from judgebook.questions.planning.components import PilotVariances
from judgebook.questions.planning.designs import (
    MOST,
    SAME,
    SAMPLE,
    Plan,
    Prices,
    affordable,
    cheapest,
    detectable,
    power,
)
from judgebook.questions.planning.pilot_study import PlanningInput, called_different
from judgebook.questions.planning.question import Planning
from judgebook.statistics.intervals import exact_binomial, generator
from judgebook.study.labels import METHODS
from judgebook.study.results import Results, collect

ALPHA = 0.05
#: simulated studies for the power of the cheapest design, per simulated study of each way of looking; how far simulated
#: power may be short in the end
POWER_RUNS, LACKING = 10, 0.03
#: labels, at most, whose studies are tested early: what early looks do hardly depends on the label
LOOKED = 10


def analyse(data: PlanningInput, options: Planning, *, confidence: float, seed: int) -> Results:
    """All results of notebook 14.

    `pilot_variance`, `called_different`, `planned_difference` (the one worth finding), `plan_detectable`, `plan_cost`
    and `plan_reliability` (of system means) by design, `plan_dialogues` (the cheapest design that finds the difference;
    within the budget, the best), `plan_power` (as planned, and in simulated studies), `sequential_boundary`,
    `sequential_crossing`, `sequential_sample`. Where models judged, too, those of `budget.budget_rows`; without a
    budget, what the cheapest design costs that finds the difference on the neediest label.
    """
    rows: list[dict] = []
    budgets: dict[str, float] = {}
    every, simulated_so_far = -(-len(data.pilots) // LOOKED), 0
    for pilot in data.pilots:
        head = {"method": pilot.method, "label": pilot.label, "level": METHODS[pilot.method].unit}
        rng = generator(seed, "plan", pilot.method, pilot.label)
        formula = _cheapest(pilot, data, options)
        plan, powers = _sized(pilot, formula, data, options, rng)
        considered = [
            *pilot_variances(pilot, confidence), *_designs(pilot, data, options, confidence),
            *_chosen(pilot, plan, data, options, raised=plan != formula),
            *_reliability(pilot, data, options, confidence, seed), *powers,
            *(_looked(pilot, plan, data, options, rng) if plan and powers and simulated_so_far % every == 0 else ()),
        ]  # fmt: skip
        simulated_so_far += bool(plan and powers)
        rows += [head | row for row in considered]
        prices = data.prices.get(pilot.method)
        cost = prices.cost(plan, data.n_systems, pilot.pairwise) if prices and plan else 0.0
        if budget := options.budget or cost:
            budgets[pilot.method] = max(budgets.get(pilot.method, 0.0), budget)
    rows += [*_boundaries(options), *called_different(data.annotations, confidence)]
    rows += budget_rows(data, options, budgets, confidence=confidence)
    common = {"corpus": data.corpus, "group": data.group, "seed": seed}
    return collect(common | row for row in rows)


def pilot_variances(pilot: PilotVariances, confidence: float) -> Iterator[dict[str, Any]]:
    """Variances with their intervals (`PilotVariances.interval`)."""
    for name, value in pilot.variance.items():
        row = {"statistic": "pilot_variance", "facet": name, "estimate": value, "n": pilot.n_dialogues}
        row |= {"n_annotators": pilot.people, "ci_kind": "not_estimable"}
        low, high = pilot.interval(name, confidence)
        if np.isfinite(low):
            row |= {"ci_low": low, "ci_high": high, "ci_kind": "parametric"}
        yield row


def per_dialogue(pilot: PilotVariances, options: Planning) -> Sequence[int]:
    """Numbers of annotators per dialogue that are considered: where no item was judged twice, one, because what a
    second annotator adds is unknown."""
    return options.per_dialogue if pilot.judged_twice else (1,)


def plans(pilot: PilotVariances, data: PlanningInput, options: Planning) -> list[Plan]:
    """The designs of the map."""
    people = data.people[pilot.method]
    each = [m for m in per_dialogue(pilot, options) if m <= people]
    return [Plan(n, m, people, data.paired, data.tests) for m in each for n in options.dialogues]


def _keys(plan: Plan) -> dict[str, Any]:
    return {
        "n_dialogues": plan.n_dialogues, "annotators_per_dialogue": plan.annotators, "annotators": plan.people,
        "design": "paired" if plan.paired else "unpaired", "times": plan.tests,
    }  # fmt: skip


def _designs(
    pilot: PilotVariances, data: PlanningInput, options: Planning, confidence: float
) -> Iterator[dict[str, Any]]:
    wanted = data.differences[pilot.method, pilot.label]
    yield {"statistic": "planned_difference", "estimate": wanted}
    prices = data.prices.get(pilot.method)
    for plan in plans(pilot, data, options):
        for people in [SAME, SAMPLE] if pilot.people else [SAME]:
            value, low, high = detectable(pilot, plan, people, wanted=options.power, confidence=confidence)
            row = {"statistic": "plan_detectable", **_keys(plan), "people": people, "power": options.power}
            kind = "parametric" if np.isfinite([low, high]).all() else "not_estimable"
            if not np.isfinite(value):
                row["note"] = "no difference that the scale allows is found with this power"
            ends = {"ci_low": low, "ci_high": high} if kind == "parametric" else {}
            yield row | {"estimate": value if np.isfinite(value) else np.nan, "ci_kind": kind, **ends}
        if prices:
            amounts = {"hours": prices.hours, "money": prices.cost}
            for resource, amount in amounts.items():
                value = amount(plan, data.n_systems, pilot.pairwise)
                yield {"statistic": "plan_cost", **_keys(plan), "resource": resource, "estimate": value}


def _cheapest(pilot: PilotVariances, data: PlanningInput, options: Planning) -> Plan | None:
    """The cheapest design that finds the wanted difference. Without times, every dialogue and judgement costs the
    same."""
    prices = data.prices.get(pilot.method) or Prices(1.0, 1.0, 60.0)
    difference = data.differences[pilot.method, pilot.label]
    return cheapest(
        pilot,
        prices,
        difference,
        annotators_per_dialogue=per_dialogue(pilot, options),
        people=data.people[pilot.method],
        paired=data.paired,
        tests=data.tests,
        n_systems=data.n_systems,
        wanted=options.power,
    )


def _sized(
    pilot: PilotVariances, plan: Plan | None, data: PlanningInput, options: Planning, rng: np.random.Generator
) -> tuple[Plan | None, list[dict]]:
    """The cheapest design with as many dialogues as its simulated power asks for (`simulated.sized`), and its power: by
    the formula at the size that this asks for, and as simulated. None where simulated power stays short."""
    if plan is None or plan.n_dialogues > options.most_simulated or not options.n_runs:
        return plan, []
    wanted, n_runs = data.differences[pilot.method, pilot.label], POWER_RUNS * options.n_runs
    sized, hits, n = simulated.sized(pilot, plan, wanted, n_runs, rng, wanted=options.power)
    row = {"statistic": "plan_power", **_keys(plan), "source": "planned", "estimate": power(pilot, plan, wanted)}
    rows = [row, {"statistic": "plan_power", **_keys(sized), "source": "simulated", **_share(hits, n)}]
    return (sized if hits >= (options.power - LACKING) * n else None), rows


def _chosen(
    pilot: PilotVariances, best: Plan | None, data: PlanningInput, options: Planning, *, raised: bool = False
) -> Iterator[dict[str, Any]]:
    """The cheapest design, and the best one within the budget.

    raised : whether the cheapest has more dialogues than the formula asks for: it then finds the wanted difference.
    """
    prices, designs = data.prices.get(pilot.method), {"cheapest": best}
    if options.budget is not None and prices:
        designs["budget"] = affordable(
            pilot,
            prices,
            options.budget,
            annotators_per_dialogue=per_dialogue(pilot, options),
            people=data.people[pilot.method],
            paired=data.paired,
            tests=data.tests,
            n_systems=data.n_systems,
            wanted=options.power,
        )
    for aim, plan in designs.items():
        row = {"statistic": "plan_dialogues", "aim": aim}
        if plan is None:
            none = {"cheapest": f"not even {MOST:,} dialogues suffice", "budget": "the budget is too small"}
            if raised:
                none["cheapest"] = "simulated power stays below the wanted power however many dialogues are judged"
            if data.differences[pilot.method, pilot.label] >= pilot.widest:
                none["cheapest"] = f"the difference is too large for the scores in the pilot (limit: {pilot.widest:g})"
            yield row | {"estimate": np.nan, "note": none[aim]}
            continue
        keys = {k: v for k, v in _keys(plan).items() if k != "n_dialogues"}
        yield row | keys | {"estimate": plan.n_dialogues}
        smallest = detectable(pilot, plan, wanted=options.power)[0]
        if raised and aim == "cheapest":
            smallest = data.differences[pilot.method, pilot.label]
        yield {"statistic": "plan_detectable", "aim": aim, **_keys(plan), "people": SAME, "power": options.power,
               "estimate": smallest if np.isfinite(smallest) else np.nan}  # fmt: skip
        for resource, amount in {"hours": prices.hours, "money": prices.cost}.items() if prices else ():
            value = amount(plan, data.n_systems, pilot.pairwise)
            yield {"statistic": "plan_cost", "aim": aim, **_keys(plan), "resource": resource, "estimate": value}


def _reliability(
    pilot: PilotVariances, data: PlanningInput, options: Planning, confidence: float, seed: int
) -> Iterator[dict[str, Any]]:
    """A decision study of the designs of the map: reliability of system means, systems and annotators being samples."""
    components = data.means.get((pilot.method, pilot.label))
    if components is None:
        return
    drawn = generalizability.draws(components, rng=generator(seed, "reliability", pilot.method, pilot.label))
    for plan in plans(pilot, data, options):
        size, name = (plan.n_dialogues, plan.annotators), "generalizability"
        ends = generalizability.intervals(components, drawn, *size, confidence, plan.people)[name]
        row = {"statistic": "plan_reliability", **_keys(plan), "n": components.n_systems, "ci_kind": "not_estimable"}
        row |= {"estimate": generalizability.generalizability(components, *size, plan.people)[name]}
        if np.isfinite(ends).all():
            row |= {"ci_low": ends[0], "ci_high": ends[1], "ci_kind": "parametric"}
        yield row | {"note": components.note or None}


def _looked(
    pilot: PilotVariances, plan: Plan, data: PlanningInput, options: Planning, rng: np.random.Generator
) -> Iterator[dict[str, Any]]:
    """Studies of the cheapest design, of equal systems and of systems that differ as wanted, that are tested early."""
    wanted = data.differences[pilot.method, pilot.label]
    one = Plan(plan.n_dialogues, plan.annotators, plan.people, plan.paired)  # one comparison: looks are what is tried
    truths = {"equal": 0.0, "wanted": wanted}
    looked = simulated.looked(pilot, one, truths, limits(options.looks), options.n_runs, rng)
    for (truth, how), (stopped, share) in looked.items():
        keys = {k: v for k, v in _keys(one).items() if k != "times"} | {"looks": how, "truth": truth}
        yield {"statistic": "sequential_crossing", **keys, **_share(stopped, options.n_runs)}
        yield {"statistic": "sequential_sample", **keys, "estimate": share, "n": options.n_runs}


def _share(hits: int, n: int) -> dict[str, Any]:
    low, high = exact_binomial(hits, n)
    row = {"estimate": hits / n, "ci_low": low, "ci_high": high, "ci_kind": "exact_bound"}
    return row | {"n": n, "resample_unit": "run"}


def information(looks: int) -> list[float]:
    """Shares of the final sample at equally spaced looks."""
    return [(i + 1) / looks for i in range(looks)]


def limits(looks: int) -> dict[str, tuple[list[float], np.ndarray]]:
    """What ends a study early, in the order of figures -> information and z boundaries.

    `never` looks once, `unadjusted` tests at ALPHA at every look.
    """
    t = information(looks)
    z = float(sequential.boundaries([1.0], "pocock", ALPHA)[0])
    out = {"never": ([1.0], np.array([z])), "unadjusted": (t, np.full(looks, z))}
    return out | {name: (t, sequential.boundaries(t, name, ALPHA)) for name in sequential.SPENDING}


def _boundaries(options: Planning) -> Iterator[dict[str, Any]]:
    for name, (t, z) in limits(options.looks).items():
        for at, value in zip(t, z, strict=True):
            row = {"statistic": "sequential_boundary", "looks": name, "share": f"{at:g}", "estimate": value}
            yield row | {"p_value": float(2 * ndtr(-value))}
        theory = float(sequential.crossing(t, z).sum())
        yield {"statistic": "sequential_crossing", "looks": name, "truth": "theory", "estimate": theory}
        if name != "unadjusted":
            factor = sequential.inflation(options.power, t, z, ALPHA)
            yield {"statistic": "sequential_inflation", "looks": name, "power": options.power, "estimate": factor}
