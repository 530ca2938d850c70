"""Which column says which item, which system and who judged: by what determines what, and by names as a hint.

Every choice of these three columns is a reading of the table. A reading is scored by how well the table fits it: each
judgement used once, texts the same for an item or for its system, systems that were assigned and not judged. Names give
points, never a veto. The best reading is taken; where others come close, a question offers them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.stats import chi2

from judgebook import codes
from judgebook.extras.new.asking.doubts import Answer
from judgebook.extras.new.columns import Guess, distinct_texts, units
from judgebook.extras.new.roles import MOST_SYSTEMS, PLACE, QUESTIONS, role_of
from judgebook.extras.new.words import ANSWERS, ASPECT, CHOICE, COMMENT, SHORT, are_names, looks_like_model, number_in
from judgebook.sources.ids.personal import personal
from judgebook.sources.in_words import counted
from judgebook.sources.nature import NAMES, Nature, nature, plain

ROLES = ("dialogue", "system", "annotator")
#: how an answer calls the column for whose values ids start again
_STARTS = "ids start again"
#: the item, where no column says it
_TOGETHER = "{together}"
#: kinds of values that may say which; a rating may, too, where it was assigned
NAMING = ("id", "names", "words", "counter", "rating", "slider", "number", "text")
#: kinds of values that say which without being judgements
_SAYING = ("id", "names", "words", "counter")
#: rows from which the columns are compared
_ROWS = 6_000
#: columns of each role that are tried
_TRIED, _FEW = 5, 16
#: chance of counts so even, if answers had spread them, below which they were assigned
_EVEN = 1e-4
#: degrees of freedom, or pairs of equal values expected by chance, from which that says anything
_ENOUGH = 6
#: of the people of a unit, those who share a text at most, where each wrote it
_OWN = 0.6
#: of one column within another, values on average, from which they are crossed
_SEVERAL = 1.5
#: of rows, those of another kind at most
_KINDS = 0.4
#: readings whose score comes so close to the best are offered; columns that are offered for a role at most
CLOSE, _CHOICES = 1.5, 8
#: names of a place in what somebody was shown
_ORDER = re.compile(r"(?:^|[ _.-])(?:slot|position|pos|order|place|trial|repeat)$", re.I)
#: names of judgements, whatever was judged
_ANSWERED = re.compile(r"(?:verdict|rating|score|judge?ment|grade)s?$", re.I)
#: names of what belongs to a person, though it names something else
_PERSON = re.compile(r"session|token|respondent|e-?mail|(^|[^a-z])ip($|[^a-z])|login|account", re.I)
#: names of what is said of people
_ABOUT = re.compile(
    r"^(age|gender|sex|native|language|education|alter|geschlecht|muttersprache|edad|sexo|género|âge|sexe|genre)$", re.I
)
#: names of parts of a study whose items are numbered for each
_PARTS = re.compile(
    r"lang|sprache|idioma|domain|genre|topic|dataset|corpus|task|split|subset|(^|[^a-z])lp($|[^a-z])", re.I
)
#: points by which a reading that somebody chose comes before others, and by which likely columns may be behind the best
_SAID, _FAR = 100.0, 6.0


@dataclass(frozen=True)
class Reading:
    """Columns by role and how well they fit. item : all that identify it; none where each row is one. system,
    annotator : None where no column says it. label : what tells the rows of a person and an item apart, and scores :
    what holds these. apart : the last column of the item, where ids start again for each of its values."""

    item: tuple[str, ...]
    system: str | None
    annotator: str | None
    score: float
    label: str | None = None
    apart: str | None = None
    scores: str | None = None


class Table:
    """A table of text cells, each column coded once.

    cells : of type str; the first rows stand for all. keys : columns that tell judgements of one item apart besides
    (turn, label).
    """

    def __init__(self, cells: pd.DataFrame, keys: Iterable[str] = ()):
        cells = cells.loc[cells.ne("").any(axis=1)].iloc[:_ROWS]
        self.cells, self.keys, self.n = cells, list(keys), len(cells)
        held = {c: codes.texts_of(cells[c]).stripped for c in cells if c}
        self.code = {c: np.array([*range(len(x.distinct)), -1])[x.code] for c, x in held.items()}
        for c, x in held.items():
            empty = np.flatnonzero(np.array([text == "" for text in x.distinct], dtype=bool))
            self.code[c] = np.where(np.isin(self.code[c], empty), -1, self.code[c])
        self.levels = {c: len(np.unique(code[code >= 0])) for c, code in self.code.items()}
        self._units: dict[tuple[str, ...], np.ndarray] = {}
        self._same: dict[tuple[str, tuple[str, ...]], float] = {}
        self._assigned: dict[tuple[str, tuple[str, ...]], bool] = {}
        self._with: dict[str, Table] = {}

    @cached_property
    def kinds(self) -> dict[str, Nature]:
        """What values look like, whatever the column is called; but what a platform notes is told by its name."""
        by_name = {c: nature(c, self.cells[c]) for c in self.code}
        noted = {c for c, kind in by_name.items() if kind.kind in ("duration", "date", "platform", "constant", "empty")}
        kinds = {c: kind if c in noted else nature("c", self.cells[c]) for c, kind in by_name.items()}
        worded = [c for c, kind in kinds.items() if kind.kind in ("words", "names", "id", "text")]
        return kinds | dict.fromkeys(filter(self._numbered_options, worded), Nature("rating", "numbered options"))

    def _numbered_options(self, column: str) -> bool:
        """Whether cells are a few options in words, each with its number: `(+1): Positive`, `0: None`, `N/A: …`."""
        distinct = [text for text in distinct_texts(self.cells[column]) if text]
        number = {number_in(text) for text in distinct} - {None}
        return 1 < len(number) <= len(distinct) <= min(12, len(number) + 2) and any(c.isalpha() for c in distinct[0])

    @cached_property
    def texts(self) -> list[str]:
        """Columns of prose that hardly a row lacks, and that was shown: not what those who judged wrote."""
        shown = [
            c
            for c in self.code
            if not (c.startswith("Answer.") or COMMENT.search(c)) and (self.code[c] >= 0).mean() > 0.9
        ]
        shown = [c for c in shown if self.kinds[c].kind not in ("rating", "date", "duration", "platform")]
        return [c for c in shown if not are_names(self.cells[c])]

    @cached_property
    def few(self) -> list[str]:
        """Columns whose values come again, at most some: those with fewest values first, numbers last."""
        again = [c for c in self.code if 1 < self.levels[c] <= self.n / 2 and self.kinds[c].kind in NAMING]
        others = (c for c in again if c not in self.texts)
        return sorted(others, key=lambda c: (self.kinds[c].kind not in _SAYING, self.levels[c]))[:_FEW]

    @cached_property
    def rated(self) -> list[str]:
        """Columns of numbers as people give them."""
        return [c for c in self.code if self.kinds[c].kind in ("rating", "slider") and named("dialogue", c) <= 0]

    @cached_property
    def saying(self) -> list[str]:
        """Columns that say which, no judgements: by their kind; or by name or as each value comes equally often,
        where others say more, or a text is the same for each value."""
        kind = [c for c in self.few if self.kinds[c].kind in _SAYING or any(named(r, c) > 0 for r in ROLES[1:])]
        even = {c for c in self.few if self.levels[c] >= _ENOUGH and len({*np.bincount(self.code[c] + 1)[1:]}) == 1}
        more = [c for c in self.few if c not in kind and (named("dialogue", c) > 0 or c in even)]
        of_text = {c for c in more if any(self.levels[x] > 1 and self.follows(x, [c]) for x in self.texts)}
        return [*kind, *(c for c in more if len(kind) > 1 or c in of_text)]

    def crossed(self, column: str, keys: Iterable[str]) -> bool:
        """Whether nearly each of several units has each value of a column, and none twice."""
        size = np.bincount(self.unit(keys := [*keys]))
        each = len(size) >= _ENOUGH and (size == self.levels[column]).mean() > 0.9
        return bool(each and not self.repeated([*keys, column]))

    def with_key(self, column: str) -> Table:
        """The same table, where a column tells judgements of one item apart."""
        if column not in self._with:
            self._with[column] = other = copy(self)
            other.keys = [*self.keys, column]
        return self._with[column]

    def unit(self, columns: Iterable[str]) -> np.ndarray:
        """(rows,) a number for each combination of what columns hold; of no columns, one for all."""
        key = tuple(sorted(columns))
        if key not in self._units:
            unit = np.zeros(self.n, dtype=np.int64)
            for c in key:
                unit = np.unique(unit * (self.levels[c] + 1) + self.code[c] + 1, return_inverse=True)[1]
            self._units[key] = unit
        return self._units[key]

    def same(self, column: str, within: Iterable[str]) -> float:
        """Share of rows, of those whose unit has several, with the most frequent value of the unit; 1 of none."""
        key = column, tuple(sorted(within))
        if key not in self._same:
            self._same[key] = self._share(self.unit(key[1]), self.code[column], self.levels[column] + 1)
        return self._same[key]

    @staticmethod
    def _share(unit: np.ndarray, code: np.ndarray, base: int) -> float:
        rows = np.bincount(unit)[unit] > 1
        if not rows.any():
            return 1.0
        pair, counts = np.unique(unit[rows] * base + code[rows] + 1, return_counts=True)
        first = np.flatnonzero(np.diff(pair // base, prepend=-1))
        return float(np.maximum.reduceat(counts, first).sum() / rows.sum())

    def follows(self, column: str, within: Iterable[str]) -> bool:
        """Whether a column is said of each unit, of which some have several rows: not merely that it seldom varies."""
        same, often = self.same(column, within), np.bincount(self.code[column] + 1).max() / max(self.n, 1)
        return self.repeated(within) > 0.1 and same > 0.98 and 1 - same < 0.2 * (1 - often)

    def n_units(self, within: Iterable[str]) -> int:
        return int(self.unit(within).max(initial=-1)) + 1

    def repeated(self, within: Iterable[str]) -> float:
        """Share of rows that come after another of the same unit."""
        return 1 - self.n_units(within) / max(self.n, 1)

    def each(self, column: str, within: Iterable[str]) -> float:
        """How many values of a column a unit has, on average."""
        unit = self.unit(within)
        pairs = np.unique(unit * (self.levels[column] + 1) + self.code[column] + 1)
        return len(pairs) / max(self.n_units(within), 1)

    def written(self, text: str, unit: list[str], who: str) -> bool:
        """Whether those who judged wrote a text or marked it: several judge a unit, and hardly two have the same."""
        person = self.kinds[who].kind in ("id", "counter") or named("annotator", who) > 0
        return person and self.each(who, [*unit, text]) <= _OWN * self.each(who, unit)

    def alike(self, one: Reading, other: Reading) -> bool:
        """Whether two readings divide the rows in the same way, by columns that say the same."""
        parts = ((one.item, other.item), ([one.system], [other.system]), ([one.annotator], [other.annotator]))
        of = [[c for c in part if c] for pair in parts for part in pair]
        pairs = zip(of[::2], of[1::2], strict=True)
        return all(self.n_units(a) == self.n_units(b) == self.n_units({*a, *b}) for a, b in pairs)

    def assigned(self, column: str, *within: str) -> bool:
        """Whether a column was assigned to the values of others: spread over them more evenly than answers are.

        By chi-square of their table, or as no value comes twice where chance would repeat some.
        """
        key = column, within
        if key not in self._assigned:
            unit = self.code[within[0]] if len(within) == 1 else self.unit(within)
            self._assigned[key] = self._even(self.code[column], unit)
        return self._assigned[key]

    @staticmethod
    def _even(value: np.ndarray, unit: np.ndarray) -> bool:
        there = (value >= 0) & (unit >= 0)
        value, unit = (np.unique(x[there], return_inverse=True)[1] for x in (value, unit))
        if not len(value):
            return False
        several = np.bincount(unit)[unit] > 1
        value, unit = (np.unique(x[several], return_inverse=True)[1] for x in (value, unit))
        if len(value) < 2:
            return False
        size, share = np.bincount(unit), np.bincount(value) / len(value)
        cells = np.unique(unit * len(share) + value, return_counts=True)[1]
        together = (size * (size - 1)).sum() / 2 * (share**2).sum()
        if cells.max() == 1 and len(share) < len(value):
            return bool(together >= _ENOUGH)
        df = (len(size) - 1) * (len(share) - 1)
        if df < _ENOUGH or len(size) * len(share) > 4_000_000:
            return False
        table = np.zeros((len(size), len(share)))
        np.add.at(table, (unit, value), 1)
        expected = np.outer(size, share)
        return bool(chi2.cdf((((table - expected) ** 2) / expected).sum(), df) < _EVEN)

    def kind_of_rows(self, keys: Iterable[str]) -> str | None:
        """A column of few words, of which each unit of `keys` has each at most once, and most rows have one: what the
        others are there for, such as checks of attention. None where no unit comes twice."""
        keys = [*keys]
        for c in self.few if 0 < self.repeated(keys) < _KINDS else []:
            often = np.bincount(self.code[c][self.code[c] >= 0]).max(initial=0)
            words = c not in keys and self.kinds[c].kind in ("words", "names")
            if words and often > (1 - _KINDS) * self.n and self.repeated([*keys, c]) == 0:
                return c
        return None

    def changes(self, column: str) -> int:
        """In how many rows a column is another than in the row before: few where rows come in blocks of it."""
        return int((np.diff(self.code[column]) != 0).sum())

    def counts(self, column: str, within: Iterable[str]) -> bool:
        """Whether the different whole numbers of most units count up, from 0 or 1 on, singly or in twos."""
        number = pd.to_numeric(self.cells[column], errors="coerce")
        by = number.groupby(self.unit(within))
        low, steps, n = by.min(), by.max() - by.min(), by.nunique() - 1
        good = low.isin((0, 1)) & (n > 0) & ((steps == n) | (steps == 2 * n))
        return bool(number.notna().all() and good.mean() > 0.9)

    def numbered(self, column: str, within: Iterable[str]) -> bool:
        """Whether whole numbers count the rows of most units, from 0 or 1 on."""
        number = pd.to_numeric(self.cells[column], errors="coerce").to_numpy(float)
        if np.isnan(number).any() or (number % 1 != 0).any():
            return False
        by = pd.Series(number).groupby(self.unit(within))
        size, low, high, n = by.size(), by.min(), by.max(), by.nunique()
        several = size > 1
        good = (n == size) & (high - low + 1 == size) & low.isin((0, 1))
        return bool(several.any() and good[several].mean() > 0.9)


def named(role: str, column: str) -> float:
    """Points of a name for a role: a usual name of it, its words, or a name of something else."""
    words, question = role_of(column), QUESTIONS.get(role)
    if words == role or plain(column.removeprefix("Input.")) in NAMES[role] or (question and question.search(column)):
        return 4.0
    answered = ASPECT.search(column) or CHOICE.search(column) or _ANSWERED.search(column)
    of_people = role != "dialogue" and _ABOUT.search(column) and not _PARTS.search(column)
    if (
        answered
        or of_people
        or words is not None
        or (role != "dialogue" and PLACE.search(column))
        or _ORDER.search(column)
    ):
        return -3.0
    return {"annotator": 1.5, "dialogue": -1.5}.get(role, 0.0) * bool(_PERSON.search(column))


def _alone(t: Table, role: str, column: str) -> float | None:
    """Points of a column for a role by itself; None where it cannot have it."""
    levels, kind, points = t.levels[column], t.kinds[column].kind, named(role, column)
    if kind not in NAMING or levels < 2 or (t.code[column] < 0).any():
        return None
    prose = column in t.texts
    if points <= 0 and kind in ("rating", "slider", "number", "words"):
        points -= 3.0
    if role == "system":
        if levels > min(MOST_SYSTEMS, t.n / 2) or (prose and t.cells[column].str.len().mean() >= SHORT):
            return None
        names = distinct_texts(t.cells[column])
        points += 2.5 * (sum(map(looks_like_model, names)) * 2 >= len(names))
        return points - 2.0 * personal(column, t.cells[column]) - 1.0 * (kind in ("counter", "id"))
    if role == "annotator":
        if {text.lower() for text in distinct_texts(t.cells[column])} <= {*ANSWERS}:
            return None
        points -= 2.0 * (levels * 2 > t.n + 1)
        points -= 2.0 * (kind == "text")
        return None if prose else points + 1.5 * personal(column, t.cells[column]) + 0.5 * (kind == "id")
    return points - 2.0 * prose + 0.5 * (kind in ("id", "counter")) + min(1.0, levels / t.n)


def _candidates(t: Table, role: str, free: list[str]) -> list[tuple[str | None, float]]:
    """The columns that may well have a role, with points; and none."""
    alone = {c: points for c in free if (points := _alone(t, role, c)) is not None}
    best = []
    for c in sorted(alone, key=lambda c: -alone[c])[: 3 * _TRIED]:
        # answers come as they come; what was assigned is spread evenly, and what is shown follows from what it is of
        judged = t.kinds[c].kind in ("rating", "slider", "number", "words") and alone[c] < 0
        tells = role == "dialogue" and any(t.follows(x, [c]) for x in (*t.texts, *t.saying) if x != c)
        others, few = ([x for x in many if x != c] for many in (t.saying, t.few))
        pairs = ([x, y] for x, y in itertools.combinations(few, 2) if min(t.each(x, [y]), t.each(y, [x])) > _SEVERAL)
        crossed = (t.crossed(c, x) for x in itertools.chain([others], pairs))
        if not judged or tells or any(t.assigned(c, x) for x in (others if t.saying else few)) or any(crossed):
            best.append(c)
            alone[c] += 2.0 * judged
    return [*((c, alone[c]) for c in sorted(best, key=lambda c: -alone[c])[:_TRIED]), (None, 0.0)]


def _items(t: Table, free: list[str]) -> list[tuple[tuple[str, ...], float]]:
    """Columns that may identify an item: one, or one and what is finer within it."""
    one = _candidates(t, "dialogue", free)
    coarse: list[list[str]] = [[], *([c] for c, _ in _candidates(t, "system", free)[:2] if c)]
    pairs = []
    for (first, points), c in itertools.product(one[:-1], t.few):
        if first is None or c == first or c not in free or t.same(c, [first]) > 0.9:
            continue
        texts = [x for x in t.texts if x not in (first, c)]
        told = any(
            max(t.same(x, [first, *s]), t.same(x, [c, *s])) < 0.9 and t.same(x, [first, c, *s]) > 0.98
            for x in texts
            for s in coarse
        )
        numbered = any(t.numbered(c, [first, *s]) for s in coarse if c not in s)
        if told or numbered:
            pairs.append(((first, c), points - 0.5 + 0.5 * (told and numbered)))
    together = tuple(c for c in t.texts if c in free and t.levels[c] > 1)
    shown = [(together, -1.0)] if 1 < len(together) < _TRIED and t.repeated(together) > 0.1 else []
    return [*(((c,) if c else (), points) for c, points in one), *pairs[:_TRIED], *shown]


def _fit(t: Table, item: tuple[str, ...], system: str | None, who: str | None) -> float:
    """Points of a reading for how well the table fits it, whatever things are called."""
    unit = [*item, *([system] if system else [])]
    keys = [*unit, *([who] if who else []), *t.keys]
    texts = [c for c in t.texts if c not in keys]
    points = _of_system(t, item, system, who, texts)
    if not item:
        return points - 1.5
    differ = [x for x in texts if t.same(x, unit) < 0.95 and not (who and t.written(x, unit, who))]
    if who:
        # the same was shown to several people, and hardly anything else: it is the item, and not each row
        points -= 1.5 * (not t.repeated(unit) and any(t.each(who, [x]) > 1.5 for x in texts))
        points += _of_people(t, item, unit, who, t.repeated(keys) if t.kind_of_rows(keys) is None else 0.0)
        comments = named("annotator", who) > 0
        points -= 5.0 * any(not comments or t.levels[x] <= 0.6 * t.n for x in differ)
    elif t.repeated(keys):
        sizes = np.bincount(np.unique(t.unit([*unit, *t.keys]), return_inverse=True)[1])
        points += 0.5 if (sizes == np.bincount(sizes).argmax()).mean() >= 0.9 else -2.0
        points -= 4.0 * bool(differ)
        free = [c for c in t.few if c not in keys and t.kinds[c].kind in _SAYING]
        points -= 3.0 * any(t.repeated([*unit, c, *t.keys]) == 0 for c in free)  # rows that have names
        points -= 2.0 * any(t.numbered(c, unit) for c in t.few if c not in keys and t.kinds[c].kind != "rating")
    points += 1.0 * (t.n_units(item) >= max(t.levels[c] for c in (system, who, item[0]) if c))
    again = t.repeated(unit) > 0  # where no unit comes again, nothing is said
    return points + again * min(1.5, 0.5 * sum(t.same(x, unit) > 0.98 and t.levels[x] > 1 for x in texts))


def _of_people(t: Table, item: tuple[str, ...], unit: list[str], who: str, left: float) -> float:
    """left : share of rows that repeat one of the same item, system and person."""
    needed = t.repeated([*unit, *t.keys]) > 0.02
    points = 2.0 * (needed or named("annotator", who) > 0) if left == 0 else -min(6.0, 1 + 20 * left)
    # where each item has one value of it and no row needs it to differ from others, it may as well be a topic
    topic = not needed and named("annotator", who) <= 0 and t.same(who, item) > 0.98
    points -= 3.0 * (topic and t.kinds[who].kind in ("names", "words") and not personal(who, t.cells[who]))
    points -= 4.0 * (t.each(who, item) * t.n_units(item) < 1.05 * t.levels[who])  # each person has an item of their own
    points -= 3.0 * (needed and t.same(who, item) > 0.98)
    points -= 1.5 * (named("annotator", who) <= 0 and t.numbered(who, unit))  # it may be a place in a list
    points -= 4.0 * any(t.written(c, [x for x in unit if x != c], who) for c in item[1:])
    about = [c for c in t.few if _ABOUT.search(c) and not _PARTS.search(c)]
    points += 3.0 * any(t.follows(c, [who]) for c in about) - 3.0 * any(t.follows(c, item) for c in about)
    points += 1.0 * (t.each(who, unit) > 1.2) + 0.5 * (t.n_units(item) >= t.levels[who])
    return points + (0.5 if t.n_units([who, *item]) >= 2 * t.levels[who] else -1.0)


def _of_system(t: Table, item: tuple[str, ...], system: str | None, who: str | None, texts: list[str]) -> float:
    points = 0.0
    others = [*item, *([who] if who else [])]
    if system is None:
        return points - 2.0 * any(_unexplained(t, c, others) for c in t.few if c not in others)
    points += 1.5 * any(t.assigned(system, c) for c in others)
    points += 0.5 * bool(who and t.changes(system) < t.changes(who))  # people judge one after the other
    points -= 2.0 * bool(who and t.same(system, [who]) > 0.98)
    points -= 1.5 * (named("system", system) <= 0 and t.numbered(system, others))
    if item:
        points -= 4.0 * (t.n_units([*item, system]) < 1.5 * t.levels[system])  # it answered one thing only
        of_both = [x for x in texts if t.same(x, item) < 0.9 and t.same(x, [system]) < 0.98]
        points += 3.0 * any(t.same(x, [*item, system]) > 0.98 for x in of_both)
        keys = [*others, *t.keys]
        points += 2.0 * (t.repeated(keys) > 0.02 and t.repeated([*keys, system]) == 0)
    return points


def _unexplained(t: Table, column: str, others: list[str]) -> bool:
    """Whether a column of few names was assigned to items or people, and no role says why."""
    few = 2 <= t.levels[column] <= MOST_SYSTEMS and t.kinds[column].kind in ("words", "names")
    few = few and named("system", column) >= 0
    return few and any(t.assigned(column, c) for c in others) and not any(t.same(column, [c]) > 0.98 for c in others)


def _apart(t: Table, item: tuple[str, ...], system: str | None, who: str, free: list[str]) -> list[str]:
    """Columns for each of whose values the ids of items may start again: they tell apart what one person judged of an
    item, or each is of other people, who all judged items numbered alike."""
    keys = [*item, *([system] if system else []), who, *t.keys]
    several = [c for c in t.few if c in free and c not in keys and t.each(c, item) > _SEVERAL]
    several = [c for c in several if max(named(role, c) for role in ROLES[1:]) <= 0]
    says = [c for c in several if t.kinds[c].kind in ("words", "names", "id") and t.levels[c] <= MOST_SYSTEMS]
    if t.repeated(keys):
        if (kind := t.kind_of_rows(keys)) and not _PARTS.search(kind):
            return []
        # where each item is of one system, it may have turns
        turns = [c for c in several if system and t.counts(c, item) and t.follows(system, item)]
        return [c for c in dict.fromkeys([*says, *turns]) if not t.repeated([*keys, c])]
    says = [c for c in says if t.levels[who] > t.levels[c] and (_PARTS.search(c) or not _ABOUT.search(c))]
    every = [c for c in says if t.each(c, item) > t.levels[c] - 0.1 and t.follows(c, [who])]
    return [c for c in every if t.counts(item[0], [c])]


def _scores(t: Table, keys: list[str], column: str) -> str | None:
    """The one column that holds scores, where another may name what was judged: each person has each of its values once
    for an item."""
    rated = [c for c in t.rated if c not in (*keys, column)]
    words = t.kinds[column].kind in ("words", "names") and t.levels[column] <= MOST_SYSTEMS
    return rated[0] if len(rated) == 1 and words and t.crossed(column, keys) else None


def _aspects(t: Table, column: str) -> bool:
    return any(map(ASPECT.search, distinct_texts(t.cells[column]))) or role_of(column) in ("label", "score")


def _says_system(t: Table, item: Iterable[str], column: str, who: str, scores: str) -> float:
    """Points for a column that may name what was judged for naming systems: texts, or names of what was judged."""
    names, item = distinct_texts(t.cells[column]), [*item]
    texts = any(t.same(x, item) < 0.9 and t.same(x, [*item, column]) > 0.98 for x in t.texts)
    models = sum(map(looks_like_model, names)) * 2 >= len(names)
    aspects = bool(ASPECT.search(scores)) - any(map(ASPECT.search, names))
    # all people judged one system, and then the next
    blocks = t.changes(column) < t.changes(who) and not _aspects(t, column)
    return 6.0 * texts + 2.0 * models + 1.0 * aspects + 1.0 * blocks - 0.5 + min(0.0, named("system", column))


def _says_item(t: Table, item: str, column: str, *, again: bool) -> float:
    """Points for a column for whose values the ids of items start again: rather one of people where none judged
    `again`."""
    blocks = 1.5 * (t.changes(column) < t.changes(item)) if again else -3.0
    points = 4.0 * bool(_PARTS.search(column)) + blocks
    return points - 6.0 * _aspects(t, column)


def read(t: Table, fixed: dict[str, str | None], free: list[str], apart: str = "") -> list[Reading]:
    """Readings of a table, the best first. fixed : role -> its column, or none, where somebody said so. free : other
    columns that may have one. apart : the column for whose values ids start again, or `none`, as somebody said."""
    items = [(tuple(filter(None, [fixed["dialogue"]])), 0.0)] if "dialogue" in fixed else _items(t, free)
    systems, people = ([(fixed[r], 0.0)] if r in fixed else _candidates(t, r, free) for r in ROLES[1:])
    most = sum(max((points for _, points in many), default=0.0) for many in (items, systems, people))
    out = []
    for (item, a), (system, b), (who, c) in itertools.product(items, systems, people):
        chosen = [x for x in (*item, system, who) if x]
        if len(set(chosen)) < len(chosen):
            continue
        out.append(Reading(item, system, who, a + b + c + _fit(t, item, system, who)))
        if not (item and who) or a + b + c < most - _FAR:
            continue
        for x in _apart(t, item, system, who, free):
            if len(item) == 1 and apart in ("", x):
                again = t.repeated([*chosen, *t.keys]) > 0
                points = a + b + c + _fit(t, (*item, x), system, who) + _says_item(t, item[0], x, again=again)
                points -= 3.0 * (system is None)  # it may be the system
                out.append(Reading((*item, x), system, who, points + _SAID * (apart == x), apart=x))
            scores = None if t.keys or apart else _scores(t, chosen, x)
            if scores:
                points = a + b + c + 1.0 - _says_system(t, item, x, who, scores)
                points += _fit(t.with_key(x), item, system, who)
                out.append(Reading(item, system, who, points, x, scores=scores))
    return sorted(out, key=lambda r: (-r.score, (r.system is not None) + (r.annotator is not None)))


def choose(out: Guess, cells: pd.DataFrame, item: pd.Series | None = None) -> None:
    """Give the columns of the best reading their roles, and ask where others come close. item : of each row, where
    several columns together say it."""
    fixed: dict[str, str | None] = {role: None for role in ROLES if f"no {role}" in out.answers}
    said = {role: out.columns[role] for role in ROLES if role in out.columns}
    fixed |= {role: c if c in cells else None for role, c in said.items()}  # others are not among these columns
    if item is not None:
        cells, fixed["dialogue"] = cells.assign(**{_TOGETHER: item}), _TOGETHER
    taken = {c for role, c in out.columns.items() if role not in ROLES}
    others = ("turn", "label", "system_b", "dialogue_b")
    keys = [out.columns[role] for role in others if out.columns.get(role) in cells]
    t = Table(cells, keys)
    out.table = Table(cells.drop(columns=_TOGETHER), keys) if item is not None else t
    # a corpus by its name may be something else
    free = [c for c in t.code if c not in taken - {out.columns.get("corpus")}]
    found = read(t, fixed, free, out.answers.get(_STARTS, ""))
    best = found[0]
    alone = [c for c in free if t.levels[c] == 1 and (t.code[c] == 0).all() and role_of(c) == "annotator"]
    # of an item judged again by the one who is named, others may have judged
    one = (
        alone if out.comparative or not t.repeated([*best.item, *([best.system] if best.system else []), *keys]) else []
    )
    who = best.annotator or (one[0] if len(one) == 1 and "annotator" not in fixed else None)
    for role, column in (("system", best.system), ("annotator", who)):
        if column and role not in fixed:
            out.columns[role] = column
            out.why[role] = _why(role, column)
    if best.label:
        out.columns |= {"label": best.label, "score": str(best.scores)}
        out.why["label"] = "each person has each of its values once for an item"
    _ask_apart(out, t, found)
    corpus = out.columns.get("corpus")
    if corpus and corpus in (best.system, best.annotator, best.label):
        del out.columns["corpus"]
    if corpus and best.apart == corpus:
        out.columns["dialogue"] = best.item[0]
    elif best.apart and best.system and t.counts(best.apart, best.item[:1]) and t.follows(best.system, best.item[:1]):
        out.columns |= {"dialogue": best.item[0], "turn": best.apart}
        out.why["turn"] = "it numbers what one system said"
    elif best.apart:
        out.identify, out.context = [*best.item, *([best.system] if best.system else [])], [*best.item]
        out.why["identify"] = f"for each value of {best.apart!r} the ids start again"
    elif len(best.item) == 1 and "dialogue" not in fixed:
        out.columns["dialogue"] = best.item[0]
        out.why["dialogue"] = _why("dialogue", best.item[0])
    elif best.item and "dialogue" not in fixed:
        out.identify = [*best.item, *([best.system] if best.system else [])]
        out.columns |= {"context": best.item[0]} if best.system else {}
        out.why["identify"] = "together they tell apart what was shown"
    near = [r for r in found[1:] if (r.score > best.score - 2 * CLOSE or _other_way(r, best)) and not t.alike(r, best)]
    judged_by_it = [r for r in near if best.system and r.label == best.system and _near(r, best, CLOSE)]
    for r in judged_by_it[:1]:
        says = f"none: {best.system!r} names what was judged"
        judged = Answer(says, given={"label": str(r.label), "score": str(r.scores)})
        out.ask("system", _TEXT["system"], f"the column {best.system!r}", judged)
    for role in ROLES:
        chosen = _column(best, role)
        # a column that no name speaks for is asked about sooner
        far = CLOSE * (1 if chosen is None or named(role, chosen) > 0 else 2)
        close = [_column(r, role) for r in near if role not in fixed and _near(r, best, far)]
        out.close[role] = [*dict.fromkeys(c or "" for c in close if c != chosen)]
        rivals = dict.fromkeys(c for r in found[1:] if (c := _column(r, role)) and c != chosen)
        out.rivals[role] = [c for c in rivals if c not in out.columns.values()][:4]


def _ask_apart(out: Guess, t: Table, found: list[Reading]) -> None:
    """Ask what a column is for whose values the ids of items may start again."""
    best = found[0] if found[0].apart != out.columns.get("corpus") else replace(found[0], apart=None)
    taken = (best.item[:1] if best.apart else best.item, best.system, best.annotator)
    far = [r for r in found if r.score > best.score - _FAR and (r.apart or r.label)]
    columns = dict.fromkeys(c for r in far if (c := r.apart or r.label) not in (*taken[0], *taken[1:]))
    if _STARTS in out.answers or not columns:
        return
    c, ways = str(next(iter(columns))), dict[str, Answer]()
    for r in (r for r in far if r.apart == c and r.item[:1] == taken[0][:1]):
        counts = t.counts(c, r.item[:1])
        says = f"a turn or part: it counts within {r.item[0]!r}" if counts else f"{r.item[0]!r} starts again for each"
        ways.setdefault("apart", Answer(f"{says}, {counted(t.n_units(r.item), 'item')} in all", given={_STARTS: c}))
    for r in (r for r in far if r.label == c):
        ways["label"] = Answer("what was judged: its values are labels", given={"label": c, "score": str(r.scores)})
    if best.system is None:
        ways["system"] = Answer("the system", given={"system": c})
    ways["none"] = Answer(f"neither: the same {taken[0][0]!r} is the same item", given={_STARTS: "none"})
    assumed = ways.get("apart" if best.apart == c else "label" if best.label == c else "none")
    if assumed and "apart" in ways:
        out.ask(
            "item: rows apart",
            f"What is {c!r}, with {counted(t.levels[c], 'value')}?",
            assumed.says,
            *(way for way in ways.values() if way is not assumed),
        )


def _near(reading: Reading, best: Reading, far: float) -> bool:
    return reading.score > best.score - far or _other_way(reading, best)


def _other_way(reading: Reading, best: Reading) -> bool:
    """Whether a reading differs in what is hard to tell: items and people of unknown names the other way round, or a
    column of systems that may name what was judged."""
    if best.label or reading.label:
        same = (best.label or best.system) == (reading.label or reading.system) and best.item == reading.item
        return same and reading.score > best.score - 3 * CLOSE
    unknown = [c for c in (*best.item, best.annotator) if c and named("dialogue", c) <= 0 >= named("annotator", c)]
    swapped = reading.item == (best.annotator,) and best.item == (reading.annotator,)
    return swapped and len(unknown) == 2


def _column(reading: Reading, role: str) -> str | None:
    return (reading.item or (None,))[0] if role == "dialogue" else getattr(reading, role)


def _why(role: str, column: str) -> str:
    return "by its name" if named(role, column) > 0 else "the table fits this reading best"


def columns_for(t: Table, role: str, found: list[Reading], free: list[str]) -> list[str]:
    """Columns that could have a role which the first of the readings `found` does not give them, the likely first."""
    tried = [c for r in found for c in (_column(r, role),) if c]
    rest = {c: points for c in free if t.kinds[c].kind in _SAYING and (points := _alone(t, role, c)) is not None}
    taken = {*found[0].item, found[0].system, found[0].annotator}
    return [c for c in dict.fromkeys([*tried, *sorted(rest, key=lambda c: -rest[c])]) if c not in taken][:_CHOICES]


_TEXT = {
    "system": "Which column names the system?",
    "annotator": "Who judged?",
    "dialogue": "What is one item?",
}


_NONE = {"system": "no column: one system", "annotator": "no column says it", "dialogue": "each row"}


def ask(out: Guess, cells: pd.DataFrame) -> None:
    """Ask about roles of which other readings come close, and note which columns could have each (`choices`).

    What somebody is asked about a role in other words offers these columns, too.
    """
    t = out.table
    if t is None or out.comparative:
        return
    named_for_it = [out.columns.get("dialogue", ""), out.columns.get("context", ""), *out.identify]
    item = [*dict.fromkeys(c for c in named_for_it if c and c in cells and c != out.columns.get("system"))]
    for role in ROLES:
        fact, chosen = (
            ("item", item) if role == "dialogue" else (role, [c for r, c in out.columns.items() if r == role])
        )
        free = {c: points for c in t.code if (points := _could(t, out, role, c)) is not None}
        of_unit = [c for c in (*item, out.columns.get("system", "")) if c in t.code]
        place = role == "annotator" and chosen and chosen[0] in t.code and named(role, chosen[0]) <= 0
        if place and of_unit and t.numbered(chosen[0], of_unit):  # it may be a place in a list
            out.close[role] = [*dict.fromkeys(["", *out.close[role]])]
        given = [c for r, c in out.columns.items() if r in ROLES and c in t.code and named(r, c) <= 0]
        others = dict.fromkeys([*out.close[role], *out.rivals[role], *sorted(free, key=lambda c: -free[c]), *given])
        columns = [c for c in others if [c] != chosen and (c in cells if c else chosen)]
        columns = sorted(columns, key=lambda c: bool(_ABOUT.search(c)))[:_CHOICES]
        no = {f"no {role}": "none"}
        out.choices[role] = [
            Answer(_means(out, cells, role, [c], item), given={role: c}) if c else Answer(_NONE[role], given=no)
            for c in columns
        ]
        earlier = [i for i, q in enumerate(out.questions) if q.fact == fact]
        for i in earlier[:1]:
            more = (*out.questions[i].alternatives, *out.choices[role])
            out.questions[i] = replace(out.questions[i], alternatives=more)
        if out.close[role] and chosen and set(chosen) <= set(cells) and not earlier:
            assumed = _means(out, cells, role, chosen, item)
            out.ask(fact, _TEXT[role], assumed, *out.choices[role], evidence=out.why.get(role, ""))


def _could(t: Table, out: Guess, role: str, column: str) -> float | None:
    """Points of a column that varies and could have a role, though no reading that was tried gives it that."""
    scores = column in out.score_columns and (role != "system" or t.kinds[column].kind not in ("words", "names"))
    kind, unread = t.kinds[column].kind, column in t.few and not out.metrics.count(column)
    number = kind == "rating" and (unread or (role == "system" and looks_like_model(column)))
    if column in out.columns.values() or scores or not (number or kind in (*_SAYING, "text")):
        return None
    return _alone(t, role, column)


def _means(out: Guess, cells: pd.DataFrame, role: str, columns: list[str], item: list[str]) -> str:
    """Columns in a role, with what they would mean in numbers."""
    system = [c for c in (out.columns.get("system"),) if c in cells]
    unit = [
        c for c in (*(item if role == "system" else columns), *(columns if role == "system" else system)) if c in cells
    ]
    scores = [c for c in out.score_columns if c not in columns]
    n = sum(int((~cells[c].isin(out.na_values)).sum()) for c in scores) if scores else len(cells)
    items = counted(len(np.unique(units(cells, [*dict.fromkeys(unit)]))) if unit else len(cells), "item")
    levels = cells[columns[0]].nunique()
    what = {"system": counted(levels, "system"), "annotator": f"{levels:,} people"}.get(role, items)
    of = f" of {items}" if role == "system" else ""
    which = f"the column {columns[0]!r}" if len(columns) == 1 else f"{' and '.join(map(repr, columns))} together"
    return f"{which}: {what}, {counted(n, 'judgement')}{of}"
