"""What can be counted in the text of an answer, each by one function; and numbers that the data have for answers.

Nothing here is stored with texts: measures are computed from them where they are needed.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd

from judgebook.study.schema import Annotations, Dialogues

#: a block between fences of Markdown, or up to the end of the text where it is not closed
_CODE = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_HEADER = re.compile(r"^ {0,3}#{1,6}[ \t]+\S", re.MULTILINE)
_ITEM = re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])[ \t]+\S", re.MULTILINE)
_BOLD = re.compile(r"(\*\*|__)(?=\S)(?:(?!\1).)+?(?<=\S)\1")
_REFUSAL = re.compile(
    r"\bI(?:['’]m| am)(?: \w+)? (?:unable|not able|not allowed) to\b"
    r"|\bI (?:can(?:no|['’])t|can not|won['’]t|will not|must decline to)(?: \w+)? (?:answer|assist|comply|continue"
    r"|create|discuss|do|engage|fulfil+|generate|give|help|offer|produce|provide|respond|share|support|write)\b",
    re.IGNORECASE,
)
#: characters from its beginning in which a refusal says so
_OPENING = 150


def characters(text: str) -> int:
    """Characters, without white space at both ends: also where words are not divided by blanks."""
    return len(text.strip())


def words(text: str) -> int:
    """Words, divided by white space."""
    return len(text.split())


def code_blocks(text: str) -> int:
    """Blocks of code between fences of Markdown (``` or ~~~); one that is not closed counts."""
    return len(_CODE.findall(text))


def headers(text: str) -> int:
    """Headers of Markdown (`# Title`), outside of code."""
    return len(_HEADER.findall(_CODE.sub("", text)))


def list_items(text: str) -> int:
    """Items of lists of Markdown, with bullets or numbers, outside of code."""
    return len(_ITEM.findall(_CODE.sub("", text)))


def bold(text: str) -> int:
    """Passages in bold by Markdown (`**so**`), outside of code."""
    return len(_BOLD.findall(_CODE.sub("", text)))


def refusals(text: str) -> int:
    """1 where an answer begins by saying in English that it cannot or will not do what was asked, else 0. It knows
    common wordings only ("I'm unable to", "I cannot help")."""
    return int(bool(_REFUSAL.search(text[:_OPENING])))


def script(text: str) -> str:
    """The most frequent script of letters outside of code, as Unicode names it (`LATIN`); empty without letters.
    Chinese characters and kana, which Japanese mixes, are one (`CJK`)."""
    n: Counter[str] = Counter()
    for letter, times in Counter(unicodedata.normalize("NFKC", _CODE.sub("", text))).items():
        name = re.split("[ -]", unicodedata.name(letter, ""))[0]
        n["CJK" if name in ("HIRAGANA", "KATAKANA") else name] += times * letter.isalpha()
    return max(+n, key=n.__getitem__, default="")


def other_script(answer: str, prompt: str = "") -> int:
    """1 where an answer is written mostly in another script than what the user wrote before it, code left out, else 0,
    also where either has no letters. Languages of one script, such as English and French, are not told apart."""
    return int(len({script(answer), script(prompt)} - {""}) > 1)


#: what texts are measured by, by the name that a YAML gives it
OF_TEXTS: Mapping[str, Callable[..., int]] = MappingProxyType(
    {f.__name__: f for f in (characters, words, headers, list_items, bold, code_blocks, refusals, other_script)}
)
#: the others count by how many times larger one is
DIFFERENCES = ("refusals", "other_script")
_PLACE = ["corpus", "dialogue", "turn"]
#: turn of what is measured of a whole dialogue
_WHOLE = -1


def of_texts(dialogues: Dialogues, name: str) -> pd.Series:
    """A measure of OF_TEXTS by corpus, dialogue and turn; of whole dialogues (turn -1) summed over turns.

    Turns of which the data have no text are left out, or for `other_script` not what the user wrote; an empty text is
    one of length 0.
    """
    texts = ["system_text", "user_text"] if name == other_script.__name__ else ["system_text"]
    said = dialogues.dropna(subset=texts)
    return _by_place(said, [OF_TEXTS[name](*row) for row in said[texts].astype(str).to_numpy()], "sum")


def given(name: str, metric_scores: pd.DataFrame, dialogue_facts: pd.DataFrame) -> pd.Series:
    """A number that the data have for answers, as `of_texts`: the metric of this name, else the fact; of whole
    dialogues the mean over turns where only these have it. Empty where there is no such number."""
    scores = metric_scores[metric_scores["metric"] == name]
    if len(scores):
        return _by_place(scores, scores["score"], "mean")
    facts = dialogue_facts[dialogue_facts["key"] == name]
    return _by_place(facts, pd.to_numeric(facts["value"], errors="coerce"), "mean")


def _by_place(rows: pd.DataFrame, values: Iterable[float], over_turns: str) -> pd.Series:
    of = rows[_PLACE].assign(turn=rows["turn"].fillna(_WHOLE).astype(int), value=np.asarray(values, float))
    by_turn = of.dropna(subset="value").groupby(_PLACE)["value"].mean()
    turns = by_turn[by_turn.index.get_level_values("turn") != _WHOLE].reset_index()
    whole = turns.assign(turn=_WHOLE).groupby(_PLACE)["value"].agg(over_turns)
    both = pd.concat([by_turn, whole])
    return both[~both.index.duplicated()]


def sides(votes: Annotations, values: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """(n,) values of the first and of the second answer of each vote, NaN where there is none."""
    turn = votes["turn"].fillna(_WHOLE).astype(int)
    keys = (pd.MultiIndex.from_arrays([votes["corpus"], votes[side], turn]) for side in ("dialogue", "dialogue_b"))
    first, second = (values.reindex(key).to_numpy(float) for key in keys)
    return first, second


def ratio(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(n,) how many times the first is twice the second: base-2 logarithm of the ratio, one being added to both, as one
    may be 0; NaN where a number is below 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        found: np.ndarray = np.log2((1 + first) / (1 + second))
    return np.where((first < 0) | (second < 0), np.nan, found)
