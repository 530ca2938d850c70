"""What a practitioner asks of a study, answered from the stored results of its notebooks.

Which system is best, which labels can be trusted, does it matter who judged, was the sample large enough, what should
be done next; `cost` has the other answer, `evidence` what all follow from. Nothing is estimated here that a notebook
does not estimate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
import pandas as pd

from judgebook.annotations.features import undirected
from judgebook.annotations.population import FEW
from judgebook.model.fit import PEOPLE
from judgebook.questions.agreement import items as agreement
from judgebook.questions.groups import analysis as groups
from judgebook.questions.groups.analysis import BOTH, DIFFERS
from judgebook.questions.performance import leading
from judgebook.questions.performance.fitted import MOST, POWER
from judgebook.questions.performance.leading import PART, decided
from judgebook.study.labels import METHODS
from judgebook.study.results import ResultRows, where
from judgebook.study.schema import ALL_RUNS, ITEM
from judgebook.summary.cost import MORE
from judgebook.summary.evidence import (
    AGREEMENT,
    GROUPS,
    PERFORMANCE,
    REPEAT,
    Evidence,
    first_part,
    of_main,
    once,
    parts,
)

#: share of the variance of judgements below which an effect is small (LeBreton and Senter 2008, Organizational Research
#: Methods 11, 815-852: 0.01 small, 0.10 medium, 0.25 large)
SMALL = 0.10
PAIR = ["label", "system", "system_b"]
#: p of a difference without a model, unadjusted, above which it rests on the model
PLAIN = 0.05
#: what the interval of alpha says of a label: above the threshold (`iaa.threshold`), below it, or neither
RELIABLE, DOUBTFUL, TOO_FEW = "reliable", "doubtful", "too few data"


@once
def order(evidence: Evidence) -> ResultRows:
    """Every evaluation's order of the systems, that of the first answer first: `performance.leading.order`."""
    one = first_part(evidence)
    every = [*([one] if one else []), *(part for part in parts(evidence) if part != one)]
    return leading.order(evidence.results[PERFORMANCE], every)


@once
def labels(evidence: Evidence) -> ResultRows:
    """Agreement on every label that was judged twice, with `verdict`, and `counts`: whether the label says which system
    is better, as all are said to where none does.

    RELIABLE where the interval of alpha lies above the threshold of the study, DOUBTFUL where it lies below, TOO_FEW
    where it contains it or cannot be estimated. Of the main run and group: rows of `agreement.population.primary`,
    which say of whom each interval speaks.
    """
    rows = of_main(evidence, agreement.primary(evidence.results[AGREEMENT]))
    least = evidence.study.iaa.threshold
    free = ~rows["ci_kind"].isin(agreement.BOUNDS) & rows["ci_low"].notna()
    low, high = rows["ci_low"] > least, rows["ci_high"] < least
    ranking = {(x.method, x.id) for x in evidence.study.label_list() if x.direction and not x.unordered}
    counts = np.array([key in ranking for key in zip(rows["method"], rows["label"], strict=True)], dtype=bool)
    verdict = np.select([free & low, free & high], [RELIABLE, DOUBTFUL], TOO_FEW)
    return rows.assign(verdict=verdict, counts=counts if counts.any() else True)


def reliability(evidence: Evidence) -> ResultRows:
    """Reliability of the order of three system means or more in the study's own design, by label of the main run and
    group."""
    rows = evidence.results[PERFORMANCE]["order_reliability"].query("n >= 3").dropna(subset="estimate")
    return of_main(evidence, rows)


def judged_twice(evidence: Evidence) -> pd.Series:
    """Of each (method, label) that people judged: whether some item was judged by two of one group."""
    sizes = evidence.people.groupby(["group", *ITEM], dropna=False, observed=True).size()
    return (sizes > 1).groupby(["method", "label"]).any()


