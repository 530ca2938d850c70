"""Do the papers agree with themselves? The results of notebook 91.

Every check of `data/published/<paper>_checks.yaml` at every place: what came out, and which printed numbers follow from
others or contradict them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from compendium.published import numbers as published
from compendium.published.consistency import rules
from compendium.published.consistency.cells import Printed, PrintedNumber, Range, exactly, ids, possible
from compendium.published.consistency.checks import Conventions, PrintedCheck, load
from compendium.published.consistency.rules import CONSISTENT, IMPLAUSIBLE, INCONSISTENT, OPEN, Outcome
from compendium.published.numbers import KEY
from judgebook.study.results import Results, collect

FOLLOWS, CONTRADICTS, CONSISTENT_WITH = "follows", "contradicts", "consistent_with"
INVOLVED, NONE = "involved", "in_no_check"
#: from what decides most about a number to what decides least
STATES = (CONTRADICTS, FOLLOWS, CONSISTENT_WITH, INVOLVED, NONE)
#: rules that can determine a number; the others exclude some values only, or choose something by searching
FIXING = ("copy", "sum", "mean", "percentage", "equation", "pearson", "spearman", "count", "distinct")
CONDITIONAL = "conditional"
CHECKS = ["paper", "element", "check", "rule", "target", "cells", "printed", "low", "high", "outcome"]
CHECKS += ["assumes", "evidence"]
ARITHMETIC = [*KEY, "verdict", "check", "rule", "printed", "low", "high", "cells", "evidence"]


@dataclass(frozen=True)
class Audit:
    """What the audit found.

    checks : a row for every check at every place. paper, element : of the target, or of the first number involved;
    cells : names of all numbers involved; printed : the target; low, high : what the other numbers allow for it, where
    the rule recomputes it; outcome : consistent, inconsistent, implausible or not checkable; assumes : what had to be
    assumed; evidence : a sentence.
    arithmetic : a row for every target that got a verdict: `follows` where the other numbers determine it and agree,
    `contradicts` where they exclude it, `consistent_with` where they leave room. A number can have several rows.
    cells : every printed number with its state, the first of STATES that holds.
    notes : contradictions in prose that no rule reaches: paper, element, note.
    titles : paper -> display name.
    """

    checks: pd.DataFrame
    arithmetic: pd.DataFrame
    cells: pd.DataFrame
    notes: pd.DataFrame
    titles: dict[str, str]

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        """The frames that notebook 91 stores."""
        return {"checks": self.checks, "arithmetic": self.arithmetic, "numbers": self.cells, "notes": self.notes}


@dataclass(frozen=True)
class Place:
    """A check at one place and its finding. anchor : the cell of `target` or `each`. cells : all numbers involved."""

    paper: str
    check: PrintedCheck
    anchor: PrintedNumber | None
    cells: list[PrintedNumber]
    finding: Outcome

    @property
    def target(self) -> PrintedNumber | None:
        return self.anchor if self.check.target else None

    @property
    def _common(self) -> dict[str, object]:
        value = self.finding.value
        ends = (np.nan, np.nan) if value is None else (float(value.low), float(value.high))
        row = {"check": self.check.id, "rule": self.check.rule, "low": ends[0], "high": ends[1]}
        return row | {"printed": self.target.text if self.target else "", "evidence": self.finding.evidence}

    def check_row(self) -> dict[str, object]:
        """Its row of `Audit.checks`."""
        row = {"paper": self.paper, "element": (self.target or self.cells[0]).element, "cells": ids(self.cells)}
        row |= {"target": self.target.id if self.target else "", "assumes": self.check.assumes or ""}
        return self._common | row | {"outcome": self.finding.outcome}

    def arithmetic_row(self) -> dict[str, object] | None:
        """Its row of `Audit.arithmetic`; None where the check says nothing of its target."""
        check, target, outcome = self.check, self.target, self.finding.outcome
        firm = check.decides and not check.assumes
        if target is None or outcome not in (CONSISTENT, INCONSISTENT) or (outcome == INCONSISTENT and not firm):
            return None
        # a count compares numbers by its relation; that the count itself equals the target is what it says
        equal = check.rule in FIXING and (check.relation == "==" or check.rule == "count")
        value = self.finding.value
        determined = equal and firm and value is not None and rules.fixes(value, target.decimals, target.exact)
        verdict = CONTRADICTS if outcome == INCONSISTENT else FOLLOWS if determined else CONSISTENT_WITH
        others = ids(c for c in self.cells if c.id != target.id)
        return self._common | target.place | {"verdict": verdict, "cells": others}


def audit(frame: pd.DataFrame | None = None, folder: Path = published.FOLDER) -> Audit:
    """Run every check of `folder` on the printed numbers, `numbers.load()` unless others are given.

    Raises ValueError, naming file and check, for checks that cannot be read or that select no number.
    """
    conventions, papers = load(folder)
    zeros = {(p.paper, element) for p in papers for element in p.trailing_zeros_dropped}
    printed = Printed(published.load() if frame is None else frame, conventions.exact_units, zeros)
    places = [place for p in papers for check in p.checks for place in run(check, p.paper, printed, conventions)]
    checks = [*(place.check_row() for place in places), *_outside_their_units(printed, conventions)]
    arithmetic = [row for place in places if (row := place.arithmetic_row())]
    notes = [{"paper": p.paper, "element": n.element, "note": n.says} for p in papers for n in p.notes]
    arithmetic = pd.DataFrame(arithmetic, columns=ARITHMETIC)
    return Audit(
        pd.DataFrame(checks, columns=CHECKS),
        arithmetic,
        _states(printed, places, arithmetic),
        pd.DataFrame(notes, columns=["paper", "element", "note"]),
        {p.paper: p.title for p in papers},
    )


def run(check: PrintedCheck, paper: str, printed: Printed, conventions: Conventions) -> list[Place]:
    """The check at every cell that its `target` or `each` selects; at one place where it has neither.

    Raises ValueError, naming the check, where a pattern selects nothing or an expression cannot be read.
    """

    def select(name: str, pattern: str, cell: PrintedNumber | None) -> list[PrintedNumber]:
        selected = printed.select(cell.fill(pattern) if cell else pattern, paper)
        return [replace(c, exact=name in check.exact) if name in declared else c for c in selected]

    def arguments(anchor: PrintedNumber | None, use: dict[str, str], **change: object) -> dict[str, Any]:
        terms = {name: select(name, pattern, anchor) for name, pattern in use.items()}
        versus = [select("versus", check.versus, c) for c in terms["x"]] if check.versus else None
        target = anchor and select("target", anchor.name, anchor)[0]
        return {**given, **terms, "terms": terms, "versus": versus, "target": target, **change}

    declared = (*check.exact, *check.rounded)
    given = {name: getattr(check, name) for name in ("expression", "left", "relation", "word", "field", "test")}
    given |= {"meant": conventions.words.get(check.word or ""), "below": conventions.implausible_below}
    try:
        pattern = check.target or check.each
        anchors = printed.select(pattern, paper) if pattern else (None,)
        cases = [arguments(anchor, check.use) for anchor in anchors]
        findings = rules.weights(cases) if check.rule == "weights" else [check.apply(case) for case in cases]
        out = []
        for anchor, case, finding in zip(anchors, cases, findings, strict=True):
            evidence = f"{anchor.tell(check.says) if anchor else check.says} {finding.evidence}"
            if finding.outcome == INCONSISTENT and (other := check.instead):
                reading = arguments(anchor, other.use or check.use, expression=other.expression or check.expression)
                again = check.apply(reading)
                if anchor is None or again.value is None:
                    raise ValueError(f"instead: rule {check.rule!r} recomputes no number that could be shown")
                fits = "fits" if again.outcome == CONSISTENT else "does not fit either"
                evidence += f" {other.says}: {again.value.text(anchor.decimals + 2)}, which {fits}."
            cells = [anchor] if anchor and check.target else []
            cells += [c for terms in case["terms"].values() for c in terms]
            out.append(Place(paper, check, anchor, cells, replace(finding, evidence=evidence)))
        return out
    except ValueError as error:
        raise ValueError(f"{paper}_checks.yaml: {check.id}: {error}") from None


def _outside_their_units(printed: Printed, conventions: Conventions) -> Iterator[dict[str, object]]:
    """A row of `Audit.checks` for each element and unit: whether every number can be what its unit says."""
    groups: dict[tuple[str, str, str], list[PrintedNumber]] = {}
    for cell in printed.cells:
        if cell.unit in conventions.ranges:
            groups.setdefault((cell.paper, cell.element, cell.unit), []).append(cell)
    for (paper, element, unit), cells in groups.items():
        low, high = (exactly(v).low if np.isfinite(v) else v for v in conventions.ranges[unit])
        wrong = [f"{c.words} ({c.text})" for c in cells if not possible(c.range, "==", Range(low, high))]
        ends = [f"{float(v):g}".replace("inf", "any number") for v in (low, high)]
        outcome = f"Not so: {', '.join(wrong)}." if wrong else f"All {len(cells)} are."
        row: dict[str, object] = {"paper": paper, "element": element, "check": "range", "rule": "range"}
        row["cells"] = ids(cells)
        row |= dict.fromkeys(("target", "printed", "assumes"), "")
        row["evidence"] = f"{element}: numbers in {unit} lie from {ends[0]} to {ends[1]}. {outcome}"
        yield row | {"outcome": INCONSISTENT if wrong else CONSISTENT}


def _states(printed: Printed, places: list[Place], arithmetic: pd.DataFrame) -> pd.DataFrame:
    """Every printed number with the first of STATES that holds."""
    states = {cell.id: {NONE} for cell in printed.cells}
    for place in places:
        for cell in place.cells if place.finding.outcome != OPEN else ():
            states[cell.id].add(INVOLVED)
    for paper, *place, verdict in arithmetic[[*KEY, "verdict"]].itertuples(index=False):
        states[f"{paper}:{'/'.join(place)}"].add(verdict)
    return pd.DataFrame([c.place | {"state": next(s for s in STATES if s in states[c.id])} for c in printed.cells])


def by_check(checks: pd.DataFrame) -> pd.DataFrame:
    """One row per check: rule, element, assumes, places, failed, outcome, kind and evidence.

    places : where it was made; failed : where it fails; outcome : the worst, with the evidence of the first such place.
    kind : the outcome, or `conditional` where the check fails and depends on an assumption.
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


def failures(checks: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of `by_check` that fail whatever the rounding, and those that fail under an assumption only."""
    failed = checks[checks["failed"] > 0]
    return failed[failed["assumes"] == ""], failed[failed["assumes"] != ""]


def results(audited: Audit) -> Results:
    """`audit_places`, by paper, rule and outcome; `audit_numbers`, printed numbers by paper and state."""
    places = audited.checks.assign(assumed=audited.checks["assumes"].ne("").map({True: "yes", False: "no"}))
    counts = {"audit_places": (places, ["paper", "rule", "outcome", "assumed"])}
    counts["audit_numbers"] = (audited.cells, ["paper", "state"])
    return collect(
        *(f.groupby(by).size().rename("estimate").reset_index().assign(statistic=s) for s, (f, by) in counts.items())
    )
