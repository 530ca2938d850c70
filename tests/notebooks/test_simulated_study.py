"""Every notebook on the simulated study, whole, as its committed numbers are checked."""

import os
import platform
import subprocess
import sys

import pytest
from fixtures.notebook_runs import ACROSS, CHECKS, ENTRIES, NOT_SIMULATED, World, check_alpha, check_models, worker_ids

from compendium.gallery import committed, markdown
from judgebook.study.params import ROOT

SECONDS = 400
pytestmark = pytest.mark.evidence
#: what makes OpenBLAS, numpy and glibc compute as on a processor without AVX
OLD_PROCESSOR = {
    "OPENBLAS_CORETYPE": "Nehalem",
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX2_Usable,-FMA_Usable,-AVX_Usable",
}


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The simulated study from nothing, with the settings it comes with, on another processor than the gallery's."""
    folder = tmp_path_factory.mktemp("demo")
    command = [sys.executable, ROOT / "run_all.py", "--study", "demo", "--out", str(folder)]
    env = os.environ | (OLD_PROCESSOR if platform.machine() in ("x86_64", "AMD64") else {})
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=3600)
    return World(folder, ["demo"], [], done.returncode, done.stdout + done.stderr)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_every_notebook_on_the_simulated_study(demo, check):
    assert list(check(demo)) == [], demo.said


def test_the_committed_numbers_of_the_simulated_study_hold(demo, monkeypatch, capsys):
    monkeypatch.setenv("COMPENDIUM_OUT", str(demo.folder))
    code = committed.check(["demo"])
    said = capsys.readouterr()
    assert code == 0, said.err
    assert "every number as committed" in said.out
    assert [one.key for one in markdown.answers("demo")[1] if "not run yet" in one.text.lower()] == []
    assert len(worker_ids(demo.folder / "data" / "raw" / "demo" / "data.json")) > 20


def test_the_simulated_study_has_every_notebook_but_four(demo):
    """They run in test_small_studies.py: one that is skipped everywhere must not pass for one that works."""
    left_out = {n for n, (state, _) in demo.states["demo"].items() if state == "skipped"}
    assert left_out <= NOT_SIMULATED
    assert set(ENTRIES) - {name for _, name in demo.ran()} <= ACROSS | NOT_SIMULATED, demo.said


def test_the_first_two_annotations_enter_where_the_yaml_says_so(demo):
    check_alpha(demo, "demo", 2)


def test_models_of_quality_are_those_of_the_kernels(demo):
    check_models(demo, "demo")
