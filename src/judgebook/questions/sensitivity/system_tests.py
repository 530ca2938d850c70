"""Tests of all pairs of systems on every label, and counts of those that differ (Finch et al. 2023, section 7.3).

As published in Table 5 (`published_tests`, `count_significant` with draws of 32 conversations per system): z tests of
proportions on turns for behaviours, t tests on turns or dialogues for ratings, sign tests for comparisons, without
adjustment.

Primary (`session_tests`): the test of `primary_test` for every method, on one value per dialogue, permuted within
sessions.

Turns of one dialogue are not independent, so z and t tests on turns have inflated type I error, and the sign test is
conservative: counts then reflect differences between tests as well as labels; `power.null_rejection` quantifies this.
Two labels can also be equally sensitive to different things.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import nan
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from judgebook.execution import tasks
from judgebook.questions.sensitivity.contrasts import ALPHAS, Panel, blocks, coded, draw_p_values, numbered, patterns
from judgebook.questions.sensitivity.primary_test import Tested, pairs, two_systems
from judgebook.statistics.bounded_means import BOUNDED
from judgebook.statistics.intervals import generator
from judgebook.statistics.multiplicity import adjust_p_values

Families: TypeAlias = Sequence[tuple[str, str]]
#: what a family of tests comprises, and the adjustment made in it
FAMILIES: Families = (("none", "none"), ("label", "holm"), ("all", "holm"), ("all", "bh"), ("all", "by"))
#: those counted in draws
DRAW_FAMILIES = FAMILIES[:3]
#: numbers that permutations of all pairs of systems may draw: a minute or less
MOST_DRAWN = 500_000_000
#: numbers that the draws of dialogues made at one time may hold
AT_ONCE = 4_000_000
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
    rows = _rows(data, test, p[0], difference[0], resample_unit=data.unit, note=note)
    rows_of_pairs = [data.rows_of(*pair) for pair in data.pairs]
    counts = {"n": data.n, "n_clusters": data.n > 0}
    return rows.assign(**{k: np.concatenate([x[at].sum(axis=0) for at in rows_of_pairs]) for k, x in counts.items()})


def _rows(data: Panel, test: str, p: np.ndarray, difference: np.ndarray, **same: object) -> pd.DataFrame:
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


def draw_keys(panels: Iterable[Panel], n_draws: int, rng: np.random.Generator) -> Iterator[list[np.ndarray]]:
    """Random numbers (draws, rows) for each panel, the same for the same dialogue; as many draws at a time as memory
    allows.

    All methods are thus tested on the same conversations, as far as they judged the same.
    """
    names = [_row_names(p) for p in panels]
    every = {name: i for i, name in enumerate(sorted(set(np.concatenate(names).tolist())))}
    places = [np.array([every[n] for n in name], dtype=int) for name in names]
    cells = sum(len(p.pairs) * len(p.labels) for p in panels)
    size = max(1, AT_ONCE // max(len(every), cells))
    for start in range(0, n_draws, size):
        keys = rng.random((min(size, n_draws - start), len(every)))
        yield [keys[:, place] for place in places]


def _row_names(data: Panel) -> np.ndarray:
    """A name for each row that is the same in every panel: its dialogue, and its place among the rows of that."""
    place = pd.Series(data.dialogue).groupby(data.dialogue).cumcount()
    return (pd.Series(data.dialogue).astype(str) + "#" + place.astype(str)).to_numpy(object)


def downsample(data: Panel, n: int, keys: np.ndarray) -> np.ndarray:
    """(draws, rows) of 0 or 1: which rows each draw has, for each system (pair of systems) the `n` with the smallest
    keys, or all where there are no more."""
    out = np.zeros(keys.shape)
    kinds = data.system * len(data.systems) + data.system_b
    for kind in np.unique(kinds):
        rows = np.flatnonzero(kinds == kind)
        out[:, rows] = _smallest(keys[:, rows], n)
    return out


def _smallest(keys: np.ndarray, n: int) -> np.ndarray:
    if n >= keys.shape[1]:
        return np.ones(keys.shape)
    limit = np.partition(keys, n - 1, axis=1)[:, n - 1 : n]
    return (keys <= limit).astype(float)


def count_significant(
    panels: Sequence[Panel],
    *,
    n: int,
    n_draws: int,
    seed: int,
    within: str = "session",
    picked: Sequence[Panel] | None = None,
) -> pd.DataFrame:
    """How many pairs of systems each label distinguishes (Table 5), over many draws of `n` dialogues per system.

    Parameters
    ----------
    panels : sequence of Panel
        One per method.
    picked : sequence of Panel, optional
        The same dialogues with one annotation per item, for the published tests.
    within : {"session", "interactor"}
        See `contrasts.blocks`; the permutation test is approximated (`contrasts.session_normal`).

    Returns
    -------
    DataFrame of rows `n_significant`, by each method's published test and the permutation test, with `summary` `first`
    (a single draw, as in the paper), `mean`, `smallest` and `largest` over draws (a range, not an interval); and
    `system_difference` of the first draw, with `sample` of `draw`.
    """
    picked = panels if picked is None else picked
    kinds = ((picked, [data.published_test for data in picked]), (panels, ["session"] * len(panels)))
    common: dict[str, object] = {"n_dialogues": n, "seed": seed}
    first: tuple[list[pd.DataFrame], ...] = ([], [])
    counted: tuple[list[list[np.ndarray]], ...] = ([], [])
    for keys in draw_keys([*picked, *panels], n_draws, generator(seed, "downsample")):
        left = iter(keys)
        for (used, tests), rows, counts in zip(kinds, first, counted, strict=True):
            by_panel = [_of_draws(d, t, downsample(d, n, next(left)), within) for d, t in zip(used, tests, strict=True)]
            for data, test, (p, difference) in zip(used, tests, by_panel, strict=True) if not counts else ():
                unit = (
                    {"within": within, "resample_unit": "session"}
                    if test == "session"
                    else {"resample_unit": data.unit}
                )
                rows.append(_rows(data, test, p[0], difference[0], sample="draw", **unit, **common))
            counts.append(_significant([p for p, _ in by_panel], DRAW_FAMILIES))
    for (used, tests), rows, counts in zip(kinds, first, counted, strict=True):
        every = [np.concatenate(c) for c in zip(*counts, strict=True)]  # of all draws
        rows.append(pd.DataFrame(_counts(used, tests, every, DRAW_FAMILIES, common)))
    return pd.concat([*first[0], *first[1]], ignore_index=True)


def _of_draws(data: Panel, test: str, weights: np.ndarray, within: str) -> tuple[np.ndarray, np.ndarray]:
    """`draw_p_values` of draws that together hold some of the rows only."""
    held = np.flatnonzero(weights.any(axis=0))
    return draw_p_values(data.take(held), test, weights[:, held], within)


def count_tests(panels: Sequence[Panel], tests: pd.DataFrame) -> pd.DataFrame:
    """`n_significant` (with `summary` of `first`) counted from tests that were made, such as `session_tests`.

    tests : `system_difference` of one test per panel, every pair and label. Raises ValueError where there are several.
    """
    names, p_values = [], []
    for data in panels:
        rows = tests[tests["method"] == data.method]
        test_names = sorted(rows["test"].unique())
        if len(test_names) != 1:
            raise ValueError(f"tests: expected one test of method {data.method!r}, found {test_names}")
        wide = rows.set_index(["system", "system_b", "label"])["p_value"].unstack("label")  # noqa: PD010
        order = pd.MultiIndex.from_tuples([(data.systems[a], data.systems[b]) for a, b in data.pairs])
        names += test_names
        p_values.append(wide.reindex(index=order, columns=data.labels).to_numpy(float)[None])
    seeds = tests["seed"].dropna().tolist() if "seed" in tests else []
    common = {"seed": int(seeds[0])} if seeds else {}
    return pd.DataFrame(_counts(panels, names, _significant(p_values, FAMILIES), FAMILIES, common))


def _significant(p_values: list[np.ndarray], families: Families) -> list[np.ndarray]:
    """(draws, labels) how many pairs are significant, for each family, panel and level of ALPHAS, in this order.

    p_values : of each panel (draws, pairs, labels).
    """
    out, draws = [], len(p_values[0])
    ends = np.cumsum([p[0].size for p in p_values])[:-1]
    for over, method in families:
        adjusted = p_values
        if over == "all":
            flat = np.concatenate([p.reshape(draws, -1) for p in p_values], axis=1)
            parts = np.split(adjust_p_values(flat, method), ends, axis=1)
            adjusted = [part.reshape(p.shape) for part, p in zip(parts, p_values, strict=True)]
        elif over == "label":
            adjusted = [np.swapaxes(adjust_p_values(np.swapaxes(p, 1, 2), method), 1, 2) for p in p_values]
        # a missing p-value is not significant
        out += [np.sum(p < alpha, axis=1) for p in adjusted for alpha in ALPHAS]
    return out


def _counts(
    panels: Sequence[Panel],
    tests: list[str],
    counts: list[np.ndarray],
    families: Families,
    common: Mapping[str, object],
) -> list[dict[str, Any]]:
    """Rows of `n_significant`. counts : from `_significant`, of all draws."""
    rows, remaining = [], iter(counts)
    for over, method in families:
        for data, test in zip(panels, tests, strict=True):
            head = {"statistic": "n_significant", "level": "system", "method": data.method, "n": len(data.pairs)}
            head |= {"test": test, "adjusted_over": over, "adjust": method, **common}
            for alpha in ALPHAS:
                count = next(remaining)
                summaries = {"first": count[0]}
                if len(count) > 1:
                    summaries |= {
                        "mean": count.mean(axis=0),
                        "smallest": count.min(axis=0),
                        "largest": count.max(axis=0),
                    }
                rows += [
                    head | {"alpha": alpha, "summary": summary, "label": label, "estimate": float(value)}
                    for summary, values in summaries.items()
                    for label, value in zip(data.labels, values, strict=True)
                ]
    return rows
