"""JSON as it stands: what Python's reader would drop, mend or choke on is refused with its place."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable
from typing import Any

from judgebook.study import limits
from judgebook.study.schema import DataError, Problem

#: half of a character beyond the 65,536th, written as an escape, without its other half
_HALF = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)


_MEANT = "is this the right file?"
#: characters that a message quotes
_QUOTED = 30


def kind(value: Any) -> str:
    """What a value is, in words; of text and numbers, the value."""
    if isinstance(value, bool):
        return json.dumps(value)
    words: dict[type, str] = {dict: "an object {…}", list: "a list […]", type(None): "nothing"}
    empty: dict[type, str] = {dict: "an empty object {}", list: "an empty list []"}
    return (words if value or value is None else empty).get(type(value)) or repr(value)


def odd(error: json.JSONDecodeError) -> str:
    """Where JSON cannot be read on, the text that stands there, and why."""
    rest = error.doc[error.pos : error.pos + _QUOTED].partition("\n")[0]
    return f"{repr(rest) if rest.strip() else 'the end of the line'} ({error.msg})"


def _first_twice(keys: Iterable[str]) -> str:
    """The first of `keys` that stood before."""
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            return key
        seen.add(key)
    raise ValueError("expected a key given twice")


def parse(text: str, name: str, where: str = "") -> Any:
    """The value of a JSON text.

    name, where : the file, and the place of the text in it, for messages; without a place, that is a line.

    Raises json.JSONDecodeError for what is no JSON. Raises DataError for an object with a key given twice, of which
    Python would keep the last; for values nested too deep; for numbers too long; for half of a surrogate pair, which no
    file can hold.
    """

    def refused(expected: str, content: str, at: int, column: str = "", hint: str = _MEANT) -> DataError:
        place = where or (f"line {text.count(chr(10), 0, at) + 1}" if at >= 0 else "")
        return DataError([Problem(name, place, column, expected, content, hint)])

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(pairs) > limits.JSON_KEYS:
            expected, hint = f"objects of at most {limits.JSON_KEYS:,} keys", "write a list of records"
            raise refused(expected, f"{len(pairs):,}, e.g. {pairs[0][0]}"[: limits.QUOTED], -1, "", hint)
        out = dict(pairs)
        if len(out) < len(pairs):
            key = _first_twice(k for k, _ in pairs)
            hint = "the object would lose values: write a list, or give each a key of its own"
            given = [m.start() for m in re.finditer(re.escape(json.dumps(key, ensure_ascii=False)) + r"\s*:", text)]
            at = given[1] if len(given) == 2 else -1  # elsewhere, too: which two they are is not known
            raise refused("a key given once in an object", "it twice", at, key[: limits.QUOTED], hint)
        return out

    def whole(digits: str) -> int:
        if len(digits) > limits.JSON_DIGITS:
            expected = f"numbers of at most {limits.JSON_DIGITS} digits"
            raise refused(expected, f"{len(digits):,} digits", text.find(digits), "", "put ids in quotes")
        return int(digits)

    too_deep = f"objects and lists at most {limits.JSON_DEPTH} deep", "deeper nesting"
    try:
        value = json.loads(text, object_pairs_hook=once, parse_int=whole)
    except RecursionError:
        raise refused(*too_deep, -1) from None
    if _deep(value):
        raise refused(*too_deep, -1)
    for half in _HALF.finditer(text) if "\\u" in text else ():
        before = text[: half.start()]
        if (len(before) - len(before.rstrip("\\"))) % 2 == 0:
            hint = "save the file again as UTF-8"
            raise refused("whole characters", f"{half[0]}, half of a surrogate pair", half.start(), "", hint)
    return value


def listed(text: Any) -> list[Any] | None:
    """The list that a text is, as JSON or Python writes it; None where it is none."""
    if isinstance(text, list) or not str(text).strip().startswith("["):
        return text if isinstance(text, list) else None
    try:
        value = ast.literal_eval(str(text).strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        try:
            value = parse(str(text), "")
        except (ValueError, DataError):
            return None
    return value if isinstance(value, list) else None


def _deep(value: Any) -> bool:
    """Whether lists and objects are nested beyond the limit."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(limits.JSON_DEPTH):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) is dict or type(inner) is list
        ]
        if not level:
            return False
    return True
