"""`run_all.py plan`: exit codes, what is printed, where it is written."""

import re

import numpy as np
import pytest
from fixtures import yaml_studies as studies

from judgebook import project
from judgebook.pipeline import cli, plan

PLANNED = """\
figures: {formats: [svg]}
planning: {n_runs: 20, n_worlds: 10, dialogues: [20, 80], per_dialogue: [1, 2], minutes_per_judgement: \
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


@pytest.mark.evidence
def test_designs_are_printed_and_written_below_out(pilot, tmp_path, capsys):
    out = tmp_path / "out"
    words = f"--study {pilot} --out {out} --jobs 1 --budget"
    code, said, _ = call(capsys, f"{words} 60.5")
    assert code == 0, said
    assert said.index(plan.decision("pilot")) < said.index(plan.HEADS["cheapest"])
    assert (out / "reports" / "pilot" / "14_planning.html").is_file()
    assert "14_planning.html" in said.splitlines()[-1]
    assert not (tmp_path / "elsewhere").exists()
    code, poor, _ = call(capsys, f"{words} 0.5 --difference fluency=0.4")
    assert code == 0, poor
    assert re.search(r"annotations +up to date", poor)  # they do not depend on what is planned
    cheapest, bought = poor.split(plan.HEADS["cheapest"])[1].split(plan.HEADS["within the budget"])
    assert re.search(r"Fluency +0\.4", cheapest)
    assert not re.search(r"Fluency +0\.4\S* +\d", bought)


def test_the_table_of_the_documentation_is_what_is_printed(capsys):
    page = (project.ROOT / "docs" / "plan.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    code, out, _ = call(capsys, "--difference 0.3 --sd 1")
    assert code == 0
    assert shown in out


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("--difference 0.3 --sd 1 --annotators 2 --agreement 0.4", "124"),
        ("--difference 0.05 --rate 0.65 --annotators 1", "65% of dialogues against 70%"),
        ("--difference 0.001 --sd 1 --annotators 1", "> 100,000"),
        ("--difference 0.2 --like humanlikeness,comparative,authors", "also like humanlikeness and authors, which"),
    ],
)
def test_what_is_stated_is_said(capsys, words, part):
    code, out, _ = call(capsys, words)
    assert code == 0
    assert part in " ".join(out.split())


def test_like_public_studies(capsys):
    code, out, _ = call(capsys, "--difference 0.3 --like relevance,likert --scale 1:5 --annotators 2")
    (row,) = [line.split() for line in out.splitlines() if line.strip().startswith("2 ")]
    assert code == 0
    assert "public studies (relevance and likert)" in " ".join(out.split())
    dialogues, low, high, *then = (int(cell) for cell in row[1:] if cell != "to")
    assert low < then[0] < dialogues < then[1] < high


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("", "expected --study NAME"),
        ("--difference 0.3", "one of --sd S, --rate P, --like WORDS"),
        ("--sd 1", "--difference D"),
        ("--difference 0.3 --sd 1 --rate 0.5", "one of --sd S, --rate P, --like WORDS"),
        ("--difference fluency=0.3 --sd 1", "expected one number above 0, found fluency=0.3"),
        ("--difference 0.3 --rate 0.8", "found 0.8 and 0.3"),
        ("--difference 0.3 --sd 1 --budget 9", "--budget needs a pilot"),
        ("--difference 0.3 --sd 1 --systems 1", "--systems: expected at least 2"),
        ("--study demo --sd 1", "--sd is for plans without a pilot"),
        ("--like likert --difference 0.2", "--scale 1:5"),
        ("--like likert --difference 4 --scale 1:5", "below the width of the scale"),
        ("--like comparative --difference 0.2 --scale 1:5", "leave out --scale"),
        ("--like relevance --difference 0.2 --scale 1:5", "expected one form of label among the words"),
        ("--like charm --difference 0.2", "'charm': expected one of adequacy, "),
        ("--like likert --difference 0.2 --agreement 0.4", "--agreement does not go with --like"),
        ("--study dmeo --budget 2000", "did you mean 'demo'"),
        ("--study PILOT --budget -5", "expected a number above 0, found '-5'"),
        ("--study PILOT --budget 1e12", "expected a number above 0 and up to 1,000,000,000, found '1e12'"),
        ("--study PILOT --power 80", "expected a number between 0.5 and 1, found '80'"),
        ("--study PILOT --difference fluent=0.5", "did you mean 'fluency'"),
        ("--study PILOT --difference fluency=9", "less than the scale of fluency is wide, 4, found 9"),
    ],
)
def test_what_cannot_be_planned_is_refused_and_runs_nothing(pilot, tmp_path, capsys, words, part):
    code, _, err = call(capsys, words.replace("PILOT", str(pilot)))
    assert code == 2
    assert part in err
    assert not list((tmp_path / "elsewhere").rglob("*.parquet"))
