"""Who judges what, in which order: pages, each one item for one annotator.

A page's id says nothing about the system: what was judged stands in the key, which annotators do not see.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgebook.sources import build
from judgebook.sources.formats import read_records, scalar
from judgebook.sources.nature import NAMES, plain
from judgebook.study import limits, params, store
from judgebook.study.labels import METHODS
from judgebook.study.params import ParamsError, Study
from judgebook.study.schema import DataError, Problem
from judgebook.study.sections.data import TrainingItem
from judgebook.study.source_shared import FileOptions

#: what a dialogue is known by, and what was said
COLUMNS = ("corpus", "dialogue", "system", "session", "context", "turn", "user_text", "system_text")
#: characters that XML cannot hold, or that turn the direction of what follows
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")

Turns = list[dict[str, str]]


@dataclass(frozen=True)
class Page:
    """id : as the tool knows it. person : 1, 2, …. phase : main or training. swapped : of a pair, whether its sides are
    exchanged. item : our column -> value; of a pair `dialogue` is the one shown as A. why : of training, the intended
    answers."""

    id: str
    person: int
    item: dict[str, Any]
    phase: str = "main"
    swapped: bool = False
    why: str = ""

    @property
    def key(self) -> dict[str, Any]:
        """What the page was about, as a record of the key."""
        swapped = {"swapped": self.swapped, "first_shown": "left"} if "dialogue_b" in self.item else {}
        return {"id": self.id, "phase": self.phase, "planned_for": self.person, **self.item, **swapped}


def clean(text: Any) -> str:
    """Text without characters that a tool's formats cannot hold; no value is an empty text."""
    return "" if text is None or text != text or text is pd.NA else _UNFIT.sub(" ", str(text))


def dialogues(study: Study | None, file: Path | None = None) -> pd.DataFrame:
    """What was said: of a file, or of the study's data. One of them must be given.

    Parameters
    ----------
    file : CSV, JSON Lines, … with a row per turn; columns as `COLUMNS` or under another usual name.

    Returns
    -------
    COLUMNS, a row per turn; texts are cleaned.

    Raises
    ------
    ParamsError : there are no dialogues, or their texts are not known.
    DataError : a row of the file lacks the id of its dialogue or system, or contradicts other rows.
    """
    if file is not None:
        frame, where = _of_file(file), str(file)
    elif study is not None:
        frame, where = _of_study(study), study.key
    else:
        raise TypeError("expected a study or a file")
    frame = frame.reindex(columns=list(COLUMNS)).astype(object)
    for column in ("user_text", "system_text"):
        frame[column] = frame[column].map(clean)
    frame["corpus"] = frame["corpus"].fillna("main")
    frame = frame[frame["user_text"].str.strip().ne("") | frame["system_text"].str.strip().ne("")]
    if not len(frame):
        raise ParamsError(f"{where}: expected dialogues with texts, found none; name a file: --dialogues FILE")
    if file and (problems := _missing(frame, file.name)):
        raise DataError(problems)
    frame["turn"] = pd.to_numeric(frame["turn"], errors="coerce")
    frame["turn"] = frame["turn"].fillna(frame.groupby(["corpus", "dialogue"]).cumcount()).astype(int)
    if file and (problems := _contradicting(frame, file.name)):
        raise DataError(problems)
    return frame.sort_values(["corpus", "dialogue", "turn"], kind="stable").reset_index(drop=True)


def _missing(frame: pd.DataFrame, file: str) -> list[Problem]:
    """Rows of a file without an id, or whose turn is not a whole number; an empty turn is allowed.

    frame : COLUMNS; the index says where each row is in the file.
    """
    empty = frame.isna() | frame.apply(lambda held: held.astype(str).str.strip().eq(""))
    out = [
        Problem(file, where, column, f"the id of the {column}", "an empty value", "fill it in")
        for column in ("dialogue", "system")
        for where in frame.index[empty[column]]
    ]
    given = frame.loc[~empty["turn"], "turn"]
    number = pd.to_numeric(given, errors="coerce")
    odd = given[~(number.between(0, limits.INT32) & (number % 1 == 0))]
    hint = "number the turns of each dialogue, or omit the column: turns are then numbered in the order of the rows"
    return out + [Problem(file, w, "turn", "a whole number, 0 or more", repr(v), hint) for w, v in odd.items()]


