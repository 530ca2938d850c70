"""Cohen's kappa of every two people who are known, for few people who judged the same items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

import numpy as np
import pandas as pd

from judgebook.statistics.intervals import generator
from judgebook.statistics.resampling import bootstrap_sums
from judgebook.study.labels import METHODS, Label
from judgebook.study.schema import CELL, unordered

#: people of a label up to which each two are compared, and common items needed
MOST_PEOPLE, MIN_COMMON, MOST_VALUES = 10, 30, 11


def kappas(annotations: pd.DataFrame, labels: Iterable[Label], *, seed: int, **size) -> Iterator[dict]:
    """Unweighted kappa of each two known people of a group over the items that both judged.

    Resampled are dialogues, of comparisons pairs. Comparisons are taken as they are stored, in one orientation each.
    size : n_resamples, confidence.

    Yields `pair_kappa`; `pair` names the two people.
    """
    whole = {(x.method, x.id) for x in labels if x.integer and x.scale[1] - x.scale[0] < MOST_VALUES}
    people = annotations[annotations["annotator_known"].astype(bool) & (annotations["annotator_kind"] == "human")]
    for key, rows in people.groupby(CELL, sort=False):
        names = sorted(rows["annotator"].unique())
        if key[2:] not in whole or not 2 <= len(names) <= MOST_PEOPLE:
            continue
        both = unordered(rows)
        unit = both["low"].astype(str) + " and " + both["high"].astype(str)
        wide = rows.assign(
            unit=unit.where(rows["dialogue_b"].notna(), rows["dialogue"].astype(str)), turn=rows["turn"].fillna(-1)
        )
        wide = wide.drop_duplicates(["unit", "turn", "annotator"])
        wide = wide.set_index(["unit", "turn", "annotator"])["score"].unstack()  # noqa: PD010 (twice must raise)
        kinds, units = np.unique(rows["score"]), pd.factorize(wide.index.get_level_values("unit"))[0]
        level = METHODS[key[2]].unit
        for a, b in combinations(names, 2):
            values = wide[[a, b]].to_numpy(float)
            common = np.isfinite(values).all(axis=1)
            if common.sum() < MIN_COMMON:
                continue
            codes = np.searchsorted(kinds, values[common])
            sums = np.zeros((units.max() + 1, len(kinds) ** 2))
            np.add.at(sums, (units[common], codes[:, 0] * len(kinds) + codes[:, 1]), 1.0)
            sums = sums[np.unique(units[common])]
            rng, name = generator(seed, "pair kappa", *key, a, b), "pair" if level == "pair" else "dialogue"
            found = bootstrap_sums(sums, _kappa, unit=name, rng=rng, **size)
            head = dict(zip(CELL, key, strict=True)) | {"level": level, "statistic": "pair_kappa", "seed": seed}
            yield head | {"pair": f"{a} and {b}", "n": int(common.sum()), "n_annotators": 2} | found.row()


def _kappa(sums: np.ndarray) -> np.ndarray:
    """(k,) of (k, v v) counts, rows by one person and columns by the other."""
    v = round(np.sqrt(sums.shape[1]))
    table = sums.reshape(-1, v, v)
    n = table.sum(axis=(1, 2))
    observed = np.trace(table, axis1=1, axis2=2) / n
    expected = (table.sum(axis=2) * table.sum(axis=1)).sum(axis=1) / n**2
    with np.errstate(invalid="ignore"):
        return np.where(expected < 1, (observed - expected) / (1 - expected), np.nan)
