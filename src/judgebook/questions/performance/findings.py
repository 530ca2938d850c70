"""What notebook 07 says: facts from its results, put into words by `text.md.j2`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pandas as pd
from markupsafe import Markup
from scipy.special import expit

from judgebook.annotations.features import undirected
from judgebook.annotations.population import Population
from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose
from judgebook.questions.performance import leading
from judgebook.questions.performance.analysis import primary_scores
from judgebook.questions.performance.arrangement import part_names
from judgebook.study.results import Results, where
from judgebook.study.schema import Annotations

_PHRASES = Phrases(__package__)


def no_order(results: Results, names: DisplayNames) -> Prose:
    """Why there is no leader."""
    rated = primary_scores(results)[["method", "label"]].drop_duplicates().itertuples(index=False, name=None)
    reason = Markup(undirected([names.labels[key] for key in rated]))
    return Prose(_PHRASES.say("no_order", ranked=bool(len(results["rank"])), undirected=reason))


def leader(
    results: Results,
    names: DisplayNames,
    parts: Sequence[tuple[str, str, str]],
    people: Mapping[tuple[str, str], Population],
    judged: Annotations,
    confidence: float,
) -> Prose | None:
    """Who leads the main evaluation, how certainly, and for whom, as on the first page.

    parts : of `annotations.summary.evaluations`; people : of `annotations.population.populations`; judged : what is
    evaluated, of which those who judged by the method of the main evaluation are counted.
    """
    rows = leading.order(results, parts)
    if rows.empty:
        return None
    (part, main), *others = rows.groupby(leading.PART, sort=False)
    places_ = pd.concat([rows, results["rank"]])[["corpus", "group"]].drop_duplicates(ignore_index=True)
    facts = leading.leaders(main)
    label = main["label"].iloc[0]
    what = names.name("label", label, part[2]) if pd.notna(label) else ""
    facts |= {"name": names.name("system", facts["top"]["system"]), "label": what, "level": confidence}
    facts |= {"rivals": [names.name("system", s) for s in facts["rivals"]], "n_labels": int(main["n_labels"].iloc[0])}
    where_ = part_names(places_, names).iloc[0] if len(places_) > 1 else ""
    facts |= {"who": names.name("method", part[2]) + (f", {where_}" if where_ else ""), "people": people.get(part[:2])}
    by_method = where(judged, corpus=part[0], group=part[1], method=part[2])
    facts |= {"judged": by_method["annotator"].nunique(), "method": names.name("method", part[2])}
    facts["tiers"] = [[names.name("system", s) for s in tier] for tier in leading.tiers(results, main)]
    facts["second"] = _second(main.iloc[1], names) if len(main) > 1 else None
    facts |= {"others": _others(part, facts["top"]["system"], dict(others), names)}
    return Prose(_PHRASES.say("leader", **facts))


def _second(row: pd.Series, names: DisplayNames) -> dict[str, Any]:
    """Its name, whether it may be best, and how far the first is ahead with ends: points, SD, percentage points, or of
    strengths the percentage of decided votes against it that the first wins."""
    ends = row[["lead", "lead_low", "lead_high"]].to_numpy(float)
    values = 100 * expit(ends) if row["unit"] == "strength" else 100 * ends if row["unit"] == "share" else ends
    about = {"name": names.name("system", row["system"]), "rival": bool(row["rank_low"] == 1)}
    return about | dict(zip(("estimate", "ci_low", "ci_high"), values, strict=True))


def _others(
    main: tuple[str, str, str], leader: str, orders: Mapping[tuple[str, str, str], pd.DataFrame], names: DisplayNames
) -> dict[str, Any]:
    """Of the other evaluations: how many, how they differ, in how many the same system leads, who is certain to be best
    in how many."""
    leaders = [leading.leaders(rows) for rows in orders.values()]
    sure = pd.Series([names.name("system", f["top"]["system"]) for f in leaders if f["sure"]], dtype=object)
    kinds = zip(("run", "group", "method"), zip(main, *orders, strict=True), strict=True)
    return {
        "n": len(leaders),
        "by": [kind for kind, values in kinds if len(set(values)) > 1],
        "same": sum(f["top"]["system"] == leader for f in leaders),
        "sure": list(sure.value_counts().items()),
    }


def unranked(judged: pd.DataFrame, systems: Collection[str], names: DisplayNames) -> Prose:
    """Which systems were judged but are not ranked."""
    judged_ones = set(judged["system"].unique())
    present = [names.name("system", s) for s in systems if s in judged_ones]
    return Prose(_PHRASES.say("unranked", systems=present))