def _contradicting(frame: pd.DataFrame, file: str) -> list[Problem]:
    """Rows of a file with a second system for a dialogue, or with a turn that it already has; `frame` as `_missing`."""
    frame = frame.assign(known=frame.groupby(["corpus", "dialogue"])["system"].transform("first"))
    second = frame[frame["system"] != frame["known"]]
    hint = "give each dialogue its own id; an id that systems share is a `context`"
    out = [
        Problem(file, where, "system", "one system per dialogue", f"{one.system!r} after {one.known!r}", hint)
        for where, one in zip(second.index, second.itertuples(), strict=True)
    ]
    again = frame[frame.duplicated(["corpus", "dialogue", "turn"]) & (frame["system"] == frame["known"])]
    hint = "put the user's text and the response in one row, or correct the turn"
    return out + [
        Problem(file, where, "turn", "one row per turn", f"a second row for turn {one.turn} of {one.dialogue!r}", hint)
        for where, one in zip(again.index, again.itertuples(), strict=True)
    ]


def _of_file(file: Path) -> pd.DataFrame:
    """Rows of a file, columns called as ours; the index says where each stands."""
    if not params.is_file(file):
        raise ParamsError(f"{file}: no such file; check --dialogues")
    read = read_records(file, file.name, FileOptions())
    rows = {w: row for w, row in zip(read.where, read.records, strict=True) if isinstance(row, dict)}
    cells = [{k: scalar(v) for k, v in row.items() if not isinstance(v, dict | list)} for row in rows.values()]
    frame = pd.DataFrame(cells, index=list(rows))
    named: dict[str, str] = {}
    for ours in COLUMNS:
        near = {plain(c): c for c in frame if c not in named}
        spelt = ours if ours in frame else next((near[n] for n in NAMES.get(ours, ()) if n in near), None)
        named |= {spelt: ours} if spelt is not None else {}
    lacking = {"dialogue", "system", "system_text"} - set(named.values())
    if lacking:
        has = ", ".join(map(str, frame.columns)) or "nothing"
        raise ParamsError(f"{file}: expected a row per turn with columns {', '.join(COLUMNS)}; found {has}")
    return frame.rename(columns=named)[list(named.values())]


def _of_study(study: Study) -> pd.DataFrame:
    built = store.processed(study.key) / "dialogues.parquet"
    if built.is_file():
        return pd.read_parquet(built)
    try:
        return build.build(study).frames["dialogues"]
    except (DataError, ParamsError) as error:  # nobody has judged yet, for example
        raise ParamsError(f"{error}\nor name the dialogues: --dialogues FILE") from None


def chosen(frame: pd.DataFrame, per_system: int | None, seed: int, *, pairs: bool = False) -> pd.DataFrame:
    """The dialogues of corpus `main` where there is one, and of each system at least that many, drawn at random.

    Dialogues of a session are drawn together, and where `pairs` of them are judged, those that share only a context,
    too: pairs stay whole.
    """
    main = frame["corpus"].eq("main")
    frame = frame[main] if main.any() else frame
    if per_system is None:
        return frame
    unit = _shared(frame) if pairs else frame["session"]
    unit = unit.where(unit.notna(), frame["dialogue"])
    systems = frame["system"].groupby(unit).unique()
    drawn: dict[Hashable, int] = dict.fromkeys(frame["system"].unique(), 0)
    taken = set()
    for n in np.random.default_rng(seed).permutation(len(systems)):
        if any(drawn[s] < per_system for s in systems.iloc[n]):
            taken.add(systems.index[n])
            for s in systems.iloc[n]:
                drawn[s] += 1
    return frame[unit.isin(taken)]


