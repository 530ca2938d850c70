"""What notebooks 00 and 02 show follows from the data."""

import textwrap

import numpy as np
import pandas as pd

from judgebook.display.names import DisplayNames, display_names
from judgebook.questions.collection import figures, findings, tables
from judgebook.questions.collection.question import Costs
from judgebook.study import params
from judgebook.study.labels import LABEL_SETS
from judgebook.study.results import collect

LABELS = {(label.method, label.id): label for label in LABEL_SETS["abc_eval"]}
METHODS = {"behavior": "Behaviour", "dialogue_likert": "Dialogue Likert"}
GROUPS = {"g": "Group G", "h": "Group H", "all": "All evaluators"}
NAMES = DisplayNames(LABELS, {"method": METHODS, "group": GROUPS, "system": {}})


def marks(n, known=True, kind="human", label="ignore"):
    return pd.DataFrame(
        {
            "annotator": [f"A{i % 3}" for i in range(n)],
            "annotator_known": known,
            "annotator_kind": kind,
            "corpus": "main",
            "group": "g",
            "method": "behavior",
            "label": label,
            "dialogue": [f"d{i % 2}" for i in range(n)],
            "dialogue_b": None,
            "system": "s",
            "system_b": None,
        }
    )


def counts(what="annotations", corpus="main", **n):
    rows = [(what, action, number) for action, number in n.items()] + [("dialogues", "read", 99)]
    return pd.DataFrame(rows, columns=["what", "action", "n"]).assign(corpus=corpus)


def text(views):
    return "\n".join(view.text for view in views)


def test_reading_is_reported_with_what_belongs_to_the_evaluation():
    def said(counted, rows):
        return text(findings.data_set(counted, rows, collect(), NAMES))

    reading = said(counts(read=1200, kept=1000, dropped=200, mended=3), marks(400))
    for fact in ("1,200", "1,000", "3 of those kept", "200 were dropped", "400 of them", "2 dialogues", "1 system"):
        assert fact in reading
    assert "3 people" in reading
    pairs = marks(400).assign(dialogue_b="e9", system_b="other")
    assert "3 dialogues of 2 systems" in said(counts(read=1200, kept=1000, dropped=200), pairs)
    whole = said(counts(read=4, kept=4), marks(4, known=False))
    assert "people whom the data do not identify (up to 2 per item)" in whole
    again = pd.concat([marks(400), marks(400).assign(corpus="other")])  # ids recur in another corpus
    assert "4 dialogues of" in said(counts(read=800, kept=800), again)
    apart = pd.concat([counts("turn annotations", read=3, kept=3), counts("dialogue annotations", read=3, kept=3)])
    assert "All 6 annotations were kept" in said(apart, marks(6))


def cost(minutes, **keys):
    keys = {"corpus": "main", "group": "g", "method": "behavior", "level": "dialogue", "tasks": "all"} | keys
    low, high = minutes - 1, minutes + 1
    yield keys | {"statistic": "unit_minutes", "estimate": minutes, "ci_low": low, "ci_high": high}
    yield keys | {"statistic": "estimated_cost", "estimate": 10 * minutes}


WORK = [
    {"statistic": "mean_count", "what": "median units an annotator", "estimate": 99.0, "group": "g", "n": 4},
    {"statistic": "busiest_share", "estimate": 0.25, "group": "g", "n": 4},
    {"statistic": "busiest_share", "estimate": 0.5, "group": "h", "n": 2},
]


def test_collection_is_reported_with_the_busiest_and_the_slowest():
    times = [*cost(25), *cost(4, group="h", method="dialogue_likert"), *cost(99, method="collection")]
    work = [{"corpus": "main", "method": "behavior"} | row for row in WORK]
    data = pd.concat([marks(5), marks(4, label="redundant"), marks(9, kind="llm", label="quality")])
    said = text(findings.collection(data, collect(work, [*times, *cost(2, tasks="final")]), NAMES, Costs()))
    for fact in (
        "**People made 9 annotations of 2 labels with 1 method.**",
        "0.10 to 0.62 USD per dialogue",  # 40 and 250 USD for 400 dialogues
        "No annotator did more than 50% of the work for a method and group (Behaviour, Group H; 2 annotators).",
    ):
        assert fact in said
    assert "do not identify annotators" in text(findings.collection(data, collect(), NAMES, Costs()))


def coverage(rows):
    names = ["group", "method", "label", "kind", "times", "estimate"]
    return [{"statistic": "coverage", "corpus": "main", **dict(zip(names, row, strict=True))} for row in rows]


MARKED = [("h", "ignore", "human", 1, 1.0), ("h", "ignore", "human", 2, 0.25), ("g", "ignore", "llm", 2, 1.0)]
MARKED += [("g", "redundant", "human", 2, 0.5)]
RATED = [("g", "dialogue_likert", label, "human", 2, 0.1) for label in ("quality", "relevant")]
COVERAGE = collect(coverage([(group, "behavior", *rest) for group, *rest in MARKED] + RATED))


