"""Which workers can be trusted, and do results replicate? The results of notebook 10.

As published (Ji et al. 2022): workers who do not rate a degraded control lower than the other systems are excluded,
scores are standardised per worker, and two runs are compared by the correlation of their system means. As we would
defend it: the same correlation compared with that without quality control, among workers who failed, among equally many
workers drawn at random, and of effects that are not known in advance; intervals that resample workers; contradictory
conclusions distinguished from those that one run lacked the power to reach.

The key `workers` of a result is a set of workers (see `crowd`); `list` says that a list of verdicts in the data takes
the place of the rule.

Ji et al. 2022 read the effect of a variant, and what changes between runs, from tables of means: whether systems are
better with a persona (section 5), and what changes when topics are prescribed (section 6). Here each is one number with
its interval:

- The effect of a variant is the mean, with equal weights, over families and runs, of the variant's mean minus the plain
  system's. Its interval leaves out one worker at a time and applies to other workers who rate the same systems.
- A change is a system's mean in a run minus that in the first one, and the mean of that over systems. What else differs
  between the runs (workers, days) is part of it: two runs of the same design show how much that is.

A worker who took part in several runs counts once. The labels of one effect are tested at once (Sidak): their p-values
and intervals are adjusted for their number. The mean of all labels is a test of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr

from judgebook.questions.quality_control import replication, worker_summary
from judgebook.questions.quality_control.replication import Quantity, Tally, replicates
from judgebook.questions.quality_control.worker_tests import OVERALL, SETS, WORKER, Crowd, passes, verdict_of
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
        From `worker_summary.pairs`.
    permute_seed : int
        Of random sets of workers.
    sampling : Sampling
        Of intervals.
    """
    confidence = sampling.confidence
    rows = resampled(crowd, sampling)
    stored = rows[rows["statistic"] != "system_gap"].groupby("statistic")
    return collect(
        *(part[["statistic", *(c for c in columns(s) if c in part)]] for s, part in stored),
        *replication.gain(crowd, RAW_AND_Z, seed=permute_seed, confidence=confidence),
        effects_of(crowd, confidence),
        concordances(rows, crowd.options.levels),
        *thresholds(crowd, crowd.options.thresholds),
        about_workers(crowd, facts, units, sizes, sampling),
        worker_summary.pair_summary(pairs),
        worker_summary.same_topics(crowd.scores, facts),
    )


def resampled(c: Crowd, sampling: Sampling) -> pd.DataFrame:
    """Everything for which workers are resampled: replication for every set, means for those who passed, differences of
    systems for both of them and all."""
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
    out = [replication.correlations(t, c.options.families, overall=scores == "raw")]
    if workers == "passed":
        out.append(replication.levels(t, f"mean_{scores}", overall=False))
    if scores == "z" and workers in ("all", "passed"):
        two = [(a, b) for i, a in enumerate(t.systems) for b in t.systems[i + 1 :]]
        out.append(replication.differences(t, "system_gap", two))
    return out


def effects_of(c: Crowd, confidence: float) -> Iterator[dict[str, Any]]:
    """Of workers who passed: the variant's effect on standardised scores, and changes of raw scores between runs."""
    for scores, value in RAW_AND_Z.items():
        t = _tally(c, "passed", value)
        pairs = paired(t, c.options.families)
        if scores == "z":
            wanted = [variants(t, pairs)] if len(pairs) > 1 else []
        else:
            wanted = [changes(t)] if len(t.corpora) > 1 else []
        if wanted and len(t.people):
            same = {"scores": scores, "workers": "passed"}
            yield from (row | same for row in over_workers(t, wanted, confidence))


def concordances(differences: pd.DataFrame, levels: Sequence[float]) -> Iterator[dict[str, Any]]:
    """`replication.concordance` of gaps between systems by t tests over workers (`test` wald)."""
    gaps = differences[differences["statistic"] == "system_gap"].drop(columns="standardised")
    gaps = gaps.assign(p_value=replication.wald(gaps) if len(gaps) else [])
    for (scores, workers), part in gaps.groupby(["scores", "workers"], sort=False):
        for alpha in levels:
            for row in replication.concordance(part, alpha):
                yield row | {"test": "wald", "scores": scores, "workers": workers}


