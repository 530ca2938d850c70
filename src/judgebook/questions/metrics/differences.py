"""Is one metric closer to people than another on the same items?

`differences` swaps the scores of two metrics within whole contexts: under the null they are exchangeable, and responses
to one context stay together. Two metrics may be equally close to people and yet not exchangeable: where one has two or
three values only, or a few contexts hold most of the items, swaps reject 7% to 10% of true nulls. The p-value is
therefore the larger one of that test and of a t test clustered by context (at most 6.5%, `benchmarks/levels`).

References: Deutsch, Dror and Roth 2021, A statistical analysis of summarization evaluation metrics using resampling
methods, TACL 9, 1132-1146, section 4 (permutation of standardised scores).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from math import nan
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr

from judgebook.questions.metrics.items import ScoredItems, scored_items
from judgebook.statistics.correlation import alike, correlate, influence, weighted_correlations
from judgebook.statistics.intervals import generator
from judgebook.statistics.multiplicity import adjust_p_values
from judgebook.statistics.permutation import Permutation, from_null, permutation_test
from judgebook.statistics.resampling import Statistic, in_groups

#: numbers that one chunk of arrangements may hold at once
CHUNK = 500_000
#: with no more clusters than this all patterns of swaps are enumerated
EXACT_CLUSTERS = 13
#: with more than MANY_CLUSTERS clusters, those of MOST_CLUSTERS random groups are swapped together: a subgroup of all
#: swaps, under which the null is as true
MANY_CLUSTERS, MOST_CLUSTERS = 5_000, 2_000
#: fewer systems than this have no correlation
LEAST_SYSTEMS = 3


def differences(joined: pd.DataFrame, *, seed: int, n_permutations: int = 10_000) -> Iterator[dict[str, Any]]:
    """Every two metrics compared by Spearman's correlation on the items both score: on each label, or the mean over
    labels where there are several.

    Parameters
    ----------
    joined : DataFrame
        From `items.join`.

    Yields
    ------
    `correlation_difference` (first metric minus the second, named in `against`) with the p-value of the permutation or,
    where it is larger, of `clustered_t`; p is missing with the reason where they do not apply. p_adjusted is Holm's
    over the pairs. Pairs and labels share their random swaps.
    """
    for items in scored_items(joined):
        pairs = list(combinations(range(len(items.metrics)), 2))
        if not pairs:
            continue
        together = items.n_clusters > MANY_CLUSTERS
        if together:
            rng = generator(seed, "swapped together", items.corpus, items.method)
            groups = in_groups(items.n_clusters, MOST_CLUSTERS, rng)
            items = replace(items, clusters=groups[items.clusters])
        # means over labels, added up label by label
        n_labels, observed, null, robust = len(items.labels), np.zeros(len(pairs)), np.zeros(1), np.zeros(1)
        for l in range(n_labels):
            compared = compare(items, l, pairs)
            # the same swaps for every label, so that the mean over labels has a null as well
            rng = generator(seed, "paired_permutation", "spearman", items.corpus, items.method)
            test = permute(items, l, pairs, compared, rng=rng, n_permutations=n_permutations)
            observed, null = observed + test.observed / n_labels, null + test.null / n_labels
            robust = robust + contributions(items, l, pairs, compared) / n_labels
        test = from_null(observed, null, exact=test.exact)
        of = f" of {items.unit}s in {items.n_clusters} random groups" if together else ""
        made = f"{'all' if test.exact else 'random'} {len(test.null)} arrangements{of}"
        keys, why = {"over": "label"}, ["undefined for a label"] * len(pairs)
        sizes: dict[str, Any] = {"n": n_labels, "n_clusters": items.n_clusters}
        if n_labels == 1:
            keys, why = {"label": items.labels[0]}, [one.reason for one in compared]
            sizes = {"n": [int(one.both.sum()) for one in compared]}
            sizes["n_clusters"] = [len(np.unique(items.clusters[one.both])) for one in compared]
        rows = pd.DataFrame({"estimate": observed, "note": np.where(np.isfinite(observed), made, why)}).assign(**sizes)
        rows["p_value"] = np.fmax(test.p_value, clustered_t(observed, *robust))
        yield from _rows(items, pairs, rows.assign(resample_unit=items.unit), **keys)


def system_differences(joined: pd.DataFrame, *, seed: int, n_permutations: int = 10_000) -> Iterator[dict[str, Any]]:
    """Every two metrics compared by Pearson's correlation of the means of systems, as in shared tasks: on each label,
    or the mean over labels where there are several, on the items that all metrics score.

    Standardised scores of two metrics are swapped in whole contexts, and the means of systems are computed again. The
    systems are taken as given, so that nothing is said of others.

    joined : from `items.join`, without systems that are not ranked. Yields `correlation_difference` with `level`
    system, and p_adjusted by Holm over pairs of metrics.

    References
    ----------
    Deutsch, Dror and Roth 2021, section 4 (PERM-INPUTS; PERM-BOTH, which swaps the score of each system by itself,
    takes responses to the same context as independent).
    """
    for items in scored_items(joined):
        pairs, common = list(combinations(range(len(items.metrics)), 2)), np.isfinite(items.x).all(axis=1)
        n_systems = [len(np.unique(items.systems[common & np.isfinite(y)])) for y in items.y.T]
        if not pairs or min(n_systems) < LEAST_SYSTEMS:
            continue
        rng = generator(seed, "paired_permutation", "systems", items.corpus, items.method)
        clusters = np.unique(items.clusters[common], return_inverse=True)[1]
        if len(np.unique(clusters)) > MANY_CLUSTERS:
            clusters = in_groups(int(clusters.max()) + 1, MOST_CLUSTERS, rng)[clusters]
        systems = [SystemMeans.of(items, common, clusters, y) for y in items.y.T]
        test = permute_systems(systems, pairs, rng=rng, n_permutations=n_permutations)
        n_labels, n_clusters = len(items.labels), systems[0].sums.shape[0]
        rows = pd.DataFrame({"estimate": test.observed, "p_value": test.p_value, "n": len(systems[0].human)})
        kind = f"{'all' if test.exact else 'random'} {len(test.null)} arrangements"
        note = np.where(np.isfinite(test.observed), kind, "one of the two sides is constant")
        rows = rows.assign(n_clusters=n_clusters, resample_unit=items.unit, note=note)
        keys = {"over": "label"} if n_labels > 1 else {"label": items.labels[0]}
        yield from _rows(items, pairs, rows, level="system", coefficient="pearson", **keys)


@dataclass(frozen=True)
class SystemMeans:
    """Of one label: sums (clusters, systems, metrics) of what each cluster adds to a system's mean standardised score,
    and human (systems,), its mean rating."""

    sums: np.ndarray
    human: np.ndarray

    @classmethod
    def of(cls, items: ScoredItems, common: np.ndarray, clusters: np.ndarray, rating: np.ndarray) -> SystemMeans:
        """common : which items all metrics score. clusters : of these. rating : (n,) of all items."""
        rated = np.isfinite(rating[common])
        x, y, clusters = items.x[common][rated], rating[common][rated], clusters[rated]
        system = pd.factorize(items.systems[common][rated])[0]
        n = np.bincount(system)
        z = (x - x.mean(axis=0)) / np.where(np.ptp(x, axis=0) > 0, x.std(axis=0), nan) / n[system, None]
        sums = np.zeros((int(clusters.max(initial=-1)) + 1, len(n), x.shape[1]))
        np.add.at(sums, (clusters, system), z)
        return cls(sums, np.bincount(system, y) / n)

    def differences(self, swaps: np.ndarray, pairs: list[tuple[int, int]]) -> np.ndarray:
        """(k, pairs): difference of the correlations of each two metrics under k patterns of swapped clusters.

        What is swapped moves from one metric to the other: means of a become those kept by a and those moved from b.
        """
        a, b = np.array(pairs).T
        sums, h = self.sums - self.sums.mean(axis=1, keepdims=True), self.human - self.human.mean()
        moved = np.tensordot(swaps[:, : len(sums)], sums, axes=1)
        kept = sums.sum(axis=0) - moved
        both = np.matmul(kept.transpose(0, 2, 1), moved)
        kept_h, moved_h = np.einsum("s,ksm->km", h, kept), np.einsum("s,ksm->km", h, moved)
        kept_2, moved_2 = np.einsum("ksm,ksm->km", kept, kept), np.einsum("ksm,ksm->km", moved, moved)
        with np.errstate(divide="ignore", invalid="ignore"):
            first, second = (
                (kept_h[:, i] + moved_h[:, j])
                / np.sqrt(np.maximum(kept_2[:, i] + 2 * both[:, i, j] + moved_2[:, j], 1e-24) * (h @ h))
                for i, j in ((a, b), (b, a))
            )
        return first - second


def permute_systems(
    labels: list[SystemMeans], pairs: list[tuple[int, int]], *, rng: np.random.Generator, n_permutations: int
) -> Permutation:
    """Test of every pair of metrics on the mean over labels, with the same swaps for each label."""
    n_clusters, (_, n_systems, _) = max(len(s.sums) for s in labels), labels[0].sums.shape

    def difference(swaps: np.ndarray) -> np.ndarray:
        parts = np.array_split(swaps, -(-swaps.size * n_systems * len(pairs) // (n_clusters * CHUNK)))
        return np.concatenate([np.mean([s.differences(part, pairs) for s in labels], axis=0) for part in parts])

    observed = difference(np.zeros((1, n_clusters)))[0]
    return _swapped(observed, difference, n_clusters, n_clusters, rng=rng, n_permutations=n_permutations)


def _swapped(observed: np.ndarray, difference: Statistic, n_clusters: int, width: int, **drawn: Any) -> Permutation:
    """Test of differences under patterns of swapped clusters, each of which holds `width` numbers; exact with up to
    EXACT_CLUSTERS clusters. drawn : `rng` and `n_permutations`."""

    def draw(rng: np.random.Generator, k: int) -> np.ndarray:
        sizes = [len(part) for part in np.array_split(range(k), -(-k * width // CHUNK))]
        return np.concatenate([difference(rng.integers(0, 2, (size, n_clusters)).astype(float)) for size in sizes])

    exact = None
    if n_clusters <= EXACT_CLUSTERS:
        exact = difference((np.arange(2**n_clusters)[:, None] >> np.arange(n_clusters) & 1).astype(float))
    return permutation_test(observed, draw, exact=exact, **drawn)


def _rows(
    items: ScoredItems, pairs: list[tuple[int, int]], tests: pd.DataFrame, **keys: str
) -> Iterator[dict[str, Any]]:
    """Result rows of all pairs, with Holm's adjustment over these."""
    tests = tests.assign(p_adjusted=adjust_p_values(tests["p_value"].to_numpy(float), "holm"))
    head = {"statistic": "correlation_difference", "coefficient": "spearman", **items.head, **keys}
    head["family"] = "pairs of metrics, holm"
    for (a, b), row in zip(pairs, tests.to_dict("records"), strict=True):
        yield head | {"metric": items.metrics[a], "against": items.metrics[b]} | row


