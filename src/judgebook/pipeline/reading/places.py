"""Where the evidence stands: the figure or table that a statement of the first page leads to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from judgebook.report.blocks import Block, blocks
from judgebook.report.html import Compared
from judgebook.summary import pairs
from judgebook.summary.evidence import PERFORMANCE, Evidence

#: notebook -> what its page shows
Shown: TypeAlias = Mapping[str, list[Block]]
#: key of an answer -> names, behind the notebook's, of figures and tables that show what it says, the best first
EVIDENCE = {
    "order": ("leaderboard", "overall", "ranks"),
    "labels": ("alpha", "repeat"),
    "judges": ("components", "differences"),
    "sample": ("contrasts",),
    "cost": ("costs", "minutes"),
}


def shown(executed: Path) -> list[Block]:
    """What the page of a notebook shows, without what is private."""
    return [b for b in blocks(json.loads(executed.read_text(encoding="utf-8"))) if not b.private]


def place(every: Shown, notebook: str, wanted: Iterable[str]) -> tuple[str, str]:
    """Number and address of the first figure or table on the page of a notebook that shows one of `wanted`, else of the
    first that it has; of the page where it has none, and empty where there is no page.

    wanted : how the names of figures and tables go on behind the notebook's, the best first.
    """
    if notebook not in every:
        return "", ""
    named = {b.name: f"{b.kind.capitalize()} {b.number}" for b in reversed(every[notebook]) if b.number and b.name}
    first = next(reversed(named), "")
    # one table of a kind for each method has the method in its name
    places = (name for view in wanted for name in reversed(named) if f"{name}_".startswith(f"{notebook}_{view}_"))
    name = next(places, first)
    number = notebook.split("_")[0]
    return (f"{number}, {named[name]}", f"{notebook}.html#{name}") if name else (number, f"{notebook}.html")


def compared(evidence: Evidence, every: Shown) -> list[Compared]:
    """What the pair finder says, with the address of the table or figure that has all pairs."""
    return [replace(one, page=place(every, PERFORMANCE, one.places)[1]) for one in pairs.compared(evidence)]
