"""How closely do raters correlate? What papers call agreement in terms of correlations, each by its definition.

Only two of these compare raters with each other: `position_pairs` and `position_rest`. A rating correlated with a mean
that contains it (`position_mean`, `position_trimmed_mean`) is a part with its whole: it is high even where raters have
nothing in common. All are computed for every study, so that they can be compared.

References: Zhang et al. 2022, section 2.1, for the printed values; the definition behind them is not printed and was
found from the data. Hoeffding 1948 for the intervals (`statistics.correlation.influence`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from math import nan
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from judgebook.annotations.cells import parts
from judgebook.questions.metrics.items import LABEL, clusters_of, item_key
from judgebook.statistics.correlation import MIN_ITEMS, clustered_se, fisher_interval, influence
from judgebook.study.labels import METHODS
from judgebook.study.results import ResultRows
from judgebook.study.schema import Annotations

#: two people are compared when they rated this many items in common
MIN_SHARED = 20
#: each two raters of an item; a rating with the mean of the others; with the mean of all, itself included; the same
#: after dropping the rating farthest from the mean of its item; each two people, on the items both rated
COMPARISONS = ("position_pairs", "position_rest", "position_mean", "position_trimmed_mean", "annotator_pairs")


def by_position(ratings: Annotations) -> pd.DataFrame:
    """(items, positions) matrix of one label's ratings in source order, NaN where an item has fewer."""
    item = pd.factorize(item_key(ratings))[0]
    place = ratings.groupby(item, sort=False).cumcount().to_numpy()
    return pd.Series(ratings["score"].to_numpy(), [item, place]).unstack()  # noqa: PD010


def compared(values: np.ndarray, comparison: str, positions: int | None = None) -> list[tuple[np.ndarray, np.ndarray]]:
    """The pairs of columns whose correlations are averaged, by the definition.

    Parameters
    ----------
    values : (items, positions) array
        NaN is missing. Two columns are compared when they have MIN_ITEMS items in common.
    comparison : one of COMPARISONS but the last, which is that of `of_two_people`
        `position_trimmed_mean` drops from each item the rating farthest from its mean (the first of several) and
        correlates what is left of each position with the mean of what is left.
    positions : int, optional
        How many positions `position_mean` uses.

    Raises
    ------
    ValueError
        For any other comparison.
    """
    present = np.isfinite(values)
    if comparison == "position_pairs":
        shared = np.triu(present.T.astype(float) @ present, k=1)
        return [(values[:, i], values[:, j]) for i, j in zip(*np.nonzero(shared >= MIN_ITEMS), strict=True)]
    filled, size = np.where(present, values, 0.0), present.sum(axis=1)
    mean = filled.sum(axis=1) / np.maximum(size, 1)
    if comparison == "position_mean":
        return [(column, mean) for column in values.T[:positions]]
    if comparison == "position_rest":
        several = np.where(size > 1, size - 1, nan)
        return [
            (column, (filled.sum(axis=1) - rated) / several) for column, rated in zip(values.T, filled.T, strict=True)
        ]
    if comparison != "position_trimmed_mean":
        raise ValueError(f"comparison: expected one of {', '.join(COMPARISONS[:-1])}, found {comparison!r}")
    # distances that differ by rounding only are equal, and the first of them is dropped
    far = np.where(present, np.round(np.abs(values - mean[:, None]), 9), -1.0).argmax(axis=1)
    left = values.copy()
    left[np.flatnonzero(size > 1), far[size > 1]] = nan
    remains = np.isfinite(left)
    trimmed = np.where(remains, left, 0.0).sum(axis=1) / np.maximum(remains.sum(axis=1), 1)
    return [(column, trimmed) for column in left.T]


def mean_correlation(
    pairs: list[tuple[np.ndarray, np.ndarray, np.ndarray]], clusters: np.ndarray, confidence: float = 0.95
) -> dict[str, object]:
    """Plain mean of Spearman's correlations of `pairs` as columns of a result row, with a cluster-robust interval.

    Parameters
    ----------
    pairs : list of three arrays
        The places of items, and both ratings of each (`on_common_items`, `of_two_people`). Pairs with fewer than
        MIN_ITEMS items in common, or a constant side, are left out and counted in the note.
    clusters : (items,) array
        What is taken as independent.
    """
    effect, coefficients = np.zeros(len(clusters)), []
    for common, x, y in pairs:
        if len(common) >= MIN_ITEMS and np.ptp(x) > 0 and np.ptp(y) > 0:
            r, influences = influence(x, y)
            coefficients.append(r)
            effect[common] += influences / len(common)
    left_out = len(pairs) - len(coefficients)
    few = f"{left_out} of {len(pairs)} left out: constant, or fewer than {MIN_ITEMS} common items"
    note = few if left_out else None
    if not coefficients:
        why = note or "no two of them have enough items in common"
        return {"estimate": nan, "ci_kind": "not_estimable", "n": len(clusters), "note": why}
    mean, codes = float(np.mean(coefficients)), np.unique(clusters, return_inverse=True)[1]
    low, high = fisher_interval(mean, clustered_se(effect / len(coefficients), codes), int(codes.max()), confidence)
    kind = "cluster_robust" if np.isfinite(low) else "not_estimable"
    out = {"estimate": mean, "ci_low": low, "ci_high": high, "ci_kind": kind}
    return out | {"n": len(clusters), "n_clusters": int(codes.max()) + 1, "note": note}


