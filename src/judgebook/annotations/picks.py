"""One annotation per item: where there are several, one is picked at random.

Rates, tests and effects use one annotation per item, as the papers do. The choice is random, so a result is given for
the study's own pick and, where it matters, over several picks.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator

import numpy as np
import pandas as pd

from judgebook.annotations.scores import sides
from judgebook.statistics.intervals import generator
from judgebook.study.schema import ITEM, Annotations, unordered


def picks(annotations: Annotations, n: int, seed: int) -> Iterator[pd.DataFrame]:
    """`n` random picks of one annotation of each item and evaluator group; the first is the study's own.

    Parameters
    ----------
    annotations : DataFrame
        Columns of `schema.ANNOTATIONS`. Without annotators who must not be picked (say, models).

    Returns
    -------
    Iterator of DataFrame, the rows picked in their old order.

    Notes
    -----
    Whoever is picked for one item of a dialogue (a pair, for comparisons) and method is picked for all items of it that
    they judged, so that a dialogue's value is one person's. Each annotation of an item is as likely as any other. A
    comparison is the same item whichever dialogue stands left, so both orientations take the same pick. Pick number i
    depends on `seed`, i and who judged what, neither on the order of the rows nor on how many picks there are.
    """
    for chosen in masks(annotations, n, seed):
        yield annotations[chosen]


def masks(annotations: Annotations, n: int, seed: int) -> Iterator[np.ndarray]:
    """The rows of `picks` as (rows,) arrays, true where a row is picked: for callers that need sums only."""
    choose = _chooser(annotations)
    for i in range(n):
        yield choose(generator(seed, "pick", str(i)))


def pick_as_published(
    annotations: Annotations, seed: int, *, comparisons: str = "dialogue", source_order: Collection[str] = ()
) -> pd.DataFrame:
    """The pick behind the printed values of Finch et al. 2024, of judgements of whole dialogues and of pairs.

    Parameters
    ----------
    annotations : DataFrame
        Columns of `schema.ANNOTATIONS`, without what the paper leaves out: what is left out takes no draw.
    seed : int
        123 in the authors' code.
    comparisons : 'dialogue' or 'pair'
        'dialogue' (their Tables 3 and 4): each side of a comparison has a draw of its own, that of its dialogue.
        Comparisons then come seen from both dialogues, marked in the column `one_side`. 'pair' (their Figure 1): both
        sides share one draw; comparisons alone are drawn for, and come once.
    source_order : collection of str
        Groups whose dialogues are gone through as they come in the source (by their ratings), not in the order of
        their ids: in the authors' code the Surge group, whose data are not split by annotator.

    Returns
    -------
    DataFrame, one annotation per item and group (or per item, group and side).

    Notes
    -----
    The rule is that of the authors' published code (sfillwo/DialogueEval-AnnotatorImpact, `utilities/analysis.py`,
    commit 6908236), written anew. Python's Mersenne Twister starts afresh for each group. It is asked for one of the
    first two annotations for each label of each dialogue that has two, dialogues in the order of their ids, ratings
    before comparisons. The first answer holds for all labels of the dialogue, and for every dialogue whose id is made
    of the same characters: `(12,1)_x` and `(21,2)_x` share it. This couples the picks of dialogues that have nothing in
    common but digits; it biases nothing.

    Raises ValueError for judgements of turns.
    """
    if comparisons not in ("dialogue", "pair"):
        raise ValueError(f"comparisons: expected 'dialogue' or 'pair', found {comparisons!r}")
    if annotations["turn"].notna().any():
        raise ValueError("turn: expected judgements of whole dialogues and pairs, found some of turns")
    out = []
    for group, part in annotations.sort_values("source_row", kind="stable").groupby("group", sort=False):
        pairs = part["dialogue_b"].notna()
        ratings, compared = part[~pairs].assign(one_side=False), sides(part[pairs].assign(row=part.index[pairs]))
        place = {d: i for i, d in enumerate(dict.fromkeys(ratings["dialogue"]))} if group in source_order else {}
        rated = (ratings, ratings["dialogue"].map(frozenset))
        if comparisons == "dialogue":
            compared = compared.assign(one_side=True).drop(columns=["row", "item"])
            out += _drawn([rated, (compared, compared["dialogue"].map(frozenset))], place, seed)
        else:
            ends = unordered(compared)
            (once,) = _drawn([(compared, pd.Series(list(zip(ends["low"], ends["high"], strict=True))))], place, seed)
            out += _drawn([rated], place, seed)
            out.append(part.loc[part.index.isin(once["row"])].assign(one_side=False))
    return pd.concat(out, ignore_index=True)


def _drawn(parts: list[tuple[pd.DataFrame, pd.Series]], place: dict[str, int], seed: int) -> list[pd.DataFrame]:
    """The rows picked of each frame, all from one stream of draws; rows of one code share the first draw made for it.

    place : where a dialogue comes in the order of draws; those without one follow in the order of their ids.
    """
    twister, first, out = random.Random(seed), dict[object, int](), []
    for frame, code in parts:
        items = frame.groupby(["method", "label", "dialogue"], sort=False)
        nth, several = items.cumcount(), items["score"].transform("size") > 1
        twice = frame.assign(code=code)[nth == 1].groupby("dialogue")["code"].agg(["first", "size"])
        for dialogue in sorted(twice.index, key=lambda d: (place.get(d, len(place)), d)):
            unit, n = twice.loc[dialogue]
            for _ in range(n):  # a draw for each label, of which only the first counts
                first.setdefault(unit, twister.randint(0, 1))
        out.append(frame[nth == [first[c] if m else 0 for c, m in zip(code, several, strict=True)]])
    return out


def _codes(annotations: Annotations) -> tuple[np.ndarray, np.ndarray]:
    """A number for each row's item, and one for what the random numbers are drawn for."""
    a, b = annotations["dialogue"], annotations["dialogue_b"]
    turned = (b.notna() & (b < a).fillna(False)).to_numpy(dtype=bool)
    frame = annotations[[*ITEM, "group", "annotator", "work_unit"]].assign(
        dialogue=a.where(~turned, b), dialogue_b=b.where(~turned, a)
    )
    item = ["group", *ITEM]
    held = [c for c in item if c not in ("label", "turn")]
    return _number(frame, item), _number(frame, [*held, "annotator", "work_unit"])


def _number(frame: pd.DataFrame, columns: list[str]) -> np.ndarray:
    return frame.groupby(columns, dropna=False, sort=True).ngroup().to_numpy()


def _chooser(annotations: Annotations) -> Callable[[np.random.Generator], np.ndarray]:
    """A function from random numbers to the rows picked: of each item the one with the smallest number."""
    item, holder = _codes(annotations)
    order = np.argsort(item, kind="stable")
    item, who = item[order], holder[order]
    starts = np.flatnonzero(np.r_[True, np.diff(item) != 0]) if len(item) else np.zeros(0, int)
    sizes = np.diff(np.r_[starts, len(item)])

    def choose(rng: np.random.Generator) -> np.ndarray:
        chosen = np.zeros(len(item), dtype=bool)
        if not len(item):
            return chosen
        draw = rng.random(holder.max() + 1)[who]
        smallest = np.flatnonzero(draw == np.repeat(np.minimum.reduceat(draw, starts), sizes))
        # one row per item, even where a holder has two
        chosen[order[smallest[np.r_[True, np.diff(item[smallest]) != 0]]]] = True
        return chosen

    return choose
