"""Every check of the design finds its planted fault, and not in the same study without it."""

import re
from functools import cache

import numpy as np
import pandas as pd
import pytest
from fixtures.planted_designs import LABELS, SYSTEMS, VOTE, ratings, talk, votes

from judgebook.display.names import DisplayNames
from judgebook.questions.design import analysis, findings
from judgebook.questions.design.analysis import examine
from judgebook.questions.design.material import ANSWERS, CHECKS, UNKNOWN
from judgebook.sources.sampling import UNUSED
from judgebook.study.labels import METHODS, Label
from judgebook.study.results import fold, unfold

SEED = 4
TITLES = {
    "method": {m.id: m.title for m in METHODS.values()},
    "group": {},
    "corpus": {},
    "system": {"beta": "Beta; 2*"},
}
NAMES = DisplayNames({(x.method, x.id): x for x in LABELS + VOTE}, TITLES)


def few_do_each(marks, systems=SYSTEMS):
    """Only judgements by people of the system's own: two people each."""
    own = {s: {f"p{2 * i}", f"p{2 * i + 1}"} for i, s in enumerate(systems)}
    return marks[[a in own[s] for a, s in zip(marks["annotator"], marks["system"], strict=True)]]


def crossed(seed=SEED, **given):
    """Everybody judges everything."""
    return ratings(seed, each=given.pop("people", 6), people=given.pop("all", 6), **given)


def confounded():
    marks, talk_ = crossed()
    return few_do_each(marks), talk_


def few():
    return ratings(SEED, people=3, each=3)


def dominant():
    marks, talk_ = crossed()
    return marks[(marks["annotator"] == "p0") | (np.arange(len(marks)) % 6 == 0)], talk_


def voter():
    return votes(SEED, load=[40, *[1] * 11])


def sessions():
    marks, talk_ = ratings(SEED, people=1, each=1)
    return marks.assign(annotator="p" + marks["dialogue"], session=marks["dialogue"]), talk_


def several_sessions():
    marks, talk_ = ratings(SEED, each=2)
    return marks.assign(session=marks["dialogue"]), talk_


def copied():
    marks, talk_ = crossed()
    copy = marks[marks["annotator"] == "p0"].assign(annotator="p1")
    return pd.concat([marks[marks["annotator"] != "p1"], copy]), talk_


def constant():
    marks, talk_ = crossed()
    return marks.assign(score=marks["score"].where(marks["annotator"] != "p2", 3.0)), talk_


def timed(fast):
    marks, talk_ = crossed(all=8, people=8)
    rng = np.random.default_rng(SEED)
    usual = np.exp(rng.normal(4, 0.3, len(marks)))
    seconds = usual * np.where(fast & (marks["annotator"] == "p3"), 0.08, 1.0)
    unit = marks["annotator"] + marks["dialogue"]
    return marks.assign(work_unit=unit, seconds=pd.Series(seconds, marks.index).groupby(unit).transform("first")), talk_


def bursts(fast):
    """A vote a minute by each of 12 voters, but once ten in twenty seconds by one; one voter's times are missing."""
    marks, talk_ = votes(SEED)
    minutes = 60.0 * marks.groupby("annotator").cumcount() + np.random.default_rng(SEED).uniform(0, 40, len(marks))
    some = marks.index[marks["annotator"] == "v3"][12:22]
    minutes[some] = minutes[some[0]] + 2.0 * np.arange(10) if fast else minutes[some]
    times = pd.Timestamp("2026-11-30") + pd.to_timedelta(minutes, unit="s")
    return marks.assign(completed_at=times.mask(marks["annotator"] == "v5")), talk_


def spelt_people():
    marks, talk_ = crossed()
    return marks.assign(annotator=marks["annotator"].replace("p4", "P-3")), talk_


def spelt_systems():
    marks, _ = crossed()
    odd = marks["dialogue"].str.endswith(("1", "3", "5"))
    marks = marks.assign(system=marks["system"].where(~(odd & (marks["system"] == "beta")), "Bеta\u200b"))  # Cyrillic е
    return marks, talk(marks)


def unequal():
    return crossed(n=[5, 60, 60])


