"""What an analysis gave is kept until its code or its arguments change."""

import json

import pandas as pd
import pytest

from judgebook.execution import kept as module
from judgebook.execution.kept import kept
from judgebook.study.labels import METHODS

CALLS = []


def analyse(frame, n, *, seed=0):
    CALLS.append(n)
    return {"sum": frame["x"].sum() + n + seed, "frame": frame}


def below_3(frame):
    return frame[frame["x"] < 3]


@pytest.fixture
def code(monkeypatch, tmp_path):
    """The pipeline's file of digests, as a function that writes it."""
    CALLS.clear()
    path = tmp_path / "code.json"
    monkeypatch.setenv(module.CODE, str(path))

    def write(digest):
        path.write_text(json.dumps({__name__: digest}))

    write("first")
    return write


def frame(last=3.0):
    return pd.DataFrame({"x": [1.0, 2.0, last], "name": ["a", "b", None]})


def test_a_value_is_computed_once_and_is_the_same(code, tmp_path):
    first = kept(tmp_path / "of", analyse, frame(), 1, seed=2)
    again = kept(tmp_path / "of", analyse, frame(), 1, seed=2)
    assert CALLS == [1]
    assert first["sum"] == again["sum"] == 9
    pd.testing.assert_frame_equal(first["frame"], again["frame"])


def test_what_is_computed_from_a_kept_value_is_kept_from_the_first_time(code, tmp_path):
    """Which parts of a value are one object is not what it was, once it has been in a file."""
    for _ in range(2):
        assert kept(tmp_path / "of", analyse, kept(tmp_path / "of", below_3, frame()), 1)["sum"] == 4
    assert CALLS == [1]


def test_changing_what_was_returned_changes_nothing_that_is_kept(code, tmp_path):
    first = kept(tmp_path / "of", analyse, frame(), 1)
    first["sum"] = 100
    assert kept(tmp_path / "of", analyse, frame(), 1)["sum"] == 7


@pytest.mark.parametrize(
    "change", ["a cell", "an argument", "a keyword", "code", "methods", "the file", "its first line", "no file"]
)
def test_what_it_depends_on_has_it_computed_again(code, tmp_path, change, monkeypatch):
    folder = tmp_path / "of"
    kept(folder, analyse, frame(), 1, seed=2)
    (path,) = folder.iterdir()
    if change == "code":
        code("second")
    elif change == "methods":
        monkeypatch.setattr(type(METHODS), "declared", property(lambda self: ["another"]))
    elif change == "the file":
        path.write_bytes(path.read_bytes()[:-1] + b"x")
    elif change == "its first line":
        path.write_bytes(b"\xff" + path.read_bytes())
    elif change == "no file":
        path.unlink()
    data, n = frame(4.0 if change == "a cell" else 3.0), 5 if change == "an argument" else 1
    value = kept(folder, analyse, data, n, seed=3 if change == "a keyword" else 2)
    assert len(CALLS) == 2
    assert value["sum"] == data["x"].sum() + n + (3 if change == "a keyword" else 2)


def test_without_the_pipeline_and_outside_of_jupyter_nothing_is_kept(code, tmp_path, monkeypatch):
    monkeypatch.delenv(module.CODE)
    for _ in range(2):
        kept(tmp_path / "of", analyse, frame(), 1)
    assert CALLS == [1, 1]
    assert not (tmp_path / "of").exists()


def test_in_jupyter_the_last_value_is_kept(code, tmp_path, monkeypatch):
    monkeypatch.delenv(module.CODE)
    monkeypatch.setattr(module, "_in_jupyter", lambda: True)
    monkeypatch.setattr(module, "_IN_MEMORY", {})
    for n in (1, 1, 2, 2, 1):
        assert kept(tmp_path / "of", analyse, frame(), n)["sum"] == 6 + n
    assert CALLS == [1, 2, 1]
    assert not (tmp_path / "of").exists()


def test_of_texts_each_cell_counts():
    texts = pd.DataFrame({"name": pd.Series(["abcdefgh"] * 200_000, dtype="str")})
    other = texts.assign(name=texts["name"].where(texts.index != 7, "abcdefgx"))
    assert module._arguments(texts) == module._arguments(texts.copy()) != module._arguments(other)
