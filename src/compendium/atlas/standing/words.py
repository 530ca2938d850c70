"""What labels of a study are about, and whether enough public studies have labels like them.

Every run asks this, so nothing heavy is imported.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from functools import cache

from compendium.atlas import declared
from judgebook.questions.planning.assumed import form_of, points
from judgebook.study.labels import METHODS
from judgebook.study.params import Study

#: public studies, at least, that a label is compared with
FEWEST = 5


@cache
def _labels() -> list[dict[str, str]]:
    with (declared.FOLDER / "labels.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def problem(study: Study) -> str:
    """Which word of the YAML is not one of the atlas; empty where none is."""
    words = declared.kinds()
    for id_, spec in study.labels.items():
        if spec.about and spec.about not in words:
            return f"labels.{id_}.about: expected one of {', '.join(words)}, found {spec.about!r}"
    return ""


def comparable(study: Study) -> bool:
    """Whether some label may have a strip. A study that says what a label is about always may, if only to be told which
    words there are."""
    if any(spec.about for spec in study.labels.values()):
        return True
    about = kinds(study)
    if not about:
        return False
    studies: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in _labels():
        if row["aggregated"] == "0" and row["study"] != study.key:
            n_points = float(row["points"]) if row["points"] else None
            studies[row["kind"], form_of(row["level"], n_points, row["unit"])].add(row["study"])
    own = {(label.method, label.id): label for label in study.label_list()}
    asked = {(kind, form_of(own[key].level, points(own[key]), METHODS[key[0]].unit)) for key, kind in about.items()}
    return any(len(studies[words]) >= FEWEST for words in asked if words[1])


def kinds(study: Study) -> dict[tuple[str, str], str]:
    """(method, label) -> what it is about: as the YAML says, else as the atlas does, which has labels of its own
    studies, else its id, if that is a word of the atlas."""
    of_atlas = {(row["method"], row["label"]): row["kind"] for row in _labels() if row["study"] == study.key}
    stated = {spec.id or id_: spec.about for id_, spec in study.labels.items() if spec.about}
    vocabulary = declared.kinds()
    out = {}
    for label in study.label_list():
        own = label.id if label.id in vocabulary else None
        if kind := stated.get(label.id) or of_atlas.get((label.method, label.id)) or own:
            out[label.method, label.id] = kind
    return out
