"""Judgements of training items: attempts, compared with the intended answers, and no data.

`elicitation.training` in the YAML names the items and the answers that annotators should give. What they answered there
becomes rows of the frame `screening`, which notebook 01 reads.
"""

from __future__ import annotations

import pandas as pd

from judgebook.sources.reading import Counts
from judgebook.study.labels import METHODS, Label
from judgebook.study.params import Study
from judgebook.study.schema import Problem
from judgebook.study.sections.data import TrainingItem

#: a choice between two, in words -> its score
_SIDES = {"a": 1.0, "a is better": 1.0, "b": -1.0, "b is better": -1.0, "neither": 0.0}
_YES = {"yes": 1.0, "no": 0.0}
_ATTEMPT = ["corpus", "group", "annotator", "task", "dialogue"]


def score_of(answer: str | float, label: Label) -> float | None:
    """The score that an answer in the YAML stands for; None where it is no answer to this label."""
    words = str(answer).strip().casefold()
    pair = METHODS[label.method].unit == "pair"
    known = _SIDES if pair else _YES if label.binary and not label.categories else {}
    low, high = label.scale
    if label.categories:
        several = [part.strip() for part in words.split(",")] if label.level == "sets" else [words]
        places = {word.casefold(): n for n, word in enumerate(label.categories)}
        if all(part in places for part in several):
            return sum(2.0 ** places[p] for p in several) if label.level == "sets" else low + places[words]
    if words in known:
        return known[words]
    number = pd.to_numeric(words, errors="coerce")
    return float(number) if low <= number <= high else None


def taken_out(
    study: Study, marks: pd.DataFrame, labels: list[Label]
) -> tuple[pd.Series, pd.DataFrame, Counts, list[Problem]]:
    """Which judgements are of training items, and the attempts that they are.

    Parameters
    ----------
    marks : annotations with the ids of the source and `file`. labels : of the study and its sources.

    Returns
    -------
    A mask of `marks`; rows as the frame `screening`, one per annotator, task, dialogue and work unit, with how many
    answers differ from the intended ones as `mistakes` (of a task that marks turns: the number of turns with one);
    counts of what is no data; problems with intended answers.
    """
    counts, known = Counts(), {(label.method, label.id): label for label in labels}
    intended, problems = _intended(study, known)
    turns = pd.to_numeric(marks["turn"], errors="coerce").fillna(-1).astype(int)
    other = marks["dialogue_b"].astype(object).where(marks["dialogue_b"].notna(), "")
    places = list(zip(marks["dialogue"], other, turns, strict=True))
    mask = pd.Series([place in intended for place in places], index=marks.index, dtype=bool)
    rows = marks[mask].assign(_turn=turns[mask])
    if rows.empty:
        return mask, pd.DataFrame(), counts, problems
    scores = pd.to_numeric(rows["score"], errors="coerce")
    wanted = [intended[place].get(label) for place, label in zip(_kept(places, mask), rows["label"], strict=True)]
    tasks = {pair: label.task or label.method for pair, label in known.items()}
    rows["task"] = [tasks.get(pair, pair[0]) for pair in zip(rows["method"], rows["label"], strict=True)]
    rows["wrong"] = [w is not None and s != w for s, w in zip(scores, wanted, strict=True)]
    for file, n in rows.groupby("file", sort=False).size().items():
        counts.add(file, "annotations", "dropped", "of training items, compared with the intended answers", int(n))
        counts.add(file, "annotations", "kept", n=-int(n))
    by = [*_ATTEMPT, "work_unit"]
    each = rows.groupby([*by, "_turn"], dropna=False, sort=False)["wrong"].sum().reset_index()
    each["wrong"] = each["wrong"].where(each["_turn"] < 0, each["wrong"].gt(0).astype(int))
    out = each.groupby(by, dropna=False, sort=False)["wrong"].sum().rename("mistakes").reset_index()
    out["attempt"] = out.groupby(_ATTEMPT, dropna=False).cumcount()
    return mask, out.assign(performance=None, passed=None), counts, problems


def _kept(places: list, mask: pd.Series) -> list:
    return [place for place, inside in zip(places, mask, strict=True) if inside]


def _intended(study: Study, known: dict[tuple[str, str], Label]) -> tuple[dict, list[Problem]]:
    """(dialogue, the other side or empty, turn or −1) -> label -> intended score."""
    out: dict[tuple[str, str, int], dict[str, float]] = {}
    problems = []
    for n, item in enumerate(study.elicitation.training):
        answers = out.setdefault((item.dialogue, item.dialogue_b or "", -1 if item.turn is None else item.turn), {})
        for name, answer in item.answers.items():
            label = next((x for (_, id_), x in known.items() if id_ == name and _asks(x, item)), None)
            score = None if label is None else score_of(answer, label)
            if label is None or score is None:
                place = study.path.name if study.path else study.key
                where = f"elicitation.training.{n}.answers.{name}"
                expected = "a label of this method" if label is None else "an answer that the label allows"
                problems.append(Problem(place, "", where, expected, repr(answer)))
            else:
                answers[name] = score
    return out, problems


def _asks(label: Label, item: TrainingItem) -> bool:
    """Whether a label is asked of items of this kind."""
    unit = "pair" if item.dialogue_b else "dialogue" if item.turn is None else "turn"
    return METHODS[label.method].unit == unit
