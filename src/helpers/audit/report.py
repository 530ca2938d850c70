"""All checks of all papers: what came out, and which printed numbers follow from others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import published
from helpers.audit import apply, rules
from helpers.audit.apply import CONSISTENT, IMPLAUSIBLE, INCONSISTENT, OPEN, Finding
from helpers.audit.cells import PARTS, Cell, Printed, ids
from helpers.audit.checks import Check, Conventions, Paper, load
from helpers.audit.ranges import Range, exactly, possible
from helpers.schema import condition

FOLLOWS, CONTRADICTS, CONSISTENT_WITH, INVOLVED, NONE = (
    "follows",
    "contradicts",
    "consistent_with",
    "involved",
    "in_no_check",
)
#: from what decides most about a cell to what decides least
STATES = (CONTRADICTS, FOLLOWS, CONSISTENT_WITH, INVOLVED, NONE)
#: rules that can determine a number; the others exclude some values only, or choose something by searching
FIXING = ("copy", "sum", "mean", "percentage", "equation", "pearson", "spearman", "count", "distinct")
OUTCOMES = (CONSISTENT, INCONSISTENT, IMPLAUSIBLE, OPEN)
CONDITIONAL = "conditional"
CHECKS = ["paper", "element", "check", "rule", "target", "cells", "printed", "low", "high", "outcome"]
CHECKS += ["assumes", "evidence"]
ARITHMETIC = ["paper", *PARTS, "verdict", "check", "rule", "printed", "low", "high", "cells", "evidence"]


@dataclass(frozen=True)
class Audit:
    """What the audit found.

    checks : a row for every check at every place. paper, element: of the target, or of the first number involved;
    cells : names of all numbers involved; printed : the target; low, high : what the other numbers allow for it, where
    the rule recomputes it; outcome : one of OUTCOMES; assumes : what had to be assumed; evidence : a sentence.
    arithmetic : a row for every target that got a verdict: `follows` where the other numbers determine it and agree,
    `contradicts` where they exclude it, `consistent_with` where they leave room. A cell can have several rows.
    cells : every printed number with its state, the first of STATES that holds.
    notes : contradictions in prose that no rule reaches: paper, element, note.
    titles : paper -> what it is called.
    """

    checks: pd.DataFrame
    arithmetic: pd.DataFrame
    cells: pd.DataFrame
    notes: pd.DataFrame
    titles: dict[str, str]


def audit(frame: pd.DataFrame | None = None, folder: Path = published.FOLDER) -> Audit:
    """Run every check of `folder` on the printed numbers, `published.load()` unless others are given.

    Raises ValueError, naming file and check, for checks that cannot be read or that select no number.
    """
    conventions, papers = load(folder)
    papers = sorted(papers, key=lambda p: p.title)
    zeros = [(p.paper, element) for p in papers for element in p.trailing_zeros_dropped]
    numbers = Printed(published.load() if frame is None else frame, conventions.exact_units, zeros)
    found = [
        (paper.paper, check, finding)
        for paper in papers
        for check in paper.checks
        for finding in apply.run(check, paper.paper, numbers, conventions)
    ]
    checks = pd.DataFrame([_check_row(*f) for f in found], columns=CHECKS)
    checks = pd.concat([checks, _domains(numbers, conventions)], ignore_index=True)
    verdicts = [row for f in found if (row := _verdict(*f)) is not None]
    arithmetic = pd.DataFrame(verdicts, columns=ARITHMETIC)
    titles = {p.paper: p.title for p in papers}
    return Audit(checks, arithmetic, _states(numbers, found, arithmetic), _notes(papers), titles)


def _numbers(value: Range | None) -> dict[str, float]:
    ends = (np.nan, np.nan) if value is None else (float(value.low), float(value.high))
    return dict(zip(("low", "high"), ends, strict=True))


def _check_row(paper: str, check: Check, finding: Finding) -> dict[str, object]:
    target, first = finding.target, finding.cells[0]
    return {
        "paper": paper,
        "element": (target or first).element,
        "check": check.id,
        "rule": check.rule,
        "target": target.id if target else "",
        "cells": ids(finding.cells),
        "printed": target.text if target else "",
        "outcome": finding.outcome,
        "assumes": check.assumes or "",
        "evidence": finding.evidence,
    } | _numbers(finding.value)


def _verdict(paper: str, check: Check, finding: Finding) -> dict[str, object] | None:
    """The row of the arithmetic frame, or None where the check says nothing of its target."""
    target, value = finding.target, finding.value
    if target is None or finding.outcome not in (CONSISTENT, INCONSISTENT):
        return None
    if finding.outcome == INCONSISTENT:
        if check.assumes or not check.decides:
            return None
        verdict = CONTRADICTS
    else:
        equal = check.relation == "==" or check.rule == "count"  # what is counted, not how it compares
        determines = check.rule in FIXING and equal and check.decides and not check.assumes
        fixed = determines and value is not None and rules.fixes(value, target.decimals, target.exact)
        verdict = FOLLOWS if fixed else CONSISTENT_WITH
    others = (c for c in finding.cells if c != target)
    row = {"verdict": verdict, "check": check.id, "rule": check.rule, "printed": target.text}
    row |= {part: getattr(target, part) for part in PARTS}
    return row | {"paper": target.paper, "cells": ids(others), "evidence": finding.evidence} | _numbers(value)


def _domains(numbers: Printed, conventions: Conventions) -> pd.DataFrame:
    """A row for each element and unit: whether every number can be what its unit says."""
    groups: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in numbers.cells:
        if cell.unit in conventions.ranges:
            groups.setdefault((cell.paper, cell.element, cell.unit), []).append(cell)
    rows = []
    for (paper, element, unit), cells in groups.items():
        low, high = (exactly(v) if abs(v) < np.inf else Range(v, v) for v in conventions.ranges[unit])
        wrong = [c for c in cells if not possible(c.range, "==", Range(low.low, high.high))]
        said = f"Not so: {', '.join(f'{c.name} ({c.text})' for c in wrong)}." if wrong else f"All {len(cells)} are."
        row = {"paper": paper, "element": element, "check": "range", "rule": "range", "target": "", "cells": ids(cells)}
        row |= {"outcome": INCONSISTENT if wrong else CONSISTENT, "assumes": "", "printed": ""} | _numbers(None)
        ends = [f"{float(v.low):g}".replace("inf", "any number") for v in (low, high)]
        rows.append(row | {"evidence": f"{element}: numbers in {unit} lie from {ends[0]} to {ends[1]}. {said}"})
    return pd.DataFrame(rows, columns=CHECKS)


def _states(numbers: Printed, found: Iterable[tuple[str, Check, Finding]], arithmetic: pd.DataFrame) -> pd.DataFrame:
    verdicts: dict[str, set[str]] = {}
    for _, _, finding in found:
        if finding.outcome != OPEN:
            for cell in finding.cells:
                verdicts.setdefault(cell.id, set()).add(INVOLVED)
    names = arithmetic[list(PARTS)].agg("/".join, axis=1) if len(arithmetic) else []
    for paper, name, verdict in zip(arithmetic["paper"], names, arithmetic["verdict"], strict=True):
        verdicts.setdefault(f"{paper}:{name}", set()).add(verdict)
    rows = [
        {"paper": c.paper}
        | {part: getattr(c, part) for part in PARTS}
        | {"state": next(s for s in STATES if s in verdicts.get(c.id, {NONE}))}
        for c in numbers.cells
    ]
    return pd.DataFrame(rows)


def _notes(papers: Iterable[Paper]) -> pd.DataFrame:
    rows = [{"paper": p.paper, "element": n.element, "note": n.says} for p in papers for n in p.notes]
    return pd.DataFrame(rows, columns=["paper", "element", "note"])


def by_check(checks: pd.DataFrame) -> pd.DataFrame:
    """One row a check: rule, element, assumes, places, failed, outcome, kind and evidence.

    places : where it was made; failed : where it fails; outcome : the worst, with the evidence of the first such place.
    kind : the outcome, or `conditional` where the check fails and rests on an assumption.
    """
    rank = {INCONSISTENT: 0, IMPLAUSIBLE: 1, CONSISTENT: 2, OPEN: 3}
    keys, bad = ["paper", "check"], checks["outcome"].isin([INCONSISTENT, IMPLAUSIBLE])
    rows = checks.assign(rank=checks["outcome"].map(rank), failed=bad).sort_values("rank", kind="stable")
    groups = rows.groupby(keys)
    worst = rows.drop_duplicates(keys).set_index(keys).assign(places=groups.size(), failed=groups["failed"].sum())
    conditional = worst["failed"].gt(0) & worst["assumes"].ne("")
    worst["kind"] = worst["outcome"].mask(conditional, CONDITIONAL)
    columns = ["rule", "element", "assumes", "places", "failed", "outcome", "kind", "evidence"]
    return worst.loc[checks.drop_duplicates(keys).set_index(keys).index, columns].reset_index()


def by_element(cells: pd.DataFrame) -> pd.DataFrame:
    """How many printed numbers of each element are in each state: a row an element, a column a state."""
    order = cells.drop_duplicates(["paper", "element"]).set_index(["paper", "element"]).index
    counts = pd.crosstab([cells["paper"], cells["element"]], cells["state"])
    return counts.reindex(index=order, columns=list(STATES), fill_value=0).rename_axis(columns=None).reset_index()


def results(found: Audit) -> pd.DataFrame:
    """Result rows: places by paper, rule and outcome (`audit_places`), printed numbers by paper and state
    (`audit_numbers`)."""
    places = found.checks.assign(assumed=found.checks["assumes"].ne("").map({True: "yes", False: "no"}))
    counts = places.groupby(["paper", "rule", "outcome", "assumed"], sort=True).size()
    rows = [
        {"statistic": "audit_places", "condition": condition(paper=p, rule=r, outcome=o, assumed=a), "estimate": n}
        for (p, r, o, a), n in counts.items()
    ]
    states = found.cells.groupby(["paper", "state"], sort=True).size()
    rows += [
        {"statistic": "audit_numbers", "condition": condition(paper=p, state=s), "estimate": n}
        for (p, s), n in states.items()
    ]
    return pd.DataFrame(rows)


def supports(arithmetic: pd.DataFrame) -> dict[str, set[str]]:
    """Of every number that follows: the numbers it follows from. Nothing may follow from itself by a detour."""
    rows = arithmetic[arithmetic["verdict"] == FOLLOWS]
    out: dict[str, set[str]] = {}
    for row in rows.itertuples():
        name = f"{row.paper}:{row.element}/{row.panel}/{row.row}/{row.column}"
        out.setdefault(name, set()).update(row.cells.split("; "))
    return out
