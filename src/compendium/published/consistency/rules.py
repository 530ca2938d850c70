"""Relations that printed numbers must satisfy: one plain function per rule of `<paper>_checks.yaml`.

A check names a rule and says which printed numbers each argument is. An argument is a list of cells, except `target`,
the one number that is checked, and `terms`, all numbers by name, for rules with an expression. A rule finds an
inconsistency only where no values that round to the printed numbers satisfy the relation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from math import ceil, floor
from typing import Any

from compendium.published.consistency import statistics
from compendium.published.consistency.cells import PrintedNumber, Range, certain, evaluate, exactly, possible, total

CONSISTENT, INCONSISTENT, IMPLAUSIBLE, OPEN = "consistent", "inconsistent", "implausible", "not checkable"
#: how a relation reads
WORDS = {"==": "equal to", "<=": "at most", ">=": "at least", "<": "less than", ">": "more than"}
Cells = Sequence[PrintedNumber]
Terms = Mapping[str, Cells]


@dataclass(frozen=True)
class Outcome:
    """What a rule found. value : the range that the other numbers allow for the target, where it is recomputed."""

    outcome: str
    evidence: str
    value: Range | None = None


def _outcome(fits: bool, evidence: str, value: Range | None = None) -> Outcome:
    return Outcome(CONSISTENT if fits else INCONSISTENT, evidence, value)


def _ranges(cells: Cells) -> list[Range]:
    return [c.range for c in cells]


def _evaluated(expression: str, terms: Terms) -> Range:
    return evaluate(expression, {name: _ranges(cells) for name, cells in terms.items()})


def _printed(target: PrintedNumber) -> str:
    """How evidence begins: what is printed, and what it stands for."""
    meant = f" ({target.range.text(target.decimals + 1)})" if target.range.width else ""
    return f"Printed {target.text}{meant}"


def _expected(target: PrintedNumber, value: Range, relation: str = "==", fits: bool | None = None) -> Outcome:
    """The target compared with the range that other numbers allow, which is shown with two more decimals."""
    words = "" if relation == "==" else f"{WORDS[relation]} "
    fits = possible(target.range, relation, value) if fits is None else fits
    return _outcome(fits, f"{_printed(target)}, expected {words}{value.text(target.decimals + 2)}.", value)


# one number recomputed from others


def same(target: PrintedNumber, x: Cells) -> Outcome:
    """A number printed twice: alike in both places, or rounded where one has fewer decimals."""
    (other,) = x
    alike = exactly(other.text) == exactly(target.text) if other.decimals == target.decimals else None
    return _expected(target, other.range, fits=alike)


def summed(target: PrintedNumber, x: Cells) -> Outcome:
    return _expected(target, total(_ranges(x)))


def averaged(target: PrintedNumber, x: Cells) -> Outcome:
    return _expected(target, total(_ranges(x)) / exactly(len(x)))


def percentage(target: PrintedNumber, part: Cells, whole: Cells) -> Outcome:
    return _expected(target, exactly(100) * total(_ranges(part)) / total(_ranges(whole)))


def equation(target: PrintedNumber, terms: Terms, expression: str, relation: str) -> Outcome:
    return _expected(target, _evaluated(expression, terms), relation)


def pearson(target: PrintedNumber, x: Cells, y: Cells) -> Outcome:
    """Pearson's correlation of two columns, matched by row."""
    return _correlation(target, x, y, statistics.pearson)


def spearman(target: PrintedNumber, x: Cells, y: Cells) -> Outcome:
    """Spearman's correlation of two columns, matched by row."""
    return _correlation(target, x, y, statistics.spearman)


def _correlation(target: PrintedNumber, x: Cells, y: Cells, bounds_of: Callable) -> Outcome:
    values = {c.row: c.range for c in x}
    if set(values) != {c.row for c in y}:
        raise ValueError(f"x and y have different rows: {sorted(set(values) ^ {c.row for c in y})}")
    bounds = bounds_of([values[c.row] for c in y], _ranges(y))
    if bounds is None:
        return Outcome(OPEN, "Too many values are printed alike for their order to be known.")
    places = target.decimals + 2
    evidence = f"{_printed(target)}; the columns allow {bounds.outer.text(places)}."
    reached = possible(target.range, "==", bounds.inner)
    if reached or not possible(target.range, "==", bounds.outer):
        return _outcome(reached, evidence, bounds.outer)
    return Outcome(OPEN, f"{evidence} Only {bounds.inner.text(places)} is known to be reached.", bounds.outer)


def count(target: PrintedNumber, x: Cells, versus: Sequence[Cells], relation: str) -> Outcome:
    """How many of x have the relation to the largest of those they are compared with (the smallest, for less)."""
    value = tally(_compared(x, versus, relation), relation)
    fits = possible(target.range, "==", value)
    return _outcome(fits, f"{_printed(target)}, counted {value.text(0)} of {len(x)}.", value)


