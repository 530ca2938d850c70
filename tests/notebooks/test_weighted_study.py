"""A review queue with inclusion probabilities, from the file to the pages."""

import re

import numpy as np
import pandas as pd
import pytest
from fixtures import yaml_studies as studies
from fixtures.notebook_runs import run_all

from judgebook.questions.agreement.alpha import alpha_of
from judgebook.questions.agreement.coincidences import patterns, with_sampling
from judgebook.questions.agreement.items import matrix

SECONDS = 30
YAML = """\
title: A review queue
method: dialogue_rating
sources:
  - adapter: table
    file: queue.csv
    columns: {dialogue: id, system: bot, annotator: who}
    scores: "{label}"
    inclusion_probability: p
labels:
  bad: {scale: [0, 1], direction: -1}
  quality: {scale: [1, 5]}
"""


def queue(rng):
    """All flagged dialogues and 20% of the rest, by five annotators; B is rated lower than A."""
    rows = []
    for bot, shift in (("A", 0), ("B", -1)):
        for i in range(250):
            bad = rng.random() < 0.15
            flagged = rng.random() < (0.8 if bad else 0.08)
            if flagged or rng.random() < 0.2:
                for who in rng.choice(5, 2, replace=False):
                    quality = int(np.clip(4 - 2 * bad + shift + rng.integers(-1, 2), 1, 5))
                    rows.append((f"{bot}{i}", bot, f"w{who}", int(bad), quality, 1 if flagged else 0.2))
    return pd.DataFrame(rows, columns=["id", "bot", "who", "bad", "quality", "p"])


@pytest.fixture(scope="module")
def data():
    return queue(np.random.default_rng(4))


@pytest.fixture(scope="module")
def world(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("queue")
    path = studies.write(folder, YAML, "queue", queue_csv=data.to_csv(index=False))
    return run_all(folder / "out", [path], only=["03", "05", "07", "16", "80"])


def text(world, name):
    page = (world.folder / "reports" / "queue" / f"{name}.html").read_text(encoding="utf-8")
    return " ".join(re.sub("<[^>]+>", "", page[page.index("<body>") :]).split())


pytestmark = pytest.mark.evidence


def test_it_runs(world):
    assert world.code == 0
    assert [name for _, name in world.ran()] == ["03_iaa", "05_sensitivity", "07_bot_performance"]


def test_what_knows_no_weights_is_left_out_with_the_reason(world):
    state = world.states["queue"]
    for name in ("16_fragility", "80_operating_characteristics"):
        assert state[name][0] == "skipped"
        assert "unequal probability" in state[name][1]
    pooled = world.results("queue", "07_bot_performance").query("statistic == 'pooled_mean'")
    assert pooled["estimate"].isna().all()
    assert pooled["note"].str.contains("unequal probability").all()


def test_estimates_are_weighted_and_stand_beside_those_that_are_not(world, data):
    found = world.results("queue", "07_bot_performance")
    dialogues = data.groupby(["bot", "id"]).agg(x=("bad", "mean"), p=("p", "first"))
    for bot in "AB":
        own = dialogues.loc[bot]
        rows = found[(found["system"] == bot) & (found["label"] == "bad")]
        rate = rows[(rows["statistic"] == "rate") & ~rows["condition"].str.contains("independent|picks")]["estimate"]
        assert rate.to_numpy() == pytest.approx(np.average(own["x"], weights=1 / own["p"]))
        assert rows[rows["statistic"] == "unweighted"]["estimate"].item() == pytest.approx(own["x"].mean())
        of_one = rows[rows["statistic"] != "data_to_separate"]  # those are the judgements of two systems
        assert (of_one["n"].dropna().isin([len(own)])).all()


def test_weighted_means_are_compared_by_t_tests(world):
    found = world.results("queue", "05_sensitivity")
    tests = found[found["statistic"] == "system_difference"]["condition"]
    assert tests.str.contains("test=weighted_t").any()
    assert not tests.str.contains("test=session").any()
    assert "null_rejection" not in set(found["statistic"])
    page = text(world, "05_sensitivity")
    assert "by the t test of weighted means on all dialogues" in page
    assert "permutation tests" not in text(world, "paper")


def test_every_page_says_what_is_weighted(world):
    for name in ("index", "03_iaa", "05_sensitivity", "07_bot_performance", "paper"):
        assert "Drawn with unequal probability." in text(world, name)
    assert "Weighted: Krippendorff's alpha, Gwet's AC" in text(world, "03_iaa").replace("&#39;", "'")
    assert "Not weighted: kappas" in text(world, "03_iaa")
    assert "Weighted: rates, means" in text(world, "07_bot_performance")
    assert "Estimates are weighted by sampling weights." in text(world, "07_bot_performance")
    assert text(world, "paper").count("weighted by the inverse of the probability of inclusion") == 2


def test_agreement_is_weighted(world, data):
    found = world.results("queue", "03_iaa")
    quality = matrix(data.rename(columns={"id": "item", "quality": "score"}), "who")
    weights = 1 / data.groupby("id")["p"].first().reindex(quality.index).to_numpy()
    items = with_sampling(patterns(quality.to_numpy()), weights)
    alphas = found[(found["statistic"] == "alpha") & (found["label"] == "quality")]["estimate"].dropna()
    assert alphas.to_numpy() == pytest.approx(alpha_of(items, "ordinal").estimate)
    unweighted = alpha_of(patterns(quality.to_numpy()), "ordinal").estimate
    assert abs(alphas.iloc[0] - unweighted) > 0.02
    assert "Checked live" in text(world, "03_iaa")  # intraclass correlations; other software knows no weights
    assert "krippendorff" not in text(world, "03_iaa")
