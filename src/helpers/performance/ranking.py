"""The ranking of systems, with its uncertainty.

Systems are ordered by their mean score, rate, or win rate against all others. Each rank is reported with an interval,
simultaneous for all systems of a label, and with the share of resamples in which the system ranks first. This share is
not the probability of being the best: with four equal systems the largest such share has a median of 0.56.

References
----------
Mogstad, Romano, Shaikh and Wilhelm 2024, Inference for ranks, Review of Economic Studies 91, 476-518, section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pandas as pd

from helpers.annotations.scores import require_unit, sides
from helpers.stats.intervals import Replicates, generator
from helpers.stats.resampling import replicate_sums
from helpers.study.labels import METHODS, Label
from helpers.study.schema import SYSTEM_CELL

#: ranks are of the systems of one label in one corpus and group
CELL = SYSTEM_CELL[:-1]
BLOCK = ["corpus", "method", "group"]


def ranks(
    annotations: pd.DataFrame,
    labels: Iterable[Label],
    *,
    seed: int,
    unit: str = "session",
    n_resamples: int = 10_000,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Rank of each system with a simultaneous interval, and the bootstrap share of first place.

    Parameters
    ----------
    annotations : DataFrame
        One annotation per item, with the column `unit`.
    labels : iterable of Label
        Give the direction of each label; those without a direction, or not named, are left out.
    unit : str
        What is resampled, with all systems in it.

    Returns
    -------
    DataFrame of rows `rank` (1 the best; equal systems share the better rank; the intervals of all systems of a label
    hold simultaneously) and `first_place_share`. Labels with one system have none.

    Raises
    ------
    ValueError
        The column is absent or has gaps.
    """
    require_unit(annotations, unit)
    direction = {(x.method, x.id): x.direction for x in labels}
    out = []
    for block, part in annotations.groupby(BLOCK, sort=False):
        signed = [(key, rows, direction.get((key[1], key[2]), 0)) for key, rows in part.groupby(CELL, sort=False)]
        tables = [_table(key, rows, sign, unit) for key, rows, sign in signed if sign]
        for table, found in _replicated([t for t in tables if len(t.systems) > 1], block, unit, seed, n_resamples):
            out += _rank_rows(table, found, unit, confidence)
    return pd.DataFrame(out).assign(seed=seed)


@dataclass(frozen=True)
class _Table:
    """What the ranks of one label are computed from.

    sums : (units, 2 m), of m systems the numbers of scores, then the sums. units : (units,) names. sign : -1 where less
    is better.
    """

    key: tuple
    systems: list[str]
    n: dict[str, int]
    units: np.ndarray
    sums: np.ndarray
    sign: int
    of: str


def _table(key: tuple, rows: pd.DataFrame, sign: int, unit: str) -> _Table:
    scores = _scores(rows)
    systems = sorted(scores["system"].unique())
    codes, names = pd.factorize(scores[unit], sort=True)
    system = pd.Index(systems).get_indexer(scores["system"])
    sums = np.zeros((len(names), 2 * len(systems)))
    np.add.at(sums, (codes, system), 1.0)
    np.add.at(sums, (codes, system + len(systems)), scores["score"].to_numpy(dtype=float))
    n = scores["system"].value_counts().to_dict()
    of = "win_rate" if "won" in scores else "mean"
    return _Table(key, systems, n, names.to_numpy(dtype=object), sums, sign, of)


def _replicated(
    tables: list[_Table], block: tuple, unit: str, seed: int, n_resamples: int
) -> Iterator[tuple[_Table, Replicates]]:
    """Resampled values of each system, more being better. Labels judged on the same units share their resamples."""
    together: dict[tuple, list[_Table]] = {}
    for table in tables:
        together.setdefault(tuple(table.units), []).append(table)
    for members in together.values():
        rows = np.concatenate([t.sums for t in members], axis=1)
        rng = generator(seed, "ranks", unit, *block)
        found = replicate_sums(rows, _means(members), unit=unit, rng=rng, n_resamples=n_resamples)
        ends = np.cumsum([len(t.systems) for t in members])
        for table, end in zip(members, ends, strict=True):
            at = slice(end - len(table.systems), end)
            parts = {"values": found.values[:, at], "jackknife": found.jackknife[:, at]}
            yield table, replace(found, estimate=found.estimate[at], **parts)


