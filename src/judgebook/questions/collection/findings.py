"""What notebooks 00, 01 and 02 say: facts from their results, put into words by `text.md.j2`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose
from judgebook.questions.collection.costs import COLLECTION, TOGETHER, payment
from judgebook.questions.collection.question import Costs
from judgebook.questions.collection.screening import ALL_TASKS
from judgebook.questions.collection.tables import KINDS, SHOWN, annotators, kind_names, pilot_number, row_titles
from judgebook.study.results import Results
from judgebook.study.schema import ITEM, Annotations

_PHRASES = Phrases(__package__)
_WHO = ["method", "group", "corpus"], ["method"]
#: so few times are all given
_FEW_TIMES = 3


def data_set(
    counts: pd.DataFrame, annotations: Annotations, results: Results, names: DisplayNames, *, control: bool = False
) -> Iterator[Prose]:
    """What became of the annotations that were read; how much was judged twice.

    annotations : of the evaluation. control : whether workers are to pass quality control by a degraded system.
    """
    # some adapters count the annotations of turns and of dialogues separately
    total = counts[counts["what"].str.endswith("annotations")].groupby("action")["n"].sum()
    facts: dict[str, Any] = {action: int(total.get(action, 0)) for action in ("read", "kept", "mended", "dropped")}
    people = annotations[annotations["annotator_kind"] == "human"]
    sides = [annotations[["corpus", "dialogue", "system"]], annotations[["corpus", "dialogue_b", "system_b"]].dropna()]
    either_side = pd.concat([side.set_axis(["corpus", "dialogue", "system"], axis=1) for side in sides])
    facts["n_dialogues"] = len(either_side.drop_duplicates(["corpus", "dialogue"]))  # an id may recur in another corpus
    facts |= {"n_systems": either_side["system"].nunique(), "n_main": len(annotations)}
    facts["n_people"] = people.loc[people["annotator_known"], "annotator"].nunique()
    sizes = people.groupby([c for c in ("group", *ITEM) if c in people], dropna=False).size()
    facts["per_item"] = int(sizes.max()) if len(sizes) else 0
    kinds = kind_names(annotations, names)
    judged = [k for k in kinds if k != "human" and (annotations["annotator_kind"] == k).any()]
    facts["models"] = [kinds[k].lower() if kinds[k] == KINDS.get(k) else kinds[k] for k in judged]
    facts["extra"] = bool(counts["corpus"].astype(str).str.startswith("extra_").any())
    yield Prose(_PHRASES.say("read", **facts))
    yield Prose(_PHRASES.say("later", control=control))
    twice = results.select("coverage", kind="human", times=2).groupby("method")["estimate"].max()
    shares = [(names.name("method", m), twice[m]) for m in names.titles["method"] if m in twice]
    yield Prose(_PHRASES.say("coverage", shares=shares))


def pilots(results: Results, names: DisplayNames, *, least: float, simulated: bool) -> Iterator[Prose]:
    """Which systems pass, how many annotators do, and how alpha differs between pilots. least : mean that passes."""
    systems, groups, gains = _systems(results, names, least), _screening(results, names), _gains(results, names)
    yield Prose(_PHRASES.say("systems", **systems))
    yield Prose(_PHRASES.say("procedures", groups=groups, gains=gains))
    if systems["n"]:
        yield Prose(_PHRASES.say("uncertain", **{k: systems[k] for k in ("unsure", "unknown", "least")}))
    yield Prose(_PHRASES.say("screening", groups=groups))
    yield Prose(_PHRASES.say("agreement", n=len(results["alpha"]), gains=gains))
    yield Prose(_PHRASES.say("simulated") if simulated else "")


def _systems(results: Results, names: DisplayNames, least: float) -> dict[str, Any]:
    means = results.select("mean", interval="annotator").sort_values("estimate", ascending=False, kind="stable")
    if means.empty:
        return {"n": 0}
    chosen = {
        "passed": means[means["estimate"] >= least],
        "failed": means[means["estimate"] < least],
        "unsure": means[(means["ci_low"] < least) & (means["ci_high"] > least)],
        "unknown": means[means["ci_low"].isna()],
    }
    facts = {key: [names.name("system", s) for s in rows["system"]] for key, rows in chosen.items()}
    return facts | {"n": len(means), "least": f"{least:g}", "label": means["label"].iloc[0]}


def _gains(results: Results, names: DisplayNames) -> list[dict[str, Any]]:
    rows = results["alpha_gain"].assign(pilot=lambda f: pilot_number(f["corpus"]), before=None)
    rows["before"] = pilot_number(rows["against"]).where(rows["scope"].isna(), None)
    # a gain by screening is of those who passed; the name without it, as the sentence says so itself
    rows["clear"], rows["unknown"] = (rows["ci_low"] > 0) | (rows["ci_high"] < 0), rows["ci_low"].isna()
    return [row | {"who": annotators(row["group"], None, names)} for row in rows.to_dict("records")]


def _screening(results: Results, names: DisplayNames) -> list[dict[str, Any]]:
    rows = names.sort(results.select("screening_pass_rate", task=ALL_TASKS, **SHOWN))
    return [{"who": names.name("group", row["group"]), "every": row} for row in rows.to_dict("records")]


def collection(
    annotations: Annotations, results: Results, names: DisplayNames, section: Costs, *, paid_elsewhere: bool = False
) -> Iterator[Prose]:
    """How much people judged and at what cost, which method takes longest, and how evenly the work was shared.

    paid_elsewhere : whether notebook 10 says what was paid.
    """
    people = annotations[annotations["annotator_kind"] == "human"]
    labels = people[["method", "label"]].drop_duplicates()
    facts: dict[str, Any] = {"n": len(people), "n_labels": len(labels), "n_methods": labels["method"].nunique()}
    costs, paid = _per_unit(results, section)
    facts |= {"costs": _by_level(costs), "paid": _by_level(paid), "vary": _what_varies(costs)}
    facts |= {"currency": section.currency, "rate": f"{section.hourly_rate:g}", "paid_elsewhere": paid_elsewhere}
    yield Prose(_PHRASES.say("collected", **facts))
    total = results.select("unit_minutes", tasks="all").dropna(subset="estimate")
    total = names.sort(total[total["method"] != COLLECTION])
    if len(total):
        total["who"] = row_titles(total, names, *_WHO)
        mixed = bool((total["method"] == TOGETHER).any())
        facts = {"rows": total.to_dict("records"), "few": _FEW_TIMES, "mixed": mixed}
        yield Prose(_PHRASES.say("minutes", **facts, **_extremes(total)))
    busiest = results["busiest_share"]
    if len(busiest):
        top = busiest.loc[busiest["estimate"].idxmax()].to_dict()
        title = row_titles(busiest, names, *_WHO)[busiest["estimate"].idxmax()]
        yield Prose(_PHRASES.say("workload", who=title, share=top["estimate"], n=top["n"]))
    else:
        yield Prose(_PHRASES.say("unknown_annotators"))


def _per_unit(results: Results, section: Costs) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Costs of one dialogue or pair: at the hourly rate, and at what was paid, where that is known."""
    rows = results.select("unit_minutes", tasks="all").dropna(subset="estimate")
    rows = rows[rows["method"] != COLLECTION]
    task_of = results["median_minutes"].groupby(["corpus", "group", "method"])["task"]
    paid = [
        payment(section.payments.get(group, {}).get(method), task_of.get_group((corpus, group, method)))
        for corpus, group, method in zip(rows["corpus"], rows["group"], rows["method"], strict=True)
    ]
    at_rate = rows.assign(estimate=rows["estimate"] / 60 * section.hourly_rate)
    return at_rate, rows.assign(estimate=np.array(paid, dtype=float)).dropna(subset="estimate")


def _by_level(rows: pd.DataFrame) -> list[tuple[str, list[float]]]:
    return [(level, list(part["estimate"])) for level, part in rows.groupby("level", sort=False)]


def _extremes(times: pd.DataFrame) -> dict[str, Any]:
    """The slowest and the fastest."""
    rows = times.sort_values("estimate", kind="stable")
    return {"slowest": rows.iloc[-1].to_dict(), "fastest": rows.iloc[0].to_dict()}


def _what_varies(rows: pd.DataFrame) -> list[str]:
    """In what the rows differ: method, group, corpus."""
    heads = {"method": "method", "group": "evaluator group", "corpus": "part of the study"}
    return [head for column, head in heads.items() if len(set(rows[column])) > 1]
