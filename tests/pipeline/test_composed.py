"""Pages that are made without a notebook leave nothing behind them."""

import os
import subprocess
import sys

from judgebook.study.params import ROOT

SCRIPT = "from judgebook.pipeline.reading.composed import _cell; print(_cell(None, []).cell_type)"


def test_a_page_writes_no_history_of_what_was_run(tmp_path):
    """It would be written at the end of the process, when the folder for it, that of a run, may be gone."""
    env = os.environ | {"IPYTHONDIR": str(tmp_path), "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=env, capture_output=True, text=True, timeout=300)
    assert (done.stdout, done.stderr) == ("code\n", "")
    assert [*tmp_path.rglob("history*")] == []
