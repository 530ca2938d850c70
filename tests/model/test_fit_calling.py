"""`jb.fit`: which frames it takes, what it refuses with what it expected, and what its tables say."""

import numpy as np
import pandas as pd
import pyarrow
import pytest
from scipy.special import ndtri

import judgebook as jb

SECONDS = 20
ROLES = {"system": "bot", "score": "quality", "context": "prompt", "annotator": "who"}
VOTES = {"system": ("one", "two"), "score": "winner", "context": "prompt", "annotator": "who"}


def judgements(*, people=6, prompts=12):
    """Three systems on the same prompts, all judged by all people; scores are whole numbers."""
    rng = np.random.default_rng(3)
    rows = [
        (f"prompt {i}", bot, f"rater {who}", int(np.clip(round(2 + k + rng.normal(0, 0.8)), 1, 5)))
        for i in range(prompts)
        for k, bot in enumerate(("old", "mid", "new"))
        for who in range(people)
    ]
    return pd.DataFrame(rows, columns=["prompt", "bot", "who", "quality"])


def votes():
    """Of three systems by three people: `new` wins most, and some are ties."""
    sides = [("old", "new"), ("mid", "new"), ("old", "mid")]
    rows = [
        (f"prompt {i}", f"rater {k}", one, two, "tie" if (i + k) % 4 == 0 else one if (i * k) % 3 == 2 else two)
        for i in range(20)
        for one, two in sides
        for k in range(3)
    ]
    return pd.DataFrame(rows, columns=["prompt", "who", "one", "two", "winner"])


@pytest.fixture(scope="module")
def model():
    return jb.fit(judgements(), **ROLES)


@pytest.fixture(scope="module")
def voted():
    return jb.fit(votes(), **VOTES)


def test_levels_of_a_balanced_design_are_means_the_best_first(model):
    means = judgements().groupby("bot")["quality"].mean().sort_values(ascending=False)
    assert list(model.levels.index) == list(means.index) == ["new", "mid", "old"]
    assert model.levels["estimate"].to_numpy() == pytest.approx(means.to_numpy())
    assert model.p_best.to_dict() == model.levels["p_best"].to_dict()
    assert model.p_best.sum() == pytest.approx(1)
    assert model.levels["expected_rank"].sum() == pytest.approx(6)


def test_contrasts_are_differences_of_levels_and_decided_by_their_intervals(model):
    level, pairs = model.levels["estimate"], model.contrasts
    assert (pairs["system"] + " " + pairs["system_b"]).tolist() == ["mid new", "mid old", "new old"]
    gaps = pairs["system"].map(level) - pairs["system_b"].map(level)
    assert pairs["estimate"].to_numpy() == pytest.approx(gaps.to_numpy())
    assert ((pairs["low"] + pairs["high"]) / 2).to_numpy() == pytest.approx(pairs["estimate"].to_numpy())
    assert pairs["decided"].tolist() == ((pairs["low"] > 0) | (pairs["high"] < 0)).tolist() == [True] * 3


def test_shares_of_parts_sum_to_one_and_what_is_left_out_has_a_reason(model):
    parts = model.components
    assert set(parts.index) == {"context", "item", "annotator", "taste", "residual"}
    assert parts["share"].sum() == pytest.approx(1)
    alone = jb.fit(judgements(people=1), **ROLES).components
    assert alone.loc["annotator", "note"] == "there is only one"
    assert alone.loc["item", "note"] == "each has a single judgement"
    assert alone.loc[["annotator", "item"], "variance"].isna().all()
    unknown = jb.fit(judgements(), **(ROLES | {"annotator": None})).components
    assert unknown.loc[["annotator", "taste"], "note"].tolist() == ["who judged is not known"] * 2


def test_votes_leave_room_for_what_no_part_explains(voted):
    """Half the variance of the logistic distribution, on the scale of log strengths."""
    parts = voted.components.dropna(subset="variance")
    assert parts.loc["residual", "variance"] == pytest.approx(np.pi**2 / 6)
    assert parts["share"].sum() == pytest.approx(1)


def test_of_low_scores_that_are_good_the_order_turns_and_differences_do_not(model):
    turned = jb.fit(judgements(), **ROLES, direction=-1)
    assert list(turned.levels.index) == ["old", "mid", "new"]
    assert turned.levels["tier"].tolist() == [1, 2, 3]
    assert turned.p_best["old"] == pytest.approx(model.p_best["new"], abs=0.02)
    pd.testing.assert_frame_equal(turned.contrasts, model.contrasts)
    pd.testing.assert_series_equal(turned.levels["estimate"].sort_index(), model.levels["estimate"].sort_index())


def test_votes_are_names_or_signs(voted):
    frame = votes()
    won = (frame["winner"] == frame["one"]).astype(int) - (frame["winner"] == frame["two"]).astype(int)
    found = jb.fit(frame.assign(winner=won), **VOTES)
    pd.testing.assert_frame_equal(found.levels, voted.levels)
    assert found.levels["estimate"].sum() == pytest.approx(0, abs=1e-9)


def test_other_frames_give_the_same(model):
    table = jb.fit(pyarrow.Table.from_pandas(judgements()), **ROLES)
    pd.testing.assert_frame_equal(table.contrasts, model.contrasts)


