"""Judgements of a bundle, read in the place of raw files."""

import pandas as pd
import pytest
from fixtures import yaml_studies as studies

from judgebook.sources import build
from judgebook.sources.instead import embedded, shared
from judgebook.study import escape, params
from judgebook.study.schema import DataError


@pytest.fixture
def bundle(tmp_path):
    """The folder of a bundle of the wide study, and what the study was read as."""
    raw = tmp_path / "raw"
    raw.mkdir()
    built = studies.read(raw, studies.WIDE, my_csv=studies.wide_csv())
    root = tmp_path / "bundle"
    for name in ("params", shared.FOLDER):
        (root / name).mkdir(parents=True)
    (root / "ro-crate-metadata.json").write_text("{}")
    (root / shared.FOLDER / shared.ABOUT).write_text('{"texts_left_out": 3}')
    (root / "params" / "mine.yaml").write_text(studies.WIDE)
    for name, frame in built.frames.items():
        if len(frame):
            (root / shared.FOLDER / f"{name}.csv").write_text(escape.csv(frame.drop(columns="study", errors="ignore")))
    return root, built


def test_a_bundle_is_read_as_the_study_was(bundle):
    root, built = bundle
    study = params.load(root / "params" / "mine.yaml")
    again = build.build(study)
    for name, frame in built.frames.items():
        pd.testing.assert_frame_equal(again.frames[name], frame)
    assert again.profile == built.profile
    assert embedded.missing(study) == []
    assert embedded.missing(study, texts=True) == ["my.csv"]


@pytest.mark.parametrize(
    ("column", "cell", "expected"),
    [
        ("score", "high", "row 3: score: expected a number, found 'high'"),
        ("annotator_known", "perhaps", "row 3: annotator_known: expected True or False, found 'perhaps'"),
        ("completed_at", "yesterday", "row 3: completed_at: expected a time"),
    ],
)
def test_a_cell_that_is_none_is_told_with_its_place(bundle, column, cell, expected):
    path = bundle[0] / shared.FOLDER / "annotations.csv"
    frame = escape.read_csv(path)
    frame.loc[1, column] = cell
    path.write_text(escape.csv(frame.fillna("")))
    with pytest.raises(DataError) as refused:
        build.build(params.load(bundle[0] / "params" / "mine.yaml"))
    assert str(refused.value).count("annotations.csv") == 1
    problem = refused.value.problems[0]
    assert f"{problem.where}: {problem.column}: expected {problem.expected}, found {problem.found}".startswith(expected)


def test_a_yaml_that_is_in_no_bundle_reads_its_own_files(bundle):
    root, _ = bundle
    (root / "ro-crate-metadata.json").unlink()
    study = params.load(root / "params" / "mine.yaml")
    assert shared.files(study) == []
    assert embedded.missing(study) == ["my.csv"]
