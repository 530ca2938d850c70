"""Notebook 92, about all public studies: it runs from the committed tables alone, without any raw file."""

import pytest
from fixtures.notebook_runs import run_all

from compendium.field import analysis
from judgebook.study.results import unfold

NOTEBOOK = "92_human_evaluations"


@pytest.mark.verify
def test_it_stores_what_the_analysis_gives_and_names_studies_on_their_points(tmp_path, monkeypatch):
    """Also those whose labels cannot be averaged."""
    monkeypatch.setenv("COMPENDIUM_RAW", str(tmp_path / "none"))
    world = run_all(tmp_path, ["atlas"])
    assert world.code == 0, world.said
    assert [name for _, name in world.ran()] == [NOTEBOOK], world.said
    stored, (titles, labels, values) = unfold(world.results("atlas", NOTEBOOK)), analysis.read()
    claims = analysis.claims(labels, values, "dialogues")
    (row,) = stored.select("field_finding", finding="stand_dialogues", summary="pooled").to_dict("records")
    assert row["estimate"] == pytest.approx(claims["stand"].sum() / claims["of"].sum())
    assert {*stored} == {"field_mean", "field_prediction", "field_finding"}
    rows, shown = analysis.labelled(labels, values), world.page("atlas", NOTEBOOK).text.replace("&#x27;", "’")
    for study in rows.loc[rows["statistic"] == "alpha", "study"].unique():
        assert titles[study].partition(" (")[0].replace("'", "’") in shown.replace("'", "’")
