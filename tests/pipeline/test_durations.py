"""What a run says of how long it takes and how far it is."""

import json
import os

import pytest

from judgebook.pipeline import nodes, worker
from judgebook.study.questions import declared


def estimated(name, n, systems, labels):
    profile = {"n_annotations": n, "systems": [""] * systems, "labels": [""] * labels}
    return nodes.estimated(declared()[name], profile)


def test_an_estimate_grows_with_judgements_and_with_pairs_of_systems():
    constant, judgements, pairs = declared()["05_sensitivity"].seconds
    assert estimated("05_sensitivity", 0, 1, 1) == constant
    assert estimated("05_sensitivity", 200_000, 1, 1) == pytest.approx(constant + 2 * judgements)
    assert estimated("05_sensitivity", 0, 10, 20) == pytest.approx(constant + pairs * 45 * 20 / 1000)


def test_progress_is_that_of_the_newest_try(tmp_path):
    job = worker.NotebookJob("05_x", tmp_path, {}, (), tmp_path, tmp_path, tmp_path)
    assert worker.progress(job) == ("starting", 0.0)
    for number, (name, done) in enumerate([("05_x-lost", 3), ("05_x-new", 1)]):
        (tmp_path / name).mkdir()
        cells = [{"metadata": {"papermill": {"status": "completed" if i < done else "pending"}}} for i in range(5)]
        path = tmp_path / name / "executed.ipynb"
        path.write_text(json.dumps({"cells": cells}))
        os.utime(path, (1000 + number, 1000 + number))
    assert worker.progress(job) == ("cell 2 of 5", 0.0)
    note = tmp_path / "05_x-new" / "progress"
    note.write_text("permutation tests 12 of 60\n95")
    assert worker.progress(job) == ("cell 2 of 5, permutation tests 12 of 60", 95.0)
    os.utime(note, (900, 900))
    assert worker.progress(job) == ("cell 2 of 5", 0.0)
