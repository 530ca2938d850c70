"""Does it matter who judged? How much of the variance of judgements is due to annotators, label by label.

Of groups whose annotators are a sample of others (`annotations.population`): strictness, preferences for systems, the
test that there is neither, and how often other annotators would order two systems the other way round.

A judgement is the mean of its system, plus the strictness of its annotator, plus what the annotator thinks of the
system in particular, plus effects of its dialogue and noise. Dialogues (or sessions) are taken out as fixed effects, so
that nothing is assumed of them. Whether annotators differ at all is then an F test, which is exact with normal noise
whatever the design; the interval of the variance of preferences inverts such a test. That of strictness is approximate
(Satterthwaite's degrees of freedom), because preferences are part of its noise.

References
----------
Seely and El-Bassiouni 1983, Annals of Statistics 11, 197-201 (Wald's exact F test). Harville and Fenech 1985,
Biometrics 41, 137-152 (the interval). Satterthwaite 1946, Biometrics Bulletin 2, 110-114. Goodman 1992, Statistics in
Medicine 11, 875-879 (the chance that a repetition has the other sign).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy import optimize, sparse
from scipy.special import fdtrc, fdtri, ndtr

from judgebook.annotations.cells import in_turn
from judgebook.annotations.families import adjust_rows
from judgebook.annotations.population import Population
from judgebook.codes import distinct
from judgebook.study.labels import METHODS
from judgebook.study.results import Results, collect
from judgebook.study.schema import SYSTEM_CELL

CELL = SYSTEM_CELL[:-1]
PARTS = ("strictness", "preference")
#: share of judgements by annotators with one session, alone in it, from which annotators and sessions are one thing
COINCIDE = 0.5


def who_judged(
    annotations: pd.DataFrame, populations: Mapping[tuple[str, str], Population], *, confidence: float = 0.95
) -> Results:
    """`annotators_differ`, `annotator_share` (by `part`) and `order_reversal` of each label.

    annotations : of ranked systems, from `analysis.chosen`. Returns rows only of the groups whose annotators are a
    sample; p-values are adjusted over the labels of a group; a label that cannot be analysed has one row, whose note
    says why.
    """
    several = [key for key, one in populations.items() if one.others]
    sampled = annotations[pd.MultiIndex.from_frame(annotations[["corpus", "group"]]).isin(several)]
    rows = collect(
        row for key, part in in_turn(sampled, CELL) if _ranked(part) for row in _of_label(key, part, confidence)
    )
    if len(rows["annotators_differ"]):
        tested = adjust_rows(rows["annotators_differ"], ["corpus", "group"], "labels of one group")
        rows["annotators_differ"] = tested
    return rows


def _ranked(part: pd.DataFrame) -> bool:
    return len(distinct(part["system"], part["system_b"])) > 1


def _of_label(key: tuple, part: pd.DataFrame, confidence: float) -> Iterator[dict[str, Any]]:
    rows, block, apart = _units(part)
    paired = METHODS[key[1]].unit == "pair"
    head: dict[str, Any] = {
        **dict(zip(CELL, key, strict=True)),
        "n": len(rows),
        "n_annotators": rows["annotator"].nunique(),
        "level": "pair" if paired else "dialogue",
    }
    effects: Effects | str = f"most annotators judged one {block} each, alone"
    if apart:
        effects = annotator_effects(
            rows["score"].to_numpy(float),
            rows["one"].to_numpy(),
            pd.factorize(rows["annotator"])[0],
            pd.factorize(rows["block"])[0],
            system_b=rows["two"].to_numpy() if paired else None,
            confidence=confidence,
        )
    if isinstance(effects, str):
        yield head | {"statistic": "annotators_differ", "note": effects}
        return
    yield head | {"statistic": "annotators_differ", "estimate": effects.f, "p_value": effects.p_value}
    for name in PARTS:
        if (one := getattr(effects, name)) is not None:
            share, low, high = effects.share(one)
            ends = {"estimate": share, "ci_low": low, "ci_high": high, "ci_kind": "f", "resample_unit": "annotator"}
            yield head | {"statistic": "annotator_share", "part": name} | ends
    yield head | {"statistic": "order_reversal", "estimate": float(np.median(_reversals(rows, effects, paired)))}


def _units(part: pd.DataFrame) -> tuple[pd.DataFrame, str, bool]:
    """One row per annotator and dialogue (pair), with `one` and `two`, codes of systems, and `block`, which is taken
    out; what that is; and whether the effects of annotators and blocks can be separated."""
    systems = pd.Index(sorted(distinct(part["system"], part["system_b"])))
    shared = next((c for c in ("session", "context") if c in part and part[c].notna().all()), None)
    one, two = systems.get_indexer(part["system"]), systems.get_indexer(part["system_b"])
    swap = (two >= 0) & (two < one)
    item = part["dialogue"].astype(str) if not (two >= 0).any() else part["pair"].astype(str)
    rows = pd.DataFrame({
        "item": pd.factorize(item)[0], "annotator": part["annotator"].to_numpy(), "one": np.where(swap, two, one),
        "two": np.where(swap, one, two), "score": np.where(swap, -1, 1) * part["score"].to_numpy(float),
        "shared": pd.factorize(part[shared])[0] if shared else 0,
    })  # fmt: skip
    rows = rows.groupby(["item", "annotator", "one", "two", "shared"], sort=False)["score"].mean().reset_index()
    again = rows.duplicated("item", keep=False)
    if again.mean() >= 0.5:
        return rows.assign(block=rows["item"]), "dialogue", True
    rows = rows.drop_duplicates("item")
    alone = rows.groupby("shared")["annotator"].transform("nunique") == 1
    alone &= rows.groupby("annotator")["shared"].transform("nunique") == 1
    return rows.assign(block=rows["shared"]), shared or "", not shared or alone.mean() < COINCIDE


def _reversals(rows: pd.DataFrame, effects: Effects, paired: bool) -> np.ndarray:
    """The chance for every pair of systems (that was compared)."""
    preference = effects.preference.variance if effects.preference else 0.0
    strictness = effects.strictness.variance if effects.strictness else 0.0
    keys = ["one", "two"] if paired else ["one"]
    counts = rows.pivot_table(index=keys, columns="annotator", values="score", aggfunc="size", fill_value=0)
    table = counts.to_numpy(float)
    means, weight = rows.groupby(keys)["score"].mean().to_numpy(), table / table.sum(axis=1, keepdims=True)
    if paired:
        return reversal(means, 2 * preference * np.sum(weight**2, axis=1))
    i, j = np.triu_indices(len(means), 1)
    squares = np.sum(weight**2, axis=1)
    between = np.sum((weight[i] - weight[j]) ** 2, axis=1)
    return reversal(means[i] - means[j], preference * (squares[i] + squares[j]) + strictness * between)


#: residual degrees of freedom below which nothing is said
LEAST_RESIDUAL = 8
#: most combinations of annotator and system: the time grows with their cube
MOST_CELLS = 1_200
#: eigenvalues per score that are 0 but for rounding: of what dialogues or sessions already explain
_NULL = 1e-9


@dataclass(frozen=True)
class VarianceEstimate:
    """A variance of effects: estimate, and the ends of its interval."""

    variance: float
    low: float
    high: float


@dataclass(frozen=True)
class Effects:
    """What depends on annotators.

    f, p_value : of the test that nothing does. within : variance of judgements of one system (of one pair of systems).
    strictness : None of comparisons, and where each session has one annotator, so that it is taken out with sessions.
    """

    f: float
    p_value: float
    within: float
    preference: VarianceEstimate | None
    strictness: VarianceEstimate | None

    def share(self, part: VarianceEstimate) -> tuple[float, float, float]:
        """Of the variance of judgements of one system: the part's share and its interval."""
        rest = max(self.within - part.variance, 1e-12)
        share, low, high = (v / (v + rest) for v in (part.variance, part.low, part.high))
        return share, low, high


