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
from fixtures.exports import EXPORTS, lines, said, save, table

from judgebook.extras.new import draft, presets
from judgebook.sources import build, in_words
from judgebook.study import limits, params, yaml_file
from judgebook.study.schema import DataError

TOOLS = [yaml_file.read(path, presets.Tool) for path in sorted(presets.FOLDER.glob("*.yaml"))]


def tried(folder, data):
    """The YAML that `new` writes for a file, and what it reads."""
    text = draft.new_yaml("tried", data)
    return text, build.build(params.load(studies.write(folder, text, name="tried")))


def judgements(built):
    """(dialogue, system or systems, annotator, label, score, seconds) as read; missing values as None."""
    out = []
    for row in built.frames["annotations"].itertuples():
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
    _, built = tried(tmp_path, data)
    read = judgements(built)
    if tool == "Chatbot Arena":
        read = [(d.removesuffix("_1"), *row) for d, *row in read]
    if tool == "JUDGE-BENCH":  # nobody is known beyond an item
        assert not built.frames["annotations"]["annotator_known"].any()
        assert Counter((*r[:2], *r[3:]) for r in read) == Counter((*w[:2], *w[3:]) for w in written)
        return
    assert by_annotator(read) == by_annotator(written)
    models = {row[2] for row in written} & {"gpt-4o", "judge x"}
    marks = built.frames["annotations"]
    assert set(marks.loc[marks["annotator_kind"] == "llm", "annotator"]) == models


def records(folder, name):
    content = (folder / name).read_text()
    return [json.loads(line) for line in content.splitlines()] if name.endswith("l") else json.loads(content)


def rows(folder, name):
    with (folder / name).open() as file:
        return list(csv.DictReader(file))


WORDS = exports.WORDS["en"]


def label_studio(folder):
    done = [a for t in records(folder, "project-4.json") for a in t["annotations"] if not a["was_cancelled"]]
    return [r["value"]["rating"] for a in done for r in a["result"] if "rating" in r["value"]]


def potato(folder):
    return [int(next(iter(r["labels"]["fluency"].values()))) for r in records(folder, "annotations.jsonl")]


def qualtrics(folder):
    return [int(r["Q1_1"]) for r in rows(folder, "survey.csv")[2:] if r["Status"] == "IP Address"]


def prolific(folder):
    status = {r["Participant id"]: r["Status"] for r in rows(folder, "prolific_export_6a.csv")}
    return [int(r["fluency"]) for r in rows(folder, "survey.csv") if status[r["participant_id"]] == "APPROVED"]


def mturk(folder):
    done = [r for r in rows(folder, "Batch_1_batch_results.csv") if r["AssignmentStatus"] == "Approved"]
    return [int(r["Answer.fluency.label"][0]) for r in done]


def argilla(folder):
    return [x["value"] for r in records(folder, "records.json") for x in r["responses"]["fluency"]]


def judge_bench(folder):
    every = [i["annotations"]["fluency"]["individual_human_scores"] for i in records(folder, "chats.json")["instances"]]
    return [x for scores in every for x in scores]


def alt_test(folder):
    both = [records(folder, f"{who}_annotations.json") for who in ("human", "llm")]
    return [x for held in both for own in held.values() for x in own.values()]


def prodigy(folder):
    return [r["accept"][0] for r in records(folder, "chats.jsonl") if r["answer"] == "accept"]


def doccano(folder):
    return [int(x) for who in exports.PEOPLE for r in records(folder, f"{who}.jsonl") for x in r["label"]]


def forms(folder):
    return [WORDS.index(r["Rate the chat [fluency]"]) + 1 for r in rows(folder, "Rate the chats.csv")]


def arena(folder):
    return [{"model_a": 1, "model_b": -1}.get(r["winner"], 0) for r in records(folder, "battles.json")]


def csv_ratings(folder):
    return [json.loads(r["fluency"])[0]["rating"] for r in rows(folder, "project-4.csv")]


