"""Judgements of single responses by many judges (DSTC7 Task 2, Reddit: Galley et al. 2019).

A tab-separated file without quoting: `JudgeID, InstanceID, SystemID` and one column per criterion, one row per judge
and response. A second file lists the responses; the contexts are not public.
"""

from __future__ import annotations

from functools import partial

import pandas as pd

from compendium.sources.adapters.options.dstc7 import Dstc7
from compendium.sources.tables import criteria, with_ids
from judgebook.sources.files import read_csv
from judgebook.sources.reading import Counts, OpenFile, Reading
from judgebook.sources.records import slug
from judgebook.study import limits
from judgebook.study.schema import DataError, Problem, several

_read_tsv = partial(read_csv, delimiter="\t", quoting=False)
_TWICE = "a second judgement of one response by one judge"


def read(source: Dstc7, open_file: OpenFile) -> Reading:
    """One annotation per row and criterion; a response is a dialogue of one turn, `<system>/<instance>`.

    - `same_system` joins systems that are one under two names: their judgements are of the same response.
    - A judge counts once for a response: the first judgement in the file is kept, later ones are dropped and counted
      (equal to the first, different from it, or made under the other name of the system).

    Raises DataError for rows without an id, and responses with two texts.
    """
    keys = ["JudgeID", "InstanceID", "SystemID"]
    rows = with_ids(_read_tsv(open_file(source.file), source.file, columns=keys), keys, source.file)
    labels = criteria(rows, (*keys, "system"), source.file)
    rows["system"] = rows["SystemID"].replace(source.same_system)
    counts = Counts()
    kept = _first_of_each_judge(rows, labels, counts, source.file)
    counts.add(source.file, "annotations", "read", n=len(rows) * len(labels))
    counts.add(source.file, "annotations", "kept", n=len(kept) * len(labels))
    counts.add(source.file, "annotations", "dropped", f"{_TWICE}, see rows", (len(rows) - len(kept)) * len(labels))
    marks = pd.DataFrame(
        {
            "annotator": kept["JudgeID"],
            "system": kept["system"],
            "dialogue": kept["system"] + "/" + kept["InstanceID"],
            "turn": 0,
            "context": kept["InstanceID"],
            "where": "row " + kept.index.astype(str),
        }
    )
    parts = [marks.assign(label=slug(label), score=kept[label]) for label in labels]
    annotations = pd.concat(parts).sort_index(kind="stable").reset_index(drop=True)
    annotations = annotations.assign(method="turn_rating", file=source.file)
    dialogues = _responses(source, open_file, counts) if source.responses else None
    return Reading(annotations, dialogues, counts=counts)


def _first_of_each_judge(rows: pd.DataFrame, labels: list[str], counts: Counts, file: str) -> pd.DataFrame:
    key = ["JudgeID", "InstanceID", "system"]
    again = rows.duplicated(key)
    same_name = rows.duplicated([*key, "SystemID"])
    same_marks = rows.duplicated([*key, "SystemID", *labels])
    counts.add(file, "rows", "read", n=len(rows))
    counts.add(file, "rows", "kept", n=int((~again).sum()))
    counts.add(file, "rows", "dropped", f"{_TWICE}, equal to one before", int(same_marks.sum()))
    counts.add(file, "rows", "dropped", f"{_TWICE}, different", int((same_name & ~same_marks).sum()))
    counts.add(file, "rows", "dropped", f"{_TWICE}, under another name of the system", int((again & ~same_name).sum()))
    return rows[~again]


def _responses(source: Dstc7, open_file: OpenFile, counts: Counts) -> pd.DataFrame:
    """The texts; the reference of a response is that of the reference system to the same instance, not its own."""
    name = str(source.responses)
    keys = ["SystemID", "InstanceID"]
    table = with_ids(_read_tsv(open_file(name), name, columns=[*keys, "Response"]), keys, name)
    system = table["SystemID"].replace(source.same_system)
    texts = table["Response"]
    first = texts.groupby([system, table["InstanceID"]]).transform("first")
    if (texts != first).any():
        hint = "delete one of the rows; if the systems differ, correct `same_system`"

        def differs(n: int) -> Problem:
            expected = f"the text given before for this response, {first[n][: limits.QUOTED]!r}"
            return Problem(name, f"row {n}", "Response", expected, repr(texts[n][: limits.QUOTED]), hint)

        raise DataError(several(texts.index[texts != first], differs))
    gold = table[system == source.reference_system].drop_duplicates("InstanceID").set_index("InstanceID")["Response"]
    counts.add_kept(name, responses=len(table))
    return pd.DataFrame(
        {
            "dialogue": system + "/" + table["InstanceID"],
            "system": system,
            "context": table["InstanceID"],
            "turn": 0,
            "system_text": table["Response"],
            "reference": table["InstanceID"].map(gold).where(system != source.reference_system),
        }
    )
