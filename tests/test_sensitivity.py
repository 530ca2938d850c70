import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sessions import annotate
from statsmodels.stats.multitest import multipletests
from test_contrasts import panel_of

from helpers import contrasts, sensitivity, values
from helpers.picks import pick_one
from helpers.schema import make_results, read_condition

METHODS = ("behavior", "dialogue_likert", "comparative")


@pytest.fixture(scope="module")
def picked():
    annotations, talked = annotate(np.random.default_rng(1), n_interactors=30, per_interactor=4, effect=0.5)
    return pick_one(annotations[annotations["group"] == "ext"], np.random.default_rng(0)), talked


@pytest.fixture(scope="module")
def panels(picked):
    found = values.dialogue_values(picked[0])
    return [contrasts.panel(found, m, interactor=picked[1]) for m in METHODS]


def keyed(frame):
    conditions = pd.DataFrame([read_condition(c) for c in frame["condition"]], index=frame.index)
    return pd.concat([frame, conditions], axis=1)


def test_published_tests_have_a_row_for_each_pair_and_label(panels):
    found = sensitivity.published_tests(panels[0])
    assert len(found) == 6 * 2
    row = found.iloc[0]
    p, difference = contrasts.draw_p_values(panels[0], "z")
    assert (row["p_value"], row["estimate"]) == (p[0, 0, 0], difference[0, 0, 0])
    assert row["n"] == 5 * row["n_clusters"]
    assert "takes turns of a dialogue as independent" in row["note"]
    welch = sensitivity.published_tests(panels[1], "welch")
    assert set(keyed(welch)["test"]) == {"welch"}
    assert welch["note"].isna().all()


@pytest.mark.parametrize("within", ["session", "interactor"])
def test_session_tests_agree_with_their_normal_approximation(within):
    rng = np.random.default_rng(12)
    system, session, person = met(rng, 30, 4)
    value = rng.normal(size=(30, 3))[person] + rng.normal(size=(240, 3)) + 0.4 * system[:, None]
    data = panel_of(system, value, session, person.astype(str), labels=("x", "y", "z"))
    found = sensitivity.session_tests(data, seed=1, within=within, n_permutations=4000)
    p = contrasts.draw_p_values(data, "session", within=within)[0][0]
    exact = found.pivot_table(index=["system", "system_b"], columns="label", values="p_value")[data.labels]
    # Monte Carlo error of 4,000 permutations is 0.024 at most (3 standard errors)
    assert np.abs(exact.to_numpy() - p).max() < 0.03
    assert exact.to_numpy().min() < 0.01


def test_a_session_test_of_comparisons_is_the_sign_test_when_enumerated(picked):
    rows = picked[0][picked[0]["method"] == "comparative"].groupby(["system", "system_b"]).head(6)
    data = contrasts.panel(values.dialogue_values(rows), "comparative")
    found = sensitivity.session_tests(data, seed=1, n_permutations=100)
    for i, (a, b) in enumerate(data.pairs):
        scores = data.total[data.rows_of(a, b), 0]
        row = found.iloc[i]
        assert row["estimate"] == pytest.approx(scores.mean())
        # 2^12 patterns at most are gone through
        assert row["p_value"] == pytest.approx(
            stats.binomtest(int((scores > 0).sum()), int((scores != 0).sum())).pvalue
        )


def test_pairs_that_never_met_have_a_reason():
    data = panel_of([0, 0, 1, 1], [1, 2, 3, 4], interactor=["u", "u", "v", "v"])
    found = sensitivity.session_tests(data, seed=0, within="interactor")
    assert found["p_value"].isna().all()
    assert "there is nothing to exchange" in found["note"].item()


def test_missing_labels_leave_the_others_alone():
    rng = np.random.default_rng(3)
    value = rng.normal(size=(60, 2))
    whole = panel_of(np.tile([0, 1], 30), value, np.repeat(np.arange(30), 2), labels=("x", "y"))
    value[:7, 1] = np.nan
    part = panel_of(np.tile([0, 1], 30), value, np.repeat(np.arange(30), 2), labels=("x", "y"))
    a, b = (sensitivity.session_tests(d, seed=5, n_permutations=500).set_index("label") for d in (whole, part))
    assert a.loc["x", "p_value"] == b.loc["x", "p_value"]
    assert (a.loc["y", "n"], b.loc["y", "n"]) == (60, 53)


