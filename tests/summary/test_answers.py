"""The six answers of a study's first page, from results made by hand."""

import json
import re
from dataclasses import replace

import pandas as pd
import pytest
from fixtures.answer_sizes import too_much
from fixtures.answers_file import unexplained
from fixtures.boxes import unreadable
from markupsafe import Markup

from judgebook.annotations.population import Population
from judgebook.questions.collection import costs
from judgebook.questions.performance import leading
from judgebook.questions.sensitivity.power import SAME, SAMPLE
from judgebook.statistics.bounded_means import BOUNDED
from judgebook.study import params
from judgebook.study.results import Results, collect
from judgebook.study.schema import ANNOTATIONS, conform
from judgebook.summary import analysis, findings
from judgebook.summary.analysis import DOUBTFUL, RELIABLE, TOO_FEW
from judgebook.summary.answers.facts import SampleFacts, Sturdy
from judgebook.summary.cost import cost
from judgebook.summary.counted import stages
from judgebook.summary.evidence import (
    AGREEMENT,
    COST,
    JUDGES,
    NOTEBOOKS,
    PERFORMANCE,
    PLANNING,
    SENSITIVITY,
    Evidence,
    read,
)
from judgebook.summary.next_steps import disagree, steps

PART = {"corpus": "main", "group": "all", "method": "dialogue_likert"}
YAML = """\
title: S
label_set: abc_eval
sources: [{adapter: table, file: x.csv, layout: wide, columns: {dialogue: id}, scores: "{label}_{annotator}"}]
systems: {a: Alpha, b: Beta, c: Gamma}
"""
LABELS = ("quality", "relevant", "engaging")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "s.yaml"
    path.write_text(YAML, encoding="utf-8")
    return params.load(path)


def annotations(*, n=12, annotators=("A1", "A2"), known=True, seconds=60.0, **columns):
    """Every annotator rates every label of n dialogues per system."""
    rows = [
        {"study": "s", "annotator": who, "annotator_known": known, "annotator_kind": "human", "system": system,
         "dialogue": f"{system}{i}", "label": label, "score": 3.0, "work_unit": f"{who}{system}{i}", "seconds": seconds,
         "source_row": 0, **PART, **columns}
        for who in annotators for system in "abc" for i in range(n) for label in LABELS
    ]  # fmt: skip
    return conform(pd.DataFrame(rows), ANNOTATIONS)


def evidence(study, frame=None, reasons=None, **results):
    """results : notebook number -> rows."""
    by_number = {name[:2]: name for name in NOTEBOOKS}
    found = dict.fromkeys(NOTEBOOKS, Results())
    found |= {by_number[number.strip("n")]: collect(rows) for number, rows in results.items()}
    return Evidence(study, annotations() if frame is None else frame, found, reasons or {})


def ordered(means, ranks):
    """An overall order: system -> mean; system -> rank with its ends."""
    rows = []
    for system, mean in means.items():
        head = {**PART, "system": system, "n": 3, "resample_unit": "session"}
        rank, low, high = ranks[system]
        ends = {"ci_low": mean - 0.2, "ci_high": mean + 0.2, "ci_kind": "t"}
        rows.append(head | {"statistic": "overall_mean", "estimate": mean, **ends})
        ends = {"ci_low": low, "ci_high": high, "ci_kind": "simultaneous"}
        rows.append(head | {"statistic": "overall_rank", "estimate": rank, **ends})
        lead = max(means.values()) - mean
        half = lead + 0.1 if low == 1 else lead / 2
        ends = {"ci_low": lead - half, "ci_high": lead + half, "ci_kind": "simultaneous"}
        rows.append(head | {"statistic": "overall_lead", "estimate": lead, **(ends if lead else {})})
    return rows


def texts(found):
    """Answers by key, which are short (see `too_much`) and have no number that is not in their facts. The page folds
    all but the first paragraph."""
    answers = findings.answers(found)
    by_key = {answer.key: answer.text for answer in answers}
    data = {a.key: {"reason": a.reason, "facts": a.facts and json.loads(a.facts.model_dump_json())} for a in answers}
    invented = {key: unexplained(text, data[key]) for key, text in by_key.items()}
    assert not any(invented.values()), (invented, by_key)
    joined = {key: re.findall(r"[^\n]{0,40}[.!]\n(?!\d+\. |- )[^\n]{1,40}", text) for key, text in by_key.items()}
    assert not any(joined.values()), joined
    long = {key: [*too_much(text)] for key, text in by_key.items()}
    assert not any(long.values()), long
    return by_key


SURE = ordered({"b": 0.5, "a": 0.1, "c": -0.6}, {"b": (1, 1, 1), "a": (2, 2, 3), "c": (3, 2, 3)})
OPEN = ordered({"b": 0.5, "a": 0.1, "c": -0.6}, {"b": (1, 1, 2), "a": (2, 1, 2), "c": (3, 3, 3)})


def test_a_system_is_first_only_where_its_rank_interval_says_so(study):
    found = evidence(study, n07=SURE)
    lead = leading.leaders(analysis.order(found))
    assert (lead["top"]["system"], lead["sure"], lead["wins"], lead["ties"]) == ("b", True, 2, 0)
    assert "Beta ranks first of 3 systems" in texts(found)["order"]
    assert "0.50 [0.30, 0.70] SD" in texts(found)["order"]
    assert "0 is the mean of all items, of whatever system; 1 SD is how far items" in texts(found)["order"]


def test_a_winner_by_one_annotators_judgements_is_named_with_their_share(study):
    """In the same sentence, and above all answers."""
    frame = pd.concat([annotations(annotators=EIGHT[:1], n=80), annotations(annotators=EIGHT[1:], n=2)])
    tests = [*compared([0.01, 0.02, 0.04]), *compared([0.01, 0.3, 0.2], **PEOPLE)]
    found = evidence(study, frame.reset_index(drop=True), n05=tests, n07=SURE)
    said, whom = texts(found), findings.preface(found).whom
    first = said["order"].split("**")[1]
    assert first == "Beta ranks first of 3 systems, but one annotator made 85% of the judgements."
    assert "hold for these 8 annotators only" in whom
    assert "One annotator made 85% of the judgements." in whom
    assert "so unequal that they count as 1.4 (five are needed)" in whom
    assert "for these 8 annotators only" in said["sample"]


def test_those_who_did_not_judge_by_the_method_of_the_order_are_told_apart(study):
    """Eight people judged, seven of them by the method that orders the systems: both numbers, in words."""
    own = annotations(annotators=EIGHT[:7])
    other = annotations(annotators=EIGHT).assign(method="turn_likert")
    frame = conform(pd.concat([own, other], ignore_index=True), ANNOTATIONS)
    said = texts(evidence(study, frame, n07=SURE))["order"]
    assert "Of the 8 annotators, 7 judged by this method (Dialogue Likert)." in said
    assert "judged by this method" not in texts(evidence(study, annotations(annotators=EIGHT), n07=SURE))["order"]


@pytest.mark.parametrize("low", [0.3, -0.3])
def test_runs_that_are_compared_are_named(study, low):
    """Where nothing was judged twice: which run was repeated in which."""
    head = {"statistic": "replication_r", "corpus": "again", "against": "main", "among": "systems", "workers": "all"}
    head |= {"interval": "workers", "scores": "z", "estimate": 0.9, "ci_low": low, "ci_high": 0.95, "n": 9}
    rows = [head | {"label": label} for label in (*LABELS, "overall mean")]
    frame = annotations(annotators=["A1"])
    said = texts(evidence(study, frame, n03=alphas((0.1, 0.6), n=0), n10=rows))["labels"]
    assert ("Ranking systems by means: replicated in another run" in said) == (low > 0)
    assert ("not shown to be replicated" in said) == (low < 0)
    assert "Again is compared with Main." in said


def test_labels_are_those_of_one_run_which_is_named(study):
    """Alpha in another run may say otherwise: the page speaks of the main one only."""
    both = pd.concat([annotations(), annotations(n=3, corpus="other")], ignore_index=True)
    said = texts(evidence(study, conform(both, ANNOTATIONS), n03=alphas((0.1, 0.6), (0.1, 0.6), (0.1, 0.6))))["labels"]
    assert "not shown to be reliable on any of the 3 labels.**" in said
    assert "Highest alpha: Quality, 0.35 [0.10, 0.60] (Main)." in said
    one = texts(evidence(study, n03=alphas((0.1, 0.6))))["labels"]
    assert "too little agreement on the only label** (alpha 0.35 [0.10, 0.60]; the usual minimum is 0.667)." in one


