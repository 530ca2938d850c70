"""The page that lists every printed number, with filter and search. It needs no network, and all of it shows without
its script.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from helpers import report, scoreboard
from helpers.scoreboard import VERDICTS
from helpers.tables import number

TITLE = "Every printed number"


@dataclass(frozen=True)
class Line:
    """A printed number as the page shows it. search : what the search looks at, in lower case."""

    paper: str
    title: str
    element: str
    place: str
    printed: str
    here: str
    verdict: str
    note: str
    href: str
    source: str
    search: str


@dataclass(frozen=True)
class Bar:
    """A table or section of a paper. parts : verdict -> how many numbers, and their share in percent."""

    paper: str
    element: str
    total: int
    parts: dict[str, tuple[int, float]]


def page(
    cells: pd.DataFrame, about: report.Page, titles: Mapping[str, str], link: Callable[[str, str, str], str]
) -> str:
    """The page for `scoreboard.board`. link : study, notebook and figure or table -> address, empty where there is no
    page.
    """
    bars = [_bar(row) for row in scoreboard.counts(cells, ["paper", "element"]).to_dict("records")]
    order = {paper: i for i, paper in enumerate(titles)}
    cells = cells.sort_values("paper", key=lambda p: p.map(order), kind="stable")
    lines = [_line(row, titles, link) for row in cells.to_dict("records")]
    papers = {p: [b for b in bars if b.paper == p] for p in titles}
    return report.board_page(
        about, TITLE, badge=scoreboard.badge(cells), papers=papers, titles=titles, lines=lines, verdicts=VERDICTS
    )


def _bar(row: dict[str, object]) -> Bar:
    n = {verdict: int(row[verdict]) for verdict in VERDICTS}
    total = sum(n.values())
    return Bar(row["paper"], row["element"], total, {v: (k, 100 * k / total) for v, k in n.items() if k})


def _line(row: dict[str, object], titles: Mapping[str, str], link: Callable[[str, str, str], str]) -> Line:
    place = ", ".join((row["panel"], row["row"], row["column"]))
    here = _here(row["reproduced"], int(row["decimals"]))
    if row["verdict"] in (scoreboard.NOISE, scoreboard.ARITHMETIC, scoreboard.INCONSISTENT):
        here = _span(row["low"], row["high"], int(row["decimals"]))
    source = f"{row['study']}, {row['notebook'].partition('_')[0]}" if row["study"] else ""
    href = link(row["study"], row["notebook"], row["shows"]) if row["study"] else ""
    text = (titles[row["paper"]], row["element"], place, row["published"], VERDICTS[row["verdict"]], row["note"])
    return Line(
        row["paper"],
        titles[row["paper"]],
        row["element"],
        place,
        row["published"],
        here,
        row["verdict"],
        row["note"],
        href,
        source,
        " ".join((*text, source)).lower(),
    )


def _here(value: float, decimals: int) -> str:
    """A result at one decimal more than printed; whole numbers stay so."""
    return number(int(value) if decimals == 0 and float(value).is_integer() else value, decimals + 1)


def _span(low: float, high: float, decimals: int) -> str:
    """The range that other numbers or draws allow; one number where both ends look the same."""
    ends = [_here(v, decimals + 1) if np.isfinite(v) else "any" for v in (low, high)]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
