"""Printed numbers compared with the results they correspond to, as `data/published/<paper>_mapping.yaml` says.

Verdicts (`judge`), from what says most of a number to what says least:

- `match`: equal at the printed decimals, by a rule stated without looking at the value;
- `match_source`: we define it otherwise, and under the source's own rule it is equal;
- `match_fitted`: equal only under a choice found by searching for it, which confirms nothing;
- `within_noise`: a random pick is involved, and the number lies within the range over many;
- `differs`: there are results, and none of this holds;
- `needs_download`: there are no results, because a file was not downloaded or not read.

A rule that fails most of a table confirms nothing in it. Where it is known which numbers of a table rest on the same
data (`MappingEntry.together`), as those of a system do, they stand or fall together instead: a rule that gives only
some of them gives none. In both cases the equality of single numbers is due to rounding, and is no match by rule.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import TypeVar

import numpy as np
import pandas as pd

from compendium.published import mapping
from compendium.published import numbers as published
from compendium.published.mapping import MappingEntry, Reason, Without
from judgebook import project
from judgebook.study.result_schema import IDS, KEY_TYPES, statistics
from judgebook.study.results import Results, where

MATCH, SOURCE, FITTED, NOISE = "match", "match_source", "match_fitted", "within_noise"
DIFFERS, DOWNLOAD = "differs", "needs_download"
#: verdicts on numbers that have a result, as tables and prose name them
WORDS = {MATCH: "matches", SOURCE: "matches under the source's own rule", FITTED: "matches, fitted"}
WORDS |= {NOISE: "within the range over picks", DIFFERS: "differs"}
#: (study, notebook) -> its results, None where it did not run
Sources = Mapping[tuple[str, str], Results | None]
_Line = TypeVar("_Line", Reason, Without)
#: columns that `judge` adds
JUDGED = ["here", "low", "high", "ci_low", "ci_high", "tolerance", "verdict", "note", "study", "notebook", "shows"]
JUDGED += ["entry"]
_VALUES = ["estimate", "ci_low", "ci_high"]
_SIDES = ("panel", "row", "column")
#: what a side of a table can name in the results of any statistic
_ALWAYS = (*IDS, "statistic", "groups")


@dataclass(frozen=True)
class Reproduction:
    """What one entry says of one printed number, in the printed unit.

    low, high : the range over picks, else missing. ci_low, ci_high : the interval of the result.
    """

    entry: MappingEntry
    value: float
    low: float = np.nan
    high: float = np.nan
    ci_low: float = np.nan
    ci_high: float = np.nan


def reproduced(results: Results | None, cells: pd.DataFrame, entry: MappingEntry) -> pd.DataFrame:
    """The results that an entry assigns to printed numbers.

    Parameters
    ----------
    results : Results or None
        Of the entry's notebook; None where it did not run.
    cells : DataFrame
        Printed numbers, as `numbers.load` gives them.
    entry : MappingEntry

    Returns
    -------
    DataFrame with the index of `cells`, in the printed unit: value; low, high, the range over picks; ci_low, ci_high.
    Missing where there is no result.

    Raises
    ------
    ValueError
        Where several result rows fit a number.
    """
    by_place = {} if results is None else _known(results, entry)
    sides = [[entry.names.get(v, v) for v in cells[s]] for s in _SIDES if getattr(entry, s)]
    places = list(zip(*sides, strict=True)) if sides else [()] * len(cells)
    values = [by_place.get(place, (np.nan,) * 3) for place in places]
    out = pd.DataFrame(values, index=cells.index, columns=["value", "ci_low", "ci_high"], dtype=float)
    out = out * entry.scale + entry.plus
    if entry.scale < 0:
        out[["ci_low", "ci_high"]] = out[["ci_high", "ci_low"]].to_numpy()
    out.insert(1, "low", out["ci_low"] if entry.ranged else np.nan)
    out.insert(2, "high", out["ci_high"] if entry.ranged else np.nan)
    if entry.low and entry.high:
        for end, change in {"low": entry.low, "high": entry.high}.items():
            alone = entry.changed(change).model_copy(update={"low": None, "high": None})
            out[end] = reproduced(results, cells, alone)["value"]
    return out


def _known(results: Results, entry: MappingEntry) -> dict[tuple, np.ndarray]:
    """Place in the table -> estimate and interval; rows of a list of values are added up."""
    named = entry.where.get("statistic")
    rows = [row for statistic in ([named] if named else results) for row in _places(results, str(statistic), entry)]
    wanted = prod(len(v) for v in [*entry.where.values(), *entry.keys.values()] if isinstance(v, list))
    out: dict[tuple, list[tuple]] = {}
    for place, values in rows:
        out.setdefault(place, []).append(values)
    many = [place for place, values in out.items() if len(values) > wanted]
    if many:
        raise ValueError(f"{entry.cells}: {len(out[many[0]])} result rows of {entry.notebook} for {many[0]}")
    return {place: np.sum(values, axis=0) for place, values in out.items() if len(values) == wanted}


def _places(results: Results, statistic: str, entry: MappingEntry) -> list[tuple[tuple, tuple]]:
    """The rows of a statistic to which an entry refers: place in the table; estimate and interval."""
    keys, sides = statistics()[statistic].keys, [d for d in (entry.panel, entry.row, entry.column) if d]
    if not {*entry.keys, *(d for d in sides if d not in _ALWAYS)} <= set(keys):
        return []
    typed = {k: [KEY_TYPES.get(k, str)(x) for x in (v if isinstance(v, list) else [v])] for k, v in entry.keys.items()}
    absent = dict.fromkeys(k for k in keys if k not in typed and k not in sides)
    columns = {k: v for k, v in entry.where.items() if k != "statistic"}
    rows = where(results[statistic], **columns, **typed, **absent)
    rows = rows.dropna(subset=[d for d in sides if d in keys]).assign(statistic=statistic, groups=_groups)
    places = [tuple(map(str, place)) for place in zip(*(rows[d] for d in sides), strict=True)] or [()] * len(rows)
    values = rows[_VALUES].mul(rows["n"].astype(float), axis=0) if entry.counted else rows[_VALUES]
    return list(zip(places, values.itertuples(index=False, name=None), strict=True))


def _groups(results: pd.DataFrame) -> list[object]:
    """`a`, or `a__b` where two groups are compared, as printed tables name them."""
    return [a if pd.isna(b) else f"{a}__{b}" for a, b in zip(results["group"], results["group_b"], strict=True)]


def attempts(
    results: Sources, printed: pd.DataFrame, papers: Iterable[mapping.Mapping]
) -> dict[object, list[Reproduction]]:
    """What every entry says of its printed numbers: index of `printed` -> attempts in order."""
    out: dict[object, list[Reproduction]] = {}
    for paper in papers:
        for entry in paper.entries:
            if not entry.study:
                continue
            cells = published.select(printed, paper.paper, entry.cells)
            for i, *values in reproduced(results.get((entry.study, entry.notebook)), cells, entry).itertuples():
                out.setdefault(i, []).append(Reproduction(entry, *values))
    return out


def choose(
    value: float, decimals: int, tried: list[Reproduction], failed: Container[int] = ()
) -> tuple[str, Reproduction]:
    """The verdict on a printed number, and the attempt it is based on. Only the first result by rule counts, and the
    source's own where that is ours.

    failed : `id` of the entries whose rule does not give the numbers that this one stands or falls with.
    """
    half = published.tolerance(decimals) + 1e-9
    with_value = [a for a in tried if not np.isnan(a.value) or not np.isnan(a.low)]
    by_rule = rules_of(tried)
    firm = [a for a in by_rule if id(a.entry) not in failed]
    fitted, ranged = [a for a in with_value if a.entry.fitted], [a for a in with_value if a.entry.ranged]
    ours, source = ([a for a in firm if (a is by_rule[0]) == first] for first in (True, False))
    for verdict, candidates in ((MATCH, ours), (SOURCE, source), (FITTED, fitted), (NOISE, ranged)):
        for a in candidates:
            low, high = (a.low, a.high) if verdict == NOISE else (a.value, a.value)
            if low - half <= value <= high + half:
                return verdict, a
    return (DIFFERS, (by_rule or with_value)[0]) if with_value else (DOWNLOAD, tried[0])


def rules_of(tried: list[Reproduction]) -> list[Reproduction]:
    """The first attempt by a rule that gives a result, and the first by the source's own where that is another."""
    rules = [a for a in tried if not a.entry.fitted and not a.entry.ranged and not np.isnan(a.value)]
    return [*rules[:1], *[a for a in rules[1:] if a.entry.rule and not rules[0].entry.rule][:1]]


