"""YAML as text that somebody wrote: parsed within limits, with the line of what is wrong; or as a pydantic model."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from judgebook.errors import JudgebookError
from judgebook.study import limits

#: PyYAML's safe loader and dumper; those in C, where PyYAML was built with them, are several times as fast
if TYPE_CHECKING:
    from yaml import SafeDumper as Dumper
    from yaml import SafeLoader as Loader
else:
    Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class Strict(BaseModel):
    """What a YAML says: no key that has no meaning here, no value of another type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


_Model = TypeVar("_Model", bound=BaseModel)


def read(path: Path, model: type[_Model]) -> _Model:
    """The file as `model`. Raises ValueError naming the file and, key by key, what is wrong in it."""
    try:
        return model.model_validate(yaml.load(path.read_text(encoding="utf-8"), Loader))
    except yaml.YAMLError as error:
        raise ValueError(f"{path.name}: not valid YAML: {error}") from None
    except ValidationError as error:
        problems = "\n".join(f"  {'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise ValueError(f"{path.name}:\n{problems}") from None


class ParseError(JudgebookError, ValueError):
    """A text that is no YAML, or beyond the limits. line : 1-based, or None where it is not known."""

    def __init__(self, message: str, line: int | None = None):
        super().__init__(message)
        self.line = line


class ParamsError(JudgebookError, ValueError):
    """A YAML that cannot be used. The message has file, line, key, what was expected and what was found."""


class _Careful(Loader):
    """Safe YAML that refuses a key given twice; times, dates and numbers with a leading zero stay text."""


_TAG = "tag:yaml.org,2002:"
_MERGE = f"{_TAG}merge"


def _no_repeats(loader: yaml.Loader, node: yaml.MappingNode, deep: bool = False) -> dict:
    seen: dict[Any, int] = {}
    for key_node, _ in node.value:
        key = "<<" if key_node.tag == _MERGE else loader.construct_object(key_node, deep=True)
        line = key_node.start_mark.line + 1
        if isinstance(key, dict | list):
            raise ParseError("not valid YAML: a key must be plain text", line)
        if key in seen:
            raise ParseError(f"not valid YAML: key {key!r} is given twice (first on line {seen[key]})", line)
        seen[key] = line
    return yaml.SafeLoader.construct_mapping(loader, node, deep=True)


_Careful.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _no_repeats)
#: PyYAML's numbers less two traps: 12:30:00 is a time and 010 an id, and both stay text
_NUMBERS = {
    f"{_TAG}int": r"[-+]?(?:0|[1-9][0-9_]*)",
    f"{_TAG}float": r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+][0-9]+)?|[-+]?\.(?:inf|nan)",
}
_Careful.yaml_implicit_resolvers = {
    first: [(tag, r) for tag, r in resolvers if tag not in (*_NUMBERS, f"{_TAG}timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
for _tag, _pattern in _NUMBERS.items():
    _Careful.add_implicit_resolver(_tag, re.compile(f"(?:{_pattern})$"), list("-+.0123456789"))

_WHOLE = re.compile(_NUMBERS[f"{_TAG}int"])
#: tags that may be written out -> what they stand before
_TAGS = {
    "!": None,
    f"{_TAG}str": None,
    f"{_TAG}map": None,
    f"{_TAG}seq": None,
    f"{_TAG}int": ("a whole number", _WHOLE),
    f"{_TAG}float": ("a number", re.compile("|".join(_NUMBERS.values()))),
    f"{_TAG}bool": ("true or false", re.compile("(?i:true|false|yes|no|on|off)")),
}
_UNPRINTABLE = re.compile("[\0\ud800-\udfff]")


def parse(text: str) -> tuple[Any, yaml.Node | None]:
    """What a YAML holds, and its nodes with their lines. Raises ParseError.

    The text is looked through first, event by event, because building nodes recurses: what is nested too deep would end
    the process, and aliases of aliases would never end.
    """
    try:
        _check(text)
        loader = _Careful(text)
        node = loader.get_single_node()
        return loader.construct_document(node) if node else None, node
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).split("\n", 1)[0]
        raise ParseError(f"not valid YAML: {problem}", mark.line + 1 if mark else None) from None


def _check(text: str) -> None:
    """Raise ParseError for what is beyond `limits`, or marked as what it is not."""
    if len(text) > limits.YAML_BYTES:
        raise ParseError(f"expected at most {limits.YAML_BYTES:,} characters, found {len(text):,}")
    sizes: dict[str | None, int] = {}
    # of each list or map that is open: its anchor, and how many values, itself not counted, stood before it
    open_: list[tuple[str | None, int]] = []
    n = 0
    for event in yaml.parse(text, Loader):
        line = event.start_mark.line + 1  # type: ignore[union-attr]  # what is parsed from a text has marks
        if isinstance(event, yaml.CollectionStartEvent):
            open_.append((event.anchor, n))
            n += 1  # empty ones, too, are written out wherever an alias stands
            _check_tag(event.tag, None, line)
            if len(open_) > limits.YAML_DEPTH:
                raise ParseError(f"expected at most {limits.YAML_DEPTH} levels of lists and maps, found more", line)
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_.pop()
            if anchor is not None:
                sizes[anchor] = n - before
        elif isinstance(event, yaml.ScalarEvent):
            _check_scalar(event, line)
            n += 1
            if event.anchor is not None:
                sizes[event.anchor] = 1
        elif isinstance(event, yaml.AliasEvent):
            if any(anchor == event.anchor for anchor, _ in open_):
                raise ParseError(f"expected no alias of a value that contains it, found *{event.anchor}", line)
            n += sizes.get(event.anchor, 0)
        if n > limits.YAML_VALUES:
            raise ParseError(f"expected at most {limits.YAML_VALUES:,} values, aliases included, found more", line)


def _check_scalar(event: yaml.ScalarEvent, line: int) -> None:
    value = event.value
    if len(value) > limits.YAML_TEXT:
        raise ParseError(f"expected texts of at most {limits.YAML_TEXT:,} characters, found {len(value):,}", line)
    if _UNPRINTABLE.search(value):
        raise ParseError("expected text, found a null character or half of a surrogate pair", line)
    if not any(event.implicit):
        _check_tag(event.tag, value, line)
    plain = event.implicit[0] or event.tag == f"{_TAG}int"
    digits = len(value.lstrip("+-").replace("_", ""))
    if plain and digits > limits.YAML_DIGITS and _WHOLE.fullmatch(value):
        expected = f"a whole number of at most {limits.YAML_DIGITS} digits"
        raise ParseError(f"expected {expected}, found {digits:,}: put an id in quotes", line)


def _check_tag(tag: str | None, value: str | None, line: int) -> None:
    """A tag that is written out; value : of a scalar."""
    if tag is None:
        return
    shown = tag.replace(_TAG, "!!")[: limits.QUOTED]
    if tag not in _TAGS:
        raise ParseError(f"expected plain YAML, found the tag {shown}: leave it out", line)
    wanted = _TAGS[tag]
    if wanted is not None and (value is None or not wanted[1].fullmatch(value)):
        raise ParseError(f"expected {wanted[0]} after {shown}, found {(value or '')[: limits.QUOTED]!r}", line)
