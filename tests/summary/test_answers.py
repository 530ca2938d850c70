"""The six answers of a study's first page, from results made by hand."""

import json
import re
from dataclasses import replace
from math import exp
from types import SimpleNamespace

import pandas as pd
import pytest
from fixtures.answer_sizes import too_much
from fixtures.answers_file import unexplained
from fixtures.boxes import unreadable
from markupsafe import Markup

from judgebook.annotations.population import Population
from judgebook.questions.collection import costs
from judgebook.questions.performance import views as in_07
from judgebook.study import params
from judgebook.study.results import Results, collect
from judgebook.study.schema import ANNOTATIONS, conform
from judgebook.summary import analysis, figures, findings
from judgebook.summary.analysis import DOUBTFUL, RELIABLE, TOO_FEW, steps
from judgebook.summary.answers import systems
from judgebook.summary.answers.facts import Ranked, SampleFacts
from judgebook.summary.cost import cost
from judgebook.summary.evidence import AGREEMENT, COST, NOTEBOOKS, PERFORMANCE, Evidence
from judgebook.summary.findings import stages

PART = {"corpus": "main", "group": "all", "method": "dialogue_likert"}
YAML = """\
title: S
label_set: abc_eval
sources: [{adapter: table, file: x.csv, layout: wide, columns: {dialogue: id}, scores: "{label}_{annotator}"}]
systems: {a: Alpha, b: Beta, c: Gamma}
"""
LABELS = ("quality", "relevant", "engaging")
ENDS = ["lead", "lead_low", "lead_high"]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return study_of(tmp_path_factory.mktemp("study"), YAML)


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


def ordered(means, apart, chances, **columns):
    """An overall order: system -> mean; pairs of systems that differ, the better one first; system -> chance of being
    best. Intervals of all differences are as wide as that asks for."""
    head = {**PART, "n": 3, "n_clusters": 12, "resample_unit": "session and annotator", **columns}
    apart, first, rows = {tuple(pair) for pair in apart}, max(means, key=means.get), []

    def difference(one, other):
        gap = means[one] - means[other]
        half = abs(gap) * (0.5 if {(one, other), (other, one)} & apart else 1.5) + 0.01
        return {"estimate": gap, "ci_low": gap - half, "ci_high": gap + half, "ci_kind": "simultaneous"}

    for place, system in enumerate(sorted(means, key=means.get, reverse=True), start=1):
        one, better, worse = head | {"system": system}, *(sum(p[i] == system for p in apart) for i in (1, 0))
        ends = {"ci_low": means[system] - 0.2, "ci_high": means[system] + 0.2, "ci_kind": "t"}
        rows.append(one | {"statistic": "overall_level", "estimate": means[system], **ends})
        ends = {"ci_low": 1 + better, "ci_high": len(means) - worse, "ci_kind": "simultaneous"}
        rows.append(one | {"statistic": "overall_rank", "estimate": place, **ends})
        lead = {"estimate": 0.0} if system == first else difference(first, system)
        rows.append(one | {"statistic": "overall_lead", **lead})
        rows.append(one | {"statistic": "overall_best_chance", "estimate": chances.get(system, 0.0)})
    pairs = [(one, other) for one in sorted(means) for other in sorted(means) if one < other]
    contrast = head | {"statistic": "overall_contrast"}
    return rows + [contrast | {"system": a, "system_b": b} | difference(a, b) for a, b in pairs]


