"""Labels of answers to mark, where annotators marked none: is that an answer?"""

from __future__ import annotations

from typing import Any

import pandas as pd
import yaml

from judgebook.extras.new.asking.doubts import Answer
from judgebook.extras.new.asking.edits import flow
from judgebook.extras.new.spelling import Shape
from judgebook.extras.new.words import ANSWERS, label_id
from judgebook.sources.in_words import counted
from judgebook.study.labels import Label

#: the answer of who marked nothing
NOTHING = "none"


def labels(out: Shape) -> list[Label]:
    """Those of answers without an order, with `NOTHING` as one of them; no label where one has it already."""
    specs = {x: yaml.safe_load(spec) for x, spec in out.labels.items() if "categories" in spec}
    if any(NOTHING in spec["categories"] for spec in specs.values()):
        return []
    yes_no = {x for x, spec in specs.items() if {str(word).lower() for word in spec["categories"]} & {*ANSWERS}}
    free = {x: spec for x, spec in specs.items() if spec.get("level") == "sets" or not ("level" in spec or x in yes_no)}
    return [Label(x, "", x, (0, 1), spec.get("level", "nominal"), categories=(NOTHING,)) for x, spec in free.items()]


def ask(out: Shape, source: dict[str, Any], asked: list[Label], cells: pd.DataFrame) -> None:
    """Ask what it means that nothing is marked: where several answers can be, that none applies.

    cells : the scores of the file, with `NOTHING` where no answer was marked.
    """
    silent = cells[cells["{score}"] == NOTHING]
    name = source["columns"].get("label", "{label}")
    for label in asked:
        n = int((silent[name] == label.id).sum()) if name in silent else len(silent)
        if not n:
            continue
        spec, sets = yaml.safe_load(out.labels[label.id]), label.level == "sets"
        spec["categories"] = [*spec["categories"], NOTHING]
        edits = {f"labels.{label_id(label.id)}.categories": spec["categories"], "sources.*.empty": NOTHING}
        answers = [f"nothing applies (`empty: {NOTHING}`)", "no judgement"]
        how = Answer(answers[sets], {"sources.*.empty": None} if sets else edits)
        text = f"What does it mean where nothing is marked in {label.id!r}?"
        out.ask(f"no answer in {label.id}", text, answers[not sets], how, evidence=counted(n, "annotation"))
        if sets:
            out.labels[label.id], source["empty"] = flow(spec), NOTHING
