"""A project for Label Studio: its labelling interface, its tasks, and its settings as its API takes them."""

from __future__ import annotations

import json
import re
from typing import Any
from xml.etree import ElementTree

from judgebook.extras.annotate.pages import Page, Texts, clean
from judgebook.extras.annotate.questions import Question
from judgebook.study import escape

#: what is judged, and what the answers belong to
_TARGET = {"turn": "response", "dialogue": "dialogue", "pair": "dialogue"}
#: how an export is read: where answers stand, and which keys of it name what
SCORES = {
    "options": "annotations.[].result.[].value.choices.[]",
    "number": "annotations.[].result.[].value.number",
}
SOURCE: dict[str, Any] = {
    "columns": {
        "label": "annotations.[].result.[].from_name",
        "annotator": "annotations.[].completed_by",
        "work_unit": "annotations.[].id",
        "seconds": "annotations.[].lead_time",
    },
    "by": "data.item",
    "drop": {"annotations.[].was_cancelled": True},
    "skip_columns": ["data.*"],
}
EXPORT = "export.json"
STEPS = """\
1. `pip install label-studio`, `label-studio start`, and create a project.
2. Settings → Labeling Interface → Code: paste `config.xml`. Import: `tasks.json`.
   Or by the API, with the address and an access token of your server:

       curl -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" -d @project.json $URL/api/projects
       curl -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" -d @tasks.json \\
         $URL/api/projects/ID/import

3. Give each annotator a tab of the Data Manager with the filter `person` = 1, 2, …, ordered by task id (`tabs.json` has
   them for `POST /api/dm/views`, with the project's number filled in), and ask them to open their tab and press
   *Label All Tasks*. Each task is for one annotator; items that two annotators judge occur twice.
4. Project → Export → JSON; save the file here as `export.json`.
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
    xml = config(instructions, unit, asked, trained=any(p.phase == "training" for p in pages))
    settings = {
        "title": clean(title)[:50],
        "expert_instruction": _html(instructions),
        "show_instruction": bool(instructions),
        "label_config": xml,
        "sampling": "Sequential sampling",
        "maximum_annotations": 1,
        "show_skip_button": True,
    }
    people = sorted({page.person for page in pages})
    return {
        "config.xml": xml,
        "project.json": json.dumps(settings, ensure_ascii=False, indent=1) + "\n",
        "tasks.json": json.dumps([task(p, unit, texts) for p in pages], ensure_ascii=False, indent=1) + "\n",
        "tabs.json": json.dumps([_tab(person) for person in people], indent=1) + "\n",
    }


def config(instructions: str, unit: str, asked: list[Question], *, trained: bool = False) -> str:
    """The labelling interface as XML. Texts are attributes: ElementTree escapes them, `_literal` what Label Studio
    would fill in."""
    root = ElementTree.Element("View")
    if instructions:
        _add(root, "Header", value=_literal(instructions), size="5")
    options = {"layout": "dialogue", "nameKey": "author", "textKey": "text"}
    if unit == "pair":
        row = _add(root, "View", style="display: flex; gap: 1em")
        for name, side in (("dialogue", "A"), ("dialogue_b", "B")):
            column = _add(row, "View", style="flex: 1")
            _add(column, "Header", value=f"Dialogue {side}")
            _add(column, "Paragraphs", name=name, value=f"${name}", **options)
    elif unit == "turn":
        _add(root, "Header", value="What was said before")
        _add(root, "Paragraphs", name="history", value="$history", **options)
        _add(root, "Header", value="The response to judge")
        _add(root, "Text", name="response", value="$response")
    else:
        _add(root, "Paragraphs", name="dialogue", value="$dialogue", **options)
    for question in asked:
        _question(root, question, _TARGET[unit])
    if trained:
        panel = _add(_add(root, "Collapse"), "Panel", value="Training: the intended answers (open after answering)")
        _add(panel, "Text", name="why", value="$why")
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _question(root: ElementTree.Element, question: Question, target: str) -> None:
    _add(root, "Header", value=_literal(question.text), size="5")
    same = {"name": question.name, "toName": target, "required": "true"}
    if question.options:
        choice = "multiple" if question.several else "single"
        choices = _add(root, "Choices", **same, choice=choice, showInline="true")
        for option in question.options:
            _add(choices, "Choice", alias=clean(option.code), value=_literal(option.shown))
    else:
        low, high = question.label.scale
        step = {"step": "1"} if question.label.integer else {}
        _add(root, "Number", **same, min=f"{low:g}", max=f"{high:g}", **step)


def task(page: Page, unit: str, texts: Texts) -> dict[str, Any]:
    """A task: texts, and nothing that names the system."""
    if unit == "turn":
        shown: dict[str, Any] = {"history": texts.turns(page), "response": texts.response(page)}
    else:
        shown = {"dialogue": texts.turns(page)}
        shown |= {"dialogue_b": texts.turns(page, "dialogue_b")} if unit == "pair" else {}
    return {"data": {"item": page.id, "person": page.person, **shown, "why": page.why or "–"}}


def _add(parent: ElementTree.Element, tag: str, **attributes: str) -> ElementTree.Element:
    return ElementTree.SubElement(parent, tag, attributes)


def _literal(text: str) -> str:
    """Text in which Label Studio fills in nothing: `$name` would be the task's `name`."""
    return re.sub(r"\$(?=[\w\[\].{}])", "$\u200b", " ".join(clean(text).split()))


def _html(text: str) -> str:
    return escape.html(clean(text)).replace("\n", "<br>")


def _tab(person: int) -> dict[str, Any]:
    only = {"filter": "filter:tasks:data.person", "operator": "equal", "type": "Number", "value": person}
    filters = {"conjunction": "and", "items": [only]}
    return {"data": {"title": f"Annotator {person}", "type": "list", "filters": filters, "ordering": ["tasks:id"]}}
