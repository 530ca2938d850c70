"""A judge against one human label per item: by counting, against libraries, and by simulation."""

import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import monte_carlo
from fixtures.made_judges import judged
from pingouin import intraclass_corr
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa

from judgebook.questions.judges import agreement, analysis
from judgebook.questions.judges.items import judged_items
from judgebook.statistics.intervals import Sampling
from judgebook.study.labels import Label

FEW = Sampling(200, 0.95, 1)
BAD = Label("bad", "behavior", "Bad", (0, 1), direction=-1)
RANKED = Label("fine", "dialogue_rating", "Fine", (1, 5))
KINDS = Label("kind", "dialogue_rating", "Kind", (1, 3), level="nominal", categories=("a", "b", "c"), direction=0)
PARTS = Label("part", "dialogue_rating", "Part", (0, 1), level="interval", integer=False)


def drawn(rng, n, prevalence=0.4, sensitivity=0.8, specificity=0.9):
    human = (rng.random(n) < prevalence).astype(float)
    right = rng.random(n) < np.where(human == 1, sensitivity, specificity)
    return human, np.where(right, human, 1 - human)


def analysed(human, model, label=BAD, sampling=FEW, **columns):
    frame = judged(human[:, None], model, label=label.id, method=label.method, n_dialogues=len(human))
    frame = frame.assign(**columns)
    if label.method == "dialogue_rating":
        frame = frame.assign(turn=pd.array([pd.NA] * len(frame), dtype="Int32"))
    return analysis.analyse(frame, [label], sampling=sampling)


@pytest.fixture(scope="module")
def marks():
    human, model = drawn(np.random.default_rng(4), 240)
    return human, model, analysed(human, model)


def test_agreement_with_gold_by_counting(marks):
    human, model, found = marks
    for measure, of in (("accuracy", human >= 0), ("sensitivity", human == 1), ("specificity", human == 0)):
        row = found.select("gold_agreement", measure=measure).squeeze()
        hits, n = np.sum((human == model)[of]), np.sum(of)
        assert (row["estimate"], row["n"], row["ci_kind"]) == (pytest.approx(hits / n), n, "wilson")
        wilson = stats.binomtest(int(hits), int(n)).proportion_ci(method="wilson")
        assert (row["ci_low"], row["ci_high"]) == pytest.approx(tuple(wilson))


def table(first, second):
    kinds = np.unique(np.r_[first, second])
    return np.array([[np.sum((first == a) & (second == b)) for b in kinds] for a in kinds])


@pytest.mark.parametrize("label", [BAD, RANKED, KINDS], ids=lambda label: label.id)
def test_kappa_is_that_of_statsmodels(label):
    rng = np.random.default_rng(5)
    low, high = label.scale
    human = rng.integers(low, high + 1, 90).astype(float)
    model = np.where(rng.random(90) < 0.6, human, rng.integers(low, high + 1, 90)).astype(float)
    whole = analysed(human, model, label)["gold_kappa"].set_index("weights")
    for weights, wt in (("none", None), ("quadratic", "quadratic")):
        if weights in whole.index:
            expected = cohens_kappa(table(human, model), wt=wt, return_results=False)
            assert whole.loc[weights, "estimate"] == pytest.approx(expected), weights
            assert whole.loc[weights, "ci_low"] < expected < whole.loc[weights, "ci_high"]
    assert list(whole.index) == (["none", "quadratic"] if label is RANKED else ["none"])


@pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame.dropna is deprecated")  # in pingouin 0.7
def test_scores_on_a_scale_are_compared_as_scipy_and_pingouin_do():
    rng = np.random.default_rng(9)
    human = rng.integers(0, 5, 120).astype(float)
    model = human + (rng.random(120) < 0.25) - (rng.random(120) < 0.1)
    found = analysed(human, model, Label("fine", "dialogue_rating", "Fine", (-1, 5)))
    long = pd.DataFrame({"item": [*range(120)] * 2, "who": np.repeat(["h", "m"], 120), "x": np.r_[human, model]})
    expected = {
        ("gold_icc", "", ""): intraclass_corr(long, "item", "who", "x").set_index("Type").loc["ICC(A,1)", "ICC"],
        ("gold_correlation", "coefficient", "spearman"): stats.spearmanr(human, model).statistic,
        ("gold_correlation", "coefficient", "pearson"): stats.pearsonr(human, model).statistic,
        ("gold_error", "measure", "absolute"): np.abs(model - human).mean(),
        ("gold_error", "measure", "bias"): (model - human).mean(),
    }
    for (statistic, key, kind), value in expected.items():
        row = found.select(statistic, **({key: kind} if key else {})).squeeze()
        assert (row["estimate"], row["ci_low"] < value < row["ci_high"]) == (pytest.approx(value), True), kind
        assert (row["ci_kind"], row["n"], row["resample_unit"]) == ("bca", 120, "dialogue")


