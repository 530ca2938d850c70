"""Do results repeat? Correlation of system scores between two runs, and what it depends on (Ji et al. 2022, section 4).

A high correlation over ten systems can come from a few large differences that no evaluation would miss. Three things
are therefore correlated between runs: the systems' means; the means of families of systems (architectures); and, within
each family, the variant minus the plain system (say, with a persona minus without), which is what is not known before a
study.

Leaving out one worker at a time answers: what if other people had rated these systems? (Fisher's interval, which cells
of the notebook compute, takes the systems as a sample; it is optimistic, because they are few and chosen.) A bootstrap
of workers adds noise a second time, and its correlations are smaller than the estimate on average, so that the interval
comes from the jackknife on Fisher's scale.

Means of resamples come from sums over a worker's ratings: `tally`. A worker who took part in several runs is resampled
as one person.

What does quality control buy (`gain`)? Two questions, of every pair of runs. Does it matter who is kept? r of those who
passed is compared with r of as many workers drawn at random. Does it pay to exclude workers? It is compared with r of
all, who are more: its gain, with an interval over workers. All pairs of runs and both kinds of scores are tested at
once (Holm): they share data, and a reader would pick the one that shows something. Passing is not assigned: workers who
pass may differ from others in more than their attention.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import nan
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr

from judgebook.annotations.cells import adjust_rows
from judgebook.questions.quality_control.worker_tests import OVERALL, Crowd
from judgebook.statistics.intervals import Interval, Replicates, generator
from judgebook.statistics.resampling import replicate_sums

#: fewer points than this have no correlation worth the name
MIN_POINTS = 3
#: fewer points than this have no interval over workers: with three systems it would cover 86% instead of 95%
LEAST_FOR_INTERVAL = 5
SYSTEMS, FAMILIES, VARIANTS = "systems", "families", "variants"
UNDEFINED = "r is undefined"


@dataclass(frozen=True)
class Tally:
    """Sums of ratings by person, from which the means of any set of people follow.

    total, count : (people, corpora, systems, labels) arrays. people, corpora, systems, labels : names along the axes.
    """

    people: list[str]
    corpora: list[str]
    systems: list[str]
    labels: list[str]
    total: np.ndarray
    count: np.ndarray

    def means(self) -> np.ndarray:
        """(corpora, systems, labels + 1) means, the mean of all labels last."""
        return means_of(self.total.sum(axis=0), self.count.sum(axis=0))

    def places(self, *, overall: bool) -> dict[int, str]:
        """Place on the last axis of means -> label, or only that of the overall mean."""
        names = dict(enumerate([*self.labels, OVERALL]))
        return {len(self.labels): OVERALL} if overall else names


def means_of(total: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Means from sums over (…, labels), with the mean over labels appended; NaN where nothing was rated."""
    with np.errstate(divide="ignore", invalid="ignore"):
        out = total / count
    return np.concatenate([out, out.mean(axis=-1, keepdims=True)], axis=-1)


def tally(scores: pd.DataFrame, value: str, corpora: Sequence[str], systems: Sequence[str]) -> Tally:
    """Sums of `value` by person, corpus, system and label; ratings without a value or of other systems do not count."""
    rows = scores[scores[value].notna() & scores["system"].isin(systems) & scores["corpus"].isin(corpora)]
    people, labels = (list(rows[c].unique()) for c in ("annotator", "label"))
    axes = {"annotator": people, "corpus": list(corpora), "system": list(systems), "label": labels}
    at = tuple(pd.Index(names).get_indexer(rows[column]) for column, names in axes.items())
    total, count = np.zeros((2, *map(len, axes.values())))
    np.add.at(total, at, rows[value].to_numpy(float))
    np.add.at(count, at, 1.0)
    return Tally(people, list(corpora), list(systems), labels, total, count)


def points(systems: Sequence[str], families: Mapping[str, Sequence[str]]) -> dict[str, np.ndarray]:
    """What is correlated: name -> (points, systems) matrix that turns means of systems into points.

    `systems` is the identity; `families` averages the systems of a family; `variants` subtracts the family's first
    system from its second. Families with fewer than two of the systems give no variant point.
    """
    place = {system: i for i, system in enumerate(systems)}
    unit = np.eye(len(systems))
    out = {SYSTEMS: unit}
    members = [[place[s] for s in names if s in place] for names in families.values()]
    members = [m for m in members if m]
    if members:
        out[FAMILIES] = np.stack([unit[m].mean(axis=0) for m in members])
    pairs = [m for m in members if len(m) > 1]
    if pairs:
        out[VARIANTS] = np.stack([unit[m[1]] - unit[m[0]] for m in pairs])
    return out


