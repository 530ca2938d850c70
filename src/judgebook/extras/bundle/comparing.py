"""What of a bundled report comes out again: sentences of its pages, answers, and rows of results."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
from pyarrow.lib import ArrowException

from judgebook.extras.bundle.parts import BundleError
from judgebook.extras.bundle.sentences import sentences

Read = TypeVar("Read")
#: numbers that agree to this share of their size are the same: libraries of linear algebra differ by 1e-12 in what they
#: sum, and iterations (of models, of strengths of systems) stop within 1e-9 of their end
RELATIVE, ABSOLUTE = 1e-9, 1e-12
#: what a run says of itself, not of the study
_NOT_ASKED = re.compile(r"not run|It was not asked for\.|Left out of the first run: .*")
_COMMAND = re.compile(r"python (?:run_all\.py|-m judgebook)")
_OF_A_RUN = {"Command", "Changed with --set", "Date and version", "Data (SHA-256)"}


@dataclass(frozen=True)
class Missing:
    """Something that does not come out. where : page or file. what : the sentence, or the number with its place."""

    where: str
    what: str
    now: str = ""


@dataclass(frozen=True)
class Compared:
    """n : sentences, answers and rows of results that were compared, by kind. missing : those that do not come out.
    gathered : sentences that pages of several notebooks have now and did not have."""

    n: Counter[str]
    missing: dict[str, list[Missing]]
    gathered: list[str]


def compared(bundle: Path, again: Path, study: str) -> Compared:
    """A bundle as a folder, against the folder of output of a run from its judgements. What tells of a run, such as its
    date, is left out."""
    n: Counter[str] = Counter()
    missing: dict[str, list[Missing]] = {"sentences": [], "answers": [], "results": []}
    gathered: list[str] = []
    of_a_run = _of_a_run(bundle / "report" / "answers.json")
    for page in sorted((bundle / "report").glob("*.html"), key=lambda path: (path.stem != "index", path)):
        if page.stem == "search":  # says again what the other pages say
            continue
        before = [s for s in sentences(_text(page)) if not of_a_run(s)]
        path = again / "reports" / study / page.name
        now = Counter(sentences(_text(path))) if path.is_file() else Counter[str]()
        n["sentences"] += len(before)
        if not page.stem[:1].isdigit():
            gathered += (now - Counter(before)).elements()
        for sentence, times in Counter(before).items():
            missing["sentences"] += [Missing(page.stem, sentence)] * max(0, times - now[sentence])
    before_, now_ = (
        _answers(p) for p in (bundle / "report" / "answers.json", again / "reports" / study / "answers.json")
    )
    n["answers"] += len(before_)
    for place, value in before_.items():
        if place not in now_ or not same(value, now_[place]):
            missing["answers"].append(Missing("answers.json", f"{place}: {value}", str(now_.get(place, "nothing"))))
    for path in sorted((bundle / "results").glob("*.parquet")):
        rows, odd = _rows(path, again / "data" / "processed" / study / "results" / path.name)
        n["results"] += rows
        missing["results"] += odd
    return Compared(n, missing, gathered)


def _of_a_run(path: Path) -> Callable[[str], bool]:
    """Whether a sentence tells of the run that wrote these answers: it is one of its facts, or ends with its digest."""
    made = json.loads(_text(path)).get("made", {}) if path.is_file() else {}
    facts = {" ".join(str(made[key]).split()) for key in _OF_A_RUN if key in made}
    digest = str(made.get("Data (SHA-256)", ""))

    def of_a_run(sentence: str) -> bool:
        digested = bool(digest and sentence.rstrip(".").endswith(digest))
        return sentence in facts or digested or _NOT_ASKED.fullmatch(sentence) is not None

    return of_a_run


def same(before: Any, now: Any) -> bool:
    """Whether a value came out again: numbers within RELATIVE and ABSOLUTE, all else exactly."""
    if isinstance(before, bool) or isinstance(now, bool):
        return before is now
    if not all(isinstance(v, int | float) for v in (before, now)):
        return bool(before == now)
    return (math.isnan(before) and math.isnan(now)) or math.isclose(before, now, rel_tol=RELATIVE, abs_tol=ABSOLUTE)


def _text(path: Path) -> str:
    """A page or the answers, with one name for the command line, which each reader calls in their own way."""
    return _COMMAND.sub("judgebook", text(path))


def intact(path: Path, read: Callable[[Path], Read]) -> Read:
    """What a file of a bundle says. Raises BundleError that names a damaged one."""
    try:
        return read(path)
    except (OSError, ValueError, ArrowException, RecursionError) as error:
        raise BundleError(f"it is damaged: {path.name} cannot be read: {error}; copy it anew") from None


def text(path: Path) -> str:
    return intact(path, lambda file: file.read_bytes().decode("utf-8"))


def tree(path: Path) -> Any:
    """What a JSON file says."""
    return intact(path, lambda file: json.loads(file.read_bytes()))


def _answers(path: Path) -> dict[str, Any]:
    """Each value of the answers by its place, without what tells of the run."""
    if not path.is_file():
        return {}
    tree = json.loads(_text(path))
    tree["made"] = {k: v for k, v in tree.get("made", {}).items() if k not in _OF_A_RUN}
    return dict(_leaves(tree, ""))


def _leaves(tree: Any, place: str) -> Iterator[tuple[str, Any]]:
    if isinstance(tree, dict | list):
        for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from _leaves(value, f"{place}.{key}" if place else str(key))
    else:
        yield place, tree


def _rows(before: Path, now: Path) -> tuple[int, list[Missing]]:
    """How many rows a table of results has, and those that do not come out: same texts and counts in a row, and floats
    within the tolerance. Rows of the same texts are compared in their order."""
    first = intact(before, pd.read_parquet)
    second = intact(now, pd.read_parquet) if now.is_file() else first.iloc[:0]
    numbers = [c for c in first if first[c].dtype.kind == "f"]
    texts = [c for c in first if c not in numbers]
    waiting: dict[tuple, list[int]] = {}
    for i, key in enumerate(_keys(second, texts)):
        waiting.setdefault(key, []).append(i)
    values = second.reindex(columns=numbers).to_numpy(dtype=float, na_value=math.nan)
    odd = []
    for key, row in zip(_keys(first, texts), first[numbers].to_numpy(dtype=float, na_value=math.nan), strict=True):
        there = waiting.get(key) or []
        found = next((i for i in there if all(map(same, map(float, row), map(float, values[i])))), None)
        if found is None:
            shown = ", ".join(str(part) for part in key if part and part != "nan")
            at = there[0] if there else None
            now_ = "no such row" if at is None else str([float(f"{v:.6g}") for v in values[at] if not math.isnan(v)])
            numbers_ = [float(f"{v:.6g}") for v in map(float, row) if not math.isnan(v)]
            odd.append(Missing(before.stem, f"{shown}: {numbers_}", now_))
        else:
            there.remove(found)
    return len(first), odd


def _keys(frame: pd.DataFrame, columns: list[str]) -> list[tuple]:
    cells = frame.reindex(columns=columns).astype(object)
    return [tuple("" if v is None or v is pd.NA or v != v else str(v) for v in row) for row in cells.to_numpy()]
