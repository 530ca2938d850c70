"""Malformed inputs: each stops before anything is written, with file, row or line, what was expected and found.

The command line turns both errors into exit code 2.
"""

import io
import json
import os
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fixtures import abc_eval_project as abc_project
from fixtures import bad_inputs as bad
from fixtures import workbook
from fixtures import yaml_studies as studies

from judgebook import project
from judgebook.extras.new import draft
from judgebook.pipeline import cli, run
from judgebook.sources import build, joining
from judgebook.sources.adapters import table
from judgebook.study import params
from judgebook.study.params import ParamsError
from judgebook.study.schema import DataError

SECONDS = 32
LONG, CSV = studies.LONG, studies.LONG_CSV
RECORDS, WIDE = bad.RECORDS, studies.WIDE
PROJECT = "title: P\nlabel_set: abc_eval\nsources:\n  - {adapter: abc_eval, files: [data.json]}\n"
MARKS = "title: M\nlabel_set: abc_eval\nsources:\n  - {adapter: behaviors, file: marks.json}\n"
ONE = {"(1,2)_emora": [{"user": "a", "system": "b", "behaviors": {"ignore": {"human": [0, 1]}}}]}
TURNS = LONG.replace("dialogue_rating", "turn_rating").replace("chat,", "chat, turn: t,")
PAIRS = """\
title: Pairs
method: comparative
sources:
  - {adapter: table, file: my.csv, columns: {dialogue: a, dialogue_b: b, annotator: who}}
labels:
  quality: {scale: [-1, 1]}
"""


def mirrored(score):
    """A project with one comparison, told with `score` from its other side."""
    project = {"dialogue_collection": abc_project.collection()}
    side = project["dialogue_collection"]["dialogues"][abc_project.B]
    side["comparative_annotations"]["quality"][0]["score"] = score
    return project