ALONE = {
    "Label Studio, JSON": (label_studio, "fluency"),
    "Label Studio, CSV": (csv_ratings, "fluency"),
    "Argilla": (argilla, "fluency"),
    "Potato": (potato, "fluency"),
    "Prodigy": (prodigy, "choice"),
    "doccano": (doccano, "label"),
    "Amazon Mechanical Turk": (mturk, "fluency"),
    "Qualtrics": (qualtrics, "q1_1"),
    "Google Forms": (forms, "fluency"),
    "Prolific": (prolific, "fluency"),
    "Chatbot Arena": (arena, "better"),
    "JUDGE-BENCH": (judge_bench, "fluency"),
    "AltTest": (alt_test, "score"),
}


@pytest.mark.parametrize("tool", EXPORTS)
def test_two_values_that_json_and_csv_alone_give(tmp_path, tool):
    """The number of judgements with one label, and their mean."""
    data, _ = EXPORTS[tool](tmp_path)
    alone, label = ALONE[tool]
    wanted = alone(tmp_path)
    marks = tried(tmp_path, data)[1].frames["annotations"]
    scores = marks.loc[marks["label"] == label, "score"]
    assert len(scores) == len(wanted)
    if tool == "Chatbot Arena":  # a pair may be turned to the side first met: ties stay
        assert (scores == 0).sum() == wanted.count(0)
        return
    assert scores.mean() == pytest.approx(sum(wanted) / len(wanted), abs=1e-12)


PAGE = (params.ROOT / "docs" / "presets.md").read_text(encoding="utf-8")
#: the last ones are those of `test_harnesses`
BLOCKS = dict(zip(EXPORTS, re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL), strict=False))


@pytest.mark.parametrize("tool", EXPORTS)
def test_the_page_shows_what_new_writes(tmp_path, tool):
    data, _ = EXPORTS[tool](tmp_path)
    text = draft.new_yaml("my_study", data)
    written = yaml.safe_load(text.replace(f"{tmp_path.resolve().as_posix()}/", ""))
    written.pop("open_questions", None)
    assert yaml.safe_load(BLOCKS[tool]) == written
    built = build.build(params.load(studies.write(tmp_path, BLOCKS[tool], name="page")))
    marks = built.frames["annotations"]
    alone, label = ALONE[tool]
    scores = marks.loc[marks["label"] == label, "score"]
    tries, edits, _, n, value = re.search(rf"^\| {tool} \|(.*)\|$", PAGE, re.MULTILINE)[1].split("|")
    assert (int(tries), int(edits), int(n)) == (1, 0, len(scores))
    ties = f"{(scores == 0).sum()} ties"
    assert value.strip() == (ties if tool == "Chatbot Arena" else f"{sum(alone(tmp_path)) / len(scores):.3f}")


def test_the_page_names_every_tool_and_its_documentation():
    for tool in TOOLS:
        assert f"## {tool.title}\n" in PAGE
        assert f"[Documentation]({tool.documented})" in PAGE


@pytest.mark.parametrize("tool", EXPORTS)
def test_an_export_is_taken_for_its_own_tool_only(tmp_path, tool):
    data, _ = EXPORTS[tool](tmp_path)
    text = draft.new_yaml("tried", data)
    recognised = re.findall(r"^# Recognised(?: in its folder: \S+ of|: an export of) (.*?)[ .]\(?", text, re.MULTILINE)
    assert len(recognised) == 1
    assert tool.startswith(recognised[0])
    assert "preset" not in text


def test_a_preset_names_where_its_format_is_documented():
    assert len(TOOLS) == 21
    assert "twenty-one tools" in PAGE
    assert all(re.fullmatch(r"https://\S+", tool.documented) for tool in TOOLS)


def test_several_choices_at_once_are_a_set(tmp_path):
    data, _ = EXPORTS["Label Studio, JSON"](tmp_path)
    tasks = json.loads(data.read_text())
    for i, task in enumerate(tasks):
        for one in task["annotations"]:
            picked = ["rude", "wrong", "vague"][: 1 + i % 3]
            one["result"].append({"from_name": "faults", "type": "choices", "value": {"choices": picked}})
    data.write_text(json.dumps(tasks))
    text, built = tried(tmp_path, data)
    assert yaml.safe_load(text)["labels"]["faults"] == {"categories": ["rude", "vague", "wrong"], "level": "sets"}
    marks = built.frames["annotations"]
    assert set(marks.loc[marks["label"] == "faults", "score"]) == {1, 1 + 4, 1 + 2 + 4}