def test_labels_that_do_not_differ_share_a_row_of_the_matrix():
    matrix = figures.coverage_matrix(COVERAGE.select("coverage", times=2), NAMES)
    assert list(matrix.index) == ["Redundant", "Ignore", "Dialogue Likert (2 labels)"]
    assert list(matrix.columns) == ["Group G", "Group H"]
    np.testing.assert_allclose(matrix.to_numpy(), [[50, np.nan], [100, 25], [10, np.nan]])
    assert figures.coverage_matrix(COVERAGE.select("coverage", times=1), NAMES).to_numpy().tolist() == [[100.0]]


def test_rows_are_named_by_what_differs():
    rows = pd.DataFrame({"corpus": "main", "method": ["dialogue_likert", "behavior"], "group": "g"})
    columns = ["method", "group", "corpus"]
    assert list(tables.row_titles(rows, NAMES, columns)) == ["Dialogue Likert", "Behaviour"]
    assert list(tables.row_titles(rows.iloc[:1], NAMES, columns)) == ["Dialogue Likert"]
    groups = rows.assign(method="behavior", group=["g", "h"])
    assert list(tables.row_titles(groups, NAMES, columns)) == ["Group G", "Group H"]
    both = pd.concat([rows, rows.assign(corpus="run_2")])
    assert list(tables.row_titles(both, NAMES, columns))[-1] == "Behaviour, Run 2"


def test_kinds_of_annotators_have_the_names_of_their_groups():
    data = pd.DataFrame({"annotator_kind": ["human", "llm", "llm"], "group": ["g", "h", "h"]})
    assert tables.kind_names(data, NAMES)["llm"] == "Group H"
    assert tables.kind_names(data, NAMES)["human"] == "People"
    mixed = data.assign(group="g")
    assert tables.kind_names(mixed, NAMES)["llm"] == "Language models"


def test_the_card_gives_median_and_range_of_alpha():
    size = {"statistic": "count", "corpus": "main", "method": "behavior", "what": "instances", "estimate": 9.0}
    keys = {"statistic": "alpha", "corpus": "main", "method": "behavior", "group": "g"}
    alphas = [keys | {"label": str(i), "estimate": value} for i, value in enumerate((0.1, 0.5, 0.3, np.nan))]
    assert tables.card(collect([size], alphas), NAMES).frame["Agreement"].tolist() == ["0.30 (0.10 to 0.50)"]


def test_costs_have_a_row_for_final_tasks():
    results = collect([*cost(30), *cost(20, tasks="final"), *cost(9, corpus="run2")])
    wide = tables.costs(results, NAMES, Costs()).frame
    assert wide["Tasks"].tolist() == ["all", "final", "all"]
    assert wide["Minutes"].tolist() == [30.0, 20.0, 9.0]
    assert wide["Estimated cost (USD)"].tolist() == [300.0, 200.0, 90.0]
    assert "Tasks" not in tables.costs(collect(cost(30)), NAMES, Costs()).frame
    assert tables.costs(collect(), NAMES, Costs()).frame.empty


def judged(*of):
    return pd.concat([marks(2, label=label).assign(method=method) for method, label in of])


class TestLabels:
    """What was asked, and which answers are good."""

    def rows(self, study, *of):
        annotations = judged(*of)
        table = tables.labels(annotations, study, display_names(study, annotations))
        return table, [dict(row) for _, row in table.frame.iterrows()]

    def test_published_definitions_and_one_row_where_methods_agree(self):
        study = params.load("demo")
        both = ("turn_likert", "quality"), ("dialogue_likert", "quality")
        _, rows = self.rows(study, ("behavior", "ignore"), *both, ("comparative", "quality"))
        assert [row["Label"] for row in rows] == ["Ignore", "Quality", "Quality"]
        assert rows[0]["Meaning"] == "The response ignores what the user just said."
        assert (rows[0]["Answers"], rows[0]["Good when"]) == ("yes or no", "low")
        assert (rows[1]["Answers"], rows[1]["Good when"]) == ("1 to 5", "high")
        assert rows[1]["Asked as"] == "Turn Likert and Dialogue Likert"
        assert (rows[2]["Answers"], rows[2]["Good when"]) == ("one of the two or neither", "chosen")

    def test_own_labels_say_what_the_yaml_says_and_no_more(self, tmp_path):
        text = """
        title: t
        method: dialogue_rating
        sources: [{adapter: table, file: a.csv, columns: {dialogue: d, system: s, annotator: who}}]
        labels:
          tone: {scale: [1, 3], level: ordinal, categories: [rude, plain, warm]}
          fit: {scale: [0, 1], direction: -1}
        elicitation: {definitions: {tone: How the reply sounds.}}
        """
        path = tmp_path / "own.yaml"
        path.write_text(textwrap.dedent(text))
        _, rows = self.rows(params.load(str(path)), ("dialogue_rating", "tone"), ("dialogue_rating", "fit"))
        assert [row["Answers"] for row in rows] == ["rude, plain or warm", "yes or no"]
        assert [row["Good when"] for row in rows] == ["not declared", "low"]
        assert rows[0]["Meaning"] == "How the reply sounds."
        assert pd.isna(rows[1]["Meaning"])
