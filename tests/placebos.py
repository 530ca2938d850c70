"""Simulated panels of equal systems, and how to find a row, for tests of operating characteristics."""

import numpy as np

from helpers import schema, simulate
from helpers.contrasts import Panel
from helpers.operating_coverage import Plan
from helpers.sections import Simulate
from helpers.simulation import design

PLAN = Plan(n_runs=200, n_resamples=300)


def rng(*seed):
    return np.random.default_rng(list(seed))


def keys_of(row):
    return schema.read_condition(row["condition"])


def value(rows, statistic, **wanted):
    """The one row with this statistic and these keys of its condition; label=None: the row over all labels."""
    over = "label" in wanted and wanted.pop("label") is None
    found = [
        r
        for r in rows
        if r["statistic"] == statistic
        and (not over or "label" not in r)
        and {k: str(v) for k, v in wanted.items()}.items() <= keys_of(r).items()
    ]
    assert len(found) == 1, [r["condition"] for r in found]
    return found[0]


SPEC = Simulate(system_differences=0.0)


def simulated(label="empathetic", n_sessions=400, method="behavior", *seed, spec=SPEC):
    """A panel of one simulated label, all systems equal unless `spec` says otherwise."""
    measure = simulate.measure(spec, "sur_x", method, label)
    sample = simulate.annotate(measure, n_sessions, spec, rng(16, *seed))
    score, code = sample.scores[:, 0].astype(float), sample.dialogue
    n, total, squares = (np.bincount(code, w)[:, None] for w in (np.ones(len(score)), score, score**2))
    names = np.arange(len(n)).astype(str).astype(object)
    first = np.unique(code, return_index=True)[1]
    unit = "turn" if method in ("behavior", "turn_likert") else "dialogue"
    system = sample.system[first]
    return Panel(
        method, [label], list(design.SYSTEMS), n, total, squares, system, np.full(len(n), -1), names,
        (np.arange(len(n)) // 2).astype(str).astype(object), None, unit, "dialogue",
    )  # fmt: skip


def comparisons(n=150, ties=0.2, seed=19):
    score = rng(seed).choice([-1.0, 0, 1], (n, 1), p=[(1 - ties) / 2, ties, (1 - ties) / 2])
    names = np.arange(n).astype(str).astype(object)
    return Panel(
        "comparative", ["quality"], ["a", "b"], np.ones((n, 1)), score, score**2, np.zeros(n, int), np.ones(n, int),
        names, names, None, "pair", "pair",
    )  # fmt: skip
