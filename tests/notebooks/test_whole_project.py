"""What has printed numbers beside it, on `params/abc_eval.yaml` as it stands: sixty dialogues with oddities strewn over
them. All notebooks on a study of this shape: `test_simulated_study.py`."""

import pytest
from fixtures import odd_abc_eval_project as odd_project
from fixtures import yaml_studies as studies
from fixtures.notebook_runs import CHECKS, ended, moved_by_the_seed, run_all, settled

from judgebook.study.params import ROOT

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
    path = studies.write(folder, yaml, "abc_eval", abc_eval_json=odd_project.project())
    return run_all(folder, [path], only=[*PRINTED, *OTHERS])


@pytest.mark.parametrize("check", [c for c in CHECKS if c is not ended and c is not settled], ids=lambda c: c.__name__)
def test_notebooks_on_a_whole_project(world, check):
    assert list(check(world)) == [], world.said


def test_a_whole_project_with_odd_cases_passes_through_its_own_yaml(world):
    """What a user gets who downloads data.json: all that its parts allow, printed numbers beside them."""
    assert world.code == 0, world.said
    assert {name for _, name in world.ran()} >= {*PRINTED, *OTHERS}, world.said
    counts = world.frame("abc_eval", "counts")
    reasons = " ".join(counts["reason"].dropna())
    for odd in ("unfilled template", "no score", "worker not in the file", "stored under one dialogue only",
                "bot not named"):  # fmt: skip
        assert odd in reasons
    marks = world.frame("abc_eval")
    main = marks[(marks["corpus"] == "main") & (marks["group"] == "sur_x")]
    sizes = main.groupby(["method", "label", "dialogue", "turn"], dropna=False).size().groupby("method").max()
    assert sizes.drop("comparative").ge(3).all()
    assert (marks["seconds"].isna() & marks["annotator_known"]).any()
    for name in PRINTED:
        assert "Printed" in world.page("abc_eval", name).text.partition("Comparison with the paper")[2], name


def test_the_seed_of_the_bootstrap_moves_only_intervals(world, tmp_path):
    """In notebooks that the crowd of test_small_studies.py does not have."""
    names = ["04_importance", "11_technique_comparison"]
    moved, intervals = moved_by_the_seed(world, "abc_eval", names, tmp_path / "world")
    assert moved == set()
    assert intervals > 50
