"""Rates, means, win rates and differences of systems from few human and many model labels: prediction-powered.

The model labels all dialogues, people some of them. The mean of people's labels is corrected by how much the model's
mean on these dialogues differs from that on all, times a weight lambda that makes the variance smallest: a model that
says nothing about people gets a lambda near 0, and is ignored. This is the regression estimator of
double sampling, and PPI++ with the model's mean taken over all dialogues. Turns of one dialogue (dialogues of one
session) stay together.

The dialogues that people judged must be a random sample of those of each system, or their chances of being judged
known: with weights in inverse proportion to these (Hájek estimators) the estimates are nearly unbiased, without them
they are not, however good the model. `selection` tests the condition: are the model's labels of the dialogues that
people judged those of the others?

References
----------
Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023, Science 382, 669-674. Angelopoulos, Duchi and Zrnic 2023, PPI++:
Efficient prediction-powered inference, arXiv:2311.01453, section 6 (lambda). Cochran 1977, Sampling Techniques, third
edition, section 12.6 (regression estimator in double sampling). Särndal, Swensson and Wretman 1992, Model Assisted
Survey Sampling, section 5.7 (the weighted sample mean of Hájek).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, logit, stdtr, stdtrit

from judgebook.annotations.scores import sampled
from judgebook.annotations.summary import with_means
from judgebook.questions.judges.choices import choices
from judgebook.questions.judges.items import ITEM, LABEL, by_label_and_judge
from judgebook.statistics.clusters import LEAST_DF, effective_number, left_out
from judgebook.statistics.intervals import Interval, Sampling
from judgebook.statistics.resampling import replicate_sums
from judgebook.study.labels import METHODS, Label
from judgebook.study.schema import Annotations

#: clusters of a system with a labelled dialogue that differs from the commonest value, for an interval: with fewer,
#: coverage is too low
LEAST_VARIED = 6
#: share of dialogues judged by people for which the gain is given
SHARE = 0.25
HUMAN, ASSISTED = "people", "people and model"


@dataclass(frozen=True)
class Sums:
    """What a label and judge are estimated from; one row per dialogue of a system (of comparisons: per prompt or pair).

    people, model : (d,) sums of scores over the items judged; people's are means over them, and NaN where people did
    not judge the dialogue. items : (d,). system : (d,) places in `systems`. cluster : (d,) numbers of what stays
    together. unit : what a row is. scale : ends of the scores. weight, chosen : (d,) inverse probabilities, up to a
    factor, that a dialogue is in the study, and that people judged it if it is; None: all are equal. name : (d,) what
    rows are called; None where nobody asks.
    """

    systems: list[str]
    people: np.ndarray
    model: np.ndarray
    items: np.ndarray
    system: np.ndarray
    cluster: np.ndarray
    unit: str = "dialogue"
    scale: tuple[float, float] = (0.0, 1.0)
    weight: np.ndarray | None = None
    chosen: np.ndarray | None = None
    name: np.ndarray | None = None

    def weighted(self) -> tuple[np.ndarray, np.ndarray]:
        """(d,) weights of dialogues for the model's mean of all, and for means of those that people judged."""
        ones = np.ones(len(self.items))
        all_of_them = ones if self.weight is None else self.weight
        return all_of_them, all_of_them * (ones if self.chosen is None else self.chosen)

    @property
    def labelled(self) -> np.ndarray:
        return np.isfinite(self.people)


@dataclass(frozen=True)
class Estimates:
    """Means of systems: (s,) values, (s, s) covariance, (s,) clusters with a dialogue whose value by people is not the
    commonest, and (s,) effective numbers of clusters; and the ends of the scale."""

    values: np.ndarray
    covariance: np.ndarray
    varied: np.ndarray
    effective: np.ndarray
    scale: tuple[float, float]

    def contrast(self, weights: np.ndarray, confidence: float = 0.95) -> dict[str, Any]:
        """A weighted sum of means with Student's t interval; missing where a system has fewer than two clusters.

        That of a single mean is made on the logit of its place between the ends of the scale: rates of few dialogues
        are skewed (Korn and Graubard 1999, Analysis of Health Surveys, section 2.4).
        """
        used = np.flatnonzero(weights)
        value, df = float(weights[used] @ self.values[used]), float(self.effective[used].min()) - 1
        se = self.se(weights)
        if self.varied[used].min() < LEAST_VARIED:
            note = (
                f"fewer than {LEAST_VARIED} labelled dialogues (sessions) of a system differ from the commonest value"
            )
            return {"estimate": value, "ci_kind": "not_estimable", "note": note}
        if not np.isfinite(se) or df < LEAST_DF or se <= 1e-12:
            note = "fewer than two dialogues (sessions), or no spread"
            return {"estimate": value, "ci_kind": "not_estimable", "note": note}
        half = float(stdtrit(df, (1 + confidence) / 2)) * se
        low, length = self.scale[0], self.scale[1] - self.scale[0]
        place = (value - low) / length
        if len(used) == 1 and weights[used[0]] == 1 and 0 < place < 1:
            middle, off = logit(place), half / (length * place * (1 - place))
            ends = low + length * expit(np.array([middle - off, middle + off]))
            return {"estimate": value, "ci_low": float(ends[0]), "ci_high": float(ends[1]), "ci_kind": "logit_t"}
        return {"estimate": value, "ci_low": value - half, "ci_high": value + half, "ci_kind": "t"}

    def se(self, weights: np.ndarray) -> float:
        """Standard error of a weighted sum of means."""
        used = np.flatnonzero(weights)
        return float(np.sqrt(weights[used] @ self.covariance[np.ix_(used, used)] @ weights[used]))


