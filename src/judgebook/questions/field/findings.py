"""What notebook 92 says: facts from its results, put into words by `text.md.j2`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from judgebook.display.text import Phrases
from judgebook.display.views import Prose
from judgebook.study.results import ResultRows, Results

_PHRASES = Phrases(__package__)


def findings(results: Results) -> Iterator[Prose]:
    """Five sentences to repeat."""
    rows = results["field_finding"]
    yield Prose(
        _PHRASES.say(
            "seen", alpha=_all(results["field_mean"]), another=_all(results["field_prediction"]), **_facts(rows)
        )
    )


def explained(results: Results, ratios: pd.Series, rerun: pd.DataFrame, titles: Mapping[str, str]) -> Iterator[Prose]:
    """The five findings, each with its caveat. ratios : of `analysis.second_rater`. rerun : of `analysis.claims`.
    titles : of studies."""
    rows = results["field_finding"]
    quartiles = [float(ratios.quantile(q)) for q in (0.25, 0.75)]
    runs = [(titles[row.Index], int(row.stand), int(row.of)) for row in rerun.itertuples()]
    yield Prose(_PHRASES.say("explained", rerun=runs, quartiles=quartiles, **_facts(rows)))


def _facts(rows: ResultRows) -> dict[str, object]:
    """The findings by name; those over all claims alike, `pooled_` and their name."""
    return {("pooled_" if r.summary == "pooled" else "") + str(r.finding): r for r in rows.itertuples()}


def _all(rows: ResultRows) -> object:
    return next(rows[(rows["quantity"] == "alpha") & (rows["moderator"] == "none")].itertuples())
