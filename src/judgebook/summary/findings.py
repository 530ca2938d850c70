"""The answers of a study's first page: facts from `analysis`, put into words by `text.md.j2`."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from markupsafe import Markup

from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Plot
from judgebook.questions.agreement.tables import TENTATIVE
from judgebook.questions.fragility import findings as fragility
from judgebook.questions.performance import leading
from judgebook.questions.performance.leading import PART
from judgebook.questions.performance.who_judged import PARTS
from judgebook.questions.quality_control.worker_tests import OVERALL
from judgebook.statistics.bounded_means import MOST_VALUES
from judgebook.study import questions
from judgebook.study.labels import METHODS
from judgebook.study.results import where
from judgebook.summary import analysis, counted, figures, wording
from judgebook.summary.analysis import DOUBTFUL, RELIABLE, TOO_FEW
from judgebook.summary.cost import MORE, cost
from judgebook.summary.evidence import (
    AGREEMENT,
    COST,
    FRAGILITY,
    GROUPS,
    PERFORMANCE,
    REPEAT,
    SENSITIVITY,
    Evidence,
    parts,
)
from judgebook.summary.model_judges import models
from judgebook.summary.next_steps import NextStep, steps

_PHRASES = Phrases(__package__)
Facts: TypeAlias = Mapping[str, Any]
#: annotators who disagree, and doubtful labels, that are named
LISTED = 3
#: key of an answer -> what is asked
QUESTIONS = {
    "order": "Which system is best, and how certain is that?",
    "labels": "Which labels can be trusted?",
    "judges": "Does it matter who judged?",
    "sample": "Were there enough data, and what could have been detected?",
    "cost": "What did it cost, and what would more dialogues buy?",
    "next": "What should be done next?",
}
#: the notebooks that each answer draws on
USED = {key: questions.answering(key) for key in QUESTIONS}


@dataclass(frozen=True)
class PageAnswer:
    """An answer in Markdown, with its figure and the notebook with the evidence (stem of its page; empty where there is
    none). key : of QUESTIONS, or a notebook that answers a question of its own. The first paragraph of the text is the
    answer, the rest says why."""

    key: str
    text: str
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
    main = next(iter(parts(evidence)), None)
    if main is None:
        return None
    names = evidence.names
    rows = counted.stages(evidence)
    who = wording.run_and_group(main, evidence, names)
    runs = evidence.people["corpus"].nunique()
    table = _PHRASES.say("counted", rows=rows, who=who)
    line = _PHRASES.say("counted_line", rows=rows, who=who, runs=runs, judged=len(evidence.people))
    used = next((row.people for row in rows if row.kind == "used"), None)
    about = _PHRASES.say("about", people=evidence.population(*main[:2]), who=who, used=used)
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
    detectable = wording.detectable_differences(compared, names)
    return [
        _order(evidence, names),
        _labels(evidence, names),
        _judges(evidence, names),
        _sample(evidence, compared, detectable, names),
        _cost(evidence, compared, detectable, names),
        *_declared(evidence, names),
        _next(evidence, names, detectable),
    ]


def _declared(evidence: Evidence, names: DisplayNames) -> Iterator[PageAnswer]:
    for notebook, module in questions.on_first_page().items():
        if stored := evidence.results.get(notebook):
            text, plot = importlib.import_module(module).answer(evidence.study, stored, names)
            yield PageAnswer(notebook, text, notebook, plot)


def _answer(evidence: Evidence, key: str, text: str, notebook: str, plot: Plot | None = None) -> PageAnswer:
    """With a link only to a notebook that was run, and the reasons in one list."""
    text = re.sub(r"(?<=\S)\n+(?=- )", "\n", text).replace("\n- ", "\n\n- ", 1)
    return PageAnswer(key, text, notebook if evidence.results.get(notebook) else "", plot)


def _order(evidence: Evidence, names: DisplayNames) -> PageAnswer:
    rows = analysis.order(evidence)
    notebook = PERFORMANCE
    if rows.empty:
        one = len({*evidence.annotations["system"], *evidence.annotations["system_b"].dropna()}) < 2
        facts = {"undirected": Markup(analysis.without_order(evidence)), "reason": evidence.reasons.get(notebook, "")}
        return _answer(evidence, "order", _PHRASES.say("no_order", one=one, **facts), notebook)
    blocks = list(rows.groupby(PART, sort=False))
    (part, main), others = blocks[0], blocks[1:]
    facts = leading.leaders(main)
    leaders = [(leading.leaders(of_part), wording.evaluation(p, evidence, names)) for p, of_part in others]
    sure = [(names.name("system", lead["top"]["system"]), who) for lead, who in leaders if lead["sure"]]
    other = {"n": len(others), "sure": sure, "names": [who for _, who in leaders]}
    facts |= {"name": names.name("system", facts["top"]["system"]), "who": wording.evaluation(part, evidence, names)}
    facts["rivals"] = [names.name("system", s) for s in facts["rivals"]]
    facts |= {
        "label": wording.label_of_order(main, names),
        "n_labels": int(main["n_labels"].iloc[0]),
        "level": evidence.confidence,
    }
    facts |= {"people": evidence.population(*part[:2]), "method": names.name("method", part[2])}
    facts["judged"] = where(evidence.counted, **dict(zip(PART, part, strict=True)))["annotator"].nunique()
    facts["choices"] = None if facts["label"] else analysis.first_share(evidence, part, main["system"].iloc[0])
    text = _PHRASES.say("order", **{k: v for k, v in facts.items() if k != "ties"}, others=other)
    return _answer(evidence, "order", text, notebook, figures.order(main, names, facts["who"]))


def _labels(evidence: Evidence, names: DisplayNames) -> PageAnswer:
    judged = analysis.labels(evidence)
    if judged.empty:
        return _repeats(evidence, names)
    several = len(set(judged["method"])) > 1
    facts: dict[str, Any] = {"n": len(judged), "level": evidence.confidence}
    for key, verdict in (("reliable", RELIABLE), ("doubtful", DOUBTFUL), ("few", TOO_FEW)):
        facts[key] = wording.by_method(judged[judged["verdict"] == verdict], names, several)
    free = judged[judged["ci_low"].notna()]
    best = free.loc[free["estimate"].idxmax()] if len(free) else None
    facts["best"] = {"name": wording.titled(best, names, several), "row": best.to_dict()} if best is not None else None
    facts["who"] = wording.run_and_group(tuple(judged.iloc[0][["corpus", "group"]]), evidence, names)
    facts |= wording.spoken_of(judged, evidence)
    threshold = evidence.study.iaa.threshold
    facts |= {"threshold": f"{threshold:g}", "customary": threshold == TENTATIVE}
    facts["means"] = wording.reliability_of_means(evidence, names, several)
    facts["pairs"] = all(METHODS[method].unit == "pair" for method in judged["method"].unique())
    alike = judged["estimate"].isna() & judged["note"].fillna("").str.contains("have the same value")
    facts["alike"] = list(judged["note"].str.partition(":")[0].unique()) if alike.all() else []
    text = _PHRASES.say("labels", **facts)
    return _answer(evidence, "labels", text, AGREEMENT, figures.labels(judged, names, threshold))


def _repeats(evidence: Evidence, names: DisplayNames) -> PageAnswer:
    """Where no item was judged twice: whether system means repeat in another run."""
    rows = analysis.repeats(evidence)
    of_labels = rows[rows["label"] != OVERALL]
    facts: dict[str, Any] = {"reason": evidence.reasons.get(AGREEMENT, ""), "overall": None, "least": None}
    facts["runs"] = [names.name("corpus", rows[c].iloc[0]) for c in ("against", "corpus") if len(rows)]
    facts |= {"twice": bool(analysis.judged_twice(evidence).any()), "n": len(of_labels)}
    facts |= {"sure": int((of_labels["ci_low"] > 0).sum()), "workers": bool((rows["workers"] == "passed").any())}
    if len(rows) and len(of_labels):
        overall, least = rows[rows["label"] == OVERALL], of_labels.loc[of_labels["estimate"].idxmin()]
        facts["overall"] = overall.iloc[0].to_dict() if len(overall) else None
        name = names.name("label", least["label"], wording.method_of(least["label"], names))
        facts["least"] = {"name": name, "row": least.to_dict()}
    text = _PHRASES.say("repeats", **facts)
    return _answer(evidence, "labels", text, REPEAT, figures.repeats(of_labels, names))


def _judges(evidence: Evidence, names: DisplayNames) -> PageAnswer:
    who_judged = analysis.judges(evidence)
    kind, groups = who_judged["kind"], who_judged["groups"]
    facts = {key: who_judged.get(key) for key in ("kind", "people", "n", "n_differ", "small")}
    facts |= {"reason": who_judged.get("reason", ""), "who": "", "chance": None, "top": None}
    facts |= {"strictness": None, "preference": None, "groups": wording.between_groups(groups, names)}
    facts["models"] = models(evidence, names)
    again = analysis.repeats(evidence)
    again = again[(again["label"] == OVERALL) & (again["ci_low"] > 0)]
    facts["again"] = again.iloc[0].to_dict() if len(again) else None
    if kind == "shares":
        facts |= {part: wording.variance_share(where(who_judged["rows"], part=part)) for part in PARTS}
        facts |= {"who": wording.analysed(who_judged, evidence, names), "top": who_judged["rows"]["ci_high"].max()}
        facts["chance"] = float(who_judged["reversal"].median())
    text = _PHRASES.say("judges", **facts)
    by_performance = kind == "shares" or (kind == "cannot" and not groups)
    notebook = PERFORMANCE if by_performance else GROUPS if groups else ""
    return _answer(evidence, "judges", text, notebook, figures.judges(who_judged, names))


def _sample(evidence: Evidence, compared: Facts, detectable: Facts | None, names: DisplayNames) -> PageAnswer:
    facts = {key: compared.get(key, 0) for key in ("n", "n_differ", "n_alike", "open", "untested")}
    main = next((evidence.population(*part[:2]) for part in parts(evidence)), None)
    facts |= {
        "people": compared.get("people"),
        "main": main,
        "bounded": compared.get("bounded", 0),
        "most": MOST_VALUES,
    }
    facts |= {"margin": f"{compared['margin']:g}" if "margin" in compared else "", "who": "", "sturdy": None}
    facts |= {"reason": compared.get("reason", ""), "detectable": detectable}
    if compared["n"]:
        corpus, group = compared["corpus"], compared["group"]
        facts["who"] = wording.run_and_group((corpus, group), evidence, names)
        stored = evidence.results[FRAGILITY]
        sturdy = fragility.facts(stored, corpus=corpus, group=group) if len(stored["sturdy"]) else {"n": 0}
        facts["sturdy"] = sturdy if sturdy["n"] else None
    text = _PHRASES.say("sample", **facts)
    return _answer(evidence, "sample", text, SENSITIVITY, figures.sample(compared))


def _cost(evidence: Evidence, compared: Facts, detectable: Facts | None, names: DisplayNames) -> PageAnswer:
    spent = cost(evidence)
    facts = {key: spent.get(key, 0) for key in ("hours", "money", "currency", "next")}
    facts |= {key: spent.get(key) for key in ("paid", "paid_currency", "all_paid", "wage")}
    facts |= {"known": "rows" in spent, "detectable": detectable, "more": MORE, "reason": spent.get("reason", "")}
    facts |= {"rate": f"{spent.get('rate', 0):g}", "dropped": wording.failed(evidence)}
    facts |= {"minutes": {}, "unit": "", "method": "", "together": []}
    if facts["known"]:
        main = spent["main"]
        of_main = wording.evaluation((main["corpus"], main["group"], main["method"]), evidence, names)
        facts |= {"minutes": main, "unit": main["level"], "method": of_main}
        facts["together"] = [names.name("method", m) for m in spent["together"]]
    facts["gain"] = None if compared["n"] else evidence.reasons.get(SENSITIVITY, "")
    text = _PHRASES.say("cost", **facts)
    plot = None if detectable and detectable["beyond"] else figures.cost(compared)
    return _answer(evidence, "cost", text, COST, plot)


def _next(evidence: Evidence, names: DisplayNames, detectable: Facts | None) -> PageAnswer:
    """The steps in a line, and below it each with its reason; where there is nothing to do, that only."""
    todo = steps(evidence)
    facts = [_step(step, evidence, names, detectable) for step in todo]
    said = [_PHRASES.say(step.kind, **given) for step, given in zip(todo, facts, strict=True)]
    brief = [_PHRASES.say("brief", kind=step.kind, facts=step.facts) for step in todo]
    if not brief[0]:
        return PageAnswer("next", said[0])
    listed = "\n".join(f"{i}. {text}" for i, text in enumerate(said, start=1))
    return PageAnswer("next", f"{_PHRASES.say('plan', parts=[Markup(b) for b in dict.fromkeys(brief)])}\n\n{listed}")


def _step(step: NextStep, evidence: Evidence, names: DisplayNames, detectable: Facts | None) -> Facts:
    """What the passage of a step is filled with."""
    facts = dict(step.facts)
    if step.kind == "record":
        facts["methods"] = [names.name("method", m) for m in facts["methods"]]
    elif step.kind == "recruit":
        several = len({corpus for corpus, _ in evidence.populations}) > 1
        run = {key: f" ({names.name('corpus', key[0])})" if several else "" for key, _ in facts["groups"]}
        facts["groups"] = [(names.name("group", key[1]) + run[key], one) for key, one in facts["groups"]]
    elif step.kind == "collect":
        used = ("size", "twice", "unit", "doubled", "scale", "beyond", "median", "others")
        sizes = detectable or dict.fromkeys(used, "")
        facts = {k: facts[k] for k in ("open", "n", "needed")} | {k: sizes[k] for k in used}
        facts["now"] = facts.pop("median")
    elif step.kind == "separate":
        facts |= {k: names.name("system", facts[k]) for k in ("first", "second")}
    elif step.kind == "look":
        rows = facts.pop("rows")
        pairs = zip(rows["annotator"].head(LISTED), rows["gain"].head(LISTED), strict=True)
        facts |= {"gains": list(pairs), "n": len(rows)}
    elif step.kind == "define":
        rows = facts.pop("rows")
        several = len(set(rows["method"])) > 1
        named = [wording.titled(r, names, several) for _, r in rows.head(LISTED).iterrows()]
        facts = {"names": named, "n": len(rows), "low": rows["estimate"].min(), "high": rows["estimate"].max()}
    return facts
