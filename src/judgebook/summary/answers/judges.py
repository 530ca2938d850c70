"""Does it matter who judged, people or models: facts of `summary.analysis` as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from markupsafe import Markup

from judgebook.display.names import DisplayNames
from judgebook.display.text import listing
from judgebook.model.fit import ANNOTATOR, TASTE
from judgebook.questions.judges.analysis import judge_titles
from judgebook.study.results import ResultRows, where
from judgebook.summary import wording
from judgebook.summary.analysis import SMALL
from judgebook.summary.answers import facts as facts
from judgebook.summary.answers import verdicts
from judgebook.summary.answers.facts import Case, GoldJudge, Line, ModelFacts
from judgebook.summary.answers.labels import replicated
from judgebook.summary.answers.parts import Estimate
from judgebook.summary.answers.sources import estimate
from judgebook.summary.answers.verdicts import Models, not_run
from judgebook.summary.evidence import JUDGES, PERFORMANCE, Evidence

_CASE = ["corpus", "method", "label", "metric"]
#: shares of labels in words: of all, of more than half, of at least one, of none
_ALL, _MOST, _SOME, _NONE = "all", "most", "some", "no"


def models(evidence: Evidence, names: DisplayNames) -> ModelFacts:
    """How models agree with a person, relative to how people agree with one another."""
    if not (evidence.annotations["annotator_kind"] != "human").any():
        return ModelFacts(verdict=Models.NONE)
    study, stored = evidence.study, evidence.results[JUDGES]
    titles = judge_titles(study.groups, evidence.annotations, study.judges.titles)
    kinds = ((stored["choice_agreement"], True), (stored["judge_alpha"], False))
    chosen = {tuple(key) for key in stored["choice_agreement"][_CASE].to_numpy()}
    every = [
        case
        for rows, choices in kinds
        if len(rows)
        for key, case in _cases(evidence, rows, choices, names, titles)
        if choices or key not in chosen
    ]
    if not every and len(stored["gold_kappa"]):
        return ModelFacts(verdict=Models.ONE_LABEL, gold=_against_gold(evidence, stored["gold_kappa"], titles))
    if not every:
        reason = evidence.reasons.get(JUDGES, "")
        return ModelFacts(verdict=Models.NOT_RUN if not_run(reason) else Models.NO_ANSWER, reason=reason)
    by_judge: dict[str, list[Case]] = {}
    for case in every:
        by_judge.setdefault(case.name, []).append(case)
    n, less = len(every), sum(case.less for case in every)
    share = _NONE if not less else _ALL if less == n else _MOST if 2 * less > n else _SOME
    few = len(by_judge) < 3
    who = (
        listing(by_judge) + (" agrees" if len(by_judge) == 1 else " agree") if few else f"{len(by_judge)} models agree"
    )
    return ModelFacts(
        verdict=Models.MATTERS if less else Models.NOT_SHOWN,
        who=Markup(who),
        n=len(by_judge),
        less="" if n == len(by_judge) and less == n else share,
        cases=tuple(cases[0] for cases in by_judge.values() if len(cases) == 1),
        lines=tuple(_line(name, cases) for name, cases in by_judge.items() if len(cases) > 1),
        choices=all(case.choices for case in every),
    )


def _against_gold(evidence: Evidence, rows: ResultRows, titles: Mapping[str, str]) -> tuple[GoldJudge, ...]:
    """Kappa over all systems with the human label, by model; weighted where levels are ordered (stored last)."""
    rows = rows[rows["system"].isna()].drop_duplicates(_CASE, keep="last")
    out = []
    for judge, part in rows.groupby("metric", sort=False):
        defined = [row for _, row in part.dropna(subset="estimate").iterrows()]
        kappas = tuple(estimate(evidence, JUDGES, "gold_kappa", row) for row in defined)
        out.append(GoldJudge(name=titles.get(judge, judge), n=len(part), kappas=kappas))
    return tuple(out)


def _line(name: str, cases: list[Case]) -> Line:
    return Line(name=name, n=len(cases), less=sum(c.less for c in cases), more=sum(c.more for c in cases))


def _cases(
    evidence: Evidence, rows: ResultRows, choices: bool, names: DisplayNames, titles: Mapping[str, str]
) -> Iterator[tuple[tuple, Case]]:
    """Each label that a model judged: its agreement with a person, that of people, and their difference."""
    statistic = "choice_agreement" if choices else "judge_alpha"
    for key, part in rows.groupby(_CASE, sort=False, dropna=False):
        by_pair = {"judge" if row["pair"] == "mean" else row["pair"]: row for _, row in part.iterrows()}
        gap: Estimate = estimate(evidence, JUDGES, statistic, by_pair["difference"])
        case = Case(
            name=titles.get(key[3], key[3]),
            label=names.name("label", key[2], key[1]),
            judge=by_pair["judge"]["estimate"],
            people=by_pair["people"]["estimate"],
            difference=gap,
            less=gap.ci_high is not None and gap.ci_high < 0,
            more=gap.ci_low is not None and gap.ci_low > 0,
            choices=choices,
        )
        yield tuple(key), case


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
