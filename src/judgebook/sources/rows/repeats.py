"""Annotators who judged an item more than once: which of their judgements count, as the YAML says (`repeats`)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from judgebook.sources import typed
from judgebook.sources.reading import Reading
from judgebook.study.labels import METHODS, Label
from judgebook.study.schema import ANNOTATIONS, Problem, judgement_keys, several
from judgebook.study.source_shared import Repeats

_IN_TIME = {True: "by the time of completion", False: "by their place in the file"}


def settle(reading: Reading, how: Repeats, labels: Iterable[Label]) -> None:
    """Leave out, average or number the repeated judgements of a reading, in place, and count them.

    A score that has no mean becomes a problem of the reading.
    """
    marks = reading.annotations
    if how == "error" or "annotator" not in marks or marks.empty:
        return
    marks = marks.reset_index(drop=True)
    keys = judgement_keys(marks)
    if how == "mean":
        reading.problems += _no_means(marks, keys, labels)
    after, gone, reason = settled(marks, keys, how)
    kinds = gone["method"].map(lambda m: METHODS[m].unit if m in METHODS else "")
    corpora = gone["corpus"] if "corpus" in gone else pd.Series("main", gone.index)
    counted = set(reading.counts.frame()["what"])
    for (file, corpus, kind), n in gone.groupby([gone["file"], corpora, kinds], sort=False).size().items():
        what = f"{kind} annotations" if f"{kind} annotations" in counted else "annotations"
        reading.counts.add(file, what, "mended" if how == "number" else "dropped", reason, n, corpus=corpus)
        if how != "number":
            reading.counts.add(file, what, "kept", n=-n, corpus=corpus)
    if how == "number" and reading.dialogues is not None and len(gone):
        before = marks["corpus"] if "corpus" in marks else pd.Series("main", marks.index)
        reading.dialogues = _again(reading.dialogues, before, after)
    reading.annotations = after.reset_index(drop=True)


def settled(marks: pd.DataFrame, keys: pd.DataFrame, how: Repeats) -> tuple[pd.DataFrame, pd.DataFrame, str]:
    """Judgements of which each annotator has one of an item, those that are repeats, and what became of these.

    keys : what tells judgements apart, with the index of `marks`.
    """
    unit = keys.groupby(list(keys), dropna=False, sort=False).ngroup()
    repeated = unit.duplicated(keep=False)
    order, timed = _order(marks, repeated)
    occasion = order.groupby(unit).rank(method="first").astype(int)
    if how == "number":
        gone = marks[occasion > 1]
        corpus = marks["corpus"] if "corpus" in marks else pd.Series("main", marks.index, dtype=object)
        led = corpus.where(corpus != "main", "").map(lambda c: c and f"{c}_", na_action="ignore")
        numbered = corpus.where(occasion == 1, led + "occasion_" + occasion.astype(str))
        return marks.assign(corpus=numbered), gone, f"judged again: numbered {_IN_TIME[timed]}"
    if how == "mean":
        mean = pd.to_numeric(marks["score"], errors="coerce").groupby(unit).transform("mean")
        marks = marks.assign(score=marks["score"].astype(object).where(~repeated | mean.isna(), mean))
        return marks[~unit.duplicated()], marks[unit.duplicated()], "judged again: the mean counts"
    counts = occasion == (1 if how == "first" else occasion.groupby(unit).transform("max"))
    return marks[counts], marks[~counts], f"judged again: the {how} judgement counts, {_IN_TIME[timed]}"


def _order(marks: pd.DataFrame, repeated: pd.Series) -> tuple[pd.Series, bool]:
    """The order of judgements, and whether it is that of time: only where each that is repeated has one."""
    place = pd.Series(np.arange(len(marks)), marks.index)
    if "completed_at" not in marks or not repeated.any():
        return place, False
    times = typed.parsed(marks["completed_at"], ANNOTATIONS["completed_at"])[0]
    if times[repeated].isna().any():
        return place, False
    return times.rank(method="first").fillna(0) * len(marks) + place, True


def _no_means(marks: pd.DataFrame, keys: pd.DataFrame, labels: Iterable[Label]) -> list[Problem]:
    """Problems of repeated scores that have no mean: of answers in words, and of comparisons."""
    words = {label.id for label in labels if label.categories or METHODS[label.method].unit == "pair"}
    odd = marks.index[marks["label"].isin(words) & keys.duplicated()]
    hint = "write `repeats: last`, `first` or `number` under its source"

    def wrong(i: int) -> Problem:
        label = f"an answer in words or a choice ({marks.at[i, 'label']})"
        return Problem(marks.at[i, "file"], marks.at[i, "where"], "score", "a number with a mean", label, hint)

    return several(odd, wrong)


def _again(dialogues: pd.DataFrame, before: pd.Series, marks: pd.DataFrame) -> pd.DataFrame:
    """`dialogues` with those that were judged again, once more in the corpus of that occasion."""
    corpora = pd.DataFrame({"corpus": before, "again": marks["corpus"]}).query("corpus != again")
    sides = [marks[side] for side in ("dialogue", "dialogue_b") if side in marks]
    again = pd.concat([corpora.assign(dialogue=side) for side in sides]).dropna().drop_duplicates()
    known = dialogues if "corpus" in dialogues else dialogues.assign(corpus="main")
    copies = known.merge(again, on=["corpus", "dialogue"]).drop(columns="corpus").rename(columns={"again": "corpus"})
    return pd.concat([known, copies], ignore_index=True)
