"""One check on the cells it is about: which rule, on which numbers, and what came out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from helpers.audit import coefficients, plausibility, rules
from helpers.audit.cells import Cell, Printed
from helpers.audit.checks import Check, Conventions, Instead
from helpers.audit.ranges import Range, certain, evaluate, exactly, possible

CONSISTENT, INCONSISTENT, IMPLAUSIBLE, OPEN = "consistent", "inconsistent", "implausible", "not checkable"
#: how a relation reads
WORDS = {"==": "equal to", "<=": "at most", ">=": "at least", "<": "less than", ">": "more than"}


@dataclass(frozen=True)
class Finding:
    """What a rule found. value : the range recomputed from the other numbers, None where there is no such range."""

    outcome: str
    evidence: str
    value: Range | None = None
    cells: tuple[Cell, ...] = ()
    target: Cell | None = None


@dataclass(frozen=True)
class Case:
    """A check at one place. anchor : the cell that fills patterns; it is the target where the check has one."""

    check: Check
    paper: str
    anchor: Cell | None
    numbers: Printed
    conventions: Conventions
    use: Mapping[str, str] = field(default_factory=dict)

    def cells(self, name: str) -> tuple[Cell, ...]:
        pattern = self.use[name]
        return self.numbers.select(self.anchor.fill(pattern) if self.anchor else pattern, self.paper)

    def range(self, cell: Cell, name: str) -> Range:
        if name in self.check.exact:
            return exactly(cell.text)
        return cell.rounded if name in self.check.rounded else cell.range

    def ranges(self, name: str) -> list[Range]:
        return [self.range(c, name) for c in self.cells(name)]

    def names(self) -> dict[str, list[Range]]:
        return {name: self.ranges(name) for name in self.use}

    def used(self, *names: str) -> tuple[Cell, ...]:
        return tuple(c for name in names or self.use for c in self.cells(name))

    @property
    def target(self) -> Range:
        return self.range(self.anchor, "target")

    @property
    def printed(self) -> str:
        """The target as the evidence begins: what is printed, and what it stands for."""
        value = self.target
        meant = f" ({value.text(self.anchor.decimals + 1)})" if value.width else ""
        return f"Printed {self.anchor.text}{meant}"

    @property
    def decimals(self) -> int:
        """Decimals of recomputed values in the evidence: two more than the target has."""
        return self.anchor.decimals + 2


def run(check: Check, paper: str, numbers: Printed, conventions: Conventions) -> list[Finding]:
    """A finding for every cell that the check's `target` or `each` selects; one where it has neither.

    Raises ValueError, naming the check, where a pattern selects nothing or an expression cannot be read.
    """
    try:
        pattern = check.target or check.each
        anchors = numbers.select(pattern, paper) if pattern else (None,)
        cases = [Case(check, paper, anchor, numbers, conventions, check.use) for anchor in anchors]
        found = _weights(cases) if check.rule == "weights" else [RULES[check.rule](case) for case in cases]
        return [_named(case, finding) for case, finding in zip(cases, found, strict=True)]
    except ValueError as error:
        raise ValueError(f"{paper}_checks.yaml: {check.id}: {error}") from None


def _named(case: Case, finding: Finding) -> Finding:
    check = case.check
    says = case.anchor.fill(check.says) if case.anchor else check.says
    evidence = f"{says} {finding.evidence}"
    if finding.outcome == INCONSISTENT and check.instead is not None:
        evidence += f" {_instead(case, check.instead)}"
    target = case.anchor if check.target else None
    cells = finding.cells or (*([target] if target else []), *(case.used() if check.rule != "unprinted" else ()))
    return Finding(finding.outcome, evidence, finding.value, cells, target)


def _outcome(fits: bool) -> str:
    return CONSISTENT if fits else INCONSISTENT


def _equation(case: Case) -> Finding:
    """The target against an expression of other numbers."""
    value, relation = evaluate(case.check.formula, case.names()), case.check.relation
    fits = _same(case) if case.check.rule == "copy" else possible(case.target, relation, value)
    said = "" if relation == "==" else f"{WORDS[relation]} "
    return Finding(_outcome(fits), f"{case.printed}, expected {said}{value.text(case.decimals)}.", value)


def _same(case: Case) -> bool:
    """Whether a number is printed alike in two places; with fewer decimals in one, whether it is rounded to that."""
    (other,) = case.cells("x")
    if other.decimals == case.anchor.decimals:
        return exactly(other.text) == exactly(case.anchor.text)
    return possible(case.target, "==", case.range(other, "x"))


def _instead(case: Case, other: Instead) -> str:
    """The sentence on another reading of a check that failed."""
    again = Case(case.check, case.paper, case.anchor, case.numbers, case.conventions, other.use or case.use)
    if case.check.rule in ("pearson", "spearman"):
        found = _coefficient(again)
        fits, value = found.outcome == CONSISTENT, found.value
    else:
        value = evaluate(other.expression or case.check.formula, again.names())
        fits = possible(case.target, case.check.relation, value)
    return f"{other.says}: {value.text(case.decimals)}, which {'fits' if fits else 'does not fit either'}."


def _relation(case: Case) -> Finding:
    left, right = (evaluate(text, case.names()) for text in (case.check.left, case.check.formula))
    fits, relation = possible(left, case.check.relation, right), WORDS[case.check.relation]
    places = max(c.decimals for c in case.used()) + 1
    return Finding(_outcome(fits), f"{left.text(places)} must be {relation} {right.text(places)}.")


def _whole(case: Case) -> Finding:
    value = evaluate(case.check.formula, case.names())
    return Finding(_outcome(value.whole), f"It comes to {value.text(3)}.", value)


def _grim(case: Case) -> Finding:
    """Means of whole numbers; a percentage is a mean of 0 and 100."""
    n, percent = evaluate(case.check.formula, case.names()), case.anchor.unit == "%"
    if n.width or not n.whole:
        return Finding(OPEN, f"The number of cases is not fixed: {n.text(2)}.")
    fits = rules.grim(case.target / exactly(100) if percent else case.target, int(n.low))
    what = f"a percentage of {int(n.low)} cases" if percent else f"a mean of {int(n.low)} whole numbers"
    if fits is None:
        return Finding(OPEN, f"With so few decimals any number can be {what}.")
    return Finding(_outcome(fits), f"{case.printed}, which can{'' if fits else 'not'} be {what}.")


def _sorted(case: Case) -> Finding:
    cells, relation = case.cells("x"), case.check.relation
    wrong = rules.out_of_order(case.ranges("x"), relation)
    said = ", ".join(f"{cells[i].name} ({cells[i].text}) after {cells[i - 1].text}" for i in wrong)
    evidence = f"Out of order: {said}." if wrong else f"Each of the {len(cells)} is {WORDS[relation]} the next."
    return Finding(_outcome(not wrong), evidence)


def _coefficient(case: Case) -> Finding:
    """Pearson or Spearman correlation of the columns x and y, matched by row in the order of y."""
    x, y = ({c.row: case.range(c, name) for c in case.cells(name)} for name in ("x", "y"))
    if set(x) != set(y):
        raise ValueError(f"x and y have different rows: {sorted(set(x) ^ set(y))}")
    rank = coefficients.spearman if case.check.rule == "spearman" else coefficients.pearson
    bounds = rank([x[row] for row in y], list(y.values()))
    if bounds is None:
        return Finding(OPEN, "Too many values are printed alike for their order to be known.")
    value, d = bounds.outer, case.decimals
    evidence = f"{case.printed}; the columns allow {value.text(d)}."
    if possible(case.target, "==", bounds.inner):
        return Finding(CONSISTENT, evidence, value)
    if not possible(case.target, "==", value):
        return Finding(INCONSISTENT, evidence, value)
    return Finding(OPEN, f"{evidence} Only {bounds.inner.text(d)} is known to be reached.", value)


def _compared(case: Case) -> list[tuple[Cell, Range, Range]]:
    """Each cell of x beside the largest of its `versus`, or the smallest where it must be less."""
    out = []
    for cell in case.cells("x"):
        others = [case.range(c, "versus") for c in case.numbers.select(cell.fill(case.check.versus), case.paper)]
        most = "max" if case.check.relation in (">", ">=") else "min"
        out.append((cell, case.range(cell, "x"), evaluate(f"{most}(others)", {"others": others})))
    return out


def _share(case: Case) -> Finding:
    """A claim such as "rarely" or "in general", as the conventions take the word."""
    rows, check = _compared(case), case.check
    number, all_ = rules.tally([row[1:] for row in rows], check.relation), exactly(len(rows))
    low, high = case.conventions.words[check.word]
    meant = Range(exactly(low).low, exactly(high).low)
    few = high < 0.5
    odd = [c for c, left, right in rows if (certain if few else _not)(left, check.relation, right)]
    evidence = f"{number.text(0)} of {len(rows)}; “{check.word}” is taken as {Range(100 * low, 100 * high).text(0)} %."
    if odd:
        evidence += f" {'These are' if few else 'Not so'}: {', '.join(c.name for c in odd)}."
    return Finding(_outcome(possible(number / all_, "==", meant)), evidence, None, tuple(row[0] for row in rows))


def _not(left: Range, relation: str, right: Range) -> bool:
    return not possible(left, relation, right)


def _count(case: Case) -> Finding:
    rows = _compared(case)
    value = rules.tally([row[1:] for row in rows], case.check.relation)
    evidence = f"{case.printed}, counted {value.text(0)} of {len(rows)}."
    return Finding(
        _outcome(possible(case.target, "==", value)), evidence, value, (case.anchor, *(row[0] for row in rows))
    )


def _distinct(case: Case) -> Finding:
    found = list(dict.fromkeys(getattr(c, case.check.field) for c in case.cells("x")))
    value = exactly(len(found))
    evidence = f"{case.printed}; there are {len(found)}: {', '.join(found)}."
    return Finding(_outcome(possible(case.target, "==", value)), evidence, value)


def _reordered(case: Case) -> Finding:
    """Whether x, as printed, holds the values of y listed in the row order of another table."""
    x, y = case.ranges("x"), {c.row: case.range(c, "y") for c in case.cells("y")}
    order = [c.row for c in case.cells("order")]
    if [y[row] for row in order] == x:
        rows = ", ".join(
            f"{c.row} has that of {row}" for c, row in zip(case.cells("x"), order, strict=True) if c.row != row
        )
        return Finding(CONSISTENT, f"They are, so that {rows}.")
    same = sorted(x, key=lambda r: r.low) == sorted(y.values(), key=lambda r: r.low)
    return Finding(
        INCONSISTENT, "They are the same numbers in yet another order." if same else "They are other numbers."
    )


def _weights(cases: Sequence[Case]) -> list[Finding]:
    """One choice of whole-number weights for all targets."""
    total = cases[0].ranges("total")[0]
    best = rules.weights([c.target for c in cases], [c.ranges("x") for c in cases], int(total.low))
    choice, missed = best[0]
    rows = ", ".join(f"{c.row} {w}" for c, w in zip(cases[0].cells("x"), choice, strict=True))
    fit = f"{len(cases) - len(missed)} of {len(cases)}"
    said = f"Of all whole-number weights that sum to {total.text(0)}, {rows} fit most columns, {fit}"
    said += "." if len(best) == 1 else f" ({len(best)} choices fit as many)."
    out = []
    for i, case in enumerate(cases):
        value = rules.weighted(case.ranges("x"), choice)
        fits = not any(i in positions for _, positions in best)
        evidence = f"{said} {case.printed}, with these weights {value.text(case.decimals)}."
        out.append(Finding(_outcome(fits), evidence, value))
    return out


def _homogeneous(case: Case) -> Finding:
    hundred = exactly(100) if case.cells("x")[0].unit == "%" else exactly(1)
    cells = case.cells("x")
    n = {c.column: int(c.range.low) for c in case.cells("n")}
    p, odd = plausibility.homogeneity([r / hundred for r in case.ranges("x")], [n[c.column] for c in cells])
    values = ", ".join(f"{c.column} {c.text}" for c in cells)
    at = f"p < {case.conventions.implausible_below:g}" if p < case.conventions.implausible_below else f"p = {p:.2g}"
    if p < case.conventions.implausible_below:
        return Finding(
            IMPLAUSIBLE, f"{values}: farther apart than chance makes them ({at}); {cells[odd].column} is odd."
        )
    return Finding(CONSISTENT, f"{values}: chance makes such differences ({at}).")


def _power(case: Case) -> Finding:
    (effect,), (n,), (alpha,) = (case.ranges(name) for name in ("effect", "n", "alpha"))
    value = plausibility.power(case.check.test, effect, int(n.low), float(alpha.low))
    fits = possible(case.target, "==", value)
    return Finding(_outcome(fits), f"{case.printed}, expected {value.text(case.decimals)}.", value)


def _unprinted(case: Case) -> Finding:
    return Finding(OPEN, "The numbers behind it are not printed.")


RULES: dict[str, Callable[[Case], Finding]] = {
    **dict.fromkeys(("copy", "sum", "mean", "percentage", "equation"), _equation),
    "relation": _relation,
    "whole": _whole,
    "grim": _grim,
    "sorted": _sorted,
    "pearson": _coefficient,
    "spearman": _coefficient,
    "share": _share,
    "count": _count,
    "distinct": _distinct,
    "reordered": _reordered,
    "homogeneous": _homogeneous,
    "power": _power,
    "unprinted": _unprinted,
}
