"""What is wrong with a YAML, in sentences: file, line, key, what was expected and what was found."""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from judgebook.errors import JudgebookError
from judgebook.study import limits
from judgebook.study.source_options import MODELS, adapter_of


class ParamsError(JudgebookError, ValueError):
    """A YAML that cannot be used. The message has file, line, key, what was expected and what was found."""


#: mistakes of a YAML that are told at a time
_MOST = 20
#: how a YAML writes what Python writes so
_PLAIN = {"None": "nothing", "True": "true", "False": "false"}
_WORDS = (
    ("Input should be a valid integer", "expected a whole number"),
    ("Input should be a valid number", "expected a number"),
    ("Input should be greater than or equal to", "expected at least"),
    ("Input should be less than or equal to", "expected at most"),
    ("Input should be greater than", "expected more than"),
    ("Input should be", "expected"),
    ("String should match pattern", "expected a name that matches"),
    ("String should have", "expected text of"),
    ("List should have", "expected a list of"),
    ("Field required", "this key is required"),
)


def explained(
    error: ValidationError, model: type[BaseModel], path: Path, node: yaml.Node | None, overridden: dict[str, str]
) -> str:
    """The mistakes of a file, one per line.

    model : what the file should have been. overridden : dotted keys whose values the file did not give -> what they are
    called where they were given; empty for `--set`.
    """
    errors = error.errors(include_url=False)
    sentences = [_sentence(e, model, path, node, overridden) for e in errors[:_MOST]]
    more = len(errors) - len(sentences)
    return "\n".join([*sentences, f"… and {more:,} more"] if more else sentences)


def _sentence(e: Any, model: type[BaseModel], path: Path, node: yaml.Node | None, overridden: dict[str, str]) -> str:
    """One mistake: place, key, what was expected and found."""
    # the adapter's name is no key of the YAML, and "[key]" marks a key that is itself wrong
    loc = tuple(p for i, p in enumerate(e["loc"]) if p != "[key]" and not (i == 2 and e["loc"][0] == "sources"))
    text = e["msg"].removeprefix("Value error, ")
    named, colon, rest = text.partition(": ")
    if not loc and colon and _line_of(node, tuple(named.split("."))):
        loc, text = tuple(named.split(".")), rest  # a check of the whole study names the key itself
    key = ".".join(str(p) for p in loc) or "(file)"
    line = _line_of(node, loc)
    # a wrong name high up makes a key of its own, which the file does not have
    given = [o for o in overridden if key == o or key.startswith(f"{o}.") or (line is None and o.startswith(f"{key}."))]
    place = "--set" if given else f"{path}" + (f", line {line}" if line else "")
    place = overridden[given[0]] if given and overridden[given[0]] else f"{place}: {key!r}"
    if e["type"] == "extra_forbidden":
        allowed = _fields_at(e["loc"], model)
        near = difflib.get_close_matches(str(loc[-1]), allowed, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(allowed)}"
        return f"{place}: unknown key; {hint}"
    if e["type"] in ("union_tag_invalid", "union_tag_not_found"):
        adapters = ", ".join(map(adapter_of, MODELS))
        return f"{place}: adapter: expected one of {adapters}, found {e['ctx'].get('tag', 'none')!r}"
    for theirs, ours in _WORDS:
        text = text.replace(theirs, ours)
    content = f", found {quoted(e['input'])}" if e["type"] not in ("missing", "value_error") else ""
    hint = "; YAML reads yes, no, on, off as true and false: put text in quotes" if _reads_as_bool(e) else ""
    if e["type"] == "list_type" and isinstance(e["input"], str | int | float):
        hint = f"; write `{loc[-1]}: [{e['input']}]`"
    return f"{place}: {text}{content}{hint}"


def _line_of(node: yaml.Node | None, loc: tuple) -> int | None:
    """Line of the deepest part of `loc` that the file has."""
    line = None
    for part in loc:
        if isinstance(node, yaml.MappingNode):
            for key, value in reversed(node.value):  # what was merged by << stands first
                if key.value == str(part):
                    line, node = key.start_mark.line + 1, value
                    break
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
    return line


def _fields_at(loc: tuple, model: Any) -> list[str]:
    """Names allowed at the place of an unknown key, to suggest the nearest."""
    for part in loc[:-1]:
        field = model.model_fields.get(part) if isinstance(part, str) and hasattr(model, "model_fields") else None
        candidates: list[type[BaseModel]] = [model] if field is None else _models_in(field.annotation)
        if field is None:  # the tag of a union, a list index or a free key: step into the model it names, if any
            candidates = [*(m for m in MODELS if part == adapter_of(m))] or [model]
        if not candidates:
            return []
        model = candidates[0]
    return list(getattr(model, "model_fields", {}))


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [m for arg in getattr(annotation, "__args__", ()) for m in _models_in(arg)]


def _reads_as_bool(e: Any) -> bool:
    return isinstance(e["input"], bool) and e["type"] in ("string_type", "literal_error")


def quoted(value: object) -> str:
    """A value as a message quotes it: not at any length."""
    text = _PLAIN.get(str(value), "") if value is None or isinstance(value, bool) else ""
    text = text or (repr(str(value)) if isinstance(value, os.PathLike) else repr(value))
    return text if len(text) <= limits.QUOTED else f"{text[: limits.QUOTED]}… ({len(text):,} characters)"
