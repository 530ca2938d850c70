"""What a practitioner asks of a study, answered from the stored results of its notebooks.

Which system is best, which labels can be trusted, does it matter who judged, was the sample large enough, what did it
cost, and what to do next. Nothing is estimated here that a notebook does not estimate. Where several evaluations (run,
group and method) could answer, the main one does: see `parts`. All answers are about one population of annotators
(`annotations.population`): others like those who judged, or these only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import comb
from typing import Any

import numpy as np
import pandas as pd

from judgebook.annotations import population, summary
from judgebook.annotations.dialogue_values import all_own
from judgebook.annotations.features import undirected
from judgebook.annotations.population import FEW, UNKNOWN, Population
from judgebook.questions.agreement import analysis as agreement
from judgebook.questions.annotators.findings import disagreeing
from judgebook.questions.collection import costs
from judgebook.questions.fragility import findings as fragility
from judgebook.questions.groups import analysis as groups
from judgebook.questions.groups.analysis import BOTH, DIFFERS
from judgebook.questions.performance import leading
from judgebook.questions.performance.analysis import chosen
from judgebook.questions.performance.leading import PART
from judgebook.questions.performance.separation import MOST
from judgebook.questions.quality_control.worker_tests import of_those_who_passed
from judgebook.questions.sensitivity import analysis as sensitivity
from judgebook.questions.sensitivity import power
from judgebook.study import params, questions, results, store
from judgebook.study.labels import METHODS
from judgebook.study.params import Study
from judgebook.study.results import Results, where
from judgebook.study.schema import ANNOTATIONS, ITEM, Annotations

COST, AGREEMENT, SENSITIVITY = "02_collection_stats", "03_iaa", "05_sensitivity"
PERFORMANCE, GROUPS, REPEAT = "07_bot_performance", "08_group_effects", "10_quality_control"
ANNOTATORS, FRAGILITY = "15_annotators", "16_fragility"
#: the notebooks that answer
NOTEBOOKS = questions.answering("next")
#: share of the variance of judgements below which an effect is small (LeBreton and Senter 2008, Organizational Research
#: Methods 11, 815-852: 0.01 small, 0.10 medium, 0.25 large)
SMALL = 0.10
#: what the interval of alpha says of a label: above the threshold (`iaa.threshold`), below it, or neither
RELIABLE, DOUBTFUL, TOO_FEW = "reliable", "doubtful", "too few data"
#: dialogues or pairs per system by which a sample grows in "what would more buy?"
MORE = 10


@dataclass(frozen=True)
class Evidence:
    """What the answers follow from.

    annotations : those of the evaluation (`summary.evaluated`). results : notebook -> its results, empty where it was
    not run. reasons : notebook -> why it was not, a sentence. own_chats : whether people judged only what they had
    talked about themselves.
    """

    study: Study
    annotations: Annotations
    results: Mapping[str, Results]
    reasons: Mapping[str, str]
    own_chats: bool = False

    @cached_property
    def people(self) -> pd.DataFrame:
        return self.annotations[self.annotations["annotator_kind"] == "human"]

    @cached_property
    def counted(self) -> pd.DataFrame:
        """The annotations on which systems are compared: of workers who passed quality control, where there is one."""
        study = self.study
        return of_those_who_passed(self.annotations, study.label_list(), study.control_system, study.quality_control)

    @cached_property
    def populations(self) -> dict[tuple[str, str], Population]:
        """As notebook 07 has them."""
        judged = chosen(self.counted, self.study.unranked_systems, self.study.label_list())
        return population.populations(judged, self.study.inference.annotators)

    def population(self, corpus: str, group: str) -> Population:
        """Whose judgements statements on a run and group are about."""
        return self.populations.get((corpus, group), Population(False, None, 0, 0.0, UNKNOWN))

    @cached_property
    def tests(self) -> pd.DataFrame:
        """Comparisons of two systems by the main run and group, for its population; without p-value where the data are
        too few for a test."""
        found = self.results[SENSITIVITY]
        every = sensitivity.primary(found)
        main = _main(self, every.dropna(subset="p_value"))
        if main.empty:
            return main
        key = main.iloc[0][["corpus", "group"]]
        people = where(sensitivity.with_people(found), **key)
        return people if self.population(*key).others and people["p_value"].notna().any() else where(every, **key)

    @cached_property
    def tested(self) -> Population:
        """Whose judgements `tests` are about: these annotators' only, where no test treats them as a sample."""
        people = self.population(*self.tests.iloc[0][["corpus", "group"]])
        both = self.tests["resample_unit"].astype(str).str.endswith(agreement.TWO_WAY).any()
        return people if both or not people.others else replace(people, others=False)

    @property
    def confidence(self) -> float:
        return self.study.bootstrap.confidence


