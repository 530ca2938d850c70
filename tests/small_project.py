"""A copy of the project with tiny notebooks and a tiny study, to run the command line on."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[1]
PARAMETERS = """\
study: str = "tiny"  # key of the study
run_id: str | None = None  # given by the pipeline
"""
START = "from helpers import store\nrun = store.start(study, {name!r}, run_id)\n"
RESULT = """\
import pandas as pd
frame = pd.DataFrame({{"statistic": ["count"], "condition": ["what={name}"], "estimate": [{value}]}})
run.results(frame)
"""
STUDY = """\
title: Tiny study
sources:
  - {adapter: table, file: tiny.csv, layout: wide, columns: {dialogue: id}, scores: "{label}_{annotator}"}
labels:
  fluency: {scale: [1, 5], level: ordinal}
"""


def notebook(path, name, cells, knobs="", title="A title", question="What is the question?"):
    """Write a notebook: `cells` are code, or Markdown where they start with `#` and a space, or with `>`."""
    parameters = nbformat.v4.new_code_cell(PARAMETERS + knobs, metadata={"tags": ["parameters"]})
    made = [nbformat.v4.new_markdown_cell(f"# {title}\n\n{question}"), parameters]
    for cell in [START.format(name=name), *cells]:
        kind = nbformat.v4.new_markdown_cell if re.match(r"#+ |>", cell) else nbformat.v4.new_code_cell
        made.append(kind(cell))
    for i, cell in enumerate(made):
        cell["id"] = f"cell-{i}"
    nb = nbformat.v4.new_notebook(cells=made)
    nb.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(nb, path / f"{name}.ipynb")


def result(name, value="1.0"):
    """A cell that stores one result."""
    return RESULT.format(name=name, value=value)


class Project:
    """A copy of the project in `folder`, with `run` for its command line."""

    def __init__(self, folder):
        self.folder = Path(folder)
        copied = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "src", self.folder / "src", ignore=copied)
        shutil.copy(ROOT / "run_all.py", self.folder)
        (self.folder / "params").mkdir()
        shutil.copy(ROOT / "params" / "defaults.yaml", self.folder / "params")
        (self.notebooks).mkdir()
        self.dag("{}")
        self.study("tiny", STUDY)
        rows = "".join(f"d{i},{1 + i % 5},{1 + (i + i // 3) % 5}\n" for i in range(30))
        (self.folder / "params" / "tiny.csv").write_text("id,fluency_a1,fluency_a2\n" + rows)

    @property
    def notebooks(self):
        return self.folder / "notebooks"

    def dag(self, text):
        (self.notebooks / "dag.yaml").write_text(text)

    def study(self, name, text):
        (self.folder / "params" / f"{name}.yaml").write_text(text)

    def notebook(self, name, cells=None, **kwargs):
        notebook(self.notebooks, name, cells or [result(name)], **kwargs)

    def edit(self, path, old, new):
        """Replace text in a file; it must be there."""
        file = self.folder / path
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))

    def environment(self):
        names = ("COMPENDIUM_OUT", "COMPENDIUM_RAW", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
        compiled = os.path.join(tempfile.gettempdir(), f"compendium-tests-{os.getuid()}")
        return {k: v for k, v in os.environ.items() if k not in names} | {"PYTHONPYCACHEPREFIX": compiled}

    def copy(self, folder):
        """The project as it stands, in another folder."""
        shutil.copytree(self.folder, folder)
        other = object.__new__(Project)
        other.folder = Path(folder)
        return other

    def run(self, *arguments, timeout=120, python=()):
        """Run the command line; exit code, output and errors."""
        command = [sys.executable, *python, "run_all.py", *arguments]
        return subprocess.run(
            command, cwd=self.folder, env=self.environment(), capture_output=True, text=True, timeout=timeout
        )

    def states(self, *arguments, code=0):
        """Run the command line on the tiny study: node -> (state, reason)."""
        done = self.run("--study", "tiny", "--jobs", "1", *arguments)
        assert done.returncode == code, done.stdout + done.stderr
        return states(done.stdout)

    def manifest(self, study="tiny"):
        return json.loads((self.folder / "data" / "processed" / study / "manifest.json").read_text())

    def out(self, *parts):
        return self.folder.joinpath(*parts)


def states(output):
    """Lines of a run as node -> (state, reason)."""
    pattern = r"^  (\S+) {2,}(up to date|would run|may run|not run|\w+) *(?:[\d.]+ s)?(?: +(.*))?$"
    return {m[1]: (m[2], m[3] or "") for m in re.finditer(pattern, output, re.MULTILINE)}
