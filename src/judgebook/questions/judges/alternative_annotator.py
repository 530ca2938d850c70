"""The alternative annotator test: may a judge take the place of annotators recruited at random?

Calderon, Reichart and Dror 2025, The Alternative Annotator Test for LLM-as-a-Judge (ACL 2025; arXiv 2501.10970),
section 3. Each annotator j is left out in turn; on each of j's items the judge and j are compared with the other
annotators. The judge passes j where it is as close to them, within the margin it is allowed for being cheaper. It
wins when it passes half of the annotators or more.

The test needs at least three known annotators, each with enough items (30 in the paper) that others judged too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from math import nan
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr

from judgebook.questions.judges.choices import choices
from judgebook.questions.judges.items import ITEM, by_label_and_judge
from judgebook.statistics.multiplicity import adjust_p_values
from judgebook.study.labels import METHODS, Label
from judgebook.study.schema import Annotations

MIN_ANNOTATORS, MIN_JUDGED, FALSE_DISCOVERIES = 3, 30, 0.05


class AnnotatorPanel:
    """Who judged which items of one label; made once, where many sets of scores on the same items are tested.

    Attributes
    ----------
    used : (judgements,) bool
        Of items that somebody else judged, by annotators with enough of them.
    annotator : array of int
        The annotators who are tested, ascending.
    n : array of int
        How many items each of them has.
    code : array of int
        The position in `annotator` of each judgement used.
    """

    def __init__(
        self, item: np.ndarray, annotator: np.ndarray, dialogue: np.ndarray, min_items: int = MIN_JUDGED
    ) -> None:
        """
        Parameters
        ----------
        item, annotator : (judgements,) int
            Numbers from 0; nobody has judged an item twice.
        dialogue : (items,) array
            The dialogue of each item.
        min_items : int
            Annotators with fewer items that others judged too are not tested, but are among the others.
        """
        self._item = item
        self._size = np.bincount(item, minlength=len(dialogue))
        several = self._size[item] > 1
        judged = np.bincount(annotator[several], minlength=annotator.max(initial=-1) + 1)
        self.annotator = np.flatnonzero(judged >= max(min_items, 1))
        self.n = judged[self.annotator]
        self.used = several & np.isin(annotator, self.annotator)
        self.code = np.searchsorted(self.annotator, annotator[self.used])
        names, cluster = np.unique(dialogue, return_inverse=True)
        pair = self.code * max(len(names), 1) + cluster[item[self.used]]
        pairs, self._pair, self._pair_size = np.unique(pair, return_inverse=True, return_counts=True)
        self._owner = pairs // max(len(names), 1)
        self._n_dialogues = np.bincount(self._owner, minlength=len(self.n))

    def closer(self, value: np.ndarray, judge: np.ndarray, level: str) -> np.ndarray:
        """Who is closer to the others: 1 the annotator, -1 the judge, 0 both alike; one number per judgement `used`.

        Parameters
        ----------
        value : (judgements,) array
        judge : (items,) array
            On the same scale.
        level : str
            At the nominal level and for two values the share of others who say the same counts; else the root mean
            squared difference from them, which is smaller for whoever is closer to their mean.

        References
        ----------
        Calderon et al. 2025, section 3.1.
        """
        item, of_annotator, other = self._item, value[self.used], judge[self._item[self.used]]
        if level == "nominal":
            levels = np.unique(np.concatenate([value, judge]))
            says = item * len(levels) + np.searchsorted(levels, value)
            count = np.bincount(says, minlength=len(self._size) * len(levels))
            first = item[self.used] * len(levels)
            agree = count[first + np.searchsorted(levels, of_annotator)] - 1
            return np.sign(agree - count[first + np.searchsorted(levels, other)] + (of_annotator == other))
        n = self._size[item[self.used]] - 1
        mean = (np.bincount(item, value, minlength=len(self._size))[item[self.used]] - of_annotator) / n
        apart = (other - of_annotator) * (
            (other + of_annotator) / 2 - mean
        )  # > 0: the mean is on the annotator's side of the middle
        nil = 1e-9 * (np.ptp(value) if len(value) else 0.0) ** 2
        return np.where(np.abs(apart) <= nil, 0, np.sign(apart)).astype(int)

    def p(self, closer: np.ndarray, cost: float) -> np.ndarray:
        """One-sided p of the paired t test over items, one per annotator (H0: the judge is worse by `cost` or more)."""
        total, squares = (np.bincount(self.code, x, minlength=len(self.n)) for x in (closer, closer**2))
        variance = (self.n * squares - total**2) / self.n / np.maximum(self.n - 1, 1)
        return _p(total / self.n - cost, np.sqrt(variance / self.n), self.n - 1)

    def p_clustered(self, closer: np.ndarray, cost: float) -> np.ndarray:
        """As `p`, with the standard error of whole dialogues."""
        mean = np.bincount(self.code, closer, minlength=len(self.n)) / self.n
        total = np.bincount(self._pair, closer, minlength=len(self._owner)) - mean[self._owner] * self._pair_size
        g = self._n_dialogues
        squares = np.bincount(self._owner, total**2, minlength=len(g))
        return _p(mean - cost, np.sqrt(g / np.maximum(g - 1, 1) * squares) / self.n, g - 1)


def left_out(
    panel: AnnotatorPanel, value: np.ndarray, judge: np.ndarray, level: str, *, cost: float = 0.15
) -> pd.DataFrame:
    """The test of each annotator.

    Parameters
    ----------
    panel, value, judge, level
        See `AnnotatorPanel.closer`.
    cost : float
        What the judge may be worse by (epsilon of the paper: 0.2 for experts, 0.15 for skilled annotators, 0.1 for
        crowd workers).

    Returns
    -------
    One row per annotator with enough items: annotator, n, `judge` and `human` (shares of items on which each is as
    close to the others as the other one, ties counting for both), p_value as published (one-sided paired t test over
    items, H0: judge <= human - cost), p_clustered (the same with the standard error of whole dialogues) and both
    adjusted by Benjamini and Yekutieli, as in the paper.
    """
    closer = panel.closer(value, judge, level)

    def share(of: np.ndarray) -> np.ndarray:
        return np.bincount(panel.code, of, minlength=len(panel.n)) / panel.n

    tests = pd.DataFrame({"annotator": panel.annotator, "n": panel.n, "judge": share(closer <= 0)})
    tests = tests.assign(human=share(closer >= 0), p_value=panel.p(closer, cost))
    tests = tests.assign(p_clustered=panel.p_clustered(closer, cost))
    for name in ("p_value", "p_clustered"):
        tests[f"{name}_adjusted"] = adjust_p_values(tests[name].to_numpy(float), "by")
    return tests


def _p(excess: np.ndarray, se: np.ndarray, df: np.ndarray) -> np.ndarray:
    """One-sided p that a mean is below 0; without any spread the sign decides. Missing without degrees of freedom."""
    p = stdtr(np.maximum(df, 1), excess / np.where(se > 0, se, 1.0))
    return np.where(df < 1, nan, np.where(se > 0, p, excess >= 0))


def winning_rates(
    annotations: Annotations, labels: Iterable[Label], *, cost: float = 0.15, min_items: int = MIN_JUDGED
) -> Iterator[dict[str, Any]]:
    """The test for every corpus, method, label and judge.

    Parameters
    ----------
    annotations : DataFrame
        Choices between two responses are compared as nominal values.
    cost : see `left_out`. min_items : see `AnnotatorPanel`.

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
    for key, label, everybody, of_judge in chain(by_label_and_judge(rated, labels), by_label_and_judge(chosen, labels)):
        people = everybody.merge(of_judge[ITEM], on=ITEM)
        if everybody.empty:  # the second judgements of a judge, in a corpus of their own
            continue
        head: dict[str, Any] = {**key, "level": METHODS[label.method].unit}
        reason = _why_not(people, min_items)
        if reason:
            yield head | {"statistic": "winning_rate", "test": "items", "cost": cost, "estimate": nan, "note": reason}
            continue
        judge = of_judge.assign(item=np.arange(len(of_judge)))
        once = people[[*ITEM, "annotator", "score"]].drop_duplicates([*ITEM, "annotator"])
        once = once.merge(judge[[*ITEM, "item"]], on=ITEM)
        annotator = np.unique(once["annotator"], return_inverse=True)[1]
        panel = AnnotatorPanel(once["item"].to_numpy(), annotator, judge["cluster"].to_numpy(), min_items)
        nominal = label.binary or METHODS[label.method].unit == "pair"
        level = "nominal" if nominal else label.level
        tests = left_out(panel, once["score"].to_numpy(float), judge["score"].to_numpy(float), level, cost=cost)
        head |= {"n": int(tests["n"].sum()), "n_annotators": len(tests)}
        yield head | {"statistic": "advantage_probability", "estimate": tests["judge"].mean()}
        for test, column in (("items", "p_value_adjusted"), ("dialogues", "p_clustered_adjusted")):
            passed = float((tests[column] < FALSE_DISCOVERIES).mean())
            yield head | {"statistic": "winning_rate", "test": test, "cost": cost, "estimate": passed}


def _why_not(people: Annotations, min_items: int) -> str:
    """Why the test does not apply to people's judgements of one label; '' where it does."""
    if not people["annotator_known"].all():
        return "Annotators are positions in a list, not people, so none can be left out."
    others = people.groupby(ITEM, dropna=False)["annotator"].transform("nunique") > 1
    enough = int((people[others].groupby("annotator").size() >= min_items).sum())
    if enough < MIN_ANNOTATORS:
        return f"{enough} annotators have {min_items} items that others also judged; {MIN_ANNOTATORS} are needed."
    return ""
