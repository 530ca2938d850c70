"""Pairs of systems: scores by dialogue, and samples of dialogues in which two systems are compared."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd


class Scores:
    """Scores of one method, a row for each dialogue; a comparison of two dialogues has a row for each side.

    systems, labels : names, in order. pairs : (pairs, 2) which two sides are compared. side, unit : (rows,) numbers of
    a row's side (its system; of comparisons, a system against another) and of its dialogue (or pair of dialogues), by
    which rows are sorted. units : names of these. n, total, squares : (rows, labels) number and sums of the scores.
    Scores of comparisons are 1 where the side was chosen, else 0. marks : whether all others lie between 0 and 1.
    """

    def __init__(self, rows: pd.DataFrame, systems: Sequence[str]) -> None:
        """rows : one a score, comparisons from one side only. systems : those compared; others are left out."""
        self.compared = bool(rows["dialogue_b"].notna().all())
        kept = rows["system"].isin(systems) & (rows["system_b"].isin(systems) | (not self.compared))
        rows, place = rows[kept], {system: i for i, system in enumerate(systems)}
        unit = rows.groupby(["dialogue", "dialogue_b"], dropna=False).ngroup().to_numpy()
        label, self.labels = pd.factorize(rows["label"])
        side, score = rows["system"].map(place).to_numpy(int), rows["score"].to_numpy(float)
        self.marks = not self.compared and bool(np.all((score >= 0) & (score <= 1)))
        if self.compared:
            other = rows["system_b"].map(place).to_numpy(int)
            side = np.r_[side * len(systems) + other, other * len(systems) + side]
            unit, label, score = np.tile(unit, 2), np.tile(label, 2), np.r_[score > 0, score < 0].astype(float)
        first = rows["dialogue"].astype(str).groupby(unit[: len(rows)]).first()
        self.units = (first + "#" + first.groupby(first).cumcount().astype(str)).to_numpy(object)
        every, at = np.unique(np.c_[side, unit], axis=0, return_inverse=True)
        codes, self.side = np.unique(every[:, 0], return_inverse=True)
        self.unit, cell, shape = every[:, 1], at.ravel() * len(self.labels) + label, (len(every), len(self.labels))
        sums = (np.bincount(cell, w, np.prod(shape)).reshape(shape) for w in (np.ones(len(cell)), score, score**2))
        self.n, self.total, self.squares = sums
        self._items = at.ravel(), label, score
        two = np.c_[codes // len(systems), codes % len(systems)] if self.compared else np.c_[codes, codes]
        turned = {(a, b): i for i, (a, b) in enumerate(two)}
        sides = [(i, turned[b, a]) for (a, b), i in turned.items() if a < b]
        self.pairs = np.array(sides if self.compared else list(combinations(range(len(codes)), 2)), int).reshape(-1, 2)
        self.systems = np.array(systems, dtype=object)[two[:, 0]]

    def listed(self, **columns: np.ndarray) -> pd.DataFrame:
        """A row for each pair of systems and label. columns : (pairs, labels) arrays."""
        one, two = (np.repeat(self.systems[side], len(self.labels)) for side in self.pairs.T)
        names = {"system": one, "system_b": two, "label": np.tile(self.labels, len(self.pairs))}
        return pd.DataFrame({**names, **{name: values.ravel() for name, values in columns.items()}})


class Sample:
    """Scores of one side of every pair in k samples of dialogues: their number `n`, `total`, `mean` and standard
    deviation `sd` as (k, pairs, labels) arrays, and the number of `dialogues`.

    times : (k, rows) whether a row is in a sample. sides : (pairs,) only rows of these; None: all rows, one pair.
    """

    def __init__(self, scores: Scores, times: np.ndarray, sides: np.ndarray | None = None) -> None:
        self.of, self.times, self.sides = scores, times, sides
        sums = map(self._sums, (scores.n, scores.total, scores.squares, scores.n > 0))
        self.n, self.total, squares, self.dialogues = sums
        with np.errstate(divide="ignore", invalid="ignore"):
            self.mean = self.total / self.n
            apart = squares - self.total * self.mean
            self.sd = np.sqrt(np.where(apart > 1e-13 * squares, apart, 0.0) / (self.n - 1))

    def _sums(self, values: np.ndarray) -> np.ndarray:
        if self.sides is None:
            return np.asarray(self.times @ values)[:, None]
        starts = np.flatnonzero(np.r_[True, np.diff(self.of.side) > 0])
        return np.add.reduceat(self.times[:, :, None] * values, starts, axis=1)[:, self.sides]

    def scores(self, k: int, pair: int, label: int) -> np.ndarray:
        """The scores themselves, of one sample, pair and label."""
        row, of_label, score = self.of._items
        inside = self.times[k] > 0 if self.sides is None else (self.times[k] > 0) & (self.of.side == self.sides[pair])
        return np.asarray(score[inside[row] & (of_label == label)])


def of_scores(function: Callable[..., Any], one: Sample, two: Sample) -> np.ndarray:
    """P-values by a test of two arrays of scores, such as `scipy.stats.mannwhitneyu`; slow for thousands of draws."""
    p = np.full(one.n.shape, np.nan)
    with warnings.catch_warnings(action="ignore"):  # of samples that hardly vary
        for at in zip(*np.nonzero((one.n > 0) & (two.n > 0)), strict=True):
            p[at] = function(one.scores(*at), two.scores(*at)).pvalue
    return p


def p_values(test: Callable[..., np.ndarray], kind: str, one: Sample, two: Sample) -> np.ndarray:
    """`test(kind, one, two)` where both sides have scores; 1 where neither varies and both are equal."""
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.asarray(test(kind, one, two), dtype=float)
    alike = np.isnan(p) & (one.sd == 0) & (two.sd == 0) & np.isclose(one.mean, two.mean, rtol=1e-12, atol=0)
    return np.where((one.n > 0) & (two.n > 0), np.where(alike, 1.0, p), np.nan)
