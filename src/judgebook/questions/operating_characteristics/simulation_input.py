"""What is simulated from: the corpus and group of a study with most items judged twice, as each simulation needs it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import pandas as pd

from judgebook.annotations import dialogue_values as values
from judgebook.annotations import picks
from judgebook.annotations.summary import in_sessions, with_means
from judgebook.questions.judges.items import JudgedItems, judged_items
from judgebook.questions.operating_characteristics import alpha_coverage, as_used
from judgebook.questions.operating_characteristics import estimate_coverage as estimates
from judgebook.questions.operating_characteristics.alpha_coverage import Repeated, evenly
from judgebook.questions.operating_characteristics.question import Operating
from judgebook.questions.operating_characteristics.worlds import PlaceboWorld, design, world
from judgebook.questions.performance.analysis import chosen
from judgebook.questions.quality_control import replication
from judgebook.questions.sensitivity.panels import Panel, panel
from judgebook.study.labels import Label
from judgebook.study.schema import ITEM, Annotations, Dialogues

#: labels of a method for which placebo worlds are made, at most
MOST_WORLDS = 3


@dataclass(frozen=True)
class SimulationInput:
    """What samples are drawn from.

    twice : labels judged twice by `group`. panels, picked : one per method, of all annotations, and of one per item for
    tests as published. all_values : dialogue values of every group of the corpus. design : labels against quality as
    interactors rated it, or None. worlds : of labels of each method. fitted : judgements of ranked systems on the first
    label of each method. judged : by people and models. rated : annotations
    by people, metric scores and labels, if any. runs : ratings of several corpora, and which, if they share systems.
    """

    corpus: str
    group: str
    twice: list[Repeated]
    panels: list[Panel]
    picked: list[Panel]
    all_values: pd.DataFrame
    design: values.Design | None
    worlds: list[PlaceboWorld]
    fitted: list[pd.DataFrame]
    judged: list[JudgedItems]
    rated: tuple[pd.DataFrame, pd.DataFrame]
    runs: tuple[pd.DataFrame, list[str], list[str]]
    levels: dict[tuple[str, str], str]


def simulation_input(
    annotations: Annotations,
    dialogues: Dialogues,
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
    worlds = list(_placebo_worlds(judged, ranked, min(sizes.labels, MOST_WORLDS) if sizes else 1))
    return SimulationInput(
        corpus, group, twice, panels, picked, all_values, _design(all_values, of_group, talks),
        worlds=worlds,
        fitted=list(_fitted(chosen(judged, unranked, labels), set(unranked), worlds)),
        judged=list(judged_items(annotations[annotations["corpus"] == corpus], labels)),
        rated=(judged, metric_scores if metric_scores is not None else pd.DataFrame()),
        runs=_runs(people, group, ranked),
        levels={(x.method, x.id): "nominal" if x.binary else x.level for x in labels},
    )  # fmt: skip


def _placebo_worlds(annotations: pd.DataFrame, systems: list[str], most: int) -> Iterator[PlaceboWorld]:
    """Worlds of at most `most` labels of each method, from the lowest to the highest mean."""
    for _, rows in annotations.groupby("method", sort=False):
        means = rows.groupby("label", sort=False)["score"].mean().sort_values(kind="stable")
        for i in evenly(len(means), most):
            placebo_design = design(rows[rows["label"] == means.index[i]], systems)
            if placebo_design is not None and as_used.compared(placebo_design):
                yield world(placebo_design)


def _fitted(judged: pd.DataFrame, unranked: set[str], worlds: list[PlaceboWorld]) -> Iterator[pd.DataFrame]:
    """Judgements of ranked systems on the label of the first world of each method."""
    first = {one.design.method: one.design.label for one in reversed(worlds)}
    ranked = judged[~judged["system"].isin(unranked) & ~judged["system_b"].isin(unranked)]
    for method, rows in ranked.groupby("method", sort=False):
        if method in first:
            yield rows[rows["label"] == first[method]]


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
