"""Does one group rate more extremely than another? Shares of scores at an end of the scale.

Finch, Finch and Choi 2024, section 5, suppose that the ratings of developers "in the cases of disagreement were more
extreme", which would explain why their effects are larger. Only dialogues (or turns) that both groups rated are used,
so the dialogues are no reason for a difference. Every annotation counts, none is picked: a mean of several is less
extreme than each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from judgebook.statistics.intervals import Interval, Sampling
from judgebook.statistics.resampling import replicate_sums, replicate_two_way
from judgebook.study.labels import METHODS, Label
from judgebook.study.schema import ITEM, Annotations

#: which of the items that both groups rated: all, or those to which they gave different (mean) ratings
RATED, DISAGREED = "both rated", "disagreed"


def extremes(
    annotations: Annotations,
    labels: Sequence[Label],
    *,
    sampling: Sampling,
    people_resamples: int = 1_000,
) -> Iterator[dict[str, Any]]:
    """Share of the lowest and highest scores of a scale by group, and its difference between two groups.

    Parameters
    ----------
    annotations : DataFrame
        All of them, with the session of each.
    labels : sequence of Label
        Their scales. Comparisons and labels with fewer than three scores are left out: each score is an end.
    sampling : Sampling
        Of sessions.
    people_resamples : int
        Resamples of sessions and annotators, where all are known people.

    Returns
    -------
    Rows of `extreme_share` by group and `extreme_share_difference` by pair of groups, for each method over its labels,
    and for the difference also by label; `of` says on which items. An item weighs the same however many annotators of
    a group rated it, and the same in both groups. n is the number of items.
    """
    scales = {(x.method, x.id): x.scale for x in labels if x.integer and x.scale[1] - x.scale[0] >= 2}
    scales = {key: scale for key, scale in scales.items() if METHODS[key[0]].unit != "pair"}
    place = pd.MultiIndex.from_frame(annotations[["method", "label"]])
    rated = annotations[place.isin(list(scales))]
    ends = np.array([scales[key] for key in zip(rated["method"], rated["label"], strict=True)]).reshape(-1, 2)
    rated = rated.assign(extreme=(rated["score"].to_numpy()[:, None] == ends).any(axis=1).astype(float))
    for (corpus, method), part in rated.groupby(["corpus", "method"], sort=False):
        for pair in combinations(sorted(part["group"].unique()), 2):
            shared = _shared(part[part["group"].isin(pair)], pair)
            if len(shared):
                head = {"corpus": corpus, "method": method, "level": METHODS[method].unit}
                yield from _compared(shared, pair, head, sampling, people_resamples)


def _shared(part: Annotations, pair: tuple[str, str]) -> pd.DataFrame:
    """Annotations of items that both groups rated, with `item`, `second` (group), the weight of each within its item
    and group, and whether the groups `disagreed` on the item."""
    part = part.assign(item=part.groupby(ITEM, dropna=False).ngroup(), second=part["group"] == pair[1])
    part = part[part.groupby("item")["second"].transform("nunique") == 2]
    means = part.groupby(["item", "second"])["score"].mean().unstack("second")  # noqa: PD010 (a repeat must raise)
    differ = (means[False] - means[True]).abs() > 1e-9 if len(means) else pd.Series(dtype=bool)
    weight = 1 / part.groupby(["item", "second"])["score"].transform("size")
    return part.assign(weight=weight, disagreed=part["item"].map(differ).astype(bool))


def _compared(
    shared: pd.DataFrame, pair: tuple[str, str], head: dict[str, str], sampling: Sampling, people_resamples: int
) -> Iterator[dict[str, Any]]:
    names = list(shared["label"].unique())
    session, sessions = pd.factorize(shared["session"].astype(str), sort=True)
    counts, rows = _counts(shared, names, session)
    rng, statistic = sampling.stream("extremes", *head.values(), *pair), _statistic(len(names))
    over_sessions = replicate_sums(rows, statistic, unit="session", rng=rng, n_resamples=sampling.n_resamples)
    yield from _rows(shared, pair, head, names, counts, over_sessions.intervals(sampling.confidence))
    if shared["annotator_known"].all() and (shared["annotator_kind"] == "human").all():
        person, people = pd.factorize(shared["annotator"].astype(str), sort=True)
        cell, pairs = pd.factorize(session * len(people) + person)
        u, v = np.divmod(pairs, len(people))
        sums = _counts(shared, names, cell)[1]
        home = shared.drop_duplicates("annotator").set_index("annotator")["group"].loc[people].to_numpy(str)
        over_people = replicate_two_way(
            len(sessions),
            len(people),
            lambda w, x: statistic((w[:, u] * x[:, v]) @ sums),
            rng=rng,
            unit="session and annotator",
            strata=home,
            n_resamples=people_resamples,
            width=3 * len(sums) + sums.shape[1],
        )
        intervals = over_people.intervals(sampling.confidence, "percentile")
        yield from _rows(shared, pair, head, names, counts, intervals)


def _counts(shared: pd.DataFrame, names: list[str], of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Items (2, labels), and for each of the units `of` annotations, numbers from 0, (2 * labels * groups * 2):
    weight, and weight if extreme, on all items and on those disagreed on."""
    label, second = pd.Index(names).get_indexer(shared["label"]), shared["second"].to_numpy(int)
    shape = (int(of.max()) + 1, len(names), 2)
    cell = np.ravel_multi_index((of, label, second), shape)
    weight, extreme = shared["weight"].to_numpy(), shared["extreme"].to_numpy()
    parts = []
    for chosen in (1.0, shared["disagreed"].to_numpy(float)):
        sums = [
            np.bincount(cell, w, int(np.prod(shape))).reshape(shape)
            for w in (weight * chosen, weight * chosen * extreme)
        ]
        parts.append(np.stack(sums, axis=-1))
    out = np.stack(parts, axis=1)  # (units, 2, labels, groups, 2)
    items = np.rint(out[..., 0, 0].sum(axis=0))
    return items, out.reshape(len(out), -1)


