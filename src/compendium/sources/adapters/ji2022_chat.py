"""The texts in which the MTurk files of Ji et al. 2022 hold a chat, its scores and its topics."""

from __future__ import annotations

import re
from collections.abc import Iterable

from judgebook.sources.ids import naming

_LINE = re.compile(r"###(?=[ub]:|$)")
_WHOLE = re.compile(r"\s*[0-9]{1,15}\s*")
_ROUND = re.compile(r"#(\d+)@")


def turns(text: str) -> list[tuple[str, str]] | None:
    """`u: …###b: …###` as (what the person said, what the system said) for every reply; None when it is not that.

    Several lines of the person before one reply are joined; words after the last reply are left out.
    """
    said: list[str] = []
    out: list[tuple[str, str]] = []
    for line in _LINE.split(text):
        speaker, colon, words = line.partition(":")
        if not line.strip():
            continue
        if not colon or speaker not in ("u", "b"):
            return None
        if speaker == "u":
            said.append(words.strip())
        else:
            out.append(("\n".join(said), words.strip()))
            said = []
    return out or None


def scores(text: str, n: int) -> list[int] | None:
    """`72#75#…#` as `n` whole numbers; None when it is not that."""
    cells = text.removesuffix("#").split("#")
    if len(cells) != n or not all(_WHOLE.fullmatch(cell) for cell in cells):
        return None
    return [int(cell) for cell in cells]


def rounds(text: str) -> list[tuple[int, str]]:
    """`#0@text#4@text` as (round, text); round 0 is the start of the chat. Empty text: none."""
    cells = _ROUND.split(text)[1:]
    # a number of thousands of digits is no int: any as large is reported as no round
    return [(int(min(float(n), 1e15)), words.strip()) for n, words in zip(cells[::2], cells[1::2], strict=True)]


class Mask:
    """Takes out of texts what names a person: ids of workers, which some type in, addresses and phone numbers."""

    def __init__(self, ids: Iterable[str]):
        self._names = naming.Names({id_: naming.MASK for id_ in ids if id_})
        self.n = 0

    def __call__(self, text: str) -> str:
        text, ids = self._names.texts(text, every=True)
        text, addresses = naming.addresses(text)
        self.n += ids + addresses
        return text
