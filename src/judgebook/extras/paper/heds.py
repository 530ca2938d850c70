"""The Human Evaluation Datasheet (HEDS 3.0) of a study: what its data and YAML say, and what its author must add.

References
----------
Belz and Thomson 2024, HEDS 3.0, arXiv:2412.07940. Questions are named by number and a short name of ours; their
wording and options are in the form at nlp-heds.github.io.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from operator import attrgetter

import pandas as pd
import yaml
from markupsafe import Markup

from judgebook.display.text import Phrases
from judgebook.extras.paper import findings
from judgebook.extras.paper.findings import Material, items, people
from judgebook.questions.agreement.items import primary
from judgebook.study.labels import METHODS, Label
from judgebook.study.results import where
from judgebook.study.sections.data import HedsCriterion

_PHRASES = Phrases(__package__)


@dataclass(frozen=True)
class Answer:
    """A question and its answer as Markdown, empty where the author must give it. from_data : found in the data."""

    number: str
    name: str
    text: str
    from_data: bool = False


@dataclass(frozen=True)
class Criterion:
    """A label under one method, with the answers to section 4."""

    title: str
    answers: list[Answer]


@dataclass(frozen=True)
class Datasheet:
    """Sections 1, 2, 3 and 5 by title, and the criteria of section 4."""

    sections: dict[str, list[Answer]]
    criteria: list[Criterion]
    criteria_title: str

    @property
    def missing(self) -> list[tuple[str, str, list[str]]]:
        """Number and name of each question to the author; of section 4, for which criteria unless for all."""
        out: list[tuple[str, str, list[str]]] = [
            (a.number, a.name, []) for part in self.sections.values() for a in part if not a.text
        ]
        for i, question in enumerate(self.criteria[0].answers if self.criteria else ()):
            lacking = [c.title for c in self.criteria if not c.answers[i].text]
            if lacking:
                some = lacking if len(lacking) < len(self.criteria) else []
                out.append((question.number, question.name, some))
        return sorted(out, key=lambda q: [int(part) for part in q[0].split(".")])

    @property
    def questions(self) -> int:
        """How many questions there are, those of a criterion once."""
        of_criterion = len(self.criteria[0].answers) if self.criteria else 0
        return sum(map(len, self.sections.values())) + of_criterion

    @property
    def counts(self) -> tuple[int, int]:
        """How many questions are answered, those of a criterion counting once each, and how many there are."""
        every = [a for part in self.sections.values() for a in part] + [a for c in self.criteria for a in c.answers]
        return sum(bool(a.text) for a in every), len(every)


@cache
def questions() -> list[dict]:
    """The sections of the datasheet with their questions."""
    return yaml.safe_load(files(__package__).joinpath("heds.yaml").read_text(encoding="utf-8"))


def datasheet(m: Material) -> Datasheet:
    """The datasheet, filled as far as the study says."""
    facts = {name: text for name, text in _facts(m).items() if text}
    sections, criteria, title = {}, [], ""
    for section in questions():
        if section.get("criteria"):
            title = section["title"]
            computed = _alphas(m), _tested(m)
            criteria = [_criterion(m, section["questions"], method, label, *computed) for method, label in _labels(m)]
        else:
            sections[section["title"]] = [_answer(q, m.study.heds, facts) for q in section["questions"]]
    return Datasheet(sections, criteria, title)


def _answer(question: dict, given: object, facts: dict[str, str]) -> Answer:
    number, key = str(question["number"]), question["key"]
    text = attrgetter(key)(given) if key else ""
    if text:
        return Answer(number, question["name"], _PHRASES.say("given", text=text))
    return Answer(number, question["name"], facts.get(number, ""), number in facts)


def _facts(m: Material) -> dict[str, str]:
    """Answers of sections 1 to 3 that the data or other parts of the YAML give, by number."""
    study, say = m.study, _PHRASES.say
    systems = _per_system(m)
    count = people(m.scores)
    least = m.of("07")["difference_found"]["estimate"].dropna()
    paid = study.quality_control.payment
    costs = {
        m.names.name("group", g) if g in m.names.titles["group"] else g: p for g, p in study.costs.payments.items()
    }
    passed = findings.quality_control(m)
    return {
        "1.1.1": say("given", text=study.citation) if study.citation else "",
        "1.1.2": say("given", text=f"{study.title}. {study.description}".strip()),
        "2.2": say("judged_units", units=[METHODS[x].unit for x in METHODS if x in set(m.scores["method"].unique())]),
        "3.1.1": say("per_system", rows=systems),
        "3.1.3.2": say("post_hoc", least=[least.median(), least.min(), least.max()]) if len(least) else "",
        "3.2.1": say("evaluators", groups=[(m.names.name("group", g), n) for g, n in count.items()]),
        "3.2.2.2": say("paid", payment=paid, currency=study.quality_control.currency, groups=costs)
        if paid or costs
        else "",
        "3.3.3.1": say("assured") if passed else "",
        "3.3.3.2": say("quality_control", **passed).partition("** ")[2] if passed else "",
    }  # fmt: skip


def _per_system(m: Material) -> list[tuple[str, int, int]]:
    """By method: fewest and most items judged of a system."""
    numbered = m.scores.assign(item=items(m.scores))
    sides = [numbered[["method", "system", "item"]], numbered[["method", "system_b", "item"]].set_axis(
        ["method", "system", "item"], axis=1)]  # fmt: skip
    each = pd.concat(sides).dropna().drop_duplicates().groupby(["method", "system"]).size()
    ends = each.groupby("method").agg(["min", "max"])
    return [
        (m.names.name("method", x), int(ends.loc[x, "min"]), int(ends.loc[x, "max"]))
        for x in METHODS
        if x in ends.index
    ]


def _labels(m: Material) -> list[tuple[str, Label]]:
    judged = set(m.scores[["method", "label"]].drop_duplicates().itertuples(index=False, name=None))
    return [(method, label) for (method, id_), label in m.names.labels.items() if (method, id_) in judged]


def _alphas(m: Material) -> pd.DataFrame:
    results = m.of("03")
    return primary(results).dropna(subset="estimate") if results else pd.DataFrame()


def _tested(m: Material) -> set[tuple[str, str]]:
    """Methods and labels on which systems were compared."""
    return set(m.of("07")["contrast"][["method", "label"]].itertuples(index=False, name=None))


def _criterion(
    m: Material, asked: list[dict], method: str, label: Label, alphas: pd.DataFrame, tested: set[tuple[str, str]]
) -> Criterion:
    given = m.study.heds.criteria.get(label.id, HedsCriterion())
    say, facts = _PHRASES.say, _of_label(m, method, label, alphas, (method, label.id) in tested)
    facts = {number: text for number, text in facts.items() if text}
    title = say("criterion", label=label.title, method=m.names.name("method", method))
    return Criterion(title, [_answer(q, given, facts) for q in asked])


def _of_label(m: Material, method: str, label: Label, alphas: pd.DataFrame, has_tests: bool) -> dict[str, str]:
    """Answers of section 4 that the data give, by number."""
    say = _PHRASES.say
    low, high = label.scale
    size = len(label.categories) or (round(high - low) + 1 if label.integer else None)
    values = where(alphas, method=method, label=label.id) if len(alphas) else alphas
    rows = [(m.names.name("group", r["group"]), r.to_dict()) for _, r in values.iterrows()]
    unit = METHODS[method].unit
    return {
        "4.2.2": say("relative" if unit == "pair" else "absolute"),
        "4.3.3": say("size", n=size) if m.study.label_list() else "",
        "4.3.4": say("values", low=low, high=high, categories=list(label.categories)),
        "4.3.6": say("has_scale"),
        "4.3.9": say("aggregated", unit=unit, binary=label.scale == (0, 1)),
        "4.3.10": say("tested", unit=unit) if has_tests else "",
        "4.3.11.1": say("alpha_measure", level=rows[0][1]["measurement"]) if rows else "",
        "4.3.11.2": say("alphas", rows=rows) if rows else "",
        "4.3.12.1": say("never_repeated"),
        "4.3.12.2": say("never_repeated"),
    }  # fmt: skip


def markdown(m: Material) -> str:
    """The datasheet as Markdown, questions to the author first."""
    sheet = datasheet(m)
    facts = {
        "title": m.study.title,
        "sheet": sheet,
        "missing": sheet.missing,
        "key": Markup(m.study.key),
        "simulated": m.study.simulated,
    }
    parts = list(sheet.sections.items())
    before, after = [p for p in parts if p[0] < sheet.criteria_title], [p for p in parts if p[0] > sheet.criteria_title]
    return _PHRASES.say("datasheet", before=before, after=after, criteria=sheet.criteria,
                        criteria_title=sheet.criteria_title, **facts) + "\n"  # fmt: skip
