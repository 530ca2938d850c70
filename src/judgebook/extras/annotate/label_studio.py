"""A project for Label Studio: its questions (each label with its definition and answers), its interface, its tasks."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from judgebook.extras.annotate.pages import Page, Texts, clean
from judgebook.study.definitions import definitions, ends, forced
from judgebook.study.labels import METHODS, Label
from judgebook.study.params import Study

#: scales with more steps are asked for as a number
_MOST_STEPS = 11
#: what the ends of a scale are called unless a paper's wording names them
LEAST_MOST = ("least", "most")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.\-]{0,63}")
#: what is judged, and what the answers belong to
_TARGET = {"turn": "response", "dialogue": "dialogue", "pair": "dialogue"}


@dataclass(frozen=True)
class Option:
    """An answer. code : as a tool should store it. shown : as annotators read it. score : what it means."""

    code: str
    shown: str
    score: float


@dataclass(frozen=True)
class Question:
    """name : the label as the tool calls it. options : none where a number is asked for. several : more than one of
    the options may be chosen. ends : what the smallest and the largest score are called."""

    name: str
    label: Label
    definition: str
    options: tuple[Option, ...]
    ends: tuple[str, str] = LEAST_MOST

    @property
    def several(self) -> bool:
        return self.label.level == "sets"

    @property
    def text(self) -> str:
        """Title and definition, and on a scale what its ends mean."""
        asked = f"{self.label.title}: {self.definition}" if self.definition else self.label.title
        if METHODS[self.label.method].unit == "pair" or self.label.binary or self.label.categories:
            return asked
        low, high = (f"{end:g}" for end in self.label.scale)
        return f"{asked} ({low} = {self.ends[0]}, {high} = {self.ends[1]})"


def questions(study: Study, method: str, only: list[str] | None = None) -> list[Question]:
    """The questions of a method, in the order of the study's labels.

    Parameters
    ----------
    method : a key of `labels.METHODS`.
    only : labels to ask about; None: all.
    """
    labels = [x for x in study.label_list() if x.method == method and (not only or x.id in only)]
    words = {word for label in labels for word in label.categories}
    defined, called, chosen = definitions(study, method), ends(study, method), forced(study, method)
    return [
        Question(
            label.id if _NAME.fullmatch(label.id) else f"label_{n}",
            label,
            defined.get(label.id, ""),
            tuple(o for o in _options(label, words) if o.score or label.id not in chosen),
            called.get(label.id, LEAST_MOST),
        )
        for n, label in enumerate(labels, 1)
    ]


def _options(label: Label, words: set[str]) -> tuple[Option, ...]:
    low, high = label.scale
    if METHODS[label.method].unit == "pair":
        sides = [("1", "A is better", 1), ("0", "neither", 0), ("-1", "B is better", -1)]
        return tuple(_distinct(*side, words) for side in sides if low <= side[2] <= high)
    if label.categories:
        return tuple(Option(word, word, low + n) for n, word in enumerate(label.categories))
    if label.binary:
        return _distinct("0", "No", 0, words), _distinct("1", "Yes", 1, words)
    if label.integer and high - low < _MOST_STEPS:
        return tuple(Option(str(n), str(n), n) for n in range(round(low), round(high) + 1))
    return ()


def _distinct(code: str, shown: str, score: float, words: set[str]) -> Option:
    """An option that is not spelt as an answer of another label whose words mean something else."""
    return Option(code, f"{shown} ({code})" if shown in words else shown, score)


def files(instructions: str, unit: str, asked: list[Question], pages: list[Page], texts: Texts) -> dict[str, str]:
    """Name -> text of the project's files.

    Parameters
    ----------
    unit : turn, dialogue or pair.
    """
    tasks = json.dumps([task(page, unit, texts) for page in pages], ensure_ascii=False, indent=1)
    trained = any(page.phase == "training" for page in pages)
    return {"config.xml": config(instructions, unit, asked, trained=trained), "tasks.json": tasks + "\n"}


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