# name: (YAML, files, place in the message, expected, found)
YAMLS = {
    "unknown key": (LONG.replace("title:", "titel: x\ntitle:"), "line 1", "did you mean 'title'?", "'titel'"),
    "wrong type": (LONG + "bootstrap: {n_resamples: lots}\n", "line 11", "whole number", "'lots'"),
    "duplicate key": (LONG + "labels: {}\n", "line 11", "given twice", "'labels'"),
    "newline in a key": (LONG.replace("fluency:", '"flu\\nency":'), "line 9", "a name that matches", "flu"),
    "code in a key": (
        LONG.replace("fluency:", '"x = 1; import os":'),
        "line 9",
        "a name that matches",
        "x = 1; import os",
    ),
    "time for a number": (LONG + "seeds: {pick: 12:30:00}\n", "line 11", "whole number", "'12:30:00'"),
    "yes for a text": (LONG.replace("Long study", "yes"), "line 1", "string", "true"),
    "no in a list of texts": (LONG.replace("long\n", "long\n    na_values: [no]\n"), "line 7", "string", "false"),
    "scale upside down": (LONG.replace("[1, 5]", "[5, 1]", 1), "line 9", "[smallest, largest]", "[5.0, 1.0]"),
    "unknown method": (LONG.replace("dialogue_rating", "stars"), "", "expected one of behavior", "'stars'"),
    "unknown adapter": (
        LONG.replace("table", "spreadsheet"),
        "line 4",
        "expected one of abc_eval, behaviors, dstc7",
        "'spreadsheet'",
    ),
    "no sources": ("title: T\nsources: []\n", "line 2", "at least 1 item", "[]"),
    "not YAML": (LONG + "a: [1\n", "line 12", "not valid YAML", "expected"),
    "a list": ("- 1\n", "", "`key: value` lines", "list"),
}
DATA = {
    "duplicate judgement": (LONG, CSV + "d1,A,w1,fluency,2\n", "my.csv, row 6", "one judgement", "a repeat of row 2"),
    "score off the scale": (
        LONG,
        CSV.replace("w2,fluency,5", "w2,fluency,6"),
        "my.csv, row 3, score",
        "from 1 to 5",
        "6",
    ),
    "half a point": (LONG, CSV.replace("w2,fluency,5", "w2,fluency,4.5"), "my.csv, row 3, score", "a whole", "4.5"),
    "text in a score": (
        LONG,
        CSV.replace("w2,fluency,5", "w2,fluency,good"),
        "my.csv, row 3, score",
        "a number",
        "'good'",
    ),
    "a date in a score": (
        LONG,
        CSV.replace("fluency,5", "fluency,5-May"),
        "my.csv, row 3, score",
        "a number",
        "'5-May'",
    ),
    "missing turn": (TURNS, "t," + CSV.replace("\n", "\n,", 4), "my.csv, row 2, turn", "judges turns", "nothing"),
    "half a turn": (TURNS, "t," + CSV.replace("\n", "\n1.5,", 4), "my.csv, row 2, turn", "a whole number", "1.5"),
    "no dialogue id": (
        LONG,
        CSV.replace("d2,A", "d2,B").replace("\nd2", "\n", 1),
        "my.csv, row 4, dialogue",
        "a value",
        "n",
    ),
    "no system": (LONG, CSV.replace("d2,B,w1,q", "d2,,w1,q"), "my.csv, row 5, system", "a value", "nothing"),
    "no annotator": (LONG, CSV.replace("w2", ""), "my.csv, row 3, annotator", "a value", "nothing"),
    "one dialogue, two systems": (
        LONG,
        CSV.replace("d2,B,w1,q", "d2,C,w1,q"),
        "my.csv, row 5, system",
        "one system",
        "'C'",
    ),
    "unknown label": (LONG, CSV.replace("quality", "qualty"), "my.csv, row 5, label", "fluency, quality", "'qualty'"),
    "missing column": (LONG, CSV.replace("rating", "Rating"), "my.csv, row 1, rating", "this column", "Rating"),
    "row too short": (LONG, CSV.replace("d2,B,w1,quality,3", "d2,B,w1,quality"), "my.csv, row 5", "5 cells", "4"),
    "row too long": (LONG, CSV.replace("fluency,5", "fluency,5,5"), "my.csv, row 3", "5 cells", "6"),
    "a column twice": (LONG, CSV.replace("bot", "chat"), "my.csv, row 1, chat", "given once", "2 columns"),
    "a quote left open": (
        LONG,
        CSV.replace("d2,B,w1,q", '"d2,B,w1,q'),
        "my.csv, row 5",
        "well-formed cells",
        "unexpected end",
    ),
    "another delimiter": (LONG, CSV.replace(",", ";"), "my.csv, row 1", "several columns", "chat;bot"),
    "wrong encoding": (LONG, CSV.replace("d2", "dé").encode("latin-1"), "my.csv, line 4", "utf-8", "0xe9"),
    "empty file": (LONG, b"", "my.csv", "data", "an empty file"),
    "header only": (LONG, CSV.split("\n")[0] + "\n", "my.csv", "rows of data", "a header only"),
    "compared with itself": (
        PAIRS,
        "a,b,who,quality\nd1,d1,w,1\n",
        "my.csv, row 2",
        "a dialogue other than",
        "the same",
    ),
    "comparison without the other": (
        PAIRS,
        "a,b,who,quality\nd1,,w,1\n",
        "row 2, quality, dialogue_b",
        "the other",
        "nothing",
    ),
    "mirror of the wrong sign": (
        PAIRS,
        "a,b,who,quality\nd1,d2,w,1\nd2,d1,w,1\n",
        "my.csv, row 3, quality, score",
        "-1, the opposite",
        "1",
    ),
    "annotator nobody is": (
        LONG + "groups: {devs: {annotators: [w9]}}\n",
        CSV,
        "mine.yaml, groups.devs.annotators",
        "an annotator of the data",
        "'w9'",
    ),
}
DATA["a label nobody judged"] = (
    LONG + "  realism: {scale: [1, 5]}\n",
    CSV,
    "mine.yaml, labels.realism",
    "judgements by this label",
    "none",
)
JSON = {
    "truncated JSON": (MARKS, json.dumps(ONE, indent=1)[:60], "line 6", "JSON", "Expecting"),
    "a list for an object": (MARKS, [1], "line 1", "an object", "list"),
    "a mark of 2": (MARKS, json.loads(json.dumps(ONE).replace("[0, 1]", "[0, 2]")), "turn 0, score", "0 to 1", "2"),
    "a mark in words": (
        MARKS,
        json.loads(json.dumps(ONE).replace("[0, 1]", '[0, "x"]')),
        "turn 0, score",
        "a number",
        "'x'",
    ),
    "unknown behaviour": (
        MARKS,
        json.loads(json.dumps(ONE).replace("ignore", "rude")),
        "turn 0, label",
        "ignore",
        "'rude'",
    ),
    "unknown part": (PROJECT, {"surge_eval": None}, "surge_eval", "a part of a project", "an unknown key"),
    "nothing in it": (PROJECT, {"surge_evaluation": None}, "mine", "at least one judgement", "none"),
    "mirrored sign": (PROJECT, mirrored(1), f"dialogue {abc_project.B}", "-1, the opposite", "1"),
    "dialogues as a list": (
        PROJECT,
        {"surge_evaluation": {"dialogues": []}},
        "surge_evaluation.dialogues",
        "an object",
        "list",
    ),
}


