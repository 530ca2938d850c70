"""Malformed inputs: each stops before anything is written, with file, row or line, what was expected and found.

The command line turns both errors into exit code 2.
"""

import io
import json
import os
import zipfile
from unittest import mock

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
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

LONG, CSV = studies.LONG, studies.LONG_CSV
ONE = LONG.replace("  quality: {scale: [1, 5]}\n", "")
RECORDS, WIDE = bad.RECORDS, studies.WIDE
TURNS, PROJECT = bad.TURNS.replace("turn: x", "turn: t"), bad.PROJECT


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
    missing = ["data_student_external_likert.json", "data_student_external_comparative.json"]
    yaml = PROJECT.replace("p.json", ", ".join(missing))
    study = params.load(studies.write(tmp_path, yaml, name="finch2024"))
    with pytest.raises(DataError) as caught:
        build.files(study)
    assert [p.file for p in caught.value.problems] == missing
    assert {p.hint for p in caught.value.problems} == {"run `python run_all.py fetch finch2024`"}


def test_problems_of_all_files_are_told_together(tmp_path):
    yaml = LONG.replace("labels:", "  - {adapter: behaviors, file: marks.json}\nlabels:")
    path = studies.write(tmp_path, yaml, my_csv=CSV.replace("5", "9"), marks_json=[])
    with pytest.raises(DataError) as caught:
        build.build(params.load(path))
    assert [p.file for p in caught.value.problems] == ["marks.json", "my.csv"]


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


#: every key of a project is wrong in turn
PROJECTS = [name for name in bad.DATA if name.startswith("a project whose")]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.verify if name in PROJECTS[1:] else ()) for name in bad.DATA]
)
def test_bad_data_are_refused_with_place_expected_found_and_what_to_do(tmp_path, name):
    yaml, files, parts = bad.DATA[name]
    complete(refusal(tmp_path, yaml, files), parts)


def complete(error, parts):
    """The message has these parts, and all that a problem tells; nobody is surprised by it."""
    assert isinstance(error, DataError)
    for part in parts:
        assert part in str(error)
    assert error.problems
    for problem in error.problems:
        assert problem.file
        assert problem.expected
        assert problem.found
        assert problem.hint
        assert problem.hint != joining.UNFORESEEN
    assert len(str(error)) < 20_000


