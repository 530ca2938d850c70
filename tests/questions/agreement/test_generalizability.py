"""Variance components and reliability of system means: R's aov, REML, simulation; correlations between annotators."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import annotation_rows as frame
from fixtures.reference import agreement as reference
from scipy import stats

from judgebook.questions.agreement import generalizability as g
from judgebook.questions.agreement.analysis import analyse
from judgebook.questions.agreement.variance import decision_study
from judgebook.statistics.intervals import Sampling
from judgebook.study.labels import LABEL_SETS

LABELS = LABEL_SETS["abc_eval"]

# three systems, four dialogues each, three annotators: as in tests/reference/agreement.R
SCORES = [4, 5, 3, 3, 4, 3, 5, 5, 4, 4, 4, 2, 2, 4, 3, 1, 3, 2, 3, 3, 3, 2, 4, 1, 5, 4, 4, 4, 5, 5, 3, 5, 4, 5, 5, 3]


def rng():
    return np.random.default_rng(17)


def balanced(scores=SCORES, s=3, d=4, a=3):
    index = pd.MultiIndex.from_product([range(s), range(d), range(a)], names=["system", "dialogue", "annotator"])
    out = pd.DataFrame({"score": np.asarray(scores, dtype=float)}, index=index).reset_index()
    return out.assign(dialogue=out["system"].astype(str) + "_" + out["dialogue"].astype(str))


def simulate(r, s, d, a, sd_system=1.0, sd_annotator=0.5, sd_both=0.4, sd_dialogue=0.8, sd_residual=0.6, keep=1.0):
    out = balanced(np.zeros(s * d * a), s, d, a)
    dialogue = pd.factorize(out["dialogue"])[0]
    out["score"] = (
        r.normal(0, sd_system, s)[out["system"]]
        + r.normal(0, sd_annotator, a)[out["annotator"]]
        + r.normal(0, sd_both, (s, a))[out["system"], out["annotator"]]
        + r.normal(0, sd_dialogue, s * d)[dialogue]
        + r.normal(0, sd_residual, len(out))
    )
    return out[r.random(len(out)) < keep].reset_index(drop=True)


def test_balanced_components_equal_r():
    found = g.variance_components(balanced())
    assert list(found.raw) == ["system", "annotator", "system_annotator", "dialogue", "residual"]
    assert list(found.raw.values()) == pytest.approx(reference("components"), abs=1e-9)
    assert (found.n, found.n_systems, found.n_dialogues, found.n_annotators) == (36, 3, 12, 3)
    nested = g.variance_components(balanced(), annotators_known=False)
    assert list(nested.raw.values()) == pytest.approx(reference("components_nested"), abs=1e-9)
    assert nested.negative == ["dialogue"]
    assert nested.variance["dialogue"] == 0


@pytest.mark.evidence
def test_unbalanced_components_are_right_on_average():
    truth = {"system": 1.0, "annotator": 0.25, "system_annotator": 0.16, "dialogue": 0.64, "residual": 0.36}
    r = np.random.default_rng(2)
    found = [g.variance_components(simulate(r, s=8, d=12, a=10, keep=0.3)).raw for _ in range(300)]
    for facet, value in truth.items():
        estimates = np.array([f[facet] for f in found])
        assert estimates.mean() == pytest.approx(value, abs=4 * estimates.std() / np.sqrt(300))
    assert np.std([f["residual"] for f in found]) < 0.1


def test_reliability_by_hand():
    v = {"system": 0.5, "annotator": 0.2, "system_annotator": 0.1, "dialogue": 1.0, "residual": 0.6}
    found = g.generalizability(g.Components(v, 1, 1, 1, 1), n_dialogues=20, n_annotators=2)
    relative = 1.0 / 20 + 0.1 / 2 + 0.6 / 40
    assert found["generalizability"] == pytest.approx(0.5 / (0.5 + relative))
    assert found["dependability"] == pytest.approx(0.5 / (0.5 + relative + 0.2 / 2))


def test_intervals_of_a_balanced_nested_design_are_those_of_f():
    """With one judgement facet the pivot is an F statistic: Searle, Casella and McCulloch 1992, section 3.6."""
    scores = simulate(np.random.default_rng(8), s=6, d=10, a=2, sd_annotator=0, sd_both=0)
    found = g.variance_components(scores, annotators_known=False)
    drawn = g.draws(found, rng=np.random.default_rng(1), n_resamples=20_000)
    low, high = g.intervals(found, drawn, 10, 2)["generalizability"]
    means = scores.groupby(["system", "dialogue"])["score"].mean()
    of_systems = means.groupby("system").mean()
    f = 10 * of_systems.var() / (means - of_systems).pow(2).sum() * (6 * 9)
    exact = [1 - 1 / (f / quantile) for quantile in stats.f.ppf([0.975, 0.025], 5, 54)]
    assert [low, high] == pytest.approx(exact, abs=0.015)


@pytest.mark.parametrize(
    ("scores", "note"),
    [
        (balanced().query("system == 0"), "one system only"),
        (balanced().query("annotator == 0"), "no dialogue has two judgements"),
    ],
)
def test_what_cannot_be_estimated_has_a_reason(scores, note):
    found = g.variance_components(scores)
    assert found.raw == {}
    assert note in found.note
    assert np.isnan(g.generalizability(found, 10, 2)["generalizability"])


def test_poorer_designs_fall_back_to_fewer_facets():
    # annotators differ from dialogue to dialogue: nobody judged two
    scores = balanced().assign(annotator=range(36))
    assert list(g.variance_components(scores).raw) == ["system", "dialogue", "residual"]


def test_the_decision_study_has_the_components_of_means_of_dialogues():
    scores = simulate(np.random.default_rng(5), s=4, d=10, a=4, keep=0.7).astype({"system": str, "annotator": str})
    marks = scores.loc[scores.index.repeat(4)].reset_index(drop=True)
    marks["turn"] = marks.index % 4
    marks["score"] = (marks["turn"] < np.clip(np.round(2 + marks["score"]), 0, 4)).astype(float)
    rows = frame(marks.to_dict("records"), method="behavior", label="ignore")
    table = decision_study(rows, LABELS, n_dialogues=(5, 50), n_annotators=(1, 4))
    alone = g.variance_components(marks.groupby(["system", "dialogue", "annotator"])["score"].mean().reset_index())
    by = table["generalizability"].set_index(["n_dialogues", "annotators_per_dialogue"])["estimate"]
    for n, each in ((5, 1), (50, 4)):
        assert by[n, each] == pytest.approx(g.generalizability(alone, n, each)["generalizability"])
    variances = table["facet_variance"]["estimate"]
    assert variances.tolist() == pytest.approx(list(alone.variance.values()))
    pair = [{"dialogue": "x", "dialogue_b": "y", "system_b": "b", "annotator": "A", "score": 1.0}]
    assert decision_study(frame(pair, method="comparative", label="quality"), LABELS) == {}


def test_the_decision_study_without_fillers_is_that_of_data_from_which_they_were_dropped():
    scores = simulate(np.random.default_rng(6), s=6, d=10, a=4).astype({"system": str, "annotator": str})
    filler = scores["system"].isin(["0", "5"])
    scores["score"] = np.clip(3 + scores["score"] - 4 * filler, 1, 5).round()
    rows = frame(scores.to_dict("records"), method="dialogue_likert", label="quality")
    given = {"sampling": Sampling(50, 0.95, 1), "first": None, "people_resamples": 10}
    said, dropped = (analyse(r, LABELS, unranked=[None, "0", "5"], **given) for r in (rows, rows[~filler]))
    for statistic in ("generalizability", "dependability", "facet_variance"):
        pd.testing.assert_frame_equal(said[statistic], dropped[statistic])
    every = analyse(rows, LABELS, **given)
    assert every["generalizability"]["estimate"].iloc[0] > said["generalizability"]["estimate"].iloc[0]
    pd.testing.assert_frame_equal(said["alpha"], every["alpha"])


@pytest.mark.parametrize("people", [2, 3, 5])
def test_error_variances_are_those_of_all_draws_of_annotators(people):
    """Two of so many annotators judge each dialogue: all weights of theirs in a system's mean."""
    v = {"system": 0.0, "annotator": 0.6, "system_annotator": 0.3, "dialogue": 0.5, "residual": 0.4}
    n_dialogues, each = 2, 2
    one = [np.isin(range(people), chosen) / each for chosen in combinations(range(people), each)]
    weights = np.array([np.mean(draw, axis=0) for draw in product(one, repeat=n_dialogues)])
    own = np.square(weights).sum(axis=1).mean()
    apart = np.square(weights[:, None] - weights).sum(axis=2).mean() / 2
    rest = 0.3 * own + 0.5 / n_dialogues + 0.4 / (n_dialogues * each)
    expected = 0.6 * apart + rest, 0.6 * own + rest
    assert g.error_variances(v, n_dialogues, each, people) == pytest.approx(expected)
    if people == each:
        assert g.error_variances(v, n_dialogues, each) == pytest.approx(expected)
