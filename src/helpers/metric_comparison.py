"""Is one metric closer to people than another on the same items?

`compare` swaps the two metrics' scores within whole contexts: under the null they are exchangeable, and responses to
one context stay together. Williams' test stands beside; it takes items as independent and scores as normal.

References: Deutsch, Dror and Roth 2021, A statistical analysis of summarization evaluation metrics using resampling
methods, TACL 9, 1132-1146, section 4 (permutation of standardised scores); Williams 1959, JRSS B 21, 396-399, in the
form of Steiger 1980, Psychological Bulletin 87, 245-251, eq. 7.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import nan, sqrt

import numpy as np
import pandas as pd
from scipy import stats

from helpers.correlation import correlate, weighted_correlations
from helpers.metric_items import Table, tables
from helpers.multiplicity import adjust
from helpers.permutation import Permutation, from_null, permutation_test
from helpers.resampling import generator
from helpers.schema import condition

#: numbers that one chunk of arrangements may hold at once
CHUNK = 500_000
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
    sums = _sums(np.stack([x, y], axis=1), human, clusters, n_clusters, coefficient)

    def difference(swaps: np.ndarray) -> np.ndarray:
        return _differences(swaps, sums, [(0, 1)], len(x))[:, 0]

    observed = difference(np.zeros((1, n_clusters)))[0]
    return _test(observed, difference, n_clusters, rng, n_permutations, width=8)


def _sums(x: np.ndarray, human: np.ndarray, clusters: np.ndarray, n_clusters: int, coefficient: str) -> np.ndarray:
    """(3, clusters, metrics): what each cluster adds to the sums of z, z squared and z times the rating, for the
    standardised scores z of a metric; ratings have mean 0 and variance 1.

    x : (n, metrics), human : (n,).
    """
    if coefficient not in ("pearson", "spearman"):
        raise ValueError(f"coefficient: expected 'pearson' or 'spearman', found {coefficient!r}")
    if coefficient == "spearman":
        x, human = stats.rankdata(x, axis=0), stats.rankdata(human)
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
        head = table.head | {"statistic": "correlation_difference"}
        names = (seed, "paired_permutation", coefficient, table.corpus, table.method)
        observed, null = np.zeros(len(pairs)), 0.0
        for l, label in enumerate(table.labels if pairs else []):
            cells = _cells(table, l, pairs, coefficient)
            # the same swaps for every label, so that the mean over labels has a null too
            test = _permuted(table, l, pairs, cells, coefficient, generator(*names), n_permutations)
            observed, null = observed + test.observed / len(table.labels), null + test.null / len(table.labels)
            found = {"permutation": _permutation_columns(table, test, cells), "williams": _williams_columns(cells)}
            for name, columns in found.items():
                out += [head | {"label": label} | row for row in _rows(table, pairs, coefficient, name, columns)]
        if pairs and len(table.labels) > 1:
            test = from_null(observed, null, exact=test.exact)
            columns = _permutation_columns(table, test, None) | {"n": len(table.labels)}
            out += [head | row for row in _rows(table, pairs, coefficient, "permutation", columns, over="label")]
    return pd.DataFrame(out) if out else pd.DataFrame(columns=["statistic"])


@dataclass(frozen=True)
class _Cell:
    """Two metrics and one label: the items with all three (`both`), the correlations, and why there are none."""

    both: np.ndarray
    r: tuple[float, float, float]
    reason: str


def _cells(table: Table, label: int, pairs: list[tuple[int, int]], coefficient: str) -> list[_Cell]:
    """The cell of each pair. Pairs with the same items share one matrix of correlations."""
    y, present, known = table.y[:, [label]], np.isfinite(table.x), {}
    out = []
    for a, b in pairs:
        both = present[:, a] & present[:, b] & np.isfinite(y[:, 0])
        key = both.tobytes()
        if key not in known:
            x = np.where(present[both].all(axis=0), table.x[both], nan)  # metrics with gaps here belong to other pairs
            one = np.ones((1, len(x)))
            known[key] = weighted_correlations(x, np.concatenate([x, y[both]], axis=1), one, coefficient)[0]
        r = known[key][a, -1], known[key][b, -1], known[key][a, b]
        sides = ((y[both, 0], table.x[both, a]), (y[both, 0], table.x[both, b]), (table.x[both, a], table.x[both, b]))
        undefined = next((side for side, value in zip(sides, r, strict=True) if np.isnan(value)), None)
        out.append(_Cell(both, r, correlate(*undefined, coefficient)[1] if undefined else ""))
    return out


def _permuted(
    table: Table, label: int, pairs: list, cells: list[_Cell], coefficient, rng, n_permutations
) -> Permutation:
    """The test of every pair of metrics for one label; missing (NaN) for pairs that have a reason."""
    estimate = np.array([nan if c.reason else c.r[0] - c.r[1] for c in cells])
    blocks = []
    for at in _alike(cells):
        both, used = cells[at[0]].both, sorted({m for i in at for m in pairs[i]})
        sums = np.zeros((3, table.n_clusters, len(table.metrics)))
        x, human = table.x[np.ix_(both, used)], table.y[both, label]
        sums[:, :, used] = _sums(x, human, table.clusters[both], table.n_clusters, coefficient)
        blocks.append((at, sums, [pairs[i] for i in at], int(both.sum())))

    def difference(swaps: np.ndarray) -> np.ndarray:
        out = np.full((len(swaps), len(pairs)), nan)
        for at, sums, some, n in blocks:
            out[:, at] = _differences(swaps, sums, some, n)
        return out

    width = 10 * len(pairs) + 3 * len(table.metrics)
    return _test(estimate, difference, table.n_clusters, rng, n_permutations, width)


def _alike(cells: list[_Cell]) -> list[list[int]]:
    """Numbers of the pairs that are compared on the same items, together: they share their sums."""
    groups: dict[bytes, list[int]] = {}
    for i, cell in enumerate(cells):
        if not cell.reason:
            groups.setdefault(cell.both.tobytes(), []).append(i)
    return list(groups.values())


def _permutation_columns(table: Table, test: Permutation, cells: list[_Cell] | None) -> dict[str, object]:
    note = f"{'all' if test.exact else 'random'} {len(test.null)} arrangements"
    where = {"estimate": test.observed, "p_value": test.p_value, "resample_unit": table.unit}
    if cells is None:
        missing = "undefined for a label"
        note = [note if np.isfinite(v) else missing for v in test.observed]
        return where | {"note": note, "n_clusters": table.n_clusters}
    n = [len(np.unique(table.clusters[c.both])) for c in cells]
    return where | {"note": [c.reason or note for c in cells], "n_clusters": n, "n": [int(c.both.sum()) for c in cells]}


def _williams_columns(cells: list[_Cell]) -> dict[str, object]:
    n = [int(c.both.sum()) for c in cells]
    p = [nan if c.reason else williams(*c.r, m)[1] for c, m in zip(cells, n, strict=True)]
    none = "the three correlations leave no residual variance, or fewer than 4 items"
    note = [c.reason or (none if np.isnan(v) else None) for c, v in zip(cells, p, strict=True)]
    estimate = [nan if c.reason else c.r[0] - c.r[1] for c in cells]
    return {"estimate": estimate, "p_value": p, "resample_unit": "item", "note": note, "n": n}


def _rows(table: Table, pairs: list, coefficient: str, test: str, columns: dict, **keys: str) -> list[dict]:
    """Result rows of all pairs for one test, with Holm's adjustment over the pairs."""
    found = pd.DataFrame(columns, index=range(len(pairs)))
    found["p_adjusted"] = adjust(found["p_value"].to_numpy(float), "holm")
    keys = keys | {"coefficient": coefficient, "test": test}
    found["metric"] = [table.metrics[a] for a, _ in pairs]
    found["condition"] = [condition(against=table.metrics[b], **keys) for _, b in pairs]
    return found.assign(family="pairs of metrics, holm").to_dict("records")
