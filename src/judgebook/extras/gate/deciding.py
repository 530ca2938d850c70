"""What can be required of a study, as it is written, and whether it is met.

Differences on a label are decided by their own intervals without a model, as each is decided by itself; overall ones by
the fit of all labels, as the first page decides.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from math import inf, isnan, nan
from typing import Literal

import pandas as pd

from judgebook.annotations.population import Population
from judgebook.plugins import UsageError
from judgebook.questions.performance.leading import PART
from judgebook.study.labels import METHODS, Label
from judgebook.study.results import where
from judgebook.study.sections.margins import share, widest
from judgebook.summary import analysis
from judgebook.summary.evidence import PERFORMANCE, Evidence, parts

Kind = Literal["superior", "not_inferior", "equivalent", "agreement", "reliability"]

_NUMBER = r"(?P<size>(?:\d+(?:\.\d+)?|\.\d+))\s*(?P<percent>%?)"
_OTHER = r"(?P<other>.+?)(?: on (?P<label>.+?))?"
_FORMS: dict[Kind, re.Pattern[str]] = {
    "not_inferior": re.compile(rf"(?P<system>.+?) not worse than {_OTHER}(?: by {_NUMBER})?"),
    "superior": re.compile(rf"(?P<system>.+?) better than {_OTHER}(?: by {_NUMBER})?"),
    "equivalent": re.compile(rf"(?P<system>.+?) equal to {_OTHER}(?: within {_NUMBER})?"),
    "agreement": re.compile(rf"agreement on (?P<label>.+?) at least {_NUMBER}"),
    "reliability": re.compile(rf"reliability on (?P<label>.+?) at least {_NUMBER}"),
}
_EXAMPLES = (
    "'new better than old on quality', 'new not worse than old on quality by 0.2', 'new equal to old on quality within "
    "0.2' (each also without 'on quality'), 'agreement on quality at least 0.667' or 'reliability on quality at least "
    "0.8'"
)


@dataclass(frozen=True)
class Requirement:
    """label : empty for the overall answer, or the only label. size : a margin, or what an estimate must reach; in
    units of the label, percentages (`percent`) as shares; None: the margin that the study states."""

    text: str
    kind: Kind
    label: str
    size: float | None
    system: str = ""
    other: str = ""
    percent: bool = False

    @property
    def compares(self) -> bool:
        """Whether it is about two systems, and not about a label's agreement or reliability."""
        return self.kind not in ("agreement", "reliability")

    @property
    def bound(self) -> float:
        """`size`, once it is certain. Raises ValueError before."""
        if self.size is None:
            raise ValueError(f"requirement {self.text!r}: expected a margin, found none")
        return self.size


def requirement(text: str) -> Requirement:
    """A requirement as it is written. Raises UsageError, with what can be written, for one that is not understood."""
    plain = " ".join(text.split())
    for kind, form in _FORMS.items():
        if match := form.fullmatch(plain):
            parts = match.groupdict()
            stated = parts["size"] or ("0" if kind == "superior" else None)
            percent = bool(parts["percent"])
            size = None if stated is None else float(stated) / (100 if percent else 1)
            sides = parts.get("system", ""), parts.get("other", "")
            found = Requirement(plain, kind, parts["label"] or "", size, *sides, percent)
            if not found.compares and size is not None and size >= 1:
                raise UsageError(f"requirement {text!r}: expected less than 1, the most it can be, found {size:g}")
            return found
    raise UsageError(f"requirement {text!r}: expected {_EXAMPLES}")


class Verdict(IntEnum):
    """A number is the exit code that it leads to."""

    MET = 0
    NOT_MET = 1
    OPEN = 3


@dataclass(frozen=True)
class Decision:
    """estimate, low, high : in units of the label, positive where the required system is better; NaN where there is
    none. people : whom the interval is about; None where it is not said. why : why nothing can be told. n_differences :
    how many differences an interval that holds at every look is made of; 0 for one for a single look; n_votes : how
    many votes, of one from their model. unit : where it is not that of the label, in words."""

    required: Requirement
    verdict: Verdict
    estimate: float = nan
    low: float = nan
    high: float = nan
    people: Population | None = None
    why: str = ""
    n_differences: int = 0
    unit: str = ""
    n_votes: int = 0


def decide(required: Requirement, evidence: Evidence) -> Decision:
    """Raises UsageError for a system or label that the study does not have, or one that has no direction."""
    if not required.compares:
        return _measured(required, evidence)
    required, label, system, other = compared(required, evidence)
    if not label.id:
        return _overall(required, label, {system: 1, other: -1}, evidence)
    for part in parts(evidence):
        rows = where(
            evidence.results[PERFORMANCE]["plain_contrast"], **dict(zip(PART, part, strict=True)), label=label.id
        )
        for row in rows.itertuples():
            if {row.system, row.system_b} == {system, other}:
                sign = label.direction * (1 if row.system == system else -1)
                low, high = sorted((sign * row.ci_low, sign * row.ci_high))
                people = evidence.population(*part[:2])
                return Decision(required, verdict(required, low, high), sign * row.estimate, low, high, people)
    return Decision(required, Verdict.OPEN, why="the two systems were not compared on this label")