def _means(tables: list[_Table]) -> Callable[[np.ndarray], np.ndarray]:
    """From the sums of all tables side by side to the signed means of their systems side by side."""
    ends = np.cumsum([t.sums.shape[1] for t in tables])[:-1]

    def values(sums: np.ndarray) -> np.ndarray:
        halves = [np.split(part, 2, axis=1) for part in np.split(sums, ends, axis=1)]
        return np.concatenate([t.sign * total / n for t, (n, total) in zip(tables, halves, strict=True)], axis=1)

    return values


def _rank_rows(table: _Table, found: Replicates, unit: str, confidence: float) -> list[dict]:
    order, low, high, first, reason = rank_intervals(found, confidence)
    head = {**dict(zip(CELL, table.key, strict=True)), "level": METHODS[table.key[1]].unit, "resample_unit": unit}
    head |= {"of": table.of, "resample": unit, "n_clusters": len(table.units)}
    head |= {"n_undefined": int((~np.isfinite(found.values).all(axis=1)).sum())}
    out = []
    for i, system in enumerate(table.systems):
        own = {**head, "system": system, "n": table.n[system], "note": reason or None}
        kind = "not_estimable" if reason else "simultaneous"
        interval = {"estimate": order[i], "ci_low": low[i], "ci_high": high[i], "ci_kind": kind}
        out.append({**own, "statistic": "rank", **interval})
        out.append({**own, "statistic": "first_place_share", "estimate": first[i]})
    return out


def rank_intervals(
    found: Replicates, confidence: float = 0.95
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, str]:
    """Ranks, their simultaneous intervals, and shares of first place, from resampled values of each system.

    Two systems differ if their difference exceeds the `confidence` quantile of the largest studentised difference over
    all pairs. A rank is at least one plus the number of systems that are better, and at most the number of systems that
    are not worse (Mogstad et al. 2024, section 3.2). Ties for first place are shared. Resamples in which a system has
    no value are left out.

    Parameters
    ----------
    found : Replicates
        The value of each of m systems, more being better.

    Returns
    -------
    (m,) ranks, lower ends, upper ends and shares; and '' or why there are no intervals.
    """
    estimate, m = found.estimate, len(found.estimate)
    order = 1.0 + np.sum(estimate[None, :] > estimate[:, None] + 1e-12, axis=1)
    values = found.values[np.isfinite(found.values).all(axis=1)]
    none = np.full(m, np.nan)
    if not np.isfinite(estimate).all() or found.n_units < 2 or len(values) < 0.5 * len(found.values):
        return np.where(np.isfinite(estimate), order, np.nan), none, none, none, "too few units of a system to resample"
    best = values >= values.max(axis=1, keepdims=True) - 1e-12
    first = np.mean(best / best.sum(axis=1, keepdims=True), axis=0)
    i, j = np.array(list(combinations(range(m), 2))).T
    difference, replicates = estimate[i] - estimate[j], values[:, i] - values[:, j]
    se = np.std(replicates, axis=0, ddof=1)
    varies = se > 1e-12
    if not varies.any():
        return order, none, none, first, "no difference between systems varies over resamples"
    t = np.abs(replicates - difference)[:, varies] / se[varies]
    critical = np.quantile(t.max(axis=1), confidence)
    # a difference without variation is no estimate and decides nothing
    sure = np.where(varies, np.sign(difference) * (np.abs(difference) > critical * se), 0)
    better, worse = np.zeros(m), np.zeros(m)
    np.add.at(worse, i, sure < 0)
    np.add.at(worse, j, sure > 0)
    np.add.at(better, i, sure > 0)
    np.add.at(better, j, sure < 0)
    return order, 1 + worse, m - better, first, ""


def _scores(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per judged system; a comparison gives two, with ties worth a half (column `won`)."""
    if METHODS[rows["method"].iloc[0]].unit != "pair":
        return rows
    both = sides(rows)
    return both.assign(won=(both["score"] + 1) / 2, score=(both["score"] + 1) / 2)
