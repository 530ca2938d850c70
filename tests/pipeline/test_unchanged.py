"""What a run remembers of what it has read: it sees every change. Whole runs: `test_runs.py`."""

import os
import shutil
import sys
import time
from types import SimpleNamespace

import pytest

from judgebook import unchanged


@pytest.mark.parametrize("change", ["content", "touched", "replaced", "removed", "new in its folder"])
def test_every_change_of_a_file_is_one(tmp_path, change):
    file = tmp_path / "file"
    file.write_text("one")
    before = [unchanged._state(str(path)) for path in (file, tmp_path)]
    about = file.stat()
    if change == "content":
        file.write_text("two")
        os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))
    elif change == "touched":
        os.utime(file, ns=(0, 0))
    elif change == "replaced":
        shutil.copy2(file, tmp_path / "other")
        os.replace(tmp_path / "other", file)
    elif change == "removed":
        file.unlink()
    else:
        (tmp_path / "other").touch()
    assert [unchanged._state(str(path)) for path in (file, tmp_path)] != before


@pytest.mark.parametrize(
    ("time", "before", "recent"),
    [(7 * 10**9 + 1, 0.01, True), (7 * 10**9 + 1, 0.06, False), (7 * 10**9, 0.06, True), (7 * 10**9, 2.1, False)],
)
def test_a_file_is_recent_as_long_as_it_may_change_without_another_time(time, before, recent):
    """One whose time is a whole second may be of a file system that counts seconds."""
    states = {"file": [time, time, 1, 1], "folder": ["file"], "nothing": None}
    assert unchanged._recent(SimpleNamespace(states=states, start=time + before * 1e9)) == recent


def test_variables_options_and_folders_make_another_call(monkeypatch, tmp_path):
    calls = [unchanged._call()]
    for name in ("PYTHONPATH", "LC_ALL", "COMPENDIUM_NEW"):
        monkeypatch.setenv(name, "elsewhere")
        calls.append(unchanged._call())
    monkeypatch.setattr(sys, "orig_argv", [*sys.orig_argv, "--force"])
    calls.append(unchanged._call())
    monkeypatch.chdir(tmp_path)
    assert len({*map(str, [*calls, unchanged._call()])}) == 6


@pytest.fixture
def kept(tmp_path, monkeypatch, capsys):
    """The list that this call, if it were a run, had left; the streams are part of the call."""
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path))
    for name in ("file", "lock"):
        (tmp_path / name).touch()
    states = {str(tmp_path / "file"): unchanged._state(str(tmp_path / "file"))}
    run = SimpleNamespace(call=unchanged._call(), root=str(tmp_path), states=states, start=time.time_ns() + 10**10)
    run.locks, run.printed = [str(tmp_path / "lock")], [(1, "all up to date\n")]
    monkeypatch.setattr(unchanged, "_watch", run)
    unchanged.keep(tmp_path)
    (path,) = (tmp_path / "data" / "processed" / ".unchanged").glob("*.json")
    return path


def test_the_same_call_prints_the_same_while_nothing_has_changed(kept, tmp_path, capsys, monkeypatch):
    assert unchanged.repeated()
    assert capsys.readouterr().out == "all up to date\n"
    with (tmp_path / "lock").open("a") as held:
        unchanged.try_lock(held.fileno())
        assert not unchanged.repeated()
    assert unchanged.repeated()
    os.utime(tmp_path / "file", ns=(0, 0))
    assert not unchanged.repeated()


@pytest.mark.parametrize("spoil", [lambda text: text[:100], lambda text: "{}", lambda text: "[1]", lambda text: "\0"])
def test_a_list_that_cannot_be_read_is_ignored(kept, spoil, capsys):
    kept.write_text(spoil(kept.read_text()))
    assert not unchanged.repeated()
    assert capsys.readouterr().out == ""


def test_few_lists_are_kept_and_none_of_a_run_that_wrote_elsewhere(kept, tmp_path, monkeypatch):
    run = SimpleNamespace(call=["another"], root=str(tmp_path), states={}, start=0, locks=[], printed=[])
    for number in range(unchanged.CALLS + 5):
        (kept.parent / f"{number:08x}.json").touch()
    for root, n in ((tmp_path / "elsewhere", unchanged.CALLS + 6), (tmp_path, unchanged.CALLS)):
        monkeypatch.setattr(unchanged, "_watch", run)
        unchanged.keep(root)
        assert len([*kept.parent.glob("*.json")]) == n
