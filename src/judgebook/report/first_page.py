"""What the first page of a study shows beside answers and notebooks: a pair finder, and how the report is cited."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Compared:
    """Every pair of systems in one evaluation, as text that the page escapes.

    title : names the evaluation. whose : whose judgements the verdicts are about. about : how to read them. unit : of
    all differences; empty where labels have different ones. ci, n : headings of the interval and of the numbers of
    units. rows : label, the two systems, difference, ends of its interval, p-value, n, verdict, unit. ranks : system,
    rank and the ends of its interval, the best first; ranked : what that order is by. systems : all, in the order in
    which they are offered. places : names, behind the notebook's, of a table of all pairs; page : its address, empty
    where there is none.
    """

    title: str
    whose: str
    about: str
    unit: str
    ci: str
    n: str
    rows: tuple[tuple[str, ...], ...]
    ranks: tuple[tuple[str, ...], ...] = ()
    ranked: str = ""
    systems: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    page: str = ""


@dataclass(frozen=True)
class Cite:
    """How a report is cited. text : a line for a list of references. bibtex : the same as BibTeX. data : what to cite
    for the data. licences : of what, and which."""

    text: str
    bibtex: str
    data: str
    licences: tuple[tuple[str, str], ...]