@pytest.mark.parametrize("name", YAMLS)
def test_a_malformed_yaml_stops(tmp_path, name):
    yaml, place, expected, found = YAMLS[name]
    path = studies.write(tmp_path, yaml, my_csv=CSV)
    with pytest.raises(ParamsError) as caught:
        params.load(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    for part in (place, expected, found):
        assert part in message


@pytest.mark.parametrize("name", [*DATA, *JSON])
def test_malformed_data_stop_and_nothing_is_written(tmp_path, name):
    yaml, content, place, expected, found = (DATA | JSON)[name]
    files = {"my_csv": content} if name in DATA else {"marks_json" if yaml is MARKS else "data_json": content}
    path = studies.write(tmp_path, yaml, **files)
    with pytest.raises(DataError) as caught:
        build.build(params.load(path), out=tmp_path / "processed")
    problem = caught.value.problems[0]
    assert place in str(problem).partition(": expected")[0]
    assert expected in problem.expected
    assert found in problem.found
    for part in (problem.file, problem.where, problem.column, problem.expected, problem.found, problem.hint):
        assert part in str(caught.value)
    assert not (tmp_path / "processed").exists()


def test_a_missing_file_says_where_it_was_sought_and_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPENDIUM_RAW", str(tmp_path / "raw"))
    path = studies.write(tmp_path, LONG)
    with pytest.raises(DataError) as caught:
        build.build(params.load(path))
    (problem,) = caught.value.problems
    assert problem.file == "my.csv"
    # named from here where the project and the folder are neighbours
    sought = tmp_path / "raw" / "mine"
    assert str(sought) in problem.expected or os.path.relpath(sought, params.ROOT) in problem.expected
    assert problem.found == "no such file"
    assert problem.hint == "put the file at data/raw/mine"


def test_every_file_that_is_missing_is_named_with_the_command_that_fetches_it(tmp_path, monkeypatch):
    monkeypatch.setattr(project, "ROOT", tmp_path)
    monkeypatch.setattr(params, "ROOT", tmp_path)
    monkeypatch.delenv("COMPENDIUM_RAW", raising=False)
    (tmp_path / "params").mkdir()
    (tmp_path / "params" / "defaults.yaml").write_text("{}\n")
    yaml = PROJECT.replace("[data.json]", "[data_student_external_likert.json, data_student_external_comparative.json]")
    study = params.load(studies.write(tmp_path, yaml, name="finch2024"))
    with pytest.raises(DataError) as caught:
        build.files(study)
    assert [p.file for p in caught.value.problems] == [
        "data_student_external_likert.json",
        "data_student_external_comparative.json",
    ]
    assert {p.hint for p in caught.value.problems} == {"run `python run_all.py fetch finch2024`"}


def test_problems_of_all_files_are_told_together(tmp_path):
    yaml = LONG.replace("labels:", "  - {adapter: behaviors, file: marks.json}\nlabels:")
    path = studies.write(tmp_path, yaml, my_csv=CSV.replace("5", "9"), marks_json=[])
    with pytest.raises(DataError) as caught:
        build.build(params.load(path))
    assert [p.file for p in caught.value.problems] == ["marks.json", "my.csv"]


# ------------------------------------------------------------------------------------------------- tables of bad inputs


def refusal(tmp_path, yaml, files):
    """What `check` would say of a study: it must refuse it, and nothing may be written."""
    (tmp_path / "mine.yaml").write_bytes(yaml if isinstance(yaml, bytes) else yaml.encode())
    if files:
        studies.write(tmp_path, yaml, **files)
    with pytest.raises((ParamsError, DataError)) as caught:
        build.build(params.load(tmp_path / "mine.yaml"), out=tmp_path / "processed")
    assert not (tmp_path / "processed").exists()
    return caught.value


@pytest.mark.parametrize("name", bad.YAML)
def test_a_bad_yaml_is_refused_with_its_place(tmp_path, name):
    yaml, parts = bad.YAML[name]
    message = str(refusal(tmp_path, yaml, {}))
    assert message.startswith(str(tmp_path / "mine.yaml"))
    for part in parts:
        assert part in message
    assert len(message) < 30_000


@pytest.mark.parametrize("name", bad.DATA)
def test_bad_data_are_refused_with_place_expected_found_and_what_to_do(tmp_path, name):
    yaml, files, parts = bad.DATA[name]
    error = refusal(tmp_path, yaml, files)
    assert isinstance(error, DataError)
    for part in parts:
        assert part in str(error)
    for problem in error.problems:
        assert problem.file
        assert problem.expected
        assert problem.found
        assert problem.hint
        assert problem.hint != joining.UNFORESEEN
    assert len(str(error)) < 20_000


@pytest.mark.parametrize("name", bad.YAML_READ)
def test_an_unusual_yaml_is_read(tmp_path, name):
    yaml, value, expected = bad.YAML_READ[name]
    path = tmp_path / "mine.yaml"
    path.write_bytes(yaml if isinstance(yaml, bytes) else yaml.encode())
    assert value(params.load(path)) == expected


@pytest.mark.parametrize("name", bad.DATA_READ)
def test_unusual_data_are_read(tmp_path, name):
    yaml, files, value, expected = bad.DATA_READ[name]
    assert value(studies.read(tmp_path, yaml, **files)) == expected


def in_source(line, yaml=LONG):
    """A YAML with another line in its source, and that YAML."""
    return yaml, yaml.replace("    layout", f"    {line}\n    layout")


#: case -> (the YAML and what it becomes with the lines that the message gives, the file, these lines)
MENDED = {
    "another delimiter": (in_source('delimiter: ";"'), CSV.replace(",", ";"), 'delimiter: ";"'),
    "a value that is none": (in_source('na_values: ["", "6"]'), CSV.replace("w2,fluency,5", "w2,fluency,6"), ""),
    "words for nothing": (in_source('na_values: ["", "N/A"]'), CSV.replace("w2,fluency,5", "w2,fluency,N/A"), ""),
    "values that were none before": (
        (in_source('na_values: ["", "x"]')[1], in_source('na_values: ["", "x", "6"]')[1]),
        CSV.replace("w2,fluency,5", "w2,fluency,6"),
        'na_values: ["", "x", "6"]',
    ),
    "a wider scale": (
        (LONG, LONG.replace("[1, 5]", "[0, 7]", 1)),
        CSV.replace("fluency,5", "fluency,7").replace("fluency,2", "fluency,0"),
        "scale: [0, 7]",
    ),
    "half points": (
        (LONG, LONG.replace("[1, 5]", "[1, 5], integer: false", 1)),
        CSV.replace("fluency,5", "fluency,4.5"),
        "integer: false",
    ),
    "no system": (in_source('drop: {system: "is empty"}'), CSV + "d3,,w1,fluency,2\n", ""),
    "no annotator": (
        (LONG, in_source("annotators: positions")[1].replace("annotator: worker, ", "")),
        CSV.replace("w2", ""),
        "annotators: positions",
    ),
    "a system called NA": (
        (in_source('na_values: ["", "NA"]')[1], in_source('na_values: [""]')[1]),
        CSV.replace("d2,B", "d2,NA"),
        'na_values: [""]',
    ),
    "a label spelt otherwise": (
        in_source("label_names: {qualty: quality}"),
        CSV.replace("quality", "qualty"),
        "label_names: {qualty: quality}",
    ),
    "a label to leave out": (in_source('drop: {label: ["tone"]}'), CSV + "d1,A,w1,tone,1\nd2,B,w1,tone,4\n", ""),
    "a label to declare": (
        (LONG, LONG + "  tone: {scale: [1, 4]}\n"),
        CSV + "d1,A,w1,tone,1\nd2,B,w1,tone,4\n",
        "tone: {scale: [1, 4]}",
    ),
    "two judgements": (in_source("repeats: last"), CSV + "d1,A,w1,fluency,2\n", ""),
    "two replies to a prompt": (
        in_source('identify: {dialogue: ["chat", "bot"]}', LONG),
        CSV + "d1,B,w1,fluency,2\n",
        'identify: {dialogue: ["chat", "bot"]}',
    ),
    "a number in words": (
        (TURNS, TURNS.replace(", turn: t", "").replace("    layout", '    patterns: {t: "turn {turn}"}\n    layout')),
        "t," + CSV.replace("\n", "\nturn 1,", 4),
        'patterns: {t: "turn {turn}"}',
    ),
    "an answer that is no category": (
        (
            LONG.replace("{scale: [1, 5]}", "{categories: [good, bad]}", 1),
            LONG.replace("{scale: [1, 5]}", '{categories: ["good", "bad", "fair"]}', 1),
        ),
        CSV.replace("fluency,4", "fluency,good")
        .replace("fluency,5", "fluency,fair")
        .replace("fluency,2", "fluency,bad"),
        'categories: ["good", "bad", "fair"]',
    ),
}


@pytest.mark.parametrize("name", MENDED)
def test_the_lines_that_a_message_gives_read_the_file(tmp_path, name):
    (before, after), content, lines = MENDED[name]
    added = lines or next(line for line in after.splitlines() if line not in before.splitlines()).strip()
    assert f"`{added}`" in str(refusal(tmp_path, before, {"my_csv": content}))
    assert len(studies.read(tmp_path, after, my_csv=content).frames["annotations"]) >= 3


#: 20 rows of each kind, in a table with two labels
QUESTION = "How fluent were the replies of the chatbot in this conversation, all in all? (1 = not at all)"
TWO = (
    'title: T\nmethod: dialogue_rating\nsources:\n  - {adapter: table, file: my.csv, scores: "{label}", '
    "columns: {dialogue: id, system: s, annotator: a}, "
    f"label_names: {{{json.dumps(QUESTION)}: fluency}}}}\n"
    "labels: {fluency: {scale: [1, 5]}, tone: {scale: [1, 5]}}\n"
)


def two(change=lambda i: {}, *, n=20):
    """A table of `n` rows with two labels. change : number of the row -> cells that differ."""
    rows = [{"id": f"d{i}", "s": "AB"[i % 2], "a": "w", QUESTION: 1 + i % 5, "tone": 3} | change(i) for i in range(n)]
    head = ",".join(f'"{name}"' for name in rows[0])
    return "\n".join([head, *(",".join(map(str, row.values())) for row in rows)]) + "\n"


@pytest.mark.parametrize(
    ("change", "lines"),
    [
        (
            lambda i: {"s": ""},
            ["my.csv, system (s): expected a value, found nothing (row 2, row 3, row 4) and 17"],
        ),
        (
            lambda i: {"tone": 7 if i % 4 else 0},
            ["my.csv, tone, score: expected a whole number from 1 to 5 (tone), found 0 (row 2), 7 (row 3, row 4)"],
        ),
        (
            lambda i: {QUESTION: "bad"},
            [f"my.csv, {QUESTION[:59]}…, score: expected a number, found 'bad' (row 2, row 3, row 4) and 17 more"],
        ),
        (
            lambda i: {"id": "d", "s": "A"},
            ["my.csv: expected one judgement per annotator, item and label, found a repeat of row 2, with another"],
        ),
        (
            lambda i: {"id": f"d{i // 2}"},
            ["my.csv, system (s): expected one system per dialogue, found 'B' where row 2 has 'A' (row 3), 'B'"],
        ),
        (
            lambda i: {"s": "", "tone": "x"},
            ["my.csv, tone, score: expected a number", "my.csv, system (s): expected a value, found nothing (row 2"],
        ),
    ],
)
def test_a_problem_of_every_row_is_one_line_and_quotes_a_question_once(tmp_path, change, lines):
    head, *said = str(refusal(tmp_path, TWO, {"my_csv": two(change)})).splitlines()
    assert head.startswith("the data cannot be read")
    assert len(said) == len(lines)
    for line, begins in zip(sorted(said), sorted(lines), strict=True):
        assert line.strip().startswith(begins)
        assert line.count(QUESTION) == 0
        assert line.count("How fluent") <= 3


def test_a_label_of_a_table_that_is_spelt_otherwise_is_sought_among_the_columns(tmp_path):
    for header, said in (
        ("id,fluency_a1,qualty_a1", "declare it under `labels:`, say how it is spelt in `label_names`"),
        ("id,Fluency_a1,Quality_a1", "expected score columns '{label}_{annotator}' for a declared label"),
    ):
        assert said in str(refusal(tmp_path, WIDE, {"my_csv": header + "\n1,4,5\n"}))
    plain = TWO.replace(f", label_names: {{{json.dumps(QUESTION)}: fluency}}", "")
    for old, new, line in (
        ("tone", "tones", "label_names: {tones: tone}"),
        ("tone", "Tone", "label_names: {Tone: tone}"),
    ):
        content = two().replace(f'"{QUESTION}"', "fluency").replace(f'"{old}"', new)
        assert f"`{line}`" in str(refusal(tmp_path, plain, {"my_csv": content}))
    (said,) = str(refusal(tmp_path, plain, {"my_csv": two().replace('"tone"', "other")})).splitlines()[1:]
    assert "`how_fluent_were_the_replies_of_the_chatb: {scale: [1, 5]}` and, under the source, `label_names: {" in said


@pytest.mark.parametrize(
    ("sheet", "sheets", "said"),
    [
        ("", ["Ratings", "Notes"], 'name one under the source: `sheet: "Ratings"`'),
        (
            "sheet: Rating, ",
            ["Ratings", "Notes"],
            "expected one of Ratings, Notes, found 'Rating'; write `sheet: \"Ratings\"`",
        ),
    ],
)
def test_the_sheets_of_a_workbook_are_named(tmp_path, sheet, sheets, said):
    workbook.write(tmp_path / "my.xlsx", {name: [["id", "s"], ["d1", "x"]] for name in sheets})
    yaml = TWO.replace("file: my.csv, ", f"file: my.xlsx, {sheet}")
    assert said in str(refusal(tmp_path, yaml, {}))
    renamed = (tmp_path / "my.xlsx").rename(tmp_path / "my.csv")
    assert "a text file, found a workbook; name the file .xlsx" in str(refusal(tmp_path, TWO, {}))
    renamed.unlink()


@pytest.mark.parametrize(
    ("yaml", "said"),
    [
        ("title: T\nsources: []\n", "as in the first lines of docs/annotate.md"),
        (LONG + "figures: {formats: svg}\n", "expected a valid list, found 'svg'; write `formats: [svg]`"),
        ("- 1\n", "found a list"),
    ],
)
def test_a_yaml_is_told_what_to_write(tmp_path, yaml, said):
    assert said in str(refusal(tmp_path, yaml, {}))


def test_records_of_a_joined_file_that_are_missing_are_named_with_it(tmp_path):
    yaml = RECORDS.replace("annotator: who}", "annotator: who, system: key.system}, join: [JOIN]")
    yaml = yaml.replace("JOIN", "{file: key.jsonl, name: key, by: id}")
    records = [{"id": f"d{i}", "who": "w", "ratings": {"fluency": 3}} for i in range(9)]
    keys = [{"id": f"d{i}", "system": "s"} for i in range(3)]
    for joined, said in (
        (
            keys,
            "r.json, system (key.system): expected a value, found nothing (record 4, record 5, record 6) and 3 more; "
            'add the records that key.jsonl lacks (`join: key`), or leave such rows out: `drop: {system: "is empty"}`',
        ),
        ([{"id": "x", "system": "s"}], "`by` and `key` of `join: key` say where keys stand in both files"),
    ):
        (tmp_path / "key.jsonl").write_text("".join(json.dumps(key) + "\n" for key in joined))
        (line,) = str(refusal(tmp_path, yaml, {"r_json": records})).splitlines()[1:]
        assert said in line


def test_empty_cells_that_follow_from_a_wrong_path_are_not_told_again(tmp_path):
    yaml = RECORDS.replace("annotator: who}", "annotator: rater}")
    records = [{"id": f"d{i}", "who": "w", "ratings": {"fluency": 3}} for i in range(5)]
    (line,) = str(refusal(tmp_path, yaml, {"r_json": records})).splitlines()[1:]
    assert "r.json, rater: expected a key 'rater', found id, who, ratings" in line


def test_there_are_313_inputs_and_more():
    """213 of a review, and a hundred more."""
    assert len(YAMLS) + len(DATA) + len(JSON) + sum(map(len, (bad.YAML, bad.DATA, bad.YAML_READ, bad.DATA_READ))) >= 313


def test_no_own_id_of_a_person_is_written_whatever_the_kinds_say(tmp_path):
    """A kind that is none stops before pseudonyms are given; a person among models gets one none the less."""
    yaml = LONG.replace("score: rating", "score: rating, annotator_kind: kind")
    content = CSV.replace("rating\n", "rating,kind\n").replace("4\n", "4,Human\n").replace("5\n", "5,human\n")
    content = content.replace("2\n", "2,llm\n").replace("3\n", "3,human\n").replace("w1,fluency,2", "gpt,fluency,2")
    built = studies.read(tmp_path, yaml, my_csv=content)
    assert set(built.frames["annotations"]["annotator"]) == {"A0001", "A0002", "gpt"}
    with pytest.raises(DataError, match="human, llm or classifier"):
        studies.read(tmp_path, yaml, my_csv=content.replace("Human", "person"))


def test_what_no_check_foresees_names_the_file_and_the_line_of_code(tmp_path, monkeypatch):
    def broken(*_):
        raise KeyError("lost")

    path = studies.write(tmp_path, LONG, my_csv=CSV)
    for owner, name, said in (
        (joining, "map_groups", "judgements that can be joined and checked"),
        (build.schema, "validate", "judgements that can be joined and checked"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, broken)
            with pytest.raises(DataError) as caught:
                build.build(params.load(path))
        (problem,) = caught.value.problems
        assert (problem.file, problem.expected, problem.hint) == ("my.csv", said, joining.UNFORESEEN)
        assert "KeyError: 'lost' (test_malformed_input.py, line" in problem.found
    monkeypatch.setattr(table, "read", broken)
    with pytest.raises(DataError, match="what `adapter: table` reads, found KeyError"):
        build.build(params.load(path))


def test_data_that_do_not_fit_into_the_memory_are_no_bug(tmp_path, monkeypatch):
    def full(*_):
        raise MemoryError

    monkeypatch.setattr(table, "read", full)
    assert "my.csv: expected data that fit into the memory, found more" in str(refusal(tmp_path, LONG, {"my_csv": CSV}))


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (pa.array([0], pa.timestamp("us", "Mars/Olympus")), "my.parquet, when: expected values that are cells, found"),
        (pa.array([[0] * 2_000_001]), "my.parquet: expected at most 2,000,000 values in lists, found 2,000,001"),
    ],
)
def test_a_parquet_column_that_holds_no_cells_is_refused(tmp_path, column, said):
    pq.write_table(pa.table({"chat": ["d1"], "when": column}), tmp_path / "my.parquet")
    assert said in str(refusal(tmp_path, LONG.replace("my.csv", "my.parquet"), {}))
    with pytest.raises(DataError, match=said):
        draft.new_yaml("mine", tmp_path / "my.parquet")


