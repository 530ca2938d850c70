"""The two targets of Finch et al. 2023, section 7.2, and the judgements by others that predict them.

The targets are the interactors' own ratings: how good a dialogue was, and which of the two in a session was better. The
predictors come from evaluators who did not take part in the dialogues. Where the people who talked gave no ratings, or
the study says so, outsiders' ratings and choices are the targets instead. Either way, no person provides both sides of
a relation (unless every dialogue has one annotator only: then the targets say so). Notebooks 04 and 06 start here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import pandas as pd

from judgebook.annotations import dialogue_values as values
from judgebook.annotations.dialogue_values import Design, DialogueValues
from judgebook.annotations.picks import picks
from judgebook.annotations.summary import judged_by, main_group
from judgebook.study.labels import METHODS
from judgebook.study.schema import Annotations, Dialogues

_UNITS: tuple[Literal["dialogue", "pair"], ...] = ("dialogue", "pair")
#: the group of a method whose judgements come from several groups
POOLED = "all"
#: groups or parts of groups; None: those that the study leaves open
People: TypeAlias = str | Sequence[str] | None
#: part of a group -> its annotators
Parts: TypeAlias = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Targets:
    """What is predicted from what, in one corpus.

    corpus : where the judgements are from. groups : method -> the group whose judgements predict, `all` if several do.
    designs : target -> design, `dialogue_quality` and `comparative_quality` as far as the study has them. values : one
    per dialogue or pair and label of the predictors (`dialogue_values`). n_annotators : (method, label) -> people.
    n_interactors : people whose own ratings are the targets. external : None; or `others` where the target was rated
    by people who did not talk and the predictors come from other people, or `same` where one person gave both. label :
    that of an external target; by others, it predicts itself. rated_by : groups whose ratings are an external target.
    shared : methods whose predictors come from a group in `rated_by`. n_ties : pairs left out because neither dialogue
    was chosen.
    """

    corpus: str
    groups: dict[str, str]
    designs: dict[str, Design]
    values: DialogueValues
    n_annotators: dict[tuple[str, str], int]
    n_interactors: int
    external: str | None = None
    label: str | None = None
    rated_by: tuple[str, ...] = ()
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
    parts: Parts | None = None,
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
        `main_group` of those who did. The rating (choice) of one of them is drawn per dialogue (pair). Whoever gave it
        predicts nothing there; but where that leaves no predictors, and `group` is not given, they come from the same
        people.
    parts : mapping, optional
        Parts of groups and their annotators (`Study.parts`).

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
    if quality_group is not None or (rated.empty and quality_label):
        people = External(
            annotations[~self_rated],
            quality_label or label,
            group=group,
            quality_group=quality_group,
            parts=parts or {},
        )
        return _assemble(people.sides(pick_seed), talked[talked["corpus"] == people.corpus], pick_seed, people)
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
    study_targets = _assemble(sides, talked[talked["corpus"] == corpus], pick_seed)
    return replace(study_targets, n_interactors=int(rated["annotator"].nunique()))


def _assemble(
    sides: dict[str, tuple[Annotations, Annotations]], talked: Dialogues, seed: int, external: External | None = None
) -> Targets:
    """sides : unit -> ratings that are the target, with their mean per dialogue or pair, and what predicts them.
    seed : of picks. external : who gave the former, if the people who talked did not."""
    who = talked.set_index("dialogue")["interactor"]
    order = talked.set_index("dialogue")["order_shown"]
    designs: dict[str, Design] = {}
    made: dict[int, DialogueValues] = {}
    n_ties = 0
    for unit, (rated, others) in sides.items():
        if id(others) not in made:  # both targets of interactors have the same predictors
            made[id(others)] = values.dialogue_values(next(picks(_as_one(others), 1, seed)))
        rated, judged = _as_one(rated), made[id(others)]
        target = values.dialogue_values(rated if external else next(picks(rated, 1, seed)))
        if unit == "pair":
            design = values.comparative_design(judged, target, who, order)
        else:
            design = values.dialogue_design(judged, target, who)
        if design.x.shape[1]:
            designs[design.target] = design
            n_ties += int((target["value"] == 0).sum()) if unit == "pair" else 0
    every = pd.concat([others for _, others in sides.values()])
    every = every[~every.index.duplicated()]
    groups_of = every.groupby("method", sort=False)["group"].unique()
    groups = {method: str(g[0]) if len(g) == 1 else POOLED for method, g in groups_of.items()}
    study_targets = Targets(
        corpus=str(every["corpus"].iloc[0]),
        groups=groups,
        designs=designs,
        values=_both({unit: made[id(others)] for unit, (_, others) in sides.items()}),
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
        shared=tuple(m for m, part in every.groupby("method", sort=False) if set(part["group"]) & set(rated_by)),
    )


def _as_one(judged: Annotations) -> Annotations:
    """Judgements of several groups as those of one."""
    return judged.assign(group=POOLED) if len(judged["group"].unique()) > 1 else judged


def _both(by_unit: dict[str, DialogueValues]) -> DialogueValues:
    """Values of dialogues from the dialogues' target, of pairs from the pairs'."""
    first, last = next(iter(by_unit.values())), [*by_unit.values()][-1]
    if first is last:
        return first
    return pd.concat([first[first["dialogue_b"].isna()], last[last["dialogue_b"].notna()]], ignore_index=True)


def judged_by_named(annotations: Annotations, people: People, parts: Parts, key: str) -> Annotations:
    """`judged_by`. Raises ValueError, naming the key of the YAML, for a group or part that is none of the study's."""
    named = [people] if isinstance(people, str) else list(people or ())
    names = {*annotations["group"], *parts}
    if unknown := [name for name in named if name not in names]:
        raise ValueError(f"importance.{key}: {unknown[0]!r} judged none of the dialogues; there are {sorted(names)}")
    return judged_by(annotations, named, parts)


