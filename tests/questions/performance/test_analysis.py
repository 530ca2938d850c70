import json

import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import comparisons, ratings, study

from judgebook.annotations import picks, scores
from judgebook.questions.performance import analysis as performance
from judgebook.questions.performance import davidson, ranking, rates, tables
from judgebook.sources import build
from judgebook.statistics.intervals import Sampling
from judgebook.study import params
from judgebook.study.labels import Label
from judgebook.study.results import Results, collect, fold

LABELS = [Label("quality", "continuous", "Quality", (-9, 9)), Label("quality", "comparative", "Quality", (-1, 1))]
SAMPLING = Sampling(300, 0.95, 1)
PICKS = {"n_picks": 2, "pick_seed": 1, "modelled": []}


def stored(results):
    return fold(results, study="x", notebook="07")


def judged(frame, **columns):
    """`frame` with the columns of a study that the made-up evaluations lack."""
    defaults = {"dialogue_b": None, "system_b": None, "session": None, "context": None, "work_unit": None}
    defaults |= {"annotator_kind": "human", "source_row": range(len(frame))}
    out = frame.assign(**{k: v for k, v in defaults.items() if k not in frame} | columns)
    return out.astype({"dialogue_b": "str", "system_b": "str", "session": "str", "context": "str"})


def twice(n=40, seed=1):
    """Ratings of two systems in shared sessions, each dialogue by two of four people."""
    rng = np.random.default_rng(seed)
    rows = []
    for s in range(n):
        for system in "ab":
            for a in rng.choice(4, 2, replace=False):
                score = int(np.clip(np.rint(3 + (system == "a") + rng.normal()), 1, 5))
                rows.append((f"d{s}{system}", system, f"s{s}", score, f"A{a}"))
    frame = ratings([r[:4] for r in rows], method="dialogue_likert")
    return judged(frame.assign(annotator=[r[4] for r in rows]), dialogue_b=None)


def test_there_is_no_second_copy_of_all_judgements(monkeypatch):
    grouped, one_by_one = [], pd.api.typing.DataFrameGroupBy.__iter__

    def recorded(groups):
        grouped.append(groups.obj)
        return one_by_one(groups)

    monkeypatch.setattr(pd.api.typing.DataFrameGroupBy, "__iter__", recorded)
    frame = twice().assign(interactor=None)
    frame = pd.concat([frame, frame.assign(label="other", source_row=frame["source_row"] + len(frame))])
    frame = frame.reset_index(drop=True)
    labels = [Label(label, "dialogue_likert", label, (1, 5)) for label in ("quality", "other")]
    assert performance.analyse(frame, labels, sampling=SAMPLING, **PICKS | {"modelled": None})
    assert not [rows for rows in grouped if {"score", "dialogue"} <= set(rows) and len(rows) == len(frame)]
    scored = scores.outcomes(frame)
    assert np.shares_memory(scored["score"].to_numpy(), frame["score"].to_numpy())


class TestChosen:
    def test_models_stay_only_where_no_person_judged(self):
        frame = judged(ratings([("d1", "a", 3), ("d1", "a", 4), ("d2", "a", 1)]), group=["x", "x", "y"])
        frame = frame.assign(annotator_kind=["human", "llm", "llm"])
        assert performance.chosen(frame)["score"].tolist() == [3, 1]

    def test_comparisons_with_dummies_or_with_itself_say_nothing(self):
        frame = judged(comparisons([("a", "b", 1), ("a", "a", 0), ("person", "b", 1), ("b", "person", 1)]))
        found = performance.chosen(frame, ["person"])
        assert found[["system", "system_b"]].to_numpy().tolist() == [["a", "b"]]
        assert found["pair"].tolist() == ["x000 and y000"]

    def test_ratings_of_dummies_stay(self):
        frame = judged(ratings([("d1", "a", 3), ("d2", "person", 4)]))
        assert len(performance.chosen(frame, ["person"])) == 2

    def test_answers_without_order_have_no_mean(self):
        frame = judged(ratings([("d1", "a", 3), ("d2", "b", 4)])).assign(annotator_kind="human")
        ((method, label),) = frame[["method", "label"]].drop_duplicates().to_numpy()
        assert len(performance.chosen(frame, labels=[Label(label, method, "x", (1, 5))])) == 2
        assert performance.chosen(frame, labels=[Label(label, method, "x", (1, 5), level="nominal")]).empty


