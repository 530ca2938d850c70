"""Type I error of the published tests, from placebo comparisons within single systems."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from judgebook.questions.sensitivity.contrasts import ALPHAS, draw_p_values
from judgebook.questions.sensitivity.panels import Panel
from judgebook.statistics.intervals import exact_binomial, generator


def null_rejection(data: Panel, *, n: int, n_runs: int, seed: int) -> pd.DataFrame:
    """Type I error of the published test at each of ALPHAS.

    Each run takes 2n dialogues of one system at random (systems in turn; all where there are fewer) and calls some of
    them another system: in the proportion in which the study has dialogues of the system and of another one (others in
    turn), half of them where it has as many. Both parts have the same spread and the same annotators: what a test does
    where systems differ in either cannot be seen. Of comparisons n are taken, and the sign of each is random.

    Returns rows of `null_rejection` for each label: the share of runs with p < alpha and its exact interval.
    """
    rng, test = generator(seed, "null_rejection", data.method), data.published_test
    p = np.stack([draw_p_values(_placebo(data, run, n, rng), test)[0][0, 0] for run in range(n_runs)])
    done, rows = np.sum(~np.isnan(p), axis=0), []
    for alpha in ALPHAS:
        hits = np.sum(p < alpha, axis=0)
        keys = {"test": test, "alpha": alpha, "n_dialogues": n}
        for j, label in enumerate(data.labels):
            row = _share(data, label, int(hits[j]), int(done[j]))
            rows.append(row | keys | {"seed": seed, "n_undefined": n_runs - done[j]})
    return pd.DataFrame(rows)


def _placebo(data: Panel, run: int, n: int, rng: np.random.Generator) -> Panel:
    """One system's dialogues as if they were of two systems; comparisons with random signs."""
    if data.unit == "pair":
        rows = rng.permutation(len(data.system))[:n]
        part, zeros = data.take(rows), np.zeros(len(rows), dtype=int)
        total = part.total * rng.choice([-1.0, 1.0], len(rows))[:, None]
        return replace(part, systems=["one", "other"], total=total, system=zeros, system_b=zeros + 1)
    m = len(data.systems)
    system, other = run % m, (run % m + 1 + run // m % max(m - 1, 1)) % m
    rows = rng.permutation(np.flatnonzero(data.system == system))
    size = min(n, len(rows) // 2)
    sizes = np.bincount(data.system, minlength=m)[[system, other]]
    first = int(np.clip(round(2 * size * sizes.min() / sizes.sum()), min(2, size), size))
    return replace(
        data.take(rows[: 2 * size]), systems=["one", "other"], system=(np.arange(2 * size) >= first).astype(int)
    )


def _share(data: Panel, label: str, hits: int, n: int) -> dict:
    low, high = exact_binomial(hits, n) if n else (np.nan, np.nan)
    head = {"statistic": "null_rejection", "level": data.unit, "method": data.method, "label": label}
    interval = {"estimate": hits / n if n else np.nan, "ci_low": low, "ci_high": high, "ci_kind": "exact_bound"}
    note = None if n else "no run had anything to compare"
    return head | interval | {"resample_unit": "run", "n": n, "note": note}
