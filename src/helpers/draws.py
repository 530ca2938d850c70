"""Some of the dialogues of each system, drawn at random: as `times`, (k, rows) whether a row of `Scores` is drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from helpers.systems import Scores
from judgebook.codes import distinct

#: numbers that draws made at one time may hold
AT_ONCE = 4_000_000


def by_method(rows: pd.DataFrame, methods: Sequence[str], systems: Sequence[str], at_least: int) -> dict[str, Scores]:
    """Method -> scores of its systems with so many dialogues, of methods with two such systems that can be compared.

    rows : one annotation of each item (`items.one_each`).
    """
    found, present = {}, distinct(rows["method"])
    for method in (m for m in methods if m in present):
        part = rows[rows["method"] == method]
        sides = [part[["system", "dialogue"]].astype(str), part[["system_b", "dialogue_b"]].dropna().astype(str)]
        judged = pd.concat([s.set_axis(["system", "dialogue"], axis=1) for s in sides]).drop_duplicates()
        enough = judged["system"].value_counts()
        kept = [s for s in systems if enough.get(s, 0) >= at_least]
        if len(kept) > 1 and len((scores := Scores(part, kept)).pairs):
            found[method] = scores
    return found


def drawn(
    every: Sequence[Scores], n: int, n_draws: int, rng: np.random.Generator, at_once: int = AT_ONCE
) -> Iterator[list[np.ndarray]]:
    """For each of `every`, draws of n dialogues of each system, or pairs of dialogues of each pair of systems.

    Methods have the same dialogues, as far as they judged the same: those with the smallest of random numbers. As many
    draws at a time as memory allows.
    """
    places = {name: i for i, name in enumerate(sorted({name for s in every for name in s.units}))}
    rows = [np.array([places[name] for name in s.units], int)[s.unit] for s in every]
    largest = max(len(places), *(max(s.n.size, len(s.pairs) * len(s.labels)) for s in every))
    size = max(1, at_once // largest)
    for start in range(0, n_draws, size):
        numbers = rng.random((min(size, n_draws - start), len(places)))
        yield [smallest(s, numbers[:, at], n) for s, at in zip(every, rows, strict=True)]


def smallest(scores: Scores, numbers: np.ndarray, n: int) -> np.ndarray:
    """Which rows have the n smallest of (k, rows) numbers of their side; all where there are no more."""
    times = np.ones(numbers.shape)
    ends = np.flatnonzero(np.diff(np.r_[-1, scores.side, -1]))
    for start, end in pairwise(ends):
        if end - start > n:
            of_side = numbers[:, start:end]
            times[:, start:end] = of_side <= np.partition(of_side, n - 1, axis=1)[:, n - 1 : n]
    return times


def halves(scores: Scores, run: int, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(rows,) and (rows,): dialogues of one system, in two parts as if they were of two systems.

    Systems take turns with the run. 2n of its dialogues (or all) are divided as the study divides dialogues between it
    and another system, in halves where it has as many. Of comparisons n are taken, and sides exchanged at random.
    """
    one, two = np.zeros((2, len(scores.side)))
    if scores.compared:
        sides = np.lexsort((scores.side, scores.unit)).reshape(-1, 2)  # the two rows of each comparison
        chosen = rng.permutation(len(sides))[:n]
        turned = rng.choice([-1.0, 1.0], len(chosen)) < 0
        one[sides[chosen, turned.astype(int)]] = two[sides[chosen, 1 - turned.astype(int)]] = 1
        return one, two
    sizes = np.bincount(scores.side)
    m, system = len(sizes), run % len(sizes)
    rows = rng.permutation(np.flatnonzero(scores.side == system))
    half, both = min(n, len(rows) // 2), sizes[[system, (system + 1 + run // m % max(m - 1, 1)) % m]]
    first = int(np.clip(round(2 * half * both.min() / both.sum()), min(2, half), half))
    one[rows[:first]] = two[rows[first : 2 * half]] = 1
    return one, two


def over_draws(found: np.ndarray, levels: Sequence[float], labels: Sequence[str]) -> pd.DataFrame:
    """A row a label, level (`alpha`) and `summary` of numbers (levels, draws, labels): the first, and over draws."""
    over = {"first": found[:, 0]}
    if found.shape[1] > 1:
        over |= {"mean": found.mean(axis=1), "smallest": found.min(axis=1), "largest": found.max(axis=1)}
    wide = {name: pd.DataFrame(values, levels, labels) for name, values in over.items()}
    rows = pd.concat(wide, names=["summary", "alpha"])
    return rows.melt(ignore_index=False, var_name="label", value_name="estimate").reset_index()
