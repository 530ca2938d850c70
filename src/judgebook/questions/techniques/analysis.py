"""Which way of asking people distinguishes two systems, and after how many hours? The results of notebook 11.

As published (Smith et al. 2022): win rates by technique, effective win rates where systems are judged one at a time,
and hours until a test is first significant, treating every rating as independent. As we would defend it: intervals that
resample whole conversations, ties counted both ways, and hours to a stated power for shrunken differences, with the
type I error rate of the test.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from judgebook.questions.techniques import turn_marks, turn_ratings
from judgebook.questions.techniques.effective_rates import effective
from judgebook.questions.techniques.hours import contests, hours, seconds, shrunken, variability
from judgebook.questions.techniques.question import Mixture, Techniques
from judgebook.questions.techniques.reasons import reasons
from judgebook.questions.techniques.sittings import (
    NO_WINNER,
    TechniqueData,
    by_conversation,
    for_the_better,
    sides,
)
from judgebook.questions.techniques.turn_marks import Turned
from judgebook.questions.techniques.turn_ratings import correlations, paired
from judgebook.questions.techniques.win_rates import by_turn, same_winner, stream, system_rate, win_rate
from judgebook.statistics.intervals import Sampling
from judgebook.statistics.resampling import replicate_sums
from judgebook.study.labels import Label
from judgebook.study.results import Results, collect


def analyse(
    data: TechniqueData,
    turned: Turned,
    labels: Sequence[Label],
    options: Techniques,
    *,
    run_seed: int,
    sampling: Sampling,
) -> Results:
    """Everything notebook 11 says about judgements; results of `messages` and printed rates are added by the notebook.

    Each part needs only what it is about: `data` may be without techniques, `turned` without marks or ratings.

    Parameters
    ----------
    data : TechniqueData
    turned : Turned
    labels : sequence of Label
    options : Techniques
        Mixtures and averages, and the plan of the simulated studies.
    run_seed : int
        Of simulated studies.
    sampling : Sampling
        Of intervals.
    """
    confidence = sampling.confidence
    timed = collect(seconds(data))
    contested = contests(data, timed["technique_seconds"], options.average)
    return collect(
        rates(data, sampling),
        mixtures(data, options.combine, sampling),
        rates(turned.data, sampling),
        *turn_rates(data, confidence),
        *turn_rates(turned.data, confidence),
        turn_marks.halves(turned.data, confidence),
        same_winner(data, sampling),
        *_beside_ratings(turned, labels, options.final_rating, sampling),
        timed,
        chain.from_iterable(
            hours(contest, options, run_seed=run_seed, sampling=sampling) for contest in shrunken(contested)
        ),
        variability(data, options.chunk_minutes),
        reasons(data, sampling),
    )


def rates(data: TechniqueData, sampling: Sampling) -> Iterator[dict[str, Any]]:
    """`technique_win_rate` of pairs, `technique_score` of systems and `effective_win_rate` of pairs, by technique.

    The better system wins, which has the lower scores where the label's direction is -1; scores are as given. By a
    label without direction nobody wins, and the note says so.
    """
    n, level = sampling.n_resamples, sampling.confidence
    for technique, spec in data.techniques.items():
        for head, rows in data.cells(technique):
            names = (technique, head["corpus"], head["group"], head["label"])
            direction = data.direction(technique, head["label"])
            if data.compares(technique):
                for a, b in data.pairs:
                    (compared,) = sides(rows, (a, b))
                    pair = head | {"statistic": "technique_win_rate", "system": a, "system_b": b}
                    if len(compared) and not direction:
                        yield pair | _no_winner(len(compared))
                    elif len(compared):
                        rng, better = stream(sampling.seed, *names, a, b), for_the_better(compared, direction)
                        won = win_rate(better, spec.rate, rng=rng, n_resamples=n, confidence=level)
                        yield from (pair | row for row in won)
            else:
                yield from _scores(data, head, rows, direction, sampling)


def _no_winner(n: int) -> dict[str, Any]:
    return {"ties": "half", "estimate": np.nan, "n": n, "note": NO_WINNER}


def _scores(
    data: TechniqueData, head: dict[str, str], rows: pd.DataFrame, direction: int, sampling: Sampling
) -> Iterator[dict[str, Any]]:
    n, level = sampling.n_resamples, sampling.confidence
    names = (head["technique"], head["corpus"], head["group"], head["label"])
    of_system = {system: part for system, part in rows.groupby("system", sort=False)}
    for system in (s for s in data.systems if s in of_system):
        rng = stream(sampling.seed, *names, system)
        rate = system_rate(of_system[system], rng=rng, n_resamples=n, confidence=level)
        yield head | {"statistic": "technique_score", "system": system} | rate
    values = {system: by_conversation(part)["value"].to_numpy() for system, part in of_system.items()}
    for a, b in (pair for pair in data.pairs if of_system.keys() >= {*pair}):
        pair = head | {"statistic": "effective_win_rate", "system": a, "system_b": b}
        if not direction:
            yield pair | _no_winner(len(values[a]) + len(values[b]))
            continue
        rng = stream(sampling.seed, *names, "effective", a, b)
        better = (direction * values[system] for system in (a, b))
        yield from (pair | row for row in effective(*better, rng=rng, n_resamples=n, confidence=level))


def turn_rates(data: TechniqueData, confidence: float) -> Iterator[pd.DataFrame]:
    """`turn_rate` (`turn_mean`): share won or marked (mean mark) at each turn, once for every method and corpus in
    which turns are judged, whatever windows its techniques use. Comparisons are won by the better system, and left out
    where a label has no direction."""
    seen = set()
    for technique, spec in data.techniques.items():
        marks = data.judgements[technique]
        marks = marks[marks["turn"].notna()]
        if (spec.method, spec.corpus) not in seen and len(set(marks["turn"])) > 1:
            seen.add((spec.method, spec.corpus))
            if data.compares(technique):
                direction = marks["label"].map(lambda label, t=technique: data.direction(t, label)).astype(int)
                marks = marks.assign(score=marks["score"] * direction)[direction != 0]
                if marks.empty:
                    continue
            yield by_turn(marks, data.pairs, confidence).assign(method=spec.method, level="turn")


def mixtures(data: TechniqueData, specs: Mapping[str, Mixture], sampling: Sampling) -> Iterator[dict[str, Any]]:
    """`technique_win_rate` of ratings sampled from several pairwise techniques; rows have the corpus of the first.

    Techniques of different corpora may be combined. Nobody wins by a label without direction, as in `rates`.
    """
    n, level = sampling.n_resamples, sampling.confidence
    for name, spec in specs.items():
        if not all(t in data.techniques and data.compares(t) for t in spec.techniques):
            continue
        first, *others = (data.sittings[t] for t in spec.techniques)
        for (group, label, a, b), rows in first.groupby(["group", "label", "system", "system_b"], sort=False):
            same = [part[(part["group"] == group) & (part["label"] == label)] for part in others]
            parts = [rows, *(sides(part, (a, b))[0] for part in same)]
            directions = [data.direction(t, label) for t in spec.techniques]
            if all(len(part) for part in parts):
                head = {"corpus": rows["corpus"].iloc[0], "group": group, "label": label, "level": "pair"}
                head |= {"system": a, "system_b": b, "technique": name, "statistic": "technique_win_rate"}
                if 0 in directions:
                    yield head | _no_winner(sum(len(part) for part in parts))
                    continue
                won = [for_the_better(part, d) for part, d in zip(parts, directions, strict=True)]
                rng = stream(sampling.seed, name, group, label, a, b)
                rate = combined(won, spec.weights, rng=rng, n_resamples=n, confidence=level)
                yield head | {"ties": "half"} | rate


def combined(
    parts: Sequence[pd.DataFrame],
    weights: Sequence[float],
    *,
    rng: np.random.Generator,
    n_resamples: int,
    confidence: float = 0.95,
) -> dict[str, object]:
    """Win rate when ratings of several techniques are sampled in a given ratio: the weighted mean of their rates.

    Parameters
    ----------
    parts : sequence of DataFrame
        `sittings` of one pair and label for each technique. Linear rates, ties as half a win.
    weights : sequence of float
        Share of each technique, up to a factor.

    Returns
    -------
    dict
        Columns of a result row. Conversations of each technique are resampled independently (BCa).

    References
    ----------
    Smith et al. 2022, section 4.4.2.
    """
    rows, counts = [], []
    for part in parts:
        codes = pd.factorize(part["conversation"])[0]
        won = (part["won"] + (part["n"] - part["won"] - part["lost"]) / 2).to_numpy(float)
        sums = np.stack([np.bincount(codes, won), np.bincount(codes, part["n"].to_numpy(float))], axis=1)
        kinds, often = np.unique(sums, axis=0, return_counts=True)
        rows.append(kinds)
        counts.append(often)
    shares = np.asarray(weights, dtype=float) / np.sum(weights)

    def statistic(*sums: np.ndarray) -> np.ndarray:
        return sum(share * s[:, 0] / s[:, 1] for share, s in zip(shares, sums, strict=True))

    replicates = replicate_sums(rows, statistic, unit="conversation", rng=rng, counts=counts, n_resamples=n_resamples)
    return replicates.interval(confidence).row() | {"n": sum(len(part) for part in parts)}


def _beside_ratings(
    turned: Turned, labels: Sequence[Label], final: Sequence[str], sampling: Sampling
) -> Iterator[Iterator[dict[str, Any]]]:
    """What turns say about the rating of the whole conversation (Smith et al. 2022, Figure 6), and how closely the mean
    of turns follows it."""
    if len(turned.marks) and len(turned.ratings):
        for pairing in paired(turned.marks, turned.ratings, labels, final):
            yield turn_ratings.by_turn(pairing, sampling.confidence)
        yield correlations(turned.marks, turned.ratings, sampling)
