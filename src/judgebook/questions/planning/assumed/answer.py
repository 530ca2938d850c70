"""What `plan` prints where no study is the pilot."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill

import numpy as np
import pandas as pd

from judgebook.display.text import Phrases, plural
from judgebook.model.designs import MOST
from judgebook.questions.planning.assumed import alike
from judgebook.questions.planning.assumed import stated as stated_sizes
from judgebook.questions.planning.assumed.stated import Sizes, sizes
from judgebook.study import escape

_PHRASES = Phrases(__package__)
WIDTH = 100
#: scales of which there is one
_ENDS = {"comparative": (-1.0, 1.0), "binary": (0.0, 1.0)}


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
        "sized", difference=difference, power=power, systems=systems,
        sd=sd, rate=rate, agreement=agreement, per_dialogue=needed.per_dialogue,
        table="TABLE",
    )  # fmt: skip
    return _filled(text, _table(needed))


def like(
    labels: pd.DataFrame,
    values: pd.DataFrame,
    asked: Sequence[str],
    difference: float,
    scale: tuple[float, float] | None = None,
    *,
    annotators: int | None = None,
    systems: int = 2,
    power: float = 0.8,
    pilot: int = 20,
) -> str:
    """The sizes of a study whose label is like those of public studies that have the words `asked`.

    labels, values : of the atlas. scale : its lowest and highest score, where several are usual. pilot : dialogues of
    each system.

    Raises ValueError for a word that no label has, and where fewer than `alike.FEWEST` studies are like it, even
    without what the label is about and who judged.
    """
    each = stated_sizes.PER_DIALOGUE if annotators is None else (annotators,)
    kept = _chosen(labels, values, asked, max(each))
    chosen = alike.comparable(labels, kept)
    scale = _scale(alike.form(chosen), scale)
    pairwise = bool((alike.form(chosen) == "comparative").all())
    of_form = labels[alike.form(labels).isin(alike.form(chosen))]
    unit = "pair" if pairwise else "dialogue"
    relative = difference / (scale[1] - scale[0])
    if relative >= 1:
        raise ValueError(f"expected a difference below the width of the scale, {scale[0]:g} to {scale[1]:g}")
    rows = [[f"people a {unit}", f"{unit}s", "80% need", f"after a pilot of {pilot}"]]
    for m in each:
        rows_of = (alike.log_variances(part, values, m) for part in (chosen, of_form))
        known = alike.reference(*rows_of)
        now, then = (
            alike.likely(one, relative, m, pairwise=pairwise, systems=systems, wanted=power)
            for one in (known, known.after(pilot, pairwise))
        )
        rows.append([str(m), _count(now.dialogues), _range(now), _range(then)])
    used = alike.log_variances(chosen, values, max(each))
    text = _PHRASES.say(
        "like", difference=difference, power=power, systems=systems, asked=kept,
        without=[word for word in asked if word not in kept],
        n_labels=len(used), studies=sorted(used["study"].unique()), table="TABLE", pilot=pilot,
        pairwise=pairwise,
    )  # fmt: skip
    return _filled(text, _columns(rows))


def _scale(forms: pd.Series, stated: tuple[float, float] | None) -> tuple[float, float]:
    """Of labels of these forms; ValueError where it has to be stated, and where another is."""
    several = sorted(set(forms))
    (one,) = several if len(several) == 1 else ("",)
    ends = _ENDS.get(one)
    if ends and stated not in (ends, None):
        raise ValueError(f"{one} labels are from {ends[0]:g} to {ends[1]:g}: leave out --scale")
    if not one:
        raise ValueError(f"expected one form of label among the words, found {', '.join(several)}")
    if found := ends or stated:
        return found
    raise ValueError("expected the scale that the difference is on, as in --scale 1:5")


def _chosen(labels: pd.DataFrame, values: pd.DataFrame, asked: Sequence[str], annotators: int) -> list[str]:
    """The words that enough studies have; ValueError for an unknown word, and where too few have any."""
    words = alike.words(labels)
    for word in asked:
        if not any(word in choices for choices in words.values()):
            choices = "; ".join(", ".join(choices) for choices in words.values())
            raise ValueError(f"{word!r}: expected one of {choices}")
    if not (kept := alike.nearest(labels, values, asked, annotators)):
        raise ValueError(f"fewer than {alike.FEWEST} public studies are like {','.join(asked) or 'nothing'}")
    return kept


def _count(n: int | None) -> str:
    return f"> {MOST:,}" if n is None else f"{n:,}"


def _range(found: alike.Likely) -> str:
    return f"{_count(found.low)} to {_count(found.high)}"


def _table(needed: Sizes) -> list[str]:
    """Lines: a row for each agreement, a column for each number of people."""
    names = {0.0: "none (0)", 1.0: "complete (1)"}
    several = len(needed.agreements) > 1
    rows = [["agreement"] * several + [f"{plural(m, 'person', 'people')} a dialogue" for m in needed.per_dialogue]]
    for agreement, row in zip(needed.agreements, needed.dialogues, strict=True):
        rows.append([names.get(agreement, f"{agreement:g}")] * several + [_count(n) for n in row])
    return _columns(rows)


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  " + "   ".join(cell.rjust(w) for cell, w in zip(row, wide, strict=True)) for row in rows]


def _filled(text: str, table: Sequence[str]) -> str:
    """Paragraphs at the width of a terminal, with the table in its place."""
    return "\n\n".join(
        "\n".join(table) if p == "TABLE" else fill(escape.unmarked(p), WIDTH) for p in text.split("\n\n")
    )
