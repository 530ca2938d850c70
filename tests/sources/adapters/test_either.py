"""`either`: of several places the first that has a value counts, else the constant."""

import json

from fixtures import yaml_studies as studies

from judgebook.sources import build
from judgebook.study import params

YAML = """title: Either
method: dialogue_rating
sources:
  - adapter: records
    file: scores.json
    scores: id
    columns: {dialogue: trace, system: model}
    either: {annotator: [author], score: [words, number]}
    constants: {label: quality, annotator: nobody}
    values: {good: 5}
labels:
  quality: {scale: [1, 5], direction: 1}
"""


def test_the_first_value_that_is_given_counts(tmp_path):
    given = [("ann", None, 2), ("ben", "good", 1), (None, "", 3), ("", "good", None)]
    records = [
        {"id": i, "trace": f"d{i}", "model": "m", "author": who, "words": words, "number": number}
        for i, (who, words, number) in enumerate(given)
    ]
    (tmp_path / "scores.json").write_text(json.dumps(records), encoding="utf-8")
    built = build.build(params.load(studies.write(tmp_path, YAML)))
    marks = built.frames["annotations"].sort_values("dialogue")
    assert list(marks["score"]) == [2, 5, 3, 5]
    # people are pseudonymised: two whom the file names, and the constant for the others
    assert marks["annotator"].nunique() == 3
    assert marks["annotator"].iloc[2] == marks["annotator"].iloc[3]
