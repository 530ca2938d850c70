"""What must not leave with pages and results: texts of dialogues, and ids of people that pseudonyms stand for."""

from __future__ import annotations

import html
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from judgebook.sources.ids.naming import OWN_IDS, TEXTS
from judgebook.study import escape

#: text of a dialogue of this length cannot stand on a page by chance
SHORTEST = 25
#: shorter ids, and those without a digit or @, may be words; numbers of fewer digits may be part of a result
SHORTEST_ID, FEWEST_DIGITS = 6, 9
_WORD = re.compile(r"\w+")
_SAID = re.compile(r'\b(?:alt|title|aria-label)="([^"]*)"')
#: formats whose text is looked through; figures as PDF and PNG show what their SVG shows
READ = (".bib", ".csv", ".html", ".ipynb", ".json", ".md", ".parquet", ".svg", ".tex", ".yaml")


def texts(folder: Path) -> set[str]:
    """What people wrote, in the frames of a study's folder."""
    import pandas as pd

    out: set[str] = set()
    for name, columns in TEXTS.items():
        path = folder / f"{name}.parquet"
        frame = pd.read_parquet(path, columns=columns) if path.is_file() else pd.DataFrame()
        out.update(text for column in frame for text in frame[column].dropna().unique())
    return out


def own_ids(folder: Path) -> dict[str, str]:
    """Id of the source -> pseudonym, of a study's folder."""
    path = folder / OWN_IDS
    if not path.is_file():
        return {}
    kept = escape.read_csv(path)
    return dict(zip(kept["own_id"], kept["pseudonym"], strict=True))


class Finder:
    """Finds texts and ids in files, whatever these escape: words are compared, not marks."""

    def __init__(self, texts: Iterable[str], ids: Iterable[str] = ()):
        wanted = {
            "text of a dialogue": (SHORTEST, {_words(text) for text in texts}),
            "the id of a person": (SHORTEST_ID, {_words(bare) for own_id in ids if _telling(bare := _bare(own_id))}),
        }
        #: what, length -> what is looked for, by its first characters
        self._starts: dict[tuple[str, int], dict[str, list[str]]] = {}
        for what, (length, items) in wanted.items():
            starts = defaultdict(list)
            for item in sorted(i for i in items if len(i) >= length):
                starts[item[:length]].append(item)
            if starts:
                self._starts[what, length] = dict(starts)

    def __call__(self, path: str, content: bytes | Path) -> str | None:
        """What a file holds of these, without repeating it; None where it holds nothing. path : tells the format."""
        suffix = Path(path).suffix
        if suffix not in READ or not self._starts:
            return None
        words = _words(" \n ".join(_strings(suffix, content)))
        for place in _WORD.finditer(words):
            at = place.start()
            for (what, length), starts in self._starts.items():
                for item in starts.get(words[at : at + length], ()):
                    if words.startswith(item, at) and words[at + len(item) : at + len(item) + 1] in ("", " "):
                        return what
        return None


def _bare(own_id: str) -> str:
    """An id without the file it is from: the name of a file and the number of a row tell nobody."""
    return own_id.split(":", 1)[-1]


def _telling(own_id: str) -> bool:
    """Whether an id cannot be taken for words or for part of a number."""
    if own_id.isdecimal():
        return len(own_id) >= FEWEST_DIGITS
    return re.search(r"[\d@]", own_id) is not None


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.replace("\\", "")))


def _strings(suffix: str, content: bytes | Path) -> Iterator[str]:
    """Texts in a file, without what its format adds to them."""
    if suffix == ".parquet":
        import pandas as pd

        frame = pd.read_parquet(content)
        for column in frame.select_dtypes(["object", "string", "category"]):
            yield from frame[column].dropna().astype(str).unique()
        return
    text = (content.read_bytes() if isinstance(content, Path) else content).decode("utf-8", errors="replace")
    if suffix in (".html", ".svg"):
        yield _read_out(text)
    elif suffix in (".ipynb", ".json"):
        for leaf in _leaves(json.loads(text)):
            yield leaf
            if "<" in leaf or "&" in leaf:
                yield _read_out(leaf)
    else:
        yield html.unescape(text) if suffix == ".md" else text


def _read_out(text: str) -> str:
    """What HTML or SVG says: its text, and what it says of pictures and links."""
    return html.unescape(" \n ".join([re.sub(r"<[^<>]*>", " ", text), *_SAID.findall(text)]))


def _leaves(tree: Any) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, dict):
        for key, value in tree.items():
            yield key
            if not key.startswith("image/"):  # pictures have no words, and drawings are files of their own
                yield from _leaves(value)
    elif isinstance(tree, list):
        if tree and all(isinstance(item, str) for item in tree):  # lines, or a list of names
            yield from ("".join(tree), " ".join(tree))
        else:
            yield from (leaf for item in tree for leaf in _leaves(item))
