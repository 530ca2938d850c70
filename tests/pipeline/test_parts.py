"""Parts of the pipeline on their own: closures, the cache, parameters cells, reading parameters back."""

import json
import os
import subprocess
import sys
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
import yaml
from fixtures import yaml_studies as studies
from fixtures.pools import Pool

from judgebook.pipeline import cache as cache_module
from judgebook.pipeline import closure, dag, execute, nodes, run, worker
from judgebook.pipeline.cache import Cache
from judgebook.pipeline.dag import NotebookError
from judgebook.sources import build
from judgebook.sources.ids import recorded
from judgebook.study import params, store
from judgebook.study.questions import Question


@pytest.fixture
def package(tmp_path):
    """judgebook with a: b, b: sub.c (in a function), sub.c: a relative import, d: alone."""
    root = tmp_path / "judgebook"
    (root / "sub").mkdir(parents=True)
    files = {
        "__init__.py": "",
        "a.py": "import numpy\nfrom judgebook import b, nothing\n",
        "b.py": "def f():\n    from judgebook.sub.c import thing\n    return thing\n",
        "sub/__init__.py": "import judgebook.e\n",
        "sub/c.py": (
            "from typing import TYPE_CHECKING\nfrom . import f\nif TYPE_CHECKING:\n    from judgebook import d\n"
        ),
        "sub/f.py": "from ..g import x\n",
        "d.py": "",
        "e.py": "",
        "g.py": "x = 1\n",
    }
    for name, text in files.items():
        (root / name).write_text(text)
    return root


class _AtOnce:
    """An executor that notes what is started, and has it done at once."""

    def __init__(self):
        self.started = []

    def submit(self, work, name):
        self.started.append(name)
        future = Future()
        future.set_result(worker.Outcome("done"))
        return future


def node(name, seconds=1, after=(), **options):
    return nodes.Node("s", name, after, dict, list, print, lambda: name, seconds=seconds, **options)


@pytest.fixture
def runner():
    """Of one study, with an executor that has everything done at once (`started` is what was); every node is new."""
    study, at_once = MagicMock(), _AtOnce()
    study.manifest.outputs.return_value = []
    study.manifest.why.return_value = "new"

    def made(jobs=1, say=lambda *_: None, **options):
        return execute.Runner({"s": study}, Cache(None), lambda _: at_once, jobs, say=say, news=print, **options)

    made.study, made.started = study, at_once.started
    return made


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_has_most_to_come_starts_first(runner, jobs):
    # b takes less time than the long one, but d has to wait for it
    made = runner(jobs, force=True)
    made.run([node("a", 3), node("b", 4), node("long", 9), node("c", 2), node("d", 8, ("b",))])
    assert runner.started == ["b", "long", "d", "a", "c"]
    assert {status.state for status in made.states.values()} == {"done"}


def test_what_the_first_page_needs_goes_before_what_takes_long_and_the_page_is_not_recorded(runner):
    page = {"soft": True, "recorded": False, "first": True}
    runner().run([node("long", 9), node("b", 1), node("c", 2, ("b",)), node("page", 1, ("c",), **page)])
    assert runner.started == ["b", "c", "page", "long"]
    assert [call.args[0] for call in runner.study.manifest.record.call_args_list] == ["b", "c", "long"]


def test_closure_follows_imports_wherever_they_stand(package):
    found = closure.closure(["judgebook.a"], Cache(None), (package,))
    below = ["a", "b", "e", "g", "sub", "sub.c", "sub.f"]
    assert list(found) == ["judgebook", *(f"judgebook.{name}" for name in below)]


def test_closure_of_a_helper_holds_no_other_helper(package):
    helpers = package.parent / "helpers"
    helpers.mkdir()
    for name, text in {"__init__": "", "one": "from judgebook import d\n", "two": "from judgebook import a\n"}.items():
        (helpers / f"{name}.py").write_text(text)
    names = closure.imported("from helpers import one\n")
    found = closure.closure(names, Cache(None), (helpers, package))
    assert list(found) == ["helpers", "helpers.one", "judgebook", "judgebook.d"]


