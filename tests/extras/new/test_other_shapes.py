"""Shapes beyond those of `test_odd_files`, each with a YAML of at most 25 lines: what was read is what was written.

The files are drawn here with seeds, but for some real ones at the end, which come with packages that are installed:
their printed values must come out.
"""

import csv
import json
import random
import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from fixtures import workbook
from fixtures import yaml_studies as studies

from judgebook.extras.new import draft
from judgebook.sources import build
from judgebook.study import params
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
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def read(folder, yaml):
    """The judgements, with a column `who` for the known people: pseudonyms are numbered as people appear."""
    without_questions = re.sub(r"^open_questions:.*\n(?:  .*\n)+", "", yaml, flags=re.MULTILINE)
    assert len(without_questions.splitlines()) <= 25
    marks = build.build(params.load(studies.write(folder, yaml, name="odd"))).frames["annotations"]
    names = {f"A{i:04d}": name for i, name in enumerate((*PEOPLE, "dan"), start=1)}
    return marks.assign(who=[names.get(a) for a in marks["annotator"]])


def held(marks, *more):
    return Counter(marks[[*more, "system", "who", "label", "score"]].itertuples(index=False, name=None))


SHEETS = """\
title: A sheet for each person
sources:
  - adapter: records
    file: f.xlsx
    sheet: "{annotator}"
    scores: "{label}"
    columns: {system: system, context: item}
    identify: {dialogue: [item, system]}
labels:
  fluency: {scale: [1, 5]}
  relevance: {scale: [1, 5]}
"""


def test_a_sheet_for_each_person(tmp_path):
    pytest.importorskip("python_calamine")
    pick = random.Random(1)
    sheets = {a: [["item", "system", "fluency", "relevance"]] for a in PEOPLE}
    wanted = Counter()
    for a in PEOPLE:
        for p in PROMPTS:
            for s in BOTS:
                scores = {"fluency": pick.randint(1, 5), "relevance": pick.randint(1, 5)}
                sheets[a].append([p, s, *scores.values()])
                wanted.update((s, a, label, float(v)) for label, v in scores.items())
    path = workbook.write(tmp_path / "f.xlsx", sheets)
    assert held(read(tmp_path, SHEETS)) == wanted
    assert held(read(tmp_path, draft.new_yaml("odd", path))) == wanted


def test_a_workbook_without_data_is_reported(tmp_path):
    pytest.importorskip("python_calamine")
    workbook.write(tmp_path / "f.xlsx", {"ann": [], "ben": []})
    with pytest.raises(DataError, match=r"f\.xlsx, sheet: expected one like '{annotator}', found no sheet with data"):
        read(tmp_path, SHEETS)


TWO_HEADERS = """\
title: Systems above labels
sources:
  - adapter: table
    file: f.csv
    header: 2
    columns: {annotator: annotator, dialogue: prompt}
    scores: "{system}_{label}"
labels:
  fluency: {scale: [1, 5]}
  relevance: {scale: [1, 5]}
"""


