"""What one fit of each label says: which system leads, by how much, how certainly, and how much depends on who judged.

Judgements of single items are means by annotator and dialogue, in a linear mixed model (`model.ratings`); comparisons
are votes in Davidson's model with random effects (`model.comparisons`). Order, differences, chances and shares of
variance all follow from the same estimates and covariance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from math import isfinite, nan, sqrt
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from judgebook.annotations.cells import in_turn
from judgebook.annotations.population import Population
from judgebook.annotations.scores import sampled, weighted
from judgebook.codes import distinct
from judgebook.model import comparisons, designs, ratings
from judgebook.model.comparisons import Comparisons, shown
from judgebook.model.contrasts import Differences, Levels
from judgebook.model.designs import POWER
from judgebook.model.fit import PEOPLE, Fit, Judgements, coded, crossed
from judgebook.questions.performance.rates import with_people
from judgebook.statistics.clusters import LEAST_DF, clustered_covariance, effective_number, pair_df
from judgebook.statistics.multiplicity import simultaneous_ranks
from judgebook.study.labels import METHODS, Label
from judgebook.study.results import Results, collect
from judgebook.study.schema import ALL_RUNS, SYSTEM_CELL

CELL = SYSTEM_CELL[:-1]
BLOCK = ["corpus", "method", "group"]
#: runs of a study from which they are a sample of others
LEAST_RUNS = 3
#: what several systems may share, the widest first
SHARED = ("session", "context")
FAMILY = "all pairs of systems, multivariate t"
#: degrees of freedom that stand for a known variance
LARGE = 1e9
#: times the data beyond which no number is given
MOST = 100
UNKNOWN, FAR = "the systems cannot be compared", f"more than {MOST} times the data"


def fitted(
    annotations: pd.DataFrame,
    labels: Iterable[Label],
    populations: Mapping[tuple[str, str], Population],
    wanted: str | Iterable[str] = (),
    *,
    confidence: float = 0.95,
) -> Results:
    """Rows of every label's fit, and of the overall one; where LEAST_RUNS runs or more have rated the same systems,
    also of the overall one over all of them, with ALL_RUNS for the corpus.

    Parameters
    ----------
    annotations : DataFrame
        Of ranked systems, from `analysis.chosen`.
    labels : iterable of Label
        Give directions; labels without one have no order, but differences.
    populations : mapping
        By corpus and group: whether annotators are a sample of others.
    wanted : "all" or iterable of str
        Labels whose standardised mean makes the overall order.
    """
    labels = list(labels)
    direction = {(x.method, x.id): x.direction for x in labels}
    entering = {x.id for x in labels if x.direction and (wanted == "all" or x.id in set(wanted))}
    rows: list[dict[str, Any]] = []
    runs = dict[tuple[str, str], list[tuple[list[tuple[int, pd.DataFrame]], bool]]]()
    for block, part in in_turn(annotations, BLOCK):
        others = populations[block[0], block[2]].others
        scores = []
        for key, of_label in in_turn(part, CELL):
            if len(distinct(of_label["system"], of_label["system_b"])) < 2:
                continue
            sign, head = direction.get((key[1], key[2]), 0), dict(zip(CELL, key, strict=True))
            rows += of_fit(fit(of_label, others=others), head, sign, confidence)
            rows += plain(of_label, head, people=others, confidence=confidence)
            if sign and key[2] in entering:
                scores.append((sign, of_label))
        if len(scores) > 1 and (one := overall(scores, others=others)) is not None:
            rows += of_fit(one[0], dict(zip(BLOCK, block, strict=True)) | {"n": one[1]}, 1, confidence)
            runs.setdefault(block[1:], []).append((scores, others))
    for (method, group), each in runs.items():
        if (one := over_runs([scores for scores, _ in each], others=all(others for _, others in each))) is not None:
            head = dict(zip(BLOCK, (ALL_RUNS, method, group), strict=True)) | {"n": one[1]}
            rows += of_fit(one[0], head, 1, confidence)
    return collect(rows)


def over_runs(runs: list[list[tuple[int, pd.DataFrame]]], *, others: bool) -> tuple[Fit, int] | None:
    """The fit of several labels together over the runs of a study, which are a sample of others: how a system does in
    one run is random. None where there are too few, where they compare other systems or labels, or votes.

    runs : of each run the sign and judgements of each label.
    """
    asked = [({rows["label"].iloc[0] for _, rows in run}, set(run[0][1]["system"])) for run in runs]
    if len(runs) < LEAST_RUNS or any(one != asked[0] for one in asked) or runs[0][0][1]["dialogue_b"].notna().any():
        return None
    whole = []
    for run in runs:
        for sign, rows in run:
            named = {
                c: rows["corpus"].astype(str) + " " + rows[c].astype(str) for c in ("dialogue", *SHARED) if c in rows
            }
            named = {c: x.where(rows[c].notna()) for c, x in named.items()}
            whole.append((sign, rows.assign(**named)))
    return overall(whole, others=others)


def fit(rows: pd.DataFrame, *, others: bool) -> Fit:
    """The model of one label's judgements. others : whether annotators are a sample."""
    if METHODS[rows["method"].iloc[0]].unit == "pair":
        return comparisons.fit(votes(rows, people=others))
    return ratings.fit(judgements(rows), others=others, intervals=True)


