"""One annotation an item: where there are several, one is picked at random.

Rates, tests and effects use one annotation an item, as the papers do. Which one is chance, so a result is shown for
the study's own pick and, where it matters, as its distribution over picks.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from helpers.resampling import generator
from helpers.schema import ITEM

KEEP = ("dialogue", "item")


def pick_one(annotations: pd.DataFrame, rng: np.random.Generator, *, keep: str = "dialogue") -> pd.DataFrame:
    """One annotation of each item and evaluator group, picked at random.

    Parameters
    ----------
    annotations : DataFrame
        Columns of `schema.ANNOTATIONS`. Leave out first who shall not be picked (say, models).
    keep : 'dialogue' or 'item'
        'dialogue': whoever is picked for one item of a dialogue (a pair, for comparisons) and method is picked for
        all items of it that they judged, so that a dialogue's value is one person's. 'item': each item is a draw of
        its own.

    Returns
    -------
    DataFrame, the rows picked in their old order.

    Notes
    -----
    Each annotation of an item is as likely as any other. A comparison is the same item whichever dialogue stands
    left, so both orientations take the same pick. The pick depends on the random numbers and on who judged what,
    not on the order of the rows. Checked against cases counted by hand and by the frequency of picks.
    """
    return annotations[_mask(*_codes(annotations, keep), rng)]


def picks(annotations: pd.DataFrame, n: int, seed: int, *, keep: str = "dialogue") -> Iterator[pd.DataFrame]:
    """`n` independent picks, each as `pick_one` makes it; the first is the study's own.

    Pick number i depends on `seed` and i only: more picks do not change the earlier ones.
    """
    item, holder = _codes(annotations, keep)
    for i in range(n):
        yield annotations[_mask(item, holder, generator(seed, "pick", str(i)))]


def _codes(annotations: pd.DataFrame, keep: str) -> tuple[np.ndarray, np.ndarray]:
    """A number for each row's item, and one for what the random numbers are drawn for."""
    if keep not in KEEP:
        raise ValueError(f"keep: expected one of {', '.join(KEEP)}, found {keep!r}")
    a, b = annotations["dialogue"], annotations["dialogue_b"]
    turned = (b.notna() & (b < a).fillna(False)).to_numpy(dtype=bool)
    frame = annotations[[*ITEM, "group", "annotator", "work_unit"]].assign(
        dialogue=a.where(~turned, b), dialogue_b=b.where(~turned, a)
    )
    item = ["group", *ITEM]
    held = [c for c in item if c not in ("label", "turn")] if keep == "dialogue" else item
    return _number(frame, item), _number(frame, [*held, "annotator", "work_unit"])


def _number(frame: pd.DataFrame, columns: list[str]) -> np.ndarray:
    return frame.groupby(columns, dropna=False, sort=True).ngroup().to_numpy()


def _mask(item: np.ndarray, holder: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    if not len(item):
        return np.zeros(0, dtype=bool)
    draw = rng.random(holder.max() + 1)[holder]
    order = np.lexsort((draw, item))
    first = np.r_[True, np.diff(item[order]) != 0]
    chosen = np.zeros(len(item), dtype=bool)
    chosen[order[first]] = True
    return chosen
