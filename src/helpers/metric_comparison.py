"""Is one metric closer to people than another on the same items?

`compare` swaps the two metrics' scores within whole contexts: under the null they are exchangeable, and responses to
one context stay together. Williams' test stands beside; it takes items as independent and scores as normal.

References: Deutsch, Dror and Roth 2021, A statistical analysis of summarization evaluation metrics using resampling
methods, TACL 9, 1132-1146, section 4 (permutation of standardised scores); Williams 1959, JRSS B 21, 396-399, in the
form of Steiger 1980, Psychological Bulletin 87, 245-251, eq. 7.
"""

from __future__ import annotations

from itertools import combinations
from math import nan, sqrt

import numpy as np
import pandas as pd
from scipy import stats

from helpers.correlation import MIN_ITEMS, correlate
from helpers.labels import METHODS
from helpers.metric_correlation import item_key
from helpers.resampling import Permutation, generator, permutation_test
from helpers.schema import condition

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

    Depends on the swaps through sums by cluster only, so that the cost does not grow with n. Checked against
    recomputing each arrangement with numpy, and by simulated size.
    """
    if coefficient not in ("pearson", "spearman"):
        raise ValueError(f"coefficient: expected 'pearson' or 'spearman', found {coefficient!r}")
    if coefficient == "spearman":
        x, y, human = (stats.rankdata(v) for v in (x, y, human))
    x, y, h = ((v - np.mean(v)) / np.std(v) for v in (x, y, human))
    n, n_clusters = len(x), int(clusters.max()) + 1
    parts = [np.stack([v, v * v, v * h], axis=1) for v in (x, y)]
    sums = np.zeros((2, n_clusters, 3))
    for s, part in zip(sums, parts, strict=True):
        np.add.at(s, clusters, part)
    total, swap = sums.sum(axis=(0, 1)), sums[1] - sums[0]

    def r(s: np.ndarray) -> np.ndarray:  # h has mean 0 and variance 1
        return s[:, 2] / np.sqrt(n * np.maximum(s[:, 1] - s[:, 0] ** 2 / n, 1e-12))

    def difference(swapped: np.ndarray) -> np.ndarray:
        first = sums[0].sum(axis=0) + swapped @ swap
        return r(first) - r(total - first)

    def permute(rng: np.random.Generator, k: int) -> np.ndarray:
        sizes = [len(part) for part in np.array_split(range(k), -(-k * n_clusters // 4_000_000))]
        return np.concatenate([difference(rng.integers(0, 2, (size, n_clusters)).astype(float)) for size in sizes])

    exact = None
    if n_clusters <= EXACT_CLUSTERS:
        exact = difference((np.arange(2**n_clusters)[:, None] >> np.arange(n_clusters) & 1).astype(float))
    observed = difference(np.zeros((1, n_clusters)))[0]
    return permutation_test(observed, permute, rng=rng, n_permutations=n_permutations, exact=exact)


def compare(
    joined: pd.DataFrame,
    *,
    seed: int,
    coefficient: str = "spearman",
    unit: str = "context",
    n_permutations: int = 10_000,
) -> pd.DataFrame:
    """Every two metrics against each other, label by label, on the items both score.

    joined : frame from `metric_correlation.join`. Returns result rows `correlation_difference` (first metric less the
    second, named in `against`) with the permutation p-value (`test=permutation`) and Williams' (`test=williams`); p is
    missing with the reason where a test does not apply. p-values are not adjusted for their number. unit : as in
    `metric_correlation.correlations`. Checked through `paired_permutation` and `williams`.
    """
    out = []
    for (corpus, method, label), rows in joined.groupby(["corpus", "method", "label"], sort=False):
        rows = rows.assign(item=item_key(rows))
        wide = rows.pivot_table(index="item", columns="metric", values="value", aggfunc="first", dropna=False)
        facts = rows.drop_duplicates("item").set_index("item").loc[wide.index]
        shared = facts["context"].notna() & (unit == "context")
        clusters = facts["context"].astype("string").where(shared, "\x1f" + facts.index.to_series()).to_numpy()
        head = {"corpus": corpus, "method": method, "label": label, "level": METHODS[method].unit}
        for a, b in combinations(rows["metric"].unique(), 2):
            both = (wide[[a, b]].notna().all(axis=1) & facts["human"].notna()).to_numpy(dtype=bool)
            values = (wide[a].to_numpy(float)[both], wide[b].to_numpy(float)[both], facts["human"].to_numpy()[both])
            rng = generator(seed, "paired_permutation", coefficient, corpus, method, label, a, b)
            codes = pd.factorize(clusters[both])[0]
            for test, found in _tests(*values, codes, coefficient, rng, n_permutations).items():
                keys = condition(coefficient=coefficient, against=b, test=test)
                row = {**head, "metric": a, "statistic": "correlation_difference", "condition": keys}
                out.append(
                    {**row, "n": int(both.sum()), **found, "resample_unit": unit if test != "williams" else "item"}
                )
    return pd.DataFrame(out)


def _tests(x, y, human, clusters, coefficient, rng, n_permutations) -> dict[str, dict]:
    found = [correlate(u, v, coefficient) for u, v in ((human, x), (human, y), (x, y))]
    reason = next((why for _, why in found if why), "")
    if reason or len(x) < MIN_ITEMS:
        return {t: {"estimate": nan, "p_value": nan, "note": reason} for t in ("permutation", "williams")}
    (rx, _), (ry, _), (rxy, _) = found
    test = paired_permutation(x, y, human, clusters, rng=rng, coefficient=coefficient, n_permutations=n_permutations)
    _, p = williams(rx, ry, rxy, len(x))
    note = None if np.isfinite(p) else "the three correlations leave no residual variance, or fewer than 4 items"
    return {
        "permutation": {
            "estimate": rx - ry,
            "p_value": test.p_value,
            "n_clusters": int(clusters.max()) + 1,
            "n_undefined": test.n_undefined,
            "note": f"{'all' if test.exact else 'random'} {len(test.null)} arrangements",
        },
        "williams": {"estimate": rx - ry, "p_value": p, "note": note},
    }
