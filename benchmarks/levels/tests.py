"""How often the tests of two systems reject when both have the same mean: writes `tests.csv` beside this file.

    PYTHONPATH=src python benchmarks/levels/tests.py [--runs 2000]

Every row is the share of runs in which p < 0.05. `primary` is the test that notebook 05 reports
(`sensitivity/primary_test.py`); `primary, saddlepoint` is its form for large families. The others are what it is made
of, or could have been: `difference` and `t` are the permutation tests of either, `welch` is the t test without equal
variances (paired within sessions). Rows of `power` have a true difference, and say what the rule costs.

Columns: case, procedure, nominal, measured, mc_error (half of the 95% interval), n_runs, note.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from helpers.sensitivity.primary_test import exchange, pairs, two_systems, unequal_t
from helpers.stats.permutation import blocked_permutation, sign_flip_test

ALPHA, LARGER, N_PERMUTATIONS, TOGETHER, SEED = 0.05, 60, 999, 200, 1
SIZES = (5, 10, 20, 60)
LIKERT = np.arange(1.0, 6.0)
POLARISED, PEAKED, SKEWED = (0.4, 0.1, 0, 0.1, 0.4), (0, 0.1, 0.8, 0.1, 0), (0.02, 0.03, 0.05, 0.2, 0.7)

Draw = Callable[[np.random.Generator, int], np.ndarray]
Case = Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray, np.ndarray]]


def normal(sd: float, mean: float = 0.0) -> Draw:
    return lambda rng, n: rng.normal(mean, sd, (n, TOGETHER))


def likert(shares: tuple[float, ...]) -> Draw:
    return lambda rng, n: rng.choice(LIKERT, (n, TOGETHER), p=shares)


def marks(rate: float) -> Draw:
    return lambda rng, n: (rng.random((n, TOGETHER)) < rate).astype(float)


def share_of_turns(rate: float) -> Draw:
    """Of ten turns; dialogues differ in their rate (beta, a + b = 3)."""
    return lambda rng, n: rng.binomial(10, rng.beta(3 * rate, 3 * (1 - rate), (n, TOGETHER))) / 10


def apart(one: Draw, other: Draw, n: int, m: int = LARGER) -> Case:
    """Dialogues without sessions."""
    second = np.repeat([0, 1], [n, m])
    return lambda rng: (np.r_[one(rng, n), other(rng, m)], second, np.zeros(n + m, dtype=int))


def sessions(one: Draw, other: Draw, paired: int, n: int, m: int) -> Case:
    """`paired` sessions with both systems, which share half of the variance of a normal value of SD 1; n and m
    dialogues of either system in other sessions."""
    second = np.r_[np.tile([0, 1], paired), np.repeat([0, 1], [n, m])]
    block = np.r_[np.repeat(np.arange(1, paired + 1), 2), np.zeros(n + m, dtype=int)]

    def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        values = np.where((second == 0)[:, None], one(rng, len(second)), other(rng, len(second)))
        shared = rng.normal(size=(paired + n + m, TOGETHER))
        return values + shared[np.r_[np.repeat(np.arange(paired), 2), np.arange(paired, paired + n + m)]], second, block

    return draw


def levels() -> Iterator[tuple[str, Case, str]]:
    """Cases in which both systems have the same mean."""
    for n in SIZES:
        size = f"{n} v {LARGER}"
        for sd in ((2, 1), (1, 1), (1, 2)):
            yield f"normal, SD {sd[0]}:{sd[1]}, {size}", apart(normal(sd[0]), normal(sd[1]), n), ""
        note = "both means 3"
        note += "; one sample in 16 has five values on the same side, whatever the test" if n == SIZES[0] else ""
        yield f"polarised v peaked Likert, {size}", apart(likert(POLARISED), likert(PEAKED), n), note
        yield f"peaked v polarised Likert, {size}", apart(likert(PEAKED), likert(POLARISED), n), "both means 3"
        yield f"skewed Likert, {size}", apart(likert(SKEWED), likert(SKEWED), n), "70% of values are 5"
        for rate in (0.05, 0.1):
            yield f"one mark per dialogue at {rate:.0%}, {size}", apart(marks(rate), marks(rate), n), ""
        yield f"share of ten turns at 10%, {size}", apart(share_of_turns(0.1), share_of_turns(0.1), n), ""
    for paired, n, m in ((10, 0, 0), (30, 0, 0), (10, 5, 50), (20, 0, 40), (20, 10, 40)):
        for sd in ((2, 1), (1, 2)):
            case = f"{paired} sessions with both, {n} and {m} others, normal, SD {sd[0]}:{sd[1]}"
            yield case, sessions(normal(sd[0]), normal(sd[1]), paired, n, m), "sessions vary with SD 1"


def powers() -> Iterator[tuple[str, Case, str]]:
    """Cases with a difference."""
    for n, d, low in ((5, 1.5, 0.4), (10, 1.0, 0.3), (20, 0.8, 0.25)):
        size = f"{n} v {LARGER}"
        for sd in ((2, 1), (1, 1), (1, 2)):
            case = f"power: normal, SD {sd[0]}:{sd[1]}, {size}"
            yield case, apart(normal(sd[0], d * sd[0]), normal(sd[1]), n), f"difference {d * sd[0]:g}"
        yield (
            f"power: share of ten turns, {size}",
            apart(share_of_turns(low), share_of_turns(0.1), n),
            f"{low:.0%} v 10%",
        )


def p_values(case: Case, rng: np.random.Generator) -> dict[str, np.ndarray]:
    values, second, block = case(rng)
    found, every = exchange(values, second, block), np.ones(values.shape[1], dtype=bool)
    options = {"rng": rng, "n_permutations": N_PERMUTATIONS}
    return {
        "difference": blocked_permutation(values, second, block, **options).p_value,
        "t": blocked_permutation(values, second, block, studentised=True, **options).p_value,
        "welch": unequal_t(found, every),
        "primary": two_systems(values, second, block, **options).p_value,
        "primary, saddlepoint": two_systems(values, second, block, n_permutations=None).p_value,
    }


def compared(n: int, ties: float, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """n comparisons of equal systems."""
    sign = np.where(rng.random((n, TOGETHER)) < ties, 0, rng.choice([-1, 1], (n, TOGETHER)))
    tested = sign_flip_test(sign, rng=rng, n_permutations=N_PERMUTATIONS)
    primary = pairs(sign, rng=rng, n_permutations=N_PERMUTATIONS)
    found = {"difference": tested.p_value, "primary": primary.p_value}
    return found | {"primary, saddlepoint": pairs(sign, n_permutations=None).p_value}


def rows(case: str, draw: Callable[[], dict[str, np.ndarray]], n_runs: int, note: str) -> Iterator[dict]:
    parts = [draw() for _ in range(-(-n_runs // TOGETHER))]
    for procedure in parts[0]:
        p = np.concatenate([part[procedure] for part in parts])
        share = np.mean(p < ALPHA)
        error = 1.96 * np.sqrt(max(share * (1 - share), 1 / len(p)) / len(p))
        nominal = ALPHA if not case.startswith("power") else ""
        yield {"case": case, "procedure": procedure, "nominal": nominal, "measured": round(share, 4),
               "mc_error": round(error, 4), "n_runs": len(p), "note": note}  # fmt: skip


def table(n_runs: int) -> pd.DataFrame:
    rng, out = np.random.default_rng(SEED), []
    for case, draw, note in (*levels(), *powers()):
        more = 10 if case.startswith("polarised") and f", {SIZES[0]} v" in case else 1
        out += rows(case, lambda draw=draw: p_values(draw, rng), more * n_runs, note)
    for n in (10, 20, 60):
        for ties in (0.0, 0.4, 0.8):
            out += rows(f"{n} comparisons, {ties:.0%} ties", lambda n=n, t=ties: compared(n, t, rng), n_runs, "mid-p")
    return pd.DataFrame(out)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2000)
    table(parser.parse_args().runs).to_csv(Path(__file__).with_name("tests.csv"), index=False)
