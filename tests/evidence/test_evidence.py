"""Tiers and their budgets, the record of the long evidence, and the planted faults."""

import json
import os
import re

import pytest
import yaml
from conftest import ROOT

from evidence import mutants, pieces, renew, tiers
from evidence.pieces import Piece, Sources
from judgebook.pipeline.cache import Cache

CLUSTERS = ROOT / "src" / "judgebook" / "statistics" / "clusters.py"
#: one that imports `statistics.clusters`, one that does not, one that runs the pipeline
EVERY = [Piece(f"tests/{name}.py") for name in ("statistics/test_clusters", "test_codes", "pipeline/test_runs")]


class Edited(Cache):
    """As if `CLUSTERS` had been edited."""

    def file(self, path):
        return "edited" if path == CLUSTERS else super().file(path)


def passed(**changes):
    return {"passed": 3, "failed": 0, "skipped": 0, "seconds": 5.0, "commit": "abc", "date": "2026-01-01"} | changes


@pytest.fixture(scope="module")
def digests():
    return Sources().digests(EVERY)


def test_a_piece_is_stale_when_a_module_it_can_load_has_changed(digests):
    edited = Sources()
    edited.cache = Edited(None)
    after = edited.digests(EVERY)
    assert [p.test for p in EVERY if after[p.name] != digests[p.name]] == [EVERY[0].test, EVERY[2].test]
    record = {p.name: passed(digest=digests[p.name]) for p in EVERY}
    assert renew.stale(EVERY, record, digests) == []
    assert renew.stale(EVERY, record, after) == [EVERY[0], EVERY[2]]


def test_a_file_whose_fixture_marks_its_tests_is_a_piece():
    names = {p.name for p in pieces.all_pieces()}
    assert {"tests/display/test_every_figure.py", "tests/statistics/test_hard_cases.py"} <= names
    assert "tests/test_codes.py" not in names


def test_what_failed_never_ran_or_had_no_test_is_not_vouched_for():
    assert renew.vouched(passed(digest="d"), "d")
    for entry in (None, passed(digest="e"), passed(digest="d", failed=1), passed(digest="d", passed=0)):
        assert not renew.vouched(entry, "d")


def test_what_is_unverified_is_named_with_what_changed(digests, monkeypatch):
    monkeypatch.setattr(pieces, "git", lambda *words: "src/judgebook/statistics/clusters.py\nREADME.md")
    record = {EVERY[0].name: passed(digest="old"), EVERY[2].name: passed(digest="old", failed=2)}
    lines = [*renew.said(EVERY, EVERY, record, Sources())]
    assert lines[0] == "Unverified at these sources: 3 of 3 pieces of the long evidence."
    assert lines[1] == (
        "  tests/statistics/test_clusters.py: passed at abc; since then changed: src/judgebook/statistics/clusters.py"
    )
    assert lines[2:4] == ["  tests/test_codes.py: never ran", "  tests/pipeline/test_runs.py: 2 failed at abc"]
    assert [*renew.said([], EVERY, {}, Sources())] == [
        "All 3 pieces of the long evidence are verified at these sources."
    ]


def test_within_a_budget_the_cheapest_stale_pieces_run_then_a_tenth_of_the_others_in_turn():
    out, others = [Piece(f"out{i}") for i in range(4)], [Piece(f"other{i}") for i in range(20)]
    record = {p.name: passed(seconds=s) for p, s in zip(out[:3], (50, 10, 30), strict=True)}  # the fourth never ran
    record |= {p.name: passed(seconds=1.0, date=f"2026-01-{i:02}") for i, p in enumerate(others, 1)}
    assert renew.within(45, out, others, 3, record) == [out[1], out[2]]
    assert renew.within(91.5, out, others, 3, record) == [out[1], out[2], out[0], others[3]]
    every = {p for turn in range(10) for p in renew.within(1000, [], others, turn, record)}
    assert every == {*others}


def test_a_batch_has_one_kernel_and_the_dearest_come_first():
    some = [Piece("a"), Piece("b"), Piece("c", "Haswell"), Piece("tests/fuzz.py", fuzz=3600)]
    record = {"a": passed(seconds=1.0), "b": passed(seconds=2.0)}
    assert [*renew.batches(some, record)] == [[some[3]], [some[2]], [some[1], some[0]]]


