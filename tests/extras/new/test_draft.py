"""Guessing a YAML: what is guessed of small files, that it can be read, and what is refused."""

import json

import pytest
import yaml
from fixtures import yaml_studies as studies

from judgebook.extras.new import draft
from judgebook.study import params
from judgebook.study.params import ParamsError
from judgebook.study.schema import DataError


def guess(folder, name, content):
    """The guessed YAML of a file: as text, which can be read, and its data."""
    path = folder / name
    path.write_text(content, encoding="utf-8")
    text = draft.new_yaml("guessed", path)
    params.load(studies.write(folder, text, name="guessed"))
    return text, yaml.safe_load(text)


def lines(head, row, n):
    return "\n".join([head, *map(row, range(n))]) + "\n"


LEVELS = ["low", "medium", "high"]

#: a table, and in YAML what is made of it: parts of its source, its labels, the scores of labels, notes
TABLES = {
    "a grid with people first": (
        "id,r1.fluency,r2.fluency,r1.quality,r2.quality\n1,1,2,3,4\n2,5,1,2,3\n",
        """
source: {scores: "{annotator}.{label}", columns: {dialogue: id}}
scores: {fluency: [1, 2, 5, 1], quality: [3, 4, 2, 3]}
""",
    ),
    "comparisons that name the item and two systems, the last from the other side": (
        """\
item_id,model_a,model_b,worker_id,winner
c1,alpha,beta,w1,A
c1,alpha,beta,w2,tie
c2,gamma,alpha,w1,B
c3,alpha,gamma,w1,B
c2,alpha,gamma,w2,B
""",
        """
source: {identify: {dialogue: [item_id, model_a], dialogue_b: [item_id, model_b]}}
scores: {winner: [1, 0, -1, -1, 1]}
""",
    ),
    "nobody is known": (
        "query,response,engaging\nhow are you,fine I am,3\nhow are you,fine I am,5\n",
        """
source: {annotators: positions, identify: {dialogue: [query, response]}}
scores: {engaging: [3, 5]}
""",
    ),
    "decimal commas": (
        "\ufeffDialog;Annotator;Label;Score\nd1;w1;Flüssig;2,5\nd1;w2;Flüssig;4,0\nd2;w1;Flüssig;3\n",
        """
labels: {flussig: {scale: [1, 5], level: interval, integer: false, direction: 1}}
scores: {flussig: [2.5, 4, 3]}
""",
    ),
    "yes and no": (
        "dialogue,annotator,is safe,makes sense\nd1,w1,Yes,no\nd1,w2,No,no\nd2,w1,,yes\n",
        """
source: {values: {"Yes": 1, "No": 0, "yes": 1, "no": 0}}
labels: {is_safe: {scale: [0, 1], direction: 1}, makes_sense: {scale: [0, 1]}}
scores: {is_safe: [1, 0], makes_sense: [0, 0, 1]}
said: ["turns answers into numbers in: is safe, makes sense"]
""",
    ),
    "words beside numbers, but not those of an item or a person": (
        lines(
            "dialogue,annotator,fluency,effort,difficulty,experience",
            lambda i: (
                f"d{i // 3},w{i % 3},{1 + i * 7 % 5},{LEVELS[i * 5 // 2 % 3]},{LEVELS[i // 3 % 3]},{LEVELS[i % 3]}"
            ),
            36,
        ),
        f"""
labels: {{fluency: {{scale: [1, 5], direction: 1}}, effort: {{categories: {LEVELS}, level: ordinal}}}}
scores: {{effort: {[1 + i * 5 // 2 % 3 for i in range(36)]}, fluency: {[1 + i * 7 % 5 for i in range(36)]}}}
said:
  - "# not used: difficulty: the same for all annotators of an item"
  - "# not used: experience: the same in all rows of an annotator"
""",
    ),
    "a column that no annotator gave": (
        lines("dialogue,annotator,overall,auto", lambda i: f"d{i // 2},w{i % 2},{1 + 3 * i % 5},{1 + i // 2 % 5}", 24),
        """
source: {metrics: {auto: auto}}
labels: {overall: {scale: [1, 5], direction: 1}}
said: ["What is 'auto'? Assumed: a metric (it is the same for all annotators of an item)."]
""",
    ),
    "cells that would break a YAML": (
        lines("id,annotator,fluency", lambda i: f'd{i // 2},"gpt\n{i % 2}: a",{1 + i % 5}', 12) + "d8,w,😀\nd9,w,3\n",
        """
source: {na_values: ["", 😀], judges: {"gpt\\n0: a": llm, "gpt\\n1: a": llm}}
labels: {fluency: {scale: [1, 5], direction: 1}}
""",
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_small_table_is_guessed(tmp_path, name):
    content, wanted = TABLES[name][0], yaml.safe_load(TABLES[name][1])
    text, data = guess(tmp_path, "my.csv", content)
    (source,) = data["sources"]
    assert {key: source.get(key) for key in wanted.get("source", {})} == wanted.get("source", {})
    assert data["labels"] == wanted.get("labels", data["labels"])
    if "scores" in wanted:
        marks = studies.judgements(tmp_path, text)
        assert marks.groupby("label")["score"].apply(list).to_dict() == wanted["scores"]
    assert [note for note in wanted.get("said", []) if note not in text] == []


def test_grids_of_turns_may_hold_answers_in_words(tmp_path):
    words = ["poor", "fair", "good", "excellent"]
    ranks = [[(i * 3 + k * 2 + i // 4) % 4 for k in range(4)] for i in range(12)]
    head = "id,bot,turn1_fluency,turn1_depth,turn2_fluency,turn2_depth"
    csv = lines(head, lambda i: ",".join([f"d{i}", "ab"[i % 2], *(words[rank] for rank in ranks[i])]), 12)
    text, data = guess(tmp_path, "my.csv", csv)
    assert data["sources"][0]["scores"] == "turn{turn}_{label}"
    assert list(data["labels"].values()) == [{"categories": words, "level": "ordinal", "direction": 1}] * 2
    found = studies.judgements(tmp_path, text).groupby("label")["score"].apply(sorted).to_dict()
    assert found == {
        label: sorted(1 + own[k] for own in ranks for k in (j, j + 2)) for j, label in enumerate(["fluency", "depth"])
    }


def test_a_column_a_label_with_texts_metrics_and_several_systems(tmp_path):
    csv = lines(
        "item,model,user,query,response,Overall quality,irrelevant,bleu,n_words",
        lambda i: f"{i // 2},{'AB'[i % 2]},u{i % 3},how are you {i // 2},I am {i},{1 + i % 5},{i % 2},0.{i}5,{i}",
        8,
    )
    text, data = guess(tmp_path, "my.csv", csv)
    (source,) = data["sources"]
    columns = source["columns"]
    assert (columns["context"], columns["user_text"], columns["annotator"]) == ("item", "query", "user")
    assert source["identify"] == {"dialogue": ["item", "model"]}
    assert source["label_names"] == {"Overall quality": "overall_quality"}
    assert data["labels"]["irrelevant"]["direction"] == -1
    assert "# not used: n_words: a different number in every row" in text
    built = studies.read(tmp_path, text)
    assert built.frames["dialogues"]["system"].tolist() == ["A", "B"] * 4
    assert built.frames["metric_scores"]["score"].tolist() == [round(0.05 + i / 10, 2) for i in range(8)]


ROWS = "".join(f"d{i // 2},w{i % 2},{1 + i % 5},{1000 * i + 7}\n" for i in range(12))
JUDGED = [{"id": i, "ratings": {"w1": {"a": 1 + i % 5}, "w2": {"a": 1 + i % 4}}} for i in range(9)]


ODD = ["\r", "\u2028", "\x7f", "\x01", "\ufeff", "\ufffe", "\U000e0001"]


@pytest.mark.parametrize(
    ("column", "odd"),
    [*(("fluency", odd) for odd in ODD), *((c, "\nlicence: CC0\n") for c in ("id", "annotator", "fluency", "big"))],
)
def test_no_header_breaks_the_yaml(tmp_path, column, odd):
    name = f"{column}{odd}x: y"
    head = "id,annotator,fluency,big".replace(column, f'"{name}"')
    text, data = guess(tmp_path, "my.csv", f"{head}\n{ROWS}")
    assert set(data) - {"open_questions"} == {"title", "method", "sources", "labels"}
    (source,) = data["sources"]
    if column == "fluency" and not odd.isspace():
        assert list(source["label_names"]) == [name]
    assert len(studies.judgements(tmp_path, text)) == 12


@pytest.mark.parametrize("odd", ["\nlicence: CC0\n", "\u2028"])
def test_no_key_of_json_breaks_the_yaml(tmp_path, odd):
    records = [r | {f"big{odd}x: y": 1000 * i} for i, r in enumerate(JUDGED)]
    text, data = guess(tmp_path, "my.json", json.dumps(records).replace('"a"', json.dumps(f"flu{odd}ency")))
    assert set(data) - {"open_questions"} == {"title", "method", "sources", "labels"}
    assert list(data["sources"][0]["label_names"]) == [f"flu{odd}ency"]
    assert len(studies.judgements(tmp_path, text)) == 18


@pytest.mark.parametrize(
    ("names", "ids"),
    [(["x" * 300, "x" * 299 + "y"], ["x" * 64, "x" * 59 + "_2"]), (["流畅", "连贯"], ["label", "label_2"])],
)
def test_ids_of_labels_are_short_and_differ(tmp_path, names, ids):
    rows = "".join(f"d{i // 2},w{i % 2},{1 + i % 5},{1 + i % 3}\n" for i in range(12))
    text, data = guess(tmp_path, "my.csv", f"id,annotator,{','.join(names)}\n{rows}")
    assert list(data["labels"]) == ids
    assert len(studies.judgements(tmp_path, text)) == 24


def test_long_cells_stay_out_of_the_yaml(tmp_path):
    rows = "".join(f"d{i},w,{1 + i % 5},{'QUJD' * 50_000}{i}\n" for i in range(6))
    text, data = guess(tmp_path, "my.csv", "id,annotator,fluency,image\n" + rows)
    assert list(data["labels"]) == ["fluency"]
    # among ratings: neither a rating nor, at that length, a word for a missing value
    text += guess(tmp_path, "my.csv", f"id,annotator,fluency\n{rows.replace(',QUJD', chr(10) + 'd9,w,QUJD')}")[0]
    assert len(text) < 5_000


def test_what_cannot_be_guessed(tmp_path):
    for content, found in (('{"x": 1}', "x"), ("[1, 2]", "nothing")):
        with pytest.raises(DataError, match=f"expected numbers or answers that look like judgements, found {found}"):
            guess(tmp_path, "my.json", content)
    with pytest.raises(DataError, match=r"none\.csv: expected a data file, found no such file"):
        draft.new_yaml("guessed", tmp_path / "none.csv")
    with pytest.raises(ParamsError, match="expected letters, digits and _"):
        draft.new_yaml("my-study", tmp_path / "my.json")


def test_a_table_of_too_many_rows_to_guess_from_is_refused(tmp_path, monkeypatch):
    (tmp_path / "my.csv").write_text("id,model,fluency\n" + "d1,A,3\n" * 3)
    monkeypatch.setattr(draft.limits, "GUESSED_ROWS", 2)
    with pytest.raises(DataError, match=r"my\.csv: expected at most 2 rows to guess from, found 3"):
        draft.new_yaml("mine", tmp_path / "my.csv")
