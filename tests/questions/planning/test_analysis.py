"""What is planned from a pilot, and what is said of it: facts, for the cases that people meet."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fixtures import planned_studies
from fixtures.planned_studies import judged

from judgebook.display.names import display_names
from judgebook.model import designs
from judgebook.model.designs import Design
from judgebook.questions.performance import analysis as performance
from judgebook.questions.planning import analysis, pilot_study, views
from judgebook.questions.planning.pilot_study import Prices
from judgebook.questions.planning.question import Planning
from judgebook.statistics.intervals import Sampling
from judgebook.study import params
from judgebook.study.schema import ANNOTATIONS, WORK_UNITS, conform
from judgebook.study.sections.margins import by_label

QUICK = {"dialogues": [20, 80], "per_dialogue": [1, 2]}
#: minutes of a judgement, of a conversation
TIMES = {"minutes_per_judgement": {"dialogue_likert": 2.0, "comparative": 3.0}, "minutes_per_dialogue": 5.0}


@pytest.fixture(scope="module")
def study():
    return params.of_text(planned_studies.YAML, Path("s.yaml"))


def pilot_of(*kinds, **shape):
    frames = [judged(kind, **{"n": 60, "people": 6} | shape).assign(study="s", source_row=0) for kind in kinds]
    return conform(pd.concat(frames, ignore_index=True), ANNOTATIONS)


def material_of(study, frame, named="abcd", margin=None, **options):
    none = pd.DataFrame(columns=list(WORK_UNITS))
    chosen = Planning(**QUICK | options)
    given = {"systems": list(named), "hourly_rate": 12.0, "seed": 1}
    margins = by_label(margin or {}, study.label_list())
    return pilot_study.planning_input(frame, none, study.label_list(), chosen, margins, **given)


def planned(study, frame, margin=None, **options):
    """Planning input, options, results, names, facts."""
    data, chosen = material_of(study, frame, "ab", margin, **options), Planning(**QUICK | options)
    results, names = analysis.analyse(data, chosen, confidence=0.95, seed=1), display_names(study, frame)
    return data, chosen, results, names, views.facts(results, data, names, chosen)


def said(data, chosen, results, names, _=None):
    """Prose, tables and figures of what `planned` gives can be made; the prose as one text."""
    made = [views.boundaries(results), views.designs(results, names, currency="EUR")]
    made += [*views.maps(results, names, currency="EUR")]
    assert all(len(m.caption) > 20 for m in made)
    return " ".join(str(p.text) for p in views.findings(results, data, names, chosen, currency="EUR"))


@pytest.fixture(scope="module")
def both(study):
    return planned(study, pilot_of("dialogue_likert", "comparative", shift=1.0), **TIMES, budget=400.0)


def test_the_cheapest_design_finds_the_difference_and_one_dialogue_less_does_not(both):
    data, options, results, _, facts = both
    assert facts["lost"] == []
    found = results.select("plan_detectable", aim="cheapest").set_index("method")["estimate"]
    for case, pilot in zip(sorted(facts["methods"], key=lambda m: m["pairwise"]), data.pilots, strict=True):
        wanted = data.wanted(pilot)
        assert wanted == pytest.approx(options.effect * pilot.sd)
        assert case["found"] == 1
        assert found[pilot.method] <= wanted
        assert designs.found(pilot.fit, data.design(pilot, case["n"] - 1, case["each"])) > wanted
        assert case["people"] == data.design(pilot, case["n"], case["each"]).annotators
        talked, judged_ = 5.0 * (2 if case["pairwise"] else 1), 3.0 if case["pairwise"] else 2.0
        sides = 1 if case["pairwise"] else 2  # two systems, or one pair of them
        assert case["hours"] == pytest.approx(sides * case["n"] * (talked + case["each"] * judged_) / 60)
        assert case["money"] == pytest.approx(12 * case["hours"])
    bought = results.select("plan_cost", aim="budget", resource="money")["estimate"]
    assert len(bought) == 2
    assert bought.between(0.9 * 400, 400).all()


@pytest.mark.parametrize("kind", ["dialogue_likert", "comparative"])
def test_a_plan_of_the_study_itself_is_what_the_first_page_says_of_it(study, kind):
    """The difference found, its reliability, and the data that would tell the first from the second are those of
    notebook 07, from which the page has them."""
    frame = pilot_of(kind, shift=0.15, n=90)
    data, options, *_ = planned(study, frame)
    (pilot,) = data.pilots
    judged_ = performance.chosen(frame, (), study.label_list())
    given = {"sampling": Sampling(10, 0.95, 1)}
    stored = performance.analyse(judged_.assign(interactor=None), study.label_list(), **given)
    own = data.design(pilot, 90, 2)
    assert own.annotators == 6
    found = stored["difference_found"]["estimate"].item()
    assert designs.found(pilot.fit, own) == pytest.approx(found, rel=0.02)
    times = stored["data_to_separate"]["estimate"].item()
    apart = analysis.cheapest([pilot], [pilot.lead], data, options, 0.95)
    if times > 1 and apart.per_dialogue == 2:
        assert apart.dialogues == pytest.approx(90 * times, rel=0.05)
    if kind == "dialogue_likert":
        row = stored["order_reliability"].iloc[0]
        assert (row["n_dialogues"], row["annotators_per_dialogue"]) == (90, 2)
        expected = (row["estimate"], row["ci_low"], row["ci_high"])
        assert designs.reliability(pilot.fit, own) == pytest.approx(expected, rel=0.05)


def test_one_design_serves_the_neediest_label(both):
    data, options, *_ = both
    pilot = data.pilots[0]
    alone = [analysis.cheapest([pilot], [d], data, options, 0.95) for d in (0.5, 0.3)]
    together = analysis.cheapest([pilot, replace(pilot, label="y")], [0.5, 0.3], data, options, 0.95)
    assert together == max(alone, key=lambda design: design.dialogues)


def test_a_difference_as_wide_as_the_scale_is_not_found(study):
    frame = pilot_of("dialogue_likert", "comparative")
    every = planned(study, frame, effect=5.0)
    assert every[-1]["too_wide"] == ["Rated", "Compared"]
    assert every[-1]["lost"] == []
    assert "No study can be planned" in said(*every)


def test_what_no_number_of_dialogues_finds_is_lost(study):
    """Two people: whether others see the difference, no number of dialogues says."""
    every = planned(study, pilot_of("dialogue_likert", people=12, n=150), margin={"x": 0.1}, annotators=2)
    assert every[-1]["lost"] == ["Rated"]
    assert "Not even 100,000 dialogues" in said(*every)


def test_a_budget_that_pays_for_n_dialogues_exactly_buys_n(study):
    """0.6 EUR a dialogue of three systems: 12 EUR pay for 20, though 12 / 0.6 is 19.999… by rounding."""
    data, options, *_ = planned(study, pilot_of("dialogue_likert"), systems=3, per_dialogue=[1])
    data = replace(data, prices={"dialogue_likert": Prices(0.0, 1.0, 12.0)})
    for n in range(2, 60):
        budget = round(n * 0.6, 2)
        assert analysis._affordable(data.pilots[0], budget, data, options).dialogues == n
        if n > 2:
            assert analysis._affordable(data.pilots[0], budget - 0.01, data, options).dialogues == n - 1


def test_costs_by_hand():
    prices, design = Prices(10.0, 3.0, 20.0), Design(30, 2, 5, 4)
    assert prices.hours(design) == pytest.approx(30 * 4 * (10 + 2 * 3) / 60)
    assert prices.hours(design, pairwise=True) == pytest.approx(30 * 6 * (20 + 2 * 3) / 60)
    assert prices.cost(design) == pytest.approx(20 * 32)
    assert Prices(None, 3.0, 20.0).hours(design) == Prices(0.0, 3.0, 20.0).hours(design) == 12


def test_a_judgement_takes_what_it_took_the_group_that_is_planned_from(study):
    """Those who talked rated their own dialogue in a minute; who had to read it first took four, in two tasks."""
    frame = pilot_of("dialogue_likert")
    of_dialogue = frame.groupby(["annotator", "dialogue"]).ngroup().astype(str)
    frame = conform(frame.assign(work_unit="u" + of_dialogue), ANNOTATIONS)
    units = frame.drop_duplicates("work_unit")[["study", "corpus", "group", "annotator", "work_unit"]]
    read = [units.assign(part="whole", task=task, seconds=60.0 * n) for task, n in (("fluency", 3), ("empathy", 1))]
    talked = units.assign(group="talkers", annotator="T", work_unit="t" + units["work_unit"], task="chat")
    talked = [talked.assign(part=part, seconds=60.0 * n) for part, n in (("first_bot", 8), ("first_likert", 1))]
    work = conform(pd.concat([*talked, *read], ignore_index=True), WORK_UNITS)
    (prices,) = pilot_study._prices(frame, work, Planning(), 12.0).values()
    assert prices == Prices(8.0, 4.0, 12.0)
    stated = Planning(minutes_per_judgement={"dialogue_likert": 2.0}, minutes_per_dialogue=0.0)
    assert pilot_study._prices(frame, work, stated, 12.0) == {"dialogue_likert": Prices(0.0, 2.0, 12.0)}


def test_systems_that_only_ever_come_second_count(study):
    frame = pilot_of("comparative")
    odd = frame["session"].str[1:].astype(int) % 2 == 1
    data = material_of(study, frame.assign(system_b=frame["system_b"].mask(odd, "c")))  # a with b, a with c
    assert data.n_systems == 3
    assert material_of(study, frame, "ab").n_systems == 2
    assert material_of(study, frame, systems=5).n_systems == 5


def test_sessions_are_paired_where_most_hold_all_systems(study):
    frame = pilot_of("dialogue_likert")
    number = frame["session"].str[1:].astype(int)
    assert material_of(study, frame).paired
    assert not material_of(study, frame, paired=False).paired
    others = frame["system"].map({"a": "c", "b": "d"})
    half = frame.assign(system=frame["system"].mask(number % 2 == 1, others))  # two of four systems in each session
    assert not material_of(study, half).paired
    assert material_of(study, half, paired=True).paired
    few = frame[~((frame["system"] == "b") & (number < 20))]
    assert material_of(study, few).paired
    most = frame[~((frame["system"] == "b") & (number < 40))]
    assert not material_of(study, most).paired


def test_a_corpus_of_one_system_is_no_pilot(study):
    """Though it has most judgements."""
    frame = pilot_of("dialogue_likert")
    large = [frame.assign(system="a", dialogue=frame["dialogue"] + suffix, corpus="large") for suffix in "xy"]
    data = material_of(study, pd.concat([*large, frame], ignore_index=True))
    assert (data.corpus, len(data.pilots)) == ("main", 1)
    with pytest.raises(ValueError, match="two systems"):
        material_of(study, frame.assign(annotator_kind="llm"))


def test_annotators_have_the_loads_of_the_pilot_or_are_as_many_as_stated(study):
    frame = pilot_of("dialogue_likert", people=6)  # 60 dialogues of two systems, by two each: 40 judgements a head
    data = material_of(study, frame)
    (pilot,) = data.pilots
    assert [data.design(pilot, n, m).annotators for n, m in ((60, 2), (120, 2), (61, 2), (10, 1), (2, 5))] == [
        6, 12, 7, 2, 5
    ]  # fmt: skip
    fixed = material_of(study, frame, annotators=9)
    assert fixed.design(pilot, 200, 2).annotators == 9
    (unknown,) = material_of(study, frame.assign(annotator_known=False)).pilots
    assert data.design(unknown, 60, 2).annotators == np.inf


def test_a_pilot_with_one_annotator(study):
    """What the annotator adds cannot be distinguished, and nothing is said about others."""
    every = planned(study, pilot_of("dialogue_likert", people=1, each=1), **TIMES)
    assert every[-1]["others"] is False
    assert "for these annotators" in said(*every)
    assert (every[2]["plan_detectable"]["annotators_per_dialogue"] == 1).all()


def test_where_nothing_was_judged_twice_designs_have_one_annotator_per_dialogue(study):
    """A further annotator's share of the residual is unknown: dialogues vary with it, too, and do not average out."""
    every = planned(study, pilot_of("dialogue_likert", "comparative", each=1), per_dialogue=[2, 3], **TIMES)
    designed = (every[2][name] for name in ("plan_detectable", "plan_dialogues"))
    assert all(set(rows["annotators_per_dialogue"].dropna()) == {1} for rows in designed)
    assert every[-1]["once"] == ["Rated", "Compared"]


def test_a_stated_difference_is_that_of_ratings_unless_its_method_is_named(study):
    frame = pilot_of("dialogue_likert", "comparative")
    data = material_of(study, frame, margin={"x": 0.4})
    assert data.differences["dialogue_likert", "x"] == 0.4
    assert data.differences["comparative", "x"] == pytest.approx(0.5 * data.pilots[1].sd)
    own = {"x": 0.4, "comparative": {"x": 0.3}}
    assert material_of(study, frame, margin=own).differences["comparative", "x"] == 0.3
    compared = [label for label in study.label_list() if label.method == "comparative"]
    assert by_label({"x": 0.2}, compared) == {("comparative", "x"): 0.2}
