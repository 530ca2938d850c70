"""Tables of notebook 80, and the display names of its tests and intervals."""

from __future__ import annotations

from helpers.display import tables
from helpers.display.names import DisplayNames
from helpers.display.views import Table
from helpers.study.results import Results

_TESTS = {
    "z": "z test of proportions, {unit}s",
    "student": "Student's t, {unit}s",
    "welch": "Welch's t, {unit}s",
    "sign": "Sign test",
    "dialogue_welch": "Welch's t, dialogue values",
    "session": "Permutation of dialogue values",
    "session_normal": "The same, normal approximation",
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
}
_OF = {"r2": "R²", "group_difference": "group difference"}


def test_name(test: str, level: str) -> str:
    """Display name of a test, for methods whose items are a turn, dialogue or pair (`level`)."""
    return "Permutation of signs" if (test, level) == ("session", "pair") else _TESTS[test].format(unit=level)


def interval_name(of: str, interval: str, over: str) -> str:
    prefix = f"{_OF.get(of, of)}: " if of in ("r", "r2") else ""
    return f"{prefix}{_INTERVALS[interval]} over {over}s"


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
    caption = "All intervals simulated. Missing: samples without an interval."
    why = {"Excludes 0": "0 is not a possible value, or is of no interest.", "Marks": "Samples of another kind."}
    why |= {"Scenario": "Samples of the data as they are.", "Mean width": "No interval."}
    return Table(names.named(rows[["method", "label", *columns]]), "intervals", caption, {"Mean width": 3}, why)
