"""Tables: the public studies that need no code, and hand-made ones for each option."""

import pandas as pd
import pytest
from fixtures import yaml_studies as studies

from judgebook.study.schema import DataError


def kept(built, **where):
    counts = built.frames["counts"]
    for column, value in where.items():
        counts = counts[counts[column] == value]
    return int(counts["n"].sum())


def marks(tmp_path, yaml, *columns, **files):
    return studies.read(tmp_path, yaml, **files).frames["annotations"][[*columns]].values.tolist()


def test_the_ten_lines_of_the_readme(tmp_path):
    built = studies.read(tmp_path, studies.WIDE, my_csv=studies.wide_csv())
    marks = built.frames["annotations"]
    assert marks.groupby(["label", "annotator"]).size().tolist() == [12] * 6
    assert marks["annotator_known"].all()
    # row 1: 1 + (3 + 2 k) mod 5 for k = 0..5
    first = marks[marks["dialogue"] == "1"].sort_values(["label", "annotator"])["score"]
    assert first.tolist() == [4, 1, 3, 5, 2, 4]
    assert built.profile["features"]["two_systems"] == "Only one system was judged."


ONE_LABEL = """\
title: One label
sources:
  - {adapter: table, file: my.csv, columns: {dialogue: id}, scores: "%s", constants: {label: quality}}
labels: {quality: {scale: [1, 5]}}
"""


def test_a_constant_names_the_label_of_columns_that_are_people_or_of_one(tmp_path):
    given = marks(
        tmp_path, ONE_LABEL % "Rater {annotator}", "score", "label", "annotator", "annotator_known",
        my_csv="id,Rater A,Rater B,seen\n1,3,5,yes\n2,,4,no\n",
    )  # fmt: skip
    assert given == [[n, "quality", who, True] for n, who in ((3, "A0001"), (5, "A0002"), (4, "A0002"))]
    yaml = (ONE_LABEL % "stars").replace("constants:", "annotators: positions, constants:")
    given = marks(tmp_path, yaml, "dialogue", "score", "annotator_known", my_csv="id,stars\n1,3\n1,5\n2,4\n")
    assert given == [["1", 3, False], ["1", 5, False], ["2", 4, False]]
    yaml = (ONE_LABEL % "Rater {annotator}").replace("labels: {quality", "labels: {fluency")
    with pytest.raises(DataError, match=r"row 2, Rater A, label: .* found 'quality'"):
        studies.read(tmp_path, yaml, my_csv="id,Rater A\n1,3\n")


def test_columns_that_hold_no_scores_are_skipped(tmp_path):
    csv = "id,Alice,Ben,Length,Comment 1,Comment 2\n1,3,5,12,fine,\n2,,4,40,,fine\n"
    yaml = (ONE_LABEL % "{annotator}").replace("constants:", "skip_columns: [Length, Comment *], constants:")
    built = studies.read(tmp_path, yaml, my_csv=csv)
    assert built.frames["annotations"]["score"].tolist() == [3, 5, 4]
    assert built.unused == {"my.csv": {}}
    with pytest.raises(DataError, match=r"row 2, Comment 1.*'fine'.*leave out a whole column.* `skip_columns`"):
        studies.read(tmp_path, yaml.replace("Comment *", "Comment 2"), my_csv=csv)


def test_missing_scores_are_counted_with_their_reason(tmp_path):
    yaml = studies.WIDE.replace("na_values:", "na_reasons: {quality: not asked}, na_values:")
    csv = "id,fluency_a1,fluency_a2,quality_a1\n1,3,,N/A\n2,4,5,2\n"
    built = studies.read(tmp_path, yaml, my_csv=csv)
    assert len(built.frames["annotations"]) == 4
    assert kept(built, action="read", what="annotations") == 6
    assert kept(built, reason="not asked") == 1
    assert kept(built, reason="no score") == 1


