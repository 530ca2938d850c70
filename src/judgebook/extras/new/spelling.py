"""How a guess is written in a YAML: declarations of labels, keys in paths, quoted text."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import yaml

from judgebook.extras.new.asking.doubts import Answer, Doubts
from judgebook.extras.new.cleaning import few, rare_answers
from judgebook.extras.new.directions import direction
from judgebook.extras.new.words import ANSWERS, SCALES, label_id, ranked, scale_text
from judgebook.sources.nature import Nature, nature
from judgebook.sources.rows import numbers as number_texts
from judgebook.study import limits, yaml_file

#: characters of a label's id (`study.sections.data.Identifier`)
_LONGEST = 64


@dataclass
class Shape(Doubts):
    """A guess: lines of YAML below `sources:` and `labels:`, with warnings and what is not used.

    in_json_column : whether the scores stand inside cells of a table. more : guesses about scores at other places.
    """

    source: list[str] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    method: str = "dialogue_rating"
    unused: dict[str, Nature] = field(default_factory=dict)
    in_json_column: bool = False
    more: list[Shape] = field(default_factory=list)


def declared(out: Shape, values: list[str | None], name: str, ends: tuple[float, ...] = ()) -> str:
    """The declaration of a label with these values; what is unsure goes to the warnings.

    ends : its scale, where the file says it.
    """
    held = pd.Series([v for v in values if v is not None and v.strip()], dtype=object)
    seems = nature("score", held)
    numbers = number_texts.read(held)
    if few(int(numbers.notna().sum()), len(held)):
        _no_answer(out, name, sorted(held[numbers.notna()].unique()), "answers in words")
        held, numbers = held[numbers.isna()], numbers[numbers.isna()]
    words = sorted(held[numbers.isna()].unique())
    if len(words) == 2 and all(w.lower() in ANSWERS for w in words):
        first, second = sorted(words, key=lambda w: ANSWERS[w.lower()])
        return f"{{categories: [{quoted(first, always=True)}, {quoted(second, always=True)}]}}"
    if seems.kind == "words" and (steps := ranked(words)):
        out.warnings.append(
            f"{name}: from {steps[0]!r} to {steps[-1]!r}; answers that nobody gave are missing from `categories`"
        )
        return flow({"categories": steps, "level": "ordinal"})
    if seems.kind == "words":
        how = Answer("one order: list `categories` from the lowest up and add `level: ordinal`")
        if len(words) > 2:
            out.ask(f"level of {label_id(name)}", f"Have the answers of {name!r} an order?", "none", how)
        rare_answers(out, name, held)
        return flow({"categories": words})
    if words:
        _no_answer(out, name, words, "numbers")
    low, high = numbers.min(), numbers.max()
    whole = bool((numbers.dropna() % 1 == 0).all())
    scale = ends or next((s for s in SCALES if s[0] <= low and high <= s[1]), (low, high))
    if not ends:
        out.observed[label_id(name)] = (float(low), float(high))
    more = "" if whole else ", integer: false"
    more += ", level: interval" if high - low > 20 else ""
    more += ", direction: -1" if scale[0] > scale[1] else ""
    return f"{{scale: {scale_text(min(scale), max(scale))}{more}}}"


def _no_answer(out: Shape, name: str, odd: list[str], among: str) -> None:
    """Take answers unlike the others of a label for none, and ask."""
    shown, how = ", ".join(repr(w[: limits.QUOTED]) for w in odd[:4]), Answer("scores: `values` says which")
    out.ask(
        f"no answer in {name}: {shown}", f"What is {shown} among {among} of {name!r}?", "no answer (`na_values`)", how
    )
    line = f'na_values: ["", {", ".join(quoted(w, always=True) for w in odd)}]'
    if line not in out.source:
        out.source.append(line)


class JsonColumn(str):
    """The name of a column whose cells hold JSON."""

    __slots__ = ()


def key_of_path(key: str) -> str:
    """A key as a path spells it; the first of a path into a table is a column, which stands as it is."""
    if isinstance(key, JsonColumn):
        return f"{key}:json"
    return f"`{key}`" if re.search(r"[.\[`:]", key) else key


def comment(text: str) -> str:
    """A comment of one line: what cannot be printed becomes a space, as a line break would end the comment."""
    return "# " + "".join(c if c.isprintable() else " " for c in text)


def quoted(text: str, *, always: bool = False) -> str:
    """Text as YAML reads it back: plain where that is safe, else in quotes, with escapes for what cannot be printed."""
    simple = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_./ -]*(?<! )", text)
    odd = text.lower() in {"yes", "no", "on", "off", "true", "false", "null", "y", "n", "none"}
    if simple and not odd and not always:
        return text
    # not all that JSON leaves as it is may stand in YAML: DEL, or line ends such as U+0085
    return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in json.dumps(text, ensure_ascii=False))


def flow(value: Any) -> str:
    """A value of YAML on one line."""
    if isinstance(value, dict):
        pairs = [(quoted(str(k)), flow(v)) for k, v in value.items()]
        # a key of more than 1,024 characters must be said to be one
        return "{" + ", ".join(f"{'? ' * (len(k) > 1000)}{k}: {v}" for k, v in pairs) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(flow, value))}]"
    if isinstance(value, float):
        return f"{value:g}"
    return quoted(value) if isinstance(value, str) else str(value).lower()


def distinct(ids: Iterable[str]) -> list[str]:
    """Ids of labels, cut to the length that is allowed, and numbered where they are the same."""
    out: dict[str, None] = {}
    for id_ in ids:
        numbered = (f"{id_[: _LONGEST - 5]}_{n}" for n in itertools.count(2))
        out[next(i for i in itertools.chain([id_[:_LONGEST]], numbered) if i not in out)] = None
    return list(out)


def label_lines(labels: dict[str, str], *, compared: bool = False) -> tuple[list[str], dict[str, str]]:
    """Lines below `labels:`, and spellings of the file that differ from ids. compared : whether two are compared."""
    spelt = dict(zip(labels, distinct(map(label_id, labels)), strict=True))
    lines = [line for name, spec in labels.items() for line in declaration(spelt[name], spec, name, compared=compared)]
    return lines, {n: i for n, i in spelt.items() if n != i}


def declaration(id_: str, spec: str, name: str, *, compared: bool = False) -> list[str]:
    """The declaration of a label with the direction that its name or its answers tell, or with the question for it.

    spec : a map in braces. name : as the file spells it, maybe a question.
    """
    content = yaml.load(spec, yaml_file.Loader)
    answers = [str(word) for word in content.get("categories", [])]
    unordered = content.get("level") == "sets" or (len(answers) > 2 and content.get("level") != "ordinal")
    if "direction" in content or unordered:
        return [f"  {quoted(id_)}: {spec}"]
    way = direction(name, answers, compared=compared)
    if way := way or (direction(id_, compared=True) if compared and name != id_ else None):
        return [f"  {quoted(id_)}: {spec[:-1]}, direction: {way}}}"]
    what = "the chosen one" if compared else "a high score"
    question = f"# direction: 1   # is {what} good (1), bad (-1) or neither (0)?"
    return [f"  {quoted(id_)}:", *(f"    {part}" for part in _parts(spec)), f"    {question}"]


def _parts(flow: str) -> list[str]:
    """The `key: value` of a map in braces."""
    cuts, depth, text = [0], 0, flow[1:-1]
    for part in re.finditer(r'"(?:[^"\\]|\\.)*"|[][]|, ', text):
        depth += {"[": 1, "]": -1}.get(part[0], 0)
        cuts += [part.end()] if part[0] == ", " and not depth else []
    return [text[a:b].removesuffix(", ") for a, b in itertools.pairwise([*cuts, len(text)])]
