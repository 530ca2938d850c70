"""Files and expressions that take more memory or time than they may end in a message; so does what a workbook lacks."""

import zipfile

import pandas as pd
import pytest
from fixtures import workbook
from fixtures import yaml_studies as studies

from judgebook.sources import formats
from judgebook.sources.foreign import child, tasks
from judgebook.study.schema import DataError
from judgebook.study.source_shared import FileOptions

ROWS = [["chat", "score"], ["d1", 3.0], ["d2", 4.0], ["d3", 5.0]]
FAR = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
SHEET = "xl/worksheets/sheet1.xml"


def rewritten(path, old, new, moved=SHEET):
    """The workbook with other XML in its first sheet; moved : where that is."""
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name).decode() for name in file.namelist()}
    assert old in parts[SHEET]
    content = parts.pop(SHEET).replace(old, new)
    links = {name: text.replace("worksheets/sheet1.xml", moved.removeprefix("xl/")) for name, text in parts.items()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in {**links, moved: content}.items():
            file.writestr(name, text)
    return path


@pytest.mark.parametrize(
    ("far", "moved"),
    [
        (FAR, SHEET),
        (FAR.replace('"', "'").replace("=", " = "), SHEET),
        (FAR.replace(' r="XFD', '\nr="xfd'), "xl/sheets/sheet1.XML"),
    ],
)
def test_a_cell_far_out_is_refused_however_it_is_written(tmp_path, far, moved):
    path = rewritten(workbook.write(tmp_path / "my.xlsx", {"S": ROWS}), "</sheetData>", far, moved)
    assert path.stat().st_size < 3_000
    with pytest.raises(DataError) as caught:
        formats.read_workbook(path, "my.xlsx", "S")
    (problem,) = caught.value.problems
    assert problem.expected == "a workbook that can be read with 700 MB of memory"


def test_only_the_named_sheet_is_read(tmp_path):
    path = rewritten(workbook.write(tmp_path / "my.xlsx", {"Wild": ROWS, "S": ROWS}), "</sheetData>", FAR)
    assert formats.read_workbook(path, "my.xlsx", "S")[2] == ["d1", "3"]
    with pytest.raises(DataError, match="MB of memory"):
        formats.filled_sheets(path, "my.xlsx")


@pytest.mark.parametrize(
    ("cell", "content"),
    [
        ('<c r="B3" t="e"><f>1/0</f><v>#DIV/0!</v></c>', "#DIV/0!"),
        ('<c t="e"><v>#NAME?</v></c>', "#NAME?"),
        ('<c r="B3"><f>1+3</f><v>4</v></c>', "4"),
        ('<c r="B3" t="str"><f>A1</f><v></v></c>', ""),
    ],
)
def test_an_error_is_read_as_a_spreadsheet_shows_it(tmp_path, cell, content):
    path = rewritten(workbook.write(tmp_path / "my.xlsx", {"S": ROWS}), '<c r="B3"><v>4.0</v></c>', cell)
    assert formats.read_workbook(path, "my.xlsx", None)[3] == ["d2", content]


@pytest.mark.parametrize("cell", ['<c r="B3"><f>1+3</f></c>', "<c r='B3'><f>1+3</f><v/></c>", "<c><f>1+3</f></c>"])
def test_a_formula_without_a_value_is_refused_with_its_cell(tmp_path, cell):
    path = rewritten(workbook.write(tmp_path / "my.xlsx", {"S": ROWS}), '<c r="B3"><v>4.0</v></c>', cell)
    with pytest.raises(DataError) as caught:
        formats.read_workbook(path, "my.xlsx", None)
    (problem,) = caught.value.problems
    assert (problem.where, problem.found) == ("sheet S, cell B3", "a formula without one")


@pytest.fixture
def asked(monkeypatch):
    """The tasks that child processes get."""
    tasks_, of_file = [], child.of_file

    def counted(task, *args, **more):
        tasks_.append(task)
        return of_file(task, *args, **more)

    monkeypatch.setattr(child, "of_file", counted)
    return tasks_


def test_parquet_is_read_once_while_it_stays_the_same(tmp_path, asked):
    path = tmp_path / "my.parquet"
    for score in (3, 4):
        pd.DataFrame({"chat": ["d1"], "rating": [score]}).to_parquet(path)
        for name in ("my.parquet", str(path)):
            assert [*formats.read_table(path, name, FileOptions())["rating"]] == [str(score)]
    assert asked == ["parquet"] * 2


def test_cells_are_named_as_spreadsheets_name_them():
    assert [tasks._letters(n) for n in (1, 26, 27, 702, 703, 16_384)] == ["A", "Z", "AA", "ZZ", "AAA", "XFD"]
    assert [tasks._number(text) for text in ("A", "Z", "AA", "ZZ", "AAA", "xfd")] == [1, 26, 27, 702, 703, 16_384]


@pytest.mark.parametrize("key", ["patterns: {chat: '/(?P<system>(a+)+)$/'}", "keep: {chat: 'matches (a|a)*$'}"])
def test_an_expression_that_never_ends_is_refused(tmp_path, monkeypatch, key):
    monkeypatch.setattr(child.limits, "CHILD_SECONDS", 1)
    yaml = studies.LONG.replace("    layout", f"    {key}\n    layout")
    assert key in yaml
    with pytest.raises(DataError, match="an expression that needs at most 1 seconds for"):
        studies.read(tmp_path, yaml, my_csv=studies.LONG_CSV.replace("d1", "a" * 60 + "!"))


def test_without_limits_of_the_system_time_is_limited(monkeypatch):
    monkeypatch.setattr(child.limits, "CHILD_SECONDS", 1)
    monkeypatch.setattr(tasks, "resource", None)
    with pytest.raises(child.TooMuchError, match="1 seconds"):
        child.run("matches", 60, expression="(a+)+", texts=["a" * 60 + "!"])


OASIS = "urn:oasis:names:tc:opendocument:xmlns"
SPREADSHEET = f"""\
<office:document-content xmlns:office="{OASIS}:office:1.0" xmlns:table="{OASIS}:table:1.0"
 xmlns:text="{OASIS}:text:1.0" xmlns:calcext="urn:c"><office:body><office:spreadsheet>
 <table:table table:name="Other">
  <table:table-row><table:table-cell table:formula="of:=1"/></table:table-row>
 </table:table>
 <table:table table:name="S">ROWS</table:table>
</office:spreadsheet></office:body></office:document-content>
"""


def spreadsheet(path, cells, row=""):
    """An .ods: each row a name, and a cell of which the attributes and the text are given. row : attributes of rows."""
    rows = [
        f'<table:table-row {row}><table:table-cell office:value-type="string"><text:p>d{i}</text:p></table:table-cell>'
        f"<table:table-cell {attributes}>{f'<text:p>{text}</text:p>' if text else ''}</table:table-cell>"
        "</table:table-row>"
        for i, (attributes, text) in enumerate(cells, start=1)
    ]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        file.writestr("content.xml", SPREADSHEET.replace("ROWS", "".join(rows)))
        file.writestr("META-INF/manifest.xml", '<m:manifest xmlns:m="urn:m"/>')
    return path


FOUR = 'table:formula="of:=2+2" office:value-type="float" office:value="4"'
WRONG = 'table:formula="of:=1/0" office:value-type="{}" office:{}="{}" calcext:value-type="error"'


def test_errors_of_an_opendocument_spreadsheet(tmp_path):
    cells = [
        (FOUR, "4"),
        (WRONG.format("string", "string-value", ""), "#DIV/0!"),
        (WRONG.format("float", "value", 0), "Err:502"),
    ]
    rows = formats.read_workbook(spreadsheet(tmp_path / "my.ods", cells), "my.ods", "S")
    assert rows == {1: ["d1", "4"], 2: ["d2", "#DIV/0!"], 3: ["d3", "Err:502"]}
    spreadsheet(tmp_path / "my.ods", [(FOUR, "4"), ('table:formula="of:=2+2"', "")])
    with pytest.raises(DataError, match="cell B2: expected a value, found a formula without one"):
        formats.read_workbook(tmp_path / "my.ods", "my.ods", "S")


def test_cells_of_an_opendocument_spreadsheet_that_repeat_without_end(tmp_path):
    many = f'{FOUR} table:number-columns-repeated="60"'
    path = spreadsheet(tmp_path / "my.ods", [(many, "4")], 'table:number-rows-repeated="4294967295"')
    assert path.stat().st_size < 2_000
    with pytest.raises(DataError, match="a workbook that can be read with 700 MB of memory, found one that takes more"):
        formats.read_workbook(path, "my.ods", "S")
