"""Type I error rate of the published tests between two systems, by simulation.

- `placebo_size`: the dialogues of one real system are split in two at random, and the halves compared as if they were
  two systems. Dependence between turns of a dialogue, or dialogues of an interactor, is that of the data; there is no
  difference. Of a comparison, the sign is drawn at random.
- `false_crossings`: equal systems compared after each dialogue until the first significant result.

Many runs are simulated at once: a run is a row of weights, how often each dialogue is in it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from judgebook.questions.operating_characteristics.monte_carlo import Row, SimulationPlan, mean, share, shared_out
from judgebook.questions.sensitivity.contrasts import ALPHAS, draw_p_values, sign_test, t_test
from judgebook.questions.sensitivity.panels import Panel

#: a system with fewer dialogues is not split
LEAST = 10
#: dialogues per half, at most
MOST = 100
#: the level of sequential testing
ALPHA = 0.05


def _tests_of(data: Panel) -> list[str]:
    """The tests of a method: as published, beside it Welch's t, and that of one value per dialogue."""
    if data.unit == "pair":
        return ["sign"]
    published = [data.published_test, *(["welch"] if data.published_test == "student" else [])]
    return [*published, *(["dialogue_welch"] if data.row != data.unit else [])]


def placebo_size(data: Panel, picked: Panel, plan: SimulationPlan) -> list[Row]:
    """Share of placebo comparisons that each test calls significant at each of ALPHAS.

    Runs go through the systems in turn; each takes two halves of one system's dialogues, without replacement.

    data, picked : the same dialogues with all annotations, for tests of one value per dialogue, and with one per item
    for the tests as published.

    Returns
    -------
    Rows of `null_rejection` for each label, and without a label for the mean over labels. None where no system has
    LEAST dialogues.
    """
    rows = []
    splits = _halves(data, plan)
    for test in _tests_of(picked) if splits else ():
        used = data if test == "dialogue_welch" else picked
        p = np.concatenate([_placebo_p(used, test, s, drawn, plan) for s, drawn in splits])
        n = splits[0][1].shape[1] // (1 if data.unit == "pair" else 2)
        base: Row = {"level": data.row if test == "dialogue_welch" else data.unit, "method": data.method, "test": test}
        rows += [row for alpha in ALPHAS for row in _rejections(data, p, base | {"n_dialogues": n, "alpha": alpha})]
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
    if data.unit == "pair":
        return _signs(data, drawn, rng)
    n = drawn.shape[1] // 2
    rows = np.unique(drawn)
    weights = np.zeros((len(drawn), 2, len(data.system)))
    for half in (0, 1):
        np.put_along_axis(weights[:, half], drawn[:, half * n : (half + 1) * n], 1.0, axis=1)
    of_twins = weights[:, :, rows].reshape(len(drawn), -1)
    return draw_p_values(_twins(data, rows), test, of_twins)[0][:, 0]


def _twins(data: Panel, rows: np.ndarray) -> Panel:
    """The same rows twice, as if of two systems: which of them a run holds is a matter of weights."""
    system = np.repeat([0, 1], len(rows))
    return replace(data.take(np.tile(rows, 2)), systems=["one", "other"], system=system)


def _signs(data: Panel, drawn: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """P-values of sign tests of the comparisons drawn, the sign of each turned at random."""
    sign = np.where(rng.random(drawn.shape) < 0.5, -1.0, 1.0)[:, :, None] * data.total[drawn]
    return sign_test(np.sum(sign > 0, axis=1), np.sum(sign < 0, axis=1))


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