def test_rows_without_a_score_are_left_out():
    frame = judgements().astype({"quality": float})
    frame.loc[::7, "quality"] = np.nan
    assert jb.fit(frame, **ROLES).fit.n == len(frame.dropna())
    pd.testing.assert_frame_equal(jb.fit(frame, **ROLES).levels, jb.fit(frame.dropna(), **ROLES).levels)


def test_turns_of_a_dialogue_count_as_their_mean(model):
    twice = pd.concat([judgements().assign(quality=lambda f, step=step: f["quality"] + step) for step in (-0.5, 0.5)])
    assert jb.fit(twice, **ROLES).fit.n == model.fit.n
    pd.testing.assert_frame_equal(jb.fit(twice, **ROLES).levels, model.levels)


def test_a_prediction_is_by_the_components_and_the_criterion_of_contrasts(model):
    v = model.components["variance"]
    found = model.predict(50, 10, 2)
    se = np.sqrt(2 * (v["item"] / 50 + v["residual"] / 100 + v["taste"] / 10))
    assert found["se"] == pytest.approx(se)
    here, pairs = model.predict(12, 6, 6), model.contrasts  # the frame's own design
    assert here["se"] == pytest.approx(pairs["se"].median(), rel=0.01)
    half = (pairs["high"] - pairs["low"]).median() / 2
    assert here["difference_found"] == pytest.approx(half + ndtri(0.8) * pairs["se"].median(), rel=0.01)


def test_what_cannot_be_predicted_is_refused(model, voted):
    with pytest.raises(jb.FitError, match="expected a model of ratings, found one of comparisons"):
        voted.predict(10, 3)
    for n in (4, 0):
        with pytest.raises(jb.FitError, match=f"expected from 1 to 3 judgements per dialogue, found {n}"):
            model.predict(10, 3, n)


def test_a_fit_prints_whom_it_is_about_what_is_decided_and_the_order(model):
    head, *table = repr(model).splitlines()
    assert head == "216 judgements of 3 systems, for other annotators like these; 3 of 3 differences decided"
    assert [line.split()[0] for line in table] == ["estimate", "system", "new", "mid", "old"]
    alone = repr(jb.fit(judgements(people=1), **ROLES)).splitlines()[0]
    assert "36 judgements of 3 systems, for these annotators; " in alone


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"score": "qualty"}, "column 'qualty': expected one of prompt, bot, who, quality"),
        ({"system": "prompt_"}, "column 'prompt_': expected one of"),
        ({"score": "who"}, "column 'who': expected numbers, found 'rater 0'"),
        ({"direction": 0}, "direction: expected 1 or -1, found 0"),
        ({"system": ("bot", "bot", "bot")}, "system: expected one column, or the two of comparisons, found 3"),
        ({"confidence": 95}, "confidence: expected more than 0 and less than 1, found 95"),
        (lambda f: f[f["bot"] == "old"], "expected two systems, found 1"),
        (lambda f: f.assign(bot=f["bot"].where(f.index != 4)), "column 'bot': expected a value in every row"),
        (lambda f: f.assign(quality=np.nan), "expected scores, found none"),
        (lambda f: f.iloc[:0], "expected scores, found none"),
    ],
)
def test_what_is_wrong_is_named_with_what_was_expected(change, said):
    """With a role or with the frame."""
    frame, roles = (change(judgements()), {}) if callable(change) else (judgements(), change)
    with pytest.raises(jb.FitError, match=said):
        jb.fit(frame, **(ROLES | roles))


def test_votes_that_name_no_system_are_refused():
    for none in ("tie", 3):
        with pytest.raises(jb.FitError, match="column 'winner': expected 1, 0 and -1, or the name of the system that"):
            jb.fit(votes().assign(winner=none), **VOTES)


def test_without_variance_there_are_means_and_no_claims():
    found = jb.fit(judgements().assign(quality=3), **ROLES)
    assert found.levels["estimate"].tolist() == [3.0] * 3
    assert found.contrasts[["low", "high"]].isna().all(axis=None)
    assert "0 of 3 differences decided" in repr(found)


def test_covariates_are_columns_of_both_sides_or_the_side():
    frame = votes().assign(long_one=[3, 1, 2, 4] * 45, long_two=[1, 2, 2, 1] * 45)
    found = jb.fit(frame, **VOTES, covariates={"side": ("side",), "length": ("long_one", "long_two")})
    same = jb.fit(frame.assign(length=frame["long_one"] - frame["long_two"]), **VOTES, covariates=["side", "length"])
    assert list(found.covariates.index) == ["side", "length"]
    pd.testing.assert_frame_equal(found.covariates, same.covariates)
    half = found.covariates.query("estimate > 0")["wins"]
    assert (half > 50).all()
    assert found.covariates["wins"].between(found.covariates["wins_low"], found.covariates["wins_high"]).all()
    assert list(found.moved.index) == list(found.levels.index)
    assert found.moved["estimate"].sum() == pytest.approx(0, abs=1e-9)
    assert jb.fit(frame, **VOTES).moved.empty


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"covariates": ["length"]}, "column 'length': expected one of"),
        ({"covariates": ["one"]}, "column 'one': expected numbers, found 'old'"),
    ],
)
def test_covariates_that_are_none(more, said):
    with pytest.raises(jb.FitError, match=said):
        jb.fit(votes(), **VOTES, **more)


def test_ratings_have_no_covariates_of_a_comparison():
    with pytest.raises(jb.FitError, match="covariates: expected a model of comparisons"):
        jb.fit(judgements(), **ROLES, covariates=["side"])
