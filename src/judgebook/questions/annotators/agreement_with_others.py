"""How far does each annotator agree with the others?

Where items have several annotators, each is compared with the others item by item; where every annotator judged
dialogues of their own, with the means that the others gave to the systems.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from judgebook.questions.agreement.coincidences import terms
from judgebook.questions.annotators.severity import standardised
from judgebook.statistics.correlation import rounded
from judgebook.study.labels import METHODS, Label
from judgebook.study.schema import Annotations

#: what is judged, within a method
ITEM = ["label", "dialogue", "turn", "dialogue_b"]
_BLOCK = ["annotator", "dialogue", "dialogue_b"]
#: fewer scores beside those of others give no correlation
MIN_SHARED = 10


def oriented(rows: Annotations) -> Annotations:
    """Comparisons with their dialogues in one order, the score turned with them: the same pair is one item."""
    turned = (rows["dialogue_b"].notna() & (rows["dialogue"] > rows["dialogue_b"].fillna(""))).to_numpy()
    out = rows.copy()
    for a, b in (("dialogue", "dialogue_b"), ("system", "system_b")):
        out[a] = np.where(turned, rows[b].astype(object), rows[a].astype(object))
        out[b] = np.where(turned, rows[a].astype(object), rows[b].astype(object))
    return out.assign(score=np.where(turned, -rows["score"], rows["score"]))


def with_others(rows: Annotations, by: list[str]) -> pd.DataFrame:
    """Scores beside those that others gave to the same thing: `others`, their mean, and `squared`, the mean square of
    the differences from them; scores that stand alone are left out.

    rows : oriented annotations of one corpus, group and method. by : what makes two scores comparable.
    """
    all_ = rows.assign(square=rows["score"] ** 2).groupby(by, dropna=False, sort=False)
    n, total, squares = (all_[c].transform(f) for c, f in (("score", "size"), ("score", "sum"), ("square", "sum")))
    of_annotator = rows.assign(square=rows["score"] ** 2).groupby([*by, "annotator"], dropna=False, sort=False)
    n, total = n - of_annotator["score"].transform("size"), total - of_annotator["score"].transform("sum")
    squares = squares - of_annotator["square"].transform("sum")
    out = rows.assign(others=total / n.where(n > 0), n_others=n, squares=squares)[(n > 0).to_numpy()]
    squared = out["score"] ** 2 - 2 * out["score"] * out["others"] + out["squares"] / out["n_others"]
    return out.drop(columns="squares").assign(squared=squared)


def shared(rows: Annotations) -> bool:
    """Whether items have several annotators: at least one in a hundred, and enough for a correlation."""
    n = rows.groupby(ITEM, dropna=False, sort=False)["annotator"].nunique()
    return bool((n > 1).mean() >= 0.01 and (n > 1).sum() >= MIN_SHARED)


def agreement(rows: Annotations) -> tuple[list[dict[str, Any]], pd.Series]:
    """`annotator_agreement`, the correlation with the mean of the others, and (annotators,) z values of disagreement.

    Parameters
    ----------
    rows : DataFrame
        Oriented annotations of one corpus, group and method, of labels with a mean.

    Returns
    -------
    rows with `over` (item: those with several annotators; system: the others' means of systems), and z values, high
    where an annotator disagrees more than annotators with as many dialogues do. If nobody were better than others, an
    annotator's disagreements would be a random draw from all: z is the mean of their normal scores, by the mean and the
    standard deviation of such draws. The unit is the dialogue, since judgements of one dialogue go together.
    """
    rows = standardised(rows)
    over = "item" if shared(rows) else "system"
    by = ITEM if over == "item" else ["label", "system", "system_b"]
    beside = with_others(rows, by)
    if beside.empty:
        return [], pd.Series(dtype=float)
    if over == "item":
        spread = beside.groupby("label")["squared"].transform("std")
        value = (beside["squared"] - beside.groupby("label")["squared"].transform("mean")) / spread.where(spread > 0)
    else:  # different dialogues: what counts is whether systems are ordered as by the others
        centred = [beside[c] - beside.groupby(["annotator", "label"])[c].transform("mean") for c in ("score", "others")]
        value = -centred[0] * centred[1]
    blocks = beside.assign(value=value).groupby(_BLOCK, dropna=False, sort=False)["value"].mean().dropna()
    return list(_correlations(beside, over)), _drawn(blocks)


def _drawn(blocks: pd.Series) -> pd.Series:
    """(annotators,) mean of an annotator's blocks, by mean and standard deviation of as many drawn at random.

    Blocks are ranked and enter as normal scores: squared differences have a long tail, and the means of few of them
    would lie outside the spread of others far too often (in 9 of 60 simulated studies instead of 1).
    """
    blocks = pd.Series(ndtri((pd.Series(rounded(blocks)).rank().to_numpy() - 0.5) / len(blocks)), index=blocks.index)
    by = blocks.groupby(level="annotator", sort=True)
    n, total = by.size(), len(blocks)
    error = blocks.std(ddof=0) * np.sqrt((total - n) / ((total - 1) * n)) if total > 1 else n * np.nan
    return (by.mean() - blocks.mean()) / error.where(error > 0)


def _correlations(beside: pd.DataFrame, over: str) -> Iterator[dict[str, Any]]:
    for name, of_annotator in beside.groupby("annotator", sort=True):
        row = {"statistic": "annotator_agreement", "annotator": name, "over": over, "n": len(of_annotator)}
        row |= {"n_clusters": of_annotator["dialogue"].nunique()}
        x, y = of_annotator["score"].to_numpy(float), of_annotator["others"].to_numpy(float)
        if len(of_annotator) < MIN_SHARED or x.std() == 0 or y.std() == 0:
            few = f"{len(of_annotator)} scores that can be compared with those of others, fewer than {MIN_SHARED}"
            yield row | {"estimate": np.nan, "note": few if len(of_annotator) < MIN_SHARED else "all scores are equal"}
            continue
        yield row | {"estimate": float(np.corrcoef(x, y)[0, 1])}


def alpha_without(rows: Annotations, labels: Mapping[tuple[str, str], Label]) -> Iterator[dict[str, Any]]:
    """`alpha_without` each annotator: the mean over labels of alpha without them, minus that with them.

    rows : oriented annotations of one corpus, group and method. Positive: agreement is higher without the annotator.
    """
    change: dict[str, list[float]] = {}
    for (method, label), of_label in rows.groupby(["method", "label"], sort=False):
        key = of_label.groupby(ITEM, dropna=False, sort=False).ngroup().to_numpy()
        repeated = of_label[np.bincount(key)[key] > 1]
        if repeated["annotator"].nunique() < 3:
            continue
        items = repeated.groupby(ITEM, dropna=False, sort=False).ngroup().to_numpy()
        who, names = pd.factorize(repeated["annotator"], sort=True)
        mirrored = METHODS[method].unit == "pair"
        everyone, without = _alphas(
            items, who, repeated["score"].to_numpy(float), labels[method, label].level, mirrored
        )
        for name, value in zip(names, without - everyone, strict=True):
            change.setdefault(name, []).append(float(value))
    for name, changes in sorted(change.items()):
        finite = [v for v in changes if np.isfinite(v)]
        row = {"statistic": "alpha_without", "annotator": name, "n": len(finite)}
        note = {} if finite else {"note": "no label has an alpha without them"}
        yield row | {"estimate": float(np.mean(finite)) if finite else np.nan} | note


def _alphas(
    items: np.ndarray, people: np.ndarray, scores: np.ndarray, level: str, mirrored: bool
) -> tuple[float, np.ndarray]:
    """Alpha, and alpha without each of k people, (k,); items, people : numbers from 0 without gaps.

    Alpha is computed from sums over items; leaving out a person changes only the terms of the items they judged.
    """
    values, code = np.unique(scores, return_inverse=True)
    if mirrored:
        values = np.unique(np.r_[values, -values])
        code = np.searchsorted(values, scores)
    n, k, v = items.max() + 1, people.max() + 1, len(values)
    counts = np.bincount(items * v + code, minlength=n * v).reshape(n, v)
    judged, at = np.unique(items * k + people, return_inverse=True)
    item, who = judged // k, judged % k
    rest = counts[item] - np.bincount(at * v + code, minlength=len(judged) * v).reshape(-1, v)
    stacked = np.concatenate([counts, rest])
    repeated = stacked.sum(axis=1) >= 2
    t = terms(stacked[repeated], values, level, mirrored=mirrored)
    rows = np.zeros((len(stacked), t.rows.shape[1]))
    rows[repeated] = t.rows
    total, change = rows[:n].sum(axis=0), rows[n:] - rows[item]
    without = total + np.stack([np.bincount(who, column, k) for column in change.T], axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        alpha = t.measures(np.vstack([total, without]))["alpha"]
    return alpha[0], alpha[1:]
