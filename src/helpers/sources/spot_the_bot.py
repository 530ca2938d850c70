"""Chats between two bots, cut after some exchanges: person or bot? (Spot The Bot: Deriu et al. 2020, EMNLP).

A CSV has one row an annotation: `domain, convo_id, annotator, system0, system1, n_exchanges, is_human0, is_human1,
fluency0, fluency1, sensible0, …, winner, start_ms, elapsed_ms`. `is_human` is 1 (person), 0 (bot), or empty: unsure,
which is an answer. Control chats have two people (`human`) as systems.
"""

from __future__ import annotations

import pandas as pd

from helpers.schema import DataError
from helpers.sources.files import read_csv
from helpers.sources.models import SpotTheBot
from helpers.sources.reading import Counts, OpenFile, Reading
from helpers.sources.records import Checked

#: points of an answer: person, unsure, bot (Deriu et al. 2020, §3; a side wins with more points)
POINTS = {"1": 2, "": 1, "0": 0}
MARKS = ("fluency", "sensible", "specific")
_SIDES = ("0", "1")
_COLUMNS = [
    *("domain", "convo_id", "annotator", "n_exchanges", "n_utterances_in_convo", "winner", "start_ms", "elapsed_ms"),
    *(f"{name}{side}" for name in ("system", "is_human", *MARKS) for side in _SIDES),
]


def read(source: SpotTheBot, open_file: OpenFile) -> Reading:
    """Per row one comparison and four marks of each side.

    - `pairwise_dialogue`, label `human_like`: +1 the left side looked more like a person, −1 the right one, 0 a tie.
    - `dialogue_rating`, label `is_human`: 2 person, 1 unsure, 0 bot; labels `fluency`, `sensible`, `specific`: 0 or 1.
    - The item is a chat at a cut: dialogues `<chat>@<exchanges>/<side>`, because a dialogue belongs to one system; the
      chat is the `session`, the chat at its cut the `context`. Fact `n_exchanges` gives the cut.
    - A second annotation of one item by one person is dropped. Each annotation is a work unit of its own; its seconds
      are missing where no start was recorded. Longer ones (a person who went away) are kept as measured.
    """
    name = source.file
    table, checked, counts = read_csv(open_file(name), name), Checked(name), Counts()
    absent = [c for c in _COLUMNS if c not in table]
    if absent:
        checked.report("row 1", ", ".join(absent), "columns of an annotation file", ", ".join(table)[:200])
        raise DataError(checked.problems)
    _check(table, checked)
    if checked.problems:
        raise DataError(checked.problems)
    twice = table.duplicated(["domain", "convo_id", "n_exchanges", "annotator"])
    rows = table[~twice].copy()
    rows["item"] = rows["convo_id"] + "@" + rows["n_exchanges"]
    rows["seconds"] = (pd.to_numeric(rows["elapsed_ms"]) / 1000).where(rows["start_ms"] != "-1")
    annotations = _annotations(rows, name)
    _count(table, rows, twice, annotations, counts, name)
    return Reading(
        annotations,
        _sides(rows)[["corpus", "dialogue", "system", "session", "context"]],
        work_units=_work_units(rows, name),
        dialogue_facts=_facts(rows),
        counts=counts,
    )


def _check(table: pd.DataFrame, checked: Checked) -> None:
    """Report cells that are not what the format has; above all a winner that does not follow from the answers."""
    allowed = {f"is_human{side}": list(POINTS) for side in _SIDES}
    allowed |= {f"{mark}{side}": ["0", "1"] for mark in MARKS for side in _SIDES}
    for column, values in allowed.items():
        for n, cell in table.loc[~table[column].isin(values), column].items():
            checked.report(f"row {n}", column, "one of " + ", ".join(v or "empty" for v in values), cell)
    for column in ("n_exchanges", "start_ms", "elapsed_ms"):
        for n, cell in table.loc[~table[column].str.fullmatch(r"-?\d+"), column].items():
            checked.report(f"row {n}", column, "a whole number", cell)
    points = table["is_human0"].map(POINTS) - table["is_human1"].map(POINTS)
    winner = table["system0"].where(points > 0, table["system1"]).where(points != 0, "tie")
    for n in table.index[points.notna() & (table["winner"] != winner)]:
        checked.report(f"row {n}", "winner", f"{winner[n]} (person 2, unsure 1, bot 0)", table.at[n, "winner"])


