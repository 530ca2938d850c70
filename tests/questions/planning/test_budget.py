"""People beside a model: what is planned from a pilot that both judged, and what is said, for each verdict."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fixtures import planned_studies
from fixtures.planned_studies import judged

from judgebook.display.names import display_names
from judgebook.questions.planning import analysis, next_items, pilot_study, views
from judgebook.questions.planning.question import Planning
from judgebook.study import params
from judgebook.study.schema import ANNOTATIONS, WORK_UNITS, conform

OPTIONS = {
    "dialogues": [20, 80], "per_dialogue": [1, 2], "budget": 300.0,
    "minutes_per_judgement": {"dialogue_likert": 2.0, "comparative": 2.0}, "minutes_per_dialogue": 0.0,
}  # fmt: skip
ITEM = ["session", "system", "system_b", "dialogue", "dialogue_b", "turn", "label"]


@pytest.fixture(scope="module")
def study():
    return params.of_text(planned_studies.YAML, Path("s.yaml"))


def pilot(kind="dialogue_likert", noise=0.5, n=150, judge="gpt", **shape):
    """Judgements by 3 of 12 people, and by a model that knows what 9 others would say on average, and errs."""
    everybody = judged(kind, n=n, each=12, **shape).assign(study="s", source_row=0)
    others = everybody[everybody["annotator"].str[1:].astype(int) >= 3]
    mean = others.groupby(ITEM, dropna=False, sort=False)["score"].mean().reset_index()
    score = mean["score"] + np.random.default_rng(7).normal(0, noise, len(mean))
    fixed = everybody.drop(columns=[*ITEM, "annotator", "score"]).iloc[0].to_dict()
    model = mean.assign(**fixed | {"annotator_kind": "llm"}, score=score, annotator=judge)
    people = everybody[everybody["annotator"].str[1:].astype(int) < 3]
    return tuple(conform(frame, ANNOTATIONS) for frame in (people, model))


def planned(study, people, models, costs=(("gpt", 0.001),), **options):
    """Planning input, options, results, names, and the decision."""
    chosen = Planning(**OPTIONS | options)
    names = display_names(study, people, metric={"gpt": "GPT-5", "other": "Other"})
    data = pilot_study.planning_input(
        people, pd.DataFrame(columns=list(WORK_UNITS)), study.label_list(), chosen, systems=["a", "b"],
        hourly_rate=12.0, seed=1, models=models, judge_costs=dict(costs), n_resamples=400,
    )  # fmt: skip
    results = analysis.analyse(data, chosen, confidence=0.95, seed=1)
    said = [p.text for p in views.findings(results, data, names, chosen, currency="EUR", n_next=9)]
    return data, chosen, results, names, said


@pytest.fixture(scope="module")
def good(study):
    return planned(study, *pilot(noise=0.2))


def test_gains_are_those_of_the_formula(good):
    """By hand from the variances of the fit: all but those of dialogues are each judgement's own."""
    _, _, results, names, _ = good
    (team,), (pilot_,), (judge,) = views.teams(results, names), good[0].pilots, good[0].judged
    v = pilot_.fit.variances
    of_dialogues, of_each = v["item"], v["annotator"] + v["taste"] + v["residual"]  # all systems meet in sessions

    def variance(m, n):
        return (of_dialogues + of_each / m) / n

    # explained: a share of the variance of values by three people each
    explained = judge.share.estimate * variance(3, 1)
    with_model = (variance(team["each"], 1) - explained) / team["n"] + explained / team["pool"]
    gain = variance(team["alone_each"], team["alone"]) / with_model
    assert team["gain"]["estimate"] == pytest.approx(gain)  # one label: it is what all have
    assert team["narrower"]["estimate"] == pytest.approx(1 - 1 / np.sqrt(gain))


@pytest.mark.parametrize(
    ("noise", "n", "least_gain", "helps", "words"),
    [
        (50.0, 150, 1.1, False, "**People alone:** at equal cost, a human label beside GPT-5"),
        (0.2, 150, 9.0, False, "(GPT-5 would be recommended from 9.00"),
        (0.5, 25, 1.0, None, "**Whether GPT-5 saves labels is open:**"),
    ],
)
def test_where_the_model_is_not_recommended_people_alone_are(study, noise, n, least_gain, helps, words):
    data, _, results, names, said = planned(study, *pilot(noise=noise, n=n), least_gain=least_gain)
    (team,) = views.teams(results, names)
    assert team["helps"] is helps
    assert words in said[0]
    assert next_items.of_plan([team], data, uniform=0.5, seed=1).empty  # people have judged all


@pytest.mark.parametrize(("sign", "words"), [(-1, "is worth 1.00 labels"), (1, "narrower than by people alone**, who")])
def test_a_model_that_explains_nothing_or_all_that_it_can_has_no_interval(study, sign, words):
    """One that goes against people, and one that repeats what these people say: annotators' noise, too."""
    people, models = pilot(noise=0.2)
    mean = people.groupby("dialogue")["score"].mean()
    noise = np.random.default_rng(8).normal(0, 0.01, len(models))
    models = models.assign(score=sign * models["dialogue"].map(mean) + noise)
    *_, results, _, said = planned(study, people, models)
    row = results["split_gain"].iloc[0]
    assert row["ci_kind"] == "not_estimable"
    assert np.isnan([row["ci_low"], row["ci_high"]]).all()
    assert words in said[0]
