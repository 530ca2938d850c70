"""Variance components and reliability of system means: R's aov, REML, simulation; correlations between annotators."""

import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import annotation_rows as frame
from fixtures.reference import REFERENCE
from scipy import stats

from judgebook.questions.agreement import generalizability as g
from judgebook.questions.agreement.variance import decision_study
from judgebook.study.labels import LABEL_SETS
from judgebook.study.results import fold

LABELS = LABEL_SETS["abc_eval"]

# three systems, four dialogues each, three annotators: as in tests/reference/agreement.R
SCORES = [4, 5, 3, 3, 4, 3, 5, 5, 4, 4, 4, 2, 2, 4, 3, 1, 3, 2, 3, 3, 3, 2, 4, 1, 5, 4, 4, 4, 5, 5, 3, 5, 4, 5, 5, 3]


def reference(name):
    lines = (REFERENCE / "agreement.txt").read_text().splitlines()
    return next([float(v) for v in line.split()[1:]] for line in lines if line.split()[0] == name)


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


def test_balanced_nested_components_equal_reml():
    import statsmodels.api as sm

    scores = simulate(np.random.default_rng(1), s=6, d=8, a=3, sd_annotator=0, sd_both=0)
    model = sm.MixedLM.from_formula(
        "score ~ 1", scores, groups="system", re_formula="1", vc_formula={"dialogue": "0 + C(dialogue)"}
    )
    fit = model.fit(reml=True)
    found = g.variance_components(scores, annotators_known=False).raw
    # where all estimates are positive, REML of a balanced design is the analysis of variance
    assert min(found.values()) > 0
    assert found["system"] == pytest.approx(fit.cov_re.iloc[0, 0], rel=1e-3)
    assert found["dialogue"] == pytest.approx(fit.vcomp[0], rel=1e-3)
    assert found["residual"] == pytest.approx(fit.scale, rel=1e-3)


@pytest.mark.evidence
def test_unbalanced_components_are_right_on_average():
    truth = {"system": 1.0, "annotator": 0.25, "system_annotator": 0.16, "dialogue": 0.64, "residual": 0.36}
    r = np.random.default_rng(2)
    found = [g.variance_components(simulate(r, s=8, d=12, a=10, keep=0.3)).raw for _ in range(300)]
    for facet, value in truth.items():
        estimates = np.array([f[facet] for f in found])
        assert estimates.mean() == pytest.approx(value, abs=4 * estimates.std() / np.sqrt(300))
    assert np.std([f["residual"] for f in found]) < 0.1


def test_shift_changes_nothing_and_scale_squares():
    scores = simulate(np.random.default_rng(3), s=4, d=6, a=5, keep=0.6)
    found = g.variance_components(scores).raw
    moved = g.variance_components(scores.assign(score=10 * scores["score"] + 1000)).raw
    assert {f: 100 * v for f, v in found.items()} == pytest.approx(moved, rel=1e-6)


def test_reliability_by_hand():
    v = {"system": 0.5, "annotator": 0.2, "system_annotator": 0.1, "dialogue": 1.0, "residual": 0.6}
    found = g.generalizability(g.Components(v, 1, 1, 1, 1), n_dialogues=20, n_annotators=2)
    relative = 1.0 / 20 + 0.1 / 2 + 0.6 / 40
    assert found["generalizability"] == pytest.approx(0.5 / (0.5 + relative))
    assert found["dependability"] == pytest.approx(0.5 / (0.5 + relative + 0.2 / 2))


def test_reliability_is_the_squared_correlation_with_the_truth():
    # many systems, so that the correlation of their means with their true values can be seen
    r = np.random.default_rng(4)
    n_systems, n_dialogues, n_annotators = 4000, 5, 2
    v = {"system": 0.5, "dialogue": 1.0, "residual": 0.8}
    truth = r.normal(0, np.sqrt(v["system"]), n_systems)
    dialogues = truth[:, None] + r.normal(0, 1.0, (n_systems, n_dialogues))
    judged = dialogues[:, :, None] + r.normal(0, np.sqrt(v["residual"]), (n_systems, n_dialogues, n_annotators))
    expected = g.generalizability(g.Components(v, 1, 1, 1, 1), n_dialogues, n_annotators)["generalizability"]
    assert np.corrcoef(judged.mean(axis=(1, 2)), truth)[0, 1] ** 2 == pytest.approx(expected, abs=0.03)


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


def test_intervals_without_evidence_reach_from_none_to_much():
    """Equal systems, four of them: an estimate of 0 is not a finding."""
    scores = simulate(np.random.default_rng(10), s=4, d=27, a=2, sd_system=0, sd_annotator=0, sd_both=0)
    centred = scores["score"] - 0.6 * scores.groupby("system")["score"].transform("mean")
    found = g.variance_components(scores.assign(score=centred), annotators_known=False)
    assert found.variance["system"] == 0
    drawn = g.draws(found, rng=np.random.default_rng(1))
    low, high = g.intervals(found, drawn, 100, 2)["generalizability"]
    assert low == 0
    assert high > 0.3


