"""The benchmark's bookkeeping: scaled work, ratios, goals. How fast the statistics are is not a test's business."""

import importlib
from pathlib import Path

import pytest


@pytest.fixture
def benchmark(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "benchmarks"))
    return importlib.import_module("benchmark")


def test_scaled_work_counts_in_the_ratio_and_the_goal(benchmark, monkeypatch):
    monkeypatch.setattr(benchmark, "timed", lambda work: work())
    case = benchmark.Case("c", lambda: 0.01, "g", seconds=0.02, ratio=300, theirs=lambda: 0.5, against="x", scale=8)
    row = benchmark.measure(case)
    assert (row["ours"], row["theirs"], row["ratio"], row["met"]) == ("10.0 ms", "4.0 s", "400 ×", "yes")
    assert benchmark.measure(benchmark.Case("c", lambda: 0.03, "g", seconds=0.02))["met"] == "no"
    slower = benchmark.Case("c", lambda: 0.01, "g", ratio=300, theirs=lambda: 2.0)
    assert benchmark.measure(slower)["met"] == "no"
    assert benchmark.measure(benchmark.Case("c", lambda: 0.01, ""))["met"] == "–"


def test_timing_is_the_median_of_several_runs_or_one_long_run(benchmark, monkeypatch):
    now = [0.0]
    lengths = iter([0.5, 0.3, 0.2, 0.9, 0.4, 0.4, 9.0, 9.0])

    def work():
        now[0] += next(lengths)

    monkeypatch.setattr(benchmark.time, "perf_counter", lambda: now[0])
    assert benchmark.timed(work, at_most=2.0) == pytest.approx(0.4)  # 0.3, 0.2, 0.9, 0.4, 0.4; the first warms up
    assert benchmark.timed(work, at_most=2.0) == 9.0


def test_rows_become_a_table(benchmark):
    text = benchmark.table([{"case": "a", "ours": "1 ms"}, {"case": "b", "ours": "2 ms"}])
    assert text.splitlines() == ["| case | ours |", "| --- | --- |", "| a | 1 ms |", "| b | 2 ms |"]


def test_both_sides_of_the_alpha_cases_compute_the_same(benchmark):
    ours = benchmark._alpha(benchmark._binary(), "nominal")["alpha"]
    theirs = benchmark._alpha_loop(benchmark._binary(), "nominal", 99)
    import krippendorff

    package = krippendorff.alpha(reliability_data=benchmark._binary().T, level_of_measurement="nominal")
    assert ours.estimate == pytest.approx(package)
    assert ours.standard_error == pytest.approx(theirs.standard_error, rel=0.3)
    assert benchmark.alpha_binary().name.startswith("alpha, binary")