def judgements(rows: pd.DataFrame) -> Judgements:
    """Scores of single items: the mean over turns of each annotator and dialogue."""
    shared = next((c for c in SHARED if c in rows and rows[c].notna().all()), None)
    system, systems = coded(rows["system"])
    item, annotator = crossed(coded(rows["dialogue"])[0], system), coded(rows["annotator"])[0]
    place = crossed(item, annotator)
    first = np.unique(place, return_index=True)[1]
    score = np.bincount(place, rows["score"].to_numpy(float)) / np.bincount(place)
    weight = rows["sampling_weight"].fillna(1.0).to_numpy(float)[first] if sampled(rows) else None
    context = item if shared is None else coded(rows[shared])[0]
    people = annotator[first] if rows["annotator_known"].all() else None
    run, runs = coded(rows["corpus"])
    names, marks = tuple(map(str, systems)), bool(rows["score"].isin([0, 1]).all())
    of_run = run[first] if len(runs) >= LEAST_RUNS else None
    return Judgements(names, system[first], item[first], context[first], people, score, weight, marks, of_run)


def votes(rows: pd.DataFrame, *, people: bool) -> Comparisons:
    """Comparisons of two systems. people : whether annotators are a sample."""
    shared = next((c for c in ("context", "session") if c in rows and rows[c].notna().all()), None)
    both, systems = coded(pd.concat([rows["system"], rows["system_b"]], ignore_index=True))
    context = coded(rows[shared] if shared else rows["pair"])[0]
    annotator = coded(rows["annotator"])[0] if people else None
    weight = rows["sampling_weight"].fillna(1.0).to_numpy(float) if sampled(rows) else None
    names, n = tuple(map(str, systems)), len(rows)
    return Comparisons(names, both[:n], both[n:], rows["score"].to_numpy(float), context, annotator, weight)


def overall(scores: list[tuple[int, pd.DataFrame]], *, others: bool) -> tuple[Fit, int] | None:
    """The fit of several labels together, and of how many; None where fewer than two vary and have all systems.

    Ratings: the mean for each annotator and dialogue, each label in standard deviations of its items and turned so that
    more is better. Comparisons: a vote for the side that more labels are for.

    scores : sign and judgements of each label.
    """
    systems = distinct(*(rows[side] for _, rows in scores for side in ("system", "system_b")))
    whole = [(s, rows) for s, rows in scores if distinct(rows["system"], rows["system_b"]) == systems]
    if METHODS[scores[0][1]["method"].iloc[0]].unit == "pair":
        varied = [
            rows.assign(score=s * rows["score"]) for s, rows in whole if rows["score"].min() < rows["score"].max()
        ]
        if len(varied) < 2:
            return None
        every = pd.concat(varied, ignore_index=True)
        sums = every.groupby(["dialogue", "dialogue_b", "annotator"], sort=False, observed=True)
        together = every.loc[~every.duplicated(["dialogue", "dialogue_b", "annotator"])].copy()
        together["score"] = np.sign(sums["score"].sum().to_numpy())
        return comparisons.fit(votes(together, people=others)), len(varied)
    out = [one for s, rows in whole if (one := standardised(rows, s)) is not None]
    every = pd.concat(out, ignore_index=True) if out else pd.DataFrame(columns=["label"])
    if (n := every["label"].nunique()) < 2:
        return None
    return ratings.fit(judgements(every), others=others), n


