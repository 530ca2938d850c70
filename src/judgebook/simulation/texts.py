"""Texts of simulated dialogues: strings of harmless words that nobody will take for a conversation."""

from __future__ import annotations

import numpy as np

_OPENING = ("well", "so", "today", "perhaps", "really", "indeed", "maybe", "now")
_WHO = ("I", "you", "we", "they", "my neighbour", "the gardener", "a friend", "somebody")
_DOES = ("paint", "count", "polish", "collect", "describe", "borrow", "carry", "water", "sort", "remember")
_HOW = ("seven", "green", "quiet", "wooden", "distant", "paper", "round", "small", "cloudy", "striped")
_WHAT = ("teapots", "ladders", "lanterns", "pebbles", "kites", "umbrellas", "violins", "buttons", "clocks", "maps")
_WHERE = ("near the pond", "after lunch", "behind the barn", "every Tuesday", "with great care", "without a hurry")
_CYCLE = (_OPENING, _WHO, _DOES, _HOW, _WHAT, _WHERE)

#: mean words of a user turn: 11.3 tokens (Finch et al. 2023, section 3); of a system turn: chosen
USER_WORDS, SYSTEM_WORDS = 11.3, 15.0
_SHORTEST = 4


def texts(n: int, mean_words: float, rng: np.random.Generator) -> list[str]:
    """`n` texts of `mean_words` words on average (parted by white space), at least 4, ending in a full stop."""
    lengths = _SHORTEST + rng.poisson(mean_words - _SHORTEST, n)
    picks = rng.integers(0, 1 << 30, (n, int(lengths.max(initial=1))))
    out = []
    for length, row in zip(lengths.tolist(), picks.tolist(), strict=True):
        words = " ".join(column[i % len(column)] for column, i in zip(_CYCLE * (length // 5 + 1), row, strict=False))
        text = " ".join(words.split(" ")[:length])
        out.append(f"{text[0].upper()}{text[1:]}.")
    return out
