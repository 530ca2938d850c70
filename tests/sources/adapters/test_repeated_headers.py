"""Columns to which the header gives the same name."""

import pytest
import yaml
from fixtures import yaml_studies as studies

from judgebook.study.schema import DataError

FORM = "by,Fluent?,Relevant?,Fluent?,Relevant?\nann,4,3,2,1\nben,5,3,,2\n"
LABELS = {"fluent": {"scale": [1, 5]}, "relevant": {"scale": [1, 5]}}
NAMES = {"Fluent?": "fluent", "Relevant?": "relevant"}


def read(folder, source, text=FORM):
    source = {"file": "my.csv", "columns": {"annotator": "by"}, "label_names": NAMES} | source
    study = {"title": "x", "method": "dialogue_rating", "sources": [source], "labels": LABELS}
    marks = studies.read(folder, yaml.safe_dump(study), my_csv=text).frames["annotations"]
    return sorted(zip(marks["dialogue"], marks["annotator"], marks["label"], marks["score"], strict=True))


def test_each_is_a_column_of_its_own(tmp_path):
    source = {"adapter": "records", "scores": "{label} ({i})", "identify": {"dialogue": ["{i}"]}}
    assert read(tmp_path, source) == [
        ("1", "A0001", "fluent", 4),
        ("1", "A0001", "relevant", 3),
        ("1", "A0002", "fluent", 5),
        ("1", "A0002", "relevant", 3),
        ("2", "A0001", "fluent", 2),
        ("2", "A0001", "relevant", 1),
        ("2", "A0002", "relevant", 2),
    ]
    names = {"Fluent? (1)": "fluent", "Fluent? (2)": "relevant"}
    source = {"adapter": "table", "columns": {"annotator": "by", "dialogue": "{row}"}, "label_names": names}
    assert [row[2:] for row in read(tmp_path, source)] == [("fluent", 4), ("relevant", 2), ("fluent", 5)]


@pytest.mark.parametrize("adapter", ["table", "records"])
def test_the_number_is_no_part_of_an_id(tmp_path, adapter):
    text = "id,fluent_ann,fluent_ann,relevant_ann\nd1,4,3,2\n"
    source = {"adapter": adapter, "scores": "{label}_{annotator}", "columns": {"dialogue": "id"}, "label_names": {}}
    with pytest.raises(DataError, match=r"fluent_ann \(1\): expected a name that says one annotator"):
        read(tmp_path, source, text)
