"""Exports of annotation tools: recognised, read without an edit, each judgement as it was written."""

import csv
import json
import re
from collections import Counter, defaultdict

import pandas as pd
import pytest
import yaml
from fixtures import exports
from fixtures import yaml_studies as studies
from fixtures.exports import EXPORTS, lines, save, table
from fixtures.harnesses import HARNESSES

from judgebook.extras.new import draft
from judgebook.study import limits, params
from judgebook.study.schema import DataError


def tried(folder, data):
    text = draft.new_yaml("tried", data)
    return text, studies.judgements(folder, text, "tried")


def judgements(marks):
    """(dialogue, system or systems, annotator, label, score, seconds) as read; missing values as None."""
    out = []
    for row in marks.itertuples():
        system = row.system if pd.isna(row.system_b) else (row.system, row.system_b)
        dialogue = row.dialogue if pd.isna(row.system_b) else row.context
        seconds = None if pd.isna(row.seconds) else row.seconds
        out.append((dialogue, None if system == "system" else system, row.annotator, row.label, row.score, seconds))
    return out


def by_annotator(rows):
    """What each did, whatever they are called: pseudonyms stand for the ids of the file."""
    out = defaultdict(list)
    for row in rows:
        out[row[2]].append((*row[:2], *row[3:]))
    return Counter(frozenset(Counter(done).items()) for done in out.values())


@pytest.mark.parametrize("tool", EXPORTS)
def test_every_judgement_is_read(tmp_path, tool):
    data, written = EXPORTS[tool](tmp_path)
    text, marks = tried(tmp_path, data)
    recognised = re.findall(r"^# Recognised(?: in its folder: \S+ of|: an export of) (.*?)[ .]\(?", text, re.MULTILINE)
    assert len(recognised) == 1
    assert tool.startswith(recognised[0])
    read = judgements(marks)
    if tool == "Chatbot Arena":
        read = [(d.removesuffix("_1"), *row) for d, *row in read]
    if tool == "JUDGE-BENCH":  # nobody is known beyond an item
        assert not marks["annotator_known"].any()
        read, written = ([(d, s, None, *row) for d, s, _, *row in of] for of in (read, written))
    assert by_annotator(read) == by_annotator(written)
    models = {row[2] for row in written} & {"gpt-4o", "judge x"}
    assert set(marks.loc[marks["annotator_kind"] == "llm", "annotator"]) == models


PAGE = (params.ROOT / "docs" / "presets.md").read_text(encoding="utf-8")
SHOWN = [*EXPORTS, *(tool for tool in HARNESSES if f"\n## {tool}\n" in PAGE)]
BLOCKS = dict(zip(SHOWN, re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL), strict=False))


@pytest.mark.parametrize("tool", SHOWN)
def test_the_page_shows_what_new_writes(tmp_path, tool):
    data, written, *_ = (EXPORTS | HARNESSES)[tool](tmp_path)
    text = draft.new_yaml("my_study", data)
    shown = yaml.safe_load(text.replace(f"{tmp_path.resolve().as_posix()}/", ""))
    shown.pop("open_questions", None)
    assert yaml.safe_load(BLOCKS[tool]) == shown
    scores = [row[4] for row in written if row[3] == written[0][3]]
    tries, edits, _, n, value = re.search(rf"^\| {tool} \|(.*)\|$", PAGE, re.MULTILINE)[1].split("|")
    assert (int(tries), int(edits), int(n)) == (1, 0, len(scores))
    ties = f"{scores.count(0)} ties"
    assert value.strip() == (ties if tool == "Chatbot Arena" else f"{sum(scores) / len(scores):.3f}")


def test_several_choices_at_once_are_a_set(tmp_path):
    data, _ = EXPORTS["Label Studio, JSON"](tmp_path)
    tasks = json.loads(data.read_text())
    for i, task in enumerate(tasks):
        for one in task["annotations"]:
            picked = ["rude", "wrong", "vague"][: 1 + i % 3]
            one["result"].append({"from_name": "faults", "type": "choices", "value": {"choices": picked}})
    data.write_text(json.dumps(tasks))
    text, marks = tried(tmp_path, data)
    assert yaml.safe_load(text)["labels"]["faults"] == {"categories": ["rude", "vague", "wrong"], "level": "sets"}
    assert set(marks.loc[marks["label"] == "faults", "score"]) == {1, 1 + 4, 1 + 2 + 4}


def test_people_by_number_in_label_studio(tmp_path):
    """A path that is only tried may fail in every record: in more than a run would list."""
    data, written = EXPORTS["Label Studio, JSON"](tmp_path)
    tasks = json.loads(re.sub(r'"completed_by": \{"id": ([0-9]+), [^}]*\}', r'"completed_by": \1', data.read_text()))
    assert by_annotator(judgements(tried(tmp_path, save(data, tasks))[1])) == by_annotator(written)
    many = [tasks[i % len(tasks)] | {"id": i} for i in range(limits.PROBLEMS + 1)]
    assert 'annotator: "annotations.[].completed_by"' in draft.new_yaml("tried", save(data, many))