class External:
    """Ratings and choices by people who did not talk, and what others judged of the same dialogues.

    Parameters as in `find`. external : `others`, or, once there are `sides`, `same` where one person gave both.
    """

    external = "others"

    def __init__(
        self,
        annotations: Annotations,
        label: str,
        *,
        group: People,
        quality_group: People,
        parts: Parts,
    ):
        rated = annotations[annotations["label"] == label]
        if rated.empty:
            rated_labels = sorted(set(annotations["label"]))
            raise ValueError(f"importance.quality_label: nobody rated {label!r}; there are {rated_labels}")
        single = rated[rated["dialogue_b"].isna()]
        self.corpus = (single if len(single) else rated)["corpus"].value_counts().index[0]
        self.everybody = annotations[annotations["corpus"] == self.corpus]
        rated = rated[rated["corpus"] == self.corpus]
        self.named, self.label, self.parts = group is not None, label, parts
        if quality_group is None:
            quality_group = self._own(rated, group)
            group = quality_group if group is None else group
        self.rated = judged_by_named(rated, quality_group, parts, "quality_group")
        self.group = main_group(self.everybody) if group is None else group

    def _own(self, rated: pd.DataFrame, group: People) -> People:
        """Those of the predictors who gave ratings of the target; of all others, the main group."""
        if group is not None and len(ratings := judged_by(rated, group, self.parts)):
            return sorted(set(ratings["group"]))
        single = rated[rated["dialogue_b"].isna()]
        return main_group(single if len(single) else rated)

    def sides(self, seed: int) -> dict[str, tuple[Annotations, Annotations]]:
        """unit (dialogue, pair) -> ratings that are the target, and judgements that predict them. seed : of draws.

        Raises ValueError where there are none.
        """
        predicting = judged_by_named(self.everybody, self.group, self.parts, "group")
        pairs, sides = self.rated["dialogue_b"].notna(), {}
        for unit, ratings in {"dialogue": self.rated[~pairs], "pair": self.rated[pairs]}.items():
            if ratings.empty:
                continue
            ratings = _drawn(most_asked(ratings), seed)
            others = _by_others(predicting, ratings)
            if others.empty and not self.named:
                others, self.external = predicting[predicting["label"] != self.label], "same"
            if len(others):
                sides[unit] = (ratings, others)
        if not sides:
            raise ValueError(self._nothing(predicting))
        return sides

    def _nothing(self, predicting: pd.DataFrame) -> str:
        common = predicting["dialogue"].isin(self.rated["dialogue"])
        if not self.named and not (predicting["label"] != self.label).any():
            return f"importance.quality_label: nothing but {self.label!r} was judged, so nothing predicts it"
        if not common.any():
            return f"importance.group: {self.group!r} judged none of the dialogues with a rating of {self.label!r}"
        whose = f"a dialogue whose rating of {self.label!r} is somebody else's"
        return f"importance.group: nobody of {self.group!r} judged {whose}"


def most_asked(rated: Annotations) -> Annotations:
    """Where two methods ask the same, the ratings by the one that asked more."""
    return rated[rated["method"] == rated["method"].value_counts().index[0]]


def _who(annotations: Annotations) -> pd.Series:
    """Annotators; positions of two groups are not the same person."""
    return annotations["annotator"].where(
        annotations["annotator_known"].astype(bool), annotations["group"] + " " + annotations["annotator"]
    )


def _drawn(rated: Annotations, seed: int) -> Annotations:
    """All ratings by one annotator of each dialogue or pair, drawn at random."""
    unit = _unit(rated)
    one = rated.assign(unit=unit, who=_who(rated)).sample(frac=1, random_state=seed).drop_duplicates("unit")
    return rated[_who(rated) == unit.map(one.set_index("unit")["who"])]


def _unit(rated: Annotations) -> pd.Series:
    """The dialogue; of a comparison both, whichever stands left."""
    ends = zip(rated["dialogue"], rated["dialogue_b"].fillna(""), strict=True)
    return pd.Series([min(pair) + "\n" + max(pair) for pair in ends], index=rated.index)


def _by_others(predicting: Annotations, rated: Annotations) -> Annotations:
    """Judgements of the dialogues in `rated` without those by whoever gave the rating there."""
    ends = [rated[c].to_frame("dialogue").assign(who=_who(rated)) for c in ("dialogue", "dialogue_b")]
    gave = pd.concat(ends).dropna().drop_duplicates()
    about = predicting[predicting["dialogue"].isin(gave["dialogue"])]
    by_raters = pd.MultiIndex.from_arrays([about["dialogue"], _who(about)]).isin(pd.MultiIndex.from_frame(gave))
    return about[~by_raters]
