"""What notebook 80 shows: names, tables and the data of its figures, made from its result rows."""

from __future__ import annotations

import pandas as pd

from helpers import tables
from helpers.look import Look
from helpers.resampling import exact_binomial
from helpers.schema import read_condition

TESTS = {
    "z": "z of shares, on {unit}s",
    "student": "Student's t, on {unit}s",
    "welch": "Welch's t, on {unit}s",
    "sign": "Sign test",
    "dialogue_welch": "Welch's t, on dialogue values",
    "session": "Permutation of dialogue values",
    "session_normal": "The same, by normal approximation",
}
INTERVALS = {
    ("alpha", "bca"): "BCa over {over}s",
    ("alpha", "percentile"): "Percentile over {over}s",
    ("alpha", "policy"): "BCa over {over}s, or bound",
    ("alpha", "bound"): "Exact binomial bound",
    ("rate", "wilson"): "Wilson, over {over}s",
    ("rate", "bca"): "BCa over {over}s",
    ("rate", "percentile"): "Percentile over {over}s",
    ("rate", "policy"): "BCa over {over}s, or bound",
    ("mean", "t"): "Student's t, over {over}s",
    ("mean", "bca"): "BCa over {over}s",
    ("mean", "percentile"): "Percentile over {over}s",
    ("r2", "bca"): "R², BCa over {over}s",
    ("r", "bca"): "r, BCa over {over}s",
    ("r", "jackknife_t"): "r, jackknife over {over}s",
    ("group_difference", "bca"): "Mean of absolute values, BCa",
    ("group_difference", "noncentral_chi2"): "Debiased",
    ("rank", "simultaneous"): "Simultaneous intervals",
}
OURS = {"policy", "noncentral_chi2", "jackknife_t", "simultaneous", "bound"}


def parsed(results: pd.DataFrame, statistic: str) -> pd.DataFrame:
    """The rows of one statistic with the keys of their condition as columns, numbers as numbers."""
    rows = results[results["statistic"] == statistic].reset_index(drop=True)
    keys = pd.DataFrame([read_condition(c) for c in rows["condition"]], index=rows.index)
    for name in ("alpha", "n", "marks", "n_dialogues", "systems"):
        if name in keys:
            keys[name] = pd.to_numeric(keys[name])
    return rows.join(keys.rename(columns={"n": "size_"}))


def test_name(test: str, level: str) -> str:
    """What a test is called where an item is a turn, dialogue or pair (`level`)."""
    if test == "session" and level == "pair":
        return "Permutation of signs"
    return TESTS[test].format(unit=level)


def who_is(of: str, interval: str, over: str, level: str) -> str:
    """Whether an interval is the published one, ours, or stands beside."""
    if interval in OURS:
        return "ours"
    if interval == "percentile" or (of, interval) == ("r", "bca"):
        return "beside"
    if of in ("alpha", "rate") and over == "dialogue":
        return "beside"  # ours is the policy
    if (of, interval, over) == ("mean", "bca", "dialogue"):
        return "ours"
    return "published"


