"""Tables of notebook 91."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from compendium.published.consistency.analysis import CONSISTENT_WITH, CONTRADICTS, FOLLOWS, Audit, by_check
from compendium.published.consistency.figures import STATE_NAMES
from judgebook.display.views import Prose, Table


def failures(audited: Audit) -> Iterator[Table | Prose]:
    """Checks that fail somewhere: those without an assumption, those that depend on one, and notes on the text."""
    checks = by_check(audited.checks)
    rows = checks[checks["failed"] > 0]
    fails = [f"{failed} of {places}" for failed, places in zip(rows["failed"], rows["places"], strict=True)]
    columns = {"rule": "Rule", "evidence": "Evidence", "assumes": "If"}
    shown = rows.rename(columns=columns).assign(Paper=rows["paper"].map(audited.titles), Fails=fails)
    firm, order = shown["If"] == "", ["Paper", "Rule", "Fails", "Evidence"]
    if not firm.any():
        yield Prose("No check fails without an assumption.")
    caption = "Checks that fail, whatever the rounding, and in how many of their places."
    yield Table(shown.loc[firm, order], "inconsistent", caption)
    caption = "Checks that fail under an assumption that the paper does not state."
    yield Table(shown.loc[~firm, [*order, "If"]], "conditional", caption)
    notes = audited.notes.assign(paper=audited.notes["paper"].map(audited.titles))
    notes = notes.set_axis(["Paper", "Where", "Note"], axis=1)
    yield Table(notes, "notes", "Contradictions and doubts in the text, noted by hand, because no rule covers them.")


def numbers(audited: Audit) -> Table:
    """Printed numbers by paper, element and state; elements of which no check says anything are left out."""
    counts = pd.crosstab([audited.cells["paper"], audited.cells["element"]], audited.cells["state"])
    order = audited.cells.drop_duplicates(["paper", "element"]).set_index(["paper", "element"]).index
    counts = counts.reindex(index=order, columns=list(STATE_NAMES), fill_value=0).rename_axis(columns=None)
    counts = counts[counts[[FOLLOWS, CONSISTENT_WITH, CONTRADICTS]].sum(axis=1) > 0].reset_index()
    names = {state: name.capitalize() for state, name in STATE_NAMES.items()}
    out = counts.assign(paper=counts["paper"].map(audited.titles))
    out = out.rename(columns={"paper": "Paper", "element": "Where"} | names)
    return Table(out, "numbers", "Printed numbers by table or section, and the results of the checks.")
