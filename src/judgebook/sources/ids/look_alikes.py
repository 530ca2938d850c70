"""Names that differ only in case, blanks, hyphens, invisible or look-alike characters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from itertools import combinations

from judgebook.study.escape import visible

#: letters of other scripts that look like Latin ones (from the Unicode confusables, TR 39)
LATIN = str.maketrans("авекмнорстухіјѕԁԛԝαονρικτυχ", "abekmhopctyxijsdqwaovpiktux")
#: words, numbers, and signs that tell versions apart
_PIECE = re.compile(r"[^\W\d_]+|\d+|[+*#!'’]")
#: what separates pieces counts only between numbers
_BETWEEN_NUMBERS = re.compile(r"(?<!\d) | (?!\d)")


def seen(name: str) -> str:
    """What a reader sees of a name: without invisible characters, case and the script of letters."""
    if name.isascii():  # of a million ids nearly all are
        return name.casefold()
    text = unicodedata.normalize("NFKC", name).casefold().translate(LATIN)
    return "".join(c for c in text if unicodedata.category(c) != "Cf")


def words(name: str) -> str:
    """The words, numbers and signs of a name, divided by blanks: `gpt 4` of `GPT-4`."""
    text = seen(str(name))
    return " ".join(_PIECE.findall(text)) or text.strip()


def plain(name: str) -> str:
    """A name by words, numbers and signs: `ChatGPT-4`, `chat gpt 4` and `chatgpt_4` are one, `v1.1` and `v11` two."""
    return _BETWEEN_NUMBERS.sub("", words(name))


def groups(names: Mapping[str, str]) -> list[list[str]]:
    """Ids whose names are spellings of one name, two or more each. names : id -> name."""
    return _same({id_: plain(name) for id_, name in names.items()})


def twins(ids: Iterable[str]) -> list[list[str]]:
    """Ids that a reader could not tell apart, two or more each. Unlike in `groups` hyphens and blanks count."""
    return _same({id_: seen(id_) for id_ in ids})


def same_names(names: Mapping[str, str]) -> list[list[str]]:
    """Ids whose names look the same, two or more each. names : id -> name."""
    return _same({id_: visible(name) for id_, name in names.items()})


def _same(keys: Mapping[str, str]) -> list[list[str]]:
    by_key: dict[str, list[str]] = {}
    for id_, key in sorted(keys.items()):
        by_key.setdefault(key, []).append(id_)
    return [ids for ids in by_key.values() if len(ids) > 1]


def alike(names: Mapping[str, str]) -> list[tuple[str, str]]:
    """Pairs of ids whose names are spellings of one name. names : id -> name."""
    return [pair for ids in groups(names) for pair in combinations(ids, 2)]
