"""The two targets of Finch et al. 2023, section 7.2, and the judgements by others that predict them.

The targets are the interactors' own ratings: how good a dialogue was, and which of the two in a session was better. The
predictors come from one evaluator group that did not take part in the dialogues, so no person provides both sides of a
relation. Notebooks 04 and 06 start here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pandas as pd

from helpers.annotations import dialogue_values as values
from helpers.annotations.dialogue_values import Design
from helpers.annotations.picks import picks
from helpers.annotations.summary import main_group
from helpers.study.labels import OF_UNIT

#: unit of the target's judgements -> how a design is made from them
_MAKERS: dict[str, Callable[..., Design]] = {
    "dialogue": values.dialogue_design,
    "pair": values.comparative_design,
}


@dataclass(frozen=True)
class Targets:
    """What is predicted from what, in one corpus.

    corpus, group : whose judgements predict. designs : target -> design, `dialogue_quality` and `comparative_quality`
    as far as the study has them. repeats : target -> the same from the first and from the second annotation of what the
    group judged twice. values : one per dialogue or pair and label of the group (`dialogue_values`). n_annotators :
    (method, label) -> people of the group. n_interactors : people whose own ratings are the targets. external : None;
    or `others` where the target was rated by a person who did not talk and the predictors come from other people, or
    `same` where one person gave both. label : that of an external target; by others, it predicts itself.
    """

    corpus: str
    group: str
    designs: dict[str, Design]
    repeats: dict[str, tuple[Design, Design]]
    values: pd.DataFrame
    n_annotators: dict[tuple[str, str], int]
    n_interactors: int
    external: str | None = None
    label: str | None = None


def find(
    annotations: pd.DataFrame,
    dialogues: pd.DataFrame,
    *,
    label: str,
    pick_seed: int,
    group: str | None = None,
    quality_label: str | None = None,
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
    group : str, optional
        Whose judgements predict; by default `main_group` of those who judged the dialogues rated by their interactors.

    quality_label : str, optional
        A label of people who did not talk, to be predicted where no interactor rated `label`. The rating of one of
        them, drawn per dialogue, is the target; the judgements of the others predict it, or those of the same people
        where dialogues have one annotator.

    Returns
    -------
    Targets, of the corpus with most of the interactors' ratings, or of the external ones.

    Raises
    ------
    ValueError
        Where nobody rated `label` for a dialogue of their own, or nobody else judged these dialogues.
    """
    annotations = annotations[annotations["annotator_kind"] == "human"]
    talked = dialogues.dropna(subset=["interactor"]).drop_duplicates(["corpus", "dialogue"])
    annotations = annotations.merge(talked[["corpus", "dialogue", "interactor"]], how="left", on=["corpus", "dialogue"])
    mine = (annotations["annotator"] == annotations["interactor"]).fillna(False).to_numpy(dtype=bool)
    rated = annotations[mine & (annotations["label"] == label).to_numpy()]
    rated = rated[~rated["method"].isin(OF_UNIT["turn"])]
    if rated.empty and quality_label:
        return _external(annotations, talked, quality_label, pick_seed, group)
    if rated.empty:
        raise ValueError(f"label: nobody rated {label!r} for a dialogue of their own")
    corpus = rated["corpus"].value_counts().index[0]
    here, rated = (annotations["corpus"] == corpus).to_numpy(), rated[rated["corpus"] == corpus]
    others = annotations[here & ~mine & annotations["dialogue"].isin(rated["dialogue"]).to_numpy()]
    if others.empty:
        raise ValueError("annotations: nobody but those who talked judged the dialogues")
    group = main_group(others) if group is None else group
    others = others[others["group"] == group]
    if others.empty:
        raise ValueError(f"group: {group!r} judged none of the dialogues that their interactors rated")
    return _assemble(others.drop(columns="interactor"), rated, talked[talked["corpus"] == corpus], pick_seed)


def _external(annotations: pd.DataFrame, talked: pd.DataFrame, label: str, seed: int, group: str | None) -> Targets:
    rated = annotations[(annotations["label"] == label) & annotations["dialogue_b"].isna()]
    if rated.empty:
        raise ValueError(
            f"importance.quality_label: nobody rated {label!r}; there are {sorted(set(annotations['label']))}"
        )
    corpus, method = rated.groupby(["corpus", "method"]).size().idxmax()
    rated = rated[(rated["corpus"] == corpus) & (rated["method"] == method)]
    group = main_group(rated) if group is None else group
    rated = rated[rated["group"] == group]
    everybody = annotations[(annotations["corpus"] == corpus) & (annotations["group"] == group)]
    drawn = rated.sample(frac=1, random_state=seed).drop_duplicates("dialogue").set_index("dialogue")["annotator"]
    mine = everybody["annotator"] == everybody["dialogue"].map(drawn)
    rated = rated[rated["annotator"] == rated["dialogue"].map(drawn)]
    others, external = everybody[~mine & everybody["dialogue"].isin(drawn.index)], "others"
    if others.empty:
        others, external = everybody[everybody["label"] != label], "same"
    if others.empty:
        raise ValueError(f"importance.quality_label: nothing but {label!r} was judged, so nothing predicts it")
    found = _assemble(others.drop(columns="interactor"), rated, talked[talked["corpus"] == corpus], seed, whole=True)
    return replace(found, external=external, label=label)


def _assemble(
    others: pd.DataFrame, rated: pd.DataFrame, talked: pd.DataFrame, pick_seed: int, *, whole: bool = False
) -> Targets:
    """whole : ratings of turns are the target too, with their mean per dialogue."""
    who = talked.set_index("dialogue")["interactor"]
    order = talked.set_index("dialogue")["order_shown"]
    found = values.dialogue_values(next(picks(others, 1, pick_seed)))
    twice = values.repeated_values(others)
    designs, repeats = {}, {}
    for unit, make in _MAKERS.items():
        of_unit = rated["method"].isin(OF_UNIT[unit])
        own = rated if whole and unit == "dialogue" else rated[of_unit]
        if own.empty:
            continue
        method = own["method"].value_counts().index[0]  # where two methods ask the same, the one asked more
        target = values.dialogue_values(next(picks(own[own["method"] == method], 1, pick_seed)))
        extra = {"order_shown": order} if unit == "pair" else {}
        one = make(found, target, who, **extra)
        if one.x.shape[1]:
            designs[one.target] = one
            repeats[one.target] = tuple(make(v, target, who, **extra) for v in twice)
    return Targets(
        corpus=str(rated["corpus"].iloc[0]),
        group=str(others["group"].iloc[0]),
        designs=designs,
        repeats=repeats,
        values=found,
        n_annotators=values.count_annotators(others),
        n_interactors=int(rated["annotator"].nunique()),
    )
