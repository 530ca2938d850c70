"""Scores as numbers: words, winners of comparisons, means of items, sets of answers, reversed scales."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from judgebook import codes
from judgebook.sources.accounts import physical
from judgebook.sources.reading import Counts
from judgebook.sources.rows import numbers
from judgebook.sources.rows.repeats import settled
from judgebook.study import limits
from judgebook.study.labels import DEFAULT_METHOD, METHODS, Label
from judgebook.study.schema import Problem, several
from judgebook.study.source_shared import OURS, JudgementOptions

#: columns that say what an annotator judged
ITEM = ["corpus", "group", "system", "dialogue", "turn", "dialogue_b", "method", "label"]


@dataclass
class State:
    """What became of the rows of a file, and what is wrong with them."""

    counts: Counts = field(default_factory=Counts)
    problems: list[Problem] = field(default_factory=list)

    def count(self, rows: pd.DataFrame, action: str, reason: str = "", what: str = "annotations") -> None:
        for (file, corpus), n, places in _parts(rows, ["file", "corpus"], "where" if reason else ""):
            corpus = None if pd.isna(corpus) else corpus
            self.counts.add(file, what, action, reason, n, corpus=corpus, where=physical.places(places))

    def count_rows(self, before: pd.DataFrame, after: pd.DataFrame) -> None:
        """Rows (or records) of files: with an answer, without one, and left out with all of their judgements."""
        columns = ["file", "_row" if "_row" in before else "_place"]
        row = _records(before[columns] if after is before else pd.concat([before[columns], after[columns]]))
        of_after = row[-len(after) :]  # `_filtered` leaves some
        # they are numbered as they appear: a first row has a higher number than all before it
        is_first = np.diff(np.maximum.accumulate(row[: len(before)]), prepend=-1) > 0
        first = before.loc[is_first, ["file", "_place"]]
        stay, answered = np.zeros((2, len(first)), dtype=bool)
        stay[of_after] = answered[of_after[after["score"].notna().to_numpy()]] = True
        for reason, rows in ((DROPPED, ~stay), (BLANK, stay & ~answered), ("", answered)):
            action = "dropped" if reason else "kept"
            for (file,), n, places in _parts(codes.rows(first, rows), ["file"], "_place" if reason else ""):
                self.counts.add(file, self.of_rows(file), action, reason, n, where=places)

    def count_joined(self, before: pd.DataFrame, after: pd.DataFrame, gone: Mapping[str, pd.DataFrame]) -> None:
        """Rows that stand in a mean with others: kept, but for those left `gone` as repeats, by reason."""
        places = set(after[["file", "_place"]].itertuples(index=False, name=None))
        rest = before.drop_duplicates(["file", "_place"])
        rest = rest[[p not in places for p in rest[["file", "_place"]].itertuples(index=False, name=None)]]
        for reason, rows in [*gone.items(), ("", rest[~rest.index.isin([i for r in gone.values() for i in r.index])])]:
            for file, part in rest[rest.index.isin(rows.index)].groupby("file", sort=False):
                where = part["where"] if reason else ()
                self.counts.add(
                    file, self.of_rows(file), "dropped" if reason else "kept", reason, len(part), where=where
                )

    def of_rows(self, file: str) -> str:
        """What the rows of a file were counted as when it was read."""
        return next((what for what in physical.ROWS if self.counts.has(file, what)), physical.ROWS[0])

    def count_missing(self, source: JudgementOptions, marks: pd.DataFrame, missing: pd.Series) -> None:
        """Scores that are missing, by what the cells hold, method, label and systems: a design is asked whether some
        systems lack more."""
        if not missing.any():
            return
        row = _records(marks[["file", "_row" if "_row" in marks else "_place"]])
        size, filled = np.bincount(row), np.bincount(row, ~missing)
        answered = ((filled > 0) | (size == 1))[row[missing]]
        marks = codes.plain(marks[missing])
        reason = codes.mapped(marks["_blank"], lambda cell: f"{cell!r} (`na_values`)" if cell else EMPTY).fillna(EMPTY)
        reason = reason.where(answered, UNANSWERED)
        reason = reason.mask(marks["label"].isin(list(source.composites)), TOO_FEW)
        reason = marks["label"].map(source.na_reasons).astype(object).fillna(reason)
        by = ["file", "corpus", "method", "label", "system", "system_b"]
        of_rows = marks.assign(corpus=marks.get("corpus"), system_b=marks.get("system_b"))[[*by, "where"]]
        groups = of_rows.groupby([*by, reason], sort=False, dropna=False)["where"]
        for (file, corpus, *of, why), where in groups:
            ids = tuple(None if pd.isna(k) else k for k in of)
            corpus = None if pd.isna(corpus) else corpus
            places = physical.places(where)
            self.counts.add(file, "annotations", "dropped", why, len(where), corpus=corpus, missing=ids, where=places)


def _parts(rows: pd.DataFrame, by: list[str], where: str) -> Iterator[tuple[tuple[Any, ...], int, Iterable[str]]]:
    """Each part of rows, by some columns: what they hold, how many rows there are, and those of the column `where`, if
    one is named."""
    if not where:
        for of, n in rows[by].groupby(by, sort=False, dropna=False).size().items():
            yield (of if isinstance(of, tuple) else (of,)), n, ()
        return
    for of, part in rows[[*by, where]].groupby(by, sort=False, dropna=False):
        yield of, len(part), part[where]


def _records(rows: pd.DataFrame) -> np.ndarray:
    """(rows,) number of the record that each is from, as they appear. rows : columns `file`, and the record's."""
    file, record = (rows[column] for column in rows)
    if codes.is_coded(file) and len(file.cat.categories) == 1 and record.is_monotonic_increasing:
        return np.cumsum(np.diff(record, prepend=record.iloc[:1]) > 0)
    return rows.groupby(list(rows), sort=False).ngroup().to_numpy()