@pytest.mark.parametrize(
    ("file", "shows", "others"),
    [
        # a colour computes no statistic again
        ("report/templates/report.css", ["judgebook.report"], [["judgebook.sub"], []]),
        # nor does another passage of text, which changes no page of another folder
        (
            "sub/text.md.j2",
            ["judgebook.display.text", "judgebook.sub", "judgebook.sub.c"],
            [["judgebook.sub", "judgebook.sub.c"], ["judgebook.display.text", "judgebook.d"]],
        ),
    ],
)
def test_words_and_colours_count_for_those_who_show_them(package, file, shows, others):
    def digests(*modules):
        return [closure.package_data(Cache(None), (package,), names) for names in modules]

    path = package / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("a")
    before = digests(*others), digests(shows)
    path.write_text("b")
    assert [now == then for now, then in zip((digests(*others), digests(shows)), before, strict=True)] == [True, False]


def test_the_closure_of_a_real_module_holds_what_it_loads():
    code = "import sys, judgebook.study.store; print(*sorted(m for m in sys.modules if m.split('.')[0] == 'judgebook'))"
    environment = {**os.environ, "PYTHONPATH": str(params.ROOT / "src")}
    loaded = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert set(loaded.stdout.split()) <= set(closure.closure(["judgebook.study.store"], Cache(None)))


def test_the_cache_reads_a_file_once_until_it_changes(tmp_path, monkeypatch):
    file, kept = tmp_path / "file", tmp_path / "cache.json"
    file.write_text("one")
    os.utime(file, ns=(10**18, 10**18))
    first = Cache(kept)
    calls = []
    assert first.derived("length", file, lambda p: calls.append(p) or 3) == 3
    first.save()
    assert Cache(None).derived("length", file, lambda p: calls.append(p) or 4) == 3
    monkeypatch.setattr(cache_module, "_COMPUTED", {})  # as in another process
    second = Cache(kept)
    assert second.derived("length", file, lambda p: calls.append(p) or 4) == 3
    assert len(calls) == 1


@pytest.mark.parametrize("size", [3, cache_module.SMALL + 1])
def test_a_file_changed_in_place_is_read_again(tmp_path, monkeypatch, size):
    """Equal size and a time of modification that was set back: a small file is read anyway, a large one shows it."""
    monkeypatch.setattr(cache_module, "RECENT", -1)
    file, kept = tmp_path / "file", tmp_path / "cache.json"
    file.write_bytes(b"1" * size)
    os.utime(file, ns=(10**18, 10**18))
    first = Cache(kept)
    digest, before = first.file(file), file.stat()
    first.save()
    assert Cache(kept).file(file) == digest
    while file.stat().st_ctime_ns == before.st_ctime_ns:  # until the clock of the file system has moved
        file.write_bytes(b"2" * size)
        os.utime(file, ns=(10**18, 10**18))
    assert file.stat().st_mtime_ns == before.st_mtime_ns
    assert Cache(kept).file(file) != digest


def test_only_takes_number_name_or_both_and_what_they_need():
    needs = {"01_a": [], "02_b": ["01_a"], "03_c": ["02_b"], "04_d": []}
    all_ = {name: Question(notebook=name, asks="", needs=many) for name, many in needs.items()}
    assert dag.select(list(all_), ["c"], all_) == ["01_a", "02_b", "03_c"]
    assert dag.select(list(all_), ["04"], all_) == ["04_d"]
    assert dag.select(list(all_), ["01_a", "d"], all_) == ["01_a", "04_d"]
    with pytest.raises(NotebookError, match="no notebook 'bb'"):
        dag.select(list(all_), ["bb"], all_)


