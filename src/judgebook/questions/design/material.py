"""What a check of the design is, and what checks look at: a study's frames, and each evaluation (corpus, group, method)
with what many checks need. Each check registers next to its definition."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pandas as pd

from judgebook.annotations.summary import evaluated
from judgebook.codes import distinct
from judgebook.errors import JudgebookError
from judgebook.questions.design import changes
from judgebook.sources import sampling
from judgebook.study.labels import Label
from judgebook.study.schema import Annotations, Dialogues

#: what a check yields: the price and the facts of each finding
PricedFacts: TypeAlias = Iterator[tuple[float, dict[str, Any]]]
Run = TypeVar("Run", bound=Callable[..., PricedFacts])
#: the answers of the first page (`summary.findings.QUESTIONS`)
ANSWERS = ("order", "labels", "judges", "sample", "cost", "next")
#: price of a design that cannot answer: more than any shift that could be worked out
UNKNOWN = 10.0
#: a check may raise a false alarm in this share of clean studies; with thirty checks, about 3% for all of them
ALPHA = 0.001
#: columns that frames made by hand may lack
_OPTIONAL = ("work_unit", "seconds", "completed_at", "context", "session", "dialogue_b", "system_b", "first_shown")
_ABSENT = ["corpus", "method", "label", "system", "system_b"]
_FIXED = {"corpus": "main", "group": "all", "annotator_known": True, "annotator_kind": "human", "turn": pd.NA}


class NotCheckableError(JudgebookError):
    """Raised by a check that the data do not allow: the reason, a sentence."""


@dataclass(frozen=True)
class DesignFinding:
    """Something in the design that changes what can be concluded.

    price : standard errors by which a conclusion moves, or its interval widens, when the finding is acted on; `UNKNOWN`
    where the design cannot answer at all. facts : what its sentences say, by name: numbers, texts, lists of texts;
    those with `system` in their name are ids of systems. touches : of ANSWERS. place : corpus, group, method, if known.
    """

    code: str
    price: float
    facts: Mapping[str, Any] = field(default_factory=dict)
    touches: tuple[str, ...] = ()
    place: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Unchecked:
    """A check that could not be made."""

    code: str
    reason: str


@dataclass(frozen=True)
class DesignCheck:
    """run : looks at a `material.Evaluation`, or (`whole`) at the `material.StudyFrames`; yields (price, facts).

    It raises NotCheckableError where the data do not have what it takes.
    """

    code: str
    touches: tuple[str, ...]
    run: Callable[[Any], PricedFacts]
    whole: bool

    @property
    def looks_for(self) -> str:
        """What it finds, for tables: the first line of the function's docstring, without its full stop."""
        return (self.run.__doc__ or self.code).splitlines()[0].rstrip(".")


CHECKS: dict[str, DesignCheck] = {}


def check(code: str, *touches: str, whole: bool = False) -> Callable[[Run], Run]:
    """Register the decorated function under `code`. touches : answers that its findings concern."""

    def add(function: Run) -> Run:
        if code in CHECKS or not set(touches) <= set(ANSWERS):
            raise ValueError(f"check {code!r}: expected a new code and answers of {ANSWERS}, found {touches}")
        CHECKS[code] = DesignCheck(code, touches, function, whole)
        return function

    return add


@dataclass(frozen=True)
class Evaluation:
    """One evaluation: the judgements of a corpus, group and method, by people, or by models where no people judged."""

    corpus: str
    group: str
    method: str
    rows: Annotations
    labels: Mapping[str, Label]
    dialogues: Dialogues
    absent: pd.DataFrame

    @cached_property
    def rated(self) -> Annotations:
        """Judgements of one dialogue or turn each, by labels that have means."""
        without = [i for i, label in self.labels.items() if label.unordered]
        return self.rows[self.rows["dialogue_b"].isna() & ~self.rows["label"].isin(without)]

    @cached_property
    def votes(self) -> Annotations:
        """Comparisons of two systems."""
        pairs = self.rows[self.rows["dialogue_b"].notna() & (self.rows["system"] != self.rows["system_b"])]
        return pairs[pairs["system_b"].notna()]

    @cached_property
    def systems(self) -> list[str]:
        return sorted(distinct(self.rows["system"], self.rows["system_b"]))

    @property
    def known(self) -> bool:
        """Whether it is known which person judged what."""
        return bool(self.rows["annotator_known"].all()) and bool((self.rows["annotator_kind"] == "human").all())

    @cached_property
    def units(self) -> pd.DataFrame:
        """What each annotator judged: annotator, dialogue, system; both sides of a comparison."""
        columns = ["annotator", "dialogue", "system"]
        other = self.rows[["annotator", "dialogue_b", "system_b"]].set_axis(columns, axis=1).dropna()
        return pd.concat([self.rows[columns], other]).drop_duplicates()

    @cached_property
    def loads(self) -> pd.DataFrame:
        """(annotators, systems) dialogues that each annotator judged of each system."""
        return pd.crosstab(self.units["annotator"], self.units["system"])

    @cached_property
    def table(self) -> pd.DataFrame:
        """Differences between systems, label by label: see `changes`."""
        return self.without(None)

    def without(self, gone: pd.Series | None) -> pd.DataFrame:
        """`table` without some judgements. gone : (rows,) which of `rows`."""
        rated, votes = self.rated, self.votes
        if gone is not None:
            rated, votes = rated[~gone.reindex(rated.index)], votes[~gone.reindex(votes.index)]
        return pd.concat([changes.of_means(rated), changes.of_votes(votes)], ignore_index=True)

    def left_out(self, gone: pd.Series, least: float, facts: Mapping[str, Any]) -> tuple[float, dict[str, Any]]:
        """A finding on judgements (`gone`) that should perhaps be left out, with what that changes. least : its price,
        at least."""
        after = changes.change(self.table, self.without(gone), widening=True)
        return max(changes.price(after), least), dict(facts) | after

    def need_systems(self) -> None:
        if len(self.systems) < 2:
            raise NotCheckableError("There is only one system.")

    def need_people(self) -> None:
        if not self.known:
            models = (self.rows["annotator_kind"] != "human").any()
            raise NotCheckableError("Models judged, not people." if models else "It is not known who judged what.")

    @property
    def unrated(self) -> str:
        """Why there is nothing in `rated`."""
        if self.rows["dialogue_b"].notna().all():
            return "Nothing was rated: there are only comparisons."
        return "The answers to all labels are without order, and have no mean."


