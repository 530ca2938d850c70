"""What notebook 03 shows and says about agreement: tables and sentences made from result rows of `agreement`.

All speak from the primary interval, the one over dialogues (or pairs). Krippendorff's customary marks (Content
Analysis, 4th edition, section 12.5) are 0.8, and 0.667 for tentative conclusions.
"""

from __future__ import annotations

import pandas as pd

from helpers import tables
from helpers.iaa import CELL, alphas
from helpers.look import Look
from helpers.schema import read_condition

GOOD, TENTATIVE = 0.8, 0.667
#: what stands behind alpha: heading -> statistic, part of its condition; and why a cell may be empty
EVIDENCE = {
    "Observed": ("observed_disagreement", ""),
    "Expected": ("expected_disagreement", ""),
    "Raw agreement": ("raw_agreement", ""),
    "Prevalence": ("prevalence", ""),
    "Positive": ("positive_agreement", ""),
    "Negative": ("negative_agreement", ""),
    "Kappa": ("cohen_kappa", "weights=none"),
    "Weighted kappa": ("cohen_kappa", "weights=quadratic"),
    "Fleiss' kappa": ("fleiss_kappa", ""),
    "ICC(1,1)": ("icc", "form=ICC(1,1)"),
}
WHY_NO_EVIDENCE = {
    **dict.fromkeys(("Prevalence", "Positive", "Negative"), "Not a label of two values."),
    **dict.fromkeys(("Kappa", "Weighted kappa"), "Not two annotations an item, or a label of two values."),
    "Fleiss' kappa": "Items have different numbers of annotations.",
    "ICC(1,1)": "Not given for comparisons, labels of two values, and items with a missing annotation.",
}
#: intervals that are none around a free estimate
ODD = ("exact_bound", "not_estimable")


def levels(primary: pd.DataFrame) -> str:
    """The levels of measurement that alpha was computed at."""
    return ", ".join(sorted({read_condition(c)["measurement"] for c in primary["condition"]}))


def overview(results: pd.DataFrame, look: Look) -> pd.DataFrame:
    """A row for each label that was judged twice: sizes, alpha with both intervals, and how their widths compare."""
    primary, over_turns = alphas(results)
    out = look.sort(primary)[[*CELL, "n", "n_clusters", "n_annotators"]].set_index(CELL).astype("Int64")
    out["Alpha"] = tables.intervals(primary.set_index(CELL))
    if len(over_turns):
        out["Over turns"] = tables.intervals(over_turns.set_index(CELL))
        ratio = results[results["statistic"] == "interval_width_ratio"].set_index(CELL)
        out["Width ratio"] = ratio["estimate"]
    sizes = {"n": "Items", "n_clusters": "Dialogues or pairs", "n_annotators": "Annotators"}
    return out.rename(columns=sizes).reset_index()


def over_people(people: pd.DataFrame, look: Look) -> pd.DataFrame:
    """Rows of `agreement.alpha_over_annotators` side by side: alpha, its interval, and its range without one person."""
    two_way = look.sort(people[people["condition"].str.contains(" and annotator", regex=False)]).set_index(CELL)
    without = people[people["condition"].str.contains("without one", regex=False)].set_index(CELL)
    ends = {"Over dialogues and people": two_way, "Without one person": without.reindex(two_way.index)}
    out = two_way[["n_annotators", "estimate"]].rename(columns={"n_annotators": "Annotators", "estimate": "Alpha"})
    for name, rows in ends.items():
        pairs = zip(rows["ci_low"], rows["ci_high"], strict=True)
        out[name] = [f"{tables.number(low)} to {tables.number(high)}" if pd.notna(low) else None for low, high in pairs]
    return out.astype({"Annotators": "Int64"}).reset_index()


def never_twice(results: pd.DataFrame) -> pd.DataFrame:
    """Groups and methods of which no item was judged twice: group, method."""
    rows = results[results["statistic"] == "alpha"]
    most = rows.groupby(["group", "method"], sort=False)["n"].max().reset_index()
    return most.loc[most["n"] == 0, ["group", "method"]]


def main_group(primary: pd.DataFrame) -> str:
    """The group with most labels judged twice, of these the one with most items."""
    size = primary.groupby("group").agg(labels=("label", "size"), items=("n", "sum"))
    return size.sort_values(["labels", "items"], kind="stable").index[-1]


def shared_methods(primary: pd.DataFrame) -> list[str]:
    """Methods that more than one group judged twice."""
    groups = primary.groupby("method", sort=False)["group"].nunique()
    return list(groups.index[groups > 1])


