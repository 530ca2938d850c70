"""Do our own tests and intervals perform as stated? The results of notebook 80.

As published: the tests and intervals of the papers, which take turns of a dialogue as independent. As we would defend
it: one fit of each label, and intervals over dialogues (interactors) with exact bounds where values are rare. Both are
applied to samples for which the truth is known. The primary procedures of all notebooks are also tried as they are
used, at the study's own design (`fits`, `as_used`, `other_procedures`).

Everything concerns one corpus and evaluator group, the one with most items judged twice. Groups are compared where two
of them judged the same dialogues; correlations need people who rated dialogues of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from judgebook.annotations import population
from judgebook.execution.tasks import run
from judgebook.questions.metrics import ceiling
from judgebook.questions.metrics.items import human_means, join, scored_items
from judgebook.questions.operating_characteristics import alpha_coverage, as_used, fits
from judgebook.questions.operating_characteristics import estimate_coverage as estimates
from judgebook.questions.operating_characteristics import other_procedures as others
from judgebook.questions.operating_characteristics.alpha_coverage import evenly
from judgebook.questions.operating_characteristics.monte_carlo import Row, SimulationPlan
from judgebook.questions.operating_characteristics.placebo import false_crossings, placebo_size
from judgebook.questions.operating_characteristics.question import Operating
from judgebook.questions.operating_characteristics.simulation_input import SimulationInput, simulation_input
from judgebook.questions.operating_characteristics.worlds import PlaceboWorld
from judgebook.questions.sensitivity.panels import Panel
from judgebook.study.labels import Label
from judgebook.study.results import Results, collect
from judgebook.study.schema import Annotations, Dialogues

#: dialogues per sample, and per system and sample for groups, at most: larger samples take long and add little
MOST_UNITS, MOST_SHARED = 200, 50
#: turns whose ratings form more patterns than this are not resampled one by one
MOST_PATTERNS = 40
#: labels of a judge whose intervals are simulated, at most
MOST_JUDGED = 2
#: items, and the share of them disagreed on, where the bound for (nearly) perfect agreement is tried
NEAR_PERFECT_ITEMS, NEAR_PERFECT_SHARE = 34, 0.02
#: methods whose values of a dialogue are compared between groups, in order of preference
SHARED_METHODS = ("dialogue_likert", "turn_likert", "dialogue_rating", "turn_rating")


def analyse(
    annotations: Annotations,
    dialogues: Dialogues,
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
    Results: null_rejection, false_crossing, interval_coverage, interval_width, interval_power,
    group_difference_bias.

    Raises
    ------
    ValueError
        If no item was judged twice.
    """
    data = simulation_input(
        annotations,
        dialogues,
        labels,
        systems=systems,
        first=first,
        pick=pick,
        unranked=unranked,
        metric_scores=metric_scores,
        sizes=sizes,
    )
    plan = SimulationPlan(sizes.n_runs, sizes.n_resamples, seed, confidence)
    parts = (_tests, _agreement, _estimates, _correlations, _groups)
    pieces = [piece for part in parts for piece in part(data, plan, sizes)]
    plan = replace(plan, n_runs=min(plan.n_runs, sizes.runs_as_used))
    pieces += [piece for part in (_worlds, _fits, _judges, _metrics) for piece in part(data, plan, sizes)]
    rows = [row for made in run(_rows_of, [(piece,) for piece in pieces], doing="simulations") for row in made]
    rows += _replication(data, plan, families or {})
    return collect({"corpus": data.corpus, "group": data.group, "seed": seed} | row for row in rows)


#: a function that gives rows, with its arguments: draws are from streams named for what is simulated
#: (`SimulationPlan.rng`)
Piece = Callable[[], Iterable[Row]]


def _rows_of(piece: Piece) -> list[Row]:
    return list(piece())


def _tests(data: SimulationInput, plan: SimulationPlan, sizes: Operating) -> Iterator[Piece]:
    for one, picked in zip(data.panels, data.picked, strict=True):
        yield partial(_tests_of, one, picked, plan, sizes.conversations)


def _tests_of(one: Panel, picked: Panel, plan: SimulationPlan, conversations: int) -> Iterator[Row]:
    if size := placebo_size(one, picked, plan):
        yield from size
        yield from false_crossings(picked, plan, n=conversations)


