"""Do two workers agree? Correlations of pairs of workers, and topics that two workers with the same task chose.

Every worker rates conversations of their own, so that two workers never rate the same dialogue; what they share is the
systems (Ji et al. 2022, section 4.1, Figure 2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import nan
from typing import Any

import numpy as np
import pandas as pd

from judgebook.questions.quality_control.crowd import Crowd
from judgebook.questions.quality_control.worker_summary import OPINION
from judgebook.questions.quality_control.worker_tests import dialogue_means, verdict_of
from judgebook.study.schema import DialogueFacts

#: fact of a dialogue: the task it was held in
TASK = "hit"


def pairs(crowd: Crowd, facts: DialogueFacts) -> pd.DataFrame:
    """Every pair of work units of different workers: `pair_correlations` with columns `control` (whether the control is
    among the systems: with, without) and `pairs` (all, same task)."""
    means = dialogue_means(crowd.scores.dropna(subset="work_unit"), "score")
    task_of = facts.loc[facts["key"] == TASK, ["corpus", "dialogue", "value"]].merge(means, on=["corpus", "dialogue"])
    tasks = task_of.drop_duplicates("work_unit").set_index("work_unit")["value_x"]
    out = [pd.DataFrame(columns=["corpus", "workers", "r", "n", "control", "pairs"])]
    for control in ("with", "without") if len(means) else ():
        counted = means if control == "with" else means[means["system"] != crowd.control]
        for which, task in {"all": None, "same task": tasks}.items():
            if which == "all" or len(tasks):
                correlated = pair_correlations(counted, crowd.options.families, crowd.workers, tasks=task)
                out.append(correlated.assign(control=control, pairs=which))
    return pd.concat([f for f in out if len(f)] or out, ignore_index=True)


def pair_correlations(
    dialogues: pd.DataFrame,
    families: Mapping[str, Iterable[str]],
    workers: pd.DataFrame,
    *,
    tasks: pd.Series | None = None,
) -> pd.DataFrame:
    """Pearson correlation of each pair of work units of different workers, over the systems both rated.

    Parameters
    ----------
    dialogues : DataFrame
        From `worker_tests.dialogue_means`, of raw scores: one value per dialogue.
    families : mapping
        Systems of a family (say, an architecture with and without persona) count as one.
    workers : DataFrame
        corpus, annotator, passed.
    tasks : Series, optional
        Work unit -> task; only units with the same task are then compared.

    Returns
    -------
    DataFrame: corpus, workers (passed or failed: both of them; mixed), r, n (systems in common, at least three). Pairs
    in which one side is constant have no r and are left out.

    Notes
    -----
    The paper says "the Pearson correlation of ratings" of "pairs of workers who assessed the same hit" (section 4.1)
    and no more. Over the mean rating of a dialogue, the control among the systems, and all pairs of workers (every task
    shows the same model types), the peak is where the paper has it.
    """
    family = {system: name for name, systems in families.items() for system in systems}
    rows = dialogues.assign(kind=dialogues["system"].map(lambda s: family.get(s, s)))
    out = []
    for corpus, part in rows.groupby("corpus", sort=False):
        wide = part.pivot_table(index=["annotator", "work_unit"], columns="kind", values="value", sort=False)
        who, unit = (wide.index.get_level_values(i).to_numpy(object) for i in (0, 1))
        passed = verdict_of(pd.DataFrame({"corpus": corpus, "annotator": who}), workers).to_numpy(bool)
        i, j = np.triu_indices(len(wide), 1)
        keep = who[i] != who[j]
        if tasks is not None:
            task = tasks.reindex(unit).to_numpy(object)
            keep &= task[i] == task[j]
        i, j = i[keep], j[keep]
        r, n = _correlations(wide.to_numpy(float), i, j)
        verdicts = np.where(passed[i] & passed[j], "passed", np.where(passed[i] | passed[j], "mixed", "failed"))
        correlated = pd.DataFrame({"corpus": corpus, "workers": verdicts, "r": r, "n": n})
        out.append(correlated[np.isfinite(r)])
    return pd.concat(out, ignore_index=True)


def _correlations(x: np.ndarray, i: np.ndarray, j: np.ndarray, least: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Pearson r of rows i and j over the columns both have, and their number; NaN with fewer than `least`."""
    a, b = x[i], x[j]
    common = np.isfinite(a) & np.isfinite(b)
    n = common.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = (np.where(common, v, 0) for v in (a, b))
        a, b = (np.where(common, v - (v.sum(axis=1) / n)[:, None], 0) for v in (a, b))
        aa, bb = (a**2).sum(axis=1), (b**2).sum(axis=1)
        r = np.where((n >= least) & (aa > 1e-9) & (bb > 1e-9), (a * b).sum(axis=1) / np.sqrt(aa * bb), nan)
    return np.clip(r, -1, 1), n


def pair_summary(pairs: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """`worker_pair_r`: median of r, share below zero, and the edges of the fullest bin of width 0.1.

    pairs : from `pairs`. Of each run, and of all runs together (corpus missing). n counts pairs.
    """
    bins, keys = np.arange(-10, 11) / 10, ["corpus", "control", "pairs", "workers"]
    runs = pairs.groupby(["control", "pairs"])["corpus"].transform("nunique")
    for frame in (pairs, pairs[runs > 1].assign(corpus=None)):
        for values, part in frame.groupby(keys, sort=False, dropna=False):
            row = {"statistic": "worker_pair_r", **dict(zip(keys, values, strict=True)), "n": len(part)}
            peak = bins[np.histogram(part["r"], bins)[0].argmax()]
            of = {"median": part["r"].median(), "below_zero": (part["r"] < 0).mean()}
            of |= {"peak": peak, "peak_end": peak + 0.1}
            yield from (row | {"of": name, "estimate": value} for name, value in of.items())


def same_topics(scores: pd.DataFrame, facts: DialogueFacts) -> Iterator[dict[str, Any]]:
    """`same_topic_share`: how often two workers with the same task chose the same topic (Ji et al. 2022, section 4.1).

    scores : corpus, work_unit, dialogue, in the order of the source. Two dialogues are compared when their units share
    a task and they have the same place in them; topics are compared without case and outer spaces. n counts the pairs
    of dialogues.
    """
    key = ["corpus", "dialogue"]
    rows = scores.dropna(subset="work_unit").drop_duplicates(["work_unit", "dialogue"])[["work_unit", *key]]
    rows["place"] = rows.groupby("work_unit").cumcount()
    for fact, column, name in ((OPINION, "text", "topic"), (TASK, "value", "task")):
        topics = facts[facts["key"] == fact].drop_duplicates(key).rename(columns={column: name})
        rows = rows.merge(topics[[*key, name]].dropna(), on=key)
    rows["topic"] = rows["topic"].str.strip().str.casefold()
    compared = rows.merge(rows, on=["corpus", "task", "place"])
    compared = compared[compared["work_unit_x"] < compared["work_unit_y"]]
    for corpus, part in compared.groupby("corpus", sort=False):
        share = (part["topic_x"] == part["topic_y"]).mean()
        row = {"statistic": "same_topic_share", "corpus": corpus, "level": "dialogue"}
        yield row | {"estimate": share, "n": len(part)}
