"""Do our own tests and intervals perform as stated? The results of notebook 80.

As published: the tests and intervals of the papers, which take turns of a dialogue as independent. As we would defend
it: permutation tests of dialogue values, and intervals over dialogues (interactors) with exact bounds where values are
rare. Both are applied to samples for which the truth is known. The primary procedures of all notebooks are also tried
as they are used, at the study's own design (`as_used`, `other_procedures`) and at harder ones (`harder`).

Everything concerns one corpus and evaluator group, the one with most items judged twice. Groups are compared where two
of them judged the same dialogues; correlations need people who rated dialogues of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from judgebook.annotations import dialogue_values as values
from judgebook.annotations import picks
from judgebook.annotations.summary import in_sessions, with_means
from judgebook.execution.tasks import run
from judgebook.questions.judges.items import JudgedItems, judged_items
from judgebook.questions.metrics import ceiling
from judgebook.questions.metrics.items import human_means, join, scored_items
from judgebook.questions.operating_characteristics import alpha_coverage, as_used, harder
from judgebook.questions.operating_characteristics import estimate_coverage as estimates
from judgebook.questions.operating_characteristics import other_procedures as others
from judgebook.questions.operating_characteristics.alpha_coverage import Repeated, evenly
from judgebook.questions.operating_characteristics.monte_carlo import Row, SimulationPlan
from judgebook.questions.operating_characteristics.placebo import false_crossings, placebo_size, power_curves
from judgebook.questions.operating_characteristics.question import Operating
from judgebook.questions.operating_characteristics.worlds import World, design, world
from judgebook.questions.quality_control import replication
from judgebook.questions.sensitivity.panels import Panel, panel
from judgebook.study.labels import Label
from judgebook.study.results import Results, collect
from judgebook.study.schema import ITEM

#: dialogues per sample, and per system and sample for groups, at most: larger samples take long and add little
MOST_UNITS, MOST_SHARED = 200, 50
#: turns whose ratings form more patterns than this are not resampled one by one
MOST_PATTERNS = 40
#: labels of a method for which placebo worlds are made, at most
MOST_WORLDS = 3
#: labels of a judge whose intervals are simulated, at most
MOST_JUDGED = 2
#: share of items disagreed on, and items, where the bound for (nearly) perfect agreement is tried
NEAR_PERFECT = {"disagreement": 0.02, "n": 34}
#: methods whose values of a dialogue are compared between groups, in order of preference
SHARED_METHODS = ("dialogue_likert", "turn_likert", "dialogue_rating", "turn_rating")


@dataclass(frozen=True)
class SimulationInput:
    """What samples are drawn from.

    twice : labels judged twice by `group`. panels, picked : one per method, of all annotations, and of one per item for
    tests as published. all_values : dialogue values of every group of the corpus. design : labels against quality as
    interactors rated it, or None. worlds : of labels of each method. judged : by people and models. rated : annotations
    by people, metric scores and labels, if any. runs : ratings of several corpora, and which, if they share systems.
    """

    corpus: str
    group: str
    twice: list[Repeated]
    panels: list[Panel]
    picked: list[Panel]
    all_values: pd.DataFrame
    design: values.Design | None
    worlds: list[World]
    judged: list[JudgedItems]
    rated: tuple[pd.DataFrame, pd.DataFrame]
    runs: tuple[pd.DataFrame, list[str], list[str]]
    levels: dict[tuple[str, str], str]


def analyse(
    annotations: pd.DataFrame,
    dialogues: pd.DataFrame,
    labels: list[Label],
    sizes: Operating,
    *,
    systems: list[str],
    first: int | None,
    pick: int,
    confidence: float,
    seed: int,
    unranked: Collection[str] = (),
    metric_scores: pd.DataFrame | None = None,
    families: Mapping[str, Sequence[str]] | None = None,
) -> Results:
    """Type I error rates and power of tests, and coverage of intervals, as far as the data allow.

    Parameters
    ----------
    annotations, dialogues : DataFrame
        Those of the evaluation itself.
    sizes : Operating
        Numbers of runs and resamples, and sizes of samples.
    systems : list of str
        In the order of figures.
    first : int or None
        Annotations per item that agreement uses, as in notebook 03.
    pick : int
        Seed of the study's pick of one annotation per item.
    unranked : collection of str
        Systems that are not compared with others.
    metric_scores : DataFrame, optional
        Scores that came with the data.
    families : mapping, optional
        Families of systems, as notebook 10 uses them.

    Returns
    -------
    Results: null_rejection, power, false_crossing, interval_coverage, interval_width, interval_power, top_share,
    group_difference_bias.

    Raises
    ------
    ValueError
        If no item was judged twice.
    """
    chosen = {"systems": systems, "first": first, "pick": pick, "unranked": unranked, "sizes": sizes}
    data = simulation_input(annotations, dialogues, labels, metric_scores=metric_scores, **chosen)
    plan = SimulationPlan(sizes.n_runs, sizes.n_resamples, seed, confidence)
    parts = (_tests, _agreement, _estimates, _correlations, _groups)
    pieces = [piece for part in parts for piece in part(data, plan, sizes)]
    plan = replace(plan, n_runs=min(plan.n_runs, sizes.runs_as_used))
    pieces += [
        piece for part in (_worlds, _harder, _reliability, _judges, _metrics) for piece in part(data, plan, sizes)
    ]
    rows = [row for made in run(_rows_of, pieces, doing="simulations") for row in made]
    rows += _replication(data, plan, families or {})
    return collect({"corpus": data.corpus, "group": data.group, "seed": seed} | row for row in rows)


#: a function that gives rows, and its arguments: draws are from streams named for what is simulated
#: (`SimulationPlan.rng`)
Piece = tuple[Callable[..., Iterable[Row]], tuple, dict[str, Any]]


def _rows_of(function: Callable[..., Iterable[Row]], arguments: tuple, options: dict[str, Any]) -> list[Row]:
    return list(function(*arguments, **options))


def _piece(function: Callable[..., Iterable[Row]], *arguments: object, **options: object) -> Piece:
    return function, arguments, options


def simulation_input(
    annotations: pd.DataFrame,
    dialogues: pd.DataFrame,
    labels: list[Label],
    *,
    systems: list[str],
    first: int | None,
    pick: int,
    unranked: Collection[str] = (),
    metric_scores: pd.DataFrame | None = None,
    sizes: Operating | None = None,
) -> SimulationInput:
    """Choose and prepare what is simulated from; arguments as for `analyse`."""
    every = annotations[annotations["annotator_kind"] == "human"]
    people = with_means(every, labels)
    size = people.groupby([*ITEM, "group"], dropna=False, sort=False)["score"].transform("size")
    often = people[size >= 2].groupby(["corpus", "group"])["score"].size()
    if often.empty:
        raise ValueError("no item was judged twice by people of one group")
    corpus, group = often.idxmax()
    of_corpus, answers = (in_sessions(frame[frame["corpus"] == corpus])[0] for frame in (people, every))
    all_values, of_picks = (
        values.dialogue_values(of_corpus),
        values.dialogue_values(next(picks.picks(of_corpus, 1, pick))),
    )
    of_group, own_picks = (f[f["group"] == group] for f in (all_values, of_picks))
    order = list(dict.fromkeys([*systems, *sorted({*of_group["system"], *of_group["system_b"].dropna()})]))
    methods = list(dict.fromkeys(of_group["method"]))
    panels, picked = ([panel(f, method, order) for method in methods] for f in (of_group, own_picks))
    twice = alpha_coverage.repeated(answers[answers["group"] == group], labels, first)
    talks = dialogues[dialogues["corpus"] == corpus]
    ranked = [s for s in order if s not in set(unranked)]
    judged = of_corpus[of_corpus["group"] == group]
    return SimulationInput(
        corpus, group, twice, panels, picked, all_values, _design(all_values, of_group, talks),
        worlds=list(_placebo_worlds(judged, ranked, min(sizes.labels, MOST_WORLDS) if sizes else 1)),
        judged=list(judged_items(annotations[annotations["corpus"] == corpus], labels)),
        rated=(judged, metric_scores if metric_scores is not None else pd.DataFrame()),
        runs=_runs(people, group, ranked),
        levels={(x.method, x.id): "nominal" if x.binary else x.level for x in labels},
    )  # fmt: skip


def _placebo_worlds(annotations: pd.DataFrame, systems: list[str], most: int) -> Iterator[World]:
    """Worlds of at most `most` labels of each method, from the lowest to the highest mean."""
    for _, rows in annotations.groupby("method", sort=False):
        means = rows.groupby("label", sort=False)["score"].mean().sort_values(kind="stable")
        for i in evenly(len(means), most):
            placebo_design = design(rows[rows["label"] == means.index[i]], systems)
            if placebo_design is not None and as_used.compared(placebo_design):
                yield world(placebo_design)


def _runs(people: pd.DataFrame, group: str, systems: list[str]) -> tuple[pd.DataFrame, list[str], list[str]]:
    """Ratings of two corpora that share at least three systems, by known people; those corpora and systems."""
    rows = people[(people["group"] == group) & people["annotator_known"] & people["dialogue_b"].isna()]
    where = rows[rows["system"].isin(systems)].groupby("corpus")["system"].agg(set)
    shared = [s for s in systems if len(where) > 1 and all(s in x for x in where)]
    enough = len(shared) >= replication.MIN_POINTS
    return rows, list(where.index[:2]) if enough else [], shared


def _design(dialogue_values: pd.DataFrame, judged: pd.DataFrame, dialogues: pd.DataFrame) -> values.Design | None:
    """The other labels against the interactors' own rating of quality, where there is one."""
    if not len(dialogues):
        return None
    who = values.interactors(dialogues)
    rated = values.own_values(dialogue_values, who)
    target = rated[(rated["label"] == "quality") & rated["dialogue_b"].isna()]
    if target.empty or target.duplicated("dialogue").any() or target["dialogue"].map(who).nunique() < estimates.LEAST:
        return None
    return values.dialogue_design(judged, target, who)


