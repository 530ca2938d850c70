"""Comparisons of two dialogues: one row each, every pair in the orientation first met."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from judgebook.study.schema import Problem, several, unordered

SIDES = {"dialogue": "dialogue_b", "dialogue_b": "dialogue", "system": "system_b", "system_b": "system"}


#: what to do about two rows that say different things of a pair
BOTH_ORDERS = (
    "correct one of the two; if the pair was shown in both orders, write `constants: {first_shown: left}` (the left "
    "side of each row came first) and `repeats: number` under its source"
)


@dataclass(frozen=True)
class Oriented:
    """What became of comparisons.

    annotations : without mirrors, pairs in one orientation.
    mirrors : rows left out because another row gives the same comparison from its other side.
    single : comparisons that had no mirror. turned : rows whose sides were swapped and whose score changed its sign.
    """

    annotations: pd.DataFrame
    mirrors: pd.DataFrame
    single: pd.DataFrame
    turned: pd.DataFrame
    problems: list[Problem] = field(default_factory=list)


def orient(annotations: pd.DataFrame, *, repeated: bool = False) -> Oriented:
    """Give every comparison once, and every pair of dialogues from the side first met in its corpus.

    Two rows give one comparison from its two sides when they agree in every column that says who judged what where
    (work unit included) and name the dialogues the other way round. Their scores must have opposite signs: a pair that
    does not is a problem, or, where judgements may be repeated, another judgement. So is one that says that the other
    side was shown first. Scores of comparisons are -1, 0, +1, so that turning a row changes the sign.
    """
    none = annotations.iloc[:0]
    if "dialogue_b" not in annotations or not annotations["dialogue_b"].notna().any():
        return Oriented(annotations, none, none, none)
    pairs = annotations[annotations["dialogue_b"].notna()]
    who = [c for c in ("corpus", "group", "annotator", "work_unit", "method", "label", "turn") if c in pairs]
    keys = pairs[who].join(unordered(pairs))
    unit = keys.groupby(list(keys), dropna=False, sort=False).ngroup()
    away = pairs["dialogue"] != pairs["dialogue"].groupby(unit).transform("first")
    # the first row from the other side mirrors the first row; what repeats beyond that is left to be reported
    is_mirror = away & ~unit.where(away).duplicated()
    first = pairs.set_axis(unit)[~unit.duplicated().to_numpy()]
    if "first_shown" in pairs:
        shown = [side["first_shown"].to_numpy() for side in (pairs, first.loc[unit])]
        is_mirror &= ~((shown[0] == shown[1]) & pd.notna(shown[0]))
    if repeated:
        scores = [pd.to_numeric(side["score"], errors="coerce").to_numpy() for side in (pairs, first.loc[unit])]
        is_mirror &= scores[0] == -scores[1]
    mirrors = pairs[is_mirror]
    problems = _wrong_signs(mirrors, first.loc[unit[is_mirror]].set_axis(mirrors.index))
    kept = annotations.drop(index=mirrors.index)
    pair = unordered(pairs).join(pairs[["corpus"]] if "corpus" in pairs else None).drop(index=mirrors.index)
    left = kept.loc[pair.index, "dialogue"]
    turned = pair.index[left != left.groupby([pair[c] for c in pair], sort=False).transform("first")]
    single = pairs[~unit.isin(unit[is_mirror])]
    return Oriented(_turn(kept, turned), mirrors, single, kept.loc[turned], problems)


def _turn(annotations: pd.DataFrame, rows: pd.Index) -> pd.DataFrame:
    out = annotations.copy()
    for to, source in SIDES.items():
        if to in annotations and source in annotations:
            out.loc[rows, to] = annotations.loc[rows, source]
    if "first_shown" in annotations:
        out.loc[rows, "first_shown"] = annotations.loc[rows, "first_shown"].map({"left": "right", "right": "left"})
    scores = annotations.loc[rows, "score"]
    turned = -pd.to_numeric(scores, errors="coerce")
    # text stays as it is, to be reported as what it is; -0.0 would be an odd thing to show
    out["score"] = annotations["score"].astype(object)
    out.loc[rows, "score"] = (turned + 0.0).astype(object).where(turned.notna(), scores)
    return out


def _wrong_signs(mirrors: pd.DataFrame, partners: pd.DataFrame) -> list[Problem]:
    expected = -pd.to_numeric(partners["score"], errors="coerce") + 0.0
    scores = pd.to_numeric(mirrors["score"], errors="coerce")

    def wrong(i: Any) -> Problem:
        place = mirrors.at[i, "file"], mirrors.at[i, "where"], "score"
        content = (
            f"{scores[i]:g} like {partners.at[i, 'where']}"
            if scores[i] == scores[i]
            else mirrors.at[i, "score"] or "empty text"
        )
        return Problem(
            *place,
            f"{expected[i]:g}, the opposite of the same comparison from its other side",
            content,
            BOTH_ORDERS,
        )

    return several(mirrors.index[expected.notna() & ~np.isclose(scores, expected)], wrong)
