"""Tables of notebook 90."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas as pd

from compendium.published import mapping
from compendium.published.numbers import select
from compendium.published.scoreboard import ARITHMETIC, ATTEMPTED, INCONSISTENT, VERDICTS, counts
from compendium.published.verdicts import DIFFERS, FITTED, MATCH, NOISE, SOURCE
from judgebook.display.cells import Cell
from judgebook.display.text import Phrases, number
from judgebook.display.views import Prose, Table

_PHRASES = Phrases(__package__)
TEXT = "Text, captions"
#: verdict -> caption of the table that explains it
EXPLAINED = {
    DIFFERS: "Numbers that differ from the results.",
    SOURCE: "Numbers that come out under the source's own rule, which is not ours.",
    INCONSISTENT: "Numbers contradicted by other printed numbers, where raw data do not decide.",
    NOISE: "Numbers within the range over random picks.",
    FITTED: "Numbers that match only under a fitted choice.",
}


def by_table(cells: pd.DataFrame, titles: Mapping[str, str]) -> Table:
    """Printed numbers by verdict: of every table, by number, then of all texts and captions of a paper."""
    place = {"paper": list(titles).index, "element": lambda e: 1_000 if e == TEXT else int(e.split()[1])}
    element = cells["element"].where(cells["element"].str.startswith("Table"), TEXT)
    counted = counts(cells.assign(element=element), ["paper", "element"])
    counted = counted.sort_values(["paper", "element"], key=lambda c: c.map(place[c.name]), kind="stable")
    out = counted.assign(paper=counted["paper"].map(titles)).sort_values("paper", kind="stable")
    out.insert(out.columns.get_loc(next(iter(VERDICTS))), "Numbers", out[list(VERDICTS)].sum(axis=1))
    names = {verdict: name.capitalize() for verdict, name in VERDICTS.items()}
    out = out.rename(columns={"paper": "Paper", "element": "Where"} | names).reset_index(drop=True)
    return Table(out, "tables", "Printed numbers by verdict and place.")


def controls(wrong: pd.DataFrame, titles: Mapping[str, str]) -> Table | Prose:
    """The share of numbers that match their own result, and of wrong values that match."""
    if wrong.empty:
        return Prose("There are no results to compare with.")
    frame = pd.DataFrame(
        {
            "Paper": wrong["paper"].map(titles),
            "Where": wrong["element"],
            "Control": wrong["control"].str.capitalize(),
            "Match (%)": 100 * wrong["matches"] / wrong["numbers"],
            "Numbers": wrong["numbers"],
            "Wrong match (%)": 100 * wrong["wrong_matches"] / wrong["comparisons"],
            "Comparisons": wrong["comparisons"],
        }
    )
    caption = "Printed numbers that match their result by rule, and the same numbers compared with wrong values."
    return Table(frame, "controls", caption, decimals=1)


def explained(cells: pd.DataFrame, titles: Mapping[str, str]) -> Iterator[Table]:
    """The numbers that differ, are contradicted, within noise or fitted: one row per table and reason, with up to four
    of its numbers."""
    for verdict, caption in EXPLAINED.items():
        rows = []
        for (paper, element, note), part in cells[cells["verdict"] == verdict].groupby(_SAME_REASON, sort=False):
            results = [ours(v, int(d), 1) for v, d in zip(part["reproduced"], part["decimals"], strict=True)]
            row = {"Paper": titles[paper], "Where": element, "Numbers": len(part)}
            rows.append(row | {"Printed": _some(list(part["published"])), "Here": _some(results), "Why": note})
        yield Table(pd.DataFrame(rows), verdict, caption)


_SAME_REASON = ["paper", "element", "note"]


def ours(value: float, decimals: int, more: int) -> str:
    """A result at `more` decimals than was printed; a whole number next to a printed whole number as such."""
    return number(value, 0 if not decimals and float(value).is_integer() else decimals + more)


def _some(values: list[str], most: int = 4) -> str:
    return ", ".join(values[:most]) + (", …" if len(values) > most else "")


def side_by_side(
    cells: pd.DataFrame, titles: Mapping[str, str], papers: Iterable[mapping.Mapping]
) -> Iterator[Table | Prose]:
    """The tables that a mapping asks for, as printed, with our value in every cell that has one; then why others have
    none."""
    for paper in papers:
        for i, pattern in enumerate(paper.side_by_side):
            of_table = select(cells, paper.paper, pattern)
            places = {c: of_table[c].map(lambda key, p=paper.paper: mapping.title(p, key)) for c in ("row", "column")}
            shown = of_table.assign(**places, cell=[_beside(row) for row in of_table.to_dict("records")])
            wide = shown.pivot(index="row", columns="column", values="cell")  # noqa: PD010
            wide = wide.reindex(index=shown["row"].unique(), columns=shown["column"].unique())
            studies = of_table["study"].where(of_table["verdict"].isin(ATTEMPTED), "").groupby(shown["row"]).agg(_named)
            frame = wide.rename_axis(columns=None).rename_axis("Row").reset_index()
            frame["Study"] = frame["Row"].map(studies)
            name = f"beside_{paper.paper}_{i}"
            yield Table(frame, name, f"{titles[paper.paper]}, {of_table['element'].iloc[0]}, as printed. {_MARKS}")
            yield Prose(_PHRASES.say("without", reasons=_reasons(shown)))


_MARKS = (
    "=: our value is the same; ≅: the same under the source's own rule, which is not ours; ≈: the same, but only under "
    "a fitted choice; (…): our value, which differs. Without raw data, →: follows from other printed numbers; !: "
    "contradicted by them; no mark: not decided."
)
_MARK = {MATCH: " =", SOURCE: " ≅", FITTED: " ≈", ARITHMETIC: " →", INCONSISTENT: " !"}


def _beside(row: Mapping[str, Any]) -> Cell:
    """A printed number, with a mark, and our value where it differs."""
    result = float(row["reproduced"]) if row["verdict"] in ATTEMPTED else float("nan")
    differs = row["verdict"] in (DIFFERS, NOISE)
    mark = f" ({ours(result, int(row['decimals']), 1)})" if differs else _MARK.get(row["verdict"], "")
    return Cell(f"{row['published']}{mark}", {"printed": float(row["published"]), "here": result})


def _named(studies: pd.Series) -> str:
    return ", ".join(dict.fromkeys(s for s in studies if s)) or "–"


def _reasons(shown: pd.DataFrame) -> list[tuple[str, str, list[str]]]:
    """Verdict, reason, and rows of the numbers that nothing decides; with columns where other numbers of the row have a
    value of ours."""
    some = shown["verdict"].isin(ATTEMPTED).groupby(shown["row"]).transform("any")
    rest = shown[~shown["verdict"].isin([*ATTEMPTED, ARITHMETIC, INCONSISTENT])]
    out = []
    for (verdict, note), part in rest.groupby(["verdict", "note"], sort=False):
        columns = part.groupby("row", sort=False)["column"].agg(lambda c: ", ".join(c).lower())
        partly = part.drop_duplicates("row").set_index("row").index.map(some.groupby(shown["row"]).first())
        rows = [f"{row} ({c})" if p else row for (row, c), p in zip(columns.items(), partly, strict=True)]
        out.append((VERDICTS[verdict], note, rows))
    return out