def read(study: str, reasons: Mapping[str, str]) -> Evidence:
    """The evidence that the last run of a study stored. reasons : notebook -> why it was not run."""
    home = store.processed(study)
    loaded = params.load(home / "params.yaml", key=study)
    path = home / "annotations.parquet"
    # a study across others has no judgements of its own
    annotations = pd.read_parquet(path) if path.is_file() else pd.DataFrame(columns=[*ANNOTATIONS], dtype=object)
    stored = {name: home / "results" / f"{name}.parquet" for name in (*NOTEBOOKS, *questions.on_first_page())}
    asked: Mapping[str, Any] = sensitivity.ASKED
    found = {name: results.read(p, **asked) if p.is_file() else Results() for name, p in stored.items()}
    judged, path = summary.evaluated(annotations), home / "dialogues.parquet"
    people = judged[judged["annotator_kind"] == "human"]
    own = path.is_file() and all_own(people, pd.read_parquet(path, columns=["corpus", "dialogue", "interactor"]))
    return Evidence(loaded, judged, found, reasons, own)


def _main(evidence: Evidence, rows: pd.DataFrame) -> pd.DataFrame:
    """Of the rows of several runs and groups those of the main one that has any."""
    there = set(rows[["corpus", "group"]].drop_duplicates().itertuples(index=False, name=None))
    known = next((part[:2] for part in parts(evidence) if part[:2] in there), None)
    return where(rows, corpus=known[0], group=known[1]) if known else rows.iloc[:0]


def parts(evidence: Evidence) -> list[tuple[str, str, str]]:
    """`annotations.summary.evaluations` of the study."""
    return summary.evaluations(evidence.annotations)


def order(evidence: Evidence) -> pd.DataFrame:
    """Every evaluation's order of the systems, the main evaluation first: `performance.leading.order`."""
    return leading.order(evidence.results[PERFORMANCE], parts(evidence))


def labels(evidence: Evidence) -> pd.DataFrame:
    """Agreement on every label that was judged twice, with `verdict`.

    RELIABLE where the interval of alpha lies above the threshold of the study, DOUBTFUL where it lies below, TOO_FEW
    where it contains it or cannot be estimated. Of the main run and group: rows of `agreement.analysis.primary`, which
    say of whom each interval speaks.
    """
    rows = _main(evidence, agreement.primary(evidence.results[AGREEMENT]))
    least = evidence.study.iaa.threshold
    free = ~rows["ci_kind"].isin(agreement.BOUNDS) & rows["ci_low"].notna()
    low, high = rows["ci_low"] > least, rows["ci_high"] < least
    return rows.assign(verdict=np.select([free & low, free & high], [RELIABLE, DOUBTFUL], TOO_FEW))


def reliability(evidence: Evidence) -> pd.DataFrame:
    """Reliability of the order of system means in the study's own design, by label of the main run and group."""
    return _main(evidence, agreement.reliability_of_means(evidence.results[AGREEMENT]))


def judged_twice(evidence: Evidence) -> pd.Series:
    """Of each (method, label) that people judged: whether some item was judged by two of one group."""
    sizes = evidence.people.groupby(["group", *ITEM], dropna=False, observed=True).size()
    return (sizes > 1).groupby(["method", "label"]).any()


def repeats(evidence: Evidence) -> pd.DataFrame:
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


