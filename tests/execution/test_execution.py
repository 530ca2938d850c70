"""What an analysis gave is kept until its code or its arguments change; its tasks say how far they are."""

import json

import numpy as np
import pandas as pd
import pytest

from judgebook import execution
from judgebook.execution import kept
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
    monkeypatch.setenv(execution.CODE, str(path))

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
    monkeypatch.delenv(execution.CODE)
    for _ in range(2):
        kept(tmp_path / "of", analyse, frame(), 1)
    assert CALLS == [1, 1]
    assert not (tmp_path / "of").exists()


def test_in_jupyter_the_last_value_is_kept(code, tmp_path, monkeypatch):
    monkeypatch.delenv(execution.CODE)
    monkeypatch.setattr(execution, "_in_jupyter", lambda: True)
    monkeypatch.setattr(execution, "_IN_MEMORY", {})
    for n in (1, 1, 2, 2, 1):
        assert kept(tmp_path / "of", analyse, frame(), n)["sum"] == 6 + n
    assert CALLS == [1, 2, 1]
    assert not (tmp_path / "of").exists()


def test_of_texts_each_cell_counts():
    texts = pd.DataFrame({"name": pd.Series(["abcdefgh"] * 200_000, dtype="str")})
    other = texts.assign(name=texts["name"].where(texts.index != 7, "abcdefgx"))
    assert execution._arguments(texts) == execution._arguments(texts.copy()) != execution._arguments(other)


def test_progress_says_how_far_the_analysis_is(tmp_path, monkeypatch):
    monkeypatch.setenv(execution.PROGRESS, str(tmp_path / "progress"))
    monkeypatch.setattr(execution, "_EVERY", -1.0)
    assert execution.run(pow, [(i, 2) for i in range(3)], doing="permutation tests") == [0, 1, 4]
    text, left = (tmp_path / "progress").read_text().splitlines()
    assert text == "permutation tests 2 of 3"
    assert int(left) >= 0


def flags(gaps, transposed, whole):
    return gaps.flags.c_contiguous, np.shares_memory(transposed, whole), gaps.T[::2]


def test_arrays_with_gaps_are_closed_in_arguments_and_results():
    wide = np.arange(12.0).reshape(3, 4)
    closed, shared, result = execution.run(flags, [(wide[:, ::2], wide.T, wide)], doing="")[0]
    assert closed
    assert shared
    assert result.flags.c_contiguous or result.flags.f_contiguous