def _failed(printed: pd.DataFrame, tried: Mapping[object, list[Reproduction]]) -> dict[object, set[int]]:
    """Index of printed numbers -> `id` of the entries whose rule fails most of the element or, where that is declared,
    some of the numbers that rest on the same data."""
    rows = [(i, a.value, a.entry) for i, attempts in tried.items() for a in rules_of(attempts)]
    frame = pd.DataFrame(rows, columns=["cell", "ours", "entry"]).assign(rule=lambda f: f["entry"].map(id))
    frame = frame.join(printed, on="cell")
    frame["wrong"] = ~published.agrees(frame["value"], frame["decimals"], frame["ours"].astype(float))
    apart = frame["entry"].map(lambda entry: not entry.together)
    frame["fails"] = apart & (frame.groupby(["element", "rule"])["wrong"].transform("mean") > 0.5)
    out: dict[object, set[int]] = {i: set() for i in tried}
    wrong = {(cell, entry.rule != "") for cell, entry in frame.loc[frame["wrong"], ["cell", "entry"]].to_numpy()}
    companions: dict[tuple[str, str], list] = {}
    for r in frame.itertuples():
        together = r.entry.together and r.entry.together.format(**printed.loc[r.cell, published.PLACE])
        if together and (r.paper, together) not in companions:
            companions[r.paper, together] = list(published.select(printed, r.paper, together).index)
        some = together and any((i, r.entry.rule != "") in wrong for i in companions[r.paper, together])
        if r.fails or some:
            out[r.cell].add(r.rule)
    return out