def distinct(target: PrintedNumber, x: Cells, field: str) -> Outcome:
    """How many panels, rows or columns there are."""
    names = list({getattr(c, field): c.said(field) for c in x}.values())
    value = exactly(len(names))
    fits = possible(target.range, "==", value)
    return _outcome(fits, f"{_printed(target)}; there are {len(names)}: {', '.join(names)}.", value)


def power(target: PrintedNumber, effect: Cells, n: Cells, alpha: Cells, test: str) -> Outcome:
    """The power of a two-sided test; see `statistics.power`."""
    (e,), (size,), (level,) = effect, n, alpha
    return _expected(target, statistics.power(test, e.range, int(size.range.low), float(level.range.low)))


def weights(cases: Sequence[Mapping[str, Any]]) -> list[Outcome]:
    """Weighted means of columns (`target`, `x`), by one choice of whole-number weights that sum to `total`.

    Called once with the arguments of all targets: the weights that fit most of them count.
    """
    columns, targets, rows = [_ranges(c["x"]) for c in cases], [c["target"] for c in cases], cases[0]["x"]
    (sum_of_weights,) = _ranges(cases[0]["total"])
    best = best_weights(_ranges(targets), columns, int(sum_of_weights.low))
    choice, missed = best[0]
    named = ", ".join(f"{c.said('row')} {w}" for c, w in zip(rows, choice, strict=True))
    choices = f"Of all whole-number weights that sum to {sum_of_weights.text(0)}, {named} fit most columns, "
    choices += f"{len(cases) - len(missed)} of {len(cases)}"
    choices += "." if len(best) == 1 else f" ({len(best)} choices fit as many)."
    out = []
    for i, target in enumerate(targets):
        value = weighted(columns[i], choice)
        evidence = f"{choices} {_printed(target)}, with these weights {value.text(target.decimals + 2)}."
        out.append(_outcome(not any(i in positions for _, positions in best), evidence, value))
    return out


# relations that recompute no number


def relation(terms: Terms, left: str, relation: str, expression: str) -> Outcome:
    sides = [_evaluated(side, terms) for side in (left, expression)]
    places = max(c.decimals for cells in terms.values() for c in cells) + 1
    evidence = f"{sides[0].text(places)} must be {WORDS[relation]} {sides[1].text(places)}."
    return _outcome(possible(sides[0], relation, sides[1]), evidence)


def whole(terms: Terms, expression: str) -> Outcome:
    value = _evaluated(expression, terms)
    return _outcome(value.whole, f"It comes to {value.text(3)}.", value)


def grim(target: PrintedNumber, terms: Terms, expression: str) -> Outcome:
    """GRIM: whether the target can be a mean of whole numbers, or a percentage; the expression is their number."""
    n, percent = _evaluated(expression, terms), target.unit == "%"
    if n.width or not n.whole:
        return Outcome(OPEN, f"The number of cases is not fixed: {n.text(2)}.")
    fits = possible_mean(target.range / exactly(100) if percent else target.range, int(n.low))
    what = f"a percentage of {int(n.low)} cases" if percent else f"a mean of {int(n.low)} whole numbers"
    if fits is None:
        return Outcome(OPEN, f"With so few decimals any number can be {what}.")
    return _outcome(fits, f"{_printed(target)}, which can{'' if fits else 'not'} be {what}.")


def ordered(x: Cells, relation: str) -> Outcome:
    wrong = out_of_order(_ranges(x), relation)
    misplaced = ", ".join(f"{x[i].words} ({x[i].text}) after {x[i - 1].text}" for i in wrong)
    evidence = f"Out of order: {misplaced}." if wrong else f"Each of the {len(x)} is {WORDS[relation]} the next."
    return _outcome(not wrong, evidence)


def share(x: Cells, versus: Sequence[Cells], relation: str, word: str, meant: tuple[float, float]) -> Outcome:
    """A claim such as "rarely" or "in general", as the conventions read the word."""
    pairs, (low, high) = _compared(x, versus, relation), meant
    number = tally(pairs, relation)
    few = high < 0.5
    odd = [
        c.name
        for c, (left, right) in zip(x, pairs, strict=True)
        if (certain(left, relation, right) if few else not possible(left, relation, right))
    ]
    evidence = f"{number.text(0)} of {len(x)}; “{word}” is taken as {Range(100 * low, 100 * high).text(0)} %."
    evidence += f" {'These are' if few else 'Not so'}: {', '.join(odd)}." if odd else ""
    claimed = Range(exactly(low).low, exactly(high).low)
    return _outcome(possible(number / exactly(len(x)), "==", claimed), evidence)