def test_rivals_are_those_that_may_be_first(study):
    found = evidence(study, n07=OPEN)
    lead = leading.leaders(analysis.order(found))
    assert (lead["sure"], lead["wins"], lead["rivals"], lead["any"]) == (False, 1, ["a"], False)
    said = texts(found)["order"]
    assert "No system is certain to be best" in said
    assert "Alpha" in said
    assert "Gamma" not in said


def test_the_order_of_another_group_does_not_speak_for_the_main_one(study):
    others = [row | {"group": "few"} for row in SURE]
    few = annotations(n=2, group="few")
    found = evidence(study, pd.concat([few, annotations()], ignore_index=True), n07=[*others, *OPEN])
    assert list(analysis.order(found)["group"])[:3] == ["all"] * 3
    said = texts(found)["order"]
    assert "No system is certain to be best" in said
    assert "In the other evaluation (Dialogue Likert, few), Beta is certain to be best." in said


def test_without_an_interval_nothing_is_certain(study):
    missing = [row | dict.fromkeys(["ci_low", "ci_high"]) for row in SURE]
    found = evidence(study, n07=[row | {"ci_kind": "not_estimable", "note": "3 clusters"} for row in missing])
    assert not leading.leaders(analysis.order(found))["sure"]
    assert "3 clusters" in texts(found)["order"]


def test_no_order_is_explained(study):
    assert "Two systems at least." in texts(evidence(study, reasons={PERFORMANCE: "Two systems at least."}))["order"]
    alone = annotations()
    assert "only one system" in texts(evidence(study, alone[alone["system"] == "a"]))["order"]


@pytest.mark.parametrize(
    ("sides", "said", "codes"),
    [
        ((0.3, 0.3), "no other system is shown to be no worse", ["open", "open"]),
        ((0.01, 0.3), "by your margin (0.4 points on Quality), Beta is not worse", ["not_worse", "open"]),
        ((0.01, 0.01), "none of the others is worse", ["not_worse", "not_worse"]),
    ],
)
def test_a_margin_of_the_study_says_who_is_not_worse_than_the_leader(study, tmp_path, sides, said, codes):
    path = tmp_path / "s.yaml"
    path.write_text(YAML + "margin: {dialogue_likert: {quality: 0.4}}\n", encoding="utf-8")
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    rows = compared([0.2, 0.3, 0.3])
    keys = {**PART, "label": "quality", "estimate": -0.1, "n": 24, "resample_unit": "session", "margin": 0.4}
    rows += [{"statistic": "equivalence", "scale": "label", "system": one, "system_b": two, "p_value": 0.5,
              "p_adjusted": 0.5} | keys for one, two in pairs]  # fmt: skip
    rows += [{"statistic": "not_worse", "system": system, "system_b": "a", "p_value": p, "p_adjusted": p} | keys
             for system, p in zip("bc", sides, strict=True)]  # fmt: skip
    order = ordered({"a": 0.5, "b": 0.1, "c": -0.6}, {"a": (1, 1, 2), "b": (2, 1, 3), "c": (3, 2, 3)})
    found = evidence(params.load(path), n05=[*rows, *DETECTABLE], n07=order)
    told = texts(found)
    assert said in told["order"].split("\n\n")[0]
    facts = findings.answers(found)[0].facts
    assert [one.verdict for one in facts.margin.pairs] == codes
    assert facts.margin.pairs[0].source.columns["statistic"] == "not_worse"
    assert "On Quality, differences of 0.50 points would usually be found, more than your margin." in told["sample"]
    assert "your margin" not in " ".join(
        texts(evidence(study, n05=[*compared([0.2, 0.3, 0.3]), *DETECTABLE], n07=order)).values()
    )


def test_one_label_is_ordered_by_its_own_ranks(study):
    head = {**PART, "label": "quality", "resample_unit": "session", "n": 12, "n_clusters": 12}
    means = {"a": 3.4, "b": 2.2, "c": 4.1}
    rows = [{**head, "statistic": "mean", "interval": "dialogue", "system": s, "estimate": m, "ci_low": m - 1,
             "ci_high": m + 1, "ci_kind": "bca"} for s, m in means.items()]  # fmt: skip
    head |= {"statistic": "rank", "of": "mean", "resample": "session", "ci_low": 1.0, "ci_high": 3.0}
    rows += [
        {**head, "system": system, "estimate": rank, "ci_kind": "simultaneous"}
        for rank, system in enumerate("cab", start=1)
    ]
    found = analysis.order(evidence(study, n07=rows))
    assert list(found["system"]) == ["c", "a", "b"]
    assert list(found["estimate"]) == [4.1, 3.4, 2.2]
    assert "any of the 3 systems" in texts(evidence(study, n07=rows))["order"]


def alphas(*ends, kind="bca", n=24):
    keys = {"statistic": "alpha", "measurement": "ordinal", "raters": "all", "resample": "dialogue", "kind": "human"}
    return [
        {**PART, **keys, "label": label, "estimate": sum(pair) / 2, "ci_low": pair[0], "ci_high": pair[1],
         "ci_kind": kind, "n": n, "n_clusters": n}
        for label, pair in zip(LABELS, ends, strict=False)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("ends", "kind", "verdict"),
    [
        ((0.70, 0.90), "bca", RELIABLE),
        ((0.10, 0.60), "bca", DOUBTFUL),
        ((0.50, 0.80), "bca", TOO_FEW),
        ((0.70, 0.90), "exact_bound", TOO_FEW),
    ],
)
def test_a_label_is_what_the_interval_of_alpha_says(study, ends, kind, verdict):
    assert list(analysis.labels(evidence(study, n03=alphas(ends, kind=kind)))["verdict"]) == [verdict]


def test_labels_are_named_by_verdict(study):
    said = texts(evidence(study, n03=alphas((0.7, 0.9), (0.1, 0.6), (0.5, 0.8))))["labels"]
    reliable, rest = said.split("Doubtful")
    assert "Single judgements: reliable on 1 of 3 labels" in reliable
    assert "Krippendorff (2004) accepts no less for tentative conclusions." in reliable
    assert "Quality" in reliable
    assert "Relevance" in rest.split("Too few")[0]
    assert "Engagingness" in rest.split("Too few")[1]


@pytest.mark.parametrize(
    ("directions", "first", "aside"),
    [
        ((1, 0, None), "reliable on the only label", "2 labels"),
        ((1, 1, 0), "reliable on 1 of 2 labels", "1 label"),
        ((0, 0, None), "reliable on 2 of 3 labels", ""),
    ],
)
def test_labels_without_direction_are_not_counted_beside_others(tmp_path, directions, first, aside):
    """They enter no order of systems, which the page says; where no label has a direction, all count."""
    ways = zip(LABELS, directions, strict=True)
    own = [f"  {x}: {{scale: [1, 5]{'' if way is None else f', direction: {way}'}}}" for x, way in ways]
    text = "\n".join([YAML.replace("label_set: abc_eval\n", "") + "labels:", *own])
    (tmp_path / "s.yaml").write_text(text, encoding="utf-8")
    own_study = params.load(tmp_path / "s.yaml")
    rows = [row | {"method": own_study.label_list()[0].method} for row in alphas((0.7, 0.9), (0.1, 0.6), (0.7, 0.8))]
    frame = annotations(method=rows[0]["method"])
    said = texts(evidence(own_study, frame, n03=rows))["labels"]
    assert f"Single judgements: {first}" in said
    assert (f"Not counted: {aside}" in said) == bool(aside)


def test_alpha_of_annotations_that_are_all_alike_is_undefined(study):
    nothing = float("nan")
    note = "all 36 annotations have the same value: alpha is undefined"
    rows = [row | {"note": note} for row in alphas((nothing, nothing))]
    said = texts(evidence(study, n03=rows))["labels"]
    assert "Single judgements: alpha is undefined: all 36 annotations have the same value" in said
    assert "not shown to be reliable" not in said


def test_without_double_judgements_agreement_cannot_be_said(study):
    assert "Single judgements: not run yet" in texts(evidence(study, n03=alphas((0.1, 0.6), n=0)))["labels"]