def _tests(data: SimulationInput, plan: SimulationPlan, sizes: Operating) -> Iterator[Piece]:
    for one, picked in zip(data.panels, data.picked, strict=True):
        yield _piece(_tests_of, one, picked, plan, sizes.conversations)


def _tests_of(one: Panel, picked: Panel, plan: SimulationPlan, conversations: Sequence[int]) -> Iterator[Row]:
    if size := placebo_size(one, plan, picked=picked):
        yield from size
        yield from power_curves(one, plan, sizes=conversations, picked=picked)
        yield from false_crossings(picked, plan, n=max(conversations))


def _agreement(data: SimulationInput, plan: SimulationPlan, sizes: Operating) -> Iterator[Piece]:
    done, chosen = set(), alpha_coverage.by_prevalence(data.twice, sizes.labels)
    inside = [one.n_dialogues < len(one.clusters) for one in chosen]  # several items lie within a dialogue
    for one, nested in zip(chosen, inside, strict=True):
        n_units = min(one.n_dialogues, MOST_UNITS)
        if not nested or one.marks or all(inside):  # otherwise ratings of dialogues show the same, and faster
            items = sorted({*sizes.items} if nested else {*sizes.items, n_units})
            yield _piece(alpha_coverage.alpha_over_items, one, plan, sizes=items, marks=sizes.marks)
        if nested and (one.marks or one.label.method not in done):
            # ratings of turns: one label only, and none of very many patterns, as resampling their turns takes long
            dialogues = sorted({n for n in sizes.dialogues if n < n_units} | {n_units})
            turns = [n_units] if len(one.found.weights) <= MOST_PATTERNS else []
            yield _piece(alpha_coverage.alpha_over_dialogues, one, plan, sizes=dialogues, turns=turns)
        done.add(one.label.method)
    for one in ([one for one in chosen if one.mirrored] or chosen)[:1]:
        yield _piece(alpha_coverage.alpha_near_perfect, one, plan, **NEAR_PERFECT)


