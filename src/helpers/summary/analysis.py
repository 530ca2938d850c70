"""What a practitioner asks of a study, answered from the stored results of its notebooks.

Which system is best, which labels can be trusted, does it matter who judged, was the sample large enough, what did it
cost, and what to do next. Nothing is estimated here that a notebook does not estimate. Where several evaluations (run,
group and method) could answer, the main one does: see `parts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from helpers.agreement import analysis as agreement
from helpers.agreement.findings import TENTATIVE
from helpers.annotations import summary
from helpers.annotations.scores import known_people
from helpers.fragility import findings as fragility
from helpers.groups import analysis as groups
from helpers.groups.analysis import BOTH, DIFFERS
from helpers.performance.analysis import two_intervals
from helpers.sensitivity import analysis as sensitivity
from helpers.study import params, results, store
from helpers.study.labels import METHODS
from helpers.study.params import Study
from helpers.study.results import Results, where
from helpers.study.schema import ANNOTATIONS, ITEM

COST, AGREEMENT, SENSITIVITY = "02_collection_stats", "03_iaa", "05_sensitivity"
PERFORMANCE, GROUPS, REPEAT = "07_bot_performance", "08_group_effects", "10_quality_control"
FRAGILITY = "16_fragility"
#: the notebooks that answer
NOTEBOOKS = (COST, AGREEMENT, SENSITIVITY, PERFORMANCE, GROUPS, REPEAT, FRAGILITY)
PART = ["corpus", "group", "method"]
#: what the interval of alpha says of a label: above the customary threshold, below it, or neither
RELIABLE, DOUBTFUL, TOO_FEW = "reliable", "doubtful", "too few data"
#: dialogues or pairs per system by which a sample grows in "what would more buy?"
MORE = 10


@dataclass(frozen=True)
class Evidence:
    """What the answers follow from.

    annotations : those of the evaluation (`summary.evaluated`). results : notebook -> its results, empty where it was
    not run. reasons : notebook -> why it was not, a sentence.
    """

    study: Study
    annotations: pd.DataFrame
    results: Mapping[str, Results]
    reasons: Mapping[str, str]

    @cached_property
    def people(self) -> pd.DataFrame:
        return self.annotations[self.annotations["annotator_kind"] == "human"]

    @cached_property
    def tests(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Comparisons of two systems by the main run and group: same annotators, and with annotators as a sample."""
        found = self.results[SENSITIVITY]
        out = []
        for rows in (sensitivity.primary(found), sensitivity.with_people(found)):
            rows = rows.dropna(subset="p_value")
            there = set(rows[["corpus", "group"]].drop_duplicates().itertuples(index=False, name=None))
            known = next((part[:2] for part in parts(self) if part[:2] in there), None)
            out.append(where(rows, corpus=known[0], group=known[1]) if known else rows.iloc[:0])
        return out[0], out[1]

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
    stored = {name: home / "results" / f"{name}.parquet" for name in NOTEBOOKS}
    found = {name: results.read(p, **sensitivity.ASKED) if p.is_file() else Results() for name, p in stored.items()}
    return Evidence(loaded, summary.evaluated(annotations), found, reasons)


def parts(evidence: Evidence) -> list[tuple[str, str, str]]:
    """Run, group and method of each evaluation by people (by all judges where there are none), the main one first.

    The main run is the one with most annotations, its main group that of `summary.main_group`, and the main method the
    one by which this group gave most annotations.
    """
    judged = evidence.people if len(evidence.people) else evidence.annotations
    if judged.empty:
        return []
    sizes = judged.groupby(PART, sort=False).size().rename("n").reset_index()
    run = sizes.groupby("corpus", sort=False)["n"].sum().idxmax()
    group = summary.main_group(judged[judged["corpus"] == run])
    sizes = sizes.assign(run=sizes["corpus"] == run, main=sizes["group"] == group)
    sizes = sizes.sort_values(["run", "main", "n"], ascending=False, kind="stable")
    return list(sizes[PART].itertuples(index=False, name=None))


def order(evidence: Evidence) -> pd.DataFrame:
    """Every evaluation's order of the systems: of the overall mean, or of its only label.

    Returns one row per evaluation and system, the main evaluation and the best system first: PART, label (missing for
    an overall mean), n_labels, system, estimate, ci_low, ci_high, unit (`SD`, `share` or `score`), rank, rank_low,
    rank_high, ci_kind (of the rank), over (what intervals resample), n, note.
    """
    found = evidence.results[PERFORMANCE]
    frames = [f for f in (_overall(found), _of_one_label(found, evidence.study)) if len(f)]
    if not frames:
        return pd.DataFrame(columns=[*PART, "label", "system", "rank", "rank_low", "rank_high"])
    rows = pd.concat(frames, ignore_index=True)
    place = {part: i for i, part in enumerate(parts(evidence))}
    rows["part"] = [place.get(tuple(key), -1) for key in rows[PART].to_numpy()]
    return rows[rows["part"] >= 0].sort_values(["part", "rank"], kind="stable").drop(columns="part")