def compared(p_values, **columns):
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    keys = {"statistic": "system_difference", "test": "session", "estimate": 0.3, "resample_unit": "session", "n": 24}
    return [
        {**PART, **keys, "label": "quality", "system": one, "system_b": two, "p_value": p, "p_adjusted": p, **columns}
        for (one, two), p in zip(pairs, p_values, strict=True)
    ]


PEOPLE = {"test": "clustered_t", "resample_unit": "session and annotator"}
DETECTABLE = [
    {**PART, "statistic": "detectable_difference", "label": label, "test": "clustered_t", "alpha": 0.05, "power": 0.8,
     "adjust": "holm", "people": people, "estimate": value * times, "n": 3}
    for label, value in zip(LABELS, (0.5, 0.6, 0.9), strict=True) for people, times in ((SAME, 1), (SAMPLE, 2))
]  # fmt: skip


def test_decided_comparisons_are_counted_and_the_detectable_difference_shrinks(study):
    found = analysis.sample(evidence(study, n05=[*compared([0.01, 0.2, 0.04]), *DETECTABLE]))
    assert (found["n"], found["n_differ"], found["open"]) == (3, 2, 1)
    assert list(found["detectable"]["per_system"]) == [12, 12, 12]
    assert found["detectable"]["more"].tolist() == pytest.approx([e * (12 / 22) ** 0.5 for e in (0.5, 0.6, 0.9)])
    said = texts(evidence(study, n05=[*compared([0.01, 0.2, 0.04]), *DETECTABLE]))
    assert "1 of 3 is undecided" in said["sample"]
    assert "2 of 3 comparisons" in said["sample"]
    strictest = "(Dialogue Likert, median label; strictest step of Holm's adjustment).\n- By label, it is 0.50 to 0.90"
    assert f"a difference of 0.60 points is found with 80% power {strictest}" in said["sample"]
    assert "from 0.60 to 0.44" in said["cost"]


def test_bounds_in_place_of_tests_are_named(study):
    rows = [row | {"note": BOUNDED if i else None} for i, row in enumerate(compared([0.01, 0.2, 0.04]))]
    said = texts(evidence(study, n05=rows))["sample"]
    assert "In 2 of them, a system has at most 20 dialogues, nearly all at one end of the scale" in said
    assert "More than 20 dialogues of it are needed" in said
    assert "bounds" not in texts(evidence(study, n05=compared([0.01, 0.2, 0.04])))["sample"]


def test_comparisons_that_could_not_be_tested_remain_undecided(study):
    """They are comparisons of the study: without them, a design that compares few systems well looks decided."""
    rows = [*compared([0.01, 0.02, 0.04]), *compared([0.01, None, None], **PEOPLE)]
    found = evidence(study, annotations(annotators=EIGHT), n05=rows)
    facts = analysis.sample(found)
    assert (facts["n"], facts["n_differ"], facts["open"], facts["untested"]) == (3, 1, 2, 2)
    said = texts(found)["sample"]
    assert "1 of 3 comparisons" in said
    assert "the other 2 remain undecided." in said
    assert "They are undecided because there are too few data for a test." in said


def test_answers_about_some_methods_only_name_them(study):
    """Shares of annotators and reliability of means, where labels of another method were judged without either."""
    both = pd.concat([annotations(annotators=EIGHT), annotations(annotators=EIGHT, method="comparative", system_b="b")])
    means = {**PART, "statistic": "generalizability", "design": "study", "kind": "parametric", "n_dialogues": 36,
             "annotators_per_dialogue": 8, "ci_low": 0.5, "ci_high": 0.9, "ci_kind": "t", "n": 3}  # fmt: skip
    rated = [means | {"label": label, "estimate": 0.8} for label in LABELS]
    pairs = [row | {"method": "comparative", "level": "pair"} for row in alphas((0.7, 0.9), (0.1, 0.6), (0.7, 0.9))]
    found = evidence(
        study, both.reset_index(drop=True), n03=[*alphas((0.7, 0.9), (0.1, 0.6), (0.7, 0.9)), *pairs, *rated],
        n07=who([0.01], {"strictness": (0.2, 0.1, 0.3)}),
    )  # fmt: skip
    said = texts(found)
    assert "Means of systems (Dialogue Likert): the reliability of their order is 0.80" in said["labels"]
    assert "over 36 dialogues, each judged by 8 annotators." in said["labels"]
    assert "(F test; Dialogue Likert)" in said["judges"]


def test_what_could_have_been_detected_is_about_the_annotators_of_the_counts(study):
    """Twice as large for others; and back to these annotators where no test treats them as a sample."""
    many, rows = annotations(annotators=EIGHT), [*compared([0.01, 0.2, 0.04]), *DETECTABLE]
    people = compared([0.01, 0.3, 0.2], **PEOPLE)
    said = texts(evidence(study, many, n05=[*rows, *people]))
    assert "a difference of 1.20 points" in said["sample"]
    assert "with 80% power, for other annotators too (Dialogue Likert, median label; strictest step" in said["sample"]
    assert (
        "Ten more dialogues per system, with proportionally more annotators, would lower the smallest" in said["cost"]
    )
    assert "from 1.20 to 0.89 points." in said["cost"]
    assert "With the same annotators, the gain is smaller" in said["cost"]
    assert "judged by twice as many annotators, would find a difference of 0.85 instead of 1.20" in said["next"]
    alone = texts(evidence(study, many, n05=rows))["sample"]
    assert "for these 8 annotators only" in alone
    assert "a difference of 0.60 points" in alone


def test_alpha_says_so_where_it_speaks_of_others_than_the_rest_of_the_page(study):
    ends = ((0.7, 0.9), (0.1, 0.6), (0.7, 0.9))
    both = [row | {"resample": "dialogue and annotator"} for row in alphas(*ends)]
    few = [row | {"ci_low": None, "ci_high": None, "ci_kind": "not_estimable", "note": "3.0 effective"} for row in both]

    def said(rows, annotators):
        return texts(evidence(study, annotations(annotators=annotators), n03=[*alphas(*ends), *rows], n07=SURE))

    assert "for other annotators like these 8." in said(both, EIGHT)["labels"]
    alone = said(few, EIGHT)
    assert "(for these annotators only)" in alone["labels"].partition("\n\n")[0]
    assert "these 8 annotators only, as too few of them judged the same items to stand for others" in alone["labels"]
    partly = said([*both[:2], few[2]], EIGHT)["labels"]
    assert "for other annotators like these 8 on 2 labels and for these only on 1, where too few of them" in partly
    more = said(both, EIGHT[:2])["labels"]
    assert "for other annotators like these 2, as enough of them judged the same items, if too few judged" in more


def test_the_threshold_is_that_of_the_study(study, tmp_path):
    (tmp_path / "s.yaml").write_text(YAML + "iaa: {threshold: 0.5}\n", encoding="utf-8")
    found = evidence(params.load(tmp_path / "s.yaml"), n03=alphas((0.6, 0.9), (0.1, 0.4), (0.3, 0.8)))
    said = texts(found)
    assert "reliable on 1 of 3 labels" in said["labels"]
    assert "lies above 0.5 (the threshold of this study)." in said["labels"]
    assert "Reliable (CI above 0.5): Quality." in said["labels"]
    assert "contains 0.5 or cannot be computed" in said["next"]
    assert not re.search(r"0\.66?7", "".join(said.values()))


def test_reliability_of_means_is_that_of_the_design_of_the_study(study):
    head = {
        **PART,
        "statistic": "generalizability",
        "n": 3,
        "ci_low": 0.4,
        "ci_high": 0.9,
        "annotators_per_dialogue": 2,
    }
    own = [head | {"label": x, "design": "study", "estimate": e, "n_dialogues": 12}
           for x, e in zip(LABELS, (0.6, 0.7, 0.9), strict=True)]  # fmt: skip
    other = [head | {"label": x, "estimate": 0.1, "n_dialogues": 10} for x in LABELS]
    rows = {"n03": [*alphas((0.7, 0.9), (0.1, 0.6), (0.5, 0.8)), *own, *other]}
    said = texts(evidence(study, **rows))["labels"]
    assert "median reliability 0.70." in said
    assert "is 0.70 (0.60 to 0.90 by label) over 12 dialogues, each judged by 2 annotators." in said


