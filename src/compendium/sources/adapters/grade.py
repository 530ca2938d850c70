"""Responses with a list of ratings each, in several corpora (GRADE: Huang et al. 2020, arXiv 2010.03994).

The ratings are one JSON list of `{ID, Dataset, DialogModel, Context, Response, HumanScores}`: `Context` holds two
utterances joined by `|||`, `HumanScores` is text that holds a list of 8 to 11 numbers, and `ID` starts anew for every
corpus and model. Text files alongside it give references, one line per item in the order of the ratings.
"""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

from compendium.sources.adapters.options.grade import Grade
from judgebook.sources import json_text
from judgebook.sources.files import read_json, read_text
from judgebook.sources.reading import Counts, OpenFile, Reading
from judgebook.sources.records import Checked
from judgebook.study.schema import DataError

_ITEMS = ["corpus", "system", "context", "user_text", "system_text", "scores", "where"]


def read(source: Grade, open_file: OpenFile) -> Reading:
    """One annotation per rating, by positions `pos0`…; corpora are those of the file, by the names the YAML gives them.

    A response is a dialogue of one turn, `<model>/<number within corpus and model>`; responses to the same context
    share `context`. A pair of context and response that occurs twice was rated twice and stays two items.
    """
    records = read_json(open_file(source.file), source.file, list)
    checked = Checked(source.file)
    rows = [row for i, record in enumerate(records) if (row := _item(record, i, source, checked))]
    items = pd.DataFrame(rows, columns=_ITEMS)
    numbers = items.groupby(["corpus", "system"]).cumcount()
    items["dialogue"] = items["system"] + "/" + numbers.map("{:03d}".format)
    texts = items.groupby("corpus")["context"].transform(lambda s: pd.factorize(s)[0])
    items["context"] = texts.map("c{:03d}".format)
    items["reference"] = _references(items, source, open_file, checked)
    items["turn"] = 0
    marks = items.explode("scores").rename(columns={"scores": "score"})
    marks["annotator"] = "pos" + marks.groupby(level=0).cumcount().astype(str)
    columns = ["corpus", "annotator", "system", "dialogue", "turn", "context", "score", "where"]
    marks = marks[columns].reset_index(drop=True)
    marks = marks.assign(annotator_known=False, method="turn_rating", label=source.label, file=source.file)
    dialogues = items[["corpus", "dialogue", "system", "context", "turn", "user_text", "system_text", "reference"]]
    return Reading(marks, dialogues, counts=_count(source, items, marks), problems=checked.problems)


def _count(source: Grade, items: pd.DataFrame, marks: pd.DataFrame) -> Counts:
    counts = Counts()
    for corpus, part in items.groupby("corpus", sort=False):
        for action in ("read", "kept"):
            counts.add(source.file, "responses", action, n=len(part), corpus=corpus)
            counts.add(source.file, "annotations", action, n=int((marks["corpus"] == corpus).sum()), corpus=corpus)
        again = int(part.duplicated(["context", "system_text"]).sum())
        counts.add(source.file, "responses that repeat a context and response", "kept", n=again, corpus=corpus)
    return counts


def _item(record: Any, i: int, source: Grade, checked: Checked) -> tuple | None:
    where = f"record {i}"
    keys = ("Dataset", "DialogModel", "Context", "Response", "HumanScores")
    corpus, system, context, response, text = (checked.get(record, key, str, where) for key in keys)
    if None in (corpus, system, context, response, text):
        return None
    try:
        scores = json_text.parse(text, source.file, where)
    except (json.JSONDecodeError, DataError):
        scores = None
    if not isinstance(scores, list) or not scores:
        checked.report(where, "HumanScores", 'text that holds a list of numbers, "[4, 5, …]"', text)
        return None
    said = "\n".join(part.strip() for part in context.split("|||"))
    return source.corpora.get(corpus, corpus), system, context, said, response.strip(), scores, where


def _references(items: pd.DataFrame, source: Grade, open_file: OpenFile, checked: Checked) -> pd.Series:
    """The reference of each item, missing for systems without text files; reports files that are not aligned."""
    out = pd.Series(None, index=items.index, dtype=object)
    for corpus, systems in source.references.items():
        for system in systems:
            of_system = items[(items["corpus"] == corpus) & (items["system"] == system)]
            names = source.text_names(corpus, system)
            files = {part: read_text(open_file(name), name).split("\n") for part, name in names.items()}
            files = {part: lines[:-1] if lines[-1] == "" else lines for part, lines in files.items()}
            for part, lines in files.items():
                if len(lines) != len(of_system):
                    checked.report(names[part], "", f"{len(of_system)} lines, one per item", f"{len(lines)}")
            if any(len(lines) != len(of_system) for lines in files.values()):
                continue
            for n, (i, ctx, hyp) in enumerate(zip(of_system.index, files["ctx"], files["hyp"], strict=True), start=1):
                said = "\n".join(part.strip() for part in ctx.split("|||"))
                if said != items.at[i, "user_text"] or hyp.strip() != items.at[i, "system_text"]:
                    expected = f"the context and response of {items.at[i, 'where']} of {source.file}"
                    checked.report(f"{names['ctx']}, line {n}", "", expected, "another one")
            out[of_system.index] = [line.strip() for line in files["ref"]]
    return out