def pearson(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Pearson correlation over axis -2 of arrays (…, points, labels): (…, labels).

    NaN with fewer than three points, a missing point or a constant side.
    """
    if x.shape[-2] < MIN_POINTS:
        return np.full(x.shape[:-2] + x.shape[-1:], nan)
    u, v = (a - a.mean(axis=-2, keepdims=True) for a in (x, y))
    uu, vv, uv = (u**2).sum(axis=-2), (v**2).sum(axis=-2), (u * v).sum(axis=-2)
    scale = 1e-24 * (np.abs(x).max(axis=-2) ** 2 + np.abs(y).max(axis=-2) ** 2) * x.shape[-2]
    with np.errstate(divide="ignore", invalid="ignore"):
        r = np.where((uu <= scale) | (vv <= scale), nan, uv / np.sqrt(uu * vv))
    return np.clip(r, -1, 1)


@dataclass(frozen=True)
class Quantity:
    """Numbers from means (k, corpora, systems, labels + 1): `values` gives (k, m), `rows` identifies each of the m."""

    rows: list[dict[str, Any]]
    values: Callable[[np.ndarray], np.ndarray]


def correlations(t: Tally, families: Mapping[str, Sequence[str]], *, overall: bool = False) -> Quantity:
    """r of each label (or of overall means) between the first corpus and every other: `replication_r`.

    Its key `among` is what is correlated: see `points`.
    """
    places = t.places(overall=overall)
    at, rows, parts = list(places), [], []
    for c, corpus in enumerate(t.corpora[1:], start=1):
        for among, matrix in points(t.systems, families).items():
            parts.append((c, matrix))
            head = {"statistic": "replication_r", "corpus": corpus, "level": "system", "n": len(matrix)}
            head |= {"against": t.corpora[0], "among": among}
            rows += [head | {"label": label} for label in places.values()]

    def values(m: np.ndarray) -> np.ndarray:
        coefficients = [pearson(matrix @ m[:, 0][..., at], matrix @ m[:, c][..., at]) for c, matrix in parts]
        return np.concatenate(coefficients, axis=1) if coefficients else np.empty((len(m), 0))

    return Quantity(rows, values)


def _linear(t: Tally, statistic: str, terms: Sequence[tuple], *, overall: bool = True) -> Quantity:
    """Means, or differences of two means. terms : (identifiers, (corpus, system), and the same of what is subtracted,
    or None), by their places on the axes."""
    places = t.places(overall=overall)
    head = {"statistic": statistic, "level": "dialogue"}
    rows = [head | ids | {"label": label} for ids, *_ in terms for label in places.values()]
    plus, minus = (np.array([term[i] or (0, 0) for term in terms], dtype=int).reshape(-1, 2).T for i in (1, 2))
    subtracted = any(term[2] for term in terms)

    def values(m: np.ndarray) -> np.ndarray:
        contrast = m[:, plus[0], plus[1]]
        contrast = contrast - m[:, minus[0], minus[1]] if subtracted else contrast
        return contrast[..., list(places)].reshape(len(m), -1)

    return Quantity(rows, values)


def levels(t: Tally, statistic: str, *, overall: bool) -> Quantity:
    """The mean of every corpus and system; n counts dialogues rated once per label."""
    n = t.count.sum(axis=0).max(axis=-1)
    terms = [
        ({"corpus": corpus, "system": system, "n": int(n[i, j])}, (i, j), None)
        for i, corpus in enumerate(t.corpora)
        for j, system in enumerate(t.systems)
    ]
    return _linear(t, statistic, terms, overall=overall)


def differences(t: Tally, statistic: str, pairs: Sequence[tuple[str, str]], *, overall: bool = True) -> Quantity:
    """In every corpus, the mean of the first system of each pair minus that of the second."""
    place = {system: j for j, system in enumerate(t.systems)}
    terms = [
        ({"corpus": corpus, "system": a, "system_b": b}, (i, place[a]), (i, place[b]))
        for i, corpus in enumerate(t.corpora)
        for a, b in pairs
    ]
    return _linear(t, statistic, terms, overall=overall)


def strata(t: Tally) -> np.ndarray:
    """(people,): a code for the corpora in which a person took part."""
    took_part = t.count.sum(axis=(2, 3)) > 0
    return np.unique(took_part, axis=0, return_inverse=True)[1].reshape(-1)


def estimates(t: Tally, quantity: Quantity) -> pd.DataFrame:
    """A quantity without intervals: its rows with `estimate`."""
    return pd.DataFrame(quantity.rows).assign(estimate=quantity.values(t.means()[None])[0])


def replicates(t: Tally, quantities: Sequence[Quantity], rng: np.random.Generator, n_resamples: int) -> Replicates:
    """The quantities under resampling of people, within those who took part in the same corpora."""
    shape = t.total.shape[1:]
    flat = np.concatenate([t.total.reshape(len(t.people), -1), t.count.reshape(len(t.people), -1)], axis=1)

    def statistic(sums: np.ndarray) -> np.ndarray:
        total, count = (part.reshape(-1, *shape) for part in np.split(sums, 2, axis=1))
        m = means_of(total, count)
        return np.concatenate([q.values(m) for q in quantities], axis=1)

    return replicate_sums(flat, statistic, unit="worker", rng=rng, strata=strata(t), n_resamples=n_resamples)


def resampled(
    t: Tally, quantities: Sequence[Quantity], *, rng: np.random.Generator, n_resamples: int, confidence: float = 0.95
) -> pd.DataFrame:
    """The quantities with intervals over people.

    Means and differences have BCa intervals. Correlations of LEAST_FOR_INTERVAL points or more have those of the
    jackknife, which estimate the r to expect of runs of this size with other workers. Differences of systems also have
    `jackknife_error`, without one worker at a time, and `effective`, the number of equally busy workers of the corpus
    (one over the sum of squared shares of ratings; Kish 1965): what `wald` takes.
    """
    rows = [row for q in quantities for row in q.rows]
    replicated = replicates(t, quantities, rng, n_resamples)
    people = dict(zip(t.corpora, (t.count.sum(axis=(2, 3)) > 0).sum(axis=0).tolist(), strict=True))
    judged = t.count.sum(axis=(2, 3))
    effective = dict(zip(t.corpora, judged.sum(axis=0) ** 2 / np.maximum(np.sum(judged**2, axis=0), 1), strict=True))
    for i, (row, interval) in enumerate(zip(rows, replicated.intervals(confidence), strict=True)):
        row |= interval.row() | {"n_annotators": people[row["corpus"]]}
        if row["statistic"] == "system_gap":
            error = replicated.jackknife_interval(i, bounded=False).standard_error
            row |= {"jackknife_error": error, "effective": effective[row["corpus"]]}
        if row["statistic"] == "replication_r" and interval.kind != "not_estimable":
            row |= over_workers(replicated, i, row["n"], confidence).row()
    return pd.DataFrame(rows)


def over_workers(replicated: Replicates, i: int, n_points: int, confidence: float = 0.95) -> Interval:
    """Interval of the i-th statistic, a correlation of `n_points` points, from the workers left out in turn."""
    if n_points < LEAST_FOR_INTERVAL:
        note = f"{n_points} points are too few for an interval over workers; {LEAST_FOR_INTERVAL} are needed"
        return Interval(
            float(replicated.estimate[i]), nan, nan, "not_estimable", replicated.unit, replicated.n_units, note=note
        )
    return replicated.jackknife_interval(i, confidence)


def random_subsets(t: Tally, sizes: Mapping[str, int], *, rng: np.random.Generator, n_draws: int = 2_000) -> np.ndarray:
    """(n_draws, pairs): `overall_r` of random sets of workers.

    sizes : corpus -> how many of its workers are drawn without replacement.
    """
    total, count = list[np.ndarray](), list[np.ndarray]()
    for c, corpus in enumerate(t.corpora):
        of_corpus = np.flatnonzero(t.count[:, c].sum(axis=(1, 2)) > 0)
        order = rng.random((n_draws, len(of_corpus))).argsort(axis=1)
        drawn = (order < sizes[corpus]).astype(float)
        for out, source in ((total, t.total), (count, t.count)):
            out.append((drawn @ source[of_corpus, c].reshape(len(of_corpus), -1)).reshape(n_draws, *source.shape[2:]))
    return overall_r(means_of(np.stack(total, axis=1), np.stack(count, axis=1)))


def overall_r(means: np.ndarray) -> np.ndarray:
    """(…, pairs): r of overall means between all pairs of corpora, the first pairs being those of the first corpus.

    means : (…, corpora, systems, labels + 1), as from `means_of`.
    """
    m = means[..., -1:]
    pairs = combinations(range(m.shape[-3]), 2)
    return np.stack([pearson(m[..., a, :, :], m[..., b, :, :])[..., 0] for a, b in pairs], axis=-1)


def wald(gaps: pd.DataFrame) -> pd.Series:
    """Two-sided p-values of differences (estimate) from their jackknife standard errors (jackknife_error) over workers,
    by Student's t with one degree of freedom fewer than there are workers with equal loads (effective).

    Normal quantiles would reject 7% to 13% of true nulls with 6 to 20 workers, and 8% to 9% with 200 of whom one did a
    sixth of the work; this test rejects 5% to 6% (`benchmarks/levels/other_tests.csv`).
    """
    t = gaps["estimate"] / gaps["jackknife_error"].where(gaps["jackknife_error"] > 0)
    return 2 * stdtr(gaps["effective"] - 1, -np.abs(t))


def conclusions(gaps: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """What is concluded of each pair, by corpus (columns): 1 the first system is better, -1 worse, 0 open.

    gaps : `system_gap` with a two-sided `p_value`. The result has both orientations of a pair.
    """
    columns = ["corpus", "system", "system_b"]
    forth = gaps[columns].assign(sign=np.sign(gaps["estimate"]).where(gaps["p_value"] < alpha, 0).astype(int))
    back = forth.rename(columns={"system": "system_b", "system_b": "system"}).assign(sign=-forth["sign"])
    signs = pd.concat([forth, back]).set_index(columns)["sign"].unstack("corpus")  # noqa: PD010
    return signs[list(dict.fromkeys(gaps["corpus"]))]


def concordance(gaps: pd.DataFrame, alpha: float) -> Iterator[dict[str, Any]]:
    """How far the conclusions of each corpus are those of the first one: `concordance`.

    `of` is identical (share of pairs, in both directions: Ji et al. 2022, section 4.2), contradiction (number of pairs
    found different with the opposite sign) or power_mismatch (number found different in one corpus only: the other
    lacks the power to find it); and, for each corpus by itself, significant (number of pairs). n counts pairs.
    """
    concluded = conclusions(gaps, alpha)
    base = concluded.columns[0]
    for corpus in concluded:
        x, y = concluded[base].to_numpy(), concluded[corpus].to_numpy()
        values = {"significant": np.sum(y != 0) / 2}
        if corpus != base:
            values |= {"identical": np.mean(x == y), "contradiction": np.sum(x * y < 0) / 2}
            values["power_mismatch"] = np.sum((x == 0) != (y == 0)) / 2
        row = {
            "statistic": "concordance",
            "corpus": corpus,
            "level": "system",
            "n": len(concluded) // 2,
            "alpha": alpha,
        }
        for of, value in values.items():
            yield row | {"of": of, "against": None if of == "significant" else base, "estimate": value}


def gain(
    c: Crowd, kinds: Mapping[str, str], *, seed: int, confidence: float, n_draws: int = 10_000
) -> Iterator[pd.DataFrame]:
    """All that is said of it; nothing with one corpus.

    kinds : kind of scores -> column of `Crowd.scores`. n_draws : random sets of workers.
    """
    shares = []
    for scores, value in kinds.items() if len(c.corpora) > 1 else ():
        t = tally(c.scores, value, c.corpora, c.shared)
        keys = {"level": "system", "label": OVERALL, "scores": scores}
        if not t.people:
            continue  # nobody has scores: all ratings of each worker are equal
        yield gains(t, members(c, t, "passed"), confidence).assign(**keys)
        for name in ("all", "passed"):
            r = pd.DataFrame(_pairs(t.corpora)).assign(estimate=r_of(t, members(c, t, name)), workers=name, **keys)
            yield r.assign(statistic="replication_r", interval="point", among=SYSTEMS, n=len(t.systems))
        chosen, rng = members(c, t, "passed"), generator(seed, "random workers", "passed", scores)
        sizes = dict(zip(t.corpora, chosen.sum(axis=0).tolist(), strict=True))
        draws = random_subsets(t, sizes, rng=rng, n_draws=n_draws)
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
    return overall_r(means_of(total, count))


def _pairs(corpora: list[str]) -> list[dict[str, str]]:
    """Every pair of runs, the later `against` the earlier, in the order of `overall_r`."""
    return [{"corpus": b, "against": a} for a, b in combinations(corpora, 2)]


def against_random(
    r: np.ndarray, draws: np.ndarray, corpora: list[str], confidence: float = 0.95
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """`replication_r` of random sets (median and range), and `replication_share`: the share of them with an r at least
    as large as that of the chosen workers, with p-values.

    r : (pairs,). draws : (sets, pairs), from `random_subsets`. The chosen set counts as one of the random
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
        return overall_r(means_of(own_n, n)) - overall_r(means_of(total, count))

    # of the resamples nothing is used but the values without one worker
    rows = np.concatenate([x.reshape(len(x), -1) for x in parts], axis=1)
    rng = np.random.default_rng(0)
    found = replicate_sums(rows, statistic, unit="worker", rng=rng, strata=strata(t), n_resamples=2)
    ends = [found.jackknife_interval(i, confidence, bounded=False).row() for i in range(len(found.estimate))]
    gained = [ids | one for ids, one in zip(_pairs(t.corpora), ends, strict=True)]
    return pd.DataFrame(gained).assign(statistic="replication_gain", n=len(t.systems))