def test_who_disagrees_and_what_alpha_would_be_without_them(study):
    """Over all methods, the change of alpha is the mean of those of the methods."""
    head = {"corpus": "main", "group": "all"}
    z = [("A1", "disagreement", None, 0.01), ("A2", "severity", None, 0.001), ("A3", "disagreement", None, 0.2)]
    rows = [
        {
            **head,
            "statistic": "annotator_z",
            "annotator": a,
            "indicator": i,
            "method": m,
            "estimate": 4.0,
            "p_adjusted": p,
        }
        for a, i, m, p in z
    ]
    rows += [
        {**head, "statistic": "alpha_without", "annotator": a, "method": m, "estimate": gain}
        for a, m, gain in (("A1", "x", 0.1), ("A1", "y", 0.3), ("A2", "x", 0.5))
    ]
    gains = disagree(evidence(study, n15=rows))
    assert gains["annotator"].tolist() == ["A1"]
    assert gains["gain"].tolist() == pytest.approx([0.2])


def test_annotators_who_disagree_come_before_the_definition(study):
    head = {"corpus": "main", "group": "all", "annotator": "A1"}
    rows = [head | {"statistic": "annotator_z", "indicator": "disagreement", "estimate": 5.0, "p_adjusted": 0.001}]
    rows.append(head | {"statistic": "alpha_without", "method": PART["method"], "estimate": 0.15, "n": 3})
    low = alphas((0.1, 0.6), (0.1, 0.6), (0.1, 0.6))
    said = texts(evidence(study, annotations(annotators=EIGHT), n03=low, n15=rows))["next"]
    reason = "This annotator disagrees with the others: without A1, alpha rises by 0.15"
    assert f"Look at the answers of A1 first.** {reason}" in said
    assert said.index("Look at the answers") < said.index("Define Quality")
    calm = [row | {"p_adjusted": 0.2} for row in rows]
    assert "Look at" not in texts(evidence(study, annotations(annotators=EIGHT), n03=low, n15=calm))["next"]
    worse = [row | {"estimate": -0.15} if "method" in row else row for row in rows]
    assert "Look at" not in texts(evidence(study, annotations(annotators=EIGHT), n03=low, n15=worse))["next"]


@pytest.mark.parametrize(
    ("factor", "says"),
    [
        (12.7, "about 13 times the 36 items would do so with 80% power"),
        (None, "more than 100 times the 36 items would be needed"),
        (1.0, ""),
    ],
)
def test_what_would_separate_the_leader_is_said_instead_of_collect_more(study, factor, says):
    head = {**PART, "label": "quality", "resample_unit": "session", "n": 12, "n_clusters": 12}
    rows = [{**head, "statistic": "mean", "interval": "dialogue", "system": s, "estimate": m, "ci_low": m - 1,
             "ci_high": m + 1, "ci_kind": "bca"} for s, m in {"a": 3.4, "b": 2.2, "c": 4.1}.items()]  # fmt: skip
    head |= {"of": "mean", "resample": "session"}
    rows += [{**head, "statistic": "rank", "system": s, "estimate": r, "ci_low": 1.0, "ci_high": 3.0,
              "ci_kind": "simultaneous"} for r, s in enumerate("cab", start=1)]  # fmt: skip
    pair = {**head, "statistic": "data_to_separate", "n": 36}
    rows += [pair | {"system": "c", "system_b": "a", "estimate": factor}]
    rows += [pair | {"system": "a", "system_b": "b", "estimate": 3.0}]
    said = texts(evidence(study, n07=rows, n05=compared([0.3, 0.2, 0.4])))["next"]
    assert ("Collect more dialogues to separate Gamma from the second, Alpha." in said) == bool(says)
    assert says in said
    assert ("comparisons are undecided" in said) == (not says)


def test_labels_without_direction_are_the_reason_why_nobody_is_best(tmp_path):
    text = YAML.replace("label_set: abc_eval\n", "labels: {verbosity: {scale: [1, 5], method: dialogue_likert}}\n")
    (tmp_path / "s.yaml").write_text(text, encoding="utf-8")
    frame = annotations().assign(label="verbosity")
    said = texts(evidence(params.load(tmp_path / "s.yaml"), frame, {PERFORMANCE: "No label has a direction."}))["order"]
    assert said.startswith("**This cannot be determined.** No label says which way is better: write `direction: 1`")
    assert "for `verbosity` under `labels`" in said


def test_a_difference_beyond_the_scale_is_not_promised(study):
    beyond = [row | {"estimate": 5.0} for row in DETECTABLE]
    said = texts(evidence(study, n05=[*compared([0.01, 0.2, 0.04]), *beyond]))
    assert "Not even the largest possible difference" in said["sample"]
    assert "What more would buy cannot be computed" in said["cost"]
    assert "falls from" not in said["cost"]


def who(p_values, shares, chance=0.1, note=None):
    """Results of notebook 07 on who judged: labels with p-values, and (estimate, low, high) of either part."""
    rows = []
    for label, p in zip(LABELS, p_values, strict=False):
        head = {**PART, "label": label, "n": 72, "n_annotators": 8}
        tested = {"statistic": "annotators_differ", "estimate": 2.0, "p_value": p, "p_adjusted": p, "note": note}
        rows.append(head | tested)
        if p is None:
            continue
        for part, ends in shares.items():
            ends = dict(zip(("estimate", "ci_low", "ci_high"), ends, strict=True))
            rows.append(head | {"statistic": "annotator_share", "part": part, "ci_kind": "f"} | ends)
        rows.append(head | {"statistic": "order_reversal", "estimate": chance})
    return rows


EIGHT = [f"A{i}" for i in range(8)]
MUCH = {"strictness": (0.2, 0.1, 0.5), "preference": (0.3, 0.2, 0.4)}
LITTLE = {"strictness": (0.01, 0.0, 0.05), "preference": (0.02, 0.0, 0.09)}


@pytest.mark.parametrize(
    ("p_values", "shares", "starts"),
    [
        (
            [0.01, 0.3, 0.2],
            MUCH,
            "**Other people: it matters for judgements on 1 of 3 labels.** The order of two systems: as many",
        ),
        (
            [0.01, 0.01, 0.02],
            LITTLE,
            "**Other people: it matters little for judgements on all 3 labels.** The order of two systems: as many",
        ),
        ([0.4, 0.3, 0.2], LITTLE, "**Other people: it matters little**, as no label shows that annotators differ."),
        ([0.4, 0.3, 0.2], MUCH, "**Other people: still open**, because annotators may account for up to 50%"),
        (
            [0.04],
            MUCH,
            "**Other people: it matters for judgements.** The order of two systems: as many other",
        ),
    ],
)
def test_whether_it_matters_who_judged_is_answered_by_shares_of_the_variance(study, p_values, shares, starts):
    rows = who(p_values, shares)
    found = evidence(study, annotations(annotators=EIGHT), n07=rows)
    said = texts(found)["judges"]
    assert said.startswith(starts)
    n = sum(p < 0.05 for p in p_values)
    assert (analysis.judges(found)["n"], analysis.judges(found)["n_differ"]) == (len(p_values), n)
    assert ("annotators would reverse it with a chance of 10%" in said) == (n > 0)
    assert ("a comparison can be undecided although this chance is small" in said) == (n > 0)
    assert ("The CIs of their shares of the variance end below 10%." in said) == ("little**, as" in starts)
    if len(p_values) == 1:
        assert "strictness accounts for 20% [10%, 50%] and preferences for systems for 30% [20%, 40%]" in said


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            {"annotators": EIGHT[:2]},
            "**Other people: unknown with 2 annotators.**",
        ),
        (
            {"annotators": EIGHT, "known": False},
            "**Other people: unknown**, because the data do not identify",
        ),
    ],
)
def test_too_few_or_unknown_annotators_do_not_say_whether_they_matter(study, given, says):
    """Whatever was significant, and whatever notebook 07 found."""
    rows = [*compared([0.01, 0.02, 0.04]), *compared([0.4, 0.3, 0.2], **PEOPLE)]
    found = evidence(study, annotations(**given), n05=rows, n07=who([0.01, 0.01, 0.01], MUCH))
    assert texts(found)["judges"].startswith(says)


def test_annotators_who_coincide_with_sessions_cannot_be_told_from_them(study):
    note = "most annotators judged one session each, alone"
    found = evidence(study, annotations(annotators=EIGHT), n07=who([None], {}, note=note))
    assert texts(found)["judges"].startswith(f"**Other people: unknown**, because {note}.")
    command = {PERFORMANCE: Markup("`run --only 07` answers this")}
    unanswered = texts(evidence(study, annotations(annotators=EIGHT), command))["judges"]
    assert unanswered.startswith("**Other people: not run yet** (`run --only 07` answers this).")


