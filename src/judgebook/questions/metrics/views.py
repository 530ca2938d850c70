"""What notebook 09 shows and says: figures, tables, and sentences, which `text.md.j2` puts into words."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from judgebook.display import captions, tables
from judgebook.display.grid_plots import grid_figure, interval_keys, intervals, pages
from judgebook.display.names import GOOD, NEUTRAL, DisplayNames
from judgebook.display.style import handle
from judgebook.display.text import Phrases, span
from judgebook.display.views import Plot, Prose, Table
from judgebook.questions.metrics.analysis import DATA_SET, data_sets, overall
from judgebook.questions.metrics.text_metrics import INSTALL, METRICS, not_installed
from judgebook.statistics.multiplicity import tiers
from judgebook.study.results import Results, where

_PHRASES = Phrases(__package__)
COMPUTED, GIVEN = "computed from the texts", "score in the data"
STYLES = {GIVEN: (NEUTRAL[0], "s"), COMPUTED: (NEUTRAL[1], "o")}


def correlations(results: Results, names: DisplayNames, computed: Collection[str]) -> Iterator[Plot]:
    """Each metric's correlation with people by data set, and by label where a data set has several. computed : metrics
    computed from the texts."""
    sets = data_sets(results, names.titles)
    yield from _plots(sets, "metrics", names, computed)
    for i, (title, part) in enumerate(sets.items()):
        labels = part.select("correlation", scope="pooled").drop_duplicates("label")[["label", "method"]]
        if len(labels) > 1:
            panels = {names.name("label", *key): part.part(label=key[0]) for key in labels.itertuples(index=False)}
            yield from _plots(panels, f"labels_{i}", names, computed, f"{title}. " if len(sets) > 1 else "")


def _plots(
    panels: dict[str, Results], name: str, names: DisplayNames, computed: Collection[str], where: str = ""
) -> Iterator[Plot]:
    rows = pd.concat([panel(part, names, computed).assign(panel=title) for title, part in panels.items()])
    over = " and ".join(f"{unit}s" for unit in dict.fromkeys(rows["resample_unit"].dropna())) or "contexts"
    keys = [
        *interval_keys(f"{names.ci} over {over}", None, rows),
        handle("ceiling", GOOD, "", linestyle=(0, (4, 2))),
    ]
    caption = f"{where}Large marks: Spearman's correlation of each metric with the mean rating of people."
    caption += f" {captions.intervals(names.ci, over, rows['n_clusters'])} Dashed green line (band: CI): the highest"
    caption += " correlation that unreliable ratings allow."
    estimated = rows["estimate"].dropna()
    estimates = f"ρ from {span(estimated)}" if len(estimated) else "no ρ could be computed"
    for suffix, page in pages(rows, columns=3):
        fig = grid_figure(
            page,
            _metrics,
            styles=STYLES,
            xlabel="Spearman's ρ",
            columns=3,
            reference=0,
            named="no correlation",
            sharex=True,
            keys=keys,
        )
        alt = f"{where}Spearman's correlation of {page['block'].nunique()} metrics with mean ratings, with intervals"
        alt += f" and ceiling, for {', '.join(dict.fromkeys(page['panel']))}: {estimates}."
        title = correlations_title(rows) + (f" ({where.rstrip('. ')})" if where else "")
        unit = "Spearman's ρ of a metric with the mean rating of people"
        yield Plot(fig, f"{name}{'_page' if suffix else ''}{suffix}", alt, caption, title, unit)


def correlations_title(rows: pd.DataFrame) -> str:
    """How many correlations have an interval above 0."""
    known = rows.dropna(subset="ci_low")
    return _PHRASES.say("metrics_title", n=len(known), above=int((known["ci_low"] > 0).sum()))


def panel(results: Results, names: DisplayNames, computed: Collection[str]) -> pd.DataFrame:
    """Rows of one panel, one per metric of `names`, from the results of one label or data set.

    The mean over labels has the mean ceiling, and no interval of the ceiling.
    """
    rows = overall(results).set_index("metric").reindex(list(names.titles["metric"]))
    top = results["reliability_ceiling"]
    one = top.iloc[0] if len(top) == 1 else {"ci_low": np.nan, "ci_high": np.nan}
    return rows.assign(
        block=list(names.titles["metric"].values()),
        hue=[COMPUTED if m in computed else GIVEN for m in rows.index],
        ceiling=top["estimate"].mean(skipna=False),
        ceiling_low=one["ci_low"],
        ceiling_high=one["ci_high"],
    )


def _metrics(ax: Axes, rows: pd.DataFrame, color: str, marker: str) -> None:
    intervals(ax, rows, color, marker)
    same = rows.iloc[0]
    ax.axvspan(same["ceiling_low"], same["ceiling_high"], color=GOOD, alpha=0.07, linewidth=0)
    ax.axvline(same["ceiling"], color=GOOD, linewidth=1.2, linestyle=(0, (4, 2)))


def findings(results: Results, names: DisplayNames) -> Iterator[Prose]:
    """The headline, the ceiling and whether metrics notice a degraded control; then what qualifies them."""
    sets = [_best(name, part, names) for name, part in data_sets(results, names.titles).items()]
    filled = [s for s in sets if s["n"]]
    leaders = {s["metric"][-1] for s in filled}
    yield Prose(_PHRASES.say("headline", sets=filled, leader=filled[0]["best"] if len(leaders) == 1 else None))
    tops = results["reliability_ceiling"].groupby(DATA_SET)["estimate"].mean(skipna=False)
    yield Prose(_PHRASES.say("ceiling", ceilings=list(tops.dropna())))
    yield Prose(_PHRASES.say("control", **_control(results, names)))
    yield Prose(_PHRASES.say("overestimate", sets=filled))


def sources(scores: pd.DataFrame, own_scores: pd.DataFrame, asked: Sequence[str], corpora: Collection[str]) -> Prose:
    """Where the metrics are from, and what could not be computed.

    own_scores : computed from the texts. asked : metrics to be computed if possible.
    """
    computed, absent = set(own_scores["metric"]), not_installed(asked)
    facts = {"n_given": len(set(scores["metric"]) - computed), "n_computed": len(computed), "corpora": list(corpora)}
    facts["no_texts"] = not computed and len(asked) > len(absent)
    absent = [METRICS[m].title for m in absent]
    return Prose(_PHRASES.say("sources", **facts, absent=[] if facts["no_texts"] else absent, install=INSTALL))


def _control(results: Results, names: DisplayNames) -> dict[str, list[str]]:
    """Which metrics notice that the control is degraded, because their interval lies above 0.5 in every data set, and
    which miss it."""
    by_metric: dict[str, list[str]] = {"notice": [], "miss": []}
    for metric, rows in results["above_control"].groupby("metric", sort=False):
        by_metric["notice" if (rows["ci_low"] > 0.5).all() else "miss"].append(names.name("metric", metric))
    return by_metric


def _best(name: str, part: Results, names: DisplayNames) -> dict[str, Any]:
    """The metric with the largest correlation of a data set, and from how many others it differs."""
    ranked = overall(part).dropna(subset="estimate").sort_values("estimate", ascending=False, kind="stable")
    if ranked.empty:
        return {"n": 0}
    best, tests = ranked.iloc[0], best_against_others(part)
    facts = {"name": name, "n": len(ranked), "metric": (*best[DATA_SET], best["metric"]), "row": best.to_dict()}
    facts |= {"n_tests": len(tests), "n_differ": int((tests["p_adjusted"] < 0.05).sum())}
    return facts | {"best": names.name("metric", best["metric"])}


def best_against_others(results: Results) -> pd.DataFrame:
    """In one data set, the metric with the largest correlation minus each other metric: metric, estimate, p_value,
    p_adjusted."""
    tests = results.select("correlation_difference", coefficient="spearman")
    best = overall(results).sort_values("estimate", ascending=False, kind="stable")["metric"].iloc[0]
    turned = tests.rename(columns={"metric": "against", "against": "metric"}).assign(estimate=-tests["estimate"])
    out = where(pd.concat([tests, turned]), metric=best).drop(columns="metric").rename(columns={"against": "metric"})
    return out.dropna(subset="estimate")


def leaderboard(results: Results, names: DisplayNames) -> Iterator[Table]:
    """Of each data set, metrics with their correlations and what the largest of these exceeds them by."""
    for i, (name, part) in enumerate(data_sets(results, names.titles).items()):
        rows = overall(part).sort_values("estimate", ascending=False, kind="stable").set_index("metric")
        tests = best_against_others(part).set_index("metric")
        out = pd.DataFrame({"Metric": [names.name("metric", m) for m in rows.index]}, index=rows.index)
        out["Spearman"] = tables.intervals(rows)
        if len(tests):
            out = out.assign(Difference=tests["estimate"], p=tests["p_value"])
            out["p (Holm)"] = tests["p_adjusted"]
        caption = f"{name}: Spearman's correlation with human ratings, plain means over labels; difference: what the"
        caption += " largest exceeds it by on common items, with p adjusted over all pairs of metrics."
        why = dict.fromkeys(("Difference", "p", "p (Holm)"), "The largest itself, or not tested.")
        why["Spearman"] = "One of the two is constant."
        yield Table(out.reset_index(drop=True), f"leaderboard_{i}", caption, {"p": 4, "p (Holm)": 4}, why=why)


def above_control(results: Results, names: DisplayNames) -> Iterator[Table]:
    """By people's ratings and by each metric, the share of pairs in which an ordinary system's item scores higher than
    the control's, by data set; nothing without a control."""
    for i, (name, part) in enumerate(data_sets(results, names.titles).items()):
        rows = part["above_control"]
        people, metrics = names.sort(rows[rows["label"].notna()]), rows[rows["metric"].notna()].set_index("metric")
        metrics = metrics.reindex([m for m in names.titles["metric"] if m in metrics.index]).reset_index()
        if len(shown := pd.concat([people, metrics])):
            by = [names.name("label", *key) for key in people[["label", "method"]].itertuples(index=False)]
            out = pd.DataFrame({"By": by + [names.name("metric", m) for m in metrics["metric"]]}, index=shown.index)
            out = out.assign(Share=tables.intervals(shown), Pairs=shown["n"], Workers=shown["n_clusters"])
            caption = f"{name}: share of pairs of a chat with an ordinary system and one with the degraded control of"
            caption += " the same worker in which the former scores higher, by people's ratings and by metrics; CI over"
            yield Table(out.reset_index(drop=True), f"above_control_{i}", caption + " workers. Chance: 0.5.")


