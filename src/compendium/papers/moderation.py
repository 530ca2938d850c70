"""Notebook 12: what the printed numbers of Zhang et al. 2022, section 3, imply, computed from them alone (key `data` is
printed)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from judgebook.display import tables
from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases, span
from judgebook.display.views import Plot, Prose, Table
from judgebook.questions.moderation import views
from judgebook.questions.moderation.analysis import OUTCOMES, two_extremes
from judgebook.questions.moderation.categories import kappa_bounds
from judgebook.questions.moderation.views import CATEGORIES
from judgebook.study.results import Results

_PHRASES = Phrases(__package__)


def from_print(printed: pd.DataFrame, confidence: float) -> Iterator[dict[str, Any]]:
    """`kappa_bound` from the printed numbers of agreeing annotators (Table 5), and `moderation_share` from the printed
    counts of outcomes (Table 6)."""
    printed_values = printed.set_index(["element", "panel", "row", "column"])["value"].sort_index()
    m = int(printed_values["Text 3.3", "moderation", "pairwise", "annotators"])
    agreeing = printed_values.loc["Table 5", "agreement"].unstack("column").fillna(0.0)  # noqa: PD010
    counts = np.zeros((len(agreeing), m + 1))
    for name, values in agreeing.items():
        counts[:, int(name.removeprefix("annotators_"))] = values
    row = {"statistic": "kappa_bound", "level": "turn", "data": "printed", "n": int(counts.sum()), "n_annotators": m}
    for end, value in zip(("low", "high"), kappa_bounds(counts, m), strict=True):
        yield row | {"end": end, "estimate": value}
    outcome = printed_values.loc["Table 6", "count"].unstack("column").drop("total").astype(int)  # noqa: PD010
    yield from of_counts(outcome.to_dict("index"), m, confidence)


def of_counts(counts: Mapping[str, Mapping[str, int]], m: int, confidence: float = 0.95) -> Iterator[dict[str, Any]]:
    """`moderation_share` from printed counts: system -> outcome -> judgements, every item judged m times."""
    for system, row in counts.items():
        n = sum(row[o] for o in OUTCOMES)
        for outcome in OUTCOMES:
            head = {"system": system, "level": "pair", "outcome": outcome, "data": "printed", "n": n}
            for extreme in two_extremes(row[outcome], n, n / m, confidence):
                yield head | extreme | {"n_clusters": round(n / m)}


def printed_agreement(printed: pd.DataFrame) -> Table:
    """The printed Table 5: a row per category, a column per number of annotators. printed : from `published.load`."""
    rows = printed[(printed["element"] == "Table 5") & (printed["panel"] == "agreement")]
    score = rows["row"].str.removeprefix("label_").str.replace("minus_", "-")
    rows = rows.assign(estimate=rows["value"], annotators=rows["column"].str.removeprefix("annotators_"))
    columns = {k: k for k in rows["annotators"].unique()}
    wide = tables.pivot(rows.assign(Category=score.map(CATEGORIES)), ["Category"], "annotators", columns)
    caption = "Printed items by most frequent category and number of annotators who chose it (Table 5)."
    return Table(wide, "printed_agreeing", caption)


def said(results: Results, names: DisplayNames, printed: pd.DataFrame) -> Prose:
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
    return Prose(_PHRASES.say("moderation_said", **facts, best=names.name("system", best), others=len(wins) - 1))


def figure(results: Results, names: DisplayNames) -> Plot:
    """Printed shares of outcomes (Table 6) with the two extreme intervals."""
    rows = results.select("moderation_share", data="printed")
    titles = {s: names.name("system", s) for s in rows["system"].unique()}
    won = 100 * rows.loc[rows["outcome"] == "wins", "estimate"]
    alt = f"Printed shares of outcomes of {len(titles)} systems, with intervals for independent and for copied"
    caption = f"Bars: shares printed by Zhang et al. (2022, Table 6), by system. {views.ENDS} {views.count(rows)}"
    fig = views.bars(rows.assign(line=rows["system"]), titles)
    return Plot(fig, "printed", f"{alt} judgements: wins {span(won, 0)}%.", caption)
