"""What does quality control buy? r between runs among the workers who passed, against that of other sets of workers.

Two questions, of every pair of runs. Does it matter who is kept? r of those who passed is compared with r of as many
workers drawn at random. Does it pay to exclude workers? It is compared with r of all, who are more: its gain, with an
interval over workers. All pairs of runs and both kinds of scores are tested at once (Holm): they share data, and a
reader would pick the one that shows something.

Passing is not assigned: workers who pass may differ from others in more than their attention.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np
import pandas as pd

from judgebook.annotations.families import adjust_rows
from judgebook.questions.quality_control import replication
from judgebook.questions.quality_control.crowd import Crowd
from judgebook.questions.quality_control.replication import SYSTEMS, Tally, means_of
from judgebook.questions.quality_control.worker_tests import OVERALL
from judgebook.statistics.intervals import generator
from judgebook.statistics.resampling import replicate_sums

UNDEFINED = "r is undefined"


def gain(
    c: Crowd, kinds: Mapping[str, str], *, seed: int, confidence: float, n_draws: int = 10_000
) -> Iterator[pd.DataFrame]:
    """All that is said of it; nothing with one corpus.

    kinds : kind of scores -> column of `Crowd.scores`. n_draws : random sets of workers.
    """
    shares = []
    for scores, value in kinds.items() if len(c.corpora) > 1 else ():
        t = replication.tally(c.scores, value, c.corpora, c.shared)
        keys = {"level": "system", "label": OVERALL, "scores": scores}
        if not t.people:
            continue  # nobody has scores: all ratings of each worker are equal
        yield gains(t, members(c, t, "passed"), confidence).assign(**keys)
        for name in ("all", "passed"):
            r = pd.DataFrame(_pairs(t.corpora)).assign(estimate=r_of(t, members(c, t, name)), workers=name, **keys)
            yield r.assign(statistic="replication_r", interval="point", among=SYSTEMS, n=len(t.systems))
        chosen, rng = members(c, t, "passed"), generator(seed, "random workers", "passed", scores)
        sizes = dict(zip(t.corpora, chosen.sum(axis=0).tolist(), strict=True))
        draws = replication.random_subsets(t, sizes, rng=rng, n_draws=n_draws)
        random, share = against_random(r_of(t, chosen), draws, t.corpora, confidence)
        yield random.assign(workers="random as passed", standardised="all" if scores == "z" else None, **keys)
        shares.append(share.assign(workers="passed", **keys))
    if shares:
        yield adjust_rows(pd.concat(shares, ignore_index=True), ["workers"], "pairs of runs and kinds of scores")


def members(c: Crowd, t: Tally, name: str) -> np.ndarray:
    """(people, corpora): whether a person of the tally belongs to a set of workers in a run, and has scores there."""
    wide = c.workers.pivot_table(index="annotator", columns="corpus", values=name, aggfunc="first")
    chosen = wide.reindex(index=t.people, columns=t.corpora).eq(True).to_numpy(bool)
    return chosen & (t.count.sum(axis=(2, 3)) > 0)


def r_of(t: Tally, chosen: np.ndarray) -> np.ndarray:
    """(pairs,): r of overall means of the chosen people (people, corpora) between all pairs of corpora."""
    total, count = ((x * chosen[:, :, None, None]).sum(axis=0) for x in (t.total, t.count))
    return replication.overall_r(means_of(total, count))


def _pairs(corpora: list[str]) -> list[dict[str, str]]:
    """Every pair of runs, the later `against` the earlier, in the order of `replication.overall_r`."""
    return [{"corpus": b, "against": a} for a, b in combinations(corpora, 2)]


def against_random(
    r: np.ndarray, draws: np.ndarray, corpora: list[str], confidence: float = 0.95
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """`replication_r` of random sets (median and range), and `replication_share`: the share of them with an r at least
    as large as that of the chosen workers, with p-values.

    r : (pairs,). draws : (sets, pairs), from `replication.random_subsets`. The chosen set counts as one of the random
    ones, so that no p-value is 0 (Phipson and Smyth 2010, Statistical Applications in Genetics and Molecular Biology 9,
    article 39).
    """
    tail, ranges, shares = (1 - confidence) / 2, [], []
    for ids, r_of_pair, column in zip(_pairs(corpora), r, draws.T, strict=True):
        values = column[np.isfinite(column)]
        n, defined = len(values), len(values) > 0 and np.isfinite(r_of_pair)
        low, middle, high = np.quantile(values, [tail, 0.5, 1 - tail]) if n else (np.nan,) * 3
        ranges.append({**ids, "estimate": middle, "ci_low": low, "ci_high": high, "n": n})
        above = np.sum(values >= r_of_pair) if defined else np.nan
        row = {"estimate": above / n, "p_value": (above + 1) / (n + 1)} if defined else {}
        shares.append({**ids, "estimate": np.nan, "p_value": np.nan, "note": None if defined else UNDEFINED} | row)
    head = {"statistic": "replication_r", "interval": "random sets", "ci_kind": "range", "among": SYSTEMS}
    share = pd.DataFrame(shares).assign(statistic="replication_share")
    return pd.DataFrame(ranges).assign(**head, resample_unit="worker"), share


def gains(t: Tally, passed: np.ndarray, confidence: float = 0.95) -> pd.DataFrame:
    """`replication_gain`: r of the workers who passed (people, corpora) minus r of all, with an interval over workers.

    A worker who is left out is missing on both sides, which allows for the workers that they share.
    """
    chosen = passed[:, :, None, None]
    shape, parts = t.total.shape[1:], (t.total, t.count, t.total * chosen, t.count * chosen)

    def statistic(sums: np.ndarray) -> np.ndarray:
        total, count, own_n, n = (part.reshape(-1, *shape) for part in np.split(sums, 4, axis=1))
        return replication.overall_r(means_of(own_n, n)) - replication.overall_r(means_of(total, count))

    # of the resamples nothing is used but the values without one worker
    rows = np.concatenate([x.reshape(len(x), -1) for x in parts], axis=1)
    rng, strata = np.random.default_rng(0), replication.strata(t)
    replicates = replicate_sums(rows, statistic, unit="worker", rng=rng, strata=strata, n_resamples=2)
    n = len(replicates.estimate)
    ends = [replicates.jackknife_interval(i, confidence, bounded=False).row() for i in range(n)]
    gained = [ids | one for ids, one in zip(_pairs(t.corpora), ends, strict=True)]
    return pd.DataFrame(gained).assign(statistic="replication_gain", n=len(t.systems))