def _overall(found: Results) -> pd.DataFrame:
    keys = [*PART, "system"]
    rank = found["overall_rank"].set_index(keys)[["estimate", "ci_low", "ci_high", "ci_kind"]]
    rank = rank.set_axis(["rank", "rank_low", "rank_high", "rank_kind"], axis=1)
    mean = found["overall_mean"].rename(columns={"n": "n_labels", "n_clusters": "n"})
    return mean.join(rank, on=keys).assign(label=None, unit="SD", over=mean["resample_unit"])


def _of_one_label(found: Results, study: Study) -> pd.DataFrame:
    """Orders of evaluations with one label that has a direction, which have no overall mean."""
    keys = [*PART, "system", "label"]
    rank = found["rank"]
    alone = rank.groupby(PART)["label"].transform("nunique") == 1
    rank = rank[alone].drop_duplicates(keys).set_index(keys)[["estimate", "ci_low", "ci_high", "ci_kind"]]
    if rank.empty:
        return pd.DataFrame()
    rank = rank.set_axis(["rank", "rank_low", "rank_high", "rank_kind"], axis=1)
    scores = two_intervals(found)
    scores = scores[scores["outcome"].isin(["", "win"])]
    scores = scores.assign(unit=np.where(scores["statistic"] == "mean", "score", "share"))
    strengths = found["strength"].dropna(subset="estimate").drop_duplicates(keys).assign(unit="strength")
    of_strength = pd.MultiIndex.from_frame(scores[keys]).isin(pd.MultiIndex.from_frame(strengths[keys]))
    out = pd.concat([strengths, scores[~of_strength]], ignore_index=True).join(rank, on=keys, how="inner")
    return out.rename(columns={"n_clusters": "n", "n": "n_items"}).assign(n_labels=1, over=out["resample_unit"])


def leaders(rows: pd.DataFrame) -> dict:
    """What simultaneous rank intervals say of one evaluation's order.

    rows : of one evaluation, from `order`. Returns `top` (its row), `n` systems, `sure` (first with confidence),
    `wins` and `ties` of the first system: systems certainly worse, and not distinguishable from it; `rivals`, the
    others that may be first.
    """
    top = rows.iloc[0]
    known = rows["rank_low"].notna().all()
    wins = int(len(rows) - top["rank_high"]) if known else 0
    rivals = list(rows["system"].iloc[1:][rows["rank_low"].iloc[1:] == 1]) if known else list(rows["system"].iloc[1:])
    facts = {"top": top.to_dict(), "n": len(rows), "known": bool(known), "sure": bool(known and top["rank_high"] == 1)}
    return facts | {"wins": wins, "ties": len(rows) - 1 - wins, "rivals": rivals, "any": len(rivals) == len(rows) - 1}


def labels(evidence: Evidence) -> pd.DataFrame:
    """Every label's agreement, with `verdict`.

    RELIABLE where the interval of alpha lies above the customary 0.667, DOUBTFUL where it lies below, TOO_FEW where it
    contains 0.667, cannot be estimated, or no item was judged twice. Of the main run and group.

    Returns PART, label, estimate, ci_low, ci_high, ci_kind, n, n_clusters, resample, verdict.
    """
    rows = agreement.judged(evidence.results[AGREEMENT])
    free = ~rows["ci_kind"].isin(agreement.BOUNDS) & rows["ci_low"].notna()
    low, high = rows["ci_low"] > TENTATIVE, rows["ci_high"] < TENTATIVE
    rows = rows.assign(verdict=np.select([free & low, free & high], [RELIABLE, DOUBTFUL], TOO_FEW))
    known = set(rows[["corpus", "group"]].itertuples(index=False, name=None))
    first = next((part[:2] for part in parts(evidence) if part[:2] in known), None)
    return where(rows, corpus=first[0], group=first[1]) if first else rows.iloc[:0]


def judged_twice(evidence: Evidence) -> pd.Series:
    """Of each (method, label) that people judged: whether some item was judged by two of one group."""
    sizes = evidence.people.groupby(["group", *ITEM], dropna=False, observed=True).size()
    return (sizes > 1).groupby(["method", "label"]).any()


