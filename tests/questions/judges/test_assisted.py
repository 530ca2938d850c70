"""Judge-assisted estimates: against ppi-python, the clustered variances of all other rooms, by hand, by coverage."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import monte_carlo

from judgebook.questions.judges import analysis
from judgebook.questions.judges import prediction_powered as room
from judgebook.questions.judges.analysis import decisions
from judgebook.questions.judges.prediction_powered import ASSISTED, HUMAN, Sums, estimate
from judgebook.statistics.clusters import clustered_covariance
from judgebook.statistics.intervals import Sampling
from judgebook.study.labels import Label
from judgebook.study.results import collect

REFERENCE = Path(__file__).resolve().parents[2] / "reference"
SAMPLING = Sampling(200, 0.95, 1)
LABELS = [Label("fine", "dialogue_rating", "Fine", (1, 5)), Label("better", "pairwise_dialogue", "Better", (-1, 1))]


def one_system(people, model):
    n = len(model)
    return Sums(["a"], np.asarray(people, float), np.asarray(model, float), np.ones(n), np.zeros(n, int), np.arange(n))


def test_estimates_and_intervals_are_those_of_ppi_python():
    """tests/reference/ppi.py. Its lambda concerns dialogues that the model alone judged, ours all that it judged."""
    data = pd.read_csv(REFERENCE / "ppi_data.csv")
    sums = one_system(data["people"], data["model"])
    known = sums.labelled
    share = 1 - known.mean()
    gap = data["model"][known].mean() - data["model"][~known].mean()
    for row in pd.read_csv(REFERENCE / "ppi.csv").itertuples():
        chosen = np.isnan(row[1])
        _, both, weight = estimate(sums, None if chosen else row[1] / share)
        half = (row.high - row.low) / 2
        assert 1.96 * both.se(np.ones(1)) == pytest.approx(half, rel=0.02)
        theirs = (data["people"][known].mean() - row.estimate) / gap
        assert weight * share == pytest.approx(theirs, abs=0.03 if chosen else 1e-9)
        if not chosen:
            assert both.values[0] == pytest.approx(row.estimate, abs=1e-12)


def test_by_hand():
    """People and model agree on 1, 2, 3; the model says 4, 5, 6 of the rest: lambda is 1, and 2 becomes 2 + 1.5."""
    nan = np.nan
    people, both, weight = estimate(one_system([1, 2, 3, nan, nan, nan], [1, 2, 3, 4, 5, 6]), 1.0)
    assert (people.values[0], both.values[0], weight) == (2, 3.5, 1)
    assert people.se(np.ones(1)) == pytest.approx(1 / np.sqrt(3))
    opposite = estimate(one_system([3, 2, 1, nan, nan, nan], [1, 2, 3, 4, 5, 6]))
    assert opposite[2] == 0
    assert opposite[1].values[0] == opposite[0].values[0] == 2
    assert room.gain(0.5, 0.5) == pytest.approx(4 / 3)
    assert room.gain(0.0, 0.1) == 1


def chosen_by_quality(rng, n=150, r=0.7, tilt=0.5):
    """One system whose better dialogues people judge more often; inverse probabilities of being judged."""
    quality = rng.normal(size=n)
    p = np.clip(0.3 * np.exp(tilt * quality), 0.02, 1)
    people = np.where(rng.random(n) < p, quality, np.nan)
    data = one_system(people, r * quality + np.sqrt(1 - r**2) * rng.normal(size=n))
    return replace(data, scale=(-6.0, 6.0)), 1 / p


def test_weights_repeat_dialogues():
    """A weight of 2 is a dialogue twice, in the means by people alone and of people and model, with lambda given."""
    data, _ = chosen_by_quality(np.random.default_rng(1), n=20)
    weight = np.resize([1.0, 2.0, 3.0], 20)
    times = np.repeat(np.arange(20), weight.astype(int))
    again = one_system(data.people[times], data.model[times])
    for ours, theirs in zip(estimate(replace(data, weight=weight), 0.7)[:2], estimate(again, 0.7)[:2], strict=True):
        assert ours.values == pytest.approx(theirs.values)
    once = estimate(replace(data, chosen=np.full(20, 3.0)), 0.7)[1]
    assert once.se(np.ones(1)) == pytest.approx(estimate(data, 0.7)[1].se(np.ones(1)))


@pytest.mark.evidence
def test_the_random_sample_is_tested_and_weights_take_its_place():
    n, hits, rejected, level = 500, [], [], []
    for i in range(n):
        rng = np.random.default_rng([7, i])
        data, inverse = chosen_by_quality(rng)
        found = (estimate(replace(data, chosen=x))[1].contrast(np.ones(1)) for x in (inverse, None))
        hits.append([one["ci_low"] <= 0 <= one["ci_high"] for one in found])
        random = replace(data, people=np.where(rng.random(150) < 0.3, data.model, np.nan))
        rejected.append(next(room.selection(data))["p_value"] < 0.05)
        level.append(next(room.selection(random))["p_value"] < 0.05)
    weighted, plain = np.mean(hits, axis=0)
    assert weighted > 0.95 - monte_carlo(0.95, n) - 0.01  # heavy weights leave few effective dialogues
    assert plain < 0.8
    assert np.mean(rejected) > 0.5
    assert np.mean(level) < 0.05 + monte_carlo(0.05, n)


def review_queue(rng, n=200):
    """Judgements of two systems: a model rated all dialogues, people all that were flagged and a fifth of the rest.
    Bad dialogues are rated 2, others 4."""
    system = np.repeat(["A", "B"], n)
    bad = rng.random(2 * n) < np.where(system == "A", 0.2, 0.3)
    flagged = rng.random(2 * n) < np.where(bad, 0.8, 0.1)
    quality = np.where(bad, 2.0, 4.0)
    frame = pd.DataFrame({"system": system, "dialogue": [f"{s}{i}" for i, s in enumerate(system)]})
    frame = frame.assign(corpus="main", group="all", method="dialogue_rating", label="fine", turn=pd.NA)
    frame = frame.assign(dialogue_b=None, system_b=None, session=None, context=None, first_shown=None)
    model = frame.assign(score=quality + rng.choice([-1, 0, 1], 2 * n), annotator="gpt", annotator_kind="llm")
    people = frame.assign(score=quality + rng.choice([-1, 0, 1], 2 * n), annotator="w", annotator_kind="human")
    people["sampling_weight"] = np.where(flagged, 1.0, 5.0)
    drawn = flagged | (rng.random(2 * n) < 0.2)
    return pd.concat([people[drawn], model.assign(sampling_weight=1.0)], ignore_index=True)


def test_sampling_weights_of_people_and_model_are_used():
    """People's weights say how they were drawn from what the model judged, and its own how that was drawn."""
    frame = review_queue(np.random.default_rng(1), n=30)
    ((_, data),) = room.sums(frame, LABELS)
    assert data.weight is None
    weight = frame[frame["annotator"] == "w"].set_index("dialogue")["sampling_weight"]
    rows = frame[frame["annotator"] == "gpt"].sort_values(["system", "dialogue"])["dialogue"]
    known = rows.isin(weight.index).to_numpy()
    assert data.chosen[known] == pytest.approx(weight[rows[known]].to_numpy())
    # the same in a file that is a sample with these weights itself
    same = frame.assign(sampling_weight=frame["dialogue"].map(weight).fillna(2.0))
    ((_, data),) = room.sums(same, LABELS)
    assert data.weight == pytest.approx(rows.map(weight).fillna(2.0).to_numpy())
    assert data.chosen is None


