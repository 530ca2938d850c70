"""What notebook 10 says: facts from its results, put into words by `text.md.j2`.

Facts are based on standardised scores, the rule and intervals over workers, unless stated otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose
from judgebook.questions.quality_control import effect_views
from judgebook.questions.quality_control.crowd import Crowd
from judgebook.questions.quality_control.effects import FAMILIES
from judgebook.questions.quality_control.tables import label_titles, repeat_rows
from judgebook.questions.quality_control.worker_tests import OVERALL
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
    yield Prose(_PHRASES.say("correlations", runs=others, first=first))
    yield Prose(
        _PHRASES.say("counts", runs=passing, currency=crowd.options.currency, **_people(crowd), **_paid(results))
    )
    repeated = [r for r in others if "passed" in r["r"].get("variants", ())]
    yield Prose(_PHRASES.say("variants", runs=repeated, variant=variant, **_pooled(results)))


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


def contrasts(results: Results, crowd: Crowd) -> Prose:
    """How many variants differ from their plain system in each run, and in how many cases runs agree."""
    rows = results.select("variant_contrast", label=OVERALL, scores="z", workers="passed")
    rows = rows.assign(sign=(rows["ci_low"] > 0).astype(int) - (rows["ci_high"] < 0).astype(int))
    wide = rows.pivot_table(index="system", columns="corpus", values="sign")
    runs = [
        {"name": crowd.title(corpus), "n": len(sign), "better": int((sign > 0).sum()), "worse": int((sign < 0).sum())}
        for corpus, sign in rows.groupby("corpus", sort=False)["sign"]
    ]
    same = (wide > 0).all(axis=1) | (wide < 0).all(axis=1)
    facts = {"found": int((wide != 0).any(axis=1).sum()), "same": int(same.sum()), "variant": crowd.options.variant}
    return Prose(_PHRASES.say("contrasts", runs=runs, **facts))


def _pooled(results: Results) -> dict:
    """The effect of the variant on the mean of all labels, and over how many families and runs it is averaged."""
    rows = where(effect_views.pooled(results), label=OVERALL).dropna(subset="estimate")
    if rows.empty:
        return {"effect": None, "n_families": 0, "n_runs": 0}
    runs = results.select("variant_effect", over=FAMILIES, scores="z", label=OVERALL, interval="workers")
    n = int(runs["n"].iloc[0])
    return {"effect": rows.iloc[0].to_dict(), "n_families": n, "n_runs": int(rows["n"].iloc[0]) // n}


def effects(results: Results, names: DisplayNames, crowd: Crowd) -> Prose:
    """The pooled effect of the variant: overall, and by label as far as simultaneous intervals exclude 0."""
    rows, others = (effect_views.pooled(results, interval).set_index("label") for interval in ("workers", "families"))
    titles = label_titles(names, crowd)
    rest = rows.drop(index=OVERALL, errors="ignore")
    signed = {"lower": rest[rest["ci_high"] < 0], "higher": rest[rest["ci_low"] > 0]}
    words = {
        side: [{"name": titles[label]} | row for label, row in part.sort_values("p_value").to_dict("index").items()]
        for side, part in signed.items()
    }
    facts = {"variant": crowd.options.variant, "n_labels": len(rest), **words, **_pooled(results)}
    return Prose(_PHRASES.say("effects", others=others.loc[OVERALL].to_dict() if len(others) else None, **facts))


def changes(results: Results, names: DisplayNames, crowd: Crowd) -> Prose:
    """Labels whose raw means change between the first and another run, averaged over systems and of the best system."""
    rows = where(effect_views.change_rows(results, names, crowd), scores="raw")
    rows = rows[rows["label"] != OVERALL].dropna(subset="ci_low")
    rows = rows.assign(name=rows["label"].map(label_titles(names, crowd)))
    changed = rows[(rows["ci_low"] > 0) | (rows["ci_high"] < 0)]
    runs = []
    for corpus in dict.fromkeys(rows["corpus"]):
        of_corpus = where(changed, corpus=corpus)
        sides = {"mean": of_corpus[of_corpus["system"].isna()], "best": of_corpus[of_corpus["system"].notna()]}
        runs.append({"name": crowd.title(corpus)} | {k: part.to_dict("records") for k, part in sides.items()})
    facts = {"first": crowd.title(crowd.corpora[0]), "n": rows["label"].nunique()}
    facts["best"] = names.name("system", effect_views.best(results, crowd) or "")
    return Prose(_PHRASES.say("changes", runs=runs, reach=_reach(rows), **facts))


def _reach(rows: pd.DataFrame) -> float:
    """How far from 0 the intervals reach of changes that are not shown to differ from it; 0 where all are."""
    open_ = rows[(rows["ci_low"] <= 0) & (rows["ci_high"] >= 0)]
    return float(open_[["ci_low", "ci_high"]].abs().max(axis=None)) if len(open_) else 0.0


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


def conclusions(results: Results, crowd: Crowd) -> Prose:
    """How many conclusions about pairs repeat, with quality control and without, at the smallest level."""
    alpha, runs = min(crowd.options.levels), dict[str, list[dict[str, Any]]]()
    rows = results.select("concordance", alpha=alpha, test="wald", list=None).set_index("of")
    for corpus in crowd.corpora[1:]:
        for workers in ("passed", "all"):
            part = where(rows, corpus=corpus, workers=workers)
            if "identical" in part.index:
                facts: dict[str, Any] = {of: int(part.at[of, "estimate"]) for of in ("contradiction", "power_mismatch")}
                n = int(part.at["identical", "n"])
                facts |= {"n": n, "same": round(n * part.at["identical", "estimate"]), "passed": workers == "passed"}
                runs.setdefault(crowd.title(corpus), []).append(facts | {"kappa": part.at["kappa", "estimate"]})
    first = crowd.title(crowd.corpora[0])
    return Prose(_PHRASES.say("conclusions", runs=runs.items(), alpha=f"{alpha:g}", first=first))


def lists(results: Results, crowd: Crowd) -> Prose:
    """For how many workers the rule gives the verdicts that the data carry, if they carry any."""
    sentences = []
    for name, part in results["verdict_agreement"].groupby("list", sort=False):
        same = int((crowd.workers["passed"] == crowd.workers[name]).sum())
        sentences.append({"fitted": name == "fitted", "n": int(part["n"].sum()), "same": same})
    return Prose(_PHRASES.say("lists", lists=sentences))


def who_counts(annotations: pd.DataFrame, passed: pd.DataFrame, control: str | None) -> Prose | None:
    """Whose ratings are used, where a control was rated. passed : those of workers who passed quality control."""
    if control is None:
        return None
    counts = [len(frame.drop_duplicates(["corpus", "annotator"])) for frame in (passed, annotations)]
    return Prose(_PHRASES.say("who_counts", n_passed=counts[0], n=counts[1]))
