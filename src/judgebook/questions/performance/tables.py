"""Tables of notebook 07."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from judgebook.display import cells
from judgebook.display.cells import intervals
from judgebook.display.many import MANY
from judgebook.display.names import DisplayNames
from judgebook.display.text import percent
from judgebook.display.views import Table
from judgebook.questions.performance import leaderboard
from judgebook.questions.performance.analysis import LIGHT, two_intervals, with_and_without, won
from judgebook.questions.performance.arrangement import (
    any_clustering,
    clusters,
    median_effects,
    part_names,
    what,
    within_scale,
)
from judgebook.questions.performance.leaderboard import Order
from judgebook.study.labels import METHODS
from judgebook.study.results import Results

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
    """Rates (in percent), means or percent won by one method, with intervals over clusters."""
    rates = two_intervals(results)
    rates = rates[rates["method"] == method]
    for statistic, rows in rates.groupby("statistic", sort=False):
        name = names.stem(method) + ("" if len(set(rates["statistic"])) == 1 else f"_{statistic}")
        table = score_table(won(rows) if statistic == "share" else rows, names, 1 if statistic == "mean" else 100)
        title = {"share": f"{names.name('method', method)}: percent won"}.get(statistic, what(names, method, statistic))
        caption = f"{title}{' (percent)' if statistic == 'rate' else ''}, with {percent(confidence)} CI over"
        caption += f" {clusters(rows)}. Width ratio: that CI relative to the CI for independent scores."
        if rows["ci_kind"].eq("exact_bound").any():
            caption += f" {BOUND}: exact bounds instead, as there are too few marks of one kind; these are not"
            caption += " comparable in width with the others."
        why = dict.fromkeys(table.columns, "No judgements, or no variation.")
        yield Table(table, name, caption, {"Tied": 1}, why)


def score_table(rates: pd.DataFrame, names: DisplayNames, scale: float) -> pd.DataFrame:
    """Estimates with their intervals, `scale` times as large: one row per label, or per label and system if there are
    more than MANY. `Width ratio`: the interval over clusters relative to that for independent scores (its median)."""
    rows = within_scale(names.sort(rates), names).copy()
    rows[["estimate", "ci_low", "ci_high", *LIGHT]] *= scale
    rows["Width ratio"] = (rows["ci_high"] - rows["ci_low"]) / (rows["light_high"] - rows["light_low"])
    decimals = 1 if scale > 1 else 2
    bound = rows["ci_kind"].eq("exact_bound")
    rows["text"] = [
        cells.marked(cell, BOUND) if odd else cell for cell, odd in zip(intervals(rows, decimals), bound, strict=True)
    ]
    if rows["system"].nunique() > MANY:
        parts = part_names(rows, names)
        rows = pd.concat([rows[parts == part] for part in dict.fromkeys(parts)])
        out = rows[_PLACE].assign(
            n=rows["n"].astype(int), Estimate=rows["text"], **{"Width ratio": rows["Width ratio"]}
        )
        if "tie" in rows:
            out.insert(len(_PLACE) + 1, "Tied", scale * rows["tie"])
        return names.named(out).drop(columns="Method")
    ratio = rows.groupby(_PLACE[:-1])["Width ratio"].median().rename("Width ratio").reset_index()
    wide = _wide(rows, names).merge(ratio, on=_PLACE[:-1])
    return names.named(wide).drop(columns="Method")


def _wide(rows: pd.DataFrame, names: DisplayNames) -> pd.DataFrame:
    """The column `text` with systems side by side, one row per label."""
    wide = rows.set_index(_PLACE)["text"].unstack("system")  # noqa: PD010 (twice must raise)
    wide = wide.reindex(rows.drop_duplicates(_PLACE[:-1]).set_index(_PLACE[:-1]).index)
    systems = sorted(wide.columns, key=lambda s: names.position("system", s))
    return wide[systems].rename(columns=lambda s: names.name("system", s)).rename_axis(columns=None).reset_index()


def _by_system(rows: pd.DataFrame, heading: str, names: DisplayNames) -> pd.DataFrame:
    """The column `text` with systems side by side; one system per row, under `heading`, if there are more than MANY."""
    if rows["system"].nunique() > MANY:
        return names.named(rows[[*_PLACE, "text"]]).rename(columns={"text": heading})
    return names.named(_wide(rows, names))


def ranks(orders: Sequence[Order], names: DisplayNames) -> Iterator[Table]:
    """Every order of the systems by one method, best first: levels, differences from the leader, ranks, and chances of
    being best."""
    for method in dict.fromkeys(order.method for order in orders):
        of_method = [order for order in orders if order.method == method]
        out = pd.concat([_ranked(order, names) for order in of_method], ignore_index=True)
        caption = (
            f"{names.name('method', method)}: systems by label and over labels, the best first. Score with its own"
        )
        caption += f" {names.ci}; those of differences from the leader and of ranks hold for all pairs of systems of a"
        caption += (
            " label at once. Best: chance of being the best system, the systems being draws from one distribution."
        )
        why = dict.fromkeys(out.columns, leaderboard.NOT_BEHIND)
        of = {"Method": names.name("method", method)}
        yield Table(out, f"ranks_{names.stem(method)}", caption, why=why, folded=True, of=of)


def _ranked(order: Order, names: DisplayNames) -> pd.DataFrame:
    scale, unit, _ = order.unit
    rows = order.rows
    out = names.named(rows[["corpus", "group", "system"]]).reset_index(drop=True)
    out.insert(out.columns.get_loc("System"), "Label", order.label or leaderboard.OVERALL)
    out["Verdict"] = rows["verdict"].to_numpy()
    out["Score"] = intervals(rows[["estimate", "ci_low", "ci_high"]] * scale).to_numpy()
    out["Unit"] = unit
    out["Behind"] = leaderboard.behind(rows, scale).to_numpy()
    out["Rank"] = leaderboard.rank(rows).to_numpy()
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


def reliability(results: Results, names: DisplayNames) -> Table | None:
    """How reliable the order of the study's means of systems is, by label."""
    rows = results["order_reliability"].dropna(subset="estimate")
    if rows.empty:
        return None
    rows = names.sort(rows)
    out = rows[["corpus", "group", "method", "label"]].assign(Reliability=intervals(rows).to_numpy())
    sizes = {"n": "Systems", "n_dialogues": "Dialogues per system", "annotators_per_dialogue": "Annotators each"}
    out = out.assign(**{title: rows[column].astype("Int64") for column, title in sizes.items()})
    caption = "Reliability of the order of systems by their means: the share of the variance of means that is due to"
    caption += (
        f" systems, 1 without error; {names.ci} by F. Systems are taken as a sample of others: with few, little is"
    )
    caption += " known of how much systems differ."
    return Table(names.named(out), "reliability", caption, folded=True)


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


