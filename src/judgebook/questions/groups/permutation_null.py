"""Does a difference between evaluator groups exceed chance?

The null hypothesis is that it does not matter which group judged, or which annotator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pandas as pd

from judgebook.questions.groups.effects import LabelScores, over_pairs, unit_sums
from judgebook.statistics.intervals import generator
from judgebook.statistics.permutation import Permutation, permutation_test
from judgebook.study.labels import METHODS

#: all ways to assign annotators to groups are enumerated when there are no more
EXACT_LIMIT = 10_000
#: numbers that one chunk of arrangements may hold at once
CHUNK = 4_000_000
#: a generator and k -> (k, q) sums of the first group under k random arrangements
_Draw = Callable[[np.random.Generator, int], np.ndarray]


def permutation_null(
    one: LabelScores, *, seed: int, exchange: str = "judgement", n_permutations: int = 10_000
) -> Iterator[dict[str, Any]]:
    """The group difference to expect if it did not matter who judged: its mean, its 95% quantile and a p-value.

    Parameters
    ----------
    one : LabelScores
        With the session of each judgement; items weighted alike where they have several annotations.
    exchange : 'judgement' or 'annotator'
        What the null makes exchangeable. *judgement*: what both groups judged is swapped between them, a whole session
        at a time; what only one group judged goes to either group at random, within the same system (or pair of
        systems), so that each group keeps its number. The people are fixed: a small p-value says that these people
        differ from those. *annotator*: whole annotators change groups, with all their judgements. A small p-value then
        holds for the groups; with few annotators there can be none.

    Returns
    -------
    Rows of group_difference_null (`point` is mean or q95) and group_difference_test; where there is no test, `note`
    says why.

    Notes
    -----
    For d, scores are standardised within each group first: neither leniency nor the spread of scores is a difference of
    effect sizes, and neither must enter the null. Rates are not: if a group with ten dialogues per system marks three
    times as often as one with 60, judgements permuted reject 7% of true nulls at 0.05. Annotators permuted keep their
    level where tastes vary twice as much in one group, not where those of three people vary three times as much (9%;
    `benchmarks/levels/other_tests.csv`).
    """
    for pair in one.group_pairs:
        two = _standardised(replace(one, groups=list(pair), scores=one.scores[one.scores["group"].isin(pair)]))
        test = _test(two, exchange, generator(seed, "group_null", exchange, *one.key, *pair), n_permutations)
        yield from _rows(two, exchange, test)


def _standardised(two: LabelScores) -> LabelScores:
    if two.effect == "h":
        return two
    n, total, squares = unit_sums(two.scores, np.zeros(len(two.scores)), two.groups, two.systems)[1].sum(axis=(0, 2)).T
    mean = total / n
    spread = np.sqrt(np.maximum(squares - n * mean**2, 0) / np.maximum(n - 1, 1))
    group = pd.Index(two.groups).get_indexer(two.scores["group"])
    score = (two.scores["score"] - mean[group]) / np.where(spread > 0, spread, 1.0)[group]
    return replace(two, scores=two.scores.assign(score=score))


def _exchange_judgements(two: LabelScores) -> tuple[np.ndarray, _Draw]:
    """Sums of the first group, and a function that draws them with judgements exchanged within items and sessions."""
    scores = two.scores
    items, sums = two.sums("item")
    sums = sums.reshape(len(items), 2, -1)
    judged = [np.isin(items, scores.loc[scores["group"] == g, "item"].to_numpy(str)) for g in two.groups]
    shared = judged[0] & judged[1]
    facts = scores.drop_duplicates("item").set_index("item").loc[items]
    session = pd.factorize(facts["session"].to_numpy()[shared])[0]
    swap = np.zeros((session.max(initial=-1) + 1, sums.shape[2]))
    np.add.at(swap, session, sums[shared, 1] - sums[shared, 0])
    base, alone, of_first = sums[shared, 0].sum(axis=0), sums[~shared].sum(axis=1), judged[0][~shared]
    kind = facts["system"].to_numpy()
    if METHODS[two.key[1]].unit == "pair":
        kind = np.array(["\x1f".join(sorted(p)) for p in zip(facts["system"], facts["system_b"], strict=True)])

    subsets = _subset_sums(kind[~shared], of_first, alone)

    def draw(rng: np.random.Generator, k: int) -> np.ndarray:
        first = base + rng.integers(0, 2, (k, len(swap))).astype(float) @ swap
        return first + subsets(rng, k)

    return base + of_first @ alone, draw


def _exchange_annotators(two: LabelScores) -> tuple[np.ndarray, _Draw, np.ndarray | None]:
    """The same with whole annotators exchanged; the sums of all arrangements where these are few."""
    people, sums = two.sums("annotator")
    work = sums.sum(axis=1).reshape(len(people), -1)
    of_first = two.home(people) == two.groups[0]
    n, n_mine, exact = len(people), int(of_first.sum()), None
    if comb(n, n_mine) <= EXACT_LIMIT:
        masks = np.zeros((comb(n, n_mine), n))
        np.put_along_axis(masks, np.array(list(combinations(range(n), n_mine))), 1.0, axis=1)
        exact = masks @ work
    return of_first @ work, _subset_sums(np.zeros(n), of_first, work), exact


def _test(two: LabelScores, exchange: str, rng: np.random.Generator, n: int) -> Permutation | str:
    """The permutation test of two groups, or the reason why there is none."""
    exact = None
    if exchange == "annotator":
        people = two.scores.groupby("group")["annotator"].nunique()
        if not two.scores["annotator_known"].all():
            return "annotators are positions, not people"
        if people.min() < 2:
            return f"{people.idxmin()} has {people.min()} annotator: group and person cannot be separated"
        first, draw, exact = _exchange_annotators(two)
    else:
        first, draw = _exchange_judgements(two)
    width = len(two.scores)
    total = unit_sums(two.scores, np.zeros(width), two.groups, two.systems)[1].sum(axis=(0, 1)).ravel()

    def difference(first: np.ndarray) -> np.ndarray:
        """(k,) differences when the first group has the sums `first` (k, systems * 3) and the second the rest."""
        of_groups = np.stack([first, total - first], axis=1)
        of_groups = np.where(
            np.abs(of_groups) < 1e-9, 0.0, of_groups
        )  # all minus all must leave nothing, in spite of rounding
        of_groups = of_groups.reshape(len(first), 2, len(two.systems), 3)
        return over_pairs(of_groups, two.effect)[:, 2]

    def permute(rng: np.random.Generator, k: int) -> np.ndarray:
        sizes = [len(part) for part in np.array_split(range(k), -(-k * width // CHUNK))]
        return np.concatenate([difference(draw(rng, size)) for size in sizes])

    return permutation_test(
        difference(first[None])[0],
        permute,
        rng=rng,
        n_permutations=n,
        alternative="greater",
        exact=None if exact is None else difference(exact),
    )


def _subset_sums(kind: np.ndarray, of_first: np.ndarray, rows: np.ndarray) -> _Draw:
    """A function of a generator and k that gives (k, q) sums of rows (n, q): those of random subsets with the same
    number of each kind as `of_first`."""
    parts = []
    for value in np.unique(kind):
        of_kind = rows[at := kind == value]
        if n := int(of_first[at].sum()):
            used = np.flatnonzero(of_kind.any(axis=0))  # a system's judgements have sums of their own
            parts.append((n, used, of_kind[:, used]))

    def draw(rng: np.random.Generator, k: int) -> np.ndarray:
        out = np.zeros((k, rows.shape[1]))
        for n, used, of_kind in parts:
            numbers = rng.random((k, len(of_kind)))
            smallest = numbers <= np.partition(numbers, n - 1, axis=1)[:, [n - 1]]
            out[:, used] += smallest.astype(float) @ of_kind
        return out

    return draw


def _rows(two: LabelScores, exchange: str, test: Permutation | str) -> Iterator[dict[str, Any]]:
    points: dict[str, Any] = {"mean": np.nan, "q95": np.nan}
    extra: dict[str, Any] = {}
    observed: dict[str, Any] = {"estimate": np.nan}
    note: str | None
    if isinstance(test, str):
        note = test
    else:
        defined = test.null[np.isfinite(test.null)]
        if len(defined):
            points = {"mean": np.mean(defined), "q95": np.quantile(defined, 0.95)}
        note = None if len(defined) and np.isfinite(test.observed) else "an effect is undefined on these data"
        how = f"{'all' if test.exact else 'random'} {len(test.null)} arrangements"
        observed = {"estimate": test.observed, "p_value": test.p_value, "note": note or how}
        extra = {"resample_unit": exchange, "n_undefined": test.n_undefined}
    for point, value in points.items():
        row = two.row("group_difference_null", *two.groups, exchange=exchange, point=point)
        yield row | extra | {"estimate": value, "note": note}
    yield two.row("group_difference_test", *two.groups, exchange=exchange) | {"note": note} | extra | observed
