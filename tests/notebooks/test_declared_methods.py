"""A study with methods of its own: reading, agreement and performance treat them like those that every study has."""

import numpy as np
import pytest
from fixtures import yaml_studies as studies
from fixtures.notebook_runs import run_all

from judgebook.display.names import display_names
from judgebook.study import params

SECONDS = 40
NOTEBOOKS = ("03_iaa", "07_bot_performance")
YAML = """\
title: Sliders and duels
methods:
  slider: {title: Slider, unit: dialogue}
  face_off: {unit: pair}
method: slider
sources:
  - {adapter: table, file: rated.csv, layout: long,
     columns: {dialogue: chat, system: bot, annotator: worker, label: what, score: rating}}
  - {adapter: table, file: duels.csv, layout: long, values: {first: 1, second: -1, same: 0},
     columns: {dialogue: chat, dialogue_b: chat_b, system: bot, system_b: bot_b, annotator: worker, label: what,
               score: won}}
labels:
  fluency: {scale: [0, 100], direction: 1}
  preference: {method: face_off, scale: [-1, 1]}
costs: {payments: {all: {slider: 0.2}}}
"""


def tables(n=30):
    """Dialogues of two systems, of which `better` is better, each judged by two of four workers."""
    rng = np.random.default_rng(3)
    rated, duels = ["chat,bot,worker,what,rating"], ["chat,bot,chat_b,bot_b,worker,what,won"]
    for i in range(n):
        for worker in rng.choice(4, 2, replace=False):
            for bot, mean in (("better", 70), ("worse", 40)):
                score = int(np.clip(round(rng.normal(mean, 12)), 0, 100))
                rated.append(f"{bot}{i},{bot},w{worker},fluency,{score}")
            won = rng.choice(["first", "same", "second"], p=[0.7, 0.1, 0.2])
            duels.append(f"better{i},better,worse{i},worse,w{worker},preference,{won}")
    return {"rated_csv": "\n".join(rated) + "\n", "duels_csv": "\n".join(duels) + "\n"}


def test_they_are_read_and_named(tmp_path):
    built = studies.read(tmp_path, YAML, **tables())
    marks = built.frames["annotations"]
    assert marks.groupby(["method", "label"]).size().to_dict() == {
        ("face_off", "preference"): 60,
        ("slider", "fluency"): 120,
    }
    names = display_names(params.load(tmp_path / "mine.yaml"), marks)
    assert names.name("method", "slider") == "Slider"
    assert names.name("method", "face_off") == "Face off"


def test_titles_of_other_studies_do_not_show(tmp_path):
    first = params.load(studies.write(tmp_path, YAML, "first"))
    params.load(studies.write(tmp_path, YAML.replace("title: Slider", "title: Cursor"), "second"))
    params.load(studies.write(tmp_path, YAML.replace("slider", "knob"), "third"))
    titles = display_names(first).titles["method"]
    assert titles["slider"] == "Slider"
    assert "knob" not in titles


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("unit: pair", "unit: session", 4, ["'methods.face_off.unit': expected 'turn', 'dialogue' or 'pair'"]),
        ("{unit: pair}", "{title: Duel}", 4, ["'methods.face_off.unit': this key is required"]),
        (
            "method: face_off",
            "method: duel",
            14,
            ["'labels.preference.method': expected one of beha", "face_off"],
        ),
        ("method: slider", "method: sliders", 5, ["'method': expected one of behavior", "found 'sliders'"]),
        ("{slider: 0.2}", "{sider: 0.2}", 15, ["expected one of collection, behavior, ", "slider, face_off, found"]),
        (
            "{unit: pair}",
            "{unit: pair}\n  turn_rating: {unit: turn}",
            5,
            ["'methods.turn_rating': expected a name"],
        ),
        ("scale: [-1, 1]", "scale: [1, 5]", 14, ["labels.preference.scale", "a comparison says who is better"]),
    ],
)
def test_errors_name_line_and_key(tmp_path, old, new, line, words):
    assert old in YAML
    with pytest.raises(params.ParamsError) as error:
        params.load(studies.write(tmp_path, YAML.replace(old, new, 1)))
    assert f", line {line}:" in str(error.value)
    assert all(word in str(error.value) for word in words), error.value


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("declared_methods")
    return run_all(folder, [studies.write(folder, YAML, "duels", **tables())], only=NOTEBOOKS)


@pytest.mark.evidence
@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_notebooks_show_them(world, notebook):
    assert not world.code, world.said
    rows = world.results("duels", notebook)
    assert {("slider", "dialogue"), ("face_off", "pair")} <= {*zip(rows["method"], rows["level"], strict=True)}
    page = world.page("duels", notebook).text
    assert "Slider" in page
    assert "Face off" in page


@pytest.mark.evidence
def test_the_better_system_leads_by_them(world):
    rows = world.results("duels", "07_bot_performance")
    means = rows[(rows["statistic"] == "mean") & (rows["label"] == "fluency")].groupby("system")["estimate"].first()
    assert means["better"] - means["worse"] == pytest.approx(30, abs=6)
