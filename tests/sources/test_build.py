"""The choke point: joining sources, pseudonyms, groups, dialogues, what is written and when."""

import json

import pandas as pd
import pytest
import yaml
from fixtures import yaml_studies as studies
from pyarrow import parquet

from judgebook.sources import build, places, typed
from judgebook.sources.files import Files, read_csv
from judgebook.sources.ids import naming
from judgebook.sources.reading import Counts, Reading
from judgebook.study import params, store
from judgebook.study.schema import DataError

TWO = """\
title: Two files
method: dialogue_rating
sources:
  - adapter: table
    file: one.csv
    layout: long
    columns: {dialogue: chat, system: bot, annotator: who, label: what, score: rating, work_unit: job, interactor: user}
  - adapter: table
    file: two.csv
    layout: long
    columns: {dialogue: chat, system: bot, annotator: who, label: what, score: rating, work_unit: task, seconds: time}
groups:
  experts: {annotators: [zoe]}
labels:
  good: {scale: [0, 1]}
"""
ONE_CSV = "chat,bot,who,user,what,rating,job\nd1,A,zoe,yan,good,1,1\nd1,A,xu,yan,good,0,2\n"
TWO_CSV = "chat,bot,who,what,rating,task,time\nd2,B,xu,good,1,1,30\nd2,B,zoe,good,1,2,40\n"


@pytest.fixture
def built(tmp_path):
    return studies.read(tmp_path, TWO, one_csv=ONE_CSV, two_csv=TWO_CSV)


def test_people_and_work_units_are_numbered_by_first_appearance_over_all_files(built):
    marks = built.frames["annotations"]
    assert marks["annotator"].tolist() == ["A0001", "A0002", "A0002", "A0001"]
    assert marks["work_unit"].tolist() == ["U00001", "U00002", "U00003", "U00004"]
    assert marks["group"].tolist() == ["experts", "all", "all", "experts"]
    assert built.frames["dialogues"].set_index("dialogue")["interactor"]["d1"] == "A0003"
    own = built.own_ids.groupby("kind")
    people = own.get_group("person").set_index("pseudonym")["own_id"]
    assert people.to_dict() == {"A0001": "zoe", "A0002": "xu", "A0003": "yan"}


@pytest.mark.parametrize("worker", ["w1", "A0002"])
def test_no_pseudonym_is_the_name_of_a_model(tmp_path, worker):
    study = studies.LONG.replace("layout: long", "layout: long\n    judges: {A0001: llm}")
    text = studies.LONG_CSV.replace("w2", "A0001").replace("w1", worker)
    marks = studies.read(tmp_path, study, my_csv=text).frames["annotations"]
    assert marks["annotator"].tolist() == ["A0002", "A0001", "A0002", "A0002"]
    assert marks["annotator_kind"].tolist() == ["human", "llm", "human", "human"]


@pytest.mark.parametrize("first", ["person", "position"])
def test_a_person_whose_id_is_that_of_a_position_is_another(tmp_path, first):
    columns = {"dialogue": "chat", "system": "bot", "label": "what", "score": "rating"}
    known = {"adapter": "table", "file": "one.csv", "layout": "long", "columns": columns | {"annotator": "worker"}}
    places = known | {"file": "two.csv", "annotators": "positions", "columns": columns}
    sources = [known, places] if first == "person" else [places, known]
    study = {"title": "T", "method": "dialogue_rating", "sources": sources, "labels": {"fluency": {"scale": [1, 5]}}}
    one, two = "chat,bot,worker,what,rating\nd1,A,pos0,fluency,4\n", "chat,bot,what,rating\nd1,A,fluency,5\n"
    marks = studies.read(tmp_path, yaml.safe_dump(study), one_csv=one, two_csv=two).frames["annotations"]
    found = marks.set_index("annotator")[["annotator_known", "score"]].T.to_dict("list")
    assert found == {"A0001": [True, 4], "pos0": [False, 5]}


def test_own_ids_are_kept_only_where_they_were_replaced(tmp_path):
    """A list of earlier data does not stay beside frames that it does not describe."""
    out = tmp_path / "out"
    for text in (studies.LONG_CSV, studies.LONG_CSV.replace("w1", "A0001").replace("w2", "A0002")):
        build.build(params.load(studies.write(tmp_path, studies.LONG, my_csv=text)), out=out)
        assert (out / naming.OWN_IDS).exists() == ("w1" in text)


def test_a_group_that_the_file_names_is_kept(tmp_path):
    study = TWO.replace("seconds: time", "seconds: time, group: team")
    two = TWO_CSV.replace("time\n", "time,team\n").replace("30\n", "30,lab\n").replace("40\n", "40,lab\n")
    marks = studies.read(tmp_path, study, one_csv=ONE_CSV, two_csv=two).frames["annotations"]
    assert marks["group"].tolist() == ["experts", "all", "lab", "lab"]


def test_what_is_written_is_what_was_built(tmp_path):
    path = studies.write(tmp_path, TWO, one_csv=ONE_CSV, two_csv=TWO_CSV)
    out = tmp_path / "out"
    built = build.build(params.load(path), out=out)
    for name, frame in built.frames.items():
        pd.testing.assert_frame_equal(pd.read_parquet(out / f"{name}.parquet"), frame)
    assert json.loads((out / "profile.json").read_text(encoding="utf-8")) == built.profile


def test_the_same_files_give_the_same_bytes(tmp_path):
    path = studies.write(tmp_path, TWO, one_csv=ONE_CSV, two_csv=TWO_CSV)
    for out in ("a", "b"):
        build.build(params.load(path), out=tmp_path / out)
    for file in (tmp_path / "a").iterdir():
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes()


