"""Guessing a YAML: what is guessed, that it can be read, and what is said where it is unsure."""

import json

import pandas as pd
import pytest
import yaml
from fixtures import yaml_studies as studies

from judgebook.extras.new import draft, words
from judgebook.sources import build, in_words
from judgebook.study import limits, params
from judgebook.study.params import ParamsError
from judgebook.study.schema import DataError


def guess(folder, name, content):
    """The guessed YAML (as text and read) of a file, and the study built from it."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    text = draft.new_yaml("guessed", path)
    study = params.load(studies.write(folder, text, name="guessed"))
    return text, yaml.safe_load(text), study


def test_a_grid_of_labels_and_annotators(tmp_path):
    text, data, study = guess(tmp_path, "my.csv", studies.wide_csv())
    (source,) = data["sources"]
    assert source["scores"] == "{label}_{annotator}"
    assert source["columns"] == {"dialogue": "id"}
    assert data["labels"] == {name: {"scale": [1, 5], "direction": 1} for name in ("fluency", "quality")}
    assert "# the columns form a grid of labels and annotators" in text
    assert list(data["open_questions"]) == ["system"]
    assert len(build.build(study).frames["annotations"]) == 72


@pytest.mark.parametrize(
    ("header", "scores"),
    [
        ("id,r1.fluency,r2.fluency,r1.quality,r2.quality", "{annotator}.{label}"),
        ("id,fluency1,fluency2,quality1,quality2", "{label}{annotator}"),
        ("id,fluency rater 1,fluency rater 2,quality rater 1,quality rater 2", "{label} {annotator}"),
        ("id,fluency-a1,fluency-a2,quality-a1,quality-a2", "{label}-{annotator}"),
    ],
)
def test_other_grids(tmp_path, header, scores):
    _, data, study = guess(tmp_path, "my.csv", header + "\n1,1,2,3,4\n2,5,1,2,3\n")
    assert data["sources"][0]["scores"] == scores
    marks = build.build(study).frames["annotations"]
    assert marks.groupby("label")["score"].apply(list).to_dict() == {"fluency": [1, 2, 5, 1], "quality": [3, 4, 2, 3]}
    assert marks["annotator"].nunique() == 2


@pytest.mark.parametrize(
    ("header", "scores"),
    [
        ("id,bot,turn1_fluency,turn1_depth,turn2_fluency,turn2_depth", "turn{turn}_{label}"),
        ("id,annotator,fluency_alpha,depth_alpha,fluency_beta,depth_beta", "{label}_{system}"),
    ],
)
def test_grids_of_turns_and_of_systems_may_hold_answers_in_words(tmp_path, header, scores):
    words = ["poor", "fair", "good", "excellent"]
    ranks = [[(i * 3 + k * 2 + i // 4) % 4 for k in range(4)] for i in range(12)]
    rows = [f"d{i},{'ab'[i % 2]}," if "bot" in header else f"d{i // 2},w{i % 2}," for i in range(12)]
    lines = [row + ",".join(words[rank] for rank in own) for row, own in zip(rows, ranks, strict=True)]
    _, data, study = guess(tmp_path, "my.csv", "\n".join([header, *lines]) + "\n")
    assert data["sources"][0]["scores"] == scores
    assert list(data["labels"].values()) == [{"categories": words, "level": "ordinal", "direction": 1}] * 2
    found = build.build(study).frames["annotations"].groupby("label")["score"].apply(sorted).to_dict()
    assert found == {
        label: sorted(1 + own[k] for own in ranks for k in (j, j + 2)) for j, label in enumerate(["fluency", "depth"])
    }


def test_answers_side_by_side_that_are_all_in_words_leave_the_rest_of_a_row(tmp_path):
    lines = ["HITId,WorkerId,Input.text1,Input.text2,Answer.fruit1,Answer.fruit2,Answer.overall"]
    words = ["apple", "pear", "plum"]
    for i in range(12):
        texts = [f"Here is a sentence about thing {i} in place {k}." for k in (1, 2)]
        fruits = [words[(i + k) % 3] for k in (1, 2)]
        lines.append(",".join([f"H{i:05d}", f"w{i % 3}", *texts, *fruits, str(1 + i % 5)]))
    text, _, study = guess(tmp_path, "my.csv", "\n".join(lines) + "\n")
    assert "# not used: Answer.fruit1: answers in words: declare the label with `categories`" in text
    marks = build.build(study).frames["annotations"]
    assert len(marks) == marks["dialogue"].nunique() == 12


def test_a_long_table(tmp_path):
    text, data, study = guess(
        tmp_path, "my.csv", studies.LONG_CSV.replace("chat,bot,worker,what", "dialog_id,model,worker,label")
    )
    (source,) = data["sources"]
    assert source["layout"] == "long"
    assert source["columns"] == {
        "dialogue": "dialog_id",
        "annotator": "worker",
        "system": "model",
        "label": "label",
        "score": "rating",
    }
    assert "one row per judgement" in text
    assert "Which scale was offered for fluency? Assumed: 1 to 5 (scores run from 2 to 5)." in text
    assert len(build.build(study).frames["annotations"]) == 4


def test_a_column_a_label_with_texts_metrics_and_several_systems(tmp_path):
    rows = ["context id,model,user,query,response,Overall quality,irrelevant,bleu,n_words"]
    rows += [
        f"{i // 2},{'AB'[i % 2]},u{i % 3},how are you {i // 2},I am {i},{1 + i % 5},{i % 2},0.{i}5,{i}"
        for i in range(8)
    ]
    csv = "\n".join(rows).replace("context id", "item")
    text, data, study = guess(tmp_path, "my.csv", csv + "\n")
    (source,) = data["sources"]
    assert source["columns"]["context"] == "item"
    assert source["identify"] == {"dialogue": ["item", "model"]}
    assert source["columns"]["user_text"] == "query"
    assert source["columns"]["annotator"] == "user"
    assert source["label_names"] == {"Overall quality": "overall_quality"}
    assert source["metrics"] == {"bleu": "bleu"}
    assert data["labels"]["irrelevant"]["direction"] == -1
    assert "# not used: n_words: a different number in every row" in text
    built = build.build(study)
    assert built.frames["dialogues"]["system"].tolist() == ["A", "B"] * 4
    assert built.frames["metric_scores"]["score"].tolist() == [round(0.05 + i / 10, 2) for i in range(8)]


def test_comparisons_with_words_for_the_winner(tmp_path):
    rows = "a1,b1,A,B,w1,left\na1,b1,A,B,w2,Tie\na2,b2,A,B,w1,right\n"
    text, data, study = guess(tmp_path, "my.csv", "dialogue_a,dialogue_b,model_a,model_b,worker,winner\n" + rows)
    (source,) = data["sources"]
    assert source["columns"] == {
        "dialogue": "dialogue_a", "annotator": "worker", "system": "model_a", "dialogue_b": "dialogue_b",
        "system_b": "model_b",
    }  # fmt: skip
    assert source["values"] == {"left": 1, "Tie": 0, "right": -1}
    assert data["method"] == "comparative"
    assert data["labels"] == {"winner": {"scale": [-1, 1], "direction": 1}}
    assert "comparisons: scores must be -1 (left loses)" in text
    marks = build.build(study).frames["annotations"]
    assert marks["score"].tolist() == [1, 0, -1]
    assert set(marks["system_b"]) == {"B"}


def test_a_yaml_without_labels_still_reads(tmp_path):
    text, data, _ = guess(tmp_path, "my.csv", "dialogue,annotator,opinion\nd1,w1,fine work\nd2,w1,less so\n")
    assert data["labels"] == {}
    assert "no column looks like ratings" in text


def test_nobody_is_known(tmp_path):
    text, data, study = guess(
        tmp_path, "my.csv", "query,response,engaging\nhow are you,fine I am,3\nhow are you,fine I am,5\n"
    )
    assert data["sources"][0]["annotators"] == "positions"
    assert data["sources"][0]["identify"] == {"dialogue": ["query", "response"]}
    assert "Who judged? Assumed: nobody says; the judgements of an item are those of different people." in text
    assert build.build(study).frames["annotations"]["annotator"].tolist() == ["pos0", "pos1"]


def test_delimiter_encoding_and_missing_values(tmp_path):
    content = "id;qualité_a1;qualité_a2\n1;N/A;2\n2;4;5\n".encode("cp1252")
    _, data, study = guess(tmp_path, "my.csv", content)
    (source,) = data["sources"]
    assert (source["delimiter"], source["encoding"], source["na_values"]) == (";", "cp1252", ["", "N/A"])
    assert data["labels"] == {"qualite": {"scale": [1, 5], "direction": 1}}
    assert build.build(study).frames["annotations"]["score"].tolist() == [2, 4, 5]


def test_scores_in_words_are_left_to_the_reader(tmp_path):
    csv = "dialogue,worker,label,score\nd1,a,good,rather\nd1,b,good,hardly\n"
    (tmp_path / "my.csv").write_text(csv)
    text = draft.new_yaml("guessed", tmp_path / "my.csv")
    assert "Note: label 'good': no numeric score; `values` maps words to numbers" in text


def test_a_spreadsheet_with_decimal_commas(tmp_path):
    content = "\ufeffDialog;Annotator;Label;Score\nd1;w1;Flüssig;2,5\nd1;w2;Flüssig;4,0\nd2;w1;Flüssig;3\n"
    text, data, study = guess(tmp_path, "my.csv", content)
    assert "values" not in data["sources"][0]
    assert data["labels"] == {"flussig": {"scale": [1, 5], "level": "interval", "integer": False, "direction": 1}}
    assert "turns answers into numbers" not in text
    assert build.build(study).frames["annotations"]["score"].tolist() == [2.5, 4, 3]


def test_few_labelled_ends_are_no_missing_values(tmp_path):
    rows = [f"d{i},w{j},{(i * 2 + j * 3) % 3 + 2}" for i in range(12) for j in range(3)]
    rows[4], rows[9] = "d1,w1,1 - gar nicht", "d3,w0,5 - sehr"
    _, data, study = guess(tmp_path, "my.csv", "\n".join(["dialogue,annotator,fluency", *rows]) + "\n")
    assert data["sources"][0]["na_values"] == [""]
    scores = build.build(study).frames["annotations"]["score"]
    assert (len(scores), scores.min(), scores.max()) == (36, 1, 5)


def test_yes_and_no(tmp_path):
    rows = "d1,w1,Yes,no\nd1,w2,No,no\nd2,w1,,yes\n"
    text, data, study = guess(tmp_path, "my.csv", "dialogue,annotator,is safe,makes sense\n" + rows)
    assert data["sources"][0]["values"] == {"Yes": 1, "No": 0, "yes": 1, "no": 0}
    assert data["labels"] == {"is_safe": {"scale": [0, 1], "direction": 1}, "makes_sense": {"scale": [0, 1]}}
    assert "turns answers into numbers in: is safe, makes sense" in text
    marks = build.build(study).frames["annotations"]
    assert marks.groupby("label")["score"].apply(list).to_dict() == {"is_safe": [1, 0], "makes_sense": [0, 0, 1]}


def test_words_beside_numbers_but_not_those_of_an_item_or_a_person(tmp_path):
    levels = ["low", "medium", "high"]
    rows = [
        f"d{i // 3},w{i % 3},{1 + i * 7 % 5},{levels[i * 5 // 2 % 3]},{levels[i // 3 % 3]},{levels[i % 3]}"
        for i in range(36)
    ]
    head = "dialogue,annotator,fluency,effort,difficulty,experience"
    text, data, study = guess(tmp_path, "my.csv", "\n".join([head, *rows]) + "\n")
    assert data["labels"] == {
        "fluency": {"scale": [1, 5], "direction": 1},
        "effort": {"categories": levels, "level": "ordinal"},
    }
    assert "# not used: difficulty: the same for all annotators of an item" in text
    assert "# not used: experience: the same in all rows of an annotator" in text
    marks = build.build(study).frames["annotations"]
    assert marks[marks["label"] == "effort"]["score"].tolist() == [1 + i * 5 // 2 % 3 for i in range(36)]


def test_sliders_but_not_numbers_that_count_up(tmp_path):
    rows = [f"d{i // 2},w{i % 2},{i},{37 * i % 101}" for i in range(40)]
    text, data, study = guess(tmp_path, "my.csv", "\n".join(["dialogue,annotator,line,quality", *rows]) + "\n")
    assert data["labels"] == {"quality": {"scale": [0, 100], "level": "interval", "direction": 1}}
    assert "many whole numbers" not in text
    assert "# not used: line: a different number in every row" in text
    assert len(build.build(study).frames["annotations"]) == 40


def test_a_column_that_no_annotator_gave_is_a_metric(tmp_path):
    rows = [f"d{i // 2},w{i % 2},{1 + 3 * i % 5},{1 + i // 2 % 5}" for i in range(24)]
    text, data, study = guess(tmp_path, "my.csv", "\n".join(["dialogue,annotator,overall,auto", *rows]) + "\n")
    assert data["labels"] == {"overall": {"scale": [1, 5], "direction": 1}}
    assert data["sources"][0]["metrics"] == {"auto": "auto"}
    assert "What is 'auto'? Assumed: a metric (it is the same for all annotators of an item)." in text
    assert build.build(study).frames["metric_scores"]["score"].tolist() == [1 + i % 5 for i in range(12)]


def test_metrics_beside_the_scores_of_a_long_table(tmp_path):
    rows = [f"d{i // 2},w{i % 2},fluent,{1 + i % 5},0.{10 + i // 2},0.{10 + i}" for i in range(24)]
    header = "dialogue,annotator,label,score,similarity,sureness"
    text, data, study = guess(tmp_path, "my.csv", "\n".join([header, *rows]) + "\n")
    assert data["sources"][0]["metrics"] == {"similarity": "similarity"}
    assert "left out: sureness" in text
    assert len(build.build(study).frames["metric_scores"]) == 12


def test_comparisons_that_name_the_item_and_two_systems(tmp_path):
    rows = "c1,alpha,beta,w1,A\nc1,alpha,beta,w2,tie\nc2,gamma,alpha,w1,B\nc3,alpha,gamma,w1,B\nc2,alpha,gamma,w2,B\n"
    text, data, study = guess(tmp_path, "my.csv", "item_id,model_a,model_b,worker_id,winner\n" + rows)
    (source,) = data["sources"]
    assert source["columns"]["context"] == "item_id"
    assert source["identify"] == {"dialogue": ["item_id", "model_a"], "dialogue_b": ["item_id", "model_b"]}
    assert "by hand" not in text
    marks = build.build(study).frames["annotations"]
    # the last row shows the pair of c2 from its other side and is turned
    assert marks["score"].tolist() == [1, 0, -1, -1, 1]
    assert marks["dialogue"].tolist() == ["c1_alpha", "c1_alpha", "c2_gamma", "c3_alpha", "c2_gamma"]
    assert marks["dialogue_b"].tolist() == ["c1_beta", "c1_beta", "c2_alpha", "c3_gamma", "c2_alpha"]


def test_parquet_and_tsv(tmp_path):
    pd.DataFrame({"id": [1, 2], "fluency_a1": [1.0, None], "fluency_a2": [2, 5]}).to_parquet(tmp_path / "p.parquet")
    text = draft.new_yaml("guessed", tmp_path / "p.parquet")
    built = build.build(params.load(studies.write(tmp_path, text, name="guessed")))
    assert built.frames["annotations"]["score"].tolist() == [1, 2, 5]
    _, data, _ = guess(tmp_path, "my.tsv", studies.wide_csv().replace(",", "\t"))
    assert "delimiter" not in data["sources"][0]


@pytest.mark.parametrize(
    ("content", "adapter"),
    [
        ('{"surge_evaluation": null}', "abc_eval"),
        ('{"(1,2)_x": [{"user": "", "system": "", "behaviors": {}}]}', "behaviors"),
    ],
)
def test_known_json(tmp_path, content, adapter):
    _, data, _ = guess(tmp_path, "my.json", content)
    assert data["sources"][0]["adapter"] == adapter
    assert data["label_set"] == "abc_eval"


def test_votes_beside_conversations(tmp_path):
    """As an arena exports them: which of two models won, and what both said."""
    said = [{"role": "user", "content": "hi"}]
    wins = ["model_a", "model_b", "tie (bothbad)", "model_b"] * 3
    votes = [
        {"question_id": f"q{i}", "model_a": "gpt-4", "model_b": "koala-13b", "winner": won, "judge": f"user_{i % 3}"}
        | {"conversation_a": said, "turn": 1, "anony": True, "tstamp": 1682351591.1 + i}
        for i, won in enumerate(wins)
    ]
    _, data, study = guess(tmp_path, "my.json", json.dumps(votes))
    assert data["method"] == "comparative"
    marks = build.build(study).frames["annotations"]
    assert marks["score"].tolist() == [{"model_a": 1, "model_b": -1}.get(won, 0) for won in wins]
    assert set(marks["system"]) == {"gpt-4"}
    assert marks["annotator"].nunique() == 3


def test_models_that_annotate_are_no_people(tmp_path):
    csv = studies.wide_csv().replace("_a3", "_gpt-4o")
    text, data, study = guess(tmp_path, "my.csv", csv)
    assert data["sources"][0]["judges"] == {"gpt-4o": "llm"}
    assert "Which annotators are language models? Assumed: the 1 that are called like one (`judges`)." in text
    assert build.build(study).profile["n_annotators"] == 2


ROWS = "".join(f"d{i // 2},w{i % 2},{1 + i % 5},{1000 * i + 7}\n" for i in range(12))
JUDGED = [{"id": i, "ratings": {"w1": {"a": 1 + i % 5}, "w2": {"a": 1 + i % 4}}} for i in range(9)]


def renamed(new):
    return json.loads(json.dumps(JUDGED).replace('"a"', json.dumps(new)))


@pytest.mark.parametrize(
    "odd",
    [
        "\n",
        "\r",
        "\nlicence: CC0\n",
        "\x85",
        "\u2028",
        "\u2029",
        "\x7f",
        "\x9f",
        "\x01",
        "\ufeff",
        "\ufffe",
        "\U000e0001",
        "\U0001f600",
    ],
)
@pytest.mark.parametrize("column", ["id", "annotator", "fluency", "big"])
def test_no_header_breaks_the_yaml(tmp_path, column, odd):
    name = f"{column}{odd}x: y"
    head = "id,annotator,fluency,big".replace(column, f'"{name}"')
    _, data, study = guess(tmp_path, "my.csv", f"{head}\n{ROWS}")
    assert set(data) - {"open_questions"} == {"title", "method", "sources", "labels"}
    (source,) = data["sources"]
    if column == "fluency" and not odd.isspace():
        assert list(source["label_names"]) == [name]
    assert len(build.build(study).frames["annotations"]) == 12


@pytest.mark.parametrize("odd", ["\n", "\nlicence: CC0\n", "\x85", "\u2028", "\x7f", "\U000e0001"])
def test_no_key_of_json_breaks_the_yaml(tmp_path, odd):
    records = [r | {f"big{odd}x: y": 1000 * i} for i, r in enumerate(renamed(f"flu{odd}ency"))]
    _, data, study = guess(tmp_path, "my.json", json.dumps(records))
    assert set(data) - {"open_questions"} == {"title", "method", "sources", "labels"}
    assert list(data["sources"][0]["label_names"]) == [f"flu{odd}ency"]
    assert len(build.build(study).frames["annotations"]) == 18


def test_no_cell_breaks_the_yaml(tmp_path):
    rows = "".join(f'd{i // 2},"gpt\n{i % 2}: a",{1 + i % 5}\n' for i in range(12)) + "d8,w,😀\nd9,w,3\n"
    _, data, study = guess(tmp_path, "my.csv", "id,annotator,fluency\n" + rows)
    assert data["sources"][0]["na_values"] == ["", "😀"]
    assert set(data["sources"][0]["judges"]) == {"gpt\n0: a", "gpt\n1: a"}
    assert len(build.build(study).frames["annotations"]) == 13


@pytest.mark.parametrize(
    ("names", "ids"),
    [
        (["x" * 300, "x" * 299 + "y"], ["x" * 64, "x" * 59 + "_2"]),
        (["流畅", "连贯"], ["label", "label_2"]),
        (["flu ency", "flu-ency"], ["flu_ency", "flu_ency_2"]),
    ],
)
def test_ids_of_labels_are_short_and_differ(tmp_path, names, ids):
    rows = "".join(f"d{i // 2},w{i % 2},{1 + i % 5},{1 + i % 3}\n" for i in range(12))
    _, data, study = guess(tmp_path, "my.csv", f"id,annotator,{','.join(names)}\n{rows}")
    assert list(data["labels"]) == ids
    assert len(build.build(study).frames["annotations"]) == 24
    both = [{"id": i, "ratings": {"w1": {n: 1 + i % 5 for n in names}}} for i in range(9)]
    _, data, study = guess(tmp_path, "my.json", json.dumps(both))
    assert list(data["labels"]) == ids
    assert len(build.build(study).frames["annotations"]) == 18


def test_empty_keys_of_json_are_passed_over(tmp_path):
    records = [r | {"": 1} for r in JUDGED]
    _, data, study = guess(tmp_path, "my.json", json.dumps(records))
    assert list(data["labels"]) == ["a"]
    assert len(build.build(study).frames["annotations"]) == 18
    for alone in ([{"": 1, "id": "a"}, {"": 2, "id": "b"}], renamed("")):
        with pytest.raises(DataError, match="a path cannot contain an empty key: give the key a name"):
            guess(tmp_path, "my.json", json.dumps(alone))


@pytest.mark.parametrize("values", [[1, 2], ["yes", "no", "yes"], 5])
def test_values_without_a_key_are_no_judgements(tmp_path, values):
    with pytest.raises(DataError, match="expected numbers or answers that look like judgements, found nothing"):
        guess(tmp_path, "my.json", json.dumps(values))


def test_lists_without_a_key_are_of_one_label(tmp_path):
    _, data, study = guess(tmp_path, "my.json", "[[1, 2], [3, 4]]")
    assert list(data["labels"]) == ["score"]
    assert len(build.build(study).frames["annotations"]) == 4


def test_long_cells_stay_out_of_the_yaml(tmp_path):
    rows = "".join(f"d{i},w,{1 + i % 5},{'QUJD' * 50_000}{i}\n" for i in range(6))
    text, data, _ = guess(tmp_path, "my.csv", "id,annotator,fluency,image\n" + rows)
    assert list(data["labels"]) == ["fluency"]
    # among ratings: neither a rating nor, at that length, a word for a missing value
    text += guess(tmp_path, "my.csv", f"id,annotator,fluency\n{rows.replace(',QUJD', chr(10) + 'd9,w,QUJD')}")[0]
    assert len(text) < 5_000


@pytest.mark.parametrize(("longest", "found"), [(limits.COMBINED, True), (limits.COMBINED + 1, False)])
def test_an_id_with_a_system_in_brackets_is_no_longer_than_the_limit(tmp_path, longest, found):
    """Longer cells are not compared with the expression, which would take very long for text without blanks."""
    cells = [f"d{i} ({bot})" for i in range(6) for bot in ("alpha", "beta")]
    cells.append("e" * (longest - len(" (alpha)")) + " (alpha)")
    rows = "".join(f"{cell},w,{1 + i % 5}\n" for i, cell in enumerate(cells))
    (source,) = guess(tmp_path, "my.csv", "chat,annotator,fluency\n" + rows)[1]["sources"]
    assert (source.get("patterns") == {"chat": "{dialogue} ({system})"}) == found


def test_what_cannot_be_guessed(tmp_path):
    (tmp_path / "my.json").write_text('{"x": 1}')
    with pytest.raises(DataError, match="expected numbers or answers that look like judgements, found x"):
        draft.new_yaml("guessed", tmp_path / "my.json")
    with pytest.raises(DataError, match=r"none\.csv: expected a data file, found no such file"):
        draft.new_yaml("guessed", tmp_path / "none.csv")
    with pytest.raises(ParamsError, match="expected letters, digits and _"):
        draft.new_yaml("my-study", tmp_path / "my.json")


@pytest.mark.data
@pytest.mark.parametrize(
    ("file", "n", "systems"),
    [
        ("dstc9/ratings.csv", 70_967, 11),
        ("convai2_wild/ratings.csv", 791 + 648, 11),
        ("engage/Eng_Scores_queries_gen_gtruth_replies.csv", 1800, 1),
    ],
)
def test_public_tables_are_guessed_whole(raw_data, tmp_path, file, n, systems):
    """The guessed YAML reads every rating that is there: counts of the data's README."""
    text = draft.new_yaml("guessed", raw_data / file)
    built = build.build(params.load(studies.write(tmp_path, text, name="guessed")))
    assert len(built.frames["annotations"]) == n
    assert len(built.profile["systems"]) == systems


