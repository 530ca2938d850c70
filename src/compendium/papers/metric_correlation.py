"""Notebook 09: correlations over systems as printed (Ji et al. 2022, Table 5), with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from compendium.published import numbers
from judgebook.display import tables
from judgebook.display.text import Phrases
from judgebook.display.views import Prose, Table
from judgebook.statistics.correlation import pearson_interval

_PHRASES = Phrases(__package__)


def printed_r(paper: str, patterns: Sequence[str], n: int, confidence: float = 0.95) -> pd.DataFrame:
    """A paper's printed correlations over n systems (element, row, column, `estimate`) with Fisher's interval.

    patterns : of places of printed numbers (see `published.numbers`).
    """
    printed = numbers.load(paper)
    rows = pd.concat([numbers.select(printed, paper, pattern) for pattern in patterns], ignore_index=True)
    ends = np.array([pearson_interval(r, n, confidence) for r in rows["value"]])
    return rows.assign(estimate=rows["value"], ci_low=ends[:, 0], ci_high=ends[:, 1])


def table(printed: pd.DataFrame, n: int, confidence: float, titles: Mapping[str, str]) -> Table:
    """The printed correlations over systems with the intervals that n systems leave. printed : from `printed_r`.
    titles : display names of metrics; where none is given, that of the printed row and column is made readable."""
    places = printed[["row", "column"]].itertuples(index=False)
    named = [next((titles[p] for p in place if p in titles), " ".join(place).replace("_", " ")) for place in places]
    out = pd.DataFrame({"Printed in": printed["element"], "Metric": named, "r": tables.intervals(printed)})
    caption = f"Printed correlations of metrics with people over {n} systems, with Fisher's {confidence:.0%} CI."
    return Table(out, "printed_systems", caption)


def said(printed: pd.DataFrame, n: int) -> Prose:
    """How much printed correlations over n systems say. printed : from `printed_r`."""
    signs = {"positive": int((printed["ci_low"] > 0).sum()), "negative": int((printed["ci_high"] < 0).sum())}
    return Prose(_PHRASES.say("printed_r", n=len(printed), systems=n, **signs))
