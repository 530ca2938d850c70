"""Boards at equal covariates, on simulated votes whose truth is known."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from fixtures.boxes import unreadable
from scipy.special import expit, fdtri

from judgebook.display.names import DisplayNames
from judgebook.model import comparisons
from judgebook.model.fit import Slopes
from judgebook.questions.comparisons import adjusted, analysis, first_page, views
from judgebook.questions.comparisons.adjusted import COLLECTED, EQUAL
from judgebook.questions.comparisons.question import Comparisons
from judgebook.questions.performance import fitted
from judgebook.study.labels import Label
from judgebook.study.results import Results, where
from judgebook.study.schema import ANNOTATIONS, DIALOGUE_FACTS, DIALOGUES, METRIC_SCORES, conform

LABEL = Label("better", "comparative", "Better", (-1.0, 1.0), "ordinal", direction=1)
NAMES = DisplayNames(
    {("comparative", "better"): LABEL},
    {"method": {"comparative": "Votes"}, "group": {"all": "All"}, "system": {s: s.upper() for s in "abcd"}},
)


def frame(columns, spec):
    return conform(columns[[c for c in columns if c in spec]], spec)


def world(seed, *, side=0.0, length=0.0, n=900, contexts=40):
    """Votes on systems a to d of strengths 0, 0, 0.6 and 0.6: b and d write four times as much. Effects are log odds,
    of the side shown first and of a doubling of the length. Returns annotations and dialogues."""
    rng = np.random.default_rng([11, seed])
    words = np.exp2(5 + np.array([0, 2, 0, 2]) + rng.normal(0, 1, (contexts, 4))).astype(int)
    one = rng.integers(4, size=n)
    other, context = (one + rng.integers(1, 4, n)) % 4, np.arange(n) % contexts
    shown = rng.choice([1, -1], n)
    measure = [np.log2(1 + 2 * words[context, of] - 1) for of in (one, other)]
    strength = np.array([0, 0, 0.6, 0.6])
    d = strength[one] - strength[other] + side * shown + length * (measure[0] - measure[1])
    weights = np.cumsum(np.column_stack([np.exp(-d / 2), np.full(n, 0.8), np.exp(d / 2)]), axis=1)
    score = (rng.random(n)[:, None] > weights / weights[:, -1:]).sum(axis=1) - 1.0
    name = np.array(list("abcd"))
    votes = pd.DataFrame({"system": name[one], "system_b": name[other], "score": score, "context": context.astype(str)})
    votes["dialogue"], votes["dialogue_b"] = (votes["context"] + votes[s] for s in ("system", "system_b"))
    fixed = {"study": "s", "corpus": "main", "group": "all", "method": "comparative", "label": "better"}
    who = {"annotator": [f"A{i % 30}" for i in range(n)], "annotator_known": True, "annotator_kind": "human"}
    votes = votes.assign(**fixed, **who, first_shown=np.where(shown > 0, "left", "right"), source_row=np.arange(n))
    said = [(f"{i}{s}", s, "x " * words[i, j]) for i in range(contexts) for j, s in enumerate("abcd")]
    texts = pd.DataFrame(said, columns=["dialogue", "system", "system_text"]).assign(study="s", corpus="main")
    return frame(votes, ANNOTATIONS), frame(texts, DIALOGUES)


def analysed(annotations, dialogues, *wanted, label=LABEL):
    nothing = (pd.DataFrame(columns=list(spec)) for spec in (METRIC_SCORES, DIALOGUE_FACTS))
    of = adjusted.measured(wanted or Comparisons().covariates, [], dialogues, *nothing)
    return analysis.analyse(analysis.votes(annotations, [label]), of, inference="sample")


@pytest.fixture(scope="module")
def confounded():
    return world(1, side=0.5, length=0.6)


@pytest.fixture(scope="module")
def results(confounded):
    return analysed(*confounded)


def test_effects_and_strengths_are_found_where_length_goes_with_the_system(results):
    effects = results["covariate_wins"].set_index("covariate")
    for name, truth in (("side", 0.5), ("characters", 0.6)):
        row = effects.loc[name]
        assert row["ci_low"] < expit(truth) < row["ci_high"]
        assert row["ci_low"] > 0.5
    board = results["board_strength"].set_index(["board", "system"])
    truth = dict(zip("abcd", (-0.3, -0.3, 0.3, 0.3), strict=True))
    for system, x in truth.items():
        row = board.loc[EQUAL, system]
        assert row["ci_low"] < x < row["ci_high"]
    # as collected, the long b is taken for better than a, which equals it
    gaps = [board.loc[(name, "b"), "estimate"] - board.loc[(name, "a"), "estimate"] for name in (COLLECTED, EQUAL)]
    assert gaps[0] > 0.6 > 0.3 > abs(gaps[1])
    moved = results["strength_moved"].set_index("system")
    assert (moved.loc[["b", "d"], "ci_high"] < 0).all()
    assert (moved.loc[["a", "c"], "ci_low"] > 0).all()


def test_places_move_as_the_boards_say(results):
    places = results["board_place"].set_index(["board", "system"])["estimate"]
    moved = results["places_moved"].set_index("system")
    for system in "abcd":
        assert moved.loc[system, "estimate"] == places[COLLECTED, system] - places[EQUAL, system]
    assert (moved["ci_low"] <= moved["estimate"]).all()
    assert (moved["ci_high"] >= moved["estimate"]).all()
    assert places[COLLECTED, "b"] < places[COLLECTED, "c"]
    assert moved.loc["b", "ci_high"] < 0


def test_the_page_says_what_moved_and_that_it_is_a_choice(results):
    (headline,) = views.findings(results, NAMES)
    assert "at equal side and length, " in headline.text
    assert "by more than chance explains" in headline.text
    assert first_page.answer(None, results, NAMES)[0] == headline.text
    prose, _, plot = views.effects(results, NAMES)
    wins = results["covariate_wins"].set_index("covariate").loc["characters"]
    assert f"An answer twice as long wins {100 * wins['estimate']:.0f} [" in prose.text
    assert "is a choice" in prose.text
    assert plot.title == "The answer shown first is favoured"
    (dumbbells,) = views.moved(results, NAMES)
    assert dumbbells.title.startswith("At equal side and length, ")
    assert not unreadable([plot, dumbbells])
    (table,) = views.boards(results, NAMES)
    assert len(table.frame) == 4


def test_of_many_boards_the_page_gives_ends_and_counts(results):
    many = {s: pd.concat([f.assign(group=g) for g in "vwxyz"], ignore_index=True) for s, f in results.items()}
    prose, *_ = views.effects(Results(many), NAMES)
    assert "of 100 votes on 5 boards. All 5 effects are beyond chance" in prose.text
    (headline,) = views.findings(Results(many), NAMES)
    assert headline.text.count("\n- ") == 5


def test_without_an_effect_no_move_is_beyond_chance_and_the_first_page_says_nothing_of_one():
    """In at most 5% of studies; more than 2 of 12 would come with a probability of 2%."""
    beyond = 0
    for seed in range(12):
        found = analysed(*world(seed, n=300))
        beyond += bool(views.surely(found["places_moved"]).any())
        told = views.facts(found, NAMES)["boards"][0]
        assert bool(first_page.answer(None, found, NAMES)[0]) == bool(told["moved"] or told["turned"])
    assert beyond <= 2


def test_of_a_label_that_counts_down_and_pairs_turned_round_all_is_the_same(confounded, results):
    annotations, dialogues = confounded
    turned = annotations.rename(columns={"system": "system_b", "system_b": "system"})
    turned = turned.rename(columns={"dialogue": "dialogue_b", "dialogue_b": "dialogue"})
    turned["first_shown"] = turned["first_shown"].map({"left": "right", "right": "left"})
    worse = Label("better", "comparative", "Worse", (-1.0, 1.0), "ordinal", direction=-1)
    found = analysed(frame(turned, ANNOTATIONS), dialogues, label=worse)
    for statistic in ("board_strength", "covariate_effect", "places_moved"):
        np.testing.assert_allclose(found[statistic]["estimate"], results[statistic]["estimate"], atol=1e-5)


def test_what_is_not_known_is_left_out_with_the_reason(confounded):
    annotations, dialogues = confounded
    some = [f"{i}a" for i in range(20)]
    dialogues = dialogues.assign(system_text=dialogues["system_text"].where(~dialogues["dialogue"].isin(some)))
    found = analysed(annotations.assign(first_shown=None), dialogues, "side", "characters", "tokens")
    notes = found["covariate_effect"].set_index("covariate")["note"]
    assert notes["side"] == notes["tokens"] == "it is known of 0 of 900 votes"
    without = int(annotations[["dialogue", "dialogue_b"]].isin(some).any(axis=1).sum())
    assert found["votes_left_out"]["estimate"].tolist() == [without]
    assert set(found["board_place"]["n"]) == {900 - without}
    nothing = analysed(annotations.assign(first_shown=None), dialogues.iloc[:0])
    assert not {"board_place", "places_moved", "covariate_wins"} & set(nothing)
    (headline,) = views.findings(nothing, NAMES)
    assert headline.text.startswith("**Nothing to be made equal:** side: it is known of 0 of 900 votes; length: it")
    assert first_page.answer(None, nothing, NAMES) == ("", None)


def slopes_of(name, estimate, error, df=np.inf):
    found = (np.array([value]) for value in (estimate, error, df))
    return Slopes((name,), *found, {}, np.zeros(2), np.zeros((2, 2)), np.ones(1))


def test_moves_within_the_region_of_slopes():
    """A slope of 1 with error 1 moves the second system by 0.5; no move is within its region, and not within that of
    2."""
    loads = np.array([-0.5, 0.5])

    def moves(slope):
        slopes = replace(slopes_of("x", slope, 1.0), moved=slope * loads, moved_covariance=np.outer(loads, loads))
        return adjusted.region(SimpleNamespace(slopes=slopes, systems=("a", "b")), 0.95)

    assert moves(1.0)[:, 1].min() == pytest.approx(0.5 * (1 - 1.96), abs=1e-3)
    assert moves(1.0)[:, 1].max() == pytest.approx(0.5 * (1 + 1.96), abs=1e-3)
    assert not moves(1.0)[-1].any()
    assert moves(2.0)[:, 1].min() > 0


def test_groups_are_compared_with_the_first():
    for df, points in ((np.inf, 1.96), (10.0, 2.228)):
        slopes = ("people", slopes_of("side", 0.3, 0.3, df)), ("gpt", slopes_of("side", 1.3, 0.4))
        (row,) = adjusted.between_groups({("main", "comparative", "better"): [*slopes]}, 0.95)
        assert (row["group"], row["group_b"], row["estimate"]) == ("gpt", "people", pytest.approx(1.0))
        assert row["ci_low"] == pytest.approx(1 - points * 0.5, abs=1e-3)  # the root of 0.09 + 0.16


def test_a_family_of_boards_is_tested_as_one(confounded, results):
    annotations, dialogues = confounded
    twice = pd.concat([annotations, annotations.assign(group="again", annotator=annotations["annotator"] + "b")])
    both = where(analysed(frame(twice, ANNOTATIONS), dialogues)["strength_moved"], group="all")
    width = [(rows["ci_high"] - rows["ci_low"]).to_numpy() for rows in (both, results["strength_moved"])]
    nothing = (pd.DataFrame(columns=list(spec)) for spec in (METRIC_SCORES, DIALOGUE_FACTS))
    of = adjusted.measured(Comparisons().covariates, [], dialogues, *nothing)
    kept, found, _ = adjusted.covariates(analysis.votes(annotations, [LABEL]), of)
    df = comparisons.fit(replace(fitted.votes(kept, people=True), covariates=found)).slopes.df.min()
    assert df > 5
    np.testing.assert_allclose(width[0] / width[1], np.sqrt(fdtri(2, df, 0.975) / fdtri(2, df, 0.95)), rtol=1e-6)
