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
    said = text(findings.data_set(counts(read=1200, kept=1000, dropped=200, mended=3), marks(400), collect(), NAMES))
    for fact in ("1,200", "1,000", "3 of those kept", "200 were dropped", "400 of them", "2 dialogues", "1 system"):
        assert fact in said
    assert "3 people" in said
    assert "pilots and gold units" in said
    pairs = marks(400).assign(dialogue_b="e9", system_b="other")
    said = text(findings.data_set(counts(read=1200, kept=1000, dropped=200), pairs, collect(), NAMES))
    assert "3 dialogues of 2 systems" in said
    whole = text(findings.data_set(counts(read=4, kept=4), marks(4, known=False), collect(), NAMES))
    assert "All 4 annotations" in whole
    assert "people whom the data do not identify (up to 2 per item)" in whole
    assert "pilots" not in whole
    both = pd.concat([marks(4), marks(4, kind="llm")])
    assert "3 people and by language models." in text(findings.data_set(counts(read=8, kept=8), both, collect(), NAMES))
    extra = counts(read=9, kept=9, corpus="extra_techniques")
    again = pd.concat([marks(400), marks(400).assign(corpus="other")])  # ids recur in another corpus
    n = marks(400)["dialogue"].nunique()
    assert f"{2 * n:,} dialogues of" in text(findings.data_set(counts(read=800, kept=800), again, collect(), NAMES))
    assert "notebooks of their own" in text(findings.data_set(extra, marks(4), collect(), NAMES))
    apart = pd.concat([counts("turn annotations", read=3, kept=3), counts("dialogue annotations", read=3, kept=3)])
    assert "All 6 annotations were kept" in text(findings.data_set(apart, marks(6), collect(), NAMES))


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
    results = collect(work, [*times, *cost(2, tasks="final")])
    data = pd.concat([marks(5), marks(4, label="redundant"), marks(9, kind="llm", label="quality")])
    said = text(findings.collection(data, results, NAMES, Costs()))
    for fact in (
        "**People made 9 annotations of 2 labels with 1 method.**",
        "0.10 to 0.62 USD per dialogue",  # 40 and 250 USD for 400 dialogues
        "depending on the method and evaluator group",
        "25.0 [24.0, 26.0] minutes per dialogue (Behaviour, Group G)",
        "4.0 [3.0, 5.0] minutes per dialogue (Dialogue Likert, Group H)",
        "No annotator did more than 50% of the work for a method and group (Behaviour, Group H; 2 annotators).",
    ):
        assert fact in said
    bare = text(findings.collection(data, collect(), NAMES, Costs()))
    assert "USD" not in bare
    assert "do not identify annotators" in bare
    one = text(findings.collection(data, collect(cost(4)), NAMES, Costs()))
    assert "4.0 [3.0, 5.0] minutes per dialogue (Behaviour)" in one


def test_runs_of_one_method_are_named_by_their_corpus():
    results = collect([*cost(4, corpus="free_run1"), *cost(6, corpus="free_run2")])
    said = text(findings.collection(marks(4), results, NAMES, Costs()))
    assert "Median times: 4.0 [3.0, 5.0] minutes per dialogue (Behaviour, Free run 1); 6.0 [" in said
    assert "minutes per dialogue (Behaviour, Free run 2)." in said
    assert "Slowest" not in said


def test_the_slowest_and_the_fastest_of_many_times_are_named():
    groups = [("g", "behavior", 25), ("h", "behavior", 9), ("g", "dialogue_likert", 5), ("h", "dialogue_likert", 4)]
    times = [row for g, m, n in groups for row in cost(n, group=g, method=m)]
    said = text(findings.collection(marks(4), collect(times), NAMES, Costs()))
    assert "Slowest: 25.0 [24.0, 26.0] minutes per dialogue (Behaviour, Group G)." in said
    assert "Fastest: 4.0 [3.0, 5.0] minutes per dialogue (Dialogue Likert, Group H)." in said


def coverage(rows):
    names = ["group", "method", "label", "kind", "times", "estimate"]
    return [{"statistic": "coverage", "corpus": "main", **dict(zip(names, row, strict=True))} for row in rows]


COVERAGE = collect(
    coverage(
        [
            ("h", "behavior", "ignore", "human", 1, 1.0),
            ("h", "behavior", "ignore", "human", 2, 0.25),
            ("g", "behavior", "ignore", "llm", 2, 1.0),
            ("g", "behavior", "redundant", "human", 2, 0.5),
            ("g", "dialogue_likert", "quality", "human", 2, 0.1),
            ("g", "dialogue_likert", "relevant", "human", 2, 0.1),
        ]
    )
)


