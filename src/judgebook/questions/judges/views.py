"""Figures and tables of notebook 13."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from judgebook.display import captions, tables
from judgebook.display.grid_plots import DRAWN, filled, grid_figure, interval_keys, intervals, pages
from judgebook.display.names import GOOD, MARKERS, NEUTRAL, DisplayNames
from judgebook.display.text import Phrases, listing, percent, span
from judgebook.display.views import Plot, Table
from judgebook.questions.judges.analysis import CONCLUSIONS, SECOND
from judgebook.questions.judges.items import CASE, LABEL
from judgebook.questions.judges.prediction_powered import ASSISTED as BOTH
from judgebook.questions.judges.prediction_powered import HUMAN, LEAST_VARIED, SHARE
from judgebook.study.results import Results

PEOPLE = "People with each other"
CHOICES = {"With a person": "judge", "Two people": "people", "Difference": "difference"}
ORDERS = {"Tau": "kendall", "Rho, leaderboard scores": "spearman_bradley_terry"}
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
ORDER = {"Changes": "any", "First both times": "first", "Second both times": "second"}
ORDER_VERDICTS = {1.0: "yes", 0.0: "no"}
VERDICTS = {1.0: "may", 0.0: "may not"}
FIRST = {"First by people": "system", "First by judge": "system_b"}
_PHRASES = Phrases(__package__)


def alpha_figure(results: Results, names: DisplayNames) -> Iterator[Plot]:
    """Alpha among people and of each judge with a person, by label."""
    rows = results.select("judge_alpha", pair=["people", "mean"])
    rows = rows[(rows["pair"] == "mean") | ~rows.duplicated([*LABEL, "pair"])]
    if rows.empty:
        return
    people = rows["pair"] == "people"
    judges = pd.Series([names.name("metric", m) + " with a person" for m in rows["metric"]], rows.index)
    rows = rows.assign(hue=judges.mask(people, PEOPLE), panel="", second=~people)
    others = [hue for hue in dict.fromkeys(rows["hue"]) if hue != PEOPLE]
    styles = {hue: (NEUTRAL[i % 3], MARKERS[(i + 1) % len(MARKERS)]) for i, hue in enumerate(others)}
    over = " and ".join(f"{unit}s" for unit in dict.fromkeys(rows["resample_unit"].dropna()))
    keys = interval_keys(f"{names.ci} over {over or 'dialogues'}", None, rows)
    caption = (
        "Marks: Krippendorff's alpha by label, of people with each other and, as a mean over people, of each judge with"
    )
    caption += f" one of them. {captions.intervals(names.ci, over, rows['n_clusters'])}"
    alt = f"Krippendorff's alpha by label, with intervals, from {span(rows['estimate'].dropna())}:"
    alt += f" people with each other; {', '.join(judges.unique())}."
    title, unit = _alpha_title(results, names), "Krippendorff's alpha; 1: full agreement, 0: agreement by chance"
    for suffix, page in pages(_blocks(rows, names)):
        fig = grid_figure(
            page,
            intervals,
            styles=styles | {PEOPLE: (GOOD, "o")},
            xlabel="Krippendorff's alpha",
            reference=0,
            named="agreement by chance",
            keys=keys,
        )
        yield Plot(fig, f"alpha{suffix}", alt, caption, title, unit)


def _alpha_title(results: Results, names: DisplayNames) -> str:
    """How often a judge agrees with a person less, or more, than people do with each other."""
    gaps = results.select("judge_alpha", pair="difference").dropna(subset="ci_low")
    counts = {"n": len(gaps), "less": int((gaps["ci_high"] < 0).sum()), "more": int((gaps["ci_low"] > 0).sum())}
    judges = [names.name("metric", judge) for judge in dict.fromkeys(gaps["metric"])]
    return _PHRASES.say("alpha_title", judges=judges, **counts)


def changes(results: Results, names: DisplayNames) -> Iterator[Plot]:
    """Change of each system's rate by label, when another person judges and when each judge does."""
    rows = results["rate_change"]
    rows = rows[(rows["by"] == "model") | ~rows.duplicated([*LABEL, "by", "system"])]
    if rows.empty:
        return
    people = rows["by"] == SECOND
    judges = pd.Series([names.name("metric", m) for m in rows["metric"]], rows.index)
    rows = rows.assign(panel=judges.mask(people, SECOND.capitalize()), second=~people)
    binary, n_systems = all_binary(rows, names), rows["system"].nunique()
    most = rows["estimate"].abs().groupby(rows["system"]).mean().nlargest(DRAWN).index
    note = captions.chosen(len(most), n_systems, f"systems whose {'rates' if binary else 'means'} change most")
    over = " and ".join(f"{unit}s" for unit in dict.fromkeys(rows["resample_unit"].dropna())) or "dialogues"
    keys = interval_keys(f"{names.ci} over {over}", None, rows)
    what = "rate (share of marked items)" if binary else "mean score"
    who = "another person, or a judge (panels)," if people.any() else "a judge (panels)"
    caption = f"Marks: change in each system's {what} by label where {who} takes the place of the annotators."
    caption += f" {captions.intervals(names.ci, over, rows['n_clusters'])}"
    shown = rows[rows["system"].isin(most)] if n_systems > DRAWN else rows
    shown = _blocks(shown.assign(hue=[names.name("system", s) for s in shown["system"]]), names)
    if len(most) > len(MARKERS) or len(set(shown["hue"])) == 1:  # systems have rows of their own
        several = len(set(shown["block"])) > 1
        shown["block"] = (shown["block"] + ": " + shown["hue"]) if several else shown["hue"]
        shown = shown.assign(hue="") if n_systems > 1 else shown.assign(block=_blocks(rows, names)["block"], hue="")
    alt = f"Change in each system's {what} by label, from {span(rows['estimate'].dropna())}, with intervals."
    for suffix, page in pages(filled(shown), columns=3):
        fig = grid_figure(
            page,
            intervals,
            names=names,
            xlabel="Change in rate (percentage points)" if binary else "Change in mean score",
            columns=3,
            reference=0,
            named="no change",
            percent=binary,
            sharex=True,
            keys=keys,
        )
        yield Plot(
            fig, f"changes{suffix}", alt, captions.joined(caption, note), subtitle=f"Change in {what}, by system"
        )


