"""Tables of notebook 13."""

from __future__ import annotations

import pandas as pd

from helpers.display import tables
from helpers.display.names import DisplayNames
from helpers.display.text import listing
from helpers.display.views import Table
from helpers.judges.figures import all_binary
from helpers.judges.items import CASE, LABEL
from helpers.judges.replacement import CONCLUSIONS, SECOND
from helpers.study.results import Results

DETECTION = {"Precision": "precision", "Recall": "recall", "F1": "positive_agreement", "Negative": "negative_agreement"}
CHOICES = {"With a person": "judge", "Two people": "people", "Difference": "difference"}
ORDERS = {"Tau": "kendall", "Rho": "spearman", "Rho, leaderboard scores": "spearman_bradley_terry"}
FIRST = {"First by people": "system", "First by judge": "system_b"}
CONSEQUENCES = {
    "Rates": ("rate_change", "model"),
    "Rates (other person)": ("rate_change", SECOND),
    "Differences": ("contrast_change", "model"),
    "Differences (other person)": ("contrast_change", SECOND),
}


def alphas(results: Results, names: DisplayNames) -> Table:
    """Alpha of the judge with each person, among people, and the difference."""
    pairs = {f"With {p}": p for p in results["judge_alpha"]["pair"].unique() if p.startswith("position")}
    shown = {"Mean with people": "mean", "Among people": "people", "Difference": "difference"}
    columns = {heading: ("judge_alpha", {"pair": pair}) for heading, pair in (pairs | shown).items()}
    wide = tables.side_by_side(results, CASE, columns, shown)
    return Table(_named(wide, names), "alpha", "Alpha of judges with people, and among people; CI over dialogues.")


def detection(results: Results, names: DisplayNames) -> Table:
    """Precision, recall, F1 and negative agreement of each label and judge, and F1 of two people."""
    columns = {heading: (statistic, {"against": "people"}) for heading, statistic in DETECTION.items()}
    wide = tables.side_by_side(results, CASE, columns, ["Precision", "Recall", "F1"])
    people = results.select("positive_agreement", against="each other").set_index(LABEL)
    wide = wide.merge(tables.intervals(people).rename("F1 of two people").reset_index(), how="left", on=LABEL)
    return Table(_named(wide, names), "detection", "Judges' marks compared with people's; CI over dialogues.")


def choices(results: Results, names: DisplayNames) -> Table | None:
    """How often judges choose as a person does, and what was shown first, beside people."""
    if results["choice_agreement"].empty:
        return None
    columns = {heading: ("choice_agreement", {"pair": pair}) for heading, pair in CHOICES.items()}
    columns["With the majority"] = "majority_agreement", {}
    columns |= {f"First shown, {who}": ("first_choice_share", {"pair": who}) for who in ("judge", "people")}
    wide = tables.side_by_side(results, CASE, columns, columns)
    units = listing(f"{u}s" for u in dict.fromkeys(results["choice_agreement"]["resample_unit"]))
    caption = "Share of pairs on which a judge chooses as a person does, two people agree, and a judge chooses as"
    caption += " the majority of three people or more; and, of decided choices, the share for the response shown first,"
    caption += f" where the order is known. CI over {units}."
    why = dict.fromkeys(wide.columns, "Too few people per pair, or the order is not known.")
    return Table(_named(wide, names), "choices", caption, why=why)


def orders(results: Results, names: DisplayNames) -> Table | None:
    """The order of systems by judges' and by people's choices."""
    first = results["judge_first_system"]
    if first.empty:
        return None
    columns = {heading: ("judge_rank_correlation", {"coefficient": c}) for heading, c in ORDERS.items()}
    wide = tables.side_by_side(results, CASE, columns)
    who = {
        side: [names.name("system", s) if pd.notna(s) else None for s in first[column]]
        for side, column in FIRST.items()
    }
    wide = wide.merge(first[CASE].assign(**who), on=CASE)
    caption = (
        "Systems in the order of judges' choices and of people's, on the same pairs: Kendall's tau-b and Spearman's"
    )
    caption += " correlation of strengths in Davidson's model; Spearman's correlation of scores as leaderboards print"
    caption += " them (Bradley–Terry, ties as half wins); and the system ranked first by these scores."
    why = dict.fromkeys(wide.columns, "According to judge or people, some system never wins: strengths do not exist.")
    return Table(_named(wide, names), "orders", caption, why=why)


def consequences(results: Results, names: DisplayNames) -> Table | None:
    """What happens to rates and their order: mean absolute changes (of rates in percentage points), Kendall's tau, and
    what people and judge conclude about pairs of systems."""
    if results["judge_rate"].empty:
        return None
    binary, out = all_binary(results["judge_rate"], names), {}
    for heading, (statistic, by) in CONSEQUENCES.items():
        rows = results.select(statistic, by=by)
        size = rows["estimate"].abs().groupby([rows[c] for c in CASE], sort=False).mean()
        out[heading] = 100 * size if binary else size
    out["Tau"] = results["judge_rank_correlation"].set_index(CASE)["estimate"]
    for verdict in CONCLUSIONS[:-1]:
        counts = results.select("judge_conclusions", verdict=verdict).set_index(CASE)["estimate"]
        out[verdict.replace("model", "judge").capitalize()] = counts.astype("Int64")
    wide = pd.DataFrame({heading: values for heading, values in out.items() if len(values)}).rename_axis(CASE)
    unit = " in percentage points" if binary else ""
    caption = f"Mean absolute change in rates and in differences between systems{unit}, with the judge and with another"
    caption += " person; Kendall's tau of the orders of systems by judge and people; pairs of systems that differ (CI"
    caption += " excluding 0) according to both, with the same sign or opposite signs, or to only one of them."
    why = {"Tau": "Fewer than two systems, or rates that are all equal."}
    decimals = dict.fromkeys(CONSEQUENCES, 1 if binary else 3)
    return Table(_named(wide.reset_index(), names), "consequences", caption, decimals, why)


def _named(frame: pd.DataFrame, names: DisplayNames) -> pd.DataFrame:
    frame = names.sort(frame)
    judges = [names.name("metric", m) for m in frame["metric"]]
    return names.named(frame.assign(metric=judges)).rename(columns={"metric": "Judge"})
