"""What notebooks 00 and 02 say follows from the data."""

import numpy as np
import pandas as pd

from helpers.labels import LABEL_SETS
from helpers.look import Look
from helpers.views import collection_report as report

LABELS = {(label.method, label.id): label for label in LABEL_SETS["abc_eval"]}
METHODS = {"behavior": "Behaviour", "dialogue_likert": "Dialogue Likert"}
LOOK = Look(LABELS, {"method": METHODS, "group": {"g": "Group G", "h": "Group H"}, "system": {}})


def marks(n, known=True, kind="human", label="ignore"):
    return pd.DataFrame(
        {
            "annotator": [f"A{i % 3}" for i in range(n)],
            "annotator_known": known,
            "annotator_kind": kind,
            "method": "behavior",
            "label": label,
            "dialogue": [f"d{i % 2}" for i in range(n)],
            "dialogue_b": None,
            "system": "s",
            "system_b": None,
        }
    )


def counts(**n):
    rows = [("annotations", action, number) for action, number in n.items()] + [("dialogues", "read", 99)]
    return pd.DataFrame(rows, columns=["what", "action", "n"])


def test_reading_is_told_with_what_belongs_to_the_evaluation():
    text = report.of_reading(counts(read=1200, kept=1000, dropped=200, mended=3), marks(400))
    assert "Of 1,200 annotations read, 1,000 were kept (3 of them mended) and 200 dropped." in text
    assert "Of these, 400 belong to the evaluation itself: 2 dialogues of 1 system, judged by 3 people;" in text
    assert "pilots and gold units" in text
    pairs = marks(400).assign(dialogue_b="e9", system_b="other")
    assert ": 3 dialogues of 2 systems, judged" in report.of_reading(counts(read=1200, kept=1000, dropped=200), pairs)
    whole = report.of_reading(counts(read=4, kept=4), marks(4, known=False))
    assert "4 were kept and 0 dropped. All belong" in whole
    assert "people whose identity is not in the data." in whole
    assert "pilots" not in whole
    apart = counts(read=3, kept=3).replace({"what": {"annotations": "turn annotations"}})
    apart = pd.concat([apart, apart.replace({"what": {"turn annotations": "dialogue annotations"}})])
    assert "Of 6 annotations read, 6 were kept and 0 dropped. All belong" in report.of_reading(apart, marks(6))


def test_collection_is_told_with_the_busiest_and_the_slowest():
    workload = pd.DataFrame(
        {
            "statistic": ["mean_count", "busiest_share", "busiest_share"],
            "estimate": [99.0, 0.25, 0.5],
            "group": ["g", "g", "h"],
            "method": "behavior",
            "n": [4, 4, 1],
        }
    )
    cost = pd.DataFrame(
        {
            "statistic": "unit_minutes",
            "condition": ["tasks=all", "tasks=all", "tasks=all", "tasks=final"],
            "group": ["g", "h", "g", "g"],
            "method": ["behavior", "dialogue_likert", "collection", "behavior"],
            "level": "dialogue",
            "estimate": [25.0, 2.5, 99.0, 1.0],
            "ci_low": [24.0, 2.0, 98.0, 0.5],
            "ci_high": [26.0, 3.0, 100.0, 1.5],
        }
    )
    data = pd.concat([marks(5), marks(4, label="redundant"), marks(9, kind="llm", label="quality")])
    text = report.of_collection(data, workload, cost, LOOK)
    assert "People made 9 annotations of 2 labels in 1 method." in text
    assert "did 50 % of its work (Behaviour (Group H), 1 annotator)." in text
    assert "slowest method, Behaviour (Group G), takes 25.0 [24.0, 26.0] minutes a dialogue;" in text
    assert "quickest, Dialogue Likert (Group H), 2.5 [2.0, 3.0] minutes a dialogue." in text
    bare = report.of_collection(data, pd.DataFrame(), pd.DataFrame(), LOOK)
    assert bare == "People made 9 annotations of 2 labels in 1 method."
    one = report.of_collection(data, pd.DataFrame(), cost.iloc[1:2], LOOK)
    assert one.endswith("Dialogue Likert (Group H) takes 2.5 [2.0, 3.0] minutes a dialogue.")


def coverage(rows):
    frame = pd.DataFrame(rows, columns=["group", "method", "label", "kind", "times", "estimate"])
    return frame.assign(condition="kind=" + frame["kind"] + ";times=" + frame["times"].astype(str))


