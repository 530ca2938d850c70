"""Placebo worlds: studies with the design of a real one, in which no system differs from another.

Who judged what stays as it was. Sessions, dialogues, items, annotators, and what each annotator makes of each system
are drawn anew in every world, with the variances estimated from the study: dialogues and annotators are both samples.
Each system keeps the shape of its distribution of scores, and with it its variance, but all have one mean.

References
----------
Searle, Casella and McCulloch 1992, Variance Components, section 5.2 (quadratic forms equated to their expectations).
Cario and Nelson 1997, Modeling and generating random vectors with arbitrary marginal distributions and correlation
matrix, technical report, Northwestern University (normal variables cut at quantiles).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import optimize, sparse
from scipy.special import ndtr, ndtri

from judgebook.study.labels import METHODS
from judgebook.study.schema import ITEM

#: what scores share, each kind within the one before it; then what they share through people
NESTED, PEOPLE = ("session", "side", "dialogue", "item"), ("annotator", "annotator_of_system")
#: share of the distribution over all systems that is mixed into each system's own, so that every score is possible
MIXED = 0.05
#: numbers drawn at once
CHUNK = 2_000_000
#: of so few cuts, comparing with each takes less time than a search
FEW_CUTS = 8
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(60)
_GRID = np.concatenate([np.linspace(0, 0.9, 46), np.linspace(0.91, 0.999, 20)])


@dataclass(frozen=True)
class AnnotationDesign:
    """Who judged what, for one method and label of one corpus and group; n annotations.

    Attributes
    ----------
    score : (n,)
        As observed; of a comparison, positive where the first of the two systems (in the order of `systems`) won.
    system : (n,)
        Position in `kinds`.
    kinds : list of (int, int)
        Positions in `systems`: a system and -1, or the two systems of a comparison.
    factors : dict from str to (n,)
        Numbers from 0, by those of NESTED and PEOPLE that the study has and that can be distinguished.
    row : (n,)
        The dialogue (pair) of each annotation, numbers from 0.
    weight : (n,)
        One over the number of annotations of the item.
    session, row_kind : (rows,)
        The session of each row, its own number where there is none, and its position in `kinds`.
    """

    method: str
    label: str
    systems: list[str]
    score: np.ndarray
    system: np.ndarray
    kinds: list[tuple[int, int]]
    factors: dict[str, np.ndarray]
    row: np.ndarray
    weight: np.ndarray
    session: np.ndarray
    row_kind: np.ndarray
    annotator: np.ndarray | None

    @property
    def pairwise(self) -> bool:
        return METHODS[self.method].unit == "pair"

    @property
    def n_annotators(self) -> int | None:
        """Known people; None where they are not known."""
        return None if self.annotator is None else int(self.annotator.max()) + 1

    @property
    def shared_sessions(self) -> bool:
        """Whether a system has several dialogues (a pair of systems several comparisons) in one session."""
        return bool(pd.MultiIndex.from_arrays([self.session, self.row_kind]).has_duplicates)

    @property
    def ratings(self) -> float:
        """Annotations per item."""
        return float(len(self.weight) / self.weight.sum())

    def row_values(self, scores: np.ndarray) -> np.ndarray:
        """(k, rows): the value of each dialogue (pair), the mean over its items of the mean of their annotations.

        scores : (k, n).
        """
        size = np.bincount(self.row, self.weight)
        out = np.zeros((len(scores), len(size)))
        order = np.argsort(self.row, kind="stable")
        starts = np.flatnonzero(np.r_[True, np.diff(self.row[order]) > 0])
        out[:] = np.add.reduceat(scores[:, order] * self.weight[order], starts, axis=1) / size
        return out


def design(rows: pd.DataFrame, systems: list[str]) -> AnnotationDesign | None:
    """The design of the annotations of one method and label; None without two kinds of systems or two scores.

    rows : of one corpus and group, by people. systems : in their order; others are left out.
    """
    method, label = rows["method"].iloc[0], rows["label"].iloc[0]
    pairwise = METHODS[method].unit == "pair"
    place = {s: i for i, s in enumerate(systems)}
    rows = rows[rows["system"].isin(systems) & (rows["system_b"].isin(systems) if pairwise else True)]
    if pairwise:
        rows = rows[rows["system"] != rows["system_b"]]
    if rows.empty or np.ptp(rows["score"].to_numpy(float)) == 0:
        return None
    a = rows["system"].map(place).to_numpy()
    b = rows["system_b"].map(place).to_numpy() if pairwise else np.full(len(rows), -1)
    turned = pairwise & (a > b)
    low, high = (np.minimum(a, b), np.maximum(a, b)) if pairwise else (a, b)
    kinds, code = np.unique(np.column_stack([low, high]), axis=0, return_inverse=True)
    code = code.reshape(-1)  # NumPy 2.0 returns a column
    if not pairwise and len(kinds) < 2:
        return None
    row = rows.groupby(["dialogue", "dialogue_b"], dropna=False, sort=True).ngroup().to_numpy()
    session = rows["session"].where(rows["session"].notna(), rows["dialogue"].astype(str) + "\x1f").to_numpy(object)
    item = rows.groupby([c for c in ITEM if c in rows], dropna=False, sort=False).ngroup().to_numpy()
    people = pd.factorize(rows["annotator"])[0]
    who = people if rows["annotator_known"].all() and people.max() > 0 else None
    codes = {"session": pd.factorize(session)[0], "dialogue": row, "item": item}
    codes["side"] = _both(codes["session"], code)
    if who is not None:
        codes["annotator"] = who
        codes["annotator_of_system"] = _both(who, code)
    if pairwise:  # which side a person prefers is a matter of the pair: the orientation is arbitrary
        codes.pop("annotator", None)
    first = np.unique(row, return_index=True)[1]
    return AnnotationDesign(
        method, label, systems, np.where(turned, -1.0, 1.0) * rows["score"].to_numpy(float), code,
        [(int(a), int(b)) for a, b in kinds], _distinct(codes, len(rows)), row,
        (1 / rows.groupby(item)["score"].transform("size")).to_numpy(), codes["session"][first], code[first], who,
    )  # fmt: skip


def _distinct(codes: Mapping[str, np.ndarray], n: int) -> dict[str, np.ndarray]:
    """The factors that neither repeat another one nor have a level for each annotation."""
    out: dict[str, np.ndarray] = {}
    for name in ("dialogue", "session", "side", "item", *PEOPLE):  # of two that are alike the first is kept
        if name in codes and 1 < codes[name].max() + 1 < n:
            code = codes[name]
            same = [f for f in out.values() if f.max() == code.max() == _both(f, code).max()]
            if not same:
                out[name] = code
    return {name: out[name] for name in (*NESTED, *PEOPLE) if name in out}


def _both(f: np.ndarray, g: np.ndarray) -> np.ndarray:
    return pd.factorize(f.astype(np.int64) * (int(g.max()) + 1) + g)[0]


def variances(
    score: np.ndarray, system: np.ndarray, factors: Mapping[str, np.ndarray], matrix: np.ndarray | None = None
) -> dict[str, float]:
    """Variance of each factor, and of the residual, of scores with a mean for each system.

    For each factor the sum of products of residuals over pairs of scores that share a level is set equal to its
    expectation; the equations are solved with variances of at least 0. With balanced data these are the estimates of
    the analysis of variance.

    matrix : `expectations` of the design, where they are known.
    """
    matrix = expectations(system, factors) if matrix is None else matrix
    size = np.bincount(system).astype(float)
    r = score - (np.bincount(system, score) / np.maximum(size, 1))[system]
    alone = np.sum(r**2)
    target = np.array([*(np.sum(np.bincount(code, r) ** 2) - alone for code in factors.values()), alone])
    scale = np.maximum(np.abs(matrix).max(axis=1), 1.0)
    estimates = optimize.nnls(matrix / scale[:, None], target / scale)[0]
    return dict(zip([*factors, "residual"], estimates.tolist(), strict=True))


def expectations(system: np.ndarray, factors: Mapping[str, np.ndarray]) -> np.ndarray:
    """(factors + 1, factors + 1): how much each variance adds to each sum of products of `variances`."""
    n, groups = len(system), {**factors, "residual": np.arange(len(system))}
    size = np.bincount(system).astype(float)
    of_system = sparse.csr_array((np.ones(n), (system, np.arange(n))), shape=(len(size), n))
    shared = {name: _shares(code, system) for name, code in groups.items()}  # (n, systems): scores alike by system
    sums = {name: of_system @ table for name, table in shared.items()}
    matrix = np.zeros((len(groups), len(groups)))
    for i, (f, code) in enumerate(groups.items()):
        # K = G - I, pairs of different scores; the residual itself has K = I
        less = 0.0 if f == "residual" else 1.0
        inner = sums[f] - less * np.diag(size)
        for j, (g, other) in enumerate(groups.items()):
            together = np.bincount(_both(code, other)).astype(float)
            trace = np.sum(together**2) - less * n
            pairs_within = np.einsum("ns,ns->s", shared[f], shared[g]) - less * np.diag(sums[g])
            matrix[i, j] = trace - 2 * np.sum(pairs_within / size) + np.sum(inner * sums[g] / np.outer(size, size))
    return matrix


def _shares(code: np.ndarray, system: np.ndarray) -> np.ndarray:
    m = int(system.max()) + 1
    table = np.bincount(code * m + system, minlength=(int(code.max()) + 1) * m).reshape(-1, m)
    return table[code].astype(float)


@dataclass(frozen=True)
class PlaceboWorld:
    """What is drawn from: see the module.

    loadings : (kinds, factors) of standard normal effects; the residual fills up to variance 1. values : possible
    scores. cuts : (kinds, values - 1) where the sum is cut. mean : of every kind. shares : of each factor in the
    variance of a score, as estimated.
    """

    design: AnnotationDesign
    loadings: np.ndarray
    values: np.ndarray
    cuts: np.ndarray
    mean: float
    shares: dict[str, float]

    def draw(self, n_runs: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Scores of `n_runs` worlds, in chunks (k, n)."""
        d, n = self.design, len(self.design.score)
        size = max(1, CHUNK // n)
        noise = np.sqrt(np.maximum(1 - np.sum(self.loadings**2, axis=1), 0.0)).astype(np.float32)[d.system]
        for start in range(0, n_runs, size):
            k = min(size, n_runs - start)
            z = rng.standard_normal((k, n), dtype=np.float32) * noise
            for j, code in enumerate(d.factors.values()):
                effect = rng.standard_normal((k, int(code.max()) + 1), dtype=np.float32)
                effect = effect.take(code, axis=1)
                effect *= self.loadings[d.system, j].astype(np.float32)
                z += effect
            yield self._cut(z)

    def _cut(self, z: np.ndarray) -> np.ndarray:
        """(k, n) scores of sums of effects."""
        system = self.design.system
        if self.cuts.shape[1] <= FEW_CUTS:
            level = np.zeros(z.shape, dtype=np.int8)
            for cut in self.cuts.T:
                level += z > cut[system]
            return self.values.take(level)
        out = np.empty(z.shape)
        for kind, cuts in enumerate(self.cuts):
            at = np.flatnonzero(system == kind)
            out[:, at] = self.values[np.searchsorted(cuts, z[:, at])]
        return out


def world(d: AnnotationDesign) -> PlaceboWorld:
    """The placebo world of a design: variances and distributions as estimated, means all equal."""
    values, level = np.unique(d.score, return_inverse=True)
    kinds = len(d.kinds)
    if d.pairwise:  # as many wins as losses
        values = np.unique(np.concatenate([values, -values]))
        level = np.searchsorted(values, d.score)
    counts = np.zeros((kinds, len(values)))
    np.add.at(counts, (d.system, level), 1.0)
    overall = counts.sum(axis=0) / counts.sum()
    overall = (overall + overall[::-1]) / 2 if d.pairwise else overall
    own_shares = (1 - MIXED) * counts / counts.sum(axis=1, keepdims=True) + MIXED * overall
    mean = 0.0 if d.pairwise else float(overall @ values)
    p = np.stack([tilted(row, values, mean) for row in own_shares])
    cuts = ndtri(np.clip(np.cumsum(p, axis=1)[:, :-1], 1e-12, 1 - 1e-12))
    estimated = variances(d.score, d.system, d.factors)
    total = max(sum(estimated.values()), 1e-300)
    shares = {name: estimated[name] / total for name in d.factors}
    loadings = np.stack([_loadings(d, kind, shares, values, cuts[kind]) for kind in range(kinds)])
    return PlaceboWorld(d, loadings, values, cuts, mean, shares)


def tilted(p: np.ndarray, values: np.ndarray, mean: float) -> np.ndarray:
    """The distribution with the given mean that is closest to p (by Kullback and Leibler): p times exp(theta value)."""
    x = (values - values[0]) / np.ptp(values)

    def probabilities(theta: float) -> np.ndarray:
        w = np.log(np.maximum(p, 1e-300)) + theta * x
        w = np.exp(w - w.max())
        return w / w.sum()

    far = 200.0 if (probabilities(-200.0) @ values < mean < probabilities(200.0) @ values) else 1e4
    theta = optimize.brentq(lambda t: probabilities(t) @ values - mean, -far, far)
    return probabilities(theta)


def _loadings(
    d: AnnotationDesign, kind: int, shares: dict[str, float], values: np.ndarray, cuts: np.ndarray
) -> np.ndarray:
    """(factors,) loadings of the normal effects that give the scores of one kind the correlations wanted.

    What dialogues of a system have in common is its own; the other shares are those of all systems.
    """
    rows = d.system == kind
    shares = dict(shares)
    if "dialogue" in shares:
        inside = {f: pd.factorize(d.factors[f][rows])[0] for f in NESTED[2:] if f in d.factors}
        alone = _distinct(inside, int(rows.sum()))
        if "dialogue" in alone and np.ptp(d.score[rows]) > 0:
            estimated = variances(d.score[rows], np.zeros(rows.sum(), dtype=int), alone)
            above = sum(shares.get(f, 0.0) for f in NESTED[:2])
            # the dialogues of one system differ by session and side, too
            shares["dialogue"] = max(estimated["dialogue"] / max(sum(estimated.values()), 1e-300) - above, 0.0)
    estimated = latent(shares, correlations(values, cuts))
    square = np.array([estimated[name] for name in d.factors])
    return np.sqrt(square * min(1.0, 0.98 / max(square.sum(), 1e-300)))


def latent(shares: Mapping[str, float], curve: np.ndarray) -> dict[str, float]:
    """Variance of the normal effect of each factor, so that scores correlate as `shares` says: of NESTED and PEOPLE.

    curve : from `correlations`.
    """
    out = {}
    for chain in (NESTED, PEOPLE):
        sum_of, before = 0.0, 0.0
        for name in (f for f in chain if f in shares):
            sum_of += shares[name]
            now = float(np.interp(sum_of, curve, _GRID))
            out[name], before = now - before, now
    return out


def visible(effects: Mapping[str, float], curve: np.ndarray) -> dict[str, float]:
    """The opposite of `latent`: share of each factor in the variance of scores, given those of the normal effects."""
    out = {}
    for chain in (NESTED, PEOPLE):
        sum_of, before = 0.0, 0.0
        for name in (f for f in chain if f in effects):
            sum_of += effects[name]
            now = float(np.interp(sum_of, _GRID, curve))
            out[name], before = now - before, now
    return out


def correlations(values: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """Correlation of two scores whose normal variables correlate by each of _GRID: the variance of the conditional mean
    given what they share."""
    steps = np.diff(values)
    with np.errstate(divide="ignore"):
        z = (np.sqrt(_GRID)[:, None, None] * _NODES[:, None] - cuts) / np.sqrt(1 - _GRID)[:, None, None]
    expected = ndtr(z) @ steps  # (grid, nodes), less the smallest value
    w = _WEIGHTS / _WEIGHTS.sum()
    p = np.diff(np.concatenate([[0.0], ndtr(cuts), [1.0]]))
    variance = p @ values**2 - (p @ values) ** 2
    out = ((expected**2) @ w - (expected @ w) ** 2) / max(variance, 1e-300)
    return np.maximum.accumulate(out)
