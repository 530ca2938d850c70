"""Tables: the public studies that need no code, and hand-made ones for each option."""

import pandas as pd
import pytest
from fixtures import yaml_studies as studies

from judgebook.sources import build
from judgebook.study import params
from judgebook.study.schema import DataError


def kept(built, **where):
    counts = built.frames["counts"]
    for column, value in where.items():
        counts = counts[counts[column] == value]
    return int(counts["n"].sum())


@pytest.mark.data
def test_engage(raw_data):
    """900 judgements of 30 tasks by 24 workers; 1,800 of 600 pairs, with four scores a pair."""
    built = build.build(params.load("engage"))
    marks = built.frames["annotations"].set_index("corpus")
    people, all_ = marks.loc["human_replies"], marks.loc["all_replies"]
    assert (len(people), people["dialogue"].nunique(), people["annotator"].nunique()) == (900, 300, 24)
    assert people["work_unit"].nunique() == 90
    assert people.groupby("work_unit").size().eq(10).all()
    assert (len(all_), all_["dialogue"].nunique()) == (1800, 600)
    assert set(all_["annotator"]) == {"pos0", "pos1", "pos2"}
    assert not all_["annotator_known"].any()
    # as counted in the files with the csv module alone
    assert people["score"].value_counts().sort_index().tolist() == [44, 192, 225, 197, 242]
    assert all_["score"].value_counts().sort_index().tolist() == [568, 366, 306, 259, 301]
    scores = built.frames["metric_scores"]
    assert scores.groupby("metric").size().to_dict() == {
        "ruber_unreferenced": 600,
        "ctx_unreferenced": 600,
        "engagement_mean_pooling": 600,
        "engagement_max_pooling": 600,
    }
    assert scores["score"].notna().all()
    # the 300 replies of people stand in both corpora, with the same ratings
    both = [c.groupby("dialogue")["score"].agg(sorted) for c in (people, all_)]
    assert (both[0] == both[1].loc[both[0].index]).all()
    assert built.frames["dialogues"]["system_text"].notna().all()


@pytest.mark.data
def test_holistic(raw_data):
    """200 replies by ten raters, complete, in a file without a header."""
    built = build.build(params.load("holistic"))
    marks = built.frames["annotations"]
    assert marks.groupby("annotator").size().to_dict() == {f"pos{i}": 200 for i in range(10)}
    assert marks["score"].between(1, 5).all()
    # row 1 of the file: 3,2,5,1,2,2,2,2,2,2
    first = marks[marks["dialogue"] == "0"].sort_values("annotator")["score"]
    assert first.tolist() == [3, 2, 5, 1, 2, 2, 2, 2, 2, 2]
    assert built.profile["features"]["known_annotators"] is not None


@pytest.mark.data
def test_convai2_wild(raw_data):
    """791 of 1,402 chats were rated; the others are dropped with their reason."""
    built = build.build(params.load("convai2_wild"))
    assert len(built.frames["annotations"]) == 791
    assert len(built.frames["dialogues"]) == 1402
    assert kept(built, what="annotations", action="read") == 1402
    assert kept(built, what="annotations", action="dropped", reason="chat not rated") == 611
    assert built.frames["dialogues"]["interactor"].nunique() == 915
    assert built.frames["annotations"]["system"].nunique() == 11
    own = built.frames["annotations"].merge(built.frames["dialogues"], on=["corpus", "dialogue"])
    assert (own["annotator"] == own["interactor"]).any()


def test_the_ten_lines_of_the_readme(tmp_path):
    built = studies.read(tmp_path, studies.WIDE, my_csv=studies.wide_csv())
    marks = built.frames["annotations"]
    assert len(marks) == 72
    assert set(marks["annotator"]) == {"A0001", "A0002", "A0003"}
    assert marks["annotator_known"].all()
    assert marks.groupby(["label", "annotator"]).size().eq(12).all()
    # row 1: 1 + (3 + 2 k) mod 5 for k = 0..5
    first = marks[marks["dialogue"] == "1"].sort_values(["label", "annotator"])["score"]
    assert first.tolist() == [4, 1, 3, 5, 2, 4]
    assert built.profile["features"]["two_systems"] == "Only one system was judged."