def test_the_record_counts_the_tests_of_a_piece(tmp_path):
    outcomes = {"tests/a/test_x.py::t[1]": ("passed", 1.5), "tests/a/test_y.py::t": ("failed", 2.0)}
    assert renew._summed(Piece("tests/a/test_x.py"), outcomes) == {
        "passed": 1, "failed": 0, "skipped": 0, "seconds": 1.5,
    }  # fmt: skip
    assert renew._summed(Piece("tests/a", "Haswell"), outcomes)["failed"] == 1
    path = tmp_path / "record.json"
    pieces.write({"b": passed(digest="1"), "a": passed(digest="2")}, path)
    assert [*pieces.read(path)] == ["a", "b"]
    assert len(path.read_text().splitlines()) == 4


def test_the_committed_record_is_of_pieces_that_there_are():
    assert pieces.read().keys() <= {p.name for p in pieces.all_pieces()}


def test_a_release_needs_a_complete_record():
    newest = re.search(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)[1]
    if newest != "Unreleased" or pieces.git("tag", "--points-at", "HEAD"):
        assert renew.main(["--check"]) == 0


def test_a_session_over_budget_says_so():
    budgets = {"test": {"tests": 10, "runs": 1, "data sets": 5}}
    assert not [*tiers.over({"test tests": 10, "verify runs": 9}, budgets)]
    (line,) = tiers.over({"test tests": 11, "test runs": 1}, budgets)
    assert line.startswith("test: 11 tests, and the budget is 10")


@pytest.mark.verify
def test_sessions_count_runs_and_data_sets_and_fail_over_budget(pytester, monkeypatch):
    pytester.makeconftest(f"""
        from pathlib import Path
        from evidence import tiers

        tiers.BUDGETS = Path({str(pytester.path / "budgets.yaml")!r})

        def pytest_configure(config):
            for mark in tiers.TIERS:
                config.addinivalue_line("markers", mark)
            config.pluginmanager.register(tiers.Tiers(config))
    """)
    pytester.makepyfile("""
        import sys

        import numpy as np
        import pytest

        def test_a():
            np.random.default_rng(1)
            sys.audit("judgebook.run", [])

        @pytest.mark.verify
        def test_b():
            np.random.default_rng(2)
            np.random.default_rng(3)
    """)
    monkeypatch.setenv("TALLY", str(pytester.path / "tally.json"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")]))
    for most, code in ((2, 0), (1, 1)):
        (pytester.path / "budgets.yaml").write_text(f"verify: {{data sets: {most}}}")
        done = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-n", "2")
        assert done.ret == code
    done.stdout.fnmatch_lines(["*test data sets: 1; test runs: 1; verify data sets: 2*", "*budget is 1 *"])
    outcomes = json.loads((pytester.path / "tally.json").read_text())
    assert [outcome for outcome, _ in outcomes.values()] == ["passed", "passed"]


def test_tests_have_no_more_lines_than_they_may():
    lines = [line for p in (ROOT / "tests").rglob("*.py") for line in p.read_text("utf-8").splitlines()]
    assert sum(bool(line.strip()) for line in lines) <= yaml.safe_load(tiers.BUDGETS.read_text("utf-8"))["lines"]


def test_no_test_measures_seconds():
    """Benchmarks do: what a machine does beside tests would fail them."""
    clocks = re.compile(r"time\.(?:perf_counter|process_time|time)\(")
    files = [p for p in (ROOT / "tests").rglob("*.py") if clocks.search(p.read_text("utf-8"))]
    assert files == []


def test_every_planted_fault_has_its_place():
    planted = yaml.safe_load(mutants.MUTANTS.read_text("utf-8"))
    assert len({m["module"] for m in planted}) == len(planted) == 20
    for mutant in planted:
        module = ROOT / "src" / "judgebook" / mutant["module"]
        assert module.read_text("utf-8").count(mutant["old"]) == 1, mutant["id"]


def test_tests_that_can_notice_a_fault_are_those_that_can_load_its_module_the_nearest_first():
    files = [EVERY[2].test, EVERY[1].test, EVERY[0].test]
    assert mutants.tests_of(CLUSTERS, files, Sources()) == [EVERY[0].test, EVERY[2].test]