class TestUnits:
    def test_dialogues_of_a_system_in_one_session_go_together(self):
        one = judged(ratings([("d1", "a", "s1", 3), ("d2", "b", "s1", 4)]))
        assert performance.interval_unit(one) == "dialogue"
        cuts = judged(ratings([("d1", "a", "s1", 3), ("d2", "a", "s1", 4)]))
        assert performance.interval_unit(cuts) == "session"
        assert performance.interval_unit(cuts.assign(session=None, context="c1")) == "context"

    def test_systems_are_compared_where_they_meet(self):
        frame = judged(ratings([("d1", "a", 3), ("d2", "b", 4)]))
        assert performance.ranking_unit(frame) == "dialogue"
        assert performance.ranking_unit(frame.assign(context="c")) == "context"
        assert performance.ranking_unit(frame.assign(context="c", session="s")) == "session"
        assert performance.ranking_unit(frame.assign(session=["s", None])) == "dialogue"
        pairs = judged(comparisons([("a", "b", 1)]))
        assert performance.ranking_unit(pairs.assign(session=None)) == "pair"


class TestRanked:
    def test_ratings_and_comparisons_have_ranks_and_comparisons_strengths(self):
        rng = np.random.default_rng(2)
        rated = judged(study(rng, groups=("all",)))
        pairs = judged(
            comparisons([(*rng.choice(list("abcd"), 2, replace=False), rng.integers(-1, 2)) for _ in range(90)])
        )
        frame = performance.chosen(pd.concat([rated, pairs], ignore_index=True))
        found = performance.ranked(frame, LABELS, ["d"], sampling=SAMPLING)
        chances, apart = found.pop("outcome_chance"), found.pop("data_to_separate")
        assert apart.groupby("method").size().to_dict() == {"comparative": 2, "continuous": 2}
        assert chances.groupby(["system", "system_b"])["estimate"].sum().tolist() == pytest.approx([1, 1])
        systems = {s: rows.groupby("method")["system"].agg("".join).to_dict() for s, rows in found.items()}
        both = {"comparative": "abc", "continuous": "abc"}
        compared = {s: {"comparative": "abc"} for s in ("strength", "bradley_terry")}
        assert systems == {"rank": both, "lead": both, "first_place_share": both} | compared
        assert len(stored(found)) == sum(map(len, found.values()))
        three = frame[~frame[["system", "system_b"]].isin(["d"]).any(axis=1)]
        both = three["dialogue_b"].notna()
        alone = [ranking.ranks(three[~both], LABELS, unit="session", sampling=SAMPLING)]
        (fit,) = davidson.fits(three[both], unit="session")
        alone += [davidson.strengths(fit, SAMPLING.confidence), ranking.of_strengths(fit, 1, sampling=SAMPLING)]
        alone = collect(*alone)
        alone.pop("outcome_chance")
        alone.pop("data_to_separate")
        for statistic, rows in alone.items():
            pd.testing.assert_frame_equal(found[statistic], rows)

    def test_unranked_systems_have_no_rank(self):
        found = performance.ranked(
            twice(), [Label("quality", "dialogue_likert", "Quality", (1, 5))], ["b"], sampling=SAMPLING
        )
        assert not found


class TestOverPicks:
    def test_is_the_mean_and_range_of_every_single_pick(self):
        frame = twice()
        results = collect(rates.over_picks(frame, n=7, seed=3))
        found = results["mean"].set_index("system")
        singles = [rates.published(p).set_index("system")["estimate"] for p in picks.picks(frame, 7, 3)]
        single = pd.concat(singles, axis=1)
        assert found["estimate"].to_dict() == pytest.approx(single.mean(axis=1).to_dict())
        assert found["ci_low"].to_dict() == pytest.approx(single.min(axis=1).to_dict())
        assert found["ci_high"].to_dict() == pytest.approx(single.max(axis=1).to_dict())
        assert (found["n"] == 40).all()
        assert len(stored(results)) == 2

    def test_comparisons_too(self):
        pairs = comparisons([("a", "b", x) for x in (1, 1, 0, -1)])
        other = pairs.assign(annotator="A2", score=-pairs["score"])
        frame = judged(pd.concat([pairs, other], ignore_index=True))
        found = collect(rates.over_picks(frame, n=5, seed=1))["share"]
        singles = pd.concat([rates.published(p)["estimate"] for p in picks.picks(frame, 5, 1)], axis=1)
        assert found["estimate"].tolist() == pytest.approx(singles.mean(axis=1).tolist())

    def test_items_judged_once_have_no_row(self):
        frame = twice()
        once = frame[~frame.duplicated("dialogue")]
        assert not list(rates.over_picks(once, n=3, seed=1))
        assert not list(rates.over_picks(once.iloc[:0], n=3, seed=1))


