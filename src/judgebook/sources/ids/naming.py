"""Ids of people and tasks where they do not stand alone: inside other ids, in names of files and in texts."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

#: beside the frames, for the user alone: no frame, no digest and no page has it; bundles are looked through for its ids
OWN_IDS = "own_ids.csv"
#: columns whose values identify people and tasks
PEOPLE = frozenset({"annotator", "interactor", "work_unit"})
_OF_PEOPLE = re.compile(
    r"(.*[^a-z])?(worker|annotator|rater|evaluator|judge|participant|respondent|subject|prolific|turker|assignment|hit)"
    r"([ _.-]?(id|pid|name|code))?|.*e-?mail.*",
    re.IGNORECASE,
)
#: columns with what people wrote, or systems said
TEXTS = {
    "annotations": ["reason"],
    "dialogues": ["user_text", "system_text", "reference"],
    "dialogue_facts": ["text"],
}
#: what stands in a text for what was taken out
MASK = "[removed]"
#: leads an id made of several columns that is too long to show, and what of it is shown; `numbered` gives it a number
LONG = "\x1f"
_CHECKSUM = re.compile(f"{LONG}[0-9a-f]+{LONG}")
#: letters and digits of an id by which it is recognised inside a word, whatever case, blanks or suffix it has
_DISTINCT = 8
_WORD = re.compile(r"[^\W_]+")
_AT, _DOT = r"\s*(?:@|[\[({]\s*at\s*[\])}])\s*", r"\s*(?:\.|[\[({]\s*dot\s*[\])}])\s*"
# matches words without an address, too: sought from each letter of a long word, one would take a time that grows with
# the square of its length
_MAIL = re.compile(rf"[\w.+-]+({_AT}[\w-]+(?:{_DOT}[\w-]+)+|\s+at\s+[\w-]+(?:\s+dot\s+[\w-]+)+)?", re.IGNORECASE)
_PHONE = re.compile(r"(?<![\w.])(?:\+\d[\d ()./-]{6,16}\d|\(?\d{3}\)?[ .-]?\d{3}[ .-]?\d{4})(?![\w])")


def shown(text: str) -> str:
    """A text with what can be read of long ids in it."""
    return _CHECKSUM.sub("", text)


def plain(id_: str) -> str:
    """An id without LONG: of a long one the checksum."""
    return id_.split(LONG, 2)[1] if id_.startswith(LONG) else id_.replace(LONG, "")


def private(source: Any) -> frozenset[str]:
    """Columns of a source, ours and the file's, whose values identify people and tasks."""
    mapped = {column for ours, column in getattr(source, "columns", {}).items() if ours in PEOPLE}
    either = getattr(source, "either", {})
    mapped |= {column for ours in PEOPLE & set(either) for column in either[ours]}
    rules = [getattr(source, key, {}) for key in ("keep", "drop")]
    return PEOPLE | mapped | {c for rule in rules for c in rule if _OF_PEOPLE.fullmatch(c)}


class Names:
    """Puts pseudonyms in the place of ids.

    Parameters
    ----------
    pseudonyms : id -> what replaces it.
    """

    def __init__(self, pseudonyms: Mapping[str, str]):
        self.pseudonyms = dict(pseudonyms)
        # by first word, or first characters: an id, and what a text must hold for the id to be in it
        self._words: dict[str, list[tuple[str, set[str]]]] = defaultdict(list)
        self._starts: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for id_ in self.pseudonyms:
            words = _WORD.findall(id_.lower())
            if _telling(words):
                self._words[words[0]].append((id_, set(words)))
            if _distinct(words):
                squeezed = "".join(words)
                self._starts[squeezed[:_DISTINCT]].append((id_, squeezed))

    @classmethod
    def of(cls, rows: Iterable[tuple[str, str, str]]) -> Names:
        """As `Built.own_ids` lists them: kind, pseudonym, id. A task's id is also known without the file it is from."""
        rows = list(rows)
        bare = {old.split(":", 1)[1]: new for kind, new, old in rows if kind == "work unit" and ":" in old}
        return cls(bare | {old: new for _, new, old in rows})

    def within(self, value: str) -> str:
        """An id or the name of a file, without the ids in it.

        An id is found as a word, or as words in a row, in upper or lower case; one of eight letters and digits or more
        also where something is attached to it. Ids of one or two characters, or of up to four digits, name nobody.
        """
        words = _WORD.findall(value.lower())
        named = self._among(words) | self._inside("".join(words))
        return self._replaced(value, named)[0] if named else value

    def may_be_in(self, values: list[str]) -> bool:
        """Whether `within` may find an id in one of many values; it looks at all at once."""
        text = "\n".join(values).lower()
        if text.count("\n") >= max(len(values), 1) or not self._words.keys().isdisjoint(_WORD.findall(text)):
            return True
        if not self._starts:
            return False
        import numpy as np

        squeezed = re.sub(r"[^\w\n]|_", "", text).encode("utf-8", "surrogatepass")
        if len(squeezed) < _DISTINCT:
            return False
        eight = np.ndarray(len(squeezed) - _DISTINCT + 1, np.uint64, squeezed, strides=(1,))  # bytes from each on
        starts = (start.encode("utf-8", "surrogatepass")[:_DISTINCT] for start in self._starts)
        return bool(np.isin(eight, np.frombuffer(b"".join(starts), np.uint64)).any())

    def texts(self, text: str, *, every: bool = False) -> tuple[str, int]:
        """A text with MASK for ids, and how many were taken out.

        Of ids of fewer than eight letters and digits, those are found that are a word with both, and addresses: `ann`
        is a word of the language, too. every : find all that `within` finds.
        """
        if not every and not any(c.isdigit() or c == "@" for c in text):
            return text, 0
        words = _WORD.findall(text.lower())
        ids = {i for i in self._among(words) if every or _coded(i)} | self._inside("".join(words))
        return self._replaced(text, ids, lambda id_: MASK)

    def _among(self, words: Iterable[str]) -> set[str]:
        given = set(words)
        return {id_ for word in given if word in self._words for id_, parts in self._words[word] if parts <= given}

    def _inside(self, squeezed: str) -> set[str]:
        if not self._starts:
            return set()
        starts = {squeezed[i : i + _DISTINCT] for i in range(len(squeezed) - _DISTINCT + 1)}
        return {id_ for start in starts & self._starts.keys() for id_, part in self._starts[start] if part in squeezed}

    def _replaced(self, text: str, named: Iterable[str], name: Callable[[str], str] | None = None) -> tuple[str, int]:
        """All at once, the longest id first: what replaces one may be the id of another."""
        ids = sorted(named, key=lambda i: (-len(i), i))
        if not ids:
            return text, 0
        name = name or self.pseudonyms.__getitem__
        return _pattern(tuple(ids)).subn(lambda match: name(ids[(match.lastindex or 0) - 1]), text)


