"""Files as people have them, in many formats with many oddities: each is read right, or refused with the reason.

Judgements are drawn, written in some odd way, and read through the YAML that `new` makes. What was read is compared
with what was written: by dialogue, by annotator, by system, by label.
"""

import csv
import gzip
import io
import json
import random
import re
from collections import Counter, defaultdict
from dataclasses import dataclass

import pandas as pd
import pytest
from fixtures import workbook
from fixtures import yaml_studies as studies

from judgebook.extras.new import draft
from judgebook.study.params import ParamsError
from judgebook.study.schema import DataError

LABELS = ("fluency", "relevance")
PEOPLE = ("ann", "ben", "eve")
AGREE = ("Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree")


def draw(n=14, labels=LABELS, people=PEOPLE, values=(1, 2, 3, 4, 5), seed=3):
    """Judgements (dialogue, system, annotator, label, score) of everybody on everything."""
    pick = random.Random(seed)
    return [
        (f"d{i:02d}", ("alpha-bot", "beta-bot")[i % 2], who, label, pick.choice(values))
        for i in range(n)
        for who in people
        for label in labels
    ]


TRUTH = draw()
GAPS = [t for t in TRUTH if t[:3] != ("d03", "beta-bot", "ben")]


def text(rows, delimiter=",", end="\n"):
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator=end).writerows(rows)
    return out.getvalue()


def by_annotator(truth=TRUTH, labels=LABELS, head=("dialogue_id", "system", "annotator"), spell=str):
    """One row per dialogue and annotator, one column per label."""
    rows = {(d, s, a): {} for d, s, a, _, _ in truth}
    for d, s, a, label, score in truth:
        rows[d, s, a][label] = spell(score)
    return [[*head, *labels], *([*key, *(scores.get(i, "") for i in labels)] for key, scores in rows.items())]


def by_dialogue(truth=TRUTH, name="{label}_{annotator}"):
    """One row per dialogue, one column per label and annotator."""
    columns = list(dict.fromkeys((label, a) for _, _, a, label, _ in truth))
    rows = {(d, s): {} for d, s, *_ in truth}
    for d, s, a, label, score in truth:
        rows[d, s][label, a] = str(score)
    head = ["dialogue_id", "system", *(name.format(label=label, annotator=a) for label, a in columns)]
    return [head, *([*key, *(scores.get(c, "") for c in columns)] for key, scores in rows.items())]


def long():
    return [["dialogue_id", "system", "annotator", "label", "score"], *([*row[:4], str(row[4])] for row in TRUTH)]


def flat():
    rows = by_annotator()
    return [dict(zip(rows[0], [*r[:3], *map(int, r[3:])], strict=True)) for r in rows[1:]]


def nested(truth=TRUTH):
    """A dialogue with a list of annotations, each with an object of scores."""
    out = {}
    for d, s, a, label, score in truth:
        record = out.setdefault(d, {"dialogue_id": d, "system": s, "annotations": {}})
        record["annotations"].setdefault(a, {"annotator": a, "ratings": {}})["ratings"][label] = score
    return [{**r, "annotations": list(r["annotations"].values())} for r in out.values()]


def below_keys(*order, truth=TRUTH):
    """Objects in objects: the keys of each level are column `order` of the judgements, the last one's values scores."""
    out = {}
    for row in truth:
        at = out
        for i in order[:-1]:
            at = at.setdefault(row[i], {})
        at[row[order[-1]]] = row[4]
    return json.dumps(out)


def lists_of_scores():
    out = {}
    for d, s, _, label, score in TRUTH:
        out.setdefault(d, {"id": d, "model": s, "fluency": [], "relevance": []})[label].append(score)
    return list(out.values())


def labels_beside_scores():
    out = {}
    for d, s, a, label, score in TRUTH:
        one = {"worker": a, "criterion": label, "value": score}
        out.setdefault(d, {"id": d, "model": s, "results": []})["results"].append(one)
    return list(out.values())


def lines(records):
    return "\n".join(map(json.dumps, records)) + "\n"


