"""Tasks of an analysis say how far they are."""

from judgebook.execution import tasks


def test_progress_says_how_far_the_analysis_is(tmp_path, monkeypatch):
    monkeypatch.setenv(tasks.PROGRESS, str(tmp_path / "progress"))
    monkeypatch.setattr(tasks, "_EVERY", -1.0)
    assert tasks.run(pow, [(i, 2) for i in range(3)], doing="permutation tests") == [0, 1, 4]
    text, left = (tmp_path / "progress").read_text().splitlines()
    assert text == "permutation tests 2 of 3"
    assert int(left) >= 0
