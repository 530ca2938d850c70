"""Harder designs: that each changes what it says, and that procedures known to fail there are found to."""

import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import comparisons, monte_carlo
from fixtures.placebo_systems import rated, rng

from judgebook.questions.operating_characteristics import as_used, findings, harder, tables, worlds
from judgebook.questions.operating_characteristics.monte_carlo import SimulationPlan
from judgebook.study.results import collect

SYSTEMS = ["a", "b"]
PLAN = SimulationPlan(1000)


@pytest.fixture(scope="module")
def world():
    return worlds.world(worlds.design(rated(rng(1)), SYSTEMS))


@pytest.fixture(scope="module")
def designs(world):
    return dict(harder.of_two(world, rng(2)))


@pytest.fixture(scope="module")
def sizes(world):
    return {(r["scenario"], r["test"]): r for r in harder.tests(world, PLAN)}


# --- designs ----------------------------------------------------------------------------------------------------------


def sd(one):
    scores = np.concatenate(list(one.draw(500, rng(3))))
    assert scores.mean() == pytest.approx(one.mean, abs=0.1)
    return [scores[:, one.design.system == k].std() for k in (0, 1)]


def test_numbers_of_dialogues_and_spread_are_as_named(designs):
    for name in ("unequal_n", "few_vary_more", "few_vary_less", "polarised_v_peaked"):
        assert sorted(np.bincount(designs[name].design.row_kind)) == [10, 60]
        assert len(set(designs[name].design.session)) == 70
    small = np.bincount(designs["few_vary_more"].design.row_kind).argmin()
    for name, ratio in (("few_vary_more", 2), ("few_vary_less", 0.5), ("polarised_v_peaked", np.sqrt(3.4 / 0.2))):
        found = sd(designs[name])
        assert found[small] / found[1 - small] == pytest.approx(ratio, rel=0.05), name
    assert np.bincount(designs["unequal_spread"].design.row_kind).tolist() == [60, 60]


def test_a_lenient_annotator_adds_the_same_to_both_systems(designs):
    one = designs["unequal_spread"]
    loading = one.loadings[:, list(one.design.factors).index("annotator")]
    assert loading * sd(one) == pytest.approx(np.full(2, loading[0] * sd(one)[0]), rel=0.05)


def test_loads_are_zipf_and_teams_disjoint(world, designs):
    loads = np.bincount(designs["zipf_loads"].design.annotator)
    assert (loads.argmax(), loads.argmin() > 3) == (0, True)
    assert harder.effective(designs["zipf_loads"].design) < harder.effective(world.design) - 0.5
    apart = designs["disjoint_annotators"].design
    assert not set(apart.annotator[apart.system == 0]) & set(apart.annotator[apart.system == 1])
    assert harder.effective(apart) == 0
    for one in (designs["zipf_loads"], designs["disjoint_annotators"]):
        d = one.design
        assert not pd.DataFrame({"row": d.row, "who": d.annotator}).duplicated().any()
        assert np.sum(one.loadings**2, axis=1).max() < 1


def test_effective_annotators_by_hand(world):
    d = world.design
    assert harder.effective(d) == pytest.approx(1 / np.sum((np.bincount(d.annotator) / len(d.annotator)) ** 2))


# --- procedures -------------------------------------------------------------------------------------------------------


@pytest.mark.evidence
@pytest.mark.parametrize("design", ["few_vary_more", "polarised_v_peaked"])
def test_the_plain_permutation_test_is_found_out_and_the_primary_one_holds(sizes, design):
    assert sizes[design, "session_plain"]["ci_low"] > 0.12
    assert sizes[design, "session"]["estimate"] < 0.05 + monte_carlo(0.05, PLAN.n_runs)


@pytest.mark.evidence
@pytest.mark.parametrize("design", ["unequal_n", "unequal_spread", "few_vary_less", "zipf_loads"])
def test_tests_that_hold_are_found_to(sizes, design):
    for test in ("session", "two_way"):
        assert sizes[design, test]["estimate"] < 0.05 + monte_carlo(0.05, PLAN.n_runs)


@pytest.mark.evidence
def test_confounded_annotators_are_found_out(sizes):
    assert sizes["disjoint_annotators", "session"]["ci_low"] > 0.15
    assert sizes["disjoint_annotators", "two_way"]["n"] == 0


@pytest.mark.parametrize("people", [pytest.param(8, marks=pytest.mark.evidence), 3])
def test_ranks_of_many_systems_on_few_clusters_hold(people):
    one = worlds.world(worlds.design(rated(rng(4), people=people), SYSTEMS))
    rows = [r for r in harder.ranks(one, SimulationPlan(300)) if r["scenario"] == "few_clusters"]
    times = 2 if people == 8 else 1  # eight annotators are a sample too
    assert [(r["systems"], r["sample_size"]) for r in rows] == list(harder.FEW_CLUSTERS) * times
    assert all(r["ci_high"] > 0.95 for r in rows)
    assert {r["people"] for r in rows} == ({"fixed", "sampled"} if people == 8 else {"fixed"})


def test_ranks_that_take_ratings_as_independent_are_found_out(world):
    """Twelve equal ratings of each response, clustered by rating and by prompt."""
    one = harder.many_systems(world, 10, 8, rng(5), people=False)
    wide = np.repeat(np.concatenate(list(one.draw(200, rng(6)))), 12, axis=1)
    code, prompt = np.repeat(one.design.system, 12), np.repeat(one.design.session, 12)
    rates = {}
    for name, by in (("ratings", np.arange(len(code))), ("prompts", prompt)):
        model = as_used.Clustered(code, np.ones(len(code)), [by])
        rates[name] = np.mean(as_used.ranks_apart(model, wide, 0.95))
    assert rates["ratings"] > 0.5
    assert rates["prompts"] < 0.1


def votes(voters, n=400):
    r, rows = rng(7), [(*p, 0) for p in ("ab", "bc", "ca")]
    frame = comparisons((rows * n)[:n])
    frame["score"] = r.choice([-1.0, 0.0, 1.0], n)
    frame = frame.assign(annotator=[f"A{i}" for i in r.integers(0, voters, n)], annotator_known=True)
    frame["session"] = [f"s{i // 6}" for i in range(n)]
    return worlds.world(worlds.design(frame, list("abc")))


@pytest.mark.evidence
def test_strengths_hold_with_the_studys_voters_and_with_one_who_dominates():
    rows = {(r["scenario"], r["of"]): r for r in harder.strengths(votes(20), SimulationPlan(200))}
    assert len(rows) == 4
    assert all(r["ci_high"] > 0.95 and r["people"] == "sampled" for r in rows.values())
    # with five voters and one of 40% there is no claim about other voters
    rows = {(r["scenario"], r["of"]): r for r in harder.strengths(votes(5), SimulationPlan(100))}
    assert rows["dominant_voter", "strength"]["n"] == 0


# --- the page ---------------------------------------------------------------------------------------------------------


def test_the_page_has_each_test_of_each_design(world):
    rows = harder.tests(world, SimulationPlan(60))
    results = collect({"corpus": "main", "group": "all", "seed": 1} | r for r in rows)
    frame = tables.harder(results, 0.95).frame
    assert len(frame) == 14
    assert set(frame["Verdict"]) <= {"kept", "not kept", "not used there"}
    assert "of the 13 rates measured are kept" in findings.harder(results, 0.95).text
