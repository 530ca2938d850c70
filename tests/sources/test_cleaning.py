"""What a YAML says so that nobody edits a file: rows left out by conditions, repeats, spellings, numbers in words."""

import pytest
from fixtures import yaml_studies as studies

from judgebook.study.params import ParamsError
from judgebook.study.schema import DataError

PAIRS = """\
title: Pairs
method: comparative
sources:
  - adapter: table
    file: my.csv
    columns: {context: prompt, system: model_a, system_b: model_b, annotator: who}
    identify: {dialogue: [prompt, model_a], dialogue_b: [prompt, model_b]}
    values: {a: 1, b: -1}
labels:
  winner: {scale: [-1, 1]}
"""
PAIRS_CSV = "prompt,model_a,model_b,who,winner\np1,x,y,w1,a\np1,y,y,w1,b\np2,x,x,w2,a\np2,x,y,w2,b\n"
TIMED = """\
title: Timed
sources:
  - adapter: table
    file: my.csv
    columns: {dialogue: d, system: bot, annotator: who}
labels:
  good: {scale: [1, 5], integer: false}
"""
TIMED_CSV = """\
d,bot,who,start,end,limit,note,good
1,A,w1,2026-01-02 10:00:00,2026-01-02 10:01:00,60,,1
2,A,w1,2026-01-02 10:00:00,2026-01-02 09:59:00,60,test run,2
3,B,w1,2026-01-02 10:00:00,2026-01-02 10:09:00,61,a test,3
4,B,w1,2026-01-02 10:00:00,2026-01-02 10:09:00,"61,5",x,4
"""


def counts(built, action="dropped"):
    frame = built.frames["counts"]
    of_action = frame[(frame["action"] == action) & (frame["what"] == "annotations")]
    return of_action.groupby("reason")["n"].sum().to_dict()


def balanced(built):
    """Whether what was read is what was kept and what was dropped."""
    n = built.frames["counts"].query("what == 'annotations'").groupby("action")["n"].sum()
    return n["read"] == n["kept"] + n.get("dropped", 0) and n["kept"] == len(built.frames["annotations"])


def more(yaml, line, before="labels:"):
    return yaml.replace(before, f"    {line}\n{before}", 1)


def test_self_comparisons_are_refused_with_the_line_that_leaves_them_out(tmp_path):
    with pytest.raises(DataError) as caught:
        studies.read(tmp_path, PAIRS, my_csv=PAIRS_CSV)
    assert len(caught.value.problems) == 2
    assert 'drop: {dialogue: "= dialogue_b"}' in str(caught.value)
    for line in ('drop: {dialogue: "= dialogue_b"}', 'drop: {model_a: "= model_b"}'):
        built = studies.read(tmp_path, more(PAIRS, line), my_csv=PAIRS_CSV)
        assert built.frames["annotations"]["score"].tolist() == [1, -1]
        assert sum(counts(built).values()) == 2
        assert balanced(built)


@pytest.mark.parametrize(
    ("rule", "left"),
    [
        ('drop: {limit: "> 60"}', [1, 2]),
        ('drop: {limit: ">= 61.5"}', [1, 2, 3]),
        ('drop: {limit: "!= 60"}', [1, 2]),
        ('drop: {end: "< start"}', [1, 3, 4]),
        ("drop: {note: is empty}", [2, 3, 4]),
        ("drop: {note: matches ^test}", [1, 3, 4]),
        ('drop: {note: [is empty, x], limit: "= 61"}', [2]),
        ('keep: {note: "matches test", bot: A}', [2]),
        ('drop: {limit: "> d"}', None),
        ('keep: {limit: ">= d"}', [1, 2, 3, 4]),
    ],
)
def test_conditions(rule, left, tmp_path):
    yaml = more(TIMED, rule)
    if left is None:
        with pytest.raises(DataError, match="rows left by `keep` and `drop`"):
            studies.read(tmp_path, yaml, my_csv=TIMED_CSV)
        return
    built = studies.read(tmp_path, yaml, my_csv=TIMED_CSV)
    assert built.frames["annotations"]["score"].tolist() == left
    assert balanced(built)


def test_conditions_of_records_lead_to_values_by_paths(tmp_path):
    yaml = """\
title: T
sources:
  - adapter: records
    file: my.json
    scores: "score.{label}"
    columns: {dialogue: id, annotator: who}
    drop: {meta.seconds: "< meta.least"}
labels: {good: {scale: [1, 5]}}
"""
    rows = [{"id": i, "who": "w", "score": {"good": i}, "meta": {"seconds": 9 + i, "least": 11}} for i in (1, 2, 3)]
    assert studies.read(tmp_path, yaml, my_json=rows).frames["annotations"]["score"].tolist() == [2, 3]


def test_a_condition_names_columns_that_are_there(tmp_path):
    with pytest.raises(DataError, match=r"modelb.*did you mean 'model_b'"):
        studies.read(tmp_path, more(PAIRS, 'drop: {model_a: "= modelb"}'), my_csv=PAIRS_CSV)
    with pytest.raises(ParamsError, match="expected a regular expression"):
        studies.read(tmp_path, more(TIMED, 'drop: {note: "matches ("}'), my_csv=TIMED_CSV)