def standardised(scores: pd.DataFrame, sign: int) -> pd.DataFrame | None:
    """Scores of one label in standard deviations of its items, times `sign`; None where items do not vary."""
    keys = [c for c in ("system", "dialogue", "dialogue_b", "turn") if c in scores]
    items = scores.groupby(keys, dropna=False, sort=False)
    x = items["score"].mean()
    mean, spread = x.mean(), x.std(ddof=1)
    if sampled(scores):
        weight = items["sampling_weight"].first().fillna(1.0)
        mean = np.average(x, weights=weight)
        spread = np.sqrt(np.average((x - mean) ** 2, weights=weight))
    if not spread > 1e-12:
        return None
    return scores.assign(score=sign * (scores["score"] - mean) / spread)


def plain(
    rows: pd.DataFrame, head: Mapping[str, Any], *, people: bool, confidence: float = 0.95
) -> Iterator[dict[str, Any]]:
    """`plain_contrast`: differences of means, or in votes of two systems on each other of shares won and lost, without
    a model, each with its own interval. Errors of the t tests are clustered by what systems share, or the dialogue, and
    by annotator where these are a sample (`statistics.clusters`). A check of the fit, not an answer."""
    votes_ = METHODS[head["method"]].unit == "pair"
    shared = next((c for c in SHARED if c in rows and rows[c].notna().all()), "pair" if votes_ else "dialogue")
    scores = rows.assign(unit=rows[shared])
    over = with_people(shared) if people else shared
    if votes_:
        turned = scores["system"] > scores["system_b"]
        pair = {"system": scores["system"].where(~turned, scores["system_b"])}
        pair["system_b"] = scores["system_b"].where(~turned, scores["system"])
        scores = weighted(scores.assign(**pair, score=scores["score"].where(~turned, -scores["score"])))
    else:
        scores = weighted(scores)
    score, weight = (scores[c].to_numpy(float) for c in ("score", "weight"))
    clusters = [coded(scores[c])[0] for c in ("unit", "annotator")[: 1 + people]]
    if votes_:
        each_pair = sorted(scores.groupby(["system", "system_b"]).indices.items())
        found = ((*key, _plain(score[at], weight[at], [c[at] for c in clusters])) for key, at in each_pair)
    else:
        code, systems = coded(scores["system"])
        gaps = zip(*np.triu_indices(len(systems), 1), *_plain(score, weight, clusters, code), strict=True)
        found = ((systems[i], systems[j], each) for i, j, *each in gaps)
    for one, other, (gap, se, df) in found:
        gap, se, df = (float(np.squeeze(x)) for x in (gap, se, df))
        known = df >= LEAST_DF and se > 0
        half = float(stdtrit(df, (1 + confidence) / 2)) * se if known else nan
        row = {
            "system": str(one),
            "system_b": str(other),
            "estimate": gap,
            **_interval(gap - half, gap + half, "t", ""),
        }
        row["p_value"] = 2 * float(stdtr(df, -abs(gap) / se)) if known else nan
        yield {**head, "statistic": "plain_contrast", "resample_unit": over, **row}