def test_over_systems_by_hand():
    rows = [
        ("d1", "a", "s1", 1),
        ("d1", "a", "s1", 0),
        ("d2", "b", "s1", 0),
        ("d2", "b", "s1", 0),
        ("d3", "c", "s2", 1),
    ]
    frame = judged(ratings(rows, method="behavior", label="redundant", turn=0))
    clustered = collect(rates.clustered(frame, sampling=SAMPLING))["rate"]
    results = performance.over_systems(frame, clustered, ["c"], sampling=SAMPLING)
    found = results["rate_summary"]
    value = found.set_index(["summary", found["system"].fillna("")])["estimate"].to_dict()
    assert value == {
        ("all", ""): 0.25,
        ("lowest", ""): 0.0,
        ("highest", ""): 0.5,
        ("without", "a"): 0.5,
        ("without", "b"): 1.0,
    }
    assert found.set_index("summary").loc["highest", "note"] == "a"
    turned, own = (f[f["system"] == "a"].iloc[0] for f in (found, clustered))
    assert (turned["ci_low"], turned["ci_high"]) == (1 - own["ci_high"], 1 - own["ci_low"])
    assert len(stored(results)) == 5


def test_over_systems_of_ratings_is_empty():
    frame = twice()
    assert not performance.over_systems(
        frame, collect(rates.clustered(frame, sampling=SAMPLING))["rate"], sampling=SAMPLING
    )


def test_interactors_are_joined_by_dialogue():
    frame = judged(ratings([("d1", "a", 3), ("d2", "b", 4)]))
    talked = pd.DataFrame({"corpus": "main", "dialogue": ["d1", "d1", "d2"], "interactor": ["p", "p", None]})
    assert performance.with_interactors(frame, talked)["interactor"].tolist()[0] == "p"
    assert performance.with_interactors(frame, talked)["interactor"].isna().tolist() == [False, True]


def test_design_effects_need_people_who_are_known():
    frame = twice().assign(interactor=None)
    found = performance.design_effects_of_people(frame)["design_effect"]
    assert found[["of", "unit"]].drop_duplicates().to_numpy().tolist() == [["mean", "annotator"]]
    pd.testing.assert_frame_equal(found, collect(rates.design_effects(frame, "annotator"))["design_effect"])
    assert not performance.design_effects_of_people(frame.assign(annotator_known=False))


@pytest.fixture(scope="module")
def marks(raw_data):
    """GPT-ABCEval: the study as the notebook sees it, and the marks of people straight from the file."""
    built = build.build(params.load("gpt_abceval"))
    file = raw_data / "gpt_abceval" / "behavior-classification-results.json"
    rows = [
        (dialogue.split("_", 1)[1], label.replace(" ", "_"), mark)
        for dialogue, turns in json.loads(file.read_text(encoding="utf-8")).items()
        for turn in turns
        for label, by in turn["behaviors"].items()
        for mark in by["human"]
    ]
    return built.frames["annotations"], pd.DataFrame(rows, columns=["system", "label", "mark"])


@pytest.mark.data
def test_rates_of_people_are_those_counted_in_the_file(marks):
    annotations, counted = marks
    people = performance.chosen(annotations[annotations["group"] == "people"])
    found = rates.published(people)  # all annotations: no pick
    expected = counted.groupby(["label", "system"])["mark"].mean().to_dict()
    assert found.set_index(["label", "system"])["estimate"].to_dict() == pytest.approx(expected)
    over = collect(rates.over_picks(people, n=20, seed=123))["rate"]
    # a random pick is right on average: twenty picks of some four hundred turns
    assert over.set_index(["label", "system"])["estimate"].to_dict() == pytest.approx(expected, abs=0.02)
    assert ((over["ci_low"] <= over["estimate"]) & (over["estimate"] <= over["ci_high"])).all()


