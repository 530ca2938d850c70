"""What has printed numbers beside it, on `params/abc_eval.yaml` as it stands. All notebooks on a study of this shape:
`test_simulated_study.py`; odd cases of the format: `test_small_studies.py`."""

import numpy as np
import pytest
from fixtures import yaml_studies as studies
from fixtures.notebook_runs import CHECKS, ended, moved_by_the_seed, run_all, settled

from compendium.simulation import study as simulate
from judgebook.study.params import ROOT
from judgebook.study.sections.data import Simulate

SECONDS = 150
pytestmark = pytest.mark.evidence
PRINTED = ("01_pilot", "02_collection_stats", "04_importance", "05_sensitivity", "07_bot_performance")
OTHERS = ("00_build_annotations", "06_stepwise_coverage", "11_technique_comparison")


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    yaml = (ROOT / "params" / "abc_eval.yaml").read_text(encoding="utf-8")
    # the file has the name of the study, by which `private` knows it
    yaml = yaml.replace("[data.json]", "[abc_eval.json]")
    made, _ = simulate.project(Simulate(n_sessions=30, n_interactors=8, n_surge=8), np.random.default_rng(5))
    path = studies.write(folder, yaml, "abc_eval", abc_eval_json=made)
    return run_all(folder, [path], only=[*PRINTED, *OTHERS])


@pytest.mark.parametrize("check", [c for c in CHECKS if c is not ended and c is not settled], ids=lambda c: c.__name__)
def test_notebooks_on_a_whole_project(world, check):
    assert list(check(world)) == [], world.said


def test_printed_numbers_stand_beside_those_of_a_whole_project(world):
    assert world.code == 0, world.said
    assert {name for _, name in world.ran()} >= {*PRINTED, *OTHERS}, world.said
    for name in PRINTED:
        assert "Printed" in world.page("abc_eval", name).text.partition("Comparison with the paper")[2], name


def test_the_seed_of_the_bootstrap_moves_only_intervals(world, tmp_path):
    """In notebooks that the crowd of test_small_studies.py does not have."""
    names = ["04_importance", "11_technique_comparison"]
    moved, intervals = moved_by_the_seed(world, "abc_eval", names, tmp_path / "world")
    assert moved == set()
    assert intervals > 50
