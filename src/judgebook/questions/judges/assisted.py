"""What a judge's labels add to people's: the variance they explain, narrower intervals, fewer labels to buy.

Estimates are prediction-powered (`prediction_powered`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import ceil
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from judgebook.annotations.scores import sampled
from judgebook.annotations.summary import with_means
from judgebook.questions.judges.choices import choices
from judgebook.questions.judges.items import ITEM, LABEL, by_label_and_judge
from judgebook.questions.judges.prediction_powered import (
    Estimates,
    Sums,
    effective,
    estimate,
    explained,
    gain,
    half_widths,
    hidden,
    selection,
    to_buy,
)
from judgebook.statistics.intervals import Interval, Sampling
from judgebook.study.labels import METHODS, Label
from judgebook.study.schema import Annotations

#: shares of dialogues judged by people for which the gain is given
SHARES = (0.1, 0.25, 0.5)
#: shares tried by hiding people's labels, and how many times; with fewer, many systems have no interval
TRIED, HIDINGS = (0.5,), 50
#: dialogues that the model judges for each one that people judge, where human labels are to be bought
POOL = 10
HUMAN, ASSISTED = "people", "people and model"


def sums(annotations: Annotations, labels: Sequence[Label]) -> Iterator[tuple[dict[str, str], Sums]]:
    """Every label and judge with something that people and the judge judged: ratings and marks of dialogues, and wins
    of systems in comparisons (a tie is half a win). Labels without a mean are left out."""
    annotations = with_means(annotations, labels)
    for key, label, people, of_judge in by_label_and_judge(annotations, labels):
        frame = of_judge.drop_duplicates(ITEM).join(by_people(people), on=ITEM)
        cluster = frame["session"].fillna(frame["dialogue"].astype(str) + "\x1f")
        yield from sums_of(key, frame.assign(cluster=cluster, row=frame["dialogue"]), "dialogue", label.scale)
    for case, rows in choices(annotations).groupby(LABEL, sort=False):
        human, wins = rows["annotator_kind"] == "human", rows.assign(score=(np.sign(rows["score"]) + 1) / 2)
        mean = by_people(wins[human])
        for judge, of_judge in wins[~human].groupby("annotator", sort=False):
            one = of_judge.drop_duplicates(ITEM).join(mean, on=ITEM)
            other = one.assign(system=one["system_b"], score=1 - one["score"], people=1 - one["people"])
            either_side = pd.concat([one, other])
            either_side = either_side.assign(row=either_side["dialogue" if sampled(rows) else "cluster"])
            key = dict(zip(LABEL, case, strict=True)) | {"metric": judge}
            yield from sums_of(key, either_side, str(rows["unit"].iloc[0]))


def by_people(rows: Annotations) -> pd.DataFrame:
    """Of items that people judged: their mean score and their sampling weight."""
    weight = "sampling_weight" if "sampling_weight" in rows else "score"
    items = rows.groupby(ITEM, sort=False).agg(people=("score", "mean"), drawn=(weight, "first"))
    return items if weight != "score" else items.assign(drawn=1.0)


def sums_of(
    key: dict[str, str], frame: pd.DataFrame, unit: str, scale: tuple[float, float] = (0.0, 1.0)
) -> Iterator[tuple[dict[str, str], Sums]]:
    """What is estimated from items judged by a judge; nothing where people judged none of them.

    frame : items with system, row, cluster, score, and people's mean where they judged it.

    Of a row that people judged, the items judged by people count; of another, all that the judge judged. Sampling
    weights of the judge's rows are those of the dialogues, those of people's rows say how people's were drawn as well.
    """
    some = frame.groupby(["system", "row"])["people"].transform("count") > 0
    frame = frame[frame["people"].notna() | ~some]
    sampling = frame["sampling_weight"].fillna(1.0) if "sampling_weight" in frame else 1.0
    by = frame.assign(weight=sampling, drawn=frame["drawn"].fillna(sampling)).groupby(["system", "row"], sort=True)
    first = {column: (column, "first") for column in ("cluster", "weight", "drawn")}
    people = ("people", lambda x: x.sum(min_count=1))
    rows = by.agg(people=people, model=("score", "sum"), items=("score", "size"), **first).reset_index()
    systems = sorted(rows.loc[rows["people"].notna(), "system"].unique())
    rows = rows[rows["system"].isin(systems)]
    if systems:
        yield (
            key,
            Sums(
                systems=systems,
                people=rows["people"].to_numpy(float),
                model=rows["model"].to_numpy(float),
                items=rows["items"].to_numpy(float),
                system=pd.Index(systems).get_indexer(rows["system"]),
                cluster=pd.factorize(rows["cluster"])[0],
                unit=unit,
                scale=scale,
                weight=_unless_equal(rows["weight"].to_numpy(float)),
                chosen=_unless_equal((rows["drawn"] / rows["weight"]).to_numpy(float)),
                name=rows["row"].to_numpy(object),
            ),
        )


def _unless_equal(weights: np.ndarray) -> np.ndarray | None:
    return weights if np.ptp(weights) > 1e-9 * weights.max() else None


def assisted(
    annotations: Annotations,
    labels: Sequence[Label],
    *,
    sampling: Sampling,
    half_width: Mapping[str, float] = MappingProxyType({}),
) -> Iterator[dict[str, Any]]:
    """What a judge's labels add to people's, by label and judge.

    half_width : label (`*`: all others) -> wanted half-width of the interval of a system's mean; by default that of
    people's labels.

    Yields
    ------
    `assisted_explained` (share of variance); `assisted_gain` for each of SHARES; `assisted_width`, the mean half-width
    of intervals of means and of differences of systems (`of`) by people alone and by people and model (`raters`), where
    people's labels of a share of dialogues are kept, at random; `assisted_dialogues`, how many dialogues of a system
    people must judge for the wanted half-width, alone and if the model judges POOL times as many; of comparisons
    `win_rate_change`, model minus people, by system. Where the judge judged dialogues that people did not:
    `assisted_mean` of each system and `assisted_difference` of each pair (`raters`), `assisted_weight`,
    `assisted_labels`, how many labels by people alone would give the mean of a system the same variance, and
    `assisted_selection` and `selection_standardised` (`selection`).
    """
    for key, data in sums(annotations, labels):
        head = {**key, "level": METHODS[key["method"]].unit, "n": int(data.labelled.sum())}
        interval = explained(data, sampling.stream("assisted", *key.values()), sampling)
        confidence = sampling.confidence
        yield head | {"statistic": "assisted_explained", **interval.row()}
        if np.isfinite(interval.estimate):
            for share in SHARES:
                gains = [gain(r, share) for r in (interval.estimate, interval.low, interval.high)]
                yield {**head, "statistic": "assisted_gain", "share": f"{share:g}", **_ends(interval, gains)}
            wanted = half_width.get(key["label"], half_width.get("*"))
            yield from ({**head, **row} for row in _bought(data, interval, wanted, confidence))
        yield from ({**head, **row} for row in _widths(data, sampling.stream("hidden", *key.values()), confidence))
        if data.unit != "dialogue":
            yield from ({**head, **row} for row in _win_rate_changes(data, confidence))
        if not data.labelled.all():
            yield from ({**head, **row} for row in _estimates(data, confidence))


def _ends(interval: Interval, values: Sequence[float]) -> dict[str, Any]:
    """A row of a monotone function of an interval."""
    return interval.row() | dict(zip(("estimate", "ci_low", "ci_high"), values, strict=True))


def _bought(data: Sums, interval: Interval, wanted: float | None, confidence: float) -> Iterator[dict[str, Any]]:
    """Dialogues that people must judge, from the mean variance of systems; as many per cluster as now."""
    people, with_model, _ = estimate(data)
    now = half_widths(people, with_model, confidence)["mean"][0]
    variance = np.diag(people.covariance) * people.effective
    if not np.isfinite(now).any():
        return
    variance, wanted = float(np.mean(variance[np.isfinite(now)])), wanted or float(np.nanmedian(now))
    each = replace(data, cluster=np.arange(len(data.cluster)))
    size = float(np.mean((effective(each) / people.effective)[np.isfinite(now)]))  # dialogues per cluster

    def dialogues(r: float) -> float:
        return ceil(to_buy(variance / gain(r, 1 / POOL), wanted, confidence) * size - 1e-9)

    row = {"statistic": "assisted_dialogues", "half_width": wanted, "resample_unit": data.unit}
    yield row | {"raters": HUMAN, "estimate": dialogues(0.0)}
    ends = (interval.estimate, interval.high, interval.low)  # the more is explained, the fewer dialogues
    few = [dialogues(r) if np.isfinite(r) else np.nan for r in ends]
    yield row | {"raters": ASSISTED} | _ends(interval, few)


def _widths(data: Sums, rng: np.random.Generator, confidence: float) -> Iterator[dict[str, Any]]:
    """Half-widths where people's labels are hidden at random, of the intervals that both have."""
    whole = data.labelled
    data = replace(data, people=data.people[whole], model=data.model[whole], items=data.items[whole],
                   system=data.system[whole], cluster=pd.factorize(data.cluster[whole])[0],
                   weight=data.weighted()[1][whole], chosen=None)  # fmt: skip
    for share in TRIED:
        tried = [half_widths(*estimate(hidden(data, share, rng))[:2], confidence) for _ in range(HIDINGS)]
        for of in tried[0]:
            each = np.concatenate([one[of] for one in tried], axis=1)
            if not each.size:  # one system has no differences
                continue
            each = each[:, np.isfinite(each).all(axis=0)]
            row = {"statistic": "assisted_width", "of": of, "share": f"{share:g}", "resample_unit": data.unit}
            for raters, values in zip((HUMAN, ASSISTED), each, strict=True):
                note = None if len(values) else "too few dialogues that differ from the commonest value"
                yield row | {"raters": raters, "estimate": values.mean() if len(values) else np.nan, "note": note}


