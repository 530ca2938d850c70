"""A guess about a table, and what can be told of one column: is it numbers, ratings, the same for all who judged?"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from judgebook import codes
from judgebook.extras.new.asking.doubts import Answer, Doubts
from judgebook.extras.new.words import ASPECT, RATERS, SCALES, label_id
from judgebook.sources.nature import nature, plain
from judgebook.sources.rows import numbers as number_texts

if TYPE_CHECKING:
    from judgebook.extras.new.comparisons import Outcome, Pair
    from judgebook.extras.new.readings import Table

COUNT = re.compile(r"^(n|num|no|number)_|count|^(slot|index|idx|order|rank|fold|age|year|trial)$|_(ms|at)$|time", re.I)
_COMMA = re.compile(r"-?[0-9]+(?:,[0-9]{1,2})?")
MAX_LEVELS = 15
#: a column that does not differ between annotators in so many items is none of theirs
_ENOUGH_ITEMS = 10
#: so few items judged twice say nothing of the kind
_FEW_ITEMS = 3
#: scores above the share at the top, by so many times, may be slips
FAR_SHARE, _FAR = 0.02, 3.0
#: of so many scores, a tenth at the highest level leaves hardly a chance that nobody gave the next one
_MANY = 500


@dataclass
class Guess(Doubts):
    """What a table seems to hold.

    table : what determines what in it. close : our column -> those of readings nearly as good. pair, outcomes : the
    sides of comparisons, and columns that say who won. shown : columns of what stands side by side in a row, or of
    which of it was chosen: no item, and nobody who judged. columns : our column -> the file's. labels : the file's
    spelling -> (id, smallest, largest, whole numbers).
    identify, identify_b, context : columns that make the id of a dialogue (of the other of a pair, of what systems
    answered) together. positions : it
    is not known who judged. values : words that stand for scores. judges : annotators that look like language models.
    categories : label -> its answers in words, from the lowest to the highest. patterns : column -> what its cells are
    made of. drop : column -> values of rows left out. skip_columns : those that follow the pattern of scores and hold
    none. join : lines about a joined file. repeated : indices of items in a row. unused : why, by column. comment :
    what was recognised. sampling : key that says how dialogues were drawn, and its column. one_label : that of all
    scores, if no column says. sets : columns of several answers -> what divides them, and the answers. lists
    : columns of lists of ratings.
    constants : our column -> its value in all rows. counted : cells hold how often the score was given that their
    column names. more : further lines of a source that `records` reads. ways : label -> its direction, where the shape
    says it. answers : what somebody said, by the question: `label fluency`, `each column`. called : label -> what a
    question calls it, where columns have a code. of_sides : label -> the columns with ratings of the two sides of a
    comparison, and what `labels` says of one.
    """

    layout: str = "wide"
    columns: dict[str, str] = field(default_factory=dict)
    scores: str | list[str] = "{label}"
    one_label: str | None = None
    counted: bool = False
    more: list[str] = field(default_factory=list)
    ways: dict[str, int] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
    sets: dict[str, tuple[str, list[str]]] = field(default_factory=dict)
    lists: list[str] = field(default_factory=list)
    labels: dict[str, tuple[str, float, float, bool]] = field(default_factory=dict)
    identify: list[str] = field(default_factory=list)
    identify_b: list[str] = field(default_factory=list)
    context: list[str] = field(default_factory=list)
    metrics: list[str] = field(default_factory=list)
    judges: list[str] = field(default_factory=list)
    categories: dict[str, list[str]] = field(default_factory=dict)
    patterns: dict[str, str] = field(default_factory=dict)
    positions: bool = False
    unused: dict[str, str] = field(default_factory=dict)
    sampling: tuple[str, str] | None = None
    drop: dict[str, str | list[str]] = field(default_factory=dict)
    skip_columns: list[str] = field(default_factory=list)
    join: list[str] = field(default_factory=list)
    comment: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    first_turn: int = 0
    repeats: str = ""
    values: dict[str, float] = field(default_factory=dict)
    na_values: list[str] = field(default_factory=lambda: [""])
    annotators: list[str] = field(default_factory=list)
    score_columns: list[str] = field(default_factory=list)
    table: Table | None = None
    pair: Pair | None = None
    shown: list[str] = field(default_factory=list)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    close: dict[str, list[str]] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    called: dict[str, str] = field(default_factory=dict)
    of_sides: dict[str, tuple[tuple[str, str], tuple[str, float, float, bool]]] = field(default_factory=dict)

    @property
    def comparative(self) -> bool:
        paired = any("{system_b}" in pattern for pattern in (*self.patterns.values(), self.scores))
        return paired or "system_b" in self.constants or "dialogue_b" in self.columns or "system_b" in self.columns


def numbers(values: pd.Series, na_values: list[str]) -> pd.Series | None:
    """The column as numbers, maybe with decimal commas; None where a cell is none."""
    held = codes.texts_of(values).stripped
    there = np.array([text not in na_values for text in held.distinct], dtype=bool)
    if not there.any() or (held.code < 0).any():
        return None
    number = held.numbers
    if not np.isfinite(number[there]).all():
        number = np.full(len(there), np.nan)
        number[there] = _decimal_commas([*held.distinct[there]])
        if np.isnan(number[there]).any():
            return None
    return pd.Series(np.where(there, number, np.nan)[held.code], values.index)


def distinct_texts(values: pd.Series) -> list[str]:
    """Text cells without blanks around, each once."""
    return [*codes.texts_of(values).stripped.distinct]


def _decimal_commas(texts: list[str]) -> np.ndarray:
    """Numbers such as 3,5 and 84,25; missing where one is none. Those that only go up, such as 1,3, may be lists."""
    none = np.full(len(texts), np.nan)
    if not all(map(_COMMA.fullmatch, texts)):
        return none
    number, parts = number_texts.of(texts), [text.split(",") for text in texts if "," in text]
    lists = all(0 < float(first) < float(second) for first, second in parts)
    few = len(texts) <= MAX_LEVELS and not is_rating("c", pd.Series(number))
    return none if lists or few else number


def is_rating(name: str, values: pd.Series) -> bool:
    """Whether numbers look like ratings: few of them, whole or halves, and not called a count."""
    seen = pd.unique(np.asarray(values, dtype=float))
    seen = seen[~np.isnan(seen)]
    low, high = seen.min(initial=np.inf), seen.max(initial=-np.inf)
    if np.isinf(seen).any():
        return False
    whole = (seen % 1 == 0).all() and low >= -3 and high <= 100
    halves = (seen % 0.5 == 0).all() and low >= 1 and high <= 10
    return bool((whole or halves) and len(seen) <= MAX_LEVELS and not COUNT.search(name))


#: names that end so say what else whole numbers may be
_NO_RATING = re.compile(
    r"(^|[^a-z])(?i:id|ids|uid|key|hash|idx|index|number|no|nr|row|count|slot|order|rank|fold|age|year|page|position"
    r"|progress|batch|votes|trial|turn|step|seed|size|length)$|(?<=[a-z])(Id|ID|Index|Number|Order|Rank)$"
    r"|^(n|num)_|time|_(ms|at)$",
)


def rated(out: Guess, cells: pd.DataFrame, column: str, values: pd.Series) -> bool:
    """Whether few whole numbers come again and again and differ between annotators of an item: ratings by any name."""
    if _NO_RATING.search(column):
        return False
    seen = values.to_numpy()
    seen = seen[~np.isnan(seen)]
    levels = np.unique(seen)
    few = 1 < len(levels) <= 11 and bool((levels % 1 == 0).all()) and levels[0] >= -3 and levels[-1] <= 10
    item = [out.columns[c] for c in ("dialogue", "system", "turn") if c in out.columns]
    if not few or "dialogue" not in out.columns or len(seen) < 3 * len(levels) or "annotator" not in out.columns:
        return False
    code = codes.texts_of(cells[column]).code
    rows, differing = within(units(cells, item), code)
    _, of_person = within(units(cells, [out.columns["annotator"]]), code)
    return share(differing[rows > 1] > 1) > 0.1 and share(of_person > 1) > 0.5


#: what platforms note is told by its name
_NOTED = ("duration", "date", "platform", "constant", "empty")


def whatever_its_name(out: Guess, column: str, values: pd.Series, scales: list[set[float]]) -> bool | None:
    """Whether few whole numbers below a name of something else (`Factoid`, `no_errors`) are judgements: so where other
    labels have the same levels; None where only a person can say it.

    What was assigned, or follows from the item, the system or the person, is none. scales : levels of the labels.
    """
    levels, t = set(values.dropna()), out.table
    few = 1 < len(levels) <= 11 and is_rating("c", values)
    if not few or t is None or column not in t.code or nature(column, t.cells[column]).kind in _NOTED:
        return False
    roles = [out.columns[r] for r in ("dialogue", "context", "system", "annotator") if out.columns.get(r) in t.code]
    units = [[c] for c in roles] + [[c for c in roles if c != out.columns.get("annotator")]]
    if any(t.assigned(column, c) for c in roles) or any(t.follows(column, u) for u in units if u):
        return False
    return True if levels in scales or (levels <= {0, 1} and {0.0, 1.0} in scales) else None


def was_assigned(out: Guess, column: str) -> bool:
    """Whether a column was assigned to what each person saw of each item, so that nobody judged it."""
    t = out.table
    roles = [out.columns[r] for r in ("dialogue", "context", "annotator") if r in out.columns]
    return (
        t is not None and len(roles) > 1 and column in t.code and {*roles} <= {*t.code} and t.assigned(column, *roles)
    )


def units(cells: pd.DataFrame, columns: list[str]) -> np.ndarray:
    """(rows,) a number for each combination of what columns hold; -1 where one is missing."""
    unit, *others = (codes.texts_of(cells[column]).code for column in columns)
    for code in others:
        both = unit.astype(np.int64) * (int(code.max(initial=0)) + 1) + code
        unit = pd.factorize(np.where((unit < 0) | (code < 0), np.nan, both))[0]
    return unit


def within(unit: np.ndarray, code: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many rows each unit has that is there, and how many different values (`code`, -1 where missing) in these."""
    unit, code = unit[unit >= 0].astype(np.int64), code[unit >= 0]
    rows, base = np.bincount(unit), int(code.max(initial=0)) + 1
    pairs = np.unique(unit[code >= 0] * base + code[code >= 0])
    return rows[rows > 0], np.bincount(pairs // base, minlength=len(rows))[rows > 0]


def one_an_item(out: Guess, cells: pd.DataFrame, columns: Iterable[str]) -> list[str]:
    """Columns that say the same in all rows of an item, in enough items that several people judged."""
    item = [out.columns[c] for c in ("dialogue", "system", "turn") if c in out.columns]
    if "dialogue" not in out.columns or "annotator" not in out.columns:
        return []
    who = cells[out.columns["annotator"]]
    by_item = who.groupby([cells[c] for c in item])
    unit = by_item.ngroup().to_numpy()
    rows = (unit >= 0) & (by_item.transform("nunique") > 1).to_numpy()
    unit = unit[rows]
    n = len(np.unique(unit))
    if n < _ENOUGH_ITEMS and (n <= 2 or len(unit) - n < 2 * _ENOUGH_ITEMS):
        return []
    return [c for c in columns if _same_within(unit, codes.texts_of(cells[c]).code, rows)]


def _same_within(unit: np.ndarray, code: np.ndarray, rows: np.ndarray) -> bool:
    """Whether values that differ (`code`, -1 where missing) are the same for each unit, of which `rows` are."""
    held = code[rows]
    unit, held = unit[held >= 0], held[held >= 0]
    first = np.zeros(unit.max(initial=-1) + 1, dtype=held.dtype)
    first[unit] = held  # any one of each unit
    return bool(code.max(initial=-1) > 0 and len(held) and (first[unit] == held).all())


def share(which: np.ndarray) -> float:
    """The share of those that are; 0 of none."""
    return float(which.mean()) if len(which) else 0.0


def left_out(out: Guess, columns: list[str]) -> None:
    """Warn of columns of numbers that nothing is made of."""
    if columns:
        out.warnings.append(f"columns of numbers that are left out: {', '.join(columns)}")


def ask_if_judged(out: Guess, cells: pd.DataFrame, column: str) -> None:
    """Ask about a column that is left out, if it is called like an aspect of quality, or differs within a person
    and, unless it is a question, within an item."""
    who = out.columns.get("annotator")
    item = [out.columns[c] for c in ("dialogue", "system", "turn") if c in out.columns]
    state = re.search(r"stat(?:us|e)$", column, re.I)  # of a task
    if who is None or "dialogue" not in out.columns or out.comparative or state:
        return
    held = codes.texts_of(cells[column])
    there = np.array([*(text.strip() not in out.na_values for text in held.distinct), False])[held.code]
    rows, different = within(units(cells, item)[there], held.code[there])
    _, of_person = within(units(cells, [who])[there], held.code[there])
    question = column.strip().endswith("?")  # people may all have said the same of each item
    differ = question or (rows > 1).sum() < _FEW_ITEMS or (different[rows > 1] > 1).any()
    if ASPECT.search(column) or (differ and (of_person > 1).any()):
        ask_if_answers(out, column)


def ask_if_answers(out: Guess, column: str, evidence: str = "") -> None:
    """Ask whether a column that is left out holds judgements; where they are, it is a label when the file is looked at
    anew."""
    if f"label {column}" not in out.answers:
        yes = Answer("yes: its answers are of a label", given={f"label {column}": column})
        out.ask(f"label {column}", f"Does {column!r} hold judgements?", "no, it is left out", yes, evidence=evidence)


def _all_used(scores: pd.Series) -> bool:
    """Whether four to ten whole levels in a row are given so often that a further one above would have been, too."""
    levels, counts = np.unique(scores.to_numpy(), return_counts=True)
    low, high = levels[0], levels[-1]
    in_a_row = (levels % 1 == 0).all() and high - low + 1 == len(counts) and low in (0, 1)
    often = counts.min() >= max(5, 0.05 * len(scores)) or (len(scores) >= _MANY and counts[-1] >= 0.1 * len(scores))
    return bool(in_a_row and 4 <= len(counts) <= 10 and often)


def add_label(out: Guess, name: str, values: pd.Series) -> None:
    """Declare a label with these scores, on the scale that they seem to have."""
    seen = values.dropna()
    id_ = "score" if plain(name) in RATERS else label_id(out.called.get(name, name))
    id_ = "better" if id_ == "score" and out.comparative else id_
    if seen.empty:
        out.warnings.append(f"label {name!r}: no numeric score; `values` maps words to numbers")
        out.labels[name] = (id_, 1, 5, True)
        return
    low, high, whole = float(seen.min()), float(seen.max()), bool((seen % 1 == 0).all())
    scale = (low, high) if _all_used(seen) else next((s for s in SCALES if s[0] <= low and high <= s[1]), (low, high))
    out.labels[name] = (id_, *scale, whole)
    out.observed[id_] = (low, high)
    if scale not in SCALES:
        _far(out, id_, seen)
    if low == 0 and (1, high) in SCALES:
        none = {"sources.*.na_values": [*out.na_values, "0"], f"labels.{id_}.scale": [1, high]}
        text = f"Is 0 in {id_} a level of the scale?"
        out.ask(f"no answer in {id_}", text, "a level", Answer("no answer: `na_values` lists it", none))


def _far(out: Guess, label: str, scores: pd.Series) -> None:
    """Ask whether few scores of a scale without usual ends, many times as high as nearly all others, are slips."""
    usual = float(scores.quantile(1 - FAR_SHARE))
    far = scores[scores > _FAR * usual]
    if far.empty or usual <= 0:
        return
    spelt = [f"{v:.12g}" for v in sorted(set(far))]
    highest = float(scores[scores <= _FAR * usual].max())
    low = float(scores.min())
    slips = {"sources.*.na_values": [*out.na_values, *spelt], f"labels.{label}.scale": [low, highest]}
    few = "Is 1 score of {} a slip" if len(far) == 1 else f"Are {len(far)} scores of {{}} slips"
    text = f"{few.format(label)} ({', '.join(spelt[:3])}{', …' * (len(spelt) > 3)})?"
    evidence = f"{1 - FAR_SHARE:.0%} of scores are at most {usual:g}"
    out.ask(
        f"far scores of {label}", text, "no, scores", Answer("slips: `na_values` lists them", slips), evidence=evidence
    )
