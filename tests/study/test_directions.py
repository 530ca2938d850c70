"""Which way a label's scores are good is declared, and never assumed."""

import pytest
from fixtures import yaml_studies as studies

from judgebook.annotations.features import undirected
from judgebook.study import params, yaml_file
from judgebook.study.labels import PREFERENCES, Label
from judgebook.study.params import ROOT

YAML = """\
title: Mine
method: {method}
sources: [{{adapter: table, file: a.csv, columns: {{dialogue: id, annotator: who}}}}]
labels: {labels}
"""


def label(tmp_path, spec, id_="hallucination", method="dialogue_rating"):
    text = YAML.format(method=method, labels=f"{{{id_}: {{{spec}}}}}")
    (out,) = params.load(studies.write(tmp_path, text)).label_list()
    return out


@pytest.mark.parametrize("direction", [-1, 0, 1])
def test_a_direction_is_what_the_yaml_says(tmp_path, direction):
    found = label(tmp_path, f"scale: [1, 5], direction: {direction}")
    assert (found.direction, found.direction_declared) == (direction, True)


@pytest.mark.parametrize(
    ("spec", "known"),
    [
        ("scale: [0, 1]", False),
        ("categories: [low, high], level: ordinal", False),
        ("scale: [1, 5], direction: null", False),
        # answers without order need none
        ("categories: [a, b, c]", True),
        ("categories: [a, b], level: sets", True),
        ("scale: [1, 5], level: nominal", True),
    ],
)
def test_without_one_nobody_knows_which_way_answers_in_order_are_better(tmp_path, spec, known):
    found = label(tmp_path, spec)
    assert (found.direction, found.direction_declared) == (0, known)


@pytest.mark.parametrize("id_", sorted(PREFERENCES))
def test_a_comparison_by_preference_needs_none(tmp_path, id_):
    found = label(tmp_path, "scale: [-1, 1]", id_, "pairwise_dialogue")
    assert (found.direction, found.direction_declared) == (1, True)
    assert not label(tmp_path, "scale: [1, 5]", id_).direction_declared  # a rating of that name does


@pytest.mark.parametrize("id_", ["worst", "longer", "humanness", "quality_issues"])
def test_other_comparisons_need_one(tmp_path, id_):
    found = label(tmp_path, "scale: [-1, 1]", id_, "comparative")
    assert (found.direction, found.direction_declared) == (0, False)


def test_a_direction_that_nobody_declared_is_none():
    with pytest.raises(ValueError, match="expected direction 0"):
        Label("x", "dialogue_rating", "X", (1, 5), direction_declared=False)


def test_public_studies_declare_every_direction():
    for name in params.names():
        assert [x.id for x in params.load(name).label_list(every=True) if not x.direction_declared] == []
        written, _ = yaml_file.parse((ROOT / "params" / f"{name}.yaml").read_text(encoding="utf-8"))
        assert [label for label, spec in written.get("labels", {}).items() if "direction" not in spec] == [], name


GOOD = Label("fluent", "dialogue_rating", "Fluent", (1, 5))
NEITHER = Label("length", "dialogue_rating", "Length", (1, 5), direction=0)
UNKNOWN = [
    Label(x, "dialogue_rating", x, (1, 5), direction=0, direction_declared=False) for x in ("odd", "tone", "dry")
]


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ([GOOD, NEITHER], ""),
        ([NEITHER], "No label orders the systems: a high score is neither good nor bad (`direction: 0`)."),
        (
            [GOOD, *UNKNOWN],
            "The YAML does not say which way is better for `odd`, `tone` and `dry`, so they enter no rank, overall "
            "mean or headline: write `direction: 1` (a high score is good), `-1` (bad) or `0` (neither) under "
            "`labels`.",
        ),
    ],
)
def test_what_is_said_of_labels_without_a_direction(labels, said):
    assert undirected(labels) == said
