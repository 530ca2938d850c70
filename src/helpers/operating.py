"""Can the tests be trusted? How often they find a difference where there is none, and where there is one.

- `placebo_size`: one real system's dialogues are split in two at random, and the halves compared as if they were two
  systems. Whatever turns of a dialogue, or dialogues of a person, have in common is there; a difference is not. A
  comparison's sign is turned at random.
- `power_curves`: dialogues are drawn anew from those observed, the observed difference being the truth; beside the
  nominal level also at the level at which the same test rejects a tenth, a twentieth, … of placebos (size-corrected).
  What a test that rejects too often finds is otherwise no power.
- `false_crossings`: equal systems compared after each conversation until the first significant result.

What is simulated is many runs at once: a run is a row of weights, how often each dialogue is in it. `power` has the
same questions for one run at a time. Checked against it, against scipy on single runs, and on simulated studies in
which the truth is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from helpers.contrasts import Panel, draw_p_values, sign_test, t_test
from helpers.operating_coverage import Plan, Row, mean, share
from helpers.operating_intervals import SHARED, spread
from helpers.power import resample
from helpers.schema import condition

ALPHAS = (0.01, 0.05, 0.1)
#: a system with fewer dialogues is not split
LEAST = 10
#: arrangements of the permutation test inside a simulation
N_ARRANGEMENTS = 999
#: dialogues of a half, at most
MOST = 100


def _tests_of(data: Panel) -> list[str]:
    """The tests that go with a method: as published, on dialogue values, and ours (`session`).

    `session` permutes; `session_normal` is its normal approximation, which repeated draws use.
    """
    if data.unit == "pair":
        return ["sign", "session"]
    own = [data.published_test, *(["welch"] if data.published_test == "student" else [])]
    return [*own, *(["dialogue_welch"] if data.row != data.unit else []), "session", "session_normal"]


def placebo_size(data: Panel, plan: Plan, *, alphas: Sequence[float] = ALPHAS) -> list[Row]:
    """Share of placebo comparisons that each test calls significant.

    Runs go through the systems in turn; each takes two halves of one system's dialogues, without replacement. Returns
    result rows `null_rejection`, condition test=…;alpha=…;n_dialogues=…, for each label, and without a label for the
    mean over labels. No rows where no system has LEAST dialogues.

    Checked against scipy's tests of one run, and against `power.null_rejection`.
    """
    splits = _halves(data, plan)
    if not splits:
        return []
    n, rows = splits[0][1].shape[1] if data.unit == "pair" else splits[0][1].shape[1] // 2, []
    for test in _tests_of(data):
        p = np.concatenate([_placebo_p(data, test, s, drawn, plan) for s, drawn in splits])
        for alpha in alphas:
            keys = {"test": test, "alpha": alpha, "n_dialogues": n, "within": "session" if "session" in test else None}
            rows += _shares("null_rejection", data, p, alpha, keys)
    return rows


def _halves(data: Panel, plan: Plan) -> list[tuple[int, np.ndarray]]:
    """(system, drawn): the rows of each run, (runs, 2n), the first n of which are one half; comparisons (runs, n)."""
    rng = plan.rng("placebo", data.method)
    if data.unit == "pair":
        kinds = pd.Series(data.system * len(data.systems) + data.system_b).value_counts()
        n = int(min(kinds.median(), MOST))
        many = len(data.system)
        if n < LEAST:
            return []
        return [(-1, np.argsort(rng.random((plan.n_runs, many)), axis=1)[:, :n])]
    rows = [np.flatnonzero(data.system == s) for s in range(len(data.systems))]
    usable = [s for s, r in enumerate(rows) if len(r) >= LEAST]
    if not usable:
        return []
    n = min(MOST, min(len(rows[s]) for s in usable) // 2)
    out = []
    for s, n_runs in zip(usable, spread(plan.n_runs, len(usable)), strict=True):
        out.append((s, rows[s][np.argsort(rng.random((n_runs, len(rows[s]))), axis=1)[:, : 2 * n]]))
    return out


def _placebo_p(data: Panel, test: str, system: int, drawn: np.ndarray, plan: Plan) -> np.ndarray:
    """(runs, labels) p-values; drawn as from `_halves`."""
    rng = plan.rng("placebo", data.method, test, str(system))
    if test == "session":
        return _permuted(data.per_dialogue(), drawn, rng)
    test = test.removesuffix("_normal")
    if data.unit == "pair":
        turned = rng.random(drawn.shape) < 0.5
        return _signs(data, drawn, turned)
    n = drawn.shape[1] // 2
    rows = np.unique(drawn)
    weights = np.zeros((len(drawn), 2, len(data.system)))
    for half in (0, 1):
        np.put_along_axis(weights[:, half], drawn[:, half * n : (half + 1) * n], 1.0, axis=1)
    return draw_p_values(_twins(data, rows), test, weights[:, :, rows].reshape(len(drawn), -1))[0][:, 0]


def _twins(data: Panel, rows: np.ndarray) -> Panel:
    """The same rows twice, as if of two systems: which of them a run holds is a matter of weights."""
    system = np.repeat([0, 1], len(rows))
    return replace(data.take(np.tile(rows, 2)), systems=["one", "other"], system=system)


def _signs(data: Panel, drawn: np.ndarray, turned: np.ndarray) -> np.ndarray:
    sign = np.where(turned, -1.0, 1.0)[:, :, None] * data.total[drawn]
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
        slack = 1e-9 * np.maximum(np.abs(null).max(axis=0), np.abs(observed))
        more = np.sum(np.abs(null) >= np.abs(observed) - slack, axis=0)
        found = (more + 1) / (N_ARRANGEMENTS + 1)  # Phipson and Smyth 2010
        p.append(np.where(np.isfinite(observed), found, np.nan))
    return np.concatenate(p)


def _shares(statistic: str, data: Panel, p: np.ndarray, alpha: float, keys: dict) -> list[Row]:
    """Rows for the share of p-values below alpha, by label and over labels; p (runs, labels)."""
    test = keys["test"]
    level = data.row if "session" in test or test == "dialogue_welch" else data.unit
    base = {"level": level, "method": data.method, "condition": condition(**keys)}
    hits, known = p < alpha, np.isfinite(p)
    out = []
    for j, label in enumerate(data.labels):
        row = share(statistic, int(hits[:, j].sum()), int(known[:, j].sum()))
        out.append(base | row | {"label": label, "n_undefined": int(np.sum(~known[:, j]))})
    some = known.any(axis=1)
    over = hits[some].sum(axis=1) / known[some].sum(axis=1)
    # all labels share the runs: the noise of their mean is that between runs
    return [*out, base | mean(statistic, over) | {"n_undefined": int(np.sum(~some))}]


def power_curves(data: Panel, plan: Plan, *, sizes: Sequence[int], alpha: float = 0.05) -> list[Row]:
    """Power by the number of conversations a system, at the nominal and at the corrected level.

    Runs are shared out over the pairs of systems. Returns result rows `power`, condition
    test=…;alpha=…;n_dialogues=…;effect=observed;size=nominal or corrected, each the mean over all pairs of systems:
    for each label, and without a label for the mean over labels. `session` is by its normal approximation; for
    comparisons it is the sign test.

    Checked by simulation: at the same size, and with more conversations, power is as it should be; its tests are those
    of `contrasts.draw_p_values`.
    """
    if not data.pairs:
        return []
    tests = [t for t in _tests_of(data) if not t.startswith("session")]
    tests += ["session"] if data.unit != "pair" else []
    draws_, rows = -(-plan.n_runs // len(data.pairs)), []
    for n in sizes:
        rng = plan.rng("power", data.method, str(n))
        weights = resample(data, n, draws_, rng)
        for test in tests:
            p = draw_p_values(data, test, weights)[0]  # (draws, pairs, labels)
            null = _null_p(data, test, n, plan)
            level, known = np.zeros(null.shape[1]), ~np.isnan(null).all(axis=0)
            level[known] = np.nanquantile(null[:, known], alpha, axis=0, method="lower")
            for size, limit in (("nominal", alpha), ("corrected", level)):
                keys = {"test": test, "alpha": alpha, "n_dialogues": n, "effect": "observed", "size": size}
                rows += _powers(data, p, limit, keys | {"within": "session" if test == "session" else None})
    return rows


def _null_p(data: Panel, test: str, n: int, plan: Plan) -> np.ndarray:
    """(runs, labels) p-values where both samples of n dialogues are drawn from one system."""
    rng = plan.rng("power_null", data.method, test, str(n))
    if data.unit == "pair":
        drawn = rng.integers(0, len(data.system), (plan.n_runs, n))
        return _signs(data, drawn, rng.random(drawn.shape) < 0.5)
    out = []
    for s, n_runs in enumerate(spread(plan.n_runs, len(data.systems))):
        rows = np.flatnonzero(data.system == s)
        if len(rows) >= LEAST and n_runs:
            weights = rng.multinomial(n, np.full(len(rows), 1 / len(rows)), size=(n_runs, 2)).reshape(n_runs, -1)
            alone = _twins(data, rows)
            # a dialogue drawn for both samples is two dialogues of the same kind, not a session that met both
            alone = replace(alone, session=np.arange(2 * len(rows)).astype(object))
            out.append(draw_p_values(alone, test, weights)[0][:, 0])
    return np.concatenate(out) if out else np.full((1, len(data.labels)), np.nan)


def _powers(data: Panel, p: np.ndarray, limit: np.ndarray | float, keys: dict) -> list[Row]:
    level = data.row if keys["test"] in ("session", "dialogue_welch") else data.unit
    base = {"level": level, "method": data.method, "condition": condition(**keys)}
    found = (p < limit).mean(axis=1)  # (draws, labels): share of the pairs of systems that are told apart
    out = [base | mean("power", found[:, j]) | {"label": label} for j, label in enumerate(data.labels)]
    out.append(base | mean("power", found.mean(axis=1)))
    return [row | {"n": p.shape[0] * p.shape[1]} for row in out]


def false_crossings(
    data: Panel, plan: Plan, *, n: int, first: int = 5, alpha: float = 0.05, most: int = 2
) -> list[Row]:
    """Share of equal systems that are called different at some point, when tested after every conversation.

    From the `first` to the n-th conversation a system (comparison, for comparisons) Student's t on one value a
    dialogue (the sign test) is computed anew; a run crosses when any p is below alpha. Smith et al. 2022, section
    4.4.3, stop there. Dialogues are drawn from one system with replacement. Returns result rows `false_crossing` for
    at most `most` labels, the first ones; looks=each, and beside it looks=last: the same test made once, at the end.

    Checked against scipy's t test of one look, and by simulated errors of a single look.
    """
    rows = []
    for j, label in list(enumerate(data.labels))[:most]:
        rng = plan.rng("crossing", data.method, label)
        p = _looks(data.per_dialogue(), j, n, plan.n_runs, rng)[:, first - 1 :]
        if not len(p):
            continue
        test = "sign" if data.unit == "pair" else "student"
        base = {"level": data.row, "method": data.method, "label": label}
        for looks, hits in (("each", (p < alpha).any(axis=1)), ("last", p[:, -1] < alpha)):
            row = share("false_crossing", int(hits.sum()), len(hits))
            rows.append(base | row | {"condition": condition(test=test, alpha=alpha, n_dialogues=n, looks=looks)})
    return rows


def _looks(data: Panel, j: int, n: int, n_runs: int, rng: np.random.Generator) -> np.ndarray:
    """(runs, n) p-values after each conversation."""
    values = data.values[:, j]
    if data.unit == "pair":
        x = rng.choice(values[np.isfinite(values)], (n_runs, n)) * rng.choice([-1.0, 1.0], (n_runs, n))
        return sign_test(np.cumsum(x > 0, axis=1), np.cumsum(x < 0, axis=1))
    own = [values[(data.system == s) & np.isfinite(values)] for s in range(len(data.systems))]
    own = [v for v in own if len(v) >= LEAST]
    if not own:
        return np.empty((0, n))
    runs = [rng.choice(v, (2, size, n)) for v, size in zip(own, spread(n_runs, len(own)), strict=True)]
    x = np.concatenate(runs, axis=1)
    size, (one, two) = np.arange(1.0, n + 1), (np.stack([np.cumsum(v**e, axis=1) for e in (1, 2)]) for v in x)
    return t_test(size, *one, size, *two, pooled=True)