@pytest.mark.parametrize(
    ("annotators", "known", "whose", "also"),
    [
        (EIGHT, True, "for other annotators like these 8", ""),
        (EIGHT[:2], True, "for these 2 annotators only", "For other annotators, nothing can be said with 2."),
        (EIGHT, False, "for these annotators only, whom the data do not identify", ""),
    ],
)
def test_every_answer_is_about_one_population_and_says_which(study, annotators, known, whose, also):
    """Above all answers; counted are tests with annotators as a sample only where they are one."""
    rows = [*compared([0.01, 0.02, 0.04]), *compared([0.01, 0.3, 0.2], **PEOPLE)]
    both = [
        row | {"resample": "dialogue and annotator", "ci_low": row["ci_low"] - 0.1, "ci_high": row["ci_high"] + 0.05}
        for row in alphas((0.7, 0.9), (0.1, 0.6), (0.7, 0.9))
    ] * (len(annotators) == 8 and known)
    found = evidence(
        study, annotations(annotators=annotators, known=known), n05=rows, n07=SURE,
        n03=[*alphas((0.7, 0.9), (0.1, 0.6), (0.7, 0.9)), *both],
    )  # fmt: skip
    said = texts(found)
    whom = findings.preface(found).whom
    assert all(whose in text for text in (whom, said["labels"], said["sample"]))
    assert also in whom
    n = 1 if "other" in whose else 3
    assert analysis.sample(found)["n_differ"] == n
    assert ("reliable on 2 of 3" in said["labels"]) == (n == 3)
    assert ("other annotators" in whom) == (bool(also) or n == 1)


def test_a_group_of_three_cannot_show_that_people_differ(study):
    """Of three against seven there are 120 arrangements: 8 tests later the smallest p is 0.067, which is said."""
    three = annotations(annotators=EIGHT[:3], group="few")
    seven = annotations(annotators=[f"B{i}" for i in range(7)], group="many")
    frame = pd.concat([three, seven], ignore_index=True)
    head = {"corpus": "main", "method": "dialogue_likert", "group": "few", "group_b": "many", "n": 72}
    rows = []
    for i in range(8):
        own = head | {"label": f"l{i}"}
        difference = {"statistic": "group_difference", "resample": "session", "estimate": 0.3}
        rows.append(own | difference | {"ci_low": 0.1, "ci_high": 0.5})
        over = {"statistic": "group_difference", "resample": "session", "estimate": 0.3}
        rows += [own | over | {"resample": "none", "over": what} for what in ("people", "picks")]
        rows += [
            own | {"statistic": "group_difference_null", "exchange": "judgement", "point": point, "estimate": 0.2}
            for point in ("mean", "q95")
        ]
        rows.append(own | {"statistic": "equivalence_margin", "estimate": 0.6, "p_adjusted": 0.5})
        for exchange, p in (("judgement", 0.01), ("annotator", 0.07)):
            test = {"statistic": "group_difference_test", "exchange": exchange, "estimate": 0.3, "p_value": p}
            rows.append(own | test | {"p_adjusted": p})
        debiased = {"statistic": "group_difference_debiased", "scale": "root", "estimate": 0.1 * i}
        rows.append(own | debiased | {"ci_low": 0.0, "ci_high": 1.0})
    said = texts(evidence(study, frame, n08=rows))["judges"]
    assert "cannot be tested: with 3 people in a group (few), the smallest possible p after adjustment is 0.067" in said
    assert "The median standardised size of differences between groups, corrected for noise, is 0.35." in said


@pytest.mark.parametrize(
    ("p_value", "starts"),
    [
        (0.2, "**Not enough: the only comparison remains undecided.**"),
        (0.01, "**Enough: the only comparison shows a difference.**"),
    ],
)
def test_a_study_of_one_comparison_has_an_answer_of_its_own(study, p_value, starts):
    rows = [compared([p_value] * 3)[0], compared([0.2] * 3, **PEOPLE)[0]]
    said = texts(evidence(study, n05=[*rows, DETECTABLE[0] | {"n": 1}]))
    assert said["sample"].startswith(starts)
    assert "is found with 80% power (Dialogue Likert)." in said["sample"]
    if p_value > 0.05:
        assert "The only comparison is undecided." in said["next"]


@pytest.mark.parametrize("labels", [1, 3, 400])
def test_figures_of_the_answers_can_be_read(study, labels):
    """Of one label, of a few, and with counts of four digits."""
    pairs = [*compared([0.01, 0.2, 0.04]), *compared([0.01, 0.3, 0.2], **PEOPLE)]
    many = [row | {"label": f"label_{i}"} for i in range(labels) for row in pairs]
    shares = [row | {"label": f"label_{i}"} for i in range(labels) for row in who([0.01], MUCH)]
    rows = {
        "n07": [*SURE, *shares],
        "n03": alphas(*[(0.1, 0.9)] * min(labels, 3)),
        "n05": [*many, *DETECTABLE[: 2 * labels]],
    }
    found = evidence(study, annotations(annotators=EIGHT), **rows)
    drawn = [answer.plot for answer in findings.answers(found) if answer.plot]
    assert {plot.name for plot in drawn} >= {"order", "labels", "judges", "sample", "cost"}
    assert unreadable(drawn) == {}


def test_where_little_was_computed_no_report_is_advised(study):
    many = annotations(annotators=[f"A{i}" for i in range(6)])
    model = many[many["annotator"] == "A0"].assign(annotator="gpt", annotator_kind="llm")
    for frame in (many, conform(model, ANNOTATIONS)):
        (step,) = steps(evidence(study, frame))
        assert (step.kind, step.facts) == ("unknown", {"missing": ["comparisons of systems", "agreement"]})
    assert "comparisons of systems and agreement were not computed" in texts(evidence(study, many))["next"]
    half = evidence(study, many, n03=alphas((0.7, 0.9), (0.7, 0.9), (0.7, 0.9)), n05=compared([0.01, 0.02, 0.4]))
    assert "most comparisons are decided" in texts(half)["next"]


def test_unknown_annotators_are_said_and_to_be_recorded(study):
    found = evidence(study, annotations(known=False), n05=compared([0.01, 0.2, 0.04]))
    assert analysis.judges(found)["kind"] == "unknown"
    assert steps(found)[0].kind == "record"
    assert "**Record who judged.**" in texts(found)["next"]
    some = pd.concat([annotations(), annotations(known=False).assign(method="turn_likert")], ignore_index=True)
    assert "**Record who judged by Turn Likert.**" in texts(evidence(study, conform(some, ANNOTATIONS)))["next"]


EVERYBODY = Population(True, 8, 8, 8.0, "")


def of_sample(n, differ, alike, **more):
    """What is said of n comparisons of which some are decided."""
    counts = {"n": n, "n_decided": differ + alike, "n_differ": differ, "n_alike": alike, "open": n - differ - alike}
    rest = {"who": "", "untested": 0, "bounded": 0, "most": 10, "within": None, "detectable": None, "sturdy": None}
    whose = {"people": EVERYBODY, "main": EVERYBODY}
    return findings.of_sample(SampleFacts(**(counts | rest | whose | more)))[1]


def test_what_was_examined_is_not_taken_for_all():
    said = of_sample(200, 156, 0, sturdy=Sturdy(n=60, examined=60, found=156, sturdy=60, hangs=[], tried=(6, 6)))
    tests = "t tests for these annotators only, unlike the comparisons above"
    assert f"Of 156 significant differences ({tests}), 60 were examined" in said
    assert "(half the clearest and half the most doubtful where a method has very many)." in said
    assert "All survive other reasonable analyses (are sturdy, as defined in notebook 16)." in said


def test_what_was_paid_comes_before_what_it_would_cost(study, tmp_path):
    text = YAML + "quality_control: {payment: 0.99}\n"
    (tmp_path / "s.yaml").write_text(text, encoding="utf-8")
    head = {**PART, "level": "dialogue", "estimate": 5.0, "n": 72}
    rows = [head | {"statistic": "unit_minutes", "tasks": "all"}]
    rows.append(head | {"statistic": "median_minutes", "task": PART["method"]})
    paid = evidence(params.load(tmp_path / "s.yaml"), n02=rows)
    assert cost(paid)["wage"] == pytest.approx(0.99 * 72 / 6)
    said = texts(paid)["cost"]
    assert said.startswith("**71 USD was paid** (11.88 USD an hour).")
    assert texts(replace(paid, work_units=75))["cost"].startswith("**74 USD was paid**"), "and units without judgements"
    assert "About 6.0 hours of annotation would cost 120 USD at 20 USD an hour." in said
    untimed = texts(evidence(paid.study, annotations(seconds=None)))["cost"]
    assert untimed.startswith("**71 USD was paid**.")
    assert "the data contain no durations" in untimed


