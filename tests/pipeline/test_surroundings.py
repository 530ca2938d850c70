"""Settings of the user, the locale and closed streams change nothing but what a terminal shows."""

import subprocess
import sys

import pytest
from fixtures.project_copy import Project, result

from judgebook.pipeline import worker

DRAWS = """\
from judgebook.display import saving, style, tables
import pandas as pd
fig, ax = style.subplots(height=2)
ax.plot([0, 1])
ax.set_title("Größe …")
saving.save(fig, "line", alt="a line", run=run)
tables.show(pd.DataFrame({"x": [1.5]}), "Größe", "wide", run=run)
"""
WRITES = """\
from pathlib import Path
print("Größe …", len("four"))
Path("text").write_text("…")
assert Path("text").read_bytes() == "…".encode()
"""
#: what differs between any two runs
DATED = {"manifest.json", ".cache.json", ".lock"}
SPOILS = "import builtins\nbuiltins.len = lambda of: 7\nprint('spoilt')\n"


def hostile(home):
    """The environment of somebody with settings of their own for everything, and a locale without letters."""
    files = {
        "mpl/matplotlibrc": "font.size: 30\nlines.linewidth: 9\nno such key: 1\nsavefig.dpi: 17\n",
        "ipython/profile_default/startup/00-spoil.py": SPOILS,
        "ipython/profile_default/ipython_kernel_config.py": "raise RuntimeError('settings of the user')\n",
        "jupyter/kernels/python3/kernel.json": '{"argv": ["false"], "display_name": "x", "language": "python"}',
        "startup.py": SPOILS,
    }
    for name, text in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    places = {"MPLCONFIGDIR": "mpl", "MATPLOTLIBRC": "mpl/matplotlibrc", "IPYTHONDIR": "ipython"}
    places |= {"JUPYTER_CONFIG_DIR": "jupyter", "JUPYTER_PATH": "jupyter", "JUPYTER_DATA_DIR": "jupyter"}
    places |= {"JUPYTER_CONFIG_PATH": "jupyter", "PYTHONSTARTUP": "startup.py", "HOME": "."}
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    return {name: str(home / place) for name, place in places.items()} | ascii_only


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    project = Project(tmp_path_factory.mktemp("surroundings"), paper=True)
    project.notebook("01_draws", [DRAWS, WRITES, result("a")], title="Größe …")
    project.dag("01_draws: {}\n")
    project.edit("params/tiny.yaml", "Tiny study", "Größe …")
    return project


def made(project, folder, environment):
    """What a run with this environment writes below a folder, file by file."""
    command = [sys.executable, "run_all.py", "--study", "tiny", "--jobs", "1", "--out", str(folder)]
    env = project.environment() | environment
    done = subprocess.run(command, cwd=project.folder, env=env, capture_output=True, timeout=1800)
    assert done.returncode == 0, (done.stdout + done.stderr).decode(errors="replace")
    assert b"Traceback" not in done.stderr
    files = [p for p in folder.rglob("*") if p.is_file() and p.name not in DATED]
    files = [p for p in files if not p.parent.name.startswith(".matplotlib-")]  # fonts of the machine
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in files}


@pytest.mark.evidence
def test_settings_of_the_user_change_no_file(project, tmp_path):
    plain = made(project, tmp_path / "plain", {})
    spoilt = made(project, tmp_path / "spoilt", hostile(tmp_path / "home"))
    assert set(plain) == set(spoilt)
    assert [name for name in plain if plain[name] != spoilt[name]] == []
    assert "Größe … 4".encode() in plain["data/processed/tiny/notebooks/01_draws.ipynb"]


@pytest.mark.verify
def test_a_terminal_without_letters_and_a_reader_that_leaves(project, tmp_path):
    command, env = [sys.executable, "run_all.py", "check", "tiny"], project.environment()
    options = {"cwd": project.folder, "stderr": subprocess.PIPE}
    named = subprocess.run(command, env=env | hostile(tmp_path), stdout=subprocess.PIPE, timeout=900, **options)
    assert (named.returncode, named.stderr) == (0, b"")
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, **options) as left:
        left.stdout.close()
        said = left.stderr.read()
    assert said == b""
    assert left.returncode in (0, 141)


def test_a_worker_that_was_told_to_stop_begins_nothing(monkeypatch):
    """The exception of the signal may be lost in an import or a callback; what waits is then not begun."""
    monkeypatch.setattr(worker, "_stopping", 0)
    monkeypatch.setattr(worker, "_working", True)
    with pytest.raises(SystemExit):
        worker._stop(15, None)
    with pytest.raises(SystemExit):
        worker.frames(worker.Spec("demo", "demo"))
    assert worker._stop(15, None) is None  # a second one does not end the first one's cleaning up
