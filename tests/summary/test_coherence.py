"""One fit, one criterion: every number of the first page's answers on order, judges and sample follows from the stored
fit, no pair is decided in one answer and open in another, and an interval contains the value that it stands beside."""

import itertools
import json
import re

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT

from judgebook.pipeline.audit.writing import answered
from judgebook.questions.performance import leading
from judgebook.questions.performance.leading import DIFFER, FEW
from judgebook.study.results import where
from judgebook.summary import analysis, findings
from judgebook.summary.analysis import steps
from judgebook.summary.evidence import PERFORMANCE
from judgebook.summary.pairs import comparisons

SECONDS = 60
RATINGS = """\
title: Ratings
method: dialogue_rating
sources:
  - {adapter: table, file: judged.csv, layout: wide, scores: "{label}",
     columns: {system: model, annotator: rater, context: prompt}, identify: {dialogue: [prompt, model]}}
labels:
  helpful: {scale: [1, 5], direction: 1}
  fluent: {scale: [1, 5], direction: 1}
"""
VOTES = """\
title: Votes
method: pairwise_dialogue
sources:
  - {adapter: table, file: judged.csv, layout: long,
     columns: {annotator: annotator, context: context, system: system, system_b: system_b, score: score},
     identify: {dialogue: [context, system], dialogue_b: [context, system_b]}, constants: {label: better}}
labels:
  better: {scale: [-1, 1], direction: 1}
"""
#: systems of the embedded study of votes
SOME = 7
_NUMBER = r"[−-]?\d[\d,]*(?:\.\d+)?"
_INTERVAL = re.compile(rf"({_NUMBER})%? \[({_NUMBER})%?, ({_NUMBER})%?\]")


def ratings():
    return RATINGS, pd.read_csv(ROOT / "examples" / "ratings.csv")


def one_label():
    return RATINGS.replace("  fluent: {scale: [1, 5], direction: 1}\n", ""), ratings()[1].drop(columns="fluent")


def errors():
    """Less is better."""
    return RATINGS.replace("direction: 1", "direction: -1"), ratings()[1]


def votes():
    """Those of the crowd on the systems with most of them."""
    every = pd.read_csv(ROOT / "data" / "embedded" / "llmfao" / "annotations.csv.gz", low_memory=False)
    crowd = every[every["group"] == "crowd"]
    most = pd.concat([crowd["system"], crowd["system_b"]]).value_counts().index[:SOME]
    both = crowd[crowd["system"].isin(most) & crowd["system_b"].isin(most)]
    return VOTES, both[["annotator", "context", "system", "system_b", "score"]]


