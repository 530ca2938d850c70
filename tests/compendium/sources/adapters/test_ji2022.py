"""Ji et al. 2022: two kinds of file joined and compared; scores reversed where high is bad; facts kept for later."""

import csv
import io
import json
import re

import pytest
from fixtures.raw_file_studies import build_from, counted
from hypothesis import given
from hypothesis import strategies as st

from compendium.sources.adapters import ji2022_chat as chat
from judgebook.study.schema import DataError

NAMES = ["robotic", "interesting", "fun", "consistent", "fluent", "repetitive", "topic"]
YAML = """
method: continuous
control_system: qc
sources:
  - adapter: ji2022
    runs:
      first:
        files: [one.csv]
        passed: [pass.json]
        failed: [fail.json]
        fitted_failed: [1]
labels:
""" + "".join(f"  {name}: {{scale: [0, 100], level: interval}}\n" for name in NAMES)
#: without the files that name systems and verdicts
ALONE = YAML.replace("        passed: [pass.json]\n        failed: [fail.json]\n        fitted_failed: [1]\n", "")
TYPES = ["seq2seq", "qc", "seq2seq", "kvmemnn", "lan_model", "biencoder"]
MODELS = ["D", "QualityControl", "D_p", "C", "E_p", "A"]
COLUMNS = ["HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "RequesterFeedback", "WorkTimeInSeconds"]


def answers(i0=0):
    """One assignment: chats 0 to 5, the first with a change of topic."""
    out = {}
    for i, task in enumerate(TYPES):
        out[f"task{i}"] = task
        out[f"score{i}"] = f"{90 + i}#1#2#3#4#5#{i0}#"
        out[f"dialogue{i}"] = f"u: hi {i}###b: b: a ### or so###u: well###b: bye###"
        out[f"topic{i}"] = "#0@cats"
        out[f"topic_opinion{i}"] = "#0@like"
    out |= {"topic0": "#0@cats#1@dogs #1", "topic_opinion0": "#0@like#1@dislike"}
    return out | {"topic_change_opinion0": "#1@bot change", "topic_chatbot_opinion0": "#1@ambivalent"}


def released(assignment, worker, i0=0):
    chats = []
    for i, model in enumerate(MODELS):
        scores = dict(zip(NAMES, [100 - 90 - i, 1, 2, 3, 4, 95, i0], strict=True))
        said = [{"round": 1, "user": f"hi {i}", "bot": "b: a ### or so"}, {"round": 2, "user": "well", "bot": "bye"}]
        chats.append({"model": model, "dialogue": said, "raw scores": scores})
    return {"AssignmentId": assignment, "HITId": "H", "WorkerId": worker, "data": chats}


def table(*rows):
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow([*COLUMNS, "Answer.taskAnswers"])
    writer.writerows(rows)
    return out.getvalue()


def files(**change):
    rows = [
        ["H1", "ASG0", "AWORKER", "Approved", "two\r\nlines", "600", json.dumps([answers()])],
        ["H1", "ASG1", "BWORKER", "Submitted", "", "720", json.dumps([answers(7)])],
        ["H2", "ASG2", "CWORKER", "Rejected", "", "90", '[{"feedback": "nice"}]'],
    ]
    made = {
        "one.csv": table(*rows),
        "pass.json": [released("ASG1", "BWORKER", 7)],
        "fail.json": [released("ASG0", "AWORKER")],
    }
    return made | change


@pytest.fixture(scope="module")
def mini(tmp_path_factory):
    return build_from(tmp_path_factory.mktemp("ji"), YAML, files())


def test_scores_are_reversed_where_high_is_bad(mini):
    marks = mini.frames["annotations"]
    first = marks[marks["dialogue"] == "first-000-0"].set_index("label")["score"]
    assert first.to_dict() == dict(zip(NAMES, [10, 1, 2, 3, 4, 95, 0], strict=True))
    assert len(marks) == 2 * 6 * 7
    assert counted(mini, "annotations", "mended") == {"reversed to 100 - x, so that high is good": 2 * 6 * 2}


def test_systems_come_from_the_json_files_and_a_type_may_occur_twice(mini, tmp_path):
    systems = mini.frames["annotations"].drop_duplicates("dialogue").set_index("dialogue")["system"][:6]
    assert systems.to_dict() == {f"first-000-{i}": s for i, s in enumerate(["d", "qc", "d_p", "c", "e_p", "a"])}
    alone = build_from(tmp_path, ALONE, files())
    assert set(alone.frames["annotations"]["system"]) == set(TYPES)
    assert "released_pass" not in set(alone.frames["dialogue_facts"]["key"])


def test_an_assignment_without_answers_is_a_work_unit_but_no_dialogue(mini):
    units = mini.frames["work_units"]
    assert units["n_dialogues"].tolist() == [6, 6, 0]
    assert units["seconds"].tolist() == [600, 720, 90]
    assert units["annotator"].nunique() == 3
    assert counted(mini, "assignments", "dropped") == {"no answers; kept as a work unit": 1}
    assert set(mini.frames["annotations"]["seconds"]) == {600, 720}


def test_texts_keep_rounds_and_the_order_of_chats(mini):
    texts = mini.frames["dialogues"]
    second = texts.loc[texts["dialogue"] == "first-000-1", ["turn", "user_text", "system_text", "order_shown"]]
    assert second.to_numpy().tolist() == [[0, "hi 1", "b: a ### or so", 1], [1, "well", "bye", 1]]
    assert texts["interactor"].nunique() == 2


def test_facts_hold_verdicts_hits_and_topics(mini):
    facts = mini.frames["dialogue_facts"]
    first = facts[(facts["dialogue"] == "first-000-0") & facts["turn"].notna()]
    assert first[["turn", "key", "value", "text"]].to_numpy().tolist() == [
        [0, "topic_opinion", "like", "cats"],
        [1, "topic_opinion", "dislike", "dogs #1"],
        [1, "topic_change_opinion", "ambivalent", "bot change"],
    ]
    whole = facts[facts["turn"].isna()].pivot_table(index="dialogue", columns="key", values="value", aggfunc="first")
    columns = ["fitted_pass", "hit", "hit_status", "released_pass"]
    assert whole.loc["first-000-0", columns].tolist() == ["no", "h000", "Approved", "no"]
    assert whole.loc["first-001-5", columns].tolist() == ["no", "h000", "Submitted", "yes"]


def test_no_platform_id_is_left_not_even_one_typed_into_a_chat(tmp_path):
    typed = answers() | {"dialogue0": "u: i am BWORKER###b: bworker?###u: or a.b@c.de###b: ok###"}
    row = ["H1", "ASG1", "BWORKER", "Approved", "", "600", json.dumps([typed])]
    built = build_from(tmp_path, ALONE, {"one.csv": table(row)})
    texts = built.frames["dialogues"].query("dialogue == 'first-000-0'")
    assert texts["user_text"].tolist() == ["i am [removed]", "or [removed]"]
    assert texts["system_text"].tolist() == ["[removed]?", "ok"]
    assert counted(built, "texts", "mended") == {"a worker's id, e-mail address or phone number taken out": 3}
    for name, frame in built.frames.items():
        assert not set(re.findall(r"\w+", frame.to_csv())) & {"BWORKER", "ASG1", "H1"}, name


def _row(**change):
    cells = answers() | change
    return table(["H1", "ASG0", "AWORKER", "Approved", "", "600", json.dumps([cells])])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fail.json": []}, "one.csv, row 2, chat 0: expected the same worker, scores and text in the JSON files"),
        ({"one.csv": _row(score1="1#2#3#")}, "row 2, chat 1, score1: expected 7 whole numbers, each followed by #"),
        ({"one.csv": _row(task0="kvmemnn")}, "row 2, chat 2, task2: expected kvmemnn, which is model D_p elsewhere"),
        ({"one.csv": _row(topic_opinion1="#2@like")}, "row 2, chat 1, topic_opinion1: expected the rounds of topic1"),
        ({"one.csv": _row()}, "pass.json, AssignmentId: expected assignments of the CSV files, found 1 others"),
        ({"one.csv": table(["H", "A", "W", "", "", "6", "[{]"])}, "row 2, Answer.taskAnswers: expected a JSON list"),
        ({"one.csv": _row().replace("AWORKER", " ")}, "one.csv, row 2, WorkerId: expected a value, found nothing"),
        (
            {"one.csv": table(*[["H1", "ASG0", "AWORKER", "", "", "600", json.dumps([answers()])]] * 2)},
            "one.csv, row 3, AssignmentId: expected each assignment once, found a repeat of one.csv, row 2",
        ),
    ],
)
def test_what_does_not_fit_is_named(tmp_path, change, message):
    with pytest.raises(DataError) as error:
        build_from(tmp_path, YAML, files(**change))
    assert any(message in str(problem) for problem in error.value.problems)


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=12).map(
    lambda words: words.replace("###", "#").strip().strip("#")
)


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=4))
def test_a_written_chat_is_read_back(said):
    text = "".join(f"u: {user}###b: {bot}###" for user, bot in said)
    assert chat.turns(text) == said


@given(st.lists(st.tuples(st.integers(0, 30), WORDS.filter(lambda w: "@" not in w)), max_size=4))
def test_written_rounds_are_read_back(said):
    assert chat.rounds("".join(f"#{n}@{words}" for n, words in said)) == said
