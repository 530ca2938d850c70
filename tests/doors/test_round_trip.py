"""What people judged is what `new` reads, however it was saved; else it asks or refuses, and never reads otherwise."""

import random
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from doors import reading, round_trip

SECONDS = 150

#: outcomes of which somebody knows that the file was not read as it was meant
LOUD = {reading.RIGHT, reading.ASKED, reading.REFUSED}
#: studies of the long evidence, each drawn anew from its number
SEEDS = range(200)
#: those of each change
_FEW = range(1000, 1012)
#: those that were once read otherwise: people of whom some used much of a slider, a label with one answer, a setting in
#: three rows
_FOUND = (10135, 10187, 10233)


def read(pick, folder):
    _, saved, result = round_trip.trip(pick, folder)
    assert result.outcome in LOUD, (saved.layout, saved.path.read_bytes()[:400], result.said, result.differs)
    return saved, result.outcome


@pytest.mark.verify
def test_a_few_studies_are_read_as_meant(tmp_path_factory):
    outcomes = [read(random.Random(seed), tmp_path_factory.mktemp("trip"))[1] for seed in _FEW]
    assert outcomes.count(reading.RIGHT) >= 0.75 * len(_FEW)


@pytest.mark.parametrize("seed", _FOUND)
def test_what_was_once_read_otherwise_is_not(seed, tmp_path):
    read(random.Random(seed), tmp_path)


@pytest.mark.evidence
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.randoms(use_true_random=False))
def test_nothing_is_read_otherwise_in_silence_however_drawn(tmp_path_factory, pick):
    read(pick, tmp_path_factory.mktemp("trip"))


@pytest.mark.evidence
def test_most_studies_are_read_as_meant(tmp_path_factory):
    saved = [read(random.Random(seed), tmp_path_factory.mktemp("trip")) for seed in SEEDS]
    counts = Counter(outcome for _, outcome in saved)
    assert counts[reading.RIGHT] >= 0.85 * len(SEEDS), counts
    layouts = {one.layout for one, _ in saved}
    assert layouts == {"by item", "by score", "by person", "by system", "beside", "votes", "nested"}
    # each layout is read, not only the common ones
    assert {one.layout for one, outcome in saved if outcome == reading.RIGHT} == layouts
