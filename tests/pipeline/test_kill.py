"""A run that is killed leaves nothing half-made, no kernel behind, and the next run starts where it was."""

import signal

import pytest
from fixtures.project_copy import Project
from fixtures.sleeper import killed


#: an interrupted run cleans up in its own code, also where it is told to stop; or the system ends it
@pytest.mark.parametrize(
    "number",
    [pytest.param(signal.SIGTERM, marks=pytest.mark.verify), pytest.param(signal.SIGKILL, marks=pytest.mark.evidence)],
)
def test_a_killed_run_leaves_nothing_half_made(tmp_path, number):
    project = Project(tmp_path / "project")
    killed(project, number)
    assert not [*project.folder.rglob(".*.tmp")]
    project.edit("notebooks/01_sleeps.ipynb", "time.sleep(600)", "time.sleep(0)")
    assert project.states()["01_sleeps"] == ("done", "new")
    assert not project.out("data", "processed", "tiny", ".work").exists()
