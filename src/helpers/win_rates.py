"""Win rates of systems (Smith et al. 2022): frames of counts, a row for a conversation as one annotator judged it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from helpers.bootstrap import bca

#: a rate of 0 and 1 has an exact interval with fewer of either; conversations compared more often are drawn themselves
RARE, REUSED = 20, 1.5


def by_pair(
    technique: str, rows: pd.DataFrame, pairs: Iterable[Sequence[str]]
) -> Iterator[tuple[dict[str, str], list[pd.DataFrame]]]:
    """For each corpus, group, label and pair of systems: columns of results, and counts of the comparisons of the two,
    or of either system where systems are judged one at a time. Pairs that were not judged are left out."""
    key, two = ["corpus", "group", "label"], bool(rows["system_b"].notna().all())
    for of, part in rows.groupby(key, sort=False):
        head, systems = {"technique": technique, **dict(zip(key, of, strict=True))}, dict(list(part.groupby("system")))
        for a, b in pairs:
            sides = [systems.get(system, part[:0]) for system in ([a] if two else [a, b])]
            sides = [sides[0][sides[0]["system_b"] == b]] if two else sides
            if all(map(len, sides)):
                yield head | {"system": a, "system_b": b}, sides


def share_won(rows: pd.DataFrame, won: pd.Series, total: pd.Series, n_resamples: int, seed: int) -> dict[str, Any]:
    """Sum of `won` over sum of `total` with its 95% interval, as columns of results: BCa, of whole conversations.

    rows : of the two series. Where judgements count as 0 or 1, and one of these is rare: exact binomial (Clopper and
    Pearson 1934), as if judgements of a conversation were copies. Where conversations are compared `REUSED` times:
    `of_both_systems`.
    """
    sums = pd.DataFrame({"total": total, "won": won}).groupby([rows["dialogue"], rows["dialogue_b"]], dropna=False)
    sums = sums.sum().round(12).query("total > 0")
    found = {"n": int(total.sum()), "n_annotators": rows["annotator"].nunique(), "resample_unit": "conversation"}
    if sums.empty:
        return found | {"estimate": np.nan, "note": "all comparisons are ties"}
    pairs = rows[["dialogue", "dialogue_b"]].drop_duplicates()
    if len(pairs) >= REUSED * pairs.nunique().min() > 0:
        return found | of_both_systems(sums, min(n_resamples, 2000), seed)
    k, n = float(sums["won"].sum()), len(sums)
    if min(k, found["n"] - k) < RARE and np.isin([won, total], (0, 1)).all():
        share, note = k / found["n"], f"{k:g} of {found['n']}: too few of one kind for the bootstrap; exact binomial"
        ends = {"ci_low": stats.beta.ppf(0.025, share * n, n - share * n + 1) if share > 0 else 0.0}
        ends |= {"ci_high": stats.beta.ppf(0.975, share * n + 1, n - share * n) if share < 1 else 1.0}
        row = {"estimate": share, "ci_kind": "exact_bound", "n_clusters": n, "n_undefined": 0, "note": note}
        return found | row | ends
    kinds = sums.value_counts(sort=False)
    of, x = kinds.index.to_frame().to_numpy(float).T
    with np.errstate(invalid="ignore"):
        return found | bca(lambda times: times @ x / (times @ of), kinds.to_numpy(), n_resamples, seed)


def of_both_systems(sums: pd.DataFrame, n_resamples: int, seed: int) -> dict[str, Any]:
    """The same where conversations of both systems are drawn, each with all its comparisons: percentile interval.

    sums : won and total, by dialogue of the first system and of the second.
    """
    rng, tables = np.random.default_rng(seed), [sums[c].unstack(fill_value=0).to_numpy() for c in ("won", "total")]  # noqa: PD010
    drawn = [rng.multinomial(k, np.full(k, 1 / k), size=n_resamples).astype(float) for k in tables[0].shape]
    won, total = (((drawn[0] @ table) * drawn[1]).sum(axis=1) for table in tables)
    rates = won[total > 0] / total[total > 0]
    low, high = np.quantile(rates, [0.025, 0.975], method="weibull")
    row = {"estimate": sums["won"].sum() / sums["total"].sum(), "ci_low": low, "ci_high": high, "ci_kind": "percentile"}
    return row | {"resample_unit": "conversations of either system", "n_clusters": sum(tables[0].shape)}


def effective(a: np.ndarray, b: np.ndarray, ties: str, **given: int) -> dict[str, Any]:
    """How often a value of a exceeds one of b, ties left out (`drop`) or half a win (`half`): section 4.4.1.

    a, b : values of conversations with either system, which are drawn on their own (BCa), n_resamples times if given.
    """
    (a, of_a), (b, of_b) = (np.unique(x.astype(float).round(9), return_counts=True) for x in (a, b))
    above, below, k = 1.0 * (a[:, None] > b), 1.0 * (a[:, None] < b), len(a)
    times, sample = np.r_[of_a, of_b], np.repeat([0, 1], [k, len(b)])

    def rate(drawn: np.ndarray) -> np.ndarray:
        left, right = drawn[:, :k], drawn[:, k:]
        won, lost = ((left @ way * right).sum(axis=1) for way in (above, below))
        every = left.sum(axis=1) * right.sum(axis=1)
        return np.asarray(won / (won + lost) if ties == "drop" else (won + (every - won - lost) / 2) / every)

    row = {"n": int(times.sum()), "resample_unit": "conversation"}
    with np.errstate(invalid="ignore"):
        return row | (bca(rate, times, sample=sample, **given) if given else {"estimate": rate(times[None])[0]})


def weighted(parts: Sequence[pd.DataFrame], weights: Sequence[float], **given: int) -> list[dict[str, Any]]:
    """Rates of ratings sampled from several techniques: the weighted mean of theirs, ties half a win (section 4.4.2).

    parts : counts of each technique, whose conversations are drawn on their own (BCa). A row for each group, label
    with a direction and pair of systems that all have, with the corpus of the first.
    """
    key, conversation = ["group", "label", "system", "system_b"], ["dialogue", "dialogue_b"]
    of_pairs = [dict(list(rows[rows["direction"] != 0].groupby(key, sort=False))) for rows in parts]
    rows, shares = [], np.array(weights) / np.sum(weights)
    for pair in (pair for pair in of_pairs[0] if all(pair in part for part in of_pairs)):
        counts = [part[pair].assign(won=lambda r: (r["n"] + r["won"] - r["lost"]) / 2) for part in of_pairs]
        sums = [r.groupby(conversation)[["won", "n"]].sum().assign(of=i) for i, r in enumerate(counts)]
        kinds = pd.concat(sums)[["of", "won", "n"]].value_counts(sort=False)
        of, won, n = kinds.index.to_frame().to_numpy(float).T
        each = of[:, None] == np.arange(len(parts))

        def rate(
            times: np.ndarray, x: np.ndarray = won[:, None] * each, y: np.ndarray = n[:, None] * each
        ) -> np.ndarray:
            return np.asarray((times @ x) / (times @ y) @ shares)

        row = dict(zip(key, pair, strict=True)) | {"corpus": counts[0]["corpus"].iloc[0], "n": sum(map(len, counts))}
        found = bca(rate, kinds.to_numpy(), sample=of.astype(int), **given)
        rows.append(row | {"resample_unit": "conversation"} | found)
    return rows
