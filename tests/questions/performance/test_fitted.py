"""Rows of a fit: small exact cases, and that no two of them contradict each other."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import comparisons, numbered, ratings
from scipy import stats

from judgebook.annotations import population
from judgebook.model.comparisons import outcomes
from judgebook.model.contrasts import Levels
from judgebook.model.designs import POWER
from judgebook.model.fit import ANNOTATOR, RESIDUAL, TASTE, Fit, confounded
from judgebook.questions.performance import analysis, leading
from judgebook.questions.performance.fitted import MOST, fitted, of_fit, standardised
from judgebook.study.labels import Label
from judgebook.study.results import collect, where
from judgebook.study.schema import ALL_RUNS

HEAD = {"corpus": "main", "group": "x", "method": "dialogue_likert", "label": "quality"}
VOTES = HEAD | {"method": "comparative"}


def made(values, error=0.2, df=30.0, **changed):
    """A fit of independent levels."""
    m = len(values)
    levels = Levels(np.array(values, float), error**2 * np.eye(m), np.full((m, m), df))
    given = {"variances": {ANNOTATOR: 1.0, RESIDUAL: 3.0}, "left_out": {TASTE: "each has a single judgement"}}
    given |= {"others": True, "people": np.full(m * (m - 1) // 2, 0.01), "n": 300, "n_annotators": 8}
    return Fit(tuple("abcdef"[:m]), levels, sizes=np.full(m, 30), **given | changed)


def rows(fit, sign=1, head=HEAD):
    return collect(of_fit(fit, head, sign, 0.95))


def by(results, statistic, column="estimate"):
    return results[statistic].set_index("system")[column]


def test_two_systems_by_hand():
    found = rows(made([3.0, 2.0]))
    contrast, half = found["contrast"].iloc[0], stats.t.ppf(0.975, 30) * np.sqrt(0.08)
    assert (contrast["system"], contrast["system_b"], contrast["estimate"]) == ("a", "b", 1.0)
    assert [contrast["ci_low"], contrast["ci_high"]] == pytest.approx([1 - half, 1 + half], rel=0.02)
    assert contrast["p_value"] == pytest.approx(2 * stats.t.sf(1 / np.sqrt(0.08), 30))
    rank = found["rank"].set_index("system")[["estimate", "ci_low", "ci_high"]]
    assert rank.to_numpy().tolist() == [[1, 1, 1], [2, 2, 2]]
    assert by(found, "lead").to_dict() == {"a": 0.0, "b": 1.0}
    assert by(found, "lead", "ci_low")["b"] == contrast["ci_low"]
    assert by(found, "best_chance").sum() == pytest.approx(1)
    assert by(found, "level").to_dict() == {"a": 3.0, "b": 2.0}
    assert found["data_to_separate"]["estimate"].tolist() == [1.0]
    people = found["order_reversal"].set_index("part")["estimate"]
    assert people["annotators"] == pytest.approx(stats.norm.cdf(-1 / np.sqrt(2 * 0.01)))
    assert people["study"] == pytest.approx(stats.norm.cdf(-1 / np.sqrt(2 * 0.08)))


def test_open_pairs_say_how_much_data_would_decide_them():
    found = rows(made([2.3, 2.0]))
    half = (found["contrast"]["ci_high"] - found["contrast"]["ci_low"]).iloc[0] / 2
    found_now = half + stats.norm.ppf(POWER) * np.sqrt(0.08)
    assert found["difference_found"]["estimate"].iloc[0] == pytest.approx(found_now)
    times = found["data_to_separate"]["estimate"].iloc[0]
    later = (stats.t.ppf(0.975, 30 * times) + stats.norm.ppf(POWER)) * np.sqrt(0.08 / times)
    assert later == pytest.approx(0.3, rel=0.01)  # two systems: Tukey's range is that of t
    near = rows(made([2.0001, 2.0]))["data_to_separate"].iloc[0]
    assert np.isnan(near["estimate"])
    assert near["note"] == f"more than {MOST} times the data"


def test_where_less_is_better_only_the_order_turns():
    up, down = rows(made([3.0, 2.0, 1.9])), rows(made([3.0, 2.0, 1.9]), -1)
    for statistic in ("contrast", "level"):
        pd.testing.assert_frame_equal(up[statistic], down[statistic])
    assert by(down, "rank").to_dict() == {"a": 3, "b": 2, "c": 1}
    assert by(down, "lead").to_dict() == pytest.approx({"a": 1.1, "b": 0.1, "c": 0.0})
    assert by(down, "best_chance").idxmax() == "c"


def test_without_a_direction_there_is_no_order():
    found = rows(made([3.0, 2.0]), 0)
    assert len(found["contrast"]) == 1
    for statistic in ("rank", "lead", "best_chance", "data_to_separate", "order_reversal"):
        assert not len(found[statistic]), statistic


def test_shares_of_parts_have_intervals_or_reasons():
    found = rows(made([3.0, 2.0], intervals={ANNOTATOR: (0.1, 0.6)}))["component_share"].set_index("part")
    assert found["estimate"].dropna().to_dict() == {ANNOTATOR: 0.25, RESIDUAL: 0.75}
    assert found.loc[ANNOTATOR, ["ci_low", "ci_high", "ci_kind"]].tolist() == [0.1, 0.6, "profile"]
    assert found.loc[TASTE, "note"] == "each has a single judgement"


def test_annotators_who_are_one_with_what_they_judged_have_no_share():
    who, session = np.array([0, 1, 2, 3, 3, 4]), np.array([0, 1, 2, 3, 4, 4])
    assert confounded(who, ("session", session)) == "most annotators judged one session each, alone"
    assert confounded(who[1:], ("session", session[1:])) == ""  # two of five judgements
    found = rows(made([3.0, 2.0], confounded="one each"))
    assert found["component_share"].set_index("part").loc[[ANNOTATOR, TASTE], "note"].tolist() == ["one each"] * 2
    assert found["order_reversal"]["part"].tolist() == ["study"]


def test_votes_are_told_as_shares_won_less_lost():
    found = rows(made([0.8, 0.0], log_nu=-0.5), head=VOTES)
    won, tied, lost = outcomes(np.array([0.8]), -0.5)[:, 0]
    assert won / lost == pytest.approx(np.exp(0.8))
    assert tied / np.sqrt(won * lost) == pytest.approx(np.exp(-0.5))
    assert found["contrast"]["estimate"].iloc[0] == pytest.approx(won - lost)
    assert by(found, "strength").to_dict() == {"a": 0.8, "b": 0.0}


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("log_nu", [None, 0.3])
@pytest.mark.parametrize("seed", range(4))
def test_a_pair_is_decided_in_all_rows_or_in_none(seed, log_nu, sign):
    """Its interval excludes 0 just where ranks count it, where its p-value is below 5%, and where the lead says so."""
    r = np.random.default_rng(seed)
    found = rows(made(r.normal(0, 0.6, 6), df=12.0, log_nu=log_nu), sign, HEAD if log_nu is None else VOTES)
    pairs = found["contrast"]
    decided = (pairs["ci_low"] > 0) | (pairs["ci_high"] < 0)
    assert decided.tolist() == (pairs["p_adjusted"] < 0.05).tolist()
    better, worse = pairs["system"], pairs["system_b"]
    turned = pairs["estimate"] * sign < 0
    better, worse = better.where(~turned, worse), worse.where(~turned, better)
    rank = found["rank"].set_index("system")
    for system, row in rank.iterrows():
        assert row["ci_low"] == 1 + (worse[decided] == system).sum()
        assert row["ci_high"] == 6 - (better[decided] == system).sum()
    first, lead = rank["estimate"].idxmin(), found["lead"].set_index("system")
    clearly = set(worse[decided & (better == first)])
    assert set(lead.index[lead["ci_low"] > 0]) == clearly
    times = found["data_to_separate"].iloc[0]
    assert (times["estimate"] == 1) == (times["system_b"] in clearly)


def test_systems_that_no_votes_join_are_not_compared():
    votes = [(a, b, x) for a, b in ("ab", "cd") for x in (1, 1, -1, 0) * 5]
    frame = comparisons(votes, label="quality").assign(context=None, annotator_known=False, annotator_kind="human")
    frame = analysis.chosen(frame.assign(work_unit=None, source_row=range(len(frame))))
    label = Label("quality", "comparative", "Quality", (-1, 1))
    found = fitted(frame, [label], population.modelled(frame))["contrast"].set_index(["system", "system_b"])
    across = [pair for pair in found.index if set(pair) not in ({"a", "b"}, {"c", "d"})]
    assert (found.loc[across, "ci_kind"] == "not_estimable").all()
    assert found.loc[across, "note"].str.startswith("no votes join some systems with others").all()
    assert found.loc[across, "p_adjusted"].isna().all()


def test_scores_are_in_standard_deviations_of_items():
    frame = ratings([("d1", "a", 1), ("d1", "a", 3), ("d2", "a", 4), ("d3", "b", 6)]).assign(dialogue_b=None)
    found = standardised(frame, -1)
    assert found["score"].tolist() == pytest.approx([1.5, 0.5, 0.0, -1.0])
    assert standardised(frame.assign(score=2.0), 1) is None


def test_verdicts_follow_the_intervals():
    head = {k: v for k, v in HEAD.items() if k != "label"} | {"n": 2}
    order = leading.rankings(rows(made([0, -0.1, -0.7, -1.2, -3, -4], df=50.0), head=head))
    assert order["system"].tolist() == list("abcdef")
    assert order["verdict"].tolist() == ["leads", *["may be best"] * 2, *["clearly worse"] * 3]
    some = order.assign(rank_low=[1, 1, 2, 2, np.nan, 5], lead_low=[np.nan, -1, -0.1, 0.1, np.nan, 1])
    expected = ["not clearly worse", "clearly worse", "no interval", "clearly worse"]
    assert leading.verdicts(some).tolist()[2:] == expected


def test_three_runs_of_the_same_systems_have_an_order_over_all_of_them():
    rng, frames = np.random.default_rng(4), []
    for corpus, label in product(["one", "two", "three"], ["clear", "kind"]):
        gains = rng.normal(0, 0.1, 3)
        scores = [(f"d{s}{i}", s, 3 + j + gains[j] + rng.normal()) for j, s in enumerate("abc") for i in range(12)]
        frames.append(numbered(scores, corpus=corpus, label=label))
    labels = [Label(x, "dialogue_likert", x, (1, 5)) for x in ("clear", "kind")]

    def found(runs):
        judged = pd.concat([f for f in frames if f["corpus"].iloc[0] in runs], ignore_index=True).assign(session=None)
        out = fitted(judged, labels, population.modelled(judged), "all")
        return {s: where(out[s], corpus=ALL_RUNS).set_index("system") for s in ("overall_level", "overall_rank")}

    whole = found({"one", "two", "three"})
    assert whole["overall_level"]["resample_unit"].unique().tolist() == ["run"]
    assert whole["overall_level"][["n", "n_clusters"]].drop_duplicates().to_numpy().tolist() == [[2, 36]]
    assert whole["overall_rank"]["estimate"].sort_values().index.tolist() == ["c", "b", "a"]
    assert found({"one", "two"})["overall_level"].empty