def test_a_system_that_no_key_names_is_missed_aloud(tmp_path):
    data, written = EXPORTS["Label Studio, JSON"](tmp_path)
    tasks = json.loads(data.read_text())
    for task in tasks:
        task["data"] = {"text": task["data"]["text"]}
    data.write_text(json.dumps(tasks))
    text, built = tried(tmp_path, data)
    assert "Which column or key names the system? Assumed: none; all are one system's (not used: " in text
    assert "data.text" in text.split("(not used: ")[1].partition("\n")[0]
    assert len(judgements(built)) == len(written)
    said_by_check = in_words.describe(params.load(tmp_path / "tried.yaml"))
    assert "note: nothing names the system: all dialogues count as one system's" in said_by_check


def test_people_by_number_in_label_studio(tmp_path):
    data, written = EXPORTS["Label Studio, JSON"](tmp_path)
    data.write_text(re.sub(r'"completed_by": \{"id": ([0-9]+), [^}]*\}', r'"completed_by": \1', data.read_text()))
    text, built = tried(tmp_path, data)
    assert 'annotator: "annotations.[].completed_by"' in text
    assert by_annotator(judgements(built)) == by_annotator(written)


def test_a_path_that_is_only_tried_may_fail_in_every_record(tmp_path):
    """As `completed_by.email` does where people have numbers: in more records than a run would list."""
    data, _ = EXPORTS["Label Studio, JSON"](tmp_path)
    tasks = json.loads(re.sub(r'"completed_by": \{"id": ([0-9]+), [^}]*\}', r'"completed_by": \1', data.read_text()))
    data.write_text(json.dumps([tasks[i % len(tasks)] | {"id": i} for i in range(limits.PROBLEMS + 1)]))
    assert 'annotator: "annotations.[].completed_by"' in draft.new_yaml("tried", data)


def test_responses_of_older_argilla(tmp_path):
    data, written = EXPORTS["Argilla"](tmp_path)
    old = json.loads(data.read_text())
    for record in old:
        answers = defaultdict(dict)
        for label in exports.LABELS:
            for one in record["responses"][label]:
                answers[one["user_id"]][label] = {"value": one["value"]}
        record["responses"] = [{"user_id": u, "values": v, "status": "submitted"} for u, v in answers.items()]
        record["responses"].append({**record["responses"][0], "user_id": "me", "status": "discarded"})
    text, built = tried(tmp_path, save(tmp_path / "old.json", old))
    assert 'keep: {"responses.[].status": submitted}' in text
    assert by_annotator(judgements(built)) == by_annotator(written)


def test_records_of_argilla_as_a_data_set(tmp_path):
    data, written = EXPORTS["Argilla"](tmp_path)
    held = [{"id": r["id"], **r["fields"], **r["metadata"], **flat(r)} for r in json.loads(data.read_text())]
    _, built = tried(tmp_path, save(tmp_path / "flat.json", held))
    assert by_annotator(judgements(built)) == by_annotator(written)


def test_one_folder_a_person_as_older_potato_writes(tmp_path):
    data, written = EXPORTS["Potato"](tmp_path / "new")
    people = defaultdict(list)
    for record in map(json.loads, data.read_text().splitlines()):
        one = {"id": record["instance_id"], "displayed_text": "Hello", "label_annotations": record["labels"]}
        people[record["user_id"]].append({**one, "span_annotations": {}})
    for who, held in people.items():
        path = save(tmp_path / "annotation_output" / who / "annotated_instances.jsonl", lines(held))
    text, built = tried(tmp_path, path)
    assert "{annotator}/annotated_instances.jsonl" in text
    assert by_annotator(judgements(built)) == by_annotator([(d, None, *row) for d, _, *row in written])