def test_draws_hold_n_of_each_system_and_the_same_dialogues_for_all_methods(panels):
    keys = sensitivity.draw_keys(panels, 5, np.random.default_rng(0))
    marks, ratings, pairs = (sensitivity.downsample(d, 8, k) for d, k in zip(panels, keys, strict=True))
    for s in range(4):
        assert (marks[:, panels[0].system == s].sum(axis=1) == 8).all()
    assert np.array_equal(marks, ratings)
    for a, b in panels[2].pairs:
        here = panels[2].rows_of(a, b)
        assert (pairs[:, here].sum(axis=1) == min(8, here.sum())).all()
    assert len(np.unique(marks, axis=0)) == 5
    assert sensitivity.downsample(panels[0], 10_000, keys[0]).all()


def test_draws_of_sessions_hold_both_dialogues(panels):
    data = panels[0]
    (keys,) = sensitivity.draw_keys([data], 3, np.random.default_rng(0), "session")
    found = sensitivity.downsample(data, 6, keys, "session")
    for i, (a, b) in enumerate(data.pairs):
        for draw in found[i]:
            kept = np.flatnonzero(draw)
            assert set(data.system[kept]) == {a, b}
            assert pd.Series(data.session[kept]).value_counts().tolist() == [2] * 6


def test_draws_of_turns(picked):
    data = contrasts.panel(values.dialogue_values(picked[0], by_turn=True), "behavior")
    (keys,) = sensitivity.draw_keys([data], 3, np.random.default_rng(0), "turn")
    found = sensitivity.downsample(data, 40, keys, "turn")
    assert (found[:, data.system == 2].sum(axis=1) == 40).all()
    with pytest.raises(ValueError, match="'dialogue' does not go with a panel whose rows are turns"):
        sensitivity.downsample(data, 40, keys, "dialogue")


def test_counts_equal_a_loop(panels):
    n, draws, seed = 12, 7, 4
    found, first = sensitivity.count_significant(panels, n=n, n_draws=draws, seed=seed, roles=("published", "session"))
    found = keyed(found)
    keys = sensitivity.draw_keys(panels, draws, contrasts_rng(seed))
    p = {}
    for data, key in zip(panels, keys, strict=True):
        weights = sensitivity.downsample(data, n, key)
        p[data.method] = np.array([
            contrasts.draw_p_values(data.take(np.flatnonzero(w)), data.published_test)[0][0] for w in weights
        ])  # fmt: skip
    flat = np.concatenate([p[m].reshape(draws, -1) for m in METHODS], axis=1)
    adjusted = np.array([multipletests(row, method="fdr_bh")[1] for row in flat])
    for method, label, j, test in (("behavior", "ignore", 0, "z"), ("dialogue_likert", "quality", 0, "student")):
        assert panels[METHODS.index(method)].labels[j] == label
        at = found[(found["method"] == method) & (found["label"] == label) & (found["test"] == test)]
        at = at[at["alpha"] == "0.05"].set_index(["family", "adjust", "summary"])["estimate"]
        plain = (p[method][:, :, j] < 0.05).sum(axis=1)
        holm = [sum(multipletests(row, method="holm")[1] < 0.05) for row in p[method][:, :, j]]
        assert at["none", "none", "first"] == plain[0]
        assert at["none", "none", "mean"] == plain.mean()
        assert (at["none", "none", "smallest"], at["none", "none", "largest"]) == (plain.min(), plain.max())
        assert at["label", "holm", "mean"] == np.mean(holm)
        start = sum(p[m][0].size for m in METHODS[: METHODS.index(method)])
        part = adjusted[:, start : start + p[method][0].size].reshape(p[method].shape)
        assert at["all", "bh", "mean"] == (part[:, :, j] < 0.05).sum(axis=1).mean()
    shown = keyed(first)
    z = shown[(shown["test"] == "z") & (shown["label"] == "ignore")]["p_value"].tolist()
    assert z == pytest.approx(p["behavior"][0, :, 0])


def contrasts_rng(seed):
    from helpers.resampling import generator

    return generator(seed, "downsample")


