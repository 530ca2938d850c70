"""A column of gold beside columns of judges."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable

import pandas as pd

from judgebook.extras.new.asking.doubts import Answer
from judgebook.extras.new.columns import MAX_LEVELS, Guess
from judgebook.extras.new.words import ASPECT, PERSON, SCALES, looks_like_model

#: words for what is taken to be right, for what judged it, and for what either of them gave
_GOLD = {"gold", "golden", "human", "humans", "truth", "groundtruth", "reference", "ref", "true", "manual", "expert"}
_JUDGE = {"judge", "grader", "autorater", "evaluator", "pred", "prediction", "predicted", "ai", "machine"}
_GIVEN = {
    word
    for words in (
        "score label rating judgement judgment annotation answer verdict grade choice vote preference winner",
        "standard ground target value class eval",
    )
    for word in words.split()
}


def _words(name: str) -> set[str]:
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name.strip()).lower()
    return {word for word in re.split(r"[^a-z]+", text) if word}


def _is_gold(name: str) -> bool:
    """`gold`, `human_score`, `ground truth`; and `label` or `target` alone."""
    words = _words(name)
    return words in ({"label"}, {"target"}) or (bool(words & _GOLD) and words <= _GOLD | _GIVEN)


def _is_judge(name: str) -> bool:
    """`judge_score`, `prediction`, `gpt4_label`; not `gpt4_fluency`, which names what was judged."""
    return bool(_words(name) & _JUDGE or looks_like_model(name)) and not ASPECT.search(name)


def gold_and_judges(names: Iterable[str]) -> list[str]:
    """The judges, where all but one of the names are judges and that one is gold; otherwise none."""
    names = list(names)
    judges = [name for name in names if not _is_gold(name) and _is_judge(name)]
    return judges if len(names) == len(judges) + 1 and sum(map(_is_gold, names)) == 1 else []


def scored_as_gold(cells: pd.DataFrame, roles: Container[str]) -> list[str]:
    """Columns that are named for a judge and hold what gold holds: scores, and not who judged or which system it was.

    roles : names that may stand for these, which count where no other column holds a judge's scores, or where columns
    named for people hold the same (`expert`, `crowd_1`, `crowd_2`).
    """
    people = {text for c in cells if c and PERSON.fullmatch(c) for text in cells[c].str.strip()}
    if experts := [c for c in cells if c in roles and people and set(cells[c].str.strip()) <= people]:
        return experts
    answers = {c: set(cells[c].str.strip()) - {""} for c in cells if c and (_is_gold(c) or _is_judge(c))}
    gold = [c for c in answers if _is_gold(c)]
    if len(gold) != 1 or not 1 < len(answers[gold[0]]) <= MAX_LEVELS:
        return []
    alike = [c for c, held in answers.items() if c not in gold and held and held <= answers[gold[0]]]
    return [c for c in alike if c not in roles] or alike


def named_for_gold(out: Guess, numeric: dict[str, pd.Series], columns: list[str]) -> bool:
    """Whether columns are one of gold and others of judges, which gave scores on the same scale; asks where not."""
    judges = gold_and_judges(columns)
    ends = {column: (float(numeric[column].min()), float(numeric[column].max())) for column in columns if judges}
    scales = {next((s for s in SCALES if s[0] <= low and high <= s[1]), (low, high)) for low, high in ends.values()}
    if len(scales) > 1:
        way = Answer('yes: `scores: "{annotator}"`, `constants: {label: score}`, and models in `judges`')
        evidence = ", ".join(f"{column} from {low:g} to {high:g}" for column, (low, high) in ends.items())
        out.ask(
            "annotator",
            f"Are {', '.join(columns)} of one label on one scale?",
            "no, a label each",
            way,
            evidence=evidence,
        )
    if len(scales) != 1:
        return False
    out.judges = judges
    return True