@pytest.mark.parametrize("name", params.names())
def test_recorded_parameters_read_back_as_the_same_study(name, tmp_path):
    study = params.load(name, params.parse_set(["bootstrap.n_resamples=321"]))
    path = tmp_path / "params.yaml"
    path.write_text(yaml.safe_dump(recorded.resolved(study), sort_keys=False, allow_unicode=True))
    again = params.load(path, key=name)
    assert again.model_dump(exclude={"sources"}) == study.model_dump(exclude={"sources"})
    assert again.bootstrap.n_resamples == 321
    assert len(again.sources) == len(study.sources)


def test_files_of_others_beside_simulated_ones_are_not_the_pipelines(tmp_path, monkeypatch):
    """What a node made is removed when it is no longer made; nothing else in data/raw is ever touched."""
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path))
    raw = tmp_path / "data" / "raw" / "demo"
    raw.mkdir(parents=True)
    for name in ("data.json", "truth.json", "notes.txt"):
        (raw / name).write_text("x")
    study = nodes.StudyNodes(worker.Spec("demo", "demo"), params.load("demo"), {}, Cache(None), dag.NOTEBOOKS)
    assert sorted(p.name for p in study.data()[0].outputs()) == ["data.json", "truth.json"]


def test_a_finished_study_whose_yaml_names_people_is_up_to_date(tmp_path, monkeypatch):
    """Its parameters are recorded with pseudonyms; bundles and tables of sweeps ask whether it is outdated."""
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path / "out"))
    named = "groups: {crowd: {annotators: [workerAAA17]}, ours: {annotators: [workerBBB18]}}\n"
    named += "scope: {exclude_dialogues: {dialogue_rating: [d_workerAAA17]}}\n"
    csv = studies.LONG_CSV.replace("d1,", "d_w1,").replace("w1", "workerAAA17").replace("w2", "workerBBB18")
    study = params.load(studies.write(tmp_path, studies.LONG + named, my_csv=csv))
    build.build(study, out=store.processed("mine"))
    spec = worker.Spec(str(study.path), "mine")
    of = nodes.StudyNodes(spec, study, {"03_iaa": dag.load()["03_iaa"]}, Cache(None), dag.NOTEBOOKS)
    of.write_params()
    assert "worker" not in (of.home / "params.yaml").read_text().replace("annotator: worker", "")
    of.manifest.record("03_iaa", of.parts("03_iaa"), [], 1.0, of.cache)
    of.manifest.save(study)
    assert run.outdated("mine") == {}
    (of.home / recorded.SECTIONS).write_text(json.dumps(recorded.kept(of.home) | {"groups": {}}))
    assert run.outdated("mine") == {"03_iaa": "changed: groups (YAML)"}


def test_a_broken_pool_is_shut_down_and_replaced(tmp_path):
    pools = [Pool(broken=True), Pool(broken=False)]
    left = iter(pools)
    study = SimpleNamespace(manifest=SimpleNamespace(outputs=lambda name: []))
    quiet = {"say": lambda *a: None, "news": lambda line: None}
    runner = execute.Runner({"tiny": study}, None, lambda jobs: next(left), 1, **quiet)
    node = execute.Node("tiny", "01", (), dict, list, len, lambda: "abc")
    runner._ready[node] = {}, "new"
    assert runner._places() == 1
    runner._submit(node, *runner._ready.pop(node))
    (future,) = runner._running
    assert future.result() == 3
    assert [p.over for p in pools] == [True, False]
    assert runner._executor is pools[1]


def test_an_outcome_of_a_dead_process_leaves_the_executor_where_it_is():
    with ThreadPoolExecutor(1) as pool:
        runner = execute.Runner({}, None, lambda jobs: pool, 1, say=None, news=None)
        runner._executor, future = pool, Future()
        future.set_exception(BrokenExecutor("terminated abruptly"))
        status = runner._outcome(execute._Job(None, {}, "", None, {}, 0.0), future)
        assert status.state == "failed"
        assert "a worker process died: terminated abruptly" in status.reason
        assert runner._executor is pool
