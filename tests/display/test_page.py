"""What a notebook's page says of its parameters, and what it shows as not simulated."""

import pandas as pd
import pytest
from fixtures.project_copy import ROOT

from judgebook.display.page import NotebookPage
from judgebook.display.views import FromPrint, Table
from judgebook.study import store

YAML = """\
title: Small
sources: [{adapter: table, file: small.csv, layout: wide, columns: {dialogue: id}, scores: "{label}_{annotator}"}]
labels: {fluency: {scale: [1, 5]}}
bootstrap: {n_resamples: 321}
"""


@pytest.fixture
def small(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path / "out"))
    (tmp_path / "small.yaml").write_text(YAML)
    return tmp_path / "small.yaml"


def rows(page):
    return [line.strip("| ").split(" | ") for line in page.parameters().text.splitlines()[2:]]


def test_parameters_have_their_effective_values_and_say_where_these_are_from(small):
    page = NotebookPage("08_group_effects", str(small), None, n_resamples=None, margin=0.3, n_picks=None, seed=None)
    found = {name.replace("\\", ""): (value, source.replace("\\", "")) for name, value, source in rows(page)}
    assert found["n_resamples"] == ("321", "small.yaml")
    assert found["margin"] == ("0.3", "this notebook")
    assert found["seed"] == ("1", "default")
    assert page.study.group_effects.margin == 0.3


def test_pages_of_a_report_do_not_list_parameters_twice(small, tmp_path):
    recorded = store.processed("small") / "params.yaml"
    recorded.parent.mkdir(parents=True)
    recorded.write_text(YAML)
    assert NotebookPage("08_group_effects", "small", "given by the pipeline", margin=0.3).parameters() is None


def test_what_rests_on_printed_numbers_is_not_called_simulated(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path))
    page = NotebookPage("12_moderation", str(ROOT / "params" / "demo.yaml"), None)
    frame = pd.DataFrame({"A": [0.5]})
    page.show([Table(frame, "drawn", "Drawn."), FromPrint(Table(frame, "printed", "Printed."))])
    said = {p.stem: "Simulated" in p.read_text() for p in (page.run.tables).glob("*.tex")}
    assert said == {"12_moderation_drawn": True, "12_moderation_printed": False}
