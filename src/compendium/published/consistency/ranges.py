"""A printed number stands for every value that is rounded to it. Arithmetic on such ranges is exact: fractions.

A range is closed, so that both ways of rounding an exact half are allowed. Operations on ranges are those of interval
arithmetic (Moore 1966): the result holds every value that the inputs can give. Where an input occurs twice in an
expression it may hold more, which can hide an error but never invents one.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, inf

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
