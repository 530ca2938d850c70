"""Which system leads by the results of notebook 07, and how certain that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgebook.statistics import multiplicity
from judgebook.study.labels import METHODS
from judgebook.study.results import Results, once, where

#: an evaluation: run, group and method
PART = ["corpus", "group", "method"]


#: what the rank interval of a system, and its difference from the leader, say of it
LEADS, RIVAL, TIED, WORSE, OPEN = "leads", "may be best", "not clearly worse", "clearly worse", "no interval"
#: what is shown of a pair: a difference; one smaller than the margin; equivalence; that one is not worse than the other
#: by the margin; none of these; or too few data for a test
DIFFER, SLIGHTLY, ALIKE, NOT_WORSE, UNDECIDED, FEW = "differ", "slightly", "alike", "not_worse", "open", "few"


@once
def order(results: Results, parts: Sequence[tuple[str, str, str]]) -> pd.DataFrame:
    """Every evaluation's order of the systems: of the overall mean, or of its only label. Where labels besides one do
    not vary, or say nothing for another reason, it is that one.

    parts : the evaluations, the main one first (`annotations.summary.evaluations`); no others are in it.

    Returns rows of `rankings`.
    """
    rows = rankings(results, parts)
    judged = pd.MultiIndex.from_frame(rows[PART]).isin(list(parts))
    single, part = rows["label"].notna(), [rows[c] for c in PART]
    overall = (~single).groupby(part).transform("any")
    known = rows.groupby([*PART, "label"], dropna=False)["rank_low"].transform("count") > 0
    n, n_known = (rows["label"].where(some).groupby(part).transform("nunique") for some in (single, known))
    alone = ~overall & ((n == 1) | (known & (n_known == 1)))
    return rows[(~single | alone) & judged]


@once
def rankings(results: Results, parts: Sequence[tuple[str, str, str]] = ()) -> pd.DataFrame:
    """Every order of the systems: of the overall mean and of each label, in each evaluation.

    parts : evaluations that come first, in this order.

    Returns one row per ranking and system, overall means before labels and the best system first: PART, label (missing
    for an overall mean), n_labels, system, estimate, ci_low, ci_high, unit (`SD`, `share`, `score` or `strength`),
    rank, rank_low, rank_high, lead (of the first over the system, more being better), lead_low, lead_high, p_best,
    verdict, ci_kind (of the estimate), over (what is a sample), n (dialogues or votes), note.
    """
    frames = [f for f in (_overall(results), _of_labels(results)) if len(f)]
    if not frames:
        columns = [
            *PART,
            "label",
            "system",
            "rank",
            "rank_low",
            "rank_high",
            "lead",
            "lead_low",
            "lead_high",
            "verdict",
            "p_best",
        ]
        return pd.DataFrame(columns=columns)
    rows = pd.concat(frames, ignore_index=True)
    place = {part: i for i, part in enumerate(parts)}
    keys = rows[PART].itertuples(index=False, name=None)
    rows["part"] = [place.setdefault(key, len(place)) for key in keys]
    rows["verdict"] = verdicts(rows)
    rows["kind"] = rows.groupby("label", sort=False, dropna=False).ngroup()
    return rows.sort_values(["part", "kind", "rank"], kind="stable", ignore_index=True).drop(columns=["part", "kind"])


def verdicts(rows: pd.DataFrame) -> np.ndarray:
    """LEADS, RIVAL, TIED, WORSE or OPEN for each row of `rankings`: of equal first ones, the first row leads."""
    ranking = rows.groupby([*PART, "label"], dropna=False)
    first = rows.index.isin(ranking["rank"].idxmin())
    ranked = rows["rank_low"].notna() & (first | rows["lead_low"].notna() | (rows["rank_low"] == 1))
    certain = [first, ~ranked, rows["rank_low"] == 1, rows["lead_low"] > 0]
    return np.select(certain, [LEADS, OPEN, RIVAL, WORSE], TIED)


def _overall(results: Results) -> pd.DataFrame:
    keys = [*PART, "system"]
    mean = results["overall_level"].rename(columns={"n": "n_labels", "n_clusters": "n"})
    votes = [METHODS[method].unit == "pair" for method in mean["method"]]
    return _joined(mean, results, keys, "overall_").assign(label=None, unit=np.where(votes, "strength", "SD"))


def _of_labels(results: Results) -> pd.DataFrame:
    """Orders by labels that have a direction."""
    keys = [*PART, "system", "label"]
    rows = pd.concat([results[s].assign(statistic=s) for s in ("level", "strength")], ignore_index=True)
    rows = rows[pd.MultiIndex.from_frame(rows[keys]).isin(pd.MultiIndex.from_frame(results["rank"][keys]))]
    marks = {*results["rate"][["method", "label"]].drop_duplicates().itertuples(index=False, name=None)}
    binary = np.array([key in marks for key in zip(rows["method"], rows["label"], strict=True)], dtype=bool)
    unit = np.select([rows["statistic"] == "strength", binary], ["strength", "share"], "score")
    return _joined(rows, results, keys, "").assign(n_labels=1, unit=unit)


def _joined(rows: pd.DataFrame, results: Results, keys: list[str], name: str) -> pd.DataFrame:
    """Levels with ranks, leads and chances of being best."""
    ends = ("", "_low", "_high")
    out = rows.assign(over=rows["resample_unit"])
    for statistic in ("rank", "lead"):
        columns = {c: statistic + end for c, end in zip(("estimate", "ci_low", "ci_high"), ends, strict=True)}
        out = out.join(results[name + statistic].set_index(keys)[list(columns)].rename(columns=columns), on=keys)
    return out.join(results[f"{name}best_chance"].set_index(keys)["estimate"].rename("p_best"), on=keys)


def decided(rows: pd.DataFrame) -> pd.Series:
    """Whether the simultaneous interval of a difference excludes 0."""
    return (rows["ci_low"] > 0) | (rows["ci_high"] < 0)


def by_margin(rows: pd.DataFrame, margins: Mapping[tuple[str, str], float], method: str) -> pd.DataFrame:
    """`rows` of contrasts by one method with `verdict`, `margin` and `not_worse`, all by the simultaneous interval.

    Two systems are equivalent if the interval of their difference lies within the margin of the label, and one is not
    worse if it lies above minus the margin. margins : of the study; `margin` is missing for a label without one.
    """
    margin = np.array([margins.get((method, label), np.nan) for label in rows["label"]])
    low, high = rows["ci_low"].to_numpy(float), rows["ci_high"].to_numpy(float)
    few, differ = np.isnan(low), (low > 0) | (high < 0)
    alike, first, second = (low > -margin) & (high < margin), low > -margin, high < margin
    kinds = [few, differ & alike, differ, alike, first | second]
    verdict = np.select(kinds, [FEW, SLIGHTLY, DIFFER, ALIKE, NOT_WORSE], UNDECIDED)
    side = np.where(first, rows["system"], rows["system_b"])
    return rows.assign(verdict=verdict, margin=margin, not_worse=np.where(verdict == NOT_WORSE, side, ""))


def tiers(results: Results, rows: pd.DataFrame) -> list[list[str]]:
    """Systems of one evaluation's order in tiers, within which none can be told from the first (`multiplicity.tiers`).
    rows : of `order`, the best system first."""
    place, single = rows.iloc[0], pd.notna(rows["label"].iloc[0])
    stored = results["contrast" if single else "overall_contrast"]
    pairs = where(stored, **{k: place[k] for k in [*PART, *["label"] * single]})
    apart = pairs[decided(pairs)]
    return multiplicity.tiers(
        list(rows["system"]), set(map(frozenset, apart[["system", "system_b"]].itertuples(index=False, name=None)))
    )


def leaders(rows: pd.DataFrame) -> dict[str, Any]:
    """What simultaneous rank intervals say of one evaluation's order.

    rows : of one evaluation, from `order`. Returns `top` (its row), `n` systems, `known` (whether all have a rank
    interval), `sure` (first with confidence), `wins`, how many are certainly worse than the first, `rivals`, the others
    that may be first, and `any`, whether these are all.
    """
    top = rows.iloc[0]
    ranked = rows["rank_low"].notna().all()
    wins = int(len(rows) - top["rank_high"]) if ranked else 0
    rivals = list(rows["system"].iloc[1:][rows["rank_low"].iloc[1:] == 1]) if ranked else list(rows["system"].iloc[1:])
    sure = bool(ranked and top["rank_high"] == 1)
    facts = {"top": top.to_dict(), "n": len(rows), "known": bool(ranked), "sure": sure, "wins": wins}
    return facts | {"rivals": rivals, "any": len(rivals) == len(rows) - 1}
