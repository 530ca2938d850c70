"""The alternative annotator test: may a judge take the place of annotators recruited at random?

Calderon, Reichart and Dror 2025, The Alternative Annotator Test for LLM-as-a-Judge (ACL 2025; arXiv 2501.10970),
section 3. Each annotator j is left out in turn; on each of j's items the judge and j are compared with the other
annotators. The judge passes j where it is as close to them, minus what it may be worse by because it is cheaper. It
wins when it passes half of the annotators or more.

The test needs at least three known annotators, each with enough items (30 in the paper) that others judged too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from math import nan

import numpy as np
import pandas as pd
from scipy.special import stdtr

from helpers.judges.choices import choices
from helpers.judges.items import ITEM, by_label_and_judge
from helpers.stats.correlation import clustered_se
from helpers.stats.multiplicity import adjust
from helpers.study.labels import METHODS, Label

MIN_ANNOTATORS, MIN_JUDGED, FALSE_DISCOVERIES = 3, 30, 0.05


def alignment(value: np.ndarray, others: np.ndarray, level: str) -> np.ndarray:
    """How close a judgement of each item is to those of the others.

    Parameters
    ----------
    value : (n,) array
    others : (n, m) array
        NaN where somebody did not judge.
    level : str
        At the nominal level and for two values, the share of others who say the same; else minus their root mean
        squared difference.

    Returns
    -------
    (n,) array, NaN where nobody else judged.

    References
    ----------
    Calderon et al. 2025, section 3.1.
    """
    present = np.isfinite(others)
    n = present.sum(axis=1)
    if level == "nominal":
        total = np.sum(present & (others == value[:, None]), axis=1).astype(float)
        return np.where(n > 0, total / np.maximum(n, 1), nan)
    squares = np.where(present, (others - value[:, None]) ** 2, 0.0).sum(axis=1)
    return np.where(n > 0, -np.sqrt(squares / np.maximum(n, 1)), nan)


def left_out(
    values: np.ndarray,
    judge: np.ndarray,
    dialogue: np.ndarray,
    level: str,
    *,
    cost: float = 0.15,
    min_items: int = MIN_JUDGED,
) -> pd.DataFrame:
    """The test of each annotator.

    Parameters
    ----------
    values : (items, annotators) array
        NaN where an annotator did not judge.
    judge : (items,) array
        On the same scale; NaN where there is none.
    dialogue : (items,) array
        The dialogue of each item.
    level : str
        See `alignment`.
    cost : float
        What the judge may be worse by (epsilon of the paper: 0.2 for experts, 0.15 for skilled annotators, 0.1 for
        crowd workers).

    Returns
    -------
    One row per annotator with enough items: annotator (column number), n, `judge` and `human` (shares of items on which
    each is as close to the others as the other one, ties counting for both), p_value as published (one-sided paired
    t test over items, H0: judge <= human - cost), p_clustered (the same with the standard error of whole dialogues) and
    both adjusted by Benjamini and Yekutieli, as in the paper.
    """
    out, present = [], np.isfinite(values)
    usable = np.isfinite(judge) & (present.sum(axis=1) > 1)
    for j in range(values.shape[1]):
        at = np.flatnonzero(present[:, j] & usable)
        if len(at) < min_items:
            continue
        others = np.delete(values[at], j, axis=1)  # of these items only: with many people that is a small part
        ours, theirs = (alignment(v[at], others, level) for v in (judge, values[:, j]))
        d = (theirs >= ours).astype(float) - (ours >= theirs)  # +1: the person is closer, -1: the judge, 0: alike
        codes = np.unique(dialogue[at], return_inverse=True)[1]
        p = _p(d.mean() - cost, d.std(ddof=1) / np.sqrt(len(d)), len(d) - 1)
        p_clustered = _p(d.mean() - cost, clustered_se((d - d.mean()) / len(d), codes), int(codes.max()))
        out.append((j, len(at), np.mean(ours >= theirs), np.mean(theirs >= ours), p, p_clustered))
    tests = pd.DataFrame(out, columns=["annotator", "n", "judge", "human", "p_value", "p_clustered"])
    for name in ("p_value", "p_clustered"):
        tests[f"{name}_adjusted"] = adjust(tests[name].to_numpy(float), "by")
    return tests


def _p(excess: float, se: float, df: int) -> float:
    """One-sided p that the mean is below 0; without any spread the sign decides."""
    if not np.isfinite(se) or df < 1:
        return nan
    if se == 0:
        return 0.0 if excess < 0 else 1.0
    return float(stdtr(df, excess / se))


def winning_rates(
    annotations: pd.DataFrame, labels: Iterable[Label], *, cost: float = 0.15, min_items: int = MIN_JUDGED
) -> Iterator[dict]:
    """The test for every corpus, method, label and judge.

    Parameters
    ----------
    annotations : DataFrame
        Choices between two responses are compared as nominal values.
    cost, min_items : see `left_out`

    Yields
    ------
    `winning_rate`: share of annotators whom the judge passes at a false discovery rate of 5%, with the p-values over
    items (`test` items, as published) and over dialogues (`test` dialogues). From 0.5 on the judge may replace
    annotators. `advantage_probability`: mean over annotators of the share of items on which it is at least as close to
    the others. Where the test does not apply the reason is given instead (estimate missing).
    """
    rated = annotations[annotations["dialogue_b"].isna()]
    rated, chosen = rated.assign(cluster=rated["dialogue"]), choices(annotations).assign(dialogue_b=None)
    labels = list(labels)
    for key, label, everybody, theirs in chain(by_label_and_judge(rated, labels), by_label_and_judge(chosen, labels)):
        people = everybody.merge(theirs[ITEM], on=ITEM)
        head, reason = key | {"level": METHODS[label.method].unit}, _why_not(people, min_items)
        if reason:
            yield head | {"statistic": "winning_rate", "test": "items", "cost": cost, "estimate": nan, "note": reason}
            continue
        once = people.drop_duplicates([*ITEM, "annotator"])
        wide = once.set_index([*ITEM, "annotator"])["score"].unstack()  # noqa: PD010
        judge = theirs.set_index(ITEM)["score"].reindex(wide.index).to_numpy(float)
        cluster = theirs.set_index(ITEM)["cluster"].reindex(wide.index).to_numpy()
        nominal = label.binary or METHODS[label.method].unit == "pair"
        level = "nominal" if nominal else label.level
        tests = left_out(wide.to_numpy(float), judge, cluster, level, cost=cost, min_items=min_items)
        head |= {"n": int(tests["n"].sum()), "n_annotators": len(tests)}
        yield head | {"statistic": "advantage_probability", "estimate": tests["judge"].mean()}
        for test, column in (("items", "p_value_adjusted"), ("dialogues", "p_clustered_adjusted")):
            passed = float((tests[column] < FALSE_DISCOVERIES).mean())
            yield head | {"statistic": "winning_rate", "test": test, "cost": cost, "estimate": passed}


def _why_not(people: pd.DataFrame, min_items: int) -> str:
    """Why the test does not apply to people's judgements of one label; '' where it does."""
    if not people["annotator_known"].all():
        return "Annotators are positions in a list, not people, so none can be left out."
    others = people.groupby(ITEM, dropna=False)["annotator"].transform("nunique") > 1
    enough = int((people[others].groupby("annotator").size() >= min_items).sum())
    if enough < MIN_ANNOTATORS:
        return f"{enough} annotators have {min_items} items that others also judged; {MIN_ANNOTATORS} are needed."
    return ""
