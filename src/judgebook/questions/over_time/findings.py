"""What notebook 18 says: facts from its results, put into words by `text.md.j2`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from judgebook.annotations.periods import in_order
from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose
from judgebook.study.results import Results

_PHRASES = Phrases(__package__)
#: changes that are told one by one; more are counted
MOST = 3
_AT = ["corpus", "group", "method", "label", "before", "period"]


def named(results: Results, statistic: str, false_alarms: float) -> pd.DataFrame:
    """The changes that stand out, the clearest first."""
    rows = results[statistic]
    return rows[rows["p_adjusted"] < false_alarms].sort_values("p_value", kind="stable")


def facts(results: Results, names: DisplayNames, false_alarms: float) -> dict[str, Any]:
    """tested, periods (first, last); `changes`: MOST of them as who, what, label, size, ends, since, and
    whether of one of two annotators; n : of all; `together`: where all of several systems changed in one direction."""
    order = in_order(results["period_count"]["period"])
    people, systems = (named(results, s, false_alarms) for s in ("annotator_change", "system_change"))
    everyone = pd.concat([people.assign(who=people["annotator"]), systems.assign(who=None)])
    everyone = everyone.sort_values("p_value", kind="stable")
    # of two annotators one change is told, that of the first relative to the second
    mirrored = (everyone["n_annotators"] == 2) & everyone["who"].notna()
    everyone = everyone[~(mirrored & everyone.assign(mirrored=mirrored).duplicated([*_AT, "mirrored"]))]
    several = len(everyone[["corpus", "group"]].drop_duplicates()) > 1
    tested = results["system_change"].sort_values("p_value", kind="stable").groupby(_AT, sort=False)
    together = [
        {"label": names.distinct_label(key[3], key[2]), "period": key[5], "n": len(rows)}
        for key, rows in tested
        if len(rows) > 1 and (rows["p_adjusted"] < false_alarms).all() and rows["estimate"].gt(0).mean() in (0, 1)
    ]
    return {
        "tested": len(results["annotator_change"]) + len(results["system_change"]),
        "first": order[0] if order else "",
        "last": order[-1] if order else "",
        "n": len(everyone),
        "together": together,
        "changes": [_change(row, names, several=several) for row in everyone.head(MOST).to_dict("records")],
    }


def _change(row: dict[str, Any], names: DisplayNames, *, several: bool) -> dict[str, Any]:
    where = f" ({names.name('group', row['group'])}, {names.name('corpus', row['corpus'])})" if several else ""
    return {
        "annotator": row["who"],
        "system": None if row["who"] else names.name("system", row["system"]),
        "of_two": row["n_annotators"] == 2,
        "label": names.distinct_label(row["label"], row["method"]) + where,
        "rise": row["estimate"] > 0,
        "size": abs(row["estimate"]),
        "low": min(abs(row["ci_low"]), abs(row["ci_high"])),
        "high": max(abs(row["ci_low"]), abs(row["ci_high"])),
        "period": row["period"],
    }


def unseparated(results: Results) -> list[dict[str, Any]]:
    """Why changes of systems and annotators cannot be told apart, and between which periods; the commonest first."""
    rows = results["unseparated"].drop_duplicates(["note", "before", "period"])
    parts = sorted(rows.groupby("note", sort=False), key=lambda item: -len(item[1]))
    return [{"why": why, "n": len(part), "before": part["before"].iloc[0], "period": part["period"].iloc[0]}
            for why, part in parts]  # fmt: skip


def findings(results: Results, names: DisplayNames, false_alarms: float) -> Iterator[Prose]:
    """The headline: which changes stand out; where nothing can be told."""
    yield Prose(_PHRASES.say("headline", **facts(results, names, false_alarms)))
    yield Prose(_PHRASES.say("unseparated", reasons=unseparated(results)))
