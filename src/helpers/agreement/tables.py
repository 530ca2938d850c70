"""Tables of notebook 03."""

from __future__ import annotations

import pandas as pd

from helpers.agreement.analysis import PRIMARY, judged, over_turns, primary
from helpers.display import cells, tables
from helpers.display.names import DisplayNames
from helpers.display.text import listing, percent
from helpers.display.views import Prose, Table
from helpers.study.results import Results
from helpers.study.schema import CELL

#: what alpha is made of: heading -> statistic, values of its keys
EVIDENCE = {
    "Observed": ("observed_disagreement", {}),
    "Expected": ("expected_disagreement", {}),
    "Raw agreement": ("raw_agreement", {}),
    "Prevalence": ("prevalence", {}),
    "Positive": ("positive_agreement", {}),
    "Negative": ("negative_agreement", {}),
    "Kappa": ("cohen_kappa", {"weights": "none"}),
    "Weighted kappa": ("cohen_kappa", {"weights": "quadratic"}),
    "Fleiss' kappa": ("fleiss_kappa", {}),
    "ICC(1,1)": ("icc", {"form": "ICC(1,1)"}),
}
NO_EVIDENCE = {
    **dict.fromkeys(("Prevalence", "Positive", "Negative"), "Not a binary label."),
    "Kappa": "Items do not all have two annotations.",
    "Weighted kappa": "Items do not all have two annotations, or the label is binary.",
    "Fleiss' kappa": "Items have different numbers of annotations.",
    "ICC(1,1)": "Not computed for comparisons, binary labels, and items with a missing annotation.",
}
#: parts of the variance, in the order of figures and tables
PARTS = {
    "system": "System",
    "annotator": "Annotator",
    "system_annotator": "Annotator × system",
    "dialogue": "Dialogue",
    "residual": "Residual",
}
DESIGNS = {
    "25 dialogues, 1 annotator": {"n_dialogues": 25, "annotators_per_dialogue": 1},
    "100 dialogues, 1 annotator": {"n_dialogues": 100, "annotators_per_dialogue": 1},
    "100 dialogues, 2 annotators": {"n_dialogues": 100, "annotators_per_dialogue": 2},
}


def alphas(results: Results, names: DisplayNames, confidence: float) -> Table:
    """Sample sizes, alpha with both intervals, and the ratio of their widths: one row per label judged twice."""
    rows = names.sort(primary(results))
    out = rows[[*CELL, "n", "n_clusters", "n_annotators"]].set_index(CELL).astype("Int64")
    out["Alpha"] = tables.intervals(rows.set_index(CELL))
    turns = over_turns(results).query("n > 0").set_index(CELL)
    if len(turns):
        out["Over turns"] = tables.intervals(turns)
        out["Width ratio"] = results["interval_width_ratio"].set_index(CELL)["estimate"]
    units = over(rows)
    sizes = {"n": "Items", "n_clusters": units.capitalize(), "n_annotators": "Annotators"}
    levels = ", ".join(sorted(set(rows["measurement"])))
    caption = f"Krippendorff's alpha ({levels}) with {percent(confidence)} CI over {units}."
    why = {"Over turns": "No turn-level judgements.", "Width ratio": "No turn-level judgements, or no CI."}
    return Table(names.named(out.rename(columns=sizes).reset_index()), "alpha", caption, why=why)


def over(rows: pd.DataFrame) -> str:
    """What the primary intervals of `rows` resample."""
    units = dict.fromkeys("dialogues or pairs" if unit in PRIMARY else f"{unit}s" for unit in rows["resample"])
    return " or ".join(units) or "dialogues or pairs"


def never_twice(results: Results, names: DisplayNames) -> Prose | None:
    """Groups and methods of which no item was judged twice."""
    most = judged(results).groupby(["group", "method"], sort=False)["n"].max()
    none = [f"{names.name('method', m)}, {names.name('group', g)}" for g, m in most.index[most == 0]]
    if not none:
        return None
    return Prose(f"Agreement is undefined for {listing(none)}, because no item was judged twice within the group.")


