"""How much the random pick of one annotation per item changes effect sizes and alpha (Finch et al. 2024)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from judgebook.questions.agreement.coincidences import terms
from judgebook.questions.agreement.items import first_annotations, matrix
from judgebook.questions.groups.effects import KEY, LabelScores, over_pairs
from judgebook.statistics.intervals import generator
from judgebook.study.labels import METHODS, Label
from judgebook.study.schema import Annotations

#: numbers that one chunk of picks may hold at once
CHUNK = 1_000_000


def over_picks(one: LabelScores, *, seed: int, n_picks: int = 1_000) -> np.ndarray:
    """Mean |effect| of each group and difference of each pair of groups under other picks of one annotation per item,
    each side of a comparison with a pick of its own, as the printed values need it.

    one : of **all** annotations. Returns (picks, groups + pairs of groups). Where a group has one annotation of every
    item all picks are the same.
    """
    rng = generator(seed, "over_picks", *one.key)
    scores = one.scores
    scores = scores.assign(unit=scores["group"] + "\x1f" + scores["dialogue"] + "\x1f" + scores["annotator"])
    names, sums = LabelScores(one.key, scores, one.groups, one.systems, one.effect).sums("unit")
    items = pd.Series(names).str.rsplit("\x1f", n=1).str[0].factorize()[0]
    first, size, out = np.flatnonzero(np.diff(items, prepend=-1)), max(1, CHUNK // len(names)), []
    # the one annotation of an item is in every pick; of several, most sums of each are 0
    rows, several = sums.reshape(len(names), -1), np.diff(np.r_[first, len(names)]) > 1
    varying, always = several[items], rows[first[~several]].sum(axis=0)
    place, columns = np.cumsum(varying) - 1, sparse.csr_array(rows[varying].T)
    for k in (min(size, n_picks - start) for start in range(0, n_picks, size)):
        chosen = np.zeros((k, columns.shape[1]))
        order = np.argsort(items + rng.random((k, len(names))), axis=1)  # items stay together, shuffled within
        np.put_along_axis(chosen, place[order[:, first[several]]], 1.0, axis=1)
        cells = always + (columns @ chosen.T).T
        out.append(over_pairs(cells.reshape(k, len(one.groups), len(one.systems), 3), one.effect))
    return np.concatenate(out)


def effect_ranges(one: LabelScores, *, seed: int, n_picks: int) -> Iterator[dict[str, Any]]:
    """Mean and range of `over_picks`: rows of `mean_absolute_effect` and `group_difference` with `over` of picks."""
    values = over_picks(one, seed=seed, n_picks=n_picks)
    for (statistic, group, group_b), column in zip(one.means, values.T, strict=True):
        head = dict(zip(KEY, one.key, strict=True)) | {"level": METHODS[one.key[1]].unit, "statistic": statistic}
        keys = {"group": group, "group_b": group_b, "over": "picks", "sides": "apart"}
        yield head | keys | value_range(column, "an effect is undefined on these data")


def value_range(values: np.ndarray, reason: str) -> dict[str, Any]:
    """Mean and range of the values that are defined, as columns of a result row; `reason` : why none is."""
    defined = values[np.isfinite(values)]
    if not len(defined):
        return {"ci_kind": "not_estimable", "n_undefined": len(values), "note": reason}
    ends = {"estimate": defined.mean(), "ci_low": defined.min(), "ci_high": defined.max(), "ci_kind": "range"}
    return ends | {"n_undefined": len(values) - len(defined)}


def alpha_ranges(
    annotations: Annotations, labels: Sequence[Label], group: str, group_b: str, *, seed: int, n_picks: int = 1_000
) -> Iterator[dict[str, Any]]:
    """Mean and range over picks of alpha between two groups, one annotation of each: rows of `alpha`.

    annotations : **all** annotations. Labels of which no item was judged by people of both groups are left out.
    """
    by_key = {(x.method, x.id): x for x in labels}
    of_pair = first_annotations(annotations[annotations["group"].isin([group, group_b])], first=None)
    for key, rows in of_pair.groupby(KEY, sort=False):
        wide = [matrix(rows[rows["group"] == g]) for g in (group, group_b)]
        shared, label = wide[0].index.intersection(wide[1].index), by_key[key[1:]]
        if shared.empty:
            continue
        rng = generator(seed, "alpha_over_picks", *key, group, group_b)
        values = _alphas([w.loc[shared].to_numpy() for w in wide], label, rng, n_picks)
        head = dict(zip(KEY, key, strict=True)) | {"statistic": "alpha", "level": METHODS[label.method].unit}
        head |= {"group": group, "group_b": group_b, "n": len(shared), "measurement": label.level}
        keys = {"raters": "one_each", "kind": "human", "over": "picks"}
        yield head | keys | value_range(values, "all values are equal")


def _alphas(values: list[np.ndarray], label: Label, rng: np.random.Generator, n: int) -> np.ndarray:
    """Alpha of n picks. values : for each of two groups (items, annotations), NaN behind the last annotation."""
    mirrored = METHODS[label.method].unit == "pair"
    distinct = np.unique(np.concatenate([v[np.isfinite(v)] for v in values]))
    kinds = np.unique(np.r_[distinct, -distinct]) if mirrored else distinct
    v, code = len(kinds), np.zeros((n, len(values[0])), dtype=int)
    for judged in values:
        m = np.isfinite(judged).sum(axis=1)
        chosen = np.floor(rng.random((n, len(judged))) * m).astype(int)
        code = code * v + np.searchsorted(kinds, judged[np.arange(len(judged)), chosen])
    weights = np.stack([np.bincount(row, minlength=v * v) for row in code])
    one = np.eye(v, dtype=int)
    t = terms((one[:, None] + one[None]).reshape(-1, v), kinds, label.level, mirrored=mirrored)
    with np.errstate(divide="ignore", invalid="ignore"):
        return t.measures(weights @ t.rows)["alpha"]
