"""Which workers can be trusted, and do results replicate? The results of notebook 10.

As published (Ji et al. 2022): workers who do not rate a degraded control lower than the other systems are excluded,
scores are standardised per worker, and two runs are compared by the correlation of their system means. As we would
defend it: the same correlation compared with that without quality control, among workers who failed, among equally many
workers drawn at random, and of effects that are not known in advance; intervals that resample workers; contradictory
conclusions distinguished from those that one run lacked the power to reach.

The key `workers` of a result is a set of workers (see `crowd`); `list` says that a list of verdicts in the data takes
the place of the rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgebook.questions.quality_control import effects, gain, replication, system_scores, worker_pairs, worker_summary
from judgebook.questions.quality_control.crowd import SETS, Crowd
from judgebook.questions.quality_control.replication import Quantity, Tally
from judgebook.questions.quality_control.worker_tests import OVERALL, WORKER, passes, verdict_of
from judgebook.statistics.intervals import Sampling
from judgebook.study.results import Results, collect, columns
from judgebook.study.schema import DialogueFacts, Dialogues

#: kind of score -> column of `Crowd.scores`
RAW_AND_Z = {"z": "z", "raw": "score"}


def analyse(
    crowd: Crowd,
    facts: DialogueFacts,
    units: pd.DataFrame,
    sizes: pd.DataFrame,
    pairs: pd.DataFrame,
    *,
    permute_seed: int,
    sampling: Sampling,
) -> Results:
    """All results of notebook 10.

    Parameters
    ----------
    facts : DialogueFacts
    units : DataFrame
        From `worker_summary.work_units`; empty where the data do not identify work units.
    sizes : DataFrame
        From `text_lengths`.
    pairs : DataFrame
        From `worker_pairs.pairs`.
    permute_seed : int
        Of random sets of workers.
    sampling : Sampling
        Of intervals.
    """
    confidence = sampling.confidence
    replication_results = resampled(crowd, sampling)
    return collect(
        *with_intervals(replication_results),
        spread(replication_results),
        *gain.gain(crowd, RAW_AND_Z, seed=permute_seed, confidence=confidence),
        effects_of(crowd, confidence),
        concordances(replication_results, crowd.options.levels),
        *thresholds(crowd, crowd.options.thresholds),
        agreement_with_lists(crowd),
        about_workers(crowd, facts, units, sizes, sampling),
        worker_pairs.pair_summary(pairs),
        worker_pairs.same_topics(crowd.scores, facts),
    )


def agreement_with_lists(c: Crowd) -> Iterator[dict[str, Any]]:
    """`verdict_agreement`: share of workers with the same verdict by the rule and by each list in the data."""
    for name in c.lists:
        for corpus, part in c.workers.groupby("corpus", sort=False):
            same = part["passed"] == part[name]
            row = {"statistic": "verdict_agreement", "corpus": corpus, "level": "worker", "list": name, "n": len(part)}
            yield row | {"estimate": same.mean(), "note": f"{(~same).sum()} differ"}


def resampled(c: Crowd, sampling: Sampling) -> pd.DataFrame:
    """Everything for which workers are resampled, with `bias` and `standard_error`.

    Replication and means for every set, differences of systems for all and passed, those of variants and runs for
    passed.
    """
    out, n, level = [], sampling.n_resamples, sampling.confidence
    for workers in SETS:
        for scores, value in RAW_AND_Z.items():
            t = _tally(c, workers, value)
            if len(t.people):
                rng, quantities = sampling.stream("replication", workers, scores), _quantities(c, t, workers, scores)
                estimated = replication.resampled(t, quantities, rng=rng, n_resamples=n, confidence=level)
                over = "all" if scores == "z" else None
                out.append(estimated.assign(workers=workers, scores=scores, standardised=over, interval="workers"))
    rows = pd.concat(out, ignore_index=True)
    return rows.reindex(columns=[*dict.fromkeys([*rows, "among", "against"])])  # absent where there is one corpus


def _tally(c: Crowd, column: str, value: str) -> Tally:
    return replication.tally(c.scores[c.scores[column]], value, c.corpora, c.shared)


def _quantities(c: Crowd, t: Tally, workers: str, scores: str) -> list[Quantity]:
    families, passed, raw = c.options.families, workers == "passed", scores == "raw"
    out = [replication.correlations(t, families, overall=raw)]
    out.append(replication.levels(t, f"mean_{scores}", overall=not passed))
    if not raw and workers in ("all", "passed"):
        two = [(a, b) for i, a in enumerate(t.systems) for b in t.systems[i + 1 :]]
        out.append(replication.differences(t, "system_gap", two))
    if passed:
        out.append(replication.differences(t, "variant_contrast", effects.paired(t, families), overall=raw))
    return out


def with_intervals(effect_rows: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """What is stored of `resampled`: means of sets other than `passed` only serve `spread`, gaps `concordances`."""
    bias = effect_rows[effect_rows["statistic"] == "replication_r"]
    bias = bias[["corpus", "level", "label", "n", "against", "among", "scores", "standardised", "workers", "bias"]]
    yield bias.rename(columns={"bias": "estimate"}).assign(statistic="replication_bias")
    means = effect_rows["statistic"].isin(["mean_z", "mean_raw"])
    stored = effect_rows[(effect_rows["statistic"] != "system_gap") & (~means | (effect_rows["workers"] == "passed"))]
    for statistic, rows in stored.groupby("statistic"):
        yield rows[["statistic", *(c for c in columns(statistic) if c in rows)]]


def effects_of(c: Crowd, confidence: float) -> pd.DataFrame:
    """`effects.effects` of workers who passed, on both kinds of scores."""
    estimated = [
        effects.effects(_tally(c, "passed", value), c.options.families, confidence).assign(scores=scores)
        for scores, value in RAW_AND_Z.items()
    ]
    return pd.concat(estimated, ignore_index=True).assign(workers="passed")


def spread(effect_rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """`spread`, the standard deviation (ddof 1) of the systems' overall means, and `standard_error`, the root mean
    square over systems of their resampled standard errors."""
    rows = effect_rows[effect_rows["statistic"].isin(["mean_z", "mean_raw"]) & (effect_rows["label"] == OVERALL)]
    keys = ["corpus", "workers", "scores"]
    for values, part in rows.groupby(keys, sort=False):
        row = {"level": "system", "n": len(part), **dict(zip(keys, values, strict=True))}
        error = np.sqrt(np.mean(part["standard_error"] ** 2))
        yield row | {"statistic": "spread", "estimate": part["estimate"].std()}
        yield row | {"statistic": "standard_error", "estimate": error}


def concordances(differences: pd.DataFrame, levels: Sequence[float]) -> Iterator[dict[str, Any]]:
    """`system_scores.concordance` of gaps between systems by t tests over workers (`test` wald)."""
    gaps = differences[differences["statistic"] == "system_gap"].drop(columns="standardised")
    gaps = gaps.assign(p_value=system_scores.wald(gaps) if len(gaps) else [])
    for (scores, workers), part in gaps.groupby(["scores", "workers"], sort=False):
        for alpha in levels:
            for row in system_scores.concordance(part, alpha):
                yield row | {"test": "wald", "scores": scores, "workers": workers}


def thresholds(c: Crowd, values: Sequence[float]) -> Iterator[pd.DataFrame]:
    """The ranking by mean z (`threshold_rank`), r (`replication_r`, without interval) and the number of workers
    (`qc_count`) as the p-value below which workers pass changes."""
    for value in values:
        workers = c.workers.assign(kept=passes(c.workers, value))
        rows, where = c.scores[verdict_of(c.scores, workers, "kept").astype(bool)], {"threshold": value}
        rated = rows[rows["system"].isin(c.systems)].pivot_table("z", ["corpus", "system"], "label")
        for _, of_run in rated.groupby("corpus", sort=False):
            overall = of_run.dropna(axis=1, how="all").mean(axis=1, skipna=False).dropna()
            ranks = overall.rank(ascending=False).rename("estimate").reset_index()
            yield ranks.assign(statistic="threshold_rank", level="system", scores="z", **where)
        n = rows.groupby("corpus")["annotator"].nunique().reindex(c.corpora, fill_value=0).rename("estimate")
        yield n.reset_index().assign(statistic="qc_count", level="system", what="workers", **where)
        t = replication.tally(rows, "z", c.corpora, c.shared)
        if len(t.people) and len(c.corpora) > 1:
            r = replication.estimates(t, replication.correlations(t, {}, overall=True))
            yield r.assign(scores="z", standardised="all", workers="passed", **where)


def text_lengths(c: Crowd, dialogues: Dialogues) -> pd.DataFrame:
    """`worker_summary.lengths` of dialogues with ordinary systems, with annotator and `passed`."""
    who = c.scores.loc[c.scores["system"] != c.control].drop_duplicates(["corpus", "dialogue"])
    sizes = worker_summary.lengths(dialogues).merge(who[[*WORKER, "dialogue", "passed"]], on=["corpus", "dialogue"])
    return sizes if dialogues["user_text"].notna().any() else sizes.iloc[:0]


def about_workers(
    c: Crowd, facts: DialogueFacts, units: pd.DataFrame, sizes: pd.DataFrame, sampling: Sampling
) -> Iterator[dict[str, Any]]:
    """Numbers, times, opinions, lengths of texts before and after quality control, by rule and list; costs."""
    per_unit = worker_summary.planned_dialogues(c.scores, c.control)
    dialogues = c.scores.drop_duplicates(["corpus", "dialogue"])[[*WORKER, "dialogue"]]
    for verdict, key in c.verdicts.items():
        parts = (
            worker_summary.numbers(units, c.workers, per_unit, verdict=verdict, confidence=sampling.confidence),
            worker_summary.minutes(units, c.workers, verdict=verdict, sampling=sampling),
            worker_summary.opinions(dialogues, facts, c.workers, verdict=verdict),
            worker_summary.median_lengths(sizes, c.workers, verdict=verdict),
        )
        yield from (row | key for rows in parts for row in rows)
    yield from worker_summary.designs(c.scores, c.control, facts)
    if c.options.payment:
        yield from worker_summary.costs(units, c.workers, c.options.payment, len(c.systems), per_unit)
