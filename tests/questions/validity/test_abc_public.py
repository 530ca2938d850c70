"""The study of the two public halves of ABC-Eval, recomputed from the raw files by a second route."""

import json
from collections import defaultdict
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import binomtest, ttest_ind
from statsmodels.stats.proportion import proportions_ztest

from judgebook.annotations.dialogue_values import COMPARATIVE_QUALITY, DIALOGUE_QUALITY
from judgebook.annotations.picks import picks
from judgebook.annotations.summary import evaluated
from judgebook.questions.sensitivity import judged_groups
from judgebook.questions.sensitivity.system_tests import published_tests
from judgebook.questions.validity import coverage, targets
from judgebook.questions.validity.importance import importance
from judgebook.sources.build import build
from judgebook.statistics import Sampling
from judgebook.study import params
from judgebook.study.results import collect

pytestmark = [pytest.mark.evidence, pytest.mark.data]
FEW = Sampling(n_resamples=200, confidence=0.95, seed=1)
DEVELOPERS = {"worker253", "worker256", "worker259"}
LIKERT = ["consistent", "emotional", "engaging", "grammatical", "informative", "proactive", "relevant"]


@pytest.fixture(scope="module")
def raw(raw_data):
    """Behaviours (dialogue -> turns), and Likert ratings and comparisons (dialogue -> label -> annotations)."""

    def part(name):
        project = json.loads((raw_data / "finch2024" / f"data_{name}.json").read_text())[name]
        who = {key: unit["worker_id"] for key, unit in project["work_units"].items()}
        return project["dialogues"], who

    marks = json.loads((raw_data / "gpt_abceval" / "behavior-classification-results.json").read_text())
    return marks, part("student_external_likert"), part("student_external_comparative")


@pytest.fixture(scope="module")
def study(raw_data):
    one = params.load("abc_public")
    return one, build(one)


@pytest.fixture(scope="module")
def find(study):
    one, built = study
    members = {name: ids for group in built.sections["groups"].values() for name, ids in group["parts"].items()}
    frames = (evaluated(built.frames["annotations"]), built.frames["dialogues"])
    return lambda **changes: targets.find(
        *frames, pick_seed=one.seeds.pick, parts=members, **(one.importance.settings() | changes)
    )


def behaviours(raw):
    """Dialogue x behaviour: mean over turns of the two people's marks."""
    rates = {
        dialogue: {
            label.replace(" ", "_"): np.mean([np.mean(t["behaviors"][label]["human"]) for t in turns])
            for label in turns[0]["behaviors"]
        }
        for dialogue, turns in raw[0].items()
    }
    return pd.DataFrame(rates).T


def likert(raw, people=None):
    """Dialogue x label: mean rating, of developers (True), others (False) or all (None)."""
    dialogues, who = raw[1]
    rows = {}

    def is_developer(answer):
        return who[answer["work_unit_id"]] in DEVELOPERS

    for dialogue in raw[0]:
        given = dialogues[dialogue]["likert_annotations"]
        rows[dialogue] = {
            label: np.mean(scores)
            for label, answers in given.items()
            if (scores := [float(a["score"]) for a in answers if people in (None, is_developer(a))])
        }
    return pd.DataFrame(rows).T


def choices(raw):
    """(first dialogue, second, sum of scores) of each pair; a positive score chose the first met in the file."""
    total, seen = defaultdict(float), {}
    for dialogue, content in raw[2][0].items():
        if dialogue not in raw[0]:
            continue
        for answer in content["comparative_annotations"]["quality"]:
            other = answer["dialogue_compared_to_id"]
            seen.setdefault(frozenset((dialogue, other)), (dialogue, other))
            if seen[frozenset((dialogue, other))][0] == dialogue:
                total[dialogue, other] += float(answer["score"])
    return [(a, b, score) for (a, b), score in total.items()]


def test_both_halves_hold_the_same_dialogues(raw):
    marks, (rated, _), (compared, _) = raw
    assert len(marks) == 108
    assert set(marks) <= set(rated)
    assert set(marks) <= set(compared)
    assert len(choices(raw)) == 54


#: without random draws: means of all annotators on both sides
MEANS = {"quality_rating": "mean", "predictor_value": "mean"}


def test_r2_of_each_behaviour(raw, find):
    design = find(**MEANS, group="surge").designs[DIALOGUE_QUALITY]
    ours = importance(design, sampling=FEW)["r2"].set_index("label")["estimate"]
    x, y = behaviours(raw), likert(raw)["quality"]
    assert len(ours) == 9
    for label, r2 in ours.items():
        assert r2 == pytest.approx(sm.OLS(y, sm.add_constant(x[label])).fit().rsquared, abs=1e-10)


