"""A made-up file, with the judgements that it holds."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from pathlib import Path

from doors.reading import Judgement


@dataclass
class Case:
    """A file. files : name -> text or bytes; the first is given to `new`. truth : what it holds."""

    name: str
    files: dict[str, str | bytes]
    truth: list[Judgement]
    directions: dict[str, int] = field(default_factory=dict)

    def write(self, folder: Path) -> Path:
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, bytes):
                path.write_bytes(content)
            else:
                path.write_text(content, encoding="utf-8", newline="")
        return folder / next(iter(self.files))


def text_of(rows: list[list[object]], delimiter: str = ",") -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return out.getvalue()