#: why a row has no judgement, or a judgement no score
DROPPED = "left out with all they hold (`keep`, `drop`)"
BLANK, UNANSWERED = "hold no score", "no score, like all labels of its row"
EMPTY = "no score"
TOO_FEW = "too few of its questions answered (`composites`)"


def scored(source: JudgementOptions, marks: pd.DataFrame, labels: list[Label], state: State) -> pd.DataFrame:
    """Scores in words as numbers: by `values`, and by the categories of their label; and what `ties` say of them."""
    if source.ties:
        marks = marks.assign(tie=codes.mapped(marks["score"], source.ties.get))
    score = codes.mapped(marks["score"], lambda text: source.values.get(text, text))
    if "system_b" in marks:
        # the winner of a comparison by its name
        sides = (marks["system"] != marks["system_b"]) & marks["system_b"].notna()
        named = {won: sides & (score == marks[side]) for side, won in (("system", 1), ("system_b", -1))}
        state.problems += _names_or_scores(marks, score[named[1] | named[-1]])
        for won, by_name in named.items():
            score = score.where(~by_name, won)
    worded = [label for label in labels if label.categories]
    if worded:
        marks, score = _in_words(marks, codes.decoded(score), _rows(worded, marks, labels), state)
    return _plain_numbers(marks.assign(score=score), state)


def _in_words(
    marks: pd.DataFrame, score: pd.Series, of: Iterable[tuple[Label, np.ndarray]], state: State
) -> tuple[pd.DataFrame, pd.Series]:
    """`marks` and their scores with the numbers of categories; without answers that are none, which are reported.

    of : labels with categories, and the places of their judgements.
    """
    given, number = codes.decoded(marks["score"]).to_numpy(dtype=object), score.to_numpy(dtype=object, copy=True)
    gone = []
    for label, rows in of:
        code = {word: low for low, word in enumerate(label.categories, start=int(label.scale[0]))}
        if label.level == "sets":
            code = {word: 2**i for i, word in enumerate(label.categories)}
        rows = rows[pd.notna(given[rows])]
        held = number[rows]
        number[rows] = [code.get(text, text) if isinstance(text, str) else text for text in held]
        odd = [i for i, text in zip(rows, held, strict=True) if isinstance(text, str) and given[i] not in code]
        places = marks.index[np.array(odd, dtype=np.intp)]

        def wrong(i: Any, label: Label = label, code: Iterable[str] = code) -> Problem:
            text = marks.at[i, "score"]
            near = [w for w in code if w.lower() == text.lower()] or difflib.get_close_matches(text, list(code), n=1)
            content = repr(text) + (f" (did you mean {near[0]!r}?)" if near else "")
            place, of = (marks.at[i, "file"], marks.at[i, "where"]), (label.id, text)
            hint = "add it to `categories`, map it in `values`, or name it in `na_values`"
            return Problem(
                *place, "score", f"one of {', '.join(code)} ({label.id})", content, hint, kind="category", of=of
            )

        state.problems += several(places, wrong)
        # reported here; what is left out cannot be reported a second time as no number
        gone += list(places)
    score = pd.Series(number, score.index, dtype=object)
    return (marks.drop(index=gone), score.drop(index=gone)) if gone else (marks, score)