def all_binary(rows: pd.DataFrame, names: DisplayNames) -> bool:
    """Whether all labels have two values, so that means are rates."""
    return all(names.labels[key].binary for key in zip(rows["method"], rows["label"], strict=True))


def _blocks(rows: pd.DataFrame, names: DisplayNames) -> pd.DataFrame:
    """Rows in the order of figures, people first, with the label as `block` (and corpus and method, where several)."""
    rows = names.sort(rows).sort_values("second", kind="stable")
    title = names.named(rows[LABEL])
    title = title[[c for c in title.columns[::-1] if c == "Label" or len(set(title[c])) > 1]]
    return rows.assign(block=title.agg(", ".join, axis=1))


def alphas(results: Results, names: DisplayNames) -> Table:
    """Alpha of the judge with a person, among people, and the difference."""
    shown = {"Mean with people": "mean", "Among people": "people", "Difference": "difference"}
    columns = {heading: ("judge_alpha", {"pair": pair}) for heading, pair in shown.items()}
    wide = tables.side_by_side(results, CASE, columns, shown)
    return Table(_named(wide, names), "alpha", "Alpha of judges with people, and among people; CI over dialogues.")


def choices(results: Results, names: DisplayNames) -> Table | None:
    """How often judges choose as a person does, and the response shown first, compared with people."""
    if results["choice_agreement"].empty:
        return None
    columns = {heading: ("choice_agreement", {"pair": pair}) for heading, pair in CHOICES.items()}
    columns |= {f"First shown, {who}": ("first_choice_share", {"pair": who}) for who in ("judge", "people")}
    wide = tables.side_by_side(results, CASE, columns, columns)
    units = listing(f"{u}s" for u in dict.fromkeys(results["choice_agreement"]["resample_unit"]))
    caption = (
        "Share of pairs on which a judge makes the same choice as a person, and two people make the same choice. Shown"
        " first: share of the decided choices that favour the response shown first, where the order is known. CI over"
        f" {units}."
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
        "Systems in the order of judges' choices and of people's, on the same pairs. Kendall's tau-b is that of"
        " strengths in Davidson's model, Spearman's rho that of scores as leaderboards print them (Bradley–Terry, ties"
        " as half wins); they also give the system ranked first."
    )
    why = dict.fromkeys(
        wide.columns, "According to the judge or to people, some system never wins: strengths do not exist."
    )
    return Table(_named(wide, names), "orders", caption, why=why)


def gold(results: Results, names: DisplayNames) -> Table | None:
    """Agreement of each judge with the one human label of an item."""
    if results["gold_kappa"].empty and results["gold_agreement"].empty:
        return None
    wide = _named(tables.side_by_side(results, CASE, GOLD, GOLD), names)
    used = results["gold_agreement"] if len(results["gold_agreement"]) else results["gold_kappa"]
    units = listing(f"{unit}s" for unit in dict.fromkeys(used["resample_unit"]))
    caption = (
        "Judges compared with the one human label of each item, which is taken to be right. Accuracy: share of items"
        " with the same score. Sensitivity and specificity: share of the items with the human label 1, and 0, to which"
        " the judge gives the same. Kappa: agreement beyond chance, weighted by squared distances. ICC(A,1): intraclass"
        " correlation, which is 1 only if the scores are the same. Mean error: mean distance of the scores. Bias: mean"
        f" of the judge's score less the human one. CI over {units}."
    )
    why = dict.fromkeys(GOLD, "Other kinds of labels only, no such item, or nothing but one value.")
    return Table(wide, "gold", caption, why=why)


