"""Tables of notebook 09. All are of Spearman's correlation unless they say otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from judgebook.display import tables
from judgebook.display.cells import Cell
from judgebook.display.names import DisplayNames
from judgebook.display.text import number, plain
from judgebook.display.views import Prose, Table
from judgebook.questions.metrics.analysis import DATA_SET, data_sets, overall
from judgebook.questions.metrics.correlations import MIN_SYSTEMS
from judgebook.study.results import Results, where

#: correlations of raters: heading -> definition; * marks those of a rating with a mean that contains it
RATERS = {
    "Two raters": "position_pairs",
    "Two people": "annotator_pairs",
    "Rating and the others": "position_rest",
    "Rating and mean of all *": "position_mean",
    "Farthest dropped *": "position_trimmed_mean",
}


def leaderboard(results: Results, names: DisplayNames) -> Table:
    """Metrics by data sets in the layout of Tables 2 and 3 of Zhang et al. 2022, the averages over data sets last."""
    sets = {name: overall(part) for name, part in data_sets(results, names.titles).items()}
    for average, title in {"plain": "plain", "fisher": "Fisher"}.items() if len(sets) > 1 else ():
        keys = {"over": "data set", "average": average, "coefficient": "spearman"}
        sets[f"Average ({title})"] = results.select("mean_correlation", **keys)
    order, ends = list(names.titles["metric"]), ["estimate", "ci_low", "ci_high"]
    values = {name: 100 * rows.set_index("metric").reindex(order)[ends].astype(float) for name, rows in sets.items()}
    rank = places(pd.DataFrame({name: rows["estimate"] for name, rows in values.items()}))
    shown = {c: [_placed(v, p) for v, p in zip(values[c].to_numpy(), rank[c], strict=True)] for c in values}
    why = dict.fromkeys(shown, "The metric has no score in the data set, or is constant.")
    caption = "Spearman's correlation with human ratings in percent, with CI; (1) to (3): the largest in a column."
    caption += " Averages have no CI: data sets are no sample." if len(sets) > 1 else ""
    frame = pd.DataFrame({"Metric": list(names.titles["metric"].values())} | shown)
    return Table(frame, "leaderboard", caption, why=why)


def _placed(values: tuple[float, float, float], place: object) -> Cell | None:
    value, low, high = values
    if pd.isna(value):
        return None
    bounded = not pd.isna(low)
    ends = f" [{number(low, 0)}, {number(high, 0)}]" if bounded else ""
    numbers = {"": value} | ({"ci_low": low, "ci_high": high} if bounded else {})
    return Cell(number(value, 1) + ends + ("" if pd.isna(place) else f" ({place})"), numbers)


def places(table: pd.DataFrame) -> pd.DataFrame:
    """For a table of metrics (rows) by data sets (columns): 1, 2, 3 where a value is best, second or third of its
    column, else missing. Equal values share the better place (Zhang et al. 2022, Tables 2 and 3)."""
    ranks = table.rank(ascending=False, method="min")
    return ranks.where(ranks <= 3).astype("Int64")


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


def printed_systems(printed: pd.DataFrame, n: int, confidence: float, titles: Mapping[str, str]) -> Table:
    """The printed correlations over systems with the intervals that n systems leave. printed : from `printed_r`.
    titles : display names of metrics; where none is given, that of the printed row and column is made readable."""
    places = printed[["row", "column"]].itertuples(index=False)
    named = [next((titles[p] for p in place if p in titles), " ".join(place).replace("_", " ")) for place in places]
    out = pd.DataFrame({"Printed in": printed["element"], "Metric": named, "r": tables.intervals(printed)})
    caption = f"Printed correlations of metrics with people over {n} systems, with Fisher's {confidence:.0%} CI."
    return Table(out, "printed_systems", caption)


def best_against_others(results: Results) -> pd.DataFrame:
    """In one data set, the metric with the largest correlation (`best`) minus each other metric: estimate, p_value,
    p_adjusted by permutation, on the mean over labels where there are several."""
    tests = results.select("correlation_difference", test="permutation")
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


def raters(results: Results, names: DisplayNames) -> Table | Prose:
    """Correlations between raters by definition, reliability of the mean rating and ceiling: one row per label."""
    keys, common = [*DATA_SET, "label"], {"coefficient": "spearman", "summary": None}
    columns = {h: ("annotator_correlation", {"comparison": c, **common}) for h, c in RATERS.items()}
    columns |= {"Reliability of the mean": ("reliability", {}), "Ceiling": ("reliability_ceiling", {})}
    rated = results.select("annotator_correlation", summary=None)
    if rated.empty:
        return Prose("No item was rated twice, so rater agreement and the ceiling are unknown.")
    wide = tables.side_by_side(results, keys, columns, ["Two raters", "Two people", "Ceiling"])
    out = wide.merge(rated[keys].drop_duplicates(), on=keys)
    caption = "Spearman's correlation between raters by several definitions, reliability of the mean rank and ceiling."
    why = dict.fromkeys(columns, "Not defined: too few ratings in common, or no variation.")
    return Table(names.named(names.sort(out)), "agreement", caption, why=why)