def one_dialogue():
    marks, talk_ = ratings(SEED, n=12)
    turns = [marks.assign(turn=0)]
    turns += [marks[marks["dialogue"] == "alpha-0"].assign(turn=t) for t in range(1, 20)]
    return pd.concat(turns).assign(method="turn_likert"), talk_


def sharing(of, n, shared):
    """Ratings of `of` systems on `n` prompts each, of which `shared` are the same for all."""
    marks, talk_ = ratings(SEED, systems=[f"s{i:02}" for i in range(of)], n=n, each=1, labels=("quality",))
    number = marks["dialogue"].str[4:].astype(int)
    return marks.assign(context=marks["dialogue"].radd("own ").where(number >= shared, "c" + number.astype(str))), talk_


def crowd(of, load, nested):
    """Ratings of `of` systems by annotators with `load` dialogues each, all of one system or of any."""
    marks, talk_ = ratings(SEED, systems=[f"s{i:02}" for i in range(of)], n=24, people=1, each=1, labels=("quality",))
    marks = marks.sort_values("system" if nested else "score", kind="stable")
    return marks.assign(annotator=[f"w{i // load}" for i in range(len(marks))]), talk_


def repeated():
    marks, talk_ = crossed()
    again = talk_[talk_["system"] == "alpha"].head(8)
    more = marks[marks["dialogue"].isin(again["dialogue"])]
    return (pd.concat([marks, more.assign(dialogue=more["dialogue"] + "'")]),
            pd.concat([talk_, again.assign(dialogue=again["dialogue"] + "'")]))  # fmt: skip


def missing():
    marks, talk_ = crossed()
    gone = (marks["system"] == "beta") & (marks["score"] <= 2)
    return marks.assign(score=marks["score"].where(~gone)), talk_


def missing_at_random():
    marks, talk_ = crossed()
    return marks.assign(score=marks["score"].where(np.random.default_rng(SEED).random(len(marks)) > 0.1)), talk_


def queue(enriched, column="inclusion_probability"):
    """A review queue: all flagged dialogues, and a fifth of the others; or numbers that say nothing of scores."""
    rng = np.random.default_rng(SEED)
    marks, _ = crossed(n=200)
    bad = marks.groupby("dialogue")["score"].transform("mean") < 2.5
    chance = np.where(bad, 1.0, 0.2) if enriched else rng.choice([0.2, 1.0], len(marks))
    marks = marks.assign(p=pd.Series(chance, marks.index).groupby(marks["dialogue"]).transform("first"))
    kept = rng.random(200 * 3) < marks.groupby("dialogue")["p"].first().to_numpy()
    marks = marks[marks["dialogue"].isin(marks["dialogue"].drop_duplicates().sort_values()[kept])]
    facts = marks[["dialogue", "p"]].drop_duplicates("dialogue").assign(corpus="main", key=UNUSED + column)
    facts = facts.rename(columns={"p": "value"}).astype({"value": str})
    return marks.drop(columns="p"), talk(marks), {"dialogue_facts": facts}


def position(effect):
    marks, talk_ = votes(SEED, n=900)
    rng = np.random.default_rng(1)
    first = np.where(marks["first_shown"] == "left", 1.0, -1.0)
    turned = rng.random(len(marks)) < (0.4 if effect else 0.0)
    return marks.assign(score=np.where(turned, first, marks["score"])), talk_


def own_position():
    marks, talk_ = votes(SEED)
    first = np.where(marks["system"] == "alpha", "left", np.where(marks["system_b"] == "alpha", "right", None))
    return marks.assign(first_shown=marks["first_shown"].where(first == None, first)), talk_  # noqa: E711


def in_time(sequential):
    marks, talk_ = crossed()
    rng = np.random.default_rng(SEED)
    when = rng.random(len(marks))
    when = when / 3 + marks["system"].map({s: i / 3 for i, s in enumerate(SYSTEMS)}) if sequential else when
    score = (marks["score"] - np.round(4 * when * sequential)).clip(1, 5)
    return marks.assign(
        completed_at=pd.Timestamp("2024-01-01") + pd.to_timedelta(when * 1e6, unit="s"), score=score
    ), talk_


