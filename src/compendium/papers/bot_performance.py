"""Notebook 07: rates printed in the text of a paper, and ours."""

from __future__ import annotations

import numpy as np
import pandas as pd

from compendium.published import verdicts
from compendium.published.comparison import places
from judgebook.display import cells
from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose, Table
from judgebook.study.results import Results

_PHRASES = Phrases(__package__)


def printed_rates(results: Results, study: str, notebook: str) -> pd.DataFrame:
    """Printed rates and ours, with what follows from their wording and our interval (`reading`).

    A number printed as a bound holds or does not, and is open if our interval includes it; another lies inside our
    interval or outside. Equality at the printed decimals is no test of numbers printed as about, nearly or around.
    """
    return read(verdicts.compared(results, study, notebook))


def read(cells: pd.DataFrame) -> pd.DataFrame:
    """`cells` with `reading`."""
    inside = cells["value"].between(cells["ci_low"], cells["ci_high"])
    reading = pd.Series(np.where(inside, "inside", "outside"), cells.index, dtype=object)
    reading[cells["ci_low"].isna()] = None
    bound = cells["wording"].str.startswith("less than") & cells["here"].notna()
    reading[bound] = np.where(cells["here"] < cells["value"], "holds", "does not hold")[bound]
    reading[bound & inside] = "open"
    return cells.assign(reading=reading)


def table(scores: pd.DataFrame, names: DisplayNames) -> Table:
    """`printed_rates` ready to be shown."""
    titles = {"printed": "Printed", "wording": "Wording"}
    out = scores[list(titles)].rename(columns=titles).assign(Here=cells.numbers(scores["here"], 1))
    place = places(scores, names).set_axis(scores.index)
    out.insert(0, "What", place["Row"])
    out.insert(1, "Of", place["Column"])
    out["CI"] = cells.ranges(scores[["ci_low", "ci_high"]], 1)
    why = dict.fromkeys(("CI", "Reading"), "Not judged here, or selected among several systems.")
    caption = "Numbers printed in the paper's text, and those of this study, in percent."
    return Table(out.assign(Reading=scores["reading"]), "beside", caption, why=why)


def said(cells: pd.DataFrame, names: DisplayNames) -> Prose:
    """How many printed numbers lie in our intervals, and which do not. cells : `printed_rates`."""
    read = cells["reading"].value_counts()
    place = places(cells[cells["reading"] == "outside"], names)
    outside = [f"{p.Row} ({p.Column})" for p in place.itertuples()]
    bounds = {
        k: int(read.get(v, 0)) for k, v in {"n_hold": "holds", "n_open": "open", "n_not": "does not hold"}.items()
    }
    return Prose(_PHRASES.say("rates_said", n_inside=int(read.get("inside", 0)), outside=outside, **bounds))
