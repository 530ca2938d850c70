"""How much depends on who judged: against other libraries, solved cases and simulations with known truth."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from judgebook.annotations.population import populations
from judgebook.questions.performance import analysis
from judgebook.questions.performance.who_judged import annotator_effects, reversal, who_judged
from judgebook.statistics.intervals import Sampling
from judgebook.study.labels import Label


def world(rng, *, people=8, systems=4, dialogues=30, per=2, strict=0.0, liked=0.0):
    """Normal scores, of which half of the variance left by annotators is the dialogue's."""
    system = np.repeat(np.arange(systems), dialogues)
    who = np.concatenate([rng.choice(people, per, replace=False) for _ in system])
    dialogue = np.repeat(np.arange(len(system)), per)
    x = rng.normal(0, 0.7, len(system))[dialogue] + rng.normal(0, 0.7, len(who))
    x += rng.normal(0, strict**0.5, people)[who] + rng.normal(0, liked**0.5, (people, systems))[who, system[dialogue]]
    frame = {"score": x, "system": system[dialogue], "annotator": who, "dialogue": dialogue}
    return pd.DataFrame(frame)


def fitted(rows, **options):
    columns = ("score", "system", "annotator", "dialogue")
    return annotator_effects(*(rows[c].to_numpy() for c in columns), **options)


def test_the_test_is_that_of_nested_least_squares():
    """Unbalanced: dialogues as dummies, without and with a dummy for each annotator and system."""
    rows = world(np.random.default_rng(3), people=6, systems=3, dialogues=12, strict=0.3).iloc[:-7]
    rows = rows[rows.groupby("dialogue")["score"].transform("size") > 1]
    cell = rows["annotator"].astype(str) + "_" + rows["system"].astype(str)
    small = pd.get_dummies(rows["dialogue"]).to_numpy(float)
    large, y = np.hstack([small, pd.get_dummies(cell).to_numpy(float)]), rows["score"].to_numpy()
    left, rank = [], []
    for x in (small, large):
        beta, _, r, _ = np.linalg.lstsq(x, y, rcond=None)
        left.append(np.sum((y - x @ beta) ** 2))
        rank.append(r)
    df = rank[1] - rank[0], len(y) - rank[1]
    f = (left[0] - left[1]) / df[0] / (left[1] / df[1])
    found = fitted(rows)
    assert found.f == pytest.approx(f, rel=1e-6)
    assert found.p_value == pytest.approx(stats.f.sf(f, *df), rel=1e-5)


def test_in_a_balanced_design_variances_are_those_of_the_analysis_of_variance():
    """Five annotators judge every dialogue of three systems: mean squares of annotators and of preferences."""
    rng = np.random.default_rng(5)
    a, m, d = 5, 3, 8
    x = sum(rng.normal(size=shape) for shape in ((a, m, d), (a, 1, 1), (a, m, 1), (1, m, d)))
    who, system, dialogue = (i.ravel() for i in np.indices(x.shape))
    rows = pd.DataFrame({"score": x.ravel(), "system": system, "annotator": who, "dialogue": system * d + dialogue})
    of_a, of_cell, of_m = x.mean((1, 2)), x.mean(2), x.mean((0, 2))
    ms_a = m * d * np.sum((of_a - x.mean()) ** 2) / (a - 1)
    ms_am = d * np.sum((of_cell - of_a[:, None] - of_m + x.mean()) ** 2) / ((a - 1) * (m - 1))
    error = x - of_cell[:, :, None] - x.mean(0)[None] + of_m[None, :, None]
    df = m * (a - 1) * (d - 1)
    ms_e = np.sum(error**2) / df
    found = fitted(rows)
    assert found.preference.variance == pytest.approx(max((ms_am - ms_e) / d, 0))
    assert found.strictness.variance == pytest.approx(max((ms_a - ms_am) / (m * d), 0))
    f = stats.f.ppf([0.975, 0.025], (a - 1) * (m - 1), df)  # Harville and Fenech, balanced
    assert [found.preference.low, found.preference.high] == pytest.approx(
        [max(ms_e * (ms_am / ms_e / q - 1) / d, 0) for q in f], abs=1e-9
    )


@pytest.mark.evidence
def test_interchangeable_annotators_are_rarely_said_to_differ_and_strong_preferences_mostly():
    rng = np.random.default_rng(8)
    null = [fitted(world(rng)).p_value for _ in range(150)]
    assert np.mean(np.array(null) < 0.05) < 0.05 + 3 * (0.05 * 0.95 / 150) ** 0.5
    found = [fitted(world(rng, liked=0.5)) for _ in range(30)]
    assert np.mean([one.p_value < 0.05 for one in found]) > 0.8
    assert np.mean([one.preference.low <= 0.5 <= one.preference.high for one in found]) > 0.8


