"""How closely do raters correlate? What papers call agreement in terms of correlations, each by its definition.

Only two of these compare raters with each other: `position_pairs` and `position_rest`. A rating correlated with a mean
that contains it (`position_mean`, `position_trimmed_mean`) is a part with its whole: it is high even where raters have
nothing in common. All are computed for every study, so that each can be seen beside the others.

References: Zhang et al. 2022, section 2.1, for the printed values; which definition stands behind them is not printed
and was found from the data. Hoeffding 1948 for the intervals (`correlation.influence`).
"""

from __future__ import annotations

from collections.abc import Collection
from math import nan

import numpy as np
import pandas as pd

from helpers.correlation import MIN_ITEMS, clustered_se, fisher_interval, influence
from helpers.labels import METHODS
from helpers.metric_items import clusters_of, item_key
from helpers.schema import condition, read_condition

#: two people are compared when they rated so many items in common
MIN_SHARED = 20
#: definition -> what is correlated with what
COMPARISONS = {
    "position_pairs": "each two raters of an item",
    "position_rest": "a rating with the mean of the other ratings",
    "position_mean": "a rating with the mean of all, itself included",
    "position_trimmed_mean": "the same, after dropping the rating farthest from the mean of its item",
    "annotator_pairs": "each two people, on the items both rated",
}
#: definitions in which a rating is part of what it is correlated with
PART_WHOLE = ("position_mean", "position_trimmed_mean")


def by_position(ratings: pd.DataFrame) -> pd.DataFrame:
    """(items, positions) matrix of one label's ratings in source order, NaN where an item has fewer.

    Index: position of the item's first row in `ratings`. Checked by hand.
    """
    item = pd.factorize(item_key(ratings))[0]
    place = ratings.groupby(item, sort=False).cumcount().to_numpy()
    return pd.DataFrame({"item": item, "place": place, "score": ratings["score"].to_numpy()}).pivot_table(
        index="item", columns="place", values="score", aggfunc="first"
    )


def compared(values: np.ndarray, comparison: str, positions: int | None = None) -> list[tuple[np.ndarray, np.ndarray]]:
    """The pairs of columns whose correlations are averaged, by the definition.

    values : (items, positions), or (items, annotators); NaN missing. Two columns are compared when they have MIN_ITEMS
    items in common, two people when they have MIN_SHARED. positions : of `position_mean`, use the first so many only.

    `position_trimmed_mean` drops from each item the rating farthest from its mean (the first of several) and correlates
    what is left of each position with the mean of what is left. Checked by hand.
    """
    present = np.isfinite(values)
    if comparison in ("position_pairs", "annotator_pairs"):
        least = MIN_SHARED if comparison == "annotator_pairs" else MIN_ITEMS
        shared = np.triu(present.T.astype(float) @ present, k=1)
        return [(values[:, i], values[:, j]) for i, j in zip(*np.nonzero(shared >= least), strict=True)]
    known, size = np.where(present, values, 0.0), present.sum(axis=1)
    mean = known.sum(axis=1) / np.maximum(size, 1)
    if comparison == "position_mean":
        return [(column, mean) for column in values.T[:positions]]
    if comparison == "position_rest":
        several = np.where(size > 1, size - 1, nan)
        return [(column, (known.sum(axis=1) - kept) / several) for column, kept in zip(values.T, known.T, strict=True)]
    if comparison != "position_trimmed_mean":
        raise ValueError(f"comparison: expected one of {', '.join(COMPARISONS)}, found {comparison!r}")
    # distances that differ by rounding only are equal, and the first of them is dropped
    far = np.where(present, np.round(np.abs(values - mean[:, None]), 9), -1.0).argmax(axis=1)
    left = values.copy()
    left[np.flatnonzero(size > 1), far[size > 1]] = nan
    kept = np.isfinite(left)
    trimmed = np.where(kept, left, 0.0).sum(axis=1) / np.maximum(kept.sum(axis=1), 1)
    return [(column, trimmed) for column in left.T]


