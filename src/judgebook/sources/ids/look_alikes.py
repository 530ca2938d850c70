"""Names that differ only in case, blanks, hyphens, invisible or look-alike characters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from itertools import combinations

#: letters of other scripts that look like Latin ones (from the Unicode confusables, TR 39)
LATIN = str.maketrans("авекмнорстухіјѕԁԛԝαονρικτυχ", "abekmhopctyxijsdqwaovpiktux")
#: words, numbers, and signs that tell versions apart
_PIECE = re.compile(r"[^\W\d_]+|\d+|[+*#!'’]")
#: what separates pieces counts only between numbers
_BETWEEN_NUMBERS = re.compile(r"(?<!\d) | (?!\d)")


def words(name: str) -> str:
    """The words, numbers and signs of a name, divided by blanks: `gpt 4` of `GPT-4`."""
    text = unicodedata.normalize("NFKC", str(name)).casefold().translate(LATIN)
    text = "".join(c for c in text if unicodedata.category(c) != "Cf")
    return " ".join(_PIECE.findall(text)) or text.strip()


def plain(name: str) -> str:
    """A name by words, numbers and signs: `ChatGPT-4`, `chat gpt 4` and `chatgpt_4` are one, `v1.1` and `v11` two."""
    return _BETWEEN_NUMBERS.sub("", words(name))


def groups(names: Mapping[str, str]) -> list[list[str]]:
    """Ids whose names are spellings of one name, two or more each. names : id -> name."""
    by_name: dict[str, list[str]] = {}
    for id_, name in sorted(names.items()):
        by_name.setdefault(plain(name), []).append(id_)
    return [ids for ids in by_name.values() if len(ids) > 1]


def alike(names: Mapping[str, str]) -> list[tuple[str, str]]:
    """Pairs of ids whose names are spellings of one name. names : id -> name."""
    return [pair for ids in groups(names) for pair in combinations(ids, 2)]