@dataclass(frozen=True)
class _Factor:
    """A factor after others were taken out: (q,) eigenvalues of its Gram matrix, and coordinates of the scores, whose
    variances are noise + eigenvalue x variance of the factor."""

    values: np.ndarray
    coordinates: np.ndarray
    vectors: np.ndarray


def annotator_effects(
    score: np.ndarray,
    system: np.ndarray,
    annotator: np.ndarray,
    block: np.ndarray,
    system_b: np.ndarray | None = None,
    confidence: float = 0.95,
) -> Effects | str:
    """How much scores depend on annotators, or why that cannot be said.

    Parameters
    ----------
    score : (n,)
        One per annotator and dialogue (pair of dialogues).
    system, annotator : (n,)
        Codes from 0.
    block : (n,)
        Codes of what is taken out: dialogues that several annotators judged, or sessions or contexts that systems
        share; all 0 where there is none.
    system_b : (n,), optional
        Of comparisons: the other system, with a larger code than the first.
    """
    n, m = len(score), int(system.max() if system_b is None else system_b.max()) + 1
    kinds = system if system_b is None else np.unique(system * m + system_b, return_inverse=True)[1]
    names, cell = np.unique(_cells(annotator, system, system_b, m), return_inverse=True)
    if len(names) > MOST_CELLS:
        return f"more than {MOST_CELLS:,} combinations of annotators and systems are too many for this analysis"
    rows, sign = np.arange(n), np.ones(n)
    if system_b is None:
        cells, people = sparse.csr_array((sign, (rows, cell))), sparse.csr_array((sign, (rows, annotator)))
    else:
        two_sided = np.concatenate([sign, -sign]), (np.concatenate([rows, rows]), cell)
        cells, people = sparse.csr_array(two_sided), sparse.csr_array((n, 0))
    of_kinds = sparse.csr_array((sign, (rows, kinds)))
    total = _spread(score, kinds)
    centred = sparse.csr_array((score - score.mean())[:, None])
    parts = [of_kinds, people, cells, centred]
    gram, n_blocks = _gram(sparse.hstack(parts, format="csr"), block)
    ends = np.cumsum([0, *(part.shape[1] for part in parts)])
    places = [np.arange(a, b) for a, b in pairwise(ends)]
    return _from_inner_products(gram, places, n, n_blocks, total, confidence)


