"""Printed numbers beside the results they correspond to, as `data/published/<paper>_mapping.yaml` says.

Verdicts (`judge`), from what says most of a number to what says least:

- `match`: equal at the printed decimals, by a rule stated without looking at the value;
- `match_fitted`: equal only under a choice found by searching for it, which confirms nothing;
- `within_noise`: a random pick is involved, and the number lies within the range over many;
- `differs`: there are results, and none of this holds;
- `needs_data`: there are no results.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from helpers import mapping, published, tables
from helpers.mapping import Entry
from helpers.schema import RESULTS, read_condition

MATCH, FITTED, NOISE, DIFFERS, NEEDS = "match", "match_fitted", "within_noise", "differs", "needs_data"
#: as readers know them
WORDS = {MATCH: "matches", FITTED: "matches, fitted", NOISE: "within the range over picks", DIFFERS: "differs"}
_SEVERAL = {MATCH: "match", FITTED: "match, fitted", DIFFERS: "differ"}
Results = Mapping[tuple[str, str], pd.DataFrame]
_VALUES = ["estimate", "ci_low", "ci_high"]
_SIDES = ("panel", "row", "column")


@dataclass(frozen=True)
class Attempt:
    """What one entry says of one printed number; low, high : the range over picks, else missing."""

    entry: Entry
    value: float
    low: float
    high: float


def reproduced(results: pd.DataFrame | None, cells: pd.DataFrame, entry: Entry) -> pd.DataFrame:
    """The result in the printed unit for each of `cells`, and its range: value, low, high; missing without a result.

    results : rows of the entry's notebook, None where it did not run. Raises ValueError where several rows fit a cell.
    """
    known = {} if results is None else _known(results, entry)
    sides = [[entry.names.get(v, v) for v in cells[s]] for s in _SIDES if getattr(entry, s)]
    places = list(zip(*sides, strict=True)) if sides else [()] * len(cells)
    found = [known.get(place, (np.nan,) * 3) for place in places]
    out = pd.DataFrame(found, index=cells.index, columns=["value", "low", "high"], dtype=float) * entry.scale
    if not entry.ranged:
        return out.assign(low=np.nan, high=np.nan)
    ends = {"low": entry.low, "high": entry.high} if entry.low and entry.high else {}
    return out.assign(**{k: reproduced(results, cells, _alone(entry, v))["value"] for k, v in ends.items()})


def _alone(entry: Entry, change: mapping.Change) -> Entry:
    """An end of the range as an entry of its own."""
    return entry.changed(change).model_copy(update={"ranged": "", "low": None, "high": None})


def _known(results: pd.DataFrame, entry: Entry) -> dict[tuple, tuple[float, ...]]:
    """Estimate and interval by what the sides of the table say; rows of a list of values are added up."""
    dimensions = [d for d in (entry.panel, entry.row, entry.column) if d]
    rows = results.assign(groups=_groups(results)) if "groups" in dimensions else results
    for column, value in entry.where.items():
        rows = rows[rows[column].isna() if value is None else rows[column] == value]
    inside = [d for d in dimensions if d not in rows]
    allowed = {k: [str(x) for x in (v if isinstance(v, list) else [v])] for k, v in entry.keys.items()}
    parsed = {text: read_condition(text) for text in rows["condition"].fillna("").unique()}
    names = {*allowed, *inside}
    fitting = {t: c for t, c in parsed.items() if set(c) == names and all(c[k] in v for k, v in allowed.items())}
    rows = rows[rows["condition"].fillna("").isin(list(fitting))]
    conditions = rows["condition"].fillna("").map(fitting)
    sides = [conditions.map(lambda c, d=d: c[d]) if d in inside else rows[d] for d in dimensions]
    places = list(zip(*sides, strict=True)) if sides else [()] * len(rows)
    wanted = len(list(product(*allowed.values())))
    out: dict[tuple, list[tuple]] = {}
    for place, values in zip(places, rows[_VALUES].itertuples(index=False), strict=True):
        out.setdefault(place, []).append(tuple(values))
    many = [place for place, values in out.items() if len(values) > wanted]
    if many:
        raise ValueError(f"{entry.cells}: {len(out[many[0]])} result rows of {entry.notebook} for {many[0]}")
    return {place: tuple(np.sum(values, axis=0)) for place, values in out.items() if len(values) == wanted}


def _groups(results: pd.DataFrame) -> list[object]:
    """`a`, or `a__b` where two groups are compared, as printed tables name them."""
    return [a if pd.isna(b) else f"{a}__{b}" for a, b in zip(results["group"], results["group_b"], strict=True)]


def attempts(results: Results, printed: pd.DataFrame, papers: Iterable[mapping.Mapping]) -> dict[object, list[Attempt]]:
    """What every entry says of the printed numbers it speaks of: index of `printed` -> attempts in order."""
    out: dict[object, list[Attempt]] = {}
    for paper in papers:
        for entry in (e for e in paper.entries if e.study):
            cells = published.select(printed, paper.paper, entry.cells)
            found = reproduced(results.get((entry.study, entry.notebook)), cells, entry)
            for i, value, low, high in found.itertuples():
                out.setdefault(i, []).append(Attempt(entry, value, low, high))
    return out


def choose(value: float, decimals: int, tried: list[Attempt]) -> tuple[str, Attempt]:
    """The verdict on a printed number, and the attempt it rests on. The first result by rule counts, no later one."""
    half = published.tolerance(decimals) + 1e-9
    there = [a for a in tried if not np.isnan(a.value) or not np.isnan(a.low)]
    by_rule = [a for a in there if not a.entry.fitted and not a.entry.ranged][:1]
    fitting = [
        (MATCH, by_rule),
        (FITTED, [a for a in there if a.entry.fitted]),
        (NOISE, [a for a in there if a.entry.ranged]),
    ]
    for verdict, candidates in fitting:
        for a in candidates:
            low, high = (a.low, a.high) if verdict == NOISE else (a.value, a.value)
            if low - half <= value <= high + half:
                return verdict, a
    return (DIFFERS, (by_rule or there)[0]) if there else (NEEDS, tried[0])


def judge(results: Results, printed: pd.DataFrame, papers: Iterable[mapping.Mapping]) -> pd.DataFrame:
    """The printed numbers that an entry speaks of, in their order, with what was reproduced and the verdict.

    results : (study, notebook) -> result rows. Added columns: `here`, the result in the printed unit; `low`, `high`,
    the range over picks where the verdict rests on one; `tolerance`, how far the printed number may lie from the result
    (half a unit of the last decimal, and where there is a range as far as that reaches on its side); `verdict`; `note`;
    `study`, `notebook`, `shows` of the entry it rests on; `entry`, the same for the numbers of one. What the paper
    says of the number is `wording`.
    """
    papers = list(papers)
    tried = attempts(results, printed, papers)
    cells = printed.loc[[i for i in printed.index if i in tried]]
    chosen = {i: choose(v, d, tried[i]) for i, v, d in cells[["value", "decimals"]].itertuples()}
    reasons, number = _reasons(printed, papers), {id(e): i for i, e in enumerate(e for p in papers for e in p.entries)}
    needs = {(p.paper, study): file for p in papers for study, file in p.needs.items()}
    rows = []
    for i, (verdict, a) in chosen.items():
        e, half = a.entry, published.tolerance(cells.at[i, "decimals"])
        ranged = bool(e.ranged)
        beyond = (a.high - a.value if cells.at[i, "value"] > a.value else a.value - a.low) if ranged else 0.0
        row = {"here": a.value, "low": a.low, "high": a.high, "tolerance": half + beyond, "verdict": verdict}
        absent = e.needs or needs.get((cells.at[i, "paper"], e.study), "")
        absent = absent or f"no such result: run `python run_all.py --study {e.study}`"
        why = {MATCH: "", FITTED: e.fitted, NOISE: f"range over {e.ranged}", NEEDS: absent}
        row["note"] = why.get(verdict, reasons.get(i, e.note))
        rows.append(row | {"study": e.study, "notebook": e.notebook, "shows": e.shows, "entry": number[id(e)]})
    columns = ["here", "low", "high", "tolerance", "verdict", "note", "study", "notebook", "shows", "entry"]
    return cells.rename(columns={"note": "wording"}).join(pd.DataFrame(rows, index=cells.index, columns=columns))


def _reasons(printed: pd.DataFrame, papers: Iterable[mapping.Mapping]) -> dict[object, str]:
    """Why numbers differ, where the mapping names them one by one; the first reason counts."""
    out: dict[object, str] = {}
    for paper in papers:
        for reason in paper.differs:
            for i in published.select(printed, paper.paper, reason.cells).index:
                out.setdefault(i, reason.note)
    return out


def beside(results: pd.DataFrame, study: str, notebook: str) -> pd.DataFrame:
    """`judge` for the numbers that one notebook shows beside its results for one study; none where the mappings name
    none. results : rows as they will be stored; columns that all of them lack may be absent."""
    papers = []
    for paper in mapping.load():
        here = [e for e in paper.entries if e.notebook == notebook and study in (e.study, *e.beside)]
        own = [e.model_copy(update={"study": study}) for e in here]
        papers += [paper.model_copy(update={"entries": own})] if own else []
    rows = results.reindex(columns=list(dict.fromkeys([*results, *RESULTS])))
    return judge({(study, notebook): rows}, published.load(), papers).drop(columns=["entry", "file"])


def tally(cells: pd.DataFrame) -> pd.DataFrame:
    """How many numbers of each element and panel have each verdict: one row each, in the order of `cells`."""
    counts = cells.groupby(["element", "panel"], sort=False)["verdict"].value_counts().unstack(fill_value=0)  # noqa: PD010
    order = [v for v in (MATCH, FITTED, NOISE, DIFFERS, NEEDS) if v in counts]
    return counts[order].assign(cells=counts.sum(axis=1)).reset_index().rename_axis(columns=None)


def table(cells: pd.DataFrame) -> pd.DataFrame:
    """The numbers that have a result, ready to be shown: printed, ours at one decimal more, the verdict."""
    there = cells[cells["verdict"] != NEEDS]
    out = there[["element", "panel", "row", "column", "printed"]].rename(columns=str.capitalize)
    out["Here"] = [tables.number(v, d + 1 if d else 0) for v, d in zip(there["here"], there["decimals"], strict=True)]
    return out.assign(Verdict=there["verdict"].map(WORDS)).reset_index(drop=True)


def told(cells: pd.DataFrame) -> str:
    """How many numbers have which verdict, and what was fitted or differs, as Markdown; empty without any result."""
    there = cells[cells["verdict"] != NEEDS]
    if there.empty:
        return ""
    n = there["verdict"].value_counts()
    said = "; ".join(f"{n[v]} {name if n[v] == 1 else _SEVERAL.get(v, name)}" for v, name in WORDS.items() if v in n)
    text = f"Of {len(there)} printed number{'' if len(there) == 1 else 's'} that the data speak to: {said}."
    notes = there[there["verdict"].isin([FITTED, DIFFERS, NOISE]) & (there["note"] != "")]
    reasons = [
        f"- {tables.plain(element)}, {WORDS[verdict]}: {tables.plain(note)}"
        for element, verdict, note in notes[["element", "verdict", "note"]].drop_duplicates().itertuples(index=False)
    ]
    return "\n".join([text, "", *reasons]).rstrip()
