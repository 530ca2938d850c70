"""Helpers are plain functions, and a page for each notebook: short, and spelled out."""

import ast
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from fixtures.project_copy import ROOT
from scipy import stats

from helpers import iaa
from helpers.bootstrap import bca, resampled
from helpers.iaa import coincidences, squared_differences
from judgebook.statistics.intervals import Replicates
from judgebook.study.results import collect

LINES, OF_A_FUNCTION = 120, 40
MODULES = sorted(p for p in (ROOT / "src" / "helpers").glob("*.py") if p.stem != "__init__")


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.stem)
def test_a_helper_is_short(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LINES
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    assert [f.name for f in functions if (f.end_lineno or 0) - f.lineno >= OF_A_FUNCTION] == []
    pages = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
    calls = [n for page in pages for n in ast.walk(page) if isinstance(n, ast.Call)]
    assert not [
        n for n in calls if None in {k.arg for k in n.keywords}
    ]  # one can follow a parameter to where it is used


@pytest.mark.parametrize("seed", [1, 2])
def test_bca_equals_the_kernel_on_the_same_draws_and_scipy_on_others(seed):
    values, times = np.array([0.0, 1, 2, 7]), np.array([30, 12, 5, 3])

    def mean(weights):
        return weights @ values / weights.sum(axis=1)

    found = bca(mean, times, 4000, seed)
    each = np.repeat(values, times)
    theirs = stats.bootstrap((each,), np.mean, n_resamples=20_000, rng=np.random.default_rng(seed)).confidence_interval
    assert (found["ci_low"], found["ci_high"]) == pytest.approx(tuple(theirs), abs=0.06)
    drawn = np.random.default_rng(seed).multinomial(50, times / 50, size=4000)
    estimate, resampled, without = (mean(w)[:, None] for w in (times[None], drawn, times - np.eye(4)))
    of_draws = Replicates(estimate[0], resampled, without, times, None, "item", 50, True, 1)
    kernel = of_draws.interval(expanded=False)
    ours = [found[name] for name in ("estimate", "ci_low", "ci_high")]
    assert ours == pytest.approx([kernel.estimate, kernel.low, kernel.high], abs=1e-9)


def test_bca_of_several_samples_equals_the_kernel_on_the_same_draws():
    values, times, sample = np.array([0.0, 1, 2, 0, 4]), np.array([20, 12, 5, 9, 3]), np.array([0, 0, 0, 1, 1])

    def difference(weights):
        first, second = ((weights * (sample == i)) @ values / weights[:, sample == i].sum(axis=1) for i in (0, 1))
        return first - second

    found, drawn = bca(difference, times, 4000, 1, sample=sample), resampled(times, sample, 4000, 1)
    assert (drawn[:, 3:].sum(axis=1) == 12).all()
    estimate, draws, without = (difference(w)[:, None] for w in (times[None], drawn, times - np.eye(5)))
    kernel = Replicates(estimate[0], draws, without, times, sample, "item", 49, True, 2).interval(expanded=False)
    ours = [found[name] for name in ("estimate", "ci_low", "ci_high")]
    assert ours == pytest.approx([kernel.estimate, kernel.low, kernel.high], abs=1e-9)


def test_bca_says_why_there_is_no_interval():
    with np.errstate(invalid="ignore"):
        undefined = bca(lambda w: np.where(w[:, 0] > 0, 1.0 * w[:, 0], np.nan), np.array([1, 1]), 1000, 1)
    assert undefined["ci_kind"] == "not_estimable"
    assert "undefined in" in undefined["note"]
    assert bca(lambda w: np.ones(len(w)), np.array([4, 4]), 100, 1)["note"] == "every resample gives the same value"


def test_coincidences_of_krippendorff_2011():
    # two of three judgements are 1: each judgement's pairs count half; from the other side, -1 stands for 1
    pairs = coincidences([(0.0, 1.0, 1.0)], np.array([-1.0, 0, 1]), mirrored=False).toarray().reshape(3, 3)
    assert pairs.tolist() == [[0, 0, 0], [0, 0, 1], [0, 1, 1]]
    both = coincidences([(0.0, 1.0, 1.0)], np.array([-1.0, 0, 1]), mirrored=True).toarray().reshape(3, 3)
    assert (both == pairs + pairs[::-1, ::-1]).all()
    n_c = np.array([[2.0, 4, 2]])
    # between neighbouring values lie half of the judgements of either
    assert squared_differences("ordinal", np.arange(3), n_c)[0].tolist() == [[0, 9, 36], [9, 0, 9], [36, 9, 0]]


@pytest.mark.parametrize(
    ("coefficient", "statistic"), [("Krippendorff's alpha", "alpha"), ("Percent agreement", "published_coefficient")]
)
def test_another_coefficient_is_not_stored_as_alpha(coefficient, statistic):
    rows = pd.DataFrame(
        {"method": ["turn_likert"], "label": ["quality"], "estimate": [0.5], "measurement": ["ordinal"], "note": [None]}
    )
    page = SimpleNamespace(iaa=SimpleNamespace(first=2), sampling=SimpleNamespace(seed=1), results=collect())
    page.run = SimpleNamespace(save_results=lambda results: None)
    iaa.Page.save(page, rows, coefficient)
    assert [*page.results] == [statistic]
    assert page.results[statistic]["note"].dropna().tolist() == [coefficient] * (statistic != "alpha")
