"""Numbers as people and forms write them: with a decimal comma, or with the words for it, as at the ends of a scale."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import pandas as pd

from judgebook import codes

#: 3,5; with three digits, a comma may as well stand between thousands
_COMMA = re.compile(r"-?[0-9]+,[0-9]{1,2}")
_NUMBER = r"-?[0-9]+(?:[.,][0-9]{1,2})?"
#: what spreadsheets make of a score such as 5/5
_MONTH = (
    "(?:jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|mär(?:z)?|apr(?:il)?|may|mai|june?|juni|july?|juli|aug(?:ust)?"
    "|sept?(?:ember)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?)"
)
_WORDS = rf"(?!{_MONTH}\b)[^\W\d_][^()]*"
#: `1 - not at all`, `5 (very good)`, `1 = never`, `3: ok`, `2. poor`, `very good (5)`; `5-May` is a date
_LABELLED = re.compile(
    rf"({_NUMBER})(?:\s*(?:[–—=:.)]|->)\s*{_WORDS}|(?:\s+-\s*|-\s+){_WORDS}|\s*\({_WORDS}\)).*"
    rf"|{_WORDS}\(({_NUMBER})\)",
    re.DOTALL | re.IGNORECASE,
)


#: how texts begin that are or begin with a number
_BEGINS = tuple("-0123456789")


def plain(text: str) -> str:
    """The number that a text is or begins with, as Python writes it; any other text as it is."""
    text = text.strip()
    if text[:1] not in _BEGINS and text[-1:] != ")":
        return text
    if match := _LABELLED.fullmatch(text):
        text = match[1] or match[2]
    return text.replace(",", ".") if _COMMA.fullmatch(text) else text


def of(texts: Iterable[str]) -> np.ndarray:
    """Texts as numbers; missing where one is none."""
    return np.asarray(pd.to_numeric(np.array([*map(plain, texts)], dtype=object), errors="coerce"), dtype=float)


def read(values: pd.Series) -> pd.Series:
    """Text cells as numbers; missing where one is none."""
    return codes.numbers(codes.mapped(values, plain))
