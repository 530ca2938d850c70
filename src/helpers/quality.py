"""Whom to trust: quality control of workers by a degraded control system, and standardised scores (Ji et al. 2022).

Every worker rates ordinary systems and a control whose replies are deliberately bad. A worker who does not rate the
control lower than the others has not paid attention, or cannot tell, and is left out (section 3.2). The scores of each
worker are then brought to mean 0 and standard deviation 1: lenient and strict workers count alike (section 3.3).

All functions start from `ratings`. A worker is an annotator within one corpus (run).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd
from scipy.special import ndtr

from helpers.collection import evaluated
from helpers.labels import METHODS, Label

WORKER = ["corpus", "annotator"]
OVERALL = "overall"


def main_method(annotations: pd.DataFrame, control: str) -> str:
    """The method by which the control was rated most often in the evaluation itself, comparisons left out.

    Raises ValueError where the control was never rated.

    Checked by hand.
    """
    rated = evaluated(annotations[(annotations["system"] == control) & annotations["dialogue_b"].isna()])
    if rated.empty:
        raise ValueError(f"control_system: expected a system that was rated, found {control!r}")
    return str(rated["method"].value_counts().index[0])


def ratings(annotations: pd.DataFrame, labels: Iterable[Label], method: str) -> pd.DataFrame:
    """The ratings of one method by people who are known, turned so that a high score is good. Pilots and gold units,
    which are no runs of the evaluation, stay out.

    A label of direction -1 is reversed on its scale (100 - x on a scale from 0 to 100, Ji et al. 2022, section 3.3);
    labels of direction 0, which are neither good nor bad, stay out. Columns as in `schema.ANNOTATIONS`.

    Checked by hand.
    """
    if METHODS[method].unit == "pair":
        raise ValueError(f"method: expected ratings of single dialogues or turns, found {method!r}")
    kept = annotations["annotator_known"] & (annotations["annotator_kind"] == "human")
    out = evaluated(annotations[kept & (annotations["method"] == method)]).reset_index(drop=True)
    known = {label.id: label for label in labels if label.method == method}
    direction = out["label"].map({id_: label.direction for id_, label in known.items()})
    ends = out["label"].map({id_: sum(label.scale) for id_, label in known.items()})
    out["score"] = out["score"].where(direction != -1, ends - out["score"])
    return out[direction != 0].reset_index(drop=True)


def rank_sum(block: np.ndarray, first: np.ndarray, values: np.ndarray) -> pd.DataFrame:
    """Wilcoxon's rank-sum (Mann-Whitney) test of two samples, in many blocks at once.

    Parameters
    ----------
    block : (n,) codes from 0; first : (n,) whether the value belongs to the first sample of its block; values : (n,)
        without missing ones.

    Returns
    -------
    One row a block, in the order of codes: n_first, n_second; `superiority`, the share of pairs in which the first is
    larger (ties half); `p_less`, `p_greater`, one-sided: the first tends to be lower, higher. Missing where a sample is
    empty; 1 where all values are equal.

    Notes
    -----
    Normal approximation with correction for ties and continuity. Checked against `scipy.stats.mannwhitneyu` with
    `method="asymptotic"`.
    """
    size = int(block.max()) + 1 if len(block) else 0
    frame = pd.DataFrame({"block": block, "value": values})
    ranks = frame.groupby("block")["value"].rank().to_numpy()
    n1 = np.bincount(block, first, size)
    n = np.bincount(block, minlength=size)
    n2 = n - n1
    u = np.bincount(block, np.where(first, ranks, 0), size) - n1 * (n1 + 1) / 2
    ties = frame.groupby(["block", "value"]).size()
    tied = np.bincount(ties.index.get_level_values("block"), (ties**3 - ties).to_numpy(float), size)
    with np.errstate(divide="ignore", invalid="ignore"):
        sd = np.sqrt(n1 * n2 / 12 * (n + 1 - tied / (n * (n - 1))))
        superiority, shift = u / (n1 * n2), u - n1 * n2 / 2
        p_less, p_greater = (np.where(sd > 0, ndtr((s - -0.5) / sd), 1.0) for s in (shift, -shift))
    empty = (n1 == 0) | (n2 == 0)
    p_less, p_greater, superiority = (np.where(empty, np.nan, v) for v in (p_less, p_greater, superiority))
    columns = {"n_first": n1.astype(int), "n_second": n2.astype(int), "superiority": superiority}
    return pd.DataFrame(columns | {"p_less": p_less, "p_greater": p_greater})


def worker_tests(scores: pd.DataFrame, control: str, labels: Iterable[str] = ()) -> pd.DataFrame:
    """How surely each worker rates the control below the other systems (Ji et al. 2022, section 3.2).

    Parameters
    ----------
    scores : from `ratings`.
    labels : the labels whose ratings are pooled in the test; none: all. Ji et al. use the positively worded ones.

    Returns
    -------
    One row a worker, in the order first met: corpus, annotator, n_control, n_ordinary, `superiority` of the control,
    `p` (one-sided, control lower; missing where the worker rated only one side), `sd` of all the worker's scores
    (ddof 1; of all labels, the control among them), n_units (work units).

    Notes
    -----
    All ratings of the worker in the corpus are pooled, over several work units too. With 5 ratings of the control and
    25 of the others the normal approximation is coarse; the exact test needs untied scores. Checked against
    `scipy.stats.mannwhitneyu` and against the released verdicts of both runs.
    """
    keys = scores.groupby(WORKER, sort=False)
    workers = keys.agg(sd=("score", "std"), n_units=("work_unit", "nunique")).reset_index()
    code = keys.ngroup().to_numpy()
    tested = (scores["label"].isin(list(labels)) if labels else scores["label"].notna()).to_numpy()
    found = rank_sum(code[tested], (scores["system"] == control).to_numpy()[tested], scores["score"].to_numpy()[tested])
    found = found.reindex(range(len(workers)))
    workers["n_control"], workers["n_ordinary"] = (found[c].fillna(0).astype(int) for c in ("n_first", "n_second"))
    return workers.assign(superiority=found["superiority"], p=found["p_less"])


def passes(tests: pd.DataFrame, alpha: float = 0.05) -> pd.Series:
    """Whether each worker of `worker_tests` passes: p below alpha, and not one score throughout.

    A worker without a rating of the control has no p and does not pass.

    Checked by hand.
    """
    return ((tests["p"] < alpha) & (tests["sd"] > 0)).rename("passes")


def of_workers(rows: pd.DataFrame, workers: pd.DataFrame, verdict: pd.Series) -> pd.Series:
    """The verdict of each row's worker; missing where `workers` does not have the worker.

    Checked through the sets of `quality_control.crowd`, against scipy's tests of each worker.
    """
    known = pd.Series(verdict.to_numpy(), pd.MultiIndex.from_frame(workers[WORKER]), dtype=object)
    return pd.Series(known.reindex(pd.MultiIndex.from_frame(rows[WORKER])).to_numpy(), rows.index)


def last_of_family(scores: pd.DataFrame, families: Mapping[str, Iterable[str]]) -> pd.Series:
    """Whether a rating is of the last dialogue, within its work unit, with its family of systems.

    families : name -> systems; a system without a family is its own. The order is that of the source. Ji et al. 2022
    met some architectures twice in a task; their released standard scores rest on the last of each.

    Checked by hand.
    """
    family = {system: name for name, systems in families.items() for system in systems}
    key = [scores["corpus"], scores["work_unit"], scores["system"].map(lambda s: family.get(s, s))]
    last = scores["source_row"].groupby(key).transform("max")
    at = pd.Series(scores["dialogue"].to_numpy(), index=scores["source_row"])
    return pd.Series(scores["dialogue"].to_numpy() == at.loc[last].to_numpy(), index=scores.index)


def standardise(scores: pd.DataFrame, over: pd.Series | None = None) -> pd.Series:
    """Scores less the worker's mean, over the worker's standard deviation (ddof 1; Ji et al. 2022, section 3.3).

    over : which ratings mean and standard deviation come from; all of the worker's in the corpus by default, those of
    the control among them. Missing where the worker gave one score only. Checked against `scipy.stats.zscore` and the
    printed means of both runs.
    """
    base = scores["score"] if over is None else scores["score"].where(over)
    grouped = base.groupby([scores[c] for c in WORKER])
    sd = grouped.transform("std")
    return ((scores["score"] - grouped.transform("mean")) / sd.where(sd > 0)).rename("z")


def system_means(scores: pd.DataFrame, value: str) -> pd.DataFrame:
    """Mean of `value` by corpus, system and label, and `overall`, the mean of the labels' means; with n dialogues.

    Ratings without a value stay out. `overall` is missing where a system lacks one of the labels of its corpus.

    Checked by hand.
    """
    rows = scores[scores[value].notna()]
    keys = ["corpus", "system"]
    wide = rows.groupby([*keys, "label"], sort=False)[value].mean().unstack("label")  # noqa: PD010 no repeats here
    asked = rows.groupby(["corpus", "label"], sort=False).size().unstack("label").reindex(wide.index, level="corpus")  # noqa: PD010
    overall = wide.mean(axis=1).where((wide.notna() | asked.isna()).all(axis=1))
    n = rows.drop_duplicates([*keys, "dialogue"]).groupby(keys).size()
    out = wide.assign(**{OVERALL: overall}).reset_index().melt(keys, var_name="label", value_name="estimate")
    out = out.dropna(subset="estimate")
    return out.assign(n=n.reindex(pd.MultiIndex.from_frame(out[keys])).to_numpy()).reset_index(drop=True)


def dialogue_means(scores: pd.DataFrame, value: str) -> pd.DataFrame:
    """One row a dialogue: corpus, system, dialogue, annotator (the first), work_unit, and the mean of its values.

    The mean is that of the labels' means, so that labels judged more often do not weigh more.

    Checked by hand.
    """
    rows = scores[scores[value].notna()]
    keys = ["corpus", "system", "dialogue"]
    means = rows.groupby([*keys, "label"], sort=False)[value].mean().groupby(keys, sort=False).mean()
    who = rows.groupby(keys, sort=False)[["annotator", "work_unit"]].first()
    return who.assign(value=means).reset_index()
