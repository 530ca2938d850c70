"""Does it matter who judged: facts of `summary.analysis` as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgebook.display.names import DisplayNames
from judgebook.model.fit import ANNOTATOR, TASTE
from judgebook.study.results import ResultRows, where
from judgebook.summary import wording
from judgebook.summary.analysis import SMALL
from judgebook.summary.answers import judge_facts as facts
from judgebook.summary.answers import verdicts
from judgebook.summary.answers.labels import replicated
from judgebook.summary.answers.models import models
from judgebook.summary.answers.parts import Estimate
from judgebook.summary.answers.sources import estimate
from judgebook.summary.evidence import PERFORMANCE, Evidence

_DEBIASED = {"estimate": "debiased", "ci_low": "debiased_low", "ci_high": "debiased_high"}
_CODES = {
    "few": verdicts.Judges.FEW,
    "unknown": verdicts.Judges.UNKNOWN,
    "fixed": verdicts.Judges.FIXED,
    "cannot": verdicts.Judges.CANNOT,
}


def verdict(judged: Mapping[str, Any]) -> verdicts.Judges:
    """judged : `analysis.judges`."""
    if judged["kind"] == "shares":
        if judged["small"]:
            return verdicts.Judges.LITTLE
        return verdicts.Judges.MATTERS if judged["large"] else verdicts.Judges.OPEN
    reason = judged.get("reason", "")
    absent = verdicts.Judges.NOT_RUN if verdicts.not_run(reason) else verdicts.Judges.NO_ANSWER
    return _CODES.get(judged["kind"], absent)


def judges(evidence: Evidence, judged: Mapping[str, Any], names: DisplayNames) -> facts.JudgesFacts:
    """judged : `analysis.judges`."""
    shares = judged["rows"] if judged["kind"] == "shares" else None
    named = {"strictness": ANNOTATOR, "preference": TASTE}
    parts = {} if shares is None else {name: where(shares, part=part) for name, part in named.items()}
    chance = {} if shares is None else {who: where(judged["reversal"], part=who) for who in ("annotators", "study")}
    return facts.JudgesFacts(
        who="" if shares is None else wording.analysed(judged, evidence, names),
        people=judged.get("people"),
        n=judged.get("n"),
        n_large=judged.get("large"),
        strictness=_share(evidence, parts.get("strictness")),
        preference=_share(evidence, parts.get("preference")),
        shares=[_of_label(evidence, row, part) for part, rows in parts.items() for _, row in rows.iterrows()],
        chance=chance["annotators"]["estimate"].median() if chance and len(chance["annotators"]) else None,
        chance_study=chance["study"]["estimate"].median() if chance and len(chance["study"]) else None,
        small=judged.get("small"),
        little=SMALL,
        top=None if shares is None else shares["ci_high"].max(),
        groups=_groups(evidence, judged["groups"], names),
        models=models(evidence, names),
        again=replicated(evidence, names),
    )


def _of_label(evidence: Evidence, row: Any, part: str) -> Estimate:
    return estimate(evidence, PERFORMANCE, "component_share", row, name=part)


def _share(evidence: Evidence, rows: ResultRows | None) -> facts.Share | None:
    """Over labels: median and range; of one label with its interval."""
    if rows is None or rows.empty:
        return None
    ends = {"median": rows["estimate"].median(), "low": rows["estimate"].min(), "high": rows["estimate"].max()}
    one = len(rows) == 1
    return facts.Share(**ends, row=estimate(evidence, PERFORMANCE, "component_share", rows.iloc[0]) if one else None)


def _groups(evidence: Evidence, tested: Mapping[str, Any] | None, names: DisplayNames) -> facts.Groups | None:
    """Their size is the median, as the largest of many is large by chance. tested : `analysis.between_groups`."""
    if tested is None:
        return None
    rows = tested["rows"].dropna(subset="debiased")
    smaller, size = tested.get("who", (None, None))
    one = {k: rows[column].iloc[0] for k, column in _DEBIASED.items()} if len(rows) == 1 else None
    return facts.Groups(
        **{k: tested[k] for k in ("n", "n_differ", "n_people", "differ_people", "possible")},
        n_impossible=tested["n_people"] - tested["possible"],
        least=tested.get("least"),
        smaller=names.name("group", smaller) if smaller is not None else None,
        size=size,
        median=rows["debiased"].median(),
        row=Estimate(**one, level=evidence.confidence, unit="effect size") if one else None,
    )