def repeats(evidence: Evidence) -> pd.DataFrame:
    """r between system means of two runs, over all workers and standardised scores, by label and overall.

    Rows of `replication_r` of the first run that was compared with another; empty in studies with one run.
    """
    rows = evidence.results[REPEAT].select(
        "replication_r", among="systems", interval="workers", workers="all", scores="z", list=None, standardised="all"
    )
    rows = rows.dropna(subset="estimate")
    return rows[rows["corpus"] == rows["corpus"].iloc[0]] if len(rows) else rows


def judges(evidence: Evidence) -> dict:
    """Whether groups differ, or (with one group) what remains where annotators count as a sample.

    Returns `kind`: groups (n tested, n_differ, n_people tested with annotators permuted, differ_people, rows of
    `groups.differences`), annotators (n pairs, n_same significant for the same annotators, n_people for others as
    well, `lost` whether that is three quarters or fewer, `part` they are of), unknown (the data do not say who judged)
    or none (with `reason`).
    """
    found = evidence.results[GROUPS]
    rows = groups.differences(found, evidence.confidence) if len(found["group_difference_test"]) else pd.DataFrame()
    level = 1 - evidence.confidence
    if len(rows) and rows["p_adjusted"].notna().any():
        by_people = rows["p_people"].dropna()
        facts = {"kind": "groups", "rows": rows, "n": int(rows["p_adjusted"].count())}
        facts |= {"n_differ": int(rows["verdict"].isin([DIFFERS, BOTH]).sum()), "n_people": len(by_people)}
        return facts | {"differ_people": int((by_people < level).sum())}
    tests, people = evidence.tests
    if len(people):
        keys = [*PART, "label", "system", "system_b"]
        same = tests.set_index(keys)["p_adjusted"].reindex(pd.MultiIndex.from_frame(people[keys]))
        facts = {"kind": "annotators", "n": len(people), "n_same": int((same < level).sum())}
        part = (*people.iloc[0][["corpus", "group"]], None)
        facts |= {"n_people": int((people["p_adjusted"] < level).sum()), "part": part}
        return facts | {"lost": 4 * facts["n_people"] <= 3 * facts["n_same"] and facts["n_same"] > 0}
    if not known_people(evidence.people):
        return {"kind": "unknown", "humans": len(evidence.people) > 0}
    return {"kind": "none", "reason": evidence.reasons.get(SENSITIVITY) or evidence.reasons.get(GROUPS, "")}


def sample(evidence: Evidence) -> dict:
    """How many comparisons of the main run and group were decided, and what difference could have been detected.

    Returns `n` comparisons, `n_differ`, `n_alike` (equivalent and not different), `n_open`, `margin`, and `detectable`:
    the labels of the main method with `estimate` (80% power, same annotators, as large as the sample was), `more` (with
    MORE dialogues or pairs per system) and `per_system`; empty where notebook 05 has no such results.
    """
    found, tests = evidence.results[SENSITIVITY], evidence.tests[0]
    if tests.empty:
        return {"n": 0, "reason": evidence.reasons.get(SENSITIVITY, "")}
    key = tuple(tests.iloc[0][["corpus", "group"]])
    rows = sensitivity.verdicts(found) if len(found["equivalence"]) else pd.DataFrame()
    facts = {"n": len(tests), "n_differ": int((tests["p_adjusted"] < 1 - evidence.confidence).sum())}
    if len(rows):
        rows = where(rows, corpus=key[0], group=key[1])
        alike = rows["alike"] & ~rows["differ"]
        facts |= {"n_alike": int(alike.sum()), "margin": float(rows["margin"].astype(float).iloc[0])}
    now = found.select("detectable_effect", corpus=key[0], group=key[1], n_dialogues=None).dropna(subset="estimate")
    methods = [part[2] for part in parts(evidence) if part[:2] == key and part[2] in set(now["method"])]
    now = now[now["method"] == methods[0]] if methods else now.iloc[:0]
    size = _per_system(evidence, tests, *key, methods[0]) if methods else 0
    now = now.assign(more=now["estimate"] * np.sqrt(size / (size + MORE)), per_system=size)
    facts["open"] = facts["n"] - facts["n_differ"] - facts.get("n_alike", 0)
    return facts | {"detectable": now, "group": key[1], "corpus": key[0]}


def _per_system(evidence: Evidence, tests: pd.DataFrame, corpus: str, group: str, method: str) -> int:
    """Median number of dialogues, or pairs, per system that the group judged; of dialogues, those that were tested
    (where workers are screened, fewer than were judged)."""
    if METHODS[method].unit != "pair":
        return int(where(tests, method=method)["n"].median() / 2)
    own = where(evidence.annotations, corpus=corpus, group=group, method=method)
    dialogues = own[["system", "dialogue", "system_b", "dialogue_b"]].drop_duplicates()
    sizes = dialogues.groupby("system").size().add(dialogues.groupby("system_b").size(), fill_value=0)
    return int(sizes.median())


