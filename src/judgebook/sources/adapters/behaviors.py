"""Behaviour marks by two people, a language model and classifiers (Finch, Paek & Choi 2023, GPT-ABCEval).

The file maps a dialogue to its turns: `{user, system, behaviors: {label: {human: [a, b], gpt: g, specialized: s}}}`.
The two human marks are positions in a list, not fixed people; some labels have no specialised classifier.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from judgebook.sources import json_text
from judgebook.sources.adapters.options.behaviors import Behaviors
from judgebook.sources.files import read_json
from judgebook.sources.reading import Counts, OpenFile, Reading
from judgebook.study.schema import Problem

JUDGES = {"gpt": ("chatgpt", "llm"), "specialized": ("specialized", "classifier")}
_MARK = [
    "annotator",
    "annotator_known",
    "annotator_kind",
    "score",
    "label",
    "system",
    "dialogue",
    "session",
    "turn",
    "where",
]
_TURN = ["system", "dialogue", "session", "turn", "user_text", "system_text"]


def read(source: Behaviors, open_file: OpenFile) -> Reading:
    """One annotation per mark: `pos0`, `pos1` for people, `chatgpt` and `specialized` for models.

    The system is the text after the first `_` of the dialogue id, the session the text before it.
    """
    data = read_json(open_file(source.file), source.file)
    marks: list[tuple] = []
    texts: list[tuple] = []
    problems: list[Problem] = []
    for dialogue, turns in data.items():
        session, _, system = dialogue.partition("_")
        if not isinstance(turns, list) or not system:
            expected = "an id `<session>_<system>` with a list of turns"
            problems.append(Problem(source.file, f"dialogue {dialogue}", "", expected, json_text.kind(turns), _MEND))
            continue
        for turn, entry in enumerate(turns):
            where = f"dialogue {dialogue}, turn {turn}"
            if not isinstance(entry, dict) or not isinstance(entry.get("behaviors"), dict):
                expected = "{user, system, behaviors}"
                problems.append(Problem(source.file, where, "behaviors", expected, json_text.kind(entry)[:80], _MEND))
                continue
            place = (system, dialogue, session, turn)
            texts.append((*place, *(_text(entry, key, where, source.file, problems) for key in ("user", "system"))))
            for label, by in entry["behaviors"].items():
                people = by.get("human") if isinstance(by, dict) else None
                if people is not None and not isinstance(people, list):
                    expected = "a list of marks, one per person"
                    content = json_text.kind(people)[:80]
                    problems.append(Problem(source.file, where, f"{label}.human", expected, content, _MEND))
                    continue
                marks += [(*judged, label.replace(" ", "_"), *place, where) for judged in _judges(by)]
    annotations = pd.DataFrame(marks, columns=_MARK).assign(method="behavior", file=source.file)
    counts = Counts()
    counts.add_kept(source.file, dialogues=len(data), turns=len(texts), annotations=len(marks))
    return Reading(annotations, pd.DataFrame(texts, columns=_TURN), counts=counts, problems=problems)


_MEND = "correct it, or read the file with `adapter: records`"


def _text(entry: dict, key: str, where: str, file: str, problems: list[Problem]) -> str | None:
    text = entry.get(key)
    if text is None or isinstance(text, str):
        return text
    problems.append(Problem(file, where, key, "text", json_text.kind(text)[:80], _MEND))
    return None


def _judges(by: Any) -> list[tuple[str, bool, str, Any]]:
    """(annotator, known, kind, score) of one label of one turn."""
    if not isinstance(by, dict):
        return [("pos0", False, "human", by)]
    human = by.get("human") or []
    people = [(f"pos{i}", False, "human", score) for i, score in enumerate(human)]
    return people + [(name, True, kind, by[key]) for key, (name, kind) in JUDGES.items() if by.get(key) is not None]