@dataclass(frozen=True)
class MetricPair:
    """Two metrics and one label: the items with all three (`both`), the correlations of the metrics with people (`r`,
    NaN where undefined), and why they are undefined."""

    both: np.ndarray
    r: tuple[float, float]
    reason: str


def compare(items: ScoredItems, label: int, pairs: list[tuple[int, int]]) -> list[MetricPair]:
    """The comparison of each pair of metrics on one label. Pairs with the same items share a matrix of correlations."""
    y, present = items.y[:, label], np.isfinite(items.x)
    cached: dict[bytes, np.ndarray] = {}
    out = []
    for a, b in pairs:
        common = present[:, a] & present[:, b] & np.isfinite(y)
        key = common.tobytes()
        if key not in cached:
            x = np.where(present[common].all(axis=0), items.x[common], nan)  # metrics with gaps belong to other pairs
            columns = np.column_stack([x, y[common]])
            cached[key] = weighted_correlations(columns, columns, np.ones((1, len(x))), "spearman")[0]
        r = cached[key][[a, b], -1]
        undefined = next((m for m, value in zip((a, b), r, strict=True) if np.isnan(value)), None)
        reason = "" if undefined is None else correlate(y[common], items.x[common, undefined])[1]
        out.append(MetricPair(common, tuple(r), reason))
    return out