def both_orders(results: Results, names: DisplayNames) -> Table | None:
    """What judges say of pairs that they saw in both orders."""
    if results["order_effect"].empty:
        return None
    columns = {heading: ("order_change", {"change": change}) for heading, change in ORDER.items()}
    columns |= {"Effect": ("order_effect", {})}
    wide = tables.side_by_side(results, CASE, columns, [*ORDER, "Effect"])
    wide = wide.merge(results["order_effect"][[*CASE, "n"]].rename(columns={"n": "Pairs"}), on=CASE)
    if len(decided := results["order_harmless"]):
        words = [ORDER_VERDICTS.get(v, "not decided") for v in decided["estimate"]]
        wide = wide.merge(decided[CASE].assign(**{"Within the margin": words}), how="left", on=CASE)
    units = listing(f"{unit}s" for unit in dict.fromkeys(results["order_effect"]["resample_unit"]))
    caption = (
        "Pairs that a judge saw in both orders: share with another choice in the other order; of these, what was shown"
        " first, or second, chosen both times. Effect: win rate of a response when shown first less that when shown"
        f" second. CI over {units}."
    )
    return Table(_named(wide, names), "both_orders", caption, why=dict.fromkeys(wide, "Too few pairs."))


def consequences(results: Results, names: DisplayNames) -> Table | None:
    """Smallest margins within which results change by a judge and by another person, what those set decide, the order
    of systems, and what people and judge conclude about pairs of systems."""
    rows, decided = results["judge_margin"], results["judge_stands_in"]
    if rows.empty:
        return None
    columns: dict[str, tuple[str, dict[str, str]]] = {}
    for of in dict.fromkeys(rows["of"]):
        columns[of.capitalize()] = ("judge_margin", {"of": of, "by": "model"})
        columns[f"{of.capitalize()} (other person)"] = ("judge_margin", {"of": of, "by": SECOND})
    why = dict.fromkeys(columns, "No interval for some system or pair; or not compared.")
    decimals = dict.fromkeys(columns, 3)
    columns["Tau"] = ("judge_rank_correlation", {"coefficient": "kendall", "level": "system"})
    columns |= {_verdict(v): ("judge_conclusions", {"verdict": v}) for v in CONCLUSIONS[:-1]}
    wide = tables.side_by_side(results, CASE, columns).merge(rows[CASE].drop_duplicates(), on=CASE)
    wide = wide.astype({_verdict(v): "Int64" for v in CONCLUSIONS[:-1] if _verdict(v) in wide})
    for of, part in decided.groupby("of", sort=False):
        words = [VERDICTS.get(v, "not decided") for v in part["estimate"]]
        wide = wide.merge(part[CASE].assign(**{f"May stand in ({of})": words}), how="left", on=CASE)
    caption = f"Smallest margin, in units of the label, that contains the {names.ci}s of all changes when a judge"
    caption += ", or another person," if (rows["by"] == SECOND).any() else ""
    caption += (
        " takes the place of people: changes in rates (means) of systems, and in differences between systems. Tau:"
    )
    caption += (
        " Kendall's, of the orders of systems by judge and people. Same to judge only: pairs of systems that differ"
    )
    caption += " (CI excluding 0) according to both, with the same or opposite signs, or to only one."
    if len(decided):
        caption += " May stand in: all CIs lie within the margin set (`judges.margin`); may not: one lies beyond it."
    why |= dict.fromkeys([c for c in wide if c.startswith("May")], "No margin is set for this label.")
    why["Tau"] = "Fewer than two systems, or rates that are all equal."
    return Table(_named(wide, names), "consequences", caption, decimals, why)


def _verdict(verdict: str) -> str:
    return verdict.replace("model", "judge").capitalize()


def assisted(results: Results, names: DisplayNames) -> Table | None:
    """What a judge's labels add to people's: variance explained, and what a human label is worth."""
    if results["assisted_explained"].empty:
        return None
    columns: dict[str, tuple[str, dict]] = {
        "Explained": ("assisted_explained", {}),
        "Effective labels": ("assisted_gain", {}),
    }
    wide = tables.side_by_side(results, CASE, columns, columns)
    units = listing(f"{u}s" for u in dict.fromkeys(results["assisted_explained"]["resample_unit"].dropna()))
    caption = (
        f"Explained: share of the variance between {units} of a system, as judged by people, that the judge explains."
        f" Effective labels: how many human labels one is worth where people judge {percent(SHARE)} of the {units} and"
        f" the judge all. CI over {units}."
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
