"""Columns whose names follow one pattern: labels by annotators, or labels with something in common."""

from __future__ import annotations

import re
from collections import Counter

import pandas as pd

from judgebook.extras.new.asking.doubts import Answer
from judgebook.extras.new.columns import Guess
from judgebook.extras.new.judged.words import answered, in_rows
from judgebook.extras.new.roles import role_of
from judgebook.extras.new.words import ASPECT, is_prose, looks_like_model

_RATER = r"(?:(?:annotator|annotation|ann|an|a|rater|rating|r|worker|w|judge|j|coder|c|human|h|pos|p)[ _-]?)?[0-9]+"
#: columns such as `fluency_a1`, `a1.fluency` or `fluency1`
_GRIDS = [(f"{{label}}{s}{{annotator}}", re.compile(f"(?P<label>.+?){re.escape(s)}{_RATER}", re.I)) for s in "_.-: "]
_GRIDS += [(f"{{annotator}}{s}{{label}}", re.compile(f"{_RATER}{re.escape(s)}(?P<label>.+)", re.I)) for s in "_.-: "]
_GRIDS += [("{label}{annotator}", re.compile("(?P<label>.*[a-z])[0-9]+", re.I))]


def shared(texts: list[str]) -> str:
    """What all texts begin with."""
    n = next((i for i, letters in enumerate(zip(*texts, strict=False)) if len(set(letters)) > 1), min(map(len, texts)))
    return texts[0][:n]


def named_alike(columns: list[str]) -> tuple[str, dict[str, str]]:
    """The pattern of columns whose names differ in the label only (`Rate it [fluency]`); else the names themselves."""
    names = {c: c for c in columns}
    if len(columns) < 2 or any("{" in c or "}" in c for c in columns):
        return "{label}", names
    left = shared(columns)
    right = shared([c[len(left) :][::-1] for c in columns])[::-1]
    left = re.sub(r"[^\W_]+$", "", left)
    right = re.sub(r"^[^\W_]+", "", right)
    inner = {c: c[len(left) : len(c) - len(right)] for c in columns}
    if not (left or right) or not all(re.match(r"[^\W\d]", i) for i in inner.values()):
        return "{label}", names
    return f"{left}{{label}}{right}", inner


def turns(columns: list[str]) -> tuple[str, dict[str, str], int] | None:
    """The pattern of columns such as `turn1_fluency`, column -> label, and the first turn; None where there is none."""
    for pattern in (r"(?P<a>.*?turn[ _]?)(?P<turn>[0-9]+)(?P<b>[ _.:-]+)(?P<label>\D+)",
                    r"(?P<label>\D+?)(?P<b>[ _.:-]+)(?P<a>turn[ _]?)(?P<turn>[0-9]+)"):  # fmt: skip
        matches = {c: m for c in columns if (m := re.fullmatch(pattern, c, re.I))}
        if len(matches) < len(columns) or len({(m["a"], m["b"]) for m in matches.values()}) != 1:
            continue
        numbers = {int(m["turn"]) for m in matches.values()}
        if len(numbers) > 1 and min(numbers) in (0, 1):
            m = next(iter(matches.values()))
            at = m["a"] + "{turn}"
            scores = at + m["b"] + "{label}" if m.start("a") < m.start("label") else "{label}" + m["b"] + at
            return scores, {c: m["label"] for c, m in matches.items()}, min(numbers)
    return None


def named_grid(columns: list[str]) -> tuple[str, dict[str, str]] | None:
    """As `grid`, for people, models and items by name: every label by every one of them. `Question [row]`, too."""
    for s, end in ((" [", "]"), *((s, "") for s in (": ", " - ", " | ", *"_.-: "))):
        pairs = {c: tuple(c.removesuffix(end).rsplit(s, 1)) for c in columns if s in c and c.endswith(end)}
        if len(pairs) < len(columns) or len(pairs) < 4:
            continue
        sides = [{p[i] for p in pairs.values()} for i in (0, 1)]
        aspects, models, numbers = (
            [sum(map(bool, map(is_one, side))) / len(side) for side in sides]
            for is_one in (ASPECT.search, looks_like_model, str.isdecimal)
        )
        one = end and len(sides[0]) == 1 and aspects[0] > aspects[1]
        if (min(map(len, sides)) < 2 and not one) or len(pairs) < len(sides[0]) * len(sides[1]):
            continue
        # a number is no label; what names an aspect of quality is one, and a model is none
        label = 1 if (-numbers[1], aspects[1], models[0]) > (-numbers[0], aspects[0], models[1]) else 0
        names = ("{label}", "{annotator}") if label == 0 else ("{annotator}", "{label}")
        return s.join(names) + end, {c: pair[label] for c, pair in pairs.items()}
    return None


def grid(columns: list[str]) -> tuple[str, dict[str, str]] | None:
    """The pattern of columns such as `fluency_a1`, and column -> label; None where there is none."""
    for pattern, regex in _GRIDS:
        matches = {c: m["label"] for c in columns if (m := regex.fullmatch(c))}
        many = {i for i, n in Counter(matches.values()).items() if n >= 2}
        if matches and set(matches.values()) == many and len(matches) * 2 > len(columns):
            return pattern, matches
    return None


def others(out: Guess, cells: pd.DataFrame, of: dict[str, str]) -> None:
    """Labels of a grid that were answered in words, in columns whose names follow its pattern."""
    scores = str(out.scores)
    other = next((p for p in ("{annotator}", "{system}") if p in scores and "{label}" in scores), None)
    if other is None:
        return
    of_label = {label: _pattern(scores.replace("{label}", label), other) for label in of.values()}
    parts = {m[1] for c, label in of.items() if (m := of_label[label].fullmatch(c))}
    of_part = [_pattern(scores.replace(other, part), "{label}") for part in parts]
    labels: dict[str, list[str]] = {}
    read = {c for c, label in of.items() if label in out.labels}
    for column in cells.columns.difference([*out.columns.values(), *read, *out.metrics], sort=False):
        for pattern in of_part:
            if m := pattern.fullmatch(column):
                labels.setdefault(m[1], []).append(column)
    for label, columns in labels.items():
        held = pd.concat([cells[c] for c in columns], ignore_index=True)
        free = len(columns) > 1 and label not in out.labels and role_of(label) is None and not is_prose(held)
        if free and answered(out, held, label):
            in_rows(out, label, held.to_frame(label))
            out.score_columns += [c for c in columns if c not in out.score_columns]
            for column in columns:
                out.unused.pop(column, None)
        elif free:
            how = Answer("a label: declare it (docs/own_data.md)")
            out.ask(f"label {label}", f"Do {', '.join(columns)} hold judgements?", "no, they are left out", how)


def _pattern(scores: str, name: str) -> re.Pattern[str]:
    return re.compile(re.escape(scores).replace(re.escape(name), "(.+)"))
