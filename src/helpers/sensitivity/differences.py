"""Differences between systems with intervals: for other dialogues and, where annotators are known, other annotators.

The permutation tests of `system_tests` generalise to other dialogues judged by the same people. Here the variance of a
difference is that of scores clustered by session and by annotator (`stats.clusters`), and systems judged in the same
sessions or by the same people are compared as pairs.

References
----------
Cameron, Gelbach and Miller 2011, Journal of Business and Economic Statistics 29, 238-249.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.special import stdtr, stdtrit

from helpers.annotations.dialogue_values import one_side
from helpers.annotations.scores import known_people
from helpers.stats.clusters import LEAST_DF, covariance, effective_number, variances
from helpers.study.labels import METHODS

#: name of the test among those of `system_difference`
TEST = "clustered_t"


def differences(
    annotations: pd.DataFrame, method: str, systems: list[str], *, people: bool = True, confidence: float = 0.95
) -> pd.DataFrame:
    """Every pair of systems on every label: difference of means, t interval and p-value.

    A dialogue counts once, with the mean of its items, and an item once, with the mean of its annotations; so does a
    pair of dialogues that is compared.

    Parameters
    ----------
    annotations : DataFrame
        Of one corpus and evaluator group, with `session`; dialogues without one are sessions of their own.
    systems : list of str
        Which are compared; the first of a pair comes first here.
    people : bool
        Treat annotators as a sample too, for labels whose annotators are known.

    Returns
    -------
    DataFrame of rows `system_difference` with `test` of TEST, `se` and `df` besides; `n` counts dialogues (pairs),
    `n_clusters` the fewer of sessions and annotators of either system. df is one less than their effective number
    (`clusters.effective_number`), or Welch's if the systems share neither.
    """
    rows = annotations[annotations["method"] == method]
    rows = rows[rows["system"].isin(systems)]
    if METHODS[method].unit == "pair":
        rows = one_side(rows[rows["system_b"].isin(systems) & (rows["system"] != rows["system_b"])])
    kind = _pairs if METHODS[method].unit == "pair" else _systems
    out = [
        pd.DataFrame({"method": method, "label": label, "people": both, **kind(part, systems, both)})
        for label, both, part in _labels(rows.assign(weight=_weights(rows)), people)
    ]
    return _rows(pd.concat(out, ignore_index=True), METHODS[method].unit, confidence) if out else pd.DataFrame()


def _labels(rows: pd.DataFrame, people: bool) -> Iterator[tuple[str, bool, pd.DataFrame]]:
    """Each label, whether its annotators count as a sample, and its annotations."""
    for label, part in rows.groupby("label", sort=False):
        yield label, people and known_people(part), part


def _weights(rows: pd.DataFrame) -> np.ndarray:
    """(annotations,) so that every dialogue or pair counts once per label, and every item in it alike."""
    dialogue = rows.groupby(["label", "dialogue", "dialogue_b"], dropna=False, sort=False).ngroup()
    item = rows.groupby([dialogue, rows["turn"]], dropna=False, sort=False).ngroup()
    of_item = 1 / np.bincount(item)[item]
    return of_item / np.bincount(dialogue, of_item)[dialogue]


def _systems(part: pd.DataFrame, systems: list[str], people: bool) -> dict[str, object]:
    """Columns, a row for each pair of the systems that were judged."""
    session = pd.factorize(part["session"].fillna(part["dialogue"]))[0]
    code, judged = pd.factorize(part["system"])
    present = [s for s in systems if s in judged]
    code = pd.Index(present).get_indexer(judged)[code]
    clusters = [session, pd.factorize(part["annotator"])[0]][: 1 + people]
    means, cov, fewest = covariance(code, part["score"].to_numpy(float), part["weight"].to_numpy(), clusters)
    effective = effective_number(code, part["weight"].to_numpy(), clusters)
    sizes = np.bincount(code, part["weight"])
    shared = sum(_shared(code, c, len(present)) for c in clusters)
    a, b = np.triu_indices(len(present), 1)
    alone = np.diag(cov)
    welch = _welch(alone[a], alone[b], effective[a], effective[b])
    names = np.array(present, dtype=object)
    return {
        "system": names[a],
        "system_b": names[b],
        "n": np.rint(sizes[a] + sizes[b]).astype(int),
        "per_system": 2 / (1 / sizes[a] + 1 / sizes[b]),
        "unit": "session",
        "estimate": means[a] - means[b],
        "variance": alone[a] + alone[b] - 2 * cov[a, b],
        "n_clusters": np.minimum(fewest[a], fewest[b]),
        "df": np.where(shared[a, b] > 0, np.minimum(effective[a], effective[b]) - 1, welch),
    }


def _shared(code: np.ndarray, clusters: np.ndarray, m: int) -> np.ndarray:
    """(m, m) how many clusters each two systems share."""
    cells = np.unique(clusters.astype(np.int64) * m + code)
    present = sparse.csr_array((np.ones(len(cells)), (cells // m, cells % m)), shape=(clusters.max() + 1, m))
    return (present.T @ present).toarray()


def _welch(first: np.ndarray, second: np.ndarray, n_first: np.ndarray, n_second: np.ndarray) -> np.ndarray:
    """Welch's degrees of freedom of the difference of two independent means with these variances."""
    usable = (np.minimum(n_first, n_second) >= 2) & (first + second > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        df = (first + second) ** 2 / (first**2 / (n_first - 1) + second**2 / (n_second - 1))
    return np.where(usable, df, 0.0)


def _pairs(part: pd.DataFrame, systems: list[str], people: bool) -> dict[str, object]:
    """Columns, a row for each pair of systems that were compared."""
    place = pd.Index(systems)
    one, two = place.get_indexer(part["system"]), place.get_indexer(part["system_b"])
    low, high = np.minimum(one, two), np.maximum(one, two)
    score = np.where(one < two, 1, -1) * part["score"].to_numpy(float)
    code, pairs = pd.factorize(low * len(systems) + high, sort=True)
    pair = part.groupby(["dialogue", "dialogue_b"], sort=False).ngroup().to_numpy()
    session = part["session"].fillna(pd.Series(pair, part.index).astype(str))
    unit = "session" if session.nunique() < pair.max() + 1 else "pair"
    clusters = [pd.factorize(session)[0], pd.factorize(part["annotator"])[0]][: 1 + people]
    means, variance, fewest = variances(code, score, part["weight"].to_numpy(), clusters)
    effective = effective_number(code, part["weight"].to_numpy(), clusters)
    sizes = np.bincount(code, part["weight"])
    names = np.array(systems, dtype=object)
    return {
        "system": names[pairs // len(systems)],
        "system_b": names[pairs % len(systems)],
        "n": np.rint(sizes).astype(int),
        "per_system": sizes,
        "unit": unit,
        "estimate": means,
        "variance": variance,
        "n_clusters": fewest,
        "df": effective - 1,
    }


def _rows(found: pd.DataFrame, unit: str, confidence: float) -> pd.DataFrame:
    df = found["df"].to_numpy(float)
    usable = (df >= LEAST_DF) & (found["variance"].to_numpy() > 1e-12)
    se = np.where(usable, np.sqrt(np.maximum(found["variance"], 0)), np.nan)
    t, half = found["estimate"] / se, stdtrit(np.maximum(df, LEAST_DF), (1 + confidence) / 2) * se
    kind = np.where(usable, "t", "not_estimable")
    over = np.where(found["people"], found["unit"] + " and annotator", found["unit"])
    return found.drop(columns=["variance", "unit", "people"]).assign(
        statistic="system_difference",
        test=TEST,
        level="pair" if unit == "pair" else "dialogue",
        se=se,
        ci_low=found["estimate"] - half,
        ci_high=found["estimate"] + half,
        ci_kind=kind,
        p_value=2 * stdtr(np.maximum(df, LEAST_DF), -np.abs(t)),
        resample_unit=over,
        note=np.where(usable, None, "one cluster, or no spread"),
    )