def thresholds(c: Crowd, values: Sequence[float]) -> Iterator[pd.DataFrame]:
    """r (`replication_r`, without interval) and the number of workers (`qc_count`) as the p-value below which workers
    pass changes."""
    for value in values:
        workers = c.workers.assign(kept=passes(c.workers, value))
        rows, where = c.scores[verdict_of(c.scores, workers, "kept").astype(bool)], {"threshold": value}
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
    """Numbers, by rule and list; times, opinions and lengths of texts before and after quality control; costs."""
    per_unit = worker_summary.planned_dialogues(c.scores, c.control)
    dialogues = c.scores.drop_duplicates(["corpus", "dialogue"])[[*WORKER, "dialogue"]]
    for verdict, key in c.verdicts.items():
        counted = worker_summary.numbers(units, c.workers, per_unit, verdict=verdict, confidence=sampling.confidence)
        yield from (row | key for row in counted)
    yield from worker_summary.minutes(units, c.workers, sampling=sampling)
    yield from worker_summary.opinions(dialogues, facts, c.workers)
    yield from worker_summary.median_lengths(sizes, c.workers)
    yield from worker_summary.designs(c.scores, c.control, facts)
    if c.options.payment:
        yield from worker_summary.costs(units, c.workers, c.options.payment, len(c.systems), per_unit)


def paired(t: Tally, families: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """The variant and the plain system of every family that has both."""
    return [(f[1], f[0]) for f in families.values() if len(f) > 1 and set(f[:2]) <= set(t.systems)]


def contrasts(m: np.ndarray, t: Tally, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
    """(…, corpora, families, labels + 1): the variants' means minus the plain systems'.

    m : (…, corpora, systems, labels + 1).
    """
    at = [[t.systems.index(pair[side]) for pair in pairs] for side in (0, 1)]
    return m[..., at[0], :] - m[..., at[1], :]


def variants(t: Tally, pairs: Sequence[tuple[str, str]]) -> Quantity:
    """`variant_effect`: the mean over families and runs; n counts the differences averaged."""
    head = {"statistic": "variant_effect", "interval": "workers", "n": len(pairs) * len(t.corpora)}
    return Quantity(_by_label(t, head), lambda m: contrasts(m, t, pairs).mean(axis=(1, 2)))


def changes(t: Tally) -> Quantity:
    """`run_change`: every system's mean minus that in the first corpus, and the mean of these over systems.

    n counts the systems.
    """
    ids: list[dict] = []
    for corpus in t.corpora[1:]:
        head = {"statistic": "run_change", "corpus": corpus, "against": t.corpora[0]}
        ids += [head | {"system": system, "n": 1} for system in t.systems] + [head | {"n": len(t.systems)}]

    def values(m: np.ndarray) -> np.ndarray:
        d = m[:, 1:] - m[:, :1]
        return np.concatenate([d, d.mean(axis=2, keepdims=True)], axis=2).reshape(len(m), -1)

    return Quantity([row for head in ids for row in _by_label(t, head)], values)


def _by_label(t: Tally, head: dict) -> list[dict]:
    return [{"level": "dialogue", **head, "label": label} for label in (*t.labels, OVERALL)]


def over_workers(t: Tally, quantities: Sequence[Quantity], confidence: float = 0.95) -> Iterator[dict[str, Any]]:
    """The rows of quantities that are linear in means, with intervals and p-values over workers."""
    # of the resamples nothing is used but the values without one worker
    replicated = replicates(t, quantities, np.random.default_rng(0), n_resamples=2)
    strata = 0 if replicated.groups is None else len(np.unique(replicated.groups))
    rows = [row for quantity in quantities for row in quantity.rows]
    for i, row in enumerate(rows):
        tests = _tests(t, row["label"])
        level = confidence ** (1 / tests)
        one = replicated.jackknife_interval(i, level, bounded=False)
        kind = "simultaneous" if one.kind == "jackknife_t" and tests > 1 else one.kind
        p = _p_value(one.estimate, one.standard_error, one.n_units - strata)
        yield row | one.row() | {"ci_kind": kind} | _adjusted(p, tests)


def _tests(t: Tally, label: str) -> int:
    return 1 if label == OVERALL else len(t.labels)


def _p_value(estimate: float, error: float, df: int) -> float:
    return float(2 * stdtr(df, -abs(estimate) / error)) if error > 0 else np.nan


def _adjusted(p: float, tests: int) -> dict:
    """p-values: Sidak's adjustment is that of the intervals (`multiplicity.simultaneous_t`)."""
    return {
        "p_value": p,
        "p_adjusted": -np.expm1(tests * np.log1p(-p)),
        "family": f"{tests} labels of an effect, sidak",
    }
