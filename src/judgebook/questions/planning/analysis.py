"""How many dialogues, annotators and labels does the next study need? The results of notebook 14.

A study serves as the pilot: its components of variance (`components`) determine how precisely a design measures the
difference between two systems, which true difference it finds with the wanted power, and at what cost (`designs`).
The difference worth finding is an input, never the one observed. Studies of the planned size are simulated and analysed
(`simulated`), with and without looks before the end (`sequential`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr

from judgebook.annotations.summary import in_sessions, main_group, with_means
from judgebook.questions.agreement import generalizability
from judgebook.questions.collection.costs import COLLECTION, medians, minutes
from judgebook.questions.planning import sequential, simulated
from judgebook.questions.planning.anchors import called_different
from judgebook.questions.planning.components import PilotVariances, pilots
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
from judgebook.questions.planning.question import Planning
from judgebook.statistics.intervals import exact_binomial, generator
from judgebook.study.labels import METHODS, Label
from judgebook.study.results import Results, collect

ALPHA = 0.05
#: simulated studies for the power of the cheapest design, per simulated study of each way of looking; how far simulated
#: power may be short in the end
POWER_RUNS, LACKING = 10, 0.03
#: labels, at most, whose studies are tested early: what early looks do hardly depends on the label
LOOKED = 10


@dataclass(frozen=True)
class PlanningInput:
    """The basis of the plan, from one corpus and group.

    prices : by method, None where times are not known. differences : by (method, label), the difference worth finding.
    paired : whether all systems meet in each session; met : whether they do in the pilot. people : annotators of a
    future study. means : by (method, label), what the means of systems vary with; not of comparisons, which have no
    value of one system. assumed :
    (method, label) of differences that nobody stated. left_out : (method, label) that were judged and cannot be planned
    from. annotations : those of the corpus and group. blocks : what sessions are, `session` or `context`. several :
    corpora, and groups, that could have been planned from.
    """

    corpus: str
    group: str
    pilots: list[PilotVariances]
    prices: dict[str, Prices | None]
    differences: dict[tuple[str, str], float]
    paired: bool
    people: dict[str, int]
    n_systems: int
    tests: int
    means: dict[tuple[str, str], generalizability.Components]
    assumed: list[tuple[str, str]]
    left_out: list[tuple[str, str]]
    annotations: pd.DataFrame
    blocks: str
    met: bool
    several: tuple[int, int]


def planning_input(
    annotations: pd.DataFrame,
    work_units: pd.DataFrame,
    labels: Sequence[Label],
    options: Planning,
    *,
    systems: Sequence[str],
    hourly_rate: float,
    seed: int,
) -> PlanningInput:
    """Choose and estimate the basis of the plan: of the corpora that can be planned from, the one with the most
    judgements, and its main group.

    annotations : of the evaluation itself, by people. systems : those that are compared.

    Raises ValueError where nothing can be planned from: one system, or judgements that do not vary.
    """
    people = annotations[annotations["annotator_kind"] == "human"]
    for corpus in people["corpus"].value_counts().index:
        of_group = people[people["corpus"] == corpus]
        group = main_group(of_group)
        of_group, blocks = in_sessions(of_group[of_group["group"] == group])
        wanted = of_group if options.labels is None else of_group[of_group["label"].isin(options.labels)]
        all_pilots = list(pilots(wanted, labels, systems, seed=seed, n_worlds=options.n_worlds))
        if all_pilots:
            break
    else:
        raise ValueError("no label was judged on dialogues of two systems with scores that vary within systems")
    scored = with_means(wanted, labels)
    judged = list(dict.fromkeys(zip(scored["method"], scored["label"], strict=True)))
    compared = (set(of_group["system"]) | set(of_group["system_b"].dropna())) & set(systems)
    n_systems = options.systems or len(compared)
    tests = options.family * n_systems * (n_systems - 1) // 2
    met = _meet(of_group, compared)
    paired = met if options.paired is None else options.paired
    planned = {(p.method, p.label) for p in all_pilots}
    stated = {(p.method, p.label): _stated(p, all_pilots, options) for p in all_pilots}
    return PlanningInput(
        corpus, group, all_pilots, _prices(of_group, work_units, options, hourly_rate),
        {k: options.effect * p.sd if d is None else d for (k, d), p in zip(stated.items(), all_pilots, strict=True)},
        paired,
        _people(of_group, all_pilots, options), n_systems, max(tests, 1), _means(of_group, labels, systems, all_pilots),
        [key for key, difference in stated.items() if difference is None],
        [key for key in judged if key not in planned], of_group, blocks, met,
        (people["corpus"].nunique(), people.loc[people["corpus"] == corpus, "group"].nunique()),
    )  # fmt: skip


def _meet(annotations: pd.DataFrame, compared: Set[str]) -> bool:
    """Whether most sessions hold all systems that are compared: two of four are no design in which all pairs meet."""
    sides = (
        annotations[["session", "system"]],
        annotations[["session", "system_b"]].set_axis(["session", "system"], axis=1),
    )
    present = pd.concat(sides).dropna().drop_duplicates()
    size = present[present["system"].isin(compared)].groupby("session").size()
    return bool(len(size) and (size == len(compared)).mean() > 0.5)


def _people(annotations: pd.DataFrame, all_pilots: Sequence[PilotVariances], options: Planning) -> dict[str, int]:
    """Annotators of a future study, by method: as the YAML says, else all that were seen, whatever the label; where
    they are not known, as many as the largest design that is considered has per dialogue."""
    out = {}
    for method in dict.fromkeys(p.method for p in all_pilots):
        rows = annotations[annotations["method"] == method]
        seen = rows["annotator"].nunique() if rows["annotator_known"].all() else max(options.per_dialogue)
        out[method] = options.annotators or max(seen, min(options.per_dialogue))
    return out


def _means(
    annotations: pd.DataFrame, labels: Sequence[Label], systems: Sequence[str], all_pilots: Sequence[PilotVariances]
) -> dict[tuple[str, str], generalizability.Components]:
    """Variance components of system means, each annotator's judgements of a dialogue averaged (`decision_study`)."""
    wanted = {(p.method, p.label) for p in all_pilots if not p.pairwise}
    scored = with_means(annotations[annotations["system"].isin(systems)], labels)
    out = {}
    for key, rows in scored.groupby(["method", "label"], sort=False):
        if key in wanted:
            means = rows.groupby(["system", "dialogue", "annotator"], sort=False)["score"].mean().reset_index()
            all_known = bool(rows["annotator_known"].all())
            out[key] = generalizability.variance_components(means, annotators_known=all_known)
    return out


