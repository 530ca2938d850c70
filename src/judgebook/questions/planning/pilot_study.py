"""What a plan is based on: one corpus and group of the study, which serves as a pilot, and what its YAML says.

Each label is fitted as in notebook 07, and other designs are predicted from its variances (`model.designs`). A
difference worth finding is an input.

Of what models judged, too, it is said how much of what people's values of dialogues vary by their scores explain: the
share of `judges.prediction_powered.explained`, the squared correlation within systems, with an interval over dialogues
or sessions. Where the systems of the next study meet in each session, it is the share of differences within sessions:
what sessions have in common cancels, and a model that explains only that explains nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from math import ceil, exp, inf, sqrt
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from judgebook.annotations.cells import in_turn
from judgebook.annotations.population import modelled
from judgebook.annotations.summary import in_sessions, main_group, with_means
from judgebook.codes import distinct
from judgebook.model.comparisons import shown
from judgebook.model.designs import Design
from judgebook.model.fit import ANSWER, CONTEXT, ITEM, Fit
from judgebook.questions.collection.costs import COLLECTION, medians, minutes
from judgebook.questions.judges.choices import choices
from judgebook.questions.judges.items import ITEM as OF_ITEM
from judgebook.questions.judges.items import LABEL
from judgebook.questions.judges.prediction_powered import Sums, by_people, explained, sums, sums_of
from judgebook.questions.performance.analysis import chosen
from judgebook.questions.performance.fitted import CELL, fit
from judgebook.questions.planning.question import Planning
from judgebook.statistics.intervals import Interval, Sampling
from judgebook.statistics.resampling import replicate_sums
from judgebook.study.labels import METHODS, Label

#: dialogues that people and the model judged, at least, from which a study is planned
LEAST_JUDGED = 20
NO_MARGINS: Mapping[tuple[str, str], float] = MappingProxyType({})


@dataclass(frozen=True)
class Prices:
    """What a dialogue and a judgement take. minutes_per_dialogue : None, not counted, where they are not known.
    hourly_rate : in the study's currency."""

    minutes_per_dialogue: float | None
    minutes_per_judgement: float
    hourly_rate: float

    def hours(self, design: Design, pairwise: bool = False) -> float:
        """Hours of people's work: talking and judging."""
        pairs = design.systems * (design.systems - 1) / 2
        units = design.dialogues * (pairs if pairwise else design.systems)
        talked = units * (2 if pairwise else 1) * (self.minutes_per_dialogue or 0.0)
        return (talked + units * design.per_dialogue * self.minutes_per_judgement) / 60

    def cost(self, design: Design, pairwise: bool = False) -> float:
        """Money for these hours."""
        return self.hours(design, pairwise) * self.hourly_rate


#: of methods without times: every dialogue and judgement costs the same
UNPRICED = Prices(1.0, 1.0, 60.0)


@dataclass(frozen=True)
class Pilot:
    """One label of the pilot.

    fit : of its judgements. each : judgements of a dialogue, or of a pair of dialogues, on average. widest : width of
    the scale, of comparisons 1; no two systems differ by more. direction : 1 where more is better, -1 where less is, 0
    where that is not said. n_dialogues : or pairs of dialogues.
    """

    method: str
    label: str
    fit: Fit
    each: float
    widest: float
    direction: int
    n_dialogues: int

    @property
    def pairwise(self) -> bool:
        """Whether two systems are compared in each judgement."""
        return self.fit.log_nu is not None

    @property
    def judged_twice(self) -> bool:
        """Whether dialogues were judged twice. If none was, what people disagree about cannot be told from what
        dialogues differ by, of which further annotators would average out the first only."""
        return (ANSWER if self.pairwise else ITEM) in self.fit.variances and self.each > 1

    @property
    def variance(self) -> dict[str, float]:
        """Of each part of the fit, in squared units of the label. Of comparisons, whose parts are those of log
        strengths: its share in the variance that scores of 1, 0 and -1 have between equal systems."""
        if not self.pairwise:
            return self.fit.variances
        total = 2 / (2 + exp(self.fit.log_nu or 0.0))
        return {part: share * total for part, share in self.fit.shares.items()}

    def variances(self, *, paired: bool) -> tuple[float, float]:
        """Of the value of a dialogue (of the score of a comparison) around the mean of its system: what is the same
        whoever judges it, and what each judgement adds. paired : without what systems share in sessions."""
        v = {part: 0.0 if paired and part == CONTEXT else value for part, value in self.variance.items()}
        same = sum(v.get(part, 0.0) for part in (CONTEXT, ITEM, ANSWER))
        return (same, sum(v.values()) - same) if self.judged_twice else (sum(v.values()), 0.0)

    @property
    def sd(self) -> float:
        """Standard deviation of the values of dialogues within systems."""
        same, each = self.variances(paired=False)
        return sqrt(same + each / self.each)

    @property
    def lead(self) -> float:
        """By how much the first system is ahead of the second, as the data have it; NaN where nobody said what is
        better."""
        if not self.direction:
            return np.nan
        first, second = np.sort(self.direction * self.fit.levels.estimates)[-1:-3:-1]
        return float(shown(self.fit, np.array([first - second]))[0])


