"""Degraded replies for a control system: random responses with distorted meaning (Ji et al. 2022, section 3.2, A.1).

Pure functions of texts and a generator of random numbers. Words are what white space separates.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def n_replaced(n: int) -> int:
    """How many words of a response of n words are replaced (A.1): 1 up to n = 3, 2 up to 5, 3 up to 8, 4 up to 15, 5 up
    to 29, and the whole part of n / 5 from 30 on. Raises ValueError for n < 1.

    Checked by hand for every length class.
    """
    if n < 1:
        raise ValueError(f"n: expected a response of at least one word, found {n}")
    if n >= 30:
        return n // 5
    return next(r for r, most in ((1, 3), (2, 5), (3, 8), (4, 15), (5, 29)) if n <= most)


def distort(response: str, donors: Sequence[str], rng: np.random.Generator) -> str:
    """The response with one run of words replaced by another run of as many words.

    Parameters
    ----------
    response : text; one without words is returned as it is.
    donors : texts of other dialogues of the training set, from which the new words come, each run of words being
        equally likely. A run never goes from one text into the next.

    Returns
    -------
    Text of as many words, separated by single spaces. With three words or more the first and the last stay as they are.
    The new run differs from the old one. Raises ValueError where no text of `donors` has a different run so long.

    Notes
    -----
    Checked by hand for every length class, and by counting how often each position and each run is drawn.
    """
    words = response.split()
    return " ".join(_distort(words, _Runs(donors), rng)) if words else response


class _Runs:
    """The runs of words of some texts, each as likely as the others to be drawn."""

    def __init__(self, texts: Sequence[str]):
        self.texts = [text.split() for text in texts]
        self.sizes = np.array([len(words) for words in self.texts], dtype=int)

    def other(self, old: list[str], allowed: np.ndarray | bool, rng: np.random.Generator) -> list[str]:
        """A run as long as `old` that differs from it, of the allowed texts."""
        r = len(old)
        ends = np.cumsum(np.where(allowed, np.maximum(self.sizes - r + 1, 0), 0))
        total = int(ends[-1]) if len(ends) else 0

        def run(i: int) -> list[str]:
            text = int(np.searchsorted(ends, i, side="right"))
            start = i - (int(ends[text - 1]) if text else 0)
            return self.texts[text][start : start + r]

        if total and (new := run(int(rng.integers(total)))) != old:
            return new
        for i in rng.permutation(total):  # the first draw was the old run: the first other one of a random order
            if (new := run(int(i))) != old:
                return new
        raise ValueError(f"donors: expected a text with {r} words in a row other than {' '.join(old)!r}, found none")


def _distort(words: list[str], runs: _Runs, rng: np.random.Generator, allowed: np.ndarray | bool = True) -> list[str]:
    r = n_replaced(len(words))
    first, last = (1, len(words) - 1 - r) if len(words) >= 3 else (0, len(words) - r)
    start = int(rng.integers(first, last + 1))
    return [*words[:start], *runs.other(words[start : start + r], allowed, rng), *words[start + r :]]


def degraded_replies(dialogues: Sequence[Sequence[str]], n: int, rng: np.random.Generator) -> list[str]:
    """n replies of a degraded system, which takes no notice of what was said.

    dialogues : the training set, the responses of one dialogue each. Every reply is a response drawn from all of them,
    distorted with words of a dialogue other than its own. Raises ValueError for fewer than two dialogues with words.

    Checked by hand: all words come from other dialogues.
    """
    place = [(d, text) for d, texts in enumerate(dialogues) for text in texts if text.split()]
    owner = np.array([d for d, _ in place], dtype=int)
    if len(set(owner.tolist())) < 2:
        raise ValueError(f"dialogues: expected at least two with words, found {len(set(owner.tolist()))}")
    runs = _Runs([text for _, text in place])
    drawn = rng.integers(len(place), size=n)
    return [" ".join(_distort(runs.texts[i], runs, rng, owner != owner[i])) for i in drawn]
