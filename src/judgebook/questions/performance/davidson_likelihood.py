"""The likelihood of Davidson's model (`davidson`): its maximum, for many tables of wins and ties at once, and the
covariance of strengths from what they are without each voter, prompt or other cluster.

The estimate without a cluster is one Newton step away: the scores of its votes, times the inverse information of all
others. Scores alone (the linearised sandwich) understate a cluster that holds much of the information, as residuals in
regression do: with one voter who cast half of the votes, its own votes pull the estimate towards itself.

References
----------
MacKinnon, Nielsen and Webb 2023, Journal of Applied Econometrics 38, 671-694 (CR3). Pregibon 1981, Annals of Statistics
9, 705-724, section 4 (one step, for logistic regression). Cameron, Gelbach and Miller 2011, Journal of Business and
Economic Statistics 29, 238-249, section 2.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judgebook.statistics.clusters import Covariance, crossed

#: eigenvalues of the information, over the largest, that are 0 but for rounding: strengths have no common level. Real
#: ones are larger, as no pair of systems has 10^12 times the votes of another
NULL = 1e-12
#: smallest over largest pivot with which an information is inverted as it is
_REGULAR = 1e-8
#: share of the information (bound of the largest eigenvalue) from which a cluster's step is solved for; below, two
#: terms of its series leave an error of less than 0.3%
_HEAVY = 0.05
#: informations of clusters that are solved at once
_AT_ONCE = 64
#: Newton steps; the likelihood is concave, so an estimate that exists takes about ten
_STEPS = 60
#: parameters beyond this run away, as the likelihood has no maximum: finite ones would take billions of votes
_FAR = 12.0
#: squared length of a step, in standard errors per vote, that rounding errors make
_ROUNDING = 1e-18
#: squared length of a step, in standard errors, that no longer matters
_NEGLIGIBLE = 1e-9


def strengths_of(wins: np.ndarray, ties: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Maximum likelihood estimates for many tables at once.

    Parameters
    ----------
    wins : (k, m, m)
        Wins of row over column.
    ties : (k, m, m)
        Ties of row and column, symmetric.

    Returns
    -------
    strengths : (k, m)
        log pi with mean 0; NaN where none exist: some systems never win or tie against the others.
    log_nu : (k,)
        Log of the tie parameter; -inf without ties (the Bradley-Terry model), inf with nothing else.
    """
    log_nu = np.where(ties.sum(axis=(1, 2)) > 0, 0.0, -np.inf)
    log_nu[wins.sum(axis=(1, 2)) == 0] = np.inf
    usable = connected(wins + ties) & np.isfinite(wins + ties).all(axis=(1, 2)) & (log_nu < np.inf)
    strengths = np.full(wins.shape[:2], np.nan)
    if usable.any():
        strengths[usable], log_nu[usable] = _newton(wins[usable], ties[usable], log_nu[usable])
    log_nu[np.isnan(strengths[:, 0]) & np.isfinite(log_nu)] = np.nan
    return strengths, log_nu