REPEATED = """\
title: Repeats
sources:
  - adapter: records
    file: my.csv
    scores: "{label}"
    columns: {dialogue: d, system: bot, annotator: who, completed_at: at, system_text: said}
labels:
  good: {scale: [1, 5]}
"""
REPEATED_CSV = """\
d,bot,who,at,said,good
1,A,w1,2026-01-02 10:00:00,hello,1
1,A,w2,2026-01-02 10:00:00,hello,5
1,A,w1,2026-01-02 09:00:00,hello,4
2,A,w1,2026-01-02 11:00:00,bye,3
"""


def test_repeats_are_refused_with_what_to_write(tmp_path):
    with pytest.raises(DataError) as caught:
        studies.read(tmp_path, REPEATED, my_csv=REPEATED_CSV)
    (problem,) = caught.value.problems
    assert (problem.where, problem.found) == ("row 4, good", "a repeat of row 2, with another score")
    assert "`repeats: last`" in problem.hint


@pytest.mark.parametrize(
    ("how", "csv", "scores", "reason"),
    [
        ("first", REPEATED_CSV, [5, 4, 3], "judged again: the first judgement counts, by the time of completion"),
        ("last", REPEATED_CSV, [1, 5, 3], "judged again: the last judgement counts, by the time of completion"),
        (
            "last",
            REPEATED_CSV.replace("2026-01-02 09:00:00", ""),
            [5, 4, 3],
            "judged again: the last judgement counts, by their place in the file",
        ),
        ("mean", REPEATED_CSV, [2.5, 5, 3], "judged again: the mean counts"),
    ],
)
def test_of_repeats_one_counts(how, csv, scores, reason, tmp_path):
    yaml = more(REPEATED, f"repeats: {how}")
    yaml = yaml.replace("[1, 5]", "[1, 5], integer: false") if how == "mean" else yaml
    built = studies.read(tmp_path, yaml, my_csv=csv)
    assert built.frames["annotations"]["score"].tolist() == scores
    assert counts(built) == {reason: 1}
    assert balanced(built)


def test_repeats_are_told_apart_as_occasions(tmp_path):
    built = studies.read(tmp_path, more(REPEATED, "repeats: number"), my_csv=REPEATED_CSV)
    marks = built.frames["annotations"]
    assert marks[["corpus", "score"]].values.tolist() == [["occasion_2", 1], ["main", 5], ["main", 4], ["main", 3]]
    assert counts(built, "mended") == {"judged again: numbered by the time of completion": 1}
    dialogues = built.frames["dialogues"]
    assert dialogues.loc[dialogues["corpus"] == "occasion_2", "system_text"].tolist() == ["hello"]
    assert balanced(built)


def test_answers_in_words_have_no_mean(tmp_path):
    yaml = more(REPEATED, "repeats: mean").replace("scale: [1, 5]", 'categories: ["1", "3", "4", "5"]')
    with pytest.raises(DataError, match=r"expected a number with a mean, found an answer in words"):
        studies.read(tmp_path, yaml, my_csv=REPEATED_CSV)


def test_a_vote_from_the_other_side_may_be_a_changed_vote(tmp_path):
    csv = "prompt,model_a,model_b,who,winner\np1,x,y,w1,a\np1,y,x,w1,a\np1,x,y,w2,a\np1,y,x,w2,b\n"
    with pytest.raises(DataError, match="the opposite of the same comparison"):
        studies.read(tmp_path, PAIRS, my_csv=csv)
    built = studies.read(tmp_path, more(PAIRS, "repeats: last"), my_csv=csv)
    assert built.frames["annotations"]["score"].tolist() == [-1, 1]
    assert balanced(built)


def test_composites_of_repeated_items(tmp_path):
    yaml = """\
title: T
sources:
  - adapter: table
    file: my.csv
    layout: long
    columns: {dialogue: d, system: bot, annotator: who, label: item, score: answer}
    composites: {trust: {mean: [a, b], scale: [1, 5]}}
labels:
  trust: {scale: [1, 5], integer: false}
"""
    csv = "d,bot,who,item,answer\n1,A,w,a,1\n1,A,w,b,2\n1,A,w,a,5\n1,A,w,b,4\n"
    for how, scores in (("first", [1.5]), ("last", [4.5]), ("mean", [3]), ("number", [1.5, 4.5])):
        built = studies.read(tmp_path, more(yaml, f"repeats: {how}"), my_csv=csv)
        assert built.frames["annotations"]["score"].tolist() == scores, how


def test_labelled_scores_and_decimal_commas_are_numbers(tmp_path):
    csv = 'd,bot,who,good\n1,A,w,1 - not at all\n2,A,w,"2,5"\n3,A,w,5 (sehr gut)\n4,A,w,1- Marginal\n5,A,w,4\n'
    for adapter in ("adapter: table", 'adapter: records\n    scores: "{label}"'):
        built = studies.read(tmp_path, TIMED.replace("adapter: table", adapter), my_csv=csv)
        assert built.frames["annotations"]["score"].tolist() == [1, 2.5, 5, 1, 4]
        assert counts(built, "mended") == {"the number taken from a score with words or a decimal comma": 4}
