"""Targets rated by people who did not talk, and who may predict them: whoever gave a rating predicts nothing there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from judgebook.annotations.summary import judged_by, main_group

People = str | Sequence[str] | None
Parts = Mapping[str, Sequence[str]]


def by(annotations: pd.DataFrame, people: People, parts: Parts, key: str) -> pd.DataFrame:
    """`judged_by`. Raises ValueError, naming the key of the YAML, for a group or part that is none of the study's."""
    named = [people] if isinstance(people, str) else list(people or ())
    known = {*annotations["group"], *parts}
    if unknown := [name for name in named if name not in known]:
        raise ValueError(f"importance.{key}: {unknown[0]!r} judged none of the dialogues; there are {sorted(known)}")
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
            known = sorted(set(annotations["label"]))
            raise ValueError(f"importance.quality_label: nobody rated {label!r}; there are {known}")
        single = rated[rated["dialogue_b"].isna()]
        self.corpus = (single if len(single) else rated)["corpus"].value_counts().index[0]
        self.everybody = annotations[annotations["corpus"] == self.corpus]
        rated = rated[rated["corpus"] == self.corpus]
        self.named, self.label, self.rating, self.parts = group is not None, label, rating, parts
        if quality_group is None:
            quality_group = self._own(rated, group)
            group = quality_group if group is None else group
        self.rated = by(rated, quality_group, parts, "quality_group")
        self.group = main_group(self.everybody) if group is None else group

    def _own(self, rated: pd.DataFrame, group: People) -> People:
        """Those of the predictors who gave ratings of the target; of all others, the main group."""
        if group is not None and len(own := judged_by(rated, group, self.parts)):
            return sorted(set(own["group"]))
        single = rated[rated["dialogue_b"].isna()]
        return main_group(single if len(single) else rated)

    def sides(self, seed: int) -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:
        """unit (dialogue, pair) -> ratings that are the target, and judgements that predict them. seed : of draws.

        Raises ValueError where there are none.
        """
        predicting = by(self.everybody, self.group, self.parts, "group")
        pairs, sides = self.rated["dialogue_b"].notna(), {}
        for unit, own in {"dialogue": self.rated[~pairs], "pair": self.rated[pairs]}.items():
            if own.empty:
                continue
            own = most_asked(own)
            own = _drawn(own, seed) if self.rating == "one" else own
            others = _by_others(predicting, own)
            if others.empty and not self.named:
                others, self.external = predicting[predicting["label"] != self.label], "same"
            if len(others):
                sides[unit] = (own, others)
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
    mine = pd.MultiIndex.from_arrays([about["dialogue"], _who(about)]).isin(pd.MultiIndex.from_frame(gave))
    return about[~mine]
