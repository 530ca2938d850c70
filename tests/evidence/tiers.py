"""What the tests of a tier cost, counted in tests, runs of the pipeline and simulated data sets, and held to a budget.

Seconds differ between machines and with what else they do; counts do not. `budgets.yaml` has what each tier may cost; a
session of tests that counts more ends as failed, also where each of its tests passed.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

BUDGETS = Path(__file__).with_name("budgets.yaml")
#: from what one waits for to what takes hours; the last two are marks
TIERS = ("test", "verify", "evidence")


def tier(item: pytest.Item) -> str:
    return next((mark for mark in TIERS[:0:-1] if item.get_closest_marker(mark)), TIERS[0])


def cpu() -> float:
    """CPU seconds of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def over(counts: Mapping[str, int], budgets: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """A line for each count, by `tier what`, that is above its budget."""
    for name in TIERS:
        for what, most in budgets.get(name, {}).items():
            if (found := counts.get(f"{name} {what}", 0)) > most:
                yield f"{name}: {found:,} {what}, and the budget is {most:,} (tests/evidence/budgets.yaml)"


class Tiers:
    """Counts while tests run; with several workers, in each of them and then in the process that started them.

    TALLY, in the environment, names a file for what became of each test: its id, its outcome and its CPU seconds.
    """

    def __init__(self, config: pytest.Config):
        self.config, self.counts = config, Counter[str]()
        self.collected = Counter[str]()
        self.outcomes: dict[str, tuple[str, float]] = {}
        self._running, self._start, self._made = "", 0.0, np.random.default_rng
        np.random.default_rng = self._drawn  # type: ignore[assignment]
        sys.addaudithook(self._heard)

    def _drawn(self, *args: Any, **kwargs: Any) -> np.random.Generator:
        self.counts[f"{self._running} data sets"] += 1
        return self._made(*args, **kwargs)

    def _heard(self, event: str, args: tuple[Any, ...]) -> None:
        started = event == "subprocess.Popen" and any("run_all.py" in str(a) or a == "judgebook" for a in args[1])
        if started or event == "judgebook.run":
            self.counts[f"{self._running} runs"] += 1

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self.collected = Counter(f"{tier(item)} tests" for item in items)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._running, self._start = tier(item), cpu()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo) -> Iterator[None]:
        report = yield
        if call.when == "teardown":
            report.user_properties.append(("cpu", round(cpu() - self._start, 2)))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        before = self.outcomes.get(report.nodeid, ("passed", 0.0))[0]
        worst = max(before, report.outcome, key=["passed", "skipped", "failed"].index)
        self.outcomes[report.nodeid] = worst, dict(report.user_properties).get("cpu", 0.0)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self.counts.update(node.workeroutput.get("counts", {}) if hasattr(node, "workeroutput") else {})
        self.collected |= Counter(getattr(node, "workeroutput", {}).get("collected", {}))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput |= {"counts": dict(self.counts), "collected": dict(self.collected)}
            return
        if place := os.environ.get("TALLY"):
            Path(place).write_text(json.dumps(self.outcomes))
        if self.over() and not session.exitstatus:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def over(self) -> list[str]:
        return [*over(self.counts + self.collected, yaml.safe_load(BUDGETS.read_text("utf-8")))]

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if hasattr(self.config, "workeroutput"):
            return
        spent = {key: n for key, n in sorted(self.counts.items()) if key.partition(" ")[0] in TIERS}
        terminalreporter.write_line("; ".join(f"{key}: {n:,}" for key, n in spent.items()))
        for line in self.over():
            terminalreporter.write_line(line, red=True)
