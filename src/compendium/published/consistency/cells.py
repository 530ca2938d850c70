"""Printed numbers as cells with names, patterns that select them, and the ranges that they stand for.

A cell is named `element/panel/row/column`, e.g. `Table 3/free_run_1/a/overall`; a cell of another paper has the paper
and a colon before it. A pattern is such a name in which a part may be `*` (any), `a|b` (one of), `!a|b` (none of), and
may hold `{panel}`, `{row}`, `{column}`, `{element}`, which are filled in from another cell.

A printed number stands for every value that is rounded to it. Arithmetic on such ranges is exact: fractions. A range is
closed, so that both ways of rounding an exact half are allowed. Operations on ranges are those of interval arithmetic
(Moore 1966): the result holds every value that the inputs can give. Where an input occurs twice in an expression it may
hold more, which can hide an error but never invents one.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import floor, inf

import pandas as pd

from compendium.published.mapping import title
from compendium.published.numbers import PLACE, fits, parts_of

RELATIONS = {"==": operator.eq, "<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}
Number = Fraction | float


@dataclass(frozen=True)
class Range:
    """All values from `low` to `high`, fractions; infinite where nothing is known."""

    low: Number
    high: Number

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.high + other.high)

    def __sub__(self, other: Range) -> Range:
        return Range(self.low - other.high, self.high - other.low)

    def __mul__(self, other: Range) -> Range:
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Range(min(ends), max(ends))

    def __truediv__(self, other: Range) -> Range:
        if other.low <= 0 <= other.high:
            return Range(-inf, inf)
        ends = [a / b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Range(min(ends), max(ends))

    @property
    def width(self) -> Number:
        return self.high - self.low

    @property
    def whole(self) -> bool:
        """Whether the range holds a whole number."""
        return self.width == inf or floor(self.high) >= self.low

    def text(self, decimals: int) -> str:
        """`0.33`, or `0.33 to 0.35`, with the given number of decimals; none where both ends are whole."""
        places = 0 if all(v == round(v) for v in (self.low, self.high)) else decimals
        low, high = (f"{float(v):,.{places}f}" for v in (self.low, self.high))
        return low if low == high else f"{low} to {high}"


def exactly(value: str | int | float | Fraction) -> Range:
    """A value that was not rounded; floats by their shortest decimal form."""
    value = value if isinstance(value, Fraction) else Fraction(str(value))
    return Range(value, value)


def printed(value: str, decimals: int) -> Range:
    """All values that are printed as `value` with this many decimals.

    >>> printed("0.40", 2)
    Range(low=Fraction(79, 200), high=Fraction(81, 200))
    """
    half = Fraction(1, 2 * 10**decimals)
    return Range(Fraction(value) - half, Fraction(value) + half)


def possible(left: Range, relation: str, right: Range) -> bool:
    """Whether some values of the two ranges satisfy the relation.

    Raises ValueError for a relation that is not one of RELATIONS.
    """
    if relation not in RELATIONS:
        raise ValueError(f"relation: expected one of {', '.join(RELATIONS)}, found {relation!r}")
    if relation == "==":
        return left.low <= right.high and right.low <= left.high
    return RELATIONS[relation](*((left.low, right.high) if relation[0] == "<" else (left.high, right.low)))


def certain(left: Range, relation: str, right: Range) -> bool:
    """Whether all values of the two ranges satisfy the relation (not equality)."""
    opposite = {"<=": ">", ">=": "<", "<": ">=", ">": "<="}
    return not possible(left, opposite[relation], right)


def total(ranges: Sequence[Range]) -> Range:
    return Range(sum(r.low for r in ranges), sum(r.high for r in ranges))


#: what an expression may call: on all ranges of a name, or on single ranges
ON_ALL: dict[str, Callable[[Sequence[Range]], Range]] = {
    "sum": total,
    "max": lambda rs: Range(max(r.low for r in rs), max(r.high for r in rs)),
    "min": lambda rs: Range(min(r.low for r in rs), min(r.high for r in rs)),
    "count": lambda rs: exactly(len(rs)),
}
ON_ONE: dict[str, Callable[..., Range]] = {
    "between": lambda low, high: Range(low.low, high.high),
    "pairs": lambda n: n * (n - exactly(1)) / exactly(2),
}
_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def evaluate(expression: str, names: Mapping[str, Sequence[Range]]) -> Range:
    """The range of an expression: + - * /, brackets, numbers, names, and the functions of ON_ALL and ON_ONE.

    names : what each name means. A name of several ranges may only be used inside `sum`, `max`, `min` or `count`.
    `between(a, b)` is everything from a to b, `pairs(n)` the number of pairs of n things.

    Raises ValueError for anything else. Nothing is executed.
    """
    return _value(ast.parse(expression, mode="eval").body, expression, names)


def _value(node: ast.expr, expression: str, names: Mapping[str, Sequence[Range]]) -> Range:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return exactly(node.value)
    if isinstance(node, ast.Name) and len(names.get(node.id, ())) == 1:
        return names[node.id][0]
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = (_value(side, expression, names) for side in (node.left, node.right))
        return _OPERATORS[type(node.op)](left, right)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id in ON_ALL and len(node.args) == 1 and isinstance(node.args[0], ast.Name):
            return ON_ALL[node.func.id](names[node.args[0].id])
        if node.func.id in ON_ONE:
            return ON_ONE[node.func.id](*(_value(a, expression, names) for a in node.args))
    source = ast.unparse(node)
    if isinstance(node, ast.Name) and node.id in names:
        raise ValueError(f"{expression!r}: {source} stands for {len(names[node.id])} numbers; sum or average them")
    readable = ", ".join([*names, *ON_ALL, *ON_ONE])
    raise ValueError(f"{expression!r}: cannot read {source!r}; known are + - * / and {readable}")


@dataclass(frozen=True)
class PrintedNumber:
    """A printed number. text : as printed. decimals : printed, or dropped zeros added. exact : it was not rounded."""

    paper: str
    element: str
    panel: str
    row: str
    column: str
    text: str
    decimals: int
    exact: bool
    unit: str

    @cached_property
    def name(self) -> str:
        return "/".join((self.element, self.panel, self.row, self.column))

    @cached_property
    def id(self) -> str:
        return f"{self.paper}:{self.name}"

    @cached_property
    def range(self) -> Range:
        return exactly(self.text) if self.exact else printed(self.text, self.decimals)

    @property
    def place(self) -> dict[str, str]:
        """Paper and place, as the columns of frames name them."""
        return {part: getattr(self, part) for part in ("paper", *PLACE)}

    def fill(self, pattern: str) -> str:
        """The pattern with `{panel}` and the like replaced by this cell's."""
        for part in PLACE:
            pattern = pattern.replace(f"{{{part}}}", getattr(self, part))
        return pattern

    def said(self, part: str) -> str:
        """Its panel, row or column as readers know it."""
        return title(self.paper, getattr(self, part))

    def tell(self, sentence: str) -> str:
        """The sentence with `{panel}` and the like replaced by what readers know them as."""
        for part in PLACE:
            sentence = sentence.replace(f"{{{part}}}", self.element if part == "element" else self.said(part))
        return sentence

    @property
    def words(self) -> str:
        """Its place in words: `Table 3, First run, Overall`."""
        return ", ".join(dict.fromkeys([self.element, *(self.said(part) for part in ("panel", "row", "column"))]))


