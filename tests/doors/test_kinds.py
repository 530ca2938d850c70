"""Kinds of files that reports of bugs told of, each in many variants: Enter at every question reads them right."""

from importlib import import_module
from pathlib import Path

import pytest

MODULES = sorted(path.stem for path in Path(__file__).parent.glob("kinds_*.py"))
CASES = {f"{name}: {case.name}": case for name in MODULES for case in import_module(f"doors.{name}").cases()}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.verify] * bool(i % 8)) for i, name in enumerate(CASES)]
)
def test_a_kind_is_read_right(name, tmp_path):
    assert not CASES[name].read(tmp_path)
