"""`import judgebook`: what it offers, what it does not load, and the errors of the package."""

import ast
import builtins
import doctest
import json
import os
import re
import shutil
import subprocess
import sys

import pandas as pd
import pytest
from conftest import ROOT

import judgebook
from judgebook import errors

SECONDS = 60


def loaded(code):
    """Packages that are loaded when `code` has run in a Python of its own."""
    env = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    code += "\nimport json, sys; print(json.dumps(sorted({m.partition('.')[0] for m in sys.modules})))"
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True, timeout=300
    )
    return set(json.loads(done.stdout))


def test_importing_the_package_loads_nothing_else():
    assert not loaded("import judgebook") & {"matplotlib", "numpy", "pandas", "pydantic", "yaml"}


def test_what_is_public_exists_and_says_what_it_is():
    assert sorted(judgebook._HOMES) == judgebook.__all__ == sorted(judgebook.__all__)
    for name in judgebook.__all__:
        assert getattr(judgebook, name).__doc__.strip()
        assert name in dir(judgebook)
        assert name in judgebook.__doc__ or name in ("Built", "StoredStudy")  # what `build` and `open_study` return
    with pytest.raises(AttributeError, match="'judgebook' has no attribute 'no_such'"):
        _ = judgebook.no_such


def test_type_checkers_see_what_is_imported_when_used():
    tree = ast.parse((ROOT / "src" / "judgebook" / "__init__.py").read_text("utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {a.asname or a.name: (node.module, a.name) for node in block.body for a in node.names}
    assert seen == judgebook._HOMES


def own_errors():
    """Name of each class of exceptions -> names of its bases. `statistics` is a library of its own."""
    classes = {}
    for path in (ROOT / "src" / "judgebook").rglob("*.py"):
        if "statistics" not in path.parts:
            for name, bases in re.findall(r"^ *class (\w+)\(([^)]*)\):", path.read_text("utf-8"), re.MULTILINE):
                classes[name] = [base.strip().rpartition(".")[2] for base in bases.split(",")]
    known = {n for n, c in vars(builtins).items() if isinstance(c, type) and issubclass(c, BaseException)}
    while more := {n for n, bases in classes.items() if n not in known and known & {*bases}}:
        known |= more
    return {name: bases for name, bases in classes.items() if name in known}


def test_every_error_is_a_judgebook_error_and_is_called_one():
    found = own_errors()
    assert {"ParamsError", "DataError", "UsageError"} <= set(found)
    ours = {errors.JudgebookError.__name__}
    for name, bases in found.items():
        assert name.endswith("Error"), name
        assert name in ours or ours & {*bases} or set(found) & {*bases}, name


def judgements():
    """The frame of docs/python.md, with a second label."""
    rows = [
        (f"prompt {i}", system, annotator, 3 + (system == "new") + (i + k) % 2, 1 + (i * k) % 5)
        for i in range(30)
        for system in ("old", "new")
        for k, annotator in enumerate(["Ann", "Bo", "Cy", "Di", "Ed"])
    ]
    return pd.DataFrame(rows, columns=["prompt", "model", "rater", "helpful", "fluent"])


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A folder with the results of a study `mine`."""
    folder = tmp_path_factory.mktemp("ran")
    judgements().drop(columns="fluent").to_csv(folder / "mine.csv", index=False)
    judgebook.audit(folder / "mine.csv", item="prompt", annotator="rater", system="model", folder=folder)
    (folder / "reports" / "mine").mkdir(parents=True, exist_ok=True)
    shutil.copy(folder / "answers.json", folder / "reports" / "mine")
    return folder


@pytest.mark.evidence
@pytest.mark.parametrize("name", ["agreement", "audit", "compare", "open_study", "plan", "rank", "read_answers"])
def test_examples_of_public_functions_run(name, ran, monkeypatch):
    monkeypatch.setenv("COMPENDIUM_OUT", str(ran))
    (example,) = doctest.DocTestFinder(recurse=False).find(getattr(judgebook, name), name, globs={})
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0


@pytest.mark.evidence
@pytest.mark.parametrize("page", ["docs/audit.md", "docs/python.md"])
def test_what_pages_say_of_python_runs(page, capsys):
    """One block after the other, as in a notebook; that of README is the call of docs/audit.md."""
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert blocks
    names: dict = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
    if page == "docs/python.md":
        assert "direction of length: " in capsys.readouterr().out
