"""Tables of notebook 09. All are of Spearman's correlation unless they say otherwise."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from judgebook.display import tables
from judgebook.display.names import DisplayNames
from judgebook.display.text import plain
from judgebook.display.views import Prose, Table
from judgebook.questions.metrics.analysis import DATA_SET, data_sets, overall
from judgebook.questions.metrics.correlations import MIN_SYSTEMS
from judgebook.statistics.multiplicity import tiers
from judgebook.study.results import Results, where


def averages(results: Results, names: DisplayNames) -> Table | None:
    """The mean over data sets of each metric's correlation on Fisher's scale; nothing where there is one data set."""
    rows = results.select("mean_correlation", over="data set", coefficient="spearman", average="fisher")
    if rows.empty:
        return None
    means = rows.set_index("metric")[["estimate", "n"]].reindex(list(names.titles["metric"])).dropna(subset="n")
    frame = means.set_axis(["Mean", "Data sets"], axis=1).astype({"Data sets": int})
    frame.insert(0, "Metric", [names.name("metric", m) for m in frame.index])
    caption = (
        "Spearman's correlation with human ratings, mean over data sets on Fisher's scale without correlations of 1."
    )
    why = {"Mean": "The metric has no correlation in any data set, or only correlations of 1."}
    return Table(frame, "averages", caption + " No CI: data sets are no sample.", why=why)


def coefficients(results: Results, names: DisplayNames) -> Iterator[Table]:
    """For each data set and metric, Spearman's correlation with its interval, Pearson's and Kendall's, the mean within
    contexts, and the correlation of system means; plain means over labels."""
    for i, (name, part) in enumerate(data_sets(results, names.titles).items()):
        rows = overall(part).set_index("metric")
        rows = rows.loc[[m for m in names.titles["metric"] if m in rows.index]]
        out = pd.DataFrame({"Metric": [names.name("metric", m) for m in rows.index]}, index=rows.index)
        out["Spearman"] = tables.intervals(rows)
        for coefficient in ("pearson", "kendall"):
            out[coefficient.capitalize()] = overall(part, coefficient).set_index("metric")["estimate"]
        within = part.select("correlation", scope="within_context", coefficient="spearman")
        systems = part.select("correlation", scope="system", coefficient="spearman")
        means = part.select("mean_correlation", level="system", coefficient="spearman")
        if len(within):
            out["Within contexts"] = within.groupby("metric")["estimate"].mean()
        if len(systems):
            shown = (means if len(means) else systems).set_index("metric")
            out[f"Systems ({int(systems['n'].max())})"] = tables.intervals(shown)
        caption = f"{name}: correlation with human ratings by coefficient, within contexts, and of system means"
        caption += " (number of systems in brackets, excluding people and dummies). Plain means over labels."
        why = dict.fromkeys(out.columns[1:], "One of the two is constant, or no context has three scored responses.")
        yield Table(out, f"coefficients_{i}", caption, why=why)


def systems(results: Results, names: DisplayNames) -> Iterator[Table]:
    """Pearson's correlation of the systems' mean scores with their mean ratings, in the layout of Table 5 of Ji et al.
    2022: a row per metric, a column per label, first the overall score, with interval. Of data sets with enough systems
    for an interval."""
    for i, (name, part) in enumerate(data_sets(results, names.titles).items()):
        rows = part.select("correlation", scope="system", coefficient="pearson")
        rows = rows[rows["n"] >= MIN_SYSTEMS]
        if rows["label"].nunique() < 2:
            continue
        pairs = names.sort(rows)[["label", "method"]].drop_duplicates().itertuples(index=False)
        titles = {key[0]: names.name("label", *key) for key in pairs}
        wide = tables.pivot(rows, ["metric"], "label", titles).set_index("metric")
        wide = wide.loc[[m for m in names.titles["metric"] if m in wide.index]]
        whole = part.select("overall_correlation", coefficient="pearson").set_index("metric")
        if len(whole):
            wide.insert(0, "Overall score", tables.intervals(whole))
        wide.insert(0, "Metric", [names.name("metric", m) for m in wide.index])
        caption = f"{name}: Pearson's correlation of mean scores and mean ratings of {int(rows['n'].max())} systems."
        why = dict.fromkeys(wide.columns[1:], "All systems have the same mean.")
        yield Table(wide.reset_index(drop=True), f"systems_{i}", caption, why=why)


def best_against_others(results: Results) -> pd.DataFrame:
    """In one data set, the metric with the largest correlation (`best`) minus each other metric: estimate, p_value,
    p_adjusted by permutation, on the mean over labels where there are several."""
    tests = results.select("correlation_difference", test="permutation", coefficient="spearman")
    tests = where(tests, over="label") if tests["over"].notna().any() else tests
    best = overall(results).sort_values("estimate", ascending=False, kind="stable")["metric"].iloc[0]
    turned = tests.rename(columns={"metric": "against", "against": "metric"}).assign(estimate=-tests["estimate"])
    out = where(pd.concat([tests, turned]), metric=best).rename(columns={"metric": "best"})
    return out.dropna(subset="estimate").sort_values("estimate", kind="stable")


def pairs(results: Results, names: DisplayNames) -> Iterator[Table | Prose]:
    """The metric with the largest correlation of each data set compared with the others."""
    for i, (name, part) in enumerate(data_sets(results, names.titles).items()):
        rows = best_against_others(part)
        if rows.empty:
            yield Prose(f"{plain(name)}: no two metrics can be compared.")
            continue
        best = names.name("metric", rows["best"].iloc[0])
        out = rows[["estimate", "p_value", "p_adjusted"]].set_axis(["Difference", "p", "p (Holm)"], axis=1)
        out.insert(0, "Metric", [names.name("metric", m) for m in rows["against"]])
        caption = f"{name}: correlation of {best}, the largest, minus that of every other metric, on common items."
        yield Table(out, f"pairs_{i}", caption, {"p": 4, "p (Holm)": 4})


def clusters_of_metrics(results: Results, names: DisplayNames) -> Iterator[Table]:
    """Of each data set, metrics with their correlations over items and over systems, and their clusters by either."""
    for i, (name, part) in enumerate(data_sets(results, names.titles).items()):
        of_items, tests = overall(part), part.select("correlation_difference", test="permutation")
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
    tests = where(tests, over="label") if tests["over"].notna().any() else tests
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
