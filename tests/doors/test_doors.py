"""`new` reads what people have: nothing is read wrongly in silence, nothing crashes, and most needs no answer."""

from collections import Counter

import pytest

from doors import cases, dirty, reading

SECONDS = 90

EVERY = {case.name: case for case in cases.cases()}
#: what only a person can say; the YAML asks for it
ASKED = {"missing as 0", "grid {label}{annotator}", "people as keys", *dirty.ASKED}
#: refused, with a message that says what to write
REFUSED = {*dirty.REFUSED}
#: of each kind a few for everyday, some more for each change; all of them with the long evidence
_FEW = ["long, plain", "grid, german", "missing as 99", "votes A/B, system_a", "winners by name", "people as keys"]
_FEW += ["several answers in a cell", "ranks in a cell", "slips among votes", "spellings of people", *dirty.REFUSED]
_MORE = ["decimal commas", "negative labels", "gold beside a judge", "errors with categories and severities"]
_SOME = dict.fromkeys([*_MORE, *list(EVERY)[::6], *(case.name for case in dirty.cases())])


def outcome(name, folder):
    case = EVERY[name]
    return reading.read(case.write(folder), case.truth, case.directions)


def expected(name):
    return reading.ASKED if name in ASKED else reading.REFUSED if name in REFUSED else reading.RIGHT


@pytest.mark.parametrize(
    "name", [*_FEW, *(pytest.param(name, marks=pytest.mark.verify) for name in _SOME if name not in _FEW)]
)
def test_read_as_meant(name, tmp_path):
    read = outcome(name, tmp_path)
    assert read.outcome == expected(name), read.differs or read.said


@pytest.mark.evidence
def test_every_door(tmp_path_factory):
    reads = {name: outcome(name, tmp_path_factory.mktemp("door")) for name in EVERY}
    odd = {name: (r.outcome, r.differs or r.said[-300:]) for name, r in reads.items() if r.outcome != expected(name)}
    assert not odd
    counts = Counter(r.outcome for r in reads.values())
    assert counts[reading.RIGHT] >= 0.85 * len(EVERY)
    assert len(EVERY) == len(cases.cases()) >= 90