def mean_correlation(
    pairs: list[tuple[np.ndarray, np.ndarray]], clusters: np.ndarray, coefficient: str, confidence: float
) -> dict[str, object]:
    """Plain mean of the correlations of `pairs` as columns of a result row, with a cluster-robust interval.

    Pairs with fewer than MIN_ITEMS items in common, or a constant side, are left out and counted in the note. Checked
    against `generalizability.annotator_correlations`, whose interval is the bootstrap's.
    """
    found = []
    for x, y in pairs:
        both = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
        if len(both) >= MIN_ITEMS and np.ptp(x[both]) > 0 and np.ptp(y[both]) > 0:
            found.append((both, *influence(x[both], y[both], coefficient)))
    left_out = len(pairs) - len(found)
    note = (
        f"{left_out} of {len(pairs)} left out: constant, or fewer than {MIN_ITEMS} common items" if left_out else None
    )
    if not found:
        why = note or "no two of them have enough items in common"
        return {"estimate": nan, "ci_kind": "not_estimable", "n": len(clusters), "note": why}
    effect = np.zeros(len(clusters))
    for both, _, own in found:
        effect[both] += own / len(both) / len(found)
    mean, codes = float(np.mean([r for _, r, _ in found])), np.unique(clusters, return_inverse=True)[1]
    low, high = fisher_interval(mean, clustered_se(effect, codes), int(codes.max()), confidence)
    kind = "cluster_robust" if np.isfinite(low) else "not_estimable"
    out = {"estimate": mean, "ci_low": low, "ci_high": high, "ci_kind": kind}
    return out | {"n": len(clusters), "n_clusters": int(codes.max()) + 1, "note": note}


def rater_correlations(
    annotations: pd.DataFrame, *, coefficient: str = "spearman", unit: str = "context", confidence: float = 0.95
) -> pd.DataFrame:
    """Every definition of COMPARISONS for each corpus, method and label: result rows `annotator_correlation`.

    annotations : all rows of the study; people enter. `annotator_pairs` needs known annotators. `position_mean` uses as
    many positions as every item of the method has, over all corpora (eight for GRADE, whose items have 8 to 11
    ratings). unit : what is taken as independent (`metric_items.clusters_of`). Labels of which no item has
    two ratings are left out.

    Each definition is checked by hand in `compared`; its values against those printed by Zhang et al. 2022.
    """
    people = annotations[(annotations["annotator_kind"] == "human") & annotations["dialogue_b"].isna()]
    size = people.groupby(["corpus", "method", "label", "dialogue", "turn"], dropna=False).size()
    fewest = size.groupby("method").min()
    out = []
    for (corpus, method, label), rows in people.groupby(["corpus", "method", "label"], sort=False):
        values = by_position(rows)
        if values.shape[1] < 2:
            continue
        items = rows[~item_key(rows).duplicated()]
        clusters, what = clusters_of(items, unit)
        head = {"corpus": corpus, "method": method, "label": label, "level": METHODS[method].unit}
        head |= {"statistic": "annotator_correlation", "resample_unit": what}
        for comparison in COMPARISONS:
            if comparison == "annotator_pairs":
                if not rows["annotator_known"].all():
                    continue
                once = rows.assign(item=pd.factorize(item_key(rows))[0]).drop_duplicates(["item", "annotator"])
                values = once.set_index(["item", "annotator"])["score"].unstack()  # noqa: PD010
            pairs = compared(values.to_numpy(float), comparison, int(fewest[method]))
            found = mean_correlation(pairs, clusters, coefficient, confidence)
            keys = condition(coefficient=coefficient, comparison=comparison, kind="human")
            out.append(head | {"condition": keys} | found)
    return pd.DataFrame(out) if out else pd.DataFrame(columns=["statistic"])


def extremes(found: pd.DataFrame, without: Collection[tuple[str, str]] = ()) -> pd.DataFrame:
    """Lowest and highest value of each definition over all labels of a corpus: `annotator_correlation` rows with
    `summary=lowest` and `summary=highest`; the note names the label. without : (method, label) pairs left out. Checked
    by hand."""
    if found.empty:
        return pd.DataFrame(columns=["statistic"])
    left = [pair not in without for pair in zip(found["method"], found["label"], strict=True)]
    rows, out = found[np.array(left, dtype=bool)].dropna(subset="estimate"), []
    for (corpus, text), part in rows.groupby(["corpus", "condition"], sort=False):
        for summary, at in (("lowest", part["estimate"].idxmin()), ("highest", part["estimate"].idxmax())):
            row = {"corpus": corpus, "statistic": "annotator_correlation", "estimate": part.at[at, "estimate"]}
            keys = condition(**read_condition(text), summary=summary)
            out.append(row | {"condition": keys, "n": len(part), "note": part.at[at, "label"]})
    return pd.DataFrame(out) if out else pd.DataFrame(columns=["statistic"])
