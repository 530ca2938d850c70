"""Sizes of studies without a pilot: against statsmodels, an exact enumeration and simulated studies."""

import re

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestIndPower

from judgebook import project
from judgebook.pipeline import cli
from judgebook.questions.planning.assumed.stated import sizes


@pytest.mark.parametrize(
    ("difference", "sd", "power", "systems", "tests"), [(0.3, 1.0, 0.8, 2, 1), (8.0, 21.0, 0.95, 5, 10)]
)
def test_one_annotator_or_complete_agreement_is_the_t_test(difference, sd, power, systems, tests):
    wanted = TTestIndPower().solve_power(difference / sd, power=power, alpha=0.05 / tests)
    one = sizes(difference, sd=sd, annotators=1, power=power, systems=systems)
    three = sizes(difference, sd=sd, annotators=3, agreement=1.0, power=power, systems=systems)
    assert one.dialogues == three.dialogues == [[int(np.ceil(wanted))]]


@pytest.mark.parametrize(("agreement", "annotators"), [(0.0, 2), (0.4, 2), (0.4, 3), (0.8, 5)])
def test_annotators_who_agree_less_average_out_more(agreement, annotators):
    """Variance of a mean of m that correlate r: s² (1 + (m - 1) r) / m."""
    sd = np.sqrt((1 + (annotators - 1) * agreement) / annotators)
    wanted = TTestIndPower().solve_power(0.3 / sd, power=0.8, alpha=0.05)
    found = sizes(0.3, sd=1.0, agreement=agreement, annotators=annotators)
    assert found.dialogues == [[int(np.ceil(wanted))]]


@pytest.mark.parametrize(("rate", "difference"), [(0.3, 0.3), (0.65, 0.25)])
def test_rates_have_their_power_under_fishers_exact_test(rate, difference):
    """The permutation test of marks is Fisher's; its power, gone through exactly."""
    ((n,),) = sizes(difference, rate=rate, annotators=1).dialogues

    def power(n):
        a = stats.binom.pmf(np.arange(n + 1), n, rate)
        b = stats.binom.pmf(np.arange(n + 1), n, rate + difference)
        p = [[stats.fisher_exact([[i, n - i], [j, n - j]])[1] for j in range(n + 1)] for i in range(n + 1)]
        return float(a @ (np.array(p) < 0.05) @ b)

    assert power(n) == pytest.approx(0.8, abs=0.05)


def call(capsys, words):
    try:
        code = cli.main(["plan", *words.split()])
    except SystemExit as stopped:
        code = stopped.code
    told = capsys.readouterr()
    return code, told.out, told.err


@pytest.fixture(autouse=True)
def _signals(monkeypatch):
    monkeypatch.setattr(cli.signal, "signal", lambda *_: None)  # the handler would outlive the test


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
        ("--difference 0.3 --sd 1 --systems 5", "which the 10 comparisons share"),
        ("--difference 0.001 --sd 1 --annotators 1", "> 100,000"),
    ],
)
def test_what_is_stated_is_said(capsys, words, part):
    code, out, _ = call(capsys, words)
    assert code == 0
    assert part in " ".join(out.split())


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("", "expected --study NAME"),
        ("--difference 0.3", "one of --sd S, --rate P, --like WORDS"),
        ("--sd 1", "--difference D"),
        ("--difference 0.3 --sd 1 --rate 0.5", "one of --sd S, --rate P, --like WORDS"),
        ("--difference fluency=0.3 --sd 1", "expected one number above 0, found fluency=0.3"),
        ("--difference 0.3 0.4 --sd 1", "expected one number above 0, found 0.3 0.4"),
        ("--difference -1 --sd 1", "--difference"),
        ("--difference 0.3 --rate 0.8", "found 0.8 and 0.3"),
        ("--difference 0.3 --sd 1 --budget 9", "--budget needs a pilot"),
        ("--difference 0.3 --sd 1 --systems 1", "--systems: expected at least 2"),
        ("--difference 0.3 --sd 1 --agreement 2", "from 0 to 1, found '2'"),
        ("--study demo --sd 1", "--sd is for plans without a pilot"),
        ("--like likert --difference 0.2", "--scale 1:5"),
        ("--like likert --difference 4 --scale 1:5", "below the width of the scale"),
        ("--like comparative --difference 0.2 --scale 1:5", "leave out --scale"),
        ("--like relevance --difference 0.2 --scale 1:5", "expected one form of label among the words"),
        ("--like charm --difference 0.2", "'charm': expected one of adequacy, "),
        ("--like likert --difference 0.2 --sd 1", "one of --sd S, --rate P, --like WORDS"),
        ("--sd 1 --difference 0.2 --pilot 9", "--pilot does not go with --sd"),
        ("--like likert --difference 0.2 --agreement 0.4", "--agreement does not go with --like"),
    ],
)
def test_what_cannot_be_planned_is_refused(capsys, words, part):
    code, out, err = call(capsys, words)
    assert code == 2
    assert part in err
    assert out == ""


def test_like_public_studies(capsys):
    code, out, _ = call(capsys, "--difference 0.3 --like relevance,likert --scale 1:5 --annotators 2")
    (row,) = [line.split() for line in out.splitlines() if line.strip().startswith("2 ")]
    assert code == 0
    assert "public studies (relevance and likert)" in " ".join(out.split())
    dialogues, low, high, *then = (int(cell) for cell in row[1:] if cell != "to")
    assert low < then[0] < dialogues < then[1] < high


def test_words_that_too_few_studies_have_are_left_out_and_named(capsys):
    code, out, _ = call(capsys, "--difference 0.2 --like humanlikeness,comparative,authors")
    text = " ".join(out.split())
    assert code == 0
    assert "(comparative)" in text
    assert "also like humanlikeness and authors, which is not taken into account" in text
    assert "share won minus share lost" in text