def judges(evidence: Evidence) -> dict:
    """How much depends on who judged.

    Of the main run and group, by notebook 07 (`performance.who_judged`).

    Returns `kind`: shares (n labels tested, n_differ, rows of `annotator_share`, reversal: chances by label, `small`
    whether all upper ends are below SMALL, `open` whether nothing differs and they are not), few, unknown, fixed (why
    nothing can be said, with `people`), cannot (why no label could be analysed, with `reason`) or none (not computed,
    with `reason`). And `groups`: `between_groups`.
    """
    found, groups_ = evidence.results[PERFORMANCE], between_groups(evidence)
    first = next(iter(parts(evidence)), None)
    people = evidence.population(*first[:2]) if first else None
    if people is not None and not people.others:
        return {"kind": people.why, "people": people, "groups": groups_}
    tested = where(found["annotators_differ"], corpus=first[0], group=first[1]) if first else pd.DataFrame()
    if first is None or not len(tested):
        reason = evidence.reasons.get(PERFORMANCE) or "Notebook 07 was run by an earlier version." * bool(found)
        return {"kind": "none", "reason": reason, "groups": groups_}
    known = tested.dropna(subset="p_value")
    if known.empty:
        return {"kind": "cannot", "reason": tested["note"].iloc[0], "groups": groups_}
    rows = where(found["annotator_share"], corpus=first[0], group=first[1])
    chance = where(found["order_reversal"], corpus=first[0], group=first[1])["estimate"]
    n_differ, small = int((known["p_adjusted"] < 1 - evidence.confidence).sum()), bool((rows["ci_high"] < SMALL).all())
    facts = {"n": len(known), "n_differ": n_differ, "rows": rows, "reversal": chance, "small": small}
    return {"kind": "shares", **facts, "people": people, "part": first, "groups": groups_}


def between_groups(evidence: Evidence) -> dict | None:
    """Whether groups of annotators differ (notebook 08): None where nothing was tested.

    Returns `n` tested, `n_differ`, `n_people` tested with whole annotators permuted, `differ_people`, `possible` (how
    many of these tests could be significant at all; of the others `least`, the smallest p after adjustment that they
    can have, and `who`, the smaller group with its size), rows of `groups.differences`.
    """
    found = evidence.results[GROUPS]
    rows = groups.differences(found, evidence.confidence) if len(found["group_difference_test"]) else pd.DataFrame()
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
    known = evidence.people[evidence.people["annotator_known"]]
    sizes = known.groupby(PART)["annotator"].nunique()
    family, out = rows.groupby("method").size(), []
    for row in rows.itertuples():
        n = [int(sizes.get((row.corpus, group, row.method), 0)) for group in (row.group, row.group_b)]
        p = (2 if n[0] == n[1] else 1) / comb(sum(n), n[0]) if min(n) else 1.0
        smaller = (row.group, row.group_b)[int(n[1] < n[0])]
        out.append({"p": min(p * family[row.method], 1.0), "group": smaller, "size": min(n)})
    return pd.DataFrame(out, columns=["p", "group", "size"])


def sample(evidence: Evidence) -> dict:
    """How many comparisons of the main run and group were decided, and what difference could have been detected.

    Returns `n` comparisons, `n_differ`, `n_alike` (equivalent and not different), `open`, of which `untested` have too
    few data for a test, `margin`, `people`, and `detectable`: the labels of the main method with `estimate` (found with
    80% power after Holm's adjustment, for `people`), `more` (with MORE dialogues or pairs per system, and in proportion
    more annotators where they are a sample), `per_system` and `most_per_system` (of the systems with fewest and most),
    `sessions` and `most_sessions` (likewise, where some session has several dialogues of one system, else missing);
    empty where notebook 05 has no such results.
    """
    found, tests = evidence.results[SENSITIVITY], evidence.tests
    if tests.empty:
        return {"n": 0, "reason": evidence.reasons.get(SENSITIVITY, "")}
    key = tuple(tests.iloc[0][["corpus", "group"]])
    rows = sensitivity.verdicts(found) if len(found["equivalence"]) else pd.DataFrame()
    facts: dict[str, Any] = {"n": len(tests), "n_differ": int((tests["p_adjusted"] < 1 - evidence.confidence).sum())}
    if len(rows):
        pair = [*PART, "label", "system", "system_b"]
        rows = where(rows, corpus=key[0], group=key[1])
        differ = pd.MultiIndex.from_frame(tests.loc[tests["p_adjusted"] < 1 - evidence.confidence, pair])
        alike = rows["alike"] & ~pd.MultiIndex.from_frame(rows[pair]).isin(differ)
        facts |= {"n_alike": int(alike.sum()), "margin": float(rows["margin"].astype(float).iloc[0])}
    facts["open"] = facts["n"] - facts["n_differ"] - facts.get("n_alike", 0)
    facts["untested"] = min(int(tests["p_value"].isna().sum()), facts["open"])
    facts["people"], facts["bounded"] = evidence.tested, sensitivity.bounded(tests)
    return facts | {"detectable": _detectable(evidence, *key), "group": key[1], "corpus": key[0]}


