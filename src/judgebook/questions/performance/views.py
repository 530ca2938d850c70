"""What notebook 07 shows and says: figures, tables, and sentences, which `text.md.j2` puts into words."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup
from scipy.special import expit

from judgebook.annotations.features import undirected
from judgebook.annotations.population import Population
from judgebook.annotations.summary import evaluations
from judgebook.display import cells
from judgebook.display.cells import intervals
from judgebook.display.grid_plots import MANY
from judgebook.display.names import DisplayNames, display_names
from judgebook.display.page import NotebookPage, Section
from judgebook.display.text import Phrases, percent
from judgebook.display.views import Prose, Table, without_direction
from judgebook.questions.performance import arrangement, leaderboard, leading
from judgebook.questions.performance.analysis import of_wins, primary_scores, with_and_without, won
from judgebook.questions.performance.arrangement import part_names
from judgebook.questions.performance.leaderboard import Order
from judgebook.study.labels import METHODS
from judgebook.study.results import Results, where
from judgebook.study.schema import Annotations

#: part of the variance -> heading
PARTS = {
    "context": "Context",
    "item": "Dialogue",
    "answer": "Answer",
    "annotator": "Strictness",
    "taste": "Preferences",
}
PARTS |= {"residual": "Rest"}
#: behind an exact bound
BOUND = "*"
#: order of the first columns
_PLACE = ["corpus", "group", "method", "label", "system"]


def scores(results: Results, names: DisplayNames, method: str, confidence: float) -> Iterator[Table]:
    """Rates (in percent), means or percent won by one method, with their primary intervals."""
    rates = primary_scores(results)
    rates = rates[rates["method"] == method]
    titles = {"rate": f"share of {METHODS[method].unit}s (percent)", "mean": "mean rating", "share": "percent won"}
    for statistic, rows in rates.groupby("statistic", sort=False):
        name = names.stem(method) + ("" if len(set(rates["statistic"])) == 1 else f"_{statistic}")
        table = score_table(won(rows) if statistic == "share" else rows, names, 1 if statistic == "mean" else 100)
        caption = f"{names.name('method', method)}: {titles[str(statistic)]}, with {percent(confidence)} CI over"
        caption += f" {clusters(rows)}."
        if rows["ci_kind"].eq("exact_bound").any():
            caption += f" {BOUND}: exact bounds instead, as there are too few marks of one kind; these are not"
            caption += " comparable in width with the others."
        why = dict.fromkeys(table.columns, "No judgements, or no variation.")
        yield Table(table, name, caption, {"Tied": 1}, why)


def clusters(rates: pd.DataFrame) -> str:
    """What the intervals of `primary_scores` treat as samples, in words."""
    kinds = sorted(rates["interval"].unique(), key=len)
    return " or ".join(" and ".join(f"{unit}s" for unit in kind.split(" and ")) for kind in kinds)


def score_table(rates: pd.DataFrame, names: DisplayNames, scale: float) -> pd.DataFrame:
    """Estimates with their intervals, `scale` times as large: one row per label, or per label and system if there are
    more than MANY."""
    rows = names.sort(rates).copy()
    rows[["estimate", "ci_low", "ci_high"]] *= scale
    bound, texts = rows["ci_kind"].eq("exact_bound"), intervals(rows, 1 if scale > 1 else 2)
    rows["text"] = [cells.marked(cell, BOUND) if odd else cell for cell, odd in zip(texts, bound, strict=True)]
    if rows["system"].nunique() > MANY:
        parts = part_names(rows, names)
        rows = pd.concat([rows[parts == part] for part in dict.fromkeys(parts)])
        out = rows[_PLACE].assign(n=rows["n"].astype(int), Estimate=rows["text"])
        if "tie" in rows:
            out.insert(len(_PLACE) + 1, "Tied", scale * rows["tie"])
        return names.named(out).drop(columns="Method")
    wide = rows.set_index(_PLACE)["text"].unstack("system")  # noqa: PD010 (twice must raise)
    wide = wide.reindex(rows.drop_duplicates(_PLACE[:-1]).set_index(_PLACE[:-1]).index)
    systems = sorted(wide.columns, key=lambda s: names.position("system", s))
    wide = wide[systems].rename(columns=lambda s: names.name("system", s)).rename_axis(columns=None).reset_index()
    return names.named(wide).drop(columns="Method")


def ranks(results: Results, orders: Sequence[Order], names: DisplayNames) -> Iterator[Table]:
    """Every order of the systems by one method, best first: levels, differences from the leader, ranks, clusters, and
    chances of being best."""
    for method in dict.fromkeys(order.method for order in orders):
        of_method = [order for order in orders if order.method == method]
        out = pd.concat([_ranked(results, order, names) for order in of_method], ignore_index=True)
        caption = (
            f"{names.name('method', method)}: systems by label and over labels, the best first. Score with its own"
        )
        caption += f" {names.ci}; those of differences from the leader and of ranks hold for all pairs of systems of a"
        caption += " label at once. Cluster: no system of a cluster is shown to differ from its first. Best: chance of"
        caption += " being the best system, the systems being draws from one distribution."
        why = dict.fromkeys(out.columns, leaderboard.NOT_BEHIND)
        of = {"Method": names.name("method", method)}
        yield Table(out, f"ranks_{names.stem(method)}", caption, why=why, folded=True, of=of)


def _ranked(results: Results, order: Order, names: DisplayNames) -> pd.DataFrame:
    scale, unit, _ = order.unit
    rows = order.rows
    out = names.named(rows[["corpus", "group", "system"]]).reset_index(drop=True)
    out.insert(out.columns.get_loc("System"), "Label", order.label or leaderboard.OVERALL)
    out["Verdict"] = rows["verdict"].to_numpy()
    out["Score"] = intervals(rows[["estimate", "ci_low", "ci_high"]] * scale).to_numpy()
    out["Unit"] = unit
    out["Behind"] = leaderboard.behind(rows, scale).to_numpy()
    ends = rows[["rank", "rank_low", "rank_high"]].set_axis(["estimate", "ci_low", "ci_high"], axis=1)
    out["Rank"] = intervals(ends, 0).to_numpy()
    place = pd.Series(np.nan, rows.index)
    for _, part in rows[rows["rank_low"].notna()].groupby("part", sort=False):
        tiers = leading.tiers(results, part)
        of_system = {system: i for i, tier in enumerate(tiers, start=1) for system in tier}
        place[part.index] = part["system"].map(of_system)
    out["Cluster"] = place.astype("Int64").to_numpy()
    out["Best (%)"] = 100 * rows["p_best"].to_numpy(float)
    return out


def contrasts(results: Results, names: DisplayNames) -> Iterator[Table]:
    """Every difference of two systems, by method."""
    for method, rows in names.sort(names.pairs(results["contrast"])).groupby("method", sort=False):
        scale = 1 if METHODS[str(method)].unit != "pair" else 100
        out = names.named(rows[["corpus", "group", "method", "label", "system"]]).drop(columns="Method")
        out["Other system"] = [names.name("system", s) for s in rows["system_b"]]
        out["Difference"] = intervals(rows[["estimate", "ci_low", "ci_high"]] * scale).to_numpy()
        out["p"], out["p of all"] = rows["p_value"].to_numpy(), rows["p_adjusted"].to_numpy()
        unit = "percentage points, share won minus share lost" if scale > 1 else "points of the scale"
        caption = (
            f"{names.name('method', method)}: difference of two systems in the fitted model ({unit}), with {names.ci}"
        )
        caption += " and p of all pairs of a label at once, and p of the pair alone."
        why = dict.fromkeys(out.columns, "The systems cannot be compared.")
        yield Table(out, f"contrasts_{names.stem(str(method))}", caption, why=why, folded=True)


def components(results: Results, names: DisplayNames) -> Table | None:
    """Of what the variance of judgements is made, by label, and how often a repetition would have another order."""
    rows = results["component_share"]
    if rows.empty:
        return None
    keys = ["corpus", "group", "method", "label"]
    wide = names.sort(rows.assign(share=100 * rows["estimate"]))
    out = wide[keys].drop_duplicates()
    for part, title in PARTS.items():
        of_part = wide[wide["part"] == part].set_index(keys)["share"]
        if of_part.notna().any():
            out[title] = of_part.reindex(pd.MultiIndex.from_frame(out[keys])).to_numpy()
    turned = results["order_reversal"]
    for part, title in {"annotators": "Other annotators", "study": "Another study"}.items():
        chance = turned[turned["part"] == part].set_index(keys)["estimate"]
        out[title] = chance.reindex(pd.MultiIndex.from_frame(out[keys])).to_numpy() if len(chance) else np.nan
    left = sorted(set(rows.loc[rows["estimate"].isna(), "note"].dropna()))
    caption = (
        "Shares of the variance of judgements of one system (%) in the fitted model. Other annotators, another study:"
    )
    caption += " chance that as many other annotators of the same items, or a whole repetition, would reverse the"
    caption += " order of the first two systems."
    if left:
        caption += f" Left out where the design does not tell parts apart: {'; '.join(left)}."
    why = dict.fromkeys(out.columns, "Not distinguished by the design, or for these annotators only.")
    return Table(names.named(out), "components", caption, why=why)


def design_effects(results: Results, names: DisplayNames) -> Table | None:
    """Median and range of design effects, by method, part and kind of cluster; None where none differs from 1."""
    rows = of_wins(results["design_effect"])
    if not (rows["estimate"] - 1).abs().gt(0.02).any():
        return None
    by = names.sort(rows).groupby(["corpus", "method", "group", "unit"], sort=False)
    out = by["estimate"].agg(estimate="median", ci_low="min", ci_high="max")
    out["n_clusters"] = by["n_clusters"].median().round().astype(int)
    out["Range"] = cells.ranges(out[["ci_low", "ci_high"]])
    titles = {"unit": "Clusters", "estimate": "Median", "n_clusters": "Clusters per system"}
    table = names.named(out.drop(columns=["ci_low", "ci_high"]).reset_index()).rename(columns=titles)
    return Table(table, "design_effects", "Design effects: median and range over labels and systems.")


def weights(results: Results, names: DisplayNames) -> Table | None:
    """Estimates with and without sampling weights, and the difference."""
    if results["unweighted"].empty:
        return None
    rows = names.sort(with_and_without(results))
    titles = {"estimate": "Unweighted", "weighted": "Weighted", "effect": "Composition effect", "deff": "Design effect"}
    out = rows[[*_PLACE, *titles]].rename(columns=titles)
    caption = (
        "Estimates with and without sampling weights (of comparisons, the share won). Composition effect: the weighted"
    )
    caption += " estimate minus the unweighted one. Design effect: that of the weights alone, 1 + CV²."
    return Table(names.named(out), "weights", caption, {"Unweighted": 3, "Weighted": 3, "Composition effect": 3})


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


class Sections(NotebookPage):
    """everybody, judged : judgements of the evaluation, and those analysed."""

    everybody: pd.DataFrame
    judged: pd.DataFrame

    @cached_property
    def orders(self) -> list[leaderboard.Order]:
        """The order of the main evaluation's method first: of the overall mean, or of its first label."""
        return leaderboard.orders(leading.rankings(self.results, evaluations(self.everybody)), self.names)

    @cached_property
    def names(self) -> DisplayNames:
        names = display_names(self.study, self.judged)
        return arrangement.in_order(names, self.study, self.everybody, self.results)

    def ranks(self) -> Section:
        methods = [order.method for order in self.orders]
        others = [order for order in self.orders[1:] if not order.label or methods.count(order.method) == 1]
        for i, order in enumerate(others, 1):
            yield leaderboard.plot(order, self.names, f"order_{i}")
        yield ranks(self.results, self.orders, self.names)
        yield contrasts(self.results, self.names)
        yield unranked(self.judged, self.study.unranked_systems, self.names)
        yield without_direction(self.judged, self.labels)

    def rates(self) -> Section:
        yield weights(self.results, self.names)
        yield from self._scores(pairs=False)

    def comparisons(self) -> Section:
        yield from self._scores(pairs=True)

    def _scores(self, *, pairs: bool) -> Section:
        for method in sorted(self.judged["method"].unique(), key=list(METHODS).index):
            if (METHODS[method].unit == "pair") == pairs:
                yield scores(self.results, self.names, method, self.study.bootstrap.confidence)

    def other_annotators(self) -> Section:
        yield components(self.results, self.names)

    def units(self) -> Section:
        yield design_effects(self.results, self.names)
