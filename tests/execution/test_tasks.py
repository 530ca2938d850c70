"""Tasks of an analysis are done by the executor that the environment names, and say how far they are."""

import sys
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType

import pytest
from fixtures.tasks import fails

from judgebook.execution import tasks


@pytest.fixture
def threads(monkeypatch):
    """Names an executor with two threads in the environment; a list of those that were made and not shut down."""
    module, made = ModuleType("made_elsewhere"), []

    class Noted(ThreadPoolExecutor):
        def shutdown(self, wait=True, *, cancel_futures=False):
            super().shutdown(wait, cancel_futures=cancel_futures)
            made.remove(self)

    module.two = lambda: made.append(Noted(2)) or made[-1]
    monkeypatch.setitem(sys.modules, "made_elsewhere", module)
    monkeypatch.setenv(tasks.EXECUTOR, "made_elsewhere:two")
    return made


def test_the_executor_of_the_environment_does_them_and_is_shut_down(threads, monkeypatch):
    todo = [(i, ()) for i in range(9)]
    assert tasks.run(fails, todo, doing="tests") == list(range(9))
    assert threads == []
    monkeypatch.delenv(tasks.EXECUTOR)
    assert tasks.run(fails, todo, doing="tests") == list(range(9))


def test_where_a_piece_fails_it_is_shut_down_too(threads):
    with pytest.raises(ValueError, match="piece 2"):
        tasks.run(fails, [(i, {4, 2, 7}) for i in range(9)], doing="tests")
    assert threads == []


def test_progress_says_how_far_the_analysis_is(tmp_path, monkeypatch):
    monkeypatch.setenv(tasks.PROGRESS, str(tmp_path / "progress"))
    monkeypatch.setattr(tasks, "_EVERY", -1.0)
    tasks.run(fails, [(i, ()) for i in range(3)], doing="permutation tests")
    text, left = (tmp_path / "progress").read_text().splitlines()
    assert text == "permutation tests 2 of 3"
    assert int(left) >= 0
