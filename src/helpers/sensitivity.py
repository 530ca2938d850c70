"""Sensitivity: does a label tell systems apart? (Finch et al. 2023, section 7.3 and Table 5)

As published (`published_tests`, `count_significant` with draws of 32 conversations a system): z tests of proportions on
turns for behaviours, t tests on turns or dialogues for ratings, sign tests for comparisons; counts of significant
pairs of systems at .01, .05 and .1.

Primary (`session_tests`): for every method the same permutation test on one value a dialogue, exchanged within
sessions.

When it misleads: turns of one dialogue are not independent, so the z and t tests on turns find differences where there
are none, and the sign test finds too few. Counts then rank tests, not labels. `power.null_rejection` shows by how much.
Two labels can also be equally sensitive to different things; a count says nothing about what differs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import nan

import numpy as np
import pandas as pd

from helpers.contrasts import ALPHAS, Panel, blocks, draw_p_values
from helpers.multiplicity import adjust
from helpers.resampling import blocked_permutation, generator, sign_flip_test
from helpers.schema import condition, read_condition

ROLES = ("published", "welch", "session")
#: families of tests and the adjustment made in each
FAMILIES = (("none", "none"), ("label", "holm"), ("all", "holm"), ("all", "bh"), ("all", "by"))
UNITS = ("dialogue", "session", "turn")
Row = dict[str, object]


def published_tests(data: Panel, test: str | None = None) -> pd.DataFrame:
    """The paper's test for each pair of systems and label, on all dialogues.

    test : 'welch' for Welch's t in place of Student's; None: z, Student's t or the sign test, as the method has it.

    Returns result rows system_difference, condition test=…: difference of means (shares, for marks; for comparisons
    wins less losses as a share of all), unadjusted p-value; n is the number of items, n_clusters that of dialogues or
    pairs.

    Checked through `contrasts.draw_p_values`, against statsmodels and scipy.
    """
    test = test or data.published_test
    p, difference = draw_p_values(data, test)
    note = None if data.row == data.unit else f"takes {data.unit}s of a {data.row} as independent"
    extra = {"resample_unit": data.unit, "note": note}
    return pd.DataFrame(_rows(data, test, p[0], difference[0], extra))


def session_tests(data: Panel, *, seed: int, within: str = "session", n_permutations: int = 10_000) -> pd.DataFrame:
    """The session-blocked permutation test for each pair of systems and label, on one value a dialogue.

    Under the null it does not matter to a dialogue's value which of the two systems took part. The two dialogues of a
    session that met both are exchanged within the session; dialogues of sessions that met one of them and a third
    system are exchanged with one another (`within='session'`), as the random assignment of systems to sessions makes
    them, or among those of the same person only ('interactor'). Comparisons: the sign of each is exchanged.

    What people or sessions have in common does not disturb it, because systems were assigned at random. It speaks of
    these annotators: with few of them, and each judging many dialogues, another crew may find otherwise.

    Returns result rows system_difference, condition test=session;within=…: difference within blocks, p-value; n is the
    number of dialogues, n_clusters that of blocks. A pair of systems without a block that holds both has the reason.

    Checked against `contrasts.session_normal`, the sign test, and by simulation of the null with effects of people.
    """
    rows: list[Row] = []
    data = data.per_dialogue()
    judged = data.n > 0
    for a, b in data.pairs:
        here = data.rows_of(a, b)
        for pattern in np.unique(judged[here], axis=1).T:
            columns = np.flatnonzero((judged[here] == pattern[:, None]).all(axis=0))
            part = data.take(np.flatnonzero(here)[pattern])
            rng = generator(seed, "session_tests", data.method, data.systems[a], data.systems[b])
            rows += _session_rows(part, columns, a, b, within, rng, n_permutations)
    return pd.DataFrame(rows).assign(seed=seed)


def _session_rows(part: Panel, columns, a: int, b: int, within: str, rng, n_permutations: int) -> list[Row]:
    values, names = part.total[:, columns], [part.labels[i] for i in columns]
    base = {"resample_unit": "session" if within == "session" else "session and interactor", "n": len(values)}
    where = {"level": part.row, "system": part.systems[a], "system_b": part.systems[b]}
    keys = condition(test="session", within=within if part.unit != "pair" else None)
    base |= where | {"statistic": "system_difference", "method": part.method, "condition": keys}
    try:
        if part.unit == "pair":
            base["n_clusters"] = len(values)
            found = sign_flip_test(values, rng=rng, n_permutations=n_permutations)
        else:
            block = blocks(part, within)
            base["n_clusters"] = len(np.unique(block))
            first = (part.system != a).astype(int)
            found = blocked_permutation(values, first, block, rng=rng, n_permutations=n_permutations)
    except ValueError as error:
        reason = {"estimate": nan, "p_value": nan, "ci_kind": "not_estimable", "note": str(error)}
        return [base | {"label": name} | reason for name in names]
    return [
        base | {"label": name, "estimate": float(found.observed[i]), "p_value": float(found.p_value[i])}
        for i, name in enumerate(names)
    ]


def draw_keys(panels: Iterable[Panel], n_draws: int, rng: np.random.Generator, unit: str = "dialogue") -> list:
    """Random numbers (draws, rows) of each panel, the same for the same dialogue (session, with `unit='session'`).

    So all methods are tested on the same conversations, as far as they judged the same.

    Checked by hand: methods that judged the same dialogues draw the same ones.
    """
    panels = list(panels)
    names = [p.session if unit == "session" and p.row != "pair" else _row_names(p) for p in panels]
    every = {name: i for i, name in enumerate(sorted(set(np.concatenate(names).tolist())))}
    keys = rng.random((n_draws, len(every)))
    return [keys[:, [every[n] for n in name]] for name in names]


def downsample(data: Panel, n: int, keys: np.ndarray, unit: str = "dialogue") -> np.ndarray:
    """Which rows each draw holds: `n` of each system, those with the smallest keys.

    unit : 'dialogue' (of comparisons: `n` pairs for each pair of systems); 'turn', for panels whose rows are turns;
    'session': for each pair of systems `n` of the sessions that met both, as comparisons have them.

    Returns 0 or 1, (draws, rows), with 'session' (pairs, draws, rows). Where there are no more than `n`, all are taken.

    Checked by counting what each draw holds.
    """
    if unit not in UNITS:
        raise ValueError(f"unit: expected one of {', '.join(UNITS)}, found {unit!r}")
    if (unit == "turn") != (data.row == "turn"):
        raise ValueError(f"unit: {unit!r} does not go with a panel whose rows are {data.row}s")
    if unit == "session" and data.row != "pair":
        return np.stack([_sessions_of(data, a, b, n, keys) for a, b in data.pairs])
    out = np.zeros(keys.shape)
    kinds = data.system * len(data.systems) + data.system_b
    for kind in np.unique(kinds):
        rows = np.flatnonzero(kinds == kind)
        out[:, rows] = _smallest(keys[:, rows], n)
    return out


def _sessions_of(data: Panel, a: int, b: int, n: int, keys: np.ndarray) -> np.ndarray:
    rows = np.flatnonzero(data.rows_of(a, b))
    session = pd.Series(data.session[rows])
    both = (pd.Series(data.system[rows]).groupby(session.to_numpy()).transform("nunique") == 2).to_numpy()
    rows, out = rows[both], np.zeros(keys.shape)
    names, first, inverse = np.unique(session[both].astype(str), return_index=True, return_inverse=True)
    if len(names):
        out[:, rows] = _smallest(keys[:, rows[first]], n)[:, inverse]
    return out


def _smallest(keys: np.ndarray, n: int) -> np.ndarray:
    if n >= keys.shape[1]:
        return np.ones(keys.shape)
    limit = np.partition(keys, n - 1, axis=1)[:, n - 1 : n]
    return (keys <= limit).astype(float)


def count_significant(
    panels: Sequence[Panel],
    *,
    n: int | None,
    n_draws: int,
    seed: int,
    alphas: Sequence[float] = ALPHAS,
    roles: Sequence[str] = ("published", "session"),
    unit: str = "dialogue",
    within: str = "session",
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """How many pairs of systems each label tells apart (Table 5), over many draws of `n` dialogues a system.

    Parameters
    ----------
    panels : one a method. n : None: all dialogues; there is then nothing to draw.
    roles : 'published' (each method's own test), 'welch' (Welch's t for ratings), 'session' (the permutation test, by
    its
        normal approximation). unit : see `downsample`.

    Returns
    -------
    counts : result rows n_significant, condition test=…;alpha=…;family=…;adjust=…;n_dialogues=…;summary=… with
    summary first (one
        draw, as in the paper), mean, smallest and largest over draws: a range, not an interval. Families: the pairs of
        systems of one label (label), all pairs and labels of all methods (all).
    first : result rows system_difference of the first draw, condition sample=draw, for a plot of p-values.

    Notes
    -----
    The published counts are one draw. Checked against a loop with scipy and statsmodels.
    """
    keys = draw_keys(panels, n_draws if n else 1, generator(seed, "downsample"), unit)
    weights = [downsample(d, n, k, unit) if n else None for d, k in zip(panels, keys, strict=True)]
    counts, first = [], []
    for role in roles:
        tests = [_test(d, role) for d in panels]
        found = [draw_p_values(d, t, w, within) for d, t, w in zip(panels, tests, weights, strict=True)]
        for d, t, (p, difference) in zip(panels, tests, found, strict=True):
            extra = {"resample_unit": "session" if t == "session" else d.unit, "seed": seed}
            where = {"sample": "draw" if n else "all", "n_dialogues": n, "within": within if t == "session" else None}
            first += _rows(d, t, p[0], difference[0], extra, **where)
        counts += _count_rows(panels, tests, [p for p, _ in found], alphas, n, seed)
    return pd.DataFrame(counts), pd.DataFrame(first)


def count_tests(panels: Sequence[Panel], tests: pd.DataFrame, alphas: Sequence[float] = ALPHAS) -> pd.DataFrame:
    """How many pairs of systems each label tells apart by tests that were made, such as `session_tests`.

    tests : rows system_difference of one test a panel, every pair and label. Returns result rows n_significant as from
    `count_significant`, with summary=first and without n_dialogues. Checked against a loop with `statsmodels`.
    """
    names, p_values, seeds = [], [], tests["seed"].dropna() if "seed" in tests else pd.Series(dtype=float)
    for data in panels:
        rows = tests[tests["method"] == data.method]
        found = rows["condition"].map(lambda c: read_condition(c)["test"]).unique()
        if len(found) != 1:
            raise ValueError(f"tests: expected one test of method {data.method!r}, found {sorted(found)}")
        wide = rows.set_index(["system", "system_b", "label"])["p_value"].unstack("label")  # noqa: PD010
        order = pd.MultiIndex.from_tuples([(data.systems[a], data.systems[b]) for a, b in data.pairs])
        names.append(str(found[0]))
        p_values.append(wide.reindex(index=order, columns=data.labels).to_numpy(float)[None])
    seed = int(seeds.iloc[0]) if len(seeds) else None
    return pd.DataFrame(_count_rows(panels, names, p_values, alphas, None, seed))


def _test(data: Panel, role: str) -> str:
    if role not in ROLES:
        raise ValueError(f"roles: expected some of {', '.join(ROLES)}, found {role!r}")
    own = data.published_test
    return own if role == "published" else "session" if role == "session" else own.replace("student", "welch")


def _count_rows(panels, tests, p_values: list[np.ndarray], alphas, n: int | None, seed: int | None) -> list[Row]:
    rows, draws = [], len(p_values[0])
    flat = np.concatenate([p.reshape(draws, -1) for p in p_values], axis=1)
    ends = np.cumsum([p[0].size for p in p_values])[:-1]
    for family, method in FAMILIES:
        if family == "all":
            parts = np.split(adjust(flat, method), ends, axis=1)
            adjusted = [a.reshape(p.shape) for a, p in zip(parts, p_values, strict=True)]
        else:
            by_label = [np.swapaxes(p, 1, 2) for p in p_values]
            adjusted = [np.swapaxes(adjust(p, method) if method != "none" else p, 1, 2) for p in by_label]
        for data, test, p in zip(panels, tests, adjusted, strict=True):
            for alpha in alphas:
                count = np.sum(p < alpha, axis=1)  # a missing p-value is not significant
                where = {"test": test, "alpha": alpha, "family": family, "adjust": method, "n_dialogues": n}
                rows += _summaries(data, count, draws, where, seed)
    return rows


def _summaries(data: Panel, count: np.ndarray, draws: int, where: dict, seed: int | None) -> list[Row]:
    summary = {"first": count[0]}
    if draws > 1:
        summary |= {"mean": count.mean(axis=0), "smallest": count.min(axis=0), "largest": count.max(axis=0)}
    base = {"statistic": "n_significant", "level": "system", "method": data.method, "n": len(data.pairs), "seed": seed}
    return [
        base | {"condition": condition(summary=name, **where), "label": label, "estimate": float(values[i])}
        for name, values in summary.items()
        for i, label in enumerate(data.labels)
    ]


def _rows(data: Panel, test: str, p: np.ndarray, difference: np.ndarray, extra: Row, **keys: object) -> list[Row]:
    level = data.row if test == "session" else data.unit
    base = {"statistic": "system_difference", "level": level, "method": data.method}
    base |= {"condition": condition(test=test, **keys)} | extra
    rows = []
    for i, (a, b) in enumerate(data.pairs):
        here = data.n[data.rows_of(a, b)]
        names = {"system": data.systems[a], "system_b": data.systems[b]}
        for j, label in enumerate(data.labels):
            sizes = {"n": int(here[:, j].sum()), "n_clusters": int(np.sum(here[:, j] > 0))}
            found = {"label": label, "estimate": difference[i, j], "p_value": p[i, j]}
            rows.append(base | names | found | (sizes if keys.get("sample") != "draw" else {}))
    return rows


def _row_names(data: Panel) -> np.ndarray:
    """A name for each row that is the same in every panel: its dialogue, and its place among the rows of that."""
    place = pd.Series(data.dialogue).groupby(data.dialogue).cumcount()
    return (pd.Series(data.dialogue).astype(str) + "#" + place.astype(str)).to_numpy(object)
