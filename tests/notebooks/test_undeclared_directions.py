"""A label of which nobody said which way is better: no page claims a best system by it."""

import re

import numpy as np
import pytest
from fixtures import yaml_studies as studies
from fixtures.notebook_runs import run_all

SECONDS = 60
pytestmark = pytest.mark.evidence
YAML = """\
title: {name}
method: dialogue_rating
sources:
  - adapter: table
    file: {name}.csv
    layout: long
    columns: {{dialogue: chat, system: bot, annotator: worker, label: what, score: rating}}
labels: {labels}
"""


def ratings(*labels):
    """Forty dialogues of a careful and a reckless system, which has the higher scores, by two of six workers each."""
    rng, lines = np.random.default_rng(1), ["chat,bot,worker,what,rating"]
    for i in range(40):
        bot, mean = (("careful", 1.8), ("reckless", 4.0))[i % 2]
        for worker in rng.choice(6, 2, replace=False):
            for label in labels:
                lines.append(f"d{i},{bot},w{worker},{label},{int(np.clip(round(mean + rng.normal(0, 0.8)), 1, 5))}")
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undeclared")
    alone = "{hallucination: {scale: [1, 5]}}"
    beside = "{hallucination: {scale: [1, 5]}, rude: {scale: [1, 5], direction: -1}}"
    yamls = [
        studies.write(folder, YAML.format(name="alone", labels=alone), "alone", alone_csv=ratings("hallucination")),
        studies.write(
            folder, YAML.format(name="beside", labels=beside), "beside", beside_csv=ratings("hallucination", "rude")
        ),
    ]
    return run_all(folder, yamls, only=("05_sensitivity", "07_bot_performance"))


def test_without_any_direction_nothing_is_ranked_and_the_page_says_what_to_write(world):
    rows = world.results("alone", "07_bot_performance")
    assert not {"rank", "first_place_share", "overall_mean", "overall_rank"} & set(rows["statistic"])
    page = world.page("alone", "07_bot_performance").text
    assert "No label says which way is better: write direction: 1 (a high score is good)" in page
    assert "ranks first of" not in page
    index = world.page("alone", "index").text
    assert not [claim for claim in ("ranks first", "leads") if claim in index]


def test_beside_a_label_with_a_direction_it_decides_nothing(world):
    rows = world.results("beside", "07_bot_performance")
    ranks = rows[rows["statistic"] == "rank"]
    assert set(ranks["label"]) == {"rude"}
    assert ranks.set_index("system")["estimate"].to_dict() == {"careful": 1, "reckless": 2}
    assert "overall_mean" not in set(rows["statistic"])
    page = world.page("beside", "07_bot_performance").text
    assert re.search(r"careful ranks first of 2 systems \(rude; ", page, re.IGNORECASE)
    assert "The YAML does not say which way is better for hallucination" in page
    assert "reckless ranks first" not in page + world.page("beside", "index").text


def test_its_differences_are_tested_and_drawn_grey(world):
    for study in world.studies:
        rows = world.results(study, "05_sensitivity")
        assert "hallucination" in set(rows["label"])
        page = world.page(study, "05_sensitivity").text
        assert "Grey, ○: neither good nor bad, or not declared" in page
