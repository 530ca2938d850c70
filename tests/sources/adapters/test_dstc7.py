"""DSTC7: a judge counts once for a response; two names of one system are one; the organisers' means come out."""

import numpy as np
import pandas as pd
import pytest
from fixtures.raw_file_studies import build_from, counted

from judgebook.sources.build import build
from judgebook.study import params
from judgebook.study.schema import DataError

YAML = """
method: turn_rating
sources:
  - adapter: dstc7
    file: judged.tsv
    responses: responses.tsv
    same_system: {BA: AB}
    reference_system: Human
labels:
  relevance: {scale: [1, 5]}
"""
JUDGED = """\ufeffJudgeID\tInstanceID\tSystemID\tRelevance
j1\ti1\tAB\t3
j2\ti1\tAB\t4
j1\ti1\tAB\t3
j2\ti1\tAB\t5
j1\ti1\tBA\t2
j3\ti1\tBA\t1
j1\ti1\tHuman\t5
j1\ti2\tHuman\t5
"""
RESPONSES = 'SystemID\tInstanceID\tResponse\nAB\ti1\tsay "hi\nHuman\ti1\tgold\nHuman\ti2\tother\n'


def test_the_first_judgement_of_a_judge_counts(tmp_path):
    built = build_from(tmp_path, YAML, {"judged.tsv": JUDGED, "responses.tsv": RESPONSES})
    marks = built.frames["annotations"]
    ours = marks[marks["dialogue"] == "AB/i1"]
    assert dict(zip(ours["annotator"], ours["score"], strict=True)) == {"A0001": 3.0, "A0002": 4.0, "A0003": 1.0}
    assert set(marks["system"]) == {"AB", "Human"}
    reason = "a second judgement of one response by one judge"
    assert counted(built, "rows", "dropped") == {
        f"{reason}, equal to one before": 1,
        f"{reason}, different": 1,
        f"{reason}, under another name of the system": 1,
    }
    assert counted(built, "rows", "read") == {"": 8}
    assert counted(built, "rows", "kept") == {"": 5}


def test_quotes_are_text_and_the_reference_is_not_its_own(tmp_path):
    texts = build_from(tmp_path, YAML, {"judged.tsv": JUDGED, "responses.tsv": RESPONSES}).frames["dialogues"]
    texts = texts.set_index("dialogue")
    assert texts.loc["AB/i1", ["system_text", "reference"]].tolist() == ['say "hi', "gold"]
    assert texts.loc[["Human/i1", "Human/i2"], "reference"].isna().all()


@pytest.mark.parametrize(
    ("judged", "message"),
    [
        (
            JUDGED.replace("JudgeID", "Judge"),
            "judged.tsv, row 1, JudgeID: expected columns JudgeID, InstanceID, SystemID",
        ),
        (JUDGED + "j9\ti9\tAB\tsix\n", "judged.tsv, row 10, score: expected a number, found 'six'"),
        (
            JUDGED + "j9\ti9\tAB\t6\n",
            "judged.tsv, row 10, score: expected a whole number from 1 to 5 (relevance), found 6",
        ),
        (JUDGED + "j9\ti9\tAB\n", "judged.tsv, row 10: expected 4 cells, found 3"),
        (JUDGED + "\ti9\tAB\t3\n", "judged.tsv, row 10, JudgeID: expected a value, found nothing"),
        (JUDGED + "j9\t \tAB\t3\n", "judged.tsv, row 10, InstanceID: expected a value, found nothing"),
        (
            "JudgeID\tInstanceID\tSystemID\t\t\tRelevance\nj\ti\tA\tx\ty\t3\n",
            "judged.tsv, row 1: expected named columns of scores in addition to the ids, found a column without",
        ),
        (
            "JudgeID\tInstanceID\tSystemID\nj\ti\tA\n",
            "judged.tsv, row 1: expected named columns of scores in addition to the ids",
        ),
    ],
)
def test_what_does_not_fit_is_named(tmp_path, judged, message):
    with pytest.raises(DataError) as error:
        build_from(tmp_path, YAML, {"judged.tsv": judged, "responses.tsv": RESPONSES})
    assert message in str(error.value)


