"""All of notebook 09 on made-up data, on a file of one's own in the USR format, and on public data."""

import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import metric_study

from judgebook.display.names import DisplayNames
from judgebook.questions.metrics import analysis, items, views
from judgebook.statistics.intervals import Sampling
from judgebook.study.labels import Label

LABELS = [Label(name, "turn_rating", name.capitalize(), (1, 5)) for name in ("quality", "fluent")]
NAMES = DisplayNames(
    {(label.method, label.id): label for label in LABELS},
    {"method": {"turn_rating": "Turn rating"}, "metric": {"m": "Good", "n": "Weak"}, "group": {}, "system": {}},
)
QUICK = {"permute_seed": 1, "rank_resamples": 200}


@pytest.fixture(scope="module")
def analysed():
    """Two data sets; the second has every score reversed."""
    annotations, scores = metric_study(np.random.default_rng(1), n_contexts=30)
    annotations["dialogue_b"] = None
    people = analysis.rated(pd.concat([annotations.assign(corpus=c) for c in ("main", "other")]))
    both = pd.concat([scores, scores.assign(corpus="other", score=-scores["score"])])
    return people, both, analysis.analyse(people, both, LABELS, sampling=Sampling(300, 0.95, 1), **QUICK)


def test_leaderboards_have_the_largest_first_and_what_it_exceeds_the_others_by(analysed):
    found = analysed[-1]
    assert list(analysis.set_titles(found, NAMES.titles).values()) == ["Main", "Other"]
    (main, other) = views.leaderboard(found, NAMES)
    assert (main.frame["Metric"].tolist(), other.frame["Metric"].tolist()) == (["Good", "Weak"], ["Weak", "Good"])
    r = analysis.overall(found.part(corpus="main")).set_index("metric")["estimate"]
    assert main.frame["Difference"].tolist()[1] == pytest.approx(r["m"] - r["n"])
    assert np.isnan(main.frame["Difference"][0])


def test_metrics_that_are_lower_for_better_systems_are_reversed():
    scores = pd.DataFrame({"metric": ["flow", "bleu"], "score": [0.5, 2.0]})
    assert analysis.oriented(scores, directions={"flow": -1})["score"].tolist() == [-0.5, 2.0]


def test_labels_that_are_bad_are_reversed():
    annotations, _ = metric_study(np.random.default_rng(1), n_contexts=2)
    bad = [Label("quality", "turn_rating", "Q", (1, 5), direction=-1)]
    plain, turned = items.human_means(annotations), items.human_means(annotations, bad)
    quality = plain["label"] == "quality"
    assert (turned["human"][quality] == -plain["human"][quality]).all()
    assert (turned["human"][~quality] == plain["human"][~quality]).all()


def test_only_ratings_by_people_enter():
    annotations, _ = metric_study(np.random.default_rng(1), n_contexts=2)
    odd = [annotations.assign(dialogue_b=None), annotations.assign(dialogue_b="x"), annotations.assign(corpus="b")]
    odd.append(annotations.assign(dialogue_b=None, annotator_kind="llm"))
    kept = analysis.rated(pd.concat(odd), ["main"])
    assert len(kept) == len(annotations)
