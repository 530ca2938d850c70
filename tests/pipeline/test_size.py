"""The made-up studies by which `benchmarks/size.py` measures what a run costs."""

import importlib

import pytest

from judgebook.sources.build import build
from judgebook.study import params
from judgebook.study.params import ROOT


@pytest.fixture
def size(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("size")


def test_a_study_is_as_large_as_asked_for_and_the_same_each_time(size, tmp_path, monkeypatch):
    monkeypatch.setattr(size, "BLOCK", 30)  # written in several blocks
    asked = size.Size(2_000, systems=6, labels=7, people=20, extras=("control", "judge", "comparisons"))
    for name in ("a", "b"):
        size.write(tmp_path / name / "study.yaml", asked)
    files = [sorted(p for p in (tmp_path / name).rglob("*") if p.is_file()) for name in ("a", "b")]
    assert [p.read_bytes() for p in files[0]] == [p.read_bytes() for p in files[1]]
    monkeypatch.setenv("COMPENDIUM_RAW", str(tmp_path / "a"))
    study = params.load(tmp_path / "a" / "study.yaml")
    annotations = build(study).frames["annotations"]
    people = annotations[(annotations["annotator_kind"] == "human") & annotations["dialogue_b"].isna()]
    assert len(people) == pytest.approx(2_000, abs=15)
    assert people["system"].nunique() == 6
    assert people["label"].nunique() == 8  # `quality` besides
    assert people["annotator"].nunique() == 20