def test_several_systems_side_by_side(tmp_path):
    """Score columns that name systems: the item is the context, each response a dialogue of its own."""
    yaml = studies.WIDE.replace("{label}_{annotator}", "{label}_{system}_{annotator}")
    csv = "id,fluency_bot-a_w1,fluency_bot-b_w1,quality_bot-a_w1\n7,3,4,5\n"
    built = studies.read(tmp_path, yaml, my_csv=csv)
    marks = built.frames["annotations"]
    assert marks[["dialogue", "system", "context", "label", "score"]].values.tolist() == [
        ["7_bot-a", "bot-a", "7", "fluency", 3.0],
        ["7_bot-b", "bot-b", "7", "fluency", 4.0],
        ["7_bot-a", "bot-a", "7", "quality", 5.0],
    ]
    with pytest.raises(DataError, match="system 'bot', annotator 'a_w1' or label 'fluency', system 'bot_a', annotator"):
        studies.read(tmp_path, yaml, my_csv=csv.replace("-", "_"))


SIDE_BY_SIDE = """\
title: Two pairs a row
method: turn_rating
sources:
  - adapter: table
    file: my.csv
    repeat: [1, 2]
    constants: {turn: 0}
    columns: {annotator: worker, user_text: "q{i}", system_text: "r{i}", seconds: time}
    identify: {dialogue: ["q{i}", "r{i}"], context: ["q{i}"], work_unit: [worker, "q*", "r*"]}
    label_names: {"a{i}": engagement}
labels:
  engagement: {scale: [1, 5]}
"""


def test_items_side_by_side(tmp_path):
    csv = "worker,time,q1,r1,q2,r2,a1,a2\nw1,30,hi,yes,so,no,1,2\nw2,40,hi,yes,so,no,3,4\n"
    built = studies.read(tmp_path, SIDE_BY_SIDE, my_csv=csv)
    found = built.frames["annotations"]
    assert found[["annotator", "work_unit", "dialogue", "context", "seconds", "score"]].values.tolist() == [
        ["A0001", "U00001", "hi_yes", "hi", 30.0, 1.0],
        ["A0001", "U00001", "so_no", "so", 30.0, 2.0],
        ["A0002", "U00002", "hi_yes", "hi", 40.0, 3.0],
        ["A0002", "U00002", "so_no", "so", 40.0, 4.0],
    ]
    assert built.frames["dialogues"][["user_text", "system_text"]].values.tolist() == [["hi", "yes"], ["so", "no"]]


IDENTIFY = """\
title: T
method: dialogue_rating
sources:
  - &s {adapter: table, file: a.csv, identify: {dialogue: [p, m], context: [p]}, columns: {system: m, annotator: w}}
  - {<<: *s, file: b.csv}
labels:
  good: {scale: [0, 1]}
"""


def test_one_long_id_makes_the_ids_of_all_files_numbers(tmp_path):
    """Whether an item has an id that can be read or a number does not depend on the other rows of its file."""
    one, two = "p,m,w,good\nhi,A,w1,1\nho,A,w1,0\n", "p,m,w,good\nhi,A,w2,1\n" + "x" * 70 + ",A,w2,0\n"
    built = studies.read(tmp_path, IDENTIFY, a_csv=one, b_csv=two)
    marks = built.frames["annotations"]
    assert marks["dialogue"].tolist() == ["D00001", "D00002", "D00001", "D00003"]
    assert marks["context"].tolist() == ["C00001", "C00002", "C00001", "C00003"]
    assert built.frames["dialogues"]["dialogue"].tolist() == ["D00001", "D00002", "D00003"]
    both = studies.read(tmp_path, IDENTIFY, a_csv=one, b_csv=two.replace("x" * 70, "ha"))
    assert both.frames["annotations"]["dialogue"].tolist() == ["hi_A", "ho_A", "hi_A", "ha_A"]


def test_one_id_for_two_things_is_none(tmp_path):
    one, two = "p,m,w,good\na_b,c,w1,1\n", "p,m,w,good\na,b_c,w1,1\n"
    assert marks(tmp_path, IDENTIFY, "dialogue", a_csv=one, b_csv=two) == [["D00001"], ["D00002"]]