def reordered(x: Cells, y: Cells, order: Cells) -> Outcome:
    """Whether x, as printed, holds the values of y listed in the row order of another table."""
    values, rows = {c.row: c.range for c in y}, [c.row for c in order]
    if [values[row] for row in rows] == _ranges(x):
        moved = ", ".join(
            f"{c.said('row')} has that of {o.said('row')}" for c, o in zip(x, order, strict=True) if c.row != o.row
        )
        return _outcome(True, f"They are: {moved}.")
    alike = sorted(c.range.low for c in x) == sorted(c.range.low for c in y)
    return _outcome(False, "They are the same numbers in yet another order." if alike else "They are other numbers.")


def homogeneous(x: Cells, n: Cells, below: float) -> Outcome:
    """Whether chance makes the differences between parts of a random split; see `statistics.homogeneity`."""
    hundred, sizes = exactly(100 if x[0].unit == "%" else 1), {c.column: int(c.range.low) for c in n}
    p, odd = statistics.homogeneity([r / hundred for r in _ranges(x)], [sizes[c.column] for c in x])
    values = ", ".join(f"{c.said('column')} {c.text}" for c in x)
    if p < below:
        evidence = f"{values}: farther apart than chance makes them (p < {below:g}); {x[odd].said('column')} is odd."
        return Outcome(IMPLAUSIBLE, evidence)
    return _outcome(True, f"{values}: chance makes such differences (p = {p:.2g}).")


def unprinted() -> Outcome:
    return Outcome(OPEN, "The numbers behind it are not printed.")


#: rule of a check -> its function
RULES: dict[str, Callable[..., Outcome]] = {
    **{"copy": same, "sum": summed, "mean": averaged, "sorted": ordered},
    **{f.__name__: f for f in (percentage, equation, pearson, spearman, count, distinct, power, relation, whole)},
    **{f.__name__: f for f in (grim, share, reordered, homogeneous, unprinted)},
}


# arithmetic on ranges


def possible_mean(mean: Range, n: int) -> bool | None:
    """Whether some sum of `n` whole numbers has a mean in the range; None where every range so wide holds one.

    Raises
    ------
    ValueError
        Where n is not positive.

    References
    ----------
    Brown and Heathers 2017, "The GRIM test", Social Psychological and Personality Science 8, 363-369: means of whole
    numbers are multiples of 1 / n.
    """
    if n <= 0:
        raise ValueError(f"n: expected a positive number of ratings, found {n}")
    if mean.width * n >= 1:
        return None
    return floor(mean.high * n) >= ceil(mean.low * n)


def out_of_order(values: Sequence[Range], relation: str) -> list[int]:
    """Positions of values that cannot have the relation to the one before."""
    return [i + 1 for i, (before, value) in enumerate(pairwise(values)) if not possible(before, relation, value)]


def _compared(x: Cells, versus: Sequence[Cells], relation: str) -> list[tuple[Range, Range]]:
    extreme = "max(others)" if relation in (">", ">=") else "min(others)"
    return [(cell.range, evaluate(extreme, {"others": _ranges(o)})) for cell, o in zip(x, versus, strict=True)]


def tally(pairs: Sequence[tuple[Range, Range]], relation: str) -> Range:
    """How many of the pairs have the relation: at least `low`, at most `high`."""
    sure = sum(certain(left, relation, right) for left, right in pairs)
    return Range(Fraction(sure), Fraction(sum(possible(left, relation, right) for left, right in pairs)))


def divided(total: int, parts: int) -> list[tuple[int, ...]]:
    """Every way to write `total` as a sum of that many positive whole numbers, order mattering."""
    cuts = combinations(range(1, total), parts - 1)
    return [tuple(b - a for a, b in pairwise((0, *c, total))) for c in cuts]


def best_weights(
    means: Sequence[Range], columns: Sequence[Sequence[Range]], total: int
) -> list[tuple[tuple[int, ...], set[int]]]:
    """Whole-number weights under which most of the means are weighted means of their columns.

    Parameters
    ----------
    means : sequence of Range
        One per column.
    columns : sequence of sequence of Range
        The values averaged, in the same order in every column.
    total : int
        What the weights sum to.

    Returns
    -------
    Every best choice of weights, each with the positions of the means that it does not fit.
    """
    tried = []
    for choice in divided(total, len(columns[0])):
        fits = [possible(m, "==", weighted(column, choice)) for m, column in zip(means, columns, strict=True)]
        tried.append((choice, {i for i, fit in enumerate(fits) if not fit}))
    fewest = min(len(missed) for _, missed in tried)
    return [(choice, missed) for choice, missed in tried if len(missed) == fewest]


def weighted(values: Sequence[Range], by: Sequence[int]) -> Range:
    """The mean of the values with fixed weights."""
    return total([exactly(w) * v for w, v in zip(by, values, strict=True)]) / exactly(sum(by))


def fixes(value: Range, decimals: int, exact: bool) -> bool:
    """Whether a recomputed range is narrow enough to determine a number printed with that many decimals.

    It must be narrower than one unit of the last decimal to either side; for a number that is not rounded, it must
    leave no other whole number.
    """
    unit = Fraction(1, 10**decimals)
    return value.width < (unit if exact else 2 * unit)
