"""The system as a part of an id or a path: `Exp.1/modelA/clip_0.wav`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from judgebook.extras.new.asking.doubts import Answer
from judgebook.extras.new.columns import Guess
from judgebook.extras.new.readings import Table
from judgebook.extras.new.roles import MOST_SYSTEMS, role_of
from judgebook.extras.new.words import looks_like_model
from judgebook.sources.in_words import counted
from judgebook.sources.nature import numbered

#: what divides an id, the coarsest first
_DIVIDERS = ("/", "\\", "|", "__", ":", "_", "-", ".", " ")
#: how an answer calls the place of the system: the column and the number of the part, or no part
_PLACE, _NONE = "system in", "no part"
#: ids that differ at least, and the share of all combinations of a system and what else the id says that are there
_IDS, _CROSSED = 4, 0.5
#: points from which a part is taken for the system: a folder, or names of models, or one text for all of them
_SURE = 1.0


@dataclass(frozen=True)
class _Part:
    """A part of all ids of a column that may name the system. at : the parts that hold it. pattern : of the cells.
    rest : names of what else varies. names : of the systems. points : how much speaks for it."""

    column: str
    at: int
    pattern: str
    rest: tuple[str, ...]
    names: tuple[str, ...]
    points: float

    @property
    def says(self) -> str:
        shown = ", ".join(self.names[:4]) + ", …" * (len(self.names) > 4)
        return f"a part of {self.column!r}: {counted(len(self.names), 'system')} ({shown})"


def system(out: Guess, cells: pd.DataFrame) -> None:
    """Take the system from a part of an id where nothing else names it, and ask."""
    t, said = out.table, out.answers.get(_PLACE)
    known = "system" in {**out.columns, **out.constants} or "{system}" in f"{out.scores} {out.patterns}"
    if t is None or out.comparative or known or out.repeated or said == _NONE:
        return
    found = sorted((p for c in _ids(out, t) for p in _parts(t, cells, c)), key=lambda p: -p.points)
    chosen = next((p for p in found if said == f"{p.column} {p.at}"), found[0] if found else None)
    if chosen is None:
        return
    sure, none = said is not None or chosen.points >= _SURE, "none; all are one system's"
    if sure:
        out.patterns[chosen.column] = chosen.pattern
        out.context = [f"{{{name}}}" for name in chosen.rest]
        if not (out.identify or out.columns.get("dialogue")):
            out.columns["dialogue"] = chosen.column
    ways = [Answer(p.says, given={_PLACE: f"{p.column} {p.at}"}) for p in found[:4] if p is not chosen or not sure]
    ways += [Answer(none, given={_PLACE: _NONE})] if sure else []
    out.ask("system", "Which column or key names the system?", chosen.says if sure else none, *ways)


def _ids(out: Guess, t: Table) -> list[str]:
    """Columns of ids that the item has: its own, or those that follow from it."""
    item = [c for c in (out.columns.get("dialogue"), *out.identify) if c and c in t.code]
    taken = {*out.columns.values(), *out.score_columns, *t.texts} - {*item}
    free = [c for c in t.code if c not in taken and t.kinds[c].kind in ("id", "names", "text", "words")]
    return [c for c in free if t.levels[c] >= _IDS and (c in item or t.same(c, item or [c]) > 0.99)]


def _parts(t: Table, cells: pd.DataFrame, column: str) -> list[_Part]:
    """The parts of a column's ids that may name the system."""
    ids = [text for text in dict.fromkeys(cells[column].str.strip()) if text]
    pieces = _divided(ids, _DIVIDERS)
    units = [pd.factorize(np.array(piece, dtype=object))[0] for piece, _ in pieces]
    varies = [i for i, unit in enumerate(units) if unit.max() > 0]
    out = []
    for at in varies if len(varies) > 1 else ():
        (names, folder), same = pieces[at], [i for i in varies if (units[i] == units[at]).all()]
        rest, names = [i for i in varies if i not in same], [*dict.fromkeys(names)]
        few = 1 < len(names) <= min(MOST_SYSTEMS, len(ids) / 2) and at == same[0] and bool(rest)
        if not few or not _are_systems(names):
            continue
        other = np.unique(np.column_stack([units[i] for i in rest]), axis=0, return_inverse=True)[1].ravel()
        n, pairs = int(other.max()) + 1, len(np.unique(np.column_stack([other, units[at]]), axis=0))
        if n < 2 or pairs < max(_CROSSED * n * len(names), n + 1):
            continue
        called = _called(rest, [pieces[i][0] for i in rest]) | dict.fromkeys(same, "system")
        pattern = "".join(f"{{{called[i]}}}" if i in called else held[0] for i, (held, _) in enumerate(pieces))
        points = 2.0 * (sum(map(looks_like_model, names)) * 2 >= len(names)) + 1.0 * folder + pairs / n / len(names) / 2
        points += 2.0 * _asked_alike(t, column, dict(zip(ids, other, strict=True)))
        out.append(_Part(column, at, pattern, tuple(called[i] for i in rest), tuple(names), points))
    return out


def _called(places: list[int], held: list[list[str]]) -> dict[int, str]:
    """Names for parts; those of one letter stand for digits in a pattern."""
    letters, out = iter("nmkpq"), {}
    for i, (place, texts) in enumerate(zip(places, held, strict=True), start=1):
        letter = next(letters, None) if all(text.isdecimal() for text in texts) else None
        out[place] = letter or f"part_{i}"
    return out


def _are_systems(names: list[str]) -> bool:
    """Whether texts may name systems: no numbers, nor numbered other things."""
    if not all(any(c.isalpha() for c in name) for name in names):
        return False
    return not numbered(names) or looks_like_model(names[0]) or role_of(names[0].rstrip("0123456789_- ")) == "system"


def _asked_alike(t: Table, column: str, rest: dict[str, int]) -> bool:
    """Whether a text is the same for all ids that differ in the system alone."""
    unit = t.cells[column].str.strip().map(rest)
    for text in (x for x in t.texts if x != column and t.levels[x] > 1):
        each = t.cells.groupby(unit)[text].nunique()
        if (each == 1).mean() > 0.98 and len(each) < t.cells[column].nunique():
            return True
    return False


def _divided(ids: list[str], dividers: tuple[str, ...], *, folder: bool = False) -> list[tuple[list[str], bool]]:
    """Pieces of ids and what stands between them, and whether a piece is a folder.

    Where ids hold a divider differently often, a number before or behind it is a piece.
    """
    for k, s in enumerate(dividers):
        often = {text.count(s) for text in ids}
        cuts = [[text.split(s) for text in ids]] if len(often) == 1 else []
        if not cuts and 0 not in often:
            ends = {-1: [text.rsplit(s, 1) for text in ids], 0: [text.split(s, 1) for text in ids]}
            cuts = [cut for at, cut in ends.items() if all(parts[at].isdecimal() for parts in cut)]
        if often == {0} or not cuts:
            continue
        columns, rest = [[*part] for part in zip(*cuts[0], strict=True)], dividers[k + 1 :] if len(often) == 1 else ()
        out = []
        for i, part in enumerate(columns):
            out += [([s] * len(ids), False)] * (i > 0)
            out += _divided(part, rest, folder=s in "/\\" and i < len(columns) - 1)
        return out
    return [(ids, folder)]
