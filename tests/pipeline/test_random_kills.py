"""A few kills at random moments; `benchmarks/kills.py` tries hundreds, of all commands."""

import importlib
import subprocess
import sys

import pytest
from conftest import ROOT


@pytest.fixture
def harness(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("kills")


@pytest.mark.evidence
def test_what_is_killed_leaves_nothing_half_made(harness, tmp_path):
    commands = ("fetch", "new")
    victim = harness.Victim(tmp_path, commands)
    found = [victim.try_out(kill) for kill in harness.kills(4, 6, commands)]
    assert {f.kill.command for f in found} == set(commands)
    assert [f for f in found if f.faults] == []
    # and what it looks for is found
    (victim.project.out("params") / "tiny.csv").write_text("id,flu")
    assert victim.half_written("new") == ["half-written: params/tiny.csv"]
    monkey = {harness.TOKEN: victim.tokens[-1]}
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], env=monkey) as stray:
        harness.LEFT_OVER = 1.0
        assert len(victim.left_over()) == 1
    assert stray.returncode == -9


def test_only_a_disk_of_its_own_is_filled(harness, tmp_path, capsys):
    with pytest.raises(SystemExit):
        harness.main(["--disk", str(tmp_path)])
    assert "expected a file system of its own" in capsys.readouterr().err
