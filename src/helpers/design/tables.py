"""Tables of notebook 17."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from helpers.design.analysis import stored
from helpers.design.findings import each, price
from helpers.design.registry import CHECKS
from helpers.display.names import DisplayNames
from helpers.display.views import Table
from helpers.study.escape import from_markdown
from helpers.study.results import Results


def found(results: Results, names: DisplayNames) -> Table | None:
    """Every finding: what, where, which answers it touches, what changes when it is acted on, what to do."""
    rows = [
        {
            "Finding": from_markdown(one.what),
            "Where": one.where or "whole study",
            "Concerns": ", ".join(one.touches),
            "What changes": from_markdown(one.change) or "–",
            "What to do": from_markdown(one.todo),
            "Size": from_markdown(price(one)),
        }
        for one in each(stored(results), names)
    ]
    caption = (
        "Findings, the most expensive first. Size: by how many standard errors a conclusion moves, or its interval"
        " widens, when the finding is acted on. Differences are recomputed quickly for this purpose (means of dialogues"
        " with Welch’s standard errors; strengths by Bradley and Terry); notebooks 05 and 07 estimate them."
    )
    return Table(pd.DataFrame(rows), "findings", caption) if rows else None


def others(results: Results) -> Iterator[Table]:
    """Checks that could not be made, with reasons; checks that found nothing."""
    examined = stored(results)
    rows = [{"Looks for": _title(u.code), "Not made because": u.reason} for u in examined.unchecked]
    if rows:
        yield Table(pd.DataFrame(rows), "unchecked", "Checks that could not be made: what they look for may be there.")
    passed = pd.DataFrame({"Looks for": [_title(code) for code in examined.passed]})
    if len(passed):
        yield Table(passed, "passed", "Checks that found nothing.")


def _title(code: str) -> str:
    return CHECKS[code].looks_for if code in CHECKS else code