def test_ids_have_no_blanks_around_them(tmp_path):
    judged = JUDGED.replace("j1\ti1\tBA", " j1\ti1 \tBA")
    ours, plain = (
        build_from(tmp_path, YAML, {"judged.tsv": text, "responses.tsv": RESPONSES}).frames for text in (judged, JUDGED)
    )
    for name, frame in plain.items():
        assert ours[name].equals(frame), name


def test_a_response_has_one_text_whatever_its_system_is_called(tmp_path):
    files = {"judged.tsv": JUDGED, "responses.tsv": RESPONSES + 'BA\ti1\tsay "hi\n'}
    assert len(build_from(tmp_path, YAML, files).frames["dialogues"]) == 3
    with pytest.raises(DataError) as error:
        build_from(tmp_path, YAML, files | {"responses.tsv": RESPONSES + "BA\ti1\ttwo\n"})
    expected = (
        "responses.tsv, row 5, Response: expected the text given before for this response, 'say \"hi', found 'two'"
    )
    assert expected in str(error.value)


@pytest.fixture(scope="module")
def dstc7(raw_data):
    return build(params.load("dstc7"))


@pytest.mark.data
def test_sizes_of_the_public_files(dstc7):
    marks = dstc7.frames["annotations"]
    assert counted(dstc7, "rows", "read") == {"": 33_000}
    dropped = list(counted(dstc7, "rows", "dropped").values())
    assert sorted(dropped) == [14, 40, 110]  # 14 + 40 = 54 under one name
    assert len(marks) == 2 * (33_000 - sum(dropped))
    assert marks["annotator"].nunique() == 317
    assert marks["context"].nunique() == 1_000
    assert marks["system"].nunique() == 10
    texts = dstc7.frames["dialogues"]
    assert len(texts) == 10_000
    assert texts["system_text"].notna().all()
    assert texts["reference"].notna().sum() == 9_000


@pytest.mark.data
def test_all_rows_of_both_names_give_the_organisers_means(raw_data):
    """The wide table holds the mean of both criteria over every row, repeats included; TeamCE over both names."""
    folder, options = raw_data / "dstc7", {"sep": "\t", "quoting": 3, "encoding": "utf-8-sig"}
    rows = pd.read_csv(folder / "dstc7-task2-human-eval-per-judge.tsv", **options)
    wide = pd.read_csv(folder / "dstc7-task2-human_evaluation.tsv", **options).set_index("InstanceID")
    rows["mean"] = rows[["Relevance", "Informativeness"]].mean(axis=1)
    rows["SystemID"] = rows["SystemID"].replace({"TeamEC": "TeamCE"})
    means = rows.pivot_table(index="InstanceID", columns="SystemID", values="mean")
    assert set(means) == set(wide)
    np.testing.assert_allclose(means, wide.drop("Average")[[*means]], atol=0.005 + 1e-9)  # two decimals are printed
    np.testing.assert_allclose(means.mean(), wide.loc["Average", [*means]].astype(float), atol=0.005 + 1e-9)


@pytest.mark.data
def test_dropping_repeats_moves_no_system_mean_by_a_hundredth(dstc7, raw_data):
    path = raw_data / "dstc7" / "dstc7-task2-human_evaluation.tsv"
    wide = pd.read_csv(path, sep="\t", quoting=3, encoding="utf-8-sig").set_index("InstanceID")
    marks = dstc7.frames["annotations"]
    means = marks.groupby(["system", "dialogue"])["score"].mean().groupby("system").mean()
    np.testing.assert_allclose(means, wide.loc["Average", means.index].astype(float), atol=0.01)


@pytest.mark.data
def test_the_two_names_are_judged_alike_unlike_any_other_two(raw_data):
    """Why TeamEC is read as TeamCE: their means by instance go together (r = .35), those of other systems do not."""
    rows = pd.read_csv(raw_data / "dstc7" / "dstc7-task2-human-eval-per-judge.tsv", sep="\t", encoding="utf-8-sig")
    rows["mean"] = rows[["Relevance", "Informativeness"]].mean(axis=1)
    r = rows.pivot_table(index="InstanceID", columns="SystemID", values="mean").corr()
    pair = r.at["TeamCE", "TeamEC"]
    others = r.to_numpy()[np.triu_indices(len(r), k=1)]
    others = others[others != pair]
    assert pair > 0.3
    assert len(others) == 11 * 10 / 2 - 1
    assert others.max() < 0.15
