"""What notebook 90 shows: findings, put into words by `text.md.j2`, a figure and tables; and the page that lists every
printed number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from compendium.published import mapping, scoreboard
from compendium.published.consistency.analysis import CONTRADICTS
from compendium.published.numbers import select
from compendium.published.scoreboard import (
    ARITHMETIC,
    ATTEMPTED,
    FIVE,
    INCONSISTENT,
    VERDICTS,
    apart,
    badge,
    counts,
    overall,
)
from compendium.published.verdicts import DIFFERS, FITTED, MATCH, NOISE, SOURCE, Sources
from judgebook.display import style
from judgebook.display.cells import Cell
from judgebook.display.names import COLORS
from judgebook.display.text import Phrases, number
from judgebook.display.views import Plot, Prose, Table
from judgebook.report import html as report

_PHRASES = Phrases(__package__)


def findings(cells: pd.DataFrame, wrong: pd.DataFrame, titles: Mapping[str, str]) -> Iterator[Prose]:
    """The headline; negative controls; what is not counted as a match; each paper."""
    n = _numbers(cells)
    yield Prose(badge(cells) if n["attempted"] else _PHRASES.say("nothing"))
    if not n["attempted"]:
        return
    yield Prose(_PHRASES.say("controls", **_wrong(wrong, titles)))
    noise = cells.loc[cells["verdict"] == NOISE, "wrong_inside"].mean()
    both = int((cells["arithmetic"] == CONTRADICTS).sum()) - n["inconsistent"]
    yield Prose(_PHRASES.say("not_counted", share_inside=noise, contradicted_but_decided=both, **n))
    for name, part in apart(cells).items():
        papers = [(titles[paper], _numbers(of)) for paper, of in part.groupby("paper", sort=False)]
        yield Prose(_PHRASES.say("papers", name=name, papers=papers))


def absent(sources: Sources) -> Prose:
    """The notebooks whose results are not here."""
    missing: dict[str, list[str]] = {}
    for (study, notebook), results in sources.items():
        if results is None:
            missing.setdefault(study, []).append(notebook.split("_")[0])
    return Prose(_PHRASES.say("absent", missing=[_of_study(s, n) for s, n in missing.items()]))


def _of_study(study: str, notebooks: list[str]) -> str:
    return f"{study} (notebook{'s' if notebooks[1:] else ''} {', '.join(notebooks)})"


def _numbers(cells: pd.DataFrame) -> dict[str, int]:
    n = cells["verdict"].value_counts()
    names = {"match": MATCH, "source": SOURCE, "fitted": FITTED, "noise": NOISE}
    names |= {"arithmetic": ARITHMETIC, "inconsistent": INCONSISTENT}
    counted = {name: int(n.get(verdict, 0)) for name, verdict in names.items()}
    return counted | {"attempted": int(cells["verdict"].isin(ATTEMPTED).sum()), "printed": len(cells)}


def _wrong(wrong: pd.DataFrame, titles: Mapping[str, str]) -> dict:
    """How often wrong values match: overall by kind, in how many rows a quarter or more do, and where most do."""
    if wrong.empty:
        return {"kinds": [], "weak": 0, "n": 0, "worst": None}
    share = wrong["wrong_matches"] / wrong["comparisons"]
    worst = wrong.loc[share.idxmax()]
    return {
        "kinds": [(r.control, r.wrong_matches / r.comparisons) for r in overall(wrong).itertuples()],
        "weak": int((share >= 0.25).sum()),
        "n": len(wrong),
        "worst": (titles[worst["paper"]], worst["element"], worst["control"], share.max()),
    }


#: dark: decided by raw data; light: not
VERDICT_COLORS = (
    COLORS[0],
    COLORS[5],
    COLORS[2],
    COLORS[4],
    COLORS[1],
    "#A9D3EE",
    COLORS[3],
    "#9A9A9A",
    "#C4C4C4",
    "#E2E2E2",
    "#F4F4F4",
)


def papers(cells: pd.DataFrame, titles: Mapping[str, str]) -> Iterator[Plot]:
    """One bar per paper, divided by verdict: the five papers, then other sources."""
    for name, part in apart(cells).items():
        yield _papers(name, part, titles)


def _papers(name: str, cells: pd.DataFrame, titles: Mapping[str, str]) -> Plot:
    counted = counts(cells, ["paper"]).set_index("paper").reindex([p for p in titles if p in set(cells["paper"])])
    fig, ax = style.subplots(width=6.0, height=min(0.27, 7.5 / len(counted)) * len(counted) + 1.5)
    _bars(ax, counted, list(range(len(counted))), [titles[p] for p in counted.index])
    ax.set(ylim=(len(counted) - 0.5, -0.5))
    fig.legend(loc="outside upper left", ncols=3)
    alt = f"Bars: shares of verdicts among printed numbers. {badge(cells)}"
    title, unit = f"{name}: {matches_title(cells['verdict'])}", f"{_SHARES}, by paper or data set"
    key = "verdicts" if name == FIVE else "others"
    return Plot(fig, key, alt.replace("*", ""), f"{_BARS} Each bar is a paper or data set.", title, unit)


def matches_title(verdicts: pd.Series) -> str:
    """How many of the numbers that raw data decide match by rule. verdicts : of printed numbers."""
    n = int(verdicts.isin(ATTEMPTED).sum())
    return _PHRASES.say("matches_title", n=n, match=int((verdicts == MATCH).sum()))


_SHARES = "Shares of printed numbers by verdict"
_BARS = (
    f"{_SHARES}; the end of each bar gives how many numbers are printed. Dark colours are "
    "verdicts based on raw data, light ones those without: numbers that follow from others or contradict them, numbers "
    "whose data have to be downloaded or were never published, that state a design, or that were not attempted."
)


def _bars(ax: Axes, counted: pd.DataFrame, position: list, names: list[str]) -> None:
    """Bars divided by verdict, with the number of printed numbers at the end; verdicts that occur are in the legend."""
    total, left = counted[list(VERDICTS)].sum(axis=1), pd.Series(0.0, counted.index)
    for (verdict, name), color in zip(VERDICTS.items(), VERDICT_COLORS, strict=True):
        if counted[verdict].sum() == 0:
            continue
        share = 100 * counted[verdict] / total
        ax.barh(position, share, 0.8, left=left, color=color, label=name, linewidth=0)
        tooltips = [f"{who}: {n:,} of {of:,} {name}" for who, n, of in zip(names, counted[verdict], total, strict=True)]
        y = pd.Series(position, counted.index)
        style.tips(ax, tooltips, left.where(share > 0), y - 0.4, x_to=left + share, y_to=y + 0.4)
        left += share
    for at, n in zip(position, total, strict=True):
        ax.text(101, at, f"{n:,}", va="center", fontsize=7)
    ax.set_yticks(position, names)
    ax.set(xlim=(0, 100), xlabel="Share of printed numbers; count at the end of each bar")
    ax.xaxis.set_major_formatter(mpl.ticker.PercentFormatter(decimals=0))
    ax.tick_params(axis="y", length=0)


#: verdict -> caption of the table that explains it
EXPLAINED = {
    DIFFERS: "Numbers that differ from the results.",
    SOURCE: "Numbers that come out under the source's own rule, which is not ours.",
    INCONSISTENT: "Numbers contradicted by other printed numbers, where raw data do not decide.",
    NOISE: "Numbers within the range over random picks.",
    FITTED: "Numbers that match only under a fitted choice.",
}


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
            studies = (
                of_table["study"].where(of_table["verdict"].isin(ATTEMPTED), "").groupby(shown["row"]).agg(_studies)
            )
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


def _studies(studies: pd.Series) -> str:
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


TITLE = "Every printed number"
#: rows shown at once
SHOWN = 100
_KEYS = ("paper", "element", "verdict", "place", "printed", "here", "note", "source", "href")


def every_number(
    cells: pd.DataFrame, about: report.Page, titles: Mapping[str, str], link: Callable[[str, str, str], str], csv: str
) -> str:
    """The page of every printed number, with filter and search, which needs no network.

    Its script shows a page of rows at a time; without it, the first of them are shown, with a link to all as CSV.

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
        "size": SHOWN,
        "keys": _KEYS,
        "strings": strings,
        "numbers": [[place[line[key]] for key in _KEYS] for line in lines],
        "titles": titles,
        "verdicts": VERDICTS,
    }
    content = {"badge": scoreboard.badge(cells), "papers": papers, "titles": titles, "verdicts": VERDICTS, "csv": csv}
    return report.scoreboard_page(about, TITLE, lines=lines[:SHOWN], count=len(lines), data=data, **content)


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