def _detectable(evidence: Evidence, corpus: str, group: str) -> pd.DataFrame:
    """See `sample`. How much a difference's standard error shrinks follows from the systems' own numbers."""
    whom = power.SAMPLE if evidence.tested.others else power.SAME
    now = where(sensitivity.detectable(evidence.results[SENSITIVITY], people=whom), corpus=corpus, group=group)
    method = next((p[2] for p in parts(evidence) if p[:2] == (corpus, group) and p[2] in set(now["method"])), None)
    now = now[now["method"] == method] if method else now.iloc[:0]
    sizes = _per_system(evidence, corpus, group, method) if method else np.zeros(1)
    a, b = (sizes[i] for i in np.triu_indices(len(sizes), 1)) if len(sizes) > 1 else (sizes, sizes)
    with np.errstate(divide="ignore", invalid="ignore"):
        shrink = np.median(np.sqrt((1 / (a + MORE) + 1 / (b + MORE)) / (1 / a + 1 / b)))
    sessions = _per_system(evidence, corpus, group, method, ["session"]) if method else np.zeros(1)
    sessions = sessions if 0 < sessions.sum() < sizes.sum() else np.full(1, np.nan)
    now = now.assign(sessions=sessions.min(), most_sessions=sessions.max())
    return now.assign(more=now["estimate"] * shrink, per_system=int(sizes.min()), most_per_system=int(sizes.max()))


def _per_system(
    evidence: Evidence, corpus: str, group: str, method: str, of: Sequence[str] = ("dialogue", "dialogue_b")
) -> np.ndarray:
    """Dialogues or pairs, or sessions, of each system that is compared, of those that count; none where some are
    unknown."""
    own = where(evidence.counted, corpus=corpus, group=group, method=method)
    if own[of[0]].isna().any():
        return np.zeros(0)
    sides = [own[[side, *of]].set_axis(["system", *of], axis=1) for side in ("system", "system_b")]
    sizes = pd.concat(sides).dropna(subset="system").drop_duplicates().groupby("system").size()
    aside = {*evidence.study.unranked_systems, evidence.study.control_system}
    return sizes[~sizes.index.isin(list(aside))].to_numpy(float)


def cost(evidence: Evidence) -> dict:
    """What people's judgements took, by evaluation, and what a further MORE dialogues or pairs per system would.

    Returns `rows`: PART, minutes per dialogue or pair with interval, hours, money, level; `hours` and `money` of all;
    `main`, the row of the main evaluation that was timed, and `next`, the money for MORE per system by it, judged as
    often as those of the study; `together`, methods whose time is known of whole tasks only, which are one row
    (`costs.TOGETHER`); or `reason`, empty where no times are in the data. `paid`, `paid_currency` and
    `all_paid` (whether the payment of all work is known), where any is; `wage`, what was paid per hour where all of it
    is timed.
    """
    found, section = evidence.results[COST], evidence.study.costs
    money = _paid(evidence)
    rows = found.select("unit_minutes", tasks="all").dropna(subset="estimate")
    hours, dialogues = _hours(evidence)
    rows = rows.join(hours, on=PART).join(dialogues, on=PART).dropna(subset="hours")
    if rows.empty:
        timed = evidence.people["seconds"].notna().any()
        why = evidence.reasons.get(COST) or "Notebook 02 found no time of a whole task in the data." * bool(timed)
        return {"reason": why} | money
    rows["money"] = rows["hours"] * section.hourly_rate
    place = {part: i for i, part in enumerate(parts(evidence))}
    rows["part"] = [place.get(tuple(key), len(place)) for key in rows[PART].to_numpy()]
    first = rows.sort_values("part").iloc[0]
    judged = _timed_as_whole(evidence)
    n = where(judged, **{k: first[k] for k in PART})[["system", "system_b"]]
    systems = len({*n["system"], *n["system_b"].dropna()})
    more = MORE * systems / (2 if first["level"] == "pair" else 1)
    facts = {"rows": rows.drop(columns="part"), "hours": rows["hours"].sum(), "money": rows["money"].sum()}
    facts |= {"currency": section.currency, "rate": section.hourly_rate, "main": first.to_dict()}
    mixed = judged.index[(judged["method"] == costs.TOGETHER).to_numpy()]
    facts["together"] = list(dict.fromkeys(evidence.people.loc[mixed.unique(), "method"]))
    if money and money["all_paid"] and len(rows) == len(judged[PART].drop_duplicates()):
        money["wage"] = money["paid"] / facts["hours"]
    return facts | money | {"next": more * first["money"] / first["dialogues"], "next_units": more}