@pytest.mark.data
def test_what_section_8_says_of_blender2_and_empathy_holds_in_the_public_marks(marks):
    annotations, _ = marks
    people = performance.chosen(annotations[annotations["group"] == "people"])
    one = next(picks.picks(people, 1, 123))
    clustered = collect(rates.clustered(one, sampling=SAMPLING))["rate"]
    told = performance.over_systems(one, clustered, sampling=SAMPLING)["rate_summary"]
    fact = clustered[(clustered["label"] == "incorrect_fact") & (clustered["system"] == "blender2_3B")].iloc[0]
    assert fact["estimate"] < 0.01  # hallucinates at less than 1%
    without = told[(told["summary"] == "without") & (told["system"] == "blender2_3B")]
    relevant = without.set_index("label").loc["irrelevant"]
    assert relevant["ci_low"] < 0.9 < relevant["ci_high"]  # nearly 90%
    empathetic = told[told["summary"] == "all"].set_index("label").loc["empathetic"]
    assert empathetic["ci_low"] < 0.4 < empathetic["ci_high"]  # 40% of responses


@pytest.mark.data
def test_each_number_of_section_8_has_one_result_row(marks):
    annotations, _ = marks
    one = next(picks.picks(performance.chosen(annotations), 1, 123))
    clustered = collect(rates.clustered(one, sampling=SAMPLING))
    results = Results(clustered | performance.over_systems(one, clustered["rate"], sampling=SAMPLING))
    cells = tables.printed_rates(results, "gpt_abceval", "07_bot_performance").set_index(["row", "column"])
    assert len(cells) == 16
    assert sorted(cells.index[cells["here"].isna()]) == [
        ("correct_fact", "blender2"),
        ("uninterpretable", "all_bots_upper"),
    ]
    lack = clustered.select("rate", group="people", label="lack_of_empathy")["estimate"]
    assert cells.loc[("lack_of_empathy", "high"), "here"] == pytest.approx(100 * lack.max())
    # below 1%, but the interval includes it
    assert cells.loc[("incorrect_fact", "blender2_upper"), "reading"] == "open"


class TestUnit:
    """`bootstrap.unit`: what intervals of rates, means and shares resample."""

    def test_the_study_may_name_it(self):
        frame = twice().assign(interactor=None)
        means = performance.analyse(frame, LABELS, unit="session", **PICKS, sampling=SAMPLING)["mean"]
        theirs = collect(rates.clustered(frame, unit="session", sampling=SAMPLING))["mean"]
        ours = means[means["interval"] == "session"]
        assert ours[["ci_low", "ci_high"]].to_numpy().tolist() == theirs[["ci_low", "ci_high"]].to_numpy().tolist()
        default = performance.analyse(frame, LABELS, **PICKS, sampling=SAMPLING)["mean"]
        assert set(default["interval"]) == {"dialogue", "dialogue and annotator", "independent", "picks"}
        same = performance.analyse(frame, LABELS, unit="dialogue", **PICKS, sampling=SAMPLING)["mean"]
        pd.testing.assert_frame_equal(default, same)

    def test_turns_are_a_unit_of_judgements_of_turns_only(self):
        """With turns every score of a turn is its own cluster, as if the dialogue did not matter."""
        rng = np.random.default_rng(3)
        rows = [(f"d{d}", "ab"[d % 2], float(rng.integers(1, 6))) for d in range(40) for _ in range(5)]
        turns = judged(ratings(rows, method="turn_likert")).assign(annotator_known=True)
        turns = turns.assign(turn=turns.groupby("dialogue").cumcount().astype("Int32"))
        both = pd.concat([turns, twice()], ignore_index=True)
        (first, of_turns), (second, others) = performance.by_unit(both, "turn")
        assert (first, of_turns["turn"].nunique(), set(of_turns["method"])) == ("turn", 200, {"turn_likert"})
        assert (second, set(others["method"])) == ("dialogue", {"dialogue_likert"})
        found = collect(rates.clustered(of_turns, unit="turn", sampling=SAMPLING))
        assert set(found["mean"]["n_clusters"]) == {100}
        assert found["design_effect"]["estimate"].tolist() == pytest.approx([1, 1])
