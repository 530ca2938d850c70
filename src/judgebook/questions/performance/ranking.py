"""The ranking of systems, with its uncertainty.

Systems are ordered by their mean score or rate, and where they were compared by their strengths in Davidson's model
(`davidson`), which allow for whom a system met; without strengths, by their win rate against all others. Each rank is
reported with an interval, simultaneous for all systems of a label, and with the share of resamples in which the system
ranks first. This share is not the probability of being the best: with four equal systems the largest such share has a
median of 0.56.

Intervals compare all pairs of systems by t tests whose standard errors account for the units that systems share and,
where people are known, for annotators as a sample (`statistics.clusters`), at levels that allow for all pairs
(`multiplicity.simultaneous_t`).

References
----------
Mogstad, Romano, Shaikh and Wilhelm 2024, Inference for ranks, Review of Economic Studies 91, 476-518, section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from judgebook.annotations.cells import in_turn
from judgebook.annotations.scores import known_people, require_unit, sides, weighted
from judgebook.questions.performance import davidson, margins, separation
from judgebook.statistics.clusters import (
    LEAST_DF,
    clustered_covariance,
    effective_number,
    heaviest,
    largest_share,
    pair_df,
)
from judgebook.statistics.intervals import Sampling
from judgebook.statistics.multiplicity import simultaneous_t
from judgebook.statistics.resampling import replicate_sums
from judgebook.study.labels import METHODS, Label
from judgebook.study.results import ResultRows
from judgebook.study.schema import SYSTEM_CELL, Annotations

#: ranks are of the systems of one label in one corpus and group
CELL = SYSTEM_CELL[:-1]
BLOCK = ["corpus", "method", "group"]
#: resampled values of systems that are held at once
VALUES = 20_000_000


def ranks(
    annotations: Annotations,
    labels: Iterable[Label],
    *,
    sampling: Sampling,
    unit: str = "session",
) -> ResultRows:
    """Rank of each system with a simultaneous interval, and the bootstrap share of first place.

    Parameters
    ----------
    annotations : DataFrame
        With the column `unit`. Of an item with several annotations their mean counts.
    labels : iterable of Label
        Give the direction of each label; those without a direction, or not named, are left out.
    unit : str
        What is a sample, with all systems in it. So are annotators, where all of a label's are known people.

    Returns
    -------
    DataFrame of rows `rank` (1 the best; equal systems share the better rank; the intervals of all systems of a label
    hold simultaneously), `lead` of the first over each (`margins.leads`), `first_place_share`, with units resampled,
    and `data_to_separate` for neighbours in the ranking (`separation.neighbours`). Labels with one system have none.

    Raises
    ------
    ValueError
        The column is absent or has gaps.
    """
    require_unit(annotations, unit)
    direction = {(x.method, x.id): x.direction for x in labels}
    out = []
    for block, part in in_turn(annotations, BLOCK):
        signed = ((key, rows, direction.get((key[1], key[2]), 0)) for key, rows in in_turn(part, CELL))
        tables = [_table(key, rows, sign, unit) for key, rows, sign in signed if sign]
        pieces = []
        for table, values in _replicated([t for t in tables if len(t.systems) > 1], block, unit, sampling):
            shares = first_place(values), _undefined(values)
            about = (table.key, table.systems, table.n, table.sign * table.means, table.errors, table.df, *shares)
            pieces.append(_Ranked(*about, table.of, unit, table.over, len(table.units), table.reason))
        for piece in pieces:
            out += _rank_rows(piece, sampling.confidence)
    return pd.DataFrame(out).assign(seed=sampling.seed)


@dataclass(frozen=True)
class _Table:
    """What the ranks of one label are computed from.

    sums : (units, 2 m), of m systems the numbers of scores, then the sums. units : (units,) names. sign : -1 where less
    is better. means : (m,). errors, df : (pairs,) of their differences. over : what they cluster by. reason : '' or why
    no two systems can be compared.
    """

    key: tuple
    systems: list[str]
    n: dict[str, int]
    units: np.ndarray
    sums: np.ndarray
    sign: int
    of: str
    means: np.ndarray
    errors: np.ndarray
    df: np.ndarray
    over: str
    reason: str


def _table(key: tuple, rows: pd.DataFrame, sign: int, unit: str) -> _Table:
    scores = system_scores(rows)
    systems = sorted(scores["system"].unique())
    codes, names = pd.factorize(scores[unit], sort=True)
    system = pd.Index(systems).get_indexer(scores["system"])
    sums = np.zeros((len(names), 2 * len(systems)))
    weight = scores["weight"].to_numpy()
    np.add.at(sums, (codes, system), weight)
    np.add.at(sums, (codes, system + len(systems)), weight * scores["score"].to_numpy(dtype=float))
    n = dict(zip(systems, np.rint(np.bincount(system, weight)).astype(int).tolist(), strict=True))
    of = "win_rate" if "won" in scores else "mean"
    clusters, over = [codes], unit
    if known_people(scores):
        clusters, over = [codes, pd.factorize(scores["annotator"])[0]], f"{unit} and annotator"
    means, cov, _ = clustered_covariance(system, scores["score"].to_numpy(float), weight, clusters)
    df = pair_df(system, weight, clusters, cov.variances)
    values = (
        means,
        cov.pair_errors(),
        df,
        over,
        too_few(system, weight, clusters, over) if (df < LEAST_DF).all() else "",
    )
    return _Table(key, systems, n, names.to_numpy(dtype=object), sums, sign, of, *values)


def too_few(system: np.ndarray, weight: np.ndarray, clusters: list[np.ndarray], over: str) -> str:
    """Why systems cannot be compared whose scores have too few effective clusters; of the one that has fewest."""
    (share, kind), least = largest_share(system, weight, clusters), effective_number(system, weight, clusters).argmin()
    return heaviest(over.split(" and ")[kind[least]], share[least], "scores of a system")


def _replicated(
    tables: list[_Table], block: tuple, unit: str, sampling: Sampling
) -> Iterator[tuple[_Table, np.ndarray]]:
    """Resampled values (resamples, m) of each system, more being better. Labels judged on the same units share their
    resamples."""
    together: dict[tuple, list[_Table]] = {}
    for table in tables:
        together.setdefault(tuple(table.units), []).append(table)
    for members in (part for same in together.values() for part in _batches(same, sampling.n_resamples)):
        rows = np.concatenate([t.sums for t in members], axis=1)
        rng, n = sampling.stream("ranks", unit, *block), sampling.n_resamples
        replicates = replicate_sums(rows, _means(members), unit=unit, rng=rng, n_resamples=n, jackknife=False)
        ends = np.cumsum([len(t.systems) for t in members])
        for table, end in zip(members, ends, strict=True):
            yield table, replicates.values[:, end - len(table.systems) : end]


def _batches(tables: list[_Table], n_resamples: int) -> Iterator[list[_Table]]:
    """Tables in runs whose resampled values stay within VALUES; each run draws the same resamples."""
    width = n_resamples * max(len(t.systems) for t in tables)
    size = max(1, VALUES // width)
    yield from (tables[start : start + size] for start in range(0, len(tables), size))


def _means(tables: list[_Table]) -> Callable[[np.ndarray], np.ndarray]:
    """From the sums of all tables side by side to the signed means of their systems side by side."""
    ends = np.cumsum([t.sums.shape[1] for t in tables])[:-1]

    def values(sums: np.ndarray) -> np.ndarray:
        halves = [np.split(part, 2, axis=1) for part in np.split(sums, ends, axis=1)]
        return np.concatenate([t.sign * total / n for t, (n, total) in zip(tables, halves, strict=True)], axis=1)

    return values


def of_strengths(fit: davidson.DavidsonFit, direction: int, *, sampling: Sampling) -> ResultRows:
    """As `ranks`, by the strengths of systems that were compared.

    Shares of first place are of normal draws whose covariance is that of the strengths among resamples of units, where
    each unit adds what it does at the estimate (`influence`): to fit the model anew in each resample takes minutes with
    dozens of systems, and to draw the units themselves takes memory of resamples times units.
    """
    rng, m = sampling.stream("ranks", fit.unit, *map(str, fit.key)), len(fit.systems)
    root = np.linalg.qr(fit.influence, mode="r")  # root.T @ root is influence.T @ influence
    values = direction * (fit.strengths + rng.standard_normal((sampling.n_resamples, len(root))) @ root)
    i, j = np.triu_indices(m, 1)
    table = _Ranked(
        fit.key,
        fit.systems,
        dict(zip(fit.systems, fit.n.tolist(), strict=True)),
        direction * fit.strengths,
        fit.errors,
        np.minimum(fit.df[i], fit.df[j]),
        first_place(values),
        _undefined(values),
        "strength",
        fit.unit,
        fit.over,
        len(fit.influence),
        fit.reason,
    )
    return pd.DataFrame(_rank_rows(table, sampling.confidence)).assign(seed=sampling.seed)


@dataclass(frozen=True)
class _Ranked:
    """What rank rows are made of: (m,) values of systems, more being better, (pairs,) standard errors of their
    differences with their degrees of freedom, and (m,) shares of first place among resamples, of which some are
    undefined. reason : '' or why there are no intervals."""

    key: tuple
    systems: list[str]
    n: dict[str, int]
    estimate: np.ndarray
    errors: np.ndarray
    df: np.ndarray
    first: np.ndarray
    n_undefined: int
    of: str
    unit: str
    over: str
    n_units: int
    reason: str


def _rank_rows(table: _Ranked, confidence: float) -> list[dict[str, Any]]:
    order, low, high, reason = rank_intervals(table.estimate, table.errors, table.df, confidence)
    reason = table.reason or reason
    lead = np.stack(margins.leads(table.estimate, table.errors, table.df, confidence), 1)
    head = {**dict(zip(CELL, table.key, strict=True)), "level": METHODS[table.key[1]].unit}
    head |= {"of": table.of, "resample": table.unit, "n_clusters": table.n_units}
    out = []
    for i, system in enumerate(table.systems):
        key = {**head, "system": system, "n": table.n[system]}
        kind = "not_estimable" if reason else "simultaneous"
        interval = {"estimate": order[i], "ci_low": low[i], "ci_high": high[i], "ci_kind": kind, "note": reason or None}
        out.append({**key, "statistic": "rank", "resample_unit": table.over, **interval})
        out.append({**key, "statistic": "lead", "resample_unit": table.over, **margins.lead_row(lead[i], reason)})
        share = {"estimate": table.first[i], "n_undefined": table.n_undefined}
        out.append({**key, "statistic": "first_place_share", "resample_unit": table.unit, **share})
    return out if reason else out + list(_separation_rows(table, head, confidence))


def _separation_rows(table: _Ranked, head: dict[str, Any], confidence: float) -> Iterator[dict[str, Any]]:
    """How many times the data would separate each two neighbours; `n` counts items, a comparison once."""
    n = sum(table.n.values()) // (1 if table.of == "mean" else 2)
    for a, b, factor in separation.neighbours(table.estimate, table.errors, table.df, confidence):
        pair = {"system": table.systems[a], "system_b": table.systems[b], "n": n, "resample_unit": table.over}
        note = None if np.isfinite(factor) else f"more than {separation.MOST} times the data, or error unknown"
        yield {**head, **pair, "statistic": "data_to_separate", "estimate": factor, "note": note}


def first_place(values: np.ndarray) -> np.ndarray:
    """(m,) share of resamples in which each of m systems is first; ties are shared. values : (resamples, m), more being
    better; resamples in which a system has no value are left out."""
    defined = np.isfinite(values).all(axis=1)
    values = values if defined.all() else values[defined]
    if not len(values):
        return np.full(values.shape[1], np.nan)
    best = values >= values.max(axis=1, keepdims=True) - 1e-12
    return np.mean(best / best.sum(axis=1, keepdims=True), axis=0)


def _undefined(values: np.ndarray) -> int:
    return int((~np.isfinite(values).all(axis=1)).sum())


def rank_intervals(
    estimate: np.ndarray, errors: np.ndarray, df: np.ndarray | float, confidence: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, str]:
    """Ranks with simultaneous intervals.

    Two systems differ if the |t| of their difference exceeds `multiplicity.simultaneous_t`. A rank is at least one plus
    the number of systems that are better, and at most the number of systems that are not worse (Mogstad et al. 2024,
    section 3.2).

    Parameters
    ----------
    estimate : (m,)
        The value of each system, more being better.
    errors : (pairs,)
        Standard errors of differences, in the order of `itertools.combinations`. A pair whose error is missing, 0 or
        has too few degrees of freedom is not decided.
    df : (pairs,) or float
        Degrees of freedom of the errors.

    Returns
    -------
    (m,) ranks, lower ends and upper ends; and '' or why there are no intervals.
    """
    m = len(estimate)
    order = 1.0 + np.sum(estimate[None, :] > estimate[:, None] + 1e-12, axis=1)
    none = np.full(m, np.nan)
    usable = np.isfinite(errors) & (np.asarray(df) >= LEAST_DF)
    if not np.isfinite(estimate).all() or not usable.any():
        return np.where(np.isfinite(estimate), order, np.nan), none, none, "too few units or annotators of a system"
    if not errors[usable].any():
        return order, none, none, "no difference between systems varies"
    sure = separated(estimate, np.where(usable, errors, 0.0), df, confidence)
    i, j = np.triu_indices(m, 1)
    better, worse = np.zeros(m), np.zeros(m)
    np.add.at(worse, i, sure < 0)
    np.add.at(worse, j, sure > 0)
    np.add.at(better, i, sure > 0)
    np.add.at(better, j, sure < 0)
    return order, 1 + worse, m - better, ""


def separated(estimate: np.ndarray, errors: np.ndarray, df: np.ndarray | float, confidence: float) -> np.ndarray:
    """(pairs,) 1 where the first of two systems is better, -1 where it is worse, 0 where that is open."""
    i, j = np.triu_indices(len(estimate), 1)
    difference = estimate[i] - estimate[j]
    with np.errstate(invalid="ignore"):  # without degrees of freedom there is no quantile
        far = np.abs(difference) > simultaneous_t(df, len(i), confidence) * errors
    # a difference without variation is no estimate and decides nothing
    return np.where(far & (errors > 0), np.sign(difference), 0)


def system_scores(rows: pd.DataFrame) -> pd.DataFrame:
    """A row per annotation and judged system, with `weight`; a comparison gives two, ties worth a half (`won`)."""
    if METHODS[rows["method"].iloc[0]].unit != "pair":
        return weighted(rows)
    either_side = weighted(sides(rows))
    return either_side.assign(won=(either_side["score"] + 1) / 2, score=(either_side["score"] + 1) / 2)
