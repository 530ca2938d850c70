"""What to do next, by rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
import pandas as pd

from judgebook.annotations import population
from judgebook.annotations.population import FEW
from judgebook.questions.annotators.analysis import flagged
from judgebook.study.labels import METHODS
from judgebook.study.results import ResultRows, where
from judgebook.study.schema import ITEM
from judgebook.summary.analysis import DOUBTFUL, TOO_FEW, judged_twice, judges, labels, per_system, sample, separation
from judgebook.summary.answers.parts import Sizes
from judgebook.summary.evidence import ANNOTATORS, PLANNING, Evidence, of_main, parts

#: chance that other annotators order two systems the other way round, from which more are advised
OFTEN = 0.1
_WHO = ["corpus", "group", "annotator"]


def disagree(evidence: Evidence) -> ResultRows:
    """Annotators of the main run and group who are flagged because they disagree with the others, the likelier cause of
    a low alpha than a definition, and without whom alpha is higher.

    Returns corpus, group, annotator, method (missing: over all methods), p_adjusted, and `gain`, the change of alpha
    without them, a mean over labels (of the method, or of all methods); a row for each annotator, the largest gain
    first.
    """
    stored = evidence.results[ANNOTATORS]
    rows = flagged(stored, evidence.study.annotators.false_alarms)
    rows = rows.loc[rows["indicator"] == "disagreement", [*_WHO, "method", "p_adjusted"]]
    change = stored["alpha_without"].dropna(subset="estimate")
    gains = []
    for row in rows.itertuples():
        of_annotator = (change[_WHO] == [row.corpus, row.group, row.annotator]).all(axis=1)
        of_annotator &= (change["method"] == row.method) | pd.isna(row.method)
        gains.append(change.loc[of_annotator, "estimate"].mean())
    rows = rows.assign(gain=gains).reset_index(drop=True)
    rows = of_main(evidence, rows[rows["gain"] > 0])
    return rows.sort_values("gain", ascending=False, kind="stable").drop_duplicates("annotator")


def planned(evidence: Evidence, compared: Mapping[str, Any]) -> dict[str, Any]:
    """How many more dialogues (or pairs, per pair of systems) find the difference worth finding, by notebook 14.

    compared : `analysis.sample`. Returns `reason` where that was not computed; else of the run, group and main method
    compared `total`, the median over `n` labels of the dialogues of the cheapest design (0 where no design suffices),
    `each`, the annotators a dialogue needs, `now`, how many there are, `most`, how many more, `unit`
    and `per`; `assumed`, the difference in SD where the study states none, else 0.
    """
    stored = evidence.results[PLANNING]
    key = {k: compared[k] for k in ("corpus", "group")}
    of_group = [p[2] for p in parts(evidence) if p[:2] == tuple(key.values())]
    rows = where(stored.select("plan_dialogues", aim="cheapest"), **key).dropna(subset="estimate")
    method = next((m for m in of_group if m in set(rows["method"])), None)
    if not stored:
        return {"reason": evidence.reasons.get(PLANNING, "")}
    if method is None:
        return {"total": 0, "most": 0}
    rows, pairs = rows[rows["method"] == method], METHODS[method].unit == "pair"
    sizes = per_system(evidence, key["corpus"], key["group"], method)
    if pairs and len(sizes) > 1:
        sizes = np.array([round(sizes.sum() / 2 / comb(len(sizes), 2))])
    total = round(rows["estimate"].median())
    each = Sizes.of(rows["annotators_per_dialogue"])
    facts = {"total": total, "n": len(rows), "now": Sizes.of(sizes), "each": each}
    more = max(0, total - round(float(np.median(sizes)))) if len(sizes) else 0
    unit, per = ("pair", "pair of systems") if pairs else ("dialogue", "system")
    assumed = 0.0 if evidence.study.margins else evidence.study.planning.effect
    return facts | {"most": more, "unit": unit, "per": per, "assumed": assumed}


def imprecise(evidence: Evidence, rows: ResultRows) -> dict[str, Any]:
    """Labels of which the interval of alpha says nothing; empty where there is none.

    rows : of `analysis.labels`. Returns `n` labels `of` how many, `threshold`, `everything`: whether people judged each
    of their items twice at least, and `others`: whether answers are about other annotators, too.
    """
    unclear = rows[rows["verdict"] == TOO_FEW]
    if unclear.empty:
        return {}
    key = unclear.iloc[0][["corpus", "group"]]
    judged = where(evidence.people, **key)
    sizes = judged.groupby(["method", "label", *ITEM[3:]], dropna=False, observed=True).size()
    everything = (sizes > 1).groupby(["method", "label"]).all()
    keys = pd.MultiIndex.from_frame(unclear[["method", "label"]])
    facts = {"n": len(unclear), "of": len(rows), "threshold": f"{evidence.study.iaa.threshold:g}"}
    return facts | {"everything": bool(everything.reindex(keys).all()), "others": evidence.population(*key).others}


@dataclass(frozen=True)
class NextStep:
    """What to do next: kind is a passage of `text.md.j2`, facts are what it is filled with."""

    kind: str
    facts: dict[str, Any]


def steps(evidence: Evidence, most: int = 3) -> list[NextStep]:
    """What to do next, by rule, the gravest first; at most `most`.

    Who judged is not recorded: record it. A group has too few annotators to speak of others: recruit. Some label was
    never judged twice: have items judged twice, or, of people's own chats, transcripts judged by others. On the only
    label, the leader is not separated from the second: collect what would separate them. Most comparisons are open:
    collect more dialogues. Labels are doubtful: look at annotators who disagree with the others; define labels better,
    or average more annotations. Other annotators would often order two systems the other way round: recruit more.
    Agreement is known too imprecisely: judge more items twice, or, where all are, more items and by more people. Times
    are not recorded: record them. Where nothing of this holds: report, if comparisons and agreement were computed.
    """
    people, out = evidence.people, list[NextStep]()
    if len(people) and not people["annotator_known"].all():
        unknown, every = (
            people.loc[~people["annotator_known"].astype(bool), "method"].unique(),
            people["method"].unique(),
        )
        out.append(NextStep("record", {"methods": list(unknown) if len(unknown) < len(every) else []}))
    few = [(key, one) for key, one in evidence.populations.items() if one.why == FEW]
    if few:
        out.append(NextStep("recruit", {"groups": few, "least": population.LEAST}))
    trusted, compared = labels(evidence), sample(evidence)
    twice = judged_twice(evidence)
    if len(twice) and not twice.all():
        out.append(NextStep("twice", {"n": int((~twice).sum()), "all": not twice.any(), "own": evidence.own_chats}))
    if apart := separation(evidence):
        out.append(NextStep("separate", apart))
    elif compared["n"] and 2 * compared["open"] > compared["n"]:
        out.append(NextStep("collect", compared | {"needed": planned(evidence, compared)}))
    doubtful = trusted[trusted["verdict"] == DOUBTFUL]
    if len(doubtful) and len(disagreeing := disagree(evidence)):
        out.append(NextStep("look", {"rows": disagreeing, "several": len(trusted) > 1}))
    if len(doubtful):
        out.append(NextStep("define", {"rows": doubtful.sort_values("estimate")}))
    who = judges(evidence)
    chance = where(who["reversal"], part="annotators")["estimate"].median() if who["kind"] == "shares" else 0.0
    if chance >= OFTEN:
        out.append(NextStep("more", {"chance": float(chance)}))
    if unclear := imprecise(evidence, trusted[trusted["counts"]]):
        out.append(NextStep("overlap", unclear))
    if len(people) and people["seconds"].isna().all():
        out.append(NextStep("time", {}))
    missing = ["comparisons of systems"] * (not compared["n"]) + ["agreement"] * trusted.empty
    if not missing:
        return out[:most] or [NextStep("report", {"open": compared["open"]})]
    return out[:most] or [NextStep("unknown", {"missing": missing})]