def permute(
    items: ScoredItems,
    label: int,
    pairs: list[tuple[int, int]],
    compared: list[MetricPair],
    *,
    rng: np.random.Generator,
    n_permutations: int = 10_000,
) -> Permutation:
    """Test of every pair of metrics on one label that swaps the two within whole clusters.

    Scores are replaced by their ranks first, as two metrics have different units; ranks are kept when swapped, so that
    an arrangement is Pearson's r of mixed ranks. Exact with up to EXACT_CLUSTERS clusters; NaN for pairs that have a
    reason.

    Parameters
    ----------
    label : int
        Number of the label.
    pairs : list of (int, int)
        Numbers of the metrics.
    compared : list of MetricPair
        From `compare`, one per pair.
    """
    n_clusters, blocks = items.n_clusters, []
    for at, common, used in _with_same_items(pairs, compared):
        sums = np.zeros((3, n_clusters, len(items.metrics)))
        x, human = items.x[np.ix_(common, np.array(used))], items.y[common, label]
        sums[:, :, used] = _sums(x, human, items.clusters[common], n_clusters)
        blocks.append((at, sums, [pairs[i] for i in at], int(common.sum())))

    def difference(swaps: np.ndarray) -> np.ndarray:
        out = np.full((len(swaps), len(pairs)), nan)
        for at, sums, some, n in blocks:
            out[:, at] = _differences(swaps, sums, some, n)
        return out

    width = n_clusters + 10 * len(pairs) + 3 * len(items.metrics)  # numbers that one pattern of swaps holds
    observed = np.array([c.r[0] - c.r[1] for c in compared])
    return _swapped(observed, difference, n_clusters, width, rng=rng, n_permutations=n_permutations)


