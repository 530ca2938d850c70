"""`gate --looks anytime`: sequences of differences, what they refuse, and a year of weekly looks."""

import numpy as np
import pandas as pd
import pytest

from judgebook.extras.gate import anytime
from judgebook.extras.gate.anytime import in_sequence, why_not
from judgebook.pipeline.cli import main
from judgebook.statistics.intervals import confidence_sequence
from judgebook.study.schema import ANNOTATIONS, conform

SECONDS = 60
WEEKS = 52
YAML = """\
title: Releases
method: dialogue_rating
sources:
  - {adapter: records, file: "{period}.csv", scores: "{label}", columns: {system: bot, annotator: who},
     identify: {dialogue: ["{period}", prompt, bot], context: ["{period}", prompt]}}
labels:
  quality: {scale: [1, 5], direction: 1}
  lapses: {scale: [1, 5], direction: -1}
"""


VOTES = """\
title: Votes
method: comparative
inference: {annotators: sample}
bootstrap: {n_resamples: 200}
sources:
  - {adapter: table, file: votes.csv, layout: wide, scores: "{label}", values: {left: 1, right: -1},
     columns: {system: a, system_b: b, annotator: who, context: prompt},
     identify: {dialogue: [prompt, a], dialogue_b: [prompt, b]}}
labels:
  better: {scale: [-1, 1], direction: 1}
"""


def annotations(rows, **columns):
    """rows : period, context, system, dialogue, score."""
    frame = pd.DataFrame(rows, columns=["period", "context", "system", "dialogue", "score"])
    fixed = {"corpus": "main", "group": "all", "method": "dialogue_rating", "label": "quality", "annotator": "a"}
    fixed |= {"annotator_known": True, "annotator_kind": "human", "source_row": np.arange(len(frame)), "study": "s"}
    return conform(frame.assign(**fixed | columns), ANNOTATIONS)


#: contexts that both systems answered, the later period first
SHARED = [
    ("W2", "c", "new", "d1", 5),
    ("W2", "c", "old", "d2", 3),
    ("W1", "b", "new", "d3", 2),
    ("W1", "b", "old", "d4", 1),
]
ALONE = [
    ("W1", None, "new", "d1", 5),
    ("W1", None, "old", "d2", 3),
    ("W10", None, "new", "d3", 2),
    ("W9", None, "old", "d4", 1),
]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (SHARED, [1, 2]),
        (ALONE, [2]),  # in W9 and W10 there is nothing to compare
        ([*ALONE, ("W9", None, "new", "d5", 4)], [2, 3]),
        ([*SHARED, ("W1", "b", "new", "d3", 4)], [2, 2]),  # two judgements of a dialogue are one value
        ([*SHARED, ("W2", "b", "new", "d3", 4)], [1, 2]),  # a late one no longer changes it
    ],
)
def test_differences_in_the_order_of_periods(rows, expected):
    assert in_sequence(annotations(rows), "new", paired=False).tolist() == expected


def test_comparisons_are_turned_to_the_side_of_the_system():
    rows = annotations(
        [("W1", None, "new", "a", 1), ("W2", None, "old", "c", 1), ("W3", None, "new", "e", 0)],
        system_b=["old", "new", "old"], dialogue_b=["b", "d", "f"], method="pairwise_dialogue",
    )  # fmt: skip
    assert in_sequence(rows, "new", paired=True).tolist() == [1, -1, 0]


