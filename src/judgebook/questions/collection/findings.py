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
from judgebook.questions.collection.pilot import ALL_TASKS
from judgebook.questions.collection.question import Costs
from judgebook.questions.collection.views import KINDS, kind_names, row_titles
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
    """Which systems pass, how many annotators do, and alpha of the pilots. least : mean that passes."""
    yield Prose(_PHRASES.say("systems", **_systems(results, names, least)))
    rates = names.sort(results.select("screening_pass_rate", task=ALL_TASKS))
    groups = [{"who": names.name("group", row["group"]), "every": row} for row in rates.to_dict("records")]
    yield Prose(_PHRASES.say("screening", groups=groups))
    yield Prose(_PHRASES.say("agreement", alphas=list(results["alpha"]["estimate"].dropna())))
    yield Prose(_PHRASES.say("simulated") if simulated else "")


def _systems(results: Results, names: DisplayNames, least: float) -> dict[str, Any]:
    means = results.select("mean", interval="annotator").sort_values("estimate", ascending=False, kind="stable")
    if means.empty:
        return {"n": 0}
    chosen = {
        "passed": means[means["estimate"] >= least],
        "failed": means[means["estimate"] < least],
        "unsure": means[(means["ci_low"] < least) & (means["ci_high"] > least)],
    }
    facts = {key: [names.name("system", s) for s in rows["system"]] for key, rows in chosen.items()}
    return facts | {"n": len(means), "least": f"{least:g}", "label": means["label"].iloc[0]}


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
    facts |= {"costs": _by_level(costs), "paid": _by_level(paid)}
    facts |= {"currency": section.currency, "rate": f"{section.hourly_rate:g}", "paid_elsewhere": paid_elsewhere}
    yield Prose(_PHRASES.say("collected", **facts))
    total = results.select("unit_minutes", tasks="all").dropna(subset="estimate")
    total = names.sort(total[total["method"] != COLLECTION])
    if len(total):
        total["who"] = row_titles(total, names, *_WHO)
        mixed = bool((total["method"] == TOGETHER).any())
        facts = {"rows": total.to_dict("records"), "few": _FEW_TIMES, "mixed": mixed}
        ranked = total.sort_values("estimate", kind="stable")
        facts |= {"slowest": ranked.iloc[-1].to_dict(), "fastest": ranked.iloc[0].to_dict()}
        yield Prose(_PHRASES.say("minutes", **facts))
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
