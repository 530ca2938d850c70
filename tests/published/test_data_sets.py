"""Numbers printed with public data sets, against what the functions of notebooks 03, 07 and 13 make of the data."""

import pytest

from judgebook.published import numbers as published
from judgebook.questions.agreement.analysis import alpha_table
from judgebook.questions.judges.alternative_annotator import winning_rates
from judgebook.questions.performance.rates import clustered
from judgebook.sources import build, places
from judgebook.statistics.intervals import Sampling
from judgebook.study import params
from judgebook.study.results import collect


@pytest.fixture
def read(raw_data, monkeypatch):
    monkeypatch.setattr(places, "raw_roots", lambda: [raw_data, raw_data.parent / "data_more"])

    def annotations(name):
        study = params.load(name)
        if places.absent(study):
            pytest.skip("the upstream files are not here")
        return study, build.build(study).frames["annotations"]

    return annotations


def printed(paper, panel):
    found = published.load(paper)
    return found[found["panel"] == panel]


@pytest.mark.data
@pytest.mark.parametrize(
    ("study", "panel", "cost"), [("alttest_mtbench", "mtbench", 0.2), ("alttest_prompts", "prompts_10k", 0.15)]
)
def test_all_numbers_of_the_alternative_annotator_test(read, study, panel, cost):
    """Ours follows the paper's definition and knows nothing of the authors' code."""
    study, marks = read(study)
    assert study.judges.cost == cost
    found = collect(winning_rates(marks, study.label_list(), cost=cost))
    rows = printed("alttest", panel)
    assert len(rows) == 12
    for row in rows.itertuples():
        keys = {"test": "items"} if row.column == "winning_rate" else {}
        ours = found.select(row.column, **keys).assign(judge=lambda f: f["metric"].str.replace("-", "_"))
        value = ours.loc[ours["judge"] == row.row, "estimate"].item()
        assert published.agrees(row.value, row.decimals, value), row


@pytest.mark.data
@pytest.mark.slow
def test_alpha_of_dices(read):
    study, marks = read("dices")
    sampling = Sampling(n_resamples=200, confidence=0.95, seed=1)
    found = alpha_table(marks, study.label_list(), sampling=sampling, first=None, alone=True)["alpha"]
    row = published.load("dices").query("column == 'alpha'").iloc[0]
    assert published.agrees(row["value"], row["decimals"], found["estimate"].iloc[0])


@pytest.mark.data
def test_means_of_squality(read):
    _, marks = read("squality")
    found = collect(clustered(marks, unit="dialogue", sampling=Sampling(200, 0.95, 1)))["mean"]
    for row in printed("squality", "means").itertuples():
        ours = found[(found["system"].str.replace("-", "_") == row.row) & (found["label"] == row.column)]
        assert published.agrees(row.value, row.decimals, ours["estimate"].item()), row