def _shared(frame: pd.DataFrame) -> pd.Series:
    """What dialogues of a pair have in common: their session, or context where there is none."""
    return frame["session"].where(frame["session"].notna(), frame["context"])


def bundles(frame: pd.DataFrame, method: str) -> list[list[dict[str, Any]]]:
    """Items that one annotator judges one after the other: the turns of a dialogue, a dialogue, or a pair.

    Parameters
    ----------
    method : a key of `labels.METHODS`.

    Raises
    ------
    ParamsError : pairs are asked for, and no dialogues share a session or context, or single responses are to be
    compared and dialogues have several.
    """
    unit = METHODS[method].unit
    if method == "pairwise_turn" and frame.duplicated(["corpus", "dialogue"]).any():
        raise ParamsError("single responses are compared: expected dialogues of one turn with a shared `context`")
    cells = frame.assign(**{c: frame[c].where(frame[c].notna(), None) for c in ("session", "context")})
    if unit == "turn":
        spoken = cells[cells["system_text"].str.strip().ne("")]
        parts = spoken.groupby(["corpus", "dialogue"], sort=False)
        return [[_item(row) | {"turn": int(row["turn"])} for row in g.to_dict("records")] for _, g in parts]
    whole = cells.drop_duplicates(["corpus", "dialogue"])
    if unit == "dialogue":
        return [[_item(row)] for row in whole.to_dict("records")]
    shared = _shared(whole)
    out = []
    for _, group in whole[shared.notna()].groupby([whole["corpus"], shared], sort=False):
        for left, right in itertools.combinations(group.to_dict("records"), 2):
            if left["system"] != right["system"]:
                out.append([_item(left) | {"dialogue_b": right["dialogue"], "system_b": right["system"]}])
    if not out:
        raise ParamsError("comparisons: expected dialogues of two systems that share a `session` or `context`")
    return out


def _item(row: dict[str, Any]) -> dict[str, Any]:
    return {c: row[c] for c in ("corpus", "dialogue", "system", "session", "context") if row[c] is not None}