class Printed:
    """The printed numbers of all papers.

    Parameters
    ----------
    frame : DataFrame
        Columns of `numbers.load()`, in the order of print.
    exact : collection of str
        Units whose numbers are never rounded.
    zeros_dropped : collection of (paper, element)
        Where trailing zeros are left out in print, so that a row has the decimals of its longest number.
    """

    def __init__(
        self, frame: pd.DataFrame, exact: Collection[str] = (), zeros_dropped: Collection[tuple[str, str]] = ()
    ):
        longest = frame.groupby(["paper", "element", "row"])["decimals"].transform("max")
        dropped = [pair in zeros_dropped for pair in zip(frame["paper"], frame["element"], strict=True)]
        frame = frame.assign(decimals=longest.where(dropped, frame["decimals"]), exact=frame["unit"].isin(list(exact)))
        columns = ["paper", *PLACE, "printed", "decimals", "exact", "unit"]
        self.cells = [PrintedNumber(*row) for row in frame[columns].itertuples(index=False, name=None)]
        self._by_element: dict[tuple[str, str], list[PrintedNumber]] = {}
        for cell in self.cells:
            self._by_element.setdefault((cell.paper, cell.element), []).append(cell)
        self.select = lru_cache(maxsize=None)(self._select)

    def _select(self, pattern: str, paper: str) -> tuple[PrintedNumber, ...]:
        """Cells that a pattern names, in the order of print; `paper` is meant where the pattern names none.

        Raises ValueError where the pattern has not four parts or nothing fits.
        """
        owner, _, name = pattern.rpartition(":")
        wanted, paper = dict(zip(PLACE, parts_of(name), strict=True)), owner or paper
        named = tuple(
            cell
            for (p, element), cells in self._by_element.items()
            if p == paper and fits(wanted["element"], element)
            for cell in cells
            if all(fits(wanted[part], getattr(cell, part)) for part in PLACE[1:])
        )
        if not named:
            raise ValueError(f"{pattern!r}: {paper} prints no such number")
        return named


def ids(cells: Iterable[PrintedNumber]) -> str:
    """Names of cells for a column of a frame, each once."""
    return "; ".join(dict.fromkeys(c.id for c in cells))