def test_a_judge_that_goes_against_people_explains_nothing_and_has_no_interval():
    x = np.random.default_rng(2).normal(size=60)
    found = room.explained(one_system(x, -x), SAMPLING.stream("a"), SAMPLING)
    assert found.estimate == 0
    assert found.kind == "not_estimable"
    assert np.isnan([found.low, found.high]).all()


def test_variances_by_people_alone_are_those_of_clusters():
    rng = np.random.default_rng(3)
    n, system = 40, np.arange(40) % 3
    items = rng.integers(1, 9, n).astype(float)
    people, session = rng.normal(0, 1, n) * items, np.arange(n) // 3
    data = Sums(["a", "b", "c"], people, rng.normal(0, 1, n) * items, items, system, np.arange(n))
    known = np.arange(n) % 4 > 0
    for cluster in (np.arange(n), session, session // 4):  # one dialogue of a system per session, or several
        part = replace(data, people=np.where(known, people, np.nan), cluster=cluster)
        mine = estimate(part)[0]
        args = system[known], (people / items)[known], items[known], [cluster[known]]
        means, cov, _ = clustered_covariance(*args)
        assert mine.values == pytest.approx(means)
        assert mine.covariance == pytest.approx(cov.first, abs=1e-12)


def test_a_judge_that_uses_less_of_the_scale_helps_as_much():
    """The variance falls by the gain that the explained variance promises, whatever the spread of its scores."""
    rng, one = np.random.default_rng(6), np.ones(1)
    truth, known = rng.normal(0, 1, 2000), np.arange(2000) < 500
    model = 0.8 * truth + rng.normal(0, 0.6, 2000)
    found = {}
    for scale in (1.0, 0.3):
        data = one_system(np.where(known, truth, np.nan), scale * model)
        people, both, weight = estimate(data)
        found[scale] = both.values[0], both.se(one), scale * weight
        r2 = room.explained(data, SAMPLING.stream("x"), replace(SAMPLING, n_resamples=50)).estimate
        assert (people.se(one) / both.se(one)) ** 2 == pytest.approx(room.gain(r2, 0.25), rel=0.05)
    assert found[0.3] == pytest.approx(found[1.0])


def in_sessions(rng, n_sessions, per_session=3, icc=0.5, labelled="sessions"):
    """Two systems of equal means, several dialogues of each in a session; people judge half of the sessions, or about
    half of the dialogues of each."""
    n = n_sessions * per_session * 2
    cluster, system = np.repeat(np.arange(n_sessions), per_session * 2), np.arange(n) % 2
    own = rng.normal(0, np.sqrt(icc), (n_sessions, 2))[cluster, system]
    truth = own + rng.normal(0, np.sqrt(1 - icc), n)
    known = cluster % 2 == 0 if labelled == "sessions" else rng.random(n) < 0.5
    model = 0.8 * truth + rng.normal(0, 0.6, n)
    return Sums(["a", "b"], np.where(known, truth, np.nan), model, np.ones(n), system, cluster, scale=(-50.0, 50.0))


@pytest.mark.evidence
@pytest.mark.parametrize(("n_sessions", "labelled"), [(20, "sessions"), (60, "sessions"), (16, "dialogues")])
def test_intervals_cover_with_several_dialogues_per_session(n_sessions, labelled):
    rng, wanted = np.random.default_rng(n_sessions), (np.array([1.0, 0.0]), np.array([1.0, -1.0]))
    covered = []
    for _ in range(1500):
        people, both, _ = estimate(in_sessions(rng, n_sessions, labelled=labelled))
        rows = [one for w in wanted for one in (people.contrast(w), both.contrast(w))]
        covered.append([r["ci_low"] < 0 < r["ci_high"] for r in rows])
    rates = np.mean(covered, axis=0)
    assert (rates > 0.93).all()
    assert (rates < 0.97).all()


def test_dialogues_of_one_session_have_no_interval():
    data = in_sessions(np.random.default_rng(1), 20)
    people, both, _ = estimate(replace(data, cluster=np.zeros(len(data.cluster), int)))
    for one in (people, both):
        assert one.contrast(np.array([1.0, 0.0]))["ci_kind"] == "not_estimable"
        assert np.isnan(one.covariance).all()


def ratings(n=60, both=40, noise=0.5, seed=1):
    """Dialogues of systems a and b, rated by a model, and the first `both` of each by two people."""
    rng, rows = np.random.default_rng(seed), []
    for system, mean in (("a", 3.0), ("b", 3.5)):
        truth = rng.normal(mean, 0.6, n)
        for d in range(n):
            who = [("llm", "llm", noise)] + [(f"p{i}", "human", 0.4) for i in range(2) if d < both]
            rows += [(system, f"{system}{d:02}", name, kind, truth[d] + s * rng.normal()) for name, kind, s in who]
    frame = pd.DataFrame(rows, columns=["system", "dialogue", "annotator", "annotator_kind", "score"])
    fixed = {"study": "x", "corpus": "main", "group": "all", "annotator_known": True, "dialogue_b": None, "turn": pd.NA}
    frame = frame.assign(method="dialogue_rating", label="fine", session=None, context=None, **fixed)
    return frame.assign(source_row=range(len(frame)))


def test_rows_of_ratings_that_people_made_in_part():
    frame = ratings()
    results = collect(room.assisted(frame, LABELS, sampling=Sampling(300, 0.95, 1)))
    means = results["assisted_mean"].set_index(["system", "raters"])
    human = frame[frame["annotator_kind"] == "human"].groupby("system")["score"].mean()
    for system in "ab":
        alone, both = means.loc[(system, HUMAN)], means.loc[(system, ASSISTED)]
        assert alone["estimate"] == pytest.approx(human[system])
        assert both["ci_high"] - both["ci_low"] < alone["ci_high"] - alone["ci_low"]
    (gap,) = results.select("assisted_difference", raters=HUMAN)["estimate"]
    assert gap == pytest.approx(human["a"] - human["b"])
    explained, gains = results["assisted_explained"]["estimate"].iloc[0], results["assisted_gain"].set_index("share")
    assert gains.loc["0.25", "estimate"] == pytest.approx(1 / (1 - explained * 0.75))


def test_whether_labels_represent_the_others_by_hand():
    """People judged the first 40 of 60 dialogues of each system."""
    frame = ratings()
    results = collect(room.assisted(frame, LABELS, sampling=SAMPLING))
    model = frame[frame["annotator_kind"] == "llm"].set_index("dialogue")
    for system in "ab":
        scores = model.loc[model["system"] == system, "score"]
        row = results.select("assisted_selection", system=system).squeeze()
        assert row["estimate"] == pytest.approx(scores[scores.index.str[1:].astype(int) < 40].mean() - scores.mean())
        assert row["ci_low"] < 0 < row["ci_high"]


def changes(ends, by="model"):
    keys = {"corpus": "main", "method": "dialogue_rating", "label": "fine", "metric": "llm", "by": by}
    rows = [{"system": f"s{i}", "ci_low": low, "ci_high": high} for i, (low, high) in enumerate(ends)]
    return [{"statistic": "rate_change", "estimate": 0.0, **keys, **row} for row in rows]


@pytest.mark.parametrize(
    ("ends", "margin", "verdict"),
    [
        ([(-0.04, 0.03), (0.01, 0.05)], 0.05, 1),
        ([(-0.04, 0.03), (0.01, 0.05)], 0.045, None),  # an end lies outside
        ([(-0.04, 0.03), (0.06, 0.10)], 0.05, 0),  # an interval does
        ([(-0.10, -0.06)], 0.05, 0),
        ([(-0.01, 0.01), (np.nan, np.nan)], 0.05, None),
        ([(0.06, 0.10), (np.nan, np.nan)], 0.05, 0),
    ],
)
def test_margin_by_hand(ends, margin, verdict):
    found = collect(decisions(collect(changes(ends)), {"fine": margin, "*": 9.0}))
    row = found["judge_stands_in"].iloc[0]
    assert row["margin"] == margin
    assert row["estimate"] == verdict if verdict is not None else (np.isnan(row["estimate"]) and row["note"])
    least = found["judge_margin"]["estimate"].item()
    assert np.isnan(least) if np.isnan(ends).any() else least == np.abs(ends).max()


def test_labels_without_order_have_no_means():
    frame = ratings(both=20).assign(label="topic", score=lambda f: f["score"].round().clip(1, 5))
    topic = Label("topic", "dialogue_rating", "Topic", (1, 5), level="nominal")
    assert not list(room.sums(frame, [*LABELS, topic]))
    found = analysis.analyse(frame, [topic], sampling=Sampling(50, 0.95, 1), margin={"*": 1.0})
    assert not {s for s in found if s.startswith(("assisted", "judge_rate", "rate_change", "judge_margin"))}
