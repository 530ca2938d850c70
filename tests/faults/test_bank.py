"""Of a bank of planted faults the design check names nearly all, and raises hardly an alarm in clean studies.

A fault is named if it is among the findings that the first page shows, or if reading stops with it. Checks were written
with other seeds than those here.
"""

import pytest
from faults import bank

from judgebook.display.names import display_names
from judgebook.questions.design import findings
from judgebook.questions.design.analysis import examine
from judgebook.sources import build
from judgebook.study import params
from judgebook.study.schema import DataError

SMALL, LARGE = 101, 102
#: at least of all faults, and of each kind
NAMED, OF_EACH = 0.9, 0.5
#: at most of clean studies
ALARMS = 0.05
SECONDS = 120


def shown(case, folder):
    """Codes of the findings that the first page shows; reads the files as a run would."""
    study = params.load(case.write(folder))
    built = build.build(study)
    frames = built.frames
    given = {name: frames[name] for name in ("counts", "metric_scores", "dialogue_facts") if name in frames}
    marks = frames["annotations"]
    examined = examine(marks, frames["dialogues"], study.label_list(), own_ids=built.own_ids, **given)
    return [one.code for one in findings.worded(examined, display_names(study, marks))[: findings.BOX]]


def named(code, design, seed, folder):
    """Whether the fault is shown; a score outside its scale stops the reading, which says so."""
    try:
        return code in shown(bank.planted(code, design, seed), folder)
    except DataError as error:
        return code == "outside_scale" and "scale" in str(error)


def alarms(design, seed, folder):
    """Findings in a clean study; that annotators are few is none where they are."""
    return [code for code in shown(bank.clean(design, seed), folder) if code != "few_annotators"]


@pytest.mark.parametrize("kind", ["ratings", "marks", "comparisons", "votes"])
def test_a_clean_study_raises_no_alarm(kind, tmp_path):
    assert not alarms(next(design for design in bank.DESIGNS if design.kind == kind), SMALL, tmp_path)


@pytest.mark.verify
def test_faults_in_the_smallest_design(tmp_path):
    """Of each kind in the first of its designs, which has fewest annotators."""
    missed = [code for code in bank.FAULTS if not named(code, bank.cases(code)[0], SMALL, tmp_path)]
    assert len(missed) <= (1 - NAMED) * len(bank.FAULTS), missed


@pytest.mark.evidence
def test_faults_in_large_designs(tmp_path):
    """In the unbalanced one of each kind of design."""
    designs = {code: bank.cases(code) for code in bank.FAULTS}
    tried = [(c, d) for c, own in designs.items() for d in (own[1::2] if len(own) > 2 else own)]
    found = {(code, d.name): named(code, d, LARGE, tmp_path) for code, d in tried}
    missed = [key for key, ok in found.items() if not ok]
    assert len(missed) <= (1 - NAMED) * len(found), missed
    for code in bank.FAULTS:
        own = [ok for key, ok in found.items() if key[0] == code]
        assert sum(own) >= OF_EACH * len(own), code


@pytest.mark.evidence
def test_clean_studies_of_all_designs(tmp_path):
    found = {(d.name, s): alarms(d, s, tmp_path) for d in bank.DESIGNS for s in range(101, 106)}
    raised = {key: codes for key, codes in found.items() if codes}
    assert len(raised) <= ALARMS * len(found), raised
