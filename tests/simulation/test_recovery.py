"""Do the primary analyses of notebooks 04 to 06 find what is true in the simulated study, as often as they promise?

Studies of the size of `demo` are drawn anew from its model: 46 people, 200 sessions, 32 annotators, one annotation an
item. The limits are three standard errors over studies, because labels of one study are not independent.
"""

from collections import defaultdict

import numpy as np
import pandas as pd
import pytest

from judgebook.annotations import dialogue_values as values
from judgebook.questions.sensitivity import contrasts, panels
from judgebook.questions.validity import importance as validity
from judgebook.simulation import design, people
from judgebook.simulation import study as simulate
from judgebook.simulation.draw import draw_chats, judge
from judgebook.simulation.evaluations import by_task
from judgebook.simulation.model import measures
from judgebook.statistics import Sampling
from judgebook.statistics.multiplicity import adjust_p_values
from judgebook.study.sections.data import Simulate

SPEC = Simulate()
TRUTH = simulate.population(SPEC)
R = {(q["method"], q["label"]): q["r"] for q in TRUTH["quality"] if q["r"] is not None}
EQUAL = {(e["method"], e["label"], e["system"], e["system_b"]) for e in TRUTH["equal_systems"] if e["group"] == "sur_x"}
EFFECT = {(e["method"], e["label"], e["system"], e["system_b"]): e["effect"]
          for e in TRUTH["effects"] if e["group"] == "sur_x"}  # fmt: skip
N_STUDIES = 40
pytestmark = pytest.mark.evidence


