"""Tables of notebook 13."""

from __future__ import annotations

import pandas as pd

from judgebook.display import tables
from judgebook.display.names import DisplayNames
from judgebook.display.text import listing, percent
from judgebook.display.views import Table
from judgebook.questions.judges.assisted import ASSISTED as BOTH
from judgebook.questions.judges.assisted import HUMAN, POOL
from judgebook.questions.judges.figures import GAIN, all_binary
from judgebook.questions.judges.items import CASE, LABEL
from judgebook.questions.judges.prediction_powered import LEAST_VARIED
from judgebook.questions.judges.replacement import CONCLUSIONS, SECOND
from judgebook.study.results import Results

DETECTION = {"Precision": "precision", "Recall": "recall", "F1": "positive_agreement", "Negative": "negative_agreement"}
CHOICES = {"With a person": "judge", "Two people": "people", "Difference": "difference"}
ORDERS = {"Tau": "kendall", "Rho": "spearman", "Rho, leaderboard scores": "spearman_bradley_terry"}
GOLD = {
    "Accuracy": ("gold_agreement", {"measure": "accuracy"}),
    "Sensitivity": ("gold_agreement", {"measure": "sensitivity"}),
    "Specificity": ("gold_agreement", {"measure": "specificity"}),
    "Kappa": ("gold_kappa", {"weights": "none"}),
    "Weighted kappa": ("gold_kappa", {"weights": "quadratic"}),
    "Spearman": ("gold_correlation", {"coefficient": "spearman"}),
    "Pearson": ("gold_correlation", {"coefficient": "pearson"}),
    "ICC(A,1)": ("gold_icc", {}),
    "Mean error": ("gold_error", {"measure": "absolute"}),
    "Bias": ("gold_error", {"measure": "bias"}),
}
#: heading of GOLD -> what the table says of it where it is there
GOLD_MEANS = {
    "Accuracy": " Accuracy: share of items with the same score.",
    "Sensitivity": " Sensitivity and specificity: share of the items with the human label 1, and 0, to which the judge"
    " gives the same.",
    "Kappa": " Kappa: agreement beyond chance.",
    "Weighted kappa": " Weighted kappa: agreement beyond chance, weighted by squared distances.",
    "Spearman": " Spearman and Pearson: correlation of the scores' ranks, and of the scores. ICC(A,1): intraclass"
    " correlation, which is 1 only if the scores are the same. Mean error: mean distance of the scores. Bias: mean of"
    " the judge's score less the human one.",
}
#: rows of all systems together
ALL = "All"
SELECTION: dict[str, tuple[str, dict[str, str]]] = {
    "Standardised difference": ("selection_standardised", {}),
    "Worth": ("assisted_labels", {}),
}
ORDER = {"Changes": "any", "First both times": "first", "Second both times": "second", "Tie once": "tie"}
ORDER_VERDICTS = {1.0: "yes", 0.0: "no"}
VERDICTS = {1.0: "may", 0.0: "may not"}
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
    """How often judges choose as a person does, and the response shown first, compared with people."""
    if results["choice_agreement"].empty:
        return None
    columns = {heading: ("choice_agreement", {"pair": pair}) for heading, pair in CHOICES.items()}
    columns["With the majority"] = "majority_agreement", {}
    columns |= {f"First shown, {who}": ("first_choice_share", {"pair": who}) for who in ("judge", "people")}
    wide = tables.side_by_side(results, CASE, columns, columns)
    units = listing(f"{u}s" for u in dict.fromkeys(results["choice_agreement"]["resample_unit"]))
    caption = (
        "Share of pairs on which a judge makes the same choice as a person, two people make the same choice, and a"
        " judge agrees with the majority of three or more people. Shown first: share of the decided choices that favour"
        f" the response shown first, where the order is known. CI over {units}."
    )
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
        "Systems in the order of judges' choices and of people's, on the same pairs. Kendall's tau-b and Spearman's"
        " correlation are those of strengths in Davidson's model. The last correlation is of scores as leaderboards"
        " print them (Bradley–Terry, ties as half wins); they also give the system ranked first."
    )
    why = dict.fromkeys(
        wide.columns, "According to the judge or to people, some system never wins: strengths do not exist."
    )
    return Table(_named(wide, names), "orders", caption, why=why)


