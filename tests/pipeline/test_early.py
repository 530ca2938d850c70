"""The first page of a run whose other notebooks are still being computed."""

import re
import signal
import subprocess
import sys

import pytest
from fixtures.project_copy import Project, result

SECONDS = 40
pytestmark = pytest.mark.evidence

DAG = "01_counts: {early: true}\n02_waits: {}\n"
WAIT = "import time\nfrom pathlib import Path\nwhile not Path({path!r}).exists():\n    time.sleep(0.05)\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A notebook that the first page waits for, and one that waits for a file."""
    project = Project(tmp_path_factory.mktemp("early") / "project")
    project.notebook("01_counts", [result("a", "len(run.read('annotations'))")], title="How many?")
    project.notebook("02_waits", [WAIT.format(path=str(project.folder.parent / "go")), result("b")], title="Why wait?")
    project.dag(DAG)
    return project


@pytest.fixture(scope="module")
def stopped(made):
    """The project after a run that was interrupted once it had told of its first page; that page as it was then."""
    command = [sys.executable, "run_all.py", "--study", "tiny", "--jobs", "1"]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    # shells start background jobs with SIGINT ignored, which a child inherits
    options["preexec_fn"] = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(command, cwd=made.folder, env=made.environment(), **options) as process:
        made.told = next(line for line in process.stdout if "index.html" in line)
        page = made.out("reports", "tiny", "index.html")
        made.early = page.read_text()
        links = re.findall(r'(?:href|action)="([^"#:]+)', made.early)
        made.dead = [link for link in links if not page.with_name(link).exists()]
        made.links, made.nodes = links, set(made.manifest()["nodes"])
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=600)
    assert process.returncode == 130
    return made


def test_the_page_says_what_is_still_computed_and_leads_to_what_is_there(stopped):
    assert re.fullmatch(r" +first page: reports/tiny/index.html after \d+\.\d s; the rest fills in\n", stopped.told)
    (banner,) = re.findall(r'<p class="banner" role="status">(.*?)</p>', stopped.early)
    assert "02 Why wait?" in banner
    assert "01_counts.html" in stopped.links
    assert stopped.dead == []
    assert {"01_counts"} == stopped.nodes - {"annotations"}


def test_a_run_that_is_stopped_leaves_its_page_and_nothing_unfinished(stopped):
    assert stopped.out("reports", "tiny", "index.html").read_text() == stopped.early
    assert not stopped.out("data", "processed", "tiny", ".work").exists()
    assert not [*stopped.folder.rglob(".*.tmp")]


def test_the_final_page_is_what_it_is_without_a_first(stopped, tmp_path):
    """And so is what is recorded; a run of one notebook has no first page."""
    (stopped.folder.parent / "go").touch()
    other = stopped.copy(tmp_path / "other")
    other.dag(DAG.replace("early: true", ""))
    pages = {}
    for project in (stopped, other):
        done = project.run("--study", "tiny", "--force")
        assert done.returncode == 0, done.stderr
        assert ("first page" in done.stdout) == (project is stopped)
        assert "first page" not in project.manifest()["nodes"]
        pages[project] = {p.name: p.read_bytes() for p in project.out("reports", "tiny").glob("*.*")}
        assert {state for state, _ in project.states().values()} == {"up to date"}
    assert "first page" not in stopped.run("--study", "tiny", "--only", "01", "--force").stdout
    assert pages[stopped] == pages[other]