@dataclass(frozen=True)
class StudyFrames:
    """All frames of an evaluation, without pilots and extra corpora; see `analysis.examine`."""

    annotations: Annotations
    dialogues: Dialogues
    labels: Mapping[tuple[str, str], Label]
    absent: pd.DataFrame
    metric_scores: pd.DataFrame
    facts: pd.DataFrame
    own_ids: pd.DataFrame
    #: columns of the files that are called like probabilities or weights of drawing, and that nothing uses
    not_used: tuple[str, ...] = ()
    #: how the YAML says that they were selected
    selection: str = ""

    @cached_property
    def parts(self) -> list[Evaluation]:
        marks, out = self.annotations, []
        human = marks["annotator_kind"] == "human"
        judged = marks[human] if human.any() else marks
        for (corpus, group, method), rows in judged.groupby(["corpus", "group", "method"], sort=True):
            of_method = {i: label for (m, i), label in self.labels.items() if m == method}
            of_corpus = self.dialogues[self.dialogues["corpus"] == corpus]
            gone = self.absent[self.absent["corpus"].isna() | (self.absent["corpus"] == corpus)]
            gone = gone[gone["method"].isna() | (gone["method"] == method)]
            out.append(Evaluation(corpus, group, method, rows, of_method, of_corpus, gone))
        return out


def study(
    annotations: Annotations,
    dialogues: Dialogues,
    labels: Sequence[Label],
    counts: pd.DataFrame | None,
    metric_scores: pd.DataFrame | None,
    dialogue_facts: pd.DataFrame | None,
    own_ids: pd.DataFrame | None,
    leave_out: Sequence[str],
    selection: str = "",
) -> StudyFrames:
    """The frames with all columns that checks use, without systems left out; missing scores apart from the others."""
    marks = evaluated(_filled(annotations)).reset_index(drop=True)
    marks = marks[~marks["system"].isin(leave_out) & ~marks["system_b"].isin(leave_out)]
    unscored = marks[marks["score"].isna()].groupby(_ABSENT, as_index=False, dropna=False).size()
    gone = [unscored.rename(columns={"size": "n"})]
    if counts is not None and "system" in counts:
        dropped = counts[(counts["action"] == "dropped") & counts["system"].notna()]
        gone.append(dropped.reindex(columns=gone[0].columns))
    absent = pd.concat([f for f in gone if len(f)] or gone[:1], ignore_index=True)
    absent = absent[~absent["system"].isin(leave_out) & ~absent["system_b"].isin(leave_out)]
    marks = marks[marks["score"].notna()].reset_index(drop=True)
    talk = dialogues if "corpus" in dialogues else dialogues.assign(corpus="main")
    by_key = {(label.method, label.id): label for label in labels}
    facts = (
        dialogue_facts if dialogue_facts is not None else pd.DataFrame(columns=["corpus", "dialogue", "key", "value"])
    )
    metrics = metric_scores if metric_scores is not None else pd.DataFrame(columns=["corpus", "dialogue", "metric"])
    ids = own_ids if own_ids is not None else pd.DataFrame()
    return StudyFrames(marks, talk, by_key, absent, metrics, facts, ids, _not_used(counts), selection)


def _not_used(counts: pd.DataFrame | None) -> tuple[str, ...]:
    if counts is None:
        return ()
    reasons = counts.loc[(counts["what"] == sampling.NOT_USED) & (counts["action"] == "dropped"), "reason"]
    return tuple(dict.fromkeys(reason.partition(": ")[0] for reason in reasons))


def _filled(annotations: Annotations) -> Annotations:
    absent = {c: v for c, v in _FIXED.items() if c not in annotations}
    absent |= {c: None for c in _OPTIONAL if c not in annotations}
    if "source_row" not in annotations:
        absent["source_row"] = np.arange(len(annotations))
    return annotations.assign(**absent)