def _plain_numbers(marks: pd.DataFrame, state: State) -> pd.DataFrame:
    """Scores such as `3,5` and `5 - very good` as the numbers that they are."""
    score = marks["score"]
    why = "the number taken from a score with words or a decimal comma"
    read = codes.mapped(score, lambda text: why if text.strip() != numbers.plain(text) else None).eq(why)
    state.count(marks[read], "mended", why)
    return marks.assign(score=codes.mapped(score, numbers.plain))


def _names_or_scores(marks: pd.DataFrame, named: pd.Series) -> list[Problem]:
    """Problems of winners' names that could be scores; none where a name is no score, as names are then meant.

    named : scores, as the file spells them, that are the name of a system of their row.
    """
    if not len(named) or not pd.to_numeric(named, errors="coerce").isin([-1, 0, 1]).all():
        return []
    hint = "if it is a score, map it to a number in `values`; if it is a name, rename the systems"

    def unclear(i: Any) -> Problem:
        place = marks.at[i, "file"], marks.at[i, "where"], "score"
        both = f"{named[i]!r}, which could be both"
        return Problem(*place, "either a score or the name of the winner", both, hint)

    return several(named.index, unclear)


def _rows(some: list[Label], marks: pd.DataFrame, labels: list[Label]) -> Iterator[tuple[Label, np.ndarray]]:
    """The places of the judgements by each of some labels: of several with one id, those of its method."""
    if not some:
        return
    code, ids = codes.factorized(marks["label"])
    place, rows_of = {id_: i for i, id_ in enumerate(ids)}, pd.Series(code).groupby(code).indices
    n = Counter(label.id for label in labels)
    method = with_method(marks, labels)["method"].to_numpy() if any(n[label.id] > 1 for label in some) else None
    for label in some:
        rows = rows_of.get(place.get(label.id), np.empty(0, dtype=np.intp))
        yield label, rows if method is None or n[label.id] == 1 else rows[method[rows] == label.method]


def composed(source: JudgementOptions, marks: pd.DataFrame, declared: set[str], state: State) -> pd.DataFrame:
    """Composites in the place of their items; an item that is a label of its own stays."""
    if not source.composites:
        return marks
    by = [c for c in OURS if c in marks and c not in ("label", "score")]
    by += [] if "label" in (getattr(source, "columns", None) or {}) else ["_record"]
    parts = [marks]
    gone: dict[str, pd.DataFrame] = {}
    for name, composite in source.composites.items():
        items = marks[marks["label"].isin(composite.mean)]
        score = pd.to_numeric(items["score"], errors="coerce")
        low, high = composite.scale
        off = items["score"].notna() & ~score.between(low, high)
        for i in items.index[off][: limits.PROBLEMS]:
            expected = f"a number from {low:g} to {high:g} (an item of {name})"
            place = marks.at[i, "file"], marks.at[i, "where"], "score"
            hint = "correct `scale`, map the answer in `values`, or name it in `na_values`"
            state.problems.append(Problem(*place, expected, repr(marks.at[i, "score"]), hint))
        turned = items["label"].isin(composite.reversed)
        score = score.where(~turned, low + high - score).where(~off)
        given = items.assign(score=score)[score.notna()]
        if source.repeats == "error":
            again = given.index[given.duplicated([*by, "label"])]
            state.problems += several(again, partial(_twice_at, marks, name))
            given = given.drop(index=again)
        else:
            given, again, reason = settled(given, given[[*by, "label"]], source.repeats)
            gone[reason] = pd.concat([gone.get(reason, again[:0]), again])
        of_given = given[["score", "corpus"]].reindex(items.index)
        items = items.assign(score=pd.to_numeric(of_given["score"]), corpus=of_given["corpus"].fillna(items["corpus"]))
        groups = items.groupby(by, dropna=False, sort=False)
        least = composite.least or len(composite.mean)
        mean = groups["score"].mean().where(groups["score"].count() >= least)
        first = groups.head(1).assign(label=name)
        parts.append(
            first.assign(score=pd.Series(mean.to_numpy(), first.index).astype(object).where(lambda s: s.notna(), None))
        )
        absent = sorted(set(composite.mean) - set(items["label"]))
        if absent:
            none = f"no item {', '.join(map(repr, absent))}"
            state.problems.append(Problem(str(marks["file"].iloc[0]), "", f"composites.{name}", "its items", none))
    used = {item for c in source.composites.values() for item in c.mean} - declared
    out = pd.concat(parts)
    state.count(out[out["label"].isin(used)], "read", what="answers to items")
    state.count(out[out["label"].isin(used)], "dropped", "their mean is the label", what="answers to items")
    out = out[~out["label"].isin(used)].sort_index(kind="stable").reset_index(drop=True)
    state.count_joined(marks, out, gone)
    return out


