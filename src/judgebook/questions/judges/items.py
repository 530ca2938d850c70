"""The items that people and a judge judged, and the bootstrap over their dialogues."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
import pandas as pd

from judgebook.statistics.intervals import MIN_MINORITY, Interval, Sampling
from judgebook.statistics.resampling import replicate_sums
from judgebook.study.labels import METHODS, Label
from judgebook.study.schema import Annotations

#: columns that identify an item of a label, a label, a label and judge
ITEM, LABEL = ["dialogue", "turn"], ["corpus", "method", "label"]
CASE = [*LABEL, "metric"]


@dataclass(frozen=True)
class JudgedItems:
    """One label as judged by people and one judge (`key["metric"]`), on items with equally many judgements by people.

    human : (n, people) scores, judge : (n,); dialogue : (n,) numbers from 0; system : (dialogues,) names. Columns of
    `human` are positions: people in source order. share : of the items judged by the judge and two people or more,
    the share that is among these. context : (n,) what items of several systems share, None where some have none.
    """

    key: dict[str, str]
    label: Label
    human: np.ndarray
    judge: np.ndarray
    dialogue: np.ndarray
    system: np.ndarray
    share: float = 1.0
    context: np.ndarray | None = None

    @property
    def head(self) -> dict[str, Any]:
        """What identifies its result rows."""
        return self.key | {"level": METHODS[self.label.method].unit}

    @property
    def sizes(self) -> dict[str, int]:
        return {"n": len(self.judge), "n_annotators": self.human.shape[1]}

    def resample(
        self,
        rows: np.ndarray,
        statistic: Callable[[np.ndarray], np.ndarray],
        name: str,
        sampling: Sampling,
        strata: np.ndarray | None = None,
    ) -> list[Interval]:
        """Intervals of a statistic that depends on (n, q) `rows` through their sums, dialogues being resampled.

        name : of the stream of random numbers. strata : (dialogues,).
        """
        rng = sampling.stream(name, *self.key.values())
        return over_clusters(rows, statistic, self.dialogue, "dialogue", rng, sampling, strata)


def over_clusters(
    rows: np.ndarray,
    statistic: Callable[[np.ndarray], np.ndarray],
    cluster: np.ndarray,
    unit: str,
    rng: np.random.Generator,
    sampling: Sampling,
    strata: np.ndarray | None = None,
) -> list[Interval]:
    """Intervals of a statistic that depends on (n, q) `rows` through their sums, clusters being resampled.

    cluster : (n,) numbers from 0. unit : what a cluster is. strata : (clusters,).
    """
    sums = np.zeros((int(cluster.max()) + 1, rows.shape[1]))
    np.add.at(sums, cluster, rows)
    replicates = replicate_sums(sums, statistic, unit=unit, rng=rng, strata=strata, n_resamples=sampling.n_resamples)
    return replicates.intervals(sampling.confidence)


def by_label_and_judge(
    annotations: Annotations, labels: Iterable[Label]
) -> Iterator[tuple[dict[str, str], Label, Annotations, Annotations]]:
    """What identifies each corpus, method, label and judge; the label; the judgements by people and by the judge.

    annotations : comparisons are left out; those of `choices.choices` have no second dialogue. A missing turn becomes
    -1.
    """
    by_key = {(label.method, label.id): label for label in labels}
    marks = annotations[annotations["dialogue_b"].isna()].assign(turn=lambda f: f["turn"].fillna(-1))
    for (corpus, method, name), rows in marks.groupby(LABEL, sort=False):
        human = rows["annotator_kind"] == "human"
        for judge, of_judge in rows[~human].groupby("annotator", sort=False):
            key = {"corpus": corpus, "method": method, "label": name, "metric": judge}
            # in one group, if the data have it in several
            yield key, by_key[method, name], rows[human], of_judge.drop_duplicates(ITEM)


def judged_items(annotations: Annotations, labels: Iterable[Label]) -> Iterator[JudgedItems]:
    """Every label and judge with items that the judge and people judged.

    Where items have different numbers of judgements by people, the number, two or more, is taken that keeps most
    judgements: items with fewer are left out, and of items with more the first ones count. It is one only where no item
    has two.
    """
    for key, label, people, of_judge in by_label_and_judge(annotations, labels):
        people = people.sort_values("source_row", kind="stable")
        people = people.assign(place=people.groupby(ITEM, sort=False).cumcount())
        wide = people.set_index([*ITEM, "place"])["score"].unstack()  # noqa: PD010
        more = of_judge.set_index(ITEM).reindex(columns=["score", "system", "context"])
        joined = wide.join(more, how="inner").dropna(subset="score")
        human = joined.drop(columns=more.columns).to_numpy(float)
        size = np.isfinite(human).sum(axis=1)
        least = min(2, size.max(initial=0))
        k = max(range(2, human.shape[1] + 1), key=lambda k: k * int((size >= k).sum()), default=1) if least > 1 else 1
        full = joined[size >= k]
        if least:
            dialogue, names = pd.factorize(full.index.get_level_values("dialogue"))
            system = full["system"].groupby(level="dialogue").first().loc[names].to_numpy()
            scores = full["score"].to_numpy(float)
            share = len(full) / int((size >= least).sum())
            context = full["context"].to_numpy() if full["context"].notna().all() else None
            yield JudgedItems(key, label, human[size >= k, :k], scores, dialogue, system, share, context)


def checked(interval: Interval, marks: float) -> Interval:
    """The interval, or none where the judge or a person made fewer than MIN_MINORITY marks."""
    if marks >= MIN_MINORITY:
        return interval
    why = f"{int(marks)} marks of the judge or of a person: fewer than {MIN_MINORITY}, no bootstrap interval"
    return Interval(interval.estimate, nan, nan, "not_estimable", interval.unit, interval.n_units, note=why)