def test_both_sides_of_a_comparison_have_ids_of_one_kind(tmp_path):
    """The longer name of one system would otherwise make its dialogues other ones on the right than on the left."""
    yaml = """\
title: T
method: comparative
sources:
  - adapter: table
    file: my.csv
    identify: {dialogue: [p, l], dialogue_b: [p, r]}
    columns: {system: l, system_b: r, annotator: w}
labels:
  good: {scale: [-1, 1]}
"""
    csv = "p,l,r,w,good\n" + "x" * 57 + ",A,long,w1,1\nhi,A,B,w1,1\nhi,C,A,w1,1\n"
    pairs = marks(tmp_path, yaml, "dialogue", "dialogue_b", my_csv=csv)
    assert pairs == [["D00001", "D00004"], ["D00002", "D00005"], ["D00003", "D00002"]]


def test_the_id_of_a_dialogue_needs_all_its_parts(tmp_path):
    """A context may lack one: there is not always an input to an instruction."""
    yaml = IDENTIFY.replace("  - {<<: *s, file: b.csv}\n", "")
    csv = "p,m,w,good\n,A,w1,1\n,A,w2,1\nhi,C,w1,1\n"
    with pytest.raises(DataError, match=r"dialogue \(p, m\): expected a value, found nothing \(row 2, row 3\)"):
        studies.read(tmp_path, yaml, a_csv=csv)
    yaml = yaml.replace("[p, m], context: [p]", "[m, w], context: [p, m]")
    assert marks(tmp_path, yaml, "context", a_csv=csv) == [["_A"], ["_A"], ["hi_C"]]


HEAD = "chat,bot,worker,what,rating\n"


@pytest.mark.parametrize(
    ("option", "change", "csv", "columns", "expected"),
    [
        # quotes that mean nothing
        ("quoting: false", None, f'{HEAD}"d1,A,w1,fluency,4\nd2,A,w1,quality,4\n', ["dialogue"], [['"d1'], ["d2"]]),
        (
            'encoding: cp1252\n    delimiter: ";"',
            None,
            studies.LONG_CSV.replace(",", ";").replace("d2", "dé").encode("cp1252"),
            ["dialogue"],
            [["d1"], ["d1"], ["dé"], ["dé"]],
        ),
        # positions count repeated rows
        (
            "annotators: positions",
            ("annotator: worker, ", ""),
            studies.LONG_CSV,
            ["annotator", "annotator_known"],
            [["pos0", False], ["pos1", False], ["pos0", False], ["pos0", False]],
        ),
        (
            "first_turn: 1",
            ("columns: {", "columns: {turn: worker, "),
            f"{HEAD}d1,A,1,fluency,4\nd1,A,2,quality,4\n",
            ["turn"],
            [[0], [1]],
        ),
    ],
)
def test_options(tmp_path, option, change, csv, columns, expected):
    yaml = studies.LONG.replace("layout: long", f"layout: long\n    {option}")
    yaml = yaml.replace("dialogue_rating", "turn_rating") if "turn" in columns else yaml
    assert marks(tmp_path, yaml.replace(*change) if change else yaml, *columns, my_csv=csv) == expected


def test_parquet_reads_as_csv_does(tmp_path):
    yaml = studies.LONG.replace("my.csv", "my.parquet").replace("  quality: {scale: [1, 5]}\n", "")
    pd.DataFrame(
        {"chat": ["d1", "d2"], "bot": ["A", "B"], "worker": [1.0, 2.0], "what": ["fluency"] * 2, "rating": [4.0, None]}
    ).to_parquet(tmp_path / "my.parquet")
    built = studies.read(tmp_path, yaml)
    assert built.frames["annotations"]["score"].tolist() == [4.0]
    assert kept(built, reason="no score") == 1


def test_one_label_under_two_methods(tmp_path):
    """Rows with a turn are judgements of turns, rows without one of the dialogue."""
    yaml = """\
title: T
sources:
  - {adapter: table, file: my.csv, columns: {dialogue: d, turn: t, annotator: w}}
labels:
  good: {scale: [0, 1], method: turn_rating}
  good_overall: {scale: [0, 1], method: dialogue_rating, id: good}
"""
    methods = marks(tmp_path, yaml, "method", my_csv="d,t,w,good\n1,0,p,1\n1,,p,0\n")
    assert methods == [["turn_rating"], ["dialogue_rating"]]
