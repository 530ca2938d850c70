"""The answers of a study's first page: who was counted, and facts as data (`answers`), put into words by
`text.md.j2`.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import pandas as pd
from markupsafe import Markup

from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Plot
from judgebook.questions.performance.analysis import chosen
from judgebook.questions.performance.leading import PART
from judgebook.questions.quality_control.worker_tests import OVERALL
from judgebook.study import questions
from judgebook.summary import analysis, figures, wording
from judgebook.summary.analysis import steps
from judgebook.summary.answers import effort, judges, labels, systems, verdicts
from judgebook.summary.answers.facts import Detectable, Facts, NextFacts, SampleFacts, Step
from judgebook.summary.answers.parts import QUESTIONS, Stage
from judgebook.summary.answers.verdicts import Verdict, not_run
from judgebook.summary.cost import cost
from judgebook.summary.evidence import (
    AGREEMENT,
    COST,
    GROUPS,
    PERFORMANCE,
    REPEAT,
    Evidence,
    first_part,
    of_part,
    once,
    parts,
)


@once
def stages(evidence: Evidence) -> list[Stage]:
    """Who judged in all corpora (where there are pilots and others), was enrolled (where some did not answer),
    answered, passed quality control (where there is one), was used for the first answer; and models that judged."""
    return list(_stages(evidence))


def _stages(evidence: Evidence) -> Iterator[Stage]:
    people, every = evidence.people, evidence.annotations
    answered = _stage("answered", people)
    if evidence.everything is not None:
        whole = evidence.everything
        yield _stage("everything", whole[whole["annotator_kind"] == "human"])
    if answered.per_run and not answered.others and evidence.enrolled > answered.per_run:
        yield Stage("enrolled", None, evidence.enrolled)
    if len(people):
        yield answered
    models = every[every["annotator_kind"] != "human"]
    if len(models):
        yield _stage("models", models)
    if len(evidence.counted) < len(every):
        yield _stage("passed", evidence.counted)
    if one := first_part(evidence):
        yield _stage("used", used(evidence, one))


def used(evidence: Evidence, part: tuple[str, str, str]) -> pd.DataFrame:
    """The judgements from which the systems of an evaluation (PART) are ranked."""
    study = evidence.study
    rows = chosen(evidence.counted, study.unranked_systems, study.label_list())
    rows = of_part(rows, part)
    aside = [*study.unranked_systems, *([study.control_system] if study.control_system else [])]
    return rows[~rows["system"].isin(aside) & ~rows["system_b"].isin(aside)]


def _stage(kind: str, rows: pd.DataFrame) -> Stage:
    identified = rows[rows["annotator_known"].astype(bool)]
    people = identified["annotator"].nunique() if len(identified) else None
    per_run = len(identified[["corpus", "annotator"]].drop_duplicates()) if len(identified) else None
    sides = [rows[["corpus", side]].dropna().set_axis(["corpus", "dialogue"], axis=1) for side in
             ("dialogue", "dialogue_b")]  # fmt: skip
    dialogues = len(pd.concat(sides).drop_duplicates())
    return Stage(kind, people, per_run, dialogues, len(rows), len(identified) < len(rows))


_PHRASES = Phrases(__package__)
Compared: TypeAlias = Mapping[str, Any]
#: the notebooks that each answer draws on
USED = {key: questions.answering(key) for key in QUESTIONS}


@dataclass(frozen=True)
class PageAnswer:
    """An answer in Markdown and as data, with its figure and the notebook with the evidence (stem of its page; empty
    where there is none).

    key : of QUESTIONS, or a notebook that answers a question of its own. The first paragraph of the text is the answer,
    the rest says why. facts : what the text is filled with; None where there is no answer, for which `reason` says why,
    or where a notebook states its own.
    """

    key: str
    verdict: Verdict
    text: str
    facts: Facts | None = None
    reason: str = ""
    notebook: str = ""
    plot: Plot | None = None

    @property
    def question(self) -> str:
        return QUESTIONS.get(self.key) or questions.declared()[self.key].first_page


@dataclass(frozen=True)
class Preface:
    """What stands above the answers, in Markdown: a table of who was counted, the same in a line (`used`), and whom the
    answers are about."""

    counted: str
    used: str
    whom: str


def preface(evidence: Evidence) -> Preface | None:
    """What readers know before the answers; None for a study without annotations."""
    main, one = next(iter(parts(evidence)), None), first_part(evidence)
    if main is None or one is None:
        return None
    names = evidence.names
    rows = stages(evidence)
    who = wording.run_and_group(main, evidence, names)
    runs = evidence.people["corpus"].nunique()
    of_first = wording.run_and_group(one, evidence, names)
    table = _PHRASES.say("counted", rows=rows, who=of_first)
    line = _PHRASES.say("counted_line", rows=rows, who=of_first, runs=runs, judged=len(evidence.people))
    used = next((row.people for row in rows if row.kind == "used"), None)
    whole = None if one == main else evidence.population(*one[:2])
    about = _PHRASES.say("about", people=evidence.population(*main[:2]), who=who, used=used, whole=whole)
    return Preface(table, line, about)


def open_questions(n: int, facts: list[str]) -> str:
    """How many of how the data are read nobody confirmed, and which, as a line of Markdown."""
    return _PHRASES.say("open_questions", n=n, facts=facts)


def answers(evidence: Evidence) -> list[PageAnswer]:
    """The six answers and those that questions declare, in the order in which they are asked; none for a study without
    annotations."""
    if evidence.annotations.empty:
        return []
    names = evidence.names
    compared = analysis.sample(evidence)
    detectable = systems.detectable(evidence, compared, names)
    return [
        _order(evidence, names),
        _labels(evidence, names),
        _judges(evidence, names),
        _sample(evidence, compared, names),
        _cost(evidence, compared, detectable, names),
        *_declared(evidence, names),
        _next(evidence, names, detectable),
    ]


def _declared(evidence: Evidence, names: DisplayNames) -> Iterator[PageAnswer]:
    for notebook, module in questions.on_first_page().items():
        if stored := evidence.results.get(notebook):
            text, plot = importlib.import_module(module).answer(evidence.study, stored, names)
            if text:  # a question that has nothing to say is not asked
                yield PageAnswer(notebook, verdicts.Other.STATED, text, notebook=notebook, plot=plot)


def _answer(evidence: Evidence, key: str, verdict: Verdict, text: str, notebook: str, **more: Any) -> PageAnswer:
    """With a link only to a notebook that was run, and the reasons in one list."""
    text = re.sub(r"(?<=\S)\n+(?=- )", "\n", text).replace("\n- ", "\n\n- ", 1)
    return PageAnswer(key, verdict, text, notebook=notebook if evidence.results.get(notebook) else "", **more)


def _order(evidence: Evidence, names: DisplayNames) -> PageAnswer:
    rows, codes = analysis.order(evidence), verdicts.Order
    if rows.empty:
        undirected, reason = analysis.without_order(evidence), evidence.reasons.get(PERFORMANCE, "")
        if evidence.results[PERFORMANCE] and not reason:
            reason = _PHRASES.say("no_overall")
        one = len({*evidence.annotations["system"], *evidence.annotations["system_b"].dropna()}) < 2
        absent = codes.NOT_RUN if not_run(reason) else codes.NO_ANSWER
        verdict = codes.ONE_SYSTEM if one else codes.NO_DIRECTION if undirected else absent
        why = Markup(undirected) if undirected and not one else reason
        highest = analysis.highest(evidence) if verdict == codes.NO_DIRECTION else []
        told = [systems.highest(one, names) for one in highest]
        text = _PHRASES.say("no_order", verdict=verdict, reason=why, highest=told)
        return _answer(evidence, "order", verdict, text, PERFORMANCE, reason=why)
    facts = systems.order(evidence, rows, names)
    verdict = systems.order_verdict(facts)
    main = next(iter(rows.groupby(PART, sort=False)))[1]
    text = _PHRASES.of("order", facts, verdict=verdict)
    return _answer(
        evidence, "order", verdict, text, PERFORMANCE, facts=facts, plot=figures.order(main, names, facts.who)
    )


def _labels(evidence: Evidence, names: DisplayNames) -> PageAnswer:
    judged = analysis.labels(evidence)
    if judged.empty:
        return _repeats(evidence, names)
    facts = labels.agreement(evidence, judged, names)
    verdict = labels.agreement_verdict(facts)
    text, plot = _PHRASES.of("labels", facts, verdict=verdict), figures.labels(judged, names, facts.least)
    return _answer(evidence, "labels", verdict, text, AGREEMENT, facts=facts, plot=plot)


def _repeats(evidence: Evidence, names: DisplayNames) -> PageAnswer:
    """Where no item was judged twice: whether system means repeat in another run."""
    facts, reason = labels.replication(evidence, names), evidence.reasons.get(AGREEMENT, "")
    absent = verdicts.Labels.NOT_RUN if not_run(reason) else verdicts.Labels.NO_ANSWER
    verdict = absent if facts.twice else verdicts.Labels.JUDGED_ONCE
    text, rows = _PHRASES.of("repeats", facts, verdict=verdict, reason=reason), analysis.repeats(evidence)
    plot = figures.repeats(rows[rows["label"] != OVERALL], names)
    return _answer(evidence, "labels", verdict, text, REPEAT, facts=facts, reason=reason, plot=plot)


def _judges(evidence: Evidence, names: DisplayNames) -> PageAnswer:
    judged = analysis.judges(evidence)
    facts, verdict, reason = judges.judges(evidence, judged, names), judges.verdict(judged), judged.get("reason", "")
    text = _PHRASES.of("judges", facts, verdict=verdict, reason=reason)
    by_performance = judged["kind"] == "shares" or (judged["kind"] == "cannot" and not judged["groups"])
    notebook = PERFORMANCE if by_performance else GROUPS if judged["groups"] else ""
    plot = figures.judges(judged, names)
    return _answer(evidence, "judges", verdict, text, notebook, facts=facts, reason=reason, plot=plot)


def _sample(evidence: Evidence, compared: Compared, names: DisplayNames) -> PageAnswer:
    if not compared["n"]:
        reason = compared["reason"]
        absent = verdicts.Sample.NOT_RUN if not_run(reason) else verdicts.Sample.NO_ANSWER
        return _answer(evidence, "sample", absent, _PHRASES.say("missing", reason=reason), PERFORMANCE, reason=reason)
    facts = systems.sample(evidence, compared, names)
    verdict, text = of_sample(facts)
    return _answer(evidence, "sample", verdict, text, PERFORMANCE, facts=facts, plot=figures.sample(compared))


def of_sample(facts: SampleFacts) -> tuple[Verdict, str]:
    """The verdict on how many comparisons were decided, and the text of the answer."""
    verdict = systems.sample_verdict(facts.n, facts.open)
    return verdict, _PHRASES.of("sample", facts, verdict=verdict)


def _cost(evidence: Evidence, compared: Compared, detectable: Detectable | None, names: DisplayNames) -> PageAnswer:
    spent = cost(evidence)
    gain, reason = None if compared["n"] else evidence.reasons.get(PERFORMANCE, ""), spent.get("reason", "")
    facts, verdict = effort.cost(evidence, spent, detectable, gain, names), effort.cost_verdict(spent)
    text = _PHRASES.of("cost", facts, verdict=verdict, reason=reason)
    plot = None if detectable and detectable.beyond else figures.cost(compared)
    return _answer(evidence, "cost", verdict, text, COST, facts=facts, reason=reason, plot=plot)


def _next(evidence: Evidence, names: DisplayNames, detectable: Detectable | None) -> PageAnswer:
    """The steps in a line, and below it each with its reason; where there is nothing to do, that only."""
    todo = [effort.step(step, evidence, names, detectable) for step in steps(evidence)]
    said = [_PHRASES.say(step.kind, **_filled(step)) for step in todo]
    brief = [_PHRASES.say("brief", kind=step.kind, facts=step.facts) for step in todo]
    verdict, facts = todo[0].kind, NextFacts(steps=todo)
    if not brief[0]:
        return PageAnswer("next", verdict, said[0], facts)
    listed = "\n".join(f"{i}. {text}" for i, text in enumerate(said, start=1))
    plan = _PHRASES.say("plan", parts=[Markup(b) for b in dict.fromkeys(brief)])
    return PageAnswer("next", verdict, f"{plan}\n\n{listed}", facts)


def _filled(step: Step) -> dict[str, Any]:
    """Facts of a step, for its passage: detectable differences with a name each."""
    facts = dict(step.facts)
    if step.kind != verdicts.Next.COLLECT:
        return facts
    sizes, names = facts.pop("detectable"), ("size", "twice", "unit", "doubled", "scale", "beyond", "others", "power")
    return facts | {name: getattr(sizes, name, "") for name in names} | {"now": getattr(sizes, "median", "")}