def texts(found, *asked):
    """Answers by key, all or those asked for, which are short (see `too_much`) and have no number that is not in their
    facts. The page folds all but the first paragraph. Figures are drawn in tests of figures only."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("order", "labels", "repeats", "judges", "sample", "cost"):
            patch.setattr(figures, name, lambda *_: None)
        for key in {*findings.QUESTIONS} - {*asked} if asked else ():
            patch.setattr(findings, f"_{key}", lambda *_: None)
        answers = [answer for answer in findings.answers(found) if answer]
    by_key = {answer.key: answer.text for answer in answers}
    data = {a.key: {"reason": a.reason, "facts": a.facts and json.loads(a.facts.model_dump_json())} for a in answers}
    invented = {key: unexplained(text, data[key]) for key, text in by_key.items()}
    assert not any(invented.values()), (invented, by_key)
    joined = {key: re.findall(r"[^\n]{0,40}[.!]\n(?!\d+\. |- )[^\n]{1,40}", text) for key, text in by_key.items()}
    assert not any(joined.values()), joined
    long = {key: [*too_much(text)] for key, text in by_key.items()}
    assert not any(long.values()), long
    return by_key


def said_of(key, found):
    return texts(found, key)[key]


MEANS = {"b": 0.5, "a": 0.1, "c": -0.6}
SURE = ordered(MEANS, ["ba", "bc"], {"b": 0.97, "a": 0.03})
OPEN = ordered(MEANS, ["bc", "ac"], {"b": 0.83, "a": 0.17})
ANY = ordered(MEANS, [], {"b": 0.44, "a": 0.36, "c": 0.2})


EIGHT = [f"A{i}" for i in range(8)]


def alphas(*ends, kind="bca", n=24):
    keys = {"statistic": "alpha", "measurement": "ordinal", "raters": "all", "resample": "dialogue", "kind": "human"}
    return [
        {**PART, **keys, "label": label, "estimate": sum(pair) / 2, "ci_low": pair[0], "ci_high": pair[1],
         "ci_kind": kind, "n": n, "n_clusters": n}
        for label, pair in zip(LABELS, ends, strict=False)
    ]  # fmt: skip


FAMILY = "all pairs of systems, multivariate t"
DIFFER, UNDECIDED, CLOSE, NONE = (0.1, 0.5), (-0.1, 0.7), (-0.1, 0.1), (None, None)


def compared(ends, plain=(0.001, 0.001, 0.001), **columns):
    """Intervals of the differences of all pairs of systems on a label, and p without a model."""
    keys = {**PART, "label": "quality", "resample_unit": "session and annotator", "n": 72, **columns}
    rows = []
    for (one, two), (low, high), p in zip([("a", "b"), ("a", "c"), ("b", "c")], ends, plain, strict=True):
        pair = keys | {"system": one, "system_b": two, "estimate": 0.3 if low is None else (low + high) / 2}
        interval = {"ci_low": low, "ci_high": high, "ci_kind": "simultaneous" if high else "not_estimable"}
        known = {} if low is None else {"p_value": 0.01, "p_adjusted": 0.03 if low > 0 or high < 0 else 0.3}
        rows.append(pair | {"statistic": "contrast", "family": FAMILY} | interval | known)
        rows.append(pair | {"statistic": "plain_contrast", "p_value": p, "ci_kind": "t"})
    return rows


DETECTABLE = [
    {**PART, "statistic": "difference_found", "label": label, "estimate": value, "n": 3}
    for label, value in zip(LABELS, (0.5, 0.6, 0.9), strict=True)
]


def who(n, strictness, preference, chance=0.1, note=None):
    """Of n labels: (estimate, low, high) of the share of either part, and of the first two, how often others would turn
    them round. note : why nothing is known."""
    rows = []
    for label in LABELS[:n]:
        head = {**PART, "label": label, "n": 72, "n_annotators": 8}
        for part, ends in (("annotator", strictness), ("taste", preference)):
            share = dict(zip(("estimate", "ci_low", "ci_high"), ends, strict=True)) if ends else {"note": note}
            rows.append(head | {"statistic": "component_share", "part": part, "ci_kind": "profile"} | share)
        rows.append(head | {"statistic": "component_share", "part": "residual", "estimate": 0.5})
        turned = head | {"statistic": "order_reversal", "system": "b", "system_b": "a"}
        rows += [turned | {"part": of, "estimate": p} for of, p in (("annotators", chance), ("study", 2 * chance))]
    return rows


MUCH = ((0.2, 0.1, 0.5), (0.3, 0.2, 0.4))
LITTLE = ((0.01, 0.0, 0.05), (0.02, 0.0, 0.09))
UNCLEAR = ((0.01, 0.0, 0.35), (0.02, 0.0, 0.09))


RELIABLE_ALL = alphas(*[(0.7, 0.9)] * 3)
DECIDED = compared([DIFFER] * 3)
LOW = alphas(*[(0.1, 0.6)] * 3)
RELIABLE_TWO = alphas((0.7, 0.9), (0.1, 0.6), (0.7, 0.9))


def joined(*frames):
    return conform(pd.concat(frames, ignore_index=True), ANNOTATIONS)


def ranked():
    """One label, ordered by its own levels and ranks: c, a, b, of which any may be first."""
    rows = ordered({"c": 4.1, "a": 3.4, "b": 2.2}, [], {"c": 0.6, "a": 0.3, "b": 0.1}, label="quality", n=12)
    own = [row for row in rows if row["statistic"] != "overall_contrast"]
    return [row | {"statistic": row["statistic"].removeprefix("overall_")} for row in own]


def apart(times):
    """How many times the data would separate c from a, the first two."""
    head = {**PART, "label": "quality", "statistic": "data_to_separate", "n": 72}
    return [head | {"system": "c", "system_b": "a", "estimate": times}]


def reliability(*estimates, **more):
    head = {**PART, "statistic": "order_reliability", "n": 3, "ci_low": 0.4, "ci_high": 0.9}
    return [head | {"label": x, "estimate": e} | more for x, e in zip(LABELS, estimates, strict=True)]


def replicated(low):
    """Nothing was judged twice; systems were compared with those of another run."""
    head = {"statistic": "replication_r", "corpus": "again", "against": "main", "among": "systems", "workers": "all"}
    head |= {"interval": "workers", "scores": "z", "estimate": 0.9, "ci_low": low, "ci_high": 0.95, "n": 9}
    rows = [head | {"label": label} for label in (*LABELS, "overall mean")]
    return {"frame": annotations(annotators=["A1"]), "n03": alphas((0.1, 0.6), n=0), "n10": rows}


def command(name, text="`run` answers this"):
    return {name: Markup(text)}


UNEQUAL = joined(annotations(annotators=EIGHT[:1], n=80), annotations(annotators=EIGHT[1:], n=2))
SHORT = annotations().query("system != 'c' or dialogue in ['c0', 'c1', 'c2']")
TESTED = [*compared([DIFFER, UNDECIDED, DIFFER]), *DETECTABLE]
BEYOND = [row | {"estimate": 5.0} for row in DETECTABLE]
NO_ENDS = [row | {"ci_low": None, "ci_high": None, "ci_kind": "not_estimable", "note": "3 clusters"} for row in SURE]
UNDEFINED = [row | {"note": "all 36 annotations have the same value"} for row in alphas((float("nan"), float("nan")))]
RUNS = ["main", "second", "third"]
ALONE = annotations().query("system == 'a'")
ONCE = annotations(annotators=EIGHT).query(f"not (dialogue == 'a0' and label == '{LABELS[1]}' and annotator != 'A0')")
BOTH = {"resample": "dialogue and annotator", "ci_kind": "not_estimable", "note": "3.0 effective"}
FEW_SHARED = [row | BOTH | {"ci_low": None, "ci_high": None} for row in RELIABLE_TWO]
#: what is given -> what is said under a key, and (`not …`) what is not
SAID = {
    "first where the rank interval says so": (
        {"n07": SURE},
        {"order": ["**Beta is best of 3 systems overall** (97% sure). It is 0.40 [0.19, 0.61] SD ahead of the",
                   "By the mean of 3 labels, each in standard deviations (SD) of items (Dialogue Likert), for other",
                   "Chance of being best: Beta 97%, Alpha 3%.",
                   "Of the other 2 systems, none may be best and 2 are clearly worse than Beta.",
                   "Tiers: (1) Beta; (2) Alpha and Gamma. Systems of a tier cannot be distinguished from the first"],
         "not order": ["judged by this method"]},
    ),
    "rivals are those that may be first": (
        {"n07": OPEN},
        {"order": ["**Beta is probably best overall (83%).** It is 0.40 [−0.21, 1.01] SD ahead of the second, Alpha,",
                   "Of the other 2 systems, 1 may be best and 1 is clearly worse than Beta.",
                   "Tiers: (1) Beta and Alpha; (2) Gamma."]},
    ),
    "a leader that is hardly ahead": (
        {"n07": ANY},
        {"order": ["**Beta is ahead overall, but has only a 44% chance of being best.** It is 0.40 [−0.21, 1.01] SD",
                   "second, Alpha, but any other may be best.", "all may be best and none is clearly worse than"]},
    ),
    "two systems": (
        {"n07": ordered({"b": 0.5, "a": 0.1}, [], {"b": 0.7, "a": 0.3})},
        {"order": ["second, Alpha, which may be as good.", "- The other system may be best."]},
    ),
    "another group does not speak for the main one": (
        {"frame": joined(annotations(n=2, group="few"), annotations()),
         "n07": [*(row | {"group": "few"} for row in SURE), *OPEN]},
        {"order": ["Beta is probably best overall (83%)",
                   "In the other evaluation (Dialogue Likert, few), Beta is certain to be best."]},
    ),
    "all runs together": (
        {"frame": joined(*(annotations(corpus=c) for c in RUNS)),
         "n07": [row | {"corpus": c} for c in ("all runs", *RUNS) for row in (OPEN if c in RUNS else SURE)]},
        {"order": ["**Beta is best of 3 systems over all runs** (97% sure).", "(Dialogue Likert, all runs), for",
                   "like these 2 and other runs like these 3.",
                   "- Each run by itself: Beta leads in Main (83%), Second (83%) and Third (83%). In brackets"],
         "not order": ["other evaluation"]},
    ),
    "all runs are about these annotators if one is": (
        {"frame": joined(*(annotations(corpus=c, known=c != "third") for c in RUNS)),
         "n07": [row | {"corpus": c} for c in ("all runs", *RUNS) for row in (OPEN if c in RUNS else SURE)]},
        {"order": ["(Dialogue Likert, all runs), for these annotators only"]},
    ),
    "few judged the same items": (
        {"frame": annotations(annotators=EIGHT), "n03": [*RELIABLE_TWO, *FEW_SHARED], "n07": SURE},
        {"labels": ["(for these annotators only)",
                    "these 8 annotators only, as too few of them judged the same items to stand for others"]},
    ),
    "comparisons that could not be tested count": (
        {"n07": compared([DIFFER, NONE, NONE])},
        {"sample": ["2 of 3 ", "the other 2 remain undecided.",
                    "They are undecided because the data do not allow the two systems to be compared."]},
    ),
    "it matters who judged": (
        {"n07": who(3, *MUCH)},
        {"judges": ["**Other people: it matters for single judgements on all 3 labels.** As many others would reverse",
                    "with a chance of 10%.", "(median over labels)",
                    "A whole new study of this size, with other items too, would reverse that order with",
                    "strictness accounts for 20% (median label; 20% to 20%) and preferences for systems for 30% (med"]},
    ),
    "it matters on the only label": (
        {"n07": who(1, *MUCH)},
        {"judges": ["**Other people: it matters for single judgements.** As many others would reverse the order",
                    "strictness accounts for 20% [10%, 50%] and preferences for systems for 30% [20%, 40%]"],
         "not judges": ["(median over labels)"]},
    ),
    "it matters little": (
        {"n07": who(3, *LITTLE)}, {"judges": ["it matters little for single judgements.** As many others would"]},
    ),
    "it may matter": (
        {"n07": who(3, *UNCLEAR)}, {"judges": ["share in single judgements is small, but may be up to 35%.** As many"]},
    ),
    "how much it may matter is unknown": (
        {"n07": who(1, (0.01, None, None), (0.02, None, None))},
        {"judges": ["their share in single judgements is small; how large it may be"]},
    ),
    "annotators account for much on some labels": (
        {"n07": [*(row | {"label": LABELS[1]} for row in who(1, *MUCH)), *who(1, *LITTLE)]},
        {"judges": ["**Other people: it matters for single judgements on 1 of 2 labels.**"]},
    ),
    "more annotators where all items were judged twice": (
        {"frame": annotations(annotators=EIGHT), "n03": alphas((0.7, 0.9), (0.5, 0.8)), "n07": DECIDED},
        {"next": ["All were judged twice or more, but for 1 of 2 labels"], "not next": ["judged twice."]},
    ),
    "more items judged twice where one was judged once": (
        {"frame": ONCE, "n03": alphas((0.7, 0.9), (0.5, 0.8)), "n07": DECIDED},
        {"next": ["Have more items judged twice.** For 1 of 2 labels"]},
    ),
    "without an interval": ({"n07": NO_ENDS}, {"order": ["3 clusters"], "not order": ["is best", "Chance of"]}),
    "nothing varies": (
        {"n07": [row | ({"estimate": 0.0} if row["statistic"] == "overall_lead" else {}) for row in NO_ENDS]},
        {"order": ["**No system leads, and the uncertainty cannot be estimated**: 3 clusters."]},
    ),
    "no order": ({"reasons": {PERFORMANCE: "Two systems at least."}}, {"order": ["Two systems at least."]}),
    "one system": ({"frame": ALONE}, {"order": ["only one system"]}),
    "labels by verdict": (
        {"n03": alphas((0.7, 0.9), (0.1, 0.6), (0.5, 0.8))},
        {"labels": ["Single judgements: reliable on 1 of 3 labels", "(CI above 0.667): Quality.",
                    "Krippendorff (2004) accepts no less for tentative conclusions."]},
    ),
    "all annotations alike": (
        {"n03": UNDEFINED},
        {"labels": ["Single judgements: alpha is undefined: all 36 annotations have the same value"],
         "not labels": ["not shown to be reliable"]},
    ),
    "nothing judged twice": ({"n03": alphas((0.1, 0.6), n=0)}, {"labels": ["Single judgements: not run yet"]}),
    "another run repeats it": (
        replicated(0.3),
        {"labels": ["Ranking systems by means: replicated in another run", "Again is compared with Main."]},
    ),
    "another run does not": (replicated(-0.3), {"labels": ["not shown to be replicated"]}),
    "reliability of means in this design": (
        {"n03": alphas((0.7, 0.9), (0.1, 0.6), (0.5, 0.8)),
         "n07": reliability(0.6, 0.7, 0.9, n_dialogues=12, annotators_per_dialogue=2)},
        {"labels": ["median reliability 0.70.",
                    "is 0.70 (0.60 to 0.90 by label) over 12 dialogues, each judged by 2 annotators."]},
    ),
    "decided and detectable": (
        {"n07": TESTED},
        {"sample": ["1 of 3 is undecided", "2 of 3 comparisons", "With 12 dialogues per system, a difference of 0.60",
                    "points is found with 80% power, for other annotators too (Dialogue Likert, median label; all",
                    "\n- By label, it is 0.50 to 0.90"],
         "cost": ["Ten more dialogues per system, with proportionally more annotators, would lower the smallest",
                  "from 0.60 to 0.44 points.", "With the same annotators, the gain is smaller"],
         "not sample": ["rest on the model", "equivalent"]},
    ),
    "of one dialogue": (
        {"frame": annotations(n=1), "n07": TESTED}, {"sample": ["- With 1 dialogue per system, a difference"]},
    ),
    "beyond the scale": (
        {"n07": [*compared([DIFFER, UNDECIDED, DIFFER]), *BEYOND]},
        {"sample": ["Not even the largest possible difference"], "cost": ["What more would buy cannot be computed"],
         "not cost": ["falls from"]},
    ),
    "twice the data": (
        {"n07": [*compared([DIFFER, UNDECIDED, UNDECIDED]), *DETECTABLE]},
        {"next": ["2 of 3 comparisons are undecided. Twice as many dialogues (24 per system), judged by twice as many",
                  "would find a difference of 0.42 instead of 0.60 points with 80% power"]},
    ),
    "of one annotator": (
        {"frame": annotations(annotators=EIGHT[:1]), "n07": TESTED},
        {"sample": ["for this annotator only", "a difference of 0.60 points is found with 80% power (Dialogue"],
         "next": ["**Recruit more annotators.** All evaluators: only one so far. Results hold for other"]},
    ),
    "differences that rest on the model": (
        {"n07": compared([DIFFER, DIFFER, UNDECIDED], plain=(0.06, 0.001, 0.5))},
        {"sample": ["1 of the differences rests on the model: without one, it is not significant, even if no"]},
    ),
    "annotators who coincide with sessions": (
        {"frame": annotations(annotators=EIGHT), "n07": who(1, None, None, note="the same as item")},
        {"judges": ["**Other people: unknown**, because the fit cannot tell their part from the rest (the same as"]},
    ),
    "what would separate the leader": (
        {"n07": [*ranked(), *apart(12.7), *compared([UNDECIDED] * 3)]},
        {"order": ["**Gamma is probably best on Quality (60%).** It is 0.70 [−0.36, 1.76] points ahead of the"],
         "next": ["Collect more dialogues to separate Gamma from the second, Alpha.",
                  "about 13 times the 72 judgements would do so with 80% power, with new annotators and dialogues or"],
         "not next": ["comparisons are undecided"]},
    ),
    "too close": (
        {"n07": [*ranked(), *apart(None)]},
        {"next": ["They are too close: more than 100 times the 72 judgements would be needed"]},
    ),
    "of two labels one varies": (
        {"n07": [*ranked(), *(row | {"label": "relevant", "ci_low": None, "ci_high": None} for row in ranked())]},
        {"order": ["**Gamma is probably best on Quality (60%).**", "- By Quality (Dialogue Likert), for other"]},
    ),
    "no label is judged on all systems": (
        {"n07": [*ranked(), *(row | {"label": "relevant"} for row in ranked())]},
        {"order": ["**No answer:** Fewer than two labels that vary were judged on all systems, so there is no order"]},
    ),
    "separated already": (
        {"n07": [*ranked(), *apart(1.0), *compared([UNDECIDED] * 3)]},
        {"next": ["comparisons are undecided"], "not next": ["Collect more dialogues to separate"]},
    ),
    "others would reverse the first two": (
        {"n03": RELIABLE_ALL, "n07": [*DECIDED, *who(3, *MUCH, chance=0.14)]},
        {"next": ["would reverse the order of the first two systems with a chance of 14% (median label)."]},
    ),
    "unknown annotators": (
        {"frame": annotations(known=False), "n07": TESTED}, {"next": ["**Record who judged.**"]},
    ),
    "no durations": (
        {"frame": annotations(seconds=None), "reasons": {COST: ""}}, {"cost": ["no durations"]},
    ),
    "others not run": (
        {"frame": annotations(annotators=EIGHT), "reasons": command(AGREEMENT) | command(PERFORMANCE) | command(COST)},
        {key: ["ot run yet", "`run`"] for key in ("labels", "sample", "cost")},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", SAID)
def test_what_is_said(study, case):
    given, expected = SAID[case]
    said = texts(evidence(study, **given), *{key.removeprefix("not ") for key in expected})
    for key, words in expected.items():
        for word in words:
            assert (word in said[key.removeprefix("not ")]) != key.startswith("not "), (word, said)


@pytest.mark.parametrize(
    ("apart", "chance", "said"),
    [
        ([], 0.3, "It is 1.00 [−0.51, 2.51] SD ahead of the second, Alpha, but any other may be best."),
        (["bf"], 0.3, "second, Alpha; 1 of the others is clearly worse."),
        (["ac", "bd"], 0.6, "second, Alpha, but Alpha, e or f may be best."),
        (["bc", "bd", "be", "bf"], 0.99, "second, Alpha, which may be as good."),
        (["be", "bf", "ac", "ad"], 0.6, "Of the other 5 systems, 1 may be best and 2 are clearly worse than Beta; 2 "
                                        "cannot be distinguished from Beta, but are worse than another system."),
    ],
)  # fmt: skip
def test_who_else_may_be_best_is_named_where_they_are_few_and_counts_add_up(study, apart, chance, said):
    rows = ordered(dict(zip("bacdef", range(6, 0, -1), strict=True)), apart, {"b": chance, "a": 1 - chance})
    assert said in said_of("order", evidence(study, n07=rows))


@pytest.mark.parametrize(
    ("unit", "gap", "said"),
    [
        ("score", (0.001, -0.5, 0.502), "It is equal to Old to two decimals (difference 0.00 [−0.50, 0.50] points)"),
        ("score", (0.004, 0.001, 0.007), "It is 0.0040 [0.0010, 0.0070] points ahead of the second, Old, which"),
        ("share", (0.001, -0.03, 0.03), "equal to Old to the percentage point (difference 0 [−3, 3] percentage"),
        ("strength", (3.0, -7.0, 13.0), "How often it beats Old cannot be estimated: with so few votes or annotators, "
                                        "the interval is 0% to 100%"),
        ("strength", (1.0, 0.0, 2.0), "It wins 73% [50%, 88%] of the votes against the second, Old, that are not ties"),
    ],
)  # fmt: skip
def test_a_gap_of_zero_or_an_interval_that_says_nothing_is_said_so(unit, gap, said):
    """On the first page, and in short by notebook 07."""
    row = pd.Series({"system": "o", "unit": unit, "rank_low": 1} | dict(zip(ENDS, gap, strict=True)))
    second = SimpleNamespace(name="Old", beaten=Ranked.beaten.fget(row), **row[ENDS])
    facts = {"top": SimpleNamespace(unit=unit, p_best=0.6), "known": True, "sure": False, "any": True, "wins": 0}
    assert said in findings._PHRASES.say("rest", second=second, n_others=1, n_rivals=1, rivals=[], **facts)
    facts |= {"second": in_07._second(row, SimpleNamespace(name=lambda kind, key: "Old")), "n": 2, "level": 0.95}
    facts |= {"others": {"n": 0}, "tiers": [], "label": "q", "name": "New", "who": "r"}
    rest = dict.fromkeys(("rivals", "n_labels", "people", "judged", "method"))
    assert said in in_07._PHRASES.say("leader", **facts | rest)


def test_a_winner_by_one_annotators_judgements_is_named_with_their_share(study):
    """In the same sentence, and above all answers."""
    found = evidence(study, UNEQUAL, n07=[*SURE, *DECIDED])
    whom = findings.preface(found).whom
    first = said_of("order", found).split("**")[1]
    assert first == "Beta ranks first of 3 systems, but one annotator made 85% of the judgements."
    assert "for other annotators like these 8. One annotator made 85% of the judgements." in whom


@pytest.mark.parametrize(
    ("ends", "said", "codes"),
    [
        (((-0.5, 0.5), (-0.5, 0.5)), "; by your margin, no other system is shown to be no worse.", ["open", "open"]),
        (((-0.5, 0.3), (-0.5, 0.5)), "; by your margin, Beta is not worse.", ["not_worse", "open"]),
        (((-0.3, 0.3), (-0.5, 0.3)), "; by your margin, none of the others is worse.", ["equivalent", "not_worse"]),
        (((0.1, 0.3), (0.1, 0.5)), "; by your margin, Beta is not worse.", ["slightly_worse", "worse"]),
    ],
)
def test_a_margin_of_the_study_says_who_is_not_worse_than_the_leader(tmp_path, ends, said, codes):
    own = study_of(tmp_path, YAML + "margin: {dialogue_likert: {quality: 0.4}}\n")
    order = ordered({"a": 0.5, "b": 0.1, "c": -0.6}, ["ac"], {"a": 0.8, "b": 0.2})
    found = evidence(own, n07=[*compared([*ends, UNDECIDED]), *DETECTABLE, *order])
    told = texts(found, "order", "sample")
    assert told["order"].split("\n\n")[0].endswith(said)
    assert "- Your margin (`margin`) is 0.4 points on Quality." in told["order"]
    facts = findings._order(found, found.names).facts
    assert [one.verdict for one in facts.margin.pairs] == codes
    assert [(one.ci_low, one.ci_high) for one in facts.margin.pairs] == [(-high, -low) for low, high in ends]
    assert "On Quality, differences of 0.50 points would usually be found, more than your margin." in told["sample"]
    assert ("equivalent within your margin" in told["sample"]) == bool({"equivalent", "worse"} & {*codes})


def study_of(folder, text):
    (folder / "s.yaml").write_text(text, encoding="utf-8")
    return params.load(folder / "s.yaml")


def test_a_label_is_what_the_interval_of_alpha_says(study):
    """At the threshold it is no longer above it; a bound is no interval."""

    def said(*ends, **more):
        return list(analysis.labels(evidence(study, n03=alphas(*ends, **more)))["verdict"])

    assert said((0.70, 0.90), (0.667, 0.90), (0.10, 0.60)) == [RELIABLE, TOO_FEW, DOUBTFUL]
    assert said((0.70, 0.90), kind="exact_bound") == [TOO_FEW]


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
    own_study = study_of(tmp_path, "\n".join([YAML.replace("label_set: abc_eval\n", "") + "labels:", *own]))
    rows = [row | {"method": own_study.label_list()[0].method} for row in alphas((0.7, 0.9), (0.1, 0.6), (0.7, 0.8))]
    said = said_of("labels", evidence(own_study, annotations(method=rows[0]["method"]), n03=rows))
    assert f"Single judgements: {first}" in said
    assert (f"Not counted: {aside}" in said) == bool(aside)


def test_the_threshold_is_that_of_the_study(tmp_path):
    own = study_of(tmp_path, YAML + "iaa: {threshold: 0.5}\n")
    said = texts(evidence(own, n03=alphas((0.6, 0.9), (0.1, 0.4), (0.3, 0.8))), "labels", "next")
    assert "reliable on 1 of 3 labels" in said["labels"]
    assert "Reliable (CI above 0.5): Quality." in said["labels"]
    assert "contains 0.5 or cannot be computed" in said["next"]
    assert not re.search(r"0\.66?7", "".join(said.values()))


def test_with_unequal_systems_the_smallest_difference_is_that_of_the_middle_pair(study):
    one, two = (12 / 22) ** 0.5, ((1 / 22 + 1 / 13) / (1 / 12 + 1 / 3)) ** 0.5
    more = analysis.sample(evidence(study, SHORT, n07=TESTED))["detectable"]["more"]
    assert more.iloc[0] == pytest.approx(0.5 * sorted([one, two, two])[1])


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
    tests = [*compared([DIFFER, UNDECIDED, DIFFER], **pair), {**DETECTABLE[0], **pair, "estimate": 0.5}]
    found = evidence(study, conform(pd.DataFrame(rows), ANNOTATIONS), n07=tests)
    assert analysis.sample(found)["detectable"][["per_system", "most_per_system"]].to_numpy().tolist() == [[2, 6]]
    assert "With 2 to 6 pairs per system, a difference of 50.0 percentage points" in said_of("sample", found)


def apiece():
    """Each system judged by one annotator of its own."""
    frame = annotations(annotators=["A1", "A2", "A3"])
    return frame[frame["system"] == frame["annotator"].map({"A1": "a", "A2": "b", "A3": "c"})]


@pytest.mark.parametrize(
    ("annotators", "known", "whose", "also", "judges"),
    [
        (EIGHT, True, "for other annotators like these 8", "", "it matters"),
        (
            EIGHT[:1], True, "for this annotator only", "For other annotators, nothing can be said with one.",
            "unknown with one annotator.**",
        ),
        (
            None, True, "for these 3 annotators only", "nothing can be said, as each system was judged by one of them.",
            "unknown**, because each system was judged by one of them.",
        ),
        (
            EIGHT, False, "for these annotators only, whom the data do not identify", "",
            "unknown**, because the data do not identify",
        ),
    ],
)  # fmt: skip
def test_every_answer_is_about_one_population_and_says_which(study, annotators, known, whose, also, judges):
    """Above all answers."""
    both = [
        row | {"resample": "dialogue and annotator", "ci_low": row["ci_low"] - 0.1, "ci_high": row["ci_high"] + 0.05}
        for row in RELIABLE_TWO
    ] * ("other" in whose)
    frame = annotations(annotators=annotators, known=known) if annotators else apiece()
    found = evidence(study, frame, n03=[*RELIABLE_TWO, *both], n07=[*SURE, *DECIDED, *who(3, *MUCH)])
    said, whom = texts(found, "labels", "judges", "sample"), findings.preface(found).whom
    assert all(whose in text for text in (whom, said["labels"], said["sample"]))
    assert said["judges"].startswith(f"**Other people: {judges}")
    assert also in whom
    assert analysis.sample(found)["n_differ"] == 3
    assert ("other annotators" in whom.lower()) == ("other" in whose or bool(also))


def test_a_group_of_three_cannot_show_that_people_differ(study):
    """Of three against seven there are 120 arrangements: 8 tests later the smallest p is 0.067, which is said."""
    three, seven = (
        annotations(annotators=[f"{g}{i}" for i in range(n)], group=g) for g, n in (("few", 3), ("many", 7))
    )
    head = {"corpus": "main", "method": "dialogue_likert", "group": "few", "group_b": "many", "n": 72, "estimate": 0.3}
    difference, test = {"statistic": "group_difference"}, {"statistic": "group_difference_test"}
    rows = []
    for i in range(8):
        own = [difference | {"resample": "session", "ci_low": 0.1, "ci_high": 0.5}]
        own += [difference | {"resample": "none", "over": over} for over in ("people", "picks")]
        for exchange, p in (("judgement", 0.01), ("annotator", 0.07)):
            own.append(test | {"exchange": exchange, "p_value": p, "p_adjusted": p})
        debiased = {"statistic": "group_difference_debiased", "scale": "root", "estimate": 0.1 * i}
        rows += [head | {"label": f"l{i}"} | row for row in (*own, debiased | {"ci_low": 0.0, "ci_high": 1.0})]
    said = said_of("judges", evidence(study, joined(three, seven), n08=rows))
    assert "cannot be tested: with 3 people in a group (few), the smallest possible p after adjustment is 0.067" in said
    assert "The median standardised size of differences between groups, corrected for noise, is 0.35." in said


def judged_by_models(gaps, n_labels=1):
    """Results of notebook 13 on ratings: model -> difference of its alpha from that of people, with its interval."""
    head = {"corpus": "main", "method": "dialogue_likert", "level": "dialogue", "n": 36, "measurement": "ordinal"}
    return [
        head | {"statistic": "judge_alpha", "metric": judge, "label": label, "pair": pair, "estimate": value}
        | ({"ci_low": value - 0.1, "ci_high": value + 0.1} if pair == "difference" else {})
        for judge, gap in gaps.items() for label in LABELS[:n_labels]
        for pair, value in (("people", 0.6), ("mean", 0.6 + gap), ("difference", gap))
    ]  # fmt: skip


def against_one_label():
    """Kappas of a model with one human label per item: unweighted, weighted, and of one system."""
    head = {"corpus": "main", "method": "dialogue_likert", "level": "dialogue", "n": 36, "metric": "gpt"}
    head |= {"statistic": "gold_kappa", "label": LABELS[0]}
    kappas = [("none", None, 0.41), ("quadratic", None, 0.52), ("none", "A", 0.9)]
    return [head | {"weights": weights, "system": system, "estimate": value} for weights, system, value in kappas]


@pytest.mark.parametrize(
    ("models", "rows", "answer", "why"),
    [
        (["gpt"], judged_by_models({"gpt": -0.3}), "judge: it matters**; gpt agrees with people less than people",
         "0.30 with a person"),
        (["gpt"], judged_by_models({"gpt": 0.02}, 3),
         "not shown**; no label shows that gpt agrees with people less", "one another on none of 3"),
        (["gpt", "x"], judged_by_models({"gpt": -0.3, "x": 0.02}), "gpt and x agree with people less",
         "the difference is 0.02 [−0.08, 0.12]"),
        (["gpt"], against_one_label(), "**A model as judge: compared with one human label per item**",
         "gpt: kappa with the human label 0.52."),
    ],
)  # fmt: skip
def test_a_model_as_judge_is_compared_with_how_people_agree(study, models, rows, answer, why):
    frame = joined(annotations(), annotations(annotators=models, annotator_kind="llm"))
    said = said_of("judges", evidence(study, frame, n13=rows))
    assert answer in said.partition("\n\n")[0]
    assert why in said.partition("\n\n")[2]


EVERYBODY = Population(True, 8, 8, 8.0, "")


@pytest.mark.parametrize(
    ("n", "differ", "alike", "answer", "counts"),
    [
        (1, 0, 0, "Not enough: the only comparison remains undecided", "The only comparison of"),
        (1, 0, 1, "Enough: the only comparison shows equivalence", "Equivalent means: the whole interval lies"),
        (6, 2, 1, "Enough for half of the comparisons: 3 of 6 are undecided", "2 differ and 1 is equivalent within"),
        (6, 6, 0, "Enough: all 6 comparisons are decided", "All 6 comparisons of"),
    ],
)
def test_comparisons_decided_are_counted_in_words_that_agree(n, differ, alike, answer, counts):
    facts = {"n": n, "n_decided": differ + alike, "n_differ": differ, "n_alike": alike, "open": n - differ - alike}
    rest = {"who": "", "untested": 0, "by_model": 0, "detectable": None, "people": EVERYBODY, "main": EVERYBODY}
    said = findings.of_sample(SampleFacts(**facts, **rest, margins=True))[1]
    assert said.startswith(f"**{answer}.**")
    assert counts in said


def minutes(unit=5.0, task=PART["method"], **more):
    """Results of notebook 02: minutes per unit with an interval, and per task."""
    head = {**PART, "level": "dialogue", "estimate": unit, "n": 72} | more
    ends = {"ci_low": unit - 1, "ci_high": unit + 1, "ci_kind": "mover"}
    return [
        head | {"statistic": "unit_minutes", "tasks": "all"} | ends,
        head | {"statistic": "median_minutes", "task": task},
    ]


def test_what_was_paid_comes_before_what_it_would_cost(tmp_path):
    """The time of every judged unit: two annotators, 36 dialogues each; and ten more dialogues of three systems."""
    own = study_of(tmp_path, YAML + "quality_control: {payment: 0.99}\n")
    paid = evidence(own, n02=minutes())
    found = cost(paid)
    assert found["wage"] == pytest.approx(0.99 * 72 / 6)
    assert found["hours"] == pytest.approx(2 * 36 * 5 / 60)
    assert found["money"] == pytest.approx(found["hours"] * own.costs.hourly_rate)
    assert found["next"] == pytest.approx(10 * 3 * 2 * 5 / 60 * own.costs.hourly_rate)  # both annotators, as before
    pairs = annotations(method="comparative", system_b="b")
    compared_ = cost(evidence(own, pairs, n02=minutes(5.0, "comparative", method="comparative", level="pair")))
    assert (found["next_units"], compared_["next_units"]) == (10 * 3, 10 * 3 / 2)  # a pair is of two systems
    said = said_of("cost", paid)
    assert said.startswith("**71 USD was paid** (11.88 USD an hour).")
    assert "About 6.0 hours of annotation would cost 120 USD at 20 USD an hour." in said
    assert said_of("cost", replace(paid, work_units=75)).startswith("**74 USD was paid**")


def test_hours_are_the_sum_of_durations_where_each_judgement_has_one(study):
    """A few long ones leave the median as it is. Money and wage are for these hours."""
    frame = annotations().assign(work_unit=pd.NA)
    frame.loc[frame["dialogue"].isin(["a0", "b0"]), "seconds"] = 600.0
    found = cost(evidence(study, conform(frame, ANNOTATIONS), n02=minutes(1.0)))
    hours = 2 * (34 * 60 + 2 * 600) / 3600
    assert found["hours"] == pytest.approx(hours)
    assert found["next"] == pytest.approx(30 * hours / 36 * study.costs.hourly_rate)
    some = conform(frame.assign(seconds=frame["seconds"].where(frame["annotator"] == "A1")), ANNOTATIONS)
    assert cost(evidence(study, some, n02=minutes(1.0)))["hours"] == pytest.approx(72 / 60)


def test_a_task_of_several_methods_costs_its_time_once(study):
    """Two annotators, 12 tasks each: a comparison and ratings of both dialogues, 3 minutes per dialogue."""
    rated = annotations()
    rated = rated[rated["system"] != "c"].assign(work_unit=lambda f: f["annotator"] + f["dialogue"].str[1:])
    pairs = rated[(rated["system"] == "a") & (rated["label"] == LABELS[0])]
    pairs = pairs.assign(method="comparative", label="quality", system_b="b", score=1.0)
    pairs["dialogue_b"] = "b" + pairs["dialogue"].str[1:]
    given = evidence(study, joined(rated, pairs), n02=minutes(3.0, costs.TOGETHER, method=costs.TOGETHER, n=24))
    found = cost(given)
    assert found["hours"] == pytest.approx(24 * 2 * 3 / 60)
    assert found["next"] == pytest.approx(10 * 2 * 2 * 3 / 60 * study.costs.hourly_rate)


def test_a_row_with_several_methods_costs_its_time_once_without_work_units(study):
    """Two annotators rate 36 dialogues by two methods, one duration of three minutes for both."""
    rated = annotations(seconds=180.0)
    frame = joined(rated, rated.assign(method="turn_likert")).assign(work_unit=pd.NA)
    rows = collect(costs.medians(costs.minutes(pd.DataFrame(), frame)))["median_minutes"].to_dict("records")
    rows = [row | {"statistic": "median_minutes"} for row in rows]
    rows.append(minutes(3.0, method=costs.TOGETHER)[0])
    assert cost(evidence(study, frame, n02=rows))["hours"] == pytest.approx(2 * 36 * 3 / 60)


def test_a_task_costs_its_own_time_and_a_model_none(study, tmp_path):
    """Three tasks of 1, 1 and 3 minutes, in a work unit each, one label each; the third is done for half of them."""
    tasks = ["t0", "t1", "t2"]
    label = "  {}: {{scale: [1, 5], method: dialogue_likert, task: {}}}\n"
    lines = "labels:\n" + "".join(label.format(*pair) for pair in zip(LABELS, tasks, strict=True))
    named = study_of(tmp_path, YAML.replace("label_set: abc_eval\n", lines))
    frame = annotations()
    frame = frame.assign(work_unit=frame["work_unit"] + frame["label"])
    frame = frame[(frame["label"] != LABELS[2]) | (frame["annotator"] == "A1")]
    model = frame.assign(annotator="gpt", annotator_kind="llm")
    rows = [minutes()[0], *(minutes(m, t)[1] for t, m in zip(tasks, (1.0, 1.0, 3.0), strict=True))]
    assert cost(evidence(named, joined(frame, model), n02=rows))["hours"] == pytest.approx(36 * (2 + 2 + 3) / 60)
    # without names of tasks, each work unit takes the mean of the tasks
    assert cost(evidence(study, joined(frame, model), n02=rows))["hours"] == pytest.approx(36 * 5 * (5 / 3) / 60)
    assert "hours" not in cost(evidence(study, conform(model, ANNOTATIONS), n02=rows))


def test_who_was_counted_closes_over_runs_and_steps(study):
    """Two people judge in two runs, one of them only in the second; a model judges, too; a pilot is no evaluation."""
    model = annotations(annotators=["gpt"], annotator_kind="llm")
    frame = joined(annotations(annotators=["A1"]), annotations(corpus="again"), model)
    whole = joined(frame, annotations(annotators=["P"], n=1, corpus="annotation_pilot_1"))
    found = replace(evidence(study, frame), enrolled=5, everything=whole)
    rows = {row.kind: row for row in stages(found)}
    assert list(rows) == ["everything", "enrolled", "answered", "models", "used"]
    assert (rows["answered"].people, rows["answered"].per_run) == (2, 3)
    assert (rows["answered"].dialogues, rows["answered"].judgements) == (72, 3 * 36 * 3)
    assert (rows["everything"].people, rows["everything"].dialogues) == (3, 75)
    assert (rows["models"].people, rows["used"].people, rows["used"].judgements) == (1, 2, 2 * 36 * 3)
    assert "| Answered | 2 (3) | 72 | 324 |" in findings.preface(found).counted
    unknown = findings.preface(evidence(study, annotations(known=False))).counted
    assert "| Answered | not identified | 36 | 216 |" in unknown


def test_steps_follow_from_the_results_the_gravest_first(study):
    many = annotations(annotators=EIGHT[:6])
    mine = many["annotator"] == "A" + (many["dialogue"].str[1:].astype(int) % 6).astype(str)
    model = many[many["annotator"] == "A0"].assign(annotator="gpt", annotator_kind="llm")
    often = who(3, *MUCH, chance=0.14)

    def kinds(frame=None, **rows):
        return [step.kind for step in steps(evidence(study, frame, **rows), most=9)]

    assert kinds(many, n03=RELIABLE_ALL, n07=DECIDED) == ["report"]
    unclear = {"n03": alphas((0.1, 0.6), (0.5, 0.8), (0.7, 0.9)), "n07": compared([UNDECIDED, UNDECIDED, DIFFER])}
    assert kinds(**unclear) == ["collect", "define", "overlap"]
    assert kinds(annotations(annotators=["A1"]), **unclear)[:3] == ["recruit", "twice", "collect"]
    assert kinds(n03=RELIABLE_ALL, n07=[*ranked(), *apart(3.0), *DECIDED]) == ["separate"]
    untimed = evidence(study, many.assign(seconds=None), n03=RELIABLE_ALL, n07=[*DECIDED, *often])
    assert [s.kind for s in steps(untimed)] == ["more", "time"]
    for frame in (many, conform(model, ANNOTATIONS)):
        (step,) = steps(evidence(study, frame))
        assert (step.kind, step.facts) == ("unknown", {"missing": ["comparisons of systems", "agreement"]})
    (step,) = steps(evidence(study, many[(many["label"] == LABELS[0]) | mine], n03=alphas((0.7, 0.9))))
    assert (step.kind, step.facts["n"], step.facts["all"]) == ("twice", len(LABELS) - 1, False)
    both = joined(annotations(annotators=["A1"]), apiece().assign(corpus="other"), annotations(corpus="third"))
    groups = steps(evidence(study, both))[0].facts["groups"]
    assert [(key[0], one.n) for key, one in groups] == [(PART["corpus"], 1), ("other", 3)]


def test_figures_of_the_answers_can_be_read(study):
    many = [row | {"label": x} for x in LABELS for row in compared([DIFFER, UNDECIDED, DIFFER])]
    rows = {"n07": [*SURE, *who(3, *MUCH), *many, *DETECTABLE], "n03": alphas(*[(0.1, 0.9)] * 3)}
    found = evidence(study, annotations(annotators=EIGHT), **rows)
    drawn = [answer.plot for answer in findings.answers(found) if answer.plot]
    assert {plot.name for plot in drawn} >= {"order", "labels", "judges", "sample", "cost"}
    assert unreadable(drawn) == {}
    one = analysis.sample(evidence(study, annotations(n=1), n07=TESTED))
    assert figures.cost(one).name == "cost"


def test_a_share_of_wins_has_ends_however_vague_it_is():
    one = {"estimate": 1.0, "rank": 2, "name": "a", "verdict": "may be best"}
    found = Ranked(**one, lead=0.4, lead_low=-2000.0, lead_high=2000.0)
    assert found.beaten == pytest.approx((1 / (1 + exp(-0.4)), 0.0, 1.0))


def test_every_answer_has_a_link_only_where_there_is_evidence(study):
    found = findings.answers(evidence(study, n07=SURE, n03=alphas((0.7, 0.9))))
    assert {a.key: a.notebook for a in found} == {
        "order": PERFORMANCE, "labels": AGREEMENT, "judges": "", "sample": PERFORMANCE, "cost": "", "next": "",
    }  # fmt: skip
    assert findings.answers(evidence(study, annotations().iloc[:0])) == []


@pytest.mark.parametrize("frame", [annotations(), annotations(seconds=None), annotations(annotators=["A1"])])
def test_an_answer_draws_on_no_notebook_that_does_not_say_so(tmp_path, frame):
    """Else the page would not say of an answer that a notebook of an earlier run is in it. Of others, there is none."""
    own = study_of(tmp_path, YAML + "quality_control: {payment: 0.99}\n")
    found = evidence(own, frame, n03=alphas((0.1, 0.2)), n07=[*SURE, *compared([UNDECIDED] * 3)])
    names, sample = found.names, analysis.sample(found)
    able = systems.detectable(found, sample, names)
    given = {"sample": (sample, names), "cost": (sample, able, names), "next": (names, able)}
    for key, used in findings.USED.items():
        few = replace(found, results={name: found.results[name] for name in used if name in found.results})
        assert getattr(findings, f"_{key}")(few, *given.get(key, (names,))).key == key
