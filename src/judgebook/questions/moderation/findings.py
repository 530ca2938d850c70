"""What notebook 12 says: facts from its results, put into words by `text.md.j2`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

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


def from_print(results: Results, names: DisplayNames, printed: pd.DataFrame) -> Prose:
    """What the printed numbers imply: the range of kappa, and how many shares of wins are smaller than the largest."""
    reported = printed[(printed["unit"] == "fleiss_kappa") & (printed["element"] == "Text 3.2")].iloc[0]
    ends = results["kappa_bound"].set_index("end")["estimate"]
    half = 0.5 * 10.0 ** -reported["decimals"]
    fits = ends["low"] <= reported["value"] + half and ends["high"] >= reported["value"] - half
    facts = {"low": ends["low"], "high": ends["high"], "fits": fits, "reported": reported["printed"], "below": {}}
    for interval in ("n", "items"):
        wins = results.select("moderation_share", data="printed", outcome="wins", interval=interval).set_index("system")
        best = wins["estimate"].idxmax()
        facts["below"][interval] = int((wins["ci_high"].drop(best) < wins.at[best, "ci_low"]).sum())
    return Prose(_PHRASES.say("from_print", **facts, best=names.name("system", best), others=len(wins) - 1))