def _agreement(data: SimulationInput, plan: SimulationPlan, sizes: Operating) -> Iterator[Piece]:
    done, chosen = set(), alpha_coverage.by_prevalence(data.twice, sizes.labels)
    inside = [one.n_dialogues < len(one.clusters) for one in chosen]  # several items lie within a dialogue
    for one, nested in zip(chosen, inside, strict=True):
        n_units = min(one.n_dialogues, MOST_UNITS)
        if not nested or one.marks or all(inside):  # otherwise ratings of dialogues show the same, and faster
            items = sorted({*sizes.items} if nested else {*sizes.items, n_units})
            yield partial(alpha_coverage.alpha_over_items, one, plan, sizes=items, marks=sizes.marks)
        if nested and (one.marks or one.label.method not in done):
            # ratings of turns: one label only, and none of very many patterns, as resampling their turns takes long
            dialogues = sorted({n for n in sizes.dialogues if n < n_units} | {n_units})
            turns = [n_units] if len(one.judged.weights) <= MOST_PATTERNS else []
            yield partial(alpha_coverage.alpha_over_dialogues, one, plan, sizes=dialogues, turns=turns)
        done.add(one.label.method)
    for one in ([one for one in chosen if one.mirrored] or chosen)[:1]:
        yield partial(
            alpha_coverage.alpha_near_perfect, one, plan, n=NEAR_PERFECT_ITEMS, disagreement=NEAR_PERFECT_SHARE
        )


def _estimates(data: SimulationInput, plan: SimulationPlan, sizes: Operating) -> Iterator[Piece]:
    """Rates and means of labels from the lowest to the highest mean."""
    for one in data.panels:
        order = np.argsort(one.total.sum(axis=0) / np.maximum(one.n.sum(axis=0), 1), kind="stable")
        for i in evenly(len(order), sizes.labels) if one.unit != "pair" else ():
            yield partial(estimates.estimate_coverage, one, int(order[i]), plan)


def _correlations(data: SimulationInput, plan: SimulationPlan, sizes: Operating) -> Iterator[Piece]:
    """Four labels from the weakest to the strongest correlation, on which the coverage of an interval depends."""
    if data.design is not None:
        r = data.design.x.corrwith(pd.Series(data.design.y, index=data.design.x.index)).abs().dropna().sort_values()
        for i in evenly(len(r), 4):
            yield partial(estimates.correlation_coverage, data.design, r.index[i], plan)


def _worlds(data: SimulationInput, plan: SimulationPlan, sizes: Operating) -> Iterator[Piece]:
    """The intervals of means of notebook 07, and the alternative annotator test of one label."""
    for i, one in enumerate(data.worlds):
        yield partial(as_used.means, one, plan)
        if not i:
            yield partial(_first_judge, data.worlds, plan, data.levels)


def _fits(data: SimulationInput, plan: SimulationPlan, sizes: Operating) -> Iterator[Piece]:
    """The fit of notebook 07, of one label of each method."""
    for rows in data.fitted:
        others = population.modelled(rows)[data.corpus, data.group].others
        yield partial(fits.contrasts, rows, plan, others=others)


def _first_judge(
    worlds: Sequence[PlaceboWorld], plan: SimulationPlan, levels: Mapping[tuple[str, str], str]
) -> list[Row]:
    """Of the first world for which there are rows."""
    simulated = (list(others.placebo_judge(one, plan, levels[one.design.method, one.design.label])) for one in worlds)
    return next(filter(None, simulated), [])


def _judges(data: SimulationInput, plan: SimulationPlan, sizes: Operating) -> Iterator[Piece]:
    for one in others.chosen(data.judged, min(sizes.labels, MOST_JUDGED)):
        yield partial(others.judge_coverage, one, plan)
        yield partial(others.assisted_coverage, one, plan)


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
            yield partial(others.metric_coverage, scored, joined, with_others, plan)


def _replication(data: SimulationInput, plan: SimulationPlan, families: Mapping[str, Sequence[str]]) -> list[Row]:
    rows, corpora, systems = data.runs
    return list(others.replication_coverage(rows, corpora, systems, families, plan)) if corpora else []


def _groups(data: SimulationInput, plan: SimulationPlan, sizes: Operating) -> Iterator[Piece]:
    if shared := estimates.most_shared(data.all_values, SHARED_METHODS):
        method, one_group, other = shared
        labels_of_method = data.all_values.loc[data.all_values["method"] == method, "label"]
        label = "quality" if "quality" in set(labels_of_method) else labels_of_method.iloc[0]
        scores = estimates.shared_scores(data.all_values, method, label, (one_group, other))
        scores = [x[:MOST_SHARED] for x in scores if len(x) >= estimates.LEAST]
        if len(scores) >= 2:
            yield partial(estimates.group_coverage, scores, label, method, (one_group, other), plan)
