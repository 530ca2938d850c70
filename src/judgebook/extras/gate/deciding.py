"""Whether requirements are met: differences by their own intervals without a model, as each is decided by itself."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from math import isnan, nan

import numpy as np
import pandas as pd

from judgebook.annotations.population import Population
from judgebook.extras.gate.planned import Planned, planned
from judgebook.extras.gate.requirements import Requirement, least, met
from judgebook.plugins import UsageError
from judgebook.questions.performance.leading import PART
from judgebook.study.labels import Label
from judgebook.study.results import where
from judgebook.study.sections.margins import share, widest
from judgebook.summary import analysis
from judgebook.summary.evidence import PERFORMANCE, Evidence, parts


class Verdict(IntEnum):
    """A number is the exit code that it leads to."""

    MET = 0
    NOT_MET = 1
    OPEN = 3


@dataclass(frozen=True)
class Decision:
    """estimate, low, high : in units of the label, positive where the required system is better; NaN where there is
    none. people : whom the interval is about; None where it is not said. why : why nothing can be told. plan : where an
    interval leaves it open, what the design could have told. n_differences : how many differences an interval that
    holds at every look is made of; 0 for one for a single look."""

    required: Requirement
    verdict: Verdict
    estimate: float = nan
    low: float = nan
    high: float = nan
    people: Population | None = None
    why: str = ""
    plan: Planned | None = None
    n_differences: int = 0


def decide(required: Requirement, evidence: Evidence) -> Decision:
    """Raises UsageError for a system or label that the study does not have, or one that has no direction."""
    if not required.compares:
        return _measured(required, evidence)
    required, label, system, other = compared(required, evidence)
    for part in parts(evidence):
        rows = where(
            evidence.results[PERFORMANCE]["plain_contrast"], **dict(zip(PART, part, strict=True)), label=label.id
        )
        for row in rows.itertuples():
            if {row.system, row.system_b} == {system, other}:
                sign = label.direction * (1 if row.system == system else -1)
                low, high = sorted((sign * row.ci_low, sign * row.ci_high))
                people = evidence.population(*part[:2])
                made = Decision(required, verdict(required, low, high), sign * row.estimate, low, high, people)
                if made.verdict != Verdict.OPEN or isnan(low):
                    return made
                return replace(made, plan=planned(required, label, (system, other), part, evidence))
    return Decision(required, Verdict.OPEN, why="the two systems were not compared on this label")


def check(every: Iterable[Requirement], evidence: Evidence) -> None:
    """Look for what requirements are about in a study whose results are not computed. Errors are those of `decide`."""
    for required in every:
        if required.compares:
            compared(required, evidence)
        else:
            _label(required, evidence)


def compared(required: Requirement, evidence: Evidence) -> tuple[Requirement, Label, str, str]:
    """The requirement with its margin, the label and the ids of the two systems. Errors are those of `decide`."""
    label = _label(required, evidence)
    titles = {id_: {shown, evidence.study.systems.get(id_)} for id_, shown in evidence.names.titles["system"].items()}
    system, other = (_one(name, titles, required) for name in (required.system, required.other))
    if system == other:
        raise UsageError(f"requirement {required.text!r}: expected two systems, found one")
    if not label.direction:
        raise UsageError(
            f"requirement {required.text!r}: the YAML does not say whether a high score of {label.id} is good: write "
            f"`direction: 1` or `direction: -1` under the label"
        )
    return _sized(required, label, evidence), label, system, other


def _sized(required: Requirement, label: Label, evidence: Evidence) -> Requirement:
    """With the margin that the study states, where the requirement names none."""
    if required.percent and not share(label):
        raise UsageError(
            f"requirement {required.text!r}: expected points of the scale, as means of {label.id} are no rates, found %"
        )
    if required.size is not None:
        _possible(required, required.size, label)
        return required
    margin = evidence.study.margins.get((label.method, label.id))
    if margin is None:
        way = "by 0.2" if required.kind == "not_inferior" else "within 0.2"
        raise UsageError(
            f"requirement {required.text!r}: expected a margin, found none: write `{way}` behind it, or the smallest "
            f"difference that matters into the YAML: `margin: {{{label.id}: 0.2}}`"
        )
    return replace(required, size=margin)


def _possible(required: Requirement, size: float, label: Label) -> None:
    """Raises UsageError for a margin that every or no study would meet."""
    most = widest(label)
    if size < most and (size > 0 or required.kind != "equivalent"):
        return
    least_ = "more than 0 and " if required.kind == "equivalent" else ""
    hint = (
        f"; for percentage points write {size:g}%"
        if share(label) and not required.percent and 1 <= size < 100 * most
        else ""
    )
    raise UsageError(
        f"requirement {required.text!r}: expected {least_}less than the scale of {label.id} is wide, {most:g}, found "
        f"{size:g}{hint}"
    )


def verdict(required: Requirement, low: float, high: float) -> Verdict:
    """By an interval of what is required. A missing interval tells nothing."""
    if isnan(low) or isnan(high):
        return Verdict.OPEN
    if met(required, np.array(low), np.array(high)):
        return Verdict.MET
    if required.kind == "equivalent":
        return Verdict.NOT_MET if low > required.bound or high < -required.bound else Verdict.OPEN
    return Verdict.NOT_MET if high < least(required) else Verdict.OPEN


def _measured(required: Requirement, evidence: Evidence) -> Decision:
    """Of agreement, or of the reliability of the order of system means, in the main run and group."""
    label = _label(required, evidence)
    rows = analysis.labels(evidence) if required.kind == "agreement" else analysis.reliability(evidence)
    of_label = rows[(rows["label"] == label.id) & (rows["method"] == label.method)] if len(rows) else rows
    if of_label.empty:
        return Decision(required, Verdict.OPEN, why="the data do not allow it to be estimated")
    row = of_label.iloc[0]
    low, high = (float(row[c]) if pd.notna(row.get(c)) else nan for c in ("ci_low", "ci_high"))
    return Decision(required, verdict(required, low, high), float(row["estimate"]), low, high)


def _label(required: Requirement, evidence: Evidence) -> Label:
    """The label that is named by id, title or `method.id`."""
    every = evidence.study.label_list()
    fits = [
        x for x in every if required.label in (x.id, f"{x.method}.{x.id}", evidence.names.name("label", x.id, x.method))
    ]
    if len(fits) > 1:
        ways = ", ".join(f"{x.method}.{x.id}" for x in fits)
        raise UsageError(f"requirement {required.text!r}: several labels are called {required.label!r}: write {ways}")
    if end := not fits and re.search(r" ((?:by|within) \S+)$", required.label):
        way = "within" if required.kind == "equivalent" else "by"
        raise UsageError(f"requirement {required.text!r}: expected it to end like `{way} 0.2`, found `{end[1]}`")
    if not fits:
        raise UsageError(f"requirement {required.text!r}: {_no_such('label', required.label, [x.id for x in every])}")
    return fits[0]


def _one(name: str, titles: Mapping[str, Collection[str | None]], required: Requirement) -> str:
    """The one system that is meant by its id, or by a title as declared or as shown."""
    if name in titles:
        return name
    fits = [key for key, either in titles.items() if name in either]
    if len(fits) > 1:
        raise UsageError(
            f"requirement {required.text!r}: several systems are called {name!r}: write {' or '.join(fits)}"
        )
    if not fits:
        raise UsageError(f"requirement {required.text!r}: {_no_such('system', name, [*titles])}")
    return fits[0]


def _no_such(what: str, name: str, there: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(there), n=1)
    return f"no {what} {name!r}; " + (f"did you mean {near[0]!r}?" if near else f"there are {', '.join(there)}")