def in_cells(cut=None):
    """A table with an object of scores in a column; of one row without its end."""
    rows = by_annotator()
    cells = [[*r[:3], json.dumps(dict(zip(LABELS, r[3:], strict=True)))] for r in rows[1:]]
    if cut is not None:
        cells[cut][3] = cells[cut][3][:-1]
    return [[*rows[0][:3], "response"], *cells]


def with_columns(rows=None, **columns):
    """The rows with columns more. columns : name -> a function of the number of the row."""
    rows = by_annotator() if rows is None else rows
    return [
        [*rows[0], *columns],
        *([*row, *(str(value(i)) for value in columns.values())] for i, row in enumerate(rows[1:])),
    ]


@dataclass(frozen=True)
class Case:
    """A file, and the judgements that it holds, or words of the refusal. known, systems : whether it says who judged,
    and what. yaml : of those that have to be said."""

    file: str
    content: object
    truth: list = None
    refused: str = ""
    known: bool = True
    systems: bool = True
    yaml: str = ""

    def save(self, folder):
        path = folder / self.file
        if isinstance(self.content, pd.DataFrame):
            self.content.to_parquet(path)
        elif isinstance(self.content, dict):
            pytest.importorskip("python_calamine")
            workbook.write(path, self.content)
        else:
            path.write_bytes(self.content if isinstance(self.content, bytes) else self.content.encode())
        return path


def table(rows, truth=None, **more):
    return Case("f.csv", text(rows), truth, **more)


def spelt(spell, **drawn):
    truth = draw(**drawn)
    return table(by_annotator(truth, spell=spell), truth)


def grid(name="{label}_{annotator}", **drawn):
    truth = draw(**drawn)
    return table(by_dialogue(truth, name), truth)


def as_json(value, truth=None, **more):
    return Case("f.json", value if isinstance(value, str) else json.dumps(value), truth, **more)


def sheet(rows):
    return [[int(c) if c.isdecimal() else c or None for c in row] for row in rows]


def numbers(rows):
    return pd.DataFrame(rows[1:], columns=rows[0]).assign(**{i: lambda f, i=i: pd.to_numeric(f[i]) for i in LABELS})


def persons_beside_comments():
    truth = draw(labels=("score",), people=("student_1", "student_2", "expert_1"))
    return table(with_columns(by_dialogue(truth, "{annotator}"), comment=lambda i: "fine"), truth)


ROWS = by_annotator()
CSV = text(ROWS)
LINES = CSV.splitlines()
NORDIC = draw(people=("Björn", "Zoë", "Eve"))
MODELS = {"people": ("a1", "a2", "gpt-4o", "llama-3")}
HALVES = {"values": (1, 1.5, 2, 3.5, 5)}
NOTHING = flat()[0] | {"dialogue_id": "d90", "fluency": None, "relevance": float("nan")}
TWO = {"values": (0, 1), "n": 30}
SLIDERS = draw(labels=("humanlike",), values=range(101))
NUMBERED = [(d, s, {"ann": "annotator_1", "ben": "annotator_2", "eve": "annotator_3"}[a], *x) for d, s, a, *x in TRUTH]
SHORT_ROWS = """\
title: Given
sources:
  - {adapter: records, file: f.csv, short_rows: fill, scores: "{label}",
     columns: {dialogue: dialogue_id, system: system, annotator: annotator}}
labels: {fluency: {scale: [1, 5]}, relevance: {scale: [1, 5]}}
"""

