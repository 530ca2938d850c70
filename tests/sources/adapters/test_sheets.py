"""Several sheets of a workbook, by a pattern for their names."""

import pytest
import yaml
from fixtures import workbook
from fixtures import yaml_studies as studies

from judgebook.study.schema import DataError

HEAD = ["item", "system", "fluency"]
SHEETS = {
    "Read me": [["Guidelines"]],
    "rater ann": [HEAD, ["d1", "A", 4], ["d2", "B", 2]],
    "rater ben": [HEAD, ["d1", "A", 5]],
}
COLUMNS = {"dialogue": "item", "system": "system"}


def read(folder, adapter, sheets=None, sheet="rater {annotator}", **more):
    workbook.write(folder / "my.xlsx", sheets or SHEETS)
    source = {"adapter": adapter, "file": "my.xlsx", "sheet": sheet, "scores": "{label}", "columns": COLUMNS} | more
    study = {"title": "x", "method": "dialogue_rating", "sources": [source], "labels": {"fluency": {"scale": [1, 5]}}}
    return studies.read(folder, yaml.safe_dump(study))


@pytest.mark.parametrize("adapter", ["table", "records"])
def test_a_sheet_for_each_annotator(tmp_path, adapter):
    built = read(tmp_path, adapter)
    marks = built.frames["annotations"][["dialogue", "system", "annotator", "score"]]
    assert sorted(marks.itertuples(index=False, name=None)) == [
        ("d1", "A", "A0001", 4),
        ("d1", "A", "A0002", 5),
        ("d2", "B", "A0001", 2),
    ]
    counts = built.frames["counts"].query("what == 'rows'").set_index("action")["n"]
    assert counts.to_dict() == {"read": 3, "kept": 3}
    assert not any(built.unused.values())


@pytest.mark.parametrize("adapter", ["table", "records"])
def test_places_name_the_sheet(tmp_path, adapter):
    with pytest.raises(DataError, match=r"my\.xlsx, sheet rater ben, row 2, fluency.*found 9"):
        read(tmp_path, adapter, SHEETS | {"rater ben": [HEAD, ["d1", "A", 9]]})
    with pytest.raises(DataError, match=r"expected one like 'judge \{annotator\}', found rater ann, rater ben"):
        read(tmp_path, adapter, sheet="judge {annotator}")


def test_sheets_of_a_table_have_the_same_columns(tmp_path):
    sheets = SHEETS | {"rater ben": [[*HEAD, "relevance"], ["d1", "A", 5, 3]]}
    with pytest.raises(DataError, match="sheet rater ben, row 1, relevance: expected the columns of the first sheet"):
        read(tmp_path, "table", sheets)