def repeats(evidence: Evidence) -> ResultRows:
    """r between system means of two runs, by label and overall: of the workers whose judgements count, with scores
    standardised within workers.

    Rows of `replication_r` of the first run that was compared with another; empty in studies with one run.
    """
    workers = "passed" if len(evidence.counted) < len(evidence.annotations) else "all"
    rows = evidence.results[REPEAT].select(
        "replication_r", among="systems", interval="workers", workers=workers, scores="z", list=None, threshold=None
    )
    rows = rows[rows["standardised"].isna() | (rows["standardised"] == "all")].dropna(subset="estimate")
    return rows[rows["corpus"] == rows["corpus"].iloc[0]] if len(rows) else rows


def judges(evidence: Evidence) -> dict[str, Any]:
    """How much depends on who judged, of the main run and group, by the fits of notebook 07.

    Returns `kind`: shares (n labels, rows of `component_share` of annotators and tastes, `reversal`: rows of
    `order_reversal` by label, `small` whether all upper ends are below SMALL, `large` on how many labels annotators
    account for more), few, unknown, fixed (why nothing can be said, with `people`), cannot (why no label could be
    analysed, with `reason`) or none (not computed, with `reason`). And `groups`: `between_groups`.
    """
    stored, groups_ = evidence.results[PERFORMANCE], between_groups(evidence)
    first = next(iter(parts(evidence)), None)
    people = evidence.population(*first[:2]) if first else None
    if people is not None and not people.others:
        return {"kind": people.why, "people": people, "groups": groups_}
    rows = where(stored["component_share"], corpus=first[0], group=first[1]) if first else pd.DataFrame()
    if first is None or not len(rows):
        reason = evidence.reasons.get(PERFORMANCE) or "Notebook 07 was run by an earlier version." * bool(stored)
        return {"kind": "none", "reason": reason, "groups": groups_}
    rows = rows[rows["part"].isin(PEOPLE)]
    if rows["estimate"].isna().all():
        return {"kind": "cannot", "reason": rows["note"].iloc[0], "groups": groups_}
    rows = rows.dropna(subset="estimate")
    chance = where(stored["order_reversal"], corpus=first[0], group=first[1])
    together = rows.groupby(["method", "label"])["estimate"].sum()
    facts = {"n": len(together), "rows": rows, "reversal": chance, "large": int((together >= SMALL).sum())}
    return {"kind": "shares", **facts, "small": bool((rows["ci_high"] < SMALL).all()), "people": people, "part": first,
            "groups": groups_}  # fmt: skip


def between_groups(evidence: Evidence) -> dict[str, Any] | None:
    """Whether groups of annotators differ (notebook 08): None where nothing was tested.

    Returns `n` tested, `n_differ`, `n_people` tested with whole annotators permuted, `differ_people`, `possible` (how
    many of these tests could be significant at all; of the others `least`, the smallest p after adjustment that they
    can have, and `who`, the smaller group with its size), rows of `groups.differences`.
    """
    stored = evidence.results[GROUPS]
    rows = groups.differences(stored, evidence.confidence) if len(stored["group_difference_test"]) else pd.DataFrame()
    if not len(rows) or rows["p_adjusted"].isna().all():
        return None
    level, by_people = 1 - evidence.confidence, rows.dropna(subset="p_people")
    facts = {"rows": rows, "n": int(rows["p_adjusted"].count()), "n_people": len(by_people)}
    facts |= {"n_differ": int(rows["verdict"].isin([DIFFERS, BOTH]).sum())}
    least = _least_p(evidence, by_people)
    facts |= {"differ_people": int((by_people["p_people"] < level).sum()), "possible": int((least["p"] < level).sum())}
    beyond = least[least["p"] >= level]
    if len(beyond):
        row = beyond.loc[beyond["p"].idxmin()]
        facts |= {"least": float(row["p"]), "who": (row["group"], int(row["size"]))}
    return facts


