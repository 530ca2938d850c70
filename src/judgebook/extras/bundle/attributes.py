"""Attributes of people in judgements, and how many people share a combination of them.

Few who share it can be told apart by those who know them: age and country of a student in a course of twelve.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import pandas as pd

from judgebook.extras.bundle.parts import BundleError

#: people who must share a combination of attributes
FEWEST = 5
#: judgements of a label by which one can see that an annotator always answers the same, and annotators it needs
_ANSWERS, _PEOPLE = 3, 5
_DEMOGRAPHIC = re.compile(
    r"age|birth\w*|born|gender|sex|country|nation\w*|city|town|region|place|location|residence|zip\w*|post(?:al)?code"
    r"|ethnic\w*|race|religio\w*|education\w*|degree|school|university|occupation|profession|job|employ\w*|income|device"
    r"|browser|user_?agent|screen|os|platform|native\w*|mother_?tongue|first_?language|marital\w*|disab\w*|hand(?:edness)?"
    r"|alter|geschlecht|land|beruf|herkunft|muttersprache|edad|sexo|pais|sexe|pays"
)
Note = Callable[[str, str, int], None]


def demographic(name: str) -> bool:
    """Whether a name is that of an attribute of people: one of its words is."""
    text = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    return any(_DEMOGRAPHIC.fullmatch(word) for word in [text, *re.split(r"[\W_]+", text)])


def reviewed(frames: dict[str, pd.DataFrame], note: Note) -> tuple[dict[str, pd.DataFrame], dict[str, int]]:
    """Frames without facts that single people out, and places in the study (corpus, group) that few people share.

    note : is told what was done, where, and of how many people. Raises BundleError for labels that single people out:
    without them the report would be another.
    """
    marks = frames["annotations"]
    people = marks[(marks["annotator_kind"] == "human") & marks["annotator_known"]]
    _refuse_labels(people)
    if "dialogue_facts" in frames:
        facts = frames["dialogue_facts"]
        keys = [key for key in facts["key"].unique() if demographic(key)]
        if keys and (n := _alone(_of_people(facts[facts["key"].isin(keys)], frames, people))):
            for key in keys:
                note("dropped", f"dialogue_facts, key {key}", n)
            frames = frames | {"dialogue_facts": facts[~facts["key"].isin(keys)]}
            if frames["dialogue_facts"].empty:
                del frames["dialogue_facts"]
    where = people.drop_duplicates(["corpus", "group", "annotator"]).groupby(["corpus", "group"]).size()
    return frames, {f"{group} ({corpus})": int(n) for (corpus, group), n in where.items() if n < FEWEST}


def _alone(combinations: pd.Series) -> int:
    """Of how many people fewer than FEWEST share the combination. combinations : one per person."""
    return int((combinations.map(combinations.value_counts()) < FEWEST).sum())


def _of_people(facts: pd.DataFrame, frames: Mapping[str, pd.DataFrame], people: pd.DataFrame) -> pd.Series:
    """The values of facts as a combination per person: of who talked in the dialogue, or judged it."""
    met = people[["corpus", "dialogue", "annotator"]]
    talked = frames.get("dialogues", pd.DataFrame())
    if "interactor" in talked and talked["interactor"].notna().any():
        met = talked[["corpus", "dialogue", "interactor"]].dropna().rename(columns={"interactor": "annotator"})
    rows = facts.merge(met.drop_duplicates(), on=["corpus", "dialogue"])
    return rows.groupby("annotator").apply(_combination, "key", "value", include_groups=False).astype(object)


def _combination(rows: pd.DataFrame, what: str, value: str) -> frozenset:
    return frozenset(rows[[what, value]].astype(str).itertuples(index=False, name=None))


def _refuse_labels(people: pd.DataFrame) -> None:
    """Labels that ask annotators about themselves: by their name, or as everybody always answers the same."""
    by_label = people.groupby("label", sort=False)
    asked = {label: rows for label, rows in by_label if demographic(str(label)) or _constant(rows)}
    if not asked:
        return
    each = pd.concat(asked.values()).groupby("annotator")
    if n := _alone(each.apply(_combination, "label", "score", include_groups=False).astype(object)):
        names = ", ".join(map(str, asked))
        raise BundleError(
            f"labels {names}: expected answers about items, found what tells annotators apart: of {n} people fewer "
            f"than {FEWEST} share the combination. Nothing was written. Leave the labels out "
            f"(`drop: {{label: [{names}]}}`) and run the study again"
        )


def _constant(rows: pd.DataFrame) -> bool:
    """Whether each annotator gives a label one score, and not all give the same."""
    each = rows.groupby("annotator")["score"].agg(["nunique", "size", "first"])
    often = each[each["size"] >= _ANSWERS]
    return len(often) >= _PEOPLE and bool((each["nunique"] == 1).all()) and len(each["first"].unique()) > 1
