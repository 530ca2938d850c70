"""Tables of notebooks 04 and 06."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from judgebook.annotations.dialogue_values import COMPARATIVE_QUALITY, DIALOGUE_QUALITY
from judgebook.display import cells, tables
from judgebook.display.names import DisplayNames
from judgebook.display.text import listing, percent
from judgebook.display.views import Table
from judgebook.questions.validity import label_selection
from judgebook.questions.validity.analysis import KEY, chosen, corrected
from judgebook.study.results import Results

TITLES = {DIALOGUE_QUALITY: "dialogue quality", COMPARATIVE_QUALITY: "comparative quality"}
#: target -> what its fit is called
STATISTICS = {t: "R²" if t == DIALOGUE_QUALITY else "pseudo-R²" for t in TITLES}
#: what a row of each design is
ROWS = {DIALOGUE_QUALITY: "dialogue", COMPARATIVE_QUALITY: "pair"}
#: criterion -> heading, decimals of its value
CRITERIA = {
    "agreement": ("Agreement", 2),
    "importance": ("Importance", 2),
    "sensitivity": ("Sensitivity", 0),
    "distinctness": ("Distinctness", 2),
    "cost": ("Cost", 2),
}
#: sets of labels that are compared
SETS = {
    label_selection.ALL: "All",
    label_selection.FINAL: "Final set of the study",
    label_selection.KEPT: "Reach every threshold",
    label_selection.NAMED: "Named as distinct in section 7.4",
}
NO_CRITERION = {
    "Agreement": "Too few of its items were judged twice.",
    "Importance": "No CI available.",
    "Sensitivity": "No two systems can be compared.",
    "Distinctness": "Not a predictor, or no variation.",
    "Cost": "Not timed.",
}


def sampled(rows: pd.DataFrame) -> str:
    """What the intervals of these rows resample, in the plural: people, where it is known who talked."""
    units = listing(dict.fromkeys(rows["resample_unit"].dropna() + "s"))
    return units.replace("interactors", "people") or "people"


def correlations(results: Results, names: DisplayNames, target: str, confidence: float) -> Table:
    """Signed r with both intervals, rank, reliability and corrected r: one row per label."""
    rows = names.sort(results.select("r", target=target, kind=None)).set_index(KEY)
    out = _sizes(rows, target)
    out["r"] = tables.intervals(rows)
    bca = results.select("r", target=target, kind="bca").set_index(KEY)
    out["BCa CI"] = cells.ranges(bca[["ci_low", "ci_high"]], brackets=True)
    ranks = results.select("importance_rank", target=target).set_index(KEY)
    out["Rank"] = tables.intervals(ranks, 0)
    out["Reliability"] = results.select("repeat_reliability", target=target).set_index(KEY)["estimate"]
    out["Corrected r"] = tables.intervals(corrected(results, target).set_index(KEY))
    caption = (
        f"Correlation with {TITLES[target]}, {percent(confidence)} jackknife CI over {sampled(rows)}; rank by |r| with "
    )
    caption += "simultaneous CI; reliability of a single annotator's value; r corrected for it."
    why = {
        "BCa CI": "Too little variation.",
        "Rank": "No variation.",
        "Reliability": f"Too few {ROWS[target]}s were judged twice.",
        "Corrected r": "Not estimable: the reliability may be 0 or is unknown, or the CI would be wider than 1.",
    }
    return Table(names.named(out.dropna(axis=1, how="all").reset_index()), target, caption, why=why)


def _sizes(rows: pd.DataFrame, target: str) -> pd.DataFrame:
    return rows[["n_annotators", "n"]].astype("Int64").set_axis(["Annotators", f"{ROWS[target].title()}s"], axis=1)


def models(results: Results, names: DisplayNames) -> Iterator[Table]:
    """For each target the best subset of labels of each method."""
    for target, title in TITLES.items():
        best, out = chosen(results, target), []
        order = best["method"].map(lambda m: names.position("method", m)).sort_values(kind="stable").index
        for row in best.loc[order].itertuples():
            labels = ", ".join(names.name("label", label, row.method) for label in row.labels)
            cells = {"method": row.method, f"{ROWS[target].title()}s": row.n, "Labels": row.k, "Fit": row.fit}
            cells |= {"Adjusted": row.adjusted, "Best subset": labels}
            out.append(cells | {"Subsets within 0.01": row.close})
        caption = f"{title.capitalize()}: the subset of labels with the highest adjusted fit, and the number of subsets"
        caption += " within 0.01 of that fit."
        yield Table(names.named(pd.DataFrame(out)), f"models_{target}", caption, decimals=3)


def stability(results: Results, names: DisplayNames, n_halves: int) -> Table:
    """Share of half-samples that select each label, by target."""
    rows = results["selection_frequency"]
    columns = {t: title.capitalize() for t, title in TITLES.items() if t in set(rows["target"])}
    wide = names.sort(tables.pivot(rows, KEY, "target", columns).astype(dict.fromkeys(columns.values(), float)))
    why = dict.fromkeys(columns.values(), "Not a predictor of this target.")
    caption = f"Share of {n_halves} half-samples in which a label belongs to the subset with the highest adjusted fit."
    return Table(names.named(wide), "stability", caption, why=why)


def criteria(selected: pd.DataFrame, names: DisplayNames) -> Table:
    """Values of the criteria, and whether the label is kept."""
    out = names.sort(selected)[[*KEY, *CRITERIA, "kept"]].astype({"sensitivity": "Int64"})
    headings = {c: heading for c, (heading, _) in CRITERIA.items()} | {"kept": "Kept"}
    caption = "Criteria by label. Agreement: alpha; importance: |r|, 0 where its CI contains 0; sensitivity: pairs of"
    caption += " systems that the fits decide; distinctness: share of half-samples; cost: of one label."
    return Table(names.named(out.rename(columns=headings)), "selection", caption, why=NO_CRITERION)


def label_sets(results: Results, names: DisplayNames) -> Table:
    """Fit of chosen sets of labels against all labels of the method, on the same dialogues or pairs."""
    index, out = ["method", "target", "set", "k", "n"], {}
    for kind, heading in (("same_data", "Fit"), ("cross_validated", "Fit, held out")):
        out[heading] = tables.intervals(results.select("set_fit", kind=kind).set_index(index))
    set_differences = results.select("set_fit_difference", kind="cross_validated").set_index(index)
    out["Difference, held out"] = tables.intervals(set_differences)
    wide = (
        names.sort(pd.DataFrame(out).reindex(out["Fit"].index).reset_index())
        if len(results["set_fit"])
        else pd.DataFrame()
    )
    if len(wide):
        wide["target"], wide["set"] = wide["target"].map(TITLES), wide["set"].map(SETS)
        wide = names.named(wide.rename(columns={"target": "Target", "set": "Set", "k": "Labels", "n": "Rows"}))
    caption = (
        "Fit (R² for dialogue quality, pseudo-R² for comparative quality) of sets of labels and of all labels of the"
    )
    over = sampled(results.select("set_fit", kind="cross_validated"))
    caption += (
        f" method, on the same dialogues or pairs. Held out: for {over} left out, with CI over these; difference:"
    )
    caption += " the set minus all."
    return Table(wide, "label_sets", caption, why={"Difference, held out": "All labels."})


def kept(results: Results, names: DisplayNames) -> Table:
    """How many labels of each method each threshold keeps, all of them, and all but each."""
    rows = results["n_kept"]
    columns = {c: CRITERIA[c][0] if c in CRITERIA else c.capitalize() for c in dict.fromkeys(rows["criterion"])}
    wide = tables.pivot(rows, ["method", "n"], "criterion", columns).rename(columns={"n": "Labels"})
    caption = "Number of labels that reach all thresholds, each threshold alone, and all but one."
    return Table(names.named(names.sort(wide)), "kept", caption)