@pytest.mark.parametrize(
    ("make", "parts"),
    [
        ("bomb", ("at most 50,000,000 bytes when unpacked",)),
        ("cut", ("a workbook",)),
        ("text", ("a workbook",)),
    ],
)
def test_a_workbook_that_would_fill_the_memory_is_refused(tmp_path, make, parts):
    if make in ("cut", "text"):
        pytest.importorskip("python_calamine")
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", "0" * 60_000_000 * (make == "bomb"))
    content = file.getvalue()[:60] if make == "cut" else CSV.encode() if make == "text" else file.getvalue()
    error = refusal(tmp_path, LONG.replace("my.csv", "my.xlsx"), {"my_xlsx": content})
    for part in ("my.xlsx", *parts):
        assert part in str(error)


def test_a_parquet_file_of_few_bytes_and_many_rows_is_refused(tmp_path):
    for long, rows in (("d", 80_000_000), ("d" * 3_000_000, 20_000)):
        column = pa.array(pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int8)), [long]))
        pq.write_table(pa.table({"chat": column}), tmp_path / "my.parquet", compression="zstd")
        assert (tmp_path / "my.parquet").stat().st_size < 2_500_000
        error = refusal(tmp_path, LONG.replace("my.csv", "my.parquet"), {})
        assert "my.parquet: expected a Parquet file that can be read with" in str(error)
        assert "MB of memory, found one that takes more; export it as CSV" in str(error)
    (tmp_path / "my.parquet").write_bytes(CSV.encode())
    assert "my.parquet: expected a Parquet file" in str(refusal(tmp_path, LONG.replace("my.csv", "my.parquet"), {}))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--study", "x" * 5000], "no study 'xxx"),
        (["--study", "x" * 5000 + ".yaml"], "no such file"),
        (["--list", "--jobs", "9" * 20], "a whole number from 1 to 256, found '9999"),
        (["--list", "--jobs", "0"], "a whole number from 1 to 256, found '0'"),
        (["--list", "--jobs", "٣"], "a whole number from 1 to 256"),
        (["check", "demo", "--set", "title=!!int x"], "--set: title: not a YAML value: '!!int x'"),
        (["check", "demo", "--set", "title=" + "[" * 10_000], "--set: title: not a YAML value"),
        (["check", "demo", "--set", "seeds.pick=" + "9" * 5001], "at most 18 digits, found 5,001"),
        (["check", "demo", "--set", "a." * 60 + "b=1"], "--set: expected section.key=value"),
        (["check", "demo", "--set", "seeds.pick=.inf"], "--set: 'seeds.pick': expected"),
        (["new", "x" * 5000, "--data", "my.csv"], "a study's name"),
        (["new", "mine", "--data", "x" * 5000], "no such file"),
        (["--dry-run", "--only", ""], "--only: expected notebooks (03_iaa, 03 or iaa), found ''"),
        (["--dry-run", "--only", "iaa", "--only", ", "], "--only: expected notebooks (03_iaa, 03 or iaa), found ', '"),
        (["--dry-run", "--out", ""], "--out: expected a folder, found an empty name"),
        (["bundle", "demo", "--out="], "--out: expected a folder, found an empty name"),
        (["annotate", "scoreboard", "--tool", "potato"], "scoreboard: expected labels to ask for, found none"),
    ],
)
def test_a_bad_call_ends_with_2_and_a_line(tmp_path, monkeypatch, capsys, arguments, said):
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path))
    monkeypatch.setattr(cli.signal, "signal", lambda *_: None)  # the handler would outlive the test
    try:
        code = cli.main(arguments)
    except SystemExit as stopped:  # argparse's own way
        code = stopped.code
    assert code == 2
    message = capsys.readouterr().err
    assert said in message
    assert len(message) < 5000
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "said.csv: expected data, found an empty file"),
        ("dialogue,system,system_text\n", "said.csv: expected rows of data, found a header only"),
        ('dialogue,system,system_text\nd1,A,"hi\n', "is a quote left open?"),
        ("dialogue,system,system_text\n,A,hi\n", "said.csv, row 2, dialogue: expected the id of the dialogue"),
    ],
)
def test_dialogues_that_cannot_be_read_end_with_2_and_a_line(tmp_path, monkeypatch, capsys, content, said):
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path / "out"))
    monkeypatch.setattr(cli.signal, "signal", lambda *_: None)
    (tmp_path / "said.csv").write_text(content)
    assert cli.main(["annotate", "demo", "--tool", "potato", "--dialogues", str(tmp_path / "said.csv")]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_two_studies_of_one_name_are_refused_and_one_given_twice_is_not(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path / "out"))
    monkeypatch.setattr(cli.signal, "signal", lambda *_: None)
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        studies.write(tmp_path / folder, LONG, name="twin", my_csv=CSV)
    first, second = (str(tmp_path / folder / "twin.yaml") for folder in "ab")
    assert cli.main(["--study", first, "--study", second]) == 2
    message = capsys.readouterr().err
    assert "two studies are called 'twin'" in message
    assert "a/twin.yaml" in message
    assert "b/twin.yaml" in message
    assert [spec.source for spec in run.specs([first, str(tmp_path / "b" / ".." / "a" / "twin.yaml")], [])] == [first]
