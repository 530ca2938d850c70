"""Which metrics agree with people? The results of notebook 09 as we would defend them; those of Zhang et al. 2022 as
published are computed there.

Spearman's correlation of a metric with the mean rating of each item, with contexts resampled, the ceiling set by the
raters' own noise, the annotator who is left out, the correlation within contexts and of system means, permutation tests
between metrics, and whether metrics notice a degraded control. Pearson's correlation of system means is as published
(Ji et al. 2022, section 7).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import pandas as pd

from judgebook.annotations.summary import evaluated
from judgebook.questions.metrics.ceiling import ceilings, replaceability
from judgebook.questions.metrics.control import above_control
from judgebook.questions.metrics.correlations import (
    averages,
    correlations,
    overall_system_level,
    system_level,
    within_context,
)
from judgebook.questions.metrics.differences import differences, system_differences
from judgebook.questions.metrics.items import human_means, join
from judgebook.questions.metrics.text_metrics import METRICS
from judgebook.statistics.correlation import COEFFICIENTS
from judgebook.statistics.intervals import Sampling
from judgebook.study.labels import Label, spelled_out
from judgebook.study.results import ResultRows, Results, collect
from judgebook.study.schema import Annotations

#: what names a data set: the ratings of one kind in one corpus
DATA_SET = ["corpus", "method"]


def oriented(*parts: pd.DataFrame, directions: Mapping[str, int]) -> pd.DataFrame:
    """All scores, with those metrics reversed (times -1) that are lower for better systems."""
    scores = pd.concat([part for part in parts if len(part)])
    sign = scores["metric"].map(lambda m: directions.get(m, 1)).astype(float)
    return scores.assign(score=scores["score"] * sign)


def rated(annotations: Annotations, corpora: Sequence[str] = ()) -> Annotations:
    """People's ratings of turns or dialogues in the named corpora (none named: those of the evaluation itself)."""
    people = annotations[(annotations["annotator_kind"] == "human") & annotations["dialogue_b"].isna()]
    return people[people["corpus"].isin(list(corpora))] if corpora else evaluated(people)


def analyse(
    annotations: Annotations,
    scores: pd.DataFrame,
    labels: Iterable[Label],
    *,
    unranked: Sequence[str] = (),
    control: str | None = None,
    sampling: Sampling,
    permute_seed: int,
    rank_resamples: int = 2_000,
) -> Results:
    """All results of notebook 09.

    Parameters
    ----------
    annotations, scores : DataFrame
        From `rated` and `oriented`.
    labels : iterable of Label
        Those of direction -1 are reversed.
    unranked : sequence of str
        Systems left out at system level: people and dummies, which any metric separates from the rest.
    control : str, optional
        The degraded system. Only known annotators count.
    sampling : Sampling
        Of contexts and systems; there are as many permutations as resamples.
    permute_seed : int
        Of permutations.
    rank_resamples : int
        Resamples of correlations of items, which are ranked anew in each.
    """
    labels = list(labels)
    joined, ranked_anew = join(human_means(annotations, labels), scores), replace(sampling, n_resamples=rank_resamples)
    rows = (correlations(joined, c, sampling=ranked_anew) for c in COEFFICIENTS)
    results = collect(chain.from_iterable(rows))
    ranked = joined[~joined["system"].isin(list(unranked))]
    systems = ("spearman", "pearson") if ranked["system"].nunique() > 2 else ()
    people = annotations.merge(joined.drop_duplicates(DATA_SET)[DATA_SET], on=DATA_SET)
    return collect(
        results,
        _averages(results),
        within_context(joined, sampling=sampling),
        *(system_level(ranked, c, sampling=sampling) for c in systems),
        *(overall_system_level(ranked, labels, c, sampling=sampling) for c in systems),
        above_control(people[people["annotator_known"]], scores, labels, control, sampling=sampling) if control else (),
        ceilings(people, sampling=sampling),
        replaceability(people, scores, confidence=sampling.confidence),
        differences(joined, seed=permute_seed, n_permutations=sampling.n_resamples),
        system_differences(ranked, seed=permute_seed, n_permutations=sampling.n_resamples),
    )


def _averages(results: Results) -> Iterator[dict[str, Any]]:
    """Means on Fisher's scale over the labels of a data set, and over data sets, each of which counts once with its
    plain mean over labels."""
    each = results["correlation"]
    several = each.groupby(DATA_SET)["label"].transform("nunique") > 1
    yield from averages(each[several], "label", [*DATA_SET, "level"])
    if len(each.drop_duplicates(DATA_SET)) > 1:
        yield from averages(overall(results, COEFFICIENTS), "data set")


def overall(results: Results, coefficient: str | Sequence[str] = "spearman") -> ResultRows:
    """One row per data set and metric: the plain mean correlation over labels, or that of the only label."""
    means = results.select("mean_correlation", over="label", average="plain", coefficient=coefficient)
    single = results.select("correlation", scope="pooled", coefficient=coefficient)
    single = single[single.groupby(DATA_SET)["label"].transform("nunique") == 1]
    return pd.concat([means[means["level"] != "system"], single], ignore_index=True)


def data_sets(results: Results, titles: Mapping[str, Mapping[str, str]]) -> dict[str, Results]:
    """Name -> results of each data set. titles : as for `set_titles`."""
    named = set_titles(results, titles)
    return {name: results.part(corpus=corpus, method=method) for (corpus, method), name in named.items()}


def set_titles(results: Results, titles: Mapping[str, Mapping[str, str]]) -> dict[tuple[str, str], str]:
    """(corpus, method) -> name of each data set: the corpus, unless there is one without a name; the method, where
    there are two. titles : display names of corpora and methods, as in `DisplayNames`."""
    pairs = results["correlation"].drop_duplicates(DATA_SET)[DATA_SET]
    one_corpus, one_method = set(pairs["corpus"]) == {"main"}, len(set(pairs["method"])) == 1
    out = {}
    for corpus, method in pairs.itertuples(index=False):
        parts = [] if one_corpus else [titles.get("corpus", {}).get(corpus) or spelled_out(corpus)]
        parts += [] if one_method and parts else [titles["method"].get(method, method)]
        out[corpus, method] = ", ".join(parts)
    return out


def metric_titles(results: Results, titles: Mapping[str, str], directions: Mapping[str, int]) -> dict[str, str]:
    """Metric -> display name, from the largest mean correlation over data sets to the smallest.

    titles : names given by the YAML; else the id made readable. Metrics of direction -1 are called reversed.
    """
    means = overall(results).groupby("metric")["estimate"].mean().sort_values(ascending=False, kind="stable")
    out = {}
    for metric in means.index:
        title = METRICS[metric].title if metric in METRICS else spelled_out(metric)
        out[metric] = titles.get(metric, title) + (", reversed" if directions.get(metric, 1) == -1 else "")
    return out