def test_mcfadden_of_each_behaviour(raw, find):
    found = find(**MEANS, group="surge")
    ours = importance(found.designs[COMPARATIVE_QUALITY], sampling=FEW)["mcfadden_r2"]
    x, every = behaviours(raw), choices(raw)
    decided = [(a, b, score) for a, b, score in every if score]
    assert found.n_ties == len(every) - len(decided)
    y = np.array([score < 0 for *_, score in decided], dtype=float)
    for label, mcfadden in ours.set_index("label")["estimate"].items():
        difference = np.array([x[label][b] - x[label][a] for a, b, _ in decided])
        fit = sm.Logit(y, sm.add_constant(difference)).fit(disp=0)
        assert mcfadden == pytest.approx(fit.prsquared, abs=1e-8)


def test_cross_validated_fit_of_both_methods(raw, find):
    """Students' mean rating predicted by behaviours and by developers' ratings; each session left out alone."""
    found = find(**MEANS, quality_group="students", group=["surge", "developers"])
    options = {"n_folds": 1000, "n_repeats": 1, "n_permutations": 10, "seed": 1}
    rows = coverage.compare(found.designs[DIALOGUE_QUALITY], ["behavior", "dialogue_likert"], **options)
    ours = collect(rows).select("r2", kind="cross_validated", k=3).set_index("method")
    x = {"behavior": behaviours(raw), "dialogue_likert": likert(raw, True).reindex(columns=LIKERT)}
    y = likert(raw, False)["quality"]
    known = [d for d in y.dropna().index if x["dialogue_likert"].loc[d].notna().all()]
    session = np.array([d.partition("_")[0] for d in known])
    assert set(ours["n"]) == {len(known)}
    for method, row in ours.iterrows():
        assert row["estimate"] == pytest.approx(left_out(x[method].loc[known].to_numpy(float), y[known], session, 3))


def left_out(x, y, session, k):
    y, loss, null = y.to_numpy(float), 0.0, 0.0

    def fitted(rows, columns):
        z = np.column_stack([np.ones(len(x)), x[:, columns]])
        slopes, *_ = np.linalg.lstsq(z[rows], y[rows], rcond=None)
        return (y - z @ slopes) ** 2

    for one in np.unique(session):
        rest = session != one
        best = min(combinations(range(x.shape[1]), k), key=lambda c: fitted(rest, list(c))[rest].sum())
        loss += fitted(rest, list(best))[~rest].sum()
        null += ((y[~rest] - y[rest].mean()) ** 2).sum()
    return 1 - loss / null


def test_nobody_predicts_a_rating_of_their_own(raw, study, find):
    """The study's own configuration: target and Likert predictors are two people's ratings of the dialogue."""
    dialogues, _ = raw[1]
    design = find().designs[DIALOGUE_QUALITY]
    names = sorted(raw[0])
    assert len(names) == len(design.y)
    other = design.x["dialogue_likert", "quality"].to_numpy()
    for name, y, x in zip(names, design.y, other, strict=True):
        scores = [float(a["score"]) for a in dialogues[name]["likert_annotations"]["quality"]]
        assert y in scores
        scores.remove(y)
        assert x in scores if scores else np.isnan(x)
    assert np.isnan(other).sum() == 3


def test_pairs_that_the_published_tests_distinguish(study):
    """z of proportions on turns, Student's t on ratings, sign tests of comparisons: p-values of every pair."""
    one, built = study
    people = evaluated(built.frames["annotations"]).query("annotator_kind == 'human'")
    given = {"systems": list(one.systems), "pick_seed": one.seeds.pick}
    n = 0
    for judged in judged_groups.groups(people, built.frames["dialogues"], **given):
        mine = next(picks(people[people["group"] == judged.group], 1, one.seeds.pick))
        for data in judged.picked:
            for row in published_tests(data).to_dict("records"):
                rows = mine[(mine["method"] == row["method"]) & (mine["label"] == row["label"])]
                p = by_hand(rows, row["system"], row["system_b"], row["method"])
                assert (row["p_value"] == pytest.approx(p, abs=1e-9)) or np.isnan([row["p_value"], p]).all()
                n += 1
    assert n == 6 * (9 + 8 + 8)


def by_hand(rows, a, b, method):
    if method == "comparative":
        here = rows[rows["system"].isin([a, b]) & rows["system_b"].isin([a, b])]
        signed = here["score"].where(here["system"] == a, -here["score"])
        wins, losses = int((signed > 0).sum()), int((signed < 0).sum())
        return binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    x, y = (rows.loc[rows["system"] == s, "score"] for s in (a, b))
    if method == "behavior":
        return proportions_ztest([x.sum(), y.sum()], [len(x), len(y)])[1]
    return ttest_ind(x, y).pvalue
