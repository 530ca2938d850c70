"""How much the random pick of one annotation per item changes a value, and what it proves if a printed one lies inside.

A printed value that depends on an unknown pick can only be compared with the range over many picks. A wide range
contains almost anything, so it is reported with the share of printed values of *other* labels that also lie inside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from judgebook.questions.groups.effects import KEY, LabelScores, over_pairs
from judgebook.statistics.intervals import generator
from judgebook.study.labels import METHODS

#: numbers that one chunk of picks may hold at once
CHUNK = 1_000_000
#: with more annotations of a label the one taken of each item is drawn without shuffling them, which takes minutes
MANY_ANNOTATIONS = 20_000


def over_picks(one: LabelScores, *, seed: int, n_picks: int = 1_000, sides: str = "together") -> np.ndarray:
    """Mean |effect| of each group and difference of each pair of groups under other picks of one annotation per item.

    Parameters
    ----------
    one : LabelScores
        Of **all** annotations.
    sides : 'together' or 'apart'
        Whether the two sides of a comparison take the same pick, or each its own, as the printed values of Finch et al.
        2024 need it.

    Returns
    -------
    (picks, groups + pairs of groups) array. Where a group has one annotation of every item all picks are the same.
    """
    rng = generator(seed, "over_picks", *one.key)
    item = one.scores["item" if sides == "together" else "dialogue"]
    scores = one.scores.assign(unit=one.scores["group"] + "\x1f" + item + "\x1f" + one.scores["annotator"])
    names, sums = LabelScores(one.key, scores, one.groups, one.systems, one.effect).sums("unit")
    items = pd.Series(names).str.rsplit("\x1f", n=1).str[0].factorize()[0]
    first, size, out = np.flatnonzero(np.diff(items, prepend=-1)), max(1, CHUNK // len(names)), []
    of_item = np.diff(np.r_[first, len(names)])
    # the one annotation of an item is in every pick; of several, most sums of each are 0
    rows, several = sums.reshape(len(names), -1), of_item > 1
    varying, always = several[items], rows[first[~several]].sum(axis=0)
    place, of_several = np.cumsum(varying) - 1, of_item[several]
    columns = sparse.csr_array(rows[varying].T)
    for k in (min(size, n_picks - start) for start in range(0, n_picks, size)):
        chosen = np.zeros((k, columns.shape[1]))
        if len(names) > MANY_ANNOTATIONS:
            numbers = rng.random((k, len(first)))[:, several]
            taken = place[first[several]] + (numbers * of_several).astype(int)
        else:
            order = np.argsort(items + rng.random((k, len(names))), axis=1)  # items stay together, shuffled within
            taken = place[order[:, first[several]]]
        np.put_along_axis(chosen, taken, 1.0, axis=1)
        cells = always + (columns @ chosen.T).T
        out.append(over_pairs(cells.reshape(k, len(one.groups), len(one.systems), 3), one.effect))
    return np.concatenate(out)


def effect_ranges(one: LabelScores, *, seed: int, n_picks: int, sides: str = "together") -> Iterator[dict[str, Any]]:
    """Mean and range of `over_picks`: rows of `mean_absolute_effect` and `group_difference` with `over` of picks."""
    values = over_picks(one, seed=seed, n_picks=n_picks, sides=sides)
    for (statistic, group, group_b), column in zip(one.means, values.T, strict=True):
        head = dict(zip(KEY, one.key, strict=True)) | {"level": METHODS[one.key[1]].unit, "statistic": statistic}
        keys = {"group": group, "group_b": group_b, "over": "picks", "sides": sides}
        yield head | keys | value_range(column, "an effect is undefined on these data")


def value_range(values: np.ndarray, reason: str) -> dict[str, Any]:
    """Mean and range of the values that are defined, as columns of a result row; `reason` : why none is."""
    defined = values[np.isfinite(values)]
    if not len(defined):
        return {"ci_kind": "not_estimable", "n_undefined": len(values), "note": reason}
    ends = {"estimate": defined.mean(), "ci_low": defined.min(), "ci_high": defined.max(), "ci_kind": "range"}
    return ends | {"n_undefined": len(values) - len(defined)}