def test_where_a_side_is_constant_or_labels_have_two_values_nothing_is_made_up(marks):
    human, same = np.random.default_rng(9).integers(1, 6, 60).astype(float), np.full(60, 3.0)
    found, flat = analysed(human, same, RANKED), analysed(same, same, RANKED)
    assert found["gold_correlation"]["estimate"].isna().all()
    assert set(found["gold_correlation"]["note"]) == {"one of the two sides is constant"}
    assert found.select("gold_error", measure="bias")["estimate"].item() == pytest.approx(3 - human.mean())
    assert set(flat["gold_icc"]["note"]) == {"only one value occurs"}
    assert not {"gold_correlation", "gold_icc", "gold_error"} & marks[2].keys()


def test_decimals_have_a_weighted_kappa_only():
    rng = np.random.default_rng(6)
    human = rng.random(60).round(2)
    found = analysed(human, (human + rng.normal(0, 0.1, 60)).clip(0, 1), PARTS)
    assert "gold_agreement" not in found
    assert set(found["gold_kappa"]["weights"]) == {"quadratic"}


def test_items_of_several_systems_that_share_a_prompt_are_one_cluster():
    human, model = drawn(np.random.default_rng(7), 200)
    shared = [f"p{i % 200 // 2}" for i in range(400)]
    alone, together = analysed(human, model), analysed(human, model, context=shared)
    rows = [f["gold_agreement"].query("measure == 'accuracy'").squeeze() for f in (alone, together)]
    assert [(r["resample_unit"], r["n_clusters"]) for r in rows] == [("dialogue", 200), ("context", 100)]
    assert rows[0]["estimate"] == rows[1]["estimate"]


def test_rates_are_compared_with_gold_and_with_nobody_else(marks):
    human, model, found = marks
    assert set(found["rate_change"]["by"]) == {"model"}
    first = np.arange(240) % 2 == 0
    assert found.select("rate_change", system="s")["estimate"].item() == pytest.approx((model - human)[first].mean())
    assert not {"judge_alpha"} & found.keys()
    assert "3 are needed" in analysed(human, model, annotator_known=True)["winning_rate"]["note"].item()


def test_with_two_people_an_item_nothing_is_gold(marks):
    human, model, _ = marks
    frame = judged(np.stack([human, human], axis=1), model, n_dialogues=240)
    second = frame[(frame["annotator"] != "pos1") | (frame["dialogue"] < "d100")]
    assert "gold_kappa" not in analysis.analyse(second, [BAD], sampling=FEW)
    assert next(judged_items(second, [BAD])).human.shape[1] == 2


def test_where_a_value_hardly_occurs_there_is_a_reason():
    human, model = np.zeros(60), np.zeros(60)
    human[:3], model[1:4] = 1, 1
    found = analysed(human, model)
    kappa = found["gold_kappa"].squeeze()
    assert kappa["estimate"] == pytest.approx(cohens_kappa(table(human, model), return_results=False))
    assert "3 items of the rarer value" in kappa["note"]
    none = analysed(np.zeros(60), model)
    row = none.select("gold_agreement", measure="sensitivity").squeeze()
    assert np.isnan(row["estimate"])
    assert "nothing to take a share of" in row["note"]


@pytest.mark.evidence
@pytest.mark.parametrize(("n", "prevalence"), [(40, 0.5), (60, 0.15), (200, 0.05), (200, 0.9)])
def test_kappa_covers(n, prevalence):
    """Few items and rare values: the true kappa of a judge with known errors."""
    rng = np.random.default_rng(int(1000 * prevalence) + n)
    marked = prevalence * 0.8 + (1 - prevalence) * 0.1
    by_chance = prevalence * marked + (1 - prevalence) * (1 - marked)
    true = (prevalence * 0.8 + (1 - prevalence) * 0.9 - by_chance) / (1 - by_chance)
    inside = []
    for _ in range(200):
        human, model = drawn(rng, n, prevalence)
        head = dict.fromkeys(("corpus", "method", "label", "metric"), "x")
        data = agreement.AgainstGold(head, BAD, human, model, np.arange(n), "dialogue")
        row = next(r for r in agreement.against_gold(data, sampling=FEW) if "weights" in r)
        if np.isfinite(row["ci_low"]):
            inside.append(row["ci_low"] <= true <= row["ci_high"])
    assert len(inside) > 80
    assert np.mean(inside) > 0.95 - monte_carlo(0.95, len(inside))


def test_choices_with_one_vote_do_not_depend_on_which_side_is_stored():
    rng = np.random.default_rng(8)
    votes = rng.choice([-1.0, 0.0, 1.0], 120)
    judge = np.where(rng.random(120) < 0.6, votes, rng.choice([-1.0, 0.0, 1.0], 120))
    head = dict.fromkeys(("corpus", "method", "label", "metric"), "x")
    label = Label("better", "pairwise_dialogue", "Better", (-1, 1))
    turned = np.where(rng.random(120) < 0.5, -1.0, 1.0)
    found = []
    for sign in (np.ones(120), turned):
        data = agreement.AgainstGold(head, label, votes * sign, judge * sign, np.arange(120), "pair", paired=True)
        found.append({r.get("measure", "kappa"): r["estimate"] for r in agreement.against_gold(data, sampling=FEW)})
    assert found[0] == pytest.approx(found[1])
    both = table(np.r_[votes, -votes], np.r_[judge, -judge])
    assert found[0]["kappa"] == pytest.approx(cohens_kappa(both, return_results=False))
