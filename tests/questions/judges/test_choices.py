"""Choices between two responses by people and a model: by counting, against libraries, and on public votes."""

import krippendorff
import numpy as np
import pandas as pd
import pytest
from fixtures.made_judges import votes
from scipy import stats

from judgebook.questions.judges import analysis, choices
from judgebook.questions.performance.analysis import bradley_terry
from judgebook.sources import build
from judgebook.statistics.intervals import Sampling
from judgebook.study import params
from judgebook.study.labels import Label
from judgebook.study.results import collect, fold

LABELS = [Label("better", "pairwise_dialogue", "Better", (-1, 1))]
SAMPLING = Sampling(400, 0.95, 1)


def turned(frame, rows):
    """The same votes, some seen from the other side."""
    swap = {"dialogue": "dialogue_b", "dialogue_b": "dialogue", "system": "system_b", "system_b": "system"}
    there = (
        frame.loc[rows]
        .rename(columns=swap)
        .assign(score=-frame.loc[rows, "score"], first_shown=frame.loc[rows, "first_shown"].map({"left": "right"}))
    )
    return pd.concat([frame.drop(index=rows), there[frame.columns]]).sort_values("source_row", ignore_index=True)


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(3)
    rows = []
    for pair in range(90):
        leaning = [0.6, 0.1, -0.4][pair % 3] + rng.normal(0, 0.5)
        for i in range(rng.integers(1, 6)):
            rows.append((pair, f"A{(pair + i) % 9}", int(np.sign(np.round(leaning + rng.normal(0, 0.8))))))
        rows.append((pair, "llm", int(np.sign(np.round(leaning + 0.4 + rng.normal(0, 0.8))))))
    return votes(rows)


def by_count(frame):
    """What the first rows of `agreement` should be, item by item."""
    with_judge, each_other = [], []
    for _, rows in frame.groupby("pair"):
        judge = rows.loc[rows["annotator"] == "llm", "score"].item()
        people = rows.loc[rows["annotator"] != "llm", "score"].to_numpy()
        if len(people) > 1:
            with_judge.append(np.mean(people == judge))
            same = people[:, None] == people[None, :]
            each_other.append((same.sum() - len(people)) / (len(people) * (len(people) - 1)))
    return np.mean(with_judge), np.mean(each_other)


def results(frame):
    return analysis.of_choices(frame, LABELS, SAMPLING)


def test_agreement_by_counting_whichever_way_round_the_votes_are(made):
    expected = by_count(made)
    mixed = turned(made, made.index[made["source_row"] % 4 == 1])
    for frame in (made, mixed):
        found = results(frame)
        share = found["choice_agreement"].set_index("pair")["estimate"]
        assert share["judge"] == pytest.approx(expected[0])
        assert share["people"] == pytest.approx(expected[1])
        assert share["difference"] == pytest.approx(expected[0] - expected[1])
        first = found["first_choice_share"].set_index("pair")["estimate"]
        decided = made[made["score"] != 0]
        model = decided["annotator"] == "llm"
        assert first["judge"] == pytest.approx((decided.loc[model, "score"] > 0).mean())
        assert first["people"] == pytest.approx((decided.loc[~model, "score"] > 0).mean())
        assert len(fold(found, study="x", notebook="13")) == sum(map(len, found.values()))


def test_alpha_of_people_is_krippendorffs_with_both_orientations(made):
    people = made[made["annotator"] != "llm"]
    several = people[people.groupby("pair")["score"].transform("size") > 1]
    wide = several.pivot_table(index="annotator", columns="pair", values="score").to_numpy()
    expected = krippendorff.alpha(np.concatenate([wide, -wide], axis=1), level_of_measurement="ordinal")
    found = results(made)["judge_alpha"].set_index("pair")["estimate"]
    assert found["people"] == pytest.approx(expected)
    assert found["difference"] == pytest.approx(found["mean"] - found["people"])


def test_orders_are_those_of_the_models_of_both(made):
    found = results(made)
    people, model = (made[(made["annotator"] == "llm") == is_llm] for is_llm in (False, True))
    scores = [bradley_terry(rows).sort_index() for rows in (people, model)]
    rho = found["judge_rank_correlation"].set_index("coefficient")["estimate"]
    assert rho["spearman_bradley_terry"] == pytest.approx(stats.spearmanr(*scores).statistic)
    first = found["judge_first_system"].iloc[0]
    assert (first["system"], first["system_b"]) == tuple(s.idxmax() for s in scores)


def test_without_scores_no_system_is_first(made):
    """A model that always prefers one of two systems gives neither a score: the library then returns equal ones."""
    model = made["annotator"] == "llm"
    always = made["score"].mask(model, np.where(made["system"] < made["system_b"], 1, -1))
    found = analysis.analyse(made.assign(score=always), LABELS, sampling=SAMPLING)
    first = found["judge_first_system"].iloc[0]
    assert np.isnan(first["estimate"])
    assert pd.isna(first["system_b"])
    assert pd.notna(first["system"])


@pytest.mark.verify
def test_printed_numbers_of_llmfao():
    """leaderboard.ipynb of dustalov/llmfao: scores and rank correlations of people, GPT-4 and GPT-3.5."""
    study = params.load("llmfao")
    votes = build.build(study).frames["annotations"]
    scores = bradley_terry(votes[votes["group"] == "crowd"]).sort_values(ascending=False)
    assert len(scores) == 59
    assert scores.head(5).round(6).to_dict() == {
        "GPT 4": 0,
        "Platypus-2 Instruct (70B)": 0.029233,
        "command": 0.028852,
        "ReMM SLERP L2 13B": 0.02715,
        "LLaMA-2-Chat (70B)": 0.026384,
    } | {"GPT 4": pytest.approx(0.041215, abs=4e-6)}
    rho = collect(row for pairs in choices.judged_pairs(votes, study.label_list()) for row in analysis.orders(pairs))
    rho = rho.select("judge_rank_correlation", coefficient="spearman_bradley_terry").set_index("metric")["estimate"]
    assert rho["gpt4"] == pytest.approx(0.731, abs=5e-4)
    people, gpt3 = (bradley_terry(votes[votes["group"] == group]) for group in ("crowd", "gpt3"))
    tied = np.diff(np.log(np.sort(gpt3))).min()
    assert tied < 1e-10, "two systems have the same votes, up to the order of additions"
    ranks = pd.DataFrame({"people": people.rank(), "gpt3": gpt3.round(9).rank()})
    assert rho["gpt3"] == pytest.approx(ranks.corr().iloc[0, 1], abs=1e-9)
