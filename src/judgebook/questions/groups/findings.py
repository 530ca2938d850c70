"""What notebook 08 says: facts from its results, put into words by `text.md.j2`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose
from judgebook.questions.groups import analysis
from judgebook.questions.groups.analysis import BOTH, DIFFERS
from judgebook.questions.groups.claims import OBJECTIVE, SHARED
from judgebook.questions.groups.tables import named, ordered
from judgebook.study.labels import METHODS
from judgebook.study.results import Results, where

#: groups with fewer people than this are not a sample of anyone
FEW_PEOPLE = 5
_PHRASES = Phrases(__package__)


def findings(results: Results, names: DisplayNames, *, confidence: float) -> Iterator[Prose]:
    """The headline, and what differs."""
    rows = ordered(analysis.differences(results, confidence), names)
    few, differ = _few_people(results, names), rows[rows["verdict"].isin([DIFFERS, BOTH])]
    counts = analysis.counted(results, "sign") if len(results["conclusion_count"]) else pd.DataFrame()
    agree = {v: list(counts[v] / counts.sum(axis=1)) if len(counts) else [] for v in ("same", "contrary")}
    yield Prose(_PHRASES.say("headline", **_headline(rows, len(differ), 1 - confidence), **agree, few=few))
    moved = (rows["without_high"] - rows["without_low"]).dropna()
    range_ = {"median": moved.median(), "most": moved.max()} if len(moved) else None
    yield Prose(_PHRASES.say("details", differ=by_place(differ, rows, names), moved=range_, few=few))


def _headline(rows: pd.DataFrame, n_differ: int, level: float) -> dict[str, Any]:
    """How many differences are significant, and how many when whole annotators are permuted."""
    by_people = rows["p_people"].dropna()
    facts = {"n": int(rows["p_adjusted"].count()), "n_differ": n_differ, "n_people": len(by_people)}
    return facts | {"differ_people": int((by_people < level).sum())}


def by_place(chosen: pd.DataFrame, rows: pd.DataFrame, names: DisplayNames) -> list[tuple[str, list[str]]]:
    """Labels by method and pair of groups, which are named where `rows` have several of them."""
    titles = named(rows, names)
    columns = [c for c, several in titles.nunique().items() if several > 1 and c != "Label"]
    titles = titles.loc[chosen.index]
    keys = pd.Series([", ".join(key) for key in titles[columns].itertuples(index=False)], titles.index, dtype=str)
    return [(key, list(part)) for key, part in titles["Label"].groupby(keys, sort=False)]


def _few_people(results: Results, names: DisplayNames) -> list[tuple[str, int]]:
    people = results.select("count", what="evaluators", kind="human", scope=None)
    few = people[people["estimate"] < FEW_PEOPLE]
    return [(names.name("group", g), int(n)) for g, n in zip(few["group"], few["estimate"], strict=True)]


def claims(results: Results, names: DisplayNames, objective: Sequence[str]) -> Iterator[Prose]:
    """A sentence for each of three claims of Finch et al. 2024, section 5, with the interval that decides."""
    yield Prose(_PHRASES.say("by_method_claim", contrasts=_contrasts(results, names, SHARED)))
    rows = results["extreme_share_difference"].dropna(subset="ci_low")
    disagreed = [_extreme(row, results, names) for row in rows.to_dict("records")]
    yield Prose(_PHRASES.say("extreme_claim", pairs=disagreed))
    titles = dict.fromkeys(label.title for (_, key), label in names.labels.items() if key in objective)
    yield Prose(_PHRASES.say("objective_claim", contrasts=_contrasts(results, names, OBJECTIVE), labels=list(titles)))


def _contrasts(results: Results, names: DisplayNames, labels: str) -> list[dict[str, Any]]:
    """Contrasts of the difference over all pairs of groups (or of the only two groups), and whether each is clear."""
    rows = results.select("robustness_contrast", labels=labels, of="difference")
    key = ["corpus", "method", "against"]
    rows = rows.sort_values("group", na_position="first", kind="stable").drop_duplicates([*key, "resample"])
    people = where(rows, resample="session and annotator").set_index(key)
    out = []
    for row in where(rows, resample="session").dropna(subset="ci_low").to_dict("records"):
        at = tuple(row[c] for c in key)
        wider = people.loc[at] if at in people.index else None
        facts = {"method": names.name("method", row["method"]), "against": names.name("method", row["against"])}
        units = {METHODS[row[c]].unit == "pair" for c in ("method", "against") if row[c] in METHODS}
        resolved = {"resolved": _excludes_zero(row), "people": wider is not None and _excludes_zero(wider)}
        out.append({**facts, **resolved, "row": row, "asked": wider is not None, "scales": len(units) > 1})
    return out


def _excludes_zero(row: Mapping[str, Any]) -> bool:
    return bool(row["ci_low"] > 0 or row["ci_high"] < 0)


def _extreme(row: Mapping[str, Any], results: Results, names: DisplayNames) -> dict[str, Any]:
    share = results.select("extreme_share", method=row["method"], corpus=row["corpus"])
    share = share.set_index(["group", "group_b"])["estimate"]
    pair = (row["group"], row["group_b"])
    facts = {"groups": [names.name("group", g) for g in pair], "method": names.name("method", row["method"])}
    return facts | {"shares": [share[pair], share[pair[::-1]]], "row": row, "resolved": _excludes_zero(row)}
