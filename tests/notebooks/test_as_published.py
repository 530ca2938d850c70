"""What cells of notebooks compute as published, against kernels of the library and other packages."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from fixtures.libraries import plain_fit
from fixtures.notebook_code import functions

from judgebook.annotations.dialogue_values import COMPARATIVE_QUALITY, DIALOGUE_QUALITY
from judgebook.annotations.summary import evaluated, with_means
from judgebook.questions.validity import targets
from judgebook.sources import build
from judgebook.statistics import subsets
from judgebook.study import params

FAMILIES = {"linear": "ols", "logistic": "logit"}
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
    kernel = subsets.backward_elimination(subsets.Fitness(x.to_numpy(), y, FAMILIES[model]), width)
    assert found["label"].tolist() == x.columns[kernel.order].tolist()
    for name, values in {"fit": kernel.fit, "adjusted": kernel.adjusted, "smallest_gain": kernel.gain}.items():
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
        assert (row["fit"], row["adjusted"]) == pytest.approx((fit, adjusted), abs=1e-9)
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
    assert fewer["k"][fewer["adjusted"].idxmax()] < adjusted["k"][adjusted["adjusted"].idxmax()]


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
    assert np.isfinite(found[["fit", "adjusted"]]).all(axis=None)


@pytest.mark.verify
def test_paths_of_a_public_study_are_those_of_the_kernel(coverage, raw_data, monkeypatch):
    monkeypatch.setenv("COMPENDIUM_RAW", str(raw_data))
    study = params.load("abc_public")
    frames = build.build(study).frames
    judged = with_means(evaluated(frames["annotations"]), study.label_list())
    given = study.importance.settings() | {"pick_seed": study.seeds.pick, "parts": study.parts}
    designs = targets.find(judged, frames["dialogues"], **given).designs
    assert set(designs) == {DIALOGUE_QUALITY, COMPARATIVE_QUALITY}
    for target, design in designs.items():
        for method in design.x.columns.unique(0):
            x, y, _ = coverage.predictors(design, method)
            if coverage.enough(x, y, coverage.MODELS[target]):
                same_as_the_kernel(coverage, x, y, coverage.MODELS[target], study.coverage.beam)
