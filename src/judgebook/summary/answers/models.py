"""Whether a model as judge decides otherwise than people, from the results of notebook 13."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from markupsafe import Markup

from judgebook.display.names import DisplayNames
from judgebook.display.text import listing
from judgebook.questions.judges.analysis import judge_titles
from judgebook.study.results import ResultRows
from judgebook.summary.answers.judge_facts import Case, GoldJudge, Line, ModelFacts
from judgebook.summary.answers.parts import Estimate
from judgebook.summary.answers.sources import estimate
from judgebook.summary.answers.verdicts import Models, not_run
from judgebook.summary.evidence import JUDGES, Evidence

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
