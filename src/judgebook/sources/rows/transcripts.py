"""Transcripts given to the dialogues that other sources judged."""

from __future__ import annotations

import pandas as pd

from judgebook.sources.reading import Reading
from judgebook.sources.rows.scoring import State
from judgebook.study.schema import DIALOGUES, Problem, several

_UNJUDGED = "of a dialogue that nobody judged"
_HINT = (
    "number turns as the judgements do (`first_turn`), or leave out `turn` to count the replies of the system from 0"
)


def complete(readings: list[Reading]) -> list[Problem]:
    """Give transcripts the systems of the judgements, leave out and count those of dialogues that nobody judged; in
    place. Problems: transcripts of which none was judged, judged turns that a transcript does not have."""
    problems: list[Problem] = []
    others = [r for r in readings if r.messages is None]
    for reading in readings:
        if reading.messages is not None and reading.dialogues is not None:
            problems += _complete(reading, reading.dialogues, reading.messages, _judged(others), others)
    return problems


def _judged(readings: list[Reading]) -> pd.DataFrame:
    """Judged dialogues and turns, with what is known of them."""
    parts = []
    for reading in readings:
        marks = reading.annotations
        parts += [marks] if len(marks) else []
        if "dialogue_b" in marks:
            sides = {"dialogue_b": "dialogue", "system_b": "system"}
            other = marks.drop(columns=[c for c in sides.values() if c in marks]).rename(columns=sides)
            parts.append(other[other["dialogue"].notna()])
        parts += [reading.dialogues] if reading.dialogues is not None and len(reading.dialogues) else []
    frames = [p.reindex(columns=[c for c in DIALOGUES if c != "study"]).astype(object) for p in parts]
    every = pd.concat(frames, ignore_index=True)
    return every.assign(corpus=every["corpus"].fillna("main")).dropna(subset="dialogue").drop_duplicates()


def _complete(
    reading: Reading, turns: pd.DataFrame, messages: pd.DataFrame, judged: pd.DataFrame, others: list[Reading]
) -> list[Problem]:
    on = [c for c in ("corpus", "dialogue") if c in turns]
    texts = ["turn", "user_text", "system_text", "reference"]
    of = judged.drop(columns=texts).groupby(["corpus", "dialogue"], sort=False, as_index=False).first()
    both = turns.assign(_place=range(len(turns))).merge(of, on=on, how="inner", suffixes=("", "_judged"))
    file = ", ".join(messages["file"].unique())
    if both.empty:
        ids = ", ".join(map(str, turns["dialogue"].unique()[:3]))
        shown = ", ".join(map(str, of["dialogue"][:3]))
        hint = f"its ids are {ids}, …; those of judgements are {shown}, …"
        reading.dialogues = None
        return [Problem(file, "", "dialogue", "dialogues that were judged", "none", hint)]
    for column in (c for c in both if f"{c}_judged" in both):
        both[column] = both[column].fillna(both.pop(f"{column}_judged"))
    _count(reading, messages, set(both.pop("_place")))
    key = ["corpus", "dialogue", "turn"]
    in_both = judged[judged["turn"].notna()].merge(both[["corpus", "dialogue"]].drop_duplicates())
    in_both["turn"] = pd.to_numeric(in_both["turn"], errors="coerce")
    both["turn"] = pd.to_numeric(both["turn"])
    lacking = in_both[~_keys(in_both, key).isin(_keys(both, key))].drop_duplicates(key)
    numbers = both.groupby("dialogue", sort=False)["turn"].agg(lambda n: ", ".join(map(str, n[:5])))

    def absent(i: int) -> Problem:
        where = f"dialogue {lacking.at[i, 'dialogue']}"
        expected = f"turn {lacking.at[i, 'turn']:g}, which was judged"
        return Problem(file, where, "turn", expected, f"turns {numbers[lacking.at[i, 'dialogue']]}, …", _HINT)

    reading.dialogues = (
        pd.concat([in_both[_keys(in_both, key).isin(_keys(both, key))], both])
        .groupby(key, sort=False, as_index=False)
        .first()
        .astype(object)
    )
    reading.dialogues = reading.dialogues.where(reading.dialogues.notna(), None)
    for other in others:
        if other.dialogues is not None and len(other.dialogues):
            known = other.dialogues.assign(corpus=other.dialogues.get("corpus", "main"))
            other.dialogues = other.dialogues[~_keys(known.reindex(columns=key), key).isin(_keys(both, key))]
    without = of[~_keys(of, ["corpus", "dialogue"]).isin(_keys(both, ["corpus", "dialogue"]))]
    if len(without):
        having = len(of) - len(without)
        reading.notes.append(f"{file}: judged dialogues with a transcript: {having:,}, without one: {len(without):,}")
    return several(list(lacking.index), absent)


def _keys(frame: pd.DataFrame, key: list[str]) -> pd.MultiIndex:
    numbered = {"turn": pd.to_numeric(frame["turn"], errors="coerce").astype(float)} if "turn" in key else {}
    return pd.MultiIndex.from_frame(frame[key].assign(**numbered))


def _count(reading: Reading, messages: pd.DataFrame, judged: set[int]) -> None:
    """Count rows (or records): kept where a message of theirs is in a turn of a judged dialogue."""
    left = messages["left"].where(messages["turn"].isin(judged) | (messages["left"] != ""), _UNJUDGED)
    state = State(reading.counts)
    order = messages.assign(left=left).sort_values("left", kind="stable")  # kept first
    for (file, reason), rows in order.drop_duplicates(["file", "record"]).groupby(["file", "left"], sort=False):
        action = "dropped" if reason else "kept"
        where = rows["where"] if reason else ()
        reading.counts.add(str(file), state.of_rows(str(file)), action, str(reason), len(rows), where=where)
