"""The YAML that reads what comes back: the same labels and scales, and the key that says what each page was about."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import yaml

from judgebook.extras.annotate.pages import Page
from judgebook.extras.annotate.questions import Question
from judgebook.study.params import Study

#: our columns of a key, where its pages have them
_KEYED = ("corpus", "dialogue", "system", "turn", "dialogue_b", "system_b", "session", "context", "first_shown")
KEY = "key.jsonl"
#: whoever gives all intended answers passes the training
PASSES = {"deciding_dialogue": "all", "other_tasks_below": 1}


def text(study: Study, tool: ModuleType, method: str, asked: list[Question], pages: list[Page]) -> str:
    """The YAML of a study of the answers, to stand in the project's folder.

    Parameters
    ----------
    tool : `label_studio` or `potato`: says where answers stand in its export.
    """
    keys = {column for page in pages for column in page.key}
    columns = {**tool.SOURCE["columns"], **{c: f"item.{c}" for c in _KEYED if c in keys}}
    kinds = dict.fromkeys("options" if question.options else "number" for question in asked)
    paths = list(dict.fromkeys(tool.SCORES[kind] for kind in kinds))
    source: dict[str, Any] = {
        "adapter": "records",
        "file": tool.EXPORT,
        "scores": paths[0] if len(paths) == 1 else paths,
        "columns": columns,
        "join": [{"file": KEY, "name": "item", "by": tool.SOURCE["by"], "key": "id"}],
    }
    source |= {"drop": tool.SOURCE["drop"]} if tool.SOURCE["drop"] else {}
    own = [f"item.{column}" for column in sorted(keys - {*_KEYED, "id"})]
    source |= {"skip_columns": [*tool.SOURCE["skip_columns"], *own]}
    values = {
        spelt: float(option.score)
        for question in asked
        if not question.label.categories
        for option in question.options
        for spelt in (option.code, option.shown)
        if spelt != f"{option.score:g}"
    }
    source |= {"values": values} if values else {}
    renamed = {question.name: question.label.id for question in asked if question.name != question.label.id}
    source |= {"label_names": renamed} if renamed else {}
    systems = {str(page.item[c]) for page in pages for c in ("system", "system_b") if c in page.item}
    out: dict[str, Any] = {"title": f"{study.title}: annotated", "method": method, "sources": [source]}
    out |= {"labels": {question.name: _label(question) for question in asked}}
    shown = {system: name for system, name in study.systems.items() if system in systems}
    out |= {"systems": shown} if shown else {}
    out |= {"simulated": True} if study.simulated else {}
    out |= _training(study, asked, pages)
    head = "# Reads the annotators' answers from the export saved in the same folder. See docs/annotate.md.\n"
    return head + yaml.safe_dump(out, sort_keys=False, allow_unicode=True, width=110)


def _training(study: Study, asked: list[Question], pages: list[Page]) -> dict[str, Any]:
    """The training items of this project with the intended answers to what is asked, and when an annotator passes."""
    trained = {(p.item["dialogue"], p.item.get("dialogue_b"), p.item.get("turn")) for p in pages if p.phase != "main"}
    labels = {question.label.id for question in asked}
    items = [
        item.model_dump(exclude_defaults=True) | {"answers": {k: v for k, v in item.answers.items() if k in labels}}
        for item in study.elicitation.training
        if (item.dialogue, item.dialogue_b, item.turn) in trained
    ]
    return {"elicitation": {"training": items}, "pilot": PASSES} if items else {}


def _label(question: Question) -> dict[str, Any]:
    label = question.label
    out: dict[str, Any] = {} if question.name == label.id else {"id": label.id}
    out |= {"title": label.title} | ({"direction": label.direction} if label.direction_declared else {})
    out |= {"level": label.level}
    if label.categories:
        out |= {"categories": list(label.categories)}
        out |= {} if label.level == "sets" else {"scale": [float(end) for end in label.scale]}
    else:
        out |= {"scale": [float(end) for end in label.scale]}
    out |= {"task": label.task} if label.task else {}
    return out | ({} if label.integer else {"integer": False})