def _newton(wins: np.ndarray, ties: np.ndarray, log_nu: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(k, m) strengths and (k,) log nu, which stays -inf where it is; NaN where there is no maximum, or where the
    iterations do not come near it."""
    k, m, _ = wins.shape
    n = wins + wins.transpose(0, 2, 1) + ties
    points, n_ties = wins.sum(axis=2) + ties.sum(axis=2) / 2, ties.sum(axis=(1, 2)) / 2
    beta = np.column_stack([np.zeros((k, m)), log_nu])
    logs = chances(beta[:, :m], beta[:, m], log=True)
    value = _log_likelihood(logs, wins, ties)
    active, left = np.ones(k, dtype=bool), np.full(k, np.inf)
    for _ in range(_STEPS):
        rows = np.flatnonzero(active)
        if not len(rows):
            break
        won, tied = np.exp(logs[:, rows])
        gradient = points[rows] - (n[rows] * (won + tied / 2)).sum(axis=2)
        gradient = np.column_stack([gradient, n_ties[rows] - (n[rows] * tied).sum(axis=(1, 2)) / 2])
        step = _step(information(won, tied, n[rows]), gradient)
        left[rows] = (gradient * step).sum(axis=1)
        for _ in range(30):
            tried = beta[rows] + step
            new_logs = chances(tried[:, :m], tried[:, m], log=True)
            new = _log_likelihood(new_logs, wins[rows], ties[rows])
            worse = new < value[rows] - 1e-10 * np.abs(value[rows])
            if not worse.any():
                break
            step[worse] /= 2
        else:  # no part of it improves on rounding
            step[worse], new[worse], new_logs[:, worse] = 0.0, value[rows][worse], logs[:, rows][:, worse]
        beta[rows] += step
        value[rows], logs[:, rows] = new, new_logs
        far = np.abs(np.where(np.isfinite(beta[rows]), beta[rows], 0)).max(axis=1) > _FAR
        # what is gained by a step that votes' rounding errors could have made is none
        active[rows] = (np.abs(step).max(axis=1) > 1e-10) & (left[rows] > _ROUNDING * n[rows].sum(axis=(1, 2))) & ~far
        beta[rows[far]] = np.nan
    # rounding may keep steps of systems with few votes among many from getting as short as others do
    beta[active | (left > _NEGLIGIBLE * np.maximum(1.0, np.abs(value)))] = np.nan
    return beta[:, :m] - beta[:, :m].mean(axis=1, keepdims=True), beta[:, m]


def _step(information: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """(k, m + 1) Newton steps that leave the mean of the strengths as it is."""
    m = gradient.shape[1] - 1
    # singular in the direction of all strengths at once, where there are no ties in that of log nu, and nearly so on
    # the way to strengths that do not exist
    full = information.copy()
    full[:, :m, :m] += np.trace(information, axis1=1, axis2=2)[:, None, None] / m**2
    full[:, m, m] += information[:, m, m] == 0
    try:
        pivots = np.linalg.cholesky(full).diagonal(axis1=1, axis2=2) ** 2
        regular = pivots.min(axis=1) > _REGULAR * pivots.max(axis=1)
    except np.linalg.LinAlgError:
        regular = np.zeros(len(full), dtype=bool)
    step = np.empty_like(gradient)
    step[regular] = np.linalg.solve(full[regular], gradient[regular][:, :, None])[:, :, 0]
    if not regular.all():
        inverse = np.linalg.pinv(information[~regular], rcond=NULL, hermitian=True)
        step[~regular] = (inverse @ gradient[~regular][:, :, None])[:, :, 0]
    step[:, :m] -= step[:, :m].mean(axis=1, keepdims=True)
    return step


def information(won: np.ndarray, tied: np.ndarray, n: np.ndarray) -> np.ndarray:
    """(k, m + 1, m + 1) Fisher information of strengths and log nu; n : (k, m, m) votes on each pair."""
    k, m, _ = won.shape
    expected = won + tied / 2
    spread = n * (won + tied / 4 - expected**2)
    out = np.zeros((k, m + 1, m + 1))
    out[:, :m, :m] = -spread
    at = np.arange(m)
    out[:, at, at] = spread.sum(axis=2) - spread[:, at, at]
    out[:, :m, m] = out[:, m, :m] = (n * tied * (0.5 - expected)).sum(axis=2)
    out[:, m, m] = (n * tied * (1 - tied)).sum(axis=(1, 2)) / 2
    return out


def _log_likelihood(logs: np.ndarray, wins: np.ndarray, ties: np.ndarray) -> np.ndarray:
    """logs : as `chances` returns them."""
    won, tied = logs
    # no tie is possible where log nu is -inf, and none was seen
    tied = np.where(ties > 0, tied, 0.0)
    return (wins * won).sum(axis=(1, 2)) + (ties * tied).sum(axis=(1, 2)) / 2


def chances(strengths: np.ndarray, log_nu: np.ndarray | float, *, log: bool = False) -> np.ndarray:
    """(2, …, m, m) chance that row beats column, and chance of a tie, from (…, m) strengths and (…,) log nu."""
    a, b = strengths[..., :, None], strengths[..., None, :]
    tie = np.asarray(log_nu)[..., None, None] + (a + b) / 2
    out = np.stack([np.broadcast_to(a, tie.shape), tie]) - np.logaddexp(np.logaddexp(a, b), tie)
    return out if log else np.exp(out)


def connected(wins: np.ndarray) -> np.ndarray:
    """(k,) whether every system can be reached from every other along wins (Ford 1957)."""
    reached = ((wins > 0) | np.eye(wins.shape[-1], dtype=bool)).astype(np.float32)
    for _ in range(wins.shape[-1].bit_length()):
        reached = np.minimum(reached @ reached, 1)
    return np.all(reached > 0, axis=(1, 2))


@dataclass(frozen=True)
class Votes:
    """Votes at the estimate, of m systems; parameters are their strengths and log nu.

    left, right : (n,) places of the systems. weight : (n,) how often each counts. scores : (n, m + 1) derivatives of
    log likelihoods, times the weight. strength, tie, both : (m, m), the information of one vote on a pair that counts
    once: on the difference of strengths, on log nu, and between the two (of the row's strength). information :
    (m + 1, m + 1) of all votes.
    """

    left: np.ndarray
    right: np.ndarray
    weight: np.ndarray
    scores: np.ndarray
    strength: np.ndarray
    tie: np.ndarray
    both: np.ndarray
    information: np.ndarray

    @property
    def inverse(self) -> np.ndarray:
        """Pseudoinverse of the information, which is singular: strengths have no level, and no tie no log nu."""
        return np.linalg.pinv(self.information, rcond=NULL, hermitian=True)


def covariance(votes: Votes, clusters: Sequence[np.ndarray]) -> tuple[Covariance, str]:
    """Covariance of the parameters, of votes clustered in one way or two; and '' or `fragile`, where strengths have
    nothing in common without one of the clusters.

    clusters : one or two (n,) arrays of codes from 0.
    """
    inverse, parts, fragile = votes.inverse, [], False
    kinds = [*clusters, crossed(*clusters)] if len(clusters) == 2 else clusters
    for codes in kinds:
        change, essential = changes(votes, codes, inverse)
        n = len(change)
        parts.append(change.T @ change * (n - 1) / n)
        fragile |= essential
    added = parts[1] - parts[2] if len(clusters) == 2 else None
    return Covariance(parts[0], added), "fragile" if fragile else ""


def changes(votes: Votes, codes: np.ndarray, inverse: np.ndarray) -> tuple[np.ndarray, bool]:
    """(clusters, m + 1) how much one Newton step changes the parameters without each cluster, with opposite sign; and
    whether some cluster is all that connects some systems with others."""
    n, size = codes.max() + 1, len(inverse)
    sums = _summed(codes, np.arange(size), votes.scores, n, size)
    step = sums @ inverse
    out = step + _times_information(votes, codes, step) @ inverse
    share = np.bincount(codes, votes.weight * _shares(votes, inverse)[votes.left, votes.right], n)
    heavy = np.flatnonzero(share > _HEAVY)
    rank, essential = int(np.sum(np.linalg.eigvalsh(votes.information) > NULL * np.trace(votes.information))), False
    for some in np.array_split(heavy, -(-len(heavy) // _AT_ONCE)) if len(heavy) else ():
        value, vector = np.linalg.eigh(votes.information - _informations(votes, codes, some))
        real = value > NULL * np.trace(votes.information)
        essential |= bool((real.sum(axis=1) < rank).any())
        along = np.einsum("gij,gi->gj", vector, sums[some]) * np.where(real, 1 / np.where(real, value, 1), 0)
        out[some] = np.einsum("gij,gj->gi", vector, along)
    return out, essential


def _summed(codes: np.ndarray, places: np.ndarray, values: np.ndarray, n: int, size: int) -> np.ndarray:
    """(n, size) sums by cluster and place of values, whose last axis is that of places."""
    flat = codes[:, None] * size + places
    return np.bincount(flat.ravel(), values.ravel(), n * size).reshape(n, size)


def _times_information(votes: Votes, codes: np.ndarray, step: np.ndarray) -> np.ndarray:
    """(clusters, m + 1) information of each cluster times its step."""
    a, b, m = votes.left, votes.right, step.shape[1] - 1
    gap, nu = step[codes, a] - step[codes, b], step[codes, m]
    of_strength = votes.strength[a, b] * gap + votes.both[a, b] * nu
    of_nu = votes.both[a, b] * gap + votes.tie[a, b] * nu
    of_strength, of_nu = votes.weight * of_strength, votes.weight * of_nu
    places, values = np.stack([a, b, np.full_like(a, m)], axis=1), np.stack([of_strength, -of_strength, of_nu], axis=1)
    return _summed(codes, places, values, *step.shape)


def _shares(votes: Votes, inverse: np.ndarray) -> np.ndarray:
    """(m, m) trace of the inverse information times that of one vote on a pair."""
    m = len(votes.strength)
    alone, nu = np.diag(inverse)[:m], inverse[:m, m]
    spread = alone[:, None] + alone - 2 * inverse[:m, :m]
    return votes.strength * spread + 2 * votes.both * (nu[:, None] - nu) + votes.tie * inverse[m, m]


def _informations(votes: Votes, codes: np.ndarray, some: np.ndarray) -> np.ndarray:
    """(k, m + 1, m + 1) information of the votes of each of some clusters."""
    m = len(votes.strength)
    place = np.full(codes.max() + 1, -1)
    place[some] = np.arange(len(some))
    rows = np.flatnonzero(place[codes] >= 0)
    g, a, b, weight = place[codes[rows]], votes.left[rows], votes.right[rows], votes.weight[rows]
    out = np.zeros((len(some), m + 1, m + 1))
    for i, j, sign in ((a, a, 1), (b, b, 1), (a, b, -1), (b, a, -1)):
        np.add.at(out, (g, i, j), sign * weight * votes.strength[a, b])
    for i, sign in ((a, 1), (b, -1)):
        np.add.at(out[:, :, m], (g, i), sign * weight * votes.both[a, b])
        np.add.at(out[:, m], (g, i), sign * weight * votes.both[a, b])
    np.add.at(out, (g, m, m), weight * votes.tie[a, b])
    return out
