"""Boards by kind of prompt: whether systems keep their order from kind to kind, and what the board is for another mix.

One fit of votes has a strength for each system in each kind; the answers' and annotators' variances are common. These
strengths y are then what all kinds share and what is special to a kind, y = theta + delta + error with delta normal:
what is special is drawn towards 0, the more so the larger its error is against its variance between kinds (partial
pooling). That variance is not known well where kinds are few: results are means over those that are likely. With a
handful of votes on an answer, errors of strengths are too wide rather than too narrow, and differences between kinds
are found too seldom.

References
----------
Jackson, Riley and White 2011, Statistics in Medicine 30, 2481-2498 (several correlated estimates). Gelman 2006,
Bayesian Analysis 1, 515-533 (all SDs as likely beforehand). Henderson 1975, Biometrics
31, 423-447 (estimates of theta and delta together, and their errors).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import nan
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit, fdtrc, ndtri

from judgebook.annotations.cells import in_turn
from judgebook.annotations.population import Population
from judgebook.model import comparisons
from judgebook.model.comparisons import Comparisons, outcomes
from judgebook.model.contrasts import Levels
from judgebook.model.fit import coded, crossed
from judgebook.questions.comparisons.adjusted import ends_of
from judgebook.questions.performance.fitted import CELL, votes
from judgebook.statistics.multiplicity import adjust_p_values, simultaneous_ranks
from judgebook.study.labels import METHODS
from judgebook.study.results import Results, collect
from judgebook.study.schema import Annotations, Dialogues
from judgebook.study.yaml_file import ParamsError

#: degrees of freedom that stand for a known variance
_LARGE = 1e9
#: SDs that are tried, up to this many times the spread that is seen; chances below are nothing
_SDS, _WIDEST, _RARE = 40, 3.0, 1e-4


#: kinds with fewer prompts say little of other prompts of the kind
FEW_PROMPTS = 3


@dataclass(frozen=True)
class Kinds:
    """Of K kinds and s systems.

    kinds, systems : names. share : (K,) of the votes. prompts : (K,). boards : of each kind, strengths drawn towards
    what kinds share. special : (K, s) how much stronger a system is in a kind than over all, with errors. sd : of that
    between kinds. p_value : of no difference between kinds; p_systems : (s,) of each system, adjusted for how many are
    tested (Holm). ties : (K,) log of Davidson's parameter, with errors; NaN without ties. joint : strengths in all
    kinds, kind by kind, which mixes are made of.
    """

    kinds: tuple[str, ...]
    systems: tuple[str, ...]
    share: np.ndarray
    prompts: np.ndarray
    boards: list[Levels]
    special: np.ndarray
    special_errors: np.ndarray
    sd: float
    p_value: float
    p_systems: np.ndarray
    ties: np.ndarray
    ties_errors: np.ndarray
    joint: Levels

    def mixed(self, mix: np.ndarray) -> Levels:
        """The board for prompts of these kinds in other shares. mix : (K,), from 0; need not add up to 1."""
        weights = np.kron(np.asarray(mix, float) / np.sum(mix), np.eye(len(self.systems)))
        df = np.min([board.df for board in self.boards], axis=0)
        return Levels(weights @ self.joint.estimates, weights @ self.joint.covariance @ weights.T, df)


def by_kind(c: Comparisons, kind: np.ndarray, names: tuple[str, ...]) -> Kinds:
    """kind : (n,) codes from 0 without gaps of the kind of each vote's prompt; names : of these.

    Raises ValueError where votes do not join systems within kinds, and kinds by systems.
    """
    s, n_kinds = len(c.systems), len(names)
    cells, place = np.unique(np.concatenate([kind * s + c.first, kind * s + c.second]), return_inverse=True)
    of_kind, of_system = np.divmod(cells, s)
    own = tuple(f"{names[k]} {c.systems[i]}" for k, i in zip(of_kind, of_system, strict=True))
    first, second = place.reshape(2, -1)
    context = crossed(c.context, kind)
    fit = comparisons.fit(replace(c, systems=own, first=first, second=second, context=context, alike=of_system))
    df = fit.levels.df
    within = (of_kind[:, None] == of_kind) & ~np.eye(len(cells), dtype=bool)
    if np.isnan(df[within]).any():
        raise ValueError("in a kind, no votes join some systems with others")
    # contrasts within kinds, as strengths of a kind have no zero of their own
    contrasts = np.zeros((len(cells), len(cells) - n_kinds))
    for k in range(n_kinds):
        rows = np.flatnonzero(of_kind == k)
        contrasts[rows, rows[0] - k : rows[0] - k + len(rows) - 1] = _contrasts(len(rows))
    y, v = contrasts.T @ fit.levels.estimates, contrasts.T @ fit.levels.covariance @ contrasts
    shared = contrasts.T @ np.eye(s)[of_system] @ _contrasts(s)
    if np.linalg.matrix_rank(shared) < s - 1:
        raise ValueError("kinds have too few systems in common")
    known = float(min(np.median(df[within]), _LARGE))
    q, free = _squares(y, v, shared), len(y) - s + 1
    p_systems = np.full(s, nan)
    for i in range(s):
        special = contrasts.T @ np.eye(len(cells))[:, of_system == i]
        more = np.linalg.matrix_rank(np.column_stack([shared, special])) - (s - 1)
        if more:
            gained = q - _squares(y, v, np.column_stack([shared, special]))
            p_systems[i] = fdtrc(more, known, gained / more)
    p_systems = adjust_p_values(p_systems)
    joint, special, errors, sd = _pooled(y, v, shared, contrasts, cells, n_kinds)
    boards = []
    for k in range(n_kinds):
        at, of = slice(k * s, (k + 1) * s), of_system[of_kind == k]
        own_df = np.full((s, s), known)
        own_df[np.ix_(of, of)] = np.minimum(df[np.ix_(of_kind == k, of_kind == k)], _LARGE)
        boards.append(Levels(joint.estimates[at], joint.covariance[at, at], own_df))
    ties, ties_errors = np.array([_ties(c, kind == k, boards[k].estimates) for k in range(n_kinds)]).T
    weight = np.ones(len(c)) if c.weight is None else c.weight
    return Kinds(
        names,
        c.systems,
        np.bincount(kind, weight) / weight.sum(),
        np.array([len(np.unique(c.context[kind == k])) for k in range(n_kinds)]),
        boards,
        special,
        errors,
        sd,
        float(fdtrc(free, known, q / free)) if free else nan,
        p_systems,
        ties,
        ties_errors,
        joint,
    )


def _contrasts(k: int) -> np.ndarray:
    """(k, k - 1) orthonormal columns that add up to 0."""
    return np.linalg.qr(np.column_stack([np.ones(k), np.eye(k)[:, : k - 1]]))[0][:, 1:]


def _squares(y: np.ndarray, v: np.ndarray, design: np.ndarray) -> float:
    """Weighted squares of what a design does not explain."""
    root = np.linalg.cholesky(v)
    x, z = np.linalg.solve(root, design), np.linalg.solve(root, y)
    return float(np.sum((z - x @ np.linalg.lstsq(x, z, rcond=None)[0]) ** 2))


def _likely(y: np.ndarray, v: np.ndarray, shared: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """SDs of what is special to a kind, and the chance of each: the restricted likelihood, all SDs being as likely
    beforehand."""
    left = y - shared @ np.linalg.lstsq(shared, y, rcond=None)[0]
    sds, logs = np.linspace(0.0, _WIDEST * float(np.sqrt(np.mean(left**2))), _SDS), np.zeros(_SDS)
    for i, sd in enumerate(sds):
        root = np.linalg.cholesky(v + sd**2 * np.eye(len(y)))
        of_shared = np.linalg.slogdet(np.linalg.qr(np.linalg.solve(root, shared), mode="r"))[1]
        logs[i] = -np.log(np.diag(root)).sum() - of_shared - _squares(y, v + sd**2 * np.eye(len(y)), shared) / 2
    chances = np.exp(logs - logs.max())
    return sds, chances / chances.sum()


def _pooled(
    y: np.ndarray, v: np.ndarray, shared: np.ndarray, contrasts: np.ndarray, cells: np.ndarray, kinds: int
) -> tuple[Levels, np.ndarray, np.ndarray, float]:
    """Strengths in all kinds, of systems without votes in a kind, too; what is special with its errors, and its SD.
    Means over the SDs that are likely; errors have the spread between these in them."""
    s = shared.shape[1] + 1
    design = np.zeros((len(y), s - 1 + kinds * s))
    design[:, : s - 1] = shared
    design[:, s - 1 + cells] = contrasts.T
    weighted = np.linalg.solve(v, np.column_stack([design, y]))
    information, score = design.T @ weighted[:, :-1], design.T @ weighted[:, -1]
    # what is wanted: first strengths, then what is special
    special = np.column_stack([np.zeros((kinds * s, s - 1)), np.kron(np.eye(kinds), np.eye(s) - 1 / s)])
    whole = special.copy()
    whole[:, : s - 1] = np.tile(_contrasts(s), (kinds, 1))
    wanted = np.vstack([whole, special])
    sds, chances = _likely(y, v, shared)
    mean, square = np.zeros(len(wanted)), np.zeros((len(wanted),) * 2)
    for sd, chance in zip(sds, chances, strict=True):
        if chance < _RARE:
            continue
        unit = np.repeat([1.0, sd], [s - 1, kinds * s])  # SDs are units, so that 0 is no special case
        prior = np.diag(np.repeat([0.0, 1.0], [s - 1, kinds * s]))
        covariance = np.linalg.inv(unit[:, None] * information * unit + prior)
        turned = wanted * unit
        found = turned @ (covariance @ (unit * score))
        mean += chance * found
        square += chance * (turned @ covariance @ turned.T + np.outer(found, found))
    kept = chances[chances >= _RARE].sum()
    mean, covariance, n = mean / kept, square / kept - np.outer(mean, mean) / kept**2, kinds * s
    joint = Levels(mean[:n], covariance[:n, :n], np.zeros((0, 0)))
    errors = np.sqrt(np.maximum(np.diag(covariance)[n:], 0.0))
    return joint, mean[n:].reshape(kinds, s), errors.reshape(kinds, s), float(np.sqrt(sds**2 @ chances))


def _ties(c: Comparisons, of: np.ndarray, strengths: np.ndarray) -> tuple[float, float]:
    """Log of Davidson's tie parameter of some votes given strengths; its error takes votes on a prompt as one."""
    tied, gap = c.score[of] == 0, strengths[c.first[of]] - strengths[c.second[of]]
    if not tied.any() or tied.all():
        return nan, nan

    def excess(log_nu: float) -> np.ndarray:
        out: np.ndarray = tied - outcomes(gap, log_nu)[1]
        return out

    log_nu = float(brentq(lambda x: excess(x).sum(), -30.0, 30.0))
    chance = outcomes(gap, log_nu)[1]
    prompts = np.bincount(np.unique(c.context[of], return_inverse=True)[1], excess(log_nu))
    small = len(prompts) / (len(prompts) - 1) if len(prompts) > 1 else nan
    return log_nu, float(np.sqrt(small * (prompts**2).sum()) / (chance * (1 - chance)).sum())