def cost(evidence: Evidence) -> dict:
    """What people's judgements took, by evaluation, and what a further MORE dialogues or pairs per system would.

    Returns `rows`: PART, minutes per dialogue or pair with interval, hours, money, level; `hours` and `money` of all;
    `main`, the row of the main evaluation that was timed, and `next`, the money for MORE per system by it, judged as
    often as those of the study; or `reason`.
    """
    found, section = evidence.results[COST], evidence.study.costs
    rows = found.select("unit_minutes", tasks="all").dropna(subset="estimate")
    hours, dialogues = _hours(evidence)
    rows = rows.join(hours, on=PART).join(dialogues, on=PART).dropna(subset="hours")
    if rows.empty:
        return {"reason": evidence.reasons.get(COST, "")}
    rows["money"] = rows["hours"] * section.hourly_rate
    place = {part: i for i, part in enumerate(parts(evidence))}
    rows["part"] = [place.get(tuple(key), len(place)) for key in rows[PART].to_numpy()]
    first = rows.sort_values("part").iloc[0]
    n = where(evidence.people, **{k: first[k] for k in PART})[["system", "system_b"]]
    systems = len({*n["system"], *n["system_b"].dropna()})
    more = MORE * systems / (2 if first["level"] == "pair" else 1)
    facts = {"rows": rows.drop(columns="part"), "hours": rows["hours"].sum(), "money": rows["money"].sum()}
    facts |= {"currency": section.currency, "rate": section.hourly_rate, "main": first.to_dict()}
    return facts | {"next": more * first["money"] / first["dialogues"], "next_units": more}


def _hours(evidence: Evidence) -> tuple[pd.Series, pd.Series]:
    """Hours of annotation by people, and dialogues or pairs judged, by PART.

    A task takes its median minutes each time one of its labels is judged; a task that the YAML does not name takes as
    long as the method's tasks on average.
    """
    task = {(label.method, label.id): label.task or label.method for label in evidence.study.label_list()}
    people, about = evidence.people, ["dialogue", "dialogue_b"]
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


#: annotators of a group, or of a study, below which nothing is said about others
FEW_PEOPLE = 5


@dataclass(frozen=True)
class Step:
    """What to do next: kind is a passage of `text.md.j2`, facts are what it is filled with."""

    kind: str
    facts: dict


def steps(evidence: Evidence, most: int = 3) -> list[Step]:
    """What to do next, by rule, the gravest first; at most `most`.

    Who judged is not recorded: record it. A group has fewer than FEW_PEOPLE annotators: recruit. Some label was never
    judged twice: have items judged twice. Most comparisons are open: collect more dialogues. Labels are doubtful:
    define them better, or average more annotations. A quarter of the significant differences or more is lost where
    annotators count as a sample: recruit more. Agreement is known too imprecisely: judge more items twice. Times are
    not recorded: record them. Where nothing of this holds: report, if comparisons and agreement were computed.
    """
    people, out = evidence.people, []
    if len(people) and not people["annotator_known"].all():
        out.append(Step("record", {}))
    known = people[people["annotator_known"]].groupby("group", sort=False)["annotator"].nunique()
    few = known[known < FEW_PEOPLE]
    if len(few):
        out.append(Step("recruit", {"groups": list(few.items()), "least": FEW_PEOPLE}))
    trusted, found = labels(evidence), sample(evidence)
    twice = judged_twice(evidence)
    if len(twice) and not twice.all():
        out.append(Step("twice", {"n": int((~twice).sum()), "all": not twice.any()}))
    if found["n"] and 2 * found["open"] > found["n"]:
        out.append(Step("collect", found))
    doubtful = trusted[trusted["verdict"] == DOUBTFUL]
    if len(doubtful):
        out.append(Step("define", {"rows": doubtful.sort_values("estimate")}))
    who = judges(evidence)
    if who.get("lost"):
        out.append(Step("more", {"n_same": who["n_same"], "n_people": who["n_people"]}))
    unclear = trusted[(trusted["verdict"] == TOO_FEW) & (trusted["n"] > 0)]
    if len(unclear):
        out.append(Step("overlap", {"n": len(unclear), "of": len(trusted)}))
    if len(people) and people["seconds"].isna().all():
        out.append(Step("time", {}))
    missing = ["comparisons of systems"] * (not found["n"]) + ["agreement"] * trusted.empty
    if not missing:
        return out[:most] or [Step("report", {"open": found["open"]})]
    return out[:most] or [Step("unknown", {"missing": missing})]