def test_accepted_and_rejected_labels_of_prodigy(tmp_path):
    given = [("d1", "ann", "accept"), ("d1", "ben", "reject"), ("d2", "ann", "reject"), ("d2", "ben", "ignore")]
    held = [
        {"text": f"Well, {d}.", "label": "polite", "answer": answer, "_input_hash": d, "_task_hash": d}
        | {"_annotator_id": f"x-{who}", "meta": {"model": "m"}}
        for d, who, answer in given * 3
    ]
    for i, record in enumerate(held):
        record["_input_hash"] = f"{record['_input_hash']}_{i // 4}"
    _, built = tried(tmp_path, save(tmp_path / "binary.jsonl", lines(held)))
    read = Counter((row[0][:2], row[3], row[4]) for row in judgements(built))
    assert read == {("d1", "polite", 1): 3, ("d1", "polite", 0): 3, ("d2", "polite", 0): 3}


def test_shared_annotation_in_doccano_has_no_annotators(tmp_path):
    held = [{"id": i, "text": said(i, "a"), "model": "a", "label": [str(1 + i % 5)], "Comments": []} for i in range(9)]
    text, built = tried(tmp_path, save(tmp_path / "all.jsonl", lines(held)))
    assert "# Note: a project with shared annotation does not say who labelled." in text
    assert [row[4] for row in judgements(built)] == [1 + i % 5 for i in range(9)]
    assert not built.frames["annotations"]["annotator_known"].any()


def test_a_strange_file_beside_those_of_doccano(tmp_path):
    data, _ = EXPORTS["doccano"](tmp_path)
    save(tmp_path / "prompts.jsonl", lines([{"prompt": "Hello?"}]))
    text = draft.new_yaml("tried", data)
    assert "# Note: prompts.jsonl: fits '{annotator}.jsonl' by name, but not in content: move it elsewhere." in text


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
    _, built = tried(tmp_path, save(data, table(new)))
    assert by_annotator(judgements(built)) == by_annotator(written)
    counts = built.frames["counts"]
    assert "AssignmentStatus is Rejected (`drop`)" in set(counts["reason"])


def test_numbers_for_the_status_in_qualtrics(tmp_path):
    data, written = EXPORTS["Qualtrics"](tmp_path)
    coded = data.read_text().replace("IP Address", "0").replace("Survey Preview", "1")
    text, built = tried(tmp_path, save(data, coded))
    assert 'drop: {Status: ["1", "2", "8"]}' in text
    assert len(judgements(built)) == len(written)


def test_prolific_alone_holds_no_judgements(tmp_path):
    EXPORTS["Prolific"](tmp_path)
    with pytest.raises(DataError, match="who took part, not what they answered; give `new` the survey"):
        draft.new_yaml("tried", tmp_path / "prolific_export_6a.csv")


def test_a_survey_merged_with_the_status_of_prolific(tmp_path):
    data, written = EXPORTS["Prolific"](tmp_path)
    status = pd.read_csv(tmp_path / "prolific_export_6a.csv", dtype=str)
    merged = pd.read_csv(data, dtype=str).merge(status, left_on="participant_id", right_on="Participant id")
    (tmp_path / "merged").mkdir()
    merged.drop(columns="participant_id").to_csv(tmp_path / "merged" / "all.csv", index=False)
    text, built = tried(tmp_path, tmp_path / "merged" / "all.csv")
    assert "# Recognised: an export of Prolific" in text
    assert by_annotator([(*r[:5], None) for r in judgements(built)]) == by_annotator(written)


def test_folders_and_links_called_like_data_are_passed_over(tmp_path):
    data, _ = EXPORTS["Qualtrics"](tmp_path)
    before, _ = tried(tmp_path, data)
    (tmp_path / "a.csv").mkdir()
    (tmp_path / "b.csv").symlink_to(tmp_path / "nowhere.csv")
    assert tried(tmp_path, data)[0] == before


def test_votes_in_a_table(tmp_path):
    data, written = EXPORTS["Chatbot Arena"](tmp_path)
    keys = ["question_id", "model_a", "model_b", "winner", "judge"]
    held = [[record[k] for k in keys] for record in json.loads(data.read_text())]
    text, built = tried(tmp_path, save(tmp_path / "votes.csv", table([keys, *held])))
    assert "# Recognised: an export of Chatbot Arena" in text
    assert by_annotator(judgements(built)) == by_annotator(written)