def _win_rate_changes(data: Sums, confidence: float) -> Iterator[dict[str, Any]]:
    change = replace(data, people=data.model - data.people, model=np.zeros_like(data.model), scale=(-1.0, 1.0))
    estimates = estimate(change, weight=0.0)[0]
    for i, one in enumerate(np.eye(len(data.systems))):
        row = {"statistic": "win_rate_change", "system": data.systems[i], "resample_unit": data.unit}
        yield row | estimates.contrast(one, confidence)


def _estimates(data: Sums, confidence: float) -> Iterator[dict[str, Any]]:
    people, with_model, weight = estimate(data)
    one = np.eye(len(data.systems))
    yield {"statistic": "assisted_weight", "estimate": weight}
    yield from selection(data, confidence)
    wanted = [("assisted_mean", {"system": system}, one[i]) for i, system in enumerate(data.systems)]
    for i, k in combinations(range(len(data.systems)), 2):
        pair = {"system": data.systems[i], "system_b": data.systems[k]}
        wanted.append(("assisted_difference", pair, one[i] - one[k]))
    for statistic, of, weights in wanted:
        row = {"statistic": statistic, **of, "resample_unit": data.unit}
        if statistic == "assisted_mean":
            yield row | {"statistic": "assisted_labels"} | _effective_labels(data, people, with_model, weights)
        yield row | {"raters": HUMAN} | people.contrast(weights, confidence)
        yield row | {"raters": ASSISTED} | with_model.contrast(weights, confidence)


def _effective_labels(data: Sums, people: Estimates, with_model: Estimates, weights: np.ndarray) -> dict[str, Any]:
    """Labelled dialogues of one system, times the variance by people alone over that by people and model."""
    n = int(np.sum(data.labelled & (data.system == int(np.argmax(weights)))))
    se, both = people.se(weights), with_model.se(weights)
    if not both > 1e-12:
        return {"n": n, "estimate": np.nan, "note": "fewer than two labelled dialogues (sessions), or no spread"}
    return {"n": n, "estimate": n * (se / both) ** 2}