def _paid(evidence: Evidence) -> dict:
    """What people were paid for judging, by `quality_control.payment` (every work unit, also of those who failed) or by
    `costs.payments`; empty where neither is known."""
    control, section = evidence.study.quality_control, evidence.study.costs
    if control.payment:
        runs = evidence.results[REPEAT].select("crowd_cost", per="run")["estimate"]
        units = evidence.people[["corpus", "work_unit"]].dropna().drop_duplicates()
        total = float(runs.sum()) if len(runs) else control.payment * len(units)
        return {"paid": total, "paid_currency": control.currency, "all_paid": True} if total else {}
    amounts = costs.paid(evidence.people, evidence.study.label_list(), section.payments)
    if not amounts.notna().any():
        return {}
    return {"paid": float(amounts.sum()), "paid_currency": section.currency, "all_paid": bool(amounts.notna().all())}


def _timed_as_whole(evidence: Evidence) -> pd.DataFrame:
    """People's annotations, by `costs.as_whole` where tasks of several methods were timed as a whole."""
    people, rows = evidence.people, evidence.results[COST]["unit_minutes"]
    places = set(zip(*(rows.loc[rows["method"] == costs.TOGETHER, k] for k in PART[:2]), strict=True))
    there = pd.MultiIndex.from_frame(people[PART[:2]]).isin(list(places)) if places else np.zeros(len(people), bool)
    return pd.concat([people[~there], costs.as_whole(costs.in_units(people[there]))]) if there.any() else people


def _hours(evidence: Evidence) -> tuple[pd.Series, pd.Series]:
    """Hours of annotation by people, and dialogues or pairs judged, by PART.

    A task takes its median minutes each time one of its labels is judged; a task that the YAML does not name takes as
    long as the method's tasks on average.
    """
    task = {(label.method, label.id): label.task or label.method for label in evidence.study.label_list()}
    people, about = _timed_as_whole(evidence), ["dialogue", "dialogue_b"]
    pair, keys = people.groupby(["method", "label"], sort=False).ngroup(), people[["method", "label"]].drop_duplicates()
    tasks = np.array([task.get(key, key[0]) for key in keys.itertuples(index=False, name=None)], dtype=object)
    judged = people[[*PART, "annotator", "work_unit", *about]].assign(task=tasks[pair.to_numpy()]).drop_duplicates()
    units = judged.groupby([*PART, "task"], observed=True).size().rename("units").reset_index()
    times = evidence.results[COST].select("median_minutes").dropna(subset="estimate")
    minutes = times.set_index([*PART, "task"])["estimate"]
    own = minutes.reindex(pd.MultiIndex.from_frame(units[[*PART, "task"]])).to_numpy()
    mean = times.groupby(PART)["estimate"].mean().rename("mean")
    units["hours"] = units["units"] * units.join(mean, on=PART)["mean"].where(np.isnan(own), own) / 60
    dialogues = judged.drop_duplicates([*PART, *about]).groupby(PART).size().rename("dialogues")
    return units.groupby(PART)["hours"].sum(min_count=1), dialogues


def disagree(evidence: Evidence) -> pd.DataFrame:
    """Annotators of the main run and group who disagree with the others, and without whom alpha is higher: rows of
    `annotators.findings.disagreeing`, one for each, the largest `gain` first."""
    rows = disagreeing(evidence.results[ANNOTATORS], evidence.study.annotators.false_alarms)
    rows = _main(evidence, rows[rows["gain"] > 0])
    return rows.sort_values("gain", ascending=False, kind="stable").drop_duplicates("annotator")


def without_order(evidence: Evidence) -> str:
    """Why no label orders the systems, '' where one does."""
    judged = set(evidence.annotations[["method", "label"]].drop_duplicates().itertuples(index=False, name=None))
    known = [x for x in evidence.study.label_list() if (x.method, x.id) in judged and not x.unordered]
    return "" if any(label.direction for label in known) else undirected(known)


def separation(evidence: Evidence) -> dict | None:
    """How many times the data would separate the leader of the main evaluation from the second, where it has one label
    and they are not separated.

    Returns `first`, `second`, `times` (NaN: more than `most`), `n` judgements or comparisons, which `votes` says, and
    `others`, whether annotators are a sample; None where it does not apply.
    """
    rows = order(evidence)
    if rows.empty or pd.isna(rows["label"].iloc[0]):
        return None
    top = rows.iloc[0]
    apart = where(evidence.results[PERFORMANCE]["data_to_separate"], **{k: top[k] for k in [*PART, "label", "system"]})
    if apart.empty or apart["estimate"].iloc[0] == 1:
        return None
    row = apart.iloc[0]
    facts = {"first": row["system"], "second": row["system_b"], "times": row["estimate"], "n": int(row["n"])}
    facts |= {"most": MOST, "votes": METHODS[row["method"]].unit == "pair"}
    return facts | {"others": evidence.population(row["corpus"], row["group"]).others}


