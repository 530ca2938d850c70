"""The two targets of Finch et al. 2023, section 7.2, and the judgements by others that predict them.

The targets are the interactors' own ratings: how good a dialogue was, and which of the two in a session was better. The
predictors come from evaluators who did not take part in the dialogues. Where the people who talked gave no ratings, or
the study says so, outsiders' ratings and choices are the targets instead. Either way, no person provides both sides of
a relation (unless every dialogue has one annotator only: then the targets say so). Notebooks 04 and 06 start here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import pandas as pd

from judgebook.annotations import dialogue_values as values
from judgebook.annotations.dialogue_values import Design, DialogueValues
from judgebook.annotations.picks import picks
from judgebook.annotations.summary import main_group
from judgebook.questions.validity.raters import External, Parts, People, judged_by_named, most_asked
from judgebook.study.labels import METHODS
from judgebook.study.schema import Annotations, Dialogues

_UNITS: tuple[Literal["dialogue", "pair"], ...] = ("dialogue", "pair")
#: the group of a method whose judgements come from several groups
POOLED = "all"


@dataclass(frozen=True)
class Targets:
    """What is predicted from what, in one corpus.

    corpus : where the judgements are from. groups : method -> the group whose judgements predict, `all` if several do.
    designs : target -> design, `dialogue_quality` and `comparative_quality` as far as the study has them. repeats :
    target -> the same from the first and from the second annotation of what was judged twice. values : one per dialogue
    or pair and label of the predictors (`dialogue_values`). n_annotators : (method, label) -> people. n_interactors :
    people whose own ratings are the targets. external : None; or `others` where the target was rated by people who did
    not talk and the predictors come from other people, or `same` where one person gave both. label : that of an
    external target; by others, it predicts itself. rated_by : groups whose ratings are an external target. rating :
    whether that is `one` person's or the `mean`. shared : methods whose predictors come from a group in `rated_by`.
    n_ties : pairs left out because neither dialogue was chosen.
    """

    corpus: str
    groups: dict[str, str]
    designs: dict[str, Design]
    repeats: dict[str, tuple[Design, Design]]
    values: DialogueValues
    n_annotators: dict[tuple[str, str], int]
    n_interactors: int
    external: str | None = None
    label: str | None = None
    rated_by: tuple[str, ...] = ()
    rating: str = "one"
    shared: tuple[str, ...] = ()
    n_ties: int = 0


def find(
    annotations: Annotations,
    dialogues: Dialogues,
    *,
    label: str,
    pick_seed: int,
    group: People = None,
    quality_label: str | None = None,
    quality_group: People = None,
    quality_rating: str = "one",
    predictor_value: str = "one",
    parts: Parts | None = None,
    twice: bool = True,
) -> Targets:
    """The targets of a study and the designs that predict them.

    Parameters
    ----------
    annotations : Annotations
        Of the evaluation itself (`summary.evaluated`); only those by people are used.
    dialogues : Dialogues
        Says who talked.
    label : str
        The label that is the target, such as quality.
    pick_seed : int
        Of items judged several times, the study's own pick is used (`picks.picks`).
    group : group or part of one, or list of these, optional
        Whose judgements predict; by default `main_group` of those who judged the dialogues with a target.
    quality_label : str, optional
        A label of people who did not talk, to be predicted where no interactor rated `label`, or where `quality_group`
        is given (by default `label`).
    quality_group : group or part of one, or list of these, optional
        Whose ratings and choices of that label are the targets; by default those of `group` if it gave any, else of
        `main_group` of those who did.
    quality_rating : 'one' or 'mean'
        An external target is the rating (choice) of one of these people, drawn per dialogue (pair), or the mean of all;
        a pair without a majority then counts as a tie. Whoever gave it predicts nothing there; but where that leaves no
        predictors, and `group` is not given, they come from the same people.
    predictor_value : 'one' or 'mean'
        Of items judged several times by the predictors: a pick, or the mean.
    parts : mapping, optional
        Parts of groups and their annotators (`Study.parts`).
    twice : bool
        With `repeats`.

    Returns
    -------
    Targets, of the corpus with most of the interactors' ratings, or of the external ones.

    Raises
    ------
    ValueError
        Where nobody rated `label`, or nobody else judged these dialogues.
    """
    annotations = annotations[annotations["annotator_kind"] == "human"]
    talked = dialogues.dropna(subset=["interactor"]).drop_duplicates(["corpus", "dialogue"])
    who = annotations[["corpus", "dialogue"]].merge(talked, how="left", on=["corpus", "dialogue"])["interactor"]
    self_rated = (annotations["annotator"] == who.set_axis(annotations.index)).fillna(False).to_numpy(dtype=bool)
    rated = annotations[self_rated & (annotations["label"] == label).to_numpy()]
    rated = rated[~rated["method"].isin(METHODS.of_unit("turn"))]
    how = _How(pick_seed, predictor_value, twice)
    if quality_group is not None or (rated.empty and quality_label):
        people = External(
            annotations[~self_rated],
            quality_label or label,
            group=group,
            quality_group=quality_group,
            rating=quality_rating,
            parts=parts or {},
        )
        return _assemble(people.sides(pick_seed), talked[talked["corpus"] == people.corpus], how, people)
    if rated.empty:
        raise ValueError(f"label: nobody rated {label!r} for a dialogue of their own")
    corpus = rated["corpus"].value_counts().index[0]
    of_corpus, rated = (annotations["corpus"] == corpus).to_numpy(), rated[rated["corpus"] == corpus]
    others = annotations[of_corpus & ~self_rated & annotations["dialogue"].isin(rated["dialogue"]).to_numpy()]
    if others.empty:
        raise ValueError("annotations: nobody but those who talked judged the dialogues")
    others = judged_by_named(others, main_group(others) if group is None else group, parts or {}, "group")
    if others.empty:
        raise ValueError(f"group: {group!r} judged none of the dialogues that their interactors rated")
    of_unit = {unit: rated[rated["method"].isin(METHODS.of_unit(unit))] for unit in _UNITS}
    sides: dict[str, tuple[Annotations, Annotations]]
    sides = {unit: (most_asked(ratings), others) for unit, ratings in of_unit.items() if len(ratings)}
    study_targets = _assemble(sides, talked[talked["corpus"] == corpus], how)
    return replace(study_targets, n_interactors=int(rated["annotator"].nunique()))


@dataclass(frozen=True)
class _How:
    """How judgements become values. seed : of picks. value : `one` annotation of an item, or the `mean` of all. twice :
    whether values of first and second annotations are wanted as well."""

    seed: int
    value: str
    twice: bool

    def of(self, judged: Annotations) -> DialogueValues:
        """`dialogue_values`; several groups are taken as one."""
        judged = next(picks(judged, 1, self.seed)) if self.value == "one" else judged
        return values.dialogue_values(judged)


def _assemble(
    sides: dict[str, tuple[Annotations, Annotations]], talked: Dialogues, how: _How, external: External | None = None
) -> Targets:
    """sides : unit -> ratings that are the target, with their mean per dialogue or pair, and what predicts them.
    external : who gave the former, if the people who talked did not."""
    who = talked.set_index("dialogue")["interactor"]
    order = talked.set_index("dialogue")["order_shown"]
    designs: dict[str, Design] = {}
    repeats: dict[str, tuple[Design, Design]] = {}
    made: dict[int, tuple[DialogueValues, tuple[DialogueValues, DialogueValues] | None]] = {}
    n_ties = 0
    for unit, (rated, others) in sides.items():
        if id(others) not in made:  # both targets of interactors have the same predictors
            one = _as_one(others)
            made[id(others)] = (how.of(one), values.repeated_values(one) if how.twice else None)
        judged, twice = made[id(others)]
        rated = _as_one(rated)
        target = values.dialogue_values(rated if external else next(picks(rated, 1, how.seed)))
        ends = (target, who, order if unit == "pair" else None)
        design = _design(judged, *ends)
        if design.x.shape[1]:
            designs[design.target] = design
            if twice:
                repeats[design.target] = (_design(twice[0], *ends), _design(twice[1], *ends))
            n_ties += int((target["value"] == 0).sum()) if unit == "pair" else 0
    every = pd.concat([others for _, others in sides.values()])
    every = every[~every.index.duplicated()]
    groups_of = every.groupby("method", sort=False)["group"].unique()
    groups = {method: str(g[0]) if len(g) == 1 else POOLED for method, g in groups_of.items()}
    study_targets = Targets(
        corpus=str(every["corpus"].iloc[0]),
        groups=groups,
        designs=designs,
        repeats=repeats,
        values=_both({unit: made[id(others)][0] for unit, (_, others) in sides.items()}),
        n_annotators=values.count_annotators(every),
        n_ties=n_ties,
        n_interactors=0,
    )
    if external is None:
        return study_targets
    rated_by = tuple(dict.fromkeys(external.rated["group"]))
    return replace(
        study_targets,
        external=external.external,
        label=external.label,
        rated_by=rated_by,
        rating=external.rating,
        shared=tuple(m for m, part in every.groupby("method", sort=False) if set(part["group"]) & set(rated_by)),
    )


def _design(judged: DialogueValues, target: DialogueValues, who: pd.Series, order: pd.Series | None) -> Design:
    """Of a target that is about dialogues; with the `order` in which a session's dialogues were shown, about pairs."""
    if order is None:
        return values.dialogue_design(judged, target, who)
    return values.comparative_design(judged, target, who, order)


def _as_one(judged: Annotations) -> Annotations:
    """Judgements of several groups as those of one."""
    return judged.assign(group=POOLED) if len(judged["group"].unique()) > 1 else judged


def _both(by_unit: dict[str, DialogueValues]) -> DialogueValues:
    """Values of dialogues from the dialogues' target, of pairs from the pairs'."""
    first, last = next(iter(by_unit.values())), [*by_unit.values()][-1]
    if first is last:
        return first
    return pd.concat([first[first["dialogue_b"].isna()], last[last["dialogue_b"].notna()]], ignore_index=True)
