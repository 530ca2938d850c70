"""Tests of all pairs of systems on every label (Finch et al. 2023, section 7.3).

As published in Table 5 (`published_tests`; `significance.count_significant` with draws of 32 conversations per system):
z tests of proportions on turns for behaviours, t tests on turns or dialogues for ratings, sign tests for comparisons,
without adjustment.

Primary (`session_tests`): the test of `primary_test` for every method, on one value per dialogue, permuted within
sessions.

Turns of one dialogue are not independent, so z and t tests on turns have inflated type I error, and the sign test is
conservative: counts then reflect differences between tests as well as labels; `power.null_rejection` quantifies this.
Two labels can also be equally sensitive to different things.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import nan
from typing import Any

import numpy as np
import pandas as pd

from judgebook.execution import tasks
from judgebook.questions.sensitivity.contrasts import blocks, coded, draw_p_values, numbered, patterns
from judgebook.questions.sensitivity.panels import Panel
from judgebook.questions.sensitivity.primary_test import Tested, pairs, two_systems
from judgebook.statistics.bounded_means import BOUNDED
from judgebook.statistics.intervals import generator

#: numbers that permutations of all pairs of systems may draw: a minute or less
MOST_DRAWN = 500_000_000
#: pairs of systems in one task
PAIRS = 64
#: columns that differ between labels
_OF_LABELS = ["label", "estimate", "p_value", "note"]
#: `note` of a p-value that was not counted
SADDLEPOINT = "p-value by saddlepoint: too many arrangements to go through or to draw"


def published_tests(data: Panel, test: str | None = None) -> pd.DataFrame:
    """The paper's test for each pair of systems and label, on all dialogues.

    test : `welch` for Welch's t in place of Student's; None: z, Student's t or the sign test, depending on the method.

    Returns rows of `system_difference`: the difference of means (shares, for marks; for comparisons wins minus losses
    as a share of all) and the unadjusted p-value. `n` counts items, `n_clusters` dialogues or pairs.
    """
    test = test or data.published_test
    p, difference = draw_p_values(data, test)
    note = None if data.row == data.unit else f"takes {data.unit}s of a {data.row} as independent"
    rows = pair_rows(data, test, p[0], difference[0], resample_unit=data.unit, note=note)
    rows_of_pairs = [data.rows_of(*pair) for pair in data.pairs]
    counts = {"n": data.n, "n_clusters": data.n > 0}
    return rows.assign(**{k: np.concatenate([x[at].sum(axis=0) for at in rows_of_pairs]) for k, x in counts.items()})


def pair_rows(data: Panel, test: str, p: np.ndarray, difference: np.ndarray, **same: object) -> pd.DataFrame:
    """A row for each pair of systems and label. p, difference : (pairs, labels). same : columns of every row."""
    level = data.row if test == "session" else data.unit
    same |= {"statistic": "system_difference", "level": level, "method": data.method, "test": test}
    names, (a, b) = np.array(data.systems, dtype=object), np.array(data.pairs).T.repeat(len(data.labels), axis=1)
    columns = {"system": names[a], "system_b": names[b], "label": np.tile(data.labels, len(data.pairs))}
    return pd.DataFrame({**same, **columns, "estimate": difference.ravel(), "p_value": p.ravel()})


def session_tests(data: Panel, *, seed: int, within: str = "session", n_permutations: int = 10_000) -> pd.DataFrame:
    """The session-blocked permutation test for each pair of systems and label, on one value per dialogue.

    Under the null hypothesis the two systems have the same mean (`primary_test` allows them to differ in spread and in
    number). Dialogues are exchanged within `contrasts.blocks`; of comparisons the sign is exchanged. Several dialogues
    of a system in one session (parts of one chat) are exchanged together, with their mean. Effects of people and
    sessions do not bias the test, because systems were assigned at random. It generalises to other dialogues judged by
    the same annotators, not to other annotators.

    Where drawing would take longer than MOST_DRAWN allows, p-values are those of `statistics.saddlepoint`, except where
    all arrangements can be gone through; `note` says so. With `data.ends`, bounds of means take the place of the test
    where few dialogues lie away from one end of the scale (`primary_test`), and `note` says so too.

    Returns rows of `system_difference` with the difference within blocks; `n` counts dialogues, `n_clusters` blocks. A
    pair of systems without a block that has both carries the reason in `note`.
    """
    data = numbered(data.per_dialogue())
    draws = None if too_many(data, n_permutations) else n_permutations
    parts = [(data, pairs, seed, within, draws) for pairs in pieces(data.pairs)]
    tested = tasks.run(_tests_of_pairs, parts, doing="permutation tests")
    return pd.concat(tested, ignore_index=True).assign(statistic="system_difference", test="session", seed=seed)


def too_many(data: Panel, n_permutations: int) -> bool:
    """Whether permuting every pair of systems would draw more than MOST_DRAWN numbers, or hold too many at once."""
    rows = len(data.system) * (1 if data.unit == "pair" else len(data.systems) - 1)
    return n_permutations * max(rows, len(data.labels) * PAIRS) > MOST_DRAWN


def pieces(pairs: Sequence[tuple[int, int]]) -> list[Sequence[tuple[int, int]]]:
    """Pairs of systems in runs of PAIRS, each a task of its own."""
    return [pairs[i : i + PAIRS] for i in range(0, len(pairs), PAIRS)]


def _tests_of_pairs(
    data: Panel, pairs: Sequence[tuple[int, int]], seed: int, within: str, draws: int | None
) -> pd.DataFrame:
    """Rows of some pairs of systems. draws : permutations, each pair having its own stream; None: saddlepoints."""
    parts: list[dict] = []
    judged = data.n > 0
    for a, b in pairs:
        rows_of_pair = np.flatnonzero(data.rows_of(a, b))
        for pattern in patterns(judged[rows_of_pair]):
            columns = np.flatnonzero((judged[rows_of_pair] == pattern[:, None]).all(axis=0))
            part = data.take(rows_of_pair[pattern])
            rng = generator(seed, "session_tests", data.method, data.systems[a], data.systems[b])
            parts.append(_session_rows(part, columns, a, b, within, rng, draws))
    rows = pd.DataFrame(parts).explode(_OF_LABELS, ignore_index=True)
    return rows.astype({"estimate": float, "p_value": float})


def _session_rows(
    part: Panel, columns: np.ndarray, a: int, b: int, within: str, rng: np.random.Generator, draws: int | None
) -> dict[str, Any]:
    """The columns of the rows of one pair of systems: of _OF_LABELS an array, of the others a value."""
    part = part.only_labels(columns)
    names = np.array(part.labels, dtype=object)
    base: dict[str, Any] = {
        "resample_unit": "session" if within == "session" else "session and interactor",
        "n": len(part.system),
        "level": part.row,
        "method": part.method,
        "system": part.systems[a],
        "system_b": part.systems[b],
    }
    try:
        tested = session_test(part, a, within, rng=rng, n_permutations=draws)
        observed, p = tested.difference, tested.p_value
        base["note"] = np.full(len(names), SADDLEPOINT if tested.approximate else None, dtype=object)
        base["note"][np.broadcast_to(tested.bounded, len(names))] = BOUNDED
        base |= {"n_clusters": tested.n_blocks} | ({} if part.unit == "pair" else {"within": within})
    except ValueError as error:
        base |= {"ci_kind": "not_estimable", "note": np.full(len(names), str(error), dtype=object)}
        observed = p = np.full(len(names), nan)
    return base | {"label": names, "estimate": observed, "p_value": p}


def session_test(
    part: Panel,
    a: int,
    within: str = "session",
    *,
    rng: np.random.Generator | None = None,
    n_permutations: int | None = None,
) -> Tested:
    """The primary test (`primary_test`) of the totals of two systems' rows.

    part : one value per row, all judged (or pairs of dialogues of the two systems). a : the first system.
    n_permutations : None for saddlepoints. Raises ValueError where nothing can be exchanged.
    """
    part = one_per_session(part)
    if part.unit == "pair":
        return pairs(part.total, rng=rng, n_permutations=n_permutations)
    second = (part.system != a).astype(int)
    held = blocks(part, within)
    return two_systems(part.total, second, held, ends=part.ends, rng=rng, n_permutations=n_permutations)


def one_per_session(part: Panel) -> Panel:
    """`part` with the mean of a system's rows in each session (of a pair of systems' rows) in place of the rows.

    Parts of one chat, say, are not independent, and are exchanged together. part : one value per row.
    """
    kinds = len(part.systems) + 1
    code, names = pd.factorize((coded(part.session) * kinds + part.system) * kinds + part.system_b)
    if len(names) == len(code):
        return part
    order = np.argsort(code, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(code[order]) > 0])
    size = np.diff(np.r_[starts, len(code)])[:, None]
    mean = np.add.reduceat(part.total[order], starts, axis=0) / size
    return replace(part.take(order[starts]), total=mean, squares=mean**2)