def test_unequal_systems_have_a_range_of_dialogues(study):
    frame = annotations()
    short = (frame["system"] == "c") & ~frame["dialogue"].isin(["c0", "c1", "c2"])
    found = evidence(study, frame[~short], n05=[*compared([0.01, 0.2, 0.04]), *DETECTABLE])
    assert "With 3 to 12 dialogues per system, a difference of 0.60" in texts(found)["sample"]
    one, two = (12 / 22) ** 0.5, ((1 / 22 + 1 / 13) / (1 / 12 + 1 / 3)) ** 0.5
    assert analysis.sample(found)["detectable"]["more"].iloc[0] == pytest.approx(0.5 * sorted([one, two, two])[1])


def test_several_dialogues_of_a_session_are_said_to_be_so(study):
    """Two sides, or three lengths, of one chat are no independent dialogues."""
    frame = annotations()
    rows = {"n05": [*compared([0.01, 0.2, 0.04]), *DETECTABLE]}
    own = texts(evidence(study, frame.assign(session=frame["dialogue"]), **rows))["sample"]
    assert "With 12 dialogues per system, a difference" in own
    shared = frame.assign(session="chat" + frame["dialogue"].str[1:].astype(int).floordiv(3).astype(str))
    assert "With 12 dialogues per system, from 4 sessions, a" in texts(evidence(study, shared, **rows))["sample"]


def test_cost_is_the_time_of_every_judged_unit(study):
    minutes = {**PART, "statistic": "unit_minutes", "level": "dialogue", "tasks": "all", "estimate": 5.0, "ci_low": 4.0,
               "ci_high": 6.0, "ci_kind": "mover", "n": 72}  # fmt: skip
    whole = {
        **PART,
        "statistic": "median_minutes",
        "level": "dialogue",
        "task": PART["method"],
        "estimate": 5.0,
        "n": 72,
    }
    found = cost(evidence(study, n02=[minutes, whole]))
    assert found["hours"] == pytest.approx(2 * 36 * 5 / 60)  # two annotators, 36 dialogues each
    assert found["money"] == pytest.approx(found["hours"] * study.costs.hourly_rate)
    assert found["next"] == pytest.approx(10 * 3 * 2 * 5 / 60 * study.costs.hourly_rate)  # both annotators, as before
    assert "6.0 hours" in texts(evidence(study, n02=[minutes, whole]))["cost"]
    assert "no durations" in texts(evidence(study, annotations(seconds=None), {COST: ""}))["cost"]
    assert "notebook 02 was not run" in texts(evidence(study, reasons={COST: "Notebook 02 was not run."}))["cost"]
    command = Markup("notebook 02 was not run: `run --only 02` runs it.")
    assert "`run --only 02`" in texts(evidence(study, reasons={COST: command}))["cost"]


def test_hours_are_the_sum_of_durations_where_each_judgement_has_one(study):
    """A few long ones leave the median as it is. Money and wage are for these hours."""
    head = {**PART, "level": "dialogue", "estimate": 1.0, "n": 72}
    rows = [head | {"statistic": "unit_minutes", "tasks": "all"}]
    rows.append(head | {"statistic": "median_minutes", "task": PART["method"]})
    frame = annotations().assign(work_unit=pd.NA)
    frame.loc[frame["dialogue"].isin(["a0", "b0"]), "seconds"] = 600.0
    found = evidence(study, conform(frame, ANNOTATIONS), n02=rows)
    hours = 2 * (34 * 60 + 2 * 600) / 3600
    assert cost(found)["hours"] == pytest.approx(hours)
    assert cost(found)["next"] == pytest.approx(30 * hours / 36 * study.costs.hourly_rate)
    assert "About 1.8 hours of annotation would cost 36 USD at 20 USD an hour." in texts(found)["cost"]
    some = conform(frame.assign(seconds=frame["seconds"].where(frame["annotator"] == "A1")), ANNOTATIONS)
    assert cost(evidence(study, some, n02=rows))["hours"] == pytest.approx(72 / 60)


def test_who_was_counted_closes_over_runs_and_steps(study):
    """Two people judge in two runs, one of them only in the second; a model judges, too; a pilot is no evaluation."""
    both = pd.concat([annotations(annotators=["A1"]), annotations(corpus="again")], ignore_index=True)
    model = annotations(annotators=["gpt"], annotator_kind="llm")
    frame = conform(pd.concat([both, model], ignore_index=True), ANNOTATIONS)
    pilot = annotations(annotators=["P"], n=1, corpus="annotation_pilot_1")
    whole = conform(pd.concat([frame, pilot], ignore_index=True), ANNOTATIONS)
    found = replace(evidence(study, frame), enrolled=5, everything=whole)
    rows = {row.kind: row for row in stages(found)}
    assert list(rows) == ["everything", "enrolled", "answered", "models", "used"]
    assert (rows["answered"].people, rows["answered"].per_run) == (2, 3)
    assert (rows["answered"].dialogues, rows["answered"].judgements) == (72, 3 * 36 * 3)
    assert (rows["everything"].people, rows["everything"].dialogues) == (3, 75)
    assert (rows["models"].people, rows["used"].people, rows["used"].judgements) == (1, 2, 2 * 36 * 3)
    said = findings.preface(found).counted
    assert "| Answered | 2 (3) | 72 | 324 |" in said
    assert "| Enrolled | (5) | – | – |" in said
    unknown = findings.preface(evidence(study, annotations(known=False))).counted
    assert "| Answered | not identified | 36 | 216 |" in unknown


def judged_by_models(gaps, n_labels=1):
    """Results of notebook 13 on ratings: model -> difference of its alpha from that of people, with its interval."""
    head = {"corpus": "main", "method": "dialogue_likert", "level": "dialogue", "n": 36, "measurement": "ordinal"}
    return [
        head | {"statistic": "judge_alpha", "metric": judge, "label": label, "pair": pair, "estimate": value}
        | ({"ci_low": value - 0.1, "ci_high": value + 0.1} if pair == "difference" else {})
        for judge, gap in gaps.items() for label in LABELS[:n_labels]
        for pair, value in (("people", 0.6), ("mean", 0.6 + gap), ("difference", gap))
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("gaps", "n_labels", "answer", "why"),
    [
        (
            {"gpt": -0.3},
            1,
            "**A model as judge: it matters**; gpt agrees with people less than people",
            "0.30 with a person",
        ),
        ({"gpt": -0.3}, 3, "than people agree with one another, on all labels.", "one another on 3 of 3 labels"),
        ({"gpt": 0.02}, 3, "not shown**; no label shows that gpt agrees with people less", "one another on none of 3"),
        ({"gpt": -0.3, "x": 0.02}, 1, "gpt and x agree with people less", "the difference is 0.02 [−0.08, 0.12]"),
    ],
)
def test_a_model_as_judge_is_compared_with_how_people_agree(study, gaps, n_labels, answer, why):
    models = annotations(annotators=[*gaps], annotator_kind="llm")
    frame = conform(pd.concat([annotations(), models], ignore_index=True), ANNOTATIONS)
    said = texts(evidence(study, frame, n13=judged_by_models(gaps, n_labels)))["judges"]
    assert answer in said.partition("\n\n")[0]
    assert why in said.partition("\n\n")[2]
    command = {JUDGES: Markup("`run --only 13` answers this")}
    assert (
        "**A model as judge: not run yet** (`run --only 13` answers this)."
        in texts(evidence(study, frame, command))["judges"]
    )