def _where(rows: pd.DataFrame, name: str) -> dict[str, object]:
    return {"file": name, "where": "row " + rows.index.astype(str)}


def _annotations(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    shared = pd.DataFrame(
        {
            "corpus": rows["domain"],
            "annotator": rows["annotator"],
            "work_unit": name + " " + rows.index.astype(str),
            "seconds": rows["seconds"],
            "session": rows["convo_id"],
            "context": rows["item"],
            **_where(rows, name),
        }
    )
    points = rows["is_human0"].map(POINTS) - rows["is_human1"].map(POINTS)
    sides = [{"system": rows[f"system{s}"], "dialogue": rows["item"] + "/" + s} for s in _SIDES]
    other = {"system_b": sides[1]["system"], "dialogue_b": sides[1]["dialogue"]}
    score = (points > 0).astype(int) - (points < 0).astype(int)
    parts = [shared.assign(**sides[0], **other, method="pairwise_dialogue", label="human_like", score=score)]
    for side, ids in zip(_SIDES, sides, strict=True):
        marks = {"is_human": rows[f"is_human{side}"].map(POINTS)} | {m: rows[f"{m}{side}"] for m in MARKS}
        parts += [shared.assign(**ids, method="dialogue_rating", label=k, score=v) for k, v in marks.items()]
    return pd.concat(parts).sort_index(kind="stable").reset_index(drop=True)


def _sides(rows: pd.DataFrame) -> pd.DataFrame:
    """One row a dialogue: a side of a chat at a cut."""
    parts = [
        pd.DataFrame(
            {
                "corpus": rows["domain"],
                "dialogue": rows["item"] + "/" + side,
                "system": rows[f"system{side}"],
                "session": rows["convo_id"],
                "context": rows["item"],
                "n_exchanges": rows["n_exchanges"],
                "n_utterances_in_chat": rows["n_utterances_in_convo"],
            }
        )
        for side in _SIDES
    ]
    return pd.concat(parts).drop_duplicates(["corpus", "dialogue"]).reset_index(drop=True)


def _facts(rows: pd.DataFrame) -> pd.DataFrame:
    facts = _sides(rows).melt(
        ["corpus", "dialogue"], ["n_exchanges", "n_utterances_in_chat"], var_name="key", value_name="value"
    )
    return facts[["corpus", "dialogue", "key", "value"]]


def _work_units(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "corpus": rows["domain"],
            "work_unit": name + " " + rows.index.astype(str),
            "annotator": rows["annotator"],
            "task": "annotation",
            "part": "whole",
            "n_dialogues": 2,
            "seconds": rows["seconds"],
        }
    ).reset_index(drop=True)


def _count(
    table: pd.DataFrame, rows: pd.DataFrame, twice: pd.Series, annotations: pd.DataFrame, counts: Counts, name: str
) -> None:
    for corpus, part in table.groupby("domain", sort=False):
        kept = rows[rows["domain"] == corpus]
        reason = "a second annotation of one chat and cut by one person"
        counts.add(name, "comparisons", "read", n=len(part), corpus=corpus)
        counts.add(name, "comparisons", "kept", n=len(kept), corpus=corpus)
        counts.add(name, "comparisons", "dropped", reason, int(twice[part.index].sum()), corpus=corpus)
        unknown = int((kept["start_ms"] == "-1").sum())
        counts.add(name, "durations", "dropped", "no start recorded: elapsed is a clock time", unknown, corpus=corpus)
        counts.add(name, "annotations", "kept", n=int((annotations["corpus"] == corpus).sum()), corpus=corpus)
