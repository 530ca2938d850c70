"""Projects for annotation tools: what is asked, who judges what, and that the answers come back as they were given."""

import json
from collections import Counter
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from judgebook.extras.annotate import label_studio, pages, writing
from judgebook.sources import build, in_words
from judgebook.sources.rows import training
from judgebook.study import params
from judgebook.study.params import ParamsError
from judgebook.study.schema import DataError
from judgebook.study.sections.data import TrainingItem

HOSTILE = '<script>alert("1")</script> & $dialogue ]]> \x00\x1b \u202e =1+1 {{ x }} </View>'
SYSTEMS = ("alpha", "beta", "gamma")
STUDY = """\
title: 'Chats <b>&</b> $response'
sources: [{adapter: table, file: absent.csv, layout: wide, columns: {dialogue: d, annotator: a}, scores: "{label}"}]
labels:
  fluent: {method: turn_rating, scale: [0, 1]}
  mood: {method: turn_rating, categories: ["Yes", "No", "$text <i>"]}
  topics: {method: turn_rating, categories: [food, sport, art], level: sets}
  overall: {method: dialogue_rating, scale: [1, 5]}
  slider: {method: dialogue_rating, scale: [0, 100]}
  better: {method: comparative, scale: [-1, 1]}
elicitation:
  instructions: "Read $dialogue first, <script>"
  definitions: {fluent: 'Reads "well" & <b>clear</b>, costs $5 or $text'}
  training:
    - {dialogue: d0a, turn: 1, answers: {fluent: "Yes"}, why: It is.}
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path / "out"))
    (tmp_path / "chats.yaml").write_text(STUDY, encoding="utf-8")
    return tmp_path / "chats.yaml"


@pytest.fixture
def said(tmp_path):
    """Two dialogues a session, of different systems, three turns each."""
    rows = [
        {"dialogue": f"d{n}{side}", "system": SYSTEMS[(n + i) % 3], "session": f"s{n}", "turn": turn}
        | {"user_text": f"u{n}{side}{turn} {HOSTILE}", "system_text": f"r{n}{side}{turn} {HOSTILE}"}
        for n in range(12)
        for i, side in enumerate("ab")
        for turn in range(3)
    ]
    path = tmp_path / "said.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def projects(study, said, **options):
    assert writing.command(str(study), file=said, people=3, overlap=5, **options) == 0
    return study.parent / "out" / "annotation" / "chats"


def keys(folder):
    return {k["id"]: k for k in map(json.loads, (folder / "key.jsonl").read_text(encoding="utf-8").splitlines())}


def test_nobody_judges_more_than_allowed(study, said):
    frame = pages.dialogues(params.load(str(study)), said)
    items = pages.bundles(frame, "turn_rating")
    planned = pages.plan(items, 3, 6, seed=4, at_most=10)
    assert [len({x.item["dialogue"] for x in planned if x.person == p}) for p in (1, 2, 3)] == [10, 10, 10]
    with pytest.raises(ParamsError, match=r"--at-most 9: expected at least 4 annotators for 24 .* --annotators 4"):
        pages.plan(items, 3, 6, seed=4, at_most=9)
    with pytest.raises(ParamsError, match=r"at least 5 annotators"):
        pages.plan(items, 4, 0, seed=4, each=4, at_most=20)
    assert pages.plan(items, 5, 0, seed=4, each=4, at_most=20)


def test_items_are_divided_evenly_and_as_many_judged_twice_as_asked_for(study, said):
    frame = pages.dialogues(params.load(str(study)), said)
    items = pages.bundles(frame, "turn_rating")
    planned = pages.plan(items, 3, 5, seed=4)
    per_dialogue = Counter(p.item["dialogue"] for p in planned)
    assert Counter(per_dialogue.values()) == {3: 24 - 5, 6: 5}
    load = Counter(p.person for p in planned)
    assert max(load.values()) - min(load.values()) <= 3
    twice = Counter(d["system"] for d in (p.item for p in planned) if per_dialogue[d["dialogue"]] == 6)
    assert max(twice.values()) - min(twice.values()) <= 6  # a dialogue of one system more, of six pages
    for person in load:
        mine = [(p.item["dialogue"], p.item["turn"]) for p in planned if p.person == person]
        assert len(set(mine)) == len(mine)
        assert [t for _, t in mine] == [0, 1, 2] * (len(mine) // 3)
    orders = [[p.item["dialogue"] for p in planned if p.person == person] for person in load]
    assert all(order != sorted(order) for order in orders)
    assert pages.plan(items, 3, 5, seed=4) == planned
    assert pages.plan(items, 3, 5, seed=5) != planned


def test_as_many_annotators_judge_each_dialogue_as_planned(study, said):
    frame = pages.dialogues(params.load(str(study)), said)
    planned = pages.plan(pages.bundles(frame, "dialogue_rating"), 4, 6, seed=1, each=2)
    judged = {}
    for page in planned:
        judged.setdefault(page.item["dialogue"], []).append(page.person)
    assert Counter(map(len, judged.values())) == {2: 24 - 6, 3: 6}
    assert all(len(set(who)) == len(who) for who in judged.values())
    with pytest.raises(ParamsError, match="--each 3"):
        writing.command(str(study), file=said, people=2, each=3)


def test_half_of_the_pairs_are_swapped_and_the_key_undoes_it(study, said):
    frame = pages.dialogues(params.load(str(study)), said)
    items = pages.bundles(frame, "comparative")
    assert len(items) == 12
    planned = pages.plan(items, 2, 12, seed=1)
    assert [sum(p.swapped for p in planned if p.person == n) for n in (1, 2)] == [6, 6]
    for page in planned:
        key = page.key
        first, second = (key["dialogue_b"], key["dialogue"]) if key["swapped"] else (key["dialogue"], key["dialogue_b"])
        assert (first[-1], second[-1]) == ("a", "b")
        system = frame.drop_duplicates("dialogue").set_index("dialogue")["system"]
        assert (system[key["dialogue"]], system[key["dialogue_b"]]) == (key["system"], key["system_b"])


def test_nothing_that_annotators_can_see_names_a_system_or_dialogue(study, said):
    folder = projects(study, said)
    for method in ("turn_rating", "dialogue_rating", "comparative"):
        shown = (folder / method / "tasks.json").read_text(encoding="utf-8")
        assert not any(f'"{name}"' in shown for name in (*SYSTEMS, "d0a", "d1b", "s3"))
        assert "r1b2" in shown


def test_texts_stay_texts_in_xml_and_json(study, said):
    folder = projects(study, said) / "turn_rating"
    root = ElementTree.fromstring((folder / "config.xml").read_text(encoding="utf-8"))
    # what Label Studio would fill in are the project's own fields only
    values = [v.replace("$\u200b", "").replace("$5", "") for e in root.iter() for k, v in e.items() if k != "alias"]
    assert {v for v in values if "$" in v} == {"$history", "$response", "$why"}
    tasks = json.loads((folder / "tasks.json").read_text(encoding="utf-8"))
    response = tasks[-1]["data"]["response"]
    assert "<script>alert" in response
    assert not set(response) & set("\x00\x1b\u202e")


def answer(question, rng):
    if not question.options:
        score = float(rng.integers(0, 101))
        return [f"{score:g}"], score
    if question.several:
        picked = [o for o in question.options if rng.random() < 0.5] or [question.options[0]]
        return picked, sum(2 ** question.options.index(o) for o in picked)
    one = question.options[rng.integers(len(question.options))]
    return [one], one.score


def as_label_studio(folder, asked):
    """An export as Label Studio 1.23 writes it."""
    rng, truth, out = np.random.default_rng(1), [], []
    tasks = json.loads((folder / "tasks.json").read_text(encoding="utf-8"))
    for n, (task, key) in enumerate(zip(tasks, keys(folder).values(), strict=True)):
        assert task["data"]["item"] == key["id"]
        result = []
        for question in asked:
            given, score = answer(question, rng)
            value = {"choices": [o.code for o in given]} if question.options else {"number": float(given[0])}
            result.append({"from_name": question.name, "to_name": "x", "type": "choices", "value": value})
            truth += [(key, question.label.id, score)] if key["phase"] == "main" else []
        done = {"id": n + 50, "completed_by": key["planned_for"], "result": result, "was_cancelled": False}
        out.append(task | {"id": n + 1, "annotations": [done | {"lead_time": 4.5}], "predictions": []})
    (folder / writing.EXPORT).write_text(json.dumps(out))
    return truth


def same_side(key, label, score):
    if key.get("dialogue_b") and key["dialogue_b"] < key["dialogue"]:
        return key["dialogue_b"], key["dialogue"], None, label, -score + 0.0
    return key["dialogue"], key.get("dialogue_b"), key.get("turn"), label, float(score)


@pytest.mark.parametrize("method", ["turn_rating", "dialogue_rating", "comparative"])
def test_answers_come_back_as_they_were_given(study, said, method):
    folder = projects(study, said, methods=[method]) / method
    asked = label_studio.questions(params.load(str(study)), method)
    truth = Counter(same_side(*one) for one in as_label_studio(folder, asked))
    built = build.build(params.load(str(folder / "chats_annotated.yaml")))
    assert [line for line in in_words.not_used(built.unused) if line.startswith("warning")] == []
    found = built.frames["annotations"]
    assert found["annotator"].nunique() == 3
    rows = found.astype(object).where(found.notna(), None).to_dict("records")
    assert Counter(same_side(row, row["label"], row["score"]) for row in rows) == truth
    assert set(found["system"]) | set(found["system_b"].dropna()) == set(SYSTEMS)
    if method == "comparative":  # the side that was shown first is known, and turned with the comparison
        assert set(found["first_shown"]) <= {"left", "right"}


def test_training_comes_first_for_everybody_and_is_not_judged_again(study, said):
    folder = projects(study, said, methods=["turn_rating"]) / "turn_rating"
    held = list(keys(folder).values())
    for person in (1, 2, 3):
        mine = [k for k in held if k["planned_for"] == person]
        assert [k["phase"] for k in mine] == ["training"] + ["main"] * (len(mine) - 1)
        assert (mine[0]["dialogue"], mine[0]["turn"]) == ("d0a", 1)
    assert not [k for k in held if k["phase"] == "main" and k["dialogue"] == "d0a"]
    with pytest.raises(ParamsError, match="nowhere"):
        pages.training(pd.DataFrame(columns=["dialogue", "turn"]), [TrainingItem(dialogue="nowhere")], "dialogue", 1)


def test_training_is_compared_with_the_intended_answers(study, said):
    """What was answered to d0a, turn 1, is no data; whoever did not mark it as fluent made a mistake."""
    folder = projects(study, said, methods=["turn_rating"], labels=["fluent"]) / "turn_rating"
    as_label_studio(folder, label_studio.questions(params.load(str(study)), "turn_rating", ["fluent"]))
    of = {k["id"]: k["planned_for"] for k in keys(folder).values() if k["phase"] == "training"}
    tasks = [t for t in json.loads((folder / writing.EXPORT).read_text()) if t["data"]["item"] in of]
    picked = {of[t["data"]["item"]]: t["annotations"][0]["result"][0]["value"]["choices"] for t in tasks}
    given = {person: int(choices == ["1"]) for person, choices in picked.items()}
    assert set(given.values()) == {0, 1}  # the seed gives both, so that one passes and one does not
    frames = build.build(params.load(str(folder / "chats_annotated.yaml"))).frames
    assert not frames["annotations"]["dialogue"].eq("d0a").any()
    tried = frames["screening"]
    assert sorted(tried["mistakes"]) == sorted(1 - score for score in given.values())
    assert set(tried["dialogue"]) == {"d0a"}
    assert set(tried["attempt"]) == {0}
    dropped = frames["counts"].query("action == 'dropped' and what == 'annotations'")
    assert dropped["n"].tolist() == [len(given)]


def test_intended_answers_are_read_as_the_tool_shows_them(study):
    held = params.load(str(study))
    labels = {label.id: label for label in held.label_list()}
    for name, answer, score in [
        ("fluent", "yes", 1),
        ("mood", "No", 1),
        ("topics", "food, art", 5),
        ("overall", "4", 4),
        ("better", "B is better", -1),
        ("better", "neither", 0),
    ]:
        assert training.score_of(answer, labels[name]) == score
    for name, answer in [("fluent", "maybe"), ("overall", 6), ("topics", "food, law"), ("better", "left")]:
        assert training.score_of(answer, labels[name]) is None


def test_an_intended_answer_that_cannot_be_given_is_named(study, said):
    folder = projects(study, said, methods=["turn_rating"], labels=["fluent"]) / "turn_rating"
    as_label_studio(folder, label_studio.questions(params.load(str(study)), "turn_rating", ["fluent"]))
    path = folder / "chats_annotated.yaml"
    path.write_text(path.read_text().replace("fluent: 'Yes'", "fluent: perhaps"))
    with pytest.raises(DataError, match=r"training.0.answers.fluent: expected an answer .* found 'perhaps'"):
        build.build(params.load(str(path)))


ID = "expected the id of the"
TURN = "turn: expected a whole number, 0 or more, found"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            [("", "A", 0), ("d1", "A", 0), (None, "A", 1)],
            [f"1, dialogue: {ID} dialogue", f"3, dialogue: {ID} dialogue"],
        ),
        ([("d1", "A", 0), ("d1", "B", 1)], ["2, system: expected one system per dialogue, found 'B' after 'A'"]),
        ([("d1", "A", 1.5), ("d1", "A", 1.7)], [f"1, {TURN} '1.5'", f"2, {TURN} '1.7'"]),
        ([("d1", "A", float("inf")), ("d1", "A", -1)], [f"1, {TURN} 'inf'", f"2, {TURN} '-1'"]),
        (
            [("d1", "A", 1), ("d2", "A", 1), ("d1", "A", "1")],
            ["3, turn: expected one row per turn, found a second row for turn 1 of 'd1'"],
        ),
    ],
)
def test_dialogues_of_a_file_without_ids_or_that_contradict_each_other_are_refused(study, tmp_path, rows, said):
    path = tmp_path / "odd.json"
    keys = ("dialogue", "system", "turn")
    path.write_text(json.dumps([dict(zip(keys, row, strict=True), user_text="u", system_text="s") for row in rows]))
    with pytest.raises(DataError) as error:
        pages.dialogues(params.load(str(study)), path)
    problems = list(map(str, error.value.problems))
    assert all(any(f"odd.json, record {one}" in problem for problem in problems) for one in said)
    assert len(problems) == len(said)


def test_turns_may_be_missing_and_rows_without_text_are_passed_over(study, tmp_path):
    path = tmp_path / "chats.csv"
    path.write_text("dialogue,system,turn,user_text,system_text\nd1,A,,u,s\nd1,A,,v,t\nd2,B,1.0,u,s\n,,x,,\n")
    frame = pages.dialogues(params.load(str(study)), path)
    assert frame[["dialogue", "turn"]].values.tolist() == [["d1", 0], ["d1", 1], ["d2", 1]]


@pytest.mark.parametrize("shared", ["session", "context"])
def test_of_dialogues_drawn_for_pairs_all_of_a_session_or_context_are_kept(shared):
    rows = [
        {"corpus": "main", "dialogue": f"{s}{n}", "system": s, "session": None, "context": None, shared: f"c{n}"}
        for n in range(100)
        for s in "abcd"
    ]
    frame = pd.DataFrame(rows).assign(turn=0, user_text="u", system_text="r")
    drawn = pages.chosen(frame, 5, 1, pairs=True)
    assert drawn["system"].value_counts().to_dict() == dict.fromkeys("abcd", 5)
    assert len(pages.bundles(drawn, "comparative")) == 5 * 6
    apart = pages.chosen(frame.assign(session=None), 5, 1)
    assert apart["system"].value_counts().to_dict() == dict.fromkeys("abcd", 5)
