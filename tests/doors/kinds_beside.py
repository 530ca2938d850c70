"""Files where something stands beside scores: who judged, in a list further out or in each element; comments; what was
asked of people; made ones, with what is right."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from doors.kinds_people import Kind
from doors.kinds_structure import file, right, score

SYSTEMS, PEOPLE = ("NMT", "DeepL"), ("anna", "bob", "cleo", "dora")


def _json(content: Any) -> Callable[[Path], list[Path]]:
    return file([[json.dumps(content)]], "data.json", by="")


def people_further_out(key: str, level: str) -> Kind:
    """Three of four people for each text, in a list beside the replies; their scores in the same order."""
    who = {i: random.Random(i).sample(PEOPLE, 3) for i in range(12)}
    held = {(i, s, a): [score(i, s, a, q) for q in "fu"] for i in who for s in SYSTEMS for a in who[i]}
    records = [
        {"context": f"what was said to both in case {i}, at some length", key: who[i]}
        | {level: [{"model": s, "reply": f"the reply of {s} to number {i}, as long"} for s in SYSTEMS]}
        for i in who
    ]
    for i, record in enumerate(records):
        for reply in record[level]:
            one = [held[i, reply["model"], a] for a in who[i]]
            reply |= {"fluent": [f for f, _ in one], "useful": [u for _, u in one]}
    return Kind(_json(records), right(2, 4, 24, *map(list, zip(*held.values(), strict=True))))


def people_in_each(id_: str, said: str) -> Kind:
    """Elements of a list with the number of who judged, below a name that says nothing."""
    rows = [(i, a, score(i, a)) for i in range(30) for a in random.Random(i).sample(range(101, 301, 8), 3)]
    records = [
        {"t": f"a text of some length to be read, number {i}", said: [{id_: a, "z": s} for j, a, s in rows if i == j]}
        for i in range(30)
    ]
    known = {"Who judged?": f"the key {id_!r}"}
    return Kind(_json(records), right(1, 25, 30, [s for *_, s in rows]), known)


def comments(end: str) -> Kind:
    """A comment beside each score, two of which have names that end alike."""
    labels = ("validating_emotions", "dismissing_emotions", "advice_giving")
    head = ["user_id", "conversation_id", *(f"{q}{x}" for q in labels for x in ("", end))]
    held = [[score(i, a, q) for q in labels] for i in range(15) for a in PEOPLE]
    said = [f"what they wrote of number {i} at length" for i in range(3 * len(held))]
    ids = [[a, f"c{i}"] for i in range(15) for a in PEOPLE]
    rows = [[*ids[n], *(x for q in range(3) for x in (held[n][q], said[3 * n + q]))] for n in range(len(held))]
    return Kind(file([head, *rows]), right(1, 4, 15, *map(list, zip(*held, strict=True))))


KINDS = {
    "people further out": people_further_out("annotators", "responses"),
    "people further out, other names": people_further_out("raters", "x"),
    "people in each": people_in_each("k2", "responses"),
    "people in each, other names": people_in_each("w", "votes"),
    **{f"comments {end}": comments(end) for end in ("_example", "_why", "_comment", "_note")},
}


def cases() -> list[Kind]:
    return [kind._replace(name=name) for name, kind in KINDS.items()]