def test_a_study_is_described(tmp_path):
    path = studies.write(
        tmp_path, studies.WIDE, my_csv=studies.wide_csv().replace("\n1,", "\n1,N/A", 1).replace("N/A4", "N/A")
    )
    lines = in_words.describe(params.load(path))
    assert lines[0] == "71 annotations of 12 items in 12 dialogues of 1 system by 3 annotators"
    assert "dropped: 1 annotation of fluency: 'N/A' (`na_values`) (row 2)" in lines
    assert sum("only 12 items for" in line for line in lines) == 2
    assert any(line.startswith("dialogue_rating fluency: 35 scores of 12 items") for line in lines)


def test_people_who_are_unknown_and_models_are_counted_apart(tmp_path):
    yaml = studies.WIDE.replace("na_values:", "annotators: positions, na_values:")
    lines = in_words.describe(params.load(studies.write(tmp_path, yaml, my_csv=studies.wide_csv())))
    assert lines[0].endswith("of 1 system by unknown people (up to 3 per item)")
    yaml = studies.WIDE.replace("na_values:", "judges: {a3: llm}, na_values:")
    lines = in_words.describe(params.load(studies.write(tmp_path, yaml, "judged", my_csv=studies.wide_csv())))
    assert lines[0].endswith("of 1 system by 2 annotators and 1 model")


@pytest.mark.parametrize(("ends", "text"), [((1.0, 5.0), "[1, 5]"), ((-0.5, 1234567.0), "[-0.5, 1234567]"),
                                            ((1 / 3, 1e300), "[0.3333333333333333, 1.0e+300]")])  # fmt: skip
def test_the_ends_of_a_scale_come_back_as_the_same_numbers(ends, text):
    """`1.23457e+06`, of six digits, would be another number, and a text in a YAML."""
    assert words.scale_text(*ends) == text
    assert yaml.safe_load(text) == [*ends]


def test_a_table_of_too_many_rows_to_guess_from_is_refused(tmp_path, monkeypatch):
    (tmp_path / "my.csv").write_text("id,model,fluency\n" + "d1,A,3\n" * 3)
    monkeypatch.setattr(draft.limits, "GUESSED_ROWS", 2)
    with pytest.raises(
        DataError, match=r"my\.csv: expected at most 2 rows to guess from, found 3; describe an extract"
    ):
        draft.new_yaml("mine", tmp_path / "my.csv")
