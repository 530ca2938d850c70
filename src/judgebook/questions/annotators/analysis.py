"""Which annotators stand out? The results of notebook 15, for those who supervise annotators.

Each corpus and group is looked at on its own, since who is unusual depends on who the others are. Five indicators say
how an annotator differs (`INDICATORS`); those who differ more than the spread of the others allows are named by one
rule, whose rate of false alarms is chosen beforehand (`annotators.false_alarms`).

Consensus labels from annotators of unequal accuracy, and what they would change: Dawid and Skene's model gives each
annotator a matrix of error rates, which the EM algorithm estimates together with the labels. It is computed here
because the library that has it (`crowd-kit`, with which the tests compare it) depends on a language-model toolkit and
takes many times as long.

With few items it does worse than the answer of most: three people who are right four times in five, of 30 items, give
87% right labels by the model, 90% by the majority. Even where the model is given (MIN_VOTES, MIN_ITEMS), it is no
better than the majority unless annotators are many or differ much: it shows what results depend on.

References
----------
Dawid and Skene 1979, Applied Statistics 28, 20-28. Ustalov, Pavlichenko and Tseitlin 2024, Journal of Open Source
Software 9(96), 6227 (crowd-kit).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from judgebook.annotations.summary import with_means
from judgebook.execution import run
from judgebook.questions.annotators import indicators
from judgebook.questions.annotators.indicators import ITEM
from judgebook.questions.collection import costs
from judgebook.statistics.intervals import MIN_MINORITY, generator
from judgebook.study.labels import METHODS, Label
from judgebook.study.results import Results, collect
from judgebook.study.schema import Annotations

#: indicator -> on which side annotators are unusual in a way that matters
INDICATORS = {"severity": "both", "disagreement": "high", "answers": "both", "speed": "low", "drift": "both"}
_CELL = ["corpus", "group"]


def analyse(
    annotations: Annotations,
    work_units: pd.DataFrame,
    labels: Sequence[Label],
    *,
    false_alarms: float,
    confidence: float,
    seed: int,
) -> Results:
    """All results of notebook 15.

    Parameters
    ----------
    annotations : DataFrame
        Of the evaluation itself, by people.

    Returns
    -------
    Results: `annotator_severity`, `annotator_agreement`, `annotator_answers`, `annotator_speed`, `annotator_drift`,
    `consensus_changed`, `consensus_rate`; `annotator_z`, the value of each indicator by which annotators are compared,
    with p-values.
    """
    people = annotations[(annotations["annotator_kind"] == "human") & annotations["annotator_known"]]
    by_key = {(x.method, x.id): x for x in labels}
    pieces, heads = [], []
    for (corpus, group), of_group in people.groupby(_CELL, sort=False):
        for method, rows in of_group.groupby("method", sort=False):
            heads.append({"corpus": corpus, "group": group, "method": method, "level": METHODS[method].unit})
            rng = generator(seed, "annotators", corpus, group, method)
            pieces.append((rows, by_key, confidence, rng))
    cells = run(_of_method, pieces, doing="annotators, method")
    rows = [head | row for head, (own_rows, _) in zip(heads, cells, strict=True) for row in own_rows]
    z = [(h, indicator, v) for h, (_, values) in zip(heads, cells, strict=True) for indicator, v in values.items()]
    timed = work_units[work_units["corpus"].isin(set(people["corpus"]))]
    times = costs.minutes(timed, people) if len(people) else timed.iloc[:0]
    for (corpus, group), of_group in times.groupby(_CELL, sort=False):
        speeds, values = indicators.speed(of_group[of_group["method"] != costs.COLLECTION], confidence)
        head = {"corpus": corpus, "group": group}
        rows += [head | row for row in speeds]
        z.append((head, "speed", values))
    return collect(rows, named(z, false_alarms))


def _of_method(
    rows: Annotations,
    labels: Mapping[tuple[str, str], Label],
    confidence: float,
    rng: np.random.Generator,
) -> tuple[list[dict[str, Any]], dict[str, pd.Series]]:
    """Rows and z values of one corpus, group and method."""
    z: dict[str, pd.Series] = {}
    of_indicators, z["answers"] = indicators.answers(rows, rng)
    turned, pairwise = indicators.oriented(rows), rows["dialogue_b"].notna().any()
    with_order = with_means(turned, labels.values())
    if len(with_order):
        agreements, z["disagreement"] = indicators.disagreement(with_order)
        of_indicators += agreements
    if len(with_order) and not pairwise:
        better = indicators.towards_better(with_order, labels)
        severities, z["severity"] = indicators.severity(better, confidence)
        drifts, z["drift"] = indicators.drift(better, confidence)
        of_indicators += severities + drifts
    for (method, label), of_label in turned.groupby(["method", "label"], sort=False):
        one = labels[method, label]
        if one.binary or one.level == "nominal" or pairwise:
            of_indicators += [{"label": label} | row for row in consensus(of_label, one)]
    return of_indicators, z


def named(z: Sequence[tuple[dict[str, Any], str, pd.Series]], false_alarms: float) -> Iterator[dict[str, Any]]:
    """`annotator_z` of every annotator and indicator, with p-values adjusted within the corpus and group.

    Parameters
    ----------
    z : (head, indicator, (annotators,) z values)
        head : corpus, group and, where there is one, method.
    false_alarms : float
        Annotators whose adjusted p-value is lower are named.

    Notes
    -----
    `indicators.esd` adjusts for the number of annotators, Bonferroni's factor for that of indicators and methods: if
    all annotators of a group come from one normal distribution, the chance that any of them is named is at most
    `false_alarms`.
    """
    tests: dict[tuple[str, str], list[tuple[dict[str, Any], str, pd.Series, np.ndarray]]] = {}
    for head, indicator, values in z:
        p = indicators.esd(values.to_numpy(float), INDICATORS[indicator])
        if np.isfinite(p).any():
            tests.setdefault((head["corpus"], head["group"]), []).append((head, indicator, values, p))
    for family in tests.values():
        for head, indicator, values, p in family:
            for name, value, one in zip(values.index, values, p, strict=True):
                if not np.isfinite(value):
                    continue
                row = {"statistic": "annotator_z", "indicator": indicator, "annotator": name, "estimate": value}
                row |= {"p_value": one, "p_adjusted": min(1.0, one * len(family)), "n_annotators": len(values)}
                yield head | row | {"family": f"annotators and {len(family)} indicators, bonferroni"}


def flagged(results: Results, false_alarms: float) -> pd.DataFrame:
    """The rows of `annotator_z` that name an annotator, most conspicuous first."""
    rows = results["annotator_z"]
    return rows[rows["p_adjusted"] < false_alarms].sort_values("p_adjusted", kind="stable")


#: fewer annotators say nothing about accuracy
MIN_ANNOTATORS = 3
#: annotations per item on average below which accuracies and labels cannot be distinguished
MIN_VOTES = 3
#: items judged more than once below which there are no consensus labels
MIN_ITEMS = 100
#: smallest error rate, so that a single answer does not rule a label out
_LEAST = 1e-10


@dataclass(frozen=True)
class Consensus:
    """labels : (items, k) probability of each answer. errors : (annotators, k, k), the probability of an answer (last
    axis) given the true one. converged : whether the likelihood has converged."""

    labels: np.ndarray
    errors: np.ndarray
    converged: bool


def dawid_skene(
    items: np.ndarray, annotators: np.ndarray, answers: np.ndarray, *, precision: float = 1e-7, most: int = 2000
) -> Consensus:
    """Maximum likelihood estimates by EM, from shares of votes on (Dawid and Skene 1979, equations 2.3 to 2.5).

    Parameters
    ----------
    items, annotators, answers : (n,) int
        Numbers from 0 without gaps.
    precision : float
        Smallest change of the log-likelihood per answer with which the search goes on.
    """
    n_items, n_people, k = int(items.max()) + 1, int(annotators.max()) + 1, int(answers.max()) + 1
    answer_of = annotators * k + answers
    votes = sparse.csr_array((np.ones(len(items)), (items, answer_of)), shape=(n_items, n_people * k))
    labels = np.bincount(items * k + answers, minlength=n_items * k).reshape(n_items, k)
    labels = labels / labels.sum(axis=1, keepdims=True)
    before, converged = -np.inf, False
    for _ in range(most):
        prior = np.maximum(labels.mean(axis=0), _LEAST)
        counts = (votes.T @ labels).reshape(n_people, k, k)  # annotator, answer, truth
        counts = np.maximum(counts, _LEAST)
        errors = counts / counts.sum(axis=1, keepdims=True)
        log_p = np.log(prior) + votes @ np.log(errors).reshape(-1, k)
        top = log_p.max(axis=1, keepdims=True)
        p = np.exp(log_p - top)
        labels = p / p.sum(axis=1, keepdims=True)
        value = float(np.sum(top[:, 0] + np.log(p.sum(axis=1)))) / len(items)
        if converged := abs(value - before) < precision:
            break
        before = value
    return Consensus(labels, errors.transpose(0, 2, 1), converged)


def consensus(rows: Annotations, label: Label) -> Iterator[dict[str, Any]]:
    """What Dawid and Skene's model says of one label.

    Parameters
    ----------
    rows : DataFrame
        Oriented annotations by known people of one corpus, group, method and label: marks, choices, or answers without
        order, one of each person for an item.

    Yields
    ------
    rows of `consensus_changed`, the share of items whose consensus is not the answer of most; and `consensus_rate` of
    each system, of consensus labels and of the mean of annotations (`source`): for marks their rate, for comparisons
    won minus lost. Only items judged more than once count. A label without a model has one row of `consensus_changed`,
    whose note says why.
    """
    size = rows.groupby(ITEM, dropna=False, sort=False)["annotator"].transform("nunique")
    rows = rows[(size > 1).to_numpy()]
    items = pd.factorize(rows.groupby(ITEM, dropna=False, sort=False).ngroup())[0]
    people, names = pd.factorize(rows["annotator"], sort=True)
    answers, values = pd.factorize(rows["score"], sort=True)
    n = len(np.unique(items))
    if why := _why_not(n, len(names), answers):
        yield {"statistic": "consensus_changed", "estimate": np.nan, "n": n, "note": why}
        return
    estimated = dawid_skene(items, people, answers)
    row = {"statistic": "consensus_changed", "source": "dawid_skene"}
    if not estimated.converged:
        yield row | {"estimate": np.nan, "n": n, "note": "the likelihood did not converge"}
    votes = np.bincount(items * len(values) + answers, minlength=n * len(values)).reshape(n, -1)
    first = rows.iloc[np.unique(items, return_index=True)[1]]
    scores = {"mean": votes @ np.asarray(values, float) / votes.sum(axis=1)}
    if estimated.converged:
        chosen = estimated.labels.argmax(axis=1)
        untied = (votes == votes.max(axis=1, keepdims=True)).sum(axis=1) == 1
        changed = float(np.mean((chosen != votes.argmax(axis=1))[untied])) if untied.any() else np.nan
        note = {} if untied.any() else {"note": "every item is tied"}
        yield row | {"n": int(untied.sum()), "estimate": changed} | note
        scores["dawid_skene"] = np.asarray(values, float)[chosen]
    if not label.unordered:
        yield from _rates(first, scores)


def _why_not(n_items: int, n_people: int, answers: np.ndarray) -> str:
    if n_people < MIN_ANNOTATORS:
        return f"{n_people} annotators share items (at least {MIN_ANNOTATORS} needed)"
    if n_items < MIN_ITEMS:
        return f"{n_items} items judged more than once (at least {MIN_ITEMS} needed)"
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
