"""Numbers printed with public data sets, against what the functions of notebooks 00, 03, 07 and 13 make of the data."""

from dataclasses import replace

import pytest

from compendium.published import mapping, verdicts
from compendium.published import numbers as published
from judgebook.annotations import summary
from judgebook.questions.agreement.analysis import plain_alphas
from judgebook.questions.agreement.coefficients import kappas
from judgebook.questions.collection.analysis import of_systems
from judgebook.questions.judges.alternative_annotator import winning_rates
from judgebook.questions.performance.rates import clustered
from judgebook.sources import build, places
from judgebook.statistics.intervals import Sampling
from judgebook.study import params
from judgebook.study.results import collect

SAMPLING = Sampling(n_resamples=100, confidence=0.95, seed=1)


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
@pytest.mark.verify
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


def means(frames, _):
    return clustered(frames["annotations"], unit="dialogue", sampling=SAMPLING)


def agreement(frames, labels):
    people = frames["annotations"].query("annotator_kind == 'human'")
    of_people = kappas(people, labels)
    labels = [replace(label, level="interval") for label in labels]
    return [*plain_alphas(people, labels).assign(statistic="alpha").to_dict("records"), *of_people]


def outcomes(frames, _):
    return of_systems(frames["annotations"])


def card(frames, _):
    return summary.card(frames["annotations"], frames["dialogues"])


#: study, notebook, what it computes -> how many of the printed numbers match, fitted or not, and differ
VERDICTS = [
    ("dstc10_dev", "00_build_annotations", card, 12, 0),
    ("fed", "00_build_annotations", card, 10, 1),
    ("grade", "00_build_annotations", card, 15, 3),
    ("usr", "00_build_annotations", card, 12, 0),
    ("d2t_bws", "00_build_annotations", outcomes, 20, 0),
    ("reprohum0744", "00_build_annotations", outcomes, 12, 0),
    ("reprohum_d2t", "00_build_annotations", outcomes, 0, 15),
    ("empathy_judges", "03_iaa", agreement, 84, 0),
    ("cis_transparency", "07_bot_performance", means, 9, 0),
    ("esa_wmt23", "07_bot_performance", means, 12, 3),
    ("summeval", "07_bot_performance", means, 71, 1),
    ("webnlg2020", "07_bot_performance", means, 33, 0),
    ("xsum_hallu", "07_bot_performance", means, 2, 2),
]


@pytest.mark.data
@pytest.mark.evidence
@pytest.mark.parametrize(
    ("study", "notebook", "compute", "match", "differs"), VERDICTS, ids=lambda v: getattr(v, "__name__", str(v))
)
def test_verdicts_on_public_numbers(raw_data, atlas_data, monkeypatch, study, notebook, compute, match, differs):
    monkeypatch.setattr(places, "raw_roots", lambda: [atlas_data, raw_data])
    found = params.load(study)
    results = {(study, notebook): collect(compute(build.build(found).frames, found.label_list()))}
    papers = [p for p in mapping.load() if p.paper in (study, "dstc10")]
    judged = verdicts.judge(results, published.load(), papers)
    judged = judged[judged["here"].notna() & ((judged["paper"] == study) | (judged["element"] == "Table 1"))]
    counts = judged["verdict"].str.removesuffix("_fitted").value_counts()
    assert (counts.get("match", 0), counts.get("differs", 0)) == (match, differs)
