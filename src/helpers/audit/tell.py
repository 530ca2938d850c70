"""What the audit found, as tables and sentences for its notebook."""

from __future__ import annotations

import pandas as pd

from helpers.audit.report import (
    CONDITIONAL,
    CONSISTENT_WITH,
    CONTRADICTS,
    FOLLOWS,
    INVOLVED,
    NONE,
    Audit,
    by_check,
    by_element,
)
from helpers.tables import listing

#: outcomes of checks, and states of printed numbers, as figures and tables name them
KINDS = {
    "consistent": "consistent",
    "inconsistent": "inconsistent",
    CONDITIONAL: "inconsistent only under an assumption",
    "not checkable": "not checkable",
}
STATE_NAMES = {
    FOLLOWS: "follows from others",
    CONSISTENT_WITH: "consistent with others",
    CONTRADICTS: "contradicts others",
    INVOLVED: "others are checked by it",
    NONE: "in no check",
}


def failures(found: Audit) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Checks that fail at some place, for reading: those that assume nothing, and those that do (with column `If`)."""
    checks = by_check(found.checks)
    rows = checks[checks["failed"] > 0]
    fails = [f"{f} of {p}" for f, p in zip(rows["failed"], rows["places"], strict=True)]
    columns = {"rule": "Rule", "evidence": "Evidence", "assumes": "If"}
    shown = rows.rename(columns=columns).assign(Paper=rows["paper"].map(found.titles), Fails=fails)
    firm = shown["If"] == ""
    order = ["Paper", "Rule", "Fails", "Evidence"]
    return shown.loc[firm, order].reset_index(drop=True), shown.loc[~firm, [*order, "If"]].reset_index(drop=True)


def numbers(found: Audit) -> pd.DataFrame:
    """Printed numbers by paper, element and state, for reading; elements of which nothing is said are left out."""
    counts = by_element(found.cells)
    counts = counts[counts[[FOLLOWS, CONSISTENT_WITH, CONTRADICTS]].sum(axis=1) > 0]
    names = {state: name.capitalize() for state, name in STATE_NAMES.items()}
    counts = counts.assign(paper=counts["paper"].map(found.titles))
    out = counts[["paper", "element", *names]].rename(columns={"paper": "Paper", "element": "Where"} | names)
    return out.reset_index(drop=True)


def notes(found: Audit) -> pd.DataFrame:
    """Notes on prose, for reading."""
    out = found.notes.assign(paper=found.notes["paper"].map(found.titles))
    return out.rename(columns={"paper": "Paper", "element": "Where", "note": "Note"})


def alt(checks: pd.DataFrame, cells: pd.DataFrame) -> str:
    """What the figure of counts shows, from the counts it draws."""
    bad, follow = KINDS["inconsistent"], STATE_NAMES[FOLLOWS]
    left = "; ".join(f"{paper}: {row[bad]} of {row.sum()} {bad}" for paper, row in checks.iterrows())
    right = "; ".join(f"{paper}: {row[follow]} of {row.sum()} follow" for paper, row in cells.iterrows())
    return f"Bars by paper. Above, checks by outcome: {left}. Below, printed numbers by what is said of them: {right}."


def what_we_see(found: Audit) -> list[str]:
    """Sentences on the whole and on each paper, as Markdown."""
    checks = by_check(found.checks)
    failed = checks[checks["failed"] > 0]
    firm = failed[failed["assumes"] == ""]
    follow, against = (int((found.cells["state"] == state).sum()) for state in (FOLLOWS, CONTRADICTS))
    first = f"Of {len(found.cells):,} numbers printed in {len(found.titles)} papers, {follow} follow from other printed"
    first += f" numbers and {against} contradict{'s' if against == 1 else ''} them. Of {len(checks)} checks, made at"
    first += f" {len(found.checks):,} places, {len(firm)} fail whatever was rounded, and {len(failed) - len(firm)} more"
    first += " only if something is assumed that the paper does not print."
    papers = [_of_paper(title, firm[firm["paper"] == paper]) for paper, title in found.titles.items()]
    last = "A number that follows from others confirms them, not the analysis behind them. Such numbers are therefore"
    return [first, "\n".join(papers), f"{last} counted apart from those reproduced from data."]


def _of_paper(title: str, failed: pd.DataFrame) -> str:
    if failed.empty:
        return f"- {title}: no check fails."
    where = listing(dict.fromkeys(failed["element"]))
    checks, them = ("1 check fails", "it is") if len(failed) == 1 else (f"{len(failed)} checks fail", "they are")
    return f"- {title}: {checks}; {them} about {where}."