def test_what_comes_later_does_not_change_what_came_before():
    rows = year(np.random.default_rng(1), weeks=6, share=0.7)
    whole = in_sequence(rows, "new", paired=False)
    for week in range(1, 6):
        early = in_sequence(rows[rows["period"].str[1:].astype(int) <= week], "new", paired=False)
        assert 0 < len(early) < len(whole)
        assert whole[: len(early)].tolist() == early.tolist()


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({}, ""),
        ({"period": None}, "fill `period` or `completed_at`"),
        ({"period": None, "completed_at": pd.Timestamp("2026-01-05")}, ""),
        ({"sampling_weight": [1.0, 2.0, 1.0, 1.0]}, "unequal probability"),
        ({"period": ["May", "May", "April", "April"]}, "'April' and 'May' is not clear"),
        ({"context": "c"}, "context 'c' has dialogues of one system from several periods"),
    ],
)
def test_what_an_interval_for_every_look_cannot_be_made_from(columns, why):
    out = why_not(annotations(SHARED, **columns), "new", paired=False)
    assert why in out
    assert bool(why) == bool(out)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Twelve weeks in which four people judge; `new` is a point and a half better than `old`, `twin` is like it."""
    folder, rng = tmp_path_factory.mktemp("weeks"), np.random.default_rng(1)
    for week in range(8, 12):
        rows = [
            (prompt, bot, f"w{rng.integers(4)}", int(np.clip(round(q + rng.normal(0, 0.6)), 1, 5)))
            for prompt in range(20)
            for bot, q in {"old": 2.0, "new": 3.5, "twin": 3.5}.items()
        ]
        frame = pd.DataFrame(rows, columns=["prompt", "bot", "who", "quality"])
        frame.assign(lapses=6 - frame["quality"]).to_csv(folder / f"W{week}.csv", index=False)
    (folder / "weekly.yaml").write_text(YAML, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("required", "values", "said"),
    [
        ("new better than old on quality", [], "Met"),
        ("old better than new on quality", [], "Not met"),
        ("new better than old on lapses", [], "Met"),
        ("new better than twin on quality", [], "Cannot be told"),
        ("new better than old", [], "is valid at every look: name a label"),
        ("agreement on quality at least 0.1", [], "only two systems can be compared like this"),
        ("new better than old on quality", ["inference.annotators=sample"], "the same people judge again"),
    ],
)
def test_decisions_say_that_they_hold_at_every_look_and_for_whom(folder, capsys, required, values, said):
    values = ["bootstrap.n_resamples=200", *values]
    code = main(["gate", str(folder / "weekly.yaml"), "--looks", "anytime", "--require", required, "--set", *values])
    out = capsys.readouterr().out
    assert said in out
    assert code == (0 if out.startswith("Met") else 1 if out.startswith("Not met") else 3)
    about = "for these annotators only; holds at every look, 80 differences so far"
    assert (about in out) == (said in ("Met", "Not met", "Cannot be told"))


def test_votes_are_decided_for_other_annotators_by_their_model(tmp_path, capsys):
    """`new` wins two of three against `old`, also by way of a third system; interval of the model, for one pair."""
    rng, names = np.random.default_rng(2), np.array(["new", "old", "mid"])
    first, strength = rng.integers(3, size=900), np.array([0.7, -0.7, 0.0])
    second = (first + rng.integers(1, 3, size=900)) % 3
    won = rng.random(900) < 1 / (1 + np.exp(strength[second] - strength[first]))
    rows = {"prompt": np.arange(900) // 3, "a": names[first], "b": names[second], "who": np.arange(900) % 45}
    pd.DataFrame(rows | {"better": np.where(won, "left", "right")}).to_csv(tmp_path / "votes.csv")
    (tmp_path / "votes.yaml").write_text(VOTES, encoding="utf-8")
    for required, said in (
        ("new better than old on better", "Met"),
        ("old better than new on better", "Not met"),
        ("new equal to old on better within 20%", "Not met"),
    ):
        code = main(["gate", str(tmp_path / "votes.yaml"), "--looks", "anytime", "--require", required])
        out = capsys.readouterr().out
        assert out.startswith(said)
        assert "share won minus share lost, for other annotators like these 45; holds at every look, 900 votes" in out
        assert code == (said != "Met")


def year(rng, *, weeks=WEEKS, prompts=8, people=6, share=1.0):
    """A year in which the systems do not differ for these people, who are strict, and prefer one or the other; scores
    from 1 to 5. share : of prompts that both systems answered."""
    strict, prefers = rng.normal(0, 0.5, people), rng.normal(0, 0.3, people)
    prefers -= prefers.mean()
    n = weeks * prompts
    week, level, rows = np.repeat(np.arange(1, weeks + 1), prompts), rng.normal(0, 0.5, n), []
    for system, sign in (("new", 1), ("old", -1)):
        who = rng.integers(people, size=n)
        latent = 3 + level + strict[who] + sign * prefers[who] + rng.normal(0, 0.7, n)
        alone = np.where(np.arange(n) % 10 < 10 * share, "", system)
        context = [f"{w}-{i}{name}" for i, (w, name) in enumerate(zip(week, alone, strict=True))]
        columns = {"period": [f"W{w}" for w in week], "context": context, "system": system}
        rows.append(pd.DataFrame({**columns, "dialogue": None, "score": np.clip(np.round(latent), 1, 5)}))
    frame = pd.concat(rows, ignore_index=True)
    return annotations(frame.assign(dialogue=frame["context"] + frame["system"]))


def false_alarms(years):
    """Share of years in which, at one weekly look at least, the interval excludes that there is no difference: of
    intervals for every look, and of Student's."""
    rng, looks = np.random.default_rng(7), 8 * np.arange(1, WEEKS + 1)
    values = np.stack([in_sequence(year(rng), "new", paired=False) for _ in range(years)])
    low, high = confidence_sequence(values, -4.0, 4.0, looks=looks)
    n = np.arange(1, values.shape[1] + 1)
    mean = np.cumsum(values, axis=1) / n
    error = np.sqrt((np.cumsum(values**2, axis=1) / n - mean**2) / np.maximum(n - 1, 1))[:, looks - 1]
    once = np.abs(mean[:, looks - 1]) > 2.0 * error
    return np.mean(((low > 0) | (high < 0)).any(axis=1)), np.mean(once.any(axis=1))


@pytest.mark.verify
def test_weekly_looks_rarely_raise_a_false_alarm_where_intervals_for_one_look_often_do():
    anytime_, once = false_alarms(40)
    assert anytime_ <= 0.05
    assert once > 0.2


@pytest.mark.evidence
def test_of_a_thousand_years_without_a_difference_few_raise_an_alarm():
    assert false_alarms(1000)[0] <= 0.05


def test_the_interval_is_on_the_scale_of_differences():
    label = type("Label", (), {"scale": (1.0, 5.0)})
    low, high = anytime.interval(np.full(400, 2.0), label, paired=False, confidence=0.95)
    assert -4 <= low < 2 < high <= 4
    assert high - low < 0.5
    assert anytime.interval(np.ones(3), label, paired=True, confidence=0.95)[1] == 1.0