def rows(made, items, who, scores, measured, pair=False):
    """Values of dialogues (pairs) as `values.dialogue_values` gives them, from scores (units, labels) of one task."""
    system = np.asarray(design.SYSTEMS)[made.system]
    first = 2 * items if pair else items
    base = {"corpus": "main", "group": "g", "system": system[first], "session": (first // 2).astype(str)}
    base |= {"dialogue": first.astype(str), "system_b": system[first + 1] if pair else None}
    base |= {"dialogue_b": (first + 1).astype(str) if pair else None, "annotator": who.astype(str)}
    out = []
    for j, m in enumerate(measured):
        n, total, squares = scores[:, :, j]
        sums = {"n_items": n, "total": total, "total_sq": squares, "value": total / n}
        out.append(pd.DataFrame(base | sums).assign(method=m.method, label=m.label))
    return pd.concat(out)


def summed(made, items, scores, turns):
    """(3, units, labels): number of judged items, sum and sum of squares of the scores of each unit."""
    scores = scores.astype(float)
    if not turns:
        return np.stack([np.ones_like(scores), scores, scores**2])
    start = np.concatenate([[0], np.cumsum(made.n_turns[items])[:-1]])
    return np.stack([np.add.reduceat(v, start) for v in (np.ones_like(scores), scores, scores**2)])


def study(seed):
    """Values by external annotators, the interactors' own ratings of quality and comparisons, and who talked."""
    rng = np.random.default_rng([7, seed])
    met = people.sessions(SPEC.n_sessions, SPEC.n_interactors, rng)
    made, parts = draw_chats(SPEC, met, rng), []
    for method in ("behavior", "turn_likert", "dialogue_likert", "comparative"):
        for measured in by_task(measures(SPEC, "sur_x"), method).values():
            pair = method == "comparative"
            items = np.arange(len(met) if pair else len(made.system))
            work = people.assign(items, items[:0], SPEC.n_surge, 60, rng)
            scores = judge(made, measured, work.item, work.annotator, rng)
            turns = method in ("behavior", "turn_likert")
            parts.append(rows(made, work.item, work.annotator, summed(made, work.item, scores, turns), measured, pair))
    own = measures(SPEC, "stu_i")
    for method, who in (("dialogue_likert", np.repeat(met.interactor, 2)), ("comparative", met.interactor)):
        items, measured = np.arange(len(who)), [own[method, "quality"]]
        scores = summed(made, items, judge(made, measured, items, who, rng), turns=False)
        parts.append(rows(made, items, who, scores, measured, method == "comparative").assign(group="own"))
    talked = pd.Series(np.repeat(met.interactor, 2).astype(str), index=np.arange(len(made.system)).astype(str))
    found = pd.concat(parts, ignore_index=True)
    return found[found["group"] == "g"], found[found["group"] == "own"], talked


@pytest.fixture(scope="module")
def studies():
    return [study(seed) for seed in range(N_STUDIES)]


def near(shares, promised):
    """Whether the mean over studies is the promised share, within three standard errors over studies."""
    shares = np.asarray(shares, dtype=float)
    return abs(shares.mean() - promised) <= 3 * shares.std(ddof=1) / np.sqrt(len(shares))


@pytest.fixture(scope="module")
def correlations(studies):
    """Interval of r of each label with the own rating of quality, a frame a study."""
    out = []
    for seed, (found, own, talked) in enumerate(studies):
        one = values.dialogue_design(found, own[own["method"] == "dialogue_likert"], talked)
        results = validity.importance(one, sampling=Sampling(n_resamples=100, confidence=0.95, seed=seed))
        r = results.select("r", ci_kind="jackknife_t")
        out.append(r.assign(true=[R[pair] for pair in zip(r["method"], r["label"], strict=True)]))
    return out


def test_intervals_of_importance_hold_the_true_correlation(correlations):
    held = [((c["ci_low"] <= c["true"]) & (c["true"] <= c["ci_high"])).mean() for c in correlations]
    assert near(held, 0.95)


def test_labels_unrelated_to_quality_are_rarely_taken_for_related(correlations):
    null = pd.concat(c[c["true"] == 0].assign(study=i) for i, c in enumerate(correlations))
    assert set(null["label"]) >= {"preference_info", "life_info", "correct_fact", "topic_switch", "informative"}
    wrong = ((null["ci_low"] > 0) | (null["ci_high"] < 0)).groupby(null["study"]).mean()
    assert near(wrong, 0.05)


def test_labels_related_to_quality_are_found_with_the_right_sign(correlations):
    every = pd.concat(correlations)
    strong = every[every["true"].abs() >= 0.2]
    assert strong["label"].nunique() >= 8
    # an interval about .19 wide: the power for .2 is about 98 %
    found = (strong["ci_low"] > 0) | (strong["ci_high"] < 0)
    assert found.mean() > 0.95
    assert (np.sign(strong["estimate"]) == np.sign(strong["true"])).all()


def system_tests(studies, tests):
    """p-values of each pair of systems and label: {test: list over studies of {(method, label, a, b): p}}, and the
    differences."""
    out, differences = defaultdict(list), []
    for found, _, talked in studies:
        p = {t: {} for t in tests}
        sign = {}
        for method in found["method"].unique():
            data = panels.panel(found, method, list(design.SYSTEMS), talked)
            for t in tests:
                test = data.published_test if t == "published" else t
                value, difference = (v[0] for v in contrasts.draw_p_values(data, test))
                for i, (a, b) in enumerate(data.pairs):
                    for j, label in enumerate(data.labels):
                        key = (method, label, data.systems[a], data.systems[b])
                        p[t][key], sign[key] = value[i, j], difference[i, j]
        for t in tests:
            out[t].append(p[t])
        differences.append(sign)
    return out, differences


@pytest.fixture(scope="module")
def told_apart(studies):
    return system_tests(studies, ("published", "session"))


def test_equal_systems_are_told_apart_as_often_as_the_level_says(told_apart):
    p = told_apart[0]
    turns = [k for k in EQUAL if k[0] in ("behavior", "turn_likert")]
    assert len(turns) > 40
    assert near([np.nanmean([one[k] < 0.05 for k in EQUAL]) for one in p["session"]], 0.05)
    assert near([np.nanmean([one[k] < 0.05 for k in turns]) for one in p["session"]], 0.05)
    # the published tests take turns of a dialogue as independent
    assert np.mean([[one[k] < 0.05 for k in turns] for one in p["published"]]) > 0.12


def test_holm_bounds_the_chance_of_a_false_difference(told_apart):
    """Of a label, at most 5 % chance that any pair of equal systems is distinguished; over all labels, too."""
    labels = sorted({k[:2] for k in EQUAL})
    wrong, over_all = [], []
    for one in told_apart[0]["session"]:
        hits = []
        for label in labels:
            keys = [k for k in one if k[:2] == label]
            adjusted = dict(zip(keys, adjust_p_values(np.array([one[k] for k in keys])), strict=True))
            hits.append(any(adjusted[k] < 0.05 for k in keys if k in EQUAL))
        wrong.append(np.mean(hits))
        every = dict(zip(one, adjust_p_values(np.array(list(one.values()))), strict=True))
        over_all.append(any(every[k] < 0.05 for k in EQUAL))
    assert np.mean(wrong) <= 0.05 + 3 * np.std(wrong, ddof=1) / np.sqrt(N_STUDIES)
    # 40 studies: 5 % or fewer true, and three binomial standard errors
    assert np.mean(over_all) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / N_STUDIES)


def test_systems_that_differ_are_found_with_the_right_sign(told_apart):
    p, differences = told_apart
    large = [k for k, effect in EFFECT.items() if abs(effect) >= 0.25 and k[0] != "comparative"]
    assert len(large) > 20
    sure = [(one[k] < 0.05, np.sign(sign[k]) == np.sign(EFFECT[k]))
            for one, sign in zip(p["session"], differences, strict=True) for k in large]  # fmt: skip
    found, right = np.array(sure).T
    assert found.mean() > 0.6
    assert right[found].mean() > 0.99