COVERAGE = coverage(
    [
        ("h", "behavior", "ignore", "human", 1, 1.0),
        ("h", "behavior", "ignore", "human", 2, 0.25),
        ("g", "behavior", "ignore", "llm", 2, 1.0),
        ("g", "behavior", "redundant", "human", 2, 0.5),
        ("g", "dialogue_likert", "quality", "human", 2, 0.1),
        ("g", "dialogue_likert", "relevant", "human", 2, 0.1),
    ]
)


def test_coverage_is_told_for_people_by_the_best_group():
    text = report.of_coverage(COVERAGE, LOOK)
    assert text == "Judged at least twice, by the group that did so most: Behaviour 50 % and Dialogue Likert 10 %."


def test_labels_that_do_not_differ_share_a_row_of_the_matrix():
    matrix = report.coverage_matrix(COVERAGE, LOOK, 2)
    assert list(matrix.index) == ["Redundant", "Ignore", "Dialogue Likert (2 labels)"]
    assert list(matrix.columns) == ["Group G", "Group H"]
    np.testing.assert_allclose(matrix.to_numpy(), [[50, np.nan], [100, 25], [10, np.nan]])
    assert report.coverage_matrix(COVERAGE, LOOK, 1).to_numpy().tolist() == [[100.0]]


def test_panels_are_told_apart_by_what_differs():
    shares = pd.DataFrame(
        {
            "corpus": "main",
            "method": ["dialogue_likert", "behavior"],
            "label": ["quality", "ignore"],
            "condition": ["kind=human;score=1", "kind=human;score=0"],
            "estimate": [0.5, 1.0],
        }
    )
    out, titles = report.panels(shares, LOOK)
    assert titles == {"Behaviour": "Behaviour", "Dialogue Likert": "Dialogue Likert"}
    assert list(out["score"]) == ["0", "1"]
    two = shares.assign(method="behavior", condition=["kind=llm;score=1", "kind=human;score=0"])
    assert set(report.panels(two, LOOK)[1]) == {"People", "Language model"}
    both = pd.concat([shares, shares.assign(corpus="run2")])
    assert set(report.panels(both, LOOK)[1]) == {
        "Behaviour, main",
        "Behaviour, run2",
        "Dialogue Likert, main",
        "Dialogue Likert, run2",
    }


def test_the_range_of_alpha_is_told_by_corpus_and_method():
    alphas = pd.DataFrame({"corpus": "main", "method": ["behavior"] * 4, "estimate": [0.1, 0.5, 0.3, np.nan]})
    assert report.spread_of_alpha(alphas).to_dict() == {("main", "behavior"): "0.30 (0.10 to 0.50)"}


def test_costs_stand_side_by_side_with_final_tasks_on_rows_of_their_own():
    keys = {"corpus": "main", "group": "g", "method": "behavior"}
    cost = pd.DataFrame(
        [
            keys | {"statistic": "unit_minutes", "condition": "tasks=all", "estimate": 30.0},
            keys | {"statistic": "throughput", "condition": "tasks=all", "estimate": 2.0},
            keys | {"statistic": "unit_minutes", "condition": "tasks=final", "estimate": 20.0},
            keys | {"corpus": "run2", "statistic": "unit_minutes", "condition": "tasks=all", "estimate": 9.0},
        ]
    )
    assert report.whole(cost)["estimate"].tolist() == [30.0, 9.0]
    assert report.whole(cost, "main")["estimate"].tolist() == [30.0]
    wide = report.side_by_side(cost, "USD")
    assert wide["Tasks"].tolist() == ["all", "final", "all"]
    assert wide["Minutes"].tolist() == [30.0, 20.0, 9.0]
    assert wide["Units an hour"].tolist()[0] == 2.0
    assert wide["Own cost (USD)"].isna().all()
    assert "Tasks" not in report.side_by_side(cost[cost["condition"] == "tasks=all"], "USD")


def test_models_in_a_group_with_people_have_a_row_of_their_own():
    row = {"corpus": "main", "group": "all", "method": "behavior", "statistic": "count"}
    counts = pd.DataFrame([{**row, "condition": f"kind={kind};what={what}", "estimate": n}
                           for kind, what, n in (("human", "labels", 2.0), ("human", "items", 9.0),
                                                 ("llm", "labels", 2.0), ("llm", "items", 8.0))])  # fmt: skip
    table = report.judged(counts, ["labels", "items"])
    assert table[["Judged by", "Labels", "Items"]].to_numpy().tolist() == [
        ["People", 2.0, 9.0],
        ["Language model", 2.0, 8.0],
    ]
    people = report.judged(counts.iloc[:2], ["labels", "items"])
    assert list(people) == ["corpus", "group", "method", "Labels", "Items"]
