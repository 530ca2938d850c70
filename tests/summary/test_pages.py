"""docs/requirements.md and docs/six_answers.md say what the code does."""

import re

import jinja2
import pytest

from judgebook.study import params, questions
from judgebook.summary.answers import guide


def test_a_row_for_every_feature_names_the_notebooks_that_require_it():
    text = guide.page("requirements")
    table = text.partition("## What each notebook needs")[2].partition("##")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")][2:]
    named = [{*re.findall(r"(?:^|; )(\d\d) ", notebooks)} for _, notebooks in rows]
    required = [
        {q.notebook[:2] for q in questions.declared().values() if feature in q.requires} for feature in guide.FEATURES
    ]
    assert named[1:] == required
    assert named[0] == {q.notebook[:2] for q in questions.declared().values() if not q.requires and not q.across}


def test_a_feature_without_words_is_refused(monkeypatch):
    monkeypatch.setattr(guide, "FEATURES", {**guide.FEATURES, "telepathy": None})
    with pytest.raises(jinja2.UndefinedError, match="telepathy"):
        guide.page("requirements")


@pytest.mark.parametrize(
    ("inherited", "said"),
    [
        ({"iaa": {"threshold": 0.75}}, "(0.75 unless a study says otherwise"),
        ({"costs": {"currency": "EUR", "hourly_rate": 17}}, "(17.0 EUR unless set)"),
    ],
)
def test_defaults_are_those_that_every_study_inherits(monkeypatch, inherited, said):
    assert said not in guide.page("six_answers")
    monkeypatch.setattr(params, "defaults", lambda: inherited)
    assert said in guide.page("six_answers")


@pytest.mark.parametrize(("name", "value", "page", "said"), [("least", 7, "six_answers", "others need 7 with")])
def test_limits_are_those_of_the_code(monkeypatch, name, value, page, said):
    assert said not in guide.page(page)
    monkeypatch.setitem(guide.VALUES, name, value)
    assert said in guide.page(page)