def pool(rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Shares of independently simulated rows added up: exact interval of all their runs."""
    out = []
    for key, part in rows.groupby(by, sort=False, dropna=False):
        n, hits = int(part["n"].sum()), round((part["estimate"] * part["n"]).sum())
        if n:
            low, high = exact_binomial(hits, n)
            lost = int(part["n_undefined"].fillna(0).sum())
            found = {"estimate": hits / n, "ci_low": low, "ci_high": high, "n": n, "n_undefined": lost}
            out.append(dict(zip(by, key, strict=True)) | found | {"labels": part["label"].nunique()})
    return pd.DataFrame(out)


# --- tests -----------------------------------------------------------------------------------------------------------


def test_table(sizes: pd.DataFrame, look: Look) -> pd.DataFrame:
    """Rejection rates over labels by method and test, a column for each level."""
    means = look.sort(sizes[sizes["label"].isna()])
    rows = []
    for (method, test), part in means.groupby(["method", "test"], sort=False):
        row = {"Method": look.name("method", method), "Test": test_name(test, part["level"].iloc[0])}
        row |= {"Size of a sample": int(part["n_dialogues"].iloc[0])}
        for alpha, one in part.groupby("alpha"):
            r = one.iloc[0]
            row[f"at {alpha:g}"] = tables.interval(r["estimate"], r["ci_low"], r["ci_high"], 3)
        rows.append(row | {"Runs": int(part["n"].iloc[0])})
    return pd.DataFrame(rows)


def valid_power(power: pd.DataFrame, sizes: pd.DataFrame, nominal: float) -> pd.DataFrame:
    """Power rows without a label, and whether the test keeps its level on placebos (`valid`)."""
    means = sizes[sizes["label"].isna() & (sizes["alpha"] == nominal)]
    off = {(r.method, r.test) for r in means.itertuples() if r.ci_low > nominal}
    rows = power[power["label"].isna()].copy()
    rows["valid"] = [(m, t) not in off for m, t in zip(rows["method"], rows["test"], strict=True)]
    return rows


# --- intervals -------------------------------------------------------------------------------------------------------


def coverage_panels(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Panels for `operating_plots.coverage_figure`: coverage of intervals of alpha by sample size."""
    alpha = rows[(rows["of"] == "alpha") & (rows["n"] > 0)]
    alpha = alpha[alpha["scenario"].isna()] if "scenario" in alpha else alpha
    who = [who_is("alpha", r.interval, r.over, r.level) for r in alpha.itertuples()]
    alpha = alpha.assign(who=who, series=alpha["method"] + alpha["label"] + alpha["interval"] + alpha["over"])
    items, marked = alpha[alpha["sample"] == "item"], alpha.get("marks", pd.Series(index=alpha.index)).notna()
    out = {}
    many = items[~marked.loc[items.index] & items["interval"].isin(["bca", "percentile"])]
    if len(many):
        many = many.assign(who=many["interval"].map({"bca": "ours", "percentile": "beside"}))
        out["Ratings, comparisons"] = many.assign(x=many["size_"], xlabel="Independent items")
    few = items[marked.loc[items.index] & items["interval"].isin(["bca", "policy"])]
    if len(few):
        out["Marks"] = few.assign(x=few["marks"], xlabel="Marks of the rarer kind (expected)")
    drawn = alpha[(alpha["sample"] == "dialogue") & alpha["interval"].isin(["bca", "policy"])]
    drawn = drawn[(drawn["over"] == "turn") | (drawn["interval"] == "policy")]
    if len(drawn):
        out["Dialogues drawn"] = drawn.assign(x=drawn["size_"], xlabel="Dialogues")
    return out


def interval_pairs(rows: pd.DataFrame, look: Look) -> pd.DataFrame:
    """Published interval and ours, question by question, at the study's own size; several labels are added up."""
    rows = rows[rows["n"] > 0]
    scenario = rows["scenario"] if "scenario" in rows else pd.Series(index=rows.index, dtype=object)
    own = rows.groupby(["of", "sample", "method"])["size_"].transform("max") == rows["size_"]
    near = scenario.eq("near_perfect")
    parts = {
        "Agreement (alpha), dialogues drawn": (rows["of"] == "alpha") & (rows["sample"] == "dialogue") & own,
        "Agreement, nearly all items agree": near,
        "Rate of a system": rows["of"] == "rate",
        "Mean of a system, ratings of turns": (rows["of"] == "mean") & (rows["level"] == "turn"),
        "Mean of a system, ratings of dialogues": (rows["of"] == "mean") & (rows["level"] == "dialogue"),
        **_correlations(rows, look),
        "Groups that do not differ": (rows["of"] == "group_difference") & scenario.eq("null"),
        "Groups that differ as observed": (rows["of"] == "group_difference") & scenario.eq("observed"),
        "Ranks of four equal systems": rows["of"] == "rank",
    }
    out = []
    for question, mask in parts.items():
        if mask.any():
            found = pool(rows[mask], ["of", "interval", "over"])
            found = found.assign(question=question, level=rows.loc[mask, "level"].iloc[0])
            out.append(found)
    if not out:
        return pd.DataFrame()
    found = pd.concat(out, ignore_index=True)
    found["who"] = [who_is(r.of, r.interval, r.over, r.level) for r in found.itertuples()]
    found["name"] = [INTERVALS[r.of, r.interval].format(over=r.over) for r in found.itertuples()]
    found = found[~((found["who"] == "beside") & (found["interval"] == "bca") & (found["of"] != "r"))]
    order = {"published": 0, "ours": 1, "beside": 2}
    place = {q: i for i, q in enumerate(parts)}
    return found.sort_values(["question", "who"], key=lambda c: c.map(place | order), kind="stable", ignore_index=True)


def _correlations(rows: pd.DataFrame, look: Look) -> dict[str, pd.Series]:
    """The weakest and the strongest label: their intervals behave differently."""
    r = rows[rows["of"].isin(["r", "r2"])]
    if r.empty:
        return {}
    labels = list(dict.fromkeys(zip(r["method"], r["label"], strict=True)))
    ends = {"weakest": labels[0], "strongest": labels[-1]}
    return {
        f"Correlation with quality, {name} label": rows["of"].isin(["r", "r2"])
        & (rows["method"] == m) & (rows["label"] == label)
        for name, (m, label) in ends.items()
    }  # fmt: skip


def interval_table(coverage: pd.DataFrame, width: pd.DataFrame, power: pd.DataFrame, look: Look) -> pd.DataFrame:
    """Every interval that was simulated: coverage with its noise, mean width, share that excludes 0."""
    keys = ["method", "label", "condition"]
    merged = look.sort(coverage)
    for name, frame in (("width", width), ("excludes", power)):
        values = frame.set_index(keys)["estimate"].rename(name)
        merged = merged.join(values, on=keys)
    scenario = merged["scenario"] if "scenario" in merged else pd.Series(None, index=merged.index)
    marks = merged["marks"] if "marks" in merged else pd.Series(float("nan"), index=merged.index)
    return pd.DataFrame(
        {
            "Method": [look.name("method", m) for m in merged["method"]],
            "Label": [look.name("label", x, m) for m, x in zip(merged["method"], merged["label"], strict=True)],
            "Of": merged["of"].str.replace("_", " ").replace({"r2": "R²"}),
            "Interval": [INTERVALS[r.of, r.interval].format(over=r.over) for r in merged.itertuples()],
            "Drawn": [f"{int(n)} {s}s" for n, s in zip(merged["size_"], merged["sample"], strict=True)],
            "Marks": marks.astype("Int64"),
            "Scenario": scenario.fillna("").str.replace("_", " ").replace("", None),
            "Coverage": tables.intervals(merged, 3),
            "Mean width": merged["width"],
            "Excludes 0": merged["excludes"],
            "Without": merged["n_undefined"].astype("Int64"),
        }
    )  # fmt: skip