def _telling(words: list[str]) -> bool:
    joined = "".join(words)
    return len(joined) >= (5 if joined.isdigit() else 3)


def _coded(id_: str) -> bool:
    return "@" in id_ or (len(id_) >= 5 and id_.isalnum() and any(c.isdigit() for c in id_) and not id_.isdigit())


def _distinct(words: list[str]) -> bool:
    joined = "".join(words)
    return len(joined) >= _DISTINCT and any(c.isdigit() for c in joined) and not joined.isdigit()


@cache
def _pattern(ids: tuple[str, ...]) -> re.Pattern[str]:
    """Finds any of the ids; its groups are numbered as they are."""
    return re.compile("|".join(f"({_alone(id_)})" for id_ in ids), re.IGNORECASE)


def _alone(id_: str) -> str:
    words = _WORD.findall(id_.lower())
    if _distinct(words):
        return r"[\W_]{0,2}".join(map(re.escape, "".join(words)))
    return r"(?<![^\W_])" + r"[\W_]+".join(map(re.escape, words)) + r"(?![^\W_])"


def addresses(text: str) -> tuple[str, int]:
    """A text with MASK for e-mail addresses and phone numbers, and how many were taken out.

    Addresses are also found as `ann (at) mail (dot) com` and `ann at mail dot com`; numbers with a `+`, or of three,
    three and four digits.
    """
    n = sum(match[1] is not None for match in _MAIL.finditer(text))
    if n:
        text = _MAIL.sub(lambda match: match[0] if match[1] is None else MASK, text)
    text, more = _PHONE.subn(MASK, text)
    return text, n + more


def renamed(frames: dict[str, pd.DataFrame], columns: Iterable[str], names: Names) -> dict[str, pd.DataFrame]:
    """Frames with ids replaced inside the values of these columns; values that differ stay different."""
    from judgebook import codes

    columns = list(columns)
    values = codes.distinct(*(f[c] for f in frames.values() for c in columns if c in f))
    texts = [v for v in values if isinstance(v, str)]
    new = {v: names.within(v) for v in texts} if names.may_be_in(texts) else {}
    changed = {v: n for v, n in new.items() if v != n}
    taken = values - changed.keys()
    if len(set(changed.values()) - taken) < len(changed):  # two would become one
        changed = _apart(frames, columns, changed, taken)
    return _mapped(frames, columns, changed)


def _apart(
    frames: dict[str, pd.DataFrame], columns: list[str], changed: dict[str, str], taken: set[str]
) -> dict[str, str]:
    from judgebook import codes

    out: dict[str, str] = {}
    for frame in frames.values():
        for column in (c for c in columns if c in frame):
            for value in codes.seen(frame[column]):
                if value in changed and value not in out:
                    name, i = changed[value], 1
                    while name in taken:
                        i += 1
                        name = f"{changed[value]}.{i}"
                    taken.add(name)
                    out[value] = name
    return out


def numbered(frames: dict[str, pd.DataFrame], columns: Mapping[str, str]) -> dict[str, pd.DataFrame]:
    """Frames in which long ids are numbers in the order in which they first appear.

    Parameters
    ----------
    columns : column -> pattern of its numbers; columns of one pattern share them.
    """
    from judgebook import codes

    for pattern in dict.fromkeys(columns.values()):
        mine = [c for c, p in columns.items() if p == pattern]
        seen = [codes.seen(f[c]) for f in frames.values() for c in mine if c in f]
        if not any(LONG in "".join(map(str, some)) for some in seen):
            continue
        values = list(dict.fromkeys(v for some in seen for v in some))
        taken = {v for v in values if not str(v).startswith(LONG)}
        free = (name for i in range(1, len(values) + len(taken) + 1) if (name := pattern.format(i)) not in taken)
        frames = _mapped(frames, mine, {v: next(free) for v in values if str(v).startswith(LONG)})
    return frames


def _mapped(frames: dict[str, pd.DataFrame], columns: list[str], names: Mapping[str, str]) -> dict[str, pd.DataFrame]:
    if not names:
        return frames
    import pandas as pd

    from judgebook import codes

    def mapped(values: pd.Series) -> pd.Series:
        if codes.is_coded(values):
            return codes.mapped(values, lambda v: names.get(v, v))
        return pd.Series([names.get(v, v) for v in values], values.index, dtype=values.dtype)

    return {key: frame.assign(**{c: mapped(frame[c]) for c in columns if c in frame}) for key, frame in frames.items()}
