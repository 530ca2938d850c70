"""Which system leads by the results of notebook 07, and how certain that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgebook.questions.performance.analysis import two_intervals
from judgebook.study.results import Results

#: an evaluation: run, group and method
PART = ["corpus", "group", "method"]


def order(results: Results, parts: Sequence[tuple[str, str, str]]) -> pd.DataFrame:
    """Every evaluation's order of the systems: of the overall mean, or of its only label.

    parts : the evaluations, the main one first (`annotations.summary.evaluations`); no others are in it.

    Returns one row per evaluation and system, the main evaluation and the best system first: PART, label (missing for
    an overall mean), n_labels, system, estimate, ci_low, ci_high, unit (`SD`, `share` or `score`), rank, rank_low,
    rank_high, ci_kind (of the rank), over (what intervals resample), n, note.
    """
    frames = [f for f in (_overall(results), _of_one_label(results)) if len(f)]
    if not frames:
        return pd.DataFrame(columns=[*PART, "label", "system", "rank", "rank_low", "rank_high"])
    rows = pd.concat(frames, ignore_index=True)
    place = {part: i for i, part in enumerate(parts)}
    rows["part"] = [place.get(tuple(key), -1) for key in rows[PART].to_numpy()]
    return rows[rows["part"] >= 0].sort_values(["part", "rank"], kind="stable").drop(columns="part")


def _overall(results: Results) -> pd.DataFrame:
    keys = [*PART, "system"]
    rank = results["overall_rank"].set_index(keys)[["estimate", "ci_low", "ci_high", "ci_kind"]]
    rank = rank.set_axis(["rank", "rank_low", "rank_high", "rank_kind"], axis=1)
    mean = results["overall_mean"].rename(columns={"n": "n_labels", "n_clusters": "n"})
    return mean.join(rank, on=keys).assign(label=None, unit="SD", over=mean["resample_unit"])


def _of_one_label(results: Results) -> pd.DataFrame:
    """Orders of evaluations with one label that has a direction, which have no overall mean."""
    keys = [*PART, "system", "label"]
    rank = results["rank"]
    alone = rank.groupby(PART)["label"].transform("nunique") == 1
    rank = rank[alone].drop_duplicates(keys).set_index(keys)[["estimate", "ci_low", "ci_high", "ci_kind"]]
    if rank.empty:
        return pd.DataFrame()
    rank = rank.set_axis(["rank", "rank_low", "rank_high", "rank_kind"], axis=1)
    scores = two_intervals(results)
    scores = scores[scores["outcome"].isin(["", "win"])]
    scores = scores.assign(unit=np.where(scores["statistic"] == "mean", "score", "share"))
    strengths = results["strength"].dropna(subset="estimate").drop_duplicates(keys).assign(unit="strength")
    of_strength = pd.MultiIndex.from_frame(scores[keys]).isin(pd.MultiIndex.from_frame(strengths[keys]))
    out = pd.concat([strengths, scores[~of_strength]], ignore_index=True).join(rank, on=keys, how="inner")
    return out.rename(columns={"n_clusters": "n", "n": "n_items"}).assign(n_labels=1, over=out["resample_unit"])


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
