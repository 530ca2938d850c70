"""Tables of notebook 17."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from judgebook.display.names import DisplayNames
from judgebook.display.views import Table
from judgebook.questions.design.analysis import stored
from judgebook.questions.design.findings import each, price
from judgebook.questions.design.registry import CHECKS
from judgebook.study.escape import from_markdown
from judgebook.study.results import Results


def findings(results: Results, names: DisplayNames) -> Table | None:
    """Every finding: where, what, what changes when it is acted on, what to do, which answers it touches."""
    rows = [
        {
            "Finding": (f"{one.where}: " if one.where else "") + from_markdown(one.what),
            "What changes": from_markdown(f"{one.change} {price(one)}".strip()),
            "What to do": from_markdown(one.todo),
            "Concerns": ", ".join(one.touches),
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