def _overall(required: Requirement, label: Label, side: Mapping[str, int], evidence: Evidence) -> Decision:
    """Of all labels of the main evaluation, by the interval that holds for all pairs of systems at once.

    side : 1 for the required system, -1 for the other.
    """
    part = parts(evidence)[0]
    stored, place = evidence.results[PERFORMANCE], dict(zip(PART, part, strict=True))
    rows = where(stored["overall_contrast"], **place)
    of_pair = rows[rows["system"].isin([*side]) & rows["system_b"].isin([*side])]
    if of_pair.empty:
        why = "fewer than two labels vary and have both systems" if rows.empty else "the two systems were not compared"
        return Decision(required, Verdict.OPEN, why=f"{why}; `on LABEL` decides by one label")
    row = of_pair.iloc[0]
    sign, n = side[row["system"]], int(where(stored["overall_level"], **place)["n"].iloc[0])
    low, high = sorted((sign * row["ci_low"], sign * row["ci_high"]))
    people = evidence.population(*part[:2])
    unit = f"{'share won minus share lost' if share(label) else 'standard deviations of items'}, over {n} labels"
    return Decision(required, verdict(required, low, high), sign * row["estimate"], low, high, people, unit=unit)


def check(every: Iterable[Requirement], evidence: Evidence) -> None:
    """Look for what requirements are about in a study whose results are not computed. Errors are those of `decide`."""
    for required in every:
        if required.compares:
            compared(required, evidence)
        else:
            _label(required, evidence)


def compared(required: Requirement, evidence: Evidence) -> tuple[Requirement, Label, str, str]:
    """The requirement with its margin, the label (without an id: all of them) and the ids of the two systems.

    Errors are those of `decide`.
    """
    label = _label(required, evidence) if required.label else _meant(required, evidence)
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


def _meant(required: Requirement, evidence: Evidence) -> Label:
    """Where a requirement names none: the only label of the main evaluation that says which system is better, or one
    without an id that stands for all that do."""
    corpus, group, method = parts(evidence)[0]
    judged = set(where(evidence.counted, corpus=corpus, group=group, method=method)["label"])
    fits = [x for x in evidence.study.label_list() if x.method == method and x.direction and x.id in judged]
    if not fits:
        raise UsageError(
            f"requirement {required.text!r}: the YAML does not say of any label whether a high score is good: write "
            "`direction: 1` or `direction: -1` under the labels"
        )
    votes = METHODS[method].unit == "pair"
    return fits[0] if len(fits) == 1 else Label("", method, "", (-1, 1) if votes else (-inf, inf))


def _sized(required: Requirement, label: Label, evidence: Evidence) -> Requirement:
    """With the margin that the study states, where the requirement names none."""
    if required.percent and not share(label):
        expected = "standard deviations of items, as several labels have no scale in common"
        if label.id:
            expected = f"points of the scale, as means of {label.id} are no rates"
        raise UsageError(f"requirement {required.text!r}: expected {expected}, found %")
    if required.size is not None:
        _possible(required, required.size, label)
        return required
    margin = evidence.study.margins.get((label.method, label.id))
    if margin is None:
        way = "by 0.2" if required.kind == "not_inferior" else "within 0.2"
        ways = f"write `{way}` behind it"
        if label.id:
            ways += f", or the smallest difference that matters into the YAML: `margin: {{{label.id}: 0.2}}`"
        raise UsageError(f"requirement {required.text!r}: expected a margin, found none: {ways}")
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
    wide = f"the scale of {label.id} is wide, {most:g}" if label.id else f"{most:g}"
    raise UsageError(f"requirement {required.text!r}: expected {least_}less than {wide}, found {size:g}{hint}")


def verdict(required: Requirement, low: float, high: float) -> Verdict:
    """By an interval of what is required. A missing interval tells nothing."""
    if isnan(low) or isnan(high):
        return Verdict.OPEN
    if required.kind == "equivalent":
        inside = -required.bound < low and high < required.bound
        outside = low > required.bound or high < -required.bound
    else:
        least = -required.bound if required.kind == "not_inferior" else required.bound
        inside, outside = low > least, high < least
    return Verdict.MET if inside else Verdict.NOT_MET if outside else Verdict.OPEN


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
    if not fits:
        raise _no_such("label", required.label, [x.id for x in every], required)
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
        raise _no_such("system", name, [*titles], required)
    return fits[0]


def _no_such(what: str, name: str, there: Iterable[str], required: Requirement) -> UsageError:
    near, end = difflib.get_close_matches(name, list(there), n=1), re.search(r" ((?:by|within) \S+)$", name)
    says = f"no {what} {name!r}; " + (f"did you mean {near[0]!r}?" if near else f"there are {', '.join(there)}")
    if end:
        way = "within" if required.kind == "equivalent" else "by"
        says = f"expected it to end like `{way} 0.2`, found `{end[1]}`"
    return UsageError(f"requirement {required.text!r}: {says}")