def estimate(data: Sums, weight: float | None = None) -> tuple[Estimates, Estimates, float]:
    """Means of systems by people alone and by people and model, and lambda.

    weight : lambda; None: the one that makes the sum of the variances of all systems smallest, but not less than 0.
    It is above 1 where the model uses less of the scale than people. The second interval is used whether or not it is
    the narrower one for a system: choosing the narrower costs up to one point of coverage.

    Influences are changes without a cluster (CR3, as `statistics.clusters`).
    """
    u, b, gap, people, number = _influences(data)
    if weight is None:
        weight = max(0.0, float(-np.nansum(u * b) / max(np.nansum(b**2), 1e-300)))
    differ, sizes, out = varied(data), effective(data), []
    for value, influence in ((people, u), (people - weight * gap, u + weight * b)):
        out.append(Estimates(value, _covariance(influence, number), differ, sizes, data.scale))
    return out[0], out[1], weight


def _influences(data: Sums) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What means of systems change by without a cluster: (clusters, s) of people's mean, and of the model's mean of all
    less that of what people judged. Also (s,) the latter less the former, people's mean, and numbers of clusters with
    a dialogue that people judged."""
    m, labelled, at = len(data.systems), data.labelled, data.system
    w_all, w = data.weighted()
    w = w * labelled
    total, some = np.bincount(at, w_all * data.items, m), np.bincount(at, w * data.items, m)
    safe = np.where(some > 0, some, np.nan)
    scores = np.where(labelled, data.people, 0.0)
    people, model_some = np.bincount(at, w * scores, m) / safe, np.bincount(at, w * data.model, m) / safe
    model = np.bincount(at, w_all * data.model, m) / total
    cell, place = np.unique(data.cluster * m + at, return_inverse=True)
    cluster, owner = cell // m, cell % m

    def by_cell(x: np.ndarray) -> np.ndarray:
        return np.bincount(place, x)

    out = left_out(by_cell(w * data.items / safe[at])), left_out(by_cell(w_all * data.items / total[at]))
    u = by_cell(np.where(labelled, w * (scores - people[at] * data.items) / safe[at], 0.0)) * out[0]
    g = by_cell(np.where(labelled, w * (data.model - model_some[at] * data.items) / safe[at], 0.0)) * out[0]
    h = by_cell(w_all * (data.model - model[at] * data.items) / total[at]) * out[1]
    influences = np.zeros((2, int(data.cluster.max()) + 1, m))
    influences[0, cluster, owner], influences[1, cluster, owner] = u, h - g
    number = np.bincount(owner[by_cell(labelled.astype(float)) > 0], minlength=m)
    return influences[0], influences[1], model_some - model, people, number


def _covariance(influences: np.ndarray, number: np.ndarray) -> np.ndarray:
    """(s, s) from (clusters, s); missing for systems with fewer than two clusters."""
    scaled = influences * np.sqrt(np.maximum(number - 1, 0) / np.maximum(number, 1))
    covariance = scaled.T @ scaled
    covariance[number < 2, :] = covariance[:, number < 2] = np.nan
    return covariance


def selection(data: Sums, confidence: float = 0.95) -> Iterator[dict[str, Any]]:
    """`assisted_selection` of each system: the model's mean of the dialogues that people judged less that of all, whose
    interval excludes 0 where these are no random sample, with a p-value (Student's t).
    """
    _, b, gap, _, number = _influences(data)
    se, df = np.sqrt(np.diag(_covariance(b, number))), effective(data) - 1
    for system, value, error, free in zip(data.systems, gap, se, df, strict=True):
        row: dict[str, Any] = {"statistic": "assisted_selection", "system": system, "estimate": float(value)}
        row["resample_unit"] = data.unit
        if not np.isfinite(error) or error <= 1e-12 or free < LEAST_DF:
            yield row | {"ci_kind": "not_estimable", "note": "fewer than two dialogues (sessions), or no spread"}
            continue
        half = float(stdtrit(free, (1 + confidence) / 2)) * error
        p = 2 * float(stdtr(free, -abs(value) / error))
        yield row | {"ci_low": value - half, "ci_high": value + half, "ci_kind": "t", "p_value": p}


def varied(data: Sums) -> np.ndarray:
    """(s,) clusters of each system with a labelled dialogue whose value is not the commonest."""
    out = np.zeros(len(data.systems), dtype=int)
    for i in range(len(out)):
        of_system = data.labelled & (data.system == i)
        values, place, counts = np.unique(
            (data.people / data.items)[of_system], return_inverse=True, return_counts=True
        )
        if len(values):
            out[i] = len(np.unique(data.cluster[of_system][place != counts.argmax()]))
    return out


def effective(data: Sums) -> np.ndarray:
    """(s,) effective number of clusters with labelled dialogues of each system."""
    weight = data.items * data.weighted()[1]
    return effective_number(data.system, np.where(data.labelled, weight, 0.0), [data.cluster])


def explained(data: Sums, rng: np.random.Generator, sampling: Sampling) -> Interval:
    """Share of the variance of people's dialogue values, within systems, that the model's explain: the squared
    correlation, 0 where it is negative or the model does not vary, with a BCa interval over clusters; without one where
    it is 0, which a bootstrap of a square cut at 0 says nothing about."""
    labelled, m = data.labelled, len(data.systems)
    items, cluster = data.items[labelled], pd.factorize(data.cluster[labelled])[0]
    x, y, w = data.people[labelled] / items, data.model[labelled] / items, items * data.weighted()[1][labelled]
    rows = np.zeros((int(cluster.max()) + 1, m, 6))
    terms = np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=1) * w[:, None]
    np.add.at(rows, (cluster, data.system[labelled]), terms)

    def statistic(sums: np.ndarray) -> np.ndarray:
        n, sx, sy, sxx, sxy, syy = np.moveaxis(sums.reshape(len(sums), m, 6), 2, 0)
        n = np.maximum(n, 1e-300)
        xx, xy, yy = ((a - b * c / n).sum(axis=1) for a, b, c in ((sxx, sx, sx), (sxy, sx, sy), (syy, sy, sy)))
        varying = (xx > 1e-9) & (yy > 1e-9)
        r = np.where(varying, xy, 0.0) / np.sqrt(np.where(varying, xx * yy, 1.0))
        return np.where(xx > 1e-9, np.maximum(r, 0.0) ** 2, np.nan)

    replicates = replicate_sums(
        rows.reshape(len(rows), -1), statistic, unit=data.unit, rng=rng, n_resamples=sampling.n_resamples
    )
    interval = replicates.interval(sampling.confidence)
    if interval.estimate == 0:
        note = "the judge explains nothing of what people's labels vary by, or goes against them: 0 has no interval"
        return replace(interval, low=np.nan, high=np.nan, kind="not_estimable", note=note)
    return interval


def gain(explained: float, share: float = SHARE) -> float:
    """Effective number of human labels relative to those there are, if this share of dialogues is judged by people."""
    return 1 / (1 - explained * (1 - share))


def strata(data: Sums) -> np.ndarray:
    """(clusters,) the system of each, -1 of one that holds several."""
    low, high = np.full(int(data.cluster.max()) + 1, len(data.systems)), np.full(int(data.cluster.max()) + 1, -1)
    np.minimum.at(low, data.cluster, data.system)
    np.maximum.at(high, data.cluster, data.system)
    return np.where(low == high, low, -1)


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


def assisted(annotations: Annotations, labels: Sequence[Label], *, sampling: Sampling) -> Iterator[dict[str, Any]]:
    """What a judge's labels add to people's, by label and judge.

    Yields `assisted_explained` (share of variance) and `assisted_gain`; where the judge judged dialogues that people
    did not, `assisted_mean` of each system and `assisted_difference` of each pair by people alone and by people and
    model (`raters`), and `assisted_selection` (`selection`).
    """
    for key, data in sums(annotations, labels):
        head = {**key, "level": METHODS[key["method"]].unit, "n": int(data.labelled.sum())}
        interval = explained(data, sampling.stream("assisted", *key.values()), sampling)
        yield head | {"statistic": "assisted_explained", **interval.row()}
        if np.isfinite(interval.estimate):
            gains = {"estimate": interval.estimate, "ci_low": interval.low, "ci_high": interval.high}
            gains = {end: gain(share) for end, share in gains.items()}
            yield {**head, "statistic": "assisted_gain", "share": f"{SHARE:g}", **interval.row(), **gains}
        if not data.labelled.all():
            yield from ({**head, **row} for row in _estimates(data, sampling.confidence))


def _estimates(data: Sums, confidence: float) -> Iterator[dict[str, Any]]:
    people, with_model, _ = estimate(data)
    one = np.eye(len(data.systems))
    yield from selection(data, confidence)
    wanted = [("assisted_mean", {"system": system}, one[i]) for i, system in enumerate(data.systems)]
    for i, k in combinations(range(len(data.systems)), 2):
        pair = {"system": data.systems[i], "system_b": data.systems[k]}
        wanted.append(("assisted_difference", pair, one[i] - one[k]))
    for statistic, of, weights in wanted:
        row = {"statistic": statistic, **of, "resample_unit": data.unit}
        yield row | {"raters": HUMAN} | people.contrast(weights, confidence)
        yield row | {"raters": ASSISTED} | with_model.contrast(weights, confidence)
