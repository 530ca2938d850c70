"""What notebook 92 says: facts from its results, put into words by `text.md.j2`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from judgebook.display.text import Phrases
from judgebook.display.views import Prose
from judgebook.study.results import ResultRows, Results

_PHRASES = Phrases(__package__)


def findings(results: Results) -> Iterator[Prose]:
    """What to repeat."""
    rows = results["field_finding"]
    means, expected = (_overall(results[name]) for name in ("field_mean", "field_prediction"))
    facts = _facts(rows)
    facts |= {name: means[name] for name in ("alpha", "different")}
    facts |= {f"{name}s": means[f"design_effect_{name}"] for name in ("dialogue", "annotator")}
    yield Prose(_PHRASES.say("seen", another=expected["alpha"], **facts))


def explained(results: Results, ratios: pd.Series, rerun: pd.DataFrame, titles: Mapping[str, str]) -> Iterator[Prose]:
    """The five findings, each with its caveat. ratios : of `analysis.second_rater`. rerun : of `analysis.claims`.
    titles : of studies."""
    rows = results["field_finding"]
    quartiles = [float(ratios.quantile(q)) for q in (0.25, 0.75)]
    runs = [(titles[row.Index], int(row.stand), int(row.of)) for row in rerun.itertuples()]
    yield Prose(_PHRASES.say("explained", rerun=runs, quartiles=quartiles, **_facts(rows)))


def _facts(rows: ResultRows) -> dict[str, object]:
    """By name of the finding, `pooled_` and its name for that over all claims alike; `both` is that of dialogues in the
    studies in which annotators can be a sample, too."""
    prefix = {"pooled": "pooled_"}
    facts = {prefix.get(r.summary, "") + str(r.finding): r for r in rows[rows["summary"] != "both"].itertuples()}
    return facts | {"both": next(rows[rows["summary"] == "both"].itertuples())}


def _overall(rows: ResultRows) -> dict[str, object]:
    return {r.quantity: r for r in rows[rows["moderator"] == "none"].itertuples()}
