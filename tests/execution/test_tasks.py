"""Tasks of an analysis come in order, and say how far they are."""

import numpy as np

from judgebook.execution import tasks


def test_progress_says_how_far_the_analysis_is(tmp_path, monkeypatch):
    monkeypatch.setenv(tasks.PROGRESS, str(tmp_path / "progress"))
    monkeypatch.setattr(tasks, "_EVERY", -1.0)
    assert tasks.run(pow, [(i, 2) for i in range(3)], doing="permutation tests") == [0, 1, 4]
    text, left = (tmp_path / "progress").read_text().splitlines()
    assert text == "permutation tests 2 of 3"
    assert int(left) >= 0


def flags(gaps, transposed, whole):
    return gaps.flags.c_contiguous, np.shares_memory(transposed, whole), gaps.T[::2]


def test_arrays_with_gaps_are_closed_in_arguments_and_results():
    wide = np.arange(12.0).reshape(3, 4)
    closed, shared, result = tasks.run(flags, [(wide[:, ::2], wide.T, wide)], doing="")[0]
    assert closed
    assert shared
    assert result.flags.c_contiguous or result.flags.f_contiguous
