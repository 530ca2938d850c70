"""The fuzzer on a few inputs, the same ones each time; `FUZZ_SECONDS=60 python tests/fuzz.py` tries new ones."""

import fuzz
import pytest
from fixtures import yaml_studies as studies
from hypothesis import given, settings


@pytest.mark.verify
@pytest.mark.parametrize("target", fuzz.TARGETS, ids=lambda target: target.__name__)
def test_random_input_is_refused_with_a_place_or_read(target):
    settings(max_examples=10)(given(fuzz.TARGETS[target])(target))()


def test_the_fuzzer_tells_what_is_read_from_what_is_refused():
    assert fuzz.outcome(studies.LONG, my_csv=studies.LONG_CSV) == "read"
    assert fuzz.outcome(studies.LONG, my_csv=studies.LONG_CSV.replace("4", "6")) == "refused"
    assert fuzz.outcome(studies.LONG + "x: 1\n", my_csv=studies.LONG_CSV) == "refused"


def test_the_fuzzer_finds_what_nobody_foresaw(monkeypatch):
    monkeypatch.setattr(fuzz.check.build.schema, "validate", lambda *_: 1 / 0)
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        fuzz.outcome(studies.LONG, my_csv=studies.LONG_CSV)


@pytest.mark.parametrize("study", fuzz._JSON, ids=lambda study: study[1] + study[0][:30])
def test_what_is_changed_at_random_is_read_as_it_is(study):
    text, name, tree = study
    assert fuzz.outcome(text, **{name: fuzz.json.dumps(tree)}) == "read"