def _twice(mark: pd.Series, composite: str) -> Problem:
    expected = f"one answer by each annotator to each question of {composite}"
    hint = "delete one, name the column of annotators, or set `repeats: last`, `first`, `mean` or `number`"
    return Problem(mark["file"], mark["where"], "score", expected, f"a second answer to {mark['label']!r}", hint)


def _twice_at(marks: pd.DataFrame, composite: str, i: Any) -> Problem:
    return _twice(marks.loc[i], composite)


def with_method(marks: pd.DataFrame, labels: list[Label]) -> pd.DataFrame:
    """The method of each label, where the file does not say it: of several, the one that fits what is judged."""
    if "method" in marks:
        return marks
    compares = marks["dialogue_b"].notna() if "dialogue_b" in marks else pd.Series(False, marks.index)
    has_turn = marks["turn"].notna() if "turn" in marks else pd.Series(False, marks.index)
    units = ("dialogue", "turn", "pair")
    unit = np.where(compares, 2, np.where(has_turn, 1, 0))
    of: dict[str, dict[str, str]] = {}
    for label in labels:
        of.setdefault(label.id, {}).setdefault(METHODS[label.method].unit, label.method)
    # a label nobody declared gets any method: validation then names the label
    default = labels[0].method if labels else DEFAULT_METHOD
    code, ids = pd.factorize(marks["label"], use_na_sentinel=False)
    methods = [
        [by.get(u) or next(iter(by.values()), default) for u in units] for by in (of.get(id_, {}) for id_ in ids)
    ]
    if not len(marks):
        return marks.assign(method=[])
    of_label = np.array(methods, dtype=object)
    if not codes.is_coded(marks["label"]):
        return marks.assign(method=of_label[code, unit])
    method, names = pd.factorize(of_label.ravel())
    return marks.assign(method=codes.coded(method.reshape(of_label.shape)[code, unit], names, marks.index))


def sets(marks: pd.DataFrame, labels: list[Label], state: State) -> pd.DataFrame:
    """Of labels with sets of answers, the answers of an annotator to an item as one score."""
    mine = np.zeros(len(marks), dtype=bool)
    for _, rows in _rows([x for x in labels if x.level == "sets"], marks, labels):
        mine[rows] = True
    if not mine.any():
        return marks
    key = [c for c in ("annotator", "work_unit", *ITEM) if c in marks]
    once = marks[mine].drop_duplicates([*key, "score"])
    total = once.groupby(key, dropna=False, sort=False)["score"].transform("sum")
    sets = once.assign(score=total).drop_duplicates(key)
    together = marks[mine].drop(index=sets.index)
    state.count(together, "dropped", "taken together with another answer of the annotator to the item")
    return pd.concat([marks[~mine], sets]).sort_index(kind="stable").reset_index(drop=True)
