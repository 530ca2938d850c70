"""Ways of evaluating side by side: sittings of every technique, and what they say of systems, as result rows.

A technique is told by a method, and by a corpus, facts of dialogues, a window of turns and what a conversation is worth
(`sections.Technique`). `collect` gives its sittings (`winrates.sittings`); everything else goes through them. Rows name
the technique in their condition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Protocol

import numpy as np
import pandas as pd

from helpers import effective_rates as effective
from helpers import final_ratings, winrates
from helpers.labels import METHODS, Label
from helpers.schema import condition
from helpers.winrates import CELL, pairwise

Pair = tuple[str, str]


class Spec(Protocol):
    """What is used of `sections.Technique`."""

    method: str
    title: str
    corpus: str | None
    facts: dict[str, str]
    turns: Sequence[int] | None
    rename: dict[str, str]
    rate: str
    timed: bool
    onboarding_minutes: float
    conversation_minutes: float


@dataclass(frozen=True)
class ByMethod:
    """A technique that is just a method: all its judgements, linear rates."""

    method: str
    title: str
    corpus: str | None = None
    facts: dict[str, str] = field(default_factory=dict)
    turns: Sequence[int] | None = None
    rename: dict[str, str] = field(default_factory=dict)
    rate: str = "linear"
    timed: bool = True
    onboarding_minutes: float = 0.0
    conversation_minutes: float = 0.0


@dataclass(frozen=True)
class Collected:
    """specs : technique -> what it is. sittings : technique -> its sittings. scales : technique -> smallest and largest
    value of a conversation. pairs : pairs of systems, in order. labels : in order."""

    specs: Mapping[str, Spec]
    sittings: Mapping[str, pd.DataFrame]
    scales: Mapping[str, tuple[float, float]]
    pairs: list[Pair]
    labels: list[str]

    def title(self, technique: str) -> str:
        """What readers call a technique. Checked by hand."""
        spec = self.specs.get(technique)
        return (spec.title if spec else "") or technique.replace("_", " ")

    def cells(self, technique: str):
        """(corpus, group, label), its sittings; labels in order. Checked by hand."""
        place = {label: i for i, label in enumerate(self.labels)}
        groups = dict(iter(self.sittings[technique].groupby(CELL, sort=True)))
        for key in sorted(groups, key=lambda k: (k[0], k[1], place[k[2]])):
            yield dict(zip(CELL, key, strict=True)), groups[key]

    def level(self, technique: str) -> str:
        """What a sitting is about: pair or dialogue. Checked by hand."""
        return "pair" if pairwise(self.specs[technique].method) else "dialogue"


def by_method(annotations: pd.DataFrame, labels: Sequence[Label]) -> dict[str, ByMethod]:
    """The methods of a study as techniques: those that compare two systems, and those that share a label with one.

    Labels that are neither good nor bad say nothing of who is better, and stay out. The order is that of `METHODS`,
    pairwise ones first.

    Checked by hand.
    """
    good = {(label.method, label.id) for label in labels if label.direction != 0}
    seen = {pair for pair in annotations[["method", "label"]].drop_duplicates().itertuples(index=False, name=None)}
    of = {m: {label for method, label in seen & good if method == m} for m in METHODS}
    compared = set().union(*(found for m, found in of.items() if pairwise(m)))
    chosen = [m for m, found in of.items() if found and (pairwise(m) or found & compared)]
    return {m: ByMethod(m, METHODS[m].title) for m in sorted(chosen, key=lambda m: not pairwise(m))}


def collect(
    annotations: pd.DataFrame,
    facts: pd.DataFrame,
    specs: Mapping[str, Spec],
    declared: Sequence[Label],
    *,
    systems: Sequence[str],
    pairs: Sequence[Sequence[str]] = (),
    labels: Sequence[str] = (),
    left_open: float = 10.0,
) -> Collected:
    """Sittings of every technique, by people.

    annotations, facts : frames of the study. declared : its labels, for their scales. systems : those that are ranked,
    in order; pairs are made from them where none are given. labels : those compared; by default those that two
    techniques share, or else all. Techniques without any judgement stay out.

    Checked by hand, and against counts of the raw files of two studies.
    """
    people = annotations[annotations["annotator_kind"] == "human"]
    pairs = [tuple(p) for p in pairs] or list(combinations(systems, 2))
    met = {s for pair in pairs for s in pair}
    found = {}
    for name, spec in specs.items():
        rows = _select(people, facts, spec)
        if not pairwise(spec.method):
            rows = rows[rows["system"].isin(met)]
        found[name] = rows.assign(label=rows["label"].replace(spec.rename))
    shared = _shared({name: set(rows["label"]) for name, rows in found.items()})
    wanted = list(labels) or [x for x in dict.fromkeys(l for r in found.values() for l in r["label"]) if x in shared]
    out = {}
    for name, rows in found.items():
        spec, rows = specs[name], rows[rows["label"].isin(wanted)]
        if len(rows):
            given = {"rate": spec.rate, "turns": spec.turns, "pairs": pairs, "left_open": left_open}
            sat = winrates.sittings(rows, **given)
            out |= {name: sat} if len(sat) else {}
    specs = {name: specs[name] for name in out}
    scales = {name: _scale(spec, declared) for name, spec in specs.items()}
    return Collected(specs, out, scales, pairs, wanted)


def _scale(spec: Spec, declared: Sequence[Label]) -> tuple[float, float]:
    if pairwise(spec.method):
        return (-1.0, 1.0)
    found = [label.scale for label in declared if label.method == spec.method]
    return (0.0, 1.0) if spec.rate == "winner" or not found else (min(s[0] for s in found), max(s[1] for s in found))


def _shared(labels: Mapping[str, set[str]]) -> set[str]:
    every = [label for found in labels.values() for label in found]
    return {label for label in every if every.count(label) > 1} or set(every)


def corpora(specs: Mapping[str, Spec], annotations: pd.DataFrame) -> list[str]:
    """Corpora that the techniques may draw on: those they name, or else all that are judged. Checked by hand."""
    named = {spec.corpus for spec in specs.values()}
    return sorted(annotations["corpus"].unique() if None in named else named)


def _select(annotations: pd.DataFrame, facts: pd.DataFrame, spec: Spec) -> pd.DataFrame:
    """The judgements that belong to a technique, whatever turns it uses."""
    rows = annotations[annotations["method"] == spec.method]
    if spec.corpus is not None:
        rows = rows[rows["corpus"] == spec.corpus]
    for key, value in spec.facts.items():
        having = facts.loc[(facts["key"] == key) & (facts["value"] == value), ["corpus", "dialogue"]]
        here = pd.MultiIndex.from_frame(rows[["corpus", "dialogue"]])
        rows = rows[here.isin(pd.MultiIndex.from_frame(having.drop_duplicates()))]
    return rows


def rates(c: Collected, *, seed: int, n_resamples: int, confidence: float) -> pd.DataFrame:
    """`technique_win_rate` of pairs, `technique_score` of systems and `effective_win_rate` of pairs, by technique.

    Checked against shares of the marks themselves.
    """
    size = {"n_resamples": n_resamples, "confidence": confidence}
    out: list[dict[str, object]] = []
    for name, spec in c.specs.items():
        for cell, rows in c.cells(name):
            head = {**cell, "method": spec.method, "level": c.level(name), "keys": {"technique": name}}
            names = (seed, name, *cell.values())
            if pairwise(spec.method):
                out += _win_rates(c, rows, spec.rate, head, names, size)
            else:
                out += _scores(c, rows, head, names, size)
    return pd.DataFrame(out)


def _win_rates(c: Collected, rows: pd.DataFrame, rate: str, head: dict, names: tuple, size: dict) -> list[dict]:
    out = []
    for a, b in c.pairs:
        here = rows[(rows["system"] == a) & (rows["system_b"] == b)]
        if len(here):
            own = head | {"statistic": "technique_win_rate", "system": a, "system_b": b}
            found = winrates.win_rate(here, rate, rng=winrates.stream(*names, a, b), **size)
            out += [winrates.rows_of(f, **own) for f in found]
    return out


def _scores(c: Collected, rows: pd.DataFrame, head: dict, names: tuple, size: dict) -> list[dict]:
    values = {s: part for s, part in rows.groupby("system", sort=False)}
    out = []
    for s in dict.fromkeys(s for pair in c.pairs for s in pair):
        if s in values:
            found = winrates.system_rate(values[s], rng=winrates.stream(*names, s), **size)
            out.append(winrates.rows_of(found, statistic="technique_score", system=s, **head))
    of = {s: winrates.by_conversation(part)["value"].to_numpy() for s, part in values.items()}
    for a, b in c.pairs:
        if a in of and b in of:
            own = head | {"statistic": "effective_win_rate", "system": a, "system_b": b}
            found = effective.effective(of[a], of[b], rng=winrates.stream(*names, "effective", a, b), **size)
            out += [winrates.rows_of(f, **own) for f in found]
    return out


def turn_rates(annotations: pd.DataFrame, facts: pd.DataFrame, c: Collected, confidence: float) -> pd.DataFrame:
    """`turn_rate` rows: share won or marked at each turn, for every method that judges turns, once a corpus, whatever
    windows its techniques use.

    Checked against shares of the marks themselves.
    """
    people, out, done = annotations[annotations["annotator_kind"] == "human"], [], []
    for spec in c.specs.values():
        what = (spec.method, spec.corpus)
        marks = _select(people, facts, spec)
        marks = marks[marks["turn"].notna() & marks["label"].isin(c.labels)]
        if what in done or marks["turn"].nunique() < 2:
            continue
        done.append(what)
        if not pairwise(spec.method):
            marks = marks[marks["system"].isin({s for pair in c.pairs for s in pair})]
            if not marks["score"].isin([0, 1]).all():
                continue
        found = winrates.by_turn(marks, c.pairs, confidence)
        keys = [condition(turn=t) for t in found.pop("turn")]
        out.append(found.assign(statistic="turn_rate", method=spec.method, level="turn", condition=keys))
    return pd.concat(out, ignore_index=True) if out else pd.DataFrame()


def mixtures(
    c: Collected, specs: Mapping[str, object], *, seed: int, n_resamples: int, confidence: float
) -> pd.DataFrame:
    """`technique_win_rate` rows of ratings sampled from several pairwise techniques (`sections.Mixture`).

    Corpora are put together: the techniques may stand in different ones, and the rows have that of the first.

    Checked against the weighted mean of the techniques' rates.
    """
    size, out = {"n_resamples": n_resamples, "confidence": confidence}, []
    for name, spec in specs.items():
        parts = [c.sittings.get(t) for t in spec.techniques]
        if any(p is None or p["system_b"].isna().any() for p in parts):
            continue
        first = parts[0]
        for (group, label, a, b), rows in first.groupby(["group", "label", "system", "system_b"], sort=False):
            same = [p[(p["group"] == group) & (p["label"] == label)] for p in parts[1:]]
            same = [p[(p["system"] == a) & (p["system_b"] == b)] for p in same]
            if all(len(p) for p in same):
                rng = winrates.stream(seed, name, group, label, a, b)
                found = effective.combined([rows, *same], spec.weights, rng=rng, **size)
                head = {"corpus": rows["corpus"].iloc[0], "group": group, "label": label, "level": "pair"}
                head |= {"system": a, "system_b": b, "statistic": "technique_win_rate", "keys": {"technique": name}}
                out.append(winrates.rows_of(found | {"ties": "half"}, **head))
    return pd.DataFrame(out)


def sign_rows(c: Collected, *, seed: int, n_resamples: int, confidence: float) -> pd.DataFrame:
    """`same_winner` rows: how often a rating technique names the same winner of a pair as a pairwise one does, over
    pairs in which neither ties; pairs are resampled. All pairs of systems together.

    Beside them `tied_share` of either, and `same_sitting`: how many of the comparisons were made together with a rating
    of either dialogue, so that they are no second opinion.

    Checked by hand.
    """
    size, out = {"n_resamples": n_resamples, "confidence": confidence}, []
    single = [t for t in c.specs if not pairwise(c.specs[t].method)]
    for first in (t for t in c.specs if pairwise(c.specs[t].method)):
        for second in single:
            both = effective.same_sign(c.sittings[first], c.sittings[second])
            for key, rows in both.groupby(CELL, sort=False):
                decided = rows[rows["agrees"].notna()]
                cell = dict(zip(CELL, key, strict=True))
                keys = {"technique": first, "against": second}
                head = {**cell, "level": "pair", "condition": condition(**keys), "method": c.specs[first].method}
                tied = {"statistic": "tied_share", "estimate": float((rows["value"] == 0).mean()), "n": len(rows)}
                apart = {"statistic": "tied_share", "estimate": float((rows["difference"] == 0).mean()), "n": len(rows)}
                out += [head | tied | {"condition": condition(**keys, of=first)}]
                out += [head | apart | {"condition": condition(**keys, of=second)}]
                at_once = effective.same_sitting(rows, c.sittings[second])
                out.append(head | {"statistic": "same_sitting", "estimate": at_once, "n": len(rows)})
                if len(decided):
                    won = decided["agrees"].to_numpy(float)
                    rng = winrates.stream(seed, "same winner", first, second, *key)
                    found = winrates.ratio(decided, won, np.ones(len(won)), rng, size)
                    out.append(head | {"statistic": "same_winner"} | found)
    return pd.DataFrame(out)


def turn_coefficients(annotations: pd.DataFrame, c: Collected, confidence: float) -> pd.DataFrame:
    """`turn_coefficient` rows: what a mark at each turn adds to the rating of the whole (Smith et al. 2022, Figure 6).

    Empty where nobody both marked the turns and rated the whole conversation.

    Checked against `final_ratings.by_turn` of the conversations joined.
    """
    people = annotations[(annotations["annotator_kind"] == "human") & annotations["label"].isin(c.labels)]
    corpora = {corpus for rows in c.sittings.values() for corpus in rows["corpus"].unique()}
    people = people[people["dialogue_b"].isna() & people["corpus"].isin(corpora)]
    both = final_ratings.conversations(people[people["turn"].notna()], people[people["turn"].isna()])
    if both.empty:
        return pd.DataFrame()
    found = final_ratings.by_turn(both, confidence)
    keys = [condition(turn=t) for t in found.pop("turn")]
    return found.assign(
        statistic="turn_coefficient", level="dialogue", condition=keys, ci_kind="t", resample_unit="dialogue"
    )
