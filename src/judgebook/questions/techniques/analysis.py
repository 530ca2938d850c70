"""Which way of asking people distinguishes two systems, and after how many hours? What notebook 11 defends.

Intervals resample whole conversations, hours are those to a stated power for shrunken differences, with the type I
error rate of the test. What Smith et al. (2022) published is computed in cells of the notebook.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from judgebook.questions.techniques import turn_marks, turn_ratings
from judgebook.questions.techniques.hours import contests, hours, seconds, shrunken
from judgebook.questions.techniques.question import Techniques
from judgebook.questions.techniques.reasons import reasons
from judgebook.questions.techniques.same_winner import same_winner
from judgebook.questions.techniques.sittings import TechniqueData
from judgebook.questions.techniques.turn_marks import Turned
from judgebook.questions.techniques.turn_ratings import Paired, correlations
from judgebook.statistics.intervals import Sampling
from judgebook.study.results import Results, collect


def analyse(
    data: TechniqueData,
    turned: Turned,
    pairings: Sequence[Paired],
    options: Techniques,
    *,
    run_seed: int,
    sampling: Sampling,
) -> Results:
    """What notebook 11 defends about judgements; results of `messages` and printed rates are added by the notebook.

    Each part needs only what it is about: `data` may be without techniques, `turned` without marks or ratings.

    Parameters
    ----------
    data : TechniqueData
    turned : Turned
    pairings : sequence of Paired
        Marks of turns with ratings of the same conversations.
    options : Techniques
        Averages, and the plan of the simulated studies.
    run_seed : int
        Of simulated studies.
    sampling : Sampling
        Of intervals.
    """
    confidence = sampling.confidence
    timed = collect(seconds(data))
    contested = contests(data, timed["technique_seconds"], options.average)
    return collect(
        turn_marks.halves(turned.data, confidence),
        same_winner(data, sampling),
        *(turn_ratings.recency(pairing, confidence) for pairing in pairings),
        correlations(turned.marks, turned.ratings, sampling),
        timed,
        chain.from_iterable(
            hours(contest, options, run_seed=run_seed, sampling=sampling) for contest in shrunken(contested)
        ),
        reasons(data, sampling),
    )
