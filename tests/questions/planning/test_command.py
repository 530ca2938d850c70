"""`run_all.py plan`: exit codes, what is printed, where it is written."""

import re
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from fixtures import yaml_studies as studies

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


@pytest.fixture
def pilot(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path / "elsewhere"))
    monkeypatch.setattr(cli.signal, "signal", lambda *_: None)  # the handler would outlive the test
    return studies.write(
        tmp_path, studies.LONG.replace("  quality: {scale: [1, 5]}\n", PLANNED), name="pilot", my_csv=csv()
    )


def call(capsys, *words):
    try:
        code = cli.main(["plan", *map(str, words)])
    except SystemExit as stopped:  # argparse's own way
        code = stopped.code
    told = capsys.readouterr()
    return code, told.out, told.err


def printed(out):
    """The design on the only label, heading -> value, by what it is for."""
    lines, designs = out.splitlines(), {}
    for kind, head in plan.HEADS.items():
        below = lines[lines.index(f"{head}:") + 1 :]
        headings, row = [line for line in below if line.startswith("  ")][:2]  # below the name of the method
        names = [h.strip() for h in headings.split("  ") if h]
        starts = [headings.index(name) for name in names]
        designs[kind] = {n: row[a:b].strip() for n, a, b in zip(names, starts, [*starts[1:], None], strict=True)}
    return designs


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
    code, said, _ = call(capsys, "--study", pilot, "--budget", "60.5", "--out", out, "--jobs", "1")
    assert code == 0, said
    first = plan.decision("pilot")
    assert said.index(first) < said.index(plan.HEADS["cheapest"])
    designs = printed(said)
    assert designs["cheapest"]["Label"] == "Fluency"
    assert 0 < float(designs["within the budget"]["USD"]) <= 61
    assert int(designs["cheapest"]["Dialogues per system"]) > int(designs["within the budget"]["Dialogues per system"])
    assert (out / "reports" / "pilot" / "14_planning.html").is_file()
    assert "14_planning.html" in said.splitlines()[-1]
    assert not (tmp_path / "elsewhere").exists()
    # what is up to date is printed again; a budget that buys nothing leaves the cheapest design
    again = call(capsys, "--study", pilot, "--budget", "60.5", "--out", out, "--jobs", "1")
    assert (again[0], printed(again[1])) == (0, designs)
    code, said, _ = call(
        capsys, "--study", pilot, "--budget", "0.5", "--out", out, "--jobs", "1", "--difference", "fluency=0.4"
    )
    assert code == 0, said
    assert re.search(r"annotations +up to date", said)  # they do not depend on what is planned
    poor = printed(said)
    assert poor["within the budget"]["Dialogues per system"] == ""
    assert float(poor["cheapest"]["Worth finding"]) == 0.4


def test_designs_are_aligned_and_rounded_even_if_there_are_none():
    head = f"\n{plan.HEADS['cheapest']}:"
    rows = "Label,USD,Hours\nFluency,1234.5,\nA long name,2,0.125\n"
    first, _, *lines = plan.designs(pd.read_csv(StringIO(rows)))
    assert (first, lines) == (head, ["  Fluency      1234", "  A long name  2     0.12"])
    assert list(plan.designs(pd.read_csv(StringIO("Label,USD,Hours\n")))) in ([], [head])


def test_designs_stand_below_their_method_and_of_many_each_method_has_a_line():
    columns = "Method,Label,Design,Worth finding,Dialogues per system,Annotators each,Difference found,Hours,USD\n"
    cheap = "Likert,{},cheapest,0.5,{},1,0.5,10,{}\nMarks,{},cheapest,0.01,,,,,\n"
    rows = [cheap.format(f"l{i}", 20 + i, 100 + i, f"m{i}") for i in range(7)]
    few = list(plan.designs(pd.read_csv(StringIO(columns + "".join(rows[:2])), dtype=str)))
    assert [line for line in few if not line.startswith("  ")] == [f"\n{plan.HEADS['cheapest']}:", "Likert", "Marks"]
    head, titles, likert, marks = plan.designs(pd.read_csv(StringIO(columns + "".join(rows)), dtype=str))
    assert head == f"\n{plan.HEADS['cheapest']}:"
    assert titles.split("  ")[1:3] == ["Method", "Labels"]
    assert likert.split() == ["Likert", "7", "7", "20", "to", "26", "1", "10", "100", "to", "106"]
    assert marks.split() == ["Marks", "7", "0"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--study", "dmeo", "--budget", "2000"], "did you mean 'demo'"),
        (["--study", "PILOT", "--budget", "much"], "expected a number above 0, found 'much'"),
        (["--study", "PILOT", "--budget", "-5"], "expected a number above 0, found '-5'"),
        (["--study", "PILOT", "--budget", "1e12"], "expected a number above 0 and up to 1,000,000,000, found '1e12'"),
        (["--study", "PILOT", "--power", "80"], "expected a number between 0.5 and 1, found '80'"),
        (["--study", "PILOT", "--difference", "fluent=0.5"], "did you mean 'fluency'"),
        (["--study", "PILOT", "--difference", "fluency=9"], "less than the scale of fluency is wide, 4, found 9"),
        (["--study", "PILOT", "--difference", "fluency"], "expected"),
        (["--budget", "2000"], "--study"),
    ],
)
def test_a_bad_call_ends_with_2_and_runs_nothing(pilot, tmp_path, capsys, words, message):
    words = [str(pilot) if word == "PILOT" else word for word in words]
    code, _, told = call(capsys, *words)
    assert code == 2
    assert message in told
    assert not list((tmp_path / "elsewhere").rglob("*.parquet"))
