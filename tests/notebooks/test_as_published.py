"""What cells of notebooks compute as published, against kernels of the library and other packages."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from fixtures.elimination import backward_elimination
from fixtures.libraries import plain_fit
from fixtures.notebook_code import functions
from fixtures.reference import REGRESSION as r_values
from fixtures.reference import REGRESSION_DATA as data

from compendium.simulation import study as simulate
from judgebook.annotations.dialogue_values import COMPARATIVE_QUALITY, DIALOGUE_QUALITY
from judgebook.annotations.summary import evaluated, with_means
from judgebook.questions.techniques import sittings, turns
from judgebook.questions.validity import targets
from judgebook.sources import build
from judgebook.statistics import Sampling, logit, subsets
from judgebook.study import params

FAMILIES = {"linear": "ols", "logistic": "logit"}
SAMPLING = Sampling(n_resamples=500, confidence=0.95, seed=1)
EXCLUDED = SimpleNamespace(study=SimpleNamespace(coverage=SimpleNamespace(exclude=["quality"])))


@pytest.fixture
def coverage():
    return SimpleNamespace(**functions("06_stepwise_coverage", page=EXCLUDED))


def sample(model, n=120, p=6, seed=1):
    """Labels a and b predict, the others do not."""
    rng = np.random.default_rng(seed)
    x = pd.DataFrame(rng.normal(size=(n, p)), columns=list("abcdefghijklmnopqrstuvw"[:p]))
    y = x["a"] - 0.8 * x["b"] + rng.logistic(size=n)
    return x, (y > 0).to_numpy(float) if model == "logistic" else y.to_numpy()


def same_as_the_kernel(coverage, x, y, model, width):
    found = coverage.steps(x, y, model, width)
    kernel = backward_elimination(subsets.Fitness(x.to_numpy(), y, FAMILIES[model]), width)
    assert found["label"].tolist() == x.columns[kernel.order].tolist()
    for name, values in {"fit": kernel.fit, "criterion": kernel.adjusted, "smallest_gain": kernel.gain}.items():
        np.testing.assert_allclose(found[name], values, atol=1e-9)


@pytest.mark.parametrize("width", [1, 3, 100])
@pytest.mark.parametrize("model", FAMILIES)
def test_the_path_is_that_of_the_kernel(coverage, model, width):
    same_as_the_kernel(coverage, *sample(model), model, width)


@pytest.mark.parametrize("model", FAMILIES)
def test_fits_of_the_path_are_those_of_statsmodels(coverage, model):
    x, y = sample(model, p=4)
    found = coverage.steps(x, y, model, 100)
    assert found["label"].tolist()[:2] == ["a", "b"]
    for row in found.to_dict("records"):
        inside = {x.columns.get_loc(label) for label in row["labels"]}
        fit, adjusted = plain_fit(x.to_numpy(), y, FAMILIES[model], inside)
        assert (row["fit"], row["criterion"]) == pytest.approx((fit, adjusted), abs=1e-9)
        drops = [adjusted - plain_fit(x.to_numpy(), y, FAMILIES[model], inside - {i})[1] for i in inside]
        assert row["smallest_gain"] == pytest.approx(min(drops), abs=1e-9)


def test_another_criterion_changes_what_is_chosen(coverage):
    x, y = sample("linear", p=8)
    adjusted = coverage.steps(x, y, "linear", 100)

    def bic(fit, k, y, model):
        return -len(y) * np.log(1 - fit) - k * np.log(len(y))

    other = functions("06_stepwise_coverage", page=EXCLUDED)
    other["criterion"] = bic
    fewer = other["steps"](x, y, "linear", 100)
    assert fewer["k"][fewer["criterion"].idxmax()] < adjusted["k"][adjusted["criterion"].idxmax()]


def test_labels_that_cannot_be_used_are_left_out(coverage):
    x, y = sample("linear", n=20, p=4)
    x = x.rename(columns={"c": "quality"}).assign(same=1.0)
    x.loc[3, "b"] = np.nan
    columns = pd.MultiIndex.from_product([["rating"], x.columns], names=["method", "label"])
    design = SimpleNamespace(x=x.set_axis(columns, axis=1), y=y, clusters=np.arange(20) // 2)
    labels, of_rows, people = coverage.predictors(design, "rating")
    assert labels.columns.tolist() == ["a", "b", "d"]
    assert (len(labels), len(of_rows), len(people)) == (19, 19, 19)


def test_too_few_rows_have_no_path(coverage):
    x, y = sample("logistic")
    assert coverage.enough(x, y, "logistic")
    assert not coverage.enough(x[:8], y[:8], "linear")
    assert not coverage.enough(x[[]], y, "linear")
    assert not coverage.enough(x, 0 * y, "logistic")
    rare = np.r_[np.flatnonzero(y == 1)[:5], np.flatnonzero(y == 0)]
    assert not coverage.enough(x.iloc[rare], y[rare], "logistic")


def test_many_labels_and_a_separated_logit_have_a_path(coverage):
    assert len(coverage.steps(*sample("linear", p=21), "linear", 3)) == 21
    x, y = sample("logistic")
    found = coverage.steps(x.assign(f=np.where(y == 1, x["f"].abs(), 0.0)), y, "logistic", 5)
    assert found["separated"].max() == 1
    assert np.isfinite(found[["fit", "criterion"]]).all(axis=None)


@pytest.fixture
def alone():
    return SimpleNamespace(**functions("04_importance", page=SimpleNamespace(sampling=SAMPLING)))


def test_a_linear_model_of_one_label_is_that_of_r(alone):
    found = alone.importance_of(data["steady"].to_numpy(), data["y"].to_numpy(float), DIALOGUE_QUALITY)
    assert found["estimate"] == pytest.approx(r_values["one", "r2", ""], abs=1e-10)
    assert found["test"] == pytest.approx(r_values["one", "f_test", ""], abs=1e-9)
    assert found["p_value"] == pytest.approx(r_values["one", "f_test_p", ""], abs=1e-12)
    assert 0 < found["ci_low"] < found["estimate"] < found["ci_high"]


def test_a_logit_of_one_label_is_that_of_r(alone):
    x = data["steady"].to_numpy()
    found = alone.importance_of(x, data["chosen"].to_numpy(float), COMPARATIVE_QUALITY)
    assert found["estimate"] == pytest.approx(r_values["one", "mcfadden_r2", ""], abs=1e-9)
    assert found["test"] == pytest.approx(r_values["one", "llr", ""], abs=1e-9)
    assert found["p_value"] == pytest.approx(r_values["one", "llr_p", ""], abs=1e-10)
    assert found["coefficient"] == pytest.approx(r_values["one", "coefficient", "steady"] * x.std(ddof=1), abs=1e-8)
    firth = logit.fit_firth(x[:, None], data["chosen"])
    assert found["firth_coefficient"] == pytest.approx(firth.coefficients[1] * x.std(ddof=1))
    assert (found["separated"], found["ci_kind"]) == (0, "bca")
    assert "why" not in found


def test_a_separated_logit_has_a_fit_and_no_coefficient(alone):
    x = np.r_[np.zeros(30), np.ones(6)]
    y = np.r_[np.tile([0, 1], 15), np.ones(6)]
    found = alone.importance_of(x, y, COMPARATIVE_QUALITY)
    # by hand: the six rows add nothing, the others stay at one half
    share = 21 / 36
    null = 36 * (share * np.log(share) + (1 - share) * np.log(1 - share))
    assert found["estimate"] == pytest.approx(1 - 30 * np.log(0.5) / null)
    assert np.isnan(found["coefficient"])
    assert "quasi separation" in found["why"]
    # by hand: Firth adds 1/2 to each cell of the table
    assert found["firth_coefficient"] == pytest.approx((np.log(6.5 / 0.5) - np.log(1)) * x.std(ddof=1))


@pytest.mark.parametrize("fit", ["r_squared", "pseudo_r_squared"])
def test_fits_of_samples_are_those_of_repeated_rows(alone, fit):
    x, y = sample("logistic" if fit.startswith("pseudo") else "linear", n=60)
    x = x["a"].round(1).to_numpy()
    times = np.random.default_rng(2).multinomial(60, np.full(60, 1 / 60), size=4)
    found = getattr(alone, fit)(times.astype(float), x, y)
    family = "logit" if fit.startswith("pseudo") else "ols"
    rows = [np.repeat(np.arange(60), k) for k in times]
    assert found == pytest.approx([plain_fit(x[r][:, None], y[r], family, {0})[0] for r in rows], abs=1e-9)


def test_a_perfect_or_rare_label_has_a_fit_without_interval(alone):
    x = np.arange(30.0)
    perfect = alone.importance_of(x, 2 * x, DIALOGUE_QUALITY)
    assert perfect["estimate"] == pytest.approx(1)
    assert perfect["note"] == "every resample gives the same value"
    rare = alone.importance_of(np.r_[1.0, np.zeros(99)], np.arange(100.0), DIALOGUE_QUALITY)
    assert rare["ci_kind"] == "not_estimable"
    assert "undefined in" in rare["note"]
    apart = alone.importance_of(x, (x > 14).astype(float), COMPARATIVE_QUALITY)
    assert (apart["estimate"], apart["separated"]) == (1, 1)
    assert apart["firth_coefficient"] > 0


@pytest.mark.verify
def test_fits_of_a_public_study_are_those_of_kernels(alone, coverage, raw_data, monkeypatch):
    monkeypatch.setenv("COMPENDIUM_RAW", str(raw_data))
    study = params.load("abc_public")
    frames = build.build(study).frames
    judged = with_means(evaluated(frames["annotations"]), study.label_list())
    given = study.importance.settings() | {"pick_seed": study.seeds.pick, "parts": study.parts}
    designs = targets.find(judged, frames["dialogues"], **given).designs
    assert set(designs) == {DIALOGUE_QUALITY, COMPARATIVE_QUALITY}
    for target, design in designs.items():
        for column in design.x.columns:
            known = design.x[column].notna().to_numpy()
            x, y = design.x[column].to_numpy()[known], design.y[known]
            if np.ptp(x) > 0 and np.ptp(y) > 0:
                kernel = subsets.Fitness(x[:, None], y, FAMILIES[coverage.MODELS[target]]).fit(np.array([[True]]))
                assert alone.FIT[target](np.ones((1, len(x))), x, y) == pytest.approx(kernel, abs=1e-9)
        for method in design.x.columns.unique(0):
            x, y, _ = coverage.predictors(design, method)
            if coverage.enough(x, y, coverage.MODELS[target]):
                same_as_the_kernel(coverage, x, y, coverage.MODELS[target], study.coverage.beam)


@pytest.mark.verify
@pytest.mark.parametrize("name", ["demo", "fed"])
def test_rates_and_coefficients_of_turns_are_those_of_kernels(name, raw_data, tmp_path, monkeypatch):
    study = params.load(name)
    monkeypatch.setenv("COMPENDIUM_RAW", str(tmp_path if study.simulated else raw_data))
    if study.simulated:
        simulate.write(study, tmp_path / name)
    frames, options, labels = build.build(study).frames, study.techniques, study.label_list()
    rows = frames["annotations"] if options.compare else evaluated(frames["annotations"])
    given = (labels, list(study.systems) or sorted(set(rows["system"])), options)
    chosen = options.compare or sittings.by_method(rows, labels)
    data = sittings.gather(rows, frames["dialogue_facts"], chosen, *given)
    turned = turns.gather(rows, data, *given)
    sides = {"CELL": ["corpus", "group", "label"], "SIDES": ["system", "system_b"]}
    cells = SimpleNamespace(**functions("11_technique_comparison", **sides))
    for source, technique in [(x, technique) for x in (data, turned.data) for technique in x.techniques]:
        spec, kernel = source.techniques[technique], source.sittings[technique]
        counts = cells.count(sittings.marks(source, technique), spec.turns)
        if source.compares(technique):
            won, of = [*cells.won_of_all(counts, spec.rate).values()][-1]
            value = (2 * won / of - 1) * counts["direction"]
        else:
            value = cells.value(counts, spec.rate)
        assert len(value) > 0
        np.testing.assert_allclose(np.sort(value), np.sort(kernel["value"]), atol=1e-9)
        share = cells.share_won(counts, counts["won"], counts["n"], 100, seed=1)["estimate"]
        wins = kernel["won"].where(
            kernel["label"].map(lambda x, t=technique: data.direction(t, x)) >= 0, kernel["lost"]
        )
        assert share == pytest.approx(wins.sum() / kernel["n"].sum(), abs=1e-9)
    pairings = turned.pairings(labels, options.final_rating)
    assert pairings
    for pairing in pairings:
        found = cells.coefficients(pairing.rows, pairing.turns)[["estimate", "ci_low", "ci_high"]].to_numpy(float)
        x, y = pairing.rows[pairing.turns].to_numpy(float), pairing.rows["rating"].to_numpy(float)
        fit = sm.OLS(y, sm.add_constant(x)).fit(cov_type="HC3", use_t=True)
        np.testing.assert_allclose(found, np.column_stack([fit.params, fit.conf_int()])[1:], atol=1e-9)