def _cells(annotator: np.ndarray, system: np.ndarray, system_b: np.ndarray | None, m: int) -> np.ndarray:
    """Annotators with systems; of comparisons with the first, then with the second."""
    first = annotator.astype(np.int64) * m + system
    return first if system_b is None else np.concatenate([first, annotator.astype(np.int64) * m + system_b])


def _spread(score: np.ndarray, kinds: np.ndarray) -> float:
    """Pooled variance of scores within kinds."""
    n = np.bincount(kinds)
    residual = score - (np.bincount(kinds, score) / n)[kinds]
    return float(residual @ residual / max(len(score) - len(n), 1))


def _gram(columns: sparse.csr_array, block: np.ndarray) -> tuple[np.ndarray, int]:
    """Inner products of columns less their means in blocks, and the number of blocks."""
    code = np.unique(block, return_inverse=True)[1]
    size = np.bincount(code)
    mean = sparse.csr_array((1 / np.sqrt(size[code]), (code, np.arange(len(code)))))
    inside = mean @ columns
    return (columns.T @ columns - inside.T @ inside).toarray(), len(size)


def _from_inner_products(
    gram: np.ndarray, places: list[np.ndarray], n: int, n_blocks: int, total: float, confidence: float
) -> Effects | str:
    kinds, people, cells, y = places
    left, rank = _taken_out(gram, kinds, n)
    joint = _factor(left, cells, y, n)
    free = n - n_blocks - rank - len(joint.values)
    explained, noise = joint.coordinates @ joint.coordinates, left[y[0], y[0]]
    if free < LEAST_RESIDUAL or not len(joint.values):
        return "too few judgements of a system by the same annotator"
    if total <= 1e-12 or noise - explained <= 1e-9 * total:
        return "scores do not vary"
    noise = (noise - explained) / free
    f = explained / len(joint.values) / noise
    after, _ = _taken_out(left, people, n)
    preference = _factor(after, cells, y, n)
    error = np.full(len(preference.values), noise)
    liked = _part(preference, error, free, confidence) if len(preference.values) else None
    strict = _factor(left, people, y, n) if len(people) else None
    if strict is None or not len(strict.values):
        return Effects(float(f), float(fdtrc(len(joint.values), free, f)), total, liked, None)
    spill = (strict.vectors.T @ left[np.ix_(people, cells)]) ** 2
    added = spill.sum(axis=1) / strict.values * (liked.variance if liked else 0.0)
    mean, df = float(np.mean(added)), max(len(preference.values), 1)
    df = (noise + mean) ** 2 / (noise**2 / free + (mean + noise) ** 2 / df) if mean else free
    severity = _part(strict, noise + added, max(df, 1.0), confidence)
    return Effects(float(f), float(fdtrc(len(joint.values), free, f)), total, liked, severity)


def _taken_out(gram: np.ndarray, at: np.ndarray, n: int) -> tuple[np.ndarray, int]:
    """Inner products, over n scores, of what columns are beyond those at `at`, and the rank of the latter."""
    if not len(at):
        return gram, 0
    value, vector = np.linalg.eigh(gram[np.ix_(at, at)])
    real = value > _NULL * n
    across = vector[:, real].T @ gram[at]
    return gram - across.T @ (across / value[real][:, None]), int(real.sum())


def _factor(gram: np.ndarray, at: np.ndarray, y: np.ndarray, n: int) -> _Factor:
    value, vector = np.linalg.eigh(gram[np.ix_(at, at)])
    real = value > _NULL * n
    value, vector = value[real], vector[:, real]
    return _Factor(value, vector.T @ gram[at, y[0]] / np.sqrt(value), vector)


def _part(factor: _Factor, error: np.ndarray, df: float, confidence: float) -> VarianceEstimate:
    """The variance that makes coordinates as large as they are: by its expectation, and where an F test accepts it."""
    squares, q = factor.coordinates**2, len(factor.values)
    estimate = max(float((squares.sum() - error.sum()) / factor.values.sum()), 0.0)

    def beyond(x: float, quantile: float) -> float:
        return float(np.mean(squares / (error + x * factor.values))) - quantile

    tail = (1 - confidence) / 2
    ends = []
    for quantile in (float(fdtri(q, df, 1 - tail)), float(fdtri(q, df, tail))):
        top = float(np.max(squares / factor.values)) / quantile
        ends.append(optimize.brentq(beyond, 0.0, top, args=(quantile,)) if beyond(0.0, quantile) > 0 else 0.0)
    return VarianceEstimate(estimate, *ends)


def reversal(difference: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Chance that as many other annotators would order two systems the other way round.

    variance : of the difference, of what depends on annotators. Two panels differ from the truth, of which nothing is
    known beforehand, by as much each: the difference by the other panel is normal around the observed one with twice
    the variance.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(variance > 0, ndtr(-np.abs(difference) / np.sqrt(2 * variance)), 0.0)
