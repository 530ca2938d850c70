"""Whether a model as judge decides otherwise than people, from the results of notebook 13."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from judgebook.display.names import DisplayNames
from judgebook.display.text import listing
from judgebook.questions.judges.analysis import judge_titles
from judgebook.study.results import ResultRows, Results
from judgebook.summary.evidence import JUDGES, Evidence

_CASE = ["corpus", "method", "label", "metric"]
#: shares of labels in words: of all, of more than half, of at least one, of none
_ALL, _MOST, _SOME, _NONE = "all", "most", "some", "no"


def models(evidence: Evidence, names: DisplayNames) -> dict[str, Any]:
    """How models agree with a person, relative to how people agree with one another.

    Returns `kind`: none (no model judged), missing (not computed, with `reason`), gold (no item has two judgements by
    people), with `gold`, name, n labels and kappas of each model, or compared, with `who`, the models with their verb,
    and `less`, on how many of the labels a model agrees less (a word; empty where each judged one);
    `choices`, whether all of this is about equal choices, not alpha;
    `cases`, models with one label: name, label, `judge`, `people`, `difference` (a row with its CI), `choices` (whether
    these are shares of equal choices or alpha); and `lines`, models with several: name, n labels, less, more.
    """
    nothing: dict[str, Any] = {"cases": [], "lines": [], "gold": [], "choices": False}
    if not (evidence.annotations["annotator_kind"] != "human").any():
        return {"kind": "none"} | nothing
    study, stored = evidence.study, evidence.results[JUDGES]
    titles = judge_titles(study.groups, evidence.annotations, study.judges.titles)
    kinds = ((stored["choice_agreement"], True), (stored["judge_alpha"], False))
    chosen = {tuple(key) for key in stored["choice_agreement"][_CASE].to_numpy()}
    by_kind = [_cases(rows, choices, names, titles) for rows, choices in kinds if len(rows)]
    every = [case for many in by_kind for case in many if case["choices"] or case["key"] not in chosen]
    if not every and len(stored["gold_kappa"]):
        return nothing | {"kind": "gold", "gold": _against_gold(stored, titles)}
    if not every:
        return {"kind": "missing", "reason": evidence.reasons.get(JUDGES, "")} | nothing
    by_judge: dict[str, list[dict[str, Any]]] = {}
    for case in every:
        by_judge.setdefault(case["name"], []).append(case)
    for name, cases in by_judge.items():
        if len(cases) == 1:
            nothing["cases"].append(cases[0])
        else:
            counts = {of: sum(case[of] for case in cases) for of in ("less", "more")}
            nothing["lines"].append({"name": name, "n": len(cases)} | counts)
    n, less = len(every), sum(case["less"] for case in every)
    share = _NONE if not less else _ALL if less == n else _MOST if 2 * less > n else _SOME
    few = len(by_judge) < 3
    who = (
        listing(by_judge) + (" agrees" if len(by_judge) == 1 else " agree") if few else f"{len(by_judge)} models agree"
    )
    one = n == len(by_judge) and less == n
    choices = all(case["choices"] for case in every)
    return {"kind": "compared", "who": Markup(who), "less": "" if one else share} | nothing | {"choices": choices}


def _against_gold(stored: Results, titles: Mapping[str, str]) -> list[dict[str, Any]]:
    kappa = stored["gold_kappa"]
    kappa = kappa[kappa["system"].isna()].drop_duplicates(_CASE, keep="last")
    by_judge = kappa.groupby("metric", sort=False)["estimate"]
    return [{"name": titles.get(m, m), "n": len(k), "kappas": list(k.dropna())} for m, k in by_judge]


def _cases(rows: ResultRows, choices: bool, names: DisplayNames, titles: Mapping[str, str]) -> list[dict[str, Any]]:
    """Each label that a model judged: its agreement with a person, that of people, and their difference."""
    out = []
    for key, part in rows.groupby(_CASE, sort=False, dropna=False):
        by_pair = {"judge" if row["pair"] == "mean" else row["pair"]: row for row in part.to_dict("records")}
        gap = by_pair["difference"]
        values = {of: float(by_pair[of]["estimate"]) for of in ("judge", "people")}
        named = {"name": titles.get(key[3], key[3]), "label": names.name("label", key[2], key[1])}
        facts = {"key": tuple(key), "choices": choices, "difference": gap, **named, **values}
        out.append(facts | {"less": bool(gap["ci_high"] < 0), "more": bool(gap["ci_low"] > 0)})
    return out
