"""The two targets of Finch et al. 2023, section 7.2, and the judgements by others that predict them.

The targets are the interactors' own ratings: how good a dialogue was, and which of the two in a session was better. The
predictors come from evaluators who did not take part in the dialogues. Where the people who talked gave no ratings, or
the study says so, outsiders' ratings and choices are the targets instead. Either way, no person provides both sides of
a relation (unless every dialogue has one annotator only: then the targets say so). Notebooks 04 and 06 start here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from judgebook.annotations import dialogue_values as values
from judgebook.annotations.dialogue_values import Design
from judgebook.annotations.picks import picks
from judgebook.annotations.summary import judged_by, main_group
from judgebook.study.labels import METHODS

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
    self_rated = (annotations["annotator"] == who.set_axis(annotations.index)).fillna(False).to_numpy(dtype=bool)
    rated = annotations[self_rated & (annotations["label"] == label).to_numpy()]
    rated = rated[~rated["method"].isin(METHODS.of_unit("turn"))]
    how = _How(pick_seed, predictor_value, twice)
    if quality_group is not None or (rated.empty and quality_label):
        asked = {"group": group, "quality_group": quality_group, "rating": quality_rating, "parts": parts or {}}
        people = External(annotations[~self_rated], quality_label or label, **asked)
        return _assemble(people.sides(pick_seed), talked[talked["corpus"] == people.corpus], how, **people.facts())
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
    of_unit = {unit: rated[rated["method"].isin(METHODS.of_unit(unit))] for unit in _MAKERS}
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


def _both(by_unit: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Values of dialogues from the dialogues' target, of pairs from the pairs'."""
    first = by_unit.get("dialogue", by_unit.get("pair"))
    last = by_unit.get("pair", first)
    if first is last:
        return first
    return pd.concat([first[first["dialogue_b"].isna()], last[last["dialogue_b"].notna()]], ignore_index=True)


People = str | Sequence[str] | None
Parts = Mapping[str, Sequence[str]]


def judged_by_named(annotations: pd.DataFrame, people: People, parts: Parts, key: str) -> pd.DataFrame:
    """`judged_by`. Raises ValueError, naming the key of the YAML, for a group or part that is none of the study's."""
    named = [people] if isinstance(people, str) else list(people or ())
    names = {*annotations["group"], *parts}
    if unknown := [name for name in named if name not in names]:
        raise ValueError(f"importance.{key}: {unknown[0]!r} judged none of the dialogues; there are {sorted(names)}")
    return judged_by(annotations, named, parts)


class External:
    """Ratings and choices by people who did not talk, and what others judged of the same dialogues.

    Parameters as in `targets.find`. external : `others`, or `same` where one person gave both sides.
    """

    external = "others"

    def __init__(
        self,
        annotations: pd.DataFrame,
        label: str,
        *,
        group: People,
        quality_group: People,
        rating: str,
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
        self.named, self.label, self.rating, self.parts = group is not None, label, rating, parts
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

    def sides(self, seed: int) -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:
        """unit (dialogue, pair) -> ratings that are the target, and judgements that predict them. seed : of draws.

        Raises ValueError where there are none.
        """
        predicting = judged_by_named(self.everybody, self.group, self.parts, "group")
        pairs, sides = self.rated["dialogue_b"].notna(), {}
        for unit, ratings in {"dialogue": self.rated[~pairs], "pair": self.rated[pairs]}.items():
            if ratings.empty:
                continue
            ratings = most_asked(ratings)
            ratings = _drawn(ratings, seed) if self.rating == "one" else ratings
            others = _by_others(predicting, ratings)
            if others.empty and not self.named:
                others, self.external = predicting[predicting["label"] != self.label], "same"
            if len(others):
                sides[unit] = (ratings, others)
        if not sides:
            raise ValueError(self._nothing(predicting))
        return sides

    def facts(self) -> dict[str, object]:
        """What `Targets` says of an external target, once there are `sides`."""
        rated_by = tuple(dict.fromkeys(self.rated["group"]))
        return {"external": self.external, "label": self.label, "rated_by": rated_by, "rating": self.rating}

    def _nothing(self, predicting: pd.DataFrame) -> str:
        common = predicting["dialogue"].isin(self.rated["dialogue"])
        if not self.named and not (predicting["label"] != self.label).any():
            return f"importance.quality_label: nothing but {self.label!r} was judged, so nothing predicts it"
        if not common.any():
            return f"importance.group: {self.group!r} judged none of the dialogues with a rating of {self.label!r}"
        whose = f"a dialogue whose rating of {self.label!r} is somebody else's"
        return f"importance.group: nobody of {self.group!r} judged {whose}"


def most_asked(rated: pd.DataFrame) -> pd.DataFrame:
    """Where two methods ask the same, the ratings by the one that asked more."""
    return rated[rated["method"] == rated["method"].value_counts().index[0]]


def _who(annotations: pd.DataFrame) -> pd.Series:
    """Annotators; positions of two groups are not the same person."""
    return annotations["annotator"].where(
        annotations["annotator_known"].astype(bool), annotations["group"] + " " + annotations["annotator"]
    )


def _drawn(rated: pd.DataFrame, seed: int) -> pd.DataFrame:
    """All ratings by one annotator of each dialogue or pair, drawn at random."""
    unit = _unit(rated)
    one = rated.assign(unit=unit, who=_who(rated)).sample(frac=1, random_state=seed).drop_duplicates("unit")
    return rated[_who(rated) == unit.map(one.set_index("unit")["who"])]


def _unit(rated: pd.DataFrame) -> pd.Series:
    """The dialogue; of a comparison both, whichever stands left."""
    ends = zip(rated["dialogue"], rated["dialogue_b"].fillna(""), strict=True)
    return pd.Series([min(pair) + "\n" + max(pair) for pair in ends], index=rated.index)


def _by_others(predicting: pd.DataFrame, rated: pd.DataFrame) -> pd.DataFrame:
    """Judgements of the dialogues in `rated` without those by whoever gave the rating there."""
    ends = [rated[c].to_frame("dialogue").assign(who=_who(rated)) for c in ("dialogue", "dialogue_b")]
    gave = pd.concat(ends).dropna().drop_duplicates()
    about = predicting[predicting["dialogue"].isin(gave["dialogue"])]
    by_raters = pd.MultiIndex.from_arrays([about["dialogue"], _who(about)]).isin(pd.MultiIndex.from_frame(gave))
    return about[~by_raters]