def strengths(results: Results, names: DisplayNames) -> Table | None:
    """Strengths by Davidson's model with intervals."""
    rows = results["strength"]
    if not rows["estimate"].notna().any():
        return None
    rows = names.sort(rows).assign(text=lambda f: intervals(f))
    table = _by_system(rows, "Strength", names).drop(columns="Method")
    caption = "Strengths in the fitted model, Davidson's with ties (log scale, mean 0). Differences: log odds of a win."
    if rows["system"].nunique() > MANY:
        score = results["bradley_terry"].set_index(_PLACE)["estimate"].rename("Leaderboard score")
        table[score.name] = rows.join(score, on=_PLACE)[score.name].to_numpy()
        caption += " Leaderboard score: Bradley–Terry model, ties as half wins, sum 1."
        return Table(
            table, "strengths", caption, {score.name: 4}, dict.fromkeys(table.columns, "Strengths do not exist.")
        )
    return Table(table, "strengths", caption, why=dict.fromkeys(table.columns, "Strengths do not exist."))


def chances(results: Results, names: DisplayNames) -> Table | None:
    """What to expect of a comparison of the strongest system with each other one."""
    rows = results["outcome_chance"]
    if rows.empty:
        return None
    ends = ["estimate", "ci_low", "ci_high"]
    rows = rows.assign(text=intervals(rows[ends] * 100, 0))
    keys = ["corpus", "group", "method", "label", "system", "system_b"]
    wide = rows.set_index([*keys, "outcome"])["text"].unstack("outcome").reset_index()  # noqa: PD010
    wide = names.sort(wide.sort_values("system_b", key=lambda s: s.map(lambda x: names.position("system", x))))
    out = names.named(wide[keys[:-1]]).rename(columns={"System": "Strongest system"})
    out["Other system"] = [names.name("system", s) for s in wide["system_b"]]
    for outcome in ("win", "tie", "loss"):
        out[f"{outcome.capitalize()} (%)"] = wide[outcome]
    caption = "Probabilities of a win, tie and loss (%, with CI) of the strongest system against each of the others,"
    caption += " by the fitted model (Davidson's)."
    return Table(out, "chances", caption)


def design_effects(results: Results, names: DisplayNames) -> Table | None:
    """Median and range of design effects, by method, part and kind of cluster."""
    if not any_clustering(results):
        return None
    rows = median_effects(results, names)
    rows["Range"] = cells.ranges(rows[["ci_low", "ci_high"]])
    titles = {"unit": "Clusters", "estimate": "Median", "n_clusters": "Clusters per system"}
    table = names.named(rows.drop(columns=["ci_low", "ci_high"])).rename(columns=titles)
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


def pick_changes(results: Results, names: DisplayNames) -> pd.DataFrame:
    """How far estimates move over picks, relative to the width of their interval: median and largest, by method."""
    rows = names.sort(two_intervals(results))
    moved = (rows["pick_high"] - rows["pick_low"]) / (rows["ci_high"] - rows["ci_low"])
    moved = moved[np.isfinite(moved)]
    summary = moved.groupby([rows[c] for c in ("corpus", "method", "group")], sort=False).agg(["size", "median", "max"])
    titles = {"size": "Estimates", "median": "Median", "max": "Largest"}
    return names.named(summary.reset_index()).rename(columns=titles)


def picks(results: Results, names: DisplayNames, n_picks: int) -> Table:
    """`pick_changes` as a table."""
    caption = f"Range of an estimate over {n_picks} random draws of annotations, relative to the width of its CI."
    return Table(pick_changes(results, names), "picks", caption)