def test_a_failure_while_writing_leaves_no_half_file(tmp_path, monkeypatch):
    path = studies.write(tmp_path, TWO, one_csv=ONE_CSV, two_csv=TWO_CSV)

    def broken(self, table, *args, **kwargs):
        raise OSError("disk full")  # after the first bytes

    monkeypatch.setattr(parquet.ParquetWriter, "write_table", broken)
    with pytest.raises(OSError, match="disk full"):
        build.build(params.load(path), out=tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_dialogues_that_two_files_give_to_two_systems(tmp_path):
    two = TWO_CSV.replace("d2,B", "d1,B")
    with pytest.raises(DataError) as caught:
        studies.read(tmp_path, TWO, one_csv=ONE_CSV, two_csv=two)
    problem = next(p for p in caught.value.problems if p.column == "system")
    assert problem.expected == "one system per dialogue"
    assert problem.file == "two.csv"
    assert problem.found == "'B' where one.csv, row 2 has 'A'"


def test_an_optional_source_may_be_absent(tmp_path):
    text = TWO.replace("    file: two.csv\n", "    file: two.csv\n    optional: true\n")
    built = studies.read(tmp_path, text, one_csv=ONE_CSV)
    assert len(built.frames["annotations"]) == 2
    row = built.frames["counts"].iloc[-1]
    assert row[["file", "action", "reason"]].tolist() == ["two.csv", "dropped", "optional, and not here"]
    study = params.load(tmp_path / "mine.yaml")
    assert places.absent(study) == []
    assert [p.name for p in build.files(study)] == ["one.csv"]
    (tmp_path / "two.csv").write_text(TWO_CSV)
    assert len(build.build(study).frames["annotations"]) == 4


def test_profile_gives_sizes_and_the_reason_for_what_is_absent(built):
    profile = built.profile
    sizes = [profile[k] for k in ("n_annotations", "n_items", "n_dialogues", "n_annotators")]
    assert sizes == [4, 2, 2, 2]
    assert "two people of one group" in profile["features"]["repeated"]  # an expert and a user judged each dialogue
    assert profile["features"]["groups"] is None
    absent = {name for name, reason in profile["features"].items() if reason is not None}
    assert {"techniques", "metrics", "judges", "control_system", "preparation"} <= absent


def test_counts_need_a_reason_for_what_is_dropped():
    counts = Counts()
    counts.add("f", "rows", "read", n=3)
    counts.add("f", "rows", "dropped", "empty")
    counts.add("f", "rows", "dropped", "empty", n=2)
    assert counts.frame()["n"].tolist() == [3, 3]
    with pytest.raises(ValueError, match="a reason is needed"):
        counts.add("f", "rows", "dropped")
    with pytest.raises(ValueError, match="a reason is needed"):
        counts.add("f", "rows", "read", "why")


# -- where files are sought, and reading them


def test_files_are_sought_beside_the_yaml_first_then_in_the_raw_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path / "out"))
    monkeypatch.setenv("COMPENDIUM_RAW", str(tmp_path / "given"))
    spots = [
        tmp_path / "yaml" / "f.txt",
        tmp_path / "out" / "data" / "raw" / "study" / "f.txt",
        tmp_path / "out" / "data" / "raw" / "f.txt",
        tmp_path / "given" / "study" / "f.txt",
        tmp_path / "given" / "f.txt",
    ]
    for spot in spots:
        spot.parent.mkdir(parents=True, exist_ok=True)
        spot.write_text("x")
    open_file = Files("study", ["f.txt"], beside=tmp_path / "yaml")
    for spot in spots:
        assert open_file("f.txt") == spot
        spot.unlink()
    with pytest.raises(DataError, match="no such file"):
        open_file("f.txt")
    assert store.out_root() == tmp_path / "out"


def test_an_adapter_opens_only_what_its_source_declares(tmp_path):
    with pytest.raises(ValueError, match=r"'b\.txt' is not among the files"):
        Files("study", ["a.txt"], beside=tmp_path)("b.txt")


def test_rows_are_numbered_as_a_spreadsheet_does(tmp_path):
    """Header is row 1; a field with a line break is one row; an empty line is passed over but counts."""
    path = tmp_path / "f.csv"
    path.write_text('\ufeffa,b\n1,"two\nlines"\n\n3,4\n', encoding="utf-8")
    frame = read_csv(path, "f.csv")
    assert frame.index.tolist() == [2, 4]
    assert frame["b"].tolist() == ["two\nlines", "4"]
    assert read_csv(path, "f.csv", header=False).index.tolist() == [1, 2, 4]


def test_ids_that_differ_in_blanks_around_them_are_one():
    frame = pd.DataFrame(
        {
            "annotator": [" j1", "j1", "\t"],
            "dialogue": ["d1", "d1\n", f"{naming.LONG}long "],
            "session": [1, " 1", None],
            "reason": [" why ", "", None],
            "score": [1, 2, 3],
        },
        dtype=object,
    )
    facts = pd.DataFrame({"dialogue": [" d1"], "key": ["k"], "value": [""], "text": [" t "]})
    reading = Reading(frame.assign(file="f", where="w"), dialogue_facts=facts)
    typed.check(reading, "f")
    assert reading.annotations["annotator"].tolist()[:2] == ["j1", "j1"]
    assert reading.annotations["annotator"].isna().tolist() == [False, False, True]
    assert reading.annotations["dialogue"].tolist() == ["d1", "d1", f"{naming.LONG}long "]
    assert reading.annotations["session"].tolist()[:2] == ["1", "1"]
    assert reading.annotations["reason"].tolist()[:2] == [" why ", ""]
    assert reading.dialogue_facts[["dialogue", "value", "text"]].to_numpy().tolist() == [["d1", "", " t "]]