@dataclass(frozen=True)
class Judged:
    """One label as people and one model judged it.

    data : rows of dialogues by system; of comparisons by pair of systems. annotators : judgements by people of an item
    that they judged, on average. share : of the variance that the model explains.
    """

    method: str
    label: str
    judge: str
    data: Sums
    annotators: float
    share: Interval


@dataclass(frozen=True)
class PlanningInput:
    """The basis of the plan, from one corpus and group.

    prices : by method, None where times are not known. differences : by (method, label), the difference worth finding.
    paired : whether all systems meet in each session; met : whether they do in the pilot. annotators : of a future
    study, None for as many as have the loads of the pilot. assumed : (method, label) of differences that nobody stated.
    left_out : (method, label) that were judged and cannot be planned from. annotations : those of the corpus and group.
    blocks : what sessions are, `session` or `context`. several : corpora, and groups, that could have been planned
    from. judged : what models judged, too. judge_costs : model (`*`: all others) -> price of a judgement of a dialogue
    (of a comparison).
    """

    corpus: str
    group: str
    pilots: list[Pilot]
    prices: dict[str, Prices | None]
    differences: dict[tuple[str, str], float]
    paired: bool
    annotators: int | None
    n_systems: int
    assumed: list[tuple[str, str]]
    left_out: list[tuple[str, str]]
    annotations: pd.DataFrame
    blocks: str
    met: bool
    several: tuple[int, int]
    judged: list[Judged] = field(default_factory=list)
    judge_costs: Mapping[str, float] = field(default_factory=dict)

    def design(self, pilot: Pilot, n: int, m: int) -> Design:
        """A design with n dialogues per system (pairs of dialogues per pair of systems), each judged by m people: by as
        many as the YAML says, or as have the loads of the pilot."""
        s, now = self.n_systems, pilot.fit
        if not now.n_annotators:
            return Design(n, m, inf, s, self.paired)
        judgements = n * m * (s * (s - 1) / 2 if pilot.pairwise else s)
        people = self.annotators or ceil(now.n_annotators * judgements / now.n - 1e-9)
        return Design(n, m, max(people, m, min(now.n_annotators, 2)), s, self.paired)

    def wanted(self, pilot: Pilot) -> float:
        """The difference worth finding."""
        return self.differences[pilot.method, pilot.label]


def planning_input(
    annotations: pd.DataFrame,
    work_units: pd.DataFrame,
    labels: Sequence[Label],
    options: Planning,
    margins: Mapping[tuple[str, str], float] = NO_MARGINS,
    *,
    systems: Sequence[str],
    hourly_rate: float,
    seed: int,
    declared: str = "auto",
    models: pd.DataFrame | None = None,
    judge_costs: Mapping[str, float] = MappingProxyType({}),
    n_resamples: int = 10_000,
    confidence: float = 0.95,
) -> PlanningInput:
    """Choose and estimate the basis of the plan: of the corpora that can be planned from, the one with the most
    judgements, and its main group.

    annotations, models : judgements of the evaluation itself, by people and by models. margins : (method, label) ->
    difference worth finding, in units of the label. systems : those that are compared. seed, n_resamples, confidence :
    of the intervals of what models explain. declared : `inference.annotators`.

    Raises ValueError where nothing can be planned from: one system, or judgements that do not vary.
    """
    people = annotations[annotations["annotator_kind"] == "human"]
    for corpus in people["corpus"].value_counts().index:
        of_group = people[people["corpus"] == corpus]
        group = main_group(of_group)
        of_group, blocks = in_sessions(of_group[of_group["group"] == group])
        every = list(pilots(of_group, labels, systems, declared=declared))
        if every:
            break
    else:
        raise ValueError("no label was judged on dialogues of two systems with scores that vary within systems")
    scored = with_means(of_group, labels)
    judged = list(dict.fromkeys(zip(scored["method"], scored["label"], strict=True)))
    compared = (set(of_group["system"]) | set(of_group["system_b"].dropna())) & set(systems)
    met = _meet(of_group, compared)
    paired = met if options.paired is None else options.paired
    planned = {(p.method, p.label) for p in every}
    stated = {(p.method, p.label): margins.get((p.method, p.label)) for p in every}
    return PlanningInput(
        corpus, group, every, _prices(of_group, work_units, options, hourly_rate),
        {k: options.effect * p.sd if d is None else d for (k, d), p in zip(stated.items(), every, strict=True)},
        paired, options.annotators, options.systems or len(compared),
        [key for key, difference in stated.items() if difference is None],
        [key for key in judged if key not in planned], of_group, blocks, met,
        (people["corpus"].nunique(), people.loc[people["corpus"] == corpus, "group"].nunique()),
        list(judged_by_models(_with_models(models, of_group, systems), labels, paired=paired,
                    sampling=Sampling(n_resamples, confidence, seed))), judge_costs,
    )  # fmt: skip


