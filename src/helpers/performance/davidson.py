"""Davidson's model: strengths of systems that were compared in pairs, with ties as an outcome of their own.

A win is worth pi_i, a loss pi_j, a tie nu sqrt(pi_i pi_j), each divided by their sum. Counting ties as half
wins shrinks strengths: with 70% ties a system that wins nine of ten decided comparisons looks like one that wins 64%.

Reference: Davidson 1970, Journal of the American Statistical Association 65(329), 317-328.
"""

from __future__ import annotations

import numpy as np

from helpers.performance.bradley_terry import connected

#: Newton steps; the likelihood is concave, so an estimate that exists takes about ten
_STEPS = 60


def davidson(wins: np.ndarray, ties: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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
    k, m, _ = wins.shape
    i, j = np.triu_indices(m, 1)
    counts = np.stack([wins[:, i, j], wins[:, j, i], ties[:, i, j]], axis=2)  # (k, pairs, outcomes)
    # log weight of each outcome is x @ parameters: m - 1 strengths (the last system is 0) and log nu
    x = np.zeros((len(i), 3, m + 1))
    pairs = np.arange(len(i))
    x[pairs, 0, i] = x[pairs, 1, j] = 1.0
    x[pairs, 2, i] = x[pairs, 2, j] = 0.5
    x[:, 2, m] = 1.0
    x = np.delete(x, m - 1, axis=2)
    log_nu = np.where(counts[:, :, 2].sum(axis=1) > 0, 0.0, -np.inf)
    log_nu[(counts[:, :, :2].sum(axis=(1, 2)) == 0)] = np.inf
    usable = connected(wins + ties) & np.isfinite(counts).all(axis=(1, 2)) & (log_nu < np.inf)
    strengths = np.full((k, m), np.nan)
    for tied in (True, False):
        own = np.flatnonzero(usable & (np.isfinite(log_nu) == tied))
        if len(own):
            used = x if tied else x[:, :2, :-1]
            found = _newton(counts[own][:, :, : used.shape[1]], used)
            strengths[own] = np.column_stack([found[:, : m - 1], np.zeros(len(own))])
            if tied:
                log_nu[own] = found[:, -1]
    strengths -= strengths.mean(axis=1, keepdims=True)
    log_nu[np.isnan(strengths[:, 0]) & np.isfinite(log_nu)] = np.nan
    return strengths, log_nu


def _newton(counts: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Parameters (k, p) of multinomial logits with counts (k, pairs, outcomes) and design (pairs, outcomes, p)."""
    totals = counts.sum(axis=2)
    beta = np.zeros((len(counts), x.shape[2]))
    active = np.ones(len(counts), dtype=bool)
    value = _log_likelihood(beta, counts, x)
    for _ in range(_STEPS):
        own = np.flatnonzero(active)
        if not len(own):
            return beta
        p = _probabilities(beta[own], x)
        gradient = np.einsum("kao,aop->kp", counts[own] - totals[own][:, :, None] * p, x)
        mean = np.einsum("kao,aop->kap", p, x)
        second = np.einsum("ka,kao,aop,aoq->kpq", totals[own], p, x, x, optimize=True)
        information = second - np.einsum("ka,kap,kaq->kpq", totals[own], mean, mean, optimize=True)
        step = np.linalg.solve(information, gradient[:, :, None])[:, :, 0]
        for _ in range(30):
            new = _log_likelihood(beta[own] + step, counts[own], x)
            worse = new < value[own] - 1e-10 * np.abs(value[own])
            if not worse.any():
                break
            step[worse] /= 2
        beta[own] += step
        value[own] = new
        active[own] = np.abs(step).max(axis=1) > 1e-10
    beta[active] = np.nan
    return beta


def _probabilities(beta: np.ndarray, x: np.ndarray) -> np.ndarray:
    eta = np.einsum("kp,aop->kao", beta, x)
    weight = np.exp(eta - eta.max(axis=2, keepdims=True))
    return weight / weight.sum(axis=2, keepdims=True)


def _log_likelihood(beta: np.ndarray, counts: np.ndarray, x: np.ndarray) -> np.ndarray:
    eta = np.einsum("kp,aop->kao", beta, x)
    top = eta.max(axis=2, keepdims=True)
    normaliser = np.log(np.exp(eta - top).sum(axis=2, keepdims=True)) + top
    return (counts * (eta - normaliser)).sum(axis=(1, 2))


def chances(strengths: np.ndarray, log_nu: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
    """(…, m, m) chance that row beats column, and chance of a tie, from (…, m) strengths and (…,) log nu."""
    a, b = strengths[..., :, None], strengths[..., None, :]
    tie = np.asarray(log_nu)[..., None, None] + (a + b) / 2
    total = np.exp(a) + np.exp(b) + np.exp(tie)
    return np.exp(a) / total, np.exp(tie) / total
