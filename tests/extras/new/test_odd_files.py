"""Files as people have them, in many formats with many oddities: each is read right, or refused with the reason.

Judgements are drawn, written in some odd way, and read through a YAML that `new` makes (or, where the shape has to be
said, one given here). What was read is compared with what was written: by dialogue, by annotator, by system, by label.
"""

import csv
import gzip
import io
import json
import random
import re
import zipfile
from collections import Counter, defaultdict

import pandas as pd
import pytest
from fixtures import workbook
from fixtures import yaml_studies as studies

from judgebook.extras.new import draft
from judgebook.sources import build
from judgebook.study import params
from judgebook.study.params import ParamsError
from judgebook.study.schema import DataError

LABELS = ("fluency", "relevance")
PEOPLE = ("ann", "ben", "eve")
CASES = {}


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


def case(name, truth=TRUTH, *, yaml=None, refused=None, known=True, systems=True, package=None):
    """Register a case: a function that writes a file and returns its path.

    refused : a file that cannot be read right; words that the answer must hold. known : whether annotators are.
    """

    def register(write):
        assert name not in CASES
        CASES[name] = (write, truth, yaml, refused, known, systems, package)
        return write

    return register


def text(rows, delimiter=",", end="\n"):
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator=end).writerows(rows)
    return out.getvalue()


