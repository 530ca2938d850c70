"""How often the tests of two systems reject when both have the same mean: writes `tests.csv` beside this file.

    PYTHONPATH=src python benchmarks/levels/tests.py [--runs 2000] [--only "shares 0"]

Every row is the share of runs in which p < 0.05. `primary` is the test that notebook 05 reports
(`sensitivity/primary_test.py`); `primary, saddlepoint` is its form for large families. The others are what it is made
of, or could have been: `difference` and `t` are the permutation tests of either, `welch` is the t test without equal
variances (paired within sessions). Rows of `power` have a true difference, and say what the rule costs. `bounds` is the
share of runs in which bounds of means took the place of tests; `interval covers` that of 95% intervals of differences
(`sensitivity/differences.py`, a fifth of the runs) that hold the true one. A case has random numbers of its own, and
rows of cases that are not run stay.

Columns: case, procedure, nominal, measured, mc_error (half of the 95% interval), n_runs, note.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from judgebook.questions.sensitivity import differences
from judgebook.questions.sensitivity.primary_test import exchange, pairs, two_systems, unequal_t
from judgebook.statistics.permutation import blocked_permutation, sign_flip_test

ALPHA, LARGER, N_PERMUTATIONS, TOGETHER, SEED = 0.05, 60, 999, 200, 1
OUT = Path(__file__).with_suffix(".csv")
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


def mostly_0(zeros: float) -> Draw:
    """Shares that are 0, but for some between 0.5 and 1."""
    return lambda rng, n: np.where(rng.random((n, TOGETHER)) < zeros, 0.0, rng.uniform(0.5, 1, (n, TOGETHER)))


def even(zeros: float) -> Draw:
    """Shares of ten turns with the same mean, in dialogues that do not differ in their rate."""
    return lambda rng, n: rng.binomial(10, 0.75 * (1 - zeros), (n, TOGETHER)) / 10


def scale_of(case: str) -> np.ndarray | None:
    """Ends of the scale; none of normal values."""
    return None if "normal" in case else np.array([1.0, 5.0]) if "ikert" in case else np.array([0.0, 1.0])


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
    for zeros in (0.77, 0.9, 0.95):
        for n, m in ((5, LARGER), (10, LARGER), (20, LARGER), (20, 20), (30, LARGER)):
            note = "the rest 0.5 to 1; no bounds with more than 20 dialogues" if n > 20 else "the rest 0.5 to 1"
            yield f"{zeros:.0%} of shares 0 v even, {n} v {m}", apart(mostly_0(zeros), even(zeros), n, m), note
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
        few = f"power: share of ten turns, fewer dialogues of the lower, {size}"
        yield few, apart(share_of_turns(0.1), share_of_turns(low), n), f"10% v {low:.0%}"


def p_values(case: Case, ends: np.ndarray | None, rng: np.random.Generator) -> dict[str, np.ndarray]:
    values, second, block = case(rng)
    found, every = exchange(values, second, block), np.ones(values.shape[1], dtype=bool)
    options = {"rng": rng, "n_permutations": N_PERMUTATIONS}
    ends = None if ends is None else np.repeat(ends[:, None], values.shape[1], axis=1)
    primary = two_systems(values, second, block, ends=ends, **options)
    return {
        "difference": blocked_permutation(values, second, block, **options).p_value,
        "t": blocked_permutation(values, second, block, studentised=True, **options).p_value,
        "welch": unequal_t(found, every),
        "primary": primary.p_value,
        "primary, saddlepoint": two_systems(values, second, block, ends=ends, n_permutations=None).p_value,
        "bounds": np.where(primary.bounded, 0.0, 1.0),
    }


def uncovered(case: Case, ends: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """0 for intervals of differences that hold the true one, which is 0; else 1. No annotators are known."""
    values, second, _ = case(rng)
    names = [str(i) for i in range(values.shape[1])]
    n, m = values.shape
    same = {"method": "dialogue_rating", "turn": np.nan, "annotator": "", "annotator_known": False}
    same |= dict.fromkeys(("system_b", "dialogue_b", "session"))
    rows = {"label": np.repeat(names, n), "system": np.tile(second.astype(str), m), "score": values.T.ravel()}
    frame = pd.DataFrame({**rows, "dialogue": np.tile(np.arange(n).astype(str), m), "annotator_kind": "human", **same})
    scales = dict.fromkeys(names, tuple(ends))
    found = differences.differences(frame, "dialogue_rating", ["0", "1"], scales=scales)
    missed = (found["ci_low"] > 0) | (found["ci_high"] < 0)
    return {"interval covers": missed[found["ci_low"].notna()].to_numpy(float)}


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
        share = np.mean((p < ALPHA) if procedure != "interval covers" else (p == 0))
        error = 1.96 * np.sqrt(max(share * (1 - share), 1 / len(p)) / len(p))
        nominal = ALPHA if not case.startswith("power") and procedure != "bounds" else ""
        nominal = 1 - ALPHA if procedure == "interval covers" else nominal
        yield {"case": case, "procedure": procedure, "nominal": nominal, "measured": round(share, 4),
               "mc_error": round(error, 4), "n_runs": len(p), "note": note}  # fmt: skip


def cells(n_runs: int) -> Iterator[tuple[str, Callable[[np.random.Generator], list[dict]]]]:
    """Name of each case, and what makes its rows."""
    for case, draw, note in (*levels(), *powers()):
        ends = scale_of(case)

        def made(rng, case=case, draw=draw, note=note, ends=ends):
            more = 10 if case.startswith("polarised") and f", {SIZES[0]} v" in case else 1
            out = list(rows(case, lambda: p_values(draw, ends, rng), more * n_runs, note))
            few = rows(case, lambda: uncovered(draw, ends, rng), n_runs // 5, note)
            return out + list(few if "shares 0" in case and "30 v" not in case else ())

        yield case, made
    for n in (10, 20, 60):
        for ties in (0.0, 0.4, 0.8):
            case = f"{n} comparisons, {ties:.0%} ties"
            yield case, lambda rng, c=case, n=n, t=ties: list(rows(c, lambda: compared(n, t, rng), n_runs, "mid-p"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--only", nargs="+", default=[""], help="cases whose name contains one of these")
    given = parser.parse_args()
    order = {case: i for i, (case, _) in enumerate(cells(given.runs))}
    for case, make in cells(given.runs):
        if any(part in case for part in given.only):
            found = pd.DataFrame(make(np.random.default_rng([SEED, *case.encode()])))
            before = pd.read_csv(OUT) if OUT.exists() else found.iloc[:0]
            found = pd.concat([before[before["case"].isin(order) & (before["case"] != case)], found])
            found.sort_values("case", key=lambda c: c.map(order), kind="stable").to_csv(OUT, index=False)


if __name__ == "__main__":
    main()
