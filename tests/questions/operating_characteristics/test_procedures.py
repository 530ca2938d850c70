"""Procedures of other notebooks, each with a known truth; and the table of all primary procedures."""

import numpy as np
import pytest
from fixtures.made_annotations import metric_study, monte_carlo
from fixtures.placebo_systems import rng
from scipy import stats

from judgebook.questions.judges.agreement import judge_alpha
from judgebook.questions.judges.items import JudgedItems
from judgebook.questions.judges.replacement import replacement
from judgebook.questions.metrics import ceiling, correlations
from judgebook.questions.metrics.items import human_means, join, scored_items
from judgebook.questions.operating_characteristics import other_procedures, procedures
from judgebook.questions.operating_characteristics.monte_carlo import SimulationPlan
from judgebook.statistics.intervals import Sampling
from judgebook.study.labels import Label
from judgebook.study.results import collect

PLAN = SimulationPlan(n_runs=300, n_resamples=300)


def by(rows, of):
    (row,) = (r for r in rows if r["statistic"] == "interval_coverage" and r["of"] == of)
    return row


def judged(r, n=60, turns=8, bias=0.15):
    """Marks of two people and a judge, who marks more."""
    truth = r.random((n, turns)) < np.repeat(r.beta(2, 4, n), turns).reshape(n, turns)
    people = [np.where(r.random((n, turns)) < 0.85, truth, ~truth) for _ in range(2)]
    judge = truth | (r.random((n, turns)) < bias)
    human = np.stack([p.ravel() for p in people], axis=1).astype(float)
    label = Label("bad", "behavior", "", (0, 1), "nominal")
    key = {"corpus": "main", "method": "behavior", "label": "bad", "metric": "model"}
    systems = np.repeat(["a", "b"], n // 2)
    return JudgedItems(key, label, human, judge.ravel().astype(float), np.repeat(np.arange(n), turns), systems)


def test_intervals_about_judges_hold_the_values_that_notebook_13_reports(monkeypatch):
    items, seen = judged(rng(1)), {}
    keep = other_procedures.coverage_rows

    def spy(intervals, truth, base, **options):
        seen[base["of"]] = np.atleast_1d(truth)
        return keep(intervals, truth, base, **options)

    monkeypatch.setattr(other_procedures, "coverage_rows", spy)
    rows = list(other_procedures.judge_coverage(items, PLAN))
    sampling = Sampling(n_resamples=200, confidence=0.95, seed=1)
    difference = next(r for r in judge_alpha(items, sampling=sampling) if r["pair"] == "difference")
    assert seen["judge_alpha"] == pytest.approx([difference["estimate"]])
    changes = collect(replacement(items, sampling=sampling)).select("rate_change", by="model")["estimate"]
    assert sorted(set(seen["rate_change"].round(12))) == pytest.approx(sorted(changes))
    for of in ("judge_alpha", "rate_change"):
        assert by(rows, of)["ci_high"] > 0.92
        assert by(rows, of)["n_undefined"] == 0


@pytest.mark.parametrize(
    "n_runs", [pytest.param(30, marks=pytest.mark.verify), pytest.param(300, marks=pytest.mark.evidence)]
)
def test_judge_assisted_intervals_cover_and_are_narrower(n_runs):
    """The judge adds marks at random to the truth, which people see 85% of."""
    plan = SimulationPlan(n_runs=n_runs, n_resamples=300)
    rows = list(other_procedures.assisted_coverage(judged(rng(5)), plan))
    assert {r["of"] for r in rows} == {"assisted_mean", "assisted_difference"}
    for of in ("assisted_mean", "assisted_difference"):
        cover, width = (
            {r["interval"]: r["estimate"] for r in rows if r["of"] == of and r["statistic"] == f"interval_{what}"}
            for what in ("coverage", "width")
        )
        assert cover["judge_assisted"] == pytest.approx(0.95, abs=monte_carlo(0.95, n_runs))
        assert width["judge_assisted"] < 0.95 * width["people_only"]


def test_few_marks_of_a_judge_have_no_interval():
    items = judged(rng(2), n=10, turns=4, bias=0.0)
    rare = JudgedItems(items.key, items.label, items.human * 0, items.judge, items.dialogue, items.system)
    row = by(other_procedures.judge_coverage(rare, PLAN), "judge_alpha")
    assert (row["n"], row["n_undefined"]) == (0, 300)


@pytest.mark.parametrize(
    ("many", "kind"), [(39, "cluster_robust"), pytest.param(None, "bca", marks=pytest.mark.evidence)]
)
def test_intervals_about_metrics_are_those_of_notebook_09_and_cover_the_values_of_the_study(monkeypatch, many, kind):
    """Of many contexts, items are ranked once in each sample, not once in each resample."""
    if many:
        monkeypatch.setattr(correlations, "MANY_CLUSTERS", many)
    annotations, scores = metric_study(rng(3), n_contexts=40)
    rows, scores = annotations[annotations["label"] == "quality"], scores[scores["metric"] == "m"]
    joined = join(human_means(rows), scores)
    (scored,), ((_, both),) = scored_items(joined), ceiling.with_rest(rows, scores)
    used = collect(correlations.correlations(joined, "spearman", sampling=Sampling(200, 0.95, 1)))["correlation"]
    found = list(other_procedures.metric_coverage(scored, joined, both, SimulationPlan(n_runs=200, n_resamples=300)))
    assert set(used["ci_kind"]) == {by(found, "rho")["interval"]} == {kind}
    for of in ("rho", "within_context", "replaceability"):
        row = by(found, of)
        assert row["estimate"] > 0.95 - monte_carlo(0.05, 200) - 0.02  # 40 contexts: BCa is a little narrow
        assert row["sample_size"] == 40


# --- the table --------------------------------------------------------------------------------------------------------


def size(estimate, low, high, test="contrast", people="fixed", label="x", n=2000):
    row = {"statistic": "null_rejection", "level": "dialogue", "method": "dialogue_likert", "label": label}
    row |= {"test": test, "alpha": 0.05, "scenario": "world", "people": people, "n_dialogues": 58, "n_annotators": 7}
    return row | {"estimate": estimate, "ci_low": low, "ci_high": high, "ci_kind": "exact", "n": n, "n_undefined": 0}


def coverage(estimate, n=2000, **keys):
    low, high = stats.binomtest(round(estimate * n), n).proportion_ci()
    row = {"statistic": "interval_coverage", "level": "dialogue", "method": "dialogue_likert", "label": "x"}
    row |= {"estimate": estimate, "ci_low": low, "ci_high": high, "ci_kind": "exact", "n": n, "n_undefined": 0}
    return row | {"sample": "dialogue", "sample_size": 58} | keys


@pytest.fixture(scope="module")
def table():
    rows = [size(0.05, 0.041, 0.06), size(0.06, 0.05, 0.071, label="y"), size(0.15, 0.13, 0.17, people="sampled")]
    means = {"of": "mean", "interval": "t", "scenario": "world", "people": "sampled"}
    rows += [coverage(0.7, **means), coverage(0.7, **means | {"interval": "two_way"})]
    rows += [coverage(0.93, of="alpha", interval="policy"), coverage(0.5, of="alpha", interval="policy", sample_size=9)]
    rows += [coverage(0.95, of="contrast", interval="simultaneous", scenario="world", people="sampled")]
    return collect(rows)


def test_a_procedure_is_kept_unless_it_is_shown_to_be_off_on_the_wrong_side(table):
    found = procedures.primary_procedures(table, 0.95).set_index(["procedure", "people"])
    tests = found.loc["Pairs of equal systems: any decided"]
    # labels are added up: 220 of 4,000 runs
    assert tests.loc["the same", ["estimate", "n"]].tolist() == pytest.approx([0.055, 4000])
    assert tests["kept"].to_dict() == {"the same": True, "a sample": False}
    assert tests["measure"].tolist() == ["size", "size"]
    means = ["Mean of a system: over dialogues", "Mean of a system: over dialogues and annotators"]
    assert found.loc[[(name, "a sample") for name in means], "claimed"].tolist() == [False, True]
    alpha = found.loc[("Alpha: BCa, bound or profile", "as observed")]
    assert (alpha["kept"], alpha["n_dialogues"], alpha["measure"]) == (False, 58, "coverage")
    assert found.loc[("Differences of systems: all intervals at once", "a sample"), ["measure", "kept"]].tolist() == [
        "coverage", True
    ]  # fmt: skip
