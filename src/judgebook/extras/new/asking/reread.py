"""A first YAML read once: names that may be spellings of one, and what the same person judged again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from judgebook.extras.new.asking.doubts import Answer, Draft, Question
from judgebook.extras.new.asking.edits import edited
from judgebook.sources import joining, typed
from judgebook.sources.in_words import counted
from judgebook.sources.nature import nature
from judgebook.sources.reading import Reading
from judgebook.sources.rows import repeats, spelling
from judgebook.study import params
from judgebook.study.schema import ANNOTATIONS, DataError, judgement_keys

#: of more judgements, a column that tells them apart is more likely to be missing than a person to have judged twice
_FEW = 0.1
#: names of the time when a judgement was made, and when it was begun
_MADE = re.compile(r"submit|complet|finish|end|saved|updated", re.I)
_BEGUN = re.compile(r"start|begin|began|accept|assign", re.I)
_TEXT = "Which judgement counts where the same person judged an item again?"


def ask(out: Draft, path: Path) -> None:
    """Add questions about what the data are read as. path : where the YAML will stand.

    Where few judgements repeat one of the same person and a column has the time, the last one counts until somebody
    says otherwise; without a time the YAML is left as it is, and cannot run. A YAML that cannot be read has no such
    questions: reading it says what is wrong.
    """

    def read(text: str) -> tuple[params.Study, list[Reading]]:
        study = params.of_text(text, path)
        return study, joining.read_all(study)[0]

    try:
        study, readings = read(out.text)
        marks = pd.concat([r.annotations for r in readings], ignore_index=True)
        out.questions += _spelt(spelling.proposed(study, marks))
        if len(readings) == len(study.sources):
            _repeats(out, study, readings, read)
    except (DataError, params.ParamsError):
        return


def waits(out: Draft) -> bool:
    """Whether the YAML cannot run before somebody says which of several judgements counts."""
    sources = yaml.safe_load(out.text)["sources"]
    return any(q.fact == "repeats" for q in out.questions) and not any("repeats" in s for s in sources)


def _spelt(rules: dict[str, dict[str, list[str]]]) -> Iterator[Question]:
    """Whether names are one. Of people only the number is said; labels have declarations that are merged by hand."""
    evidence, assumed = "they differ only in case, blanks, hyphens or look-alike letters", "no, each counts by itself"
    labels = {of: names for of, names in rules.items() if of == "label"}
    things = {of: names for of, names in rules.items() if of == "system"}
    people = sum(len(others) + 1 for others in rules.get("annotator", {}).values())
    if things or people:
        named = [*_listed(things), *([f"ids of {people} annotators"] if people else [])]
        says = [f"`{spelling.written(things)}`"] if things else []
        says += ["for annotators the line that `check` prints"] if people else []
        edits = {"spelling": {of: names for of, names in rules.items() if of != "label"}}
        how = Answer(f"yes: {', and '.join(says)}", edits)
        yield Question("spelling", f"Are these one: {'; '.join(named)}?", assumed, (how,), evidence)
    if labels:
        how = Answer(f"yes: `{spelling.written(labels)}`, with one declaration and one of `label_names` for each")
        yield Question("spelling of labels", f"Are these one: {'; '.join(_listed(labels))}?", assumed, (how,), evidence)


def _listed(rules: dict[str, dict[str, list[str]]]) -> list[str]:
    return [", ".join(map(repr, [name, *others])) for names in rules.values() for name, others in names.items()]


def _repeats(
    out: Draft, study: params.Study, readings: list[Reading], read: Callable[[str], tuple[Any, list[Reading]]]
) -> None:
    again = [(s, r) for s, r in zip(study.sources, readings, strict=True) if s.repeats == "error" and _again(r).any()]
    if not again:
        return
    n, total = sum(int(_again(r).sum()) for _, r in again), sum(len(r.annotations) for _, r in again)
    evidence = f"{counted(n, 'judgement')} of {total:,} again"
    ways = {
        "last": "the last in the file",
        "first": "the first",
        "mean": "their mean",
        "number": "all: a second occasion",
    }
    answers = [Answer(f"{says}: `repeats: {how}`", {"sources.*.repeats": how}) for how, says in ways.items()]
    apart = Answer("different ones: name the column that tells people, items or systems apart in `columns`")
    column, text = None, out.text
    if n <= _FEW * total and len({s.file for s in study.sources if hasattr(s, "file")}) == 1:
        column, text = _timed(out.text, [r for _, r in again])
    _, timed = read(text) if column else (None, [])
    changed = [_changed(r) for r in timed if _again(r).any()]
    if not changed or None in changed:
        out.questions.append(
            Question("repeats", _TEXT, "none: the data cannot be read until it is said", (*answers, apart), evidence)
        )
        return
    out.text = edited(text, "sources.*.repeats", "last")
    other = sum(map(int, filter(None, changed)))
    evidence += f": {n - other:,} with the same score, {other:,} with another"
    assumed = f"the last by {column!r} (`repeats: last`)" if column else "the last (`repeats`)"
    out.questions.append(Question("repeats", _TEXT, assumed, (*answers[1:], apart), evidence))


def _again(reading: Reading) -> pd.Series:
    """Which judgements repeat one of the same person, item and label."""
    marks = reading.annotations
    if not {"annotator", "dialogue"} <= set(marks) or marks.empty:
        return pd.Series(False, marks.index)
    return judgement_keys(marks).duplicated()


def _timed(text: str, readings: list[Reading]) -> tuple[str | None, str]:
    """A column with the time of every judgement, and the YAML that names it."""
    if all("completed_at" in r.annotations and r.annotations["completed_at"].notna().all() for r in readings):
        return "completed_at", text
    held = {c: values for r in readings for of in r.unused.values() for c, values in of.items()}
    times = [c for c, values in held.items() if nature(c, values).kind == "date" and _are_times(values)]
    times.sort(key=lambda c: (not _MADE.search(c), bool(_BEGUN.search(c))))
    if not times:
        return None, text
    text = re.sub(rf"\n +# not used: {re.escape(times[0])}: .*", "", text)
    return times[0], edited(text, "sources.*.columns.completed_at", times[0])


def _are_times(values: pd.Series) -> bool:
    return bool(typed.parsed(values, ANNOTATIONS["completed_at"])[0].notna().all())


def _changed(reading: Reading) -> int | None:
    """How many repeated judgements have another score than the last one; None where no time tells which that is."""
    marks = reading.annotations.reset_index(drop=True)
    keys = judgement_keys(marks)
    last, gone, reason = repeats.settled(marks, keys, "last")
    unit = keys.groupby(list(keys), dropna=False, sort=False).ngroup()
    counts = last["score"].astype(str).groupby(unit[last.index]).first()
    other = int(gone["score"].astype(str).ne(unit[gone.index].map(counts)).sum())
    return other if "time" in reason else None
