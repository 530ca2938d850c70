"""Results of notebook 17: what the checks found, so that the first page can say it again from what is stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from judgebook.questions.design import material
from judgebook.questions.design.checks import Examined
from judgebook.questions.design.registry import Finding, Unchecked
from judgebook.study.results import Results, collect

#: annotators in the figure of who judged what, those with most dialogues
SHOWN = 40
_PLACE = ("corpus", "group", "method")


def store(examined: Examined, annotations: pd.DataFrame) -> Results:
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


def _finding(case: str, one: Finding) -> Iterator[dict[str, Any]]:
    key = dict(one.place) | {"code": one.code, "case": case}
    yield key | {"statistic": "design_finding", "touches": ",".join(one.touches), "estimate": one.price}
    for fact, value in one.facts.items():
        for k, item in enumerate(value) if isinstance(value, list) else [(None, value)]:
            row = key | {"statistic": "design_evidence", "fact": fact, "k": k}
            if isinstance(item, str):
                # a system's id may hold anything, also what divides stored keys
                yield row | ({"system": item} if _is_system(fact) else {"text": item})
            else:
                yield row | {"estimate": float(item), "text": type(item).__name__}


def _is_system(fact: str) -> bool:
    return "system" in fact


def _loads(annotations: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Who judged how many dialogues of each system, in the largest evaluation with known annotators."""
    study = material.study(annotations, pd.DataFrame({"corpus": []}), [], None, None, None, None, [])
    known = [part for part in study.parts if part.known and len(part.systems) > 1]
    if not known:
        return
    part = max(known, key=lambda p: len(p.rows))
    loads = part.loads.loc[part.loads.sum(axis=1).sort_values(ascending=False, kind="stable").index[:SHOWN]]
    for annotator, row in loads.iterrows():
        for system, n in row.items():
            place = {"corpus": part.corpus, "group": part.group, "method": part.method}
            yield place | {"statistic": "design_load", "annotator": annotator, "system": system, "estimate": float(n)}


def stored(results: Results) -> Examined:
    """What `store` stored, the findings with the highest price first."""
    found, evidence = results["design_finding"], results["design_evidence"]
    facts: dict[str, dict[str, Any]] = {}
    for row in evidence.to_dict("records"):
        value: Any = row["system"] if pd.notna(row["system"]) else row["text"]
        if pd.notna(row["estimate"]):
            value = {"int": int, "bool": bool}.get(row["text"], float)(row["estimate"])
        own = facts.setdefault(row["case"], {})
        if pd.isna(row["k"]):
            own[row["fact"]] = value
        else:
            own.setdefault(row["fact"], []).append(value)
    findings = [
        Finding(
            row["code"],
            row["estimate"],
            facts.get(row["case"], {}),
            tuple(row["touches"].split(",")),
            {c: row[c] for c in _PLACE if pd.notna(row[c])},
        )
        for row in found.to_dict("records")
    ]
    unchecked = results["design_unchecked"]
    return Examined(
        sorted(findings, key=lambda f: -f.price),
        [Unchecked(c, r) for c, r in zip(unchecked["code"], unchecked["reason"], strict=True)],
        list(results["design_passed"]["code"]),
        list(results["design_part"][list(_PLACE)].itertuples(index=False, name=None)),
    )