@pytest.mark.parametrize("above", [lambda s: [s, ""], lambda s: [s, s]], ids=["merged", "repeated"])
def test_systems_above_labels(tmp_path, above):
    pick = random.Random(2)
    rows = [["prompt", "annotator", *(c for s in BOTS for c in above(s))], ["", "", *["fluency", "relevance"] * 3]]
    wanted = Counter()
    for p in PROMPTS:
        for a in PEOPLE:
            scores = [pick.randint(1, 5) for _ in range(6)]
            rows.append([p, a, *scores])
            wanted.update((BOTS[i // 2], a, ("fluency", "relevance")[i % 2], float(v)) for i, v in enumerate(scores))
    path = table(tmp_path, "f.csv", rows)
    assert held(read(tmp_path, TWO_HEADERS)) == wanted
    assert held(read(tmp_path, draft.new_yaml("odd", path))) == wanted


RANKING = """\
title: Rankings
sources:
  - adapter: records
    file: {file}
    scores: "ranking:ranking.{{system}}"
    columns: {{annotator: annotator, context: prompt}}
    identify: {{dialogue: [prompt, "{{system}}"]}}
    constants: {{label: rank}}
labels:
  rank: {{scale: [1, 3], integer: false, direction: -1}}
"""


@pytest.mark.parametrize("form", ["cell", "list"])
def test_rankings_with_ties(tmp_path, form):
    pick = random.Random(3)
    records, wanted = [], Counter()
    for p in PROMPTS:
        for a in PEOPLE:
            first, second, third = pick.sample(BOTS, 3)
            steps = pick.choice([[[first], [second], [third]], [[first], [second, third]], [[first, second], [third]]])
            # tied ones share the mean of their ranks
            ranks = {1: [1, 2, 3], 2: [1, 2.5, 2.5]}[len(steps[-1])] if len(steps[0]) == 1 else [1.5, 1.5, 3]
            wanted.update((s, a, "rank", float(r)) for s, r in zip((first, second, third), ranks, strict=True))
            said = steps if form == "list" else " > ".join(" = ".join(one) for one in steps)
            records.append({"prompt": p, "annotator": a, "ranking": said})
    if form == "list":
        as_json(tmp_path, "f.json", records)
        assert held(read(tmp_path, RANKING.format(file="f.json"))) == wanted
        return
    path = table(tmp_path, "f.csv", [list(records[0]), *(list(r.values()) for r in records)])
    assert held(read(tmp_path, RANKING.format(file="f.csv"))) == wanted
    assert "ranking:ranking.{system}" in draft.new_yaml("odd", path)


@pytest.mark.parametrize("cell", ["alpha > beta, gamma", "alpha > alpha > beta", "alpha", "alpha >"])
def test_what_is_no_ranking_is_reported(tmp_path, cell):
    table(
        tmp_path,
        "f.csv",
        [["prompt", "annotator", "ranking"], ["p1", "ann", cell], ["p2", "ann", "beta > alpha > gamma"]],
    )
    with pytest.raises(DataError, match=r"row 2, ranking.*expected a ranking"):
        read(tmp_path, RANKING.format(file="f.csv"))


PLACES = """\
title: Who came first
sources:
  - adapter: records
    file: f.csv
    scores: ["{score}st", "{score}nd", "{score}rd"]
    columns: {annotator: annotator, context: prompt, system: "{value}"}
    identify: {dialogue: [prompt, "{value}"]}
    constants: {label: rank}
labels:
  rank: {scale: [1, 3], direction: -1}
"""


def test_columns_that_hold_the_system_in_a_place(tmp_path):
    pick = random.Random(4)
    rows, wanted = [["prompt", "annotator", "1st", "2nd", "3rd"]], Counter()
    for p in PROMPTS:
        for a in PEOPLE:
            order = pick.sample(BOTS, 3)
            rows.append([p, a, *order])
            wanted.update((s, a, "rank", float(i)) for i, s in enumerate(order, start=1))
    table(tmp_path, "f.csv", rows)
    assert held(read(tmp_path, PLACES)) == wanted


BEST_WORST = """\
title: Best and worst
sources:
  - adapter: records
    file: f.csv
    scores: "item{i}"
    chosen: {best: 1, worst: -1}
    columns: {annotator: annotator, context: prompt, system: "{value}"}
    identify: {dialogue: [prompt, "{value}"]}
    constants: {label: choice}
labels:
  choice: {scale: [-1, 1]}
"""


@pytest.mark.parametrize("by_place", [False, True])
def test_best_and_worst_of_what_was_shown(tmp_path, by_place):
    pick = random.Random(5)
    rows, wanted = [["prompt", "annotator", "item1", "item2", "item3", "best", "worst"]], Counter()
    for p in PROMPTS:
        for a in PEOPLE:
            shown = pick.sample((*BOTS, "delta"), 3)
            best, worst = pick.sample(range(3), 2)
            named = [str(i + 1) if by_place else shown[i] for i in (best, worst)]
            rows.append([p, a, *shown, *named])
            wanted.update((s, a, "choice", float((i == best) - (i == worst))) for i, s in enumerate(shown))
    table(tmp_path, "f.csv", rows)
    assert held(read(tmp_path, BEST_WORST)) == wanted


def test_a_choice_that_was_not_shown_is_reported_and_none_is_no_score(tmp_path):
    head = ["prompt", "annotator", "item1", "item2", "best", "worst"]
    rows = [["p1", "ann", "alpha", "beta", "alpha", "beta"], ["p2", "ann", "alpha", "beta", "", ""]]
    table(tmp_path, "f.csv", [head, *rows])
    assert len(read(tmp_path, BEST_WORST)) == 2
    table(tmp_path, "f.csv", [head, *rows, ["p3", "ann", "alpha", "beta", "gamma", "beta"]])
    with pytest.raises(DataError, match="row 4, best: expected one of alpha, beta, found 'gamma'"):
        read(tmp_path, BEST_WORST)
    table(tmp_path, "f.csv", [head, *rows, ["p3", "ann", "alpha", "beta", "beta", "beta"]])
    with pytest.raises(DataError, match="expected an option not chosen before"):
        read(tmp_path, BEST_WORST)


SPANS = """\
title: Marked faults
sources:
  - adapter: records
    file: f.json
    scores: "annotations.[].spans.[].category"
    empty: none
    columns: {annotator: "annotations.[].annotator", dialogue: id, system: system}
    constants: {label: faults}
  - adapter: records
    file: f.json
    scores: "annotations.[].spans:count"
    columns: {annotator: "annotations.[].annotator", dialogue: id, system: system}
    constants: {label: n_faults}
labels:
  faults: {categories: [none, grammar, fact, repetition], level: sets}
  n_faults: {scale: [0, 10], direction: -1}
"""


def test_marked_spans_and_replies_without_any(tmp_path):
    pick = random.Random(6)
    kinds = ("grammar", "fact", "repetition")
    records, wanted = [], Counter()
    for p in PROMPTS:
        for s in BOTS:
            annotations = []
            for a in PEOPLE:
                spans = [
                    {"start": pick.randint(0, 9), "end": pick.randint(10, 20), "category": pick.choice(kinds)}
                    for _ in range(pick.randint(0, 3))
                ]
                annotations.append({"annotator": a, "spans": spans})
                code = sum({2 ** (1 + kinds.index(x["category"])) for x in spans}) or 1
                wanted.update([(s, a, "faults", float(code)), (s, a, "n_faults", float(len(spans)))])
            records.append({"id": f"{p}-{s}", "system": s, "annotations": annotations})
    path = as_json(tmp_path, "f.json", records)
    assert held(read(tmp_path, SPANS)) == wanted
    # where a fault begins and ends is no judgement
    with pytest.raises(DataError, match="look like judgements"):
        draft.new_yaml("odd", path)


DIALOGUES = """\
title: A file for each dialogue
sources:
  - adapter: records
    file: "chat_*.json"
    scores: "turns.[turn].ratings.{annotator}.{label}"
    columns: {dialogue: id, system: system, system_text: "turns.[].bot"}
  - adapter: records
    file: "chat_*.json"
    scores: "overall.{annotator}.{label}"
    columns: {dialogue: id, system: system}
labels:
  sensible: {scale: [0, 1], method: turn_rating}
  quality: {scale: [1, 5], method: dialogue_rating}
"""


def test_a_file_for_each_dialogue_with_ratings_of_turns_and_of_the_whole(tmp_path):
    pick = random.Random(7)
    wanted = Counter()
    for i, p in enumerate(PROMPTS):
        s, turns = BOTS[i % 3], []
        for t in range(3):
            ratings = {a: {"sensible": pick.randint(0, 1)} for a in PEOPLE}
            turns.append({"user": f"hi {t}", "bot": f"well now {t}", "ratings": ratings})
            wanted.update((p, float(t), s, a, "sensible", float(r["sensible"])) for a, r in ratings.items())
        overall = {a: {"quality": pick.randint(1, 5)} for a in PEOPLE}
        wanted.update((p, -1.0, s, a, "quality", float(r["quality"])) for a, r in overall.items())
        path = as_json(tmp_path, f"chat_{p}.json", {"id": p, "system": s, "turns": turns, "overall": overall})
    marks = read(tmp_path, DIALOGUES)
    marks["at"] = pd.to_numeric(marks["turn"]).fillna(-1).astype(float)
    assert held(marks, "dialogue", "at") == wanted
    said = draft.new_yaml("odd", path)
    assert "11 other files in its folder" in said
    assert "turns.[turn].ratings.{annotator}.{label}" in said


COUNTS = """\
title: How many gave each score
sources:
  - adapter: records
    file: f.{suffix}
    scores: "{path}"
    count: "{{value}}"
    columns: {{dialogue: item, system: system}}
    constants: {{label: quality}}
labels:
  quality: {{scale: [1, 5]}}
"""


@pytest.mark.parametrize("form", ["csv", "json"])
def test_counts_of_scores(tmp_path, form):
    pick = random.Random(8)
    records, wanted = [], Counter()
    for p in PROMPTS:
        for s in BOTS:
            counts = {str(k): pick.randint(0, 3) for k in range(1, 6)}
            records.append({"item": f"{p}-{s}", "system": s, "counts": counts})
            wanted.update({(s, None, "quality", float(k)): n for k, n in counts.items() if n})
    if form == "json":
        path = as_json(tmp_path, "f.json", records)
        yaml = COUNTS.format(suffix="json", path="counts.{score}")
        with pytest.raises(DataError, match="count: "):  # people known by a number, or scores? nobody can know
            draft.new_yaml("odd", path)
    else:
        head = ["item", "system", *(f"n_{k}" for k in range(1, 6))]
        table(tmp_path, "f.csv", [head, *([r["item"], r["system"], *r["counts"].values()] for r in records)])
        yaml = COUNTS.format(suffix="csv", path="n_{score}")
    assert held(read(tmp_path, yaml)) == wanted


def test_a_count_that_is_none_is_reported(tmp_path):
    table(tmp_path, "f.csv", [["item", "system", "n_1", "n_2"], ["a", "A", "3", "-1"], ["b", "A", "2", "1.5"]])
    with pytest.raises(DataError, match=r"(?s)expected a number of judgements, found '-1'.*'1.5'"):
        read(tmp_path, COUNTS.format(suffix="csv", path="n_{score}"))


WINS = """\
title: Table of wins
method: comparative
sources:
  - adapter: records
    file: f.csv
    header: none
    skip_rows: [1]
    column_names: [winner, alpha, beta, gamma]
    scores: "{system_b}"
    count: "{value}"
    columns: {system: winner, dialogue: winner, dialogue_b: "{system_b}"}
    constants: {label: better, score: 1}
labels:
  better: {scale: [-1, 1]}
"""


def wins(marks):
    """(winner, loser) -> votes."""
    won = marks["score"] > 0
    winner, loser = marks["system"].where(won, marks["system_b"]), marks["system_b"].where(won, marks["system"])
    return Counter(zip(winner, loser, strict=True))


def test_a_table_of_wins(tmp_path):
    pick = random.Random(9)
    wanted = Counter({(a, b): pick.randint(1, 9) for a in BOTS for b in BOTS if a != b})
    rows = [[a, *("" if a == b else wanted[a, b] for b in BOTS)] for a in BOTS]
    path = table(tmp_path, "f.csv", [["", *BOTS], *rows])
    assert wins(read(tmp_path, WINS)) == wanted
    assert "table of wins" in draft.new_yaml("odd", path)


WINNERS = """\
title: Winners and losers
method: comparative
sources:
  - adapter: records
    file: f.csv
    scores: winner
    count: n
    columns: {system: winner, system_b: loser, dialogue: winner, dialogue_b: loser}
    constants: {label: better}
labels:
  better: {scale: [-1, 1]}
"""


def test_winners_losers_and_how_often(tmp_path):
    """Votes of unknown people for either side of a pair are all kept; a list that gives every vote twice is not."""
    votes = Counter({("alpha", "beta"): 4, ("beta", "alpha"): 3, ("gamma", "alpha"): 2})
    rows = [[*pair, n] for pair, n in votes.items()]
    table(tmp_path, "f.csv", [["winner", "loser", "n"], *rows])
    assert wins(read(tmp_path, WINNERS)) == votes
    yaml = WINNERS.replace(
        "winner, system_b: loser, dialogue: winner, dialogue_b: loser", "a, system_b: b, dialogue: a, dialogue_b: b"
    )
    one = [["alpha", "beta", "alpha", 4], ["alpha", "beta", "beta", 3], ["alpha", "gamma", "gamma", 2]]
    for rows in (one, [*one, *([b, a, w, n] for a, b, w, n in one)]):
        table(tmp_path, "f.csv", [["a", "b", "winner", "n"], *rows])
        assert wins(read(tmp_path, yaml)) == votes


SYSTEMS = """\
title: A column for each system
sources:
  - adapter: records
    file: f.csv
    scores: "{system}"
    drop: {system: age}
    columns: {annotator: annotator, context: prompt}
    identify: {dialogue: [prompt, "{system}"]}
    constants: {label: quality}
    patterns: {"{value}": "{score} out of 5"}
labels:
  quality: {scale: [1, 5]}
"""


def test_a_column_for_each_system_and_numbers_in_words(tmp_path):
    pick = random.Random(10)
    rows, wanted = [["prompt", "annotator", "age", *BOTS]], Counter()
    for p in PROMPTS:
        for a in PEOPLE:
            scores = [pick.randint(1, 5) for _ in BOTS]
            rows.append([p, a, "33 out of 5", *(f"{v} out of 5" for v in scores)])
            wanted.update((s, a, "quality", float(v)) for s, v in zip(BOTS, scores, strict=True))
    table(tmp_path, "f.csv", rows)
    assert held(read(tmp_path, SYSTEMS)) == wanted


TICKS = """\
title: Ticked boxes
sources:
  - adapter: table
    file: f.csv
    columns: {annotator: annotator, dialogue: dialogue_id, system: system}
    scores: "{label}"
    values: {x: 1, "": 0}
    na_values: []
labels:
  safe: {scale: [0, 1]}
"""


def test_an_empty_cell_can_be_an_answer(tmp_path):
    pick = random.Random(11)
    truth = [(f"{p}{s}", s, a, pick.randint(0, 1)) for p in PROMPTS for s in BOTS for a in PEOPLE]
    rows = [[d, s, a, "x" if v else ""] for d, s, a, v in truth]
    table(tmp_path, "f.csv", [["dialogue_id", "system", "annotator", "safe"], *rows])
    assert held(read(tmp_path, TICKS)) == Counter((s, a, "safe", float(v)) for _, s, a, v in truth)


TIMED = """\
title: Times in words
sources:
  - adapter: table
    file: f.csv
    columns: {annotator: annotator, dialogue: dialogue_id, work_unit: unit, seconds: time}
    scores: "{label}"
labels:
  fluency: {scale: [1, 5]}
"""


def test_durations_in_words_are_seconds(tmp_path):
    times = {"0:01:30": 90, "1:00:05": 3605, "2m 5s": 125, "1 h 1 min": 3660, "12 seconds": 12, "7.5": 7.5}
    rows = [[f"d{i}", "ann", f"u{i}", time, 3] for i, time in enumerate(times)]
    head = ["dialogue_id", "annotator", "unit", "time", "fluency"]
    table(tmp_path, "f.csv", [head, *rows])
    assert list(read(tmp_path, TIMED)["seconds"]) == list(times.values())
    table(tmp_path, "f.csv", [head, *rows, ["d9", "ann", "u9", "4:10", 3]])
    with pytest.raises(DataError, match="expected a number, 0 or more, found '4:10'"):
        read(tmp_path, TIMED)


# what `new` makes of more answers and layouts --------------------------------------------------------------------

AGREE = ("Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree")
SPELT = {
    "Agree (4)": lambda v: f"{AGREE[v - 1]} ({v})",
    "ends in words": lambda v: {1: "1 (very bad)", 5: "5 (very good)"}.get(v, str(v)),
    "stars": lambda v: "1 star" if v == 1 else f"{v} stars",
    "filled stars": lambda v: "★" * v + "☆" * (5 - v),
    "out of": lambda v: f"{v} out of 5",
    "percent": lambda v: f"{v}%",
}


@pytest.mark.parametrize("spelt", SPELT)
def test_new_reads_numbers_in_answers(tmp_path, spelt):
    pick = random.Random(12)
    truth = [(f"{p}{s}", s, a, pick.randint(1, 5)) for p in PROMPTS for s in BOTS for a in PEOPLE]
    rows = [[d, s, a, SPELT[spelt](v)] for d, s, a, v in truth]
    path = table(tmp_path, "f.csv", [["dialogue_id", "system", "annotator", "fluency"], *rows])
    assert held(read(tmp_path, draft.new_yaml("odd", path))) == Counter(
        (s, a, "fluency", float(v)) for _, s, a, v in truth
    )


@pytest.mark.parametrize("words", [("👎", "👍"), ("fail", "pass"), ("nein", "ja")])
def test_new_reads_two_answers(tmp_path, words):
    pick = random.Random(13)
    truth = [(f"{p}{s}", s, a, pick.randint(0, 1)) for p in PROMPTS for s in BOTS for a in PEOPLE]
    rows = [[d, s, a, words[v]] for d, s, a, v in truth]
    path = table(tmp_path, "f.csv", [["dialogue_id", "system", "annotator", "safe"], *rows])
    assert held(read(tmp_path, draft.new_yaml("odd", path))) == Counter(
        (s, a, "safe", float(v)) for _, s, a, v in truth
    )


@pytest.mark.parametrize("column", ["{system}: {label}", "{label} [{system}]", "{system}_{label}"])
def test_new_finds_systems_in_columns_and_the_item(tmp_path, column):
    pick = random.Random(14)
    pairs = [(s, label) for s in BOTS for label in ("fluency", "relevance")]
    rows, wanted = [["prompt", "annotator", *(column.format(system=s, label=i) for s, i in pairs)]], Counter()
    for p in PROMPTS:
        for a in PEOPLE:
            scores = [pick.randint(1, 5) for _ in pairs]
            rows.append([p, a, *scores])
            wanted.update((f"{p}_{s}", s, a, i, float(v)) for (s, i), v in zip(pairs, scores, strict=True))
    path = table(tmp_path, "f.csv", rows)
    assert held(read(tmp_path, draft.new_yaml("odd", path)), "dialogue") == wanted


def test_new_finds_turns_in_columns(tmp_path):
    pick = random.Random(15)
    rows, wanted = (
        [["dialogue", "system", "annotator", *(f"turn{t}_{i}" for t in (1, 2) for i in ("ok", "fun"))]],
        Counter(),
    )
    for i, p in enumerate(PROMPTS):
        for a in PEOPLE:
            scores = [pick.randint(0, 1) for _ in range(4)]
            rows.append([p, BOTS[i % 3], a, *scores])
            wanted.update((p, k // 2, BOTS[i % 3], a, ("ok", "fun")[k % 2], float(v)) for k, v in enumerate(scores))
    path = table(tmp_path, "f.csv", rows)
    assert held(read(tmp_path, draft.new_yaml("odd", path)), "dialogue", "turn") == wanted


def test_new_takes_fractions_that_differ_between_people_for_a_label(tmp_path):
    pick = random.Random(16)
    truth = [(f"{p}{s}", s, a, round(pick.random(), 2)) for p in PROMPTS for s in BOTS for a in PEOPLE]
    path = table(tmp_path, "f.csv", [["dialogue_id", "system", "annotator", "trust"], *truth])
    assert held(read(tmp_path, draft.new_yaml("odd", path))) == Counter((s, a, "trust", v) for _, s, a, v in truth)


DEGREES = {
    "words": ("B is much better", "B is slightly better", "About the same", "A is slightly better", "A is much better"),
    "numbers": ("-3", "-1", "0", "1", "3"),
}


@pytest.mark.parametrize("form", DEGREES)
def test_degrees_of_preference(tmp_path, form):
    """Which side won is kept; a scale that says more is refused before anything runs."""
    pick = random.Random(17)
    rows, wanted = [["prompt", "annotator", "system_a", "system_b", "preference"]], Counter()
    for p in PROMPTS:
        for a in PEOPLE:
            pair, k = pick.sample(BOTS, 2), pick.randrange(5)
            rows.append([p, a, *pair, DEGREES[form][k]])
            wanted[p, a, *sorted(pair), pair[int(k < 2)] if k != 2 else "tie"] += 1
    path = table(tmp_path, "f.csv", rows)
    yaml = draft.new_yaml("odd", path)
    marks = read(tmp_path, yaml)
    winner = np.select([marks["score"] > 0, marks["score"] < 0], [marks["system"], marks["system_b"]], "tie")
    pairs = [sorted(p) for p in zip(marks["system"], marks["system_b"], strict=True)]
    found = zip(marks["context"], marks["who"], pairs, winner, strict=True)
    assert Counter((p, a, *pair, w) for p, a, pair, w in found) == wanted
    with pytest.raises(ParamsError, match=re.escape("expected [-1, 1], found [-3.0, 3.0]")):
        read(tmp_path, re.sub(r"    values:.*\n", "", yaml).replace("[-1, 1]", "[-3, 3]"))


def test_new_takes_neither_what_a_model_wrote_nor_turns_for_labels(tmp_path):
    """As a model's judgements are kept: its words, the number in them, and the turn that it judged."""
    said = "The answer is good, but it could be a little longer. Rating: [[7]]"
    records = [
        {"question_id": p, "model": bot, "judgment": said, "score": 1 + (i + 3 * t) % 10, "turn": t}
        for i, p in enumerate(PROMPTS)
        for bot in BOTS
        for t in (1, 2)
    ]
    path = tmp_path / "f.jsonl"
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    marks = read(tmp_path, draft.new_yaml("odd", path))
    assert set(marks["label"]) == {"score"}
    assert marks["score"].sum() == sum(r["score"] for r in records)
    assert set(marks["turn"]) == {1, 2}


OUTCOMES = {
    "a column per outcome": (
        ["winner_model_a", "winner_model_b", "winner_tie"],
        lambda k: [int(k == i) for i in range(3)],
    ),
    "words": (["Which response is better?"], lambda k: [("Response 1", "Response 2", "Both equally good")[k]]),
    "words, and how sure": (
        ["vote", "How confident are you?"],
        lambda k: [("the left one", "the right one", "tie")[k], 1 + 2 * k],
    ),
}


@pytest.mark.parametrize("form", OUTCOMES)
def test_new_reads_the_outcomes_of_comparisons(tmp_path, form):
    pick = random.Random(19)
    names, cells = OUTCOMES[form]
    rows, wanted = [["id", "model_a", "model_b", *names]], Counter()
    for i in range(40):
        pair, k = pick.sample(BOTS, 2), i % 3
        rows.append([f"q{i}", *pair, *cells(k)])
        wanted[f"q{i}", *sorted(pair), [*pair, "tie"][k]] += 1
    marks = read(tmp_path, draft.new_yaml("odd", table(tmp_path, "f.csv", rows)))
    winner = np.select([marks["score"] > 0, marks["score"] < 0], [marks["system"], marks["system_b"]], "tie")
    pairs = [sorted(p) for p in zip(marks["system"], marks["system_b"], strict=True)]
    assert Counter((c, *p, w) for c, p, w in zip(marks["context"], pairs, winner, strict=True)) == wanted
    assert len(set(marks["label"])) == 1


def test_new_takes_neither_conditions_nor_counts_nor_numbered_items_for_labels(tmp_path):
    """As in tastings: what was done to an item is the same for all who judge it; items are known by a number."""
    pick = random.Random(18)
    rows = [["wine", "judge", "contact", "rating"]]
    rows += [[i, a, ("no", "yes")[i % 2], pick.randint(1, 5)] for a in (*PEOPLE, "dan") for i in range(1, 9)]
    marks = read(tmp_path, draft.new_yaml("odd", table(tmp_path, "f.csv", rows)))
    assert set(marks["label"]) == {"score"}
    assert set(marks["dialogue"]) == {str(i) for i in range(1, 9)}
    counts = [[f"s{i}", *Counter(pick.choices(range(5), k=14)).values()] for i in range(40)]
    counts = [["subject", *(f"category_{k}" for k in range(1, 6))], *(row for row in counts if len(row) == 6)]
    said = draft.new_yaml("odd", table(tmp_path, "g.csv", counts))
    assert "add up to 14 in every row" in said
    assert "labels: {}" in said


# real data that come with statsmodels and pingouin ---------------------------------------------------------------

RATERS = """\
title: A column for each rater
sources:
  - adapter: table
    file: f.csv
    columns: {dialogue: "{row}"}
    scores: "{label}{annotator}"
    label_names: {rater: diagnosis}
labels:
  diagnosis: {scale: [1, 5], level: nominal, direction: 0}
"""
CATEGORIES = """\
title: How many chose each category
sources:
  - adapter: records
    file: f.csv
    scores: "category_{score}"
    count: "{value}"
    columns: {dialogue: subject}
    constants: {label: category}
labels:
  category: {scale: [1, 5], level: nominal, direction: 0}
"""
POLITICIANS = """\
title: A column for each politician
sources:
  - adapter: records
    file: f.csv
    scores: "{system}LR"
    columns: {annotator: respondent, dialogue: "{system}"}
    constants: {label: conservative}
    drop: {system: self}
labels:
  conservative: {scale: [1, 7], direction: 0}
"""


def kappa(marks):
    from statsmodels.stats.inter_rater import fleiss_kappa

    return fleiss_kappa(pd.crosstab(marks["dialogue"], marks["score"]).to_numpy())


def test_diagnoses_of_six_psychiatrists(tmp_path):
    """Fleiss 1971; the kappa that R's irr prints."""
    examples = pytest.importorskip("statsmodels.stats.tests.test_inter_rater")
    rows = examples.diagnoses.tolist()
    path = table(tmp_path, "f.csv", [[f"rater{i}" for i in range(1, 7)], *rows])
    for yaml in (RATERS, draft.new_yaml("odd", path)):
        assert kappa(read(tmp_path, yaml)) == pytest.approx(0.4302445, abs=5e-8)


def test_ten_subjects_in_five_categories(tmp_path):
    """Fleiss' worked example, of which only counts are known."""
    examples = pytest.importorskip("statsmodels.stats.tests.test_inter_rater")
    rows = [[i, *map(int, row)] for i, row in enumerate(examples.table1, start=1)]
    table(tmp_path, "f.csv", [["subject", *(f"category_{k}" for k in range(1, 6))], *rows])
    marks = read(tmp_path, CATEGORIES)
    assert len(marks) == 140
    assert kappa(marks) == pytest.approx(0.210, abs=5e-4)


def test_where_944_voters_placed_two_politicians(tmp_path):
    from statsmodels.datasets import anes96

    frame = anes96.load_pandas().data
    frame.assign(respondent=range(1, 945)).astype(int, errors="ignore").to_csv(tmp_path / "f.csv", index=False)
    marks = read(tmp_path, POLITICIANS)
    for name in ("Clin", "Dole"):
        mine = marks.loc[marks["system"] == name, "score"]
        assert sorted(mine) == sorted(frame[f"{name}LR"])


def test_judges_of_wine_known_by_a_number(tmp_path):
    import pingouin

    frame = pingouin.read_dataset("icc")
    frame.to_csv(tmp_path / "f.csv", index=False)
    marks = read(tmp_path, draft.new_yaml("odd", tmp_path / "f.csv"))
    judges = dict(zip("ABCD", sorted(set(marks["annotator"])), strict=True))
    wanted = {(str(w), judges[j]): float(v) for w, j, v in frame[["Wine", "Judge", "Scores"]].itertuples(index=False)}
    assert dict(zip(zip(marks["dialogue"], marks["annotator"], strict=True), marks["score"], strict=True)) == wanted


PEOPLE_IN_ROWS = """\
title: People in rows, items in columns, no header
sources:
  - adapter: records
    file: f.csv
    header: none
    column_names: [u1, u2, u3, u4, u5, u6]
    scores: "{dialogue}"
    columns: {annotator: "{row}"}
    constants: {label: code}
labels:
  code: {scale: [1, 5], level: nominal}
"""


def test_people_in_rows_and_items_in_columns(tmp_path):
    pick = random.Random(19)
    rows = [[pick.choice(["", 1, 2, 3, 4, 5]) for _ in range(6)] for _ in range(3)]
    table(tmp_path, "f.csv", rows)
    wanted = Counter(
        (f"u{k}", "system", who, "code", float(v))
        for who, row in zip(PEOPLE, rows, strict=True)
        for k, v in enumerate(row, start=1)
        if v != ""
    )
    assert held(read(tmp_path, PEOPLE_IN_ROWS), "dialogue") == wanted
