"""What notebook 10 says: facts from its results, put into words by `text.md.j2`.

Facts are based on standardised scores, the rule and intervals over workers, unless stated otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from judgebook.display.text import Phrases
from judgebook.display.views import Prose
from judgebook.questions.quality_control.views import repeat_rows
from judgebook.questions.quality_control.worker_tests import OVERALL, Crowd
from judgebook.study.results import Results, where

_PHRASES = Phrases(__package__)
#: share of random sets of workers below which those who passed repeat better than by chance
LEVEL = 0.05


def findings(results: Results, crowd: Crowd) -> Iterator[Prose]:
    """Who passes, whether results replicate and whether quality control helps; then each in detail; who was counted;
    payments; effects of variants."""
    others, variant = [_correlations(results, crowd, corpus) for corpus in crowd.corpora[1:]], crowd.options.variant
    tests: dict = {scores: _against_random(results, crowd, scores) for scores in ("z", "raw")} | {"level": LEVEL}
    passing, first = [_passing(results, crowd, corpus) for corpus in crowd.corpora], crowd.title(crowd.corpora[0])
    yield Prose(_PHRASES.say("headline", passing=passing, runs=others, first=first, **tests))
    gains = results["replication_gain"].dropna(subset="estimate")
    sure = int(((gains["ci_low"] > 0) | (gains["ci_high"] < 0)).sum())
    yield Prose(_PHRASES.say("gains", gains=gains.to_dict("records"), sure=sure, **tests))
    yield Prose(
        _PHRASES.say("counts", runs=passing, currency=crowd.options.currency, **_people(crowd), **_paid(results))
    )
    repeated = [r for r in others if "passed" in r["r"].get("variants", ())]
    yield Prose(_PHRASES.say("variants", runs=repeated, variant=variant, **_pooled(results, crowd)))


def _correlations(results: Results, crowd: Crowd, corpus: str) -> dict:
    """r on standardised scores between a run and the first one, by what is correlated and set of workers."""
    rows = where(repeat_rows(results, corpus), interval="workers").dropna(subset="estimate")
    r: dict[str, dict] = {}
    for _, row in where(rows, scores="z").iterrows():
        r.setdefault(row["among"], {})[row["workers"]] = row.to_dict()
    return {"name": crowd.title(corpus), "r": r}


def _against_random(results: Results, crowd: Crowd, scores: str) -> list[dict]:
    """Every pair of runs with the test of whether those who passed repeat better than as many random workers."""
    rows = results.select("replication_share", scores=scores, workers="passed").dropna(subset="p_adjusted")
    return [
        {
            "runs": f"{crowd.title(row.against)} and {crowd.title(row.corpus)}",
            "share": row.estimate,
            "p": row.p_adjusted,
        }
        for row in rows.itertuples()
    ]


def _people(crowd: Crowd) -> dict:
    """Workers who gave answers, each counted once, and how many of them took part in several runs."""
    runs = crowd.workers.groupby("annotator").size()
    return {"n_people": len(runs), "n_again": int((runs > 1).sum())}


def _passing(results: Results, crowd: Crowd, corpus: str) -> dict:
    """Workers in all, without answers and who passed, share of dialogues that are excluded, cost before and after."""
    count = results.select("qc_count", corpus=corpus, what="workers", list=None, threshold=None)
    count = count.set_index("workers")["estimate"]
    rate = results.select("pass_rate", corpus=corpus, list=None).set_index("of")
    cost = results.select("crowd_cost", corpus=corpus).set_index("per")["estimate"].dropna()
    return {
        "name": crowd.title(corpus),
        "currency": crowd.options.currency,
        "n": int(count.get("all", 0)),
        "passed": int(count.get("passed", 0)),
        "silent": int(count.get("all", 0) - count.get("passed", 0) - count.get("failed", 0)),
        "rate": rate.loc["workers"].to_dict() if "workers" in rate.index else None,
        "excluded": 1 - rate.at["dialogues", "estimate"] if "dialogues" in rate.index else None,
        "before": cost.get("dialogue"),
        "after": cost.get("passed dialogue"),
    }


def _paid(results: Results) -> dict[str, float]:
    """What was paid in all runs, 0 where that is not known, and for a work unit."""
    runs, unit = (results.select("crowd_cost", per=per)["estimate"].dropna() for per in ("run", "work unit"))
    return {"paid": float(runs.sum()), "per_unit": float(unit.iloc[0]) if len(unit) else 0.0}


def _pooled(results: Results, crowd: Crowd) -> dict:
    """The effect of the variant on the mean of all labels, and over how many families and runs it is averaged."""
    rows = where(results["variant_effect"], label=OVERALL).dropna(subset="estimate")
    if rows.empty:
        return {"effect": None, "n_families": 0, "n_runs": 0}
    n, runs = int(rows["n"].iloc[0]), len(crowd.corpora)
    return {"effect": rows.iloc[0].to_dict(), "n_families": n // runs, "n_runs": runs}


def selection(results: Results) -> Prose | None:
    """How far workers who passed agree because they were selected by how they rate the control."""
    rows = results.select("worker_pair_r", of="median", pairs="all", workers=["passed", "failed"])
    if rows.empty:
        return Prose(_PHRASES.say("no_pairs"))
    rows = (
        rows[rows["corpus"].isna()] if rows["corpus"].isna().any() else rows[rows["corpus"] == rows["corpus"].iloc[0]]
    )
    r = {control: part.set_index("workers")["estimate"].to_dict() for control, part in rows.groupby("control")}
    complete = all(len(r.get(control, {})) == 2 for control in ("with", "without"))
    return Prose(_PHRASES.say("selection", r=r)) if complete else None


def lists(crowd: Crowd) -> Prose:
    """For how many workers the rule gives the verdicts that the data carry, if they carry any."""
    passed, n = crowd.workers["passed"], len(crowd.workers)
    same = {name: int((passed == crowd.workers[name]).sum()) for name in crowd.lists}
    return Prose(_PHRASES.say("lists", lists=[{"fitted": x == "fitted", "n": n, "same": k} for x, k in same.items()]))


def who_counts(annotations: pd.DataFrame, passed: pd.DataFrame, control: str | None) -> Prose | None:
    """Whose ratings are used, where a control was rated. passed : those of workers who passed quality control."""
    if control is None:
        return None
    counts = [len(frame.drop_duplicates(["corpus", "annotator"])) for frame in (passed, annotations)]
    return Prose(_PHRASES.say("who_counts", n_passed=counts[0], n=counts[1]))
