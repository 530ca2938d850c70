"""Views of notebook 17: who judged what, and tables of what was found, what was not, and what was not looked at."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from judgebook.display.names import DisplayNames
from judgebook.display.plots import heatmap
from judgebook.display.style import PAGE, subplots
from judgebook.display.text import Phrases, plural
from judgebook.display.views import Plot, Table
from judgebook.questions.design.analysis import SHOWN, stored
from judgebook.questions.design.findings import each, price
from judgebook.questions.design.material import CHECKS
from judgebook.study.escape import from_markdown
from judgebook.study.results import Results

#: systems in the figure: more columns than this have names that cannot be read
_SYSTEMS = 30


def loads(results: Results, names: DisplayNames) -> Plot | None:
    """Who judged how many dialogues of each system."""
    rows = results["design_load"]
    if rows.empty:
        return None
    wide = rows.pivot_table(index="annotator", columns="system", values="estimate", sort=False)
    most = wide.sum().sort_values(ascending=False, kind="stable").index[:_SYSTEMS]
    wide = wide[sorted(most, key=lambda s: (names.position("system", s), s))]
    n_annotators, n_systems = wide.shape
    titled = wide.rename(columns=lambda s: names.name("system", s)).replace(0, np.nan)
    fig, ax = subplots(width=min(PAGE, 2.2 + 0.55 * n_systems), height=0.8 + 0.19 * n_annotators + 0.3)
    heatmap(titled, ax, decimals=0, texts=titled.map(lambda v: "" if np.isnan(v) else f"{v:.0f}"), vmin=0)
    where = ", ".join(names.name(k, rows[k].iloc[0]) for k in ("method", "group", "corpus"))
    caption = (
        f"Dialogues of each system (columns) that each annotator (rows) judged; hatched: none. {where}."
        f" Shown are at most {SHOWN} annotators, those with most dialogues first, and {_SYSTEMS} systems."
        " If the same annotators judge all systems, rows are evenly coloured."
    )
    apart = int((wide > 0).sum(axis=1).eq(1).sum())
    alt = f"{plural(n_annotators, 'annotator')} by {plural(n_systems, 'system')}; {apart} judged one system only."
    title = Phrases(__package__).say("loads_title", n=n_annotators, apart=apart)
    return Plot(fig, "loads", alt, caption, title, "Dialogues of each system that an annotator judged")


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