def together(tmp_path, yaml, files):
    """Writes files, and gives a study that reads each of them."""
    for file, held in files.items():
        content = held if isinstance(held, str) else held[0]
        (tmp_path / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    return bad.together(yaml, files)


@pytest.mark.parametrize("study", bad.FILES)
def test_each_of_many_bad_files_is_refused_as_if_it_were_alone(tmp_path, study):
    yaml, files = bad.FILES[study]
    error = refusal(tmp_path, together(tmp_path, yaml, files), {})
    for file, (_, parts) in files.items():
        complete(DataError([problem for problem in error.problems if problem.file == file]), parts)


#: studies of turns, and of dialogues
UNITS = {"turn": ONE.replace("dialogue_rating", "turn_rating"), "dialogue": ONE}


@pytest.mark.parametrize("unit", UNITS)
def test_cells_that_cannot_be_are_reported_each_with_its_row(tmp_path, unit):
    columns = [(ours, cells) for ours, cells in bad.CELLS.items() if (ours == "turn") == (unit == "turn")]
    files = bad.of_cells(columns)
    problems = refusal(tmp_path, together(tmp_path, UNITS[unit], files), {}).problems
    assert len(problems) == sum(len(cells) for _, cells in columns)
    by_row = {(p.file, p.where): p for p in problems}
    for file, (ours, cells) in zip(files, columns, strict=True):
        for i, (cell, expected) in enumerate(cells.items()):
            problem = by_row[file, f"row {i + 2}"]
            assert problem.column.startswith(ours)
            assert problem.expected.startswith(expected)
            assert problem.found
            # a turn or a score that is off its scale is a number by the time it is checked
            if cell and ours != "turn" and expected != "a whole number from 1 to 5 (fluency)":
                assert repr(cell)[:40] in problem.found


# times with a zone and without one are of two studies
@pytest.mark.parametrize("columns", [bad.CELLS_READ[:1], bad.CELLS_READ[1:-1], bad.CELLS_READ[-1:]])
def test_unusual_cells_are_read(tmp_path, columns):
    files = bad.of_cells(columns)
    yaml = UNITS.get(columns[0][0], ONE)
    marks = studies.read(tmp_path, together(tmp_path, yaml, files)).frames["annotations"]
    for file, (ours, cells) in zip(files, columns, strict=True):
        found = marks.loc[marks["corpus"] == file, ours].tolist()
        assert found == [pd.Timestamp(v) if ours == "completed_at" else v for v in cells.values()]


@pytest.mark.parametrize("name", bad.YAML_READ)
def test_an_unusual_yaml_is_read(tmp_path, name):
    yaml, value, expected = bad.YAML_READ[name]
    path = tmp_path / "mine.yaml"
    path.write_bytes(yaml if isinstance(yaml, bytes) else yaml.encode())
    assert value(params.load(path)) == expected


@pytest.mark.parametrize("name", bad.DATA_READ)
def test_unusual_data_are_read(tmp_path, name):
    yaml, content, value, expected = bad.DATA_READ[name]
    assert value(studies.read(tmp_path, yaml, my_csv=content)) == expected


@pytest.mark.parametrize("study", bad.FILES_READ)
def test_unusual_files_are_read(tmp_path, study):
    yaml, files = bad.FILES_READ[study]
    marks = studies.read(tmp_path, together(tmp_path, yaml, files)).frames["annotations"]
    for file, (_, column, expected) in files.items():
        assert marks.loc[marks["corpus"] == file, column].tolist() == expected, file


TONE = CSV + "d1,A,w1,tone,1\nd2,B,w1,tone,4\n"
WORDS = (
    CSV.replace("fluency,4", "fluency,good").replace("fluency,5", "fluency,fair").replace("fluency,2", "fluency,bad")
)
#: a line that the message gives for the source -> the file that is read with it
IN_SOURCE = {
    'delimiter: ";"': CSV.replace(",", ";"),
    'na_values: ["", "6"]': CSV.replace("w2,fluency,5", "w2,fluency,6"),
    'drop: {system: "is empty"}': CSV + "d3,,w1,fluency,2\n",
    "label_names: {qualty: quality}": CSV.replace("quality", "qualty"),
    'drop: {label: ["tone"]}': TONE,
    "repeats: last": CSV + "d1,A,w1,fluency,2\n",
    'identify: {dialogue: ["chat", "bot"]}': CSV + "d1,B,w1,fluency,2\n",
}
#: lines that change others -> what is written, what instead, and the file
INSTEAD = {
    "scale: [0, 7]": ("[1, 5]", "[0, 7]", CSV.replace("fluency,5", "fluency,7").replace("fluency,2", "fluency,0")),
    "integer: false": ("[1, 5]", "[1, 5], integer: false", CSV.replace("fluency,5", "fluency,4.5")),
    "annotators: positions": ("annotator: worker, ", "", CSV.replace("w2", "")),
    'na_values: [""]': ('na_values: ["", "NA"]', 'na_values: [""]', CSV.replace("d2,B", "d2,NA")),
    "tone: {scale: [1, 4]}": ("labels:\n", "labels:\n  tone: {scale: [1, 4]}\n", TONE),
    'categories: ["good", "bad", "fair"]': ("[good, bad]", '["good", "bad", "fair"]', WORDS),
    'patterns: {t: "turn {turn}"}': (", turn: t", "", "t," + CSV.replace("\n", "\nturn 1,", 4)),
}


def in_source(line, yaml=LONG):
    return yaml.replace("    layout", f"    {line}\n    layout")


@pytest.mark.verify
@pytest.mark.parametrize("line", [*IN_SOURCE, *INSTEAD])
def test_the_lines_that_a_message_gives_read_the_file(tmp_path, line):
    before = {
        'na_values: [""]': in_source('na_values: ["", "NA"]'),
        'categories: ["good", "bad", "fair"]': LONG.replace("scale: [1, 5]", "categories: [good, bad]", 1),
        'patterns: {t: "turn {turn}"}': TURNS,
    }.get(line, LONG)
    if line in IN_SOURCE:
        content, after = IN_SOURCE[line], in_source(line, before)
    else:
        old, new, content = INSTEAD[line]
        # what moves to the source leaves its place
        moved = line.startswith(("annotators", "patterns"))
        after = in_source(line, before.replace(old, "")) if moved else before.replace(old, new, 1)
    assert f"`{line}`" in str(refusal(tmp_path, before, {"my_csv": content}))
    assert len(studies.read(tmp_path, after, my_csv=content).frames["annotations"]) >= 3


#: 20 rows of each kind, in a table with two labels
QUESTION = "How fluent were the replies of the chatbot in this conversation, all in all? (1 = not at all)"
TWO = (
    'title: T\nmethod: dialogue_rating\nsources:\n  - {adapter: table, file: my.csv, scores: "{label}", '
    "columns: {dialogue: id, system: s, annotator: a}, "
    f"label_names: {{{json.dumps(QUESTION)}: fluency}}}}\n"
    "labels: {fluency: {scale: [1, 5]}, tone: {scale: [1, 5]}}\n"
)


def two(change=lambda i: {}):
    """A table of 20 rows with two labels. change : number of the row -> cells that differ."""
    rows = [{"id": f"d{i}", "s": "AB"[i % 2], "a": "w", QUESTION: 1 + i % 5, "tone": 3} | change(i) for i in range(20)]
    head = ",".join(f'"{name}"' for name in rows[0])
    return "\n".join([head, *(",".join(map(str, row.values())) for row in rows)]) + "\n"


def test_a_problem_of_every_row_is_one_line_and_quotes_a_question_once(tmp_path):
    begins = f"my.csv, {QUESTION[:59]}…, score: expected a number, found 'bad' (row 2, row 3, row 4) and 17 more"
    head, line = str(refusal(tmp_path, TWO, {"my_csv": two(lambda i: {QUESTION: "bad"})})).splitlines()
    assert head.startswith("the data cannot be read")
    assert line.strip().startswith(begins)
    assert line.count("How fluent") <= 3


def test_a_label_of_a_table_that_is_spelt_otherwise_is_sought_among_the_columns(tmp_path):
    said = "declare it under `labels:`, say how it is spelt in `label_names`"
    assert said in str(refusal(tmp_path, WIDE, {"my_csv": "id,fluency_a1,qualty_a1\n1,4,5\n"}))
    plain = TWO.replace(f", label_names: {{{json.dumps(QUESTION)}: fluency}}", "")
    content = two().replace(f'"{QUESTION}"', "fluency").replace('"tone"', "Tone")
    assert "`label_names: {Tone: tone}`" in str(refusal(tmp_path, plain, {"my_csv": content}))
    (said,) = str(refusal(tmp_path, plain, {"my_csv": two().replace('"tone"', "other")})).splitlines()[1:]
    assert "`how_fluent_were_the_replies_of_the_chatb: {scale: [1, 5]}` and, under the source, `label_names: {" in said


def test_the_sheets_of_a_workbook_are_named(tmp_path):
    workbook.write(tmp_path / "my.xlsx", {name: [["id", "s"], ["d1", "x"]] for name in ("Ratings", "Notes")})
    for sheet, said in (
        ("", 'name one under the source: `sheet: "Ratings"`'),
        ("sheet: Rating, ", "expected one of Ratings, Notes, found 'Rating'; write `sheet: \"Ratings\"`"),
    ):
        assert said in str(refusal(tmp_path, TWO.replace("file: my.csv, ", f"file: my.xlsx, {sheet}"), {}))
    (tmp_path / "my.xlsx").rename(tmp_path / "my.csv")
    assert "a text file, found a workbook; name the file .xlsx" in str(refusal(tmp_path, TWO, {}))


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
    with monkeypatch.context() as patch:
        patch.setattr(build.schema, "validate", broken)
        with pytest.raises(DataError) as caught:
            build.build(params.load(path))
    (problem,) = caught.value.problems
    assert (problem.file, problem.expected) == ("my.csv", "judgements that can be joined and checked")
    assert problem.hint == joining.UNFORESEEN
    assert "KeyError: 'lost' (test_malformed_input.py, line" in problem.found
    monkeypatch.setattr(table, "read", broken)
    with pytest.raises(DataError, match="what `adapter: table` reads, found KeyError"):
        build.build(params.load(path))


def test_data_that_do_not_fit_into_the_memory_are_no_bug(tmp_path, monkeypatch):
    monkeypatch.setattr(table, "read", mock.Mock(side_effect=MemoryError))
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


@pytest.mark.parametrize("make", ["bomb", "cut"])
def test_a_workbook_that_would_fill_the_memory_or_is_none_is_refused(tmp_path, make):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", "0" * 60_000_000 * (make == "bomb"))
    content = file.getvalue() if make == "bomb" else file.getvalue()[:60]
    said = str(refusal(tmp_path, LONG.replace("my.csv", "my.xlsx"), {"my_xlsx": content}))
    assert "my.xlsx" in said
    assert {"bomb": "at most 50,000,000 bytes when unpacked", "cut": "a workbook"}[make] in said


@pytest.mark.verify
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
        (["--list", "--jobs", "0"], "a whole number from 1 to 256, found '0'"),
        (["check", "demo", "--set", "title=!!int x"], "--set: title: not a YAML value: '!!int x'"),
        (["check", "demo", "--set", "seeds.pick=" + "9" * 5001], "at most 18 digits, found 5,001"),
        (["check", "demo", "--set", "a." * 60 + "b=1"], "--set: expected section.key=value"),
        (["new", "x" * 5000, "--data", "my.csv"], "a study's name"),
        (["--dry-run", "--only", "iaa", "--only", ", "], "--only: expected notebooks (03_iaa, 03 or iaa), found ', '"),
        (["--dry-run", "--out", ""], "--out: expected a folder, found an empty name"),
        (["annotate", "scoreboard"], "scoreboard: expected labels to ask for, found none"),
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
        ('dialogue,system,system_text\nd1,A,"hi\n', "is a quote left open?"),
        ("dialogue,system,system_text\n,A,hi\n", "said.csv, row 2, dialogue: expected the id of the dialogue"),
    ],
)
def test_dialogues_that_cannot_be_read_end_with_2_and_a_line(tmp_path, monkeypatch, capsys, content, said):
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path / "out"))
    monkeypatch.setattr(cli.signal, "signal", lambda *_: None)
    (tmp_path / "said.csv").write_text(content)
    assert cli.main(["annotate", "demo", "--dialogues", str(tmp_path / "said.csv")]) == 2
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
