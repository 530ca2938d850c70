"""The benchmark of planted faults: its tables cover the bank, and its counting is right. No other environment."""

import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def faults(monkeypatch):
    """benchmarks/faults.py under a name of its own: the tests have a package `faults`, too."""
    spec = spec_from_file_location("benchmark_of_faults", ROOT / "benchmarks" / "faults.py")
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    monkeypatch.setattr(sys, "path", [str(ROOT / "benchmarks"), *sys.path])
    spec.loader.exec_module(module)
    return module


def test_every_fault_of_the_bank_has_patterns_that_compile(faults):
    assert set(faults.PATTERNS) == set(faults.bank.FAULTS)
    assert all(re.compile(pattern) for pattern in faults.PATTERNS.values())


def test_a_fault_is_named_if_the_clean_twin_does_not_say_the_same(faults):
    assert faults.named("unequal_n", "With only 6 observations", "fine")
    assert not faults.named("unequal_n", "With only 6 observations", "With only 6 observations")
    assert not faults.named("unequal_n", "fine", "fine")
