"""Which printed numbers reproduce? The results of notebook 90."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from compendium.published.consistency.analysis import Audit
from compendium.published.controls import controls
from compendium.published.mapping import Mapping
from compendium.published.scoreboard import scoreboard
from compendium.published.verdicts import Sources
from judgebook.study.results import Results, collect


def analyse(
    sources: Sources, printed: pd.DataFrame, audit: Audit, papers: Iterable[Mapping]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The verdict on every printed number (`scoreboard`), and negative controls (`controls`).

    Parameters
    ----------
    sources : mapping of (study, notebook) to Results or None
        None where the notebook was not run.
    printed : DataFrame
        From `numbers.load`.
    audit : Audit
        Of the same numbers.
    papers : iterable of Mapping
    """
    papers = list(papers)
    return scoreboard(sources, printed, audit, papers), controls(sources, printed, papers)


def results(cells: pd.DataFrame, wrong: pd.DataFrame) -> Results:
    """`printed_numbers` by paper and verdict, `control_match_rate` by paper, element and control."""
    counts = cells.groupby(["paper", "verdict"]).size().rename("estimate").reset_index()
    rates = wrong[["paper", "element", "control"]].assign(n=wrong["comparisons"])
    rates["estimate"] = wrong["wrong_matches"] / wrong["comparisons"]
    return collect(counts.assign(statistic="printed_numbers"), rates.assign(statistic="control_match_rate"))
