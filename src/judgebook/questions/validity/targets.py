"""The two targets of Finch et al. 2023, section 7.2, and the judgements by others that predict them.

The targets are the interactors' own ratings: how good a dialogue was, and which of the two in a session was better. The
predictors come from evaluators who did not take part in the dialogues. Where the people who talked gave no ratings, or
the study says so, outsiders' ratings and choices are the targets instead. Either way, no person provides both sides of
a relation (unless every dialogue has one annotator only: then the targets say so). Notebooks 04 and 06 start here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pandas as pd

from judgebook.annotations import dialogue_values as values
from judgebook.annotations.dialogue_values import Design
from judgebook.annotations.picks import picks
from judgebook.annotations.summary import main_group
from judgebook.questions.validity.external import External, Parts, People, by, most_asked
from judgebook.study.labels import OF_UNIT

#: unit of the target's judgements -> how a design is made from them
_MAKERS: dict[str, Callable[..., Design]] = {
    "dialogue": values.dialogue_design,
    "pair": values.comparative_design,
}
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
    values: pd.DataFrame
    n_annotators: dict[tuple[str, str], int]
    n_interactors: int
    external: str | None = None
    label: str | None = None
    rated_by: tuple[str, ...] = ()
    rating: str = "one"
    shared: tuple[str, ...] = ()
    n_ties: int = 0


def find(
    annotations: pd.DataFrame,
    dialogues: pd.DataFrame,
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
    annotations : DataFrame
        Of the evaluation itself (`summary.evaluated`); only those by people are used.
    dialogues : DataFrame
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
    mine = (annotations["annotator"] == who.set_axis(annotations.index)).fillna(False).to_numpy(dtype=bool)
    rated = annotations[mine & (annotations["label"] == label).to_numpy()]
    rated = rated[~rated["method"].isin(OF_UNIT["turn"])]
    how = _How(pick_seed, predictor_value, twice)
    if quality_group is not None or (rated.empty and quality_label):
        asked = {"group": group, "quality_group": quality_group, "rating": quality_rating, "parts": parts or {}}
        people = External(annotations[~mine], quality_label or label, **asked)
        return _assemble(people.sides(pick_seed), talked[talked["corpus"] == people.corpus], how, **people.facts())
    if rated.empty:
        raise ValueError(f"label: nobody rated {label!r} for a dialogue of their own")
    corpus = rated["corpus"].value_counts().index[0]
    here, rated = (annotations["corpus"] == corpus).to_numpy(), rated[rated["corpus"] == corpus]
    others = annotations[here & ~mine & annotations["dialogue"].isin(rated["dialogue"]).to_numpy()]
    if others.empty:
        raise ValueError("annotations: nobody but those who talked judged the dialogues")
    others = by(others, main_group(others) if group is None else group, parts or {}, "group")
    if others.empty:
        raise ValueError(f"group: {group!r} judged none of the dialogues that their interactors rated")
    of_unit = {unit: rated[rated["method"].isin(OF_UNIT[unit])] for unit in _MAKERS}
    sides = {unit: (most_asked(own), others) for unit, own in of_unit.items() if len(own)}
    found = _assemble(sides, talked[talked["corpus"] == corpus], how)
    return replace(found, n_interactors=int(rated["annotator"].nunique()))


@dataclass(frozen=True)
class _How:
    """How judgements become values. seed : of picks. value : `one` annotation of an item, or the `mean` of all. twice :
    whether values of first and second annotations are wanted as well."""

    seed: int
    value: str
    twice: bool

    def of(self, judged: pd.DataFrame) -> pd.DataFrame:
        """`dialogue_values`; several groups are taken as one."""
        judged = next(picks(judged, 1, self.seed)) if self.value == "one" else judged
        return values.dialogue_values(judged)


def _assemble(
    sides: dict[str, tuple[pd.DataFrame, pd.DataFrame]], talked: pd.DataFrame, how: _How, **facts: object
) -> Targets:
    """sides : unit -> ratings that are the target, with their mean per dialogue or pair, and what predicts them."""
    who = talked.set_index("dialogue")["interactor"]
    order = talked.set_index("dialogue")["order_shown"]
    designs, repeats, made, n_ties = {}, {}, {}, 0
    for unit, (rated, others) in sides.items():
        if id(others) not in made:  # both targets of interactors have the same predictors
            one = _as_one(others)
            made[id(others)] = (how.of(one), values.repeated_values(one) if how.twice else ())
        judged, twice = made[id(others)]
        rated = _as_one(rated)
        target = values.dialogue_values(rated if facts else next(picks(rated, 1, how.seed)))
        extra = {"order_shown": order} if unit == "pair" else {}
        design = _MAKERS[unit](judged, target, who, **extra)
        if design.x.shape[1]:
            designs[design.target] = design
            if twice:
                repeats[design.target] = tuple(_MAKERS[unit](v, target, who, **extra) for v in twice)
            n_ties += int((target["value"] == 0).sum()) if unit == "pair" else 0
    every = pd.concat([others for _, others in sides.values()])
    every = every[~every.index.duplicated()]
    groups = every.groupby("method", sort=False)["group"].unique()
    groups = {method: str(g[0]) if len(g) == 1 else POOLED for method, g in groups.items()}
    rated_by = facts.get("rated_by", ())
    return Targets(
        corpus=str(every["corpus"].iloc[0]),
        groups=groups,
        designs=designs,
        repeats=repeats,
        values=_both({unit: made[id(others)][0] for unit, (_, others) in sides.items()}),
        n_annotators=values.count_annotators(every),
        shared=tuple(m for m, part in every.groupby("method", sort=False) if set(part["group"]) & set(rated_by)),
        n_ties=n_ties,
        n_interactors=0,
        **facts,
    )


def _as_one(judged: pd.DataFrame) -> pd.DataFrame:
    """Judgements of several groups as those of one."""
    return judged.assign(group=POOLED) if len(judged["group"].unique()) > 1 else judged


def _both(found: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Values of dialogues from the dialogues' target, of pairs from the pairs'."""
    first = found.get("dialogue", found.get("pair"))
    last = found.get("pair", first)
    if first is last:
        return first
    return pd.concat([first[first["dialogue_b"].isna()], last[last["dialogue_b"].notna()]], ignore_index=True)
