"""Does the primary analysis of notebook 06 find what is true in the simulated study, as often as it promises?

Studies of the size of `demo` are drawn anew from its model: 46 people, 200 sessions, 32 annotators, one annotation an
item. The limits are three standard errors over studies, because labels of one study are not independent.
"""

import numpy as np
import pandas as pd
import pytest

from compendium.simulation import design, people
from compendium.simulation.evaluations import by_task
from compendium.simulation.model import measures
from compendium.simulation.people import draw_chats, judge
from compendium.simulation.truth import truth
from judgebook.annotations import dialogue_values as values
from judgebook.questions.validity import analysis as validity
from judgebook.study.sections.data import Simulate

SPEC = Simulate()
TRUTH = truth(SPEC)
R = {(q["method"], q["label"]): q["r"] for q in TRUTH["quality"] if q["r"] is not None}
N_STUDIES = 40
pytestmark = pytest.mark.evidence


def rows(made, items, who, scores, measured):
    """Values of dialogues as `values.dialogue_values` gives them, from scores (units, labels) of one task."""
    base = {"corpus": "main", "group": "g", "system": np.asarray(design.SYSTEMS)[made.system][items]}
    base |= {"session": (items // 2).astype(str), "dialogue": items.astype(str), "annotator": who.astype(str)}
    base |= {"system_b": None, "dialogue_b": None}
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
    rng = np.random.default_rng([7, seed])
    met = people.sessions(SPEC.n_sessions, SPEC.n_interactors, rng)
    made, parts = draw_chats(SPEC, met, rng), []
    items, who = np.arange(len(made.system)), np.repeat(met.interactor, 2)
    for method in ("behavior", "turn_likert", "dialogue_likert"):
        for measured in by_task(measures(SPEC, "sur_x"), method).values():
            work = people.assign(items, items[:0], SPEC.n_surge, 60, rng)
            scores = judge(made, measured, work.item, work.annotator, rng)
            turns = method != "dialogue_likert"
            parts.append(rows(made, work.item, work.annotator, summed(made, work.item, scores, turns), measured))
    quality = [measures(SPEC, "stu_i")["dialogue_likert", "quality"]]
    scores = summed(made, items, judge(made, quality, items, who, rng), turns=False)
    own = rows(made, items, who, scores, quality).assign(group="own")
    return pd.concat(parts, ignore_index=True), own, pd.Series(who.astype(str), index=items.astype(str))


def near(shares, promised):
    """Whether the mean over studies is the promised share, within three standard errors over studies."""
    shares = np.asarray(shares, dtype=float)
    return abs(shares.mean() - promised) <= 3 * shares.std(ddof=1) / np.sqrt(len(shares))


@pytest.fixture(scope="module")
def correlations():
    out = []
    for seed in range(N_STUDIES):
        r = pd.DataFrame(validity.importance(values.dialogue_design(*study(seed))))
        r = r[r["ci_kind"] == "jackknife_t"]  # a label that hardly varies has no interval, and says so
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
