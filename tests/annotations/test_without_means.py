"""Labels of several answers without order have no mean: what notebooks 05, 07 and 08 leave out, and say so."""

import numpy as np
import pytest
from fixtures import yaml_studies as studies

from judgebook.annotations.features import NO_MEANS
from judgebook.annotations.summary import with_means
from judgebook.questions.groups import analysis as groups
from judgebook.questions.groups.analysis import comparable
from judgebook.questions.groups.question import GroupEffects
from judgebook.questions.performance import analysis as performance
from judgebook.statistics.intervals import Sampling
from judgebook.study import params

YAML = """\
title: Tones
method: dialogue_rating
sources:
  - adapter: table
    file: my.csv
    layout: long
    columns: {dialogue: chat, system: bot, annotator: who, group: team, label: what, score: rating}
labels:
  fluent: {scale: [1, 5]}
  tone: {categories: [warm, cold, neutral]}
  polite: {categories: ["no", "yes"]}
"""
PLAIN = YAML.replace("  tone: {categories: [warm, cold, neutral]}\n", "")


def table(*labels):
    """Two teams of three rate 24 dialogues of two systems, two people of a team each."""
    rng, rows = np.random.default_rng(6), ["chat,bot,who,team,what,rating"]
    given = {"fluent": "12345", "tone": ["warm", "cold", "neutral"], "polite": ["no", "yes"]}
    made = {label: rng.choice(list(given[label]), (24, 6)) for label in given}
    for label in labels:
        for d in range(24):
            for a in (a for a in range(6) if a % 3 != d % 3):
                rows.append(f"d{d},{'AB'[d % 2]},w{a},team{a // 3},{label},{made[label][d, a]}")
    return "\n".join(rows) + "\n"


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    found = []
    for yaml, labels in ((YAML, ("fluent", "tone", "polite")), (PLAIN, ("fluent", "polite"))):
        folder = tmp_path_factory.mktemp("tones")
        built = studies.read(folder, yaml, my_csv=table(*labels))
        found.append((built.frames, params.load(folder / "mine.yaml").label_list(), built.profile))
    return found


def test_yes_and_no_has_a_mean_and_three_answers_have_none(both):
    (frames, labels, _), (plain, plain_labels, _) = both
    marks = frames["annotations"]
    assert set(with_means(marks, labels)["label"]) == {"fluent", "polite"}
    assert with_means(plain["annotations"], plain_labels) is plain["annotations"]


def test_performance_leaves_it_out(both):
    frames, labels, _ = both[0]
    marks = frames["annotations"]
    assert set(performance.chosen(marks, (), labels)["label"]) == {"fluent", "polite"}


@pytest.mark.verify
def test_groups_have_alphas_of_the_label_and_nothing_else(both):
    options = GroupEffects(n_permutations=99, n_picks=100, people_resamples=100)
    how = {"sampling": Sampling(200, 0.95, 1), "pick_seed": 1, "permute_seed": 1}
    found = [groups.analyse(comparable(f["annotations"]), labels, options, **how) for f, labels, _ in both]
    with_label = {s for s, frame in found[0].items() if "tone" in set(frame["label"].dropna())}
    assert "alpha" in with_label
    assert not {
        s for s in with_label if "difference" in s or "effect" in s or s in ("equivalence_margin", "extreme_share")
    }
    for statistic in ("group_difference", "effect_size", "group_difference_test", "equivalence_margin"):
        ours, theirs = (results[statistic].sort_values(["label", "group"]) for results in found)
        assert len(ours) == len(theirs)
        assert ours["estimate"].to_numpy() == pytest.approx(theirs["estimate"].to_numpy(), nan_ok=True)


def test_a_study_of_such_labels_alone_is_told_why(tmp_path):
    yaml = YAML.replace("  fluent: {scale: [1, 5]}\n", "").replace('  polite: {categories: ["no", "yes"]}\n', "")
    profile = studies.read(tmp_path, yaml, my_csv=table("tone")).profile
    for feature in ("scored_systems", "comparable_systems", "groups", "metrics"):
        assert profile["features"][feature] == NO_MEANS
    assert profile["features"]["repeated"] is None
