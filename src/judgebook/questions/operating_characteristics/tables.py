"""Tables of notebook 80, and the display names of its tests and intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from judgebook.display import cells, tables
from judgebook.display.cells import Cell
from judgebook.display.names import DisplayNames
from judgebook.display.text import percent, plural
from judgebook.display.views import Table
from judgebook.questions.operating_characteristics.procedures import primary_procedures
from judgebook.study.results import Results

_TESTS = {
    "z": "z test of proportions, {unit}s",
    "student": "Student's t, {unit}s",
    "welch": "Welch's t, {unit}s",
    "sign": "Sign test",
    "dialogue_welch": "Welch's t, dialogue values",
}
_INTERVALS = {
    "wilson": "Wilson",
    "t": "Student's t",
    "bca": "BCa",
    "percentile": "Percentile",
    "policy": "BCa or exact bound",
    "bound": "Exact binomial bound",
    "jackknife_t": "Jackknife",
    "noncentral_chi2": "Debiased",
    "simultaneous": "Simultaneous",
    "two_way": "Two-way t",
    "cluster_robust": "Cluster-robust",
    "people_only": "Labels of people",
    "judge_assisted": "Labels of people and judge",
}
_OF = {
    "r2": "R²",
    "group_difference": "group difference",
    "rho": "Spearman's correlation",
    "within_context": "correlation within contexts",
    "replaceability": "metric minus annotator",
    "replication_r": "r between runs",
    "judge_alpha": "difference in alpha",
    "rate_change": "change in rate",
    "assisted_mean": "mean from half of the labels",
    "assisted_difference": "difference from half of the labels",
}
#: display names of what is varied within a procedure
_DETAILS = {
    "observed": "differing as observed",
    "null": "not differing",
    "near_perfect": "",
    "systems": "systems",
    "families": "families of systems",
    "variants": "variants",
}


def test_name(test: str, level: str) -> str:
    """Display name of a test, for methods whose items are a turn, dialogue or pair (`level`)."""
    return _TESTS[test].format(unit=level)


def interval_name(of: str, interval: str, over: str) -> str:
    prefix = f"{_OF.get(of, of)}: " if of in ("r", "r2") else ""
    return f"{prefix}{_INTERVALS[interval]} over {over}s"


def procedures(results: Results, names: DisplayNames, confidence: float) -> Table:
    """Every primary procedure: the design at which it was tried, its rate, and whether it keeps the nominal one."""
    rows = primary_procedures(results, confidence)
    columns = [
        "Procedure",
        "Notebook",
        "Method",
        "Annotators",
        "Design",
        "Rate",
        "Nominal",
        "Measured",
        "Runs",
        "Verdict",
    ]
    out = pd.DataFrame(columns=columns)
    if len(rows):
        verdict = np.where(rows["kept"], "kept", "not kept")
        out = pd.DataFrame({
            "Procedure": [title(r) for r in rows.itertuples()],
            "Notebook": rows["notebook"],
            "Method": [names.name("method", m) if isinstance(m, str) else "all" for m in rows["method"]],
            "Annotators": rows["people"],
            "Design": [design_of(r) for r in rows.itertuples()],
            "Rate": rows["measure"],
            "Nominal": cells.percents(rows["nominal"]),
            "Measured": [_rate(r) for r in rows.to_dict("records")],
            "Runs": rows["n"].astype("Int64"),
            "Verdict": np.where(rows["claimed"], verdict, verdict + " (not claimed)"),
        })  # fmt: skip
    caption = "Primary procedures under the designs tested, labels pooled, with the 95% Monte Carlo CI of each rate."
    caption += " Kept: the CI includes the nominal rate or lies on the conservative side (size below it, coverage above"
    caption += " it). Not claimed: the procedure does not claim to hold for such annotators."
    return Table(out, "procedures", caption)


def title(row: Any) -> str:
    detail = _DETAILS.get(row.detail, row.detail)
    return row.procedure + (f", {detail}" if detail else "")


def design_of(row: Any) -> str:
    """`58 dialogues, 7 annotators, 1.2 ratings an item`, as far as it is known."""
    unit = "comparison" if row.unit == "pair" else row.unit
    parts = [plural(int(row.n_dialogues), unit)]
    if pd.notna(row.n_annotators):
        parts.append(plural(int(row.n_annotators), "annotator"))
    if pd.notna(row.ratings):
        parts.append(f"{row.ratings:.2g} ratings per item")
    return ", ".join(parts)


def rate(row: dict) -> str:
    """`5.1% [4.2%, 6.0%]`."""
    return f"{percent(row['estimate'], 1)} [{percent(row['ci_low'], 1)}, {percent(row['ci_high'], 1)}]"


def _rate(row: dict) -> Cell:
    """`rate` as a cell."""
    return cells.of_share(row["estimate"], row["ci_low"], row["ci_high"], 1)


def rejections(results: Results, names: DisplayNames) -> Table:
    """Type I error, mean over labels: one row per method and test, a column for each level."""
    rows = names.sort(results.select("null_rejection", label=None))
    out = rows.drop_duplicates(["method", "test"]).set_index(["method", "test"])[["level"]]
    for alpha, part in rows.groupby("alpha"):
        out[f"α = {alpha:g}"] = tables.intervals(part.set_index(["method", "test"]), 3)
    out = out.reset_index()
    out.insert(1, "Test", [test_name(t, level) for t, level in zip(out["test"], out["level"], strict=True)])
    caption = "Type I error rate: share of placebo comparisons found significant, mean over labels."
    return Table(names.named(out.drop(columns=["test", "level"])), "rejections", caption)


def intervals(results: Results, names: DisplayNames) -> Table:
    """Every interval simulated: coverage, mean width, share that excludes 0."""
    keys = ["method", "label", "of", "interval", "over", "sample", "sample_size", "marks", "scenario"]
    rows = names.sort(results["interval_coverage"])
    for heading, statistic in (("Mean width", "interval_width"), ("Excludes 0", "interval_power")):
        rows = rows.merge(results[statistic][[*keys, "estimate"]].rename(columns={"estimate": heading}), "left", keys)
    rows = rows.assign(
        Of=rows["of"].replace(_OF),
        Interval=[
            f"{_INTERVALS[kind]} over {over}s" for kind, over in zip(rows["interval"], rows["over"], strict=True)
        ],
        Sample=[f"{int(n)} {unit}s" for n, unit in zip(rows["sample_size"], rows["sample"], strict=True)],
        Scenario=rows["scenario"].str.replace("_", " "),
        Coverage=tables.intervals(rows, 3),
        Marks=rows["marks"].astype("Float64").astype("Int64"),
        Missing=rows["n_undefined"],
    )
    columns = ["Of", "Interval", "Sample", "Marks", "Scenario", "Coverage", "Mean width", "Excludes 0", "Missing"]
    caption = "All intervals simulated. Coverage is of samples with an interval; missing: samples without one."
    why = {"Excludes 0": "0 is not a possible value, or is of no interest.", "Marks": "Samples of another kind."}
    why |= {"Scenario": "Samples of the data as they are.", "Mean width": "No interval."}
    return Table(names.named(rows[["method", "label", *columns]]), "intervals", caption, {"Mean width": 3}, why)
