"""Do two workers agree? Correlations of pairs of workers, and topics that two workers given one task chose.

Every worker rates chats of their own, so that two workers never rate the same dialogue; what they share is the systems
(Ji et al. 2022, section 4.1, Figure 2).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import nan

import numpy as np
import pandas as pd

from helpers.crowd import row


def pair_correlations(
    dialogues: pd.DataFrame,
    families: Mapping[str, Iterable[str]],
    verdicts: pd.Series,
    *,
    tasks: pd.Series | None = None,
) -> pd.DataFrame:
    """Pearson correlation of every two work units of different workers, over the systems both rated.

    Parameters
    ----------
    dialogues : from `quality.dialogue_means`, of raw scores: one value a dialogue.
    families : systems of a family (say, an architecture with and without persona) count as one.
    tasks : work unit -> task; only units with the same task are then compared.

    Returns
    -------
    corpus, workers (passed or failed: both of them; mixed), r, n (systems in common, at least three). Pairs in which
    one side is constant have no r and stay out.

    Notes
    -----
    The paper says "the Pearson correlation of ratings" of "pairs of workers who assessed the same hit" (section 4.1)
    and no more. Over the mean rating of a dialogue, the control among the systems, and all pairs of workers (every task
    shows the same model types), the peak lies where the paper has it. Checked against `numpy.corrcoef`.
    """
    family = {system: name for name, systems in families.items() for system in systems}
    rows = dialogues.assign(kind=dialogues["system"].map(lambda s: family.get(s, s)))
    out = []
    for corpus, part in rows.groupby("corpus", sort=False):
        wide = part.pivot_table(index=["annotator", "work_unit"], columns="kind", values="value", sort=False)
        who, unit = (wide.index.get_level_values(i).to_numpy(object) for i in (0, 1))
        passed = verdicts.reindex(pd.MultiIndex.from_arrays([[corpus] * len(who), who])).to_numpy(bool)
        i, j = np.triu_indices(len(wide), 1)
        keep = who[i] != who[j]
        if tasks is not None:
            task = tasks.reindex(unit).to_numpy(object)
            keep &= task[i] == task[j]
        i, j = i[keep], j[keep]
        r, n = _correlations(wide.to_numpy(float), i, j)
        both = np.where(passed[i] & passed[j], "passed", np.where(passed[i] | passed[j], "mixed", "failed"))
        found = pd.DataFrame({"corpus": corpus, "workers": both, "r": r, "n": n})
        out.append(found[np.isfinite(r)])
    return pd.concat(out, ignore_index=True)


def _correlations(x: np.ndarray, i: np.ndarray, j: np.ndarray, least: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Pearson r of rows i and j over the columns both have, and their number; NaN with fewer than `least`."""
    a, b = x[i], x[j]
    both = np.isfinite(a) & np.isfinite(b)
    n = both.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = (np.where(both, v, 0) for v in (a, b))
        a, b = (np.where(both, v - (v.sum(axis=1) / n)[:, None], 0) for v in (a, b))
        aa, bb = (a**2).sum(axis=1), (b**2).sum(axis=1)
        r = np.where((n >= least) & (aa > 1e-9) & (bb > 1e-9), (a * b).sum(axis=1) / np.sqrt(aa * bb), nan)
    return np.clip(r, -1, 1), n


def pair_summary(pairs: pd.DataFrame, bins: np.ndarray | None = None) -> pd.DataFrame:
    """Median, share below zero and the fullest of bins of width 0.1 (its lower edge) of r: `worker_pair_r` rows.

    pairs : from `pair_correlations`; both runs also taken together (corpus missing). Keys still apart; n counts pairs.

    Checked by hand.
    """
    bins = np.arange(-10, 11) / 10 if bins is None else bins
    parts = [(c, w, p) for (c, w), p in pairs.groupby(["corpus", "workers"], sort=False)]
    if len(set(pairs["corpus"])) > 1:
        parts += [(None, w, p) for w, p in pairs.groupby("workers", sort=False)]
    rows = []
    for corpus, workers, part in parts:
        count = np.histogram(part["r"], bins)[0]
        values = {"median": part["r"].median(), "below_zero": (part["r"] < 0).mean(), "peak": bins[count.argmax()]}
        for of, value in values.items():
            rows.append(row("worker_pair_r", corpus, value, {"of": of, "workers": workers}) | {"n": len(part)})
    return pd.DataFrame(rows)


def same_topics(dialogues: pd.DataFrame, facts: pd.DataFrame, topic: str, task: str) -> pd.DataFrame:
    """How often two workers given the same task chose the same topic (Ji et al. 2022, section 4.1).

    dialogues : corpus, work_unit, dialogue, place (of the dialogue within its unit). Two dialogues are compared when
    their units share the fact `task` and they stand in the same place; topics are compared without case and outer
    spaces. `same_topic_share` rows; n counts the pairs of dialogues.

    Checked by hand.
    """
    text = (
        facts[facts["key"] == topic].drop_duplicates(["corpus", "dialogue"]).set_index(["corpus", "dialogue"])["text"]
    )
    tasks = (
        facts[facts["key"] == task].drop_duplicates(["corpus", "dialogue"]).set_index(["corpus", "dialogue"])["value"]
    )
    at = pd.MultiIndex.from_frame(dialogues[["corpus", "dialogue"]])
    topics = text.reindex(at).str.strip().str.casefold().to_numpy()
    rows = dialogues.assign(task=tasks.reindex(at).to_numpy(), topic=topics).dropna(subset=["task", "topic"])
    pairs = rows.merge(rows, on=["corpus", "task", "place"])
    pairs = pairs[pairs["work_unit_x"] < pairs["work_unit_y"]]
    same = (pairs["topic_x"] == pairs["topic_y"]).groupby(pairs["corpus"], sort=False).agg(["mean", "size"])
    return pd.DataFrame(
        [
            row("same_topic_share", c, r["mean"], {}) | {"n": int(r["size"]), "level": "dialogue"}
            for c, r in same.iterrows()
        ]
    )
