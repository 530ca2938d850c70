"""What notebook 07 says: facts from its results, put into words by `text.md.j2`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup
from scipy.special import expit

from judgebook.annotations.features import undirected
from judgebook.annotations.population import Population
from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose
from judgebook.questions.performance import leading
from judgebook.questions.performance.analysis import (
    OTHER_INTERVALS,
    every_interval,
    of_wins,
    with_and_without,
)
from judgebook.questions.performance.arrangement import CROWDED, part_names
from judgebook.questions.performance.fitted import MOST, POWER
from judgebook.questions.performance.rates import with_people
from judgebook.questions.performance.tables import pick_changes
from judgebook.study.labels import METHODS
from judgebook.study.results import Results, where
from judgebook.study.schema import SYSTEM_CELL, Annotations

_PHRASES = Phrases(__package__)
#: design effects of clusters that a reader must know of, as ratios of widths
NOTABLE = 1.05


def firsts(results: Results, names: DisplayNames) -> Iterator[Prose]:
    """Who is first, label by label; what would separate the first two."""
    if lines := _firsts(results["rank"], names):  # without any, the page has said why
        yield Prose(_PHRASES.say("first_lines", lines=lines, undirected=""))
    yield Prose(_PHRASES.say("separation", lines=separation(results, names), most=MOST, power=POWER))


def widths(results: Results, names: DisplayNames, n_picks: int) -> Iterator[Prose]:
    """How wide intervals are, and the effect of the pick."""
    people, unknown = _people(results, names)
    yield Prose(_PHRASES.say("widths", clusters=_widths(results, names), people=people, unknown=unknown))
    moved = pick_changes(results, names)
    if len(moved):
        yield Prose(_PHRASES.say("picks", n=n_picks, median=moved["Median"].median(), largest=moved["Largest"].max()))


def no_order(results: Results, names: DisplayNames) -> Prose:
    """Why there is no leader."""
    rated = every_interval(results)[["method", "label"]].drop_duplicates().itertuples(index=False, name=None)
    reason = Markup(undirected([names.labels[key] for key in rated]))
    return Prose(_PHRASES.say("first_lines", lines=_firsts(results["rank"], names), undirected=reason))


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
    facts |= {
        "others": _others(part, facts["top"]["system"], dict(others), names),
        "by_label": _by_label(results, names),
    }
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


def _by_label(results: Results, names: DisplayNames) -> dict[str, Any]:
    """Over rankings by single labels: how many, in how many one system is certainly first, and which one."""
    lines = _firsts(results["rank"], names)
    wins = pd.Series([s for line in lines for s, labels in line["firsts"] for _ in labels], dtype=object).value_counts()
    several = len(results["rank"][["method", "label"]].drop_duplicates()) > 1
    n = sum(line["n_labels"] for line in lines) if several else 0
    return {"n": n, "first": sum(line["n_first"] for line in lines), "wins": list(wins.items())}


def weights(results: Results, names: DisplayNames) -> Prose | None:
    """That estimates are weighted, and the one that changes most."""
    if results["unweighted"].empty:
        return None
    rows = with_and_without(results)
    scale = [np.ptp(names.labels[m, label].scale) or 1 for m, label in zip(rows["method"], rows["label"], strict=True)]
    most = rows.loc[(rows["effect"].abs() / scale).idxmax()]
    facts = {"share": most["of"] != "mean", "weighted": most["weighted"], "plain": most["estimate"]}
    who = names.name("label", most["label"], most["method"]), names.name("system", most["system"])
    return Prose(_PHRASES.say("weights", label=who[0], system=who[1], deff=rows["deff"].max(), **facts))


def separation(results: Results, names: DisplayNames) -> list[dict[str, Any]]:
    """For each label on which the first two systems are not separated: these, and how many times the data would do so
    (NaN: more than MOST)."""
    rows = results["data_to_separate"]
    rows = rows[rows["estimate"] != 1]
    if rows.empty:
        return []
    rows = names.sort(rows).assign(part=lambda f: part_names(f, names))
    several, out = len(set(rows["part"])) > 1, []
    for row in rows.itertuples():
        who = names.name("label", row.label, row.method) + (f", {row.part}" if several else "")
        pair = {k: names.name("system", s) for k, s in (("first", row.system), ("second", row.system_b))}
        votes = METHODS[row.method].unit == "pair"
        what = "comparisons" if votes else "judgements"
        out.append({"who": who, "what": what, **pair, "times": row.estimate, "n": int(row.n)})
    return out


def unranked(judged: pd.DataFrame, systems: Collection[str], names: DisplayNames) -> Prose:
    """Which systems were judged but are not ranked."""
    judged_ones = set(judged["system"].unique())
    present = [names.name("system", s) for s in systems if s in judged_ones]
    return Prose(_PHRASES.say("unranked", systems=present))


def _firsts(ranks: pd.DataFrame, names: DisplayNames) -> list[dict[str, Any]]:
    """For each method and part: labels on which one system is first by its interval, and those of open order."""
    ranks = names.sort(ranks).assign(part=lambda f: part_names(f, names))
    several, out = len(set(ranks["part"])) > 1, []
    for (method, part), of_part in ranks.groupby(["method", "part"], sort=False):
        sure = of_part[(of_part["ci_high"] == 1) & (of_part["ci_kind"] == "simultaneous")]
        titles = sure["label"].map(lambda label, m=method: names.name("label", label, m).lower())
        who = pd.Series([names.name("system", s) for s in sure["system"]], sure.index, dtype=object)
        firsts = titles.groupby(who, sort=False).agg(list)
        any_place = (of_part["ci_low"] == 1) & (of_part["ci_high"] == of_part["system"].nunique()) | of_part[
            "ci_low"
        ].isna()
        line: dict[str, Any] = {
            "who": names.name("method", method) + (f", {part}" if several else ""),
            "firsts": list(firsts.items()),
            "n_labels": of_part["label"].nunique(),
            "n_first": sure["label"].nunique(),
            "top": [],
        }
        if of_part["system"].nunique() > CROWDED and line["n_labels"] == 1:
            line["top"] = [names.name("system", s) for s in of_part.nsmallest(5, "estimate")["system"]]
        out.append(line | {"n_open": int(any_place.groupby(of_part["label"]).all().sum())})
    return out


def _widths(results: Results, names: DisplayNames) -> list[dict[str, Any]]:
    """Roots of the design effects of the clusters that are resampled, by method."""
    rows = of_wins(where(results["design_effect"], unit=["dialogue", "session", "context"]))
    out = [_roots(part, names, method) for method, part in names.sort(rows).groupby("method", sort=False)]
    return [line for line in out if line["turns"] or line["high"] > NOTABLE]


def _people(results: Results, names: DisplayNames) -> tuple[list[dict[str, Any]], list[str]]:
    """By method: how much wider intervals become if annotators are a sample too; and methods whose annotators are
    unknown or a single person."""
    rows, keys = every_interval(results), [*SYSTEM_CELL, "statistic", "outcome"]
    rows = names.sort(rows[rows["outcome"].isin(["", "win"])])
    crossed = rows[rows["interval"].str.endswith(with_people(""))]
    alone = rows[~rows["interval"].isin([*OTHER_INTERVALS, *crossed["interval"]])].set_index(keys)
    width = (alone["ci_high"] - alone["ci_low"]).rename("alone")
    crossed = crossed.join(width, on=keys)
    ratio = ((crossed["ci_high"] - crossed["ci_low"]) / crossed["alone"]).replace([np.inf, -np.inf], np.nan)
    out = []
    for method, part in crossed.assign(ratio=ratio).dropna(subset="ratio").groupby("method", sort=False):
        low, median, high = part["ratio"].quantile([0, 0.5, 1])
        n = sorted({int(part["n_annotators"].min()), int(part["n_annotators"].max())})
        out.append({"who": names.name("method", method), "n": n, "low": low, "median": median, "high": high})
    cells = SYSTEM_CELL[:-1]
    missing = alone.index.to_frame(index=False).drop_duplicates(cells)
    missing = missing[~pd.MultiIndex.from_frame(missing[cells]).isin(pd.MultiIndex.from_frame(crossed[cells]))]
    missing = missing.assign(part=part_names(missing, names)).drop_duplicates(["method", "part"])
    several = alone.index.to_frame(index=False)[["corpus", "group"]].drop_duplicates().shape[0] > 1
    who = [
        names.name("method", m) + (f" ({part})" if several else "")
        for m, part in missing[["method", "part"]].to_numpy()
    ]
    return out, who


def _roots(rows: pd.DataFrame, names: DisplayNames, method: str) -> dict[str, Any]:
    low, median, high = np.sqrt(rows["estimate"].quantile([0, 0.5, 1]))
    facts = {"who": names.name("method", method), "unit": rows["unit"].iloc[0], "turns": METHODS[method].unit == "turn"}
    return facts | {"n": int(rows["n_clusters"].median()), "low": low, "median": median, "high": high}