def test_a_model_beside_one_human_label_is_not_compared_with_people(study):
    models = annotations(annotators=["gpt"], annotator_kind="llm")
    frame = conform(pd.concat([annotations(), models], ignore_index=True), ANNOTATIONS)
    head = {"corpus": "main", "method": "dialogue_likert", "level": "dialogue", "n": 36, "metric": "gpt"}
    kappas = [(LABELS[0], "none", None, 0.41), (LABELS[0], "quadratic", None, 0.52), (LABELS[0], "none", "A", 0.9)]
    rows = [
        head | {"statistic": "gold_kappa", "label": label, "weights": weights, "system": system, "estimate": value}
        for label, weights, system, value in kappas
    ]
    said = texts(evidence(study, frame, n13=rows))["judges"]
    assert "**A model as judge: compared with one human label per item**" in said.partition("\n\n")[0]
    assert "gpt: kappa with the human label 0.52." in said.partition("\n\n")[2]


def test_how_many_more_dialogues_are_needed_is_what_notebook_14_plans(study):
    head = {**PART, "statistic": "plan_dialogues", "aim": "cheapest", "annotators_per_dialogue": 1, "annotators": 2}
    rows = [head | {"label": label, "estimate": n} for label, n in zip(LABELS, (30, 40, 55), strict=True)]
    tests = compared([0.2, 0.3, 0.04])
    said = texts(evidence(study, n05=[*tests, *DETECTABLE], n14=rows))["next"]
    assert "collect about 28 more dialogues per system (median label)" in said
    assert "a difference of 0.5 SD (assumed, as none was stated), notebook 14 plans 40 dialogues per system" in said
    assert "There are 12, so about 28 more are needed." in said
    enough = texts(evidence(study, n05=tests, n14=[row | {"estimate": 10} for row in rows]))["next"]
    assert "There are 12: enough for that difference" in enough
    command = {PLANNING: Markup("`run --only 14` answers this")}
    assert (
        "is not computed yet (`run --only 14` answers this)."
        in texts(evidence(study, None, command, n05=tests))["next"]
    )


def test_what_was_not_run_says_so_with_its_command(study):
    """Whatever the answer: never that the data could not tell."""
    names = (PERFORMANCE, AGREEMENT, SENSITIVITY, COST)
    said = texts(evidence(study, annotations(annotators=EIGHT), {n: Markup(f"`run {n}` answers this") for n in names}))
    for key, name in zip(("order", "labels", "sample", "cost", "judges"), (*names, PERFORMANCE), strict=True):
        assert "ot run yet" in said[key]
        assert f"`run {name}`" in said[key]


def test_ties_rivals_and_worse_systems_add_up(study):
    """Of five others one may be best, two are worse than the leader, two are worse than the second only."""
    ranks = {"b": (1, 1, 4), "a": (2, 1, 4), "c": (3, 2, 4), "d": (4, 2, 5), "e": (5, 3, 6), "f": (6, 4, 6)}
    rows = ordered({system: -place for place, system in enumerate(ranks)}, ranks)
    said = texts(evidence(study, n07=rows))["order"]
    counts = (
        "Of the other 5 systems, 1 may be best and 2 are shown to be worse than Beta; 2 cannot be distinguished from "
        "Beta, but are worse than another system."
    )
    assert counts in said


def test_a_task_of_several_methods_costs_its_time_once(study):
    """Two annotators, 12 tasks each: a comparison and ratings of both dialogues, 3 minutes per dialogue."""
    rated = annotations()
    rated = rated[rated["system"] != "c"].assign(work_unit=lambda f: f["annotator"] + f["dialogue"].str[1:])
    pairs = rated[(rated["system"] == "a") & (rated["label"] == LABELS[0])]
    pairs = pairs.assign(method="comparative", label="quality", system_b="b", score=1.0)
    pairs["dialogue_b"] = "b" + pairs["dialogue"].str[1:]
    frame = conform(pd.concat([rated, pairs], ignore_index=True), ANNOTATIONS)
    head = {**PART, "method": costs.TOGETHER, "level": "dialogue", "estimate": 3.0, "n": 24}
    rows = [head | {"statistic": "unit_minutes", "tasks": "all", "ci_low": 2.0, "ci_high": 4.0, "ci_kind": "mover"}]
    rows.append(head | {"statistic": "median_minutes", "task": costs.TOGETHER})
    found = cost(evidence(study, frame, n02=rows))
    assert found["hours"] == pytest.approx(24 * 2 * 3 / 60)
    assert found["next"] == pytest.approx(10 * 2 * 2 * 3 / 60 * study.costs.hourly_rate)
    said = texts(evidence(study, frame, n02=rows))["cost"]
    assert (
        "The median is 3.0 [2.0, 4.0] minutes for one annotator to judge one dialogue (All methods of a task)" in said
    )
    assert f"several methods ({'Dialogue Likert'} and Comparative) and has one duration" in said
    assert "unknown" not in said


def test_a_row_with_several_methods_costs_its_time_once_without_work_units(study):
    """Two annotators rate 36 dialogues by two methods, one duration of three minutes for both."""
    rated = annotations(seconds=180.0)
    frame = pd.concat([rated, rated.assign(method="turn_likert")], ignore_index=True).assign(work_unit=pd.NA)
    frame = conform(frame, ANNOTATIONS)
    rows = collect(costs.medians(costs.minutes(pd.DataFrame(), frame)))["median_minutes"].to_dict("records")
    rows = [row | {"statistic": "median_minutes"} for row in rows]
    head = {**PART, "method": costs.TOGETHER, "level": "dialogue", "estimate": 3.0, "n": 72}
    rows.append(head | {"statistic": "unit_minutes", "tasks": "all", "ci_low": 2.0, "ci_high": 4.0, "ci_kind": "mover"})
    assert cost(evidence(study, frame, n02=rows))["hours"] == pytest.approx(2 * 36 * 3 / 60)


def test_a_task_costs_its_own_time_and_a_model_none(study, tmp_path):
    """Three tasks of 1, 1 and 3 minutes, in a work unit each, one label each; the third is done for half of them."""
    tasks = ["t0", "t1", "t2"]
    label = "  {}: {{scale: [1, 5], method: dialogue_likert, task: {}}}\n"
    lines = "labels:\n" + "".join(label.format(*pair) for pair in zip(LABELS, tasks, strict=True))
    (tmp_path / "s.yaml").write_text(YAML.replace("label_set: abc_eval\n", lines), encoding="utf-8")
    named = params.load(tmp_path / "s.yaml")
    frame = annotations()
    frame = frame.assign(work_unit=frame["work_unit"] + frame["label"])
    frame = frame[(frame["label"] != LABELS[2]) | (frame["annotator"] == "A1")]
    model = frame.assign(annotator="gpt", annotator_kind="llm")
    frame = conform(pd.concat([frame, model], ignore_index=True), ANNOTATIONS)
    head = {**PART, "level": "dialogue", "n": 72}
    rows = [
        head | {"statistic": "median_minutes", "task": t, "estimate": m}
        for t, m in zip(tasks, (1.0, 1.0, 3.0), strict=True)
    ]
    rows.append(head | {"statistic": "unit_minutes", "tasks": "all", "estimate": 5.0})
    assert cost(evidence(named, frame, n02=rows))["hours"] == pytest.approx(36 * (2 * 1 + 2 * 1 + 3) / 60)
    # without names of tasks, each work unit takes the mean of the tasks
    assert cost(evidence(study, frame, n02=rows))["hours"] == pytest.approx(36 * 5 * (5 / 3) / 60)
    only = conform(model, ANNOTATIONS)
    assert "hours" not in cost(evidence(study, only, n02=rows))


def test_annotators_are_counted_in_each_corpus(study):
    both = pd.concat([annotations(annotators=["A1", "A2"]), annotations(annotators=["B1", "B2", "B3"], corpus="other")])
    step = steps(evidence(study, conform(both, ANNOTATIONS)))[0]
    assert [(key[0], one.n) for key, one in step.facts["groups"]] == [(PART["corpus"], 2), ("other", 3)]
    said = texts(evidence(study, conform(both, ANNOTATIONS)))["next"]
    assert "(Other): only 3 so far" in said


