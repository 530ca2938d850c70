"""Which test or interval is as published and which is primary, and what the simulated rows say of them."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from judgebook.statistics.intervals import exact_binomial
from judgebook.study.results import Results, where

#: as in a paper; as used in our notebooks; any other
ROLES = ("as published", "primary", "alternative")
PUBLISHED, PRIMARY, ALTERNATIVE = ROLES
#: the level at which tests are compared
NOMINAL = 0.05
_TEST_ROLES = {"z": PUBLISHED, "student": PUBLISHED, "sign": PUBLISHED, "session": PRIMARY}
_PRIMARY_INTERVALS = ("policy", "bound", "jackknife_t", "noncentral_chi2", "simultaneous")
#: what an interval is of -> the rows of interval_coverage about it
QUESTIONS = {
    "Alpha": {"of": "alpha", "sample": "dialogue"},
    "Alpha near 1": {"scenario": "near_perfect"},
    "Rate of a system": {"of": "rate"},
    "Mean rating of turns": {"of": "mean", "level": "turn"},
    "Mean rating of dialogues": {"of": "mean", "level": "dialogue"},
    "Correlation with quality (weakest label)": {"of": ["r", "r2"]},
    "Correlation with quality (strongest label)": {"of": ["r", "r2"]},
    "Group difference (none in truth)": {"of": "group_difference", "scenario": "null"},
    "Group difference (as observed)": {"of": "group_difference", "scenario": "observed"},
}
#: what these intervals are of
AGAINST_PUBLISHED = ("alpha", "rate", "mean", "r", "r2", "group_difference")


def test_role(test: str) -> str:
    return _TEST_ROLES.get(test, ALTERNATIVE)


def interval_role(of: str, interval: str, over: str) -> str:
    if interval in _PRIMARY_INTERVALS or (of, interval) == ("mean", "bca"):
        return PRIMARY
    if interval == "percentile" or of == "r" or (of in ("alpha", "rate") and over == "dialogue"):
        return ALTERNATIVE
    return PUBLISHED


def rejection_rates(results: Results) -> pd.DataFrame:
    """Type I error at NOMINAL, the mean over labels: one row per method and test, with `role` and `verdict`."""
    rows = results.select("null_rejection", label=None, alpha=NOMINAL, scenario=None)
    verdicts = [_verdict(r.ci_low, r.ci_high) for r in rows.itertuples()]
    return rows.assign(role=rows["test"].map(test_role), verdict=verdicts)


def _verdict(low: float, high: float) -> str:
    return "inflated" if low > NOMINAL else "conservative" if high < NOMINAL else "nominal"


def mean_power(results: Results) -> pd.DataFrame:
    """Mean power over labels with `role`, and whether the test's type I error is `inflated`."""
    rates = rejection_rates(results)
    inflated = set(rates.loc[rates["verdict"] == "inflated", ["method", "test"]].itertuples(index=False, name=None))
    rows = results.select("power", label=None)
    off = [key in inflated for key in zip(rows["method"], rows["test"], strict=True)]
    return rows.assign(role=rows["test"].map(test_role), inflated=off)


def pool(rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Shares of independently simulated rows added up, with the exact interval of all their runs."""
    out = []
    for key, part in rows.groupby(by, sort=False, dropna=False):
        n, hits = int(part["n"].sum()), round((part["estimate"] * part["n"]).sum())
        if n:
            low, high = exact_binomial(hits, n)
            pooled = {"estimate": hits / n, "ci_low": low, "ci_high": high, "n": n}
            pooled["n_undefined"] = int(part["n_undefined"].fillna(0).sum())
            out.append(dict(zip(by, key, strict=True)) | pooled)
    return pd.DataFrame(out)


def by_question(results: Results) -> pd.DataFrame:
    """Coverage question by question, published intervals first: `question`, `of`, `interval`, `over`, `role`, estimate,
    its interval, `n` and `n_undefined`. Labels are pooled; alpha at the study's own number of dialogues."""
    rows = results["interval_coverage"].query("n > 0")
    rows = rows[rows["of"].isin(AGAINST_PUBLISHED) & (rows["scenario"] != "world")]
    largest = rows.groupby(["of", "sample", "method"])["sample_size"].transform("max")
    rows = rows[(rows["of"] != "alpha") | (rows["sample"] != "dialogue") | (rows["sample_size"] == largest)]
    out = []
    for question, part in _questions(rows):
        pooled = pool(part, ["of", "interval", "over"])
        pooled["role"] = [interval_role(r.of, r.interval, r.over) for r in pooled.itertuples()]
        pooled = pooled[(pooled["role"] != ALTERNATIVE) | (pooled["interval"] != "bca") | (pooled["of"] == "r")]
        out.append(
            pooled.assign(question=question).sort_values("role", key=lambda c: c.map(ROLES.index), kind="stable")
        )
    return pd.concat(out, ignore_index=True) if out else pd.DataFrame()


def _questions(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    for question, keys in QUESTIONS.items():
        part = where(rows, **keys)
        if keys["of" if "of" in keys else "scenario"] == ["r", "r2"] and len(part):
            one = part.iloc[0 if "weakest" in question else -1]
            part = where(part, method=one["method"], label=one["label"])
        if len(part):
            yield question, part


def counted_missing(row: pd.Series) -> tuple[float, float]:
    """Exact interval of a coverage if a sample without an interval counts as not covered."""
    return exact_binomial(round(row["estimate"] * row["n"]), int(row["n"] + row["n_undefined"]))


def closer(published: pd.Series, primary: pd.Series, confidence: float) -> str | None:
    """The role whose coverage, missing intervals counted as not covered, is closer to the confidence level; None where
    the Monte Carlo error leaves that open."""
    ends = {PUBLISHED: counted_missing(published), PRIMARY: counted_missing(primary)}
    off = {role: max(low - confidence, confidence - high, 0.0) for role, (low, high) in ends.items()}
    (low_a, high_a), (low_b, high_b) = ends.values()
    if max(low_a, low_b) <= min(high_a, high_b) or off[PUBLISHED] == off[PRIMARY]:
        return None
    return min(off, key=off.get)
