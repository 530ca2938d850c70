"""Files of every shape of human judgement that is neither a rating nor a vote in a row of its own."""

from __future__ import annotations

import random

from doors.reading import Judgement

SYSTEMS = ("alpha", "beta", "gamma", "delta", "omega")
PEOPLE = ("ann", "ben", "eve")
_QUALITY = dict(zip(SYSTEMS, (0.9, 0.7, 0.5, 0.3, 0.1), strict=True))
Trial = tuple[str, str, list[str], list[str]]


def trials(options: int, n_items: int = 20, seed: int = 5) -> list[Trial]:
    """What each person saw of an item, in this order, and the same from best to worst."""
    pick = random.Random(seed)
    out = []
    for i in range(n_items):
        shown = pick.sample(SYSTEMS, options)
        for person in PEOPLE:
            noisy = {s: _QUALITY[s] + pick.uniform(-0.25, 0.25) for s in shown}
            out.append((f"p{i:02d}", person, shown, sorted(shown, key=lambda s: -noisy[s])))
    return out


def best_worst(seen: list[Trial], label: str, *, worst: bool = True) -> list[Judgement]:
    """1 for the best, -1 for the worst, 0 for the others."""
    out = []
    for item, person, shown, order in seen:
        score = {order[0]: 1} | ({order[-1]: -1} if worst else {})
        out += [Judgement(item, s, person, label, score.get(s, 0)) for s in shown]
    return out


def pairs(seen: list[Trial], label: str) -> list[Judgement]:
    """Of two options, which was better."""
    return [Judgement(i, a, p, label, 1 if order[0] == a else -1, b) for i, p, (a, b), order in seen]


def ranks(seen: list[Trial], label: str) -> list[Judgement]:
    return [Judgement(i, s, p, label, n) for i, p, _, order in seen for n, s in enumerate(order, start=1)]
