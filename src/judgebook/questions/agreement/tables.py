"""Tables of notebook 03."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from judgebook.display import tables
from judgebook.display.names import DisplayNames
from judgebook.display.text import listing, percent
from judgebook.display.views import Prose, Table
from judgebook.questions.agreement.coefficients import COEFFICIENTS
from judgebook.questions.agreement.population import FIXED, SAMPLE, UNKNOWN, judged, primary
from judgebook.study.results import Results
from judgebook.study.schema import CELL

#: values of alpha that Krippendorff asks for: in general, and where tentative conclusions will do (2004, Reliability in
#: content analysis, Human Communication Research 30, 411-433, p. 429)
RELIABLE, TENTATIVE = 0.8, 0.667
#: what alpha is made of, and other coefficients: heading -> statistic, values of its keys
EVIDENCE: dict[str, tuple[str, Mapping[str, object]]] = {
    "Observed": ("observed_disagreement", {}),
    "Expected": ("expected_disagreement", {}),
    "Raw agreement": ("raw_agreement", {}),
    "Prevalence": ("prevalence", {}),
    "Positive": ("positive_agreement", {}),
    "Negative": ("negative_agreement", {}),
    **{heading: (one.statistic, column.keys) for one in COEFFICIENTS for heading, column in one.columns.items()},
}
NO_EVIDENCE = {
    **dict.fromkeys(("Prevalence", "Positive", "Negative"), "Not a binary label."),
    **{heading: column.missing for one in COEFFICIENTS for heading, column in one.columns.items()},
}
#: of whom an interval speaks
HOLDS_FOR = {SAMPLE: "other annotators", FIXED: "these annotators", UNKNOWN: "these annotators"}


def alphas(results: Results, names: DisplayNames, confidence: float) -> Table | None:
    """Sample sizes, alpha with its primary interval and of whom it speaks: one row per label judged twice."""
    rows = names.sort(primary(results))
    if rows.empty:
        return None
    out = rows[[*CELL, "n", "n_clusters", "n_annotators"]].set_index(CELL).astype("Int64")
    out["Alpha"] = tables.intervals(rows.set_index(CELL))
    out["Holds for"] = rows["population"].map(HOLDS_FOR).to_numpy()
    units = " or ".join(f"{unit}s" for unit in dict.fromkeys(rows["unit"]))
    sizes = {"n": "Items", "n_clusters": units.capitalize(), "n_annotators": "Annotators"}
    levels = ", ".join(sorted(set(rows["measurement"])))
    caption = f"Krippendorff's alpha ({levels}) with {percent(confidence)} CI over {over(rows)}."
    return Table(names.named(out.rename(columns=sizes).reset_index()), "alpha", caption)


def over(rows: pd.DataFrame) -> str:
    """What the primary intervals of `rows` resample."""
    units = dict.fromkeys(
        f"{r['unit']}s" + (" and annotators" if r["population"] == SAMPLE else "") for _, r in rows.iterrows()
    )
    return " or ".join(units)


def never_twice(results: Results, names: DisplayNames) -> Prose | None:
    """Groups and methods of which no item was judged twice."""
    most = judged(results).groupby(["group", "method"], sort=False)["n"].max()
    none = [f"{names.name('method', m)}, {names.name('group', g)}" for g, m in most.index[most == 0]]
    if not none:
        return None
    return Prose(f"Agreement is undefined for {listing(none)}, because no item was judged twice within the group.")


def evidence(results: Results, names: DisplayNames) -> Table | None:
    """What alpha is made of, and other coefficients: one row per label judged twice."""
    if primary(results).empty:
        return None
    twice = Results({s: frame[frame["n"] > 0] for s, frame in results.items()})
    wide = names.named(names.sort(tables.side_by_side(twice, CELL, EVIDENCE)))
    decimals = {"Observed": 3, "Expected": 3}
    kinds = dict.fromkeys(results["ac"]["weights"])
    ac = listing("AC1" if kind == "identity" else f"AC2 with {kind} weights" for kind in kinds)
    caption = "Components of alpha, and other coefficients of agreement."
    caption += f" Gwet's AC: {ac}." if ac else ""
    return Table(wide, "evidence", caption, decimals, NO_EVIDENCE)


#: heading -> weights of kappa: none, or by the squared distance in rank
KAPPAS = {"Kappa": "none", "Weighted kappa": "quadratic"}


def pairs_of_people(results: Results, names: DisplayNames) -> Table | None:
    """Cohen's kappa of every two people, where few are known."""
    rows = results["pair_kappa"]
    if rows.empty:
        return None
    spec: dict[str, tuple[str, Mapping[str, object]]] = {h: ("pair_kappa", {"weights": w}) for h, w in KAPPAS.items()}
    wide = tables.side_by_side(results, [*CELL, "pair", "n"], spec)
    out = names.named(names.sort(wide).rename(columns={"pair": "People", "n": "Items"}))
    caption = "Cohen's kappa of each pair of people over the items that both judged."
    why = {"Weighted kappa": "The label has two values, or values without an order."}
    return Table(out, "pairs_of_people", caption, why={h: reason for h, reason in why.items() if h in out})