def apart():
    marks, talk_ = votes(SEED)
    near = {"alpha": 0, "beta": 0, "gamma": 1, "delta": 1}
    return marks[marks["system"].map(near) == marks["system_b"].map(near)], talk_


def circle():
    return votes(
        SEED, systems=SYSTEMS, n=900, beats={("alpha", "beta"): 0.8, ("beta", "gamma"): 0.8, ("gamma", "alpha"): 0.8}
    )


def labelled(change):
    marks, talk_ = crossed()
    return marks.assign(score=change(marks)), talk_


def named(label):
    marks, talk_ = crossed(labels=("quality",))
    return marks.assign(label=label.id), talk_, {"labels": [label]}


def judged(same, name="judge"):
    marks, talk_ = crossed()
    own = marks.groupby(["dialogue", "label"], as_index=False).agg(
        system=("system", "first"), score=("score", "median")
    )
    score = own["score"] if same else np.random.default_rng(1).integers(1, 6, len(own))
    majority = marks.groupby(["dialogue", "label"])["score"].agg(lambda s: s.mode().iloc[0]).to_numpy()
    model = own.assign(
        score=majority if same else score, annotator=name, annotator_kind="llm", method="dialogue_likert"
    )
    return pd.concat([marks.assign(annotator_kind="human"), model.astype({"score": float})], ignore_index=True), talk_


DECLARED = Label("hallucination", "dialogue_likert", "X", (1, 5))
NOBODY_SAID = Label("hallucination", "dialogue_likert", "X", (1, 5), direction=0, direction_declared=False)
#: code -> study with the fault, and its clean twin
CASES = {
    "confounded_annotators": (confounded, crossed),
    "few_annotators": (few, crossed),
    "dominant_annotator": (dominant, crossed),
    "dominant_voter": (voter, votes),
    "annotator_is_session": (sessions, several_sessions),
    "copied_annotator": (copied, crossed),
    "constant_annotator": (constant, crossed),
    "fast_annotator": (lambda: timed(True), lambda: timed(False)),
    "burst_voter": (lambda: bursts(True), lambda: bursts(False)),
    "annotator_spellings": (spelt_people, crossed),
    "system_spellings": (spelt_systems, crossed),
    "unequal_n": (unequal, crossed),
    "single_item_context": (one_dialogue, crossed),
    "unbalanced_contexts": (lambda: sharing(3, 60, 0), lambda: sharing(3, 60, 60)),
    "repeated_rows": (repeated, crossed),
    "missing_by_system": (missing, missing_at_random),
    "enriched_sample": (lambda: queue(True), lambda: queue(False, "weight")),
    "order_effect": (lambda: position(True), lambda: position(False)),
    "order_is_system": (own_position, votes),
    "drift": (lambda: in_time(1), lambda: in_time(0)),
    "uncompared_pairs": (apart, votes),
    # in the twin with SEED, the response shown first wins by chance (p = 0.0001)
    "cycles": (circle, lambda: votes(SEED + 1, systems=SYSTEMS, n=900)),
    "undeclared_direction": (lambda: named(NOBODY_SAID), lambda: named(DECLARED)),
    "outside_scale": (lambda: labelled(lambda m: m["score"].where(m.index % 50 > 0, 7.0)), crossed),
    "missing_codes": (lambda: labelled(lambda m: m["score"].where(m.index % 50 > 0, 99.0)), crossed),
    "unused_scale_ends": (lambda: labelled(lambda m: m["score"].clip(2, 5)), crossed),
    "constant_label": (lambda: labelled(lambda m: m["score"].where(m["label"] != "fluency", 4.0)), crossed),
    "dependent_judge": (lambda: judged(True), lambda: judged(False)),
}


def checked(made):
    marks, talk_, *more = made
    given = more[0] if more else {}
    labels = [
        Label(label.id, m, label.title, label.scale) for m in ("dialogue_likert", "turn_likert") for label in LABELS
    ]
    return examine(marks, talk_, given.pop("labels", labels + VOTE), **given)


@cache
def clean(make):
    """What is found in a clean study, which several faults have for a twin."""
    return checked(make())


def test_every_check_has_a_case():
    assert set(CASES) == set(CHECKS)


