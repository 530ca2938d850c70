"""The judgements of one label as coded arrays: what every model takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

#: share of judgements by annotators with one level of something, alone in it, from which the two are one thing
COINCIDE = 0.5


@dataclass(frozen=True)
class Judgements:
    """Judgements of single items on one label.

    systems : names, by code. system, item, context, annotator : (n,) codes from 0 without gaps. item : what was judged,
    a dialogue of one system; context : what several systems answered (a prompt), each item its own where there is none.
    annotator : None where nobody knows who judged. score : (n,), one of each annotator and item. weight : (n,) of how
    many items of the population each stands for; None where all count alike. marks : whether scores are marks, 0 or 1,
    or shares of turns with one. run : (n,) codes of the runs of a study where these are a sample, three at least.
    """

    systems: tuple[str, ...]
    system: np.ndarray
    item: np.ndarray
    context: np.ndarray
    annotator: np.ndarray | None
    score: np.ndarray
    weight: np.ndarray | None = None
    marks: bool = False
    run: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.score)


def coded(values: Sequence[object] | pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """(n,) codes from 0 in the order of sorted values, and the (k,) values."""
    codes, levels = pd.factorize(pd.Series(values), sort=True)
    return codes.astype(np.intp), np.asarray(levels)


def confounded(annotator: np.ndarray | None, *others: tuple[str, np.ndarray]) -> str:
    """Why effects of annotators cannot be told from those of what they judged: most judgements are by annotators with a
    single level of it, alone in that; '' where they can. others : names of levels and their (n,) codes."""
    if annotator is None:
        return ""
    for name, codes in others:
        pairs = np.unique(np.column_stack([annotator, codes]), axis=0)
        single = np.bincount(pairs[:, 0])[annotator] == 1
        if np.mean(single & (np.bincount(pairs[:, 1])[codes] == 1)) >= COINCIDE:
            return f"most annotators judged one {name} each, alone"
    return ""


def crossed(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(n,) codes without gaps of the pairs of two codes that occur."""
    return np.unique(a * (int(b.max()) + 1) + b, return_inverse=True)[1]
