"""Type I error rate and power of tests between two systems, by simulation.

- `placebo_size`: the dialogues of one real system are split in two at random, and the halves compared as if they were
  two systems. Dependence between turns of a dialogue, or dialogues of an interactor, is that of the data; there is no
  difference. Of a comparison, the sign is drawn at random.
- `power_curves`: dialogues are drawn from those observed, and the observed difference is the true one; at the nominal
  level, and at the level at which the same test rejects 5% of placebo comparisons (size-corrected), because what a test
  with an inflated type I error rate finds is not all power.
- `false_crossings`: equal systems compared after each dialogue until the first significant result.

Many runs are simulated at once: a run is a row of weights, how often each dialogue is in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from judgebook.questions.operating_characteristics.many_data_sets import SHARED
from judgebook.questions.operating_characteristics.monte_carlo import Row, SimulationPlan, mean, share, shared_out
from judgebook.questions.sensitivity.contrasts import ALPHAS, draw_p_values, sign_test, t_test
from judgebook.questions.sensitivity.panels import Panel
from judgebook.questions.sensitivity.power import resample
from judgebook.statistics.permutation import from_null

#: a system with fewer dialogues is not split
LEAST = 10
#: arrangements of the permutation test in a simulation
N_ARRANGEMENTS = 999
#: dialogues per half, at most
MOST = 100
#: the level of tests of power and of sequential testing
ALPHA = 0.05


def _tests_of(data: Panel) -> list[str]:
    """The tests of a method: as published, Welch's t of dialogue values, and ours (`session`).

    `session` permutes; `session_normal` is its normal approximation, which repeated draws use.
    """
    if data.unit == "pair":
        return ["sign", "session"]
    published = [data.published_test, *(["welch"] if data.published_test == "student" else [])]
    return [*published, *(["dialogue_welch"] if data.row != data.unit else []), "session", "session_normal"]


def _base(data: Panel, test: str, **keys: object) -> Row:
    level = data.row if "session" in test or test == "dialogue_welch" else data.unit
    return {"level": level, "method": data.method, "test": test} | keys


def _used(data: Panel, picked: Panel, test: str) -> Panel:
    """What a test is given: all annotations if it is ours, one per item if it is a published one."""
    return data if test.startswith("session") or test == "dialogue_welch" else picked


def placebo_size(data: Panel, plan: SimulationPlan, *, picked: Panel | None = None) -> list[Row]:
    """Share of placebo comparisons that each test calls significant at each of ALPHAS.

    Runs go through the systems in turn; each takes two halves of one system's dialogues, without replacement.

    data, picked : the same dialogues with all annotations, and with one per item for the tests as published; None: the
    same.

    Returns
    -------
    Rows of `null_rejection` for each label, and without a label for the mean over labels. None where no system has
    LEAST dialogues.
    """
    rows, picked = [], picked or data
    splits = _halves(data, plan)
    for test in _tests_of(picked) if splits else ():
        used = _used(data, picked, test)
        p = np.concatenate([_placebo_p(used, test, s, drawn, plan) for s, drawn in splits])
        n = splits[0][1].shape[1] // (1 if data.unit == "pair" else 2)
        base = _base(data, test, n_dialogues=n, within="session" if "session" in test else None)
        rows += [row for alpha in ALPHAS for row in _rejections(data, p, base | {"alpha": alpha})]
    return rows


def _rejections(data: Panel, p: np.ndarray, base: Row) -> list[Row]:
    """Rows for the share of p-values below alpha, by label and over labels; p (runs, labels)."""
    hits, finite = p < base["alpha"], np.isfinite(p)
    out = []
    for label, hit, valid in zip(data.labels, hits.T, finite.T, strict=True):
        row = share("null_rejection", int(hit.sum()), int(valid.sum()))
        out.append(base | row | {"label": label, "n_undefined": int(np.sum(~valid))})
    some = finite.any(axis=1)
    over = hits[some].sum(axis=1) / finite[some].sum(axis=1)
    # labels share the runs: the Monte Carlo error of their mean is that between runs
    return [*out, base | mean("null_rejection", over) | {"n_undefined": int(np.sum(~some))}]


def _halves(data: Panel, plan: SimulationPlan) -> list[tuple[int, np.ndarray]]:
    """(system, drawn): the rows of each run, (runs, 2n), the first n of which are one half; comparisons (runs, n)."""
    rng = plan.rng("placebo", data.method)
    if data.unit == "pair":
        kinds = pd.Series(data.system * len(data.systems) + data.system_b).value_counts()
        n = int(min(kinds.median(), MOST))
        if n < LEAST:
            return []
        return [(-1, np.argsort(rng.random((plan.n_runs, len(data.system))), axis=1)[:, :n])]
    rows = [np.flatnonzero(data.system == s) for s in range(len(data.systems))]
    usable = [s for s, r in enumerate(rows) if len(r) >= LEAST]
    n = min(MOST, *(len(rows[s]) // 2 for s in usable)) if usable else 0
    out = []
    for s, n_runs in zip(usable, shared_out(plan.n_runs, len(usable)), strict=True):
        out.append((s, rows[s][np.argsort(rng.random((n_runs, len(rows[s]))), axis=1)[:, : 2 * n]]))
    return out


def _placebo_p(data: Panel, test: str, system: int, drawn: np.ndarray, plan: SimulationPlan) -> np.ndarray:
    """(runs, labels) p-values; drawn as from `_halves`."""
    rng = plan.rng("placebo", data.method, test, str(system))
    if test == "session":
        return _permuted(data.per_dialogue(), drawn, rng)
    if data.unit == "pair":
        return _signs(data, drawn, rng)
    n = drawn.shape[1] // 2
    rows = np.unique(drawn)
    weights = np.zeros((len(drawn), 2, len(data.system)))
    for half in (0, 1):
        np.put_along_axis(weights[:, half], drawn[:, half * n : (half + 1) * n], 1.0, axis=1)
    of_twins = weights[:, :, rows].reshape(len(drawn), -1)
    return draw_p_values(_twins(data, rows), test.removesuffix("_normal"), of_twins)[0][:, 0]


def _twins(data: Panel, rows: np.ndarray) -> Panel:
    """The same rows twice, as if of two systems: which of them a run holds is a matter of weights."""
    system = np.repeat([0, 1], len(rows))
    return replace(data.take(np.tile(rows, 2)), systems=["one", "other"], system=system)


def _signs(data: Panel, drawn: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """P-values of sign tests of the comparisons drawn, the sign of each turned at random."""
    sign = np.where(rng.random(drawn.shape) < 0.5, -1.0, 1.0)[:, :, None] * data.total[drawn]
    return sign_test(np.sum(sign > 0, axis=1), np.sum(sign < 0, axis=1))


def _permuted(data: Panel, drawn: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """P-values of the permutation test: halves exchanged throughout, as in one system no session holds both; signs
    turned for comparisons. SHARED runs at a time share their arrangements."""
    n, pair = drawn.shape[1], data.unit == "pair"
    p = []
    for start in range(0, len(drawn), SHARED):
        values = data.values[drawn[start : start + SHARED]]  # (runs, n, labels)
        if pair:
            flips = np.where(rng.random((N_ARRANGEMENTS, n)) < 0.5, -1.0, 1.0)
            observed = np.einsum("rnl,rn->rl", values, np.where(rng.random(values.shape[:2]) < 0.5, -1.0, 1.0))
        else:
            half = np.where(np.arange(n) < n // 2, 1.0, -1.0)
            flips = rng.permuted(np.tile(half, (N_ARRANGEMENTS, 1)), axis=1)
            observed = np.einsum("rnl,n->rl", values, half)
        null = np.tensordot(flips, values, axes=(1, 1))  # (arrangements, runs, labels)
        p_values = from_null(observed, null, exact=False)
        p.append(p_values.mid_p if pair else p_values.p_value)  # as system_tests.p_value
    return np.concatenate(p)


def power_curves(data: Panel, plan: SimulationPlan, *, sizes: Sequence[int], picked: Panel | None = None) -> list[Row]:
    """Power at ALPHA by the number of dialogues per system, at the nominal and at the corrected level.

    Runs are shared out over the pairs of systems. data, picked : as for `placebo_size`.

    Returns
    -------
    Rows of `power`, the mean over pairs of systems: for each label, and without a label for the mean over labels.
    `session` is by its normal approximation; for comparisons it is the sign test, and left out.
    """
    rows, picked = [], picked or data
    tests = [t for t in _tests_of(picked) if not t.startswith("session")]
    tests += ["session"] if data.unit != "pair" else []
    for n in sizes if data.pairs else ():
        weights = resample(data, n, -(-plan.n_runs // len(data.pairs)), plan.rng("power", data.method, str(n)))
        for test in tests:
            used = _used(data, picked, test)
            p = draw_p_values(used, test, weights)[0]  # (draws, pairs, labels)
            null = _null_p(used, test, n, plan)
            level, usable = np.zeros(null.shape[1]), ~np.isnan(null).all(axis=0)
            level[usable] = np.nanquantile(null[:, usable], ALPHA, axis=0, method="lower")
            base = _base(data, test, alpha=ALPHA, n_dialogues=n, effect="observed")
            base |= {"within": "session"} if test == "session" else {}
            for size, limit in (("nominal", ALPHA), ("corrected", level)):
                shares = (p < limit).mean(axis=1)  # (draws, labels): share of pairs of systems found to differ
                by_label = [
                    mean("power", values) | {"label": x} for x, values in zip(data.labels, shares.T, strict=True)
                ]
                by_label.append(mean("power", shares.mean(axis=1)))
                rows += [base | row | {"size": size, "n": p.shape[0] * p.shape[1]} for row in by_label]
    return rows


def _null_p(data: Panel, test: str, n: int, plan: SimulationPlan) -> np.ndarray:
    """(runs, labels) p-values where both samples of n dialogues are drawn from one system."""
    rng = plan.rng("power_null", data.method, test, str(n))
    if data.unit == "pair":
        return _signs(data, rng.integers(0, len(data.system), (plan.n_runs, n)), rng)
    out = []
    for s, n_runs in enumerate(shared_out(plan.n_runs, len(data.systems))):
        rows = np.flatnonzero(data.system == s)
        if len(rows) >= LEAST and n_runs:
            weights = rng.multinomial(n, np.full(len(rows), 1 / len(rows)), size=(n_runs, 2)).reshape(n_runs, -1)
            # a dialogue drawn for both samples is two dialogues of the same kind, not a session with both systems
            alone = replace(_twins(data, rows), session=np.arange(2 * len(rows)).astype(object))
            out.append(draw_p_values(alone, test, weights)[0][:, 0])
    return np.concatenate(out) if out else np.full((1, len(data.labels)), np.nan)


def false_crossings(data: Panel, plan: SimulationPlan, *, n: int, first: int = 5, most: int = 2) -> list[Row]:
    """Share of equal systems found to differ at some point when tested after every dialogue.

    From the `first` to the n-th dialogue per system (comparison, for comparisons), Student's t of one value per
    dialogue (the sign test) is computed anew; a run crosses when any p is below ALPHA. Dialogues are drawn from one
    system with replacement.

    Returns
    -------
    Rows of `false_crossing` for the first `most` labels, with `looks` of each, and of last for one test at the end.

    References
    ----------
    Smith et al. 2022, section 4.4.3.
    """
    rows, test = [], "sign" if data.unit == "pair" else "student"
    for j, label in list(enumerate(data.labels))[:most]:
        p = _looks(data.per_dialogue(), j, n, plan.n_runs, plan.rng("crossing", data.method, label))[:, first - 1 :]
        base = {"level": data.row, "method": data.method, "label": label, "test": test, "alpha": ALPHA}
        for looks, hits in (("each", np.any(p < ALPHA, axis=1)), ("last", p[:, -1] < ALPHA)) if len(p) else ():
            rows.append(base | {"n_dialogues": n, "looks": looks} | share("false_crossing", int(hits.sum()), len(hits)))
    return rows


def _looks(data: Panel, j: int, n: int, n_runs: int, rng: np.random.Generator) -> np.ndarray:
    """(runs, n) p-values after each dialogue."""
    values = data.values[:, j]
    if data.unit == "pair":
        x = rng.choice(values[np.isfinite(values)], (n_runs, n)) * rng.choice([-1.0, 1.0], (n_runs, n))
        return sign_test(np.cumsum(x > 0, axis=1), np.cumsum(x < 0, axis=1))
    of_systems = [values[(data.system == s) & np.isfinite(values)] for s in range(len(data.systems))]
    of_systems = [v for v in of_systems if len(v) >= LEAST]
    if not of_systems:
        return np.empty((0, n))
    runs = [
        rng.choice(v, (2, size, n)) for v, size in zip(of_systems, shared_out(n_runs, len(of_systems)), strict=True)
    ]
    x = np.concatenate(runs, axis=1)
    size, (one, two) = np.arange(1.0, n + 1), (tuple(np.cumsum(v**e, axis=1) for e in (1, 2)) for v in x)
    return t_test(size, one[0], one[1], size, two[0], two[1], pooled=True)