def judge(results: Sources, printed: pd.DataFrame, papers: Iterable[mapping.Mapping]) -> pd.DataFrame:
    """The printed numbers to which an entry refers, in their order, with what was reproduced and the verdict.

    Parameters
    ----------
    results : mapping of (study, notebook) to Results or None
    printed : DataFrame
        From `numbers.load`.
    papers : iterable of Mapping

    Returns
    -------
    DataFrame: columns of `printed` (with `note` as `wording`) and `here`, the result in the printed unit; `low`,
    `high`, the range over picks where the verdict depends on one; `ci_low`, `ci_high`, the result's interval;
    `tolerance`, how far the printed number may lie from the result (half a unit of the last decimal; with a range, as
    far as it reaches on that side); `verdict`; `note`; `entry`, on which the verdict rests, and its `study`,
    `notebook` and `shows`.
    """
    papers = list(papers)
    tried, reasons = attempts(results, printed, papers), first_lines(printed, papers, lambda paper: paper.differs)
    files: dict[tuple[str, str | None], str] = {
        (p.paper, study): file for p in papers for study, file in p.needs.items()
    }
    failed, rows = _failed(printed, tried), {}
    for i, cell in printed.loc[[i for i in printed.index if i in tried]].iterrows():
        verdict, a = choose(cell["value"], cell["decimals"], tried[i], failed[i])
        beyond = 0.0  # how far the range over picks reaches on the side of the printed number
        if a.entry.ranged:
            beyond = a.high - a.value if cell["value"] > a.value else a.value - a.low
        equal = verdict == DIFFERS and published.agrees(cell["value"], cell["decimals"], a.value)
        by_chance = "Ours is equal by rounding: the rule fails most of what it applies to." if equal else ""
        needs = a.entry.needs or files.get((cell["paper"], a.entry.study))
        why = {
            MATCH: a.entry.rule or (a.entry.basis and f"Based on {a.entry.basis}."),
            SOURCE: a.entry.rule,
            FITTED: a.entry.fitted,
            NOISE: f"range over {a.entry.ranged}",
            DOWNLOAD: needs or f"no such result: run `{project.command()} --study {a.entry.study}`",
        }
        rows[i] = {
            **{"here": a.value, "low": a.low, "high": a.high, "ci_low": a.ci_low, "ci_high": a.ci_high},
            "tolerance": published.tolerance(cell["decimals"]) + beyond,
            "verdict": verdict,
            "note": why.get(verdict, f"{reasons[i].note if i in reasons else a.entry.note} {by_chance}".strip()),
            **{"study": a.entry.study, "notebook": a.entry.notebook, "shows": a.entry.shows, "entry": a.entry},
        }
    judged = pd.DataFrame.from_dict(rows, orient="index", columns=JUDGED)
    return printed.rename(columns={"note": "wording"}).join(judged, how="inner")


def first_lines(
    printed: pd.DataFrame, papers: Iterable[mapping.Mapping], part: Callable[[mapping.Mapping], Iterable[_Line]]
) -> dict[object, _Line]:
    """Index of `printed` -> the first line of a mapping's `differs` or `without`, its `part`, that names the number."""
    out: dict[object, _Line] = {}
    for paper in papers:
        for line in part(paper):
            for i in published.select(printed, paper.paper, line.cells).index:
                out.setdefault(i, line)
    return out


def compared(results: Results, study: str, notebook: str) -> pd.DataFrame:
    """`judge` for the numbers that a notebook compares with its results for one study; empty where there are none."""
    papers = []
    for paper in mapping.load():
        chosen = [e for e in paper.entries if e.notebook == notebook and study in (e.study, *e.beside)]
        of_study = [e.model_copy(update={"study": study}) for e in chosen]
        papers += [paper.model_copy(update={"entries": of_study})] if of_study else []
    return judge({(study, notebook): results}, published.load(), papers).drop(columns="file")


def beside(results: Results, study: str, notebook: str) -> pd.DataFrame:
    """`compared` without the entries, as it is stored."""
    return compared(results, study, notebook).drop(columns="entry")


def tally(cells: pd.DataFrame) -> pd.DataFrame:
    """How many numbers of each element and panel have each verdict: one row each, in the order of `cells`."""
    counts = cells.groupby(["element", "panel"], sort=False)["verdict"].value_counts().unstack(fill_value=0)  # noqa: PD010
    order = [v for v in (*WORDS, DOWNLOAD) if v in counts]
    return counts[order].assign(cells=counts.sum(axis=1)).reset_index().rename_axis(columns=None)