def test_long_and_wide_say_the_same(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    wide = studies.read(tmp_path / "a", studies.WIDE, my_csv=studies.wide_csv(3)).frames["annotations"]
    cells = pd.read_csv(tmp_path / "a" / "my.csv").melt("id", value_name="rating")
    cells[["what", "worker"]] = cells["variable"].str.split("_", expand=True)
    long_csv = cells.rename(columns={"id": "chat"}).assign(bot="system").to_csv(index=False)
    long_ = studies.read(tmp_path / "b", studies.LONG, my_csv=long_csv).frames["annotations"]
    key = ["dialogue", "annotator", "label", "score", "system", "method"]
    pd.testing.assert_frame_equal(*(f[key].sort_values(key, ignore_index=True) for f in (wide, long_)))


ONE_LABEL = """\
title: One label
sources:
  - {adapter: table, file: my.csv, columns: {dialogue: id}, scores: "%s", constants: {label: quality}}
labels: {quality: {scale: [1, 5]}}
"""


def test_a_constant_names_the_label_of_columns_that_are_people(tmp_path):
    csv = "id,Rater A,Rater B,seen\n1,3,5,yes\n2,,4,no\n"
    marks = studies.read(tmp_path, ONE_LABEL % "Rater {annotator}", my_csv=csv).frames["annotations"]
    assert marks["score"].tolist() == [3, 5, 4]
    assert marks["label"].eq("quality").all()
    assert marks["annotator"].nunique() == 2
    assert marks["annotator_known"].all()


def test_columns_that_hold_no_scores_are_skipped(tmp_path):
    csv = "id,Alice,Ben,Length,Comment 1,Comment 2\n1,3,5,12,fine,\n2,,4,40,,fine\n"
    yaml = (ONE_LABEL % "{annotator}").replace("constants:", "skip_columns: [Length, Comment *], constants:")
    built = studies.read(tmp_path, yaml, my_csv=csv)
    assert built.frames["annotations"]["score"].tolist() == [3, 5, 4]
    assert built.unused == {"my.csv": {}}
    with pytest.raises(DataError, match=r"Lenght.*did you mean 'Length'"):
        studies.read(tmp_path, yaml.replace("Length", "Lenght"), my_csv=csv)
    with pytest.raises(DataError, match=r"row 2, Comment 1.*'fine'.*leave out a whole column.* `skip_columns`"):
        studies.read(tmp_path, yaml.replace("Comment *", "Comment 2"), my_csv=csv)


def test_a_constant_names_the_label_of_one_column(tmp_path):
    yaml = (ONE_LABEL % "stars").replace("constants:", "annotators: positions, constants:")
    marks = studies.read(tmp_path, yaml, my_csv="id,stars\n1,3\n1,5\n2,4\n").frames["annotations"]
    assert marks.groupby("dialogue")["score"].agg(list).to_dict() == {"1": [3, 5], "2": [4]}
    assert not marks["annotator_known"].any()


def test_a_constant_label_must_be_declared(tmp_path):
    yaml = (ONE_LABEL % "Rater {annotator}").replace("labels: {quality", "labels: {fluency")
    with pytest.raises(DataError, match=r"row 2, Rater A, label: .* found 'quality'"):
        studies.read(tmp_path, yaml, my_csv="id,Rater A\n1,3\n")


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
    assert built.frames["dialogues"][["dialogue", "system"]].values.tolist() == [
        ["7_bot-a", "bot-a"],
        ["7_bot-b", "bot-b"],
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
    marks = built.frames["annotations"]
    assert marks[["annotator", "work_unit", "dialogue", "context", "seconds", "score"]].values.tolist() == [
        ["A0001", "U00001", "hi_yes", "hi", 30.0, 1.0],
        ["A0001", "U00001", "so_no", "so", 30.0, 2.0],
        ["A0002", "U00002", "hi_yes", "hi", 40.0, 3.0],
        ["A0002", "U00002", "so_no", "so", 40.0, 4.0],
    ]
    assert built.frames["dialogues"][["user_text", "system_text"]].values.tolist() == [["hi", "yes"], ["so", "no"]]


def test_long_ids_become_numbers_that_are_the_same_in_every_file(tmp_path):
    text = "a long question " * 5
    yaml = """\
title: T
method: turn_rating
sources:
  - {adapter: table, file: one.csv, identify: {dialogue: [q]}, columns: {annotator: w}, constants: {turn: 0, corpus: a}}
  - {adapter: table, file: two.csv, identify: {dialogue: [q]}, columns: {annotator: w}, constants: {turn: 0, corpus: b}}
labels:
  good: {scale: [0, 1]}
"""
    one, two = f"q,w,good\n{text},p,1\nshort,p,0\n", f"w,good,q\nr,0,{text}\n"
    marks = studies.read(tmp_path, yaml, one_csv=one, two_csv=two).frames["annotations"]
    assert marks["dialogue"].tolist() == ["D00001", "D00002", "D00001"]  # by first appearance


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
    marks = studies.read(tmp_path, IDENTIFY, a_csv=one, b_csv=two).frames["annotations"]
    assert marks["dialogue"].tolist() == ["D00001", "D00002"]


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
    marks = studies.read(tmp_path, yaml, my_csv=csv).frames["annotations"]
    assert marks["dialogue"].tolist() == ["D00001", "D00002", "D00003"]
    assert marks["dialogue_b"].tolist() == ["D00004", "D00005", "D00002"]


def test_items_with_systems_side_by_side_in_two_files(tmp_path):
    yaml = (
        IDENTIFY.replace(", context: [p]", "")
        .replace("system: m, ", "")
        .replace("w}}", 'w}, scores: "{label}_{system}"}')
    )
    one, two = "p,m,w,good_A\nhi,1,w1,1\n", "p,m,w,good_A\nhi,1,w2,1\n" + "x" * 70 + ",1,w2,0\n"
    marks = studies.read(tmp_path, yaml, a_csv=one, b_csv=two).frames["annotations"]
    assert marks["dialogue"].tolist() == ["D00001", "D00001", "D00002"]
    assert marks["context"].tolist() == ["C00001", "C00001", "C00002"]


def test_the_id_of_a_dialogue_needs_all_its_parts(tmp_path):
    """A context may lack one: there is not always an input to an instruction."""
    yaml = IDENTIFY.replace("  - {<<: *s, file: b.csv}\n", "")
    csv = "p,m,w,good\n,A,w1,1\n,A,w2,1\nhi,C,w1,1\n"
    with pytest.raises(DataError, match=r"dialogue \(p, m\): expected a value, found nothing \(row 2, row 3\)"):
        studies.read(tmp_path, yaml, a_csv=csv)
    yaml = yaml.replace("[p, m], context: [p]", "[m, w], context: [p, m]")
    marks = studies.read(tmp_path, yaml, a_csv=csv).frames["annotations"]
    assert marks["context"].tolist() == ["_A", "_A", "hi_C"]


COMPARE = """\
title: Comparisons
method: comparative
sources:
  - adapter: table
    file: my.csv
    columns: {dialogue: a, dialogue_b: b, system: sa, system_b: sb, annotator: who}
    values: {left: 1, tie: 0, right: -1}
    label_names: {winner: quality}
labels:
  quality: {scale: [-1, 1]}
"""


def test_comparisons_are_turned_to_one_side_and_mirrors_left_out(tmp_path):
    """d1-d2 is judged from both sides by p (a mirror), and from the other side by q (turned)."""
    csv = "a,b,sa,sb,who,winner\nd1,d2,A,B,p,left\nd2,d1,B,A,p,right\nd2,d1,B,A,q,left\nd3,d4,A,B,p,tie\n"
    built = studies.read(tmp_path, COMPARE, my_csv=csv)
    marks = built.frames["annotations"]
    assert marks[["dialogue", "dialogue_b", "system", "system_b", "annotator", "score"]].values.tolist() == [
        ["d1", "d2", "A", "B", "A0001", 1.0],
        ["d1", "d2", "A", "B", "A0002", -1.0],
        ["d3", "d4", "A", "B", "A0001", 0.0],
    ]
    assert kept(built, reason="the same comparison from its other side") == 1
    assert kept(built, reason="comparison turned to the side first met") == 1
    assert len(built.frames["dialogues"]) == 4


def test_tsv_with_quotes_that_mean_nothing(tmp_path):
    yaml = studies.LONG.replace("layout: long", "layout: long\n    quoting: false").replace("my.csv", "my.tsv")
    tsv = "\ufeff" + studies.LONG_CSV.replace(",", "\t").replace("d1", '"d1')
    marks = studies.read(tmp_path, yaml, my_tsv=tsv).frames["annotations"]
    assert marks["dialogue"].tolist() == ['"d1', '"d1', "d2", "d2"]


def test_another_encoding_and_delimiter(tmp_path):
    yaml = studies.LONG.replace("layout: long", 'layout: long\n    encoding: cp1252\n    delimiter: ";"')
    csv = studies.LONG_CSV.replace(",", ";").replace("d2", "dé").encode("cp1252")
    assert studies.read(tmp_path, yaml, my_csv=csv).frames["annotations"]["dialogue"].tolist()[2:] == ["dé", "dé"]


def test_parquet_reads_as_csv_does(tmp_path):
    yaml = studies.LONG.replace("my.csv", "my.parquet").replace("  quality: {scale: [1, 5]}\n", "")
    pd.DataFrame(
        {"chat": ["d1", "d2"], "bot": ["A", "B"], "worker": [1.0, 2.0], "what": ["fluency"] * 2, "rating": [4.0, None]}
    ).to_parquet(tmp_path / "my.parquet")
    built = studies.read(tmp_path, yaml)
    assert built.frames["annotations"]["score"].tolist() == [4.0]
    assert kept(built, reason="no score") == 1


def test_models_judge_beside_people(tmp_path):
    yaml = studies.LONG.replace("layout: long", "layout: long\n    judges: {gpt: llm}")
    marks = studies.read(tmp_path, yaml, my_csv=studies.LONG_CSV.replace("w2", "gpt")).frames["annotations"]
    assert marks[["annotator", "annotator_kind"]].values.tolist()[:2] == [["A0001", "human"], ["gpt", "llm"]]


def test_positions_count_repeated_rows(tmp_path):
    yaml = studies.LONG.replace("annotator: worker, ", "").replace(
        "layout: long", "layout: long\n    annotators: positions"
    )
    marks = studies.read(tmp_path, yaml, my_csv=studies.LONG_CSV).frames["annotations"]
    assert marks["annotator"].tolist() == ["pos0", "pos1", "pos0", "pos0"]
    assert not marks["annotator_known"].any()


def test_repeats_may_be_allowed(tmp_path):
    csv = studies.LONG_CSV + "d1,A,w1,fluency,1\n"
    yaml = studies.LONG.replace("layout: long", "layout: long\n    repeats: first")
    built = studies.read(tmp_path, yaml, my_csv=csv)
    assert built.frames["annotations"]["score"].tolist() == [4, 5, 2, 3]
    assert kept(built, reason="judged again: the first judgement counts, by their place in the file") == 1


def test_turns_may_count_from_one(tmp_path):
    yaml = studies.LONG.replace("dialogue_rating", "turn_rating").replace(
        "columns: {", "first_turn: 1\n    columns: {turn: t, "
    )
    csv = "t,chat,bot,worker,what,rating\n1,d1,A,w1,fluency,4\n2,d1,A,w1,quality,4\n"
    assert studies.read(tmp_path, yaml, my_csv=csv).frames["annotations"]["turn"].tolist() == [0, 1]


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
    marks = studies.read(tmp_path, yaml, my_csv="d,t,w,good\n1,0,p,1\n1,,p,0\n").frames["annotations"]
    assert marks["method"].tolist() == ["turn_rating", "dialogue_rating"]


def test_a_column_like_a_label_that_nobody_declared(tmp_path):
    with pytest.raises(DataError) as caught:
        studies.read(tmp_path, studies.WIDE, my_csv="id,fluency_a1,fluncy_a1\n1,3,4\n")
    (problem,) = caught.value.problems
    assert (problem.file, problem.where, problem.column) == ("my.csv", "row 1", "fluncy_a1")
    assert "fluency" in problem.expected
