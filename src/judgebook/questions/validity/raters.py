"""Ratings and choices by people who did not talk, as what is predicted, and judgements by others of the same dialogues.

No person provides both sides of a relation, unless every dialogue has one annotator only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import pandas as pd

from judgebook.annotations.summary import judged_by, main_group
from judgebook.study.schema import Annotations

#: groups or parts of groups; None: those that the study leaves open
People: TypeAlias = str | Sequence[str] | None
#: part of a group -> its annotators
Parts: TypeAlias = Mapping[str, Sequence[str]]


def judged_by_named(annotations: Annotations, people: People, parts: Parts, key: str) -> Annotations:
    """`judged_by`. Raises ValueError, naming the key of the YAML, for a group or part that is none of the study's."""
    named = [people] if isinstance(people, str) else list(people or ())
    names = {*annotations["group"], *parts}
    if unknown := [name for name in named if name not in names]:
        raise ValueError(f"importance.{key}: {unknown[0]!r} judged none of the dialogues; there are {sorted(names)}")
    return judged_by(annotations, named, parts)


class External:
    """Ratings and choices by people who did not talk, and what others judged of the same dialogues.

    Parameters as in `targets.find`. external : `others`, or, once there are `sides`, `same` where one person gave both.
    """

    external = "others"

    def __init__(
        self,
        annotations: Annotations,
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

    def sides(self, seed: int) -> dict[str, tuple[Annotations, Annotations]]:
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