def save(folder, name, content, encoding="utf-8"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return path


def by_annotator(truth=TRUTH, labels=LABELS, head=("dialogue_id", "system", "annotator"), spell=str):
    """One row per dialogue and annotator, one column per label."""
    rows = {(d, s, a): {} for d, s, a, _, _ in truth}
    for d, s, a, label, score in truth:
        rows[d, s, a][label] = spell(score)
    return [[*head, *labels], *([*key, *(scores.get(i, "") for i in labels)] for key, scores in rows.items())]


def by_dialogue(truth=TRUTH, name="{label}_{annotator}", spell=str):
    """One row per dialogue, one column per label and annotator."""
    columns = list(dict.fromkeys((label, a) for _, _, a, label, _ in truth))
    rows = {(d, s): {} for d, s, *_ in truth}
    for d, s, a, label, score in truth:
        rows[d, s][label, a] = spell(score)
    head = ["dialogue_id", "system", *(name.format(label=label, annotator=a) for label, a in columns)]
    return [head, *([*key, *(scores.get(c, "") for c in columns)] for key, scores in rows.items())]


def long(truth=TRUTH, head=("dialogue_id", "system", "annotator", "label", "score")):
    return [list(head), *([*row[:4], str(row[4])] for row in truth)]


def with_column(rows, name, value, at=None):
    """The rows with a column more; value : a function of the number of the row."""
    at = len(rows[0]) if at is None else at
    return [[*r[:at], name if i == 0 else str(value(i - 1)), *r[at:]] for i, r in enumerate(rows)]


def signatures(rows, key):
    """The scores that share a key, whatever the key is called."""
    out = defaultdict(list)
    for row in rows:
        out[row[key]].append((row[3], float(row[4])))
    return Counter(tuple(sorted(scores)) for scores in out.values())


# tables: one row per annotator -----------------------------------------------------------------------------------


@case("csv")
def _(folder):
    return save(folder, "f.csv", text(by_annotator()))


@case("csv with a byte order mark and CRLF")
def _(folder):
    return save(folder, "f.csv", text(by_annotator(), end="\r\n"), "utf-8-sig")


@case("semicolons")
def _(folder):
    return save(folder, "f.csv", text(by_annotator(), ";"))


@case("tabs in a .csv")
def _(folder):
    return save(folder, "f.csv", text(by_annotator(), "\t"))


@case("bars in a .txt")
def _(folder):
    return save(folder, "f.txt", text(by_annotator(), "|"))


@case("tsv, packed")
def _(folder):
    return save(folder, "f.tsv.gz", gzip.compress(text(by_annotator(), "\t").encode()))


@case("UTF-16, as Excel's Unicode Text")
def _(folder):
    return save(folder, "f.txt", text(by_annotator(), "\t"), "utf-16")


@case("UTF-16 with commas")
def _(folder):
    return save(folder, "f.csv", text(by_annotator()), "utf-16")


@case("UTF-16 without a mark", refused="encoding")
def _(folder):
    return save(folder, "f.csv", text(by_annotator()), "utf-16-le")


@case("Windows letters", draw(people=("Björn", "Zoë", "Eve")))
def _(folder):
    return save(folder, "f.csv", text(by_annotator(draw(people=("Björn", "Zoë", "Eve")))), "cp1252")


@case("packed, but no gzip file", refused="gzip")
def _(folder):
    return save(folder, "f.csv.gz", b"dialogue,annotator")


@case("an empty file", refused="empty")
def _(folder):
    return save(folder, "f.csv", "")


@case("a header only", refused="rows of data")
def _(folder):
    return save(folder, "f.csv", text(by_annotator()[:1]))


@case("an open quote", refused="quote")
def _(folder):
    rows = text(by_annotator()).splitlines()
    return save(folder, "f.csv", "\n".join([*rows[:5], rows[5].replace("d", '"d', 1), *rows[6:]]))


@case("empty lines at the end and between")
def _(folder):
    lines = text(by_annotator()).splitlines()
    return save(folder, "f.csv", "\n".join([*lines[:9], "", *lines[9:], "", "", ""]))


@case("an empty line between groups of rows")
def _(folder):
    lines = text(by_annotator()).splitlines()
    return save(folder, "f.csv", "\n".join([*lines[:13], "", *lines[13:25], "", *lines[25:]]))


@case("a title above the header")
def _(folder):
    return save(folder, "f.csv", "Export of 3 May,,,,\n" + text(by_annotator()))


@case("no header", refused="`labels:` say how they are called")
def _(folder):
    return save(folder, "f.csv", text(by_annotator()[1:]))


@case("a delimiter after every row")
def _(folder):
    return save(folder, "f.csv", text([[*row, ""] for row in by_annotator()]))


@case("two columns of one name", refused="given once")
def _(folder):
    rows = by_annotator()
    return save(folder, "f.csv", text([[*row, row[3]] for row in rows]))


@case("a row too short", refused="cells")
def _(folder):
    rows = by_annotator()
    return save(folder, "f.csv", text([*rows[:7], rows[7][:-1], *rows[8:]]))


@case("a row too long", refused="cells")
def _(folder):
    rows = by_annotator()
    return save(folder, "f.csv", text([*rows[:7], [*rows[7], "2"], *rows[8:]]))


@case("an unquoted comma in a text", refused="cells")
def _(folder):
    rows = [[*row, "Well, yes" if i == 4 else "reply of it"] for i, row in enumerate(by_annotator())]
    return save(folder, "f.csv", "\n".join(",".join(row) for row in rows))


@case("texts with line breaks, quotes and emoji")
def _(folder):
    return save(
        folder, "f.csv", text(with_column(by_annotator(), "comment", lambda i: f'so "so",\n🙂 it is {i} I said'))
    )


@case("an index as pandas writes it")
def _(folder):
    return save(folder, "f.csv", text(with_column(by_annotator(), "", lambda i: i, at=0)))


@case("a duration, a counter, a constant and a date")
def _(folder):
    rows = with_column(by_annotator(), "lead_time", lambda i: 3 + i % 9)
    rows = with_column(rows, "progress", lambda i: 1 + i % 5)
    rows = with_column(rows, "batch", lambda i: 4)
    return save(folder, "f.csv", text(with_column(rows, "created_at", lambda i: f"2024-05-{1 + i % 9:02d} 10:00:00")))


@case("ids of a few numbers")
def _(folder):
    return save(folder, "f.csv", text(with_column(by_annotator(), "prompt_id", lambda i: 1 + i // 3 % 5)))


@case("numbers that belong to the dialogue")
def _(folder):
    return save(folder, "f.csv", text(with_column(by_annotator(), "prompt", lambda i: 1 + i // 3 % 5)))


@case("numbers that belong to the annotator")
def _(folder):
    return save(folder, "f.csv", text(with_column(by_annotator(), "experience", lambda i: (3, 1, 5)[i % 3])))


@case("half points and a worded N/A", draw(values=(1, 1.5, 2, 3.5, 5)))
def _(folder):
    rows = by_annotator(draw(values=(1, 1.5, 2, 3.5, 5)))
    # one more row without a score of relevance
    return save(folder, "f.csv", text([*rows, ["d90", "beta-bot", "ann", "", "not applicable"]]))


@case("decimal commas", draw(values=(1, 1.5, 2, 3.5, 5)))
def _(folder):
    spell = lambda v: f"{v:g}".replace(".", ",")  # noqa: E731
    return save(folder, "f.csv", text(by_annotator(draw(values=(1, 1.5, 2, 3.5, 5)), spell=spell), ";"))


@case("keine Angabe", [t for t in TRUTH if t[:3] != ("d03", "beta-bot", "ben")])
def _(folder):
    rows = by_annotator()
    return save(
        folder, "f.csv", text([[*r[:3], "k.A.", "k.A."] if r[0] == "d03" and r[2] == "ben" else r for r in rows])
    )


@case("yes and no", draw(values=(0, 1), n=30))
def _(folder):
    rows = by_annotator(draw(values=(0, 1), n=30), spell=lambda v: ("No", "Yes")[v])
    return save(folder, "f.csv", text(rows))


@case("true and false", draw(values=(0, 1), n=30))
def _(folder):
    return save(folder, "f.csv", text(by_annotator(draw(values=(0, 1), n=30), spell=lambda v: ("FALSE", "TRUE")[v])))


AGREE = ("Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree")


@case("agreement in words")
def _(folder):
    return save(folder, "f.csv", text(by_annotator(spell=lambda v: AGREE[v - 1])))


@case("a number with its meaning")
def _(folder):
    return save(folder, "f.csv", text(by_annotator(spell=lambda v: f"{v} - {AGREE[v - 1]}")))


@case("out of five")
def _(folder):
    return save(folder, "f.csv", text(by_annotator(spell=lambda v: f"{v}/5")))


@case("stars")
def _(folder):
    return save(folder, "f.csv", text(by_annotator(spell=lambda v: "★" * v)))


@case("sliders", draw(values=range(101), n=30))
def _(folder):
    return save(folder, "f.csv", text(by_annotator(draw(values=range(101), n=30))))


@case("from -2 to 2", draw(values=(-2, -1, 0, 1, 2)))
def _(folder):
    return save(folder, "f.csv", text(by_annotator(draw(values=(-2, -1, 0, 1, 2)))))


@case("the same judgement twice", refused="one judgement per annotator")
def _(folder):
    rows = by_annotator()
    return save(folder, "f.csv", text([*rows, rows[3]]))


@case("id and system in one cell")
def _(folder):
    rows = [["Chat", "annotator", *LABELS]] + [[f"{r[0]} ({r[1]})", *r[2:]] for r in by_annotator()[1:]]
    return save(folder, "f.csv", text(rows))


@case("grids of Google Forms")
def _(folder):
    rows = by_annotator()
    return save(folder, "f.csv", text([[*rows[0][:3], *(f"Rate the chat [{i}]" for i in LABELS)], *rows[1:]]))


@case("Qualtrics' three header rows")
def _(folder):
    rows = by_annotator(head=("dialogue_id", "system", "ResponseId"))
    more = [["Dialogue", "System", "Response ID", "How fluent?", "How relevant?"]]
    more += [[json.dumps({"ImportId": f"Q{i}"}) for i in range(5)]]
    return save(folder, "f.csv", text([rows[0], *more, *rows[1:]]))


@case("MTurk, with rejected work and rows too short")
def _(folder):
    head = ["HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "WorkTimeInSeconds", "Input.system"]
    rows = [[r[0], f"a{i}", r[2], "Approved", str(60 + i % 7), r[1], *r[3:]] for i, r in enumerate(by_annotator()[1:])]
    rows.append(["d01", "a99", "spammer", "Rejected", "3", "beta-bot", "1", "1"])
    return save(folder, "f.csv", text([[*head, *(f"Answer.{i}" for i in LABELS), "Approve", "Reject"], *rows]))


# tables: one row per dialogue, or per judgement ------------------------------------------------------------------


@case("a grid with numbers", draw(people=("a1", "a2", "a3")))
def _(folder):
    return save(folder, "f.csv", text(by_dialogue(draw(people=("a1", "a2", "a3")))))


@case("a grid with people first", draw(people=("r1", "r2", "r3")))
def _(folder):
    return save(folder, "f.csv", text(by_dialogue(draw(people=("r1", "r2", "r3")), "{annotator}: {label}")))


@case("a grid with names", draw(people=("Björn", "Zoë", "Eve")))
def _(folder):
    return save(folder, "f.csv", text(by_dialogue(draw(people=("Björn", "Zoë", "Eve")), "{label} {annotator}")))


WITH_MODELS = draw(people=("a1", "a2", "gpt-4o", "llama-3"))


@case("a grid with people and models", WITH_MODELS)
def _(folder):
    return save(folder, "f.csv", text(by_dialogue(WITH_MODELS)))


@case("people and models in rows", WITH_MODELS)
def _(folder):
    return save(folder, "f.csv", text(by_annotator(WITH_MODELS)))


@case("a grid with gaps", [t for t in TRUTH if t[:3] != ("d03", "beta-bot", "ben")])
def _(folder):
    return save(folder, "f.csv", text(by_dialogue([t for t in TRUTH if t[:3] != ("d03", "beta-bot", "ben")])))


@case("one column per annotator", draw(labels=("score",), people=("1", "2", "3")))
def _(folder):
    return save(
        folder, "f.csv", text(by_dialogue(draw(labels=("score",), people=("1", "2", "3")), "rater_{annotator}"))
    )


@case("long")
def _(folder):
    return save(folder, "f.csv", text(long()))


@case("long, other names")
def _(folder):
    return save(folder, "f.tsv", text(long(head=("chat", "model", "worker_id", "criterion", "rating")), "\t"))


@case("long, words for no answer")
def _(folder):
    rows = [*long(), ["d00", "alpha-bot", "zed", "fluency", "N/A"], ["d00", "alpha-bot", "zed", "relevance", "skip"]]
    return save(folder, "f.csv", text(rows))


@case("long, unknown annotators", known=False)
def _(folder):
    return save(folder, "f.csv", text([[r[0], r[1], *r[3:]] for r in long()]))


# workbooks and Parquet -------------------------------------------------------------------------------------------


def cells(rows):
    return [[int(c) if c.lstrip("-").isdecimal() else c or None for c in row] for row in rows]


@case("a workbook", package="python_calamine")
def _(folder):
    return workbook.write(folder / "f.xlsx", {"Sheet1": cells(by_annotator()), "Sheet2": []})


@case("a workbook of two sheets", package="python_calamine")
def _(folder):
    return workbook.write(folder / "f.xlsx", {"Notes": [["about"], ["this"]], "Ratings": cells(by_annotator())})


@case("a workbook with a title", package="python_calamine")
def _(folder):
    return workbook.write(folder / "f.xlsx", {"S": [["Ratings of May"], [None], *cells(by_annotator())]})


@case("no workbook", refused="workbook", package="python_calamine")
def _(folder):
    return save(folder, "f.xlsx", b"PK\x03\x04 not one")


@case("Parquet with numbers and gaps", [t for t in TRUTH if t[:3] != ("d03", "beta-bot", "ben")])
def _(folder):
    rows = by_annotator([t for t in TRUTH if t[:3] != ("d03", "beta-bot", "ben")])
    frame = pd.DataFrame(rows[1:], columns=rows[0])
    frame[list(LABELS)] = frame[list(LABELS)].apply(pd.to_numeric)
    frame.to_parquet(folder / "f.parquet")
    return folder / "f.parquet"


# JSON ------------------------------------------------------------------------------------------------------------


def flat(truth=TRUTH):
    rows = by_annotator(truth)
    return [dict(zip(rows[0], [*r[:3], *map(int, r[3:])], strict=True)) for r in rows[1:]]


def nested(truth=TRUTH):
    """A dialogue with a list of annotations, each with an object of scores."""
    out = {}
    for d, s, a, label, score in truth:
        record = out.setdefault(d, {"dialogue_id": d, "system": s, "annotations": {}})
        record["annotations"].setdefault(a, {"annotator": a, "ratings": {}})["ratings"][label] = score
    return [{**r, "annotations": list(r["annotations"].values())} for r in out.values()]


@case("JSON, a list of rows")
def _(folder):
    return save(folder, "f.json", json.dumps(flat()))


@case("JSON Lines")
def _(folder):
    return save(folder, "f.jsonl", "\n".join(map(json.dumps, flat())) + "\n")


@case("JSON Lines, packed, nested")
def _(folder):
    return save(folder, "f.jsonl.gz", gzip.compress("\n".join(map(json.dumps, nested())).encode()))


@case("JSON Lines called .json")
def _(folder):
    return save(folder, "f.json", "\n".join(map(json.dumps, flat())))


@case("JSON with numbers as text")
def _(folder):
    return save(folder, "f.json", json.dumps([{k: str(v) for k, v in r.items()} for r in flat()], indent=1))


@case("JSON with null and NaN", [t for t in TRUTH if t[:3] != ("d03", "beta-bot", "ben")])
def _(folder):
    records = flat()
    for r in records:
        if (r["dialogue_id"], r["annotator"]) == ("d03", "ben"):
            r |= {"fluency": None, "relevance": float("nan")}
    return save(folder, "f.json", json.dumps(records))


@case("JSON of 100,000 lists in each other", refused="at most 100 deep")
def _(folder):
    return save(folder, "f.json", "[" * 100_000 + "]" * 100_000)


@case("JSON whose records share no key", refused="records with the same keys, found 20,000 different keys")
def _(folder):
    return save(folder, "f.json", json.dumps([{f"k{i}": 1} for i in range(20_000)]))


@case("JSON in UTF-16")
def _(folder):
    return save(folder, "f.json", json.dumps(nested()), "utf-16")


@case("JSON, nested")
def _(folder):
    return save(folder, "f.json", json.dumps(nested()))


@case("JSON below a key")
def _(folder):
    return save(folder, "f.json", json.dumps({"version": 2, "data": nested()}))


@case("JSON, records without some labels", [t for t in TRUTH if (t[0], t[3]) != ("d05", "relevance")])
def _(folder):
    truth = [t for t in TRUTH if (t[0], t[3]) != ("d05", "relevance")]
    return save(folder, "f.json", json.dumps(nested(truth)))


@case("JSON, annotator above dialogue above label", draw(n=20), systems=False)
def _(folder):
    out = defaultdict(lambda: defaultdict(dict))
    for d, _, a, label, score in draw(n=20):
        out[{"ann": "annotator_1", "ben": "annotator_2", "eve": "annotator_3"}[a]][d][label] = score
    return save(folder, "f.json", json.dumps(out))


@case("JSON, annotator above dialogue", draw(n=20, labels=("score",)), systems=False)
def _(folder):
    out = defaultdict(dict)
    for d, _, a, _, score in draw(n=20, labels=("score",)):
        out[a][d] = score
    return save(folder, "f.json", json.dumps(out))


@case("JSON, lists of scores", known=False)
def _(folder):
    out = {}
    for d, s, _, label, score in TRUTH:
        out.setdefault(d, {"id": d, "model": s, "fluency": [], "relevance": []})[label].append(score)
    return save(folder, "f.json", json.dumps(list(out.values())))


@case("JSON, label beside score")
def _(folder):
    out = {}
    for d, s, a, label, score in TRUTH:
        out.setdefault(d, {"id": d, "model": s, "results": []})["results"].append(
            {"worker": a, "criterion": label, "value": score}
        )
    return save(folder, "f.json", json.dumps(list(out.values())))


@case("JSON, responses of several systems with lists of scores", known=False)
def _(folder):
    """As USR: a context, and what each system said to it."""
    systems = ("alpha-bot", "beta-bot")
    out = [{"context": f"number {i} it is", "responses": []} for i in range(7)]
    for k, (d, s) in enumerate({t[:2]: None for t in TRUTH}):
        scores = {label: [t[4] for t in TRUTH if t[0] == d and t[3] == label] for label in LABELS}
        assert s == systems[k % 2]
        out[k // 2]["responses"].append({"model": s, "response": f"reply {k} of it", **scores})
    return save(folder, "f.json", json.dumps(out))


@case("JSON, an object for each label", draw(people=("one",)), known=False)
def _(folder):
    """As UltraFeedback: completions with an object of score and reason for each label."""
    out = {}
    for d, s, _, label, score in draw(people=("one",)):
        record = out.setdefault(d, {"id": d, "completions": [{"model": s, "annotations": {}}]})
        reason = f"because it is {score} to me"
        record["completions"][0]["annotations"][label] = {"Rating": str(score), "Rationale": reason}
    return save(folder, "f.jsonl", "\n".join(map(json.dumps, out.values())))


@case("JSON, results of an annotation tool")
def _(folder):
    """As Label Studio: tasks, their annotations, their results; seconds and flags that are no scores."""
    out = {}
    for d, s, a, label, score in TRUTH:
        task = out.setdefault(d, {"id": d, "data": {"model": s}, "annotations": {}})
        more = {"completed_by": a, "lead_time": 10 + score / 8, "ground_truth": score == 3, "result": []}
        result = {"from_name": label, "to_name": "text", "type": "rating", "value": {"rating": score}}
        task["annotations"].setdefault(a, more)["result"].append(result)
    return save(
        folder, "f.json", json.dumps([{**t, "annotations": list(t["annotations"].values())} for t in out.values()])
    )


def by_keys(*order):
    """Objects in objects: the keys of each level are column `order` of the judgements, the last one's values scores."""
    out = {}
    for row in TRUTH:
        at = out
        for i in order[:-1]:
            at = at.setdefault(row[i], {})
        at[row[order[-1]]] = row[4]
    return json.dumps(out)


@case("questions of a form")
def _(folder):
    """Conversations by a number, bots by name; the last question is answered by a name, too, and is none of ours."""
    rows = by_annotator(
        head=("Which conversation did you rate?", "Please select the chatbot", "Participant"),
    )
    rows = [[f"Conversation {int(r[0][1:])}", *r[1:]] if i else r for i, r in enumerate(rows)]
    return save(folder, "f.csv", text(with_column(rows, "Which bot do you like more?", lambda i: "kb"[i % 2])))


@case("JSON, annotators by name below dialogues", systems=False)
def _(folder):
    return save(folder, "f.json", by_keys(0, 2, 3))


@case("JSON, dialogues below annotators by name", systems=False)
def _(folder):
    return save(folder, "f.json", by_keys(2, 0, 3))


@case("JSON in the cells of a table")
def _(folder):
    rows = by_annotator()
    cells = [[*r[:3], json.dumps(dict(zip(LABELS, r[3:], strict=True)))] for r in rows[1:]]
    return save(folder, "f.csv", text([[*rows[0][:3], "response"], *cells], ";"))


@case("JSON in the cells of a table, one of them cut short", refused="say how they are called")
def _(folder):
    rows = by_annotator()
    cells = [[*r[:3], json.dumps(dict(zip(LABELS, r[3:], strict=True)))] for r in rows[1:]]
    cells[5][3] = cells[5][3][:-1]
    return save(folder, "f.csv", text([[*rows[0][:3], "response"], *cells]))


@case("Parquet with lists and objects")
def _(folder):
    pd.DataFrame(nested()).to_parquet(folder / "f.parquet")
    return folder / "f.parquet"


@case("one column per dialogue and label", systems=False)
def _(folder):
    """Annotators in rows."""
    columns = list(dict.fromkeys((t[0], t[3]) for t in TRUTH))
    cells = {(t[2], t[0], t[3]): str(t[4]) for t in TRUTH}
    rows = [["annotator", *(f"{d}_{label}" for d, label in columns)]]
    return save(folder, "f.csv", text([*rows, *([a, *(cells[a, *c] for c in columns)] for a in PEOPLE)]))


MIXED = draw(labels=("score",), people=("student_1", "student_2", "expert_1"))


@case("columns of one person each", MIXED)
def _(folder):
    return save(folder, "f.csv", text(by_dialogue(MIXED, "{annotator}")))


@case("columns of one person each, by letters, with others", draw(labels=("score",), people=("A", "B", "K")))
def _(folder):
    """Only the persons follow the pattern."""
    rows = by_dialogue(draw(labels=("score",), people=("A", "B", "K")), "Rater {annotator}")
    return save(folder, "f.csv", text([[*rows[0], "comment"], *([*r, "fine"] for r in rows[1:])]))


JUDGED = draw(labels=("score",), people=("Human 1", "Human 2", "gpt-4"))


@case("columns of people and of a model that judged", JUDGED)
def _(folder):
    return save(folder, "f.csv", text(by_dialogue(JUDGED, "{annotator}")))


SLIDERS = draw(labels=("humanlike",), values=range(101))


@case("sliders and the number of the trial", SLIDERS)
def _(folder):
    rows = by_annotator(SLIDERS, ("humanlike",))
    return save(folder, "f.csv", text(with_column(rows, "Trial", lambda i: i // 3 % 12 + 1)))


SIDE_BY_SIDE = [
    (f"{prompt}_{system}", system, who, label, 6 - score if system == "llama-3" else score)
    for prompt, _, who, label, score in draw(labels=("score",))
    for system in ("mistral-7b", "llama-3")
]


@case("columns of one system each", SIDE_BY_SIDE)
def _(folder):
    """A row for each prompt and annotator."""
    rows = [[d, who, score, 6 - score] for d, _, who, _, score in draw(labels=("score",))]
    return save(folder, "f.csv", text([["prompt", "worker", "mistral-7b", "llama-3"], *rows]))


@case("columns of one person each among others", MIXED)
def _(folder):
    """No pattern tells them from the comments, which are left out by name."""
    rows = by_dialogue(MIXED, "{annotator}")
    return save(folder, "f.csv", text([[*rows[0], "comment"], *([*r, "fine"] for r in rows[1:])]))


@case("JSON with a key twice", refused="a key given once in an object")
def _(folder):
    content = json.dumps(flat()).replace('"fluency"', '"relevance"', 1)
    return save(folder, "f.json", content)


@case("a zip archive", refused="unpack it")
def _(folder):
    path = folder / "f.csv"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("inner.csv", text(by_annotator()))
    return path


@case("JSON, truncated", refused="JSON")
def _(folder):
    return save(folder, "f.json", json.dumps(nested())[:-40])


@case("JSON Lines with a broken line", refused="line 5")
def _(folder):
    lines = list(map(json.dumps, flat()))
    return save(folder, "f.jsonl", "\n".join([*lines[:4], lines[4][:-9], *lines[5:]]))


@case("JSON without judgements", refused="look like judgements")
def _(folder):
    return save(
        folder, "f.json", json.dumps([{"text": f"it is number {i} of many", "at": "2024-01-01"} for i in range(9)])
    )


@case("JSON Lines called .csv", refused="JSON")
def _(folder):
    return save(folder, "f.csv", "\n".join(map(json.dumps, flat())))


@case("dialogues divided by empty lines", refused="dialogue,turn,system,annotator,label,score")
def _(folder):
    lines = [f"{who}\tit is {i} then\t{i % 5}" for i in range(24) for who in ("USER", "SYSTEM")]
    return save(folder, "f.txt", "\n".join(line + ("\n" if i % 6 == 5 else "") for i, line in enumerate(lines)))


# shapes that a YAML has to say -----------------------------------------------------------------------------------

GIVEN = """\
title: Given
sources:
  - adapter: records
    {source}
labels:
  fluency: {{scale: [1, 5]}}
  relevance: {{scale: [1, 5]}}
"""


def given(*lines):
    return GIVEN.format(source="\n    ".join(lines))


def people_in_files(folder, suffix="csv"):
    for who in PEOPLE:
        rows = [[r[0], r[1], *r[3:]] for r in by_annotator([t for t in TRUTH if t[2] == who])]
        save(folder, f"by_{who}.{suffix}", text(rows))
    return folder / "by_ann.csv"


@case(
    "one file per annotator",
    yaml=given('file: "by_{annotator}.csv"', 'scores: "{label}"', "columns: {dialogue: dialogue_id, system: system}"),
)
def _(folder):
    return people_in_files(folder)


@case(
    "systems in another file",
    yaml=given(
        "file: f.csv", 'scores: "{label}"',
        "columns: {dialogue: dialogue_id, annotator: annotator, system: items.model}",
        "join: [{file: items.jsonl, name: items, by: dialogue_id, key: item}]",
    ),
)  # fmt: skip
def _(folder):
    systems = {d: s for d, s, *_ in TRUTH}
    save(folder, "items.jsonl", "\n".join(json.dumps({"item": d, "model": s}) for d, s in systems.items()))
    return save(folder, "f.csv", text([[r[0], *r[2:]] for r in by_annotator()]))


@case(
    "a joined file with a key twice",
    refused="a key given once",
    yaml=given(
        "file: f.csv", 'scores: "{label}"',
        "columns: {dialogue: dialogue_id, annotator: annotator, system: items.model}",
        "join: [{file: items.jsonl, name: items, by: dialogue_id, key: item}]",
    ),
)  # fmt: skip
def _(folder):
    save(folder, "items.jsonl", "\n".join(json.dumps({"item": d, "model": s}) for d, s, *_ in TRUTH))
    return save(folder, "f.csv", text([[r[0], *r[2:]] for r in by_annotator()]))


@case(
    "two header rows",
    yaml=given("file: f.csv", "header: 2", 'scores: "{label}_{annotator}"', "columns: {dialogue: id, system: system}"),
)
def _(folder):
    rows = by_dialogue()
    named = [c.split("_") for c in sorted(rows[0][2:])]
    order = [0, 1, *(rows[0].index("_".join(n)) for n in named)]
    # as merged cells are saved: the label stands above the first of its columns
    first = [label if i == 0 or label != named[i - 1][0] else "" for i, (label, _) in enumerate(named)]
    heads = [["id", "system", *first], ["", "", *(who for _, who in named)]]
    return save(folder, "f.csv", text([*heads, *([row[i] for i in order] for row in rows[1:])]))


@case(
    "no header, and names in the YAML",
    yaml=given(
        "file: f.csv", "header: none", "column_names: [id, system, who, fluency, relevance]", 'scores: "{label}"',
        "columns: {dialogue: id, system: system, annotator: who}",
    ),
)  # fmt: skip
def _(folder):
    return save(folder, "f.csv", text(by_annotator()[1:]))


@case(
    "rows that are too short, filled",
    [t for t in TRUTH if t[:4] != ("d02", "alpha-bot", "ann", "relevance")],
    yaml=given(
        "file: f.csv", "short_rows: fill", 'scores: "{label}"',
        "columns: {dialogue: dialogue_id, system: system, annotator: annotator}",
    ),
)  # fmt: skip
def _(folder):
    rows = by_annotator()
    return save(folder, "f.csv", text([row[:-1] if (row[0], row[2]) == ("d02", "ann") else row for row in rows]))


@case(
    "a list in a cell",
    known=False,
    yaml=given("file: f.csv", 'scores: "{label}:split(;).[annotator]"', "columns: {dialogue: id, system: system}"),
)
def _(folder):
    out = {}
    for d, s, _, label, score in TRUTH:
        out.setdefault((d, s), {i: [] for i in LABELS})[label].append(str(score))
    return save(
        folder,
        "f.csv",
        text([["id", "system", *LABELS], *([*k, *("; ".join(v[i]) for i in LABELS)] for k, v in out.items())]),
    )


@case(
    "JSON in a cell",
    yaml=given(
        "file: f.csv", 'scores: "annotation:json.{annotator}.{label}"', "columns: {dialogue: id, system: system}"
    ),
)
def _(folder):
    out = defaultdict(lambda: defaultdict(dict))
    for d, s, a, label, score in TRUTH:
        out[d, s][a][label] = score
    return save(folder, "f.csv", text([["id", "system", "annotation"], *([*k, json.dumps(v)] for k, v in out.items())]))


@case(
    "JSON in a cell, broken once",
    refused="JSON",
    yaml=given(
        "file: f.csv", 'scores: "annotation:json.{annotator}.{label}"', "columns: {dialogue: id, system: system}"
    ),
)
def _(folder):
    rows = [["d0", "A", '{"ann": {"fluency": 3}}'], ["d1", "A", '{"ann": {"fluency": 3}']]
    return save(folder, "f.csv", text([["id", "system", "annotation"], *rows]))


@case(
    "scores turned round",
    yaml=given(
        "file: f.csv", 'scores: "{label}"', "columns: {dialogue: dialogue_id, system: system, annotator: annotator}",
        "reversed: [relevance]",
    ),
)  # fmt: skip
def _(folder):
    turned = [(*t[:4], 6 - t[4] if t[3] == "relevance" else t[4]) for t in TRUTH]
    return save(folder, "f.csv", text(by_annotator(turned)))


@case(
    "a misspelt path",
    refused="did you mean 'annotator'",
    yaml=given("file: f.csv", 'scores: "{label}"', "columns: {dialogue: dialogue_id, annotator: anotator}"),
)
def _(folder):
    return save(folder, "f.csv", text(by_annotator()))


@case(
    "a scale that is not that of the file",
    refused="whole number from 1 to 5",
    yaml=given(
        "file: f.csv", 'scores: "{label}"', "columns: {dialogue: dialogue_id, system: system, annotator: annotator}"
    ),
)
def _(folder):
    return save(folder, "f.csv", text(by_annotator(draw(values=range(1, 8)))))


def read(folder, path, yaml):
    return build.build(params.load(studies.write(folder, yaml or draft.new_yaml("odd", path), name="odd")))


@pytest.mark.parametrize("name", CASES)
def test_read_right_or_refused(tmp_path, name):
    write, truth, yaml, refused, known, systems, package = CASES[name]
    if package:
        pytest.importorskip(package)
    path = write(tmp_path)
    if refused is not None:
        with pytest.raises((DataError, ParamsError), match=re.escape(refused)):
            read(tmp_path, path, yaml)
        return
    built = read(tmp_path, path, yaml)
    marks = built.frames["annotations"]
    rows = list(marks[["dialogue", "system", "annotator", "label", "score"]].itertuples(index=False, name=None))
    wanted = [(*t[:3], t[3], float(t[4])) for t in truth]
    assert Counter(r[3:] for r in rows) == Counter(r[3:] for r in wanted)
    assert signatures(rows, 0) == signatures(wanted, 0), "dialogues"
    if systems:
        assert set(marks["system"]) == {t[1] for t in truth}
        assert signatures(rows, 1) == signatures(wanted, 1), "systems"
    if known:
        assert signatures(rows, 2) == signatures(wanted, 2), "annotators"
    models = {t[2] for t in truth if "gpt" in t[2] or "llama" in t[2]}
    assert set(marks.loc[marks["annotator_kind"] == "llm", "annotator"]) == models
    people = marks[marks["annotator_kind"] == "human"]
    assert people["annotator_known"].all() == known


def test_enough_cases():
    assert len(CASES) >= 60
