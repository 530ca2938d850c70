"""Ranks: in a column for each system or each place, in one cell, or in a row for each system."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from judgebook.extras.new.asking.doubts import Answer
from judgebook.extras.new.columns import Guess
from judgebook.extras.new.shapes import items
from judgebook.extras.new.words import ASPECT
from judgebook.sources.in_words import counted
from judgebook.sources.nature import nature, plain

_PLACE = re.compile(r"([0-9]{1,2})(?:st|nd|rd|th)(.*)", re.I)
_RANK_PLACE = re.compile(r"(.*(?:rank|place|position)[ _.-]?)([0-9]{1,2})", re.I)
_SHOWN = re.compile(r"shown|order|posit|slot", re.I)
#: columns of which some may be no ranks, at most, and rows that show ranks without a tie, at least
_TRIED, _FEW = 12, 4
_RANK_OF = re.compile(r"(rank(?:ing|ed)?(?: of)?[ _.:-]+)(.+)|(.+)([ _.:-]+rank)", re.I)


def ranked(out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series]) -> bool:
    """Whether the table holds ranks; then a label `rank`, of which less is better."""
    free = [c for c in cells if c and c not in out.columns.values()]
    return _in_a_cell(out, cells, free) or _by_place(out, cells, numeric) or _in_rows(out, cells, numeric)


def _declare(out: Guess, n: int, *, whole: bool = True) -> None:
    out.one_label = "rank"
    out.labels["rank"] = ("rank", 1, n, whole)
    out.ways["rank"] = -1
    worst = Answer("the worst", {"labels.rank.direction": 1})
    out.ask("direction of rank", "Is rank 1 the best or the worst?", "the best", worst)
    out.more.append(items.alternative("low"))


def _in_a_cell(out: Guess, cells: pd.DataFrame, free: list[str]) -> bool:
    """`B > A = C` in a cell."""
    column = next((c for c in free if nature(c, cells[c]).kind == "ranking" and cells[c].str.contains(">").any()), None)
    if column is None or cells[column].str.contains(">>", regex=False).any():
        return False
    names = cells[column].str.split(r"\s*[>=]\s*", regex=True).explode().str.strip()
    if names.nunique() < 3:  # who of two is better
        return False
    items.of_options(out, cells, [], "{system}")
    out.scores, out.score_columns = f"{column}:ranking.{{system}}", [column]
    _declare(out, int(cells[column].str.count("[>=]").max()) + 1, whole=not cells[column].str.contains("=").any())
    return True


def _by_place(out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series]) -> bool:
    """`1st`, `2nd` or `rank_1`, `rank_2`, with a name in each."""
    ordinal = {c: m[1] for c in cells if (m := _PLACE.fullmatch(c)) and c not in numeric}
    numbered = {c: m for c in cells if (m := _RANK_PLACE.fullmatch(c)) and c not in numeric}
    columns = list(ordinal) or list(numbered)
    if len(columns) < 2 or sorted(int(ordinal.get(c) or numbered[c][2]) for c in columns) != [
        *range(1, len(columns) + 1)
    ]:
        return False
    if ordinal:
        ends = dict.fromkeys(c[len(n) :] for c, n in ordinal.items())
        out.scores = [f"{{score}}{end}" for end in ends]
    elif len({m[1] for m in numbered.values()}) == 1:
        out.scores = numbered[columns[0]][1] + "{score}"
    else:
        return False
    items.of_options(out, cells, [], "{value}")
    out.columns["system"], out.score_columns = "{value}", columns
    _declare(out, len(columns))
    return True


@dataclass(frozen=True)
class Ranks:
    """Columns of the rank of a system each, `left` and `right` of whose name are not its own; sure : by their names."""

    columns: list[str]
    left: str
    right: str
    sure: bool
    whole: bool

    def read(self, out: Guess, cells: pd.DataFrame) -> None:
        """Say in `out` how the table is read."""
        items.of_options(out, cells, [], "{system}")
        out.scores, out.score_columns = f"{self.left}{{system}}{self.right}", self.columns
        used = {*self.columns, *out.columns.values(), *out.identify}
        others = [c for c in cells if c and c not in used and c.startswith(self.left) and c.endswith(self.right)]
        out.skip_columns = others
        n = len(self.columns)
        if not self.sure:
            ways = Answer("ratings: each column is a label", given={"each column": "label"})
            text, evidence = f"What are {', '.join(self.columns[:8])}?", f"each row holds 1 to {n}, each once"
            out.ask("system", text, f"the ranks of {counted(n, 'system')}", ways, evidence=evidence)
        _declare(out, n, whole=self.whole)


def find(out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series]) -> Ranks | None:
    """Ranks in a column for each system: `rank_alpha`, `rank_beta`, or any that hold 1 to their number in each row."""
    sides: dict[tuple[str, str], list[str]] = {}
    free = {c: v for c, v in numeric.items() if c in cells and c not in out.columns.values()}
    for column in free:
        if match := _RANK_OF.fullmatch(column):
            left, name, other, right = match.groups()
            if not ASPECT.search(name or other):
                sides.setdefault((left or "", right or ""), []).append(column)
    for (left, right), columns in sides.items():
        held = pd.DataFrame({c: free[c] for c in columns})
        if len(columns) > 1 and held.min().min() >= 1 and held.max().max() <= len(columns):
            return Ranks(columns, left, right, sure=True, whole=bool((held % 1 == 0).all(axis=None)))
    columns = [c for c, v in free.items() if not _SHOWN.search(c) and v.min() >= 1 and (v.dropna() % 0.5 == 0).all()]
    while columns and max(free[c].max() for c in columns) > len(columns):
        columns = [c for c in columns if free[c].max() < len(columns)]
    if "each column" in out.answers or sum(map(bool, map(ASPECT.search, columns))) * 2 > len(columns):
        return None
    for n in range(3 if len(columns) <= _TRIED else 1):  # others may hold ratings of as many levels
        for gone in itertools.combinations(columns, n) if len(columns) - n > 2 else ():
            held = pd.DataFrame({c: free[c] for c in columns if c not in gone}).dropna(how="all")
            if _are_ranks(held.to_numpy()):
                return Ranks([*held], "", "", sure=False, whole=bool((held % 1 == 0).all(axis=None)))
    return None


def _are_ranks(held: np.ndarray) -> bool:
    """Whether each row is a ranking, tied or not, most are not, and not all are the same."""
    strict = (np.sort(held, axis=1) == np.arange(1, held.shape[1] + 1)).all(axis=1)
    if len(held) < _FEW or (len(held) < 2 * _FEW and not strict.all()) or strict.mean() <= 0.5:
        return False
    tied = any((rankdata(held, method, axis=1) == held).all() for method in ("min", "average", "dense"))
    return tied and len(np.unique(held, axis=0)) > 1


def _in_rows(out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series]) -> bool:
    """A row for each system, with its rank among those that the annotator saw for the item."""
    column = next((c for c in numeric if plain(c) in ("rank", "ranking", "systemrank", "humanrank")), None)
    item, system = (out.columns.get(ours) for ours in ("dialogue", "system"))
    item = item or next((out.columns[c] for c in ("context", "user_text") if c in out.columns), None)
    if column is None or system is None or item is None or "system_b" in out.columns:
        return False
    who = [out.columns[c] for c in ("annotator",) if c in out.columns]
    groups = numeric[column].groupby([cells[c] for c in (item, *who)])
    if groups.max().gt(groups.size()).any() or groups.min().lt(1).any() or groups.size().max() < 2:
        return False
    for ours in ("dialogue", "label", "score"):
        out.columns.pop(ours, None)
    out.columns["context"], out.identify = item, [item, system]
    out.scores, out.score_columns = column, [column]
    _declare(out, int(groups.size().max()), whole=bool((numeric[column].dropna() % 1 == 0).all()))
    return True


def as_rows(records: list[Any]) -> list[Any]:
    """Records with lists of different names below a key that says that these are ranked, as text: `B > A = C`."""
    return [{k: _as_text(k, v) for k, v in r.items()} if isinstance(r, dict) else r for r in records]


def _as_text(key: str, value: Any) -> Any:
    if not isinstance(value, list) or not re.search(r"rank|order(?!.*shown)", key, re.I):
        return value
    steps = [step if isinstance(step, list) else [step] for step in value]
    names = [name for step in steps for name in step]
    plain_names = all(isinstance(n, str) and not set(n) & set("<>=,;|") for n in names)
    if not plain_names or len(names) < 2 or len(set(names)) < len(names):
        return value
    return " > ".join(" = ".join(step) for step in steps)
