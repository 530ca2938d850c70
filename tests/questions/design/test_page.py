"""What the design check says: stored, read again and put into words for every finding."""

import re

import pytest
from questions.design.test_checks import CASES, LABELS, VOTE, checked

from judgebook.display.names import DisplayNames
from judgebook.questions.design import analysis, findings, tables
from judgebook.questions.design.registry import CHECKS
from judgebook.study.labels import METHODS
from judgebook.study.results import fold, unfold

TITLES = {
    "method": {m.id: m.title for m in METHODS.values()},
    "group": {},
    "corpus": {},
    "system": {"beta": "Beta; 2*"},
}
NAMES = DisplayNames({(x.method, x.id): x for x in LABELS + VOTE}, TITLES)


def stored(code):
    made = CASES[code][0]()
    return analysis.store(checked(made), made[0].assign(corpus="main"))


@pytest.mark.parametrize("code", CASES)
def test_a_stored_finding_says_the_same(code):
    examined = checked(CASES[code][0]())
    results = unfold(fold(stored(code), study="s", notebook="17_design_check"))
    assert findings.worded(analysis.stored(results), NAMES) == findings.worded(examined, NAMES)


@pytest.mark.parametrize("code", CASES)
def test_a_finding_has_sentences(code):
    (own,) = [one for one in findings.worded(checked(CASES[code][0]()), NAMES) if one.code == code]
    assert own.touches
    for text in (own.what, own.change, own.todo):
        assert re.fullmatch(r"\S.*\.", text)
        assert not re.search(r"\bnan\b|None|  |\.\.| ,", text)


def test_the_box_holds_three_findings_at_most_and_counts_the_others():
    box = findings.box(stored("missing_codes"), NAMES)
    examined = checked(CASES["missing_codes"][0]())
    assert len(box.findings) == min(3, len({f.code for f in examined.findings}))
    assert box.checked == f"{len(examined.passed)} found nothing, {len(examined.unchecked)} not possible"


def test_no_box_without_a_finding():
    made = CASES["missing_codes"][1]()
    results = analysis.store(checked(made), made[0].assign(corpus="main"))
    assert findings.box(results, NAMES) is None
    assert tables.findings(results, NAMES) is None
    assert "could not be made" in next(iter(findings.headline(results, NAMES))).text


def test_checks_say_what_they_look_for():
    assert all(one.looks_for and "_" not in one.looks_for for one in CHECKS.values())


def test_names_are_shown_as_they_are_spelt():
    assert any("Beta; 2\\*" in one.what for one in findings.worded(checked(CASES["missing_by_system"][0]()), NAMES))


def test_a_judge_has_the_name_of_its_group():
    examined = checked(CASES["dependent_judge"][0]())
    (judge,) = {one.facts["judge"] for one in examined.findings if one.code == "dependent_judge"}
    names = DisplayNames(NAMES.labels, TITLES | {"group": {judge: "GPT-4"}})
    assert any(one.what.startswith("The judge GPT-4 ") for one in findings.worded(examined, names))


def test_where_scores_are_missing_by_system_the_condition_of_alpha_is_said():
    """Only where some item was judged by two; nothing where as many scores are missing of every system."""
    found, clean = (checked(made()) for made in CASES["missing_by_system"])
    said = next(one for one in findings.worded(found, NAMES) if one.code == "missing_by_system")
    condition = "Alpha uses only the scores that are there"
    twice = next(f for f in found.findings if f.code == "missing_by_system").facts["twice"]
    assert twice
    assert condition in said.change
    assert "which labels can be trusted" in said.touches
    assert not any(condition in one.change for one in findings.worded(clean, NAMES))