def gold(results: Results, names: DisplayNames) -> Table | None:
    """Agreement of each judge with the one human label of an item, overall and by system."""
    if results["gold_kappa"].empty and results["gold_agreement"].empty:
        return None
    keys = [*CASE, "system"]
    filled = Results({s: results[s].fillna({"system": ""}) for s, _ in GOLD.values()})
    wide = tables.side_by_side(filled, keys, GOLD, GOLD)
    wide = _named(wide, names).replace({"System": {"": ALL}})
    used = results["gold_agreement"] if len(results["gold_agreement"]) else results["gold_kappa"]
    units = listing(f"{unit}s" for unit in dict.fromkeys(used["resample_unit"]))
    means = "".join(text for heading, text in GOLD_MEANS.items() if heading in wide)
    caption = (
        f"Judges compared with the one human label of each item, which is taken to be right.{means} CI over {units}."
    )
    why = dict.fromkeys(GOLD, "Other kinds of labels only, no such item, or nothing but one value.")
    return Table(wide, "gold", caption, why=why)


def both_orders(results: Results, names: DisplayNames) -> Table | None:
    """What judges say of pairs that they saw in both orders."""
    if results["order_effect"].empty:
        return None
    columns = {heading: ("order_change", {"change": change}) for heading, change in ORDER.items()}
    columns |= {"Effect": ("order_effect", {}), "Detectable": ("order_detectable", {})}
    wide = tables.side_by_side(results, CASE, columns, [*ORDER, "Effect"])
    wide = wide.merge(results["order_effect"][[*CASE, "n"]].rename(columns={"n": "Pairs"}), on=CASE)
    if len(decided := results["order_harmless"]):
        words = [ORDER_VERDICTS.get(v, "not decided") for v in decided["estimate"]]
        wide = wide.merge(decided[CASE].assign(**{"Within the margin": words}), how="left", on=CASE)
    units = listing(f"{unit}s" for unit in dict.fromkeys(results["order_effect"]["resample_unit"]))
    caption = (
        "Pairs that a judge saw in both orders: share with another choice in the other order; of these, what was shown"
        " first, or second, chosen both times, or a tie once. Effect: win rate of a response when shown first less that"
        " when shown second. Detectable: smallest effect that so many pairs would show with a power of 80%. CI over"
        f" {units}."
    )
    return Table(_named(wide, names), "both_orders", caption, why=dict.fromkeys(wide, "Too few pairs."))


def selection(results: Results, names: DisplayNames) -> Table | None:
    """Whether the dialogues with human labels are like the others, and what their labels are worth with the judge's."""
    if results["assisted_labels"].empty:
        return None
    wide = tables.side_by_side(results, [*CASE, "system"], SELECTION, ["Standardised difference"])
    size = results["assisted_labels"][[*CASE, "system", "n"]].rename(columns={"n": "Human labels"})
    wide = _named(size.merge(wide, how="left", on=[*CASE, "system"]), names)
    caption = (
        "Standardised difference: the judge's mean on dialogues with human labels, less that on the others, in its"
        " standard deviations; Student's t CI. It cannot show how they differ in what the judge does not see. Worth:"
        " how many human labels alone would give the mean of the system as small a variance as these and the judge's"
        " labels of all dialogues."
    )
    why = dict.fromkeys(wide, "Fewer than two dialogues, no spread, or known chances of being labelled.")
    return Table(wide, "selection", caption, {"Worth": 0}, why)


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
    caption = f"Mean absolute change in rates and in differences between systems{unit}, with the judge"
    caption += " and with another person" if len(results.select("rate_change", by=SECOND)) else ""
    caption += ". Tau: Kendall's, of the orders of systems by judge and people. Last columns: pairs of systems"
    caption += " that differ (CI excluding 0) according to both, with the same or opposite signs, or to only one."
    why = {"Tau": "Fewer than two systems, or rates that are all equal."}
    decimals = dict.fromkeys(CONSEQUENCES, 1 if binary else 3)
    return Table(_named(wide.reset_index(), names), "consequences", caption, decimals, why)


def margins(results: Results, names: DisplayNames) -> Table | None:
    """Smallest margins within which results change by a judge and by another person, and what those set decide."""
    rows = results["judge_margin"]
    if rows.empty:
        return None
    decided = results["judge_stands_in"]
    columns: dict[str, tuple[str, dict[str, str]]] = {}
    why: dict[str, str] = {}
    for of in dict.fromkeys(rows["of"]):
        title = of.capitalize()
        columns[title] = ("judge_margin", {"of": of, "by": "model"})
        columns[f"{title} (other person)"] = ("judge_margin", {"of": of, "by": SECOND})
        why |= dict.fromkeys(list(columns)[-2:], "No interval for some system or pair; or not compared.")
    wide = tables.side_by_side(results, CASE, columns)
    if len(decided):
        wanted = decided[CASE].assign(Margin=decided["margin"].astype(float)).drop_duplicates(CASE)
        wide = wide.merge(wanted, how="left", on=CASE)
    for of, part in decided.groupby("of", sort=False):
        words = [VERDICTS.get(v, "not decided") for v in part["estimate"]]
        wide = wide.merge(part[CASE].assign(**{f"May stand in ({of})": words}), how="left", on=CASE)
    caption = f"Smallest margin, in units of the label, that contains the {names.ci}s of all changes when a judge"
    caption += ", or another person," if (rows["by"] == SECOND).any() else ""
    caption += " takes the place of people. Changes are those in rates (means) of systems, in differences"
    caption += " between systems, and in win rates."
    if len(decided):
        caption += (
            " May stand in: all CIs lie within the margin set for the label; may not: at least one lies beyond it."
        )
        why |= {c: "No margin is set for this label." for c in wide if c.startswith(("Margin", "May"))}
    return Table(_named(wide, names), "margins", caption, 3, why)


