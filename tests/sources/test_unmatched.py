"""Names of the YAML that the data do not have, and counts that are true for every adapter."""

import pytest
import yaml
from fixtures import yaml_studies as studies

from judgebook.sources import in_words
from judgebook.study import params
from judgebook.study.schema import DataError


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"systems": {"a": "System A"}}, r"systems: expected a system of the data, found 'a'; did you mean 'A'"),
        ({"unranked_systems": ["human"]}, r"unranked_systems: expected a system of the data, found 'human'; there are"),
        ({"metric_directions": {"blue": -1}}, r"metric_directions: expected a metric .* did you mean 'bleu'"),
        ({"groups": {"students": {}}}, r"groups: expected an evaluator group of the data, found 'students'"),
        ({"groups": {"x": {"annotators": ["w11"]}}}, r"groups\.x\.annotators: expected an annotator of the data"),
        ({"scope": {"exclude_dialogues": {"dialogue_rating": ["d7"]}}}, r"exclude_dialogues\.dialogue_rating: .*'d7'"),
        ({"quality_control": {"labels": ["fluent"]}}, r"quality_control\.labels: .* did you mean 'fluency'"),
        ({"metrics": {"corpora": ["second"]}}, r"metrics\.corpora: expected a corpus of the data, found 'second'"),
        (
            {"techniques": {"pairs": {"p": ["A", "C"]}}},
            r"techniques\.pairs\.p: expected a system of the data, found 'C'",
        ),
    ],
)
def test_names_that_match_nothing_are_errors(tmp_path, change, message):
    text = yaml.safe_dump(yaml.safe_load(studies.LONG) | change)
    with pytest.raises(DataError, match=message):
        studies.read(tmp_path, text, my_csv=studies.LONG_CSV)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"judges": {"gpt*": "llm"}}, r"judges: expected an annotator, found 'gpt\*'; there are w1, w2"),
        ({"label_names": {"fluency": "flu"}}, r"label_names: expected a declared label, found 'flu'"),
    ],
)
def test_names_of_a_source_that_match_nothing_are_errors(tmp_path, change, message):
    study = yaml.safe_load(studies.LONG)
    study["sources"][0] |= change
    with pytest.raises(DataError, match=message):
        studies.read(tmp_path, yaml.safe_dump(study), my_csv=studies.LONG_CSV)


def test_what_was_understood_is_said_with_pseudonyms_of_people(tmp_path):
    csv = "chat,bot,worker,what,rating,lead_time,mood\n" + "\n".join(
        f"d{i},{'AB'[i % 2]},w{k},fluency,{1 + (i + k) % 5},{20 + i * k % 7},{1 + i * k % 3}"
        for i in range(9)
        for k in (1, 2)
    )
    path = studies.write(tmp_path, studies.LONG.replace("  quality: {scale: [1, 5]}\n", ""), my_csv=csv)
    lines = in_words.describe(params.load(path))
    assert "  row 2: annotator A0001 judged dialogue d0 of system A, fluency 2 of 1–5" in lines
    warned = lines.index("warning: my.csv: columns that may be judgements and are not used:")
    assert lines[warned + 1] == "  mood: numbers that look like ratings: 1 to 3"
    assert "  lead_time: a duration: 20 to 26" in lines