def clusters_of_metrics(results: Results, names: DisplayNames) -> Iterator[Table]:
    """Of each data set, metrics with their correlations over items and over systems, and their clusters by either."""
    for i, (name, part) in enumerate(data_sets(results, names.titles).items()):
        of_items, tests = overall(part), part["correlation_difference"]
        single = part.select("correlation", scope="system", coefficient="pearson")
        means = part.select("mean_correlation", level="system", coefficient="pearson")
        sides = [("Items", "spearman", of_items), ("Systems", "pearson", means if len(means) else single)]
        order = of_items.sort_values("estimate", ascending=False, kind="stable")["metric"]
        if len(order) < 2:
            continue
        out = pd.DataFrame({"Metric": [names.name("metric", m) for m in order]}, index=pd.Index(order))
        for heading, coefficient, rows in sides:
            if len(rows):
                out[heading] = tables.intervals(rows.set_index("metric").reindex(order))
                out[f"Cluster by {heading.lower()}"] = _clusters(rows, where(tests, coefficient=coefficient), order)
        why = {c: "Not tested: too few systems or common items." for c in out if c.startswith("Cluster")}
        why |= dict.fromkeys(("Items", "Systems"), "One of the two is constant.")
        caption = f"{name}: correlation of metrics with people over items (Spearman's) and over the means of systems"
        caption += (
            f" (Pearson's{f', {int(single.n.max())} systems' if len(single) else ''}), means over labels. No metric of"
        )
        caption += " a cluster is shown to differ from its first (p < 0.05, Holm's adjustment over all pairs)."
        yield Table(out.reset_index(drop=True), f"clusters_{i}", caption, why=why)


