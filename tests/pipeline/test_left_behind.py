"""What lies in the output folder from before: believed only where it is as a run leaves it, swept where unfinished."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from judgebook.pipeline import cache as cache_module
from judgebook.pipeline import dag, nodes, worker
from judgebook.pipeline.cache import Cache
from judgebook.pipeline.manifest import Manifest
from judgebook.study import params, store

RUBBISH = ["{", "", "null", '{"format": 1}', '{"format": 2, "files": [], "derived": 3, "digest": "x"}']
RUBBISH += ['{"format": 1, "nodes": []}', '{"format": 1, "nodes": {"01_a": {"outputs": 3}}}', "[" * 100_000, "\udcff"]


@pytest.mark.parametrize("text", RUBBISH)
def test_a_broken_cache_is_ignored_with_a_line(tmp_path, capsys, monkeypatch, text):
    monkeypatch.setattr(cache_module, "_COMPUTED", {})
    kept = tmp_path / "cache.json"
    kept.write_text(text, encoding="utf-8", errors="surrogateescape")
    (tmp_path / "file").write_text("x")
    cache = Cache(kept)
    assert capsys.readouterr().err == "cache.json: not as the last run wrote it; ignored and rebuilt\n"
    assert cache.derived("size", tmp_path / "file", lambda p: 1) == 1
    cache.save()
    cache_module._COMPUTED.clear()
    assert Cache(kept).derived("size", tmp_path / "file", lambda p: 2) == 1
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("text", RUBBISH)
def test_a_broken_manifest_is_ignored_with_a_line(tmp_path, monkeypatch, capsys, text):
    """One of another format is no rubbish, and is made anew without a word."""
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path))
    path = store.processed("demo") / "manifest.json"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    assert Manifest("demo").nodes == {}
    assert ("ignored and rebuilt" in capsys.readouterr().err) == ('"format": 2' not in text)


VICTIMS = ["../VICTIM", "data/processed/other/VICTIM", "data/processed/demo/../VICTIM", "{root}/VICTIM", ""]
VICTIMS += ["data/processed/demo", "figures//demo/VICTIM", "data/raw/demo/VICTIM", "reports/demo/out/VICTIM", "\0"]


@pytest.mark.parametrize("victim", VICTIMS)
def test_a_manifest_removes_nothing_outside_of_its_study(tmp_path, monkeypatch, capsys, victim):
    """An output that a manifest names elsewhere, also behind a link, is neither removed nor believed, and is said."""
    root = tmp_path / "out"
    monkeypatch.setenv("COMPENDIUM_OUT", str(root))
    own = store.processed("demo") / "results" / "01_a.csv"
    for path in (tmp_path / "away" / "VICTIM", own, root / "data/processed/demo/x", root / "reports/demo/x"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("kept")
    (root / "reports/demo/out").symlink_to(tmp_path / "away")
    victim = victim.format(root=tmp_path)
    if "VICTIM" in victim:
        (root / victim).parent.mkdir(parents=True, exist_ok=True)
        (root / victim).write_text("kept")
    node = {"hash": "x", "parts": {}, "seconds": 1.0, "finished": "2026-01-01T00:00:00+00:00"}
    kept = {"01_a": node | {"outputs": {victim: "x"}}, "02_b": node | {"outputs": {"figures/demo/02_b.svg": "y"}}}
    (store.processed("demo") / "manifest.json").write_text(json.dumps({"format": 1, "nodes": kept}))
    spec = worker.Spec("demo", "demo")
    study = nodes.StudyNodes(spec, params.load("demo"), {}, Cache(None), dag.NOTEBOOKS)
    assert "outside the study's folders; ignored, nothing is removed" in capsys.readouterr().err
    assert list(study.manifest.nodes) == ["02_b"]
    study.retire("01_a")
    assert own.read_text() == (tmp_path / "away" / "VICTIM").read_text() == "kept"
    assert "VICTIM" not in victim or (root / victim).read_text() == "kept"


def test_the_table_of_all_printed_numbers_belongs_to_the_scoreboard(tmp_path, monkeypatch, capsys):
    """It lies beside the reports of the studies, and a second run believes what the first one kept of it."""
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path))
    node = {"hash": "x", "parts": {}, "seconds": 1.0, "finished": "2026-01-01T00:00:00+00:00"}
    outputs = {"reports/scoreboard/90_cells.html": "x", "reports/replication.csv": "y"}
    path = store.processed("scoreboard") / "manifest.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"format": 1, "nodes": {"scoreboard": node | {"outputs": outputs}}}))
    assert Manifest("scoreboard").nodes["scoreboard"]["outputs"] == outputs
    assert capsys.readouterr().err == ""


def test_unfinished_files_of_processes_that_are_gone_are_swept(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path))
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    folder = tmp_path / "results"
    with store.atomic(folder / "mine.parquet") as mine, store.scratch(folder) as own:
        mine.write_text("half")
        (own / "file").write_text("half")
        left = [Path(str(path).replace(f"-{os.getpid()}", f"-{gone.pid}")) for path in (mine, own)]
        left[0].write_text("half")
        left[1].mkdir()
        (left[1] / "file").write_text("half")
        elsewhere = Path(str(left[0]).replace(store._MACHINE, "0" * 8))  # a process of another machine
        forgotten = Path(str(mine).replace("mine", "yours"))
        for path in (elsewhere, forgotten, folder / ".own.tmp"):
            path.write_text("half")
        assert not [*folder.glob("*.parquet"), *folder.glob("[!.]*")]
        os.utime(forgotten, ns=(10**18, 10**18))
        os.utime(folder / ".own.tmp", ns=(10**18, 10**18))
        store.sweep(tmp_path)
        assert sorted(folder.iterdir()) == sorted([mine, own, elsewhere, folder / ".own.tmp"])
    assert (folder / "mine.parquet").read_text() == "half"
    assert not own.exists()
