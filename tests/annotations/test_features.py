"""Features: each is there in one hand-made study and absent, with its reason, in another."""

import pytest
from fixtures import abc_eval_project as abc_project
from fixtures import yaml_studies as studies

from judgebook.annotations.features import FEATURES
from judgebook.study.schema import DataError

PROJECT = "title: P\nlabel_set: abc_eval\nsources:\n  - {adapter: abc_eval, files: [data.json]}\n"
SCORED = """\
title: Scores
method: turn_rating
control_system: worst
sources:
  - adapter: table
    file: my.csv
    columns: {dialogue: d, system: s, system_text: r, reference: ref, annotator: who}
    constants: {turn: 0}
    judges: {gpt: llm}
    metrics: {bleu: bleu}
labels:
  good: {scale: [0, 1], direction: 1}
"""
SCORED_CSV = "d,s,r,ref,who,good,bleu\n1,worst,no,yes,w1,0,.5\n1,worst,no,yes,w2,0,.5\n"
SCORED_CSV += "1,worst,no,yes,gpt,0,.5\n2,best,yes,yes,gpt,1,\n"
BARE = """\
title: Bare
method: dialogue_rating
sources:
  - {adapter: table, file: my.csv, columns: {dialogue: d}, annotators: positions}
labels:
  good: {scale: [0, 1], direction: 1}
"""


@pytest.fixture(scope="module")
def features(tmp_path_factory):

    def of(yaml, **files):
        return studies.read(tmp_path_factory.mktemp("study"), yaml, **files).profile["features"]

    return {
        "project": of(PROJECT, data_json=abc_project.project()),
        "scored": of(SCORED, my_csv=SCORED_CSV),
        "bare": of(BARE, my_csv="d,good\n1,0\n2,1\n"),
    }


PRESENT = {
    "repeated": "project",
    "two_systems": "project",
    "techniques": "project",
    "groups": "project",
    "judges": "scored",
    "control_system": "scored",
    "known_annotators": "project",
    "preparation": "project",
    "votes": "project",
}


@pytest.mark.parametrize("name", PRESENT)
def test_a_feature_is_there_and_absent(features, name):
    assert set(features["bare"]) == set(FEATURES)
    assert features[PRESENT[name]][name] is None
    assert features["bare"][name].endswith(".")


def test_a_control_system_must_have_been_judged(tmp_path):
    yaml = SCORED.replace("control_system: worst", "control_system: random")
    with pytest.raises(DataError, match="control_system: expected a system of the data, found 'random'"):
        studies.read(tmp_path, yaml, my_csv=SCORED_CSV)


INTERACTED = """\
title: Chats
method: dialogue_rating
sources:
  - adapter: table
    file: my.csv
    layout: long
    columns: {dialogue: d, system: s, interactor: i, annotator: w, label: l, score: v}
labels:
  quality: {scale: [1, 5], direction: 1}
  good: {scale: [1, 5], direction: 1}
"""


def chats(n, outsiders=True):
    """`n` dialogues of two systems, rated by the one who talked and by an outsider."""
    lines = ["d,s,i,w,l,v"]
    for k in range(n):
        lines.append(f"d{k},s{k % 2},u{k % 3},u{k % 3},quality,{1 + k % 5}")
        lines.append(f"d{k},s{k % 2},u{k % 3},{'x' if outsiders else 'u'}{k % 3},good,{1 + k % 4}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("n", "outsiders", "reasons"),
    [
        (12, True, (None, None)),
        (8, True, ("Only 8 dialogues have the quality rated", "No two systems have 5 judged dialogues")),
        (12, False, ("Nobody but those who talked", None)),
    ],
)
def test_quality_can_be_predicted_and_systems_compared_from_enough_dialogues(tmp_path, n, outsiders, reasons):
    found = studies.read(tmp_path, INTERACTED, my_csv=chats(n, outsiders)).profile["features"]
    for name, reason in zip(("predictable_quality", "comparable_systems"), reasons, strict=True):
        assert (found[name] is None) if reason is None else found[name].startswith(reason)


