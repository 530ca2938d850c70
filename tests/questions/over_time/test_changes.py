"""Who changed: planted changes are named and nothing else is; contrasts against fits without each cluster."""

import numpy as np
import pandas as pd
import pytest

from judgebook.questions.over_time.analysis import (
    ALL_CHANGED,
    NOBODY,
    ONLY_ONE,
    UNKNOWN,
    Boundary,
    contrasts,
    indicators,
)

SYSTEMS = ["base", "new", "old"]


def world(rng, *, weeks=2, items=40, people=6, annotator=0.0, system=0.0, everyone=0.0, level=0.0):
    """Scores of all systems on new items each week by two of `people`, who are strict and have preferences.

    annotator, system, everyone, level : what a2, `new`, all annotators but a2, and all systems gain from the second
    half of the weeks on.
    """
    n = weeks * items
    week, hard = np.repeat(np.arange(weeks), items), rng.normal(0, 0.4, n)
    strict, prefers, late = rng.normal(0, 0.3, people), rng.normal(0, 0.2, (people, 3)), week >= weeks / 2
    rows = []
    for s, name in enumerate(SYSTEMS):
        first = rng.integers(people, size=n)
        for who in (first, (first + rng.integers(1, people, size=n)) % people):
            score = 3 + 0.2 * s + strict[who] + prefers[who, s] + hard + rng.normal(0, 0.6, n)
            score += late * (annotator * (who == 2) + everyone * (who != 2) + system * (name == "new") + level)
            columns = {"week": week, "unit": np.arange(n), "system": name, "score": np.clip(np.round(score), 1, 5)}
            rows.append(pd.DataFrame({**columns, "annotator": [f"a{w}" for w in who]}))
    return pd.concat(rows, ignore_index=True)


def boundaries(frame, least=8):
    weeks = [frame[frame["week"].isin([w - 1, w])].assign(late=lambda f, w=w: f["week"] == w)
             for w in range(1, frame["week"].max() + 1)]  # fmt: skip
    return [Boundary(part, least) for part in weeks]


def named(frame):
    """Changes that stand out, as (week, who or what)."""
    each = boundaries(frame)
    m = sum(one.n_tests for one in each)
    for one in each:
        one.test(0.05 / m)
    return [
        (week, name)
        for week, one in enumerate(each, 1)
        for name in [*one.changed, *(s for s, c in one.systems.items() if c.p_value * m < 0.05)]
    ]


@pytest.mark.parametrize(
    ("planted", "expected"),
    [
        ({"annotator": -1.5}, {(2, "a2")}),
        ({"system": -1.2}, {(2, "new")}),
        ({"annotator": -1.5, "system": -1.2}, {(2, "a2"), (2, "new")}),
        ({"level": -1.2}, {(2, s) for s in SYSTEMS}),
        ({}, set()),
    ],
)
def test_what_is_planted_is_named_and_nothing_else(planted, expected):
    assert set(named(world(np.random.default_rng(5), weeks=4, items=60, **planted))) == expected


def test_estimates_are_what_was_planted():
    one = boundaries(world(np.random.default_rng(6), items=400, annotator=-0.7, system=0.5))[0]
    one.test(0.001)
    assert one.changed == ["a2"]
    assert one.annotators["a2"].estimate == pytest.approx(-0.7, abs=0.15)
    assert one.systems["new"].estimate == pytest.approx(0.5, abs=0.15)
    assert one.systems["old"].estimate == pytest.approx(0, abs=0.15)


def test_other_people_in_the_second_week_do_not_look_like_a_change_of_systems():
    """a0 judges more of the first week and lenient a1 more of the second."""
    rng, frame = np.random.default_rng(7), world(np.random.default_rng(8), items=300, people=2)
    frame["score"] += np.where(frame["annotator"] == "a1", 1.0, 0.0)
    keep = rng.uniform(size=len(frame)) < np.where((frame["annotator"] == "a1") == (frame["week"] == 1), 1.0, 0.3)
    frame = frame[keep]
    raw = frame.groupby(["system", "week"])["score"].mean().unstack()  # noqa: PD010
    one = boundaries(frame)[0]
    one.test(0.001)
    assert (raw[1] - raw[0] > 0.3).all()
    assert all(abs(c.estimate) < 0.2 for c in one.systems.values())


