"""Reading the records (JSON) of fixed formats, with messages that name the place."""

from __future__ import annotations

import re
from typing import Any

from judgebook.sources import json_text
from judgebook.study import limits
from judgebook.study.schema import DataError, Problem

KINDS = {dict: "an object {…}", list: "a list […]", str: "text", int: "a whole number"}


def slug(name: str) -> str:
    """The id of a label or metric: lower case, with _ for everything but letters and digits."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


class Checked:
    """Takes values out of the records of one file and collects what is wrong with them."""

    def __init__(self, file: str):
        self.file = file
        self.problems: list[Problem] = []

    def report(self, where: str, key: str, expected: str, content: Any, hint: str = "") -> None:
        """Note a problem. `found` may be any value; long ones are cut."""
        text = (content or "empty text") if isinstance(content, str) else json_text.kind(content)
        self.problems.append(Problem(self.file, where, key, expected, text[:80], hint or "correct it in the file"))
        if len(self.problems) >= limits.PROBLEMS:
            raise DataError(self.problems)

    def plain(self, value: Any, where: str, key: str) -> Any:
        """`value` where it is text, a number or missing; else None, and the problem is noted."""
        if isinstance(value, dict | list | bool):
            self.report(where, key, "text or a number", value)
            return None
        return value

    def name(self, value: Any, where: str, key: str) -> str | None:
        """An id: `value` as text where it is text or a number; None where it is missing, empty, or noted as neither."""
        value = self.plain(value, where, key)
        if value is None or value == "" or value != value:  # NaN
            return None
        return f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value)

    def get(self, record: Any, key: str, kind: type, where: str) -> Any:
        """`record[key]` when it is a `kind`; else None, and the problem is noted."""
        if not isinstance(record, dict):
            self.report(where, "", KINDS[dict], json_text.kind(record))
            return None
        value = record.get(key)
        if key not in record or not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            self.report(where, key, KINDS[kind], repr(value) if key in record else "nothing")
            return None
        return value

    def optional(self, value: Any, kind: type, where: str) -> Any:
        """`value` when it is a `kind`; else an empty one, and the problem is noted unless it is null."""
        if value is not None and not isinstance(value, kind):
            self.report(where, "", KINDS[kind], json_text.kind(value))
        return value if isinstance(value, kind) else kind()
