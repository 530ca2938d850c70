"""Parts of the simulated study: its probabilities against libraries and hand, its truth against large samples and
print, its people, and the coverage of intervals for its agreement."""

from collections import Counter
from pathlib import Path

import krippendorff
import numpy as np
import pandas as pd
import pytest
from fixtures.judged_twice import annotate
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, multivariate_normal

from compendium.simulation import design, gaussian, model, people
from compendium.simulation.people import draw_chats, judge
from compendium.simulation.truth import truth
from judgebook.questions.agreement.alpha import alpha_intervals
from judgebook.questions.agreement.coincidences import patterns
from judgebook.study.sections.data import Simulate

ROOT = Path(__file__).resolve().parents[3]
SPEC = Simulate()
TRUTH = truth(SPEC)


def published(name: str) -> pd.DataFrame:
    return pd.read_csv(ROOT / "data" / "published" / f"finch2023_{name}.csv", dtype=str)


def generator(*seed: int) -> np.random.Generator:
    return np.random.default_rng(list(seed))


@pytest.mark.parametrize("r", [-0.9, -0.3, 0.0, 0.5, 0.8, 0.95])
def test_bivariate_cdf_equals_scipys(r):
    h, k = np.meshgrid([-3.0, -1.2, 0.0, 0.7, 2.5], [-2.0, -0.4, 0.0, 1.5])
    expected = multivariate_normal([0, 0], [[1, r], [r, 1]]).cdf(np.dstack([h, k]))
    assert gaussian.bivariate_cdf(h, k, r) == pytest.approx(expected, abs=2e-5)


def test_alpha_of_two_halves_is_solved_by_hand():
    # both positive with probability 1/4 + arcsin(1/2) / 2 pi = 1/3, so D_o = 1/3, D_e = 1/2
    table = gaussian.joint(np.array([0.0]), np.array([0.0]), 0.5)
    assert table == pytest.approx(np.array([[1 / 3, 1 / 6], [1 / 6, 1 / 3]]), abs=1e-12)
    assert gaussian.ordinal_alpha(table) == pytest.approx(1 / 3, abs=1e-12)
    cuts = np.array([-1.5, 0.2, 2.4])
    assert gaussian.joint(cuts, cuts, -0.7).sum(axis=0) == pytest.approx(gaussian.marginal(cuts), abs=1e-9)


def test_ordinal_alpha_of_a_table_is_that_of_so_many_units():
    rng = generator(1)
    counts = rng.integers(5_000, 20_000, (5, 5))
    pair = np.array([(a, b) for a in range(5) for b in range(5)]).repeat(counts.ravel(), axis=0)
    expected = krippendorff.alpha(reliability_data=pair.T, level_of_measurement="ordinal")
    assert gaussian.ordinal_alpha(counts / counts.sum()) == pytest.approx(expected, abs=1e-5)


LABELS = [
    ("behavior", "empathetic"),
    ("behavior", "incorrect_fact"),
    ("turn_likert", "quality"),
    ("dialogue_likert", "consistent"),
    ("comparative", "grammatical"),
]


@pytest.mark.parametrize(("method", "label"), LABELS)
def test_population_alpha_and_means_are_those_of_a_large_sample(method, label):
    measure = model.measures(SPEC, "sur_x")[method, label]
    sample = annotate(measure, 4000, SPEC, generator(2))
    both = [sample.scores, -sample.scores] if measure.comparative else [sample.scores]
    alpha = krippendorff.alpha(reliability_data=np.concatenate(both).T, level_of_measurement="ordinal")
    assert alpha == pytest.approx(model.alpha(measure), abs=0.03)
    if not measure.comparative:
        mean, variance = model.moments(measure)
        for i in range(len(design.SYSTEMS)):
            here = sample.scores[sample.system == i]
            assert here.mean() == pytest.approx(mean[i], abs=0.05 * np.sqrt(variance[i]))
            assert here.var() == pytest.approx(variance[i], rel=0.1)


@pytest.mark.parametrize("group", design.GROUPS)
def test_calibrated_agreement_is_what_was_aimed_at(group):
    aims = {("behavior", k): b.alpha for k, b in design.BEHAVIORS.items()}
    aims |= {("turn_likert", k): d.turn_alpha for k, d in design.DIMENSIONS.items()}
    aims |= {("dialogue_likert", k): d.dialogue_alpha for k, d in design.DIMENSIONS.items()}
    aims |= {("comparative", k): d.comparative_alpha for k, d in design.DIMENSIONS.items()}
    odds = design.GROUPS[group].odds
    for key, measure in model.measures(SPEC, group).items():
        # a group with more signal agrees more; sur_x and stu_x as aimed at
        alpha = model.alpha(measure)
        assert alpha == pytest.approx(aims[key], abs=1e-4) if odds == 1 else alpha > aims[key]


@pytest.mark.parametrize(
    ("method", "label"), [("behavior", "empathetic"), ("turn_likert", "engaging"), ("dialogue_likert", "quality")]
)
def test_correlation_with_quality_is_that_of_a_large_sample(method, label):
    rng = generator(3)
    chats = draw_chats(SPEC, people.sessions(4000, 4000, rng), rng)
    measure = model.measures(SPEC, "sur_x")[method, label]
    target = model.measures(SPEC, "stu_i")["dialogue_likert", "quality"]
    items = np.arange(8000)
    scores = judge(chats, [measure], items, items, rng)[:, 0]
    if measure.between < 1:
        scores = np.add.reduceat(scores.astype(float), chats.start[:-1]) / chats.n_turns
    quality = judge(chats, [target], items, items, rng)[:, 0]
    expected = next(r["r"] for r in TRUTH["quality"] if (r["method"], r["label"]) == (method, label))
    assert np.corrcoef(scores, quality)[0, 1] == pytest.approx(expected, abs=0.035)


