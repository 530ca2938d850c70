"""Which operating characteristics a study allows, and all of them in one call.

Everything is about one corpus and evaluator group, the one that judged most items twice; groups are compared where two
of them judged the same dialogues, and correlations need people who rated dialogues of their own. What the data do not
allow is left out and said.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from helpers import picks, values
from helpers.contrasts import Panel, panel
from helpers.labels import Label
from helpers.operating import false_crossings, placebo_size, power_curves
from helpers.operating_coverage import (
    Plan,
    Repeated,
    Row,
    alpha_near_perfect,
    alpha_over_dialogues,
    alpha_over_items,
    by_prevalence,
    repeated,
)
from helpers.operating_estimates import (
    correlation_coverage,
    estimate_coverage,
    first_place,
    group_coverage,
    most_shared,
    shared_scores,
)
from helpers.schema import ITEM

#: samples hold no more dialogues than this (a system, for groups): what more do is no surprise, and costs time
MOST_UNITS, MOST_SHARED = 200, 50
#: turns whose ratings form more patterns than this are not resampled one by one
MOST_PATTERNS = 40
#: share of items disagreed on, and items, where the bound for (nearly) perfect agreement is tried
NEAR_PERFECT = {"disagreement": 0.02, "n": 34}


@dataclass(frozen=True)
class Material:
    """What is simulated from.

    corpus, group : of which everything is; twice : labels judged twice; panels : one a method; all_values : dialogue
    values of every group of the corpus, one annotation an item; design : quality as people rated it themselves, or
    None.
    """

    corpus: str
    group: str
    twice: list[Repeated]
    panels: list[Panel]
    all_values: pd.DataFrame
    design: values.Design | None


@dataclass(frozen=True)
class Sizes:
    """Sizes of samples; see `sections.Operating`."""

    labels: int
    conversations: list[int]
    items: list[int]
    marks: list[int]
    dialogues: list[int]


def material(
    annotations: pd.DataFrame,
    dialogues: pd.DataFrame,
    labels: list[Label],
    *,
    systems: list[str],
    first: int | None,
    pick: int,
) -> Material:
    """Choose and prepare what is simulated from.

    annotations, dialogues : of the evaluation itself; systems : their order; first : as in `agreement.alpha_table`;
    pick : seed of the study's own pick. Raises ValueError where no item was judged twice.

    Checked by hand.
    """
    people = annotations[annotations["annotator_kind"] == "human"]
    size = people.groupby([*ITEM, "group"], dropna=False, sort=False)["score"].transform("size")
    often = people[size >= 2].groupby(["corpus", "group"])["score"].size()
    if often.empty:
        raise ValueError("no item was judged twice by people of one group")
    corpus, group = often.idxmax()
    here = people[people["corpus"] == corpus]
    found = values.dialogue_values(next(picks.picks(here, 1, pick)))
    own = found[found["group"] == group]
    order = systems + sorted(set(own["system"]) | set(own["system_b"].dropna()) - set(systems))
    panels = [panel(own, method, list(dict.fromkeys(order))) for method in dict.fromkeys(own["method"])]
    twice = repeated(here[here["group"] == group], labels, first)
    talks = dialogues[dialogues["corpus"] == corpus]
    return Material(corpus, group, twice, panels, found, _design(found, own, talks))


def _design(found: pd.DataFrame, own: pd.DataFrame, dialogues: pd.DataFrame) -> values.Design | None:
    """The other labels against the interactors' own rating of quality, where there is one."""
    if not len(dialogues):
        return None
    who = values.interactors(dialogues)
    rated = values.own_values(found, who)
    target = rated[(rated["label"] == "quality") & rated["dialogue_b"].isna()]
    if target.empty or target.duplicated("dialogue").any() or target["dialogue"].map(who).nunique() < 8:
        return None
    return values.dialogue_design(own, target, who)


