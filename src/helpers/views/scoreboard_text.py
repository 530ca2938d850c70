"""The scoreboard in tables and sentences for its notebook."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from helpers import controls as negative
from helpers import tables
from helpers.scoreboard import ARITHMETIC, ATTEMPTED, INCONSISTENT, VERDICTS
from helpers.tables import listing, number
from helpers.verdicts import DIFFERS, FITTED, MATCH, NOISE


def summary(counted: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    """Counts by verdict for reading. counted : of `scoreboard.counts`, by paper, or by paper and element."""
    found = counted.copy()
    found.insert(found.columns.get_loc(next(iter(VERDICTS))), "Numbers", found[list(VERDICTS)].sum(axis=1))
    names = {verdict: name.capitalize() for verdict, name in VERDICTS.items()}
    found = found.assign(paper=found["paper"].map(titles)).sort_values("paper", kind="stable")
    return found.rename(columns={"paper": "Paper", "element": "Where"} | names).reset_index(drop=True)


def explained(cells: pd.DataFrame, verdict: str, titles: Mapping[str, str]) -> pd.DataFrame:
    """The numbers with one verdict, for reading; those of one table with the same reason stand in one row.

    Printed and Here list up to four numbers of a row.
    """
    rows = cells[cells["verdict"] == verdict]
    out = []
    for (paper, element, note), part in rows.groupby(["paper", "element", "note"], sort=False):
        ours = [_ours(v, d) for v, d in zip(part["reproduced"], part["decimals"], strict=True)]
        row = {"Paper": titles[paper], "Where": element, "Numbers": len(part)}
        row |= {"Printed": _some(list(part["published"])), "Here": _some(ours), "Why": note}
        out.append(row)
    return pd.DataFrame(out, columns=["Paper", "Where", "Numbers", "Printed", "Here", "Why"])


def _ours(value: float, decimals: float) -> str:
    """A result at one decimal more than was printed; a whole number beside a printed whole number as such."""
    return number(value, 0 if not decimals and float(value).is_integer() else int(decimals or 0) + 1)


def _some(values: list[str], most: int = 4) -> str:
    return ", ".join(values[:most]) + (", …" if len(values) > most else "")


def control_table(found: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    """Controls for reading: shares in percent, and what they are of."""
    return pd.DataFrame(
        {
            "Paper": found["paper"].map(titles),
            "Where": found["element"],
            "Control": found["control"].str.capitalize(),
            "Match (%)": 100 * found["matches"] / found["numbers"],
            "Numbers": found["numbers"],
            "Wrong match (%)": 100 * found["wrong_matches"] / found["comparisons"],
            "Comparisons": found["comparisons"],
        }
    )


def what_we_see(cells: pd.DataFrame, found: pd.DataFrame, titles: Mapping[str, str]) -> list[str]:
    """Sentences on the whole, the controls and each paper, as Markdown."""
    if not cells["verdict"].isin(ATTEMPTED).any():
        return ["No study was run whose results could be compared; run `python run_all.py --study all`."]
    return [t for t in (_whole(cells), _controls(found), _confirming(cells), _papers(cells, titles)) if t]


def _whole(cells: pd.DataFrame) -> str:
    n = cells["verdict"].value_counts()
    tried = cells["verdict"].isin(ATTEMPTED).sum()
    said = f"Of {len(cells):,} printed numbers {tried} can be held against results from raw data. {n.get(MATCH, 0)} of"
    said += f" these ({100 * n.get(MATCH, 0) / tried:.0f} %) match by a rule that was stated without looking at them,"
    said += f" {n.get(DIFFERS, 0)} differ, each for a reason given above."
    return said


def _controls(found: pd.DataFrame) -> str:
    if found.empty:
        return ""
    rates = negative.overall(found)
    kinds = {row.control: 100 * row.wrong_matches / row.comparisons for row in rates.itertuples()}
    said = [f"{tables.plain(kind)} {rate:.1f} %" for kind, rate in kinds.items()]
    text = f"A match is seldom an accident. Of the same numbers, held against wrong values, match: {_joined(said)}."
    weak = found["wrong_matches"] >= found["comparisons"] / 4
    if weak.any():
        text += f" Not everywhere: in {weak.sum()} of the {len(found)} rows above a quarter or more of the wrong values"
        text += " match, so that a match there shows less."
    return text


def _joined(said: list[str]) -> str:
    """`a, b and c` of text that is harmless already."""
    return " and ".join([", ".join(said[:-1]), said[-1]]) if len(said) > 1 else "".join(said)


def _confirming(cells: pd.DataFrame) -> str:
    n = cells["verdict"].value_counts()
    said = []
    if n.get(FITTED):
        said.append(f"{n[FITTED]} numbers match only with something that was found by searching for them")
    if n.get(NOISE):
        wrong = cells.loc[cells["verdict"] == NOISE, "wrong_inside"].mean()
        said.append(
            f"{n[NOISE]} lie within the noise of a pick, where {100 * wrong:.0f} % of *other* numbers would, too"
        )
    if n.get(ARITHMETIC):
        said.append(f"{n[ARITHMETIC]} follow from other printed numbers, which confirms the arithmetic only")
    return f"Not counted as matches: {_joined(said)}." if said else ""


def _papers(cells: pd.DataFrame, titles: Mapping[str, str]) -> str:
    lines = []
    for paper, title in titles.items():
        here = cells[cells["paper"] == paper]
        n, tried = here["verdict"].value_counts(), here["verdict"].isin(ATTEMPTED).sum()
        if not len(here):
            continue
        said = f"{n.get(MATCH, 0)} of {tried} attempted match" if tried else "no raw data were here"
        extra = [
            f"{n[v]} {name}" for v, name in ((ARITHMETIC, "follow"), (INCONSISTENT, "are contradicted")) if n.get(v)
        ]
        lines.append(f"- {listing([title])}, {len(here)} numbers: {said}{'; ' + ', '.join(extra) if extra else ''}.")
    return "\n".join(lines)