def test_quality_control_and_metrics_want_a_label_that_says_which_way_is_better(tmp_path):
    yaml = studies.LONG.replace("labels:", "control_system: B\nlabels:").replace(
        "columns: {", "metrics: {m: m}\n    columns: {"
    )
    csv = studies.LONG_CSV.replace("rating\n", "rating,m\n", 1).replace("4\n", "4,1\n").replace("5\n", "5,1\n")
    csv = csv.replace("2\n", "2,0\n").replace("3\n", "3,0\n")
    without = studies.read(tmp_path, yaml, my_csv=csv).profile["features"]
    for name in ("control_system", "metrics"):
        assert without[name].startswith("No label says which way is better: write `direction: 1`")
    declared = yaml.replace("quality: {scale: [1, 5]}", "quality: {scale: [1, 5], direction: 1}")
    features = studies.read(tmp_path, declared, my_csv=csv).profile["features"]
    assert (features["control_system"], features["metrics"]) == (None, None)


OUTSIDE = """\
title: Two groups
method: dialogue_rating
importance: {quality_label: good, quality_group: students, group: IMPORTANCE}
groups: {students: {annotators: [s1, s2], parts: {first: [s1], second: [s2]}}, crowd: {annotators: [c1]}}
sources:
  - {adapter: table, file: my.csv, columns: {dialogue: d, system: s, annotator: who}}
labels:
  good: {scale: [0, 1], direction: 1}
  clear: {scale: [0, 1], direction: 1}
"""


@pytest.mark.parametrize(
    ("group", "raters", "crowd_from", "reason"),
    [
        ("crowd", ["s1"], 0, None),
        ("first", ["s1", "s2"], 0, None),
        ("crowd", ["s1"], 12, "crowd (`importance.group`) judged no dialogue with a rating of good by students."),
        ("crowd", ["s1"], 5, "Only 7 dialogues have a rating of good by students and judgements by somebody else"),
    ],
)
def test_an_external_target_needs_people_who_judged_the_same(tmp_path, group, raters, crowd_from, reason):
    rows = [f"d{i},x,{who},{i % 2},1" for i in range(12) for who in raters]
    rows += [f"d{i},x,c1,,{i % 2}" for i in range(crowd_from, crowd_from + 12)]
    rows += ["e1,x,s2,,1"] if "s2" not in raters else []
    csv = "\n".join(["d,s,who,good,clear", *rows]) + "\n"
    found = studies.read(tmp_path, OUTSIDE.replace("IMPORTANCE", group), my_csv=csv).profile["features"]
    said = found["predictable_quality"]
    assert said is None if reason is None else said.startswith(reason)


WEEKS = """\
title: Weeks
method: dialogue_rating
sources:
  - {adapter: table, file: my.csv, columns: {dialogue: d, annotator: w, PERIOD: p}}
over_time: {EVERY}
labels:
  good: {scale: [1, 5], direction: 1}
"""


@pytest.mark.parametrize(
    ("column", "every", "names", "reason"),
    [
        ("period", "", ["W1", "W2", "W3"], None),
        ("period", "", ["W1", "W2", "W2"], "Judgements are from 2 periods: 3 are needed."),
        ("period", "", ["May", "June", "July"], "The order of periods such as 'July' and 'June' is not clear"),
        ("completed_at", "every: week", ["2026-01-05", "2026-01-12", "2026-01-19"], None),
        ("completed_at", "", ["2026-01-05", "2026-01-12", "2026-01-19"], "No file says in which week"),
    ],
)
def test_what_changed_over_time_needs_three_periods_in_order(tmp_path, column, every, names, reason):
    csv = "d,w,p,good\n" + "".join(f"{i},w1,{name},3\n" for i, name in enumerate(names))
    yaml = WEEKS.replace("PERIOD", column).replace("EVERY", every)
    found = studies.read(tmp_path, yaml, my_csv=csv).profile["features"]["periods"]
    assert (found is None) if reason is None else found.startswith(reason)
