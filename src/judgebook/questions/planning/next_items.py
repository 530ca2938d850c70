"""Which dialogues should people judge next? Those on which the model is expected to be wrong, more often than others.

What a corrected mean varies by is the distance between what people say and what the model's score leads one to expect.
Its root mean square is estimated from the dialogues that people have judged, by how high the model's score is, and
drawn towards that of all where few have such a score. Dialogues are then drawn in proportion to it (Neyman 1934; Zrnic
and Candès 2024), mixed with equal probabilities, so that none is hardly ever drawn and no estimate depends on a single
one: a wrong expectation makes intervals wider, never wrong. What people have judged counts for itself, with probability
1; weights in inverse proportion to the probabilities make estimates those of all dialogues that the model judged.

Whole clusters are drawn (sessions, where systems meet in them), a fixed number from each stratum (system), by
systematic sampling of a random order, by which each has exactly its probability.

References
----------
Zrnic and Candès 2024, Active statistical inference, ICML, arXiv:2403.03208. Neyman 1934, Journal of the Royal
Statistical Society 97, 558-625. Madow 1949, Annals of Mathematical Statistics 20, 333-354 (systematic sampling).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgebook.questions.judges.prediction_powered import Sums, estimate, strata
from judgebook.questions.planning.pilot_study import Judged, PlanningInput
from judgebook.statistics.intervals import generator

#: groups of similar scores, and dialogues by which that of a group is drawn towards that of all
GROUPS, PRIOR = 5, 10
#: what people have to do with a row
JUDGED, NEXT = "judged", "to be judged"
#: of a draw: names of its columns
COLUMNS = ("dialogue", "system", "people", "inclusion_probability")


def next_items(labels: Sequence[Judged], n: int, *, uniform: float, seed: int) -> pd.DataFrame:
    """Dialogues that people judged and those that they should judge next, with COLUMNS, by one model.

    labels : of one method and model; each gives what the model is expected to be wrong by, relative to its mean, and
    all serve the draw. n : dialogues of a system that people are to judge. uniform : share of the probability that all
    have alike. Empty where the model judged nothing that people have not.

    `inclusion_probability` is 1 of what people judged. Where dialogues of the study were drawn themselves, it is that
    of both together, up to a factor.
    """
    data = labels[0].data
    rows = _rows(data)
    errors = [_of(judged.data, rows) for judged in labels]
    rows["error"] = np.sqrt(np.nanmean(np.square(errors), axis=0))
    rows["error"] = rows["error"].fillna(rows["error"].mean() if rows["error"].notna().any() else 1.0)
    rows["labelled"] = np.any([_labelled(judged.data, rows) for judged in labels], axis=0)
    left = rows[~rows["labelled"]]
    if left.empty:
        return pd.DataFrame(columns=list(COLUMNS))
    rng = generator(seed, "next items", labels[0].method, labels[0].judge)
    drawn = pd.concat(list(_drawn(left, n, uniform, rng)))
    out = pd.concat([rows[rows["labelled"]].assign(p=1.0, people=JUDGED), drawn.assign(people=NEXT)])
    weight = out["p"].to_numpy() / (out["weight"] / rows["weight"].min())
    out = out.assign(inclusion_probability=np.minimum(weight, 1.0))
    order = out["people"].map({NEXT: 0, JUDGED: 1})
    return out.iloc[np.argsort(order, kind="stable")][list(COLUMNS)].reset_index(drop=True)


def of_plan(teams: Sequence[Mapping[str, Any]], data: PlanningInput, *, uniform: float, seed: int) -> pd.DataFrame:
    """The draw for the first of `findings.teams`: as many as people judge in its design. Where the model is not
    recommended, as many as people alone judge, all with the same probability. Empty without a model, and of
    comparisons.
    """
    none = pd.DataFrame(columns=list(COLUMNS))
    if not teams or teams[0]["pairwise"]:
        return none
    best, helps = teams[0], bool(teams[0]["helps"])
    n = best.get("n" if helps else "alone", 0)
    labels = [j for j in data.judged if (j.method, j.judge) == (best["method"], best["id"])]
    return next_items(labels, n, uniform=uniform if helps else 1.0, seed=seed) if n else none


def _rows(data: Sums) -> pd.DataFrame:
    """The dialogues that the model judged, with system, cluster and stratum."""
    weight = np.ones(len(data.items)) if data.weight is None else data.weight
    systems = np.array(data.systems, dtype=object)[data.system]
    frame = {"dialogue": data.name, "system": systems, "cluster": data.cluster, "stratum": strata(data)[data.cluster]}
    return pd.DataFrame({**frame, "weight": weight})


def _of(data: Sums, rows: pd.DataFrame) -> np.ndarray:
    """Expected errors of one label at each row, relative to their mean."""
    own = pd.Series(expected_error(data), pd.MultiIndex.from_arrays([data.name, _systems(data)]))
    values = own.reindex(pd.MultiIndex.from_frame(rows[["dialogue", "system"]])).to_numpy()
    return values / max(np.nanmean(values), 1e-300)


def _labelled(data: Sums, rows: pd.DataFrame) -> np.ndarray:
    own = pd.Series(data.labelled, pd.MultiIndex.from_arrays([data.name, _systems(data)]))
    return own.reindex(pd.MultiIndex.from_frame(rows[["dialogue", "system"]]), fill_value=False).to_numpy(bool)


def _systems(data: Sums) -> np.ndarray:
    return np.array(data.systems, dtype=object)[data.system]


def expected_error(data: Sums) -> np.ndarray:
    """(d,) root mean square of what people's values differ from their expectation by, given the model's score: within
    GROUPS of scores of equal size, those of few drawn towards that of all; in proportion to the items of a dialogue."""
    weight, labelled, at = estimate(data)[2], data.labelled, data.system
    people, model = data.people / data.items, data.model / data.items
    m = len(data.systems)
    size = np.maximum(np.bincount(at[labelled], minlength=m), 1)
    x, y = (values - (np.bincount(at[labelled], values[labelled], m) / size)[at] for values in (people, model))
    error = x - weight * y
    edges = np.unique(np.quantile(model[labelled], np.arange(1, GROUPS) / GROUPS))
    group = np.searchsorted(edges, model, side="left")
    square, known = np.square(error[labelled]), group[labelled]
    overall = float(square.mean())
    sums_, counts = (np.bincount(known, w, len(edges) + 1) for w in (square, np.ones(len(known))))
    return np.sqrt((sums_ + PRIOR * overall) / (counts + PRIOR))[group] * data.items


def _drawn(left: pd.DataFrame, n: int, uniform: float, rng: np.random.Generator) -> Iterator[pd.DataFrame]:
    """Of each stratum the rows of clusters that are drawn, with their probability `p`: with about n of a system."""
    for _, rows in left.groupby("stratum", sort=True):
        clusters = rows.assign(square=(rows["error"] * rows["weight"]) ** 2).groupby("cluster")["square"].sum()
        per_system = len(rows) / rows["system"].nunique() / len(clusters)
        p = probabilities(np.sqrt(clusters.to_numpy()), min(round(n / per_system), len(clusters)), uniform)
        shown = pd.Series(p, clusters.index)[systematic(p, rng)]
        rows = rows[rows["cluster"].isin(shown.index)]
        yield rows.assign(p=rows["cluster"].map(shown))


def probabilities(error: np.ndarray, n: int, uniform: float) -> np.ndarray:
    """(d,) that add up to n and are at most 1: `uniform` of them equal, the rest in proportion to `error`."""
    p, free, left = np.ones(len(error)), np.ones(len(error), dtype=bool), float(n)
    if n >= len(error):
        return p
    mixed = (
        uniform / len(error) + (1 - uniform) * error / max(error.sum(), 1e-300) if error.sum() > 0 else np.ones_like(p)
    )
    while True:  # those that would be drawn for certain leave the others less
        p[free] = left * mixed[free] / mixed[free].sum()
        over = free & (p > 1)
        if not over.any():
            return p
        p[over], free = 1.0, free & ~over
        left = n - float((~free).sum())


def systematic(p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(d,) whether each is drawn: as many as the probabilities add up to, in a random order."""
    order = rng.permutation(len(p))
    ends = np.round(np.cumsum(p[order]), 9)
    start = rng.random()
    hits = np.floor(ends - start) > np.floor(np.r_[0.0, ends[:-1]] - start)
    out = np.zeros(len(p), dtype=bool)
    out[order] = hits
    return out