@pytest.mark.evidence
@pytest.mark.parametrize(
    ("size", "known", "least"),
    [((4, 27, 2, 1.0), False, 0.92), ((4, 58, 7, 0.2), True, 0.85), ((10, 40, 20, 0.1), True, 0.85)],
)
def test_intervals_cover_the_true_coefficients(size, known, least):
    s, d, a, keep = size
    sd = {"sd_system": 0.3, "sd_dialogue": 0.8, "sd_residual": 0.6, "keep": keep}
    sd |= {"sd_annotator": 0.5, "sd_both": 0.3} if known else {"sd_annotator": 0.0, "sd_both": 0.0}
    v = {"system": 0.09, "annotator": sd["sd_annotator"] ** 2, "system_annotator": sd["sd_both"] ** 2}
    v |= {"dialogue": 0.64, "residual": 0.36}
    truth, hits = g.generalizability(g.Components(v, 1, 1, 1, 1), 100, 2), []
    for i in range(200):
        found = g.variance_components(simulate(np.random.default_rng([20, i]), s, d, a, **sd), annotators_known=known)
        ends = g.intervals(found, g.draws(found, rng=np.random.default_rng(i), n_resamples=400), 100, 2)
        hits.append([ends[name][0] <= value <= ends[name][1] for name, value in truth.items()])
    assert (np.mean(hits, axis=0) >= least).all()


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


def test_decision_study_rows_are_valid_and_grow_with_the_design():
    scores = simulate(np.random.default_rng(5), s=4, d=10, a=4, keep=0.7)
    rows = [
        {
            "system": f"s{x.system}",
            "dialogue": x.dialogue,
            "annotator": f"A{x.annotator}",
            "turn": t,
            "score": float(mark),
        }
        for x in scores.itertuples()
        for t, mark in enumerate(np.arange(4) < np.clip(round(2 + x.score), 0, 4))
    ]
    table = decision_study(
        frame(rows, method="behavior", label="ignore"), LABELS, n_dialogues=(5, 50), n_annotators=(1, 4)
    )
    stored = fold(table, study="s", notebook="n")
    assert set(table) == {"facet_variance", "generalizability", "dependability"}
    by = table["generalizability"].set_index(["n_dialogues", "annotators_per_dialogue"])["estimate"]
    assert by[5, 1] < by[50, 1] < by[50, 4]
    assert by[5, 1] < by[5, 4]
    assert stored["note"].str.startswith("4 systems").all()
    assert (stored["n_clusters"] == 40).all()
    means = pd.DataFrame(rows).groupby(["system", "dialogue", "annotator"])["score"].mean().reset_index()
    alone = g.variance_components(means)
    assert by[50, 4] == pytest.approx(g.generalizability(alone, 50, 4)["generalizability"])
    variances = table["facet_variance"]["estimate"]
    assert variances.tolist() == pytest.approx(list(alone.variance.values()))


def test_every_label_is_by_the_kind_of_annotators_it_was_judged_by():
    """From the second label on, the kind of interval of the label before stood in its place."""
    scores = simulate(np.random.default_rng(5), s=4, d=6, a=3).astype({"annotator": str, "system": str})
    rows = [row | {"label": label} for label in ("quality", "engaging") for row in scores.to_dict("records")]
    table = decision_study(frame(rows, method="dialogue_likert"), LABELS)
    kinds = {name: set(rows[["label", "kind"]].itertuples(index=False, name=None)) for name, rows in table.items()}
    both = {("quality", "human"), ("engaging", "human")}
    assert kinds == dict.fromkeys(("facet_variance", *g.COEFFICIENTS), both)


def test_decision_study_leaves_comparisons_out():
    rows = [{"dialogue": "x", "dialogue_b": "y", "system_b": "b", "annotator": "A", "score": 1.0}]
    assert decision_study(frame(rows, method="comparative", label="quality"), LABELS) == {}


@pytest.mark.parametrize("people", [2, 3, 8])
def test_error_variances_are_those_of_drawn_annotators(people):
    """Means of two systems over many studies in which two of so many annotators judge each dialogue."""
    v = {"system": 0.0, "annotator": 0.6, "system_annotator": 0.3, "dialogue": 0.5, "residual": 0.4}
    r, n_studies, n_dialogues, each = np.random.default_rng(6), 8000, 4, 2
    severity = r.normal(0, np.sqrt(v["annotator"]), (n_studies, 1, people)) + r.normal(
        0, np.sqrt(v["system_annotator"]), (n_studies, 2, people)
    )
    who = np.argsort(r.random((n_studies, 2, n_dialogues, people)), axis=3)[..., :each].reshape(n_studies, 2, -1)
    means = np.take_along_axis(severity, who, axis=2).mean(axis=2)
    means += r.normal(0, np.sqrt(v["dialogue"] / n_dialogues), means.shape)
    means += r.normal(0, np.sqrt(v["residual"] / (n_dialogues * each)), means.shape)
    relative, absolute = g.error_variances(v, n_dialogues, each, people)
    assert (means[:, 0] - means[:, 1]).var() / 2 == pytest.approx(relative, rel=0.06)
    assert means[:, 0].var() == pytest.approx(absolute, rel=0.06)
    if people == each:
        assert (relative, absolute) == pytest.approx(g.error_variances(v, n_dialogues, each))
