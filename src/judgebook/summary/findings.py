"""The answers of a study's first page: facts from `analysis`, put into words by `text.md.j2`."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
from markupsafe import Markup

from judgebook.display.names import DisplayNames, display_names
from judgebook.display.text import Phrases, number, span
from judgebook.display.views import Plot
from judgebook.questions.agreement.findings import TENTATIVE
from judgebook.questions.agreement.population import SAMPLE
from judgebook.questions.performance import leading
from judgebook.questions.performance.who_judged import PARTS
from judgebook.questions.quality_control.worker_tests import OVERALL
from judgebook.statistics.bounded_means import MOST_VALUES
from judgebook.study import questions
from judgebook.study.labels import METHODS
from judgebook.study.results import where
from judgebook.summary import analysis, figures
from judgebook.summary.analysis import DOUBTFUL, MORE, PART, RELIABLE, TOO_FEW, Evidence

_PHRASES = Phrases(__package__)
#: annotators who disagree that are named
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
class Answer:
    """An answer in Markdown, with its figure and the notebook with the evidence (stem of its page; empty where there is
    none). key : of QUESTIONS, or a notebook that answers a question of its own."""

    key: str
    text: str
    notebook: str = ""
    plot: Plot | None = None

    @property
    def question(self) -> str:
        return QUESTIONS.get(self.key) or questions.declared()[self.key].first_page


def answers(evidence: Evidence) -> list[Answer]:
    """The six answers and those that questions declare, in the order in which they are asked; none for a study without
    annotations."""
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
        *_declared(evidence, names),
        _next(evidence, names, detectable),
    ]


def _declared(evidence: Evidence, names: DisplayNames) -> Iterator[Answer]:
    for notebook, module in questions.on_first_page().items():
        if stored := evidence.results.get(notebook):
            text, plot = importlib.import_module(module).answer(evidence.study, stored, names)
            yield Answer(notebook, text, notebook, plot)


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
        facts = {"undirected": Markup(analysis.without_order(evidence)), "reason": evidence.reasons.get(notebook, "")}
        return _answer(evidence, "order", _PHRASES.say("no_order", one=one, **facts), notebook)
    blocks = [(part, own) for part, own in rows.groupby(PART, sort=False)]
    (part, main), others = blocks[0], blocks[1:]
    facts = leading.leaders(main)
    leaders = [(leading.leaders(own), _who(p, evidence, names)) for p, own in others]
    sure = [(names.name("system", lead["top"]["system"]), who) for lead, who in leaders if lead["sure"]]
    facts |= {"name": names.name("system", facts["top"]["system"]), "who": _who(part, evidence, names)}
    facts["rivals"] = [names.name("system", s) for s in facts["rivals"]]
    facts |= {"label": _label(main, names), "n_labels": int(main["n_labels"].iloc[0]), "level": evidence.confidence}
    facts |= {"people": evidence.population(*part[:2]), "method": names.name("method", part[2])}
    facts["judged"] = where(evidence.counted, **dict(zip(PART, part, strict=True)))["annotator"].nunique()
    facts["choices"] = None if facts["label"] else analysis.first_share(evidence, part, main["system"].iloc[0])
    text = _PHRASES.say("order", **facts, others={"n": len(others), "sure": sure})
    return _answer(evidence, "order", text, notebook, figures.order(main, names, facts["who"]))


def _label(rows: pd.DataFrame, names: DisplayNames) -> str:
    row = rows.iloc[0]
    return "" if pd.isna(row["label"]) else names.name("label", row["label"], row["method"])


def _labels(evidence: Evidence, names: DisplayNames) -> Answer:
    known = analysis.labels(evidence)
    if known.empty:
        return _repeats(evidence, names)
    several = len(set(known["method"])) > 1
    facts: dict[str, Any] = {"n": len(known), "level": evidence.confidence}
    for key, verdict in (("reliable", RELIABLE), ("doubtful", DOUBTFUL), ("few", TOO_FEW)):
        facts[key] = _by_method(known[known["verdict"] == verdict], names, several)
    free = known[known["ci_low"].notna()]
    best = free.loc[free["estimate"].idxmax()] if len(free) else None
    facts["best"] = {"name": _title(best, names, several), "row": best.to_dict()} if best is not None else None
    facts["who"] = _part(tuple(known.iloc[0][["corpus", "group"]]), evidence, names)
    facts |= _spoken_of(known, evidence)
    threshold = evidence.study.iaa.threshold
    facts |= {"threshold": f"{threshold:g}", "customary": threshold == TENTATIVE}
    facts["means"] = _means(evidence, names, several)
    text = _PHRASES.say("labels", **facts)
    return _answer(evidence, "labels", text, analysis.AGREEMENT, figures.labels(known, names, threshold))


def _spoken_of(rows: pd.DataFrame, evidence: Evidence) -> dict:
    """Whom intervals of alpha are about: `people`, and `n_sample`, the labels on which they speak of other annotators,
    where that is otherwise than in the answers about systems (else None), as it hangs on who judged the same items."""
    page = evidence.population(*rows.iloc[0][["corpus", "group"]])
    n = int((rows["population"] == SAMPLE).sum())
    if n == len(rows) * page.others:
        return {"people": page, "n_sample": None}
    return {"people": replace(page, others=n > 0, why=""), "n_sample": n}


def _means(evidence: Evidence, names: DisplayNames, several: bool) -> list[dict]:
    """Reliability of system means, by method, which is named where several were judged."""
    rows, out = analysis.reliability(evidence), []
    aside = {*evidence.study.unranked_systems, evidence.study.control_system}
    for method, own in rows.groupby("method", sort=False):
        each = own["annotators_per_dialogue"]
        design: dict[str, Any] = {
            "dialogues": span(own["n_dialogues"], 0),
            "each": span(each, 0) if each.max() > 1 else "",
        }
        ends = {"median": own["estimate"].median(), "low": own["estimate"].min(), "high": own["estimate"].max()}
        judged = set(where(evidence.people, **{k: own[k].iloc[0] for k in PART})["system"])
        design |= {"systems": len(judged) if judged & aside else 0, "ranked": len(judged - aside)}
        facts = {"n": len(own), "row": own.iloc[0].to_dict(), "method": names.name("method", method) if several else ""}
        out.append(design | ends | facts)
    return out


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
    facts: dict[str, Any] = {"reason": evidence.reasons.get(analysis.AGREEMENT, ""), "overall": None, "least": None}
    facts["runs"] = [names.name("corpus", rows[c].iloc[0]) for c in ("against", "corpus") if len(rows)]
    facts |= {"twice": bool(analysis.judged_twice(evidence).any()), "n": len(of_labels)}
    facts |= {"sure": int((of_labels["ci_low"] > 0).sum()), "workers": bool((rows["workers"] == "passed").any())}
    if len(rows) and len(of_labels):
        overall, least = rows[rows["label"] == OVERALL], of_labels.loc[of_labels["estimate"].idxmin()]
        facts["overall"] = overall.iloc[0].to_dict() if len(overall) else None
        name = names.name("label", least["label"], _method_of(least["label"], names))
        facts["least"] = {"name": name, "row": least.to_dict()}
    text = _PHRASES.say("repeats", **facts)
    return _answer(evidence, "labels", text, analysis.REPEAT, figures.repeats(of_labels, names))


def _judges(evidence: Evidence, names: DisplayNames) -> Answer:
    found = analysis.judges(evidence)
    facts = {key: found.get(key) for key in ("kind", "people", "n", "n_differ", "small")}
    facts |= {"reason": found.get("reason", ""), "who": "", "chance": None, "top": None}
    facts |= {"strictness": None, "preference": None, "groups": _between(found["groups"], names)}
    if found["kind"] == "shares":
        facts |= {part: _share(where(found["rows"], part=part)) for part in PARTS}
        facts |= {"who": _tested(found, evidence, names), "top": found["rows"]["ci_high"].max()}
        facts["chance"] = float(found["reversal"].median())
    text = _PHRASES.say("judges", **facts)
    told = found["kind"] == "shares" or (found["kind"] == "cannot" and not found["groups"])
    notebook = analysis.PERFORMANCE if told else analysis.GROUPS if found["groups"] else ""
    return _answer(evidence, "judges", text, notebook, figures.judges(found, names))


def _tested(found: Mapping, evidence: Evidence, names: DisplayNames) -> str:
    """Group and run as prose names them, and the methods that could be analysed where there are others, too."""
    where_, rows = _part(found["part"], evidence, names), found["rows"]
    judged = where(evidence.people, **dict(zip(PART[:2], found["part"][:2], strict=True)))["method"].unique()
    some = [names.name("method", m) for m in rows["method"].unique()] if rows["method"].nunique() < len(judged) else []
    return ", ".join([*some, where_] if where_ else some)


def _share(rows: pd.DataFrame) -> dict | None:
    """A part of the variance over labels; of one label with its interval."""
    if rows.empty:
        return None
    ends = {"median": rows["estimate"].median(), "low": rows["estimate"].min(), "high": rows["estimate"].max()}
    return ends | {"row": rows.iloc[0].to_dict() if len(rows) == 1 else None}


def _between(found: dict | None, names: DisplayNames) -> dict | None:
    """Differences between groups; their size is the median, as the largest of many is large by chance."""
    if found is None:
        return None
    rows = found["rows"].dropna(subset="debiased")
    facts = found | {"median": rows["debiased"].median(), "row": None}
    if len(rows) == 1:
        columns = {"estimate": "debiased", "ci_low": "debiased_low", "ci_high": "debiased_high"}
        facts["row"] = {k: rows[c].iloc[0] for k, c in columns.items()}
    if "who" in found:
        facts["who"] = (names.name("group", found["who"][0]), found["who"][1])
    return facts


def _detectable(found: Mapping, names: DisplayNames) -> dict | None:
    """Detectable differences as prose gives them, of the main method."""
    rows = found.get("detectable")
    if rows is None or rows.empty or not rows["most_per_system"].iloc[0]:
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
    sizes = rows[["per_system", "most_per_system"]].iloc[0]
    facts: dict[str, Any] = {
        "size": span(sizes, 0),
        "twice": span(2 * sizes, 0),
        "unit": "pair" if unit == "pair" else "dialogue",
    }
    sessions = rows[["sessions", "most_sessions"]].iloc[0]
    facts["sessions"] = span(sessions, 0) if sessions.notna().all() else ""
    facts |= {"median": say(values.median()), "more": say(rows["more"].median()), "span": ends}
    facts |= {"n_labels": len(rows), "scales": 1 if share else len({high - low for low, high in scales})}
    facts["scale"] = "percentage points" if share else "points"
    facts |= {"beyond": bool(values.median() > largest), "pairs": int(rows["n"].max())}
    facts["others"] = found["people"].others
    return facts | {"method": names.name("method", method), "doubled": say(values.median() / 2**0.5)}


def _sample(evidence: Evidence, found: dict, detectable: dict | None, names: DisplayNames) -> Answer:
    facts = {key: found.get(key, 0) for key in ("n", "n_differ", "n_alike", "open", "untested")}
    margin = f"{found['margin']:g}" if "margin" in found else ""
    who = _part((found["corpus"], found["group"]), evidence, names) if found["n"] else ""
    facts |= {"margin": margin, "reason": found.get("reason", ""), "detectable": detectable, "who": who}
    facts |= {"people": found.get("people"), "bounded": found.get("bounded", 0), "most": MOST_VALUES}
    facts["sturdy"] = analysis.sturdiness(evidence, found["corpus"], found["group"]) if found["n"] else None
    text = _PHRASES.say("sample", **facts)
    return _answer(evidence, "sample", text, analysis.SENSITIVITY, figures.sample(found))


def _cost(evidence: Evidence, found: dict, detectable: dict | None, names: DisplayNames) -> Answer:
    facts = analysis.cost(evidence)
    told = {"known": "rows" in facts, "detectable": detectable, "more": MORE, "reason": facts.get("reason", "")}
    told |= {k: facts.get(k, 0) for k in ("hours", "money", "currency", "next")} | {"rate": f"{facts.get('rate', 0):g}"}
    told |= {k: facts.get(k) for k in ("paid", "paid_currency", "all_paid", "wage")} | {"dropped": _failed(evidence)}
    if told["known"]:
        main = facts["main"]
        told |= {"minutes": main, "unit": main["level"], "method": _who(tuple(main[k] for k in PART), evidence, names)}
        told["together"] = [names.name("method", m) for m in facts["together"]]
    blank = {"minutes": {}, "unit": "", "method": "", "together": []}
    text = _PHRASES.say("cost", **(blank | told))
    plot = None if detectable and detectable["beyond"] else figures.cost(found)
    return _answer(evidence, "cost", text, analysis.COST, plot)


def _failed(evidence: Evidence) -> dict | None:
    """Workers whose judgements do not count, of all, by run; None where all count."""
    kept, n = (len(f[["corpus", "annotator"]].drop_duplicates()) for f in (evidence.counted, evidence.annotations))
    runs = evidence.annotations["corpus"].nunique()
    return {"out": n - kept, "n": n, "runs": runs} if kept < n else None


def _next(evidence: Evidence, names: DisplayNames, detectable: dict | None) -> Answer:
    lines: list[str] = []
    for step in analysis.steps(evidence):
        facts = dict(step.facts)
        if step.kind == "record":
            facts["methods"] = [names.name("method", m) for m in facts["methods"]]
        elif step.kind == "recruit":
            several = len({corpus for corpus, _ in evidence.populations}) > 1
            where = {key: f" ({names.name('corpus', key[0])})" if several else "" for key, _ in facts["groups"]}
            facts["groups"] = [(names.name("group", key[1]) + where[key], one) for key, one in facts["groups"]]
        elif step.kind == "collect":
            used = ("size", "twice", "unit", "doubled", "scale", "beyond", "median", "others")
            known = detectable or dict.fromkeys(used, "")
            facts = {k: facts[k] for k in ("open", "n")} | {k: known[k] for k in used}
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
            facts = {"names": [_title(r, names, several) for _, r in rows.head(3).iterrows()], "n": len(rows)}
            facts |= {"low": rows["estimate"].min(), "high": rows["estimate"].max()}
        lines.append(f"{len(lines) + 1}. {_PHRASES.say(step.kind, **facts)}")
    return Answer("next", "\n".join(lines))