@pytest.mark.parametrize("code", CASES)
def test_a_planted_fault_is_named_and_its_clean_twin_raises_no_alarm(code):
    """First or nearly; stored and read again it says the same."""
    fault = CASES[code][0]()
    examined, twin = checked(fault), clean(CASES[code][1])
    assert code in list(dict.fromkeys(f.code for f in examined.findings))[:3]
    assert all(0 <= f.price <= UNKNOWN and set(f.touches) <= set(ANSWERS) for f in examined.findings)
    results = analysis.store(examined, fault[0].assign(corpus="main"))
    again = analysis.stored(unfold(fold(results, study="s", notebook="17_design_check")))
    said = findings.worded(examined, NAMES)
    assert findings.worded(again, NAMES) == said
    (own,) = [one for one in said if one.code == code]
    assert own.touches
    assert not re.search(r"\bnan\b|None", own.what + own.change + own.todo)
    assert twin.findings == []
    assert code in twin.passed
    for one in (examined, twin):
        assert {f.code for f in one.findings} | {u.code for u in one.unchecked} | set(one.passed) == set(CHECKS)
        assert all(u.reason.endswith(".") for u in one.unchecked)


def codes(made):
    return {one.code for one in checked(made).findings}


@pytest.mark.parametrize("of", [2, 5, 20])
def test_few_contexts_in_common_are_a_fault_though_all_systems_share_as_few(of):
    """Of 100 prompts; what random assignment would give is no excuse."""
    found = [n for n in (0, 1, 5, 20, 50, 95, 100) if "unbalanced_contexts" in codes(sharing(of, 100, n))]
    assert found == [0, 1, 5, 20]


def test_one_shared_prompt_of_99_does_not_hide_that_each_system_had_its_own():
    """Five systems with 20 answers each, and one prompt that two of them answered: too weak a link to adjust by."""
    marks, talk_ = sharing(5, 20, 0)
    examined = checked((marks.replace({"context": {"own s01-0": "own s00-0"}}), talk_))
    (own,) = [one for one in findings.worded(examined, NAMES) if one.code == "unbalanced_contexts"]
    assert own.price == 0.5
    assert own.what.endswith("different contexts; all 10 pairs of systems have less than half in common.")
    assert "moves" not in own.change


def test_contexts_with_missing_cells_or_that_nobody_declared_and_blocks_of_a_design_are_no_fault():
    """People who chat have no contexts; of six bots each two talk to each other, unless half never meet the others."""
    marks, talk_ = sharing(5, 40, 40)
    gone = marks["dialogue"].drop_duplicates().sample(frac=0.1, random_state=SEED)
    assert "unbalanced_contexts" not in codes((marks[~marks["dialogue"].isin(gone)], talk_))
    for own in (None, marks["dialogue"]):
        assert "unbalanced_contexts" in [u.code for u in checked((marks.assign(context=own), talk_)).unchecked]
    marks, talk_ = sharing(6, 30, 0)
    system, number = (marks["dialogue"].str[part].astype(int) for part in (slice(1, 3), slice(4, None)))
    for step, of, found in ((1, 5, False), (2, 2, True)):
        partner = (system + step * (1 + number % of)) % 6
        pair = [f"{min(s, o)}{max(s, o)}-{n // of}" for s, o, n in zip(system, partner, number, strict=True)]
        assert ("unbalanced_contexts" in codes((marks.assign(context=pair), talk_))) == found


@pytest.mark.parametrize(("of", "load"), [(2, 6), (5, 2), (20, 3)])
def test_annotators_of_one_system_each_are_named_though_each_pair_has_too_few_to_tell(of, load):
    """Who judged one dialogue is part of the noise between dialogues."""
    made = [crowd(of, load, nested=True), crowd(of, load, nested=False), crowd(of, 1, nested=True)]
    assert ["confounded_annotators" in codes(one) for one in made] == [True, False, False]


def test_copies_are_named_where_all_others_are_copies_too():
    marks, talk_ = crossed(people=4, all=4)
    same = marks["annotator"].replace({"p2": "p0", "p3": "p1"})
    score = marks.groupby(["dialogue", "label", same])["score"].transform("first")
    assert "copied_annotator" in codes((marks.assign(score=score), talk_))


