"""An overall order of the systems: the mean of several labels, standardised and turned so that more is better.

A label's scores are centred and divided by the standard deviation of its items over all systems, which count as known;
every label has the same weight. Uncertainty is that of `ranking`: systems share sessions, labels share dialogues and
annotators, and the covariance of all system-by-label means accounts for both.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from judgebook.annotations.cells import in_turn
from judgebook.annotations.scores import known_people, require_unit, sampled
from judgebook.codes import distinct
from judgebook.questions.performance.margins import lead_row, leads
from judgebook.questions.performance.ranking import BLOCK, CELL, rank_intervals, system_scores, too_few
from judgebook.statistics.clusters import LEAST_DF, clustered_covariance, effective_number, pair_df
from judgebook.study.labels import METHODS, Label
from judgebook.study.results import Results, collect
from judgebook.study.schema import Annotations

#: columns, besides the unit, of what is put side by side for all labels
_USED = ("system", "annotator", "annotator_known", "annotator_kind", "score", "weight")


def overall(
    annotations: Annotations,
    labels: Iterable[Label],
    wanted: str | Iterable[str],
    *,
    unit: str,
    confidence: float = 0.95,
) -> Results:
    """`overall_mean` (standard deviations from the mean of all items), `overall_rank` and `overall_lead` (of the first
    system over each, `margins.leads`), by method.

    Parameters
    ----------
    annotations : DataFrame
        Of ranked systems, with the column `unit`, what is a sample with all systems in it.
    labels : iterable of Label
        Give directions; labels without one do not enter.
    wanted : "all" or iterable of str
        Labels that enter. Those that a method lacks, or that do not vary or lack a system, are left out of it.

    Returns
    -------
    Results; `n` is the number of labels. Nothing for methods with fewer than two labels or systems.

    Raises
    ------
    ValueError
        The column `unit` is absent or has gaps.
    """
    require_unit(annotations, unit)
    direction = {(x.method, x.id): x.direction for x in labels if wanted == "all" or x.id in set(wanted)}
    rows: list[dict[str, Any]] = []
    for block, part in in_turn(annotations, BLOCK):
        systems = sorted(distinct(part["system"], part["system_b"]))
        scores = []
        for key, of_label in in_turn(part, CELL):
            sign = direction.get((key[1], key[2]), 0)
            one = standardised(system_scores(of_label), sign) if sign else None
            if one is not None and set(one["system"]) == set(systems):
                scores.append(one[[c for c in (unit, *_USED) if c in one]])
        if len(scores) > 1 and len(systems) > 1:
            head = dict(zip(BLOCK, block, strict=True)) | {"level": METHODS[block[1]].unit, "n": len(scores)}
            rows += [head | row for row in _rows(scores, systems, unit, confidence)]
    return collect(rows)


def standardised(scores: pd.DataFrame, sign: int) -> pd.DataFrame | None:
    """Scores of one label in standard deviations of its items, times `sign`; None where items do not vary.

    scores : from `ranking.system_scores`.
    """
    keys = [c for c in ("system", "dialogue", "dialogue_b", "turn") if c in scores]
    items = scores.groupby(keys, dropna=False, sort=False)
    x = items["score"].mean()
    mean, spread = x.mean(), x.std(ddof=1)
    if sampled(scores):
        weight = items["sampling_weight"].first().fillna(1.0)
        mean = np.average(x, weights=weight)
        spread = np.sqrt(np.average((x - mean) ** 2, weights=weight))
    if not spread > 1e-12:
        return None
    return scores.assign(score=sign * (scores["score"] - mean) / spread)


def _rows(scores: list[pd.DataFrame], systems: list[str], unit: str, confidence: float) -> list[dict[str, Any]]:
    joined = pd.concat([one.assign(number=i) for i, one in enumerate(scores)], ignore_index=True)
    place, m, k = pd.Index(systems).get_indexer(joined["system"]), len(systems), len(scores)
    clusters, over = [pd.factorize(joined[unit])[0]], unit
    if known_people(joined):
        clusters, over = [clusters[0], pd.factorize(joined["annotator"])[0]], f"{unit} and annotator"
    weight = joined["weight"].to_numpy()
    code, average = place * k + joined["number"].to_numpy(), np.kron(np.eye(m), np.full(k, 1 / k))
    means, cov, n = clustered_covariance(code, joined["score"].to_numpy(float), weight, clusters, average)
    df = effective_number(place, weight, clusters) - 1
    of_pairs = pair_df(place, weight, clusters, cov.variances)
    order, low, high, reason = rank_intervals(means, cov.pair_errors(), of_pairs, confidence)
    if (of_pairs < LEAST_DF).all():
        reason = too_few(place, weight, clusters, over)
    lead = np.stack(leads(means, cov.pair_errors(), of_pairs, confidence), 1)
    half = stdtrit(np.where(df >= LEAST_DF, df, np.nan), (1 + confidence) / 2) * np.sqrt(cov.variances)
    out, kind = [], "not_estimable" if reason else "simultaneous"
    for i, system in enumerate(systems):
        row = {"system": system, "resample_unit": over, "n_clusters": n[i], "note": reason or None}
        ends = {"ci_low": means[i] - half[i], "ci_high": means[i] + half[i]}
        ends |= {"ci_kind": "t" if np.isfinite(half[i]) else "not_estimable"}
        out.append({**row, "statistic": "overall_mean", "estimate": means[i], **ends})
        ends = {"ci_low": low[i], "ci_high": high[i], "ci_kind": kind}
        out.append({**row, "statistic": "overall_rank", "estimate": order[i], **ends})
        out.append({**row, "statistic": "overall_lead", **lead_row(lead[i], reason)})
    return out
