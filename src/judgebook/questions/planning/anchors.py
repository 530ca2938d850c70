"""Guidance on a difference worth finding: how far apart are ratings of dialogues between which people had a preference?

Where a label was both rated and compared, the ratings of the dialogue that was chosen minus those of the other show
what a point of the scale means to annotators.

References
----------
Jaeschke, Singer and Guyatt 1989, Controlled Clinical Trials 10, 407-415 (the smallest difference that patients notice).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import stdtrit

from judgebook.statistics.clusters import clustered_covariance
from judgebook.study.labels import METHODS
from judgebook.study.schema import Annotations

#: comparisons with a choice, at least
LEAST = 10


def called_different(annotations: Annotations, confidence: float) -> Iterator[dict[str, Any]]:
    """The mean difference in ratings between the dialogue that was chosen and the other: a row `called_different` for
    each method that rates and label that was compared, too.

    annotations : by people, of one corpus and group. A dialogue has the mean of its ratings (of its turns, of all
    annotators); each choice counts once, ties not at all. The interval is clustered by session.
    """
    pairwise = annotations["method"].map(lambda m: METHODS[m].unit == "pair").astype(bool)
    chosen = annotations[pairwise & (annotations["score"] != 0)]
    rated = annotations[~pairwise & annotations["label"].isin(chosen["label"])]
    for (method, label), rows in rated.groupby(["method", "label"], sort=False):
        value = rows.groupby("dialogue")["score"].mean()
        of_label = chosen[chosen["label"] == label]
        gap = np.sign(of_label["score"]) * (of_label["dialogue"].map(value) - of_label["dialogue_b"].map(value))
        gap = gap.dropna().astype(float)
        if len(gap) < LEAST:
            continue
        pair = of_label["dialogue"].astype(str) + "\x1f" + of_label["dialogue_b"].astype(str)
        session = of_label["session"].fillna(pair)[gap.index].to_numpy(object)
        code = np.zeros(len(gap), dtype=np.int64)
        mean, cov, n = clustered_covariance(code, gap.to_numpy(), np.ones(len(gap)), [session])
        row = {"statistic": "called_different", "method": method, "label": label, "level": METHODS[method].unit}
        row |= {"estimate": float(mean[0]), "n": len(gap), "n_clusters": int(n[0]), "ci_kind": "not_estimable"}
        if np.isfinite(cov.variances[0]):
            half = float(stdtrit(n[0] - 1, (1 + confidence) / 2) * np.sqrt(cov.variances[0]))
            row |= {"ci_low": row["estimate"] - half, "ci_high": row["estimate"] + half, "ci_kind": "t"}
            row |= {"resample_unit": "session"}
        yield row
