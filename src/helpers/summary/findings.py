"""The answers of a study's first page: facts from `analysis`, put into words by `text.md.j2`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from helpers.display.names import DisplayNames, display_names
from helpers.display.text import Phrases, number, span
from helpers.display.views import Plot
from helpers.quality_control.worker_tests import OVERALL
from helpers.study.labels import METHODS
from helpers.summary import analysis, figures
from helpers.summary.analysis import DOUBTFUL, MORE, PART, RELIABLE, TOO_FEW, Evidence

_PHRASES = Phrases(__package__)
#: key of an answer -> what is asked
QUESTIONS = {
    "order": "Which system is best, and how certain is that?",
    "labels": "Which labels can be trusted?",
    "judges": "Does it matter who judged?",
    "sample": "Were there enough data, and what could have been detected?",
    "cost": "What did it cost, and what would more dialogues buy?",
    "next": "What should be done next?",
}


@dataclass(frozen=True)
class Answer:
    """An answer in Markdown, with its figure and the notebook with the evidence (stem of its page; empty where there is
    none). key : of QUESTIONS."""

    key: str
    text: str
    notebook: str = ""
    plot: Plot | None = None

    @property
    def question(self) -> str:
        return QUESTIONS[self.key]


def answers(evidence: Evidence) -> list[Answer]:
    """The six answers, in the order in which they are asked; none for a study without annotations."""
    if evidence.annotations.empty:
        return []
    names = display_names(evidence.study, evidence.annotations)
    found = analysis.sample(evidence)
    detectable = _detectable(found, names)
    return [
        _order(evidence, names),
        _labels(evidence, names),
        _judges(evidence, names),
        _sample(evidence, found, detectable, names),
        _cost(evidence, found, detectable, names),
        _next(evidence, names, detectable),
    ]


def _answer(evidence: Evidence, key: str, text: str, notebook: str, plot: Plot | None = None) -> Answer:
    """With a link only to a notebook that was run."""
    return Answer(key, text, notebook if evidence.results.get(notebook) else "", plot)


def _method_of(label: str, names: DisplayNames) -> str:
    return next((method for method, key in names.labels if key == label), "")


def _who(part: tuple, evidence: Evidence, names: DisplayNames) -> str:
    """Method, group and run as prose names them, the latter two where there are several."""
    corpus, group, method = part
    several = {c: len(evidence.annotations[c].unique()) > 1 for c in ("corpus", "group")}
    said = [names.name("method", method)] if method else []
    said += [names.name("group", group)] if several["group"] else []
    return ", ".join(said + ([names.name("corpus", corpus)] if several["corpus"] else []))


def _part(part: tuple, evidence: Evidence, names: DisplayNames) -> str:
    """Group and run as prose names them; '' where there is one of each."""
    return _who((*part[:2], None), evidence, names)


def _order(evidence: Evidence, names: DisplayNames) -> Answer:
    rows = analysis.order(evidence)
    notebook = analysis.PERFORMANCE
    if rows.empty:
        one = len({*evidence.annotations["system"], *evidence.annotations["system_b"].dropna()}) < 2
        reason = evidence.reasons.get(notebook, "")
        why = "there is only one system" if one else "no label has a direction, or no order was computed"
        text = f"**This cannot be determined**, because {why}." if one or not reason else f"**Unknown:** {reason}"
        return _answer(evidence, "order", text, notebook)
    blocks = [(part, own) for part, own in rows.groupby(PART, sort=False)]
    (part, main), others = blocks[0], blocks[1:]
    facts = analysis.leaders(main)
    sure = [(analysis.leaders(own), _who(p, evidence, names)) for p, own in others]
    sure = [(names.name("system", lead["top"]["system"]), who) for lead, who in sure if lead["sure"]]
    facts |= {"name": names.name("system", facts["top"]["system"]), "who": _who(part, evidence, names)}
    facts["rivals"] = [names.name("system", s) for s in facts["rivals"]]
    facts |= {"label": _label(main, names), "n_labels": int(main["n_labels"].iloc[0]), "level": evidence.confidence}
    facts["choices"] = None if facts["label"] else analysis.first_share(evidence, part, main["system"].iloc[0])
    text = _PHRASES.say("order", **facts, others={"n": len(others), "sure": sure})
    return _answer(evidence, "order", text, notebook, figures.order(main, names, facts["who"]))


def _label(rows: pd.DataFrame, names: DisplayNames) -> str:
    row = rows.iloc[0]
    return "" if pd.isna(row["label"]) else names.name("label", row["label"], row["method"])


def _labels(evidence: Evidence, names: DisplayNames) -> Answer:
    rows = analysis.labels(evidence)
    known = rows[rows["n"] > 0]
    if known.empty:
        return _repeats(evidence, names)
    several = len(set(known["method"])) > 1
    facts = {"n": len(known), "level": evidence.confidence}
    for key, verdict in (("reliable", RELIABLE), ("doubtful", DOUBTFUL), ("few", TOO_FEW)):
        facts[key] = _by_method(known[known["verdict"] == verdict], names, several)
    free = known[known["ci_low"].notna()]
    best = free.loc[free["estimate"].idxmax()] if len(free) else None
    facts["best"] = {"name": _title(best, names, several), "row": best.to_dict()} if best is not None else None
    many = len(evidence.annotations["group"].unique()) > 1
    facts["who"] = names.name("group", rows["group"].iloc[0]) if many else ""
    text = _PHRASES.say("labels", **facts)
    return _answer(evidence, "labels", text, analysis.AGREEMENT, figures.labels(known, names))


def _title(row: pd.Series, names: DisplayNames, several: bool) -> str:
    label = names.name("label", row["label"], row["method"])
    return f"{label} ({names.name('method', row['method'])})" if several else label


def _by_method(rows: pd.DataFrame, names: DisplayNames, several: bool) -> dict:
    """How many labels, and by method (empty where there is one) their names, the highest alpha first."""
    rows = rows.sort_values("estimate", ascending=False)
    parts = [
        (names.name("method", method) if several else "", [names.name("label", x, method) for x in own["label"]])
        for method, own in rows.groupby("method", sort=False)
    ]
    return {"n": len(rows), "parts": parts}


def _repeats(evidence: Evidence, names: DisplayNames) -> Answer:
    """Where no item was judged twice: whether system means repeat in another run."""
    rows = analysis.repeats(evidence)
    of_labels = rows[rows["label"] != OVERALL]
    facts = {"reason": evidence.reasons.get(analysis.AGREEMENT, ""), "overall": None, "least": None}
    facts["twice"] = bool(analysis.judged_twice(evidence).any())
    if len(rows) and len(of_labels):
        overall, least = rows[rows["label"] == OVERALL], of_labels.loc[of_labels["estimate"].idxmin()]
        facts["overall"] = overall.iloc[0].to_dict() if len(overall) else None
        name = names.name("label", least["label"], _method_of(least["label"], names))
        facts["least"] = {"name": name, "row": least.to_dict()}
    text = _PHRASES.say("repeats", **facts)
    return _answer(evidence, "labels", text, analysis.REPEAT, figures.repeats(of_labels, names))


def _judges(evidence: Evidence, names: DisplayNames) -> Answer:
    facts = analysis.judges(evidence)
    plot = figures.judges(facts, names)
    rows = facts.pop("rows", None)
    facts.pop("humans", None)
    if rows is not None:
        row = rows.loc[rows["debiased"].fillna(rows["estimate"]).idxmax()]
        facts["largest"] = {"name": _title(row, names, len(set(rows["method"])) > 1), "row": _debiased(row)}
    part = facts.pop("part", None)
    blank = dict.fromkeys(("n", "n_differ", "n_people", "differ_people", "n_same", "lost", "largest"), 0)
    who = _part(part, evidence, names) if part else ""
    text = _PHRASES.say("judges", **(blank | {"reason": "", "who": who} | facts))
    notebook = analysis.GROUPS if facts["kind"] == "groups" else analysis.SENSITIVITY
    return _answer(evidence, "judges", text, notebook, plot)


def _debiased(row: pd.Series) -> dict:
    """The difference corrected for noise, where it is known: an absolute difference is too large by chance alone."""
    if pd.isna(row["debiased"]):
        return row.to_dict()
    return {"estimate": row["debiased"], "ci_low": row["debiased_low"], "ci_high": row["debiased_high"]}


def _detectable(found: Mapping, names: DisplayNames) -> dict | None:
    """Detectable differences as prose gives them, of the main method."""
    rows = found.get("detectable")
    if rows is None or rows.empty or not rows["per_system"].iloc[0]:
        return None
    method = rows["method"].iloc[0]
    unit = METHODS[method].unit
    scales = [names.labels[method, x].scale for x in rows["label"] if (method, x) in names.labels]
    share = unit == "pair" or all(scale == (0, 1) for scale in scales)
    largest = 1.0 if share else max(high - low for low, high in scales)

    def say(value: float) -> str:
        return number(100 * value, 1) if share else number(value)

    values = rows["estimate"]
    ends = span(100 * values if share else values, 1 if share else 2)
    facts = {"size": int(rows["per_system"].iloc[0]), "unit": "pair" if unit == "pair" else "dialogue"}
    facts |= {"median": say(values.median()), "more": say(rows["more"].median()), "span": ends}
    facts["n_labels"] = len(rows)
    facts["scale"] = "percentage points" if share else "points"
    facts["beyond"] = bool(values.median() > largest)
    return facts | {"method": names.name("method", method), "doubled": say(values.median() / 2**0.5)}


def _sample(evidence: Evidence, found: dict, detectable: dict | None, names: DisplayNames) -> Answer:
    facts = {key: found.get(key, 0) for key in ("n", "n_differ", "n_alike", "open")}
    margin = f"{found['margin']:g}" if "margin" in found else ""
    who = _part((found["corpus"], found["group"]), evidence, names) if found["n"] else ""
    facts |= {"margin": margin, "reason": found.get("reason", ""), "detectable": detectable, "who": who}
    facts["sturdy"] = analysis.sturdiness(evidence, found["corpus"], found["group"]) if found["n"] else None
    text = _PHRASES.say("sample", **facts)
    return _answer(evidence, "sample", text, analysis.SENSITIVITY, figures.sample(found))


def _cost(evidence: Evidence, found: dict, detectable: dict | None, names: DisplayNames) -> Answer:
    facts = analysis.cost(evidence)
    told = {"known": "rows" in facts, "detectable": detectable, "more": MORE, "reason": facts.get("reason", "")}
    told |= {k: facts.get(k, 0) for k in ("hours", "money", "currency", "next")} | {"rate": f"{facts.get('rate', 0):g}"}
    if told["known"]:
        main = facts["main"]
        told |= {"minutes": main, "unit": main["level"], "method": _who(tuple(main[k] for k in PART), evidence, names)}
    blank = {"minutes": {}, "unit": "", "method": ""}
    text = _PHRASES.say("cost", **(blank | told))
    plot = None if detectable and detectable["beyond"] else figures.cost(found)
    return _answer(evidence, "cost", text, analysis.COST, plot)


def _next(evidence: Evidence, names: DisplayNames, detectable: dict | None) -> Answer:
    lines = []
    for step in analysis.steps(evidence):
        facts = dict(step.facts)
        if step.kind == "recruit":
            facts["groups"] = [(names.name("group", g), n) for g, n in facts["groups"]]
        elif step.kind == "collect":
            known = detectable or {"size": 0, "unit": "", "median": "", "doubled": "", "scale": "", "beyond": True}
            facts = {k: facts[k] for k in ("open", "n")} | {
                k: known[k] for k in ("size", "unit", "doubled", "scale", "beyond")
            }
            facts["now"] = known["median"]
        elif step.kind == "define":
            rows = facts.pop("rows")
            several = len(set(rows["method"])) > 1
            facts = {"names": [_title(r, names, several) for _, r in rows.head(3).iterrows()], "n": len(rows)}
            facts |= {"low": rows["estimate"].min(), "high": rows["estimate"].max()}
        lines.append(f"{len(lines) + 1}. {_PHRASES.say(step.kind, **facts)}")
    return Answer("next", "\n".join(lines))
