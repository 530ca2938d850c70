"""What notebook 07 says, made from the result rows of `performance` and `rates`.

Sentences speak of the intervals that resample dialogues, and of ranks whose intervals hold for all systems at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from helpers import tables, verdicts
from helpers.labels import METHODS
from helpers.look import Look
from helpers.views.performance_tables import by, part_names

#: fewer annotators of a system say little about other annotators
ENOUGH_PEOPLE = 5


def left_out(unranked: Sequence[str], annotations: pd.DataFrame, look: Look) -> str:
    """Which systems were judged but are not ranked; empty where there are none."""
    present = [look.name("system", s) for s in unranked if s in set(annotations["system"])]
    return f"Judged, but left out of rankings and comparisons: {tables.listing(present)}." if present else ""


def of_ranks(ranks: pd.DataFrame, look: Look) -> str:
    """Who is first with an interval of the rank from 1 to 1, by part and method. Empty without ranks."""
    rows = ranks[ranks["statistic"] == "rank"] if len(ranks) else ranks
    if rows.empty:
        return ""
    rows, lines = look.sort(rows).assign(part=lambda f: part_names(f, look)), []
    n = np.zeros(3, dtype=int)  # labels, those with a sure first, those with an open order
    for (method, part), own in rows.groupby(["method", "part"], sort=False):
        labels, m = own["label"].nunique(), own["system"].nunique()
        sure = own[(own["ci_high"] == 1) & (own["ci_kind"] == "simultaneous")]
        who = sure.groupby("system", sort=False)["label"].agg(list)
        said = [f"{tables.plain(look.name('system', s))} on {_names(names, method, look)}" for s, names in who.items()]
        open_ = own.assign(any=(own["ci_low"] == 1) & (own["ci_high"] == m) | own["ci_low"].isna())
        nothing = int(open_.groupby("label")["any"].all().sum())
        head = look.name("method", method) + (f", {part}" if len(set(rows["part"])) > 1 else "")
        text = f"- {tables.plain(head)} ({labels} label{'s' if labels > 1 else ''}): "
        text += "; ".join(said) if said else "none on any label"
        lines.append(text + (f". On {nothing} the order of the systems is wholly open." if nothing else "."))
        n += [labels, sure["label"].nunique(), nothing]
    apart = " (counted by method and group)" if len(lines) > 1 else ""
    text = f"On {n[1]} of {n[0]} labels{apart} one system is surely first: 1 is the only rank in its interval, and the"
    text += " intervals hold for all systems of a label at once, though not for all labels."
    text += f" On {n[2]} the order of the systems is wholly open."
    return "\n".join([text, "", "Surely first:", "", *lines])


def _names(labels: list[str], method: str, look: Look) -> str:
    names = [look.name("label", name, method).lower() for name in labels]
    return tables.listing(names) if len(names) <= 4 else f"{len(names)} ({tables.listing(names)})"


def of_widths(clustered: pd.DataFrame, effects: pd.DataFrame, look: Look) -> str:
    """What clustering does to intervals: the root of the design effects, by dialogues and by people."""
    if clustered.empty:
        return ""
    own = clustered[clustered["statistic"] == "design_effect"].dropna(subset="estimate")
    own = own[by(own, "outcome").fillna("win") == "win"] if len(own) else own
    lines = []
    for method, rows in look.sort(own).groupby("method", sort=False):
        low, middle, high = np.sqrt(rows["estimate"].quantile([0, 0.5, 1]))
        unit = by(rows, "unit").iloc[0]
        if METHODS[method].unit == "turn" or high > 1.05:
            name = tables.plain(look.name("method", method))
            said = f"{tables.number(middle, 1)} ({tables.number(low, 1)} to {tables.number(high, 1)})"
            lines.append(
                f"- {name}: intervals over {unit}s are about {said} times as wide as if scores were independent"
            )
    others = effects[(by(effects, "unit") == "annotator") & (effects["n_clusters"] >= ENOUGH_PEOPLE)]
    others = others[by(others, "outcome").fillna("win") == "win"].dropna(subset="estimate")
    for method, rows in look.sort(others).groupby("method", sort=False) if len(others) else []:
        low, middle, high = np.sqrt(rows["estimate"].quantile([0, 0.5, 1]))
        if middle > 1.2:
            name = tables.plain(look.name("method", method))
            said = f"{tables.number(middle, 1)} ({tables.number(low, 1)} to {tables.number(high, 1)})"
            people = f"{rows['n_clusters'].median():.0f} people a system; groups of fewer than {ENOUGH_PEOPLE} left out"
            lines.append(f"- {name}: {said} times, if others might have judged, too ({people})")
    if not lines:
        return "Scores of one cluster are no more alike than others: both intervals are about as wide."
    return "\n".join(["Widths, median over labels, groups and systems (smallest to largest):", "", *lines])


def of_strengths(ranks: pd.DataFrame) -> str:
    """How many labels have no Bradley-Terry strengths; empty where all have."""
    rows = ranks[ranks["statistic"] == "bradley_terry"] if len(ranks) else ranks
    none = rows[rows["estimate"].isna()] if len(rows) else rows
    if not len(none):
        return ""
    n = len(none.drop_duplicates(["corpus", "group", "method", "label"]))
    return f"For {n} label{'s' if n > 1 else ''} Bradley-Terry strengths do not exist: some systems never won."


def of_picks(table: pd.DataFrame, n: int) -> str:
    """What the pick of one annotation changes; empty where nothing was judged twice."""
    if table.empty:
        return ""
    worst = table["Largest"].max()
    return (
        f"Which of several annotations of an item is used moves an estimate, over {n} picks, by a median of"
        f" {tables.number(100 * table['Median'].median(), 0)} % of the width of its interval, at most by"
        f" {tables.number(100 * worst, 0)} %."
    )


def alt(rows: pd.DataFrame, what: str) -> str:
    """Alt text of a figure of `arrange`d rows."""
    ends = rows["estimate"].agg(["min", "max"])
    low, high = (tables.number(v, 2) for v in ends)
    panels = tables.listing(p for p in dict.fromkeys(rows["panel"]) if p)
    return f"{what} by system with intervals, from {low} to {high}" + (f", in panels: {panels}." if panels else ".")


def beside(results: pd.DataFrame, study: str, notebook: str) -> pd.DataFrame:
    """`verdicts.beside` with the ends of our interval (`ci_low`, `ci_high`), and `read`."""
    cells = verdicts.beside(results, study, notebook)
    for end in ("ci_low", "ci_high"):
        cells[end] = verdicts.beside(results.assign(estimate=results[end]), study, notebook)["here"]
    return read(cells)


def read(cells: pd.DataFrame) -> pd.DataFrame:
    """Printed numbers with what follows from their wording and our interval (`reading`).

    A number that is printed as a bound holds or does not, and is open where our interval reaches over it; another lies
    inside our interval or outside. Equality at the printed decimals is no test of numbers that are printed as about,
    nearly or around something.
    """
    inside = cells["value"].between(cells["ci_low"], cells["ci_high"])
    reading = pd.Series(np.where(inside, "inside", "outside"), cells.index, dtype=object)
    reading[cells["ci_low"].isna()] = None
    bound = cells["wording"].str.startswith("less than") & cells["here"].notna()
    reading[bound] = np.where(cells["here"] < cells["value"], "holds", "does not hold")[bound]
    reading[bound & inside] = "open"
    return cells.assign(reading=reading)


def printed_table(cells: pd.DataFrame) -> pd.DataFrame:
    """The cells of `beside`, ready to be shown."""
    ends = zip(cells["ci_low"], cells["ci_high"], strict=True)
    names = {"row": "What", "column": "Of", "printed": "Printed", "wording": "Wording"}
    out = cells[list(names)].rename(columns=names).assign(Here=[tables.number(v, 1) for v in cells["here"]])
    out["Interval"] = [f"{tables.number(lo, 1)} to {tables.number(hi, 1)}" if pd.notna(lo) else None for lo, hi in ends]
    return out.assign(Reading=cells["reading"])


def of_printed(cells: pd.DataFrame) -> str:
    """How many printed numbers lie in our intervals, and which do not."""
    tested = cells[cells["reading"].isin(["inside", "outside"])]
    out = tested[tested["reading"] == "outside"]
    if tested.empty:
        return ""
    inside = len(tested) - len(out)
    text = f"Of {len(tested)} printed numbers that have an interval here, {_do(inside, 'lie')} inside it."
    names = [f"{cell.row} ({cell.column})".replace("_", " ") for cell in out.itertuples()]
    text += f" Outside: {tables.listing(names)}." if len(out) else ""
    n = cells["reading"].value_counts().reindex(["holds", "open", "does not hold"], fill_value=0)
    if n.sum():
        text += f" Of {n.sum()} printed bound{'' if n.sum() == 1 else 's'} {_do(n['holds'], 'hold')}"
        if n["open"]:
            one = n["open"] == 1
            text += f"; {n['open']} {'is' if one else 'are'} open, because our interval{'' if one else 's'}"
            text += f" reach{'es' if one else ''} over {'it' if one else 'them'}"
        text += "."
    return text


def _do(n: int, verb: str) -> str:
    return f"{n} {verb}{'s' if n == 1 else ''}"
