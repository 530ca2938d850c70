"""Which tests and intervals are as published and which primary, their measured error and coverage rates, and whether
these are as claimed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from judgebook.statistics.intervals import exact_binomial
from judgebook.study.results import Results, where

#: as in a paper; as used in our notebooks; any other
ROLES = ("as published", "primary", "alternative")
PUBLISHED, PRIMARY, ALTERNATIVE = ROLES
#: the level at which tests are compared
NOMINAL = 0.05
_TEST_ROLES = {"z": PUBLISHED, "student": PUBLISHED, "sign": PUBLISHED}
_PRIMARY_INTERVALS = ("policy", "bound", "jackknife_t", "noncentral_chi2", "simultaneous")
#: what an interval is of -> the rows of interval_coverage about it
QUESTIONS: dict[str, dict[str, Any]] = {
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
    return min(off, key=lambda role: off[role])


#: what a test or interval takes annotators to be
SAME, SAMPLE, UNKNOWN, OBSERVED = "the same", "a sample", "not identified", "as observed"
_PEOPLE = {"fixed": SAME, "sampled": SAMPLE, "unknown": UNKNOWN}
SIZE, COVERAGE = "size", "coverage"


@dataclass(frozen=True)
class Procedure:
    """A test or interval on which a notebook's text is based, and the rows of `statistic` that tell how it performs.

    own_size : of several sample sizes only the largest counts, which is the study's own. by : a row for each value.
    promises : what annotators may be for the procedure to claim its rate.
    """

    title: str
    notebook: str
    statistic: str
    keys: Mapping[str, object]
    own_size: bool = True
    by: tuple[str, ...] = ()
    promises: tuple[str, ...] = (SAME, SAMPLE, UNKNOWN, OBSERVED)


_WORLD = {"scenario": "world"}
PROCEDURES = (
    Procedure("Mean of a system: over dialogues", "07", "interval_coverage",
              {"of": ["mean", "share"], "interval": "t", "people": "sampled", **_WORLD}, promises=()),
    Procedure("Mean of a system: over dialogues and annotators", "07", "interval_coverage",
              {"of": ["mean", "share"], "interval": "two_way", **_WORLD}),
    Procedure("Rate of a system: BCa or exact bound", "07", "interval_coverage", {"of": "rate", "interval": "policy"}),
    Procedure("Mean of a system: BCa", "07", "interval_coverage", {"of": "mean", "interval": "bca", "scenario": None}),
    Procedure("Pairs of equal systems: any decided", "07", "null_rejection", {"test": "contrast", **_WORLD}),
    Procedure("Differences of systems: all intervals at once", "07", "interval_coverage",
              {"of": "contrast", **_WORLD}),
    Procedure("Alpha: BCa, bound or profile", "03", "interval_coverage",
              {"of": "alpha", "interval": "policy", "marks": None, "scenario": None}),
    Procedure("Alpha near 1: bound", "03", "interval_coverage", {"interval": "bound", "scenario": "near_perfect"}),
    Procedure("Correlation with quality: jackknife", "04", "interval_coverage", {"of": "r", "interval": "jackknife_t"}),
    Procedure("Difference between groups: debiased", "08", "interval_coverage",
              {"of": "group_difference", "interval": "noncentral_chi2"}, by=("scenario",)),
    Procedure("Correlation of a metric with people", "09", "interval_coverage", {"of": "rho"}),
    Procedure("Correlation of a metric within contexts", "09", "interval_coverage", {"of": "within_context"}),
    Procedure("Metric in place of an annotator", "09", "interval_coverage", {"of": "replaceability"}),
    Procedure("Correlation between runs", "10", "interval_coverage", {"of": "replication_r"}, by=("among",)),
    Procedure("Judge: difference in alpha", "13", "interval_coverage", {"of": "judge_alpha"}),
    Procedure("Judge: change in a system's rate", "13", "interval_coverage", {"of": "rate_change"}),
    Procedure("Judge-assisted mean of a system, half of the labels", "13", "interval_coverage",
              {"of": "assisted_mean", "interval": "judge_assisted"}),
    Procedure("Judge-assisted difference of systems, half of the labels", "13", "interval_coverage",
              {"of": "assisted_difference", "interval": "judge_assisted"}),
    Procedure("Alternative annotator test", "13", "null_rejection", {"test": "alternative_annotator", **_WORLD}),
)  # fmt: skip


def primary_procedures(results: Results, confidence: float) -> pd.DataFrame:
    """How each primary procedure performs at the designs tried.

    Labels are pooled. A procedure keeps its rate if the Monte Carlo interval of the rate includes the nominal one, or
    lies on the conservative side: below it for the size of a test, above it for coverage. Samples without an interval
    do not count; their number is given.

    Returns
    -------
    DataFrame with `procedure`, `notebook`, `measure` (size or coverage), `nominal`, `method`, `people`, `n_dialogues`,
    `n_annotators`, `ratings`, `detail`, `estimate`, `ci_low`, `ci_high`, `n`, `n_undefined`, `kept`, and `claimed`:
    whether the procedure promises anything about such annotators.
    """
    out = []
    for one in PROCEDURES:
        rows = results.select(one.statistic, **one.keys) if len(results[one.statistic]) else pd.DataFrame()
        rows = rows[rows["n"] > 0] if len(rows) else rows
        if rows.empty:
            continue
        if one.statistic == "null_rejection":
            rows = where(rows, alpha=NOMINAL)
            size = "n_dialogues"
        else:
            size = "sample_size"
        if one.own_size:
            rows = rows[rows[size] == rows.groupby(["method", "label"], dropna=False)[size].transform("max")]
        by = ["method", *one.by, *(["people"] if "people" in rows else [])]
        for key, part in rows.groupby(by, sort=False, dropna=False):
            out.append(_row(one, dict(zip(by, key, strict=True)), part, size, confidence))
    return pd.DataFrame(out)


def _row(one: Procedure, key: dict, part: pd.DataFrame, size: str, confidence: float) -> dict[str, object]:
    pooled = _pooled(part)
    test = one.statistic == "null_rejection"
    nominal = NOMINAL if test else confidence
    holds = pooled["ci_low"] <= nominal if test else pooled["ci_high"] >= nominal
    people = _PEOPLE.get(str(key.get("people")), OBSERVED)
    detail = next((str(key[name]) for name in one.by if name != "sample_size"), "")
    return pooled | {
        "procedure": one.title, "notebook": one.notebook, "measure": SIZE if test else COVERAGE, "nominal": nominal,
        "method": key["method"], "people": people, "claimed": people in one.promises, "detail": detail,
        "n_dialogues": float(part[size].median()), "n_annotators": part["n_annotators"].max(),
        "ratings": part["ratings"].mean() if "ratings" in part else np.nan, "labels": part["label"].nunique(),
        "unit": _unit(one, part), "kept": bool(holds),
    }  # fmt: skip


def _unit(one: Procedure, part: pd.DataFrame) -> str:
    if one.statistic == "null_rejection":
        return str(part["level"].iloc[0])
    unit = str(part["sample"].iloc[0])
    return str(part["level"].iloc[0]) if unit == "world" else unit


def _pooled(part: pd.DataFrame) -> dict[str, float]:
    """Rates of independent simulations added up: exact interval of shares of runs; else from their standard errors."""
    part = part.assign(n_undefined=part["n_undefined"].fillna(0), all="")
    if (part["ci_kind"] == "exact").all():
        row = pool(part, ["all"]).iloc[0].to_dict()
        return {k: row[k] for k in ("estimate", "ci_low", "ci_high", "n", "n_undefined")}
    weight = part["n"] / part["n"].sum()
    half = np.sqrt(np.sum((weight * (part["ci_high"] - part["ci_low"]) / 2) ** 2))
    estimate = float(np.sum(weight * part["estimate"]))
    ends = {"ci_low": estimate - half, "ci_high": estimate + half}
    return {"estimate": estimate, **ends, "n": int(part["n"].sum()), "n_undefined": int(part["n_undefined"].sum())}