@pytest.fixture(scope="module", params=[ratings, one_label, errors, votes], ids=lambda one: one.__name__)
def found(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("coherent")
    text, frame = request.param()
    (folder / "study.yaml").write_text(text, encoding="utf-8")
    frame.to_csv(folder / "judged.csv", index=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMPENDIUM_OUT", str(folder / "out"))
        values = ["bootstrap.n_resamples=100"]
        return answered(folder / "study.yaml", values, lambda _: None, [PERFORMANCE], lambda _: None)[0]


@pytest.fixture(scope="module")
def said(found):
    """Key -> facts as data, and the text."""
    return {
        answer.key: (json.loads(answer.facts.model_dump_json()), answer.text)
        for answer in findings.answers(found)
        if answer.key in ("order", "judges", "sample")
    }


@pytest.fixture(scope="module")
def fit(found, said):
    """Stored levels and differences of the fit that orders the systems, turned so that more is better: (levels,
    differences by ordered pair)."""
    stored, single = found.results[PERFORMANCE], bool(said["order"][0]["label"])
    level = pd.concat([stored[s] for s in (("level", "strength") if single else ("overall_level",))])
    label = found.study.label_list()[0]
    sign = label.direction if single else 1
    pairs = {}
    for row in stored["contrast" if single else "overall_contrast"].itertuples():
        estimate, low, high = sign * row.estimate, *sorted((sign * row.ci_low, sign * row.ci_high))
        pairs[row.system, row.system_b] = (estimate, low, high)
        pairs[row.system_b, row.system] = (-estimate, -high, -low)
    return sign * level.set_index("system")["estimate"], pairs


def test_the_order_is_that_of_the_levels_and_ranks_count_decided_pairs(said, fit):
    (facts, _), (level, pairs) = said["order"], fit
    systems = [one["name"] for one in facts["systems"]]
    assert systems == list(level.sort_values(ascending=False).index)
    beats = {pair for pair, (_, low, _) in pairs.items() if low > 0}
    for place, one in enumerate(facts["systems"], start=1):
        better, worse = (sum(pair[i] == one["name"] for pair in beats) for i in (1, 0))
        assert (one["rank"], one["rank_low"], one["rank_high"]) == (place, 1 + better, len(systems) - worse)
        assert one["lead"] == pytest.approx(level[systems[0]] - level[one["name"]])
    first, rest = systems[0], systems[1:]
    assert facts["wins"] == sum((first, s) in beats for s in rest)
    assert facts["rivals"] == [s for s in rest if not any((other, s) in beats for other in systems)]
    assert (facts["n_rivals"], facts["n"], facts["n_others"]) == (len(facts["rivals"]), len(systems), len(rest))
    tiers, left = [], list(systems)
    while left:
        tiers.append([s for s in left if (left[0], s) not in beats])
        left = [s for s in left if s not in tiers[-1]]
    assert facts["tiers"] == tiers


def test_the_lead_has_the_interval_of_its_pair(found, said, fit):
    """Of votes the lead is on the scale of strengths, and differences are shown as shares: both exclude 0, or none."""
    facts, pairs = said["order"][0], fit[1]
    for one in facts["systems"][1:]:
        estimate, low, high = pairs[facts["name"], one["name"]]
        assert (one["lead_low"] > 0) == (low > 0) == (one["verdict"] == leading.WORSE)
        if one["unit"] != "strength":
            assert (one["lead"], one["lead_low"], one["lead_high"]) == pytest.approx((estimate, low, high))
        else:
            won = 1 / (1 + np.exp(-one["lead"]))
            assert f"{won:.0%}" in said["order"][1] or one is not facts["systems"][1]


def test_chances_of_being_best_are_those_stored_and_sum_to_one(found, said):
    facts = said["order"][0]
    name = "best_chance" if facts["label"] else "overall_best_chance"
    stored = found.results[PERFORMANCE][name].set_index("system")["estimate"]
    assert {one["name"]: one["p_best"] for one in facts["systems"]} == pytest.approx(stored.to_dict())
    assert stored.sum() == pytest.approx(1)
    assert (facts["top"]["p_best"] > 0.95) >= (facts["n_rivals"] == 0)


def test_a_pair_is_decided_everywhere_or_nowhere(found, said, fit):
    """In the sample, the pair finder, the order, and what is to be done next."""
    facts, rows = said["sample"][0], found.tests
    decided = rows[(rows["ci_low"] > 0) | (rows["ci_high"] < 0)]
    assert (facts["n"], facts["n_differ"], facts["n_alike"]) == (len(rows), len(decided), 0)
    assert facts["open"] == facts["n"] - facts["n_decided"] == len(rows) - len(decided)
    finder = pd.concat([one.rows for one in comparisons(found)])
    assert len(finder) == facts["n"]
    keys = ["label", "system", "system_b"]
    told = finder[finder["verdict"] == DIFFER]
    assert {*told[keys].itertuples(index=False)} == {*decided[keys].itertuples(index=False)}
    assert (finder["verdict"] == FEW).sum() == facts["untested"] == 0
    order, (_, pairs) = said["order"][0], fit
    first, second = (one["name"] for one in order["systems"][:2])
    apart = pairs[first, second][1] > 0
    assert any(step.kind == "separate" for step in steps(found, most=9)) != apart
    single = "" if order["label"] else "overall_"
    (times,) = found.results[PERFORMANCE][f"{single}data_to_separate"]["estimate"]
    assert (times == 1) == apart
    if order["label"]:
        assert order["wins"] == sum(first in pair for pair in decided[keys[1:]].itertuples(index=False))


def test_what_rests_on_the_model_and_what_could_be_found_follow_from_the_stored_rows(found, said):
    facts, stored = said["sample"][0], found.results[PERFORMANCE]
    keys = ["label", "system", "system_b"]
    plain = stored["plain_contrast"].set_index(keys)["p_value"]
    decided = found.tests[analysis.decided(found.tests)].set_index(keys).index
    assert facts["by_model"] == int((plain.loc[decided] > 0.05).sum())
    times = 100 if facts["detectable"]["scale"] == "percentage points" else 1
    assert facts["detectable"]["difference"] == pytest.approx(times * stored["difference_found"]["estimate"].median())


def test_who_judged_is_answered_by_the_shares_of_the_fit(found, said):
    facts, stored = said["judges"][0], found.results[PERFORMANCE]
    shares = stored["component_share"].dropna(subset="estimate")
    for part, name in (("annotator", "strictness"), ("taste", "preference")):
        rows = where(shares, part=part)["estimate"]
        assert (facts[name] is None) == rows.empty
        if len(rows):
            assert facts[name]["median"] == pytest.approx(rows.median())
    assert shares.groupby("label")["estimate"].sum().le(1 + 1e-9).all()
    for part, name in (("annotators", "chance"), ("study", "chance_study")):
        assert facts[name] == pytest.approx(where(stored["order_reversal"], part=part)["estimate"].median())
    assert facts["chance"] <= facts["chance_study"] <= 0.5


def nested(data):
    yield data
    for value in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        yield from nested(value)


def test_intervals_contain_the_values_they_stand_beside(said):
    ends = (("estimate", "ci_low", "ci_high"), ("lead", "lead_low", "lead_high"), ("rank", "rank_low", "rank_high"))
    for facts, text in said.values():
        for one, (value, low, high) in itertools.product(nested(facts), ends):
            if isinstance(one, dict) and one.get(low) is not None:
                assert one[low] <= one[value] <= one[high], one
        printed = [[float(x.replace("−", "-").replace(",", "")) for x in match] for match in _INTERVAL.findall(text)]
        assert all(low <= value <= high for value, low, high in printed), text
    assert _INTERVAL.search(said["order"][1].partition("\n\n")[0])
