"""The simulated study as a file: the platform's layout, and its way through the adapter and the choke point."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from compendium.simulation import design
from compendium.simulation import study as simulate
from compendium.simulation.parts import UNFILLED_WORKER
from judgebook.sources import build
from judgebook.study import params
from judgebook.study.params import ParamsError
from judgebook.study.sections.data import Simulate

ROOT = Path(__file__).resolve().parents[3]
SMALL = Simulate(n_sessions=30, n_interactors=8, n_surge=10)


def generator(*seed: int) -> np.random.Generator:
    return np.random.default_rng(list(seed))


PARTS = {
    "annotation_pilots", "annotation_pilots_onboarding", "bot_pilots", "extra_unused", "dialogue_collection",
    "student_evaluation", "student_onboarding", "student_gold_units", "mturk_evaluation", "mturk_onboarding",
    "mturk_gold_units", "surge_evaluation", "surge_onboarding", "surge_gold_units", "expert_evaluation",
}  # fmt: skip


@pytest.fixture(scope="module")
def small():
    return simulate.project(SMALL, generator(10))


def evaluations(project: dict):
    for name, part in project.items():
        yield from ((name, e) for e in (part if isinstance(part, list) else [part]))


def test_only_artificial_people_and_one_unfilled_template(small):
    project, truth = small
    workers = [u["worker_id"] for _, e in evaluations(project) for u in e["work_units"].values()]
    odd = [w for w in workers if not re.fullmatch(r"sim-worker-[a-z-]+-\d{3}", w)]
    assert odd == [UNFILLED_WORKER]
    assert truth["unfilled_worker_scores"] == 8


@pytest.mark.verify
def test_a_seed_gives_one_study_and_parts_do_not_move_each_other(small):
    again, _ = simulate.project(SMALL, generator(10))
    assert json.dumps(again) == json.dumps(small[0])
    other, _ = simulate.project(SMALL, generator(11))
    assert json.dumps(other["surge_evaluation"]) != json.dumps(small[0]["surge_evaluation"])
    more = SMALL.model_copy(update={"n_developers": 5})
    changed, _ = simulate.project(more, generator(10))
    assert {k for k in PARTS if json.dumps(changed[k]) != json.dumps(small[0][k])} == {"expert_evaluation"}


def test_only_those_who_passed_the_training_judge_behaviours(small):
    project, _ = small
    training = project["surge_onboarding"]
    passed = {
        (training["work_units"][a["work_unit_id"]]["worker_id"], id_.removesuffix("_3"))
        for id_, d in training["dialogues"].items()
        for a in d["attempts"]
        if a["passed"]
    }
    units = project["surge_evaluation"]["work_units"].values()
    did = {(u["worker_id"], u["task"]) for u in units if u["task"] in design.TASK_LABELS}
    assert did
    assert did <= passed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("simulated: true\nsimulate: {n_sessions: 31}", "n_sessions: expected an even number, found 31"),
        ("simulated: true\nsimulate: {n_sessions: 600, n_interactors: 90, n_surge: 24}", "expected at least 25"),
        ("simulate: {}", "simulated: expected true where there is a `simulate` section, found false"),
    ],
)
def test_an_impossible_section_is_refused(tmp_path, text, message):
    path = tmp_path / "mine.yaml"
    path.write_text(f"title: x\nsources: [{{adapter: abc_eval, files: [data.json]}}]\n{text}\n")
    with pytest.raises(ParamsError, match=re.escape(message)):
        params.load(path)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    (folder / "demo.yaml").write_text((ROOT / "params" / "demo.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    study = params.load(folder / "demo.yaml")
    made = simulate.write(study, folder)
    files = ["data.json", "demo.yaml", "moderation.csv", "techniques.csv", "truth.json"]
    assert sorted(p.name for p in folder.iterdir()) == files
    assert made[0].stat().st_size < 40e6
    return build.build(study).frames, json.loads(made[1].read_text(encoding="utf-8"))


def main(frames) -> pd.DataFrame:
    return frames["annotations"].query("corpus == 'main'")


@pytest.mark.evidence
def test_counts_are_those_of_the_papers(demo):
    frames, _ = demo
    dialogues = frames["dialogues"].query("corpus == 'main'")
    one = dialogues.drop_duplicates("dialogue")
    assert (len(one), one["session"].nunique(), one["interactor"].nunique()) == (400, 200, 46)
    assert (one["system"].value_counts() == 100).all()
    assert 2 * len(dialogues) / 400 == pytest.approx(30.3, abs=0.2)
    words = dialogues["user_text"].str.split().str.len().mean()
    assert words == pytest.approx(11.3, abs=0.1)
    # annotations of one label: dialogues or pairs judged at all, and twice
    cases = {
        ("sur_x", "dialogue_likert"): (400, 100, 32),
        ("sur_x", "turn_likert"): (400, 100, 32),
        ("sur_x", "behavior"): (400, 100, None),
        ("sur_x", "comparative"): (192, None, 32),
        ("stu_i", "dialogue_likert"): (400, 0, 46),
        ("stu_x", "comparative"): (193, 19, 8),
        ("dev_x", "dialogue_likert"): (177, 25, 3),
    }
    assert set(main(frames)["group"]) == {"sur_x", "stu_i", "stu_x", "dev_x"}
    judged = main(frames).groupby(["group", "method"])
    for key, (n, twice, people_) in cases.items():
        rows = judged.get_group(key)
        per_label = rows.groupby("label")
        assert per_label.ngroups == (16 if key[1] == "behavior" else 8)
        for _, label in per_label:
            times = label.groupby("dialogue")["annotator"].nunique()
            assert len(times) == n
            assert times.max() == (1 if twice == 0 else 2)
            assert twice is None or (times == 2).sum() == twice
        assert people_ is None or rows["annotator"].nunique() == people_


@pytest.mark.evidence
def test_rates_are_within_noise_of_truth(demo):
    """Standard errors over dialogues; 5 of them, since annotators' leanings add to the noise."""
    frames, truth = demo
    true = {(r["group"], r["method"], r["label"], r["system"]): r.get("mean") for r in truth["means"]}
    rows = main(frames).query("method != 'comparative'")
    by_dialogue = rows.groupby(["group", "method", "label", "system", "dialogue"])["score"].mean()
    found = by_dialogue.groupby(level=[0, 1, 2, 3]).agg(["mean", "std", "size"])
    assert len(found) == (16 + 8 + 8 + 8 * 3) * 4
    # a rate near 0 has next to no spread in some samples: the binomial one is the least
    for key, row in found.iterrows():
        p = true[key]
        least = np.sqrt(p * (1 - p) / 1500) if key[1] == "behavior" else 0.0
        error = max(row["std"] / np.sqrt(row["size"]), least)
        assert abs(row["mean"] - p) < 5 * error, (key, p, row.to_dict())
