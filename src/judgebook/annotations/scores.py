"""The scores from which rates, means and win shares are computed, one row per judged system, and how they cluster."""

from __future__ import annotations

import numpy as np
import pandas as pd

from judgebook.study.labels import METHODS
from judgebook.study.schema import ITEM, SYSTEM_CELL, Annotations

#: identifies what a group judged; frames may lack a column that is the same everywhere
_ITEM = ("group", *ITEM)
#: result of a comparison for one side -> name of the share
OUTCOMES = {"win": 1, "tie": 0, "loss": -1}


def sides(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Comparisons seen from each of the two dialogues: two rows per comparison, the score with opposite signs.

    comparisons : one row per comparison (`dialogue, system, dialogue_b, system_b, score` with +1 the first wins). Other
    columns are repeated. Adds `item`, the same for both sides. Raises ValueError where a score is not -1, 0 or 1 or the
    other side is missing.
    """
    if comparisons[["dialogue_b", "system_b"]].isna().any(axis=None):
        raise ValueError("a comparison lacks its other side: dialogue_b and system_b must be given in every row")
    if not comparisons["score"].isin([-1, 0, 1]).all():
        raise ValueError(f"a comparison scores -1, 0 or 1; found {sorted(comparisons['score'].unique().tolist())}")
    left = comparisons.assign(item=comparisons["dialogue"].astype(str) + "\x1f" + comparisons["dialogue_b"].astype(str))
    swap = {"dialogue": "dialogue_b", "dialogue_b": "dialogue", "system": "system_b", "system_b": "system"}
    right = left.rename(columns=swap)[left.columns].assign(score=-left["score"])
    return pd.concat([left, right], ignore_index=True)


def require_unit(annotations: Annotations, unit: str) -> None:
    """Raise ValueError unless the column `unit` names the cluster of every annotation."""
    if unit not in annotations or annotations[unit].isna().any():
        raise ValueError(f"unit: the column {unit!r} must be known for every annotation; name another unit")


def known_people(annotations: Annotations) -> bool:
    """Whether all annotations are by known people, two at least: only then are annotators a sample."""
    if annotations.empty or not {"annotator", "annotator_known", "annotator_kind"} <= set(annotations):
        return False
    known = annotations["annotator_known"].all() and (annotations["annotator_kind"] == "human").all()
    return bool(known) and bool((annotations["annotator"] != annotations["annotator"].iloc[0]).any())


def outcomes(annotations: Annotations) -> pd.DataFrame:
    """The scores to be averaged, with the statistic each belongs to.

    Adds `statistic`, `outcome` and `binary`: a comparison gives a 0/1 row for each side and each of win, tie and loss
    (`share`); labels marked 0/1 give `rate`; all others `mean`. Adds the columns of `weighted`: every item counts once,
    with the mean of its annotations, or as often as its sampling weight says.
    """
    pairwise = annotations["method"].isin(METHODS.of_unit("pair"))
    plain = annotations[~pairwise]
    values = plain["score"].isin([0, 1]).groupby([plain["method"], plain["label"]]).transform("all").astype(bool)
    out = [plain.assign(statistic=np.where(values, "rate", "mean"), outcome=None, binary=values)]
    if pairwise.any():
        both = sides(annotations[pairwise])
        out += [
            both.assign(statistic="share", outcome=name, binary=True, score=(both["score"] == value).astype(float))
            for name, value in OUTCOMES.items()
        ]
    # of ratings alone no copy is made: of ten million judgements the texts take gigabytes
    return weighted(pd.concat(out, ignore_index=True) if len(out) > 1 else out[0].reset_index(drop=True))


def weighted(scores: pd.DataFrame) -> pd.DataFrame:
    """`scores` with `sampling`, the sampling weight of its item, and `weight`, that divided by the item's annotations.

    scores : annotations, or comparisons seen from both sides (`sides`). Also adds `item_number`, the same for all
    annotations of an item (a comparison has one for each outcome and side).

    Sampling weights are scaled so that those of the items of a system and label add up to the number of items: a ratio
    of weighted sums does not depend on the scale (Hájek 1971, in Foundations of Statistical Inference, page 236), and
    sums of `weight` stay numbers of items. Without sampling weights `sampling` is 1.
    """
    keys = [c for c in (*_ITEM, "outcome") if c in scores]
    items = scores.groupby(keys, sort=False, dropna=False)
    share, scores = 1 / items["score"].transform("size"), scores.assign(item_number=items.ngroup())
    if not sampled(scores):
        return scores.assign(sampling=1.0, weight=share)
    of = [scores[c] for c in (*SYSTEM_CELL, "outcome") if c in scores]
    weight = scores["sampling_weight"].fillna(1.0) * share
    total = (x.groupby(of, sort=False, dropna=False).transform("sum") for x in (share, weight))
    scale = np.divide(*total)
    return scores.assign(sampling=scores["sampling_weight"].fillna(1.0) * scale, weight=weight * scale)


def sampled(annotations: Annotations) -> bool:
    """Whether annotations have sampling weights that differ, within a corpus: equal ones change no estimate."""
    if "sampling_weight" not in annotations:
        return False
    weight = annotations["sampling_weight"]
    by = annotations["corpus"] if "corpus" in annotations else np.zeros(len(annotations))
    ends = weight.groupby(by).agg(["min", "max"])
    return bool((ends["max"] > ends["min"] * (1 + 1e-9)).any())


def sampling_weights(annotations: Annotations) -> np.ndarray:
    """(annotations,) sampling weights with mean 1; 1 where there are none, or all are equal."""
    if not sampled(annotations):
        return np.ones(len(annotations))
    weight = annotations["sampling_weight"].fillna(1.0).to_numpy()
    return weight / weight.mean()


def kish(weights: np.ndarray) -> float:
    """Design effect of weights: by how much unequal weights raise the variance of a mean of independent scores with
    equal variances, 1 + CV² (Kish 1965, Survey Sampling, section 11.7)."""
    return float(len(weights) * np.sum(weights**2) / np.sum(weights) ** 2)


def item_means(scores: pd.DataFrame, codes: np.ndarray) -> tuple[pd.DataFrame, np.ndarray]:
    """The scores of `numbered` with one row per item, the mean of its annotations, and the number of its estimate."""
    if (scores["weight"] == scores["sampling"]).all():
        return scores, codes
    number = scores["score"].groupby([codes, scores["item_number"]], sort=False)
    first = number.cumcount() == 0
    items = scores[first]
    out = items.assign(score=number.mean().to_numpy(), weight=items["sampling"], annotator=None)
    return out, codes[first.to_numpy()]


def numbered(annotations: Annotations) -> tuple[pd.DataFrame, np.ndarray]:
    """The scores of `outcomes`, and (scores,) the number of the estimate that each belongs to."""
    scores = outcomes(annotations)
    return scores, scores.groupby([*SYSTEM_CELL, "statistic", "outcome"], sort=False, dropna=False).ngroup().to_numpy()


def identities(scores: pd.DataFrame, codes: np.ndarray, interval: str) -> list[dict]:
    """What identifies each estimate, and how many items and annotators it has. interval : what it resamples."""
    first = ~pd.Series(codes, scores.index).duplicated()
    keys = scores.loc[first, [*SYSTEM_CELL, "statistic", "outcome"]].assign(interval=interval)
    keys["level"] = [METHODS[m].unit for m in keys["method"]]
    keys["n"] = np.rint(np.bincount(codes, scores["weight"])).astype(int)
    keys["n_annotators"] = scores["annotator"].groupby(codes).nunique().to_numpy() if "annotator" in scores else None
    return keys.to_dict("records")


def cluster_sums(scores: pd.DataFrame, codes: np.ndarray, unit: pd.Series) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each estimate the codes of its clusters, and (clusters, 3) their number of scores, sum, sum of squares.

    A score counts as often as its sampling weight says (`sampling`).
    """
    x, w = scores["score"].to_numpy(dtype=float), scores["sampling"].to_numpy()
    frame = pd.DataFrame({"n": w, "s": w * x, "q": w * x**2}).groupby([codes, pd.factorize(unit, sort=True)[0]]).sum()
    if not len(frame):
        return []
    ends = np.cumsum(np.bincount(frame.index.get_level_values(0)))[:-1]
    names = np.split(frame.index.get_level_values(1).to_numpy(), ends)
    return list(zip(names, np.split(frame.to_numpy(), ends), strict=True))
