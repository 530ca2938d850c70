"""Judges held against people: by counting, against the agreement module, and by simulation."""

import numpy as np
import pandas as pd
import pytest
from evaluations import monte_carlo

from helpers import agreement, judges, look, params, schema
from helpers.labels import Label
from helpers.sources.build import build
from helpers.views import judge_report

LABELS = [Label("bad", "behavior", "Bad", (0, 1), direction=-1), Label("fine", "turn_rating", "Fine", (1, 5))]


def judged(human, model, label="bad", method="behavior", n_dialogues=20, systems=("s", "t")):
    """Marks of positions and one model; items in dialogues of equal size, dialogues alternately of the systems."""
    n = len(model)
    dialogue = np.arange(n) * n_dialogues // n
    rows = []
    for name, kind, values in [*((f"pos{i}", "human", h) for i, h in enumerate(human.T)), ("llm", "llm", model)]:
        rows.append(
            pd.DataFrame(
                {
                    "annotator": name,
                    "annotator_kind": kind,
                    "dialogue": [f"d{d:02d}" for d in dialogue],
                    "system": np.array(systems)[dialogue % len(systems)],
                    "turn": pd.array(np.arange(n) % max(n // n_dialogues, 1), dtype="Int32"),
                    "score": values.astype(float),
                }
            )
        )
    fixed = {"study": "x", "corpus": "main", "group": "all", "annotator_known": False, "dialogue_b": None}
    frame = pd.concat(rows, ignore_index=True).assign(method=method, label=label, **fixed)
    return frame.assign(source_row=range(len(frame)))


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
    return human, model, frame, judges.evaluate(frame, LABELS, seed=1, n_resamples=500)


def row(found, statistic, **keys):
    wanted = schema.condition(**keys)
    rows = found[(found["statistic"] == statistic) & (found["condition"] == wanted)]
    assert len(rows) == 1, (statistic, wanted, len(rows))
    return rows.iloc[0]


def test_marks_by_counting(one):
    human, model, _, found = one
    hits = [np.sum((h == 1) & (model == 1)) for h in human.T]
    expected = {
        "precision": sum(hits) / (2 * model.sum()),
        "recall": sum(hits) / human.sum(),
        "positive_agreement": 2 * sum(hits) / (2 * model.sum() + human.sum()),
        "negative_agreement": 2
        * np.sum((human == 0) & (model == 0)[:, None])
        / np.sum(4 - 2 * model - human.sum(axis=1)),
    }
    for statistic, value in expected.items():
        got = row(found, statistic, against="people")
        assert got["estimate"] == pytest.approx(value), statistic
        assert got["ci_low"] < value < got["ci_high"]
        assert (got["resample_unit"], got["n_clusters"], got["metric"], got["n"]) == ("dialogue", 20, "llm", 400)
    assert len(schema.make_results(found, study="x", notebook="13")) == len(found)


def test_people_among_each_other_are_those_of_the_agreement_module(one):
    _, _, frame, found = one
    table = agreement.alpha_table(frame, LABELS, n_resamples=200).set_index("statistic")
    for statistic in ("positive_agreement", "negative_agreement"):
        got = row(found, statistic, against="each other")
        assert got["estimate"] == pytest.approx(table.loc[statistic, "estimate"])
        assert pd.isna(got["metric"])
    alpha = table.loc["alpha"]
    assert row(found, "judge_alpha", pair="people", measurement="ordinal")["estimate"] == pytest.approx(
        alpha["estimate"].iloc[0]
    )


def test_alpha_with_each_person_is_that_of_the_agreement_module(one):
    human, model, _, found = one
    values = []
    for i, h in enumerate(human.T):
        pair = agreement.alpha_table(judged(np.stack([h, model], axis=1), model), LABELS, n_resamples=200, beside=False)
        got = row(found, "judge_alpha", pair=f"position {i + 1}", measurement="ordinal")
        assert got["estimate"] == pytest.approx(pair["estimate"].iloc[0])
        values.append(got["estimate"])
    mean = row(found, "judge_alpha", pair="mean", measurement="ordinal")["estimate"]
    difference = row(found, "judge_alpha", pair="difference", measurement="ordinal")
    people = row(found, "judge_alpha", pair="people", measurement="ordinal")["estimate"]
    assert mean == pytest.approx(np.mean(values))
    assert difference["estimate"] == pytest.approx(mean - people)
    assert difference["ci_high"] < 0


def test_rates_and_their_changes_by_counting(one):
    human, model, frame, found = one
    system = frame[frame["annotator"] == "llm"]["system"].to_numpy()
    rate = {s: (model[system == s].mean(), human[system == s].mean()) for s in ("s", "t")}
    for s, (by_model, by_people) in rate.items():
        ours = found[(found["system"] == s) & found["system_b"].isna()]
        assert row(ours, "judge_rate", raters="model")["estimate"] == pytest.approx(by_model)
        assert row(ours, "judge_rate", raters="people")["estimate"] == pytest.approx(by_people)
        assert row(ours, "rate_change", by="model")["estimate"] == pytest.approx(by_model - by_people)
        other = human[system == s].mean(axis=0)
        assert row(ours, "rate_change", by="another person")["estimate"] == pytest.approx(other[0] - other[1])
        assert row(ours, "rate_change", by="model")["n"] == 200
    change = row(found, "contrast_change", by="model")
    assert (change["system"], change["system_b"], change["n"]) == ("s", "t", 400)
    assert change["estimate"] == pytest.approx(rate["s"][0] - rate["s"][1] - rate["t"][0] + rate["t"][1])


def test_a_model_that_marks_more_of_everything_leaves_differences_alone():
    rng = np.random.default_rng(2)
    _, human = marks(rng, n=800)
    system = (np.arange(800) * 20 // 800) % 2
    human[system == 1] = (rng.random((400, 2)) < 0.8).astype(float)  # the second system is marked far more often
    eager = np.where(rng.random(800) < 0.15, 1.0, human[:, 0])
    found = judges.evaluate(judged(human, eager), LABELS, seed=1, n_resamples=500)
    rates = found[(found["statistic"] == "rate_change") & (found["condition"] == "by=model")]
    assert (rates["ci_low"] > 0).all()
    verdict = found[found["statistic"] == "judge_conclusions"].set_index("condition")["estimate"]
    assert verdict["verdict=same"] == 1
    assert verdict.sum() == 1
    assert row(found, "judge_rank_correlation", coefficient="kendall")["estimate"] == 1


@pytest.mark.parametrize(
    ("people", "model", "verdict"),
    [(1, 1, "same"), (1, -1, "opposite"), (-1, 0, "people only"), (0, 1, "model only"), (0, 0, "neither")],
)
def test_conclusions_by_hand(people, model, verdict):
    rows = []
    for who, sign in (("people", people), ("model", model)):
        low, high = (0.1, 0.3) if sign > 0 else (-0.3, -0.1) if sign < 0 else (-0.1, 0.1)
        keys = {"corpus": "main", "method": "behavior", "label": "bad", "metric": "llm", "condition": f"raters={who}"}
        ends = {"estimate": (low + high) / 2, "ci_low": low, "ci_high": high}
        rows.append(keys | {"statistic": "judge_contrast", "system": "s", "system_b": "t"} | ends)
        for system, value in (("s", sign), ("t", 0)):
            rows.append(keys | {"statistic": "judge_rate", "system": system, "system_b": None, "estimate": value})
    found = judges.order(pd.DataFrame(rows))
    counts = found[found["statistic"] == "judge_conclusions"].set_index("condition")["estimate"]
    assert counts[f"verdict={verdict}"] == 1
    assert counts.sum() == 1
    tau = found[found["statistic"] == "judge_rank_correlation"].iloc[0]
    if people and model:
        assert tau["estimate"] == people * model
    else:
        assert (np.isnan(tau["estimate"]), tau["note"]) == (True, "fewer than two systems, or rates that are all equal")


def test_few_marks_have_no_bootstrap_interval():
    human, model = np.zeros((200, 2)), np.zeros(200)
    human[:10], model[:8] = 1, 1
    found = judges.evaluate(judged(human, model), LABELS, seed=1, n_resamples=300)
    for statistic in ("precision", "recall", "judge_alpha"):
        rows = found[found["statistic"] == statistic]
        assert set(rows["ci_kind"]) == {"not_estimable"}
        assert rows["note"].str.contains("fewer than 20").all()


def test_ratings_have_no_precision_but_all_the_rest():
    rng = np.random.default_rng(4)
    truth = rng.integers(1, 6, 200)
    human = np.clip(truth[:, None] + rng.integers(-1, 2, (200, 2)), 1, 5)
    found = judges.evaluate(judged(human, truth, "fine", "turn_rating"), LABELS, seed=1, n_resamples=300)
    assert set(found["statistic"]) == {
        "judge_alpha",
        "judge_rate",
        "judge_contrast",
        "rate_change",
        "contrast_change",
        "judge_rank_correlation",
        "judge_conclusions",
    }


def test_nothing_to_compare():
    frame = judged(np.ones((20, 2)), np.ones(20))
    assert judges.evaluate(frame[frame["annotator_kind"] == "human"], LABELS, seed=1).empty
    assert judges.evaluate(frame[frame["annotator"] != "pos1"], LABELS, seed=1).empty
    constant = judges.evaluate(frame, LABELS, seed=1, n_resamples=200)
    assert constant.loc[constant["estimate"].isna(), "note"].notna().all()


def test_interval_of_the_difference_covers():
    """A model that is one more person agrees as people do: 0 lies inside as often as promised."""
    n, inside = 150, []
    for i in range(n):
        rng = np.random.default_rng([5, i])
        base = rng.normal(size=(40, 1)) * 0.8
        score = (base + rng.normal(size=(40, 6))).ravel()
        noise = score[:, None] + 0.8 * rng.normal(size=(240, 3))
        values = (noise > 0.5).astype(float)
        frame = judged(values[:, :2], values[:, 2], n_dialogues=40)
        case = next(judges.cases(frame, LABELS))
        found = judges.agreement_with_people(case, seed=i, n_resamples=400)
        got = row(found, "judge_alpha", pair="difference", measurement="ordinal")
        inside.append(got["ci_low"] < 0 < got["ci_high"])
    assert np.mean(inside) > 0.95 - monte_carlo(0.95, n) - 0.02


def test_sentences_hold_whatever_was_found(one):
    found = one[-1]
    lk = look.Look({(label.method, label.id): label for label in LABELS}, {"method": {}, "group": {}, "system": {}})
    rows = schema.unfold(found, judge_report.KEYS)
    text = judge_report.verdicts(rows, lk, {"llm": "The model"})
    assert text.startswith("- **The model**: agrees with a person less well than people do on 1 of 1 labels")
    change = rows[(rows["statistic"] == "rate_change") & (rows["by"] == "model")]["estimate"].abs()
    assert f"all of them move by {change.mean():.3f} on average, with another person by" in text
    assert "On no label is a model's agreement with people as good" in judge_report.answer(rows, {"llm": "M"})
    few = rows.assign(ci_low=np.nan, ci_high=np.nan)
    assert "no label has enough marks" in judge_report.verdicts(few, lk, {"llm": "M"})
    assert "too few" in judge_report.answer(few, {"llm": "M"})
    assert len(judge_report.detection(rows, lk, {"llm": "M"})) == 1
    assert judge_report.consequences(rows, lk, {"llm": "M"})["Same"].notna().all()


@pytest.mark.data
def test_judges_of_gpt_abceval(raw_data):
    """Alpha of people as S. E. Finch et al. 2023 print it; every model is below it on every label."""
    study = params.load("gpt_abceval")
    annotations = build(study).frames["annotations"]
    labels = [label for label in study.label_list() if label.id in ("redundant", "self_contradiction")]
    found = judges.evaluate(
        annotations[annotations["label"].isin([x.id for x in labels])], labels, seed=1, n_resamples=500
    )
    people = found[found["condition"] == "measurement=ordinal;pair=people"].drop_duplicates("label").set_index("label")
    assert people["estimate"].round(3).to_dict() == {"self_contradiction": 0.407, "redundant": 0.551}
    gap = found[found["condition"] == "measurement=ordinal;pair=difference"]
    assert len(gap) == 3
    assert (gap["ci_high"] < 0).all()
    assert (gap["n_clusters"] == 108).all()
    human = annotations[annotations["annotator_kind"].eq("human") & annotations["label"].eq("redundant")]
    rate = human.groupby("system")["score"].mean()
    ours = found[
        found["condition"].eq("raters=people") & found["label"].eq("redundant") & found["statistic"].eq("judge_rate")
    ]
    assert ours.set_index("system")["estimate"].to_dict() == pytest.approx(rate.to_dict())
