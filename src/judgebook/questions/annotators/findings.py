"""What notebook 15 says: facts from its results, put into words by `text.md.j2`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose
from judgebook.questions.annotators.analysis import flagged
from judgebook.questions.annotators.outliers import MIN_VALUES
from judgebook.questions.annotators.views import MEANING, TITLES, worded
from judgebook.study.results import Results

_PHRASES = Phrases(__package__)
_WHO = ["corpus", "group", "annotator"]
#: annotators whom the headline lists, rather than counting them by reason
LISTED = 3


def findings(results: Results, names: DisplayNames, false_alarms: float) -> Iterator[Prose]:
    """Who lies outside the spread of the others, or why this cannot be said; consensus labels."""
    yield Prose(
        _PHRASES.say("headline", **facts(results, names, false_alarms), false_alarms=false_alarms, least=MIN_VALUES)
    )
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


def _consensus(results: Results) -> dict[str, Any]:
    """Largest and median change of rates by consensus `labels` (0 where none has rates because they have no order), how
    many of `pairs` of systems change their order, and the largest `share` of items that change."""
    moves = []
    for _, rows in results["consensus_rate"].groupby(["corpus", "group", "method", "label"], sort=False):
        rates = rows.set_index(["system", "source"])["estimate"].unstack()  # noqa: PD010
        if "dawid_skene" in rates:
            before, after = (rates[source].to_numpy() for source in ("mean", "dawid_skene"))
            upper = np.triu_indices(len(rates), 1)
            turned = [np.sign(x[:, None] - x)[upper] for x in (before, after)]
            moves.append((np.abs(after - before).max(), np.sum(turned[0] * turned[1] < 0), len(upper[0])))
    tried = results["consensus_changed"]
    estimated = tried.loc[tried["estimate"].notna(), "estimate"]
    changed = [largest for largest, _, _ in moves]
    return {
        "labels": len(moves), "largest": max(changed, default=0.0), "median": float(np.median(changed or [0.0])),
        "turned": int(sum(turned for _, turned, _ in moves)), "pairs": sum(n for _, _, n in moves),
        "share": estimated.max() if len(estimated) else None, "tried": len(tried),
        "why": sorted(set(tried["note"].dropna()))[:3],
    }  # fmt: skip
