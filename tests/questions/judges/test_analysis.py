"""Judges compared with people: by counting, against the agreement room, and by simulation."""

import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import monte_carlo
from fixtures.made_judges import judged

from judgebook.questions.agreement.analysis import alpha_table
from judgebook.questions.judges import analysis
from judgebook.questions.judges.agreement import judge_alpha
from judgebook.questions.judges.analysis import conclusions
from judgebook.questions.judges.items import judged_items
from judgebook.sources.build import build
from judgebook.statistics.intervals import Sampling
from judgebook.study import params
from judgebook.study.labels import Label
from judgebook.study.results import collect, fold

FEW = Sampling(n_resamples=200, confidence=0.95, seed=1)
LABELS = [Label("bad", "behavior", "Bad", (0, 1), direction=-1), Label("fine", "turn_rating", "Fine", (1, 5))]


def marks(rng, n=400, rate=0.3, agree=0.8):
    truth = rng.random(n) < rate
    human = np.stack([np.where(rng.random(n) < agree, truth, rng.random(n) < rate) for _ in range(2)], axis=1)
    return truth, human.astype(float)


@pytest.fixture(scope="module")
def one():
    rng = np.random.default_rng(1)
    truth, human = marks(rng)
    model = np.where(rng.random(400) < 0.6, truth, rng.random(400) < 0.4).astype(float)
    frame = judged(human, model)
    return human, model, frame, analysis.analyse(frame, LABELS, sampling=Sampling(500, 0.95, 1))


def pick(found, statistic, **keys):
    rows = found.select(statistic, **keys)
    assert len(rows) == 1, (statistic, keys, len(rows))
    return rows.iloc[0]


def test_alphas_are_those_of_the_agreement_room(one):
    human, model, frame, found = one
    alone = (alpha_table(judged(np.stack([h, model], 1), model), LABELS, sampling=FEW, alone=True) for h in human.T)
    values = [table["alpha"]["estimate"].iloc[0] for table in alone]
    mean, people, difference = (pick(found, "judge_alpha", pair=p) for p in ("mean", "people", "difference"))
    assert mean["estimate"] == pytest.approx(np.mean(values))
    assert people["estimate"] == pytest.approx(alpha_table(frame, LABELS, sampling=FEW)["alpha"]["estimate"].iloc[0])
    assert difference["estimate"] == pytest.approx(mean["estimate"] - people["estimate"])
    assert difference["ci_high"] < 0
    assert (people["resample_unit"], people["n_clusters"], people["metric"], people["n"]) == (
        "dialogue",
        20,
        "llm",
        400,
    )
    assert len(fold(found, study="x", notebook="13")) == sum(map(len, found.values()))


def test_rates_and_their_changes_by_counting(one):
    human, model, frame, found = one
    system = frame[frame["annotator"] == "llm"]["system"].to_numpy()
    rate = {s: (model[system == s].mean(), human[system == s].mean()) for s in ("s", "t")}
    for s, (by_model, by_people) in rate.items():
        assert pick(found, "judge_rate", raters="model", system=s)["estimate"] == pytest.approx(by_model)
        assert pick(found, "judge_rate", raters="people", system=s)["estimate"] == pytest.approx(by_people)
        change = pick(found, "rate_change", by="model", system=s)
        assert (change["estimate"], change["n"]) == (pytest.approx(by_model - by_people), 200)
        first, second = human[system == s].mean(axis=0)
        assert pick(found, "rate_change", by="another person", system=s)["estimate"] == pytest.approx(first - second)
    change = pick(found, "contrast_change", by="model")
    assert (change["system"], change["system_b"], change["n"]) == ("s", "t", 400)
    assert change["estimate"] == pytest.approx(rate["s"][0] - rate["s"][1] - rate["t"][0] + rate["t"][1])


@pytest.mark.parametrize(
    ("people", "model", "verdict"),
    [(1, 1, "same"), (1, -1, "opposite"), (-1, 0, "people only"), (0, 1, "model only"), (0, 0, "neither")],
)
def test_conclusions_by_hand(people, model, verdict):
    rows = []
    for who, sign in (("people", people), ("model", model)):
        low, high = (0.1, 0.3) if sign > 0 else (-0.3, -0.1) if sign < 0 else (-0.1, 0.1)
        keys = {"corpus": "main", "method": "behavior", "label": "bad", "metric": "llm", "raters": who}
        ends = {"estimate": (low + high) / 2, "ci_low": low, "ci_high": high}
        rows.append(keys | {"statistic": "judge_contrast", "system": "s", "system_b": "t"} | ends)
        for system, value in (("s", sign), ("t", 0)):
            rows.append(keys | {"statistic": "judge_rate", "system": system, "estimate": value})
    found = collect(conclusions(collect(rows)))
    assert pick(found, "judge_conclusions", verdict=verdict)["estimate"] == 1
    assert found["judge_conclusions"]["estimate"].sum() == 1
    tau = found["judge_rank_correlation"].iloc[0]
    if people and model:
        assert tau["estimate"] == people * model
    else:
        assert (np.isnan(tau["estimate"]), tau["note"]) == (True, "fewer than two systems, or rates that are all equal")


