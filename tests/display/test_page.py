"""What a notebook shows where somebody runs it in Jupyter, and what it shows as not simulated."""

import nbformat
import pandas as pd
import pytest
from fixtures.project_copy import ROOT
from nbclient import NotebookClient

from judgebook.display import by_hand, views
from judgebook.display.page import NotebookPage, Nothing
from judgebook.display.views import FromPrint, Table
from judgebook.sources import build
from judgebook.study import params, store
from judgebook.study.params import ParamsError

YAML = """\
title: Small
sources:
- adapter: table
  file: small.csv
  layout: wide
  columns: {dialogue: id, system: system}
  scores: "{label}_{annotator}"
labels: {fluency: {scale: [1, 5]}}
bootstrap: {n_resamples: 32100}
"""
#: each dialogue was judged by one person
ROWS = "id,system,fluency_1\n" + "".join(f"d{i},{'ab'[i % 2]},{1 + i % 5}\n" for i in range(12))


@pytest.fixture
def small(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path / "out"))
    (tmp_path / "small.yaml").write_text(YAML)
    (tmp_path / "small.csv").write_text(ROWS)
    build.build(params.load(tmp_path / "small.yaml"), out=store.processed("small"))
    return tmp_path / "small.yaml"


def rows(page):
    cells = [line.strip("| ").split(" | ") for line in page.parameters().text.splitlines() if line.startswith("| ")]
    return {name.replace("\\", ""): (value, source.replace("\\", "")) for name, value, source in cells}


def test_parameters_have_their_effective_values_and_say_where_these_are_from(small):
    page = NotebookPage("07_bot_performance", str(small), None, n_resamples=None, seed=30)
    found = rows(page)
    assert found["n_resamples"] == ("32,100", "small.yaml")
    assert found["seed"] == ("30", "this notebook")
    assert page.study.seeds.bootstrap == 30
    assert rows(NotebookPage("14_planning", str(small), None, budget=None))["budget"] == ("not set", "default")


def test_a_wrong_value_is_called_what_the_notebook_calls_it(small):
    for given, expected in (("many", "a whole number"), (3, "at least 100")):
        with pytest.raises(ParamsError) as error:
            NotebookPage("07_bot_performance", str(small), None, n_resamples=given)
        assert str(error.value) == f"n_resamples: expected {expected}, found {given!r}"


def test_data_that_were_not_read_are_asked_for_in_the_order_that_works(small, tmp_path, monkeypatch):
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path / "empty"))
    read = {"usr": "`python run_all.py fetch usr`, then ", "ji2022": "", "demo": ""}  # the others come with the project
    for study, first in read.items():
        with pytest.raises(store.AbsentError) as error:
            NotebookPage("07_bot_performance", study, None)
        command = f"`python run_all.py --study {study} --only annotations`"
        assert str(error.value) == f"The data of {study} have not been read yet: run {first}{command}."
    with pytest.raises(store.AbsentError, match=f"--study {small} --only annotations"):
        NotebookPage("07_bot_performance", str(small), None)


def test_a_page_of_what_does_not_apply_gives_nothing_and_computes_nothing(small, capsys):
    page = NotebookPage("03_iaa", str(small), None)
    assert isinstance(page, Nothing)
    assert page.show(page.parameters()) is None
    with pytest.raises(by_hand.DoesNotApplyError, match="No item was judged by two people"):
        _ = page.results


def test_reasons_are_those_of_the_pipeline_with_parameters_of_the_notebook(small):
    """`importance.group` of the YAML, or of the notebook, decides whether 04 applies."""
    reason = str(NotebookPage("04_importance", str(small), None)._reason)
    assert reason.startswith("**This notebook does not apply to small.** No dialogue was rated on quality")
    assert "The study has no data of its own." in str(NotebookPage("03_iaa", "scoreboard", None)._reason)


@pytest.mark.verify
def test_in_jupyter(small, monkeypatch):
    """A kernel shows the reason and nothing below, errors of our own in one line, and others as ever."""
    opening = f'from helpers import iaa, bot_performance\nfile = r"{small}"\n'
    knobs = "seed=None"
    cells = [
        f"{opening}page = iaa.Page(file, None, n_resamples=None, {knobs})",
        "show = page.show\nshow(page.parameters())",
        "show(page.findings(), page.alphas())",
        f'bot_performance.Page(file, None, n_resamples="many", {knobs})',
        "1 / 0",
        f"page = bot_performance.Page(file, None, n_resamples=200, {knobs})",
        "from judgebook.display.style import subplots\nfrom judgebook.display.views import Plot\n"
        "made = Plot(subplots(width=3, height=2)[0], 'made', 'Nothing.', 'Nothing.')\npage.show(made, page.rates())",
    ]
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    NotebookClient(nb, kernel_name="python3", allow_errors=True, timeout=600).execute()
    first, second, third, wrong, other, fits, drawn = [cell.outputs for cell in nb.cells]
    assert [o.data["text/markdown"].partition("\n")[0] for o in first] == [
        "**This notebook does not apply to small.** No item was judged by two people of one group."
    ]
    assert second == third == fits == []
    assert wrong[0].traceback == ["n_resamples: expected a whole number, found 'many'"]
    assert other[0].ename == "ZeroDivisionError"
    assert len(other[0].traceback) > 1
    kinds = [set(o.data) & {"image/png", "text/html", "text/markdown"} for o in drawn]
    figure = kinds.index({"image/png"})
    assert drawn[figure + 1].data["text/markdown"].startswith("**Figure 1.** ")
    assert any("<caption>Table 1. " in o.data.get("text/html", "") for o in drawn)


def test_what_rests_on_printed_numbers_is_not_called_simulated(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path))
    run = store.start(str(ROOT / "params" / "demo.yaml"), "12_moderation")
    frame = pd.DataFrame({"A": [0.5]})
    views.show(run, [Table(frame, "drawn", "Drawn."), FromPrint(Table(frame, "printed", "Printed."))])
    said = {p.stem: "Simulated" in p.read_text() for p in run.tables.glob("*.tex")}
    assert said == {"12_moderation_drawn": True, "12_moderation_printed": False}
