"""A report of twelve rows: the YAML that the README prints."""

import html
import re

import numpy as np
import pytest
from fixtures import yaml_studies as studies
from fixtures.notebook_runs import check_alpha, problems, run_all

from judgebook.study import params
from judgebook.study.params import ROOT
from judgebook.study.stored import open_study


def ratings(n):
    """A wide table of `n` items, two labels and three annotators who agree more or less; one cell is missing."""
    rng = np.random.default_rng(3)
    truth = rng.integers(1, 6, (n, 2))
    scores = np.clip(truth[:, :, None] + rng.integers(-1, 2, (n, 2, 3)), 1, 5).reshape(n, 6).astype(str)
    scores[4, 1] = "N/A"
    names = [f"{label}_a{i}" for label in ("fluency", "quality") for i in (1, 2, 3)]
    lines = [",".join(["id", *names]), *(",".join([f"d{i}", *row]) for i, row in enumerate(scores))]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def twelve(tmp_path_factory):
    folder = tmp_path_factory.mktemp("twelve")
    return run_all(folder, [studies.write(folder, studies.WIDE, "wide", my_csv=ratings(12))])


@pytest.mark.evidence
def test_twelve_rows_give_a_report_with_a_warning(twelve):
    """The YAML that the README prints."""
    assert studies.WIDE in (ROOT / "README.md").read_text(encoding="utf-8")
    assert problems(twelve) == []
    states = twelve.states["wide"]
    done = {n for n, (state, _) in states.items() if state == "done"}
    always = {"annotations", "00_build_annotations", "17_design_check", "02_collection_stats"}
    assert done == always | {"03_iaa", "15_annotators"}
    assert "wide: warning: 12 items per label on average, fewer than 25" in twelve.said
    texts = {name: twelve.page("wide", name).text for name in done - {"annotations"}}
    assert "12 dialogues of 1 system, judged by 3 people" in texts["00_build_annotations"]
    assert "The data contain no annotation times" in texts["02_collection_stats"]
    assert "fewer than 25 items for Dialogue rating (12 items)" in texts["03_iaa"]
    folded = (twelve.folder / "reports" / "wide" / "03_iaa.html").read_text(encoding="utf-8")
    assert "at least two systems" in folded  # why a section is not there, below More
    index = (twelve.folder / "reports" / "wide" / "index.html").read_text(encoding="utf-8")
    absent = html.unescape(re.sub("<[^>]+>", "", index.partition("Not in this report</h2>")[2]))  # after twelve, a fold
    reasons = {name: reason.replace("`", "") for name, (state, reason) in states.items() if state != "done"}
    assert [name for name, reason in reasons.items() if reason not in absent] == []  # code is shown as code


@pytest.mark.evidence
def test_all_annotations_of_own_data_enter(twelve):
    check_alpha(twelve, "wide", None)


def test_a_study_that_was_not_run_says_how(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="--study ji2022`"):
        open_study("ji2022")
    with pytest.raises(params.ParamsError, match="did you mean 'ji2022'"):
        open_study("ji202")
