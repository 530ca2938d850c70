"""What notebook 09 says: facts from its results, put into words by `text.md.j2`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import pandas as pd

from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose
from judgebook.questions.metrics.analysis import DATA_SET, data_sets, overall
from judgebook.questions.metrics.tables import best_against_others
from judgebook.questions.metrics.text_metrics import INSTALL, METRICS, not_installed
from judgebook.study.results import ResultRows, Results

_PHRASES = Phrases(__package__)


def findings(results: Results, names: DisplayNames, *, confidence: float) -> Iterator[Prose]:
    """The headline, the ceiling and whether metrics notice a degraded control; then what qualifies them."""
    sets = [_best(name, part, names) for name, part in data_sets(results, names.titles).items()]
    filled = [s for s in sets if s["n"]]
    leaders = {s["metric"][-1] for s in filled}
    yield Prose(_PHRASES.say("headline", sets=filled, leader=filled[0]["best"] if len(leaders) == 1 else None))
    ceilings, counts = _ceiling(results, [s["metric"] for s in filled])
    yield Prose(_PHRASES.say("ceiling", ceilings=ceilings))
    people, by_metric = _control(results, names)
    yield Prose(_PHRASES.say("control", **by_metric))
    yield Prose(_PHRASES.say("overestimate", sets=filled))
    yield Prose(_PHRASES.say("above_control", people=people, **by_metric))
    yield Prose(_PHRASES.say("replaceable", level=confidence, ceilings=ceilings, **counts))
    yield Prose(_PHRASES.say("length", **_length(overall(results).dropna(subset="estimate"))))


def sources(scores: pd.DataFrame, own_scores: pd.DataFrame, asked: Sequence[str], corpora: Collection[str]) -> Prose:
    """Where the metrics are from, and what could not be computed.

    own_scores : computed from the texts. asked : metrics to be computed if possible.
    """
    computed, absent = set(own_scores["metric"]), not_installed(asked)
    facts = {"n_given": len(set(scores["metric"]) - computed), "n_computed": len(computed), "corpora": list(corpora)}
    facts["no_texts"] = not computed and len(asked) > len(absent)
    absent = [METRICS[m].title for m in absent]
    return Prose(_PHRASES.say("sources", **facts, absent=[] if facts["no_texts"] else absent, install=INSTALL))


def systems(results: Results, names: DisplayNames) -> Prose:
    """The metric whose system means correlate most with the overall score, in each data set with enough systems."""
    best = []
    for name, part in data_sets(results, names.titles).items():
        rows = part.select("overall_correlation", coefficient="pearson")
        rows = rows[rows["ci_low"].notna()].sort_values("estimate", ascending=False, kind="stable")
        if len(rows):
            row = rows.iloc[0].to_dict()
            best.append({"set": name, "row": row, "of": len(rows), "metric": names.name("metric", row["metric"])})
    return Prose(_PHRASES.say("systems", best=best))


def _control(results: Results, names: DisplayNames) -> tuple[list[float], dict[str, list[dict[str, Any]]]]:
    """How often people rate the control lower; and which metrics notice that it is degraded, because their interval
    lies above 0.5 in every data set, and which miss it."""
    noticed = results["above_control"]
    people, metrics = noticed.loc[noticed["label"].notna(), "estimate"], noticed[noticed["metric"].notna()]
    by_metric: dict[str, list[dict[str, Any]]] = {"notice": [], "miss": []}
    for metric, rows in metrics.groupby("metric", sort=False):
        one = {"title": names.name("metric", metric), "low": rows["estimate"].min(), "high": rows["estimate"].max()}
        by_metric["notice" if (rows["ci_low"] > 0.5).all() else "miss"].append(one)
    return list(people), by_metric


def _best(name: str, part: Results, names: DisplayNames) -> dict[str, Any]:
    """The metric with the largest correlation of a data set, and from how many others it differs."""
    ranked = overall(part).dropna(subset="estimate").sort_values("estimate", ascending=False, kind="stable")
    if ranked.empty:
        return {"n": 0}
    best, tests = ranked.iloc[0], best_against_others(part)
    facts = {"name": name, "n": len(ranked), "metric": (*best[DATA_SET], best["metric"]), "row": best.to_dict()}
    facts |= {"n_tests": len(tests), "n_differ": int((tests["p_adjusted"] < 0.05).sum())}
    return facts | {"best": names.name("metric", best["metric"])}


def _ceiling(results: Results, best: list[tuple[str, ...]]) -> tuple[list[float], dict[str, int]]:
    """Ceilings of data sets, and on how many labels the best metrics agree less or more than the one left out."""
    gaps = results.select("replaceability", of="difference").dropna(subset="ci_low")
    gaps = gaps[pd.MultiIndex.from_frame(gaps[[*DATA_SET, "metric"]]).isin(best)] if best else gaps.iloc[:0]
    tops = results["reliability_ceiling"].groupby(DATA_SET)["estimate"].mean(skipna=False)
    counts = {"n": len(gaps), "worse": int((gaps["ci_high"] < 0).sum()), "better": int((gaps["ci_low"] > 0).sum())}
    return list(tops.dropna()), counts | {"n_sets": len(best)}


def _length(means: ResultRows) -> dict[str, Any]:
    """Correlations of the number of words, and how many other metrics have a smaller one in the same data set."""
    length = means[means["metric"] == "length"].set_index(DATA_SET)["estimate"]
    others = means[means["metric"] != "length"].set_index(DATA_SET)["estimate"]
    reference = length.reindex(others.index)
    return {"values": list(length), "n": int(reference.notna().sum()), "below": int((others < reference).sum())}
