"""The scores that rates, means and win shares are made from, one row a judged system, and how they cluster."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from helpers.labels import METHODS
from helpers.schema import condition

#: one estimate for each combination of these
CELL = ["corpus", "method", "label", "group", "system"]
#: result of a comparison for one side -> name of the share
OUTCOMES = {"win": 1, "tie": 0, "loss": -1}


def sides(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Comparisons seen from each of the two dialogues: two rows a comparison, the score with opposite signs.

    comparisons : one row a comparison (`dialogue, system, dialogue_b, system_b, score` with +1 the first wins). Other
    columns are repeated. Adds `item`, the same for both sides. Raises ValueError where a score is not -1, 0 or 1 or the
    other side is missing. Checked by hand.
    """
    if comparisons[["dialogue_b", "system_b"]].isna().any(axis=None):
        raise ValueError("a comparison lacks its other side: dialogue_b and system_b must be given in every row")
    if not comparisons["score"].isin([-1, 0, 1]).all():
        raise ValueError(f"a comparison scores -1, 0 or 1; found {sorted(comparisons['score'].unique().tolist())}")
    left = comparisons.assign(item=comparisons["dialogue"].astype(str) + "\x1f" + comparisons["dialogue_b"].astype(str))
    swap = {"dialogue": "dialogue_b", "dialogue_b": "dialogue", "system": "system_b", "system_b": "system"}
    right = left.rename(columns=swap)[left.columns].assign(score=-left["score"])
    return pd.concat([left, right], ignore_index=True)


def require_unit(annotations: pd.DataFrame, unit: str) -> None:
    """Raise ValueError unless the column `unit` names the cluster of every annotation.

    Checked through the functions that call it: each refuses an unknown unit.
    """
    if unit not in annotations or annotations[unit].isna().any():
        raise ValueError(f"unit: the column {unit!r} must be known for every annotation; name another unit")


def outcomes(annotations: pd.DataFrame) -> pd.DataFrame:
    """The scores to be averaged, with the statistic each belongs to.

    Adds `statistic`, `outcome` and `binary`: a comparison gives a 0/1 row for each side and each of win, tie and loss
    (`share`); labels marked 0/1 give `rate`; all others `mean`. Checked by hand.
    """
    pairwise = annotations["method"].map(lambda m: METHODS[m].unit == "pair").astype(bool)
    plain = annotations[~pairwise]
    values = plain["score"].isin([0, 1]).groupby([plain["method"], plain["label"]]).transform("all").astype(bool)
    out = [plain.assign(statistic=np.where(values, "rate", "mean"), outcome=None, binary=values)]
    if pairwise.any():
        both = sides(annotations[pairwise])
        out += [
            both.assign(statistic="share", outcome=name, binary=True, score=(both["score"] == value).astype(float))
            for name, value in OUTCOMES.items()
        ]
    return pd.concat(out, ignore_index=True)


def numbered(annotations: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray]:
    """The scores of `outcomes`, and for each the number of the estimate that it goes into. Checked by hand."""
    scores = outcomes(annotations)
    return scores, scores.groupby([*CELL, "statistic", "outcome"], sort=False, dropna=False).ngroup().to_numpy()


def identities(scores: pd.DataFrame, codes: np.ndarray, independent_of: str) -> list[dict]:
    """What identifies each estimate, and how many scores and annotators it has. Checked by hand."""
    keys = scores.loc[~pd.Series(codes, scores.index).duplicated(), [*CELL, "statistic", "outcome"]]
    who = scores["annotator"].groupby(codes).nunique() if "annotator" in scores else [None] * len(keys)
    counts = zip(np.bincount(codes).tolist(), who, strict=True) if len(keys) else []
    rows = zip(keys.itertuples(index=False, name=None), counts, strict=True)
    return [{**identity(key, independent_of), "n": n, "n_annotators": people} for key, (n, people) in rows]


def cluster_sums(scores: pd.DataFrame, codes: np.ndarray, unit: pd.Series) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each estimate the codes of its clusters, and (clusters, 3) their number of scores, sum, sum of squares.

    Checked by hand, and through design effects of statsmodels.
    """
    x = scores["score"].to_numpy(dtype=float)
    frame = pd.DataFrame({"n": 1.0, "s": x, "q": x**2}).groupby([codes, pd.factorize(unit, sort=True)[0]]).sum()
    ends = np.cumsum(np.bincount(frame.index.get_level_values(0)))[:-1] if len(frame) else []
    names = np.split(frame.index.get_level_values(1).to_numpy(), ends)
    return list(zip(names, np.split(frame.to_numpy(), ends), strict=True)) if len(frame) else []


def identity(key: Sequence, independent_of: str) -> dict:
    """Columns of a result row from the values of CELL, statistic and outcome; what was taken as independent.

    Checked by hand.
    """
    *cell, statistic, outcome = key
    return {
        **dict(zip(CELL, cell, strict=True)),
        "statistic": statistic,
        "level": _level(cell[1]),
        "condition": condition(outcome=_text(outcome), interval=independent_of),
    }


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _level(method: str) -> str:
    return METHODS[method].unit
