"""How likely a requirement is to be met by a design: the power of the very interval that decides it.

Releases are drawn from the components of variance of the study (`components.variances`) in its own design, so with its
annotators' loads, and each is decided as `deciding` decides the study. The true difference is assumed, never the
observed one, of which power says nothing new (Hoenig and Heisey 2001, The American Statistician 55,
19-24). A noncentral t distribution promises more, as it takes the standard error for unbiased and its distribution for
that of one mean square: with eight annotators up to eight points more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from judgebook.annotations.summary import in_sessions
from judgebook.extras.gate.components import NESTED, AnnotationDesign, design, expectations, variances
from judgebook.extras.gate.requirements import Requirement, met
from judgebook.statistics.clusters import LEAST_DF, Clustered, crossed, pair_df
from judgebook.statistics.intervals import generator
from judgebook.study.labels import Label
from judgebook.study.results import where
from judgebook.summary.evidence import Evidence

#: releases drawn for a probability, and in the search for a size; numbers drawn at once
RELEASES, TRIED, LARGEST = 2000, 500, 2_000_000
POWER = 0.8
#: of the intervals of single differences
LEVEL = 0.95
#: how many times as many dialogues are considered, and judgements at most
MOST_TIMES, MOST_JUDGEMENTS = 32, 100_000


@dataclass(frozen=True)
class Comparison:
    """Who judged what of two systems; n annotations.

    side : (n,) 0 for the required system, 1 for the other; all 0 where two dialogues are compared at a time, and scores
    are positive where the required one won. dialogue, session : (n,) numbers. annotator : (n,), None where they are not
    known. factors : name -> (n,) numbers of the levels of each component of variance. weight : (n,).
    """

    side: np.ndarray
    dialogue: np.ndarray
    session: np.ndarray
    annotator: np.ndarray | None
    factors: Mapping[str, np.ndarray]
    weight: np.ndarray

    @property
    def size(self) -> int:
        """Dialogues per system on average, or pairs."""
        return round(len(np.unique(self.dialogue)) / (int(self.side.max()) + 1))

    def grown(self, times: float, rng: np.random.Generator) -> Comparison:
        """With so many times the dialogues, by the same annotators with the same loads: whole sessions are repeated,
        and those of the last, incomplete round drawn at random from each kind."""
        kind = np.zeros(int(self.session.max()) + 1, dtype=int)  # 1: first system, 2: second, 3: both
        for side in (0, 1):
            kind[np.unique(self.session[self.side == side])] |= side + 1
        rounds = [np.arange(len(kind))] * int(times)
        for one in np.unique(kind):
            of_kind = np.flatnonzero(kind == one)
            rounds.append(rng.permutation(of_kind)[: round((times % 1) * len(of_kind))])
        drawn = np.concatenate(rounds)
        order = np.argsort(self.session, kind="stable")
        rows = np.split(order, np.cumsum(np.bincount(self.session, minlength=len(kind)))[:-1])
        at, copy = (
            np.concatenate([rows[s] for s in drawn]),
            np.repeat(np.arange(len(drawn)), [len(rows[s]) for s in drawn]),
        )
        factors = {f: crossed(copy, c[at]) if f in NESTED else c[at] for f, c in self.factors.items()}
        people = None if self.annotator is None else self.annotator[at]
        return Comparison(self.side[at], crossed(copy, self.dialogue[at]), copy, people, factors, self.weight[at])


def comparison(made: AnnotationDesign, system: str, other: str) -> Comparison:
    """Of all annotations of a label, those of two systems. Raises ValueError where there are none of either."""
    places = [made.systems.index(name) for name in (system, other)]
    wanted = [(min(places), max(places))] if made.pairwise else [(place, -1) for place in places]
    if not set(wanted) <= set(made.kinds):
        raise ValueError(f"expected annotations of {system} and {other}, found none of at least one")
    kinds = [made.kinds.index(kind) for kind in wanted]
    rows = np.isin(made.system, kinds)
    dialogue, per_dialogue = made.row[rows], np.bincount(made.row, made.weight)
    return Comparison(
        side=(made.system[rows] == kinds[-1]).astype(int) * (len(kinds) - 1),
        dialogue=crossed(dialogue, dialogue),
        session=crossed(made.session[dialogue], made.session[dialogue]),
        annotator=None if made.annotator is None else made.annotator[rows],
        factors={name: crossed(code[rows], code[rows]) for name, code in made.factors.items()},
        weight=made.weight[rows] / per_dialogue[dialogue],
    )


def chance(
    required: Requirement, truth: float, design: Comparison, variance: Mapping[str, float], *,
    releases: int = RELEASES, rng: np.random.Generator,
) -> float:  # fmt: skip
    """Probability that the requirement is met by the design where the required system is truly better by `truth`.

    variance : of each of the design's factors and of the residual, in squared units of the label. 0 where the design
    allows no interval.
    """
    model = Clustered(design.side, design.weight, [c for c in (design.session, design.annotator) if c is not None])
    n, hits, mean_variances = len(design.side), 0, None
    step = int(np.clip(LARGEST // n, 1, releases))
    for start in range(0, releases, step):
        k = min(step, releases - start)
        scores = np.sqrt(variance["residual"]) * rng.standard_normal((k, n)) + truth * (design.side == 0)
        for name, code in design.factors.items():
            scores += np.sqrt(variance[name]) * rng.standard_normal((k, int(code.max()) + 1))[:, code]
        means, covariance = model.covariance(scores)
        if design.side.any():
            estimate, error = means[:, 0] - means[:, 1], covariance.pair_errors()[:, 0]
        else:
            estimate, error = means[:, 0], np.sqrt(covariance.variances[:, 0])
        if mean_variances is None:
            mean_variances = covariance.variances.mean(axis=0)
            df = _df(design, model, mean_variances)
            if not df >= LEAST_DF:
                return 0.0
        half = stdtrit(df, (1 + LEVEL) / 2) * error
        hits += int(np.sum(met(required, estimate - half, estimate + half)))
    return hits / releases


def _df(design: Comparison, model: Clustered, variances: np.ndarray) -> float:
    """As of `plain_contrast`."""
    if not design.side.any():
        return float(model.df[0])
    clusters = [c for c in (design.session, design.annotator) if c is not None]
    return float(pair_df(design.side, design.weight, clusters, variances)[0])


def enough(
    required: Requirement, truth: float, design: Comparison, variance: Mapping[str, float], *,
    rng: np.random.Generator,
) -> int | None:  # fmt: skip
    """Dialogues per system, or pairs, with which the requirement is met with POWER by the same annotators; None where
    MOST_TIMES as many (or MOST_JUDGEMENTS) do not suffice."""

    def power(times: float) -> float:
        grown = design.grown(times, rng)
        return chance(required, truth, grown, variance, releases=TRIED, rng=rng)

    low, high = 1.0, min(float(MOST_TIMES), max(MOST_JUDGEMENTS / len(design.side), 1.0))
    if power(high) < POWER:
        return None
    while high / low > 1.05:
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if power(middle) >= POWER else (middle, high)
    return int(np.ceil(high * design.size))


def assumed(required: Requirement, margin: float | None) -> float | None:
    """The true difference for which a requirement is planned: none where equality or non-inferiority is to be shown;
    of superiority the smallest difference that matters, if that is stated and larger than what is required."""
    if required.kind in ("not_inferior", "equivalent"):
        return 0.0
    fits = required.kind == "superior" and margin is not None and margin > required.bound
    return margin if fits else None


@dataclass(frozen=True)
class Planned:
    """How a requirement would fare if the required system were truly better by `truth`. power : probability that it is
    met by the design of the study. size : dialogues per system, or pairs (`pairs`), that the study has; needed : with
    which the same annotators would show it with POWER, None where no number considered suffices."""

    truth: float
    power: float
    size: int
    needed: int | None
    pairs: bool


def planned(
    required: Requirement, label: Label, sides: tuple[str, str], part: tuple[str, str, str], evidence: Evidence
) -> Planned | None:
    """None where no true difference can be assumed, or the design does not allow components of variance."""
    truth = assumed(required, evidence.study.margins.get((label.method, label.id)))
    corpus, group, method = part
    rows = where(evidence.counted, corpus=corpus, group=group, method=method, label=label.id).dropna(subset="score")
    rows = rows[rows["annotator_kind"] == "human"]
    systems = [*sides, *sorted(set(rows["system"]) | set(rows["system_b"].dropna()) - {*sides})]
    made = None if truth is None else design(in_sessions(rows)[0], list(dict.fromkeys(systems)))
    if truth is None or made is None:
        return None
    variance = variances(made.score, made.system, made.factors, expectations(made.system, made.factors))
    variance = {name: max(value, 0.0) for name, value in variance.items()}
    own, rng = comparison(made, *sides), generator(evidence.study.seeds.permute, "gate", required.text)
    power = chance(required, truth, own, variance, rng=rng)
    needed = own.size if power >= POWER else enough(required, truth, own, variance, rng=rng)
    return Planned(truth, power, own.size, needed, made.pairwise)