def figures(primary: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The rows of each forest plot of one corpus: `alpha`, and `alpha_groups` where groups can be compared.

    Where every method was judged twice by several groups, `alpha` shows them all; else it shows the main group.
    """
    main, shared = primary[primary["group"] == main_group(primary)], primary["method"].isin(shared_methods(primary))
    if shared.all() or len(set(primary["group"])) == 1:
        return {"alpha": primary}
    return {"alpha": main} | ({"alpha_groups": primary[shared]} if shared.any() else {})


def alt(rows: pd.DataFrame, look: Look) -> str:
    """Alt text of a forest plot of alpha."""
    groups = ", ".join(look.name("group", g) for g in dict.fromkeys(rows["group"]))
    low, high = (tables.number(v) for v in (rows["estimate"].min(), rows["estimate"].max()))
    return (
        f"Forest plot: alpha of {len(rows)} labels with intervals, by method, from {low} to {high}. Judged by {groups}."
    )


def small(primary: pd.DataFrame, least: int, look: Look) -> str:
    """A warning where labels rest on fewer items than `least`; empty where none does."""
    few = primary[primary["n"] < least]
    if few.empty:
        return ""
    parts = few.groupby(["group", "method"], sort=False)["n"].agg(["min", "max"])
    said = [
        f"{look.name('method', m)}{'' if g == 'all' else ', ' + look.name('group', g)}"
        f" ({r['min'] if r['min'] == r['max'] else str(r['min']) + ' to ' + str(r['max'])} items)"
        for (g, m), r in parts.iterrows()
    ]
    return (
        f"**Few items.** Agreement rests on fewer than {least} items for {tables.listing(said)}. With so few, intervals"
        " are wide and can be too narrow still: take the values as a first impression, not as a finding."
    )


def verdict(primary: pd.DataFrame, look: Look) -> str:
    """The first paragraph of "What we see": how many labels reach the customary marks, and where chance is not left."""
    solid = primary[~primary["ci_kind"].isin(ODD)]
    above = {mark: int((solid["ci_low"] > mark).sum()) for mark in (GOOD, TENTATIVE)}
    chance = int((solid["ci_low"] <= 0).sum())
    best = primary.loc[primary["estimate"].idxmax()]
    what = f"{len(primary)} label{'' if len(primary) == 1 else 's'} annotated twice"
    what += "" if len(set(primary["group"])) == 1 else " (counted once a group)"
    many = {mark: f"{n or 'none'} {'have' if n > 1 else 'has'}" for mark, n in above.items()}
    text = f"Of {what}, {many[TENTATIVE]} an interval wholly above {TENTATIVE} and {many[GOOD]} one"
    text += f" above {GOOD}, Krippendorff's customary marks. The highest alpha is"
    text += f" {tables.interval(best['estimate'], best['ci_low'], best['ci_high'])} ({_named(best, look)})."
    if chance:
        text += f" For {chance} the interval reaches 0: agreement beyond chance is not shown."
    return text


def by_method(primary: pd.DataFrame, look: Look) -> str:
    """Median and range of alpha of each method and group."""
    lines = []
    for (method, group), part in look.sort(primary).groupby(["method", "group"], sort=False):
        who = f", {look.name('group', group)}" if len(set(primary["group"])) > 1 else ""
        middle, low, high = (tables.number(v) for v in part["estimate"].agg(["median", "min", "max"]))
        name = tables.plain(look.name("method", method) + who)
        said = f"median alpha {middle}, from {low} to {high} ({len(part)} labels)"
        lines.append(f"- {name}: {said if len(part) > 1 else f'alpha {middle} (1 label)'}")
    return "\n".join(lines)


def widths(results: pd.DataFrame) -> str:
    """What the intervals over dialogues are in terms of those over turns; empty where no turns are judged."""
    ratio = results.loc[results["statistic"] == "interval_width_ratio", "estimate"]
    if ratio.empty:
        return ""
    middle, low, high = (tables.number(v) for v in ratio.agg(["median", "min", "max"]))
    return (
        f"Intervals over dialogues are {low} to {high} times as wide as those over turns (median {middle}). Turns of"
        " one dialogue are not independent: where the ratio is above 1, an interval over turns claims more precision"
        " than the data have."
    )


def bounds(primary: pd.DataFrame, look: Look) -> str:
    """Labels with a bound or without an interval, and why; empty where there are none."""
    kind = {"exact_bound": "bound", "not_estimable": "no interval"}
    odd = primary[primary["ci_kind"].isin(ODD)]
    lines = [f"- {_named(r, look)}: {kind[r['ci_kind']]}, {tables.plain(r['note'])}" for _, r in odd.iterrows()]
    first = "Where marks are few, or annotators always agree, no bootstrap interval can be trusted:"
    return "\n".join([first, "", *lines]) if lines else ""


def _named(row: pd.Series, look: Look) -> str:
    group = "" if row["group"] == "all" else f", {look.name('group', row['group'])}"
    return tables.plain(
        f"{look.name('label', row['label'], row['method'])}, {look.name('method', row['method'])}{group}"
    )
