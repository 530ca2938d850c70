"""The round trip of `benchmarks/annotation_tools.py`, where a tool is installed.

LABEL_STUDIO_BIN and POTATO_BIN name the folder of its programs: its requirements are not those of this project.
"""

import os
from pathlib import Path

import pytest

from judgebook.study import params
from judgebook.study.store import processed

BINS = {"labelstudio": "LABEL_STUDIO_BIN", "potato": "POTATO_BIN"}


@pytest.mark.evidence
@pytest.mark.parametrize("method", ["behavior", "dialogue_likert", "comparative"])
@pytest.mark.parametrize("tool", BINS)
def test_answers_given_in_the_real_tool_come_back(tool, method, tmp_path, monkeypatch):
    folder = os.environ.get(BINS[tool])
    if not folder:
        pytest.skip(f"{BINS[tool]} names no folder: see benchmarks/annotation_tools.py")
    built = processed("demo")
    if not (built / "dialogues.parquet").is_file():
        pytest.skip("demo was not run")
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path))
    processed("demo").parent.mkdir(parents=True)
    processed("demo").symlink_to(built.resolve())
    monkeypatch.syspath_prepend(str(params.ROOT / "benchmarks"))
    annotation_tools = pytest.importorskip("annotation_tools")
    wrong = annotation_tools.round_trip(tool, Path(folder), method, "demo", tmp_path, "", 1)
    assert wrong == []