def test_few_marks_have_no_bootstrap_interval():
    human, model = np.zeros((200, 2)), np.zeros(200)
    human[:10], model[:8] = 1, 1
    found = analysis.analyse(judged(human, model), LABELS, sampling=Sampling(300, 0.95, 1))
    assert set(found["judge_alpha"]["ci_kind"]) == {"not_estimable"}
    assert found["judge_alpha"]["note"].str.contains("fewer than 20").all()


@pytest.mark.evidence
def test_interval_of_the_difference_covers():
    """A judge that is one more person agrees as people do: the interval covers 0 at the nominal rate."""
    n, inside = 150, []
    for i in range(n):
        rng = np.random.default_rng([5, i])
        base = rng.normal(size=(40, 1)) * 0.8
        score = (base + rng.normal(size=(40, 6))).ravel()
        noise = score[:, None] + 0.8 * rng.normal(size=(240, 3))
        values = (noise > 0.5).astype(float)
        frame = judged(values[:, :2], values[:, 2], n_dialogues=40)
        items = next(judged_items(frame, LABELS))
        row = pick(collect(judge_alpha(items, sampling=Sampling(400, 0.95, i))), "judge_alpha", pair="difference")
        inside.append(row["ci_low"] < 0 < row["ci_high"])
    assert np.mean(inside) > 0.95 - monte_carlo(0.95, n) - 0.02


def test_items_with_more_judgements_than_others_do_not_displace_them():
    """Of 405 items, 5 were judged three times, and 100 once: 305 are compared, by two people each."""
    rng = np.random.default_rng(3)
    truth, human = marks(rng, n=405)
    frame = judged(np.column_stack([human, human[:, 0]]), truth, n_dialogues=81)
    place = frame.groupby("annotator").cumcount()
    frame = frame[((frame["annotator"] != "pos2") | (place < 5)) & ((frame["annotator"] != "pos1") | (place < 305))]
    (items,) = judged_items(frame, LABELS)
    assert items.human.shape == (305, 2)
    assert items.share == 1
    assert np.array_equal(items.human, human[:305])
    assert np.array_equal(items.judge, truth[:305])


def test_a_judge_in_two_groups_judges_an_item_once(one):
    frame = one[2]
    again = frame[frame["annotator"] == "llm"].assign(group="other", score=lambda f: 1 - f["score"])
    both = pd.concat([frame, again], ignore_index=True)
    found = analysis.analyse(both, LABELS, sampling=Sampling(500, 0.95, 1))
    for statistic in ("judge_alpha", "judge_rate", "winning_rate", "assisted_explained"):
        pd.testing.assert_frame_equal(found[statistic], one[-1][statistic])


def test_a_judge_that_always_says_the_same_saves_no_labels():
    rng = np.random.default_rng(4)
    scores = rng.integers(1, 6, (400, 2)).astype(float)
    frame = judged(scores, np.full(400, 3.0), label="fine", method="turn_rating", n_dialogues=100)
    found = analysis.analyse(frame, LABELS, sampling=Sampling(200, 0.95, 1))
    assert found["assisted_gain"]["estimate"].tolist() == [1] * len(found["assisted_gain"]) != []


@pytest.mark.evidence
@pytest.mark.data
def test_judges_of_gpt_abceval(raw_data):
    """Alpha of people as S. E. Finch et al. 2023 print it; every model is below it on every label."""
    study = params.load("gpt_abceval")
    annotations = build(study).frames["annotations"]
    labels = [label for label in study.label_list() if label.id in ("redundant", "self_contradiction")]
    chosen = annotations[annotations["label"].isin([x.id for x in labels])]
    found = analysis.analyse(chosen, labels, sampling=Sampling(500, 0.95, 1))
    people = found.select("judge_alpha", pair="people").drop_duplicates("label").set_index("label")
    assert people["estimate"].round(3).to_dict() == {"self_contradiction": 0.407, "redundant": 0.551}
    gap = found.select("judge_alpha", pair="difference")
    assert len(gap) == 3
    assert (gap["ci_high"] < 0).all()
    assert (gap["n_clusters"] == 108).all()
