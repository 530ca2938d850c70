"""The page that lists every printed number, with filter and search. It needs no network. Its script shows a page of
rows at a time; without it, the first of them are shown, with a link to all as CSV.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from compendium.published import mapping, scoreboard
from compendium.published.scoreboard import VERDICTS
from compendium.published.views import ours
from judgebook.report import html as report

TITLE = "Every printed number"
#: rows shown at once
ROWS = 100
_KEYS = ("paper", "element", "verdict", "place", "printed", "here", "note", "source", "href")


def page(
    cells: pd.DataFrame, about: report.Page, titles: Mapping[str, str], link: Callable[[str, str, str], str], csv: str
) -> str:
    """The page of every printed number.

    Parameters
    ----------
    cells : DataFrame
        Of `scoreboard.scoreboard`.
    about : Page
        The study and its navigation.
    titles : mapping
        Paper -> display name, in order.
    link : callable
        Study, notebook and figure or table -> address, empty where there is no page.
    csv : str
        Address of the same numbers as a table.
    """
    bars = [_bar(row) for row in scoreboard.counts(cells, ["paper", "element"]).to_dict("records")]
    cells = cells.sort_values("paper", key=lambda p: p.map(list(titles).index), kind="stable")
    lines = [_line(row, link) for row in cells.to_dict("records")]
    papers = {p: [b for b in bars if b["paper"] == p] for p in titles}
    strings = list(dict.fromkeys(line[key] for line in lines for key in _KEYS))
    place = {text: i for i, text in enumerate(strings)}
    data = {
        "size": ROWS,
        "keys": _KEYS,
        "strings": strings,
        "numbers": [[place[line[key]] for key in _KEYS] for line in lines],
        "titles": titles,
        "verdicts": VERDICTS,
    }
    content = {"badge": scoreboard.badge(cells), "papers": papers, "titles": titles, "verdicts": VERDICTS, "csv": csv}
    return report.scoreboard_page(about, TITLE, lines=lines[:ROWS], count=len(lines), data=data, **content)


def _bar(row: dict[str, Any]) -> dict[str, Any]:
    """A table or section of a paper. parts : verdict -> how many numbers, and their share in percent."""
    n = {verdict: int(row[verdict]) for verdict in VERDICTS}
    total = sum(n.values())
    parts = {v: (k, 100 * k / total) for v, k in n.items() if k}
    return {"paper": row["paper"], "element": row["element"], "total": total, "parts": parts}


def _line(row: dict[str, Any], link: Callable[[str, str, str], str]) -> dict[str, str]:
    """A printed number as the page shows it."""
    decimals = int(row["decimals"])
    place = ", ".join(dict.fromkeys(mapping.title(row["paper"], row[side]) for side in ("panel", "row", "column")))
    result = ours(row["reproduced"], decimals, 1)
    if row["verdict"] in (scoreboard.NOISE, scoreboard.ARITHMETIC, scoreboard.INCONSISTENT):
        ends = [ours(v, decimals, 2) if np.isfinite(v) else "any" for v in (row["low"], row["high"])]
        result = " to ".join(dict.fromkeys(ends))
    source = f"{row['study']}, {row['notebook'].partition('_')[0]}" if row["study"] else ""
    line = {key: row[key] for key in ("paper", "element", "verdict", "note")}
    line |= {"place": place, "printed": row["published"], "here": result, "source": source}
    return line | {"href": link(row["study"], row["notebook"], row["shows"]) if row["study"] else ""}
