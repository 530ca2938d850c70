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
    assert annotations["dialogue_b"].notna().sum() > 100
    per_item = people[people["label"] != "quality"].groupby(["dialogue", "label"])["annotator"].nunique()
    assert set(per_item) == {2}


def test_a_notebook_took_what_was_computed_for_the_first_page_before_its_kernel_ran(size, tmp_path, monkeypatch):
    (tmp_path / "a.yaml").write_text("title: made up", encoding="utf-8")
    before, kernel = size.Use(10.0, 500.0), size.Use(2.0, 100.0)
    frames = tmp_path / "data" / "processed" / "a" / "annotations.parquet"

    def measured(command, gb, seconds, raw):
        if command[-1] != "annotations":
            return before, kernel, "done"
        frames.parent.mkdir(parents=True, exist_ok=True)
        frames.touch()
        return before, size.Use(), "did not run"

    monkeypatch.setattr(size, "measured", measured)
    rows = [*size.measure(tmp_path / "a.yaml", tmp_path, ["07", "08"], 6, 600)]
    assert [(row["step"][:2], row["seconds"], row["mb"], row["outcome"]) for row in rows] == [
        ("an", 10.0, 500, "done"),
        ("07", 12.0, 500, "done"),
        ("08", 2.0, 100, "done"),
    ]