@pytest.mark.parametrize("test", ["published", "session"])
def test_counts_of_tests_equal_a_loop(panels, test):
    if test == "published":
        tests = pd.concat(sensitivity.published_tests(d) for d in panels)
    else:
        tests = pd.concat(sensitivity.session_tests(d, seed=1, n_permutations=400) for d in panels)
    tests = tests.sample(frac=1, random_state=0)  # the order of rows does not matter
    found = keyed(sensitivity.count_tests(panels, tests))
    assert found["n_dialogues"].isna().all() if "n_dialogues" in found else True
    every = multipletests(tests["p_value"], method="holm")[1]
    tests = tests.assign(over_all=every)
    for (method, label), part in tests.groupby(["method", "label"]):
        at = found[(found["method"] == method) & (found["label"] == label) & (found["alpha"] == "0.05")]
        at = at.set_index(["family", "adjust"])["estimate"]
        assert at["none", "none"] == (part["p_value"] < 0.05).sum()
        assert at["label", "holm"] == (multipletests(part["p_value"], method="holm")[1] < 0.05).sum()
        assert at["all", "holm"] == (part["over_all"] < 0.05).sum()


def test_counts_want_one_test_a_method(panels):
    both = pd.concat([sensitivity.published_tests(panels[1]), sensitivity.published_tests(panels[1], "welch")])
    with pytest.raises(ValueError, match="expected one test of method 'dialogue_likert'"):
        sensitivity.count_tests(panels[1:2], both)


def test_all_dialogues_need_no_draw(panels):
    found, first = sensitivity.count_significant(panels, n=None, n_draws=50, seed=1, roles=("published",))
    assert set(keyed(found)["summary"]) == {"first"}
    assert set(keyed(first)["sample"]) == {"all"}


def test_what_is_not_known_is_refused(panels):
    with pytest.raises(ValueError, match="expected some of published, welch, session"):
        sensitivity.count_significant(panels, n=5, n_draws=2, seed=0, roles=("anova",))
    with pytest.raises(ValueError, match="expected one of dialogue, session, turn"):
        sensitivity.downsample(panels[0], 5, np.zeros((1, 240)), "pair")


def test_result_rows_are_valid(panels):
    counts, first = sensitivity.count_significant(
        panels, n=8, n_draws=5, seed=1, roles=("published", "welch", "session")[::2]
    )
    frames = [counts, first, *(sensitivity.session_tests(d, seed=1, n_permutations=200) for d in panels)]
    frames += [sensitivity.published_tests(d) for d in panels]
    out = make_results(pd.concat(frames), study="test", notebook="05_sensitivity")
    assert set(out["statistic"]) == {"n_significant", "system_difference"}


def met(rng, n_people, sessions_each, confounded=False):
    """System, session and person of each dialogue; confounded: half of the people mostly meet system 0."""
    person = np.repeat(np.arange(n_people), sessions_each)
    pairs = np.array([rng.choice(4, 2, replace=False) for _ in person])
    if confounded:
        often = (person < n_people // 2) & (rng.random(len(person)) < 0.8) & (pairs != 0).all(axis=1)
        pairs[often, 0] = 0
    return pairs.ravel(), np.repeat(np.arange(len(person)), 2), np.repeat(person, 2)


def null_share(within, confounded):
    """Share of tests with p < .05 when systems do not differ: 40 designs of 20 people, 60 independent labels each."""
    rng, hits, tests = np.random.default_rng(8), 0, 0
    for _ in range(40):
        system, session, person = met(rng, 20, 4, confounded)
        people = 1.5 * rng.normal(size=(20, 60)) + (1.5 * (np.arange(20) < 10)[:, None] if confounded else 0)
        value = people[person] + rng.normal(size=(80, 60))[session] + rng.normal(size=(160, 60))
        data = panel_of(system, value, session, person.astype(str), labels=[str(i) for i in range(60)])
        p = contrasts.draw_p_values(data, "session", within=within)[0]
        hits, tests = hits + np.sum(p < 0.05), tests + p.size
    return hits / tests


@pytest.mark.parametrize("within", ["session", "interactor"])
def test_the_null_is_rejected_as_often_as_it_should_be(within):
    """Strong effects of people and sessions, systems met at random: both ways of exchange keep the level."""
    # 14,400 tests, six of a label dependent: three standard errors are at most 1.3 points
    assert null_share(within, False) == pytest.approx(0.05, abs=0.013)


def test_exchange_within_people_holds_when_some_met_a_system_more_often():
    assert null_share("interactor", True) == pytest.approx(0.05, abs=0.013)
    assert null_share("session", True) > 0.07