def plan(
    items: list[list[dict[str, Any]]],
    people: int,
    overlap: int,
    seed: int,
    *,
    each: int = 1,
    at_most: int | None = None,
) -> list[Page]:
    """Pages for each annotator in a random order of their own.

    Each bundle is judged by `each` annotators, and `overlap` of them, drawn evenly from the systems, by one more.
    Whoever has the fewest pages is next. Turns of a dialogue stay together and in order; of an annotator's pairs half
    are swapped.

    Parameters
    ----------
    items : bundles, as of `bundles`.
    people : annotators. overlap : bundles that one more judges. at_most : bundles that one annotator judges.

    Raises
    ------
    ParamsError : so many annotators cannot judge the bundles without judging more than `at_most` each.
    """
    rng = np.random.default_rng(seed)
    room = np.full(people, at_most or len(items))
    mine: list[list[list[dict[str, Any]]]] = [[] for _ in range(people)]
    load = np.zeros(people)
    for n, bundle in enumerate(_evenly(items, rng)):
        times = min(each + (n < overlap), people)
        free = [person for person in np.lexsort((rng.random(people), load)) if room[person]]
        if len(free) < times:
            needed = max(-(-(each * len(items) + overlap) // (at_most or len(items))), people + 1)
            raise ParamsError(
                f"--at-most {at_most}: expected at least {needed} annotators for {len(items):,} dialogues or pairs, "
                f"found {people}; name more: --annotators {needed}"
            )
        for person in free[:times]:
            mine[person].append(bundle)
            load[person] += len(bundle)
            room[person] -= 1
    out: list[Page] = []
    for person, held in enumerate(mine, 1):
        order = rng.permutation(len(held))
        pages = [item for n in order for item in held[n]]
        swapped = rng.permutation(np.arange(len(pages)) % 2).astype(bool)
        out += [
            Page(f"p{len(out) + n:06d}", person, _shown(item, swap), swapped=_paired(item) and bool(swap))
            for n, (item, swap) in enumerate(zip(pages, swapped, strict=True), 1)
        ]
    return out


def _paired(item: dict[str, Any]) -> bool:
    return "dialogue_b" in item


def _shown(item: dict[str, Any], swap: bool) -> dict[str, Any]:
    if not (swap and _paired(item)):
        return item
    sides = {"dialogue": "dialogue_b", "system": "system_b", "dialogue_b": "dialogue", "system_b": "system"}
    return {ours: item[sides.get(ours, ours)] for ours in item}


def _evenly(items: list[list[dict[str, Any]]], rng: np.random.Generator) -> list[list[dict[str, Any]]]:
    """Bundles in random order, systems (or pairs of them) taking turns."""
    by: dict[Any, list] = {}
    for n in rng.permutation(len(items)):
        first = items[n][0]
        by.setdefault(tuple(sorted({str(first["system"]), str(first.get("system_b", ""))})), []).append(items[n])
    rounds = itertools.zip_longest(*by.values())
    return [bundle for taken in rounds for bundle in taken if bundle is not None]


def training(frame: pd.DataFrame, wanted: list[TrainingItem], unit: str, people: int) -> list[Page]:
    """The training items of the YAML, the same for all and in its order.

    Raises
    ------
    ParamsError : a dialogue or turn is not among the dialogues.
    """
    first_turns = {str(row["dialogue"]): row for row in frame.drop_duplicates("dialogue").to_dict("records")}
    turns = set(zip(frame["dialogue"].astype(str), frame["turn"], strict=True))
    out = []
    for n, one in enumerate(wanted):
        needed = [one.dialogue, *([one.dialogue_b] if one.dialogue_b else [])]
        if (one.dialogue_b is not None) != (unit == "pair") or (one.turn is not None) != (unit == "turn"):
            continue  # it trains another method
        for name in needed:
            if name not in first_turns:
                raise ParamsError(f"elicitation.training.{n}: expected a dialogue with text, found {name!r}")
        if one.turn is not None and (one.dialogue, one.turn) not in turns:
            raise ParamsError(f"elicitation.training.{n}.turn: {one.dialogue!r} has no turn {one.turn}")
        row = first_turns[one.dialogue]
        item = {"corpus": row["corpus"], "dialogue": row["dialogue"], "system": row["system"]}
        item |= {"turn": one.turn} if unit == "turn" else {}
        if one.dialogue_b:
            item |= {"dialogue_b": one.dialogue_b, "system_b": first_turns[one.dialogue_b]["system"]}
        intended = "; ".join(f"{label}: {answer}" for label, answer in one.answers.items())
        why = ". ".join(filter(None, [intended, one.why]))
        for person in range(1, people + 1):
            out.append(Page(f"t{person:03d}{n:03d}", person, item, "training", why=clean(why)))
    return out


class Texts:
    """What was said, by dialogue."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.of = {key: g.to_dict("records") for key, g in frame.groupby(["corpus", "dialogue"], sort=False)}
        self.anywhere = {dialogue: rows for (_, dialogue), rows in self.of.items()}

    def turns(self, page: Page, side: str = "dialogue") -> Turns:
        """The turns of a dialogue; where a turn is judged, what came before the response."""
        rows = self.of.get((page.item["corpus"], page.item[side])) or self.anywhere[page.item[side]]
        turn = page.item.get("turn")
        out = []
        for row in rows:
            if turn is not None and row["turn"] > turn:
                break
            earlier = turn is None or row["turn"] < turn
            out += [{"author": "User", "text": row["user_text"]}] if row["user_text"].strip() else []
            out += [{"author": "System", "text": row["system_text"]}] if earlier and row["system_text"].strip() else []
        return out

    def response(self, page: Page) -> str:
        rows = self.of.get((page.item["corpus"], page.item["dialogue"])) or self.anywhere[page.item["dialogue"]]
        return next((row["system_text"] for row in rows if row["turn"] == page.item["turn"]), "")
