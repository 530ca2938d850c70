"""Can this design answer the questions? The results of notebook 17: all checks of a study's design, made in seconds and
without a run, and stored so that the first page can say again what they found.

Each check is a small function in a module of its topic, which registers it (`material.check`); findings are ranked by
their price: what changes when they are acted on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pandas as pd

from judgebook.questions.design import answers, items, material, order, people
from judgebook.questions.design.material import (
    CHECKS,
    UNKNOWN,
    DesignCheck,
    DesignFinding,
    NotCheckableError,
    Unchecked,
)
from judgebook.study.labels import Label
from judgebook.study.results import Results, collect
from judgebook.study.schema import Annotations, Dialogues

#: topics in the order in which their checks are made and listed, whatever imports them first
_TOPICS = [topic.__name__ for topic in (people, answers, items, order)]


class Examined(NamedTuple):
    """findings : by price, the highest first. unchecked : checks that could not be made. passed : codes of others.

    parts : (corpus, group, method) of every evaluation that was looked at.
    """

    findings: list[DesignFinding]
    unchecked: list[Unchecked]
    passed: list[str]
    parts: list[tuple[str, str, str]]


def examine(
    annotations: Annotations,
    dialogues: Dialogues,
    labels: Sequence[Label],
    *,
    counts: pd.DataFrame | None = None,
    metric_scores: pd.DataFrame | None = None,
    dialogue_facts: pd.DataFrame | None = None,
    own_ids: pd.DataFrame | None = None,
    leave_out: Sequence[str | None] = (),
    selection: str = "",
) -> Examined:
    """What the design of a study does not allow to conclude, and what could not be looked at.

    Parameters
    ----------
    annotations, dialogues, counts, metric_scores, dialogue_facts : DataFrames
        As `sources.build` makes them (`study.schema`); of annotations and dialogues, columns that may be empty may be
        absent. A missing score counts as one that was dropped. `counts` says what was dropped while reading.
    own_ids : DataFrame, optional
        Ids of the source (`Built.own_ids`), which tell two spellings of one person.
    leave_out : ids of systems
        Control and unranked systems; None and an empty id are none.
    selection : str
        What the YAML says of how the outputs were selected (`heds.selection`).

    Returns
    -------
    `Examined`. A check counts as not made if no evaluation (corpus, group, method) allows it.
    """
    study = material.study(
        annotations, dialogues, labels, counts, metric_scores, dialogue_facts, own_ids, [s for s in leave_out if s],
        selection,
    )  # fmt: skip
    findings: list[DesignFinding] = []
    unchecked: list[Unchecked] = []
    passed: list[str] = []
    for one in sorted(CHECKS.values(), key=lambda check: _TOPICS.index(check.run.__module__)):
        of_check, reasons, made = _made(one, study)
        findings += of_check
        if not made:
            unchecked.append(Unchecked(one.code, reasons[0] if reasons else "There are no judgements."))
        elif not of_check:
            passed.append(one.code)
    findings.sort(key=lambda f: -f.price)  # stable: equal prices stay in the order of the checks
    return Examined(findings, unchecked, passed, [(part.corpus, part.group, part.method) for part in study.parts])


def _made(one: DesignCheck, study: material.StudyFrames) -> tuple[list[DesignFinding], list[str], bool]:
    """Findings of a check, reasons why it could not be made somewhere, and whether it was made anywhere."""
    findings, reasons, made = [], [], False
    places = [{"corpus": part.corpus, "group": part.group, "method": part.method} for part in study.parts]
    looked_at: list[tuple[material.StudyFrames | material.Evaluation, dict[str, str]]] = (
        [(study, {})] if one.whole else [*zip(study.parts, places, strict=True)]
    )
    for where, place in looked_at:
        try:
            for price, facts in one.run(where):
                place_ = place | {k: facts[k] for k in ("corpus", "group", "method") if k in facts}
                rest = {k: v for k, v in facts.items() if k not in place_ and v == v}  # what is NaN is not known
                findings.append(DesignFinding(one.code, min(float(price), UNKNOWN), rest, one.touches, place_))
            made = True
        except NotCheckableError as reason:
            reasons.append(str(reason))
    return findings, reasons, made


#: annotators in the figure of who judged what, those with most dialogues
SHOWN = 40
_PLACE = ("corpus", "group", "method")


def store(examined: Examined, annotations: Annotations) -> Results:
    """`design_finding`, `design_evidence`, `design_passed`, `design_unchecked`, `design_part`, `design_load` (figure).

    A finding is stored with its facts, a row for each number or text; lists have a row for each item, in order.
    """
    rows = [row for case, one in enumerate(examined.findings) for row in _finding(str(case), one)]
    rows += [{"statistic": "design_passed", "code": code, "estimate": 0.0} for code in examined.passed]
    rows += [
        {"statistic": "design_unchecked", "code": u.code, "reason": u.reason, "estimate": 1.0}
        for u in examined.unchecked
    ]
    parts = [dict(zip(_PLACE, part, strict=True)) for part in examined.parts]
    rows += [part | {"statistic": "design_part", "estimate": 1.0} for part in parts]
    return collect(rows, _loads(annotations))


def _finding(case: str, one: DesignFinding) -> Iterator[dict[str, Any]]:
    key = dict(one.place) | {"code": one.code, "case": case}
    yield key | {"statistic": "design_finding", "touches": ",".join(one.touches), "estimate": one.price}
    for fact, value in one.facts.items():
        for k, item in enumerate(value) if isinstance(value, list) else [(None, value)]:
            row = key | {"statistic": "design_evidence", "fact": fact, "k": k}
            if isinstance(item, str):
                # a system's id may hold anything, also what divides stored keys
                yield row | ({"system": item} if "system" in fact else {"text": item})
            else:
                yield row | {"estimate": float(item), "text": type(item).__name__}


def _loads(annotations: Annotations) -> Iterator[dict[str, Any]]:
    """Who judged how many dialogues of each system, in the largest evaluation with known annotators."""
    study = material.study(annotations, pd.DataFrame({"corpus": []}), [], None, None, None, None, [])
    with_known = [part for part in study.parts if part.known and len(part.systems) > 1]
    if not with_known:
        return
    part = max(with_known, key=lambda p: len(p.rows))
    loads = part.loads.loc[part.loads.sum(axis=1).sort_values(ascending=False, kind="stable").index[:SHOWN]]
    for annotator, row in loads.iterrows():
        for system, n in row.items():
            place = {"corpus": part.corpus, "group": part.group, "method": part.method}
            yield place | {"statistic": "design_load", "annotator": annotator, "system": system, "estimate": float(n)}


def stored(results: Results) -> Examined:
    """What `store` stored, the findings with the highest price first."""
    stored_findings, evidence = results["design_finding"], results["design_evidence"]
    facts: dict[str, dict[str, Any]] = {}
    for row in evidence.to_dict("records"):
        value: Any = row["system"] if pd.notna(row["system"]) else row["text"]
        if pd.notna(row["estimate"]):
            value = {"int": int, "bool": bool}.get(row["text"], float)(row["estimate"])
        of_case = facts.setdefault(row["case"], {})
        if pd.isna(row["k"]):
            of_case[row["fact"]] = value
        else:
            of_case.setdefault(row["fact"], []).append(value)
    findings = [
        DesignFinding(
            row["code"],
            row["estimate"],
            facts.get(row["case"], {}),
            tuple(row["touches"].split(",")),
            {c: row[c] for c in _PLACE if pd.notna(row[c])},
        )
        for row in stored_findings.to_dict("records")
    ]
    unchecked = results["design_unchecked"]
    return Examined(
        sorted(findings, key=lambda f: -f.price),
        [Unchecked(c, r) for c, r in zip(unchecked["code"], unchecked["reason"], strict=True)],
        list(results["design_passed"]["code"]),
        list(results["design_part"][list(_PLACE)].itertuples(index=False, name=None)),
    )