def _statistic(n: int) -> Callable[[np.ndarray], np.ndarray]:
    def statistic(sums: np.ndarray) -> np.ndarray:
        """(k, 2 * (2 + 1 + labels)): for both kinds of items the share of each group over labels, their difference, and
        that of each label."""
        by = sums.reshape(len(sums), 2, n, 2, 2)
        with np.errstate(invalid="ignore", divide="ignore"):
            whole = by[..., 1].sum(axis=2) / by[..., 0].sum(axis=2)
            each = by[..., 1] / by[..., 0]
        parts = [whole, whole[..., :1] - whole[..., 1:], each[..., 0] - each[..., 1]]
        return np.concatenate(parts, axis=2).reshape(len(sums), -1)

    return statistic


def _rows(
    shared: pd.DataFrame,
    pair: tuple[str, str],
    head: dict[str, str],
    names: list[str],
    counts: np.ndarray,
    intervals: list[Interval],
) -> Iterator[dict[str, Any]]:
    people = shared.groupby("second")["annotator"].nunique()
    for of, items, places in zip((RATED, DISAGREED), counts, np.array_split(np.arange(len(intervals)), 2), strict=True):
        *shares, whole = (intervals[i] for i in places[:3])
        fixed: dict[str, Any] = {**head, "of": of, "resample": whole.unit}
        size = {"n": int(items.sum())}
        for k, share in enumerate(shares):
            who = {"group": pair[k], "group_b": pair[1 - k], "n_annotators": int(people[bool(k)])}
            yield {"statistic": "extreme_share"} | fixed | who | size | share.row()
        who = {"group": pair[0], "group_b": pair[1], "n_annotators": int(people.sum())}
        fixed |= {"statistic": "extreme_share_difference"}
        yield fixed | who | size | whole.row()
        for name, n, i in zip(names, items, places[3:], strict=True):
            yield fixed | who | {"label": name, "n": int(n)} | intervals[i].row()
