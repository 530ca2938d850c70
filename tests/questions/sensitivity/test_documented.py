"""The table of docs/statistical_choices.md, remade from the public data of its smaller studies."""

import re

import pytest

from judgebook.annotations.summary import evaluated
from judgebook.questions.sensitivity import analysis, judged_groups
from judgebook.sources import build
from judgebook.study import params


def documented(study):
    text = (params.ROOT / "docs" / "statistical_choices.md").read_text("utf-8")
    return [cell.strip() for cell in re.search(rf"^\| {study} \|(.*)\|$", text, re.M).group(1).split("|")]


@pytest.mark.data
@pytest.mark.evidence
@pytest.mark.parametrize("study", ["grade", "usr"])
def test_pairs_found_with_one_annotation_and_with_all(raw_data, study):
    loaded = params.load(study)
    frames = build.build(loaded).frames
    people = evaluated(frames["annotations"]).query("annotator_kind == 'human'")
    systems = [s for s in people["system"].unique() if s not in {loaded.control_system, *loaded.unranked_systems}]
    judged = judged_groups.groups(people, frames["dialogues"], systems=systems, pick_seed=loaded.seeds.pick)
    options = {"seed": loaded.seeds.permute, "within": loaded.sensitivity.within, "n_permutations": 2_000}
    counts = {"all": 0, "pick": 0, "people": 0, "n": 0}
    for one in judged:
        found = analysis.tests(one, **options)
        counts["n"] += len(analysis.primary(found).dropna(subset="p_value"))
        counts["all"] += int((analysis.primary(found)["p_adjusted"] < 0.05).sum())
        counts["pick"] += int((analysis.of_one_pick(found)["p_adjusted"] < 0.05).sum())
        counts["people"] += int((analysis.with_people(found)["p_adjusted"] < 0.05).sum())
    _, n, pick, every, known = documented(study)
    assert [str(counts[k]) for k in ("n", "pick", "all")] == [n, pick, every]
    assert known == str(counts["people"]) or (known == "not known individually" and not counts["people"])
