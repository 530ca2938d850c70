"""Do ratings of two dialogues and a comparison of them favour the same one? Whole conversations are resampled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from judgebook.questions.performance.rate_intervals import rare_interval
from judgebook.questions.techniques.sittings import NO_WINNER, QUESTION, TechniqueData, uses
from judgebook.statistics.correlation import rounded
from judgebook.statistics.intervals import Sampling, generator
from judgebook.statistics.resampling import replicate_sums, replicate_two_way

#: conversations are called reused when each is in at least this many comparisons on average
REUSED = 1.5
#: most resamples where both sides are resampled: each is expensive, and the interval is a percentile one
TWO_WAY_RESAMPLES = 2_000


def ratio(
    rows: pd.DataFrame,
    won: np.ndarray,
    total: np.ndarray,
    *,
    rng: np.random.Generator,
    n_resamples: int,
    confidence: float,
) -> dict[str, object]:
    """Sum of `won` over sum of `total` with its interval, as columns of a result row.

    rows : `sittings`, in the order of the two arrays.

    Resamples are drawn from distinct conversations in the order of their totals, then of their sums: neither the order
    of rows, nor the last bits of sums, nor where a scale begins changes which are drawn.
    """
    counts = {"n": int(total.sum()), "n_annotators": rows["annotator"].nunique()}
    if counts["n"] == 0:
        return {"estimate": np.nan, "note": "all comparisons are ties", **counts}
    if rows["dialogue_b"].notna().all() and uses(rows)[1] >= REUSED:
        return _two_sided(rows, won, total, rng, n_resamples, confidence) | counts
    codes = pd.factorize(rows["conversation"])[0]
    t, s = np.bincount(codes, total), np.bincount(codes, won)
    binary = np.isin(won, (0, 1)).all() and np.isin(total, (0, 1)).all()
    judged = t > 0
    bound = rare_interval(t[judged], s[judged], s[judged], "conversation", confidence) if binary else None
    if bound is not None:
        return bound | counts
    sums, often = np.unique(np.stack([t, rounded(s)], axis=1), axis=0, return_counts=True)
    replicates = replicate_sums(
        sums, lambda k: k[:, 1] / k[:, 0], unit="conversation", rng=rng, counts=often, n_resamples=n_resamples
    )
    return replicates.interval(confidence).row() | counts


def _two_sided(
    rows: pd.DataFrame,
    won: np.ndarray,
    total: np.ndarray,
    rng: np.random.Generator,
    n_resamples: int,
    confidence: float,
) -> dict[str, object]:
    left, right = (pd.factorize(rows[c])[0] for c in ("dialogue", "dialogue_b"))
    tables = np.zeros((2, left.max() + 1, right.max() + 1))
    np.add.at(tables, (0, left, right), won)
    np.add.at(tables, (1, left, right), total)

    def statistic(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        s, t = (np.einsum("ka,ka->k", a @ table, b) for table in tables)
        return s / t

    n, unit = min(n_resamples, TWO_WAY_RESAMPLES), "conversations of either system"
    replicates = replicate_two_way(tables.shape[1], tables.shape[2], statistic, rng=rng, unit=unit, n_resamples=n)
    return replicates.interval(confidence, "percentile").row()


def stream(seed: int, *names: object) -> np.random.Generator:
    """The random numbers of one technique, label and pair."""
    return generator(seed, "winrates", *map(str, names))


def same_winner(data: TechniqueData, sampling: Sampling) -> Iterator[dict[str, Any]]:
    """Agreement of pairwise techniques with those that judge a dialogue at a time, all pairs of systems together.

    Yields rows of `same_winner`: how often both name the same winner where neither ties, pairs of dialogues resampled
    (missing, with the reason, for a label without direction in either technique: the winner is the better system);
    `tied_share` of either; and `same_sitting`: the share of comparisons made together with a rating of one of the two
    dialogues, which are no second opinion.
    """
    techniques = [(a, b) for a in data.techniques if data.compares(a) for b in data.techniques if not data.compares(b)]
    for compared, rated in techniques:
        way = {x: data.direction(compared, x) * data.direction(rated, x) for x in data.labels}
        pairs = joined(data.sittings[compared], data.sittings[rated], way)
        for key, rows in pairs.groupby(QUESTION, sort=False):
            head = dict(zip(QUESTION, key, strict=True)) | {"level": "pair", "technique": compared, "against": rated}
            head |= {"method": data.techniques[compared].method, "n": len(rows)}
            for of, column in ((compared, "value"), (rated, "difference")):
                yield head | {"statistic": "tied_share", "of": of, "estimate": float((rows[column] == 0).mean())}
            together = same_sitting(rows, data.sittings[rated])
            yield head | {"statistic": "same_sitting", "estimate": together}
            decided = rows[rows["agrees"].notna()]
            if not way[key[2]]:
                yield head | {"statistic": "same_winner", "estimate": np.nan, "note": NO_WINNER}
            elif len(decided):
                won, ones = decided["agrees"].to_numpy(float), np.ones(len(decided))
                rng, n = stream(sampling.seed, "same winner", compared, rated, *key), sampling.n_resamples
                share = ratio(decided, won, ones, rng=rng, n_resamples=n, confidence=sampling.confidence)
                yield head | {"statistic": "same_winner"} | share


def joined(compared: pd.DataFrame, rated: pd.DataFrame, way: Mapping[str, int]) -> pd.DataFrame:
    """Comparisons of which both dialogues were rated in the same corpus and group on the same label.

    compared, rated : `sittings`; several ratings of a dialogue are averaged. way : label -> 1 where a high score is
    good in both or bad in both, -1 where it is good in one of them, 0 where one of them does not say. Returns the
    comparisons with `difference` (of the two ratings, as scored) and `agrees`: 1 where both name the same winner, 0
    where they name different ones, missing where either ties or way is 0.
    """
    mean = rated.groupby([*QUESTION, "dialogue"])["value"].mean()
    left, right = (
        mean.reindex(pd.MultiIndex.from_frame(compared[[*QUESTION, c]].rename(columns={c: "dialogue"}))).to_numpy()
        for c in ("dialogue", "dialogue_b")
    )
    out = compared.assign(difference=left - right)
    out = out[out["difference"].notna()]
    product = np.sign(out["difference"]) * np.sign(out["value"]) * out["label"].map(way).astype(float)
    return out.assign(agrees=np.where(product == 0, np.nan, product > 0))


def same_sitting(compared: pd.DataFrame, rated: pd.DataFrame) -> float:
    """Share of comparisons that their annotator made in the same work unit as a rating of one of the two dialogues.

    compared, rated : `sittings`. Those whose work unit is not known count as made separately.
    """
    work = ["annotator", "work_unit"]
    seen = pd.MultiIndex.from_frame(rated.dropna(subset=["work_unit"])[[*work, "dialogue"]])
    sides = [pd.MultiIndex.from_frame(compared[[*work, c]]).isin(seen) for c in ("dialogue", "dialogue_b")]
    return float(np.mean(sides[0] | sides[1]))