def _with_same_items(
    pairs: list[tuple[int, int]], compared: list[MetricPair]
) -> Iterator[tuple[np.ndarray, np.ndarray, list[int]]]:
    """Places of the pairs without a reason that have the same items, these items, and the metrics of these pairs."""
    defined = np.flatnonzero([not c.reason for c in compared])
    for common, at in alike(np.stack([compared[i].both for i in defined], axis=1)) if len(defined) else []:
        yield defined[at], common, sorted({metric for i in defined[at] for metric in pairs[i]})


def contributions(
    items: ScoredItems, label: int, pairs: list[tuple[int, int]], compared: list[MetricPair]
) -> np.ndarray:
    """(2, pairs, clusters): what each cluster contributes to the deviation of a difference of two correlations, and its
    share of the items. Arguments as for `permute`; 0 for pairs that have a reason."""
    out = np.zeros((2, len(pairs), items.n_clusters))
    for at, common, used in _with_same_items(pairs, compared):
        clusters, human, n = items.clusters[common], items.y[common, label], common.sum()
        of = {m: np.bincount(clusters, influence(items.x[common, m], human)[1], items.n_clusters) / n for m in used}
        out[0, at] = [of[pairs[i][0]] - of[pairs[i][1]] for i in at]
        out[1, at] = np.bincount(clusters, minlength=items.n_clusters) / n
    return out


def clustered_t(observed: np.ndarray, contributed: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """(pairs,) two-sided p-values of differences by Student's t, from the variance of a linear jackknife over clusters
    and one degree of freedom fewer than their effective number.

    observed : (pairs,). contributed, shares : from `contributions`. Missing where nothing varies, or with one cluster.

    References
    ----------
    MacKinnon, Nielsen and Webb 2023, Journal of Applied Econometrics 38, 671-694 (CR3). Kish 1965, Survey Sampling,
    section 8.2 (effective number).
    """
    n = np.sum(shares > 0, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = (n - 1) / n * np.sum((contributed / (1 - shares)) ** 2, axis=1)
        p = 2 * stdtr(1 / np.sum(shares**2, axis=1) - 1, -np.abs(observed) / np.sqrt(variance))
    return np.where((n > 1) & (variance > 1e-24), p, np.nan)


def _sums(x: np.ndarray, human: np.ndarray, clusters: np.ndarray, n_clusters: int) -> np.ndarray:
    """(3, clusters, metrics): what each cluster adds to the sums of z, z squared and z times the rating, for the
    standardised ranks z of a metric's scores; the ranks of ratings have mean 0 and variance 1.

    x : (n, metrics), human : (n,).
    """
    from scipy.stats import rankdata  # takes a second to import, which the page for authors would wait for

    x, human = rankdata(x, axis=0), rankdata(human)
    z, h = ((side - side.mean(axis=0)) / side.std(axis=0) for side in (x, human))
    sums = np.zeros((3, n_clusters, x.shape[1]))
    for total, part in zip(sums, (z, z * z, z * h[:, None]), strict=True):
        np.add.at(total, clusters, part)
    return sums


def _differences(swaps: np.ndarray, sums: np.ndarray, pairs: list[tuple[int, int]], n: int) -> np.ndarray:
    """(k, pairs): difference of the two correlations of each pair under k patterns of swapped clusters.

    A swap moves sums of whole clusters from one metric to the other, so that all pairs share three matrix products and
    the cost does not grow with n.
    """
    a, b = np.array(pairs).T
    total = sums.sum(axis=1)
    moved = [swaps @ part for part in sums]
    change = [m[:, b] - m[:, a] for m in moved]

    def r(metric: np.ndarray, sign: int) -> np.ndarray:
        z, zz, zh = (t[metric] + sign * c for t, c in zip(total, change, strict=True))
        return zh / np.sqrt(n * np.maximum(zz - z**2 / n, 1e-12))

    return r(a, 1) - r(b, -1)