def kinds_of(judged: Annotations, dialogues: Dialogues) -> pd.Series:
    """(votes,) the kind of prompt, by either answer; missing where the data do not say."""
    known = dialogues.dropna(subset="kind").drop_duplicates(["corpus", "dialogue"]).set_index(["corpus", "dialogue"])
    keys = (pd.MultiIndex.from_arrays([judged["corpus"], judged[side]]) for side in ("dialogue", "dialogue_b"))
    first, second = (known["kind"].reindex(key).set_axis(judged.index) for key in keys)
    return first.fillna(second)


def boards(
    judged: Annotations,
    kind: pd.Series,
    people: Mapping[tuple[str, str], Population],
    mix: Mapping[str, float],
    *,
    confidence: float = 0.95,
) -> Results:
    """Rows of every label: how much kinds of prompts differ, and the board of each kind, as collected.

    judged : of `analysis.votes`. kind : of `kinds_of`. mix : kind -> share of it among the prompts that a board is
    wanted for; none: no such board.

    Raises ParamsError for a kind in the mix that no vote has.
    """
    there = sorted(map(str, kind.dropna().unique()))
    if unknown := sorted({*mix} - {*there}):
        listed = ", ".join(there) or "none (`kind` under `columns` of a source)"
        expected = "comparisons.target_mix: expected kinds of prompts that the data have"
        raise ParamsError(f"{expected}, found {unknown[0]!r}; kinds of the data: {listed}")
    rows: list[dict[str, Any]] = []
    for key, part in in_turn(judged.assign(kind=kind), CELL):
        head = dict(zip(CELL, key, strict=True)) | {"level": METHODS[key[1]].unit}
        known = part[part["kind"].notna()]
        if known["kind"].nunique() < 2:
            continue
        whole = votes(known, people=people[head["corpus"], head["group"]].others)
        code, names = coded(known["kind"])
        try:
            found = by_kind(whole, code, tuple(map(str, names)))
        except ValueError as reason:
            rows.append(head | {"statistic": "kinds_differ", "note": str(reason)})
            continue
        rows += _rows(found, head | {"n": len(known)}, mix, confidence)
    return collect(rows)


