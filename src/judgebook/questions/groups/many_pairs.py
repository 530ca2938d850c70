"""Effects and their differences between groups where there are very many pairs of systems.

`joint_resampling` holds every resample of every pair at once, which a hundred systems do not allow. Here pairs are gone
through in blocks. Over sessions, an effect has Student's t interval from leave-one-out values; with more than
MOST_UNITS sessions, as many random groups of sessions are left out (the delete-a-group jackknife). Over sessions and
annotators, intervals are percentiles of the same resamples of sums as in `joint_resampling`.

References
----------
Kott 2001, The delete-a-group jackknife, Journal of Official Statistics 17, 521-526. Efron and Tibshirani 1993, An
Introduction to the Bootstrap, eq. 11.5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from judgebook.execution.tasks import run
from judgebook.questions.groups.conclusions import conclusions
from judgebook.questions.groups.effects import (
    CHUNK,
    MOST_RESAMPLES,
    LabelScores,
    all_pairs,
    between_groups,
    label_scores,
    over_pairs,
    pair_effects,
)
from judgebook.questions.groups.joint_resampling import beyond_noise, two_way_sums
from judgebook.statistics.intervals import Sampling
from judgebook.statistics.resampling import grouped, replicate_sums
from judgebook.study.results import Results, collect
from judgebook.study.schema import Annotations

#: sessions, or groups of them, that are left out in turn
MOST_UNITS = 200
#: pairs of systems whose effects are among the results: as many as twenty systems have
MOST_KEPT = 190
#: where the values of all pairs are, for captions
STORED = "effects"
_UNITS = {"session": ["ci_low", "ci_high"], "session and annotator": ["people_low", "people_high"]}


@dataclass(frozen=True)
class _Sizes:
    """How much is computed."""

    sampling: Sampling
    margin: float
    people_resamples: int


def many_pairs(
    annotations: Annotations,
    people: Annotations,
    keep: Callable[[pd.DataFrame, str], object],
    *,
    sampling: Sampling,
    margin: float,
    people_resamples: int,
) -> Results:
    """What `resampled`, `resampled_two_way` and `conclusions` give, in memory that does not grow with pairs times
    resamples.

    Parameters
    ----------
    annotations, people : DataFrame
        All of them, and those by known people.
    keep : callable
        Is given the effects of all pairs, a frame with the intervals over sessions (ci_low, ci_high) and over sessions
        and annotators (people_low, people_high), and its name. Results have the MOST_KEPT pairs of a method on which
        groups differ most.

    Raises
    ------
    ValueError
        A session is not known.
    """
    if annotations["session"].isna().any():
        raise ValueError("session: must be known for every annotation, because sessions are resampled")
    of_people = {one.key: one for one in label_scores(people, per_item=True)} if len(people) else {}
    fewer = replace(sampling, n_resamples=min(sampling.n_resamples, MOST_RESAMPLES))
    sizes = _Sizes(fewer, margin, min(people_resamples, MOST_RESAMPLES))
    pieces = [(one, of_people.get(one.key), sizes) for one in label_scores(annotations, per_item=True)]
    results = run(of_label, pieces, doing="effects, label")
    every = pd.concat([frame for _, frame in results], ignore_index=True)
    keep(every, STORED)
    return collect(*(rows for rows, _ in results), *_stored(most_contested(every)))


def of_label(one: LabelScores, people: LabelScores | None, sizes: _Sizes) -> tuple[list[dict[str, Any]], pd.DataFrame]:
    """Rows of one label (means over pairs, and counts of conclusions), and a frame of its pairs."""
    names, sums = one.sums("session")
    rng, confidence = sizes.sampling.stream("many_pairs", "session", *one.key), sizes.sampling.confidence
    rows = grouped(sums.reshape(len(names), -1), MOST_UNITS, rng)
    note = f"sessions in {len(rows)} random groups" if len(rows) < len(names) else None
    shape = (-1, *sums.shape[1:])
    replicates = replicate_sums(
        rows,
        lambda s: over_pairs(s.reshape(shape), one.effect),
        unit="session",
        rng=rng,
        n_resamples=sizes.sampling.n_resamples,
    )
    means = zip(one.means, replicates.intervals(confidence), strict=True)
    out = [one.row(*mean, resample="session") | interval.row() for mean, interval in means]
    for row in out:
        row["note"] = "; ".join(filter(None, [note, row["note"]])) or None
    frame, noise = _over_sessions(one, rows.reshape(shape), confidence)
    for pair, moments in zip(one.group_pairs, noise, strict=True):
        out += beyond_noise(one, pair, *moments, len(rows), sizes.margin, confidence)
    if people is not None:
        ends = _over_people(people, one, sizes)
        frame = frame.merge(ends, on=["group", "group_b", "system", "system_b"], how="left")
    else:
        frame = frame.assign(people_low=np.nan, people_high=np.nan)
    counts = conclusions(collect(*_stored(frame)), sizes.margin)
    return [*out, *counts], frame


def _over_sessions(
    one: LabelScores, rows: np.ndarray, confidence: float
) -> tuple[pd.DataFrame, list[tuple[np.ndarray, np.ndarray, float]]]:
    """The frame of all pairs, and of each two groups the differences (pairs,), their variances, and the sum of
    their squared covariances. rows : (units, groups, systems, 3)."""
    n = len(rows)
    total = rows.sum(axis=0)
    left = np.concatenate([total[None], total - rows])
    left = np.where(np.abs(left) < 1e-9, 0.0, left)  # all minus all must leave nothing, in spite of rounding
    values, errors, gram = [], [], np.zeros((len(one.group_pairs), n, n))
    for i, j in _blocks(len(one.systems), len(left) * (len(one.groups) + len(one.group_pairs))):
        effects = pair_effects(left, one.effect, (i, j))
        all_effects = np.concatenate(
            [effects, between_groups(effects)], axis=1
        )  # (1 + n, groups + pairs of groups, pairs)
        centred = all_effects[1:] - all_effects[1:].mean(axis=0)
        values.append(all_effects[0])
        errors.append(np.sqrt((n - 1) / n * np.sum(centred**2, axis=0)))
        for k, of_pair in enumerate(centred[:, len(one.groups) :].transpose(1, 0, 2)):
            gram[k] += of_pair @ of_pair.T
    value, error = np.concatenate(values, axis=1), np.concatenate(errors, axis=1)
    half = stdtrit(max(n - 1, 1), (1 + confidence) / 2) * error
    estimable = np.isfinite(half) & (error > 0) & (n > 1)
    low, high = (np.where(estimable, value + sign * half, np.nan) for sign in (-1, 1))
    frame = _frame(one, {"estimate": value, "ci_low": low, "ci_high": high}).assign(n_clusters=n)
    frame["ci_kind"] = np.where(estimable.ravel(), "jackknife_t", "not_estimable")
    squared = ((n - 1) / n) ** 2 * np.sum(gram**2, axis=(1, 2))
    at = range(len(one.groups), len(value))
    return frame, [(value[k], error[k] ** 2, float(squared[k - len(one.groups)])) for k in at]


def _over_people(people: LabelScores, one: LabelScores, sizes: _Sizes) -> pd.DataFrame:
    """Percentile ends of all pairs when annotators are resampled as well as sessions."""
    replicates = two_way_sums(people, seed=sizes.sampling.seed, n_resamples=sizes.people_resamples)
    sums = replicates.values.reshape(len(replicates.values), len(people.groups), len(people.systems), 3)
    tail, ends = (1 - sizes.sampling.confidence) / 2, []
    for i, j in _blocks(len(people.systems), len(sums) * (len(people.groups) + len(people.group_pairs))):
        effects = pair_effects(sums, people.effect, (i, j))
        ends.append(percentiles(np.concatenate([effects, between_groups(effects)], axis=1), tail))
    low, high = np.concatenate(ends, axis=2)
    frame = _frame(people, {"people_low": low, "people_high": high})
    return frame[["group", "group_b", "system", "system_b", "people_low", "people_high"]]


def percentiles(values: np.ndarray, tail: float) -> np.ndarray:
    """(2, ...) ends of the central part of (k, ...) resamples, by `intervals.QUANTILES`, without undefined ones; NaN
    where more are undefined than lie beyond one end, or all are equal."""
    values = np.sort(np.moveaxis(values, 0, -1), axis=-1)  # undefined ones last
    k = values.shape[-1]
    n = k - np.sum(np.isnan(values), axis=-1)
    out = []
    for level in (tail, 1 - tail):
        place = np.clip(level * (n + 1) - 1, 0, np.maximum(n - 1, 0))
        low = np.floor(place).astype(int)
        high = np.minimum(low + 1, np.maximum(n - 1, 0))
        a, b = (np.take_along_axis(values, at[..., None], axis=-1)[..., 0] for at in (low, high))
        out.append(a + (place - low) * (b - a))
    refused = (k - n > tail * k) | (n < 2)
    return np.where(refused | (out[1] - out[0] <= 1e-12), np.nan, np.stack(out))


def _blocks(systems: int, width: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Pairs of systems in blocks, so that a block holding `width` numbers for each stays within CHUNK."""
    i, j = all_pairs(systems)
    size = max(1, CHUNK // max(width, 1))
    return [(i[start : start + size], j[start : start + size]) for start in range(0, len(i), size)]


def _frame(one: LabelScores, values: dict[str, np.ndarray]) -> pd.DataFrame:
    """A row for each group, then for each two groups, and pair of systems; values : (groups + pairs of groups,
    pairs)."""
    i, j = all_pairs(len(one.systems))
    who = one.means
    heads = pd.DataFrame([one.row(*mean) for mean in who]).drop(columns="statistic")
    out = heads.loc[np.repeat(np.arange(len(who)), len(i))].reset_index(drop=True)
    systems = np.array(one.systems, dtype=object)
    out["system"], out["system_b"] = np.tile(systems[i], len(who)), np.tile(systems[j], len(who))
    return out.assign(**{name: v.ravel() for name, v in values.items()})


def most_contested(every: pd.DataFrame) -> pd.DataFrame:
    """The rows of those MOST_KEPT pairs of systems, of each corpus and method, on whose effect sizes groups differ
    most, over all labels."""
    pair, of = ["corpus", "method", "system", "system_b"], every[every["group_b"].notna()]
    size = of.assign(size=of["estimate"].abs()).groupby(pair, sort=False)["size"].mean()
    most = size.groupby(["corpus", "method"], group_keys=False, sort=False).nlargest(MOST_KEPT).index
    return every[pd.MultiIndex.from_frame(every[pair]).isin(most)]


def _stored(frame: pd.DataFrame) -> Sequence[pd.DataFrame]:
    """Result rows of the pairs in a frame."""
    statistic = np.where(frame["group_b"].isna(), "effect_size", "effect_difference")
    bare = frame.drop(columns=[c for ends in _UNITS.values() for c in ends]).assign(statistic=statistic)
    out = []
    for unit, ends in _UNITS.items():
        bounded = bare.assign(ci_low=frame[ends[0]], ci_high=frame[ends[1]], resample=unit, resample_unit=unit)
        if unit != "session":
            bounded = bounded[bounded["ci_low"].notna()].assign(ci_kind="percentile", n_clusters=np.nan)
        out.append(bounded)
    return out
