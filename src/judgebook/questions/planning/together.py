"""One design for all labels of a method: each judgement gives them all, so the design of the neediest decides."""

from __future__ import annotations

from collections.abc import Mapping, Set

from judgebook.questions.planning.components import PilotVariances
from judgebook.questions.planning.designs import Plan, Prices, cheapest
from judgebook.questions.planning.pilot_study import PlanningInput

#: of methods without times: every dialogue and judgement costs the same
UNPRICED = Prices(1.0, 1.0, 60.0)


def one_design(
    method: str, chosen: Mapping[str, tuple[int, int]], simulated: Set[str], data: PlanningInput, *, power: float
) -> Plan:
    """The design of least cost that finds the difference worth finding on all labels of a method for which there is
    one. Only numbers of annotators that some label's own design has are considered.

    chosen : label -> dialogues and annotators per dialogue of its own cheapest design. simulated : labels whose number
    of dialogues follows simulated studies, not the formula: fewer annotators than in their own design are not tried.
    """
    prices, pilots = data.prices.get(method) or UNPRICED, [p for p in data.pilots if p.method == method]
    pilots = [p for p in pilots if p.label in chosen]
    plans = []
    for each in sorted({m for _, m in chosen.values()}):
        sizes = [_dialogues(p, each, *chosen[p.label], p.label in simulated, prices, data, power) for p in pilots]
        if all(sizes):
            plans.append(Plan(max(sizes), each, data.people[method], data.paired, data.tests))
    return min(plans, key=lambda plan: prices.cost(plan, data.n_systems, pilots[0].pairwise))


def _dialogues(
    pilot: PilotVariances, each: int, own: int, own_each: int, simulated: bool, prices: Prices,
    data: PlanningInput, power: float,
) -> int:  # fmt: skip
    """Dialogues with which one label is found by `each` annotators: its own number suffices with as many or more; 0
    where no number is known to suffice."""
    if each >= own_each:
        return own
    plan = None if simulated else cheapest(
        pilot, prices, data.differences[pilot.method, pilot.label], annotators_per_dialogue=[each],
        people=data.people[pilot.method], paired=data.paired, tests=data.tests, n_systems=data.n_systems, wanted=power,
    )  # fmt: skip
    return plan.n_dialogues if plan else 0
