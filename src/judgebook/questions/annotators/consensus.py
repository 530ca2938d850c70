"""Consensus labels from annotators of unequal accuracy, and what they would change.

Dawid and Skene's model gives each annotator a matrix of error rates; MACE distinguishes annotators who know from those
who guess. The labels and what describes annotators are estimated together by the EM algorithm. Both are computed here
because the library that has them (`crowd-kit`, with which the tests compare them) depends on a language-model toolkit
and takes many times as long.

With few items both do worse than the answer of most: three people who are right four times in five, of 30 items, give
87% right labels by Dawid and Skene's model and 86% by MACE, 90% by the majority; with a true rate of 10%, MACE gives
61% to 91% however many items there are. Even where models are given (MIN_VOTES, RARE_MACE, and 100 items by default),
they are no better than the majority unless annotators are many or differ much: they show what results depend on.

References
----------
Dawid and Skene 1979, Applied Statistics 28, 20-28. Hovy, Berg-Kirkpatrick, Vaswani and Hovy 2013, Learning Whom to
Trust with MACE, NAACL-HLT, 1120-1130. Ustalov, Pavlichenko and Tseitlin 2024, Journal of Open Source Software 9(96),
6227 (crowd-kit).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.special import digamma

from judgebook.questions.annotators.agreement_with_others import ITEM
from judgebook.statistics.intervals import MIN_MINORITY, generator
from judgebook.study.labels import Label
from judgebook.study.schema import Annotations

#: fewer annotators say nothing about accuracy
MIN_ANNOTATORS = 3
#: annotations per item on average below which accuracies and labels cannot be distinguished
MIN_VOTES = 3
#: share of answers other than the commonest below which MACE gives no labels: it takes rare answers for guesses
RARE_MACE = 1 / 3
#: resamples of the items for `consensus_stability`
RESAMPLES = 50
#: smallest error rate, so that a single answer does not rule a label out
_LEAST = 1e-10
#: MACE: steps; prior counts of knowing and of guessing, and of each answer of those who guess (as in crowd-kit)
_STEPS, _KNOWING, _GUESSES = 50, 0.5, 10.0


@dataclass(frozen=True)
class Consensus:
    """labels : (items, k) probability of each answer. prior : (k,). errors : (annotators, k, k), the probability of an
    answer (last axis) given the true one. converged : whether the likelihood has converged."""

    labels: np.ndarray
    prior: np.ndarray
    errors: np.ndarray
    converged: bool

    @property
    def accuracy(self) -> np.ndarray:
        """(annotators,) probability that an annotator gives the true answer to an item drawn from all."""
        return np.einsum("k,akk->a", self.prior, self.errors)


def dawid_skene(
    items: np.ndarray,
    annotators: np.ndarray,
    answers: np.ndarray,
    *,
    weights: np.ndarray | None = None,
    precision: float = 1e-7,
    most: int = 2000,
) -> Consensus:
    """Maximum likelihood estimates by EM, from shares of votes on (Dawid and Skene 1979, equations 2.3 to 2.5).

    Parameters
    ----------
    items, annotators, answers : (n,) int
        Numbers from 0 without gaps.
    weights : (items,), optional
        How often an item counts in the estimates; items that do not count have labels, too.
    precision : float
        Smallest change of the log-likelihood per answer with which the search goes on.
    """
    n_items, n_people, k = int(items.max()) + 1, int(annotators.max()) + 1, int(answers.max()) + 1
    answer_of = annotators * k + answers
    votes = sparse.csr_array((np.ones(len(items)), (items, answer_of)), shape=(n_items, n_people * k))
    labels = np.bincount(items * k + answers, minlength=n_items * k).reshape(n_items, k)
    labels = labels / labels.sum(axis=1, keepdims=True)
    weights = np.ones(n_items) if weights is None else weights
    before, converged = -np.inf, False
    for _ in range(most):
        prior = np.maximum(weights @ labels / weights.sum(), _LEAST)
        counts = (votes.T @ (weights[:, None] * labels)).reshape(n_people, k, k)  # annotator, answer, truth
        counts = np.maximum(counts, _LEAST)
        errors = counts / counts.sum(axis=1, keepdims=True)
        log_p = np.log(prior) + votes @ np.log(errors).reshape(-1, k)
        top = log_p.max(axis=1, keepdims=True)
        p = np.exp(log_p - top)
        labels = p / p.sum(axis=1, keepdims=True)
        value = float(weights @ (top[:, 0] + np.log(p.sum(axis=1)))) / len(items)
        if converged := abs(value - before) < precision:
            break
        before = value
    return Consensus(labels, prior, errors.transpose(0, 2, 1), converged)


def mace(
    items: np.ndarray, annotators: np.ndarray, answers: np.ndarray, *, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """(items, k) probability of each answer, and (annotators,) share of an annotator's answers expected to be right, by
    MACE: annotators know the true answer or guess, each with their own probability and favourite guesses.

    items, annotators, answers : (n,) int, numbers from 0 without gaps. weights : (items,), as for `dawid_skene`.

    Variational Bayes from one start, as in crowd-kit 1.4, whose restarts all use the same seed. That library gives the
    guesses of one annotator to another unless annotators and answers first appear in sorted order; here they stay.
    """
    n_items, n_people, k = int(items.max()) + 1, int(annotators.max()) + 1, int(answers.max()) + 1
    knowing = _start(n_people, 2)  # annotator; guesses or knows
    guesses = _start(n_people, k)
    count = np.ones(len(items)) if weights is None else weights[items]
    for _ in range(_STEPS + 1):
        guessed = knowing[annotators, 0] * guesses[annotators, answers]
        evidence = guessed + knowing[annotators, 1]  # probability of an answer that is true
        log_p = np.bincount(items * k + answers, np.log(evidence / guessed), n_items * k).reshape(n_items, k)
        p = np.exp(log_p - log_p.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        knew = p[items, answers] * knowing[annotators, 1] / evidence
        counts = np.stack([np.bincount(annotators, count * x, n_people) for x in (1 - knew, knew)], axis=1)
        knowing = _expected(counts + _KNOWING)
        counts = np.bincount(annotators * k + answers, count * (1 - knew), n_people * k).reshape(n_people, k)
        guesses = _expected(counts + _GUESSES)
    return p, np.bincount(annotators, p[items, answers]) / np.bincount(annotators)


def _start(n: int, k: int) -> np.ndarray:
    """(n, k) random probabilities."""
    x = np.random.RandomState(0).uniform(1, 2.5, (n, k))
    return x / x.sum(axis=1, keepdims=True)


def _expected(counts: np.ndarray) -> np.ndarray:
    """Probabilities (n, k) whose logarithms are those expected of Dirichlet distributions with these counts."""
    return np.exp(digamma(counts) - digamma(counts.sum(axis=1, keepdims=True)))


def consensus(rows: Annotations, label: Label, *, min_items: int) -> Iterator[dict[str, Any]]:
    """What Dawid and Skene's model and MACE say of one label.

    Parameters
    ----------
    rows : DataFrame
        Oriented annotations by known people of one corpus, group, method and label: marks, choices, or answers without
        order, one of each person for an item.

    Yields
    ------
    rows of `annotator_accuracy`; `consensus_changed`, the share of items whose consensus is not the answer of most;
    `consensus_stability`, how many labels change with the items that models are estimated from; and `consensus_rate` of
    each system, of consensus labels and of the mean of annotations (`source`): for marks their rate, for comparisons
    won minus lost. Only items judged more than once count. A label without a model has one row of `consensus_changed`,
    whose note says why.
    """
    size = rows.groupby(ITEM, dropna=False, sort=False)["annotator"].transform("nunique")
    rows = rows[(size > 1).to_numpy()]
    by = rows.groupby(ITEM, dropna=False, sort=False)
    items = by.ngroup().to_numpy()
    people, names = pd.factorize(rows["annotator"], sort=True)
    answers, values = pd.factorize(rows["score"], sort=True)
    n = len(np.unique(items))
    if why := _why_not(n, len(names), answers, min_items):
        yield {"statistic": "consensus_changed", "estimate": np.nan, "n": n, "note": why}
        return
    items = pd.factorize(items)[0]
    estimated = dawid_skene(items, people, answers)
    if estimated.converged:
        of = {"dawid_skene": (estimated.labels, estimated.accuracy)}
    else:
        of = {}
        yield {"statistic": "consensus_changed", "source": "dawid_skene", "estimate": np.nan, "n": n,
               "note": "the likelihood did not converge"}  # fmt: skip
    rest = 1 - float(np.bincount(answers).max()) / len(answers)
    if rest >= RARE_MACE:
        of["mace"] = mace(items, people, answers)
    else:
        yield {"statistic": "consensus_changed", "source": "mace", "estimate": np.nan, "n": n,
               "note": f"{rest:.0%} of answers other than the commonest (MACE needs a third)"}  # fmt: skip
    votes = np.bincount(items * len(values) + answers, minlength=n * len(values)).reshape(n, -1)
    most = votes.argmax(axis=1)
    tied = (votes == votes.max(axis=1, keepdims=True)).sum(axis=1) > 1
    judged = np.bincount(people)
    first = rows.iloc[np.unique(items, return_index=True)[1]]
    means = votes @ np.asarray(values, float) / votes.sum(axis=1)
    scores = {"mean": means}
    for source, (labels, accuracy) in of.items():
        chosen = labels.argmax(axis=1)
        for name, value, k in zip(names, accuracy, judged, strict=True):
            row = {"statistic": "annotator_accuracy", "source": source, "annotator": name, "n": int(k)}
            yield row | {"estimate": float(np.clip(value, 0, 1))}
        changed = float(np.mean((chosen != most)[~tied])) if (~tied).any() else np.nan
        yield {"statistic": "consensus_stability", "source": source, "n": n} | stability(
            MODELS[source], items, people, answers, generator(0, "consensus", source)
        )
        row = {"statistic": "consensus_changed", "source": source, "n": int((~tied).sum())}
        yield row | {"estimate": changed} | ({} if (~tied).any() else {"note": "every item is tied"})
        scores[source] = np.asarray(values, float)[chosen]
    if label.unordered:
        return
    yield from _rates(first, scores)


#: source -> labels (items, k) from estimates in which items count `weights`
MODELS = {
    "dawid_skene": lambda *votes, weights: dawid_skene(*votes, weights=weights, precision=1e-5, most=200).labels,
    "mace": lambda *votes, weights: mace(*votes, weights=weights)[0],
}


def stability(
    model: Callable, items: np.ndarray, annotators: np.ndarray, answers: np.ndarray, rng: np.random.Generator
) -> dict[str, object]:
    """Share of all items whose label changes when the model is estimated from resampled items (RESAMPLES times): the
    mean, and the range of 95% of resamples."""
    n, votes = int(items.max()) + 1, (items, annotators, answers)
    chosen = model(*votes, weights=np.ones(n)).argmax(axis=1)
    drawn = rng.multinomial(n, np.full(n, 1 / n), size=RESAMPLES).astype(float)
    share = [np.mean(model(*votes, weights=w).argmax(axis=1) != chosen) for w in drawn]
    low, high = np.quantile(share, [0.025, 0.975])
    ends = {"ci_low": low, "ci_high": high, "ci_kind": "range", "resample_unit": "item"}
    return {"estimate": float(np.mean(share)), **ends}


def _why_not(n_items: int, n_people: int, answers: np.ndarray, min_items: int) -> str:
    if n_people < MIN_ANNOTATORS:
        return f"{n_people} annotators share items (at least {MIN_ANNOTATORS} needed)"
    if n_items < min_items:
        return f"{n_items} items judged more than once (at least {min_items} needed)"
    if len(answers) < MIN_VOTES * n_items:
        return f"{len(answers) / n_items:.1f} annotations per item (at least {MIN_VOTES} needed)"
    rest = len(answers) - int(np.bincount(answers).max())
    if rest < MIN_MINORITY:
        return f"{rest} answers other than the commonest (at least {MIN_MINORITY} needed)"
    return ""


def _rates(first: pd.DataFrame, scores: dict[str, np.ndarray]) -> Iterator[dict[str, Any]]:
    """Means by system; of comparisons seen from both sides. first : a row of each item."""
    for source, values in scores.items():
        sides = [(first["system"], values)]
        if first["system_b"].notna().any():
            sides.append((first["system_b"], -values))
        frame = pd.concat([pd.DataFrame({"system": s.to_numpy(), "score": v}) for s, v in sides]).dropna()
        for system, of_system in frame.groupby("system", sort=True)["score"]:
            row = {"statistic": "consensus_rate", "source": source, "system": system, "n": len(of_system)}
            yield row | {"estimate": float(of_system.mean())}
