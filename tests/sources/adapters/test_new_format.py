"""A format that is new to the project is two modules: no file that is there changes."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from fixtures import yaml_studies as studies

from judgebook import project

OPTIONS = '''\
"""What a YAML may say of thumbs."""

from typing import Literal

from pydantic import Field

from judgebook.study.source_shared import File, SourceModel


class Thumbs(SourceModel):
    """Thumbs up and down: system, dialogue, person and thumb in each line."""

    adapter: Literal["thumbs"]
    file: File
    up: str = Field("+", description="how a thumb up is written")


SOURCE = Thumbs
'''
READER = '''\
"""Thumbs up and down."""

import pandas as pd

from judgebook.sources.reading import Counts, Reading


def read(source, open_file):
    lines = open_file(source.file).read_text().split("\\n")
    rows = [line.split() for line in lines if line]
    marks = pd.DataFrame(rows, columns=["system", "dialogue", "annotator", "score"])
    marks["score"] = (marks["score"] == source.up).astype(int)
    marks = marks.assign(method="dialogue_rating", label="liked", file=source.file, where="a line")
    counts = Counts()
    counts.add_kept(source.file, annotations=len(marks))
    return Reading(marks, counts=counts)
'''
YAML = """\
title: Thumbs
sources: [{adapter: thumbs, file: thumbs.txt, up: "^"}]
labels: {liked: {scale: [0, 1], direction: 1}}
"""
LOOK = """\
import json, sys
from judgebook.pipeline.closure import closure
from judgebook.pipeline.cache import Cache
from judgebook.sources.build import build
from judgebook.study import params, yaml_guide
marks = build(params.load(sys.argv[1])).frames["annotations"]
modules = list(closure(["judgebook.sources.build"], Cache(None)))
print(json.dumps({"scores": marks["score"].tolist(), "guide": yaml_guide.text(), "modules": modules}))
"""


def looked(folder, yaml):
    environment = {**os.environ, "PYTHONPATH": str(folder / "src"), "COMPENDIUM_ROOT": str(folder)}
    command = [sys.executable, "-c", LOOK, str(yaml)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, cwd=folder)


pytestmark = pytest.mark.verify


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("new_format")
    for name in ("src", "params"):
        shutil.copytree(project.ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    adapters = folder / "src" / "judgebook" / "sources" / "adapters"
    (adapters / "options" / "thumbs.py").write_text(OPTIONS)
    (adapters / "thumbs.py").write_text(READER)
    return folder


def test_it_is_read_documented_and_hashed(copy):
    yaml = studies.write(copy, YAML, thumbs_txt="a d1 w1 ^\na d2 w2 v\nb d3 w1 v\n")
    done = looked(copy, yaml)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["scores"] == [1, 0, 0]
    assert "### `adapter: thumbs`\n\nThumbs up and down:" in seen["guide"]
    assert "| `up` | text | `+` | how a thumb up is written |" in seen["guide"]
    assert {"judgebook.sources.adapters.thumbs", "judgebook.sources.adapters.options.thumbs"} <= {*seen["modules"]}
