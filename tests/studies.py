"""Small studies in a folder: a YAML with its raw files beside it."""

import json
from pathlib import Path

from helpers import params
from helpers.sources import build

WIDE = """\
title: My study
sources:
  - {adapter: table, file: my.csv, layout: wide, columns: {dialogue: id}, scores: "{label}_{annotator}", \
na_values: ["", "N/A"]}
labels:
  fluency: {scale: [1, 5], level: ordinal}
  quality: {scale: [1, 5], level: ordinal}
"""
LONG = """\
title: Long study
method: dialogue_rating
sources:
  - adapter: table
    file: my.csv
    layout: long
    columns: {dialogue: chat, system: bot, annotator: worker, label: what, score: rating}
labels:
  fluency: {scale: [1, 5]}
  quality: {scale: [1, 5]}
"""
LONG_CSV = """\
chat,bot,worker,what,rating
d1,A,w1,fluency,4
d1,A,w2,fluency,5
d2,B,w1,fluency,2
d2,B,w1,quality,3
"""


def wide_csv(n: int = 12) -> str:
    """A wide table: `n` items, two labels, three annotators, scores 1 to 5 that differ."""
    names = [f"{label}_a{i}" for label in ("fluency", "quality") for i in (1, 2, 3)]
    rows = [",".join([str(i), *(str(1 + (i * 3 + k * 2) % 5) for k in range(6))]) for i in range(1, n + 1)]
    return "\n".join([",".join(["id", *names]), *rows]) + "\n"


def write(folder: Path, yaml: str, name: str = "mine", **files: object) -> Path:
    """Write `<name>.yaml` and the files (text, bytes, or anything for JSON; `my_csv` is `my.csv`); returns the YAML."""
    for file, content in files.items():
        path = folder / ".".join(file.rsplit("_", 1))
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    path = folder / f"{name}.yaml"
    path.write_text(yaml, encoding="utf-8")
    return path


def read(folder: Path, yaml: str, **files: object) -> build.Built:
    """The study built from a YAML and files; nothing is written."""
    return build.build(params.load(write(folder, yaml, **files)))