def first_share(evidence: Evidence, part: tuple[str, str, str], system: str) -> dict | None:
    """In how many combinations of an analyst's choices (notebook 16) a system has the highest mean over labels.

    Returns `n` combinations and `share` of them in which it is first; None where no choice was open, or the notebook
    does not say.
    """
    own = where(evidence.results[FRAGILITY]["first_system"], **dict(zip(PART, part, strict=True)))
    if own.empty or own["n"].iloc[0] < 2:
        return None
    return {"n": int(own["n"].iloc[0]), "share": float(own.loc[own["system"] == system, "estimate"].sum())}


def sturdiness(evidence: Evidence, corpus: str, group: str) -> dict | None:
    """What the significant differences of a run and group depend on: `fragility.findings.facts`; None where there are
    none."""
    found = evidence.results[FRAGILITY]
    facts = fragility.facts(found, corpus=corpus, group=group) if len(found["sturdy"]) else {"n": 0}
    return facts if facts["n"] else None


#: chance that other annotators order two systems the other way round, from which more are advised
OFTEN = 0.1


@dataclass(frozen=True)
class Step:
    """What to do next: kind is a passage of `text.md.j2`, facts are what it is filled with."""

    kind: str
    facts: dict


def steps(evidence: Evidence, most: int = 3) -> list[Step]:
    """What to do next, by rule, the gravest first; at most `most`.

    Who judged is not recorded: record it. A group has too few annotators to speak of others: recruit. Some label was
    never judged twice: have items judged twice, or, of people's own chats, transcripts judged by others. On the only
    label, the leader is not separated from the second: collect what would separate them. Most comparisons are open:
    collect more dialogues. Labels are doubtful: look at annotators who disagree with the others; define labels better,
    or average more annotations. Other annotators would often order two systems the other way round: recruit more.
    Agreement is known too imprecisely: judge more items twice. Times are not recorded: record them. Where nothing of
    this holds: report, if comparisons and agreement were computed.
    """
    people, out = evidence.people, []
    if len(people) and not people["annotator_known"].all():
        unknown, every = (
            people.loc[~people["annotator_known"].astype(bool), "method"].unique(),
            people["method"].unique(),
        )
        out.append(Step("record", {"methods": list(unknown) if len(unknown) < len(every) else []}))
    few = [(key, one) for key, one in evidence.populations.items() if one.why == FEW]
    if few:
        out.append(Step("recruit", {"groups": few, "least": population.LEAST}))
    trusted, found = labels(evidence), sample(evidence)
    twice = judged_twice(evidence)
    if len(twice) and not twice.all():
        facts = {"n": int((~twice).sum()), "all": not twice.any(), "own": evidence.own_chats}
        out.append(Step("twice", facts))
    if apart := separation(evidence):
        out.append(Step("separate", apart))
    elif found["n"] and 2 * found["open"] > found["n"]:
        out.append(Step("collect", found))
    doubtful = trusted[trusted["verdict"] == DOUBTFUL]
    if len(doubtful) and len(who := disagree(evidence)):
        out.append(Step("look", {"rows": who, "several": len(trusted) > 1}))
    if len(doubtful):
        out.append(Step("define", {"rows": doubtful.sort_values("estimate")}))
    who = judges(evidence)
    if who["kind"] == "shares" and who["n_differ"] and who["reversal"].median() >= OFTEN:
        out.append(Step("more", {"chance": float(who["reversal"].median())}))
    unclear = trusted[trusted["verdict"] == TOO_FEW]
    if len(unclear):
        least = {"threshold": f"{evidence.study.iaa.threshold:g}"}
        out.append(Step("overlap", {"n": len(unclear), "of": len(trusted)} | least))
    if len(people) and people["seconds"].isna().all():
        out.append(Step("time", {}))
    missing = ["comparisons of systems"] * (not found["n"]) + ["agreement"] * trusted.empty
    if not missing:
        return out[:most] or [Step("report", {"open": found["open"]})]
    return out[:most] or [Step("unknown", {"missing": missing})]
