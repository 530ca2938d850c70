"""Tests of all pairs of systems on every label as published in Finch et al. 2023, Table 5: z tests of proportions on
turns for behaviours, t tests on turns or dialogues for ratings, sign tests for comparisons, without adjustment.

Turns of one dialogue are not independent, so z and t tests on turns have inflated type I error, and the sign test is
conservative: counts then reflect differences between tests as well as labels; `placebo.null_rejection` quantifies this.
Two labels can also be equally sensitive to different things.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from judgebook.questions.sensitivity.contrasts import draw_p_values
from judgebook.questions.sensitivity.panels import Panel


def published_tests(data: Panel) -> pd.DataFrame:
    """The paper's test for each pair of systems and label, on all dialogues.

    Returns rows of `system_difference`: the difference of means (shares, for marks; for comparisons wins minus losses
    as a share of all) and the unadjusted p-value. `n` counts items, `n_clusters` dialogues or pairs.
    """
    p, difference = draw_p_values(data, data.published_test)
    note = None if data.row == data.unit else f"takes {data.unit}s of a {data.row} as independent"
    rows = pair_rows(data, data.published_test, p[0], difference[0], resample_unit=data.unit, note=note)
    rows_of_pairs = [data.rows_of(*pair) for pair in data.pairs]
    counts = {"n": data.n, "n_clusters": data.n > 0}
    return rows.assign(**{k: np.concatenate([x[at].sum(axis=0) for at in rows_of_pairs]) for k, x in counts.items()})


def pair_rows(data: Panel, test: str, p: np.ndarray, difference: np.ndarray, **same: object) -> pd.DataFrame:
    """A row for each pair of systems and label. p, difference : (pairs, labels). same : columns of every row."""
    same |= {"statistic": "system_difference", "level": data.unit, "method": data.method, "test": test}
    names, (a, b) = np.array(data.systems, dtype=object), np.array(data.pairs).T.repeat(len(data.labels), axis=1)
    columns = {"system": names[a], "system_b": names[b], "label": np.tile(data.labels, len(data.pairs))}
    return pd.DataFrame({**same, **columns, "estimate": difference.ravel(), "p_value": p.ravel()})
