"""What was judged, by whom and how often: the rows of studies.csv and labels.csv."""

from __future__ import annotations

from typing import Any

import pandas as pd

from compendium.atlas import tables
from compendium.atlas.declared import About
from judgebook.questions.planning.assumed import points
from judgebook.study.labels import METHODS, Label
from judgebook.study.schema import CELL, ITEM, Annotations
from judgebook.summary.evidence import Evidence, parts

#: the name that dialogues get where nothing names their system
_UNNAMED = "system"


def study_row(evidence: Evidence, about: About) -> dict[str, Any]:
    """What studies.csv says of the judgements of a study; where they come from is `computing.provenance`."""
    people = evidence.people
    items = people[["corpus", "method", "dialogue", "dialogue_b", "turn"]].drop_duplicates()
    head = {"study": evidence.study.key, "title": evidence.study.title, "genre": about.genre}
    return head | {"judgements": len(people), "items": len(items), **_who_and_what(people)}


def label_rows(evidence: Evidence, about: About) -> pd.DataFrame:
    """Rows of labels.csv: one for each corpus, group, method and label that people judged."""
    labels = {(label.method, label.id): label for label in evidence.study.label_list()}
    main = parts(evidence)[0][:2]
    rows = []
    for (corpus, group, method, label), judged in evidence.people.groupby(CELL, sort=False, observed=True):
        row = dict(zip(CELL, (corpus, group, method, label), strict=True))
        row |= {"study": evidence.study.key, "main": int((corpus, group) == main), "kind": about.labels[label]}
        row |= {"judges": about.who(group), "aggregated": int(about.of_several(group)), "unit": METHODS[method].unit}
        rows.append(row | _of_scale(labels[method, label]) | _sizes(judged) | _who_and_what(judged))
    return pd.DataFrame(rows)[tables.columns("labels")]


def _of_scale(label: Label) -> dict[str, Any]:
    low, high = label.scale
    row = {"level": label.level, "low": low, "high": high, "points": points(label)}
    return row | {"direction": label.direction}


def _sizes(judged: Annotations) -> dict[str, int]:
    times = judged.groupby(ITEM, dropna=False, observed=True).size()
    return {"judgements": len(judged), "items": len(times), "twice": int((times > 1).sum())}


def _who_and_what(judged: Annotations) -> dict[str, Any]:
    systems = {*judged["system"].dropna(), *judged["system_b"].dropna()} - {_UNNAMED}
    people = judged["annotator"].nunique() if judged["annotator_known"].all() else None
    return {"people": people, "systems": len(systems)}
