"""Everything notebook 09 computes: metrics against people, what could be reached, and metrics against each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from helpers import ceiling, metric_comparison, metric_correlation
from helpers.collection import evaluated
from helpers.correlation import COEFFICIENTS, correlate
from helpers.labels import Label
from helpers.metric_items import human_means, join, tables
from helpers.schema import condition

#: what names a data set: the ratings of one kind in one corpus
DATA_SET = ["corpus", "method"]


def oriented(scores: pd.DataFrame, directions: Mapping[str, int]) -> pd.DataFrame:
    """Scores with those metrics turned around (times -1) that are lower for better systems. Checked by hand."""
    sign = scores["metric"].map(lambda m: directions.get(m, 1)).astype(float)
    return scores.assign(score=scores["score"] * sign)


def rated(annotations: pd.DataFrame, corpora: Sequence[str] = ()) -> pd.DataFrame:
    """The judgements by people that are ratings of turns or dialogues, in the named corpora (those of the evaluation
    itself: none named).

    Checked by hand.
    """
    people = annotations[(annotations["annotator_kind"] == "human") & annotations["dialogue_b"].isna()]
    return people[people["corpus"].isin(list(corpora))] if corpora else evaluated(people)


def analyse(
    annotations: pd.DataFrame,
    scores: pd.DataFrame,
    labels: Iterable[Label],
    *,
    unranked: Sequence[str] = (),
    seed: int,
    permute_seed: int,
    n_resamples: int = 10_000,
    rank_resamples: int = 2_000,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Result rows of every analysis.

    Parameters
    ----------
    annotations, scores : frames
        From `rated` and `oriented`.
    labels : of the study; those of direction -1 are turned around.
    unranked : systems left out at system level: people and dummies, which any metric tells from the rest.
    seed, permute_seed : of intervals, and of permutations.
    n_resamples : of contexts and systems, and permutations; rank_resamples : of correlations, ranked anew in each.

    Returns
    -------
    Rows of `correlations` (Spearman, Pearson, Kendall), `within_context`, `system_level`, `averages`, `ceilings`,
    `replaceability`, `compare` and `between_metrics`.

    The functions that it calls are checked on their own; that their rows come through once and unchanged is checked
    against `metric_correlation.correlations`.
    """
    joined = join(human_means(annotations, labels), scores)
    options = {"seed": seed, "confidence": confidence}
    parts = []
    for coefficient in COEFFICIENTS:
        found = metric_correlation.correlations(joined, coefficient=coefficient, n_resamples=rank_resamples, **options)
        parts += [found, *_averages(found)]
    options["n_resamples"] = n_resamples
    if joined["context"].notna().any():
        parts.append(metric_correlation.within_context(joined, **options))
    ranked = joined[~joined["system"].isin(list(unranked))]
    if ranked["system"].nunique() > 2:
        for coefficient in ("spearman", "pearson"):
            parts.append(metric_correlation.system_level(ranked, coefficient=coefficient, **options))
    known = joined.drop_duplicates(["corpus", "method"])[DATA_SET]
    people = annotations.merge(known, on=DATA_SET)
    parts.append(ceiling.ceilings(people, **options))
    parts.append(ceiling.replaceability(people, scores, confidence=confidence))
    parts.append(metric_comparison.compare(joined, seed=permute_seed, n_permutations=n_resamples))
    parts.append(between_metrics(joined))
    return pd.concat([part for part in parts if len(part)], ignore_index=True)


def _averages(found: pd.DataFrame) -> list[pd.DataFrame]:
    """From the rows of `correlations` of one coefficient: means on Fisher's scale over the labels of a data set, and
    both means over data sets, each of which counts once with its plain mean over labels."""
    each = found[found["statistic"] == "correlation"]
    out = []
    for (corpus, method), rows in each.groupby(DATA_SET, sort=False):
        if len(set(rows["label"])) > 1:
            mean = metric_correlation.averages(rows, "label")
            fisher = mean[mean["condition"].str.contains("average=fisher")]
            out.append(fisher.assign(corpus=corpus, method=method, level=rows["level"].iloc[0]))
    sets = of_data_sets(found)
    if len(sets.drop_duplicates(DATA_SET)) > 1:
        out.append(metric_correlation.averages(sets, "data set"))
    return out


def of_data_sets(found: pd.DataFrame) -> pd.DataFrame:
    """One row a data set and metric from rows of one coefficient: the plain mean over labels, or the only label's.

    Checked by hand: means over labels, and means of these.
    """
    pooled = found[found["condition"].fillna("").str.contains("scope=pooled|over=label")]
    pooled = pooled[~pooled["condition"].str.contains("average=fisher")]
    mean = pooled[pooled["statistic"] == "mean_correlation"]
    single = pooled[pooled["statistic"] == "correlation"].merge(mean[[*DATA_SET, "metric"]], how="left", indicator=True)
    single = single[single["_merge"] == "left_only"].drop(columns="_merge")
    return pd.concat([mean, single], ignore_index=True).assign(statistic="correlation")


def between_metrics(joined: pd.DataFrame) -> pd.DataFrame:
    """Spearman's correlation of each two metrics over the items of a data set (Zhang et al. 2022, Figure 1):
    `metric_correlation` rows. Checked against scipy."""
    out = []
    for table in tables(joined):
        for a, b in combinations(range(len(table.metrics)), 2):
            r, reason = correlate(table.x[:, a], table.x[:, b])
            keys = condition(against=table.metrics[b], coefficient="spearman")
            row = table.head | {"statistic": "metric_correlation", "metric": table.metrics[a], "condition": keys}
            n = int(np.isfinite(table.x[:, [a, b]]).all(axis=1).sum())
            out.append(row | {"estimate": r, "n": n, "note": reason or None})
    return pd.DataFrame(out)
