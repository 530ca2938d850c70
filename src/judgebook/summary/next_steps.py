"""What to do next, by rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from judgebook.annotations.population import FEW
from judgebook.study.results import ResultRows, where
from judgebook.study.schema import ALL_RUNS, ITEM
from judgebook.summary.analysis import DOUBTFUL, TOO_FEW, judged_twice, judges, labels, sample, separation
from judgebook.summary.evidence import Evidence

#: chance that other annotators order two systems the other way round, from which more are advised
OFTEN = 0.1
_WHO = ["corpus", "group", "annotator"]


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

    Who judged is not recorded: record it. A group has no two annotators of the same system: recruit. Some label was
    never judged twice: have items judged twice, or, of people's own chats, transcripts judged by others. The leader is
    not separated from the second: collect what would separate them. Most comparisons are open: collect more dialogues.
    Labels are doubtful: define labels better, or average more annotations. Other annotators would often turn the first
    two systems round: recruit more. Agreement is known too imprecisely: judge more items twice, or, where all are, more
    items and by more people. Times are not recorded: record them. Where nothing of this holds: report, if comparisons
    and agreement were computed.
    """
    people, out = evidence.people, list[NextStep]()
    if len(people) and not people["annotator_known"].all():
        unknown, every = (
            people.loc[~people["annotator_known"].astype(bool), "method"].unique(),
            people["method"].unique(),
        )
        out.append(NextStep("record", {"methods": list(unknown) if len(unknown) < len(every) else []}))
    few = [(key, one) for key, one in evidence.populations.items() if one.why == FEW and key[0] != ALL_RUNS]
    if few:
        out.append(NextStep("recruit", {"groups": few}))
    trusted, compared = labels(evidence), sample(evidence)
    twice = judged_twice(evidence)
    if len(twice) and not twice.all():
        out.append(NextStep("twice", {"n": int((~twice).sum()), "all": not twice.any(), "own": evidence.own_chats}))
    if apart := separation(evidence):
        out.append(NextStep("separate", apart))
    elif compared["n"] and 2 * compared["open"] > compared["n"]:
        out.append(NextStep("collect", compared))
    doubtful = trusted[trusted["verdict"] == DOUBTFUL]
    if len(doubtful):
        out.append(NextStep("define", {"rows": doubtful.sort_values("estimate")}))
    who = judges(evidence)
    if who["kind"] == "shares":
        chances = where(who["reversal"], part="annotators")["estimate"]
        if chances.median() >= OFTEN:
            out.append(NextStep("more", {"chance": float(chances.median()), "n": len(chances)}))
    if unclear := imprecise(evidence, trusted[trusted["counts"]]):
        out.append(NextStep("overlap", unclear))
    if len(people) and people["seconds"].isna().all():
        out.append(NextStep("time", {}))
    missing = ["comparisons of systems"] * (not compared["n"]) + ["agreement"] * trusted.empty
    if not missing:
        return out[:most] or [NextStep("report", {"open": compared["open"]})]
    return out[:most] or [NextStep("unknown", {"missing": missing})]
