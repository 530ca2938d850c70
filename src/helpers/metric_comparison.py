"""Is one metric closer to people than another on the same items?

`compare` swaps the two metrics' scores within whole contexts: under the null they are exchangeable, and responses to
one context stay together. Williams' test stands beside; it takes items as independent and scores as normal.

References: Deutsch, Dror and Roth 2021, A statistical analysis of summarization evaluation metrics using resampling
methods, TACL 9, 1132-1146, section 4 (permutation of standardised scores); Williams 1959, JRSS B 21, 396-399, in the
form of Steiger 1980, Psychological Bulletin 87, 245-251, eq. 7.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import nan, sqrt

import numpy as np
import pandas as pd
from scipy import stats

from helpers.correlation import correlate
from helpers.metric_items import Table, tables
from helpers.multiplicity import adjust
from helpers.resampling import Permutation, generator, permutation_test
from helpers.schema import condition

#: numbers that one chunk of arrangements may hold at once
CHUNK = 4_000_000
#: all patterns of swaps are gone through when there are no more than two to this
EXACT_CLUSTERS = 13


def williams(r12: float, r13: float, r23: float, n: int) -> tuple[float, float]:
    """Williams' t and two-sided p for r12 = r13, two correlations that share variable 1 (here: the human ratings).

    r23 is the correlation of the two metrics; n the number of independent items. Degrees of freedom n - 3. Both are
    missing (NaN) with fewer than 4 items or where the three correlations leave no residual variance.

    Steiger 1980, eq. 7. Checked against `psych::r.test` of R.
    """
    determinant = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    if n < 4:
        return nan, nan
    squared = 2 * (n - 1) / (n - 3) * determinant + ((r12 + r13) / 2) ** 2 * (1 - r23) ** 3
    if not squared > 1e-14:
        return nan, nan
    t = (r12 - r13) * sqrt((n - 1) * (1 + r23) / squared)
    return float(t), float(2 * stats.t.sf(abs(t), n - 3))


def paired_permutation(
    x: np.ndarray,
    y: np.ndarray,
    human: np.ndarray,
    clusters: np.ndarray,
    *,
    rng: np.random.Generator,
    coefficient: str = "spearman",
    n_permutations: int = 10_000,
) -> Permutation:
    """Permutation test of corr(x, human) - corr(y, human) that swaps x and y within whole clusters.

    x, y, human : (n,) without missing values; clusters : (n,) numbers from 0 without gaps. Scores are standardised
    first (Pearson) or replaced by their ranks (Spearman), as two metrics have different units; ranks are kept when
    swapped, so that an arrangement is Pearson's r of mixed ranks. Exact with up to EXACT_CLUSTERS clusters.

    Checked against recomputing each arrangement with numpy, and by simulated size.
    """
    n_clusters = int(clusters.max()) + 1
    sums = _sums(np.stack([x, y], axis=1), human[:, None], clusters, n_clusters, coefficient)

    def difference(swaps: np.ndarray) -> np.ndarray:
        return _differences(swaps, sums, [(0, 1)], len(x))[:, 0, 0]

    observed = difference(np.zeros((1, n_clusters)))[0]
    return _test(observed, difference, n_clusters, rng, n_permutations, width=8)


def _sums(x: np.ndarray, y: np.ndarray, clusters: np.ndarray, n_clusters: int, coefficient: str) -> np.ndarray:
    """(clusters, metrics, 2 + labels): what each cluster adds to the sums of z, z squared and z times each rating, for
    standardised scores z of a metric; ratings have mean 0 and variance 1."""
    if coefficient not in ("pearson", "spearman"):
        raise ValueError(f"coefficient: expected 'pearson' or 'spearman', found {coefficient!r}")
    if coefficient == "spearman":
        x, y = (stats.rankdata(side, axis=0) for side in (x, y))
    z, h = ((side - side.mean(axis=0)) / side.std(axis=0) for side in (x, y))
    parts = np.concatenate([z[:, :, None], z[:, :, None] ** 2, z[:, :, None] * h[:, None, :]], axis=2)
    sums = np.zeros((n_clusters, *parts.shape[1:]))
    np.add.at(sums, clusters, parts)
    return sums


def _differences(swaps: np.ndarray, sums: np.ndarray, pairs: list[tuple[int, int]], n: int) -> np.ndarray:
    """(k, pairs, labels): difference of the two correlations of each pair under k patterns of swapped clusters.

    A swap moves sums of whole clusters from one metric to the other, so that all pairs share one matrix product.
    """
    total = sums.sum(axis=0)
    moved = (swaps @ sums.reshape(len(sums), -1)).reshape(len(swaps), *total.shape)
    a, b = np.array(pairs).T
    change = moved[:, b] - moved[:, a]

    def r(s: np.ndarray) -> np.ndarray:
        return s[..., 2:] / np.sqrt(n * np.maximum(s[..., 1:2] - s[..., 0:1] ** 2 / n, 1e-12))

    return r(total[a] + change) - r(total[b] - change)


def _test(observed, difference, n_clusters: int, rng, n_permutations: int, width: int) -> Permutation:
    """All patterns of swaps where they are few, else random ones. width : numbers `difference` holds for a pattern."""

    def permute(rng: np.random.Generator, k: int) -> np.ndarray:
        sizes = [len(part) for part in np.array_split(range(k), -(-k * (n_clusters + width) // CHUNK))]
        return np.concatenate([difference(rng.integers(0, 2, (size, n_clusters)).astype(float)) for size in sizes])

    exact = None
    if n_clusters <= EXACT_CLUSTERS:
        exact = difference((np.arange(2**n_clusters)[:, None] >> np.arange(n_clusters) & 1).astype(float))
    return permutation_test(observed, permute, rng=rng, n_permutations=n_permutations, exact=exact)


def compare(
    joined: pd.DataFrame,
    *,
    seed: int,
    coefficient: str = "spearman",
    unit: str = "context",
    n_permutations: int = 10_000,
) -> pd.DataFrame:
    """Every two metrics against each other on the items both score, label by label and on the mean over labels.

    joined : frame from `metric_items.join`. Returns result rows `correlation_difference` (first metric less the second,
    named in `against`) with the permutation p-value (`test=permutation`) and Williams' (`test=williams`); p is missing
    with the reason where a test does not apply. Rows without a label: the mean of the differences over labels, by
    permutation (`over=label`). p_adjusted is Holm's over the pairs of one label (or of the mean) and one test. unit :
    as in `metric_items.clusters_of`. Pairs share their random swaps. Checked through `paired_permutation` and
    `williams`.
    """
    out = []
    for table in tables(joined, unit):
        pairs = list(combinations(range(len(table.metrics)), 2))
        cells = {l: [_cell(table, l, pair, coefficient) for pair in pairs] for l in range(len(table.labels))}
        targets = [[l] for l in cells] + ([list(cells)] if len(cells) > 1 else [])
        for labels in targets if pairs else []:
            label = table.labels[labels[0]] if len(labels) == 1 else None
            rng = generator(seed, "paired_permutation", coefficient, table.corpus, table.method, str(label))
            rows = _pairs(table, pairs, {l: cells[l] for l in labels}, label, coefficient, rng, n_permutations)
            out += [table.head | {"statistic": "correlation_difference", "label": label} | row for row in rows]
    return pd.DataFrame(out) if out else pd.DataFrame(columns=["statistic"])


@dataclass(frozen=True)
class _Cell:
    """Two metrics and one label: the items with all three (`both`), the correlations, and why there are none."""

    both: np.ndarray
    r: tuple[float, float, float]
    reason: str


def _cell(table: Table, label: int, pair: tuple[int, int], coefficient: str) -> _Cell:
    a, b, y = table.x[:, pair[0]], table.x[:, pair[1]], table.y[:, label]
    both = np.isfinite(a) & np.isfinite(b) & np.isfinite(y)
    found = [correlate(u[both], v[both], coefficient) for u, v in ((y, a), (y, b), (a, b))]
    return _Cell(both, tuple(r for r, _ in found), next((why for _, why in found if why), ""))


def _pairs(
    table: Table,
    pairs: list,
    cells: dict[int, list[_Cell]],
    label: str | None,
    coefficient: str,
    rng,
    n_permutations: int,
) -> Iterator[dict]:
    """Rows of every pair of metrics for one label, or for the mean over several."""
    estimate = np.mean([[c.r[0] - c.r[1] for c in row] for row in cells.values()], axis=0)
    reasons = [next((c.reason for c in column if c.reason), "") for column in zip(*cells.values(), strict=True)]
    estimate[[why != "" for why in reasons]] = nan
    blocks = list(_blocks(table, pairs, cells, coefficient, np.isfinite(estimate)))

    def difference(swaps: np.ndarray) -> np.ndarray:
        out = np.zeros((len(swaps), len(pairs)))
        for at, sums, n in blocks:
            out[:, at] += _differences(swaps, sums, [pairs[i] for i in at], n)[:, :, 0] / len(cells)
        return out

    width = 8 * len(pairs) + 6 * len(table.metrics)
    test = _test(estimate, difference, table.n_clusters, rng, n_permutations, width)
    note = f"{'all' if test.exact else 'random'} {len(test.null)} arrangements"
    n = [int(c.both.sum()) for c in next(iter(cells.values()))] if label else [len(cells)] * len(pairs)
    shared = {"resample_unit": table.unit, "n_clusters": table.n_clusters}
    found = {"permutation": (test.p_value, [why or note for why in reasons], shared)}
    if label:
        p = np.array([williams(*c.r, c.both.sum())[1] if not c.reason else nan for c in cells[min(cells)]])
        none = "the three correlations leave no residual variance, or fewer than 4 items"
        notes = [why or (none if np.isnan(v) else None) for why, v in zip(reasons, p, strict=True)]
        found["williams"] = (p, notes, {"resample_unit": "item"})
    for name, (p, notes, more) in found.items():
        adjusted = adjust(p, "holm")
        for i, (a, b) in enumerate(pairs):
            keys = {"coefficient": coefficient, "against": table.metrics[b], "test": name}
            keys |= {} if label else {"over": "label"}
            row = {"metric": table.metrics[a], "condition": condition(**keys), "estimate": estimate[i], "n": n[i]}
            row |= {"p_value": p[i], "p_adjusted": adjusted[i], "family": "pairs of metrics, holm", "note": notes[i]}
            yield row | more


def _blocks(
    table: Table, pairs: list, cells: dict[int, list[_Cell]], coefficient: str, usable: np.ndarray
) -> Iterator[tuple[list[int], np.ndarray, int]]:
    """Pairs with the same items share their sums: (numbers of the pairs, `_sums` of all metrics, number of items)."""
    for l, row in cells.items():
        alike: dict[bytes, list[int]] = {}
        for i, cell in enumerate(row):
            if usable[i]:
                alike.setdefault(cell.both.tobytes(), []).append(i)
        for at in alike.values():
            both = row[at[0]].both
            used = sorted({m for i in at for m in pairs[i]})
            sums = np.zeros((table.n_clusters, len(table.metrics), 3))
            ours = _sums(
                table.x[np.ix_(both, used)], table.y[both][:, [l]], table.clusters[both], len(sums), coefficient
            )
            sums[:, used] = ours
            yield at, sums, int(both.sum())
