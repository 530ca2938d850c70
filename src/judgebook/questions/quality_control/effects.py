"""Effects over several families of systems and several runs, by label: a variant's, and what changes between runs.

Ji et al. 2022 read both from tables of means: whether systems are better with a persona (section 5), and what changes
when topics are prescribed (section 6). Here each is one number with its interval:

- The effect of a variant is the mean, with equal weights, over families and runs, of the variant's mean minus the plain
  system's. Its interval leaves out one worker at a time and applies to other workers who rate the same systems.
- A change is a system's mean in a run minus that in the first one, and the mean of that over systems. What else differs
  between the runs (workers, days) is part of it: two runs of the same design show how much that is.

A worker who took part in several runs counts once. The labels of one effect are tested at once (Sidak): their p-values
and intervals are adjusted for their number. The mean of all labels is a test of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import stdtr

from judgebook.questions.quality_control.replication import Quantity, Tally, replicates
from judgebook.questions.quality_control.worker_tests import OVERALL


def paired(t: Tally, families: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """The variant and the plain system of every family that has both."""
    return [(f[1], f[0]) for f in families.values() if len(f) > 1 and set(f[:2]) <= set(t.systems)]


def contrasts(m: np.ndarray, t: Tally, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
    """(…, corpora, families, labels + 1): the variants' means minus the plain systems'.

    m : (…, corpora, systems, labels + 1).
    """
    at = [[t.systems.index(pair[side]) for pair in pairs] for side in (0, 1)]
    return m[..., at[0], :] - m[..., at[1], :]


def variants(t: Tally, pairs: Sequence[tuple[str, str]]) -> Quantity:
    """`variant_effect`: the mean over families and runs; n counts the differences averaged."""
    head = {"statistic": "variant_effect", "interval": "workers", "n": len(pairs) * len(t.corpora)}
    return Quantity(_by_label(t, head), lambda m: contrasts(m, t, pairs).mean(axis=(1, 2)))


def changes(t: Tally) -> Quantity:
    """`run_change`: every system's mean minus that in the first corpus, and the mean of these over systems.

    n counts the systems.
    """
    ids: list[dict] = []
    for corpus in t.corpora[1:]:
        head = {"statistic": "run_change", "corpus": corpus, "against": t.corpora[0]}
        ids += [head | {"system": system, "n": 1} for system in t.systems] + [head | {"n": len(t.systems)}]

    def values(m: np.ndarray) -> np.ndarray:
        d = m[:, 1:] - m[:, :1]
        return np.concatenate([d, d.mean(axis=2, keepdims=True)], axis=2).reshape(len(m), -1)

    return Quantity([row for head in ids for row in _by_label(t, head)], values)


def _by_label(t: Tally, head: dict) -> list[dict]:
    return [{"level": "dialogue", **head, "label": label} for label in (*t.labels, OVERALL)]


def over_workers(t: Tally, quantities: Sequence[Quantity], confidence: float = 0.95) -> Iterator[dict[str, Any]]:
    """The rows of quantities that are linear in means, with intervals and p-values over workers."""
    # of the resamples nothing is used but the values without one worker
    replicated = replicates(t, quantities, np.random.default_rng(0), n_resamples=2)
    strata = 0 if replicated.groups is None else len(np.unique(replicated.groups))
    rows = [row for quantity in quantities for row in quantity.rows]
    for i, row in enumerate(rows):
        tests = _tests(t, row["label"])
        level = confidence ** (1 / tests)
        one = replicated.jackknife_interval(i, level, bounded=False)
        kind = "simultaneous" if one.kind == "jackknife_t" and tests > 1 else one.kind
        p = _p_value(one.estimate, one.standard_error, one.n_units - strata)
        yield row | one.row() | {"ci_kind": kind} | _adjusted(p, tests)


def _tests(t: Tally, label: str) -> int:
    return 1 if label == OVERALL else len(t.labels)


def _p_value(estimate: float, error: float, df: int) -> float:
    return float(2 * stdtr(df, -abs(estimate) / error)) if error > 0 else np.nan


def _adjusted(p: float, tests: int) -> dict:
    """p-values: Sidak's adjustment is that of the intervals (`multiplicity.simultaneous_t`)."""
    return {
        "p_value": p,
        "p_adjusted": -np.expm1(tests * np.log1p(-p)),
        "family": f"{tests} labels of an effect, sidak",
    }