def pilots(
    annotations: pd.DataFrame, labels: Sequence[Label], systems: Sequence[str], *, declared: str = "auto"
) -> Iterator[Pilot]:
    """The pilot of each method and label that people judged, of one corpus and group, with scores that vary.

    systems : those that are compared. declared : `inference.annotators`.
    """
    unranked = [s for s in distinct(annotations["system"], annotations["system_b"]) if s not in set(systems)]
    judged = chosen(annotations, unranked, labels)
    judged = judged[judged["system"].isin(list(systems))]
    about, people = {(x.method, x.id): x for x in labels}, modelled(judged, declared)
    for (corpus, method, label, group), rows in in_turn(judged, CELL):
        pairwise, one = METHODS[method].unit == "pair", about[method, label]
        if len(distinct(rows["system"], rows["system_b"])) < 2 or rows["score"].min() == rows["score"].max():
            continue
        made = fit(rows, others=people[corpus, group].others)
        if not (made.levels.comparable and np.isfinite(made.levels.errors).all()):
            continue
        about_one = rows[["dialogue", "dialogue_b"]] if pairwise else rows[["system", "dialogue"]]
        n, widest = len(about_one.drop_duplicates()), 1.0 if pairwise else float(one.scale[1] - one.scale[0])
        yield Pilot(method, label, made, made.n / n, widest, one.direction, n)


def _with_models(models: pd.DataFrame | None, people: pd.DataFrame, systems: Sequence[str]) -> pd.DataFrame:
    """Judgements by people, and those of the same corpus and labels by models, of systems that are compared."""
    cases = people[["corpus", "method", "label"]].drop_duplicates()
    both = people if models is None else pd.concat([people, models.merge(cases)], ignore_index=True)
    other = both["system_b"].isna() | both["system_b"].isin(systems)
    return in_sessions(both[both["system"].isin(systems) & other])[0]


def _meet(annotations: pd.DataFrame, compared: Set[str]) -> bool:
    """Whether most sessions hold all systems that are compared: two of four are no design in which all pairs meet."""
    sides = (
        annotations[["session", "system"]],
        annotations[["session", "system_b"]].set_axis(["session", "system"], axis=1),
    )
    present = pd.concat(sides).dropna().drop_duplicates()
    size = present[present["system"].isin(compared)].groupby("session").size()
    return bool(len(size) and (size == len(compared)).mean() > 0.5)


def _prices(
    annotations: pd.DataFrame, work_units: pd.DataFrame, options: Planning, hourly_rate: float
) -> dict[str, Prices | None]:
    """What dialogues and judgements take: as the YAML says, else the median of this study; of judgements that of the
    same group, summed over their tasks.

    annotations : of one corpus and group.
    """
    corpus, group = annotations[["corpus", "group"]].iloc[0]
    of_corpus = work_units[work_units["corpus"] == corpus] if len(work_units) else work_units
    times = pd.DataFrame(medians(minutes(of_corpus, annotations)), columns=["group", "method", "estimate"])
    talked = options.minutes_per_dialogue
    if talked is None:
        talked = times.loc[times["method"] == COLLECTION, "estimate"].median()
    talked = None if pd.isna(talked) else float(talked)
    taken = times[times["group"] == group].groupby("method")["estimate"].sum().to_dict() | options.minutes_per_judgement
    out: dict[str, Prices | None] = {}
    for method in dict.fromkeys(annotations["method"]):
        out[method] = Prices(talked, float(taken[method]), hourly_rate) if method in taken else None
    return out