def _rows(found: Kinds, head: dict[str, Any], mix: Mapping[str, float], confidence: float) -> Iterator[dict[str, Any]]:
    z = float(ndtri((1 + confidence) / 2))
    single = "" if found.prompts.max() > 1 else "each kind has a single prompt: what differs may be the prompts"
    few = f"some kinds have fewer than {FEW_PROMPTS} prompts" if found.prompts.min() < FEW_PROMPTS else ""
    note = single or few or None
    yield head | {"statistic": "kinds_differ", "estimate": found.sd, "p_value": found.p_value, "note": note}
    for i, system in enumerate(found.systems):
        yield head | {"statistic": "kinds_differ_for", "system": system, "p_value": found.p_systems[i]}
    for k, kind in enumerate(found.kinds):
        own = head | {"prompt_kind": kind}
        yield own | {"statistic": "kind_share", "estimate": found.share[k], "n_clusters": int(found.prompts[k])}
        x, half = found.ties[k], z * found.ties_errors[k]
        if np.isfinite(x):
            # e^x / (e^x + 2)
            chance = expit(np.array([x, x - half, x + half]) - np.log(2))
            yield own | {"statistic": "kind_ties", "estimate": chance[0], **ends_of(chance[1], chance[2], "normal")}
        yield from _board(found.boards[k], found.systems, "kind", own, confidence)
        for i, system in enumerate(found.systems):
            x, half = found.special[k, i], z * found.special_errors[k, i]
            yield (
                own
                | {"statistic": "kind_special", "system": system, "estimate": x}
                | ends_of(x - half, x + half, "normal")
            )
    if mix and set(mix) <= set(found.kinds):
        wanted = found.mixed(np.array([mix.get(kind, 0.0) for kind in found.kinds]))
        yield from _board(wanted, found.systems, "target_mix", head, confidence)


def _board(
    levels: Levels, systems: tuple[str, ...], which: str, head: dict[str, Any], confidence: float
) -> Iterator[dict[str, Any]]:
    """`..._strength` and `..._place` of each system."""
    places, least, most = simultaneous_ranks(levels.estimates, levels.differences(confidence).decided)
    half = float(ndtri((1 + confidence) / 2)) * np.sqrt(np.diag(levels.covariance))
    for i, system in enumerate(systems):
        row, x = {**head, "system": system}, levels.estimates[i]
        yield row | {"statistic": f"{which}_strength", "estimate": x} | ends_of(x - half[i], x + half[i], "normal")
        ends = ends_of(least[i], most[i], "simultaneous")
        yield row | {"statistic": f"{which}_place", "estimate": places[i]} | ends
