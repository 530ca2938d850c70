"""Systems side by side in a row, each with what it said and how that was judged: alpha_response, alpha_label, beta_…"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pandas as pd

from judgebook.extras.new import grids
from judgebook.extras.new.asking.doubts import Answer
from judgebook.extras.new.columns import Guess, ask_if_answers
from judgebook.extras.new.readings import Table
from judgebook.extras.new.words import PERSON, is_prose
from judgebook.sources.in_words import counted

#: what stands between the name of a system and what its column holds, and after the second
_BETWEEN = (("_", ""), (".", ""), (": ", ""), (" - ", ""), ("-", ""), (" (", ")"), (" [", "]"), (" ", ""))


def systems(out: Guess, cells: pd.DataFrame, columns: list[str]) -> dict[str, str] | None:
    """Column of scores -> its label, where columns of texts beside them are named for the same systems.

    Sets the pattern of scores. None where there are no such columns, or something else names the system.
    """
    t = out.table
    if t is None or out.comparative or "system" in out.columns:
        return None
    # `fluency_comment` beside `fluency` is about the score
    texts = [c for c in t.code if c not in out.columns.values() and _said(t, c) and not c.startswith((*columns,))]
    found = [one for one in _divided(texts, columns) if len({system for _, system in one[1].values()}) > 1]
    found = found or [*_blocks([*cells], texts, columns)]
    if not found:
        return None
    pattern, of = max(found, key=lambda one: len(one[1]))
    labels = list(dict.fromkeys(label for label, _ in of.values()))
    names = list(dict.fromkeys(system for _, system in of.values()))
    inner = grids.grid(labels) if "annotator" not in out.columns else None
    if inner:
        of = {c: (inner[1].get(label, label), system) for c, (label, system) in of.items()}
    out.scores = pattern.replace("{label}", inner[0] if inner else labels[0] if len(labels) == 1 else "{label}")
    out.one_label = labels[0] if len(labels) == 1 else None
    ends = [pattern.replace("{label}", label).split("{system}") for label in labels]
    out.skip_columns = [c for c in cells if c not in of and any(c.startswith(a) and c.endswith(b) for a, b in ends)]
    out.why["scores"] = "texts and scores stand side by side, named for systems"
    read = {c for c in columns if c in of}
    levels = {v for c in read for v in cells[c].unique()}
    for column in (c for c in columns if c not in read and set(cells[c].unique()) <= levels):
        ask_if_answers(out, column)
    what = f"{counted(len(names), 'system')}: {', '.join(names[:4])}{', …' * (len(names) > 4)}"
    ways = [Answer("of one system, each column a label", given={"each column": "label"})]
    out.ask("system", "What are the columns of scores beside columns of texts named for?", what, *ways)
    return {c: label for c, (label, _) in of.items()}


def _said(t: Table, column: str) -> bool:
    """Whether a column holds what was said: prose, or hardly any value twice, and no numbers."""
    differs = t.levels[column] > (2 if is_prose(t.cells[column]) else t.n / 2)
    return differs and t.kinds[column].kind in ("text", "names", "id", "mixed")


def _divided(texts: list[str], scores: list[str]) -> Iterator[tuple[str, dict[str, tuple[str, str]]]]:
    """For each way to divide names: the pattern of scores, and column of scores -> label and system."""
    for (s, end), first in ((b, first) for b in _BETWEEN for first in (True, False)):
        by_text, by_score = (_fields(many, s, end, first) for many in (texts, scores))
        by_text[""] = {c: c for c in texts}
        shown = [{*systems} for systems in by_text.values() if len(systems) > 1]
        of: dict[str, tuple[str, str]] = {}
        for label, columns in by_score.items():
            people = all(PERSON.fullmatch(x) for x in columns)
            if len(columns) > 1 and not people and label not in by_text and any({*columns} <= x for x in shown):
                of |= {column: (label, system) for system, column in columns.items()}
        if of:
            yield (f"{{system}}{s}{{label}}{end}" if first else f"{{label}}{s}{{system}}{end}"), of


def _fields(columns: list[str], s: str, end: str, first: bool) -> dict[str, dict[str, str]]:
    """What columns hold -> system -> column, for each place where a name can be divided."""
    out: dict[str, dict[str, str]] = {}
    for column in columns:
        bare = column[: len(column) - len(end)]
        for m in re.finditer(re.escape(s), bare) if column.endswith(end) else ():
            parts = bare[: m.start()], bare[m.end() :]
            system, field = parts if first else parts[::-1]
            if system.strip() and field.strip():
                out.setdefault(field, {})[system] = column
    return out


def _blocks(every: list[str], texts: list[str], scores: list[str]) -> Iterator[tuple[str, dict[str, tuple[str, str]]]]:
    """As `_divided`, where a header repeats columns of scores, each time behind a text of its own."""
    numbered = {c: (m[1], m[2]) for c in every if (m := re.fullmatch(r"(.+) \(([0-9]+)\)", c))}
    systems = list(dict.fromkeys(n for _, n in numbered.values()))
    before = {n: every[next(i for i, c in enumerate(every) if numbered.get(c, ("", ""))[1] == n) - 1] for n in systems}
    of = {c: numbered[c] for c in scores if c in numbered}
    if of and len(systems) > 1 and len({*before.values()} & {*texts}) == len(systems):
        yield "{label} ({system})", of
