"""Kinds of files that reports of bugs told of, each in many variants: Enter at every question reads them right."""

from importlib import import_module
from pathlib import Path

import pytest

MODULES = sorted(path.stem for path in Path(__file__).parent.glob("kinds_*.py"))
CASES = {name: {case.name: case for case in import_module(f"doors.{name}").cases()} for name in MODULES}
#: some for everyday
_SOME = [(name, case) for name in MODULES for case in [*CASES[name]][::8]]


@pytest.mark.parametrize(("name", "case"), _SOME, ids=lambda x: x)
def test_some_are_read_right(name, case, tmp_path):
    assert not CASES[name][case].read(tmp_path)


@pytest.mark.verify
@pytest.mark.parametrize("name", MODULES)
def test_every_one_is_read_right(name, tmp_path_factory):
    found = {case: kind.read(tmp_path_factory.mktemp("kind")) for case, kind in CASES[name].items()}
    assert {case: wrong for case, wrong in found.items() if wrong} == {}
