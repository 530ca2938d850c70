"""Shapes beyond those of `test_odd_files`: those that a YAML has to say, by small files whose judgements are counted by
hand, and those that `new` finds in files that are drawn here. At the end are real ones, which come with packages that
are installed: their printed values must come out.
"""

import csv
import json
import random
import re
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
import yaml
from fixtures import yaml_studies as studies

from judgebook.extras.new import draft
from judgebook.study.params import ParamsError
from judgebook.study.schema import DataError

PEOPLE = ("ann", "ben", "eve")
BOTS = ("alpha", "beta", "gamma")
PROMPTS = tuple(f"p{i:02d}" for i in range(12))


def table(folder, name, rows):
    with open(folder / name, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return folder / name


def as_json(folder, name, value):
    (folder / name).write_text(json.dumps(value), encoding="utf-8")
    return folder / name


def held(marks, *more):
    marks = marks.assign(annotator=marks["annotator"].where(marks["annotator_known"].astype(bool), "-"))
    return Counter(marks[[*more, "system", "annotator", "label", "score"]].itertuples(index=False, name=None))


@dataclass(frozen=True)
class Shape:
    """source : what a YAML says of the file. content : rows of a table, or JSON. held : its judgements, one a line."""

    source: str
    labels: str
    content: object
    held: str = ""
    method: str = "dialogue_rating"

    def write(self, folder, *more):
        """The YAML; more : rows or records that are added to the file."""
        source = {"adapter": "records", "file": "f.csv"} | yaml.safe_load(self.source)
        (table if source["file"].endswith("csv") else as_json)(folder, source["file"], [*self.content, *more])
        about = {"title": "Odd", "method": self.method, "sources": [source], "labels": yaml.safe_load(self.labels)}
        return yaml.safe_dump(about)

    def wanted(self):
        lines = [line.split() for line in self.held.splitlines()]
        return Counter((s, who, label, float(x)) for s, who, label, x in lines)


RANKING = """\
scores: "ranking:ranking.{system}"
columns: {annotator: annotator, context: prompt}
identify: {dialogue: [prompt, "{system}"]}
constants: {label: rank}
"""
RANKS = "rank: {scale: [1, 3], integer: false, direction: -1}"
#: tied ones share the mean of their ranks
RANKED = """\
alpha ann rank 2.5
beta ann rank 1
gamma ann rank 2.5
alpha ben rank 1.5
beta ben rank 1.5
gamma ben rank 3"""
CHOICE = """\
scores: "item{i}"
chosen: {best: 1, worst: -1}
columns: {annotator: annotator, context: prompt, system: "{value}"}
identify: {dialogue: [prompt, "{value}"]}
constants: {label: choice}
"""
CHOSEN = "alpha ann choice 0\nbeta ann choice 1\ngamma ann choice -1"
SHOWN = ["prompt", "annotator", "item1", "item2", "item3", "best", "worst"]
COUNTED = """\
scores: "n_{score}"
count: "{value}"
columns: {dialogue: item, system: system}
constants: {label: quality}
"""
COUNTS = "A - quality 1\nA - quality 1\nB - quality 2"
FAULTS = [{"category": kind, "start": i} for i, kind in enumerate(("fact", "grammar", "fact"))]
MARKED = [{"annotator": "ann", "spans": FAULTS}, {"annotator": "ben", "spans": []}]
OF_SPANS = """\
file: f.json
columns: {annotator: "annotations.[].annotator", dialogue: id, system: system}
"""
SHAPES = {
    "rankings in a cell": Shape(
        RANKING,
        RANKS,
        [
            ["prompt", "annotator", "ranking"],
            ["p1", "ann", "beta > alpha = gamma"],
            ["p1", "ben", "alpha=beta > gamma"],
        ],
        RANKED,
    ),
    "rankings in lists": Shape(
        "file: f.json\n" + RANKING,
        RANKS,
        [
            {"prompt": "p1", "annotator": "ann", "ranking": [["beta"], ["alpha", "gamma"]]},
            {"prompt": "p1", "annotator": "ben", "ranking": [["alpha", "beta"], ["gamma"]]},
        ],
        RANKED,
    ),
    "columns that hold the system in a place": Shape(
        """\
scores: ["{score}st", "{score}nd", "{score}rd"]
columns: {annotator: annotator, context: prompt, system: "{value}"}
identify: {dialogue: [prompt, "{value}"]}
constants: {label: rank}
""",
        RANKS,
        [["prompt", "annotator", "1st", "2nd", "3rd"], ["p1", "ann", "beta", "gamma", "alpha"]],
        "beta ann rank 1\ngamma ann rank 2\nalpha ann rank 3",
    ),
    "best and worst of what was shown, or nobody": Shape(
        CHOICE,
        "choice: {scale: [-1, 1]}",
        [SHOWN, ["p1", "ann", *BOTS, "beta", "gamma"], ["p2", "ann", "alpha", "beta", "", "", ""]],
        CHOSEN,
    ),
    "best and worst by their places": Shape(
        CHOICE, "choice: {scale: [-1, 1]}", [SHOWN, ["p1", "ann", *BOTS, "2", "3"]], CHOSEN
    ),
    "kinds of faults that were marked": Shape(
        OF_SPANS + 'scores: "annotations.[].spans.[].category"\nempty: none\nconstants: {label: faults}\n',
        "faults: {categories: [none, grammar, fact, repetition], level: sets}",
        [{"id": "d1", "system": "A", "annotations": MARKED}],
        "A ann faults 6\nA ben faults 1",
    ),
    "how many faults were marked": Shape(
        OF_SPANS + 'scores: "annotations.[].spans:count"\nconstants: {label: n_faults}\n',
        "n_faults: {scale: [0, 10], direction: -1}",
        [{"id": "d1", "system": "A", "annotations": MARKED}],
        "A ann n_faults 3\nA ben n_faults 0",
    ),
    "counts of scores": Shape(
        COUNTED,
        "quality: {scale: [1, 5]}",
        [["item", "system", "n_1", "n_2"], ["x", "A", 2, 0], ["y", "B", 0, 1]],
        COUNTS,
    ),
    "a column for each system and numbers in words": Shape(
        """\
scores: "{system}"
drop: {system: age}
columns: {annotator: annotator, context: prompt}
identify: {dialogue: [prompt, "{system}"]}
constants: {label: quality}
patterns: {"{value}": "{score} out of 5"}
""",
        "quality: {scale: [1, 5]}",
        [["prompt", "annotator", "age", "alpha", "beta"], ["p1", "ann", "33 out of 5", "4 out of 5", "2 out of 5"]],
        "alpha ann quality 4\nbeta ann quality 2",
    ),
    "an empty cell that is an answer": Shape(
        """\
columns: {annotator: annotator, dialogue: id, system: system}
scores: "{label}"
values: {x: 1, "": 0}
na_values: []
""",
        "safe: {scale: [0, 1]}",
        [["id", "system", "annotator", "safe"], ["d1", "A", "ann", "x"], ["d2", "B", "ann", ""]],
        "A ann safe 1\nB ann safe 0",
    ),
    "people in rows and items in columns, no header": Shape(
        """\
header: none
column_names: [u1, u2, u3]
scores: "{system}"
columns: {annotator: "{row}", dialogue: "{system}"}
constants: {label: code}
""",
        "code: {scale: [1, 5], level: nominal}",
        [[1, "", 5], ["", 2, 3]],
        "u1 1 code 1\nu3 1 code 5\nu2 2 code 2\nu3 2 code 3",
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_that_is_said_is_read_as_it_was_written(tmp_path, name):
    shape = SHAPES[name]
    assert held(studies.judgements(tmp_path, shape.write(tmp_path))) == shape.wanted()


@pytest.mark.parametrize(
    ("name", "rows", "said"),
    [
        *(
            ("rankings in a cell", [["p2", "ann", cell]], "row 4, ranking.*expected a ranking")
            for cell in ("alpha > beta, gamma", "alpha > alpha > beta", "alpha", "alpha >")
        ),
        (
            "best and worst of what was shown, or nobody",
            [["p3", "ann", "alpha", "beta", "", "delta", "beta"]],
            "row 4, best: expected one of alpha, beta, found 'delta'",
        ),
        (
            "counts of scores",
            [["a", "A", "3", "-1"], ["b", "A", "2", "1.5"]],
            "expected a number of judgements, found '-1'.*'1.5'",
        ),
    ],
)
def test_what_does_not_fit_the_shape_is_refused(tmp_path, name, rows, said):
    with pytest.raises(DataError, match=f"(?s){said}"):
        studies.judgements(tmp_path, SHAPES[name].write(tmp_path, *rows))


def test_durations_in_words_are_seconds(tmp_path):
    times = {"0:01:30": 90, "1:00:05": 3605, "2m 5s": 125, "1 h 1 min": 3660, "12 seconds": 12, "7.5": 7.5}
    rows = [[f"d{i}", "ann", f"u{i}", time, 3] for i, time in enumerate(times)]
    timed = Shape(
        "columns: {annotator: annotator, dialogue: id, work_unit: unit, seconds: time}\nscores: '{label}'",
        "fluency: {scale: [1, 5]}",
        [["id", "annotator", "unit", "time", "fluency"], *rows],
    )
    assert studies.judgements(tmp_path, timed.write(tmp_path))["seconds"].tolist() == [*times.values()]
    with pytest.raises(DataError, match="expected a number, 0 or more, found '4:10'"):
        studies.read(tmp_path, timed.write(tmp_path, ["d9", "ann", "u9", "4:10", 3]))


def wins(marks):
    """(winner, loser) -> votes."""
    won = marks["score"] > 0
    winner, loser = marks["system"].where(won, marks["system_b"]), marks["system_b"].where(won, marks["system"])
    return Counter(zip(winner, loser, strict=True))


VOTES = Counter({("alpha", "beta"): 4, ("beta", "alpha"): 3, ("gamma", "alpha"): 2})
OF_WINS = """\
header: none
skip_rows: [1]
column_names: [winner, alpha, beta, gamma]
scores: "{system_b}"
count: "{value}"
columns: {system: winner, dialogue: winner, dialogue_b: "{system_b}"}
constants: {label: better, score: 1}
"""
WINNERS = """\
scores: winner
count: n
columns: {system: winner, system_b: loser, dialogue: winner, dialogue_b: loser}
constants: {label: better}
"""
SIDES = WINNERS.replace(
    "winner, system_b: loser, dialogue: winner, dialogue_b: loser", "a, system_b: b, dialogue: a, dialogue_b: b"
)
ONCE = [["alpha", "beta", "alpha", 4], ["alpha", "beta", "beta", 3], ["alpha", "gamma", "gamma", 2]]


@pytest.mark.parametrize(
    ("source", "rows"),
    [
        (OF_WINS, [["", *BOTS], *([a, *(VOTES[a, b] or "" for b in BOTS)] for a in BOTS)]),
        (WINNERS, [["winner", "loser", "n"], *([*pair, n] for pair, n in VOTES.items())]),
        (SIDES, [["a", "b", "winner", "n"], *ONCE]),
        (SIDES, [["a", "b", "winner", "n"], *ONCE, *([b, a, w, n] for a, b, w, n in ONCE)]),
    ],
    ids=["table of wins", "winners and losers", "sides", "every vote twice"],
)
def test_votes_are_counted_once(tmp_path, source, rows):
    """Votes of unknown people for either side of a pair are all kept; a list that gives every vote twice is not."""
    text = Shape(source, "better: {scale: [-1, 1]}", rows, method="comparative").write(tmp_path)
    assert wins(studies.judgements(tmp_path, text)) == VOTES
    if source == OF_WINS:
        assert "table of wins" in draft.new_yaml("odd", tmp_path / "f.csv")


# what `new` makes of more layouts ---------------------------------------------------------------------------------

NAMED = ("{system}: {label}", "{label} [{system}]", "{system}_{label}")
PAIRS = [(s, label) for s in BOTS for label in ("fluency", "relevance")]


@pytest.mark.parametrize(
    "heads",
    [
        *([[c.format(system=s, label=i) for s, i in PAIRS]] for c in NAMED),
        [["alpha", "", "beta", "", "gamma", ""], [i for _, i in PAIRS]],
    ],
    ids=["colon", "brackets", "underscore", "above"],
)
def test_new_finds_systems_in_columns(tmp_path, heads):
    pick = random.Random(14)
    rows, wanted = [["prompt", "annotator", *heads[0]], *(["", "", *head] for head in heads[1:])], Counter()
    for p in PROMPTS:
        for a in PEOPLE:
            scores = [pick.randint(1, 5) for _ in PAIRS]
            rows.append([p, a, *scores])
            wanted.update((f"{p}_{s}", s, a, i, float(v)) for (s, i), v in zip(PAIRS, scores, strict=True))
    path = table(tmp_path, "f.csv", rows)
    assert held(studies.judgements(tmp_path, draft.new_yaml("odd", path)), "dialogue") == wanted


def test_new_finds_rankings_in_cells(tmp_path):
    pick = random.Random(3)
    rows = [[p, a, " > ".join(pick.sample(BOTS, 3))] for p in PROMPTS for a in PEOPLE]
    path = table(tmp_path, "f.csv", [["prompt", "annotator", "ranking"], *rows])
    data = yaml.safe_load(draft.new_yaml("odd", path))
    assert data["sources"][0]["scores"] == "ranking:ranking.{system}"
    ((_, label),) = data["labels"].items()
    assert (label["scale"], label["direction"]) == ([1, 3], -1)


def test_new_takes_no_place_of_a_fault_for_a_judgement(tmp_path):
    records = [{"id": f"d{i}", "system": "A", "annotations": MARKED} for i in range(6)]
    with pytest.raises(DataError, match="look like judgements"):
        draft.new_yaml("odd", as_json(tmp_path, "f.json", records))


#: form -> columns, and cells for each way in which a comparison can end, with the side that has won
OUTCOMES = {
    "degrees in words": (
        ["preference"],
        {
            ("B is much better",): 1,
            ("B is slightly better",): 1,
            ("About the same",): None,
            ("A is slightly better",): 0,
            ("A is much better",): 0,
        },
    ),
    "degrees in numbers": (["preference"], {("-3",): 1, ("-1",): 1, ("0",): None, ("1",): 0, ("3",): 0}),
    "a column per outcome": (
        ["winner_model_a", "winner_model_b", "winner_tie"],
        {(1, 0, 0): 0, (0, 1, 0): 1, (0, 0, 1): None},
    ),
}


@pytest.mark.parametrize("form", OUTCOMES)
def test_new_reads_the_outcomes_of_comparisons(tmp_path, form):
    """Which side won is kept; a scale that says more is refused before anything runs."""
    pick, (names, ways) = random.Random(19), OUTCOMES[form]
    rows, wanted = [["id", "model_a", "model_b", *names]], Counter()
    for i in range(40):
        pair, (cells, won) = pick.sample(BOTS, 2), [*ways.items()][i % len(ways)]
        rows.append([f"q{i}", *pair, *cells])
        wanted[f"q{i}", *sorted(pair), "tie" if won is None else pair[won]] += 1
    text = draft.new_yaml("odd", table(tmp_path, "f.csv", rows))
    marks = studies.judgements(tmp_path, text)
    winner = np.select([marks["score"] > 0, marks["score"] < 0], [marks["system"], marks["system_b"]], "tie")
    pairs = [sorted(p) for p in zip(marks["system"], marks["system_b"], strict=True)]
    assert Counter((c, *p, w) for c, p, w in zip(marks["context"], pairs, winner, strict=True)) == wanted
    assert len(set(marks["label"])) == 1
    if form == "degrees in numbers":
        with pytest.raises(ParamsError, match=re.escape("expected [-1, 1], found [-3.0, 3.0]")):
            studies.judgements(tmp_path, re.sub(r"    values:.*\n", "", text).replace("[-1, 1]", "[-3, 3]"))


def test_new_takes_neither_conditions_nor_counts_nor_numbered_items_for_labels(tmp_path):
    pick = random.Random(18)
    rows = [["wine", "judge", "contact", "rating"]]
    rows += [[i, a, ("no", "yes")[i % 2], pick.randint(1, 5)] for a in (*PEOPLE, "dan") for i in range(1, 9)]
    marks = studies.judgements(tmp_path, draft.new_yaml("odd", table(tmp_path, "f.csv", rows)))
    assert set(marks["label"]) == {"score"}
    assert set(marks["dialogue"]) == {str(i) for i in range(1, 9)}
    counts = [[f"s{i}", *Counter(pick.choices(range(5), k=14)).values()] for i in range(40)]
    counts = [["subject", *(f"category_{k}" for k in range(1, 6))], *(row for row in counts if len(row) == 6)]
    said = draft.new_yaml("odd", table(tmp_path, "g.csv", counts))
    assert "add up to 14 in every row" in said
    assert "labels: {}" in said


# real data that come with statsmodels and pingouin ---------------------------------------------------------------


def kappa(marks):
    from statsmodels.stats.inter_rater import fleiss_kappa

    return fleiss_kappa(pd.crosstab(marks["dialogue"], marks["score"]).to_numpy())


def test_diagnoses_of_six_psychiatrists(tmp_path):
    """Fleiss 1971; the kappa that R's irr prints."""
    examples = pytest.importorskip("statsmodels.stats.tests.test_inter_rater")
    path = table(tmp_path, "f.csv", [[f"rater{i}" for i in range(1, 7)], *examples.diagnoses.tolist()])
    assert kappa(studies.judgements(tmp_path, draft.new_yaml("odd", path))) == pytest.approx(0.4302445, abs=5e-8)


def test_ten_subjects_in_five_categories(tmp_path):
    """Fleiss' worked example, of which only counts are known."""
    examples = pytest.importorskip("statsmodels.stats.tests.test_inter_rater")
    rows = [[i, "A", *map(int, row)] for i, row in enumerate(examples.table1, start=1)]
    head = ["item", "system", *(f"n_{k}" for k in range(1, 6))]
    shape = Shape(COUNTED, "quality: {scale: [1, 5], level: nominal, direction: 0}", [head, *rows])
    marks = studies.judgements(tmp_path, shape.write(tmp_path))
    assert len(marks) == 140
    assert kappa(marks) == pytest.approx(0.210, abs=5e-4)
