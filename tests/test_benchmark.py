"""The benchmark's bookkeeping: pairs of runs, scaled work, results that must agree. How fast anything is, is not a
test's business."""

import importlib
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BENCHMARKS = ROOT / "benchmarks"


@pytest.fixture
def benchmark(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    monkeypatch.setattr(os, "environ", os.environ.copy())
    return importlib.import_module("benchmark")


def work(result, seconds, clock):
    """A function with this result that takes the next of these CPU seconds."""
    left = iter(seconds)

    def run():
        clock[0] += next(left)
        return result

    return run


@pytest.fixture
def clock(benchmark, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(benchmark.time, "process_time", lambda: now[0])
    return now


def peer(benchmark, run, **rest):
    return benchmark.Peer("theirs", run, rest.pop("agrees", lambda a, b: a == b), **rest)


def test_ratios_are_taken_pair_by_pair(benchmark, clock):
    """Other work slowed the second pair fivefold: the ratio of the medians would be 3."""
    ours = work(1, [9, 1, 5, 3], clock)  # compared, then timed
    theirs = work(1, [9, 4, 20, 9], clock)
    row = benchmark.compared(benchmark.Case("c", ours), peer(benchmark, theirs))
    assert (row["ratio"], row["of pairs"]) == ("4.0", "3.0 to 4.0")
    assert (row["ours"], row["theirs"]) == ("3.0 s", "9.0 s")


def test_results_that_differ_are_no_row(benchmark, clock):
    other = peer(benchmark, work(2, [1.0] * 99, clock))
    with pytest.raises(ValueError, match="c: theirs gives another result"):
        benchmark.compared(benchmark.Case("c", work(1, [1.0] * 99, clock)), other)


SMALL = ("dialogues", "clustered_errors", "strengths", "spearman", "sign_flips")


@pytest.mark.verify
@pytest.mark.parametrize("name", SMALL)
def test_both_sides_compute_the_same(benchmark, name):
    """Of the cases that take little time, with the packages that the tests have."""
    every = [make for module in benchmark.MODULES for make in module.CASES]
    case = next(make for make in every if name in getattr(make, "func", make).__name__)()
    ours, others = case.work(), [other for other in case.peers if not other.package]
    assert others
    assert [other.name for other in others if not other.agrees(ours, other.work())] == []


def test_what_does_not_agree_is_noticed(benchmark):
    speed = importlib.import_module("speed")
    assert speed.same_interval((0.5, 0.4, 0.6), (0.5, 0.41, 0.59))
    assert not speed.same_interval((0.5, 0.4, 0.6), (0.51, 0.4, 0.6))
    assert not speed.same_interval((0.5, 0.4, 0.6), (0.5, 0.4, 0.7))
