"""How many pairs of systems each label distinguishes, in the data and in draws of some of the dialogues (Finch et al.
2023, Table 5).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from judgebook.questions.sensitivity.contrasts import ALPHAS, draw_p_values
from judgebook.questions.sensitivity.panels import Panel
from judgebook.questions.sensitivity.system_tests import pair_rows
from judgebook.statistics.intervals import generator
from judgebook.statistics.multiplicity import adjust_p_values

Families: TypeAlias = Sequence[tuple[str, str]]
#: what a family of tests comprises, and the adjustment made in it
FAMILIES: Families = (("none", "none"), ("label", "holm"), ("all", "holm"), ("all", "bh"), ("all", "by"))
#: those counted in draws
DRAW_FAMILIES = FAMILIES[:3]
#: numbers that the draws of dialogues made at one time may hold
AT_ONCE = 4_000_000


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


def count_significant(panels: Sequence[Panel], *, n: int, n_draws: int, seed: int) -> pd.DataFrame:
    """How many pairs of systems each label distinguishes (Table 5), over many draws of `n` dialogues per system.

    panels : one per method.

    Returns
    -------
    DataFrame of rows `n_significant`, by each method's published test, with `summary` `first` (a single draw, as in the
    paper), `mean`, `smallest` and `largest` over draws (a range, not an interval); and `system_difference` of the first
    draw, with `sample` of `draw`.
    """
    common: dict[str, object] = {"n_dialogues": n, "seed": seed}
    first: list[pd.DataFrame] = []
    counted: list[list[np.ndarray]] = []
    tests = [data.published_test for data in panels]
    for keys in draw_keys(panels, n_draws, generator(seed, "downsample")):
        found = [_of_draws(d, t, downsample(d, n, k)) for d, t, k in zip(panels, tests, keys, strict=True)]
        for data, test, (p, difference) in zip(panels, tests, found, strict=True) if not counted else ():
            first.append(pair_rows(data, test, p[0], difference[0], sample="draw", resample_unit=data.unit, **common))
        counted.append(_significant([p for p, _ in found], DRAW_FAMILIES))
    every = [np.concatenate(c) for c in zip(*counted, strict=True)]  # of all draws
    return pd.concat([*first, pd.DataFrame(_counts(panels, tests, every, DRAW_FAMILIES, common))], ignore_index=True)


def _of_draws(data: Panel, test: str, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`draw_p_values` of draws that together hold some of the rows only."""
    held = np.flatnonzero(weights.any(axis=0))
    return draw_p_values(data.take(held), test, weights[:, held])


def count_tests(panels: Sequence[Panel], tests: pd.DataFrame) -> pd.DataFrame:
    """`n_significant` (with `summary` of `first`) counted from tests that were made: `published_tests`.

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
    return pd.DataFrame(_counts(panels, names, _significant(p_values, FAMILIES), FAMILIES, {}))


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
