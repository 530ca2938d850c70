"""Which system leads by the results of notebook 07, and how certain that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgebook.questions.performance.analysis import two_intervals
from judgebook.study.results import Results, once

#: an evaluation: run, group and method
PART = ["corpus", "group", "method"]


#: what the rank interval of a system, and its difference from the leader, say of it
LEADS, RIVAL, TIED, WORSE, OPEN = "leads", "may be best", "not clearly worse", "clearly worse", "no interval"


def order(results: Results, parts: Sequence[tuple[str, str, str]]) -> pd.DataFrame:
    """Every evaluation's order of the systems: of the overall mean, or of its only label.

    parts : the evaluations, the main one first (`annotations.summary.evaluations`); no others are in it.

    Returns rows of `rankings`.
    """
    rows = rankings(results, parts)
    judged = pd.MultiIndex.from_frame(rows[PART]).isin(list(parts))
    labels = rows.groupby(PART)["label"].transform(lambda label: label.nunique() + label.isna().any())
    return rows[(rows["label"].isna() | (labels == 1)) & judged]


@once
def rankings(results: Results, parts: Sequence[tuple[str, str, str]] = ()) -> pd.DataFrame:
    """Every order of the systems: of the overall mean and of each label, in each evaluation.

    parts : evaluations that come first, in this order.

    Returns one row per ranking and system, overall means before labels and the best system first: PART, label (missing
    for an overall mean), n_labels, system, estimate, ci_low, ci_high, unit (`SD`, `share`, `score` or `strength`),
    rank, rank_low, rank_high, lead (of the first over the system, more being better), lead_low, lead_high, verdict,
    ci_kind (of the estimate), over (what intervals resample), n, note.
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
    mean = results["overall_mean"].rename(columns={"n": "n_labels", "n_clusters": "n"})
    mean = mean.join(_ranks(results["overall_rank"], keys), on=keys).join(
        _leads(results["overall_lead"], keys), on=keys
    )
    return mean.assign(label=None, unit="SD", over=mean["resample_unit"])


def _of_labels(results: Results) -> pd.DataFrame:
    """Orders by labels that have a direction."""
    keys = [*PART, "system", "label"]
    rank = _ranks(results["rank"].drop_duplicates(keys), keys)
    if rank.empty:
        return pd.DataFrame()
    scores = two_intervals(results)
    scores = scores[scores["outcome"].isin(["", "win"])]
    scores = scores.assign(unit=np.where(scores["statistic"] == "mean", "score", "share"))
    strengths = results["strength"].dropna(subset="estimate").drop_duplicates(keys).assign(unit="strength")
    of_strength = pd.MultiIndex.from_frame(scores[keys]).isin(pd.MultiIndex.from_frame(strengths[keys]))
    out = pd.concat([strengths, scores[~of_strength]], ignore_index=True).join(rank, on=keys, how="inner")
    out = out.join(_leads(results["lead"].drop_duplicates(keys), keys), on=keys)
    return out.rename(columns={"n_clusters": "n", "n": "n_items"}).assign(n_labels=1, over=out["resample_unit"])


def _ranks(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    columns = {"estimate": "rank", "ci_low": "rank_low", "ci_high": "rank_high", "ci_kind": "rank_kind"}
    return rows.set_index(keys)[list(columns)].rename(columns=columns)


def _leads(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    columns = {"estimate": "lead", "ci_low": "lead_low", "ci_high": "lead_high"}
    return rows.set_index(keys)[list(columns)].rename(columns=columns)


def leaders(rows: pd.DataFrame) -> dict[str, Any]:
    """What simultaneous rank intervals say of one evaluation's order.

    rows : of one evaluation, from `order`. Returns `top` (its row), `n` systems, `sure` (first with confidence),
    `wins` and `ties` of the first system: systems certainly worse, and not distinguishable from it; `rivals`, the
    others that may be first; `between`, how many ties are certainly worse than some other system.
    """
    top = rows.iloc[0]
    ranked = rows["rank_low"].notna().all()
    wins = int(len(rows) - top["rank_high"]) if ranked else 0
    rivals = list(rows["system"].iloc[1:][rows["rank_low"].iloc[1:] == 1]) if ranked else list(rows["system"].iloc[1:])
    facts = {
        "top": top.to_dict(),
        "n": len(rows),
        "known": bool(ranked),
        "sure": bool(ranked and top["rank_high"] == 1),
    }
    facts |= {"wins": wins, "ties": len(rows) - 1 - wins, "between": len(rows) - 1 - wins - len(rivals)}
    return facts | {"rivals": rivals, "any": len(rivals) == len(rows) - 1}