def test_strictness_that_everybody_shares_out_evenly_reverses_nothing():
    """Two panels, each of whose means has variance 1: the difference by the other one is normal with variance 2."""
    assert reversal(np.array([0.0, 1.0, 1.0]), np.array([1.0, 1.0, 0.0])) == pytest.approx(
        [0.5, stats.norm.cdf(-1 / np.sqrt(2)), 0.0]
    )


def annotations(rows, **columns):
    same = {"corpus": "main", "group": "all", "method": "dialogue_likert", "label": "quality", "annotator_known": True}
    same |= {"annotator_kind": "human", "dialogue_b": None, "system_b": None, "session": None, "context": None}
    same |= {"turn": None, "pair": None, "interactor": None, "work_unit": None, "study": "s"}
    same |= {"source_row": range(len(rows))}
    named = {c: rows[c].astype(str) for c in ("system", "annotator", "dialogue")}
    return pd.DataFrame({"score": rows["score"]}).assign(**named, **(same | columns))


def test_the_chance_of_a_reversal_is_that_of_the_variances():
    """Of two systems, of which one annotator judged little of the second: strictness does not cancel."""
    rows = world(np.random.default_rng(12), systems=2, dialogues=40, strict=0.5, liked=0.2)
    rows = rows[(rows["annotator"] != 0) | (rows["system"] == 0) | (rows["dialogue"] < 45)]
    effects, frame = fitted(rows), annotations(rows)
    assert min(effects.strictness.variance, effects.preference.variance) > 0.01
    found = who_judged(frame, populations(frame))["order_reversal"]["estimate"].item()
    share = pd.crosstab(rows["system"], rows["annotator"], normalize="index").to_numpy()
    variance = effects.preference.variance * np.sum(share**2)
    variance += effects.strictness.variance * np.sum((share[0] - share[1]) ** 2)
    gap = rows.groupby("system")["score"].mean().diff().iloc[1]
    assert found == pytest.approx(stats.norm.cdf(-abs(gap) / np.sqrt(2 * variance)))


def test_annotators_with_one_session_each_cannot_be_told_from_it():
    rng = np.random.default_rng(4)
    who = np.repeat(np.arange(30), 4)
    rows = pd.DataFrame({"score": rng.normal(size=120), "system": np.tile(np.arange(4), 30), "annotator": who,
                         "dialogue": np.arange(120)})  # fmt: skip
    frame = annotations(rows, session=("s" + pd.Series(who).astype(str)).to_numpy())
    (row,) = who_judged(frame, populations(frame))["annotators_differ"].to_dict("records")
    assert row["note"] == "most annotators judged one session each, alone"
    assert pd.isna(row["p_value"])


def test_comparisons_show_preferences_and_no_strictness():
    """Eight voters on three systems, each with tastes of their own."""
    rng, rows = np.random.default_rng(6), []
    taste = rng.normal(0, 1, (8, 3))
    for i in range(240):
        one, two = sorted(rng.choice(3, 2, replace=False))
        who = rng.integers(8)
        first, second = (two, one) if i % 2 else (one, two)
        score = float(np.sign(taste[who, first] - taste[who, second] + rng.normal(0, 0.5)))
        rows.append({"system": str(first), "system_b": str(second), "annotator": str(who), "score": score,
                     "dialogue": f"{i}x", "dialogue_b": f"{i}y", "pair": f"{i}"})  # fmt: skip
    frame = annotations(pd.DataFrame(rows)).assign(**pd.DataFrame(rows)[["system_b", "dialogue_b", "pair"]])
    frame = frame.assign(method="comparative")
    found = who_judged(frame, populations(frame))
    assert found["annotators_differ"]["p_value"].iloc[0] < 0.001
    assert list(found["annotator_share"]["part"]) == ["preference"]
    mirrored = frame.rename(columns={"system": "system_b", "system_b": "system"}).assign(score=-frame["score"])
    again = who_judged(mirrored, populations(frame))
    assert again["annotators_differ"]["estimate"].iloc[0] == pytest.approx(
        found["annotators_differ"]["estimate"].iloc[0]
    )


def test_of_few_annotators_results_are_the_same_without_their_names():
    """And means of few clusters end where the scale does."""
    rows = world(np.random.default_rng(2), people=3, systems=3, dialogues=4, strict=0.5)
    rows["score"] = np.clip(np.round(3 + 2 * rows["score"] + 0.6 * rows["system"]), 1, 5)
    labels = [Label("quality", "dialogue_likert", "Quality", (1, 5))]
    options = {"n_picks": 2, "pick_seed": 1, "sampling": Sampling(200, 0.95, 1)}
    found = []
    for known in (True, False):
        own = annotations(rows).assign(annotator_known=known)
        found.append(analysis.analyse(own, labels, people=populations(own), **options))
    for made in (analysis.two_intervals, lambda r: r["rank"]):
        ends = [made(r)[["ci_low", "ci_high"]].to_numpy(float) for r in found]
        np.testing.assert_array_equal(*ends)
        assert ((ends[0] >= 1) & (ends[0] <= 5)).all()
