"""What notebook 03 says: facts from its results, put into words by `text.md.j2`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from helpers.agreement.analysis import BOUNDS, primary
from helpers.agreement.tables import PARTS
from helpers.display.names import DisplayNames
from helpers.display.text import Phrases
from helpers.display.views import Prose
from helpers.stats import mixed_models
from helpers.study.results import Results
from helpers.study.schema import CELL

#: Krippendorff's customary thresholds (Content Analysis, 4th edition, section 12.5): reliable, tentative
RELIABLE, TENTATIVE = 0.8, 0.667
#: share of the variance between annotators that a reader must know of, if its interval lies above
NOTABLE = 0.05
_PHRASES = Phrases(__package__)


def findings(
    results: Results, names: DisplayNames, *, min_items: int, confidence: float, misleading: Sequence[str] = ()
) -> Iterator[Prose]:
    """The headline and what qualifies it. misleading : methods whose unit of resampling misleads (`analysis`)."""
    rows = names.sort(primary(results))
    free = rows[~rows["ci_kind"].isin(BOUNDS)]
    facts = {
        "n": len(rows),
        "n_labels": len(rows[["method", "label"]].drop_duplicates()),
        "reliable": [names.full(r) for _, r in free[free["ci_low"] > RELIABLE].iterrows()],
        "tentative": [names.full(r) for _, r in free[free["ci_low"] > TENTATIVE].iterrows()],
        "values": list(rows["estimate"].dropna()),
        "median": rows["estimate"].median(),
        "bounded": bool((rows["ci_low"] > TENTATIVE).any()),
        "chance": [names.full(r) for _, r in free[free["ci_low"] <= 0].iterrows()],
        "few": _few_items(rows, names, min_items),
        "min_items": min_items,
        "level": confidence,
        "undefined": list(dict.fromkeys(rows.loc[rows["estimate"].isna(), "note"].dropna())),
    }
    yield Prose(_PHRASES.say("headline", **facts))
    yield misled(misleading, names)
    yield Prose(_PHRASES.say("by_method", parts=_by_method(rows, names)))
    yield Prose(_PHRASES.say("widths", ratios=list(results["interval_width_ratio"]["estimate"])))
    bounds = rows[rows["ci_kind"].isin(BOUNDS)]
    told = [(names.full(r), r["ci_kind"] == "exact_bound", r["note"]) for _, r in bounds.iterrows()]
    yield Prose(_PHRASES.say("bounds", rows=told))
    rare = rows[rows["ci_kind"] == "profile"]
    named = [(names.full(r), int(r["n_clusters"]), r["note"]) for _, r in rare.iterrows()]
    yield Prose(_PHRASES.say("rare", rows=named, level=confidence))


def misled(misleading: Sequence[str], names: DisplayNames) -> Prose:
    """A warning where the study wants turns resampled (`bootstrap.unit`)."""
    return Prose(_PHRASES.say("misled", methods=[names.name("method", m) for m in misleading]))


def checked(differences: dict[str, tuple[int, float]]) -> Prose:
    """How far coefficients are from those of the libraries (`library_check`)."""
    return Prose(_PHRASES.say("checked", differences={k: (n, f"{d:.0e}") for k, (n, d) in differences.items()}))


def annotations_used(first: int | None) -> Prose:
    """Which annotations of an item enter."""
    return Prose(_PHRASES.say("annotations_used", first=first))


def _few_items(rows: pd.DataFrame, names: DisplayNames, min_items: int) -> list[tuple[str, int, int]]:
    """Method and group, fewest and most items, of those with fewer than `min_items`."""
    few = rows[rows["n"] < min_items].groupby(["method", "group"], sort=False)["n"].agg(["min", "max"])
    return [(_who(names, m, g), int(r["min"]), int(r["max"])) for (m, g), r in few.iterrows()]


def _by_method(rows: pd.DataFrame, names: DisplayNames) -> list[dict]:
    several = len(set(rows["group"])) > 1
    out = []
    for (method, group), part in rows.groupby(["method", "group"], sort=False):
        known = part["estimate"].count()
        if not known:
            continue
        middle, low, high = part["estimate"].agg(["median", "min", "max"])
        who = _who(names, method, group if several else "all")
        out.append({"who": who, "n": known, "median": middle, "low": low, "high": high})
    return out


def _who(names: DisplayNames, method: str, group: str) -> str:
    return names.name("method", method) + ("" if group == "all" else f", {names.name('group', group)}")


def variance(results: Results, names: DisplayNames) -> Prose:
    """Median shares of the variance by method and group, and which labels have no model and why."""
    rows = results["variance_share"]
    known = rows.dropna(subset="estimate").drop_duplicates([*CELL, "part"])
    parts = []
    for (method, group), own in names.sort(known).groupby(["method", "group"], sort=False):
        sure = own[(own["part"] == "annotator") & (own["ci_low"] > NOTABLE)]
        medians = own.groupby("part")["estimate"].median()
        facts = {"who": _who(names, method, group), "n": own["label"].nunique()}
        facts["medians"] = [(title.lower(), medians[p]) for p, title in PARTS.items() if p in medians]
        facts["annotators"] = [names.name("label", label, method).lower() for label in sure["label"]]
        parts.append(facts)
    none = names.sort(rows[rows["estimate"].isna()])
    reasons: dict[str, list[str]] = {}
    for (method, group, note), _ in none.groupby(["method", "group", "note"], sort=False):
        reasons.setdefault(note, []).append(_who(names, method, group))
    few = {"annotators": mixed_models.MIN_ANNOTATORS, "systems": mixed_models.MIN_SYSTEMS}
    return Prose(_PHRASES.say("variance", parts=parts, reasons=list(reasons.items()), few=few, notable=NOTABLE))
