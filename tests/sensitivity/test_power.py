import numpy as np
import pytest
from fixtures.panels import panel_of
from fixtures.reference import TWO_SAMPLES
from fixtures.session_study import annotate
from statsmodels.stats.power import TTestIndPower

from helpers.annotations import dialogue_values as values
from helpers.annotations.picks import pick_one
from helpers.sensitivity import contrasts, power
from helpers.sources import build
from helpers.study import params
from helpers.study.results import collect, fold


def turns(rng, n_dialogues, n_turns, spread, n_systems=2, labels=1):
    """Marks on turns; `spread` is the standard deviation of a dialogue's log-odds."""
    logit = -1.5 + spread * rng.normal(size=(n_systems * n_dialogues, labels))
    total = rng.binomial(n_turns, 1 / (1 + np.exp(-logit))).astype(float)
    data = panel_of(np.repeat(np.arange(n_systems), n_dialogues), total, labels=[f"x{i}" for i in range(labels)])
    full = np.full(total.shape, float(n_turns))
    return contrasts.Panel(**{**data.__dict__, "method": "behavior", "n": full, "squares": total, "unit": "turn"})


def test_power_equals_the_paper_and_r():
    # Finch et al. 2023, section 10: 100 per group and d = 0.40 have a power of 0.80
    assert TTestIndPower().power(0.40, 100, 0.05) == pytest.approx(TWO_SAMPLES["t_power"], abs=1e-9)
    assert round(power.detectable_d(100), 2) == 0.40
    assert power.detectable_d(32) == pytest.approx(TWO_SAMPLES["detectable"], abs=1e-5)


def test_detectable_difference_is_in_the_units_of_the_label():
    rng = np.random.default_rng(0)
    system = np.repeat([0, 1], 2000)
    data = panel_of(system, 3 * rng.normal(size=4000) + 10 * system)
    found = power.detectable(data, 32).set_index("scale")["estimate"]
    assert found["d"] == pytest.approx(power.detectable_d(32))
    # the spread is that within systems: 3, up to 3 standard errors
    assert found["label"] == pytest.approx(3 * found["d"], rel=3 / np.sqrt(8000))
    pairs = contrasts.Panel(**{**data.__dict__, "unit": "pair"})
    with pytest.raises(ValueError, match="no value per dialogue"):
        power.detectable(pairs, 32)


def test_resampled_power_equals_the_formula_on_normal_data():
    rng = np.random.default_rng(1)
    x = rng.normal(size=4000)
    x = (x - x.mean()) / x.std()
    x[:2000] -= x[:2000].mean()
    x[2000:] += 0.5 - x[2000:].mean()
    data = panel_of(np.repeat([0, 1], 2000), x)
    found = power.power_by_size(data, ["student", "welch", "session"], [20, 50], n_draws=2000, seed=1)
    for row in found.itertuples():
        expected = TTestIndPower().power(0.5, row.n_dialogues, 0.05)
        # 3 Monte Carlo standard errors, and a normal for a t distribution in the session test
        assert row.estimate == pytest.approx(expected, abs=0.034 + (0.02 if row.test == "session" else 0))
        assert row.ci_low < row.estimate < row.ci_high


def test_sessions_are_drawn_whole():
    rng = np.random.default_rng(2)
    system = np.r_[np.tile([0, 1], 10), np.zeros(10, int), np.ones(10, int)]
    session = np.r_[np.repeat(np.arange(10), 2), np.arange(100, 120)]
    data = panel_of(system, rng.normal(size=40), session)
    (weights,) = power.resample(data, 30, 5, rng)
    assert (weights[:, system == 0].sum(axis=1) == 30).all()
    assert (weights[:, system == 1].sum(axis=1) == 30).all()
    assert np.array_equal(weights[:, 0:20:2], weights[:, 1:20:2])
    assert (weights[:, :20].sum(axis=1) == 30).all()  # half of each system's dialogues are in such sessions


def test_z_tests_keep_their_level_on_independent_turns_and_not_on_dependent_ones():
    rng = np.random.default_rng(3)
    even = power.null_rejection(turns(rng, 300, 15, 0.0), ["z"], n=32, n_runs=1500, seed=1)
    clustered = power.null_rejection(turns(rng, 300, 15, 1.0), ["z", "dialogue_welch"], n=32, n_runs=1500, seed=1)
    # 3 binomial standard errors of 1,500 runs are 1.7 points
    assert even.query("alpha == 0.05")["estimate"].item() == pytest.approx(0.05, abs=0.017)
    at = clustered.query("alpha == 0.05").set_index("test")["estimate"]
    assert at["z"] > 0.12
    assert at["dialogue_welch"] == pytest.approx(0.05, abs=0.017)


def test_the_permutation_test_keeps_its_level():
    data = turns(np.random.default_rng(4), 150, 15, 1.0, labels=4)
    found = power.null_rejection(data, ["session"], n=32, n_runs=400, seed=1, n_permutations=199)
    # four independent labels of 400 runs: 3 standard errors are 1.6 points
    assert found.query("alpha == 0.05")["estimate"].mean() == pytest.approx(0.05, abs=0.016)


def test_the_sign_test_rejects_too_seldom():
    annotations, _ = annotate(np.random.default_rng(5), n_interactors=40, per_interactor=5)
    picked = pick_one(annotations[annotations["group"] == "ext"], np.random.default_rng(0))
    data = contrasts.panel(values.dialogue_values(picked), "comparative")
    found = power.null_rejection(data, ["sign", "session"], n=32, n_runs=600, seed=1, n_permutations=199)
    at = found.query("alpha == 0.05").set_index("test")["estimate"]
    assert at["sign"] < 0.05
    assert at["session"] < 0.07
    assert set(found["within"].dropna()) == {"session"}


@pytest.mark.data
def test_turn_tests_reject_true_nulls_on_real_marks(raw_data):
    """Marks of two people on 108 real dialogues: z tests on turns find differences within one system, dialogues do
    not."""
    annotations = build.build(params.load("gpt_abceval")).frames["annotations"]
    human = annotations[annotations["annotator_kind"] == "human"]
    data = contrasts.panel(values.dialogue_values(pick_one(human, np.random.default_rng(0))), "behavior")
    tests = ["z", "dialogue_welch", "session"]
    found = power.null_rejection(data, tests, n=13, n_runs=400, seed=1, n_permutations=199)
    size = found.query("alpha == 0.05").groupby("test")["estimate"].mean()
    assert size["z"] > 0.12
    assert size["dialogue_welch"] < 0.06
    assert size["session"] < 0.06


def test_few_dialogues_are_halved_and_labels_that_are_missing_are_counted():
    rng = np.random.default_rng(6)
    value = rng.normal(size=(20, 2))
    value[3, 1] = np.nan
    data = panel_of(np.repeat([0, 1], 10), value, labels=("x", "y"))
    found = power.null_rejection(data, ["session"], n=32, n_runs=10, seed=1, n_permutations=99).set_index("label")
    assert (found.loc["x", "n_undefined"] == 0).all()
    assert (found.loc["y", "n_undefined"] == 5).all()  # the system with the gap has every second run


def test_result_rows_are_valid():
    data = turns(np.random.default_rng(7), 20, 10, 0.5)
    frames = [
        power.null_rejection(data, ["z", "session"], n=8, n_runs=10, seed=1, n_permutations=49),
        power.power_by_size(data, ["z", "session"], [8, 16], n_draws=20, seed=1),
        power.detectable(data, 32),
    ]
    out = fold(collect(*frames), study="test", notebook="80_operating_characteristics")
    assert set(out["statistic"]) == {"null_rejection", "power", "detectable_effect"}
