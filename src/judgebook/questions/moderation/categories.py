"""How annotators categorize replies, e.g. -1 not acceptable, 0 in between, 1 acceptable (Zhang et al. 2022, §3.2), and
the range of Fleiss' kappa that numbers of agreeing annotators imply, where the judgements are not available."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize

from judgebook.statistics.intervals import Interval, Sampling
from judgebook.statistics.resampling import ratio_interval, replicate_sums
from judgebook.study.schema import Annotations, Dialogues

#: sides of a pair -> who said it
SIDES = {"prompt": "user", "answer": "system"}
#: annotators of every item up to which items are counted by how many agree; else by the share that does, in tenths
MOST = 12
BANDS = (*(f"{10 * k}–{10 * k + 9}%" for k in range(9)), "90–100%")
#: how an item counts on which two categories have equally many annotators
DEFINITIONS = {
    "each": "under every category that so many annotators chose",
    "unique": "only where no other category was chosen as often",
    "halved": "shared out between the categories that were chosen most often",
}


def pairs(dialogues: Dialogues, marks: Annotations) -> pd.DataFrame:
    """The prompts and answers that were put into categories, with numbers of words by white space: corpus,
    `prompt_words`, `answer_words`. Without those of which a text is missing."""
    keys = ["corpus", "dialogue", "turn"]
    categorized = dialogues.merge(marks[keys].drop_duplicates(), on=keys).dropna(subset=["user_text", "system_text"])
    words = {f"{side}_words": categorized[f"{speaker}_text"].str.split().str.len() for side, speaker in SIDES.items()}
    return categorized[["corpus"]].assign(**words)


def sizes(categorized: pd.DataFrame, *, sampling: Sampling) -> Iterator[dict[str, Any]]:
    """`pair_size`: number of pairs, mean words of prompts and of answers, pairs resampled (BCa).

    These are the features of Zhang et al. 2022, Table 4, that need no classifier. The paper does not state the unit of
    its turn lengths. categorized : from `pairs`.
    """
    for corpus, of_corpus in categorized.groupby("corpus", sort=False):
        head = {"statistic": "pair_size", "corpus": corpus, "level": "turn", "n": len(of_corpus)}
        yield head | {"what": "pairs", "estimate": len(of_corpus)}
        for what in (f"{side}_words" for side in SIDES):
            rows = np.column_stack([of_corpus[what].to_numpy(float), np.ones(len(of_corpus))])
            yield head | {"what": what} | ratio_interval(rows, "turn", sampling.stream(what, corpus), sampling).row()


def distribution(marks: Annotations) -> Iterator[dict[str, Any]]:
    """`annotator_score_share`: the share of each category among the judgements of every annotator (Figure 2).

    marks : annotations of the category label. Annotators who are positions in a list have no shares of their own.
    """
    marks = marks[marks["annotator_known"].astype(bool)]
    counts = marks.groupby(["corpus", "annotator"])["score"].value_counts().unstack(fill_value=0)  # noqa: PD010
    for (corpus, annotator), row in counts.iterrows():
        head = {"statistic": "annotator_score_share", "corpus": corpus, "annotator": annotator, "n": row.sum()}
        yield from (head | {"score": f"{score:g}", "estimate": n / row.sum()} for score, n in row.items())


def compositions(marks: Annotations, categories: Sequence[float]) -> np.ndarray:
    """(items, categories) how many annotators of one corpus chose each category, of items that two or more judged."""
    table = marks.groupby(["dialogue", "turn"])["score"].value_counts().unstack(fill_value=0)  # noqa: PD010
    table = table.reindex(columns=list(categories), fill_value=0)
    return table[table.sum(axis=1) > 1].to_numpy()


def agreement_counts(table: np.ndarray, definition: str) -> np.ndarray:
    """(categories, m + 1) number of items of which exactly k annotators chose a category that nobody outnumbers.

    table : from `compositions`. definition : a key of DEFINITIONS; it matters only where categories tie, which with
    seven annotators and three categories is at three each. Zhang et al. 2022, Table 5, for k from 3 on.
    """
    out = np.zeros((table.shape[1], int(table.sum(axis=1).max()) + 1))
    np.add.at(out, (np.arange(table.shape[1]), table), _weights(table, definition))
    return out


def agreement(table: np.ndarray, categories: Sequence[float], corpus: str) -> Iterator[dict[str, Any]]:
    """`agreement_count`, by every definition. Where all items have equally many annotators, at most MOST, by the number
    that agree, from the smallest possible majority on; otherwise by the share that agrees (`band`, a tenth)."""
    m = table.sum(axis=1)
    counted = len(set(m.tolist())) <= 1 and m.max(initial=0) <= MOST
    for definition in DEFINITIONS if len(table) else ():
        n_agreeing = agreement_counts(table, definition) if counted else _by_share(table, definition)
        for score, counts in zip(categories, n_agreeing, strict=True):
            row = {"statistic": "agreement_count", "corpus": corpus, "level": "turn", "n": len(table)}
            row |= {"score": f"{score:g}", "definition": definition}
            for k in range(-(-(len(counts) - counted) // table.shape[1]), len(counts)):
                yield row | ({"annotators": k} if counted else {"band": BANDS[k]}) | {"estimate": counts[k]}


def _by_share(table: np.ndarray, definition: str) -> np.ndarray:
    """(categories, 10) as `agreement_counts`, by tenths of the share of an item's annotators who chose the category."""
    weight, m = _weights(table, definition), table.sum(axis=1, keepdims=True)
    out = np.zeros((table.shape[1], 10))
    np.add.at(out, (np.arange(table.shape[1]), np.minimum(10 * table // m, 9)), weight)
    return out


def _weights(table: np.ndarray, definition: str) -> np.ndarray:
    """(items, categories) how much of an item counts under a category: 0 where another was chosen more often."""
    top = table == table.max(axis=1, keepdims=True)
    shared = top.sum(axis=1, keepdims=True)
    return {"each": top, "unique": top & (shared == 1), "halved": top / shared}[definition].astype(float)


def kappa(sums: np.ndarray) -> np.ndarray:
    """Fleiss' kappa (Fleiss 1971) from sums over items; with unequal numbers of annotators, every item counts the same
    (Gwet 2014, Handbook of Inter-Rater Reliability, section 2.4).

    sums : (k, 1 + categories + 1) array: items, shares of each category, shares of agreeing pairs. Returns (k,).
    """
    items, chosen, pairs = sums[:, 0], sums[:, 1:-1], sums[:, -1]
    observed, expected = pairs / items, np.sum((chosen / items[:, None]) ** 2, axis=1)
    return (observed - expected) / (1 - expected)


def shares_of_items(table: np.ndarray) -> np.ndarray:
    """What `kappa` adds up: a row per item. table : from `compositions`."""
    m = table.sum(axis=1, keepdims=True)
    pairs = (table * (table - 1)).sum(axis=1, keepdims=True) / (m * (m - 1))
    return np.hstack([np.ones_like(pairs), table / m, pairs])


def kappa_interval(table: np.ndarray, rng: np.random.Generator, sampling: Sampling) -> Interval:
    """Fleiss' kappa with items resampled (BCa). table : from `compositions`."""
    kinds, counts = np.unique(table, axis=0, return_counts=True)
    shares, n = shares_of_items(kinds), sampling.n_resamples
    replicates = replicate_sums(shares, kappa, unit="item", rng=rng, counts=counts, n_resamples=n)
    return replicates.interval(sampling.confidence)


def kappa_bounds(counts: np.ndarray, m: int) -> tuple[float, float]:
    """Smallest and largest Fleiss' kappa that numbers of agreeing annotators allow.

    Parameters
    ----------
    counts : (categories, m + 1) array
        Items whose most frequent category this is, with exactly k annotators: every item once. Columns below the
        smallest majority are 0.
    m : int
        Annotators of each item.

    Returns
    -------
    Smallest and largest kappa.

    Raises
    ------
    ValueError
        Without any item, and where k cannot be the largest number of annotators of an item.

    Notes
    -----
    The numbers do not say how often the other categories of an item were chosen: all ways to fill them are enumerated.
    Kappa is at least λ where P - P_e - λ (1 - P_e) is at least 0, P being agreement, linear in how often each way
    occurs, and P_e the sum of squared shares, convex in it. For λ < 1 the expression is concave: its maximum is found
    by convex optimisation; its minimum is attained where each cell is filled in one way throughout, and all such
    corners are enumerated.
    """
    ways, weights = _ways(counts, m)
    if not ways:
        raise ValueError("counts: expected at least one item")
    total = sum(weights)
    return _lowest(ways, weights, total, m), _highest(ways, weights, total, m)


def _ways(counts: np.ndarray, m: int) -> tuple[list[np.ndarray], list[float]]:
    """For every cell with items: (ways, categories) numbers of annotators that fill it, and its items."""
    n = counts.shape[0]
    all_ = np.array([c for c in itertools.product(range(m + 1), repeat=n) if sum(c) == m])
    ways, weights = [], []
    for j, k in itertools.product(range(n), range(m + 1)):
        if counts[j, k] > 0:
            ways.append(all_[(all_[:, j] == k) & (all_.max(axis=1) == k)])
            weights.append(float(counts[j, k]))
            if not len(ways[-1]):
                raise ValueError(f"counts: {k} of {m} annotators cannot be the most of {n} categories")
    return ways, weights


def _parts(way: np.ndarray, m: int) -> np.ndarray:
    """(ways, categories + 1) shares of the categories, and agreement, of an item filled so."""
    return np.column_stack([way / m, (way * (way - 1)).sum(axis=1) / (m * (m - 1))])


def _kappa_of(mean: np.ndarray) -> np.ndarray:
    expected = np.sum(mean[..., :-1] ** 2, axis=-1)
    return (mean[..., -1] - expected) / (1 - expected)


def _lowest(ways: list[np.ndarray], weights: list[float], total: float, m: int) -> float:
    corners = np.zeros((1, ways[0].shape[1] + 1))
    for way, weight in zip(ways, weights, strict=True):
        corners = (corners[:, None] + weight / total * _parts(way, m)[None]).reshape(-1, corners.shape[1])
        corners = np.unique(np.round(corners, 12), axis=0)
    return float(_kappa_of(corners).min())


def _highest(ways: list[np.ndarray], weights: list[float], total: float, m: int) -> float:
    """Largest kappa by Dinkelbach's steps: λ rises to the kappa at the maximum of the concave expression."""
    parts = [weight / total * _parts(way, m) for way, weight in zip(ways, weights, strict=True)]
    stacked, sizes = np.concatenate(parts), [len(p) for p in parts]
    ends = np.cumsum(sizes)
    rows = np.zeros((len(sizes), len(stacked)))
    for i, (end, size) in enumerate(zip(ends, sizes, strict=True)):
        rows[i, end - size : end] = 1
    x, best = np.concatenate([np.full(s, 1 / s) for s in sizes]), -np.inf
    for _ in range(50):
        value = float(_kappa_of(x @ stacked))
        if value <= best + 1e-10:
            break
        best = value

        def less(y: np.ndarray, at: float = value) -> tuple[float, np.ndarray]:
            mean = y @ stacked
            gain = mean[-1] - (1 - at) * np.sum(mean[:-1] ** 2)
            slope = stacked[:, -1] - 2 * (1 - at) * stacked[:, :-1] @ mean[:-1]
            return -gain, -slope

        limits = {"type": "eq", "fun": lambda y: rows @ y - 1, "jac": lambda y: rows}
        optimum = minimize(  # type: ignore[call-overload] # the stubs know constraints of one value only
            less, x, jac=True, bounds=[(0, 1)] * len(x), constraints=[limits], options={"ftol": 1e-13, "maxiter": 300}
        )
        x = np.clip(optimum.x, 0, None)
        x = x / (rows.T @ (rows @ x))
    return best
