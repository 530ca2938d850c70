"""Requirements decided again and again while judgements accumulate, by an interval that holds at every look."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import pandas as pd

from judgebook.annotations.dialogue_values import one_side
from judgebook.annotations.periods import in_order, periods, why_unordered
from judgebook.annotations.population import FIXED
from judgebook.annotations.scores import sampled
from judgebook.extras.gate.deciding import Decision, Requirement, Verdict, compared, verdict
from judgebook.model import comparisons
from judgebook.model.comparisons import shown
from judgebook.model.every_look import halves
from judgebook.questions.performance.analysis import chosen, interval_unit, ranking_unit
from judgebook.questions.performance.fitted import votes
from judgebook.statistics.intervals import confidence_sequence
from judgebook.study.labels import METHODS, Label
from judgebook.study.schema import Annotations
from judgebook.summary.evidence import Evidence, parts

_ENDS = ("system", "system_b")


def decide_anytime(required: Requirement, evidence: Evidence) -> Decision:
    """As `deciding.decide`, by a confidence sequence over dialogues in the order of their periods.

    It is about these annotators: the same few judge at every look, and what they have in common does not average out as
    dialogues are added. Votes are about other annotators where the study asks for that, by the model of votes.
    """
    if not required.compares:
        return _open(required, "no interval of it is valid at every look; only two systems can be compared like this")
    required, label, system, other = compared(required, evidence)
    if not label.id:
        return _open(required, "no interval of the overall answer is valid at every look: name a label (`on LABEL`)")
    others = evidence.study.inference.annotators == "sample"
    if others and METHODS[label.method].unit != "pair":
        why = (
            "an interval for other annotators is not valid at every look, since the same people judge again: "
            "write `inference: {annotators: fixed}` for one that is about these annotators"
        )
        return _open(required, why)
    for corpus, group, method in parts(evidence):
        rows = evidence.counted
        rows = rows[(rows["corpus"] == corpus) & (rows["group"] == group) & (rows["method"] == method)]
        rows = rows[rows["label"] == label.id]
        if others and method == label.method and len(rows):
            return _by_model(required, label, (system, other), rows, evidence)
        rows = of_two(rows, system, other) if method == label.method else rows.iloc[:0]
        if rows.empty:
            continue
        paired = METHODS[method].unit == "pair"
        if why := why_not(rows, system, paired=paired):
            return _open(required, why)
        values = label.direction * in_sequence(rows, system, paired=paired)
        if len(values):
            people = replace(evidence.population(corpus, group), others=False, why=FIXED)
            low, high = interval(values, label, paired=paired, confidence=evidence.confidence)
            decided = verdict(required, low, high)
            return Decision(required, decided, float(values.mean()), low, high, people, n_differences=len(values))
    return _open(required, "the two systems were not compared on this label")


def _open(required: Requirement, why: str) -> Decision:
    return Decision(required, Verdict.OPEN, why=why)


def _by_model(
    required: Requirement, label: Label, pair: tuple[str, str], rows: Annotations, evidence: Evidence
) -> Decision:
    """By all votes on the label, also those on other systems, and for other annotators (`model.every_look`)."""
    rows = chosen(rows, evidence.study.unranked_systems, [label])
    if sampled(rows):
        return _open(required, "votes were drawn with unequal probability, which no interval of them allows for")
    if not {*pair} <= {*rows["system"], *rows["system_b"]}:
        return _open(required, "the two systems were not compared on this label")
    people = evidence.population(*rows[["corpus", "group"]].iloc[0])
    fit = comparisons.fit(votes(rows, people=people.others))
    one, other = map(fit.systems.index, pair)
    levels = fit.levels
    at = int(np.flatnonzero((levels.pairs[0] == min(one, other)) & (levels.pairs[1] == max(one, other)))[0])
    gap, half = levels.estimates[one] - levels.estimates[other], halves(levels, evidence.confidence, 1)[at]
    ends = label.direction * shown(fit, np.array([gap, gap - half, gap + half]))
    low, high = float(ends[1:].min()), float(ends[1:].max())
    unit = "share won minus share lost"
    return Decision(required, verdict(required, low, high), float(ends[0]), low, high, people, unit=unit, n_votes=fit.n)


def of_two(rows: Annotations, system: str, other: str) -> Annotations:
    """The judgements of either system or, of comparisons, those of the two with each other."""
    if rows["system_b"].notna().any():
        return rows[[{a, b} == {system, other} for a, b in rows[[*_ENDS]].itertuples(index=False)]]
    return rows[rows["system"].isin([system, other])]


def why_not(rows: Annotations, system: str, *, paired: bool) -> str:
    """Why looks cannot be told apart; '' where they can. Arguments are those of `in_sequence`."""
    when = periods(rows, "day")
    if when.isna().any():
        return "it is not known when all judgements were made: fill `period` or `completed_at`"
    if sampled(rows):
        return "dialogues were drawn with unequal probability, which an interval valid at every look does not allow for"
    if why := why_unordered(when):
        return why.rstrip(".")
    begun = _dialogues(rows, system, paired=paired).groupby(level=["unit", "side"])["place"].nunique()
    if (begun > 1).any():
        return (
            f"{ranking_unit(rows)} {begun.index[begun > 1][0][0]!r} has dialogues of one system from several periods, "
            "so its difference would change from look to look: number it anew in each period "
            '(`identify: {context: ["{period}", item]}`)'
        )
    return ""


def interval(values: np.ndarray, label: Label, *, paired: bool, confidence: float) -> tuple[float, float]:
    """Ends of the interval of a mean difference after all of (n,) values of `in_sequence`."""
    reach = 1.0 if paired else label.scale[1] - label.scale[0]
    low, high = confidence_sequence(values, -reach, reach, looks=np.array([len(values)]), confidence=confidence)
    return float(low[0]), float(high[0])


def in_sequence(rows: Annotations, system: str, *, paired: bool) -> np.ndarray:
    """(n,) differences between the systems, `system` less the other, in the order in which they became known.

    rows : of one corpus, group, method and label, of two systems, with their periods. paired : whether they are
    comparisons.

    A difference is that within a session or context that systems share; where they share none, the next dialogue of one
    less the next of the other in the same period. Within a period the order is that of checksums of ids: it depends
    neither on scores nor on what comes later. Judgements of one system that have no counterpart are left out.
    """
    dialogues = _dialogues(rows, system, paired=paired)
    units = dialogues.groupby(level=["unit", "side"]).agg(place=("place", "max"), score=("score", "mean"))
    wide = units.unstack("side")  # noqa: PD010
    last = wide["place"].max(axis=1)
    check = pd.Series([_checksum(name) for name in wide.index], wide.index)
    if paired:
        differences = wide["score"]["both"]
    else:
        differences = _matched(wide["score"].reindex(columns=["one", "other"]), last, check)
    order = pd.DataFrame({"last": last, "check": check}).loc[differences.index].sort_values(["last", "check"]).index
    return differences.loc[order].to_numpy(float)


def _dialogues(rows: Annotations, system: str, *, paired: bool) -> pd.DataFrame:
    """`place` of the period and mean `score` of each dialogue or pair (unit, side, dialogue): judgements of the first
    period in which there are any, since a value must not change from look to look."""
    rows = one_side(rows) if paired else rows
    when = periods(rows, "day")
    place = when.map({name: i for i, name in enumerate(in_order(when))})
    unit = ranking_unit(rows)
    dialogue = rows["dialogue"].where(
        rows["dialogue_b"].isna(), rows["dialogue"] + "\x1f" + rows["dialogue_b"].astype("str")
    )
    unit = dialogue if unit == "pair" else rows[interval_unit(rows) if unit == "dialogue" else unit]
    first = rows["system"] == system
    side = "both" if paired else first.map({True: "one", False: "other"})
    score = rows["score"].where(first, -rows["score"]) if paired else rows["score"]
    frame = pd.DataFrame({"unit": unit, "dialogue": dialogue, "place": place, "score": score}).assign(side=side)
    key = ["unit", "side", "dialogue"]
    frame = frame[place == frame.groupby(key)["place"].transform("min")]
    return frame.groupby(key).agg(place=("place", "min"), score=("score", "mean"))


def _matched(values: pd.DataFrame, last: pd.Series, check: pd.Series) -> pd.Series:
    """Differences of units that have both systems, and of those with one, one after the other within periods."""
    whole = values.notna().all(axis=1)
    pieces = [(values["one"] - values["other"])[whole]]
    for _, alone in values[~whole].groupby(last[~whole]):
        ordered = alone.loc[check[alone.index].sort_values().index]
        one, other = (ordered[c].dropna() for c in ("one", "other"))
        n = min(len(one), len(other))
        pieces.append(pd.Series(one.to_numpy()[:n] - other.to_numpy()[:n], one.index[:n]))
    return pd.concat(pieces)


def _checksum(name: str) -> str:
    return hashlib.blake2b(name.encode(), digest_size=16).hexdigest()
