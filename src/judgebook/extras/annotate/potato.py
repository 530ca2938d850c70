"""A project for Potato: its configuration and its items."""

from __future__ import annotations

import json
from typing import Any

import yaml

from judgebook.extras.annotate.pages import Page, Texts, clean
from judgebook.extras.annotate.questions import Question
from judgebook.study import escape

#: sorts after the key: of the files beside an export `new` takes the first that holds its ids
DATA = "tasks.jsonl"
SCORES = {"options": "labels.{label}.{score}", "number": "labels.{label}.{score}"}
SOURCE: dict[str, Any] = {"columns": {"annotator": "user_id"}, "by": "instance_id", "drop": {}, "skip_columns": []}
EXPORT = "annotations.jsonl"
STEPS = """\
1. `pip install potato-annotation`; in this folder `potato start config.yaml -p 8000`.
2. Annotators register at that address. The first is given the pages of annotator 1, the next those of annotator 2, …;
   items that two annotators judge are among the pages of both.
3. Then, in this folder, `python -m potato.export -c config.yaml -f jsonl -o .` writes `annotations.jsonl`.
"""


def files(
    title: str,
    instructions: str,
    unit: str,
    asked: list[Question],
    pages: list[Page],
    texts: Texts,
) -> dict[str, str]:
    """Name -> text of the project's files.

    Parameters
    ----------
    unit : turn, dialogue or pair.
    """
    people: dict[int, list[str]] = {}
    for page in pages:
        people.setdefault(page.person, []).append(page.id)
    shown = [_field("instructions", "text", "")] if instructions else []
    if unit == "turn":
        shown += [
            _field("history", "dialogue", "What was said before"),
            _field("response", "text", "The response to judge"),
        ]
    else:
        shown.append(_field("dialogue", "dialogue", "Dialogue A" if unit == "pair" else "Dialogue"))
        shown += [_field("dialogue_b", "dialogue", "Dialogue B")] if unit == "pair" else []
    if any(page.phase == "training" for page in pages):
        closed = {"collapsible": True, "collapsed_by_default": True}
        shown.append(_field("why", "text", "Training: the intended answers (open after answering)", **closed))
    groups = [
        {"name": f"annotator {person}", "max_annotators": 1, "instances": ids} for person, ids in sorted(people.items())
    ]
    config = {
        "annotation_task_name": clean(title)[:100],
        "task_dir": ".",
        "output_annotation_dir": "annotation_output/",
        "data_files": [DATA],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "annotation_schemes": [scheme(question) for question in asked],
        "instance_display": {
            "layout": {"direction": "horizontal" if unit == "pair" else "vertical"},
            "fields": shown,
        },
        "assignment_strategy": "batch",
        "batch_assignment": {"auto_assign_annotators": True, "groups": groups},
        "num_annotators_per_item": 1,
    }
    items = (json.dumps(item(p, unit, texts, instructions), ensure_ascii=False) for p in pages)
    return {
        "config.yaml": yaml.safe_dump(config, sort_keys=False, allow_unicode=True, width=120),
        DATA: "\n".join(items) + "\n",
    }


def _field(key: str, kind: str, label: str, **options: Any) -> dict[str, Any]:
    given = {"display_options": options} if options else {}
    return {"key": key, "type": kind, "label": label, **given}


def scheme(question: Question) -> dict[str, Any]:
    """A question as an annotation scheme. Descriptions are shown as HTML by Potato: they are escaped here."""
    out: dict[str, Any] = {"name": question.name, "description": escape.html(clean(question.text), quote=False)}
    required = {"label_requirement": {"required": True}}
    if question.options:
        names = [{"name": clean(option.shown)} for option in question.options]
        kind = "multiselect" if question.several else "radio"
        return {"annotation_type": kind, **out, "labels": names, "horizontal": True, **required}
    low, high = question.label.scale
    if question.label.integer:
        ends = {"min_value": round(low), "max_value": round(high), "starting_value": round((low + high) / 2)}
        return {"annotation_type": "slider", **out, **ends, **required}
    return {"annotation_type": "number", **out, "min_value": low, "max_value": high, **required}


def item(page: Page, unit: str, texts: Texts, instructions: str = "") -> dict[str, Any]:
    """An item: texts, and nothing that names the system."""
    out: dict[str, Any] = {"id": page.id}
    if unit == "turn":
        out |= {"history": _turns(texts.turns(page)), "response": texts.response(page)}
    else:
        out |= {"dialogue": _turns(texts.turns(page))}
        out |= {"dialogue_b": _turns(texts.turns(page, "dialogue_b"))} if unit == "pair" else {}
    # what Potato asks every item to have; the fields above are what is shown
    out["text"] = escape.html(out.get("response") or " / ".join(turn["text"] for turn in out["dialogue"]))
    return out | {"why": page.why or "–"} | ({"instructions": clean(instructions)} if instructions else {})


def _turns(turns: list[dict[str, str]]) -> list[dict[str, str]]:
    return [{"speaker": turn["author"], "text": turn["text"]} for turn in turns]