def on_common_items(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The places of items that two columns have, and both ratings of each."""
    common = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    return common, x[common], y[common]


def of_two_people(ratings: Annotations) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Each two people who rated MIN_SHARED items or more in common: places of these items, and the ratings of both.

    ratings : of one label. Items are numbered as in `by_position`; of an item rated twice the first rating counts.
    """
    once = ratings.assign(item=pd.factorize(item_key(ratings))[0]).drop_duplicates(["item", "annotator"])
    who, names = pd.factorize(once["annotator"], sort=True)
    item, score = once["item"].to_numpy(), once["score"].to_numpy(float)
    order = np.lexsort([item, who])
    ends = np.cumsum(np.bincount(who, minlength=len(names)))[:-1]
    items, scores = (np.split(x[order], ends) for x in (item, score))
    judged = sparse.csr_array((np.ones(len(who)), (item, who)))
    shared = sparse.triu(judged.T @ judged, k=1).tocsr()
    shared.sort_indices()
    shared = shared.tocoo()
    out, enough = [], shared.data >= MIN_SHARED
    for a, b in zip(shared.row[enough], shared.col[enough], strict=True):
        common, i, j = np.intersect1d(items[a], items[b], assume_unique=True, return_indices=True)
        out.append((common, scores[a][i], scores[b][j]))
    return out


def rater_correlations(annotations: Annotations, confidence: float = 0.95) -> Iterator[dict[str, Any]]:
    """Every definition of COMPARISONS for each corpus, method and label: `annotator_correlation`.

    annotations : people's ratings. `annotator_pairs` needs known annotators. `position_mean` uses as many positions as
    every item of the method has, over all corpora (eight for GRADE, whose items have 8 to 11 ratings). Labels of which
    no item has two ratings are left out.
    """
    people = annotations[(annotations["annotator_kind"] == "human") & annotations["dialogue_b"].isna()]
    size = people.groupby(["corpus", "method", "label", "dialogue", "turn"], dropna=False).size()
    fewest = size.groupby("method").min()
    for key, rows in parts(people, LABEL, sort=False):
        positions = by_position(rows)
        if positions.shape[1] < 2:
            continue
        clusters, unit = clusters_of(rows[~item_key(rows).duplicated()])
        head = {"statistic": "annotator_correlation", **key, "level": METHODS[key["method"]].unit}
        head |= {"coefficient": "spearman", "kind": "human", "resample_unit": unit}
        values, all_known = positions.to_numpy(float), rows["annotator_known"].all()
        for comparison in COMPARISONS if all_known else COMPARISONS[:-1]:
            if comparison == "annotator_pairs":
                pairs = of_two_people(rows)
            else:
                pairs = [on_common_items(*two) for two in compared(values, comparison, int(fewest[key["method"]]))]
            yield head | {"comparison": comparison} | mean_correlation(pairs, clusters, confidence)


def extremes(rows: ResultRows, without: Collection[str] = ()) -> Iterator[dict[str, Any]]:
    """Lowest and highest value of each definition over all labels of a corpus, by `summary`; the note names the label.

    rows : `annotator_correlation` of labels. without : `method:label` of those left out.
    """
    keys = ["corpus", "coefficient", "comparison", "kind"]
    of_labels = rows[~(rows["method"] + ":" + rows["label"]).isin(without)].dropna(subset="estimate")
    for key, part in parts(of_labels, keys, sort=False):
        head = {"statistic": "annotator_correlation", "n": len(part), **key}
        for summary, at in (("lowest", part["estimate"].idxmin()), ("highest", part["estimate"].idxmax())):
            yield head | {"summary": summary, "estimate": part.at[at, "estimate"], "note": part.at[at, "label"]}
