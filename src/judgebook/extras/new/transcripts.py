"""Several files of a study: judgements of dialogues, and transcripts with a row for each message or turn."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from judgebook import project
from judgebook.extras.new.asking import reread
from judgebook.extras.new.asking.doubts import Answer, Draft, in_order
from judgebook.extras.new.asking.edits import edited, flow
from judgebook.extras.new.draft import absent, beside, cells_of, drafted, relative_to, together
from judgebook.extras.new.grids import shared
from judgebook.extras.new.roles import role_of
from judgebook.extras.new.shapes import periods
from judgebook.extras.new.spelling import comment, quoted
from judgebook.extras.new.tables import guess
from judgebook.extras.new.words import is_prose, looks_like_model
from judgebook.sources.adapters.options.records import is_table
from judgebook.sources.formats import kind, read_records, scalar
from judgebook.sources.nature import NAMES, plain
from judgebook.study import params, paths
from judgebook.study.schema import DataError, Problem
from judgebook.study.source_shared import FileOptions

_JSON = (".json", ".jsonl", ".ndjson", ".jsonlines")
_SPEAKER = re.compile(r"speaker|role|sender|author|from|who|participant|party|actor|turnby|spokenby", re.I)
_TEXT = re.compile(r"text|content|message|utterance|msg|body|value|words", re.I)
_USERS = re.compile(
    r"user|human|person|people|customer|client|visitor|student|patient|caller|seeker|prompter|worker|crowd ?worker"
    r"|participant|interlocutor|u|nutzer|benutzer|mensch|kunde|utilisateur|usuario",
    re.I,
)
_SKIPPED = re.compile(r"system|tool|function|developer|system prompt", re.I)
_BOTS = re.compile(r"assistant|(chat)?bot|ai|model|agent|gpt|b", re.I)
#: of the ids in one file, the share that the other has at least
_SHARED = 0.5


@dataclass
class _Talk:
    """A file of transcripts. rows : one for each message, by path. through : path of the list of messages.

    columns : ours -> path, without the dialogue.
    """

    path: Path
    rows: pd.DataFrame
    options: dict[str, str] = field(default_factory=dict)
    through: str = ""
    columns: dict[str, str] = field(default_factory=dict)


def of_files(name: str, data: list[Path], folder: Path | None = None, given: dict[str, str] | None = None) -> Draft:
    """As `drafted`, for a file of judgements with transcripts beside it; `data` may name their folder.

    Raises DataError for several files of which not one has the judgements.
    """
    files = _files(data)
    talks = [talk for path in files if (talk := _talk(path))] if len(files) > 1 else []
    if len(talks) == len(files):  # judgements of turns may stand beside their texts
        talks = [talk for talk in talks if not _judged(talk)]
    rest = [path for path in files if path not in [talk.path for talk in talks]]
    families = [[path, *(p for p in rest if p in beside(path))] for path in rest]
    first, *alike = max(families, key=len, default=[])  # as where each person has a file
    left = [path for path in rest if path not in (first, *alike)] if alike else []
    rest = [path for path in rest if path not in (*alike, *left)]
    if len(rest) != 1:
        names = ", ".join(p.name for p in rest or files)
        expected = "one file of judgements, and files of transcripts (columns for the dialogue, the speaker, the text)"
        hint = "name one file after --data; docs/own_data.md says how files are joined (`join`, several `sources`)"
        raise DataError([Problem(data[0].name, "", "", expected, names, hint)])
    columns = dict(given or {})
    ratings = _columns_of(rest[0]) if talks else {}
    keys = [_key(ratings, talk) for talk in talks]
    out = drafted(name, rest[0], folder, columns)
    if keys and keys[0] and "dialogue" not in columns and not _named(out, keys[0][0]):
        out = drafted(name, rest[0], folder, columns | {"dialogue": keys[0][0]})
    if alike:
        _together(out, rest[0], alike, folder)
    if left:
        names = ", ".join(path.name for path in left[:4])
        how = Answer("joined, or a source of their own (docs/own_data.md)")
        out.ask("files: others", f"What is in {names}?", "nothing that is needed: not read", how)
    for talk, key in zip(talks, keys, strict=True):
        if key is None:
            text = f"Are the texts in {talk.path.name} of the dialogues that were judged?"
            how = Answer("yes: a source with `adapter: transcripts` (docs/own_data/transcripts.md)")
            out.ask("files", text, "no, it is not read", how, evidence="no column has the ids of the judgements")
        else:
            _add(out, talk, key[1], folder)
    return out


def _together(out: Draft, first: Path, others: list[Path], folder: Path | None) -> None:
    """Read files with the same columns as one, where the first of them has a row for each item: as those of different
    people, or systems, if the files do not name these."""
    source = yaml.safe_load(out.text)["sources"][0]
    columns, scores = source.get("columns", {}), str(source.get("scores", ""))
    bound = {*columns, *source.get("constants", {}), *re.findall(r"[{[]([a-z]+)[]}]", scores)}
    lacking = [ours for ours in ("annotator", "system") if ours not in bound]
    tables = [cells_of(path)[0] for path in (first, *others)] if is_table(first.name) else []
    item = columns.get("dialogue")
    if item == "{row}" and not (item := _same_ids(tables, {*columns.values()})):
        return
    names, where = together([first, *others])
    whose = _whose(names, tables, item) if len(lacking) == 2 else next(iter(lacking), "")
    one = f"{{{whose}}}" if whose else "*"
    dated, unclear = periods.of_files(names)
    says = f"each is of one {whose}, whom its name tells" if whose else "each is a part of them"
    pattern = _pattern(names, one, where)
    if dated and not unclear:
        one, pattern, says = "{period}", dated, "each is of one period, which its name tells"
    changes: dict[str, Any] = {"adapter": "records", "file": relative_to(where / pattern, folder)}
    changes |= {"scores": columns["score"], "columns.score": None} if "score" in columns else {}
    changes |= {"columns.dialogue": item} if item and item != columns.get("dialogue") else {}
    ways: list[Answer] = []
    if one == "{period}" and tables and (anew := periods.apart(source, tables)):
        out.text = edited(out.text, "sources.*.identify", None)  # lines of its own cannot become one in place
        changes |= anew
        says += ", and the same id in two files is two items"
        before = {key: columns.get(key.removeprefix("columns.")) for key in anew if "." in key}
        edits = {"identify": source.get("identify"), **before}
        ways.append(Answer("yes, and the same id is one item", {f"sources.*.{k}": v for k, v in edits.items()}))
    # the responses of systems to one item are dialogues of their own
    of_system = {"identify": {"dialogue": [item, "{system}"]}, "columns.context": item, "columns.dialogue": None}
    if item and one == "{system}":
        changes |= of_system
    elif item and one == "{annotator}" and len(lacking) == 2:
        edits = {"file": relative_to(where / _pattern(names, "{system}", where), folder)} | of_system
        edits |= {"annotators": "positions"}
        ways.append(Answer("yes; each is of one system", {f"sources.*.{k}": v for k, v in edits.items()}))
    for key, value in {
        **changes,
        "layout": None,
        "annotators": "positions" if one == "{system}" and len(lacking) == 2 else None,
    }.items():
        out.text = edited(out.text, f"sources.*.{key}", value)
    out.without("files", *([whose] if one != "{period}" and whose else ()), *(["item"] if item else []))
    evidence = f"{len(others) + 1} files have the same columns"
    evidence += "; dates in their names are not read, as it is not clear which number is the year" if unclear else ""
    out.ask("files", "Are the files of one study?", f"yes; {says} (`{pattern}`)", *ways, evidence=evidence)
    reread.ask(out, (folder or project.folder() / "params") / f"{first.stem}.yaml")
    out.questions = in_order(out.questions)


def _pattern(names: list[str], one: str, folder: Path) -> str:
    """What files are called, but for what tells them apart: with the whole word that does, if no other file fits."""
    left, right = shared(names), shared([name[::-1] for name in names])[::-1]
    word, rest = re.sub(r"[^\W_]+$", "", left), re.sub(r"^[^\W_]+", "", right)
    whole = f"{word}{one}{rest}"
    fits = paths.pattern(whole.replace("*", "{any}"))
    there = (path.relative_to(folder).as_posix() for path in folder.glob("*/*" if "/" in left + right else "*"))
    return whole if {*filter(fits.fullmatch, there)} == {*names} else f"{left}{one}{right}"


def _whose(names: list[str], tables: list[pd.DataFrame], item: str | None) -> str:
    """Whether files that name neither are those of people or of systems: if they are called like models, or the text of
    an item is another in each."""
    if sum(map(looks_like_model, names)) * 2 > len(names):
        return "system"
    for column in tables[0] if tables and item in tables[0] else []:
        if column != item and is_prose(tables[0][column]) and all({item, column} <= {*t} for t in tables):
            first, other = (t.drop_duplicates(item).set_index(item)[column] for t in tables[:2])
            common = first.index.intersection(other.index)
            if len(common) and (first[common] != other[common]).mean() > _SHARED:
                return "system"
    return "annotator"


def _same_ids(tables: list[pd.DataFrame], taken: set[str]) -> str | None:
    """A column that has each of its values once in a file, and the same ones in all."""
    for column in tables[0] if tables else []:
        held = [set(t[column]) if column in t else set() for t in tables]
        if column not in taken and len(held[0]) == len(tables[0]) and all(h == held[0] for h in held):
            return column
    return None


def _named(out: Draft, column: str) -> bool:
    """Whether a draft takes a column, or path, for the id of dialogues."""
    sources = yaml.safe_load(out.text)["sources"]
    return all(source.get("columns", {}).get("dialogue") == column for source in sources)


def _judged(talk: _Talk) -> bool:
    """Whether a file has scores beside its texts."""
    counters = [c for c in talk.rows if pd.to_numeric(talk.rows[c], errors="coerce").diff().eq(1).mean() > 0.5]
    guessed = guess(talk.rows.drop(columns={*talk.columns.values(), *counters}))
    return bool(guessed.labels or guessed.sets)


def _files(paths: list[Path]) -> list[Path]:
    """The files that are named, and those of folders."""
    out: list[Path] = []
    for path in paths:
        data: list[Path] = []
        for inside in ("*", "*/*") if os.path.isdir(path) else ():  # without an error for an impossible name
            seen = [p for p in sorted(path.glob(inside)) if not re.search(r"(^|/)\.", p.relative_to(path).as_posix())]
            of_data = [p for p in seen if is_table(p.name) or kind(p) in (*_JSON, ".parquet")]
            data = data or [p for p in of_data if params.is_file(p)]  # a pipe or a device has no end
        if not data and os.path.isdir(path):
            raise DataError([Problem(path.name, "", "", "data files in the folder", "none", "check the path")])
        if not data and not params.is_file(path):
            raise DataError([absent(path)])
        out += data or [path]
    return list(dict.fromkeys(out))


def _talk(path: Path) -> _Talk | None:
    """The transcripts that a file holds; None where it holds anything else."""
    try:
        if is_table(path.name):
            cells, options = cells_of(path)
            talk = _Talk(path, cells[[c for c in cells if c]], options)
        else:
            talk = _of_records(path)
    except DataError:
        return None
    named = {plain(c.rpartition(".")[2]): c for c in reversed(talk.rows.columns)}
    speakers = [c for p, c in named.items() if _SPEAKER.fullmatch(p) and 1 < talk.rows[c].nunique() <= 20]
    texts = [c for p, c in named.items() if _TEXT.fullmatch(p)]
    if speakers and texts:
        talk.columns = {"speaker": speakers[0], "text": texts[0]}
    else:
        sides = {ours: next((named[p] for p in NAMES[ours] if p in named), "") for ours in ("user_text", "system_text")}
        talk.columns = {ours: c for ours, c in sides.items() if c and is_prose(talk.rows[c])}
        if len(talk.columns) < 2:
            return None
    system = next((named[p] for p in NAMES["system"] if p in named and named[p] not in talk.columns.values()), None)
    talk.columns |= {"system": system} if system else {}
    return talk


def _of_records(path: Path) -> _Talk:
    """Records, or the elements of the one list of objects in each."""
    read = read_records(path, path.name, FileOptions())
    records = [r for r in read.records if isinstance(r, dict)]
    lists = {
        k for r in records for k, v in r.items() if isinstance(v, list) and v and all(isinstance(e, dict) for e in v)
    }
    if read.single or len(lists) != 1:
        return _Talk(path, _frame(records))
    (key,) = lists
    rows = [
        {k: v for k, v in r.items() if k != key} | {f"{key}.[].{k}": v for k, v in message.items()}
        for r in records
        for message in r.get(key) or []
    ]
    return _Talk(path, _frame(rows), through=f"{key}.[]")


def _frame(records: list[dict]) -> pd.DataFrame:
    plain_values = [{k: scalar(v) for k, v in r.items() if not isinstance(v, dict | list)} for r in records]
    return pd.DataFrame(plain_values, dtype=object).fillna("").astype(str)


def _columns_of(path: Path) -> dict[str, pd.Series]:
    """The columns of a file of judgements; none where it is nested."""
    try:
        cells = cells_of(path)[0] if is_table(path.name) else _of_records(path).rows
    except DataError:
        return {}
    return {c: cells[c].str.strip() for c in cells if c}


def _key(ratings: dict[str, pd.Series], talk: _Talk) -> tuple[str, str] | None:
    """The column of the judgements and that of the transcripts which hold the same ids of dialogues."""
    fits = []
    for theirs in talk.rows.columns.difference(list(talk.columns.values()), sort=False):
        ids = set(talk.rows[theirs].str.strip()) - {""}
        for ours, cells in ratings.items():
            judged = set(cells) - {""}
            share = len(ids & judged) / max(len(judged), 1)
            if share < _SHARED or len(judged) < 2 or len(ids) == len(talk.rows):
                continue
            of_dialogues = [role_of(c) == "dialogue" or plain(c) in NAMES["dialogue"] for c in (ours, theirs)]
            numbers = all(i.isdecimal() for i in ids)
            if not numbers or ours == theirs or any(of_dialogues):
                fits.append((sum(of_dialogues), ours == theirs, share, len(judged), ours, theirs))
    return max(fits)[-2:] if fits else None


def _add(out: Draft, talk: _Talk, key: str, folder: Path | None) -> None:
    """A source for transcripts, after the others."""
    columns = {"dialogue": key, **talk.columns}
    rows = talk.rows.assign(_n=range(len(talk.rows)))
    numbers = [
        c for c in rows.columns.difference([*columns.values(), "_n"]) if plain(c.rpartition(".")[2]) in NAMES["turn"]
    ]
    turn = next((c for c in numbers if pd.to_numeric(rows[c], errors="coerce").notna().all()), None)
    if turn and (re.search(r"^ +turn: |[{ ]turn: ", out.text, re.M) or not _in_order(rows, key, turn)):
        columns["turn"] = turn
    lines = ["adapter: transcripts", f"file: {quoted(relative_to(talk.path, folder))}"]
    lines += [f"{option}: {value}" for option, value in talk.options.items()]
    lines += [f"turns: {quoted(talk.through)}"] if talk.through else []
    lines.append(f"columns: {flow(columns)}")
    if "speaker" in columns:
        lines += _speakers(out, talk, rows, key)
    source = "\n".join(f"  {'-' if i == 0 else ' '} {line}" for i, line in enumerate(lines))
    before, labels, after = out.text.rpartition("\nlabels:")
    out.text = f"{before}\n{source}{labels}{after}"


def _in_order(rows: pd.DataFrame, key: str, turn: str) -> bool:
    return bool(pd.to_numeric(rows[turn]).groupby(rows[key]).is_monotonic_increasing.all())


def _speakers(out: Draft, talk: _Talk, rows: pd.DataFrame, key: str) -> list[str]:
    """Who of the speakers is no system, by what they are called, else by who begins."""
    held = rows[talk.columns["speaker"]].str.strip()
    names = [n for n in held.unique() if n]
    users = [n for n in names if _USERS.fullmatch(n)]
    bots = [n for n in names if _BOTS.fullmatch(n)]
    skipped = [n for n in names if _SKIPPED.fullmatch(n)] if len(names) > 2 and bots else []
    if not users and bots:
        users = [n for n in names if n not in (*bots, *skipped)]
    if not users or not set(names) - {*users, *skipped}:
        users = [held.groupby(rows[key]).first().mode().iloc[0]]
        others = ", ".join(n for n in names if n not in users)
        how = Answer(f"others ({others}): `users` of the transcripts lists them")
        text = f"Who talks to the system in {talk.path.name}?"
        out.ask("speakers", text, f"{users[0]!r}", how, evidence="begins most dialogues")
    lines = [f"users: {flow(users)}  " + comment("all other speakers are the system")]
    return lines + ([f"skip_speakers: {flow(skipped)}"] if skipped else [])
