"""What notebook 03 says: facts from its results, put into words by `text.md.j2`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose
from judgebook.questions.agreement.population import BOUNDS, FIXED, SAMPLE, primary
from judgebook.questions.agreement.views import RELIABLE, TENTATIVE, over
from judgebook.study.results import Results
from judgebook.study.schema import CELL

#: a mark this rare, or this common, makes alpha collapse: expected agreement comes near 1
RARE = 0.1
#: raw agreement from which a low alpha needs explaining
HIGH = 0.8
_PHRASES = Phrases(__package__)


def findings(
    results: Results,
    names: DisplayNames,
    *,
    min_items: int,
    confidence: float,
    threshold: float = TENTATIVE,
    misleading: Sequence[str] = (),
) -> Iterator[Prose]:
    """The headline and what qualifies it. threshold : `iaa.threshold`. misleading : methods whose unit of resampling
    misleads (`analysis`)."""
    rows = names.sort(primary(results))
    free = rows[~rows["ci_kind"].isin(BOUNDS)]
    above = [names.full(r) for _, r in free[free["ci_low"] > threshold].iterrows()]
    facts = {"n": len(rows), "threshold": f"{threshold:g}", "above": above, "level": confidence}
    shown = {
        "n_labels": len(rows[["method", "label"]].drop_duplicates()),
        "below": len(free[free["ci_high"] < threshold]),
        "one": rows.iloc[0].to_dict() if len(rows) == 1 else None,
        "values": list(rows["estimate"].dropna()),
        "median": rows["estimate"].median(),
        "undefined": list(dict.fromkeys(rows.loc[rows["estimate"].isna(), "note"].dropna())),
        "sample": int((rows["population"] == SAMPLE).sum()),
    }
    yield Prose(_PHRASES.say("headline", **facts, **shown))
    yield Prose(_PHRASES.say("few_items", few=_few_items(rows, names, min_items), min_items=min_items))
    qualified = {
        "reliable": [names.full(r) for _, r in free[free["ci_low"] > max(RELIABLE, threshold)].iterrows()],
        "bounded": bool((rows["ci_low"] > threshold).any()) and not above,
        "chance": [names.full(r) for _, r in free[free["ci_low"] <= 0].iterrows()],
    }
    yield Prose(_PHRASES.say("qualified", **facts, **qualified))
    yield Prose(_PHRASES.say("holds_for", **_holds_for(rows, names)))
    yield misled(misleading, names)
    yield Prose(_PHRASES.say("collapse", rows=_collapsed(results, rows, names)))
    rare = rows[rows["ci_kind"].isin([*BOUNDS, "profile"])]
    named = [(names.full(r), r["ci_kind"] != "not_estimable", r["note"]) for _, r in rare.iterrows()]
    yield Prose(_PHRASES.say("rare", rows=named))


def _holds_for(rows: pd.DataFrame, names: DisplayNames) -> dict[str, Any]:
    """Of whom the primary intervals speak, and with how many annotators nothing can be said of others."""
    fixed, sample = rows[rows["population"] == FIXED], rows[rows["population"] == SAMPLE]
    unknown = rows[~rows["population"].isin([FIXED, SAMPLE])]
    why: dict[str, dict[str, None]] = {}
    for _, r in fixed.iterrows():
        why.setdefault(r["others"], {})[_who(names, r["method"], r["group"])] = None
    facts = {"sample": len(sample), "over": over(sample), "unknown": len(unknown), "n": len(rows)}
    return facts | {"fixed": [(reason, list(who)) for reason, who in why.items()]}


def _collapsed(results: Results, rows: pd.DataFrame, names: DisplayNames) -> list[dict[str, Any]]:
    """Labels on which nearly all get the same value, so that alpha is low though most annotations agree."""
    coefficients = results["ac"].set_index(CELL)["estimate"]
    raw = results["raw_agreement"].set_index(CELL)["estimate"]
    share = results["prevalence"].set_index(CELL)["estimate"]
    out = []
    for _, r in rows.iterrows():
        key = tuple(r[CELL])
        marks = min(share.get(key, 0.5), 1 - share.get(key, 0.5))
        if (
            min(marks, 1 - marks) < RARE
            and raw.get(key, 0) >= HIGH
            and r["estimate"] < TENTATIVE
            and key in coefficients.index
        ):
            facts = {"who": names.full(r), "alpha": r["estimate"], "ac": coefficients[key], "raw": raw[key]}
            out.append(facts | {"marks": min(marks, 1 - marks)})
    return sorted(out, key=lambda f: f["alpha"] - f["ac"])


def misled(misleading: Sequence[str], names: DisplayNames) -> Prose:
    """A warning where the study wants turns resampled (`bootstrap.unit`)."""
    return Prose(_PHRASES.say("misled", methods=[names.name("method", m) for m in misleading]))


def annotations_used(first: int | None) -> Prose:
    """Which annotations of an item enter."""
    return Prose(_PHRASES.say("annotations_used", first=first))


def _few_items(rows: pd.DataFrame, names: DisplayNames, min_items: int) -> list[tuple[str, int, int]]:
    """Method and group, fewest and most items, of those with fewer than `min_items`."""
    few = rows[rows["n"] < min_items].groupby(["method", "group"], sort=False)["n"].agg(["min", "max"])
    return [(_who(names, m, g), int(r["min"]), int(r["max"])) for (m, g), r in few.iterrows()]


def _who(names: DisplayNames, method: str, group: str) -> str:
    return names.name("method", method) + ("" if group == "all" else f", {names.name('group', group)}")
