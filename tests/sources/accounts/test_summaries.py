"""Rows below the data that sum them up are never judgements: `new` leaves them out, and other YAMLs are refused."""

import re

import pytest
import yaml
from fixtures import yaml_studies as studies

from judgebook.extras.new.asking.terminal import carried
from judgebook.extras.new.draft import drafted
from judgebook.sources import build
from judgebook.study import params
from judgebook.study.schema import DataError

SCORES = [4, 5, 3, 2, 4, 5, 3, 3, 2, 5, 4, 4]
BODY = [f"d{i},{'AB'[i % 2]},{'ann' if i % 3 else 'ben'},{score}" for i, score in enumerate(SCORES)]
HEAD = "id,system,rater,fluency"
#: rows below the data -> how many of them there are
BELOW = {
    "a mean without other names": ["Mean,,,3.67"],
    "in German": ["Summe,,,44", "Mittelwert,,,3.67"],
    "a block below an empty line": ["", "Average,,,3.67", "kappa,,,0.5"],
    "a block with a header of its own": ["", ",,,fluency", "n,,,12", "SD,,,1.07"],
}
SOURCE = {
    "file": "my.csv",
    "scores": "{label}",
    "columns": {"dialogue": "id", "system": "system", "annotator": "rater"},
}


def study(adapter, **more):
    source = SOURCE | {"adapter": adapter} | more
    labels = {"fluency": {"scale": [0, 100], "integer": False}}
    return yaml.safe_dump({"title": "x", "method": "dialogue_rating", "sources": [source], "labels": labels})


@pytest.mark.parametrize("name", BELOW)
def test_new_leaves_them_out(tmp_path, name):
    (tmp_path / "my.csv").write_text("\n".join([HEAD, *BODY, *BELOW[name]]) + "\n", encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(carried(drafted("mine", tmp_path / "my.csv", tmp_path)), encoding="utf-8")
    frames = build.build(params.load(tmp_path / "mine.yaml")).frames
    assert sorted(frames["annotations"]["score"]) == sorted(SCORES)
    counts = frames["counts"].query("action == 'dropped' and (reason.str.contains('skip_rows') or what == 'rows')")
    assert counts["n"].sum() == sum(bool(line) for line in BELOW[name])


@pytest.mark.parametrize("adapter", ["table", "records"])
@pytest.mark.parametrize("name", BELOW)
def test_a_yaml_that_reads_them_is_refused(tmp_path, adapter, name):
    content = "\n".join([HEAD, *BODY, *BELOW[name]]) + "\n"
    with pytest.raises(DataError, match="expected judgements, found a row that sums up") as refused:
        studies.read(tmp_path, study(adapter), my_csv=content)
    written = re.search(r"`skip_rows: \[([0-9, ]+)\]`", str(refused.value))
    left = [int(row) for row in written[1].split(", ")]
    built = studies.read(tmp_path, study(adapter, skip_rows=left), my_csv=content)
    assert len(built.frames["annotations"]) == len(SCORES)


@pytest.mark.parametrize("last", [["d12,all,ann,3"], ["", "d12,A,ann,4", "d13,B,ben,5"], ["all,A,ann,9"]])
def test_judgements_by_such_names_stay(tmp_path, last):
    built = studies.read(tmp_path, study("table"), my_csv="\n".join([HEAD, *BODY, *last]) + "\n")
    assert len(built.frames["annotations"]) == len(SCORES) + sum(map(bool, last))
