"""Notebook 92, about all public studies: it runs from the committed tables alone, without any raw file."""

import pytest
from fixtures.notebook_runs import run_all

from judgebook.questions.field import analysis, reading
from judgebook.study.results import unfold

NOTEBOOK = "92_human_evaluations"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMPENDIUM_RAW", str(tmp_path_factory.mktemp("no_raw_files")))
        yield run_all(tmp_path_factory.mktemp("field"), ["atlas"])


def test_it_is_the_only_notebook_of_its_study(world):
    assert world.code == 0, world.said
    assert [name for _, name in world.ran()] == [NOTEBOOK], world.said


def test_it_stores_what_the_analysis_gives(world):
    stored = unfold(world.results("atlas", NOTEBOOK))
    _, labels, values = reading.read()
    claims = analysis.claims(labels, values, "dialogues")
    (row,) = stored.select("field_finding", finding="stand_dialogues", summary="pooled").to_dict("records")
    assert row["estimate"] == pytest.approx(claims["stand"].sum() / claims["of"].sum())
    assert {*stored} == {"field_mean", "field_prediction", "field_difference", "field_finding"}


def test_its_page_names_studies_on_their_points(world):
    """Also those whose labels cannot be averaged."""
    titles, labels, values = reading.read()
    rows = analysis.labelled(labels, values)
    shown = world.page("atlas", NOTEBOOK).text
    for study in rows.loc[rows["statistic"] == "alpha", "study"].unique():
        assert titles[study].partition(" (")[0].replace("'", "’") in shown.replace("&#x27;", "’").replace("'", "’")
