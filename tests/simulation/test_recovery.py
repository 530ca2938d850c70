"""Do the primary analyses of notebooks 04 to 06 find what is true in the simulated study, as often as they promise?

Studies of the size of `demo` are drawn anew from its model: 46 people, 200 sessions, 32 annotators, one annotation an
item. The limits are three standard errors over studies, because labels of one study are not independent.
"""

import numpy as np
import pandas as pd
import pytest

from judgebook.annotations import dialogue_values as values
from judgebook.questions.validity import importance as validity
from judgebook.simulation import design, people
from judgebook.simulation import study as simulate
from judgebook.simulation.draw import draw_chats, judge
from judgebook.simulation.evaluations import by_task
from judgebook.simulation.model import measures
from judgebook.statistics import Sampling
from judgebook.study.sections.data import Simulate

SPEC = Simulate()
TRUTH = simulate.population(SPEC)
R = {(q["method"], q["label"]): q["r"] for q in TRUTH["quality"] if q["r"] is not None}
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
