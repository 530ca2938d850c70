"""Which printed numbers reproduce? The results of notebook 90, with negative controls: how often printed numbers match
what they should not match.

A match means something only where wrong values seldom match. Wrong values come from the same results: those of another
column or row of the table, and those under definitions that the mapping calls wrong.
"""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from compendium.published import numbers as published
from compendium.published import verdicts
from compendium.published.consistency.analysis import Audit
from compendium.published.mapping import Mapping
from compendium.published.scoreboard import scoreboard
from compendium.published.verdicts import Sources
from judgebook.study.results import Results, collect

COLUMNS = ["paper", "element", "control", "numbers", "matches", "comparisons", "wrong_matches"]
OTHER_COLUMN, OTHER_ROW = "another column's value", "another row's value"


def controls(results: Sources, printed: pd.DataFrame, papers: Iterable[Mapping]) -> pd.DataFrame:
    """How many printed numbers match their result by rule, and how many match a wrong one, by element and control.

    Parameters
    ----------
    results : mapping of (study, notebook) to Results or None
    printed : DataFrame
        From `numbers.load`.
    papers : iterable of Mapping

    Returns
    -------
    DataFrame with COLUMNS. numbers, matches : numbers that have a result by rule and a wrong value, and how many equal
    their result. comparisons, wrong_matches : the same numbers compared with every wrong value, each other column (row)
    of the same table, panel and row (column) once.
    """
    by_rule: dict[object, verdicts.Reproduction] = {}
    for i, tried in verdicts.attempts(results, printed, list(papers)).items():
        if rules := verdicts.rules_of(tried):
            by_rule[i] = rules[0]
    cells = printed.loc[list(by_rule)].assign(here=[a.value for a in by_rule.values()])
    wrong = []
    for _, of_entry in cells.groupby([id(a.entry) for a in by_rule.values()], sort=False):
        entry = by_rule[of_entry.index[0]].entry
        values = {OTHER_COLUMN: _swapped(of_entry, "row", "column"), OTHER_ROW: _swapped(of_entry, "column", "row")}
        for name, change in entry.wrong.items():
            source = results.get((entry.study, entry.notebook)) if entry.study else None
            values[name] = verdicts.reproduced(source, of_entry, entry.changed(change))["value"]
        wrong += [v.dropna().rename("wrong").to_frame().assign(control=name) for name, v in values.items()]
    if not wrong:
        return pd.DataFrame(columns=COLUMNS)
    pairs = pd.concat(wrong).rename_axis("cell").join(cells).reset_index()
    pairs["matches"] = published.agrees(pairs["value"], pairs["decimals"], pairs["here"])
    pairs["matches"] &= ~pairs.duplicated(["cell", "control"])
    pairs["wrong_matches"] = published.agrees(pairs["value"], pairs["decimals"], pairs["wrong"])
    sums = {"numbers": ("cell", "nunique"), "matches": ("matches", "sum")}
    sums |= {"comparisons": ("cell", "size"), "wrong_matches": ("wrong_matches", "sum")}
    return pairs.groupby(COLUMNS[:3], sort=False, as_index=False).agg(**sums)


def _swapped(cells: pd.DataFrame, same: str, across: str) -> pd.Series:
    """For every cell the results of the others in its panel that have its unit and `same`, and another `across`."""
    keys = ["element", "panel", "unit", same]
    left = cells[[*keys, across]].rename_axis("cell").reset_index()
    pairs = left.merge(cells[[*keys, across, "here"]], on=keys, suffixes=("", "_other"))
    return pairs[pairs[across] != pairs[f"{across}_other"]].set_index("cell")["here"]


def overall(wrong: pd.DataFrame) -> pd.DataFrame:
    """The same over all papers, by kind of control: one row per kind."""
    kind = wrong["control"].where(wrong["control"].isin([OTHER_COLUMN, OTHER_ROW]), "a wrong definition")
    return wrong.groupby(kind, sort=False)[COLUMNS[3:]].sum().rename_axis("control").reset_index()


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