def test_effect_sizes_are_cohens_d_of_the_population():
    mean, variance = model.moments(model.measures(SPEC, "dev_x")["dialogue_likert", "grammatical"])
    keys = {"group": "dev_x", "method": "dialogue_likert", "label": "grammatical"}
    rows = [r for r in TRUTH["effects"] if keys.items() <= r.items()]
    for row in rows:
        i, j = (design.SYSTEMS.index(row[k]) for k in ("system", "system_b"))
        assert row["effect"] == pytest.approx((mean[i] - mean[j]) / np.sqrt((variance[i] + variance[j]) / 2))
    assert len(rows) == 6


def test_win_shares_are_those_of_a_large_sample():
    measure = model.measures(SPEC, "sur_x")["comparative", "proactive"]
    sample = annotate(measure, 12_000, SPEC, generator(5))
    # the right-hand system of each session is not in the sample: the left one's wins and losses are enough
    rows = [r for r in TRUTH["means"] if (r["group"], r["method"], r["label"]) == ("sur_x", "comparative", "proactive")]
    for i, row in enumerate(rows):
        scores = sample.scores[sample.system == i, 0]
        assert (scores == 1).sum() / (scores != 0).sum() == pytest.approx(row["win_share"], abs=0.03)
        assert (scores == 0).mean() == pytest.approx(row["ties"], abs=0.015)


def test_truth_names_its_nulls():
    related = {(r["method"], r["label"]): r for r in TRUTH["quality"]}
    none = {label for (method, label), r in related.items() if method == "behavior" and not r["related"]}
    assert none == {"antisocial", "preference_info", "life_info", "correct_fact", "incorrect_fact", "topic_switch"}
    for row in related.values():
        # what does not matter has correlation 0, and only that
        assert row["r"] is None or (row["r"] == 0) == (not row["related"])
    equal = Counter((r["group"], r["method"], r["label"]) for r in TRUTH["effects"] if abs(r["effect"]) < 1e-12)
    assert equal["sur_x", "behavior", "life_info"] == 6


def test_factors_switch_effects_off():
    off = truth(Simulate(system_differences=0, quality_relations=0))
    assert all(abs(r["effect"]) < 1e-12 for r in off["effects"])
    assert not any(r["related"] for r in off["quality"] if r["label"] != "quality")
    assert all(r["r"] == 0 for r in off["quality"] if r["label"] != "quality" and r["r"] is not None)


@given(st.integers(6, 100), st.integers(0, 1000))
def test_sessions_are_balanced(half, seed):
    n = 2 * half
    found = people.sessions(n, max(n // 4, 2), generator(seed))
    assert (found.systems[:, 0] != found.systems[:, 1]).all()
    assert (np.bincount(found.systems.ravel(), minlength=4) == n // 2).all()
    assert 1 <= np.bincount(found.interactor).min() <= np.bincount(found.interactor).max() <= 9
    most = found.balanced(0.9, np.arange(n), generator(seed, 1))
    some = found.balanced(0.25, most, generator(seed, 2))
    assert set(some) <= set(most)
    for part in (most, some):
        assert len(np.unique(np.bincount(found.systems[part].ravel(), minlength=4))) == 1


@given(st.integers(10, 60), st.integers(3, 8), st.integers(0, 1000))
def test_second_annotators_differ_from_the_first(n, n_people, seed):
    rng = generator(seed)
    items, most = np.arange(n), n // 2 + 3
    twice = np.sort(rng.choice(items, n // 4, replace=False))
    work = people.assign(items, twice, n_people, most, rng)
    assert sorted(work.item.tolist()) == sorted([*items.tolist(), *twice.tolist()])
    assert np.bincount(work.annotator).max() <= most
    by_item = pd.DataFrame({"item": work.item, "who": work.annotator})
    assert not by_item.duplicated().any()


def test_work_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="100 pieces of work cannot be shared by 3 people who take 0 to 10 each"):
        people.quotas(100, 3, 10, generator(1))


@pytest.mark.evidence
@pytest.mark.parametrize("pool", [True, False], ids=["people recur", "new people"])
@pytest.mark.parametrize(
    ("method", "label"), [("behavior", "ignore"), ("turn_likert", "quality"), ("comparative", "quality")]
)
def test_dialogue_intervals_cover_at_the_nominal_rate(method, label, pool):
    """Two thousand runs with other seeds gave .931 to .957, lowest where few annotators recur (turn Likert, pool)."""
    measure = model.measures(SPEC, "sur_x")[method, label]
    true, hits, estimates = model.alpha(measure), 0, []
    sizes = {"n_interactors": 36, "n_annotators": 32} if pool else {}
    options = {"unit": "pair" if measure.comparative else "dialogue", "mirrored": measure.comparative}
    for run in range(1000):
        rng = generator(21, run)
        sample = annotate(measure, 50, SPEC, rng, **sizes)
        options |= {"rng": rng, "clusters": sample.dialogue, "n_resamples": 1000, "only": ["alpha"]}
        found = alpha_intervals(patterns(sample.scores.astype(float)), "ordinal", **options)["alpha"]
        assert found.kind == "bca"
        estimates.append(found.estimate)
        hits += found.low <= true <= found.high
    assert binomtest(hits, 1000, 0.95).pvalue > 0.001
    # 4 Monte-Carlo errors, or .01: of few annotators and dialogues alpha is off by a fraction of its standard deviation
    assert abs(np.mean(estimates) - true) < max(4 * np.std(estimates) / 1000**0.5, 0.01)