def evidence(results: Results, names: DisplayNames) -> Table:
    """What alpha is made of, and other coefficients: one row per label judged twice."""
    twice = Results({s: frame[frame["n"] > 0] for s, frame in results.items()})
    wide = names.named(names.sort(tables.side_by_side(twice, CELL, EVIDENCE)))
    decimals = {"Observed": 3, "Expected": 3}
    return Table(wide, "evidence", "Components of alpha, and other coefficients of agreement.", decimals, NO_EVIDENCE)


def over_people(results: Results, names: DisplayNames) -> Table | Prose:
    """Alpha with annotators resampled, and its range when one annotator is left out."""
    rows = results.select("alpha", resample=["dialogue and annotator", "pair and annotator"])
    if rows.empty:
        return Prose("The data do not identify annotators but list them by position only.")
    rows = names.sort(rows).set_index(CELL)
    without = results.select("alpha", resample="without one annotator").set_index(CELL).reindex(rows.index)
    out = rows[["n_annotators"]].rename(columns={"n_annotators": "Annotators"}).astype("Int64")
    out["Alpha, CI over dialogues and annotators"] = tables.intervals(rows)
    out["Range without one annotator"] = cells.ranges(without[["ci_low", "ci_high"]])
    out = out.assign(Alpha=rows["estimate"]) if rows["ci_low"].isna().all() else out
    caption = "Alpha of all annotations, with annotators also resampled. No CI: too few annotators."
    why = {"Range without one annotator": "Fewer than two annotators are left, or alpha is undefined."}
    return Table(names.named(out.reset_index()), "people", caption, why=why)


def pairs_of_people(results: Results, names: DisplayNames) -> Table | None:
    """Cohen's kappa of every two people, where few are known."""
    rows = results["pair_kappa"]
    if rows.empty:
        return None
    rows = names.sort(rows).assign(text=lambda f: tables.intervals(f))
    out = names.named(rows[CELL]).assign(People=rows["pair"].to_numpy(), Items=rows["n"].to_numpy())
    out["Kappa"] = rows["text"].to_numpy()
    units = " and ".join(f"{u}s" for u in dict.fromkeys(rows["resample_unit"]))
    caption = f"Cohen's kappa of each pair of people over the items that both judged; CI over {units}."
    return Table(out, "pairs_of_people", caption)


def reliability(results: Results, names: DisplayNames) -> Table | Prose:
    """The decision study: reliability of system means by design."""
    rows = results["generalizability"]
    if rows.empty or rows["n"].max() < 2:
        return Prose("A decision study requires the means of at least two systems.")
    spec = {heading: ("generalizability", keys) for heading, keys in DESIGNS.items()}
    wide = names.named(names.sort(tables.side_by_side(results, CELL, spec, with_interval=list(spec))))
    caption = "Reliability of system means, by dialogues per system and annotators per dialogue, with CI over systems,"
    caption += f" dialogues and annotators (estimated from {int(rows['n'].max())} systems: wide with few)."
    caption += " The intervals are approximate: in simulations, 95% CIs cover 89% to 97%, least with few annotators."
    reason = "Neither systems nor dialogues vary, or the variance components are not identified."
    return Table(wide, "reliability", caption, why=dict.fromkeys(DESIGNS, reason))


def variance(results: Results, names: DisplayNames, confidence: float) -> Table | None:
    """Shares of the variance in percent, with intervals: one row per label and model."""
    rows = results["variance_share"].dropna(subset="estimate")
    if rows.empty:
        return None
    shares = rows[["estimate", "ci_low", "ci_high"]] * 100
    rows = names.sort(rows.assign(text=tables.intervals(shares, 0)))
    keys = [*CELL, "n", "n_annotators", "model"]
    wide = rows.set_index([*keys, "part"])["text"].unstack("part").reset_index()  # noqa: PD010 (twice must raise)
    wide = names.sort(wide)
    out = wide[CELL].assign(Scores=wide["n"].astype(int), Annotators=wide["n_annotators"].astype(int))
    out["Model"] = wide["model"]
    out = out.assign(**{title: wide[part] for part, title in PARTS.items() if part in wide})
    caption = f"Shares of the variance of scores (percent, with {percent(confidence)} CI): linear model, profile CI;"
    caption += " ordinal and logistic models on a latent scale, Wald CI on the logit scale (profile CI near 0)."
    why = dict.fromkeys(PARTS.values(), "Not separable from the residual, or too many levels.")
    return Table(names.named(out), "variance", caption, why=why)