def _clusters(rows: pd.DataFrame, tests: pd.DataFrame, metrics: pd.Series) -> pd.Series:
    """Number of the cluster of each of `metrics`; missing where nothing was tested. rows, tests : correlations and
    their differences."""
    ranked = rows.dropna(subset="estimate").sort_values("estimate", ascending=False, kind="stable")["metric"]
    apart = tests.loc[tests["p_adjusted"] < 0.05, ["metric", "against"]].itertuples(index=False, name=None)
    found = tiers(list(ranked), set(map(frozenset, apart))) if tests["p_adjusted"].notna().any() else []
    place = {metric: k for k, tier in enumerate(found, start=1) for metric in tier}
    return pd.Series([place.get(m) for m in metrics], pd.Index(metrics), dtype="Int64")


def reliability(results: Results, names: DisplayNames) -> Table | Prose:
    """Reliability of the mean rating and ceiling: one row per label."""
    if results["reliability"]["estimate"].isna().all():
        return Prose("No item was rated twice, or items do not differ, so the ceiling is unknown.")
    columns: dict[str, tuple[str, dict]] = {
        "Reliability of the mean": ("reliability", {}),
        "Ceiling": ("reliability_ceiling", {}),
    }
    out = tables.side_by_side(results, [*DATA_SET, "label"], columns, ["Ceiling"])
    caption = "Reliability of the mean rank and ceiling."
    why = dict.fromkeys(columns, "Not defined: too few ratings in common, or no variation.")
    return Table(names.named(names.sort(out)), "reliability", caption, why=why)
