"""Chats between two bots, cut after some exchanges: person or bot? (Spot The Bot: Deriu et al. 2020, EMNLP).

A CSV has one row per annotation: `domain, convo_id, annotator, system0, system1, n_exchanges, is_human0, is_human1,
fluency0, fluency1, sensible0, …, winner, start_ms, elapsed_ms`. `is_human` is 1 (person), 0 (bot), or empty: unsure,
which is an answer. Control chats have two people (`human`) as systems.
"""

from __future__ import annotations

import pandas as pd

from compendium.sources.adapters.options.spot_the_bot import SpotTheBot
from compendium.sources.tables import with_ids
from judgebook.sources.files import read_csv
from judgebook.sources.reading import Counts, OpenFile, Reading
from judgebook.sources.records import Checked
from judgebook.study.schema import DataError

#: points of an answer: person, unsure, bot (Deriu et al. 2020, §3; a side wins with more points)
POINTS = {"1": 2, "": 1, "0": 0}
MARKS = ("fluency", "sensible", "specific")
_SIDES = ("0", "1")
_IDS = ["domain", "convo_id", "annotator", "system0", "system1", "winner"]
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
    table = with_ids(read_csv(open_file(name), name, columns=_COLUMNS)[_COLUMNS], _IDS, name)
    checked, counts = Checked(name), Counts()
    _check(table, checked)
    if checked.problems:
        raise DataError(checked.problems)
    twice = table.duplicated(["domain", "convo_id", "n_exchanges", "annotator"])
    rows = table[~twice].rename(columns={"domain": "corpus", "convo_id": "session"})
    rows["context"] = rows["session"] + "@" + rows["n_exchanges"]
    rows["seconds"] = (pd.to_numeric(rows["elapsed_ms"]) / 1000).where(rows["start_ms"] != "-1")
    rows["work_unit"] = name + " " + rows.index.astype(str)
    rows["where"] = "row " + rows.index.astype(str)
    annotations, sides = _annotations(rows).assign(file=name), _sides(rows)
    _count(table, rows, annotations, counts, name)
    facts = {"n_exchanges": "n_exchanges", "n_utterances_in_convo": "n_utterances_in_chat"}
    units = rows[["corpus", "work_unit", "annotator", "seconds"]].reset_index(drop=True)
    return Reading(
        annotations,
        sides.drop(columns=list(facts)),
        work_units=units.assign(task="annotation", part="whole", n_dialogues=2),
        dialogue_facts=sides.rename(columns=facts).melt(
            ["corpus", "dialogue"], list(facts.values()), var_name="key", value_name="value"
        ),
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
        for n, cell in table.loc[~table[column].str.fullmatch("-?[0-9]{1,15}"), column].items():
            checked.report(f"row {n}", column, "a whole number", cell)
    points = table["is_human0"].map(POINTS) - table["is_human1"].map(POINTS)
    winner = table["system0"].where(points > 0, table["system1"]).where(points != 0, "tie")
    for n in table.index[points.notna() & (table["winner"] != winner)]:
        checked.report(f"row {n}", "winner", f"{winner[n]} (person 2, unsure 1, bot 0)", table.at[n, "winner"])


def _annotations(rows: pd.DataFrame) -> pd.DataFrame:
    shared = rows[["corpus", "annotator", "work_unit", "seconds", "session", "context", "where"]]
    points = rows["is_human0"].map(POINTS) - rows["is_human1"].map(POINTS)
    sides = [{"system": rows[f"system{s}"], "dialogue": rows["context"] + "/" + s} for s in _SIDES]
    other = {"system_b": sides[1]["system"], "dialogue_b": sides[1]["dialogue"]}
    score = (points > 0).astype(int) - (points < 0).astype(int)
    parts = [shared.assign(**sides[0], **other, method="pairwise_dialogue", label="human_like", score=score)]
    for side, ids in zip(_SIDES, sides, strict=True):
        marks = {"is_human": rows[f"is_human{side}"].map(POINTS)} | {m: rows[f"{m}{side}"] for m in MARKS}
        parts += [shared.assign(**ids, method="dialogue_rating", label=k, score=v) for k, v in marks.items()]
    return pd.concat(parts).sort_index(kind="stable").reset_index(drop=True)


def _sides(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per dialogue: a side of a chat at a cut."""
    shared = rows[["corpus", "session", "context", "n_exchanges", "n_utterances_in_convo"]]
    parts = [shared.assign(dialogue=rows["context"] + "/" + s, system=rows[f"system{s}"]) for s in _SIDES]
    return pd.concat(parts).drop_duplicates(["corpus", "dialogue"]).reset_index(drop=True)


def _count(table: pd.DataFrame, rows: pd.DataFrame, annotations: pd.DataFrame, counts: Counts, name: str) -> None:
    reason = "a second annotation of one chat and cut by one person"
    for corpus, n in table.groupby("domain", sort=False).size().items():
        kept = rows[rows["corpus"] == corpus]
        counts.add(name, "comparisons", "read", n=n, corpus=corpus)
        counts.add(name, "comparisons", "kept", n=len(kept), corpus=corpus)
        counts.add(name, "comparisons", "dropped", reason, n - len(kept), corpus=corpus)
        unknown = int((kept["start_ms"] == "-1").sum())
        counts.add(name, "durations", "dropped", "no start recorded: elapsed is a clock time", unknown, corpus=corpus)
        n_kept = int((annotations["corpus"] == corpus).sum())
        # every comparison gives as many annotations
        n_again = (n - len(kept)) * n_kept // max(len(kept), 1)
        counts.add(name, "annotations", "read", n=n_kept + n_again, corpus=corpus)
        counts.add(name, "annotations", "kept", n=n_kept, corpus=corpus)
        counts.add(name, "annotations", "dropped", reason, n_again, corpus=corpus)