def _least_p(evidence: Evidence, rows: pd.DataFrame) -> pd.DataFrame:
    """Of each row the smallest p-value that permuting whole annotators between its groups can give, times the tests of
    the method; and the smaller `group` with its `size`.

    Of C(n1 + n2, n1) arrangements one is the observed one, and with equal sizes its mirror image is as extreme.
    """
    identified = evidence.people[evidence.people["annotator_known"]]
    sizes = identified.groupby(PART)["annotator"].nunique()
    family, out = rows.groupby("method").size(), []
    for row in rows.itertuples():
        n = [int(sizes.get((row.corpus, group, row.method), 0)) for group in (row.group, row.group_b)]
        p = (2 if n[0] == n[1] else 1) / comb(sum(n), n[0]) if min(n) else 1.0
        smaller = (row.group, row.group_b)[int(n[1] < n[0])]
        out.append({"p": min(p * family[row.method], 1.0), "group": smaller, "size": min(n)})
    return pd.DataFrame(out, columns=["p", "group", "size"])


@once
def sample(evidence: Evidence) -> dict[str, Any]:
    """How many comparisons of the main run and group were decided, and what difference could have been detected.

    Returns `n` comparisons, `n_differ`, `n_alike` (equivalent within the margin of the YAML, and not different),
    `open`, of which `untested` cannot be compared, `margins` (whether some label has one), `people`, `by_model`
    (differences that rest on the model: without it, the unadjusted p is above PLAIN), and `detectable`: the labels of
    the main method with `estimate` (found with 80% power at the criterion of these comparisons), `more` (with MORE
    dialogues or pairs per system, and in proportion more annotators where they are a sample), `per_system` and
    `most_per_system` (of the systems with fewest and most), `sessions` and `most_sessions` (likewise, where some
    session has several dialogues of one system, else missing); empty where notebook 07 has no such results.
    """
    tests = evidence.tests
    if tests.empty:
        return {"n": 0, "reason": evidence.reasons.get(PERFORMANCE, "")}
    corpus, group = tests.iloc[0][["corpus", "group"]]
    margins = [evidence.study.margins.get(key, np.nan) for key in zip(tests["method"], tests["label"], strict=True)]
    differ, alike = decided(tests), (tests[["ci_low", "ci_high"]].abs().max(axis=1, skipna=False) < margins)
    plain = evidence.results[PERFORMANCE]["plain_contrast"].set_index([*PART, *PAIR])["p_value"]
    by_model = plain.reindex(pd.MultiIndex.from_frame(tests.loc[differ, [*PART, *PAIR]])) > PLAIN
    n_alike = int((alike & ~differ).sum())
    facts: dict[str, Any] = {"n": len(tests), "n_differ": int(differ.sum()), "n_alike": n_alike}
    facts |= {"open": len(tests) - facts["n_differ"] - n_alike, "margins": bool(np.isfinite(margins).any())}
    facts |= {"untested": int(tests["ci_low"].isna().sum()), "by_model": int(by_model.sum())}
    facts |= {"people": evidence.population(corpus, group)}
    return facts | {"detectable": _detectable(evidence, corpus, group), "group": group, "corpus": corpus}


def _detectable(evidence: Evidence, corpus: str, group: str) -> pd.DataFrame:
    """See `sample`. How much a difference's standard error shrinks follows from the systems' own numbers."""
    now = where(evidence.results[PERFORMANCE]["difference_found"], corpus=corpus, group=group).dropna(subset="estimate")
    method = next((p[2] for p in parts(evidence) if p[:2] == (corpus, group) and p[2] in set(now["method"])), None)
    now = now[now["method"] == method] if method else now.iloc[:0]
    sizes = per_system(evidence, corpus, group, method) if method else np.zeros(1)
    a, b = (sizes[i] for i in np.triu_indices(len(sizes), 1)) if len(sizes) > 1 else (sizes, sizes)
    with np.errstate(divide="ignore", invalid="ignore"):
        shrink = np.median(np.sqrt((1 / (a + MORE) + 1 / (b + MORE)) / (1 / a + 1 / b)))
    sessions = per_system(evidence, corpus, group, method, ["session"]) if method else np.zeros(1)
    sessions = sessions if 0 < sessions.sum() < sizes.sum() else np.full(1, np.nan)
    now = now.assign(sessions=sessions.min(), most_sessions=sessions.max())
    return now.assign(more=now["estimate"] * shrink, per_system=int(sizes.min()), most_per_system=int(sizes.max()))


