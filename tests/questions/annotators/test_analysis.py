"""Notebook 15 on groups of the simulated study in which careless annotators were planted."""

import numpy as np
import pandas as pd
import pytest
from fixtures.planted_annotators import planted
from scipy.stats import binomtest

from judgebook.questions.annotators import analysis, indicators
from judgebook.questions.collection import costs
from judgebook.study import params
from judgebook.study.labels import Label
from judgebook.study.schema import ANNOTATIONS, WORK_UNITS, conform

LEVEL = 0.05
#: as in the demo: 400 dialogues rated by 32 annotators, a quarter of them twice
LIKERT = {}
#: marks on the turns of 120 dialogues by 14 annotators, 60% of them twice
BEHAVIOR = {"method": "behavior", "task": "consistency", "n_sessions": 60, "n_people": 14, "twice": 0.6}
STUDIES = 60


def named(made) -> set[str]:
    """Who is named, without what consensus takes."""
    rows, head = made.annotations, {"corpus": "main", "group": "sur_x", "method": made.annotations["method"].iloc[0]}
    turned = indicators.oriented(rows)
    z = {
        "answers": indicators.answers(rows, np.random.default_rng(1))[1],
        "disagreement": indicators.disagreement(turned)[1],
        "severity": indicators.severity(turned, 0.95)[1],
        "drift": indicators.drift(turned, 0.95)[1],
        "speed": indicators.speed(costs.minutes(made.work_units, rows), 0.95)[1],
    }
    found = pd.DataFrame(analysis.named([(head, indicator, v) for indicator, v in z.items()], LEVEL))
    return set(found.loc[found["p_adjusted"] < LEVEL, "annotator"])


def rates(n: int, **options) -> tuple[int, int, int]:
    """Of n simulated studies: how many flag a good annotator, and how many of the bad annotators are flagged."""
    alarms, found, bad = 0, 0, 0
    for seed in range(n):
        made = planted(seed=seed, **options)
        who = named(made)
        alarms, found, bad = alarms + bool(who - set(made.bad)), found + len(who & set(made.bad)), bad + len(made.bad)
    return alarms, found, bad


@pytest.mark.verify
def test_who_is_harsh_is_harsh_on_good_and_on_bad_qualities():
    """One of ten gives 1.5 points less for quality, and 1.5 more for being repetitive; a label that is neither good nor
    bad says nothing."""
    labels = [Label("quality", "dialogue_likert", "Quality", (1, 5))]
    labels += [Label("repetitive", "dialogue_likert", "Repetitive", (1, 5), direction=-1)]
    labels += [Label("formal", "dialogue_likert", "Formal", (1, 5), direction=0)]
    rng, rows = np.random.default_rng(3), []
    for i in range(120):
        quality = rng.normal(3, 0.7)
        for who in rng.choice(10, 3, replace=False):
            harsh = 1.5 * (who == 0)
            means = {"quality": quality - harsh, "repetitive": 6 - quality + harsh, "formal": 3 + harsh}
            for name, mean in means.items():
                score = float(np.clip(round(rng.normal(mean, 0.4)), 1, 5))
                rows.append((f"A{who}", f"d{i}", "abc"[i % 3], name, score))
    same = {"study": "s", "corpus": "main", "group": "all", "method": "dialogue_likert", "annotator_known": True}
    frame = pd.DataFrame(rows, columns=["annotator", "dialogue", "system", "label", "score"])
    frame = frame.assign(annotator_kind="human", source_row=range(len(rows)), **same)
    frame, none = conform(frame, ANNOTATIONS), pd.DataFrame(columns=list(WORK_UNITS))
    for wanted in (["repetitive"], ["quality", "repetitive", "formal"]):
        own = frame[frame["label"].isin(wanted)]
        found = analysis.analyse(own, none, labels, false_alarms=LEVEL, confidence=0.95, seed=1)
        over_all = found["annotator_severity"].set_index("annotator")["estimate"]
        assert over_all.idxmin() == "A0"
        assert over_all["A0"] < -0.8
        z = found["annotator_z"]
        flagged = z[(z["p_adjusted"] < LEVEL) & (z["indicator"] == "severity")]
        assert flagged["annotator"].tolist() == ["A0"]


@pytest.mark.evidence
@pytest.mark.parametrize("shape", [LIKERT, BEHAVIOR])
def test_few_studies_of_ordinary_annotators_flag_anyone(shape):
    alarms, _, _ = rates(STUDIES, **shape)
    assert binomtest(alarms, STUDIES, LEVEL, alternative="greater").pvalue > 0.01


@pytest.mark.evidence
@pytest.mark.parametrize(
    ("shape", "kind", "least"),
    [(LIKERT, "liners", 0.8), (LIKERT, "hasty", 0.4), (BEHAVIOR, "clickers", 0.8), (BEHAVIOR, "drifting", 0.8)],
)
def test_bad_annotators_are_found_and_good_ones_hardly_ever_flagged(shape, kind, least):
    alarms, found, bad = rates(10, **shape, **{kind: 2})
    assert found / bad >= least
    assert binomtest(alarms, 10, LEVEL, alternative="greater").pvalue > 0.01


def test_positions_and_models_are_nobody():
    made = planted(seed=5, n_sessions=24, n_people=8)
    rows = made.annotations.assign(annotator_known=False)
    study = params.load("demo")
    found = analysis.analyse(rows, made.work_units, study.label_list(), false_alarms=LEVEL, confidence=0.95, seed=1)
    assert not len(found["annotator_z"])
