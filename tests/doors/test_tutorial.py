"""docs/tutorial.md: its data are those of their simulation, and its numbers are what the command prints."""

import re

import pytest

from doors import tutorial

SECONDS = 35


def test_the_data_are_those_of_the_simulation():
    assert tutorial.DATA.read_text(encoding="utf-8") == tutorial.data()


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """What `audit` prints, and the folder it writes."""
    folder = tmp_path_factory.mktemp("tutorial")
    return tutorial.printed(folder), folder / "tutorial_audit"


@pytest.mark.evidence
def test_the_page_shows_what_the_command_prints(audited):
    page = tutorial.PAGE.read_text(encoding="utf-8")
    assert tutorial.shown(audited[0], page) == page, "python tests/doors/tutorial.py writes it anew; read it through"


@pytest.mark.evidence
def test_the_numbers_of_its_sentences_are_those_of_the_report(audited):
    _, prose = tutorial.PAGE.read_text(encoding="utf-8").split("## How to read each number")
    report = (audited[1] / "audit.md").read_text(encoding="utf-8")
    numbers = {*re.findall(r"\d+\.\d+", prose)}
    assert len(numbers) > 8
    assert {number for number in numbers if number not in report} == set()