def per_system(
    evidence: Evidence, corpus: str, group: str, method: str, of: Sequence[str] = ("dialogue", "dialogue_b")
) -> np.ndarray:
    """Dialogues or pairs, or sessions, of each system that is compared, of those that count; none where some are
    unknown."""
    judged = where(evidence.counted, corpus=corpus, group=group, method=method)
    if judged[of[0]].isna().any():
        return np.zeros(0)
    sides = [judged[[side, *of]].set_axis(["system", *of], axis=1) for side in ("system", "system_b")]
    sizes = pd.concat(sides).dropna(subset="system").drop_duplicates().groupby("system").size()
    aside = {*evidence.study.unranked_systems, evidence.study.control_system}
    return sizes[~sizes.index.isin(list(aside))].to_numpy(float)


def without_order(evidence: Evidence) -> str:
    """Why no label orders the systems, '' where one does."""
    judged = set(evidence.annotations[["method", "label"]].drop_duplicates().itertuples(index=False, name=None))
    ordered = [x for x in evidence.study.label_list() if (x.method, x.id) in judged and not x.unordered]
    return "" if any(label.direction for label in ordered) else undirected(ordered)


def highest(evidence: Evidence) -> list[dict[str, Any]]:
    """On each label of the main evaluation the system with the highest level, whatever that means: `method`, `label`,
    `system`, `value`, `second` and the row of the difference of the two (`contrast`; None of a single system)."""
    stored, first = evidence.results[PERFORMANCE], next(iter(parts(evidence)), None)
    out = []
    for statistic in ("level", "strength"):
        rows = where(stored[statistic], **dict(zip(PART, first, strict=True))) if first else stored[statistic].iloc[:0]
        for label, of_label in rows.dropna(subset="estimate").groupby("label", sort=False):
            top, *others = of_label.sort_values("estimate", ascending=False, kind="stable").to_dict("records")
            one = {"method": top["method"], "label": label, "system": top["system"], "value": top["estimate"]}
            if others:
                pair = where(stored["contrast"], **{k: top[k] for k in [*PART, "label"]})
                both = pair["system"].isin([top["system"], others[0]["system"]]) & pair["system_b"].isin(
                    [top["system"], others[0]["system"]]
                )
                one |= {"second": others[0]["system"], "contrast": pair[both].iloc[0].to_dict()}
            out.append(one)
    return out


def separation(evidence: Evidence) -> dict[str, Any] | None:
    """How many times the data would separate the leader of the main evaluation from the second, where they are not
    separated and that can be told.

    Returns `first`, `second`, `times` (NaN: more than `most`), `n` judgements or comparisons, which `votes` says,
    `others`, whether annotators are a sample, and `runs`, whether runs are; None where it does not apply.
    """
    rows = order(evidence)
    if rows.empty:
        return None
    top = rows.iloc[0]
    single = pd.notna(top["label"])
    stored = evidence.results[PERFORMANCE]["data_to_separate" if single else "overall_data_to_separate"]
    apart = where(stored, **{k: top[k] for k in [*PART, *["label"] * single]})
    if apart.empty or apart["estimate"].iloc[0] == 1 or pd.isna(top["rank_low"]):
        return None
    row = apart.iloc[0]
    facts = {"first": row["system"], "second": row["system_b"], "times": row["estimate"], "n": int(row["n"])}
    facts |= {"most": MOST, "power": POWER, "votes": METHODS[row["method"]].unit == "pair"}
    others = evidence.population(row["corpus"], row["group"]).others
    return facts | {"others": others, "runs": row["corpus"] == ALL_RUNS}


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
