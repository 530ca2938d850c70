"""What `plan` prints where no study is the pilot."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill

import numpy as np

from judgebook.display.text import Phrases, plural
from judgebook.questions.planning.assumed.stated import Sizes, sizes
from judgebook.questions.planning.designs import MOST
from judgebook.study import escape

_PHRASES = Phrases(__package__)
WIDTH = 100


def stated(
    difference: float,
    *,
    sd: float | None = None,
    rate: float | None = None,
    agreement: float | None = None,
    annotators: int | None = None,
    systems: int = 2,
    power: float = 0.8,
) -> str:
    """The sizes of a study of which the user says how scores vary."""
    needed = sizes(
        difference,
        sd=np.nan if sd is None else sd,
        rate=rate,
        agreement=agreement,
        annotators=annotators,
        systems=systems,
        power=power,
    )
    text = _PHRASES.say(
        "sized", difference=difference, power=power, tests=systems * (systems - 1) // 2, systems=systems,
        sd=sd, rate=rate, agreement=agreement, per_dialogue=needed.per_dialogue,
        table="TABLE",
    )  # fmt: skip
    paragraphs = [
        "\n".join(_table(needed)) if p == "TABLE" else fill(escape.unmarked(p), WIDTH) for p in text.split("\n\n")
    ]
    return "\n\n".join(paragraphs)


def _plain(value: float) -> str:
    return f"{value:g}"


def _table(needed: Sizes) -> Sequence[str]:
    """Lines: a row for each agreement, a column for each number of people."""
    one = len(needed.agreements) == 1
    heads = [f"{plural(m, 'person', 'people')} a dialogue" for m in needed.per_dialogue]
    names = {0.0: "none (0)", 1.0: "complete (1)"}
    first = [] if one else ["agreement", *(names.get(r, _plain(r)) for r in needed.agreements)]
    columns = [[head, *_cells(needed, i)] for i, head in enumerate(heads)]
    wide = max(map(len, first), default=0)
    lines = []
    for i in range(len(columns[0])):
        numbers = "   ".join(column[i].rjust(len(column[0])) for column in columns)
        lines.append("  " + (f"{first[i]:<{wide}}   " if first else "") + numbers)
    return lines


def _cells(needed: Sizes, column: int) -> list[str]:
    return [f"> {MOST:,}" if row[column] is None else f"{row[column]:,}" for row in needed.dialogues]