@pytest.mark.parametrize(
    ("stays", "identified", "why"), [([], True, NOBODY), (["a1"], True, ONLY_ONE), ([], False, UNKNOWN)]
)
def test_where_too_few_judged_in_both_weeks_nothing_is_claimed(stays, identified, why):
    frame = world(np.random.default_rng(9), system=-2.0)
    who = frame["annotator"]
    who = who.where(who.isin(stays), who + frame["week"].astype(str))
    one = Boundary(frame.assign(annotator=who, late=frame["week"] == 1), 8, identified)
    one.test(0.05)
    assert (one.why, one.systems, one.annotators, one.n_tests) == (why, {}, {}, 0)


def test_of_two_annotators_it_cannot_be_told_who_changed():
    frame = world(np.random.default_rng(10), people=2)
    frame["score"] += np.where((frame["annotator"] == "a1") & (frame["week"] == 1), 2.0, 0.0)
    one = boundaries(frame)[0]
    one.test(0.01)
    assert one.changed == ["a0", "a1"]
    assert (one.why, one.systems) == (ALL_CHANGED, {})
    assert one.annotators["a0"].estimate == pytest.approx(-one.annotators["a1"].estimate)


def test_those_who_judged_little_are_not_tested():
    frame = world(np.random.default_rng(11))
    judged = frame["unit"].where(frame["annotator"] == "a3").groupby(frame["week"]).nunique().min()
    assert "a3" in boundaries(frame, least=judged)[0].common
    assert "a3" not in boundaries(frame, least=judged + 1)[0].common


@pytest.mark.evidence
def test_in_at_most_one_study_of_twenty_without_a_change_is_one_named():
    rng = np.random.default_rng(13)
    alarms = [bool(named(world(rng, weeks=6, items=20, people=4))) for _ in range(400)]
    assert np.mean(alarms) <= 0.05


@pytest.fixture
def data():
    rng = np.random.default_rng(1)
    system, person, cluster = rng.integers(2, size=90), rng.integers(4, size=90), rng.integers(30, size=90)
    y = 1.0 * system + 0.5 * person + rng.normal(0, 1, 90) + rng.normal(0, 1, 30)[cluster]
    return indicators(system, person), y, cluster, np.array([[-1.0, 1.0, 0, 0, 0, 0]])


def test_estimate_and_error_are_those_of_fits_without_each_cluster(data):
    x, y, cluster, wanted = data
    (made,) = contrasts(x, y, cluster, wanted, cluster * 0)
    fit = lambda keep: float(wanted[0] @ np.linalg.lstsq(x[keep], y[keep], rcond=None)[0])  # noqa: E731
    whole = fit(np.full(90, True))
    without = np.array([fit(cluster != c) for c in np.unique(cluster)])
    assert made.estimate == pytest.approx(whole)
    assert made.error == pytest.approx(np.sqrt(29 / 30 * np.sum((without - whole) ** 2)))


def test_a_difference_of_two_means_has_the_error_of_welch():
    y, group = np.array([1.0, 2, 4, 7, 3, 3, 9, 5, 6]), np.repeat([0, 1], [4, 5])
    one, of_two = (
        contrasts(indicators(group), y, np.arange(9), np.array([[-1.0, 1.0]]), of)[0] for of in (0 * group, group)
    )
    parts = [y[group == g] for g in (0, 1)]
    scale = np.sqrt(8 / 9)  # the jackknife's factor for nine clusters; each mean has its own in Welch's
    expected = np.sqrt(sum(p.var(ddof=1) / (len(p) - 1) for p in parts)) * scale
    assert one.error == pytest.approx(expected)
    assert one.df == pytest.approx((4 / 16 + 5 / 25) ** 2 / (4 / 16**2 + 5 / 25**2) - 1)
    assert (of_two.df, of_two.error) == (pytest.approx(3), pytest.approx(expected))


def test_what_is_not_identified_or_rests_on_one_cluster_is_missing(data):
    x, y, cluster, wanted = data
    level = np.zeros((1, 6))
    level[0, 0] = 1  # the level of a system, where those of annotators are free
    assert np.isnan(contrasts(x, y, cluster, level, cluster * 0)[0].estimate)
    assert np.isnan(contrasts(x, y, cluster * 0, wanted, cluster * 0)[0].p_value)
