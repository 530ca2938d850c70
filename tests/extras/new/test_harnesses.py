"""Exports of platforms, evaluation harnesses and tracing tools: read without an edit, and nobody taken for a person
who is none."""

import datetime as dt
import json
import re
from types import SimpleNamespace

import pytest
from doors.reading import Judgement, fingerprint
from doors.reading import judgements as read_as
from fixtures import exports, workbook
from fixtures import yaml_studies as studies
from fixtures.exports import save
from fixtures.harnesses import HARNESSES, INSPECT

from judgebook.extras.new import draft
from judgebook.study import params
from judgebook.study.schema import DataError

#: scales of the labels that `new` declares
SCALES = {
    "SurveyMonkey": {"fluency": (1, 5), "relevance": (1, 5)},
    "Toloka": {"fluency": (1, 5), "relevance": (1, 5)},
    "Appen": {"fluency": (1, 5), "relevance": (1, 5)},
    "Potato 1": {"fluency": (1, 5), "relevance": (0, 1)},
    "Inspect": {"includes": (0, 1), "model_graded_qa": (0, 1)},
    "lm-evaluation-harness": {"exact_match": (0, 1)},
    "Langfuse": {"fluency": (1, 5), "relevance": (0, 1)},
    "Phoenix": {"helpfulness": (1, 5), "polite": (0, 1)},
    "promptfoo": {"is_polite": (0, 1), "hello": (0, 1), "human": (0, 1)},
    "ParlAI ACUTE-Eval": {"who_would_you_prefer_to_talk_to": (-1, 1)},
    "Label Studio, pairs": {"pw": (-1, 1)},
    "Label Studio, ranks": {"rank": (1, 3)},
}


def tried(folder, data):
    text = draft.new_yaml("tried", data)
    study = params.load(studies.write(folder, text, name="tried"))
    return text, study, SimpleNamespace(frames={"annotations": studies.judgements(folder, text, "tried")})


def meant(written):
    """What a fixture wrote, as `doors.reading` compares it."""
    pairs = [(s if isinstance(s, tuple) else (s, None)) for _, s, *_ in written]
    return [
        Judgement(f"{d} {s} {other}", s, who, label, score, other)
        for (d, _, who, label, score, _), (s, other) in zip(written, pairs, strict=True)
    ]


def kinds(built):
    marks = built.frames["annotations"]
    models = marks[marks["annotator_kind"] != "human"]
    return models.groupby("annotator")["annotator_kind"].first().to_dict()


@pytest.mark.parametrize("tool", HARNESSES)
def test_every_judgement_is_read(tmp_path, tool):
    data, written, models = HARNESSES[tool](tmp_path)
    text, study, built = tried(tmp_path, data)
    assert re.search(rf"^# Recognised: an export of {tool.partition(',')[0].removesuffix(' 1')} \(", text, re.MULTILINE)
    assert fingerprint(read_as(built)) == fingerprint(meant(written))
    assert kinds(built) == models
    assert {label.id: label.scale for label in study.label_list()} == SCALES[tool]
    if "context" in text:  # what several systems answered is known to be the same
        assert built.frames["annotations"]["context"].nunique() == len({row[0] for row in written})


def test_names_of_people_stay_in_the_file(tmp_path):
    data, _, _ = HARNESSES["Langfuse"](tmp_path)
    text = draft.new_yaml("tried", data)
    built = studies.read(tmp_path, text)
    assert "Example" not in text
    assert not built.frames["annotations"].astype(str).apply(lambda c: c.str.contains("Ann Example")).any().any()


def test_a_log_that_is_cut_off_is_refused(tmp_path):
    whole = (INSPECT / "alpha.eval").read_bytes()
    (tmp_path / "log.eval").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"expected a log of Inspect, found .*is the run finished"):
        draft.new_yaml("tried", tmp_path / "log.eval")


def test_a_pair_whose_systems_nothing_names_is_asked_for(tmp_path):
    data, _, _ = HARNESSES["Label Studio, pairs"](tmp_path)
    tasks = [
        {**t, "data": {k: v for k, v in t["data"].items() if "model" not in k}} for t in json.loads(data.read_text())
    ]
    with pytest.raises(DataError, match=r"expected keys that name both systems of a pair, found .*data\.text1"):
        draft.new_yaml("tried", save(data, tasks))


@pytest.mark.parametrize(("who", "again"), [("Email Address", True), ("Your initials", False), ("Who are you?", False)])
def test_a_form_as_a_workbook(tmp_path, who, again):
    tasks = exports.drawn(9, n=6)
    rows = [["Timestamp", who, "Which chat?", "Which bot was it?", "Fluency", "Relevance"]]
    for i, ((d, s, person), (scores, _)) in enumerate(tasks.items()):
        name = f"{person}@example.org" if who == "Email Address" else person.title()
        rows.append([dt.datetime(2024, 5, 1, 9, i, 3), name, d, s, *scores.values()])
    if again:  # somebody sent the first form again, with another answer
        first = rows[1]
        rows.insert(3, [dt.datetime(2024, 5, 1, 11), *first[1:4], first[4] % 5 + 1, first[5]])
        tasks[next(iter(tasks))][0]["fluency"] = first[4] % 5 + 1
    data = workbook.write(tmp_path / "Rate (Responses).xlsx", {"Form Responses 1": rows})
    text, _, built = tried(tmp_path, data)
    assert "# Recognised: an export of Google Forms" in text
    assert ("repeats: last" in text) == again
    assert fingerprint(read_as(built)) == fingerprint(meant(exports.truth(tasks)))
    assert "example.org" not in text
    assert built.frames["annotations"]["completed_at"].notna().all()