def test_steps_follow_from_the_results_the_gravest_first(study):
    many = annotations(annotators=[f"A{i}" for i in range(6)])
    good = evidence(study, many, n03=alphas((0.7, 0.9), (0.7, 0.9), (0.7, 0.9)), n05=compared([0.01, 0.02, 0.04]))
    assert [s.kind for s in steps(good)] == ["report"]
    bad = evidence(study, n03=alphas((0.1, 0.6), (0.5, 0.8), (0.7, 0.9)), n05=compared([0.2, 0.3, 0.04]))
    assert [s.kind for s in steps(bad, most=9)] == ["recruit", "collect", "define", "overlap"]
    decided, often = compared([0.01, 0.02, 0.04]), who([0.01, 0.2, 0.3], MUCH, chance=0.14)
    trusted = alphas((0.7, 0.9), (0.7, 0.9), (0.7, 0.9))
    untimed = evidence(study, many.assign(seconds=None), n03=trusted, n05=decided, n07=often)
    assert [s.kind for s in steps(untimed)] == ["more", "time"]
    assert "reverse the order of two systems with a chance of 14%" in texts(untimed)["next"]
    mine = "A" + (many["dialogue"].str[1:].astype(int) % 6).astype(str)
    once = many[(many["label"] == LABELS[0]) | (many["annotator"] == mine)]
    (step,) = steps(evidence(study, once, n03=alphas((0.7, 0.9))))
    assert (step.kind, step.facts["n"], step.facts["all"]) == ("twice", len(LABELS) - 1, False)
    alone = evidence(study, many[many["annotator"] == mine[many.index]])
    assert "Have items judged twice" in texts(alone)["next"]
    assert "Have others judge the transcripts" in texts(replace(alone, own_chats=True))["next"]
    assert "Single judgements: not run yet" in texts(evidence(study, many))["labels"]
    assert "no item was judged twice" in texts(evidence(study, many[many["annotator"] == "A0"]))["labels"]


@pytest.mark.parametrize(
    ("people", "brief", "reason"),
    [
        (EIGHT, "Have more items judged, by more annotators.", "All were judged twice or more, but for 1 of 2 labels"),
        (EIGHT[:2], "have more items judged.", "All were judged twice or more, but for 1 of 2 labels"),
    ],
)
def test_what_makes_agreement_precise_fits_the_design(study, people, brief, reason):
    """Where all items were judged twice, more items judged twice are no way out; one item judged once, they are."""
    frame = annotations(annotators=people)
    rows = {"n03": alphas((0.7, 0.9), (0.5, 0.8)), "n05": compared([0.01, 0.02, 0.04])}
    said = texts(evidence(study, frame, **rows))["next"]
    assert brief.lower() in said.lower()
    assert reason in said
    assert "judged twice." not in said
    first = (frame["dialogue"] == "a0") & (frame["label"] == LABELS[1])
    once = frame[~first | (frame["annotator"] == people[0])]
    assert "Have more items judged twice.** For 1 of 2 labels" in texts(evidence(study, once, **rows))["next"]


def test_every_answer_has_a_link_only_where_there_is_evidence(study):
    found = findings.answers(evidence(study, n07=SURE, n03=alphas((0.7, 0.9))))
    assert {a.key: a.notebook for a in found} == {
        "order": PERFORMANCE, "labels": AGREEMENT, "judges": "", "sample": "", "cost": "", "next": "",
    }  # fmt: skip
    assert [a.key for a in found if a.plot] == ["order", "labels"]
    assert all(a.plot.alt and a.plot.caption for a in found if a.plot)
    assert findings.answers(evidence(study, annotations().iloc[:0])) == []


def test_of_comparisons_each_system_has_the_pairs_it_is_a_side_of(study):
    """Four comparisons of a with b, two of b with c, each by two people: 4, 6 and 2 pairs."""
    pair = {"corpus": "main", "group": "all", "method": "comparative", "label": "quality"}
    sides = [("a", "b", i) for i in range(4)] + [("b", "c", i) for i in range(2)]
    rows = [
        {"study": "s", "annotator": who, "annotator_known": True, "annotator_kind": "human", "system": one,
         "system_b": two, "dialogue": f"{one}{i}{two}", "dialogue_b": f"{two}{i}{one}", "score": 1.0, "source_row": 0,
         **pair}
        for who in ("A1", "A2") for one, two, i in sides
    ]  # fmt: skip
    tests = [row | pair for row in compared([0.01, 0.2, 0.04])]
    least = {**DETECTABLE[0], **pair, "estimate": 0.5}
    found = evidence(study, conform(pd.DataFrame(rows), ANNOTATIONS), n05=[*tests, least])
    assert analysis.sample(found)["detectable"][["per_system", "most_per_system"]].to_numpy().tolist() == [[2, 6]]
    assert "With 2 to 6 pairs per system, a difference of 50.0 percentage points" in texts(found)["sample"]


def test_a_study_across_others_has_no_answers(tmp_path, monkeypatch, study):
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path))
    home = tmp_path / "data" / "processed" / "s"
    home.mkdir(parents=True)
    (home / "params.yaml").write_text(YAML, encoding="utf-8")
    assert findings.answers(read("s", {})) == []


@pytest.mark.parametrize(("tried", "told"), [((6, 6), []), ((30, 200), ["30", "200"]), (None, ["not left out"])])
def test_sturdy_differences_say_which_annotators_were_left_out(tried, told):
    sturdy = Sturdy(n=5, examined=5, found=5, sturdy=2, hangs=[("one annotator", 3)], tried=tried)
    said = of_sample(9, 5, 1, sturdy=sturdy)
    assert all(word in said for word in told)
    assert ("left out" in said) == bool(told)


@pytest.mark.parametrize(
    ("n", "differ", "alike", "answer", "counts"),
    [
        (1, 0, 0, "Not enough: the only comparison remains undecided", "The only comparison of"),
        (1, 1, 0, "Enough: the only comparison shows a difference", "The only comparison of"),
        (1, 0, 1, "Enough: the only comparison shows equivalence", "Equivalent means: within ±0.2 SD."),
        (6, 0, 0, "Not enough: none of the 6 comparisons is decided", "None of the 6 comparisons"),
        (
            6,
            1,
            0,
            "Not enough for most comparisons: 5 of 6 are undecided",
            "1 differs and none is equivalent within ±0.2 SD (",
        ),
        (
            6,
            2,
            1,
            "Enough for half of the comparisons: 3 of 6 are undecided",
            "2 differ and 1 is equivalent within ±0.2 SD (",
        ),
        (6, 3, 2, "Enough for most comparisons: 1 of 6 is undecided", "3 differ and 2 are equivalent within ±0.2 SD ("),
        (6, 6, 0, "Enough: all 6 comparisons are decided", "All 6 comparisons of"),
    ],
)
def test_comparisons_decided_are_counted_in_words_that_agree(n, differ, alike, answer, counts):
    said = of_sample(n, differ, alike, within=0.2)
    assert said.startswith(f"**{answer}.**")
    assert counts in said


def test_no_sentence_on_comparisons_decided_is_long():
    """Also where it says which group of which run, and whose judgements, which the page is not about."""
    given = {"within": 0.25, "untested": 12, "who": "External students, First run"}
    given |= {"people": Population(False, 20, 20, 1.6, "few", 0.78), "main": Population(True, 20, 20, 8.0, "")}
    said = of_sample(180, 100, 7, **given)
    assert [*too_much(said)] == []
    assert "(for these annotators only)" in said.partition("\n\n")[0]


class _Read(dict):
    """Results of notebooks, which remember whose were asked for."""

    def __init__(self, results):
        super().__init__(results)
        self.names = set()

    def __getitem__(self, name):
        self.names.add(name)
        return super().__getitem__(name)


@pytest.mark.parametrize("frame", [annotations(), annotations(seconds=None), annotations(annotators=["A1"])])
def test_an_answer_draws_on_no_notebook_that_does_not_say_so(study, tmp_path, monkeypatch, frame):
    """Else the page would not say of an answer that a notebook of an earlier run is in it."""
    (tmp_path / "s.yaml").write_text(YAML + "quality_control: {payment: 0.99}\n", encoding="utf-8")
    found = evidence(params.load(tmp_path / "s.yaml"), frame, n03=alphas((0.1, 0.2)), n05=compared([0.2] * 3), n07=SURE)
    read_, drawn_on = _Read(found.results), {}

    def recorded(builder):
        def build(*args):
            read_.names.clear()
            answer = builder(*args)
            drawn_on[answer.key] = {*read_.names}
            return answer

        return build

    for key in findings.QUESTIONS:
        monkeypatch.setattr(findings, f"_{key}", recorded(getattr(findings, f"_{key}")))
    findings.answers(replace(found, results=read_))
    assert {*drawn_on} == {*findings.QUESTIONS}
    assert {
        key: names - {*findings.USED[key]} for key, names in drawn_on.items() if names - {*findings.USED[key]}
    } == {}