def assisted(results: Results, names: DisplayNames) -> Table | None:
    """What a judge's labels add to people's: variance explained, gain, widths of intervals, labels needed."""
    if results["assisted_explained"].empty:
        return None
    columns = {
        "Explained": ("assisted_explained", {}),
        "Effective labels": ("assisted_gain", {"share": GAIN}),
        "Half-width, people": ("assisted_width", {"of": "mean", "raters": HUMAN}),
        "Half-width, both": ("assisted_width", {"of": "mean", "raters": BOTH}),
        "Difference, people": ("assisted_width", {"of": "difference", "raters": HUMAN}),
        "Difference, both": ("assisted_width", {"of": "difference", "raters": BOTH}),
        "To buy, people": ("assisted_dialogues", {"raters": HUMAN}),
        "To buy, both": ("assisted_dialogues", {"raters": BOTH}),
    }
    wide = tables.side_by_side(results, CASE, columns, ["Explained", "Effective labels"])
    if "To buy, both" in wide:
        wanted = results.select("assisted_dialogues", raters=BOTH).set_index(CASE)
        wide = wide.drop(columns=["To buy, people", "To buy, both"])
        wide = wide.merge(wanted["half_width"].astype(float).rename("Wanted half-width").reset_index(), "left", CASE)
        people = results.select("assisted_dialogues", raters=HUMAN).set_index(CASE)["estimate"].astype("Int64")
        wide = wide.merge(people.rename("To buy, people").reset_index(), "left", CASE)
        cells = tables.intervals(wanted, 0).rename("To buy, both").reset_index()
        wide = wide.merge(cells, "left", CASE)
    units = listing(f"{u}s" for u in dict.fromkeys(results["assisted_explained"]["resample_unit"].dropna()))
    caption = (
        f"Explained: share of the variance between {units} of a system, as judged by people, that the judge explains."
        f" Effective labels: how many human labels one is worth where people judge {percent(float(GAIN))} of the"
        f" {units} and the judge all. Half-width: of CIs of means of systems and of their differences (mean over"
        f" systems and random halves). People: with their labels of a random half of the {units} alone; both: with the"
        f" judge's labels of all as well. To buy: {units} per system that people must judge for the wanted half-width"
        f" of a mean, alone and if the judge judges {POOL} times as many. CI over {units}."
    )
    why = dict.fromkeys(wide.columns, f"Fewer than {LEAST_VARIED} values that differ from the commonest one.")
    return Table(_named(wide, names), "assisted", caption, 3, why)


def estimates(results: Results, names: DisplayNames) -> Table | None:
    """Means and differences of systems by people's labels, and by people's and the judge's, where the judge judged more
    than people did."""
    rows = [results[s] for s in ("assisted_mean", "assisted_difference") if len(results[s])]
    if not rows:
        return None
    rows = pd.concat(rows, ignore_index=True)
    keys = [*CASE, "system", "system_b"]
    with_model, people = (rows[rows["raters"] == raters] for raters in (BOTH, HUMAN))
    wide = people[keys].reset_index(drop=True)
    for heading, part in (("People", people), ("People and judge", with_model)):
        wide[heading] = tables.intervals(part, 3).to_numpy()
    wide = wide.assign(
        system=[names.name("system", s) for s in wide["system"]],
        system_b=[names.name("system", s) if pd.notna(s) else None for s in wide["system_b"]],
    ).rename(columns={"system": "System", "system_b": "Minus"})
    caption = (
        "Means of systems and their differences, from people's labels alone and from people's labels combined with"
    )
    caption += " the judge's labels of all dialogues; Student's t CI."
    return Table(_named(wide, names), "estimates", caption, why={"Minus": "The mean of one system."})


def _named(frame: pd.DataFrame, names: DisplayNames) -> pd.DataFrame:
    frame = names.sort(frame)
    judges = [names.name("metric", m) for m in frame["metric"]]
    return names.named(frame.assign(metric=judges)).rename(columns={"metric": "Judge"})
