"""Paths into records: where in a JSON file, or under which columns of a table, a value stands.

`turns.[].ratings.{label}` reads: the object's key `turns`, every element of that list, its key `ratings`, and every key
there, which is the label. `[]` goes through a list, `[turn]` does so and calls the position `turn`, `[0]` takes one
element; `{name}` stands for a key, or for a part of one (`{label}_{annotator}`). A key that itself contains dots or
brackets is written between backticks. `ratings:split` is a cell with several values (`:split(;)` names what divides
them; a comma otherwise), `ratings:json` a cell with JSON, `order:ranking` a cell such as `B > A = C`, or a list from
best to worst, as an object of ranks; `shown:nth.{i}` is the i-th element, from 1, of a list that a cell holds;
`spans:count` is the number of elements of a list. In a table, everything before such an ending is the column.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_NAME = r"[a-z][a-z_0-9]*"
_PLACEHOLDER = re.compile(r"\{(" + _NAME + r")\}")
_OPERATION = re.compile(r":(json|split|ranking|nth|count)(?:\(([^)]*)\))?(?=$|[.\[])")
_LIST = re.compile(r"\[(" + _NAME + r"|[0-9]*)\]")
_KEY = re.compile(r"`([^`]+)`|((?:\{" + _NAME + r"\}|[^.\[`:]|:(?!json|split|ranking|nth|count))+)")
#: names that stand for digits; others stand for any text
_DIGITS = {"turn"}
ALONE = re.compile(r"\{" + _NAME + r"\}")


@dataclass(frozen=True)
class Step:
    """kind : key, list, json, split, ranking, nth or count. text : the key (with placeholders), or what divides a cell.

    name : of a list, what its position is called. index : the one element taken.
    """

    kind: str
    text: str = ""
    name: str | None = None
    index: int | None = None

    @property
    def iterates(self) -> bool:
        """Whether the step goes through the elements of a list."""
        return self.kind == "list" and self.index is None

    def __str__(self) -> str:
        if self.kind == "list":
            return "[]" if self.index is None else f"[{self.index}]"
        return self.text if self.kind == "key" else f":{self.kind}"


def parse(path: str, *, table: bool) -> list[Step]:
    """The steps of a path. table : the records are rows of a table, whose column names may contain dots.

    Raises ValueError, with the place, for a path that cannot be read.
    """
    steps: list[Step] = []
    rest = path
    if table:
        end = _OPERATION.search(path)
        steps, rest = [Step("key", path[: end.start()] if end else path)], path[end.start() :] if end else ""
    while rest:
        if match := _OPERATION.match(rest):
            divider = match[2] or (">" if match[1] == "ranking" else ",")
            try:  # `unicode_escape` reads bytes as Latin-1: what is beyond it must be an escape, too
                text = divider.encode("latin-1", "backslashreplace").decode("unicode_escape")
            except UnicodeDecodeError:
                raise ValueError(
                    f"{path!r}: characters, or an escape such as \\t, are expected in {match[0]!r}"
                ) from None
            steps.append(Step(match[1], text))
        elif match := _LIST.match(rest):
            number = match[1].isdecimal()
            steps.append(
                Step("list", name=None if number else match[1] or None, index=int(match[1]) if number else None)
            )
        elif match := _KEY.match(rest):
            steps.append(Step("key", match[1] or match[2]))
        else:
            raise ValueError(f"{path!r}: a key, [] or [name] is expected at {rest!r}")
        rest = rest[match.end() :]
        if rest.startswith("."):
            rest = rest[1:]
            if not rest:
                raise ValueError(f"{path!r}: something is expected after the last dot")
        elif rest and rest[0] not in "[:":
            raise ValueError(f"{path!r}: a dot is expected before {rest!r}")
    if not steps:
        raise ValueError("a path must name something")
    return steps


def names(path: str) -> set[str]:
    """What a path binds: the names of its placeholders and of positions in lists."""
    return set(_PLACEHOLDER.findall(path)) | {m for m in _LIST.findall(path) if m and not m.isdecimal()}


def placeholders(text: str) -> list[str]:
    return _PLACEHOLDER.findall(text)


def check_placeholders(text: str, known: Iterable[str]) -> None:
    """Raise ValueError for braces in `text` that are not {name} with one of the `known` names."""
    odd = [m for m in re.findall(r"\{[^{}]*\}?|\}", text) if m not in {f"{{{name}}}" for name in known}]
    if odd:
        raise ValueError(f"expected {', '.join(f'{{{k}}}' for k in known)}, found {odd[0]}")


def fill(text: str, values: dict[str, str]) -> str | None:
    """A key with its placeholders replaced; None where one is not known."""
    if any(name not in values for name in placeholders(text)):
        return None
    return _PLACEHOLDER.sub(lambda m: str(values[m[1]]), text)


def pattern(text: str, known: Mapping[str, Iterable[str]] | None = None, *, greedy: bool = False) -> re.Pattern[str]:
    """The expression that a key or a cell must match in full.

    Names of one letter and `turn` stand for digits, for one digit where such names touch; a name given twice for the
    same text twice. known : name -> the only texts it may stand for.
    """
    known, out, at, seen = known or {}, "", 0, set()
    matches = list(_PLACEHOLDER.finditer(text))
    for k, m in enumerate(matches):
        out += re.escape(text[at : m.start()])
        name, at = m[1], m.end()
        followed = k + 1 < len(matches) and matches[k + 1].start() == m.end()
        touches = followed or (k and matches[k - 1].end() == m.start())
        if name in seen:
            out += f"(?P={name})"
            continue
        seen.add(name)
        if name in known:
            out += f"(?P<{name}>{'|'.join(re.escape(i) for i in sorted(known[name], key=len, reverse=True)) or '(?!)'})"
        elif len(name) == 1:
            beside = touches and any(len(f[1]) == 1 for f in (*matches[k + 1 : k + 2], *matches[max(k - 1, 0) : k]))
            out += f"(?P<{name}>[0-9]{'' if beside else '+'})"
        elif name in _DIGITS:
            out += f"(?P<{name}>[0-9]+)"
        else:
            out += f"(?P<{name}>.+{'' if greedy else '?'})"
    return re.compile(out + re.escape(text[at:]), re.DOTALL)


class Matcher:
    """Matches texts against one pattern and recognises those that match in one way only.

    `text` between slashes is a regular expression with named groups.
    """

    def __init__(self, text: str, known: dict[str, Iterable[str]] | None = None):
        self.text = text
        #: what stands between slashes
        self.expression = text[1:-1] if len(text) > 2 and text[0] == text[-1] == "/" else None
        if self.expression is not None:
            self._short = self._long = re.compile(self.expression, re.DOTALL)
        else:
            self._short, self._long = pattern(text, known), pattern(text, known, greedy=True)
        self._seen: dict[str, dict[str, str] | None] = {}
        #: texts that can be divided in more than one way -> two of them
        self.ambiguous: dict[str, tuple[dict, dict]] = {}

    @property
    def names(self) -> set[str]:
        return set(self._short.groupindex)

    def __call__(self, text: str) -> dict[str, str] | None:
        """What the names stand for in `text`; None where it does not fit, or fits in several ways."""
        if text not in self._seen:
            short, long = self._short.fullmatch(text), self._long.fullmatch(text)
            self._seen[text] = short.groupdict() if short else None
            if short and long and short.groupdict() != long.groupdict():
                self.ambiguous[text] = short.groupdict(), long.groupdict()
                self._seen[text] = None
        return self._seen[text]