def characteristics(data: Material, plan: Plan, sizes: Sizes) -> tuple[pd.DataFrame, dict[str, str]]:
    """All result rows that the data allow, and what is left out, with the reason.

    Checked by hand: all parts are there, and what the data do not allow is named; each part is checked on its own.
    """
    parts: dict[str, Callable[[], list[Row]]] = {
        "tests": lambda: _tests(data, plan, sizes),
        "agreement": lambda: _agreement(data, plan, sizes),
        "rates and means": lambda: _estimates(data, plan, sizes),
        "correlation with quality": lambda: _correlations(data, plan),
        "differences between groups": lambda: _groups(data, plan),
    }
    rows, omitted = [], {}
    for name, part in parts.items():
        found = part()
        rows += [{"group": data.group} | row for row in found]
        if not found:
            omitted[name] = _reasons[name]
    return pd.DataFrame(rows).assign(corpus=data.corpus, seed=plan.seed), omitted


_reasons = {
    "tests": "no system has ten dialogues",
    "agreement": "on no label did two people disagree about an item",
    "rates and means": "no system has eight dialogues that were judged on their own",
    "correlation with quality": "nobody rated the quality of dialogues of their own, or too few people did",
    "differences between groups": "no two groups rated the same eight dialogues of each of two systems",
}


def _tests(data: Material, plan: Plan, sizes: Sizes) -> list[Row]:
    rows = []
    for one in data.panels:
        size = placebo_size(one, plan)
        rows += size
        if size:
            rows += power_curves(one, plan, sizes=sizes.conversations)
            rows += false_crossings(one, plan, n=max(sizes.conversations))
    return rows


def _agreement(data: Material, plan: Plan, sizes: Sizes) -> list[Row]:
    rows, done, chosen = [], set(), by_prevalence(data.twice, sizes.labels)
    inside = [one.clusters.max() + 1 < len(one.clusters) for one in chosen]  # several items lie within a dialogue
    for one, nested in zip(chosen, inside, strict=True):
        own = min(one.clusters.max() + 1, MOST_UNITS)
        if not nested or one.marks or all(inside):  # else ratings of dialogues show the same, and sooner
            items = sorted({*sizes.items} if nested else {*sizes.items, own})
            rows += alpha_over_items(one, plan, sizes=items, marks=sizes.marks)
        if nested and (one.marks or one.label.method not in done):
            # ratings of turns: one label only, and none of very many patterns, as resampling their turns takes long
            dialogues = sorted({n for n in sizes.dialogues if n < own} | {own})
            turns = [own] if len(one.found.weights) <= MOST_PATTERNS else []
            rows += alpha_over_dialogues(one, plan, sizes=dialogues, turns=turns)
        done.add(one.label.method)
    paired = [one for one in chosen if one.mirrored] or chosen
    return rows + (alpha_near_perfect(paired[0], plan, **NEAR_PERFECT) if paired else [])


def _estimates(data: Material, plan: Plan, sizes: Sizes) -> list[Row]:
    rows: list[Row] = []
    for one in data.panels:
        if one.unit == "pair":
            continue
        first = not rows
        order = np.argsort(one.total.sum(axis=0) / np.maximum(one.n.sum(axis=0), 1), kind="stable")
        places = np.unique(np.linspace(0, len(order) - 1, min(sizes.labels, len(order))).round().astype(int))
        for place in places:
            rows += estimate_coverage(one, int(order[place]), plan)
        if first and rows:
            rows += first_place(one, int(order[len(order) // 2]), plan)
    return rows


def _correlations(data: Material, plan: Plan) -> list[Row]:
    """Four labels from the weakest to the strongest correlation: how an interval does depends on that."""
    if data.design is None:
        return []
    d = data.design
    r = d.x.corrwith(pd.Series(d.y, index=d.x.index)).abs().dropna().sort_values()
    places = np.unique(np.linspace(0, len(r) - 1, min(4, len(r))).round().astype(int))
    return [row for i in places for row in correlation_coverage(d, r.index[i], plan)]


def _groups(data: Material, plan: Plan) -> list[Row]:
    found = most_shared(data.all_values, ("dialogue_likert", "turn_likert", "dialogue_rating", "turn_rating"))
    if found is None:
        return []
    method, *groups = found
    known = data.all_values.loc[data.all_values["method"] == method, "label"]
    label = "quality" if "quality" in set(known) else known.iloc[0]
    scores = shared_scores(data.all_values, method, label, tuple(groups))
    scores = [x[:MOST_SHARED] for x in scores if len(x) >= 8]
    return group_coverage(scores, label, method, tuple(groups), plan) if len(scores) >= 2 else []