def judged_by_models(
    annotations: pd.DataFrame, labels: Sequence[Label], *, paired: bool, sampling: Sampling
) -> Iterator[Judged]:
    """Every label and model with LEAST_JUDGED dialogues (comparisons) that both judged.

    annotations : by people and models, of one corpus and one group of people. paired : whether the systems of the next
    study meet in each session.
    """
    human = annotations["annotator_kind"] == "human"
    if human.all():
        return
    each = annotations[human].fillna({"turn": -1}).groupby(["method", "label"])
    each = each.apply(lambda rows: len(rows) / rows.groupby([*OF_ITEM, "dialogue_b"], dropna=False).ngroups)
    rated = annotations[annotations["dialogue_b"].isna()]
    of_pairs = _pairs(annotations[annotations["dialogue_b"].notna()])
    for key, data in [*sums(rated, labels), *of_pairs]:
        if data.labelled.sum() < LEAST_JUDGED:
            continue
        rng = sampling.stream("budget", *key.values())
        both = paired and data.unit == "dialogue" and len(data.systems) > 1
        share = (of_differences if both else explained)(data, rng, sampling)
        if np.isfinite(share.estimate):
            case = key["method"], key["label"]
            yield Judged(*case, key["metric"], data, float(each[case]), share)


def _pairs(annotations: pd.DataFrame) -> Iterator[tuple[dict[str, Any], Sums]]:
    """Comparisons: a row for each pair, `systems` being pairs of systems, scores those of the one that is first in
    alphabetical order."""
    for case, rows in choices(annotations).groupby(LABEL, sort=False):
        human, low = rows["annotator_kind"] == "human", rows["system"] <= rows["system_b"]
        first, second = (rows[["system", "system_b"]].agg(how, axis=1) for how in ("min", "max"))
        rows = rows.assign(score=rows["score"].where(low, -rows["score"]), system=first + "\x1f" + second)
        mean = by_people(rows[human])
        for judge, of_judge in rows[~human].groupby("annotator", sort=False):
            frame = of_judge.drop_duplicates(OF_ITEM).join(mean, on=OF_ITEM)
            key = dict(zip(LABEL, case, strict=True)) | {"metric": judge}
            unit = str(rows["unit"].iloc[0])
            yield from sums_of(key, frame.assign(row=frame["dialogue"]), unit, (-1.0, 1.0))


def of_differences(data: Sums, rng: np.random.Generator, sampling: Sampling) -> Interval:
    """Share of the variance of differences between systems within sessions that the model explains with the weight
    that `prediction_powered.estimate` gives it, which is the best one for means of systems; with a BCa interval over
    sessions. From sessions with one labelled dialogue of each system."""
    m, labelled = len(data.systems), data.labelled
    size = np.bincount(data.cluster, labelled)
    held = np.zeros((len(size), m), dtype=bool)
    held[data.cluster[labelled], data.system[labelled]] = True
    rows = labelled & (held.all(axis=1) & (size == m))[data.cluster]
    if not rows.any():
        return explained(data, rng, sampling)
    order = np.lexsort((data.system[rows], data.cluster[rows]))
    values = [(scores[rows] / data.items[rows])[order].reshape(-1, m) for scores in (data.people, data.model)]
    within = [x - x.mean(axis=1, keepdims=True) for x in values]
    terms = [_moments(*pair) for pair in (values, within)]

    def statistic(sums_: np.ndarray) -> np.ndarray:
        (_, xy, yy), (xx_in, xy_in, yy_in) = (_centred(part, m) for part in np.split(sums_, 2, axis=1))
        varies = (yy > 1e-9) & (xx_in > 1e-9)
        weight = np.maximum(xy, 0.0) / np.where(varies, yy, 1.0)
        share = (2 * weight * xy_in - weight**2 * yy_in) / np.where(varies, xx_in, 1.0)
        return np.where(varies, np.maximum(share, 0.0), np.nan)

    rows_of = np.concatenate([t.reshape(len(t), -1) for t in terms], axis=1)
    replicates = replicate_sums(rows_of, statistic, unit="session", rng=rng, n_resamples=sampling.n_resamples)
    interval = replicates.interval(sampling.confidence)
    if interval.estimate == 0:
        note = "the judge explains nothing of what differences vary by"
        return replace(interval, low=np.nan, high=np.nan, kind="not_estimable", note=note)
    return interval


def _moments(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(sessions, m, 6) from two (sessions, m) arrays."""
    return np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=2)


def _centred(sums_: np.ndarray, m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(k,) sums of squares and products around the means of m systems."""
    n, sx, sy, sxx, sxy, syy = np.moveaxis(sums_.reshape(len(sums_), m, 6), 2, 0)
    return tuple((a - b * c / n).sum(axis=1) for a, b, c in ((sxx, sx, sx), (sxy, sx, sy), (syy, sy, sy)))
