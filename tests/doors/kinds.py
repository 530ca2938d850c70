"""Files of one kind that reports of bugs told of, with what they hold; `kinds_<name>` makes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from doors import reading
from doors.made import Case
from doors.reading import Judgement

SHARED = Path(__file__).resolve().parents[3] / "shared" / "doors_2026-11-29"


@dataclass
class Kind(Case):
    """answer : the beginning of a question, and of the answer to it that is right; others are answered by Enter.
    counts : what the file holds where `truth` is empty."""

    answer: tuple[str, str] | None = None
    counts: dict[str, Any] = field(default_factory=dict)

    def read(self, folder: Path) -> list[str]:
        """What differs from what is right after Enter at each question, or the answer that is right."""
        return differs(self, folder)


def released(name: str, *, systems: int, people: int | None, labels: dict[str, int], items: int) -> Kind:
    """A file that was released. people : None where the file does not say. labels : with the number of judgements."""
    counts = {"systems": systems, "people": people, "labels": labels, "items": items}
    return Kind(name, {name: b""}, [], counts=counts)


def _typed(case: Kind) -> Callable[[str], str]:
    def ask(prompt: str) -> str:
        text, *lines = prompt.splitlines()
        if case.answer and text.partition(": ")[2].startswith(case.answer[0]):
            choices = [line.split(None, 1)[1] for line in lines if line[:3].strip().isdecimal()]
            return str(1 + next(i for i, c in enumerate(choices[:4]) if c.startswith(case.answer[1])))
        return ""

    return ask


def differs(case: Kind, folder: Path) -> list[str]:
    if case.counts:
        (folder / case.name).write_bytes((SHARED / case.name).read_bytes())
        seen = counted(reading.rows(folder / case.name))
        return [f"{k}: expected {v}, read {seen[k]}" for k, v in case.counts.items() if seen[k] != v]
    found = reading.read(case.write(folder), case.truth, case.directions, _typed(case))
    return [] if found.outcome == reading.RIGHT else found.differs or [found.said]


def counted(rows: list[Judgement]) -> dict[str, Any]:
    people = {r.annotator for r in rows}
    return {
        "systems": len({r.system for r in rows} | {r.other for r in rows if r.other}),
        "people": None if None in people else len(people),
        "labels": dict(Counter(r.label for r in rows)),
        "items": len({r.item for r in rows}),
    }
