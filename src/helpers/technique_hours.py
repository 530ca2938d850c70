"""What techniques cost until they tell systems apart, as result rows.

The statistics are those of `technique_power`; sittings those of `techniques.collect`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from helpers import technique_power as power
from helpers import winrates
from helpers.schema import condition
from helpers.technique_power import Cost, Sample
from helpers.techniques import Collected
from helpers.winrates import pairwise

#: hours beyond which an interval is called open
OPEN = 1_000.0


@dataclass(frozen=True)
class Plan:
    """alpha, power, sizes, n_runs, most_ratings, crossing_runs : as in `sections.Techniques`."""

    alpha: float
    power: float
    sizes: Sequence[int]
    n_runs: int
    most_ratings: int
    crossing_runs: int
    seed: int
    n_resamples: int
    confidence: float


@dataclass(frozen=True)
class Contest:
    """Two systems under one technique and label.

    a, b : values of conversations, b None where they are compared directly. ratings : single ratings likewise; each,
    how many there are in a conversation. cost : of a conversation or comparison.
    """

    head: dict[str, object]
    a: Sample
    b: Sample | None
    ratings: tuple[Sample, Sample | None]
    each: float
    cost: Cost


def seconds(c: Collected) -> pd.DataFrame:
    """`technique_seconds` rows: mean seconds of a conversation or comparison (`of=unit`; without units left open), and
    of the training that goes with it (`of=training`: minutes of training times people, over their sittings). And
    `technique_uses`: in how many comparisons a conversation stands.

    The same work unit is counted once, whatever labels it holds.

    Checked by hand.
    """
    out = []
    for name, spec in c.specs.items():
        for key, rows in c.sittings[name].groupby(["corpus", "group"], sort=False):
            one = rows.drop_duplicates(["conversation", "annotator"])
            known = one["seconds"].dropna()
            head = {"corpus": key[0], "group": key[1], "method": spec.method, "level": c.level(name)}
            head |= {"statistic": "technique_seconds", "n": len(known), "n_annotators": one["annotator"].nunique()}
            each = rows.groupby("label").apply(lambda r: r["annotator"].nunique() / len(r), include_groups=False)
            found = {
                "unit": known.mean() if len(known) else np.nan,
                "training": 60 * spec.onboarding_minutes * each.mean(),
            }
            note = None if len(known) else "not timed"
            out += [head | {"estimate": v, "note": note} | _named(name, of=of) for of, v in found.items()]
            if pairwise(spec.method):
                pairs = rows.drop_duplicates(["dialogue", "dialogue_b"])
                uses = len(pairs) / min(pairs["dialogue"].nunique(), pairs["dialogue_b"].nunique())
                out.append(head | {"statistic": "technique_uses", "estimate": uses, "n": len(pairs)} | _named(name))
    return pd.DataFrame(out)


def _named(technique: str, **keys: object) -> dict[str, str]:
    return {"condition": condition(technique=technique, **keys)}


def contests(c: Collected, timed: pd.DataFrame) -> list[Contest]:
    """Every pair of systems under every technique that is timed and has seconds. timed : `seconds`.

    Checked against means of the sittings themselves.
    """
    if timed.empty:
        return []
    spent, out = _spent(timed), []
    for name in (t for t, spec in c.specs.items() if spec.timed):
        for cell, rows in c.cells(name):
            where = (cell["corpus"], cell["group"])
            each = sum(spent[(*where, condition(technique=name, of=of))] for of in ("unit", "training"))
            if np.isfinite(each):
                out += _contests(c, name, cell, rows, each)
    return out


def _spent(timed: pd.DataFrame) -> pd.Series:
    seconds_ = timed[timed["statistic"] == "technique_seconds"]
    return seconds_.set_index(["corpus", "group", "condition"])["estimate"]


def _contests(c: Collected, name: str, cell: dict, rows: pd.DataFrame, each: float) -> list[Contest]:
    spec, out = c.specs[name], []
    two = pairwise(spec.method)
    for a, b in c.pairs:
        chosen = [rows["system"].eq(a) & rows["system_b"].eq(b)] if two else [rows["system"].eq(s) for s in (a, b)]
        parts = [rows[mask] for mask in chosen]
        if any(len(p) < 2 for p in parts):
            continue
        units = [winrates.by_conversation(p) for p in parts]
        samples = [power.sample(u["value"]) for u in units]
        single = [power.sample(_ratings(p, two, spec.rate)) for p in parts]
        often = float(np.mean([u["sittings"].mean() for u in units]))  # how many people judge one conversation
        cost = Cost(each * often, 1 if two else 2, 60 * spec.conversation_minutes)
        marks = float(np.mean([u["marks"].mean() for u in units])) if spec.rate == "linear" else often
        head = {**cell, "method": spec.method, "system": a, "system_b": b, "level": c.level(name), "technique": name}
        pair = [*samples, None][:2], (*single, None)[:2]
        out.append(Contest(head, *pair[0], pair[1], marks, cost))
    return out


def _ratings(rows: pd.DataFrame, two: bool, rate: str) -> np.ndarray:
    """Single ratings: every mark for itself where the rate is linear, else what the sitting is worth."""
    won, lost, n, total = (rows[k].sum() for k in ("won", "lost", "n", "total"))
    if rate == "linear" and two:
        return np.repeat([1.0, -1.0, 0.0], [won, lost, n - won - lost])
    if rate == "linear" and total == won and won + lost == n:  # marks of 0 and 1
        return np.repeat([1.0, 0.0], [won, lost])
    return rows["value"].to_numpy(float)


def averaged(c: Collected, specs: Mapping[str, object], timed: pd.DataFrame) -> list[Contest]:
    """Contests of averages of single-system techniques on the same conversations (Smith et al. 2022, Appendix G).

    Each technique's values are brought from its scale to 0 to 1 first. The time is that of the first one.

    Checked against the weighted mean of the sittings' means.
    """
    if timed.empty:
        return []
    spent, out = _spent(timed), []
    for name, spec in specs.items():
        parts = [c.sittings.get(t) for t in spec.techniques]
        if any(p is None for p in parts) or not all(p["system_b"].isna().all() for p in parts):
            continue
        mixed = _average(parts, [c.scales[t] for t in spec.techniques], spec.weights)
        for key, rows in mixed.groupby(winrates.CELL, sort=False):
            cell = dict(zip(winrates.CELL, key, strict=True))
            keys = [condition(technique=spec.techniques[0], of=of) for of in ("unit", "training")]
            each = sum(spent[(key[0], key[1], k)] for k in keys)
            for a, b in c.pairs:
                both = [power.sample(rows.loc[rows["system"] == s, "value"]) for s in (a, b)]
                if np.isfinite(each) and all(s.n > 1 for s in both):
                    head = {**cell, "system": a, "system_b": b, "level": "dialogue", "technique": name}
                    out.append(Contest(head, *both, (both[0], both[1]), 1.0, Cost(each, 2)))
    return out


def _average(
    parts: Sequence[pd.DataFrame], scales: Sequence[tuple[float, float]], weights: Sequence[float]
) -> pd.DataFrame:
    """Mean value of a conversation, over those that all parts have."""
    key = [*winrates.CELL, "system", "conversation", "annotator"]
    of = [
        share * (rows.set_index(key)["value"] - low) / (high - low)
        for rows, (low, high), share in zip(parts, scales, np.array(weights) / np.sum(weights), strict=True)
    ]
    return pd.concat(of, axis=1, join="inner").sum(axis=1).rename("value").reset_index()


def hours(found: Sequence[Contest], plan: Plan) -> pd.DataFrame:
    """`technique_power` and `technique_false_positive` rows by size, `hours_to_power`, and as published
    `hours_to_significance` with the share of equal systems that testing after every rating tells apart
    (`false_crossing`).

    Checked against hours that follow from the seconds; its parts in `technique_power`, against statsmodels.
    """
    out: list[dict[str, object]] = []
    for contest in found:
        names = (plan.seed, "hours", *map(str, contest.head.values()))
        head = {k: v for k, v in contest.head.items() if k != "technique"}
        curve = power.power_curve(
            contest.a, contest.b, plan.sizes, runs=plan.n_runs, alpha=plan.alpha, rng=winrates.stream(*names, "power")
        )
        out += [head | row for row in _curve_rows(curve, contest, plan)]
        out.append(head | _to_power(curve, contest, plan, winrates.stream(*names, "interval")))
        out += [head | row for row in _crossings(contest, plan, winrates.stream(*names, "crossing"))]
    return pd.DataFrame(out)


def _curve_rows(curve: pd.DataFrame, contest: Contest, plan: Plan) -> list[dict[str, object]]:
    name, out = contest.head["technique"], []
    for row in curve.to_dict("records"):
        h, n = float(contest.cost.hours(row["n"])), int(row["n"])
        for what in ("power", "false_positive"):
            ends = {"ci_low": row[f"{what}_low"], "ci_high": row[f"{what}_high"], "ci_kind": "exact_bound"}
            keys = _named(name, alpha=plan.alpha, conversations=n, hours=f"{h:.4g}")
            out.append({"statistic": f"technique_{what}", "estimate": row[what], "n": plan.n_runs, **ends, **keys})
    return out


def _to_power(curve: pd.DataFrame, contest: Contest, plan: Plan, rng: np.random.Generator) -> dict[str, object]:
    size = power.size_for(curve, plan.power)
    given = {"n_resamples": plan.n_resamples, "confidence": plan.confidence}
    low, high = power.size_interval(contest.a, contest.b, plan.power, plan.alpha, rng=rng, **given)
    needed, low, high = (float(contest.cost.hours(n)) if np.isfinite(n) else np.nan for n in (size, low, high))
    notes = []
    if np.isnan(needed):
        notes.append(
            f"not reached with {plan.sizes[-1]} conversations ({contest.cost.hours(plan.sizes[-1]):,.0f} hours)"
        )
    if size == plan.sizes[0]:
        notes.append("reached with the fewest conversations that were tried")
    if np.isnan(high) or high > OPEN:
        high = np.nan
        notes.append(f"the interval has no upper end below {OPEN:,.0f} hours")
    found = {
        "estimate": needed,
        "ci_low": low,
        "ci_high": high,
        "ci_kind": "percentile",
        "note": "; ".join(notes) or None,
    }
    keys = _named(contest.head["technique"], alpha=plan.alpha, power=plan.power)
    return {"statistic": "hours_to_power", "resample_unit": "conversation", "n": _n(contest), **found, **keys}


def _n(contest: Contest) -> int:
    return contest.a.n + (contest.b.n if contest.b else 0)


def _crossings(contest: Contest, plan: Plan, rng: np.random.Generator) -> list[dict[str, object]]:
    a, b = contest.ratings
    equal = (power.mirrored(a), None) if b is None else (power.pooled(a, b),) * 2
    given = {"runs": plan.crossing_runs, "alpha": plan.alpha, "rng": rng}
    real, null = (power.first_crossing(x, y, plan.most_ratings, **given) for x, y in ((a, b), equal))
    # a study that never gets there has taken more than all the hours: the median is known where fewer than half do
    middle = float(np.median(real))
    reached = middle <= plan.most_ratings
    hours_ = float(contest.cost.hours(middle / contest.each)) if reached else np.nan
    most = f"not significant after {plan.most_ratings} ratings in half of the orders or more"
    keys = _named(contest.head["technique"], alpha=plan.alpha)
    low, high = power.exact_ends(np.sum(null <= plan.most_ratings), len(null))
    wrong = {"estimate": float((null <= plan.most_ratings).mean()), "ci_low": float(low), "ci_high": float(high)}
    return [
        {
            "statistic": "hours_to_significance",
            "estimate": hours_,
            "n": _n(contest),
            "note": None if reached else most,
            **keys,
        },
        {"statistic": "technique_false_crossing", **wrong, "ci_kind": "exact_bound", "n": plan.crossing_runs, **keys},
    ]
