"""Differences with intervals over sessions and annotators, against statsmodels, scipy and simulations."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

from judgebook.questions.fragility import differences


def ratings(values, *, people=("p",), shared=True, each=1, rng=None):
    """A rating of each dialogue by `each` of the people. values : system -> (sessions,) means of dialogues."""
    rng, rows = rng or np.random.default_rng(0), []
    for system, means in values.items():
        for i, mean in enumerate(means):
            session = f"s{i}" if shared else f"{system}{i}"
            chosen = rng.choice(people, each, replace=False)
            rows += [(system, f"{system}-{i}", session, person, mean) for person in chosen]
    same = {"corpus": "c", "group": "all", "method": "dialogue_likert", "label": "x", "turn": None}
    same |= {"dialogue_b": None, "system_b": None, "annotator_known": True, "annotator_kind": "human"}
    return pd.DataFrame(rows, columns=["system", "dialogue", "session", "annotator", "score"]).assign(**same)


def found_in(rows, systems=("a", "b"), **options):
    return differences.differences(rows, rows["method"].iloc[0], list(systems), **options).iloc[0]


def test_systems_in_the_same_sessions_give_the_paired_t_test():
    x, y = np.random.default_rng(1).normal(size=(2, 25))
    found = found_in(ratings({"a": x, "b": x + y}), people=False)
    expected = stats.ttest_rel(x, x + y)
    assert found["p_value"] == pytest.approx(expected.pvalue)
    assert [found["ci_low"], found["ci_high"]] == pytest.approx(list(expected.confidence_interval()))
    assert found["resample_unit"] == "session"


def test_systems_in_sessions_of_their_own_give_welchs_t_test():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=25), rng.normal(0.5, 3, 12)
    found = found_in(ratings({"a": x, "b": y}, shared=False), people=False)
    expected = stats.ttest_ind(x, y, equal_var=False)
    assert (found["p_value"], found["df"]) == (pytest.approx(expected.pvalue), pytest.approx(expected.df))


def test_of_comparisons_the_mean_sign_is_tested():
    """Half of them shown the other way round."""
    rng = np.random.default_rng(3)
    score = rng.choice([-1.0, 0, 1], 30, p=[0.2, 0.2, 0.6])
    turned = rng.random(30) < 0.5
    one, two = ([f"{s}-{i}" for i in range(30)] for s in "ab")
    rows = ratings({"a": score}).assign(method="comparative", score=np.where(turned, -score, score))
    rows["dialogue"], rows["dialogue_b"] = np.where(turned, two, one), np.where(turned, one, two)
    rows["system"], rows["system_b"] = np.where(turned, "b", "a"), np.where(turned, "a", "b")
    found, expected = found_in(rows, people=False), stats.ttest_1samp(score, 0)
    assert (found["estimate"], found["p_value"]) == (pytest.approx(score.mean()), pytest.approx(expected.pvalue))
    assert found["n"] == 30


@pytest.mark.parametrize("paired", [False, True])
def test_what_has_no_session_is_one_whatever_sessions_are_called(paired):
    """Also where they are called as dialogues are, or by the numbers of comparisons."""
    rng = np.random.default_rng(5)
    rows = ratings({"a": rng.normal(size=24), "b": rng.normal(size=24)})
    if paired:
        other = rows["dialogue"].str.replace("a-", "b-")
        rows = rows.assign(method="comparative", dialogue_b=other, system_b="b")[rows["system"] == "a"]
    place = np.arange(len(rows)) % 24
    known = rows.assign(session=np.where(place >= 12, rows["session"], None))
    names = {f"s{i}": str(23 - i) if paired else f"a-{23 - i}" for i in range(12, 24)}
    found, renamed = (found_in(r, people=False) for r in (known, known.assign(session=known["session"].map(names))))
    assert found["n_clusters"] == renamed["n_clusters"] == 24
    assert found["se"] == pytest.approx(renamed["se"])


def test_a_dialogue_counts_once_however_often_it_was_judged():
    x, y = np.random.default_rng(4).normal(size=(2, 20))
    rows = ratings({"a": x, "b": y})
    more = pd.concat([rows, rows[rows["dialogue"].isin(["a-0", "b-3"])].assign(annotator="q")])
    again, once = (found_in(r, people=False) for r in (more, rows))
    assert (again["estimate"], again["se"]) == (pytest.approx(once["estimate"]), pytest.approx(once["se"]))


def test_annotators_are_a_sample_only_where_they_are_known():
    rng = np.random.default_rng(5)
    rows = ratings({"a": rng.normal(size=20), "b": rng.normal(size=20)}, people=("p", "q", "r"), each=2)
    assert found_in(rows)["resample_unit"] == "session and annotator"
    assert found_in(rows.assign(annotator_known=False))["resample_unit"] == "session"
    assert 1.5 < found_in(rows)["df"] <= 2  # three people, not equally busy


def test_without_spread_there_is_no_interval():
    found = found_in(ratings({"a": np.ones(5), "b": np.zeros(5)}), people=False)
    assert (found["ci_kind"], found["estimate"]) == ("not_estimable", 1)
    assert np.isnan(found["p_value"])


def test_two_ways_equal_statsmodels_up_to_the_correction():
    """Where annotators add to the variance, which is then not cut."""
    from statsmodels.stats.sandwich_covariance import cov_cluster_2groups

    rng = np.random.default_rng(7)
    people = [f"p{i}" for i in range(8)]
    rows = ratings({"a": rng.normal(size=60), "b": rng.normal(size=60)}, people=people, each=8, rng=rng)
    taste = rng.normal(0, 2, (8, 2))
    rows["score"] += taste[rows["annotator"].str[1:].astype(int), (rows["system"] == "b").astype(int)]
    design = sm.add_constant((rows["system"] == "a").astype(float).to_numpy())
    fit = sm.OLS(rows["score"].to_numpy(), design).fit()
    groups = [pd.factorize(rows[c])[0] for c in ("annotator", "session")]
    both = cov_cluster_2groups(fit, *groups, use_correction=False)[0][1, 1]
    assert found_in(rows)["se"] ** 2 == pytest.approx(both * 8 / 7, rel=0.03)


def test_one_person_with_most_of_the_scores_leaves_no_interval():
    """A difference of shares of 0.51 was given with [-6.64, 7.66]."""
    rng = np.random.default_rng(8)
    rows = ratings({"a": rng.normal(size=40), "b": rng.normal(1, 1, 40)})
    who = np.where(np.arange(len(rows)) % 40 < 32, "p0", np.arange(len(rows)).astype(str))
    found = found_in(rows.assign(annotator=who))
    assert (found["ci_kind"], found["note"]) == ("not_estimable", "too few effective clusters")
    assert found[["ci_low", "ci_high", "p_value"]].isna().all()
    assert np.isfinite(found["estimate"])
