"""Judgements that come with the project: what is in them, that the upstream files give them, and when they are used."""

import json

import pandas as pd
import pytest

from judgebook.sources import build, places
from judgebook.sources.ids import naming
from judgebook.sources.instead import embedded
from judgebook.study import params, schema

PATTERNS = {"annotator": r"A\d{4}|gpt\d", "interactor": r"A\d{4}", "work_unit": r"U\d{5}", "session": r"S\d{5}"}
PATTERNS |= {"dialogue": r"D\d{5}", "dialogue_b": r"D\d{5}", "context": r"C\d{5}"}
STUDIES = sorted(p.parent.name for p in embedded.FOLDER.glob("*/source.json"))


@pytest.fixture
def without_raw(monkeypatch, tmp_path):
    """A machine that has no raw files."""
    monkeypatch.setattr(places, "raw_roots", lambda: [tmp_path])


@pytest.fixture(params=STUDIES)
def study(request):
    return params.load(request.param)


def test_embedded_judgements_stand_in_for_absent_files(without_raw, study):
    assert embedded.missing(study) == []
    built = build.build(study)
    assert built.profile["n_annotations"] == {"ji2022": 37_212, "llmfao": 13_209}[study.key]
    assert {path.parent.name for path in build.files(study)} == {study.key}


def test_other_sources_than_those_they_were_made_of_are_missing(without_raw, study):
    changed = study.model_copy(update={"sources": [s.model_copy(update={"optional": None}) for s in study.sources]})
    assert embedded.files(changed) == []
    assert embedded.missing(changed) == places.absent(study)


def test_nothing_of_people_or_platforms_is_embedded(study):
    """No texts, people and tasks by running numbers, and a licence that lets them be passed on."""
    folder = embedded.FOLDER / study.key
    made = json.loads((folder / "source.json").read_text())
    assert made["licence"].startswith(("MIT", "CC BY"))
    assert sum(path.stat().st_size for path in folder.iterdir()) < 500_000
    for path in embedded.FOLDER.glob(f"{study.key}/*.csv.gz"):
        name, frame = path.name.removesuffix(".csv.gz"), pd.read_csv(path, dtype=str)
        assert not set(naming.TEXTS.get(name, [])) & set(frame)
        for column, pattern in PATTERNS.items():
            if column in frame:
                assert frame[column].dropna().str.fullmatch(pattern).all(), (name, column)
        if "value" in frame:
            assert not frame["value"].str.fullmatch(r"A[0-9A-Z]{11,}|[0-9A-Z]{20,}").any()


@pytest.fixture
def with_raw(raw_data, study, monkeypatch):
    """A machine that has the upstream files."""
    monkeypatch.setattr(places, "raw_roots", lambda: [raw_data, raw_data.parent / "data_more"])
    if places.absent(study):
        pytest.skip("the upstream files are not here")


@pytest.mark.data
@pytest.mark.evidence
def test_upstream_files_give_the_embedded_judgements(with_raw, study, tmp_path):
    """`data/embedded/make.py` again: the same frames. Bytes may differ with the version of zlib."""
    embedded.write(study, build.build(study).frames, tmp_path)
    committed = embedded.FOLDER / study.key
    assert {p.name for p in tmp_path.iterdir()} == {p.name for p in committed.iterdir()} - {"LICENSE"}
    for path in tmp_path.glob("*.csv.gz"):
        pd.testing.assert_frame_equal(pd.read_csv(path, dtype=str), pd.read_csv(committed / path.name, dtype=str))
    assert json.loads((tmp_path / "source.json").read_text()) == json.loads((committed / "source.json").read_text())


@pytest.mark.data
@pytest.mark.evidence
def test_embedded_and_upstream_files_give_the_same_study(with_raw, study, monkeypatch, tmp_path):
    """Everything but texts and the names of dialogues is equal once read, in the same order."""
    upstream = build.build(study)
    monkeypatch.setattr(places, "raw_roots", lambda: [tmp_path])
    here = build.build(study)
    plain = {k: v for k, v in upstream.profile.items() if k != "features"}
    assert {k: v for k, v in here.profile.items() if k != "features"} == plain
    ids = ["dialogue", "dialogue_b", "session", "context"]
    for name in set(schema.FRAMES) - {"counts"}:
        columns = [c for c in schema.FRAMES[name] if c not in (*ids, *naming.TEXTS.get(name, []))]
        theirs, ours = upstream.frames[name], here.frames[name]
        rows = theirs["key"] != "hit" if name == "dialogue_facts" else slice(None)
        pd.testing.assert_frame_equal(ours.loc[rows, columns], theirs.loc[rows, columns])
        for column in (c for c in ids if c in theirs):  # new names for the same things
            codes = [pd.factorize(frame[column])[0] for frame in (theirs, ours)]
            assert (codes[0] == codes[1]).all(), (name, column)


def test_where_texts_matter_judgements_without_them_do_not_stand_in(without_raw, study):
    """The gallery shows what follows from the texts too."""
    made = json.loads((embedded.FOLDER / study.key / "source.json").read_text())
    assert made["texts_left_out"] == {"ji2022": 129_031, "llmfao": 750}[study.key]
    assert (embedded.missing(study, texts=True) == []) == (made["texts_left_out"] == 0)
