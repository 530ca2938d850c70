"""Kernels on hard data: the same results on every kind of processor, and what must hold of them."""

import json
import os
import subprocess
import sys
from functools import cache

import numpy as np
import pytest
from conftest import ROOT
from fixtures import hard_cases

#: kernels of OpenBLAS beside those for this processor: for AVX2 and for SSE3. Where another library multiplies
#: matrices, or another architecture, the variable does nothing
CORE_TYPES = ("Haswell", "Prescott")

pytestmark = pytest.mark.verify


@cache
def found(core_type=""):
    """Name of a case -> its numbers, from a process in which a warning is an error."""
    env = {k: v for k, v in os.environ.items() if k != "OPENBLAS_CORETYPE"} | {"PYTHONPATH": str(ROOT / "src")}
    env |= {"OPENBLAS_CORETYPE": core_type} if core_type else {}
    command = [sys.executable, "-W", "error", ROOT / "tests" / "fixtures" / "hard_cases.py"]
    text = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True, timeout=1800).stdout
    return {name: np.array(values, dtype=float) for name, values in json.loads(text).items()}


@pytest.fixture
def here():
    return found()


@pytest.mark.parametrize("core_type", CORE_TYPES)
@pytest.mark.evidence
def test_results_do_not_depend_on_the_processor(here, core_type):
    """Within the tolerance that `fixtures.hard_cases` documents; what is missing is missing everywhere."""
    there = found(core_type)
    assert set(there) == set(here)
    for name, values in here.items():
        kind = next((k for k in hard_cases.TOLERANCE if k and k in name), "")
        size = np.abs(values[np.isfinite(values)]).max(initial=1e-300)
        expected = pytest.approx(values, abs=hard_cases.TOLERANCE[kind] * size, rel=0, nan_ok=True)
        assert there[name] == expected, name


def test_a_logit_does_not_depend_on_the_scale_of_its_predictors(here):
    for name in ("huge", "tiny", "far"):
        for kernel, slopes in (("logit", slice(3, 6)), ("firth", slice(1, 4))):
            assert here[f"{kernel}, {name}"][slopes] == pytest.approx(here[f"{kernel}, plain"][slopes], rel=1e-6)
    assert here["logit, many rows"][2:] == pytest.approx(here["logit, plain"][2:], rel=1e-9)
    one, none = here["subsets"][1], here["subsets"][0]
    assert here["signed root, far"] == pytest.approx(np.sqrt(1 - one / none), rel=1e-6)


def test_separation_is_found_and_has_a_bound_and_no_coefficients(here):
    for name in ("separated", "two rows", "as many rows as coefficients", "fewer rows than coefficients"):
        assert here[f"logit, {name}"][0] == 0
        assert np.isnan(here[f"logit, {name}"][2:]).all()
    quasi = here["logit, quasi-separated"]
    assert quasi[0] < 0
    assert np.isnan(quasi[2:]).all()
    for name in ("separated", "quasi-separated", "two rows", "as many rows as coefficients"):
        assert np.isfinite(here[f"firth, {name}"]).all()


def test_strengths_do_not_depend_on_how_many_votes_others_have(here):
    assert here["strengths, one vote between millions"][:6] == pytest.approx(np.zeros(6), abs=1e-6)
    assert np.isfinite(here["strengths, sixty systems"][:60]).all()
    assert np.isnan(here["strengths, one never wins"]).all()


def test_a_mixed_model_does_not_depend_on_unit_and_origin_of_scores(here):
    for name in ("huge", "tiny"):
        assert here[f"reml, {name}"] == pytest.approx(here["reml, plain"], rel=1e-6, abs=1e-6)
    assert here["reml, far"] == pytest.approx(here["reml, plain"], rel=1e-4, abs=1e-6)  # 9 of 16 digits are the origin
    assert here["reml, plain"][0] == here["reml, few rows"][0] == here["reml, no residual"][0] == 1


def test_what_has_no_maximum_has_not_converged(here):
    assert here["reml, all equal"][0] == 0
    assert np.isnan(here["reml, all equal"][1:]).all()