def test_coverage_is_reported_for_people_by_the_best_group():
    said = text(findings.data_set(counts(read=1, kept=1), marks(1), COVERAGE, NAMES))
    assert "Behaviour 50%, Dialogue Likert 10%." in said


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


def test_titles_are_made_once_for_rows_that_do_not_differ(monkeypatch):
    asked = []
    name = type(NAMES).name
    monkeypatch.setattr(type(NAMES), "name", lambda self, *of: asked.append(of) or name(self, *of))
    rows = pd.DataFrame({"method": ["behavior", "dialogue_likert"] * 3}, index=[5, 3, 8, 1, 0, 2])
    titles = tables.row_titles(rows, NAMES, ["method"])
    assert titles.to_dict() == {i: ("Dialogue Likert" if i in (3, 1, 2) else "Behaviour") for i in rows.index}
    assert len(asked) == 2


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


def test_models_in_a_group_with_people_have_a_row_of_their_own():
    row = {"corpus": "main", "group": "all", "method": "behavior", "statistic": "count"}
    amounts = [("human", "labels", 2.0), ("human", "items", 9.0), ("llm", "labels", 2.0), ("llm", "items", 8.0)]
    rows = [{**row, "kind": kind, "what": what, "estimate": n} for kind, what, n in amounts]
    table = tables.judged(collect(rows), NAMES).frame
    assert table[["Judged by", "Labels", "Items"]].to_numpy().tolist() == [
        ["People", 2.0, 9.0],
        ["Language models", 2.0, 8.0],
    ]
    assert list(tables.judged(collect(rows[:2]), NAMES).frame) == ["Method", "Labels", "Items"]


def test_a_few_values_are_drawn_as_points_and_many_as_median_and_percentiles():
    keys = {"corpus": "main", "method": "behavior"}
    few = [keys | {"group": "g", "annotator": f"A{i}", "units": i} for i in range(4)]
    many = [keys | {"group": "h", "annotator": f"B{i}", "units": i} for i in range(40)]
    axes = figures.workload(pd.DataFrame(few + many), NAMES).fig.axes[0]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["Group G", "Group H"]
    points = [line.get_xdata() for line in axes.lines if line.get_marker() == "o"]
    assert [list(x) for x in points] == [[0, 1, 2, 3], [19.5]]
    bars = {tuple(line.get_xdata()) for line in axes.lines if len(line.get_xdata()) == 2}
    expected = [np.percentile(range(40), ends) for ends in ((5, 95), (25, 75))]
    assert any(np.allclose(bar, expected[0]) for bar in bars)
    assert any(np.allclose(bar, expected[1]) for bar in bars)
    assert figures.workload(pd.DataFrame(), NAMES) is None


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
        """
        path = tmp_path / "own.yaml"
        path.write_text(textwrap.dedent(text))
        table, rows = self.rows(params.load(str(path)), ("dialogue_rating", "tone"), ("dialogue_rating", "fit"))
        assert [row["Answers"] for row in rows] == ["rude, plain or warm", "yes or no"]
        assert [row["Good when"] for row in rows] == ["not declared", "low"]
        assert "Meaning" not in table.frame
        assert "`elicitation.definitions`" in table.caption
        path.write_text(path.read_text() + "elicitation: {definitions: {tone: How the reply sounds.}}\n")
        table, rows = self.rows(params.load(str(path)), ("dialogue_rating", "tone"), ("dialogue_rating", "fit"))
        assert rows[0]["Meaning"] == "How the reply sounds."
        assert pd.isna(rows[1]["Meaning"])


def test_tasks_of_several_methods_are_said_to_have_one_duration():
    times = {"corpus": "main", "group": "g", "method": "together", "level": "dialogue", "tasks": "all"}
    times |= {"statistic": "unit_minutes", "estimate": 0.204, "ci_low": 0.19, "ci_high": 0.21, "ci_kind": "mover"}
    titles = {"method": METHODS | {"together": "All methods of a task"}, "group": GROUPS, "system": {}}
    names = DisplayNames(LABELS, titles)
    said = text(findings.collection(marks(4), collect([times | {"n": 9}]), names, Costs()))
    assert "Median time: 0.20 [0.19, 0.21] minutes per dialogue (All methods of a task)." in said
    assert "has one duration, so its time and cost are not split by method" in said
