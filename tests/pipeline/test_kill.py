"""A run that is killed leaves nothing half-made, no kernel behind, and the next run starts where it was."""

import signal

import pytest
from fixtures.project_copy import Project
from fixtures.sleeper import gone, sleeper
from fixtures.waiting import wait_for


#: an interrupted run cleans up in its own code, also where it is told to stop; or the system ends it
@pytest.mark.parametrize(
    "number",
    [pytest.param(signal.SIGTERM, marks=pytest.mark.verify), pytest.param(signal.SIGKILL, marks=pytest.mark.evidence)],
)
def test_a_killed_run_leaves_nothing_half_made(tmp_path, number):
    project = Project(tmp_path / "project")
    with sleeper(project) as (process, kernel):
        process.send_signal(number)
        _, errors = process.communicate(timeout=600)
    if number != signal.SIGKILL:
        assert process.returncode == 130
        assert "interrupted" in errors
        assert not project.out("data", "processed", "tiny", ".work").exists()
    wait_for(lambda: gone(kernel))
    assert not project.out("data", "processed", "tiny", "notebooks").exists()
    assert "01_sleeps" not in project.manifest()["nodes"]
    assert not [*project.folder.rglob(".*.tmp")]
    project.edit("notebooks/01_sleeps.ipynb", "time.sleep(600)", "time.sleep(0)")
    assert project.states()["01_sleeps"] == ("done", "new")
    assert not project.out("data", "processed", "tiny", ".work").exists()