def test_ratings_in_json_min(tmp_path):
    data, written = EXPORTS["Label Studio, CSV"](tmp_path)
    table_rows = rows(tmp_path, data.name)
    held = [{**r, "fluency": json.loads(r["fluency"]), "lead_time": float(r["lead_time"])} for r in table_rows]
    text, built = tried(tmp_path, save(tmp_path / "min.json", held))
    assert "# Left out: answers in words and as text." in text
    assert by_annotator(judgements(built)) == by_annotator([w for w in written if w[3] == "fluency"])


def test_several_questions_of_potato_are_no_answers(tmp_path):
    held = [
        {"instance_id": f"d{i // 2}", "user_id": f"u{i % 2}", "labels": {"q": {"slider": str(7 * i)}}}
        for i in range(12)
    ]
    for i, record in enumerate(held):
        record["labels"]["handling"] = {"urgency": ["low", "high"][i % 2], "tone": ["low", "high"][i // 6]}
    text, built = tried(tmp_path, save(tmp_path / "annotations.jsonl", lines(held)))
    assert "What is 'handling', which holds several questions? Assumed: left out." in text
    assert "# or: judgements: 'labels.handling.{label}' as `scores` reads them" in text
    assert [row[4] for row in judgements(built)] == [7 * i for i in range(12)]


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
    text, built = tried(tmp_path, save(tmp_path / "form.csv", table([["Timestamp", *head], *body])))
    assert yaml.safe_load(text)["sources"][0]["scores"] == pattern
    assert "Who judged? Assumed: each row is a different person's." in text
    assert len(judgements(built)) == 6 * len(head)
    assert {row[0] for row in judgements(built)} == {f"Chat {n}" for n in range(1, 3 if len(head) == 4 else 6)}


def test_an_export_without_scores_is_refused(tmp_path):
    data, _ = EXPORTS["Label Studio, JSON"](tmp_path)
    tasks = json.loads(data.read_text())
    for one in (one for task in tasks for one in task["annotations"]):
        one["result"] = [result for result in one["result"] if result["type"] == "textarea"]
    with pytest.raises(DataError, match=r"expected scores of Label Studio at .*value\.rating or .*, found none"):
        draft.new_yaml("tried", save(data, tasks))


@pytest.mark.parametrize("tool", ["Argilla", "Chatbot Arena"])
def test_parquet(tmp_path, tool):
    data, written = EXPORTS[tool](tmp_path)
    held = json.loads(data.read_text())
    if tool == "Argilla":
        held = [{"id": r["id"], **r["fields"], **r["metadata"], **flat(r)} for r in held]
    pd.DataFrame(held).to_parquet(tmp_path / "data.parquet")
    text, built = tried(tmp_path, tmp_path / "data.parquet")
    assert f"# Recognised: an export of {tool}" in text
    read = [(d.removesuffix("_1") if tool == "Chatbot Arena" else d, *row) for d, *row in judgements(built)]
    assert by_annotator(read) == by_annotator(written)


def flat(record):
    out = {}
    for label in exports.LABELS:
        answers = record["responses"][label]
        out[f"{label}.responses"] = [a["value"] for a in answers] + [1]
        out[f"{label}.responses.users"] = [a["user_id"] for a in answers] + ["me"]
        out[f"{label}.responses.status"] = ["submitted"] * len(answers) + ["draft"]
    return out


def test_lists_of_labels_are_not_all_of_doccano(tmp_path):
    """The labels of one line may be those of several people: only doccano's own key tells that they are not."""
    held = [{"id": i, "text": f"Hello, {i}.", "label": ["good", "bad", "good"][: 2 + i % 2]} for i in range(12)]
    text = draft.new_yaml("tried", save(tmp_path / "ann.jsonl", lines(held)))
    assert "Recognised" not in text


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
    text, built = tried(tmp_path, data)
    (source,) = yaml.safe_load(text)["sources"]
    assert set(source["drop"]) == {"Status", "prolific.Status"}
    assert by_annotator(judgements(built)) == by_annotator([w for w in written if w[2] != "eve"])
