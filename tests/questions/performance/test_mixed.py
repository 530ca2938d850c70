"""Partially pooled means and severity: known truth, marks, labels without a model."""

from itertools import product

import numpy as np
import pytest
from fixtures.made_annotations import comparisons, monte_carlo, ratings
from scipy.special import expit

from judgebook.annotations import mixed_models
from judgebook.questions.performance import mixed


def rated(rng, systems=(0.0, 0.0, 0.3, 0.6), n=30, people=7, sd=(0.4, 0.3, 0.6, 0.7), label="quality"):
    """Each dialogue by two of `people`; sd of annotators, annotators in systems, dialogues, residual. Sessions have a
    dialogue of every system."""
    a, both = sd[0] * rng.normal(size=people), sd[1] * rng.normal(size=(len(systems), people))
    rows = []
    for s, level in enumerate(systems):
        for d in range(n):
            own = sd[2] * rng.normal()
            for j in rng.choice(people, 2, replace=False):
                score = 3 + level + a[j] + both[s, j] + own + sd[3] * rng.normal()
                rows.append((f"d{s}{d}", "abcdefgh"[s], f"s{d}", score, f"A{j}"))
    out = ratings([r[:4] for r in rows], label=label).assign(annotator=[r[4] for r in rows])
    return out.assign(dialogue_b=None, system_b=None, work_unit="u", source_row=np.arange(len(rows)))


def test_means_and_severity_are_those_of_the_model():
    frame = rated(np.random.default_rng(1))
    results = mixed.pooled(frame)
    found, model = results["pooled_mean"].set_index("system"), mixed_models.fit(frame, "linear", means=True)
    assert found["estimate"].to_dict() == pytest.approx(dict(zip("abcd", model.means, strict=True)))
    half = 2.446912 * model.mean_errors  # t with 6 degrees of freedom
    assert (found["ci_high"] - found["estimate"]).to_numpy() == pytest.approx(half, rel=1e-5)
    severity = results["severity"].set_index("summary")["estimate"]
    assert severity["sd"] == pytest.approx(model.sd["annotator"])
    assert [severity["lowest"], severity["highest"]] == pytest.approx(
        [model.effects["annotator"].min(), model.effects["annotator"].max()]
    )


def test_rates_are_probabilities_over_annotators_and_dialogues():
    frame = rated(np.random.default_rng(3), n=60)
    frame["score"] = (frame["score"] > 3.6).astype(float)
    found = mixed.pooled(frame)["pooled_mean"].set_index("system")
    assert set(found["model"]) == {"logistic"}
    plain = frame.groupby("system")["score"].mean()
    assert found["estimate"].to_dict() == pytest.approx(plain.to_dict(), abs=0.08)
    assert ((found["ci_low"] > 0) & (found["ci_high"] < 1)).all()
    assert ((found["ci_low"] < plain) & (plain < found["ci_high"])).all()


def test_labels_without_a_model_say_why_and_comparisons_are_left_out():
    few = rated(np.random.default_rng(4), people=3)
    results = mixed.pooled(few)
    assert results["pooled_mean"]["note"].tolist() == ["3 annotators, fewer than 5"]
    assert results["severity"].empty
    assert not mixed.pooled(comparisons([("a", "b", 1)]).assign(dialogue_b="x"))


@pytest.mark.evidence
def test_intervals_cover_the_true_means():
    """Seven annotators, four systems, whose effects are drawn anew: plug-in errors with normal quantiles cover 87%."""
    hits, n = [], 200
    for i in range(n):
        rng = np.random.default_rng([5, i])
        truth = 0.3 * rng.normal(size=4)
        found = mixed.pooled(rated(rng, systems=truth))["pooled_mean"]
        hits.append((found["ci_low"] <= 3 + truth) & (3 + truth <= found["ci_high"]))
    assert np.mean(hits) > 0.95 - monte_carlo(0.95, n)


def marked(rng, rate, *, spread=2.0, people=8, dialogues=80, each=2):
    """Marks given once by each of two of `people`, who differ little; dialogues differ by `spread` on the logit scale.
    Four systems with the same rate."""
    logits = np.linspace(-12, 4, 3200)
    level = np.interp(rate, mixed_models.marginal(logits, np.hypot(spread, 0.5)), logits)
    strict, rows = 0.5 * rng.normal(size=people), []
    for s, d in product(range(4), range(dialogues)):
        own = level + spread * rng.normal()
        chosen = rng.permutation(people)[:each]
        rows += [
            (f"d{s}-{d}", "abcd"[s], f"s{d}", float(rng.random() < expit(own + strict[j])), f"A{j}") for j in chosen
        ]
    out = ratings([r[:4] for r in rows]).assign(annotator=[r[4] for r in rows])
    return out.assign(dialogue_b=None, system_b=None, work_unit="u", source_row=np.arange(len(rows)))


class TestMarksGivenOnce:
    def test_have_no_severity(self):
        """With dialogues in the model, their standard deviation runs away, and rates are several times the raw ones."""
        results = mixed.pooled(marked(np.random.default_rng(1), 0.06))
        assert set(results["pooled_mean"]["model"]) == {"logistic"}
        assert results["severity"].empty

    def test_are_refused_with_few_dialogues_that_have_one(self):
        """Both marks of 14 dialogues are 28 marks, but say no more than 14 do."""
        frame = marked(np.random.default_rng(2), 0.1).sort_values("dialogue", ignore_index=True)
        first = frame["dialogue"].drop_duplicates().iloc[::20].tolist()[:14]
        frame["score"] = frame["dialogue"].isin(first).astype(float)
        found = mixed.pooled(frame)["pooled_mean"]
        assert found["note"].tolist() == ["14 dialogues with a mark of the rarer kind, fewer than 25"]
        turned = mixed.pooled(frame.assign(score=1 - frame["score"]))["pooled_mean"]
        assert turned["note"].tolist() == found["note"].tolist()

    @pytest.mark.evidence
    def test_rates_are_unbiased_and_covered(self):
        n, rate, rates, hits = 100, 0.05, [], []
        for i in range(n):
            frame = marked(np.random.default_rng([6, i]), rate, spread=3.0, each=3)
            found = mixed.pooled(frame)["pooled_mean"].dropna(subset="estimate")
            rates.extend(found["estimate"])
            hits.extend((found["ci_low"] <= rate) & (rate <= found["ci_high"]))
        assert np.mean(rates) == pytest.approx(rate, rel=0.07)
        assert len(hits) > 3.2 * n  # a tenth have fewer than 25 dialogues with a mark
        assert np.mean(hits) > 0.95 - monte_carlo(0.95, n)
