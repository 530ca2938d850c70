"""A study in each layout and dialect that people save one in."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fixtures import workbook

from doors.studies import Study

#: what tables of answers have beside them: name -> the cell of a row
_BESIDE: dict[str, Callable[[random.Random, int], object]] = {
    "comment": lambda pick, i: pick.choice(("", f'well, "good" {i}', f"sehr schön; wirklich {i}", f"two\nlines {i}")),
    "timestamp": lambda pick, i: f"2024-05-{1 + i % 28:02d} 12:{i % 60:02d}:07",
    "duration": lambda pick, i: 3 + pick.randrange(400) / 10,
    "notes": lambda pick, i: "",
    "batch": lambda pick, i: 1,
    "row_nr": lambda pick, i: i + 1,
}


@dataclass
class Saved:
    """A study as a file. layout, dialect : how it was saved. columns : our column -> where the file says it.
    names_label : whether the file says what was judged."""

    path: Path
    layout: str
    dialect: str
    columns: dict[str, str]
    names_label: bool = True


Rows = list[dict[str, Any]]


def by_item(study: Study) -> Rows:
    """A row for each item and person, a column for each label."""
    names = study.names
    return [
        {names["item"]: item, names["system"]: system, names["annotator"]: who, **held}
        for (item, system, who), held in study.answers.items()
    ]


def by_score(study: Study) -> Rows:
    names = study.names
    return [
        {names["item"]: item, names["system"]: system, names["annotator"]: who, names["label"]: x, names["score"]: v}
        for (item, system, who), held in study.answers.items()
        for x, v in held.items()
    ]


def _grid(study: Study, keys: Callable[[str, str, str], dict[str, str]], head: Callable[[str, str, str], str]) -> Rows:
    """A row for each value of `keys`, a column for each of `head`."""
    rows: dict[tuple, dict[str, Any]] = {}
    for (item, system, who), held in study.answers.items():
        key = keys(item, system, who)
        row = rows.setdefault(tuple(key.values()), key)
        row |= {head(x, system, who): v for x, v in held.items()}
    columns = dict.fromkeys(c for row in rows.values() for c in row)
    return [{c: row.get(c) for c in columns} for row in rows.values()]


def by_person(study: Study) -> Rows:
    """A column for each label and person, or for each person."""
    names, one = study.names, len(study.labels) == 1
    return _grid(
        study,
        lambda item, system, who: {names["item"]: item, names["system"]: system},
        lambda label, system, who: who if one else f"{label}_{who}",
    )


def by_system(study: Study) -> Rows:
    """A column for each label and system, or for each system."""
    names, one = study.names, len(study.labels) == 1
    return _grid(
        study,
        lambda item, system, who: {names["item"]: item, names["annotator"]: who},
        lambda label, system, who: system if one else f"{label}_{system}",
    )


def beside(study: Study) -> Rows:
    """Systems side by side in numbered columns, each with its scores."""
    names = study.names
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for (item, system, who), held in study.answers.items():
        row = rows.setdefault((item, who), {names["item"]: item, names["annotator"]: who})
        n = 1 + sum(c.startswith(f"{names['system']} ") for c in row)
        row |= {f"{names['system']} {n}": system, **{f"{x} {n}": v for x, v in held.items()}}
    most = max(rows.values(), key=len)
    return [{c: row.get(c) for c in most} for row in rows.values()]


def votes(study: Study, pick: random.Random) -> Rows:
    names = study.names
    words = pick.choice((("A", "B", "tie"), ("left", "right", "equal"), ("model_a", "model_b", "tie"), None))
    return [
        {
            names["item"]: item,
            "system_a": pair[0],
            "system_b": pair[1],
            names["annotator"]: who,
            names["winner"]: (words or (*pair, "tie"))[2 if held[names["winner"]] is None else held[names["winner"]]],
        }
        for (item, pair, who), held in study.answers.items()
    ]


def nested(study: Study) -> Rows:
    """Dialogues with a list of annotations, each with its scores."""
    names = study.names
    rows: dict[tuple, dict[str, Any]] = {}
    for (item, system, who), held in study.answers.items():
        row = rows.setdefault((item, system), {names["item"]: item, names["system"]: system, "annotations": []})
        row["annotations"].append({names["annotator"]: who, "scores": held})
    return list(rows.values())


_TABLES = {"by item": by_item, "by score": by_score, "by person": by_person, "by system": by_system, "beside": beside}


def save(study: Study, folder: Path, pick: random.Random) -> Saved:
    """The study as a file of a layout and a dialect drawn."""
    if study.compared:
        layout, rows = "votes", votes(study, pick)
    else:
        crossed = len({item for item, _, _ in study.answers}) < len({key[:2] for key in study.answers})
        layout = pick.choice(
            [*_TABLES, "by item", "by score", "nested"] if crossed else ["by item", "by score", "by person", "nested"]
        )
        rows = nested(study) if layout == "nested" else _TABLES[layout](study)
    columns = {r: study.names[r] for r in ("item", "system", "annotator") if study.names[r] in rows[0]}
    if layout == "nested":
        text = json.dumps({"dialogues": rows} if pick.random() < 0.3 else rows, ensure_ascii=pick.random() < 0.5)
        return Saved(_write(folder / "data.json", text.encode()), layout, "json", columns)
    rows = _disordered(study, rows, pick)
    named = not (layout in ("by person", "by system") and len(study.labels) == 1)
    dialect = pick.choice(("csv", "csv", "csv", "json", "jsonl", "xlsx"))
    path = {"csv": _csv, "xlsx": _xlsx, "json": _json, "jsonl": _json}[dialect](study, rows, folder, pick, dialect)
    return Saved(path, layout, dialect, columns, named)


def _write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def _disordered(study: Study, rows: Rows, pick: random.Random) -> Rows:
    """Rows with columns of other things, in another order, as files are sorted or not."""
    more = pick.sample(sorted(_BESIDE), pick.choice((0, 0, 1, 2, 3)))
    rows = [{**row, **{c: _BESIDE[c](pick, i) for c in more}} for i, row in enumerate(rows)]
    if study.names["system"] in rows[0] and pick.random() < 0.3:
        of = [study.names[r] for r in ("item", "system")]
        said = "this is what {1} replied in {0} to the user"
        rows = [{**row, "reply": said.format(*(row[c] for c in of))} for row in rows]
    if pick.random() < 0.3:
        pick.shuffle(rows)
    order = list(rows[0])
    if pick.random() < 0.3:
        pick.shuffle(order)
    return [{c: row[c] for c in order} for row in rows]


def _json(study: Study, rows: Rows, folder: Path, pick: random.Random, suffix: str) -> Path:
    """Rows as objects; no answer is null, or a key that is not there."""
    left_out = pick.random() < 0.3
    rows = [{k: v for k, v in row.items() if not (left_out and v is None)} for row in rows]
    lines = [json.dumps(row, ensure_ascii=pick.random() < 0.5) for row in rows]
    text = "\n".join(lines) if suffix == "jsonl" else "[" + ",\n".join(lines) + "]"
    return _write(folder / f"data.{suffix}", text.encode())


def _xlsx(study: Study, rows: Rows, folder: Path, pick: random.Random, suffix: str) -> Path:
    cells = [list(rows[0]), *([v if v is not None else study.missing or None for v in row.values()] for row in rows)]
    return workbook.write(folder / "data.xlsx", {"Sheet1": cells})


def _csv(study: Study, rows: Rows, folder: Path, pick: random.Random, suffix: str) -> Path:
    """Text with a delimiter and an encoding that fit it; commas in decimals where the delimiter is none."""
    delimiter = pick.choice((",", ",", ";", "\t"))
    comma = delimiter != "," and pick.random() < 0.5

    def cell(value: object) -> object:
        if value is None:
            return study.missing
        return str(value).replace(".", ",") if comma and isinstance(value, float) else value

    out = io.StringIO()
    lines = csv.writer(out, delimiter=delimiter, lineterminator=pick.choice(("\n", "\r\n")))
    lines.writerows([list(rows[0]), *(map(cell, row.values()) for row in rows)])
    encoding = pick.choice(("utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252"))
    try:
        content = out.getvalue().encode(encoding)
    except UnicodeEncodeError:
        content = out.getvalue().encode("utf-8")
    return _write(folder / ("data.tsv" if delimiter == "\t" and pick.random() < 0.5 else "data.csv"), content)