def _plain(
    score: np.ndarray, weight: np.ndarray, clusters: list[np.ndarray], code: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Differences of the means of all codes, their errors and degrees of freedom; without codes, of the mean."""
    one = np.zeros(len(score), dtype=int) if code is None else code
    means, covariance, _ = clustered_covariance(one, score, weight, clusters)
    if code is None:
        return means, np.sqrt(covariance.variances), effective_number(one, weight, clusters) - 1
    i, j = np.triu_indices(len(means), 1)
    return means[i] - means[j], covariance.pair_errors(), pair_df(one, weight, clusters, covariance.variances)


def of_fit(fit: Fit, head: Mapping[str, Any], sign: int, confidence: float) -> Iterator[dict[str, Any]]:
    """Rows of one fit: `contrast` for each pair of systems and `difference_found`, `level` of each and their
    `order_reliability` (of comparisons `strength`), `component_share` of each part; with a direction `rank`, `lead`,
    `best_chance`, `data_to_separate` and `order_reversal`. An overall order has `overall_contrast`, `overall_level`,
    `overall_rank`, `overall_lead`, `overall_best_chance` and `overall_data_to_separate`.

    head : what identifies them; sign : 1 where more is better, -1 where less is, 0 where that is not said.
    """
    levels = fit.levels.reversed() if sign < 0 else fit.levels
    d, systems, name = levels.differences(confidence), fit.systems, "" if "label" in head else "overall_"
    head = {"level": METHODS[head["method"]].unit, **head, "resample_unit": fit.over}
    head |= {"n_annotators": fit.n_annotators or None}
    turn = -1 if sign < 0 else 1
    values = (*(shown(fit, turn * x) for x in (d.estimate, d.low, d.high)), d.p_value, d.p_adjusted)
    for i, j, *each in zip(d.first, d.second, *values, strict=True):
        estimate, one, other, p, adjusted = map(float, each)
        row = {"system": systems[i], "system_b": systems[j], "estimate": estimate, "p_value": p, "p_adjusted": adjusted}
        ends = _interval(min(one, other), max(one, other), "simultaneous", fit.note)
        yield {**head, "n": fit.n, "statistic": f"{name}contrast", "family": FAMILY, **row, **ends}
    yield from _levels(fit, head, name, confidence)
    if sign:
        yield from _order(fit, levels, d, head, name)
        yield from _repeated(fit, levels, d, head, name, confidence)
    if not name:
        yield from _design(fit, d, head, confidence)


def _design(fit: Fit, d: Differences, head: dict[str, Any], confidence: float) -> Iterator[dict[str, Any]]:
    """What a label's own design finds, how reliable its order is, and of what its variance is made."""
    found = shown(fit, (d.high - d.low) / 2 + ndtri(POWER) * d.se)
    median = float(np.median(found[np.isfinite(found)])) if np.isfinite(found).any() else nan
    row = {"n": len(d.se), "statistic": "difference_found", "estimate": median}
    yield {**head, **row, "note": None if isfinite(median) else fit.note or UNKNOWN}
    if fit.log_nu is None:
        yield {**head, **_reliable(fit, confidence)}
    head |= {"n": fit.n, "statistic": "component_share"}
    shares = {part: share for part, share in fit.shares.items() if not (fit.confounded and part in PEOPLE)}
    left_out = fit.left_out | (dict.fromkeys(PEOPLE, fit.confounded) if fit.confounded else {})
    for part, share in shares.items():
        low, high = fit.intervals.get(part, (nan, nan))
        row = {"part": part, "estimate": share, "ci_low": low, "ci_high": high}
        yield {**head, **row, "ci_kind": "profile" if isfinite(low) else None}
    for part, reason in left_out.items():
        yield {**head, "part": part, "note": reason}


def _reliable(fit: Fit, confidence: float) -> dict[str, Any]:
    """`order_reliability` of the fit's own levels, with dialogues per system and annotators of each, rounded."""
    estimate, low, high = designs.reliability(fit, confidence=confidence)
    known = isfinite(estimate)
    row = {"statistic": "order_reliability", "n": len(fit.systems), "n_clusters": int(fit.sizes.sum())}
    design = designs.own(fit)
    row |= {"n_dialogues": round(design.dialogues), "annotators_per_dialogue": max(1, round(design.per_dialogue))}
    row |= {"estimate": estimate, "ci_low": low, "ci_high": high, "ci_kind": "f" if known else "not_estimable"}
    return row | {"note": None if known else fit.note or UNKNOWN, "resample_unit": f"system and {fit.over}"}


def _interval(low: float, high: float, kind: str, note: str) -> dict[str, Any]:
    known = isfinite(low) and isfinite(high)
    ends = {"ci_low": low, "ci_high": high} if known else {"ci_low": nan, "ci_high": nan}
    return ends | {"ci_kind": kind if known else "not_estimable", "note": note or (None if known else UNKNOWN)}


def _levels(fit: Fit, head: dict[str, Any], name: str, confidence: float) -> Iterator[dict[str, Any]]:
    """`level` of each system, of comparisons `strength`."""
    x, votes = fit.levels.estimates, fit.log_nu is not None
    df = np.minimum(np.diag(fit.levels.df), LARGE)
    half = stdtrit(df, (1 + confidence) / 2) * np.sqrt(np.diag(fit.levels.covariance))
    for i, system in enumerate(fit.systems):
        row = _sized(fit, head, i) | {"statistic": "strength" if votes and not name else f"{name}level"}
        yield row | {"system": system, "estimate": x[i]} | _interval(x[i] - half[i], x[i] + half[i], "t", fit.note)


def _sized(fit: Fit, head: dict[str, Any], i: int) -> dict[str, Any]:
    return {"n": int(fit.sizes[i]), **head, "n_clusters": int(fit.sizes[i])}


def _order(fit: Fit, levels: Levels, d: Differences, head: dict[str, Any], name: str) -> Iterator[dict[str, Any]]:
    """`rank`, `lead` and `best_chance` of each system. levels : more being better."""
    m, x = len(levels), levels.estimates
    rank, least, most = simultaneous_ranks(x, d.decided)
    known, first = levels.comparable, int(np.argmax(x))
    low, high = np.full((m, m), nan), np.full((m, m), nan)
    low[d.first, d.second], high[d.first, d.second] = d.low, d.high
    low[d.second, d.first], high[d.second, d.first] = -d.high, -d.low
    for i, system in enumerate(fit.systems):
        row = _sized(fit, head, i) | {"system": system}
        ends = (least[i], most[i]) if known else (nan, nan)
        yield {
            **row,
            "statistic": f"{name}rank",
            "estimate": rank[i],
            **_interval(ends[0], ends[1], "simultaneous", fit.note),
        }
        ends = (float(low[first, i]), float(high[first, i]))
        lead = {} if i == first else _interval(ends[0], ends[1], "simultaneous", fit.note)
        yield {**row, "statistic": f"{name}lead", "estimate": x[first] - x[i], **lead}
        note = None if known else fit.note or UNKNOWN
        yield {**row, "statistic": f"{name}best_chance", "estimate": levels.p_best[i], "note": note}


def _times(levels: Levels, gap: float, se: float, df: float, confidence: float) -> float:
    """Times the data, in all their numbers, that find this difference of two systems with POWER; NaN beyond MOST.

    The standard error falls as their root; degrees of freedom grow with them, which narrows intervals further.
    """

    @cache  # the search asks for both ends again
    def lacking(times: float) -> float:
        critical = float(levels.critical(np.array([df * times]), confidence)[0])
        return (critical + float(ndtri(POWER))) * se / sqrt(times) - gap

    return float(brentq(lacking, 1.0, MOST, xtol=1e-3)) if isfinite(se) and lacking(MOST) <= 0 < lacking(1.0) else nan


def _repeated(
    fit: Fit, levels: Levels, d: Differences, head: dict[str, Any], name: str, confidence: float
) -> Iterator[dict[str, Any]]:
    """How much data would tell the first from the second, and how often others would turn them round.

    Two panels of annotators, or two studies, differ from the truth, of which nothing is known beforehand, by as much
    each: the difference of the other is normal around the observed one with twice the variance (Goodman 1992,
    Statistics in Medicine 11, 875-879).
    """
    one, two = np.argsort(-levels.estimates, kind="stable")[:2]
    k = int(np.flatnonzero((d.first == min(one, two)) & (d.second == max(one, two)))[0])
    pair = {**head, "n": fit.n, "system": fit.systems[one], "system_b": fit.systems[two]}
    gap, se = abs(float(d.estimate[k])), float(d.se[k])
    times = 1.0 if d.decided[k] else _times(levels, gap, se, float(d.df[k]), confidence)
    far = not times <= MOST
    yield {
        **pair,
        "statistic": f"{name}data_to_separate",
        "estimate": nan if far else times,
        "note": (FAR if isfinite(d.high[k]) else fit.note or UNKNOWN) if far else None,
    }
    if name:
        return
    for who, variance in (("annotators", float(fit.people[k])), ("study", se**2)):
        if fit.others and isfinite(variance) and not (fit.confounded and who == "annotators"):
            chance = float(ndtr(-gap / sqrt(2 * variance))) if variance > 0 else 0.0
            yield {**pair, "statistic": "order_reversal", "part": who, "estimate": chance}
