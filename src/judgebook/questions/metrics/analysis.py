"""Which metrics agree with people? The results of notebook 09 as we would defend them; those of Zhang et al. 2022 as
published are computed there.

Spearman's correlation of a metric with the mean rating of each item, with contexts resampled, the ceiling set by the
raters' own noise, the correlation of system means, permutation tests between metrics, and whether metrics notice a
degraded control. Pearson's correlation of system means is as published (Ji et al. 2022, section 7).

The control of Ji et al. 2022 answers with random responses of its training set whose meaning is distorted: a run of 1
to 5 words (a fifth of the words from 30 on; not the first or last of three or more) is replaced by words of another
dialogue (section 3.2, appendix A.1). Workers pass if they rate it lower than the other systems. The same is asked of
metrics here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judgebook.annotations.cells import parts
from judgebook.annotations.summary import evaluated
from judgebook.questions.metrics.correlations import ceilings, correlations, system_level
from judgebook.questions.metrics.differences import differences, system_differences
from judgebook.questions.metrics.items import ITEM, human_means, join
from judgebook.questions.metrics.text_metrics import METRICS
from judgebook.statistics.intervals import Sampling
from judgebook.statistics.resampling import ratio_interval
from judgebook.study.labels import METHODS, Label, spelled_out
from judgebook.study.results import ResultRows, Results, collect
from judgebook.study.schema import Annotations

#: what names a data set: the ratings of one kind in one corpus
DATA_SET = ["corpus", "method"]
_WHO = ["corpus", "method", "annotator"]


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
    joined = join(human_means(annotations, labels), scores)
    ranked = joined[~joined["system"].isin(list(unranked))]
    systems = ("spearman", "pearson") if ranked["system"].nunique() > 2 else ()
    people = annotations.merge(joined.drop_duplicates(DATA_SET)[DATA_SET], on=DATA_SET)
    return collect(
        correlations(joined, sampling=replace(sampling, n_resamples=rank_resamples)),
        *(system_level(ranked, c, sampling=sampling) for c in systems),
        above_control(people[people["annotator_known"]], scores, labels, control, sampling=sampling) if control else (),
        ceilings(people, sampling=sampling),
        differences(joined, seed=permute_seed, n_permutations=sampling.n_resamples),
        system_differences(ranked, seed=permute_seed, n_permutations=sampling.n_resamples),
    )


def above_control(
    annotations: Annotations,
    scores: pd.DataFrame,
    labels: Iterable[Label],
    control: str,
    *,
    sampling: Sampling,
) -> Iterator[dict[str, Any]]:
    """How often an item of another system scores higher than an item of the control.

    Parameters
    ----------
    annotations : DataFrame
        People's ratings, with annotators known.
    scores : DataFrame
        Of metrics, high for good items: corpus, dialogue, turn, metric, score.
    labels : iterable of Label
        Those of direction -1 are reversed.
    control : str
        The degraded system.

    Yields
    ------
    `above_control` for each corpus, method and label (by people's ratings) or metric: the share of pairs of an ordinary
    item and one of the control, both rated by the same annotator, in which the former scores higher; equal ones count
    half, so 0.5 is chance. It is the mean over annotators, who are resampled (BCa). `n`: pairs.
    """
    bad = {(label.method, label.id) for label in labels if label.direction == -1}
    sign = np.array([-1 if key in bad else 1 for key in zip(annotations["method"], annotations["label"], strict=True)])
    people = annotations.assign(value=annotations["score"] * sign, metric=None)
    items = annotations.drop_duplicates([*_WHO, "dialogue", "turn"])[[*_WHO, "system", "dialogue", "turn"]]
    metrics = items.merge(scores.rename(columns={"score": "value"}), on=ITEM).assign(label=None)
    for of in (people, metrics):
        by = ["corpus", "method", "label" if of is people else "metric"]
        for key, rows in parts(of.dropna(subset="value"), by, sort=False):
            each = np.array(
                [_pairs(of_annotator, control) for _, of_annotator in rows.groupby("annotator", sort=False)]
            )
            each = each[each[:, 1] > 0]
            if len(each) > 1:
                sums = np.column_stack([each[:, 0] / each[:, 1], np.ones(len(each))])
                rng = sampling.stream("above_control", *key.values())
                interval = ratio_interval(sums, "annotator", rng, sampling)
                head = {"statistic": "above_control", "level": METHODS[key["method"]].unit}
                yield {**head, "n": int(each[:, 1].sum()), **key, **interval.row()}


def _pairs(rows: Annotations, control: str) -> tuple[float, int]:
    """Pairs of one annotator in which the ordinary item scores higher, and all pairs."""
    of_control = (rows["system"] == control).to_numpy()
    value = rows["value"].to_numpy(dtype=float)
    low, other = np.sort(value[of_control]), value[~of_control]
    below, upto = (np.searchsorted(low, other, side) for side in ("left", "right"))
    return float((below.sum() + upto.sum()) / 2), len(low) * len(other)


def overall(results: Results) -> ResultRows:
    """One row per data set and metric: the plain mean of Spearman's correlations over labels, or that of the only
    label."""
    means = results.select("mean_correlation", over="label", coefficient="spearman")
    single = results.select("correlation", scope="pooled", coefficient="spearman")
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
