"""Questions about what a first YAML leaves to defaults: no system, nobody who judged, rows as items, directions."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from typing import Any

import yaml

from judgebook.extras.new.asking.doubts import Answer, Draft, Question, in_order
from judgebook.sources.in_words import counted
from judgebook.study import yaml_file

_WAYS = (("good", 1), ("bad", -1), ("neither", 0))
#: so many labels of one scale are asked about together, unless somebody said that they differ
_BLOCK, _SINGLY = 3, "each direction"
#: scales that may be meant where not all of one was used
_WIDER = ((1, 4), (1, 5), (1, 6), (1, 7), (0, 4), (0, 5), (0, 10), (1, 10), (0, 100))


def complete(out: Draft, given: Collection[str] = ()) -> Draft:
    """The draft with questions about all that it takes for granted, the most consequential first.

    given : what somebody was asked about and said."""
    data = yaml.load(out.text, yaml_file.Loader)
    sources = [s for s in data["sources"] if s["adapter"] in ("table", "records")]
    labels = data.get("labels") or {}
    if sources:
        of_labels = [*_directions(labels, data.get("method"), singly=_SINGLY in given), *_scales(out, labels)]
        out.questions = in_order([*out.questions, *_roles(out, sources, labels), *of_labels])
    return out


def _names(source: dict[str, Any], ours: str) -> bool:
    """Whether something in a source says which system, or who judged."""
    place = json.dumps(source, ensure_ascii=False)
    return ours in {**source.get("columns", {}), **source.get("constants", {})} or any(
        f"{a}{ours}{b}" in place for a, b in ("{}", "[]")
    )


def _roles(out: Draft, sources: list[dict[str, Any]], labels: dict[str, Any]) -> list[Question]:
    ids = [str(s.get("columns", {}).get(c, "")) for s in sources for c in ("dialogue", "annotator")]
    parts = [p for s in sources for p in s.get("identify", {}).get("dialogue", [])]
    found = []
    one_each = any(re.fullmatch(r"[^{]*\{label\}[^{]*", str(s.get("scores"))) for s in sources) and len(labels) > 1
    if not all(_names(s, "system") for s in sources):
        each = [_each("system")] if one_each and all(_names(s, "annotator") for s in sources) else []
        asked = any(q.fact.startswith("system") for q in out.questions)  # with the choices that there are
        found += (
            []
            if asked
            else [_role(out, "system", "Which column or key names the system?", "none; all are one system's", *each)]
        )
    if not all(_names(s, "annotator") for s in sources):
        nobody = "nobody says; the judgements of an item are those of different people"
        found.append(_role(out, "annotator", "Who judged?", nobody, *([_each("annotator")] if one_each else [])))
    elif "{row}" in ids[1::2]:
        found.append(_role(out, "annotator", "Who judged?", "each row is a different person's"))
    if "{row}" in [*ids[::2], *parts]:
        one = "each row is of an item of its own" if len(parts) < 2 or parts[-1] == "{row}" else "a part of each row"
        found.append(_role(out, "dialogue", "What is one item?", one))
    return found


def _each(ours: str) -> Answer:
    what = "a person" if ours == "annotator" else "a system"
    how = f'`scores: "{{{ours}}}"` and `constants: {{label: …}}`'
    return Answer(f"each column of scores is {what}: {how}", given={"each column": ours})


def _role(out: Draft, ours: str, text: str, assumed: str, *more: Answer) -> Question:
    columns = out.choices.get(ours) or [Answer(f"the column {c!r}", given={ours: c}) for c in out.rivals.get(ours, [])]
    alternatives = [*columns[:2], *more, *columns[2:]]
    places = [] if columns else out.rivals.get("", [])
    evidence = f"not used: {', '.join(places)}" if places else ""
    fact = "item" if ours == "dialogue" else ours
    return Question(fact, text, assumed, tuple(alternatives), evidence)


def _directions(labels: dict[str, Any], method: str | None, *, singly: bool) -> list[Question]:
    """One for the labels of the same scale of whose scores nothing says whether high is good, where they are many."""
    unknown: dict[str, list[str]] = {}
    for label, spec in labels.items():
        answers = spec.get("categories", [])
        unordered = spec.get("level") == "sets" or (len(answers) > 2 and spec.get("level") != "ordinal")
        if "direction" not in spec and not unordered:
            unknown.setdefault(json.dumps([spec.get("scale"), answers]), []).append(label)
    blocks = [one for x in unknown.values() for one in ([x] if len(x) >= _BLOCK and not singly else [[y] for y in x])]
    what = "Is being chosen for" if method == "comparative" else "Is a high score of"
    found = []
    for block in blocks:
        ways = [Answer(f"{says}: `direction: {n}`", {f"labels.{x}.direction": n for x in block}) for says, n in _WAYS]
        ways += [Answer("not the same of all: ask of each", given={_SINGLY: "asked"})] if len(block) > 1 else []
        names, assumed = _few(block), "not known, so it enters no headline"
        found.append(Question(f"direction of {names}", f"{what} {names} good or bad?", assumed, tuple(ways)))
    return found


def _few(labels: Iterable[str]) -> str:
    """The first of many labels, and how many more there are."""
    first, more = [*labels][:4], len([*labels]) - 4
    return ", ".join(first) + (f" and {counted(more, 'other')}" if more > 0 else "")


def _scales(out: Draft, labels: dict[str, Any]) -> list[Question]:
    """One for labels of which not all of the scale was used, unless it was for another label with the same scale."""
    guessed: dict[tuple[float, ...], dict[str, tuple[float, float]]] = {}
    same = next(iter(out.observed.values())) if len(out.observed) == 1 else None
    for label, spec in labels.items():
        ends = out.observed.get(label, same)
        if ends and "scale" in spec:
            guessed.setdefault(tuple(spec["scale"]), {})[label] = ends
    return [_scale(scale, observed) for scale, observed in guessed.items() if scale not in observed.values()]


def _scale(scale: tuple[float, ...], observed: dict[str, tuple[float, float]]) -> Question:
    """observed : label -> its lowest and highest score."""
    low, high = min(a for a, _ in observed.values()), max(b for _, b in observed.values())
    names = _few(observed)
    others = [s for s in dict.fromkeys([(low, high), *_WIDER]) if s != scale and s[0] <= low < s[1] >= high]
    ways = [Answer(f"`scale: [{a:g}, {b:g}]`", {f"labels.{x}.scale": [a, b] for x in observed}) for a, b in others[:4]]
    assumed, evidence = f"{scale[0]:g} to {scale[1]:g}", f"scores run from {low:g} to {high:g}"
    return Question(f"scale of {names}", f"Which scale was offered for {names}?", assumed, tuple(ways), evidence)
