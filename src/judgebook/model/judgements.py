"""The judgements of one label as coded arrays: what every model takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class Judgements:
    """Judgements of single items on one label.

    systems : names, by code. system, item, context, annotator : (n,) codes from 0 without gaps. item : what was judged,
    a dialogue of one system; context : what several systems answered (a prompt), each item its own where there is none.
    annotator : None where nobody knows who judged. score : (n,), one of each annotator and item. weight : (n,) of how
    many items of the population each stands for; None where all count alike. marks : whether scores are marks, 0 or 1,
    or shares of turns with one.
    """

    systems: tuple[str, ...]
    system: np.ndarray
    item: np.ndarray
    context: np.ndarray
    annotator: np.ndarray | None
    score: np.ndarray
    weight: np.ndarray | None = None
    marks: bool = False

    def __len__(self) -> int:
        return len(self.score)


def coded(values: Sequence[object] | pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """(n,) codes from 0 in the order of sorted values, and the (k,) values."""
    codes, levels = pd.factorize(pd.Series(values), sort=True)
    return codes.astype(np.intp), np.asarray(levels)


def crossed(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(n,) codes without gaps of the pairs of two codes that occur."""
    return np.unique(a * (int(b.max()) + 1) + b, return_inverse=True)[1]
