"""How much CPU time kernels take, in this checkout and at another commit, in turns and with one BLAS thread.

python benchmarks/kernels.py REF                # a Markdown table: milliseconds then, now, and their ratio
python benchmarks/kernels.py REF --only mixed   # cases whose name contains this
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
ROUNDS = 3


def mixed(n_annotators: int, n_dialogues: int, n_systems: int, n_each: int) -> Callable[[], object]:
    """Systems, annotators and dialogues with random effects; each dialogue judged `n_each` times."""
    from judgebook.statistics import fit_linear_mixed

    rng = np.random.default_rng(1)
    dialogue = np.repeat(np.arange(n_dialogues), n_each)
    system = np.unique(rng.integers(0, n_systems, n_dialogues), return_inverse=True)[1][dialogue]
    annotator = np.unique(rng.integers(0, n_annotators, len(dialogue)), return_inverse=True)[1]
    effects = zip((0.4, 0.5, 0.6), (system, annotator, dialogue), strict=True)
    y = 3 + rng.normal(size=len(dialogue)) + sum(sd * rng.normal(size=f.max() + 1)[f] for sd, f in effects)
    return lambda: fit_linear_mixed(y, np.ones((len(y), 1)), [system, annotator, dialogue])


def votes(m: int, n: int, prompts: int, voters: int) -> Callable[[], object]:
    from judgebook.model.comparisons import Comparisons, fit

    rng = np.random.default_rng(1)
    first = rng.integers(0, m, n)
    second = (first + rng.integers(1, m, n)) % m
    level, answer, taste = (spread * rng.normal(size=(k, m)) for spread, k in ((0.7, 1), (0.5, prompts), (0.3, voters)))
    context, who = (np.resize(np.arange(k), n)[rng.permutation(n)] for k in (prompts, voters))
    a, b = (level[0, x] + answer[context, x] + taste[who, x] for x in (first, second))
    odds = np.exp([a, b, (a + b) / 2])
    score = np.array([1.0, -1.0, 0.0])[(rng.random(n) * odds.sum(axis=0) > odds.cumsum(axis=0)).sum(axis=0)]
    return lambda: fit(Comparisons(tuple(map(str, range(m))), first, second, score, context, who))


def dawid_skene(n_items: int, n_annotators: int, n_each: int) -> Callable[[], object]:
    from judgebook.questions.annotators import analysis

    rng = np.random.default_rng(1)
    item, truth = np.repeat(np.arange(n_items), n_each), rng.integers(0, 3, n_items)
    annotator = np.unique(rng.integers(0, n_annotators, len(item)), return_inverse=True)[1]
    right = rng.random(len(item)) < rng.uniform(0.4, 0.95, n_annotators)[annotator]
    answer = np.where(right, truth[item], rng.integers(0, 3, len(item)))
    return lambda: analysis.dawid_skene(item, annotator, answer)


def sign_flips(*shape: int) -> Callable[[], object]:
    from judgebook.statistics import sign_flip_test

    x = np.random.default_rng(1).normal(size=shape)
    return lambda: sign_flip_test(x, rng=np.random.default_rng(1))


def patterns(n: int, missing: float) -> Callable[[], object]:
    from judgebook.questions.agreement import coincidences

    rng = np.random.default_rng(1)
    values = np.clip(np.rint(3 + rng.normal(size=(n, 1)) + rng.normal(size=(n, 5))), 1, 5)
    values[rng.random(values.shape) < missing] = np.nan
    return lambda: coincidences.patterns(values, range(1, 6))


CASES: dict[str, Callable[[], Callable[[], object]]] = {
    "mixed model, 712 scores, 356 dialogues × 10 annotators": lambda: mixed(10, 356, 5, 2),
    "mixed model, 1,640 scores, 820 dialogues × 500 annotators, 100 systems": lambda: mixed(500, 820, 100, 2),
    "mixed model, 8,000 scores, 4,000 dialogues × 2,000 annotators, 100 systems": lambda: mixed(2000, 4000, 100, 2),
    "votes, 59 systems, 8,931 votes": lambda: votes(59, 8_931, 13, 124),
    "votes, 10 systems, 2,000 votes": lambda: votes(10, 2_000, 80, 20),
    "Dawid-Skene, 800 answers": lambda: dawid_skene(200, 10, 4),
    "Dawid-Skene, 100,000 answers": lambda: dawid_skene(20_000, 200, 5),
    "sign flips, 60 pairs": lambda: sign_flips(60),
    "sign flips, 1,000 pairs": lambda: sign_flips(1000),
    "sign flips, 400 pairs, 20 variables": lambda: sign_flips(400, 20),
    "patterns, 300 items": lambda: patterns(300, 0.3),
    "patterns, 100,000 items": lambda: patterns(100_000, 0.3),
}


def least(work: Callable[[], object]) -> float:
    """CPU seconds of the fastest run, of as many as fit into a second, after one that warms up."""
    work()
    times: list[float] = []
    while not times or (sum(times) < 1 and len(times) < 20):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def seconds(source: Path, name: str) -> float:
    """Of a case with the package in a folder, in a process of its own."""
    env = os.environ | {"PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--case", name]
    return float(json.loads(subprocess.run(command, env=env, check=True, capture_output=True).stdout))


def main() -> int:
    parser = argparse.ArgumentParser(description="Time kernels here and at another commit.")
    parser.add_argument("ref", nargs="?", help="the other commit")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.case:
        print(json.dumps(least(CASES[wanted.case]())))
        return 0
    if not wanted.ref:
        parser.error("expected a commit to compare with")
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(
            ["git", "archive", wanted.ref, "src"], cwd=ROOT, check=True, capture_output=True
        ).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
        print("| case | then, ms | now, ms | ratio |\n| --- | --- | --- | --- |")
        for name in (name for name in CASES if wanted.only in name):
            times = [[seconds(path / "src", name) for path in (Path(folder), ROOT)] for _ in range(ROUNDS)]
            then, now = np.min(times, axis=0) * 1e3
            print(f"| {name} | {then:,.1f} | {now:,.1f} | {then / now:.1f} × |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