def _estimates(data: SimulationInput, plan: SimulationPlan, sizes: Operating) -> Iterator[Piece]:
    """Rates and means of labels from the lowest to the highest mean; ranks of the first method's middle label."""
    yield _piece(_estimates_of, [one for one in data.panels if one.unit != "pair"], plan, sizes)


def _estimates_of(panels: Sequence[Panel], plan: SimulationPlan, sizes: Operating) -> Iterator[Row]:
    ranked = False
    for one in panels:
        order = np.argsort(one.total.sum(axis=0) / np.maximum(one.n.sum(axis=0), 1), kind="stable")
        rows = [
            row
            for i in evenly(len(order), sizes.labels)
            for row in estimates.estimate_coverage(one, int(order[i]), plan)
        ]
        yield from rows
        if rows and not ranked:
            yield from estimates.first_place(one, int(order[len(order) // 2]), plan, sizes=sizes.ranks)
        ranked |= bool(rows)


def _correlations(data: SimulationInput, plan: SimulationPlan, sizes: Operating) -> Iterator[Piece]:
    """Four labels from the weakest to the strongest correlation, on which the coverage of an interval depends."""
    if data.design is not None:
        r = data.design.x.corrwith(pd.Series(data.design.y, index=data.design.x.index)).abs().dropna().sort_values()
        for i in evenly(len(r), 4):
            yield _piece(estimates.correlation_coverage, data.design, r.index[i], plan)


def _worlds(data: SimulationInput, plan: SimulationPlan, sizes: Operating) -> Iterator[Piece]:
    """The tests, intervals and ranks of notebooks 05 and 07, and the alternative annotator test of one label."""
    for i, one in enumerate(data.worlds):
        yield _piece(as_used.rejections, one, plan)
        yield _piece(as_used.means_and_ranks, one, plan)
        if not i:
            yield _piece(_first_judge, data.worlds, plan, data.levels)


def _harder(data: SimulationInput, plan: SimulationPlan, sizes: Operating) -> Iterator[Piece]:
    """Harder designs, from the label of a rating (mark) and that of a comparison with the fewest judgements."""
    few = sorted(data.worlds, key=lambda one: len(one.design.score))
    for one in [w for w in few if not w.design.pairwise][:1]:
        yield _piece(harder.tests, one, plan)
        yield _piece(harder.ranks, one, plan)
    for one in [w for w in few if w.design.pairwise][:1]:
        yield _piece(harder.strengths, one, plan)


def _first_judge(worlds: Sequence[World], plan: SimulationPlan, levels: Mapping[tuple[str, str], str]) -> list[Row]:
    """Of the first world for which there are rows."""
    simulated = (list(others.placebo_judge(one, plan, levels[one.design.method, one.design.label])) for one in worlds)
    return next(filter(None, simulated), [])


def _reliability(data: SimulationInput, plan: SimulationPlan, sizes: Operating) -> Iterator[Piece]:
    """Generalizability of system means by one label of each method."""
    rows = data.rated[0]
    for _, part in rows[rows["dialogue_b"].isna()].groupby("method", sort=False):
        yield _piece(others.reliability_coverage, part[part["label"] == part["label"].iloc[0]], plan)


def _judges(data: SimulationInput, plan: SimulationPlan, sizes: Operating) -> Iterator[Piece]:
    for one in others.chosen(data.judged, min(sizes.labels, MOST_JUDGED)):
        yield _piece(others.judge_coverage, one, plan)
        yield _piece(others.assisted_coverage, one, plan)


def _metrics(data: SimulationInput, plan: SimulationPlan, sizes: Operating) -> Iterator[Piece]:
    """The first metric with the first label of each method that it scores."""
    annotations, scores = data.rated
    if not len(scores) or not len(scores := scores[scores["corpus"] == data.corpus]):
        return
    scores = scores[scores["metric"] == scores["metric"].iloc[0]]
    for _, rows in annotations[annotations["dialogue_b"].isna()].groupby("method", sort=False):
        rows = rows[rows["label"] == rows["label"].iloc[0]]
        try:
            joined = join(human_means(rows), scores)
        except ValueError:
            continue  # it scores nothing that was rated by this method
        joined = joined.dropna(subset=["value", "human"])
        for scored, (_, with_others) in zip(scored_items(joined), ceiling.with_rest(rows, scores), strict=True):
            yield _piece(others.metric_coverage, scored, joined, with_others, plan)


def _replication(data: SimulationInput, plan: SimulationPlan, families: Mapping[str, Sequence[str]]) -> list[Row]:
    rows, corpora, systems = data.runs
    return list(others.replication_coverage(rows, corpora, systems, families, plan)) if corpora else []


def _groups(data: SimulationInput, plan: SimulationPlan, sizes: Operating) -> Iterator[Piece]:
    if shared := estimates.most_shared(data.all_values, SHARED_METHODS):
        method, *groups = shared
        labels_of_method = data.all_values.loc[data.all_values["method"] == method, "label"]
        label = "quality" if "quality" in set(labels_of_method) else labels_of_method.iloc[0]
        scores = estimates.shared_scores(data.all_values, method, label, tuple(groups))
        scores = [x[:MOST_SHARED] for x in scores if len(x) >= estimates.LEAST]
        if len(scores) >= 2:
            yield _piece(estimates.group_coverage, scores, label, method, tuple(groups), plan)
