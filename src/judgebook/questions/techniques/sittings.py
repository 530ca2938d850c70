"""The judgements of every technique, one row per sitting.

A technique (`sections.analyses.Technique`) is a method, restricted to a corpus, facts of dialogues and a window of
turns, with a value of a conversation. A *sitting* is one annotator's judgement of one conversation (or pair of
conversations) on one label: several marks where every turn is judged, one where the whole conversation is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import pandas as pd

from judgebook.questions.techniques.question import Mixture, Technique, Techniques
from judgebook.statistics.intervals import generator
from judgebook.study.labels import METHODS, Label

#: a work unit that took more than this many times the median was left open, and its seconds count as missing
LEFT_OPEN = 10
#: what techniques are compared on
QUESTION = ["corpus", "group", "label"]
#: the label of means over all labels
OVERALL = "overall"
Pair = tuple[str, str]


@dataclass(frozen=True)
class TechniqueData:
    """What the techniques of a study are compared by.

    techniques : name -> what it is, of those with judgements. judgements : name -> annotations of all turns; sittings :
    name -> frame of `sittings`. pairs : two systems each, the first of which is the one whose wins are counted.
    labels : in order. scales : name -> smallest and largest value of a conversation. alone : the systems, where
    none are compared. directions : name -> label -> 1 where a high score is good, -1 where a low one is; others are
    neither. Sittings are as scored: `won` has the higher score, whichever is better.
    """

    techniques: dict[str, Technique]
    judgements: dict[str, pd.DataFrame]
    sittings: dict[str, pd.DataFrame]
    pairs: list[Pair]
    labels: list[str]
    scales: dict[str, tuple[float, float]]
    alone: Sequence[str] = ()
    directions: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def direction(self, technique: str, label: str) -> int:
        """1 where the system with the higher scores is the better one, -1 where it is the worse one, 0 for neither."""
        return self.directions.get(technique, {}).get(label, 0)

    def titles(self, labels: Sequence[Label], options: Techniques) -> dict[str, dict[str, str]]:
        """Display names of techniques (mixtures and averages last), dimensions and pairs, for `display_names`."""
        by_key = {(label.method, label.id): label.title for label in labels}
        methods = [t.method for t in self.techniques.values()]
        dimensions = {x: next((by_key[m, x] for m in methods if (m, x) in by_key), x) for x in self.labels}
        every: dict[str, Technique | Mixture] = {**self.techniques, **options.combine, **options.average}
        return {
            "technique": {name: t.title or name.replace("_", " ") for name, t in every.items()},
            "dimension": dimensions | {OVERALL: "Overall"},
            "pair": {pair_key(*p): name.replace("_", " ").capitalize() for name, p in options.pairs.items()},
        }

    @property
    def systems(self) -> list[str]:
        """The systems that are compared, in the order of `pairs`, or those that are judged alone."""
        return list(dict.fromkeys(s for pair in self.pairs for s in pair)) or list(self.alone)

    def compares(self, technique: str) -> bool:
        """Whether annotators see two systems at once."""
        return pairwise(self.techniques[technique].method)

    def cells(self, technique: str) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
        """The sittings of each corpus, group and label (in order), with what they have in common as columns."""
        rows, method = self.sittings[technique], self.techniques[technique].method
        common = {"method": method, "level": "pair" if pairwise(method) else "dialogue", "technique": technique}
        groups = dict(iter(rows.groupby(QUESTION, sort=True)))
        for key in sorted(groups, key=lambda k: (k[0], k[1], self.labels.index(k[2]))):
            yield dict(zip(QUESTION, key, strict=True)) | common, groups[key]


def pair_key(a: str, b: str) -> str:
    """What the display name of a pair of systems is filed under."""
    return f"{a}\x1f{b}"


def pairwise(method: str) -> bool:
    """Whether the method shows two systems at once."""
    return METHODS[method].unit == "pair"


def sides(rows: pd.DataFrame, pair: Pair) -> list[pd.DataFrame]:
    """The sittings of a pair of systems: one frame where the two are compared, two where each is judged alone."""
    if rows["system_b"].notna().any():
        return [rows[(rows["system"] == pair[0]) & (rows["system_b"] == pair[1])]]
    return [rows[rows["system"] == system] for system in pair]


def by_method(annotations: pd.DataFrame, labels: Sequence[Label]) -> dict[str, Technique]:
    """The methods of a study as techniques: those that compare two systems, and those that share a label with one.

    Labels that are neither good nor bad say nothing about which system is better and are left out. Pairwise methods
    come first, otherwise the order is that of `METHODS`.
    """
    good = {(label.method, label.id) for label in labels if label.direction != 0}
    seen = good & set(annotations[["method", "label"]].drop_duplicates().itertuples(index=False, name=None))
    labels_of = {m: {label for method, label in seen if method == m} for m in METHODS}
    compared = set().union(*(ids for m, ids in labels_of.items() if pairwise(m)))
    chosen = [m for m, ids in labels_of.items() if ids and (pairwise(m) or ids & compared)]
    return {m: Technique(method=m, title=METHODS[m].title) for m in sorted(chosen, key=lambda m: not pairwise(m))}


def gather(
    annotations: pd.DataFrame,
    facts: pd.DataFrame,
    techniques: Mapping[str, Technique],
    labels: Sequence[Label],
    systems: Sequence[str],
    options: Techniques,
) -> TechniqueData:
    """Judgements and sittings of every technique, by people.

    Parameters
    ----------
    annotations, facts : DataFrame
        Frames of the study.
    techniques : mapping
        Techniques without any judgement are left out.
    labels : sequence of Label
        Of the study, for their scales and directions.
    systems : sequence of str
        Those that are ranked, in order: pairs are made from them where the options name none.
    options : Techniques
        Pairs, and labels (by default those that two techniques share, or else all).
    """
    people = annotations[annotations["annotator_kind"] == "human"]
    judged = {*annotations["system"], *annotations["system_b"].dropna()}
    pairs: list[Pair] = [(a, b) for a, b in options.pairs.values()]
    pairs = pairs or list(combinations([s for s in systems if s in judged], 2))
    met = {s for pair in pairs for s in pair}
    judgements = {}
    for name, technique in techniques.items():
        rows = _select(people, facts, technique)
        rows = rows if pairwise(technique.method) else rows[rows["system"].isin(met)]
        judgements[name] = rows.assign(label=rows["label"].replace(technique.rename))
    every = [label for rows in judgements.values() for label in rows["label"].unique()]
    wanted = options.labels or list(dict.fromkeys(x for x in every if every.count(x) > 1)) or list(dict.fromkeys(every))
    data_of = {}
    for name, rows in judgements.items():
        judgements[name] = rows[rows["label"].isin(wanted)]
        rate, turns = techniques[name].rate, techniques[name].turns
        if len(judgements[name]):
            data_of[name] = sittings(judgements[name], rate=rate, turns=turns, pairs=pairs)
    used = {name: techniques[name] for name, rows in data_of.items() if len(rows)}
    scales = {name: _scale(technique, labels) for name, technique in used.items()}
    directions = {}
    for name, technique in used.items():
        of_method = [label for label in labels if label.method == technique.method]
        directions[name] = {technique.rename.get(x.id, x.id): x.direction for x in of_method}
    sittings_of = {name: data_of[name] for name in used}
    return TechniqueData(used, judgements, sittings_of, pairs, wanted, scales, directions=directions)


def _scale(technique: Technique, labels: Sequence[Label]) -> tuple[float, float]:
    if pairwise(technique.method):
        return (-1.0, 1.0)
    scales = [label.scale for label in labels if label.method == technique.method]
    return (
        (0.0, 1.0)
        if technique.rate == "winner" or not scales
        else (min(s[0] for s in scales), max(s[1] for s in scales))
    )


def _select(annotations: pd.DataFrame, facts: pd.DataFrame, technique: Technique) -> pd.DataFrame:
    """The judgements that belong to a technique, whatever turns it uses."""
    rows = annotations[annotations["method"] == technique.method]
    if technique.corpus is not None:
        rows = rows[rows["corpus"] == technique.corpus]
    for key, value in technique.facts.items():
        having = facts.loc[(facts["key"] == key) & (facts["value"] == value), ["corpus", "dialogue"]]
        dialogues = pd.MultiIndex.from_frame(rows[["corpus", "dialogue"]])
        rows = rows[dialogues.isin(pd.MultiIndex.from_frame(having.drop_duplicates()))]
    return rows


def sittings(
    annotations: pd.DataFrame,
    *,
    rate: str = "linear",
    turns: Sequence[int] | None = None,
    pairs: Sequence[Sequence[str]] | None = None,
) -> pd.DataFrame:
    """One row per annotator, conversation (or pair of conversations) and label.

    Parameters
    ----------
    annotations : DataFrame
        Columns of `schema.ANNOTATIONS`, of one method.
    rate : 'linear', 'squared' or 'winner'
        The value of a conversation. Pairwise: (x - y) / n, (x² - y²) / (x² + y²), or the sign of x - y, from -1 to 1,
        for n marks of which x won and y lost. Otherwise the mean mark, or whether at least half of the marks are 1.
    turns : (first, last), optional
        Use these turns only, counted from 1, both included.
    pairs : pairs of systems, optional
        Comparisons of other systems are left out. A comparison is oriented towards the pair's first system; without
        `pairs` towards the system that comes first in the alphabet.

    Returns
    -------
    DataFrame
        corpus, group, label, system, system_b (missing where one system is judged), conversation, dialogue,
        dialogue_b, annotator, work_unit, seconds, won, lost, n (marks), total (their sum), value. Where a work unit
        holds several conversations, its seconds are divided equally among them.

    Raises
    ------
    ValueError
        Squared rates of single systems; winner-takes-all of marks that are not 0 or 1.

    References
    ----------
    Smith et al. 2022, Tables 1 and 2.
    """
    two = annotations["dialogue_b"].notna().all() if len(annotations) else False
    if rate == "squared" and not two:
        raise ValueError("rate: a squared rate compares two systems; these judgements are about one")
    marks = annotations if turns is None else annotations[(annotations["turn"] + 1).between(*turns)]
    marks = oriented(marks, pairs) if two else marks
    if rate == "winner" and not two and not marks["score"].isin([0, 1]).all():
        raise ValueError("rate: winner-takes-all of single systems needs marks of 0 and 1")
    score = marks["score"].to_numpy(float)
    marks = marks.assign(won=score > 0, lost=score < 0 if two else score == 0)
    pair = marks["dialogue"].astype(object) + "\x1f" + marks["dialogue_b"].astype(object)
    marks["conversation"] = pair.where(marks["dialogue_b"].notna(), marks["dialogue"])
    key = [*QUESTION, "conversation", "annotator", "system"] + (["system_b"] if two else [])
    summed = marks.groupby(key, sort=False, observed=True).agg(
        **{c: (c, "first") for c in ("dialogue", "dialogue_b", "seconds", "work_unit")},
        won=("won", "sum"), lost=("lost", "sum"), n=("score", "size"), total=("score", "sum"),
    ).reset_index()  # fmt: skip
    summed["system_b"] = summed["system_b"] if two else None
    summed["seconds"] = summed["seconds"].where(~(summed["seconds"] > LEFT_OPEN * summed["seconds"].median()))
    held = summed.groupby(["work_unit", "label"])["conversation"].transform("nunique")
    summed["seconds"] = summed["seconds"] / held.where(summed["work_unit"].notna(), 1)
    return summed.assign(value=_value(summed, rate, bool(two)))


def marks(data: TechniqueData, technique: str) -> pd.DataFrame:
    """The judgements of a technique, comparisons from the side of the first system of a pair, scores high where it is
    the better one. `direction`: of the label, 0 where nobody said which end is good; `seconds`: those of a sitting."""
    judged = ["corpus", "group", "label", "system", "dialogue", "dialogue_b", "annotator"]
    rows, two = data.judgements[technique], data.compares(technique)
    rows = oriented(rows, data.pairs) if two else rows
    direction = rows["label"].map(lambda label: data.direction(technique, label)).astype(int)
    rows = rows.assign(direction=direction, score=rows["score"].astype(float) * (direction.replace(0, 1) if two else 1))
    timed = data.sittings[technique]
    timed = timed.assign(dialogue_b=timed["dialogue_b"].astype(object).where(timed["dialogue_b"].notna(), ""))
    other = rows["dialogue_b"].astype(object).where(rows["dialogue_b"].notna(), "")
    of = pd.MultiIndex.from_frame(rows.assign(dialogue_b=other)[judged])
    rows["seconds"] = timed.set_index(judged)["seconds"].reindex(of).to_numpy()
    return rows


def oriented(marks: pd.DataFrame, pairs: Sequence[Sequence[str]] | None) -> pd.DataFrame:
    """Comparisons of the given pairs, scored for the first system of each."""
    pairs = pairs or list(combinations(sorted({*marks["system"], *marks["system_b"]}), 2))
    systems = pd.MultiIndex.from_frame(marks[["system", "system_b"]])
    forward, backward = (systems.isin([tuple(p)[::way] for p in pairs]) for way in (1, -1))
    out = marks[forward | backward].copy()
    turned = (backward & ~forward)[forward | backward]
    for a, b in (("system", "system_b"), ("dialogue", "dialogue_b")):
        left, right = out[a].astype(object), out[b].astype(object)
        out[a], out[b] = left.where(~turned, right), right.where(~turned, left)
    return out.assign(score=out["score"].where(~turned, -out["score"]))


def _value(summed: pd.DataFrame, rate: str, two: bool) -> np.ndarray:
    x, y, n = (summed[c].to_numpy(float) for c in ("won", "lost", "n"))
    if not two:
        return (2 * x >= n).astype(float) if rate == "winner" else summed["total"].to_numpy(float) / n
    if rate == "linear":
        return (x - y) / n
    if rate == "winner":
        return np.sign(x - y)
    return np.divide(x**2 - y**2, x**2 + y**2, out=np.zeros(len(x)), where=x + y > 0)


def by_conversation(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per conversation: mean value over its annotators, and their number (`sittings`)."""
    group = rows.groupby("conversation", sort=False)
    # `agg` with names would cost ten times as much, and this is called for each pair of systems
    return pd.DataFrame({"value": group["value"].mean(), "sittings": group.size()})


def uses(rows: pd.DataFrame) -> float:
    """In how many pairs of dialogues a dialogue is compared on average."""
    pairs = rows.drop_duplicates(["dialogue", "dialogue_b"])
    return len(pairs) / min(pairs["dialogue"].nunique(), pairs["dialogue_b"].nunique())


def together(data: TechniqueData) -> bool:
    """Whether most comparisons of some technique were made in the sittings of ratings: by the same people in the same
    work units. Those whose work unit is not known count as made separately."""
    work = ["annotator", "work_unit"]
    units = {t: pd.MultiIndex.from_frame(rows[work]) for t, rows in data.sittings.items()}
    rated = [pd.MultiIndex.from_frame(data.sittings[t][work].dropna()) for t in units if not data.compares(t)]
    return any(units[t].isin(of_ratings).mean() > 0.5 for t in units if data.compares(t) for of_ratings in rated)


def stream(seed: int, *names: object) -> np.random.Generator:
    """The random numbers of one technique, label and pair."""
    return generator(seed, "winrates", *map(str, names))
