"""Columns and keys that look like something else to `new`: names that are questions, ids that are answers."""

import json
import random

import pytest
from fixtures import yaml_studies as studies

from judgebook.extras.new import draft

N = 20


def pick(low=1, high=5, seed=1):
    draw = random.Random(seed)
    return lambda: draw.randint(low, high)


def csv(path, head, row):
    path.write_text("\n".join([head, *(",".join(map(str, row(i))) for i in range(N))]) + "\n", encoding="utf-8")
    return path


def read(folder, path):
    yaml = draft.new_yaml("odd", path)
    return yaml, studies.read(folder, yaml).frames["annotations"]


def labels(marks):
    return set(marks["label"])


def test_somebody_who_always_gave_the_same_answer_is_kept(tmp_path):
    score = pick()
    path = csv(
        tmp_path / "f.csv", "dialogue_id,annotator_1,annotator_2,annotator_3", lambda i: [i, score(), score(), 5]
    )
    yaml, marks = read(tmp_path, path)
    assert len(marks) == 3 * N
    assert len(set(marks["annotator"])) == 3
    assert "drop" not in yaml


@pytest.mark.parametrize(
    ("head", "wanted"),
    [
        (
            "dialogue,system,Did the model refuse?,Was the model polite?",
            {"did_the_model_refuse", "was_the_model_polite"},
        ),
        ("dialogue,worker,bot_polite,bot_funny", {"polite", "funny"}),
        ("dialogue,system,users,experts", {"users", "experts"}),
    ],
)
def test_questions_about_models_and_people_are_labels(tmp_path, head, wanted):
    score = pick()
    path = csv(tmp_path / "f.csv", head, lambda i: [i // 2, f"x{i % 2}", score(), score()])
    _, marks = read(tmp_path, path)
    assert labels(marks) == wanted


def test_numbered_keys_are_what_was_judged_however_many_people_did(tmp_path):
    score = pick()
    who = [f"{a}{b}v" for a in "abcdef" for b in "klmno"]
    content = {name: {f"d{i}": score() for i in range(18)} for name in who}
    path = tmp_path / "f.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    _, marks = read(tmp_path, path)
    assert set(marks["dialogue"]) == {f"d{i}" for i in range(18)}
    assert len(set(marks["annotator"])) == len(who)


def test_a_flag_next_to_outcomes_is_none(tmp_path):
    path = csv(
        tmp_path / "f.csv",
        "id,model_a,model_b,same_language,winner_model_a,winner_model_b,winner_tie",
        lambda i: [i, "Ada", "Bob", int(i % 4 > 0), *(int(i % 3 == k) for k in range(3))],
    )
    _, marks = read(tmp_path, path)
    assert labels(marks) == {"better"}
    assert marks["score"].tolist() == [(1, -1, 0)[i % 3] for i in range(N)]


@pytest.mark.parametrize("vote", [(-3, -1, 0, 1, 3), (1, 2)])
def test_confidence_is_no_side_of_a_comparison(tmp_path, vote):
    score, draw = pick(), random.Random(3)
    path = csv(
        tmp_path / "f.csv",
        "prompt,worker,system_a,system_b,preference,confidence",
        lambda i: [f"p{i // 2}", f"w{i % 2}", "Ada", "Bob", draw.choice(vote), score()],
    )
    yaml, marks = read(tmp_path, path)
    assert labels(marks) == {"preference"}
    assert "not used: confidence: does not say which side won" in yaml


def test_json_below_columns_of_any_name(tmp_path):
    score = pick()
    cell = lambda: '"' + json.dumps({"fluency": score(), "style": score()}).replace('"', '""') + '"'  # noqa: E731
    path = csv(tmp_path / "f.csv", "dialogue,worker,my.col", lambda i: [i // 2, f"w{i % 2}", cell()])
    _, marks = read(tmp_path, path)
    assert len(marks) == 2 * N
    assert labels(marks) == {"fluency", "style"}
