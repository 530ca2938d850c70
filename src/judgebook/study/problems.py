"""What is wrong with somebody's files, told so that they can mend it: place, expected, found, and what to write."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judgebook.errors import JudgebookError
from judgebook.study import limits

#: where a row or record is; what follows it in a place is a column, or a path in the record
PLACE = re.compile(r"(?:sheet .*?, )?(?:row|line|record) [0-9]+")
#: columns of ours for which the column of a place says more than they do
_OF_LABELS = ("", "label", "score")
#: characters of a part of a place: a column may be called by a whole question
_NAME = 60


@dataclass(frozen=True)
class Problem:
    """Something wrong in a file, described so that its owner can correct it.

    column : as we call it. called : as the file calls it, where that differs. n : this and others alike, not listed.
    kind, of : what `sources.rows.advice` needs to say what to write in the YAML: a name of its own, and what is odd.
    """

    file: str
    where: str
    column: str
    expected: str
    found: str
    hint: str = ""
    n: int = 1
    called: str = ""
    kind: str = ""
    of: tuple[str, ...] = ()

    def __str__(self) -> str:
        return _line([self])


def several(places: Sequence[Any], problem: Callable[[Any], Problem]) -> list[Problem]:
    """A problem for each place; beyond `limits.PROBLEMS` the last one stands for those that follow."""
    out = [problem(place) for place in places[: limits.PROBLEMS]]
    if len(places) > len(out):
        out[-1] = replace(out[-1], n=len(places) - len(out) + 1)
    return out


class DataError(JudgebookError, ValueError):
    """One or more problems with a study's files.

    The message has a line for each kind of problem, with three places and a count; of different kinds the first 20.
    """

    shown = 20
    examples = 3

    def __init__(self, problems: Iterable[Problem]):
        self.problems = list(problems)
        alike: dict[tuple, list[Problem]] = {}
        for p in self.problems:
            # the place of a score differs by column; what is wrong with it does not
            alike.setdefault((p.file, p.column, p.expected, p.hint.partition(" or as ")[0][:20]), []).append(p)
        groups = list(alike.values())
        n = sum(p.n for p in self.problems)
        kinds = f", for {len(groups):,} reasons" if len(groups) > 1 else ""
        lines = [f"the data cannot be read{kinds}" + (f" ({n:,} places):" if n > 1 else ":")]
        lines += [f"  {_line(group)}" for group in groups[: self.shown]]
        if len(groups) > self.shown:
            lines.append(f"  … and {len(groups) - self.shown:,} more reasons")
        super().__init__("\n".join(lines))


def _line(group: Sequence[Problem]) -> str:
    """One line for problems of one kind: the column once, what was found with its places."""
    first = group[0]
    n = sum(p.n for p in group)
    columns = {_column(p.where) for p in group}
    shared = columns.pop() if len(columns) == 1 and n > 1 else ""
    told = shared if first.column in _OF_LABELS else ""
    of_row = bool(first.kind) and first.column not in _OF_LABELS
    column = first.column + (f" ({_short(first.called)})" if first.called not in ("", first.column, told) else "")
    some = _examples(group)
    found: dict[str, list[str]] = {}
    for p in some:
        own = _column(p.where) if of_row else shared
        found.setdefault(p.found, []).append(shortened(p.where.removesuffix(f", {own}") if own else p.where))
    if n == 1:
        head, cases = [first.file, shortened(first.where), column], first.found
    else:
        head = [first.file, _short(told), column]
        between = "; " if any(", " in place for at in found.values() for place in at) else ", "
        cases = ", ".join(f"{what} ({between.join(at)})" if all(at) else what for what, at in found.items())
        cases += f" and {n - len(some):,} more" if n > len(some) else ""
    line = f"{', '.join(part for part in head if part)}: expected {first.expected}, found {cases}"
    return line + (f"; {first.hint}" if first.hint else "")


def _examples(group: Sequence[Problem]) -> list[Problem]:
    """The problems that a line shows: first those that differ, which say more than the same one three times."""
    distinct = list({p.found: p for p in reversed(group)}.values())[::-1][: DataError.examples]
    others = [p for p in group if not any(p is one for one in distinct)]
    return [*distinct, *others[: DataError.examples - len(distinct)]]


def _column(where: str) -> str:
    """What a place says after its row or record: the column, or the path in the record."""
    match = PLACE.match(where)
    return where[match.end() + 2 :] if match and where[match.end() :].startswith(", ") else ""


def shortened(where: str) -> str:
    """A place whose column is cut where it is a whole question."""
    column = _column(where)
    return where.removesuffix(column) + _short(column)


def _short(name: str) -> str:
    return name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"
