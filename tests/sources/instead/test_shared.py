"""Judgements of a bundle, read in the place of raw files."""

import pandas as pd
import pytest
from fixtures import yaml_studies as studies

from judgebook.sources import build
from judgebook.sources.instead import embedded, shared
from judgebook.study import escape, params, store
from judgebook.study.questions import declared
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


def test_only_notebooks_that_compute_with_nothing_else_of_texts_see_stand_ins(bundle, tmp_path, monkeypatch):
    """And none has scores of texts to compute: those of the bundle are all, or there are none."""
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path / "out"))
    root, built = bundle
    talks = built.frames["dialogues"].drop(columns="study").assign(system_text="aaa a.")
    (root / shared.FOLDER / "dialogues.csv").write_text(escape.csv(talks))
    (root / shared.FOLDER / "spellings.csv").write_text("annotator,like\nA0002,A0001\n")
    study = params.load(root / "params" / "mine.yaml")
    build.build(study, out=store.processed("mine"))
    run, questions = store.Run(study, "00", "x"), declared()
    counting = run.of(questions["00_build_annotations"])
    assert set(counting.read("dialogues")["system_text"]) == {"aaa a."}
    own = questions["00_build_annotations"].model_copy(update={"own": True})
    for other in (run, run.of(questions["12_moderation"]), run.of(own)):
        assert other.read("dialogues")["system_text"].isna().all()
    assert list(run.of_bundle("text_metrics").columns) == ["corpus", "dialogue", "turn", "metric", "score"]
    assert run.of_bundle("text_metrics").empty
    assert run.own_ids().to_dict("records") == [{"pseudonym": "A0002", "own_id": "A0001", "kind": "person"}]
    (root / "ro-crate-metadata.json").unlink()
    (root / "params" / "my.csv").write_text(studies.wide_csv())
    build.build(study, out=store.processed("mine"))
    assert run.of_bundle("spellings") is run.of_bundle("dialogues") is None


@pytest.mark.parametrize(
    ("column", "cell", "expected"),
    [
        ("score", "high", "row 3: score: expected a number, found 'high'"),
        ("annotator_known", "perhaps", "row 3: annotator_known: expected True or False, found 'perhaps'"),
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
