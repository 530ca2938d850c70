"""What `new` makes of a file, held against the judgements that the file holds.

Judgements are compared by a fingerprint that names of people and items do not enter: scores by label and system, and
which of them share an item or an annotator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from judgebook.extras.new.asking.terminal import carried, settle
from judgebook.extras.new.draft import drafted
from judgebook.sources import build
from judgebook.study import params
from judgebook.study.schema import DataError

RIGHT, ASKED, REFUSED, WRONG, CRASHED = "right", "asked", "refused", "silently wrong", "crashed"
#: fact of a fingerprint -> beginnings of the facts of questions that are about it
ABOUT = {
    "labels": ("label", "no answer", "annotator", "comparison", "metric", "repeats", "spelling"),
    "scores by system": ("system", "winner", "no answer", "comparison", "repeats", "spelling"),
    "items": ("item", "system", "repeats", "spelling"),
    "annotators": ("annotator", "judges", "repeats", "spelling"),
    "who judged what": (
        *("system", "winner", "no answer", "comparison", "item", "annotator", "judges", "repeats", "spelling"),
    ),
}


class Judgement(NamedTuple):
    """A score as a case means it. annotator : None where the file does not say. other : of a pair, the second."""

    item: str
    system: str
    annotator: str | None
    label: str
    score: float
    other: str | None = None


@dataclass
class Reading:
    """What became of a file. said : the YAML, or the message of a refusal. differs : facts that are not as expected.
    asked : facts of the questions that are open."""

    outcome: str
    said: str
    differs: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


def _groups(keys: Iterable[Any], held: Iterable[Any]) -> Counter:
    """How often each multiset of scores shares a key."""
    frame = pd.DataFrame({"key": list(keys), "held": list(held)})
    return Counter(tuple(sorted(map(str, rows))) for _, rows in frame.groupby("key", dropna=False)["held"])


def _known_by_others(rows: list[Judgement], scored: list[tuple]) -> Counter:
    """How often each judgement comes, its item and annotator known by their other judgements, and those by theirs."""
    items = [(r.item, r.system, r.other) for r in rows]
    people = [r.annotator for r in rows]
    of_item, of_person = [0] * len(rows), [0] * len(rows)
    for _ in range(3):
        held = [hash(x) for x in zip(map(str, scored), of_item, of_person, strict=True)]
        frame = pd.DataFrame({"item": items, "person": people, "held": held})
        of_item, of_person = (
            [*frame.groupby(key, dropna=False)["held"].transform(lambda x: hash(tuple(sorted(x))))]
            for key in ("item", "person")
        )
    return Counter(zip(scored, of_item, of_person, strict=True))


def fingerprint(rows: list[Judgement]) -> dict[str, Any]:
    """Facts of judgements that do not depend on names of people and items."""
    scored = [(r.label, r.system, r.other, r.score if isinstance(r.score, str) else float(r.score)) for r in rows]
    return {
        "labels": dict(Counter(r.label for r in rows)),
        "scores by system": Counter(scored),
        "items": _groups([(r.item, r.system, r.other) for r in rows], scored),
        "annotators": _groups([r.annotator for r in rows], scored) if all(r.annotator for r in rows) else "unknown",
        "who judged what": _known_by_others(rows, scored),
    }


def judgements(built: build.Built) -> list[Judgement]:
    """What was read."""
    marks = built.frames["annotations"].astype(object)
    marks = marks.where(marks.notna(), None)
    out = []
    for r in marks.to_dict("records"):
        item = f"{r['corpus']}/{r['dialogue']}/{r['turn']}/{r['dialogue_b']}"
        who = r["annotator"] if r["annotator_known"] else None
        other = r.get("system_b")
        out.append(Judgement(item, r["system"], who, r["label"], r["score"], other))
    return out


def rows(data: Path) -> list[Judgement]:
    """What is read of a file with Enter at each question."""
    path = data.parent / "door.yaml"
    path.write_text(carried(drafted("door", data, data.parent)), encoding="utf-8")
    return judgements(build.build(params.load(path)))


def _sided(r: Judgement) -> Judgement:
    """A comparison from the side of the system that comes first by its name."""
    if r.other is None or str(r.system) <= str(r.other):
        return r
    return r._replace(system=r.other, other=r.system, score=0 - r.score)


def read(
    data: Path,
    truth: list[Judgement] | Callable[[params.Study], list[Judgement]],
    directions: dict[str, int] | None = None,
    ask: Callable[[str], str] | None = None,
) -> Reading:
    """What `new` and `build` make of a file that holds these judgements.

    truth : or what gives them as the YAML calls labels and answers. directions : label -> whether high is good, for
    labels that must not be read the other way round. ask : what somebody types who is asked (`terminal.settle`);
    without it all questions stay open.
    """
    folder = data.parent
    try:
        draft = drafted("door", data, folder)
        draft = settle(draft, lambda given: drafted("door", data, folder, given), ask) if ask else draft
    except (DataError, params.ParamsError) as error:
        return Reading(CRASHED if "this is a bug" in str(error) else REFUSED, str(error))
    except Exception as error:
        return Reading(CRASHED, f"{type(error).__name__}: {error}")
    text = carried(draft)
    path = folder / "door.yaml"
    path.write_text(text, encoding="utf-8")
    try:
        study = params.load(path)
        built = build.build(study)
    except (DataError, params.ParamsError) as error:
        return Reading(CRASHED if "this is a bug" in str(error) else REFUSED, f"{text}\n{error}")
    expected, seen = (
        fingerprint([*map(_sided, rows)]) for rows in (truth(study) if callable(truth) else truth, judgements(built))
    )
    facts = [fact for fact in expected if expected[fact] != seen[fact]]
    differs = [f"{fact}: expected {expected[fact]}, read {seen[fact]}" for fact in facts]
    ways = {x.id: x.direction for x in study.label_list() if x.direction_declared}
    turned = [x for x, way in (directions or {}).items() if x in ways and ways[x] != way]
    differs += [f"{x}: high counts as {ways[x]}" for x in turned]
    # a direction is asked only of its label; one wrong fact makes others differ, so a question about one is enough
    asked = [q.fact for q in draft.questions]
    about = any(fact.startswith(ABOUT[differing]) for differing in facts for fact in asked)
    asks = (about or not facts) and all(f"direction of {x}" in asked for x in turned)
    return Reading(RIGHT if not differs else ASKED if asks else WRONG, text, differs, asked)
