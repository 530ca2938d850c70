"""What notebook 12 says: facts from its results, put into words by `text.md.j2`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose
from judgebook.questions.moderation.tables import preferred
from judgebook.study.results import Results

_PHRASES = Phrases(__package__)


def findings(results: Results, names: DisplayNames, *, simulated: bool, alpha: float = 0.05) -> Iterator[Prose]:
    """Which systems' replies are preferred; agreement of annotators; flagged replies; dependence of judgements."""
    rows = results["moderation_lead"]
    better = [[names.name("system", s) for s in pair] for pair in preferred(rows, alpha)]
    alphas = results["alpha"].drop_duplicates("measurement").to_dict("records")
    yield Prose(_PHRASES.say("headline", n=len(rows), better=better, simulated=simulated, alpha=(alphas or [None])[0]))
    yield Prose(_PHRASES.say("agreement", alphas=alphas[1:]))
    rates = [
        (names.name("system", r["system"]), r) for _, r in results["flagged_rate"].sort_values("estimate").iterrows()
    ]
    yield Prose(_PHRASES.say("flagged", rates=rates))
    yield Prose(_PHRASES.say("widths", **_widths(results)))


def _widths(results: Results) -> dict[str, Any]:
    """Widths of intervals over prompts, and over items, as ratios of those of independent judgements."""
    rows = results.select("moderation_share", data=None, system_b=None)
    rows = rows.assign(width=rows["ci_high"] - rows["ci_low"])
    wide = rows.pivot_table(index=["corpus", "system", "outcome"], columns="interval", values="width")
    if wide.empty:
        return {"ratios": [], "mean": 1, "copies": 1}
    ratios = wide["context"] / wide["n"]
    return {"ratios": list(ratios), "mean": ratios.mean(), "copies": (wide["items"] / wide["n"]).mean()}
