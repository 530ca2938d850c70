"""What notebook 15 says: facts from its results, put into words by `text.md.j2`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pandas as pd

from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose
from judgebook.questions.annotators.analysis import flagged
from judgebook.questions.annotators.figures import TITLES, worded
from judgebook.questions.annotators.outliers import MIN_VALUES
from judgebook.questions.annotators.tables import MEANING, SOURCES, order_changes
from judgebook.study.results import Results, where

_PHRASES = Phrases(__package__)
_WHO = ["corpus", "group", "annotator"]
#: annotators whom the headline lists, rather than counting them by reason
LISTED = 3


def findings(results: Results, names: DisplayNames, false_alarms: float) -> Iterator[Prose]:
    """Who lies outside the spread of the others, or why this cannot be said; leniency; consensus labels."""
    yield Prose(
        _PHRASES.say("headline", **facts(results, names, false_alarms), false_alarms=false_alarms, least=MIN_VALUES)
    )
    yield Prose(worded(_PHRASES.say("severity", methods=_spread(results, names)), names))
    yield Prose(_PHRASES.say("consensus", **_consensus(results)))


def facts(results: Results, names: DisplayNames, false_alarms: float) -> dict[str, Any]:
    """How many annotators were compared, who was named and why, how many for each reason, and who could not be
    compared."""
    z, out = results["annotator_z"], flagged(results, false_alarms)
    people = results["annotator_answers"].drop_duplicates(_WHO)
    compared = z.drop_duplicates(_WHO)
    several = len(set(people["corpus"])) > 1
    shown, reasons = [], Counter[str]()
    for (corpus, group, name), of_method in out.groupby(_WHO, sort=False):
        where_ = [names.name("group", group)] if group != "all" else []
        where_ += [names.name("corpus", corpus)] if several else []
        why = [
            worded(MEANING[i][int(v > 0)], names) + (f" ({names.name('method', m)})" if pd.notna(m) else "")
            for i, v, m in zip(of_method["indicator"], of_method["estimate"], of_method["method"], strict=True)
        ]
        reasons.update(set(why))
        shown.append({"name": name, "where": ", ".join(where_), "why": list(dict.fromkeys(why))})
    groups = people.groupby(["corpus", "group"]).size()
    n_compared = compared.groupby(["corpus", "group"]).size().reindex(groups.index, fill_value=0)
    few = [
        {"group": names.name("group", g) if g != "all" else names.name("corpus", c), "n": int(groups[c, g])}
        for c, g in n_compared.index[n_compared == 0]
    ]
    return {
        "n": len(compared), "shown": shown[:LISTED], "named": len(shown), "few": few,
        "reasons": sorted(reasons.items(), key=lambda reason: (-reason[1], reason[0])),
        "groups": int((n_compared > 0).sum()),
        "indicators": [TITLES[i].lower() for i in TITLES if i in set(z["indicator"])],
    }  # fmt: skip


def _spread(results: Results, names: DisplayNames) -> list[dict[str, Any]]:
    """By method and group: how many annotators' severities differ from 0, and the range."""
    rows = results["annotator_severity"]
    rows = rows[rows["label"].isna() & rows["estimate"].notna()]
    several, out = len(set(rows["corpus"])) > 1, []
    for (corpus, group, method), of_method in rows.groupby(["corpus", "group", "method"], sort=False):
        parts = [names.name("method", method)] + ([names.name("group", group)] if group != "all" else [])
        parts += [names.name("corpus", corpus)] if several else []
        off = int(((of_method["ci_low"] > 0) | (of_method["ci_high"] < 0)).sum())
        out.append({"name": ", ".join(parts), "n": len(of_method), "off": off, "low": of_method["estimate"].min(),
                    "high": of_method["estimate"].max()})  # fmt: skip
    return out


def _consensus(results: Results) -> dict[str, Any]:
    """By source: changes of rates (of `labels`, 0 where none has rates because they have no order), and the largest
    `share` of items that change, and the `stability` of the least stable label."""
    changes, tried = order_changes(results), results["consensus_changed"]
    estimated = tried[tried["estimate"].notna()]
    of = []
    for source in [s for s in SOURCES if s in {*changes["source"], *estimated["source"]}]:
        moves, share = changes[changes["source"] == source], where(estimated, source=source)["estimate"]
        of.append({"name": SOURCES[source], "largest": moves["changed"].max(), "turned": int(moves["turned"].sum()),
                   "pairs": int(moves["pairs"].sum()), "labels": len(moves), "median": moves["changed"].median(),
                   "share": share.max() if len(share) else None,
                   "stability": _least_stable(results, source)})  # fmt: skip
    why = sorted(set(tried["note"].dropna()))[:3]
    return {"sources": of, "tried": len(tried), "why": why}


def _least_stable(results: Results, source: str) -> dict[str, Any] | None:
    """The share of labels that change in resamples of the items, for the label for which most do."""
    rows = where(results["consensus_stability"], source=source)
    return rows.loc[rows["ci_high"].idxmax()].to_dict() if len(rows) else None