def test_a_voter_who_copies_is_found_among_many():
    """Of 200, more than are compared pair by pair elsewhere; sides are turned in some of the votes of the copy."""
    marks, talk_ = votes(SEED, n=8000, people=200)
    assert not checked((marks, talk_)).findings
    own = marks[marks["annotator"] == "v7"]
    turned = own.index[::3]
    ends = {"system": "system_b", "dialogue": "dialogue_b", "system_b": "system", "dialogue_b": "dialogue"}
    copy = own.assign(annotator="v9")
    for one, other in ends.items():
        copy.loc[turned, one] = own.loc[turned, other]
    copy.loc[turned, "score"] *= -1
    every = pd.concat([marks[marks["annotator"] != "v9"], copy], ignore_index=True)
    (found,) = [f for f in checked((every, talk_)).findings if f.code == "copied_annotator"]
    facts = {k: found.facts[k] for k in ("annotator", "annotator_b", "differs", "copies", "annotators")}
    assert facts == {"annotator": "v7", "annotator_b": "v9", "differs": 0.0, "copies": 1, "annotators": 200}
    (said,) = [one for one in findings.worded(checked((every, talk_)), NAMES) if one.code == "copied_annotator"]
    assert "far fewer than others do." in said.what


@pytest.mark.parametrize("known", [True, False])
def test_a_voter_who_always_takes_the_same_side_is_constant(known):
    """Of the file, or the response shown first."""
    marks, talk_ = votes(SEED)
    side = np.where(marks["first_shown"] == "left", 1.0, -1.0) if known else 1.0
    marks = marks.assign(score=marks["score"].where(marks["annotator"] != "v3", side))
    found = checked((marks if known else marks.assign(first_shown=None), talk_)).findings
    assert [f.facts["annotators"] for f in found if f.code == "constant_annotator"] == [["v3"]]


def test_sides_of_a_file_that_names_winners_first_say_nothing():
    """The first judgement of a pair gives it its sides: one annotator made all first judgements, others disagree."""
    marks, talk_ = votes(SEED)
    own = marks.assign(annotator="v0", score=1.0, first_shown=None)
    second = own.assign(annotator=marks["annotator"].replace("v0", "v1"), score=marks["score"])
    examined = checked((pd.concat([own, second], ignore_index=True), talk_))
    assert "constant_annotator" in [u.code for u in examined.unchecked]


def weighted_queue(power):
    """A queue whose YAML gives weights: the inverse probability in the file to this power."""
    marks, talk_, given = queue(True)
    p = given["dialogue_facts"].set_index("dialogue")["value"].astype(float)
    return marks.assign(sampling_weight=marks["dialogue"].map(p) ** -power), talk_, given


def test_weights_that_the_file_contradicts_are_named():
    """Probabilities taken for weights count flagged dialogues five times instead of the others."""
    (found,) = checked(weighted_queue(-1.0)).findings
    assert (found.code, found.facts["kind"]) == ("enriched_sample", "contradicted")
    assert not checked(weighted_queue(1.0)).findings


@pytest.mark.parametrize("real", [False, True])
def test_a_zero_that_means_no_answer_is_told_from_a_low_score(real):
    """Ratings from 0 to 5, or from 1 to 5 with 0 for no answer; the declared scale has room for both."""
    rng = np.random.default_rng(SEED)
    marks, talk_ = ratings(SEED, n=60)
    low = marks["score"] - (rng.random(len(marks)) < 0.7) * (marks["score"] < 3)
    score = low if real else marks["score"].where(rng.random(len(marks)) > 0.06, 0.0)
    labels = [Label(label.id, "dialogue_likert", label.title, (0, 5)) for label in LABELS]
    found = checked((marks.assign(score=score), talk_, {"labels": labels})).findings
    facts = [(f.facts["values"], f.facts["why"]) for f in found if f.code == "missing_codes"]
    assert facts == ([] if real else [(["0"], "unlike")])


def test_names_of_systems_are_escaped():
    assert any("Beta; 2\\*" in one.what for one in findings.worded(checked(missing()), NAMES))
