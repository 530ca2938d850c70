"""Transcripts: who said what in dialogues that other sources judge (`options.transcripts`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from judgebook.sources.adapters.options.transcripts import Transcripts
from judgebook.sources.files import Files
from judgebook.sources.formats import Records, read_records
from judgebook.sources.places import matcher
from judgebook.sources.reading import Reading
from judgebook.sources.rows.joined import unused
from judgebook.sources.rows.record_rows import Walk
from judgebook.sources.rows.sheets import Sheet, sheets
from judgebook.sources.rows.table_cells import identified
from judgebook.study import limits, schema
from judgebook.study.paths import ALONE
from judgebook.study.schema import DataError, Problem

SKIPPED, AFTER = "a speaker left out (`skip_speakers`)", "said after the last reply"
_OF_DIALOGUE = ("corpus", "dialogue", "session", "context", "system")


def read(source: Transcripts, open_file: Files) -> Reading:
    """Turns of dialogues, and which messages they are made of; no judgements.

    A turn is a reply of the system; what was said before it, one line for each message, is what it replies to. Without
    `turn`, turns are numbered from 0 in the order of the file.
    """
    out = Reading(pd.DataFrame(columns=[*schema.ANNOTATIONS, "file", "where"], dtype=object))
    rows: list[dict[str, Any]] = []
    for name in open_file.fitting(source.file):
        for sheet in sheets(source, open_file(name), name):
            content = read_records(open_file(name), name, sheet.options, out.counts, sheet=sheet.rows)
            rows += _messages(source, name, content, sheet, out)
    if out.problems or not rows:
        raise DataError(out.problems or [Problem(source.file, "", "", "at least one message", "none", "check `turns`")])
    messages, out.made = _columns(source, pd.DataFrame(rows, dtype=object))
    out.problems += _wrong(source, messages)
    if out.problems:
        raise DataError(out.problems)
    if "turn" in messages:
        messages["turn"] = pd.to_numeric(messages["turn"]).astype(int) - source.first_turn
    turns, at, left = _turns(source, messages)
    out.dialogues = pd.DataFrame(turns, dtype=object)
    out.messages = messages[["file", "where", "record"]].assign(turn=at, left=left)
    return out


def _messages(source: Transcripts, name: str, content: Records, sheet: Sheet, out: Reading) -> list[dict[str, Any]]:
    """One row of cells by path for each message of a file; what leads nowhere is a problem of `out`."""
    walk, there, rows = Walk(name, {}), set[str](), []
    named = {path: source.steps(path) for path in source.looked_up() if not ALONE.fullmatch(path)}
    through = source.steps(source.turns) if source.turns else []
    of_file = {**(matcher(source.file)(name) or {}), **sheet.named}
    for n, (record, where) in enumerate(zip(content.records, content.where, strict=True)):
        for _, place, env in walk.each(record, through, where, dict(of_file)):
            row: dict[str, Any] = {f"{{{k}}}": v for k, v in env.items() if k[0] != "@"}
            for path, steps in named.items():
                row[path], leads = walk.value(record, steps, place, env, path)
                there |= {path} if leads else set()
            rows.append(row | {"{file}": name, "{where}": sheet.where + place, "{record}": sheet.where + str(n)})
    out.problems += walk.problems
    places = source.looked_up()
    missed = [walk.missed(content, s, p, places[p]) for p, s in named.items() if p not in there]
    out.problems += [problem for problem in missed if problem is not None]
    out.unused.setdefault(name, {}).update(unused(content, [*named.values(), *([through] if through else [])], {}))
    return rows


def _columns(source: Transcripts, cells: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, dict[str, str]]]:
    """Our columns of the messages, ids without blanks around them; and `Reading.made`."""
    cells, made = identified(cells, source.identify)
    out = cells[["{file}", "{where}", "{record}"]].set_axis(["file", "where", "record"], axis=1)
    if "dialogue" not in source.columns:
        out["dialogue"] = cells["identify.dialogue" if source.identify else "{dialogue}"]
    for ours, path in source.columns.items():
        out[ours] = cells[path]
    for column in out.columns.difference(["record", "text", "user_text", "system_text"]):
        held = out[column].str.strip()
        out[column] = held.astype(object).where(held.notna() & (held != ""), None)
    return out, made


def _wrong(source: Transcripts, messages: pd.DataFrame) -> list[Problem]:
    """Messages of no dialogue, turns without a number or with that of another, speakers that there are not."""
    out = []

    def report(rows: pd.DataFrame, column: str, expected: str, hint: str) -> None:
        for row in rows[: limits.PROBLEMS].to_dict("records"):
            cell = "nothing" if row[column] is None else repr(row[column])
            path = next((path for ours, path in source.columns.items() if ours == column), column)
            out.append(Problem(row["file"], row["where"], path, expected, cell[: limits.QUOTED], hint))

    report(messages[messages["dialogue"].isna()], "dialogue", "the id of a dialogue", "fill it in, or delete the row")
    if "turn" in messages:
        whole = messages["turn"].str.fullmatch(r"[0-9]{1,9}(?:\.0)?").fillna(False).astype(bool)
        hint = "leave out `turn` where the file has replies in their order"
        report(messages[~whole], "turn", "the number of a turn", hint)
        of = [c for c in ("corpus", "dialogue", "turn") if c in messages]
        twice = messages[messages.duplicated(of) & ("speaker" not in messages)]
        report(twice, "turn", "a number given once in a dialogue", hint)
    if "speaker" in messages:
        hint = "fill it in, or delete the row"
        report(messages[messages["speaker"].isna()], "speaker", "who said it", hint)
        names = sorted(set(messages["speaker"].dropna()))
        shown = ", ".join(names)[: limits.QUOTED]
        for key in ("users", "skip_speakers"):
            absent = [who for who in getattr(source, key) if who not in names]
            out += [Problem(source.file, "", key, "a speaker", repr(who), f"there are {shown}") for who in absent]
        if not set(names) - {*source.users, *source.skip_speakers}:
            hint = "all speakers are `users`: leave out the one that is the system"
            out.append(Problem(source.file, "", "users", "a speaker that is the system", "none", hint))
    return out


def _turns(source: Transcripts, messages: pd.DataFrame) -> tuple[list[dict[str, Any]], pd.Series, pd.Series]:
    """Turns; of each message the place of its turn in that list (-1: none), and why it is in none."""
    turns: list[dict[str, Any]] = []
    at, left = pd.Series(-1, messages.index), pd.Series("", messages.index)
    if source.skip_speakers:
        left[messages["speaker"].isin(source.skip_speakers)] = SKIPPED
    spoken = messages[left == ""]
    for _, of in spoken.groupby([c for c in ("corpus", "dialogue") if c in spoken], sort=False):
        before: list[Any] = []
        n_before = len(turns)
        for i, row in _in_order(of):
            if row.get("speaker") in source.users:
                before.append(i)
                continue
            number = row.get("turn", len(turns) - n_before)
            said = [*messages.loc[before, "text"]] if before else [row.get("user_text")]
            turn = {c: row[c] for c in _OF_DIALOGUE if c in row}
            turn |= {"turn": number, "user_text": said, "system_text": [row.get("text", row.get("system_text"))]}
            if not before and len(turns) > n_before and turns[-1]["turn"] == number:
                turns[-1]["system_text"] += turn["system_text"]
            else:
                turns.append(turn)
            at[[i, *before]] = len(turns) - 1
            before = []
        left[before] = AFTER
    return [t | {c: _lines(t[c]) for c in ("user_text", "system_text")} for t in turns], at, left


def _in_order(of: pd.DataFrame) -> Iterator[tuple[Any, dict[str, Any]]]:
    """The messages of a dialogue, by the number of the turn where there is one."""
    rows = of.sort_values("turn", kind="stable") if "turn" in of else of
    return zip(rows.index, rows.to_dict("records"), strict=True)


def _lines(texts: list[str | None]) -> str | None:
    """Texts below each other; None where none says anything."""
    return "\n".join(text for text in texts if text and text.strip()) or None