def _stated(pilot: PilotVariances, all_pilots: Sequence[PilotVariances], options: Planning) -> float | None:
    """The difference worth finding that the YAML states."""
    rated_too = pilot.pairwise and any(p.label == pilot.label and not p.pairwise for p in all_pilots)
    return options.worth_finding(pilot.method, pilot.label, rated_too=rated_too)


def _prices(
    annotations: pd.DataFrame, work_units: pd.DataFrame, options: Planning, hourly_rate: float
) -> dict[str, Prices | None]:
    """What dialogues and judgements take: as the YAML says, else the median of this study; of judgements that of the
    same group, summed over their tasks.

    annotations : of one corpus and group.
    """
    corpus, group = annotations[["corpus", "group"]].iloc[0]
    of_corpus = work_units[work_units["corpus"] == corpus] if len(work_units) else work_units
    times = pd.DataFrame(medians(minutes(of_corpus, annotations)), columns=["group", "method", "estimate"])
    talked = options.minutes_per_dialogue
    if talked is None:
        talked = times.loc[times["method"] == COLLECTION, "estimate"].median()
    talked = None if pd.isna(talked) else float(talked)
    taken = times[times["group"] == group].groupby("method")["estimate"].sum().to_dict() | options.minutes_per_judgement
    out: dict[str, Prices | None] = {}
    for method in dict.fromkeys(annotations["method"]):
        out[method] = Prices(talked, float(taken[method]), hourly_rate) if method in taken else None
    return out


def analyse(data: PlanningInput, options: Planning, *, confidence: float, seed: int) -> Results:
    """All results of notebook 14.

    `pilot_variance`, `called_different`, `planned_difference` (the one worth finding), `plan_detectable`, `plan_cost`
    and `plan_reliability` (of system means) by design, `plan_dialogues` (the cheapest design that finds the difference;
    within the budget, the best), `plan_power` (as planned, and in simulated studies), `sequential_boundary`,
    `sequential_crossing`, `sequential_sample`.
    """
    rows: list[dict] = []
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
    rows += [*_boundaries(options), *called_different(data.annotations, confidence)]
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


def _considered(pilot: PilotVariances, data: PlanningInput, options: Planning) -> dict[str, Any]:
    return {
        "annotators_per_dialogue": per_dialogue(pilot, options), "people": data.people[pilot.method],
        "paired": data.paired, "tests": data.tests, "n_systems": data.n_systems,
    }  # fmt: skip


def _cheapest(pilot: PilotVariances, data: PlanningInput, options: Planning) -> Plan | None:
    """The cheapest design that finds the wanted difference. Without times, every dialogue and judgement costs the
    same."""
    prices = data.prices.get(pilot.method) or Prices(1.0, 1.0, 60.0)
    difference = data.differences[pilot.method, pilot.label]
    return cheapest(pilot, prices, difference, wanted=options.power, **_considered(pilot, data, options))


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
            pilot, prices, options.budget, wanted=options.power, **_considered(pilot, data, options)
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
