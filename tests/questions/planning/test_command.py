"""`run_all.py plan`: exit codes, what is printed, where it is written."""

import re

import numpy as np
import pytest
from fixtures import yaml_studies as studies

from judgebook import project
from judgebook.pipeline import cli
from judgebook.pipeline.commands import plan

PLANNED = """\
figures: {formats: [svg]}
planning: {dialogues: [20, 80], per_dialogue: [1, 2], minutes_per_judgement: \
{dialogue_rating: 2.0}, minutes_per_dialogue: 5.0}
"""


def csv():
    """Two systems, 30 dialogues each, rated by two of four workers."""
    rng, lines = np.random.default_rng(2), ["chat,bot,worker,what,rating"]
    for i in range(60):
        mean = rng.normal(3, 0.7)
        for worker in rng.choice(4, 2, replace=False):
            rating = int(np.clip(round(mean + rng.normal(0, 0.7)), 1, 5))
            lines.append(f"d{i},{'ab'[i % 2]},w{worker},fluency,{rating}")
    return "\n".join(lines) + "\n"


@pytest.fixture(autouse=True)
def _signals(monkeypatch):
    monkeypatch.setattr(cli.signal, "signal", lambda *_: None)  # the handler would outlive the test


@pytest.fixture
def pilot(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path / "elsewhere"))
    return studies.write(
        tmp_path, studies.LONG.replace("  quality: {scale: [1, 5]}\n", PLANNED), name="pilot", my_csv=csv()
    )


def call(capsys, words):
    try:
        code = cli.main(["plan", *words.split()])
    except SystemExit as stopped:  # argparse's own way
        code = stopped.code
    told = capsys.readouterr()
    return code, told.out, told.err


def test_what_a_plan_assumes_of_sampling_weights_is_printed(tmp_path, monkeypatch):
    """The design effect is that of the profile, which the run writes."""
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path))
    profile = plan.store.processed("queue") / "profile.json"
    profile.parent.mkdir(parents=True)
    profile.write_text('{"sampling": {"by": ["weight"], "low": 1.0, "high": 5.0, "design_effect": 1.7342}}')
    assert "multiply their number, and the cost, by 1.73" in plan.sampled("queue")
    profile.write_text('{"sampling": null}')
    assert plan.sampled("queue") == ""


def test_the_table_of_the_documentation_is_what_is_printed(capsys):
    page = (project.ROOT / "docs" / "plan.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    code, out, _ = call(capsys, "--difference 0.3 --sd 1")
    assert code == 0
    assert shown in out


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("", "expected --study NAME"),
        ("--difference 0.3", "one of --sd S, --rate P, --like WORDS"),
        ("--difference fluency=0.3 --sd 1", "expected one number above 0, found fluency=0.3"),
        ("--difference 0.3 --rate 0.8", "found 0.8 and 0.3"),
        ("--difference 0.3 --sd 1 --budget 9", "--budget needs a pilot"),
        ("--like likert --difference 0.2", "--scale 1:5"),
        ("--study dmeo --budget 2000", "did you mean 'demo'"),
        ("--study PILOT --budget -5", "expected a number above 0, found '-5'"),
        ("--study PILOT --power 80", "expected a number between 0.5 and 1, found '80'"),
        ("--study PILOT --difference fluency=9", "less than the scale of fluency is wide, 4, found 9"),
    ],
)
def test_what_cannot_be_planned_is_refused_and_runs_nothing(pilot, tmp_path, capsys, words, part):
    code, _, err = call(capsys, words.replace("PILOT", str(pilot)))
    assert code == 2
    assert part in err
    assert not list((tmp_path / "elsewhere").rglob("*.parquet"))