CASES = {
    # dialects of tables
    "a byte order mark and CRLF": Case("f.csv", text(ROWS, end="\r\n").encode("utf-8-sig")),
    "tabs in a .csv": Case("f.csv", text(ROWS, "\t")),
    "tsv, packed": Case("f.tsv.gz", gzip.compress(text(ROWS, "\t").encode())),
    "UTF-16, as Excel's Unicode Text": Case("f.txt", text(ROWS, "\t").encode("utf-16")),
    "Windows letters": Case("f.csv", text(by_annotator(NORDIC)).encode("cp1252"), NORDIC),
    "an empty file": Case("f.csv", "", refused="empty"),
    "empty lines": Case("f.csv", "\n".join([*LINES[:13], "", *LINES[13:25], "", *LINES[25:], "", ""])),
    "a delimiter after every row": table([[*row, ""] for row in ROWS]),
    "two columns of one name": table([[*row, row[3]] for row in ROWS]),
    "a row too short": table([*ROWS[:7], ROWS[7][:-1], *ROWS[8:]], refused="cells"),
    "rows too short, filled": table([*ROWS[:7], ROWS[7][:-1], *ROWS[8:]], [*TRUTH[:13], *TRUTH[14:]], yaml=SHORT_ROWS),
    "the same judgement twice": table([*ROWS, ROWS[3]], refused="one judgement per annotator"),
    "texts with line breaks, quotes and emoji": table(with_columns(comment=lambda i: f'so "so",\n🙂 it is {i} I said')),
    # columns that are no labels
    "a duration, a counter, a constant and a date": table(
        with_columns(
            lead_time=lambda i: 3 + i % 9,
            progress=lambda i: 1 + i % 5,
            batch=lambda i: 4,
            created_at=lambda i: f"2024-05-{1 + i % 9:02d} 10:00:00",
        )
    ),
    "ids of a few numbers": table(with_columns(prompt_id=lambda i: 1 + i // 3 % 5)),
    "numbers that belong to the annotator": table(with_columns(experience=lambda i: (3, 1, 5)[i % 3])),
    "sliders and the number of the trial": table(
        with_columns(by_annotator(SLIDERS, ("humanlike",)), Trial=lambda i: i // 3 % 12 + 1), SLIDERS
    ),
    # how answers are spelt
    "half points and a worded N/A": table(
        [*by_annotator(draw(**HALVES)), ["d90", "beta-bot", "ann", "", "not applicable"]], draw(**HALVES)
    ),
    "keine Angabe": table([*by_annotator(GAPS), ["d03", "beta-bot", "ben", "k.A.", "k.A."]], GAPS),
    "agreement in words": spelt(lambda v: AGREE[v - 1]),
    "a number with its meaning": spelt(lambda v: f"{v} - {AGREE[v - 1]}"),
    "a meaning with its number": spelt(lambda v: f"{AGREE[v - 1]} ({v})"),
    "out of five": spelt(lambda v: f"{v}/5"),
    "filled stars": spelt(lambda v: "★" * v + "☆" * (5 - v)),
    "percent": spelt(lambda v: f"{v}%"),
    "fail and pass": spelt(lambda v: ("fail", "pass")[v], **TWO),
    "sliders": spelt(str, values=range(101), n=30),
    "from -2 to 2": spelt(str, values=(-2, -1, 0, 1, 2)),
    # forms and platforms
    "id and system in one cell": table(
        [["Chat", "annotator", *LABELS], *([f"{r[0]} ({r[1]})", *r[2:]] for r in ROWS[1:])]
    ),
    "grids of Google Forms": table([[*ROWS[0][:3], *(f"Rate the chat [{i}]" for i in LABELS)], *ROWS[1:]]),
    # a column for each person or system, or a row for each judgement
    "a grid with names": grid("{label} {annotator}", people=("Björn", "Zoë", "Eve")),
    "a grid with people and models": grid(**MODELS),
    "one column per annotator": grid("rater_{annotator}", labels=("score",), people=("1", "2", "3")),
    "columns of people and of a model": grid("{annotator}", labels=("score",), people=("Human 1", "Human 2", "gpt-4")),
    "columns of one person each among others": persons_beside_comments(),
    "one column per dialogue and label": table(
        [
            ["annotator", *(f"{d}_{label}" for d, _, a, label, _ in TRUTH if a == "ann")],
            *([who, *(x for _, _, a, _, x in TRUTH if a == who)] for who in PEOPLE),
        ],
        systems=False,
    ),
    "long, words for no answer": table(
        [*long(), ["d00", "alpha-bot", "zed", "fluency", "N/A"], ["d00", "alpha-bot", "zed", "relevance", "skip"]]
    ),
    "long, unknown annotators": table([[*r[:2], *r[3:]] for r in long()], known=False),
    # workbooks and Parquet
    "a workbook of two sheets": Case("f.xlsx", {"Notes": [["about"], ["this"]], "Ratings": sheet(ROWS), "No": []}),
    "a workbook with a title": Case("f.xlsx", {"S": [["Ratings of May"], [None], *sheet(ROWS)]}),
    "Parquet with numbers and gaps": Case("f.parquet", numbers(by_annotator(GAPS)), GAPS),
    "Parquet with lists and objects": Case("f.parquet", pd.DataFrame(nested())),
    # JSON
    "JSON Lines, packed, nested": Case("f.jsonl.gz", gzip.compress(lines(nested()).encode())),
    "JSON Lines called .json": as_json(lines(flat())),
    "JSON Lines called .csv": Case("f.csv", lines(flat()), refused="JSON"),
    "JSON with numbers as text": as_json([{k: str(v) for k, v in r.items()} for r in flat()]),
    "JSON with null and NaN": as_json([*flat(), NOTHING], TRUTH),
    "JSON below a key": as_json({"version": 2, "data": nested()}),
    "JSON, records without some labels": as_json(
        nested([t for t in TRUTH if (t[0], t[3]) != ("d05", "relevance")]),
        [t for t in TRUTH if (t[0], t[3]) != ("d05", "relevance")],
    ),
    "JSON, annotator above dialogue above label": as_json(below_keys(2, 0, 3, truth=NUMBERED), systems=False),
    "JSON, annotators by name below dialogues": as_json(below_keys(0, 2, 3), systems=False),
    "JSON, lists of scores": as_json(lists_of_scores(), known=False),
    "JSON, label beside score": as_json(labels_beside_scores()),
    "JSON in the cells of a table": Case("f.csv", text(in_cells(), ";")),
    "JSON in the cells, one of them cut short": table(in_cells(cut=5), refused="say how they are called"),
    "JSON of 100,000 lists in each other": as_json("[" * 100_000 + "]" * 100_000, refused="at most 100 deep"),
    "JSON whose records share no key": as_json(
        [{f"k{i}": 1} for i in range(20_000)], refused="records with the same keys, found 20,000 different keys"
    ),
    "JSON Lines with a broken line": Case(
        "f.jsonl", lines(flat()[:4]) + '{"dialogue_id": "d\n' + lines(flat()[4:]), refused="line 5"
    ),
    "JSON without judgements": as_json(
        [{"text": f"it is number {i} of many", "at": "2024-01-01"} for i in range(9)], refused="look like judgements"
    ),
}


def signatures(rows, key):
    out = defaultdict(list)
    for row in rows:
        out[row[key]].append((row[3], float(row[4])))
    return Counter(tuple(sorted(scores)) for scores in out.values())


@pytest.mark.parametrize("name", CASES)
def test_read_right_or_refused(tmp_path, name):
    case = CASES[name]
    path = case.save(tmp_path)
    if case.refused:
        with pytest.raises((DataError, ParamsError), match=re.escape(case.refused)):
            studies.read(tmp_path, case.yaml or draft.new_yaml("odd", path))
        return
    truth = TRUTH if case.truth is None else case.truth
    marks = studies.judgements(tmp_path, case.yaml or draft.new_yaml("odd", path))
    rows = list(marks[["dialogue", "system", "annotator", "label", "score"]].itertuples(index=False, name=None))
    assert signatures(rows, 0) == signatures(truth, 0), "dialogues"
    if case.systems:
        assert set(marks["system"]) == {t[1] for t in truth}
        assert signatures(rows, 1) == signatures(truth, 1), "systems"
    if case.known:
        assert signatures(rows, 2) == signatures(truth, 2), "annotators"
    models = {t[2] for t in truth if "gpt" in t[2] or "llama" in t[2]}
    assert set(marks.loc[marks["annotator_kind"] == "llm", "annotator"]) == models
    assert marks.loc[marks["annotator_kind"] == "human", "annotator_known"].all() == case.known