def test_accepted_and_rejected_labels_of_prodigy(tmp_path):
    given = [("d1", "ann", "accept"), ("d1", "ben", "reject"), ("d2", "ann", "reject"), ("d2", "ben", "ignore")]
    held = [
        {"text": f"Well, {d}.", "label": "polite", "answer": answer, "_input_hash": d, "_task_hash": d}
        | {"_annotator_id": f"x-{who}", "meta": {"model": "m"}}
        for d, who, answer in given * 3
    ]
    for i, record in enumerate(held):
        record["_input_hash"] = f"{record['_input_hash']}_{i // 4}"
    _, marks = tried(tmp_path, save(tmp_path / "binary.jsonl", lines(held)))
    read = Counter((row[0][:2], row[3], row[4]) for row in judgements(marks))
    assert read == {("d1", "polite", 1): 3, ("d1", "polite", 0): 3, ("d2", "polite", 0): 3}


def test_radio_buttons_of_mturk(tmp_path):
    """A column for each answer, true in one of them."""
    data, written = EXPORTS["Amazon Mechanical Turk"](tmp_path)
    with data.open() as file:
        head, *body = csv.reader(file)
    where, other = head.index("Answer.fluency.label"), head.index("Answer.relevance")
    new = [[*head[:where], *(f"Answer.{x}.{n}" for x in exports.LABELS for n in range(1, 6)), *head[-2:]]]
    for row in body:
        ticks = [str(row[c][0] == str(n)).lower() for c in (where, other) for n in range(1, 6)]
        new.append([*row[:where], *ticks, "", ""])
    _, marks = tried(tmp_path, save(data, table(new)))
    assert by_annotator(judgements(marks)) == by_annotator(written)


def test_prolific_alone_holds_no_judgements(tmp_path):
    EXPORTS["Prolific"](tmp_path)
    with pytest.raises(DataError, match="who took part, not what they answered; give `new` the survey"):
        draft.new_yaml("tried", tmp_path / "prolific_export_6a.csv")


@pytest.mark.parametrize(
    ("head", "pattern"),
    [
        (["Fluent? [Chat 1]", "Fluent? [Chat 2]", "Relevant? [Chat 1]", "Relevant? [Chat 2]"], "{label} [{dialogue}]"),
        (["Chat 1 [fluency]", "Chat 1 [quality]", "Chat 2 [fluency]", "Chat 2 [quality]"], "{dialogue} [{label}]"),
        ([f"Is it fluent? [Chat {n}]" for n in range(1, 6)], "{label} [{dialogue}]"),
    ],
)
def test_grids_of_dialogues_in_google_forms(tmp_path, head, pattern):
    body = [[f"01/05/2024 9:0{i}:00", *(1 + (i * 3 + k * k) % 5 for k in range(len(head)))] for i in range(6)]
    text, marks = tried(tmp_path, save(tmp_path / "form.csv", table([["Timestamp", *head], *body])))
    assert yaml.safe_load(text)["sources"][0]["scores"] == pattern
    assert "Who judged? Assumed: each row is a different person's." in text
    assert len(judgements(marks)) == 6 * len(head)
    assert {row[0] for row in judgements(marks)} == {f"Chat {n}" for n in range(1, 3 if len(head) == 4 else 6)}


def test_an_export_without_scores_is_refused(tmp_path):
    data, _ = EXPORTS["Label Studio, JSON"](tmp_path)
    tasks = json.loads(data.read_text())
    for one in (one for task in tasks for one in task["annotations"]):
        one["result"] = [result for result in one["result"] if result["type"] == "textarea"]
    with pytest.raises(DataError, match=r"expected scores of Label Studio at .*value\.rating or .*, found none"):
        draft.new_yaml("tried", save(data, tasks))


def test_a_survey_of_qualtrics_with_the_status_of_prolific(tmp_path):
    data, written = EXPORTS["Qualtrics"](tmp_path)
    people = {who: f"5f{i:022d}" for i, who in enumerate(exports.PEOPLE)}
    content = data.read_text().replace("rater", "PROLIFIC_PID")
    for who, number in people.items():
        content = content.replace(f",EN,{who},", f",EN,{number},")
    save(data, content)
    status = [["Submission id", "Participant id", "Status"]]
    status += [[f"6a{p}", p, "RETURNED" if who == "eve" else "APPROVED"] for who, p in people.items()]
    save(tmp_path / "prolific_export.csv", table(status))
    text, marks = tried(tmp_path, data)
    (source,) = yaml.safe_load(text)["sources"]
    assert set(source["drop"]) == {"Status", "prolific.Status"}
    assert by_annotator(judgements(marks)) == by_annotator([w for w in written if w[2] != "eve"])
